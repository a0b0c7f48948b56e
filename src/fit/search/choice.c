/* choice: what all files of the search mean by a numbered choice, and the least of a stage. */
#include "search/visit.h"

/* A group of selective recomputation has that one choice. */
void fit_set_choice(const struct fit_visit *v, const struct fit_shape *shape, uint32_t choice,
                    struct myr_layout *layout)
{
    if (v->group->chain == FIT_CHAIN_SELECTIVE) {
        layout->recompute = MYR_RECOMPUTE_SELECTIVE;
        layout->recompute_layers = 0;
        return;
    }
    /* The last choice is all layers, which a layout says by the number 0. */
    MYR_ASSERT(choice <= shape->chunk_most);
    layout->recompute = choice ? MYR_RECOMPUTE_FULL : MYR_RECOMPUTE_NONE;
    layout->recompute_layers = choice < shape->chunk_most ? choice : 0;
}

struct myr_rank_params fit_params_least(const struct fit_visit *v, double layers, double moe)
{
    const struct myr_rank_params *dense = &v->layer[0], *expert = &v->layer[1];
    double all_dense = v->s->layers[FIT_DENSE_FULL] + v->s->layers[FIT_DENSE_WINDOW];
    double all_moe = v->s->layers[FIT_MOE_FULL] + v->s->layers[FIT_MOE_WINDOW];
    /* The smaller of both kinds, part by part; a kind that the model has not must not lower it. */
    const struct myr_rank_params *a = all_dense > 0 ? dense : expert;
    const struct myr_rank_params *b = all_moe > 0 ? expert : dense;
    uint64_t sharded = a->sharded < b->sharded ? a->sharded : b->sharded;
    uint64_t replicated = a->replicated < b->replicated ? a->replicated : b->replicated;
    return (struct myr_rank_params){(uint64_t)(layers * (double)sharded),
                                    (uint64_t)(layers * (double)replicated),
                                    (uint64_t)(moe * (double)expert->expert)};
}

bool fit_chain_open(const struct fit_search *s, enum fit_chain chain)
{
    int wanted = s->query->recompute;
    bool none = wanted < 0 || wanted == MYR_RECOMPUTE_NONE, parted = s->space->parted;
    switch (chain) {
    case FIT_CHAIN_SELECTIVE:
        return fit_recompute_allowed(s->space, MYR_RECOMPUTE_SELECTIVE, 0, 1);
    case FIT_CHAIN_KEPT:
    case FIT_CHAIN_SPREAD:
        return none && parted;
    case FIT_CHAIN_COUNTS:
    case FIT_CHAIN_COUNT:
        break;
    }
    return wanted != MYR_RECOMPUTE_SELECTIVE && !(parted && wanted == MYR_RECOMPUTE_NONE);
}

bool fit_chain_runs(enum fit_chain chain, enum myr_schedule schedule, uint32_t pp)
{
    bool spread = pp == 1 || schedule == MYR_SCHEDULE_INTERLEAVED;
    return chain == FIT_CHAIN_KEPT ? !spread : chain != FIT_CHAIN_SPREAD || spread;
}

/* Blocks of this layout answer for all choices of the chain. */
void fit_set_chain(const struct fit_search *s, enum fit_chain chain, struct myr_layout *layout)
{
    /*
     * One layer recomputed makes the blocks hold both kinds of layer; who asked for all needs one.
     */
    bool all = s->query->recompute == MYR_RECOMPUTE_FULL;
    bool kept = chain == FIT_CHAIN_KEPT || chain == FIT_CHAIN_SPREAD;
    layout->vp = chain == FIT_CHAIN_SPREAD && layout->pp > 1 ? 2 : 1;
    layout->recompute = chain == FIT_CHAIN_SELECTIVE ? MYR_RECOMPUTE_SELECTIVE : MYR_RECOMPUTE_FULL;
    layout->recompute_layers =
        chain == FIT_CHAIN_COUNTS && (!all || s->query->recompute_layers) ? 1 : 0;
    if (kept || s->query->recompute == MYR_RECOMPUTE_NONE) {
        layout->recompute = MYR_RECOMPUTE_NONE;
        layout->recompute_layers = 0;
    }
}
