/*
 * asks: people ask the controller, and what they are told is held against the books and against
 * really doing it. A copy of the controller goes along for a while, too, and must decide the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "myriad/control/explain.h"
#include "myriad/control/whatif.h"
#include "myriad/sched/snapshot.h"
#include "myriad/text/amount.h"
#include "progress/progress.h"
#include "world.h"

/* ---- a copy that goes along ---- */

void shadow_end(struct world *w)
{
    myr_control_free(w->seat.shadow);
    w->seat.shadow = NULL;
}

void shadow_step(struct world *w, int64_t now_ms, const struct myr_event *event)
{
    struct seat *seat = &w->seat;
    struct myr_err err = {};
    uint32_t count, copied;
    if (!seat->shadow) {
        return;
    }
    if (myr_control_step(seat->shadow, now_ms, event, &err) < 0) {
        check_violated(w->check, RULE_COPY, "a copy refuses an event: %.150s", err.message);
        shadow_end(w);
        return;
    }
    const struct myr_effect *effects = myr_control_effects(seat->control, &count);
    const struct myr_effect *same = myr_control_effects(seat->shadow, &copied);
    if (count != copied || (count > 0 && memcmp(effects, same, count * sizeof(*same)) != 0)) {
        check_violated(w->check, RULE_COPY, "a copy decides something else on event %s",
                       myr_event_kind_name((enum myr_event_kind)event->kind));
        shadow_end(w);
    }
}

/* Where one has gone along it must be in the same state; then another begins. */
static void ask_copy(struct world *w)
{
    struct seat *seat = &w->seat;
    if (seat->shadow && myr_control_hash(seat->shadow) != myr_control_hash(seat->control)) {
        check_violated(w->check, RULE_COPY, "a copy that went along is in another state");
    }
    shadow_end(w);
    seat->shadow = myr_control_fork(seat->control);
    if (myr_control_hash(seat->shadow) != myr_control_hash(seat->control)) {
        check_violated(w->check, RULE_COPY, "a copy is another state from the start");
    }
}

/* ---- why a job waits ---- */

static void told_wrong(struct world *w, uint32_t id, const char *what, uint64_t told, uint64_t is)
{
    check_violated(w->check, RULE_ANSWER, "of job %u it is told that %s %llu, and it is %llu", id,
                   what, (unsigned long long)told, (unsigned long long)is);
}

/* GPUs that nobody has, on nodes that the controller calls healthy; and how many of those are. */
static uint32_t healthy_free(const struct world *w, uint32_t *ret_whole)
{
    uint32_t per = w->scenario->shape.gpus_per_node, sum = 0;
    *ret_whole = 0;
    for (uint32_t n = 0; n < w->scenario->shape.nodes; n++) {
        if (myr_control_node(w->seat.control, n).state == MYR_NODE_HEALTHY) {
            uint32_t free = per - (uint32_t)__builtin_popcountll(check_owned(w->check, n));
            sum += free;
            *ret_whole += free == per;
        }
    }
    return sum;
}

/* The copy's nodes stop at once what they are told to; false: they were told nothing. */
static bool obey(struct myr_queue *copy, int64_t now_s, const struct myr_decision *decisions,
                 uint32_t count)
{
    bool any = false;
    struct myr_decision *made = myr_xcalloc(count + UINT64_C(1), sizeof(*made));
    for (uint32_t i = 0; i < count; i++) {
        made[i] = decisions[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        any |= made[i].kind == MYR_DECIDE_STOP &&
               myr_queue_stopped(copy, now_s, made[i].job, made[i].epoch, MYR_NONE) == MYR_OK;
    }
    free(made);
    return any;
}

/* What would start it is made in a copy of the queue, which decides. */
static void try_changes(struct world *w, uint32_t id, const struct myr_why *why)
{
    enum { ROUNDS = 8 }; /* stops that lead to further stops */
    for (uint32_t i = 0; i < why->trial_count; i++) {
        struct myr_queue *copy = NULL;
        struct myr_job_view view;
        uint32_t count;
        myr_queue_copy(myr_control_queue(w->seat.control), &copy);
        myr_queue_apply_trial(copy, why->now_s, id, &why->trials[i]);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            const struct myr_decision *made = myr_queue_decide(copy, why->now_s, &count);
            if (count == 0 || !obey(copy, why->now_s, made, count)) {
                break;
            }
        }
        if (myr_queue_view(copy, id, &view) == MYR_OK && view.state == MYR_JOB_WAITS) {
            check_violated(w->check, RULE_ANSWER, "of job %u it is told that '%s' starts it", id,
                           myr_trial_name(why->trials[i].kind));
        }
        myr_queue_free(copy);
    }
}

