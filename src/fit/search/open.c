/* open: one family looked into: groups, cuts, choices, shards and orders that no bound excludes. */
#include "search/visit.h"

/* The choices that the question leaves: all layers, none, or every number between. */
static uint32_t choice_first(const struct fit_visit *v, const struct fit_shape *shape)
{
    bool all = v->s->query->recompute == MYR_RECOMPUTE_FULL;
    return v->group->chain != FIT_CHAIN_COUNTS ? 0
           : all                               ? fit_layers_again(v->s->query, shape->chunk_most)
                                               : v->s->space->parted;
}

static uint32_t choice_last(const struct fit_visit *v, const struct fit_shape *shape)
{
    bool none = v->s->query->recompute == MYR_RECOMPUTE_NONE;
    bool all = v->s->query->recompute == MYR_RECOMPUTE_FULL;
    return v->group->chain != FIT_CHAIN_COUNTS || none ? 0
           : all ? fit_layers_again(v->s->query, shape->chunk_most)
                 : shape->chunk_most;
}

/* An order whose pipeline is known and the same: layers and transfers take as long. */
static const struct fit_pipe *known_pipe(const struct fit_visit *v, const struct fit_cut *cut,
                                         uint32_t order, uint32_t choice)
{
    uint32_t slot = choice % FIT_PIPES_KEPT;
    for (uint32_t o = 0; o < v->order_count; o++) {
        if (cut->pipe_choice[o][slot] == choice + 1 && v->layers_like[o] == v->layers_like[order] &&
            fit_same_near(&v->places[o].pp_near, &v->places[order].pp_near)) {
            return &cut->pipes[o][slot];
        }
    }
    return NULL;
}

/*
 * Played once for a cut and choice, and kept in one of a few slots; neighbours do not meet there.
 */
static const struct fit_pipe *pipe_for(struct fit_visit *v, struct fit_cut *cut, uint32_t order,
                                       uint32_t choice, const struct myr_layout *layout)
{
    const struct myr_fit_case *it = &v->s->query->it;
    const struct fit_pipe *known = known_pipe(v, cut, order, choice);
    uint32_t slot = choice % FIT_PIPES_KEPT;
    MYR_ASSERT(order < v->order_count && choice <= cut->shape->chunk_most);
    if (known) {
        return known;
    }
    bool all = choice > 0 && choice == cut->shape->chunk_most;
    const struct fit_blocks *blocks = fit_blocks_for(v, order, all);
    double hop = fit_hop_s(it, layout, v->places[order].pp_near);
    double least_hop = v->least_hop_s[cut->shape->vp > 1] * cut->shape->vp;
    bool bounded = cut->played_choice[slot] == choice + 1 && v->layers_like[order] == 0;
    struct fit_played played = bounded && hop == least_hop
                                   ? cut->played[slot] /* for a bound, and it is the time */
                                   : fit_play_pipe(it, layout, blocks, hop);
    fit_pipe_from(it, layout, blocks, hop, &played, &cut->pipes[order][slot]);
    cut->pipe_choice[order][slot] = choice + 1;
    return &cut->pipes[order][slot];
}

/*
 * Prices a layout in every order; memory, the dearer question, only of one that would be kept. No
 * order takes less than 'floor_s'.
 */
