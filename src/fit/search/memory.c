/* memory: bounds on memory from below; what they refuse need not be asked for exactly. */
#include "search/visit.h"

/*
 * While a layer is recomputed the whole of it is there; of two kinds the smaller, for this is a
 * bound.
 */
struct fit_activations fit_activations_of(const struct fit_search *s, struct myr_layout layout,
                                          enum fit_chain chain)
{
    const struct myr_model *model = s->query->it.model;
    struct fit_activations kept;
    bool has_moe = s->layers[FIT_MOE_FULL] + s->layers[FIT_MOE_WINDOW] > 0;
    bool has_dense = s->layers[FIT_DENSE_FULL] + s->layers[FIT_DENSE_WINDOW] > 0;
    layout.recompute = MYR_RECOMPUTE_SELECTIVE;
    double dense = (double)myr_layer_activation_bytes(&layout, model, false);
    double moe = has_moe ? (double)myr_layer_activation_bytes(&layout, model, true) : 0;
    kept.recompute_working = has_moe && has_dense ? fit_min(dense, moe) : has_moe ? moe : dense;
    layout.recompute = chain == FIT_CHAIN_SELECTIVE ? layout.recompute : MYR_RECOMPUTE_NONE;
    kept.dense = (double)myr_layer_activation_bytes(&layout, model, false);
    kept.moe = has_moe ? (double)myr_layer_activation_bytes(&layout, model, true) : 0;
    layout.recompute = MYR_RECOMPUTE_FULL;
    layout.recompute_layers = 0;
    kept.recomputed = (double)myr_layer_activation_bytes(&layout, model, false);
    kept.output = 0;
    return kept;
}

/* What the layers of a chunk keep for one micro-batch. */
static double span_bytes(const struct fit_visit *v, struct myr_span span, uint32_t choice,
                         uint32_t chunk_most)
{
    const struct fit_activations *kept = &v->kept;
    bool all = choice > 0 && choice >= chunk_most;
    uint32_t recomputed = all || choice > span.count ? span.count : choice;
    const double *end = v->s->space->below[span.first + span.count];
    const double *middle = v->s->space->below[span.first + recomputed];
    double moe =
        end[FIT_MOE_FULL] + end[FIT_MOE_WINDOW] - middle[FIT_MOE_FULL] - middle[FIT_MOE_WINDOW];
    double dense = span.count - recomputed - moe;
    return dense * kept->dense + moe * kept->moe + recomputed * kept->recomputed;
}

/* What the layers of a stage keep, chunk by chunk. */
static double kept_bytes(const struct fit_visit *v, const struct fit_shape *shape,
                         const struct fit_stage_kind *kind, uint32_t choice)
{
    /* Recomputing anything needs room for one layer at work. */
    double bytes = choice ? v->kept.recompute_working : 0;
    for (uint32_t i = 0; i < myr_layout_stage_chunk_count(&v->layout); i++) {
        struct myr_span span = v->group->dual && i > 0 ? kind->mirror : kind->spans[i];
        bytes += myr_layout_in_flight(&v->layout, kind->stage, i) *
                 span_bytes(v, span, choice, shape->chunk_most);
    }
    return bytes + (kind->last ? v->kept.output : 0);
}

/* Of all kinds of stage; asked again for every way to cut the state. */
static const double *kept_of(const struct fit_visit *v, struct fit_cut *cut, uint32_t choice)
{
    uint32_t slot = choice % FIT_PIPES_KEPT;
    if (cut->kept_choice[slot] != choice + 1) {
        cut->kept_choice[slot] = choice + 1;
        for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
            cut->kept_bytes[slot][i] = kept_bytes(v, cut->shape, &cut->shape->kinds[i], choice);
        }
    }
    return cut->kept_bytes[slot];
}

/* Every kind of stage, with the state that 'cut' holds at the moment. */
static bool may_fit(const struct fit_visit *v, struct fit_cut *cut, uint32_t choice)
{
    const double *kept = kept_of(v, cut, choice);
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        double bytes = kept[i] + cut->state[i];
        if (bytes * (1 - 1e-9) > v->limit_bytes) {
            return false;
        }
    }
    return true;
}

/* Micro-batches in flight on each kind of stage, and the same times the layers of their chunks. */
static void note_flights(const struct fit_visit *v, struct fit_cut *cut)
{
    double all = v->micro_batches * v->layout.vp;
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        const struct fit_stage_kind *kind = &cut->shape->kinds[i];
        cut->flights[i] = fit_min(kind->flights, all);
        cut->held[i] = kind->flights <= all ? kind->held : 0;
        for (uint32_t c = 0; kind->flights > all && c < v->layout.vp; c++) {
            cut->held[i] +=
                myr_layout_in_flight(&v->layout, kind->stage, c) * (double)kind->spans[c].count;
        }
    }
}

/*
 * At once where all layers keep the same: what is over, by what a layer saves; rounding lets it
 * pass. Chunks of a stage differ by one layer at the most: all have as many as are made again, or
 * all their layers are.
 */
static uint32_t least_alike(const struct fit_visit *v, struct fit_cut *cut, uint32_t from)
{
    const struct fit_activations *kept = &v->kept;
    bool moe = v->s->layers[FIT_MOE_FULL] + v->s->layers[FIT_MOE_WINDOW] > 0, fits = from == 0;
    double alone = moe ? kept->moe : kept->dense, saved = alone - kept->recomputed;
    double limit = v->limit_bytes * (1 + 1e-8), most = from < 1 ? 1 : from;
    if (cut->flights[0] <= 0) {
        note_flights(v, cut);
    }
    bool none = cut->last < 1;
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        double output = cut->shape->kinds[i].last ? kept->output : 0;
        double over = cut->held[i] * alone + cut->state[i] + output - limit;
        fits = fits && over <= 0;
        over += kept->recompute_working;
        if (over > 0) {
            none = none || over > cut->held[i] * saved;
            most = none ? most : fit_max(most, over / (cut->flights[i] * saved));
        }
    }
    if (fits || none) {
        return fits ? 0 : cut->last + 1;
    }
    uint32_t whole = (uint32_t)most;
    uint32_t least = most > cut->last ? cut->last : whole + (most > whole + 1e-6);
    MYR_ASSERT(least >= from && least <= cut->last);
    return least;
}

/* By halving: past one layer, more recomputation never takes more room. */
uint32_t fit_least_choice(const struct fit_visit *v, struct fit_cut *cut, uint32_t from)
{
    uint32_t low = from, high = cut->last;
    if (v->layout.offload_layers > 0) {
        return low; /* what waits in the host's memory is not known here: asked of each layout */
    }
    if (low <= high && v->s->uniform && !v->group->dual && !cut->shape->output_counts) {
        return least_alike(v, cut, low);
    }
    if (low > high || may_fit(v, cut, low)) {
        return low;
    }
    /* Making one layer again needs room to work in; from there on more of it takes less. */
    low = low < 1 ? 1 : low;
    if (low > high || !may_fit(v, cut, high)) {
        return cut->last + 1;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (may_fit(v, cut, middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    MYR_ASSERT(low >= from && low <= cut->last);
    return low;
}
