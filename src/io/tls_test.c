/*
 * Who was recognised once is recognised again by the same context, and by no other. Chains of
 * certificates as texts: which are shown, which are believed, and by which fingerprint.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "leaks.h"
#include "myriad/io/ca.h"
#include "tls_context.h"
#include "tls_test.h"

/* OpenSSL keeps some for the whole process; the sanitizer build finds no leak. */
long myr_leaks_allowed = 3;

struct papers {
    struct myr_buf ca, ca_key, certificate, key;
};

static struct papers papers_of(const char *name, const char *authority)
{
    struct papers p = {};
    struct myr_buf csr = {};
    struct myr_err err = {};
    assert_int_equal(myr_io_ca_create(authority, 10, &p.ca, &p.ca_key, &err), MYR_OK);
    assert_int_equal(myr_io_csr_create(name, &p.key, &csr, &err), MYR_OK);
    const struct myr_io_sign sign = {.ca_certificate = {p.ca.data, p.ca.len},
                                     .ca_key = {p.ca_key.data, p.ca_key.len},
                                     .days = 5,
                                     .server = true,
                                     .alt_names = "IP:127.0.0.1"};
    assert_int_equal(myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &p.certificate,
                                    NULL, NULL, &err),
                     MYR_OK);
    myr_buf_done(&csr);
    return p;
}

static void papers_done(struct papers *p)
{
    myr_buf_done(&p->ca);
    myr_buf_done(&p->ca_key);
    myr_buf_done(&p->certificate);
    myr_buf_done(&p->key);
}

/* A server as others have them: it gives out what the next connection needs. */
static struct myr_io_tls *server_of(const struct papers *p)
{
    struct myr_io_tls *tls =
        tls_of(&(struct myr_io_tls_names){.certificate_pem = p->certificate.data,
                                          .key_pem = p->key.data,
                                          .ca_pem = p->ca.data,
                                          .server = true,
                                          .strangers = true});
    SSL *ssl = tls_new(tls);
    SSL_CTX *context = SSL_get_SSL_CTX(ssl);
    assert_int_equal(SSL_CTX_set_num_tickets(context, 2), 1);
    assert_int_equal(SSL_CTX_set_session_id_context(context, (const unsigned char *)"t", 1), 1);
    SSL_free(ssl);
    return tls;
}

/* One connection in memory, with a byte that brings along what the server gives out. */
static bool recognised(struct myr_io_tls *server, struct myr_io_tls *client)
{
    SSL *near = tls_new(client), *far = tls_new(server);
    BIO *one, *other;
    char byte = 0;
    assert_int_equal(BIO_new_bio_pair(&one, 0, &other, 0), 1);
    SSL_set_bio(near, one, one);
    SSL_set_bio(far, other, other);
    SSL_set_connect_state(near);
    SSL_set_accept_state(far);
    for (int i = 0; i < 10 && !(SSL_is_init_finished(near) && SSL_is_init_finished(far)); i++) {
        (void)SSL_do_handshake(near);
        (void)SSL_do_handshake(far);
    }
    assert_true(SSL_is_init_finished(near) && SSL_is_init_finished(far));
    struct myr_err err = {};
    assert_int_equal(tls_judge(client, near, &err), MYR_OK); /* its certificate is known, too */
    assert_int_equal(SSL_write(far, "x", 1), 1);
    assert_int_equal(SSL_read(near, &byte, 1), 1);
    assert_int_equal(byte, 'x');
    bool again = SSL_session_reused(near) == 1;
    SSL_shutdown(near);
    SSL_free(near);
    SSL_free(far);
    return again;
}

