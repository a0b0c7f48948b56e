/* Numbers that are reported, beside the same ones counted anew from links and paths. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdlib.h>

#include "check.h"
#include "fixture.h"

static const struct fixture_case cases[] = {
    {"2 tiers", 24, "generic-1gpu",
     "topology: clos, switch: mqm9790, nic_gbps: 400, leaf_down: 4, leaf_up: 2"},
    {"3 tiers", 96, "h100-8gpu", "switch: mqm9790, tiers: 3"},
    {"3 tiers, part filled", 75, "h100-8gpu", "switch: mqm9790, tiers: 3"},
    {"rail-only, 3 tiers", 128, "h100-8gpu", "switch: mqm9790, topology: rail-only, tiers: 3"},
    {"fast uplinks", 64, "h100-8gpu-2x200",
     "switch: sn5600, nic_gbps: 200, uplink_gbps: 400, planes: 2, leaf_down: 16, leaf_up: 8"},
};

static void random_flows(const struct fixture *fixture, struct myr_rng *rng, uint32_t count,
                         bool whole, struct myr_flows *ret)
{
    for (uint32_t i = 0; i < count; i++) {
        struct myr_flow flow = {.from_port = fixture_host_port(fixture, rng),
                                .to_port = fixture_host_port(fixture, rng),
                                .share =
                                    whole ? MYR_SHARE_ONE : 100 * (1 + myr_rng_below(rng, 10))};
        myr_vec_push(&ret->items, flow);
    }
}

static bool is_switch(const struct myr_graph *graph, uint32_t device)
{
    return device - graph->first_switch < graph->switch_count;
}

/* A cut: the living links that cross it, and the shares that have to. */
struct cut {
    uint32_t links;
    uint32_t shares[2000];
    uint32_t count;
};

static int descending(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left < right) - (left > right);
}

/* (j + 1) flows of at least the size of the (j * links)-th meet somewhere; and the mean. */
static double cut_bound(struct cut *cut, bool split)
{
    double sum = 0, least = 0;
    qsort(cut->shares, cut->count, sizeof(*cut->shares), descending);
    for (uint32_t i = 0; i < cut->count; i++) {
        sum += cut->shares[i];
        if (!split && cut->links && i % cut->links == 0) {
            double meet = (double)(i / cut->links + 1) * cut->shares[i];
            least = meet > least ? meet : least;
        }
    }
    double mean = cut->links ? sum / cut->links : 0;
    return mean > least ? mean : least;
}

/* What a device belongs to on this side of a cut; MYR_NONE: nothing. */
typedef uint32_t side_fn(const struct myr_graph *graph, uint32_t device);

static uint32_t own_side(const struct myr_graph *graph, uint32_t device)
{
    return is_switch(graph, device) ? device : MYR_NONE;
}

/* The pod of a leaf or spine, counted over all units; cores are in none. */
static uint32_t pod_side(const struct myr_graph *graph, uint32_t device)
{
    const struct myr_network *net = graph->net;
    if (!is_switch(graph, device) || (net->core && device - net->first_core < net->core)) {
        return MYR_NONE;
    }
    struct myr_spot spot = device - net->first_spine < net->spine
                               ? myr_graph_spine_spot(graph, device)
                               : myr_graph_leaf_spot(graph, device);
    return spot.unit * 1000 + spot.pod;
}

/* The cut round one side, in one direction. */
static void fill_cut(const struct fixture *fixture, const struct myr_flows *flows, side_fn *side_of,
                     uint32_t side, bool in, struct cut *ret)
{
    const struct myr_graph *graph = &fixture->graph;
    const struct myr_design *design = &fixture->design;
    ret->links = ret->count = 0;
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t a = design->port_device[design->link_a[link]];
        uint32_t b = design->port_device[design->link_b[link]];
        ret->links += is_switch(graph, a) && is_switch(graph, b) &&
                      !myr_graph_link_dead(graph, link) &&
                      (side_of(graph, a) == side) != (side_of(graph, b) == side);
    }
    for (size_t i = 0; i < flows->items.count; i++) {
        const struct myr_flow *flow = &flows->items.items[i];
        uint32_t from = side_of(graph, myr_graph_host_switch(graph, flow->from_port));
        uint32_t to = side_of(graph, myr_graph_host_switch(graph, flow->to_port));
        struct myr_path path;
        if (from != to && (in ? to : from) == side &&
            myr_path_by_value(graph, flow->from_port, flow->to_port, 0, &path)) {
            ret->shares[ret->count++] = flow->share;
        }
    }
}

