#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "verify/verify.h"
#include "verify/verify_test.h"

/*
 * Ports get states at random, and every row of the coverage is counted once more, cable by cable.
 * Cables are of two networks and of several layers; devices stand in racks or in none, and the
 * hosts in two groups, each of which is a pod.
 */

enum { RACKS = 4, TYPES = 4, PODS = 2 };

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_verify verify;
};

/* What the row of one layer, pod or rack should be; MYR_NONE for all: any will do. */
struct of {
    uint32_t layer, pod, rack;
};

static void draw(struct fixture *f, uint64_t seed)
{
    struct myr_rng rng;
    struct myr_design *design = &f->design;
    *f = (struct fixture){};
    myr_rng_init(&rng, seed, 0);
    myr_arena_init(&f->arena);
    small_design(design, &f->arena, (struct small_shape){8, 2, 3, 2});
    design->networks[MYR_NET_COMPUTE].group_nodes = 4;
    design->networks[MYR_NET_COMPUTE].pods = PODS;
    design->rack_count = RACKS;
    for (uint32_t d = 0; d < design->device_count; d++) {
        uint32_t rack = myr_rng_below(&rng, RACKS + 1);
        design->device_rack[d] = rack == RACKS ? MYR_NONE : rack;
        design->place[d].pod = design->place[d].kind == MYR_DEVICE_NODE ? 0 : (uint16_t)(d % PODS);
    }
    design->cabletypes = MYR_ARENA_NEW(&f->arena, struct myr_cabletype, TYPES);
    design->cabletype_count = TYPES;
    for (uint32_t t = 0; t < TYPES; t++) {
        design->cabletypes[t].net = t == 3 ? MYR_NET_STORAGE : MYR_NET_COMPUTE;
        design->cabletypes[t].layer = (uint8_t)(t < 3 ? 2 * t : 1);
    }
    for (uint32_t c = 0; c < design->cable_count; c++) {
        design->cable_type[c] = (uint16_t)myr_rng_below(&rng, TYPES);
    }
    f->verify = (struct myr_verify){.arena = &f->arena, .design = design};
    f->verify.options.nets = 1U << MYR_NET_COMPUTE | (seed % 3 == 0) << MYR_NET_STORAGE;
    f->verify.plan = MYR_ARENA_NEW(&f->arena, uint32_t, design->port_count);
    f->verify.state = MYR_ARENA_NEW(&f->arena, uint8_t, design->port_count);
    for (uint32_t p = 0; p < design->port_count; p++) {
        bool planned = design->port_link[p] != MYR_NONE;
        bool silent = design->port_device[p] % 4 == seed % 4;
        f->verify.plan[p] = planned ? 0 : MYR_NONE;
        f->verify.state[p] =
            (uint8_t)(!planned ? MYR_STATE_IDLE
                      : silent ? MYR_STATE_UNSEEN
                               : MYR_STATE_RIGHT + myr_rng_below(&rng, MYR_STATE_COUNT - 1));
    }
}

static uint32_t pod_of(const struct myr_design *design, uint32_t device)
{
    return design->place[device].kind == MYR_DEVICE_NODE ? device / 4 : design->place[device].pod;
}

static bool belongs(const struct fixture *f, uint32_t link, struct of of)
{
    const struct myr_design *design = &f->design;
    const struct myr_cabletype *type =
        &design->cabletypes[design->cable_type[design->link_cable[link]]];
    uint32_t a = design->port_device[design->link_a[link]];
    uint32_t b = design->port_device[design->link_b[link]];
    return f->verify.options.nets >> type->net & 1 &&
           (of.layer == MYR_NONE || type->layer == of.layer) &&
           (of.pod == MYR_NONE || pod_of(design, a) == of.pod) &&
           (of.rack == MYR_NONE || design->device_rack[a] == of.rack ||
            design->device_rack[b] == of.rack);
}

