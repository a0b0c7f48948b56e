/* refuse: why no layout works, and the nearest thing that would. */
#include <stdio.h>

#include "myriad/text/amount.h"
#include "search/space.h"

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

/* A question asked again with one thing changed: an advice that was not tried is a guess. */
static bool works(const struct myr_fit_query *query, struct myr_arena *arena,
                  struct myr_fit_answer *answer)
{
    struct myr_fit_query quick = *query;
    quick.top = 1;
    quick.exhaustive = false;
    fit_search_quietly(&quick, arena, answer);
    return answer->top_count > 0;
}

#define TRIES 8 /* searches for one advice: each takes some milliseconds */

/* What advice about GPUs and batches looks for numbers with. */
struct near {
    const uint32_t *widths; /* products tp x cp that the model allows */
    uint32_t count;
    struct fit_space space;
};

/* Fewer GPUs: whole scale-up domains, if there are that many: nobody has 996 of 1,000 GPUs. */
static uint32_t fewer_gpus(const struct myr_fit_query *q, const struct near *near,
                           struct myr_arena *arena, struct myr_fit_answer *answer)
{
    enum { NEAR = 4096 };
    /* Below one domain every number is looked at. */
    uint32_t domain = q->it.device->domain_gpus, step = q->gpus > domain ? domain : 1;
    MYR_ASSERT(step > 0); /* every device has a domain, be it of itself alone */
    uint32_t gpus = q->gpus % step == 0 ? q->gpus : q->gpus + step - q->gpus % step;
    struct myr_fit_query other = *q;
    uint32_t tries = 0;
    for (uint32_t i = 0; i < NEAR && gpus > step && tries < TRIES; i++) {
        gpus -= step;
        if (divides(&near->space, near->widths, near->count, gpus, q->batch)) {
            other.gpus = gpus;
            tries++;
            if (works(&other, arena, answer)) {
                return gpus;
            }
        }
    }
    return 0;
}

/* The batch next to the one asked for, on either side. */
static uint32_t other_batch(const struct myr_fit_query *q, const struct near *near,
                            struct myr_arena *arena, struct myr_fit_answer *answer)
{
    enum { NEAR = 16384 };
    struct myr_fit_query other = *q;
    uint32_t tries = 0;
    /* Even: so much less; odd: as much more. */
    for (uint32_t i = 2; i < 2 * NEAR && tries < TRIES; i++) {
        uint32_t away = i / 2;
        if (i % 2 == 0 && away >= q->batch) {
            continue;
        }
        other.batch = i % 2 == 0 ? q->batch - away : q->batch + away;
        if (divides(&near->space, near->widths, near->count, q->gpus, other.batch)) {
            tries++;
            if (works(&other, arena, answer)) {
                return other.batch;
            }
        }
    }
    return 0;
}

/* Sizes do not divide: the nearest numbers that do, tried before they are named. */
static int no_layout(const struct myr_fit_query *q, struct myr_arena *arena, struct myr_err *err)
{
    enum { WIDTHS = 128 };
    uint32_t widths[WIDTHS];
    struct near near = {.widths = widths, .space = {.query = q}};
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    int rc = myr_err_set(
        err, MYR_EINVAL, "no layout of %s uses exactly %u GPU%s with a batch of %u sequence%s",
        q->it.model->name, q->gpus, q->gpus == 1 ? "" : "s", q->batch, q->batch == 1 ? "" : "s");
    /* Nobody reads advice: the searches for it are saved. */
    if (!err) {
        return rc;
    }
    near.count = list_widths(q, arena, widths, WIDTHS);
    uint32_t gpus = fewer_gpus(q, &near, arena, answer);
    uint32_t batch = other_batch(q, &near, arena, answer);
    if (gpus && batch) {
        myr_err_hint(err, "%u GPU%s, or a batch of %u, would work", gpus, gpus == 1 ? "" : "s",
                     batch);
    } else if (gpus) {
        myr_err_hint(err, "%u GPU%s would work", gpus, gpus == 1 ? "" : "s");
    } else if (batch) {
        myr_err_hint(err, "a batch of %u would work", batch);
    }
    return rc;
}

/* One of the axes that the user may fix: how it is called, and where a layout has it. */
struct axis {
    const char *name;
    size_t wanted, chosen; /* offsets in a query, in a layout */
};

/* In the order in which they are let go. */
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

