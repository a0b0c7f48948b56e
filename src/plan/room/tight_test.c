/*
 * Rooms in which one thing runs out first: power, units, or what a rack bears. Limits are drawn at
 * the border, where one switch more or less finds a place. Everything that stands is counted again,
 * thing by thing and unit by unit; where it stands is kept (tests/kept/plan-room-tight.txt and
 * plan-room-full.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kept.h"
#include "room/fill.h"
#include "room/staged_test.h"

enum { SEED = 20261119, TIGHT_ROOMS = 56, FULL_ROOMS = 48, UNITS_MAX = 200 };

#define NDR(more) "server: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, " more "}"

/* Switches of two units that fill more than a rack. */
#define WIDE_RAILS                                                                          \
    "server: h100-8gpu\nnetworks: {compute: {switch: sn5600, nic_gbps: 400, leaf_down: 8, " \
    "leaf_up: 8}}\n"
#define PLANES                                                                                   \
    "server: b300-8gpu\nnetworks: {compute: {switch: sn5600, topology: twin-planar, leaf_down: " \
    "16, leaf_up: 8}}\n"

static const char *const fabrics[] = {
    NDR("leaf_down: 4, leaf_up: 4") "}\n",
    NDR("leaf_down: 8, leaf_up: 8") ", oob: }\n",
    NDR("topology: clos, leaf_down: 16, leaf_up: 16") "}\n",
    NDR("topology: clos, leaf_down: 32, leaf_up: 8") ", service: {extra_nodes: 2}}\n",
    NDR("topology: clos, leaf_down: 8, leaf_up: 8, tiers: 3, pod_leaves: 8") "}\n",
    WIDE_RAILS,
    PLANES,
    "server: h100-8gpu\nnetworks: {compute: {topology: dragonfly, switch: sn5600, nic_gbps: 400, "
    "group_switches: 2, hosts_per_switch: 8, global_ports: 6}}\nitems: [{part: firewall, quantity: "
    "2}]\n",
};

static const char *const places[] = {
    "",
    ", place: shortest",
    ", zones: {leaf_rows: 2-1, spine_column: A}",
    ", buildings: [{name: e, rows: 2}, {name: w}], distance_m: 9",
    ", place: shortest, buildings: [{name: e, columns: 1}, {name: w}], distance_m: 9",
};

static uint32_t between(struct myr_rng *rng, uint32_t least, uint32_t most)
{
    return least + myr_rng_below(rng, most - least + 1);
}

/* So many servers and switches beside each other, and a little more or less than they need. */
struct limit {
    uint32_t which, servers, switches;
    int64_t off;
};

static const char *const limit_names[] = {"power", "units", "weight"};

static int64_t border(const struct limit *limit, int64_t server, int64_t one)
{
    return limit->servers * server + limit->switches * one + limit->off;
}

/* Racks that carry enough of all but one. */
static void set_limit(struct room *room, const struct limit *limit)
{
    const struct load *server = &room->server;
    struct load one = room_load(room, room->seats[0]);
    room->rack = (struct load){1000000, 60, 9000000};
    if (limit->which == 0) {
        room->rack.watts = border(limit, server->watts, one.watts);
    } else if (limit->which == 1) {
        room->rack.units = border(limit, server->units, one.units);
    } else {
        room->rack.grams = border(limit, server->grams, one.grams);
    }
    room->per_rack = room_fits(&room->rack, &room->server);
    assert_true(room->per_rack > 0);
    room_grid(room, room->spec->columns);
}

static struct limit draw_limit(struct myr_rng *rng)
{
    struct limit limit = {.which = between(rng, 0, 2), .servers = between(rng, 1, 3)};
    limit.switches = between(rng, 0, 5);
    limit.off = (int64_t)between(rng, 0, 2) - 1;
    limit.off = limit.servers == 1 && limit.switches == 0 && limit.off < 0 ? 0 : limit.off;
    return limit;
}

/* Marks units from 'first' on, which nobody else has. */
static void occupy(bool *taken, const struct room *room, uint32_t first, uint32_t units)
{
    assert_true(first >= 1 && first + units - 1 <= room->rack.units);
    for (uint32_t i = first; i < first + units; i++) {
        assert_false(taken[i]);
        taken[i] = true;
    }
}

/* Servers are below all other hosts, and switches above both. */
static void no_two_things_share_a_unit(const struct staged *s)
{
    const struct room *room = &s->room;
    const struct myr_design *design = &s->plan->design;
    for (uint32_t rack = 0; rack < room->rack_count; rack++) {
        bool taken[UNITS_MAX] = {};
        uint32_t highest_host = 0, lowest_switch = UNITS_MAX;
        for (uint32_t i = 0; i < design->device_count; i++) {
            uint32_t kind = design->place[i].kind, unit = room->device_unit[i];
            if (room->device_rack[i] != rack || kind >= MYR_DEVICE_PDU) {
                continue;
            }
            bool node = kind == MYR_DEVICE_NODE;
            occupy(taken, room, unit,
                   (uint32_t)(node ? room->server.units : room_load(room, i).units));
            if (node || kind == MYR_DEVICE_MANAGEMENT) {
                highest_host = unit > highest_host ? unit : highest_host;
            } else {
                lowest_switch = unit < lowest_switch ? unit : lowest_switch;
            }
        }
        for (size_t i = 0; i < room->items.count; i++) {
            const struct myr_rack_item *item = &room->items.items[i];
            if (item->rack == rack) {
                occupy(taken, room, item->unit, item->units);
                assert_true(item->unit > highest_host && item->unit < lowest_switch);
            }
        }
        assert_true(highest_host < lowest_switch);
    }
}

