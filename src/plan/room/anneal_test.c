/*
 * Annealing by itself: one run from a placement, as loose as is asked for. Small rooms end in the
 * same best placement however they get there; loose ones from a long placement end where their
 * draws have led them, so that any other draw, cost or order shows (tests/kept/plan-annealed.txt).
 * What must hold of every end is counted anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kept.h"
#include "room/anneal.h"
#include "room/staged_test.h"

#define ROOM(more) "room: {place: aligned, rack_u: 42, " more "}\n"

static const char *const specs[] = {
    "servers: 4\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: 8, "
    "leaf_up: 8}, service: {extra_nodes: 1}}\n" ROOM("rows: 3, columns: 4, rack_kw: 14"),
    /* Legs that are shared, by hosts and by planes. */
    "servers: 4\nserver: b300-8gpu\nnetworks: {compute: {switch: sn5600, topology: twin-planar, "
    "leaf_down: 16, leaf_up: 8}}\n" ROOM("rows: 3, columns: 3, rack_kw: 22"),
    "servers: 6\nserver: h100-8gpu-2x200\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: "
    "8, leaf_up: 8}}\n" ROOM("rows: 2, columns: 6, rack_kw: 22"),
    /* Strips stay; two buildings keep what they have. */
    "servers: 4\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}, oob: }\nitems: "
    "[{part: firewall, quantity: 2}]\n" ROOM("rows: 3, columns: 3, rack_kw: 12, managed: true"),
    "servers: 5\nserver: h100-8gpu\nnetworks: {compute: {topology: dragonfly, switch: sn5600, "
    "nic_gbps: 400, group_switches: 2, hosts_per_switch: 8, global_ports: 2}}\n" ROOM(
        "rows: 2, columns: 2, rack_kw: 13, buildings: [{name: e}, {name: w}], distance_m: 20"),
};

static uint32_t racks_used(const struct room *room)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < room->rack_count; i++) {
        count += room->racks[i].left.units < room->rack.units;
    }
    return count;
}

/* By halls: who stands in which must not change. */
static void things_by_hall(const struct staged *s, uint32_t ret[MYR_ROOM_BUILDINGS_MAX])
{
    memset(ret, 0, sizeof(*ret) * MYR_ROOM_BUILDINGS_MAX);
    for (uint32_t i = 0; i < s->plan->design.device_count; i++) {
        uint32_t rack = s->room.device_rack[i];
        if (rack != MYR_NONE) {
            ret[s->room.racks[rack].hall] += i + 1;
        }
    }
}

static void loose_runs_end_where_they_did(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    static const uint32_t looseness[] = {2, 60, 2000, 8000};
    /* Slow under the sanitizers: the first one is enough there. */
    bool all = TEST_ROUNDS(8) == 8;
    for (size_t i = 0; i < (all ? MYR_ARRAY_COUNT(specs) : 1); i++) {
        struct staged s;
        uint32_t before[MYR_ROOM_BUILDINGS_MAX], after[MYR_ROOM_BUILDINGS_MAX];
        staged_begin(&s, specs[i]);
        myr_buf_printf(&told, "== %s", specs[i]);
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(looseness); k++) {
            staged_place(&s);
            things_by_hall(&s, before);
            uint32_t used = racks_used(&s.room);
            int64_t ways = staged_ways(&s);
            uint64_t draws = room_anneal(&s.room, &(struct annealing){k, looseness[k]});
            myr_buf_printf(&told, " %u sixteenths, %llu draws: %lld mm, before %lld\n",
                           looseness[k], (unsigned long long)draws, (long long)staged_ways(&s),
                           (long long)ways);
            staged_tell(&s, &told);
            staged_check(&s);
            things_by_hall(&s, after);
            assert_memory_equal(before, after, sizeof(before));
            assert_true(!s.room.spec->managed || used == racks_used(&s.room));
        }
        staged_end(&s);
    }
    assert_kept_as("plan-annealed.txt", &told, !all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loose_runs_end_where_they_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
