#include "myriad/sched.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

static const char *const orders[] = {"fifo", "skip", "fair"};

static struct {
    uint32_t format, order;
    const char *design;
    uint64_t nodes, gpus_per_node, leaf_nodes, seed;
} options = {.order = MYR_ORDER_FAIR, .nodes = 96, .gpus_per_node = 8, .leaf_nodes = 8, .seed = 1};

static const struct myr_option option_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = MYR_OPTION_CHOICE,
     .value = "FORMAT",
     .help = "how to print the result",
     .target = &options.format,
     .choices = myr_format_names,
     .choice_count = MYR_FORMAT_COUNT},
    {.name = "design",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "the cluster; or say it with the next three",
     .target = &options.design},
    {.name = "nodes",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "nodes",
     .target = &options.nodes,
     .min = 1,
     .max = 1000000},
    {.name = "gpus-per-node",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "GPUs of a node",
     .target = &options.gpus_per_node,
     .min = 1,
     .max = MYR_SCHED_GPUS_MAX},
    {.name = "leaf-nodes",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "nodes under one set of leaves",
     .target = &options.leaf_nodes,
     .min = 1,
     .max = 1000000},
    {.name = "policy",
     .type = MYR_OPTION_CHOICE,
     .value = "POLICY",
     .help = "who goes next",
     .target = &options.order,
     .choices = orders,
     .choice_count = MYR_ARRAY_COUNT(orders)},
    {.name = "seed",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "of the bench's churn",
     .target = &options.seed},
};

const struct myr_command *cli_sched_command(void)
{
    static const struct myr_command command = {
        .name = "sched",
        .operands = "replay TRACE | bench",
        .summary = "replay a trace of jobs, or measure placement",
        .details = "replay runs a CSV of jobs (submit_s, duration_s, num_gpus, vc) through the "
                   "queue in virtual time. bench fills the cluster to 95 % with churn and times "
                   "gangs of several sizes. The policy never knows durations.",
        .example = "myriad sched replay jobs.csv --nodes 96 --leaf-nodes 8",
        .options = option_rows,
        .option_count = MYR_ARRAY_COUNT(option_rows),
        .operand_min = 1,
        .operand_max = 2,
    };
    return &command;
}

static int shape_of(struct myr_place_shape *ret, struct myr_err *err)
{
    if (!options.design) {
        *ret = (struct myr_place_shape){(uint32_t)options.nodes, (uint32_t)options.gpus_per_node,
                                        (uint32_t)options.leaf_nodes, (uint32_t)options.nodes};
        return MYR_OK;
    }
    struct myr_design design = {0};
    int r = myr_design_open(&design, options.design, err);
    if (r == MYR_OK) {
        *ret = myr_place_shape_of(&design);
    }
    myr_design_close(&design);
    if (r == MYR_OK && ret->gpus_per_node > MYR_SCHED_GPUS_MAX) {
        r = myr_err_set(err, MYR_ERANGE, "nodes with more than %d GPUs", MYR_SCHED_GPUS_MAX);
    }
    return r;
}

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
    myr_json_u64(&json, "preemptions", 0);
    myr_json_double(&json, "lost_gpu_hours_percent", 0, 2);
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
    myr_buf_printf(buf, "took          %.3f s\n", wall_s);
}

static int replay(const char *path, struct myr_buf *buf, struct myr_err *err)
{
    struct myr_joblog trace = {0};
    struct myr_place_shape shape;
    struct myr_replay_result result;
    int r = shape_of(&shape, err);
    r = r < 0 ? r : myr_joblog_read(&trace, path, err);
    if (r < 0) {
        return r;
    }
    struct myr_replay_options replay_options = myr_replay_default(&shape);
    replay_options.order = (enum myr_order)options.order;
    int64_t start = myr_clock_ns();
    r = myr_replay(&trace, &replay_options, &result, err);
    double wall_s = (double)(myr_clock_ns() - start) / 1e9;
    if (r == MYR_OK && options.format == MYR_FORMAT_JSON) {
        put_replay(&result, wall_s, buf);
    } else if (r == MYR_OK) {
        put_replay_text(&result, wall_s, buf);
    }
    myr_joblog_done(&trace);
    return r;
}

/* A running gang of the bench. */
struct held_gang {
    struct myr_gang gang;
};

