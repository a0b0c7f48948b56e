/*
 * run: a scenario played under a seat, and what came of it. Everything is drawn from the seed and
 * happens in the order of one heap, so a run can be run again exactly; its hash says whether it
 * was.
 */
#include "myriad/twin/run.h"

#include <assert.h>
#include <stdlib.h>

#include "progress/progress.h"
#include "world.h"

/* A rule says long before that not all ends. */
#define LAST_MOST_MS (INT64_C(365) * 86400 * 1000)

/* What concerns the controller's seat is taken here, the rest by the world. */
static void take(struct world *w, enum happening what, uint32_t id, uint32_t serial)
{
    MYR_ASSERT((uint32_t)what <= HAP_LOOK && serial <= 0xffffff);
    switch (what) {
    case HAP_TICK:
        seat_tick(w, serial);
        break;
    case HAP_RESTART:
        seat_restart(w);
        break;
    case HAP_CRASH:
        seat_dies(w);
        break;
    case HAP_CLOCK:
        seat_jumps(w);
        break;
    default:
        turn(w, what, id, serial);
    }
}

/* ---- what is told in the end ---- */

/* Kept work of a job so far, in milliseconds of running. */
static int64_t kept_ms(const struct world *w, const struct wjob *job)
{
    int64_t kept = job->saved_ms;
    MYR_ASSERT(kept >= 0 && kept <= job->work_ms);
    for (size_t i = 0; i < job->incs.count; i++) {
        const struct winc *inc = inc_at(w, job->incs.items[i]);
        /* What an incarnation has done beyond the checkpoint is kept as long as it lives. */
        int64_t work_ms = inc->running ? inc_work_ms(w, inc) : 0;
        kept = work_ms > kept ? work_ms : kept;
    }
    MYR_ASSERT(kept <= job->work_ms);
    return kept;
}

