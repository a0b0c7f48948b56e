/*
 * The files that trainers read: torchtitan's TOML and its model, and what every run is told.
 * torchtitan has models of its own, each with a table of sizes ('flavours'): a Python file adds one
 * with the sizes of this model to the family that is nearest, and says what that family has not.
 */
#include "launch_script.h"

/* Control characters as escapes of their code, which all three languages read. */
void launch_put_string(struct myr_buf *buf, const char *text)
{
    myr_buf_putc(buf, '"');
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        /* What would end the text or escape its end. */
        if (*at == '"' || *at == '\\') {
            myr_buf_printf(buf, "\\%c", *at);
        } else if (*at == '\n') {
            myr_buf_put_lit(buf, "\\n");
        } else if (*at < ' ') {
            myr_buf_printf(buf, "\\u%04x", *at);
        } else {
            myr_buf_putc(buf, (char)*at);
        }
    }
    myr_buf_putc(buf, '"');
}

/* ---- torchtitan ---- */

/* Numbers and booleans stand as they are. */
static void put_toml_value(struct myr_buf *buf, const struct myr_launch_item *item)
{
    if (item->kind == MYR_LAUNCH_TEXT) {
        launch_put_string(buf, item->value);
        return;
    }
    if (item->kind != MYR_LAUNCH_WORDS) {
        myr_buf_puts(buf, item->value);
        return;
    }
    /* A list of strings, as TOML and Python both write it. */
    myr_buf_putc(buf, '[');
    for (const char *at = item->value; *at;) {
        size_t len = strcspn(at, " ");
        myr_buf_printf(buf, "%s\"%.*s\"", at == item->value ? "" : ", ", (int)len, at);
        at += len + (at[len] == ' ');
    }
    myr_buf_putc(buf, ']');
}

/* Sections in the order of their first key; the last dot parts section and key. */
static void put_sections(struct myr_buf *buf, const struct myr_launch_item *items, uint32_t count)
{
    /* Keys of a section need not follow each other in the list: TOML allows a section once. */
    for (uint32_t i = 0; i < count; i++) {
        size_t len = (size_t)(strrchr(items[i].name, '.') - items[i].name);
        bool seen = false;
        for (uint32_t k = 0; k < i && !seen; k++) {
            size_t other = (size_t)(strrchr(items[k].name, '.') - items[k].name);
            seen = other == len && memcmp(items[k].name, items[i].name, len) == 0;
        }
        if (seen) {
            continue;
        }
        myr_buf_printf(buf, "%s[%.*s]\n", i ? "\n" : "", (int)len, items[i].name);
        /* All keys of the section, wherever they stand in the list. */
        for (uint32_t k = i; k < count; k++) {
            const char *dot = strrchr(items[k].name, '.');
            if ((size_t)(dot - items[k].name) == len &&
                memcmp(items[k].name, items[i].name, len) == 0) {
                myr_buf_printf(buf, "%s = ", dot + 1);
                put_toml_value(buf, &items[k]);
                myr_buf_putc(buf, '\n');
            }
        }
    }
}

/* Which of its models has this one's layers; the nearest where none has. */
const char *launch_titan_family(const struct myr_model *model)
{
    if (myr_model_is_mla(model)) {
        return "deepseek_v3";
    }
    if (model->attention_sink) {
        return "gpt_oss";
    }
    return model->qk_norm || model->moe.expert_count > 0 || model->tied ||
                   model->head_dim * model->head_count != model->hidden
               ? "qwen3"
               : "llama3";
}

/* The layout's items, and those of the run; a copy, as the list itself is shown elsewhere too. */
void launch_put_toml(const struct myr_launch *l, const struct myr_launch_case *of,
                     const struct myr_launch_run *run, struct myr_buf *buf)
{
    struct myr_launch all = *l;
    const char *family = launch_titan_family(of->model);
    launch_put(&all, MYR_LAUNCH_TEXT, "job.description", "%s", run->name);
    launch_put(&all, MYR_LAUNCH_TEXT, "model.name", "%s", family);
    /* As myriad_flavour.py registers it. */
    launch_put(&all, MYR_LAUNCH_TEXT, "model.flavor", "myriad");
    if (run->tokenizer) {
        launch_put(&all, MYR_LAUNCH_TEXT, "model.hf_assets_path", "%s", run->tokenizer);
    }
    launch_put(&all, MYR_LAUNCH_TEXT, "experimental.custom_import", "myriad_flavour");
    launch_number(&all, "training.steps", run->steps);
    /* The trainer's own name of the data; a path says where they are. */
    launch_put(&all, MYR_LAUNCH_TEXT, "training.dataset", "c4");
    if (run->data) {
        launch_put(&all, MYR_LAUNCH_TEXT, "training.dataset_path", "%s", run->data);
    }
    launch_put(&all, MYR_LAUNCH_TEXT, "optimizer.name", "AdamW");
    launch_put(&all, MYR_LAUNCH_NUMBER, "optimizer.lr", "3e-4");
    /* Without a folder nothing is saved. */
    if (run->checkpoint) {
        launch_put(&all, MYR_LAUNCH_BOOL, "checkpoint.enable", "true");
        launch_put(&all, MYR_LAUNCH_TEXT, "checkpoint.folder", "%s", run->checkpoint);
        launch_number(&all, "checkpoint.interval", 500);
    }
    put_sections(buf, all.items, all.item_count);
}

