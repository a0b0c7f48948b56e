/*
 * Megatron-Bridge: a recipe in Python. Its configuration is that of the same core as Megatron-LM's,
 * so each argument there is an attribute here; the table has those that are called otherwise or
 * stand in another part of the configuration.
 */
#include "launch_script.h"

struct renamed {
    const char *argument, *attribute;
    const char *value; /* in place of the argument's own; NULL: that one */
};

/* NULL: nothing to set, the rest of the recipe says it. */
static const struct renamed renames[] = {
    {"--micro-batch-size", "train.micro_batch_size", NULL},
    {"--global-batch-size", "train.global_batch_size", NULL},
    {"--num-layers-per-virtual-pipeline-stage", NULL, NULL},
    {"--num-virtual-stages-per-pipeline-rank", NULL, NULL},
    {"--decoder-first-pipeline-num-layers", "model.num_layers_in_first_pipeline_stage", NULL},
    {"--decoder-last-pipeline-num-layers", "model.num_layers_in_last_pipeline_stage", NULL},
    {"--use-distributed-optimizer", "ddp.use_distributed_optimizer", NULL},
    {"--overlap-grad-reduce", "ddp.overlap_grad_reduce", NULL},
    {"--overlap-param-gather", "ddp.overlap_param_gather", NULL},
    {"--use-megatron-fsdp", "ddp.use_megatron_fsdp", NULL},
    {"--data-parallel-sharding-strategy", "ddp.data_parallel_sharding_strategy", NULL},
    {"--num-distributed-optimizer-instances", "ddp.num_distributed_optimizer_instances", NULL},
    {"--grad-reduce-in-bf16", "ddp.grad_reduce_in_fp32", "False"},
    {"--megatron-fsdp-main-grads-dtype", "ddp.grad_reduce_in_fp32", "True"},
    {"--ckpt-format", "checkpoint.ckpt_format", NULL},
    {"--use-tp-pp-dp-mapping", "dist.use_tp_pp_dp_mapping", NULL},
    {"--te-rng-tracker", "rng.te_rng_tracker", NULL},
    {"--no-check-for-nan-in-loss-and-grad", "rerun_state_machine.check_for_nan_in_loss", "False"},
    {"--tp-comm-overlap", NULL, NULL}, /* of CommOverlapConfig */
    {"--overlap-moe-expert-parallel-comm", NULL, NULL},
    {"--delay-wgrad-compute", NULL, NULL},
    {"--bf16", NULL, NULL}, /* of the mixed precision's name */
    {"--fp16", NULL, NULL},
    {"--fp8-format", NULL, NULL},
    {"--fp8-recipe", NULL, NULL},
    {"--fp4-format", NULL, NULL},
    {"--group-query-attention", NULL, NULL},
    {"--multi-latent-attention", NULL, NULL}, /* of the provider's class */
    {"--max-position-embeddings", NULL, NULL},
    {"--num-experts", "model.num_moe_experts", NULL},
    {"--no-rope-fusion", "model.apply_rope_fusion", "False"},
    {"--norm-epsilon", "model.layernorm_epsilon", NULL},
    {"--disable-bias-linear", "model.add_bias_linear", "False"},
    {"--untie-embeddings-and-output-weights", "model.share_embeddings_and_output_weights", "False"},
    {"--swiglu", "model.gated_linear_unit", NULL},
    {"--squared-relu", "model.activation_func", "squared_relu"},
    {"--attention-backend", "model.attention_backend", NULL},
    {"--cuda-graph-modules", NULL, NULL},
};

/* NULL: the attribute is called as the argument is. */
static const struct renamed *rename_of(const char *argument)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(renames); i++) {
        if (strcmp(renames[i].argument, argument) == 0) {
            return &renames[i];
        }
    }
    return NULL;
}

/* "--moe-router-topk" as "model.moe_router_topk". */
static void put_attribute(struct myr_buf *buf, const char *argument)
{
    myr_buf_put_lit(buf, "model.");
    for (const char *at = argument + 2; *at; at++) {
        myr_buf_putc(buf, *at == '-' ? '_' : *at);
    }
}

/* Words with blanks between them, as a list of Python strings. */
static void put_list(struct myr_buf *buf, const char *words)
{
    myr_buf_putc(buf, '[');
    for (const char *at = words; *at;) {
        size_t len = strcspn(at, " ");
        myr_buf_printf(buf, "%s\"%.*s\"", at == words ? "" : ", ", (int)len, at);
        at += len + (at[len] == ' ');
    }
    myr_buf_putc(buf, ']');
}

