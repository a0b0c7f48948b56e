#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>

#include "myriad/study.h"
#include "myriad/text/csv.h"

static struct myr_arena arena;
static struct myr_model dense, experts, deep; /* layers that divide, experts, layers that do not */

/* Names and values that the trainers' own parsers take; tests/data/README.md has the sources. */
struct flag {
    struct myr_str trainer, name, kind, values;
};

enum { FLAGS_MAX = 128, WORDS_MAX = 64 };
static struct flag flags[FLAGS_MAX];
static uint32_t flag_count;
static struct myr_buf file; /* what the flags point into */

static int read_flags(void)
{
    struct myr_csv csv;
    MYR_TRY(myr_file_read(MYR_SOURCE_DIR "/tests/data/trainer-flags.csv", 1 << 20, &file, NULL));
    myr_csv_init(&csv, &arena, "trainer-flags.csv", (struct myr_str){file.data, file.len});
    int rc = myr_csv_next(&csv, NULL); /* the header */
    while (rc >= 0 && (rc = myr_csv_next(&csv, NULL)) > 0 && flag_count < FLAGS_MAX) {
        flags[flag_count++] =
            (struct flag){csv.fields[0], csv.fields[1], csv.fields[2], csv.fields[3]};
    }
    return rc;
}

static int setup(void **state)
{
    (void)state;
    myr_arena_init(&arena);
    MYR_TRY(read_flags());
    MYR_TRY(myr_model_find(&arena, "gpt3-175b", &dense, NULL));
    MYR_TRY(myr_model_find(&arena, "deepseek-v3", &deep, NULL));
    return myr_model_find(&arena, "mixtral-8x7b", &experts, NULL);
}

static int teardown(void **state)
{
    (void)state;
    myr_buf_done(&file);
    myr_arena_done(&arena);
    return 0;
}

static struct myr_layout usual(void)
{
    struct myr_layout layout = myr_layout_default();
    layout.tp = 8;
    layout.pp = 8;
    layout.dp = 16;
    layout.global_batch = 512;
    layout.sequence_parallel = true;
    return layout;
}

/* The line that a trainer gets of a layout alone. */
static void write_line(struct myr_buf *buf, enum myr_trainer trainer,
                       const struct myr_layout *layout, const struct myr_model *model)
{
    struct myr_launch *launch = MYR_ARENA_ONE(&arena, struct myr_launch);
    struct myr_launch_case of = {.layout = layout, .model = model};
    myr_launch_of(&of, trainer, &arena, launch);
    myr_launch_write(launch, buf);
}

static void assert_says(enum myr_trainer trainer, const struct myr_layout *layout,
                        const struct myr_model *model, const char *words, bool wanted)
{
    struct myr_buf buf = {};
    write_line(&buf, trainer, layout, model);
    myr_buf_putc(&buf, '\0');
    if ((strstr(buf.data, words) != NULL) != wanted) {
        fail_msg("%s '%s' in: %s", wanted ? "no" : "there is", words, buf.data);
    }
    myr_buf_done(&buf);
}

static void megatron_is_told_every_axis(void **state)
{
    (void)state;
    struct myr_layout l = usual();
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--tensor-model-parallel-size 8", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--pipeline-model-parallel-size 8", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--use-distributed-optimizer", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "expert", false);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "# with CUDA_DEVICE_MAX_CONNECTIONS=1", true);
    struct myr_layout alone = myr_layout_default();
    assert_says(MYR_TRAINER_MEGATRON, &alone, &dense, "#", false);
    l.vp = 4;
    l.schedule = MYR_SCHEDULE_INTERLEAVED;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--num-layers-per-virtual-pipeline-stage 3",
                true);
    l.vp = 1;
    l.schedule = MYR_SCHEDULE_1F1B;
    l.first_layers = 10;
    l.last_layers = 14;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense,
                "--decoder-first-pipeline-num-layers 10 --decoder-last-pipeline-num-layers 14",
                true);
    l.recompute = MYR_RECOMPUTE_FULL;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--recompute-method uniform", true);
    l.recompute_layers = 5;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense,
                "--recompute-method block --recompute-num-layers 5", true);
    l.zero = 3;
    l.shard = 8;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "optim_grads_params", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--num-distributed-optimizer-instances 2", true);
    l.ep = 4;
    assert_says(MYR_TRAINER_MEGATRON, &l, &experts, "--expert-model-parallel-size 4", true);
}

