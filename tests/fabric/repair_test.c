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

/* --- the worst pair, by a maximum flow of our own */

struct arc {
    uint32_t from, to;
    int64_t left;
};

struct arcs {
    MYR_VEC(struct arc) items;
};

/* Shortest augmenting paths, arc by arc: slow and plain. */
static int64_t edmonds_karp(const struct arcs *arcs, uint32_t nodes, uint32_t source, uint32_t sink)
{
    int64_t total = 0;
    uint32_t *came = myr_xcalloc(nodes, sizeof(*came));
    for (;;) {
        memset(came, 0xFF, nodes * sizeof(*came));
        bool more = true;
        while (more && came[sink] == UINT32_MAX) {
            more = false;
            for (size_t i = 0; i < arcs->items.count; i++) {
                const struct arc *arc = &arcs->items.items[i];
                bool reached = arc->from == source || came[arc->from] != UINT32_MAX;
                if (arc->left > 0 && reached && arc->to != source && came[arc->to] == UINT32_MAX) {
                    came[arc->to] = (uint32_t)i;
                    more = true;
                }
            }
        }
        if (came[sink] == UINT32_MAX) {
            free(came);
            return total;
        }
        for (uint32_t at = sink; at != source; at = arcs->items.items[came[at]].from) {
            arcs->items.items[came[at]].left--;
            arcs->items.items[came[at] ^ 1].left++;
        }
        total++;
    }
}

static void put_arc(struct arcs *arcs, uint32_t from, uint32_t to, int64_t capacity)
{
    struct arc there = {from, to, capacity}, back = {to, from, 0};
    myr_vec_push(&arcs->items, there);
    myr_vec_push(&arcs->items, back);
}

/* In a Clos only what shortest paths use: up to the tier that both share, and down again. */
static int64_t pair_links(const struct fixture *fixture, uint32_t a, uint32_t b)
{
    const struct myr_graph *graph = &fixture->graph;
    const struct myr_design *design = &fixture->design;
    const struct myr_network *net = graph->net;
    struct arcs arcs = {};
    bool same_pod =
        graph->clos && myr_graph_leaf_spot(graph, a).pod == myr_graph_leaf_spot(graph, b).pod;
    uint32_t middle = same_pod || !net->core ? net->first_spine : net->first_core;
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t lower = design->port_device[design->link_a[link]] - graph->first_switch;
        uint32_t upper = design->port_device[design->link_b[link]] - graph->first_switch;
        if (lower >= graph->switch_count || upper >= graph->switch_count ||
            myr_bitset_has(&graph->dead, link)) {
            continue;
        }
        if (!graph->clos) {
            put_arc(&arcs, lower, upper, 1);
            put_arc(&arcs, upper, lower, 1);
        } else if (graph->first_switch + upper <
                   middle + (same_pod ? net->spine : net->spine + net->core)) {
            /* Two layers: upwards, and downwards below a switch of the highest tier used. */
            uint32_t all = graph->switch_count;
            bool top = graph->first_switch + upper >= middle;
            put_arc(&arcs, lower, upper, 1);
            put_arc(&arcs, top ? upper : upper + all, lower + all, 1);
        }
    }
    uint32_t nodes = graph->switch_count * 2;
    uint32_t sink = b - graph->first_switch + (graph->clos ? graph->switch_count : 0);
    int64_t links = edmonds_karp(&arcs, nodes, a - graph->first_switch, sink);
    myr_vec_done(&arcs.items);
    return links;
}

static int64_t worst_by_search(const struct fixture *fixture)
{
    const struct myr_graph *graph = &fixture->graph;
    int64_t worst = INT64_MAX;
    for (uint32_t a = 0; a < graph->net->leaf; a++) {
        for (uint32_t b = 0; b < graph->net->leaf; b++) {
            uint32_t from = graph->first_switch + a, to = graph->first_switch + b;
            if (a == b || (graph->clos && myr_graph_leaf_spot(graph, from).unit !=
                                              myr_graph_leaf_spot(graph, to).unit)) {
                continue;
            }
            int64_t links = pair_links(fixture, from, to);
            worst = links < worst ? links : worst;
        }
    }
    return worst;
}

