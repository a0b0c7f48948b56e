/*
 * The crowd of a room against a naive model: who has cables to whom is counted link by link, what a
 * thing costs in a rack cable by cable, how far leaves stand out of their block leaf by leaf,
 * before and after things have moved at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "room/anneal.h"
#include "room/staged_test.h"

enum { SEED = 7, MOVES = 60 };

#define ROOM(more) "room: {place: aligned, rack_u: 42, " more "}\n"

static const char *const specs[] = {
    "servers: 9\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, topology: clos, "
    "leaf_down: 16, leaf_up: 8}}\n" ROOM("rows: 4, columns: 4, rack_kw: 22"),
    /* Legs shared by hosts, and by the leaves of two planes. */
    "servers: 6\nserver: h100-8gpu-2x200\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: "
    "8, leaf_up: 8}, oob: }\n" ROOM("rows: 3, columns: 4, rack_kw: 22, managed: true"),
    "servers: 4\nserver: b300-8gpu\nnetworks: {compute: {switch: sn5600, topology: twin-planar, "
    "leaf_down: 16, leaf_up: 8}}\n" ROOM("rows: 3, columns: 4, rack_kw: 22"),
    "servers: 8\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, nic_gbps: 200, "
    "topology: clos, leaf_down: 16, leaf_up: 8}}\n" ROOM(
        "rows: 3, columns: 2, rack_kw: 22, buildings: [{name: e}, {name: w}], distance_m: 9"),
    /* Without a fabric; and with spines of pods, which may stand anywhere. */
    "servers: 3\nserver: h100-8gpu\nnetworks: {service: }\n" ROOM(
        "rows: 2, columns: 2, rack_kw: 22"),
    "servers: 9\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, topology: clos, "
    "leaf_down: 8, leaf_up: 8, tiers: 3, pod_leaves: 8}}\n" ROOM(
        "rows: 3, columns: 4, rack_kw: 22"),
    /* A server of many nodes is one thing. */
    ("servers: 2\nserver: gb200-nvl72\nnetworks: {compute: }\nroom: {place: aligned, rack_u: 52, "
     "rack_kw: 140, rows: 2, columns: 3}\n"),
};

static void begin(struct staged *s, struct crowd *crowd, const char *spec)
{
    staged_begin(s, spec);
    staged_place(s);
    assert_true(crowd_gather(crowd, &s->room));
}

/* Parts of cables between two things, and those of cables whose legs neighbours share. */
static uint32_t parts_between(const struct crowd *crowd, uint32_t one, uint32_t other)
{
    const struct myr_design *design = &crowd->room->plan->design;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < design->link_count; i++) {
        uint32_t a = crowd->thing_of[design->port_device[design->link_a[i]]];
        uint32_t b = crowd->thing_of[design->port_device[design->link_b[i]]];
        if ((a == one && b == other) || (a == other && b == one)) {
            sum += crowd->parts / room_legs(design, i);
        }
    }
    return sum;
}

static void cables_are_counted_link_by_link(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct staged s;
        struct crowd crowd;
        begin(&s, &crowd, specs[i]);
        assert_non_null(crowd.between);
        uint32_t *between = crowd.between, fixed = 0;
        for (uint32_t one = 0; one < crowd.count; one++) {
            for (uint32_t other = 0; other < crowd.count; other++) {
                uint32_t parts = one == other ? 0 : parts_between(&crowd, one, other);
                crowd.between = between;
                assert_int_equal(crowd_cables(&crowd, one, other), parts);
                /* Where there are too many classes for a table, the same is looked up. */
                crowd.between = NULL;
                assert_int_equal(crowd_cables(&crowd, one, other), parts);
            }
            fixed += crowd.things[one].fixed;
            assert_int_equal(crowd.things[one].fixed, one >= crowd.movable);
        }
        assert_int_equal(crowd.movable + fixed, crowd.count);
        staged_end(&s);
    }
}