/* Megatron-LM refuses rings there. */
static void an_indexer_gathers_what_a_cut_sequence_holds(void **state)
{
    (void)state;
    struct myr_layout l = usual();
    struct myr_model sparse = deep;
    sparse.indexer.head_count = 64;
    assert_says(MYR_TRAINER_MEGATRON, &l, &sparse, "--cp-comm-type", false);
    l.cp = 2;
    assert_says(MYR_TRAINER_MEGATRON, &l, &sparse, "--cp-comm-type all_gather", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &deep, "--cp-comm-type", false);
}

static void what_a_trainer_cannot_do_stands_behind_a_hash(void **state)
{
    (void)state;
    static const enum myr_axis swapped[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_PP, MYR_AXIS_EP,
                                            MYR_AXIS_DP};
    static const enum myr_axis odd[] = {MYR_AXIS_TP, MYR_AXIS_PP, MYR_AXIS_CP, MYR_AXIS_EP,
                                        MYR_AXIS_DP};
    struct myr_layout l = usual();
    memcpy(l.order, swapped, sizeof(l.order));
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--use-tp-pp-dp-mapping", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "ranks in the order", false);
    assert_says(MYR_TRAINER_TORCHTITAN, &l, &dense, "ranks in the order", true);
    assert_says(MYR_TRAINER_DEEPSPEED, &l, &dense, "ranks in the order", true);
    l.ep = 2; /* its expert groups lie before the stages, not behind them */
    assert_says(MYR_TRAINER_MEGATRON, &l, &experts, "--use-tp-pp-dp-mapping", false);
    assert_says(MYR_TRAINER_MEGATRON, &l, &experts, "ranks in the order", true);
    l.ep = 1;
    memcpy(l.order, odd, sizeof(l.order));
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "ranks in the order", true);
    l.schedule = MYR_SCHEDULE_ZERO_BUBBLE;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "this trainer has no schedule 'zero-bubble'",
                true);
    assert_says(MYR_TRAINER_TORCHTITAN, &l, &dense, "InterleavedZeroBubble", true);
    assert_says(MYR_TRAINER_DEEPSPEED, &l, &dense, "with Megatron-DeepSpeed: --tensor", true);
}

/* Half as many bytes as the trainer's default: a layout that fits with them may not without. */
static void gradients_are_summed_in_the_width_that_was_counted(void **state)
{
    (void)state;
    struct myr_layout l = usual();
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "grad-reduce-in-bf16", false);
    l.gradient_bytes = 2;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--bf16 --grad-reduce-in-bf16", true);
    assert_says(MYR_TRAINER_TORCHTITAN, &l, &dense, "it sums gradients in fp32", true);
    l.precision = MYR_PRECISION_FP16;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "grad-reduce-in-bf16", false);
    l.precision = MYR_PRECISION_BF16;
    l.gradient_bytes = 4;
    l.zero = 2;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--megatron-fsdp-main-grads-dtype fp32", true);
}

static void deepspeed_and_torchtitan_get_their_own_words(void **state)
{
    (void)state;
    struct myr_layout l = usual();
    l.tp = 1;
    l.pp = 1;
    l.dp = 1024;
    l.zero = 3;
    l.shard = 64;
    assert_says(MYR_TRAINER_DEEPSPEED, &l, &dense, "\"stage\": 3, \"mics_shard_size\": 64", true);
    assert_says(MYR_TRAINER_TORCHTITAN, &l, &dense,
                "--parallelism.data_parallel_shard_degree 64 "
                "--parallelism.data_parallel_replicate_degree 16",
                true);
    assert_says(MYR_TRAINER_TORCHTITAN, &l, &dense, "fsdp_reshard_after_forward always", true);
    l.precision = MYR_PRECISION_FP16;
    assert_says(MYR_TRAINER_DEEPSPEED, &l, &dense, "\"fp16\": {\"enabled\": true}", true);
}

/* ---- against the trainers' parsers ---- */

/* What was said, taken apart: values by name, NULL where there is none. */
struct said {
    char *text;
    const char *names[WORDS_MAX], *values[WORDS_MAX];
    uint32_t count;
};

