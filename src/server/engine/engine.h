/*
 * engine: somebody else's scheduler as the world of the control core; Slurm is the first.
 *
 * The core decides where a gang runs; an engine has it run there. The core speaks of nodes (start
 * these GPUs, stop that), a scheduler of jobs. This file is the interpreter between the two: it
 * gathers the orders of one turn into whole gangs, makes edges out of what an engine has seen, and
 * answers for nodes that have no agent. An engine is the handful of functions in engine_ops and
 * calls the engine_* functions below; it decides nothing.
 *
 *   effects out                              events in
 *   start   a gang, nodes in rank order      engine_node     what a node is now: edges are found
 *   stop    of a gang, up to an epoch        engine_started  ranks are up, or could not start
 *   node    drain or resume, with a reason   engine_exited   ranks have ended by themselves
 *   fetch   what a rank has written          engine_gone     nothing of it runs there any more
 *                                            engine_away     its controller cannot be asked
 *
 * Orders come again (after a restart, or without an answer): an engine knows what it has started by
 * job and epoch, written into their object, and starts nothing twice. What it finds running that
 * the core does not know (engine_wants) it ends.
 *
 * A node that is held (drained, reserved, cordoned, in others' use) gets nothing new; a gang that
 * is to start on it gets other nodes. A node that is not heard may still run ranks: strict jobs
 * wait until it is heard again, and engine_gone must not be said of it.
 */
#pragma once

#include "server.h"

enum engine_node_is {
    ENGINE_NODE_ABSENT, /* they do not know it; or it is not in our part of the cluster */
    ENGINE_NODE_UP,     /* may be used */
    ENGINE_NODE_HELD,   /* what runs there runs on, nothing new starts: see 'reason' */
    ENGINE_NODE_SILENT, /* not heard for the moment: ranks may run there */
    ENGINE_NODE_DOWN,   /* they have given it up, and ended what ran there */
};

struct engine_node {
    enum engine_node_is is;
    const char *reason; /* for people: "Slurm: drained: fan"; or NULL */
};

/* A gang in rank order; valid during the call. */
struct engine_gang {
    uint32_t job, epoch, world; /* world: GPUs of all */
    const struct job_row *row;  /* its file, user, tenant's number, array_index */
    const struct myr_control_rank *shares;
    uint32_t count;
    uint16_t port; /* of the ranks' rendezvous, on the first node */
};

struct engine_ops {
    const char *name; /* "Slurm" */
    /* The first look at their cluster follows by itself; a controller that is away is no error. */
    int (*begin)(struct server *server, struct myr_err *err);
    void (*start)(struct server *server, const struct engine_gang *gang);
    /* Epochs up to this one. Answered by engine_gone, at once if there is nothing. */
    void (*stop)(struct server *server, uint32_t job, uint32_t epoch, uint32_t grace_s);
    void (*node)(struct server *server, uint32_t node, bool drain, const char *reason);
    bool (*fetch)(struct server *server, const struct question *question, void *whom);
    int (*submit)(struct server *server, const struct myr_job_spec *spec, const struct job_row *row,
                  struct myr_err *err);    /* refuses early; or NULL */
    void (*second)(struct server *server); /* once a second; or NULL */
    void (*end)(struct server *server);    /* closes its handles, and frees what is its own */
};

struct engine; /* server->engine; engine_own() is the engine's own state */

MYR_MUST_USE int engine_begin(struct server *server, const struct engine_ops *ops,
                              struct myr_err *err);
void engine_second(struct server *server);
void engine_end(struct server *server);
void engine_free(struct engine *engine); /* when its handles are closed */
void engine_set_own(struct server *server, void *own);
void *engine_own(const struct server *server);

/* --- what an engine says; all of it can be said again without harm --- */
void engine_node(struct server *server, uint32_t node, const struct engine_node *now);
/* node MYR_NONE: on all nodes of the gang. code: enum myr_start. */
void engine_started(struct server *server, uint32_t job, uint32_t epoch, uint32_t node,
                    enum myr_start code, const char *why);
void engine_exited(struct server *server, uint32_t job, uint32_t epoch, uint32_t node, bool bad,
                   const char *why);
void engine_gone(struct server *server, uint32_t job, uint32_t epoch, uint32_t node);
/* It runs: without a word for weeks it would count as hung. */
void engine_runs(struct server *server, uint32_t job, uint32_t epoch);
/* A person ended it on their side: it is cancelled here too. */
void engine_cancelled(struct server *server, uint32_t job, const char *why);
/* Why it waits there, or was lost, for 'job show'. */
void engine_waits(struct server *server, uint32_t job, const char *why);
/* 'why' NULL: it answers again. Said once each; nothing else is concluded from it. */
void engine_away(struct server *server, const char *why);

/* The gang is asked for again, if it is still wanted: what was asked before has come to nothing. */
void engine_again(struct server *server, uint32_t job);
/* Does the core want this incarnation to run, as far as it has decided? */
bool engine_wants(const struct server *server, uint32_t job, uint32_t epoch);
/* Every node that the job has is there, as far as was told. */
bool engine_whole(const struct server *server, uint32_t job);
