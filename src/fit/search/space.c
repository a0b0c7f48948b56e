/*
 * space: shapes (how layers fall on stages and chunks) and widths (tp, cp, sequence parallelism,
 * ep, etp) of a question. Both are listed once; the search combines them.
 */
#include "search/space.h"

/* 0 leaves sizes open, -1 words. */
struct myr_fit_query myr_fit_query_default(void)
{
    return (struct myr_fit_query){.zero = -1,
                                  .recompute = -1,
                                  .schedule = MYR_FIT_SCHEDULE_STACK,
                                  .sequence_parallel = -1,
                                  .top = 1};
}

/* Those that the device is faster with, bf16 first. */
uint32_t myr_fit_precisions(const struct myr_device *device, enum myr_precision list[4])
{
    uint32_t count = 0;
    list[count++] = MYR_PRECISION_BF16;
    bool scaled = device->generation == MYR_GENERATION_BLACKWELL;
    if (device->fp8_flops > device->bf16_flops) {
        list[count++] = MYR_PRECISION_FP8;
    }
    if (scaled && device->fp8_flops > device->bf16_flops) {
        list[count++] = MYR_PRECISION_MXFP8;
    }
    if (scaled && device->fp4_flops > device->bf16_flops) {
        list[count++] = MYR_PRECISION_NVFP4;
    }
    return count;
}

/* A pipeline of one stage has no schedule to choose. */
bool fit_schedule_allowed(const struct myr_fit_query *query, enum myr_schedule schedule,
                          uint32_t pp)
{
    if (pp == 1 && schedule != MYR_SCHEDULE_1F1B) {
        return false;
    }
    if (query->schedule == MYR_FIT_SCHEDULE_ANY) {
        return true;
    }
    if (query->schedule == MYR_FIT_SCHEDULE_STACK) {
        return (query->it.stack->schedules >> schedule & 1) != 0;
    }
    return query->schedule == (int)schedule;
}

bool fit_recompute_allowed(const struct fit_space *space, enum myr_recompute recompute,
                           uint32_t layers, uint32_t chunk_most)
{
    int wanted = space->query->recompute;
    if (wanted >= 0) {
        uint32_t asked = fit_layers_again(space->query, chunk_most);
        return wanted == (int)recompute &&
               (recompute != MYR_RECOMPUTE_FULL ||
                layers == (asked < chunk_most ? asked : FIT_RECOMPUTE_ALL));
    }
    /* With fused attention 'selective' is 'none', but for PyTorch's, which chooses operators. */
    bool some = recompute == MYR_RECOMPUTE_FULL && layers != FIT_RECOMPUTE_ALL;
    bool torch = space->query->it.stack->era == MYR_ERA_TORCH;
    return some ? space->query->it.stack->blocks
                : recompute != MYR_RECOMPUTE_SELECTIVE || !space->flash || torch;
}

/* Shapes */

/* Counts are whole numbers in doubles, so equality is exact. */
static bool same_layers(const double *a, const double *b)
{
    bool same = true;
    for (uint32_t kind = 0; kind < FIT_KIND_COUNT; kind++) {
        same = same && a[kind] == b[kind];
    }
    return same;
}

/* Stages of a kind differ in place alone: the first and the last of them are kept. */
static void add_stage(struct fit_shape *shape, const struct fit_stage_kind *stage)
{
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        struct fit_stage_kind *known = &shape->kinds[i];
        if (known->first == stage->first && known->last == stage->last &&
            same_layers(known->layers, stage->layers)) {
            known->count += 1;
            known->last_stage = stage->stage;
            known->first_chunk =
                stage->first_chunk < known->first_chunk ? stage->first_chunk : known->first_chunk;
            return;
        }
    }
    if (shape->kind_count < FIT_SHAPE_KINDS) {
        shape->kinds[shape->kind_count] = *stage;
        shape->kinds[shape->kind_count].last_stage = stage->stage;
        shape->kinds[shape->kind_count++].count = 1;
    }
    /* A stage left out only lowers the bounds, which stay bounds. */
}

/* A layout of nothing but the cut, to ask work about it. */
static struct myr_layout shape_layout(const struct fit_shape *shape)
{
    struct myr_layout layout = myr_layout_default();
    layout.pp = shape->pp;
    layout.vp = shape->vp;
    layout.first_layers = shape->first_layers;
    layout.last_layers = shape->last_layers;
    layout.output_counts = shape->output_counts;
    layout.schedule = shape->vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
    layout.global_batch = 4 * shape->pp; /* micro-batches to fill any pipeline */
    return layout;
}

