/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdlib.h>

#include "check.h"
#include "fixture.h"

enum { PAIRS = 200, ROUNDS = 12, PATHS_MAX = 1 << 17 };

static uint32_t random_choice(void *context, uint32_t device, uint32_t count, uint32_t depth,
                              const uint32_t *candidates)
{
    (void)device;
    (void)depth;
    (void)candidates;
    return myr_rng_below(context, count);
}

static void each_topology(void (*check)(struct fixture *, const struct fixture_case *))
{
    for (uint32_t i = 0; i < fixture_case_count; i++) {
        struct fixture fixture;
        const struct fixture_case *c = &fixture_cases[i];
        fixture_plan(&fixture, c->servers, c->server, c->net);
        check(&fixture, c);
        fixture_done(&fixture);
    }
}

static bool same_fabric(const struct fixture *fixture, uint32_t a, uint32_t b)
{
    const struct myr_graph *graph = &fixture->graph;
    return !graph->clos || myr_graph_leaf_spot(graph, a).unit == myr_graph_leaf_spot(graph, b).unit;
}

static uint64_t path_hash(const struct myr_path *path)
{
    return myr_hash_bytes(path->channels, path->count * sizeof(path->channels[0]));
}

/* --- hops, by an independent rule */

static bool joined(const struct fixture *fixture, uint32_t a, uint32_t b)
{
    const struct myr_design *design = &fixture->design;
    for (uint32_t p = design->first_port[a]; p < design->first_port[a + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link != MYR_NONE && !myr_bitset_has(&fixture->graph.dead, link) &&
            design->port_device[myr_design_peer(design, p)] == b) {
            return true;
        }
    }
    return false;
}

/* Dragonfly, minimal: every way of at most one local, one global and one local hop is tried. */
static uint32_t dragonfly_hops(const struct fixture *fixture, uint32_t from, uint32_t to)
{
    const struct myr_network *net = fixture->graph.net;
    uint32_t size = net->group_switches, best = UINT32_MAX;
    uint32_t here = net->first_leaf + (from - net->first_leaf) / size * size;
    uint32_t there = net->first_leaf + (to - net->first_leaf) / size * size;
    if (here == there) {
        return from == to ? 0 : 1;
    }
    for (uint32_t a = here; a < here + size; a++) {
        for (uint32_t b = there; b < there + size; b++) {
            if (joined(fixture, a, b)) {
                uint32_t hops = 1 + (a != from) + (b != to);
                best = hops < best ? hops : best;
            }
        }
    }
    return best;
}

static uint32_t expected_hops(const struct fixture *fixture, uint32_t from, uint32_t to)
{
    return fixture->graph.net->topology == MYR_TOPOLOGY_DRAGONFLY
               ? dragonfly_hops(fixture, from, to)
               : fixture_distance(fixture, from, to);
}

static void check_whole(struct fixture *fixture, const struct fixture_case *c)
{
    const struct myr_graph *graph = &fixture->graph;
    uint64_t seed = fixture_seed(11);
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 1);
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint32_t from = fixture_host_port(fixture, &rng), to = fixture_host_port(fixture, &rng);
        uint32_t a = myr_graph_host_switch(graph, from), b = myr_graph_host_switch(graph, to);
        struct myr_path path;
        bool found = myr_path_find(graph, from, to, random_choice, &rng, &path);
        SHOULD(found == (from != to && same_fabric(fixture, a, b)), "%s: pair %u, seed %llu\n",
               c->name, i, (unsigned long long)seed);
        if (found) {
            const char *fault = fixture_path_fault(fixture, from, to, &path, false);
            SHOULD(!fault, "%s: %s; seed %llu\n", c->name, fault, (unsigned long long)seed);
            SHOULD(path.count == expected_hops(fixture, a, b) + 2, "%s: %u hops, %u expected\n",
                   c->name, path.count - 2, expected_hops(fixture, a, b));
        }
    }
}

static void paths_are_sound_and_shortest_on_every_topology(void **state)
{
    (void)state;
    each_topology(check_whole);
}

/* --- with dead links */

