/*
 * stream: a TCP connection on a libuv loop, with TLS or without.
 *
 * What is written is copied and sent when the peer takes it; myr_io_pending() says how much waits,
 * and a caller that cares stops writing. A stream ends once: 'closed' is called exactly once, from
 * the loop and never from inside of myr_io_close() or myr_io_write(), and the stream is gone after
 * it. A peer that does not finish its TLS handshake within MYR_IO_HANDSHAKE_MS is dropped.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "myriad/io/tls.h"

#define MYR_IO_HANDSHAKE_MS 10000

struct myr_io_stream;
struct myr_io_listener;

struct myr_io_calls {
    /* It may be written to; TLS is agreed. */
    void (*open)(void *context, struct myr_io_stream *stream);
    void (*data)(void *context, struct myr_io_stream *stream, struct myr_str bytes);
    /* It is over: 'why' says by whom. MYR_OK: the peer has closed, or we have. */
    void (*closed)(void *context, struct myr_io_stream *stream, const struct myr_err *why);
};

/*
 * 'tls' NULL: plain. 'host' is an address or a name; the name is looked up in the background. It
 * returns MYR_OK: what goes wrong is told by 'closed'.
 */
MYR_MUST_USE int myr_io_connect(uv_loop_t *loop, const char *host, uint16_t port,
                                struct myr_io_tls *tls, const struct myr_io_calls *calls,
                                void *context, struct myr_io_stream **ret, struct myr_err *err);
/*
 * Streams that come in call 'accept', which says what the calls' context is, never NULL: the end
 * of each is told to it. Port 0: any, told by myr_io_port().
 */
struct myr_io_service {
    struct myr_io_calls calls;
    void *(*accept)(void *context, struct myr_io_stream *stream);
    void *context;
    uint32_t streams_max; /* those beyond are closed at once */
};
MYR_MUST_USE int myr_io_listen(uv_loop_t *loop, const char *address, uint16_t port,
                               struct myr_io_tls *tls, const struct myr_io_service *service,
                               struct myr_io_listener **ret, struct myr_err *err);
/* Streams that come from now on are shown this; those that are there keep what they were shown. */
void myr_io_listener_show(struct myr_io_listener *listener, struct myr_io_tls *tls);
uint16_t myr_io_port(const struct myr_io_listener *listener);
/* Another 'streams_max'; those that are there stay. */
void myr_io_listener_limit(struct myr_io_listener *listener, uint32_t streams_max);
/* Streams of it go on. */
void myr_io_listener_close(struct myr_io_listener *listener);

void myr_io_write(struct myr_io_stream *stream, struct myr_str bytes);
/* Bytes that were written and not yet taken by the system. */
size_t myr_io_pending(const struct myr_io_stream *stream);
/*
 * What was written before is sent first, as far as the peer takes it within a second. Nothing more
 * is heard of it but 'closed'.
 */
void myr_io_close(struct myr_io_stream *stream);
/* At once, and what waits is lost. */
void myr_io_abort(struct myr_io_stream *stream);
/* Reading stops while the caller cannot keep up. */
void myr_io_pause(struct myr_io_stream *stream, bool pause);
/* The common name of the peer's certificate; "" when it has shown none. */
const char *myr_io_peer(const struct myr_io_stream *stream);
/* The serial number of that certificate, in hex; "" when there is none. */
const char *myr_io_peer_serial(const struct myr_io_stream *stream);
/* "127.0.0.1:4711" */
const char *myr_io_address(const struct myr_io_stream *stream);