/* Both ends as far as they come; what the client says of the server, "" when it believes it. */
static void meet(struct myr_io_tls *server, struct myr_io_tls *client, int *ret_shown,
                 struct myr_err *ret)
{
    SSL *near = tls_new(client), *far = tls_new(server);
    BIO *one, *other;
    *ret = (struct myr_err){};
    assert_int_equal(BIO_new_bio_pair(&one, 1 << 16, &other, 1 << 16), 1);
    SSL_set_bio(near, one, one);
    SSL_set_bio(far, other, other);
    SSL_set_connect_state(near);
    SSL_set_accept_state(far);
    for (int i = 0; i < 10; i++) {
        (void)SSL_do_handshake(near);
        (void)SSL_do_handshake(far);
    }
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(near);
    *ret_shown = chain ? sk_X509_num(chain) : 0;
    if (!SSL_is_init_finished(near)) {
        (void)myr_err_set(ret, MYR_EINVAL, "%s",
                          X509_verify_cert_error_string(SSL_get_verify_result(near)));
    } else {
        (void)tls_judge(client, near, ret);
    }
    ERR_clear_error();
    SSL_free(near);
    SSL_free(far);
}

static void put_all(struct myr_buf *to, const struct myr_buf *const *texts)
{
    for (; *texts; texts++) {
        myr_buf_puts(to, (*texts)->data);
    }
}

/*
 * The fingerprint of a token is that of the authority that signed the leaf, wherever it stands in
 * what the server shows; a certificate that is merely shown beside it is nobody's authority.
 */
static void a_fingerprint_is_of_the_authority_anywhere_in_the_chain(void **state)
{
    (void)state;
    struct papers p = papers_of("head", "test"), q = papers_of("other", "test");
    const struct myr_buf *const chains[][5] = {
        {&p.certificate, &p.ca},        {&p.certificate, &q.ca, &p.ca},
        {&p.certificate, &p.ca, &q.ca}, {&p.certificate, &q.certificate, &q.ca, &p.ca},
        {&p.certificate, &q.ca},        {&p.certificate}};
    const struct myr_buf *const marks[] = {&p.ca, &q.ca, &p.certificate};
    for (size_t c = 0; c < MYR_ARRAY_COUNT(chains); c++) {
        struct myr_buf shown = {};
        put_all(&shown, chains[c]);
        struct myr_io_tls *server = tls_of(&(struct myr_io_tls_names){.certificate_pem = shown.data,
                                                                      .key_pem = p.key.data,
                                                                      .ca_pem = p.ca.data,
                                                                      .server = true,
                                                                      .strangers = true});
        for (size_t m = 0; m < MYR_ARRAY_COUNT(marks); m++) {
            char print[65];
            int count, wanted = 0;
            struct myr_err err = {};
            struct myr_str mark = {marks[m]->data, marks[m]->len};
            assert_int_equal(myr_io_fingerprint(mark, print, &err), MYR_OK);
            struct myr_io_tls *client = tls_of(&(struct myr_io_tls_names){.fingerprint = print});
            meet(server, client, &count, &err);
            while (chains[c][wanted]) {
                wanted++;
            }
            /* A server that has its authority adds it where nothing but the leaf was given. */
            assert_int_equal(count, wanted > 1 ? wanted : 2);
            bool good = m == 0 && c != 4;
            assert_string_equal(
                err.message,
                good ? "" : "the server's authority has another fingerprint than the token says");
            myr_io_tls_free(client);
        }
        myr_io_tls_free(server);
        myr_buf_done(&shown);
    }
    papers_done(&p);
    papers_done(&q);
}

/* Several authorities in one text are all believed; what is none of them is not. */
static void every_authority_of_a_text_is_believed(void **state)
{
    (void)state;
    struct papers p = papers_of("head", "first"), q = papers_of("other", "second"),
                  r = papers_of("third", "last");
    const struct {
        const struct myr_buf *texts[4];
        const char *said;
    } cases[] = {{{&p.ca}, ""},
                 {{&q.ca, &p.ca}, ""},
                 {{&p.ca, &q.ca, &r.ca}, ""},
                 {{&q.ca, &r.ca, &p.ca}, ""},
                 {{&q.ca, &r.ca}, "self-signed certificate in certificate chain"},
                 {{&q.ca}, "self-signed certificate in certificate chain"}};
    struct myr_io_tls *server = server_of(&p);
    for (size_t c = 0; c < MYR_ARRAY_COUNT(cases); c++) {
        struct myr_buf text = {};
        struct myr_err err;
        int count;
        put_all(&text, cases[c].texts);
        struct myr_io_tls *client =
            tls_of(&(struct myr_io_tls_names){.ca_pem = text.data, .host = "127.0.0.1"});
        meet(server, client, &count, &err);
        if (strcmp(err.message, cases[c].said) != 0) {
            fail_msg("case %zu: '%s'", c, err.message);
        }
        myr_io_tls_free(client);
        myr_buf_done(&text);
    }
    myr_io_tls_free(server);
    papers_done(&p);
    papers_done(&q);
    papers_done(&r);
}

