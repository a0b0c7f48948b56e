/* http: the socket under a request; TLS beyond this machine. */
#include "myriad/io/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* The timeout is for each wait, not for the whole answer: a stream of events may last for days. */
enum { TIMEOUT_S = 30, CONNECT_MS = 10000, READ_BYTES = 64 << 10, HOST_MAX = 256 };

/* A URL taken apart; 'path' points into it, and is "/" where it has none. */
struct address {
    bool secure;
    char host[HOST_MAX], port[8];
    char base[HOST_MAX + 32]; /* for messages: all but the path */
    const char *path;
};

/* The socket, and TLS on it where the address is https. */
struct line {
    int fd;
    SSL_CTX *context;
    SSL *ssl;
    int timeout_ms; /* of one wait, without a byte */
};

static void line_done(struct line *line)
{
    MYR_ASSERT(!line->ssl || (line->context && line->fd >= 0));
    SSL_free(line->ssl);
    SSL_CTX_free(line->context);
    ERR_clear_error(); /* the next to look would take it for his own */
    if (line->fd >= 0) {
        close(line->fd);
    }
}

/* Words that go into the head of a request stay one line. */
static bool is_plain(const char *text)
{
    for (const char *c = text; c && *c; c++) {
        if ((unsigned char)*c <= 0x20 || *c == 0x7F) {
            return false;
        }
    }
    return true;
}

static int no_address(struct myr_err *err, const char *url)
{
    return myr_err_set(err, MYR_EINVAL,
                       "'%.100s' is no address; such as http://127.0.0.1:4680 or "
                       "https://head:4680 is expected",
                       url);
}

/*
 * "http://HOST[:PORT][/PATH]", an IPv6 address in brackets. A user's name in front of the host is
 * refused.
 */
static int read_address(const char *url, struct address *ret, struct myr_err *err)
{
    bool plain = strncmp(url, "http://", 7) == 0;
    ret->secure = strncmp(url, "https://", 8) == 0;
    if ((!plain && !ret->secure) || !is_plain(url)) {
        return no_address(err, url);
    }
    const char *host = url + (plain ? 7 : 8);
    size_t length = strcspn(host, "/?#");
    ret->path = host[length] == '/' ? host + length : "/";
    bool six = host[0] == '[';
    const char *close = six ? memchr(host, ']', length) : NULL;
    size_t name = six ? (close ? (size_t)(close - host) - 1 : 0) : strcspn(host, ":/?#");
    const char *behind = six ? (close ? close + 1 : host) : host + name;
    struct myr_str port = {behind + 1, 0};
    uint64_t number = plain ? 80 : 443;
    bool ok = name > 0 && name < sizeof(ret->host) && length + 9 < sizeof(ret->base) &&
              !memchr(host, '@', length);
    if (ok && *behind == ':') {
        port.len = length - (size_t)(port.data - host);
        ok = myr_str_to_u64(port, &number) && number > 0 && number <= UINT16_MAX;
    } else {
        ok = ok && behind == host + length;
    }
    if (!ok) {
        return no_address(err, url);
    }
    memcpy(ret->host, host + six, name);
    ret->host[name] = '\0';
    snprintf(ret->port, sizeof(ret->port), "%u", (unsigned)number);
    snprintf(ret->base, sizeof(ret->base), "%s%.*s", plain ? "http://" : "https://", (int)length,
             host);
    MYR_ASSERT(ret->host[0] && ret->path[0] == '/' && strlen(ret->port) > 0);
    return MYR_OK;
}

/* All of 127.0.0.0/8, and ::1. */
static bool is_loopback(const struct sockaddr *at)
{
    if (at->sa_family == AF_INET) {
        return ntohl(((const struct sockaddr_in *)at)->sin_addr.s_addr) >> 24 == 127;
    }
    return at->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)at)->sin6_addr);
}

/* False with errno; ETIMEDOUT when nothing came in time. */
static bool wait_for(int fd, short events, int timeout_ms)
{
    MYR_ASSERT(fd >= 0 && timeout_ms > 0); /* below 0 it would wait for ever */
    struct pollfd poll_fd = {.fd = fd, .events = events};
    int rc;
    do {
        rc = poll(&poll_fd, 1, timeout_ms);
    } while (rc < 0 && errno == EINTR);
    if (rc == 0) {
        errno = ETIMEDOUT;
    }
    return rc > 0;
}

