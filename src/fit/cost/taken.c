/*
 * taken: what a layout leaves of a recipe. One place says it for the price, the answer and the
 * launch, so that nothing is counted that the script cannot switch on.
 */
#include "cost/block.h"

/* Another micro-batch is there to hide behind, and nothing is made again meanwhile. */
static bool may_cover(const struct myr_fit_case *it, const struct myr_layout *l, uint8_t dispatcher)
{
    return l->ep > 1 && (l->pp == 1 || l->vp > 1) && l->recompute == MYR_RECOMPUTE_NONE &&
           dispatcher != MYR_DISPATCH_GATHER && l->precision != MYR_PRECISION_FP32 &&
           it->model->mtp_count <= 1;
}

/* Who compiles launches whole steps. Captured are fixed sizes: of experts where tokens drop, or
 * where a fused kernel pads its own. */
static uint8_t graphs_of(const struct myr_fit_case *it, const struct myr_layout *l,
                         const struct myr_recipe *r)
{
    uint8_t graphs = r->of[MYR_CAPABILITY_GRAPHS];
    bool experts = it->model->moe.expert_count > 0, drop = r->of[MYR_CAPABILITY_TOKEN_DROP];
    bool padded = r->of[MYR_CAPABILITY_GROUPED] == MYR_GROUPED_FUSED &&
                  r->of[MYR_CAPABILITY_DISPATCHER] == MYR_DISPATCH_HYBRIDEP;
    bool whole = graphs == MYR_GRAPHS_FULL || graphs == MYR_GRAPHS_LAYER;
    bool compiled = it->stack->recipe.of[MYR_CAPABILITY_GRAPHS] == MYR_GRAPHS_FULL;
    if (graphs == MYR_GRAPHS_FULL && (!experts || drop || padded || compiled)) {
        return graphs;
    }
    if (l->recompute == MYR_RECOMPUTE_FULL || l->offload_layers > 0) {
        return MYR_GRAPHS_NONE;
    }
    return whole && experts && !drop ? MYR_GRAPHS_PARTS : graphs;
}

/* What a layout allows of a recipe. */
static struct myr_recipe allowed(const struct myr_fit_case *it, const struct myr_layout *layout,
                                 struct myr_recipe ret)
{
    bool cut = layout->tp > 1 && (layout->sequence_parallel || it->stack->era == MYR_ERA_EAGER);
    if (ret.of[MYR_CAPABILITY_GROUPED] == MYR_GROUPED_FUSED &&
        layout->precision != MYR_PRECISION_MXFP8) {
        ret.of[MYR_CAPABILITY_GROUPED] = MYR_GROUPED_KERNEL;
    }
    ret.of[MYR_CAPABILITY_TENSOR_OVERLAP] &= cut;
    ret.of[MYR_CAPABILITY_EXPERT_OVERLAP] &=
        may_cover(it, layout, ret.of[MYR_CAPABILITY_DISPATCHER]);
    ret.of[MYR_CAPABILITY_GRAPHS] = graphs_of(it, layout, &ret);
    return ret;
}

/*
 * The recipe, and where the question leaves it open the same without covered all-to-alls, which
 * cost launches and processors, and with the plain dispatcher. Other capabilities only ever gain.
 */
uint32_t fit_recipes_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                        struct myr_recipe ret[FIT_RECIPES_MAX])
{
    struct myr_recipe full = *myr_fit_recipe(it, layout->precision);
    uint32_t cover = 1U << MYR_CAPABILITY_EXPERT_OVERLAP, send = 1U << MYR_CAPABILITY_DISPATCHER;
    uint32_t count = 0;
    for (uint32_t i = 0; i < FIT_RECIPES_MAX; i++) {
        struct myr_recipe one = full;
        bool bare = i & 1, plain = i & 2;
        if ((bare && !(it->open & cover)) || (plain && !(it->open & send))) {
            continue;
        }
        one.of[MYR_CAPABILITY_EXPERT_OVERLAP] &= !bare;
        one.of[MYR_CAPABILITY_DISPATCHER] =
            plain ? MYR_DISPATCH_ALL_TO_ALL : one.of[MYR_CAPABILITY_DISPATCHER];
        one = allowed(it, layout, one);
        bool known = false;
        for (uint32_t j = 0; j < count; j++) {
            known = known || memcmp(&ret[j], &one, sizeof(one)) == 0;
        }
        if (!known) {
            ret[count++] = one;
        }
    }
    return count;
}
