/*
 * stream: a TCP connection with or without TLS on a loop of libuv. Bytes of TLS go through buffers
 * in memory (tls_bio), so that OpenSSL never touches a socket. Every stream ends in 'closed', once,
 * whatever went wrong, and is freed behind it.
 */
#include "stream_internal.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    READ_BYTES = 64 << 10, /* one buffer a loop: streams are read one after the other */
    LINGER_MS = 1000,      /* for the last bytes of a stream that is closed */
};

/* When nothing of libuv points to it any more. */
static void stream_free(struct myr_io_stream *stream)
{
    MYR_ASSERT(stream->handles == 0 && !stream->looking);
    /* libuv gives back every piece before it closes the socket. */
    MYR_ASSERT(stream->closing && stream->pending == 0);
    /* The place that it took among the listener's connections is free. */
    if (stream->listener) {
        stream->left(stream->listener);
    }
    SSL_free(stream->ssl); /* and its BIO */
    myr_io_tls_free(stream->tls);
    myr_buf_done(&stream->early);
    myr_buf_done(&stream->out);
    free(stream);
}

/*
 * Both handles must be closed and the lookup back, which libuv may still be at: each of the three
 * holds a pointer into the stream, and the last one frees it.
 */
static void on_closed(uv_handle_t *handle)
{
    struct myr_io_stream *stream = handle->data;
    MYR_ASSERT(stream->closing && stream->handles > 0);
    if (--stream->handles > 0 || stream->looking) {
        return;
    }
    stream->calls.closed(stream->context, stream, &stream->why);
    stream_free(stream);
}

/* The end, told to the owner when both handles are closed; the first reason counts. */
static void end(struct myr_io_stream *stream)
{
    if (stream->closing) {
        return;
    }
    MYR_ASSERT(stream->handles == 2);
    stream->closing = true;
    if (stream->looking) {
        uv_cancel((uv_req_t *)&stream->lookup);
    }
    uv_close((uv_handle_t *)&stream->tcp, on_closed);
    uv_close((uv_handle_t *)&stream->timer, on_closed);
}

/* The first reason is kept; what follows from it is not. */
void stream_broken(struct myr_io_stream *stream, const char *fmt, ...)
{
    if (stream->closing) {
        return;
    }
    MYR_ASSERT(stream->why.code == MYR_OK);
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    (void)myr_err_set(&stream->why, MYR_EIO, "%s: %s",
                      stream->address[0] ? stream->address : "connection", text);
    end(stream);
    MYR_ASSERT(stream->why.code != MYR_OK && stream->closing);
}

/* A piece that waits for the socket, with its own copy of the bytes. */
struct outgoing {
    uv_write_t request;
    struct myr_io_stream *stream;
    size_t size;
    char data[];
};

/* The last piece of a stream that is closing ends it. */
static void on_written(uv_write_t *request, int status)
{
    struct outgoing *outgoing = request->data;
    struct myr_io_stream *stream = outgoing->stream;
    MYR_ASSERT(stream->pending >= outgoing->size && outgoing->size > 0);
    MYR_ASSERT(stream->handles > 0); /* it is told before the socket's end */
    stream->pending -= outgoing->size;
    free(outgoing);
    /* Cancelled: the stream is ending already, for a reason of its own. */
    if (status < 0 && status != UV_ECANCELED) {
        stream_broken(stream, "%s", uv_strerror(status));
    } else if (stream->flushing && stream->pending == 0) {
        end(stream);
    }
}

