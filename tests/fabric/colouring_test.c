/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdlib.h>

#include "check.h"
#include "fixture.h"

/* Fabrics that are a regular Clos and carry what their leaves' hosts send. */
static const struct fixture_case cases[] = {
    {"2 tiers", 64, "h100-8gpu", "switch: mqm9790"},
    {"2 tiers, part filled", 40, "h100-8gpu", "switch: mqm9790"},
    {"3 tiers", 96, "h100-8gpu", "switch: mqm9790, tiers: 3"},
    {"3 tiers, part filled", 75, "h100-8gpu", "switch: mqm9790, tiers: 3"},
    {"3 tiers, pods of 16", 128, "h100-8gpu", "switch: mqm9790, tiers: 3, pod_leaves: 16"},
    {"odd number of spines", 90, "generic-1gpu",
     "topology: clos, switch: mqm9790, nic_gbps: 400, leaf_down: 15, leaf_up: 15"},
    {"odd number of cores", 60, "h100-8gpu",
     "topology: clos, switch: mqm9790, tiers: 3, leaf_down: 15, leaf_up: 15"},
    {"rail-only", 128, "h100-8gpu", "switch: mqm9790, topology: rail-only"},
    {"rail-only, 3 tiers", 128, "h100-8gpu", "switch: mqm9790, topology: rail-only, tiers: 3"},
    {"two planes", 160, "h100-8gpu-2x200", "switch: sn5600, nic_gbps: 200, topology: dual-tor"},
    {"fast uplinks", 64, "h100-8gpu-2x200",
     "switch: sn5600, nic_gbps: 200, uplink_gbps: 400, planes: 2, leaf_down: 16, leaf_up: 8"},
};

static const struct myr_balance_options planned = {.policy = MYR_POLICY_PLANNED};

static struct myr_balance_report report_of(const struct fixture *fixture,
                                           const struct myr_flows *flows)
{
    struct myr_balance_report report;
    struct myr_err err;
    assert_int_equal(myr_balance_report(&fixture->graph, &planned, flows->items.items,
                                        flows->items.count, &report, &err),
                     MYR_OK);
    return report;
}

/* A random permutation of some of the GPUs; in rail-only fabrics a GPU stays on its rail. */
static void partial_permutation(const struct fixture *fixture, struct myr_rng *rng,
                                uint32_t per_cent, struct myr_flows *ret)
{
    const struct myr_design_head *head = fixture->design.head;
    bool railed = fixture->graph.net->topology == MYR_TOPOLOGY_RAIL_ONLY;
    uint32_t *order = myr_xcalloc(head->nodes, sizeof(*order));
    uint32_t rails = railed ? head->gpus_per_node : 1, count = railed ? head->nodes : head->gpus;
    order = myr_xrealloc(order, count, sizeof(*order));
    for (uint32_t rail = 0; rail < rails; rail++) {
        for (uint32_t i = 0; i < count; i++) {
            order[i] = railed ? i * head->gpus_per_node + rail : i;
        }
        myr_rng_shuffle(rng, order, count);
        for (uint32_t i = 0; i < count; i++) {
            struct myr_flow flow = {
                .from_port =
                    myr_flow_port(&fixture->graph, railed ? i * head->gpus_per_node + rail : i),
                .to_port = myr_flow_port(&fixture->graph, order[i]),
                .share = MYR_SHARE_ONE};
            if (flow.from_port != flow.to_port && myr_rng_below(rng, 100) < per_cent) {
                myr_vec_push(&ret->items, flow);
            }
        }
    }
    free(order);
}

