/*
 * http: one request to a server, and its answer; blocking, for the command.
 *
 * HTTP/1.1, one request a connection. An https address is believed by the authority's file; a
 * plain http address is only taken to this machine itself, so that no token travels in the open.
 * Nothing is followed: an answer that sends elsewhere is an answer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

#define MYR_HTTP_BODY_MAX (256U << 20)
#define MYR_HTTP_HEAD_MAX (64U << 10)

struct myr_http_request {
    const char *method; /* "GET" */
    const char *url;    /* "http://127.0.0.1:4680/v1/nodes" */
    const char *token;  /* or NULL */
    const char *ca;     /* PEM file, or NULL: those that this machine believes */
    const char *type;   /* of the body, or NULL */
    const char *key;    /* Idempotency-Key: the same request twice is one; or NULL */
    const char *own_certificate, *own_key; /* PEM files to be known by, or NULL */
    struct myr_str body;
    uint32_t timeout_s; /* without a byte; 0: 30 */
};

struct myr_http_answer {
    uint32_t status;
    struct myr_buf body;
};

/* A piece of a body; false: no more is wanted. */
typedef bool myr_http_piece(void *context, struct myr_str bytes);

/*
 * An answer of any status is MYR_OK. For a stream of events 'piece' is called with each piece of
 * the body as it comes, and may stop by returning false; else the whole body is kept. MYR_EAWAY:
 * nobody answers there; MYR_EIO: what came is no whole answer.
 */
MYR_MUST_USE int myr_http_ask(const struct myr_http_request *request, myr_http_piece *piece,
                              void *context, struct myr_http_answer *ret, struct myr_err *err);
void myr_http_answer_done(struct myr_http_answer *answer);

/*
 * The bytes of an answer as they come, apart from any socket. Bodies by length, in chunks, or up to
 * the end of the connection.
 */
enum myr_http_at {
    MYR_HTTP_AT_HEAD,
    MYR_HTTP_AT_LENGTH,     /* 'left' bytes of body to come */
    MYR_HTTP_AT_CHUNK_LINE, /* the line that says how long the next chunk is */
    MYR_HTTP_AT_CHUNK,
    MYR_HTTP_AT_CHUNK_END,
    MYR_HTTP_AT_TRAILER,
    MYR_HTTP_AT_CLOSE, /* as long as the peer speaks */
    MYR_HTTP_AT_DONE,
};

struct myr_http_reply {
    enum myr_http_at at;
    uint32_t status;
    uint64_t left, got;  /* of the body */
    struct myr_buf line; /* the head, or a line between chunks, as far as it has come */
    struct myr_buf body; /* where there is no 'piece' */
    myr_http_piece *piece;
    void *context;
    char type[64]; /* what the body is, without what is behind a ';'; empty: not said, or longer */
};

void myr_http_reply_init(struct myr_http_reply *reply, myr_http_piece *piece, void *context);
void myr_http_reply_done(struct myr_http_reply *reply);
/* What came; bytes behind the end are of no interest to anybody. */
MYR_MUST_USE int myr_http_reply_feed(struct myr_http_reply *reply, struct myr_str bytes,
                                     struct myr_err *err);
/* The same for answers that follow each other: 'bytes' is what is left when this one is whole. */
MYR_MUST_USE int myr_http_reply_take(struct myr_http_reply *reply, struct myr_str *bytes,
                                     struct myr_err *err);
/* Ready for the next answer, with the memory of the last one. */
void myr_http_reply_clear(struct myr_http_reply *reply, myr_http_piece *piece, void *context);
/* The peer has closed: was that all? */
MYR_MUST_USE int myr_http_reply_end(const struct myr_http_reply *reply, struct myr_err *err);
