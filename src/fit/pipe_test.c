#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <math.h>

#include "combine.h"

/*
 * Schedules run operation by operation, against the closed form of the cost model: what each
 * stage does in which order is written down, times follow from what each operation waits for.
 */
enum { STAGES = 8, CHUNKS = 4, BATCHES = 48 };
enum kind { FORWARD, BACKWARD, WEIGHT, KINDS };

struct op {
    enum kind kind;
    uint32_t chunk, batch;
};

struct schedule {
    uint32_t pp, vp, m;
    double cost[STAGES][CHUNKS][KINDS];
    struct op ops[STAGES][KINDS * CHUNKS * BATCHES];
    uint32_t count[STAGES];
    double end[STAGES][CHUNKS][BATCHES][KINDS]; /* 0: not yet */
};

static void put(struct schedule *s, uint32_t stage, enum kind kind, uint32_t chunk, uint32_t batch)
{
    s->ops[stage][s->count[stage]++] = (struct op){kind, chunk, batch};
}

/* The operation of another stage that this one waits for; NULL: none. */
static const double *before(const struct schedule *s, uint32_t stage, struct op op)
{
    uint32_t last = s->pp - 1;
    if (op.kind == WEIGHT) {
        return NULL;
    }
    if (op.kind == FORWARD) {
        return stage > 0      ? &s->end[stage - 1][op.chunk][op.batch][FORWARD]
               : op.chunk > 0 ? &s->end[last][op.chunk - 1][op.batch][FORWARD]
                              : NULL;
    }
    return stage < last            ? &s->end[stage + 1][op.chunk][op.batch][BACKWARD]
           : op.chunk + 1 == s->vp ? &s->end[stage][op.chunk][op.batch][FORWARD]
                                   : &s->end[0][op.chunk + 1][op.batch][BACKWARD];
}

static double play(struct schedule *s)
{
    uint32_t at[STAGES] = {0};
    double now[STAGES] = {0}, all = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < s->pp; i++) {
            while (at[i] < s->count[i]) {
                struct op op = s->ops[i][at[i]];
                const double *wait = before(s, i, op);
                if (wait && *wait == 0) {
                    break;
                }
                now[i] = fmax(now[i], wait ? *wait : 0) + s->cost[i][op.chunk][op.kind];
                s->end[i][op.chunk][op.batch][op.kind] = now[i];
                at[i]++;
                moved = true;
            }
        }
    }
    for (uint32_t i = 0; i < s->pp; i++) {
        assert_int_equal(at[i], s->count[i]); /* no schedule waits for itself */
        all = fmax(all, now[i]);
    }
    return all;
}

/* Zero-bubble: the first stage makes its weights' gradients at once, stage i i micro-batches later.
 */
static void order_1f1b(struct schedule *s, bool zero_bubble)
{
    for (uint32_t i = 0; i < s->pp; i++) {
        uint32_t next = 0, weights = 0;
        while (next < s->m && next < s->pp - 1 - i) {
            put(s, i, FORWARD, 0, next++);
        }
        for (uint32_t b = 0; b < s->m; b++) {
            if (next < s->m) {
                put(s, i, FORWARD, 0, next++);
            }
            put(s, i, BACKWARD, 0, b);
            if (zero_bubble && b >= i) {
                put(s, i, WEIGHT, 0, weights++);
            }
        }
        while (zero_bubble && weights < s->m) {
            put(s, i, WEIGHT, 0, weights++);
        }
    }
}

static void put_turn(struct schedule *s, uint32_t stage, enum kind kind, uint32_t turn)
{
    uint32_t round = s->pp * s->vp, chunk = turn % round / s->pp;
    uint32_t batch = turn / round * s->pp + turn % s->pp;
    put(s, stage, kind, kind == FORWARD ? chunk : s->vp - 1 - chunk, batch);
}

/* Megatron's: groups of pp micro-batches go through each chunk in turn. */
static void order_interleaved(struct schedule *s)
{
    uint32_t turns = s->m * s->vp;
    for (uint32_t i = 0; i < s->pp; i++) {
        uint32_t ahead = (s->pp - i - 1) * 2 + (s->vp - 1) * s->pp;
        ahead = ahead < turns ? ahead : turns;
        for (uint32_t k = 0; k < ahead; k++) {
            put_turn(s, i, FORWARD, k);
        }
        for (uint32_t k = 0; k < turns; k++) {
            if (ahead + k < turns) {
                put_turn(s, i, FORWARD, ahead + k);
            }
            put_turn(s, i, BACKWARD, k);
        }
    }
}

