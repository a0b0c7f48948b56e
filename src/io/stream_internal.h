/* What stream.c and listener.c know of each other: a listener makes streams, and counts them. */
#pragma once

#include "myriad/io/stream.h"
#include "tls_context.h"

enum { STREAM_NAME_BYTES = 72 }; /* a common name of 64 bytes, and room */

struct myr_io_stream {
    uv_tcp_t tcp;
    uv_timer_t timer; /* of the handshake, and of the last bytes */
    uv_connect_t connecting;
    uv_getaddrinfo_t lookup;
    struct myr_io_listener *listener; /* or NULL; 'left' tells it of the end */
    void (*left)(struct myr_io_listener *listener);
    struct myr_io_calls calls;
    void *context; /* of the owner, for 'calls' */
    struct myr_io_tls *tls;
    SSL *ssl;
    struct myr_str in;    /* of TLS: what came and is not taken yet, */
    struct myr_buf out;   /* and what is to go */
    struct myr_buf early; /* written before TLS was agreed */
    size_t pending;       /* bytes handed to libuv and not yet written */
    uint32_t handles;     /* not yet closed */
    bool open, closing, looking, paused, flushing;
    struct myr_err why; /* it ended; MYR_OK: by itself */
    char peer[STREAM_NAME_BYTES], serial[48], address[64];
};

struct myr_io_listener {
    uv_tcp_t tcp;
    struct myr_io_tls *tls;
    struct myr_io_service service; /* by value: the caller's need not last */
    uint32_t streams, refs;        /* open ones; they and the socket itself */
    uint16_t port;
    bool closing;
};

/* stream.c */
struct myr_io_stream *stream_new(uv_loop_t *loop, struct myr_io_tls *tls,
                                 const struct myr_io_calls *calls, void *context);
/* The sockets are joined: TLS begins, or the stream is open. */
void stream_joined(struct myr_io_stream *stream);
MYR_PRINTF(2, 3)
void stream_broken(struct myr_io_stream *stream, const char *fmt, ...);
void stream_put_address(const struct sockaddr *at, char *ret, size_t size);
/* True when 'host' is an address as it stands. */
bool stream_numeric(const char *host, uint16_t port, struct sockaddr_storage *ret);
