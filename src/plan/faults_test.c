/*
 * Faults that make a design impossible to plug together, planted one at a time: the physical
 * checker names exactly the rule that was broken. One is planted in the design where a planner
 * could make it, or in the parts where the design would no longer fit them. What is ordered is
 * counted again after each, by this file's own count, so that nothing but the fault is wrong.
 */
#include "myriad/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "faults_test.h"
#include "kept.h"
#include "myriad/physical.h"

#define RAILS   "servers: 64\nnetworks: {compute: {switch: mqm9790-ns2f}, oob: }\n"
#define MANAGED "servers: 8\nnetworks: {compute: {switch: mqm9700-ns2f, tiers: 2}, oob: }\n"
#define STRIPS                                                                               \
    "servers: 8\nnetworks: {compute: , oob: }\nroom: {rows: 4, columns: 4, managed: true,\n" \
    "  power: [{name: a, rows: 1-4}, {name: b, rows: 1-4}]}\n"
#define SPLIT "servers: 7\nnetworks: {compute: , storage: {switch: mqm9790-ns2f, nic_ports: 1}}\n"
#define ETHER "servers: 16\nnetworks: {compute: {switch: sn5600, tiers: 2}}\n"
#define COPPER                                                                        \
    "servers: 16\nnetworks: {compute: {switch: sn5600, tiers: 2, uplink_gbps: 800,\n" \
    "  length_m: {host_leaf: 30, leaf_spine: 2}}}\n"

/* --- the faults */

static void unknown_part(struct fixture *f)
{
    boxes(f, MYR_DEVICE_LEAF)->part = text(f, "no-such-switch");
}

/* A strip that hangs in the next rack. */
static void unmanaged(struct fixture *f)
{
    struct myr_device_range strips = myr_design_range(&f->design, MYR_DEVICE_PDU, MYR_NET_OOB);
    assert_true(strips.count > 2);
    f->design.device_rack[strips.first] = f->design.device_rack[strips.first + strips.count - 1];
}

static void unknown_card(struct fixture *f)
{
    f->design.card_count = 0;
}

static void cages(struct fixture *f)
{
    part(f, "mqm9790-ns2f")->sw.cages = 31;
}

static void card_cages(struct fixture *f)
{
    compute_card(f)->count = 7;
    compute_card(f)->asked = 1;
}

static void ports_max(struct fixture *f)
{
    part(f, "sn5600")->sw.ports_max = 12;
}

static void mgmt_ports(struct fixture *f)
{
    part(f, "mqm9700-ns2f")->sw.mgmt_ports = 0;
}

static void card_dropped(struct fixture *f)
{
    compute_card(f)->count = 9;
}

/* The first link changes places with the last one, which goes. */
static void port_unlinked(struct fixture *f)
{
    struct myr_design *design = &f->design;
    uint32_t last = design->link_count - 1;
    assert_int_equal(design->cable_count, design->link_count); /* one link a cable */
    design->port_link[design->link_a[0]] = design->port_link[design->link_b[0]] = MYR_NONE;
    design->networks[hosts(f)->net].cables[MYR_LAYER_HOST]--;
    design->link_a[0] = design->link_a[last];
    design->link_b[0] = design->link_b[last];
    design->cable_type[0] = design->cable_type[last];
    design->port_link[design->link_a[0]] = design->port_link[design->link_b[0]] = 0;
    design->link_count = design->cable_count = last;
    design->first_link[last] = last;
}

static void technology(struct fixture *f)
{
    boxes(f, MYR_DEVICE_SPINE)->part = text(f, "sn5600");
}

static void module_technology(struct fixture *f)
{
    fabric(f)->optic_b = text(f, "mma4z00-ns-t");
}

static void cable_technology(struct fixture *f)
{
    part(f, "mfp7e10-n050")->cable.technology = MYR_TECH_ETHERNET;
}

static void switch_speed(struct fixture *f)
{
    part(f, "mqm9790-ns2f")->sw.port_gbps = 200;
}

