/* shards: choices that leave the arithmetic alone: order of ranks, ZeRO stage, shards. */
#include "search/visit.h"

bool fit_shard_aligned(const struct myr_layout *l, uint32_t d, bool cp_first)
{
    uint32_t shard = d * l->cp;
    /* Copies of experts are as many as copies of the rest. */
    if (l->dp % d != 0 || myr_layout_edp(l) % (l->dp / d) != 0) {
        return false;
    }
    /* Context ranks are neighbours: d times all of them is a run of ranks. */
    if (cp_first) {
        return true;
    }
    return shard <= l->dp ? l->dp % shard == 0 : shard % l->dp == 0 && l->cp % (shard / l->dp) == 0;
}

/* Divisors come in ascending order; 1 is no shard and is passed over. */
static uint64_t shard_choices(const struct fit_space *space, const struct myr_layout *l,
                              bool cp_first)
{
    uint64_t count = 1; /* all of them */
    if (!fit_shards(space)) {
        return count;
    }
    for (uint32_t i = 1; i < space->divisor_count && space->divisors[i] < l->dp; i++) {
        count += fit_shard_aligned(l, space->divisors[i], cp_first);
    }
    return count;
}

/* The rule 'expert-order' (docs/work.md) without building the grids. */
bool fit_stages_aligned(const struct myr_layout *l)
{
    /* Ranks faster than the stage, in both grids: stages agree when these do. */
    uint64_t dense = 1, expert = 1;
    if (l->pp == 1 || (l->ep == 1 && myr_layout_etp(l) == l->tp)) {
        return true;
    }
    for (int i = 0; l->order[i] != MYR_AXIS_PP; i++) {
        enum myr_axis axis = l->order[i];
        dense *= axis == MYR_AXIS_TP ? l->tp : axis == MYR_AXIS_CP ? l->cp : 1;
        dense *= axis == MYR_AXIS_DP ? l->dp : 1;
        expert *= axis == MYR_AXIS_TP ? myr_layout_etp(l) : axis == MYR_AXIS_EP ? l->ep : 1;
        expert *= axis == MYR_AXIS_DP ? myr_layout_edp(l) : 1;
    }
    return dense == expert;
}

bool fit_is_cp_first(const enum myr_axis order[MYR_LAYOUT_ORDER_COUNT])
{
    int i = 0;
    while (order[i] != MYR_AXIS_CP && order[i] != MYR_AXIS_DP) {
        i++;
    }
    return order[i] == MYR_AXIS_CP;
}

/* Legal combinations of the three, so that the search can say how many layouts it covers. */
uint64_t fit_shard_count(const struct fit_search *s, const struct myr_layout *layout)
{
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    struct myr_layout l = *layout;
    /*
     * Counted without forming them; ZeRO-0 has no shards, each of the three other stages has all.
     */
    uint64_t shards[2] = {0, 0}, shard_sum = 0, order_count = 0;
    uint32_t count = fit_orders(s->space, layout, orders);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(l.order, orders[i], sizeof(l.order));
        if (!fit_stages_aligned(&l)) {
            continue;
        }
        bool cp_first = fit_is_cp_first(l.order);
        if (shards[cp_first] == 0) {
            shards[cp_first] = shard_choices(s->space, &l, cp_first);
        }
        order_count++;
        shard_sum += shards[cp_first];
    }
    /* In the usual order stages agree, and all replicas together are a shard. */
    MYR_ASSERT(order_count >= 1 && shard_sum >= order_count);
    uint64_t updates = fit_zero_allowed(s->query, 0, layout->pp) ? order_count : 0;
    for (uint32_t zero = 1; zero <= 3; zero++) {
        updates += fit_zero_allowed(s->query, zero, layout->pp) ? shard_sum : 0;
    }
    return updates;
}
