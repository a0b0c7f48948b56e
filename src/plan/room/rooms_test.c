/*
 * Rooms of many kinds, drawn, in which a small cluster stands: what is said of each is kept, with
 * where things stand and how long cables are (tests/kept/plan-rooms.txt). That nothing is too heavy
 * and no way too short is held by halls.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kept.h"
#include "planned_test.h"

enum { ROOMS = 28, SEED = 41, SERVERS_MAX = 9, MORE_ROOMS = 30, MORE_SERVERS_MAX = 18 };

static uint32_t between(struct myr_rng *rng, uint32_t least, uint32_t most)
{
    return least + myr_rng_below(rng, most - least + 1);
}

static bool maybe(struct myr_rng *rng, uint32_t percent)
{
    return myr_rng_below(rng, 100) < percent;
}

static const char *one_of(struct myr_rng *rng, const char *const *words, uint32_t count)
{
    return words[myr_rng_below(rng, count)];
}

#define ONE_OF(rng, ...)                              \
    one_of((rng), (const char *const[]){__VA_ARGS__}, \
           MYR_ARRAY_COUNT(((const char *const[]){__VA_ARGS__})))

/* What stands there. */
static uint32_t draw_cluster(struct myr_rng *rng, uint32_t most, struct myr_buf *spec)
{
    uint32_t servers = between(rng, 2, most);
    const char *net = ONE_OF(rng, "switch: mqm9790-ns2f", "switch: mqm9700-ns2f, tiers: 3",
                             "switch: sn5600", "switch: mqm9790-ns2f, nic_gbps: 200",
                             "switch: mqm9790-ns2f, leaf_down: 8, leaf_up: 8",
                             "switch: mqm9790-ns2f, topology: middle-of-rack",
                             "switch: sn5600, topology: clos, leaf_down: 16, leaf_up: 16");
    if (maybe(rng, 20)) {
        myr_buf_printf(spec,
                       "groups: [{name: train, servers: %u, server: h100-8gpu}, {name: serve, "
                       "servers: %u, server: h200-8gpu}]\n",
                       servers, between(rng, 1, 6));
    } else {
        myr_buf_printf(spec, "servers: %u\nserver: %s\n", servers,
                       ONE_OF(rng, "h100-8gpu", "h200-8gpu", "b200-8gpu"));
    }
    bool more = maybe(rng, 30), few = maybe(rng, 20), oob = maybe(rng, 50);
    myr_buf_printf(spec, "networks: {compute: {%s}%s%s}\n", net,
                   more  ? ", storage: , service: "
                   : few ? ", service: {extra_nodes: 2}"
                         : "",
                   oob ? ", oob: " : "");
    if (more) {
        myr_buf_printf(spec, "storage: {capacity_tb: %u}\n", between(rng, 100, 900));
    }
    return servers;
}

/* Numbers in a text are drawn one by one: who calls with several leaves their order open. */
static void draw_ways(struct myr_rng *rng, uint32_t rows, struct myr_buf *spec)
{
    if (maybe(rng, 50)) {
        const char *row = ONE_OF(rng, "0.6", "0.7", "0.8"), *column = ONE_OF(rng, "1.2", "1.8");
        const char *width = ONE_OF(rng, "0.9", "2");
        myr_buf_printf(spec, ", pitch_m: {row: %s, column: %s}, aisles: {every: %u, width_m: %s}",
                       row, column, between(rng, 0, 3), width);
    }
    if (maybe(rng, 50)) {
        const char *drop = ONE_OF(rng, "0.5", "1.5", "3"), *slack = ONE_OF(rng, "0.5", "2");
        myr_buf_printf(spec, ", drop_m: %s, slack: {percent: %u, m: %s}", drop, between(rng, 3, 10),
                       slack);
    }
    if (maybe(rng, 30)) {
        uint32_t width = between(rng, 20, 300), height = between(rng, 10, 100);
        uint32_t fill = between(rng, 1, 9);
        myr_buf_printf(spec, ", trays: {width_mm: %u, height_mm: %u, fill: 0.%u, cross_rows: [%u]}",
                       width, height, fill, between(rng, 1, rows));
    }
    if (maybe(rng, 20)) {
        uint32_t cables = between(rng, 2, 12);
        myr_buf_printf(spec, ", trunks: {cables: %u, panel_ports: %u}", cables,
                       between(rng, 8, 72));
    }
}

