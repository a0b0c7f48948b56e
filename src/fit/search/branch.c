/*
 * branch: the best layouts of a space, by branch and bound.
 *
 * A group is a width, a depth, a micro-batch and a way to recompute; thousands of layouts share its
 * arithmetic. Every group gets a bound from below (its layers dealt evenly, nothing exchanged among
 * replicas). Groups of one width and depth make a family, for their ranks stand alike. Families are
 * looked at up to three times, always the lowest bound first, until it passes the worst layout that
 * is still wanted:
 *
 *   refined  memory and the exchange enter the bound
 *   cut      each cut has a bound; of a group's cuts the best-looking is priced, so that good
 *            layouts are known early
 *   opened   cuts, ZeRO stages, shards, numbers of recomputed layers: each has a bound of its own,
 *            whole ranges fall at once, and what is left is priced as anybody else would
 */
#include <stdlib.h>

#include "search/visit.h"

/* One entry serves all depths of a width: layers do not know how many stages there are. */
static struct fit_priced_layers *price_layers(const struct fit_search *s,
                                              const struct myr_layout *layout, enum fit_chain chain)
{
    struct fit_priced_layers *ret = MYR_ARENA_ONE(s->arena, struct fit_priced_layers);
    struct fit_places places = fit_places_of(&s->query->it, layout);
    ret->cp_near = places.cp_near;
    ret->ep_near = places.ep_near;
    ret->next = NULL;
    ret->kept_known = false;
    fit_briefs_of(s, *layout, chain, &ret->briefs);
    fit_times_of(s, &ret->briefs, &ret->times);
    return ret;
}

/*
 * A heap of its own instead of base's: bounds are doubles, and families are moved whole, so that
 * the one on top is read without a second look-up. Equal bounds may come in any order: a bound that
 * equals the limit is still opened, so no layout depends on it.
 */
static struct fit_family pop_family(struct fit_heap *heap)
{
    MYR_ASSERT(heap->count > 0);
    struct fit_family *of = heap->of, top = of[0], moved = of[--heap->count];
    uint32_t at = 0, count = heap->count;
    for (uint32_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && of[child + 1].floor_s < of[child].floor_s;
        if (of[child].floor_s >= moved.floor_s) {
            break;
        }
        of[at] = of[child];
        at = child;
    }
    of[at] = moved;
    MYR_ASSERT(heap->count == 0 || of[0].floor_s >= top.floor_s);
    return top;
}

/* Grows by doubling; the memory is the search's and freed with it. */
static void push_family(struct fit_heap *heap, struct fit_family family)
{
    if (heap->count == heap->max) {
        heap->max = heap->max ? 2 * heap->max : 1024;
        heap->of = myr_xrealloc(heap->of, heap->max, sizeof(*heap->of));
    }
    MYR_ASSERT(family.count > 0 && heap->count < heap->max);
    uint32_t at = heap->count++;
    for (; at > 0 && heap->of[(at - 1) / 2].floor_s > family.floor_s; at = (at - 1) / 2) {
        heap->of[at] = heap->of[(at - 1) / 2];
    }
    heap->of[at] = family;
}

static void add_group(struct fit_search *s, struct fit_family *family, struct fit_group group)
{
    if (s->group_count == s->group_max) {
        s->group_max = s->group_max ? 2 * s->group_max : 4096;
        s->groups = myr_xrealloc(s->groups, s->group_max, sizeof(*s->groups));
    }
    /* Groups of a family lie side by side: it is the newest, or they would not. */
    MYR_ASSERT(family->first + family->count == s->group_count);
    s->group_count++;
    fit_add_group(&s->groups[family->first], &family->count, group);
    family->floor_s = s->groups[family->first].floor_s;
}

/* Layouts of one width, depth and micro-batch. */
static uint64_t group_layouts(const struct fit_search *s, const struct myr_layout *layout,
                              const struct fit_depth *depth)
{
    uint64_t count = 0, m = myr_layout_micro_batches(layout);
    bool dual = depth->pp % 2 == 0 && m % 2 == 0 && m >= UINT64_C(2) * depth->pp;
    count +=
        fit_schedule_allowed(s->query, MYR_SCHEDULE_1F1B, depth->pp) ? depth->plain_choices : 0;
    count += fit_schedule_allowed(s->query, MYR_SCHEDULE_ZERO_BUBBLE, depth->pp)
                 ? depth->plain_choices
                 : 0;
    count += dual && fit_schedule_allowed(s->query, MYR_SCHEDULE_DUALPIPE, depth->pp)
                 ? depth->plain_choices
                 : 0;
    return count + (fit_interleaves(s, layout, depth) ? depth->interleaved_choices : 0);
}

