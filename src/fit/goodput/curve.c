/*
 * curve: the best layout at every doubling of the GPUs, with the batch in proportion (weak) or as
 * it is (strong).
 */
#include "myriad/fit/curve.h"

#define LEAST_GPUS 8U /* one server */

/* What interruptions leave of the time, by practice. */
static void set_availability(const struct myr_case *it, const struct myr_recovery *recovery,
                             struct myr_scale_point *point)
{
    struct myr_failure_class classes[MYR_FAILURE_CLASSES_MAX];
    struct myr_campaign_question question = {.it = it->query.it,
                                             .recovery = recovery,
                                             .gpus_per_node = 8,
                                             .spare_risk = 0.001,
                                             .pue = 1};
    struct myr_fit_found found = {point->layout, point->cost.step_s};
    if (it->has_design) {
        question.store = myr_store_of(&it->design);
        question.gpus_per_node = it->design.head->gpus_per_node;
    }
    double nodes = (double)point->gpus / question.gpus_per_node;
    uint32_t count = myr_failure_classes(recovery, point->gpus, nodes, classes);
    for (uint32_t i = 0; i < count; i++) {
        question.rate_per_s += classes[i].per_day / 86400;
    }
    for (int p = MYR_PRACTICE_COMMON; p <= MYR_PRACTICE_BEST; p++) {
        struct myr_campaign campaign;
        int rc = myr_campaign_of(&question, (enum myr_practice)p, &found, 1, &campaign, NULL);
        point->availability[p] = rc == MYR_OK ? campaign.goodput.goodput : 1;
    }
}

/* batch x gpus / most where that is a whole number, else its first three binary digits, rounded. */
static uint32_t weak_batch(uint32_t batch, uint32_t gpus, uint32_t most)
{
    uint64_t product = (uint64_t)batch * gpus, share = product / most, unit = 1;
    if (product % most == 0) {
        return (uint32_t)share;
    }
    while (share / unit >= 16) {
        unit *= 2;
    }
    uint64_t rounded = (product + unit * most / 2) / (unit * most) * unit;
    return rounded ? (uint32_t)rounded : 1;
}

/* Nothing is added where no layout exists. */
static void add_point(const struct myr_case *it, const struct myr_recovery *recovery, uint32_t gpus,
                      bool weak, struct myr_arena *arena, struct myr_scale_curve *curve)
{
    struct myr_fit_query query = it->query;
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    uint32_t most = query.gpus, batch = weak ? weak_batch(query.batch, gpus, most) : query.batch;
    /* The batch before it is rounded, which the answer shows beside the one taken. */
    double share = weak ? (double)query.batch * gpus / most : query.batch;
    query.gpus = gpus;
    query.batch = batch;
    query.top = 1;
    if (curve->count == MYR_SCALE_POINTS_MAX) {
        return;
    }
    if (myr_fit_search(&query, arena, answer, NULL) < 0) {
        curve->missing_gpus = gpus; /* too few, or nothing divides; later points say which */
        return;
    }
    struct myr_scale_point *point = &curve->points[curve->count++];
    *point = (struct myr_scale_point){.gpus = gpus, .batch = batch, .batch_share = share};
    point->layout = answer->top[0].layout;
    point->peak_flops = myr_device_peak(query.it.device, point->layout.precision);
    myr_fit_cost_of(&query.it, &point->layout, &point->cost);
    myr_fit_parts_of(&query.it, &point->layout, &point->parts);
    set_availability(it, recovery, point);
}

/* What is relative to the best point. */
static void compare_points(struct myr_scale_curve *curve)
{
    /*
     * The best point need not be the smallest: few GPUs may have to compute again what does not
     * fit.
     */
    double rate = 0;
    for (uint32_t i = 0; i < curve->count; i++) {
        double now = curve->points[i].cost.tokens_per_s_per_gpu;
        rate = now > rate ? now : rate;
    }
    for (uint32_t i = 0; i < curve->count; i++) {
        struct myr_scale_point *p = &curve->points[i];
        p->linearity = p->cost.tokens_per_s_per_gpu / rate;
        p->single_efficiency = p->cost.mfu / p->linearity;
        p->efficiency = p->cost.mfu * p->availability[MYR_PRACTICE_BEST];
        p->effective_flops = p->peak_flops * p->gpus * p->efficiency;
    }
}

static void trace(const struct myr_case *it, const struct myr_recovery *recovery, bool weak,
                  struct myr_arena *arena, struct myr_scale_curve *ret)
{
    uint32_t most = it->query.gpus;
    *ret = (struct myr_scale_curve){};
    /* The number asked for comes last, whether or not it is a doubling. */
    for (uint32_t gpus = LEAST_GPUS; gpus < most; gpus *= 2) {
        add_point(it, recovery, gpus, weak, arena, ret);
    }
    add_point(it, recovery, most, weak, arena, ret);
    compare_points(ret);
}

/* Both curves, and the timers of the largest point. */
int myr_scale_trace(const struct myr_case *it, const struct myr_recovery *recovery,
                    struct myr_arena *arena, struct myr_scale_curves *ret, struct myr_err *err)
{
    struct myr_fit_answer *largest = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    MYR_ASSERT(!it->has_layout); /* a curve is over layouts of many sizes */
    /* First of all, so that a question without an answer at its own size fails with the reason. */
    MYR_TRY(myr_case_answer(it, arena, largest, err));
    trace(it, recovery, true, arena, &ret->weak);
    trace(it, recovery, false, arena, &ret->strong);
    MYR_ASSERT(ret->weak.count > 0);
    myr_fit_timers_of(&it->query.it, &ret->weak.points[ret->weak.count - 1].layout, &ret->timers);
    return MYR_OK;
}
