/*
 * Rank order against what schedulers do today: the nodes of a best fit, ranks in node order.
 *
 * Two baselines. 'Tight' is best fit as textbooks have it: the lowest level that holds the gang,
 * there the leaves with least room first, so that large gaps are kept. 'Tree' is what Slurm's
 * topology/tree does in short: the freest leaves first, and the last few nodes where they just fit;
 * fewer leaves, so harder to beat. Ranks follow the node names, in Megatron's order tp-dp-pp. All
 * price their placement by the published cost of request.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/request.h"

enum { SEEDS = 100, NODES = 1280, LEAVES_MAX = 128, JOBS_MAX = 4096 };

enum fit { FIT_TIGHT, FIT_TREE };

struct cluster {
    enum fit fit;
    struct myr_placer *placer;
    struct myr_place_shape shape;
    struct myr_gang jobs[JOBS_MAX];
    uint32_t count;
};

/* Best fit over one range of leaves; what a tree scheduler does at the level that fits. */
static void best_fit(const struct cluster *c, uint32_t first, uint32_t end, uint32_t wanted,
                     struct myr_gang *ret)
{
    const struct myr_placer *p = c->placer;
    uint32_t free_nodes[LEAVES_MAX] = {0}, taken[LEAVES_MAX] = {0};
    uint32_t per = c->shape.group_nodes;
    for (uint32_t node = first * per; node < end * per; node++) {
        free_nodes[node / per] += myr_placer_free_mask(p, node) == 0xff;
    }
    while (wanted > 0) {
        uint32_t best = MYR_NONE, next = MYR_NONE;
        for (uint32_t leaf = first; leaf < end; leaf++) {
            uint32_t left = taken[leaf] ? 0 : free_nodes[leaf];
            bool holds = left >= wanted;
            best = holds && (best == MYR_NONE || left < free_nodes[best]) ? leaf : best;
            bool better = next == MYR_NONE || (c->fit == FIT_TIGHT) == (left < free_nodes[next]);
            next = left > 0 && better ? leaf : next;
        }
        uint32_t leaf = best == MYR_NONE ? next : best;
        assert_true(leaf != MYR_NONE);
        uint32_t count = free_nodes[leaf] < wanted ? free_nodes[leaf] : wanted;
        taken[leaf] = count;
        wanted -= count;
    }
    ret->count = 0;
    for (uint32_t node = first * per; node < end * per; node++) {
        if (taken[node / per] && myr_placer_free_mask(p, node) == 0xff) {
            taken[node / per]--;
            ret->shares[ret->count++] = (struct myr_share){node, 0xff};
        }
    }
}

/* In node order: shares are ranks. False when the gang does not fit at all. */
static bool baseline(const struct cluster *c, uint32_t nodes, struct myr_gang *ret)
{
    const struct myr_placer *p = c->placer;
    uint32_t per = c->shape.group_nodes, pod_nodes = c->shape.pod_nodes;
    uint32_t best_pod = MYR_NONE, best_free = 0;
    if (myr_placer_free_nodes(p) < nodes) {
        return false;
    }
    for (uint32_t pod = 0; pod < NODES / pod_nodes; pod++) {
        uint32_t count = 0;
        for (uint32_t node = pod * pod_nodes; node < (pod + 1) * pod_nodes; node++) {
            count += myr_placer_free_mask(p, node) == 0xff;
        }
        if (count >= nodes && (best_pod == MYR_NONE || count < best_free)) {
            best_pod = pod;
            best_free = count;
        }
    }
    uint32_t first = best_pod == MYR_NONE ? 0 : best_pod * (pod_nodes / per);
    uint32_t end = best_pod == MYR_NONE ? NODES / per : first + pod_nodes / per;
    best_fit(c, first, end, nodes, ret);
    return true;
}

static uint32_t job_nodes(struct myr_rng *rng)
{
    /* Most jobs are small and of any size, a few are large. */
    uint32_t draw = myr_rng_below(rng, 100);
    return draw < 50   ? 1 + myr_rng_below(rng, 4)
           : draw < 85 ? 1 + myr_rng_below(rng, 16)
                       : 1 + myr_rng_below(rng, 64);
}

