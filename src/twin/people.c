/*
 * people: who submit, cancel, hold back, drain, hold, weigh and maintain, and what agents tell of
 * nodes that fail slowly. Drawn by their number as everything in nature is.
 */
#include "myriad/work.h"
#include "world.h"

/* A run of neighbours: a rack that somebody works at. */
void nature_drain(struct world *w)
{
    const struct myr_scenario *s = w->scenario;
    MYR_ASSERT(s->drains.every_ms > 0);
    uint64_t number = w->drains_drawn++;
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_OPERATOR, number, 1);
    uint32_t first = myr_rng_below(&rng, s->shape.nodes);
    int64_t length_ms = 1000 + draw_exponential_ms(&rng, s->drains.length_ms);
    bool out = w->calm || nature_left_out(w, MYR_SCENARIO_DRAINS, number);
    for (uint32_t n = first; !out && n < first + s->drains.nodes && n < s->shape.nodes; n++) {
        struct myr_event event = {.kind = MYR_EVENT_DRAIN, .node = n};
        w->result->drains++;
        w->nodes[n].drained = true;
        send_to_control(w, &event, 0);
        happen(w, w->now_ms + length_ms, HAP_UNDRAIN, n, w->calms);
    }
    nature_schedule(w, HAP_DRAIN, DRAW_OPERATOR, w->drains_drawn, s->drains.every_ms);
}

void nature_undrain(struct world *w, uint32_t node)
{
    MYR_ASSERT(node < w->scenario->shape.nodes);
    struct myr_event event = {.kind = MYR_EVENT_UNDRAIN, .node = node};
    w->nodes[node].drained = false;
    send_to_control(w, &event, 0);
}

/* A scheduler below has a use of its own for a node, gently or at once. */
void nature_hold(struct world *w)
{
    const struct myr_scenario *s = w->scenario;
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_HOLD, w->holds_drawn++, 1);
    uint32_t node = myr_rng_below(&rng, s->shape.nodes);
    bool all = draw_chance(&rng, 500000);
    int64_t length_ms = 1000 + draw_exponential_ms(&rng, s->holds.length_ms);
    if (!w->calm) {
        struct myr_event event = {
            .kind = MYR_EVENT_HOLD, .node = node, .code = all ? MYR_HOLD_ALL : MYR_HOLD_NEW};
        w->result->holds++;
        w->nodes[node].held = true;
        send_to_control(w, &event, 0);
        happen(w, w->now_ms + length_ms, HAP_UNHOLD, node, w->calms);
    }
    nature_schedule(w, HAP_HOLD, DRAW_HOLD, w->holds_drawn, s->holds.every_ms);
}

void nature_unhold(struct world *w, uint32_t node)
{
    struct myr_event event = {.kind = MYR_EVENT_HOLD, .node = node, .code = MYR_HOLD_NONE};
    w->nodes[node].held = false;
    send_to_control(w, &event, 0);
}

/* Somebody changes what a tenant's share is worth. */
void nature_weight(struct world *w)
{
    const struct myr_scenario *s = w->scenario;
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_WEIGHT, w->weights_drawn++, 1);
    struct myr_event event = {.kind = MYR_EVENT_WEIGHT,
                              .count = myr_rng_below(&rng, s->tenants),
                              .value = 1 + myr_rng_below(&rng, 10)};
    w->result->weights++;
    send_to_control(w, &event, 0);
    nature_schedule(w, HAP_WEIGHT, DRAW_WEIGHT, w->weights_drawn, s->weights.every_ms);
}

/* What a person says of a job that was accepted and is not over. */
static void tell_of_job(struct world *w, enum myr_event_kind kind, uint32_t id, uint8_t code,
                        int64_t value)
{
    const struct wjob *job = job_at(w, id);
    if (job->accepted && !job->over) {
        struct myr_event event = {
            .kind = (uint8_t)kind, .code = code, .job = job->id, .value = value};
        send_to_control(w, &event, 0);
    }
}