static void price_orders(struct fit_visit *v, struct fit_cut *cut, struct myr_layout layout,
                         uint32_t shard_at, uint32_t choice, double floor_s)
{
    struct fit_search *s = v->s;
    const struct myr_fit_query *q = s->query;
    bool fits = false;
    for (uint32_t o = 0; o < (v->quick ? 1 : v->order_count); o++) {
        struct myr_fit_cost cost;
        memcpy(layout.order, v->orders[o], sizeof(layout.order));
        if (!v->shard_fits[shard_at][v->cp_first[o]]) {
            continue;
        }
        fit_close_with(&q->it, &layout, pipe_for(v, cut, o, choice, &layout),
                       fit_exchanges_for(v, &layout, shard_at, o), v->straggler, &cost);
        s->answer->costed++;
        /* A bound above what it bounds would lose the best layout in silence. */
        MYR_ASSERT(cost.step_s >= floor_s);
        if (!fit_best_wants(s->answer, q->top, &layout, cost.step_s)) {
            continue;
        }
        if (!fits) {
            struct myr_fit_memory memory;
            myr_fit_memory_of(&q->it, &layout, &memory);
            if (!(q->tight ? memory.fits : memory.sure)) {
                return; /* in no order */
            }
            fits = true;
        }
        /* That of the group knows what memory asks for. */
        MYR_ASSERT(!v->rising || cost.step_s >= v->group->floor_s);
        fit_best_add(s->answer, q->top, &layout, cost.step_s);
        v->limit_s = fit_best_limit(s->answer, q->top, &layout);
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
    double limit = v->limit_s, floor_s = 0;
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
        floor_s = all_s;
    }
    if (low == high) {
        fit_set_choice(v, cut->shape, low, &layout);
        price_orders(v, cut, layout, shard_at, low, floor_s);
        return;
    }
    /* Halves: where neither falls by its bound this costs twice the bounds, mostly far less. */
    uint32_t middle = low + (high - low) / 2;
    visit_choices(v, cut, layout, shard_at, low, middle);
    visit_choices(v, cut, layout, shard_at, middle + 1, high);
}

/*
 * One (zero, shard) of a cut, from the least recomputation that may fit; cheap questions first.
 * False when the state leaves no room, whatever is recomputed.
 */
static bool visit_shard(struct fit_visit *v, struct fit_cut *cut, struct myr_layout layout,
                        uint32_t shard_at)
{
    struct fit_search *s = v->s;
    double limit = v->limit_s;
    bool bounded = v->rising && !v->quick;
    if (bounded && fit_shard_floor_s(v, cut, &layout, shard_at, cut->first,
                                     fit_cut_floor_s(v, cut, cut->first)) > limit) {
        return true;
    }
    /* From here on memory is asked: parameters of each kind of stage, once for the cut. */
    struct fit_state_each each = fit_state_floor(&layout);
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        if (!cut->params_known) {
            cut->params[i] =
                myr_rank_params(&layout, s->query->it.model, cut->shape->kinds[i].stage);
        }
        cut->state[i] = fit_state_of(each, &cut->params[i]);
    }
    cut->params_known = true;
    uint32_t least = fit_least_choice(v, cut, cut->first);
    if (least > cut->last) {
        return false;
    }
    /* Who makes all layers again or none has two choices, of which the first may not fit. */
    bool whole = !s->query->it.stack->blocks && s->query->recompute < 0 && cut->last > 0;
    if (whole && least == 0 && !v->quick) {
        visit_choices(v, cut, layout, shard_at, 0, 0);
    }
    least = whole && (least > 0 || !v->quick) ? cut->last : least;
    visit_choices(v, cut, layout, shard_at, least, v->quick ? least : cut->last);
    return true;
}

/* The state takes the more the smaller the shard: where one has no room, no smaller one has. */
static void visit_shards(struct fit_visit *v, struct fit_cut *cut)
{
    bool bounded = v->rising;
    /* Exchanges are bounded apart for cuts with several chunks a stage. */
    bool spread = v->layout.vp > 1;
    double rise = cut->shape->rise;
    for (uint32_t zero = 0; zero <= 3; zero++) {
        uint32_t count = zero && !v->quick ? v->shard_count : 1;
        if (cut->zero_first[zero] > cut->last) {
            continue;
        }
        double pipe_s = cut->zero_pipe_s[zero];
        if (bounded && pipe_s + fit_zero_update_s(v, spread, zero) > v->limit_s) {
            continue;
        }
        const double *updates = v->shard_update_s[spread][zero];
        const double *rises = v->shard_rise_s[spread][zero];
        for (uint32_t i = 0; i < count; i++) {
            uint32_t at = i ? count - i : 0; /* the first is all of them, the others ascend */
            if (bounded && pipe_s + updates[at] + rise * rises[at] > v->limit_s) {
                continue;
            }
            struct myr_layout layout = v->layout;
            layout.zero = zero;
            layout.shard = zero ? v->shards[at] : 0;
            cut->first = cut->zero_first[zero];
            if (!visit_shard(v, cut, layout, at)) {
                break;
            }
        }
    }
}