/* A Clos: whether any spine (and core) joins the two leaves, link by link. */
static bool clos_joined(const struct fixture *fixture, uint32_t a, uint32_t b)
{
    const struct myr_graph *graph = &fixture->graph;
    const struct myr_network *net = graph->net;
    struct myr_spot from = myr_graph_leaf_spot(graph, a), to = myr_graph_leaf_spot(graph, b);
    if (a == b || from.unit != to.unit) {
        return a == b;
    }
    for (uint32_t s = 0; s < net->pod_spines; s++) {
        uint32_t near = myr_graph_spine(graph, (struct myr_spot){from.unit, from.pod, s});
        uint32_t far = myr_graph_spine(graph, (struct myr_spot){to.unit, to.pod, s});
        if (!joined(fixture, a, near) || !joined(fixture, far, b)) {
            continue;
        }
        for (uint32_t c = 0; near != far && c < net->group_cores; c++) {
            uint32_t core = myr_graph_core(graph, (struct myr_spot){from.unit, s, c});
            if (joined(fixture, near, core) && joined(fixture, core, far)) {
                return true;
            }
        }
        if (near == far) {
            return true;
        }
    }
    return false;
}

static bool alive_port(const struct fixture *fixture, uint32_t port)
{
    return !myr_bitset_has(&fixture->graph.dead, fixture->design.port_link[port]);
}

/* Follows candidates at random from any switch that has some; it must arrive. */
static const char *walk_fault(const struct fixture *fixture, uint32_t device, uint32_t to,
                              struct myr_rng *rng)
{
    uint32_t candidates[MYR_CANDIDATES_MAX];
    for (uint32_t hops = 0; device != to; hops++) {
        uint32_t count = myr_path_candidates(&fixture->graph, device, to, candidates);
        if (count == 0) {
            return hops == 0 ? NULL : "a candidate led to a switch without candidates";
        }
        if (hops > fixture->graph.switch_count) {
            return "the walk does not end";
        }
        uint32_t channel = candidates[myr_rng_below(rng, count)];
        if (myr_bitset_has(&fixture->graph.dead, myr_channel_link(channel))) {
            return "a dead link is a candidate";
        }
        device = myr_channel_to_device(&fixture->design, channel);
    }
    return NULL;
}

/* A path comes again at every multiple of its period, and no sooner than another could. */
static const char *period_fault(const struct myr_graph *graph, uint32_t from, uint32_t to,
                                uint64_t value)
{
    struct myr_path path, again;
    uint64_t period, other;
    if (!myr_path_with_period(graph, from, to, value, &path, &period)) {
        return NULL;
    }
    if (!myr_path_by_value(graph, from, to, value, &again) ||
        path_hash(&path) != path_hash(&again)) {
        return "with a period it is another path";
    }
    for (uint64_t times = 1; period != UINT64_MAX && times <= 5; times++) {
        if (!myr_path_with_period(graph, from, to, value + times * period, &again, &other) ||
            path_hash(&path) != path_hash(&again) || other != period) {
            return "the path does not come again";
        }
    }
    for (uint64_t sooner = 1; sooner < period && sooner < 40; sooner++) {
        if (period % sooner == 0 && myr_path_by_value(graph, from, to, value + sooner, &again) &&
            path_hash(&path) == path_hash(&again)) {
            return "the period is too long";
        }
    }
    return NULL;
}

static void check_broken_pair(struct fixture *fixture, const struct fixture_case *c,
                              struct myr_rng *rng, uint64_t seed)
{
    const struct myr_graph *graph = &fixture->graph;
    uint32_t from = fixture_host_port(fixture, rng), to = fixture_host_port(fixture, rng);
    uint32_t a = myr_graph_host_switch(graph, from), b = myr_graph_host_switch(graph, to);
    struct myr_path path;
    bool found = myr_path_find(graph, from, to, random_choice, rng, &path);
    bool ports = from != to && alive_port(fixture, from) && alive_port(fixture, to);
    bool way =
        graph->clos ? clos_joined(fixture, a, b) : fixture_distance(fixture, a, b) != UINT32_MAX;
    SHOULD(found == (ports && way), "%s: found %d, ports %d, way %d; seed %llu\n", c->name, found,
           ports, way, (unsigned long long)seed);
    if (found) {
        const char *fault = fixture_path_fault(fixture, from, to, &path, false);
        SHOULD(!fault, "%s: %s; seed %llu\n", c->name, fault, (unsigned long long)seed);
    }
    uint32_t start = graph->first_switch + myr_rng_below(rng, graph->switch_count);
    const char *fault = walk_fault(fixture, start, b, rng);
    SHOULD(!fault, "%s: %s; seed %llu\n", c->name, fault, (unsigned long long)seed);
    fault = period_fault(graph, from, to, myr_rng_below(rng, 1 << 20));
    SHOULD(!fault, "%s: %s; seed %llu\n", c->name, fault, (unsigned long long)seed);
}

