/*
 * The search against an exact one: branch and bound over leaves, written from the published cost in
 * request.h and sharing no code with the search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/request.h"
#include "rounds.h"

enum { NODES = 64, LEAVES = 64, CELLS = 16, CASES = TEST_ROUNDS(500), GROUPS = 64 };

struct exact {
    uint32_t leaves, leaf_nodes, leaves_per_pod, cells;
    uint32_t free[LEAVES], pod_free[LEAVES]; /* free nodes of leaves and pods */
    double penalty[LEAVES][NODES];           /* of the free nodes of a leaf, least first */
    bool ring;
    uint32_t group_count;
    struct {
        uint32_t size, cells[CELLS];
        double bytes;
    } groups[GROUPS];
    uint32_t of_count[CELLS], of[CELLS][GROUPS]; /* groups of a cell */
    double unit;
    uint32_t where[CELLS], take[LEAVES], pod_take[LEAVES];
    double best;
    uint64_t visited;
};

static uint32_t pod_of(const struct exact *e, uint32_t leaf)
{
    return leaf / e->leaves_per_pod;
}

/* The level of the members placed so far; at least 1 for a group of several nodes. */
static double level_of(const struct exact *e, uint32_t group, uint32_t placed)
{
    uint32_t first = UINT32_MAX;
    double level = 1;
    for (uint32_t m = 0; m < e->groups[group].size; m++) {
        uint32_t cell = e->groups[group].cells[m];
        if (cell >= placed) {
            continue;
        }
        if (first == UINT32_MAX) {
            first = e->where[cell];
        } else if (pod_of(e, first) != pod_of(e, e->where[cell])) {
            return 3;
        } else if (first != e->where[cell]) {
            level = 2;
        }
    }
    return level;
}

static double room_lost(double before, double taken, double size)
{
    double after = before - taken;
    return (before * before - after * after) / size;
}

/* What one more node of a leaf costs beside the groups. */
static double node_cost(const struct exact *e, uint32_t leaf)
{
    uint32_t pod = pod_of(e, leaf);
    double pod_size = (double)e->leaves_per_pod * e->leaf_nodes;
    double lost = 0.05 * (room_lost(e->free[leaf], e->take[leaf] + 1, e->leaf_nodes) -
                          room_lost(e->free[leaf], e->take[leaf], e->leaf_nodes)) +
                  0.02 * (room_lost(e->pod_free[pod], e->pod_take[pod] + 1, pod_size) -
                          room_lost(e->pod_free[pod], e->pod_take[pod], pod_size));
    return e->unit * (lost + e->penalty[leaf][e->take[leaf]]);
}

/* A leaf that looks like an earlier one of the same pod need not be tried as well. */
static bool repeats(const struct exact *e, uint32_t leaf)
{
    if (e->take[leaf] > 0) {
        return false;
    }
    for (uint32_t other = leaf - leaf % e->leaves_per_pod; other < leaf; other++) {
        bool alike = e->take[other] == 0 && e->free[other] == e->free[leaf];
        for (uint32_t i = 0; i < e->free[leaf] && alike; i++) {
            alike = e->penalty[other][i] == e->penalty[leaf][i];
        }
        if (alike) {
            return true;
        }
    }
    return false;
}

static void descend(struct exact *e, uint32_t cell, double cost)
{
    e->visited++;
    if (cell == e->cells) {
        double closing = 0;
        if (e->ring && e->cells > 1) {
            uint32_t a = e->where[cell - 1], b = e->where[0];
            closing = a == b ? 1 : pod_of(e, a) == pod_of(e, b) ? 2 : 3;
        }
        e->best = cost + closing < e->best ? cost + closing : e->best;
        return;
    }
    /* Along the topology only, for a ring. */
    for (uint32_t leaf = e->ring && cell ? e->where[cell - 1] : 0; leaf < e->leaves; leaf++) {
        if (e->take[leaf] == e->free[leaf] || (!e->ring && repeats(e, leaf))) {
            continue;
        }
        double more = node_cost(e, leaf);
        for (uint32_t i = 0; i < e->of_count[cell]; i++) {
            more -= e->groups[e->of[cell][i]].bytes * level_of(e, e->of[cell][i], cell);
        }
        e->where[cell] = leaf;
        for (uint32_t i = 0; i < e->of_count[cell]; i++) {
            more += e->groups[e->of[cell][i]].bytes * level_of(e, e->of[cell][i], cell + 1);
        }
        if (e->ring && cell) {
            uint32_t last = e->where[cell - 1];
            more += last == leaf ? 1 : pod_of(e, last) == pod_of(e, leaf) ? 2 : 3;
        }
        if (cost + more < e->best - 1e-9) {
            e->take[leaf]++;
            e->pod_take[pod_of(e, leaf)]++;
            descend(e, cell + 1, cost + more);
            e->take[leaf]--;
            e->pod_take[pod_of(e, leaf)]--;
        }
    }
}

struct drawn {
    struct myr_placer *placer;
    struct exact *exact;
    struct myr_arena arena;
    struct myr_job_traffic traffic;
    struct myr_request request;
};