/* Filling the heap */

/* By micro-batch, chain, and whether it is DualPipe's. */
typedef struct fit_priced_layers *priced_table[FIT_MICRO_MAX + 1][FIT_CHAIN_COUNT][2];

/*
 * All groups of a width and a depth with their first bounds; counts their layouts without forming
 * them.
 */
static void add_family(struct fit_search *s, struct myr_layout *width, uint32_t at,
                       priced_table priced)
{
    const struct myr_fit_query *q = s->query;
    const struct fit_depth *depth = &s->space->depths[at];
    struct myr_layout layout = *width;
    /* What the rules ask of these axes, without forming a layout for each. */
    uint64_t ranks = (uint64_t)layout.tp * layout.cp * depth->pp;
    if (q->gpus % ranks != 0) {
        return;
    }
    layout.pp = depth->pp;
    layout.dp = (uint32_t)(q->gpus / ranks);
    if (!fit_allowed(q->dp, layout.dp) || q->batch % layout.dp != 0 ||
        ((uint64_t)layout.tp * layout.cp * layout.dp) % (myr_layout_etp(&layout) * layout.ep) !=
            0) {
        return;
    }
    /* A shard that is asked for is a run of whole ranks, of experts too. */
    uint32_t shard = s->space->base.shard;
    if (shard && (shard % layout.cp != 0 || !fit_shard_aligned(&layout, shard / layout.cp, true))) {
        return;
    }
    struct fit_family family = {.width = width, .depth = at, .first = s->group_count};
    uint64_t updates = fit_shard_count(s, &layout);
    double straggler = fit_straggler_share(&q->it, &layout);
    /* Sequences of a replica in a step. */
    uint32_t own = q->batch / layout.dp;
    uint32_t asked = q->micro_batch, most = asked ? asked : FIT_MICRO_MAX;
    for (uint32_t b = asked ? asked : 1; b <= most && b <= own; b++) {
        if (own % b != 0) {
            continue;
        }
        layout.micro_batch = b;
        s->answer->evaluated += group_layouts(s, &layout, depth) * updates;
        uint32_t m = own / b;
        for (int dual = 0; dual <= fit_schedule_allowed(q, MYR_SCHEDULE_DUALPIPE, depth->pp);
             dual++) {
            if (dual && (depth->pp % 2 != 0 || m % 2 != 0 || m < 2 * depth->pp)) {
                continue;
            }
            layout.schedule = dual ? MYR_SCHEDULE_DUALPIPE : MYR_SCHEDULE_1F1B;
            for (int chain = 0; chain < FIT_CHAIN_COUNT; chain++) {
                enum fit_chain of = (enum fit_chain)chain;
                bool plain = fit_chain_runs(of, layout.schedule, depth->pp);
                bool spread = !dual && fit_chain_runs(of, MYR_SCHEDULE_INTERLEAVED, depth->pp);
                if (!fit_chain_open(s, of) || !(plain || spread)) {
                    continue;
                }
                struct fit_priced_layers **known = &priced[b <= FIT_MICRO_MAX ? b : 0][chain][dual];
                *known = *known ? *known : price_layers(s, &layout, of);
                double floor_s =
                    fit_group_floor_s(s, layout, depth, &(*known)->times, of, dual != 0);
                if (floor_s < 1e29) { /* 1e30 s stands for "no schedule is possible" */
                    add_group(s, &family,
                              (struct fit_group){floor_s * (1 + straggler), *known, b,
                                                 (uint8_t)chain, dual != 0});
                }
            }
        }
    }
    if (family.count > 0) {
        push_family(&s->families, family);
    }
}

/* The next family of a heap, unless no layout of it could be kept. */
static bool next_family(struct fit_search *s, struct fit_heap *heap, struct fit_family *ret)
{
    const struct myr_fit_answer *answer = s->answer;
    uint32_t top = s->query->top;
    if (heap->count == 0 ||
        (answer->top_count == top && heap->of[0].floor_s > answer->top[top - 1].step_s)) {
        return false;
    }
    *ret = pop_family(heap);
    return true;
}

