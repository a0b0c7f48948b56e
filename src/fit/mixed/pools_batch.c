/*
 * pools_batch: whole replicas of the model on each pool.
 *
 * All pools cut the model in the same way: tp, cp, ep, stages and layers of each, ZeRO. A group is
 * a width and a number of stages; its bound is every pool at full speed with stages of equal
 * length. Groups are opened in the order of their bounds until one is not below the best answer;
 * cuts of a group are bounded again by their slowest stage. What is left is an integer programme
 * (partition_batch.c) over micro-batches of each pool, each of them played as the pipeline that it
 * is.
 */
#include <stdlib.h>

#include "mixed/mix.h"
#include "mixed/pace.h"
#include "mixed/partition.h"

#define MICROS   FIT_MICRO_MAX /* sizes of a micro-batch */
#define WAYS_MAX 256U          /* of one pool */

enum variant { SOME, EVERY, SELECTIVE, VARIANTS }; /* what of the layers is recomputed */

/* Blocks of one pool, micro-batch and order of ranks, priced when asked for. */
struct priced {
    struct fit_blocks blocks[VARIANTS];
};

#define PRICED_MAX (MYR_FIT_POOLS_MAX * FIT_ORDERS_MAX * MICROS)

#define REMEMBERED 32U /* times of a way; combinations with other pools' ways ask for the same */

/* A way that a pool can take its part. */
struct way {
    struct myr_layout layout; /* dp is the pool's */
    enum variant variant;
    uint32_t micro;             /* index of its micro-batch */
    double hop_s;               /* between stages */
    double gather_s;            /* ZeRO-2 and 3: each micro-batch */
    double memory_bytes;        /* of the fullest rank */
    uint32_t units[REMEMBERED]; /* 0: none yet */
    double times_s[REMEMBERED]; /* of so many units */
};

struct group {
    double bound_s;
    size_t number; /* equal bounds keep their order */
    struct myr_layout width;
    uint32_t depth; /* index in the space */
};

struct groups {
    struct group *items;
    size_t count, max;
};

struct opened {
    const struct fit_mixer *x;
    struct myr_fit_mixed *best;
    uint32_t replicas[MYR_FIT_POOLS_MAX], all_replicas; /* by place in 'who' */
    uint32_t micros[MICROS], micro_count;               /* sizes that are tried */
    bool useful[MYR_FIT_POOLS_MAX][MICROS];             /* no bound excludes them for this cut */
    struct priced *priced;                              /* [pool][order][micro-batch] */
    bool known[PRICED_MAX][VARIANTS]; /* of those; apart, for they are large and few are asked */
    uint32_t order;                   /* of ranks, as an index */
    struct way ways[MYR_FIT_POOLS_MAX][WAYS_MAX];
    struct fit_way items[MYR_FIT_POOLS_MAX][WAYS_MAX];
    struct fit_ways lists[MYR_FIT_POOLS_MAX];
    double slowest_gbps, straggler; /* NIC of any pool; share of the step */
    bool inside;                    /* the optimiser's state is cut inside each pool */
};

static const struct myr_fit_case *case_of(const struct opened *o, uint32_t i)
{
    return &o->x->cases[o->x->who[i]];
}

static const struct fit_blocks *blocks_of(struct opened *o, uint32_t i, uint32_t micro,
                                          const struct myr_layout *layout, enum variant variant)
{
    size_t at = ((size_t)i * FIT_ORDERS_MAX + o->order) * MICROS + micro;
    struct priced *priced = &o->priced[at];
    struct myr_layout own = *layout;
    if (!o->known[at][variant]) {
        own.recompute = variant == SELECTIVE ? MYR_RECOMPUTE_SELECTIVE : MYR_RECOMPUTE_FULL;
        own.recompute_layers = variant == SOME ? 1 : 0; /* blocks left alone and recomputed */
        fit_blocks_of(case_of(o, i), &own, &priced->blocks[variant]);
        o->known[at][variant] = true;
    }
    return &priced->blocks[variant];
}