static void card_speed(struct fixture *f)
{
    part(f, "cx7-400g-osfp")->nic.port_gbps = 200;
}

static void card_total(struct fixture *f)
{
    part(f, "cx7-400g-osfp")->nic.card_gbps = 200;
}

static void link_speed(struct fixture *f)
{
    boxes(f, MYR_DEVICE_SPINE)->groups[0].gbps = 200;
}

static void cage_speed(struct fixture *f)
{
    part(f, "mqm9790-ns2f")->sw.cage_gbps = 600;
}

static void no_cable(struct fixture *f)
{
    fabric(f)->part = 0;
}

static void no_module(struct fixture *f)
{
    hosts(f)->optic_a = 0;
}

static void module_surplus(struct fixture *f)
{
    lay(f, MYR_NET_OOB, MYR_LAYER_HOST)->optic_a = text(f, "sfpp-10g-sr");
}

static void module_form(struct fixture *f)
{
    hosts(f)->optic_a = text(f, "mma1z00-ns400");
}

static void module_host(struct fixture *f)
{
    part(f, "mma4z00-ns400")->optic.fits = "cx8 bluefield3";
}

static void module_top(struct fixture *f)
{
    hosts(f)->optic_b = text(f, "mma4z00-ns-flt");
}

static void module_lanes(struct fixture *f)
{
    hosts(f)->optic_a = text(f, "mma4z00-ns-flt");
}

static void module_lane_speed(struct fixture *f)
{
    part(f, "mma4z00-ns400")->optic.cage_lane_gbps = 200;
}

static void module_speed(struct fixture *f)
{
    part(f, "mma4z00-ns400")->optic.port_gbps = 200;
}

static void connectors(struct fixture *f)
{
    part(f, "mma4z00-ns")->optic.connectors = 1;
}

static void connector_shared(struct fixture *f)
{
    boxes(f, MYR_DEVICE_LEAF)->groups[1].per_connector = 2;
}

/* A cable type of its own for one cable: like the given one, to be changed. */
static struct myr_cabletype *type_alone(struct fixture *f, uint32_t cable)
{
    struct myr_design *design = &f->design;
    uint32_t count = design->cabletype_count;
    struct myr_cabletype *types =
        myr_arena_alloc(&f->arena, (size_t)count + 1, sizeof(*design->cabletypes));
    memcpy(types, design->cabletypes, count * sizeof(*types));
    types[count] = types[design->cable_type[cable]];
    design->cabletypes = types;
    design->cable_type[cable] = (uint16_t)count;
    design->cabletype_count++;
    return &types[count];
}

static void cage_modules(struct fixture *f)
{
    uint32_t word = text(f, "mma4z00-ns-t");
    type_alone(f, f->design.cable_count - 1)->optic_b = word;
}

/* The seventh node hangs on a splitter alone; a straight fibre in its place would do. */
static void cage_mixed(struct fixture *f)
{
    struct myr_design *design = &f->design;
    uint32_t straight = text(f, "mfp7e10-n050");
    part(f, "mma4z00-ns")->optic.also = (struct myr_speeds){{200}, 1};
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        struct myr_cabletype *type = &design->cabletypes[design->cable_type[cable]];
        uint32_t links = design->first_link[cable + 1] - design->first_link[cable];
        if (type->legs == 2 && links == 1) {
            type = type_alone(f, cable);
            type->part = straight;
            type->legs = 1;
            return;
        }
    }
    fail_msg("no splitter with one leg in use");
}

static void cage_cables(struct fixture *f)
{
    part(f, "sn5600")->sw.cage_gbps = 1600;
    boxes(f, MYR_DEVICE_LEAF)->groups[1].per_cage = 2;
}

static void mode(struct fixture *f)
{
    hosts(f)->optic_a = text(f, "mms4x00-ns400");
}

static void wavelength(struct fixture *f)
{
    part(f, "mma4z00-ns400")->optic.wavelength_nm = 910;
}

