/*
 * runs: the incarnations of jobs on this node, as their folders tell of them.
 *
 *     STATE/run/JOB.EPOCH/   order, shim, launched, ranks, started, progress, stuck, stop, exit,
 *                            acked, lock, log.RANK.PIECE
 *
 * A launcher lives as long as somebody holds the lock. All that is kept here in memory can be made
 * again from the folders, and is, when the agent starts.
 */
#pragma once

#include "disk/order.h"
#include "disk/progress.h"
#include "reports.h"
#include "stops.h"

enum run_state {
    RUN_WAITING,  /* for an older one on the same GPUs to be gone */
    RUN_STARTING, /* there is a launcher */
    RUN_UP,
    RUN_ENDED, /* and the controller is told until it has committed that */
    RUN_ACKED, /* only its output is kept, for a while */
};

struct runs;

struct run {
    struct runs *runs;
    uint64_t job, gpus;
    uint32_t epoch, first_rank, ranks, lease_s; /* 'ranks': on this node */
    enum run_state state;
    /* Asked to stop; told of processes that do not die; its launcher was killed by us. */
    bool stopping, said_stuck, shot;
    uint32_t asked;      /* the epoch of the stop, its own or that of one that ended before */
    int64_t patience_ns; /* a launcher that has not stopped by then is killed */
    int64_t retry_ns;    /* no launcher is started before */
    uint32_t respawns;   /* launchers so far; seconds between the next two */
    char folder[AGENT_PATH_MAX];
    pid_t shim;           /* 0: not known to live */
    uint64_t shim_began;  /* with 'shim' it names one process for ever */
    uv_poll_t *watch;     /* of its pidfd */
    struct progress told; /* the last step that was sent */
};

struct runs {
    uv_loop_t *loop;
    const char *state, *sockets; /* folders, borrowed */
    struct stops *stops;
    struct reports *reports;
    MYR_VEC(struct run *) items;
    char boot[40]; /* of the host, which orders on the disk must have */
    uint32_t gpus; /* of this node; 0: not known yet */
};

static inline bool run_is_alive(const struct run *run)
{
    return run->state < RUN_ENDED;
}

/* Finds what runs and what has ended. */
MYR_MUST_USE int runs_open(struct runs *runs, struct myr_err *err);
void runs_done(struct runs *runs);
/* Looks at the files of all that may have changed. */
void runs_look(struct runs *runs);
void runs_start(struct runs *runs, uint32_t epoch, const struct myr_wire_start *start);
void runs_stop(struct runs *runs, uint32_t epoch, const struct myr_wire_stop *stop);
/* On a new connection: STARTED of all that are up, and their last steps. */
void runs_say_again(struct runs *runs);
void runs_acked(struct runs *runs, const struct report *report);
void runs_tell_steps(struct runs *runs);
/* The newest of that job, or of that epoch. NULL: none. */
const struct run *runs_find(const struct runs *runs, uint64_t job, uint32_t epoch);
