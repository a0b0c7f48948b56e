#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "kept.h"
#include "myriad/study.h"

/*
 * What every property of a model, a layout and a recipe does to what the trainers are told: three
 * cases, each with one thing changed at a time, and the lines that go and come with the change.
 * A change that is not in the file changes nothing.
 */

struct variant {
    struct myr_model model;
    struct myr_layout layout;
    struct myr_recipe recipe;
    struct myr_device device;
    struct myr_stack stack;
};

struct change {
    uint32_t at;      /* changes gone by */
    const char *text; /* of the one that was made, or NULL */
};

#define ON(...)                          \
    do {                                 \
        if (change->at++ == which) {     \
            __VA_ARGS__;                 \
            change->text = #__VA_ARGS__; \
        }                                \
    } while (0)

static void change_attention(struct myr_model *m, uint32_t which, struct change *change)
{
    ON(m->kv_head_count = m->head_count);
    ON(m->head_dim *= 2);
    ON(m->qk_norm = !m->qk_norm);
    ON(m->qk_norm_wide = !m->qk_norm_wide);
    ON(m->qk_norm = m->qk_norm_wide = true);
    ON(m->attention_sink = true);
    ON(m->window_tokens = 128);
    ON(m->window_tokens = 128, m->full_every = 2);
    ON(m->window_tokens = 128, m->attention_sink = true);
    ON(m->query_gate = true);
    ON(m->causal = false);
    ON(m->delta = (struct myr_delta){16, 128, 32, 64, 4});
    ON(m->delta = (struct myr_delta){16, 128, 32, 64, 4}, m->full_every = 4);
    ON(m->mla = (struct myr_mla){1536, 512, 128, 64, 96}, m->kv_head_count = m->head_count);
    ON(m->mla = (struct myr_mla){0, 512, 128, 64, 96}, m->kv_head_count = m->head_count);
    ON(m->qkv_bias = true);
    ON(m->out_bias = true);
    ON(m->ffn_bias = true);
    ON(m->qkv_bias = m->out_bias = m->ffn_bias = true);
    ON(m->head_bias = true);
    ON(m->positions = MYR_POSITIONS_LEARNED, m->position_max = 65536);
    ON(m->positions = MYR_POSITIONS_NONE);
    ON(m->details.rotary_base = 0);
    ON(m->details.rotary_base = 123456);
    ON(m->details.rotary_share = 0.25);
    ON(m->details.rotary_share = 1);
    ON(m->details.scaled_rotation = !m->details.scaled_rotation);
}

static void change_layers(struct myr_model *m, uint32_t which, struct change *change)
{
    ON(m->gated = false);
    ON(m->gated = false, m->details.activation = MYR_ACTIVATION_UNKNOWN);
    ON(m->gated = false, m->details.activation = MYR_ACTIVATION_GELU);
    ON(m->gated = false, m->details.activation = MYR_ACTIVATION_RELU);
    ON(m->gated = false, m->details.activation = MYR_ACTIVATION_RELU2);
    ON(m->gated = false, m->details.activation = MYR_ACTIVATION_OTHER);
    ON(m->details.activation = MYR_ACTIVATION_UNKNOWN);
    ON(m->details.activation = MYR_ACTIVATION_GELU_TANH);
    ON(m->norm = MYR_NORM_LAYER);
    ON(m->norm = MYR_NORM_BARE);
    ON(m->norms_per_layer = 4);
    ON(m->embedding_norm = true);
    ON(m->details.norm_epsilon = 0);
    ON(m->details.norm_epsilon = 0.5);
    ON(m->tied = !m->tied);
    ON(m->dropout = true);
    ON(m->mtp_count = 0);
    ON(m->mtp_count = 2);
    ON(m->vocab = 1000);
    ON(m->seq_tokens = 1024);
}

