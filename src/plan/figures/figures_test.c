#include "figures/figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planned_test.h"

/* Check values of docs/planning.md and of published designs, not of the code. */

static void expect(const struct planned *p, const char *path, double value, double within)
{
    double found = planned_number(p, path);
    if (found < value - within || found > value + within) {
        fail_msg("%s is %.6f, %.6f is expected", path, found, value);
    }
}

static void a_gpu_of_an_h100_cluster_takes_1_40_kw(void **state)
{
    (void)state;
    struct planned p;
    planned_begin(&p, "servers: 64\nfacility: {per_gpu: {gpu_w: 700, host_w: 575, other_share: "
                      "0.1}}\n");
    expect(&p, "power.per_gpu.rule_kw", 1.4025, 1e-9);
    expect(&p, "power.it.kw", 512 * 1.4025, 1e-6);
    expect(&p, "totals.it_power_kw", 512 * 1.4025, 1e-6);
    planned_end(&p);
}

static void power_150_mw_at_pue_1_21_is_1_59_twh_and_124_million(void **state)
{
    (void)state;
    struct planned p;
    planned_begin(&p, "servers: 64\nfacility: {it_kw: 150000, overheads: {fans: 0.21, pumps: 0, "
                      "chiller: 0, ups: 0, transformer: 0, lighting: 0}}\n");
    expect(&p, "power.pue.value", 1.21, 1e-9);
    expect(&p, "power.facility_kw", 181500, 1e-6);
    expect(&p, "power.energy.mwh_per_year", 1589940, 0.5);
    expect(&p, "power.energy.cost_per_year", 1589940000 * 0.078, 1);
    expect(&p, "power.carbon.t_per_year", 1589940 * 0.57, 1);
    planned_end(&p);
}

static void pue_of_the_three_kinds_comes_from_its_parts(void **state)
{
    (void)state;
    struct planned p;
    planned_begin(&p, "servers: 64\nfacility: {cooling: cold-plate}\n");
    expect(&p, "cooling.compare.air.pue", 1.355, 1e-9);
    expect(&p, "cooling.compare.cold-plate.pue", 1.155, 1e-9);
    expect(&p, "cooling.compare.immersion.pue", 1.085, 1e-9);
    expect(&p, "power.pue.value", 1.155, 1e-9);
    expect(&p, "power.pue.fans", 0.015, 1e-9);
    planned_end(&p);
}

static void flows_follow_the_heat_and_the_kelvins(void **state)
{
    (void)state;
    struct planned p;
    planned_begin(&p, "servers: 64\nfacility: {it_kw: 1000, cooling: cold-plate, liquid: {share: "
                      "0.8, delta_k: 8}, air: {delta_k: 10}}\n");
    expect(&p, "cooling.liquid_kw", 800, 1e-6);
    expect(&p, "cooling.flow_l_per_min", 14.3 * 800 / 8, 0.05);
    expect(&p, "cooling.airflow_m3_per_h", 2985 * 200 / 10.0, 0.5);
    /* A kilowatt in ten kelvins: 800 kW heat 8 K in a minute's litres of water. */
    expect(&p, "cooling.bill.air_units", 3, 0);
    planned_end(&p);
    planned_begin(&p, "servers: 64\nfacility: {it_kw: 1000, cooling: immersion, liquid: {coolant: "
                      "glycol-25}}\n");
    expect(&p, "cooling.flow_l_per_min", 15 * 1000 / 10.0, 0.05);
    expect(&p, "cooling.air_kw", 0, 0);
    expect(&p, "cooling.bill.air_units", 0, 0);
    assert_true(planned_number(&p, "cooling.bill.tanks") > 0);
    planned_end(&p);
}

static void a_cdu_more_than_needed_stands_by_in_each_line(void **state)
{
    (void)state;
    struct planned p;
    planned_begin(&p, "servers: 64\nfacility: {it_kw: 2000, cooling: cold-plate, cdu: {kw: 500, "
                      "derate: 0.8, spares: 2, per: room}}\n");
    /* 1,500 kW of liquid over 400 kW each: 3.75 */
    expect(&p, "cooling.cdu.count", 4 + 2, 0);
    planned_end(&p);
}

