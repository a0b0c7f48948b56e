#include <stdlib.h>

#include "optimise/optimise.h"

/*
 * The search. The space is a product of a few short lists, and every point of it is measured: that
 * is exact, and fast enough. What is compared are whole numbers, and of two equals the one whose
 * choices come first in the spec wins.
 */

enum { PLACED = 3 }; /* of the best: planned in full */

int64_t optimise_value(const struct myr_plan_point *point, uint32_t metric)
{
    int64_t value = point->metric[metric];
    return metric == MYR_METRIC_BANDWIDTH ? -value : value; /* less is better */
}

/* Cents, watts and thousandths of Gb/s of what the spec states in units. */
static int64_t in_units(uint32_t metric, double limit)
{
    double scale = metric == MYR_METRIC_CAPEX || metric == MYR_METRIC_COST_OF_YEARS  ? 100
                   : metric == MYR_METRIC_POWER_KW || metric == MYR_METRIC_BANDWIDTH ? 1000
                                                                                     : 1;
    double value = limit * scale;
    /* INT64_MAX itself means that there is no limit. */
    return value < 9e18 ? (int64_t)(value + 0.5) : INT64_MAX - 1;
}

/* What is not known breaks its limit: nobody could say that it is kept. */
uint32_t optimise_broken(const struct myr_optimum *optimum, const struct myr_plan_point *point)
{
    uint32_t broken = 0;
    for (uint32_t i = 0; i < MYR_METRIC_COUNT; i++) {
        if (optimum->limits[i] == INT64_MAX) {
            continue;
        }
        int64_t limit = i == MYR_METRIC_BANDWIDTH ? -optimum->limits[i] : optimum->limits[i];
        if (!point->known[i] || optimise_value(point, i) > limit) {
            broken |= 1U << i;
        }
    }
    return broken;
}

bool optimise_better(const struct myr_optimum *optimum, uint32_t a, uint32_t b)
{
    uint32_t objective = optimum->spec->optimise.objective;
    const struct myr_plan_point *x = &optimum->points[a], *y = &optimum->points[b];
    if (x->known[objective] != y->known[objective]) {
        return x->known[objective];
    }
    int64_t vx = optimise_value(x, objective), vy = optimise_value(y, objective);
    return vx != vy ? vx < vy : a < b;
}

/* ---- the space ---- */

/* A list that the spec leaves out has one value: what the spec says. */
static uint32_t values_of(const struct myr_spec *spec, uint32_t choice)
{
    uint32_t count = spec->optimise.choices[choice].count;
    return count ? count : 1;
}

/* The product is bounded factor by factor, so that it cannot overflow. */
static int make_points(struct myr_arena *arena, const struct myr_spec *spec,
                       struct myr_optimum *optimum, struct myr_err *err)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < MYR_CHOICE_COUNT; i++) {
        count *= values_of(spec, i);
        if (count > MYR_OPTIMISE_POINTS_MAX) {
            return myr_doc_error(err, spec->optimise.node, MYR_ERANGE,
                                 "'choices' make more than %d designs, shorter lists are expected",
                                 MYR_OPTIMISE_POINTS_MAX);
        }
    }
    optimum->count = (uint32_t)count;
    optimum->points = MYR_ARENA_NEW(arena, struct myr_plan_point, count);
    for (uint32_t p = 0; p < optimum->count; p++) {
        uint32_t rest = p;
        /*
         * The last choice runs fastest. It is the cooling, so that points with one plan are
         * neighbours.
         */
        for (uint32_t i = MYR_CHOICE_COUNT; i-- > 0;) {
            /* As the digits of a number, each with its own base. */
            optimum->points[p].at[i] = rest % values_of(spec, i);
            rest /= values_of(spec, i);
        }
    }
    return MYR_OK;
}

/* ---- who is best, and who is beaten by nobody ---- */

static void rank(struct myr_arena *arena, struct myr_optimum *optimum)
{
    optimum->best = MYR_ARENA_NEW(arena, uint32_t, optimum->count);
    optimum->best_count = 0;
    for (uint32_t i = 0; i < optimum->count; i++) {
        if (optimum->points[i].state != MYR_POINT_GOOD ||
            !optimum->points[i].known[optimum->spec->optimise.objective]) {
            continue;
        }
        /* Sorted as they come: the space is small, and the order of equals stays. */
        uint32_t at = optimum->best_count++;
        for (; at > 0 && optimise_better(optimum, i, optimum->best[at - 1]); at--) {
            optimum->best[at] = optimum->best[at - 1];
        }
        optimum->best[at] = i;
    }
}

/* What the front is spread over; racks and hops are constraints only. */
static const uint32_t spread[] = {MYR_METRIC_CAPEX,    MYR_METRIC_COST_OF_YEARS,
                                  MYR_METRIC_POWER_KW, MYR_METRIC_BANDWIDTH,
                                  MYR_METRIC_BLAST,    MYR_METRIC_MOVED};

