#include "myriad/fit/runs.h"

#include "measure/words.h"
#include "myriad/text/csv.h"

#define FIELD_MAX 2000000U /* of any size in a row: three of them multiply within 64 bits */

/* Columns that are read; their order in the file does not matter. */
/* clang-format off: it does not come to rest on this list */
#define COLUMNS(X)          \
    X(id)                   \
    X(source)               \
    X(software)             \
    X(model)                \
    X(layers)               \
    X(hidden)               \
    X(ffn)                  \
    X(gated)                \
    X(heads)                \
    X(kv_heads)             \
    X(head_dim)             \
    X(vocab)                \
    X(seq)                  \
    X(experts)              \
    X(topk)                 \
    X(shared_experts)       \
    X(moe_ffn)              \
    X(moe_layers)           \
    X(hw)                   \
    X(gpus_per_node)        \
    X(nic_gbps_per_gpu)     \
    X(gpus)                 \
    X(tp)                   \
    X(pp)                   \
    X(cp)                   \
    X(ep)                   \
    X(dp)                   \
    X(vp)                   \
    X(mbs)                  \
    X(gbs)                  \
    X(sharding)             \
    X(recompute)            \
    X(seq_par)              \
    X(precision)            \
    X(iter_s)               \
    X(tokens_per_s_per_gpu) \
    X(tflops_per_gpu)       \
    X(flops_kind)           \
    X(compile)              \
    X(recompute_modules)    \
    X(dispatcher)           \
    X(tp_overlap)           \
    X(cuda_graphs)          \
    X(token_drop)           \
    X(cpu_offload)          \
    X(fp8_recipe)           \
    X(moe_a2a_overlap)      \
    X(grouped_gemm)         \
    X(peak_mem_gib)         \
    X(recipe_source)        \
    X(note)
/* clang-format on */

enum column {
#define COLUMN_ENUM(name) COLUMN_##name,
    COLUMNS(COLUMN_ENUM)
#undef COLUMN_ENUM
        COLUMN_COUNT
};

static const char *const column_names[] = {
#define COLUMN_NAME(name) #name,
    COLUMNS(COLUMN_NAME)
#undef COLUMN_NAME
};

struct reader {
    struct myr_arena *arena;
    const struct myr_profiles *profiles;
    struct myr_csv csv;
    int at[COLUMN_COUNT]; /* field of each column, or -1 */
};

static struct myr_str field(const struct reader *r, enum column column)
{
    int at = r->at[column];
    bool there = at >= 0 && (uint32_t)at < r->csv.count;
    return there ? fit_word_trim(r->csv.fields[at]) : (struct myr_str){"", 0};
}

/* "None" is what some tools write for a number that is missing. */
static bool no_number(struct myr_str text)
{
    return fit_word_open(text) || fit_word_is(text, "none");
}

static uint32_t count_of(const struct reader *r, enum column column, uint32_t otherwise)
{
    uint64_t value;
    struct myr_str text = field(r, column);
    if (no_number(text) || !fit_word_whole(text, &value) || value > UINT32_MAX) {
        return otherwise;
    }
    return (uint32_t)value;
}

/* A number that is none stays no secret: the row is refused, not guessed. */
static const char *odd_number(const struct reader *r)
{
    static const enum column counts[] = {COLUMN_layers,     COLUMN_hidden,
                                         COLUMN_ffn,        COLUMN_heads,
                                         COLUMN_kv_heads,   COLUMN_head_dim,
                                         COLUMN_vocab,      COLUMN_seq,
                                         COLUMN_experts,    COLUMN_topk,
                                         COLUMN_moe_ffn,    COLUMN_shared_experts,
                                         COLUMN_moe_layers, COLUMN_gpus_per_node,
                                         COLUMN_gpus,       COLUMN_tp,
                                         COLUMN_pp,         COLUMN_cp,
                                         COLUMN_ep,         COLUMN_dp,
                                         COLUMN_vp,         COLUMN_mbs,
                                         COLUMN_gbs};
    static const enum column rates[] = {COLUMN_nic_gbps_per_gpu, COLUMN_iter_s,
                                        COLUMN_tokens_per_s_per_gpu, COLUMN_tflops_per_gpu,
                                        COLUMN_peak_mem_gib};
    char excerpt[MYR_EXCERPT_MAX];
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        struct myr_str text = field(r, counts[i]);
        uint64_t value;
        if (!no_number(text) && (!fit_word_whole(text, &value) || value > FIELD_MAX)) {
            return myr_arena_printf(r->arena, "%s '%s' is no whole number up to %u",
                                    column_names[counts[i]], myr_text_excerpt(text, excerpt),
                                    FIELD_MAX);
        }
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rates); i++) {
        struct myr_str text = field(r, rates[i]);
        double value;
        if (!no_number(text) && (!myr_str_to_double(text, &value) || value < 0 || value > 1e12)) {
            return myr_arena_printf(r->arena, "%s '%s' is no number from 0 to 1e12",
                                    column_names[rates[i]], myr_text_excerpt(text, excerpt));
        }
    }
    return NULL;
}

