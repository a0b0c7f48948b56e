/*
 * pools_layers: pools that follow each other along one pipeline.
 *
 * A question is a width, a number of replicas and a micro-batch; its bound takes every stage at the
 * full speed of its pool and no time to fill. Questions are asked in the order of their bounds
 * until one is not below the best answer. Each is an integer programme (share_layers.c) over what a
 * stage costs with some layers, which this file knows: time from blocks, memory of the stage with
 * the least recomputation that fits, the exchange among replicas.
 */
#include <stdlib.h>

#include "mix.h"
#include "share.h"

#define MODES 2U

/* Sums over the first layers of the model, one micro-batch on one pool: what a span has. */
struct sums {
    double *forward_s;
    double *backward_s[MODES]; /* nothing made again; 'selective' */
    double *again_s;           /* added by making a layer again */
    double *kept_bytes[MODES], *saved_bytes;
};

/* Beside layers. */
struct ends {
    double first_forward_s, first_backward_s, last_forward_s, last_backward_s[MODES];
    double last_again_s; /* added by making prediction modules again */
    double first_kept_bytes, last_kept_bytes[MODES], last_saved_bytes, output_bytes;
};

/* One pool's stages. */
struct bench {
    struct myr_fit_case it;
    struct myr_layout layout;
    struct sums sums;
    struct ends ends;
    struct fit_exchanges exchanges;
    double working_bytes[2], gathered_bytes[2]; /* of a dense and of an expert layer */
    double room_bytes, limit_bytes, beside_s;
    struct fit_near near;
    struct myr_rank_params *before; /* of the embedding and so many layers */
    struct myr_rank_params *after;  /* of the layers from here on, and the output */
};

struct question {
    double bound_s;
    size_t number;            /* equal bounds keep their order */
    struct myr_layout layout; /* pp is that of all pools */
};

/* Stages in a row, and what they are asked with. */
struct line {
    const struct fit_mixer *x;
    struct myr_arena *arena;
    struct bench *benches; /* by pool */
    uint32_t order[MYR_FIT_POOLS_MAX];
    uint32_t pool_of[MYR_FIT_STAGES_MAX], group[MYR_FIT_STAGES_MAX];
    double beside_s[MYR_FIT_STAGES_MAX]; /* launch, and what is seen of transfers */
    double hop_s[MYR_FIT_STAGES_MAX];
    uint32_t *moe;               /* layers with experts among the first so many */
    bool selective, counts, all; /* recomputation that may be used; 'all': must */
};

static bool is_alike(const struct myr_model *model)
{
    double counts[FIT_KIND_COUNT] = {0};
    uint32_t kinds = 0;
    fit_count_layers(model, (struct myr_span){0, model->layer_count}, counts);
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        kinds += counts[k] > 0;
    }
    return kinds == 1;
}

/* Tables */

static enum fit_kind kind_of(const struct myr_model *model, uint32_t layer)
{
    double counts[FIT_KIND_COUNT] = {0};
    int kind = 0;
    fit_count_layers(model, (struct myr_span){layer, 1}, counts);
    while (counts[kind] <= 0) {
        kind++;
    }
    return (enum fit_kind)kind;
}

static double kept_of(struct myr_layout layout, const struct myr_model *model,
                      enum myr_recompute recompute, bool moe)
{
    layout.recompute = recompute;
    layout.recompute_layers = 0;
    return (double)myr_layer_activation_bytes(&layout, model, moe);
}