static double bound_of(const struct fixture *fixture, const struct myr_flows *flows, bool split)
{
    const struct myr_graph *graph = &fixture->graph;
    static struct cut cut;
    double bound = 0;
    for (uint32_t pods = 0; pods < (graph->net->core ? 2U : 1U); pods++) {
        side_fn *side_of = pods ? pod_side : own_side;
        uint32_t done = MYR_NONE; /* leaves of a pod stand together */
        for (uint32_t i = 0; i < graph->net->leaf; i++) {
            uint32_t side = side_of(graph, graph->net->first_leaf + i);
            for (uint32_t in = 0; in < 2 && side != done; in++) {
                fill_cut(fixture, flows, side_of, side, in, &cut);
                double least = cut_bound(&cut, split);
                bound = least > bound ? least : bound;
            }
            done = side;
        }
    }
    return bound / MYR_SHARE_ONE * graph->net->host_gbps / graph->net->fabric_gbps;
}

/* Pods that hang on a few links alone: what leaves a pod is then what limits all. */
static uint32_t cut_off_pods(struct fixture *fixture, uint32_t left)
{
    struct myr_graph *graph = &fixture->graph;
    uint32_t cut = 0;
    for (uint32_t i = 0; i < graph->net->spine; i++) {
        uint32_t spine = graph->net->first_spine + i;
        for (uint32_t k = left; k < myr_graph_uplink_count(graph, spine); k++, cut++) {
            myr_graph_set_link(graph, myr_channel_link(myr_graph_uplink(graph, spine, k)), true);
        }
    }
    return cut;
}

static void the_load_bound_is_that_of_every_cut(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture fixture;
        uint64_t seed = fixture_seed(31);
        struct myr_rng rng;
        fixture_plan(&fixture, cases[i].servers, cases[i].server, cases[i].net);
        myr_rng_init(&rng, seed, i);
        for (uint32_t round = 0; round < 5; round++) {
            struct myr_flows flows = {};
            fixture_heal(&fixture);
            if (round == 4 && fixture.graph.net->core) {
                (void)cut_off_pods(&fixture, 2);
            }
            fixture_break(&fixture, &rng, round % 4 * 3, round == 3);
            random_flows(&fixture, &rng, 20 + round * 120, round == 1, &flows);
            for (uint32_t split = 0; split < 2; split++) {
                double bound =
                    myr_load_bound(&fixture.graph, flows.items.items, flows.items.count, split);
                double counted = bound_of(&fixture, &flows, split);
                SHOULD(bound > counted - 1e-9 && bound < counted + 1e-9,
                       "%s: bound %g, counted %g, round %u, seed %llu\n", cases[i].name, bound,
                       counted, round, (unsigned long long)seed);
            }
            myr_flows_done(&flows);
        }
        fixture_done(&fixture);
    }
}

static double heaviest_of(const struct fixture *fixture, const struct myr_colouring *colouring,
                          const struct myr_flows *flows)
{
    const struct myr_design *design = &fixture->design;
    uint64_t *load = myr_xcalloc((size_t)design->link_count * 2, sizeof(*load)), heaviest = 0;
    for (uint32_t i = 0; i < flows->items.count; i++) {
        struct myr_path path;
        bool there = myr_colouring_path(colouring, i, &path);
        for (uint32_t k = 1; there && k + 1 < path.count; k++) {
            uint64_t *at = &load[path.channels[k]];
            *at += flows->items.items[i].share;
            heaviest = *at > heaviest ? *at : heaviest;
        }
    }
    free(load);
    return (double)heaviest / MYR_SHARE_ONE * fixture->graph.net->host_gbps /
           fixture->graph.net->fabric_gbps;
}

