/* Who was recognised once is recognised again by the same context, and by no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "leaks.h"
#include "myriad/io/ca.h"
#include "tls_context.h"

/* OpenSSL keeps some for the whole process; the sanitizer build finds no leak. */
long myr_leaks_allowed = 3;

struct papers {
    struct myr_buf ca, ca_key, certificate, key;
};

static struct papers papers_of(const char *name)
{
    struct papers p = {};
    struct myr_buf csr = {};
    struct myr_err err = {};
    assert_int_equal(myr_io_ca_create("test", 10, &p.ca, &p.ca_key, &err), MYR_OK);
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

static struct myr_io_tls *tls_of(const struct myr_io_tls_names *names)
{
    struct myr_err err = {};
    struct myr_io_tls *tls = NULL;
    if (myr_io_tls_create(names, &tls, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return tls;
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

static void the_second_connection_is_shorter(void **state)
{
    (void)state;
    struct papers p = papers_of("head");
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
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    OPENSSL_cleanup();
    return failures;
}
