#include "holds.h"

#include "state.h"

/*
 * Assertions over a whole state, job by job and node by node. Each count is made anew from the
 * lists it stands for.
 */

/* Ranks of this incarnation: in rank order, each on its node, and counted by what they do. */
static void assert_ranks(const struct myr_control *c, uint32_t id)
{
    const struct job *job = job_of(c, id);
    uint32_t ranks = 0, open = 0, up = 0, suspects = 0, first = 0, last = MYR_NONE;
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        const struct rank *rank = slot_of(c, at);
        MYR_ASSERT(rank->job == id && rank->epoch == job->epoch && !rank->old);
        /* Ranks are numbered through the gang without a gap. */
        MYR_ASSERT(rank->state != RANK_FREE && rank->gpus != 0 && rank->first == first);
        first += (uint32_t)__builtin_popcountll(rank->gpus);
        ranks++;
        open += rank_is_open(rank);
        up += rank->state == RANK_UP;
        suspects += rank->suspect;
        last = at;
    }
    MYR_ASSERT(job->last_rank == last && job->ranks == ranks);
    MYR_ASSERT(job->open == open && job->up == up && job->suspects == suspects);
    MYR_ASSERT(ranks == 0 || job->up + job->exits <= ranks);
}

/* What earlier incarnations left behind is still to stop; what has stopped is not kept. */
static void assert_old_ranks(const struct myr_control *c, uint32_t id)
{
    const struct job *job = job_of(c, id);
    uint32_t open = 0;
    for (uint32_t at = job->first_old; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        const struct rank *rank = slot_of(c, at);
        MYR_ASSERT(rank->job == id && rank->old && rank->epoch <= job->epoch);
        MYR_ASSERT(rank_is_open(rank) && !rank->suspect);
        open++;
    }
    MYR_ASSERT(job->old_open == open);
}

/* States, flags and deadlines of one job agree with each other. */
static void assert_job(const struct myr_control *c, uint32_t id)
{
    const struct job *job = job_of(c, id);
    assert_ranks(c, id);
    assert_old_ranks(c, id);
    /* Who has GPUs is started, stopped or watched; who waits or is over has none. */
    bool active = !job_is_over(job) && job->state != MYR_CONTROL_QUEUED;
    MYR_ASSERT(active == (job->ranks > 0));
    MYR_ASSERT(!active || job->deadline_ms >= 0);
    MYR_ASSERT(job->state != MYR_CONTROL_PLACING); /* only within an event */
    if (job->state == MYR_CONTROL_RUNNING) {
        MYR_ASSERT(job->whole && job->confirmed && job->after == AFTER_NONE);
        MYR_ASSERT(job->up == job->ranks);
    }
    if (job->after != AFTER_NONE && active) { /* it is being stopped: nothing goes on */
        MYR_ASSERT(job->up == 0);
    }
}

/* No GPU belongs to two jobs, and what may run there is counted. */
static void assert_node_ranks(const struct myr_control *c, uint32_t id)
{
    const struct node *node = node_of(c, id);
    uint32_t open = 0;
    for (uint32_t at = node->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_on_node) {
        const struct rank *rank = slot_of(c, at);
        MYR_ASSERT(rank->state != RANK_FREE && rank->node == id);
        open += rank_is_open(rank);
        for (uint32_t b = rank->next_on_node; b != MYR_NONE; b = slot_of(c, b)->next_on_node) {
            const struct rank *other = slot_of(c, b);
            /*
             * A released rank gives its GPUs away before its slot is free, and two incarnations of
             * one job may overlap; two jobs may not.
             */
            bool kept = !rank->released && !other->released && rank->job != other->job;
            MYR_ASSERT(!kept || (rank->gpus & other->gpus) == 0);
        }
    }
    MYR_ASSERT(node->rank_count == open);
    MYR_ASSERT(node->boot > 0 || open == 0);
}

/* The same for one node: what is awaited of it can come, and the queue knows as much. */
static void assert_node(const struct myr_control *c, uint32_t id)
{
    const struct node *node = node_of(c, id);
    assert_node_ranks(c, id);
    MYR_ASSERT(!node->lost || node->silent);
    /* Only what is lost is switched off. */
    MYR_ASSERT(!node->fencing || node->lost);
    MYR_ASSERT(!node->testing || !node->silent); /* who is not heard cannot answer */
    MYR_ASSERT(!node->repair || node->drain & DRAIN_FAULT);
    MYR_ASSERT(!node->bad || !(node->drain & DRAIN_FAULT));
    /* Whatever is awaited of it has an end. */
    MYR_ASSERT(!node->testing || node->deadline_ms >= 0);
    MYR_ASSERT(!node->fencing || node->rank_count == 0 || node->deadline_ms >= 0);
    MYR_ASSERT(!node->silent || node->lost || node->deadline_ms >= 0);
    if (node->state == MYR_NODE_HEALTHY) {
        MYR_ASSERT(node->boot > 0 && node->checked && !node->testing && !node->gone);
        MYR_ASSERT(!node->silent && !node->drain && !node->bad && !node->repair);
    }
    if (!node->gone && !node->shut) { /* the queue may use it */
        MYR_ASSERT(node->state == MYR_NODE_HEALTHY);
    }
}

void control_assert(const struct myr_control *c)
{
    uint32_t silent = 0, drained = 0, bad = 0;
    for (uint32_t id = 0; id < c->shape.nodes; id++) {
        assert_node(c, id);
        silent += c->nodes[id].silent;
        drained += (c->nodes[id].drain & DRAIN_FAULT) != 0;
        bad += c->nodes[id].bad;
    }
    MYR_ASSERT(c->head.silent_nodes == silent && c->head.drained == drained);
    MYR_ASSERT(c->bad_nodes == bad);
    for (size_t i = 0; i < c->jobs.count; i++) {
        assert_job(c, c->jobs.items[i].id);
    }
    MYR_ASSERT(c->tokens.count == c->jobs.count);
    MYR_ASSERT(c->left.count == 0 && c->lost.count == 0 && c->decisions.count == 0);
}

/* Of what the event was about alone: the whole state would take too long after every event. */
bool control_assert_of(const struct myr_control *c, const struct myr_event *event)
{
    if (c->head.planted) {
        return true; /* a fault put there on purpose, for the twin to find */
    }
    if (event->node < c->shape.nodes) {
        assert_node(c, event->node);
    }
    if (job_find(c, event->job)) {
        assert_job(c, event->job);
    }
    return true;
}
