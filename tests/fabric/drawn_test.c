/*
 * Paths, loads and repairs of small fabrics of every topology, held against what they were when
 * somebody last looked (tests/kept/fabric-*.txt; MYRIAD_KEPT=write writes it anew). Other tests
 * say that a path is sound and a plan within its bound; this one that nothing else changes with
 * them: which of several equal paths, which links of several equal ones, every figure of a report.
 *
 * A case is drawn: some links are dead, some flows ask for a part of a port. The figures stand in
 * plain sight; of routes and loads a digest follows them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fixture.h"
#include "kept.h"

enum { SEED = 20270118, CASES = 5 };

static const struct fixture_case cases[] = {
    {"one switch", 6, "generic-1gpu", "topology: clos, switch: mqm9790, nic_gbps: 400"},
    {"rail", 6, "h100-8gpu", "switch: mqm9790, leaf_down: 4, leaf_up: 4"},
    {"part filled", 7, "h100-8gpu", "switch: mqm9790, leaf_down: 6, leaf_up: 4"},
    {"three tiers", 12, "generic-1gpu",
     "topology: clos, switch: qm8790, tiers: 3, nic_gbps: 200, leaf_down: 4, leaf_up: 4"},
    {"pods", 64, "generic-1gpu",
     "topology: clos, switch: qm8790, tiers: 3, nic_gbps: 200, leaf_down: 4, leaf_up: 4, "
     "pod_leaves: 4"},
    {"rails in pods", 12, "h100-8gpu",
     "switch: mqm9790, tiers: 3, leaf_down: 4, leaf_up: 4, pod_leaves: 8"},
    {"oversubscribed", 30, "generic-1gpu",
     "topology: clos, switch: mqm9790, nic_gbps: 400, leaf_down: 6, leaf_up: 3"},
    {"dense", 40, "generic-1gpu",
     "topology: clos, switch: mqm9790, nic_gbps: 400, fill: dense, leaf_down: 7, leaf_up: 7"},
    {"two planes", 6, "h100-8gpu-2x200",
     "switch: sn5600, nic_gbps: 200, topology: dual-tor, leaf_down: 8, leaf_up: 8"},
    {"fast uplinks", 6, "h100-8gpu-2x200",
     "switch: sn5600, nic_gbps: 200, uplink_gbps: 400, planes: 2, leaf_down: 8, leaf_up: 4"},
    {"rail-only", 6, "h100-8gpu", "switch: mqm9790, topology: rail-only"},
    {"dragonfly", 20, "generic-1gpu",
     "topology: dragonfly, switch: mqm9790, global_ports: 2, group_switches: 4, "
     "hosts_per_switch: 2"},
    {"dragonfly+", 24, "generic-1gpu", "topology: dragonfly+, switch: mqm9790, group_switches: 4"},
    {"torus", 15, "generic-1gpu", "topology: torus, switch: mqm9790, dims: [5, 3]"},
    {"torus of three", 16, "generic-1gpu",
     "topology: torus, switch: mqm9790, dims: [4, 2, 2], trunk: 2"},
};

struct drawing {
    struct fixture f;
    struct myr_rng rng;
    struct myr_flows flows;
    struct myr_buf out;
};

static uint64_t digest(uint64_t so_far, const void *data, size_t bytes)
{
    const uint8_t *byte = data;
    for (size_t i = 0; i < bytes; i++) {
        so_far = (so_far ^ byte[i]) * UINT64_C(1099511628211);
    }
    return so_far;
}

static uint64_t routes_digest(const struct myr_routes *routes)
{
    uint64_t d = UINT64_C(14695981039346656037);
    d = digest(d, routes->start.items, routes->start.count * sizeof(uint32_t));
    d = digest(d, routes->channels.items, routes->channels.count * sizeof(uint32_t));
    d = digest(d, routes->flow.items, routes->flow.count * sizeof(uint32_t));
    d = digest(d, routes->weight.items, routes->weight.count * sizeof(uint32_t));
    return digest(d, routes->limit.items, routes->limit.count * sizeof(uint64_t));
}

/* Permutations, shifts and groups; in every other case the flows ask for parts of a port. */
static void draw_flows(struct drawing *d, uint32_t number)
{
    struct myr_err err = {};
    const struct myr_graph *graph = &d->f.graph;
    struct myr_layout layout = myr_layout_default();
    struct myr_ranks_on ranks = {.layout = &layout, .node_count = d->f.design.head->nodes};
    d->flows.items.count = 0;
    layout.dp = d->f.design.head->gpus;
    if (number == 1) {
        myr_flows_shift(&d->flows, graph, 1 + myr_rng_below(&d->rng, 5));
    } else if (number >= 3) {
        enum myr_traffic pattern = number == 3 ? MYR_TRAFFIC_TREE : MYR_TRAFFIC_RING;
        assert_int_equal(myr_flows_groups(&d->flows, graph, &ranks, MYR_AXIS_DP, pattern, &err),
                         MYR_OK);
    }
    if (number % 2 == 0) {
        myr_flows_permutation(&d->flows, graph, 7 + number);
    }
    for (size_t i = 0; number % 2 && i < d->flows.items.count; i++) {
        d->flows.items.items[i].share = 100 + myr_rng_below(&d->rng, 900);
        d->flows.items.items[i].source = (uint16_t)myr_rng_below(&d->rng, 65536);
    }
    if (number == 4) {
        myr_flows_fit(&d->flows, &d->f.design);
    }
    uint64_t sum = digest(1, d->flows.items.items, d->flows.items.count * sizeof(struct myr_flow));
    myr_buf_printf(&d->out, "  %zu flows %08x, %u of %u links dead\n", d->flows.items.count,
                   (unsigned)sum, d->f.graph.dead_count, d->f.design.link_count);
}

