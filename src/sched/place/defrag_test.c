#include "myriad/sched/defrag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct cluster {
    struct myr_place_shape shape;
    struct myr_placer *placer;
    struct myr_gang *gangs;
    struct myr_running *jobs;
    uint32_t count;
};

static uint32_t gpus_of(const struct myr_gang *gang)
{
    uint32_t gpus = 0;
    for (uint32_t i = 0; i < gang->count; i++) {
        gpus += (uint32_t)__builtin_popcountll(gang->shares[i].gpus);
    }
    return gpus;
}

/* Small jobs everywhere, then some of them end at random: holes on every node. */
static void fill(struct cluster *c, struct myr_rng *rng, uint32_t percent)
{
    uint32_t all = c->shape.nodes * c->shape.gpus_per_node, room = all;
    c->placer = myr_placer_create(&c->shape);
    c->gangs = myr_xcalloc(room, sizeof(*c->gangs));
    c->jobs = myr_xcalloc(room, sizeof(*c->jobs));
    while (myr_placer_free_gpus(c->placer) > 0) {
        uint32_t draw = myr_rng_below(rng, 10), gpus = draw < 5   ? 1
                                                       : draw < 8 ? 2
                                                       : draw < 9 ? 4
                                                                  : 8;
        struct myr_gang gang = {0, myr_xcalloc(1, sizeof(struct myr_share))};
        while (!myr_place(c->placer, gpus, &gang)) {
            gpus = gpus / 2;
        }
        c->gangs[c->count++] = gang;
    }
    while (myr_placer_free_gpus(c->placer) < all / 100 * (100 - percent)) {
        uint32_t ends = myr_rng_below(rng, c->count);
        myr_release(c->placer, &c->gangs[ends]);
        free(c->gangs[ends].shares);
        c->gangs[ends] = c->gangs[--c->count];
    }
    for (uint32_t i = 0; i < c->count; i++) {
        c->jobs[i] = (struct myr_running){&c->gangs[i], 60 + myr_rng_below(rng, 600), false};
    }
}

static void done(struct cluster *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->gangs[i].shares);
    }
    free(c->gangs);
    free(c->jobs);
    myr_placer_free(c->placer);
}

/* Nobody lost a GPU, nobody shares one, and the placer agrees. */
static void check_state(const struct cluster *c, const uint32_t *sizes)
{
    uint64_t *taken = myr_xcalloc(c->shape.nodes, sizeof(uint64_t));
    for (uint32_t i = 0; i < c->count; i++) {
        assert_int_equal(gpus_of(&c->gangs[i]), sizes[i]);
        for (uint32_t k = 0; k < c->gangs[i].count; k++) {
            const struct myr_share *share = &c->gangs[i].shares[k];
            assert_int_equal(taken[share->node] & share->gpus, 0);
            taken[share->node] |= share->gpus;
            assert_int_equal(myr_placer_free_mask(c->placer, share->node) & share->gpus, 0);
        }
    }
    free(taken);
}

/* What a plan costs, counted anew: each job that moves restarts once, with all of its GPUs. */
static void check_cost(const struct cluster *c, const struct myr_defrag_plan *plan)
{
    bool *restarts = myr_xcalloc((size_t)c->count + 1, sizeof(*restarts));
    uint32_t jobs = 0;
    double lost = 0;
    for (size_t i = 0; i < plan->moves.count; i++) {
        const struct myr_migration *move = &plan->moves.items[i];
        assert_int_equal(__builtin_popcountll(move->from.gpus),
                         __builtin_popcountll(move->to.gpus));
        assert_int_not_equal(move->from.node, move->to.node);
        if (!restarts[move->job]) {
            restarts[move->job] = true;
            jobs++;
            lost += (double)gpus_of(c->jobs[move->job].gang) * (double)c->jobs[move->job].restart_s;
        }
    }
    assert_int_equal(plan->jobs_restarted, jobs);
    assert_true(plan->gpu_seconds_lost == lost);
    free(restarts);
}

