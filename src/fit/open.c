/* open: one group looked into: cuts, choices, shards and orders that no bound excludes. */
#include "visit.h"

void fit_set_choice(const struct fit_visit *v, const struct fit_shape *shape, uint32_t choice,
                    struct myr_layout *layout)
{
    if (v->group->chain == FIT_CHAIN_SELECTIVE) {
        layout->recompute = MYR_RECOMPUTE_SELECTIVE;
        layout->recompute_layers = 0;
        return;
    }
    layout->recompute = choice ? MYR_RECOMPUTE_FULL : MYR_RECOMPUTE_NONE;
    layout->recompute_layers = choice < shape->chunk_most ? choice : 0;
}

static uint32_t choice_first(const struct fit_visit *v, const struct fit_shape *shape)
{
    bool all = v->s->query->recompute == MYR_RECOMPUTE_FULL;
    return v->group->chain == FIT_CHAIN_COUNTS && all ? shape->chunk_most : 0;
}

static uint32_t choice_last(const struct fit_visit *v, const struct fit_shape *shape)
{
    bool none = v->s->query->recompute == MYR_RECOMPUTE_NONE;
    return v->group->chain == FIT_CHAIN_SELECTIVE || none ? 0 : shape->chunk_most;
}

static const struct fit_pipe *pipe_for(struct fit_visit *v, struct fit_cut *cut, uint32_t order,
                                       uint32_t choice, const struct myr_layout *layout)
{
    uint32_t slot = choice % FIT_PIPES_KEPT;
    if (cut->pipe_choice[order][slot] != choice + 1) {
        bool all = choice > 0 && choice == cut->shape->chunk_most;
        fit_pipe_of(&v->s->query->it, layout, fit_blocks_for(v, order, all),
                    &cut->pipes[order][slot]);
        cut->pipe_choice[order][slot] = choice + 1;
    }
    return &cut->pipes[order][slot];
}

/* Prices a layout in every order. */
static void price_orders(struct fit_visit *v, struct fit_cut *cut, struct myr_layout layout,
                         uint32_t shard_at, uint32_t choice)
{
    struct fit_search *s = v->s;
    const struct myr_fit_query *q = s->query;
    bool fits = false;
    for (uint32_t o = 0; o < v->order_count; o++) {
        struct myr_fit_cost cost;
        memcpy(layout.order, v->orders[o], sizeof(layout.order));
        if (layout.shard && !fit_shard_aligned(&layout, layout.shard / layout.cp, v->cp_first[o])) {
            continue;
        }
        fit_close_with(&q->it, &layout, pipe_for(v, cut, o, choice, &layout),
                       fit_exchanges_for(v, &layout, shard_at, o), v->straggler, &cost);
        s->answer->costed++;
        if (!fit_keep_wants(s->answer, q->top, &layout, cost.step_s)) {
            continue;
        }
        if (!fits) {
            struct myr_fit_memory memory;
            myr_fit_memory_of(&q->it, &layout, &memory);
            if (!memory.fits) {
                return; /* in no order */
            }
            fits = true;
        }
        fit_keep(s->answer, q->top, &layout, cost.step_s);
    }
}

/*
 * Choices from low to high. More recomputation makes the pipeline slower, and at the same time
 * longer passes hide more of the exchange: the first of the one and the last of the other are no
 * more than any of them takes together.
 */
static void visit_choices(struct fit_visit *v, struct fit_cut *cut, struct myr_layout layout,
                          uint32_t shard_at, uint32_t low, uint32_t high)
{
    struct fit_search *s = v->s;
    double limit = fit_keep_limit(s->answer, s->query->top, &layout);
    if (low > high) {
        return;
    }
    if (v->rising) {
        double quick_s = fit_cut_floor_s(v, cut, low);
        double all_s = fit_choices_floor_s(v, cut, &layout, shard_at, low, high, quick_s, limit);
        double pipe_s = all_s > limit ? 0 : fit_cut_played_s(v, cut, low, limit - all_s + quick_s);
        if (all_s > limit ||
            (all_s - quick_s + pipe_s > limit &&
             fit_choices_floor_s(v, cut, &layout, shard_at, low, high, pipe_s, limit) > limit)) {
            return;
        }
    }
    if (low == high) {
        fit_set_choice(v, cut->shape, low, &layout);
        price_orders(v, cut, layout, shard_at, low);
        return;
    }
    uint32_t middle = low + (high - low) / 2;
    visit_choices(v, cut, layout, shard_at, low, middle);
    visit_choices(v, cut, layout, shard_at, middle + 1, high);
}

/*
 * One (zero, shard) of a cut, from the least recomputation that may fit; cheap questions first.
 * False when the state leaves no room, whatever is made again.
 */
