/*
 * snapshot: the whole state of a queue as a value, with its placements.
 *
 * A copy decides the same for the same events as its original. The stored form is tagged sections
 * (tag, version, length, CRC); a damaged one is refused, and one that was made up is refused too,
 * before anything uses it. Scratch space is no state: it is neither stored nor compared.
 */
#pragma once

#include "myriad/sched/queue.h"

/* Into a queue of its own; *into is used again, with its memory, unless it is NULL. */
void myr_queue_copy(const struct myr_queue *queue, struct myr_queue **into);
void myr_queue_save(const struct myr_queue *queue, struct myr_buf *ret);
MYR_MUST_USE int myr_queue_load(struct myr_str bytes, struct myr_queue **ret, struct myr_err *err);
bool myr_queue_equal(const struct myr_queue *a, const struct myr_queue *b);
/* Of all that myr_queue_equal() compares. */
uint64_t myr_queue_hash(const struct myr_queue *queue);
/* Bytes of the state in memory. */
size_t myr_queue_bytes(const struct myr_queue *queue);