static const struct flag *flag_of(const char *trainer, const char *name)
{
    for (uint32_t i = 0; i < flag_count; i++) {
        if (myr_str_eq(flags[i].trainer, myr_str_from(trainer)) &&
            myr_str_eq(flags[i].name, myr_str_from(name))) {
            return &flags[i];
        }
    }
    return NULL;
}

static bool is_one_of(struct myr_str values, const char *word, size_t length)
{
    for (size_t at = 0; at < values.len;) {
        size_t end = at;
        while (end < values.len && values.data[end] != ' ') {
            end++;
        }
        if (end - at == length && memcmp(values.data + at, word, length) == 0) {
            return true;
        }
        at = end + 1;
    }
    return false;
}

/* Is this value of the kind that the parser takes? */
static bool value_fits(const struct flag *flag, const char *value)
{
    if (myr_str_eq(flag->kind, MYR_STR("switch"))) {
        return value == NULL;
    }
    uint64_t number;
    size_t length = value ? strlen(value) : 0;
    if (length == 0) {
        return false;
    }
    if (myr_str_eq(flag->kind, MYR_STR("number"))) {
        return myr_str_to_u64(myr_str_from(value), &number);
    }
    if (myr_str_eq(flag->kind, MYR_STR("list"))) {
        const char *comma = strchr(value, ',');
        size_t first = comma ? (size_t)(comma - value) : length;
        return is_one_of(flag->values, value, first) &&
               (!comma || is_one_of(flag->values, comma + 1, length - first - 1));
    }
    return myr_str_eq(flag->kind, MYR_STR("text")) || is_one_of(flag->values, value, length);
}

/* Words up to 'end': those that begin with -- are names, one behind a name its value. */
static void take_words(struct said *said, char *at, const char *end)
{
    while (at < end) {
        char *next = memchr(at, ' ', (size_t)(end - at));
        next = next ? next : at + (end - at);
        *next = '\0';
        if (memcmp(at, "--", 2) == 0) {
            assert_true(said->count < WORDS_MAX);
            said->names[said->count] = at;
            said->values[said->count++] = NULL;
        } else if (said->count > 0) {
            said->values[said->count - 1] = at;
        }
        at = next + 1;
    }
}

static void take_json(struct said *said, const char *prefix, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        char name[96];
        snprintf(name, sizeof(name), "%s%s%s", prefix, prefix[0] ? "." : "", key);
        if (json_is_object(value)) {
            take_json(said, name, value);
            continue;
        }
        char text[32];
        snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
        const char *word = json_is_integer(value) ? text : json_is_true(value) ? "true" : "false";
        said->names[said->count] = myr_arena_strndup(&arena, name, strlen(name));
        said->values[said->count++] = myr_arena_strndup(&arena, word, strlen(word));
    }
}

static void say(enum myr_trainer trainer, const struct myr_layout *l, const struct myr_model *model,
                struct said *said)
{
    struct myr_buf buf = {};
    *said = (struct said){};
    write_line(&buf, trainer, l, model);
    said->text = myr_arena_strndup(&arena, buf.data, buf.len);
    char *words = myr_arena_strndup(&arena, buf.data, buf.len), *note = strstr(words, " # ");
    char *end = note ? note : words + buf.len;
    if (trainer == MYR_TRAINER_DEEPSPEED) {
        json_t *json = json_loadb(words, (size_t)(end - words), 0, NULL);
        assert_non_null(json);
        take_json(said, "", json);
        json_decref(json);
    } else {
        take_words(said, words, end);
    }
    myr_buf_done(&buf);
}

static const char *value_of(const struct said *said, const char *name)
{
    for (uint32_t i = 0; i < said->count; i++) {
        if (strcmp(said->names[i], name) == 0) {
            return said->values[i] ? said->values[i] : "";
        }
    }
    return NULL;
}

static uint32_t number_of(const struct said *said, const char *name, uint32_t otherwise)
{
    const char *value = value_of(said, name);
    uint64_t number = otherwise;
    assert_true(!value || myr_str_to_u64(myr_str_from(value), &number));
    return (uint32_t)number;
}

static void claim(bool holds, const struct said *said, const char *what)
{
    if (!holds) {
        fail_msg("%s: %s", what, said->text);
    }
}

