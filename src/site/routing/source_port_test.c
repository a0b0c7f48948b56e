#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "myriad/site.h"

/*
 * Measured on Linux 6.18: four equal next hops, fib_multipath_hash_policy 1, seed 1000, UDP from
 * 10.0.0.1 to 10.0.0.19 port 4791; the uplink that the packets of each source port left by.
 */
static void linux_next_hops_are_those_that_the_kernel_took(void **state)
{
    (void)state;
    static const uint8_t taken[] = {2, 3, 2, 2, 2, 0, 0, 3, 3, 1, 2, 1,
                                    3, 2, 2, 3, 0, 3, 3, 1, 0, 0, 0, 0};
    struct myr_tuple tuple = {
        .from = 0x0a000001, .to = 0x0a000013, .destination = 4791, .protocol = 17};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(taken); i++) {
        tuple.source = (uint16_t)(50000 + i);
        assert_int_equal(myr_switch_pick(MYR_SWITCH_LINUX, 1000, &tuple, 4), taken[i]);
    }
}

static void both_directions_of_a_flow_have_one_linux_hash(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 1, 0);
    for (uint32_t i = 0; i < 200; i++) {
        struct myr_tuple there = {.from = myr_rng_u32(&rng),
                                  .to = myr_rng_u32(&rng),
                                  .source = (uint16_t)myr_rng_u32(&rng),
                                  .destination = (uint16_t)myr_rng_u32(&rng),
                                  .protocol = 17};
        struct myr_tuple back = {.from = there.to,
                                 .to = there.from,
                                 .source = there.destination,
                                 .destination = there.source,
                                 .protocol = 17};
        assert_int_equal(myr_switch_pick(MYR_SWITCH_LINUX, i, &there, 64),
                         myr_switch_pick(MYR_SWITCH_LINUX, i, &back, 64));
    }
}

static void every_hash_uses_all_next_hops_about_evenly(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < MYR_SWITCH_HASH_COUNT; kind++) {
        const uint32_t counts[] = {1, 2, 3, 7, 32, 64};
        for (uint32_t c = 0; c < MYR_ARRAY_COUNT(counts); c++) {
            uint32_t used[64] = {}, count = counts[c];
            struct myr_tuple tuple = {
                .from = 0x0a000001, .to = 0x0a000203, .destination = 4791, .protocol = 17};
            for (uint32_t port = 0xC000; port <= 0xFFFF; port++) {
                tuple.source = (uint16_t)port;
                uint32_t pick = myr_switch_pick((enum myr_switch_hash)kind, 7, &tuple, count);
                assert_true(pick < count);
                used[pick]++;
            }
            for (uint32_t i = 0; i < count; i++) {
                assert_in_range(used[i], 0x4000 / count / 2, 0x4000 / count * 2);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linux_next_hops_are_those_that_the_kernel_took),
        cmocka_unit_test(both_directions_of_a_flow_have_one_linux_hash),
        cmocka_unit_test(every_hash_uses_all_next_hops_about_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