static bool visit_shard(struct fit_visit *v, struct fit_cut *cut, struct myr_layout layout,
                        uint32_t shard_at)
{
    struct fit_search *s = v->s;
    double limit = fit_keep_limit(s->answer, s->query->top, &layout);
    bool bounded = v->rising && !v->quick;
    if (bounded && fit_shard_floor_s(v, cut, &layout, shard_at, cut->first,
                                     fit_cut_floor_s(v, cut, cut->first)) > limit) {
        return true;
    }
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        if (!cut->params_known) {
            cut->params[i] =
                myr_rank_params(&layout, s->query->it.model, cut->shape->kinds[i].stage);
        }
        cut->state[i] = fit_state_bytes(&layout, &cut->params[i]);
    }
    cut->params_known = true;
    uint32_t least = fit_least_choice(v, cut, cut->first);
    if (least > cut->last) {
        return false;
    }
    if (bounded && fit_shard_floor_s(v, cut, &layout, shard_at, least,
                                     fit_cut_floor_s(v, cut, least)) > limit) {
        return true;
    }
    visit_choices(v, cut, layout, shard_at, least, v->quick ? least : cut->last);
    return true;
}

/* The state takes the more the smaller the shard: where one has no room, no smaller one has. */
static void visit_shards(struct fit_visit *v, struct fit_cut *cut)
{
    const struct myr_fit_query *q = v->s->query;
    for (uint32_t zero = 0; zero <= 3; zero++) {
        if (q->zero >= 0 && q->zero != (int)zero) {
            continue;
        }
        uint32_t count = zero ? v->shard_count : 1;
        for (uint32_t i = 0; i < count; i++) {
            struct myr_layout layout = v->layout;
            uint32_t at = i ? count - i : 0; /* the first is all of them, the others ascend */
            layout.zero = zero;
            layout.shard = v->shards[at];
            if (!visit_shard(v, cut, layout, at)) {
                break;
            }
        }
    }
}

static void visit_cut(struct fit_visit *v, const struct fit_shape *shape)
{
    struct fit_search *s = v->s;
    const struct myr_fit_query *q = s->query;
    struct fit_cut cut; /* large, and mostly filled when needed */
    cut.shape = shape;
    cut.params_known = false;
    cut.lightest_known = false;
    memset(cut.floor_choice, 0, sizeof(cut.floor_choice));
    memset(cut.kept_choice, 0, sizeof(cut.kept_choice));
    memset(cut.state, 0, sizeof(cut.state));
    memset(cut.flights, 0, sizeof(cut.flights));
    memset(cut.pipe_choice, 0, sizeof(cut.pipe_choice));
    memset(cut.played_choice, 0, sizeof(cut.played_choice));
    memset(cut.passes_low, 0, sizeof(cut.passes_low));
    cut.slowest_choice = 0;
    v->layout.vp = shape->vp;
    v->layout.first_layers = shape->first_layers;
    v->layout.last_layers = shape->last_layers;
    cut.first = choice_first(v, shape);
    cut.last = choice_last(v, shape);
    double limit = fit_keep_limit(s->answer, q->top, &v->layout);
    if (fit_cut_floor_s(v, &cut, cut.first) > limit && v->rising) {
        return;
    }
    double tail = v->rising && !v->quick ? fit_least_tail_s(v, &v->layout) : 0;
    if (v->rising && fit_cut_floor_s(v, &cut, cut.first) + tail > limit) {
        return;
    }
    /* Before anything is known of the state: what the layers keep may be too much already. */
    uint32_t least = fit_least_choice(v, &cut, cut.first);
    if (least > cut.last || (v->rising && fit_cut_floor_s(v, &cut, least) + tail > limit)) {
        return;
    }
    cut.first = v->rising ? least : cut.first;
    visit_shards(v, &cut);
}

/* Opening a group */

static void list_tails(struct fit_visit *v)
{
    const struct fit_search *s = v->s;
    struct myr_layout l = v->layout;
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    uint32_t count = fit_orders(&l, orders);
    v->order_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(l.order, orders[i], sizeof(l.order));
        if (fit_stages_aligned(&l)) {
            v->cp_first[v->order_count] = fit_is_cp_first(l.order);
            memcpy(v->orders[v->order_count], orders[i], sizeof(orders[i]));
            v->places[v->order_count++] = fit_places_of(&s->query->it, &l);
        }
    }
    v->shards[0] = 0;
    v->shard_count = 1;
    uint32_t edp = myr_layout_edp(&l);
    for (uint32_t k = 0; k < s->space->divisor_count && s->space->divisors[k] < l.dp; k++) {
        uint32_t d = s->space->divisors[k];
        if (d > 1 && l.dp % d == 0 && edp % (l.dp / d) == 0) {
            v->shards[v->shard_count++] = d * l.cp;
        }
    }
}

