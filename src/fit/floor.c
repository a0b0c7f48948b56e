/* floor: bounds on time from below, for cuts and for what replicas exchange. */
#include "visit.h"

void fit_set_chain(const struct fit_search *s, enum fit_chain chain, struct myr_layout *layout)
{
    bool all = s->query->recompute == MYR_RECOMPUTE_FULL;
    layout->recompute = chain == FIT_CHAIN_SELECTIVE ? MYR_RECOMPUTE_SELECTIVE : MYR_RECOMPUTE_FULL;
    layout->recompute_layers = chain == FIT_CHAIN_COUNTS && !all ? 1 : 0;
    if (s->query->recompute == MYR_RECOMPUTE_NONE) {
        layout->recompute = MYR_RECOMPUTE_NONE;
        layout->recompute_layers = 0;
    }
}

double fit_least_hop_s(const struct fit_search *s, const struct myr_layout *layout)
{
    const struct myr_fit_case *it = &s->query->it;
    return layout->pp == 1 ? 0 : fit_hop_s(it, layout, fit_near_of(it, layout->pp, layout->tp));
}

struct myr_span fit_again_span(const struct fit_visit *v, const struct fit_shape *shape,
                               uint32_t chunk, uint32_t choice)
{
    struct myr_span span = myr_layout_chunk_layers(&v->layout, v->s->query->it.model, chunk);
    if (choice < shape->chunk_most && choice < span.count) {
        span.count = choice;
    }
    return span;
}

void fit_count_again(const struct fit_visit *v, const struct fit_shape *shape,
                     const struct fit_stage_kind *kind, uint32_t choice,
                     double counts[FIT_KIND_COUNT])
{
    bool all = choice > 0 && choice == shape->chunk_most;
    memset(counts, 0, FIT_KIND_COUNT * sizeof(*counts));
    if (all) {
        memcpy(counts, kind->layers, sizeof(kind->layers));
        return;
    }
    if (v->s->uniform && v->s->query->it.model->window_tokens == 0) {
        enum fit_kind only = v->s->layers[FIT_MOE_FULL] > 0 ? FIT_MOE_FULL : FIT_DENSE_FULL;
        counts[only] = fit_min(choice * (double)shape->vp, kind->layers[only]);
        return;
    }
    for (uint32_t c = 0; choice > 0 && c < shape->vp; c++) {
        fit_count_layers(v->s->query->it.model,
                         fit_again_span(v, shape, kind->stage + c * shape->pp, choice), counts);
    }
}

/* Both passes of a micro-batch on one kind of stage, and the forward one; layers only in full. */
static struct fit_stage_s kind_times(const struct fit_visit *v, const struct fit_shape *shape,
                                     const struct fit_stage_kind *kind, uint32_t choice,
                                     uint32_t order)
{
    const struct myr_model *model = v->s->query->it.model;
    const struct fit_blocks *alone = &v->blocks[order][0], *made = &v->blocks[order][1];
    bool all = choice > 0 && choice == shape->chunk_most;
    struct fit_stage_s ret = {.count = kind->count, .first = kind->stage, .last = kind->last_stage};
    double again[FIT_KIND_COUNT];
    fit_count_again(v, shape, kind, choice, again);
    if (kind->first) {
        ret.forward_s += alone->embedding.forward.total;
        ret.weight_s += alone->embedding.weight_s;
        ret.total_s += fit_layer_s(&alone->embedding);
    }
    if (kind->last) {
        const struct fit_layer *layers = all ? made->layers : alone->layers;
        double modules = model->mtp_count;
        ret.forward_s += alone->output.forward.total * (1 + modules);
        ret.weight_s += alone->output.weight_s * (1 + modules);
        ret.total_s += fit_layer_s(&alone->output) * (1 + modules);
        ret.total_s += modules > 0 ? modules * fit_mtp_layer_s(alone, layers) : 0;
        enum fit_kind of = alone->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL;
        ret.forward_s += modules > 0 ? modules * layers[of].forward.total : 0;
        ret.weight_s += modules > 0 ? modules * layers[of].weight_s : 0;
    }
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        if (kind->layers[k] > 0) {
            double rest = fit_max(0, kind->layers[k] - again[k]);
            ret.forward_s += kind->layers[k] * alone->layers[k].forward.total;
            ret.weight_s += kind->layers[k] * alone->layers[k].weight_s;
            ret.total_s += again[k] > 0 ? again[k] * fit_layer_s(&made->layers[k]) : 0;
            ret.total_s += rest * fit_layer_s(&alone->layers[k]);
        }
    }
    return ret;
}