static void lane_speed(struct fixture *f)
{
    part(f, "mma4z00-ns400")->optic.cage_lane_gbps = 100;
    part(f, "mma4z00-ns400")->optic.lane_gbps = 50;
    part(f, "mfp7e10-n050")->cable.lanes = 8;
}

static void connector(struct fixture *f)
{
    part(f, "mma4z00-ns400")->optic.connector = "mpo12-upc";
}

static void fibre_lanes(struct fixture *f)
{
    part(f, "mfp7e10-n050")->cable.lanes = 2;
}

static void reach(struct fixture *f)
{
    part(f, "mma4z00-ns400")->optic.reach_m = 49;
}

static void length(struct fixture *f)
{
    fabric(f)->part = text(f, "mfp7e10-n030");
}

static void end_form(struct fixture *f)
{
    struct myr_cabletype *type = lay(f, MYR_NET_OOB, MYR_LAYER_HOST);
    type->part = text(f, "dac-25g-sfp28-n005");
    type->length_mm = 5000;
}

static void end_top(struct fixture *f)
{
    part(f, "mcp4y10-n002")->cable.top = "flat";
}

static void end_lanes(struct fixture *f)
{
    part(f, "mcp4y10-n002")->cable.lane_gbps = 200;
}

static void cable_speed(struct fixture *f)
{
    part(f, "mcp4y10-n002")->cable.gbps = 400;
}

static void legs(struct fixture *f)
{
    lay(f, MYR_NET_STORAGE, MYR_LAYER_HOST)->legs = 1;
}

/* One leg of a splitter and one of another change places at the switch. */
static void head(struct fixture *f)
{
    struct myr_design *design = &f->design;
    uint32_t splitters[2], found = 0;
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        uint32_t links = design->first_link[cable + 1] - design->first_link[cable];
        bool other_cage =
            found == 0 || myr_design_port_cage(design, design->link_b[design->first_link[cable]]) !=
                              myr_design_port_cage(design, design->link_b[splitters[0]]);
        if (links == 2 && found < 2 && other_cage) {
            splitters[found++] = design->first_link[cable];
        }
    }
    assert_int_equal(found, 2);
    uint32_t port = design->link_b[splitters[0]];
    design->link_b[splitters[0]] = design->link_b[splitters[1]];
    design->link_b[splitters[1]] = port;
    design->port_link[design->link_b[splitters[0]]] = splitters[0];
    design->port_link[design->link_b[splitters[1]]] = splitters[1];
}

static void cable_count(struct fixture *f)
{
    f->design.networks[MYR_NET_COMPUTE].cables[MYR_LAYER_FABRIC]--;
}

static struct myr_bom_row *row_of(struct fixture *f, enum myr_part_kind kind)
{
    for (uint32_t i = 0; i < f->design.bom_count; i++) {
        const char *number = myr_design_str(&f->design, f->design.bom[i].part);
        if (part(f, number)->kind == kind) {
            return &f->design.bom[i];
        }
    }
    fail_msg("nothing of this kind is ordered");
    return NULL;
}

static void bom_switches(struct fixture *f)
{
    row_of(f, MYR_PART_SWITCH)->quantity--;
}

static void bom_modules(struct fixture *f)
{
    row_of(f, MYR_PART_TRANSCEIVER)->quantity -= 2;
}

static void bom_cables(struct fixture *f)
{
    row_of(f, MYR_PART_CABLE)->quantity += 4;
}