static void permutations_get_every_link_at_most_once(void **state)
{
    static const uint32_t per_cents[] = {100, 100, 97, 60, 10};
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture fixture;
        uint64_t seed = fixture_seed(21);
        struct myr_rng rng;
        fixture_plan(&fixture, cases[i].servers, cases[i].server, cases[i].net);
        assert_true(fixture.graph.regular);
        myr_rng_init(&rng, seed, i);
        for (uint32_t round = 0; round < MYR_ARRAY_COUNT(per_cents); round++) {
            struct myr_flows flows = {};
            partial_permutation(&fixture, &rng, per_cents[round], &flows);
            struct myr_balance_report report = report_of(&fixture, &flows);
            SHOULD(report.max_load <= 1.0 && report.unroutable == 0,
                   "%s: maximum load %g, round %u, seed %llu\n", cases[i].name, report.max_load,
                   round, (unsigned long long)seed);
            SHOULD(report.share_of_ideal > 0.999999, "%s: share %g\n", cases[i].name,
                   report.share_of_ideal);
            SHOULD(report.max_load == report.bound, "%s: load %g, bound %g\n", cases[i].name,
                   report.max_load, report.bound);
            myr_flows_done(&flows);
        }
        fixture_done(&fixture);
    }
}

/* Every host sends several flows anywhere, so that many leave or enter one leaf. */
static void random_demand(const struct fixture *fixture, struct myr_rng *rng, uint32_t count,
                          struct myr_flows *ret)
{
    const struct myr_graph *graph = &fixture->graph;
    while (ret->items.count < count) {
        uint32_t from = fixture_host_port(fixture, rng), to = fixture_host_port(fixture, rng);
        uint32_t a = myr_graph_host_switch(graph, from), b = myr_graph_host_switch(graph, to);
        if (from != to && (!graph->clos || myr_graph_leaf_spot(graph, a).unit ==
                                               myr_graph_leaf_spot(graph, b).unit)) {
            struct myr_flow flow = {.from_port = from, .to_port = to, .share = MYR_SHARE_ONE};
            myr_vec_push(&ret->items, flow);
        }
    }
}

static void any_demand_meets_the_bound(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture fixture;
        uint64_t seed = fixture_seed(22);
        struct myr_rng rng;
        fixture_plan(&fixture, cases[i].servers, cases[i].server, cases[i].net);
        myr_rng_init(&rng, seed, i);
        for (uint32_t round = 1; round <= 4; round++) {
            struct myr_flows flows = {};
            random_demand(&fixture, &rng, fixture.design.head->gpus * round, &flows);
            struct myr_balance_report report = report_of(&fixture, &flows);
            SHOULD(report.max_load == report.bound && report.unroutable == 0,
                   "%s: maximum load %g, bound %g, round %u, seed %llu\n", cases[i].name,
                   report.max_load, report.bound, round, (unsigned long long)seed);
            myr_flows_done(&flows);
        }
        fixture_done(&fixture);
    }
}

/* --- bounds against everything that is possible, on tiny fabrics */

struct trial {
    const struct fixture *fixture;
    const struct myr_flows *flows;
    uint32_t ways;
    uint64_t *load;
    uint64_t best;
};

static uint64_t between_switches_part(const struct fixture *fixture, uint32_t share,
                                      uint32_t channel)
{
    uint32_t gbps = myr_channel_gbps(&fixture->design, channel);
    return MYR_LOAD_ONE * share / MYR_SHARE_ONE * fixture->graph.net->host_gbps / gbps;
}

/* Every combination of paths; the least maximum load. */
static void try_all(struct trial *trial, uint32_t flow, uint64_t so_far)
{
    if (so_far >= trial->best) {
        return;
    }
    if (flow == trial->flows->items.count) {
        trial->best = so_far;
        return;
    }
    const struct myr_flow *f = &trial->flows->items.items[flow];
    for (uint64_t value = 0; value < trial->ways; value++) {
        struct myr_path path;
        if (!myr_path_by_value(&trial->fixture->graph, f->from_port, f->to_port, value, &path)) {
            try_all(trial, flow + 1, so_far);
            return;
        }
        uint64_t highest = so_far;
        for (uint32_t k = 1; k + 1 < path.count; k++) {
            uint64_t *load = &trial->load[path.channels[k]];
            *load += between_switches_part(trial->fixture, f->share, path.channels[k]);
            highest = *load > highest ? *load : highest;
        }
        try_all(trial, flow + 1, highest);
        for (uint32_t k = 1; k + 1 < path.count; k++) {
            trial->load[path.channels[k]] -=
                between_switches_part(trial->fixture, f->share, path.channels[k]);
        }
    }
}