/* Both passes of a kind's first chunk, at least: a share of its layers, or as few as there are. */
static double first_chunk_s(const struct fit_visit *v, const struct fit_shape *shape,
                            const struct fit_stage_kind *kind, uint32_t order)
{
    const struct fit_blocks *blocks = &v->blocks[order][0];
    double least = 1e30, layers = 0;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        least = blocks->used[k] ? fit_min(least, fit_layer_s(&blocks->layers[k])) : least;
        layers += kind->layers[k];
    }
    return least * (v->s->uniform ? layers / shape->vp : shape->chunk_least);
}

/* A step of the shape up to what replicas exchange, with the least transfers between stages. */
static double shape_floor_s(const struct fit_visit *v, struct fit_cut *cut, uint32_t choice,
                            uint32_t order)
{
    const struct fit_shape *shape = cut->shape;
    double micro = v->s->query->it.constants[FIT_LAUNCH_MICRO] * 1e-3;
    double hop = v->least_hop_s[shape->vp > 1] * shape->vp, beside = micro + hop;
    struct fit_stage_s stages[FIT_SHAPE_KINDS];
    struct fit_stages all = {.stages = stages};
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        struct fit_stage_s stage = kind_times(v, shape, &shape->kinds[i], choice, order);
        if (order == 0) {
            cut->kind_s[choice % FIT_PIPES_KEPT][i] = stage.total_s + micro;
        }
        stage.forward_s += beside / 2;
        stage.total_s += beside;
        if (shape->vp > 1) {
            stage.chunk_s = first_chunk_s(v, shape, &shape->kinds[i], order) + beside / shape->vp;
        }
        fit_add_stage(&all, stage);
    }
    if (shape->kind_count == FIT_SHAPE_KINDS) { /* stages may have been left out */
        all.least_s = 0;
        all.least_forward_s = 0;
        all.least_backward_s = 0;
        all.most_weight_s = 1e30;
    }
    return fit_pipe_floor_s(&v->layout, myr_layout_micro_batches(&v->layout), &all) *
           FIT_BOUND_SLACK * (1 + v->straggler);
}

/* The blocks of the order have to be there. */
static double order_floor_s(const struct fit_visit *v, struct fit_cut *cut, uint32_t choice,
                            uint32_t order)
{
    uint32_t slot = choice % FIT_PIPES_KEPT;
    order = v->as_first[order] ? 0 : order;
    if (cut->floor_choice[order][slot] != choice + 1) {
        cut->floor_choice[order][slot] = choice + 1;
        cut->floor_s[order][slot] = shape_floor_s(v, cut, choice, order);
    }
    return cut->floor_s[order][slot];
}

double fit_cut_floor_s(const struct fit_visit *v, struct fit_cut *cut, uint32_t choice)
{
    return order_floor_s(v, cut, choice, 0);
}

double fit_cut_played_s(const struct fit_visit *v, struct fit_cut *cut, uint32_t choice,
                        double limit)
{
    const struct fit_shape *shape = cut->shape;
    uint32_t slot = choice % FIT_PIPES_KEPT;
    double quick_s = fit_cut_floor_s(v, cut, choice);
    /* The quick bound is mostly within a twentieth: far below the limit playing excludes nothing.
     */
    if (quick_s > limit || quick_s * 1.1 < limit || shape->pp == 1) {
        return quick_s;
    }
    if (cut->played_choice[slot] != choice + 1) {
        struct myr_layout layout = v->layout;
        bool all = choice > 0 && choice == shape->chunk_most;
        fit_set_choice(v, shape, choice, &layout);
        cut->played_choice[slot] = choice + 1;
        cut->played_s[slot] = fit_pipe_s(&v->s->query->it, &layout, &v->blocks[0][all],
                                         v->least_hop_s[shape->vp > 1] * shape->vp) *
                              FIT_BOUND_SLACK * (1 + v->straggler);
    }
    return cut->played_s[slot];
}

