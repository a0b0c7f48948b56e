/*
 * kernels: two vectors into one, for each type and operation, and halves to floats and back.
 * Only reduce.c includes this. 'out' may be 'a'.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CCL_JOIN(name, type, expression)                                      \
    static void name(void *out, const void *va, const void *vb, size_t count) \
    {                                                                         \
        type *o = out;                                                        \
        const type *pa = va, *pb = vb;                                        \
        for (size_t i = 0; i < count; i++) {                                  \
            type a = pa[i], b = pb[i];                                        \
            o[i] = (type)(expression);                                        \
        }                                                                     \
    }

#define CCL_ORDERED(t, type)               \
    CCL_JOIN(min_##t, type, b < a ? b : a) \
    CCL_JOIN(max_##t, type, b > a ? b : a)

#define CCL_FLOATS(t, type)        \
    CCL_JOIN(sum_##t, type, a + b) \
    CCL_JOIN(prod_##t, type, a *b) \
    CCL_ORDERED(t, type)

/* Signed ones wrap around as unsigned ones do. */
#define CCL_INTEGERS(t, type, wrap)            \
    CCL_JOIN(sum_##t, type, (wrap)a + (wrap)b) \
    CCL_JOIN(prod_##t, type, (wrap)a *(wrap)b) \
    CCL_JOIN(and_##t, type, a &b)              \
    CCL_JOIN(or_##t, type, a | b)              \
    CCL_ORDERED(t, type)

CCL_FLOATS(f32, float)
CCL_FLOATS(f64, double)
CCL_INTEGERS(i8, int8_t, uint32_t)
CCL_INTEGERS(u8, uint8_t, uint32_t)
CCL_INTEGERS(i32, int32_t, uint32_t)
CCL_INTEGERS(u32, uint32_t, uint32_t)
CCL_INTEGERS(i64, int64_t, uint64_t)
CCL_INTEGERS(u64, uint64_t, uint64_t)

static inline uint32_t ccl_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float ccl_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void widen_bf16(float *out, const uint16_t *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = ccl_float((uint32_t)in[i] << 16);
    }
}

static void narrow_bf16(uint16_t *out, const float *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = ccl_bits(in[i]);
        uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        uint32_t nan = bits >> 16 | 0x40; /* rounding could make it an infinity */
        out[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
    }
}

/* IEEE 754 binary16: five bits of exponent, ten of fraction. */
static void widen_f16(float *out, const uint16_t *in, size_t count)
{
    /* With the exponent of a float the value is 2^112 too small, denormal ones included. */
    float scale = ccl_float(0x77800000);
    for (size_t i = 0; i < count; i++) {
        uint32_t sign = (uint32_t)(in[i] & 0x8000) << 16, rest = (uint32_t)(in[i] & 0x7fff) << 13;
        uint32_t finite = ccl_bits(ccl_float(rest) * scale);
        uint32_t special = rest | 0x7f800000; /* infinity, or not a number */
        out[i] = ccl_float(sign | (rest >= 0x0f800000 ? special : finite));
    }
}

static void narrow_f16(uint16_t *out, const float *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = ccl_bits(in[i]), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
        uint32_t half;
        if (rest > 0x7f800000) {
            half = 0x7e00 | (rest >> 13 & 0x3ff);
        } else if (rest >= 0x47800000) {
            half = 0x7c00; /* 65,536 and above */
        } else if (rest < 0x38800000) {
            /* Denormal: added to 1/2, its last place is that of a half; the addition rounds. */
            half = ccl_bits(ccl_float(rest) + 0.5f) - 0x3f000000;
        } else {
            half = (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13;
        }
        out[i] = (uint16_t)(sign | half);
    }
}
