/*
 * state: what runs where, read from a table, for questions about a cluster.
 *
 * CSV with a header; columns in any order, others refused: one that is misspelt would say nothing,
 * and all of its nodes would look free.
 *
 *   node       number, or a name that ends in it (node/00042); the one column that must be there
 *   job        who holds GPUs of it; rows with the same job are one gang
 *   gpus       how many (default: all of the node); more than 0 only of a job
 *   state      up, down, held (default: up)
 *   penalty    what speaks against the node, as a part of what a node sends (request.h)
 *   link_load, flaps_per_day, power_headroom   more of that (struct myr_condition)
 *   restart_s  what moving the job costs (default 600)
 *   pinned     yes: the job must not be moved; or no
 *   kind       name of its GPUs, where a cluster has several (default: no name)
 *   rack, row  names of where it stands; nodes without one stand alone
 */
#pragma once

#include "myriad/sched/defrag.h"

#define MYR_STATE_ROWS_MAX 4000000U

#define MYR_STATE_KINDS_MAX 255 /* that have a name */

struct myr_sched_state {
    MYR_VEC(struct myr_running) jobs;
    MYR_VEC(struct myr_str) kinds; /* kind 0 of the placer has no name, kind k has kinds[k - 1] */
    bool has_zone[MYR_ZONE_COUNT]; /* the table says where nodes stand */
    struct myr_arena arena;
};

MYR_MUST_USE int myr_sched_state_parse(struct myr_sched_state *state, struct myr_placer *placer,
                                       const char *file, struct myr_str text, struct myr_err *err);
MYR_MUST_USE int myr_sched_state_read(struct myr_sched_state *state, struct myr_placer *placer,
                                      const char *path, struct myr_err *err);
void myr_sched_state_done(struct myr_sched_state *state);