static const struct fault {
    const char *rule, *spec;
    void (*plant)(struct fixture *f);
} faults[] = {
    {"physical-unknown-part", RAILS, unknown_part},
    {"physical-unknown-card", RAILS, unknown_card},
    {"physical-cages", RAILS, cages},
    {"physical-card-cages", RAILS, card_cages},
    {"physical-ports-max", ETHER, ports_max},
    {"physical-mgmt-ports", MANAGED, mgmt_ports},
    {"physical-unmanaged", STRIPS, unmanaged},
    {"physical-card-dropped", RAILS, card_dropped},
    {"physical-port-unlinked", RAILS, port_unlinked},
    {"physical-technology", RAILS, technology},
    {"physical-module-technology", RAILS, module_technology},
    {"physical-cable-technology", RAILS, cable_technology},
    {"physical-switch-speed", RAILS, switch_speed},
    {"physical-card-speed", RAILS, card_speed},
    {"physical-card-total", RAILS, card_total},
    {"physical-link-speed", RAILS, link_speed},
    {"physical-cage-speed", RAILS, cage_speed},
    {"physical-no-cable", RAILS, no_cable},
    {"physical-no-module", RAILS, no_module},
    {"physical-module-surplus", RAILS, module_surplus},
    {"physical-module-form", RAILS, module_form},
    {"physical-module-host", RAILS, module_host},
    {"physical-module-top", RAILS, module_top},
    {"physical-module-lanes", RAILS, module_lanes},
    {"physical-module-lane-speed", RAILS, module_lane_speed},
    {"physical-module-speed", RAILS, module_speed},
    {"physical-connectors", RAILS, connectors},
    {"physical-connector-shared", RAILS, connector_shared},
    {"physical-cage-modules", ETHER, cage_modules},
    {"physical-cage-mixed", SPLIT, cage_mixed},
    {"physical-cage-cables", COPPER, cage_cables},
    {"physical-mode", RAILS, mode},
    {"physical-wavelength", RAILS, wavelength},
    {"physical-lane-speed", RAILS, lane_speed},
    {"physical-connector", RAILS, connector},
    {"physical-fibre-lanes", RAILS, fibre_lanes},
    {"physical-reach", RAILS, reach},
    {"physical-length", RAILS, length},
    {"physical-end-form", RAILS, end_form},
    {"physical-end-top", COPPER, end_top},
    {"physical-end-lanes", COPPER, end_lanes},
    {"physical-cable-speed", COPPER, cable_speed},
    {"physical-legs", SPLIT, legs},
    {"physical-head", SPLIT, head},
    {"physical-cable-count", RAILS, cable_count},
    {"physical-bom-switches", RAILS, bom_switches},
    {"physical-bom-modules", RAILS, bom_modules},
    {"physical-bom-cables", SPLIT, bom_cables},
};

/* Everything that people read of the findings goes to 'told'. */
static void expect_only(struct fixture *f, const char *rule, struct myr_buf *told)
{
    struct myr_physical physical;
    bool found = rule == NULL;
    myr_physical_check(&f->arena, &f->catalog, &f->design, &physical);
    for (size_t i = 0; i < physical.findings.count; i++) {
        const struct myr_physical_finding *finding = &physical.findings.items[i];
        if (!rule || strcmp(finding->rule, rule) != 0) {
            fail_msg("%s expected, found %s at %s: %s", rule ? rule : "nothing", finding->rule,
                     finding->where, finding->message);
        }
        assert_true(finding->places > 0 && *finding->where && *finding->remedy);
        myr_buf_printf(told, "%s, %llu at %s: %s\n", finding->rule,
                       (unsigned long long)finding->places, finding->where, finding->message);
        found = true;
    }
    if (!found) {
        fail_msg("%s expected, found nothing", rule);
    }
    myr_physical_done(&physical);
}

static void each_planted_fault_is_named_and_nothing_else(void **state)
{
    (void)state;
    struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(faults); i++) {
        struct fixture f;
        plan(&f, faults[i].spec);
        bool ordering = strstr(faults[i].rule, "-bom-") != NULL;
        if (!ordering) {
            faults[i].plant(&f);
        }
        order_again(&f);
        if (ordering) {
            expect_only(&f, NULL, NULL);
            faults[i].plant(&f);
        }
        expect_only(&f, faults[i].rule, &told);
        release(&f);
    }
    assert_kept("physical-faults.txt", &told); /* the numbers in the words are the fault's */
    myr_buf_done(&told);
}