/* As Python writes it: names of an enum and pairs are not strings. */
static void put_value(struct myr_buf *buf, const struct myr_launch_item *item)
{
    const char *name = item->name;
    if (item->kind == MYR_LAUNCH_SWITCH) {
        myr_buf_put_lit(buf, "True");
    } else if (strcmp(name, "--attention-backend") == 0) {
        myr_buf_printf(buf, "AttnBackend.%s", item->value);
    } else if (strcmp(name, "--window-size") == 0) {
        myr_buf_printf(buf, "(%s)", item->value);
    } else if (item->kind == MYR_LAUNCH_NUMBER || strcmp(name, "--moe-layer-freq") == 0) {
        myr_buf_puts(buf, item->value); /* a list of numbers is Python as it stands */
    } else if (item->kind == MYR_LAUNCH_WORDS) {
        put_list(buf, item->value);
    } else {
        launch_put_string(buf, item->value);
    }
}

/* One line for each argument that is an attribute. */
static void put_item(struct myr_buf *buf, const struct myr_launch_item *item)
{
    const struct renamed *other = rename_of(item->name);
    /* The rest of the recipe says it. */
    if (other && !other->attribute) {
        return;
    }
    myr_buf_put_lit(buf, "cfg.");
    if (other) {
        myr_buf_puts(buf, other->attribute);
    } else {
        put_attribute(buf, item->name);
    }
    myr_buf_put_lit(buf, " = ");
    if (other && other->value) {
        myr_buf_puts(buf, other->value);
    } else {
        put_value(buf, item);
    }
    myr_buf_putc(buf, '\n');
}

/* NULL where the layout does not ask for it. */
static const struct myr_launch_item *find(const struct myr_launch *l, const char *name)
{
    for (uint32_t i = 0; i < l->item_count; i++) {
        if (strcmp(l->items[i].name, name) == 0) {
            return &l->items[i];
        }
    }
    return NULL;
}

/* Mixed precision goes by name there; NULL for fp32, which mixes nothing. */
static const char *precision_name(const struct myr_launch *l, const struct myr_layout *layout)
{
    /* The scales of FP8 are part of the name. */
    const struct myr_launch_item *recipe = find(l, "--fp8-recipe");
    switch (layout->precision) {
    case MYR_PRECISION_FP16:
        return "fp16_mixed";
    case MYR_PRECISION_MXFP8:
        return "bf16_with_mxfp8_mixed";
    case MYR_PRECISION_NVFP4:
        return "bf16_with_nvfp4_mixed";
    case MYR_PRECISION_FP8:
        return recipe && strcmp(recipe->value, "tensorwise") == 0
                   ? "bf16_with_fp8_current_scaling_mixed"
               : recipe && strcmp(recipe->value, "blockwise") == 0
                   ? "bf16_with_fp8_subchannel_scaling_mixed"
                   : "bf16_with_fp8_delayed_scaling_mixed";
    case MYR_PRECISION_FP32:
        return NULL;
    case MYR_PRECISION_BF16:
        break;
    }
    return "bf16_mixed";
}

/* What single arguments do not make. */
static void put_rest(const struct myr_launch *l, const struct myr_launch_case *of,
                     struct myr_buf *buf)
{
    const struct myr_layout *layout = of->layout;
    const struct myr_launch_item *modules = find(l, "--cuda-graph-modules");
    const char *precision = precision_name(l, layout);
    bool swiglu = find(l, "--swiglu") != NULL;
    if (swiglu) {
        /* A gate alone is no SwiGLU: Megatron-LM's switch sets both. */
        myr_buf_put_lit(buf, "cfg.model.activation_func = torch.nn.functional.silu\n");
    }
    if (layout->vp > 1) {
        myr_buf_printf(buf, "cfg.model.virtual_pipeline_model_parallel_size = %u\n", layout->vp);
    }
    /* Parts of layers that are captured as graphs are a call, not an attribute. */
    if (modules) {
        myr_buf_put_lit(buf, "set_cuda_graph_modules(cfg.model, ");
        put_list(buf, modules->value);
        myr_buf_put_lit(buf, ")\n");
    }
    /* The number alone does not switch it on there. */
    if (find(l, "--cpu-offloading-num-layers")) {
        myr_buf_put_lit(buf, "cfg.model.cpu_offloading = True\n");
    }
    /* The number of modules comes as an attribute like all others. */
    if (of->model->mtp_count > 0) {
        myr_buf_put_lit(buf, "cfg.model.mtp_enabled = True\n");
    }
    myr_buf_printf(buf, "cfg.model.vocab_size = %u\ncfg.model.should_pad_vocab = True\n",
                   of->model->vocab);
    myr_buf_printf(buf, "cfg.dataset.seq_length = %u\n", myr_layout_seq(layout, of->model));
    /* Written in any case, also where nothing overlaps. */
    myr_buf_printf(buf, "cfg.comm_overlap = CommOverlapConfig(\n    tp_comm_overlap=%s,\n",
                   find(l, "--tp-comm-overlap") ? "True" : "False");
    if (find(l, "--overlap-moe-expert-parallel-comm")) {
        myr_buf_put_lit(buf, "    overlap_moe_expert_parallel_comm=True,\n"
                             "    delay_wgrad_compute=True,\n");
    }
    myr_buf_put_lit(buf, ")\n");
    if (precision) {
        myr_buf_printf(buf, "cfg.mixed_precision = \"%s\"\n", precision);
    } else {
        myr_buf_put_lit(buf, "cfg.mixed_precision = None\n");
    }
}

