/* best: the best layouts so far, one of each grid. */
#include "search/space.h"

/*
 * Of each grid only the best is kept: else the list would be ten times the same layout with another
 * micro-batch, and whoever reads it learns nothing of the choices that matter.
 */
static bool same_grid(const struct myr_layout *a, const struct myr_layout *b)
{
    return a->tp == b->tp && a->cp == b->cp && a->pp == b->pp && a->ep == b->ep &&
           a->precision == b->precision;
}

/* A total order of layouts, so that equal times have one winner: plainer ones come first. */
static bool before(const struct myr_layout *a, const struct myr_layout *b)
{
    /*
     * The values in the order in which they decide; what stands for "all" comes last of its kind.
     */
    enum { KEYS = 17 };
    const struct myr_layout *both[2] = {a, b};
    uint64_t keys[2][KEYS];
    for (int i = 0; i < 2; i++) {
        const struct myr_layout *l = both[i];
        /* The five axes as one number. */
        uint64_t order = 0;
        for (int j = 0; j < MYR_LAYOUT_ORDER_COUNT; j++) {
            order = order * 8 + (uint64_t)l->order[j];
        }
        bool some = l->recompute == MYR_RECOMPUTE_FULL && l->recompute_layers > 0;
        const uint64_t values[KEYS] = {
            l->precision,
            l->tp,
            l->cp,
            l->pp,
            l->ep,
            myr_layout_etp(l),
            l->vp,
            l->schedule,
            l->first_layers,
            l->last_layers,
            l->output_counts,
            !l->sequence_parallel,
            l->micro_batch,
            l->recompute,
            some ? l->recompute_layers : UINT32_MAX,
            l->zero,
            ((uint64_t)(l->shard ? l->shard : UINT32_MAX) << 24) + order,
        };
        memcpy(keys[i], values, sizeof(values));
    }
    for (int j = 0; j < KEYS; j++) {
        if (keys[0][j] != keys[1][j]) {
            return keys[0][j] < keys[1][j];
        }
    }
    return false;
}

/* The place of the grid in the list; behind the end where it has none. */
static uint32_t find(const struct myr_fit_answer *answer, const struct myr_layout *layout)
{
    uint32_t at = 0;
    while (at < answer->top_count && !same_grid(&answer->top[at].layout, layout)) {
        at++;
    }
    return at;
}

/* The one that has to go when this layout is kept, or NULL while there is room. */
static const struct myr_fit_found *rival(const struct myr_fit_answer *answer, uint32_t top,
                                         const struct myr_layout *layout)
{
    uint32_t at = find(answer, layout);
    if (at < answer->top_count) {
        return &answer->top[at];
    }
    return answer->top_count < top ? NULL : &answer->top[top - 1];
}

double fit_best_limit(const struct myr_fit_answer *answer, uint32_t top,
                      const struct myr_layout *layout)
{
    const struct myr_fit_found *worst = rival(answer, top, layout);
    return worst ? worst->step_s : 1e30;
}

bool fit_best_wants(const struct myr_fit_answer *answer, uint32_t top,
                    const struct myr_layout *layout, double step_s)
{
    const struct myr_fit_found *worst = rival(answer, top, layout);
    return !worst || step_s < worst->step_s ||
           (step_s <= worst->step_s && before(layout, &worst->layout));
}

/* Asked before with fit_best_wants(). The list stays in order, one of each grid. */
void fit_best_add(struct myr_fit_answer *answer, uint32_t top, const struct myr_layout *layout,
                  double step_s)
{
    uint32_t at = find(answer, layout);
    /* A new grid takes a free place or that of the worst. */
    if (at == answer->top_count) {
        at = answer->top_count < top ? answer->top_count++ : answer->top_count - 1;
    }
    MYR_ASSERT(top >= 1 && at < answer->top_count && answer->top_count <= top);
    while (at > 0 &&
           (answer->top[at - 1].step_s > step_s || (answer->top[at - 1].step_s >= step_s &&
                                                    before(layout, &answer->top[at - 1].layout)))) {
        answer->top[at] = answer->top[at - 1];
        at--;
    }
    answer->top[at] = (struct myr_fit_found){*layout, step_s};
    MYR_ASSERT(at == 0 || answer->top[at - 1].step_s <= step_s);
    MYR_ASSERT(at + 1 >= answer->top_count || step_s <= answer->top[at + 1].step_s);
}
