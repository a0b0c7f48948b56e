/*
 * Every number of the sections 'room', 'facility', 'storage' and 'optimise', and every word of
 * theirs: what is taken at its limits, where it goes, and what is said of what lies beyond
 * (tests/kept/model-sections.txt). And what contradicts itself, message by message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"
#include "model_test.h"
#include "myriad/model/spec.h"

static int read_text(struct fixture *f, const char *file, const char *text, struct myr_spec *ret)
{
    const struct myr_doc *doc;
    MYR_TRY(myr_doc_read_yaml(&f->arena, file, myr_str_from(text), &doc, &f->err));
    return myr_spec_read(&f->arena, &f->catalog, doc, ret, &f->err);
}

/* --- all members as words "name=value", in a fixed order */

static void put_chains(struct myr_buf *ret, const char *what, const struct myr_spec_chains *chains)
{
    for (uint32_t i = 0; i < chains->count; i++) {
        const struct myr_spec_chain *link = &chains->items[i];
        myr_buf_printf(ret, "%s.%s=%g,%d,%d,%u-%u,%u-%u,%d ", what, link->name, link->kw,
                       (int)link->parents[0], (int)link->parents[1], link->rows.first,
                       link->rows.last, link->columns.first, link->columns.last, link->serves);
    }
}

static void put_room(struct myr_buf *ret, const struct myr_spec_room *r)
{
    myr_buf_printf(ret,
                   "rows=%u columns=%u rack_part=%d place=%u rack_kw=%g rack_u=%g rack_kg=%g "
                   "server_kw=%g row_pitch_m=%g column_pitch_m=%g aisle_every=%u aisle_m=%g "
                   "drop_m=%g slack_percent=%g slack_m=%g tray_width_mm=%g tray_height_mm=%g "
                   "tray_fill=%g fibre_mm=%g copper_mm=%g trunk_cables=%u panel_ports=%u "
                   "lossless_classes=%u managed=%d leaf_rows=%u-%u spine_column=%u ",
                   r->rows, r->columns, r->rack_part == MYR_PART_NONE ? -1 : 0, r->place,
                   r->rack_kw, r->rack_u, r->rack_kg, r->server_kw, r->row_pitch_m,
                   r->column_pitch_m, r->aisle_every, r->aisle_m, r->drop_m, r->slack_percent,
                   r->slack_m, r->tray_width_mm, r->tray_height_mm, r->tray_fill, r->fibre_mm,
                   r->copper_mm, r->trunk_cables, r->panel_ports, r->lossless_classes, r->managed,
                   r->leaf_rows.first, r->leaf_rows.last, r->spine_column);
    for (uint32_t i = 0; i < r->cross_count; i++) {
        myr_buf_printf(ret, "cross=%u ", r->cross_rows[i]);
    }
    for (uint32_t i = 0; i < r->building_count; i++) {
        const struct myr_spec_building *b = &r->buildings[i];
        myr_buf_printf(ret, "building.%s=%u,%u,%u,%u,%u ", b->name ? b->name : "", b->rows,
                       b->columns, b->distance_m[0], b->distance_m[1], b->distance_m[2]);
    }
    put_chains(ret, "power", &r->power);
    put_chains(ret, "cooling", &r->cooling);
}