/* One of each: forward 'base' times 1 to 1 + uneven. */
static void draw(struct schedule *s, struct myr_rng *rng, double uneven, double backward,
                 double weight)
{
    for (uint32_t i = 0; i < s->pp; i++) {
        for (uint32_t c = 0; c < s->vp; c++) {
            double time = 1 + uneven * (double)myr_rng_below(rng, 1000) / 1000;
            s->cost[i][c][FORWARD] = time;
            s->cost[i][c][BACKWARD] = time * backward;
            s->cost[i][c][WEIGHT] = time * weight;
        }
    }
}

static double closed(const struct schedule *s, enum myr_schedule schedule)
{
    struct myr_layout layout = myr_layout_default();
    double worst = 0, sum = 0;
    layout.pp = s->pp;
    layout.vp = s->vp;
    layout.schedule = schedule;
    for (uint32_t i = 0; i < s->pp; i++) {
        double stage = 0;
        for (uint32_t c = 0; c < s->vp; c++) {
            stage += s->cost[i][c][FORWARD] + s->cost[i][c][BACKWARD] + s->cost[i][c][WEIGHT];
        }
        worst = fmax(worst, stage);
        sum += stage;
    }
    return fit_pipe_floor_s(&layout, s->m, worst, sum, 0);
}

static struct schedule *fresh(struct myr_rng *rng, bool chunks, bool whole_groups)
{
    struct schedule *s = test_calloc(1, sizeof(*s));
    s->pp = 1 + (uint32_t)myr_rng_below(rng, STAGES);
    s->vp = chunks ? 2 + (uint32_t)myr_rng_below(rng, CHUNKS - 1) : 1;
    s->m = whole_groups ? s->pp * (1 + (uint32_t)myr_rng_below(rng, BATCHES / STAGES))
                        : 1 + (uint32_t)myr_rng_below(rng, BATCHES);
    return s;
}

static void equal_stages_take_what_the_closed_form_says(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 0);
        for (int kind = 0; kind < 3; kind++) {
            struct schedule *s = fresh(&rng, kind == 1, kind == 1);
            draw(s, &rng, 0, kind == 2 ? 1 : 2, kind == 2 ? 1 : 0);
            if (kind == 1) {
                order_interleaved(s);
            } else {
                order_1f1b(s, kind == 2);
            }
            static const enum myr_schedule schedules[] = {
                MYR_SCHEDULE_1F1B, MYR_SCHEDULE_INTERLEAVED, MYR_SCHEDULE_ZERO_BUBBLE};
            bool short_run = kind == 2 && s->m < s->pp;
            double took = play(s), told = closed(s, schedules[kind]);
            if (!short_run && fabs(took / told - 1) > 1e-9) {
                fail_msg("seed %u, kind %d: pp %u vp %u m %u took %f, told %f", (unsigned)seed,
                         kind, s->pp, s->vp, s->m, took, told);
            }
            test_free(s);
        }
    }
}

/* The outer stage with the vocabulary is the usual case: exact there, never too fast elsewhere. */
static void uneven_1f1b_is_exact_with_the_slowest_last_and_never_told_too_fast(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 0);
        struct schedule *s = fresh(&rng, false, false);
        bool last = seed % 2;
        draw(s, &rng, 1, 2, 0);
        s->m = last || s->m >= s->pp ? s->m : s->pp;
        for (uint32_t i = 0; last && i < s->pp; i++) {
            for (int k = 0; k < KINDS; k++) {
                double *end = &s->cost[s->pp - 1][0][k];
                *end = fmax(*end, s->cost[i][0][k]);
            }
        }
        order_1f1b(s, false);
        double took = play(s), told = closed(s, MYR_SCHEDULE_1F1B);
        if (took > told * (1 + 1e-9) || (last && took < told * (1 - 1e-9))) {
            fail_msg("seed %u: pp %u m %u took %f, told %f", (unsigned)seed, s->pp, s->m, took,
                     told);
        }
        test_free(s);
    }
}

static void other_schedules_with_uneven_stages_are_near(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 0);
        bool zero = seed % 2;
        struct schedule *s = fresh(&rng, !zero, !zero);
        s->m = zero && s->m < 2 * s->pp ? 2 * s->pp : s->m;
        draw(s, &rng, 0.4, zero ? 1 : 2, zero ? 1 : 0);
        if (zero) {
            order_1f1b(s, true);
        } else {
            order_interleaved(s);
        }
        double took = play(s);
        double told = closed(s, zero ? MYR_SCHEDULE_ZERO_BUBBLE : MYR_SCHEDULE_INTERLEAVED);
        if (fabs(took / told - 1) > (zero ? 0.04 : 0.10)) {
            fail_msg("seed %u: pp %u vp %u m %u took %f, told %f", (unsigned)seed, s->pp, s->vp,
                     s->m, took, told);
        }
        test_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stages_take_what_the_closed_form_says),
        cmocka_unit_test(uneven_1f1b_is_exact_with_the_slowest_last_and_never_told_too_fast),
        cmocka_unit_test(other_schedules_with_uneven_stages_are_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