/* The layout by which memory and exchange are counted: replicas of all pools. */
static struct myr_layout job_layout(const struct opened *o, uint32_t i, struct myr_layout layout)
{
    layout.dp = o->inside ? o->replicas[i] * o->x->count : o->all_replicas;
    layout.shard = o->inside ? o->replicas[i] * layout.cp : 0;
    return layout;
}

/* Memory with so many micro-batches of a step. */
static struct myr_fit_memory memory_of(const struct opened *o, uint32_t i,
                                       const struct myr_layout *layout, uint32_t micro_batches)
{
    struct myr_layout job = job_layout(o, i, *layout);
    struct myr_fit_memory memory;
    job.global_batch = job.dp * job.micro_batch * micro_batches;
    myr_fit_memory_of(case_of(o, i), &job, &memory);
    return memory;
}

/* Ways of one pool */

/* Choices of recomputation in the order of their time: 0 none, then layers, 'most' all of them. */
static void set_choice(uint32_t choice, uint32_t most, struct myr_layout *layout)
{
    layout->recompute = choice ? MYR_RECOMPUTE_FULL : MYR_RECOMPUTE_NONE;
    layout->recompute_layers = choice && choice < most ? choice : 0;
}

static void add_way(struct opened *o, uint32_t i, struct way way, uint32_t most_units,
                    double memory_bytes)
{
    uint32_t at = o->lists[i].count, step = way.layout.vp > 1 ? way.layout.pp : 1;
    if (at == WAYS_MAX) {
        return;
    }
    way.memory_bytes = memory_bytes;
    o->ways[i][at] = way;
    o->items[i][at] = (struct fit_way){
        .sequences = way.layout.micro_batch * o->replicas[i], .step = step, .most = most_units};
    o->lists[i].count++;
}

/* In steps, with which it fits; 'full' of them are all that count. */
static uint32_t most_micro_batches(const struct opened *o, uint32_t i,
                                   const struct myr_layout *layout, uint32_t step, uint32_t full)
{
    uint32_t low = 0, high = full / step;
    if (fit_mix_room(o->x, memory_of(o, i, layout, full))) {
        return full;
    }
    if (!fit_mix_room(o->x, memory_of(o, i, layout, step))) {
        return 0;
    }
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (fit_mix_room(o->x, memory_of(o, i, layout, middle * step))) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low * step;
}

/* One choice of recomputation; true when it fits with any number of micro-batches. */
static bool try_choice(struct opened *o, uint32_t i, struct way way, uint32_t *seen)
{
    uint32_t step = way.layout.vp > 1 ? way.layout.pp : 1;
    uint32_t full = (2 * way.layout.pp + step - 1) / step * step; /* no more are in flight */
    uint32_t most = most_micro_batches(o, i, &way.layout, step, full);
    if (most > *seen) {
        struct myr_fit_memory memory = memory_of(o, i, &way.layout, most);
        add_way(o, i, way, most == full ? UINT32_MAX : most, memory.total_bytes);
        *seen = most;
    }
    return most == full;
}

