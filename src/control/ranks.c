/*
 * ranks: the part of an incarnation on one node, as a slot. Two lists go through each slot: the
 * ranks of its job in rank order, and all ranks on its node. Slots that nobody uses are linked by
 * the first.
 */
#include "state.h"

/*
 * GPUs of the rank that another rank of the same job has too: an epoch job starts again beside what
 * its own agents are still stopping.
 */
static uint64_t shared_gpus(const struct myr_control *c, uint32_t id)
{
    const struct rank *rank = slot_of(c, id);
    uint64_t gpus = 0;
    MYR_ASSERT(rank->state != RANK_FREE);
    for (uint32_t at = node_of(c, rank->node)->first_rank; at != MYR_NONE;
         at = slot_of(c, at)->next_on_node) {
        const struct rank *other = slot_of(c, at);
        gpus |= at != id && other->job == rank->job && !other->released ? other->gpus : 0;
    }
    return gpus;
}

/*
 * Told of once for each GPU: what another rank of the job still has is neither granted anew nor let
 * go.
 */
static void tell_gpus(struct myr_control *c, enum myr_effect_kind kind, uint32_t id)
{
    const struct rank *rank = slot_of(c, id);
    uint64_t gpus = rank->gpus & ~shared_gpus(c, id);
    MYR_ASSERT(kind == MYR_EFFECT_GRANT || kind == MYR_EFFECT_RELEASE);
    MYR_ASSERT(!rank->released); /* told once, and nothing of it is the job's afterwards */
    if (gpus) {
        emit(c, &(struct myr_effect){.kind = (uint8_t)kind,
                                     .node = rank->node,
                                     .job = rank->job,
                                     .epoch = rank->epoch,
                                     .gpus = gpus});
    }
}

uint32_t rank_add(struct myr_control *c, const struct rank *rank)
{
    struct node *node = node_of(c, rank->node);
    uint32_t id = c->head.rank_free;
    /* Of the incarnation that is about to begin. */
    MYR_ASSERT(rank->epoch == job_of(c, rank->job)->epoch + 1);
    MYR_ASSERT(!rank->old && !rank->suspect && !rank->released);
    if (id != MYR_NONE) {
        c->head.rank_free = slot_of(c, id)->next_in_job;
    } else {
        id = (uint32_t)c->ranks.count;
        myr_vec_push(&c->ranks, (struct rank){});
    }
    MYR_ASSERT(slot_of(c, id)->state == RANK_FREE && rank->state == RANK_GRANTED);
    MYR_ASSERT(id != node->first_rank && id != c->head.rank_free);
    c->ranks.items[id] = *rank;
    slot_of(c, id)->next_in_job = MYR_NONE;
    slot_of(c, id)->next_on_node = node->first_rank;
    node->first_rank = id;
    /* After the node's list has it: other ranks of the job there are seen. */
    tell_gpus(c, MYR_EFFECT_GRANT, id);
    return id;
}

void rank_release(struct myr_control *c, uint32_t id)
{
    MYR_ASSERT(slot_of(c, id)->state != RANK_FREE);
    if (!slot_of(c, id)->released) {
        tell_gpus(c, MYR_EFFECT_RELEASE, id);
        slot_of(c, id)->released = 1;
    }
}

void rank_free(struct myr_control *c, uint32_t id)
{
    struct rank *rank = slot_of(c, id);
    struct node *node = node_of(c, rank->node);
    MYR_ASSERT(rank->state == RANK_CLOSED || rank->state == RANK_GRANTED);
    MYR_ASSERT(!rank->suspect);
    MYR_ASSERT(c->head.rank_free != id);
    rank_release(c, id);
    MYR_ASSERT(rank->released);
    uint32_t *link = &node->first_rank;
    while (*link != id) {
        MYR_ASSERT(*link != MYR_NONE);
        link = &slot_of(c, *link)->next_on_node;
    }
    *link = rank->next_on_node;
    MYR_ASSERT(node->first_rank != MYR_NONE || node->rank_count == 0);
    if (node->drain || node->doubted) {
        myr_vec_push(&c->left, rank->node); /* it may be empty now */
    }
    /* The slot may be another job's with the next grant, so nothing of this one stays in it. */
    *rank = (struct rank){.next_in_job = c->head.rank_free};
    c->head.rank_free = id;
}

void rank_close(struct myr_control *c, uint32_t id)
{
    struct rank *rank = slot_of(c, id);
    struct node *node = node_of(c, rank->node);
    struct job *job = job_of(c, rank->job);
    MYR_ASSERT(rank_is_open(rank) && node->rank_count > 0);
    if (!rank->old) {
        MYR_ASSERT(job->open > 0 && rank->epoch == job->epoch);
        MYR_ASSERT(rank->state != RANK_UP || job->up > 0);
        job->open--;
        job->up -= rank->state == RANK_UP;
        /* One rank gone stops the whole gang: from now on it makes no progress. */
        job->stopped_ms = job->stopped_ms < 0 ? c->head.steady_ms : job->stopped_ms;
    } else {
        MYR_ASSERT(job->old_open > 0 && !rank->suspect);
        job->old_open--;
    }
    rank->state = RANK_CLOSED;
    node->rank_count--;
    MYR_ASSERT(job->up <= job->open && job->open <= job->ranks);
}