/* Each text that is wrong is named, and nothing is made of the others. */
static void texts_that_are_no_papers_are_named(void **state)
{
    (void)state;
    struct papers p = papers_of("head", "test"), q = papers_of("other", "test");
    char longest[257] = "";
    memset(longest, 'h', sizeof(longest) - 1);
    const struct {
        struct myr_io_tls_names names;
        const char *said;
    } cases[] = {
        {{.certificate_pem = "x", .ca_pem = p.ca.data}, "the client's certificate: no certificate"},
        {{.key_pem = "x", .ca_pem = p.ca.data}, "the client's key: no key, or not that of"},
        {{.certificate_pem = p.certificate.data, .key_pem = q.key.data, .ca_pem = p.ca.data},
         "the client's key: no key, or not that of the certificate"},
        {{.ca_pem = "x"}, "the authority: no certificate of an authority"},
        {{.ca_pem = p.key.data}, "the authority: no certificate of an authority"},
        {{.certificate = "/nowhere/a.pem", .ca_pem = p.ca.data}, "/nowhere/a.pem: no certificate"},
        {{.key = "/nowhere/a.key", .ca_pem = p.ca.data}, "/nowhere/a.key: no key"},
        {{.ca = "/nowhere/ca.pem"}, "/nowhere/ca.pem: no certificate of an authority"},
        {{.fingerprint = "abc"}, "a fingerprint has 64 hex digits, not 3"},
        {{.ca_pem = p.ca.data, .host = longest}, "'hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh...'"},
        {{.ca_pem = p.ca.data, .host = longest + 1}, ""}, /* 255 bytes */
        {{.host = "head"}, ""},                           /* the authorities of this machine */
        {{.host = "::1"}, ""}};
    for (size_t c = 0; c < MYR_ARRAY_COUNT(cases); c++) {
        struct myr_err err = {};
        struct myr_io_tls *tls = NULL;
        int rc = myr_io_tls_create(&cases[c].names, &tls, &err);
        assert_int_equal(rc < 0, cases[c].said[0] != '\0');
        assert_int_equal(tls == NULL, rc < 0);
        if (strncmp(err.message, cases[c].said, strlen(cases[c].said)) != 0) {
            fail_msg("case %zu: '%s'", c, err.message);
        }
        if (strstr(err.message, ": no certificate")) { /* and what OpenSSL says of it */
            assert_non_null(strstr(err.message, ": error:"));
        }
        myr_io_tls_free(tls);
        assert_int_equal(ERR_peek_error(), 0); /* the next to look would take it for his own */
    }
    papers_done(&p);
    papers_done(&q);
}

/* A certificate whose key is so short that anybody finds it out; signed by itself. */
static void make_weak(struct myr_buf *ret)
{
    EVP_PKEY *key = EVP_RSA_gen(512);
    X509 *made = X509_new();
    BIO *bio = BIO_new(BIO_s_mem());
    char *data;
    assert_true(key && made && bio);
    assert_int_equal(X509_set_version(made, X509_VERSION_3), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(made), 0));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(made), 86400));
    assert_int_equal(X509_set_pubkey(made, key), 1);
    assert_true(X509_sign(made, key, EVP_sha256()) > 0);
    assert_int_equal(PEM_write_bio_X509(bio, made), 1);
    size_t size = (size_t)BIO_get_mem_data(bio, &data);
    myr_buf_put(ret, data, size);
    BIO_free(bio);
    X509_free(made);
    EVP_PKEY_free(key);
}

