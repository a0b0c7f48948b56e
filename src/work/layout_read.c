/*
 * layout_read: the layout block, from a map to a struct and back. One table of keys serves both
 * ways, so what is written is what is read.
 */
#include "keys.h"
#include "myriad/work/layout.h"

/* The rows of docs/work.md, "The layout block". */
#define NUMBER(key, member, min, max)                             \
    {                                                             \
        key, offsetof(struct myr_layout, member), min, max, false \
    }

/* Numbers whose least value is 1 have 0 for "not given"; zero is the only one that starts at 0. */
static const struct key_number numbers[] = {
    NUMBER("tp", tp, 1, MYR_LAYOUT_GPUS_MAX),
    NUMBER("cp", cp, 1, MYR_LAYOUT_GPUS_MAX),
    NUMBER("dp", dp, 1, MYR_LAYOUT_GPUS_MAX),
    NUMBER("pp", pp, 1, MYR_LAYOUT_GPUS_MAX),
    NUMBER("vp", vp, 1, MYR_LAYOUT_VP_MAX),
    NUMBER("ep", ep, 1, MYR_LAYOUT_GPUS_MAX),
    NUMBER("etp", etp, 1, MYR_LAYOUT_GPUS_MAX),
    NUMBER("zero", zero, 0, 3),
    NUMBER("shard", shard, 1, MYR_LAYOUT_GPUS_MAX),
    NUMBER("micro_batch", micro_batch, 1, MYR_LAYOUT_BATCH_MAX),
    NUMBER("global_batch", global_batch, 1, MYR_LAYOUT_BATCH_MAX),
    NUMBER("gradient_bytes", gradient_bytes, 2, 4),
    NUMBER("sequence", seq_tokens, 1, MYR_MODEL_SEQ_MAX),
    NUMBER("first_layers", first_layers, 1, MYR_MODEL_LAYERS_MAX),
    NUMBER("last_layers", last_layers, 1, MYR_MODEL_LAYERS_MAX),
    NUMBER("recompute_layers", recompute_layers, 1, MYR_MODEL_LAYERS_MAX),
    NUMBER("offload_layers", offload_layers, 1, MYR_MODEL_LAYERS_MAX),
};

/* The first two are written always: their defaults depend on other keys, or are true. */
static const struct key_flag flags[] = {
    {"sequence_parallel", offsetof(struct myr_layout, sequence_parallel)},
    {"flash_attention", offsetof(struct myr_layout, flash_attention)},
    {"fused_loss", offsetof(struct myr_layout, fused_loss)},
    {"low_kept", offsetof(struct myr_layout, low_kept)},
    {"output_counts", offsetof(struct myr_layout, output_counts)},
};

#define FLAGS_ALWAYS 2 /* those that are written where they are false too */

static const char *const others[] = {"recompute", "schedule", "precision",      "kernels",
                                     "weights",   "order",    "recompute_parts"};
/* In the order of their enums: a word's place is its value. */
static const char *const recompute_names[] = {"none", "selective", "full"};
static const char *const schedule_names[] = {"1f1b", "interleaved", "zero-bubble", "dualpipe"};
static const char *const precision_names[] = {"bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32"};
static const char *const kernels_names[] = {"fused", "eager", "compiled"};
static const char *const weights_names[] = {"master", "bf16", "fp32", "cast"};

/*
 * 'others' are the keys whose values are words; read_choices(), read_order() and read_parts() read
 * them.
 */
static const struct key_table table = {
    "layout",
    numbers,
    MYR_ARRAY_COUNT(numbers),
    flags,
    MYR_ARRAY_COUNT(flags),
    others,
    MYR_ARRAY_COUNT(others),
};

/* A key that is absent leaves '*ret' as it is: the default. */
static int read_choice(const struct myr_doc *map, const char *key, const char *const *names,
                       size_t count, uint32_t *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    return node ? myr_doc_choice(node, key, names, count, ret, err) : MYR_OK;
}

/* After the numbers: the default schedule depends on vp. */
static int read_choices(const struct myr_doc *map, struct myr_layout *layout, struct myr_err *err)
{
    uint32_t recompute = layout->recompute;
    /* Chunks are what the interleaved schedule has and others have not, so vp alone asks for it. */
    uint32_t schedule = layout->vp > 1 ? MYR_SCHEDULE_INTERLEAVED : layout->schedule;
    uint32_t precision = layout->precision, kernels = layout->kernels, weights = layout->weights;
    MYR_TRY(read_choice(map, "recompute", recompute_names, MYR_ARRAY_COUNT(recompute_names),
                        &recompute, err));
    MYR_TRY(read_choice(map, "schedule", schedule_names, MYR_ARRAY_COUNT(schedule_names), &schedule,
                        err));
    MYR_TRY(read_choice(map, "precision", precision_names, MYR_ARRAY_COUNT(precision_names),
                        &precision, err));
    MYR_TRY(
        read_choice(map, "kernels", kernels_names, MYR_ARRAY_COUNT(kernels_names), &kernels, err));
    MYR_TRY(
        read_choice(map, "weights", weights_names, MYR_ARRAY_COUNT(weights_names), &weights, err));
    layout->recompute = (enum myr_recompute)recompute;
    layout->schedule = (enum myr_schedule)schedule;
    layout->precision = (enum myr_precision)precision;
    layout->kernels = (enum myr_operators)kernels;
    layout->weights = (enum myr_weights)weights;
    return MYR_OK;
}

