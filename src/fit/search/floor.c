/* floor: bounds on time from below, for cuts and for what replicas exchange. */
#include "search/visit.h"

/*
 * A bound must never be above what it bounds, or the search loses the best layout in silence. So
 * each leaves something out (overlaps, the slowest of several, rounding up), and all are multiplied
 * by FIT_BOUND_SLACK, which is a hair under one, for the rounding of sums. The property tests hold
 * them against fit_exhaust().
 */

double fit_least_hop_s(const struct fit_search *s, const struct myr_layout *layout)
{
    const struct myr_fit_case *it = &s->query->it;
    if (layout->pp == 1) {
        return 0;
    }
    /* Over the NICs of neighbouring domains, where those are the faster links. */
    struct fit_near apart = fit_near_all(layout->pp);
    apart.at[0] = 1;
    return fit_min(fit_hop_s(it, layout, fit_near_of(it, layout->pp, layout->tp)),
                   fit_hop_s(it, layout, apart));
}

void fit_count_recomputed(const struct fit_visit *v, const struct fit_shape *shape,
                          const struct fit_stage_kind *kind, uint32_t choice,
                          double counts[FIT_KIND_COUNT])
{
    if (choice > 0 && choice == shape->chunk_most) {
        memcpy(counts, kind->layers, sizeof(kind->layers));
        return;
    }
    memset(counts, 0, FIT_KIND_COUNT * sizeof(*counts));
    if (v->s->space->alike &&
        !shape->output_counts) { /* chunks of a stage differ by one layer at the most */
        int only = 0;
        while (v->s->layers[only] <= 0) {
            only++;
        }
        counts[only] = fit_min(choice * (double)shape->vp, kind->layers[only]);
        return;
    }
    for (uint32_t c = 0; choice > 0 && c < shape->vp; c++) {
        struct myr_span span = kind->spans[c];
        uint32_t recomputed = choice < span.count ? choice : span.count;
        const double *from = v->s->space->below[span.first];
        const double *to = v->s->space->below[span.first + recomputed];
        for (int k = 0; k < FIT_KIND_COUNT; k++) {
            counts[k] += to[k] - from[k];
        }
    }
}

/* Both passes of a micro-batch on one kind of stage, and the forward one; layers only in full. */
static struct fit_stage_s kind_times(const struct fit_visit *v, const struct fit_shape *shape,
                                     const struct fit_stage_kind *kind, uint32_t choice,
                                     const struct fit_briefs *briefs)
{
    bool all = choice > 0 && choice == shape->chunk_most;
    struct fit_stage_s ret = {.count = kind->count, .first = kind->stage, .last = kind->last_stage};
    double recomputed[FIT_KIND_COUNT] = {};
    if (choice > 0) {
        fit_count_recomputed(v, shape, kind, choice, recomputed);
    }
    if (kind->first) {
        ret.forward_s += briefs->first.forward_s;
        ret.weight_s += briefs->first.weight_s;
        ret.total_s += briefs->first.alone_s;
    }
    if (kind->last) {
        ret.forward_s += briefs->last.forward_s;
        ret.weight_s += briefs->last.weight_s;
        ret.total_s += all ? briefs->last.recompute_s : briefs->last.alone_s;
    }
    for (uint32_t i = 0; i < v->s->kind_count; i++) {
        uint32_t k = v->s->kinds[i];
        const struct fit_brief *one = &briefs->layers[k];
        ret.forward_s += kind->layers[k] * one->forward_s;
        ret.weight_s += kind->layers[k] * one->weight_s;
        ret.total_s += kind->layers[k] * one->alone_s + recomputed[k] * one->recompute_more_s;
    }
    return ret;
}