static void ask_why(struct world *w, uint32_t id)
{
    struct myr_control *copy = myr_control_fork(w->seat.control);
    struct myr_queue *queue = NULL;
    struct myr_why why;
    uint32_t whole, per = w->scenario->shape.gpus_per_node;
    uint32_t gpus = job_at(w, w->job_of_id[id])->gpus, free = healthy_free(w, &whole);
    myr_queue_copy(myr_control_queue(copy), &queue);
    /* As late as the controller may take it to be. */
    int64_t now_s = (w->now_ms + w->seat.ahead_ms) / 1000;
    myr_queue_why(queue, now_s, id, &why);
    if (why.gpus != gpus && why.kind != MYR_WHY_NOTHING) {
        told_wrong(w, id, "its GPUs are", why.gpus, gpus);
    }
    if (why.nodes != (gpus + per - 1) / per && why.kind != MYR_WHY_NOTHING) {
        told_wrong(w, id, "its nodes are", why.nodes, (gpus + per - 1) / per);
    }
    if (why.gpus_free > free) {
        told_wrong(w, id, "free GPUs are", why.gpus_free, free);
    }
    if (why.nodes_free > whole) {
        told_wrong(w, id, "whole free nodes are", why.nodes_free, whole);
    }
    if (why.kind == MYR_WHY_FULL && why.gpus_free >= gpus) {
        told_wrong(w, id, "too few GPUs are free of", gpus, why.gpus_free);
    }
    if (why.kind == MYR_WHY_NEVER && gpus <= per * w->scenario->shape.nodes) {
        told_wrong(w, id, "not all nodes would hold its GPUs", gpus, gpus);
    }
    try_changes(w, id, &why);
    myr_queue_free(queue);
    myr_control_free(copy);
}

/* ---- what is known of a job, a node; when it starts ---- */

static void ask_about(struct world *w, const char *kind, uint32_t id, const char *state)
{
    char name[32];
    struct myr_err err = {};
    struct myr_explanation *e = myr_xcalloc(1, sizeof(*e));
    struct myr_explain_asker asker = {
        .now_ms = w->now_ms + w->seat.offset_ms, .submitted_ms = -1, .start_steps = 2000};
    snprintf(name, sizeof(name), "%s/%u", kind, id);
    if (myr_control_explain(w->seat.control, name, &asker, e, &err) < 0) {
        check_violated(w->check, RULE_ANSWER, "%s: %.150s", name, err.message);
    } else if (e->count == 0 || strcmp(e->facts[0].what, "state") != 0 ||
               strncmp(e->facts[0].is, state, strlen(state)) != 0) {
        check_violated(w->check, RULE_ANSWER, "%s is %s, and it is told: %.60s", name, state,
                       e->count > 0 ? e->facts[0].is : "nothing");
    }
    free(e);
}

static void ask_starts(struct world *w, uint32_t id)
{
    struct myr_start_time start;
    if (myr_control_starts(w->seat.control, w->now_ms + w->seat.offset_ms, &id, 1, 4000, &start) &&
        (start.low_s < 0 || start.low_s > start.likely_s || start.likely_s > start.high_s)) {
        check_violated(w->check, RULE_ANSWER, "job %u starts between %lld and %lld s, likely %lld",
                       id, (long long)start.low_s, (long long)start.high_s,
                       (long long)start.likely_s);
    }
}

/* ---- what if ---- */

/* Another job comes: a copy that it really comes to does as was told. */
static void ask_submit(struct world *w, struct myr_rng *rng)
{
    uint32_t per = w->scenario->shape.gpus_per_node, nodes = w->scenario->shape.nodes;
    uint32_t few = 1 + myr_rng_below(rng, per), many = per * (1 + myr_rng_below(rng, nodes));
    struct myr_whatif_question question = {.lose_leaf = -1,
                                           .submit_gpus = draw_chance(rng, 500000) ? few : many,
                                           .priority = (int32_t)myr_rng_below(rng, 11) - 5,
                                           .no_reason = draw_chance(rng, 500000)};
    struct myr_whatif_answer a;
    struct myr_err err = {};
    if (myr_whatif(w->seat.control, &question, &a, &err) < 0) {
        check_violated(w->check, RULE_ANSWER, "what if a job came: %.150s", err.message);
        return;
    }
    struct myr_control *copy = myr_control_fork(w->seat.control);
    struct myr_event event = {.kind = MYR_EVENT_SUBMIT,
                              .spec = {.token = UINT64_MAX,
                                       .gpus = question.submit_gpus,
                                       .priority = question.priority,
                                       .retries = 100,
                                       .lease_s = 600}};
    uint32_t id = MYR_NONE;
    if (myr_control_step(copy, myr_control_now_ms(copy), &event, &err) == MYR_OK) {
        id = myr_control_find(copy, UINT64_MAX);
    }
    bool placed = id != MYR_NONE && myr_control_job(copy, id).state == MYR_CONTROL_STARTING;
    if (placed && !a.placed) { /* what agents would free first is looked at in the answer alone */
        check_violated(w->check, RULE_ANSWER,
                       "a job of %s would wait as it is told, and really starts",
                       MYR_COUNT(question.submit_gpus, "GPU"));
    }
    if (a.placed && a.submit_nodes != (question.submit_gpus + per - 1) / per) {
        check_violated(w->check, RULE_ANSWER, "a job of %s would lie on %s",
                       MYR_COUNT(question.submit_gpus, "GPU"), MYR_COUNT(a.submit_nodes, "node"));
    }
    myr_control_free(copy);
}