/* One of the five axes an order is made of, from the two letters at 'text'. */
static bool order_axis(const char *text, enum myr_axis *ret)
{
    for (uint32_t axis = MYR_AXIS_TP; axis <= MYR_AXIS_EP; axis++) {
        if (memcmp(text, myr_axis_name(axis), 2) == 0) {
            *ret = (enum myr_axis)axis;
            return true;
        }
    }
    return false;
}

/* "tp-cp-ep-dp-pp", or without ep, which then stands before dp. */
static int read_order(const struct myr_doc *map, struct myr_layout *layout, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, "order");
    struct myr_str text;
    int rc = node ? myr_doc_text(node, "order", &text, err) : MYR_OK;
    if (!node || rc != MYR_OK) {
        return rc;
    }
    enum myr_axis axes[MYR_LAYOUT_ORDER_COUNT];
    unsigned seen = 0;
    size_t count = 0;
    /*
     * Two letters and a dash for each axis, no dash at the end: the length tells whether ep is
     * named.
     */
    bool has_ep = text.len == 3 * MYR_LAYOUT_ORDER_COUNT - 1;
    bool ok = has_ep || text.len == 3 * (MYR_LAYOUT_ORDER_COUNT - 1) - 1;
    for (size_t at = 0; ok && at < text.len; at += 3) {
        enum myr_axis axis;
        ok = order_axis(text.data + at, &axis) && !(seen >> axis & 1) &&
             (at + 2 == text.len || text.data[at + 2] == '-');
        if (ok && axis == MYR_AXIS_DP && !has_ep) {
            axes[count++] = MYR_AXIS_EP;
            seen |= 1U << MYR_AXIS_EP;
        }
        if (ok) {
            axes[count++] = axis;
            seen |= 1U << axis;
        }
    }
    if (!ok || count != MYR_LAYOUT_ORDER_COUNT) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'order' must name tp, cp, ep, dp and pp once each, fastest first, "
                             "such as tp-cp-ep-dp-pp");
    }
    memcpy(layout->order, axes, sizeof(axes));
    return MYR_OK;
}

/* "mla_up_proj;mlp", as recipes write it. */
static int read_parts(const struct myr_doc *map, struct myr_layout *layout, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, "recompute_parts");
    struct myr_str text = {"", 0};
    MYR_TRY(node ? myr_doc_text(node, "recompute_parts", &text, err) : MYR_OK);
    while (text.len > 0) {
        size_t len = 0;
        while (len < text.len && text.data[len] != ';') {
            len++;
        }
        struct myr_str word = {text.data, len};
        uint32_t part = 0;
        while (part < MYR_AGAIN_COUNT &&
               !myr_str_eq(word, myr_str_from(myr_again_name((enum myr_again)part)))) {
            part++;
        }
        if (part == MYR_AGAIN_COUNT) {
            return myr_doc_error(err, node, MYR_EINVAL,
                                 "'recompute_parts' takes core_attn, mlp, moe_act, mla_up_proj, "
                                 "layernorm and act, with ';' between them");
        }
        /* A part twice is the part; a ';' at the end is allowed. */
        layout->recompute_parts |= 1U << part;
        len += len < text.len;
        text = (struct myr_str){text.data + len, text.len - len};
    }
    return MYR_OK;
}

/* What the keys that are not there follow from. */
static int fill(const struct myr_doc *map, uint64_t gpus, struct myr_layout *layout,
                struct myr_err *err)
{
    /*
     * Three sizes of up to 2^24 do not fit 64 bits; beyond the most GPUs the last factor changes
     * nothing.
     */
    uint64_t model_ranks = (uint64_t)layout->tp * layout->cp;
    if (model_ranks <= MYR_LAYOUT_GPUS_MAX) {
        model_ranks *= layout->pp;
    }
    if (gpus != 0 && !myr_doc_get(map, "dp")) {
        if (gpus > MYR_LAYOUT_GPUS_MAX || gpus % model_ranks != 0) {
            return myr_doc_error(err, map, MYR_EINVAL,
                                 "tp %u x cp %u x pp %u does not divide %llu GPUs", layout->tp,
                                 layout->cp, layout->pp, (unsigned long long)gpus);
        }
        layout->dp = (uint32_t)(gpus / model_ranks);
    }
    /* Where a tensor group cuts matrices, what lies between them is cut too: it saves memory. */
    if (!myr_doc_get(map, "sequence_parallel")) {
        layout->sequence_parallel = layout->tp > 1;
    }
    if (!myr_doc_get(map, "global_batch")) {
        uint64_t batch = (uint64_t)layout->micro_batch * layout->dp;
        if (batch > MYR_LAYOUT_BATCH_MAX) {
            return myr_doc_error(err, map, MYR_ERANGE,
                                 "micro_batch %u x dp %u is more than %u sequences",
                                 layout->micro_batch, layout->dp, MYR_LAYOUT_BATCH_MAX);
        }
        layout->global_batch = (uint32_t)batch;
    }
    return MYR_OK;
}

