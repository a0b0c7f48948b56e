#include "verify/identify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "verify/verify_test.h"

/*
 * Which system the leaves run, learned from the cables of their hosts: two systems read the same
 * names, one as the cages stand and one from the other end; a third reads them all but cage 1.
 */

enum { NODES = 20, LEAF = NODES, LEAF_TYPE = 1, LEAF_CAGES = 12, STRAIGHT = 1, MIRRORED = 2 };

static const char rules[] = "platform,os,pattern,when,cage,lane\n"
                            "any,straight,P{a}-{b},a <= cages & b <= ports,a,b\n"
                            "any,mirrored,P{a}-{b},a <= cages & b <= ports,cages+1-a,b\n"
                            "any,straight,R{a}-{b},a <= cages & b <= ports,a,b\n"
                            "any,nearly,R{a}-{b},a > 1 & a <= cages & b <= ports,a,b\n";

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_cabling cabling;
    struct myr_port_names names;
    struct spelling spelling;
    struct identify identify;
    struct myr_err err;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, (struct small_shape){NODES, 2, 2, 2});
    assert_int_equal(f->design.devtypes[LEAF_TYPE].cages, LEAF_CAGES);
    assert_int_equal(myr_port_names_init(&f->names, &f->arena, &f->err), MYR_OK);
    assert_int_equal(
        myr_port_names_add_text(&f->names, &f->arena, "own.csv", myr_str_from(rules), &f->err),
        MYR_OK);
    spelling_init(&f->spelling, &f->arena, &f->design, &f->names, NULL);
    myr_cabling_init(&f->cabling, &f->arena);
}

static void finish(struct fixture *f)
{
    identify_done(&f->identify);
    spelling_done(&f->spelling);
    myr_port_names_done(&f->names);
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
}

/* The system of this name as a bit. */
static uint32_t system_bit(const struct fixture *f, const char *name)
{
    for (uint32_t s = 0; s < f->names.systems.count; s++) {
        if (myr_str_eq(f->names.systems.items[s], myr_str_from(name))) {
            return UINT32_C(1) << s;
        }
    }
    fail_msg("no system %s", name);
    return 0;
}

/* A host's first NIC, in a port of the first leaf that is called so. */
static void add_link(struct fixture *f, uint32_t node, const char *form, uint32_t cage, uint32_t at)
{
    struct myr_buf name = {};
    myr_site_name(&f->design, node, &name);
    struct myr_str host = {myr_arena_strndup(&f->arena, name.data, name.len), name.len};
    myr_buf_clear(&name);
    myr_site_name(&f->design, LEAF, &name);
    struct myr_str leaf = {myr_arena_strndup(&f->arena, name.data, name.len), name.len};
    myr_buf_clear(&name);
    myr_buf_printf(&name, "%s%u-%u", form, cage, at);
    struct myr_str port = {myr_arena_strndup(&f->arena, name.data, name.len), name.len};
    struct myr_cabling_link link = {.a = {myr_cabling_device(&f->cabling, host), MYR_STR("nic0")},
                                    .b = {myr_cabling_device(&f->cabling, leaf), port}};
    myr_vec_push(&f->cabling.links, link);
    myr_buf_done(&name);
}

static void learn(struct fixture *f)
{
    struct myr_verify_options options = {.nets = 1U << MYR_NET_COMPUTE};
    identify_init(&f->identify, &f->arena, &f->design, &f->cabling, &f->spelling, &options);
    identify_by_name(&f->identify);
    identify_learn(&f->identify);
}

/* The plan has the nodes in the leaf's cages in their order, two in each. */
static void add_host(struct fixture *f, uint32_t node, uint32_t system)
{
    uint32_t cage = node / 2 + 1, at = node % 2 + 1;
    /* Neither reading leads to this host: its neighbour's place in the cage is named. */
    at = system == 0 ? 3 - at : at;
    add_link(f, node, "P", system == MIRRORED ? LEAF_CAGES + 1 - cage : cage, at);
}

