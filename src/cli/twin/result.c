/*
 * What a run came to, for programs and for people. 'run', 'replay' and 'search' tell it alike,
 * under the same keys.
 */
#include <stdio.h>

#include "twin/twin.h"

/* In seconds, as the bar's total was set. */
void twin_progress(void *context, int64_t now_ms, int64_t length_ms)
{
    struct myr_progress *progress = context;
    (void)length_ms;
    cli_progress_step(progress, (uint64_t)(now_ms / 1000));
}

/* Of the longest jobs: the share of their time that was of use. */
static void put_long_jobs(struct myr_answer *answer, const struct myr_twin_result *r)
{
    myr_answer_list(answer, "ettr");
    for (uint32_t i = 0; i < r->long_count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "job", r->longest[i].job);
        myr_answer_u64(answer, "gpus", r->longest[i].gpus);
        myr_answer_double(answer, "hours", r->longest[i].hours, 3);
        myr_answer_u64(answer, "failures", r->longest[i].failures);
        myr_answer_double(answer, "ettr", r->longest[i].ettr, 4);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

static void put_count(struct myr_answer *answer, const char *what, uint64_t count)
{
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "what", what);
    myr_answer_u64(answer, "count", count);
    myr_answer_end(answer);
}

/* What the scenario has done to the cluster: the list that the answer is about, and its CSV. */
static struct myr_value *put_nature(struct myr_answer *answer, const struct myr_twin_result *r)
{
    struct myr_value *list = myr_answer_list(answer, "happened");
    put_count(answer, "faults", r->faults);
    put_count(answer, "controller crashes", r->crashes);
    put_count(answer, "partitions", r->partitions);
    put_count(answer, "fences", r->fences);
    put_count(answer, "repairs", r->repairs);
    put_count(answer, "drains", r->drains);
    put_count(answer, "clock steps", r->clock_steps);
    put_count(answer, "holds", r->holds);
    put_count(answer, "weights", r->weights);
    put_count(answer, "levers", r->levers);
    put_count(answer, "questions", r->questions);
    put_count(answer, "symptoms", r->symptoms);
    put_count(answer, "calms", r->calms);
    put_count(answer, "messages", r->messages);
    put_count(answer, "messages lost", r->messages_lost);
    put_count(answer, "messages twice", r->messages_twice);
    put_count(answer, "messages late", r->messages_late);
    myr_answer_end(answer);
    return list;
}

/* How often each rule was broken; none that held. */
static void put_broken(struct myr_answer *answer, const struct myr_twin_result *r)
{
    myr_answer_list(answer, "broken");
    for (uint32_t i = 0; i < r->broken_count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "rule", r->broken[i].rule);
        myr_answer_u64(answer, "count", r->broken[i].count);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* Keys of one run, in the object that is open: of a run, of a replay, of a case that was found. */
struct myr_value *twin_put_result(struct myr_answer *answer, const struct myr_twin_result *r)
{
    char hash[20];
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)r->hash);
    myr_answer_u64(answer, "seed", r->seed);
    myr_answer_double(answer, "sim_days", (double)r->end_ms / 86400e3, 4);
    myr_answer_u64(answer, "events", r->events);
    myr_answer_u64(answer, "effects", r->effects);
    myr_answer_object(answer, "jobs");
    myr_answer_u64(answer, "submitted", r->submitted);
    myr_answer_u64(answer, "done", r->done);
    myr_answer_u64(answer, "failed", r->failed);
    myr_answer_u64(answer, "cancelled", r->cancelled);
    myr_answer_u64(answer, "running", r->running);
    myr_answer_u64(answer, "waiting", r->waiting);
    myr_answer_u64(answer, "lost", r->lost);
    myr_answer_end(answer);
    myr_answer_object(answer, "wait_h");
    myr_answer_double(answer, "mean", r->wait_mean_h, 4);
    myr_answer_double(answer, "p50", r->wait_p50_h, 4);
    myr_answer_double(answer, "p99", r->wait_p99_h, 4);
    myr_answer_end(answer);
    myr_answer_double(answer, "gpu_utilisation", r->gpu_utilisation, 4);
    myr_answer_double(answer, "goodput", r->goodput, 4);
    myr_answer_double(answer, "idle_gpu_h", r->idle_gpu_h, 3);
    put_long_jobs(answer, r);
    myr_answer_u64(answer, "failures", r->failures);
    myr_answer_object(answer, "recovery_s");
    myr_answer_u64(answer, "count", r->recoveries);
    myr_answer_double(answer, "p50", r->recovery_p50_s, 1);
    myr_answer_double(answer, "p99", r->recovery_p99_s, 1);
    myr_answer_end(answer);
    struct myr_value *list = put_nature(answer, r);
    myr_answer_u64(answer, "journal_compares", r->compares);
    myr_answer_u64(answer, "invariant_violations", r->violations);
    put_broken(answer, r);
    if (r->violations) {
        myr_answer_object(answer, "first_violation");
        myr_answer_text(answer, "rule", r->first_rule);
        myr_answer_double(answer, "at_s", (double)r->first_violation_ms / 1e3, 3);
        myr_answer_text(answer, "what", r->first_violation);
        myr_answer_end(answer);
    } else {
        myr_answer_null(answer, "first_violation");
    }
    myr_answer_text(answer, "hash", hash);
    return list;
}