/* A step of the shape up to what replicas exchange, with the least transfers between stages. */
static double shape_floor_s(const struct fit_visit *v, const struct fit_shape *shape,
                            uint32_t choice, const struct fit_briefs *briefs,
                            double kind_s[FIT_SHAPE_KINDS])
{
    double micro = v->s->query->it.constants[FIT_LAUNCH_MICRO] * 1e-3;
    /* Half of what is beside layers belongs to each pass. */
    double hop = v->least_hop_s[shape->vp > 1] * shape->vp, beside = micro + hop;
    struct fit_stage_s stages[FIT_SHAPE_KINDS];
    struct fit_stages all = {.stages = stages};
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        struct fit_stage_s stage = kind_times(v, shape, &shape->kinds[i], choice, briefs);
        if (kind_s) {
            kind_s[i] = stage.total_s + micro;
        }
        stage.forward_s += beside / 2;
        stage.total_s += beside;
        if (shape->vp > 1) {
            stage.chunk_s = briefs->least_s * shape->kinds[i].first_chunk + beside / shape->vp;
        }
        fit_add_stage(&all, stage);
    }
    MYR_ASSERT(shape->kind_count > 0 && shape->kind_count <= FIT_SHAPE_KINDS);
    if (shape->kind_count == FIT_SHAPE_KINDS) { /* stages may have been left out */
        all.least_s = 0;
        all.least_forward_s = 0;
        all.least_backward_s = 0;
        all.most_weight_s = 1e30;
    }
    return fit_pipe_floor_s(&v->layout, v->micro_batches, &all) * FIT_BOUND_SLACK *
           (1 + v->straggler);
}

/* The blocks of the order have to be there. */
static double order_floor_s(const struct fit_visit *v, struct fit_cut *cut, uint32_t choice,
                            uint32_t order)
{
    /* A few slots by the choice's number, plus one so that zero is empty: neighbours do not meet.
     */
    uint32_t slot = choice % FIT_PIPES_KEPT;
    order = v->layers_like[order];
    if (cut->floor_choice[order][slot] != choice + 1) {
        cut->floor_choice[order][slot] = choice + 1;
        cut->floor_s[order][slot] = shape_floor_s(v, cut->shape, choice, v->briefs[order],
                                                  order == 0 ? cut->kind_s[slot] : NULL);
    }
    return cut->floor_s[order][slot];
}

double fit_cut_floor_s(const struct fit_visit *v, struct fit_cut *cut, uint32_t choice)
{
    return order_floor_s(v, cut, choice, 0);
}

/*
 * Playing is dear, so it is done only near the limit, where it may exclude what the sum does not.
 */
double fit_cut_played_s(struct fit_visit *v, struct fit_cut *cut, uint32_t choice, double limit)
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
        cut->played[slot] = fit_play_pipe(&v->s->query->it, &layout, fit_blocks_for(v, 0, all),
                                          v->least_hop_s[shape->vp > 1] * shape->vp);
    }
    double played_s = cut->played[slot].all_s * (1 + v->straggler);
    MYR_ASSERT(played_s >= quick_s); /* the one bounds what the other plays */
    return played_s * FIT_BOUND_SLACK;
}

const struct fit_blocks *fit_blocks_for(struct fit_visit *v, uint32_t order, bool all)
{
    order = v->layers_like[order];
    if (!v->priced[order]) {
        struct fit_blocks *blocks = v->blocks[order];
        struct myr_layout layout = v->layout;
        memcpy(layout.order, v->orders[order], sizeof(layout.order));
        fit_set_chain(v->s, v->group->chain, &layout);
        fit_blocks_of(&v->s->query->it, &layout, &blocks[0]);
        /* All layers recomputed: they take the place of those left alone. */
        blocks[1] = blocks[0];
        if (layout.recompute_layers > 0) {
            memcpy(blocks[1].layers, blocks[0].recomputed, sizeof(blocks[1].layers));
        }
        v->priced[order] = true;
    }
    return &v->blocks[order][all];
}

/* What layers take depends on where their own groups lie, and groups of other families lie alike.
 */
