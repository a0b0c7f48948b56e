#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "myriad/base/rng.h"

#include "reduce.h"

#define INPUTS_MAX 20
#define COUNT_MAX  3000

static uint64_t draw_bits(struct myr_rng *rng, enum myr_ccl_type type)
{
    if (type == MYR_CCL_F32) {
        float value = ((float)myr_rng_u32(rng) - 2e9f) / (float)(1u << myr_rng_below(rng, 31));
        uint32_t bits;
        memcpy(&bits, &value, 4);
        return bits;
    }
    if (type == MYR_CCL_F64) {
        double value = ((double)myr_rng_u32(rng) - 2e9) / (double)(1u << myr_rng_below(rng, 31));
        uint64_t bits;
        memcpy(&bits, &value, 8);
        return bits;
    }
    return myr_rng_u64(rng); /* of halves: special values too */
}

/* --- the same, by one value at a time and written down another way */

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

/* The half that is nearest, found among all of them; of two the even one. */
static uint16_t nearest_half(double value)
{
    uint16_t best = 0;
    double away = INFINITY;
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        double distance = fabs(half_value((uint16_t)bits) - fabs(value));
        if (distance < away || (distance == away && bits % 2 == 0)) {
            best = (uint16_t)bits;
            away = distance;
        }
    }
    best = fabs(value) >= 65520 ? 0x7c00 : best;
    return signbit(value) ? best | 0x8000 : best;
}

static double naive_float(enum myr_ccl_op op, double a, double b, bool narrow)
{
    double result = op == MYR_CCL_SUM    ? a + b
                    : op == MYR_CCL_PROD ? a * b
                    : op == MYR_CCL_MIN  ? (b < a ? b : a)
                                         : (b > a ? b : a);
    return narrow ? (double)(float)result : result;
}

static uint64_t naive_integer(enum myr_ccl_op op, uint64_t a, uint64_t b, bool less)
{
    switch (op) {
    case MYR_CCL_SUM:
        return a + b;
    case MYR_CCL_PROD:
        return a * b;
    case MYR_CCL_MIN:
        return less ? a : b;
    case MYR_CCL_MAX:
        return less ? b : a;
    case MYR_CCL_AND:
        return a & b;
    default:
        return a | b;
    }
}

static uint32_t half_of(uint32_t n)
{
    uint32_t half = 1;
    while (half * 2 < n) {
        half *= 2;
    }
    return half;
}

static double tree_float(enum myr_ccl_op op, const double *values, uint32_t n, bool narrow)
{
    if (n == 1) {
        return values[0];
    }
    uint32_t half = half_of(n);
    return naive_float(op, tree_float(op, values, half, narrow),
                       tree_float(op, values + half, n - half, narrow), narrow);
}