/* The least number of layers recomputed that fits with so many micro-batches; past all: none. */
static uint32_t least_recomputed(const struct opened *o, uint32_t i, struct myr_layout layout,
                                 uint32_t chunk_most, uint32_t micro_batches)
{
    uint32_t low = 1, high = chunk_most + 1;
    while (low < high) { /* from one layer on, more of them take less room */
        uint32_t middle = low + (high - low) / 2;
        set_choice(middle, chunk_most, &layout);
        if (fit_mix_room(o->x, memory_of(o, i, &layout, micro_batches))) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Of one micro-batch: what is recomputed as little as fits, less of it with few micro-batches. */
static void list_micro(struct opened *o, uint32_t i, struct way way, uint32_t chunk_most)
{
    int wanted = o->x->query->recompute;
    bool any = wanted < 0, full = wanted == MYR_RECOMPUTE_FULL;
    uint32_t seen = 0, step = way.layout.vp > 1 ? way.layout.pp : 1, from = chunk_most;
    if (any || wanted == MYR_RECOMPUTE_NONE) {
        set_choice(0, chunk_most, &way.layout);
        way.variant = SOME;
        if (try_choice(o, i, way, &seen)) {
            return;
        }
    }
    if ((any && !o->x->space.flash) || wanted == MYR_RECOMPUTE_SELECTIVE) {
        uint32_t apart = seen; /* a few whole layers may take less time, or less room */
        way.layout.recompute = MYR_RECOMPUTE_SELECTIVE;
        way.layout.recompute_layers = 0;
        way.variant = SELECTIVE;
        (void)try_choice(o, i, way, &apart);
    }
    if (any) {
        from = least_recomputed(o, i, way.layout, chunk_most, step);
    }
    for (uint32_t r = from; r <= chunk_most && (any || full); r++) {
        set_choice(r, chunk_most, &way.layout);
        way.variant = r < chunk_most ? SOME : EVERY;
        if (try_choice(o, i, way, &seen)) {
            return;
        }
    }
}

static bool list_ways(struct opened *o, struct myr_layout layout, uint32_t chunk_most)
{
    const struct fit_mixer *x = o->x;
    for (uint32_t i = 0; i < x->count; i++) {
        o->lists[i] = (struct fit_ways){o->items[i], 0};
        layout.dp = o->replicas[i];
        layout.precision = x->precisions[x->who[i]];
        for (uint32_t k = 0; k < o->micro_count; k++) {
            uint32_t step = layout.vp > 1 ? layout.pp : 1;
            layout.micro_batch = o->micros[k];
            layout.global_batch = layout.micro_batch * layout.dp * step;
            set_choice(chunk_most, chunk_most, &layout);
            if (!o->useful[i][k] || layout.global_batch > x->query->batch ||
                myr_layout_broken(&layout, x->query->it.model, 0) != MYR_LAYOUT_OK) {
                continue;
            }
            uint32_t before = o->lists[i].count;
            list_micro(o, i, (struct way){.layout = layout, .micro = k}, chunk_most);
            if (o->lists[i].count == before) {
                break; /* larger ones do not fit either */
            }
        }
        if (o->lists[i].count == 0) {
            return false;
        }
    }
    return true;
}

/* Times */

static double units_s(void *context, uint32_t i, uint32_t index, uint32_t units)
{
    struct opened *o = context;
    struct way *way = &o->ways[i][index];
    uint32_t slot = units / o->items[i][index].step % REMEMBERED;
    if (way->units[slot] != units) {
        struct myr_layout layout = way->layout;
        layout.global_batch = layout.dp * layout.micro_batch * units;
        const struct fit_blocks *blocks = blocks_of(o, i, way->micro, &layout, way->variant);
        way->units[slot] = units;
        way->times_s[slot] =
            fit_pipe_s(case_of(o, i), &layout, blocks, way->hop_s) + units * way->gather_s;
    }
    return way->times_s[slot];
}

/* Replicas of all pools exchange over the slowest NICs; a domain ends where its pool does. */
static void exchanges_of(const struct opened *o, uint32_t i, const struct myr_layout *own,
                         struct fit_exchanges *ret)
{
    struct myr_fit_case it = *case_of(o, i);
    struct myr_layout job = job_layout(o, i, *own);
    struct fit_places places = fit_places_of(&it, own);
    it.nic_gbps = o->slowest_gbps;
    *ret = (struct fit_exchanges){};
    fit_exchanges_of(&it, &job, &places, NULL, ret);
}

/* What a way takes in the order of ranks that is looked at. */
static void time_way(struct opened *o, uint32_t i, uint32_t index, const enum myr_axis *order)
{
    struct way *way = &o->ways[i][index];
    struct fit_way *item = &o->items[i][index];
    const struct myr_fit_case *it = case_of(o, i);
    struct fit_exchanges exchanges;
    struct fit_pipe pipe;
    struct myr_fit_cost one, two;
    memcpy(way->layout.order, order, sizeof(way->layout.order));
    memset(way->units, 0, sizeof(way->units));
    way->layout.global_batch = way->layout.dp * way->layout.micro_batch * item->step;
    struct fit_places places = fit_places_of(it, &way->layout);
    const struct fit_blocks *blocks = blocks_of(o, i, way->micro, &way->layout, way->variant);
    way->hop_s = fit_hop_s(it, &way->layout, places.pp_near);
    fit_pace_of(it, &way->layout, blocks, way->hop_s, item, &pipe);
    exchanges_of(o, i, &way->layout, &exchanges);
    struct myr_layout job = job_layout(o, i, way->layout);
    pipe.micro_batches = 1;
    fit_close_with(it, &job, &pipe, &exchanges, 0, &one);
    pipe.micro_batches = 2;
    fit_close_with(it, &job, &pipe, &exchanges, 0, &two);
    way->gather_s = two.step_s - one.step_s;
    item->update_s = one.step_s - way->gather_s;
    item->unit_s = (item->unit_s + way->gather_s) * (1 - 1e-9);
}

static double data_update_s(const struct opened *o, const struct fit_share *shares)
{
    double most = 0;
    for (uint32_t i = 0; i < o->x->count; i++) {
        most = fit_max(most, o->items[i][shares[i].way].update_s);
    }
    return most;
}

static void take_best(struct opened *o, const struct fit_share *shares, double time_s)
{
    struct myr_fit_mixed *best = o->best;
    uint32_t batch = 0;
    *best = (struct myr_fit_mixed){
        .found = true, .step_s = time_s * (1 + o->straggler), .asked = best->asked};
    best->cut_inside = o->inside;
    best->exchange_s = data_update_s(o, shares);
    for (uint32_t i = 0; i < o->x->count; i++) {
        struct myr_fit_part *part = &best->parts[o->x->who[i]];
        *part = (struct myr_fit_part){.used = true, .layout = o->ways[i][shares[i].way].layout};
        part->batch = shares[i].units * o->items[i][shares[i].way].sequences;
        part->layout.global_batch = part->batch;
        batch += part->batch;
        part->step_s = units_s(o, i, shares[i].way, shares[i].units);
        part->memory_bytes = memory_of(o, i, &part->layout, shares[i].units).total_bytes;
        part->layout.shard = o->inside ? o->replicas[i] * part->layout.cp : 0;
    }
    MYR_ASSERT(batch == o->x->query->batch);
}

/* Some orders part the experts' ranks of a stage from its other ones. */
static bool order_works(const struct opened *o, struct myr_layout layout,
                        const enum myr_axis *order)
{
    memcpy(layout.order, order, sizeof(layout.order));
    layout.micro_batch = 1;
    for (uint32_t i = 0; i < o->x->count; i++) {
        layout.dp = o->replicas[i];
        layout.global_batch = layout.dp * layout.pp;
        if (myr_layout_broken(&layout, o->x->query->it.model, 0) != MYR_LAYOUT_OK) {
            return false;
        }
    }
    return true;
}

/* One cut of the model with one ZeRO stage, in every order of ranks. */
static void try_cut(struct opened *o, const struct myr_layout *layout, uint32_t chunk_most)
{
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    struct myr_layout wide = *layout;
    struct fit_share shares[MYR_FIT_POOLS_MAX];
    wide.dp = o->all_replicas;
    uint32_t order_count = fit_orders(&o->x->space, &wide, orders);
    if (!list_ways(o, *layout, chunk_most)) {
        return;
    }
    for (o->order = 0; o->order < order_count; o->order++) {
        double time_s;
        if (!order_works(o, *layout, orders[o->order])) {
            continue;
        }
        for (uint32_t i = 0; i < o->x->count; i++) {
            for (uint32_t k = 0; k < o->lists[i].count; k++) {
                time_way(o, i, k, orders[o->order]);
            }
        }
        struct fit_batch batch = {.pools = o->lists,
                                  .pool_count = o->x->count,
                                  .batch = o->x->query->batch,
                                  .units_s = units_s,
                                  .context = o,
                                  .limit_s = 1e30};
        if (o->best->found) {
            batch.limit_s = o->best->step_s / (1 + o->straggler);
        }
        o->best->asked++;
        if (fit_partition_batch(&batch, shares, &time_s)) {
            take_best(o, shares, time_s);
        }
    }
    o->order = 0;
}

/* Bounds */

/* Both passes of a micro-batch through the whole model, nothing recomputed. */
static double model_s(const struct fit_blocks *blocks, const struct myr_model *model)
{
    double layers[FIT_KIND_COUNT] = {};
    double sum =
        blocks->embedding.forward.total + blocks->embedding.backward.total +
        (1 + model->mtp_count) * (blocks->output.forward.total + blocks->output.backward.total);
    fit_count_layers(model, (struct myr_span){0, model->layer_count}, layers);
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        if (layers[k] > 0) {
            sum += layers[k] * (blocks->layers[k].forward.total + blocks->layers[k].backward.total);
        }
    }
    return sum;
}

/* All pools with their best micro-batch, and stages of equal length. */
static double group_bound_s(struct opened *o, const struct myr_layout *width)
{
    double rate = 0;
    for (uint32_t i = 0; i < o->x->count; i++) {
        double best = 0;
        for (uint32_t k = 0; k < o->micro_count; k++) {
            struct myr_layout layout = *width;
            layout.micro_batch = o->micros[k];
            layout.precision = o->x->precisions[o->x->who[i]];
            const struct fit_blocks *blocks = blocks_of(o, i, k, &layout, SOME);
            double stage = model_s(blocks, o->x->query->it.model) / width->pp;
            best = fit_max(best, o->micros[k] * o->replicas[i] / stage);
        }
        rate += best;
    }
    return o->x->query->batch / rate * (1 + o->straggler) * (1 - 1e-9);
}

/*
 * A cut, whatever is recomputed and however ranks lie: a pool takes n sequences in no less than a
 * line over n. What all can take up to the limit has to reach the batch; of a pool's micro-batches
 * those are of use with which it does, the other pools at their best.
 */
static bool may_end_before(struct opened *o, const struct myr_layout *cut,
                           const struct fit_shape *shape, double limit_s)
{
    double all = 0, time_s = limit_s / (1 + o->straggler) * (1 + 1e-9), batch = o->x->query->batch;
    double sequences[MYR_FIT_POOLS_MAX][MICROS], most[MYR_FIT_POOLS_MAX] = {};
    for (uint32_t i = 0; i < o->x->count; i++) {
        for (uint32_t k = 0; k < o->micro_count; k++) {
            struct myr_layout layout = *cut;
            struct fit_way line;
            layout.dp = o->replicas[i];
            layout.micro_batch = o->micros[k];
            layout.precision = o->x->precisions[o->x->who[i]];
            layout.recompute = MYR_RECOMPUTE_NONE;
            fit_shape_pace(case_of(o, i), &layout, shape, blocks_of(o, i, k, &layout, SOME), &line);
            double units = (time_s - line.fill_s) / line.unit_s;
            sequences[i][k] = units * o->micros[k] * o->replicas[i];
            most[i] = fit_max(most[i], sequences[i][k]);
        }
        all += most[i];
    }
    for (uint32_t i = 0; i < o->x->count; i++) {
        for (uint32_t k = 0; k < o->micro_count; k++) {
            o->useful[i][k] = all - most[i] + sequences[i][k] >= batch;
        }
    }
    return all >= batch;
}

/* Groups */

/* Replicas of each pool, and what follows from their number alone; false: some have none. */
static bool set_width(struct opened *o, struct myr_layout *width, uint32_t pp)
{
    const struct fit_mixer *x = o->x;
    width->pp = pp;
    o->all_replicas = 0;
    o->straggler = 0;
    o->slowest_gbps = 1e30;
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t pool = x->who[i], ranks = width->tp * width->cp * pp;
        o->replicas[i] = x->pools[pool].gpus / ranks;
        o->all_replicas += o->replicas[i];
        o->slowest_gbps = fit_min(o->slowest_gbps, x->pools[pool].device->nic_gbps);
        if (x->pools[pool].gpus % ranks != 0) {
            return false;
        }
    }
    for (uint32_t i = 0; i < x->count; i++) {
        struct myr_layout all = *width;
        all.dp = o->all_replicas;
        all.precision = x->precisions[x->who[i]];
        o->straggler = fit_max(o->straggler, fit_straggler_share(case_of(o, i), &all));
    }
    return fit_allowed(x->query->dp, o->all_replicas);
}