static void put_facility(struct myr_buf *ret, const struct myr_spec_facility *f)
{
    myr_buf_printf(ret, "cooling=%u bill=%d it_kw=%g by_gpu=%d gpu_w=%g host_w=%g other_share=%g ",
                   f->cooling, f->bill, f->it_kw, f->by_gpu, f->gpu_w, f->host_w, f->other_share);
    for (uint32_t i = 0; i < MYR_OVERHEAD_COUNT; i++) {
        myr_buf_printf(ret, "overhead%u=%g ", i, f->overheads[i]);
    }
    for (uint32_t i = 0; i < MYR_COOLING_COUNT; i++) {
        myr_buf_printf(ret, "price%u=%g ", i, f->cooling_price[i]);
    }
    myr_buf_printf(ret,
                   "load=%g tariff=%g grid_kg=%g green_share=%g years=%g exchange=%g currency=%s "
                   "liquid_share=%g liquid_k=%g pipe_m=%g head_kpa=%g coolant=%u air_k=%g "
                   "air_rack_kw=%g cdu_kw=%g cdu_derate=%g cdu_spares=%g cdu_per=%u ups=%u "
                   "ups_modules=%u ups_module_kw=%g ups_minutes=%g supply=%u volts=%g "
                   "power_factor=%g continuous=%g breaker_a=%g busway_a=%g pool_kw=%g floor_kg=%g "
                   "facility_rack_kg=%g idle_share=%g step_share=%g heat_reuse=%g module_racks=%u "
                   "module_kw=%g pue_max=%g power_kw_max=%g ",
                   f->load, f->tariff, f->grid_kg, f->green_share, f->years, f->exchange,
                   f->currency ? f->currency : "", f->liquid_share, f->liquid_k, f->pipe_m,
                   f->head_kpa, f->coolant, f->air_k, f->air_rack_kw, f->cdu_kw, f->cdu_derate,
                   f->cdu_spares, f->cdu_per, f->ups, f->ups_modules, f->ups_module_kw,
                   f->ups_minutes, f->supply, f->volts, f->power_factor, f->continuous,
                   f->breaker_a, f->busway_a, f->pool_kw, f->floor_kg, f->rack_kg, f->idle_share,
                   f->step_share, f->heat_reuse, f->module_racks, f->module_kw, f->pue_max,
                   f->power_kw_max);
}

static void put_storage(struct myr_buf *ret, const struct myr_spec_storage *s)
{
    myr_buf_printf(ret,
                   "capacity_tb=%.12g copies=%u erasure=%u+%u rate_class=%u servers=%u read=%g "
                   "write=%g iops=%.12g metadata_ops=%.12g files=%.15g file_kb=%g scan_hours=%g "
                   "model=%s window_s=%g checkpoints=%u availability=%g mtbf=%g repair=%g ",
                   s->capacity_tb, s->copies, s->erasure_data, s->erasure_parity, s->rate_class,
                   s->servers, s->read_gbytes, s->write_gbytes, s->iops, s->metadata_ops, s->files,
                   s->file_kb, s->scan_hours, s->model ? s->model : "", s->window_s, s->checkpoints,
                   s->availability_percent, s->mtbf_hours, s->repair_hours);
    for (uint32_t i = 0; i < MYR_TIER_COUNT; i++) {
        const struct myr_spec_tier *t = &s->tiers[i];
        myr_buf_printf(ret, "tier%u=%.12g,%u,%u+%u ", i, t->capacity_tb, t->copies, t->erasure_data,
                       t->erasure_parity);
    }
}

static void put_rest(struct myr_buf *ret, const struct myr_spec *spec)
{
    const struct myr_spec_optimise *o = &spec->optimise;
    myr_buf_printf(ret, "objective=%u grow_to=%u ", o->objective, o->grow_to);
    for (uint32_t i = 0; i < MYR_METRIC_COUNT; i++) {
        myr_buf_printf(ret, "limit%u=%g ", i, o->limits[i]);
    }
    for (uint32_t i = 0; i < MYR_CHOICE_COUNT; i++) {
        for (uint32_t k = 0; k < o->choices[i].count; k++) {
            myr_buf_printf(ret, "choice%u.%u=%g ", i, k,
                           i == MYR_CHOICE_SWITCH ? 0 : o->choices[i].values[k]);
        }
    }
    for (uint32_t i = 0; i < spec->group_count; i++) {
        myr_buf_printf(ret, "group.%s=%u,%u ", spec->groups[i].name, spec->groups[i].servers,
                       spec->groups[i].networks);
    }
    const struct myr_spec_net *net = &spec->nets[MYR_NET_COMPUTE];
    for (uint32_t i = 0; i < net->dim_count; i++) {
        myr_buf_printf(ret, "dim%u=%u ", i, net->dims[i]);
    }
    myr_buf_printf(ret, "nic_gbps=%u uplink_gbps=%u leaf_spine_m=%g ", net->nic_gbps,
                   net->uplink_gbps, net->fabric_length_m);
}

static void put_all(struct myr_buf *ret, const struct myr_spec *spec)
{
    put_room(ret, &spec->room);
    put_facility(ret, &spec->facility);
    put_storage(ret, &spec->storage);
    put_rest(ret, spec);
}

