/*
 * client: requests to the API server over a few connections that are kept. Those of one turn of the
 * loop go out together, several to a connection. A request ends once, by its 'done', from the loop
 * and never from inside of kube_ask(). One whose connection was closed before it was answered is
 * asked once more: whoever asks has to bear that it is heard twice.
 */
#pragma once

#include <uv.h>

#include "kube.h"
#include "myriad/io.h"

enum { CLIENT_CONNECTIONS = 4 }; /* beside those of streams, and one for what may wait */

/* Lives for the length of 'done'. */
struct client_answer {
    int rc;                    /* MYR_OK: there is an answer, of whatever status */
    const struct myr_err *err; /* why not */
    uint32_t status;
    struct myr_str body;
};

/* Copied by kube_ask(): the caller's own may be gone before it is answered. */
struct client_request {
    const char *method, *type; /* constants */
    const char *accept;        /* what may come, one too; NULL: JSON */
    char *path;                /* with its question */
    struct myr_buf body;
    /* A stream of lines: 'piece' gets the body as it comes; a connection of its own. */
    myr_http_piece *piece;
    /* Of a stream: it was granted, as what; before any piece of it. Or NULL. */
    void (*begun)(void *context, const char *type);
    void (*done)(void *context, const struct client_answer *answer);
    void *context;
    uint32_t timeout_s; /* without a byte; 0: the client's */
    bool later;         /* when nothing else is to be asked */
    /* The client's own. */
    bool again; /* tried on a connection that had been closed meanwhile */
    struct client_request *next;
};

struct client_line;

/* First in, first out; linked by 'next' of the requests. */
struct client_queue {
    struct client_request *first, *last;
};

struct client {
    uv_loop_t *loop;
    const struct myr_kube_access *access;
    struct myr_io_tls *tls;
    struct myr_buf token, head; /* head: the lines that all requests have */
    int64_t token_ms;           /* when it was last read; 0: to be read before the next request */
    uint32_t timeout_s;         /* without a byte, before a request is given up */
    struct client_line *lines;  /* all connections */
    uint32_t line_count;        /* without those of streams */
    struct client_queue urgent, other; /* that wait for a connection */
    uint64_t asked, heard;             /* requests; pieces that were read */
    bool closing;
    uv_timer_t tick;
    uv_prepare_t turn;
};

MYR_MUST_USE int kube_begin(struct client *client, uv_loop_t *loop,
                            const struct myr_kube_access *access, uint32_t timeout_s,
                            struct myr_err *err);
/* Other credentials from now on; connections that are there are closed when they are idle. */
MYR_MUST_USE int kube_renew(struct client *client, const struct myr_kube_access *access,
                            struct myr_err *err);
/* 'path' and the body are the client's from here on. */
void kube_ask(struct client *client, const struct client_request *request);
/* Connections are opened before they are needed: the first gang does not wait for them. */
void kube_warm(struct client *client);
/* What was asked goes out now, not at the end of this turn of the loop. */
void kube_flush(struct client *client);
/* Requests that are not answered, without streams and what may wait. */
uint32_t kube_unanswered(const struct client *client);
/* Ends a stream, by its context; its 'done' comes. */
void kube_drop(struct client *client, const void *context);
/* All requests end as given up, without their 'done'. The loop has to run once more. */
void kube_end(struct client *client);
/* What a status that is no success says, in one line. */
int kube_refused(const struct myr_kube_access *access, const struct client_request *request,
                 uint32_t status, struct myr_str body, struct myr_err *err);
char *kube_path(const char *fmt, ...) MYR_PRINTF(1, 2);
/* As one word of a question: what is not plain is escaped. */
void kube_put_word(struct myr_buf *buf, struct myr_str text);
int64_t kube_now_ms(void);
