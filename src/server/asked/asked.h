/*
 * asked: questions about the state whose answer may take a while: why a job waits, when those that
 * wait start. They are thought about on a copy, beside the loop; a small state is looked at at
 * once, which takes less than to hand it over. What is told of starts is kept for a while, and
 * shown wherever jobs are listed.
 */
#pragma once

#include "http.h"
#include "myriad/control/explain.h"

struct asked {
    uv_work_t work;
    struct server *server;
    struct request *request; /* who waits for it; NULL: nobody, or he has been answered */
    struct asked *next;      /* of those under way */
    int64_t now_ms;
    /* What it is thought about with, and nothing else: the loop goes on meanwhile. */
    struct myr_control *copy;
    char (*names)[SERVER_NAME]; /* of the nodes */
    uint32_t job;               /* explain: this one */
    uint32_t *ids, count;       /* queue, starts: these */
    uint32_t steps;
    struct myr_start_time start; /* of the job, as it is known */
    bool has_start, forgotten;
    int64_t submitted_ms;
    /* What came out. */
    struct myr_explanation why;
    const char **reasons;
    struct myr_start_time *starts;
    bool told;
    int rc;
    struct myr_err err;
    /* On a thread of its own, or here; and, on the loop, what becomes of it. */
    void (*think)(struct asked *asked);
    void (*tell)(struct asked *asked, struct myr_buf *ret);
};

/* When jobs that wait start, as it was last worked out. */
struct starts {
    uint32_t *ids, count; /* in their order */
    struct myr_start_time *times;
    int64_t at_ms;   /* of the cluster's time */
    uint64_t events; /* of the core, then */
    bool told, busy, done;
};

/* asked.c: with a copy of the state; 'think' and 'tell' are set by who asks. */
struct asked *asked_new(struct server *server, struct request *request);
/* MYR_OK and the answer in 'ret', or HTTP_LATER. Takes 'asked' in any case. */
int asked_begin(struct asked *asked, struct myr_buf *ret, struct myr_err *err);
/* Whoever waits for an answer is told that the server stops. */
void asked_stop(struct server *server);
/* All that wait, in the order in which they came, up to 'most'. */
void asked_waiting(struct asked *asked, uint32_t most);

/* starts.c */
/* Works it out anew where the state is another one and that was a while ago. */
void starts_refresh(struct server *server);
/* In seconds from now; false: nobody knows. */
bool starts_of(const struct server *server, uint32_t job, struct myr_start_time *ret);
