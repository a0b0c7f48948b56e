/*
 * What a request asks of the system, call by call, against a system that is the test's own; and
 * what is asked of OpenSSL for each kind of context (tests/kept/io-asked.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kept.h"
#include "leaks.h"
#include "myriad/io.h"
#include "tls_context.h"

/* OpenSSL keeps its tables for the whole process. */
long myr_leaks_allowed = 10000;

static bool on;
static struct myr_buf story;

/* What the system does, in the order in which it is asked: a call, what it gives, and errno. */
struct deed {
    const char *call;
    long gives;
    int error;
    const char *text; /* that recv() finds */
};

static const struct deed *script; /* calls that are not next in it go well */
static const char *addresses;     /* of the host, with commas */

static void __attribute__((format(printf, 1, 2))) tell(const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    for (char *c = text; *c; c++) {
        *c = *c == '\r' ? ';' : *c == '\n' ? ' ' : *c;
    }
    myr_buf_printf(&story, "    %s\n", text);
}

static const struct deed *next(const char *call)
{
    static const struct deed well;
    if (!script->call || strcmp(script->call, call) != 0) {
        return &well;
    }
    errno = script->error;
    return script++;
}

/* --- the system */

#define CALL __attribute__((visibility("default")))
#define OWN(name, ...)                         \
    __typeof__(&(name)) call;                  \
    *(void **)&call = dlsym(RTLD_NEXT, #name); \
    return call(__VA_ARGS__)

CALL int socket(int family, int type, int protocol)
{
    if (!on) {
        OWN(socket, family, type, protocol);
    }
    tell("socket %s%s%s %d", family == AF_INET6 ? "six" : "four",
         type & SOCK_CLOEXEC ? "" : " inherited", type & SOCK_NONBLOCK ? "" : " waiting", protocol);
    return next("socket")->gives < 0 ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
}

CALL int connect(int fd, const struct sockaddr *at, socklen_t size)
{
    char name[INET6_ADDRSTRLEN] = "";
    if (!on) {
        OWN(connect, fd, at, size);
    }
    const struct sockaddr_in *four = (const void *)at;
    const struct sockaddr_in6 *six = (const void *)at;
    bool old = at->sa_family == AF_INET;
    assert_int_equal(size, old ? sizeof(*four) : sizeof(*six));
    inet_ntop(at->sa_family, old ? (const void *)&four->sin_addr : &six->sin6_addr, name,
              sizeof(name));
    tell("connect %s %u", name, ntohs(old ? four->sin_port : six->sin6_port));
    return (int)next("connect")->gives;
}

CALL int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    if (!on) {
        OWN(poll, fds, count, timeout_ms);
    }
    assert_int_equal(count, 1);
    tell("poll %s %d", fds[0].events == POLLIN ? "in" : "out", timeout_ms);
    const struct deed *deed = next("poll");
    return deed->call ? (int)deed->gives : 1;
}

CALL int getsockopt(int fd, int level, int option, void *ret, socklen_t *size)
{
    if (!on) {
        OWN(getsockopt, fd, level, option, ret, size);
    }
    assert_true(level == SOL_SOCKET && option == SO_ERROR && *size == sizeof(int));
    tell("how did it go?");
    *(int *)ret = (int)next("getsockopt")->gives;
    return 0;
}

CALL int setsockopt(int fd, int level, int option, const void *value, socklen_t size)
{
    if (!on) {
        OWN(setsockopt, fd, level, option, value, size);
    }
    assert_true(level == IPPROTO_TCP && option == TCP_NODELAY && size == sizeof(int));
    tell("no delay %d", *(const int *)value);
    return 0;
}

CALL ssize_t send(int fd, const void *data, size_t size, int flags)
{
    if (!on) {
        OWN(send, fd, data, size, flags);
    }
    assert_int_equal(flags, MSG_NOSIGNAL);
    tell("send '%.*s'", (int)size, (const char *)data);
    const struct deed *deed = next("send");
    return deed->call ? deed->gives : (ssize_t)size;
}

CALL ssize_t recv(int fd, void *ret, size_t size, int flags)
{
    if (!on) {
        OWN(recv, fd, ret, size, flags);
    }
    tell("recv at most %zu", size);
    const struct deed *deed = next("recv");
    if (!deed->call || deed->gives < 0) {
        return deed->gives;
    }
    size_t length = strlen(deed->text);
    memcpy(ret, deed->text, length);
    return (ssize_t)length;
}

CALL int close(int fd)
{
    if (on) {
        tell("close");
    }
    OWN(close, fd);
}