/* Every node busy or not by itself: the worst that failures and single-node jobs can leave. */
static void run_random(struct cluster *c, struct myr_rng *rng, uint32_t free_wanted)
{
    while (myr_placer_free_nodes(c->placer) > free_wanted) {
        uint32_t node = myr_rng_below(rng, NODES);
        if (myr_placer_free_mask(c->placer, node)) {
            myr_place_take(c->placer, node, 0xff);
        }
    }
}

/* Jobs on runs of nodes anywhere, of which the churn frees some whole. */
static void run_runs(struct cluster *c, struct myr_rng *rng, uint32_t free_wanted)
{
    uint32_t run_of[NODES], runs = 0, sizes[NODES] = {0};
    for (uint32_t node = 0; node < NODES; runs++) {
        uint32_t nodes = job_nodes(rng);
        for (; nodes > 0 && node < NODES; nodes--, node++) {
            run_of[node] = runs;
            sizes[runs]++;
            myr_place_take(c->placer, node, 0xff);
        }
    }
    while (myr_placer_free_nodes(c->placer) < free_wanted) {
        uint32_t run = myr_rng_below(rng, runs);
        struct myr_share share;
        struct myr_gang one = {1, &share};
        for (uint32_t node = 0; node < NODES && sizes[run]; node++) {
            if (run_of[node] == run) {
                share = (struct myr_share){node, 0xff};
                myr_release(c->placer, &one);
            }
        }
        sizes[run] = 0;
    }
}

/* Jobs come and go, placed by the best fit, until the cluster is as full as wanted and churned. */
static void run_jobs(struct cluster *c, struct myr_rng *rng, uint32_t free_wanted)
{
    for (uint32_t step = 0; step < 3000; step++) {
        uint32_t nodes = job_nodes(rng);
        if (myr_placer_free_nodes(c->placer) >= free_wanted + nodes && c->count < JOBS_MAX) {
            struct myr_gang *job = &c->jobs[c->count++];
            *job = (struct myr_gang){0, myr_xcalloc(nodes, sizeof(struct myr_share))};
            assert_true(baseline(c, nodes, job));
            for (uint32_t i = 0; i < job->count; i++) {
                myr_place_take(c->placer, job->shares[i].node, 0xff);
            }
        } else if (step < 2900) {
            uint32_t ends = myr_rng_below(rng, c->count);
            myr_release(c->placer, &c->jobs[ends]);
            free(c->jobs[ends].shares);
            c->jobs[ends] = c->jobs[--c->count];
        }
    }
}

struct setting {
    const char *what;
    enum fit fit;
    uint32_t dp, leaf_nodes, pod_nodes;
    bool sequence_parallel;
    void (*run)(struct cluster *c, struct myr_rng *rng, uint32_t free_wanted);
    double least; /* saving that is asked for */
};

struct outcome {
    double ours, theirs;
    double across, across_theirs; /* bytes that leave a leaf */
    uint32_t fill_percent;
};

static struct outcome one_seed(uint32_t seed, const struct myr_job_traffic *traffic,
                               const struct setting *it)
{
    struct cluster *c = myr_xcalloc(1, sizeof(*c));
    struct myr_rng rng;
    struct myr_share shares[NODES], other[NODES];
    struct myr_gang nodes = {0, other};
    struct myr_placement found = {.gang.shares = shares};
    struct myr_request request = {.nodes = traffic->cells, .traffic = traffic};
    struct myr_place_cost cost;
    myr_rng_init(&rng, seed, 7);
    c->shape = (struct myr_place_shape){NODES, 8, it->leaf_nodes, it->pod_nodes};
    c->placer = myr_placer_create(&c->shape);
    c->fit = it->fit;
    /* 85 to 95 % full, as far as the gang still fits. */
    uint32_t percent = 5 + myr_rng_below(&rng, 11), free_wanted = NODES * percent / 100;
    free_wanted = free_wanted > request.nodes ? free_wanted : request.nodes;
    it->run(c, &rng, free_wanted);
    uint32_t full = 100 - 100 * myr_placer_free_nodes(c->placer) / NODES;
    assert_true(baseline(c, request.nodes, &nodes));
    myr_place_cost_of(c->placer, &request, &nodes, &cost);
    assert_true(myr_place_gang(c->placer, &request, &found));
    struct outcome result = {
        found.cost.groups, cost.groups,
        found.cost.bytes_by_level[MYR_LEVEL_POD] + found.cost.bytes_by_level[MYR_LEVEL_CORE],
        cost.bytes_by_level[MYR_LEVEL_POD] + cost.bytes_by_level[MYR_LEVEL_CORE], full};
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->jobs[i].shares);
    }
    myr_placer_free(c->placer);
    free(c);
    return result;
}

