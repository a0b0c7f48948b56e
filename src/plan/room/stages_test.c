/*
 * Steps of filling a room, one by one: which servers belong together, in which order racks are
 * filled, which of them are best for switches, which starts are worth beginning from, and how far
 * polishing gets with how much work. All of it is kept in plain words (tests/kept).
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

#define ROOM(more) "room: {rack_u: 42, rack_kw: 24, " more "}\n"
#define NDR(more)  "server: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, " more "}}\n"

static const char *const fabrics[] = {
    "servers: 5\n" NDR("leaf_down: 2, leaf_up: 2"),
    "servers: 9\n" NDR("leaf_down: 8, leaf_up: 8"),
    "servers: 12\n" NDR("topology: clos, leaf_down: 16, leaf_up: 16"),
    "servers: 10\n" NDR("topology: clos, leaf_down: 8, leaf_up: 8, tiers: 3, pod_leaves: 8"),
    ("servers: 5\nserver: h100-8gpu\nnetworks: {compute: {topology: dragonfly, switch: sn5600, "
     "nic_gbps: 400, group_switches: 2, hosts_per_switch: 4, global_ports: 2}}\n"),
    "servers: 2\nserver: gb200-nvl72\nnetworks: {compute: }\n",
    "servers: 3\nserver: h100-8gpu\nnetworks: {service: }\n",
};

static void tell_switches(const struct staged *s, const char *word, const uint32_t *switches,
                          uint32_t count, struct myr_buf *told)
{
    myr_buf_puts(told, word);
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_puts(told, " ");
        myr_design_name(&s->plan->design, switches[i], told);
    }
    myr_buf_puts(told, "\n");
}

static void blocks_are_who_shares_leaves(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(fabrics); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
        struct staged s;
        myr_buf_printf(&spec, "%s" ROOM("rows: 3, columns: 3"), fabrics[i]);
        staged_begin(&s, spec.data);
        myr_buf_printf(&told, "== %s", fabrics[i]);
        uint32_t servers = 0, seats = 0;
        for (uint32_t b = 0; b < s.room.block_count; b++) {
            const struct block *block = &s.room.blocks[b];
            myr_buf_printf(&told, "  servers %u to %u, pod %u:", block->first_server,
                           block->first_server + block->servers - 1, block->pod);
            tell_switches(&s, "", s.room.seats + block->first_seat, block->seats, &told);
            assert_int_equal(block->first_server, servers);
            assert_int_equal(block->first_seat, seats);
            servers += block->servers;
            seats += block->seats;
        }
        tell_switches(&s, "  above:", s.room.tops, s.room.top_count, &told);
        assert_int_equal(servers, s.plan->spec->servers);
        assert_int_equal(seats, s.room.seat_count);
        staged_end(&s);
    }
    assert_kept("plan-blocks.txt", &told);
}

/* Racks by their distance from a centre, as the placement sorts them. */
static void choose(struct staged *s, uint32_t centre, uint32_t count, struct myr_buf *told)
{
    struct room *room = &s->room;
    struct hall *hall = &room->halls[0];
    struct choice nearest[64];
    uint32_t order[64];
    hall->centre = centre;
    for (uint32_t i = 0; i < hall->racks; i++) {
        nearest[i] = (struct choice){(double)room_path_mm(room, i, centre), i};
    }
    qsort(nearest, hall->racks, sizeof(*nearest), fill_compare);
    fill_choose_racks(room, hall, count, nearest, order);
    myr_buf_printf(told, "  %u around %s%s:", count, room_rack_name(room, centre),
                   room->banded ? " in bands" : "");
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_printf(told, " %s", room_rack_name(room, order[i]));
        assert_true(order[i] < hall->racks);
        for (uint32_t k = 0; k < i; k++) {
            assert_int_not_equal(order[k], order[i]);
        }
    }
    myr_buf_puts(told, "\n");
}

