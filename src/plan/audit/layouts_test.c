/*
 * Layouts that are nearly right: the plan's own racks, row by row as its file has them, with one
 * device dropped, put twice, of another part, or all servers in one rack; then tables as people
 * write them. What an audit says of each is kept in words (tests/kept/plan-layouts.txt).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "audit/audit.h"
#include "kept.h"
#include "planned_test.h"

static void count_step(void *context, const char *step)
{
    *(uint32_t *)context += step[0] != '\0';
}

static void tell(struct planned *p, const struct myr_audit_document *asked, struct myr_buf *told)
{
    struct myr_audit_document heard = *asked, *document = &heard;
    uint32_t steps = 0;
    const struct myr_plan_listener listener = {count_step, &steps};
    heard.listener = &listener;
    struct myr_audit audit = {};
    struct myr_err err = {};
    struct myr_arena arena;
    myr_arena_init(&arena);
    if (myr_audit_run(&arena, &p->catalog, &p->spec, document, &audit, &err) < 0) {
        myr_buf_printf(told, "  refused (%d): %s (%s)\n", err.code, err.message, err.hint);
    } else {
        assert_true(steps > 0); /* plans that take long are told of */
        myr_buf_printf(told, "  %u lines, %u claims, %u racks\n", audit.lines, audit.claims,
                       audit.racks);
        for (size_t i = 0; i < audit.findings.count; i++) {
            const struct myr_audit_finding *finding = &audit.findings.items[i];
            myr_buf_printf(told, "  %s %s: %s", finding->rule, finding->where, finding->message);
            if (isnan(finding->expected)) {
                myr_buf_printf(told, " [%s | %s]\n", finding->expected_text, finding->found_text);
            } else {
                myr_buf_printf(told, " [%.10g | %.10g]\n", finding->expected, finding->found);
            }
        }
        for (size_t i = 0; i < audit.doubts.count; i++) {
            myr_buf_printf(told, "  ? %s: %s\n", audit.doubts.items[i].where,
                           audit.doubts.items[i].reason);
        }
    }
    myr_audit_done(&audit);
    myr_arena_done(&arena);
}

enum edit { AS_IT_IS, DROPPED, TWICE, OTHER_PART, ONE_RACK, EDIT_COUNT };

static const char *const edit_names[EDIT_COUNT] = {"as it is", "dropped", "twice", "another part",
                                                   "servers in one rack"};

/* The plan's own file: a row a device. 'part' is for OTHER_PART. */
static void write_racks(const struct planned *p, enum edit edit, uint32_t device, const char *part,
                        struct myr_buf *ret)
{
    const struct myr_design *design = &p->design;
    myr_buf_puts(ret, "rack,u,item,part,kw\n");
    for (uint32_t d = 0; d < design->device_count; d++) {
        const char *own = myr_design_str(design, design->devtypes[design->device_type[d]].part);
        bool here = d == device, node = design->place[d].kind == MYR_DEVICE_NODE;
        uint32_t times = here && edit == DROPPED ? 0 : here && edit == TWICE ? 2 : 1;
        for (uint32_t i = 0; i < times; i++) {
            if (edit == ONE_RACK && node) {
                myr_buf_puts(ret, "A1");
            } else {
                myr_design_rack_name(design, design->device_rack[d], ret);
            }
            myr_buf_puts(ret, ",1,");
            myr_design_name(design, d, ret);
            myr_buf_printf(ret, ",%s,1\n", here && edit == OTHER_PART ? part : own);
        }
    }
}

static void tell_racks(struct planned *p, enum edit edit, uint32_t device, const char *part,
                       struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf racks = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    struct myr_audit_document document = {.bom_file = "list", .layout_file = "racks"};
    write_racks(p, edit, device, part, &racks);
    myr_plan_bom_csv(&p->design, &list);
    document.layout = (struct myr_str){racks.data, racks.len};
    document.bom = (struct myr_str){list.data, list.len};
    tell(p, &document, told);
}

static const char *const specs[] = {
    "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f, topology: rail, leaf_down: 4, leaf_up: "
    "4, fabric_manager_ports: 1, extra_nodes: 1}, storage: , service: , oob: }\nstorage: "
    "{capacity_tb: 200}\nroom: {rows: 4, columns: 4, rack_kw: 24}\n"
    "items: [{part: firewall}]\n",
    "servers: 2\nserver: gb200-nvl72\nnetworks: {compute: {topology: dragonfly, switch: sn5600, "
    "nic_gbps: 400, hosts_per_switch: 16, group_switches: 4, global_ports: 4}, oob: }\nroom: "
    "{rows: "
    "4, columns: 3, rack_kw: 140, rack_u: 50}\n",
};

