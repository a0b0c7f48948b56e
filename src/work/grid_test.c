#include "myriad/work/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "work_test.h"

enum { LAYOUTS = 400, AXES = MYR_AXIS_WORLD + 1 };

/* The naive model: nested loops over the order, slowest axis outermost, ranks handed out in turn.
 */
static void enumerate(const struct myr_layout *layout, struct myr_coords *ret)
{
    uint32_t sizes[MYR_LAYOUT_ORDER_COUNT];
    for (uint32_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        const uint32_t size_of[] = {layout->tp, layout->cp, layout->dp, layout->pp, 1};
        sizes[i] = size_of[layout->order[i]];
    }
    uint32_t index[MYR_LAYOUT_ORDER_COUNT] = {};
    for (uint32_t rank = 0; rank < myr_layout_gpus(layout); rank++) {
        uint32_t at[MYR_AXIS_EP + 1] = {};
        for (uint32_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
            at[layout->order[i]] = index[i];
        }
        ret[rank] = (struct myr_coords){.tp = at[MYR_AXIS_TP],
                                        .cp = at[MYR_AXIS_CP],
                                        .dp = at[MYR_AXIS_DP],
                                        .pp = at[MYR_AXIS_PP]};
        for (uint32_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
            if (++index[i] < sizes[i]) {
                break;
            }
            index[i] = 0;
        }
    }
}

/* The rank's place in the grid of the experts, a number of its own. */
static uint32_t expert_number(const struct myr_layout *layout, const struct myr_coords *c)
{
    MYR_ASSERT(c->etp < myr_layout_etp(layout) && c->ep < layout->ep);
    MYR_ASSERT(c->edp < myr_layout_edp(layout));
    uint32_t outer = c->pp * myr_layout_edp(layout) + c->edp;
    return (outer * layout->ep + c->ep) * myr_layout_etp(layout) + c->etp;
}

static void check_coordinates(const struct myr_layout *layout, uint64_t seed)
{
    uint32_t gpus = (uint32_t)myr_layout_gpus(layout);
    struct myr_arena arena = {};
    struct myr_coords *naive = MYR_ARENA_NEW(&arena, struct myr_coords, gpus);
    uint8_t *seen = MYR_ARENA_NEW(&arena, uint8_t, gpus);
    enumerate(layout, naive);
    for (uint32_t rank = 0; rank < gpus; rank++) {
        struct myr_coords c = myr_layout_coords(layout, rank);
        bool same = c.tp == naive[rank].tp && c.cp == naive[rank].cp && c.dp == naive[rank].dp &&
                    c.pp == naive[rank].pp;
        uint8_t *place = &seen[expert_number(layout, &c)];
        if (!same || *place || myr_layout_rank(layout, &c) != rank) {
            fail_msg("seed %llu, rank %u", (unsigned long long)seed, rank);
        }
        *place = 1;
    }
    myr_arena_done(&arena);
}

static void rank_and_coordinates_are_inverse_for_any_layout(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < LAYOUTS; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 1);
        struct myr_model model = test_divisible_model(seed % 2);
        struct myr_layout layout = test_legal_layout(&rng, &model);
        check_coordinates(&layout, seed);
    }
}

/* Which group a rank is in, from its coordinates alone; 'size' is the group's. */
struct expectation {
    uint64_t key;
    uint32_t size;
};

