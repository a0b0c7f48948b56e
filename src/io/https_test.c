/*
 * The client by TLS against a server of a few lines that speaks OpenSSL itself: whom it believes,
 * how it says that it is not believed, and what becomes of answers that break off.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "leaks.h"
#include "myriad/io/ca.h"
#include "myriad/io/http.h"

/* The resolver and OpenSSL keep tables for the whole process; the sanitizer build finds no leak. */
long myr_leaks_allowed = 64;

enum { BODY = 3 << 20 };

static char folder[] = "/tmp/myriad-https-XXXXXX";

/* Files of the folder: ca, cert and key of one authority, other-... of another. */
static const char *file(const char *name)
{
    static char paths[8][64];
    static uint32_t at;
    char *path = paths[at++ % MYR_ARRAY_COUNT(paths)];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static void save(const char *who, const char *name, struct myr_buf *text)
{
    char full[40];
    struct myr_err err = {};
    snprintf(full, sizeof(full), "%s%s", who, name);
    assert_int_equal(myr_file_write(file(full), text, &err), MYR_OK);
    myr_buf_done(text);
}

static void make_papers(const char *who)
{
    struct myr_err err = {};
    struct myr_buf ca = {}, ca_key = {}, key = {}, csr = {}, cert = {};
    assert_int_equal(myr_io_ca_create(who[0] ? who : "ours", 10, &ca, &ca_key, &err), MYR_OK);
    assert_int_equal(myr_io_csr_create("head", &key, &csr, &err), MYR_OK);
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = 5,
                               .server = true,
                               .alt_names =
                                   who[0] ? "DNS:elsewhere" : "DNS:localhost,IP:127.0.0.1"};
    assert_int_equal(
        myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &cert, NULL, NULL, &err),
        MYR_OK);
    save(who, "ca.pem", &ca);
    save(who, "cert.pem", &cert);
    save(who, "key.pem", &key);
    myr_buf_done(&ca_key);
    myr_buf_done(&csr);
}

/* What the server does with its one connection. */
struct script {
    const char *says; /* its answer; NULL: it leaves without one */
    size_t takes;     /* bytes of a body that it reads, slowly, before it answers */
    bool wants;       /* a certificate of the client's */
    long refuses;     /* that, with this error of X509 */
    bool cuts;        /* the connection, without a word of TLS */
    bool plain;       /* speaks no TLS at all */
    bool other;       /* shows the other certificate */
    bool mute;        /* nor anything else */
};

static long refusal;

static int judge(X509_STORE_CTX *context, void *more)
{
    (void)more;
    X509_STORE_CTX_set_error(context, (int)refusal);
    return refusal == X509_V_OK;
}

static SSL *shake(int fd, const struct script *script)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    bool ok =
        SSL_CTX_use_certificate_chain_file(
            context, file(script->other ? "other-cert.pem" : "cert.pem")) == 1 &&
        SSL_CTX_use_PrivateKey_file(context, file(script->other ? "other-key.pem" : "key.pem"),
                                    SSL_FILETYPE_PEM) == 1;
    refusal = script->refuses;
    if (script->wants) {
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        SSL_CTX_set_cert_verify_callback(context, judge, NULL);
    }
    SSL *ssl = SSL_new(context);
    if (!ok || SSL_set_fd(ssl, fd) != 1 || SSL_accept(ssl) != 1) {
        return NULL;
    }
    return ssl;
}

/* All of the head, and as much of the body as the script takes. */
static size_t hear(SSL *ssl, const struct script *script)
{
    static char request[BODY + 4096];
    size_t got = 0, wanted = 0;
    for (int next; (next = SSL_read(ssl, request + got, (int)(sizeof(request) - 1 - got))) > 0;) {
        got += (size_t)next;
        request[got] = '\0';
        const char *end = strstr(request, "\r\n\r\n");
        wanted = end ? (size_t)(end - request) + 4 + script->takes : 0;
        if (end && got >= wanted) {
            break;
        }
        usleep(got > 4096 && got < (1 << 17) ? 20000 : 0); /* what is sent fills every buffer */
    }
    for (size_t i = wanted - script->takes; i < wanted && i < got; i++) {
        if (request[i] != (char)('a' + (i - (wanted - script->takes)) % 23)) {
            _exit(3);
        }
    }
    return got;
}

