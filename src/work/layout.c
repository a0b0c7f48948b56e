#include "myriad/work/layout.h"

/* ZeRO-1 and flash attention, as training at this scale is mostly run. */
struct myr_layout myr_layout_default(void)
{
    return (struct myr_layout){
        .tp = 1,
        .pp = 1,
        .vp = 1,
        .dp = 1,
        .cp = 1,
        .ep = 1,
        .zero = 1,
        .flash_attention = true,
        .micro_batch = 1,
        .global_batch = 1,
        .order = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_DP, MYR_AXIS_PP},
    };
}

uint64_t myr_layout_gpus(const struct myr_layout *layout)
{
    return (uint64_t)layout->tp * layout->cp * layout->dp * layout->pp;
}

/* Unless said otherwise experts are cut as all other matrices are. */
uint32_t myr_layout_etp(const struct myr_layout *layout)
{
    return layout->etp ? layout->etp : layout->tp;
}

/* Experts are spread over the ranks of a stage, so their replicas are what that leaves. */
uint32_t myr_layout_edp(const struct myr_layout *layout)
{
    MYR_ASSERT(layout->ep > 0 && myr_layout_etp(layout) > 0);
    return layout->tp * layout->cp * layout->dp / (myr_layout_etp(layout) * layout->ep);
}

uint32_t myr_layout_seq(const struct myr_layout *layout, const struct myr_model *model)
{
    return layout->seq_tokens ? layout->seq_tokens : model->seq_tokens;
}

/* Whole, for a layout that passed its check: the batch divides by replicas and micro-batch. */
uint32_t myr_layout_micro_batches(const struct myr_layout *layout)
{
    MYR_ASSERT(layout->micro_batch > 0 && layout->dp > 0);
    return layout->global_batch / (layout->micro_batch * layout->dp);
}

/* HSDP cuts over fewer ranks than hold the same weights. */
uint32_t myr_layout_shard(const struct myr_layout *layout)
{
    if (layout->zero == 0) {
        return 1;
    }
    /* ZeRO cuts over context ranks too: they hold the same weights. */
    return layout->shard ? layout->shard : layout->dp * layout->cp;
}

/* Dense and expert weights are kept in the same number of copies. */
uint32_t myr_layout_expert_shard(const struct myr_layout *layout)
{
    if (layout->zero == 0) {
        return 1;
    }
    MYR_ASSERT(myr_layout_shard(layout) <= layout->dp * layout->cp);
    uint32_t replicas = layout->dp * layout->cp / myr_layout_shard(layout);
    return myr_layout_edp(layout) / replicas;
}

const char *myr_axis_name(enum myr_axis axis)
{
    static const char *const names[] = {
#define AXIS_NAME(name, text) text,
        MYR_AXES(AXIS_NAME)
#undef AXIS_NAME
    };
    MYR_ASSERT((size_t)axis < MYR_ARRAY_COUNT(names));
    return names[axis];
}