static void fill(struct drawn *d, struct myr_rng *rng, const struct myr_place_shape *shape)
{
    struct exact *e = d->exact;
    uint32_t busy = 20 + myr_rng_below(rng, 60);
    bool penalties = myr_rng_below(rng, 3) == 0;
    for (uint32_t node = 0; node < shape->nodes; node++) {
        uint32_t leaf = node / shape->group_nodes;
        uint32_t milli = penalties && myr_rng_below(rng, 4) == 0 ? myr_rng_below(rng, 500) : 0;
        if (myr_rng_below(rng, 100) < busy) {
            myr_place_take(d->placer, node, 0xff);
            continue;
        }
        myr_placer_set_penalty(d->placer, node, milli);
        uint32_t at = e->free[leaf]++;
        e->pod_free[pod_of(e, leaf)]++;
        for (; at > 0 && e->penalty[leaf][at - 1] > milli / 1000.0; at--) {
            e->penalty[leaf][at] = e->penalty[leaf][at - 1];
        }
        e->penalty[leaf][at] = milli / 1000.0;
    }
}

/* Groups of a random grid with random bytes, for both. */
static void draw_layout(struct drawn *d, struct myr_rng *rng, uint32_t dp, uint32_t pp)
{
    struct exact *e = d->exact;
    struct myr_layout layout = myr_layout_default();
    layout.tp = 8;
    layout.dp = dp;
    layout.pp = pp;
    assert_int_equal(myr_job_traffic_of(&layout, NULL, 8, &d->arena, &d->traffic, NULL), MYR_OK);
    d->traffic.between_bytes = 0;
    for (uint32_t f = 0; f < d->traffic.family_count; f++) {
        struct myr_traffic_family *family = &d->traffic.families[f];
        family->bytes = 1 + myr_rng_below(rng, 1000);
        d->traffic.between_bytes += family->bytes * family->group_count;
    }
    d->request.traffic = &d->traffic;
    e->unit = d->traffic.between_bytes / e->cells;
    for (uint32_t f = 0; f < d->traffic.family_count; f++) {
        bool pipeline = d->traffic.families[f].axis == MYR_AXIS_PP;
        uint32_t groups = pipeline ? dp * (pp - 1) : pp;
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t group = e->group_count++;
            e->groups[group].bytes = d->traffic.families[f].bytes;
            e->groups[group].size = pipeline ? 2 : dp;
            for (uint32_t m = 0; m < e->groups[group].size; m++) {
                uint32_t cell = pipeline ? g + m * dp : g * dp + m;
                e->groups[group].cells[m] = cell;
                e->of[cell][e->of_count[cell]++] = group;
            }
        }
    }
}

static bool draw(struct drawn *d, struct myr_rng *rng)
{
    struct myr_place_shape shape = {.gpus_per_node = 8};
    struct exact *e = d->exact;
    shape.group_nodes = 2 + myr_rng_below(rng, 7);
    e->leaves_per_pod = 2 + myr_rng_below(rng, 3);
    shape.pod_nodes = shape.group_nodes * e->leaves_per_pod;
    uint32_t pods = 1 + myr_rng_below(rng, NODES / shape.pod_nodes);
    shape.nodes = pods * shape.pod_nodes;
    e->leaves = pods * e->leaves_per_pod;
    e->leaf_nodes = shape.group_nodes;
    d->placer = myr_placer_create(&shape);
    fill(d, rng, &shape);
    uint32_t dp = 1 + myr_rng_below(rng, 4), pp = 1 + myr_rng_below(rng, 4);
    e->cells = dp * pp;
    if (e->cells > 9 || myr_placer_free_nodes(d->placer) < e->cells) {
        return false;
    }
    d->request.nodes = e->cells;
    e->unit = 1;
    e->ring = e->cells == 1 || myr_rng_below(rng, 4) == 0;
    if (!e->ring) {
        draw_layout(d, rng, dp, pp);
    }
    return true;
}

static double groups_least(const struct exact *e)
{
    double sum = 0;
    for (uint32_t g = 0; g < e->group_count; g++) {
        sum += e->groups[g].bytes;
    }
    return sum;
}

static void placements_are_within_two_percent_of_an_exact_search(void **state)
{
    (void)state;
    struct myr_rng rng;
    double worst = 0, sum = 0;
    uint32_t done = 0, exactly = 0, within = 0;
    myr_rng_init(&rng, 2026, 0);
    while (done < CASES) {
        struct drawn d = {.exact = myr_xcalloc(1, sizeof(struct exact))};
        myr_arena_init(&d.arena);
        if (draw(&d, &rng)) {
            struct myr_share shares[CELLS];
            struct myr_placement found = {.gang.shares = shares};
            assert_true(myr_place_gang(d.placer, &d.request, &found));
            /* Started from what was found, so that only better ones are looked for. */
            d.exact->best = found.cost.total;
            descend(d.exact, 0, groups_least(d.exact));
            double off = found.cost.total > 0 ? found.cost.total / d.exact->best - 1 : 0;
            worst = off > worst ? off : worst;
            sum += off;
            exactly += off < 1e-9;
            within += off < 0.02;
            if (off >= 0.02) {
                print_message("case %u: %.2f %% above the exact cost, %u cells\n", done, 100 * off,
                              d.exact->cells);
            }
            done++;
        }
        myr_placer_free(d.placer);
        myr_arena_done(&d.arena);
        free(d.exact);
    }
    print_message("exact in %u of %u cases, within 2 %% in %u, mean %.3f %%, worst %.2f %%\n",
                  exactly, done, within, 100 * sum / done, 100 * worst);
    assert_true(sum / done < 0.001);
    assert_int_equal(within, done);
    assert_true(worst < 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placements_are_within_two_percent_of_an_exact_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
