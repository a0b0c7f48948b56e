/*
 * line: tables of sums for one pool and width, and a stage chosen from them. A span of layers is
 * the difference of two rows, so a stage costs as much to ask for with one layer as with a hundred.
 */
#include "mixed/line.h"

/* One of the kinds counts the layer. */
static enum fit_kind kind_of(const struct myr_model *model, uint32_t layer)
{
    double counts[FIT_KIND_COUNT] = {};
    int kind = 0;
    fit_count_layers(model, (struct myr_span){layer, 1}, counts);
    while (counts[kind] <= 0) {
        kind++;
    }
    return (enum fit_kind)kind;
}

/* Bytes that one layer keeps, for a way to recompute. */
static double kept_of(struct myr_layout layout, const struct myr_model *model,
                      enum myr_recompute recompute, bool moe)
{
    layout.recompute = recompute;
    layout.recompute_layers = 0;
    return (double)myr_layer_activation_bytes(&layout, model, moe);
}

/* Running sums over the layers of the model: row i is the first i of them. */
static void sum_layers(const struct fit_line_up *line, struct fit_pool_costs *b,
                       const struct fit_blocks *blocks)
{
    const struct myr_model *model = b->it.model;
    struct fit_layer_sums *s = &b->sums;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        enum fit_kind kind = kind_of(model, i);
        bool moe = myr_model_layer_is_moe(model, i);
        /*
         * blocks[0] has layers left alone and made again, blocks[1] those of selective
         * recomputation.
         */
        const struct fit_layer *alone = &blocks[0].layers[kind],
                               *recomputed = &blocks[0].recomputed[kind];
        double none = kept_of(b->layout, model, MYR_RECOMPUTE_NONE, moe);
        double least = kept_of(b->layout, model, MYR_RECOMPUTE_FULL, moe);
        s->forward_s[i + 1] = s->forward_s[i] + alone->forward.total;
        s->backward_s[0][i + 1] = s->backward_s[0][i] + alone->backward.total;
        s->recompute_s[i + 1] =
            s->recompute_s[i] + recomputed->backward.total - alone->backward.total;
        s->kept_bytes[0][i + 1] = s->kept_bytes[0][i] + none;
        s->saved_bytes[i + 1] = s->saved_bytes[i] + none - least;
        if (line->selective) {
            s->backward_s[1][i + 1] = s->backward_s[1][i] + blocks[1].layers[kind].backward.total;
            s->kept_bytes[1][i + 1] =
                s->kept_bytes[1][i] + kept_of(b->layout, model, MYR_RECOMPUTE_SELECTIVE, moe);
        }
    }
}

/* What the first and the last stage have beside layers; see add_ends() in pipe.c. */
static void sum_ends(const struct fit_line_up *line, struct fit_pool_costs *b,
                     const struct fit_blocks *blocks)
{
    const struct myr_model *model = b->it.model;
    struct fit_end_costs *e = &b->ends;
    enum fit_kind kind = blocks->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL;
    bool moe = model->moe.expert_count > 0;
    double mtp = model->mtp_count;
    *e = (struct fit_end_costs){.first_forward_s = blocks->embedding.forward.total,
                                .first_backward_s = blocks->embedding.backward.total,
                                .last_forward_s = (1 + mtp) * blocks->output.forward.total};
    for (uint32_t i = 0; i <= line->selective; i++) {
        e->last_backward_s[i] = (1 + mtp) * blocks[i].output.backward.total;
        if (mtp > 0) {
            e->last_backward_s[i] += mtp * blocks[i].layers[kind].backward.total;
            e->last_kept_bytes[i] =
                mtp *
                kept_of(b->layout, model, i ? MYR_RECOMPUTE_SELECTIVE : MYR_RECOMPUTE_NONE, moe);
        }
    }
    if (mtp > 0) {
        e->last_forward_s += mtp * blocks->layers[kind].forward.total;
        e->last_recompute_s =
            mtp * (blocks->recomputed[kind].backward.total - blocks->layers[kind].backward.total);
        e->last_saved_bytes =
            e->last_kept_bytes[0] - mtp * kept_of(b->layout, model, MYR_RECOMPUTE_FULL, moe);
    }
    struct myr_layout one = b->layout;
    one.pp = 1;
    one.global_batch = 2 * one.dp * one.micro_batch; /* gradients are there all the time */
    one.recompute = MYR_RECOMPUTE_NONE;
    one.recompute_layers = 0;
    struct myr_state state = myr_state_of(&one, model, 0);
    e->output_bytes = (double)state.output_bytes;
    if (model->dropout) {
        uint32_t cut = one.cp * (one.sequence_parallel ? one.tp : 1);
        e->first_kept_bytes =
            (double)model->hidden * one.micro_batch * myr_layout_seq(&one, model) / cut;
    }
}