static void the_worst_pair_is_that_of_a_maximum_flow(void **state)
{
    static const struct fixture_case cases[] = {
        {"2 tiers", 24, "generic-1gpu",
         "topology: clos, switch: mqm9790, nic_gbps: 400, leaf_down: 4, leaf_up: 4"},
        {"3 tiers", 32, "generic-1gpu",
         "topology: clos, switch: mqm9790, nic_gbps: 400, tiers: 3, leaf_down: 4, leaf_up: 4, "
         "pod_leaves: 2"},
        {"dense", 27, "generic-1gpu",
         "topology: clos, switch: mqm9790, nic_gbps: 400, fill: dense, leaf_down: 5, leaf_up: 5"},
        {"rail-only", 8, "h100-8gpu",
         "topology: rail-only, switch: mqm9790, leaf_down: 2, leaf_up: 2, tiers: 2"},
        {"dragonfly", 24, "generic-1gpu",
         "topology: dragonfly, switch: mqm9790, global_ports: 2, group_switches: 3, "
         "hosts_per_switch: 2"},
        {"torus", 24, "generic-1gpu", "topology: torus, switch: mqm9790, dims: [4, 3]"},
    };
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture fixture;
        uint64_t seed = fixture_seed(41);
        struct myr_rng rng;
        fixture_plan(&fixture, cases[i].servers, cases[i].server, cases[i].net);
        myr_rng_init(&rng, seed, i);
        for (uint32_t round = 0; round < 12; round++) {
            struct myr_degraded left;
            fixture_heal(&fixture);
            fixture_break(&fixture, &rng, round, false);
            myr_degraded_report(&fixture.graph, &left);
            uint64_t worst = (uint64_t)worst_by_search(&fixture) * fixture.graph.net->fabric_gbps;
            SHOULD(left.worst_pair_gbps == worst && left.worst_exact,
                   "%s: worst pair %llu, %llu by search; %u dead, seed %llu\n", cases[i].name,
                   (unsigned long long)left.worst_pair_gbps, (unsigned long long)worst, round,
                   (unsigned long long)seed);
            assert_int_equal((uint64_t)pair_links(&fixture, left.worst_a, left.worst_b) *
                                 fixture.graph.net->fabric_gbps,
                             worst);
        }
        fixture_done(&fixture);
    }
}

/* --- failover, by comparing every candidate set */

struct table {
    uint64_t *sets; /* switch * targets + target */
    uint32_t targets;
};

static void take_table(const struct fixture *fixture, struct table *ret)
{
    const struct myr_graph *graph = &fixture->graph;
    ret->targets = graph->net->leaf ? graph->net->leaf : graph->net->access;
    ret->sets = myr_xcalloc((size_t)graph->switch_count * ret->targets, sizeof(uint64_t));
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        for (uint32_t k = 0; k < ret->targets; k++) {
            uint32_t candidates[MYR_CANDIDATES_MAX];
            uint32_t count = myr_path_candidates(graph, graph->first_switch + i,
                                                 graph->first_switch + k, candidates);
            ret->sets[(size_t)i * ret->targets + k] =
                count + myr_hash_bytes(candidates, count * sizeof(*candidates));
        }
    }
}

static bool is_neighbour(const struct fixture *fixture, uint32_t a, uint32_t b)
{
    const struct myr_design *design = &fixture->design;
    for (uint32_t p = design->first_port[a]; p < design->first_port[a + 1]; p++) {
        uint32_t peer = myr_design_peer(design, p);
        if (peer != MYR_NONE && design->port_device[peer] == b) {
            return true;
        }
    }
    return a == b;
}

/* Switches that are not at the failure, and choose differently after it. */
static uint32_t changed(const struct fixture *fixture, const struct table *before,
                        const struct table *after, uint32_t lower, uint32_t upper)
{
    const struct myr_graph *graph = &fixture->graph;
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t device = graph->first_switch + i;
        bool differs = false;
        for (uint32_t k = 0; k < before->targets; k++) {
            size_t at = (size_t)i * before->targets + k;
            bool gone = lower == upper && graph->first_switch + k == lower;
            differs |= !gone && before->sets[at] != after->sets[at];
        }
        bool near = lower == upper ? is_neighbour(fixture, lower, device)
                                   : device == lower || device == upper;
        count += differs && !near;
    }
    return count;
}

static void check_link(struct fixture *fixture, const char *name, uint32_t link)
{
    const struct myr_design *design = &fixture->design;
    struct table before, after;
    struct myr_failover got = myr_failover_link(&fixture->graph, link, NULL);
    take_table(fixture, &before);
    myr_graph_set_link(&fixture->graph, link, true);
    take_table(fixture, &after);
    myr_graph_set_link(&fixture->graph, link, false);
    uint32_t expected = changed(fixture, &before, &after, design->port_device[design->link_a[link]],
                                design->port_device[design->link_b[link]]);
    SHOULD(got.remote_switches == expected, "%s, link %u: %u remote switches, %u expected\n", name,
           link, got.remote_switches, expected);
    assert_true(got.bandwidth_left >= 0 && got.bandwidth_left < 1);
    free(before.sets);
    free(after.sets);
}

