/*
 * runs: a table of measured runs, row by row: the model, device and release that ran, the layout as
 * far as the table tells it, and how long a step took. What is left open resolve.c decides.
 */
#include "myriad/fit/runs.h"

#include "measure/row.h"
#include "measure/run_recipe.h"

/*
 * Tables write 0 for what they do not say of experts; a number of layers with experts is spread
 * evenly, or put behind dense ones where it is more than half.
 */
static void override_experts(const struct fit_row *r, struct myr_model *model)
{
    struct myr_moe *moe = &model->moe;
    uint32_t layers = model->layer_count, had = myr_model_moe_layers(model, 0, layers);
    uint32_t with = fit_field_size(r, COLUMN_moe_layers, had);
    uint32_t shared = fit_field_count(r, COLUMN_shared_experts, moe->shared_count);
    moe->expert_count = fit_field_size(r, COLUMN_experts, moe->expert_count);
    moe->experts_per_token = fit_field_size(r, COLUMN_topk, moe->experts_per_token);
    moe->expert_hidden = fit_field_size(r, COLUMN_moe_ffn, moe->expert_hidden);
    if (shared != moe->shared_count) {
        moe->shared_count = shared;
        moe->shared_hidden = shared ? moe->expert_hidden : 0;
    }
    if (with != had && with <= layers) {
        moe->interval = layers >= 2 * with ? layers / with : 1;
        moe->first_dense = moe->interval == 1 ? layers - with : 0;
    }
    if (with < layers && model->ffn_hidden > 0) {
        model->ffn_hidden = fit_field_size(r, COLUMN_ffn, model->ffn_hidden);
    }
}

/* Where a row says otherwise than the catalogue, the row ran; tables round vocabularies up. */
static void override_model(const struct fit_row *r, struct myr_model *model)
{
    uint32_t vocab = fit_field_count(r, COLUMN_vocab, model->vocab);
    /* Within a thirty-second it is the same vocabulary, rounded up for the tensor groups. */
    bool padded = vocab >= model->vocab && vocab - model->vocab < model->vocab / 32;
    model->vocab = padded || vocab == 0 ? model->vocab : vocab;
    model->layer_count = fit_field_count(r, COLUMN_layers, model->layer_count);
    /* Latent heads are no heads of the columns. */
    if (!myr_model_is_mla(model)) {
        model->head_count = fit_field_count(r, COLUMN_heads, model->head_count);
        model->kv_head_count = fit_field_count(r, COLUMN_kv_heads, model->kv_head_count);
        model->head_dim = fit_field_count(r, COLUMN_head_dim, model->head_dim);
    }
    if (model->moe.expert_count == 0) {
        model->ffn_hidden = fit_field_count(r, COLUMN_ffn, model->ffn_hidden);
    } else {
        override_experts(r, model);
    }
}

/* The columns do not hold latent ranks, windows or prediction modules: a known shape does. */
static bool known_model(const struct fit_row *r, struct myr_model *ret)
{
    /* Names of published tables that the catalogue has otherwise. */
    static const char *const aliases[][2] = {{"llama3.1-405b", "llama3-405b"},
                                             {"grok1-314b", "grok-1"}};
    struct myr_str name = fit_field(r, COLUMN_model);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(aliases); i++) {
        name = fit_word_is(name, aliases[i][0]) ? myr_str_from(aliases[i][1]) : name;
    }
    for (uint32_t i = 0; i < myr_model_builtin_count(); i++) {
        struct myr_str builtin = myr_model_builtin_name(i);
        if (!myr_str_eq_nocase(builtin, name)) {
            continue;
        }
        const char *text = myr_arena_strndup(r->arena, builtin.data, builtin.len);
        /* Another width under a known name is another model: the columns tell it then. */
        if (myr_model_find(r->arena, text, ret, NULL) < 0 ||
            ret->hidden != fit_field_count(r, COLUMN_hidden, ret->hidden)) {
            return false;
        }
        override_model(r, ret);
        return true;
    }
    return false;
}

