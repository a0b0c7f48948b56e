/*
 * state: what the core knows, in flat arrays. Each file calls only those above it in this list:
 *
 *   effects   what is told, and the names
 *   timers    deadlines
 *   ranks     slots and lists of ranks
 *   orders    what agents are told of an incarnation
 *   tries     how often a job is started again, and when
 *   placing   the queue: everything that the core asks of it or tells it
 *   submit    a job that is asked for
 *   again     a controller or a node that is there again
 *   planted   faults that are put in on purpose
 *   jobs      a job from its first start to its end
 *   answers   what agents say of its ranks
 *   forget    jobs that are long over
 *   people    what is asked of a job that is there
 *   nodes     a node from its first word to its repair, and what that means for its jobs
 *   blame     nodes of a job that are looked at, since it is late or hangs
 *   holds     what is true between events
 *   core      one event
 *   sound     whether a state that was read can be
 *   save      the state as bytes
 *   fork      the state copied, or made larger
 *   whatif    questions to a copy
 *
 * Indices in place of pointers, no padding: the arrays are the snapshot as they lie here. Nodes and
 * jobs count up and are never used again; ranks are slots.
 */
#pragma once

#include "myriad/control/core.h"

enum rank_state {
    RANK_FREE,     /* a slot that nobody uses */
    RANK_GRANTED,  /* its GPUs belong to the job; nothing was sent */
    RANK_STARTING, /* start was sent */
    RANK_UP,       /* its agent says so */
    RANK_STOPPING, /* stop was sent, or will be when the node is heard */
    RANK_CLOSED,   /* known to be gone; the GPUs are still the job's */
};

/* The part of an incarnation that lies on one node. */
struct rank {
    uint32_t job, node, epoch;
    uint32_t run; /* the queue's count of starts: in-place restarts are the core's own */
    uint32_t next_in_job, next_on_node; /* or MYR_NONE */
    uint8_t state;                      /* enum rank_state */
    uint8_t released;                   /* gone, and its GPUs are no longer the job's */
    uint8_t old;                        /* of an incarnation that the job has left behind */
    uint8_t suspect;                    /* the job waits for a test of its node */
    uint32_t first;                     /* GPUs of the job before it */
    uint64_t gpus;
};

/* HELD and AWAY: by a scheduler below; the second also for what already has GPUs there. */
enum drain_why { DRAIN_PERSON = 1, DRAIN_FAULT = 2, DRAIN_HELD = 4, DRAIN_AWAY = 8 };

struct node {
    uint8_t state;   /* enum myr_node_state: follows from the others */
    uint8_t silent;  /* not heard now */
    uint8_t lost;    /* for so long that it counts as gone */
    uint8_t checked; /* a test was good since it joined */
    uint8_t testing; /* a result is awaited */
    uint8_t fencing; /* a result is awaited, or the next attempt */
    uint8_t drain;   /* bits of enum drain_why */
    uint8_t bad;     /* failed, but the limit of drains leaves it to a person */
    uint8_t repair;  /* given away */
    uint8_t doubted; /* to be tested when it is empty */
    uint8_t gone;    /* as the queue was told */
    uint8_t shut;    /* the same: nothing new */
    uint32_t boot;   /* as the node says: a higher one is another life; 0: never heard */
    uint32_t first_rank, rank_count; /* all on it; those not known to be gone */
    uint32_t blamed;                 /* failures since it was repaired, though tests were good */
    uint32_t blamed_by, unused;      /* the job of the last of them, counted from 1 */
    uint32_t tests;                  /* so many were sent: an old result is told from a new one */
    int64_t since_ms;                /* when it fell silent, or its test began */
    int64_t deadline_ms;             /* of silence, test or fence; -1: none */
};

/* What becomes of a job when its ranks are gone. */
enum after {
    AFTER_NONE,    /* it goes on */
    AFTER_RESTART, /* it goes on, in place unless the queue has taken its place away */
    AFTER_DONE,
    AFTER_FAILED,
    AFTER_CANCELLED,
};

