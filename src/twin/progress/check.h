/*
 * check: what must hold, watched from outside.
 *
 * Sees three things go by: effects as the controller decides them, the world's truth (ranks that
 * really begin and end, checkpoints that are really committed), and what people asked for. Keeps
 * books of its own and shares no code with control or sched. Everything is checked as it happens;
 * the first violation is kept in words, all are counted.
 *
 *   given-twice     a GPU is granted to a job while another has it
 *   ungranted       ranks are started on GPUs that the job does not have
 *   leak            the queue keeps GPUs that no job has, or the other way round
 *   lost-job        a job was accepted, and a controller after it does not know it
 *   gang            a job is called running while not all of its ranks are up in this epoch
 *   late-start      ... after its start was taken back
 *   drained         a start on a node that people, or the controller, want empty; or a node that
 *                   is called drained while ranks run on it
 *   two-lives       ranks of two epochs of a strict job live at the same time
 *   stale-commit    a checkpoint of an older epoch is taken after one of a newer
 *   done-early      a job is called done whose work is not
 *   stuck           a job is neither running nor over, nobody is silent, and nothing moves
 *   journal         snapshot and journal do not give the live state back
 */
#pragma once

#include "myriad/control.h"

enum rule {
    RULE_GIVEN_TWICE,
    RULE_UNGRANTED,
    RULE_LEAK,
    RULE_LOST_JOB,
    RULE_GANG,
    RULE_LATE_START,
    RULE_DRAINED,
    RULE_TWO_LIVES,
    RULE_STALE_COMMIT,
    RULE_DONE_EARLY,
    RULE_STUCK,
    RULE_JOURNAL,
    /* What must go on: progress.h. */
    RULE_IDLE,
    RULE_DISPLACED,
    RULE_OVERTAKEN,
    RULE_PRIORITY,
    RULE_DRAIN_LIMIT,
    RULE_RETRY,
    RULE_WINDOW,
    RULE_UNMENDED,
    RULE_ENDLESS,
    RULE_HELD,
    RULE_RANKS,
    RULE_WISH,
    RULE_SCATTERED,
    RULE_COPY,
    RULE_ANSWER,
    RULE_COUNT
};

extern const char *const rule_names[RULE_COUNT];

struct check;

struct check *check_create(uint32_t nodes, uint32_t gpus_per_node);
void check_free(struct check *check);
void check_time(struct check *check, int64_t now_ms);

/* Decisions. */
void check_effect(struct check *check, const struct myr_effect *effect);
/* After all effects of one event: the queue's free GPUs on a node that they touched. */
uint32_t check_touched(const struct check *check, const uint32_t **ret_nodes);
/* GPUs of the node that belong to some job. */
uint64_t check_owned(const struct check *check, uint32_t node);
uint64_t check_owned_by(const struct check *check, uint32_t node, uint32_t job);
/* Ranks that really exist on it. */
uint32_t check_node_live(const struct check *check, uint32_t node);
void check_node_free(struct check *check, uint32_t node, uint64_t free_gpus);
void check_event_done(struct check *check);

/* People. */
void check_drain(struct check *check, uint32_t node, bool drain);

/* The world's truth. */
void check_job(struct check *check, uint32_t job, uint32_t gpus, bool strict);
/* An elastic job may have fewer in one epoch: without a word on it they are all. */
void check_world(struct check *check, uint32_t job, uint32_t epoch, uint32_t gpus);
void check_rank_begins(struct check *check, uint32_t node, uint32_t job, uint32_t epoch,
                       uint64_t gpus);
void check_rank_up(struct check *check, uint32_t job, uint32_t epoch, uint64_t gpus);
void check_rank_ends(struct check *check, uint32_t node, uint32_t job, uint32_t epoch,
                     uint64_t gpus);
void check_commit(struct check *check, uint32_t job, uint32_t epoch);
void check_work_done(struct check *check, uint32_t job);

/* Jobs that are between two states for longer than anything takes. */
void check_stuck(struct check *check, int64_t longest_ms);

/* Found by others. */
MYR_PRINTF(3, 4)
void check_violated(struct check *check, enum rule rule, const char *fmt, ...);

struct check_report {
    uint64_t violations; /* all of them */
    uint64_t by_rule[RULE_COUNT];
    int64_t first_ms; /* -1: none */
    enum rule first_rule;
    char first[200]; /* in words */
};

const struct check_report *check_report(const struct check *check);