/* The shape as the columns tell it. */
static void shape_of(const struct fit_row *r, struct myr_model *ret)
{
    struct myr_str name = fit_field(r, COLUMN_model);
    uint32_t layers = fit_field_count(r, COLUMN_layers, 0),
             hidden = fit_field_count(r, COLUMN_hidden, 0);
    uint32_t experts = fit_field_count(r, COLUMN_experts, 0);
    uint32_t moe = fit_field_count(r, COLUMN_moe_layers, experts > 1 ? layers : 0);
    uint32_t width = fit_field_count(r, COLUMN_head_dim, 0);
    uint32_t heads = fit_field_count(r, COLUMN_heads, hidden / (width ? width : 128));
    /*
     * What the table lacks is as in GPT, and a gated FFN has two thirds of its width in three
     * matrices.
     */
    bool gated = fit_word_yes(fit_field(r, COLUMN_gated));
    *ret = (struct myr_model){
        .name = myr_arena_strndup(r->arena, name.data, name.len),
        .layer_count = layers,
        .hidden = hidden,
        .head_count = heads,
        .kv_head_count = fit_field_count(r, COLUMN_kv_heads, heads),
        .head_dim = width   ? width
                    : heads ? hidden / heads
                            : 0,
        .causal = true,
        .ffn_hidden = fit_field_count(r, COLUMN_ffn, gated ? hidden / 3 * 8 : 4 * hidden),
        .gated = gated,
        .vocab = fit_field_count(r, COLUMN_vocab, 51200),
        .seq_tokens = fit_field_count(r, COLUMN_seq, 2048),
        .norms_per_layer = 2,
    };
    ret->moe.interval = 1;
    if (experts > 1 && moe > 0 && moe <= layers) {
        ret->moe.expert_count = experts;
        ret->moe.experts_per_token = fit_field_count(r, COLUMN_topk, 1);
        ret->moe.expert_hidden = fit_field_count(r, COLUMN_moe_ffn, ret->ffn_hidden);
        ret->moe.shared_count = fit_field_count(r, COLUMN_shared_experts, 0);
        ret->moe.shared_hidden = ret->moe.shared_count ? ret->moe.expert_hidden : 0;
        ret->moe.interval = layers >= 2 * moe ? layers / moe : 1;
        ret->moe.first_dense = ret->moe.interval == 1 ? layers - moe : 0;
        ret->ffn_hidden = moe == layers ? 0 : ret->ffn_hidden;
    }
}

/* A model of the catalogue, or the shape that the columns describe. */
static int read_model(const struct fit_row *r, struct myr_model *ret, struct myr_err *err)
{
    if (known_model(r, ret)) {
        ret->mtp_count = fit_word_has(fit_field(r, COLUMN_note), "w/o mtp") ? 0 : ret->mtp_count;
    } else if (fit_field_count(r, COLUMN_layers, 0) == 0 ||
               fit_field_count(r, COLUMN_hidden, 0) == 0) {
        char excerpt[MYR_EXCERPT_MAX];
        return myr_err_set(
            err, MYR_EINVAL,
            "model '%s' is not in the catalogue, and layers and hidden are not given",
            myr_text_excerpt(fit_field(r, COLUMN_model), excerpt));
    } else {
        shape_of(r, ret);
    }
    (void)myr_model_stretch(ret, fit_field_count(r, COLUMN_seq, 0));
    int rc = myr_model_check(ret, err);
    return rc < 0 ? myr_err_wrap(err, "%s:%u", r->csv.file, r->csv.line) : rc;
}

/* Whether experts are cut as well is in few tables: open where both ways are legal. */
static void choose_etp(struct myr_run *run)
{
    struct myr_layout *layout = &run->layout;
    /* Cut as the rest where that divides, whole otherwise. */
    uint64_t grid = (uint64_t)layout->tp * layout->cp * layout->dp;
    layout->etp = run->etp;
    if (run->etp || run->model.moe.expert_count == 0 || layout->tp < 2 || layout->ep == 0) {
        return; /* a size of 0 is refused when all are read */
    }
    bool cut = grid % ((uint64_t)layout->ep * layout->tp) == 0;
    layout->etp = cut ? 0 : 1;
    run->open |= cut && grid % layout->ep == 0 ? MYR_RUN_OPEN_ETP : 0;
}