static double best_possible(const struct fixture *fixture, const struct myr_flows *flows,
                            uint32_t ways)
{
    struct trial trial = {fixture, flows, ways, NULL, UINT64_MAX};
    trial.load = myr_xcalloc((size_t)fixture->design.link_count * 2, sizeof(uint64_t));
    try_all(&trial, 0, 0);
    free(trial.load);
    return (double)trial.best / (double)MYR_LOAD_ONE;
}

static void no_assignment_beats_the_load_bound(void **state)
{
    static const struct {
        struct fixture_case c;
        uint32_t ways; /* numbers that reach every path */
    } tiny[] = {
        {{"3 leaves", 12, "generic-1gpu",
          "topology: clos, switch: mqm9790, nic_gbps: 400, leaf_down: 4, leaf_up: 2"},
         4},
        {{"torus 5x2", 20, "generic-1gpu", "topology: torus, switch: mqm9790, dims: [5, 2]"}, 4},
        {{"torus 4x2", 16, "generic-1gpu", "topology: torus, switch: mqm9790, dims: [4, 2]"}, 8},
    };
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(tiny); i++) {
        struct fixture fixture;
        uint64_t seed = fixture_seed(23);
        struct myr_rng rng;
        fixture_plan(&fixture, tiny[i].c.servers, tiny[i].c.server, tiny[i].c.net);
        myr_rng_init(&rng, seed, i);
        for (uint32_t round = 0; round < 120; round++) {
            struct myr_flows flows = {};
            fixture_heal(&fixture);
            fixture_break(&fixture, &rng, round % 3, false);
            random_demand(&fixture, &rng, 3 + round % 5, &flows);
            for (size_t k = 0; round % 2 && k < flows.items.count; k++) {
                flows.items.items[k].share = 100 * (1 + myr_rng_below(&rng, 10));
            }
            struct myr_balance_report report = report_of(&fixture, &flows);
            double best = best_possible(&fixture, &flows, tiny[i].ways);
            SHOULD(report.bound <= best + 1e-6, "%s: bound %g, possible %g; seed %llu\n",
                   tiny[i].c.name, report.bound, best, (unsigned long long)seed);
            SHOULD(report.max_load >= best - 1e-6, "%s: planned %g, possible %g; seed %llu\n",
                   tiny[i].c.name, report.max_load, best, (unsigned long long)seed);
            bool exact = fixture.graph.regular && round % 3 == 0 && round % 2 == 0;
            SHOULD(!exact || report.max_load <= best + 1e-6, "%s: planned %g, possible %g\n",
                   tiny[i].c.name, report.max_load, best);
            myr_flows_done(&flows);
        }
        fixture_done(&fixture);
    }
}

static void no_policy_beats_the_throughput_bound(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < fixture_case_count; i++) {
        struct fixture fixture;
        const struct fixture_case *c = &fixture_cases[i];
        uint64_t seed = fixture_seed(24);
        struct myr_rng rng;
        fixture_plan(&fixture, c->servers, c->server, c->net);
        myr_rng_init(&rng, seed, i);
        for (uint32_t round = 0; round < 4; round++) {
            struct myr_flows flows = {};
            fixture_heal(&fixture);
            fixture_break(&fixture, &rng, round * 5, round == 3);
            random_demand(&fixture, &rng, 100 + round * 50, &flows);
            for (uint32_t policy = 0; policy < MYR_POLICY_COUNT; policy++) {
                struct myr_balance_options options = {.policy = (enum myr_policy)policy};
                struct myr_balance_report report;
                struct myr_err err;
                assert_int_equal(myr_balance_report(&fixture.graph, &options, flows.items.items,
                                                    flows.items.count, &report, &err),
                                 MYR_OK);
                SHOULD(report.share_of_ideal <= report.throughput_bound + 1e-5,
                       "%s, %s: share %g, bound %g; seed %llu\n", c->name, myr_policy_names[policy],
                       report.share_of_ideal, report.throughput_bound, (unsigned long long)seed);
                SHOULD(report.max_load >= report.bound - 1e-5 || report.unroutable,
                       "%s, %s: load %g, bound %g; seed %llu\n", c->name, myr_policy_names[policy],
                       report.max_load, report.bound, (unsigned long long)seed);
            }
            myr_flows_done(&flows);
        }
        fixture_done(&fixture);
    }
}