/* A connected socket, or -1 with errno. */
static int try_one(const struct addrinfo *at, int limit_ms)
{
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    MYR_ASSERT(limit_ms > 0);
    if (fd < 0) {
        return -1;
    }
    /* connect() does not block: its outcome is asked of the socket when that can be written to. */
    int failed = 0, on = 1;
    socklen_t size = sizeof(failed);
    if (connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
        if (errno != EINPROGRESS ||
            !wait_for(fd, POLLOUT, limit_ms < CONNECT_MS ? limit_ms : CONNECT_MS)) {
            failed = errno;
        } else {
            (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size);
        }
    }
    if (failed) {
        close(fd);
        errno = failed;
        return -1;
    }
    /*
     * Head and body are written apart; the second must not wait for the first to be acknowledged.
     */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

/* MYR_EAWAY in any case: nothing was sent, so that it can be asked again. */
static int not_there(const struct address *address, int why, struct myr_err *err)
{
    MYR_ASSERT(why != 0);
    int rc = why == ECONNREFUSED
                 ? myr_err_set(err, MYR_EAWAY, "%s: nobody answers there", address->base)
                 : myr_err_set(err, MYR_EAWAY, "%s: %s", address->base, strerror(why));
    myr_err_hint(err, "myriad serve DIR");
    return rc;
}

/*
 * Addresses of the host in the system's order, until one answers. The check is on the address and
 * not on the name: a name may lead anywhere.
 */
static int connect_to(const struct address *address, struct line *line, struct myr_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found = NULL;
    int bad = getaddrinfo(address->host, address->port, &hints, &found);
    int why = EADDRNOTAVAIL, rc = MYR_OK;
    MYR_ASSERT(line->fd < 0 && line->timeout_ms > 0);
    if (bad) {
        return myr_err_set(err, MYR_EAWAY, "%s: no such host: %s", address->base,
                           gai_strerror(bad));
    }
    for (const struct addrinfo *at = found; at && line->fd < 0 && rc == MYR_OK; at = at->ai_next) {
        if (!address->secure && !is_loopback(at->ai_addr)) {
            rc = myr_err_set(err, MYR_EINVAL,
                             "%s: plain http is for this machine alone: a token would travel in "
                             "the open",
                             address->base);
            myr_err_hint(err, "https://%s:%s", address->host, address->port);
            break;
        }
        line->fd = try_one(at, line->timeout_ms);
        why = line->fd < 0 ? errno : 0;
    }
    freeaddrinfo(found);
    MYR_ASSERT(rc == MYR_OK || line->fd < 0);
    return rc == MYR_OK && line->fd < 0 ? not_there(address, why, err) : rc;
}

/* The peer has ended it with an alert of TLS that is about who we say we are. */
static bool is_about_us(unsigned long code)
{
    int alert = ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET;
    return ERR_GET_LIB(code) == ERR_LIB_SSL &&
           ((alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_CERTIFICATE_UNKNOWN) ||
            alert == SSL_AD_UNKNOWN_CA || alert == TLS13_AD_CERTIFICATE_REQUIRED);
}

/* The plainest of the reasons: their certificate, ours, or what OpenSSL says. */
static int tls_failed(const struct address *address, SSL *ssl, struct myr_err *err)
{
    char text[160] = "the connection broke";
    long judged = SSL_get_verify_result(ssl);
    unsigned long code = ERR_get_error();
    if (judged != X509_V_OK) {
        snprintf(text, sizeof(text), "its certificate is not believed: %s",
                 X509_verify_cert_error_string(judged));
    } else if (is_about_us(code)) {
        snprintf(text, sizeof(text), "our certificate is not accepted: %s",
                 SSL_alert_desc_string_long(ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET));
    } else if (code) {
        ERR_error_string_n(code, text, sizeof(text));
    }
    int rc = myr_err_set(err, MYR_EIO, "%s: %s", address->base, text);
    if (judged != X509_V_OK) {
        myr_err_hint(err, "--ca FILE names the authority, DIR/ca.pem of the server's folder");
    }
    return rc;
}

/* What an operation that would block waits for; false: it has failed for good. */
static bool wait_tls(const struct line *line, int rc)
{
    MYR_ASSERT(rc <= 0); /* it has not done what was asked */
    int what = SSL_get_error(line->ssl, rc);
    return (what == SSL_ERROR_WANT_READ && wait_for(line->fd, POLLIN, line->timeout_ms)) ||
           (what == SSL_ERROR_WANT_WRITE && wait_for(line->fd, POLLOUT, line->timeout_ms));
}

/* By errno: a server that is silent is away (and may be asked again), a broken line is not. */
static int no_word(const struct address *address, const struct line *line, struct myr_err *err)
{
    return errno == ETIMEDOUT ? myr_err_set(err, MYR_EAWAY, "%s: no answer within %d s",
                                            address->base, line->timeout_ms / 1000)
                              : myr_err_set(err, MYR_EIO, "%s: the connection broke: %s",
                                            address->base, strerror(errno));
}

/* The handshake, with authority, name and, where there is one, a certificate of our own. */
static int agree(const struct address *address, const struct myr_http_request *request,
                 struct line *line, struct myr_err *err)
{
    const char *ca = request->ca;
    unsigned char bytes[16];
    bool number = inet_pton(AF_INET, address->host, bytes) == 1 ||
                  inet_pton(AF_INET6, address->host, bytes) == 1;
    int rc;
    MYR_ASSERT(address->secure && line->fd >= 0 && !line->context && !line->ssl);
    MYR_ASSERT(!request->own_certificate || request->own_key);
    ERR_clear_error();
    line->context = SSL_CTX_new(TLS_client_method());
    MYR_ASSERT(line->context); /* else there is no memory */
    rc = (int)SSL_CTX_set_min_proto_version(line->context, TLS1_2_VERSION);
    MYR_ASSERT(rc == 1);
    rc = ca ? SSL_CTX_load_verify_locations(line->context, ca, NULL)
            : SSL_CTX_set_default_verify_paths(line->context);
    if (rc != 1) {
        return myr_err_set(err, MYR_EINVAL, "%s: no certificate of an authority", ca ? ca : "");
    }
    if (request->own_certificate &&
        (SSL_CTX_use_certificate_chain_file(line->context, request->own_certificate) != 1 ||
         SSL_CTX_use_PrivateKey_file(line->context, request->own_key, SSL_FILETYPE_PEM) != 1)) {
        return myr_err_set(err, MYR_EINVAL, "%s, %s: no certificate and its key",
                           request->own_certificate, request->own_key);
    }
    SSL_CTX_set_verify(line->context, SSL_VERIFY_PEER, NULL);
    line->ssl = SSL_new(line->context);
    MYR_ASSERT(line->ssl);
    rc = SSL_set_fd(line->ssl, line->fd);
    MYR_ASSERT(rc == 1);
    /* Addresses stand in a certificate apart from names, and are never sent as a server's name. */
    rc = number ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(line->ssl), address->host)
                : SSL_set1_host(line->ssl, address->host);
    if (rc != 1 || (!number && SSL_set_tlsext_host_name(line->ssl, address->host) != 1)) {
        return tls_failed(address, line->ssl, err);
    }
    while ((rc = SSL_connect(line->ssl)) != 1) {
        errno = 0;
        if (!wait_tls(line, rc)) {
            return errno == ETIMEDOUT ? no_word(address, line, err)
                                      : tls_failed(address, line->ssl, err);
        }
    }
    return MYR_OK;
}