/* What bounds ask of the model as a whole. */
static void note_model(struct fit_search *s)
{
    const struct myr_model *model = s->query->it.model;
    memset(s->layers, 0, sizeof(s->layers));
    fit_count_layers(model, (struct myr_span){0, model->layer_count}, s->layers);
    bool has_moe = s->layers[FIT_MOE_FULL] + s->layers[FIT_MOE_WINDOW] > 0;
    bool has_dense = s->layers[FIT_DENSE_FULL] + s->layers[FIT_DENSE_WINDOW] > 0;
    s->uniform = has_moe != has_dense;
    s->kind_count = 0;
    for (uint32_t k = 0; k < FIT_KIND_COUNT; k++) {
        if (s->layers[k] > 0) {
            s->kinds[s->kind_count++] = k;
        }
    }
    MYR_ASSERT(s->kind_count > 0);
}

void fit_fill_families(struct fit_search *s)
{
    struct myr_layout layout;
    bool started = false;
    note_model(s);
    s->hints = MYR_ARENA_NEW(s->arena, uint32_t, s->space->depth_count + 1);
    memset(s->hints, 0, (s->space->depth_count + 1) * sizeof(*s->hints));
    s->group_count = 0;
    s->families.count = 0;
    s->cut.count = 0;
    s->limit_bytes = myr_fit_memory_most(&s->query->it, !s->query->tight);
    while (fit_width_next(s->space, &layout, &started)) {
        priced_table priced = {};
        struct myr_layout *width = MYR_ARENA_ONE(s->arena, struct myr_layout);
        *width = layout;
        for (uint32_t i = 0; i < s->space->depth_count; i++) {
            add_family(s, width, i, priced);
        }
    }
}

/* Fills the heap, refines and cuts families while bounds let them be of use, opens what is left. */
static void search_space(struct fit_search *s)
{
    fit_fill_families(s);
    /* Bounds are worth little before good layouts are known: one of each group comes first. */
    struct fit_family family;
    while (next_family(s, &s->families, &family)) {
        bool cuts = family.refined;
        MYR_ASSERT(family.first + family.count <= s->group_count);
        fit_refine_family(s, &family, cuts);
        if (family.count > 0) {
            push_family(cuts ? &s->cut : &s->families, family);
        }
    }
    while (next_family(s, &s->cut, &family)) {
        fit_open_family(s, &family);
    }
    MYR_ASSERT(s->answer->top_count <= s->query->top);
}

void fit_search_init(struct fit_search *s, const struct myr_fit_query *query,
                     struct myr_arena *arena, struct myr_fit_answer *answer)
{
    size_t exchanges = (size_t)4 * FIT_DIVISORS_MAX * (FIT_ORDERS_MAX + 1);
    *s = (struct fit_search){.arena = arena, .query = query, .answer = answer};
    s->exchanges = myr_xcalloc(exchanges, sizeof(*s->exchanges));
}

void fit_search_done(struct fit_search *s)
{
    free(s->exchanges);
    free(s->groups);
    free(s->families.of);
    free(s->cut.of);
}

/* One space for each precision; the list of the best goes on from one to the next. */
static void search_precisions(const struct myr_fit_query *query, struct myr_arena *arena,
                              struct myr_fit_answer *ret)
{
    enum myr_precision list[4] = {query->precision};
    uint32_t count = query->any_precision ? myr_fit_precisions(query->it.device, list) : 1;
    MYR_CLEANUP(fit_search_done) struct fit_search s;
    fit_search_init(&s, query, arena, ret);
    MYR_ASSERT(query->top >= 1 && query->top <= MYR_FIT_TOP_MAX);
    *ret = (struct myr_fit_answer){};
    for (uint32_t i = 0; i < count; i++) {
        struct fit_space space;
        fit_space_init(&space, arena, query, list[i]);
        s.space = &space;
        if (query->exhaustive) {
            fit_exhaust(&space, ret);
        } else {
            search_space(&s);
        }
    }
}

/* What is sure to fit comes first; where nothing is, what fits as counted is said to be that. */
void fit_search_quietly(const struct myr_fit_query *query, struct myr_arena *arena,
                        struct myr_fit_answer *ret)
{
    search_precisions(query, arena, ret);
    if (ret->top_count == 0 && !query->tight) {
        struct myr_fit_query tight = *query;
        tight.tight = true;
        search_precisions(&tight, arena, ret);
    }
}