static struct myr_ready naive_row(const struct fixture *f, struct of of)
{
    struct myr_ready row = {.key = 0};
    for (uint32_t link = 0; link < f->design.link_count; link++) {
        uint8_t a = f->verify.state[f->design.link_a[link]];
        uint8_t b = f->verify.state[f->design.link_b[link]];
        if (!belongs(f, link, of)) {
            continue;
        }
        bool right = a == MYR_STATE_RIGHT && b == MYR_STATE_RIGHT;
        bool unread = a == MYR_STATE_UNREAD || b == MYR_STATE_UNREAD;
        bool unseen = a == MYR_STATE_UNSEEN && b == MYR_STATE_UNSEEN;
        row.cables++;
        row.right += right;
        row.unread += unread;
        row.unseen += unseen;
        row.bad += !right && !unread && !unseen;
    }
    return row;
}

static void expect_row(const struct myr_ready *row, struct myr_ready expected)
{
    assert_int_equal(row->cables, expected.cables);
    assert_int_equal(row->right, expected.right);
    assert_int_equal(row->unread, expected.unread);
    assert_int_equal(row->unseen, expected.unseen);
    assert_int_equal(row->bad, expected.bad);
}

/* Rows come in the order of their keys, and none is without a cable. */
static void expect_rows(const struct fixture *f, const struct myr_ready *rows, uint32_t count,
                        uint32_t keys, uint32_t which)
{
    uint32_t next = 0;
    for (uint32_t key = 0; key < keys; key++) {
        struct of of = {which == 0 ? key : MYR_NONE, which == 1 ? key : MYR_NONE,
                        which == 2 ? key : MYR_NONE};
        struct myr_ready expected = naive_row(f, of);
        if (expected.cables) {
            assert_true(next < count);
            assert_int_equal(rows[next].key, key);
            expect_row(&rows[next++], expected);
        }
    }
    assert_int_equal(next, count);
}

static void every_row_counts_the_cables_that_belong_to_it(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct fixture f;
        draw(&f, seed);
        verify_cover(&f.verify);
        const struct myr_coverage *cover = &f.verify.coverage;
        expect_row(&cover->all, naive_row(&f, (struct of){MYR_NONE, MYR_NONE, MYR_NONE}));
        expect_rows(&f, cover->layers, cover->layer_count, MYR_LAYER_COUNT, 0);
        expect_rows(&f, cover->pods, cover->pod_count, PODS, 1);
        expect_rows(&f, cover->racks, cover->rack_count, RACKS, 2);
        myr_arena_done(&f.arena);
    }
}

static void a_device_is_absent_when_all_of_its_ports_are_unseen(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct fixture f;
        draw(&f, seed);
        /* A device without planned cables is not missed, and one port that is seen is enough. */
        uint32_t idle = (uint32_t)seed, seen = (uint32_t)seed + 4;
        for (uint32_t p = f.design.first_port[idle]; p < f.design.first_port[idle + 1]; p++) {
            f.verify.plan[p] = MYR_NONE;
            f.verify.state[p] = MYR_STATE_IDLE;
        }
        f.verify.state[f.design.first_port[seen + 1] - 1] = MYR_STATE_MISSING;
        for (uint32_t d = 0; d < f.design.device_count; d++) {
            if (d % 4 != seed % 4) {
                f.verify.state[f.design.first_port[d]] = MYR_STATE_WRONG;
            }
        }
        verify_cover(&f.verify);
        uint32_t next = 0;
        for (uint32_t d = seen + 4; d < f.design.device_count; d += 4) {
            assert_true(next < f.verify.coverage.absent_count);
            assert_int_equal(f.verify.coverage.absent[next++], d);
        }
        assert_int_equal(f.verify.coverage.absent_count, next);
        myr_arena_done(&f.arena);
    }
}

/* Cores stand in no pod: what is plugged at them counts in none. */
static void what_stands_in_no_pod_counts_in_none(void **state)
{
    (void)state;
    struct fixture f;
    draw(&f, 0);
    for (uint32_t d = 0; d < f.design.device_count; d++) {
        f.design.place[d].kind = MYR_DEVICE_CORE;
    }
    verify_cover(&f.verify);
    assert_int_equal(f.verify.coverage.pod_count, 0);
    assert_int_equal(f.verify.coverage.all.cables, f.design.link_count);
    myr_arena_done(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_counts_the_cables_that_belong_to_it),
        cmocka_unit_test(a_device_is_absent_when_all_of_its_ports_are_unseen),
        cmocka_unit_test(what_stands_in_no_pod_counts_in_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
