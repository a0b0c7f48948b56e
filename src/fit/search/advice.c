/*
 * advice: what lies around the best layout. Every value is tried by a search of its own: an axis is
 * forced, all others stay free, so a number here is never a guess.
 */
#include "myriad/fit/advice.h"

#include <stdio.h>

#include "search/space.h"

/* One forced value; the answer is too large for a stack that others need too. */
static void try_choice(const struct myr_fit_query *forced, const char *axis,
                       struct myr_arena *arena, struct myr_fit_choices *ret)
{
    MYR_ASSERT(ret->count < MYR_FIT_CHOICES_MAX); /* two of each size, and three lists of words */
    struct myr_fit_query query = *forced;
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    struct myr_fit_choice *choice = &ret->items[ret->count++];
    query.top = 1;
    choice->axis = axis;
    choice->foreign = false;
    fit_search_quietly(&query, arena, answer); /* nobody reads why it failed */
    choice->found = answer->top_count > 0;
    choice->legal = answer->evaluated > 0;
    choice->best = answer->top[0];
    /* No layout has it at all: that is no choice, and takes no row. */
    if (!choice->legal) {
        ret->count--;
    }
}

/* 'field' lies in 'base' and is open again afterwards. */
static void try_number(const struct myr_fit_query *base, uint32_t *field, uint32_t value,
                       const char *axis, struct myr_arena *arena, struct myr_fit_choices *ret)
{
    uint32_t at = ret->count;
    *field = value;
    try_choice(base, axis, arena, ret);
    if (ret->count > at) {
        snprintf(ret->items[at].value, sizeof(ret->items[at].value), "%u", value);
    }
    *field = 0;
}

/* Half and double; between them, where they are legal, the next smaller and larger. */
static void try_sizes(const struct myr_fit_query *query, const struct myr_layout *best,
                      struct myr_arena *arena, struct myr_fit_choices *ret)
{
    struct myr_fit_query q = *query;
    const struct {
        const char *axis;
        uint32_t *field;
        uint32_t value;
    } rows[] = {
        {"tp", &q.tp, best->tp},
        {"cp", &q.cp, best->cp},
        {"pp", &q.pp, best->pp},
        {"vp", &q.vp, best->vp},
        {"mbs", &q.micro_batch, best->micro_batch},
        {"ep", &q.ep, best->ep},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        bool experts = query->it.model->moe.expert_count > 0;
        if (*rows[i].field != 0 || (rows[i].field == &q.ep && !experts)) {
            continue; /* fixed by the user, or meaningless */
        }
        if (rows[i].value % 2 == 0) {
            try_number(&q, rows[i].field, rows[i].value / 2, rows[i].axis, arena, ret);
        }
        try_number(&q, rows[i].field, rows[i].value * 2, rows[i].axis, arena, ret);
    }
}

/* ZeRO stages, ways to recompute and schedules other than the best one's, where they are open. */
static void try_words(const struct myr_fit_query *query, const struct myr_layout *best,
                      struct myr_arena *arena, struct myr_fit_choices *ret)
{
    struct myr_fit_query q = *query;
    for (int zero = 0; zero <= 3 && query->zero < 0; zero++) {
        uint32_t at = ret->count;
        q.zero = zero;
        if (zero != (int)best->zero) {
            try_choice(&q, "zero", arena, ret);
        }
        if (ret->count > at) {
            snprintf(ret->items[at].value, sizeof(ret->items[at].value), "%d", zero);
        }
    }
    q = *query;
    for (int mode = 0; mode <= MYR_RECOMPUTE_FULL && query->recompute < 0; mode++) {
        uint32_t at = ret->count;
        /* Some layers recomputed is not what the word "full" says: that is tried too. */
        bool same = mode == (int)best->recompute && best->recompute_layers == 0;
        q.recompute = mode;
        if (!same && (mode != MYR_RECOMPUTE_SELECTIVE || !best->flash_attention)) {
            try_choice(&q, "recompute", arena, ret);
        }
        if (ret->count > at) {
            snprintf(ret->items[at].value, sizeof(ret->items[at].value), "%s",
                     myr_recompute_name((enum myr_recompute)mode));
        }
    }
    q = *query;
    for (int s = 0; s <= MYR_SCHEDULE_DUALPIPE && query->schedule < 0; s++) {
        uint32_t at = ret->count;
        q.schedule = s;
        if (s != (int)best->schedule) {
            try_choice(&q, "schedule", arena, ret);
        }
        if (ret->count > at) {
            /* The release does not run it: worth knowing, not worth choosing. */
            ret->items[at].foreign = !(query->it.stack->schedules >> s & 1);
            snprintf(ret->items[at].value, sizeof(ret->items[at].value), "%s",
                     myr_schedule_name((enum myr_schedule)s));
        }
    }
}