/* Somebody holds a job back for a while, or changes its priority. */
void nature_lever(struct world *w)
{
    const struct myr_scenario *s = w->scenario;
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_LEVER, w->levers_drawn++, 1);
    uint32_t id = myr_rng_below(&rng, w->job_count);
    /* One that waits or runs, if there is any: most of a long list are over. */
    for (uint32_t i = 0; i < w->job_count && (!w->jobs[id].accepted || w->jobs[id].over); i++) {
        id = (id + 1) % w->job_count;
    }
    bool holds = draw_chance(&rng, 500000);
    int64_t length_ms = 1000 + draw_exponential_ms(&rng, 1800000);
    int64_t priority = (int64_t)myr_rng_below(&rng, 21) - 10;
    if (w->calm) {
        /* Nobody asks for anything. */
    } else if (holds) {
        w->result->levers++;
        tell_of_job(w, MYR_EVENT_HOLD_JOB, id, 1, 0);
        happen_to(w, w->now_ms + length_ms, HAP_LET_GO, id);
    } else {
        w->result->levers++;
        tell_of_job(w, MYR_EVENT_PRIORITY, id, 0, priority);
    }
    nature_schedule(w, HAP_LEVER, DRAW_LEVER, w->levers_drawn, s->levers.every_ms);
}

void person_lets_go(struct world *w, uint32_t id)
{
    tell_of_job(w, MYR_EVENT_HOLD_JOB, id, 0, 0);
}

/* The node of another rank of the same gang, or a neighbour. */
static uint32_t fellow(const struct world *w, uint32_t node, struct myr_rng *rng)
{
    uint32_t rank = w->nodes[node].first_rank;
    if (rank == MYR_NONE) {
        return (node + 1) % w->scenario->shape.nodes;
    }
    const struct winc *inc = inc_at(w, rank_at(w, rank)->inc);
    return inc->nodes.items[myr_rng_below(rng, (uint32_t)inc->nodes.count)];
}

/* An agent says that its node fails, or has failed; its gang makes no progress then. */
static void warn(struct world *w, uint32_t id, enum myr_symptom symptom, struct myr_rng *rng)
{
    struct wnode *node = node_at(w, id);
    if (!node->up || node->broken || node->cut > 0) {
        return;
    }
    node->broken = true;
    node->needs_part = draw_chance(rng, 300000);
    w->result->symptoms++;
    for (uint32_t at = node->first_rank; symptom == MYR_SYMPTOM_FAILED && at != MYR_NONE;
         at = rank_at(w, at)->next_on_node) {
        inc_break(w, rank_at(w, at)->inc, false);
    }
    struct myr_event event = {
        .kind = MYR_EVENT_SYMPTOM, .code = (uint8_t)symptom, .node = id, .boot = node->boot};
    send_to_control(w, &event, myr_rng_below(rng, 120000));
}

void nature_symptom(struct world *w)
{
    const struct myr_scenario *s = w->scenario;
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_SYMPTOM, w->symptoms_drawn++, 1);
    uint32_t node = myr_rng_below(&rng, s->shape.nodes);
    bool failed = draw_chance(&rng, 500000);
    uint32_t count = 1 + myr_rng_below(&rng, s->symptoms.nodes);
    for (uint32_t i = 0; i < count && !w->calm; i++) {
        warn(w, node, failed ? MYR_SYMPTOM_FAILED : MYR_SYMPTOM_FAILING, &rng);
        node = fellow(w, node, &rng);
    }
    nature_schedule(w, HAP_SYMPTOM, DRAW_SYMPTOM, w->symptoms_drawn, s->symptoms.every_ms);
}

void nature_window(struct world *w, uint32_t window)
{
    MYR_ASSERT(window < w->scenario->window_count);
    const struct myr_scenario_window *in = &w->scenario->windows[window];
    MYR_ASSERT(in->first < w->scenario->shape.nodes && in->length_ms > 0);
    struct myr_event event = {.kind = MYR_EVENT_MAINTAIN,
                              .node = in->first,
                              .count = in->count,
                              .value = in->at_ms / 1000,
                              .saved = in->drain_ms / 1000,
                              .end_s = (in->at_ms + in->length_ms) / 1000};
    send_to_control(w, &event, 0);
}

/* Some wait for the job before them in their group, where its number is known: it and 1, or 0. */
static uint32_t job_before(const struct world *w, uint32_t id)
{
    const struct wjob *job = job_at(w, id);
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_AFTER, id, 0);
    bool waits = draw_chance(&rng, job->group->after_ppm);
    if (!waits || id == 0 || w->jobs[id - 1].group != job->group || !w->jobs[id - 1].accepted) {
        return 0;
    }
    return w->jobs[id - 1].id + 1;
}