static void put_address(struct addrinfo *to, const char *text)
{
    struct sockaddr_in *four = calloc(1, sizeof(*four));
    struct sockaddr_in6 *six = calloc(1, sizeof(*six));
    bool old = !strchr(text, ':');
    assert_true(four && six);
    *four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(4680)};
    *six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(4680)};
    to->ai_family = old ? AF_INET : AF_INET6;
    to->ai_addr = old ? (void *)four : (void *)six;
    to->ai_addrlen = old ? sizeof(*four) : sizeof(*six);
    assert_int_equal(
        inet_pton(to->ai_family, text, old ? (void *)&four->sin_addr : &six->sin6_addr), 1);
    free(old ? (void *)six : (void *)four);
}

CALL int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                     struct addrinfo **ret)
{
    if (!on) {
        OWN(getaddrinfo, host, port, hints, ret);
    }
    tell("look up %s %s%s", host, port, hints->ai_socktype == SOCK_STREAM ? "" : ", of any kind");
    if (!addresses) {
        return EAI_NONAME;
    }
    struct addrinfo **at = ret;
    for (const char *text = addresses; *text;) {
        char one[64];
        size_t length = strcspn(text, ",");
        snprintf(one, sizeof(one), "%.*s", (int)length, text);
        text += length + (text[length] == ',');
        *at = calloc(1, sizeof(**at));
        assert_non_null(*at);
        put_address(*at, one);
        at = &(*at)->ai_next;
    }
    return 0;
}

CALL void freeaddrinfo(struct addrinfo *found)
{
    while (found) {
        struct addrinfo *behind = found->ai_next;
        free(found->ai_addr);
        free(found);
        found = behind;
    }
}

/* --- requests */

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

static const struct {
    const char *what, *addresses;
    uint32_t timeout_s;
    struct deed script[8];
} asked[] = {
    {"as it should be", "127.0.0.1", 0, {{"recv", 0, 0, OK}}},
    {"no such host", NULL, 0, {}},
    {"no address", "", 0, {}},
    {"no socket", "127.0.0.1", 0, {{"socket", -1, EMFILE, NULL}}},
    {"nobody there", "127.0.0.1", 0, {{"connect", -1, ECONNREFUSED, NULL}}},
    {"the second is there",
     "127.0.0.1,127.0.0.2,127.0.0.3",
     0,
     {{"connect", -1, ECONNREFUSED, NULL}, {"recv", 0, 0, OK}}},
    {"none of three",
     "127.0.0.1,127.0.0.2,127.0.0.3",
     0,
     {{"connect", -1, ECONNREFUSED, NULL},
      {"connect", -1, ECONNREFUSED, NULL},
      {"connect", -1, ENETUNREACH, NULL}}},
    {"not of this machine", "128.0.0.1,127.0.0.1", 0, {}},
    {"the second not of this machine",
     "127.255.255.254,126.0.0.1",
     0,
     {{"connect", -1, EHOSTUNREACH, NULL}}},
    {"this machine, by its other address", "::1", 0, {{"recv", 0, 0, OK}}},
    {"by the old one, where the other is not",
     "::1,127.0.0.1",
     0,
     {{"connect", -1, ECONNREFUSED, NULL}, {"recv", 0, 0, OK}}},
    {"another machine, by that kind of address", "::2,::1", 0, {}},
    {"one beside this one", "fe80::1", 0, {}},
    {"this one in the clothes of another", "::ffff:127.0.0.1", 0, {}},
    {"it takes a while",
     "127.0.0.1",
     0,
     {{"connect", -1, EINPROGRESS, NULL}, {"poll", 1, 0, NULL}, {"recv", 0, 0, OK}}},
    {"woken meanwhile",
     "127.0.0.1",
     0,
     {{"connect", -1, EINPROGRESS, NULL},
      {"poll", -1, EINTR, NULL},
      {"poll", 1, 0, NULL},
      {"getsockopt", ECONNREFUSED, 0, NULL}}},
    {"too long", "127.0.0.1", 0, {{"connect", -1, EINPROGRESS, NULL}, {"poll", 0, 0, NULL}}},
    {"too long for four seconds",
     "127.0.0.1",
     4,
     {{"connect", -1, EINPROGRESS, NULL}, {"poll", 0, 0, NULL}}},
    {"ten seconds are enough",
     "127.0.0.1",
     11,
     {{"connect", -1, EINPROGRESS, NULL}, {"poll", -1, ENOMEM, NULL}}},
    {"taken in pieces",
     "127.0.0.1",
     0,
     {{"send", 60, 0, NULL},
      {"send", -1, EINTR, NULL},
      {"send", -1, EAGAIN, NULL},
      {"recv", 0, 0, "HTTP/1.1 200 OK\r\nContent-"},
      {"recv", -1, EINTR, NULL},
      {"recv", -1, EAGAIN, NULL},
      {"recv", 0, 0, "Length: 2\r\n\r\nhi"}}},
    {"not taken in time", "127.0.0.1", 0, {{"send", -1, EAGAIN, NULL}, {"poll", 0, 0, NULL}}},
    {"not taken at all", "127.0.0.1", 0, {{"send", -1, EIO, NULL}}},
    {"gone, with an answer", "127.0.0.1", 0, {{"send", -1, EPIPE, NULL}, {"recv", 0, 0, OK}}},
    {"cut off, with an answer",
     "127.0.0.1",
     0,
     {{"send", -1, ECONNRESET, NULL}, {"recv", 0, 0, OK}}},
    {"no answer in time", "127.0.0.1", 7, {{"recv", -1, EAGAIN, NULL}, {"poll", 0, 0, NULL}}},
    {"no answer at all", "127.0.0.1", 0, {{"recv", -1, ECONNRESET, NULL}}},
    {"an end", "127.0.0.1", 0, {{"recv", 0, 0, ""}}},
    {"half an answer", "127.0.0.1", 0, {{"recv", 0, 0, "HTTP/1.1 200 OK\r\n"}}},
};

