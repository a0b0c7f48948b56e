/*
 * The checker against designs that are not what was planned: a sound plan is built step by step,
 * one thing of it is spoilt, and what is counted then is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan_internal.h"
#include "planned_test.h"

struct built {
    struct planned p;
    struct plan *plan;
    struct net_plan *net; /* compute */
};

/* All steps before the check. */
static void build(struct built *b, const char *text)
{
    planned_read(&b->p, text);
    b->plan = MYR_ARENA_ONE(&b->p.arena, struct plan);
    b->plan->arena = &b->p.arena;
    b->plan->catalog = &b->p.catalog;
    b->plan->spec = &b->p.spec;
    b->net = &b->plan->nets[MYR_NET_COMPUTE];
    (void)plan_string(b->plan, "");
    assert_int_equal(plan_size(b->plan, &b->p.err), MYR_OK);
    assert_int_equal(plan_place(b->plan, &b->p.err), MYR_OK);
    assert_int_equal(plan_optics(b->plan, &b->p.err), MYR_OK);
    plan_wire(b->plan);
    b->plan->design.devtypes = b->plan->devtypes.items;
    b->plan->findings.count = 0;
}

/* The findings, a line each, are the lines expected. */
static void found(struct built *b, const char *expected)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    assert_int_equal(plan_check(b->plan, &b->p.err), MYR_OK);
    for (size_t i = 0; i < b->plan->findings.count; i++) {
        const struct myr_finding *finding = &b->plan->findings.items[i];
        const char *strings = b->plan->strings.data;
        myr_buf_printf(&told, "%u %s, %s: %s (%s)\n", finding->severity, strings + finding->rule,
                       strings + finding->where, strings + finding->message,
                       strings + finding->remedy);
    }
    myr_buf_putc(&told, '\0');
    assert_string_equal(told.data, expected);
}

static void end(struct built *b)
{
    plan_release(b->plan);
    planned_end(&b->p);
}

#define REPORT "report this: the builder and the checker disagree"

/* Two leaves of each of two rails below two spines. */
static const char rails[] =
    "servers: 4\nserver: h100-8gpu\nnetworks: {compute: {topology: rail, "
    "switch: mqm9790-ns2f, rails: 2, leaf_down: 8, leaf_up: 8, tiers: 2}}\n";

static uint32_t port_of(const struct built *b, uint32_t device, uint32_t port)
{
    return b->plan->design.first_port[device] + port;
}

/* The links of two ports change places at those. */
static void swap_ends(struct built *b, uint32_t one, uint32_t two)
{
    struct myr_design *design = &b->plan->design;
    uint32_t links[] = {design->port_link[one], design->port_link[two]};
    const uint32_t ports[] = {one, two};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t *ends[] = {&design->link_a[links[i]], &design->link_b[links[i]]};
        uint32_t at = *ends[0] == ports[i] ? 0 : 1;
        assert_int_equal(*ends[at], ports[i]);
        *ends[at] = ports[!i];
        design->port_link[ports[!i]] = links[i];
    }
}

static void a_sound_plan_has_no_findings(void **state)
{
    (void)state;
    struct built b;
    build(&b, rails);
    found(&b, "");
    assert_int_equal(b.net->out.links[MYR_LAYER_HOST], 32);
    assert_int_equal(b.net->out.links[MYR_LAYER_FABRIC], 32);
    assert_int_equal(b.net->out.cables[MYR_LAYER_HOST], 32);
    assert_int_equal(b.net->out.fibres, 64);
    assert_int_equal(b.net->out.copper_cables, 0);
    end(&b);
}

static void what_was_promised_and_is_not_there_is_told(void **state)
{
    (void)state;
    struct built b;
    build(&b, rails);
    b.net->link_total++;
    found(&b, "2 structure, compute: links: counted 64, planned 65 (" REPORT ")\n");
    end(&b);
    build(&b, rails);
    b.net->endpoints--;
    found(&b, "2 structure, compute: host links: counted 32, planned 31 (" REPORT ")\n");
    end(&b);
    build(&b, rails);
    b.net->out.diameter_hops = 1;
    found(&b, "2 structure, compute: diameter in hops: counted 2, planned 1 (" REPORT ")\n");
    end(&b);
    build(&b, rails);
    b.net->out.diameter_hops = 3; /* shorter than promised is as good */
    found(&b, "");
    end(&b);
    build(&b, rails);
    b.net->out.units = 2;
    found(&b, "2 structure, compute: separate fabrics: counted 1, planned 2 (" REPORT ")\n");
    end(&b);
}

static void a_nic_on_a_leaf_of_another_rail_is_counted(void **state)
{
    (void)state;
    struct built b;
    build(&b, rails);
    uint32_t leaf = b.net->out.first_leaf;
    swap_ends(&b, port_of(&b, leaf, 0), port_of(&b, leaf + 1, 0));
    found(&b, "2 structure, compute: NICs on a leaf of another rail: counted 2, planned 0 (" REPORT
              ")\n");
    end(&b);
    /* The same rail of another group is no other rail. */
    build(&b, rails);
    leaf = b.net->out.first_leaf;
    swap_ends(&b, port_of(&b, leaf, 0), port_of(&b, leaf + 2, 0));
    found(&b, "");
    end(&b);
}