static void draw_feeds(struct myr_rng *rng, uint32_t rows, struct myr_buf *spec)
{
    if (maybe(rng, 30)) {
        uint32_t grid = between(rng, 20, 600);
        myr_buf_printf(spec,
                       ", power: [{name: grid, kw: %u}, {name: a, parents: [grid], rows: 1-%u}, "
                       "{name: b, kw: %u, parents: [grid, a], rows: %u-%u}]",
                       grid, rows, between(rng, 10, 300), rows / 2 + 1, rows);
    }
    if (maybe(rng, 20)) {
        myr_buf_printf(spec,
                       ", cooling: [{name: chiller, kw: %u}, {name: loop, parents: [chiller], "
                       "columns: A-C}]",
                       between(rng, 20, 600));
    }
    if (maybe(rng, 30)) {
        myr_buf_puts(spec, ", managed: true");
    }
    if (maybe(rng, 20)) {
        uint32_t own = between(rng, 1, rows);
        myr_buf_printf(spec, ", buildings: [{name: east}, {name: west, rows: %u}], distance_m: %u",
                       own, between(rng, 20, 300));
    }
    if (maybe(rng, 20)) {
        myr_buf_printf(spec, ", zones: {leaf_rows: %u-1, spine_column: B}", between(rng, 1, rows));
    }
}

static void draw_spec(struct myr_rng *rng, bool large, struct myr_buf *spec)
{
    uint32_t servers = draw_cluster(rng, large ? MORE_SERVERS_MAX : SERVERS_MAX, spec);
    uint32_t rows = between(rng, 1, 9);
    uint32_t per_rack = between(rng, 1, 4), tenths = between(rng, 0, 9);
    uint32_t racks = servers / per_rack + between(rng, 4, 16);
    const char *place = maybe(rng, 25) && !large ? "shortest" : "aligned";
    myr_buf_printf(spec, "room: {rows: %u, columns: %u, place: %s, rack_kw: %u.%u, rack_u: %u",
                   rows, racks / rows + 1, place, 11 * per_rack + 4, tenths, between(rng, 24, 60));
    draw_ways(rng, rows, spec);
    draw_feeds(rng, rows, spec);
    myr_buf_puts(spec, "}\n");
}

/* Racks with what stands in them, a line a rack: names are those of the design. */
static void tell_racks(const struct myr_design *design, struct myr_buf *told)
{
    uint64_t lengths = design->cable_count;
    for (uint32_t i = 0; i < design->cable_count; i++) {
        lengths = myr_hash_u64(lengths + design->cable_type[i]);
    }
    for (uint32_t rack = 0; rack < design->rack_count; rack++) {
        struct myr_buf line = {};
        uint32_t count = 0;
        for (uint32_t i = 0; i < design->device_count; i++) {
            if (design->device_rack[i] == rack) {
                myr_buf_puts(&line, " ");
                myr_design_name(design, i, &line);
                count++;
            }
        }
        if (count) {
            myr_buf_printf(told, "  %u %u %u:%s\n", design->rack_more[rack].building,
                           design->racks[rack].column, design->racks[rack].row, line.data);
        }
        myr_buf_done(&line);
    }
    myr_buf_printf(told, "  cables %016llx\n", (unsigned long long)lengths);
}

/* To the millimetre and the watt, and all that is drawn of it. */
static void tell_exactly(const struct myr_design *design, struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf picture = {};
    const struct myr_room *room = design->room;
    uint64_t trays = 0, racks = 0;
    myr_plan_racks_svg(design, &picture);
    for (uint32_t i = 0; i < design->tray_count; i++) {
        const struct myr_tray *tray = &design->trays[i];
        trays = myr_hash_u64(trays + tray->from_rack);
        trays = myr_hash_u64(trays + tray->to_rack);
        trays = myr_hash_u64(trays + tray->length_mm);
        trays = myr_hash_u64(trays + tray->fill_permille);
    }
    for (uint32_t i = 0; i < design->rack_count; i++) {
        const struct myr_rack_more *more = &design->rack_more[i];
        const uint32_t words[] = {more->x_mm,      more->y_mm,   more->power_b,
                                  more->cooling_b, more->watts,  more->units,
                                  more->kg,        more->kg_max, more->devices};
        for (size_t k = 0; k < MYR_ARRAY_COUNT(words); k++) {
            racks = myr_hash_u64(racks + words[k]);
        }
    }
    myr_buf_printf(told, "  %llu mm, %llu of fibre; %llu of %llu W, racks %016llx; ",
                   (unsigned long long)room->cable_mm, (unsigned long long)room->fibre_mm,
                   (unsigned long long)room->watts, (unsigned long long)room->watts_max,
                   (unsigned long long)racks);
    myr_buf_printf(told, "%u trays %016llx, picture %016llx\n", design->tray_count,
                   (unsigned long long)trays,
                   (unsigned long long)myr_hash_bytes(picture.data, picture.len));
}

static void tell_all(const struct planned *p, struct myr_buf *told)
{
    planned_tell(myr_value_get(&p->answer.root, "room"), "room", told);
    for (uint32_t i = 0; i < p->design.cabletype_count; i++) {
        const struct myr_cabletype *type = &p->design.cabletypes[i];
        myr_buf_printf(told, "  cable %s %u: %s\n", myr_net_names[type->net], type->layer,
                       myr_design_str(&p->design, type->part));
    }
    planned_tell_findings(p, told);
    tell_racks(&p->design, told);
}