/* --- changes one by one */

struct world {
    struct fixture fixture;
    struct myr_colouring *colouring;
    struct myr_flows flows; /* as added; share 0: removed */
    uint32_t *links, link_count;
    uint64_t *load;
    uint64_t seed;
    const char *name;
};

static void world_init(struct world *world, const struct fixture_case *c, uint64_t seed)
{
    *world = (struct world){.seed = seed, .name = c->name};
    fixture_plan(&world->fixture, c->servers, c->server, c->net);
    world->colouring = myr_colouring_create(&world->fixture.graph);
    assert_non_null(world->colouring);
    world->links = fixture_links(&world->fixture, &world->link_count);
    world->load = myr_xcalloc((size_t)world->fixture.design.link_count * 2, sizeof(uint64_t));
}

static void world_done(struct world *world)
{
    myr_colouring_free(world->colouring);
    myr_flows_done(&world->flows);
    free(world->links);
    free(world->load);
    fixture_done(&world->fixture);
}

static void add_flow(struct world *world, uint32_t from, uint32_t to)
{
    struct myr_flow flow = {.from_port = from, .to_port = to, .share = MYR_SHARE_ONE};
    uint32_t id = myr_colouring_add(world->colouring, &flow, 1);
    assert_int_equal(id, world->flows.items.count);
    myr_vec_push(&world->flows.items, flow);
}

static void remove_flow(struct world *world, uint32_t id)
{
    if (world->flows.items.items[id].share) {
        myr_colouring_remove(world->colouring, id);
        world->flows.items.items[id].share = 0;
    }
}

static void toggle_link(struct world *world, uint32_t link)
{
    bool dead = myr_bitset_has(&world->fixture.graph.dead, link);
    myr_graph_set_link(&world->fixture.graph, link, !dead);
    myr_colouring_link_changed(world->colouring, link);
}

/* Every path sound, loads as the statistics say, nobody without a path who could have one. */
static double check_world(struct world *world)
{
    const struct myr_graph *graph = &world->fixture.graph;
    struct myr_colouring_stats stats = myr_colouring_stats(world->colouring);
    uint64_t highest = 0;
    uint32_t live = 0;
    memset(world->load, 0, (size_t)world->fixture.design.link_count * 2 * sizeof(uint64_t));
    for (uint32_t id = 0; id < world->flows.items.count; id++) {
        const struct myr_flow *flow = &world->flows.items.items[id];
        struct myr_path path, other;
        bool found = myr_colouring_path(world->colouring, id, &path);
        bool possible =
            flow->share && myr_path_by_value(graph, flow->from_port, flow->to_port, 0, &other);
        SHOULD(found == possible, "%s: flow %u has %s path; seed %llu\n", world->name, id,
               found ? "a" : "no", (unsigned long long)world->seed);
        live += flow->share > 0;
        if (!found) {
            continue;
        }
        const char *fault =
            fixture_path_fault(&world->fixture, flow->from_port, flow->to_port, &path, false);
        SHOULD(!fault, "%s: %s; seed %llu\n", world->name, fault, (unsigned long long)world->seed);
        for (uint32_t k = 1; k + 1 < path.count; k++) {
            uint64_t *load = &world->load[path.channels[k]];
            *load += between_switches_part(&world->fixture, flow->share, path.channels[k]);
            highest = *load > highest ? *load : highest;
        }
    }
    double load = (double)highest / (double)MYR_LOAD_ONE;
    SHOULD(stats.max_load == load, "%s: statistics say %g, paths %g; seed %llu\n", world->name,
           stats.max_load, load, (unsigned long long)world->seed);
    assert_int_equal(stats.flows, live);
    return load;
}

