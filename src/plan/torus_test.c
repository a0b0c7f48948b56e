/* The bisection of a torus is that of its longest side, in whatever order the sides are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "faults_test.h"
#include "myriad/physical.h"

/* Across a ring of an even number of switches two links of each line are cut. */
static void expect(const uint32_t dims[3], uint32_t trunk)
{
    struct fixture f;
    struct myr_bisection found;
    char text[300];
    uint32_t switches = dims[0] * dims[1] * dims[2], longest = 0;
    for (int i = 0; i < 3; i++) {
        longest = dims[i] > longest ? dims[i] : longest;
    }
    uint32_t hosts = 8 * switches; /* more than the links between the halves carry */
    snprintf(text, sizeof(text),
             "servers: %u\nserver: generic-1gpu\nnetworks:\n  compute: {topology: torus, "
             "switch: mqm9790, dims: [%u, %u, %u], trunk: %u, hosts_per_switch: 8}\n",
             hosts, dims[0], dims[1], dims[2], trunk);
    plan(&f, text);
    myr_physical_bisection(&f.design, MYR_NET_COMPUTE, &found);
    uint64_t gbps = lay(&f, MYR_NET_COMPUTE, MYR_LAYER_HOST)->gbps;
    uint64_t wanted = 2 * (uint64_t)(switches / longest) * trunk * gbps;
    if (found.ports_gbps != wanted) {
        fail_msg("%u x %u x %u: %llu Gb/s, expected %llu", dims[0], dims[1], dims[2],
                 (unsigned long long)found.ports_gbps, (unsigned long long)wanted);
    }
    release(&f);
}

static void the_longest_side_decides_however_sides_are_named(void **state)
{
    (void)state;
    static const uint32_t sides[][3] = {{4, 4, 6}, {4, 4, 8}, {3, 4, 6}, {4, 6, 8}};
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sides); i++) {
        for (size_t k = 0; k < MYR_ARRAY_COUNT(orders); k++) {
            const uint32_t dims[3] = {sides[i][orders[k][0]], sides[i][orders[k][1]],
                                      sides[i][orders[k][2]]};
            expect(dims, 1 + (uint32_t)(i % 2));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_side_decides_however_sides_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