static void put_policies(struct drawing *d, uint32_t number)
{
    struct myr_err err = {};
    const struct myr_graph *graph = &d->f.graph;
    size_t channels = 2 * (size_t)d->f.design.link_count, count = d->flows.items.count;
    for (uint32_t policy = 0; policy < MYR_POLICY_COUNT; policy++) {
        struct myr_balance_options options = {
            .policy = (enum myr_policy)policy, .seed = number, .polarised = number == 2};
        struct myr_use use = {};
        struct myr_buf drawing = {};
        assert_int_equal(
            myr_use_find(&use, &d->f.arena, graph, &options, d->flows.items.items, count, &err),
            MYR_OK);
        myr_use_draw(&use, &drawing);
        struct myr_use_nics nics = myr_use_nics(&use, &d->f.arena);
        uint64_t sums = digest(2, use.load, channels * sizeof(uint64_t));
        sums = digest(sums, use.flows, channels * sizeof(uint32_t));
        sums = digest(sums, use.highest, d->f.design.device_count * sizeof(uint64_t));
        sums = digest(sums, use.links, d->f.design.device_count * sizeof(uint32_t));
        for (size_t i = 0; i < nics.count; i++) {
            const struct myr_use_nic *nic = &nics.items[i];
            const uint64_t fields[] = {nic->device,   nic->port, nic->peer,   nic->first_gpu,
                                       nic->last_gpu, nic->send, nic->receive};
            sums = digest(sums, fields, sizeof(fields));
        }
        const struct myr_balance_report *report = &use.report;
        myr_buf_printf(&d->out,
                       "  %s: max %.4f of %.4f mean %.4f share %.4f of %.4f loaded %u lost %u "
                       "| %08x %08x %08x\n",
                       myr_policy_names[policy], report->max_load, report->bound, report->mean_load,
                       report->share_of_ideal, report->throughput_bound, report->loaded,
                       report->unroutable, (unsigned)routes_digest(&use.routes), (unsigned)sums,
                       (unsigned)digest(3, drawing.data, drawing.len));
        myr_buf_done(&drawing);
        myr_use_done(&use);
    }
}

