/*
 * The parts of the lower bound one by one: which of them is the greatest hangs on the room, and
 * what is not the greatest shows nowhere else. All of them are kept for rooms of many kinds, in
 * millimetres (tests/kept/plan-bound-parts.txt); what is near is held against a naive count.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kept.h"
#include "room/bound/bound.h"
#include "room/staged_test.h"

#define ROOM(more) "room: {rack_u: 42, " more "}\n"
#define NDR(servers, more)                                                                 \
    "servers: " servers "\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, " \
    "" more "}"
#define THREE "topology: clos, leaf_down: 8, leaf_up: 8, tiers: 3, pod_leaves: 8"

static const char *const specs[] = {
    NDR("9", "leaf_down: 8, leaf_up: 8") "}\n" ROOM("rows: 3, columns: 4, rack_kw: 24"),
    /* One block under all spines; fewer hosts than uplinks. */
    NDR("4", "leaf_down: 8, leaf_up: 16") "}\n" ROOM("rows: 3, columns: 3, rack_kw: 12"),
    NDR("5", "leaf_down: 4, leaf_up: 4") "}\n" ROOM("rows: 5, columns: 2, rack_kw: 12"),
    NDR("5", "leaf_down: 4, leaf_up: 12") "}\n" ROOM("rows: 5, columns: 3, rack_kw: 11"),
    /* Three tiers, of which the last pod is begun. */
    NDR("11", THREE) "}\n" ROOM("rows: 4, columns: 5, rack_kw: 12"),
    NDR("11", "topology: clos, leaf_down: 8, leaf_up: 4, tiers: 3, pod_leaves: 8") "}\n" ROOM(
        "rows: 4, columns: 4, rack_kw: 14"),
    /* Planes, legs, rails. */
    "servers: 6\nserver: b300-8gpu\nnetworks: {compute: {switch: sn5600, topology: twin-planar, "
    "leaf_down: 16, leaf_up: 8}}\n" ROOM("rows: 3, columns: 4, rack_kw: 22"),
    "servers: 7\nserver: h100-8gpu-2x200\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: "
    "8, leaf_up: 8}}\n" ROOM("rows: 2, columns: 6, rack_kw: 22, trays: {cross_rows: [2]}"),
    "servers: 3\nserver: gb200-nvl72\nnetworks: {compute: , service: }\nroom: {rack_u: 52, "
    "rack_kw: 140, rows: 3, columns: 4}\n",
    /* Strips, stores, hosts that are no servers; leaves in the middle of their racks. */
    NDR("6", "leaf_down: 16, leaf_up: 16") ", oob: , storage: {extra_nodes: 3}}\nstorage: "
                                           "{capacity_tb: 300}\n" ROOM(
                                               "rows: 3, columns: 4, rack_kw: 24, managed: true"),
    NDR("6", "topology: middle-of-rack") "}\n" ROOM("rows: 3, columns: 3, rack_kw: 24"),
    /* Two buildings; racks of which some carry more; ways so short that copper reaches. */
    NDR("9", "leaf_down: 8, leaf_up: 8") "}\n" ROOM(
        "rows: 2, columns: 3, rack_kw: 24, buildings: [{name: e}, {name: w, rows: 1}], "
        "distance_m: 3"),
    NDR("6", "leaf_down: 8, leaf_up: 8") "}\n" ROOM(
        "rows: 3, columns: 4, rack_kw: 12, drop_m: 0.3, slack: {percent: 3, m: 0.1}"),
    NDR("8", THREE) "}\n" ROOM(
        "rows: 4, columns: 4, rack_kw: 24, drop_m: 0.2, slack: {percent: 3, m: 0.1}, pitch_m: "
        "{row: 0.6, column: 0.7}, aisles: {every: 0, width_m: 1}"),
    "servers: 4\nserver: h100-8gpu\nnetworks: {compute: {topology: torus, switch: sn5600, "
    "nic_gbps: 400, hosts_per_switch: 8, dims: [2, 2]}}\n" ROOM("rows: 2, columns: 3, rack_kw: 14"),
    /* Two pods with uplinks to spare; leaves, spines and cores of different parts. */
    NDR("13", "topology: clos, leaf_down: 4, leaf_up: 8, tiers: 3, pod_leaves: 16") "}\n" ROOM(
        "rows: 5, columns: 4, rack_kw: 11"),
    "servers: 9\nserver: h100-8gpu\nnetworks: {compute: {switch: eth-25t6, spine_switch: sn5600, "
    "nic_gbps: 400, leaf_down: 8, leaf_up: 8}}\n" ROOM("rows: 4, columns: 4, rack_kw: 13"),
    "servers: 9\nserver: h100-8gpu\nnetworks: {compute: {switch: sn5600, spine_switch: eth-25t6, "
    "nic_gbps: 400, leaf_down: 8, leaf_up: 8}}\n" ROOM("rows: 4, columns: 4, rack_kw: 13"),
};