/* Scores are softmax unless the model says sigmoid, or has a bias of scores. */
static void put_experts(struct myr_buf *buf, const struct myr_model *model)
{
    const struct myr_moe *moe = &model->moe;
    const struct myr_model_details *details = &model->details;
    bool sigmoid = details->sigmoid_scores || moe->score_bias;
    myr_buf_printf(
        buf,
        "    moe_args=MoEArgs(\n"
        "        num_experts=%u,\n        num_shared_experts=%u,\n        top_k=%u,\n"
        "        score_func=\"%s\",\n        route_norm=True,\n        route_scale=%.9g,\n",
        moe->expert_count, moe->shared_count, moe->experts_per_token,
        sigmoid ? "sigmoid" : "softmax", details->routed_scale > 0 ? details->routed_scale : 1.0);
    /* Routing that is limited to some groups of experts. */
    if (details->expert_groups > 1) {
        myr_buf_printf(buf, "        num_expert_groups=%u,\n        num_limited_groups=%u,\n",
                       details->expert_groups, details->groups_per_token);
    }
    myr_buf_put_lit(buf, "    ),\n");
}

static void put_llama(struct myr_buf *buf, const struct myr_model *model)
{
    /* It rounds a share of 8/3 of the hidden size up to a multiple: of the width itself. */
    myr_buf_printf(buf,
                   "    n_kv_heads=%u,\n    multiple_of=%u,\n"
                   /* Half below the width: rounding up then gives just that, whatever the division
                    * loses. */
                   "    ffn_dim_multiplier=%u.5 * 3 / (8 * %u),\n",
                   model->kv_head_count, model->ffn_hidden, model->ffn_hidden - 1, model->hidden);
}

/* Layers without experts come first there; a dense model has nothing else. */
static void put_latent(struct myr_buf *buf, const struct myr_model *model)
{
    const struct myr_mla *mla = &model->mla;
    bool experts = model->moe.expert_count > 0;
    myr_buf_printf(buf,
                   "    inter_dim=%u,\n    moe_inter_dim=%u,\n    n_dense_layers=%u,\n"
                   "    q_lora_rank=%u,\n    kv_lora_rank=%u,\n    qk_nope_head_dim=%u,\n"
                   "    qk_rope_head_dim=%u,\n    v_head_dim=%u,\n",
                   model->ffn_hidden, model->moe.expert_hidden,
                   experts ? model->moe.first_dense : model->layer_count, mla->q_rank, mla->kv_rank,
                   mla->nope_dim, mla->rope_dim, mla->v_dim);
}

/* Also GPT-OSS, whose heads are described alike and which has a window besides. */
static void put_qwen(struct myr_buf *buf, const struct myr_model *model, bool oss)
{
    bool experts = model->moe.expert_count > 0;
    myr_buf_printf(buf, "    n_kv_heads=%u,\n    head_dim=%u,\n", model->kv_head_count,
                   model->head_dim);
    if (experts) {
        myr_buf_printf(buf, "    moe_inter_dim=%u,\n", model->moe.expert_hidden);
    }
    /* A model without a window has one as long as the sequence. */
    if (oss) {
        myr_buf_printf(buf, "    sliding_window_size=%u,\n",
                       model->window_tokens ? model->window_tokens : model->seq_tokens);
        return;
    }
    myr_buf_printf(buf,
                   "    hidden_dim=%u,\n    qk_norm=%s,\n    enable_weight_tying=%s,\n"
                   "    moe_enabled=%s,\n",
                   model->ffn_hidden ? model->ffn_hidden : model->moe.expert_hidden,
                   model->qk_norm ? "True" : "False", model->tied ? "True" : "False",
                   experts ? "True" : "False");
}