/* Parameters before and from every cut on: a span has the difference. */
static void sum_params(struct fit_pool_costs *b)
{
    const struct myr_model *model = b->it.model;
    struct myr_layout two = b->layout;
    /*
     * A pipeline of two stages cut at every layer: the counts of work answer for both sides of it.
     */
    two.pp = 2;
    two.vp = 1;
    two.schedule = MYR_SCHEDULE_1F1B;
    for (uint32_t i = 1; i < model->layer_count; i++) {
        two.first_layers = i;
        two.last_layers = model->layer_count - i;
        b->before[i] = myr_rank_params(&two, model, 0);
        b->after[i] = myr_rank_params(&two, model, 1);
    }
}

/* What exists only while a layer is worked on: recomputed, or its weights gathered. */
static void sum_working(struct fit_pool_costs *b, const uint32_t *moe)
{
    const struct myr_model *model = b->it.model;
    for (uint32_t i = 1; i + 1 < model->layer_count; i++) {
        uint32_t is_moe = moe[i + 1] - moe[i];
        double params =
            (double)(b->before[i + 1].sharded - b->before[i].sharded + b->before[i + 1].replicated -
                     b->before[i].replicated + b->before[i + 1].expert - b->before[i].expert);
        b->gathered_bytes[is_moe] = 2 * params * myr_layout_numerics(&b->layout).gather_bytes;
    }
    if (b->gathered_bytes[0] <= 0 && moe[1] == 0) { /* only the first layer is dense */
        const struct myr_rank_params *first = &b->before[1];
        b->gathered_bytes[0] = 2.0 * (double)(first->sharded + first->replicated) *
                               myr_layout_numerics(&b->layout).gather_bytes;
    }
    for (uint32_t i = 0; i < 2; i++) {
        bool has = i == 0 || moe[model->layer_count] > 0;
        b->working_bytes[i] = has ? kept_of(b->layout, model, MYR_RECOMPUTE_SELECTIVE, i == 1) : 0;
    }
}

/* One entry more than layers: row 0 is nothing. */
static double *row_of(const struct fit_line_up *line)
{
    return MYR_ARENA_NEW(line->arena, double, line->x->query->it.model->layer_count + (size_t)1);
}