static struct expectation expect(const struct myr_layout *l, enum myr_axis axis,
                                 const struct myr_coords *c)
{
    bool cp_first = false; /* of dp and cp, the faster */
    for (uint32_t i = 0; i < MYR_LAYOUT_ORDER_COUNT && l->order[i] != MYR_AXIS_DP; i++) {
        cp_first |= l->order[i] == MYR_AXIS_CP;
    }
    uint32_t etp = myr_layout_etp(l);
    uint32_t edp = myr_layout_edp(l);
    uint32_t shard = myr_layout_shard(l);
    uint32_t expert_shard = myr_layout_expert_shard(l);
    uint64_t copy = cp_first ? c->cp + c->dp * l->cp : c->dp + c->cp * l->dp;
    uint64_t mirror = c->pp < l->pp - 1 - c->pp ? c->pp : l->pp - 1 - c->pp;
#define KEY(a, b, d) (((uint64_t)(a)*1000 + (b)) * 1000 + (d))
    switch (axis) {
    case MYR_AXIS_TP:
        return (struct expectation){KEY(c->cp, c->dp, c->pp), l->tp};
    case MYR_AXIS_CP:
        return (struct expectation){KEY(c->tp, c->dp, c->pp), l->cp};
    case MYR_AXIS_DP:
        return (struct expectation){KEY(c->tp, c->cp, c->pp), l->dp};
    case MYR_AXIS_PP:
        return (struct expectation){KEY(c->tp, c->cp, c->dp), l->pp};
    case MYR_AXIS_EP:
        return (struct expectation){KEY(c->etp, c->edp, c->pp), l->ep};
    case MYR_AXIS_ETP:
        return (struct expectation){KEY(c->ep, c->edp, c->pp), etp};
    case MYR_AXIS_EDP:
        return (struct expectation){KEY(c->etp, c->ep, c->pp), edp};
    case MYR_AXIS_DP_CP:
        return (struct expectation){KEY(c->tp, c->pp, 0), l->dp * l->cp};
    case MYR_AXIS_TP_PP:
        return (struct expectation){KEY(c->cp, c->dp, 0), l->tp * l->pp};
    case MYR_AXIS_SHARD:
        return (struct expectation){KEY(c->tp, c->pp, copy / shard), shard};
    case MYR_AXIS_REPLICA:
        return (struct expectation){KEY(c->tp, c->pp, copy % shard), l->dp * l->cp / shard};
    case MYR_AXIS_EXPERT_SHARD:
        return (struct expectation){KEY(c->etp * 1000 + c->ep, c->pp, c->edp / expert_shard),
                                    expert_shard};
    case MYR_AXIS_EXPERT_REPLICA:
        return (struct expectation){KEY(c->etp * 1000 + c->ep, c->pp, c->edp % expert_shard),
                                    edp / expert_shard};
    case MYR_AXIS_EMBEDDING:
        return (struct expectation){KEY(c->tp, c->cp, c->dp), mirror > 0 ? 0 : (l->pp > 1 ? 2 : 1)};
    case MYR_AXIS_MIRROR:
        return (struct expectation){KEY(c->tp * 1000 + mirror, c->cp, c->dp), l->pp > 1 ? 2 : 1};
    case MYR_AXIS_WORLD:
        break;
    }
#undef KEY
    return (struct expectation){0, (uint32_t)myr_layout_gpus(l)};
}

/* Every rank of an axis: in the group it belongs to, at the place where the group says it is. */
static void check_axis(const struct myr_layout *layout, enum myr_axis axis, uint64_t seed)
{
    struct myr_groups groups;
    myr_groups_init(&groups, layout, axis);
    uint32_t gpus = (uint32_t)myr_layout_gpus(layout);
    uint32_t placed = 0;
    for (uint32_t rank = 0; rank < gpus; rank++) {
        struct myr_coords c = myr_layout_coords(layout, rank);
        struct expectation expected = expect(layout, axis, &c);
        struct myr_group_place place;
        bool in = myr_groups_place(&groups, rank, &place);
        bool ok = in == (expected.size > 0);
        if (ok && in) {
            placed++;
            ok = groups.group_size == expected.size &&
                 myr_groups_member(&groups, place.group, place.member) == rank;
            /* All members agree on the key, and the first is the lowest. */
            uint32_t first = myr_groups_member(&groups, place.group, 0);
            struct myr_coords f = myr_layout_coords(layout, first);
            ok = ok && first <= rank && expect(layout, axis, &f).key == expected.key;
        }
        if (!ok) {
            fail_msg("seed %llu: axis %s, rank %u", (unsigned long long)seed, myr_axis_name(axis),
                     rank);
        }
    }
    assert_int_equal(placed, groups.group_count * groups.group_size);
}

static void groups_of_every_axis_partition_the_ranks(void **state)
{
    (void)state;
    uint32_t hybrid = 0;
    uint32_t expert_grids = 0;
    uint32_t inner_stages = 0;
    for (uint64_t seed = 0; seed < LAYOUTS; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 2);
        struct myr_model model = test_divisible_model(seed % 2);
        struct myr_layout layout = test_legal_layout(&rng, &model);
        hybrid += layout.shard > 0 && layout.shard < layout.dp * layout.cp;
        expert_grids += layout.ep > 1;
        inner_stages += layout.pp > 1 && layout.order[4] != MYR_AXIS_PP;
        for (uint32_t axis = 0; axis < AXES; axis++) {
            if (axis != MYR_AXIS_MIRROR || layout.pp == 1 || layout.pp % 2 == 0) {
                check_axis(&layout, (enum myr_axis)axis, seed);
            }
        }
    }
    /* The generator does reach the interesting ones. */
    assert_true(hybrid > 20 && expert_grids > 20 && inner_stages > 20);
}

static void assert_group(const struct myr_layout *layout, enum myr_axis axis, uint32_t group,
                         const uint32_t *members, uint32_t count)
{
    struct myr_groups groups;
    myr_groups_init(&groups, layout, axis);
    assert_int_equal(groups.group_size, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(myr_groups_member(&groups, group, i), members[i]);
    }
}

#define ASSERT_GROUP(layout, axis, group, ...)                              \
    do {                                                                    \
        static const uint32_t wanted[] = {__VA_ARGS__};                     \
        assert_group(layout, axis, group, wanted, MYR_ARRAY_COUNT(wanted)); \
    } while (0)

