/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdlib.h>

#include "check.h"
#include "fixture.h"

struct result {
    struct myr_routes routes;
    uint64_t *load;
};

static void run(const struct fixture *fixture, struct myr_balance_options options,
                const struct myr_flows *flows, struct result *ret)
{
    struct myr_err err;
    ret->load = myr_xcalloc((size_t)fixture->design.link_count * 2, sizeof(uint64_t));
    assert_int_equal(myr_balance(&fixture->graph, &options, flows->items.items, flows->items.count,
                                 &ret->routes, ret->load, &err),
                     MYR_OK);
}

static void result_done(struct result *result)
{
    myr_routes_done(&result->routes);
    free(result->load);
}

static enum myr_layer layer_of(const struct fixture *fixture, uint32_t channel)
{
    const struct myr_design *design = &fixture->design;
    uint32_t cable = design->link_cable[myr_channel_link(channel)];
    return (enum myr_layer)design->cabletypes[design->cable_type[cable]].layer;
}

/* Channels of a layer, one direction, that carry anything. */
static uint32_t channels_used(const struct fixture *fixture, const struct result *result,
                              enum myr_layer layer, uint32_t direction)
{
    uint32_t used = 0;
    for (uint32_t link = 0; link < fixture->design.link_count; link++) {
        uint32_t channel = link * 2 + direction;
        used += myr_graph_has_link(&fixture->graph, link) && layer_of(fixture, channel) == layer &&
                result->load[channel] > 0;
    }
    return used;
}

static void switches_with_one_seed_leave_core_links_empty(void **state)
{
    struct fixture fixture;
    struct myr_flows flows = {};
    (void)state;
    fixture_plan(&fixture, 256, "h100-8gpu", "switch: mqm9790, tiers: 3");
    myr_flows_permutation(&flows, &fixture.graph, 1);
    static const enum myr_policy hashed[] = {MYR_POLICY_ECMP_CRC, MYR_POLICY_ECMP_XOR};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(hashed); i++) {
        struct result good, bad;
        struct myr_balance_options options = {.policy = hashed[i], .seed = 3};
        run(&fixture, options, &flows, &good);
        options.polarised = true;
        run(&fixture, options, &flows, &bad);
        uint32_t apart = channels_used(&fixture, &good, MYR_LAYER_CORE, 0);
        uint32_t alike = channels_used(&fixture, &bad, MYR_LAYER_CORE, 0);
        SHOULD(alike * 2 < apart || hashed[i] == MYR_POLICY_ECMP_XOR,
               "%s: %u core links with one seed, %u with many\n", myr_policy_names[hashed[i]],
               alike, apart);
        SHOULD(alike <= apart, "%s: %u core links with one seed, %u with many\n",
               myr_policy_names[hashed[i]], alike, apart);
        result_done(&good);
        result_done(&bad);
    }
    myr_flows_done(&flows);
    fixture_done(&fixture);
}

/* What flows bring into a tier is what its links carry, whatever the policy. */
static void check_conservation(const struct fixture *fixture, const char *name,
                               const struct myr_flows *flows, enum myr_policy policy)
{
    struct result result;
    struct myr_balance_options options = {.policy = policy};
    double up = 0, down = 0, hosts = 0;
    run(fixture, options, flows, &result);
    for (uint32_t link = 0; link < fixture->design.link_count; link++) {
        if (!myr_graph_has_link(&fixture->graph, link)) {
            continue;
        }
        double gbps = myr_channel_gbps(&fixture->design, link * 2);
        double there = (double)result.load[link * 2] * gbps;
        double back = (double)result.load[link * 2 + 1] * gbps;
        if (layer_of(fixture, link * 2) == MYR_LAYER_FABRIC) {
            up += there;
            down += back;
        } else if (layer_of(fixture, link * 2) == MYR_LAYER_HOST) {
            hosts += there - back;
        }
    }
    double expected = 0;
    for (size_t i = 0; i < flows->items.count; i++) {
        const struct myr_flow *flow = &flows->items.items[i];
        uint32_t a = myr_graph_host_switch(&fixture->graph, flow->from_port);
        uint32_t b = myr_graph_host_switch(&fixture->graph, flow->to_port);
        expected += a != b ? (double)flow->share / MYR_SHARE_ONE : 0;
    }
    expected *= (double)MYR_LOAD_ONE * fixture->graph.net->host_gbps;
    SHOULD(up > expected * 0.9999 && up < expected * 1.0001, "%s, %s: up %g, %g expected\n", name,
           myr_policy_names[policy], up, expected);
    SHOULD(down > expected * 0.9999 && down < expected * 1.0001, "%s, %s: down %g, %g expected\n",
           name, myr_policy_names[policy], down, expected);
    SHOULD(hosts == 0, "%s, %s: hosts send %g more than they receive\n", name,
           myr_policy_names[policy], hosts);
    assert_int_equal(result.routes.unroutable, 0);
    result_done(&result);
}