/* By searching all blocks and their seats; spines belong to none. */
static void expect_block(const struct staged *s, const struct crowd *crowd, uint32_t one)
{
    const struct thing *thing = &crowd->things[one];
    uint32_t block = ROOM_NONE, kind = s->plan->design.place[thing->device].kind;
    bool leaf = false;
    for (uint32_t b = 0; b < s->room.block_count; b++) {
        const struct block *of = &s->room.blocks[b];
        block = one >= of->first_server && one < of->first_server + of->servers ? b : block;
        for (uint32_t k = 0; k < of->seats; k++) {
            if (s->room.seats[of->first_seat + k] == thing->device && kind != MYR_DEVICE_SPINE) {
                block = b;
                leaf = true;
            }
        }
    }
    assert_int_equal(thing->block, block);
    assert_int_equal(thing->leaf, leaf);
}

/* Servers and the switches that they hang on belong to their block, all else to none. */
static void servers_and_leaves_belong_to_blocks(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct staged s;
        struct crowd crowd;
        begin(&s, &crowd, specs[i]);
        for (uint32_t one = 0; one < crowd.count; one++) {
            const struct thing *thing = &crowd.things[one];
            expect_block(&s, &crowd, one);
            assert_int_equal(thing->devices,
                             one < s.plan->spec->servers ? s.plan->server->server.nodes : 1);
            assert_int_equal(crowd.thing_of[thing->device], one);
        }
        staged_end(&s);
    }
}

/* Things are of one class when they have the same cables to the same things. */
static void classes_are_of_like_cables(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct staged s;
        struct crowd crowd;
        begin(&s, &crowd, specs[i]);
        for (uint32_t one = 0; one < crowd.count; one++) {
            for (uint32_t other = 0; other < one; other++) {
                bool same = true;
                for (uint32_t k = 0; same && k < crowd.count; k++) {
                    same = parts_between(&crowd, one, k) == parts_between(&crowd, other, k);
                }
                assert_int_equal(crowd.things[one].kind_class == crowd.things[other].kind_class,
                                 same);
                assert_true(crowd.things[one].kind_class < crowd.class_count);
            }
        }
        staged_end(&s);
    }
}

/* The first that share a cable and are no class are mates, for every such cable half of it. */
static void mates_share_cables(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct staged s;
        struct crowd crowd;
        begin(&s, &crowd, specs[i]);
        const struct myr_design *design = &s.plan->design;
        uint32_t mates = 0;
        for (uint32_t one = 0; one < crowd.count; one++) {
            uint32_t mate = crowd.things[one].mate, shared = 0;
            if (mate == CROWD_END) {
                assert_int_equal(crowd.things[one].shared, 0);
                continue;
            }
            mates++;
            assert_int_equal(crowd.things[mate].mate, one);
            assert_int_not_equal(crowd.things[mate].kind_class, crowd.things[one].kind_class);
            for (uint32_t l = 1; l < design->link_count; l++) {
                uint32_t a = crowd.thing_of[design->port_device[design->link_b[l - 1]]];
                uint32_t b = crowd.thing_of[design->port_device[design->link_b[l]]];
                bool both = (a == one && b == mate) || (a == mate && b == one);
                shared += both && design->link_cable[l - 1] == design->link_cable[l];
            }
            assert_int_equal(crowd.things[one].shared, shared * (crowd.parts / 2));
        }
        /* Only the planes are drawn together. */
        assert_int_equal(mates > 0, i == 2);
        staged_end(&s);
    }
}

