/* pipe: from the blocks of layers to the stages of a pipeline. */
#include <stdlib.h>

#include "cost/combine.h"
#include "cost/schedule.h"

/* 'times' need not be whole: DualPipe takes halves. */
static void add(struct fit_pass *to, const struct fit_pass *from, double times)
{
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        to->terms[i] += times * from->terms[i];
    }
    to->total += times * from->total;
}

static void add_layer(struct fit_layer *to, const struct fit_layer *from, double times)
{
    add(&to->forward, &from->forward, times);
    add(&to->backward, &from->backward, times);
    to->weight_s += times * from->weight_s;
}

/* Without a window counts follow from the first and last layer; the search asks this often. */
void fit_count_layers(const struct myr_model *model, struct myr_span span,
                      double counts[FIT_KIND_COUNT])
{
    if (model->window_tokens == 0) {
        uint32_t moe = myr_model_moe_layers(model, span.first, span.count);
        counts[FIT_MOE_FULL] += moe;
        counts[FIT_DENSE_FULL] += span.count - moe;
        return;
    }
    for (uint32_t i = span.first; i < span.first + span.count; i++) {
        bool moe = myr_model_layer_is_moe(model, i), full = myr_model_layer_is_full(model, i);
        counts[moe ? (full ? FIT_MOE_FULL : FIT_MOE_WINDOW)
                   : (full ? FIT_DENSE_FULL : FIT_DENSE_WINDOW)] += 1;
    }
}

static void add_layers(const struct myr_model *model, const struct fit_layer *layers,
                       struct myr_span span, struct fit_layer *to)
{
    double counts[FIT_KIND_COUNT] = {};
    fit_count_layers(model, span, counts);
    for (int i = 0; i < FIT_KIND_COUNT; i++) {
        if (counts[i] > 0) {
            add_layer(to, &layers[i], counts[i]);
        }
    }
}

/* Layers of a chunk that are recomputed where a number of them is given: the first. */
static struct myr_span recomputed_span(const struct myr_layout *layout, struct myr_span span)
{
    bool some = layout->recompute == MYR_RECOMPUTE_FULL && layout->recompute_layers > 0;
    uint32_t most = some ? layout->recompute_layers : 0;
    return (struct myr_span){span.first, most < span.count ? most : span.count};
}

/* Layers that are made again come first, then the rest. */
static void add_chunk(const struct myr_model *model, const struct myr_layout *layout,
                      const struct fit_blocks *blocks, uint32_t chunk, struct fit_layer *to)
{
    struct myr_span span = myr_layout_chunk_layers(layout, model, chunk);
    struct myr_span recomputed = recomputed_span(layout, span);
    add_layers(model, blocks->recomputed, recomputed, to);
    span.first += recomputed.count;
    span.count -= recomputed.count;
    add_layers(model, blocks->layers, span, to);
}

/* What the first and the last stage have beside layers. */
static void add_ends(const struct myr_model *model, const struct fit_blocks *blocks, bool first,
                     bool last, struct fit_layer *to)
{
    if (first) {
        add_layer(to, &blocks->embedding, 1);
    }
    if (last) {
        add_layer(to, &blocks->output, 1 + model->mtp_count);
        /* A prediction module sees all tokens and has experts where the model has them. */
        enum fit_kind kind = blocks->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL;
        if (model->mtp_count > 0) {
            add_layer(to, &blocks->layers[kind], model->mtp_count);
        }
    }
}

/* All chunks of a stage; DualPipe's mirrored one is added by who asks. */
void fit_stage_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                  const struct fit_blocks *blocks, uint32_t stage, struct fit_layer *ret)
{
    const struct myr_model *model = it->model;
    uint32_t chunks = layout->pp * layout->vp;
    *ret = (struct fit_layer){};
    for (uint32_t i = 0; i < layout->vp; i++) {
        add_chunk(model, layout, blocks, stage + i * layout->pp, ret);
    }
    add_ends(model, blocks, stage == 0, stage + 1 == layout->pp, ret);
    MYR_ASSERT(chunks > 0);
}