static void serve(int listener, int heard, const struct script *script)
{
    alarm(30); /* whatever goes wrong, it ends */
    (void)signal(SIGPIPE, SIG_IGN);
    int fd = accept(listener, NULL, NULL);
    SSL *ssl = NULL;
    if (script->mute) {
        char byte;
        while (recv(fd, &byte, 1, 0) > 0) { /* until the client goes */
        }
    } else if (script->plain) {
        (void)!write(fd, "HTTP/1.1 400 no\r\n\r\n", 19);
    } else {
        ssl = shake(fd, script);
    }
    char name[64] = "";
    X509 *peer = ssl ? SSL_get0_peer_certificate(ssl) : NULL;
    if (peer) {
        X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name, sizeof(name));
    }
    const char *asked = ssl ? SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) : NULL;
    dprintf(heard, "%s to %s", name[0] ? name : "nobody", asked ? asked : "none");
    if (ssl && hear(ssl, script) > 0 && script->says) {
        (void)SSL_write(ssl, script->says, (int)strlen(script->says));
    }
    if (ssl && !script->cuts) {
        SSL_shutdown(ssl);
    }
    shutdown(fd, SHUT_WR);
    for (char rest[4096]; recv(fd, rest, sizeof(rest), 0) > 0;) { /* else the end is a reset */
    }
    close(fd);
}

struct outcome {
    int rc;
    struct myr_http_answer answer;
    struct myr_err err;
    char heard[200];
};