static void check_names(const char *trainer, const struct said *said)
{
    for (uint32_t i = 0; i < said->count; i++) {
        const struct flag *flag = flag_of(trainer, said->names[i]);
        claim(flag != NULL, said, said->names[i]);
        claim(value_fits(flag, said->values[i]), said, said->names[i]);
        for (uint32_t j = 0; j < i; j++) {
            claim(strcmp(said->names[i], said->names[j]) != 0, said, "said twice");
        }
    }
    /* Notes name arguments too, of this trainer or of the one that they point to. */
    const char *note = strstr(said->text, " # ");
    while (note && (note = strstr(note, " --")) != NULL) {
        char name[96];
        size_t length = strcspn(++note, " ;");
        snprintf(name, sizeof(name), "%.*s", (int)length, note);
        claim(flag_of(trainer, name) || flag_of("megatron-deepspeed", name), said, name);
    }
}

/* '(t*4|)*2,' and the like written out: stages, and layers in all of them. */
static void read_cut(const char *cut, uint32_t *stages, uint32_t *layers)
{
    uint32_t open_layers = 0, open_stages = 0;
    *stages = 1;
    *layers = 0;
    for (const char *at = cut; *at; at++) {
        uint64_t times = 1;
        char what = *at;
        if (at[1] == '*') {
            size_t digits = strspn(at + 2, "0123456789");
            assert_true(myr_str_to_u64((struct myr_str){at + 2, digits}, &times));
            at += 1 + digits;
        }
        if (what == '(') {
            open_layers = *layers;
            open_stages = *stages;
        } else if (what == ')') {
            *layers += (uint32_t)(times - 1) * (*layers - open_layers);
            *stages += (uint32_t)(times - 1) * (*stages - open_stages);
        } else if (what == 't') {
            *layers += (uint32_t)times;
        } else if (what == '|') {
            *stages += 1;
        }
    }
}

/* What this trainer asserts about its own arguments. */
static void check_megatron(const struct said *s, const struct myr_layout *l,
                           const struct myr_model *model)
{
    uint32_t pp = number_of(s, "--pipeline-model-parallel-size", 0), stages, layers;
    const char *each = value_of(s, "--num-layers-per-virtual-pipeline-stage");
    const char *chunks = value_of(s, "--num-virtual-stages-per-pipeline-rank");
    const char *cut = value_of(s, "--pipeline-model-parallel-layout");
    bool outer = value_of(s, "--decoder-first-pipeline-num-layers") != NULL;
    claim((each != NULL) + (chunks != NULL) + (cut != NULL) <= 1, s, "one way to cut");
    claim((!each && !chunks) || pp > 1, s, "interleaving needs stages");
    claim(!each || (!outer && model->layer_count / pp %
                                      number_of(s, "--num-layers-per-virtual-pipeline-stage", 1) ==
                                  0),
          s, "layers of a chunk divide those of a stage");
    claim(cut || outer || chunks || model->layer_count % pp == 0, s, "layers divide");
    if (cut) {
        read_cut(cut, &stages, &layers);
        claim(stages == l->pp * l->vp && layers == model->layer_count, s, "the whole model");
        claim(strncmp(cut, "'E", 2) == 0 && strcmp(cut + strlen(cut) - 2, "L'") == 0, s, "ends");
    }
    bool fsdp = value_of(s, "--use-megatron-fsdp") != NULL;
    claim(!value_of(s, "--sequence-parallel") || l->tp > 1, s, "sequence parallel");
    claim(!value_of(s, "--expert-model-parallel-size") == !model->moe.expert_count, s, "experts");
    claim(!value_of(s, "--moe-grouped-gemm") == !model->moe.expert_count &&
              !value_of(s, "--moe-token-dispatcher-type") == !model->moe.expert_count,
          s, "experts as counted");
    claim(!value_of(s, "--overlap-param-gather") ||
              (value_of(s, "--use-distributed-optimizer") && value_of(s, "--overlap-grad-reduce")),
          s, "overlap");
    claim(fsdp == (value_of(s, "--ckpt-format") != NULL) &&
              fsdp == (value_of(s, "--data-parallel-sharding-strategy") != NULL),
          s, "fsdp");
    claim(!value_of(s, "--recompute-method") ||
              strcmp(value_of(s, "--recompute-granularity"), "full") == 0,
          s, "recompute");
    claim(!(value_of(s, "--fp8-format") && value_of(s, "--fp4-format")) &&
              (!value_of(s, "--fp8-recipe") || value_of(s, "--fp8-format")) &&
              !(value_of(s, "--bf16") && value_of(s, "--fp16")),
          s, "precision");
    uint32_t instances = number_of(s, "--num-distributed-optimizer-instances", 1);
    claim(l->dp * l->cp % instances == 0 && myr_layout_edp(l) % instances == 0, s, "instances");
    claim(!value_of(s, "--use-tp-pp-dp-mapping") || l->pp == 1 || myr_layout_edp(l) == l->dp, s,
          "replicas slowest: as many of experts as of attention");
    if (outer && pp > 2) {
        uint32_t inner = model->layer_count - l->first_layers - l->last_layers;
        claim(inner % (pp - 2) == 0 && inner / (pp - 2) % l->vp == 0 &&
                  l->first_layers % l->vp == 0 && l->last_layers % l->vp == 0,
              s, "outer stages");
    }
    claim(!value_of(s, "--grad-reduce-in-bf16") || value_of(s, "--bf16"), s, "gradients");
}