/* Transfers between stages that a stage waits for, each micro-batch. */
double fit_hop_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                 struct fit_near near)
{
    double bytes = (double)layout->micro_batch * myr_layout_seq(layout, it->model) / layout->cp *
                   it->model->hidden * 2;
    if (layout->pp == 1) {
        return 0;
    }
    bytes /= layout->tp; /* each tensor rank sends its part; the domain puts them together */
    double seen = it->constants[FIT_PIPELINE_SEEN];
    /* Of the stages in a block only the last one sends out of it; a pipeline has slack for that. */
    double inside = near.at[0];
    double out = fit_collective_s(it, MYR_SEND_RECEIVE, layout->pp, near, bytes);
    double in = fit_collective_s(it, MYR_SEND_RECEIVE, layout->pp, fit_near_all(layout->pp), bytes);
    double mean = inside < layout->pp ? (out + (inside - 1) * in) / inside : in;
    return seen * layout->vp * 2 * mean;
}

/* Idle share of the first stage's warm-up and drain, against plain 1F1B. */
double fit_bubble_share(const struct myr_layout *layout)
{
    switch (layout->schedule) {
    case MYR_SCHEDULE_INTERLEAVED:
        return 1.0 / layout->vp;
    case MYR_SCHEDULE_ZERO_BUBBLE:
        return 1.0 / 3; /* only the forward part is left: weights' gradients fill the rest */
    case MYR_SCHEDULE_DUALPIPE:
        return 0.25; /* half the stages, and forward and backward cover each other */
    case MYR_SCHEDULE_1F1B:
        break;
    }
    return 1;
}

/* Gradients of inputs alone. */
static double backward_s(const struct fit_stage_s *stage)
{
    return stage->total_s - stage->forward_s - stage->weight_s;
}

void fit_add_stage(struct fit_stages *all, struct fit_stage_s stage)
{
    bool first = all->count == 0;
    double backward = backward_s(&stage);
    all->stages[all->count++] = stage;
    all->sum_s += stage.count * stage.total_s;
    all->forward_s += stage.count * stage.forward_s;
    all->least_s = first ? stage.total_s : fit_min(all->least_s, stage.total_s);
    all->least_forward_s = first ? stage.forward_s : fit_min(all->least_forward_s, stage.forward_s);
    all->least_backward_s = first ? backward : fit_min(all->least_backward_s, backward);
    all->most_weight_s = fit_max(all->most_weight_s, stage.weight_s);
}

/* What a bound adds up along the pipeline. */
enum part { FORWARD, BACKWARD, CHUNK };

static double part_s(const struct fit_stage_s *stage, enum part part)
{
    return part == FORWARD    ? stage->forward_s
           : part == BACKWARD ? backward_s(stage)
                              : stage->chunk_s;
}

/* Before the last stage of this kind: the others of it, and kinds that end earlier. */
static double before_s(const struct fit_stages *all, const struct fit_stage_s *one, enum part part)
{
    double sum = (one->count - 1) * part_s(one, part);
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->stages[i].last < one->last) {
            sum += all->stages[i].count * part_s(&all->stages[i], part);
        }
    }
    return sum;
}

/*
 * All work of a stage, and the forwards before it; then either the first micro-batch to the last
 * stage and back to it, or, less the weights' gradients that it puts off, the way back from it.
 */
static double zero_bubble_floor_s(double pp, double m, const struct fit_stages *all,
                                  const struct fit_stage_s *one)
{
    double before = before_s(all, one, FORWARD);
    double there = all->forward_s - (pp - one->first) * one->forward_s +
                   (pp - 1 - one->first) * all->least_backward_s;
    double back = before + before_s(all, one, BACKWARD) - fit_min(m, one->last + 1) * one->weight_s;
    return m * one->total_s + fit_max(before, fit_max(there, back));
}

/*
 * The rank in the middle, if this kind is both its stages: all its work but the weights' gradients
 * that it makes at the end, with the way of the first micro-batch to it and of the last one back;
 * or with the way of the first one to its first backward, which is longer where that waits.
 */
static double middle_floor_s(double pp, double m, const struct fit_stages *all,
                             const struct fit_stage_s *one)
{
    double half = pp / 2, outer = half - 1;
    bool whole = one->count == one->last - one->first + 1; /* nothing else in between */
    if (!whole || one->first > half - 1 || one->last < half) {
        return 0;
    }
    double work = m * one->total_s + outer * all->least_backward_s - half * all->most_weight_s;
    double way = all->forward_s + outer * all->least_backward_s - (pp + 1) * one->forward_s;
    return work + fit_max(outer * all->least_forward_s, way);
}