static void begin_cut(struct fit_cut *cut, const struct fit_shape *shape)
{
    /* What was kept of the last cut; the choices are stored plus one, so zero is "not known". */
    cut->shape = shape;
    cut->params_known = false;
    cut->lightest_known = false;
    cut->slowest_choice = 0;
    memset(cut->floor_choice, 0, sizeof(cut->floor_choice));
    memset(cut->kept_choice, 0, sizeof(cut->kept_choice));
    memset(cut->flights, 0, sizeof(cut->flights));
    memset(cut->pipe_choice, 0, sizeof(cut->pipe_choice));
    memset(cut->played_choice, 0, sizeof(cut->played_choice));
    memset(cut->passes_low, 0, sizeof(cut->passes_low));
}

/* The state of the layers alone, cut as fine as a ZeRO stage can. */
static void set_least_state(const struct fit_visit *v, struct fit_cut *cut, uint32_t zero)
{
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        const double *layers = cut->shape->kinds[i].layers;
        cut->state[i] =
            (layers[FIT_DENSE_FULL] + layers[FIT_DENSE_WINDOW]) * v->layer_bytes[zero][0] +
            (layers[FIT_MOE_FULL] + layers[FIT_MOE_WINDOW]) * v->layer_bytes[zero][1];
    }
}

/*
 * What no layout of the cut beats: for each ZeRO stage the recomputation that memory asks for at
 * least, and the least that replicas exchange. Above the limit not so exact.
 */
static double bound_cut(struct fit_visit *v, const struct fit_shape *shape, double limit,
                        struct fit_cut *cut)
{
    uint32_t first = choice_first(v, shape), least = first;
    cut->last = choice_last(v, shape);
    for (uint32_t zero = 0; zero <= 3; zero++) {
        cut->zero_first[zero] = cut->last + 1;
    }
    double first_s = v->rising ? fit_shape_quick_s(v, shape, first) : 0, bound_s = 1e30;
    if (first_s > limit) {
        return first_s; /* as most do */
    }
    begin_cut(cut, shape);
    if (v->rising && v->layout.schedule > MYR_SCHEDULE_INTERLEAVED) { /* three say less there */
        first_s = fit_cut_floor_s(v, cut, first);
        if (first_s > limit) {
            return first_s;
        }
    }
    for (uint32_t zero = 4; zero-- > 0;) { /* the finer the state is cut, the less is recomputed */
        if (!fit_zero_allowed(v->s->query, zero, shape->pp) || least > cut->last) {
            continue;
        }
        double update_s = 0;
        if (v->rising) {
            update_s = v->zero_update_s[shape->vp > 1][zero]; /* mostly known */
            update_s = update_s < 0 ? fit_zero_update_s(v, shape->vp > 1, zero) : update_s;
            update_s += shape->rise * v->zero_rise_s[shape->vp > 1][zero];
        }
        if (first_s + update_s > limit) { /* before memory is asked */
            bound_s = fit_min(bound_s, first_s + update_s);
            continue;
        }
        set_least_state(v, cut, zero);
        least = fit_least_choice(v, cut, least);
        if (least > cut->last) {
            continue;
        }
        double quick_s = v->rising && least > first ? fit_shape_quick_s(v, shape, least) : first_s;
        if (quick_s + update_s > limit) {
            bound_s = fit_min(bound_s, quick_s + update_s);
            continue;
        }
        cut->zero_first[zero] = v->rising ? least : first;
        cut->zero_pipe_s[zero] = v->rising ? fit_cut_floor_s(v, cut, least) : 0;
        bound_s = fit_min(bound_s, cut->zero_pipe_s[zero] + update_s);
    }
    return bound_s;
}

