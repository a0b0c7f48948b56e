/*
 * progress: what must go on, watched from outside, beside what must never happen (check.h).
 *
 * Sees the same effects, the events that people send, and a look each minute at what is free and
 * who waits. Keeps books of its own and shares no code with control or sched. Time in which no
 * controller is there counts for nobody.
 *
 *   idle         a job waits although it fits the healthy nodes that nobody has
 *   displaced    nodes of a job that mends are given to another, within the time they are kept for
 *   overtaken    jobs that came later were given far more than a waiting one's own turn explains
 *   priority     a job starts while one that counts more, and is no larger, has long been waiting
 *   drain-limit  more nodes are given to repair than may be without a person
 *   retry        a job that failed by its own fault starts again without a pause
 *   window       a start on a node that is being emptied for maintenance, or ranks that are still
 *                there when it has begun
 *   unmended     trouble is over, and a sound node is still not used
 *   endless      ... and everybody is content with little, and not all jobs end
 *
 * What is excused, and until when, is in the constants of progress.c and in docs/twin.md.
 */
#pragma once

#include "myriad/twin/scenario.h"
#include "progress/check.h"

struct progress;

struct progress *progress_create(struct check *check, const struct myr_scenario *scenario);
void progress_free(struct progress *progress);

/* A job that was accepted; 'after': the one it waits for, or MYR_NONE. */
void progress_job(struct progress *progress, uint32_t id, const struct myr_job_spec *spec);

/* An event and all that was decided on it, between begin and end. */
void progress_begin(struct progress *progress, const struct myr_event *event, int64_t now_ms);
void progress_effect(struct progress *progress, const struct myr_effect *effect);
/* Before the effects on it: a job that is given its turn is told to have borrowed its nodes. */
void progress_lent(struct progress *progress, uint32_t id, bool lent);
void progress_end(struct progress *progress);

/* Each minute; 'up': a controller is there. */
void progress_look(struct progress *progress, int64_t now_ms, bool up);

/* Its clock goes forward: as far as it expected to sleep anyway it takes that for time. */
void progress_clock(struct progress *progress, int64_t step_ms);

/* Trouble is over from now on, or begins again. 'sound': asked of each node at a look. */
void progress_calm(struct progress *progress, bool calm);
void progress_node(struct progress *progress, uint32_t node, bool sound);
/* Nobody submits any more and everybody is content with little: the time that all may take. */
void progress_last(struct progress *progress, uint64_t gpu_ms);

/* GPU time on healthy nodes that nobody had while a job that fits there waited. */
uint64_t progress_idle_gpu_ms(const struct progress *progress);