/* Plans, applies, and places the gang on what was freed. */
static void plan_frees(struct cluster *c, const struct myr_request *request, const char *what)
{
    struct myr_defrag_plan plan;
    struct myr_err err = {};
    uint32_t *sizes = myr_xcalloc((size_t)c->count + 1, sizeof(*sizes));
    struct myr_placement placed = {.gang.shares =
                                       myr_xcalloc(request->nodes, sizeof(struct myr_share))};
    for (uint32_t i = 0; i < c->count; i++) {
        sizes[i] = gpus_of(&c->gangs[i]);
    }
    assert_false(myr_place_gang(c->placer, request, &placed));
    int64_t start = myr_clock_ns();
    int r = myr_defrag(c->placer, request, c->jobs, c->count, &plan, &err);
    double ms = (double)(myr_clock_ns() - start) / 1e6;
    assert_int_equal(r, MYR_OK);
    assert_true(plan.gpus_moved >= plan.gpus_least);
    uint64_t moved = 0;
    for (size_t i = 0; i < plan.moves.count; i++) {
        moved += (uint64_t)__builtin_popcountll(plan.moves.items[i].from.gpus);
    }
    assert_int_equal(moved, plan.gpus_moved);
    check_cost(c, &plan);
    myr_defrag_apply(&plan, c->placer, c->jobs);
    check_state(c, sizes);
    assert_true(myr_place_gang(c->placer, request, &placed));
    if (what) {
        print_message("%s: %zu migrations of %u jobs, %llu GPUs (at least %llu), %.0f GPU hours, "
                      "%.1f ms\n",
                      what, plan.moves.count, plan.jobs_restarted,
                      (unsigned long long)plan.gpus_moved, (unsigned long long)plan.gpus_least,
                      plan.gpu_seconds_lost / 3600, ms);
        /* Near the bound that no plan can beat. */
        assert_true((double)plan.gpus_moved <= 1.25 * (double)plan.gpus_least);
    }
    myr_defrag_done(&plan);
    free(placed.gang.shares);
    free(sizes);
}

static void a_plan_frees_a_thousand_nodes_of_a_full_cluster(void **state)
{
    (void)state;
    struct myr_rng rng;
    struct cluster c = {.shape = {12500, 8, 32, 512}};
    myr_rng_init(&rng, 3, 0);
    fill(&c, &rng, 90);
    assert_true(myr_placer_free_nodes(c.placer) < 1024);
    plan_frees(&c, &(struct myr_request){.nodes = 1024}, "1,024 nodes at 90 %");
    done(&c);
}

static void plans_of_random_clusters_free_what_they_say(void **state)
{
    (void)state;
    uint32_t planned = 0;
    for (uint32_t seed = 0; seed < 200; seed++) {
        struct myr_rng rng;
        struct cluster c = {.shape = {64, 8, 8, 16}};
        myr_rng_init(&rng, seed, 1);
        fill(&c, &rng, 60 + myr_rng_below(&rng, 35));
        struct myr_request request = {.nodes = 1 + myr_rng_below(&rng, 12)};
        request.limited = myr_rng_below(&rng, 2);
        request.within = request.nodes <= 8 ? MYR_LEVEL_LEAF : MYR_LEVEL_POD;
        struct myr_defrag_plan plan;
        int r = myr_defrag(c.placer, &request, c.jobs, c.count, &plan, NULL);
        if (r == MYR_OK && plan.moves.count) {
            planned++;
            myr_defrag_done(&plan);
            plan_frees(&c, &request, NULL);
        } else {
            myr_defrag_done(&plan);
        }
        done(&c);
    }
    print_message("%u plans\n", planned);
    assert_true(planned > 50);
}

static void pinned_jobs_stay(void **state)
{
    (void)state;
    struct myr_rng rng;
    struct myr_err err = {};
    struct myr_defrag_plan plan;
    struct cluster c = {.shape = {16, 8, 4, 8}};
    myr_rng_init(&rng, 5, 2);
    fill(&c, &rng, 70);
    for (uint32_t i = 0; i < c.count; i++) {
        c.jobs[i].pinned = true;
    }
    struct myr_request request = {.nodes = 4};
    assert_true(myr_placer_free_nodes(c.placer) < 4);
    assert_int_equal(myr_defrag(c.placer, &request, c.jobs, c.count, &plan, &err), MYR_EINFEASIBLE);
    assert_true(err.message[0] != '\0');
    done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_frees_a_thousand_nodes_of_a_full_cluster),
        cmocka_unit_test(plans_of_random_clusters_free_what_they_say),
        cmocka_unit_test(pinned_jobs_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
