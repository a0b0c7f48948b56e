#include "myriad/sched/spares.h"

/*
 * Terms are taken relative to the largest one, at the mode, by multiplying and dividing only: no
 * exponential that differs from machine to machine, and nothing that underflows at large means.
 */
uint32_t myr_poisson_quantile(double mean, uint32_t permille)
{
    enum { TERMS_MAX = 1 << 24 };
    const double negligible = 1e-18;
    MYR_ASSERT(mean >= 0 && mean < TERMS_MAX && permille < 1000);
    /* The mode of a Poisson distribution is the whole part of its mean. */
    uint32_t mode = (uint32_t)mean, least = mode;
    double below = 0, above = 0, term = 1, first = 1;
    for (uint32_t k = mode; k > 0 && term > negligible; k--) {
        term *= (double)k / mean;
        below += term;
        least = k - 1;
        first = term;
    }
    term = 1;
    for (uint32_t k = mode + 1; term > negligible && k < TERMS_MAX; k++) {
        term *= mean / (double)k;
        above += term;
    }
    /* The sum of all terms stands for 1: they are relative. */
    double wanted = (below + 1 + above) * (double)permille / 1000, sum = 0;
    uint32_t n = least;
    for (term = first; n < TERMS_MAX; n++, term *= mean / (double)n) {
        sum += term;
        if (sum >= wanted) {
            break;
        }
    }
    return n;
}

/* Nodes away at a moment: how many fail a day, times the days that a repair takes. */
uint32_t myr_spares_for(uint32_t nodes, const struct myr_failure_rate *rate, uint32_t permille)
{
    double away = (double)nodes * rate->per_1000_node_days / 1000 * rate->repair_h / 24;
    return nodes ? myr_poisson_quantile(away, permille) : 0;
}