/* The shape's cut is that of the rule for pp and vp alone. */
static bool is_usual_cut(const struct myr_model *model, const struct fit_shape *shape)
{
    struct myr_layout cut = shape_layout(shape), usual = cut;
    usual.first_layers = 0;
    usual.last_layers = 0;
    usual.output_counts = false;
    for (uint32_t i = 0; i < shape->pp * shape->vp; i++) {
        struct myr_span a = myr_layout_chunk_layers(&cut, model, i);
        struct myr_span b = myr_layout_chunk_layers(&usual, model, i);
        if (a.first != b.first || a.count != b.count) {
            return false;
        }
    }
    return true;
}

/* Of all kinds together. */
static double layers_of(const struct fit_stage_kind *kind)
{
    const double *of = kind->layers;
    return of[FIT_DENSE_FULL] + of[FIT_DENSE_WINDOW] + of[FIT_MOE_FULL] + of[FIT_MOE_WINDOW];
}

/* By difference of two rows, whatever the length of the span. */
static void add_span(const struct fit_space *space, struct myr_span span, double *layers)
{
    const double *from = space->below[span.first], *to = space->below[span.first + span.count];
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        layers[k] += to[k] - from[k];
    }
}

/* With micro-batches enough to fill the pipeline; where there are fewer the bounds ask again. */
static void note_flights(const struct myr_layout *layout, struct fit_stage_kind *kind)
{
    kind->flights = myr_layout_in_flight_all(layout, kind->stage);
    kind->held = 0;
    for (uint32_t c = 0; c < layout->vp; c++) {
        kind->held += myr_layout_in_flight(layout, kind->stage, c) * (double)kind->spans[c].count;
    }
}

/* All that follows from the cut alone, so that it is worked out once for all widths and batches. */
static void finish_shape(const struct fit_space *space, struct myr_arena *arena,
                         struct fit_shape *shape)
{
    const struct myr_model *model = space->query->it.model;
    struct myr_layout layout = shape_layout(shape);
    struct myr_span *spans = NULL;
    shape->chunk_most = 0;
    shape->chunk_least = model->layer_count;
    shape->kind_count = 0;
    for (uint32_t p = 0; p < layout.pp; p++) {
        struct fit_stage_kind stage = {.stage = p, .first = p == 0, .last = p + 1 == layout.pp};
        uint32_t known = shape->kind_count;
        spans = spans ? spans : MYR_ARENA_NEW(arena, struct myr_span, layout.vp);
        stage.spans = spans;
        stage.mirror = myr_layout_chunk_layers(&layout, model, layout.pp - 1 - p);
        for (uint32_t v = 0; v < layout.vp; v++) {
            struct myr_span span = myr_layout_chunk_layers(&layout, model, p + v * layout.pp);
            spans[v] = span;
            add_span(space, span, stage.layers);
            shape->chunk_most = span.count > shape->chunk_most ? span.count : shape->chunk_most;
            shape->chunk_least = span.count < shape->chunk_least ? span.count : shape->chunk_least;
        }
        stage.first_chunk = spans[0].count;
        add_stage(shape, &stage);
        if (shape->kind_count > known) {
            note_flights(&layout, &shape->kinds[known]);
            spans = NULL; /* theirs now */
        }
    }
    /* Of full: all layers, or some of each chunk, from one to all but one of the largest. */
    bool open = space->query->recompute < 0;
    bool full = open || space->query->recompute == MYR_RECOMPUTE_FULL;
    shape->choice_count =
        fit_recompute_allowed(space, MYR_RECOMPUTE_NONE, 0, shape->chunk_most) +
        fit_recompute_allowed(space, MYR_RECOMPUTE_SELECTIVE, 0, shape->chunk_most) + full +
        (open && space->query->it.stack->blocks && shape->chunk_most > 1 ? shape->chunk_most - 1
                                                                         : 0);
}

/* A cut that is given by its outer stages and is the usual one would be counted twice. */
static void add_shape(struct fit_space *space, struct myr_arena *arena, struct fit_shape shape)
{
    bool own = shape.first_layers > 0 || shape.output_counts;
    if (own && is_usual_cut(space->query->it.model, &shape)) {
        return;
    }
    finish_shape(space, arena, &shape);
    space->shapes[space->shape_count++] = shape;
}

