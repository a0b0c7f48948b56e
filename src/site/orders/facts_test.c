#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "orders/orders.h"
#include "verify/verify_test.h"

/* What a sheet says of the ports and cables of a small fabric whose cables are all in place. */

enum { NODES = 5, LEAF = NODES, SPINE = NODES + 2, MATES_MAX = 16 };

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_verify verify;
    struct myr_orders orders;
    struct myr_work_order order;
    struct myr_buf text;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    fixture = (struct fixture){};
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, (struct small_shape){NODES, 2, 3, 3});
    f->verify = (struct myr_verify){.arena = &f->arena, .design = &f->design};
    f->verify.plan = MYR_ARENA_NEW(&f->arena, uint32_t, f->design.port_count);
    f->verify.found = MYR_ARENA_NEW(&f->arena, uint32_t, f->design.port_count);
    for (uint32_t p = 0; p < f->design.port_count; p++) {
        f->verify.plan[p] = f->verify.found[p] = MYR_NONE;
    }
    for (uint32_t i = 0; i < f->design.link_count; i++) {
        uint32_t a = f->design.link_a[i], b = f->design.link_b[i];
        f->verify.plan[a] = f->verify.found[a] = b;
        f->verify.plan[b] = f->verify.found[b] = a;
    }
    f->orders = (struct myr_orders){
        .arena = &f->arena, .verify = &f->verify, .run = 3, .count = 1, .items = &f->order};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    myr_buf_done(&f->text);
    myr_arena_done(&f->arena);
    return 0;
}

static bool is_of_order(const struct myr_work_order *order, uint32_t port)
{
    uint32_t wide = order->legs ? order->legs : 1;
    bool found = false;
    for (uint32_t i = 0; i < order->plug_count; i++) {
        uint32_t at = order->plugs[i].at, to = order->plugs[i].to;
        found = found || (at != MYR_NONE && port >= at && port < at + wide);
        found = found || (to != MYR_NONE && port >= to && port < to + wide);
    }
    return found;
}

/* All ports of the device are asked, for each cage that a hand comes to. */
static uint32_t naive_mates(const struct fixture *f, uint32_t *ret)
{
    const struct myr_design *design = &f->design;
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * f->order.plug_count; i++) {
        const struct myr_plug *plug = &f->order.plugs[i / 2];
        uint32_t end = i % 2 ? plug->to : plug->at;
        if (end == MYR_NONE) {
            continue;
        }
        uint32_t device = design->port_device[end];
        for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
            bool known = false;
            for (uint32_t k = 0; k < count; k++) {
                known = known || ret[k] == p;
            }
            if (!known && f->verify.found[p] != MYR_NONE && !is_of_order(&f->order, p) &&
                myr_design_port_cage(design, p) == myr_design_port_cage(design, end)) {
                ret[count++] = p;
            }
        }
    }
    return count;
}

static uint32_t draw_port(struct fixture *f, struct myr_rng *rng)
{
    return myr_rng_below(rng, 8) ? myr_rng_below(rng, f->design.port_count) : MYR_NONE;
}

static void neighbours_in_the_cages_of_an_order_are_all_told(void **state)
{
    struct fixture *f = *state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct myr_rng rng;
        uint32_t expected[MATES_MAX], mates[MATES_MAX];
        bool module;
        myr_rng_init(&rng, seed, 0);
        for (uint32_t t = 1; t < 3; t++) {
            for (uint32_t g = 0; g < f->design.devtypes[t].group_count; g++) {
                f->design.devtypes[t].groups[g].per_cage = (uint16_t)(1 + seed % 4);
            }
        }
        /* Cages of the second group come behind those of the first, however these are divided. */
        f->design.devtypes[1].groups[1].first_cage = NODES;
        for (uint32_t p = 0; p < f->design.port_count; p++) {
            f->verify.found[p] = myr_rng_below(&rng, 4) ? 0 : MYR_NONE;
        }
        f->order = (struct myr_work_order){.plug_count = 1 + myr_rng_below(&rng, 2),
                                           .legs = seed % 5 ? 0 : 2};
        for (uint32_t i = 0; i < f->order.plug_count; i++) {
            f->order.plugs[i].at = draw_port(f, &rng);
            f->order.plugs[i].to = draw_port(f, &rng);
        }
        uint32_t count = naive_mates(f, expected);
        uint32_t got = order_cage_mates(&f->orders, &f->order, mates, MATES_MAX, &module);
        if (got != count) {
            fail_msg("seed %u: %u and not %u", (unsigned)seed, got, count);
        }
        assert_memory_equal(mates, expected, count * sizeof(uint32_t));
        /* And no more than there is room for. */
        uint32_t room = count / 2;
        assert_int_equal(order_cage_mates(&f->orders, &f->order, mates, room, &module), room);
        assert_memory_equal(mates, expected, room * sizeof(uint32_t));
    }
}

