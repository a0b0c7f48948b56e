/*
 * state: what a launcher knows, for the files that make it up.
 */
#pragma once

#include "shim/peers.h"
#include "shim/shim.h"

#define MS 1000000LL
#define S  (1000 * MS)

enum phase {
    PHASE_PROLOG,
    PHASE_RANKS,
    PHASE_TERM, /* they were asked to end */
    PHASE_KILL, /* until none is left */
    PHASE_EPILOG,
    PHASE_DONE,
};

struct process {
    pid_t pid; /* 0: reaped or never started */
    int pipe;  /* what it writes, or -1 */
    struct output output;
};

struct shim {
    const char *folder;
    struct order order;
    struct myr_jobfile job;
    struct person person;
    struct myr_arena arena;
    struct myr_buf order_text; /* what 'order' points into */
    struct cgroup cgroup;
    struct myr_step_pattern pattern;
    struct peers peers;
    enum phase phase;
    struct process ranks[AGENT_RANKS_MAX];
    struct process script; /* prolog or epilog */
    uint32_t count, alive; /* ranks of this node; processes not yet reaped, the script too */
    bool stop_seen, said_stuck, log_steps;
    struct told told; /* who was asked to end */
    /* End of this phase; when SIGKILL began; of the launcher; the next look for who is left. */
    int64_t deadline_ns, killed_ns, began_ns, sweep_ns;
    struct ending ending;
    char line[256]; /* what ending.line points to */
    bool ended;     /* the ending is known */
    struct progress progress;
    int64_t written_ns;        /* the progress file */
    bool unwritten;            /* there is a newer step than the file has */
    int signals, socket, bell; /* signalfd; of datagrams; to the agent */
};

/* --- what others are told (tell.c) */

void shim_put_file(struct shim *s, const char *name, const struct myr_buf *text);
/* The first reason counts. */
void shim_set_ending(struct shim *s, enum ending_kind kind, const struct ending *how,
                     const char *line);
void shim_write_progress(struct shim *s, int64_t now);
void shim_say_stuck(struct shim *s, uint32_t count, uint32_t stuck);

/* --- starting (ranks.c) */

MYR_MUST_USE int shim_make_socket(struct shim *s, struct myr_err *err);
MYR_MUST_USE int shim_start_script(struct shim *s, const char *text, struct myr_err *err);
MYR_MUST_USE int shim_start_ranks(struct shim *s, struct myr_err *err);
