/*
 * planted: what some of the faults do that are put in on purpose, for the twin to find; nothing of
 * it happens else.
 */
#include "state.h"

/* What is not heard is not there. */
void planted_forget_open(struct myr_control *c, uint32_t id)
{
    for (uint32_t at = job_of(c, id)->first_rank; at != MYR_NONE;
         at = slot_of(c, at)->next_in_job) {
        if (rank_is_open(slot_of(c, at))) {
            rank_close(c, at);
        }
    }
}

/* Where GPUs are kept for a job, the queue does not hear of a drain. */
bool planted_hides_drain(const struct myr_control *c, uint32_t id)
{
    uint64_t taken = ~myr_placer_free_mask(myr_queue_placer(c->queue), id);
    for (uint32_t at = node_of(c, id)->first_rank; at != MYR_NONE;
         at = slot_of(c, at)->next_on_node) {
        taken &= ~slot_of(c, at)->gpus;
    }
    return c->head.planted == MYR_PLANTED_CLAIM_ON_DRAINED &&
           taken << (64 - c->shape.gpus_per_node) != 0;
}