static void racks_are_filled_in_this_order(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    static const char *const rooms[] = {
        ROOM("rows: 5, columns: 4, place: shortest"),
        ROOM("rows: 1, columns: 7, place: shortest"),
        ROOM("rows: 9, columns: 1, place: shortest"),
        ROOM("rows: 8, columns: 6, place: shortest, pitch_m: {row: 1.2, column: 0.6}, aisles: "
             "{every: 0, width_m: 1}"),
        ROOM("rows: 3, columns: 4"),
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rooms); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
        struct staged s;
        myr_buf_printf(&spec, "%s%s", fabrics[0], rooms[i]);
        staged_begin(&s, spec.data);
        myr_buf_printf(&told, "== %s", rooms[i]);
        uint32_t racks = s.room.rack_count;
        for (uint32_t banded = 0; banded < 2; banded++) {
            s.room.banded = banded;
            choose(&s, racks / 2, racks, &told);
            choose(&s, 0, racks / 2 + 1, &told);
            choose(&s, racks - 1, racks / 3, &told);
            choose(&s, racks * 2 / 3, racks - 2, &told);
        }
        staged_end(&s);
    }
    assert_kept("plan-rack-orders.txt", &told);
}

static void switches_stand_in_the_racks_that_suit_them(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    static const char *const rooms[] = {
        ROOM("rows: 4, columns: 3, place: shortest"),
        ROOM("rows: 4, columns: 3"),
        ROOM("rows: 5, columns: 2, zones: {leaf_rows: 2-4}"),
        ROOM("rows: 5, columns: 2, zones: {leaf_rows: 4-3}"),
        ROOM("rows: 5, columns: 2, zones: {leaf_rows: 5-5}"),
        ROOM("rows: 1, columns: 4"),
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rooms); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
        struct staged s;
        myr_buf_printf(&spec, "%s%s", fabrics[0], rooms[i]);
        staged_begin(&s, spec.data);
        uint32_t racks[32];
        struct choice order[32];
        double sums[64];
        int64_t at_mm[32];
        uint32_t count = s.room.rack_count;
        struct filling fill = {.room = &s.room, .racks = racks, .count = count, .at = 1};
        fill.order = order;
        fill.sums = sums;
        fill.at_mm = at_mm;
        for (uint32_t k = 0; k < count; k++) {
            racks[k] = k;
        }
        myr_buf_printf(&told, "== %s  leaves begin in row %u\n", rooms[i],
                       fill_first_row(&s.room, &s.room.halls[0]));
        for (uint32_t wide = 2; wide < count; wide += 3) {
            for (uint32_t middle = 0; middle < 2; middle++) {
                if (middle) {
                    fill_rank_middle(&fill, wide);
                } else {
                    fill_rank(&fill, &s.room.blocks[0], wide);
                }
                myr_buf_puts(&told, middle ? "  from the middle:" : "  for leaves:");
                for (uint32_t k = 0; k < wide; k++) {
                    myr_buf_printf(&told, " %s %.10g", room_rack_name(&s.room, order[k].rack),
                                   order[k].cost);
                }
                myr_buf_puts(&told, "\n");
            }
        }
        staged_end(&s);
    }
    assert_kept("plan-rack-ranks.txt", &told);
}

static const char *const begun[] = {
    "servers: 5\n" NDR("leaf_down: 4, leaf_up: 4") ROOM("rows: 3, columns: 4, place: shortest"),
    "servers: 9\n" NDR("leaf_down: 8, leaf_up: 8") ROOM("rows: 2, columns: 6, place: shortest"),
    "servers: 10\n" NDR("topology: clos, leaf_down: 8, leaf_up: 8, tiers: 3, pod_leaves: 8")
        ROOM("rows: 5, columns: 2, place: shortest"),
    "servers: 8\n" NDR("topology: clos, leaf_down: 16, leaf_up: 16")
        ROOM("rows: 2, columns: 2, place: shortest, buildings: [{name: e}, {name: w, columns: 3}], "
             "distance_m: 15"),
    "servers: 7\n" NDR("topology: clos, leaf_down: 16, leaf_up: 16")
        ROOM("rows: 2, columns: 4, place: shortest, buildings: [{name: e, rows: 1, columns: 2}, "
             "{name: w}], distance_m: 12"),
    ("servers: 4\nserver: gb200-nvl72\nnetworks: {compute: }\nroom: {rack_u: 52, rack_kw: 140, "
     "rows: 3, columns: 4, place: shortest}\n"),
};