static void check_deepspeed(const struct said *s, const struct myr_layout *l)
{
    claim(number_of(s, "train_batch_size", 0) ==
              number_of(s, "train_micro_batch_size_per_gpu", 0) *
                  number_of(s, "gradient_accumulation_steps", 0) * l->dp,
          s, "batch");
    claim(!value_of(s, "zero_optimization.mics_shard_size") || l->zero == 3, s, "MiCS");
    claim(l->pp == 1 || l->zero < 2 || strstr(s->text, "ZeRO-0 and 1 only"), s, "pipeline");
    bool cut = l->cp > 1 && (l->tp > 1 || l->pp > 1);
    claim(cut == (strstr(s->text, "only without tensor") != NULL), s, "context parallelism");
    claim(!strstr(s->text, "with Megatron-DeepSpeed") ||
              (l->pp == 1) == (strstr(s->text, "--no-pipeline-parallel") != NULL),
          s, "one stage is no pipeline");
}

static void check_torchtitan(const struct said *s, const struct myr_layout *l,
                             const struct myr_model *model)
{
    uint32_t pp = number_of(s, "--parallelism.pipeline_parallel_degree", 0);
    uint32_t shard = number_of(s, "--parallelism.data_parallel_shard_degree", 0);
    uint32_t replicate = number_of(s, "--parallelism.data_parallel_replicate_degree", 0);
    uint32_t local = number_of(s, "--training.local_batch_size", 0);
    uint32_t each = number_of(s, "--parallelism.pipeline_parallel_layers_per_stage", 0);
    const char *schedule = value_of(s, "--parallelism.pipeline_parallel_schedule");
    claim(shard >= 1 && shard * replicate == l->dp, s, "replicas");
    claim(l->ep == 1 || shard * l->cp * l->tp % (l->ep * myr_layout_etp(l)) == 0, s,
          "expert groups inside a shard");
    claim(l->global_batch % (local * l->dp) == 0, s, "batch");
    claim(local % number_of(s, "--parallelism.pipeline_parallel_microbatch_size", 1) == 0, s,
          "micro-batch");
    claim((schedule != NULL) == (pp > 1), s, "schedule");
    if (each) {
        uint32_t layers =
            model->layer_count +
            number_of(s, "--parallelism.pipeline_parallel_first_stage_less_layers", 1) +
            number_of(s, "--parallelism.pipeline_parallel_last_stage_less_layers", 1);
        uint32_t chunks = (layers + each - 1) / each;
        claim(chunks % pp == 0, s, "chunks divide");
        claim((strcmp(schedule, "1F1B") == 0) == (chunks == pp), s, "one chunk only with 1F1B");
    }
    const char *converters = value_of(s, "--model.converters");
    claim(!converters || !strstr(converters, "grouped_mm") == !model->moe.expert_count, s, "fp8");
    claim(!value_of(s, "--parallelism.expert_parallel_degree") == !model->moe.expert_count, s,
          "experts");
}

static uint32_t check_layout(const struct myr_layout *l, const struct myr_model *model)
{
    struct said said;
    if (myr_layout_broken(l, model, 0) != MYR_LAYOUT_OK) {
        return 0;
    }
    say(MYR_TRAINER_MEGATRON, l, model, &said);
    check_names("megatron-lm", &said);
    check_megatron(&said, l, model);
    say(MYR_TRAINER_DEEPSPEED, l, model, &said);
    check_names("deepspeed", &said);
    check_deepspeed(&said, l);
    say(MYR_TRAINER_TORCHTITAN, l, model, &said);
    check_names("torchtitan", &said);
    check_torchtitan(&said, l, model);
    return 1;
}