/* The words of 'now' that are not in 'before'. */
static void put_changed(struct myr_buf *ret, const char *before, const struct myr_buf *now)
{
    char *rest = now->data;
    while (rest && *rest) {
        char *word = strsep(&rest, " ");
        const char *at = strstr(before, word);
        bool known = false;
        for (; at && !known; at = strstr(at + 1, word)) {
            known = (at == before || at[-1] == ' ') && at[strlen(word)] == ' ';
        }
        if (!known && *word) {
            myr_buf_printf(ret, " %s", word);
        }
    }
}

static void one(struct fixture *f, struct myr_buf *story, const char *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf before = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf now = {};
    struct myr_spec spec = {};
    if (read_text(f, "s.yaml", "servers: 2\n", &spec) < 0) {
        fail_msg("%s", f->err.message);
    }
    put_all(&before, &spec);
    myr_spec_done(&spec);
    const char *whole = myr_arena_printf(&f->arena, "servers: 2\n%s\n", text);
    myr_buf_printf(story, "%s\n ", text);
    if (read_text(f, "s.yaml", whole, &spec) < 0) {
        myr_buf_printf(story, " %s\n", f->err.message);
        return;
    }
    put_all(&now, &spec);
    put_changed(story, before.data, &now);
    myr_buf_puts(story, "\n");
    myr_spec_done(&spec);
}

struct range {
    const char *text; /* "%s": the number */
    const char *below, *least, *most, *above;
};

