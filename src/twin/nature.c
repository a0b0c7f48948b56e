/*
 * nature: faults and partitions, and what begins a run.
 *
 * The n-th of each kind is drawn from its number alone. One that is left out by the scenario still
 * takes its place in time, so that the others stay where they were.
 */
#include "world.h"

/* Lists are short, and long only in cases that are being made small. */
static bool is_left_out(const uint32_t *items, size_t count, uint64_t number)
{
    MYR_ASSERT(items || count == 0);
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (items[middle] < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    MYR_ASSERT(low <= count && (low == 0 || items[low - 1] < number));
    return low < count && items[low] == number;
}

bool nature_left_out(const struct world *w, enum myr_scenario_kind kind, uint64_t number)
{
    MYR_ASSERT((uint32_t)kind < MYR_SCENARIO_LISTS);
    const struct myr_scenario_list *list = &w->scenario->left_out[kind];
    return is_left_out(list->items, list->count, number);
}

void nature_schedule(struct world *w, enum happening what, enum draw_use use, uint64_t number,
                     int64_t mean_ms)
{
    MYR_ASSERT(mean_ms >= 0);
    /* 0: this kind of trouble is switched off. */
    if (mean_ms > 0) {
        struct myr_rng rng;
        draw_init(&rng, w->seed, use, number, 0);
        happen_to(w, w->now_ms + 1 + draw_exponential_ms(&rng, mean_ms), what, MYR_NONE);
    }
}

/* Between two faults anywhere in the cluster; 0: there are none. */
static int64_t fault_mean_ms(const struct myr_scenario *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->class_count; i++) {
        sum += s->classes[i].per_1e12_node_h;
    }
    /* All nodes together; the constant is 3.6e6 ms an hour times 1e12 node-hours. */
    uint64_t whole = sum * s->shape.nodes;
    uint64_t mean_ms = whole > 0 ? UINT64_C(3600000000000000000) / whole : 0;
    MYR_ASSERT(mean_ms <= INT64_MAX);
    mean_ms = mean_ms < DRAW_MEAN_MAX_MS ? mean_ms : DRAW_MEAN_MAX_MS;
    return whole > 0 && mean_ms == 0 ? 1 : (int64_t)mean_ms; /* 0 would be never */
}

/* Every job of the scenario, drawn from its number. */
static void begin_jobs(struct world *w)
{
    const struct myr_scenario *s = w->scenario;
    uint32_t at = 0;
    for (uint32_t g = 0; g < s->group_count; g++) {
        const struct myr_scenario_jobs *group = &s->groups[g];
        /* Parts are weights of the sizes, whatever they add up to. */
        uint32_t whole = 0;
        for (uint32_t i = 0; i < group->size_count; i++) {
            whole += group->parts[i];
        }
        MYR_ASSERT(whole > 0 && group->size_count > 0);
        for (uint32_t n = 0; n < group->count; n++, at++) {
            struct wjob *job = job_at(w, at);
            struct myr_rng rng;
            draw_init(&rng, w->seed, DRAW_JOB, at, 0);
            uint32_t pick = myr_rng_below(&rng, whole), size = 0;
            while (pick >= group->parts[size]) {
                pick -= group->parts[size++];
            }
            MYR_ASSERT(size < group->size_count);
            struct draw_time work = {group->work_ms[0], group->work_ms[1], group->work_ms[2]};
            int64_t span_ms = group->arrive_ms[1] - group->arrive_ms[0];
            job->group = group;
            job->gpus = group->sizes[size];
            job->id = MYR_NONE;
            job->work_ms = draw_time_ms(&rng, &work);
            job->step_ms = s->step_ms;
            job->submit_ms = group->arrive_ms[0] +
                             (span_ms > 0 ? (int64_t)(myr_rng_u64(&rng) % (uint64_t)span_ms) : 0);
            /* None of it has happened. */
            job->first_start_ms = job->first_run_ms = job->end_ms = job->failed_ms = -1;
            /* Draws are made for every job, so that leaving one out changes no other. */
            MYR_ASSERT(job->work_ms > 0 && job->submit_ms >= 0);
            if (nature_left_out(w, MYR_SCENARIO_JOBS, at) || job->submit_ms > s->length_ms) {
                continue;
            }
            happen_to(w, job->submit_ms, HAP_SUBMIT, at);
            /* Also drawn for services, before their work becomes endless. */
            if (draw_chance(&rng, group->cancel_ppm)) {
                int64_t after_ms = draw_exponential_ms(&rng, job->work_ms);
                happen_to(w, job->submit_ms + after_ms, HAP_CANCEL, at);
            }
            if (group->service) {
                job->work_ms = 4 * s->length_ms; /* there is always more to do */
            }
        }
    }
    MYR_ASSERT(at == s->job_count);
}