static const struct fit_briefs *briefs_for(struct fit_visit *v, uint32_t order)
{
    order = v->layers_like[order];
    const struct fit_places *places = &v->places[order];
    struct fit_priced_layers *known = v->group->priced;
    if (v->briefs[order]) {
        return v->briefs[order];
    }
    while (!fit_same_near(&known->cp_near, &places->cp_near) ||
           !fit_same_near(&known->ep_near, &places->ep_near)) {
        if (!known->next) {
            struct myr_layout layout = v->layout;
            memcpy(layout.order, v->orders[order], sizeof(layout.order));
            known->next = MYR_ARENA_ONE(v->s->arena, struct fit_priced_layers);
            known->next->next = NULL;
            known->next->cp_near = places->cp_near;
            known->next->ep_near = places->ep_near;
            fit_briefs_of(v->s, layout, v->group->chain, &known->next->briefs);
        }
        known = known->next;
    }
    v->briefs[order] = &known->briefs;
    return v->briefs[order];
}

/* ZeRO-2 exchanges as ZeRO-1 does, more often. */
static uint32_t exchanged_like(uint32_t zero)
{
    return zero == 2 ? 1 : zero;
}

const struct fit_exchanges *fit_exchanges_for(struct fit_visit *v, const struct myr_layout *layout,
                                              uint32_t shard_at, uint32_t order)
{
    struct fit_search *s = v->s;
    order = v->exchanges_like[order];
    const struct fit_exchanges *like = NULL;
    /* ZeRO-1 first: its rings are those of ZeRO-3. */
    for (uint32_t zero = layout->zero == 3 ? 1 : exchanged_like(layout->zero);; zero = 3) {
        size_t update = (size_t)zero * v->shard_count + shard_at;
        struct fit_priced_exchanges *known = &s->exchanges[update * (FIT_ORDERS_MAX + 1) + order];
        if (known->stamp != s->stamp) {
            struct myr_layout own = *layout;
            own.zero = zero;
            known->stamp = s->stamp;
            known->of = (struct fit_exchanges){};
            fit_exchanges_of(&s->query->it, &own, &v->places[order], like, &known->of);
        }
        like = &known->of;
        if (zero == exchanged_like(layout->zero)) {
            return like;
        }
    }
}

/* The lower of both ends may be no real transfer's: a bound need not be. */
static void lower_line(struct fit_line *to, struct fit_line from)
{
    to->fixed_s = fit_min(to->fixed_s, from.fixed_s);
    to->each_s = fit_min(to->each_s, from.each_s);
}

static void lower_exchange(struct fit_exchange *to, const struct fit_exchange *from)
{
    lower_line(&to->reduce, from->reduce);
    lower_line(&to->gather, from->gather);
    lower_line(&to->copies, from->copies);
}

/* No order exchanges faster than this. */
static const struct fit_exchanges *
least_exchanges(struct fit_visit *v, const struct myr_layout *layout, uint32_t shard_at)
{
    size_t update = (size_t)exchanged_like(layout->zero) * v->shard_count + shard_at;
    struct fit_priced_exchanges *known =
        &v->s->exchanges[update * (FIT_ORDERS_MAX + 1) + FIT_ORDERS_MAX];
    if (known->stamp != v->s->stamp) {
        known->stamp = v->s->stamp;
        known->of = *fit_exchanges_for(v, layout, shard_at, 0);
        for (uint32_t o = 1; o < v->order_count; o++) {
            /* An order that exchanges like an earlier one adds nothing. */
            if (v->exchanges_like[o] != o) {
                continue;
            }
            const struct fit_exchanges *other = fit_exchanges_for(v, layout, shard_at, o);
            lower_exchange(&known->of.dense, &other->dense);
            lower_exchange(&known->of.expert, &other->expert);
        }
    }
    return &known->of;
}