static void check_broken(struct fixture *fixture, const struct fixture_case *c)
{
    static const uint32_t per_mille[] = {5, 20, 100, 300, 600};
    uint64_t seed = fixture_seed(12);
    struct myr_rng rng;
    uint32_t total;
    free(fixture_links(fixture, &total));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        myr_rng_init(&rng, seed, round);
        fixture_heal(fixture);
        uint32_t dead = total * per_mille[round % MYR_ARRAY_COUNT(per_mille)] / 1000 + 1;
        fixture_break(fixture, &rng, dead, round % 2);
        for (uint32_t i = 0; i < PAIRS; i++) {
            check_broken_pair(fixture, c, &rng, seed);
        }
    }
}

static void candidates_never_lead_into_a_dead_end(void **state)
{
    (void)state;
    each_topology(check_broken);
}

/* --- enumeration */

static void enumerate(const struct fixture *fixture, uint32_t device, uint32_t to, uint32_t last,
                      struct myr_path *path, struct myr_u64map *ret)
{
    uint32_t candidates[MYR_CANDIDATES_MAX];
    if (device == to) {
        path->channels[path->count++] = last;
        assert_true(ret->count < PATHS_MAX);
        assert_true(myr_u64map_add(ret, path_hash(path), 0));
        path->count--;
        return;
    }
    uint32_t count = myr_path_candidates(&fixture->graph, device, to, candidates);
    for (uint32_t i = 0; i < count; i++) {
        path->channels[path->count++] = candidates[i];
        enumerate(fixture, myr_channel_to_device(&fixture->design, candidates[i]), to, last, path,
                  ret);
        path->count--;
    }
}

static void check_values(struct fixture *fixture, const struct fixture_case *c)
{
    const struct myr_graph *graph = &fixture->graph;
    const struct myr_design *design = &fixture->design;
    struct myr_rng rng;
    myr_rng_init(&rng, fixture_seed(13), 1);
    for (uint32_t i = 0; i < 3; i++) {
        struct myr_u64map all = {}, met = {};
        uint32_t from = fixture_host_port(fixture, &rng), to = fixture_host_port(fixture, &rng);
        uint32_t a = myr_graph_host_switch(graph, from), b = myr_graph_host_switch(graph, to);
        struct myr_path path = {.count = 1, .channels = {design->port_link[from] * 2}};
        if (from == to || !same_fabric(fixture, a, b)) {
            continue;
        }
        enumerate(fixture, a, b, design->port_link[to] * 2 + 1, &path, &all);
        for (uint64_t value = 0; value < 4 * (uint64_t)all.count; value++) {
            assert_true(myr_path_by_value(graph, from, to, value, &path));
            uint64_t hash = path_hash(&path);
            SHOULD(myr_u64map_find(&all, hash), "%s: a value gives a path of nobody\n", c->name);
            myr_u64map_add(&met, hash, 0);
        }
        SHOULD(met.count == all.count, "%s: values give %u of %u paths\n", c->name, met.count,
               all.count);
        myr_u64map_done(&all);
        myr_u64map_done(&met);
    }
}

static void values_reach_exactly_the_enumerated_paths(void **state)
{
    (void)state;
    each_topology(check_values);
}

/* --- non-minimal */

static void valiant_paths_go_over_the_group_asked_for(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < fixture_case_count; i++) {
        struct fixture fixture;
        const struct fixture_case *c = &fixture_cases[i];
        if (!strstr(c->name, "dragonfly")) {
            continue;
        }
        fixture_plan(&fixture, c->servers, c->server, c->net);
        struct myr_rng rng;
        myr_rng_init(&rng, fixture_seed(14), i);
        for (uint32_t k = 0; k < PAIRS; k++) {
            uint32_t from = fixture_host_port(&fixture, &rng);
            uint32_t to = fixture_host_port(&fixture, &rng);
            uint32_t via = myr_rng_below(&rng, fixture.graph.net->groups);
            struct myr_path path;
            if (from == to) {
                continue;
            }
            assert_true(myr_path_valiant(&fixture.graph, from, to, via, myr_rng_u64(&rng), &path));
            const char *fault = fixture_path_fault(&fixture, from, to, &path, true);
            SHOULD(!fault, "%s: %s\n", c->name, fault);
            bool there = false;
            for (uint32_t n = 0; n + 1 < path.count; n++) {
                uint32_t device = myr_channel_to_device(&fixture.design, path.channels[n]);
                there |= fixture.design.place[device].pod == via;
            }
            SHOULD(there, "%s: group %u is not on the way\n", c->name, via);
        }
        fixture_done(&fixture);
    }
}