static struct bound *begin(struct staged *s, const char *spec)
{
    staged_begin(s, spec);
    /* Every fifth rack takes a server more: their power was dealt out anew. */
    for (uint32_t i = 2; i < s->room.rack_count; i += 5) {
        s->room.racks[i].watts_max += s->room.server.watts;
        s->room.racks[i].left.watts = s->room.racks[i].watts_max;
    }
    room_put_racks(&s->room);
    return bound_create(s->plan);
}

static void tell_net(struct bound *b, const struct net_plan *net, struct myr_buf *told)
{
    double ways = bound_ways_mm(b, net);
    myr_buf_printf(told, "  %s: %.3f, all %.3f;", myr_net_names[net->id], ways,
                   bound_net_mm(b, ways));
    myr_buf_printf(told, " uplinks %.3f, strips %.3f, one block %.3f, stars %.3f\n",
                   bound_uplinks_mm(b), bound_strips_mm(b), bound_one_block_mm(b),
                   bound_stars_mm(b));
}

static void every_part_of_the_bound_is_as_kept(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct staged s;
        struct short_layer layers[ROOM_SHORT_MAX];
        struct bound *b = begin(&s, specs[i]);
        myr_buf_printf(&told, "== %s  %u places in every rack, %u more\n", specs[i], b->places,
                       b->wider_count);
        for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
            const struct net_plan *net = &s.plan->nets[id];
            if (!net->present) {
                continue;
            }
            tell_net(b, net, &told);
            /* Chains of the devices, where there are any. */
            uint32_t chains = 0;
            for (uint32_t d = 0; d < s.plan->design.device_count && chains < 12; d++) {
                if (b->weight[d] > 0) {
                    myr_buf_puts(&told, chains++ ? ", " : "    ");
                    myr_design_name(&s.plan->design, d, &told);
                    myr_buf_printf(&told, " %u x %.3f", b->servers[d], b->weight[d]);
                }
            }
            myr_buf_puts(&told, chains ? "\n" : "");
            b->times[MYR_LAYER_FABRIC] = 3;
            tell_net(b, net, &told);
            b->times[MYR_LAYER_FABRIC] = 1;
        }
        uint32_t count = room_short_layers(&s.room, layers);
        for (uint32_t k = 0; k < count; k++) {
            myr_buf_printf(&told, "  %s layer %u may be %u mm\n", myr_net_names[layers[k].net],
                           layers[k].layer, layers[k].length_mm);
        }
        myr_buf_printf(&told, "  at least %llu mm\n", (unsigned long long)room_bound_mm(&s.room));
        staged_end(&s);
    }
    assert_kept("plan-bound-parts.txt", &told);
}

/* How short each layer may be, the lower the trays are hung: fewer racks lie within its reach. */
static void layers_are_as_short_as_racks_allow(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    static const char *const shorts[] = {
        NDR("9", "leaf_down: 8, leaf_up: 8") "}\n" ROOM(
            "rows: 4, columns: 4, rack_kw: 12, slack: {percent: 3, m: 0.1}"),
        NDR("16", "topology: clos, leaf_down: 16, leaf_up: 16") "}\n" ROOM(
            "rows: 5, columns: 5, rack_kw: 12, slack: {percent: 3, m: 0.1}"),
        NDR("11",
            THREE) "}\n" ROOM("rows: 4, columns: 5, rack_kw: 14, slack: {percent: 3, m: 0.1}"),
        NDR("24", "topology: clos, leaf_down: 16, leaf_up: 8") "}\n" ROOM(
            "rows: 4, columns: 9, rack_kw: 11, slack: {percent: 0, m: 0.1}, pitch_m: {row: 0.3, "
            "column: 0.4}, aisles: {every: 0, width_m: 1}"),
        NDR("32", "leaf_down: 32, leaf_up: 32") "}\n" ROOM(
            "rows: 6, columns: 6, rack_kw: 14, slack: {percent: 3, m: 0.1}"),
        ("servers: 3\nserver: gb200-nvl72\nnetworks: {compute: }\nroom: {rack_u: 52, rack_kw: "
         "140, rows: 3, columns: 4, slack: {percent: 3, m: 0.1}}\n"),
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(shorts); i++) {
        struct staged s;
        staged_begin(&s, shorts[i]);
        myr_buf_printf(&told, "== %s", shorts[i]);
        /* Told where it changes; the longest layer is short up to drops of 2.4 m. */
        uint32_t last = 0;
        for (uint32_t drop = 1000; drop <= 2500; drop += 25) {
            struct short_layer layers[ROOM_SHORT_MAX];
            s.p.spec.room.drop_m = drop / 1000.0;
            uint32_t count = room_short_layers(&s.room, layers), now = 0;
            for (uint32_t k = 0; k < count; k++) {
                now |= 1U << layers[k].layer;
                assert_int_equal(layers[k].length_mm, 5000);
            }
            if (now != last) {
                myr_buf_printf(&told, "  drops of %u mm: layers%s%s%s\n", drop,
                               now & 1U << MYR_LAYER_HOST ? " host" : "",
                               now & 1U << MYR_LAYER_FABRIC ? " fabric" : "",
                               now & 1U << MYR_LAYER_CORE ? " core" : "");
            }
            last = now;
        }
        staged_end(&s);
    }
    assert_kept("plan-short-layers.txt", &told);
}