static void forget_prices(struct opened *o)
{
    memset(o->known, 0, sizeof(o->known));
}

static void open_shape(struct opened *o, struct myr_layout layout, const struct fit_shape *shape)
{
    const struct myr_fit_query *q = o->x->query;
    layout.vp = shape->vp;
    layout.first_layers = shape->first_layers;
    layout.last_layers = shape->last_layers;
    layout.output_counts = shape->output_counts;
    for (int s = MYR_SCHEDULE_1F1B; s <= MYR_SCHEDULE_ZERO_BUBBLE; s++) {
        layout.schedule = (enum myr_schedule)s;
        if ((shape->vp > 1) != (s == MYR_SCHEDULE_INTERLEAVED) ||
            !fit_schedule_allowed(q, layout.schedule, layout.pp)) {
            continue;
        }
        if (!may_end_before(o, &layout, shape, o->best->found ? o->best->step_s : 1e30)) {
            continue;
        }
        for (uint32_t zero = 0; zero <= 3; zero++) {
            if (!fit_zero_allowed(q, zero, layout.pp)) {
                continue;
            }
            layout.zero = zero;
            /* Pools count micro-batches of their own, so none waits for another's each time. */
            for (int inside = zero >= 2; inside <= (zero > 0); inside++) {
                o->inside = inside != 0;
                try_cut(o, &layout, shape->chunk_most);
            }
        }
    }
}

