/*
 * Designs whose parts were told a little wrong: every figure of every part in use, one at a time,
 * as nothing, one less, one more, and twice as much; and every line of the bill with one piece less
 * or more. What the physical checker says then is kept in words (tests/kept/physical-nudges.txt): a
 * limit that is looked at shows where it is reached and where it is passed.
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

static const char *const specs[] = {
    "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: 4, leaf_up: 4}, oob: }\n",
    "servers: 3\nnetworks: {compute: , storage: {switch: mqm9790-ns2f, nic_ports: 1}}\n",
    "servers: 4\nnetworks: {compute: {switch: sn5600, tiers: 2, uplink_gbps: 800,\n"
    "  length_m: {host_leaf: 30, leaf_spine: 2}}}\n",
    "servers: 4\nserver: b300-8gpu-xdr\naccept: [no-optics]\nnetworks: {compute: {switch: "
    "q3400}}\n",
    "servers: 4\nserver: a100-8gpu\nnetworks: {compute: {switch: qm8790}, service: }\n",
    "servers: 3\nserver: b300-8gpu\nnetworks: {compute: {switch: sn5600, topology: twin-planar}}\n",
};

struct figure {
    enum myr_part_kind kind;
    size_t at;
    const char *name;
};

#define FIGURE(kind, member)                             \
    {                                                    \
        kind, offsetof(struct myr_part, member), #member \
    }

static const struct figure figures[] = {
    FIGURE(MYR_PART_SWITCH, sw.technology),
    FIGURE(MYR_PART_SWITCH, sw.cages),
    FIGURE(MYR_PART_SWITCH, sw.cage_gbps),
    FIGURE(MYR_PART_SWITCH, sw.port_gbps),
    FIGURE(MYR_PART_SWITCH, sw.breakout),
    FIGURE(MYR_PART_SWITCH, sw.uplink_gbps),
    FIGURE(MYR_PART_SWITCH, sw.ports_max),
    FIGURE(MYR_PART_SWITCH, sw.lanes),
    FIGURE(MYR_PART_SWITCH, sw.lane_gbps),
    FIGURE(MYR_PART_SWITCH, sw.mgmt_ports),
    FIGURE(MYR_PART_SWITCH, sw.per_box),
    FIGURE(MYR_PART_SWITCH, sw.splits.count),
    FIGURE(MYR_PART_NIC, nic.technology),
    FIGURE(MYR_PART_NIC, nic.cages),
    FIGURE(MYR_PART_NIC, nic.cage_ports),
    FIGURE(MYR_PART_NIC, nic.port_gbps),
    FIGURE(MYR_PART_NIC, nic.lanes),
    FIGURE(MYR_PART_NIC, nic.lane_gbps),
    FIGURE(MYR_PART_NIC, nic.card_gbps),
    FIGURE(MYR_PART_TRANSCEIVER, optic.cage_gbps),
    FIGURE(MYR_PART_TRANSCEIVER, optic.port_gbps),
    FIGURE(MYR_PART_TRANSCEIVER, optic.connectors),
    FIGURE(MYR_PART_TRANSCEIVER, optic.lane_gbps),
    FIGURE(MYR_PART_TRANSCEIVER, optic.lanes),
    FIGURE(MYR_PART_TRANSCEIVER, optic.cage_lane_gbps),
    FIGURE(MYR_PART_TRANSCEIVER, optic.medium),
    FIGURE(MYR_PART_TRANSCEIVER, optic.wavelength_nm),
    FIGURE(MYR_PART_CABLE, cable.medium),
    FIGURE(MYR_PART_CABLE, cable.legs),
    FIGURE(MYR_PART_CABLE, cable.gbps),
    FIGURE(MYR_PART_CABLE, cable.lanes),
    FIGURE(MYR_PART_CABLE, cable.lane_gbps),
    FIGURE(MYR_PART_ETHERNET, eth.access_ports),
    FIGURE(MYR_PART_ETHERNET, eth.access_gbps),
    FIGURE(MYR_PART_ETHERNET, eth.uplink_ports),
    FIGURE(MYR_PART_ETHERNET, eth.uplink_gbps),
    FIGURE(MYR_PART_ETHERNET, eth.mgmt_ports),
};

/* Nothing is told of a design in which nothing is found. */
MYR_PRINTF(3, 4)
static void look(struct fixture *f, struct myr_buf *told, const char *fmt, ...)
{
    struct myr_arena arena;
    struct myr_physical physical;
    myr_arena_init(&arena);
    myr_physical_check(&arena, &f->catalog, &f->design, &physical);
    if (physical.findings.count) {
        char head[160];
        va_list args;
        va_start(args, fmt);
        assert_true(vsnprintf(head, sizeof(head), fmt, args) < (int)sizeof(head));
        va_end(args);
        myr_buf_puts(told, head);
    }
    for (size_t i = 0; i < physical.findings.count; i++) {
        const struct myr_physical_finding *finding = &physical.findings.items[i];
        myr_buf_printf(told, "    %s, %llu at %s: %s\n", finding->rule,
                       (unsigned long long)finding->places, finding->where, finding->message);
    }
    myr_physical_done(&physical);
    myr_arena_done(&arena);
}