static void a_bill_of_cooling_is_priced_and_in_the_years(void **state)
{
    (void)state;
    struct planned without, with;
    planned_begin(&without, "servers: 64\nsupplied: [servers]\nprices: cn-2024-05\nfacility: "
                            "{cooling: cold-plate}\n");
    planned_begin(&with, "servers: 64\nsupplied: [servers]\nprices: {book: cn-2024-05, parts: "
                         "{cooling-cdu: 100000, cooling-manifold: 1000, cooling-connector: 10, "
                         "cooling-coolant: 1, cooling-air-unit: 20000}}\n"
                         "facility: {cooling: cold-plate, bill: true}\n");
    double plant = 100000 * planned_number(&with, "cooling.cdu.count") +
                   1000 * planned_number(&with, "cooling.bill.manifolds") +
                   10 * planned_number(&with, "cooling.bill.quick_connectors") +
                   planned_number(&with, "cooling.bill.coolant_l") +
                   20000 * planned_number(&with, "cooling.bill.air_units");
    double more = planned_number(&with, "totals.cost") - planned_number(&without, "totals.cost");
    assert_true(plant > 200000);
    assert_true(more > plant - 1.5 && more < plant + 1.5); /* a started litre is a whole one */
    double years = planned_number(&with, "power.energy.cost_of_years") -
                   planned_number(&without, "power.energy.cost_of_years");
    assert_true(years > more - 0.02 && years < more + 0.02);
    assert_int_equal(with.design.bom_count, without.design.bom_count + 5);
    planned_end(&with);
    planned_end(&without);
}

static void a_plant_without_prices_is_named_and_not_free(void **state)
{
    (void)state;
    struct planned p;
    planned_begin(&p, "servers: 8\nfacility: {cooling: immersion, bill: true}\n");
    bool tank = false;
    for (uint32_t i = 0; i < p.design.bom_count; i++) {
        const char *part = myr_design_str(&p.design, p.design.bom[i].part);
        tank = tank || (strcmp(part, "IMMERSION-TANK") == 0 && p.design.bom[i].unit_cents < 0);
    }
    assert_true(tank);
    assert_non_null(planned_finding(&p, "unpriced"));
    planned_end(&p);
}

static void wishes_that_are_missed_are_findings(void **state)
{
    (void)state;
    struct planned p;
    planned_begin(&p, "servers: 64\nfacility: {cooling: air, pue_max: 1.3, power_kw_max: 100}\n");
    assert_non_null(planned_finding(&p, "pue-high"));
    assert_non_null(planned_finding(&p, "power-short"));
    planned_end(&p);
    planned_begin(&p,
                  "servers: 64\nfacility: {cooling: air, pue_max: 1.355, power_kw_max: 5000}\n");
    assert_null(planned_finding(&p, "pue-high"));
    assert_null(planned_finding(&p, "power-short"));
    planned_end(&p);
}

static void ups_modules_are_n_one_more_or_twice(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        double modules;
    } cases[] = {{"n", 3}, {"n+1", 4}, {"2n", 6}, {"none", 0}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct planned p;
        char text[160];
        bool none = strcmp(cases[i].kind, "none") == 0;
        snprintf(text, sizeof(text), "servers: 64\nfacility: {it_kw: 1200, ups: {kind: %s%s}}\n",
                 cases[i].kind, none ? "" : ", module_kw: 500");
        planned_begin(&p, text);
        if (none) {
            assert_int_equal(myr_value_get(&p.answer.root, "power.ups.load_kw")->kind,
                             MYR_VALUE_NULL);
        } else {
            expect(&p, "power.ups.load_kw", 1200, 1e-6);
            expect(&p, "power.ups.modules", cases[i].modules, 0);
        }
        planned_end(&p);
    }
}

static void manifolds_are_for_racks_with_servers(void **state)
{
    (void)state;
    struct planned p;
    planned_begin(&p, "servers: 4\nnetworks: {compute: {topology: rail, switch: mqm9790-ns2f}, "
                      "storage: {switch: mqm9790-ns2f}}\nstorage: {servers: 60}\nroom: {rows: 20, "
                      "columns: 4, rack: rack-48u-60kw}\nfacility: {cooling: cold-plate}\n");
    assert_true(planned_number(&p, "power.racks.count") > 1);
    assert_true(planned_number(&p, "cooling.bill.manifolds") == 2);
    planned_end(&p);
    /* Nor are they for what is estimated beside the servers, without a room. */
    planned_begin(&p, "servers: 4\nnetworks: {storage: {switch: mqm9790-ns2f}}\nstorage: {servers: "
                      "200}\nfacility: {cooling: cold-plate}\n");
    assert_true(planned_number(&p, "power.racks.count") > 4);
    assert_true(planned_number(&p, "cooling.bill.manifolds") == 8);
    planned_end(&p);
    planned_begin(&p, "servers: 4\nfacility: {cooling: air}\n");
    assert_true(planned_number(&p, "cooling.bill.manifolds") == 0);
    planned_end(&p);
}

