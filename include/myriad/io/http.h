/*
 * http: one request to a server, and its answer; blocking, for the command.
 *
 * HTTP/1.1, one request a connection. An https address is believed by the authority's file; a
 * plain http address is only taken to this machine itself, so that no token travels in the open.
 */
#pragma once

#include <stdint.h>

#include "myriad/base.h"

#define MYR_HTTP_BODY_MAX (256U << 20)

struct myr_http_request {
    const char *method; /* "GET" */
    const char *url;    /* "http://127.0.0.1:4680/v1/nodes" */
    const char *token;  /* or NULL */
    const char *ca;     /* PEM file, or NULL */
    const char *type;   /* of the body, or NULL */
    struct myr_str body;
    uint32_t timeout_s; /* without a byte; 0: 30 */
};

struct myr_http_answer {
    uint32_t status;
    struct myr_buf body;
};

/*
 * An answer of any status is MYR_OK. For a stream of events 'piece' is called with each piece of
 * the body as it comes, and may stop by returning false; else the whole body is kept.
 */
MYR_MUST_USE int myr_http_ask(const struct myr_http_request *request,
                              bool (*piece)(void *context, struct myr_str bytes), void *context,
                              struct myr_http_answer *ret, struct myr_err *err);
void myr_http_answer_done(struct myr_http_answer *answer);
