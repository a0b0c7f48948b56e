#include <stdio.h>

#include "sched.h"

static void put_replay(const struct myr_replay_result *result, double wall_s, struct myr_buf *buf)
{
    struct myr_json json;
    char hash[20];
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)result->hash);
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_u64(&json, "jobs", result->jobs);
    myr_json_object(&json, "wait_h");
    myr_json_double(&json, "mean", result->wait_mean_h, 4);
    myr_json_double(&json, "p50", result->wait_p50_h, 4);
    myr_json_double(&json, "p99", result->wait_p99_h, 4);
    myr_json_double(&json, "max", result->wait_max_h, 4);
    myr_json_end(&json);
    myr_json_object(&json, "wait_h_multinode");
    myr_json_double(&json, "mean", result->multinode_wait_mean_h, 4);
    myr_json_double(&json, "max", result->multinode_wait_max_h, 4);
    myr_json_end(&json);
    myr_json_object(&json, "jct_h");
    myr_json_double(&json, "mean", result->jct_mean_h, 4);
    myr_json_end(&json);
    myr_json_double(&json, "leaf_span", result->leaf_span, 4);
    myr_json_double(&json, "gpu_utilisation", result->gpu_utilisation, 4);
    myr_json_u64(&json, "preemptions", result->preemptions);
    myr_json_double(&json, "lost_gpu_hours_percent", result->lost_gpu_hours_percent, 4);
    myr_json_double(&json, "wall_s", wall_s, 3);
    myr_json_text(&json, "hash", hash);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void put_replay_text(const struct myr_replay_result *result, double wall_s,
                            struct myr_buf *buf)
{
    char jobs[32];
    myr_buf_printf(buf, "jobs          %s\n", myr_u64_grouped(result->jobs, jobs));
    myr_buf_printf(buf, "wait h        mean %.3f  p50 %.3f  p99 %.2f  max %.1f\n",
                   result->wait_mean_h, result->wait_p50_h, result->wait_p99_h, result->wait_max_h);
    myr_buf_printf(buf, "multi-node    mean %.2f  max %.1f\n", result->multinode_wait_mean_h,
                   result->multinode_wait_max_h);
    myr_buf_printf(buf, "leaf span     %.3f\n", result->leaf_span);
    myr_buf_printf(buf, "utilisation   %.3f\n", result->gpu_utilisation);
    myr_buf_printf(buf, "preemptions   %llu, %.2f %% of the GPU hours lost\n",
                   (unsigned long long)result->preemptions, result->lost_gpu_hours_percent);
    myr_buf_printf(buf, "took          %.3f s\n", wall_s);
}

/* 'preempt' is 'fair' with preemption; the others name the order. */
static struct myr_replay_options options_of(const struct cli_sched_question *question,
                                            const struct myr_place_shape *shape)
{
    struct myr_replay_options options = myr_replay_default(shape);
    options.policy.preempt = question->policy > MYR_ORDER_FAIR;
    options.policy.order =
        options.policy.preempt ? MYR_ORDER_FAIR : (enum myr_order)question->policy;
    options.jitter_s = (int64_t)question->jitter_s;
    options.seed = question->seed;
    return options;
}

int cli_sched_replay(const struct cli_sched_question *question, const char *path,
                     struct myr_buf *buf, struct myr_err *err)
{
    struct myr_joblog trace = {0};
    struct myr_place_shape shape;
    struct myr_replay_result result = {0};
    int r = cli_sched_shape(question, &shape, err);
    r = r < 0 ? r : myr_joblog_read(&trace, path, err);
    if (r < 0) {
        return r;
    }
    struct myr_replay_options options = options_of(question, &shape);
    int64_t start_ns = myr_clock_ns();
    r = myr_replay(&trace, &options, &result, err);
    double wall_s = (double)(myr_clock_ns() - start_ns) / 1e9;
    if (r == MYR_OK && question->format == MYR_FORMAT_JSON) {
        put_replay(&result, wall_s, buf);
    } else if (r == MYR_OK) {
        put_replay_text(&result, wall_s, buf);
    }
    myr_replay_result_done(&result);
    myr_joblog_done(&trace);
    return r;
}
