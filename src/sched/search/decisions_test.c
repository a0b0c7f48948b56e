/*
 * What the search decides, gang by gang, over clusters and states drawn at random: cost, level,
 * leaves, pods, and a checksum of its nodes in rank order (tests/kept/sched-decisions.txt). Others
 * prove that it is near the best; here a rule of the search that goes missing shows, even where
 * what is found instead is as good.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sched/request.h"

enum { CASES = 260, NODES_MAX = 1024, GANG_MAX = 512 };

struct drawn {
    struct myr_place_shape shape;
    struct myr_placer *placer;
    struct myr_arena arena;
    struct myr_job_traffic traffic;
    struct myr_request request;
    uint64_t exclude[NODES_MAX / 64];
};

/* Small ones are searched more thoroughly than large ones: a third each. */
static void draw_shape(struct drawn *d, struct myr_rng *rng, uint32_t number)
{
    static const uint32_t most[] = {64, 256, NODES_MAX};
    uint32_t group = 1 + myr_rng_below(rng, 16), per_pod = 1 + myr_rng_below(rng, 6);
    uint32_t pods = most[number % 3] / (group * per_pod);
    pods = pods < 2 ? 1 : 1 + myr_rng_below(rng, pods < 40 ? pods : 40);
    d->shape = (struct myr_place_shape){.nodes = pods * group * per_pod,
                                        .gpus_per_node = 8,
                                        .group_nodes = group,
                                        .pod_nodes = group * per_pod};
    d->placer = myr_placer_create(&d->shape);
}

/* Nodes that are full, half full, shut, or better left alone. */
static void fill(struct drawn *d, struct myr_rng *rng)
{
    uint32_t busy = myr_rng_below(rng, 70), odd = myr_rng_below(rng, 30);
    bool blocks = myr_rng_below(rng, 2) == 0;
    bool full = false;
    for (uint32_t node = 0; node < d->shape.nodes; node++) {
        if (!blocks || node % (1 + d->shape.group_nodes / 2) == 0) {
            full = myr_rng_below(rng, 100) < busy;
        }
        if (full) {
            myr_place_take(d->placer, node, 0xff);
        } else if (myr_rng_below(rng, 100) < odd) {
            switch (myr_rng_below(rng, 3)) {
            case 0:
                myr_place_take(d->placer, node, 1ULL << myr_rng_below(rng, 8));
                break;
            case 1:
                myr_placer_set_penalty(d->placer, node, myr_rng_below(rng, 900));
                break;
            default:
                d->exclude[node / 64] |= 1ULL << node % 64;
                d->request.exclude = d->exclude;
            }
        }
    }
}

static bool draw_traffic(struct drawn *d, struct myr_rng *rng, uint32_t free_nodes)
{
    struct myr_layout layout = myr_layout_default();
    uint32_t most = free_nodes < GANG_MAX ? free_nodes : GANG_MAX;
    layout.tp = 8;
    layout.dp = 1U << myr_rng_below(rng, 6);
    layout.pp = 1U << myr_rng_below(rng, 5);
    layout.cp = 1U << myr_rng_below(rng, 2);
    d->request.nodes = layout.dp * layout.pp * layout.cp;
    if (d->request.nodes > most ||
        myr_job_traffic_of(&layout, NULL, 8, &d->arena, &d->traffic, NULL) < 0) {
        return false;
    }
    d->traffic.between_bytes = 0;
    for (uint32_t f = 0; f < d->traffic.family_count; f++) {
        struct myr_traffic_family *family = &d->traffic.families[f];
        family->bytes = 1 + myr_rng_below(rng, 1000);
        d->traffic.between_bytes += family->bytes * family->group_count;
    }
    d->request.traffic = &d->traffic;
    return true;
}

static void draw_request(struct drawn *d, struct myr_rng *rng)
{
    uint32_t free_nodes = myr_placer_free_nodes(d->placer);
    if (myr_rng_below(rng, 4) == 0 || !draw_traffic(d, rng, free_nodes)) {
        d->request.nodes = 1 + myr_rng_below(rng, free_nodes + 1);
        d->request.nodes = d->request.nodes < GANG_MAX ? d->request.nodes : GANG_MAX;
        d->request.gpus_per_node = myr_rng_below(rng, 3) ? 0 : 1 + myr_rng_below(rng, 8);
    }
    if (myr_rng_below(rng, 6) == 0) {
        d->request.limited = true;
        d->request.within = (enum myr_level)(MYR_LEVEL_LEAF + myr_rng_below(rng, 3));
    }
    if (myr_rng_below(rng, 6) == 0) {
        d->request.leaf_max = 1 + myr_rng_below(rng, d->shape.group_nodes);
    }
}

static void put_one(struct drawn *d, uint32_t number, struct myr_buf *story)
{
    static struct myr_share shares[NODES_MAX];
    struct myr_placement found = {.gang.shares = shares};
    const struct myr_request *request = &d->request;
    myr_buf_printf(story, "%u: %u nodes by %u by %u, %u free, asks %u", number, d->shape.nodes,
                   d->shape.group_nodes, d->shape.pod_nodes, myr_placer_free_nodes(d->placer),
                   request->nodes);
    uint32_t size = myr_request_size(d->placer, request);
    if (!myr_place_gang(d->placer, request, &found)) {
        myr_buf_printf(story, ": no, %u would fit\n", size);
        return;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < found.gang.count; i++) {
        sum = myr_hash_u64(sum ^ shares[i].node) ^ shares[i].gpus;
    }
    myr_buf_printf(story, ": cost %.6g of %.6g, level %d, %u leaves, %u pods, nodes %016llx\n",
                   found.cost.total, myr_place_cost_best(d->placer, request), (int)found.cost.level,
                   found.cost.leaves, found.cost.pods, (unsigned long long)sum);
}

static void what_the_search_decides(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    struct myr_rng rng;
    for (uint32_t number = 0; number < CASES; number++) {
        struct drawn *d = myr_xcalloc(1, sizeof(*d));
        myr_rng_init(&rng, 411, number);
        myr_arena_init(&d->arena);
        draw_shape(d, &rng, number);
        fill(d, &rng);
        draw_request(d, &rng);
        put_one(d, number, &story);
        myr_placer_free(d->placer);
        myr_arena_done(&d->arena);
        free(d);
    }
    assert_kept("sched-decisions.txt", &story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_search_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