/* The example in the comments of Megatron's parallel_state: 16 GPUs, tp 2, pp 4. */
static void the_default_order_gives_megatrons_groups(void **state)
{
    (void)state;
    struct myr_layout layout = myr_layout_default();
    layout.tp = 2;
    layout.pp = 4;
    layout.dp = 2;
    ASSERT_GROUP(&layout, MYR_AXIS_DP, 0, 0, 2);
    ASSERT_GROUP(&layout, MYR_AXIS_DP, 1, 1, 3);
    ASSERT_GROUP(&layout, MYR_AXIS_DP, 2, 4, 6);
    ASSERT_GROUP(&layout, MYR_AXIS_DP, 7, 13, 15);
    ASSERT_GROUP(&layout, MYR_AXIS_TP, 0, 0, 1);
    ASSERT_GROUP(&layout, MYR_AXIS_TP, 7, 14, 15);
    ASSERT_GROUP(&layout, MYR_AXIS_PP, 0, 0, 4, 8, 12);
    ASSERT_GROUP(&layout, MYR_AXIS_PP, 3, 3, 7, 11, 15);
    ASSERT_GROUP(&layout, MYR_AXIS_EMBEDDING, 0, 0, 12);
    ASSERT_GROUP(&layout, MYR_AXIS_EMBEDDING, 3, 3, 15);
    ASSERT_GROUP(&layout, MYR_AXIS_MIRROR, 5, 5, 9);
}

static void experts_see_their_own_grid(void **state)
{
    (void)state;
    /* 16 ranks: tp 2, dp 8; experts without tensor cut, 4 ways: ep runs over neighbours. */
    struct myr_layout layout = myr_layout_default();
    layout.tp = 2;
    layout.dp = 8;
    layout.ep = 4;
    layout.etp = 1;
    ASSERT_GROUP(&layout, MYR_AXIS_EP, 0, 0, 1, 2, 3);
    ASSERT_GROUP(&layout, MYR_AXIS_EP, 3, 12, 13, 14, 15);
    ASSERT_GROUP(&layout, MYR_AXIS_EDP, 1, 1, 5, 9, 13);
    ASSERT_GROUP(&layout, MYR_AXIS_ETP, 5, 5);
    /* Cut as everything else: every second rank. */
    layout.etp = 0;
    ASSERT_GROUP(&layout, MYR_AXIS_EP, 0, 0, 2, 4, 6);
    ASSERT_GROUP(&layout, MYR_AXIS_EDP, 0, 0, 8);
    ASSERT_GROUP(&layout, MYR_AXIS_ETP, 1, 2, 3);
}

static void hybrid_sharding_cuts_inside_and_repeats_outside(void **state)
{
    (void)state;
    struct myr_layout layout = myr_layout_default();
    layout.cp = 2;
    layout.dp = 8;
    layout.zero = 3;
    layout.shard = 8;
    ASSERT_GROUP(&layout, MYR_AXIS_SHARD, 0, 0, 1, 2, 3, 4, 5, 6, 7);
    ASSERT_GROUP(&layout, MYR_AXIS_REPLICA, 3, 3, 11);
    layout.order[0] = MYR_AXIS_DP;
    layout.order[3] = MYR_AXIS_TP; /* dp-cp-ep-tp-pp: now dp is the faster */
    layout.shard = 4;
    ASSERT_GROUP(&layout, MYR_AXIS_SHARD, 1, 4, 5, 6, 7);
    ASSERT_GROUP(&layout, MYR_AXIS_REPLICA, 0, 0, 4, 8, 12);
}

static void a_hundred_thousand_ranks_need_no_tables(void **state)
{
    (void)state;
    struct myr_layout layout = myr_layout_default();
    layout.tp = 8;
    layout.cp = 2;
    layout.pp = 16;
    layout.dp = 392;
    layout.ep = 28;
    layout.etp = 1;
    assert_int_equal(myr_layout_gpus(&layout), 100352);
    for (uint32_t axis = 0; axis < AXES; axis++) {
        struct myr_groups groups;
        myr_groups_init(&groups, &layout, (enum myr_axis)axis);
        uint64_t sum = 0;
        for (uint32_t group = 0; group < groups.group_count; group++) {
            for (uint32_t member = 0; member < groups.group_size; member++) {
                sum += myr_groups_member(&groups, group, member);
            }
        }
        uint64_t stage_ranks = 6272;
        uint64_t all = UINT64_C(100352) * 100351 / 2;
        uint64_t outer = stage_ranks * (stage_ranks - 1) + 15 * stage_ranks * stage_ranks;
        assert_int_equal(sum, axis == MYR_AXIS_EMBEDDING ? outer : all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_and_coordinates_are_inverse_for_any_layout),
        cmocka_unit_test(groups_of_every_axis_partition_the_ranks),
        cmocka_unit_test(the_default_order_gives_megatrons_groups),
        cmocka_unit_test(experts_see_their_own_grid),
        cmocka_unit_test(hybrid_sharding_cuts_inside_and_repeats_outside),
        cmocka_unit_test(a_hundred_thousand_ranks_need_no_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