/* Passes that hide as much as any stage's could. */
static void widest_passes(struct fit_visit *v, uint32_t order, struct fit_pipe *pipe)
{
    const struct fit_briefs *briefs = briefs_for(v, order);
    double forward = 0, backward = 0;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        const struct fit_brief *one = &briefs->layers[k];
        forward = fit_max(forward, one->forward_s);
        backward = fit_max(backward, one->recompute_s - one->forward_s);
    }
    const struct fit_brief *first = &briefs->first, *last = &briefs->last;
    double most = v->depth->most_layers;
    forward = most * forward + first->forward_s + last->forward_s;
    backward = most * backward + first->recompute_s - first->forward_s + last->recompute_s -
               last->forward_s;
    pipe->forward_s = fit_max(pipe->forward_s, forward);
    pipe->backward_s = fit_max(pipe->backward_s, backward);
}

/*
 * What replicas exchange at least, and the optimiser, in each order: passes that hide as much as
 * any stage's could, parameters of the lightest stage.
 */
static const double *update_floors_s(struct fit_visit *v, const struct myr_layout *cut,
                                     uint32_t shard_at)
{
    double *known = v->update_floor_s[cut->vp > 1][cut->zero][shard_at];
    if (known[0] >= 0) {
        return known;
    }
    struct myr_layout layout = *cut;
    layout.vp = cut->vp > 1 ? v->depth->vp_most : 1; /* as many chunks as any cut has */
    for (uint32_t o = 0; o < v->order_count; o++) {
        uint32_t like = v->exchanges_like[o];
        if (like < o && v->layers_like[like] == v->layers_like[o]) {
            known[o] = known[like];
            continue;
        }
        struct fit_pipe pipe = {.params = v->lightest};
        widest_passes(v, o, &pipe);
        pipe.micro_batches = myr_layout_micro_batches(&layout);
        known[o] = fit_update_s(&v->s->query->it, &layout, &pipe,
                                fit_exchanges_for(v, &layout, shard_at, o)) *
                   FIT_BOUND_SLACK * (1 + v->straggler);
    }
    return known;
}

/* Passes that hide as much as those of any order. */
static const struct fit_pipe *widest_of_all(struct fit_visit *v)
{
    if (v->widest.micro_batches <= 0) {
        v->widest.micro_batches = myr_layout_micro_batches(&v->layout);
        v->widest.params = v->lightest;
        v->widest.forward_s = 0;
        v->widest.backward_s = 0;
        for (uint32_t o = 0; o < v->order_count; o++) {
            if (v->layers_like[o] == o) {
                widest_passes(v, o, &v->widest);
            }
        }
    }
    return &v->widest;
}

/*
 * What of an update does not grow with the parameters, at most: latencies, as often as they are
 * met, and the step's own. Sums of the larger of lines are convex: from nothing to the lightest
 * stage an update grows no faster than from there on, so whatever is beyond this grows in
 * proportion at least.
 */
static double fixed_most_s(const struct fit_visit *v, uint32_t zero,
                           const struct fit_exchanges *exchanges)
{
    const struct fit_exchange *d = &exchanges->dense, *e = &exchanges->expert;
    double once = d->reduce.fixed_s + d->gather.fixed_s + d->copies.fixed_s + e->reduce.fixed_s +
                  e->gather.fixed_s + e->copies.fixed_s;
    const double *c = v->s->query->it.constants;
    double seen = fit_max(1, fit_max(c[FIT_DATA_FLOOR], c[FIT_ZERO3_FLOOR]));
    return once * seen * (zero >= 2 ? 2 * v->micro_batches : 1) + c[FIT_STEP] * 1e-3;
}