/* How many lines beyond those right beside the servers each line with leaves lies. */
static uint32_t outside(const struct crowd *crowd, uint32_t block, bool rows)
{
    uint32_t low = UINT32_MAX, high = 0, sum = 0, lines = rows ? 16 : 32;
    for (uint32_t i = 0; i < crowd->count; i++) {
        const struct stand *rack = &crowd->room->racks[crowd->things[i].rack];
        uint32_t at = rows ? rack->row : rack->column;
        if (crowd->things[i].block == block && !crowd->things[i].leaf) {
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
    }
    for (uint32_t line = 0; low != UINT32_MAX && line < lines; line++) {
        bool leaves = false;
        for (uint32_t i = 0; i < crowd->count; i++) {
            const struct stand *rack = &crowd->room->racks[crowd->things[i].rack];
            leaves = leaves || (crowd->things[i].block == block && crowd->things[i].leaf &&
                                (rows ? rack->row : rack->column) == line);
        }
        uint32_t away = line < low ? low - line : line > high ? line - high : 0;
        sum += leaves && away > 1 ? away - 1 : 0;
    }
    return sum;
}

static void check_crowd(const struct crowd *crowd)
{
    uint32_t listed = 0;
    for (uint32_t i = 0; i < crowd->count; i++) {
        for (uint32_t rack = 0; rack < crowd->racks; rack++) {
            int64_t cost = 0;
            for (uint32_t k = crowd->first_peer[i]; k < crowd->first_peer[i + 1]; k++) {
                const struct peer *peer = &crowd->peers[k];
                cost += room_path_mm(crowd->room, rack, crowd->things[peer->thing].rack) *
                        (int64_t)peer->cables;
            }
            assert_int_equal(crowd_cost(crowd, i, rack), cost);
        }
        uint32_t block = crowd->things[i].block;
        assert_int_equal(
            crowd_outside(crowd, i),
            block == ROOM_NONE ? 0 : outside(crowd, block, true) + outside(crowd, block, false));
    }
    for (uint32_t rack = 0; rack < crowd->racks; rack++) {
        uint32_t count = 0, before = CROWD_END;
        for (uint32_t at = crowd->first_in[rack]; at != CROWD_END; at = crowd->next_in[at]) {
            assert_int_equal(crowd->things[at].rack, rack);
            assert_int_equal(crowd->before_in[at], before);
            before = at;
            count++;
        }
        assert_int_equal(crowd->rack_things[rack], count);
        listed += count;
    }
    assert_int_equal(listed, crowd->movable);
}

static void moves_keep_all_of_it_right(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, SEED, 0);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct staged s;
        struct crowd crowd;
        begin(&s, &crowd, specs[i]);
        check_crowd(&crowd);
        for (uint32_t move = 0; move < MOVES; move++) {
            uint32_t thing = myr_rng_below(&rng, crowd.movable);
            uint32_t from = crowd.things[thing].rack, to = myr_rng_below(&rng, crowd.racks);
            crowd_leave(&crowd, thing);
            bool fits = room_fits(&s.room.racks[to].left, &crowd.things[thing].need) > 0;
            crowd_enter(&crowd, thing, fits ? to : from);
        }
        check_crowd(&crowd);
        staged_end(&s);
    }
}

/* The longest leg of every cable. */
static int64_t longest_legs(const struct crowd *crowd, const uint32_t *racks)
{
    const struct myr_design *design = &crowd->room->plan->design;
    int64_t sum = 0;
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        int64_t longest = 0;
        for (uint32_t i = design->first_link[cable]; i < design->first_link[cable + 1]; i++) {
            uint32_t a = crowd->thing_of[design->port_device[design->link_a[i]]];
            uint32_t b = crowd->thing_of[design->port_device[design->link_b[i]]];
            if (a != CROWD_END && b != CROWD_END) {
                uint32_t from = a < crowd->movable ? racks[a] : crowd->things[a].rack;
                uint32_t to = b < crowd->movable ? racks[b] : crowd->things[b].rack;
                int64_t way = room_path_mm(crowd->room, from, to);
                longest = way > longest ? way : longest;
            }
        }
        sum += longest;
    }
    return sum;
}

