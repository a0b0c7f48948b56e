#include "cost/numbers.h"

double fit_log2(double x)
{
    /*
     * An IEEE double is exponent and fraction: the one is the whole part, the other a number from 1
     * to 2.
     */
    const uint64_t fraction = (UINT64_C(1) << 52) - 1, one = UINT64_C(1023) << 52;
    uint64_t bits;
    MYR_ASSERT(x >= 2.3e-308);
    memcpy(&bits, &x, sizeof(bits));
    double value = (double)(bits >> 52) - 1023;
    bits &= fraction;
    if (bits == 0) {
        return value; /* a power of two, as most sizes are */
    }
    bits |= one;
    memcpy(&x, &bits, sizeof(x));
    /* Nearer to 1 from either side, so that few terms do. */
    if (x > 1.5) {
        x *= 0.5;
        value += 1;
    }
    /* 2 / ln 2 times the series of the inverse hyperbolic tangent; z is 1/5 at most. */
    static const double parts[] = {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                   1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1};
    double z = (x - 1) / (x + 1), z2 = z * z, sum = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        sum = sum * z2 + parts[i];
    }
    return value + 2.8853900817779268 * z * sum;
}

/*
 * exp by halving the argument until it is small, a Taylor polynomial, and squaring back. Plain
 * IEEE additions and multiplications only: the last bit may be off, but it is off everywhere alike.
 */
double fit_exp(double x)
{
    enum { TERMS = 14 };
    uint32_t halvings = 0;
    double size = x < 0 ? -x : x;
    if (size > 700) {
        return x < 0 ? 0 : 1e300;
    }
    while (size > 0.0625) {
        size /= 2;
        halvings++;
    }
    double small = x < 0 ? -size : size, sum = 1;
    for (uint32_t i = TERMS; i > 0; i--) {
        sum = 1 + sum * small / i;
    }
    for (uint32_t i = 0; i < halvings; i++) {
        sum *= sum;
    }
    return sum;
}

/*
 * Halved or doubled into 0.7 to 1.4, then ln x = 2 artanh((x - 1) / (x + 1)) by its series. Plain
 * IEEE arithmetic: off in the last bit at most, and everywhere alike.
 */
double fit_log(double x)
{
    enum { TERMS = 14 };
    int halvings = 0;
    MYR_ASSERT(x > 0 && x < 1e300);
    while (x > 1.4) {
        x /= 2;
        halvings++;
    }
    while (x < 0.7) {
        x *= 2;
        halvings--;
    }
    double s = (x - 1) / (x + 1), sum = 0;
    for (int i = TERMS; i >= 0; i--) {
        sum = sum * s * s + 1.0 / (2 * i + 1);
    }
    return halvings * 0.6931471805599453 + 2 * s * sum;
}