/* So many different ways between switches as the numbers first, first + step, ... give. */
static uint32_t distinct_ways(const struct fixture *fixture, uint32_t from, uint32_t to,
                              uint32_t via, uint64_t first, uint64_t step)
{
    enum { VALUES = 512 };
    static struct myr_path known[VALUES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < VALUES; i++) {
        struct myr_path *path = &known[count];
        uint64_t value = first + i * step;
        if (!(via == MYR_NONE ? myr_path_by_value(&fixture->graph, from, to, value, path)
                              : myr_path_valiant(&fixture->graph, from, to, via, value, path))) {
            return 0;
        }
        uint32_t k = 0;
        while (k < count && (known[k].count != path->count ||
                             memcmp(&known[k].channels[1], &path->channels[1],
                                    (path->count - 2) * sizeof(path->channels[0])) != 0)) {
            k++;
        }
        count += k == count;
    }
    return count;
}

/*
 * One number chooses the switch in the group on the way, the way there, and the way on, each
 * without the others: all combinations come up.
 */
static void valiant_paths_take_every_way_to_and_from_the_middle(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_plan(&fixture, 40, "generic-1gpu",
                 "topology: dragonfly, switch: mqm9790, global_ports: 4, group_switches: 4, "
                 "hosts_per_switch: 2");
    const struct myr_network *net = fixture.graph.net;
    uint32_t leaves = net->leaf / net->groups, most = 0;
    assert_int_equal(leaves, 4);
    /* Hosts stand in the order of their switches, two on each: ports by the switch that they hang
     * on. */
    uint32_t from = myr_flow_port(&fixture.graph, 0), to = myr_flow_port(&fixture.graph, 39);
    for (uint32_t via = 1; via + 1 < net->groups; via++) {
        for (uint32_t half = 0; half < leaves; half++) {
            uint32_t device = net->first_leaf + via * leaves + half, middle = MYR_NONE;
            for (uint32_t gpu = 0; gpu < 40; gpu++) {
                uint32_t port = myr_flow_port(&fixture.graph, gpu);
                middle = myr_graph_host_switch(&fixture.graph, port) == device ? port : middle;
            }
            assert_true(middle != MYR_NONE);
            uint32_t there = distinct_ways(&fixture, from, middle, MYR_NONE, 0, 1);
            uint32_t on = distinct_ways(&fixture, middle, to, MYR_NONE, 0, 1);
            uint32_t both = distinct_ways(&fixture, from, to, via, half, leaves);
            SHOULD(both == there * on, "group %u, switch %u: %u ways there, %u on, %u in all\n",
                   via, half, there, on, both);
            most = both > most ? both : most;
        }
    }
    assert_true(most > 1);
    fixture_done(&fixture);
}

/* --- per-destination tables */

static void check_tables(struct fixture *fixture, const struct fixture_case *c)
{
    const struct myr_graph *graph = &fixture->graph;
    struct myr_rng rng;
    myr_rng_init(&rng, fixture_seed(15), 1);
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint32_t to = fixture_host_port(fixture, &rng);
        uint32_t goal = myr_graph_host_switch(graph, to);
        for (uint32_t s = 0; s < graph->switch_count; s += 1 + graph->switch_count / 40) {
            uint32_t device = graph->first_switch + s, hops = 0;
            uint32_t candidates[MYR_CANDIDATES_MAX];
            if (device != goal && myr_path_candidates(graph, device, goal, candidates) == 0) {
                continue; /* another plane, or a spine that the way down does not touch */
            }
            while (device != goal && hops++ < graph->switch_count) {
                uint32_t channel = myr_path_static(graph, device, to);
                SHOULD(channel != MYR_NONE, "%s: a table has no entry\n", c->name);
                device = myr_channel_to_device(&fixture->design, channel);
            }
            SHOULD(device == goal, "%s: the tables make a loop\n", c->name);
            uint32_t last = myr_path_static(graph, goal, to);
            assert_int_equal(myr_channel_from_port(&fixture->design, myr_channel_back(last)), to);
        }
    }
}

