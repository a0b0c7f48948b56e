/* layout_file: a layout as a file of its own, and the same layout with fewer replicas. */
#include "myriad/fit/case.h"

void myr_layout_file_write(const struct myr_layout *layout, const char *title, struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "# A parallel layout, for --layout of fit, goodput and sched place.\n");
    if (title) {
        /* A comment is one line, whatever a model's name holds. */
        myr_buf_put_lit(buf, "# ");
        for (const char *c = title; *c; c++) {
            myr_buf_putc(buf, (unsigned char)*c < ' ' ? ' ' : *c);
        }
        myr_buf_putc(buf, '\n');
    }
    myr_buf_put_lit(buf, "#\n"
                         "#   tp, cp, pp, dp  tensor, context, pipeline, data parallel: GPUs are "
                         "their product\n"
                         "#   vp              chunks of layers on each stage\n"
                         "#   ep, etp         experts: how they are spread, and cut\n"
                         "#   zero, shard     ZeRO stage, and the ranks it cuts state over\n"
                         "#   order           axes from the fastest to the slowest in rank\n"
                         "# What is not given here follows from the rest (docs/work.md).\n");
    myr_buf_printf(buf, "schema: %s\nversion: %d\n", MYR_LAYOUT_SCHEMA, MYR_LAYOUT_VERSION);
    myr_layout_write(buf, layout);
}

/* The rules that need no model. */
static bool is_whole(const struct myr_layout *l)
{
    uint64_t ranks = (uint64_t)l->tp * l->cp * l->dp, experts = (uint64_t)myr_layout_etp(l) * l->ep;
    uint64_t unit = (uint64_t)l->micro_batch * l->dp;
    return ranks % experts == 0 && l->global_batch % unit == 0 &&
           (l->shard == 0 || (uint64_t)l->dp * l->cp % l->shard == 0);
}

/* Nodes that the smaller layout needs, whole ones; 0: none is legal. The batch stays as it is. */
uint32_t myr_layout_shrink(const struct myr_layout *layout, const struct myr_model *model,
                           uint32_t gpus_per_node, uint32_t nodes_most, struct myr_layout *ret)
{
    uint64_t replica = (uint64_t)layout->tp * layout->cp * layout->pp;
    /*
     * From the most replicas that the nodes hold downwards: the first that is legal is the largest.
     */
    uint64_t most = (uint64_t)nodes_most * gpus_per_node / replica;
    MYR_ASSERT(gpus_per_node > 0 && replica > 0);
    for (uint64_t dp = most < layout->dp ? most : layout->dp; dp > 0; dp--) {
        struct myr_layout fewer = *layout;
        fewer.dp = (uint32_t)dp;
        if (dp * replica % gpus_per_node != 0 || !is_whole(&fewer) ||
            (model && myr_layout_broken(&fewer, model, 0) != MYR_LAYOUT_OK)) {
            continue;
        }
        *ret = fewer;
        return (uint32_t)(dp * replica / gpus_per_node);
    }
    return 0;
}