/*
 * The system that explains the most cables, at least half of them, is taken where any other one
 * explains half as many or leaves twice as many; then it is an assumption.
 */
static uint32_t naive_choice(uint32_t straight, uint32_t mirrored, uint32_t asked)
{
    uint32_t best = straight > mirrored ? straight : mirrored;
    uint32_t next = straight > mirrored ? mirrored : straight;
    if (best == 0 || straight == mirrored) {
        return STRAIGHT | MIRRORED;
    }
    bool clear = 2 * next <= best || asked - next >= 2 * (asked - best);
    return !clear || 2 * best < asked ? STRAIGHT | MIRRORED
           : straight > mirrored      ? STRAIGHT
                                      : MIRRORED;
}

static void the_system_that_cables_confirm_is_taken(void **state)
{
    (void)state;
    for (uint32_t straight = 0; straight <= NODES; straight++) {
        for (uint32_t mirrored = 0; straight + mirrored <= NODES; mirrored++) {
            struct fixture f;
            begin(&f);
            for (uint32_t node = 0; node < NODES; node++) {
                add_host(&f, node,
                         node < straight              ? STRAIGHT
                         : node < straight + mirrored ? MIRRORED
                                                      : 0);
            }
            learn(&f);
            uint32_t choice = naive_choice(straight, mirrored, NODES);
            uint32_t expected = (choice & STRAIGHT ? system_bit(&f, "straight") : 0) |
                                (choice & MIRRORED ? system_bit(&f, "mirrored") : 0);
            uint32_t found = f.spelling.systems[LEAF_TYPE];
            if (found != expected) {
                fail_msg("%u straight, %u mirrored: %x, not %x", straight, mirrored, found,
                         expected);
            }
            /* Two that are confirmed alike are both left, and assumed together. */
            bool halves = straight == mirrored && 2 * straight == NODES;
            assert_int_equal(f.spelling.assumed[LEAF_TYPE],
                             choice != (STRAIGHT | MIRRORED) || halves);
            finish(&f);
        }
    }
}

/* Who reads more of the names knows the box better: a name that is read is explained. */
static void the_system_that_reads_the_most_names_is_kept(void **state)
{
    (void)state;
    for (uint32_t others = 0; others <= 5; others++) {
        struct fixture f;
        begin(&f);
        for (uint32_t i = 0; i < 100; i++) {
            uint32_t node = i < others ? i % 2 : 2 + i % (NODES - 2);
            add_link(&f, node, "R", node / 2 + 1, node % 2 + 1);
        }
        learn(&f);
        uint32_t nearly = system_bit(&f, "nearly"), straight = system_bit(&f, "straight");
        assert_int_equal(f.spelling.systems[LEAF_TYPE], straight | (others == 0 ? nearly : 0));
        assert_int_equal(f.spelling.assumed[LEAF_TYPE], 0); /* nothing was left open */
        finish(&f);
    }
}

/* What was learned from fewer devices is learned anew: nothing is counted twice. */
static void a_second_look_learns_the_same(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (uint32_t node = 0; node < NODES; node++) {
        add_host(&f, node, MIRRORED);
    }
    learn(&f);
    assert_int_equal(f.spelling.systems[LEAF_TYPE], system_bit(&f, "mirrored"));
    for (uint32_t node = 0; node < 2 * NODES - 1; node++) {
        add_host(&f, node % NODES, STRAIGHT);
    }
    for (uint32_t look = 0; look < 3; look++) {
        identify_learn(&f.identify);
        assert_int_equal(f.spelling.systems[LEAF_TYPE],
                         system_bit(&f, "straight") | system_bit(&f, "mirrored"));
    }
    for (uint32_t node = 0; node < 7 * NODES; node++) {
        add_host(&f, node % NODES, STRAIGHT);
    }
    identify_learn(&f.identify);
    assert_int_equal(f.spelling.systems[LEAF_TYPE], system_bit(&f, "straight"));
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_that_cables_confirm_is_taken),
        cmocka_unit_test(the_system_that_reads_the_most_names_is_kept),
        cmocka_unit_test(a_second_look_learns_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