static void sum_layers(const struct line *line, struct bench *b, const struct fit_blocks *blocks)
{
    const struct myr_model *model = b->it.model;
    struct sums *s = &b->sums;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        enum fit_kind kind = kind_of(model, i);
        bool moe = myr_model_layer_is_moe(model, i);
        const struct fit_layer *alone = &blocks[0].layers[kind], *again = &blocks[0].again[kind];
        double none = kept_of(b->layout, model, MYR_RECOMPUTE_NONE, moe);
        double least = kept_of(b->layout, model, MYR_RECOMPUTE_FULL, moe);
        s->forward_s[i + 1] = s->forward_s[i] + alone->forward.total;
        s->backward_s[0][i + 1] = s->backward_s[0][i] + alone->backward.total;
        s->again_s[i + 1] = s->again_s[i] + again->backward.total - alone->backward.total;
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
static void sum_ends(const struct line *line, struct bench *b, const struct fit_blocks *blocks)
{
    const struct myr_model *model = b->it.model;
    struct ends *e = &b->ends;
    enum fit_kind kind = blocks->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL;
    bool moe = model->moe.expert_count > 0;
    double mtp = model->mtp_count;
    *e = (struct ends){.first_forward_s = blocks->embedding.forward.total,
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
        e->last_again_s =
            mtp * (blocks->again[kind].backward.total - blocks->layers[kind].backward.total);
        e->last_saved_bytes =
            e->last_kept_bytes[0] - mtp * kept_of(b->layout, model, MYR_RECOMPUTE_FULL, moe);
    }
    struct myr_layout one = b->layout;
    one.pp = 1;
    one.global_batch = one.dp * one.micro_batch;
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
static void sum_params(struct bench *b)
{
    const struct myr_model *model = b->it.model;
    struct myr_layout two = b->layout;
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

/* What exists only while a layer is worked on: made again, or its weights gathered. */
static void sum_working(struct bench *b, const uint32_t *moe)
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

static double *row_of(const struct line *line)
{
    return MYR_ARENA_NEW(line->arena, double, line->x->query->it.model->layer_count + (size_t)1);
}

static void open_bench(const struct line *line, uint32_t pool, const struct myr_layout *layout)
{
    struct bench *b = &line->benches[pool];
    size_t rows = line->x->query->it.model->layer_count + (size_t)1;
    struct fit_blocks blocks[MODES];
    struct myr_fit_memory memory;
    *b = (struct bench){.it = line->x->cases[pool], .layout = *layout};
    b->layout.precision = line->x->precisions[pool];
    b->layout.recompute = MYR_RECOMPUTE_FULL; /* and of one layer: blocks of both kinds */
    b->layout.recompute_layers = 1;
    fit_blocks_of(&b->it, &b->layout, &blocks[0]);
    b->layout.recompute_layers = 0;
    b->layout.recompute = MYR_RECOMPUTE_SELECTIVE;
    if (line->selective) {
        fit_blocks_of(&b->it, &b->layout, &blocks[1]);
    }
    b->layout.recompute = MYR_RECOMPUTE_NONE;
    b->sums = (struct sums){row_of(line),
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
    b->limit_bytes = memory.limit_bytes;
    b->room_bytes = memory.limit_bytes - memory.reserve_bytes;
}

/* What depends on the ZeRO stage and the order of ranks, not on times of layers. */
static void close_bench(struct bench *b, uint32_t zero, const enum myr_axis *order)
{
    b->layout.zero = zero;
    memcpy(b->layout.order, order, sizeof(b->layout.order));
    struct fit_places places = fit_places_of(&b->it, &b->layout);
    b->exchanges = (struct fit_exchanges){0};
    fit_exchanges_of(&b->it, &b->layout, &places, &b->exchanges);
    b->near = places.pp_near;
}

/* One stage with some layers */

/* How a stage does with its layers: the least recomputation that fits. */
struct choice {
    double forward_s, backward_s, bytes;
    struct myr_rank_params params;
    uint32_t mode, again; /* layers made again; more than there are: prediction modules too */
    bool fits;
};

static struct myr_rank_params params_of(const struct bench *b, uint32_t from, uint32_t to)
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

/* A span on a stage, before it is decided what is made again. */
struct seat {
    const struct bench *b;
    uint32_t from, to;
    bool first, last;
    double flights, fixed_bytes, working_bytes;
};

static double seat_bytes(const struct seat *seat, uint32_t mode, uint32_t again)
{
    const struct sums *s = &seat->b->sums;
    const struct ends *e = &seat->b->ends;
    uint32_t layers = seat->to - seat->from, some = again < layers ? again : layers;
    double kept = s->kept_bytes[mode][seat->to] - s->kept_bytes[mode][seat->from];
    kept -= s->saved_bytes[seat->from + some] - s->saved_bytes[seat->from];
    kept += seat->first ? e->first_kept_bytes : 0;
    kept += seat->last ? e->last_kept_bytes[mode] - (again > layers ? e->last_saved_bytes : 0) : 0;
    return seat->fixed_bytes + seat->flights * kept + (again ? seat->working_bytes : 0);
}

static struct seat seat_of(const struct line *line, uint32_t stage, uint32_t from, uint32_t layers,
                           struct myr_rank_params *ret_params)
{
    const struct bench *b = &line->benches[line->pool_of[stage]];
    struct seat seat = {.b = b, .from = from, .to = from + layers, .first = stage == 0};
    uint32_t moe = line->moe[from + layers] - line->moe[from];
    seat.last = stage + 1 == b->layout.pp;
    bool has_moe = moe > 0 || (seat.last && b->it.model->mtp_count > 0 &&
                               line->moe[b->it.model->layer_count] > 0);
    bool has_dense = moe < layers;
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

/* The least number of layers made again that fits; more than 'most': none does. */
static uint32_t least_again(const struct line *line, const struct seat *seat, uint32_t most)
{
    double room = seat->b->room_bytes;
    uint32_t low = line->all ? most : 1, high = most;
    if (!line->all && seat_bytes(seat, 0, 0) <= room) {
        return 0;
    }
    if (!(line->counts || line->all) || seat_bytes(seat, 0, high) > room) {
        return most + 1;
    }
    while (low < high) { /* from one layer on, more of them take less room */
        uint32_t middle = low + (high - low) / 2;
        if (seat_bytes(seat, 0, middle) <= room) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static struct choice choose(const struct line *line, uint32_t stage, uint32_t from, uint32_t layers)
{
    struct choice ret = {0};
    struct seat seat = seat_of(line, stage, from, layers, &ret.params);
    const struct sums *s = &seat.b->sums;
    const struct ends *e = &seat.b->ends;
    uint32_t most = layers + (seat.last && e->last_saved_bytes > 0);
    bool only_selective = !line->counts && !line->all && line->selective;
    uint32_t again = only_selective ? most + 1 : least_again(line, &seat, most);
    ret.forward_s = s->forward_s[seat.to] - s->forward_s[seat.from] +
                    (seat.first ? e->first_forward_s : 0) + (seat.last ? e->last_forward_s : 0);
    if (again <= most) {
        uint32_t some = again < layers ? again : layers;
        ret.fits = true;
        ret.again = again;
        ret.bytes = seat_bytes(&seat, 0, again);
        ret.backward_s = s->backward_s[0][seat.to] - s->backward_s[0][seat.from] +
                         s->again_s[seat.from + some] - s->again_s[seat.from] +
                         (seat.last ? e->last_backward_s[0] : 0) +
                         (again > layers ? e->last_again_s : 0);
    }
    if (line->selective && seat_bytes(&seat, 1, 0) <= seat.b->room_bytes) {
        double backward = s->backward_s[1][seat.to] - s->backward_s[1][seat.from] +
                          (seat.last ? e->last_backward_s[1] : 0);
        if (!ret.fits || backward < ret.backward_s) {
            ret.fits = true;
            ret.mode = 1;
            ret.again = 0;
            ret.bytes = seat_bytes(&seat, 1, 0);
            ret.backward_s = backward;
        }
    }
    ret.backward_s += seat.first ? e->first_backward_s : 0;
    return ret;
}

static struct fit_desk desk_of(const void *context, uint32_t stage, uint32_t first_layer,
                               uint32_t layers)
{
    const struct line *line = context;
    struct choice choice = choose(line, stage, first_layer, layers);
    double each = line->beside_s[stage] / 2;
    return (struct fit_desk){choice.forward_s + each, choice.backward_s + each, choice.fits};
}

/* Gradients, weights and the optimiser. */
static double tail_of(const void *context, uint32_t stage, uint32_t first_layer, uint32_t layers)
{
    const struct line *line = context;
    const struct bench *b = &line->benches[line->pool_of[stage]];
    struct choice choice = choose(line, stage, first_layer, layers);
    struct fit_pipe pipe = {.forward_s = choice.forward_s,
                            .backward_s = choice.backward_s,
                            .micro_batches = myr_layout_micro_batches(&b->layout),
                            .params = choice.params};
    struct myr_fit_cost cost;
    fit_close_with(&b->it, &b->layout, &pipe, &b->exchanges, 0, &cost);
    return cost.step_s;
}

/* Stages in a row */

/* A case whose NICs are the slower ones of two pools. */
static struct myr_fit_case narrower(const struct bench *a, const struct bench *b)
{
    bool first = a->it.device->nic_gbps <= b->it.device->nic_gbps;
    return first ? a->it : b->it;
}

/* What a stage sees of a transfer to or from a neighbour, which may stand in another pool. */
static double hop_between(const struct line *line, uint32_t stage, uint32_t other)
{
    const struct bench *a = &line->benches[line->pool_of[stage]];
    const struct bench *b = &line->benches[line->pool_of[other]];
    struct myr_fit_case slower = narrower(a, b);
    struct fit_near near = a->near;
    for (int i = 0; i < MYR_FIT_LEVELS; i++) {
        near.at[i] = near.at[i] < b->near.at[i] ? near.at[i] : b->near.at[i];
    }
    return fit_hop_s(&slower, &a->layout, near);
}

static uint32_t stages_of(const struct line *line, uint32_t pool, const struct myr_layout *layout)
{
    return line->x->pools[pool].gpus / (layout->tp * layout->cp * layout->dp);
}

static void line_up(struct line *line, const struct myr_layout *layout)
{
    const struct fit_mixer *x = line->x;
    uint32_t at = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t pool = line->order[i], group = 0;
        /* Stages of one kind of GPU are one group wherever they stand. */
        while (x->cases[x->who[group]].device != x->cases[pool].device) {
            group++;
        }
        struct bench *b = &line->benches[pool];
        uint32_t stages = stages_of(line, pool, layout);
        b->near = fit_near_most(b->near, stages); /* a domain ends where its pool does */
        for (uint32_t s = 0; s < stages; s++, at++) {
            line->pool_of[at] = pool;
            line->group[at] = group;
        }
    }
    MYR_ASSERT(at == layout->pp);
    double micro = x->query->it.constants[FIT_LAUNCH_MICRO] * 1e-3;
    for (uint32_t s = 0; s < at; s++) {
        double before = s > 0 ? hop_between(line, s, s - 1) : 0;
        double behind = s + 1 < at ? hop_between(line, s, s + 1) : 0;
        line->hop_s[s] = fit_max(before, behind);
        line->beside_s[s] = micro + line->hop_s[s];
    }
}

static void put_parts(const struct line *line, const struct myr_layout *layout,
                      const uint32_t *layers, struct myr_fit_mixed *mixed)
{
    double m = myr_layout_micro_batches(layout);
    uint32_t first = 0;
    for (uint32_t s = 0; s < layout->pp; s++) {
        struct choice choice = choose(line, s, first, layers[s]);
        uint32_t pool = line->pool_of[s];
        const struct bench *b = &line->benches[pool];
        struct myr_fit_part *part = &mixed->parts[pool];
        if (!part->used) {
            *part = (struct myr_fit_part){
                .used = true, .layout = b->layout, .batch = layout->global_batch, .first_stage = s};
        }
        double busy = m * (choice.forward_s + choice.backward_s + line->beside_s[s]);
        part->stages++;
        part->step_s = fit_max(part->step_s, busy);
        part->memory_bytes =
            fit_max(part->memory_bytes, choice.bytes + b->limit_bytes - b->room_bytes);
        mixed->stages[s] = (struct myr_fit_stage){
            layers[s], choice.mode ? MYR_RECOMPUTE_SELECTIVE : MYR_RECOMPUTE_NONE, 0};
        if (choice.again > 0) {
            mixed->stages[s].recompute = MYR_RECOMPUTE_FULL;
            mixed->stages[s].recompute_layers = choice.again < layers[s] ? choice.again : layers[s];
        }
        if (s > 0 && pool != line->pool_of[s - 1]) {
            mixed->exchange_s = fit_max(mixed->exchange_s, m * line->hop_s[s]);
        }
        first += layers[s];
    }
}

static double straggler_of(const struct line *line, const struct myr_layout *layout)
{
    const struct fit_mixer *x = line->x;
    double share = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        struct myr_layout own = *layout;
        own.precision = x->precisions[x->who[i]];
        share = fit_max(share, fit_straggler_share(&x->cases[x->who[i]], &own));
    }
    return share;
}

/* The best dealing of one order of pools, one order of ranks and one ZeRO stage. */
static void deal(struct line *line, const struct myr_layout *layout, bool alike,
                 struct myr_fit_mixed *best)
{
    double slower = 1 + straggler_of(line, layout);
    uint32_t layers[MYR_FIT_STAGES_MAX];
    struct fit_layers_dealt dealt;
    struct myr_arena own;
    struct fit_dealing dealing = {.stages = layout->pp,
                                  .layers = line->x->query->it.model->layer_count,
                                  .micro_batches = myr_layout_micro_batches(layout),
                                  .alike = alike,
                                  .desk_of = desk_of,
                                  .tail_of = tail_of,
                                  .context = line,
                                  .group = line->group,
                                  .limit_s = best->found ? best->step_s / slower : 1e30};
    myr_arena_init(&own);
    line_up(line, layout);
    bool found = fit_deal_layers(&dealing, &own, layers, &dealt);
    uint64_t asked = best->asked + 1;
    double floor_s = best->floor_s;
    if (!dealt.proven) {
        floor_s = fit_min(floor_s, dealt.floor_s * slower);
    }
    if (found) {
        *best = (struct myr_fit_mixed){.found = true, .step_s = dealt.step_s * slower};
        best->stage_count = layout->pp;
        best->order_count = line->x->count;
        memcpy(best->order, line->order, sizeof(best->order));
        put_parts(line, layout, layers, best);
    }
    best->asked = asked;
    best->floor_s = floor_s;
    myr_arena_done(&own);
}

/* Questions */

/* The next order of pools along the pipeline, in the order of dictionaries. */
static bool next_order(uint32_t *order, uint32_t count)
{
    uint32_t at = count - 1, other = count - 1;
    while (at > 0 && order[at - 1] > order[at]) {
        at--;
    }
    if (at == 0) {
        return false;
    }
    while (order[other] < order[at - 1]) {
        other--;
    }
    uint32_t swap = order[at - 1];
    order[at - 1] = order[other];
    order[other] = swap;
    for (uint32_t low = at, high = count - 1; low < high; low++, high--) {
        swap = order[low];
        order[low] = order[high];
        order[high] = swap;
    }
    return true;
}

/* Twins that change places give the same pipeline: the first one stands first. */
static bool repeats(const struct fit_mixer *x, const uint32_t *order)
{
    for (uint32_t i = 0; i < x->count; i++) {
        for (uint32_t j = i + 1; j < x->count; j++) {
            const struct myr_fit_pool *a = &x->pools[order[i]], *b = &x->pools[order[j]];
            if (order[i] > order[j] && a->device == b->device && a->gpus == b->gpus) {
                return true;
            }
        }
    }
    return false;
}

static void ask(struct line *line, const struct question *question, bool alike,
                struct myr_fit_mixed *best)
{
    const struct fit_mixer *x = line->x;
    const struct myr_layout *layout = &question->layout;
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    uint32_t order_count = fit_orders(layout, orders);
    struct myr_arena own;
    myr_arena_init(&own);
    line->arena = &own;
    for (uint32_t i = 0; i < x->count; i++) {
        open_bench(line, x->who[i], layout);
    }
    for (uint32_t i = 0; i < order_count; i++) {
        if (orders[i][MYR_LAYOUT_ORDER_COUNT - 1] != MYR_AXIS_PP) {
            continue; /* a stage is in one pool: stages lie furthest apart */
        }
        for (uint32_t zero = 0; zero <= 3; zero++) {
            if (x->query->zero >= 0 && x->query->zero != (int)zero) {
                continue;
            }
            for (uint32_t k = 0; k < x->count; k++) {
                line->order[k] = x->who[k];
            }
            do {
                for (uint32_t k = 0; k < x->count; k++) {
                    close_bench(&line->benches[x->who[k]], zero, orders[i]);
                }
                if (!repeats(x, line->order)) {
                    deal(line, layout, alike, best);
                }
            } while (next_order(line->order, x->count));
        }
    }
    myr_arena_done(&own);
}

/* One micro-batch in layers of each kind on a pool; 0 where there are none. */
struct layer_times {
    double both_s[FIT_KIND_COUNT], all_s;
    double forward_share; /* the largest of any kind */
};

static void time_layers(const struct fit_mixer *x, uint32_t pool, const struct myr_layout *layout,
                        struct layer_times *ret)
{
    struct myr_layout own = *layout;
    struct fit_blocks blocks;
    double counts[FIT_KIND_COUNT] = {0};
    own.precision = x->precisions[pool];
    own.recompute = MYR_RECOMPUTE_NONE;
    fit_blocks_of(&x->cases[pool], &own, &blocks);
    fit_count_layers(x->query->it.model, (struct myr_span){0, x->query->it.model->layer_count},
                     counts);
    *ret = (struct layer_times){0};
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        if (counts[k] > 0) {
            double forward = blocks.layers[k].forward.total;
            ret->both_s[k] = forward + blocks.layers[k].backward.total;
            ret->all_s += counts[k] * ret->both_s[k];
            ret->forward_share = fit_max(ret->forward_share, forward / ret->both_s[k]);
        }
    }
}

/* How fast pools are with the layers of this model, against the first of them. */
struct speeds {
    double work_s;                    /* all layers on the first pool */
    double least_s;                   /* and on the fastest */
    double slower[MYR_FIT_POOLS_MAX]; /* seconds for one of the first pool's, at least */
    double forward_share;
};

static void speeds_of(const struct fit_mixer *x, const struct myr_layout *layout,
                      struct speeds *ret)
{
    struct layer_times first, times;
    time_layers(x, x->who[0], layout, &first);
    *ret = (struct speeds){.work_s = first.all_s, .least_s = 1e30};
    for (uint32_t i = 0; i < x->count; i++) {
        time_layers(x, x->who[i], layout, &times);
        ret->slower[i] = 1e30;
        ret->forward_share = fit_max(ret->forward_share, times.forward_share);
        for (int k = 0; k < FIT_KIND_COUNT; k++) {
            if (first.both_s[k] > 0) {
                ret->slower[i] = fit_min(ret->slower[i], times.both_s[k] / first.both_s[k]);
            }
        }
        ret->least_s = fit_min(ret->least_s, ret->slower[i] * first.all_s);
    }
}

/*
 * Some stage takes at least what all take when they share the layers in proportion to their speed.
 * Its bound (share_layers.c) with what is hidden at most, and the sum with all on the fastest pool.
 */
static double bound_s(const struct line *line, const struct myr_layout *layout,
                      const struct speeds *speeds)
{
    const struct fit_mixer *x = line->x;
    double micro = x->query->it.constants[FIT_LAUNCH_MICRO] * 1e-3, speed = 0;
    double m = myr_layout_micro_batches(layout), stages = layout->pp;
    for (uint32_t i = 0; i < x->count; i++) {
        speed += stages_of(line, x->who[i], layout) / speeds->slower[i];
    }
    double slowest = speeds->work_s / speed;
    double hidden = fit_min(m - 1, stages - 1) * speeds->forward_share;
    double pipe = fit_max(m * (slowest + micro),
                          speeds->least_s + stages * micro + (m - 1 - hidden) * slowest);
    return pipe * (1 + straggler_of(line, layout)) * (1 - 1e-9);
}

struct questions {
    struct question *items;
    size_t count, max;
};

static void add_question(struct questions *all, const struct question *one)
{
    if (all->count == all->max) {
        all->max = all->max ? 2 * all->max : 256;
        all->items = myr_xrealloc(all->items, all->max, sizeof(*all->items));
    }
    all->items[all->count++] = *one;
}

/* All numbers of replicas of a width and micro-batch. */
static void add_replicas(const struct line *line, struct myr_layout layout, struct questions *all)
{
    const struct fit_mixer *x = line->x;
    const struct myr_fit_query *q = x->query;
    uint32_t most = x->common.gpus / (layout.tp * layout.cp);
    struct speeds speeds = {0};
    for (uint32_t i = 0; i < x->space.divisor_count; i++) {
        uint32_t dp = x->space.divisors[i], pp = 0;
        if (dp > most || most % dp != 0 || q->batch % (dp * layout.micro_batch) != 0 ||
            !fit_allowed(q->dp, dp)) {
            continue;
        }
        layout.dp = dp;
        layout.pp = 1;
        layout.global_batch = q->batch;
        if (myr_layout_broken(&layout, q->it.model, 0) != MYR_LAYOUT_OK) {
            continue;
        }
        for (uint32_t k = 0; k < x->count; k++) {
            pp += stages_of(line, x->who[k], &layout);
        }
        if (pp > q->it.model->layer_count || pp > MYR_FIT_STAGES_MAX || !fit_allowed(q->pp, pp)) {
            continue;
        }
        layout.pp = pp;
        if (speeds.work_s <= 0) {
            speeds_of(x, &layout, &speeds);
        }
        struct question one = {bound_s(line, &layout, &speeds), all->count, layout};
        add_question(all, &one);
    }
}

static int by_bound(const void *a, const void *b)
{
    const struct question *left = a, *right = b;
    if (left->bound_s < right->bound_s || left->bound_s > right->bound_s) {
        return left->bound_s < right->bound_s ? -1 : 1;
    }
    return left->number < right->number ? -1 : 1;
}

void fit_mix_layers(const struct fit_mixer *x, struct myr_fit_mixed *best)
{
    const struct myr_model *model = x->query->it.model;
    int recompute = x->query->recompute;
    struct line line = {.x = x};
    struct questions all = {0};
    struct myr_layout width;
    bool started = false;
    if (!fit_schedule_allowed(x->query, MYR_SCHEDULE_1F1B, 2) || !fit_allowed(x->query->vp, 1)) {
        return;
    }
    line.benches = MYR_ARENA_NEW(x->arena, struct bench, MYR_FIT_POOLS_MAX);
    line.moe = MYR_ARENA_NEW(x->arena, uint32_t, model->layer_count + (size_t)1);
    for (uint32_t i = 0; i < model->layer_count; i++) {
        line.moe[i + 1] = line.moe[i] + myr_model_layer_is_moe(model, i);
    }
    line.counts = recompute < 0;
    line.all = recompute == MYR_RECOMPUTE_FULL;
    line.selective = recompute == MYR_RECOMPUTE_SELECTIVE || (recompute < 0 && !x->space.flash);
    while (fit_width_next(&x->space, &width, &started)) {
        struct myr_layout layout = width;
        layout.vp = 1;
        layout.schedule = MYR_SCHEDULE_1F1B;
        uint32_t fixed = x->query->micro_batch;
        for (uint32_t b = fixed ? fixed : 1; b <= (fixed ? fixed : FIT_MICRO_MAX); b++) {
            layout.micro_batch = b;
            add_replicas(&line, layout, &all);
        }
    }
    if (all.count > 0) {
        qsort(all.items, all.count, sizeof(*all.items), by_bound);
    }
    best->floor_s = best->found ? best->floor_s : 1e30;
    for (size_t i = 0; i < all.count; i++) {
        if (best->found && all.items[i].bound_s >= best->step_s) {
            break;
        }
        ask(&line, &all.items[i], is_alike(model), best);
    }
    if (best->found) {
        best->floor_s = fit_min(best->floor_s, best->step_s);
    }
    free(all.items);
}