/* One for each step of time up to then, all of the same state. */
static void sample(struct world *w, int64_t until_ms)
{
    MYR_ASSERT(until_ms >= w->now_ms);
    /* Up to the next happening the world stands still. */
    while (w->sample_ms > 0 && w->next_sample_ms <= until_ms) {
        const struct myr_scenario *s = w->scenario;
        struct myr_twin_sample sample = {.now_ms = w->next_sample_ms,
                                         .busy_gpus = w->busy_gpus,
                                         .failures = w->result->failures};
        for (uint32_t i = 0; i < s->job_count; i++) {
            const struct wjob *job = job_at(w, i);
            sample.waiting += job->submitted && !job->over && job->incs.count == 0;
            sample.held_gpus += job->incs.count > 0 ? job->gpus : 0;
        }
        for (uint32_t n = 0; n < s->shape.nodes; n++) {
            const struct wnode *node = node_at(w, n); /* before its first boot it is not out */
            sample.nodes_out += node->boot > 0 && (!node->up || node->cut > 0);
        }
        MYR_ASSERT(sample.nodes_out <= s->shape.nodes);
        myr_vec_push(&w->result->samples, sample);
        w->next_sample_ms += w->sample_ms;
    }
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort(double *items, size_t count)
{
    if (count > 0) { /* without any there is no array */
        qsort(items, count, sizeof(*items), by_double);
    }
}

/* The nearest rank: the least value that so many percent of all do not exceed. */
static double part(const double *items, size_t count, size_t percent)
{
    MYR_ASSERT(percent > 0 && percent <= 100);
    return count > 0 ? items[(count * percent + 99) / 100 - 1] : 0;
}

/* By GPU hours, largest first. */
static void put_long_job(struct myr_twin_result *r, struct myr_twin_long_job job)
{
    MYR_ASSERT(r->long_count <= MYR_TWIN_LONG_JOBS && job.hours > 0);
    MYR_ASSERT(job.gpus > 0);
    uint32_t at = r->long_count < MYR_TWIN_LONG_JOBS ? r->long_count++ : MYR_TWIN_LONG_JOBS;
    while (at > 0 && r->longest[at - 1].hours * r->longest[at - 1].gpus < job.hours * job.gpus) {
        if (at < MYR_TWIN_LONG_JOBS) {
            r->longest[at] = r->longest[at - 1];
        }
        at--;
    }
    if (at < MYR_TWIN_LONG_JOBS) {
        r->longest[at] = job;
    }
    MYR_ASSERT(r->long_count > 0);
}

/* Counts a job by how it stands at the end of the run. */
static void sum_job(struct world *w, uint32_t id)
{
    const struct wjob *job = job_at(w, id);
    struct myr_twin_result *r = w->result;
    /* Jobs of half a day and more are listed. */
    const double hour_ms = 3600e3, long_h = 12;
    if (!job->submitted) {
        return;
    }
    MYR_ASSERT(job->submit_ms <= w->now_ms && job->first_start_ms <= w->now_ms);
    MYR_ASSERT(!job->accepted || job->id < w->job_count);
    r->submitted++;
    r->done += job->over == MYR_CONTROL_DONE;
    r->failed += job->over == MYR_CONTROL_FAILED;
    r->cancelled += job->over == MYR_CONTROL_CANCELLED;
    r->running += !job->over && job->incs.count > 0;
    r->waiting += !job->over && job->incs.count == 0;
    /* A sum: jobs may be counted in any order. */
    r->jobs_hash += myr_hash_u64((uint64_t)id << 8 | job->over);
    /* Who has not started yet has waited until now. */
    int64_t started_ms = job->first_start_ms < 0 ? w->now_ms : job->first_start_ms;
    myr_vec_push(&r->wait_h, (double)(started_ms - job->submit_ms) / hour_ms);
    int64_t kept = kept_ms(w, job);
    w->gpu_ms_kept += (uint64_t)kept * job->gpus;
    if (job->first_run_ms >= 0) {
        int64_t end_ms = job->end_ms >= 0 ? job->end_ms : w->now_ms;
        double hours = (double)(end_ms - job->first_run_ms) / hour_ms;
        if (hours >= long_h) {
            put_long_job(r, (struct myr_twin_long_job){
                                .job = id,
                                .gpus = job->gpus,
                                .failures = job->failures,
                                .hours = hours,
                                .ettr = (double)kept / hour_ms / hours,
                            });
        }
    }
}

/* Everything that a result says, from the world and the books. */
static void sum_up(struct world *w)
{
    struct myr_twin_result *r = w->result;
    const struct myr_scenario *s = w->scenario;
    for (uint32_t i = 0; i < s->job_count; i++) {
        sum_job(w, i);
    }
    uint64_t busy = 0;
    for (size_t i = 0; i < w->incs.count; i++) {
        const struct winc *inc = &w->incs.items[i];
        /* Those that have ended were counted when they did. */
        if (inc->used && inc->running) {
            busy += inc->world;
            w->gpu_ms_running += (uint64_t)(w->now_ms - inc->since_ms) * inc->world;
        }
    }
    MYR_ASSERT(busy == w->busy_gpus && w->gpu_ms_kept <= w->gpu_ms_running);
    MYR_ASSERT(r->done + r->failed + r->cancelled + r->running + r->waiting == r->submitted);
    MYR_ASSERT(r->wait_h.count == r->submitted);
    double sum = 0;
    /* Sorted before it is summed: the sum depends on the order. */
    sort(r->wait_h.items, r->wait_h.count);
    for (size_t i = 0; i < r->wait_h.count; i++) {
        sum += r->wait_h.items[i];
    }
    for (size_t i = 0; i < w->recoveries.count; i++) {
        myr_vec_push(&r->recovery_s, (double)w->recoveries.items[i] / 1e3);
    }
    sort(r->recovery_s.items, r->recovery_s.count);
    /* From the beginning to where the run ended. */
    double capacity = (double)s->shape.nodes * s->shape.gpus_per_node * (double)w->now_ms;
    r->end_ms = w->now_ms;
    r->wait_mean_h = r->wait_h.count > 0 ? sum / (double)r->wait_h.count : 0;
    r->wait_p50_h = part(r->wait_h.items, r->wait_h.count, 50);
    r->wait_p99_h = part(r->wait_h.items, r->wait_h.count, 99);
    r->recoveries = r->recovery_s.count;
    r->recovery_p50_s = part(r->recovery_s.items, r->recovery_s.count, 50);
    r->recovery_p99_s = part(r->recovery_s.items, r->recovery_s.count, 99);
    r->gpu_utilisation = capacity > 0 ? (double)w->gpu_ms_running / capacity : 0;
    r->goodput = capacity > 0 ? (double)w->gpu_ms_kept / capacity : 0;
    MYR_ASSERT(r->goodput <= r->gpu_utilisation);
    const uint64_t drawn[MYR_SCENARIO_LISTS] = {s->job_count,        w->faults_drawn,
                                                w->partitions_drawn, w->crashes_drawn,
                                                w->drains_drawn,     w->clocks_drawn};
    memcpy(r->drawn, drawn, sizeof(drawn));
    r->idle_gpu_h = (double)progress_idle_gpu_ms(w->progress) / 3600e3;
}

/* What was found, and the hash: of all that happened, what came behind the end too. */
static void judge(struct world *w)
{
    struct myr_twin_result *r = w->result;
    const struct check_report *report = check_report(w->check);
    r->violations = report->violations;
    static_assert((uint32_t)RULE_COUNT <= (uint32_t)MYR_TWIN_RULES, "room for all");
    for (uint32_t rule = 0; rule < RULE_COUNT; rule++) {
        if (report->by_rule[rule] > 0) {
            r->broken[r->broken_count].rule = rule_names[rule];
            r->broken[r->broken_count++].count = report->by_rule[rule];
        }
    }
    r->first_violation_ms = report->first_ms;
    r->first_rule = report->violations ? rule_names[report->first_rule] : NULL;
    memcpy(r->first_violation, report->first, sizeof(r->first_violation));
    r->hash = myr_hash_u64(r->hash ^ r->jobs_hash);
    if (w->seat.control) {
        r->hash = myr_hash_u64(r->hash ^ myr_control_hash(w->seat.control));
    }
}

/* Where the run ends while the controller is down: the state that its restart would begin with. */
static int save_state(const struct world *w, struct myr_err *err)
{
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *read_back = NULL;
    const struct myr_control *control = w->seat.control;
    if (!w->options->snapshot) {
        return MYR_OK;
    }
    if (!control) {
        MYR_TRY(seat_recover(&w->seat, &read_back, err));
        control = read_back;
    }
    MYR_ASSERT(control);
    myr_control_save(control, w->options->snapshot);
    return MYR_OK;
}

/* Later happenings are none of this run's; behind its end only jobs that are not over matter. */
static bool goes_on(const struct world *w, int64_t until_ms)
{
    return w->heap.count > 0 && w->heap.items[0].key <= until_ms && !(w->last && calm_is_over(w));
}

static void play(struct world *w, int64_t until_ms)
{
    const struct myr_twin_options *options = w->options;
    struct myr_heap_item item;
    uint64_t count = 0;
    while (!w->ended && goes_on(w, until_ms)) {
        (void)myr_heap_pop(&w->heap, &item);
        if (w->sample_ms > 0) {
            sample(w, item.key);
        }
        MYR_ASSERT(item.key >= w->now_ms); /* one after the other */
        w->now_ms = item.key;
        check_time(w->check, w->now_ms);
        take(w, (enum happening)(item.value >> 56), (uint32_t)item.value,
             (uint32_t)(item.value >> 32) & 0xffffff);
        /* Often enough to be seen, seldom enough to cost nothing. */
        if (options->progress && ++count % 4096 == 0) {
            options->progress(options->context, w->now_ms, w->scenario->length_ms);
        }
        if (options->stop_at_violation && check_report(w->check)->violations > 0) {
            w->result->stopped = w->ended = true;
        }
        w->ended =
            w->ended || (options->events_most > 0 && w->result->events >= options->events_most);
    }
    /* Time without happenings counts as well. */
    w->now_ms = w->ended || w->last ? w->now_ms : until_ms;
}

/* Summed up also where it broke off; a state is saved only of what ran to its end. */
static int play_out(struct world *w, struct myr_err *err)
{
    MYR_ASSERT(w->now_ms == 0 && w->line.up && w->jobs); /* the controller is there before all */
    nature_begin(w);
    happen_to(w, w->now_ms + 60000, HAP_LOOK, MYR_NONE);
    play(w, w->scenario->length_ms);
    sum_up(w);
    int rc = save_state(w, err);
    /* What a run says of itself ends with its time: whether all ends is asked in another. */
    if (w->scenario->calms.ends && !w->ended) {
        w->sample_ms = 0;
        calm_for_good(w);
        play(w, w->now_ms + LAST_MOST_MS);
    }
    judge(w);
    return rc;
}

int myr_twin_run(const struct myr_scenario *scenario, const struct myr_twin_options *options,
                 struct myr_twin_result *ret, struct myr_err *err)
{
    MYR_ASSERT(scenario && options && ret);
    struct world w = {.scenario = scenario,
                      .options = options,
                      .seed = options->seed,
                      .job_count = scenario->job_count,
                      .result = ret};
    *ret = (struct myr_twin_result){.seed = options->seed, .planted = options->planted};
    MYR_TRY(world_begin(&w, err));
    w.progress = progress_create(w.check, scenario);
    w.jobs = myr_xcalloc(w.job_count, sizeof(*w.jobs));
    w.job_of_id = myr_xcalloc(w.job_count, sizeof(uint32_t));
    w.sample_ms = options->samples > 0 ? scenario->length_ms / options->samples + 1 : 0;
    int rc = seat_begin(&w, err);
    if (rc == MYR_OK) {
        rc = play_out(&w, err);
    }
    seat_done(&w);
    world_done(&w);
    if (rc < 0) {
        myr_twin_result_done(ret);
    }
    return rc;
}

void myr_twin_result_done(struct myr_twin_result *result)
{
    myr_vec_done(&result->samples);
    myr_vec_done(&result->recovery_s);
    myr_vec_done(&result->wait_h);
}
