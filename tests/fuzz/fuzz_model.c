/*
 * Model and layout files: any bytes give something that can be computed with, or one clear line.
 * The text is read as YAML (JSON is nearly a part of it) and taken for a model, for a config.json
 * and for a layout.
 */
#include "fuzz.h"
#include "myriad/work.h"

static const char file[] = "fuzz.yaml";

static void use_layout(const struct myr_layout *layout, const struct myr_model *model)
{
    if (myr_layout_broken(layout, model, 0) != MYR_LAYOUT_OK) {
        struct myr_err err;
        int rc = myr_layout_check(layout, model, 0, &err);
        fuzz_check_error(&err, rc, "layout rule '");
        return;
    }
    uint32_t rank = (uint32_t)(myr_layout_gpus(layout) - 1);
    struct myr_coords coords = myr_layout_coords(layout, rank);
    MYR_ASSERT(myr_layout_rank(layout, &coords) == rank);
    struct myr_comm_list list;
    myr_comm_of(layout, model, layout->pp - 1, &list);
    struct myr_state state = myr_state_of(layout, model, 0);
    fuzz_note("%llu %llu", (unsigned long long)state.total_bytes,
              (unsigned long long)state.weight_bytes);
    MYR_ASSERT(state.total_bytes >= state.weight_bytes);
}

static void use_model(const struct myr_model *model)
{
    struct myr_params params = myr_model_params(model);
    fuzz_note("%llu %llu", (unsigned long long)params.total, (unsigned long long)params.active);
    MYR_ASSERT(params.total > 0 && params.total <= MYR_MODEL_PARAMS_MAX);
    MYR_ASSERT(params.active <= params.total);
    struct myr_flops flops = myr_model_flops(model, model->seq_tokens);
    fuzz_note("%.9g", (double)flops.forward);
    MYR_ASSERT(flops.forward > 0);
    struct myr_layout layout = myr_layout_default();
    use_layout(&layout, model);
    layout.tp = layout.pp = layout.dp = 2;
    layout.sequence_parallel = true;
    layout.global_batch = 8;
    layout.zero = 3;
    use_layout(&layout, model);
}

/* Divides by little more than powers of two, and has experts. */
static const struct myr_model plain_model = {
    .layer_count = 64,
    .hidden = 512,
    .head_count = 64,
    .kv_head_count = 8,
    .head_dim = 8,
    .causal = true,
    .ffn_hidden = 2048,
    .moe = {.expert_count = 64, .experts_per_token = 2, .expert_hidden = 256, .interval = 2},
    .vocab = 1000,
    .seq_tokens = 4096,
    .norms_per_layer = 2,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    myr_arena_init(&arena);
    const struct myr_doc *root = NULL;
    struct myr_err err;
    struct myr_str text = {(const char *)data, size};
    if (myr_doc_read_yaml(&arena, file, text, &root, &err) == MYR_OK) {
        struct myr_model model;
        struct myr_layout layout;
        int rc = myr_model_parse(&arena, root, &model, &err);
        if (rc < 0) {
            fuzz_check_error(&err, rc, file);
        } else {
            use_model(&model);
        }
        rc = myr_layout_parse(root, 1024, &layout, &err);
        if (rc < 0) {
            fuzz_check_error(&err, rc, file);
        } else {
            use_layout(&layout, &plain_model);
        }
    }
    myr_arena_done(&arena);
    return 0;
}