static bool uses(const struct fixture *f, const char *id)
{
    const struct myr_design *design = &f->design;
    for (uint32_t i = 0; i < design->devtype_count; i++) {
        if (strcmp(myr_design_str(design, design->devtypes[i].part), id) == 0) {
            return true;
        }
    }
    for (uint32_t i = 0; i < design->card_count; i++) {
        if (strcmp(myr_design_str(design, design->cards[i].part), id) == 0) {
            return true;
        }
    }
    for (uint32_t i = 0; i < design->cabletype_count; i++) {
        const struct myr_cabletype *type = &design->cabletypes[i];
        if (strcmp(myr_design_str(design, type->part), id) == 0 ||
            strcmp(myr_design_str(design, type->optic_a), id) == 0 ||
            strcmp(myr_design_str(design, type->optic_b), id) == 0) {
            return true;
        }
    }
    return false;
}

/* What may be said in place of a figure; what no reader of a catalogue lets pass is left out. */
static bool is_allowed(const struct figure *figure, uint32_t value)
{
    bool name = strstr(figure->name, "technology") || strstr(figure->name, "medium") ||
                strstr(figure->name, "breakout");
    bool some = strstr(figure->name, "legs") || strstr(figure->name, "cage_ports") ||
                strstr(figure->name, "connectors") || strstr(figure->name, "cages") ||
                strstr(figure->name, "per_box");
    return !(name && value > 2) && !(some && value == 0) &&
           !(strstr(figure->name, "count") && value > MYR_SPEEDS_MAX);
}

static void nudge_part(struct fixture *f, struct myr_part *part, struct myr_buf *told)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(figures); i++) {
        uint32_t *value = (uint32_t *)(void *)((char *)part + figures[i].at), was = *value;
        const uint32_t others[] = {0, was - 1, was + 1, was * 2};
        for (size_t k = 0; part->kind == figures[i].kind && k < MYR_ARRAY_COUNT(others); k++) {
            if (others[k] != was && others[k] < 100000 && is_allowed(&figures[i], others[k]) &&
                (k == 0 || others[k] != 0)) {
                *value = others[k];
                look(f, told, "  %s: %s %u, not %u\n", part->id, figures[i].name, others[k], was);
            }
        }
        if (part->kind == figures[i].kind) {
            *value = was;
        }
    }
}

static void nudge_metres(struct fixture *f, struct myr_part *part, struct myr_buf *told)
{
    double *metres = part->kind == MYR_PART_CABLE         ? &part->cable.length_m
                     : part->kind == MYR_PART_TRANSCEIVER ? &part->optic.reach_m
                                                          : NULL;
    for (uint32_t i = 0; metres && i < f->design.cabletype_count; i++) {
        double was = *metres, run = f->design.cabletypes[i].length_mm / 1000.0;
        for (uint32_t k = 0; k < 2; k++) {
            *metres = run - k * 0.001; /* just enough, and a millimetre less */
            look(f, told, "  %s: %.3f m\n", part->id, *metres);
        }
        *metres = was;
    }
}

static void nudge_bill(struct fixture *f, struct myr_buf *told)
{
    for (uint32_t i = 0; i < f->design.bom_count; i++) {
        struct myr_bom_row *row = &f->design.bom[i];
        for (uint32_t k = 0; k < 2; k++) {
            row->quantity += k ? 2 : -1ULL;
            look(f, told, "  %llu %s\n", (unsigned long long)row->quantity,
                 myr_design_str(&f->design, row->part));
        }
        row->quantity--;
    }
}

/* A network without a cable or a module in the bill: others may lay those of access networks. */
static void drop_cabling(struct fixture *f, struct myr_buf *told)
{
    struct myr_design *design = &f->design;
    struct myr_bom_row *bom = design->bom;
    uint32_t count = design->bom_count;
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        design->bom = MYR_ARENA_NEW(&f->arena, struct myr_bom_row, count);
        design->bom_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            struct myr_str number = myr_str_from(myr_design_str(design, bom[i].part));
            uint32_t at = myr_catalog_find(&f->catalog, number);
            enum myr_part_kind kind =
                at == MYR_PART_NONE ? MYR_PART_KIND_COUNT : f->catalog.parts.items[at].kind;
            bool here = strcmp(myr_design_str(design, bom[i].system), myr_net_names[net]) == 0;
            if (!here || (kind != MYR_PART_CABLE && kind != MYR_PART_TRANSCEIVER)) {
                design->bom[design->bom_count++] = bom[i];
            }
        }
        look(f, told, "  no cabling of %s\n", myr_net_names[net]);
    }
    design->bom = bom;
    design->bom_count = count;
}

static void what_is_a_little_wrong_is_named(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t s = 0; s < MYR_ARRAY_COUNT(specs); s++) {
        struct fixture f;
        plan(&f, specs[s]);
        myr_buf_printf(&told, "== %s", specs[s]);
        look(&f, &told, "  as it is\n");
        for (size_t i = 0; i < f.catalog.parts.count; i++) {
            if (uses(&f, f.catalog.parts.items[i].id)) {
                nudge_part(&f, &f.catalog.parts.items[i], &told);
                nudge_metres(&f, &f.catalog.parts.items[i], &told);
            }
        }
        nudge_bill(&f, &told);
        drop_cabling(&f, &told);
        release(&f);
    }
    assert_kept("physical-nudges.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_a_little_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