static void check_device(struct fixture *fixture, const char *name, uint32_t device)
{
    const struct myr_design *design = &fixture->design;
    struct table before, after;
    uint32_t dead_before = fixture->graph.dead_count;
    struct myr_failover got = myr_failover_device(&fixture->graph, device, NULL);
    assert_int_equal(fixture->graph.dead_count, dead_before);
    take_table(fixture, &before);
    MYR_VEC(uint32_t) killed = {};
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link != MYR_NONE && !myr_bitset_has(&fixture->graph.dead, link)) {
            myr_graph_set_link(&fixture->graph, link, true);
            myr_vec_push(&killed, link);
        }
    }
    take_table(fixture, &after);
    for (size_t i = 0; i < killed.count; i++) {
        myr_graph_set_link(&fixture->graph, killed.items[i], false);
    }
    uint32_t expected = changed(fixture, &before, &after, device, device);
    SHOULD(got.remote_switches == expected, "%s, device %u: %u remote switches, %u expected\n",
           name, device, got.remote_switches, expected);
    myr_vec_done(&killed);
    free(before.sets);
    free(after.sets);
}

static void remote_switches_are_those_whose_candidates_change(void **state)
{
    static const struct fixture_case cases[] = {
        {"2 tiers, one link a pair", 40, "generic-1gpu",
         "topology: clos, switch: qm8790, nic_gbps: 200, leaf_down: 1, leaf_up: 2"},
        {"3 tiers, one link a pair", 80, "generic-1gpu",
         "topology: clos, switch: qm8790, tiers: 3, nic_gbps: 200, leaf_down: 1, leaf_up: 2, "
         "pod_leaves: 20"},
        {"2 tiers, one spine", 24, "generic-1gpu",
         "topology: clos, switch: mqm9790, nic_gbps: 400, leaf_down: 4, leaf_up: 4, "
         "spine_switch: mqm9790"},
        {"2 tiers", 64, "h100-8gpu", "switch: mqm9790"},
        {"3 tiers", 64, "generic-1gpu",
         "topology: clos, switch: mqm9790, nic_gbps: 400, tiers: 3, leaf_down: 4, leaf_up: 4, "
         "pod_leaves: 4"},
        {"3 tiers, pods of rails", 75, "h100-8gpu", "switch: mqm9790, tiers: 3"},
        {"dense", 90, "generic-1gpu",
         "topology: clos, switch: mqm9790, nic_gbps: 400, fill: dense, leaf_down: 13, leaf_up: 13"},
        {"dragonfly", 24, "generic-1gpu",
         "topology: dragonfly, switch: mqm9790, global_ports: 2, group_switches: 3, "
         "hosts_per_switch: 2"},
        {"torus", 24, "generic-1gpu", "topology: torus, switch: mqm9790, dims: [4, 3]"},
    };
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture fixture;
        uint32_t count;
        struct myr_rng rng;
        fixture_plan(&fixture, cases[i].servers, cases[i].server, cases[i].net);
        myr_rng_init(&rng, fixture_seed(42), i);
        uint32_t *links = fixture_links(&fixture, &count);
        for (uint32_t round = 0; round < 24; round++) {
            uint32_t link = links[myr_rng_below(&rng, count)];
            uint32_t device =
                fixture.graph.first_switch + myr_rng_below(&rng, fixture.graph.switch_count);
            if (round == 12) {
                fixture_break(&fixture, &rng, count / 20 + 1, false);
            }
            if (!myr_bitset_has(&fixture.graph.dead, link)) {
                check_link(&fixture, cases[i].name, link);
            }
            check_device(&fixture, cases[i].name, device);
        }
        free(links);
        fixture_done(&fixture);
    }
}