static void nothing_is_overloaded(const struct room *room)
{
    int64_t watts = 0, watts_max = 0;
    for (uint32_t i = 0; i < room->rack_count; i++) {
        const struct stand *rack = &room->racks[i];
        assert_true(rack->left.watts >= 0 && rack->left.units >= 0 && rack->left.grams >= 0);
        watts += rack->watts_max - rack->left.watts;
        watts_max += rack->watts_max;
    }
    assert_true(watts <= watts_max && watts_max == room->rack.watts * room->rack_count);
}

/* All that a start, or none of them, makes of the room. */
static void tell_start(struct staged *s, uint32_t start, struct myr_buf *told)
{
    for (uint32_t i = 0; i < s->plan->design.device_count; i++) {
        s->room.device_rack[i] = MYR_NONE;
    }
    s->room.items.count = 0;
    if (room_place(&s->room, start, &s->p.err) < 0 || room_rest(&s->room, &s->p.err) < 0) {
        myr_buf_printf(told, "  refused: %s (%s)\n", s->p.err.message, s->p.err.hint);
        return;
    }
    nothing_is_overloaded(&s->room);
    if (s->room.pairs == 0) {
        staged_check(s);
    }
    room_units(&s->room);
    no_two_things_share_a_unit(s);
    myr_buf_printf(told, "  %lld mm, %u pairs\n", (long long)staged_ways(s), s->room.pairs);
    staged_tell(s, told);
}

struct tight {
    uint32_t servers, rows, columns;
    const char *fabric, *place;
    struct limit limit;
    bool starts; /* from the last of them; else servers may be lost as it comes */
};

static void tell_tight(const struct tight *tight, struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
    struct staged s;
    myr_buf_printf(&spec,
                   "servers: %u\n%sroom: {rack_u: 60, rack_kw: 90, rows: %u, columns: %u%s}\n",
                   tight->servers, tight->fabric, tight->rows, tight->columns, tight->place);
    staged_begin(&s, spec.data);
    set_limit(&s.room, &tight->limit);
    const struct load *rack = &s.room.rack;
    myr_buf_printf(told, "== %s  %s: %lld W, %lld U, %lld g\n", spec.data,
                   limit_names[tight->limit.which], (long long)rack->watts, (long long)rack->units,
                   (long long)rack->grams);
    if (tight->starts) {
        room_choose_starts(&s.room);
    }
    tell_start(&s, s.room.start_count ? s.room.start_count - 1 : 0, told);
    staged_end(&s);
}

static void racks_are_filled_to_what_runs_out_first(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    struct myr_rng rng;
    myr_rng_init(&rng, SEED, 0);
    for (uint32_t round = 0; round < TEST_ROUNDS(TIGHT_ROOMS); round++) {
        struct tight tight = {.fabric = fabrics[round % MYR_ARRAY_COUNT(fabrics)],
                              .starts = round % 9 == 1};
        tight.servers = between(&rng, 3, 9);
        tight.rows = between(&rng, 2, 5);
        tight.place = places[between(&rng, 0, MYR_ARRAY_COUNT(places) - 1)];
        tight.limit = draw_limit(&rng);
        /* No more columns than servers alone would need, or a few racks more. */
        uint32_t racks = ceil_div(tight.servers, tight.limit.servers) + between(&rng, 1, 9);
        tight.columns = ceil_div(racks, tight.rows);
        tell_tight(&tight, &told);
    }
    assert_kept_rounds("plan-room-tight.txt", &told);
}

/* A rack has room for a server or two, or for some switches: what is left over beside them is of
 * no use, whichever of the three it is that has run out. */
static void racks_full_of_switches_stand_beside_servers(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (uint32_t i = 0; i < TEST_ROUNDS(FULL_ROOMS); i++) {
        struct tight tight = {.servers = 4 + i % 5, .rows = 3 + i % 4, .columns = 4};
        tight.fabric = i % 2 ? WIDE_RAILS : PLANES;
        tight.place = places[i / 2 % MYR_ARRAY_COUNT(places)];
        tight.limit = (struct limit){.which = i % 3, .servers = 1 + i / 12 % 2};
        tell_tight(&tight, &told);
    }
    assert_kept_rounds("plan-room-full.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(racks_are_filled_to_what_runs_out_first),
        cmocka_unit_test(racks_full_of_switches_stand_beside_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
