/*
 * Two choices of growth on fabrics made by hand. Uplinks that are spread over switches above: every
 * way to deal them out is counted, and none keeps more. Spines of pods that are cut anew, too many
 * for an assignment: they go pod by pod, in their order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "grow/grow_internal.h"

enum { SEED = 3, ROUNDS = 400, SIDE_MAX = 4, PORTS = 24 };

/* A design of devices that are all alike, each with the same ports; links are plugged in turn. */
struct made {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_devtype type;
    struct myr_network networks[MYR_NET_COUNT];
    struct grow grow;
    uint32_t *used; /* ports by device */
};

static void make(struct made *m, uint32_t devices, uint32_t ports, uint32_t links)
{
    struct myr_arena *arena = &m->arena;
    *m = (struct made){};
    myr_arena_init(arena);
    m->type = (struct myr_devtype){
        .group_count = 1,
        .port_count = ports,
        .groups = {
            {.count = ports, .gbps = 400, .per_cage = 1, .per_connector = 1, .role = MYR_PORT_UP}}};
    m->design = (struct myr_design){.device_count = devices,
                                    .port_count = devices * ports,
                                    .devtypes = &m->type,
                                    .networks = m->networks};
    m->design.place = MYR_ARENA_NEW(arena, struct myr_place, devices);
    m->design.device_type = MYR_ARENA_NEW(arena, uint16_t, devices);
    m->design.first_port = MYR_ARENA_NEW(arena, uint32_t, devices + 1);
    m->design.port_device = MYR_ARENA_NEW(arena, uint32_t, (size_t)devices * ports);
    m->design.port_link = MYR_ARENA_NEW(arena, uint32_t, (size_t)devices * ports);
    m->design.link_a = MYR_ARENA_NEW(arena, uint32_t, links);
    m->design.link_b = MYR_ARENA_NEW(arena, uint32_t, links);
    m->used = MYR_ARENA_NEW(arena, uint32_t, devices);
    m->grow = (struct grow){.arena = arena, .old = &m->design, .plan = &m->design};
    m->grow.to = MYR_ARENA_NEW(arena, uint32_t, devices);
    m->grow.from = MYR_ARENA_NEW(arena, uint32_t, devices);
    for (uint32_t i = 0; i < devices * ports; i++) {
        m->design.port_device[i] = i / ports;
        m->design.port_link[i] = MYR_NONE;
    }
    for (uint32_t i = 0; i <= devices; i++) {
        m->design.first_port[i] = i * ports;
    }
    for (uint32_t i = 0; i < devices; i++) {
        m->grow.to[i] = m->grow.from[i] = i;
    }
}

static void plug(struct made *m, uint32_t a, uint32_t b)
{
    struct myr_design *design = &m->design;
    uint32_t link = design->link_count++;
    const uint32_t ends[] = {a, b};
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(m->used[ends[i]] < m->type.port_count);
        uint32_t port = design->first_port[ends[i]] + m->used[ends[i]]++;
        design->port_link[port] = link;
        *(i ? &design->link_b[link] : &design->link_a[link]) = port;
    }
}

/* ---- uplinks ---- */

struct matrix {
    uint32_t rows, cols, base[SIDE_MAX], extras[SIDE_MAX];
    bool useful[SIDE_MAX][SIDE_MAX];
};

/* The most that stays when rows from 'row' on are dealt out in every way; loads are of columns. */
static uint32_t most_kept(const struct matrix *m, uint32_t row, uint32_t *load)
{
    uint32_t best = 0;
    if (row == m->rows) {
        uint32_t low = UINT32_MAX, high = 0;
        for (uint32_t c = 0; c < m->cols; c++) {
            low = load[c] < low ? load[c] : low;
            high = load[c] > high ? load[c] : high;
        }
        return high - low <= 1 ? 1 : 0; /* one more than what stays: 0 is no way at all */
    }
    for (uint32_t bits = 0; bits < 1U << m->cols; bits++) {
        uint32_t kept = 0;
        if ((uint32_t)__builtin_popcount(bits) != m->extras[row]) {
            continue;
        }
        for (uint32_t c = 0; c < m->cols; c++) {
            load[c] += bits >> c & 1;
            kept += (bits >> c & 1) && m->useful[row][c];
        }
        uint32_t rest = most_kept(m, row + 1, load);
        best = rest && rest + kept > best ? rest + kept : best;
        for (uint32_t c = 0; c < m->cols; c++) {
            load[c] -= bits >> c & 1;
        }
    }
    return best;
}

