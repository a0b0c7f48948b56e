/* group: bounds on all layouts of a width, a depth, a micro-batch and a way to recompute. */
#include "search/visit.h"

/* Shares of the forward pass bound what a schedule can hide, from above and from below. */
void fit_times_of(const struct fit_search *s, const struct fit_briefs *briefs,
                  struct fit_times *ret)
{
    ret->last = briefs->last.alone_s;
    ret->all = ret->last + briefs->first.alone_s;
    ret->share = 0;
    ret->layer = 1e30;
    ret->least_share = fit_min(0.5, briefs->output_share);
    ret->embedding_s = briefs->first.alone_s;
    ret->embedding_forward_s = briefs->first.forward_s;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        const struct fit_brief *one = &briefs->layers[k];
        if (s->layers[k] > 0) {
            double share = one->forward_s / one->alone_s;
            ret->share = fit_max(ret->share, share);
            ret->least_share = fit_min(ret->least_share, share);
            ret->layer = fit_min(ret->layer, one->alone_s);
            ret->all += s->layers[k] * one->alone_s;
        }
    }
}

bool fit_interleaves(const struct fit_search *s, const struct myr_layout *layout,
                     const struct fit_depth *depth)
{
    return depth->interleaved_choices > 0 && myr_layout_micro_batches(layout) % depth->pp == 0 &&
           fit_schedule_allowed(s->query, MYR_SCHEDULE_INTERLEAVED, depth->pp);
}

/*
 * 1F1B with layers dealt as well as can be. Each stage bounds the step by 'sum' and its own time
 * times the micro-batches less one, less its forwards of as many as stages are behind it
 * (fit_pipe_floor_s()). The best dealing makes all these equal: then each is 'sum' over the sum of
 * the inverse factors, which lie under the chord between the outer ones. 'fullest' is the time of
 * a stage with the most layers, wherever it stands.
 */
static double plain_floor_s(const struct fit_times *times, double m, double pp, double fullest,
                            double beside)
{
    double sum = times->all + pp * beside, last = times->last + beside;
    double more = m - 1, share = times->share, behind = fit_min(more, pp - 1);
    double most = more, least = more - share * behind;
    double mean = m >= pp ? 2 * most * least / fit_max(most + least, 1e-30) : least;
    /* What a stage has beside layers can be forward for a larger part than layers are. */
    double off = fit_max(0, times->embedding_forward_s - share * times->embedding_s) +
                 fit_max(0, beside / 2 - share * beside);
    double dealt = sum + sum / pp * mean - behind * off;
    double fullest_s = least * fullest + (more - behind / 2) * beside;
    return fit_max(dealt, sum + fit_max(more * last, fullest_s));
}

/*
 * Each stage bounds the step by all its work and what those before it do first, a share of theirs:
 * forwards, or a chunk. The best dealing makes all these equal: times fall by share / m from stage
 * to stage, a geometric series, cut off after its third term where that makes it larger.
 */
static double filling_floor_s(const struct fit_times *times, double share, double m, double pp,
                              double beside)
{
    double sum = times->all + pp * beside, x = share / m;
    double series = pp * x * (1 - (pp - 1) / 2 * x * (1 - (pp - 2) / 3 * x));
    return share * sum / fit_min(series, 1);
}

/* Several chunks a stage: with more of them stages fill faster, and more is sent between them. */
static double interleaved_floor_s(const struct fit_search *s, const struct fit_depth *depth,
                                  const struct fit_times *times, double m, double fullest,
                                  double micro, double hop)
{
    double pp = depth->pp, floor_s = 1e30;
    for (uint32_t vp = 2; vp <= FIT_VP_ASKED; vp++) {
        if (depth->chunk_share[vp] > 0) {
            double beside = micro + hop * vp;
            double worst = fit_max(times->all / pp, fit_max(times->last, fullest)) + beside;
            double least = m * worst;
            if (s->uniform) {
                double share = depth->chunk_share[vp];
                least = fit_max(least, filling_floor_s(times, share, m, pp, beside));
            }
            floor_s = fit_min(floor_s, least);
        }
    }
    return floor_s;
}

/* The least over all schedules that the group may have; 1e30 where it may have none. */
double fit_group_floor_s(const struct fit_search *s, struct myr_layout layout,
                         const struct fit_depth *depth, const struct fit_times *times,
                         enum fit_chain chain, bool dual)
{
    double m = myr_layout_micro_batches(&layout), pp = depth->pp, floor_s = 1e30;
    MYR_ASSERT(m >= 1 && pp >= 1 && times->all > 0);
    double micro = s->query->it.constants[FIT_LAUNCH_MICRO] * 1e-3;
    /* Layers are whole: some stage has as many as even dealing gives, rounded up. */
    uint32_t most_layers = (s->query->it.model->layer_count + depth->pp - 1) / depth->pp;
    double fullest = most_layers * times->layer;
    for (int schedule = 0; schedule <= MYR_SCHEDULE_DUALPIPE; schedule++) {
        bool spread = schedule == MYR_SCHEDULE_INTERLEAVED;
        layout.schedule = (enum myr_schedule)schedule;
        if (!fit_schedule_allowed(s->query, layout.schedule, depth->pp) ||
            dual != (schedule == MYR_SCHEDULE_DUALPIPE) ||
            !fit_chain_runs(chain, layout.schedule, depth->pp) ||
            (spread && !fit_interleaves(s, &layout, depth)) ||
            (!spread && depth->plain_count == 0)) {
            continue;
        }
        layout.vp = spread ? 2 : 1;
        double hop = fit_least_hop_s(s, &layout);
        if (spread) {
            double least = interleaved_floor_s(s, depth, times, m, fullest, micro, hop / 2);
            floor_s = fit_min(floor_s, least);
            continue;
        }
        double beside = micro + hop, worst = times->all / pp + beside;
        if (!dual) { /* there the first stage's rank shares the last stage's load */
            worst = fit_max(worst, fit_max(times->last, fullest) + beside);
        }
        double least = m * worst;
        if (schedule == MYR_SCHEDULE_1F1B) {
            least = plain_floor_s(times, m, pp, fullest, beside);
        } else if (schedule == MYR_SCHEDULE_ZERO_BUBBLE) {
            least = fit_max(least, filling_floor_s(times, times->least_share, m, pp, beside));
        }
        floor_s = fit_min(floor_s, least);
    }
    return floor_s * FIT_BOUND_SLACK;
}

