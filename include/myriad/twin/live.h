/*
 * live: the twin's nodes, agents, ranks and faults under a controller of the caller's own.
 *
 * A run of the twin brings its controller along. Here the caller has one: it tells the live world
 * what its core wants done, effect by effect, and is told what happens, event by event, as from
 * real agents. There is no clock inside: the world stands still until it is advanced to a time,
 * which is the time that the caller gives to its core. Who wants a world that runs faster than the
 * wall lets both run by a clock that does.
 *
 *   myr_live_create, then for each job: myr_live_submit, and the core's SUBMIT; then, for ever:
 *     wait until myr_live_next_ms or myr_control_wake_ms, whichever is sooner
 *     myr_live_advance; on each event: step the core, myr_live_effect for each of its effects
 *
 * While it is advanced, 'event' may call myr_live_effect and look at things, and nothing else.
 *
 * All nodes boot within the first second. Jobs, drains, windows, and crashes and clocks of the
 * controller that the scenario speaks of do not happen: those are the caller's, and people's.
 * Faults, partitions, lost messages and the times of everything are as in a run, drawn from the
 * seed.
 *
 * A world dies with its process and the core's state does not: a new world adopts the state. What
 * was running goes on where its last report said; whatever was silent or in repair boots anew.
 */
#pragma once

#include "myriad/twin/scenario.h"

struct myr_live;

/* The scenario is copied, but for its recovery data, which must outlive the world. */
MYR_MUST_USE int myr_live_create(const struct myr_scenario *scenario, uint64_t seed, int64_t now_ms,
                                 struct myr_live **ret, struct myr_err *err);
void myr_live_free(struct myr_live *live);
/* For MYR_CLEANUP. */
void myr_live_cleanup(struct myr_live **live);

/* What a job does when it runs; what the core does not know of it. */
struct myr_live_run {
    int64_t work_ms;     /* of useful time in all */
    int64_t step_ms;     /* one iteration */
    int64_t interval_ms; /* between checkpoints; 0: it saves none */
    int64_t stall_ms;    /* of one checkpoint */
};

struct myr_live_run myr_live_run_default(void);

/*
 * Before the core is told of the job. The same token again is the same job. A job that was never
 * submitted here, and is started, does what the default says.
 */
MYR_MUST_USE int myr_live_submit(struct myr_live *live, const struct myr_job_spec *spec,
                                 const struct myr_live_run *run, struct myr_err *err);
/* Every effect of the core, in order; what is no concern of the world's is only watched. */
void myr_live_effect(struct myr_live *live, const struct myr_effect *effect);
/*
 * Time alone, up to what happens next and no further: for a caller that decides between two
 * advances. What it wants done is else begun when the world was last advanced.
 */
void myr_live_pass(struct myr_live *live, int64_t now_ms);
/* When something is to happen next; INT64_MAX: never. */
int64_t myr_live_next_ms(const struct myr_live *live);
/*
 * Everything up to that time happens. 'event' is called with each event and its own time. A time
 * before the last one is taken for that one.
 */
void myr_live_advance(struct myr_live *live, int64_t now_ms,
                      void (*event)(void *context, int64_t at_ms, const struct myr_event *event),
                      void *context);

/*
 * Takes over the running incarnations of a state that was loaded, before its TAKEOVER; jobs are to
 * be submitted here before.
 */
MYR_MUST_USE int myr_live_adopt(struct myr_live *live, const struct myr_control *control,
                                struct myr_err *err);

/* Faults by name, "node-dies" and others; an unknown one is told with those that are known. */
MYR_MUST_USE int myr_live_inject(struct myr_live *live, uint32_t node, const char *fault,
                                 struct myr_err *err);
/* The name of a fault and what it does, by number; NULL: there are no more. */
const char *myr_live_fault(uint32_t number, const char **ret_does);

/* What is true of a node, whatever the core takes it for. */
struct myr_live_node {
    bool up;        /* powered, its agent lives */
    bool cut;       /* but cannot be reached */
    bool broken;    /* a test would say so */
    bool repairing; /* people have it */
    uint32_t boot, ranks;
};
struct myr_live_node myr_live_node(const struct myr_live *live, uint32_t id);

/*
 * What the first rank of the job of this id (the core's) has printed from byte 'from' on; gives the
 * byte to go on from. Only the last 64 KiB or more are kept.
 */
uint64_t myr_live_log(const struct myr_live *live, uint32_t id, uint64_t from, struct myr_buf *ret);

/* Invariants of the twin that were broken, and the first of them in words. */
uint64_t myr_live_violations(const struct myr_live *live, const char **ret_first);