static void a_request_call_by_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(asked); i++) {
        struct myr_http_request request = {.method = "POST",
                                           .url = "http://head:4680/v1",
                                           .timeout_s = asked[i].timeout_s,
                                           .body = MYR_STR("a body")};
        struct myr_http_answer answer = {};
        struct myr_err err = {};
        myr_buf_printf(&story, "%s\n", asked[i].what);
        script = asked[i].script;
        addresses = asked[i].addresses;
        on = true;
        int rc = myr_http_ask(&request, NULL, NULL, &answer, &err);
        on = false;
        if (rc < 0) {
            myr_buf_printf(&story, "  %s: %s%s%s\n", myr_err_name(rc), err.message,
                           err.hint[0] ? " -> " : "", err.hint);
        } else {
            myr_buf_printf(&story, "  %u '%.*s'\n", answer.status, (int)answer.body.len,
                           answer.body.data);
        }
        myr_http_answer_done(&answer);
    }
}

/* A body of any length is sent to its last byte, however little the system takes of it at once. */
static void what_is_sent_is_sent_to_the_last_byte(void **state)
{
    static const char body[] = "0123456789";
    (void)state;
    addresses = "127.0.0.1";
    for (size_t length = 0; length < sizeof(body); length++) {
        for (long taken = 1; taken <= 3; taken++) {
            struct deed deeds[sizeof(body) + 3] = {{"send", 0, 0, NULL}};
            char sends[20];
            uint32_t at = 1;
            struct myr_http_answer answer = {};
            struct myr_http_request request = {
                .method = "POST", .url = "http://head:4680/v1", .body = {body, length}};
            size_t len = story.len;
            /* The head at once, and then the body in pieces. */
            deeds[0].gives = (long)(strlen("POST /v1 HTTP/1.1..Host: head:4680.."
                                           "Connection: close..Content-Length: ....") +
                                    (length < 10 ? 1 : 2));
            for (size_t sent = 0; sent < length; sent += (size_t)taken) {
                long left = (long)(length - sent);
                deeds[at++] = (struct deed){"send", left < taken ? left : taken, 0, NULL};
            }
            deeds[at] = (struct deed){"recv", 0, 0, OK};
            script = deeds;
            on = true;
            assert_int_equal(myr_http_ask(&request, NULL, NULL, &answer, NULL), MYR_OK);
            on = false;
            for (size_t sent = 0; sent < length; sent += (size_t)taken) {
                snprintf(sends, sizeof(sends), "send '%.10s'", body + sent);
                sends[6 + length - sent] = '\0';
                assert_non_null(strstr(story.data + len, sends));
            }
            assert_null(script->call); /* no more and no less was sent */
            myr_http_answer_done(&answer);
            story.len = len;
        }
    }
}