/* Where groups lie matters to the layers of few models: mostly an order changes none of them. */
static bool same_layers(const struct fit_blocks *a, const struct fit_blocks *b)
{
    bool same = true;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        const struct fit_layer *one = &a->layers[k], *other = &b->layers[k];
        same = same && (!a->used[k] || (one->forward.total == other->forward.total &&
                                        one->backward.total == other->backward.total));
    }
    return same && fit_layer_s(&a->output) == fit_layer_s(&b->output) &&
           fit_layer_s(&a->embedding) == fit_layer_s(&b->embedding);
}

const struct fit_blocks *fit_blocks_for(struct fit_visit *v, uint32_t order, bool all)
{
    if (!v->priced[order]) {
        struct myr_layout layout = v->layout;
        memcpy(layout.order, v->orders[order], sizeof(layout.order));
        fit_set_chain(v->s, v->group->chain, &layout);
        fit_blocks_of(&v->s->query->it, &layout, &v->blocks[order][0]);
        v->blocks[order][1] = v->blocks[order][0];
        if (layout.recompute_layers > 0) {
            memcpy(v->blocks[order][1].layers, v->blocks[order][0].again,
                   sizeof(v->blocks[order][1].layers));
        }
        v->priced[order] = true;
        v->as_first[order] = same_layers(&v->blocks[order][0], &v->blocks[0][0]) &&
                             same_layers(&v->blocks[order][1], &v->blocks[0][1]);
    }
    return &v->blocks[order][all];
}

const struct fit_exchanges *fit_exchanges_for(struct fit_visit *v, const struct myr_layout *layout,
                                              uint32_t shard_at, uint32_t order)
{
    struct fit_search *s = v->s;
    size_t at = ((size_t)layout->zero * FIT_DIVISORS_MAX + shard_at) * FIT_ORDERS_MAX + order;
    struct fit_priced_exchanges *known = &s->exchanges[at];
    if (known->stamp != s->stamp) {
        known->stamp = s->stamp;
        known->of = (struct fit_exchanges){0};
        fit_exchanges_of(&s->query->it, layout, &v->places[order], &known->of);
    }
    return &known->of;
}

/*
 * What replicas exchange at least, and the optimiser: passes that hide as much as any stage's
 * could, parameters of the lightest stage.
 */
static const double *tail_floors_s(struct fit_visit *v, const struct myr_layout *cut,
                                   uint32_t shard_at)
{
    const struct myr_fit_query *q = v->s->query;
    bool spread = cut->vp > 1;
    double *known = v->tail_floor_s[spread][cut->zero][shard_at];
    if (known[0] >= 0) {
        return known;
    }
    struct myr_layout layout = *cut;
    layout.vp = spread ? v->depth->vp_most : 1;
    for (uint32_t o = 0; o < v->order_count; o++) {
        struct fit_pipe pipe = {.params = v->lightest};
        struct myr_fit_cost cost;
        const struct fit_blocks *blocks = fit_blocks_for(v, o, true);
        const struct fit_layer *output = &blocks->output, *first = &blocks->embedding;
        double layers = v->depth->most_layers + q->it.model->mtp_count, forward = 0, backward = 0;
        for (int k = 0; k < FIT_KIND_COUNT; k++) {
            forward = blocks->used[k] ? fit_max(forward, blocks->layers[k].forward.total) : forward;
            backward =
                blocks->used[k] ? fit_max(backward, blocks->layers[k].backward.total) : backward;
        }
        double outputs = 1 + q->it.model->mtp_count;
        pipe.forward_s = layers * forward + first->forward.total + outputs * output->forward.total;
        pipe.backward_s =
            layers * backward + first->backward.total + outputs * output->backward.total;
        pipe.micro_batches = myr_layout_micro_batches(&layout);
        fit_close_with(&q->it, &layout, &pipe, fit_exchanges_for(v, &layout, shard_at, o),
                       v->straggler, &cost);
        known[o] = cost.step_s * FIT_BOUND_SLACK;
    }
    return known;
}

