#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/base/rng.h"

#include "blame.h"

#define STEP_NS 1000000000ll

/* About a normal distribution, of 'spread_ns'. */
static int64_t noise(struct myr_rng *rng, int64_t spread_ns)
{
    int64_t sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += (int64_t)myr_rng_below(rng, 2001) - 1000;
    }
    return sum * spread_ns / 2000;
}

/* One step of 'members' that each take about STEP_NS from the moment that all have come. */
static int64_t make_step(struct ccl_blame *blame, struct myr_rng *rng, int64_t now,
                         uint32_t members, int64_t spread_ns, uint32_t slow, int64_t slow_by_ns)
{
    struct ccl_arrivals arrivals = {0};
    for (uint32_t i = 0; i < members; i++) {
        int64_t took = STEP_NS + noise(rng, spread_ns) + (i == slow ? slow_by_ns : 0);
        ccl_arrivals_add(&arrivals, i, now + took);
    }
    ccl_blame_note(blame, &arrivals);
    return arrivals.last_ns;
}

static void a_member_slow_by_a_tenth_is_named_within_three_calls(void **state)
{
    (void)state;
    uint32_t named = 0, right = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 4);
        struct ccl_blame blame = {0};
        uint32_t members = seed % 2 ? 8 : 32, slow = myr_rng_below(&rng, members);
        int64_t now = 1;
        for (int call = 0; call < 20; call++) {
            now = make_step(&blame, &rng, now, members, STEP_NS / 100, 0, 0);
        }
        for (int call = 0; call < 3; call++) {
            now = make_step(&blame, &rng, now, members, STEP_NS / 100, slow, STEP_NS / 10);
        }
        uint32_t rank = members;
        named += ccl_blame_named(&blame, &rank);
        right += rank == slow;
    }
    print_message("named in %u of 1000, rightly in %u\n", named, right);
    assert_true(right >= 990);
    assert_int_equal(named, right);
}

static void nobody_is_named_for_noise_in_ten_days_of_steps(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 45, 5);
    struct ccl_blame blame = {0};
    int64_t now = 1;
    uint32_t names = 0, rank;
    for (int call = 0; call < 864000; call++) {
        now = make_step(&blame, &rng, now, 8, STEP_NS / 100, 0, 0);
        names += ccl_blame_named(&blame, &rank);
    }
    assert_true(names < 10);
}

static void who_is_no_longer_last_is_no_longer_named(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 45, 6);
    struct ccl_blame blame = {0};
    int64_t now = 1;
    uint32_t rank = 9;
    for (int call = 0; call < 5; call++) {
        assert_int_equal(ccl_blame_named(&blame, &rank), call >= 4);
        now = make_step(&blame, &rng, now, 4, 0, 2, STEP_NS / 5);
    }
    assert_true(ccl_blame_named(&blame, &rank));
    assert_int_equal(rank, 2);
    now = make_step(&blame, &rng, now, 4, 0, 3, STEP_NS / 5);
    assert_false(ccl_blame_named(&blame, &rank));
    now = make_step(&blame, &rng, now, 4, 0, 0, 0);
    assert_false(ccl_blame_named(&blame, &rank));
    now = make_step(&blame, &rng, now, 1, 0, 0, STEP_NS); /* alone: nobody to wait for */
    assert_false(ccl_blame_named(&blame, &rank));
    struct ccl_arrivals arrivals = {0};
    ccl_arrivals_add(&arrivals, 0, now + 2 * STEP_NS);
    ccl_arrivals_add(&arrivals, 1, now + STEP_NS);
    for (int pass = 0; pass < 5; pass++) { /* of one call */
        ccl_blame_note(&blame, &arrivals);
    }
    assert_false(ccl_blame_named(&blame, &rank));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_slow_by_a_tenth_is_named_within_three_calls),
        cmocka_unit_test(nobody_is_named_for_noise_in_ten_days_of_steps),
        cmocka_unit_test(who_is_no_longer_last_is_no_longer_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
