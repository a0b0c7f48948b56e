/*
 * start: when waiting jobs are likely to start.
 *
 * Copies of the queue are played on: what runs ends at a length drawn from those of its size that
 * ended, no later than its limit where it has one; others come as often as they came so far, of the
 * sizes that ended; and the queue decides as it always does. Of so many copies the first and the
 * last start are told: nine times in ten it starts between them. Nodes that are not in use stay so.
 * What nobody can know before is not in it: who will be cancelled, what will fail, a policy that
 * changes.
 */
#pragma once

#include "myriad/sched/queue.h"

/* Moments of the queue's clock; INT64_MAX: later than was looked ahead. */
struct myr_start_time {
    int64_t low_s, likely_s, high_s;
};

/* How much may be done for an answer: decisions in all copies together. */
enum { MYR_STARTS_STEPS = 96000 };

/*
 * Of these jobs; those that do not wait start now. False: too few jobs have ended to tell how long
 * those run that have no limit. Changes nothing; the same state gives the same answer.
 */
bool myr_queue_starts(const struct myr_queue *queue, int64_t now_s, const uint32_t *ids,
                      uint32_t count, uint32_t steps, struct myr_start_time *ret);
/* "in 3 h; 2 h to 7 h in nine of ten cases". */
void myr_start_text(const struct myr_start_time *start, int64_t now_s, struct myr_buf *ret);