/* An address of any length is refused or told as it is: what is cut would be another. */
static void addresses_have_an_end(void **state)
{
    static const struct {
        char letter;        /* of which the first part is */
        const char *behind; /* it */
        uint32_t fits;      /* letters at most */
    } all[] = {
        {'h', ":4680/v1", 255},
        {'h', "/v1", 255},
        {'0', "1/v1", 272}, /* "head:" and all digits are 278 bytes */
    };
    (void)state;
    size_t len = story.len;
    addresses = NULL;
    for (size_t i = 0; i < 2 * MYR_ARRAY_COUNT(all); i++) {
        uint32_t letters = all[i / 2].fits + i % 2;
        char url[400], base[400];
        struct myr_http_answer answer = {};
        struct myr_err err = {};
        int front =
            snprintf(url, sizeof(url), "http://%s", all[i / 2].letter == '0' ? "head:" : "");
        memset(url + front, all[i / 2].letter, letters);
        snprintf(url + front + letters, sizeof(url) - (size_t)front - letters, "%s",
                 all[i / 2].behind);
        snprintf(base, sizeof(base), "%.*s: no such host: ", (int)(strlen(url) - 3), url);
        struct myr_http_request request = {.method = "GET", .url = url};
        on = true;
        int rc = myr_http_ask(&request, NULL, NULL, &answer, &err);
        on = false;
        assert_int_equal(rc, i % 2 ? MYR_EINVAL : MYR_EAWAY);
        if (i % 2 == 0) {
            assert_memory_equal(err.message, base, strlen(base));
        }
    }
    story.len = len;
}

/* As each of the two has it, and written beside the host's name for the server to read. */
static void an_address_without_a_port_has_the_usual_one(void **state)
{
    static const struct {
        const char *url, *asks;
    } all[] = {
        {"http://head", "look up head 80\n"},
        {"https://head/v1", "look up head 443\n"},
        {"https://head:65535", "look up head 65535\n"},
        {"https://[::1]/", "look up ::1 443\n"},
    };
    (void)state;
    size_t len = story.len;
    addresses = NULL;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        struct myr_http_answer answer = {};
        struct myr_http_request request = {.method = "GET", .url = all[i].url};
        story.len = len;
        on = true;
        assert_int_equal(myr_http_ask(&request, NULL, NULL, &answer, NULL), MYR_EAWAY);
        on = false;
        assert_non_null(strstr(story.data + len, all[i].asks));
    }
    story.len = len;
}

/* --- contexts */

static const char *refused; /* the call of OpenSSL that is not granted */

static bool is_refused(const char *name)
{
    return refused && strcmp(refused, name) == 0;
}

CALL SSL_CTX *SSL_CTX_new(const SSL_METHOD *method)
{
    if (is_refused("SSL_CTX_new")) {
        return NULL;
    }
    if (on) {
        tell("a context for %s", method == TLS_server_method() ? "a server" : "a client");
    }
    OWN(SSL_CTX_new, method);
}

CALL long SSL_CTX_ctrl(SSL_CTX *context, int what, long number, void *more)
{
    if (on && what == SSL_CTRL_SET_MIN_PROTO_VERSION) {
        tell("at least %lx", (unsigned long)number);
        if (is_refused("version")) {
            return 0;
        }
    } else if (on && what == SSL_CTRL_MODE) {
        tell("mode %s%s%s", number & SSL_MODE_ENABLE_PARTIAL_WRITE ? " pieces" : "",
             number & SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER ? " that move" : "",
             number & SSL_MODE_RELEASE_BUFFERS ? " no buffers" : "");
    } else if (on && what == SSL_CTRL_SET_SESS_CACHE_MODE) {
        tell("remembers %s%s", number & SSL_SESS_CACHE_CLIENT ? "servers" : "nobody",
             number & SSL_SESS_CACHE_NO_INTERNAL ? " itself" : "");
    }
    OWN(SSL_CTX_ctrl, context, what, number, more);
}

CALL int SSL_CTX_set_num_tickets(SSL_CTX *context, size_t count)
{
    tell("%zu tickets", count);
    OWN(SSL_CTX_set_num_tickets, context, count);
}

CALL void SSL_CTX_set_verify(SSL_CTX *context, int mode, SSL_verify_cb call_back)
{
    if (on) {
        tell("asks for papers%s%s", mode & SSL_VERIFY_FAIL_IF_NO_PEER_CERT ? ", which must be" : "",
             call_back ? ", and looks at them itself" : "");
    }
    void (*call)(SSL_CTX *, int, SSL_verify_cb);
    *(void **)&call = dlsym(RTLD_NEXT, "SSL_CTX_set_verify");
    call(context, mode, call_back);
}