static void tables_lead_every_switch_to_every_destination(void **state)
{
    (void)state;
    each_topology(check_tables);
}

/* Every leaf of a tier reaches every other one: what the tables above skip must not be this. */
static void check_leaves_joined(struct fixture *fixture, const struct fixture_case *c)
{
    const struct myr_graph *graph = &fixture->graph;
    uint32_t candidates[MYR_CANDIDATES_MAX];
    for (uint32_t a = 0; a < graph->net->leaf; a++) {
        for (uint32_t b = 0; b < graph->net->leaf; b++) {
            uint32_t from = graph->net->first_leaf + a, to = graph->net->first_leaf + b;
            if (a != b && same_fabric(fixture, from, to)) {
                SHOULD(myr_path_candidates(graph, from, to, candidates) > 0,
                       "%s: leaf %u has no way to leaf %u\n", c->name, a, b);
            }
        }
    }
}

static void every_leaf_has_a_way_to_every_other(void **state)
{
    (void)state;
    each_topology(check_leaves_joined);
}

static double highest_load(const struct fixture *fixture, const struct myr_flows *flows,
                           enum myr_policy policy)
{
    struct myr_balance_options options = {.policy = policy};
    struct myr_balance_report report;
    struct myr_err err;
    assert_int_equal(myr_balance_report(&fixture->graph, &options, flows->items.items,
                                        flows->items.count, &report, &err),
                     MYR_OK);
    assert_int_equal(report.unroutable, 0);
    return report.max_load;
}

static void tables_carry_every_shift_without_conflict(void **state)
{
    static const struct fixture_case cases[] = {
        {"2 tiers", 64, "h100-8gpu", "switch: mqm9790"},
        {"3 tiers", 128, "h100-8gpu", "switch: mqm9790, tiers: 3"},
        {"no rails", 256, "generic-1gpu",
         "topology: clos, switch: mqm9790, nic_gbps: 400, leaf_down: 16, leaf_up: 16"},
    };
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture fixture;
        fixture_plan(&fixture, cases[i].servers, cases[i].server, cases[i].net);
        uint32_t gpus = fixture.design.head->gpus;
        for (uint32_t step = 1; step < gpus; step += 1 + step / 16) {
            struct myr_flows flows = {};
            myr_flows_shift(&flows, &fixture.graph, step);
            double load = highest_load(&fixture, &flows, MYR_POLICY_STATIC);
            SHOULD(load <= 1.0, "%s: load %g at step %u\n", cases[i].name, load, step);
            myr_flows_done(&flows);
        }
        fixture_done(&fixture);
    }
}

/* --- a network whose access switches do not all meet */

static void far_access_switches_are_joined_by_a_detour(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_text(&fixture,
                 "servers: 600\nserver: h100-8gpu\n"
                 "networks: {service: {aggregation: 12}}\n",
                 MYR_NET_SERVICE);
    struct myr_rng rng;
    myr_rng_init(&rng, fixture_seed(16), 1);
    uint32_t longest = 0;
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint32_t from = fixture_host_port(&fixture, &rng), to = fixture_host_port(&fixture, &rng);
        uint32_t a = myr_graph_host_switch(&fixture.graph, from);
        uint32_t b = myr_graph_host_switch(&fixture.graph, to);
        struct myr_path path;
        if (from == to) {
            continue;
        }
        assert_true(myr_path_find(&fixture.graph, from, to, random_choice, &rng, &path));
        assert_null(fixture_path_fault(&fixture, from, to, &path, false));
        assert_int_equal(path.count, fixture_distance(&fixture, a, b) + 2);
        longest = path.count > longest ? path.count : longest;
    }
    assert_true(longest > 4);
    fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_sound_and_shortest_on_every_topology),
        cmocka_unit_test(candidates_never_lead_into_a_dead_end),
        cmocka_unit_test(values_reach_exactly_the_enumerated_paths),
        cmocka_unit_test(valiant_paths_go_over_the_group_asked_for),
        cmocka_unit_test(valiant_paths_take_every_way_to_and_from_the_middle),
        cmocka_unit_test(tables_lead_every_switch_to_every_destination),
        cmocka_unit_test(every_leaf_has_a_way_to_every_other),
        cmocka_unit_test(tables_carry_every_shift_without_conflict),
        cmocka_unit_test(far_access_switches_are_joined_by_a_detour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