/* The first row of the kind is ordered for the other network. */
static uint64_t move_row(struct fixture *f, enum myr_part_kind kind)
{
    struct myr_bom_row *row = NULL;
    uint32_t other = MYR_NONE;
    for (uint32_t i = 0; i < f->design.bom_count; i++) {
        const char *system = myr_design_str(&f->design, f->design.bom[i].system);
        struct myr_str number = myr_str_from(myr_design_str(&f->design, f->design.bom[i].part));
        uint32_t at = myr_catalog_find(&f->catalog, number);
        if (strcmp(system, "oob") == 0) {
            other = f->design.bom[i].system;
        } else if (!row && strcmp(system, "compute") == 0 && at != MYR_PART_NONE &&
                   f->catalog.parts.items[at].kind == kind) {
            row = &f->design.bom[i];
        }
    }
    assert_true(row && other != MYR_NONE);
    row->system = other;
    return row->quantity;
}

/* One network has too few of it, and what the other one gets nobody uses. */
static void what_is_ordered_for_another_network_is_missed_here_and_too_much_there(void **state)
{
    static const struct {
        enum myr_part_kind kind;
        const char *rule;
    } kinds[] = {{MYR_PART_SWITCH, "physical-bom-switches"},
                 {MYR_PART_TRANSCEIVER, "physical-bom-modules"},
                 {MYR_PART_CABLE, "physical-bom-cables"}};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        struct fixture f;
        struct myr_physical physical;
        char few[64], many[64];
        plan(&f, RAILS);
        order_again(&f);
        unsigned long long count = move_row(&f, kinds[i].kind);
        myr_physical_check(&f.arena, &f.catalog, &f.design, &physical);
        assert_int_equal(physical.findings.count, 2);
        snprintf(few, sizeof(few), ": 0 ordered, the design uses %llu", count);
        snprintf(many, sizeof(many), ": %llu ordered, the design uses none", count);
        for (size_t k = 0; k < 2; k++) {
            const struct myr_physical_finding *finding = &physical.findings.items[k];
            assert_string_equal(finding->rule, kinds[i].rule);
            assert_string_equal(finding->where, k ? "oob" : "compute");
            assert_int_equal(finding->places, count);
            if (!strstr(finding->message, k ? many : few)) {
                fail_msg("%s", finding->message);
            }
        }
        myr_physical_done(&physical);
        release(&f);
    }
}

static void every_rule_has_its_fault(void **state)
{
    (void)state;
    for (size_t i = 0; myr_physical_rules[i].name; i++) {
        uint32_t planted = 0;
        for (size_t k = 0; k < MYR_ARRAY_COUNT(faults); k++) {
            planted += strcmp(faults[k].rule, myr_physical_rules[i].name) == 0;
        }
        if (planted != 1) {
            fail_msg("%s is planted %u times", myr_physical_rules[i].name, planted);
        }
    }
}

static void the_manual_names_every_rule(void **state)
{
    (void)state;
    struct myr_buf manual = {};
    assert_int_equal(myr_file_read(MYR_SOURCE_DIR "/docs/spec.md", 1U << 20, &manual, NULL), 0);
    for (size_t i = 0; myr_physical_rules[i].name; i++) {
        char name[64];
        snprintf(name, sizeof(name), "`%s`", myr_physical_rules[i].name);
        if (!strstr(manual.data, name)) {
            fail_msg("docs/spec.md does not name %s", name);
        }
    }
    myr_buf_done(&manual);
}

static void a_good_design_is_left_alone(void **state)
{
    static const char *const specs[] = {RAILS, SPLIT, ETHER, COPPER, STRIPS};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct fixture f;
        plan(&f, specs[i]);
        expect_only(&f, NULL, NULL);
        order_again(&f);
        expect_only(&f, NULL, NULL);
        release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_design_is_left_alone),
        cmocka_unit_test(each_planted_fault_is_named_and_nothing_else),
        cmocka_unit_test(what_is_ordered_for_another_network_is_missed_here_and_too_much_there),
        cmocka_unit_test(every_rule_has_its_fault),
        cmocka_unit_test(the_manual_names_every_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