static void loads_add_up_under_every_policy(void **state)
{
    static const struct fixture_case cases[] = {
        {"2 tiers", 64, "h100-8gpu", "switch: mqm9790"},
        {"3 tiers", 96, "h100-8gpu", "switch: mqm9790, tiers: 3"},
        {"dense", 96, "h100-8gpu", "switch: mqm9790, tiers: 3, fill: dense"},
        {"fast uplinks", 64, "h100-8gpu-2x200",
         "switch: sn5600, nic_gbps: 200, uplink_gbps: 400, planes: 2, leaf_down: 16, leaf_up: 8"},
    };
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture fixture;
        struct myr_flows flows = {};
        fixture_plan(&fixture, cases[i].servers, cases[i].server, cases[i].net);
        myr_flows_permutation(&flows, &fixture.graph, 5);
        for (size_t k = 0; k < flows.items.count; k++) {
            flows.items.items[k].share = (uint32_t)(100 + k % 9 * 100);
        }
        for (uint32_t policy = 0; policy < MYR_POLICY_COUNT; policy++) {
            check_conservation(&fixture, cases[i].name, &flows, (enum myr_policy)policy);
        }
        myr_flows_done(&flows);
        fixture_done(&fixture);
    }
}

/* Every route a sound path, each flow once (or in pieces that make it up). */
static void check_routes(struct fixture *fixture, const struct fixture_case *c, uint64_t seed)
{
    struct myr_rng rng;
    struct myr_flows flows = {};
    myr_rng_init(&rng, seed, 1);
    fixture_break(fixture, &rng, 4, false);
    myr_flows_permutation(&flows, &fixture->graph, seed);
    for (uint32_t policy = 0; policy < MYR_POLICY_COUNT; policy++) {
        struct result result;
        struct myr_balance_options options = {.policy = (enum myr_policy)policy, .seed = seed};
        run(fixture, options, &flows, &result);
        uint32_t *weight = myr_xcalloc(flows.items.count + 1, sizeof(*weight));
        for (uint32_t r = 0; r < result.routes.flow.count; r++) {
            const struct myr_flow *flow = &flows.items.items[result.routes.flow.items[r]];
            uint32_t first = result.routes.start.items[r];
            struct myr_path path = {.count = result.routes.start.items[r + 1] - first};
            memcpy(path.channels, &result.routes.channels.items[first],
                   path.count * sizeof(uint32_t));
            const char *fault =
                fixture_path_fault(fixture, flow->from_port, flow->to_port, &path, true);
            SHOULD(!fault, "%s, %s: %s\n", c->name, myr_policy_names[policy], fault);
            weight[result.routes.flow.items[r]] += result.routes.weight.items[r];
        }
        uint32_t lost = 0;
        for (size_t i = 0; i < flows.items.count && !result.routes.sprayed; i++) {
            SHOULD(weight[i] == 0 || weight[i] == flows.items.items[i].share,
                   "%s, %s: a flow of %u has routes for %u\n", c->name, myr_policy_names[policy],
                   flows.items.items[i].share, weight[i]);
            lost += weight[i] == 0;
        }
        SHOULD(result.routes.sprayed || lost == result.routes.unroutable, "%s, %s: %u lost, %u\n",
               c->name, myr_policy_names[policy], lost, result.routes.unroutable);
        free(weight);
        result_done(&result);
    }
    myr_flows_done(&flows);
}

static void routes_are_sound_under_every_policy(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < fixture_case_count; i++) {
        struct fixture fixture;
        const struct fixture_case *c = &fixture_cases[i];
        fixture_plan(&fixture, c->servers, c->server, c->net);
        check_routes(&fixture, c, fixture_seed(31));
        fixture_done(&fixture);
    }
}