/* Known once for a group; fills the bounds of the single shards on the way. */
double fit_zero_update_s(struct fit_visit *v, bool interleaved, uint32_t zero)
{
    const struct myr_fit_query *q = v->s->query;
    double *known = &v->zero_update_s[interleaved][zero];
    if (*known >= 0) {
        return *known;
    }
    double *rise = &v->zero_rise_s[interleaved][zero];
    *known = 1e30;
    *rise = 0;
    if (!fit_zero_allowed(q, zero, v->depth->pp)) {
        return *known;
    }
    struct myr_layout layout = v->layout;
    layout.vp = interleaved ? v->depth->vp_most : 1;
    layout.zero = zero;
    *rise = 1e30;
    for (uint32_t i = 0; i < (zero ? v->shard_count : 1); i++) {
        layout.shard = v->shards[i];
        const struct fit_exchanges *least = least_exchanges(v, &layout, i);
        double update = fit_update_s(&q->it, &layout, widest_of_all(v), least);
        double grows = fit_max(0, update - fixed_most_s(v, zero, least));
        update *= FIT_BOUND_SLACK * (1 + v->straggler);
        grows *= FIT_BOUND_SLACK * (1 + v->straggler);
        v->shard_update_s[interleaved][zero][i] = update;
        v->shard_rise_s[interleaved][zero][i] = grows;
        *known = fit_min(*known, update);
        *rise = fit_min(*rise, grows);
    }
    if (zero == 0 || zero == 3) { /* what chunks there are changes nothing */
        uint32_t count = zero ? v->shard_count : 1;
        memcpy(v->shard_update_s[!interleaved][zero], v->shard_update_s[interleaved][zero],
               count * sizeof(double));
        memcpy(v->shard_rise_s[!interleaved][zero], v->shard_rise_s[interleaved][zero],
               count * sizeof(double));
        v->zero_update_s[!interleaved][zero] = *known;
        v->zero_rise_s[!interleaved][zero] = *rise;
    }
    return *known;
}

/* The order that is best for both together: the least sum, not the sum of the least. */
double fit_shard_floor_s(struct fit_visit *v, struct fit_cut *cut, const struct myr_layout *layout,
                         uint32_t shard_at, uint32_t choice, double pipe_s)
{
    const double *updates = update_floors_s(v, layout, shard_at);
    double floor_s = 1e30;
    for (uint32_t o = 0; o < v->order_count; o++) {
        double own = fit_max(pipe_s, order_floor_s(v, cut, choice, o));
        floor_s = fit_min(floor_s, own + updates[o]);
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
    const struct fit_briefs *briefs = briefs_for(v, order);
    pipe->forward_s = 0;
    pipe->backward_s = 0;
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        const struct fit_stage_kind *kind = &cut->shape->kinds[i];
        double counts[FIT_KIND_COUNT], forward = 0, both = 0;
        if (!cut->may_be_slowest[i]) {
            continue;
        }
        fit_count_recomputed(v, cut->shape, kind, choice, counts);
        for (int k = 0; k < FIT_KIND_COUNT; k++) {
            const struct fit_brief *one = &briefs->layers[k];
            forward += kind->layers[k] * one->forward_s;
            both += kind->layers[k] * one->alone_s + counts[k] * one->recompute_more_s;
        }
        forward += kind->first ? briefs->first.forward_s : 0;
        both += kind->first ? briefs->first.alone_s : 0;
        forward += kind->last ? briefs->last.forward_s : 0;
        both += kind->last ? briefs->last.recompute_s : 0;
        pipe->forward_s = fit_max(pipe->forward_s, forward);
        pipe->backward_s = fit_max(pipe->backward_s, both - forward);
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
    const double *updates = update_floors_s(v, layout, shard_at);
    for (uint32_t o = 0; o < v->order_count; o++) {
        struct fit_pipe pipe = {.params = least};
        double own = fit_max(pipe_s, order_floor_s(v, cut, low, o));
        if (!v->shard_fits[shard_at][v->cp_first[o]]) {
            continue;
        }
        if (own + updates[o] > limit) { /* and so is whatever its own stages say */
            floor_s = fit_min(floor_s, own + updates[o]);
            continue;
        }
        passes_for(v, cut, o, low, high, &pipe);
        pipe.micro_batches = myr_layout_micro_batches(layout);
        double update =
            fit_update_s(&q->it, layout, &pipe, fit_exchanges_for(v, layout, shard_at, o));
        floor_s = fit_min(floor_s, own + update * FIT_BOUND_SLACK * (1 + v->straggler));
    }
    return floor_s;
}