void twin_show_result(struct myr_answer *answer, const struct myr_twin_result *r)
{
    const char *faults = MYR_COUNT(r->faults, "fault"), *failures = MYR_COUNT(r->failures, "time");
    myr_answer_fact(answer, "simulated", "%.2f days, %s", (double)r->end_ms / 86400e3,
                    MYR_COUNT(r->events, "event"));
    myr_answer_fact(answer, "jobs",
                    "%s submitted, %s done, %s running, %s waiting, %s failed, %s cancelled",
                    MYR_GROUPED(r->submitted), MYR_GROUPED(r->done), MYR_GROUPED(r->running),
                    MYR_GROUPED(r->waiting), MYR_GROUPED(r->failed), MYR_GROUPED(r->cancelled));
    myr_answer_fact(answer, "wait", "mean %.3f h, median %.3f h, p99 %.2f h", r->wait_mean_h,
                    r->wait_p50_h, r->wait_p99_h);
    myr_answer_fact(answer, "utilisation", "%.1f %% of the GPU time, %.1f %% kept",
                    100 * r->gpu_utilisation, 100 * r->goodput);
    /* Only a job that came back has a time of recovery. */
    if (r->recoveries > 0) {
        myr_answer_fact(answer, "failures",
                        "%s stopped jobs %s; back after %.0f s (median), %.0f s (p99)", faults,
                        failures, r->recovery_p50_s, r->recovery_p99_s);
    } else if (r->failures > 0) {
        myr_answer_fact(answer, "failures", "%s stopped jobs %s; none was back", faults, failures);
    } else if (r->faults > 0) {
        myr_answer_fact(answer, "failures", "%s stopped no job", faults);
    } else {
        myr_answer_fact(answer, "failures", "none");
    }
    myr_answer_fact(answer, "also", "%s, %s, %s, %s, %s, %s",
                    MYR_COUNT(r->crashes, "controller crash"),
                    MYR_COUNT(r->partitions, "partition"), MYR_COUNT(r->fences, "fence"),
                    MYR_COUNT(r->repairs, "repair"), MYR_COUNT(r->drains, "drain"),
                    MYR_COUNT(r->clock_steps, "clock step"));
    /* Three are enough for a page; programs have all that were kept. */
    for (uint32_t i = 0; i < r->long_count && i < 3; i++) {
        myr_answer_fact(answer, i == 0 ? "useful time" : "", "%.2f %% of %.1f h, job of %s",
                        100 * r->longest[i].ettr, r->longest[i].hours,
                        MYR_COUNT(r->longest[i].gpus, "GPU"));
    }
    if (r->violations) {
        myr_answer_fact(answer, "BROKEN", "%s; first after %.1f s, %s: %s",
                        MYR_COUNT(r->violations, "time"), (double)r->first_violation_ms / 1e3,
                        r->first_rule, r->first_violation);
    } else {
        myr_answer_fact(answer, "invariants", "all held; state and journal compared %s",
                        MYR_COUNT(r->compares, "time"));
    }
    myr_answer_fact(answer, "hash", "%016llx", (unsigned long long)r->hash);
}