double fit_least_tail_s(struct fit_visit *v, const struct myr_layout *cut)
{
    const struct myr_fit_query *q = v->s->query;
    double *least = &v->least_tail_s[cut->vp > 1];
    struct myr_layout layout = *cut;
    if (*least >= 0) {
        return *least;
    }
    *least = 1e30;
    for (uint32_t zero = 0; zero <= 3; zero++) {
        if (q->zero >= 0 && q->zero != (int)zero) {
            continue;
        }
        layout.zero = zero;
        for (uint32_t i = 0; i < (zero ? v->shard_count : 1); i++) {
            layout.shard = v->shards[i];
            const double *tails = tail_floors_s(v, &layout, i);
            for (uint32_t o = 0; o < v->order_count; o++) {
                *least = fit_min(*least, tails[o]);
            }
        }
    }
    return *least;
}

double fit_shard_floor_s(struct fit_visit *v, struct fit_cut *cut, const struct myr_layout *layout,
                         uint32_t shard_at, uint32_t choice, double pipe_s)
{
    const double *tails = tail_floors_s(v, layout, shard_at);
    double floor_s = 1e30;
    for (uint32_t o = 0; o < v->order_count; o++) {
        double own = fit_max(pipe_s, order_floor_s(v, cut, choice, o));
        floor_s = fit_min(floor_s, own + tails[o]);
    }
    return floor_s;
}

/*
 * Can this kind of stage be the slowest, in any order and with any more recomputation than
 * 'kind_s' is of? Not when the slowest has at least as many layers of each kind: layers only
 * become slower, what outer stages have beside them stays.
 */
static bool may_be_slowest(const struct fit_visit *v, const struct fit_cut *cut,
                           const double *kind_s, uint32_t i)
{
    const struct fit_stage_kind *kinds = cut->shape->kinds;
    uint32_t slowest = 0;
    for (uint32_t k = 1; k < cut->shape->kind_count; k++) {
        slowest = kind_s[k] > kind_s[slowest] ? k : slowest;
    }
    /* Prediction modules are layers beside the layers. */
    if (kind_s[i] >= kind_s[slowest] * FIT_BOUND_SLACK || v->s->query->it.model->mtp_count > 0) {
        return true;
    }
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        if (kinds[i].layers[k] > kinds[slowest].layers[k]) {
            return true;
        }
    }
    return false;
}

/* Passes that are no shorter than those of the slowest stage, whichever that is. */
static void longest_passes(struct fit_visit *v, const struct fit_cut *cut, uint32_t order,
                           uint32_t choice, struct fit_pipe *pipe)
{
    const struct fit_blocks *alone = fit_blocks_for(v, order, false), *again = &v->blocks[order][1];
    double outputs = 1 + v->s->query->it.model->mtp_count, mtp = outputs - 1;
    enum fit_kind mtp_kind = alone->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL;
    pipe->forward_s = 0;
    pipe->backward_s = 0;
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        const struct fit_stage_kind *kind = &cut->shape->kinds[i];
        double counts[FIT_KIND_COUNT], forward = 0, backward = 0;
        if (!cut->may_be_slowest[i]) {
            continue;
        }
        fit_count_again(v, cut->shape, kind, choice, counts);
        for (int k = 0; k < FIT_KIND_COUNT; k++) {
            if (kind->layers[k] > 0) {
                double rest = kind->layers[k] - counts[k];
                forward += kind->layers[k] * alone->layers[k].forward.total;
                backward += rest * alone->layers[k].backward.total +
                            counts[k] * again->layers[k].backward.total;
            }
        }
        forward += kind->first ? alone->embedding.forward.total : 0;
        backward += kind->first ? alone->embedding.backward.total : 0;
        if (kind->last) {
            forward += outputs * alone->output.forward.total;
            backward += outputs * alone->output.backward.total;
            forward += mtp > 0 ? mtp * alone->layers[mtp_kind].forward.total : 0;
            backward += mtp > 0 ? mtp * again->layers[mtp_kind].backward.total : 0;
        }
        pipe->forward_s = fit_max(pipe->forward_s, forward);
        pipe->backward_s = fit_max(pipe->backward_s, backward);
    }
}

