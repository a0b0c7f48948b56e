#include "myriad/sched/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct myr_arena arena;

static int set_up(void **state)
{
    (void)state;
    myr_arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    myr_arena_done(&arena);
    return 0;
}

static struct myr_job_traffic traffic_of(struct myr_layout layout)
{
    struct myr_job_traffic traffic;
    struct myr_err err = {};
    assert_int_equal(myr_job_traffic_of(&layout, NULL, 8, &arena, &traffic, &err), MYR_OK);
    return traffic;
}

static struct myr_layout layout_of(uint32_t tp, uint32_t dp, uint32_t pp)
{
    struct myr_layout layout = myr_layout_default();
    layout.tp = tp;
    layout.dp = dp;
    layout.pp = pp;
    return layout;
}

static const struct myr_traffic_family *family_of(const struct myr_job_traffic *t,
                                                  enum myr_members members)
{
    for (uint32_t i = 0; i < t->family_count; i++) {
        if (t->families[i].members == members) {
            return &t->families[i];
        }
    }
    fail_msg("no family of that kind");
    return NULL;
}

static void digits_say_who_is_in_a_group(void **state)
{
    (void)state;
    struct myr_job_traffic t = traffic_of(layout_of(8, 4, 3));
    assert_int_equal(t.cells, 12);
    assert_int_equal(t.digit_count, 2);
    assert_int_equal(t.digits[0], 4);
    assert_int_equal(t.digits[1], 3);
    assert_int_equal(t.family_count, 2);
    const struct myr_traffic_family *data = family_of(&t, MYR_MEMBERS_ALL);
    assert_int_equal(data->digit_bits, 1);
    assert_int_equal(data->group_size, 4);
    assert_int_equal(data->group_count, 3);
    const struct myr_traffic_family *stages = family_of(&t, MYR_MEMBERS_NEIGHBOURS);
    assert_int_equal(stages->digit_bits, 2);
    assert_int_equal(stages->group_size, 2);
    assert_int_equal(stages->group_count, 8);
    assert_int_equal(stages->offsets[1], 4);
    /* 96 ranks: 64 bytes each stay in the node, 4 of data and 1 of the pipeline leave it. */
    assert_true(t.inside_bytes == 96 * 64);
    assert_true(t.between_bytes == 96 * 5);
    assert_true(data->bytes == 96 * 4 / 3.0 && stages->bytes == 96 / 8.0);
}

static void several_chunks_a_stage_close_the_ring(void **state)
{
    (void)state;
    struct myr_layout layout = layout_of(8, 2, 4);
    layout.vp = 2;
    struct myr_job_traffic t = traffic_of(layout);
    const struct myr_traffic_family *ends = family_of(&t, MYR_MEMBERS_ENDS);
    assert_int_equal(ends->group_count, 2);
    assert_int_equal(ends->offsets[1], 6);
    assert_int_equal(ends->digit_bits, 2);
    const struct myr_traffic_family *stages = family_of(&t, MYR_MEMBERS_NEIGHBOURS);
    assert_int_equal(stages->group_count, 6);
    assert_true(stages->bytes == ends->bytes); /* every pair sends the same */
}

static void groups_that_a_node_cuts_through_are_one_with_their_neighbours(void **state)
{
    (void)state;
    struct myr_layout layout = layout_of(6, 4, 3);
    struct myr_job_traffic t;
    struct myr_err err = {};
    /* Of 72 ranks on 18 nodes of 4: 12 ranks, 3 nodes, hold two whole groups of 6. */
    assert_int_equal(myr_job_traffic_of(&layout, NULL, 4, &arena, &t, &err), MYR_OK);
    assert_int_equal(t.cells, 18);
    assert_int_equal(t.family_count, 3);
    assert_int_equal(t.families[0].group_size, 3);
    assert_int_equal(t.families[0].group_count, 6);
    assert_true(t.families[0].bytes == 72 * 64 / 6.0);
    assert_true(t.inside_bytes == 0 && t.between_bytes == 72 * (64 + 4 + 1));
    /* Stages are 24 ranks, 6 nodes, which nothing cuts: still pairs of neighbours. */
    const struct myr_traffic_family *stages = family_of(&t, MYR_MEMBERS_NEIGHBOURS);
    assert_int_equal(stages->offsets[1], 6);
    assert_int_equal(stages->group_count, 12);
    layout = layout_of(3, 3, 1);
    assert_true(myr_job_traffic_of(&layout, NULL, 8, &arena, &t, &err) < 0);
    assert_string_equal(err.message, "9 ranks cannot fill nodes of 8 GPUs");
    layout = layout_of(1, 1, 1);
    assert_true(myr_job_traffic_of(&layout, NULL, 8, &arena, &t, &err) < 0);
    assert_string_equal(err.message, "1 rank cannot fill nodes of 8 GPUs");
}

