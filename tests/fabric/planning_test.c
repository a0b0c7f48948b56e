/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "fixture.h"

/* The two examples that the goals of path planning are stated for. */
static const char *const examples[] = {"h100-128", "h100-10k"};

enum { SEEDS = 20 };

static const enum myr_axis axes[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_DP, MYR_AXIS_PP,
                                     MYR_AXIS_EP};

struct shape {
    uint32_t tp, cp, pp, ep;
};

static const struct shape shapes[] = {
    {8, 1, 8, 1},  {8, 1, 4, 1}, {8, 2, 4, 1}, {4, 1, 8, 1},
    {8, 1, 16, 1}, {8, 1, 2, 8}, {1, 1, 1, 8},
};

static struct myr_layout layout_of(const struct shape *shape, uint32_t gpus)
{
    struct myr_layout layout = myr_layout_default();
    layout.tp = shape->tp;
    layout.cp = shape->cp;
    layout.pp = shape->pp;
    layout.ep = shape->ep;
    layout.dp = gpus / (shape->tp * shape->cp * shape->pp);
    return layout;
}

static struct myr_balance_report report_of(const struct fixture *fixture, enum myr_policy policy,
                                           const struct myr_flows *flows)
{
    struct myr_balance_options options = {.policy = policy};
    struct myr_balance_report report;
    struct myr_err err;
    assert_int_equal(myr_balance_report(&fixture->graph, &options, flows->items.items,
                                        flows->items.count, &report, &err),
                     MYR_OK);
    return report;
}

static void add_axis(const struct fixture *fixture, const struct myr_layout *layout,
                     const uint32_t *nodes, enum myr_axis axis, struct myr_flows *ret)
{
    struct myr_ranks_on ranks = {layout, nodes, fixture->design.head->nodes};
    struct myr_err err;
    assert_int_equal(myr_flows_groups(ret, &fixture->graph, &ranks, axis, MYR_TRAFFIC_RING, &err),
                     MYR_OK);
}

/* Rings of one axis are a partial permutation: one flow a link. All axes at once share ports. */
static void check_rings(const struct fixture *fixture, const char *name, const struct shape *shape,
                        const uint32_t *nodes)
{
    struct myr_layout layout = layout_of(shape, fixture->design.head->gpus);
    struct myr_flows all = {};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        struct myr_flows flows = {};
        add_axis(fixture, &layout, nodes, axes[i], &flows);
        add_axis(fixture, &layout, nodes, axes[i], &all);
        if (flows.items.count) {
            struct myr_balance_report report = report_of(fixture, MYR_POLICY_PLANNED, &flows);
            SHOULD(report.max_load <= 1.0 && report.share_of_ideal == 1.0 && !report.unroutable,
                   "%s, %s: load %g, share %g\n", name, myr_axis_name(axes[i]), report.max_load,
                   report.share_of_ideal);
        }
        myr_flows_done(&flows);
    }
    myr_flows_fit(&all, &fixture->design);
    struct myr_balance_report report = report_of(fixture, MYR_POLICY_PLANNED, &all);
    SHOULD(report.max_load <= 1.0 && report.share_of_ideal == 1.0, "%s, all: load %g, share %g\n",
           name, report.max_load, report.share_of_ideal);
    myr_flows_done(&all);
}

static void rings_of_parallel_jobs_share_no_link(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(examples); i++) {
        struct fixture fixture;
        struct myr_rng rng;
        fixture_example(&fixture, examples[i]);
        uint32_t count = fixture.design.head->nodes;
        uint32_t *nodes = myr_xcalloc(count, sizeof(*nodes));
        for (uint32_t k = 0; k < count; k++) {
            nodes[k] = k;
        }
        myr_rng_init(&rng, fixture_seed(51), i);
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(shapes); k++) {
            check_rings(&fixture, examples[i], &shapes[k], NULL);
            myr_rng_shuffle(&rng, nodes, count); /* a job that got what was free */
            check_rings(&fixture, examples[i], &shapes[k], nodes);
        }
        free(nodes);
        fixture_done(&fixture);
    }
}