static void change_experts(struct myr_model *m, uint32_t which, struct change *change)
{
    ON(m->moe.interval = 2, m->moe.first_dense = 1);
    ON(m->moe.interval = 3, m->moe.first_dense = 1);
    ON(m->moe.first_dense = 5);
    ON(m->moe.shared_count = 2, m->moe.shared_hidden = 512);
    ON(m->moe.shared_count = 2, m->moe.shared_hidden = 512, m->moe.shared_gate = true);
    ON(m->moe.experts_per_token = 1);
    ON(m->moe.experts_per_token = 3);
    ON(m->moe.router_bias = true);
    ON(m->moe.score_bias = !m->moe.score_bias);
    ON(m->moe.expert_hidden = 640);
    ON(m->ffn_hidden = 0);
    ON(m->details.sigmoid_scores = !m->details.sigmoid_scores);
    ON(m->details.sigmoid_scores = m->moe.score_bias = false, m->moe.experts_per_token = 1);
    ON(m->details.routed_scale = 1);
    ON(m->details.routed_scale = 2.5);
    ON(m->details.expert_groups = 4, m->details.groups_per_token = 2);
    ON(m->details.expert_groups = 4, m->details.groups_per_token = 0);
    ON(m->details.expert_groups = 1, m->details.groups_per_token = 1);
}

static void change_latent(struct myr_model *m, uint32_t which, struct change *change)
{
    ON(m->mla.q_rank = 0);
    ON(m->indexer = (struct myr_indexer){64, 128, 2048});
    ON(m->tied = true);
    ON(m->gated = false);
    ON(m->mtp_count = 0);
    ON(m->mtp_count = 2);
}

static void change_state(struct myr_layout *l, uint32_t which, struct change *change)
{
    ON(l->zero = 0);
    ON(l->zero = 2);
    ON(l->zero = 3);
    ON(l->shard = 2);
    ON(l->zero = 2, l->shard = 2);
    ON(l->zero = 3, l->shard = 4);
    ON(l->gradient_bytes = 2);
    ON(l->gradient_bytes = 4, l->zero = 2);
    ON(l->gradient_bytes = 2, l->precision = MYR_PRECISION_FP16);
    ON(l->gradient_bytes = 2, l->precision = MYR_PRECISION_FP32);
    ON(l->precision = MYR_PRECISION_FP32);
    ON(l->precision = MYR_PRECISION_FP16);
    ON(l->precision = MYR_PRECISION_FP8);
    ON(l->precision = MYR_PRECISION_MXFP8);
    ON(l->precision = MYR_PRECISION_NVFP4);
    ON(l->recompute = MYR_RECOMPUTE_FULL);
    ON(l->recompute = MYR_RECOMPUTE_FULL, l->recompute_layers = 2);
    ON(l->recompute = MYR_RECOMPUTE_FULL, l->recompute_layers = 2, l->recompute_parts = ~0U);
    ON(l->recompute = MYR_RECOMPUTE_SELECTIVE);
    for (uint32_t i = 0; i < MYR_AGAIN_COUNT; i++) {
        ON(l->recompute_parts = 1U << i);
    }
    ON(l->recompute_parts = (1U << MYR_AGAIN_COUNT) - 1);
    ON(l->offload_layers = 3);
    ON(l->offload_layers = 3, l->recompute = MYR_RECOMPUTE_SELECTIVE);
    ON(l->offload_layers = 1000);
    ON(l->flash_attention = false);
    ON(l->kernels = MYR_KERNELS_COMPILED);
    ON(l->fused_loss = true);
}

