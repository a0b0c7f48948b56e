/*
 * event: what the control core is told, and what it wants done, as plain values.
 *
 * Events are edges, not samples: a node fell silent, a job made steps, a rank ended. Everything a
 * node says carries its boot and, where it is about a job, the incarnation epoch, so that what is
 * old can be told from what is new. Effects can be carried out twice without harm: an agent starts
 * an incarnation once, and answers again when it is asked again.
 *
 * What an agent must keep, since GPUs are given away on its word: it says STOPPED of an epoch when
 * no rank of the job up to that epoch is left on the node, however the word came about. An agent
 * that refuses a late START (its STOP came first) therefore stays silent while ranks of an older
 * epoch are still ending, and says so when the last of them is gone, or when it is asked again.
 *
 * Effects above MYR_EFFECT_ACCEPT go to nodes, racks and people. The others tell decisions, for the
 * journal and for whoever watches.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/control/job.h"

enum myr_event_kind {
    MYR_EVENT_TICK,     /* nothing but time; the core asked to be woken */
    MYR_EVENT_TAKEOVER, /* a controller begins on this state */
    /* about a node */
    MYR_EVENT_JOIN,    /* it was started, with a boot number that grows */
    MYR_EVENT_SILENT,  /* it was not heard for long enough */
    MYR_EVENT_BACK,    /* and is heard again, in the same boot */
    MYR_EVENT_STARTED, /* code: enum myr_start */
    MYR_EVENT_STOPPED, /* nothing of the job up to this epoch runs on it, nor ever will */
    MYR_EVENT_EXIT,    /* the ranks of a job on it have ended; code 0: all is done */
    MYR_EVENT_STEP,    /* a job has made steps: value its step, saved what a checkpoint holds */
    MYR_EVENT_SYMPTOM, /* code: enum myr_symptom */
    MYR_EVENT_TESTED,  /* code 0: sound */
    MYR_EVENT_FENCED,  /* code 0: its power was off, and every rank is gone */
    /* of people */
    MYR_EVENT_SUBMIT,
    MYR_EVENT_CANCEL,
    MYR_EVENT_DRAIN,   /* no more jobs on this node */
    MYR_EVENT_UNDRAIN, /* it may be used again */
    MYR_EVENT_MAINTAIN,
    MYR_EVENT_APPROVE, /* so many nodes (value) may be drained for faults beside the limit */
    MYR_EVENT_WEIGHT,  /* of a tenant (count) in the fair share: value */
    /* of a scheduler below this one, whose nodes they are */
    MYR_EVENT_HOLD, /* code: enum myr_hold */
    /* of people again, behind the others because journals number them */
    MYR_EVENT_HOLD_JOB, /* code 1: it does not start until it is released, code 0 */
    MYR_EVENT_PRIORITY, /* of a job: value */
    MYR_EVENT_KINDS
};

/* Why a node did not start its ranks (code of MYR_EVENT_STARTED). */
enum myr_start {
    MYR_START_OK,
    MYR_START_NODE,      /* it could not, and is to be looked at */
    MYR_START_OWN_FAULT, /* the job's command, image, user or prolog is wrong: a failure of its own
                          */
};

/* What a node is good for that another scheduler has, drains, reserves or gives to others. */
enum myr_hold {
    MYR_HOLD_NONE, /* it is ours to use */
    MYR_HOLD_NEW,  /* nothing new; what is there runs on */
    MYR_HOLD_ALL,  /* what is to start there gets another place, and that is no failure */
    MYR_HOLDS
};

enum myr_symptom {
    MYR_SYMPTOM_NOTE,    /* worth a line, nothing more */
    MYR_SYMPTOM_DOUBT,   /* test the node when it is empty */
    MYR_SYMPTOM_FAILING, /* it will fail: empty it, saving first */
    MYR_SYMPTOM_FAILED,  /* it has failed: its jobs are stopped */
    MYR_SYMPTOMS
};

struct myr_event {
    uint8_t kind, code;
    uint16_t unused; /* 0 */
    uint32_t node, job, epoch, boot;
    uint32_t count;              /* maintain: nodes from 'node' on */
    int64_t value, saved, end_s; /* step; saved step; maintain: value start, saved drain, end */
    struct myr_job_spec spec;    /* submit */
};

enum myr_effect_kind {
    MYR_EFFECT_START,  /* to an agent: ranks of an incarnation, on these GPUs */
    MYR_EFFECT_STOP,   /* to an agent: nothing of the job up to this epoch may run */
    MYR_EFFECT_TEST,   /* to an agent: is the node sound? */
    MYR_EFFECT_FENCE,  /* to the rack: power off and on */
    MYR_EFFECT_REPAIR, /* to people or robots: the node is empty, take it */
    MYR_EFFECT_NOTIFY, /* to people: reason says what */
    MYR_EFFECT_ACCEPT, /* the job submitted under this token has this id; state 0: refused */
    MYR_EFFECT_GRANT,  /* these GPUs belong to the job now */
    MYR_EFFECT_RELEASE,
    MYR_EFFECT_JOB,  /* the job is in this state now */
    MYR_EFFECT_NODE, /* the node is */
    MYR_EFFECT_KINDS
};

enum myr_notice { MYR_NOTICE_DRAIN_LIMIT, MYR_NOTICE_WINDOW /* refused */ };

struct myr_effect {
    uint8_t kind, state;
    uint16_t reason;
    uint32_t node, job, epoch, boot;
    uint32_t first_rank, world; /* start: GPUs before this node's, and of all */
    uint32_t grace_s;           /* stop: time to save; start: the lease */
    uint64_t gpus;              /* a bit each; accept: the token */
};

enum myr_node_state {
    MYR_NODE_UNKNOWN,  /* never heard, and nobody wants it empty */
    MYR_NODE_JOINING,  /* heard, not yet tested */
    MYR_NODE_CHECKING, /* under test */
    MYR_NODE_HEALTHY,
    MYR_NODE_SUSPECT,  /* silent, blamed, or bad beyond the drain limit; gets no job */
    MYR_NODE_DRAINING, /* gets no job, has some */
    MYR_NODE_DRAINED,  /* has none; perhaps it was never heard */
    MYR_NODE_REPAIR,   /* given to people until it joins again */
    MYR_NODE_STATES
};

enum myr_control_job_state {
    MYR_CONTROL_QUEUED,
    MYR_CONTROL_PLACING,  /* has its GPUs, waits for what ran there */
    MYR_CONTROL_STARTING, /* agents were asked */
    MYR_CONTROL_RUNNING,
    MYR_CONTROL_SAVING,     /* makes room, saving first */
    MYR_CONTROL_RECOVERING, /* something failed: old ranks end, suspects are tested */
    MYR_CONTROL_FINISHING,  /* some ranks are done */
    MYR_CONTROL_DONE,
    MYR_CONTROL_FAILED,
    MYR_CONTROL_CANCELLED,
    MYR_CONTROL_JOB_STATES
};

const char *myr_node_state_name(enum myr_node_state state);
const char *myr_control_job_state_name(enum myr_control_job_state state);
const char *myr_event_kind_name(enum myr_event_kind kind);
const char *myr_effect_kind_name(enum myr_effect_kind kind);