static void the_shortest_starts_come_first(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(begun); i++) {
        struct staged s;
        staged_begin(&s, begun[i]);
        myr_buf_printf(&told, "== %s", begun[i]);
        room_choose_starts(&s.room);
        for (uint32_t k = 0; k < s.room.start_count; k++) {
            const struct start *start = &s.room.starts[k];
            myr_buf_printf(&told, " %lld mm, flatness %g, %u lost%s%s\n", (long long)start->ways,
                           start->flatness, start->lost, start->banded ? ", banded" : "",
                           start->gathered ? ", gathered" : "");
            assert_true(k == 0 || start->ways > start[-1].ways);
            for (uint32_t d = 0; d < s.plan->design.device_count; d++) {
                s.room.device_rack[d] = MYR_NONE;
            }
            assert_int_equal(room_place(&s.room, k, &s.p.err), MYR_OK);
            staged_tell(&s, &told);
            staged_check(&s);
        }
        staged_end(&s);
    }
    assert_kept("plan-room-starts.txt", &told);
}

/* The hall that most racks of servers fall to when halls are filled in their order. */
static uint32_t fullest_hall(const struct room *room)
{
    uint32_t left = (room->plan->spec->servers + room->per_rack - 1) / room->per_rack;
    uint32_t fullest = 0, most = 0;
    for (uint32_t h = 0; h < room->hall_count; h++) {
        uint32_t here = room->halls[h].racks < left ? room->halls[h].racks : left;
        if (here > most) {
            most = here;
            fullest = h;
        }
        left -= here;
    }
    return fullest;
}

static void gathered_switches_stand_where_most_servers_are(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint32_t placed = 0;
    myr_rng_init(&rng, 20261118, 0);
    for (uint32_t round = 0; round < TEST_ROUNDS(64); round++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
        struct staged s;
        uint32_t servers = 6 + myr_rng_below(&rng, 10);
        myr_buf_printf(&spec, "servers: %u\n%s" ROOM("rows: 2, columns: 9, place: shortest, "),
                       servers, NDR("topology: clos, leaf_down: 16, leaf_up: 4"));
        spec.len -= strlen("}\n");
        myr_buf_puts(&spec, "distance_m: 30, buildings: [{name: e");
        myr_buf_printf(&spec, ", columns: %u}, {name: w", 1 + myr_rng_below(&rng, 6));
        myr_buf_printf(&spec, ", columns: %u}, {name: n}]}\n", 1 + myr_rng_below(&rng, 6));
        staged_begin(&s, spec.data);
        for (uint32_t i = 0; i < s.plan->design.device_count; i++) {
            s.room.device_rack[i] = MYR_NONE;
        }
        s.room.starts[0] = (struct start){.gathered = true, .banded = round % 2};
        s.room.start_count = 1;
        if (room_place(&s.room, 0, &s.p.err) == MYR_OK) {
            uint32_t hall = fullest_hall(&s.room);
            placed++;
            for (uint32_t i = 0; i < s.room.top_count; i++) {
                uint32_t rack = s.room.device_rack[s.room.tops[i]];
                assert_int_equal(s.room.racks[rack].hall, hall);
            }
        }
        staged_end(&s);
    }
    assert_true(placed > TEST_ROUNDS(32));
}

/* From an aligned placement, whose cables are long: each pass makes them shorter, and the limit
 * ends it in the middle of one. */
static void polishing_ends_with_its_work(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    static const uint32_t works[] = {0, 1, 150, 600, 1500, 3000, 8000, 1000000};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(begun); i++) {
        struct staged s;
        staged_begin(&s, begun[i]);
        myr_buf_printf(&told, "== %s", begun[i]);
        int64_t least = INT64_MAX;
        for (size_t k = 0; k < MYR_ARRAY_COUNT(works); k++) {
            s.p.spec.room.place = MYR_ROOM_ALIGNED;
            staged_place(&s);
            /* Only servers and their fabric are polished. */
            int64_t before = staged_ways(&s);
            room_polish(&s.room, works[k]);
            int64_t ways = staged_ways(&s);
            myr_buf_printf(&told, " %u: %lld of %lld mm\n", works[k], (long long)ways,
                           (long long)before);
            if (ways < least) {
                staged_tell(&s, &told);
            }
            assert_true(ways <= before);
            least = ways < least ? ways : least;
            staged_check(&s);
        }
        staged_end(&s);
    }
    assert_kept("plan-polished.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_who_shares_leaves),
        cmocka_unit_test(racks_are_filled_in_this_order),
        cmocka_unit_test(switches_stand_in_the_racks_that_suit_them),
        cmocka_unit_test(the_shortest_starts_come_first),
        cmocka_unit_test(gathered_switches_stand_where_most_servers_are),
        cmocka_unit_test(polishing_ends_with_its_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