static bool may_change(const struct crowd *crowd, uint32_t one, uint32_t other)
{
    const struct thing *x = &crowd->things[one], *y = &crowd->things[other];
    bool leaves = x->leaf && y->leaf && x->block == y->block;
    return x->need.watts == y->need.watts && x->need.units == y->need.units &&
           x->need.grams == y->need.grams &&
           (leaves || (x->kind_class == y->kind_class && x->block == y->block));
}

/* Whoever may change places has done so where that helps: no further pair of them does. */
static void legs_are_joined_until_no_pair_gains(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint32_t shorter = 0;
    myr_rng_init(&rng, SEED, 1);
    for (uint32_t round = 0; round < 12; round++) {
        struct staged s;
        struct crowd crowd;
        begin(&s, &crowd, specs[1 + round % 3]);
        uint32_t racks[64], before[64];
        assert_true(crowd.movable <= MYR_ARRAY_COUNT(racks));
        for (uint32_t i = 0; i < crowd.movable; i++) {
            racks[i] = crowd.things[i].rack;
        }
        /* Those that may change places stand anyhow among themselves. */
        for (uint32_t i = 0; i < 200; i++) {
            uint32_t one = myr_rng_below(&rng, crowd.movable);
            uint32_t other = myr_rng_below(&rng, crowd.movable);
            if (may_change(&crowd, one, other)) {
                uint32_t rack = racks[one];
                racks[one] = racks[other];
                racks[other] = rack;
            }
        }
        memcpy(before, racks, sizeof(before));
        int64_t first = longest_legs(&crowd, racks);
        crowd_join_legs(&crowd, racks);
        int64_t last = longest_legs(&crowd, racks);
        assert_true(last <= first);
        shorter += last < first;
        for (uint32_t one = 0; one < crowd.movable; one++) {
            uint32_t moved = 0;
            for (uint32_t other = 0; other < crowd.movable; other++) {
                moved +=
                    before[other] == racks[one] && (one == other || may_change(&crowd, one, other));
                if (other < one && may_change(&crowd, one, other)) {
                    uint32_t changed[64];
                    memcpy(changed, racks, sizeof(changed));
                    changed[one] = racks[other];
                    changed[other] = racks[one];
                    assert_true(longest_legs(&crowd, changed) >= last);
                }
            }
            assert_true(moved > 0);
        }
        staged_end(&s);
    }
    assert_int_not_equal(shorter, 0);
}

/* The lowest numbers of those that are alike get the first racks, and the room what came out. */
static void who_is_alike_settles_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i += i < 4 ? 4 : 1) {
        struct staged s;
        struct crowd crowd;
        begin(&s, &crowd, specs[i]);
        uint32_t racks[64];
        for (uint32_t k = 0; k < crowd.movable; k++) {
            racks[k] = crowd.things[k].rack;
        }
        /* From behind: the last of those that are alike begin with the first racks. */
        for (uint32_t k = 0; k < crowd.movable; k++) {
            for (uint32_t l = k + 1; l < crowd.movable; l++) {
                if (crowd_alike(&crowd, k, l) && racks[k] < racks[l]) {
                    uint32_t rack = racks[k];
                    racks[k] = racks[l];
                    racks[l] = rack;
                }
            }
        }
        crowd_settle(&crowd, racks);
        staged_check(&s);
        for (uint32_t k = 0; k < crowd.movable; k++) {
            assert_int_equal(s.room.device_rack[crowd.things[k].device], racks[k]);
            for (uint32_t l = k + 1; l < crowd.movable; l++) {
                assert_true(!crowd_alike(&crowd, k, l) || racks[k] <= racks[l]);
            }
        }
        staged_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cables_are_counted_link_by_link),
        cmocka_unit_test(servers_and_leaves_belong_to_blocks),
        cmocka_unit_test(classes_are_of_like_cables),
        cmocka_unit_test(mates_share_cables),
        cmocka_unit_test(moves_keep_all_of_it_right),
        cmocka_unit_test(legs_are_joined_until_no_pair_gains),
        cmocka_unit_test(who_is_alike_settles_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