static const struct range ranges[] = {
#define ROOM(words) "room: {" words "}"
    {ROOM("columns: %s"), "0", "1", "10000", "10001"},
    {ROOM("rack_u: %s"), "0.9", "1", "100", "100.1"},
    {ROOM("rack_kg: %s"), "0.9", "1", "100000", "100000.1"},
    {ROOM("server_kw: %s"), "0.09", "0.1", "10000", "10000.1"},
    {ROOM("drop_m: %s"), "-0.1", "0", "20", "20.1"},
    {ROOM("lossless_classes: %s"), "0", "1", "8", "9"},
    {ROOM("pitch_m: {row: %s}"), "0.09", "0.1", "100", "100.1"},
    {ROOM("pitch_m: {column: %s}"), "0.09", "0.1", "100", "100.1"},
    {ROOM("aisles: {every: %s}"), "-1", "0", "10000", "10001"},
    {ROOM("aisles: {width_m: %s}"), "-0.1", "0", "100", "100.1"},
    {ROOM("slack: {percent: %s}"), "-0.1", "0", "100", "100.1"},
    {ROOM("slack: {m: %s}"), "-0.1", "0", "20", "20.1"},
    {ROOM("trays: {width_mm: %s}"), "9.9", "10", "10000", "10000.1"},
    {ROOM("trays: {height_mm: %s}"), "9.9", "10", "10000", "10000.1"},
    {ROOM("trays: {fill: %s}"), "0.009", "0.01", "1", "1.1"},
    {ROOM("trays: {fibre_mm: %s}"), "0.09", "0.1", "100", "100.1"},
    {ROOM("trays: {copper_mm: %s}"), "0.09", "0.1", "100", "100.1"},
    {ROOM("trays: {cross_rows: [%s]}"), "0", "1", "10000", "10001"},
    {ROOM("rows: 9, trays: {cross_rows: [%s]}"), "0", "1", "9", "10"},
    {ROOM("trunks: {cables: %s}"), "1", "2", "1000", "1001"},
    {ROOM("trunks: {panel_ports: %s}"), "0", "1", "1000", "1001"},
    {ROOM("zones: {leaf_rows: %s}"), "0", "1", "10000", "10001"},
    {ROOM("rows: 9, leaf_rows: %s"), "0-9", "9-1", "1-9", "1-10"},
    {ROOM("zones: {spine_column: %s}"), "'0'", "A", "NTP", "NTQ"},
    {ROOM("columns: 28, spine_column: %s"), "A-B", "a", "AB", "AC"},
    {ROOM("power: [{name: p, kw: %s}]"), "0.09", "0.1", "1e7", "1.1e7"},
    {ROOM("cooling: [{name: c, kw: %s}]"), "0.09", "0.1", "1e7", "1.1e7"},
    {ROOM("buildings: [{name: a, rows: %s}]"), "0", "1", "10000", "10001"},
    {ROOM("buildings: [{name: a, columns: %s}]"), "0", "1", "10000", "10001"},
    {ROOM("buildings: [{name: a}, {name: b}], distance_m: %s"), "0.9", "1", "100000", "100000.6"},
    {ROOM("buildings: [{name: a}, {name: b}], distances: [{from: a, to: b, m: %s}]"), "0", "1",
     "100000", "100001"},
#define HOUSE(words) "facility: {" words "}"
    {HOUSE("it_kw: %s"), "0.0009", "0.001", "1e8", "1.1e8"},
    {HOUSE("load: %s"), "0.009", "0.01", "1", "1.1"},
    {HOUSE("heat_reuse: %s"), "-0.1", "0", "1", "1.1"},
    {HOUSE("pue_max: %s"), "0.9", "1", "5", "5.1"},
    {HOUSE("power_kw_max: %s"), "0.0009", "0.001", "1e9", "1.1e9"},
    {HOUSE("overheads: {fans: %s}"), "-0.1", "0", "2", "2.1"},
    {HOUSE("overheads: {pumps: %s}"), "-0.1", "0", "2", "2.1"},
    {HOUSE("overheads: {chiller: %s}"), "-0.1", "0", "2", "2.1"},
    {HOUSE("overheads: {ups: %s}"), "-0.1", "0", "2", "2.1"},
    {HOUSE("overheads: {transformer: %s}"), "-0.1", "0", "2", "2.1"},
    {HOUSE("overheads: {lighting: %s}"), "-0.1", "0", "2", "2.1"},
    {HOUSE("overheads: {fans: 2, pumps: %s, ups: 1}"), "-1", "0", "1", "1.01"},
    {HOUSE("price_per_kw: {air: %s}"), "-0.1", "0", "1e6", "1.1e6"},
    {HOUSE("price_per_kw: {cold-plate: %s}"), "-0.1", "0", "1e6", "1.1e6"},
    {HOUSE("price_per_kw: {immersion: %s}"), "-0.1", "0", "1e6", "1.1e6"},
    {HOUSE("per_gpu: {gpu_w: %s}"), "0.9", "1", "1e5", "1.1e5"},
    {HOUSE("per_gpu: {host_w: %s}"), "-0.1", "0", "1e5", "1.1e5"},
    {HOUSE("per_gpu: {other_share: %s}"), "-0.1", "0", "2", "2.1"},
    {HOUSE("energy: {tariff_per_kwh: %s}"), "-0.1", "0", "1000", "1001"},
    {HOUSE("energy: {exchange: %s}"), "1e-7", "1e-6", "1e6", "1.1e6"},
    {HOUSE("energy: {grid_kg_per_kwh: %s}"), "-0.1", "0", "10", "10.1"},
    {HOUSE("energy: {green_share: %s}"), "-0.1", "0", "1", "1.1"},
    {HOUSE("energy: {years: %s}"), "0.9", "1", "30", "30.1"},
    {HOUSE("liquid: {share: %s}"), "0.009", "0.01", "1", "1.1"},
    {HOUSE("liquid: {delta_k: %s}"), "0.9", "1", "60", "60.1"},
    {HOUSE("liquid: {pipe_m: %s}"), "0.9", "1", "10000", "10000.1"},
    {HOUSE("liquid: {head_kpa: %s}"), "0.9", "1", "10000", "10000.1"},
    {HOUSE("air: {delta_k: %s}"), "0.9", "1", "60", "60.1"},
    {HOUSE("air: {rack_kw_max: %s}"), "0.9", "1", "1000", "1000.1"},
    {HOUSE("cdu: {kw: %s}"), "0.9", "1", "1e5", "1.1e5"},
    {HOUSE("cdu: {derate: %s}"), "0.09", "0.1", "1", "1.1"},
    {HOUSE("cdu: {spares: %s}"), "-1", "0", "100", "101"},
    {HOUSE("ups: {kind: 2n, module_kw: %s}"), "0.9", "1", "1e5", "1.1e5"},
    {HOUSE("ups: {kind: 2n, modules: %s}"), "0", "1", "100000", "100001"},
    {HOUSE("ups: {minutes: %s}"), "-0.1", "0", "1440", "1440.1"},
    {HOUSE("supply: {volts: %s}"), "47.9", "48", "1500", "1500.1"},
    {HOUSE("supply: {power_factor: %s}"), "0.49", "0.5", "1", "1.1"},
    {HOUSE("supply: {continuous: %s}"), "0.09", "0.1", "1", "1.1"},
    {HOUSE("supply: {breaker_a: %s}"), "0.9", "1", "10000", "10000.1"},
    {HOUSE("supply: {busway_a: %s}"), "0.9", "1", "100000", "100000.1"},
    {HOUSE("pool: {kw: %s}"), "0.09", "0.1", "1e6", "1.1e6"},
    {HOUSE("floor: {kg_per_m2: %s}"), "0.9", "1", "1e5", "1.1e5"},
    {HOUSE("floor: {rack_kg: %s}"), "-0.1", "0", "5000", "5000.1"},
    {HOUSE("step: {idle_share: %s}"), "-0.1", "0", "1", "1.1"},
    {HOUSE("step: {limit_share: %s}"), "0.009", "0.01", "1", "1.1"},
    {HOUSE("module: {racks: %s}"), "0", "1", "10000", "10001"},
    {HOUSE("module: {kw: %s}"), "0.9", "1", "1e6", "1.1e6"},
#define STORE(words) "storage: {" words "}"
    {STORE("capacity: %s"), "-1", "0", "1e9", "1.1e9"},
    {STORE("read_gbytes_per_s: %s"), "0.0009", "0.001", "1e7", "1.1e7"},
    {STORE("write_gbytes_per_s: %s"), "0.0009", "0.001", "1e7", "1.1e7"},
    {STORE("iops: %s"), "0.9", "1", "1e13", "1.1e13"},
    {STORE("metadata_ops: %s"), "0.9", "1", "1e12", "1.1e12"},
    {STORE("files: %s"), "0.9", "1", "1e15", "1.1e15"},
    {STORE("files: 1, file_kb: %s"), "0.0009", "0.001", "1e9", "1.1e9"},
    {STORE("files: 1, scan_hours: %s"), "0.009", "0.01", "8760", "8760.1"},
    {STORE("availability_percent: %s"), "49.9", "50", "99.999", "100"},
    {STORE("mtbf_hours: %s"), "0.9", "1", "1e8", "1.1e8"},
    {STORE("repair_hours: %s"), "0.009", "0.01", "1e5", "1.1e5"},
    {STORE("checkpoint: {model: m, window_s: %s}"), "0.0009", "0.001", "1e6", "1.1e6"},
    {STORE("checkpoint: {model: m, window_s: 1, keep: %s}"), "0", "1", "10000", "10001"},
    {STORE("tiers: [{kind: hybrid, capacity_tb: %s}]"), "-1", "0.1", "1e9", "1.1e9"},
    {STORE("tiers: [{kind: object, capacity_pb: %s}]"), "-1", "0.1", "1e6", "1.1e6"},
    {STORE("tiers: [{kind: object, capacity_pb: 1, copies: %s}]"), "0", "1", "10", "11"},
#define BEST(words) "optimise: {" words "}"
    {BEST("constraints: {capex_max: %s}"), "-1", "0", "1e15", "1.1e15"},
    {BEST("constraints: {cost_of_years_max: %s}"), "-1", "0", "1e15", "1.1e15"},
    {BEST("constraints: {power_kw_max: %s}"), "-1", "0", "1e9", "1.1e9"},
    {BEST("constraints: {bandwidth_per_gpu_gbps_min: %s}"), "-1", "0", "1e6", "1.1e6"},
    {BEST("constraints: {blast_gpus_max: %s}"), "0.9", "1", "1e9", "1.1e9"},
    {BEST("grow_to: 9, constraints: {moved_cables_max: %s}"), "-1", "0", "1e9", "1.1e9"},
    {BEST("constraints: {racks_max: %s}"), "0.9", "1", "1e9", "1.1e9"},
    {BEST("constraints: {hops_max: %s}"), "-1", "0", "1e6", "1.1e6"},
    {BEST("grow_to: %s"), "1", "2", "1000000", "1000001"},
    {BEST("choices: {tiers: [%s]}"), "0", "1", "3", "4"},
    {BEST("choices: {planes: [%s]}"), "0", "1", "8", "9"},
    {BEST("choices: {oversubscription: [%s]}"), "0.09", "0.1", "1000", "1001"},
#define NET(words) "networks: {compute: {" words "}}"
    {NET("topology: torus, dims: [2, %s]"), "1", "2", "1024", "1025"},
    {NET("length_m: {leaf_spine: %s}"), "0.09", "0.1", "100000", "100001"},
    {NET("nic_gbps: %s"), "0.9G", "1G", "100T", "100.001T"},
    {NET("uplink_gbps: %s"), "1.5G", "1600M", "1.6T", "400g"},
};