static double number_of(const struct reader *r, enum column column)
{
    double value;
    return myr_str_to_double(field(r, column), &value) && value > 0 ? value : 0;
}

static int read_header(struct reader *r, struct myr_err *err)
{
    static const enum column needed[] = {COLUMN_software, COLUMN_hw, COLUMN_gpus, COLUMN_gbs};
    int rows = myr_csv_next(&r->csv, err);
    MYR_TRY(rows);
    if (rows == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s: no rows", r->csv.file);
    }
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        r->at[c] = -1;
        for (uint32_t i = 0; i < r->csv.count; i++) {
            if (fit_word_is(fit_word_trim(r->csv.fields[i]), column_names[c])) {
                r->at[c] = (int)i;
            }
        }
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(needed); i++) {
        if (r->at[needed[i]] < 0) {
            return myr_err_set(err, MYR_EINVAL, "%s: column '%s' is missing", r->csv.file,
                               column_names[needed[i]]);
        }
    }
    if (r->at[COLUMN_model] < 0 && r->at[COLUMN_layers] < 0) {
        return myr_err_set(err, MYR_EINVAL,
                           "%s: column 'model' (a built-in name) or 'layers' is missing",
                           r->csv.file);
    }
    return MYR_OK;
}

/* Where a row says otherwise than the catalogue, the row ran; tables round vocabularies up. */
static void override_model(const struct reader *r, struct myr_model *model)
{
    uint32_t vocab = count_of(r, COLUMN_vocab, model->vocab);
    bool padded = vocab >= model->vocab && vocab - model->vocab < model->vocab / 32;
    model->vocab = padded || vocab == 0 ? model->vocab : vocab;
    model->layer_count = count_of(r, COLUMN_layers, model->layer_count);
    if (!myr_model_is_mla(model)) {
        model->head_count = count_of(r, COLUMN_heads, model->head_count);
        model->kv_head_count = count_of(r, COLUMN_kv_heads, model->kv_head_count);
        model->head_dim = count_of(r, COLUMN_head_dim, model->head_dim);
    }
    if (model->moe.expert_count == 0) {
        model->ffn_hidden = count_of(r, COLUMN_ffn, model->ffn_hidden);
    } else if (count_of(r, COLUMN_experts, 0) > 0) {
        model->moe.expert_count = count_of(r, COLUMN_experts, 0);
        model->moe.experts_per_token = count_of(r, COLUMN_topk, model->moe.experts_per_token);
    }
}

/* The columns do not hold latent ranks, windows or prediction modules: a known shape does. */
static bool known_model(const struct reader *r, struct myr_model *ret)
{
    static const char *const aliases[][2] = {{"llama3.1-405b", "llama3-405b"},
                                             {"grok1-314b", "grok-1"}};
    struct myr_str name = field(r, COLUMN_model);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(aliases); i++) {
        name = fit_word_is(name, aliases[i][0]) ? myr_str_from(aliases[i][1]) : name;
    }
    for (uint32_t i = 0; i < myr_model_builtin_count(); i++) {
        struct myr_str builtin = myr_model_builtin_name(i);
        if (!myr_str_eq_nocase(builtin, name)) {
            continue;
        }
        const char *text = myr_arena_strndup(r->arena, builtin.data, builtin.len);
        if (myr_model_find(r->arena, text, ret, NULL) < 0 ||
            ret->hidden != count_of(r, COLUMN_hidden, ret->hidden)) {
            return false;
        }
        override_model(r, ret);
        return true;
    }
    return false;
}