/* Opening a family */

/* Mostly an order moves a few groups only: what does not change is not priced again. */
static void find_alike(struct fit_visit *v)
{
    for (uint32_t o = 0; o < v->order_count; o++) {
        const struct fit_places *own = &v->places[o];
        struct fit_near all = fit_near_times(own->dp_near, own->cp_near);
        /* Itself, unless an earlier order is the same; the earliest one wins. */
        v->layers_like[o] = o;
        v->exchanges_like[o] = o;
        for (uint32_t i = o; i-- > 0;) {
            const struct fit_places *other = &v->places[i];
            struct fit_near other_all = fit_near_times(other->dp_near, other->cp_near);
            if (fit_same_near(&own->cp_near, &other->cp_near) &&
                fit_same_near(&own->ep_near, &other->ep_near)) {
                v->layers_like[o] = i;
            }
            if (fit_same_near(&all, &other_all) &&
                fit_same_near(&own->edp_near, &other->edp_near)) {
                v->exchanges_like[o] = i;
            }
        }
    }
}

/* Orders and shards that are legal for the family, and where groups lie in each order. */
static void list_updates(struct fit_visit *v)
{
    const struct fit_search *s = v->s;
    struct myr_layout l = v->layout;
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    uint32_t count = fit_orders(s->space, &l, orders);
    v->order_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(l.order, orders[i], sizeof(l.order));
        if (fit_stages_aligned(&l)) {
            v->cp_first[v->order_count] = fit_is_cp_first(l.order);
            memcpy(v->orders[v->order_count], orders[i], sizeof(orders[i]));
            v->places[v->order_count++] = fit_places_of(&s->query->it, &l);
        }
    }
    MYR_ASSERT(v->order_count >= 1);
    find_alike(v);
    /* The first stands for all replicas; the others ascend. */
    v->shards[0] = s->space->base.shard;
    v->shard_fits[0][0] = v->shard_fits[0][1] = true;
    v->shard_count = 1;
    uint32_t edp = myr_layout_edp(&l);
    uint32_t divisors = fit_shards(s->space) ? s->space->divisor_count : 0;
    for (uint32_t k = 0; k < divisors && s->space->divisors[k] < l.dp; k++) {
        uint32_t d = s->space->divisors[k];
        if (d > 1 && l.dp % d == 0 && edp % (l.dp / d) == 0) {
            v->shard_fits[v->shard_count][0] = fit_shard_aligned(&l, d, false);
            v->shard_fits[v->shard_count][1] = fit_shard_aligned(&l, d, true);
            MYR_ASSERT(v->shard_count < FIT_DIVISORS_MAX);
            v->shards[v->shard_count++] = d * l.cp;
        }
    }
}

/* What all groups of a family share; false when the family is out of the question. */
static bool begin_family(struct fit_visit *v, struct fit_search *s, const struct fit_family *family)
{
    const struct myr_fit_query *q = s->query;
    const struct fit_depth *depth = &s->space->depths[family->depth];
    /* What was priced for the family before is out of date by that, without being cleared. */
    s->stamp++;
    v->s = s;
    v->depth = depth;
    v->layout = *family->width;
    v->layout.pp = depth->pp;
    v->layout.dp = q->gpus / (v->layout.tp * v->layout.cp * depth->pp);
    v->limit_s = fit_best_limit(s->answer, q->top, &v->layout);
    if (family->floor_s > v->limit_s) {
        return false;
    }
    list_updates(v);
    v->quick = false;
    v->straggler = fit_straggler_share(&q->it, &v->layout);
    v->limit_bytes = s->limit_bytes;
    v->layer[0] = myr_layer_params(&v->layout, q->it.model, false);
    bool has_moe = s->layers[FIT_MOE_FULL] + s->layers[FIT_MOE_WINDOW] > 0;
    v->layer[1] =
        has_moe ? myr_layer_params(&v->layout, q->it.model, true) : (struct myr_rank_params){};
    /* Bounds on exchanges take the fewest parameters, those on memory the earliest stages. */
    v->lightest = fit_params_least(v, depth->least_layers, depth->least_moe);
    v->layout.shard = 0;
    for (uint32_t zero = 0; zero <= 3; zero++) {
        v->layout.zero = zero;
        struct fit_state_each each = fit_state_floor(&v->layout);
        v->layer_bytes[zero][0] = fit_state_of(each, &v->layer[0]);
        v->layer_bytes[zero][1] = fit_state_of(each, &v->layer[1]);
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(depth->early) && i < depth->pp; i++) {
            struct myr_rank_params params =
                fit_params_least(v, depth->early[i].layers, depth->early[i].moe);
            v->early_bytes[zero][i] = fit_state_of(each, &params);
        }
    }
    v->layout.zero = 0;
    return true;
}

