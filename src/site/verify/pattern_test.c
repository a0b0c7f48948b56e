#include "verify/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "verify/verify_test.h"

/*
 * Plugs are put into other ports by hand, and all that the finders say is held against: kinds,
 * ports that are explained, places, and their order.
 *
 * The fabric: twelve hosts with four NICs, four leaves with twelve ports down and eight up, four
 * spines.
 */

enum { NODES = 12, RAILS = 4, SPINES = 4, PAIR = 2, LEAF = NODES, SPINE = NODES + RAILS };

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_verify verify;
    struct myr_buf text;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    fixture = (struct fixture){};
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, (struct small_shape){NODES, RAILS, SPINES, PAIR});
    uint32_t ports = f->design.port_count;
    f->verify = (struct myr_verify){.arena = &f->arena, .design = &f->design};
    f->verify.plan = MYR_ARENA_NEW(&f->arena, uint32_t, ports);
    f->verify.found = MYR_ARENA_NEW(&f->arena, uint32_t, ports);
    f->verify.state = MYR_ARENA_NEW(&f->arena, uint8_t, ports);
    for (uint32_t p = 0; p < ports; p++) {
        uint32_t link = f->design.port_link[p];
        bool at_a = link != MYR_NONE && f->design.link_a[link] == p;
        f->verify.plan[p] = link == MYR_NONE ? MYR_NONE
                            : at_a           ? f->design.link_b[link]
                                             : f->design.link_a[link];
        f->verify.found[p] = f->verify.plan[p];
    }
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

static uint32_t port_at(const struct fixture *f, uint32_t device, uint32_t index)
{
    return f->design.first_port[device] + index;
}

/* The plugs in two ports change places; either may be empty. */
static void exchange(struct fixture *f, uint32_t a, uint32_t b)
{
    uint32_t far_a = f->verify.found[a], far_b = f->verify.found[b];
    f->verify.found[a] = far_b;
    f->verify.found[b] = far_a;
    if (far_a != MYR_NONE) {
        f->verify.found[far_a] = b;
    }
    if (far_b != MYR_NONE) {
        f->verify.found[far_b] = a;
    }
}

static void exchange_at(struct fixture *f, uint32_t device, uint32_t a, uint32_t b)
{
    exchange(f, port_at(f, device, a), port_at(f, device, b));
}

/* Each plug goes 'by' ports up; those at the end go round to the first ones. */
static void rotate(struct fixture *f, uint32_t device, uint32_t first, uint32_t count, uint32_t by)
{
    for (uint32_t i = 0; i < by; i++) {
        for (uint32_t k = count - 1; k > 0; k--) {
            exchange_at(f, device, first + k, first + k - 1);
        }
    }
}

static void exchange_devices(struct fixture *f, uint32_t a, uint32_t b, uint32_t first,
                             uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        exchange(f, port_at(f, a, i), port_at(f, b, i));
    }
}

static uint32_t judge(struct fixture *f)
{
    uint32_t wrong = 0;
    for (uint32_t p = 0; p < f->design.port_count; p++) {
        uint32_t plan = f->verify.plan[p], found = f->verify.found[p];
        f->verify.state[p] = found == plan ? plan == MYR_NONE ? MYR_STATE_IDLE : MYR_STATE_RIGHT
                             : plan == MYR_NONE  ? MYR_STATE_EXTRA
                             : found == MYR_NONE ? MYR_STATE_MISSING
                                                 : MYR_STATE_WRONG;
        wrong += f->verify.state[p] == MYR_STATE_WRONG;
    }
    f->verify.relabel_devices = 0;
    pattern_find(&f->verify);
    return wrong;
}

/* What was found, a line each, and the devices that need other names. */
static void expect(struct fixture *f, const char *expected)
{
    (void)judge(f);
    myr_buf_clear(&f->text);
    for (uint32_t i = 0; i < f->verify.pattern_count; i++) {
        const struct myr_pattern *row = &f->verify.patterns[i];
        myr_buf_printf(&f->text, "%s %u: %.*s\n", myr_pattern_kind_names[row->kind], row->ports,
                       (int)row->where.len, row->where.data);
    }
    uint32_t renamed = 0;
    for (uint32_t d = 0; d < f->design.device_count; d++) {
        if (f->verify.renames[d] != MYR_NONE) {
            myr_buf_puts(&f->text, renamed++ ? ", " : "rename ");
            myr_design_name(&f->design, d, &f->text);
            myr_buf_puts(&f->text, " to ");
            myr_design_name(&f->design, f->verify.renames[d], &f->text);
        }
    }
    assert_int_equal(renamed, f->verify.relabel_devices);
    assert_string_equal(f->text.data ? f->text.data : "", expected);
}

static void a_fabric_as_planned_has_no_patterns(void **state)
{
    expect(*state, "");
}

static void nics_of_one_host_that_are_crossed_are_named_together(void **state)
{
    struct fixture *f = *state;
    exchange_at(f, 3, 0, 2);
    rotate(f, 7, 0, 3, 1);
    expect(f, "rails-permuted 6: node/00007 nic0 nic1 nic2\n"
              "rails-permuted 4: node/00003 nic0 nic2\n");
}