struct job {
    struct myr_job_spec spec;        /* as it was submitted */
    uint8_t state;                   /* enum myr_control_job_state */
    uint8_t after;                   /* enum after */
    uint8_t taken;                   /* the queue has decided to stop this run */
    uint8_t ending;                  /* the queue was told that it is over */
    uint32_t epoch;                  /* of the incarnation: every start counts one up */
    uint32_t run;                    /* the queue's */
    uint32_t first_rank, last_rank;  /* of this incarnation, in rank order */
    uint32_t first_old;              /* ranks of those before */
    uint32_t ranks, up, open, exits; /* of this incarnation: all, started, not gone, done */
    uint32_t old_open;               /* ranks of those that may still run */
    uint32_t suspects;               /* ranks on nodes under test */
    uint32_t failures;               /* that count against its retries */
    uint32_t unrun;    /* a run of the queue's that never came to be and is not yet told of; 0 */
    uint32_t whole;    /* all ranks of this incarnation have been up */
    uint8_t confirmed; /* the queue was told that this run of it is up */
    uint8_t tries;     /* incarnations in a row that came to nothing: the next one waits for it */
    uint8_t steps;     /* this incarnation has made some */
    uint8_t unused;    /* 0 */
    int64_t step, saved_step;         /* as ranks tell: done, and in the last checkpoint */
    int64_t submitted_ms, started_ms; /* -1: not yet */
    int64_t progress_ms;              /* of the last step, or start */
    int64_t stopped_ms;               /* since when no progress is possible; -1: it may be */
    int64_t deadline_ms;              /* start window, hang or retry; -1: none */
    int64_t grace_ms;                 /* who is told to stop may save until then */
    uint32_t id, unused_id;           /* 0 */
};

/* A deadline; one that is no longer meant is passed over when it comes up. */
enum timer_kind { TIMER_NODE, TIMER_JOB };

struct timer {
    int64_t at_ms;
    uint32_t id, kind;
};

struct control_head {
    int64_t wall_ms, steady_ms; /* of the last event */
    int64_t reconnect_ms;       /* steady: no node is called lost before */
    uint64_t events;            /* taken so far, late ones too */
    uint32_t rank_free;         /* first unused slot */
    uint32_t silent_nodes;      /* not heard now */
    uint32_t drained, approved; /* nodes out for faults; drains allowed beside the limit */
    uint32_t noticed;           /* the limit was told of */
    uint32_t planted;           /* enum myr_planted: a fault for the twin to find */
    uint32_t job_count, unused; /* ids given; 0 */
};

struct myr_control {
    struct myr_place_shape shape;
    struct myr_control_policy policy;
    uint32_t tenants;
    struct control_head head;
    struct node *nodes;       /* by node */
    MYR_VEC(struct job) jobs; /* in the order of their ids; those long over are forgotten */
    MYR_VEC(struct rank) ranks;
    MYR_VEC(struct timer) timers; /* a binary heap */
    struct myr_u64map tokens;     /* to jobs; rebuilt from them */
    struct myr_queue *queue;
    /* No state: empty between events. */
    MYR_VEC(struct myr_effect) effects;
    MYR_VEC(uint32_t) left;                 /* nodes that a rank was freed on */
    MYR_VEC(uint32_t) lost;                 /* nodes to be told to the queue, together */
    MYR_VEC(struct myr_decision) decisions; /* being carried out */
    uint32_t bad_nodes;                     /* with 'bad' set; counted again from a snapshot */
    uint32_t refusals;                      /* what the queue did not understand, ever */
    bool dirty;                             /* the queue has something to decide */
};

/*
 * NULL: no such job, or one that is forgotten. Ids count up, so its place lies between what it
 * would be if only jobs before it were forgotten, and only jobs behind it: mostly that is one
 * place.
 */
static inline struct job *job_find(const struct myr_control *c, uint32_t id)
{
    size_t count = c->jobs.count;
    struct job *items = c->jobs.items;
    if (count == 0 || id < items[0].id || id > items[count - 1].id) {
        return NULL;
    }
    size_t behind = items[count - 1].id - id;
    size_t low = behind < count ? count - 1 - behind : 0;
    size_t high = id - items[0].id < count ? id - items[0].id : count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return items[low].id == id ? &items[low] : NULL;
}

static inline struct job *job_of(const struct myr_control *c, uint32_t id)
{
    struct job *job = job_find(c, id);
    MYR_ASSERT(job);
    return job;
}

static inline struct node *node_of(const struct myr_control *c, uint32_t id)
{
    MYR_ASSERT(id < c->shape.nodes);
    return &c->nodes[id];
}

/* Every step along a list of ranks goes through here: none leads out of the array. */
static inline struct rank *slot_of(const struct myr_control *c, uint32_t id)
{
    MYR_ASSERT(id < c->ranks.count);
    return &c->ranks.items[id];
}

static inline bool rank_is_open(const struct rank *rank)
{
    return rank->state >= RANK_STARTING && rank->state <= RANK_STOPPING;
}

static inline bool job_is_over(const struct job *job)
{
    return job->state >= MYR_CONTROL_DONE;
}