static void change_axes(struct myr_layout *l, uint32_t which, struct change *change)
{
    ON(l->tp = 1, l->sequence_parallel = false);
    ON(l->sequence_parallel = false);
    ON(l->cp = 2);
    ON(l->cp = 2, l->tp = l->pp = l->vp = 1, l->schedule = MYR_SCHEDULE_1F1B);
    ON(l->ep = 1);
    ON(l->etp = 1);
    ON(l->ep = 1, l->etp = 1);
    ON(l->pp = l->vp = 1, l->schedule = MYR_SCHEDULE_1F1B);
    ON(l->pp = l->vp = 1, l->schedule = MYR_SCHEDULE_1F1B, l->offload_layers = 3);
    ON(l->pp = 4, l->vp = 1, l->schedule = MYR_SCHEDULE_1F1B);
    ON(l->pp = 4, l->vp = 1, l->schedule = MYR_SCHEDULE_ZERO_BUBBLE);
    ON(l->pp = 4, l->vp = 1, l->schedule = MYR_SCHEDULE_DUALPIPE);
    ON(l->pp = 4, l->vp = 2, l->schedule = MYR_SCHEDULE_INTERLEAVED);
    ON(l->pp = 4, l->vp = 4, l->schedule = MYR_SCHEDULE_INTERLEAVED);
    ON(l->pp = 4, l->vp = 1, l->schedule = MYR_SCHEDULE_1F1B, l->first_layers = 6,
       l->last_layers = 8);
    ON(l->pp = 2, l->vp = 1, l->schedule = MYR_SCHEDULE_1F1B, l->first_layers = 15,
       l->last_layers = 17);
    ON(l->pp = 3, l->vp = 1, l->schedule = MYR_SCHEDULE_1F1B);
    ON(l->micro_batch = 2, l->global_batch *= 2);
    ON(l->seq_tokens = 2048);
    ON(l->order[2] = MYR_AXIS_PP, l->order[3] = MYR_AXIS_EP, l->order[4] = MYR_AXIS_DP);
    ON(l->order[2] = MYR_AXIS_EP, l->order[3] = MYR_AXIS_PP, l->order[4] = MYR_AXIS_DP);
    ON(l->order[0] = MYR_AXIS_CP, l->order[1] = MYR_AXIS_TP);
}

static void change_recipe(struct myr_recipe *r, uint32_t which, struct change *change)
{
    static const uint8_t values[] = {4, 5, 3, 2, 2, 2, 6, 2};
    MYR_ASSERT(MYR_ARRAY_COUNT(values) == MYR_CAPABILITY_PARTS); /* words of each capability */
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(values); i++) {
        for (uint8_t k = 0; k < values[i]; k++) {
            ON(r->of[i] = k);
        }
    }
    for (uint8_t k = 0; k < values[MYR_CAPABILITY_GRAPHS]; k++) {
        ON(r->of[MYR_CAPABILITY_GRAPHS] = k, r->of[MYR_CAPABILITY_TOKEN_DROP] = 1,
           r->of[MYR_CAPABILITY_DISPATCHER] = MYR_DISPATCH_ALL_TO_ALL);
        ON(r->of[MYR_CAPABILITY_GRAPHS] = k, r->of[MYR_CAPABILITY_TOKEN_DROP] = 1,
           r->of[MYR_CAPABILITY_DISPATCHER] = MYR_DISPATCH_DEEPEP);
        ON(r->of[MYR_CAPABILITY_GRAPHS] = k,
           r->of[MYR_CAPABILITY_DISPATCHER] = MYR_DISPATCH_HYBRIDEP,
           r->of[MYR_CAPABILITY_GROUPED] = MYR_GROUPED_FUSED);
    }
    ON(memset(r->of, 0, sizeof(r->of)));
}

