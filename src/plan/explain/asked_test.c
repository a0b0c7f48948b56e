/*
 * Parts of a plan's tree that are made when they are asked for, number by number with rule and
 * inputs: what reports sum up, switches, racks, groups, the phase after it; and what is said to who
 * asks for something else. Kept in tests/kept/plan-asked.txt.
 */
#include "myriad/plan/explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/plan/grow.h"
#include "planned_test.h"

static const struct {
    const char *spec, *next; /* NULL: no phase after it */
    const char *paths[8];
} asked[] = {
    {"servers: 6\nprices: cn-2024-05\nsupplied: [servers]\nnetworks: {compute: {switch: "
     "mqm9790-ns2f, topology: rail, leaf_down: 4, leaf_up: 4}, storage: , service: , oob: "
     "}\nstorage: {capacity_tb: 200, rate: good}\n",
     "servers: 9\nprices: cn-2024-05\nsupplied: [servers]\nnetworks: {compute: {switch: "
     "mqm9790-ns2f, topology: rail, leaf_down: 4, leaf_up: 4}, storage: , service: , oob: "
     "}\nstorage: {capacity_tb: 200, rate: good}\n",
     {"report", "next", "devices.access/oob-0", "devices.leaf/p0-g0-r0", "bom"}},
    {"servers: 7\nserver: generic-1gpu\nnetworks: {compute: {switch: eth-12t8-32x400, topology: "
     "clos, tiers: 3, leaf_down: 2, leaf_up: 2, islands: 2, fill: dense, oversubscription: [1, 2], "
     "fabric_manager_ports: 1, extra_nodes: 1}}\n",
     NULL,
     {"report", "devices", "networks.compute", "totals"}},
    {"groups: [{name: a.b, servers: 2, server: h100-8gpu}, {name: a, servers: 3, server: "
     "h200-8gpu}]\nnetworks: {compute: {topology: torus, dims: [2, 2], trunk: 2}}\n",
     NULL,
     {"groups", "report", "devices", "networks.compute.shape"}},
    {"servers: 3\nnetworks: {compute: {topology: dragonfly, switch: sn5600, group_switches: 2, "
     "hosts_per_switch: 4, global_ports: 2}, oob: }\nroom: {rows: 2, columns: 3, rack_kw: 22, "
     "managed: true}\nfacility: {cooling: cold-plate}\n",
     NULL,
     {"report", "racks", "devices.router/g1-0", "devices.access/oob-0.hosts", "networks.oob"}},
    {"servers: 2\nserver: gb200-nvl72\nnetworks: {compute: {topology: dragonfly+, switch: sn5600, "
     "group_switches: 4, nic_gbps: 400}}\n",
     NULL,
     {"report", "devices.spine/g0-1", "scale_up_gpus"}},
    {"servers: 4\nserver: b300-8gpu\nnetworks: {compute: {switch: sn5600, topology: twin-planar, "
     "leaf_down: 8, leaf_up: 8}}\n",
     NULL,
     {"report", "devices"}},
};

static const char *const wrong[] = {
    "racks.A1.kw",
    "racks",
    "next.cost",
    "next",
    "nexts",
    "devices.nobody",
    "deviceses",
    "power.",
    "bom.0",
    "bom[0]quantity",
    "bom[99999999999].quantity",
    "groups",
    "groups.0",
    "files",
    "name",
    "networks.storage",
    "networks.compute.topology",
    "networks..compute",
    "report.",
    "]",
    "",
    "\x01",
    "a path that is so long that nobody would ever have typed it, and which is cut in the message",
};

static void tell_path(struct planned *p, const char *path, struct myr_buf *told)
{
    struct myr_explained *all;
    uint32_t count;
    struct myr_err err = {};
    if (myr_plan_explain_path(&p->design, &p->answer, path, &all, &count, &err) < 0) {
        myr_buf_printf(told, "refused (%d): %s (%s)\n", err.code, err.message, err.hint);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_printf(told, "  %s: %.*s %s, %s: %s; %s\n", all[i].path,
                       (int)all[i].value->text.len, all[i].value->text.data, all[i].unit,
                       all[i].basis, all[i].rule, all[i].inputs);
    }
}

static void what_is_asked_for_is_told_with_its_rule(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(asked); i++) {
        struct planned p, next = {};
        struct myr_growth growth;
        planned_begin(&p, asked[i].spec);
        myr_buf_printf(&told, "== %s", asked[i].spec);
        if (asked[i].next) {
            planned_begin(&next, asked[i].next);
            assert_int_equal(myr_grow(&p.arena, &p.catalog, &p.design, &next.design,
                                      (struct myr_grow_names){"now", "later"}, &growth, &p.err),
                             MYR_OK);
        }
        myr_answer_init(&p.answer, &p.arena, "myriad.plan", 1);
        myr_plan_explain_tree(&p.design, asked[i].next ? &growth : NULL, &p.answer);
        for (const char *const *path = asked[i].paths; *path; path++) {
            myr_buf_printf(&told, "-- %s\n", *path);
            tell_path(&p, *path, &told);
        }
        if (asked[i].next) {
            planned_end(&next);
        }
        planned_end(&p);
    }
    assert_kept("plan-asked.txt", &told);
}

static void who_asks_for_nothing_that_is_there_is_told_so(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    struct planned p;
    planned_begin(&p, "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f}}\n");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wrong); i++) {
        struct myr_explained *all;
        uint32_t count = 0;
        struct myr_err err = {};
        int rc = myr_plan_explain_path(&p.design, &p.answer, wrong[i], &all, &count, &err);
        myr_buf_printf(&told, "%zu %.40s: %d, %u numbers; %s (%s)\n", i,
                       wrong[i][0] == '\x01' ? "?" : wrong[i], rc, count, err.message, err.hint);
    }
    planned_end(&p);
    assert_kept("plan-asked-wrong.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_for_is_told_with_its_rule),
        cmocka_unit_test(who_asks_for_nothing_that_is_there_is_told_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