/* The module can stay where every cage that has neighbours has one. */
static void fibres_are_pulled_alone_where_modules_hold_them(void **state)
{
    struct fixture *f = *state;
    uint32_t leaf = f->design.first_port[LEAF], up = leaf + NODES;
    uint32_t spine = f->design.first_port[SPINE];
    const struct {
        uint32_t at, to, optic_a, optic_b;
        bool module;
    } rows[] = {
        {up, MYR_NONE, 1, 0, true},
        {up, MYR_NONE, 0, 1, false}, /* the leaf's end is a */
        {spine, MYR_NONE, 0, 1, true},
        {spine, MYR_NONE, 1, 0, false},
        {up, spine, 1, 1, true},
        {up, spine, 1, 0, false},
        {up, spine, 0, 1, false},
        {0, MYR_NONE, 0, 0, true},          /* alone in its cage */
        {spine + 7, MYR_NONE, 1, 1, false}, /* a spare port has no module, beside one that runs */
    };
    f->verify.found[spine + 6] = 0;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        uint32_t mates[MATES_MAX];
        bool module = !rows[i].module;
        f->design.cabletypes[0].optic_a = rows[i].optic_a;
        f->design.cabletypes[0].optic_b = rows[i].optic_b;
        f->order = (struct myr_work_order){.plug_count = 1,
                                           .plugs = {{.at = rows[i].at, .to = rows[i].to}}};
        (void)order_cage_mates(&f->orders, &f->order, mates, MATES_MAX, &module);
        if (module != rows[i].module) {
            fail_msg("row %u", i);
        }
    }
}

static void colours_are_those_of_the_medium_unless_the_site_has_its_own(void **state)
{
    struct fixture *f = *state;
    const char *const jackets[] = {"black", "aqua", "yellow"};
    f->orders.colours[MYR_LAYER_FABRIC] = "pink";
    for (uint32_t medium = MYR_MEDIUM_COPPER; medium <= MYR_MEDIUM_SINGLE; medium++) {
        f->design.cabletypes[0].medium = (uint8_t)medium;
        f->design.cabletypes[0].layer = MYR_LAYER_HOST;
        assert_string_equal(order_colour(&f->orders, 0), jackets[medium]);
        f->design.cabletypes[0].layer = MYR_LAYER_FABRIC;
        assert_string_equal(order_colour(&f->orders, 0), "pink");
    }
}

static void places_are_known_where_the_design_has_a_room(void **state)
{
    struct fixture *f = *state;
    uint16_t units[SPINE + 3];
    uint32_t port = f->design.first_port[SPINE] + 1;
    assert_int_equal(order_place_of(&f->orders, port).rack, MYR_NONE);
    for (uint32_t d = 0; d < f->design.device_count; d++) {
        f->design.device_rack[d] = d + 10;
        units[d] = (uint16_t)(d + 30);
    }
    f->design.device_unit = units;
    assert_int_equal(order_place_of(&f->orders, port).rack, SPINE + 10);
    assert_int_equal(order_place_of(&f->orders, port).unit, SPINE + 30);
    assert_int_equal(order_place_of(&f->orders, f->design.port_count).rack, MYR_NONE);
    assert_int_equal(order_place_of(&f->orders, MYR_NONE).unit, 0);
}

/* Where it is and where it goes; a new cable from end to end, one to inspect as well. */
static void codes_name_design_run_order_cable_and_ends(void **state)
{
    struct fixture *f = *state;
    uint32_t leaf = f->design.first_port[LEAF];
    const struct {
        struct myr_plug plug;
        const char *code;
    } rows[] = {
        {{leaf, leaf + 1, 2, 1}, ":leaf/p0-g0-r0:1/1>leaf/p0-g0-r0:1/2"},
        {{MYR_NONE, leaf, 2, 1}, ":node/00001:nic0>leaf/p0-g0-r0:1/1"},
        {{leaf, MYR_NONE, 2, MYR_NONE}, ":leaf/p0-g0-r0:1/1>node/00001:nic0"},
        {{leaf, leaf, 2, MYR_NONE}, ":leaf/p0-g0-r0:1/1>node/00001:nic0"},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        for (uint32_t with_ends = 0; with_ends < 2; with_ends++) {
            char expected[128], cable[16] = "";
            f->order = (struct myr_work_order){.plug_count = 1, .plugs = {rows[i].plug}};
            if (rows[i].plug.cable != MYR_NONE) {
                snprintf(cable, sizeof(cable), ":C%08llu",
                         (unsigned long long)myr_design_cable_id(&f->design, 1));
            }
            snprintf(expected, sizeof(expected), "MYR:small:R3:O1%s%s", cable,
                     with_ends ? rows[i].code : "");
            myr_buf_clear(&f->text);
            order_put_code(&f->orders, 0, with_ends, &f->text);
            assert_string_equal(f->text.data, expected);
        }
    }
}

static void flags_say_what_is_planned_and_not_what_is_found(void **state)
{
    struct fixture *f = *state;
    uint32_t leaf = f->design.first_port[LEAF];
    f->verify.found[2] = leaf + 3;
    struct myr_plug plug = {.at = leaf + 3, .to = leaf + 1, .far = 2, .cable = 1};
    order_put_flag(&f->orders, &plug, &f->text);
    assert_string_equal(f->text.data, "leaf/p0-g0-r0:1/2 -> node/00001:nic0");
    plug.cable = MYR_NONE;
    myr_buf_clear(&f->text);
    order_put_flag(&f->orders, &plug, &f->text);
    assert_int_equal(f->text.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(neighbours_in_the_cages_of_an_order_are_all_told),
        TEST(fibres_are_pulled_alone_where_modules_hold_them),
        TEST(colours_are_those_of_the_medium_unless_the_site_has_its_own),
        TEST(places_are_known_where_the_design_has_a_room),
        TEST(codes_name_design_run_order_cable_and_ends),
        TEST(flags_say_what_is_planned_and_not_what_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