/*
 * Nowhere worse and somewhere better, or the same in all and named first. So of several that are
 * alike in all only the first is in the front.
 */
static bool beats(const struct myr_optimum *optimum, uint32_t a, uint32_t b)
{
    const struct myr_plan_point *x = &optimum->points[a], *y = &optimum->points[b];
    bool better = false;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(spread); i++) {
        uint32_t m = spread[i];
        /* Unknown in both decides nothing. */
        if (!x->known[m] && !y->known[m]) {
            continue;
        }
        if (x->known[m] != y->known[m]) {
            if (!x->known[m]) {
                return false;
            }
            /* What is known beats what is not. */
            better = true;
            continue;
        }
        int64_t vx = optimise_value(x, m), vy = optimise_value(y, m);
        if (vx > vy) {
            return false;
        }
        better = better || vx < vy;
    }
    return better || a < b;
}

/* In the order of the objective, as 'best' is. Those struck out are not in it any more. */
static void find_front(struct myr_arena *arena, struct myr_optimum *optimum)
{
    optimum->front = MYR_ARENA_NEW(arena, uint32_t, optimum->best_count);
    optimum->front_count = 0;
    for (uint32_t i = 0; i < optimum->best_count; i++) {
        bool beaten = false;
        for (uint32_t k = 0; k < optimum->best_count && !beaten; k++) {
            beaten = k != i && beats(optimum, optimum->best[k], optimum->best[i]);
        }
        if (!beaten) {
            optimum->front[optimum->front_count++] = optimum->best[i];
        }
    }
}

/* ---- in full ---- */

static const char *first_error(const struct myr_design *design)
{
    for (uint32_t i = 0; i < design->finding_count; i++) {
        if (design->findings[i].severity == MYR_SEVERITY_ERROR && !design->findings[i].accepted) {
            return myr_design_str(design, design->findings[i].rule);
        }
    }
    return "";
}

/*
 * The best are planned in full; one that fails there makes place for the next. In the room, where
 * there is one: lengths may make other cables, and something may find no place.
 */
static void place_best(struct myr_arena *arena, const struct myr_catalog *catalog,
                       struct myr_optimum *optimum)
{
    bool room = optimum->spec->room.node != NULL;
    uint32_t good = 0;
    for (uint32_t i = 0; i < optimum->best_count && good < PLACED;) {
        struct myr_plan_point *point = &optimum->points[optimum->best[i]];
        struct myr_spec trial = optimise_spec(optimum->spec, point);
        struct myr_design design = {};
        struct myr_err err = {};
        int rc = myr_plan(arena, catalog, &trial, &design, &err);
        optimum->planned++;
        if (rc == MYR_OK && myr_plan_open_errors(&design) == 0) {
            /* A room changes cables and with them the price; without one both must agree. */
            optimum->exact = optimum->exact && (room || !point->known[MYR_METRIC_CAPEX] ||
                                                design.head->total_cents + point->plant_cents ==
                                                    point->metric[MYR_METRIC_CAPEX]);
            optimise_racks(&design, point);
            /* The first that holds is the best. */
            optimum->design = good == 0 ? design : optimum->design;
            good++;
            i++;
            continue;
        }
        point->state = rc == MYR_OK ? MYR_POINT_FAULTY : MYR_POINT_REFUSED;
        point->why =
            myr_arena_printf(arena, "%s", rc == MYR_OK ? first_error(&design) : err.message);
        optimum->struck++;
        optimum->best_count--;
        memmove(optimum->best + i, optimum->best + i + 1,
                sizeof(uint32_t) * (optimum->best_count - i));
    }
}

/* Pieces at assumed prices that 'one' has of a part. */
static double assumed_pieces(const struct myr_plan_point *one, uint32_t part)
{
    double pieces = 0;
    for (uint32_t i = 0; i < one->assumed_count; i++) {
        pieces += one->assumed[i].part == part ? one->assumed[i].pieces : 0;
    }
    return pieces;
}

/* Of how many pieces more than the other the price of this line's part is assumed; a part that has
 * several lines answers at the first. */
static double more_pieces(const struct myr_plan_point *one, const struct myr_plan_point *other,
                          uint32_t line)
{
    uint32_t part = one->assumed[line].part;
    for (uint32_t i = 0; i < line; i++) {
        if (one->assumed[i].part == part) {
            return 0;
        }
    }
    double more = assumed_pieces(one, part) - assumed_pieces(other, part);
    return more > 0 ? more : 0;
}

/* What assumed prices may add to the pieces that one has more of than the other; or take off. */
static double doubt(const struct myr_plan_point *one, const struct myr_plan_point *other, bool up)
{
    double sum = 0;
    for (uint32_t i = 0; i < one->assumed_count; i++) {
        const struct myr_assumed_line *line = &one->assumed[i];
        sum += more_pieces(one, other, i) * (up ? line->up_cents : line->down_cents);
    }
    return sum;
}