static void one_cable_of_another_nic_is_no_exchange(void **state)
{
    struct fixture *f = *state;
    /* The plug of nic1 is out, and that of nic0 is in its place. */
    uint32_t nic = port_at(f, 5, 1);
    f->verify.found[f->verify.found[nic]] = MYR_NONE;
    f->verify.found[nic] = MYR_NONE;
    exchange_at(f, 5, 0, 1);
    expect(f, "");
}

static void plugs_of_one_cage_are_told_once_and_those_of_two_are_not(void **state)
{
    struct fixture *f = *state;
    exchange_at(f, LEAF, 0, 1);
    exchange_at(f, LEAF + 1, 5, 6); /* the last of a cage and the first of the next */
    exchange_at(f, SPINE + 2, 6, 7);
    /* Both ends of parallel cables look the same: the lower one is told. */
    expect(f, "cage-halves-swapped 4: leaf/p0-g0-r0 1/1 and 1/2\n"
              "cage-halves-swapped 4: leaf/p0-g0-r3 9/1 and 9/2\n");
}

static void legs_of_one_connector_are_told_from_halves_of_a_cage(void **state)
{
    struct fixture *f = *state;
    struct myr_port_group *group = &f->design.devtypes[1].groups[0];
    group->per_cage = 4;
    group->per_connector = 2;
    exchange_at(f, LEAF, 0, 1); /* legs */
    exchange_at(f, LEAF, 2, 3); /* legs of the next connector: another mistake */
    exchange_at(f, LEAF, 5, 6); /* halves */
    exchange_at(f, LEAF, 4, 7); /* of the same cage: the same mistake, but nested it is a mirror */
    exchange_at(f, LEAF + 1, 8, 10);
    exchange_at(f, LEAF + 1, 9, 11);
    expect(f, "cage-halves-swapped 8: leaf/p0-g0-r1 3/1/1 and 3/2/1\n"
              "bundle-reversed 8: leaf/p0-g0-r0 2/1/1 to 2/2/2\n"
              "splitter-legs-crossed 4: leaf/p0-g0-r0 1/1/1 and 1/1/2\n"
              "splitter-legs-crossed 4: leaf/p0-g0-r0 1/2/1 and 1/2/2\n");
}

static void bundles_that_begin_late_need_three_plugs(void **state)
{
    struct fixture *f = *state;
    rotate(f, LEAF, 1, 3, 1);     /* two moved on and one went round: too few */
    rotate(f, LEAF + 1, 2, 4, 1); /* three moved on */
    rotate(f, LEAF + 2, 0, 6, 2); /* by a whole cage */
    rotate(f, LEAF + 3, 4, 6, 5); /* by one to the other side */
    expect(f, "bundle-shifted 12: leaf/p0-g0-r2 2/1 to 3/2, by 2\n"
              "bundle-shifted 12: leaf/p0-g0-r3 3/1 to 5/1, by -1\n"
              "bundle-shifted 8: leaf/p0-g0-r1 2/2 to 3/2, by 1\n");
}

static void reversed_bundles_may_have_a_middle(void **state)
{
    struct fixture *f = *state;
    exchange_at(f, LEAF, 1, 4);
    exchange_at(f, LEAF, 2, 3);
    exchange_at(f, LEAF + 1, 0, 4); /* the third of five is right */
    exchange_at(f, LEAF + 1, 1, 3);
    exchange_at(f, LEAF + 2, 4, 6); /* three in reverse are an exchange of two */
    exchange_at(f, LEAF + 3, 12, 15);
    exchange_at(f, LEAF + 3, 13, 14);
    exchange_at(f, LEAF + 3, 11, 10); /* ports down beside it are of another group */
    expect(f, "bundle-reversed 8: leaf/p0-g0-r0 1/2 to 3/1\n"
              "bundle-reversed 8: leaf/p0-g0-r1 1/1 to 3/1\n"
              "bundle-reversed 8: leaf/p0-g0-r3 7/1 to 8/2\n"
              "cage-halves-swapped 4: leaf/p0-g0-r3 6/1 and 6/2\n");
}

static void more_than_half_of_a_group_makes_an_exchange_of_leaves(void **state)
{
    struct fixture *f = *state;
    exchange_devices(f, LEAF, LEAF + 1, 0, NODES / 2 + 1);
    expect(f, "leaf-pair-exchanged 28: leaf/p0-g0-r0, leaf/p0-g0-r1\n");
    exchange_devices(f, LEAF, LEAF + 1, NODES / 2, 1);
    expect(f, "rails-permuted 4: node/00000 nic0 nic1\n"
              "rails-permuted 4: node/00001 nic0 nic1\n"
              "rails-permuted 4: node/00002 nic0 nic1\n"
              "rails-permuted 4: node/00003 nic0 nic1\n"
              "rails-permuted 4: node/00004 nic0 nic1\n"
              "rails-permuted 4: node/00005 nic0 nic1\n");
}