/* The best step with one axis forced to another value, all else free. */
void myr_fit_choices(const struct myr_fit_query *query, const struct myr_layout *best,
                     struct myr_arena *arena, struct myr_fit_choices *ret)
{
    struct myr_fit_query q = *query;
    ret->count = 0;
    /* The precision is not an axis here: neighbours are compared in the best one's. */
    q.any_precision = false;
    q.precision = best->precision;
    q.exhaustive = false;
    try_sizes(&q, best, arena, ret);
    try_words(&q, best, arena, ret);
}

const char *myr_fit_knob_name(enum myr_fit_knob knob)
{
    static const char *const names[] = {
#define FIT_KNOB_NAME(name, text) text,
        MYR_FIT_KNOBS(FIT_KNOB_NAME)
#undef FIT_KNOB_NAME
    };
    return names[knob];
}

/*
 * The same layout on a machine that is better or worse in one figure; the layout is not searched
 * again.
 */
double myr_fit_turned_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                        enum myr_fit_knob knob, double factor)
{
    /* Copies of what is turned: the case stays as it is, and so does the layout. */
    struct myr_fit_case turned = *it;
    struct myr_device device = *it->device;
    struct myr_fit_cost cost;
    /* Latencies are constants, all else is the device's. */
    double constants[MYR_FIT_CONSTANTS_MAX];
    memcpy(constants, it->constants, FIT_CONSTANT_COUNT * sizeof(*constants));
    turned.device = &device;
    turned.constants = constants;
    switch (knob) {
    case MYR_FIT_KNOB_PEAK:
        device.bf16_flops *= factor;
        device.fp8_flops *= factor;
        device.fp4_flops *= factor;
        break;
    case MYR_FIT_KNOB_MEMORY:
        device.memory_bytes_per_s *= factor;
        break;
    case MYR_FIT_KNOB_SCALE_UP:
        device.domain_bytes_per_s *= factor;
        break;
    case MYR_FIT_KNOB_NIC:
        turned.nic_gbps = (it->nic_gbps > 0 ? it->nic_gbps : device.nic_gbps) * factor;
        break;
    case MYR_FIT_KNOB_LATENCY:
        constants[FIT_NVLINK_LATENCY] *= factor;
        constants[FIT_NIC_LATENCY] *= factor;
        break;
    case MYR_FIT_KNOB_COUNT:
        break;
    }
    myr_fit_cost_of(&turned, layout, &cost);
    return cost.step_s;
}

/* Layouts that would be faster than 'step_s' and do not fit; how many there are, at most 'max'. */
uint32_t myr_fit_refused(const struct myr_fit_query *query, struct myr_arena *arena, double step_s,
                         struct myr_fit_refusal *ret, uint32_t max)
{
    struct myr_device boundless = *query->it.device;
    struct myr_fit_query q = *query;
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    uint32_t count = 0;
    MYR_ASSERT(max <= MYR_FIT_TOP_MAX);
    /*
     * The same search where memory is no limit; what then comes before the best is what memory
     * refused.
     */
    boundless.memory_bytes = 1e18;
    q.it.device = &boundless;
    q.top = max;
    q.exhaustive = false;
    if (max > 0) {
        fit_search_quietly(&q, arena, answer);
    }
    if (answer->top_count == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < answer->top_count && answer->top[i].step_s < step_s; i++) {
        myr_fit_memory_of(&query->it, &answer->top[i].layout, &ret[count].memory);
        if (!ret[count].memory.fits) {
            ret[count++].found = answer->top[i];
        }
    }
    return count;
}