/* An elastic job may have fewer GPUs than it asks for; ranks are numbered through its nodes. */
static inline uint32_t job_gpus(const struct myr_control *c, const struct job *job)
{
    if (job->last_rank == MYR_NONE) {
        return job->spec.gpus;
    }
    const struct rank *last = slot_of(c, job->last_rank);
    return last->first + (uint32_t)__builtin_popcountll(last->gpus);
}

/* effects.c */
void emit(struct myr_control *c, const struct myr_effect *effect);
void emit_job(struct myr_control *c, uint32_t id, enum myr_control_job_state state);
void emit_node(struct myr_control *c, uint32_t id, enum myr_node_state state);

/* timers.c: one deadline for each job and node; -1: none. */
void timer_set(struct myr_control *c, enum timer_kind kind, uint32_t id, int64_t at_ms);
/* In the heap: the earlier one, and of two the one of the lower kind and number. */
bool timer_before(const struct timer *a, const struct timer *b);
bool timer_due(struct myr_control *c, struct timer *ret);
int64_t timer_next_ms(struct myr_control *c);

/* ranks.c */
uint32_t rank_add(struct myr_control *c, const struct rank *rank);
/* The slot and its GPUs are let go. */
void rank_free(struct myr_control *c, uint32_t id);
/* Its GPUs are let go; the slot stays. */
void rank_release(struct myr_control *c, uint32_t id);
/* It is known to be gone. */
void rank_close(struct myr_control *c, uint32_t id);

/* orders.c: to nodes that are heard; the others get them when they are. 'at' is a rank's slot. */
void order_start(struct myr_control *c, uint32_t at);
void order_stop(struct myr_control *c, uint32_t at, uint32_t grace_s);
/*
 * The job's next deadline; -1: it has none. What it left behind is to stop whatever becomes of the
 * job itself, and an order without an answer is given again.
 */
void watch(struct myr_control *c, uint32_t id, int64_t at_ms);
/* All orders of a new incarnation, over ranks that are granted. */
void launch(struct myr_control *c, uint32_t id);
/* Ranks that nobody heard of are left behind; the others go. */
void leave_ranks(struct myr_control *c, uint32_t id);

/* tries.c */
/* When the job may start again; 0: at any time. */
int64_t try_again_ms(const struct job *job);
/* All its ranks are its own and run nowhere: they are started when it is time. */
void try_later(struct myr_control *c, uint32_t id);
/* A failure counts against its retries; an incarnation that came to nothing delays the next. */
void try_failed(struct myr_control *c, struct job *job);
void try_count(struct myr_control *c, struct job *job);

/* placing.c */
/* False: it can never be placed. */
bool placing_submit(struct myr_control *c, const struct myr_job_spec *spec);
/* The clock has stepped: dates are moments of the clock. */
void placing_redate(struct myr_control *c);
void placing_started(struct myr_control *c, uint32_t id);
/* The rank at slot 'id' is gone; its GPUs are the queue's again, unless the job starts in place. */
void placing_gone(struct myr_control *c, uint32_t id);
void placing_done(struct myr_control *c, uint32_t id);
void placing_cancel(struct myr_control *c, uint32_t id);
/* The same of a job that has ended, with ranks that may run on nodes that were lost. */
void placing_end(struct myr_control *c, uint32_t id);
/* It waits for a date that lies ahead. */
bool placing_is_dated(const struct myr_control *c, uint32_t id);
void placing_hold(struct myr_control *c, uint32_t id, bool hold);
void placing_reprioritise(struct myr_control *c, uint32_t id, int32_t priority);
/* Whether nodes of the gang that the queue has for a job may be started on. */
enum place_fit {
    PLACE_FIT,
    PLACE_UNHEARD, /* one is silent, and may be back; or lost, and the queue is about to know */
    PLACE_UNFIT,   /* one is not to be used: drained, under test, doubted */
};
enum place_fit placing_fit(const struct myr_control *c, uint32_t id);
/* This run cannot start there, or go on: the queue finds other nodes for those that are unfit. */
void placing_mend(struct myr_control *c, uint32_t id, uint32_t run);
/* Nothing of that run of a job that is over runs anywhere. */
void placing_over(struct myr_control *c, uint32_t id, uint32_t run);
void placing_node(struct myr_control *c, uint32_t id, bool gone, bool shut);
/* Nodes were added, and the core has said that they are gone. */
void placing_grown(struct myr_control *c);
void placing_maintain(struct myr_control *c, const struct myr_event *event);
void placing_weight(struct myr_control *c, const struct myr_event *event);
/* The next decision, or false: nothing more is to be done now. */
bool placing_next(struct myr_control *c, struct myr_decision *ret);
int64_t placing_wake_ms(const struct myr_control *c);

