/*
 * Halls of all shapes, drawn, in which a few servers stand: buildings of unlike sizes, cross rows,
 * zones that end beyond a smaller hall, feeds, trunks, heavy things. What stands where, how long
 * cables are and how full trays are is kept in digests (tests/kept/plan-shapes.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "keys_test.h"
#include "planned_test.h"

enum { ROOMS = 90, SEED = 20261119 };

static void draw_cluster(struct myr_rng *rng, struct myr_buf *spec)
{
    myr_buf_printf(spec, "servers: %u\n", 2 + myr_rng_below(rng, 8));
    bool cards = keys_maybe(rng, 60); /* for the service network, too */
    myr_buf_puts(spec, cards ? "server: h100-8gpu\n" : "server: generic-1gpu\n");
    myr_buf_puts(spec, "networks: {compute: {");
    DRAW_KEYS(rng, spec, {100, "switch", "mqm9790-ns2f"},
              {70, "topology", "clos|clos|rail|middle-of-rack"}, {60, "leaf_down", "2|4|8"},
              {60, "leaf_up", "1|2|4"}, {20, "nic_gbps", "200"}, {20, "extra_nodes", "1|3"},
              {15, "fabric_manager_ports", "1|2"}, {10, "tiers", "2|3"});
    myr_buf_puts(spec, "}");
    myr_buf_puts(spec, cards && keys_maybe(rng, 30) ? ", service: " : "");
    myr_buf_puts(spec, keys_maybe(rng, 35) ? ", oob: " : "");
    myr_buf_puts(spec, "}\n");
}

static void draw_room(struct myr_rng *rng, struct myr_buf *spec)
{
    bool deep = keys_maybe(rng, 70), apart = keys_maybe(rng, 35);
    myr_buf_puts(spec, "room: {");
    DRAW_KEYS(
        rng, spec, {100, "rows", deep ? "5|6|9" : "1|2|3"}, {80, "columns", "3|5|9|14"},
        {100, "rack_kw", "12|16|24.5|40"}, {50, "rack_u", "24|30|42|52"},
        {10, "rack_kg", "300|900"}, {20, "place", "shortest|aligned"},
        {40, "pitch_m", "{row: 0.6, column: 1.8}|{row: 1, column: 1}"},
        {40, "aisles", "{every: 1, width_m: 2}|{every: 2, width_m: 0.9}|{every: 3, width_m: 5}"},
        {30, "drop_m", "0|0.5|3"}, {30, "slack", "{percent: 0, m: 0}|{percent: 10, m: 2}"},
        {45, "trays",
         !deep ? "{cross_rows: [1]}|{width_mm: 40, height_mm: 20}"
               : "{cross_rows: [2]}|{cross_rows: [1, 4]}|{width_mm: 30, height_mm: 20, fill: 0.3, "
                 "cross_rows: [2, 5]}|{cross_rows: [5, 1, 3]}|{width_mm: 50, height_mm: 10}"},
        {20, "trunks", "{cables: 2, panel_ports: 8}|{cables: 6, panel_ports: 24}"},
        {apart ? 100 : 0, "buildings",
         "[{name: e}, {name: w}]|[{name: e, rows: 1, columns: 2}, {name: w}]|[{name: e, columns: "
         "3}, {name: w, rows: 1}, {name: n, rows: 6, columns: 6}]"},
        {apart ? 100 : 0, "distance_m", "10|60|200"},
        {30, "zones",
         !deep ? "{leaf_rows: 1-1}|{spine_column: B}"
               : "{leaf_rows: 2-5, spine_column: B}|{leaf_rows: 5-1}|{leaf_rows: 3-3, "
                 "spine_column: C}"},
        {20, "power",
         "[{name: a, kw: 60, rows: 1-2}, {name: b, kw: 200}]|[{name: grid, kw: 150}, {name: a, "
         "parents: [grid], rows: 1-1}, {name: b, kw: 90, parents: [grid]}]"},
        {15, "cooling", "[{name: loop, kw: 70, columns: A-B}, {name: rest, kw: 300}]"},
        {20, "managed", "true"});
    myr_buf_puts(spec, "}\n");
}

static uint64_t put(uint64_t digest, uint64_t word)
{
    return myr_hash_u64(digest + word);
}

static uint32_t places_of(const struct myr_design *design)
{
    uint64_t digest = design->rack_count;
    for (uint32_t i = 0; i < design->device_count; i++) {
        digest = put(digest, design->device_rack[i]);
        digest = put(digest, design->device_unit[i]);
    }
    for (uint32_t i = 0; i < design->rack_count; i++) {
        const struct myr_rack_more *more = &design->rack_more[i];
        digest = put(put(digest, more->x_mm), more->y_mm);
        digest = put(put(digest, more->watts), more->kg);
        digest = put(put(digest, design->racks[i].power_feed), more->power_b);
        digest = put(put(digest, design->racks[i].cooling_loop), more->cooling_b);
    }
    return (uint32_t)digest;
}

static uint32_t trays_of(const struct myr_design *design)
{
    uint64_t digest = design->tray_count;
    for (uint32_t i = 0; i < design->tray_count; i++) {
        const struct myr_tray *tray = &design->trays[i];
        digest = put(put(digest, tray->from_rack), tray->to_rack);
        digest = put(put(digest, tray->length_mm), tray->fill_permille);
    }
    return (uint32_t)digest;
}

static void tell_room(struct planned *p, struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf json = {};
    struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
    const struct myr_design *design = &p->design;
    uint64_t cables = design->cable_count;
    for (uint32_t i = 0; i < design->cable_count; i++) {
        cables = put(put(cables, design->cable_type[i]), design->cable_mm[i]);
    }
    myr_answer_init(&p->answer, &p->arena, "myriad.plan", 1);
    (void)myr_plan_answer(design, &p->answer);
    assert_int_equal(myr_answer_write(&p->answer, &form, &json, NULL), MYR_OK);
    planned_tell_findings(p, told);
    myr_buf_printf(told, "  %llu mm; places %08x, %u trays %08x, cables %08x, answer %08x\n",
                   (unsigned long long)design->room->cable_mm, places_of(design),
                   design->tray_count, trays_of(design), (uint32_t)cables,
                   (uint32_t)myr_hash_bytes(json.data, json.len));
}

static void halls_of_all_shapes_are_filled_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    struct myr_rng rng;
    myr_rng_init(&rng, SEED, 0);
    for (uint32_t i = 0; i < TEST_ROUNDS(ROOMS); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
        struct planned p;
        draw_cluster(&rng, &spec);
        draw_room(&rng, &spec);
        myr_buf_printf(&told, "== %s", spec.data);
        const struct myr_doc *doc;
        p = (struct planned){};
        myr_arena_init(&p.arena);
        assert_int_equal(myr_catalog_init(&p.catalog, &p.arena, &p.err), MYR_OK);
        assert_int_equal(myr_doc_read_yaml(&p.arena, "spec", myr_str_from(spec.data), &doc, &p.err),
                         MYR_OK);
        if (myr_spec_read(&p.arena, &p.catalog, doc, &p.spec, &p.err) < 0 ||
            myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0) {
            myr_buf_printf(&told, "  refused: %s (%s)\n", p.err.message, p.err.hint);
        } else {
            tell_room(&p, &told);
        }
        planned_end(&p);
    }
    assert_kept_rounds("plan-shapes.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halls_of_all_shapes_are_filled_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
