#include "myriad/sched/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/replay.h"

enum { NODES = 48, GPUS = 8, GROUP = 4, POD = 16, GANGS = 200 };

static const struct myr_place_shape shape = {NODES, GPUS, GROUP, POD};

static struct myr_gang new_gang(void)
{
    return (struct myr_gang){0, myr_xcalloc(NODES, sizeof(struct myr_share))};
}

static void a_gang_goes_to_the_fullest_group_that_holds_it(void **state)
{
    (void)state;
    struct myr_placer *placer = myr_placer_create(&shape);
    struct myr_gang one = new_gang(), two = new_gang(), three = new_gang();
    assert_true(myr_place(placer, 3 * GPUS, &one));
    assert_true(myr_place(placer, 1 * GPUS, &two));
    /* The single node fills the group that the three left one node of. */
    assert_int_equal(two.shares[0].node / GROUP, one.shares[0].node / GROUP);
    assert_true(myr_place(placer, 4 * GPUS, &three));
    assert_int_equal(myr_gang_groups(placer, &three), 1);
    myr_release(placer, &one);
    myr_release(placer, &two);
    myr_release(placer, &three);
    assert_int_equal(myr_placer_free_nodes(placer), NODES);
    free(one.shares);
    free(two.shares);
    free(three.shares);
    myr_placer_free(placer);
}

static void small_jobs_share_nodes_before_opening_new_ones(void **state)
{
    (void)state;
    struct myr_placer *placer = myr_placer_create(&shape);
    struct myr_gang gangs[4];
    for (uint32_t i = 0; i < 4; i++) {
        gangs[i] = new_gang();
        assert_true(myr_place(placer, 2, &gangs[i]));
        assert_int_equal(gangs[i].shares[0].node, gangs[0].shares[0].node);
    }
    assert_int_equal(myr_placer_free_nodes(placer), NODES - 1);
    for (uint32_t i = 0; i < 4; i++) {
        free(gangs[i].shares);
    }
    myr_placer_free(placer);
}

static void closed_nodes_are_not_used(void **state)
{
    (void)state;
    struct myr_placer *placer = myr_placer_create(&shape);
    struct myr_gang all = new_gang();
    myr_placer_set_node(placer, 7, false);
    myr_placer_hold(placer, 8, true);
    assert_false(myr_place(placer, NODES * GPUS, &all));
    assert_true(myr_place(placer, (NODES - 2) * GPUS, &all));
    for (uint32_t i = 0; i < all.count; i++) {
        assert_true(all.shares[i].node != 7 && all.shares[i].node != 8);
    }
    free(all.shares);
    myr_placer_free(placer);
}

/* Against plain arrays: nobody holds a GPU twice, gangs are whole or nothing, fits says the truth.
 */
static void random_gangs_agree_with_a_naive_model(void **state)
{
    (void)state;
    struct myr_rng rng;
    struct myr_placer *placer = myr_placer_create(&shape);
    struct myr_gang gangs[GANGS] = {};
    uint32_t sizes[GANGS] = {};
    uint64_t taken[NODES] = {};
    myr_rng_init(&rng, 11, 0);
    for (uint32_t step = 0; step < 20000; step++) {
        uint32_t i = myr_rng_below(&rng, GANGS);
        if (sizes[i]) {
            for (uint32_t k = 0; k < gangs[i].count; k++) {
                taken[gangs[i].shares[k].node] &= ~gangs[i].shares[k].gpus;
            }
            myr_release(placer, &gangs[i]);
            free(gangs[i].shares);
            sizes[i] = 0;
            continue;
        }
        uint32_t gpus = 1 + myr_rng_below(&rng, myr_rng_below(&rng, 2) ? 8 : 100), held = 0;
        uint32_t whole = 0, rest = gpus % GPUS, best = 0;
        for (uint32_t n = 0; n < NODES; n++) {
            uint32_t left = GPUS - (uint32_t)__builtin_popcountll(taken[n]);
            whole += left == GPUS;
            best = left < GPUS && left > best ? left : best;
        }
        bool fits = whole > gpus / GPUS || (whole == gpus / GPUS && (rest == 0 || best >= rest));
        gangs[i] = new_gang();
        assert_int_equal(myr_place_fits(placer, gpus), fits);
        assert_int_equal(myr_place(placer, gpus, &gangs[i]), fits);
        for (uint32_t k = 0; k < gangs[i].count; k++) {
            const struct myr_share *share = &gangs[i].shares[k];
            assert_int_equal(taken[share->node] & share->gpus, 0);
            taken[share->node] |= share->gpus;
            held += (uint32_t)__builtin_popcountll(share->gpus);
        }
        assert_int_equal(held, fits ? gpus : 0);
        sizes[i] = fits ? gpus : 0;
        if (!fits) {
            free(gangs[i].shares);
        }
    }
    for (uint32_t i = 0; i < GANGS; i++) {
        if (sizes[i]) {
            free(gangs[i].shares);
        }
    }
    myr_placer_free(placer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_goes_to_the_fullest_group_that_holds_it),
        cmocka_unit_test(small_jobs_share_nodes_before_opening_new_ones),
        cmocka_unit_test(closed_nodes_are_not_used),
        cmocka_unit_test(random_gangs_agree_with_a_naive_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