/* planted.c */
void planted_forget_open(struct myr_control *c, uint32_t id);
bool planted_hides_drain(const struct myr_control *c, uint32_t id);

/* sound.c: every index points into its array, every list ends, counts and flags agree. */
bool state_is_sound(const struct myr_control *c);

/* submit.c */
void job_submit(struct myr_control *c, const struct myr_job_spec *spec);

/* jobs.c */
void job_carry_out(struct myr_control *c, const struct myr_decision *decision);
void job_cancel(struct myr_control *c, uint32_t id);
/* Every rank is ordered to stop; 'after' says what for, and the more final one wins. */
void job_halt(struct myr_control *c, uint32_t id, enum after after, uint32_t grace_s);
/* Not all nodes have started its ranks: the whole gang is taken back, and starts again. */
void job_start_failed(struct myr_control *c, uint32_t id);
/*
 * Something of it broke: all ranks are stopped, and it starts again or is given up. Its 'own': for
 * all that is known, and not its node's; then it starts again the later the less it has worked.
 */
void job_failed(struct myr_control *c, uint32_t id, bool own);
/* The job waits for a test of the node of the rank at this slot before it goes on. */
void job_suspect(struct myr_control *c, uint32_t at);
void job_cleared(struct myr_control *c, uint32_t at);
/* The rank at this slot is gone, whoever says so. */
void job_rank_gone(struct myr_control *c, uint32_t at);
/* What comes after, once all ranks are gone and no test is awaited. */
void job_settle(struct myr_control *c, uint32_t id);
/* A run that never came to be is told of when nothing old is in its way any more. */
void job_unrun(struct myr_control *c, uint32_t id);

/* answers.c */
/* False: the node could not start its ranks, and is to be looked at. */
bool job_started(struct myr_control *c, const struct myr_event *event);
/* Every rank of the job on the node up to the epoch is gone. */
void job_stopped(struct myr_control *c, const struct myr_event *event);
/* False: a rank has failed, and its node is to be looked at. */
bool job_exited(struct myr_control *c, const struct myr_event *event);
void job_step(struct myr_control *c, const struct myr_event *event);

/* forget.c: jobs that have been over for long go, when they are the most; once an event. */
void jobs_forget(struct myr_control *c);

/* people.c: it is to end, to be held or let go, or has another priority. */
void job_ask(struct myr_control *c, const struct myr_event *event);

/* deadlines.c */
/* What its nodes are to be looked at for. */
enum job_due {
    DUE_NOTHING,
    DUE_HUNG, /* all of them are, and it is being stopped */
    DUE_LATE, /* its start window is over: those that did not answer are, and it is to be stopped */
};
enum job_due job_deadline(struct myr_control *c, uint32_t id);

/* again.c */
/* A controller begins: time without one counts for nothing, and orders are given again. */
void job_takeover(struct myr_control *c);
/* What must not run on a node that is heard again is ordered to stop. */
void job_node_back(struct myr_control *c, uint32_t node);

/* blame.c */
/* A job is not up in time: it is taken back, and nodes that have not answered are tested. */
void node_blame_late(struct myr_control *c, uint32_t job);
/* A job hangs: all its nodes are tested. */
void node_blame_all(struct myr_control *c, uint32_t job);

/* nodes.c */
void node_joined(struct myr_control *c, const struct myr_event *event);
void node_silent(struct myr_control *c, uint32_t id);
void node_back(struct myr_control *c, uint32_t id);
void node_test(struct myr_control *c, uint32_t id);
void node_tested(struct myr_control *c, const struct myr_event *event);
void node_fenced(struct myr_control *c, const struct myr_event *event);
void node_symptom(struct myr_control *c, const struct myr_event *event);
void node_drain(struct myr_control *c, uint32_t id, bool drain);
void node_hold(struct myr_control *c, const struct myr_event *event);
void node_approve(struct myr_control *c, int64_t count);
void node_deadline(struct myr_control *c, uint32_t id);
/* A rank of a job ended badly there: test it, or give it up; 'certain': it says so itself. */
void node_blame(struct myr_control *c, uint32_t id, uint32_t job, bool certain);
/* A controller begins: silence is counted anew. */
void node_takeover(struct myr_control *c);
/* Its state follows from what is known; who has what to do there is told. */
void node_settle(struct myr_control *c, uint32_t id);