static void a_plan_reports_the_load_of_its_paths(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture fixture;
        uint64_t seed = fixture_seed(32);
        struct myr_rng rng;
        fixture_plan(&fixture, cases[i].servers, cases[i].server, cases[i].net);
        myr_rng_init(&rng, seed, i);
        for (uint32_t round = 0; round < 3; round++) {
            struct myr_flows flows = {};
            fixture_heal(&fixture);
            uint32_t cut = round == 2 && fixture.graph.net->core ? cut_off_pods(&fixture, 1) : 0;
            fixture_break(&fixture, &rng, round == 1 ? 4 : 0, false);
            random_flows(&fixture, &rng, 200, round != 1, &flows);
            uint32_t between = 0;
            for (size_t k = 0; k < flows.items.count; k++) {
                between += flows.items.items[k].from_port != flows.items.items[k].to_port;
            }
            struct myr_colouring *colouring = myr_colouring_create(&fixture.graph);
            assert_non_null(colouring);
            (void)myr_colouring_add(colouring, flows.items.items, flows.items.count);
            struct myr_colouring_stats stats = myr_colouring_stats(colouring);
            double heaviest = heaviest_of(&fixture, colouring, &flows);
            SHOULD(stats.max_load == heaviest, "%s: load %g, counted %g, round %u, seed %llu\n",
                   cases[i].name, stats.max_load, heaviest, round, (unsigned long long)seed);
            assert_int_equal(stats.flows, between);
            SHOULD(stats.bound ==
                       myr_load_bound(&fixture.graph, flows.items.items, flows.items.count, false),
                   "%s: bound %g\n", cases[i].name, stats.bound);
            SHOULD(cut == 0 || (stats.shared > 0 && stats.max_load > 1), "%s: %u links cut off\n",
                   cases[i].name, cut);
            myr_colouring_free(colouring);
            myr_flows_done(&flows);
        }
        fixture_done(&fixture);
    }
}

static bool uses(const struct myr_colouring *colouring, uint32_t flows, uint32_t link)
{
    for (uint32_t i = 0; i < flows; i++) {
        struct myr_path path;
        bool there = myr_colouring_path(colouring, i, &path);
        for (uint32_t k = 0; there && k < path.count; k++) {
            if (myr_channel_link(path.channels[k]) == link) {
                return true;
            }
        }
    }
    return false;
}

/* A link that dies moves who used it; one that nobody uses moves nobody, whatever was before. */
static void moves_are_counted_for_the_last_change_alone(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < 3; i++) {
        struct fixture fixture;
        struct myr_rng rng;
        struct myr_flows flows = {};
        uint32_t count, moved_by_used = 0, unused = 0;
        fixture_plan(&fixture, cases[i].servers, cases[i].server, cases[i].net);
        myr_rng_init(&rng, fixture_seed(33), i);
        random_flows(&fixture, &rng, 40, true, &flows);
        struct myr_colouring *colouring = myr_colouring_create(&fixture.graph);
        (void)myr_colouring_add(colouring, flows.items.items, flows.items.count);
        uint32_t *links = fixture_links(&fixture, &count);
        for (uint32_t k = 0; k < count && (unused < 20 || moved_by_used < 20); k += 7) {
            bool used = uses(colouring, (uint32_t)flows.items.count, links[k]);
            myr_graph_set_link(&fixture.graph, links[k], true);
            myr_colouring_link_changed(colouring, links[k]);
            uint32_t moved = myr_colouring_stats(colouring).moved;
            SHOULD(used ? moved > 0 : moved == 0, "%s: link %u, %s: %u moved\n", cases[i].name,
                   links[k], used ? "used" : "not used", moved);
            assert_false(uses(colouring, (uint32_t)flows.items.count, links[k]));
            moved_by_used += used;
            unused += !used;
        }
        assert_true(moved_by_used > 0 && unused > 0);
        free(links);
        myr_colouring_free(colouring);
        myr_flows_done(&flows);
        fixture_done(&fixture);
    }
}