/* The row's own words, then the rules for what they leave open; in words why not, or NULL. */
static const char *read_recipe(const struct fit_row *r, struct myr_run *run)
{
    static const enum fit_column columns[] = {
        [MYR_CAPABILITY_DISPATCHER] = COLUMN_dispatcher,
        [MYR_CAPABILITY_GRAPHS] = COLUMN_cuda_graphs,
        [MYR_CAPABILITY_GROUPED] = COLUMN_grouped_gemm,
        [MYR_CAPABILITY_TENSOR_OVERLAP] = COLUMN_tp_overlap,
        [MYR_CAPABILITY_EXPERT_OVERLAP] = COLUMN_moe_a2a_overlap,
        [MYR_CAPABILITY_TOKEN_DROP] = COLUMN_token_drop,
        [MYR_CAPABILITY_SCALES] = COLUMN_fp8_recipe,
        [MYR_CAPABILITY_COMPILE] = COLUMN_compile,
        [MYR_CAPABILITY_PARTS] = COLUMN_recompute_modules,
    };
    struct fit_recipe_fields fields = {.note = fit_field(r, COLUMN_note),
                                       .offload = fit_field(r, COLUMN_cpu_offload)};
    for (uint32_t i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        fields.of[i] = fit_field(r, columns[i]);
    }
    const char *refused = fit_run_recipe(r->arena, &fields, run);
    if (refused) {
        return refused;
    }
    run->it.open = myr_profiles_recipes(r->profiles, run->it.stack, run->it.device, &run->model,
                                        &run->stated, run->recipes);
    run->it.recipes = run->recipes;
    return NULL;
}

/* What the recipe decides of the layout. */
static void recipe_layout(const struct fit_row *r, struct myr_run *run)
{
    struct myr_layout *layout = &run->layout;
    struct myr_str modules = fit_field(r, COLUMN_recompute_modules);
    const struct myr_recipe *recipe = &run->recipes[layout->precision];
    myr_fit_habits(&run->it, layout);
    /* "amp_bf16": autocast keeps fp32 weights. */
    if (run->it.stack->era == MYR_ERA_TORCH &&
        fit_word_has(fit_field(r, COLUMN_precision), "amp")) {
        layout->weights = MYR_WEIGHTS_FP32;
    }
    /* A list of modules says more than the word for recomputation: it takes its place. */
    if (!fit_word_open(modules)) {
        bool full = fit_word_has(modules, "full");
        run->open &= ~(uint32_t)MYR_RUN_OPEN_RECOMPUTE;
        layout->recompute = full ? MYR_RECOMPUTE_FULL : MYR_RECOMPUTE_NONE;
        layout->recompute_layers = fit_word_behind(modules, "full:");
        if (recipe->of[MYR_CAPABILITY_PARTS] & MYR_AGAIN(CORE_ATTENTION) &&
            !layout->flash_attention) {
            layout->recompute = MYR_RECOMPUTE_SELECTIVE;
        }
    }
    layout->offload_layers = run->offload_layers;
}

/* DualPipe is HAI-LLM's. */
static void stack_habits(struct myr_run *run)
{
    struct myr_layout *layout = &run->layout;
    const struct myr_stack *stack = run->it.stack;
    bool chunks = layout->vp > 1; /* stated: DualPipe has none */
    if (strcmp(stack->line, "HAI-LLM") == 0 && !chunks && layout->pp > 1 && layout->pp % 2 == 0) {
        layout->schedule = MYR_SCHEDULE_DUALPIPE;
        run->open &= ~(uint32_t)MYR_RUN_OPEN_VP;
    }
}

/* How state is sharded, what is made again, and in which numbers products are. */
static void read_words(const struct fit_row *r, struct myr_run *run)
{
    struct myr_layout *layout = &run->layout;
    uint32_t node = run->it.domain_gpus ? run->it.domain_gpus : run->it.device->domain_gpus;
    uint64_t replicas = (uint64_t)layout->dp * layout->cp;
    bool hybrid;
    if (!fit_word_zero(fit_field(r, COLUMN_sharding), &layout->zero, &hybrid)) {
        run->open |= MYR_RUN_OPEN_ZERO;
    }
    /* What runs with a pipeline call stage 2 adds gradients up whole and scatters them once. */
    layout->zero = layout->zero == 2 && layout->pp > 1 ? 1 : layout->zero;
    /* HSDP cuts inside a server and copies between them. */
    layout->shard = hybrid && replicas > node && replicas % node == 0 ? node : 0;
    if (!fit_word_recompute(fit_field(r, COLUMN_recompute), &layout->recompute)) {
        run->open |= MYR_RUN_OPEN_RECOMPUTE;
    }
    /* Policies of a trainer's own are told in words, if at all. */
    if (run->open & MYR_RUN_OPEN_RECOMPUTE &&
        fit_word_has(fit_field(r, COLUMN_note), "everything recomputed")) {
        run->open &= ~(uint32_t)MYR_RUN_OPEN_RECOMPUTE;
        layout->recompute = MYR_RECOMPUTE_FULL;
    }
    run->guessed |= fit_word_precision(fit_field(r, COLUMN_precision), &layout->precision)
                        ? 0
                        : MYR_RUN_GUESSED_PRECISION;
}