/* What the system does not take at once is copied and waits. */
static void send_bytes(struct myr_io_stream *stream, const char *data, size_t size)
{
    MYR_ASSERT(!stream->closing && size > 0);
    MYR_ASSERT(stream->open || stream->ssl); /* plain bytes wait for an open stream */
    uv_buf_t now = uv_buf_init((char *)data, (unsigned)size);
    if (stream->pending == 0) {
        /* Only where nothing waits: bytes must not overtake those before them. */
        int sent = uv_try_write((uv_stream_t *)&stream->tcp, &now, 1);
        if (sent == (int)size) {
            return;
        }
        if (sent > 0) {
            data += sent;
            size -= (size_t)sent;
        } else if (sent != UV_EAGAIN) {
            stream_broken(stream, "%s", uv_strerror(sent));
            return;
        }
    }
    struct outgoing *outgoing = myr_xcalloc(1, sizeof(*outgoing) + size);
    memcpy(outgoing->data, data, size);
    outgoing->stream = stream;
    outgoing->size = size;
    outgoing->request.data = outgoing;
    stream->pending += size;
    uv_buf_t rest = uv_buf_init(outgoing->data, (unsigned)size);
    int rc = uv_write(&outgoing->request, (uv_stream_t *)&stream->tcp, &rest, 1, on_written);
    if (rc < 0) {
        stream->pending -= size;
        free(outgoing);
        stream_broken(stream, "%s", uv_strerror(rc));
    }
}

/* What TLS has made of it goes out. */
static void flush_tls(struct myr_io_stream *stream)
{
    MYR_ASSERT(stream->ssl && !stream->looking);
    if (stream->out.len > 0 && !stream->closing) {
        send_bytes(stream, stream->out.data, stream->out.len);
        myr_buf_clear(&stream->out);
    }
}

static void broken_tls(struct myr_io_stream *stream, const char *when)
{
    char text[160];
    unsigned long code = ERR_get_error();
    ERR_error_string_n(code, text, sizeof(text));
    ERR_clear_error();
    flush_tls(stream); /* the alert tells the peer */
    /* What is wrong with the certificate says more than the failure that follows from it. */
    long verdict = SSL_get_verify_result(stream->ssl);
    stream_broken(stream, "TLS %s: %s", when,
                  verdict != X509_V_OK ? X509_verify_cert_error_string(verdict)
                  : code               ? text
                                       : "failed");
}

/* Whose certificate it is, and which one: revocations name the serial. Empty for strangers. */
static void learn_peer(struct myr_io_stream *stream)
{
    X509 *peer = SSL_get0_peer_certificate(stream->ssl);
    if (!peer) {
        return;
    }
    MYR_ASSERT(!stream->open && !stream->peer[0] && !stream->serial[0]); /* known once */
    X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, stream->peer,
                              sizeof(stream->peer));
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(peer), NULL);
    char *hex = number ? BN_bn2hex(number) : NULL;
    snprintf(stream->serial, sizeof(stream->serial), "%s", hex ? hex : "");
    OPENSSL_free(hex);
    BN_free(number);
}

/* What was written early goes out before the owner is told that it is open. */
static void opened(struct myr_io_stream *stream)
{
    MYR_ASSERT(!stream->open && !stream->flushing && !stream->looking);
    MYR_ASSERT(!stream->tls || SSL_is_init_finished(stream->ssl));
    stream->open = true;
    /* The handshake was in time; the timer is free for the last bytes. */
    uv_timer_stop(&stream->timer);
    if (stream->early.len > 0) {
        /* Taken off first: myr_io_write() must find the stream open and nothing early. */
        struct myr_buf early = stream->early;
        stream->early = (struct myr_buf){};
        myr_io_write(stream, (struct myr_str){early.data, early.len});
        myr_buf_done(&early);
    }
    MYR_ASSERT(stream->early.len == 0);
    if (!stream->closing) {
        stream->calls.open(stream->context, stream);
    }
}

/* True when agreed. */
static bool shake(struct myr_io_stream *stream)
{
    MYR_ASSERT(!stream->open && !stream->closing);
    int rc = SSL_do_handshake(stream->ssl);
    flush_tls(stream);
    if (rc != 1) {
        int error = SSL_get_error(stream->ssl, rc);
        if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
            broken_tls(stream, "is not agreed");
        }
        return false;
    }
    struct myr_err err = {};
    if (tls_judge(stream->tls, stream->ssl, &err) < 0) {
        stream_broken(stream, "%s", err.message);
        return false;
    }
    learn_peer(stream);
    opened(stream);
    return !stream->closing;
}

/*
 * The callback may close the stream between any two records, so that each turn looks again: who has
 * closed it hears nothing more.
 */
