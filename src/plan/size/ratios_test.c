/*
 * A higher ratio asks for less, and never needs more: drawn specs are planned at rising ratios.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "planned_test.h"

#include "rounds.h"

static const double ratios[] = {1,   1.1, 1.2, 1.25, 1.33, 1.5, 1.6, 1.75, 2,
                                2.3, 2.5, 3,   3.5,  4,    5,   6,   7,    8};

/* Switches and links of the compute network; what is refused is told apart by 0. */
static uint64_t switches_at(const char *keys, uint32_t servers, double ratio, uint64_t *ret_links)
{
    struct planned p;
    char text[400];
    snprintf(text, sizeof(text),
             "servers: %u\nserver: h200-8gpu\nnetworks: {compute: {%s, "
             "oversubscription: %s%g%s}}\n",
             servers, keys, ratio < 0 ? "[1, " : "", ratio < 0 ? -ratio : ratio,
             ratio < 0 ? "]" : "");
    planned_begin(&p, text);
    uint64_t switches = (uint64_t)planned_number(&p, "networks.compute.switches.total");
    *ret_links = (uint64_t)planned_number(&p, "networks.compute.links.total");
    planned_end(&p);
    return switches;
}

static void less_bandwidth_never_needs_more(void **state)
{
    enum { SEED = 11, CASES = TEST_ROUNDS(30) };
    static const char *const keys[] = {"switch: mqm9790",
                                       "switch: sn5600, planes: 2",
                                       "switch: sn5600",
                                       "switch: eth-25t6",
                                       "switch: sn5600, nic_gbps: 200",
                                       "switch: mqm9790, topology: clos",
                                       "switch: mqm9790, topology: rail-only",
                                       "switch: mqm9790, topology: middle-of-rack",
                                       "switch: mqm9790, fill: dense",
                                       "switch: mqm9790, topology: clos, fill: dense",
                                       "switch: eth-12t8-32x400, topology: clos",
                                       "switch: mqm9790, tiers: 3"};
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, SEED, 0);
    for (uint32_t i = 0; i < CASES; i++) {
        const char *key = keys[myr_rng_below(&rng, MYR_ARRAY_COUNT(keys))];
        uint32_t servers = 1 + myr_rng_below(&rng, 1U << (2 + myr_rng_below(&rng, 8)));
        int sign = myr_rng_below(&rng, 4) == 0 ? -1 : 1; /* of spines */
        uint64_t links, before = UINT64_MAX, links_before = UINT64_MAX;
        for (size_t k = 0; k < MYR_ARRAY_COUNT(ratios); k++) {
            uint64_t switches = switches_at(key, servers, sign * ratios[k], &links);
            if (switches > before || links > links_before) {
                fail_msg("seed %d case %u: %u servers, %s: at %g %llu switches and %llu links, "
                         "below %llu and %llu",
                         SEED, i, servers, key, sign * ratios[k], (unsigned long long)switches,
                         (unsigned long long)links, (unsigned long long)before,
                         (unsigned long long)links_before);
            }
            before = switches;
            links_before = links;
        }
    }
}

/* Uplinks that divide badly: 29 of them needed 348 spines, 101 needed 202. */
static void uplinks_that_divide_badly_are_told(void **state)
{
    struct planned p;
    (void)state;
    planned_begin(&p, "servers: 375\nserver: h200-8gpu\nnetworks: {compute: {fabric: infiniband, "
                      "oversubscription: 1.2}}\n");
    assert_true(planned_number(&p, "networks.compute.switches.total") <= 256);
    assert_non_null(planned_finding(&p, "ratio-below-asked"));
    planned_end(&p);
    planned_begin(&p, "servers: 375\nserver: h200-8gpu\nnetworks: {compute: {fabric: roce, switch: "
                      "sn5600, planes: 2, oversubscription: 1.5}}\n");
    assert_true(planned_number(&p, "networks.compute.switches.spine") <= 20);
    planned_end(&p);
    /* Whole ratios that divide well have their full leaves. */
    planned_begin(&p, "servers: 375\nserver: h200-8gpu\nnetworks: {compute: {switch: mqm9790, "
                      "oversubscription: 3}}\n");
    assert_true(planned_number(&p, "networks.compute.shape.leaf_down") == 48);
    assert_true(planned_number(&p, "networks.compute.shape.leaf_up") == 16);
    assert_null(planned_finding(&p, "ratio-below-asked"));
    planned_end(&p);
}

static void a_switch_far_from_the_best_is_told(void **state)
{
    struct planned p;
    (void)state;
    planned_begin(&p, "servers: 375\nserver: h200-8gpu\nnetworks: {compute: {fabric: roce, planes: "
                      "2}}\n");
    const struct myr_finding *found = planned_finding(&p, "advice-switch");
    assert_non_null(found);
    assert_non_null(strstr(myr_design_str(&p.design, found->message), "of 'sn5600' 80 are enough"));
    planned_end(&p);
    planned_begin(&p, "servers: 375\nserver: h200-8gpu\nnetworks: {compute: {switch: sn5600, "
                      "planes: 2}}\n");
    assert_null(planned_finding(&p, "advice-switch"));
    planned_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(less_bandwidth_never_needs_more),
        cmocka_unit_test(uplinks_that_divide_badly_are_told),
        cmocka_unit_test(a_switch_far_from_the_best_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