static void hashing_the_same_rings_does_share_links(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(examples); i++) {
        struct fixture fixture;
        struct myr_flows flows = {};
        struct myr_layout layout;
        fixture_example(&fixture, examples[i]);
        layout = layout_of(&shapes[1], fixture.design.head->gpus);
        add_axis(&fixture, &layout, NULL, MYR_AXIS_PP, &flows);
        struct myr_balance_report hashed = report_of(&fixture, MYR_POLICY_ECMP_CRC, &flows);
        struct myr_balance_report planned = report_of(&fixture, MYR_POLICY_PLANNED, &flows);
        SHOULD(hashed.max_load >= 3 && hashed.share_of_ideal < 0.7, "%s: load %g, share %g\n",
               examples[i], hashed.max_load, hashed.share_of_ideal);
        assert_true(planned.max_load == 1.0 && planned.share_of_ideal == 1.0);
        print_message("%s, pp rings: ecmp %.2f, share %.3f; planned %.2f, share %.3f\n",
                      examples[i], hashed.max_load, hashed.share_of_ideal, planned.max_load,
                      planned.share_of_ideal);
        myr_flows_done(&flows);
        fixture_done(&fixture);
    }
}

static void with_one_per_cent_of_links_dead_plans_stay_near_the_bound(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(examples); i++) {
        struct fixture fixture;
        uint32_t links;
        double worst = 0;
        fixture_example(&fixture, examples[i]);
        free(fixture_links(&fixture, &links));
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct myr_flows flows = {};
            struct myr_rng rng;
            myr_rng_init(&rng, fixture_seed(seed), 52);
            fixture_heal(&fixture);
            fixture_break(&fixture, &rng, links / 100, false);
            myr_flows_permutation(&flows, &fixture.graph, seed);
            struct myr_balance_report report = report_of(&fixture, MYR_POLICY_PLANNED, &flows);
            double gap = 1 - report.share_of_ideal / report.throughput_bound;
            worst = gap > worst ? gap : worst;
            SHOULD(gap < 0.02 && report.unroutable == 0, "%s, seed %u: share %g, bound %g\n",
                   examples[i], (uint32_t)seed, report.share_of_ideal, report.throughput_bound);
            myr_flows_done(&flows);
        }
        print_message("%s: at most %.2f %% below the bound over %d seeds\n", examples[i],
                      worst * 100, SEEDS);
        fixture_done(&fixture);
    }
}

/* The same when links die one by one under a running plan, and flows only move where they must. */
static void a_plan_that_is_repaired_stays_near_the_bound(void **state)
{
    struct fixture fixture;
    struct myr_flows flows = {};
    struct myr_rng rng;
    uint32_t count;
    (void)state;
    fixture_example(&fixture, "h100-10k");
    uint32_t *links = fixture_links(&fixture, &count);
    myr_rng_init(&rng, fixture_seed(53), 1);
    myr_rng_shuffle(&rng, links, count);
    myr_flows_permutation(&flows, &fixture.graph, 1);
    struct myr_colouring *colouring = myr_colouring_create(&fixture.graph);
    myr_colouring_add(colouring, flows.items.items, flows.items.count);
    uint64_t moved = 0;
    for (uint32_t i = 0; i < count / 100; i++) {
        myr_graph_set_link(&fixture.graph, links[i], true);
        myr_colouring_link_changed(colouring, links[i]);
        moved += myr_colouring_stats(colouring).moved;
    }
    struct myr_routes routes = {};
    myr_vec_push(&routes.start, 0);
    for (uint32_t i = 0; i < flows.items.count; i++) {
        struct myr_path path;
        assert_true(myr_colouring_path(colouring, i, &path));
        for (uint32_t k = 0; k < path.count; k++) {
            myr_vec_push(&routes.channels, path.channels[k]);
        }
        myr_vec_push(&routes.start, (uint32_t)routes.channels.count);
        myr_vec_push(&routes.flow, i);
        myr_vec_push(&routes.weight, MYR_SHARE_ONE);
    }
    uint64_t *rate = myr_xcalloc(flows.items.count, sizeof(*rate));
    double sum = 0, bound = report_of(&fixture, MYR_POLICY_PLANNED, &flows).throughput_bound;
    myr_max_min(&fixture.graph, &routes, rate);
    for (size_t i = 0; i < flows.items.count; i++) {
        sum += (double)rate[i] / (double)MYR_LOAD_ONE;
    }
    double share = sum / (double)flows.items.count;
    print_message("h100-10k: %u links died one by one, %.1f flows moved for each; share %.4f, "
                  "bound %.4f\n",
                  count / 100, (double)moved / (count / 100), share, bound);
    SHOULD(1 - share / bound < 0.05, "share %g, bound %g\n", share, bound);
    free(rate);
    myr_routes_done(&routes);
    myr_colouring_free(colouring);
    myr_flows_done(&flows);
    free(links);
    fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_of_parallel_jobs_share_no_link),
        cmocka_unit_test(hashing_the_same_rings_does_share_links),
        cmocka_unit_test(with_one_per_cent_of_links_dead_plans_stay_near_the_bound),
        cmocka_unit_test(a_plan_that_is_repaired_stays_near_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