/*
 * Recipes of models with prediction modules leave the last chunk room for them: they and the output
 * count as layers in the deal.
 */
static void add_counted(struct fit_space *space, struct myr_arena *arena, uint32_t pp, uint32_t vp)
{
    const struct myr_model *model = space->query->it.model;
    uint32_t ends = 1 + model->mtp_count;
    bool room = (model->layer_count + ends) / (pp * vp) >= ends;
    if (model->mtp_count > 0 && pp > 1 && room) {
        add_shape(space, arena, (struct fit_shape){.pp = pp, .vp = vp, .output_counts = true});
    }
}

/* Cuts in which the outer stages have a number of layers of their own. */
static void add_splits(struct fit_space *space, struct myr_arena *arena, uint32_t pp, uint32_t vp)
{
    uint32_t layers = space->query->it.model->layer_count;
    if (pp < 2 || layers % vp != 0) {
        return;
    }
    /*
     * Layers of one round over the stages; outer stages have 'first' and 'last' of them, the rest
     * 'middle' each.
     */
    int64_t rounds = layers / vp, least = (rounds - 2 * FIT_SPLIT_MAX) / pp;
    int64_t most = (rounds + 2 * FIT_SPLIT_MAX) / pp;
    if (pp == 2) { /* nothing in between: every cut once */
        least = rounds / 2;
        most = least;
    }
    for (int64_t middle = least < 1 ? 1 : least; middle <= most; middle++) {
        for (int64_t d = -FIT_SPLIT_MAX; d <= FIT_SPLIT_MAX; d++) {
            int64_t first = middle + d, last = rounds - (pp - 2) * middle - first;
            int64_t off = last > middle ? last - middle : middle - last;
            if (first >= 1 && last >= 1 && off <= FIT_SPLIT_MAX + (pp == 2)) {
                add_shape(space, arena,
                          (struct fit_shape){.pp = pp,
                                             .vp = vp,
                                             .first_layers = (uint32_t)first * vp,
                                             .last_layers = (uint32_t)last * vp});
            }
        }
    }
}

/* What the quick bound reads: the outer stages, and the last of those with the most layers. */
static void note_ends(struct fit_shape *shape)
{
    shape->least_of = 1e9;
    shape->least_moe = 1e9;
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        double layers = layers_of(&shape->kinds[i]);
        shape->most_layers = fit_max(shape->most_layers, layers);
        const double *of = shape->kinds[i].layers;
        shape->least_of = fit_min(shape->least_of, layers);
        shape->least_moe = fit_min(shape->least_moe, of[FIT_MOE_FULL] + of[FIT_MOE_WINDOW]);
    }
    if (shape->kind_count == FIT_SHAPE_KINDS) { /* stages may have been left out */
        shape->least_of = 0;
        shape->least_moe = 0;
    }
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        const struct fit_stage_kind *kind = &shape->kinds[i];
        double layers = layers_of(kind), stages = kind->count - 1;
        double chunks = stages * kind->first_chunk;
        for (uint32_t j = 0; j < shape->kind_count; j++) {
            const struct fit_stage_kind *other = &shape->kinds[j];
            if (other->last_stage < kind->last_stage) {
                stages += other->count;
                chunks += other->count * other->first_chunk;
            }
        }
        if (layers >= shape->most_layers && chunks >= shape->most_chunks) {
            shape->most_chunks = chunks;
            shape->most_stages = stages;
            shape->most_at = i;
        }
        if (kind->first) {
            shape->first_of = layers;
            shape->first_at = i;
        }
        if (kind->last) {
            shape->last_of = layers;
            shape->last_at = i;
        }
        shape->last_chunks = kind->last ? chunks : shape->last_chunks;
    }
}

