/* Logarithms and powers of the cost model against those of the C library. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "cost/numbers.h"

#define NEAR 1e-15 /* of the value: a few last bits */

static void assert_near(double got, double want)
{
    double size = fabs(want) > 1 ? fabs(want) : 1;
    if (!(fabs(got - want) <= NEAR * size)) {
        print_error("%.17g, and %.17g is expected\n", got, want);
    }
    assert_true(fabs(got - want) <= NEAR * size);
}

static void logarithms_are_the_librarys(void **state)
{
    (void)state;
    for (double x = 1e-6; x < 1e12; x *= 1.00137) {
        assert_near(fit_log2(x), log2(x));
        assert_near(fit_log(x), log(x));
    }
}

/* Around 1 all digits of the argument count, and near 1.5 the series has its longest way to go. */
static void logarithms_are_exact_where_it_is_hard(void **state)
{
    static const double hard[] = {1, 1.5, 0.7, 1.4, 0.75, 3, 2, 0.5, 1e-300, 1e299};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(hard); i++) {
        for (int step = -3; step <= 3; step++) {
            double x = hard[i] * (1 + step * 1e-9);
            assert_near(fit_log2(x), log2(x));
            assert_near(fit_log(x), log(x));
        }
    }
    for (int power = -40; power <= 40; power++) {
        assert_true(fit_log2(ldexp(1, power)) == power);
    }
    assert_true(fit_log(1) == 0);
}

static void the_exponential_is_the_librarys(void **state)
{
    (void)state;
    for (double x = -30; x <= 30; x += 0.00731) {
        double want = exp(x);
        assert_true(fabs(fit_exp(x) - want) <= 1e-13 * want);
    }
    for (double x = -0.0625; x <= 0.0625; x += 0.0003) {
        assert_near(fit_exp(x), exp(x));
    }
    assert_true(fit_exp(0) == 1);
    assert_true(fit_exp(700) > 1e303 && fit_exp(-700) > 0);
    assert_true(fit_exp(701) == 1e300 && fit_exp(-701) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(logarithms_are_the_librarys),
                                       cmocka_unit_test(logarithms_are_exact_where_it_is_hard),
                                       cmocka_unit_test(the_exponential_is_the_librarys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