/* Memory of the tables is the line's arena, which goes with the question. */
void fit_line_price_layers(const struct fit_line_up *line, uint32_t pool,
                           const struct myr_layout *layout)
{
    struct fit_pool_costs *b = &line->costs[pool];
    size_t rows = line->x->query->it.model->layer_count + (size_t)1;
    struct fit_blocks blocks[FIT_MODES];
    struct myr_fit_memory memory;
    *b = (struct fit_pool_costs){.it = line->x->cases[pool], .layout = *layout};
    /* Each pool computes in a precision of its own. */
    b->layout.precision = line->x->precisions[pool];
    b->layout.recompute = MYR_RECOMPUTE_FULL; /* and of one layer: blocks of both kinds */
    b->layout.recompute_layers = 1;
    fit_blocks_of(&b->it, &b->layout, &blocks[0]);
    b->layout.recompute_layers = 0;
    b->layout.recompute = MYR_RECOMPUTE_SELECTIVE;
    if (line->selective) {
        fit_blocks_of(&b->it, &b->layout, &blocks[1]);
    }
    /* What the tables are made from is set; the layout is left plain for those who ask it later. */
    b->layout.recompute = MYR_RECOMPUTE_NONE;
    b->sums = (struct fit_layer_sums){row_of(line),
                                      {row_of(line), row_of(line)},
                                      row_of(line),
                                      {row_of(line), row_of(line)},
                                      row_of(line)};
    b->before = MYR_ARENA_NEW(line->arena, struct myr_rank_params, rows);
    b->after = MYR_ARENA_NEW(line->arena, struct myr_rank_params, rows);
    sum_layers(line, b, blocks);
    sum_ends(line, b, blocks);
    sum_params(b);
    sum_working(b, line->moe);
    struct myr_layout one = b->layout;
    one.pp = 1;
    myr_fit_memory_of(&b->it, &one, &memory);
    b->usable_bytes = myr_fit_memory_most(&b->it, !line->x->query->tight);
    b->limit_bytes = b->usable_bytes + memory.reserve_bytes;
}

void fit_line_price_exchange(struct fit_pool_costs *b, uint32_t zero, const enum myr_axis *order)
{
    b->layout.zero = zero;
    memcpy(b->layout.order, order, sizeof(b->layout.order));
    struct fit_places places = fit_places_of(&b->it, &b->layout);
    b->exchanges = (struct fit_exchanges){};
    fit_exchanges_of(&b->it, &b->layout, &places, NULL, &b->exchanges);
    b->near = places.pp_near;
}

/* The first span has the embedding with it, one that reaches the end the output. */
static struct myr_rank_params params_of(const struct fit_pool_costs *b, uint32_t from, uint32_t to)
{
    if (to == b->it.model->layer_count) {
        return b->after[from];
    }
    struct myr_rank_params high = b->before[to];
    if (from == 0) {
        return high;
    }
    struct myr_rank_params low = b->before[from];
    return (struct myr_rank_params){high.sharded - low.sharded, high.replicated - low.replicated,
                                    high.expert - low.expert};
}

/* A span on a stage, before it is decided what is recomputed. */
struct seat {
    const struct fit_pool_costs *b;
    uint32_t from, to; /* layers, the second not included */
    bool first, last;
    double flights, fixed_bytes,
        working_bytes; /* micro-batches held; state and output; beside a layer at work */
};

/*
 * State, activations of all micro-batches in flight, and room to work in where layers are
 * recomputed.
 */
static double seat_bytes(const struct seat *seat, uint32_t mode, uint32_t recomputed)
{
    const struct fit_layer_sums *s = &seat->b->sums;
    const struct fit_end_costs *e = &seat->b->ends;
    /* 'recomputed' may be one more than layers: then prediction modules are made again too. */
    uint32_t layers = seat->to - seat->from, some = recomputed < layers ? recomputed : layers;
    double kept = s->kept_bytes[mode][seat->to] - s->kept_bytes[mode][seat->from];
    kept -= s->saved_bytes[seat->from + some] - s->saved_bytes[seat->from];
    kept += seat->first ? e->first_kept_bytes : 0;
    kept +=
        seat->last ? e->last_kept_bytes[mode] - (recomputed > layers ? e->last_saved_bytes : 0) : 0;
    return seat->fixed_bytes + seat->flights * kept + (recomputed ? seat->working_bytes : 0);
}