/* The least and the most over all shapes of a depth, for bounds on all of them at once. */
static void note_layers(struct fit_shape *shape, struct fit_depth *depth)
{
    note_ends(shape);
    double *chunk_share = &depth->chunk_share[shape->vp];
    /* The least of all shapes with as many chunks a stage. */
    MYR_ASSERT(shape->vp <= FIT_VP_ASKED);
    *chunk_share = *chunk_share > 0 ? *chunk_share : 1.0 / shape->vp;
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        const double *of = shape->kinds[i].layers;
        double moe = of[FIT_MOE_FULL] + of[FIT_MOE_WINDOW];
        double layers = layers_of(&shape->kinds[i]);
        depth->least_moe = fit_min(depth->least_moe, moe);
        depth->least_layers = fit_min(depth->least_layers, layers);
        depth->most_layers = fit_max(depth->most_layers, layers);
        double share = shape->kinds[i].first_chunk / fit_max(layers, 1);
        *chunk_share = fit_min(*chunk_share, fit_max(share, 1e-9)); /* 0 would be none */
        uint32_t stage = shape->kinds[i].stage;
        if (stage < MYR_ARRAY_COUNT(depth->early)) {
            depth->early[stage].layers = fit_min(depth->early[stage].layers, layers);
            depth->early[stage].moe = fit_min(depth->early[stage].moe, moe);
        }
    }
    if (shape->kind_count == FIT_SHAPE_KINDS) { /* some may have been left out, none of the early */
        depth->least_layers = 0;
        depth->least_moe = 0;
        *chunk_share = 1e-9;
        depth->most_layers = 1e9;
    }
}

/* All cuts of one pp, plain ones first; then what bounds want to know of all of them together. */
static void add_depth(struct fit_space *space, struct myr_arena *arena, uint32_t pp)
{
    const struct myr_fit_query *q = space->query;
    /* Chunks may be two more than layers: the outermost ones may be empty. */
    uint32_t layers = q->it.model->layer_count;
    struct fit_depth *depth = &space->depths[space->depth_count];
    *depth = (struct fit_depth){.pp = pp, .first_shape = space->shape_count, .vp_most = 1};
    /* More than that is refused by name where nothing was found (refuse.c). */
    uint32_t most = q->vp > FIT_VP_ASKED ? 1 : q->vp > FIT_VP_MAX ? q->vp : FIT_VP_MAX;
    for (uint32_t vp = q->vp ? q->vp : 1; vp <= (pp > 1 ? most : 1); vp++) {
        if (!fit_allowed(q->vp, vp) || pp * vp > layers + 2) {
            continue;
        }
        /* Unlike chunks of unlike layers, or of none, are searched when asked for. */
        bool even = layers % (pp * vp) == 0, alike = space->alike && pp * vp <= layers;
        if (vp == 1 || even || alike || q->vp != 0) {
            add_shape(space, arena, (struct fit_shape){.pp = pp, .vp = vp});
        }
        add_counted(space, arena, pp, vp);
        if (q->it.stack->cuts) {
            add_splits(space, arena, pp, vp);
        }
        depth->plain_count = vp == 1 ? space->shape_count - depth->first_shape : depth->plain_count;
        depth->vp_most = vp;
    }
    depth->shape_count = space->shape_count - depth->first_shape;
    for (uint32_t i = 0; i < depth->shape_count; i++) {
        uint64_t choices = space->shapes[depth->first_shape + i].choice_count;
        *(i < depth->plain_count ? &depth->plain_choices : &depth->interleaved_choices) += choices;
    }
    depth->least_layers = 1e9;
    depth->least_moe = 1e9;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(depth->early); i++) {
        depth->early[i].layers = 1e9;
        depth->early[i].moe = 1e9;
    }
    for (uint32_t i = 0; i < depth->shape_count; i++) {
        note_layers(&space->shapes[depth->first_shape + i], depth);
    }
    for (uint32_t i = 0; i < depth->shape_count; i++) {
        struct fit_shape *shape = &space->shapes[depth->first_shape + i];
        /* Fuller stages exchange more in proportion: bounds add that share. */
        double rise = depth->least_layers > 0 ? shape->least_of / depth->least_layers : 1;
        rise = depth->least_moe > 0 ? fit_min(rise, shape->least_moe / depth->least_moe) : rise;
        shape->rise = fit_max(rise - 1, 0);
    }
    space->depth_count += depth->shape_count > 0;
}

/* Running sums, one row a layer: a span's layers by kind are a difference. */
static void count_below(struct fit_space *space, struct myr_arena *arena)
{
    const struct myr_model *model = space->query->it.model;
    space->below = myr_arena_alloc(arena, (size_t)model->layer_count + 1, sizeof(*space->below));
    memset(space->below[0], 0, sizeof(*space->below));
    for (uint32_t i = 0; i < model->layer_count; i++) {
        memcpy(space->below[i + 1], space->below[i], sizeof(*space->below));
        fit_count_layers(model, (struct myr_span){i, 1}, space->below[i + 1]);
    }
    uint32_t kinds = 0;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        kinds += space->below[model->layer_count][k] > 0;
    }
    space->alike = kinds == 1;
}