/* The shape as the columns tell it. */
static void shape_of(const struct reader *r, struct myr_model *ret)
{
    struct myr_str name = field(r, COLUMN_model);
    uint32_t layers = count_of(r, COLUMN_layers, 0), hidden = count_of(r, COLUMN_hidden, 0);
    uint32_t experts = count_of(r, COLUMN_experts, 0);
    uint32_t moe = count_of(r, COLUMN_moe_layers, experts > 1 ? layers : 0);
    uint32_t width = count_of(r, COLUMN_head_dim, 0);
    uint32_t heads = count_of(r, COLUMN_heads, hidden / (width ? width : 128));
    bool gated = fit_word_yes(field(r, COLUMN_gated));
    *ret = (struct myr_model){
        .name = myr_arena_strndup(r->arena, name.data, name.len),
        .layer_count = layers,
        .hidden = hidden,
        .head_count = heads,
        .kv_head_count = count_of(r, COLUMN_kv_heads, heads),
        .head_dim = width   ? width
                    : heads ? hidden / heads
                            : 0,
        .causal = true,
        .ffn_hidden = count_of(r, COLUMN_ffn, gated ? hidden / 3 * 8 : 4 * hidden),
        .gated = gated,
        .vocab = count_of(r, COLUMN_vocab, 51200),
        .seq_tokens = count_of(r, COLUMN_seq, 2048),
        .norms_per_layer = 2,
    };
    ret->moe.interval = 1;
    if (experts > 1 && moe > 0 && moe <= layers) {
        ret->moe.expert_count = experts;
        ret->moe.experts_per_token = count_of(r, COLUMN_topk, 1);
        ret->moe.expert_hidden = count_of(r, COLUMN_moe_ffn, ret->ffn_hidden);
        ret->moe.shared_count = count_of(r, COLUMN_shared_experts, 0);
        ret->moe.shared_hidden = ret->moe.shared_count ? ret->moe.expert_hidden : 0;
        ret->moe.interval = layers >= 2 * moe ? layers / moe : 1;
        ret->moe.first_dense = ret->moe.interval == 1 ? layers - moe : 0;
        ret->ffn_hidden = moe == layers ? 0 : ret->ffn_hidden;
    }
}

static int read_model(const struct reader *r, struct myr_model *ret, struct myr_err *err)
{
    if (known_model(r, ret)) {
        ret->mtp_count = fit_word_has(field(r, COLUMN_note), "w/o mtp") ? 0 : ret->mtp_count;
    } else if (count_of(r, COLUMN_layers, 0) == 0 || count_of(r, COLUMN_hidden, 0) == 0) {
        char excerpt[MYR_EXCERPT_MAX];
        return myr_err_set(
            err, MYR_EINVAL,
            "model '%s' is not in the catalogue, and layers and hidden are not given",
            myr_text_excerpt(field(r, COLUMN_model), excerpt));
    } else {
        shape_of(r, ret);
    }
    (void)myr_model_stretch(ret, count_of(r, COLUMN_seq, 0));
    int rc = myr_model_check(ret, err);
    return rc < 0 ? myr_err_wrap(err, "%s:%u", r->csv.file, r->csv.line) : rc;
}

/* Whether experts are cut as well is in no table: open where both ways are legal. */
static void choose_etp(struct myr_run *run)
{
    struct myr_layout *layout = &run->layout;
    uint64_t grid = (uint64_t)layout->tp * layout->cp * layout->dp;
    layout->etp = 0;
    if (run->model.moe.expert_count == 0 || layout->tp == 1) {
        return;
    }
    bool cut = grid % ((uint64_t)layout->ep * layout->tp) == 0;
    layout->etp = cut ? 0 : 1;
    run->open |= cut && grid % layout->ep == 0 ? MYR_RUN_OPEN_ETP : 0;
}