/* A peer that closes early may have answered: then reading goes on where writing ends. */
static int send_all(const struct address *address, const struct line *line, struct myr_str text,
                    struct myr_err *err)
{
    /* Nothing goes out in the open that was meant for TLS. */
    MYR_ASSERT(line->fd >= 0 && address->secure == (line->ssl != NULL));
    while (text.len > 0) {
        ssize_t put;
        if (line->ssl) {
            /* SSL_write() takes an int. */
            int length = text.len < (1U << 20) ? (int)text.len : 1 << 20;
            /* OpenSSL reports an end without a word as a failed call and leaves errno alone. */
            errno = EPIPE;
            put = SSL_write(line->ssl, text.data, length);
            if (put <= 0 && SSL_get_error(line->ssl, (int)put) == SSL_ERROR_SYSCALL &&
                (errno == EPIPE || errno == ECONNRESET)) {
                return MYR_OK; /* why it left may still be read */
            }
            if (put <= 0 && !wait_tls(line, (int)put)) {
                return no_word(address, line, err);
            }
        } else {
            put = send(line->fd, text.data, text.len, MSG_NOSIGNAL);
            if (put < 0 && errno != EINTR &&
                (errno != EAGAIN || !wait_for(line->fd, POLLOUT, line->timeout_ms))) {
                /* A server that refuses early has answered before all was sent. */
                return errno == EPIPE || errno == ECONNRESET ? MYR_OK : no_word(address, line, err);
            }
        }
        if (put > 0) {
            MYR_ASSERT((size_t)put <= text.len);
            text.data += put;
            text.len -= (size_t)put;
        }
    }
    return MYR_OK;
}

/* Bytes, 0 at the end, or an error. */
static int receive(const struct address *address, const struct line *line, char *buf, int size,
                   struct myr_err *err)
{
    MYR_ASSERT(line->fd >= 0 && address->secure == (line->ssl != NULL) && size > 0);
    for (;;) {
        if (line->ssl) {
            /* As above: what errno says where the connection ends without a word. */
            errno = ECONNRESET;
            int got = SSL_read(line->ssl, buf, size);
            MYR_ASSERT(got <= size);
            if (got > 0) {
                return got;
            }
            int what = SSL_get_error(line->ssl, got);
            if (what == SSL_ERROR_ZERO_RETURN) {
                return 0;
            }
            if (what == SSL_ERROR_SSL) { /* such as our certificate refused, said behind the rest */
                return tls_failed(address, line->ssl, err);
            }
            if (!wait_tls(line, got)) {
                return no_word(address, line, err);
            }
        } else {
            ssize_t got = recv(line->fd, buf, (size_t)size, 0);
            MYR_ASSERT(got <= size);
            if (got >= 0) {
                return (int)got;
            }
            if (errno != EINTR &&
                (errno != EAGAIN || !wait_for(line->fd, POLLIN, line->timeout_ms))) {
                return no_word(address, line, err);
            }
        }
    }
}

