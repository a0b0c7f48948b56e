/*
 * Specs of all keys at once, drawn, in switches of few ports: kinds of servers, every network with
 * its own shape, storage with every wish, prices, pins, things bought besides. What is planned is
 * kept in digests and the words of findings, what is refused in words with its hint
 * (tests/kept/plan-mixed.txt); and every cable leaves one cage of one device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "keys_test.h"
#include "parts_test.h"
#include "planned_test.h"

enum { SPECS = 560, SEED = 20261118 };

#define SWITCHES "eight|twelve|capped|mqm9790-ns2f"
#define LENGTHS \
    "2|7|40|{host_leaf: 3, leaf_spine: 40}|{host_leaf: 40, leaf_spine: 2, spine_core: 90}"

static void draw_fabric(struct myr_rng *rng, struct myr_buf *spec)
{
    bool halves = keys_maybe(rng, 50); /* ports of half the speed, behind splitters */
    DRAW_KEYS(rng, spec,
              {90, "switch", halves ? "eight|eight|mqm9790-ns2f" : "eight|twelve|capped"},
              {halves ? 70 : 2, "nic_gbps", "200|200|200|400|100"}, {6, "spine_switch", SWITCHES},
              {6, "core_switch", SWITCHES}, {25, "length_m", LENGTHS}, {20, "extra_nodes", "1|2|5"},
              {15, "fabric_manager_ports", "1|2|3"}, {3, "uplink_gbps", "200|400"},
              {6, "nic_ports", "1|2"}, {4, "fabric", "roce|infiniband"},
              {6, "pin",
               "{switch_optic: near}|{host_cable: eth-fibre}|{fabric_cable: twin-dac}|"
               "{nic_optic: picky}|{quantities: {eight: 7, mma4z00-ns-t: 3, firewall: 2}}"},
              {6, "items",
               "[{part: firewall, per: switch, quantity: 0.5}]|[{part: iw-venus, per: gpu}]|"
               "[{part: bastion, per: nic_port, quantity: 0.1}]"});
    switch (myr_rng_below(rng, 8)) {
    case 0:
        DRAW_KEYS(rng, spec, {100, "topology", "dragonfly"}, {30, "hosts_per_switch", "1|2|3"},
                  {30, "group_switches", "1|2|3|4"}, {30, "global_ports", "1|2|4"},
                  {20, "planes", "1|2"});
        break;
    case 1:
        DRAW_KEYS(rng, spec, {100, "topology", "dragonfly+"}, {30, "hosts_per_switch", "1|2|4"},
                  {40, "group_switches", "1|2|4"}, {30, "global_ports", "1|2|8"});
        break;
    case 2:
        DRAW_KEYS(rng, spec, {100, "topology", "torus"},
                  {95, "dims", "[2, 3]|[4, 2, 2]|[4, 3]|[5, 4]|[3, 3, 3]"}, {20, "trunk", "1|2"},
                  {50, "hosts_per_switch", "1|2|3|4"});
        break;
    default:
        DRAW_KEYS(rng, spec, {80, "topology", "rail|clos|clos|clos|rail-only|middle-of-rack"},
                  {30, "oversubscription", "1|1.5|2|3|[1, 2]|[2, 1.5]|0.5"},
                  {40, "fill", "regular|dense"}, {15, "tiers", "1|2|3|3"}, {10, "planes", "1|2"},
                  {8, "leaf_down", "1|2|4|6"}, {8, "leaf_up", "1|2|4"},
                  {6, "pod_leaves", "1|2|3|4|8"}, {4, "islands", "1|2|3"}, {4, "rails", "1|2|4"});
        break;
    }
}

static void draw_access(struct myr_rng *rng, struct myr_buf *spec)
{
    DRAW_KEYS(rng, spec,
              {50, "access_switch", "small-25g|small-25g|small-25g|one-up|no-up|wide-up"},
              {40, "aggregation_switch", "small-agg|alike|alike"}, {30, "extra_nodes", "1|2|5"},
              {15, "homes", "1|2"}, {25, "aggregation", "1|2|3|6"}, {25, "length_m", LENGTHS},
              {20, "tiers", "2|3"}, {8, "nic_gbps", "1|10|25|100"}, {8, "nic_ports", "1|2"});
}

