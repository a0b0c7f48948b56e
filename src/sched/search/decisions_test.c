/*
 * What the search decides, gang by gang, over clusters and states drawn at random: cost, level,
 * leaves, pods, and a checksum of its nodes in rank order (tests/kept/sched-decisions.txt, and
 * sched-limits.txt). Others prove that it is near the best; here a rule of the search that goes
 * missing shows, even where what is found instead is as good.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sched/request.h"

enum { CASES = 260, ODD_CASES = 60, NODES_MAX = 1024, GANG_MAX = 512 };

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

static void put_one(struct drawn *d, uint32_t number, struct myr_gang *ret, struct myr_buf *story)
{
    struct myr_placement found = {.gang.shares = ret->shares};
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
        sum = myr_hash_u64(sum ^ ret->shares[i].node) ^ ret->shares[i].gpus;
    }
    ret->count = found.gang.count;
    myr_buf_printf(story, ": cost %.6g of %.6g, level %d, %u leaves, %u pods, nodes %016llx\n",
                   found.cost.total, myr_place_cost_best(d->placer, request), (int)found.cost.level,
                   found.cost.leaves, found.cost.pods, (unsigned long long)sum);
}

/* More of a cluster than its shape: domains, racks in rows, two kinds, leaves to leave alone. */
struct beside {
    uint32_t domain, unit_of[MYR_ZONE_COUNT][NODES_MAX];
    uint8_t kind[NODES_MAX];
    bool shut[NODES_MAX]; /* gone, or held for somebody */
    uint64_t taken[NODES_MAX];
};

static void draw_beside(struct drawn *d, struct beside *b, struct myr_rng *rng)
{
    uint32_t rack = 1 + myr_rng_below(rng, 6), row = rack * (1 + myr_rng_below(rng, 5));
    uint32_t leaves = (d->shape.nodes + d->shape.group_nodes - 1) / d->shape.group_nodes;
    uint32_t other = myr_rng_below(rng, 3) ? 0 : 30, dear = myr_rng_below(rng, 2) ? 0 : 40;
    b->domain = myr_rng_below(rng, 2) ? 1 + myr_rng_below(rng, d->shape.group_nodes) : 1;
    for (uint32_t node = 0; node < d->shape.nodes; node++) {
        b->unit_of[MYR_ZONE_RACK][node] = node / rack;
        b->unit_of[MYR_ZONE_ROW][node] = node / row;
        b->kind[node] = myr_rng_below(rng, 100) < other;
        b->shut[node] = myr_rng_below(rng, 20) == 0;
        if (b->shut[node] && myr_rng_below(rng, 2)) {
            myr_placer_set_node(d->placer, node, false);
        } else if (b->shut[node]) {
            myr_placer_hold(d->placer, node, true);
        }
        myr_placer_set_kind(d->placer, node, b->kind[node]);
    }
    myr_placer_set_domain(d->placer, b->domain);
    for (enum myr_zone zone = 0; zone < MYR_ZONE_COUNT; zone++) {
        myr_placer_set_zone(d->placer, zone, b->unit_of[zone]);
    }
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        if (myr_rng_below(rng, 100) < dear) {
            myr_placer_set_leaf_penalty(d->placer, leaf, myr_rng_below(rng, 700));
        }
    }
}

static void draw_limits(struct drawn *d, struct myr_rng *rng)
{
    struct myr_request *r = &d->request;
    const uint64_t *exclude = r->exclude;
    *r = (struct myr_request){.exclude = exclude};
    draw_request(d, rng);
    r->within = myr_rng_below(rng, 3) ? r->within : MYR_LEVEL_DOMAIN;
    for (enum myr_zone zone = 0; zone < MYR_ZONE_COUNT; zone++) {
        r->zone_max[zone] = myr_rng_below(rng, 4) ? 0 : 1 + myr_rng_below(rng, 8);
    }
    r->kind_given = myr_rng_below(rng, 4) == 0;
    r->kind = (uint8_t)myr_rng_below(rng, 2);
}

/* What was asked for holds, counted node by node. */
static void expect_limits(const struct drawn *d, struct beside *b, const struct myr_gang *gang)
{
    const struct myr_request *r = &d->request;
    const uint32_t per[] = {b->domain, d->shape.group_nodes, d->shape.pod_nodes, NODES_MAX};
    uint32_t in_leaf[NODES_MAX] = {}, in_zone[MYR_ZONE_COUNT][NODES_MAX] = {};
    for (uint32_t i = 0; i < gang->count; i++) {
        struct myr_share share = gang->shares[i];
        uint32_t leaf = share.node / d->shape.group_nodes;
        assert_int_equal(__builtin_popcountll(share.gpus), r->gpus_per_node ? r->gpus_per_node : 8);
        assert_int_equal(b->taken[share.node] & share.gpus, 0);
        b->taken[share.node] |= share.gpus;
        assert_false(b->shut[share.node]);
        assert_false(r->exclude && (r->exclude[share.node / 64] >> share.node % 64 & 1));
        assert_false(r->kind_given && b->kind[share.node] != r->kind);
        assert_true(++in_leaf[leaf] <= r->leaf_max || !r->leaf_max);
        for (enum myr_zone zone = 0; zone < MYR_ZONE_COUNT; zone++) {
            uint32_t count = ++in_zone[zone][b->unit_of[zone][share.node]];
            assert_true(count <= r->zone_max[zone] || !r->zone_max[zone]);
        }
        if (r->limited) {
            uint32_t first = gang->shares[0].node;
            assert_int_equal(share.node / per[r->within], first / per[r->within]);
            /* A domain that reaches over a leaf's edge counts as two. */
            assert_true(r->within > MYR_LEVEL_LEAF || leaf == first / d->shape.group_nodes);
        }
    }
}