static void tell_room(const char *text, bool all, struct myr_buf *told)
{
    struct planned p;
    planned_read(&p, text);
    if (myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0) {
        myr_buf_printf(told, "  refused: %s (%s)\n", p.err.message, p.err.hint);
        planned_end(&p);
        return;
    }
    myr_answer_init(&p.answer, &p.arena, "myriad.plan", 1);
    (void)myr_plan_answer(&p.design, &p.answer);
    if (all) {
        tell_all(&p, told);
    }
    tell_exactly(&p.design, told);
    planned_end(&p);
}

static void drawn_rooms_are_filled_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    struct myr_rng rng;
    myr_rng_init(&rng, SEED, 0);
    for (uint32_t i = 0; i < TEST_ROUNDS(ROOMS); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
        draw_spec(&rng, false, &spec);
        myr_buf_printf(&told, "== %s", spec.data);
        tell_room(spec.data, true, &told);
    }
    assert_kept_rounds("plan-rooms.txt", &told);
}

/* Many small blocks, which share racks, lines and buildings. */
static const char *const blocks[] = {
    /* Pairs of racks share their power unevenly, or not even that helps. */
    "servers: 8\nserver: h100-8gpu\nnetworks: {compute: {topology: clos}}\nroom: {rows: 7, "
    "columns: "
    "1, rack_kw: 15.6}\n",
    "servers: 10\nserver: h100-8gpu\nnetworks: {compute: {topology: clos}}\nroom: {rows: 4, "
    "columns: 2, rack_kw: 15.6}\n",
    "servers: 8\nserver: h100-8gpu\nnetworks: {compute: {topology: clos}}\nroom: {rows: 7, "
    "columns: "
    "1, rack_kw: 15}\n",
    "servers: 14\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: 4, leaf_up: 4}}\nroom: "
    "{rows: 5, columns: 5, rack_kw: 24}\n",
    "servers: 11\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: 2, leaf_up: 2}}\nroom: "
    "{rows: 4, columns: 6, rack_kw: 46}\n",
    "servers: 11\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: 2, leaf_up: 2}}\nroom: "
    "{rows: 4, columns: 6, rack_kw: 46, place: shortest}\n",
    "servers: 12\nnetworks: {compute: {switch: mqm9790-ns2f, topology: clos, leaf_down: 8, "
    "leaf_up: "
    "8, tiers: 3, pod_leaves: 8}}\nroom: {rows: 3, columns: 9, rack_kw: 35}\n",
    "servers: 12\nnetworks: {compute: {switch: mqm9790-ns2f, topology: clos, leaf_down: 8, "
    "leaf_up: "
    "8, tiers: 3, pod_leaves: 8}}\nroom: {rows: 3, columns: 9, rack_kw: 35, place: shortest}\n",
    "servers: 16\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: 4, leaf_up: 4}}\nroom: "
    "{rows: 3, columns: 4, rack_kw: 24, buildings: [{name: e}, {name: w}, {name: n, columns: 2}], "
    "distance_m: 70}\n",
    "servers: 9\nserver: b300-8gpu\nnetworks: {compute: {switch: sn5600, topology: twin-planar, "
    "leaf_down: 16, leaf_up: 8}}\nroom: {rows: 4, columns: 4, rack_kw: 34, place: shortest}\n",
    "servers: 3\nserver: gb200-nvl72\nnetworks: {compute: , service: }\nroom: {rows: 3, columns: "
    "3, "
    "rack_kw: 140, rack_u: 52, rack_kg: 3000}\n",
    "servers: 10\nnetworks: {compute: {topology: dragonfly, switch: sn5600, nic_gbps: 400, "
    "group_switches: 2, hosts_per_switch: 8, global_ports: 6}}\nroom: {rows: 4, columns: 5, "
    "rack_kw: "
    "24}\n",
    "servers: 6\nnetworks: {compute: {topology: torus, switch: sn5600, nic_gbps: 400, "
    "hosts_per_switch: 6, dims: [2, 4]}}\nroom: {rows: 4, columns: 5, rack_kw: 24}\n",
};

/* Larger ones, in short: the bound is that of both ways of placing. */
static void larger_rooms_are_filled_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    struct myr_rng rng;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(blocks); i++) {
        myr_buf_printf(&told, "== %s", blocks[i]);
        tell_room(blocks[i], true, &told);
    }
    myr_rng_init(&rng, SEED, 1);
    for (uint32_t i = 0; i < TEST_ROUNDS(MORE_ROOMS); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
        draw_spec(&rng, true, &spec);
        myr_buf_printf(&told, "== %s", spec.data);
        tell_room(spec.data, false, &told);
    }
    assert_kept_rounds("plan-larger-rooms.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_rooms_are_filled_as_they_were),
        cmocka_unit_test(larger_rooms_are_filled_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