void nature_begin(struct world *w)
{
    const struct myr_scenario *s = w->scenario;
    for (uint32_t id = 0; id < s->shape.nodes; id++) {
        MYR_ASSERT(!w->nodes[id].up && w->nodes[id].boot == 0);
        w->nodes[id].cut_ms = -1;
        w->nodes[id].first_rank = MYR_NONE;
        /* Spread over a second, not all at once. */
        happen(w, w->now_ms + 1 + id % 1000, HAP_BOOT, id, 0);
    }
    begin_jobs(w);
    nature_schedule(w, HAP_FAULT, DRAW_FAULT, 0, fault_mean_ms(s));
    nature_schedule(w, HAP_PARTITION, DRAW_PARTITION, 0, s->partitions.every_ms);
    nature_schedule(w, HAP_CRASH, DRAW_CRASH, 0, s->crashes.every_ms);
    nature_schedule(w, HAP_CLOCK, DRAW_CLOCK, 0, s->clock.every_ms);
    nature_schedule(w, HAP_DRAIN, DRAW_OPERATOR, 0, s->drains.every_ms);
    nature_schedule(w, HAP_HOLD, DRAW_HOLD, 0, s->holds.every_ms);
    nature_schedule(w, HAP_WEIGHT, DRAW_WEIGHT, 0, s->weights.every_ms);
    nature_schedule(w, HAP_ASK, DRAW_ASK, 0, s->questions.every_ms);
    nature_schedule(w, HAP_LEVER, DRAW_LEVER, 0, s->levers.every_ms);
    nature_schedule(w, HAP_SYMPTOM, DRAW_SYMPTOM, 0, s->symptoms.every_ms);
    nature_schedule(w, HAP_CALM, DRAW_CALM, 0, s->calms.every_ms);
    for (uint32_t i = 0; i < s->window_count; i++) {
        happen_to(w, w->now_ms, HAP_WINDOW, i);
    }
}

/* ---- faults ---- */

/* For the report: how many, and how long until it goes on. */
static void note_failure(struct world *w, uint32_t rank)
{
    struct wjob *job = job_at(w, w->ranks.items[rank].job);
    MYR_ASSERT(rank_at(w, rank)->used);
    job->failures++;
    /* The first failure counts until it runs again. */
    job->failed_ms = job->failed_ms < 0 ? w->now_ms : job->failed_ms;
    MYR_ASSERT(job->failed_ms <= w->now_ms);
}

/* Its incarnation makes no progress any more; whether anybody is told depends on how it shows. */
static void strike_rank(struct world *w, uint32_t at, enum myr_fault shows, struct myr_rng *rng)
{
    const struct wrank *rank = rank_at(w, at);
    MYR_ASSERT(rank->used && shows != MYR_FAULT_NODE_LOST);
    MYR_ASSERT(node_at(w, rank->node)->up);
    note_failure(w, at);
    if (shows != MYR_FAULT_HANG) { /* which nobody sees */
        const struct winc *inc = inc_at(w, rank->inc);
        log_broke(w, inc, inc_work_ms(w, inc), "a rank died");
    }
    inc_break(w, rank->inc, false);
    if (shows == MYR_FAULT_HANG) {
        return; /* nobody says anything */
    }
    struct myr_event event = {.kind = MYR_EVENT_EXIT,
                              .code = 1,
                              .node = rank->node,
                              .job = w->jobs[rank->job].id,
                              .epoch = rank->epoch,
                              .boot = w->nodes[rank->node].boot};
    rank_end(w, at);
    send_to_control(w, &event, times_draw_node_ms(&w->times, TIME_DETECT_CRASH, rng));
}

/* All jobs on it fail at once. */
static void strike_node(struct world *w, uint32_t id)
{
    struct wnode *node = node_at(w, id);
    MYR_ASSERT(node->up);
    for (uint32_t at = node->first_rank; at != MYR_NONE; at = w->ranks.items[at].next_on_node) {
        note_failure(w, at);
    }
    node_down(w, id);
    MYR_ASSERT(!node->up && node->first_rank == MYR_NONE);
    if (!node->broken) { /* it comes back by itself */
        struct myr_rng rng;
        draw_init(&rng, w->seed, DRAW_BOOT, id, node->boot);
        int64_t ms = times_draw_node_ms(&w->times, TIME_REBOOT, &rng) +
                     times_draw_node_ms(&w->times, TIME_STACK, &rng);
        happen(w, w->now_ms + ms, HAP_BOOT, id, node->life);
    }
}