static bool has_both(const struct myr_traffic_family *f, uint32_t group, uint32_t a, uint32_t b)
{
    bool has_a = false, has_b = false;
    for (uint32_t m = 0; m < f->group_size; m++) {
        has_a = has_a || f->firsts[group] + f->offsets[m] == a;
        has_b = has_b || f->firsts[group] + f->offsets[m] == b;
    }
    return has_a && has_b;
}

static bool some_group_has_both(const struct myr_job_traffic *t, uint32_t a, uint32_t b)
{
    for (uint32_t f = 0; f < t->family_count; f++) {
        for (uint32_t g = 0; g < t->families[f].group_count; g++) {
            if (has_both(&t->families[f], g, a, b)) {
                return true;
            }
        }
    }
    return a == b;
}

static void expect_talkers_together(const struct myr_layout *l, const struct myr_job_traffic *t,
                                    uint32_t per, uint64_t seed)
{
    uint32_t ranks = l->tp * l->dp * l->pp * l->cp;
    for (uint32_t a = 0; a < ranks; a++) {
        struct myr_coords x = myr_layout_coords(l, a);
        for (uint32_t b = a + 1; b < ranks; b++) {
            struct myr_coords y = myr_layout_coords(l, b);
            uint32_t differ = (x.tp != y.tp) + (x.cp != y.cp || x.dp != y.dp) + (x.pp != y.pp);
            bool talk = differ == 1 && (x.pp == y.pp || x.pp + 1 == y.pp || y.pp + 1 == x.pp);
            if (talk && !some_group_has_both(t, a / per, b / per)) {
                fail_msg("seed %llu: tp %u cp %u dp %u pp %u on %u: ranks %u and %u",
                         (unsigned long long)seed, l->tp, l->cp, l->dp, l->pp, per, a, b);
            }
        }
    }
}

/* Whatever the layout and the node: who talks is together in a group, and no byte is lost. */
static void ranks_that_talk_have_their_nodes_in_one_group(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint64_t seed = 23;
    uint32_t drawn = 0;
    myr_rng_init(&rng, seed, 0);
    while (drawn < 300) {
        struct myr_layout l = layout_of(1 + myr_rng_below(&rng, 9), 1 + myr_rng_below(&rng, 6),
                                        1 + myr_rng_below(&rng, 4));
        uint32_t per = 1 + myr_rng_below(&rng, 9), cp = 1 + myr_rng_below(&rng, 3);
        uint32_t ranks = l.tp * l.dp * l.pp * cp;
        l.cp = cp;
        if (ranks % per != 0) {
            continue;
        }
        struct myr_job_traffic t;
        drawn++;
        assert_int_equal(myr_job_traffic_of(&l, NULL, per, &arena, &t, NULL), MYR_OK);
        double sent = ranks * ((l.tp > 1 ? 64.0 : 0) + (cp > 1 ? 16.0 : 0) +
                               (l.dp * cp > 1 ? 4.0 : 0) + (l.pp > 1 ? 1.0 : 0));
        double told = t.inside_bytes + t.between_bytes, counted = t.inside_bytes;
        for (uint32_t f = 0; f < t.family_count; f++) {
            counted += t.families[f].bytes * t.families[f].group_count;
        }
        assert_true(told > sent * 0.999999 && told < sent * 1.000001);
        assert_true(counted > sent * 0.999999 && counted < sent * 1.000001);
        expect_talkers_together(&l, &t, per, seed);
    }
}

/* Without a model axes weigh 64, 16, 8, 4 and 1 for each rank, wherever their groups lie. */
static void without_a_model_axes_have_fixed_weights(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 4};
    for (uint32_t number = 0; number < 243; number++) {
        struct myr_layout layout =
            layout_of(sizes[number % 3] * 2, sizes[number / 3 % 3] * 4, sizes[number / 9 % 3]);
        layout.cp = sizes[number / 27 % 3];
        layout.ep = sizes[number / 81];
        struct myr_job_traffic t = traffic_of(layout);
        uint32_t ranks = layout.tp * layout.dp * layout.pp * layout.cp;
        uint32_t each =
            64 + (layout.cp > 1 ? 16 : 0) + (layout.ep > 1 ? 8 : 0) + 4 + (layout.pp > 1 ? 1 : 0);
        double told = t.inside_bytes + t.between_bytes, wanted = (double)ranks * each;
        if (told < wanted * 0.999999 || told > wanted * 1.000001) {
            fail_msg("tp %u dp %u pp %u cp %u ep %u: %g, not %g", layout.tp, layout.dp, layout.pp,
                     layout.cp, layout.ep, told, wanted);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_say_who_is_in_a_group),
        cmocka_unit_test(several_chunks_a_stage_close_the_ring),
        cmocka_unit_test(groups_that_a_node_cuts_through_are_one_with_their_neighbours),
        cmocka_unit_test(ranks_that_talk_have_their_nodes_in_one_group),
        cmocka_unit_test(without_a_model_axes_have_fixed_weights),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