static void a_stripe_without_servers_to_lie_on_is_an_error(void **state)
{
    (void)state;
    static const struct {
        const char *storage;
        bool short_of;
    } rows[] = {
        {"servers: 1, copies: 2", true},
        {"servers: 2, copies: 2", false},
        {"servers: 1, copies: 1", false},
        {"servers: 9, erasure: {data: 8, parity: 2}", true},
        {"servers: 10, erasure: {data: 8, parity: 2}", false},
        {"servers: 1, copies: 2, availability_percent: 90", true},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct planned p;
        char text[160];
        snprintf(text, sizeof(text), "servers: 4\nnetworks: {compute: }\nstorage: {%s}\n",
                 rows[i].storage);
        planned_begin(&p, text);
        const struct myr_finding *finding = planned_finding(&p, "storage-stripe");
        assert_true((finding != NULL) == rows[i].short_of);
        assert_true(!finding || finding->severity == MYR_SEVERITY_ERROR);
        planned_end(&p);
    }
}

static void a_leaf_of_a_dragonfly_plus_has_a_ratio(void **state)
{
    (void)state;
    struct planned p;
    planned_begin(&p, "servers: 300\nserver: generic-1gpu\nnetworks: {compute: {topology: "
                      "dragonfly+}}\n");
    assert_int_equal(p.design.networks[MYR_NET_COMPUTE].oversubscription_milli[0], 1000);
    planned_end(&p);
    planned_begin(&p, "servers: 300\nserver: generic-1gpu\nnetworks: {compute: {topology: "
                      "dragonfly+, group_switches: 8, hosts_per_switch: 24}}\n");
    assert_int_equal(p.design.networks[MYR_NET_COMPUTE].oversubscription_milli[0], 3000);
    planned_end(&p);
}

/* All that is powered stands in the room: nothing of it is out of band, so nothing else draws. */
static void servers_of_storage_tiers_stand_in_the_room(void **state)
{
    (void)state;
    struct planned p;
    uint32_t placed = 0;
#define TIERS                                                                              \
    "servers: 4\nnetworks: {compute: }\nstorage: {capacity_pb: 1, tiers: [{kind: object, " \
    "capacity_pb: 30}, {kind: hybrid, capacity_pb: 1}]}\nroom: "
    planned_begin(&p, TIERS "{rows: 10, rack_kw: 40}\n");
    for (uint32_t i = 0; i < p.design.rack_item_count; i++) {
        const struct myr_rack_item *item = &p.design.rack_items[i];
        assert_true(item->units == 4 && item->watts == 900);
        assert_true(item->unit >= 1 && item->unit + item->units <= 43);
        placed++;
    }
    double servers = planned_number(&p, "storage.tiers.object.servers") +
                     planned_number(&p, "storage.tiers.hybrid.servers");
    assert_int_equal(placed, (int)servers);
    assert_true(planned_number(&p, "room.kw") >= planned_number(&p, "power.it.kw") - 0.1);
    planned_end(&p);
    /* A room without a place for one of them is too small; a rack without is told at once. */
    static const struct {
        const char *room, *said;
    } rows[] = {
        {TIERS "{rows: 3, columns: 1, rack_kw: 40}\n", "left for object-36x22"},
        {TIERS "{rows: 30, rack_kw: 40, rack_kg: 70, server_kw: 1}\n", "does not fit a rack"},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        planned_read(&p, rows[i].room);
        assert_int_equal(myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err), MYR_ERANGE);
        assert_non_null(strstr(p.err.message, rows[i].said));
        planned_end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_of_an_h100_cluster_takes_1_40_kw),
        cmocka_unit_test(power_150_mw_at_pue_1_21_is_1_59_twh_and_124_million),
        cmocka_unit_test(pue_of_the_three_kinds_comes_from_its_parts),
        cmocka_unit_test(flows_follow_the_heat_and_the_kelvins),
        cmocka_unit_test(a_cdu_more_than_needed_stands_by_in_each_line),
        cmocka_unit_test(a_bill_of_cooling_is_priced_and_in_the_years),
        cmocka_unit_test(a_plant_without_prices_is_named_and_not_free),
        cmocka_unit_test(wishes_that_are_missed_are_findings),
        cmocka_unit_test(ups_modules_are_n_one_more_or_twice),
        cmocka_unit_test(manifolds_are_for_racks_with_servers),
        cmocka_unit_test(a_stripe_without_servers_to_lie_on_is_an_error),
        cmocka_unit_test(a_leaf_of_a_dragonfly_plus_has_a_ratio),
        cmocka_unit_test(servers_of_storage_tiers_stand_in_the_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
