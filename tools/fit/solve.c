#include "solve.h"

#include <math.h>
#include <stdlib.h>

#define NUDGE 0.01
#define MAX   MYR_FIT_CONSTANTS_MAX

struct system {
    double a[MAX][MAX], b[MAX], step[MAX];
    bool fixed[MAX];
};

double fit_row_error(const struct myr_run *run)
{
    struct myr_fit_cost cost;
    myr_run_cost(run, &cost);
    return log(cost.step_s / run->measured_s);
}

bool fit_row_counts(const struct fit *fit, uint32_t row)
{
    const struct myr_run *run = &fit->runs.items[row];
    return run->measured_s > 0 && !run->refused;
}

void fit_resolve(struct fit *fit)
{
    for (uint32_t i = 0; i < fit->runs.count; i++) {
        if (fit->runs.items[i].open) {
            myr_run_resolve(&fit->runs.items[i]);
        }
    }
}

/* A constant's distance from its prior, in spreads. */
static double pull(const struct fit *fit, uint32_t i)
{
    return log((fit->profiles.constants[i] + 1e-9) / (fit->priors[i] + 1e-9)) / fit->spreads[i];
}

static double loss_of(const struct fit *fit, double *errors)
{
    double sum = 0;
    for (uint32_t i = 0; i < fit->runs.count; i++) {
        if (fit->used[i] && fit_row_counts(fit, i)) {
            errors[i] = fit_row_error(&fit->runs.items[i]) / fit->miss;
            sum += fit->weights[i] * (sqrt(1 + errors[i] * errors[i]) - 1);
        }
    }
    for (uint32_t i = 0; i < myr_fit_constant_count(); i++) {
        double e = pull(fit, i);
        sum += fit->weight * e * e;
    }
    return sum;
}

static double limited(const struct myr_constant *c, double value)
{
    return fmin(fmax(value, fmax(c->min, 1e-6)), c->max);
}

/*
 * d errors / d log constant, by a small step away from the nearer bound. Most constants speak of a
 * few rows: what the first fit never saw move is not asked again.
 */
static void derive(struct fit *fit, const double *errors, double *slopes, bool first)
{
    uint32_t n = fit->runs.count;
    for (uint32_t j = 0; j < myr_fit_constant_count(); j++) {
        double *value = &fit->profiles.constants[j], kept = *value;
        double up = kept * (1 + NUDGE) > myr_fit_constant(j)->max ? -1 : 1;
        *value = kept * exp(up * NUDGE);
        for (uint32_t i = 0; i < n; i++) {
            bool *touched = &fit->touched[(size_t)j * n + i];
            if (fit->used[i] && fit_row_counts(fit, i) && (first || *touched)) {
                double e = fit_row_error(&fit->runs.items[i]) / fit->miss;
                slopes[(size_t)j * n + i] = (e - errors[i]) / (up * NUDGE);
                *touched = *touched || e != errors[i];
            }
        }
        *value = kept;
    }
}

/* Normal equations of the re-weighted squares. */
static void assemble(const struct fit *fit, const double *errors, const double *slopes,
                     struct system *s)
{
    uint32_t n = fit->runs.count, p = myr_fit_constant_count();
    *s = (struct system){0};
    for (uint32_t i = 0; i < n; i++) {
        if (!fit->used[i] || !fit_row_counts(fit, i)) {
            continue;
        }
        double w = fit->weights[i] / sqrt(1 + errors[i] * errors[i]);
        for (uint32_t j = 0; j < p; j++) {
            double g = w * slopes[(size_t)j * n + i];
            if (g == 0) {
                continue;
            }
            s->b[j] -= g * errors[i];
            for (uint32_t k = 0; k <= j; k++) {
                s->a[j][k] += g * slopes[(size_t)k * n + i];
            }
        }
    }
    for (uint32_t j = 0; j < p; j++) {
        const struct myr_constant *c = myr_fit_constant(j);
        s->a[j][j] += 2 * fit->weight / (fit->spreads[j] * fit->spreads[j]);
        s->b[j] -= 2 * fit->weight * pull(fit, j) / fit->spreads[j];
        double value = fit->profiles.constants[j];
        s->fixed[j] = (value >= c->max * 0.99999 && s->b[j] > 0) ||
                      (value <= fmax(c->min, 1e-6) * 1.00001 && s->b[j] < 0);
    }
}

/* Cholesky of the damped matrix, constants at their bounds left out. */
static void solve(const struct system *s, uint32_t p, double damp, double *step)
{
    static double l[MAX][MAX]; /* a tool of one thread */
    double y[MAX];
    for (uint32_t j = 0; j < p; j++) {
        for (uint32_t k = 0; k <= j; k++) {
            double sum = s->fixed[j] || s->fixed[k] ? (j == k ? 1 : 0)
                         : j == k                   ? s->a[j][j] * (1 + damp)
                                                    : s->a[j][k];
            for (uint32_t i = 0; i < k; i++) {
                sum -= l[j][i] * l[k][i];
            }
            l[j][k] = j == k ? sqrt(fmax(sum, 1e-12)) : sum / l[k][k];
        }
        y[j] = s->fixed[j] ? 0 : s->b[j];
        for (uint32_t i = 0; i < j; i++) {
            y[j] -= l[j][i] * y[i];
        }
        y[j] /= l[j][j];
    }
    for (uint32_t j = p; j-- > 0;) {
        for (uint32_t i = j + 1; i < p; i++) {
            y[j] -= l[i][j] * step[i];
        }
        step[j] = y[j] / l[j][j];
    }
}

/* One accepted step, or false. */
static bool advance(struct fit *fit, const struct system *s, double *damp, double *best,
                    double *errors)
{
    uint32_t p = myr_fit_constant_count();
    double kept[MAX], step[MAX];
    memcpy(kept, fit->profiles.constants, sizeof(kept));
    for (int tries = 0; tries < 8; tries++) {
        solve(s, p, *damp, step);
        for (uint32_t j = 0; j < p; j++) {
            double by = fmin(fmax(step[j], -0.5), 0.5);
            fit->profiles.constants[j] = limited(myr_fit_constant(j), kept[j] * exp(by));
        }
        double got = loss_of(fit, errors);
        if (got < *best) {
            *best = got;
            *damp = fmax(*damp / 5, 1e-5);
            return true;
        }
        *damp *= 4;
    }
    memcpy(fit->profiles.constants, kept, sizeof(kept));
    (void)loss_of(fit, errors);
    return false;
}

double fit_solve(struct fit *fit, int rounds, bool from_priors)
{
    uint32_t n = fit->runs.count;
    double *errors = calloc(n, sizeof(double)), damp = 0.01;
    double *slopes = calloc((size_t)n * MAX, sizeof(double));
    struct system *s = calloc(1, sizeof(*s));
    for (uint32_t i = 0; from_priors && i < myr_fit_constant_count(); i++) {
        fit->profiles.constants[i] = fit->priors[i];
    }
    fit_resolve(fit);
    double best = loss_of(fit, errors);
    for (int round = 0; round < rounds; round++) {
        double before = best;
        derive(fit, errors, slopes, from_priors);
        assemble(fit, errors, slopes, s);
        bool moved = advance(fit, s, &damp, &best, errors);
        if (round % 4 == 3) {
            fit_resolve(fit);
            best = loss_of(fit, errors);
        } else if (!moved || before - best < 1e-3) {
            break;
        }
    }
    fit_resolve(fit);
    best = loss_of(fit, errors);
    free(errors);
    free(slopes);
    free(s);
    return best;
}
