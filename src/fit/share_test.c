#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "share.h"

/* All ways to deal, one by one. */
static void try_all(const struct fit_paces *pools, uint32_t count, uint32_t at, uint32_t left,
                    double worst, double *best)
{
    if (at == count) {
        *best = left == 0 && worst < *best ? worst : *best;
        return;
    }
    for (uint32_t i = 0; i < pools[at].count; i++) {
        const struct fit_pace *pace = &pools[at].items[i];
        for (uint32_t k = pace->step; k * pace->sequences <= left; k += pace->step) {
            double time = pace->base_s + k * pace->unit_s;
            try_all(pools, count, at + 1, left - k * pace->sequences, time > worst ? time : worst,
                    best);
        }
    }
}

static void a_batch_is_dealt_as_trying_every_way_deals_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct myr_rng rng;
        struct myr_arena arena;
        struct fit_pace paces[3][3];
        struct fit_paces pools[3];
        struct fit_dealt dealt[3];
        double found_s = 1e30, best = 1e30;
        myr_rng_init(&rng, seed, 1);
        myr_arena_init(&arena);
        uint32_t count = 2 + (uint32_t)myr_rng_below(&rng, 2);
        uint32_t batch = 8 + (uint32_t)myr_rng_below(&rng, 60), sum = 0;
        for (uint32_t p = 0; p < count; p++) {
            pools[p] = (struct fit_paces){paces[p], 1 + (uint32_t)myr_rng_below(&rng, 3)};
            for (uint32_t i = 0; i < pools[p].count; i++) {
                paces[p][i] =
                    (struct fit_pace){.sequences = 1 + (uint32_t)myr_rng_below(&rng, 6),
                                      .step = 1 + (uint32_t)myr_rng_below(&rng, 3),
                                      .base_s = (double)myr_rng_below(&rng, 100) / 100,
                                      .unit_s = 0.01 + (double)myr_rng_below(&rng, 100) / 100};
            }
        }
        bool found = fit_deal_batch(pools, count, batch, &arena, dealt, &found_s);
        try_all(pools, count, 0, batch, 0, &best);
        if (found != (best < 1e30) || (found && (found_s < best || found_s > best))) {
            fail_msg("seed %llu: %.6g s dealt, %.6g s is the least", (unsigned long long)seed,
                     found_s, best);
        }
        for (uint32_t p = 0; found && p < count; p++) {
            sum += dealt[p].units * paces[p][dealt[p].way].sequences;
        }
        assert_int_equal(found ? sum : batch, batch);
        myr_arena_done(&arena);
    }
}

static void every_layer(const struct fit_bench *stages, uint32_t count, uint32_t at, uint32_t left,
                        double worst, double sum, const double *weights, double *best)
{
    if (at == count) {
        double step = weights[0] * worst + weights[1] * (sum - worst);
        *best = left == 0 && step < *best ? step : *best;
        return;
    }
    for (uint32_t n = 1; n <= left && n <= stages[at].most; n++) {
        double time = stages[at].ends_s + n * stages[at].layer_s;
        every_layer(stages, count, at + 1, left - n, time > worst ? time : worst, sum + time,
                    weights, best);
    }
}

static void layers_are_dealt_as_trying_every_way_deals_them(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct myr_rng rng;
        struct fit_bench stages[5];
        uint32_t dealt[5], sum = 0;
        double found_s = 1e30, best = 1e30;
        myr_rng_init(&rng, seed, 2);
        uint32_t count = 1 + (uint32_t)myr_rng_below(&rng, 5);
        uint32_t layers = count + (uint32_t)myr_rng_below(&rng, 10);
        double weights[2] = {1 + (double)myr_rng_below(&rng, 20),
                             (double)myr_rng_below(&rng, 4) / 4};
        for (uint32_t i = 0; i < count; i++) {
            /* Few different speeds, as pools have. */
            stages[i] = (struct fit_bench){(double)myr_rng_below(&rng, 8) / 8,
                                           0.25 + (double)myr_rng_below(&rng, 3) / 4,
                                           1 + (uint32_t)myr_rng_below(&rng, 12)};
        }
        bool found =
            fit_deal_layers(stages, count, layers, weights[0], weights[1], dealt, &found_s);
        every_layer(stages, count, 0, layers, 0, 0, weights, &best);
        bool same = found_s < best * (1 + 1e-9) && found_s > best * (1 - 1e-9);
        if (found != (best < 1e30) || (found && !same)) {
            fail_msg("seed %llu: %.6g s dealt, %.6g s is the least", (unsigned long long)seed,
                     found_s, best);
        }
        for (uint32_t i = 0; found && i < count; i++) {
            sum += dealt[i];
        }
        assert_int_equal(found ? sum : layers, layers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_dealt_as_trying_every_way_deals_it),
        cmocka_unit_test(layers_are_dealt_as_trying_every_way_deals_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