/* Sizes that are open stand as 1 until they are resolved; 'open' has a bit for each. */
static void read_layout(const struct fit_row *r, struct myr_run *run)
{
    static const struct {
        enum fit_column column;
        uint32_t open;
    } axes[] = {{COLUMN_tp, MYR_RUN_OPEN_TP},
                {COLUMN_pp, MYR_RUN_OPEN_PP},
                {COLUMN_cp, MYR_RUN_OPEN_CP},
                {COLUMN_ep, MYR_RUN_OPEN_EP}};
    struct myr_layout *layout = &run->layout;
    *layout = myr_layout_default();
    layout->tp = fit_field_count(r, COLUMN_tp, 1);
    layout->pp = fit_field_count(r, COLUMN_pp, 1);
    layout->cp = fit_field_count(r, COLUMN_cp, 1);
    layout->ep = fit_field_count(r, COLUMN_ep, 1);
    /* Replicas are what is left of the GPUs. */
    uint64_t replica = (uint64_t)layout->tp * layout->pp * layout->cp;
    uint32_t gpus = fit_field_count(r, COLUMN_gpus, 1);
    uint32_t left = replica && gpus >= replica ? (uint32_t)(gpus / replica) : 1;
    layout->dp = fit_field_count(r, COLUMN_dp, left);
    layout->vp = fit_field_count(r, COLUMN_vp, 1);
    layout->micro_batch = fit_field_count(r, COLUMN_mbs, 1);
    layout->global_batch = fit_field_count(r, COLUMN_gbs, 1);
    layout->seq_tokens = fit_field_count(r, COLUMN_seq, 0);
    struct myr_str cut = fit_field(r, COLUMN_seq_par);
    /* Every stack with tensor parallelism cuts the sequence too, once it can. */
    bool usual = fit_word_open(cut) && run->it.stack->era != MYR_ERA_EAGER;
    layout->sequence_parallel = (fit_word_yes(cut) || usual) && layout->tp > 1;
    layout->flash_attention = run->it.stack->flash;
    /* Without a pipeline there are no chunks to choose. */
    bool deep = layout->pp > 1 || fit_field_none(fit_field(r, COLUMN_pp));
    run->open = (fit_field_none(fit_field(r, COLUMN_vp)) && deep ? MYR_RUN_OPEN_VP : 0) |
                (fit_field_none(fit_field(r, COLUMN_mbs)) ? MYR_RUN_OPEN_MICRO_BATCH : 0);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        bool free = axes[i].column != COLUMN_ep || run->model.moe.expert_count > 0;
        run->open |= free && fit_field_none(fit_field(r, axes[i].column)) ? axes[i].open : 0;
    }
    run->gpus = gpus;
    run->dp = fit_field_count(r, COLUMN_dp, 0);
    read_words(r, run);
    layout->schedule = layout->vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
    run->etp = run->model.moe.expert_count ? fit_field_count(r, COLUMN_etp, 0) : 0;
    choose_etp(run);
    stack_habits(run);
    recipe_layout(r, run);
}

/*
 * A name that holds a device's: "NVIDIA H100 80GB HBM3", "A100-SXM4-80GB". The longest counts; of
 * those that differ in memory alone the later one in the list, which has more.
 */