static struct myr_layout draw_layout(struct myr_rng *rng, const struct myr_model *model)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 16};
    static const enum myr_axis orders[][MYR_LAYOUT_ORDER_COUNT] = {
        {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_DP, MYR_AXIS_PP},
        {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_PP, MYR_AXIS_DP},
        {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_PP, MYR_AXIS_EP, MYR_AXIS_DP}};
    struct myr_layout l = myr_layout_default();
    l.tp = sizes[myr_rng_below(rng, 4)];
    l.pp = sizes[myr_rng_below(rng, 5)];
    l.dp = 2 * sizes[myr_rng_below(rng, 5)];
    l.cp = sizes[myr_rng_below(rng, 3)];
    l.schedule = (enum myr_schedule)myr_rng_below(rng, 4);
    l.vp = l.schedule == MYR_SCHEDULE_INTERLEAVED ? 2 + (uint32_t)myr_rng_below(rng, 3) : 1;
    l.zero = (uint32_t)myr_rng_below(rng, 4);
    l.shard = l.zero && myr_rng_below(rng, 2) ? l.dp * l.cp >> myr_rng_below(rng, 4) : 0;
    l.micro_batch = sizes[myr_rng_below(rng, 2)];
    l.global_batch = l.dp * l.micro_batch * l.pp * 4;
    l.gradient_bytes = 2 * (uint32_t)myr_rng_below(rng, 3);
    memcpy(l.order, orders[myr_rng_below(rng, 3)], sizeof(l.order));
    l.sequence_parallel = myr_rng_below(rng, 2) && l.tp > 1;
    l.flash_attention = myr_rng_below(rng, 4) > 0;
    l.precision = (enum myr_precision)myr_rng_below(rng, 6);
    l.recompute = (enum myr_recompute)myr_rng_below(rng, 3);
    l.recompute_layers = l.recompute == MYR_RECOMPUTE_FULL ? (uint32_t)myr_rng_below(rng, 3) : 0;
    if (model->moe.expert_count) {
        l.ep = sizes[myr_rng_below(rng, 4)];
        l.etp = (uint32_t)myr_rng_below(rng, 2);
    }
    if (l.pp > 2 && myr_rng_below(rng, 3) == 0) {
        uint32_t outer = model->layer_count - model->layer_count / l.pp * (l.pp - 2);
        l.first_layers = outer / 2 / l.vp * l.vp;
        l.last_layers = outer - l.first_layers;
    }
    return l;
}

static void every_argument_is_one_that_the_trainers_know_and_goes_with_the_others(void **state)
{
    (void)state;
    const struct myr_model *models[] = {&dense, &experts, &deep};
    uint32_t checked = 0;
    assert_true(flag_count > 60);
    for (uint64_t seed = 1; seed <= 6000; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 0);
        const struct myr_model *model = models[seed % 3];
        struct myr_layout l = draw_layout(&rng, model);
        checked += check_layout(&l, model);
    }
    assert_true(checked > 1500);
}

static void layers_that_do_not_divide_are_named_chunk_by_chunk(void **state)
{
    (void)state;
    struct myr_layout l = usual();
    l.tp = 1;
    l.sequence_parallel = false;
    l.pp = 16;
    assert_says(MYR_TRAINER_MEGATRON, &l, &deep,
                "--pipeline-model-parallel-layout 'Et*3|(t*4|)*13,t*3|t*3mL'", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &deep, "#", false);
    l.zero = 3;
    assert_says(MYR_TRAINER_DEEPSPEED, &l, &deep, "its pipelines run with ZeRO-0 and 1", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(megatron_is_told_every_axis),
        cmocka_unit_test(an_indexer_gathers_what_a_cut_sequence_holds),
        cmocka_unit_test(what_a_trainer_cannot_do_stands_behind_a_hash),
        cmocka_unit_test(gradients_are_summed_in_the_width_that_was_counted),
        cmocka_unit_test(deepspeed_and_torchtitan_get_their_own_words),
        cmocka_unit_test(every_argument_is_one_that_the_trainers_know_and_goes_with_the_others),
        cmocka_unit_test(layers_that_do_not_divide_are_named_chunk_by_chunk),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
