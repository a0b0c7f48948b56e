/*
 * core: the control state machine. (state, event, now) gives effects; nothing else goes in or out.
 *
 * No clock, no randomness, no input or output, no floating point. The same state and the same
 * events give the same effects and the same state, byte for byte; that is what the journal, the
 * twin and the search for bugs rest on.
 *
 * Time is what the caller says, in milliseconds. The core keeps a steady time of its own: when the
 * clock jumps further than to the moment at which it asked to be woken, the rest is taken for a
 * step of the clock or a stall of the controller, and no deadline passes because of it; a clock
 * that goes back stands still.
 *
 * What may run twice is decided for each job (enum myr_restart). A strict job is placed again only
 * when every old rank is known to be gone: its agent said so, its node was power-fenced or started
 * anew, or its lease ran out, which it does only while the job makes no progress and its agent
 * hears nothing. An epoch job is placed again at once, under a higher epoch.
 */
#pragma once

#include "myriad/control/event.h"
#include "myriad/sched.h"

/* Goes up with every change that could decide differently. */
#define MYR_CONTROL_VERSION 10

/* A job that fails before it has worked starts again after 1 s, 2 s, 4 s, and so on up to this. */
#define MYR_AGAIN_S_MAX 300

struct myr_control_policy {
    struct myr_queue_policy queue; /* its 'confirm' is always on here */
    uint32_t spares;               /* nodes kept free for replacements */
    int64_t start_window_ms;       /* a gang that is not up by then is taken back whole */
    int64_t retry_ms;              /* orders without an answer are given again */
    int64_t suspect_ms;            /* silence after which a node counts as lost */
    int64_t reconnect_ms;          /* after a takeover, none does before */
    int64_t first_step_ms;         /* a job that is up makes its first step within this */
    int64_t hang_ms;               /* a job without a step for so long hangs */
    int64_t test_ms;               /* a test without a result for so long is a bad one */
    int64_t fence_retry_ms;        /* a fence that failed is tried again */
    int64_t clock_slack_ms;        /* later than asked for by more is a step of the clock */
    uint32_t drain_permille;       /* of the nodes may be drained for faults without a person */
    uint32_t restarts_in_place;    /* failures blamed on a sound node before it is drained */
    uint32_t grace_s;              /* to save, when a job makes room */
};

struct myr_control_policy myr_control_policy_default(void);

struct myr_control;

MYR_MUST_USE int myr_control_create(const struct myr_place_shape *shape,
                                    const struct myr_control_policy *policy, uint32_t tenants,
                                    struct myr_control **ret, struct myr_err *err);
void myr_control_free(struct myr_control *control);

/*
 * Takes one event at a time. What cannot be (a node that is not there, an unknown kind) changes
 * nothing and is MYR_EINVAL or MYR_ERANGE; what is old or said twice is no error and changes
 * nothing. The effects are valid until the next call.
 */
MYR_MUST_USE int myr_control_step(struct myr_control *control, int64_t now_ms,
                                  const struct myr_event *event, struct myr_err *err);
const struct myr_effect *myr_control_effects(const struct myr_control *control,
                                             uint32_t *ret_count);
/* When to come with a tick if nothing happens before; INT64_MAX: never. */
int64_t myr_control_wake_ms(struct myr_control *control);

/* What others may see. */
struct myr_control_node {
    enum myr_node_state state;
    bool silent, usable;
    uint32_t boot, ranks; /* ranks: not known to be gone */
};

struct myr_control_job {
    enum myr_control_job_state state;
    bool forgotten; /* it has been over for long, in whatever way, and nothing more is known */
    struct myr_job_spec spec;
    uint32_t epoch, nodes, failures;
    uint32_t gpus; /* that it has; as many as it asks for while it has none */
    int64_t step, saved_step;
    int64_t submitted_ms, started_ms; /* of the core's own time; started: the last start, or -1 */
    uint32_t nodes_open;              /* where ranks of it may run, old ones too */
    bool guest; /* its nodes are held for another job, which may take them back */
};

