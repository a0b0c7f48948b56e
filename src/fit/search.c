/*
 * search: the best layouts of a space, by branch and bound.
 *
 * A group is a width, a depth and a micro-batch; thousands of layouts share its arithmetic. Every
 * group gets a bound from below (its layers dealt evenly, nothing exchanged among replicas) and
 * groups are opened best first until the bound passes the worst layout that is still wanted.
 * Inside a group every cut has a bound of its own, and so has every way to exchange gradients; of
 * the numbers of recomputed layers those below what memory asks for are never looked at, and whole
 * ranges above it fall at once. What is left is priced exactly as anybody else would.
 */
#include "myriad/fit/search.h"

#include <stdlib.h>

#include "visit.h"

/* What bounds need of the blocks of one width, micro-batch and chain. */
struct times {
    bool ready;
    double all;         /* every layer, the embedding and the output */
    double last;        /* what the last stage has beside layers */
    double share;       /* of layers that is forward, at most */
    double least_share; /* of anything */
    double layer;       /* the quickest layer */
    struct fit_layer embedding;
};

static void price_times(const struct fit_search *s, struct myr_layout layout, enum fit_chain chain,
                        struct times *ret)
{
    const struct myr_model *model = s->query->it.model;
    struct fit_blocks blocks;
    fit_set_chain(s, chain, &layout);
    if (layout.recompute_layers > 0) { /* bounds need what is left alone only */
        layout.recompute = MYR_RECOMPUTE_NONE;
        layout.recompute_layers = 0;
    }
    fit_blocks_of(&s->query->it, &layout, &blocks);
    ret->ready = true;
    ret->last = fit_layer_s(&blocks.output) * (1 + model->mtp_count) +
                (model->mtp_count ? model->mtp_count * fit_mtp_layer_s(&blocks, blocks.layers) : 0);
    ret->all = ret->last + fit_layer_s(&blocks.embedding);
    ret->share = 0;
    ret->layer = 1e30;
    ret->least_share = fit_min(0.5, blocks.output.forward.total / fit_layer_s(&blocks.output));
    ret->embedding = blocks.embedding;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        if (s->layers[k] > 0) {
            double share = blocks.layers[k].forward.total / fit_layer_s(&blocks.layers[k]);
            ret->share = fit_max(ret->share, share);
            ret->least_share = fit_min(ret->least_share, share);
            ret->layer = fit_min(ret->layer, fit_layer_s(&blocks.layers[k]));
        }
        ret->all += s->layers[k] > 0 ? s->layers[k] * fit_layer_s(&blocks.layers[k]) : 0;
    }
}

bool fit_interleaves(const struct fit_search *s, const struct myr_layout *layout,
                     const struct fit_depth *depth)
{
    return depth->interleaved_choices > 0 && myr_layout_micro_batches(layout) % depth->pp == 0 &&
           fit_schedule_allowed(s->query, MYR_SCHEDULE_INTERLEAVED, depth->pp);
}

/*
 * 1F1B with layers dealt as well as can be. Each stage bounds the step by 'sum' and its own time
 * times the micro-batches less one, less its forwards of as many as stages are behind it
 * (fit_pipe_floor_s()). The best dealing makes all these equal: then each is 'sum' over the sum of
 * the inverse factors, which lie under the chord between the outer ones. 'fullest' is the time of
 * a stage with the most layers, wherever it stands.
 */
static double plain_floor_s(const struct times *times, double m, double pp, double fullest,
                            double beside)
{
    double sum = times->all + pp * beside, last = times->last + beside;
    double more = m - 1, share = times->share;
    double most = more, least = more - share * fit_min(more, pp - 1);
    double mean = m >= pp ? 2 * most * least / fit_max(most + least, 1e-30) : least;
    /* What is beside layers can be forward for the most part. */
    double off = times->embedding.forward.total + beside / 2 -
                 share * (fit_layer_s(&times->embedding) + beside);
    double dealt = sum + sum / pp * mean - (pp - 1) * fit_max(0, off);
    return fit_max(dealt, sum + fit_max(more * last, least * (fullest + beside)));
}

/*
 * Each stage bounds the step by all its work and what those before it do first, a share of theirs:
 * forwards, or a chunk. The best dealing makes all these equal: times fall by share / m from stage
 * to stage, a geometric series, cut off after its third term where that makes it larger.
 */
static double filling_floor_s(const struct times *times, double share, double m, double pp,
                              double beside)
{
    double sum = times->all + pp * beside, x = share / m;
    double series = pp * x * (1 - (pp - 1) / 2 * x * (1 - (pp - 2) / 3 * x));
    return share * sum / fit_min(series, 1);
}