static const char *read_recipe(const struct reader *r, struct myr_run *run)
{
    static const enum column columns[] = {
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
    char excerpt[MYR_EXCERPT_MAX];
    for (uint32_t i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        struct myr_str word = field(r, columns[i]);
        bool whole = i == MYR_CAPABILITY_PARTS && fit_word_has(word, "full");
        if (fit_word_open(word) || whole) {
            continue;
        }
        if (!myr_capability_read((enum myr_capability)i, word, &run->stated.recipe.of[i])) {
            return myr_arena_printf(r->arena, "%s '%s' is no word for it", column_names[columns[i]],
                                    myr_text_excerpt(word, excerpt));
        }
        run->stated.set |= 1U << i;
    }
    /* torchtitan's tables: in a note. */
    if (fit_word_has(field(r, COLUMN_note), "rowwise")) {
        run->stated.set |= 1U << MYR_CAPABILITY_SCALES;
        run->stated.recipe.of[MYR_CAPABILITY_SCALES] = MYR_SCALES_ROWS;
    }
    myr_profiles_recipes(r->profiles, run->it.stack, run->it.device, &run->model, &run->stated,
                         run->recipes);
    run->it.recipes = run->recipes;
    return NULL;
}

/* What the recipe decides of the layout. */
static void recipe_layout(const struct reader *r, struct myr_run *run)
{
    struct myr_layout *layout = &run->layout;
    struct myr_str modules = field(r, COLUMN_recompute_modules);
    const struct myr_recipe *recipe = &run->recipes[layout->precision];
    myr_fit_habits(&run->it, layout);
    if (run->it.stack->era == MYR_ERA_TORCH && fit_word_has(field(r, COLUMN_precision), "amp")) {
        layout->weights = MYR_WEIGHTS_FP32;
    }
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
    layout->offload_layers = fit_word_behind(field(r, COLUMN_cpu_offload), "layers:");
}

/* DualPipe is HAI-LLM's; performance recipes of the NeMo line reduce gradients in bf16. */
static void stack_habits(struct myr_run *run)
{
    struct myr_layout *layout = &run->layout;
    const struct myr_stack *stack = run->it.stack;
    if (strcmp(stack->line, "HAI-LLM") == 0 && layout->pp > 1 && layout->pp % 2 == 0) {
        layout->schedule = MYR_SCHEDULE_DUALPIPE;
        run->open &= ~(uint32_t)MYR_RUN_OPEN_VP;
    }
    if (strcmp(stack->line, "NeMo") == 0 || strcmp(stack->line, "Megatron-Bridge") == 0) {
        layout->gradient_bytes = 2;
    }
}

/* How state is sharded, what is made again, and in which numbers products are. */
static void read_words(const struct reader *r, struct myr_run *run)
{
    struct myr_layout *layout = &run->layout;
    uint32_t node = run->it.domain_gpus ? run->it.domain_gpus : run->it.device->domain_gpus;
    uint64_t replicas = (uint64_t)layout->dp * layout->cp;
    bool hybrid;
    if (!fit_word_zero(field(r, COLUMN_sharding), &layout->zero, &hybrid)) {
        run->open |= MYR_RUN_OPEN_ZERO;
    }
    /* What runs with a pipeline call stage 2 adds gradients up whole and scatters them once. */
    layout->zero = layout->zero == 2 && layout->pp > 1 ? 1 : layout->zero;
    layout->shard = hybrid && replicas > node && replicas % node == 0 ? node : 0;
    if (!fit_word_recompute(field(r, COLUMN_recompute), &layout->recompute)) {
        run->open |= MYR_RUN_OPEN_RECOMPUTE;
    }
    run->guessed |= fit_word_precision(field(r, COLUMN_precision), &layout->precision)
                        ? 0
                        : MYR_RUN_GUESSED_PRECISION;
}

static void read_layout(const struct reader *r, struct myr_run *run)
{
    static const struct {
        enum column column;
        uint32_t open;
    } axes[] = {{COLUMN_tp, MYR_RUN_OPEN_TP},
                {COLUMN_pp, MYR_RUN_OPEN_PP},
                {COLUMN_cp, MYR_RUN_OPEN_CP},
                {COLUMN_ep, MYR_RUN_OPEN_EP}};
    struct myr_layout *layout = &run->layout;
    *layout = myr_layout_default();
    layout->tp = count_of(r, COLUMN_tp, 1);
    layout->pp = count_of(r, COLUMN_pp, 1);
    layout->cp = count_of(r, COLUMN_cp, 1);
    layout->ep = count_of(r, COLUMN_ep, 1);
    /* Replicas are what is left of the GPUs. */
    uint64_t replica = (uint64_t)layout->tp * layout->pp * layout->cp;
    uint32_t gpus = count_of(r, COLUMN_gpus, 1);
    uint32_t left = replica && gpus >= replica ? (uint32_t)(gpus / replica) : 1;
    layout->dp = count_of(r, COLUMN_dp, left);
    layout->vp = count_of(r, COLUMN_vp, 1);
    layout->micro_batch = count_of(r, COLUMN_mbs, 1);
    layout->global_batch = count_of(r, COLUMN_gbs, 1);
    layout->seq_tokens = count_of(r, COLUMN_seq, 0);
    struct myr_str cut = field(r, COLUMN_seq_par);
    /* Every stack with tensor parallelism cuts the sequence too, once it can. */
    bool usual = fit_word_open(cut) && run->it.stack->era != MYR_ERA_EAGER;
    layout->sequence_parallel = (fit_word_yes(cut) || usual) && layout->tp > 1;
    layout->flash_attention = run->it.stack->flash;
    bool deep = layout->pp > 1 || no_number(field(r, COLUMN_pp));
    run->open = (no_number(field(r, COLUMN_vp)) && deep ? MYR_RUN_OPEN_VP : 0) |
                (no_number(field(r, COLUMN_mbs)) ? MYR_RUN_OPEN_MICRO_BATCH : 0);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        bool free = axes[i].column != COLUMN_ep || run->model.moe.expert_count > 0;
        run->open |= free && no_number(field(r, axes[i].column)) ? axes[i].open : 0;
    }
    run->gpus = gpus;
    run->dp = count_of(r, COLUMN_dp, 0);
    read_words(r, run);
    layout->schedule = layout->vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
    choose_etp(run);
    stack_habits(run);
    recipe_layout(r, run);
}