/* What a stage waits for before its first operation, and others do after its last one. */
static double floor_of(const struct myr_layout *layout, double m, const struct fit_stages *all,
                       const struct fit_stage_s *one)
{
    double pp = layout->pp, behind = pp - 1 - one->last;
    switch (layout->schedule) {
    case MYR_SCHEDULE_INTERLEAVED:
        return m * one->total_s + before_s(all, one, CHUNK);
    case MYR_SCHEDULE_ZERO_BUBBLE:
        return zero_bubble_floor_s(pp, m, all, one);
    case MYR_SCHEDULE_DUALPIPE:
        return fit_max(m * fit_max(all->sum_s / pp, (one->total_s + all->least_s) / 2),
                       middle_floor_s(pp, m, all, one));
    case MYR_SCHEDULE_1F1B:
        break;
    }
    /*
     * The first micro-batch runs through all stages and back to this one, where all but as many
     * forwards as are behind it are still to come, and from here back to the first stage.
     */
    return all->sum_s + (m - 1) * (one->total_s - one->forward_s) +
           fit_max(0, m - 1 - behind) * one->forward_s;
}

/* No more than any schedule takes: what another stage can hide is not counted. */
double fit_pipe_floor_s(const struct myr_layout *layout, double m, const struct fit_stages *all)
{
    /* Each kind of stage bounds the pipeline; the largest bound holds. */
    double floor_s = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        floor_s = fit_max(floor_s, floor_of(layout, m, all, &all->stages[i]));
    }
    return floor_s;
}

/* One micro-batch in one chunk. */
struct passes {
    double forward_s, backward_s, weight_s;
};

/* Sums only: the search prices many cuts and needs no terms. */
static void add_passes(struct passes *to, const struct fit_layer *from, double times)
{
    to->forward_s += times * from->forward.total;
    to->backward_s += times * from->backward.total;
    to->weight_s += times * from->weight_s;
}

static void add_span(const struct myr_model *model, const struct fit_layer *layers,
                     struct myr_span span, struct passes *to)
{
    double counts[FIT_KIND_COUNT] = {};
    fit_count_layers(model, span, counts);
    for (int i = 0; i < FIT_KIND_COUNT; i++) {
        if (counts[i] > 0) {
            add_passes(to, &layers[i], counts[i]);
        }
    }
}

/* One chunk; ends are with the chunks that have them. */
static struct passes passes_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                               const struct fit_blocks *blocks, uint32_t chunk)
{
    /* The ends belong to the first and the last chunk, whichever stages those are on. */
    uint32_t last = layout->pp * layout->vp - 1;
    struct myr_span span = myr_layout_chunk_layers(layout, it->model, chunk);
    struct myr_span recomputed = recomputed_span(layout, span),
                    alone = {span.first + recomputed.count, span.count - recomputed.count};
    struct passes passes = {};
    if (recomputed.count > 0) {
        add_span(it->model, blocks->recomputed, recomputed, &passes);
    }
    add_span(it->model, blocks->layers, alone, &passes);
    if (chunk == 0 || chunk == last) {
        struct fit_layer ends = {};
        add_ends(it->model, blocks, chunk == 0, chunk == last, &ends);
        add_passes(&passes, &ends, 1);
    }
    return passes;
}

/*
 * Chunks as the schedule sees them. A transfer between stages keeps both of them busy for the part
 * of it that is seen, and so does what a micro-batch costs beside layers: half of each per pass.
 */
struct chunks {
    double *forward_s, *backward_s, *weight_s;
};

static void chunks_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                      const struct fit_blocks *blocks, double beside_s, struct chunks *ret)
{
    uint32_t count = layout->pp * layout->vp;
    /* 'beside_s' is of all chunks of a stage and both passes. */
    double each = beside_s / (2 * layout->vp);
    for (uint32_t i = 0; i < count; i++) {
        struct passes passes = passes_of(it, layout, blocks, i);
        ret->forward_s[i] = passes.forward_s + each;
        ret->backward_s[i] = passes.backward_s - passes.weight_s + each;
        ret->weight_s[i] = passes.weight_s;
    }
}

/* One micro-batch on a rank; with DualPipe half of one on each of its two stages. */
static double rank_s(const struct myr_layout *layout, const struct chunks *chunks, uint32_t rank)
{
    bool dual = layout->schedule == MYR_SCHEDULE_DUALPIPE;
    double time = 0;
    for (uint32_t i = 0; i < layout->vp + dual; i++) {
        /* The mirrored stage, or the next chunk of the same one. */
        uint32_t c = dual && i ? layout->pp - 1 - rank : rank + i * layout->pp;
        time += chunks->forward_s[c] + chunks->backward_s[c] + chunks->weight_s[c];
    }
    return dual ? time / 2 : time;
}