static void read_tls(struct myr_io_stream *stream, const char *data, size_t size)
{
    char plain[16 << 10];
    MYR_ASSERT(stream->in.len == 0); /* it takes all of it, or the stream is over */
    MYR_ASSERT(!stream->closing && !stream->flushing && stream->ssl);
    stream->in = (struct myr_str){data, size};
    if (!stream->open && !shake(stream)) {
        return;
    }
    while (!stream->closing && !stream->flushing) {
        int got = SSL_read(stream->ssl, plain, sizeof(plain));
        if (got > 0) {
            stream->calls.data(stream->context, stream, (struct myr_str){plain, (size_t)got});
            continue;
        }
        int error = SSL_get_error(stream->ssl, got);
        /* The peer has said good-bye: an end, not a failure. */
        if (error == SSL_ERROR_ZERO_RETURN) {
            end(stream);
        } else if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
            broken_tls(stream, "is broken");
        }
        break;
    }
    if (!stream->closing) {
        flush_tls(stream);
    }
}

/* A stream is read to the end of its callback before the next one: one buffer is enough. */
static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    static _Thread_local char bytes[READ_BYTES];
    (void)handle;
    (void)suggested;
    *ret = uv_buf_init(bytes, sizeof(bytes));
}

/* 0 is no end: the system had nothing after all. */
static void on_read(uv_stream_t *tcp, ssize_t got, const uv_buf_t *buf)
{
    struct myr_io_stream *stream = tcp->data;
    if (got == 0 || stream->closing) {
        return;
    }
    /* Reading begins behind the connection, and stops with myr_io_close(). */
    MYR_ASSERT(!stream->looking && !stream->flushing);
    MYR_ASSERT(stream->tls ? stream->ssl != NULL : stream->open);
    if (got == UV_EOF) {
        /* A failure, not an end: the owner has never had an open stream. */
        if (stream->tls && !stream->open) {
            stream_broken(stream, "the peer left before TLS was agreed");
        } else {
            end(stream);
        }
    } else if (got < 0) {
        stream_broken(stream, "%s", uv_strerror((int)got));
    } else if (stream->tls) {
        read_tls(stream, buf->base, (size_t)got);
    } else {
        stream->calls.data(stream->context, stream, (struct myr_str){buf->base, (size_t)got});
    }
}

/* One timer for both ends of a life: connecting, and sending the last bytes. */
static void on_late(uv_timer_t *timer)
{
    struct myr_io_stream *stream = timer->data;
    MYR_ASSERT(!stream->closing);
    if (stream->flushing) {
        MYR_ASSERT(stream->pending > 0); /* the last piece would have ended it */
        end(stream);
    } else {
        MYR_ASSERT(!stream->open); /* which stops the timer */
        stream_broken(stream, "no connection within %d s", MYR_IO_HANDSHAKE_MS / 1000);
    }
}

struct myr_io_stream *stream_new(uv_loop_t *loop, struct myr_io_tls *tls,
                                 const struct myr_io_calls *calls, void *context)
{
    MYR_ASSERT(calls->open && calls->data && calls->closed);
    struct myr_io_stream *stream = myr_xcalloc(1, sizeof(*stream));
    stream->calls = *calls;
    stream->context = context;
    stream->handles = 2; /* socket and timer */
    int rc = uv_tcp_init(loop, &stream->tcp);
    MYR_ASSERT(rc == 0);
    rc = uv_timer_init(loop, &stream->timer);
    MYR_ASSERT(rc == 0);
    stream->tcp.data = stream->timer.data = stream;
    if (tls) {
        tls_ref(tls);
        stream->tls = tls;
    }
    return stream;
}

void stream_put_address(const struct sockaddr *at, char *ret, size_t size)
{
    char name[INET6_ADDRSTRLEN] = "";
    MYR_ASSERT(size >= sizeof("[]:65535") + sizeof(name)); /* no address is cut */
    if (at->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)at;
        uv_ip6_name(six, name, sizeof(name));
        snprintf(ret, size, "[%s]:%u", name, ntohs(six->sin6_port));
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)at;
        uv_ip4_name(four, name, sizeof(name));
        snprintf(ret, size, "%s:%u", name, ntohs(four->sin_port));
    }
}