enum { BENCH_ROUNDS = 400, FILL_PERCENT = 95, SIZES = 6 };

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Small gangs until the cluster is full enough, then as many leave and come again: churn. */
static uint32_t fill(struct myr_placer *placer, const struct myr_place_shape *shape,
                     struct myr_rng *rng, struct held_gang *held, uint32_t room)
{
    uint32_t target =
        (uint32_t)((uint64_t)shape->nodes * shape->gpus_per_node * (100 - FILL_PERCENT) / 100);
    uint32_t count = 0;
    for (uint32_t step = 0; step < room * 3; step++) {
        if (myr_placer_free_gpus(placer) > target && count < room) {
            uint32_t gpus = 1U << myr_rng_below(rng, 7); /* 1 to 64 */
            struct myr_gang gang = {
                0, myr_xcalloc(myr_place_nodes(placer, gpus), sizeof(struct myr_share))};
            if (myr_place(placer, gpus, &gang)) {
                held[count++].gang = gang;
            } else {
                free(gang.shares);
            }
        } else if (count > 0) {
            uint32_t leaves = myr_rng_below(rng, count);
            myr_release(placer, &held[leaves].gang);
            free(held[leaves].gang.shares);
            held[leaves] = held[--count];
        }
    }
    return count;
}

static void time_size(struct myr_placer *placer, uint32_t nodes, uint32_t gpus_per_node,
                      struct myr_table *table)
{
    int64_t times[BENCH_ROUNDS];
    uint32_t placed = 0;
    struct myr_gang gang = {0, myr_xcalloc(nodes, sizeof(struct myr_share))};
    for (uint32_t i = 0; i < BENCH_ROUNDS; i++) {
        int64_t start = myr_clock_ns();
        bool done = myr_place(placer, nodes * gpus_per_node, &gang);
        times[i] = myr_clock_ns() - start;
        placed += done;
        if (done) {
            myr_release(placer, &gang);
        }
    }
    qsort(times, BENCH_ROUNDS, sizeof(*times), by_time);
    myr_table_u64(table, nodes);
    myr_table_u64(table, placed);
    myr_table_double(table, (double)times[BENCH_ROUNDS / 2] / 1000, 2);
    myr_table_double(table, (double)times[BENCH_ROUNDS * 99 / 100] / 1000, 2);
    myr_table_double(table, (double)times[BENCH_ROUNDS - 1] / 1000, 2);
    free(gang.shares);
}

static int bench(struct myr_buf *buf, struct myr_err *err)
{
    static const struct myr_column columns[] = {
        {"gang_nodes", "GANG NODES", MYR_COLUMN_NUMBER}, {"placed", "PLACED", MYR_COLUMN_NUMBER},
        {"p50_us", "P50 us", MYR_COLUMN_NUMBER},         {"p99_us", "P99 us", MYR_COLUMN_NUMBER},
        {"max_us", "MAX us", MYR_COLUMN_NUMBER},
    };
    static const uint32_t sizes[SIZES] = {1, 8, 32, 128, 512, 1024};
    struct myr_place_shape shape;
    int r = shape_of(&shape, err);
    if (r < 0) {
        return r;
    }
    struct myr_arena arena;
    struct myr_table table;
    struct myr_rng rng;
    struct myr_placer *placer = myr_placer_create(&shape);
    struct held_gang *held = myr_xcalloc((size_t)shape.nodes * shape.gpus_per_node, sizeof(*held));
    myr_rng_init(&rng, options.seed, 0);
    myr_arena_init(&arena);
    myr_table_init(&table, &arena, columns, MYR_ARRAY_COUNT(columns));
    uint32_t count = fill(placer, &shape, &rng, held, shape.nodes * 2);
    for (uint32_t i = 0; i < SIZES; i++) {
        if (sizes[i] <= shape.nodes) {
            time_size(placer, sizes[i], shape.gpus_per_node, &table);
        }
    }
    myr_table_write(&table, (enum myr_format)options.format, buf);
    for (uint32_t i = 0; i < count; i++) {
        free(held[i].gang.shares);
    }
    free(held);
    myr_placer_free(placer);
    myr_table_done(&table);
    myr_arena_done(&arena);
    return MYR_OK;
}

int cli_sched(const struct myr_operands *operands)
{
    struct myr_buf buf = {0};
    struct myr_err err = {0};
    const char *word = operands->items[0];
    int r;
    if (strcmp(word, "replay") == 0 && operands->count == 2) {
        r = replay(operands->items[1], &buf, &err);
    } else if (strcmp(word, "bench") == 0 && operands->count == 1) {
        r = bench(&buf, &err);
    } else {
        r = myr_err_set(&err, MYR_EINVAL, "'sched %.40s' is not understood; replay TRACE or bench",
                        word);
        myr_err_hint(&err, "myriad sched --help");
    }
    int code = r < 0 ? cli_error(&err) : cli_print(&buf);
    myr_buf_done(&buf);
    return code;
}