/* Four leaves with eight links to each of two spines. */
static const char pairs[] = "servers: 8\nserver: h100-8gpu\nnetworks: {compute: {topology: clos, "
                            "switch: eth-12t8-32x400, leaf_down: 16, leaf_up: 16, tiers: 2%s}}\n";

static void build_pairs(struct built *b, const char *more)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
    const char *at = strstr(pairs, "%s");
    myr_buf_put(&spec, pairs, (size_t)(at - pairs));
    myr_buf_printf(&spec, "%s%s", more, at + 2);
    build(b, spec.data);
    assert_int_equal(b->net->out.leaf, 4);
}

/* One link of a leaf to another spine, and one of its neighbour back: so many pairs of ports. */
static void mix_uplinks(struct built *b, uint32_t times)
{
    uint32_t leaf = b->net->out.first_leaf, up = b->net->out.leaf_down;
    uint32_t last = up + b->net->out.leaf_up - 1;
    for (uint32_t i = 0; i < times; i++) {
        swap_ends(b, port_of(b, leaf, up + i), port_of(b, leaf + 1, last - i));
    }
}

static void links_that_are_uneven_are_told(void **state)
{
    (void)state;
    struct built b;
    build_pairs(&b, "");
    assert_int_equal(b.net->out.spine, 2);
    mix_uplinks(&b, 1);
    found(&b, "1 uneven-links, compute: leaf to spine: 7 to 9 links between a pair (fill: regular "
              "makes every pair equal)\n");
    end(&b);
    build_pairs(&b, "");
    mix_uplinks(&b, 8); /* all to one spine, and a leaf has no pair with the other */
    found(&b,
          "2 structure, compute: diameter in hops: counted 4, planned 2 (" REPORT
          ")\n1 uneven-links, compute: leaf to spine: 8 to 16 links between a pair (fill: regular "
          "makes every pair equal)\n");
    end(&b);
    /* Dense: leaves may differ among each other, the links of one leaf by one. */
    build_pairs(&b, ", fill: dense");
    mix_uplinks(&b, 1);
    found(&b, "0 uneven-links, compute: leaf to spine: 7 to 9 links between a pair (fill: regular "
              "makes every pair equal)\n2 structure, compute: spread of a switch's links over its "
              "pairs: counted 2, planned 1 (" REPORT ")\n");
    end(&b);
}

/* Ports that lead nowhere: the leaf is a fabric by itself. */
static void a_leaf_that_is_cut_off_is_told(void **state)
{
    (void)state;
    struct built b;
    build_pairs(&b, "");
    for (uint32_t i = 0; i < b.net->out.leaf_up; i++) {
        uint32_t port = port_of(&b, b.net->out.first_leaf + 2, b.net->out.leaf_down + i);
        uint32_t peer = myr_design_peer(&b.plan->design, port);
        b.plan->design.port_link[port] = b.plan->design.port_link[peer] = MYR_NONE;
    }
    found(&b, "2 structure, compute: separate fabrics: counted 2, planned 1 (" REPORT ")\n");
    end(&b);
}

/* Three tiers: the same is counted between spines and cores, and in no other tier. */
static void uneven_links_to_the_cores_are_told(void **state)
{
    (void)state;
    struct built b;
    build(&b, "servers: 128\nserver: generic-1gpu\nnetworks: {compute: {topology: clos, switch: "
              "eth-12t8-32x400, leaf_down: 16, leaf_up: 16, tiers: 3, islands: 4}}\n");
    const struct myr_network *out = &b.net->out;
    uint32_t first = b.plan->devtypes.items[b.net->spine_type].groups[1].first;
    assert_true(out->core > out->core_groups && out->pods == 4);
    swap_ends(&b, port_of(&b, out->first_spine, first),
              port_of(&b, out->first_spine + out->pod_spines, first + out->spine_up - 1));
    MYR_CLEANUP(myr_buf_done) struct myr_buf expected = {};
    uint32_t pair = out->spine_up / out->group_cores;
    myr_buf_printf(&expected,
                   "1 uneven-links, compute: spine to core: %u to %u links between a pair (fill: "
                   "regular makes every pair equal)\n",
                   pair - 1, pair + 1);
    found(&b, expected.data);
    end(&b);
}

/* An access network is as wide as it is counted, and promised nothing. */
static void the_width_of_an_access_network_is_counted(void **state)
{
    (void)state;
    struct built b;
    build(&b, "servers: 4\nnetworks: {compute: , service: , oob: }\n");
    b.plan->nets[MYR_NET_SERVICE].out.diameter_hops = 77;
    found(&b, "");
    assert_int_equal(b.plan->nets[MYR_NET_SERVICE].out.diameter_hops, 2);
    assert_int_equal(b.plan->nets[MYR_NET_OOB].out.diameter_hops, 0); /* one access switch */
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_plan_has_no_findings),
        cmocka_unit_test(what_was_promised_and_is_not_there_is_told),
        cmocka_unit_test(a_nic_on_a_leaf_of_another_rail_is_counted),
        cmocka_unit_test(links_that_are_uneven_are_told),
        cmocka_unit_test(a_leaf_that_is_cut_off_is_told),
        cmocka_unit_test(uneven_links_to_the_cores_are_told),
        cmocka_unit_test(the_width_of_an_access_network_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