/* One request a connection, so that the end of an answer is never in doubt. */
static int put_head(const struct myr_http_request *request, const struct address *address,
                    struct myr_buf *head, struct myr_err *err)
{
    bool six = strchr(address->host, ':') != NULL;
    MYR_ASSERT(request->method && head->len == 0);
    if (!is_plain(request->token) || !is_plain(request->key) || !is_plain(request->type)) {
        return myr_err_set(err, MYR_EINVAL, "a token is one word without blanks");
    }
    myr_buf_printf(head, "%s %s HTTP/1.1\r\nHost: %s%s%s:%s\r\nConnection: close\r\n",
                   request->method, address->path, six ? "[" : "", address->host, six ? "]" : "",
                   address->port);
    if (request->token) {
        myr_buf_printf(head, "Authorization: Bearer %s\r\n", request->token);
    }
    if (request->key) {
        myr_buf_printf(head, "Idempotency-Key: %s\r\n", request->key);
    }
    if (request->type) {
        myr_buf_printf(head, "Content-Type: %s\r\n", request->type);
    }
    if (request->body.len > 0 || strcmp(request->method, "GET") != 0) {
        myr_buf_printf(head, "Content-Length: %zu\r\n", request->body.len);
    }
    myr_buf_puts(head, "\r\n");
    MYR_ASSERT(head->len > 4 && memcmp(head->data + head->len - 4, "\r\n\r\n", 4) == 0);
    return MYR_OK;
}

/* Up to a whole answer, or the peer's end, which the reply judges. */
static int converse(const struct myr_http_request *request, const struct address *address,
                    struct line *line, struct myr_http_reply *reply, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf head = {};
    MYR_CLEANUP(myr_free_at) char *buf = myr_xcalloc(1, READ_BYTES);
    /* Before the connection: a token with a blank in it is told without asking anybody. */
    MYR_TRY(put_head(request, address, &head, err));
    MYR_TRY(connect_to(address, line, err));
    MYR_ASSERT(line->fd >= 0 && !line->ssl);
    if (address->secure) {
        MYR_TRY(agree(address, request, line, err));
    }
    MYR_TRY(send_all(address, line, (struct myr_str){head.data, head.len}, err));
    MYR_TRY(send_all(address, line, request->body, err));
    MYR_ASSERT(reply->at == MYR_HTTP_AT_HEAD && reply->line.len == 0);
    while (reply->at != MYR_HTTP_AT_DONE) {
        int got = receive(address, line, buf, READ_BYTES, err);
        MYR_TRY(got);
        int rc = got > 0 ? myr_http_reply_feed(reply, (struct myr_str){buf, (size_t)got}, err)
                         : myr_http_reply_end(reply, err);
        if (rc < 0) {
            return myr_err_wrap(err, "%s", address->base);
        }
        if (got == 0) {
            break;
        }
    }
    return MYR_OK;
}

/* The body is the caller's to free, with myr_http_answer_done(). */
int myr_http_ask(const struct myr_http_request *request, myr_http_piece *piece, void *context,
                 struct myr_http_answer *ret, struct myr_err *err)
{
    struct address address = {};
    uint32_t timeout_s = request->timeout_s ? request->timeout_s : TIMEOUT_S;
    MYR_ASSERT(timeout_s <= INT32_MAX / 1000);
    MYR_CLEANUP(line_done) struct line line = {.fd = -1, .timeout_ms = (int)timeout_s * 1000};
    MYR_CLEANUP(myr_http_reply_done) struct myr_http_reply reply;
    myr_http_reply_init(&reply, piece, context);
    MYR_TRY(read_address(request->url, &address, err));
    MYR_TRY(converse(request, &address, &line, &reply, err));
    MYR_ASSERT(reply.status >= 200); /* read_status() has looked at it */
    MYR_ASSERT(!piece || reply.body.len == 0);
    *ret = (struct myr_http_answer){.status = reply.status, .body = reply.body};
    /* It is the caller's now. */
    reply.body = (struct myr_buf){};
    return MYR_OK;
}

void myr_http_answer_done(struct myr_http_answer *answer)
{
    myr_buf_done(&answer->body);
}