/* No layout of the group takes less: layers dealt evenly, the least bubble of its schedules. */
static double group_floor_s(const struct fit_search *s, struct myr_layout layout,
                            const struct fit_depth *depth, const struct times *times, bool dual)
{
    double m = myr_layout_micro_batches(&layout), pp = depth->pp, floor_s = 1e30;
    double micro = s->query->it.constants[FIT_LAUNCH_MICRO] * 1e-3;
    /* Layers are whole: some stage has as many as even dealing gives, rounded up. */
    uint32_t most_layers = (s->query->it.model->layer_count + depth->pp - 1) / depth->pp;
    double fullest = most_layers * times->layer;
    for (int schedule = 0; schedule <= MYR_SCHEDULE_DUALPIPE; schedule++) {
        bool spread = schedule == MYR_SCHEDULE_INTERLEAVED;
        layout.schedule = (enum myr_schedule)schedule;
        if (!fit_schedule_allowed(s->query, layout.schedule, depth->pp) ||
            dual != (schedule == MYR_SCHEDULE_DUALPIPE) ||
            (spread && !fit_interleaves(s, &layout, depth)) ||
            (!spread && depth->plain_count == 0)) {
            continue;
        }
        layout.vp = spread ? 2 : 1;
        double hop = fit_least_hop_s(s, &layout);
        double beside = micro + hop, worst = times->all / pp + beside;
        if (!dual) { /* there the first stage's rank shares the last stage's load */
            worst = fit_max(worst, fit_max(times->last, fullest) + beside);
        }
        double least = m * worst;
        if (schedule == MYR_SCHEDULE_1F1B) {
            least = plain_floor_s(times, m, pp, fullest, beside);
        } else if (schedule == MYR_SCHEDULE_ZERO_BUBBLE) {
            least = fit_max(least, filling_floor_s(times, times->least_share, m, pp, beside));
        } else if (spread && s->uniform) {
            least = fit_max(least, filling_floor_s(times, 1.0 / depth->vp_most, m, pp, beside));
        }
        floor_s = fit_min(floor_s, least);
    }
    return floor_s * FIT_BOUND_SLACK;
}