static void open_group(struct opened *o, const struct group *group)
{
    const struct fit_space *space = &o->x->space;
    const struct fit_depth *depth = &space->depths[group->depth];
    struct myr_layout layout = group->width;
    (void)set_width(o, &layout, depth->pp);
    forget_prices(o);
    for (uint32_t i = 0; i < depth->shape_count; i++) {
        open_shape(o, layout, &space->shapes[depth->first_shape + i]);
    }
}

static void add_groups(struct opened *o, struct myr_layout width, struct groups *all)
{
    const struct fit_space *space = &o->x->space;
    forget_prices(o);
    for (uint32_t i = 0; i < space->depth_count; i++) {
        if (space->depths[i].pp > MYR_FIT_STAGES_MAX ||
            !set_width(o, &width, space->depths[i].pp)) {
            continue;
        }
        if (all->count == all->max) {
            all->max = all->max ? 2 * all->max : 256;
            all->items = myr_xrealloc(all->items, all->max, sizeof(*all->items));
        }
        all->items[all->count] = (struct group){group_bound_s(o, &width), all->count, width, i};
        all->count++;
    }
}

static int by_bound(const void *a, const void *b)
{
    const struct group *left = a, *right = b;
    if (left->bound_s < right->bound_s || left->bound_s > right->bound_s) {
        return left->bound_s < right->bound_s ? -1 : 1;
    }
    return left->number < right->number ? -1 : 1;
}

