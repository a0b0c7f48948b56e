/*
 * why: what a waiting job lacks, and the least that would have to change.
 */
#pragma once

#include "myriad/sched/trial.h"

enum { MYR_WHY_STOPS_MAX = 8 };

enum myr_why_kind {
    MYR_WHY_NOTHING,    /* it does not wait, or starts with the next decision */
    MYR_WHY_ORDER,      /* it would fit, but somebody before it has to start first */
    MYR_WHY_LOCALITY,   /* it would fit, but spread over more groups than it needs */
    MYR_WHY_HELD,       /* it would fit without the nodes held for others */
    MYR_WHY_CLOSED,     /* it would fit with all nodes in use, those never seen too */
    MYR_WHY_FRAGMENTED, /* so many GPUs are free, but not on enough whole nodes */
    MYR_WHY_FULL,       /* not so many GPUs are free */
    MYR_WHY_NEVER,      /* not even all of the cluster would hold it */
};

struct myr_why {
    enum myr_why_kind kind;
    uint32_t gpus, nodes;            /* needed */
    uint32_t gpus_free, nodes_free;  /* on nodes that are open */
    uint32_t nodes_held, nodes_shut; /* whole ones held for gangs; not in use */
    uint32_t held_for;               /* the gang with most of them, or MYR_NONE */
    uint32_t own_nodes, own_free;    /* cells of its tenant and those above */
    uint32_t ahead;                  /* jobs in lines that go before it */
    int64_t now_s, waited_s;
    /* When nodes are held for it, when it may spread; INT64_MAX: never. */
    int64_t hold_s, anywhere_s;
    /* What would start it now, each alone (trial.h). */
    uint32_t trial_count;
    struct myr_trial trials[MYR_TRIALS_MAX];
    /* The same of those that end jobs; 'stop_count' may exceed the list. */
    uint32_t stop_count, stops[MYR_WHY_STOPS_MAX];
    uint64_t stop_gpus;
};

/*
 * Changes nothing, not even the clock; the queue is not const because it uses its own scratch
 * space. A job that is not there waits for nothing.
 */
void myr_queue_why(struct myr_queue *queue, int64_t now_s, uint32_t id, struct myr_why *ret);
/* The same without the changes that would start it, which take longest: for lists. */
void myr_queue_lacks(struct myr_queue *queue, int64_t now_s, uint32_t id, struct myr_why *ret);
const char *myr_why_name(enum myr_why_kind kind);
/* What lacks, as half a sentence. */
const char *myr_why_words(enum myr_why_kind kind);

/* Label by label, for whoever lays them out. */
struct myr_why_sink {
    void (*put)(void *context, const char *label, const char *text);
    void *context;
    struct myr_node_names names;
};
void myr_why_facts(const struct myr_why *why, const struct myr_why_sink *sink);
/* The same in a few lines. */
void myr_why_text(const struct myr_why *why, uint32_t id, struct myr_buf *buf);