/* One rank, plain, with all that layouts of the question share. */
static struct myr_layout base_of(const struct myr_fit_query *query, enum myr_precision precision)
{
    struct myr_layout base = query->base ? *query->base : myr_layout_default();
    base.tp = base.pp = base.vp = base.dp = base.ep = base.micro_batch = 1;
    base.etp = 0;
    base.shard = query->shard;
    base.offload_layers = query->offload_layers;
    base.zero = 1;
    base.cp = query->cp ? query->cp : 1;
    base.sequence_parallel = base.output_counts = false;
    base.first_layers = base.last_layers = 0;
    base.recompute = MYR_RECOMPUTE_NONE;
    base.recompute_layers = 0;
    base.schedule = MYR_SCHEDULE_1F1B;
    base.global_batch = query->batch;
    base.seq_tokens = query->seq_tokens;
    base.precision = precision;
    if (!query->base) {
        myr_fit_habits(&query->it, &base);
    }
    return base;
}

/* Does what is taken of the recipe depend on recomputation, or on chunks? */
static bool is_parted(const struct fit_space *space)
{
    const struct myr_fit_case *it = &space->query->it;
    struct myr_layout plain = space->base, spread, again;
    plain.pp = 2;
    plain.ep = it->model->moe.expert_count ? 2 : 1;
    spread = again = plain;
    spread.vp = 2;
    again.recompute = MYR_RECOMPUTE_FULL;
    struct myr_recipe a[FIT_RECIPES_MAX] = {}, b[FIT_RECIPES_MAX] = {}, c[FIT_RECIPES_MAX] = {};
    (void)fit_recipes_of(it, &plain, a);
    (void)fit_recipes_of(it, &spread, b);
    (void)fit_recipes_of(it, &again, c);
    return memcmp(a, b, sizeof(a)) != 0 || memcmp(a, c, sizeof(a)) != 0;
}

/* Of one precision. tp ends with the scale-up domain unless a larger one is asked for. */
void fit_space_init(struct fit_space *space, struct myr_arena *arena,
                    const struct myr_fit_query *query, enum myr_precision precision)
{
    const struct myr_model *model = query->it.model;
    uint32_t domain = query->it.domain_gpus ? query->it.domain_gpus : query->it.device->domain_gpus;
    uint32_t most = domain < FIT_TP_MAX ? domain : FIT_TP_MAX;
    *space = (struct fit_space){.query = query, .flash = query->it.stack->flash};
    space->tp_max = query->tp > most ? query->tp : most;
    space->cp_max = query->cp > FIT_CP_MAX ? query->cp : FIT_CP_MAX;
    space->base = base_of(query, precision);
    space->parted = is_parted(space);
    for (uint32_t d = 1; d <= query->gpus / d; d++) {
        if (query->gpus % d == 0 && space->divisor_count + 2 <= FIT_DIVISORS_MAX) {
            space->divisors[space->divisor_count++] = d;
        }
    }
    /* The larger divisor of each pair, so that the list ascends. */
    for (uint32_t i = space->divisor_count; i-- > 0;) {
        uint32_t other = query->gpus / space->divisors[i];
        if (other != space->divisors[i]) {
            space->divisors[space->divisor_count++] = other;
        }
    }
    count_below(space, arena);
    /* How many there can be at most, counted first: the arrays do not grow. */
    uint32_t depth_max = 0;
    size_t shape_max = 0;
    for (uint32_t i = 0; i < space->divisor_count; i++) {
        uint32_t pp = space->divisors[i], vps = (model->layer_count + 2) / pp;
        if (pp <= model->layer_count) {
            size_t middles = 4 * FIT_SPLIT_MAX / pp + 2;
            depth_max++;
            shape_max +=
                (vps < FIT_VP_MAX ? vps : FIT_VP_MAX) * (middles * (2 * FIT_SPLIT_MAX + 1) + 2);
        }
    }
    space->depths = MYR_ARENA_NEW(arena, struct fit_depth, depth_max + 1);
    space->shapes = MYR_ARENA_NEW(arena, struct fit_shape, shape_max + 1);
    for (uint32_t i = 0; i < space->divisor_count; i++) {
        if (space->divisors[i] <= model->layer_count &&
            fit_allowed(query->pp, space->divisors[i])) {
            add_depth(space, arena, space->divisors[i]);
        }
    }
}