static void a_rack_that_is_not_as_planned_is_told(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t s = 0; s < MYR_ARRAY_COUNT(specs); s++) {
        struct planned p;
        planned_begin(&p, specs[s]);
        const struct myr_design *design = &p.design;
        myr_buf_printf(&told, "== %s", specs[s]);
        tell_racks(&p, AS_IT_IS, MYR_NONE, NULL, &told);
        myr_buf_printf(&told, "%s\n", edit_names[ONE_RACK]);
        tell_racks(&p, ONE_RACK, MYR_NONE, NULL, &told);
        for (uint32_t d = 0; d < design->device_count; d++) {
            if (d > 0 && design->device_type[d] == design->device_type[d - 1]) {
                continue;
            }
            uint8_t kind = design->place[d].kind;
            const char *other = kind == MYR_DEVICE_ACCESS        ? "ETH-48X10G-6X100G"
                                : kind == MYR_DEVICE_AGGREGATION ? "ETH-48X1G-4X10G"
                                                                 : "no-such-box";
            for (enum edit edit = DROPPED; edit <= OTHER_PART; edit++) {
                /* More than planned is no fault, but for the watts of a rack; and what no part is
                 * known of counts as little as what is not there. */
                bool ethernet = kind == MYR_DEVICE_ACCESS || kind == MYR_DEVICE_AGGREGATION;
                if ((edit == TWICE && kind != MYR_DEVICE_NODE) ||
                    (edit == OTHER_PART && (!ethernet || s > 0) && d > 0)) {
                    continue;
                }
                myr_buf_puts(&told, "-- ");
                myr_design_name(design, d, &told);
                myr_buf_printf(&told, ": %s\n", edit_names[edit]);
                tell_racks(&p, edit, d, other, &told);
            }
        }
        planned_end(&p);
    }
    assert_kept("plan-layouts.txt", &told);
}

/* Tables of rack, item and count. */
static const char *const tables[] = {
    "rack,item,count\nA1,access switch,2\nA1,aggregation switch,2\nA2,GPU server,4\n",
    "rack,item,count\nA1,oob access switch,1\nA1,oob aggregation,2\nA1,service "
    "access,2\nA1,service "
    "aggregation,4\nA2,compute leaf,8\nA2,compute spine,4\nA2,storage leaf,1\n",
    "rack,item,count\nA1,leaf,8\nA1,spine,3\nA1,core,1\nA1,router,1\n",
    "rack,item,count\nA1,leaf1,1\nA1,leaf2,1\nA1,leaf003,1\nA2,Switch99,1\nA2,h100-8gpu,4\n",
    "position,device,qty\n\"A1\",h100-8gpu,\"4\"\nA1, MQM9790-NS2F "
    ",12\n,flash-22x15-cx7,2\n,,\nA3,,7\n",
    "rack,item,count\nA1,GPU server,4\nA1,GPU server,4\nA2,management node,1\nA2,subnet "
    "manager,1\nA2,firewall,1\n",
    "rack,item,count\nA1,GPU server, \nA1,GPU server,0\nA1,GPU server,\"1,000\"\n",
    "rack,item,count\nA1,GPU server,-1\n",
    "rack,item,count\nA1,GPU server\nA1\n",
    "rack,item,part,u\nA1,node/00000,h100-8gpu,1\nA1,node/00001,nothing,1\nA1,leaf/"
    ",mqm9790-ns2f,1\n"
    "A1,leaf/x,mqm9790-ns2f,1\nA1,access/x,eth-48x1g-4x10g,1\nA1,management/0,mgmt-node,1\n",
    "rack,item,part,u,count\nA1,node/00000,h100-8gpu,1,3\n",
    "rack,item,part\nA1,GPU server,h100-8gpu\n",
    /* Six of service are none of oob, and none of them is an access switch. */
    "rack,item,part,u\nA1,agg/service-0,eth-32x100g,1\nA1,agg/service-1,eth-32x100g,1\n"
    "A1,agg/service-2,eth-32x100g,1\nA1,agg/service-3,eth-32x100g,1\nA1,agg/service-4,eth-32x100g,"
    "1\nA1,agg/service-5,eth-32x100g,1\n",
};

static void tables_are_read_as_they_are_meant(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    struct planned p;
    planned_begin(&p, specs[0]);
    myr_plan_bom_csv(&p.design, &list);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tables); i++) {
        struct myr_audit_document document = {.bom = {list.data, list.len},
                                              .bom_file = "list",
                                              .layout = myr_str_from(tables[i]),
                                              .layout_file = "racks"};
        myr_buf_printf(&told, "== %s", tables[i]);
        tell(&p, &document, &told);
    }
    planned_end(&p);
    assert_kept("plan-tables.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rack_that_is_not_as_planned_is_told),
        cmocka_unit_test(tables_are_read_as_they_are_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