static int by_mm(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The ways from a rack to every place for a server, the nearest first. */
static uint32_t ways_from(const struct bound *b, uint32_t from, double *ret)
{
    uint32_t count = 0;
    for (uint32_t rack = 0; rack < b->design->rack_count; rack++) {
        for (uint32_t i = 0; i < b->places; i++) {
            ret[count++] = bound_way_mm(b, from, rack);
        }
    }
    for (uint32_t i = 0; i < b->wider_count; i++) {
        ret[count++] = bound_way_mm(b, from, b->wider[i]);
    }
    qsort(ret, count, sizeof(*ret), by_mm);
    return count;
}

/* No more than the true least, and less by no more than the 5 cm at which the search ends. */
static void the_nearest_places_are_counted_one_by_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct staged s;
        struct bound *b = begin(&s, specs[i]);
        double ways[256];
        uint32_t places = b->places * b->design->rack_count + b->wider_count;
        assert_true(places <= MYR_ARRAY_COUNT(ways));
        for (uint32_t k = 2; k <= places; k += 1 + places / 5) {
            double least = -1;
            for (uint32_t rack = 0; rack < b->design->rack_count; rack++) {
                double sum = 0;
                assert_int_equal(ways_from(b, rack, ways), places);
                for (uint32_t n = 0; n < k; n++) {
                    sum += ways[n];
                }
                least = least < 0 || sum < least ? sum : least;
            }
            double found = bound_least_around(b, k);
            assert_true(found <= least + 0.01 && found >= least - 50.0 * places);
            assert_true(bound_nearest_mm(b, k) == found);
            assert_true(bound_nearest_mm(b, k) == found);
        }
        /* One place is at the centre itself, and there are not more than all. */
        assert_true(bound_nearest_mm(b, 1) == 0 && bound_nearest_mm(b, places + 1) == 0);
        for (double reach = 0; reach < 6000; reach += 700) {
            uint32_t most = 0;
            for (uint32_t rack = 0; rack < b->design->rack_count; rack++) {
                uint32_t within = 0;
                ways_from(b, rack, ways);
                while (within < places && ways[within] <= reach) {
                    within++;
                }
                most = within > most ? within : most;
            }
            assert_int_equal(bound_most_within(b, reach), most);
        }
        staged_end(&s);
    }
}

/* The longest of all ways between two racks that is no longer, and what was rounded. */
static void no_way_of_racks_is_left_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct staged s;
        struct bound *b = begin(&s, specs[i]);
        bool plain = s.room.hall_count == 1 && !s.room.spec->cross_count;
        for (double most = -100; most < 9000; most += 450) {
            double longest = 0;
            for (uint32_t x = 0; x < s.room.rack_count; x++) {
                for (uint32_t y = 0; y < s.room.rack_count; y++) {
                    double way = bound_way_mm(b, x, y);
                    longest = way <= most && way > longest ? way : longest;
                    assert_true(way <= (double)room_path_mm(&s.room, x, y));
                }
            }
            double expected = longest + 1 < most ? longest + 1 : most;
            assert_true(bound_rack_way_mm(b, most) == (plain && most >= 0 ? expected : most));
        }
        staged_end(&s);
    }
}

/* The heaviest stand in the cheapest seats, in whatever order they are named: no assignment of
 * four weights to the seats that they would take costs less. */
static void the_heaviest_get_the_cheapest_seats(void **state)
{
    (void)state;
    struct staged s;
    struct bound *b = begin(&s, specs[1]);
    const struct load need = {5000, 3, 10000};
    static const double orders[][4] = {
        {1, 2, 5, 9}, {9, 5, 2, 1}, {5, 1, 9, 2}, {2, 9, 1, 5}, {5, 9, 2, 1}};
    /* What one, two, three and four alike cost tells what each next seat does. */
    double last = 0, seats[4], least = 0;
    for (uint32_t count = 1; count <= 4; count++) {
        double alike[] = {1, 1, 1, 1};
        double sum = bound_seats_mm(b, 4, alike, count, &need);
        seats[count - 1] = sum - last;
        assert_true(count == 1 || seats[count - 1] >= seats[count - 2]);
        last = sum;
    }
    for (uint32_t i = 0; i < 4; i++) {
        least += seats[i] * orders[1][i];
    }
    assert_true(seats[3] > seats[0]);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(orders); i++) {
        double weights[4];
        memcpy(weights, orders[i], sizeof(weights));
        assert_true(fabs(bound_seats_mm(b, 4, weights, 4, &need) - least) < 1e-6);
    }
    staged_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_of_the_bound_is_as_kept),
        cmocka_unit_test(layers_are_as_short_as_racks_allow),
        cmocka_unit_test(the_nearest_places_are_counted_one_by_one),
        cmocka_unit_test(the_heaviest_get_the_cheapest_seats),
        cmocka_unit_test(no_way_of_racks_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