/* Widths */

/*
 * With sizes of the other axes that break no rule themselves, so that a broken one is the width's.
 */
static bool width_legal(const struct fit_space *space, struct myr_layout layout)
{
    const struct myr_fit_query *q = space->query;
    /* Cheap questions first. */
    if (q->gpus % ((uint64_t)layout.tp * layout.cp) != 0 || !fit_allowed(q->tp, layout.tp) ||
        !fit_allowed(q->cp, layout.cp) || !fit_allowed(q->ep, layout.ep) ||
        (q->etp && q->etp != myr_layout_etp(&layout))) {
        return false;
    }
    if (q->sequence_parallel >= 0 && layout.tp > 1 &&
        q->sequence_parallel != (int)layout.sequence_parallel) {
        return false;
    }
    if (q->sequence_parallel < 0 && layout.sequence_parallel && q->it.stack->whole_sequence) {
        return false;
    }
    /* Trainers refuse experts on ranks that each hold the whole sequence. */
    if (q->sequence_parallel < 0 && q->it.model->moe.expert_count > 0 && layout.tp > 1 &&
        !layout.sequence_parallel && !q->it.stack->whole_sequence) {
        return false;
    }
    /* Rules that other axes have no part in; those that have one are met by these sizes. */
    layout.dp = myr_layout_etp(&layout) * layout.ep;
    layout.global_batch = layout.dp;
    return (uint64_t)layout.tp * layout.cp * layout.dp <= MYR_LAYOUT_GPUS_MAX &&
           myr_layout_broken(&layout, q->it.model, 0) == MYR_LAYOUT_OK;
}

/* One step of the counter tp, cp, sequence parallelism, ep, etp; false when it has run through. */
static bool width_step(const struct fit_space *space, struct myr_layout *l)
{
    /* etp turns fastest: 0 is as tp, 1 is whole experts. */
    uint32_t experts = space->query->it.model->moe.expert_count;
    uint32_t asked = space->query->etp;
    uint32_t other = asked && asked != l->tp ? asked : 1; /* whole, or as is asked for */
    if (experts && l->etp == 0 && l->tp > 1) {
        l->etp = other;
        return true;
    }
    l->etp = 0;
    for (l->ep++; l->ep <= experts; l->ep++) {
        MYR_ASSERT(l->ep > 0);
        if (experts % l->ep == 0) {
            return true;
        }
    }
    l->ep = 1;
    if (l->sequence_parallel) {
        l->sequence_parallel = false;
        return true;
    }
    l->cp *= 2;
    if (l->cp > space->cp_max || space->query->cp > 0) {
        l->cp = space->base.cp;
        l->tp++;
    }
    l->sequence_parallel = l->tp > 1;
    return l->tp <= space->tp_max;
}

bool fit_width_next(const struct fit_space *space, struct myr_layout *layout, bool *started)
{
    if (!*started) {
        *layout = space->base;
        *started = true;
        if (width_legal(space, *layout)) {
            return true;
        }
    }
    while (width_step(space, layout)) {
        if (width_legal(space, *layout)) {
            return true;
        }
    }
    return false;
}

/*
 * The usual order, and where the trainer can be told to the one with replicas outside of stages. Of
 * experts it then asks that their ranks are those of a tensor and context group, so that stages
 * stand alike in both grids.
 */
uint32_t fit_orders(const struct fit_space *space, const struct myr_layout *layout,
                    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT])
{
    static const enum myr_axis spread[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_PP,
                                           MYR_AXIS_DP};
    static const enum myr_axis plain[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_PP, MYR_AXIS_EP,
                                          MYR_AXIS_DP};
    memcpy(orders[0], space->base.order, sizeof(orders[0]));
    /* An axis of one rank can stand anywhere. */
    if (!space->query->it.stack->reorders || layout->pp == 1 || layout->dp == 1) {
        return 1;
    }
    bool experts = layout->ep > 1 || myr_layout_etp(layout) != layout->tp;
    memcpy(orders[1], experts ? spread : plain, sizeof(orders[1]));
    return experts && myr_layout_edp(layout) != layout->dp ? 1 : 2;
}