/* How it wants to lie, as far as its size allows it. */
static struct myr_job_wish wish_of(const struct world *w, const struct wjob *job)
{
    const struct myr_scenario_jobs *group = job->group;
    struct myr_job_wish wish = {};
    uint32_t per = w->scenario->shape.gpus_per_node, cut = group->tp * group->pp;
    if (job->gpus > per && job->gpus % per != 0) {
        return wish; /* only whole nodes have an order, or lie together */
    }
    wish.leaf_max = group->leaf_max;
    wish.within = (uint8_t)(group->within ? group->within - 1 + MYR_LEVEL_LEAF + 1 : 0);
    if (cut > 0 && job->gpus % cut == 0) {
        struct myr_layout layout = myr_layout_default();
        wish.tp = group->tp;
        wish.pp = group->pp;
        wish.dp = job->gpus / cut;
        wish.cp = wish.ep = 1;
        wish.etp = layout.etp;
        for (uint32_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
            wish.order[i] = (uint8_t)layout.order[i];
        }
    }
    return wish;
}

/* Held at first, or with a date: drawn from its number, and the same whenever it is asked for. */
static void draw_levers(struct world *w, uint32_t id, struct myr_job_spec *spec)
{
    const struct wjob *job = job_at(w, id);
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_WISH, id, 0);
    bool held = draw_chance(&rng, job->group->held_ppm);
    int64_t after_ms = 60000 + draw_exponential_ms(&rng, 3600000);
    bool dated = draw_chance(&rng, job->group->date_ppm) && spec->limit_s > 0 && !held;
    if (held) {
        spec->held = 1;
        if (!job->submitted) {
            happen_to(w, w->now_ms + after_ms, HAP_LET_GO, id);
        }
    } else if (dated && spec->after == 0) {
        spec->date_min = (uint32_t)((job->submit_ms + after_ms) / 60000) + 1;
    }
}

/* Under the same token until somebody says that it was taken. */
void person_submit(struct world *w, uint32_t id)
{
    struct wjob *job = job_at(w, id);
    /* Asked again every half minute until it is accepted, so an answer may have come meanwhile. */
    if (job->accepted || job->over) {
        return;
    }
    const struct myr_scenario_jobs *group = job->group;
    MYR_ASSERT(group && job->submit_ms <= w->now_ms);
    MYR_ASSERT(job->gpus > 0);
    if (w->last && !job->submitted) {
        return; /* the run is over */
    }
    struct myr_event event = {.kind = MYR_EVENT_SUBMIT,
                              .spec = {.after = job_before(w, id),
                                       .fixed = (uint8_t)group->fixed,
                                       .token = (uint64_t)id + 1,
                                       .tenant = group->tenant,
                                       .gpus = job->gpus,
                                       .priority = group->priority,
                                       .restart = (uint8_t)group->restart,
                                       .retries = group->retries,
                                       .lease_s = group->lease_s,
                                       .service = (uint8_t)group->service,
                                       .limit_s = group->limit_s,
                                       .wish = wish_of(w, job)}};
    if (event.spec.wish.tp == 0) { /* a layout is of one size */
        event.spec.gpus_min = (uint32_t)(((uint64_t)job->gpus * group->least_percent + 99) / 100);
    }
    draw_levers(w, id, &event.spec);
    job->submitted = true;
    happen_to(w, w->now_ms + 30000, HAP_SUBMIT, id);
    (void)tell_control(w, &event);
}

void person_cancel(struct world *w, uint32_t id)
{
    const struct wjob *job = job_at(w, id);
    /* Who was never answered has nothing to cancel by. */
    if (job->accepted && !job->over) {
        MYR_ASSERT(job->id != MYR_NONE && job->submitted);
        struct myr_event event = {.kind = MYR_EVENT_CANCEL, .job = job->id};
        send_to_control(w, &event, 0);
    }
}

void person_approve(struct world *w)
{
    /* A few more at a time: a twentieth of the nodes. */
    struct myr_event event = {.kind = MYR_EVENT_APPROVE,
                              .value = w->scenario->shape.nodes / 20 + 1};
    MYR_ASSERT(w->approve_pending); /* asked for once at a time */
    w->approve_pending = false;
    send_to_control(w, &event, 0);
}

void person_heard(struct world *w, const struct myr_effect *effect)
{
    if (effect->kind == MYR_EFFECT_NOTIFY) {
        if (!w->approve_pending) { /* a person looks at it after a while */
            w->approve_pending = true;
            happen_to(w, w->now_ms + 600000, HAP_APPROVE, MYR_NONE);
        }
        return;
    }
    MYR_ASSERT(effect->kind == MYR_EFFECT_ACCEPT && effect->gpus > 0);
    uint32_t id = (uint32_t)effect->gpus - 1;
    struct wjob *job = job_at(w, id);
    /* Refused: it can never be placed here. */
    if (!effect->state) {
        job->over = MYR_CONTROL_FAILED;
        return;
    }
    job->accepted = true;
    MYR_ASSERT(job->submitted); /* who is answered has asked */
}