static void change_both(struct variant *v, uint32_t which, struct change *change)
{
    struct myr_layout *l = &v->layout;
    struct myr_recipe *r = &v->recipe;
    const uint8_t scales = MYR_SCALES_ROWS + 1;
    for (uint8_t k = 0; k < scales; k++) {
        ON(l->precision = MYR_PRECISION_FP8, r->of[MYR_CAPABILITY_SCALES] = k);
    }
    ON(l->recompute = MYR_RECOMPUTE_FULL, r->of[MYR_CAPABILITY_GRAPHS] = MYR_GRAPHS_LAYER);
    ON(l->offload_layers = 1, r->of[MYR_CAPABILITY_GRAPHS] = MYR_GRAPHS_PARTS);
    ON(l->sequence_parallel = false, r->of[MYR_CAPABILITY_TENSOR_OVERLAP] = 1);
    ON(v->device.generation = MYR_GENERATION_BLACKWELL);
    ON(v->device.generation = MYR_GENERATION_AMPERE, l->precision = MYR_PRECISION_FP8);
    ON(v->device.name = "ascend-910b", r->of[MYR_CAPABILITY_TENSOR_OVERLAP] = 1);
    ON(v->stack.overlap_data = false);
    ON(v->stack.fused_loss = true);
    ON(l->tp = 4, l->etp = 2);
    ON(v->model.moe.interval = 2, v->model.moe.first_dense = 1, v->model.ffn_hidden = 4096);
    ON(v->model.moe.interval = 4, v->model.moe.first_dense = 3, v->model.ffn_hidden = 4096);
    ON(v->model.moe.interval = 4, v->model.moe.first_dense = 1, v->model.ffn_hidden = 4096);
}

/* False: there are not so many. What all models have is changed in the plain one. */
static bool make_change(struct variant *v, uint32_t which, struct change *change)
{
    *change = (struct change){};
    if (v->model.moe.expert_count > 0) {
        change_experts(&v->model, which, change);
    } else {
        change_attention(&v->model, which, change);
        change_layers(&v->model, which, change);
    }
    if (myr_model_is_mla(&v->model)) {
        change_latent(&v->model, which, change);
    }
    change_state(&v->layout, which, change);
    change_axes(&v->layout, which, change);
    change_recipe(&v->recipe, which, change);
    change_both(v, which, change);
    return change->text != NULL;
}

static const struct {
    const char *model;
    struct myr_layout layout;
    struct myr_recipe recipe;
} bases[] = {
    {"llama3-8b", {.tp = 2, .pp = 1, .vp = 1, .dp = 4, .ep = 1}, {{}}},
    {"mixtral-8x7b",
     {.tp = 2, .pp = 2, .vp = 2, .dp = 8, .ep = 4, .schedule = MYR_SCHEDULE_INTERLEAVED},
     {{MYR_DISPATCH_DEEPEP, MYR_GRAPHS_PARTS, MYR_GROUPED_KERNEL, 1, 1, 0, MYR_SCALES_CURRENT, 1}}},
    {"deepseek-v3",
     {.tp = 1, .pp = 1, .vp = 1, .dp = 64, .ep = 32},
     {{MYR_DISPATCH_HYBRIDEP, MYR_GRAPHS_FULL, MYR_GROUPED_FUSED, 1, 1, 0, MYR_SCALES_BLOCKS}}},
};

static struct variant variant_of(uint32_t base, struct myr_arena *arena)
{
    const struct myr_layout *given = &bases[base].layout;
    struct variant v = {.layout = myr_layout_default(), .recipe = bases[base].recipe};
    assert_int_equal(myr_model_find(arena, bases[base].model, &v.model, NULL), MYR_OK);
    v.layout.tp = given->tp;
    v.layout.pp = given->pp;
    v.layout.vp = given->vp;
    v.layout.dp = given->dp;
    v.layout.ep = given->ep;
    v.layout.schedule = given->schedule;
    v.layout.global_batch = 256;
    v.layout.sequence_parallel = given->tp > 1;
    v.device = (struct myr_device){.name = "h100", .generation = MYR_GENERATION_HOPPER};
    v.stack = (struct myr_stack){.name = "a release", .line = "a line", .overlap_data = true};
    return v;
}

enum { LINES_MAX = 512 };

struct lines {
    const char *of[LINES_MAX];
    uint32_t count;
};

static void cut_lines(const struct myr_buf *text, struct myr_arena *arena, struct lines *ret)
{
    ret->count = 0;
    for (size_t at = 0; at < text->len;) {
        const char *end = memchr(text->data + at, '\n', text->len - at);
        size_t len = end ? (size_t)(end - text->data) - at : text->len - at;
        assert_true(ret->count < LINES_MAX);
        ret->of[ret->count++] = myr_arena_strndup(arena, text->data + at, len);
        at += len + 1;
    }
}