/* How many nodes the request could have, counted without zones. */
static uint32_t naive_size(const struct drawn *d, const struct beside *b)
{
    const struct myr_request *r = &d->request;
    uint32_t gpus = r->gpus_per_node ? r->gpus_per_node : 8, in_leaf[NODES_MAX] = {}, sum = 0;
    uint32_t in_pod[NODES_MAX] = {}, most_leaf = 0, most_pod = 0, most_domain = 0, in_domain = 0;
    for (uint32_t node = 0; node < d->shape.nodes; node++) {
        uint32_t leaf = node / d->shape.group_nodes, pod = node / d->shape.pod_nodes;
        bool shut = b->shut[node] || (r->exclude && (r->exclude[node / 64] >> node % 64 & 1));
        bool may = !shut && !(r->kind_given && b->kind[node] != r->kind) &&
                   8 - (uint32_t)__builtin_popcountll(b->taken[node]) >= gpus;
        if (node % b->domain == 0 || node % d->shape.group_nodes == 0) {
            in_domain = 0;
        }
        if (may && (!r->leaf_max || in_leaf[leaf] < r->leaf_max)) {
            in_leaf[leaf]++;
            in_pod[pod]++;
            sum++;
        }
        in_domain += may && (!r->leaf_max || in_domain < r->leaf_max);
        most_domain = in_domain > most_domain ? in_domain : most_domain;
        most_leaf = in_leaf[leaf] > most_leaf ? in_leaf[leaf] : most_leaf;
        most_pod = in_pod[pod] > most_pod ? in_pod[pod] : most_pod;
    }
    uint32_t most[] = {most_domain, most_leaf, most_pod, sum};
    uint32_t size = most[r->limited ? r->within : MYR_LEVEL_CORE];
    return size < r->nodes ? size : r->nodes;
}

static void give_back(struct drawn *d, struct beside *b, struct myr_gang *gang)
{
    for (uint32_t i = 0; i < gang->count; i++) {
        b->taken[gang->shares[i].node] &= ~gang->shares[i].gpus;
    }
    myr_release(d->placer, gang);
    gang->count = 0;
}

/* One gang after the other in one cluster: what a search leaves behind would show in the next. */
static void what_is_decided_under_limits_and_after_others(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    struct myr_rng rng;
    for (uint32_t number = 0; number < ODD_CASES; number++) {
        struct drawn *d = myr_xcalloc(1, sizeof(*d));
        struct beside *b = myr_xcalloc(1, sizeof(*b));
        struct myr_share shares[4][GANG_MAX];
        struct myr_gang gangs[4] = {{0, shares[0]}, {0, shares[1]}, {0, shares[2]}, {0, shares[3]}};
        myr_rng_init(&rng, 412, number);
        myr_arena_init(&d->arena);
        draw_shape(d, &rng, number % 2);
        draw_beside(d, b, &rng);
        fill(d, &rng);
        for (uint32_t node = 0; node < d->shape.nodes; node++) {
            b->taken[node] = 0xff & ~myr_placer_free_mask(d->placer, node);
        }
        myr_buf_printf(&story, "%u: %u nodes by %u by %u by %u\n", number, d->shape.nodes,
                       b->domain, d->shape.group_nodes, d->shape.pod_nodes);
        for (uint32_t step = 0; step < 6; step++) {
            struct myr_gang *gang = &gangs[step % 4];
            give_back(d, b, gang);
            draw_limits(d, &rng);
            uint32_t size = myr_request_size(d->placer, &d->request);
            if (!d->request.zone_max[MYR_ZONE_RACK] && !d->request.zone_max[MYR_ZONE_ROW]) {
                assert_int_equal(size, naive_size(d, b));
            }
            put_one(d, step, gang, &story);
            assert_int_equal(gang->count, size == d->request.nodes ? size : 0);
            expect_limits(d, b, gang);
        }
        myr_placer_free(d->placer);
        myr_arena_done(&d->arena);
        free(d);
        free(b);
    }
    assert_kept("sched-limits.txt", &story);
}

static void what_the_search_decides(void **state)
{
    (void)state;
    struct myr_share shares[GANG_MAX];
    struct myr_gang gang = {0, shares};
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    struct myr_rng rng;
    for (uint32_t number = 0; number < CASES; number++) {
        struct drawn *d = myr_xcalloc(1, sizeof(*d));
        myr_rng_init(&rng, 411, number);
        myr_arena_init(&d->arena);
        draw_shape(d, &rng, number);
        fill(d, &rng);
        draw_request(d, &rng);
        put_one(d, number, &gang, &story);
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
        cmocka_unit_test(what_is_decided_under_limits_and_after_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