uint32_t myr_optimise_doubted(const struct myr_optimum *optimum, uint32_t other, uint32_t *ret,
                              uint32_t room)
{
    const struct myr_plan_point *best = &optimum->points[optimum->best[0]];
    const struct myr_plan_point *pair[] = {best, &optimum->points[other]};
    uint32_t count = 0;
    for (uint32_t side = 0; side < 2; side++) {
        const struct myr_plan_point *here = pair[side], *there = pair[!side];
        for (uint32_t i = 0; i < here->assumed_count && count < room; i++) {
            double cents = side ? here->assumed[i].down_cents : here->assumed[i].up_cents;
            if (cents > 0 && more_pieces(here, there, i) > 0) {
                ret[count++] = here->assumed[i].part;
            }
        }
    }
    return count;
}

uint32_t myr_optimise_undecided(const struct myr_optimum *optimum)
{
    uint32_t objective = optimum->spec->optimise.objective;
    if (!optimum->best_count ||
        (objective != MYR_METRIC_CAPEX && objective != MYR_METRIC_COST_OF_YEARS)) {
        return MYR_NONE;
    }
    const struct myr_plan_point *best = &optimum->points[optimum->best[0]];
    for (uint32_t i = 1; i < optimum->best_count; i++) {
        const struct myr_plan_point *other = &optimum->points[optimum->best[i]];
        double apart = (double)(other->metric[objective] - best->metric[objective]);
        if (apart > 0 && doubt(best, other, true) + doubt(other, best, false) >= apart) {
            return optimum->best[i];
        }
    }
    return MYR_NONE;
}

/* Measures all, then ranks, then proves the best. */
int myr_optimise(struct myr_arena *arena, const struct myr_catalog *catalog,
                 const struct myr_spec *spec, struct myr_optimum *ret, struct myr_err *err)
{
    struct myr_optimum optimum = {.spec = spec, .exact = true};
    const struct myr_spec_optimise *wanted = &spec->optimise;
    for (uint32_t i = 0; i < MYR_METRIC_COUNT; i++) {
        optimum.limits[i] = wanted->limits[i] >= 0 ? in_units(i, wanted->limits[i]) : INT64_MAX;
    }
    MYR_TRY(make_points(arena, spec, &optimum, err));
    uint32_t kinds = values_of(spec, MYR_CHOICE_COOLING);
    for (uint32_t i = 0; i < optimum.count; i += kinds) {
        optimise_measure(arena, catalog, &optimum, &optimum.points[i], kinds);
    }
    for (uint32_t i = 0; i < optimum.count; i++) {
        struct myr_plan_point *point = &optimum.points[i];
        /* Refused and faulty points have no metrics to be held against the limits. */
        point->broken = point->state >= MYR_POINT_UNPRICED ? optimise_broken(&optimum, point) : 0;
        if (point->state == MYR_POINT_GOOD && point->broken) {
            point->state = MYR_POINT_LIMITED;
            point->why = "a constraint";
        }
    }
    /* The front is sought last: place_best() may still strike points out. */
    rank(arena, &optimum);
    place_best(arena, catalog, &optimum);
    find_front(arena, &optimum);
    for (uint32_t i = 0; i < optimum.count; i++) {
        optimum.by_state[optimum.points[i].state]++;
    }
    *ret = optimum;
    return MYR_OK;
}

/* ---- what a constraint keeps ---- */

/*
 * Only points that break this one constraint and no other: they alone become possible when it is
 * loosened. Of these the one that saves most for each unit.
 */
bool myr_optimise_relax(const struct myr_optimum *optimum, uint32_t at, uint32_t metric,
                        struct myr_relaxed *ret)
{
    uint32_t objective = optimum->spec->optimise.objective;
    const struct myr_plan_point *point = &optimum->points[at];
    *ret = (struct myr_relaxed){.metric = metric};
    if (optimum->limits[metric] == INT64_MAX || metric == objective || !point->known[objective]) {
        return false;
    }
    int64_t limit =
        metric == MYR_METRIC_BANDWIDTH ? -optimum->limits[metric] : optimum->limits[metric];
    double most = 0;
    for (uint32_t i = 0; i < optimum->count; i++) {
        const struct myr_plan_point *other = &optimum->points[i];
        if (other->state != MYR_POINT_LIMITED || other->broken != 1U << metric ||
            !other->known[metric] || !other->known[objective]) {
            continue;
        }
        int64_t more = optimise_value(other, metric) - limit;
        int64_t saves = optimise_value(point, objective) - optimise_value(other, objective);
        if (saves > 0 && more > 0 && (double)saves / (double)more > most) {
            most = (double)saves / (double)more;
            *ret = (struct myr_relaxed){metric, i, more, saves, true};
        }
    }
    return true;
}
