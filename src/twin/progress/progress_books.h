/* progress_books: what progress and its duties know of nodes and jobs. */
#pragma once

#include "progress/progress.h"

enum {
    PRIORITIES = 201, /* from -100 to 100 */
    MINUTE_MS = 60000,
    /*
     * A job that fits what is healthy and free may wait so long: for a gang's start that fails, and
     * for what mends keep for their gangs.
     */
    IDLE_MS = 15 * MINUTE_MS,
    HELD_MS = 12 * 60 * MINUTE_MS, /* ... where a larger one waits too, for which it may be kept */
    /* The nodes of a gang that mends are its own for so long. */
    KEPT_MS = 13 * MINUTE_MS,
    PRIORITY_MS = 15 * MINUTE_MS, /* who counts more is served by then, if anybody is */
    ORDER_MS = 10 * MINUTE_MS,    /* between two looks at who was overtaken */
    /* The whole cluster for so long, and twice what those before had: about three times FIFO. */
    OVERTAKEN_MS = 12 * 60 * MINUTE_MS,
    WINDOW_EMPTY_MS = 15 * MINUTE_MS, /* to save and end, when a window begins */
    WINDOW_SLACK_MS = 5 * MINUTE_MS,  /* a controller's clock counts none of its absences */
    DATE_SLACK_MS = 2 * MINUTE_MS,
    UNMENDED_MS = 120 * MINUTE_MS, /* boot, tests, a repair that was under way */
    END_MS = 6 * 60 * MINUTE_MS,   /* beside the work that is left */
    RETRY_MOST_MS = 60000,
    RETRY_MS = 750, /* a pause of 1, 2, 4 ... s, told in whole seconds */
};

struct pnode {
    uint8_t state; /* enum myr_node_state, as told */
    bool drained, held, doubted;
    bool repair;      /* given to repair by the controller itself */
    bool out;         /* being emptied, or empty, for whatever reason */
    bool usable;      /* by anybody, or by who it is kept for */
    bool counted;     /* in 'with_free': it is kept for nobody */
    bool touched;     /* in the list of this event */
    uint32_t free;    /* GPUs, as they were counted */
    uint32_t started; /* the last job that was, counted from 1 */
    uint32_t started_epoch;
    uint32_t kept_for;        /* a job that mends, counted from 1 */
    uint64_t kept_gpus;       /* that were its own */
    int64_t kept_ms, calm_ms; /* in time with a controller */
    int64_t kept_at_ms;       /* in the most that it may take for time */
};

/* What one node runs of a gang. */
struct ppart {
    uint32_t node, first, gpus; /* 'first' of its ranks */
};

struct pjob {
    uint32_t gpus, tenant, after;
    int32_t priority;
    int64_t limit_s, date_ms;     /* date: of the controller's clock; 0: none */
    bool shaped;                  /* it has a layout, or is near: another search places it */
    bool held, fixed;             /* by a person; not to be stopped for others */
    uint32_t least;               /* GPUs with which it starts too */
    uint32_t placed_epoch, world; /* of the last start that was ordered; its GPUs */
    struct ppart *parts;          /* of it, as far as they were ordered */
    uint32_t part_count;
    bool at_once;              /* it got its GPUs in the event that gave it its turn */
    uint32_t granted;          /* GPUs, in this event */
    uint32_t within, leaf_max; /* 1: one set of leaves, 2: one pod; nodes of it under one; 0: any */
    bool asked;                /* a person has changed its turn */
    uint8_t state;             /* enum myr_control_job_state */
    bool mends;                /* its nodes are kept for it */
    bool lent;                 /* the nodes of its last turn are another's */
    bool mended;               /* its last place was that of a job that mends */
    int64_t broke_ms;          /* when it last began to */
    uint32_t epoch;            /* of its last start */
    uint32_t own_faults;       /* in a row */
    uint32_t fault_epoch;      /* of the last of them */
    int64_t fault_ms;          /* of the last of them */
    int64_t ready_ms, fit_ms;  /* since when; -1: not */
    int64_t first_ms;          /* ... there is room for it, and nobody for whom it may be kept */
    uint64_t earlier, later;   /* GPU time that others had while it waited */
};

struct progress {
    struct check *check;
    const struct myr_scenario *scenario;
    uint32_t per; /* GPUs of a node */
    struct pnode *nodes;
    MYR_VEC(struct pjob) jobs;
    MYR_VEC(uint32_t) open;    /* those that are not over, by number */
    MYR_VEC(uint32_t) touched; /* nodes, in this event */
    MYR_VEC(uint32_t) started; /* jobs that were granted something in this event */
    uint64_t *shares;
    uint32_t with_free[65]; /* usable nodes, by their free GPUs */
    uint32_t usable;
    uint32_t repairs; /* nodes that the controller itself has given away */
    uint32_t out;     /* nodes that are to be empty */
    int64_t approved; /* so many may be given away beside the limit */
    int64_t approved_most;
    int64_t now_ms, last_ms;
    int64_t up_ms;    /* time in which a controller was there */
    int64_t lag_ms;   /* that a controller's own clock is behind at most */
    int64_t event_ms; /* of the last event */
    bool jumped;      /* its clock has, since */
    int64_t ahead_ms; /* steps of its clock that it may have taken for time */
    int64_t step_ms;  /* all steps of its clock, forth and back */
    int64_t order_ms; /* since the last look at who was overtaken */
    int64_t end_ms;   /* on 'up_ms': everybody is to be over; 0: nobody asks */
    uint64_t idle_gpu_ms;
    bool calm, keeps; /* no trouble now; nodes are kept for somebody */
};

static inline struct pjob *pjob_at(const struct progress *p, uint32_t id)
{
    MYR_ASSERT(id < p->jobs.count);
    return &p->jobs.items[id];
}

/* placed.c: an order to start, and the end of an event. */
void placed_order(struct progress *p, const struct myr_effect *e);
void placed_end(struct progress *p);

/* progress.c */
bool progress_is_kept(const struct progress *p, const struct pnode *n);
bool progress_usable(const struct progress *p, uint32_t node);
void progress_count(struct progress *p, uint32_t node);
uint32_t progress_nodes_of(const struct progress *p, uint32_t gpus);
/* It asks to lie together, and not everywhere is room for it. */
static inline bool pjob_is_near(const struct pjob *job)
{
    return job->within > 0 || job->leaf_max > 0;
}

bool progress_is_ready(const struct progress *p, const struct pjob *job);
/* Nodes that are, or may be, kept for jobs that have a date. */
uint32_t progress_dated_nodes(const struct progress *p);