/*
 * A name that holds a device's: "NVIDIA H100 80GB HBM3", "A100-SXM4-80GB". The longest counts; of
 * those that differ in memory alone the later one in the list, which has more.
 */
static int find_device(const struct reader *r, struct myr_run *run, struct myr_err *err)
{
    struct myr_str name = field(r, COLUMN_hw);
    size_t best = 0;
    int rc = myr_profiles_device(r->profiles, name, &run->it.device, err);
    for (uint32_t i = 0; rc < 0 && i < r->profiles->device_count; i++) {
        const struct myr_device *device = &r->profiles->devices[i];
        const char *dash = strchr(device->name, '-');
        char stem[32] = "";
        size_t len = dash ? (size_t)(dash - device->name) : strlen(device->name);
        memcpy(stem, device->name, len < sizeof(stem) ? len : sizeof(stem) - 1);
        bool size = !dash || fit_word_has(name, dash + 1); /* a100-40 and a100-80 */
        if (fit_word_has(name, stem) && len + size >= best) {
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
static int find_stack(const struct reader *r, struct myr_run *run, struct myr_err *err)
{
    static const char *const usual[] = {"Megatron-LM 2023", "NeMo 25.02", "Megatron-Bridge 25.11"};
    struct myr_str software = field(r, COLUMN_software);
    struct myr_err unknown = {0};
    int rc = myr_profiles_stack(r->profiles, software, &run->it.stack, &run->stack_exact, &unknown);
    if (rc < 0) {
        uint32_t year = fit_word_year(software);
        const char *name = usual[run->it.device->generation];
        year = year ? year : fit_word_year(field(r, COLUMN_source));
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
    uint32_t month = fit_word_month(field(r, COLUMN_recipe_source));
    for (uint32_t i = 0; rc == MYR_OK && month && i < r->profiles->stack_count; i++) {
        const struct myr_stack *other = &r->profiles->stacks[i], *now = run->it.stack;
        bool before = strcmp(other->line, now->line) == 0 && other->order < now->order;
        run->it.stack = now->since > month && before ? other : now;
    }
    return rc;
}

/* What a row cannot do without, whichever way its layout is given. */
static int read_subject(struct reader *r, struct myr_run *run, struct myr_err *why)
{
    MYR_TRY(read_model(r, &run->model, why));
    MYR_TRY(find_device(r, run, why));
    MYR_TRY(find_stack(r, run, why));
    if (no_number(field(r, COLUMN_gpus)) || no_number(field(r, COLUMN_gbs))) {
        return myr_err_set(why, MYR_EINVAL, "neither gpus nor gbs can be left open");
    }
    return MYR_OK;
}

/* A row that cannot be read is no error: it is listed as refused, and the others are compared. */
static void read_run(struct reader *r, struct myr_run *run)
{
    struct myr_str id = field(r, COLUMN_id), source = field(r, COLUMN_source);
    struct myr_str software = field(r, COLUMN_software);
    struct myr_err why = {0};
    run->id = id.len ? myr_arena_strndup(r->arena, id.data, id.len)
                     : myr_arena_printf(r->arena, "line-%u", r->csv.line);
    run->source = myr_arena_strndup(r->arena, source.data, source.len);
    run->software = myr_arena_strndup(r->arena, software.data, software.len);
    run->measured_s = number_of(r, COLUMN_iter_s);
    run->it.constants = r->profiles->constants;
    run->refused = odd_number(r);
    if (run->refused) {
        return;
    }
    if (read_subject(r, run, &why) < 0) {
        run->refused = myr_arena_printf(r->arena, "%s", why.message);
        return;
    }
    /* A tray of a rack-wide domain is a node, and no domain: GB200 has 4 in a tray and 72. */
    uint32_t node = count_of(r, COLUMN_gpus_per_node, 0), domain = run->it.device->domain_gpus;
    run->it.domain_gpus = domain > 8 && node <= 8 ? domain : node;
    run->it.nic_gbps = number_of(r, COLUMN_nic_gbps_per_gpu);
    run->refused = read_recipe(r, run);
    if (run->refused) {
        return;
    }
    read_layout(r, run);
    run->peak_bytes = number_of(r, COLUMN_peak_mem_gib) * 1073741824;
    double rate = number_of(r, COLUMN_tokens_per_s_per_gpu);
    if (run->measured_s <= 0 && rate > 0) {
        run->measured_s = (double)run->layout.global_batch *
                          myr_layout_seq(&run->layout, &run->model) / (rate * run->gpus);
    }
    double useful = number_of(r, COLUMN_tflops_per_gpu) * 1e12 * run->gpus;
    if (run->measured_s <= 0 && useful > 0 && fit_word_has(field(r, COLUMN_flops_kind), "model")) {
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
static void explain(const struct reader *r, struct myr_run *run)
{
    struct myr_err why = {0};
    bool told = myr_layout_check(&run->layout, &run->model, 0, &why) < 0;
    run->refused = myr_arena_printf(r->arena, "no value of the open axes is possible%s%s",
                                    told ? "; with 1 for each: " : "", told ? why.message : "");
}

int myr_runs_parse(struct myr_runs *runs, struct myr_arena *arena,
                   const struct myr_profiles *profiles, const char *file, struct myr_str text,
                   struct myr_err *err)
{
    struct reader *r = MYR_ARENA_NEW(arena, struct reader, 1);
    uint32_t capacity = 64;
    *runs = (struct myr_runs){0};
    r->arena = arena;
    r->profiles = profiles;
    myr_csv_init(&r->csv, arena, file, text);
    MYR_TRY(read_header(r, err));
    runs->has_times = r->at[COLUMN_iter_s] >= 0 || r->at[COLUMN_tokens_per_s_per_gpu] >= 0;
    runs->items = MYR_ARENA_NEW(arena, struct myr_run, capacity);
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