/* Unsplit flows cannot do better than those that are spread over everything. */
static void spraying_is_even_in_a_whole_clos(void **state)
{
    struct fixture fixture;
    struct myr_flows flows = {};
    struct result result;
    (void)state;
    fixture_plan(&fixture, 96, "h100-8gpu", "switch: mqm9790, tiers: 3");
    myr_flows_permutation(&flows, &fixture.graph, 7);
    run(&fixture, (struct myr_balance_options){.policy = MYR_POLICY_SPRAY}, &flows, &result);
    const struct myr_network *net = fixture.graph.net;
    for (uint32_t leaf = 0; leaf < net->leaf; leaf++) {
        uint64_t first = result.load[myr_graph_uplink(&fixture.graph, net->first_leaf + leaf, 0)];
        for (uint32_t k = 0; k < net->leaf_up; k++) {
            uint64_t load =
                result.load[myr_graph_uplink(&fixture.graph, net->first_leaf + leaf, k)];
            assert_true(load <= first + net->leaf_down && first <= load + net->leaf_down);
        }
    }
    result_done(&result);
    myr_flows_done(&flows);
    fixture_done(&fixture);
}

/* One flow, by the definition: an even part over every candidate, and the same at the next one. */
static bool spread(const struct fixture *fixture, uint32_t device, uint32_t to, double share,
                   double *load, double *highest)
{
    uint32_t candidates[MYR_CANDIDATES_MAX];
    uint32_t count = myr_path_candidates(&fixture->graph, device, to, candidates);
    const struct myr_network *net = fixture->graph.net;
    for (uint32_t k = 0; k < count; k++) {
        double *at = &load[candidates[k]];
        if (highest) {
            *highest = *at > *highest ? *at : *highest;
        } else {
            *at +=
                share / count * net->host_gbps / myr_channel_gbps(&fixture->design, candidates[k]);
        }
        spread(fixture, myr_channel_to_device(&fixture->design, candidates[k]), to, share / count,
               load, highest);
    }
    return device == to || count > 0;
}

/* Channels within a part in a thousand of line rate; flows that have no candidates are left out. */
static void check_spread(const struct fixture *fixture, const char *name,
                         const struct myr_flows *flows)
{
    struct result result;
    size_t channels = (size_t)fixture->design.link_count * 2;
    double *load = myr_xcalloc(channels, sizeof(*load));
    run(fixture, (struct myr_balance_options){.policy = MYR_POLICY_SPRAY}, flows, &result);
    uint32_t detours = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < flows->items.count; i++) {
            const struct myr_flow *flow = &flows->items.items[i];
            uint32_t from = myr_graph_host_switch(&fixture->graph, flow->from_port);
            uint32_t to = myr_graph_host_switch(&fixture->graph, flow->to_port);
            double highest = 0, share = (double)flow->share / MYR_SHARE_ONE;
            bool sent = spread(fixture, from, to, share, load, pass ? &highest : NULL);
            detours += !sent && result.routes.limit.items[i] != UINT64_MAX;
            double limit = (double)result.routes.limit.items[i] / (double)MYR_LOAD_ONE;
            SHOULD(!pass || !sent || detours ||
                       (limit < highest + 0.001 && limit > highest - 0.001),
                   "%s: a flow meets %f, not %f\n", name, highest, limit);
        }
    }
    for (size_t channel = 0; channel < channels && !detours; channel++) {
        double found = (double)result.load[channel] / (double)MYR_LOAD_ONE;
        bool host = layer_of(fixture, (uint32_t)channel) == MYR_LAYER_HOST ||
                    !myr_graph_has_link(&fixture->graph, (uint32_t)channel / 2);
        SHOULD(host || (found < load[channel] + 0.001 && found > load[channel] - 0.001),
               "%s: channel %zu carries %f, not %f\n", name, channel, found, load[channel]);
    }
    free(load);
    result_done(&result);
}

static void sprayed_loads_are_those_of_single_flows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < fixture_case_count; i++) {
        struct fixture fixture;
        struct myr_rng rng;
        const struct fixture_case *c = &fixture_cases[i];
        fixture_plan(&fixture, c->servers, c->server, c->net);
        myr_rng_init(&rng, fixture_seed(77), i);
        for (uint32_t broken = 0; broken < 3; broken++) {
            struct myr_flows flows = {};
            myr_flows_permutation(&flows, &fixture.graph, broken + 1);
            flows.items.count = flows.items.count < 200 ? flows.items.count : 200;
            for (size_t k = 0; k < flows.items.count; k++) {
                flows.items.items[k].share = 1 + (uint32_t)myr_rng_below(&rng, MYR_SHARE_ONE);
            }
            check_spread(&fixture, c->name, &flows);
            myr_flows_done(&flows);
            fixture_break(&fixture, &rng, 3, false);
        }
        fixture_done(&fixture);
    }
}

