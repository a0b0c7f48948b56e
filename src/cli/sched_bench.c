#include <stdlib.h>

#include "sched.h"

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

int cli_sched_bench(const struct cli_sched_question *question, struct myr_buf *buf,
                    struct myr_err *err)
{
    static const struct myr_column columns[] = {
        {"gang_nodes", "GANG NODES", MYR_COLUMN_NUMBER}, {"placed", "PLACED", MYR_COLUMN_NUMBER},
        {"p50_us", "P50 us", MYR_COLUMN_NUMBER},         {"p99_us", "P99 us", MYR_COLUMN_NUMBER},
        {"max_us", "MAX us", MYR_COLUMN_NUMBER},
    };
    static const uint32_t sizes[SIZES] = {1, 8, 32, 128, 512, 1024};
    struct myr_place_shape shape;
    int r = cli_sched_shape(question, &shape, err);
    if (r < 0) {
        return r;
    }
    struct myr_arena arena;
    struct myr_table table;
    struct myr_rng rng;
    struct myr_placer *placer = myr_placer_create(&shape);
    struct held_gang *held = myr_xcalloc((size_t)shape.nodes * shape.gpus_per_node, sizeof(*held));
    myr_rng_init(&rng, question->seed, 0);
    myr_arena_init(&arena);
    myr_table_init(&table, &arena, columns, MYR_ARRAY_COUNT(columns));
    uint32_t count = fill(placer, &shape, &rng, held, shape.nodes * 2);
    for (uint32_t i = 0; i < SIZES; i++) {
        if (sizes[i] <= shape.nodes) {
            time_size(placer, sizes[i], shape.gpus_per_node, &table);
        }
    }
    myr_table_write(&table, (enum myr_format)question->format, buf);
    for (uint32_t i = 0; i < count; i++) {
        free(held[i].gang.shares);
    }
    free(held);
    myr_placer_free(placer);
    myr_table_done(&table);
    myr_arena_done(&arena);
    return MYR_OK;
}