/* What neither layout nor model decide: steps, tokenizer, data, checkpoints. */
static void put_run(const struct myr_launch_run *run, struct myr_buf *buf)
{
    myr_buf_printf(buf, "cfg.train.train_iters = %llu\n", (unsigned long long)run->steps);
    if (run->tokenizer) {
        myr_buf_put_lit(buf, "cfg.tokenizer.tokenizer_model = ");
        launch_put_string(buf, run->tokenizer);
        myr_buf_putc(buf, '\n');
    } else {
        myr_buf_put_lit(buf, "cfg.tokenizer.tokenizer_type = \"NullTokenizer\"\n"
                             "cfg.tokenizer.vocab_size = cfg.model.vocab_size\n");
    }
    if (run->data) {
        myr_buf_put_lit(buf, "cfg.dataset.blend = ([");
        launch_put_string(buf, run->data);
        myr_buf_put_lit(buf, "], None)\n");
    }
    /* One folder to save to and to go on from; none: nothing is kept. */
    myr_buf_put_lit(buf, "cfg.checkpoint.save = cfg.checkpoint.load = ");
    if (run->checkpoint) {
        launch_put_string(buf, run->checkpoint);
    } else {
        myr_buf_put_lit(buf, "None");
    }
    myr_buf_putc(buf, '\n');
}

/* From the common recipe on, everything that was predicted is set by hand. */
void launch_put_recipe(const struct myr_launch *l, const struct myr_launch_case *of,
                       const struct myr_launch_run *run, struct myr_buf *buf)
{
    const struct myr_model *model = of->model;
    /* Imports first: only those that the lines below need. */
    bool latent = myr_model_is_mla(model), squared = find(l, "--squared-relu") != NULL;
    const char *provider = latent ? "MLAModelProvider" : "GPTModelProvider";
    myr_buf_printf(buf,
                   "import torch\n"
                   "from megatron.bridge.models.%s import %s\n"
                   "from megatron.bridge.recipes.common import _pretrain_common\n"
                   "from megatron.bridge.training.comm_overlap import CommOverlapConfig\n"
                   "from megatron.bridge.training.gpt_step import forward_step\n"
                   "from megatron.bridge.training.pretrain import pretrain\n",
                   latent ? "mla_provider" : "gpt_provider", provider);
    if (find(l, "--cuda-graph-modules")) {
        myr_buf_put_lit(buf, "from megatron.bridge.utils.cuda_graph import "
                             "set_cuda_graph_modules\n");
    }
    if (squared) {
        myr_buf_put_lit(buf, "from megatron.core.activations import squared_relu\n");
    }
    myr_buf_put_lit(buf, "from megatron.core.transformer.enums import AttnBackend\n");
    /* The provider wants its sizes at once; all others are set one by one. */
    myr_buf_printf(
        buf,
        "\ncfg = _pretrain_common()\n"
        "cfg.model = %s(\n    num_layers=%u, hidden_size=%u, num_attention_heads=%u\n)\n",
        provider, model->layer_count, model->hidden, model->head_count);
    for (uint32_t i = 0; i < l->item_count; i++) {
        put_item(buf, &l->items[i]);
    }
    put_rest(l, of, buf);
    put_run(run, buf);
    myr_buf_put_lit(buf, "\nif __name__ == \"__main__\":\n"
                         "    pretrain(config=cfg, forward_step_func=forward_step)\n");
}