static void numbers_at_their_limits(void **state)
{
    struct fixture *f = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ranges); i++) {
        const struct range *r = &ranges[i];
        const char *const numbers[] = {r->below, r->least, r->most, r->above};
        const char *at = strstr(r->text, "%s");
        for (size_t k = 0; k < MYR_ARRAY_COUNT(numbers); k++) {
            one(f, &story,
                myr_arena_printf(&f->arena, "%.*s%s%s", (int)(at - r->text), r->text, numbers[k],
                                 at + 2));
        }
    }
    assert_kept("model-sections.txt", &story);
}

static const char *const words[] = {
    ROOM("place: shortest, managed: true, rack: rack-42u"),
    ROOM("place: longest"),
    ROOM("racks_per_row: 3, columns: 3"),
    ROOM("rack: h100-8gpu"),
    ROOM("rows: 5, leaf_rows: 6"),
    ROOM("rows: 5, leaf_rows: 1-x"),
    ROOM("rows: 5, leaf_rows: -"),
    ROOM("spine_column: A1"),
    ROOM("spine_column: Z-"),
    ROOM("trays: {cross_rows: []}"),
    ROOM("trays: {cross_rows: 3}"),
    ROOM("trays: {cross_rows: [3, 1, 2]}"),
    ROOM("trunks: {}"),
    ROOM("distances: []"),
    ROOM("buildings: []"),
    ROOM("buildings: [{rows: 1}]"),
    ROOM("buildings: [{name: 'a,b'}]"),
    ROOM("buildings: [{name: a/b}]"),
    ROOM("buildings: [{name: a}, {name: a}]"),
    ROOM("buildings: [{name: a}, {name: b}]"),
    ROOM("buildings: [{name: a}, {name: b}, {name: c}], distance_m: 7.5, "
         "distances: [{from: c, to: a, m: 9}]"),
    ROOM("buildings: [{name: a}, {name: b}], distances: [{from: a, to: a, m: 1}]"),
    ROOM("buildings: [{name: a}, {name: b}], distances: [{from: a, to: x, m: 1}]"),
    ROOM("buildings: [{name: a}, {name: b}], distances: [{from: a, to: b}]"),
    ROOM("buildings: [{name: a}, {name: b}], distances: [{from: a, m: 1}]"),
    ROOM("buildings: [{name: a}, {name: b}], distances: [{to: a, m: 1}]"),
    ROOM("power: [{name: a}, {name: b, parents: [a], rows: 2-3}, "
         "{name: c, parents: [a, b], columns: A-C, kw: 5}]"),
    ROOM("cooling: [{name: a, rows: 7, columns: AA}, {name: b, parents: [a]}]"),
    ROOM("power: [{kw: 5}]"),
    ROOM("power: [{name: a}, {name: a}]"),
    ROOM("power: [{name: a, parents: [b]}]"),
    ROOM("power: [{name: a, parents: [a]}]"),
    ROOM("power: [{name: a}, {name: b, parents: []}]"),
    ROOM("power: [{name: a}, {name: b, parents: [a, a]}]"),
    ROOM("power: [{name: a}, {name: b}, {name: c}, {name: d, parents: [a, b, c]}]"),
    ROOM("power: [{name: a, rows: x}]"),
    ROOM("cooling: [{name: a, columns: 7}]"),
    ROOM("power: {}"),
    "room: nowhere.yaml",
    HOUSE("cooling: air, bill: true"),
    HOUSE("cooling: cold-plate"),
    HOUSE("cooling: immersion"),
    HOUSE("cooling: ice"),
    HOUSE("it_kw: 5, per_gpu: {gpu_w: 1}"),
    HOUSE("ups: {kind: none, modules: 1}"),
    HOUSE("ups: {kind: none, module_kw: 1}"),
    HOUSE("ups: {modules: 1}"),
    HOUSE("cdu: {spares: 1.5}"),
    HOUSE("module: {}"),
    HOUSE("pool: {}"),
    HOUSE("energy: {currency: EUR}"),
    HOUSE("floor: {}"),
    HOUSE("fans: 1"),
    STORE("capacity: 3P"),
    STORE("capacity: 500T"),
    STORE("capacity: 2.5"),
    STORE("capacity_tb: 3P"),
    STORE("capacity_pb: 3P"),
    STORE("capacity_pb: 3000T, binary: true"),
    STORE("capacity: 1P, capacity_pb: 1"),
    STORE("iops: 10M"),
    STORE("files: 10G"),
    STORE("files: 10k"),
    STORE("files: 10K"),
    STORE("files: 10g"),
    STORE("files: 10m"),
    STORE("files: 10x"),
    STORE("files: '10G'"),
    STORE("files: G"),
    STORE("scan_hours: 1"),
    STORE("file_kb: 1"),
    STORE("checkpoint: {window_s: 1}"),
    STORE("checkpoint: {model: m}"),
    STORE("tiers: [{capacity_pb: 1}]"),
    STORE("tiers: [{kind: hybrid}]"),
    STORE("tiers: [{kind: tape, capacity_pb: 1}]"),
    STORE("tiers: [{kind: hybrid, capacity_pb: 1}, {kind: hybrid, capacity_pb: 1}]"),
    STORE("tiers: [{kind: hybrid, capacity_pb: 1, copies: 2, erasure: {data: 1}}]"),
    STORE("tiers: [{kind: hybrid, capacity_pb: 1, erasure: {data: 4, parity: 2}}]"),
    STORE("tiers: {}"),
    BEST("choices: {topology: [rail, clos, rail-only, middle-of-rack, dragonfly, dragonfly+]}"),
    BEST("choices: {fill: [regular, dense]}"),
    BEST("choices: {cooling: [air, cold-plate, immersion]}"),
    BEST("choices: {switch: [mqm9790-ns2f, sn5600]}"),
    BEST("choices: {tiers: []}"),
    BEST("choices: {tiers: [1, 1]}"),
    BEST("choices: {tiers: 1}"),
    BEST("choices: {colour: [1]}"),
    BEST("objective: hops"),
    BEST("objective: moved_cables"),
    BEST("objective: moved_cables, grow_to: 5"),
    BEST("constraints: {moved_cables_max: 5}"),
    NET("nic_gbps: 400, uplink_gbps: 800G"),
};

