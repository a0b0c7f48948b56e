/*
 * What a spec asks for against what is counted: figures that follow from the spec by one line of
 * arithmetic, held against that line.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "planned_test.h"

#define RACKS(more)                                                                               \
    "servers: 7\nnetworks: {compute: {switch: mqm9790-ns2f}}\nroom: {rows: 3, columns: " more "}" \
    "\n"

/* Below 1:1 as well; a leaf without uplinks is none. Above 1:1 the ratio is a limit: a leaf with
 * more of them is there only where that needs fewer parts, which is said. */
static void a_leaf_has_the_uplinks_of_its_ratio(void **state)
{
    static const double ratios[] = {0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 0.9, 1, 1.5, 2, 3, 7, 20};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ratios); i++) {
        struct planned p;
        char text[160];
        snprintf(text, sizeof(text), "servers: 64\nnetworks: {compute: {oversubscription: %g}}\n",
                 ratios[i]);
        planned_begin(&p, text);
        double down = planned_number(&p, "networks.compute.shape.leaf_down");
        double up = planned_number(&p, "networks.compute.shape.leaf_up");
        assert_true(up * ratios[i] >= down - 1e-9);
        assert_true((up - 1) * ratios[i] < down || planned_finding(&p, "ratio-below-asked"));
        planned_end(&p);
    }
}

/* Two racks of 15 kW may have become one of 20 and one of 10. */
static void racks_may_draw_together_what_the_room_gives_them(void **state)
{
    static const char *const rooms[] = {RACKS("3, rack_kw: 15, server_kw: 10"),
                                        RACKS("2, rack_kw: 15, server_kw: 10"),
                                        RACKS("3, rack_kw: 31, server_kw: 10")};
    bool mixed = false;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rooms); i++) {
        struct planned p;
        planned_begin(&p, rooms[i]);
        double limit = 0;
        for (uint32_t r = 0; r < p.design.rack_count; r++) {
            limit += p.design.rack_more[r].units ? p.design.racks[r].watts_max / 1000.0 : 0;
        }
        mixed = mixed || planned_finding(&p, "room-mixed-power");
        assert_true(limit > 0);
        assert_true(planned_number(&p, "power.pool.provisioned_kw") == limit);
        planned_end(&p);
    }
    assert_true(mixed);
}

static void a_started_piece_is_a_whole_one(void **state)
{
    static const struct {
        const char *item;
        uint64_t pieces;
    } cases[] = {
        {"quantity: 0.0000001, per: gpu", 1},
        {"quantity: 0.1, per: gpu", 3}, /* 30 * 0.1 is above 3 in floating point */
        {"quantity: 0.3333333333333333, per: server", 1},
        {"quantity: 333333.3333333, per: server", 1000000},
        {"quantity: 333333.3333334, per: server", 1000001},
        {"quantity: 2", 2},
        {"quantity: 2.000001", 3},
        {"quantity: 1000000000", 1000000000},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct planned p;
        char text[240];
        bool thirty = i == 1;
        snprintf(text, sizeof(text), "servers: %u\n%sitems: [{part: bastion, %s}]\n",
                 thirty ? 30 : 3, thirty ? "server: generic-1gpu\n" : "", cases[i].item);
        planned_begin(&p, text);
        const struct myr_bom_row *last = &p.design.bom[p.design.bom_count - 1];
        assert_string_equal(myr_design_str(&p.design, last->part), "BASTION");
        assert_int_equal(last->quantity, cases[i].pieces);
        planned_end(&p);
    }
}

/* The product is shown with the numbers of the spec. */
static void a_quantity_is_shown_as_it_was_given(void **state)
{
    struct planned p;
    (void)state;
    planned_begin(&p, "servers: 3\nitems: [{part: bastion, quantity: 333333.3333333, per: "
                      "server}]\n");
    const struct myr_bom_row *last = &p.design.bom[p.design.bom_count - 1];
    assert_string_equal(myr_design_str(&p.design, last->inputs), "333333.3333333 * 3");
    planned_end(&p);
}