static void policies_are_the_same_every_time(void **state)
{
    struct fixture fixture;
    struct myr_flows flows = {};
    (void)state;
    fixture_plan(&fixture, 64, "h100-8gpu", "switch: mqm9790");
    myr_flows_permutation(&flows, &fixture.graph, 9);
    for (uint32_t policy = 0; policy < MYR_POLICY_COUNT; policy++) {
        struct result first, second;
        struct myr_balance_options options = {.policy = (enum myr_policy)policy, .seed = 11};
        run(&fixture, options, &flows, &first);
        run(&fixture, options, &flows, &second);
        assert_memory_equal(first.load, second.load,
                            (size_t)fixture.design.link_count * 2 * sizeof(uint64_t));
        result_done(&first);
        result_done(&second);
    }
    myr_flows_done(&flows);
    fixture_done(&fixture);
}

/* Where no colouring is possible the search must still beat a switch that looks at itself only. */
static void search_beats_local_choices_on_irregular_fabrics(void **state)
{
    static const struct fixture_case cases[] = {
        {"dense", 96, "h100-8gpu", "switch: mqm9790, tiers: 3, fill: dense"},
        {"dragonfly", 72, "generic-1gpu",
         "topology: dragonfly, switch: mqm9790, global_ports: 2, group_switches: 4, "
         "hosts_per_switch: 2"},
    };
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture fixture;
        fixture_plan(&fixture, cases[i].servers, cases[i].server, cases[i].net);
        for (uint64_t seed = 0; seed < 5; seed++) {
            struct myr_flows flows = {};
            struct myr_balance_report report[2];
            struct myr_err err;
            static const enum myr_policy policies[] = {MYR_POLICY_PLANNED, MYR_POLICY_ADAPTIVE};
            myr_flows_permutation(&flows, &fixture.graph, seed);
            for (uint32_t k = 0; k < 2; k++) {
                struct myr_balance_options options = {.policy = policies[k]};
                assert_int_equal(myr_balance_report(&fixture.graph, &options, flows.items.items,
                                                    flows.items.count, &report[k], &err),
                                 MYR_OK);
            }
            SHOULD(report[0].share_of_ideal >= report[1].share_of_ideal &&
                       report[0].max_load <= report[1].max_load,
                   "%s, seed %u: planned %g, adaptive %g\n", cases[i].name, (uint32_t)seed,
                   report[0].share_of_ideal, report[1].share_of_ideal);
            myr_flows_done(&flows);
        }
        fixture_done(&fixture);
    }
}

/* In a permutation each flow could have line rate, so that each that is lost costs its part. */
static void flows_without_a_path_are_missing_in_the_share(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < fixture_case_count; i++) {
        const struct fixture_case *c = &fixture_cases[i];
        struct fixture fixture;
        struct myr_flows flows = {};
        struct myr_rng rng;
        uint32_t lost = 0;
        fixture_plan(&fixture, c->servers, c->server, c->net);
        myr_flows_permutation(&flows, &fixture.graph, 3);
        myr_rng_init(&rng, fixture_seed(31), i);
        fixture_break(&fixture, &rng, 12, true);
        uint32_t first = fixture.design.port_link[flows.items.items[0].from_port];
        if (!myr_graph_link_dead(&fixture.graph, first)) {
            myr_graph_set_link(&fixture.graph, first, false);
        }
        for (uint32_t policy = 0; policy < MYR_POLICY_COUNT; policy++) {
            struct myr_balance_options options = {.policy = (enum myr_policy)policy};
            struct myr_balance_report report;
            struct myr_err err;
            assert_int_equal(myr_balance_report(&fixture.graph, &options, flows.items.items,
                                                flows.items.count, &report, &err),
                             MYR_OK);
            double left = 1 - (double)report.unroutable / (double)flows.items.count;
            lost += report.unroutable;
            SHOULD(report.share_of_ideal <= left + 1e-5 &&
                       report.share_of_ideal <= report.throughput_bound + 1e-5,
                   "%s, %s: share %g, %g of the flows have a path\n", c->name,
                   myr_policy_names[policy], report.share_of_ideal, left);
        }
        assert_true(lost > 0);
        myr_flows_done(&flows);
        fixture_done(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_without_a_path_are_missing_in_the_share),
        cmocka_unit_test(switches_with_one_seed_leave_core_links_empty),
        cmocka_unit_test(loads_add_up_under_every_policy),
        cmocka_unit_test(routes_are_sound_under_every_policy),
        cmocka_unit_test(spraying_is_even_in_a_whole_clos),
        cmocka_unit_test(sprayed_loads_are_those_of_single_flows),
        cmocka_unit_test(policies_are_the_same_every_time),
        cmocka_unit_test(search_beats_local_choices_on_irregular_fabrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