static void draw_storage(struct myr_rng *rng, struct myr_buf *spec)
{
    myr_buf_puts(spec, "storage: {");
    DRAW_KEYS(
        rng, spec, {90, "capacity_tb", "1|60|100|700.5"}, {25, "rate", "none|good|better|best"},
        {30, "read_gbytes_per_s", "0.5|20|90|300.25"},
        {30, "write_gbytes_per_s", "0.5|10|70.5|200"}, {15, "iops", "1M|4M|9.5M"},
        {15, "metadata_ops", "90k|300k|1.5M"}, {20, "files", "1M|900M|3G"},
        {20, "server", "slow|fast|flash-22x15"}, {15, "servers", "1|2|4|9"},
        {15, "availability_percent", "99|99.99|99.99999"}, {10, "mtbf_hours", "1000|90000"},
        {10, "repair_hours", "1|100"},
        {15, "checkpoint", "{model: llama3-8b, window_s: 2}|{model: llama3-70b, window_s: 9}"},
        {10, "tiers",
         "[{kind: object, capacity_pb: 2}]|[{kind: hybrid, capacity_pb: 0.5, "
         "copies: 2}]"});
    if (keys_maybe(rng, 50)) {
        bool code = keys_maybe(rng, 40);
        DRAW_KEYS(rng, spec,
                  {100, code ? "erasure" : "copies",
                   code ? "{data: 2, parity: 1}|{data: 8, parity: 3}" : "1|2|3"});
    }
    if (strstr(spec->data, "files: ") && keys_maybe(rng, 70)) {
        DRAW_KEYS(rng, spec, {100, "file_kb", "1|4.1|16|100"}, {70, "scan_hours", "1|24"});
    }
    myr_buf_puts(spec, "}\n");
}

/* Kinds of servers with cards for the compute network alone, and for all of them. */
#define BARE "bare|bare|duo|old|single|lone"
#define FULL "pair|pair|pair|h100-8gpu|h100-8gpu-2x200"

static void draw_servers(struct myr_rng *rng, bool full, struct myr_buf *spec)
{
    uint32_t servers = 1 + myr_rng_below(rng, keys_maybe(rng, 20) ? 30 : 9);
    struct myr_str kind = keys_word(rng, full ? FULL : BARE);
    if (keys_maybe(rng, 10)) {
        struct myr_str other = keys_word(rng, full ? FULL : BARE);
        myr_buf_printf(spec,
                       "groups: [{name: a, servers: %u, server: %.*s}, {name: b, servers: %u, "
                       "server: %.*s%s}]\n",
                       servers, (int)kind.len, kind.data, 1 + servers / 2, (int)other.len,
                       other.data, keys_maybe(rng, 30) ? ", networks: [compute]" : "");
    } else {
        myr_buf_printf(spec, "servers: %u\nserver: %.*s\n", servers, (int)kind.len, kind.data);
    }
}

static void draw_spec(struct myr_rng *rng, struct myr_buf *spec)
{
    bool full = keys_maybe(rng, 55), stored = full && keys_maybe(rng, 50);
    draw_servers(rng, full, spec);
    myr_buf_puts(spec, "networks: {compute: {");
    draw_fabric(rng, spec);
    if (stored) {
        myr_buf_puts(spec, "}, storage: {");
        draw_fabric(rng, spec);
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (full && keys_maybe(rng, 40)) {
            myr_buf_printf(spec, "}, %s: {", i ? "oob" : "service");
            draw_access(rng, spec);
        }
    }
    myr_buf_puts(spec, "}}\n");
    if (keys_maybe(rng, stored ? 70 : 15)) {
        draw_storage(rng, spec);
    }
    const char *const more[] = {
        "prices: own-book\n",
        "prices: {book: own-book, parts: {eight: 3.33, capped: 0.01, bare: 7}}\n",
        "supplied: [servers, ethernet_cabling]\n",
        "supplied: [fabric_managers, management_nodes]\n",
        "items: [{part: firewall, quantity: 2.5}, {part: bastion, per: node, quantity: 0.4}]\n",
        "items: [{part: log-audit, per: server}, {part: iw-venus, per: gpu, system: compute}]\n",
        "accept: [single-switch, cable-short, uneven-fill]\n",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(more); i += 2) {
        const char *line = more[i + (i + 1 < MYR_ARRAY_COUNT(more) && keys_maybe(rng, 50))];
        myr_buf_puts(spec, keys_maybe(rng, 25) ? line : "");
    }
}

/* ---- what holds of every design ---- */

/* Where a port is: its device, and the cage of it. */
static uint64_t cage_of(const struct myr_design *design, uint32_t port)
{
    uint32_t device = design->port_device[port], at = port - design->first_port[device];
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    for (uint32_t g = 0; g < type->group_count; g++) {
        const struct myr_port_group *group = &type->groups[g];
        if (at >= group->first && at < group->first + group->count) {
            uint32_t cage = group->first_cage + (at - group->first) / group->per_cage;
            return (uint64_t)device << 20 | cage;
        }
    }
    fail_msg("port %u of device %u is in no group", at, device);
    return 0;
}