/* The sockets are joined: TLS begins, or the stream is open. */
void stream_joined(struct myr_io_stream *stream)
{
    MYR_ASSERT(!stream->open && !stream->ssl && !stream->looking);
    MYR_ASSERT(stream->pending == 0); /* nothing was said to anybody */
    /* Messages are small, and must not wait for each other. */
    uv_tcp_nodelay(&stream->tcp, 1);
    /* A peer whose machine is off sends no end; without this an idle stream to it would stay. */
    uv_tcp_keepalive(&stream->tcp, 1, 30);
    uv_timer_start(&stream->timer, on_late, MYR_IO_HANDSHAKE_MS, 0);
    int rc = uv_read_start((uv_stream_t *)&stream->tcp, on_alloc, on_read);
    if (rc < 0) {
        stream_broken(stream, "%s", uv_strerror(rc));
        return;
    }
    if (!stream->tls) {
        opened(stream);
        return;
    }
    stream->ssl = tls_new(stream->tls);
    BIO *bio = tls_bio(stream->tls, &stream->in, &stream->out);
    MYR_ASSERT(stream->ssl && bio);
    SSL_set_bio(stream->ssl, bio, bio);
    if (tls_is_server(stream->tls)) {
        /* A server waits for the first bytes of the client; read_tls() goes on from there. */
        SSL_set_accept_state(stream->ssl);
    } else {
        SSL_set_connect_state(stream->ssl);
        shake(stream);
    }
}

static void on_connected(uv_connect_t *request, int status)
{
    struct myr_io_stream *stream = request->data;
    MYR_ASSERT(!stream->looking && stream->handles > 0);
    if (stream->closing) {
        return;
    }
    if (status < 0) {
        stream_broken(stream, "%s", uv_strerror(status));
        return;
    }
    stream_joined(stream);
}

/* A failure is told by 'closed' in a later turn of the loop, never from inside this call. */
static void go(struct myr_io_stream *stream, const struct sockaddr *at)
{
    MYR_ASSERT(!stream->looking && !stream->closing && !stream->connecting.data);
    stream_put_address(at, stream->address, sizeof(stream->address));
    stream->connecting.data = stream;
    int rc = uv_tcp_connect(&stream->connecting, &stream->tcp, at, on_connected);
    if (rc < 0) {
        stream_broken(stream, "%s", uv_strerror(rc));
    }
}

/* Called also when cancelled; where the handles were closed meanwhile the end is told here. */
static void on_looked_up(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct myr_io_stream *stream = request->data;
    MYR_ASSERT(stream->looking && !stream->open);
    MYR_ASSERT(stream->closing || stream->handles == 2);
    stream->looking = false;
    if (stream->closing) {
        uv_freeaddrinfo(found);
        if (stream->handles == 0) {
            stream->calls.closed(stream->context, stream, &stream->why);
            stream_free(stream);
        }
        return;
    }
    if (status < 0) {
        stream_broken(stream, "%s", uv_strerror(status));
    } else {
        /* The first address that the system names is the only one that is tried. */
        go(stream, found->ai_addr);
    }
    uv_freeaddrinfo(found);
}

/* True when 'host' is an address as it stands. */
bool stream_numeric(const char *host, uint16_t port, struct sockaddr_storage *ret)
{
    return uv_ip4_addr(host, port, (struct sockaddr_in *)ret) == 0 ||
           uv_ip6_addr(host, port, (struct sockaddr_in6 *)ret) == 0;
}