/* The schedules that cuts of a group may have, a bit for each. */
static uint32_t schedules_of(const struct fit_visit *v)
{
    uint32_t bits = 0;
    for (int s = 0; s <= MYR_SCHEDULE_DUALPIPE; s++) {
        bool may = s != MYR_SCHEDULE_INTERLEAVED || fit_interleaves(v->s, &v->layout, v->depth);
        may = may && fit_chain_runs(v->group->chain, (enum myr_schedule)s, v->depth->pp);
        if (may && v->group->dual == (s == MYR_SCHEDULE_DUALPIPE) &&
            fit_schedule_allowed(v->s->query, (enum myr_schedule)s, v->depth->pp)) {
            bits |= 1U << s;
        }
    }
    return bits;
}

/* What all cuts of a group share; false when the group is out of the question. */
static bool begin_group(struct fit_visit *v, const struct fit_group *group)
{
    const struct myr_fit_query *q = v->s->query;
    if (group->floor_s > v->limit_s) {
        return false;
    }
    v->group = group;
    v->layout.micro_batch = group->micro_batch;
    v->layout.vp = 1;
    v->layout.first_layers = 0;
    v->layout.last_layers = 0;
    v->layout.output_counts = false;
    v->layout.schedule = group->dual ? MYR_SCHEDULE_DUALPIPE : MYR_SCHEDULE_1F1B;
    memset(v->priced, 0, sizeof(v->priced));
    /* Groups of other families share it: the same width, micro-batch and chain. */
    if (!group->priced->kept_known) {
        struct fit_activations *kept = &group->priced->kept;
        *kept = fit_activations_of(v->s, v->layout, group->chain);
        kept->output = (double)myr_state_of(&v->layout, q->it.model, v->depth->pp - 1).output_bytes;
        group->priced->kept_known = true;
    }
    v->kept = group->priced->kept;
    memset(v->briefs, 0, sizeof(v->briefs));
    v->briefs[0] = &group->priced->briefs;
    v->micro_batches = myr_layout_micro_batches(&v->layout);
    /* Where making a layer again would be quicker than not, bounds over choices do not hold. */
    v->rising = true;
    v->least_more_s = 1e30;
    for (uint32_t i = 0; i < v->s->kind_count; i++) {
        double more = v->briefs[0]->layers[v->s->kinds[i]].recompute_more_s;
        v->rising = v->rising && more >= 0;
        v->least_more_s = fit_min(v->least_more_s, more);
    }
    v->least_hop_s[0] = fit_least_hop_s(v->s, &v->layout);
    v->least_hop_s[1] = 0;
    v->schedules = schedules_of(v);
    v->widest.micro_batches = 0;
    for (int i = 0; i < 2; i++) {
        for (int zero = 0; zero <= 3; zero++) {
            v->zero_update_s[i][zero] = -1;
        }
        for (uint32_t j = 0; j < 4 * v->shard_count; j++) {
            v->update_floor_s[i][j % 4][j / 4][0] = -1;
        }
    }
    return true;
}

