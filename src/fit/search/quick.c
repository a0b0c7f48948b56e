/* quick: a bound on the time of a cut from three of its stages, for most cuts fall by it. */
#include "search/visit.h"

/* Layers of a stage with so many that a choice makes again, at least. */
static double again(const struct fit_visit *v, const struct fit_shape *shape, uint32_t choice,
                    double layers)
{
    /* Of unlike layers only as many as the smallest chunk has are certain to be among them. */
    uint32_t each = choice < shape->chunk_least ? choice : shape->chunk_least;
    bool alike = v->s->space->alike && !shape->output_counts;
    return alike ? fit_min(choice * (double)shape->vp, layers) : each * (double)shape->vp;
}

/* Both passes of a micro-batch through the layers of a stage. */
static double layers_s(const struct fit_visit *v, const struct fit_stage_kind *kind)
{
    double sum = 0;
    for (uint32_t i = 0; i < v->s->kind_count; i++) {
        uint32_t k = v->s->kinds[i];
        sum += kind->layers[k] * v->briefs[0]->layers[k].alone_s;
    }
    return sum;
}

/* A fraction of the work of fit_cut_floor_s(). 0 for DualPipe: nothing is said. */
double fit_shape_quick_s(const struct fit_visit *v, const struct fit_shape *shape, uint32_t choice)
{
    /*
     * Three stages stand for all: that one of them is the slowest is not needed, only that each is
     * there.
     */
    const struct fit_times *times = &v->group->priced->times;
    double micro = v->s->query->it.constants[FIT_LAUNCH_MICRO] * 1e-3;
    double beside = micro + v->least_hop_s[shape->vp > 1] * shape->vp;
    double m = v->micro_batches, pp = shape->pp;
    MYR_ASSERT(m >= 1 && shape->most_at < shape->kind_count && shape->first_at < shape->kind_count);
    double most_s = layers_s(v, &shape->kinds[shape->most_at]);
    double first_s = layers_s(v, &shape->kinds[shape->first_at]);
    double last_s = times->last + (shape->last_of > 0 ? layers_s(v, &shape->kinds[shape->last_at])
                                                      : 0); /* it may have been left out */
    double most_more = 0, first_more = 0, sum_more = 0;
    if (choice > 0) {
        double more = v->least_more_s, last_more = more * again(v, shape, choice, shape->last_of);
        most_more = more * again(v, shape, choice, shape->most_layers);
        first_more = more * again(v, shape, choice, shape->first_of);
        sum_more = pp * more * again(v, shape, choice, shape->least_of);
        last_s += last_more;
    }
    double full_s = fit_max(most_s + most_more, first_s + first_more + times->embedding_s);
    double step_s = m * (fit_max(full_s, last_s) + beside);
    if (v->layout.schedule == MYR_SCHEDULE_DUALPIPE) {
        return 0; /* a rank has two stages */
    }
    /* As fit_pipe_floor_s() of three stages: a fullest one, the first and the last. */
    if (v->layout.schedule == MYR_SCHEDULE_1F1B) {
        double behind = fit_min(m - 1, pp - 1), steady = m - 1 - behind * times->share;
        double ahead = (m - 1) * times->embedding_s - behind * times->embedding_forward_s;
        double outer = fit_max(most_s * steady + (m - 1) * most_more,
                               first_s * steady + (m - 1) * first_more + ahead);
        double after = fit_max(outer + (m - 1 - behind / 2) * beside, (m - 1) * (last_s + beside));
        step_s = fit_max(step_s, times->all + sum_more + pp * beside + after);
    } else if (v->layout.schedule == MYR_SCHEDULE_INTERLEAVED) {
        double each = beside / shape->vp;
        double most = m * (most_s + most_more) + shape->most_chunks * times->layer +
                      shape->most_stages * each;
        double last = m * last_s + shape->last_chunks * times->layer + (pp - 1) * each;
        step_s = fit_max(step_s, fit_max(most, last) + m * beside);
    }
    return step_s * FIT_BOUND_SLACK * (1 + v->straggler);
}