static void draw(struct myr_rng *rng, struct matrix *ret)
{
    *ret = (struct matrix){.rows = 2 + myr_rng_below(rng, SIDE_MAX - 1),
                           .cols = 2 + myr_rng_below(rng, SIDE_MAX - 1)};
    for (uint32_t r = 0; r < ret->rows; r++) {
        ret->base[r] = 1 + myr_rng_below(rng, 2);
        ret->extras[r] = myr_rng_below(rng, ret->cols);
        for (uint32_t c = 0; c < ret->cols; c++) {
            ret->useful[r][c] = myr_rng_below(rng, 100) < 45;
        }
    }
}

static void no_other_spread_keeps_more(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint32_t chosen = 0;
    myr_rng_init(&rng, SEED, 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct matrix x;
        struct made m;
        struct grow_link links[128];
        uint32_t count = 0, load[SIDE_MAX] = {}, now[SIDE_MAX][SIDE_MAX] = {}, kept = 0, uneven = 0;
        draw(&rng, &x);
        make(&m, x.rows + x.cols, PORTS, 128);
        for (uint32_t r = 0; r < x.rows; r++) {
            uneven += x.extras[r];
            for (uint32_t c = 0; c < x.cols; c++) {
                uint32_t wanted = x.base[r] + (c < x.extras[r]);
                for (uint32_t i = 0; i < wanted; i++) {
                    links[count++] =
                        (struct grow_link){r, x.rows + c, MYR_NONE, MYR_NONE, MYR_NONE};
                }
                /* Installed are fewer than the base, or more. */
                uint32_t have = x.useful[r][c] ? x.base[r] + 1 + myr_rng_below(&rng, 2)
                                               : myr_rng_below(&rng, x.base[r] + 1);
                for (uint32_t i = 0; i < have; i++) {
                    plug(&m, r, x.rows + c);
                }
            }
        }
        uint32_t most = most_kept(&x, 0, load);
        assert_true(most > 0);
        grow_spread(&m.grow, links, count);
        for (uint32_t i = 0; i < count; i++) {
            now[links[i].a][links[i].b - x.rows]++;
        }
        uint32_t low = UINT32_MAX, high = 0;
        for (uint32_t c = 0; c < x.cols; c++) {
            uint32_t column = 0;
            for (uint32_t r = 0; r < x.rows; r++) {
                uint32_t extra = now[r][c] - x.base[r];
                assert_true(extra <= 1);
                column += extra;
                kept += extra && x.useful[r][c];
            }
            low = column < low ? column : low;
            high = column > high ? column : high;
        }
        /* Where all are even there is nothing to choose. */
        if (uneven) {
            assert_true(high - low <= 1);
            assert_int_equal(kept + 1, most);
            chosen++;
        }
        assert_int_equal(m.grow.loose_keep, 0);
        myr_arena_done(&m.arena);
    }
    assert_true(chosen > ROUNDS / 2);
}

enum { FABRICS = 4, LINKS_MAX = FABRICS * SIDE_MAX * SIDE_MAX * 3 };

/* Planned and installed links of a fabric whose first row is 'first'; returns how many. A ring has
 * no link between most of its rows and columns. */
static uint32_t plug_fabric(struct myr_rng *rng, struct made *m, uint32_t first, bool ring,
                            struct grow_link *ret)
{
    struct matrix x;
    uint32_t count = 0;
    draw(rng, &x);
    for (uint32_t r = 0; r < x.rows; r++) {
        for (uint32_t c = 0; c < x.cols; c++) {
            uint32_t wanted = ring ? (r + c) % 2 : x.base[r] + (c < x.extras[r]);
            for (uint32_t i = 0; i < wanted; i++) {
                ret[count++] = (struct grow_link){first + r, first + SIDE_MAX + c, MYR_NONE,
                                                  MYR_NONE, MYR_NONE};
            }
            for (uint32_t i = 0; i < x.base[r] + x.useful[r][c]; i++) {
                plug(m, first + r, first + SIDE_MAX + c);
            }
        }
    }
    return count;
}