/* One of a chain that cannot be shown, wherever it stands, is told; the rest is not shown alone. */
static void a_chain_is_shown_whole_or_not_at_all(void **state)
{
    (void)state;
    struct papers p = papers_of("head", "test");
    struct myr_buf weak = {};
    make_weak(&weak);
    const struct {
        const struct myr_buf *texts[4];
        bool good;
    } cases[] = {{{&p.certificate}, true},
                 {{&p.certificate, &p.ca}, true},
                 {{&weak}, false},
                 {{&weak, &p.certificate}, false},
                 {{&p.certificate, &weak}, false},
                 {{&p.certificate, &p.ca, &weak}, false},
                 {{&p.certificate, &weak, &p.ca}, false}};
    for (size_t c = 0; c < MYR_ARRAY_COUNT(cases); c++) {
        struct myr_buf text = {};
        struct myr_err err = {};
        struct myr_io_tls *tls = NULL;
        put_all(&text, cases[c].texts);
        const struct myr_io_tls_names names = {.certificate_pem = text.data,
                                               .key_pem = p.key.data,
                                               .ca_pem = p.ca.data,
                                               .server = true};
        int rc = myr_io_tls_create(&names, &tls, &err);
        if (rc != (cases[c].good ? MYR_OK : MYR_EINVAL)) {
            fail_msg("case %zu: %s '%s'", c, myr_err_name(rc), err.message);
        }
        assert_int_equal(tls != NULL, cases[c].good);
        static const char said[] = "the client's certificate: no certificate: error:";
        assert_int_equal(strncmp(err.message, said, strlen(said)) == 0, !cases[c].good);
        assert_int_equal(ERR_peek_error(), 0);
        myr_io_tls_free(tls);
        myr_buf_done(&text);
    }
    myr_buf_done(&weak);
    papers_done(&p);
}

/* Libraries keep some memory for good; whatever is done a second time may take no more. */
static void nothing_more_is_kept_the_second_time(void **state)
{
    static void (*const tests[])(void **) = {
        a_fingerprint_is_of_the_authority_anywhere_in_the_chain,
        every_authority_of_a_text_is_believed,
        texts_that_are_no_papers_are_named,
        a_chain_is_shown_whole_or_not_at_all,
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tests); i++) {
        long before = myr_leaks_now();
        tests[i](state);
        if (myr_leaks_now() != before) {
            fail_msg("test %zu keeps %ld pieces more", i, myr_leaks_now() - before);
        }
    }
}

static void the_second_connection_is_shorter(void **state)
{
    (void)state;
    struct papers p = papers_of("head", "test");
    const struct myr_io_tls_names names = {.ca_pem = p.ca.data, .host = "127.0.0.1"};
    struct myr_io_tls *server = server_of(&p), *anew = server_of(&p);
    struct myr_io_tls *client = tls_of(&names), *stranger = tls_of(&names);
    assert_false(recognised(server, client));
    assert_true(recognised(server, client));
    assert_true(recognised(server, client));
    assert_false(recognised(server, stranger)); /* other credentials begin at the beginning */
    assert_false(recognised(anew, client));     /* a server that was started anew knows nobody */
    assert_true(recognised(anew, client));
    myr_io_tls_free(server);
    myr_io_tls_free(anew);
    myr_io_tls_free(client);
    myr_io_tls_free(stranger);
    papers_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_connection_is_shorter),
        cmocka_unit_test(a_fingerprint_is_of_the_authority_anywhere_in_the_chain),
        cmocka_unit_test(every_authority_of_a_text_is_believed),
        cmocka_unit_test(texts_that_are_no_papers_are_named),
        cmocka_unit_test(a_chain_is_shown_whole_or_not_at_all),
        cmocka_unit_test(nothing_more_is_kept_the_second_time),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    OPENSSL_cleanup();
    return failures;
}