/* More ports than the cards of a server have: their cards are in no price. */
static void cards_that_a_server_has_not_are_told(void **state)
{
    static const struct {
        const char *text;
        bool told;
    } cases[] = {
        {"servers: 20\nnetworks: {compute: {nic_ports: 8}}\n", false},
        {"servers: 20\nnetworks: {compute: {nic_ports: 16}}\n", true},
        {"servers: 4\nserver: generic-1gpu\nnetworks: {compute: {nic_ports: 64}}\n", true},
        {"servers: 4\nnetworks: {compute: , service: {nic_ports: 4}}\n", true},
        {"servers: 4\nnetworks: {compute: , service: {nic_ports: 2}}\n", false},
        {"groups: [{name: a, servers: 2, server: h100-8gpu}, {name: b, servers: 2, server: "
         "generic-1gpu}]\nnetworks: {compute: {topology: clos, nic_ports: 4}}\n",
         true},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct planned p;
        planned_begin(&p, cases[i].text);
        assert_int_equal(planned_finding(&p, "nics-added") != NULL, cases[i].told);
        planned_end(&p);
    }
}

/* Groups differ in what their GPUs draw: the mean goes for all of them. */
static void every_gpu_counts_with_its_own_watts(void **state)
{
    struct planned p;
    (void)state;
    planned_begin(
        &p, "groups: [{name: b, servers: 60, server: b200-8gpu}, {name: a, servers: 4, server: "
            "a100-8gpu, networks: [oob]}]\nnetworks: {compute: , oob: }\nfacility: {per_gpu: "
            "{host_w: 500, "
            "other_share: 0}, step: {idle_share: 0}}\n");
    double kw = 32 * 0.4 + 480 * 1.0;
    assert_true(fabs(planned_number(&p, "power.step.kw") - kw) < 1e-6);
    assert_true(fabs(planned_number(&p, "power.per_gpu.gpu_w") - kw * 1000 / 512) < 1e-6);
    assert_true(fabs(planned_number(&p, "power.it.kw") - kw - 512 * 0.5) < 1e-6);
    planned_end(&p);
}

/* Keys that are not heeded are told, and what cannot be is refused. */
static void keys_that_change_nothing_are_told(void **state)
{
    static const struct {
        const char *network;
        bool told;
    } cases[] = {
        {"service: {switch: sn5600}", true},
        {"service: {spine_switch: sn5600}", true},
        {"service: {uplink_gbps: 400}", true},
        {"service: {oversubscription: 4}", true},
        {"oob: {leaf_down: 4}", true},
        {"service: {access_switch: eth-access-25g, homes: 1}", false},
        {"compute: {leaf_down: 32, leaf_up: 32, oversubscription: 4, tiers: 2}", true},
        {"compute: {leaf_down: 32, leaf_up: 16, oversubscription: 2, tiers: 2}", false},
        {"compute: {leaf_down: 32, oversubscription: 4, tiers: 2}", false},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct planned p;
        char text[160];
        snprintf(text, sizeof(text), "servers: 40\nnetworks: {%s}\n", cases[i].network);
        planned_begin(&p, text);
        assert_int_equal(planned_finding(&p, "key-unused") != NULL, cases[i].told);
        planned_end(&p);
    }
}

static void an_access_network_has_one_plane(void **state)
{
    struct planned p;
    (void)state;
    planned_read(&p, "servers: 40\nnetworks: {service: {planes: 2}}\n");
    assert_true(myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0);
    assert_string_equal(p.err.message,
                        "test.yaml:2:21: topology 'access' is built in one plane only");
    planned_end(&p);
}

/* What a hint proposes can be plugged: this card has too few cages for the second group. */
static void a_hint_proposes_no_card_without_cages(void **state)
{
    struct planned p;
    (void)state;
    planned_read(&p, "groups: [{name: a, servers: 3, server: b300-8gpu}, {name: b, servers: 5, "
                     "server: dgx-h100}]\nnetworks: {compute: {topology: rail-only}}\n");
    assert_true(myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0);
    assert_null(strstr(p.err.hint, "cx6-200g"));
    planned_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leaf_has_the_uplinks_of_its_ratio),
        cmocka_unit_test(racks_may_draw_together_what_the_room_gives_them),
        cmocka_unit_test(a_started_piece_is_a_whole_one),
        cmocka_unit_test(a_quantity_is_shown_as_it_was_given),
        cmocka_unit_test(cards_that_a_server_has_not_are_told),
        cmocka_unit_test(every_gpu_counts_with_its_own_watts),
        cmocka_unit_test(keys_that_change_nothing_are_told),
        cmocka_unit_test(an_access_network_has_one_plane),
        cmocka_unit_test(a_hint_proposes_no_card_without_cages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