/* The time for the lookup is part of that for the handshake. */
int myr_io_connect(uv_loop_t *loop, const char *host, uint16_t port, struct myr_io_tls *tls,
                   const struct myr_io_calls *calls, void *context, struct myr_io_stream **ret,
                   struct myr_err *err)
{
    MYR_ASSERT(!tls || !tls_is_server(tls));
    struct sockaddr_storage at = {};
    struct myr_io_stream *stream = stream_new(loop, tls, calls, context);
    uv_timer_start(&stream->timer, on_late, MYR_IO_HANDSHAKE_MS, 0);
    *ret = stream;
    if (stream_numeric(host, port, &at)) {
        go(stream, (const struct sockaddr *)&at);
        return MYR_OK;
    }
    char service[8];
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    snprintf(service, sizeof(service), "%u", port);
    snprintf(stream->address, sizeof(stream->address), "%s:%u", host, port);
    stream->lookup.data = stream;
    int rc = uv_getaddrinfo(loop, &stream->lookup, on_looked_up, host, service, &hints);
    if (rc < 0) {
        stream_broken(stream, "%s", uv_strerror(rc));
        (void)err;
        return MYR_OK; /* told by 'closed', as every other failure */
    }
    stream->looking = true;
    return MYR_OK;
}

/* Never fails: what goes wrong is told by 'closed'. */
void myr_io_write(struct myr_io_stream *stream, struct myr_str bytes)
{
    MYR_ASSERT(stream->closing || stream->handles == 2);
    MYR_ASSERT(!stream->open || stream->early.len == 0); /* nothing overtakes the first words */
    if (stream->closing || stream->flushing || bytes.len == 0) {
        return;
    }
    /* Owners need not wait for the handshake to say their first words. */
    if (!stream->open) {
        myr_buf_put(&stream->early, bytes.data, bytes.len);
        return;
    }
    if (!stream->tls) {
        send_bytes(stream, bytes.data, bytes.len);
        return;
    }
    size_t at = 0;
    while (at < bytes.len && !stream->closing) {
        /* SSL_write() takes an int. */
        size_t piece = bytes.len - at < INT32_MAX ? bytes.len - at : INT32_MAX;
        int put = SSL_write(stream->ssl, bytes.data + at, (int)piece);
        if (put <= 0) {
            /* 'out' takes everything: anything else is a broken session. */
            broken_tls(stream, "is broken");
            return;
        }
        at += (size_t)put;
    }
    flush_tls(stream);
}

/* What the peer has not taken yet; owners stop writing to one that is slow. */
size_t myr_io_pending(const struct myr_io_stream *stream)
{
    MYR_ASSERT(!stream->open || stream->early.len == 0);
    return stream->pending + stream->early.len;
}

/* With a good-bye of TLS, so that the peer can tell the end from a cut. */
void myr_io_close(struct myr_io_stream *stream)
{
    MYR_ASSERT(stream->closing || stream->handles == 2);
    if (stream->closing || stream->flushing) {
        return;
    }
    if (stream->open && stream->tls) {
        SSL_shutdown(stream->ssl);
        flush_tls(stream);
    }
    if (stream->closing) {
        return;
    }
    uv_read_stop((uv_stream_t *)&stream->tcp);
    if (stream->pending == 0) {
        end(stream);
    } else {
        stream->flushing = true;
        /* A peer that takes nothing more must not keep the stream for ever. */
        uv_timer_start(&stream->timer, on_late, LINGER_MS, 0);
    }
}

void myr_io_abort(struct myr_io_stream *stream)
{
    MYR_ASSERT(stream->closing || stream->handles == 2);
    end(stream);
}

/* The system's own buffers fill up then, and the peer has to wait. */
void myr_io_pause(struct myr_io_stream *stream, bool pause)
{
    MYR_ASSERT(stream->closing || stream->handles == 2);
    if (stream->closing || stream->flushing || stream->paused == pause) {
        return;
    }
    stream->paused = pause;
    if (pause) {
        uv_read_stop((uv_stream_t *)&stream->tcp);
    } else if (uv_read_start((uv_stream_t *)&stream->tcp, on_alloc, on_read) < 0) {
        stream_broken(stream, "reading cannot go on");
    }
}

const char *myr_io_peer(const struct myr_io_stream *stream)
{
    MYR_ASSERT(stream->open || !stream->peer[0]); /* nobody has a name before he is judged */
    return stream->peer;
}

const char *myr_io_peer_serial(const struct myr_io_stream *stream)
{
    MYR_ASSERT(stream->open || !stream->serial[0]);
    return stream->serial;
}

const char *myr_io_address(const struct myr_io_stream *stream)
{
    return stream->address;
}