/* Seven of twelve belong to the second leaf, with two of the third between them. */
static void cables_of_a_third_leaf_between_them_do_not_hide_an_exchange(void **state)
{
    struct fixture *f = *state;
    static const uint32_t second[] = {0, 2, 4, 6, 8, 10, 11}, third[] = {1, 3};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(second); i++) {
        exchange_devices(f, LEAF, LEAF + 1, second[i], 1);
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(third); i++) {
        exchange_devices(f, LEAF, LEAF + 2, third[i], 1);
    }
    expect(f, "leaf-pair-exchanged 28: leaf/p0-g0-r0, leaf/p0-g0-r1\n"
              "rails-permuted 4: node/00001 nic0 nic2\n"
              "rails-permuted 4: node/00003 nic0 nic2\n");
}

static void devices_with_all_of_anothers_cables_need_its_name(void **state)
{
    struct fixture *f = *state;
    exchange_devices(f, SPINE + 1, SPINE + 3, 0, RAILS * PAIR);
    expect(f, "devices-exchanged 32: spine/p0-1, spine/p0-3\n"
              "rename spine/p0-1 to spine/p0-3, spine/p0-3 to spine/p0-1");
    /* As long as a name explains more cables than it leaves: half of eight plugs are none. */
    exchange_devices(f, SPINE + 1, SPINE + 3, 0, 3);
    expect(f, "devices-exchanged 20: spine/p0-1, spine/p0-3\n"
              "rename spine/p0-1 to spine/p0-3, spine/p0-3 to spine/p0-1");
    exchange_devices(f, SPINE + 1, SPINE + 3, 3, 4);
    expect(f, "");
}

static void rows_of_hosts_that_stand_one_off_are_named_up_to_four(void **state)
{
    struct fixture *f = *state;
    for (uint32_t d = 3; d > 0; d--) {
        exchange_devices(f, d, d - 1, 0, RAILS);
    }
    for (uint32_t d = 10; d > 6; d--) {
        exchange_devices(f, d, d - 1, 0, RAILS);
    }
    expect(f, "rack-rotated 40: node/00006, node/00010, node/00009, ... 5 devices\n"
              "rack-rotated 32: node/00000, node/00003, node/00002, node/00001\n"
              "rename node/00000 to node/00003, node/00001 to node/00000, "
              "node/00002 to node/00001, node/00003 to node/00002, node/00006 to node/00010, "
              "node/00007 to node/00006, node/00008 to node/00007, node/00009 to node/00008, "
              "node/00010 to node/00009");
}

static void a_row_that_runs_out_is_told_and_not_renamed(void **state)
{
    struct fixture *f = *state;
    for (uint32_t i = 0; i < RAILS; i++) {
        uint32_t last = port_at(f, 4, i), far = f->verify.found[last];
        f->verify.found[last] = f->verify.found[far] = MYR_NONE;
        exchange(f, port_at(f, 3, i), last);
        exchange(f, port_at(f, 2, i), port_at(f, 3, i));
    }
    expect(f, "rack-rotated 16: node/00004, node/00003, node/00002\n");
}

/* No port is counted twice, and who explains most comes first. */
static void patterns_explain_wrong_ports_once(void **state)
{
    struct fixture *f = *state;
    for (uint32_t seed = 0; seed < 60; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 0);
        memcpy(f->verify.found, f->verify.plan, f->design.port_count * sizeof(uint32_t));
        for (uint32_t i = 0; i < 12; i++) {
            uint32_t device = myr_rng_below(&rng, f->design.device_count);
            uint32_t ports = f->design.first_port[device + 1] - f->design.first_port[device];
            exchange_at(f, device, myr_rng_below(&rng, ports), myr_rng_below(&rng, ports));
        }
        uint32_t wrong = judge(f), explained = 0;
        for (uint32_t i = 0; i < f->verify.pattern_count; i++) {
            const struct myr_pattern *rows = f->verify.patterns;
            explained += rows[i].ports;
            if (rows[i].ports < 3 || (i && rows[i - 1].ports < rows[i].ports)) {
                fail_msg("seed %u: pattern %u", seed, i);
            }
        }
        assert_true(explained <= wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_fabric_as_planned_has_no_patterns),
        TEST(nics_of_one_host_that_are_crossed_are_named_together),
        TEST(one_cable_of_another_nic_is_no_exchange),
        TEST(plugs_of_one_cage_are_told_once_and_those_of_two_are_not),
        TEST(legs_of_one_connector_are_told_from_halves_of_a_cage),
        TEST(bundles_that_begin_late_need_three_plugs),
        TEST(reversed_bundles_may_have_a_middle),
        TEST(more_than_half_of_a_group_makes_an_exchange_of_leaves),
        TEST(cables_of_a_third_leaf_between_them_do_not_hide_an_exchange),
        TEST(devices_with_all_of_anothers_cables_need_its_name),
        TEST(rows_of_hosts_that_stand_one_off_are_named_up_to_four),
        TEST(a_row_that_runs_out_is_told_and_not_renamed),
        TEST(patterns_explain_wrong_ports_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