static void put_degraded(struct drawing *d, const struct myr_degraded *left)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    if (left->worst_a != MYR_NONE) {
        myr_design_name(&d->f.design, left->worst_a, &names);
        myr_buf_putc(&names, ' ');
        myr_design_name(&d->f.design, left->worst_b, &names);
    }
    myr_buf_printf(&d->out, "bisection %llu of %llu, worst %llu%s (%s), rail %u %llu, cut %u\n",
                   (unsigned long long)left->bisection_gbps,
                   (unsigned long long)left->bisection_full_gbps,
                   (unsigned long long)left->worst_pair_gbps, left->worst_exact ? "" : " or less",
                   names.len ? names.data : "none", left->rail_least,
                   (unsigned long long)left->rail_gbps_least, left->hosts_cut);
}

static void put_failover(struct drawing *d, struct myr_failover what)
{
    myr_buf_printf(&d->out, "  without %s %u: choices %u remote %u cut %u flows %u left %.4f\n",
                   what.link == MYR_NONE ? "device" : "link",
                   what.link == MYR_NONE ? what.device : what.link, what.local_choices,
                   what.remote_switches, what.hosts_cut, what.flows_affected, what.bandwidth_left);
}

static void put_repairs(struct drawing *d, uint32_t number)
{
    struct myr_err err = {};
    struct myr_graph *graph = &d->f.graph;
    struct myr_routes routes = {};
    struct myr_degraded left;
    struct myr_blast blast;
    uint64_t *load = myr_xcalloc(2 * (size_t)d->f.design.link_count, sizeof(*load));
    struct myr_balance_options options = {.policy = MYR_POLICY_ECMP_CRC, .seed = number};
    assert_int_equal(myr_balance(graph, &options, d->flows.items.items, d->flows.items.count,
                                 &routes, load, &err),
                     MYR_OK);
    free(load);
    uint32_t total, *links = fixture_links(&d->f, &total);
    put_failover(d, myr_failover_link(graph, myr_rng_below(&d->rng, d->f.design.link_count), NULL));
    for (uint32_t i = 0; i < 3 && total; i++) {
        put_failover(d, myr_failover_link(graph, links[myr_rng_below(&d->rng, total)], &routes));
    }
    free(links);
    uint32_t devices[3];
    for (uint32_t i = 0; i < 2; i++) {
        devices[i] = graph->first_switch + myr_rng_below(&d->rng, graph->switch_count);
        put_failover(d, myr_failover_device(graph, devices[i], &routes));
    }
    devices[2] = d->f.design.head->first_node;
    myr_degraded_report(graph, &left);
    myr_buf_put_lit(&d->out, "  now ");
    put_degraded(d, &left);
    for (uint32_t rail = 0; rail < myr_degraded_rail_count(graph); rail++) {
        struct myr_rail_bandwidth one = myr_degraded_rail(graph, rail);
        myr_buf_printf(&d->out, "%s%llu/%llu", rail ? " " : "    rails ",
                       (unsigned long long)one.gbps, (unsigned long long)one.full_gbps);
    }
    myr_buf_putc(&d->out, '\n');
    for (uint32_t count = 1; count <= 3; count++) {
        myr_blast_radius(graph, devices, count, count == 1 ? NULL : &routes, &blast);
        myr_buf_printf(&d->out,
                       "  blast of %u: cut %u nodes %u dead %u cut %u weak gpus %u flows %u, ",
                       blast.devices, blast.hosts_cut, blast.nodes_dead, blast.nodes_cut,
                       blast.nodes_weakened, blast.gpus_lost, blast.flows_affected);
        put_degraded(d, &blast.left);
    }
    myr_routes_done(&routes);
}

static void put_stats(struct drawing *d, const struct myr_colouring *colouring, const char *what)
{
    struct myr_colouring_stats stats = myr_colouring_stats(colouring);
    myr_buf_printf(&d->out, " %s %u/%u moved %u max %.3f of %.3f;", what, stats.shared, stats.flows,
                   stats.moved, stats.max_load, stats.bound);
}