static uint64_t load_integer(const uint8_t *from, size_t bytes, bool is_signed)
{
    uint64_t value = 0;
    memcpy(&value, from, bytes);
    unsigned unused = (unsigned)(64 - 8 * bytes);
    return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static bool is_signed_type(enum myr_ccl_type type)
{
    return type == MYR_CCL_I8 || type == MYR_CCL_I32 || type == MYR_CCL_I64;
}

static void expect_integer(const struct ccl_reduction *of, const uint8_t *out, size_t at)
{
    size_t bytes = ccl_type_bytes(of->type), from = (of->offset + at) * bytes;
    bool is_signed = is_signed_type(of->type);
    uint64_t expected = load_integer((const uint8_t *)of->inputs[0] + from, bytes, is_signed);
    for (uint32_t i = 1; i < of->input_count; i++) {
        uint64_t next = load_integer((const uint8_t *)of->inputs[i] + from, bytes, is_signed);
        bool less = is_signed ? (int64_t)expected < (int64_t)next : expected < next;
        expected = naive_integer(of->op, expected, next, less);
    }
    assert_memory_equal(&expected, out + at * bytes, bytes);
}

static double load_float(enum myr_ccl_type type, const void *from)
{
    float single;
    double value;
    uint16_t half;
    memcpy(&half, from, 2);
    switch (type) {
    case MYR_CCL_F32:
        memcpy(&single, from, 4);
        return single;
    case MYR_CCL_F64:
        memcpy(&value, from, 8);
        return value;
    case MYR_CCL_F16:
        return half_value(half);
    default: {
        uint32_t bits = (uint32_t)half << 16;
        memcpy(&single, &bits, 4);
        return single;
    }
    }
}

static void expect_float(const struct ccl_reduction *of, const uint8_t *out, size_t at)
{
    double values[INPUTS_MAX];
    size_t bytes = ccl_type_bytes(of->type);
    for (uint32_t i = 0; i < of->input_count; i++) {
        values[i] =
            load_float(of->type, (const uint8_t *)of->inputs[i] + (of->offset + at) * bytes);
    }
    double expected = tree_float(of->op, values, of->input_count, of->type != MYR_CCL_F64);
    double found = load_float(of->type, out + at * bytes);
    if (isnan(expected)) {
        assert_true(isnan(found));
    } else if (of->type == MYR_CCL_F16) {
        if (at % 64 == 0) { /* looks at all halves */
            uint16_t half;
            memcpy(&half, out + at * bytes, 2);
            assert_int_equal(half, nearest_half(expected));
        }
    } else if (of->type == MYR_CCL_BF16) {
        /* Eight bits of a float's 24: off by half of the last at most. */
        bool same = expected == found || fabs(expected - found) <= fabs(expected) / 256 ||
                    fabs(expected) > 3.38e38 || fabs(expected) < 1e-37;
        assert_true(same);
    } else {
        assert_memory_equal(&expected, &found, sizeof(found));
    }
}

static void reductions_are_those_of_a_naive_tree(void **state)
{
    (void)state;
    static uint64_t memory[INPUTS_MAX][COUNT_MAX];
    static uint64_t out[COUNT_MAX];
    struct myr_rng rng;
    myr_rng_init(&rng, 45, 1);
    for (int round = 0; round < 300; round++) {
        struct ccl_reduction of = {.type = (enum myr_ccl_type)myr_rng_below(&rng, MYR_CCL_TYPES),
                                   .op = (enum myr_ccl_op)myr_rng_below(&rng, MYR_CCL_OPS)};
        if (!ccl_op_fits(of.type, of.op)) {
            continue;
        }
        const void *inputs[INPUTS_MAX];
        size_t bytes = ccl_type_bytes(of.type);
        of.inputs = inputs;
        of.input_count = 1 + myr_rng_below(&rng, INPUTS_MAX);
        of.offset = myr_rng_below(&rng, 100);
        of.count =
            myr_rng_below(&rng, 2) ? myr_rng_below(&rng, 20) : myr_rng_below(&rng, COUNT_MAX - 100);
        for (uint32_t i = 0; i < of.input_count; i++) {
            for (size_t k = 0; k < of.offset + of.count; k++) {
                uint64_t bits = draw_bits(&rng, of.type);
                memcpy((uint8_t *)memory[i] + k * bytes, &bits, bytes);
            }
            inputs[i] = memory[i];
        }
        memset(out, 0xaa, sizeof(out));
        ccl_reduce(&of, out);
        for (size_t k = 0; k < of.count; k++) {
            (of.type <= MYR_CCL_BF16 ? expect_float : expect_integer)(&of, (uint8_t *)out, k);
        }
        assert_int_equal(((uint8_t *)out)[of.count * bytes], 0xaa);
    }
}

/* Wherever a segment begins and however it is cut: the same bits. */
static void cuts_change_no_bit(void **state)
{
    (void)state;
    static float memory[7][COUNT_MAX], whole[COUNT_MAX], parts[COUNT_MAX];
    const void *inputs[7];
    struct myr_rng rng;
    myr_rng_init(&rng, 45, 2);
    for (int i = 0; i < 7; i++) {
        for (int k = 0; k < COUNT_MAX; k++) {
            uint64_t bits = draw_bits(&rng, MYR_CCL_F32);
            memcpy(&memory[i][k], &bits, 4);
        }
        inputs[i] = memory[i];
    }
    struct ccl_reduction of = {MYR_CCL_F32, MYR_CCL_SUM, inputs, 7, 0, COUNT_MAX};
    ccl_reduce(&of, whole);
    for (int round = 0; round < 50; round++) {
        for (of.offset = 0; of.offset < COUNT_MAX; of.offset += of.count) {
            size_t left = COUNT_MAX - of.offset;
            of.count = 1 + myr_rng_below(&rng, 1200);
            of.count = of.count < left ? of.count : left;
            ccl_reduce(&of, parts + of.offset);
        }
        assert_memory_equal(whole, parts, sizeof(whole));
    }
}

static void every_half_is_itself_again(void **state)
{
    (void)state;
    const enum myr_ccl_type halves[] = {MYR_CCL_F16, MYR_CCL_BF16};
    for (int t = 0; t < 2; t++) {
        for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
            uint16_t in = (uint16_t)bits, out = 0;
            const void *inputs[] = {&in};
            struct ccl_reduction of = {halves[t], MYR_CCL_SUM, inputs, 1, 0, 1};
            ccl_reduce(&of, &out);
            if (isnan(load_float(halves[t], &in))) {
                assert_true(isnan(load_float(halves[t], &out)));
            } else {
                assert_int_equal(in, out);
            }
        }
    }
}

static void what_is_no_type_has_no_size_and_no_operation(void **state)
{
    (void)state;
    assert_int_equal(ccl_type_bytes((enum myr_ccl_type)99), 0);
    assert_int_equal(ccl_type_bytes((enum myr_ccl_type) - 1), 0);
    assert_false(ccl_op_fits((enum myr_ccl_type)99, MYR_CCL_SUM));
    assert_false(ccl_op_fits(MYR_CCL_U32, (enum myr_ccl_op)17));
    assert_false(ccl_op_fits(MYR_CCL_BF16, MYR_CCL_AND));
    assert_true(ccl_op_fits(MYR_CCL_I8, MYR_CCL_OR));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_are_those_of_a_naive_tree),
        cmocka_unit_test(cuts_change_no_bit),
        cmocka_unit_test(every_half_is_itself_again),
        cmocka_unit_test(what_is_no_type_has_no_size_and_no_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