/* The links of a cable leave one cage, at one of its ends at least, and are no more than legs. */
static void check_cables(const struct planned *p)
{
    const struct myr_design *design = &p->design;
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        uint32_t first = design->first_link[cable], end = design->first_link[cable + 1];
        bool same_a = true, same_b = true;
        for (uint32_t link = first; link < end; link++) {
            same_a = same_a && cage_of(design, design->link_a[link]) ==
                                   cage_of(design, design->link_a[first]);
            same_b = same_b && cage_of(design, design->link_b[link]) ==
                                   cage_of(design, design->link_b[first]);
        }
        /* A pinned cable may be one that cannot be laid so: then it is said. */
        assert_true(end > first && (same_a || same_b || planned_finding(p, "physical-head")));
        uint32_t legs = design->cabletypes[design->cable_type[cable]].legs;
        assert_true(end - first <= (legs ? legs : 1));
    }
}

/* Readers go through the lists without asking whether there is a room. */
static void check_lists(const struct myr_design *design)
{
    assert_null(design->room);
    assert_non_null(design->racks);
    assert_non_null(design->power);
    assert_non_null(design->cooling);
    assert_non_null(design->trays);
    assert_int_equal(design->rack_count + design->tray_count, 0);
}

/* ---- what is kept ---- */

static uint64_t links_of(const struct myr_design *design)
{
    uint64_t digest = design->device_count;
    for (uint32_t i = 0; i < design->link_count; i++) {
        digest = myr_hash_u64(digest + design->link_a[i]);
        digest = myr_hash_u64(digest + design->link_b[i]);
        digest = myr_hash_u64(digest + design->link_cable[i]);
    }
    return digest;
}

static void tell_plan(struct planned *p, struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf json = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf bill = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf findings = {};
    struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
    myr_answer_init(&p->answer, &p->arena, "myriad.plan", 1);
    (void)myr_plan_answer(&p->design, &p->answer);
    assert_int_equal(myr_answer_write(&p->answer, &form, &json, NULL), MYR_OK);
    myr_plan_bom_csv(&p->design, &bill);
    planned_tell_findings(p, &findings);
    for (uint32_t i = 0; i < p->design.finding_count; i++) {
        const char *rule = myr_design_str(&p->design, p->design.findings[i].rule);
        myr_buf_printf(told, "  %s", strcmp(rule, "unpriced") == 0 ? "" : rule);
    }
    myr_buf_printf(told, "\n  %u devices, %u links, %u cables %08x; answer %08x, bill %08x, %08x\n",
                   p->design.device_count, p->design.link_count, p->design.cable_count,
                   (uint32_t)links_of(&p->design), (uint32_t)myr_hash_bytes(json.data, json.len),
                   (uint32_t)myr_hash_bytes(bill.data, bill.len),
                   (uint32_t)myr_hash_bytes(findings.data, findings.len));
}

static void tell_spec(const char *text, struct myr_buf *told)
{
    struct planned p = {};
    const struct myr_doc *parts, *doc;
    myr_arena_init(&p.arena);
    assert_int_equal(myr_catalog_init(&p.catalog, &p.arena, &p.err), MYR_OK);
    myr_buf_printf(told, "== %s", text);
    if (myr_doc_read_yaml(&p.arena, "parts", myr_str_from(own_parts), &parts, &p.err) < 0 ||
        myr_catalog_add(&p.catalog, parts, &p.err) < 0 ||
        myr_doc_read_yaml(&p.arena, "spec", myr_str_from(text), &doc, &p.err) < 0 ||
        myr_spec_read(&p.arena, &p.catalog, doc, &p.spec, &p.err) < 0) {
        fail_msg("%s, in\n%s", p.err.message, text);
    }
    if (myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0) {
        myr_buf_printf(told, "  refused: %s (%s)\n", p.err.message, p.err.hint);
    } else {
        check_cables(&p);
        check_lists(&p.design);
        assert_int_equal(myr_design_check(&p.design, "planned", &p.err), MYR_OK);
        tell_plan(&p, told);
    }
    planned_end(&p);
}

static void specs_of_all_keys_are_planned_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    struct myr_rng rng;
    myr_rng_init(&rng, SEED, 0);
    for (uint32_t i = 0; i < TEST_ROUNDS(SPECS); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
        draw_spec(&rng, &spec);
        tell_spec(spec.data, &told);
    }
    assert_kept_rounds("plan-mixed.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specs_of_all_keys_are_planned_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