/* Without these it would be another model that trains. */
const char *launch_titan_lacks(const struct myr_model *model)
{
    const struct {
        bool is;
        const char *what;
    } rows[] = {
        {!model->gated, "feed-forward layers without a gate"},
        {model->norm != MYR_NORM_RMS, "norms other than RMS"},
        {model->norms_per_layer != 2, "more or fewer than two norms a layer"},
        {(model->qkv_bias || model->out_bias || model->ffn_bias) && !model->attention_sink,
         "biases"},
        {model->positions != MYR_POSITIONS_ROTARY, "positions that are no rotation"},
        {model->delta.value_heads > 0, "linear attention"},
        {model->indexer.head_count > 0, "an indexer"},
        {model->window_tokens > 0 && !model->attention_sink, "a window"},
        {model->moe.interval > 1, "experts in some layers only"},
        {myr_model_is_mla(model) ? model->tied : false, "a tied output matrix"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        if (rows[i].is) {
            return rows[i].what;
        }
    }
    return NULL;
}

/* Registers the model beside the trainer's own; the TOML names it as its flavour. */
void launch_put_flavour(const struct myr_launch_case *of, struct myr_buf *buf)
{
    const struct myr_model *model = of->model;
    const struct myr_model_details *details = &model->details;
    const char *family = launch_titan_family(model);
    bool latent = myr_model_is_mla(model), oss = strcmp(family, "gpt_oss") == 0;
    bool llama = strcmp(family, "llama3") == 0;
    /* Names of the trainer's own classes and tables, which the file imports. */
    const char *kind = latent  ? "DeepSeekV3ModelArgs"
                       : oss   ? "GptOssModelArgs"
                       : llama ? "TransformerModelArgs"
                               : "Qwen3ModelArgs";
    const char *table = latent  ? "deepseekv3_args"
                        : oss   ? "gptoss_configs"
                        : llama ? "llama3_args"
                                : "qwen3_args";
    if (model->mtp_count > 0) {
        myr_buf_put_lit(buf, "# Not in this trainer's models, and left out: prediction modules.\n");
    }
    myr_buf_printf(buf, "from torchtitan.models.%s import %s, %s\n", family, table, kind);
    if (!llama) {
        myr_buf_put_lit(buf, "from torchtitan.models.moe import MoEArgs\n");
    }
    myr_buf_printf(buf,
                   "\n%s[\"myriad\"] = %s(\n    dim=%u,\n    n_layers=%u,\n    n_heads=%u,\n"
                   "    vocab_size=%u,\n    max_seq_len=%u,\n",
                   table, kind, model->hidden, model->layer_count, model->head_count, model->vocab,
                   myr_layout_seq(of->layout, model));
    if (details->rotary_base > 0) {
        myr_buf_printf(buf, "    rope_theta=%.9g,\n", details->rotary_base);
    }
    if (details->norm_epsilon > 0) {
        myr_buf_printf(buf, "    norm_eps=%.9g,\n", details->norm_epsilon);
    }
    /* Each family has names of its own for what differs. */
    if (llama) {
        put_llama(buf, model);
    } else if (latent) {
        put_latent(buf, model);
    } else {
        put_qwen(buf, model, oss);
    }
    /* The plain family has no experts. */
    if (!llama && model->moe.expert_count > 0) {
        put_experts(buf, model);
    }
    myr_buf_put_lit(buf, ")\n");
}

/* ---- what every run is told ---- */

/* Quoted for the shell; nothing without a path. */
static void put_path(struct myr_buf *buf, const char *name, const char *path)
{
    if (path) {
        myr_buf_printf(buf, " %s ", name);
        myr_launch_quote(buf, myr_str_from(path));
    }
}

/* Rates and decay are usual values, no prediction: the head of the script says so. */
void launch_put_run(const struct myr_launch *l, const struct myr_launch_case *of,
                    const struct myr_launch_run *run, struct myr_buf *buf)
{
    /* An older relative of Megatron-LM: some arguments are missing, others are called otherwise. */
    bool deepspeed = l->trainer == MYR_TRAINER_DEEPSPEED;
    unsigned long long steps = run->steps;
    myr_buf_printf(buf,
                   "--train-iters %llu --lr 3e-4 --min-lr 3e-5 --lr-decay-style cosine "
                   "--lr-warmup-fraction 0.01 --weight-decay 0.1 --adam-beta1 0.9 "
                   "--adam-beta2 0.95 --clip-grad 1.0 --eval-interval %llu --eval-iters 0 "
                   "--log-interval 10",
                   steps, steps);
    if (!deepspeed) {
        myr_buf_put_lit(buf, " --log-throughput --manual-gc --manual-gc-interval 100");
    }
    if (run->tokenizer) {
        myr_buf_printf(buf, " --tokenizer-type %s",
                       deepspeed ? "HFTokenizer" : "HuggingFaceTokenizer");
        put_path(buf, "--tokenizer-model", run->tokenizer);
        myr_buf_printf(buf, " --vocab-size %u", of->model->vocab);
    } else {
        /* Without a tokenizer tokens are numbers: enough to measure a step. */
        myr_buf_printf(buf, " --tokenizer-type NullTokenizer --vocab-size %u", of->model->vocab);
    }
    /* Without data it is mocked, where the program can do that. */
    if (run->data) {
        put_path(buf, "--data-path", run->data);
        myr_buf_put_lit(buf, " --split 99,1,0");
    } else if (!deepspeed) {
        myr_buf_put_lit(buf, " --mock-data");
    }
    put_path(buf, "--save", run->checkpoint);
    put_path(buf, "--load", run->checkpoint);
    if (run->checkpoint) {
        myr_buf_put_lit(buf, " --save-interval 500");
    }
}