static void sift_up(struct fit_group *groups, uint32_t at)
{
    struct fit_group moved = groups[at];
    while (at > 0 && groups[(at - 1) / 2].floor_s > moved.floor_s) {
        groups[at] = groups[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    groups[at] = moved;
}

static struct fit_group pop_group(struct fit_search *s)
{
    struct fit_group *groups = s->groups, top = groups[0];
    struct fit_group moved = groups[--s->group_count];
    uint32_t at = 0, count = s->group_count;
    for (uint32_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && groups[child + 1].floor_s < groups[child].floor_s;
        if (groups[child].floor_s >= moved.floor_s) {
            break;
        }
        groups[at] = groups[child];
        at = child;
    }
    groups[at] = moved;
    return top;
}

static void push_group(struct fit_search *s, struct fit_group group)
{
    if (s->group_count == s->group_max) {
        s->group_max = s->group_max ? 2 * s->group_max : 4096;
        s->groups = myr_xrealloc(s->groups, s->group_max, sizeof(*s->groups));
    }
    s->groups[s->group_count] = group;
    sift_up(s->groups, s->group_count++);
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

static void add_groups(struct fit_search *s, struct myr_layout *width, uint32_t at,
                       struct times times[FIT_MICRO_MAX + 1][FIT_CHAIN_COUNT][2])
{
    const struct myr_fit_query *q = s->query;
    const struct fit_depth *depth = &s->space->depths[at];
    struct myr_layout layout = *width;
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
    uint64_t tails = fit_tail_count(s, &layout);
    double straggler = fit_straggler_share(&q->it, &layout);
    uint32_t own = q->batch / layout.dp;
    for (uint32_t b = 1; b <= FIT_MICRO_MAX && b <= own; b++) {
        if (own % b != 0 || !fit_allowed(q->micro_batch, b)) {
            continue;
        }
        layout.micro_batch = b;
        s->answer->evaluated += group_layouts(s, &layout, depth) * tails;
        uint32_t m = own / b;
        for (int dual = 0; dual <= fit_schedule_allowed(q, MYR_SCHEDULE_DUALPIPE, depth->pp);
             dual++) {
            if (dual && (depth->pp % 2 != 0 || m % 2 != 0 || m < 2 * depth->pp)) {
                continue;
            }
            layout.schedule = dual ? MYR_SCHEDULE_DUALPIPE : MYR_SCHEDULE_1F1B;
            for (int chain = 0; chain < FIT_CHAIN_COUNT; chain++) {
                bool selective = chain == FIT_CHAIN_SELECTIVE;
                if (selective ? !fit_recompute_allowed(s->space, MYR_RECOMPUTE_SELECTIVE, 0)
                              : q->recompute == MYR_RECOMPUTE_SELECTIVE) {
                    continue;
                }
                struct times *t = &times[b][chain][dual];
                if (!t->ready) {
                    price_times(s, layout, (enum fit_chain)chain, t);
                }
                double floor_s = group_floor_s(s, layout, depth, t, dual != 0) * (1 + straggler);
                if (floor_s < 1e29) {
                    push_group(s, (struct fit_group){floor_s, width, at, (uint16_t)b,
                                                     (uint8_t)chain, dual != 0});
                }
            }
        }
    }
}

/* Bounds are worth little before good layouts are known: the best widths of each depth first. */
static void open_seeds(struct fit_search *s)
{
    enum { SEEDS = 4 };
    for (uint32_t depth = 0; depth < s->space->depth_count; depth++) {
        const struct fit_group *seeds[SEEDS] = {NULL};
        for (uint32_t i = 0; i < s->group_count; i++) {
            const struct fit_group *group = &s->groups[i];
            if (group->depth != depth) {
                continue;
            }
            uint32_t at = 0; /* its own width's place, else the worst */
            while (at < SEEDS - 1 && seeds[at] && seeds[at]->width != group->width) {
                at++;
            }
            if (seeds[at] && seeds[at]->floor_s <= group->floor_s) {
                continue;
            }
            for (seeds[at] = group; at > 0 && seeds[at]->floor_s < seeds[at - 1]->floor_s; at--) {
                const struct fit_group *worse = seeds[at - 1];
                seeds[at - 1] = seeds[at];
                seeds[at] = worse;
            }
        }
        for (uint32_t i = 0; i < SEEDS && seeds[i]; i++) {
            fit_open_group(s, seeds[i], true);
        }
    }
}

static void search_space(struct fit_search *s, struct myr_arena *arena)
{
    const struct myr_model *model = s->query->it.model;
    struct myr_layout layout;
    bool started = false;
    memset(s->layers, 0, sizeof(s->layers));
    fit_count_layers(model, (struct myr_span){0, model->layer_count}, s->layers);
    bool has_moe = s->layers[FIT_MOE_FULL] + s->layers[FIT_MOE_WINDOW] > 0;
    bool has_dense = s->layers[FIT_DENSE_FULL] + s->layers[FIT_DENSE_WINDOW] > 0;
    s->uniform = has_moe != has_dense && s->query->vp == 0;
    s->group_count = 0;
    struct myr_layout one = myr_layout_default();
    struct myr_fit_memory memory;
    myr_fit_memory_of(&s->query->it, &one, &memory);
    s->limit_bytes = memory.limit_bytes - memory.reserve_bytes;
    while (fit_width_next(s->space, &layout, &started)) {
        struct times times[FIT_MICRO_MAX + 1][FIT_CHAIN_COUNT][2] = {0};
        struct myr_layout *width = MYR_ARENA_NEW(arena, struct myr_layout, 1);
        *width = layout;
        for (uint32_t i = 0; i < s->space->depth_count; i++) {
            add_groups(s, width, i, times);
        }
    }
    open_seeds(s);
    const struct myr_fit_answer *answer = s->answer;
    uint32_t top = s->query->top;
    while (s->group_count > 0) {
        struct fit_group group = pop_group(s);
        if (answer->top_count == top && group.floor_s > answer->top[top - 1].step_s) {
            break;
        }
        fit_open_group(s, &group, false);
    }
}

uint32_t myr_fit_precisions(const struct myr_device *device, enum myr_precision list[4])
{
    uint32_t count = 0;
    list[count++] = MYR_PRECISION_BF16;
    if (device->fp8_flops > device->bf16_flops) {
        list[count++] = MYR_PRECISION_FP8;
    }
    if (device->generation == MYR_GENERATION_BLACKWELL) {
        list[count++] = MYR_PRECISION_MXFP8;
        list[count++] = MYR_PRECISION_NVFP4;
    }
    return count;
}

void fit_search_quietly(const struct myr_fit_query *query, struct myr_arena *arena,
                        struct myr_fit_answer *ret)
{
    enum myr_precision list[4] = {query->precision};
    uint32_t count = query->any_precision ? myr_fit_precisions(query->it.device, list) : 1;
    size_t exchanges = (size_t)4 * FIT_DIVISORS_MAX * FIT_ORDERS_MAX;
    struct fit_search s = {.query = query, .answer = ret};
    s.exchanges = myr_xcalloc(exchanges, sizeof(*s.exchanges));
    MYR_ASSERT(query->top >= 1 && query->top <= MYR_FIT_TOP_MAX);
    *ret = (struct myr_fit_answer){0};
    for (uint32_t i = 0; i < count; i++) {
        struct fit_space space;
        fit_space_init(&space, arena, query, list[i]);
        s.space = &space;
        if (query->exhaustive) {
            fit_exhaust(&space, ret);
        } else {
            search_space(&s, arena);
        }
    }
    free(s.exchanges);
    free(s.groups);
}

int myr_fit_search(const struct myr_fit_query *query, struct myr_arena *arena,
                   struct myr_fit_answer *ret, struct myr_err *err)
{
    fit_search_quietly(query, arena, ret);
    return ret->top_count ? MYR_OK : fit_refuse(query, arena, ret, err);
}