/* Jobs come and go; with at most one flow a port nothing ever shares a link. */
static void flows_come_and_go_without_conflict(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct world world;
        struct myr_flows wanted = {};
        struct myr_rng rng;
        world_init(&world, &cases[i], fixture_seed(25));
        myr_rng_init(&rng, world.seed, i);
        for (uint32_t round = 0; round < 3; round++) {
            wanted.items.count = 0;
            partial_permutation(&world.fixture, &rng, 100, &wanted);
            for (uint32_t id = 0; id < world.flows.items.count; id++) {
                remove_flow(&world, id);
            }
            for (size_t k = 0; k < wanted.items.count; k++) {
                add_flow(&world, wanted.items.items[k].from_port, wanted.items.items[k].to_port);
                if (k % 97 == 0) {
                    SHOULD(check_world(&world) <= 1.0, "%s: flow %zu of round %u; seed %llu\n",
                           cases[i].name, k, round, (unsigned long long)world.seed);
                }
            }
            SHOULD(check_world(&world) <= 1.0, "%s: round %u; seed %llu\n", cases[i].name, round,
                   (unsigned long long)world.seed);
        }
        myr_flows_done(&wanted);
        world_done(&world);
    }
}

static void invariants_hold_through_deaths_and_returns(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct world world;
        struct myr_flows start = {};
        struct myr_rng rng;
        world_init(&world, &cases[i], fixture_seed(26));
        myr_rng_init(&rng, world.seed, i);
        partial_permutation(&world.fixture, &rng, 90, &start);
        myr_colouring_add(world.colouring, start.items.items, start.items.count);
        for (size_t k = 0; k < start.items.count; k++) {
            myr_vec_push(&world.flows.items, start.items.items[k]);
        }
        for (uint32_t step = 0; step < 300; step++) {
            uint32_t kind = myr_rng_below(&rng, 10);
            if (kind < 6) {
                toggle_link(&world, world.links[myr_rng_below(&rng, world.link_count)]);
            } else if (kind < 8) {
                remove_flow(&world, myr_rng_below(&rng, (uint32_t)world.flows.items.count));
            } else {
                uint32_t from = fixture_host_port(&world.fixture, &rng);
                uint32_t to = fixture_host_port(&world.fixture, &rng);
                if (from != to) {
                    add_flow(&world, from, to);
                }
            }
            if (step % 10 == 9) {
                check_world(&world);
            }
        }
        myr_flows_done(&start);
        world_done(&world);
    }
}

/* A whole spine dies and returns: what was conflict-free before is so again. */
static void a_returned_spine_gives_back_what_it_took(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct world world;
        struct myr_flows flows = {};
        struct myr_rng rng;
        world_init(&world, &cases[i], fixture_seed(27));
        myr_rng_init(&rng, world.seed, i);
        partial_permutation(&world.fixture, &rng, 80, &flows);
        myr_colouring_add(world.colouring, flows.items.items, flows.items.count);
        for (size_t k = 0; k < flows.items.count; k++) {
            myr_vec_push(&world.flows.items, flows.items.items[k]);
        }
        uint32_t spine = world.fixture.graph.net->first_spine;
        const struct myr_design *design = &world.fixture.design;
        for (uint32_t turn = 0; turn < 2; turn++) {
            for (uint32_t p = design->first_port[spine]; p < design->first_port[spine + 1]; p++) {
                if (design->port_link[p] != MYR_NONE) {
                    toggle_link(&world, design->port_link[p]);
                }
            }
            double load = check_world(&world);
            SHOULD(turn == 0 || load <= 1.0, "%s: load %g after the return; seed %llu\n",
                   cases[i].name, load, (unsigned long long)world.seed);
        }
        myr_flows_done(&flows);
        world_done(&world);
    }
}