/* What does not depend on the recomputation, looked up once for the halving. */
static struct seat seat_of(const struct fit_line_up *line, uint32_t stage, uint32_t from,
                           uint32_t layers, struct myr_rank_params *ret_params)
{
    const struct fit_pool_costs *b = &line->costs[line->pool_of[stage]];
    struct seat seat = {.b = b, .from = from, .to = from + layers, .first = stage == 0};
    uint32_t moe = line->moe[from + layers] - line->moe[from];
    seat.last = stage + 1 == b->layout.pp;
    bool has_moe = moe > 0 || (seat.last && b->it.model->mtp_count > 0 &&
                               line->moe[b->it.model->layer_count] > 0);
    bool has_dense = moe < layers;
    /* 1F1B: as many as stages follow, and the stage itself. */
    seat.flights = fit_min(myr_layout_micro_batches(&b->layout), b->layout.pp - stage);
    *ret_params = params_of(b, from, from + layers);
    seat.fixed_bytes = fit_state_bytes(&b->layout, ret_params);
    seat.fixed_bytes += seat.last ? b->ends.output_bytes : 0;
    seat.working_bytes =
        fit_max(has_moe ? b->working_bytes[1] : 0, has_dense ? b->working_bytes[0] : 0);
    if (b->layout.zero == 3) {
        seat.fixed_bytes +=
            fit_max(has_moe ? b->gathered_bytes[1] : 0, has_dense ? b->gathered_bytes[0] : 0);
    }
    return seat;
}

/* The least number of layers recomputed that fits; more than 'most': none does. */
static uint32_t least_recomputed(const struct fit_line_up *line, const struct seat *seat,
                                 uint32_t most)
{
    double usable = seat->b->usable_bytes;
    uint32_t low = line->all ? most : 1, high = most;
    if (!line->all && seat_bytes(seat, 0, 0) <= usable) {
        return 0;
    }
    if (!(line->counts || line->all) || seat_bytes(seat, 0, high) > usable) {
        return most + 1;
    }
    while (low < high) { /* from one layer on, more of them take less room */
        uint32_t middle = low + (high - low) / 2;
        if (seat_bytes(seat, 0, middle) <= usable) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Of the ways that fit the fastest; 'fits' false where there is none. */
struct fit_stage_choice fit_line_choose(const struct fit_line_up *line, uint32_t stage,
                                        uint32_t from, uint32_t layers)
{
    struct fit_stage_choice ret = {};
    struct seat seat = seat_of(line, stage, from, layers, &ret.params);
    const struct fit_layer_sums *s = &seat.b->sums;
    const struct fit_end_costs *e = &seat.b->ends;
    uint32_t most = layers + (seat.last && e->last_saved_bytes > 0);
    /* No count is asked for: the plain way is out before it is tried. */
    bool only_selective = !line->counts && !line->all && line->selective;
    uint32_t recomputed = only_selective ? most + 1 : least_recomputed(line, &seat, most);
    ret.forward_s = s->forward_s[seat.to] - s->forward_s[seat.from] +
                    (seat.first ? e->first_forward_s : 0) + (seat.last ? e->last_forward_s : 0);
    if (recomputed <= most) {
        uint32_t some = recomputed < layers ? recomputed : layers;
        ret.fits = true;
        ret.recomputed = recomputed;
        ret.bytes = seat_bytes(&seat, 0, recomputed);
        ret.backward_s = s->backward_s[0][seat.to] - s->backward_s[0][seat.from] +
                         s->recompute_s[seat.from + some] - s->recompute_s[seat.from] +
                         (seat.last ? e->last_backward_s[0] : 0) +
                         (recomputed > layers ? e->last_recompute_s : 0);
    }
    /* Selective is taken only where it is faster than the fewest layers that fit. */
    if (line->selective && seat_bytes(&seat, 1, 0) <= seat.b->usable_bytes) {
        double backward = s->backward_s[1][seat.to] - s->backward_s[1][seat.from] +
                          (seat.last ? e->last_backward_s[1] : 0);
        if (!ret.fits || backward < ret.backward_s) {
            ret.fits = true;
            ret.mode = 1;
            ret.recomputed = 0;
            ret.bytes = seat_bytes(&seat, 1, 0);
            ret.backward_s = backward;
        }
    }
    ret.backward_s += seat.first ? e->first_backward_s : 0;
    return ret;
}
