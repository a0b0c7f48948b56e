#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "grow/grow_internal.h"

enum { CASES = 400, SIDE = 6 };

/* The heaviest of all ways to give the rows from 'row' on columns that are free. */
static uint32_t heaviest(const uint32_t *weight, uint32_t rows, uint32_t cols, uint32_t row,
                         uint32_t taken)
{
    uint32_t best = 0;
    for (uint32_t col = 0; row < rows && col < cols; col++) {
        if (!(taken & 1U << col)) {
            uint32_t rest = heaviest(weight, rows, cols, row + 1, taken | 1U << col);
            uint32_t sum = weight[row * cols + col] + rest;
            best = sum > best ? sum : best;
        }
    }
    return best;
}

static void an_assignment_is_the_heaviest(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 7, 1);
    for (uint32_t i = 0; i < CASES; i++) {
        uint32_t weight[SIDE * SIDE], to[SIDE], sum = 0, seen = 0;
        uint32_t cols = 1 + myr_rng_below(&rng, SIDE), rows = 1 + myr_rng_below(&rng, cols);
        uint32_t bound = 1 + myr_rng_below(&rng, 9);
        for (uint32_t k = 0; k < rows * cols; k++) {
            weight[k] = myr_rng_below(&rng, bound);
        }
        grow_assign(weight, rows, cols, to);
        for (uint32_t row = 0; row < rows; row++) {
            assert_true(to[row] < cols);
            assert_false(seen & 1U << to[row]); /* no column twice */
            seen |= 1U << to[row];
            sum += weight[row * cols + to[row]];
        }
        assert_int_equal(sum, heaviest(weight, rows, cols, 0, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_assignment_is_the_heaviest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