/* The next cut and schedule of a group, or NULL; 'at' starts at 0. */
static const struct fit_shape *next_cut(struct fit_visit *v, uint32_t *at)
{
    enum { SCHEDULES = MYR_SCHEDULE_DUALPIPE + 1 };
    const struct fit_depth *depth = v->depth;
    for (; *at < depth->shape_count * SCHEDULES; (*at)++) {
        enum myr_schedule schedule = (enum myr_schedule)(*at % SCHEDULES);
        bool spread = schedule == MYR_SCHEDULE_INTERLEAVED;
        if (!(v->schedules >> schedule & 1) || spread != (*at / SCHEDULES >= depth->plain_count)) {
            continue;
        }
        const struct fit_shape *shape = &v->s->space->shapes[depth->first_shape + *at / SCHEDULES];
        (*at)++;
        v->layout.schedule = schedule;
        if (spread && v->least_hop_s[1] <= 0) {
            v->layout.vp = 2;
            v->least_hop_s[1] = fit_least_hop_s(v->s, &v->layout) / 2;
        }
        v->layout.vp = shape->vp;
        v->layout.first_layers = shape->first_layers;
        v->layout.last_layers = shape->last_layers;
        v->layout.output_counts = shape->output_counts;
        return shape;
    }
    return NULL;
}

/* Its best cut as far as bounds tell; what that takes at least is the group's bound. */
static double try_best_cut(struct fit_visit *v, double limit)
{
    struct fit_cut cut;
    const struct fit_shape *shape;
    double best_s = limit;
    uint32_t *hint = &v->s->hints[v->depth - v->s->space->depths];
    uint32_t best_at = UINT32_MAX, at = *hint, before = at;
    /* First what was best last: against a bound like the final one most others fall at once. */
    bool hinted = true;
    for (;; hinted = false, before = at) {
        shape = next_cut(v, &at);
        if (shape) {
            double bound_s = bound_cut(v, shape, best_s, &cut);
            if (bound_s <= best_s) {
                best_s = bound_s;
                best_at = before;
            }
        } else if (!hinted) {
            break;
        }
        at = hinted ? 0 : at;
    }
    if (best_at == UINT32_MAX) {
        return 1e30;
    }
    /* The next group of the depth begins there. */
    *hint = best_at;
    v->quick = true;
    if (bound_cut(v, next_cut(v, &best_at), 1e30, &cut) < 1e30) {
        visit_shards(v, &cut);
    }
    v->quick = false;
    return best_s;
}

/* Groups that pass the limit are dropped for good: the limit only falls. */
void fit_refine_family(struct fit_search *s, struct fit_family *family, bool cuts)
{
    struct fit_visit v; /* large, and mostly filled when needed */
    struct fit_group *groups = &s->groups[family->first];
    uint32_t count = family->count;
    family->count = 0;
    family->refined = true;
    if (!begin_family(&v, s, family)) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct fit_group group = groups[i];
        if (!begin_group(&v, &group)) {
            continue;
        }
        double limit = v.limit_s;
        double floor_s = cuts ? try_best_cut(&v, limit) : fit_refined_floor_s(&v, limit);
        group.floor_s = fit_max(group.floor_s, floor_s);
        if (group.floor_s <= limit) {
            fit_add_group(groups, &family->count, group);
        }
    }
    family->floor_s = family->count ? groups[0].floor_s : 1e30;
}

/* The last look: what comes through is priced in full. */
void fit_open_family(struct fit_search *s, const struct fit_family *family)
{
    struct fit_visit v; /* large, and mostly filled when needed */
    if (!begin_family(&v, s, family)) {
        return;
    }
    for (uint32_t i = 0; i < family->count; i++) {
        const struct fit_shape *shape;
        struct fit_cut cut;
        uint32_t at = 0;
        if (!begin_group(&v, &s->groups[family->first + i])) {
            continue;
        }
        while ((shape = next_cut(&v, &at))) {
            if (bound_cut(&v, shape, v.limit_s, &cut) <= v.limit_s) {
                visit_shards(&v, &cut);
            }
        }
    }
}