void nature_strike(struct world *w, uint32_t id, const struct blow *blow, struct myr_rng *rng)
{
    struct wnode *node = node_at(w, id);
    uint32_t ranks = 0;
    MYR_ASSERT(node->up); /* what is down cannot be struck */
    MYR_ASSERT(!blow->needs_part || blow->breaks);
    /* Which rank is hit is drawn among all of them. */
    for (uint32_t at = node->first_rank; at != MYR_NONE; at = w->ranks.items[at].next_on_node) {
        ranks++;
    }
    uint32_t pick = ranks ? myr_rng_below(rng, ranks) : 0;
    node->broken = node->broken || blow->breaks;
    node->needs_part = node->needs_part || blow->needs_part;
    w->result->faults++;
    /* A fault on an empty node fails nobody's job. */
    w->result->failures += ranks > 0;
    if (blow->shows == MYR_FAULT_NODE_LOST) {
        strike_node(w, id);
    } else if (ranks > 0) {
        uint32_t at = node->first_rank;
        for (; pick > 0; pick--) {
            at = w->ranks.items[at].next_on_node;
        }
        strike_rank(w, at, blow->shows, rng);
    } else if (node->broken) { /* nobody's job shows it: the agent's own checks do */
        struct myr_event event = {
            .kind = MYR_EVENT_SYMPTOM, .code = MYR_SYMPTOM_DOUBT, .node = id, .boot = node->boot};
        send_to_control(w, &event, times_draw_node_ms(&w->times, TIME_DETECT_CRASH, rng));
    }
    MYR_ASSERT(w->result->failures <= w->result->faults);
}

/* A class says how it shows; what it takes to mend is drawn. */
static struct blow blow_of(const struct world *w, const struct myr_scenario_class *class,
                           struct myr_rng *rng)
{
    const struct myr_scenario *s = w->scenario;
    uint32_t fate = myr_rng_below(rng, 1000000);
    /* Some failures are mended by a new process, more by a reboot, the rest needs a part. */
    bool breaks = class->breaks && fate >= s->restart_ppm;
    return (struct blow){class->shows, breaks, breaks && fate >= s->restart_ppm + s->reboot_ppm};
}

void nature_fault(struct world *w)
{
    const struct myr_scenario *s = w->scenario;
    /* Counted also when it is left out: numbers name faults. */
    uint64_t number = w->faults_drawn++, whole = 0;
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_FAULT, number, 1);
    for (uint32_t i = 0; i < s->class_count; i++) {
        whole += s->classes[i].per_1e12_node_h;
    }
    MYR_ASSERT(whole > 0); /* else no fault would have been drawn */
    uint64_t pick = myr_rng_u64(&rng) % whole;
    uint32_t class = 0, node = myr_rng_below(&rng, s->shape.nodes);
    while (pick >= s->classes[class].per_1e12_node_h) {
        pick -= s->classes[class ++].per_1e12_node_h;
    }
    MYR_ASSERT(class < s->class_count);
    /* What is down or broken already cannot fail again. */
    if (!w->calm && !nature_left_out(w, MYR_SCENARIO_FAULTS, number) && w->nodes[node].up &&
        !w->nodes[node].broken) {
        struct blow blow = blow_of(w, &s->classes[class], &rng);
        nature_strike(w, node, &blow, &rng);
    }
    nature_schedule(w, HAP_FAULT, DRAW_FAULT, w->faults_drawn, fault_mean_ms(s));
}

void nature_partition(struct world *w)
{
    const struct myr_scenario *s = w->scenario;
    uint64_t number = w->partitions_drawn++;
    struct myr_rng rng;
    MYR_ASSERT(s->partitions.nodes > 0);
    MYR_ASSERT(s->partitions.every_ms > 0); /* else none would come */
    draw_init(&rng, w->seed, DRAW_PARTITION, number, 1);
    uint32_t groups = (s->shape.nodes + s->partitions.nodes - 1) / s->partitions.nodes;
    /* Neighbours by number, as under one leaf or in one rack. */
    uint32_t first = myr_rng_below(&rng, groups) * s->partitions.nodes;
    MYR_ASSERT(first < s->shape.nodes); /* one at least is cut off */
    int64_t length_ms = 1000 + draw_exponential_ms(&rng, s->partitions.length_ms);
    if (!w->calm && !nature_left_out(w, MYR_SCENARIO_PARTITIONS, number)) {
        w->result->partitions++;
        happen(w, w->now_ms + length_ms, HAP_HEAL, first, w->calms);
        for (uint32_t id = first; id < first + s->partitions.nodes && id < s->shape.nodes; id++) {
            node_cut(w, id, true);
        }
    }
    nature_schedule(w, HAP_PARTITION, DRAW_PARTITION, w->partitions_drawn, s->partitions.every_ms);
}

void nature_heal(struct world *w, uint32_t first)
{
    const struct myr_scenario *s = w->scenario;
    MYR_ASSERT(first < s->shape.nodes);
    for (uint32_t id = first; id < first + s->partitions.nodes && id < s->shape.nodes; id++) {
        node_cut(w, id, false);
    }
}
