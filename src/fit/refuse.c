/* refuse: why no layout works, and the nearest thing that would. */
#include "space.h"

#define GIB 1073741824.0

/* The least number above (or below) 'from' that some layout divides; 0 when there is none near. */
static bool divides(const struct fit_space *space, const uint32_t *widths, uint32_t width_count,
                    uint32_t gpus, uint32_t batch)
{
    const struct myr_fit_query *q = space->query;
    uint32_t layers = q->it.model->layer_count;
    for (uint32_t i = 0; i < width_count; i++) {
        for (uint32_t pp = 1; pp <= layers; pp++) {
            uint64_t ranks = (uint64_t)widths[i] * pp;
            if (gpus % ranks == 0 && fit_allowed(q->pp, pp) &&
                fit_allowed(q->dp, (uint32_t)(gpus / ranks)) && batch % (gpus / ranks) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Products tp * cp that the model allows, whatever the number of GPUs. */
static uint32_t list_widths(const struct myr_fit_query *query, struct myr_arena *arena,
                            uint32_t *list, uint32_t max)
{
    struct myr_fit_query any = *query;
    struct fit_space space;
    struct myr_layout layout;
    bool started = false;
    uint32_t count = 0;
    any.gpus = 720720; /* divides by every width there is */
    fit_space_init(&space, arena, &any, query->precision);
    while (fit_width_next(&space, &layout, &started)) {
        uint32_t product = layout.tp * layout.cp, at = 0;
        while (at < count && list[at] != product) {
            at++;
        }
        if (at == count && count < max) {
            list[count++] = product;
        }
    }
    return count;
}

static int no_layout(const struct myr_fit_query *q, struct myr_arena *arena, struct myr_err *err)
{
    enum { WIDTHS = 128, NEAR = 4096 };
    uint32_t widths[WIDTHS], count = list_widths(q, arena, widths, WIDTHS);
    struct fit_space space = {.query = q};
    int rc = myr_err_set(err, MYR_EINFEASIBLE,
                         "no layout of %s uses exactly %u GPUs with a batch of %u sequences",
                         q->it.model->name, q->gpus, q->batch);
    /* Whole scale-up domains, if there are that many: nobody has 996 of 1,000 GPUs. */
    uint32_t domain = q->it.device->domain_gpus, step = q->gpus > domain ? domain : 1;
    uint32_t gpus = q->gpus % step == 0 ? q->gpus : q->gpus + step - q->gpus % step;
    uint32_t batch = q->batch;
    for (uint32_t i = 0; i < NEAR && gpus > step; i++) {
        gpus -= step;
        if (divides(&space, widths, count, gpus, q->batch)) {
            break;
        }
    }
    for (uint32_t i = 0; i < NEAR; i++) {
        batch++;
        if (divides(&space, widths, count, q->gpus, batch)) {
            break;
        }
    }
    bool gpus_work = gpus > 0 && divides(&space, widths, count, gpus, q->batch);
    bool batch_works = divides(&space, widths, count, q->gpus, batch);
    if (gpus_work && batch_works) {
        myr_err_hint(err, "%u GPUs, or a batch of %u, would work", gpus, batch);
    } else if (gpus_work || batch_works) {
        myr_err_hint(err, gpus_work ? "%u GPUs would work" : "a batch of %u would work",
                     gpus_work ? gpus : batch);
    } else {
        myr_err_hint(err, "tp must divide the %u heads, and tp x pp x cp x dp must be the GPUs",
                     q->it.model->head_count);
    }
    return rc;
}

/* One of the axes that the user may fix: how it is called, and where a layout has it. */
struct axis {
    const char *name;
    size_t wanted, chosen; /* offsets in a query, in a layout */
};

static const struct axis axes[] = {
#define AXIS(text, query_member, layout_member)             \
    {                                                       \
        text, offsetof(struct myr_fit_query, query_member), \
            offsetof(struct myr_layout, layout_member)      \
    }
    AXIS("tp", tp, tp),
    AXIS("pp", pp, pp),
    AXIS("cp", cp, cp),
    AXIS("ep", ep, ep),
    AXIS("dp", dp, dp),
    AXIS("vp", vp, vp),
    AXIS("mbs", micro_batch, micro_batch),
#undef AXIS
};

/* No single axis is in the way: does anything work when all are left open? */
static bool hint_all(const struct myr_fit_query *query, struct myr_arena *arena,
                     struct myr_fit_answer *answer, struct myr_err *err)
{
    struct myr_fit_query open = *query;
    bool fixed = query->zero >= 0 || query->recompute >= 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        uint32_t *field = (uint32_t *)((char *)&open + axes[i].wanted);
        fixed = fixed || *field != 0;
        *field = 0;
    }
    open.zero = -1;
    open.recompute = -1;
    open.top = 1;
    open.exhaustive = false;
    if (!fixed) {
        return false;
    }
    fit_search_quietly(&open, arena, answer);
    if (answer->top_count == 0) {
        return false;
    }
    const struct myr_layout *l = &answer->top[0].layout;
    myr_err_hint(err, "with open axes tp %u, pp %u, cp %u, ep %u, ZeRO-%u, recompute %s works",
                 l->tp, l->pp, l->cp, l->ep, l->zero, myr_recompute_name(l->recompute));
    return true;
}

/* Which of the fixed axes is in the way: the first that, left open, lets something work. */
static bool hint_axis(const struct myr_fit_query *query, struct myr_arena *arena,
                      struct myr_err *err)
{
    struct myr_fit_answer *answer = MYR_ARENA_NEW(arena, struct myr_fit_answer, 1);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        struct myr_fit_query open = *query;
        uint32_t *field = (uint32_t *)((char *)&open + axes[i].wanted);
        if (*field == 0) {
            continue;
        }
        *field = 0;
        open.top = 1;
        open.exhaustive = false;
        fit_search_quietly(&open, arena, answer);
        if (answer->top_count > 0) {
            const char *found = (const char *)&answer->top[0].layout + axes[i].chosen;
            uint32_t value;
            memcpy(&value, found, sizeof(value));
            myr_err_hint(err, "--%s %u would work", axes[i].name, value);
            return true;
        }
    }
    return hint_all(query, arena, answer, err);
}

/* Axes that the user fixed, checked by themselves: the rule's own words are the best ones. */
static int check_fixed(const struct myr_fit_query *q, struct myr_err *err)
{
    struct myr_layout layout = myr_layout_default();
    layout.tp = q->tp ? q->tp : 1;
    layout.cp = q->cp ? q->cp : 1;
    layout.pp = q->pp ? q->pp : 1;
    layout.vp = q->vp ? q->vp : 1;
    layout.ep = q->ep ? q->ep : 1;
    layout.micro_batch = q->micro_batch ? q->micro_batch : 1;
    layout.seq_tokens = q->seq_tokens;
    layout.sequence_parallel = layout.tp > 1;
    layout.dp = q->dp ? q->dp : layout.ep * layout.tp;
    layout.schedule = layout.vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
    layout.global_batch = layout.dp * layout.micro_batch * layout.pp;
    uint64_t ranks = (uint64_t)layout.tp * layout.cp * layout.pp;
    int rc = myr_layout_check(&layout, q->it.model, 0, err);
    if (rc == MYR_OK && q->gpus % ranks != 0) {
        rc = myr_err_set(err, MYR_EINFEASIBLE, "tp %u x cp %u x pp %u does not divide %u GPUs",
                         layout.tp, layout.cp, layout.pp, q->gpus);
        uint64_t less = q->gpus / ranks * ranks;
        myr_err_hint(err, "%llu GPUs would work", (unsigned long long)(less ? less : ranks));
    }
    return rc;
}

/* The layout that comes nearest to fitting: plain cuts, everything recomputed and sharded. */
static void find_nearest(const struct myr_fit_query *query, struct myr_arena *arena,
                         struct myr_fit_answer *answer)
{
    struct fit_space space;
    struct myr_layout layout;
    bool started = false;
    fit_space_init(&space, arena, query, query->precision);
    while (fit_width_next(&space, &layout, &started)) {
        layout.zero = query->zero >= 0 ? (uint32_t)query->zero : 3;
        layout.recompute =
            query->recompute >= 0 ? (enum myr_recompute)query->recompute : MYR_RECOMPUTE_FULL;
        layout.micro_batch = query->micro_batch ? query->micro_batch : 1;
        for (uint32_t i = 0; i < space.depth_count; i++) {
            const struct fit_depth *depth = &space.depths[i];
            const struct fit_shape *shape = &space.shapes[depth->first_shape];
            struct myr_fit_memory memory;
            layout.pp = shape->pp;
            layout.vp = shape->vp;
            layout.schedule = shape->vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
            layout.dp = query->gpus / (layout.tp * layout.cp * layout.pp);
            if (!fit_allowed(query->dp, layout.dp) ||
                myr_layout_broken(&layout, query->it.model, query->gpus) != MYR_LAYOUT_OK) {
                continue;
            }
            myr_fit_memory_of(&query->it, &layout, &memory);
            if (!answer->has_nearest || memory.total_bytes < answer->nearest_bytes) {
                answer->has_nearest = true;
                answer->nearest = layout;
                answer->nearest_bytes = memory.total_bytes;
            }
        }
    }
}

int fit_refuse(const struct myr_fit_query *query, struct myr_arena *arena,
               struct myr_fit_answer *answer, struct myr_err *err)
{
    struct myr_fit_memory memory;
    if (answer->evaluated == 0) {
        if (check_fixed(query, err) == MYR_OK) {
            (void)no_layout(query, arena, err);
        }
        (void)hint_axis(query, arena, err);
        return MYR_EINFEASIBLE;
    }
    find_nearest(query, arena, answer);
    if (!answer->has_nearest) {
        return no_layout(query, arena, err);
    }
    const struct myr_layout *l = &answer->nearest;
    myr_fit_memory_of(&query->it, l, &memory);
    double over = memory.total_bytes - memory.limit_bytes;
    int rc = myr_err_set(
        err, MYR_EINFEASIBLE,
        "%s does not fit on %u x %s: the nearest layout (tp %u, pp %u, cp %u, dp %u, ep %u, "
        "ZeRO-%u, micro-batch %u, recompute %s) needs %.1f GiB a GPU, %.1f more than there are; "
        "most of it is %s",
        query->it.model->name, query->gpus, query->it.device->name, l->tp, l->pp, l->cp, l->dp,
        l->ep, l->zero, l->micro_batch, myr_recompute_name(l->recompute), memory.total_bytes / GIB,
        over / GIB, myr_fit_memory_term(&memory));
    if (hint_axis(query, arena, err)) {
        return rc;
    }
    double state = (double)(memory.state.weight_bytes + memory.state.gradient_bytes +
                            memory.state.optimiser_bytes);
    double room = memory.limit_bytes - (memory.total_bytes - state);
    if (room > 0 && query->gpus <= MYR_LAYOUT_GPUS_MAX / 64) {
        uint64_t gpus = query->gpus;
        while ((double)gpus < query->gpus * state / room) {
            gpus *= 2;
        }
        myr_err_hint(err, "about %llu GPUs, or a device with more memory, would hold it",
                     (unsigned long long)gpus);
    } else {
        myr_err_hint(err, "a device with %.0f GiB, or a shorter sequence, would hold it",
                     memory.total_bytes / GIB + 1);
    }
    return rc;
}