static void words_and_contradictions(void **state)
{
    struct fixture *f = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        one(f, &story, words[i]);
    }
    assert_kept("model-words.txt", &story);
}

/* All that a spec of one line takes for granted, a word a line. */
static void what_is_not_said_is_assumed(void **state)
{
    struct fixture *f = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    struct myr_spec spec = {};
    assert_int_equal(read_text(f, "s.yaml", "servers: 2\n", &spec), MYR_OK);
    put_all(&story, &spec);
    for (char *c = story.data; *c; c++) {
        *c = *c == ' ' ? '\n' : *c;
    }
    assert_kept("model-defaults.txt", &story);
    myr_spec_done(&spec);
}

/* A room of its own file lies beside the spec, or where a path from the root says. */
static void a_room_in_a_file(void **state)
{
    struct fixture *f = *state;
    char folder[] = "/tmp/myr-room-XXXXXX", path[64], text[128];
    MYR_CLEANUP(myr_buf_done) struct myr_buf room = {};
    struct myr_spec spec = {};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/room.yaml", folder);
    myr_buf_puts(&room, "rows: 7\n");
    assert_int_equal(myr_file_write(path, &room, &f->err), MYR_OK);
    snprintf(text, sizeof(text), "%s/s.yaml", folder);
    const char *beside = myr_arena_strndup(&f->arena, text, strlen(text));
    assert_int_equal(read_text(f, beside, "servers: 1\nroom: room.yaml\n", &spec), MYR_OK);
    assert_int_equal(spec.room.rows, 7);
    myr_spec_done(&spec);
    snprintf(text, sizeof(text), "servers: 1\nroom: %s\n", path);
    const char *const files[] = {"s.yaml", "elsewhere/s.yaml", "/s.yaml"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        spec = (struct myr_spec){};
        assert_int_equal(read_text(f, files[i], text, &spec), MYR_OK);
        assert_int_equal(spec.room.rows, 7);
        myr_spec_done(&spec);
    }
    assert_true(read_text(f, "elsewhere/s.yaml", "servers: 1\nroom: room.yaml\n", &spec) < 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_catalog, close_catalog)
        TEST(numbers_at_their_limits),
        TEST(words_and_contradictions),
        TEST(a_room_in_a_file),
        TEST(what_is_not_said_is_assumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