/* The part of an incarnation that lies on one node. */
struct myr_control_rank {
    uint32_t job, node, epoch;
    uint32_t first; /* GPUs of the job before it */
    uint64_t gpus;
    bool used;     /* slots: somebody has it */
    bool up;       /* its agent said so, and nobody has stopped it since */
    bool old;      /* of an incarnation that the job has left behind */
    bool released; /* its GPUs are no longer the job's */
};

/* Of a job's present incarnation, in rank order; returns how many there are, and fills in at most
 * 'max'. */
uint32_t myr_control_job_ranks(const struct myr_control *control, uint32_t id,
                               struct myr_control_rank *ret, uint32_t max);
/* On a node, of all jobs that hold GPUs there, older incarnations too. */
uint32_t myr_control_node_ranks(const struct myr_control *control, uint32_t id,
                                struct myr_control_rank *ret, uint32_t max);

/* Events that the queue refused since the state was created or loaded; there should be none. */
uint32_t myr_control_refusals(const struct myr_control *control);
struct myr_place_shape myr_control_shape(const struct myr_control *control);
/* The caller's time of the last event. */
int64_t myr_control_now_ms(const struct myr_control *control);
/* From now on until a node that falls silent counts as lost. */
int64_t myr_control_silence_ms(const struct myr_control *control);
uint32_t myr_control_nodes(const struct myr_control *control);
uint32_t myr_control_jobs(const struct myr_control *control);
struct myr_control_node myr_control_node(const struct myr_control *control, uint32_t id);
struct myr_control_job myr_control_job(const struct myr_control *control, uint32_t id);
/* How long a job has waited by now in all; time on hold is not waiting. */
int64_t myr_control_waited_s(const struct myr_control *control, int64_t now_ms, uint32_t id);
/* The first from 'id' on that is not forgotten, or MYR_NONE. */
uint32_t myr_control_next_job(const struct myr_control *control, uint32_t id);
uint32_t myr_control_ranks(const struct myr_control *control);
struct myr_control_rank myr_control_rank(const struct myr_control *control, uint32_t slot);
/* The job submitted under this token, or MYR_NONE. */
uint32_t myr_control_find(const struct myr_control *control, uint64_t token);
/* On nodes that may be used. */
uint32_t myr_control_free_gpus(const struct myr_control *control);
const struct myr_queue *myr_control_queue(const struct myr_control *control);

/* The whole state, as bytes that any machine reads; equal states give equal bytes. */
void myr_control_save(const struct myr_control *control, struct myr_buf *ret);
MYR_MUST_USE int myr_control_load(struct myr_str bytes, struct myr_control **ret,
                                  struct myr_err *err);
uint64_t myr_control_hash(const struct myr_control *control);
/* The same from a file. */
MYR_MUST_USE int myr_control_read(const char *path, struct myr_control **ret, struct myr_err *err);
/* For MYR_CLEANUP. */
void myr_control_cleanup(struct myr_control **control);

/* A copy that decides the same; the caller frees it. */
struct myr_control *myr_control_fork(const struct myr_control *control);
/* So many nodes in all from now on; the new ones stand behind the others, and are unknown. */
MYR_MUST_USE int myr_control_grow(struct myr_control *control, uint32_t nodes, struct myr_err *err);

/*
 * Faults built in on purpose, to prove that the search finds them; never set outside of tests.
 */
enum myr_planted {
    MYR_PLANTED_NONE,
    MYR_PLANTED_DOUBLE_GRANT,
    MYR_PLANTED_LOST_JOB,
    MYR_PLANTED_LEAK,
    MYR_PLANTED_DOUBLE_RUN,
    MYR_PLANTED_FORGOTTEN_DRAIN,
    MYR_PLANTED_LATE_START,
    MYR_PLANTED_CLAIM_ON_DRAINED, /* a claim from before a drain starts on the drained node */
    MYR_PLANTED_LOST_WEIGHT,      /* the journal skips WEIGHT */
    MYR_PLANTED_BESIDE_ITSELF,    /* an epoch job starts in place beside ranks that may run */
    MYR_PLANTED_COUNT
};

void myr_control_plant(struct myr_control *control, enum myr_planted planted);
