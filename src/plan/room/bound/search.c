#include <math.h>

#include "room/bound/star.h"

/*
 * The best cut of the cables and the best prices, by the ellipsoid method (Shor, Yudin and
 * Nemirovski): the best point lies in an ellipsoid; a plane through its middle, along which the sum
 * does not rise, cuts off half of it, and a smaller ellipsoid around the rest is the next one. It
 * needs no step lengths, does not mind that the sum has edges, and ends with a known gap.
 */

enum { ROUNDS = 8 }; /* times the square of the number of variables */

struct search {
    const struct sky *sky;
    uint32_t count;
    double x[STAR_VARS], along[STAR_VARS], gradient[STAR_VARS]; /* the middle */
    double shape[STAR_VARS][STAR_VARS];                         /* of the ellipsoid */
    double best, best_x[STAR_VARS];
};

/* A limit that is not kept: how to get back, and how far it is off. */
static bool broken_limit(struct search *s, double *ret_off)
{
    const struct sky *sky = s->sky;
    memset(s->gradient, 0, sizeof(s->gradient));
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->x[i] < 0) {
            /* Limits are cut off like bad values: the gradient leads back inside. */
            s->gradient[i] = 1;
            *ret_off = -s->x[i];
            return true;
        }
    }
    for (uint32_t i = 0; i < sky->limit_count; i++) {
        const struct star_limit *limit = &sky->limits[i];
        double sum = -limit->most;
        for (uint32_t k = 0; k < limit->count; k++) {
            sum += s->x[limit->var[k]];
        }
        if (sum > 1e-12) {
            for (uint32_t k = 0; k < limit->count; k++) {
                s->gradient[limit->var[k]] = -1;
            }
            *ret_off = sum;
            return true;
        }
    }
    return false;
}

static void keep_best(struct search *s, double value)
{
    if (value > s->best) {
        s->best = value;
        memcpy(s->best_x, s->x, sizeof(s->x));
    }
}

/* Cuts the ellipsoid where the gradient times the way from its middle is 'off'. */
static bool cut(struct search *s, double off)
{
    double n = s->count, square = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        s->along[i] = 0;
        for (uint32_t k = 0; k < s->count; k++) {
            s->along[i] += s->shape[i][k] * s->gradient[k];
        }
        square += s->along[i] * s->gradient[i];
    }
    /* Nothing left to cut: the ellipsoid has shrunk to a point as far as numbers tell. */
    if (!(square > 0)) {
        return false;
    }
    double reach = sqrt(square), depth = off / reach;
    /* The plane misses the ellipsoid: no point of it is better. */
    if (depth >= 1) {
        return false;
    }
    /* The known formulas for a cut off the middle; depth 0 is one through it. */
    double step = (1 + n * depth) / (n + 1) / reach;
    double grow = n * n * (1 - depth * depth) / (n * n - 1);
    double shrink = 2 * (1 + n * depth) / ((n + 1) * (1 + depth)) / square;
    for (uint32_t i = 0; i < s->count; i++) {
        s->x[i] += step * s->along[i];
        for (uint32_t k = 0; k < s->count; k++) {
            s->shape[i][k] = grow * (s->shape[i][k] - shrink * s->along[i] * s->along[k]);
        }
    }
    return true;
}

/* The best of all points that were looked at; any of them is a bound, so it may end early. */
void star_search(const struct sky *sky, double *x)
{
    struct search s = {.sky = sky, .count = sky->var_count};
    MYR_ASSERT(sky->var_count > 1 && sky->var_count <= STAR_VARS);
    memcpy(s.x, x, sizeof(*x) * s.count);
    for (uint32_t i = 0; i < s.count; i++) {
        s.shape[i][i] = 0.5; /* all variables are about as large as one */
    }
    s.best = -HUGE_VAL;
    memcpy(s.best_x, s.x, sizeof(s.x));
    uint32_t rounds = ROUNDS * s.count * s.count;
    for (uint32_t i = 0; i < rounds; i++) {
        double off;
        if (!broken_limit(&s, &off)) {
            double value = star_sum(sky, s.x, s.gradient);
            keep_best(&s, value);
            /* A value below the best cuts deeper: all that is no better goes too. */
            off = s.best - value;
        }
        if (!cut(&s, off)) {
            break;
        }
    }
    memcpy(x, s.best_x, sizeof(*x) * s.count);
}