/* The same in a fabric that is full: flows that make room for others are counted once. */
static void nothing_moves_when_nothing_has_changed(void **state)
{
    (void)state;
    struct fixture fixture;
    struct myr_rng rng;
    struct myr_flows flows = {};
    uint32_t count, moved = 0;
    fixture_plan(&fixture, cases[1].servers, cases[1].server, cases[1].net);
    myr_rng_init(&rng, fixture_seed(34), 1);
    random_flows(&fixture, &rng, fixture.design.head->gpus, true, &flows);
    struct myr_colouring *colouring = myr_colouring_create(&fixture.graph);
    (void)myr_colouring_add(colouring, flows.items.items, flows.items.count);
    uint32_t *links = fixture_links(&fixture, &count);
    for (uint32_t k = 0; k < 40; k++) {
        uint32_t link = links[myr_rng_below(&rng, count)];
        myr_graph_set_link(&fixture.graph, link, true);
        myr_colouring_link_changed(colouring, link);
        moved += myr_colouring_stats(colouring).moved;
        myr_colouring_link_changed(colouring, link); /* said twice */
        assert_int_equal(myr_colouring_stats(colouring).moved, 0);
    }
    assert_true(moved > 0);
    free(links);
    myr_colouring_free(colouring);
    myr_flows_done(&flows);
    fixture_done(&fixture);
}

/*
 * Every fourth spine has lost most of its way up. Flows that stay in their pod take its place
 * below, so that those between pods find room elsewhere: fewer than one in ten shares an uplink.
 */
static void weak_spines_are_spared_by_flows_between_pods(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        struct fixture fixture;
        struct myr_rng rng;
        struct myr_flows flows = {};
        uint64_t seed = fixture_seed(round);
        fixture_plan(&fixture, cases[1].servers, cases[1].server, cases[1].net);
        struct myr_graph *graph = &fixture.graph;
        myr_rng_init(&rng, seed, 9);
        for (uint32_t i = 0; i < graph->net->spine; i++) {
            uint32_t spine = graph->net->first_spine + i;
            bool weak = myr_graph_spine_spot(graph, spine).index % 4 == 0;
            for (uint32_t k = 4; weak && k < myr_graph_uplink_count(graph, spine); k++) {
                uint32_t link = myr_channel_link(myr_graph_uplink(graph, spine, k));
                myr_graph_set_link(graph, link, true);
            }
        }
        uint32_t gpus = fixture.design.head->gpus;
        uint32_t *order = myr_xcalloc(gpus, sizeof(*order));
        for (uint32_t i = 0; i < gpus; i++) {
            order[i] = i;
        }
        myr_rng_shuffle(&rng, order, gpus);
        for (uint32_t i = 0; i < gpus; i++) {
            struct myr_flow flow = {.from_port = myr_flow_port(graph, i),
                                    .to_port = myr_flow_port(graph, order[i]),
                                    .share = MYR_SHARE_ONE};
            if (flow.from_port != flow.to_port && myr_rng_below(&rng, 100) < 60) {
                myr_vec_push(&flows.items, flow);
            }
        }
        struct myr_colouring *colouring = myr_colouring_create(graph);
        (void)myr_colouring_add(colouring, flows.items.items, flows.items.count);
        struct myr_colouring_stats stats = myr_colouring_stats(colouring);
        SHOULD(stats.shared * 10 < stats.flows, "%u of %u flows share; seed %llu\n", stats.shared,
               stats.flows, (unsigned long long)seed);
        assert_true(stats.max_load == heaviest_of(&fixture, colouring, &flows));
        myr_colouring_free(colouring);
        myr_flows_done(&flows);
        free(order);
        fixture_done(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_load_bound_is_that_of_every_cut),
        cmocka_unit_test(a_plan_reports_the_load_of_its_paths),
        cmocka_unit_test(moves_are_counted_for_the_last_change_alone),
        cmocka_unit_test(nothing_moves_when_nothing_has_changed),
        cmocka_unit_test(weak_spines_are_spared_by_flows_between_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