/* Parameters that every stage has at least, scaled from the first cut to the fewest layers. */
static struct myr_rank_params lightest_of(const struct fit_visit *v)
{
    const struct fit_search *s = v->s;
    const struct fit_shape *shape = &s->space->shapes[v->depth->first_shape];
    double sharded = 1e30, replicated = 1e30, expert = 1e30;
    struct myr_layout layout = v->layout;
    layout.vp = shape->vp;
    layout.first_layers = shape->first_layers;
    layout.last_layers = shape->last_layers;
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        struct myr_rank_params p =
            myr_rank_params(&layout, s->query->it.model, shape->kinds[i].stage);
        const double *of = shape->kinds[i].layers;
        double moe = of[FIT_MOE_FULL] + of[FIT_MOE_WINDOW];
        double layers = of[FIT_DENSE_FULL] + of[FIT_DENSE_WINDOW] + moe;
        double share = layers > 0 ? fit_min(1, v->depth->least_layers / layers) : 0;
        double moe_share = moe > 0 ? fit_min(1, v->depth->least_moe / moe) : 0;
        sharded = fit_min(sharded, share * (double)p.sharded);
        replicated = fit_min(replicated, share * (double)p.replicated);
        expert = fit_min(expert, moe_share * (double)p.expert);
    }
    return (struct myr_rank_params){(uint64_t)sharded, (uint64_t)replicated, (uint64_t)expert};
}

/* What all cuts of a group share; false when the group is out of the question. */
static bool begin_visit(struct fit_visit *v, struct fit_search *s, const struct fit_group *group,
                        bool quick)
{
    const struct myr_fit_query *q = s->query;
    const struct fit_depth *depth = &s->space->depths[group->depth];
    s->stamp++;
    v->s = s;
    v->group = group;
    v->depth = depth;
    v->layout = *group->width;
    memset(v->priced, 0, sizeof(v->priced));
    v->least_hop_s[1] = 0;
    v->layout.pp = depth->pp;
    v->layout.dp = q->gpus / (v->layout.tp * v->layout.cp * depth->pp);
    v->layout.micro_batch = group->micro_batch;
    v->layout.schedule = group->dual ? MYR_SCHEDULE_DUALPIPE : MYR_SCHEDULE_1F1B;
    if (group->floor_s > fit_keep_limit(s->answer, q->top, &v->layout)) {
        return false;
    }
    list_tails(v);
    v->quick = quick;
    if (quick) {
        v->shard_count = 1;
        v->order_count = 1;
    }
    v->straggler = fit_straggler_share(&q->it, &v->layout);
    v->limit_bytes = s->limit_bytes;
    v->kept = fit_kept_of(s, v->layout, group->chain);
    v->kept.output = (double)myr_state_of(&v->layout, q->it.model, depth->pp - 1).output_bytes;
    const struct fit_blocks *alone = fit_blocks_for(v, 0, false), *again = &v->blocks[0][1];
    v->rising = true;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        v->rising = v->rising && (!alone->used[k] ||
                                  fit_layer_s(&again->layers[k]) >= fit_layer_s(&alone->layers[k]));
    }
    v->least_hop_s[0] = fit_least_hop_s(s, &v->layout);
    v->lightest = lightest_of(v);
    for (int i = 0; i < 2; i++) {
        v->least_tail_s[i] = -1;
        for (uint32_t j = 0; j < 4 * v->shard_count; j++) {
            v->tail_floor_s[i][j % 4][j / 4][0] = -1;
        }
    }
    return true;
}

static void visit_cuts(struct fit_visit *v)
{
    const struct fit_search *s = v->s;
    const struct fit_depth *depth = v->depth;
    for (uint32_t i = 0; i < depth->shape_count; i++) {
        const struct fit_shape *shape = &s->space->shapes[depth->first_shape + i];
        for (int schedule = 0; schedule <= MYR_SCHEDULE_DUALPIPE; schedule++) {
            bool spread = schedule == MYR_SCHEDULE_INTERLEAVED;
            v->layout.schedule = (enum myr_schedule)schedule;
            if (!fit_schedule_allowed(s->query, v->layout.schedule, depth->pp) ||
                spread != (shape->vp > 1) ||
                v->group->dual != (schedule == MYR_SCHEDULE_DUALPIPE) ||
                (spread && !fit_interleaves(s, &v->layout, depth))) {
                continue;
            }
            if (spread && v->least_hop_s[1] <= 0) {
                v->layout.vp = 2;
                v->least_hop_s[1] = fit_least_hop_s(s, &v->layout) / 2;
            }
            if (!v->quick || shape->first_layers == 0) {
                visit_cut(v, shape);
            }
        }
    }
}

void fit_open_group(struct fit_search *s, const struct fit_group *group, bool quick)
{
    struct fit_visit v; /* large, and mostly filled when needed */
    if (begin_visit(&v, s, group, quick)) {
        visit_cuts(&v);
    }
}