/* Flows come and go and links die and live again: what moves, and where all are in the end. */
static void put_planning(struct drawing *d)
{
    struct myr_graph *graph = &d->f.graph;
    struct myr_colouring *colouring = myr_colouring_create(graph);
    size_t count = d->flows.items.count, half = count / 2;
    uint32_t total, *links = fixture_links(&d->f, &total);
    if (!colouring || count == 0) {
        myr_buf_printf(&d->out, "  %s\n", colouring ? "no flows" : "not regular");
        myr_colouring_free(colouring);
        free(links);
        return;
    }
    uint32_t first = myr_colouring_add(colouring, d->flows.items.items, half);
    put_stats(d, colouring, "  half");
    uint32_t next = myr_colouring_add(colouring, d->flows.items.items + half, count - half);
    assert_int_equal(next, first + half);
    put_stats(d, colouring, "all");
    for (uint32_t i = 0; i < 6 && total; i++) {
        uint32_t link = links[myr_rng_below(&d->rng, total)];
        myr_graph_set_link(graph, link, !myr_graph_link_dead(graph, link));
        myr_colouring_link_changed(colouring, link);
        put_stats(d, colouring, myr_graph_link_dead(graph, link) ? "dies" : "lives");
    }
    for (uint32_t i = 0; i < half; i += 2) {
        myr_colouring_remove(colouring, first + i);
    }
    put_stats(d, colouring, "fewer");
    uint64_t sum = 4;
    uint32_t lost = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct myr_path path;
        if ((i < half && i % 2 == 0) || !myr_colouring_path(colouring, first + i, &path)) {
            lost++;
            continue;
        }
        sum = digest(sum, path.channels, path.count * sizeof(uint32_t));
    }
    myr_buf_printf(&d->out, " %u without a path | %08x\n", lost, (unsigned)sum);
    myr_colouring_free(colouring);
    free(links);
}

static void put_paths(struct drawing *d)
{
    const struct myr_graph *graph = &d->f.graph;
    uint64_t sum = 5, hops = 0, found = 0;
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t from = fixture_host_port(&d->f, &d->rng), to = fixture_host_port(&d->f, &d->rng);
        struct myr_path path;
        uint64_t period, value = myr_rng_below(&d->rng, 1000);
        bool way = i % 2 ? myr_path_with_period(graph, from, to, value, &path, &period)
                         : myr_path_valiant(graph, from, to, i % 5, value, &path);
        if (way) {
            found++;
            hops += path.count;
            sum = digest(sum, path.channels, path.count * sizeof(uint32_t));
            sum = i % 2 ? digest(sum, &period, sizeof(period)) : sum;
        }
        for (uint32_t s = 0; s < graph->switch_count; s += 1 + graph->switch_count / 4) {
            uint32_t candidates[MYR_CANDIDATES_MAX];
            uint32_t leaf = myr_graph_host_switch(graph, to), device = graph->first_switch + s;
            uint32_t count =
                leaf == MYR_NONE ? 0 : myr_path_candidates(graph, device, leaf, candidates);
            uint32_t fixed = myr_path_static(graph, device, to);
            sum = digest(sum, candidates, count * sizeof(uint32_t));
            sum = digest(sum, &fixed, sizeof(fixed));
        }
    }
    myr_buf_printf(&d->out, "  %llu of 60 paths, %llu hops | %08x\n", (unsigned long long)found,
                   (unsigned long long)hops, (unsigned)sum);
}

static void put_bounds(struct drawing *d)
{
    size_t count = d->flows.items.count;
    uint64_t *most = myr_xcalloc(count + 1, sizeof(*most));
    for (size_t i = 0; i < count; i++) {
        most[i] = MYR_LOAD_ONE / 8 * (1 + myr_rng_below(&d->rng, 8));
    }
    const struct myr_flow *flows = d->flows.items.items;
    myr_buf_printf(&d->out, "  bounds: load %.4f, split %.4f, throughput %.4f\n",
                   myr_load_bound(&d->f.graph, flows, count, false),
                   myr_load_bound(&d->f.graph, flows, count, true),
                   myr_throughput_bound(&d->f.graph, flows, count, most) / (double)MYR_LOAD_ONE);
    free(most);
}