/* Both passes of the slowest rank, by term. */
static void slowest_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                       const struct fit_blocks *blocks, uint32_t rank, struct fit_layer *ret)
{
    fit_stage_of(it, layout, blocks, rank, ret);
    if (layout->schedule == MYR_SCHEDULE_DUALPIPE) {
        struct fit_layer near = *ret, far;
        fit_stage_of(it, layout, blocks, layout->pp - 1 - rank, &far);
        *ret = (struct fit_layer){};
        add_layer(ret, &near, 0.5);
        add_layer(ret, &far, 0.5);
    }
}

/* The slowest rank, and the whole pipeline with 'schedule' as it is given: watched or not. */
static struct fit_played play_pipe(const struct myr_fit_case *it, const struct myr_layout *layout,
                                   const struct fit_blocks *blocks, double beside_s,
                                   struct fit_schedule schedule)
{
    uint32_t count = layout->pp * layout->vp;
    MYR_CLEANUP(myr_free_at)
    /* One block for the three arrays. */
    double *times = myr_xrealloc(NULL, 3 * (size_t)count, sizeof(*times));
    struct chunks chunks = {times, times + count, times + 2 * (size_t)count};
    struct fit_played ret = {};
    chunks_of(it, layout, blocks, beside_s, &chunks);
    for (uint32_t i = 0; i < layout->pp; i++) {
        /* The first of equals is the slowest rank. */
        double time = rank_s(layout, &chunks, i);
        ret.rank = time > ret.rank_s ? i : ret.rank;
        ret.rank_s = fit_max(ret.rank_s, time);
    }
    schedule.kind = layout->schedule;
    schedule.pp = layout->pp;
    schedule.vp = layout->vp;
    schedule.micro_batches = myr_layout_micro_batches(layout);
    schedule.forward_s = chunks.forward_s;
    schedule.backward_s = chunks.backward_s;
    schedule.weight_s = chunks.weight_s;
    ret.all_s = fit_schedule_s(&schedule);
    return ret;
}

struct fit_played fit_play_pipe(const struct myr_fit_case *it, const struct myr_layout *layout,
                                const struct fit_blocks *blocks, double hop)
{
    double micro = it->constants[FIT_LAUNCH_MICRO] * 1e-3;
    return play_pipe(it, layout, blocks, micro + hop, (struct fit_schedule){});
}

void fit_watch_pipe(const struct myr_fit_case *it, const struct myr_layout *layout,
                    fit_watcher *watcher, void *context)
{
    struct fit_blocks blocks;
    struct fit_places places = fit_places_of(it, layout);
    double hop = fit_hop_s(it, layout, places.pp_near);
    double micro = it->constants[FIT_LAUNCH_MICRO] * 1e-3;
    struct fit_schedule schedule = {.watcher = watcher, .context = context};
    fit_blocks_of(it, layout, &blocks);
    (void)play_pipe(it, layout, &blocks, micro + hop, schedule);
}

/*
 * Terms are those of the slowest rank for all micro-batches; the bubble is what is left of the
 * time.
 */
void fit_pipe_from(const struct myr_fit_case *it, const struct myr_layout *layout,
                   const struct fit_blocks *blocks, double hop, const struct fit_played *played,
                   struct fit_pipe *ret)
{
    double m = myr_layout_micro_batches(layout), micro = it->constants[FIT_LAUNCH_MICRO] * 1e-3;
    struct fit_layer slowest;
    slowest_of(it, layout, blocks, played->rank, &slowest);
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        ret->terms[i] = m * (slowest.forward.terms[i] + slowest.backward.terms[i]);
    }
    ret->terms[MYR_FIT_LAUNCH] += m * micro;
    ret->terms[MYR_FIT_PIPELINE] = m * hop;
    /* What the slowest rank does not work is what it waits; terms then sum to the whole. */
    ret->terms[MYR_FIT_BUBBLE] = fit_max(0, played->all_s - m * played->rank_s);
    ret->forward_s = slowest.forward.total;
    ret->backward_s = slowest.backward.total;
    ret->micro_batches = m;
    ret->params = myr_rank_params(layout, it->model, played->rank);
}

void fit_pipe_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                 const struct fit_blocks *blocks, struct fit_pipe *ret)
{
    struct fit_places places = fit_places_of(it, layout);
    double hop = fit_hop_s(it, layout, places.pp_near);
    struct fit_played played = fit_play_pipe(it, layout, blocks, hop);
    fit_pipe_from(it, layout, blocks, hop, &played, ret);
}