/* Beyond 512 switches no pair is searched: the switch with the fewest links is the bound. */
static void a_large_torus_has_a_bound_for_its_worst_pair(void **state)
{
    (void)state;
    static const struct {
        uint32_t servers;
        const char *dims;
    } cases[] = {{512, "[32, 16]"}, {513, "[27, 19]"}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture fixture;
        struct myr_degraded left;
        char net[100];
        snprintf(net, sizeof(net), "topology: torus, switch: mqm9790, dims: %s", cases[i].dims);
        fixture_plan(&fixture, cases[i].servers, "generic-1gpu", net);
        struct myr_graph *graph = &fixture.graph;
        assert_int_equal(graph->switch_count, cases[i].servers);
        /* Of the sixth switch and its neighbour one link of four dies. */
        const struct myr_bundle *bundle = &graph->bundles[graph->bundle_start[5]];
        uint32_t first = graph->first_switch, sixth = first + 5;
        myr_graph_set_link(graph, myr_channel_link(graph->channels[bundle->first]), true);
        myr_degraded_report(graph, &left);
        assert_int_equal(left.worst_exact, i == 0);
        assert_int_equal(left.worst_pair_gbps, 3 * graph->net->fabric_gbps);
        if (i == 1) {
            assert_int_equal(left.worst_a, bundle->neighbour < sixth ? bundle->neighbour : sixth);
            assert_int_equal(left.worst_b, left.worst_a == first ? first + 1 : first);
        }
        fixture_done(&fixture);
    }
}

/* Each network has its own links, at its own rates: 24 of 400 and, behind them, 18 of 200 Gb/s. */
static void networks_of_a_design_are_measured_apart(void **state)
{
    (void)state;
    static const struct {
        enum myr_net_id net;
        uint64_t full, gbps;
    } cases[] = {{MYR_NET_COMPUTE, 4800, 400}, {MYR_NET_STORAGE, 1800, 200}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture fixture;
        struct myr_degraded left;
        fixture_text(&fixture,
                     "servers: 3\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790}\n"
                     "  storage: {}\n  oob: {}\n"
                     "storage: {server: flash-22x15, capacity_pb: 1, copies: 2, rate: best}\n",
                     cases[i].net);
        uint32_t last = fixture.design.link_count - 1;
        while (!myr_graph_has_link(&fixture.graph, last)) {
            last--;
        }
        myr_degraded_report(&fixture.graph, &left);
        assert_int_equal(left.bisection_gbps, cases[i].full);
        assert_int_equal(left.bisection_full_gbps, cases[i].full);
        assert_int_equal(left.rail_gbps_least, 2 * cases[i].full);
        myr_graph_set_link(&fixture.graph, last, true);
        myr_degraded_report(&fixture.graph, &left);
        assert_int_equal(left.bisection_gbps, cases[i].full - cases[i].gbps / 2);
        assert_int_equal(left.bisection_full_gbps, cases[i].full);
        assert_int_equal(left.rail_gbps_least, 2 * cases[i].full - cases[i].gbps);
        assert_true(left.dead_links == 1 && left.hosts_cut == 1);
        fixture_done(&fixture);
    }
}

/* Nothing is halved there: the plan's figure stands, as long as the hosts can send so much. */
static void an_access_network_has_the_bisection_of_its_plan(void **state)
{
    (void)state;
    struct fixture fixture;
    struct myr_degraded left;
    fixture_text(&fixture,
                 "servers: 200\nserver: generic-1gpu\nnetworks:\n"
                 "  compute: {topology: clos, switch: mqm9790, nic_gbps: 400}\n  oob: {}\n",
                 MYR_NET_OOB);
    const struct myr_network *net = fixture.graph.net;
    assert_true(net->leaf == 0 && net->access == 5 && net->bisection_gbps == 84);
    for (uint32_t dead = 0; dead < 3; dead++) { /* so many access switches */
        if (dead) {
            myr_graph_set_device(&fixture.graph, net->first_access + dead - 1, true);
        }
        myr_degraded_report(&fixture.graph, &left);
        uint32_t cut = left.hosts_cut, all = 0;
        for (uint32_t link = 0; link < fixture.design.link_count; link++) {
            uint32_t upper = fixture.design.port_device[fixture.design.link_b[link]];
            all += myr_graph_has_link(&fixture.graph, link) && upper - net->first_access < 5 &&
                   fixture.design.port_device[fixture.design.link_a[link]] < net->first_access;
        }
        assert_int_equal(left.bisection_full_gbps, 84);
        assert_int_equal(left.bisection_gbps, (all - cut) / 2 < 84 ? (all - cut) / 2 : 84);
        assert_true(dead == 0 ? cut == 0 : cut >= 40 * dead);
        assert_int_equal(left.rail_least, 0);
    }
    assert_true(left.bisection_gbps < 84); /* the hosts decide in the end */
    fixture_done(&fixture);
}

