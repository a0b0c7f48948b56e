/*
 * listener: a socket that makes a stream of each connection, up to a number. It outlives its own
 * end as long as a stream of it does, by counting itself and each of them.
 */
#include <stdlib.h>

#include "stream_internal.h"

enum { BACKLOG = 1024 }; /* connections that may wait to be accepted */

/* With the socket and the last stream: each of them holds on to it. */
static void unref(struct myr_io_listener *listener)
{
    MYR_ASSERT(listener->refs > listener->streams);
    if (--listener->refs == 0) {
        MYR_ASSERT(listener->closing && listener->streams == 0);
        myr_io_tls_free(listener->tls);
        free(listener);
    }
}

/* A stream of it has ended. */
static void left(struct myr_io_listener *listener)
{
    MYR_ASSERT(listener->streams > 0 && listener->refs >= listener->streams);
    listener->streams--;
    unref(listener);
}

static void on_incoming(uv_stream_t *tcp, int status)
{
    struct myr_io_listener *listener = tcp->data;
    if (status < 0 || listener->closing) {
        return;
    }
    MYR_ASSERT(listener->refs == listener->streams + 1); /* with the socket, which is there */
    struct myr_io_stream *stream =
        stream_new(tcp->loop, listener->tls, &listener->service.calls, NULL);
    /* Counted before anything can fail: the end of every stream takes it off again. */
    MYR_ASSERT(!stream->listener && stream->tls == listener->tls);
    stream->listener = listener;
    stream->left = left;
    listener->streams++;
    listener->refs++;
    int rc = uv_accept(tcp, (uv_stream_t *)&stream->tcp);
    struct sockaddr_storage at = {};
    int size = sizeof(at);
    if (rc == 0 && uv_tcp_getpeername(&stream->tcp, (struct sockaddr *)&at, &size) == 0) {
        stream_put_address((const struct sockaddr *)&at, stream->address, sizeof(stream->address));
    }
    /*
     * The owner is told even of a stream that fails at once, so that its end is told to somebody.
     */
    stream->context = listener->service.accept(listener->service.context, stream);
    MYR_ASSERT(stream->context); /* 'closed' tells its end */
    if (rc < 0) {
        stream_broken(stream, "%s", uv_strerror(rc));
    } else if (listener->streams > listener->service.streams_max) {
        stream_broken(stream, "%u connections are enough", listener->service.streams_max);
    } else {
        stream_joined(stream);
    }
}

/* Those that are there already stay, also where they are more. */
void myr_io_listener_limit(struct myr_io_listener *listener, uint32_t streams_max)
{
    listener->service.streams_max = streams_max;
}

/* A code of libuv. Port 0 is any that is free: 'at' is then the one that the system has given. */
static int start(struct myr_io_listener *listener, struct sockaddr_storage *at)
{
    int size = sizeof(*at);
    MYR_TRY(uv_tcp_bind(&listener->tcp, (const struct sockaddr *)at, 0));
    MYR_TRY(uv_listen((uv_stream_t *)&listener->tcp, BACKLOG, on_incoming));
    return uv_tcp_getsockname(&listener->tcp, (struct sockaddr *)at, &size);
}

/* On failure it is closed by the loop, in a later turn. */
int myr_io_listen(uv_loop_t *loop, const char *address, uint16_t port, struct myr_io_tls *tls,
                  const struct myr_io_service *service, struct myr_io_listener **ret,
                  struct myr_err *err)
{
    MYR_ASSERT(!tls || tls_is_server(tls));
    struct sockaddr_storage at = {};
    if (!stream_numeric(address, port, &at)) {
        return myr_err_set(err, MYR_EINVAL,
                           "'%s' is no address; such as 127.0.0.1 or ::1 is "
                           "expected",
                           address);
    }
    struct myr_io_listener *listener = myr_xcalloc(1, sizeof(*listener));
    listener->service = *service;
    listener->refs = 1;
    int rc = uv_tcp_init(loop, &listener->tcp);
    MYR_ASSERT(rc == 0);
    listener->tcp.data = listener;
    if (tls) {
        tls_ref(tls);
        listener->tls = tls;
    }
    rc = start(listener, &at);
    if (rc < 0) {
        (void)myr_err_set(err, MYR_EIO, "listening on %s port %u: %s", address, port,
                          uv_strerror(rc));
        myr_io_listener_close(listener);
        return MYR_EIO;
    }
    MYR_ASSERT(!listener->closing && listener->refs == 1); /* nobody comes in before the loop */
    listener->port = ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                                    : ((struct sockaddr_in *)&at)->sin_port);
    *ret = listener;
    return MYR_OK;
}

/* From now on new streams show the new certificate; open ones keep the context they have. */
void myr_io_listener_show(struct myr_io_listener *listener, struct myr_io_tls *tls)
{
    MYR_ASSERT(listener->tls && tls && tls_is_server(tls));
    tls_ref(tls);
    myr_io_tls_free(listener->tls);
    listener->tls = tls;
}

uint16_t myr_io_port(const struct myr_io_listener *listener)
{
    return listener->port;
}

static void on_listener_closed(uv_handle_t *handle)
{
    struct myr_io_listener *listener = handle->data;
    MYR_ASSERT(listener->closing && listener->refs == listener->streams + 1);
    unref(listener);
}

void myr_io_listener_close(struct myr_io_listener *listener)
{
    if (listener && !listener->closing) {
        MYR_ASSERT(listener->refs == listener->streams + 1);
        listener->closing = true;
        uv_close((uv_handle_t *)&listener->tcp, on_listener_closed);
    }
}