/* Pods of one layer have nothing to do with each other: together they are spread as alone, however
 * their links lie among each other. What is not spread evenly stays as planned. */
static void fabrics_side_by_side_are_spread_each_by_itself(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint32_t moved = 0;
    myr_rng_init(&rng, SEED, 1);
    for (uint32_t round = 0; round < ROUNDS / 4; round++) {
        struct made m;
        struct grow_link alone[FABRICS][LINKS_MAX / FABRICS], all[LINKS_MAX];
        uint32_t counts[FABRICS], at[FABRICS] = {}, count = 0;
        make(&m, FABRICS * 2 * SIDE_MAX, PORTS, LINKS_MAX);
        for (uint32_t f = 0; f < FABRICS; f++) {
            counts[f] = plug_fabric(&rng, &m, f * 2 * SIDE_MAX, f == 2, alone[f]);
        }
        /* In turn, and what is longer goes on. */
        for (uint32_t i = 0; i < LINKS_MAX / FABRICS; i++) {
            for (uint32_t f = 0; f < FABRICS; f++) {
                if (i < counts[f]) {
                    all[count++] = alone[f][i];
                }
            }
        }
        for (uint32_t f = 0; f < FABRICS; f++) {
            grow_spread(&m.grow, alone[f], counts[f]);
        }
        struct grow_link planned[LINKS_MAX];
        memcpy(planned, all, sizeof(*all) * count);
        grow_spread(&m.grow, all, count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t f = all[i].a / (2 * SIDE_MAX);
            assert_int_equal(all[i].a, planned[i].a);
            assert_int_equal(all[i].b, alone[f][at[f]++].b);
            assert_true(f != 2 || all[i].b == planned[i].b);
            moved += all[i].b != planned[i].b;
        }
        myr_arena_done(&m.arena);
    }
    assert_true(moved > ROUNDS);
}

/* ---- pods ---- */

enum { SPINES = 750, LEAVES = 1500 };

/* Three pods of two spines and four leaves become one: places are as before. One spine whose leaf
 * lies in another pod takes that place, and who wanted it the first that is free. */
static void many_spines_keep_their_order(void **state)
{
    (void)state;
    for (uint32_t strange = 0; strange < 2; strange++) {
        struct made m;
        make(&m, SPINES + LEAVES, 4, SPINES);
        struct myr_design plan = m.design;
        struct myr_network networks[MYR_NET_COUNT] = {};
        plan.networks = networks;
        m.grow.plan = &plan;
        m.networks[MYR_NET_COMPUTE] = (struct myr_network){.planes = 1,
                                                           .units = 1,
                                                           .leaf = LEAVES,
                                                           .first_leaf = SPINES,
                                                           .spine = SPINES,
                                                           .pods = SPINES / 2,
                                                           .pod_leaves = 4,
                                                           .pod_spines = 2,
                                                           .leaf_up = 2};
        networks[MYR_NET_COMPUTE] = m.networks[MYR_NET_COMPUTE];
        networks[MYR_NET_COMPUTE].pods = SPINES / 6;
        networks[MYR_NET_COMPUTE].pod_leaves = 12;
        networks[MYR_NET_COMPUTE].pod_spines = 6;
        for (uint32_t s = 0; s < SPINES; s++) {
            uint32_t pod = strange && s == 5 ? 21 : s / 2;
            plug(&m, SPINES + pod * 4, s);
            m.grow.to[s] = m.grow.from[s] = MYR_NONE;
        }
        grow_recut(&m.grow, MYR_NET_COMPUTE, 0);
        for (uint32_t s = 0; s < SPINES; s++) {
            uint32_t place = strange && s == 5 ? 47 : strange && s == 47 ? 5 : s;
            assert_int_equal(m.grow.to[s], place);
            assert_int_equal(m.grow.from[place], s);
        }
        assert_true(m.grow.recut[MYR_NET_COMPUTE]);
        assert_int_equal(m.grow.keep_most[MYR_NET_COMPUTE], SPINES);
        myr_arena_done(&m.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_spread_keeps_more),
        cmocka_unit_test(fabrics_side_by_side_are_spread_each_by_itself),
        cmocka_unit_test(many_spines_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