static int find_device(const struct fit_row *r, struct myr_run *run, struct myr_err *err)
{
    struct myr_str name = fit_field(r, COLUMN_hw);
    size_t best = 0;
    int rc = myr_profiles_device(r->profiles, name, &run->it.device, err);
    for (uint32_t i = 0; rc < 0 && i < r->profiles->device_count; i++) {
        const struct myr_device *device = &r->profiles->devices[i];
        /* "a100-80": the stem, and what tells it from its likes. */
        const char *dash = strchr(device->name, '-');
        char stem[32] = "";
        size_t len = dash ? (size_t)(dash - device->name) : strlen(device->name);
        memcpy(stem, device->name, len < sizeof(stem) ? len : sizeof(stem) - 1);
        bool size = !dash || fit_word_has(name, dash + 1); /* a100-40 and a100-80 */
        /* "tpu" alone is a family; "h100" is a device. */
        bool device_like = strpbrk(stem, "0123456789") != NULL || size;
        if (device_like && fit_word_has(name, stem) && len + size >= best) {
            best = len + size;
            run->it.device = device;
            run->guessed |= MYR_RUN_GUESSED_DEVICE;
        }
    }
    return best > 0 ? MYR_OK : rc;
}

/*
 * A trainer that nobody measured is taken for the usual one of its time: the year that the row
 * names, or else its device's.
 */
static int find_stack(const struct fit_row *r, struct myr_run *run, struct myr_err *err)
{
    static const char *const usual[] = {"Megatron-LM 2023", "NeMo 25.02", "Megatron-Bridge 25.11"};
    struct myr_str software = fit_field(r, COLUMN_software);
    struct myr_err unknown = {};
    int rc = myr_profiles_stack(r->profiles, software, &run->it.stack, &run->stack_exact, &unknown);
    if (rc < 0) {
        uint32_t year = fit_word_year(software);
        const char *name = usual[run->it.device->generation];
        year = year ? year : fit_word_year(fit_field(r, COLUMN_source));
        if (fit_word_has(software, "fsdp")) {
            name = "llm-foundry FSDP";
        } else if (year > 0 && year < 2025) { /* the lines after that are ordered by release */
            name = myr_arena_printf(r->arena, "Megatron-LM %u", year);
        }
        rc = myr_profiles_stack(r->profiles, myr_str_from(name), &run->it.stack, &run->stack_exact,
                                err);
        run->stack_exact = false;
    }
    /* A line whose tables name no release is told apart by the month of the table. */
    uint32_t month = fit_word_month(fit_field(r, COLUMN_recipe_source));
    if (rc == MYR_OK && month > 0) {
        run->it.stack = fit_stack_then(r->profiles, run->it.stack, month);
    }
    return rc;
}

/* What a row cannot do without, whichever way its layout is given. */
static int read_subject(struct fit_row *r, struct myr_run *run, struct myr_err *why)
{
    struct myr_str task = fit_field(r, COLUMN_task), arch = fit_field(r, COLUMN_arch);
    if (fit_word_has(task, "lora")) {
        return myr_err_set(why, MYR_EINVAL, "task 'lora': adapters are not priced");
    }
    if (fit_word_has(arch, "hybrid")) {
        return myr_err_set(why, MYR_EINVAL,
                           "arch '%.*s': no column describes layers that are not attention",
                           (int)arch.len, arch.data);
    }
    MYR_TRY(read_model(r, &run->model, why));
    MYR_TRY(find_device(r, run, why));
    MYR_TRY(find_stack(r, run, why));
    if (fit_field_none(fit_field(r, COLUMN_gpus)) || fit_field_none(fit_field(r, COLUMN_gbs))) {
        return myr_err_set(why, MYR_EINVAL, "neither gpus nor gbs can be left open");
    }
    return MYR_OK;
}