static struct outcome ask(const struct script *script, const char *host,
                          struct myr_http_request request)
{
    struct outcome out = {};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0), pipes[2], status;
    char url[80];
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        serve(listener, pipes[1], script);
        _exit(0);
    }
    close(listener);
    close(pipes[1]);
    snprintf(url, sizeof(url), "https://%s:%u/v1/x", host, ntohs(at.sin_port));
    request.method = request.body.len ? "POST" : "GET";
    request.url = url;
    request.ca = request.ca ? request.ca : file("ca.pem");
    out.rc = myr_http_ask(&request, NULL, NULL, &out.answer, &out.err);
    assert_true(read(pipes[0], out.heard, sizeof(out.heard) - 1) >= 0);
    close(pipes[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(ERR_peek_error(), 0); /* the next to look would take it for his own */
    /* The port is another each time. */
    char *behind = strstr(out.err.message, ": ");
    memmove(out.err.message, behind ? behind + 2 : out.err.message,
            strlen(behind ? behind + 2 : out.err.message) + 1);
    return out;
}

#define GOOD "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static void expect_good(struct outcome out, const char *heard)
{
    assert_string_equal(out.err.message, "");
    assert_int_equal(out.rc, MYR_OK);
    assert_int_equal(out.answer.status, 200);
    assert_string_equal(out.answer.body.data, "hello");
    assert_string_equal(out.heard, heard);
    myr_http_answer_done(&out.answer);
}

/* By its name or its address; a name is asked for, an address is none. */
static void a_server_of_the_authority_is_believed(void **state)
{
    (void)state;
    const struct script plain = {.says = GOOD}, wants = {.says = GOOD, .wants = true};
    struct myr_http_request own = {.own_certificate = file("cert.pem"), .own_key = file("key.pem")};
    expect_good(ask(&plain, "localhost", (struct myr_http_request){}), "nobody to localhost");
    expect_good(ask(&plain, "127.0.0.1", (struct myr_http_request){}), "nobody to none");
    expect_good(ask(&wants, "localhost", own), "head to localhost");
    /* A body of megabytes to one who reads slowly. */
    const struct script slow = {.says = GOOD, .takes = BODY};
    char *body = myr_xcalloc(1, BODY);
    for (size_t i = 0; i < BODY; i++) {
        body[i] = (char)('a' + i % 23);
    }
    expect_good(ask(&slow, "localhost", (struct myr_http_request){.body = {body, BODY}}),
                "nobody to localhost");
    /* One that answers before all was sent, and ends: its answer counts. */
    const struct script early = {.says = GOOD};
    expect_good(ask(&early, "localhost", (struct myr_http_request){.body = {body, 1 << 19}}),
                "nobody to localhost");
    free(body);
}

static void expect_refused(struct outcome out, int rc, const char *message, const char *hint)
{
    if (strncmp(out.err.message, message, strlen(message)) != 0) {
        fail_msg("'%s' in place of '%s'", out.err.message, message);
    }
    assert_int_equal(out.rc, rc);
    assert_string_equal(out.err.hint, hint);
}

static void others_are_not_believed(void **state)
{
    (void)state;
    static const char hint[] = "--ca FILE names the authority, DIR/ca.pem of the server's folder";
    const struct script script = {.says = GOOD};
    expect_refused(ask(&script, "localhost", (struct myr_http_request){.ca = file("other-ca.pem")}),
                   MYR_EIO,
                   "its certificate is not believed: unable to get local issuer certificate", hint);
    /* A certificate of a believed authority for others than were asked. */
    const struct script other = {.says = GOOD, .other = true};
    expect_refused(ask(&other, "localhost", (struct myr_http_request){.ca = file("other-ca.pem")}),
                   MYR_EIO, "its certificate is not believed: hostname mismatch", hint);
    expect_refused(ask(&other, "127.0.0.1", (struct myr_http_request){.ca = file("other-ca.pem")}),
                   MYR_EIO, "its certificate is not believed: IP address mismatch", hint);
    expect_refused(ask(&(struct script){.plain = true}, "localhost", (struct myr_http_request){}),
                   MYR_EIO, "error:", "");
}

/* Which alerts are about our papers, and what they are called. */
static void who_is_not_believed_is_told_so(void **state)
{
    (void)state;
    static const struct {
        long error;
        const char *said;
    } cases[] = {
        {X509_V_ERR_CERT_REJECTED, "our certificate is not accepted: bad certificate"},
        {X509_V_ERR_INVALID_PURPOSE, "our certificate is not accepted: unsupported certificate"},
        {X509_V_ERR_CERT_REVOKED, "our certificate is not accepted: certificate revoked"},
        {X509_V_ERR_CERT_HAS_EXPIRED, "our certificate is not accepted: certificate expired"},
        {X509_V_ERR_INVALID_CA, "our certificate is not accepted: unknown CA"},
        {X509_V_ERR_APPLICATION_VERIFICATION, "error:"}, /* a handshake that failed */
        {X509_V_ERR_UNSPECIFIED, "error:"},              /* an internal error of theirs */
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        const struct script script = {.says = GOOD, .wants = true, .refuses = cases[i].error};
        expect_refused(ask(&script, "localhost",
                           (struct myr_http_request){.own_certificate = file("other-cert.pem"),
                                                     .own_key = file("other-key.pem")}),
                       MYR_EIO, cases[i].said, "");
    }
    expect_refused(ask(&(struct script){.says = GOOD, .wants = true}, "localhost",
                       (struct myr_http_request){}),
                   MYR_EIO, "our certificate is not accepted: ", "");
}

static void papers_that_are_none_are_named(void **state)
{
    (void)state;
    const struct script script = {.says = GOOD};
    expect_refused(ask(&script, "localhost", (struct myr_http_request){.ca = "/nowhere/ca.pem"}),
                   MYR_EINVAL, "no certificate of an authority", "");
    expect_refused(ask(&script, "localhost",
                       (struct myr_http_request){.own_certificate = file("cert.pem"),
                                                 .own_key = file("other-key.pem")}),
                   MYR_EINVAL, "no certificate and its key", "");
    expect_refused(ask(&script, "localhost",
                       (struct myr_http_request){.own_certificate = file("key.pem"),
                                                 .own_key = file("key.pem")}),
                   MYR_EINVAL, "no certificate and its key", "");
}

static void answers_that_break_off_are_none(void **state)
{
    (void)state;
    static const char half[] = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello";
    static const char open[] = "HTTP/1.1 200 OK\r\n\r\nhello";
    expect_refused(ask(&(struct script){.says = half}, "localhost", (struct myr_http_request){}),
                   MYR_EIO, "the answer broke off after 5 bytes", "");
    expect_refused(ask(&(struct script){}, "localhost", (struct myr_http_request){}), MYR_EIO,
                   "the connection was closed without an answer", "");
    /* Without a word of TLS nobody knows whether that was all. */
    expect_good(ask(&(struct script){.says = open}, "localhost", (struct myr_http_request){}),
                "nobody to localhost");
    expect_refused(
        ask(&(struct script){.says = open, .cuts = true}, "localhost", (struct myr_http_request){}),
        MYR_EIO, "error:", "");
    expect_refused(
        ask(&(struct script){.mute = true}, "localhost", (struct myr_http_request){.timeout_s = 1}),
        MYR_EAWAY, "no answer within 1 s", "");
}

/* --- connections that end without a word: OpenSSL says so, and leaves errno as it was */

#define CALL __attribute__((visibility("default")))

static pid_t wordless; /* the process for which they do; 0: none */
static bool ended;

CALL int SSL_write(SSL *ssl, const void *data, int size)
{
    static int (*own)(SSL *, const void *, int);
    if (wordless && wordless == getpid()) {
        ended = true;
        return -1;
    }
    own = own ? own : (int (*)(SSL *, const void *, int))dlsym(RTLD_NEXT, "SSL_write");
    return own(ssl, data, size);
}

CALL int SSL_read(SSL *ssl, void *ret, int size)
{
    static int (*own)(SSL *, void *, int);
    if (ended) {
        return -1;
    }
    own = own ? own : (int (*)(SSL *, void *, int))dlsym(RTLD_NEXT, "SSL_read");
    return own(ssl, ret, size);
}

CALL int SSL_get_error(const SSL *ssl, int rc)
{
    static int (*own)(const SSL *, int);
    own = own ? own : (int (*)(const SSL *, int))dlsym(RTLD_NEXT, "SSL_get_error");
    return ended ? SSL_ERROR_SYSCALL : own(ssl, rc);
}

static void ends_without_a_word_are_resets(void **state)
{
    (void)state;
    wordless = getpid();
    expect_refused(ask(&(struct script){.says = GOOD}, "localhost", (struct myr_http_request){}),
                   MYR_EIO, "the connection broke: Connection reset by peer", "");
    wordless = 0;
    ended = false;
}

/* Libraries keep some memory for good; whatever is done a second time may take no more. */
static void nothing_more_is_kept_the_second_time(void **state)
{
    static void (*const tests[])(void **) = {
        a_server_of_the_authority_is_believed,
        others_are_not_believed,
        who_is_not_believed_is_told_so,
        papers_that_are_none_are_named,
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tests); i++) {
        long before = myr_leaks_now();
        tests[i](state);
        if (myr_leaks_now() != before) {
            fail_msg("test %zu keeps %ld pieces more", i, myr_leaks_now() - before);
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    make_papers("");
    make_papers("other-");
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"ca.pem",       "cert.pem",       "key.pem",
                                        "other-ca.pem", "other-cert.pem", "other-key.pem"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        assert_int_equal(unlink(file(names[i])), 0);
    }
    return rmdir(folder);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_of_the_authority_is_believed),
        cmocka_unit_test(others_are_not_believed),
        cmocka_unit_test(who_is_not_believed_is_told_so),
        cmocka_unit_test(papers_that_are_none_are_named),
        cmocka_unit_test(answers_that_break_off_are_none),
        cmocka_unit_test(ends_without_a_word_are_resets),
        cmocka_unit_test(nothing_more_is_kept_the_second_time),
    };
    int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    OPENSSL_cleanup();
    return failed;
}