/* A spine without links to the core still serves its pod; what leaves the pod goes elsewhere. */
static void a_spine_cut_off_from_the_core_carries_nothing_between_pods(void **state)
{
    (void)state;
    uint32_t cut = 0;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct world world;
        struct myr_flows flows = {};
        struct myr_rng rng;
        world_init(&world, &cases[i], fixture_seed(28));
        myr_rng_init(&rng, world.seed, i);
        const struct myr_design *design = &world.fixture.design;
        uint32_t spine = world.fixture.graph.net->first_spine;
        for (uint32_t p = design->first_port[spine]; p < design->first_port[spine + 1]; p++) {
            uint32_t peer = myr_design_peer(design, p);
            if (peer != MYR_NONE &&
                design->port_device[peer] >= world.fixture.graph.net->first_core &&
                world.fixture.graph.net->tiers == 3) {
                toggle_link(&world, design->port_link[p]);
                cut++;
            }
        }
        partial_permutation(&world.fixture, &rng, 80, &flows);
        for (size_t k = 0; k < flows.items.count; k++) {
            add_flow(&world, flows.items.items[k].from_port, flows.items.items[k].to_port);
        }
        (void)check_world(&world);
        myr_flows_done(&flows);
        world_done(&world);
    }
    assert_true(cut > 0);
}

static void one_dead_link_moves_few_flows(void **state)
{
    struct world world;
    struct myr_flows flows = {};
    struct myr_rng rng;
    (void)state;
    world_init(&world, &cases[2], fixture_seed(28));
    myr_rng_init(&rng, world.seed, 1);
    partial_permutation(&world.fixture, &rng, 50, &flows);
    myr_colouring_add(world.colouring, flows.items.items, flows.items.count);
    for (size_t k = 0; k < flows.items.count; k++) {
        myr_vec_push(&world.flows.items, flows.items.items[k]);
    }
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t link = world.links[myr_rng_below(&rng, world.link_count)];
        toggle_link(&world, link);
        struct myr_colouring_stats stats = myr_colouring_stats(world.colouring);
        SHOULD(stats.moved <= 2, "%u flows moved; seed %llu\n", stats.moved,
               (unsigned long long)world.seed);
        assert_true(check_world(&world) <= 1.0);
        toggle_link(&world, link);
    }
    myr_flows_done(&flows);
    world_done(&world);
}

static void fabrics_that_are_no_regular_clos_are_refused(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < fixture_case_count; i++) {
        struct fixture fixture;
        const struct fixture_case *c = &fixture_cases[i];
        fixture_plan(&fixture, c->servers, c->server, c->net);
        struct myr_colouring *colouring = myr_colouring_create(&fixture.graph);
        bool possible = fixture.graph.regular && fixture.graph.net->tiers > 1;
        SHOULD((colouring != NULL) == possible, "%s\n", c->name);
        myr_colouring_free(colouring);
        fixture_done(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permutations_get_every_link_at_most_once),
        cmocka_unit_test(any_demand_meets_the_bound),
        cmocka_unit_test(no_assignment_beats_the_load_bound),
        cmocka_unit_test(no_policy_beats_the_throughput_bound),
        cmocka_unit_test(flows_come_and_go_without_conflict),
        cmocka_unit_test(invariants_hold_through_deaths_and_returns),
        cmocka_unit_test(a_returned_spine_gives_back_what_it_took),
        cmocka_unit_test(a_spine_cut_off_from_the_core_carries_nothing_between_pods),
        cmocka_unit_test(one_dead_link_moves_few_flows),
        cmocka_unit_test(fabrics_that_are_no_regular_clos_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