/* The same questions for a whole fabric, as rows with names. */
static void put_lists(struct drawing *d, uint32_t number)
{
    struct myr_err err = {};
    struct myr_fabric_case fabric = {.arena = d->f.arena,
                                     .design = d->f.design,
                                     .graph = d->f.graph,
                                     .flows = d->flows,
                                     .traffic = "drawn"};
    struct myr_failover_question question = {.all = number == 4 && d->f.design.link_count < 40};
    struct myr_balance_options options = {.policy = MYR_POLICY_PORT};
    struct myr_routes routes = {};
    struct myr_failover_rows rows;
    struct myr_degraded_answer answer;
    struct myr_blast_rows blasts;
    if (number == 1) {
        question.link = myr_name_link(&fabric.arena, &d->f.design, d->f.design.link_count - 1);
    } else if (number == 2) {
        question.device = myr_name_device(&fabric.arena, &d->f.design, d->f.graph.first_switch);
    }
    assert_int_equal(myr_repair_routes(&fabric, &options, &routes, &err), MYR_OK);
    assert_int_equal(myr_failover_list(&fabric, &question, &routes, &rows, &err), MYR_OK);
    for (size_t i = 0; i < rows.count; i++) {
        const struct myr_failover_row *row = &rows.items[i];
        myr_buf_printf(&d->out, "    %s %s %s x%llu:", row->what, row->kind,
                       row->between ? row->between : "-", (unsigned long long)row->alike);
        put_failover(d, row->failover);
    }
    myr_degraded_answer(&fabric, &answer);
    myr_buf_printf(&d->out, "  worst %s %s of %llu, %u rails, %.3f\n",
                   answer.worst_a ? answer.worst_a : "-", answer.worst_b ? answer.worst_b : "-",
                   (unsigned long long)answer.worst_full_gbps, answer.rail_count,
                   answer.rail_count ? myr_degraded_share(answer.rails[0]) : 0);
    const char *names =
        myr_arena_printf(&fabric.arena, "%s,node/00001",
                         myr_name_device(&fabric.arena, &d->f.design, d->f.graph.first_switch));
    assert_int_equal(myr_blast_list(&fabric, names, &routes, &blasts, &err), MYR_OK);
    for (size_t i = 0; i < blasts.count; i++) {
        const struct myr_blast_row *row = &blasts.items[i];
        myr_buf_printf(&d->out, "    %s: %.4f left, %u gpus, ", row->what, row->bisection_left,
                       row->blast.gpus_lost);
        put_degraded(d, &row->blast.left);
    }
    myr_routes_done(&routes);
    d->f.arena = fabric.arena;
    d->f.graph = fabric.graph;
}

/* Flows that fill the uplinks and more, again and again: the plan is what is looked at. */
static const struct fixture_case crowds[] = {
    {"crowd of two tiers", 48, "generic-1gpu",
     "topology: clos, switch: qm8790, nic_gbps: 200, leaf_down: 8, leaf_up: 6"},
    {"crowd of pods", 64, "generic-1gpu",
     "topology: clos, switch: qm8790, tiers: 3, nic_gbps: 200, leaf_down: 4, leaf_up: 4, "
     "pod_leaves: 4"},
    {"crowd in thin pods", 60, "generic-1gpu",
     "topology: clos, switch: qm8790, tiers: 3, nic_gbps: 200, leaf_down: 6, leaf_up: 3, "
     "pod_leaves: 2"},
    {"crowd of spines", 36, "generic-1gpu",
     "topology: clos, switch: qm8790, tiers: 3, nic_gbps: 200, leaf_down: 4, leaf_up: 16, "
     "pod_leaves: 4"},
    {"crowd of rails", 8, "a100-8gpu",
     "switch: qm8790, tiers: 3, nic_gbps: 200, leaf_down: 2, leaf_up: 8, pod_leaves: 8"},
};

