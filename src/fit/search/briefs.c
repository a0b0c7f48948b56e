/* briefs: what bounds read of a layer, of the embedding and of the output. */
#include "search/visit.h"

/* Sums of a block only: bounds need no terms, and thousands of groups keep these. */
static struct fit_brief brief_of(const struct fit_layer *alone, const struct fit_layer *recomputed)
{
    struct fit_brief ret = {alone->forward.total, alone->weight_s, fit_layer_s(alone),
                            fit_layer_s(recomputed), 0};
    ret.recompute_more_s = ret.recompute_s - ret.alone_s;
    return ret;
}

static void add_brief(struct fit_brief *to, const struct fit_brief *from, double times)
{
    to->forward_s += times * from->forward_s;
    to->weight_s += times * from->weight_s;
    to->alone_s += times * from->alone_s;
    to->recompute_s += times * from->recompute_s;
    to->recompute_more_s += times * from->recompute_more_s;
}

/* The last stage has the output, once more for each prediction module, and the modules' layers. */
static void note_briefs(const struct fit_search *s, const struct fit_blocks *blocks,
                        bool recomputed, struct fit_briefs *ret)
{
    const struct fit_layer *made = recomputed ? blocks->recomputed : blocks->layers;
    double modules = s->query->it.model->mtp_count;
    enum fit_kind of = blocks->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL;
    memset(ret, 0, sizeof(*ret));
    ret->least_s = 1e30;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        if (blocks->used[k]) {
            ret->layers[k] = brief_of(&blocks->layers[k], &made[k]);
            ret->least_s = fit_min(ret->least_s, ret->layers[k].alone_s);
        }
    }
    struct fit_brief output = brief_of(&blocks->output, &blocks->output);
    ret->first = brief_of(&blocks->embedding, &blocks->embedding);
    ret->output_share = output.forward_s / output.alone_s;
    add_brief(&ret->last, &output, 1 + modules);
    if (modules > 0) {
        add_brief(&ret->last, &ret->layers[of], modules);
    }
}

/* Blocks are large and thrown away: these few numbers of them are kept. */
void fit_briefs_of(const struct fit_search *s, struct myr_layout layout, enum fit_chain chain,
                   struct fit_briefs *ret)
{
    struct fit_blocks blocks;
    fit_set_chain(s, chain, &layout);
    fit_blocks_of(&s->query->it, &layout, &blocks);
    note_briefs(s, &blocks, layout.recompute_layers > 0, ret);
}