CALL int SSL_CTX_set_default_verify_paths(SSL_CTX *context)
{
    tell("believes whom this machine believes");
    if (is_refused("SSL_CTX_set_default_verify_paths")) {
        return 0;
    }
    OWN(SSL_CTX_set_default_verify_paths, context);
}

/* Twice: what is done again takes no more memory than before. */
static void one_context(const char *what, const struct myr_io_tls_names *names)
{
    for (uint32_t round = 0; round < 2; round++) {
        struct myr_io_tls *tls = NULL;
        struct myr_err err = {};
        size_t len = story.len;
        long before = myr_leaks_now();
        myr_buf_printf(&story, "%s%s%s\n", what, refused ? " without " : "",
                       refused ? refused : "");
        on = true;
        int rc = myr_io_tls_create(names, &tls, &err);
        on = false;
        myr_buf_printf(&story, "  %s%s\n", rc < 0 ? myr_err_name(rc) : "done", rc < 0 ? ": " : "");
        if (rc < 0) {
            assert_null(tls);
            story.len--;
            myr_buf_printf(&story, "%s\n", err.message);
        }
        myr_io_tls_free(tls);
        if (round == 1) {
            assert_int_equal(myr_leaks_now(), before);
            story.len = len;
        }
    }
}

static void contexts_of_every_kind(void **state)
{
    (void)state;
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
    assert_int_equal(myr_io_ca_create("a test", 9, &ca, &key, &err), MYR_OK);
    char longest[257];
    memset(longest, 'h', sizeof(longest));
    longest[255] = '\0';
    static const char digits[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    one_context("a server", &(struct myr_io_tls_names){.ca_pem = ca.data, .server = true});
    one_context("a server for strangers",
                &(struct myr_io_tls_names){.ca_pem = ca.data, .server = true, .strangers = true});
    one_context("a client", &(struct myr_io_tls_names){.ca_pem = ca.data});
    one_context("a client of a host",
                &(struct myr_io_tls_names){.ca_pem = ca.data, .host = longest});
    one_context("a client of somebody's", &(struct myr_io_tls_names){.host = "head"});
    one_context("a client with a fingerprint", &(struct myr_io_tls_names){.fingerprint = digits});
    one_context("a client with less of it", &(struct myr_io_tls_names){.fingerprint = digits + 1});
    longest[255] = 'h';
    longest[256] = '\0';
    one_context("a client of a host that is none",
                &(struct myr_io_tls_names){.ca_pem = ca.data, .host = longest});
    static const char *const calls[] = {"SSL_CTX_new", "version",
                                        "SSL_CTX_set_default_verify_paths"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(calls); i++) {
        refused = calls[i];
        one_context("a client", &(struct myr_io_tls_names){.host = "head"});
    }
    refused = NULL;
    assert_kept("io-asked.txt", &story);
    myr_buf_done(&story);
}

/* A name is asked for and looked for; an address is looked for alone. */
static void a_client_says_whom_it_means(void **state)
{
    static const struct {
        const char *host, *asks, *name, *address;
    } all[] = {
        {"head", "head", "head", NULL},
        {"h", "h", "h", NULL},
        {"10.0.0.1", NULL, NULL, "10.0.0.1"},
        {"::1", NULL, NULL, "0:0:0:0:0:0:0:1"},
        {NULL, NULL, NULL, NULL},
    };
    static const char digits[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        struct myr_io_tls *tls = NULL;
        struct myr_err err = {};
        const struct myr_io_tls_names names = {.host = all[i].host, .fingerprint = digits};
        assert_int_equal(myr_io_tls_create(&names, &tls, &err), MYR_OK);
        SSL *ssl = tls_new(tls);
        const char *asks = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
        const char *name = X509_VERIFY_PARAM_get0_host(SSL_get0_param(ssl), 0);
        char *address = X509_VERIFY_PARAM_get1_ip_asc(SSL_get0_param(ssl));
        assert_string_equal(asks ? asks : "", all[i].asks ? all[i].asks : "");
        assert_string_equal(name ? name : "", all[i].name ? all[i].name : "");
        assert_string_equal(address ? address : "", all[i].address ? all[i].address : "");
        OPENSSL_free(address);
        SSL_free(ssl);
        myr_io_tls_free(tls);
    }
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_call_by_call),
        cmocka_unit_test(what_is_sent_is_sent_to_the_last_byte),
        cmocka_unit_test(addresses_have_an_end),
        cmocka_unit_test(an_address_without_a_port_has_the_usual_one),
        cmocka_unit_test(contexts_of_every_kind),
        cmocka_unit_test(a_client_says_whom_it_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