static void check_saving(const struct setting *it)
{
    struct myr_arena arena;
    struct myr_model model;
    struct myr_job_traffic traffic;
    struct myr_layout layout = myr_layout_default();
    double share = 0, fill = 0, across = 0, across_theirs = 0;
    myr_arena_init(&arena);
    assert_int_equal(myr_model_find(&arena, "gpt3-175b", &model, NULL), MYR_OK);
    layout.tp = 8;
    layout.pp = 8;
    layout.dp = it->dp;
    layout.sequence_parallel = it->sequence_parallel;
    layout.global_batch = 1536;
    assert_int_equal(myr_layout_check(&layout, &model, 0, NULL), MYR_OK);
    assert_int_equal(myr_job_traffic_of(&layout, &model, 8, &arena, &traffic, NULL), MYR_OK);
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct outcome one = one_seed(seed, &traffic, it);
        share += (1 - one.ours / one.theirs) / SEEDS;
        across += one.across;
        across_theirs += one.across_theirs;
        fill += (double)one.fill_percent / SEEDS;
    }
    print_message("%s: cost %.1f %% below, bytes above the leaves %.1f %% below, %.1f %% full\n",
                  it->what, 100 * share, 100 * (1 - across / across_theirs), fill);
    assert_true(share >= it->least);
    myr_arena_done(&arena);
}

/* The fabrics of the 100k and the 10k example. */
static void rank_order_costs_less_than_best_fit_in_node_order(void **state)
{
    (void)state;
    static const struct setting settings[] = {
        {"tight, nodes at random, leaf 32", FIT_TIGHT, 8, 32, 32, true, run_random, 0.12},
        {"tight, jobs on runs of nodes, leaf 32", FIT_TIGHT, 8, 32, 32, true, run_runs, 0.40},
        {"tight, jobs placed by it, leaf 32", FIT_TIGHT, 8, 32, 32, true, run_jobs, 0.40},
        {"tight, nodes at random, leaf 64 pod 128", FIT_TIGHT, 8, 64, 128, true, run_random, 0.35},
        {"tight, jobs on runs of nodes, leaf 64 pod 128", FIT_TIGHT, 8, 64, 128, true, run_runs,
         0.30},
        {"tree, nodes at random, leaf 64 pod 128", FIT_TREE, 8, 64, 128, true, run_random, 0.30},
        {"tree, nodes at random, leaf 64 pod 128, dp 16", FIT_TREE, 16, 64, 128, true, run_random,
         0.10},
        {"tree, nodes at random, leaf 32", FIT_TREE, 8, 32, 32, true, run_random, 0.08},
        {"tree, nodes at random, leaf 32, whole activations", FIT_TREE, 8, 32, 32, false,
         run_random, 0.25},
        {"tree, jobs on runs of nodes, leaf 32", FIT_TREE, 8, 32, 32, true, run_runs, 0.15},
        {"tree, jobs on runs of nodes, leaf 64 pod 128", FIT_TREE, 8, 64, 128, true, run_runs,
         0.10},
        {"tree, jobs placed by it, leaf 32", FIT_TREE, 8, 32, 32, true, run_jobs, 0.02},
        {"tree, jobs placed by it, leaf 64 pod 128, dp 12", FIT_TREE, 12, 64, 128, true, run_jobs,
         0.05},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(settings); i++) {
        check_saving(&settings[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_order_costs_less_than_best_fit_in_node_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