static void failover_of_a_known_fabric(void **state)
{
    struct fixture fixture;
    (void)state;
    /* 16 leaves of 32 down and 32 up, 8 spines: 4 links a pair. */
    fixture_plan(&fixture, 64, "h100-8gpu", "switch: mqm9790");
    const struct myr_network *net = fixture.graph.net;
    struct myr_flows flows = {};
    struct myr_routes routes;
    struct myr_err err;
    uint64_t *load = myr_xcalloc((size_t)fixture.design.link_count * 2, sizeof(*load));
    struct myr_balance_options options = {.policy = MYR_POLICY_STATIC};
    myr_flows_shift(&flows, &fixture.graph, 256);
    assert_int_equal(myr_balance(&fixture.graph, &options, flows.items.items, flows.items.count,
                                 &routes, load, &err),
                     MYR_OK);
    uint32_t uplink = myr_channel_link(myr_graph_uplink(&fixture.graph, net->first_leaf, 0));
    struct myr_failover link = myr_failover_link(&fixture.graph, uplink, &routes);
    assert_int_equal(link.local_choices, 31);
    assert_int_equal(link.remote_switches, 0); /* three links of the pair are left */
    assert_true(link.bandwidth_left == 31.0 / 32.0);
    assert_int_equal(link.hosts_cut, 0);
    assert_int_equal(link.flows_affected, 2); /* one up, one down */
    struct myr_failover spine = myr_failover_device(&fixture.graph, net->first_spine, &routes);
    assert_int_equal(spine.local_choices, 28);
    assert_int_equal(spine.remote_switches, 0);
    assert_true(spine.bandwidth_left == 28.0 / 32.0);
    assert_int_equal(spine.flows_affected, 512 / 8);
    struct myr_failover leaf = myr_failover_device(&fixture.graph, net->first_leaf, &routes);
    assert_int_equal(leaf.hosts_cut, 32);
    assert_true(leaf.bandwidth_left == 0);
    assert_int_equal(leaf.flows_affected, 64);
    struct myr_failover host = myr_failover_link(&fixture.graph, 0, &routes);
    assert_int_equal(host.hosts_cut, 1);
    assert_int_equal(host.flows_affected, 2);
    assert_int_equal(fixture.graph.dead_count, 0);
    myr_routes_done(&routes);
    myr_flows_done(&flows);
    free(load);
    fixture_done(&fixture);
}

static void a_leaf_without_uplinks_cuts_its_hosts(void **state)
{
    struct fixture fixture;
    struct myr_degraded left;
    (void)state;
    fixture_plan(&fixture, 64, "h100-8gpu", "switch: mqm9790");
    const struct myr_network *net = fixture.graph.net;
    for (uint32_t k = 0; k + 1 < net->leaf_up; k++) {
        myr_graph_set_link(&fixture.graph,
                           myr_channel_link(myr_graph_uplink(&fixture.graph, net->first_leaf, k)),
                           true);
    }
    uint32_t last =
        myr_channel_link(myr_graph_uplink(&fixture.graph, net->first_leaf, net->leaf_up - 1));
    struct myr_failover failover = myr_failover_link(&fixture.graph, last, NULL);
    assert_int_equal(failover.hosts_cut, 32);
    assert_int_equal(failover.local_choices, 0);
    assert_true(failover.bandwidth_left == 0);
    myr_degraded_report(&fixture.graph, &left);
    assert_int_equal(left.hosts_cut, 0);
    assert_int_equal(left.worst_pair_gbps, 400);
    myr_graph_set_link(&fixture.graph, last, true);
    myr_degraded_report(&fixture.graph, &left);
    assert_int_equal(left.hosts_cut, 32);
    assert_int_equal(left.worst_pair_gbps, 0);
    assert_int_equal(left.dead_links, 32);
    fixture_done(&fixture);
}

static void a_whole_fabric_has_all_it_was_planned_with(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < fixture_case_count; i++) {
        struct fixture fixture;
        const struct fixture_case *c = &fixture_cases[i];
        struct myr_degraded left;
        fixture_plan(&fixture, c->servers, c->server, c->net);
        myr_degraded_report(&fixture.graph, &left);
        SHOULD(left.bisection_gbps == left.bisection_full_gbps, "%s: bisection %llu of %llu\n",
               c->name, (unsigned long long)left.bisection_gbps,
               (unsigned long long)left.bisection_full_gbps);
        assert_int_equal(left.hosts_cut, 0);
        for (uint32_t rail = 0; rail < myr_degraded_rail_count(&fixture.graph); rail++) {
            struct myr_rail_bandwidth bandwidth = myr_degraded_rail(&fixture.graph, rail);
            assert_true(bandwidth.gbps == bandwidth.full_gbps && bandwidth.gbps > 0);
        }
        fixture_done(&fixture);
    }
}