static void free_opened(struct opened **o)
{
    free((*o)->priced);
    free(*o);
}

static void groups_done(struct groups *all)
{
    free(all->items);
}

void fit_mix_batch(const struct fit_mixer *x, struct myr_fit_mixed *best)
{
    MYR_CLEANUP(free_opened) struct opened *o = myr_xcalloc(1, sizeof(*o));
    MYR_CLEANUP(groups_done) struct groups all = {};
    struct myr_layout width;
    bool started = false;
    o->x = x;
    o->best = best;
    o->priced = myr_xrealloc(NULL, PRICED_MAX, sizeof(*o->priced));
    for (uint32_t b = 1; b <= FIT_MICRO_MAX; b++) {
        o->micros[o->micro_count++] = b;
    }
    if (x->query->micro_batch) {
        o->micros[0] = x->query->micro_batch;
        o->micro_count = 1;
    }
    while (fit_width_next(&x->space, &width, &started)) {
        add_groups(o, width, &all);
    }
    if (all.count > 0) {
        qsort(all.items, all.count, sizeof(*all.items), by_bound);
    }
    for (size_t i = 0; i < all.count; i++) {
        if (best->found && all.items[i].bound_s >= best->step_s) {
            break;
        }
        open_group(o, &all.items[i]);
    }
    best->floor_s = best->step_s; /* every bound is one, so nothing is left below */
}