static void draw_crowd(struct drawing *d, uint32_t number)
{
    uint32_t gpus = d->f.design.head->gpus;
    d->flows.items.count = 0;
    /* Hosts with few others on their leaf need many flows to fill its uplinks. */
    uint32_t leaves = d->f.graph.net->leaf, rounds = gpus / leaves > 4 ? 1 : 4;
    for (uint32_t i = 0; i < rounds + number % 3; i++) {
        myr_flows_permutation(&d->flows, &d->f.graph, number * 8 + i);
    }
    /* Many to the same few: leaves of which more is asked than they have. */
    for (uint32_t i = 0; number % 4 == 3 && i < gpus; i++) {
        uint32_t from = myr_flow_port(&d->f.graph, i);
        uint32_t to = myr_flow_port(&d->f.graph, myr_rng_below(&d->rng, 1 + gpus / 4));
        struct myr_flow flow = {from, to, MYR_SHARE_ONE, (uint16_t)i, 0};
        if (from != to) {
            myr_vec_push(&d->flows.items, flow);
        }
    }
    for (size_t i = 0; number % 2 && i < d->flows.items.count; i++) {
        d->flows.items.items[i].share = 1 + myr_rng_below(&d->rng, number % 5 ? 4 : 1000) * 250;
        d->flows.items.items[i].share %= MYR_SHARE_ONE + 1;
    }
}

/* One spine of the first pod keeps two of its links to the cores: others have to do its work. */
static void weaken_spine(struct drawing *d)
{
    struct myr_graph *graph = &d->f.graph;
    uint32_t spine = graph->net->first_spine + myr_rng_below(&d->rng, graph->net->pod_spines);
    for (uint32_t k = 2; graph->net->core && k < myr_graph_uplink_count(graph, spine); k++) {
        myr_graph_set_link(graph, myr_channel_link(myr_graph_uplink(graph, spine, k)), true);
    }
}

static void crowds_are_planned_as_they_were(void **state)
{
    (void)state;
    struct drawing d = {};
    for (uint32_t c = 0; c < MYR_ARRAY_COUNT(crowds); c++) {
        fixture_plan(&d.f, crowds[c].servers, crowds[c].server, crowds[c].net);
        myr_rng_init(&d.rng, SEED, 100 + c);
        for (uint32_t number = 0; number < 24; number++) {
            fixture_heal(&d.f);
            if (number % 3 == 2) {
                fixture_break(&d.f, &d.rng, 3 * number, number % 6 == 5);
            }
            if (number % 3 == 1) {
                weaken_spine(&d);
            }
            myr_buf_printf(&d.out, "%s %u:\n", crowds[c].name, number);
            draw_crowd(&d, number);
            put_bounds(&d);
            put_planning(&d);
        }
        fixture_done(&d.f);
    }
    myr_flows_done(&d.flows);
    assert_kept("fabric-crowds.txt", &d.out);
    myr_buf_done(&d.out);
}

static void fabrics_are_as_they_were(void **state)
{
    (void)state;
    struct drawing d = {};
    for (uint32_t c = 0; c < MYR_ARRAY_COUNT(cases); c++) {
        fixture_plan(&d.f, cases[c].servers, cases[c].server, cases[c].net);
        myr_rng_init(&d.rng, SEED, c);
        for (uint32_t number = 0; number < CASES; number++) {
            fixture_heal(&d.f);
            if (number) {
                fixture_break(&d.f, &d.rng, number * number, number == 3);
            }
            myr_buf_printf(&d.out, "%s %u:\n", cases[c].name, number);
            draw_flows(&d, number);
            put_policies(&d, number);
            put_bounds(&d);
            put_repairs(&d, number);
            put_lists(&d, number);
            put_paths(&d);
            put_planning(&d);
        }
        fixture_done(&d.f);
    }
    myr_flows_done(&d.flows);
    assert_kept("fabric-drawn.txt", &d.out);
    myr_buf_done(&d.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fabrics_are_as_they_were),
                                       cmocka_unit_test(crowds_are_planned_as_they_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
