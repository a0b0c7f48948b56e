/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include "myriad/base/maxflow.h"

enum { NODES = 9 };

/* Edmonds and Karp on a matrix: shortest augmenting paths until there is none. */
static uint64_t by_matrix(uint64_t left[NODES][NODES], uint32_t source, uint32_t sink)
{
    uint64_t total = 0;
    for (;;) {
        uint32_t came[NODES], queue[NODES], head = 0, tail = 0;
        for (uint32_t i = 0; i < NODES; i++) {
            came[i] = UINT32_MAX;
        }
        came[source] = source;
        queue[tail++] = source;
        while (head < tail) {
            uint32_t at = queue[head++];
            for (uint32_t i = 0; i < NODES; i++) {
                if (left[at][i] && came[i] == UINT32_MAX) {
                    came[i] = at;
                    queue[tail++] = i;
                }
            }
        }
        if (came[sink] == UINT32_MAX) {
            return total;
        }
        uint64_t least = UINT64_MAX;
        for (uint32_t at = sink; at != source; at = came[at]) {
            least = left[came[at]][at] < least ? left[came[at]][at] : least;
        }
        for (uint32_t at = sink; at != source; at = came[at]) {
            left[came[at]][at] -= least;
            left[at][came[at]] += least;
        }
        total += least;
    }
}

static void maximum_flow_equals_edmonds_and_karp(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        uint64_t matrix[NODES][NODES] = {};
        struct myr_maxflow net;
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 1);
        myr_maxflow_init(&net, NODES);
        uint32_t arcs = myr_rng_below(&rng, 40);
        for (uint32_t i = 0; i < arcs; i++) {
            uint32_t from = myr_rng_below(&rng, NODES), to = myr_rng_below(&rng, NODES);
            uint64_t capacity = myr_rng_below(&rng, 20);
            if (from != to) {
                matrix[from][to] += capacity;
                myr_maxflow_arc(&net, from, to, capacity);
            }
        }
        uint64_t got = myr_maxflow_run(&net, 0, NODES - 1);
        uint64_t expected = by_matrix(matrix, 0, NODES - 1);
        if (got != expected) {
            fail_msg("seed %llu: %llu, %llu expected", (unsigned long long)seed,
                     (unsigned long long)got, (unsigned long long)expected);
        }
        myr_maxflow_done(&net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maximum_flow_equals_edmonds_and_karp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