/* Layers of a stage that have to be recomputed; more than it has where even that is not enough. */
static double recomputed_in(const struct fit_visit *v, double layers, double flights,
                            double left_bytes)
{
    const struct fit_search *s = v->s;
    const struct fit_activations *kept = &v->kept;
    bool has_moe = s->layers[FIT_MOE_FULL] + s->layers[FIT_MOE_WINDOW] > 0;
    bool has_dense = s->layers[FIT_DENSE_FULL] + s->layers[FIT_DENSE_WINDOW] > 0;
    double alone = !has_moe ? kept->dense : has_dense ? fit_min(kept->dense, kept->moe) : kept->moe;
    double all = flights * layers * alone, saved = flights * (alone - kept->recomputed);
    /* Who asked for all recomputes all, whether or not there is room. */
    bool must = s->query->recompute == MYR_RECOMPUTE_FULL && !s->query->recompute_layers;
    if (all <= left_bytes && !must) {
        return 0;
    }
    if (v->group->chain != FIT_CHAIN_COUNTS || s->query->recompute == MYR_RECOMPUTE_NONE ||
        saved <= 0) {
        return layers + 1;
    }
    double recomputed = (all + kept->recompute_working - left_bytes) / saved;
    return must ? fit_max(recomputed, layers) : recomputed;
}

/*
 * Layers that a stage makes again at least, with the state of a ZeRO stage cut as fine as can be;
 * below 0 when there is no room. Early stages hold the most micro-batches: as many as stages follow
 * them, and with several chunks a stage no fewer of each layer.
 */
static double recomputed_least(const struct fit_visit *v, uint32_t zero)
{
    double m = v->micro_batches, least = 0;
    if (v->group->dual || v->layout.offload_layers > 0) {
        return 0; /* other rules */
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(v->depth->early) && i < v->depth->pp; i++) {
        double layers = v->depth->early[i].layers;
        /* A hair more memory than there is: rounding must never exclude what fits. */
        double left = v->limit_bytes * (1 + 1e-8) - v->early_bytes[zero][i];
        double recomputed = recomputed_in(v, layers, fit_min(m, v->depth->pp - i), left);
        if (recomputed > layers * (1 + 1e-8)) {
            return -1;
        }
        least = fit_max(least, recomputed);
    }
    return least;
}

/* The bound with so many layers of each stage recomputed, or all that a stage has. */
static double recompute_floor_s(const struct fit_visit *v, const struct fit_times *alone,
                                double recomputed)
{
    struct fit_times times = *alone;
    double pp = v->depth->pp, outer = fit_min(recomputed, v->depth->least_layers);
    /* Stages between the outer ones have as many layers as the second, or one less. */
    double inner = fit_max(outer, fit_min(recomputed, v->depth->early[1].layers - 1));
    double more = 1e30, slower = 1;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        const struct fit_brief *one = &v->briefs[0]->layers[k];
        if (v->s->layers[k] > 0) {
            more = fit_min(more, one->recompute_more_s);
            slower = fit_max(slower, one->recompute_s / one->alone_s);
        }
    }
    times.all += more * (pp > 2 ? 2 * outer + (pp - 2) * inner : pp * outer);
    times.least_share /= slower;
    return fit_group_floor_s(v->s, v->layout, v->depth, &times, v->group->chain, v->group->dual) *
           (1 + v->straggler);
}

/* What replicas exchange at least, whether or not chunks are interleaved. */
static double update_s(struct fit_visit *v, uint32_t zero)
{
    /* The more chunks a stage has, the less of an exchange waits for its last one. */
    return fit_zero_update_s(v, fit_interleaves(v->s, &v->layout, v->depth), zero);
}

/* ZeRO stages trade memory against exchange, so each has its own bound and the least one holds. */
double fit_refined_floor_s(struct fit_visit *v, double limit)
{
    const struct myr_fit_query *q = v->s->query;
    double floor_s = v->group->floor_s, refined = 1e30;
    if (!v->rising) {
        return floor_s;
    }
    for (uint32_t zero = 0; zero <= 3; zero++) {
        if (!fit_zero_allowed(q, zero, v->depth->pp)) {
            continue;
        }
        double recomputed = recomputed_least(v, zero);
        if (recomputed < 0) {
            continue;
        }
        double least_s =
            recomputed > 0 ? recompute_floor_s(v, &v->group->priced->times, recomputed) : floor_s;
        least_s = fit_max(least_s, floor_s);
        refined = fit_min(refined, least_s > limit ? least_s : least_s + update_s(v, zero));
    }
    return refined;
}

void fit_add_group(struct fit_group *groups, uint32_t *count, struct fit_group group)
{
    /* By insertion, the lowest bound first: a family has two hundred groups at most. */
    uint32_t at = (*count)++;
    for (; at > 0 && groups[at - 1].floor_s > group.floor_s; at--) {
        groups[at] = groups[at - 1];
    }
    groups[at] = group;
    MYR_ASSERT(groups[0].floor_s <= group.floor_s);
}