/* 'gpus' 0: any number; then dp is 1 unless given. Rules are not checked here. */
int myr_layout_parse(const struct myr_doc *map, uint64_t gpus, struct myr_layout *ret,
                     struct myr_err *err)
{
    /* On a copy: a block with a mistake leaves '*ret' as it was. */
    struct myr_layout layout = myr_layout_default();
    MYR_TRY(myr_work_read_map(map, &table, &layout, err));
    MYR_TRY(read_choices(map, &layout, err));
    MYR_TRY(read_order(map, &layout, err));
    MYR_TRY(read_parts(map, &layout, err));
    MYR_TRY(fill(map, gpus, &layout, err));
    *ret = layout;
    return MYR_OK;
}

/* Names as files have them, so that messages and files speak alike. */
const char *myr_recompute_name(enum myr_recompute recompute)
{
    MYR_ASSERT((size_t)recompute < MYR_ARRAY_COUNT(recompute_names));
    return recompute_names[recompute];
}

const char *myr_schedule_name(enum myr_schedule schedule)
{
    MYR_ASSERT((size_t)schedule < MYR_ARRAY_COUNT(schedule_names));
    return schedule_names[schedule];
}

const char *myr_precision_name(enum myr_precision precision)
{
    MYR_ASSERT((size_t)precision < MYR_ARRAY_COUNT(precision_names));
    return precision_names[precision];
}

const char *myr_again_name(enum myr_again part)
{
    static const char *const names[] = {
#define AGAIN_NAME(name, text) text,
        MYR_AGAIN_PARTS(AGAIN_NAME)
#undef AGAIN_NAME
    };
    MYR_ASSERT((size_t)part < MYR_ARRAY_COUNT(names));
    return names[part];
}

const char *myr_operators_name(enum myr_operators kernels)
{
    MYR_ASSERT((size_t)kernels < MYR_ARRAY_COUNT(kernels_names));
    return kernels_names[kernels];
}

const char *myr_weights_name(enum myr_weights weights)
{
    MYR_ASSERT((size_t)weights < MYR_ARRAY_COUNT(weights_names));
    return weights_names[weights];
}

/* A block that myr_layout_parse() reads to the same layout. */
void myr_layout_write(struct myr_buf *buf, const struct myr_layout *layout)
{
    myr_buf_put_lit(buf, "layout:\n");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(numbers); i++) {
        uint32_t value = *(const uint32_t *)((const char *)layout + numbers[i].offset);
        if (value >= numbers[i].min) { /* 0 stands for "not given" */
            myr_buf_printf(buf, "  %s: %u\n", numbers[i].key, value);
        }
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(flags); i++) {
        bool value = *(const bool *)((const char *)layout + flags[i].offset);
        if (value || i < FLAGS_ALWAYS) {
            myr_buf_printf(buf, "  %s: %s\n", flags[i].key, value ? "true" : "false");
        }
    }
    myr_buf_printf(buf, "  recompute: %s\n", myr_recompute_name(layout->recompute));
    myr_buf_printf(buf, "  schedule: %s\n", myr_schedule_name(layout->schedule));
    myr_buf_printf(buf, "  precision: %s\n", myr_precision_name(layout->precision));
    /* Parts with ';' between them, as read_parts() takes them; the key only where there is one. */
    for (uint32_t i = 0, some = 0; i < MYR_AGAIN_COUNT; i++) {
        if (layout->recompute_parts >> i & 1) {
            myr_buf_printf(buf, "%s%s",
                           some++ ? ";" : "  recompute_parts: ", myr_again_name((enum myr_again)i));
        }
    }
    if (layout->recompute_parts) {
        myr_buf_putc(buf, '\n');
    }
    /* What is as usual is left out: a file says what is special of its layout. */
    if (layout->kernels != MYR_KERNELS_FUSED) {
        myr_buf_printf(buf, "  kernels: %s\n", myr_operators_name(layout->kernels));
    }
    if (layout->weights != MYR_WEIGHTS_MASTER) {
        myr_buf_printf(buf, "  weights: %s\n", myr_weights_name(layout->weights));
    }
    myr_buf_put_lit(buf, "  order: ");
    for (size_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        myr_buf_printf(buf, "%s%s", i ? "-" : "", myr_axis_name(layout->order[i]));
    }
    myr_buf_putc(buf, '\n');
}