/* A rank of DualPipe has two stages, and what both have, such as a tied table, only once. */
static struct myr_rank_params lightest_pair(const struct fit_visit *v, struct fit_cut *cut)
{
    struct myr_rank_params *least = &cut->lightest;
    for (uint32_t i = 0; !cut->lightest_known && i < cut->shape->pp / 2; i++) {
        struct myr_rank_params p = myr_rank_params(&v->layout, v->s->query->it.model, i);
        least->sharded = i == 0 || p.sharded < least->sharded ? p.sharded : least->sharded;
        least->replicated =
            i == 0 || p.replicated < least->replicated ? p.replicated : least->replicated;
        least->expert = i == 0 || p.expert < least->expert ? p.expert : least->expert;
    }
    cut->lightest_known = true;
    return *least;
}

/* Which stages may be the slowest from a choice on, and the fewest parameters of any of them. */
static struct myr_rank_params slowest_params(const struct fit_visit *v, struct fit_cut *cut,
                                             uint32_t low)
{
    struct myr_rank_params *least = &cut->slowest_params;
    bool dual = v->layout.schedule == MYR_SCHEDULE_DUALPIPE;
    if (cut->slowest_choice == low + 1) {
        return *least;
    }
    cut->slowest_choice = low + 1;
    *least = (struct myr_rank_params){UINT64_MAX, UINT64_MAX, UINT64_MAX};
    (void)fit_cut_floor_s(v, cut, low); /* the kinds' times */
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        const struct myr_rank_params *p = &cut->params[i];
        cut->may_be_slowest[i] =
            dual || may_be_slowest(v, cut, cut->kind_s[low % FIT_PIPES_KEPT], i);
        if (cut->may_be_slowest[i]) {
            least->sharded = p->sharded < least->sharded ? p->sharded : least->sharded;
            least->replicated =
                p->replicated < least->replicated ? p->replicated : least->replicated;
            least->expert = p->expert < least->expert ? p->expert : least->expert;
        }
    }
    if (dual) {
        *least = lightest_pair(v, cut);
    }
    return *least;
}

/* Passes no shorter than those of the slowest stage of any of these choices. */
static void passes_for(struct fit_visit *v, struct fit_cut *cut, uint32_t order, uint32_t low,
                       uint32_t high, struct fit_pipe *pipe)
{
    if (cut->passes_low[order] != low + 1 || cut->passes_high[order] != high) {
        longest_passes(v, cut, order, high, pipe);
        cut->passes_low[order] = low + 1;
        cut->passes_high[order] = high;
        cut->passes_s[order][0] = pipe->forward_s;
        cut->passes_s[order][1] = pipe->backward_s;
    }
    pipe->forward_s = cut->passes_s[order][0];
    pipe->backward_s = cut->passes_s[order][1];
}

double fit_choices_floor_s(struct fit_visit *v, struct fit_cut *cut,
                           const struct myr_layout *layout, uint32_t shard_at, uint32_t low,
                           uint32_t high, double pipe_s, double limit)
{
    const struct myr_fit_query *q = v->s->query;
    double floor_s = 1e30;
    if (cut->shape->kind_count == FIT_SHAPE_KINDS) {
        return pipe_s; /* stages may have been left out */
    }
    struct myr_rank_params least = slowest_params(v, cut, low);
    const double *tails = tail_floors_s(v, layout, shard_at);
    for (uint32_t o = 0; o < v->order_count; o++) {
        struct fit_pipe pipe = {.params = least};
        struct myr_fit_cost cost;
        double own = fit_max(pipe_s, order_floor_s(v, cut, low, o));
        if (layout->shard &&
            !fit_shard_aligned(layout, layout->shard / layout->cp, v->cp_first[o])) {
            continue;
        }
        if (own + tails[o] > limit) { /* and so is whatever its own stages say */
            floor_s = fit_min(floor_s, own + tails[o]);
            continue;
        }
        passes_for(v, cut, o, low, high, &pipe);
        pipe.micro_batches = myr_layout_micro_batches(layout);
        fit_close_with(&q->it, layout, &pipe, fit_exchanges_for(v, layout, shard_at, o),
                       v->straggler, &cost);
        floor_s = fit_min(floor_s, own + cost.step_s * FIT_BOUND_SLACK);
    }
    return floor_s;
}