static void put_list(const struct myr_launch_item *items, uint32_t count, struct myr_buf *buf)
{
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_printf(buf, "%s%s%s\n", items[i].name, items[i].value ? " " : "",
                       items[i].value ? items[i].value : "");
    }
}

/* An argument a line where the trainer has arguments, its files where it reads files. */
static void tell(const struct variant *v, enum myr_trainer trainer, struct myr_arena *arena,
                 struct lines *ret)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_launch *launch = MYR_ARENA_ONE(arena, struct myr_launch);
    struct myr_launch_case of = {&v->layout, &v->model, &v->recipe, &v->device, &v->stack, true};
    myr_launch_of(&of, trainer, arena, launch);
    if (trainer == MYR_TRAINER_TORCHTITAN || trainer == MYR_TRAINER_BRIDGE) {
        struct myr_launch_run run = {
            .name = "run", .steps = 10, .node_count = 1, .gpus_per_node = 8};
        myr_launch_script(launch, &of, &run, MYR_LAUNCHER_TORCHRUN, &text);
    } else {
        put_list(launch->items, launch->item_count, &text);
        put_list(launch->config, launch->config_count, &text);
        put_list(launch->variables, launch->variable_count, &text);
        for (uint32_t i = 0; i < launch->note_count; i++) {
            myr_buf_printf(&text, "# %s\n", launch->notes[i]);
        }
    }
    cut_lines(&text, arena, ret);
}

/* Lines of 'one' that 'other' has not. */
static void put_missing(const struct lines *one, const struct lines *other, char sign,
                        struct myr_buf *buf)
{
    for (uint32_t i = 0; i < one->count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < other->count && !found; k++) {
            found = strcmp(one->of[i], other->of[k]) == 0;
        }
        if (!found) {
            myr_buf_printf(buf, "  %c %s\n", sign, one->of[i]);
        }
    }
}

static void put_changes(uint32_t base, enum myr_trainer trainer, struct myr_arena *arena,
                        struct myr_buf *buf)
{
    struct lines *before = MYR_ARENA_ONE(arena, struct lines);
    struct lines *after = MYR_ARENA_ONE(arena, struct lines);
    struct variant v = variant_of(base, arena);
    struct change change;
    tell(&v, trainer, arena, before);
    myr_buf_printf(buf, "== %s, %s\n", bases[base].model, myr_trainer_name(trainer));
    put_missing(before, after, ' ', buf);
    if (trainer == MYR_TRAINER_BRIDGE && myr_model_is_mla(&v.model)) {
        return; /* Megatron-LM's arguments, which the other models show in its words */
    }
    for (uint32_t which = 0; make_change(&v, which, &change); which++) {
        enum myr_layout_rule broken = myr_layout_broken(&v.layout, &v.model, 0);
        if (myr_model_check(&v.model, NULL) == MYR_OK && broken == MYR_LAYOUT_OK) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf lines = {};
            tell(&v, trainer, arena, after);
            put_missing(before, after, '-', &lines);
            put_missing(after, before, '+', &lines);
            if (lines.len > 0) {
                myr_buf_printf(buf, "%u: %s\n%s", which, change.text, lines.data);
            }
        } /* else there is no such run of this model */
        v = variant_of(base, arena);
    }
}

static void each_property_says_what_it_said(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_buf text = {};
    myr_arena_init(&arena);
    for (uint32_t base = 0; base < MYR_ARRAY_COUNT(bases); base++) {
        for (uint32_t t = 0; t < MYR_TRAINER_COUNT; t++) {
            put_changes(base, (enum myr_trainer)t, &arena, &text);
        }
    }
    assert_kept("launch-changes.txt", &text);
    myr_buf_done(&text);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_property_says_what_it_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