/* Nodes are lost: whoever runs there is told of. */
static void ask_loss(struct world *w, struct myr_rng *rng)
{
    char nodes[32];
    uint32_t first = myr_rng_below(rng, w->scenario->shape.nodes);
    uint32_t left = w->scenario->shape.nodes - first, count = 1 + myr_rng_below(rng, 6);
    struct myr_whatif_question question = {
        .lose = nodes, .lose_leaf = -1, .silent = draw_chance(rng, 500000)};
    struct myr_whatif_answer *a = myr_xcalloc(1, sizeof(*a));
    struct myr_err err = {};
    count = count < left ? count : left;
    snprintf(nodes, sizeof(nodes), "%u-%u", first, first + count - 1);
    question.add_gpus = draw_chance(rng, 200000) ? 16 * w->scenario->shape.gpus_per_node : 0;
    if (myr_whatif(w->seat.control, &question, a, &err) < 0) {
        check_violated(w->check, RULE_ANSWER, "what if nodes were lost: %.150s", err.message);
    } else if (a->nodes_lost != count) {
        told_wrong(w, 0, "nodes lost are", a->nodes_lost, count);
    }
    for (uint32_t id = 0; id < myr_control_jobs(w->seat.control) && a->nodes_lost == count; id++) {
        bool there = false, told = a->job_count == MYR_WHATIF_JOBS;
        struct myr_control_job job = myr_control_job(w->seat.control, id);
        /* Of its present incarnation, on a node of which nothing bad is known yet. */
        struct myr_control_rank ranks[64];
        uint32_t rank_count = myr_control_job_ranks(w->seat.control, id, ranks, 64);
        for (uint32_t r = 0; r < rank_count && r < 64; r++) {
            struct myr_control_node node = myr_control_node(w->seat.control, ranks[r].node);
            there = there || (ranks[r].node - first < count && ranks[r].up && !node.silent &&
                              node.state == MYR_NODE_HEALTHY);
        }
        for (uint32_t i = 0; i < a->job_count; i++) {
            told = told || a->jobs[i].job == id;
        }
        if (!job.forgotten && job.state == MYR_CONTROL_RUNNING && there && !told) {
            check_violated(w->check, RULE_ANSWER, "job %u runs on nodes %s, and nobody is told", id,
                           nodes);
        }
    }
    free(a);
}

/* ---- a question ---- */

/* One that waits, or any that is known; MYR_NONE: there is none. */
static uint32_t some_job(struct world *w, struct myr_rng *rng, bool waits)
{
    uint32_t count = myr_control_jobs(w->seat.control);
    uint32_t id = count > 0 ? myr_rng_below(rng, count) : 0;
    for (uint32_t i = 0; i < count; i++, id = (id + 1) % count) {
        struct myr_control_job job = myr_control_job(w->seat.control, id);
        if (!job.forgotten && (!waits || (job.state == MYR_CONTROL_QUEUED && !job.spec.held &&
                                          !job.spec.after && !job.spec.date_min))) {
            return id;
        }
    }
    return MYR_NONE;
}

static void ask(struct world *w, uint32_t what, struct myr_rng *rng)
{
    uint32_t node = myr_rng_below(rng, w->scenario->shape.nodes);
    uint32_t any = some_job(w, rng, false), waiting = some_job(w, rng, true);
    switch (what) {
    case 0:
        if (waiting != MYR_NONE) {
            ask_why(w, waiting);
        }
        break;
    case 1:
        if (any != MYR_NONE) {
            struct myr_control_job job = myr_control_job(w->seat.control, any);
            ask_about(w, "job", any, myr_control_job_state_name(job.state));
        }
        break;
    case 2:
        ask_about(w, "node", node,
                  myr_node_state_name(myr_control_node(w->seat.control, node).state));
        break;
    case 3:
        if (waiting != MYR_NONE) {
            ask_starts(w, waiting);
        }
        break;
    case 4:
        ask_submit(w, rng);
        break;
    case 5:
        ask_loss(w, rng);
        break;
    default:
        ask_copy(w);
    }
}

void nature_ask(struct world *w)
{
    const struct myr_scenario *s = w->scenario;
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_ASK, w->asks_drawn++, 1);
    uint32_t what = myr_rng_below(&rng, 7);
    if (w->line.up && w->seat.control) {
        uint64_t hash = myr_control_hash(w->seat.control);
        w->result->questions++;
        ask(w, what, &rng);
        if (myr_control_hash(w->seat.control) != hash) {
            check_violated(w->check, RULE_ANSWER, "a question has changed the state");
        }
    }
    nature_schedule(w, HAP_ASK, DRAW_ASK, w->asks_drawn, s->questions.every_ms);
}
