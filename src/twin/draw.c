/* draw: logarithms, powers and random times in integers, so that all machines draw the same. */
#include "draw.h"

int64_t draw_log2(uint64_t value)
{
    MYR_ASSERT(value > 0);
    int whole = 63 - __builtin_clzll(value);
    uint64_t x = whole > 31 ? value >> (whole - 31) : value << (31 - whole); /* 1 to 2, Q31 */
    int64_t result = (int64_t)whole << 16;
    /* One bit of the logarithm at a time: squaring doubles it. */
    for (int bit = 15; bit >= 0; bit--) {
        x = x * x >> 31;
        if (x >> 32) {
            x >>= 1;
            result |= INT64_C(1) << bit;
        }
    }
    MYR_ASSERT(result >= 0 && result < INT64_C(64) << 16);
    return result;
}

uint64_t draw_exp2(int64_t exponent)
{
    /* 2^(1/2), 2^(1/4), ... in Q31. */
    static const uint64_t roots[16] = {3037000499, 2553802833, 2341847523, 2242560871,
                                       2194507416, 2170868211, 2159144271, 2153306066,
                                       2150392886, 2148937775, 2148210588, 2147847087,
                                       2147665360, 2147574502, 2147529074, 2147506361};
    /* Rounded down, for negative exponents too. */
    int64_t whole = exponent >> 16;
    if (whole < -16) {
        return 0;
    }
    if (whole > 45) {
        /* Beyond that the result would not fit: the largest power stands for all. */
        return UINT64_C(1) << 46 << 16;
    }
    uint64_t x = UINT64_C(1) << 31;
    for (int bit = 0; bit < 16; bit++) {
        if (exponent >> (15 - bit) & 1) {
            x = x * roots[bit] >> 31;
        }
    }
    MYR_ASSERT(x >> 31 == 1); /* from 1 to below 2 */
    return whole >= 15 ? x << (whole - 15) : x >> (15 - whole);
}

void draw_init(struct myr_rng *rng, uint64_t seed, enum draw_use use, uint64_t a, uint64_t b)
{
    MYR_ASSERT(rng && use >= DRAW_JOB && use <= DRAW_ASK);
    /* Each use of each thing has a sequence of its own: what else is drawn does not matter. */
    myr_rng_init(rng, seed, myr_hash_u64(myr_hash_u64(a ^ (uint64_t)use << 56) ^ b));
}

bool draw_chance(struct myr_rng *rng, uint32_t ppm)
{
    MYR_ASSERT(ppm <= 1000000);
    return myr_rng_below(rng, 1000000) < ppm;
}

int64_t draw_exponential_ms(struct myr_rng *rng, int64_t mean_ms)
{
    /* -ln(u) = (32 - log2(u * 2^32)) * ln 2; u above 0. */
    const int64_t ln2 = 45426; /* in 1/65536 */
    int64_t bits = ((int64_t)32 << 16) - draw_log2((uint64_t)myr_rng_u32(rng) + 1);
    int64_t factor = bits * ln2 >> 16;                       /* up to 22.2 */
    MYR_ASSERT(mean_ms >= 0 && mean_ms <= DRAW_MEAN_MAX_MS); /* so that the product fits */
    MYR_ASSERT(factor >= 0 && factor < 23 * DRAW_ONE);
    int64_t whole = mean_ms / DRAW_ONE, rest = mean_ms % DRAW_ONE;
    return whole * factor + (rest * factor >> 16);
}

/* Near enough to normal: twelve uniform draws, in 1/65536. */
static int64_t normal(struct myr_rng *rng)
{
    int64_t sum = 0;
    for (int i = 0; i < 6; i++) {
        uint32_t word = myr_rng_u32(rng);
        sum += (word & 0xffff) + (word >> 16);
    }
    MYR_ASSERT(sum >= 0 && sum < 12 * (int64_t)DRAW_ONE);
    return sum - 6 * DRAW_ONE;
}

int64_t draw_time_ms(struct myr_rng *rng, const struct draw_time *time)
{
    int64_t low = time->low_ms, middle = time->typical_ms, high = time->high_ms;
    if (middle <= 0 || low >= high) {
        return middle > 0 ? middle : 0;
    }
    MYR_ASSERT(low >= 0 && high > 0);
    int64_t z = normal(rng);
    /* Below the typical value the spread is that to low, above it that to high. */
    int64_t edge = z < 0 ? (low > 0 ? low : 1) : high;
    int64_t spread = draw_log2((uint64_t)edge) - draw_log2((uint64_t)middle); /* of 1.645 sigma */
    int64_t exponent = (z < 0 ? -z : z) * spread / 107807;                    /* 1.645 */
    int64_t value = (int64_t)((uint64_t)middle * draw_exp2(exponent) >> 16);
    return value < low ? low : value > high ? high : value;
}