/* Lets go of every axis; false when none was held. */
static bool open_axes(struct myr_fit_query *query)
{
    bool fixed = query->zero >= 0 || query->recompute >= 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        uint32_t *field = (uint32_t *)((char *)query + axes[i].wanted);
        fixed = fixed || *field != 0;
        *field = 0;
    }
    query->zero = -1;
    query->recompute = -1;
    return fixed;
}

/* No single axis is in the way: does anything work when all are left open? */
static bool hint_all(const struct myr_fit_query *query, struct myr_arena *arena,
                     struct myr_fit_answer *answer, struct myr_err *err)
{
    struct myr_fit_query open = *query;
    if (!open_axes(&open) || !works(&open, arena, answer)) {
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
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        struct myr_fit_query open = *query;
        uint32_t *field = (uint32_t *)((char *)&open + axes[i].wanted);
        if (*field == 0) {
            continue;
        }
        *field = 0;
        if (works(&open, arena, answer)) {
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
    layout.vp = q->vp ? q->vp : 1;
    layout.pp = q->pp ? q->pp : layout.vp > 1 ? 2 : 1; /* chunks need a pipeline */
    layout.ep = q->ep ? q->ep : 1;
    layout.micro_batch = q->micro_batch ? q->micro_batch : 1;
    layout.seq_tokens = q->seq_tokens;
    layout.sequence_parallel = layout.tp > 1;
    /* What is open gets sizes that break no rule of its own, so that a broken one is the user's. */
    layout.dp = q->dp ? q->dp : layout.ep * layout.tp;
    layout.schedule = layout.vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
    layout.global_batch = layout.dp * layout.micro_batch * layout.pp;
    uint64_t ranks = (uint64_t)layout.tp * layout.cp * layout.pp;
    int rc = myr_layout_check(&layout, q->it.model, 0, err);
    if (rc == MYR_OK && layout.vp > FIT_VP_ASKED) {
        rc = myr_err_set(err, MYR_EINVAL, "vp %u: up to %u chunks a stage are priced", layout.vp,
                         FIT_VP_ASKED);
    }
    if (rc == MYR_OK && q->gpus % ranks != 0) {
        rc = myr_err_set(err, MYR_EINVAL, "tp %u x cp %u x pp %u does not divide %u GPU%s",
                         layout.tp, layout.cp, layout.pp, q->gpus, q->gpus == 1 ? "" : "s");
    }
    return rc;
}

/* The fixed axes divide another number of GPUs, if not this one. */
static bool hint_ranks(const struct myr_fit_query *query, struct myr_arena *arena,
                       struct myr_err *err)
{
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    struct myr_fit_query other = *query;
    uint64_t ranks = (uint64_t)(query->tp ? query->tp : 1) * (query->cp ? query->cp : 1) *
                     (query->pp ? query->pp : 1) * (query->dp ? query->dp : 1);
    /* The nearest multiple below, or the least there is. */
    uint64_t less = query->gpus / ranks * ranks, gpus = less ? less : ranks;
    if (gpus > MYR_LAYOUT_GPUS_MAX || query->it.topology || gpus == query->gpus) {
        return false;
    }
    other.gpus = (uint32_t)gpus;
    bool found = works(&other, arena, answer);
    if (found) {
        myr_err_hint(err, "%u GPU%s would work", other.gpus, other.gpus == 1 ? "" : "s");
    }
    return found;
}

/* A power of two from 1,024 to 8,192, no longer than asked for where that is possible. */
static uint32_t round_seq(uint32_t seq_tokens)
{
    uint32_t round = 1024;
    while (round <= seq_tokens / 2 && round < 8192) {
        round *= 2;
    }
    return round;
}

/* Several things are in the way at once: what works when all of them give way. */
static void hint_last(const struct myr_fit_query *query, struct myr_arena *arena,
                      struct myr_err *err)
{
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    struct myr_fit_query open = *query;
    uint32_t tokens = query->seq_tokens ? query->seq_tokens : query->it.model->seq_tokens;
    (void)open_axes(&open);
    open.schedule = MYR_FIT_SCHEDULE_STACK;
    /* First the sequence as it is, then a round one. */
    for (int cut = 0; cut < 2; cut++) {
        uint32_t gpus = 1;
        while (gpus <= query->gpus / 2) {
            gpus *= 2;
        }
        /* Sequences of a length that nothing divides hold up everything else. */
        open.seq_tokens = cut ? round_seq(tokens) : tokens;
        for (uint32_t tries = 0; tries < 2 * TRIES && gpus <= 1U << 20; tries++, gpus *= 2) {
            open.gpus = gpus;
            open.batch = query->batch < gpus ? gpus : query->batch / gpus * gpus;
            if (works(&open, arena, answer)) {
                /* Numbers as they are typed. */
                myr_err_hint(err,
                             "%u GPU%s with a batch of %u x %u tokens and open axes would work",
                             open.gpus, open.gpus == 1 ? "" : "s", open.batch, open.seq_tokens);
                return;
            }
            if (query->it.topology) {
                break; /* the design has no more */
            }
        }
    }
}

/* The plainest cut of a depth under one schedule, if the question allows it, is nearer or not. */
static void try_nearest(const struct fit_space *space, const struct fit_depth *depth,
                        enum myr_schedule schedule, struct myr_layout layout,
                        struct myr_fit_answer *answer)
{
    const struct myr_fit_query *query = space->query;
    bool spread = schedule == MYR_SCHEDULE_INTERLEAVED;
    uint32_t at = spread ? depth->plain_count : 0;
    struct myr_fit_memory memory;
    if (at >= depth->shape_count || !fit_schedule_allowed(query, schedule, depth->pp)) {
        return;
    }
    const struct fit_shape *shape = &space->shapes[depth->first_shape + at];
    layout.pp = shape->pp;
    layout.vp = shape->vp;
    layout.schedule = schedule;
    layout.dp = query->gpus / (layout.tp * layout.cp * layout.pp);
    if (!fit_allowed(query->dp, layout.dp) ||
        myr_layout_broken(&layout, query->it.model, query->gpus) != MYR_LAYOUT_OK) {
        return;
    }
    myr_fit_memory_of(&query->it, &layout, &memory);
    if (!answer->has_nearest || memory.total_bytes < answer->nearest_bytes) {
        answer->has_nearest = true;
        answer->nearest = layout;
        answer->nearest_bytes = memory.total_bytes;
    }
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
        /* What takes the least memory on every open axis. */
        layout.zero = query->zero >= 0 ? (uint32_t)query->zero : 3;
        layout.recompute =
            query->recompute >= 0 ? (enum myr_recompute)query->recompute : MYR_RECOMPUTE_FULL;
        layout.micro_batch = query->micro_batch ? query->micro_batch : 1;
        for (uint32_t i = 0; i < space.depth_count; i++) {
            for (int s = 0; s <= MYR_SCHEDULE_DUALPIPE; s++) {
                try_nearest(&space, &space.depths[i], (enum myr_schedule)s, layout, answer);
            }
        }
    }
}

/* A number between half of one that works and all of it: whole servers, the fewest first. */
static void fewest(struct myr_fit_query *more, uint32_t least, bool grown, uint32_t batch,
                   struct myr_arena *arena, struct myr_fit_answer *answer)
{
    uint32_t domain = more->it.device->domain_gpus, most = more->gpus;
    /* Half of it did not work: five, six and seven eighths lie between. */
    for (uint32_t part = 5; part < 8; part++) {
        uint32_t gpus = (uint32_t)((uint64_t)most * part / 8);
        struct myr_fit_query less = *more;
        less.gpus = gpus >= domain ? gpus / domain * domain : gpus;
        less.batch = grown && batch < less.gpus ? less.gpus : batch;
        if (less.gpus >= least && less.gpus > most / 2 && works(&less, arena, answer)) {
            *more = less;
            return;
        }
    }
}

/* More GPUs, from the number that the state alone asks for; the batch grows with them if it must.
 */
static bool hint_gpus(const struct myr_fit_query *query, double least_gpus, double device_gib,
                      struct myr_arena *arena, struct myr_err *err)
{
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    if (query->it.topology) {
        return false; /* the design has no more */
    }
    /* First with the batch as it is. */
    for (int grown = 0; grown < 2; grown++) {
        struct myr_fit_query more = *query;
        uint32_t tries = 0;
        for (uint64_t gpus = 2 * (uint64_t)query->gpus; gpus <= 1U << 20 && tries < TRIES;
             gpus *= 2) {
            if ((double)gpus < least_gpus) {
                continue;
            }
            more.gpus = (uint32_t)gpus;
            more.batch = grown && query->batch < gpus ? (uint32_t)gpus : query->batch;
            tries++;
            if (!works(&more, arena, answer)) {
                continue;
            }
            fewest(&more, query->gpus + 1, grown, query->batch, arena, answer);
            char with[48] = "";
            if (more.batch != query->batch) {
                snprintf(with, sizeof(with), " with a batch of %u", more.batch);
            }
            myr_err_hint(err, "%u GPUs%s, or a device with %.0f GiB, would hold it", more.gpus,
                         with, device_gib);
            return true;
        }
    }
    return false;
}

/* Shorter sequences: first one that divides well, then halves. */
static bool hint_sequence(const struct myr_fit_query *query, double device_gib,
                          struct myr_arena *arena, struct myr_err *err)
{
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    struct myr_fit_query less = *query;
    uint32_t seq = query->seq_tokens;
    for (uint32_t tries = 0; tries < TRIES + TRIES && seq > 1; tries++) {
        /* An odd length may be all that is in the way. */
        seq = seq % 1024 && seq > 1024 ? seq / 1024 * 1024 : seq / 2;
        less.seq_tokens = seq;
        if (works(&less, arena, answer)) {
            myr_err_hint(err, "sequences of %u tokens, or a device with %.0f GiB, would fit", seq,
                         device_gib);
            return true;
        }
    }
    return false;
}

/* Bytes of a device that would hold the layout; part of what is reserved grows with the device. */
static double larger_device(const struct myr_fit_case *it, const struct myr_layout *layout)
{
    struct myr_device device = *it->device;
    struct myr_fit_case other = *it;
    struct myr_fit_memory memory;
    other.device = &device;
    /* The reserve is a small share of the device: a few rounds settle it. */
    for (int round = 0; round < 8; round++) {
        myr_fit_memory_of(&other, layout, &memory);
        device.memory_bytes = memory.total_bytes;
    }
    return memory.total_bytes;
}

/* Nothing fits: what it takes, every word of it tried. */
static void hint_memory(const struct myr_fit_query *query, const struct myr_layout *layout,
                        const struct myr_fit_memory *memory, struct myr_arena *arena,
                        struct myr_err *err)
{
    /* Weights, gradients and the optimiser's state: what more GPUs can share out. */
    double state = (double)(memory->state.weight_bytes + memory->state.gradient_bytes +
                            memory->state.optimiser_bytes);
    double usable = memory->limit_bytes - memory->reserve_bytes;
    double device = larger_device(&query->it, layout) / GIB + 1;
    if (hint_axis(query, arena, err)) {
        return;
    }
    /* Sequences that do not fit alone are not helped by more copies of the model. */
    bool state_fits = state <= usable;
    if (state_fits && hint_sequence(query, device, arena, err)) {
        return;
    }
    if (!hint_gpus(query, query->gpus * state / (2 * usable), device, arena, err) &&
        (state_fits || !hint_sequence(query, device, arena, err))) {
        myr_err_hint(err, "a device with %.0f GiB would hold it", device);
    }
}

/* Nothing legal, or nothing that fits: two kinds of answer with their own advice. */
int fit_refuse(const struct myr_fit_query *query, struct myr_arena *arena,
               struct myr_fit_answer *answer, struct myr_err *err)
{
    struct myr_fit_memory memory;
    /* Nothing was legal: a rule says more than a count, and an axis more than either. */
    if (answer->evaluated == 0) {
        if (check_fixed(query, err) == MYR_OK) {
            (void)no_layout(query, arena, err);
        }
        if (err && !hint_axis(query, arena, err) && !err->hint[0] &&
            !hint_ranks(query, arena, err)) {
            hint_last(query, arena, err);
        }
        return MYR_EINVAL;
    }
    find_nearest(query, arena, answer);
    if (!answer->has_nearest) {
        int none = no_layout(query, arena, err);
        if (err && !err->hint[0]) {
            hint_last(query, arena, err);
        }
        return none;
    }
    const struct myr_layout *l = &answer->nearest;
    myr_fit_memory_of(&query->it, l, &memory);
    /* How far the nearest one is from fitting, and in what. */
    double over = memory.total_bytes - memory.limit_bytes;
    int rc = myr_err_set(
        err, MYR_EINFEASIBLE,
        "%s does not fit on %s x %s: the nearest layout (tp %u, pp %u, cp %u, dp %u, ep %u, "
        "ZeRO-%u, micro-batch %u, recompute %s) needs %.1f GiB a GPU, %.1f more than there are; "
        "most of it is %s",
        query->it.model->name, MYR_GROUPED(query->gpus), query->it.device->name, l->tp, l->pp,
        l->cp, l->dp, l->ep, l->zero, l->micro_batch, myr_recompute_name(l->recompute),
        memory.total_bytes / GIB, over / GIB, myr_fit_memory_term(&memory));
    if (err) {
        hint_memory(query, l, &memory, arena, err);
    }
    return rc;
}