/* Dead uplinks in one half of the leaves take from the bisection what they carried. */
static void bisection_counts_the_poorer_half(void **state)
{
    struct fixture fixture;
    struct myr_degraded left;
    (void)state;
    fixture_plan(&fixture, 64, "h100-8gpu", "switch: mqm9790");
    uint64_t full = 64 * 8 * 400 / 2;
    for (uint32_t leaf = 0; leaf < 4; leaf++) {
        uint32_t device = fixture.graph.net->first_leaf + leaf * 4;
        myr_graph_set_link(&fixture.graph,
                           myr_channel_link(myr_graph_uplink(&fixture.graph, device, leaf)), true);
    }
    myr_degraded_report(&fixture.graph, &left);
    assert_int_equal(left.bisection_gbps, full - 4 * 400);
    /* Leaves 0, 4, 8 and 12 are on rails 0 and 4. */
    assert_int_equal(myr_degraded_rail(&fixture.graph, 0).gbps, 2 * 32 * 400 - 2 * 400);
    assert_int_equal(myr_degraded_rail(&fixture.graph, 4).gbps, 2 * 32 * 400 - 2 * 400);
    assert_int_equal(myr_degraded_rail(&fixture.graph, 1).gbps, 2 * 32 * 400);
    assert_int_equal(left.rail_gbps_least, 2 * 32 * 400 - 2 * 400);
    fixture_done(&fixture);
}

static void the_blast_radius_of_switches_and_domains(void **state)
{
    struct fixture fixture;
    struct myr_blast blast;
    (void)state;
    fixture_plan(&fixture, 64, "h100-8gpu", "switch: mqm9790");
    const struct myr_design *design = &fixture.design;
    uint32_t leaf = fixture.graph.net->first_leaf, spine = fixture.graph.net->first_spine;
    myr_blast_radius(&fixture.graph, &leaf, 1, NULL, &blast);
    assert_int_equal(blast.hosts_cut, 32);
    assert_int_equal(blast.nodes_weakened, 32); /* each has seven other rails */
    assert_int_equal(blast.nodes_cut, 0);
    assert_int_equal(blast.gpus_lost, 0);
    myr_blast_radius(&fixture.graph, &spine, 1, NULL, &blast);
    assert_int_equal(blast.hosts_cut, 0);
    assert_int_equal(blast.left.worst_pair_gbps, 28 * 400);
    uint32_t group[8];
    for (uint32_t i = 0; i < 8; i++) {
        group[i] = leaf + i;
    }
    myr_blast_radius(&fixture.graph, group, 8, NULL, &blast);
    assert_int_equal(blast.hosts_cut, 256);
    assert_int_equal(blast.nodes_cut, 32);
    assert_int_equal(blast.gpus_lost, 256);
    const struct myr_domain *domain = &design->domains[0];
    assert_int_equal(domain->kind, MYR_DOMAIN_RAIL_GROUP);
    myr_blast_radius(&fixture.graph, &design->domain_devices[domain->first], domain->count, NULL,
                     &blast);
    assert_int_equal(blast.nodes_dead, 32);
    assert_int_equal(blast.hosts_cut, 256);
    assert_int_equal(blast.gpus_lost, 256);
    assert_int_equal(fixture.graph.dead_count, 0);
    fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_pair_is_that_of_a_maximum_flow),
        cmocka_unit_test(remote_switches_are_those_whose_candidates_change),
        cmocka_unit_test(a_large_torus_has_a_bound_for_its_worst_pair),
        cmocka_unit_test(networks_of_a_design_are_measured_apart),
        cmocka_unit_test(an_access_network_has_the_bisection_of_its_plan),
        cmocka_unit_test(failover_of_a_known_fabric),
        cmocka_unit_test(a_leaf_without_uplinks_cuts_its_hosts),
        cmocka_unit_test(a_whole_fabric_has_all_it_was_planned_with),
        cmocka_unit_test(bisection_counts_the_poorer_half),
        cmocka_unit_test(the_blast_radius_of_switches_and_domains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