/* A row that cannot be read is no error: it is listed as refused, and the others are compared. */
static void read_run(struct fit_row *r, struct myr_run *run)
{
    struct myr_str id = fit_field(r, COLUMN_id), source = fit_field(r, COLUMN_source);
    struct myr_str software = fit_field(r, COLUMN_software);
    struct myr_err why = {};
    run->id = id.len ? myr_arena_strndup(r->arena, id.data, id.len)
                     : myr_arena_printf(r->arena, "line-%u", r->csv.line);
    run->source = myr_arena_strndup(r->arena, source.data, source.len);
    run->software = myr_arena_strndup(r->arena, software.data, software.len);
    /* A time comes first, then tokens a second, then the model's FLOPs. */
    run->measured_s = fit_field_number(r, COLUMN_iter_s);
    run->it.constants = r->profiles->constants;
    run->refused = fit_row_odd(r);
    if (run->refused) {
        return;
    }
    if (read_subject(r, run, &why) < 0) {
        run->refused = myr_arena_printf(r->arena, "%s", why.message);
        return;
    }
    /* A tray of a rack-wide domain is a node, and no domain: GB200 has 4 in a tray and 72. */
    uint32_t node = fit_field_count(r, COLUMN_gpus_per_node, 0),
             domain = run->it.device->domain_gpus;
    run->it.domain_gpus = domain > 8 && node <= 8 ? domain : node;
    run->it.nic_gbps = fit_field_number(r, COLUMN_nic_gbps_per_gpu);
    run->refused = read_recipe(r, run);
    if (run->refused) {
        return;
    }
    read_layout(r, run);
    run->peak_bytes = fit_field_number(r, COLUMN_peak_mem_gib) * 1073741824;
    double rate = fit_field_number(r, COLUMN_tokens_per_s_per_gpu);
    if (run->measured_s <= 0 && rate > 0) {
        run->measured_s = (double)run->layout.global_batch *
                          myr_layout_seq(&run->layout, &run->model) / (rate * run->gpus);
    }
    /* Only FLOPs of the model tell a time: those of the hardware count what was made again. */
    double useful = fit_field_number(r, COLUMN_tflops_per_gpu) * 1e12 * run->gpus;
    if (run->measured_s <= 0 && useful > 0 &&
        fit_word_has(fit_field(r, COLUMN_flops_kind), "model")) {
        run->measured_s =
            3 *
            (double)myr_model_flops(&run->model, myr_layout_seq(&run->layout, &run->model))
                .forward *
            run->layout.global_batch / useful;
    }
    if (fit_run_check_sizes(run, &why) < 0) {
        run->refused = myr_arena_printf(r->arena, "%s", why.message);
    }
}

/* No value of the open axes is legal: the rule that the closed ones break, with its numbers. */
static void explain(const struct fit_row *r, struct myr_run *run)
{
    struct myr_err why = {};
    bool told = myr_layout_check(&run->layout, &run->model, 0, &why) < 0;
    run->refused = myr_arena_printf(r->arena, "no value of the open axes is possible%s%s",
                                    told ? "; with 1 for each: " : "", told ? why.message : "");
}

/* All rows, refused ones too, so that answers list every line of the table. */
int myr_runs_parse(struct myr_runs *runs, struct myr_arena *arena,
                   const struct myr_profiles *profiles, const char *file, struct myr_str text,
                   struct myr_err *err)
{
    struct fit_row *r = MYR_ARENA_ONE(arena, struct fit_row);
    uint32_t capacity = 64;
    *runs = (struct myr_runs){};
    r->arena = arena;
    r->profiles = profiles;
    myr_csv_init(&r->csv, arena, file, text);
    MYR_TRY(fit_row_header(r, err));
    runs->has_times = r->at[COLUMN_iter_s] >= 0 || r->at[COLUMN_tokens_per_s_per_gpu] >= 0;
    runs->items = MYR_ARENA_NEW(arena, struct myr_run, capacity);
    /* Rows move while the table grows, so pointers into them are set at the end. */
    int rc;
    while ((rc = myr_csv_next(&r->csv, err)) > 0) {
        if (runs->count == capacity) {
            struct myr_run *grown = MYR_ARENA_NEW(arena, struct myr_run, 2 * capacity);
            memcpy(grown, runs->items, capacity * sizeof(*grown));
            runs->items = grown;
            capacity *= 2;
        }
        MYR_ASSERT(runs->count < capacity);
        read_run(r, &runs->items[runs->count++]);
    }
    if (rc == 0 && runs->count == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s:1:1: no rows below the header, one is expected",
                           file);
    }
    for (uint32_t i = 0; rc >= 0 && i < runs->count; i++) {
        runs->items[i].it.model = &runs->items[i].model; /* the rows no longer move */
        runs->items[i].it.recipes = runs->items[i].recipes;
        bool expressible = runs->items[i].refused == NULL;
        myr_run_resolve(&runs->items[i]);
        if (expressible && runs->items[i].refused) {
            explain(r, &runs->items[i]);
        }
    }
    return rc;
}
