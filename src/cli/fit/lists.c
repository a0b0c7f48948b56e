/*
 * fit models, devices, constants: what a question can name, and what the model knows. Each is one
 * list with a table over it; what a verb of fit takes by name can be looked up here.
 */
#include "fit/fit.h"

/* Of stacks and constants; models and devices are the same for everybody. */
struct options {
    const char *profile;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_PATH("profile", "FILE", struct options, profile,
             "your own constants, as 'fit calibrate' writes them"),
};

static const struct nothing {
    char none; /* no options of its own */
} nothing;

#define NO_OPTIONS \
    .defaults = &nothing, .values_bytes = sizeof(nothing), .common = &cli_common_table

const struct myr_command cli_fit_models_command = {
    .name = "fit models",
    .operands = "",
    .summary = "list the built-in models",
    .details = "--model takes one of these names, the first words of one ('qwen3-235b'), a model "
               "file or a Hugging Face config.json.",
    .example = "myriad fit models",
    NO_OPTIONS,
};

const struct myr_command cli_fit_devices_command = {
    .name = "fit devices",
    .operands = "",
    .summary = "list the kinds of GPUs that the model knows",
    .example = "myriad fit devices",
    NO_OPTIONS,
};

const struct myr_command cli_fit_stacks_command = {
    .name = "fit stacks",
    .operands = "",
    .summary = "list the releases of trainers that the model knows",
    .details = "--software takes one of these names; an unknown release takes the nearest earlier "
               "one of its line. What a run of it switches on is decided by release, device, "
               "precision and model (catalog/profiles/stacks.yaml), or by --recipe.",
    .example = "myriad fit stacks",
    CLI_OPTIONS(rows, defaults),
};

const struct myr_command cli_fit_constants_command = {
    .name = "fit constants",
    .operands = "",
    .summary = "list the fitted numbers with unit and meaning",
    .example = "myriad fit constants -o csv",
    CLI_OPTIONS(rows, defaults),
};

static int run_models(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("name", "MODEL", 0),
        {"billion", "BILLION", MYR_COLUMN_NUMBER, 1},
        {"active_billion", "ACTIVE", MYR_COLUMN_NUMBER, 1},
        MYR_COLUMN("layers", "LAYERS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("hidden", "HIDDEN", MYR_COLUMN_NUMBER),
        MYR_COLUMN("experts", "EXPERTS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("sequence", "SEQUENCE", MYR_COLUMN_NUMBER),
    };
    struct myr_answer *answer = &cli->answer;
    struct myr_value *list = myr_answer_list(answer, "models");
    for (uint32_t i = 0; i < myr_model_builtin_count(); i++) {
        struct myr_str name = myr_model_builtin_name(i);
        struct myr_model model;
        /* Read in full, so that parameters are counted and not written down. */
        MYR_TRY(myr_model_find(&cli->arena, myr_arena_strndup(&cli->arena, name.data, name.len),
                               &model, err));
        struct myr_params params = myr_model_params(&model);
        myr_answer_object(answer, NULL);
        myr_answer_str(answer, "name", name);
        myr_answer_u64(answer, "parameters", params.total);
        myr_answer_double(answer, "billion", (double)params.total / 1e9, 3);
        myr_answer_double(answer, "active_billion", (double)params.active / 1e9, 3);
        myr_answer_u64(answer, "layers", model.layer_count);
        myr_answer_u64(answer, "hidden", model.hidden);
        myr_answer_u64(answer, "experts", model.moe.expert_count);
        myr_answer_u64(answer, "sequence", model.seq_tokens);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_next(answer, NULL,
                    "myriad fit --model llama3-70b --device h100 --gpus 512 --batch 512");
    return MYR_OK;
}

const struct cli_verb cli_fit_models_verb = {&cli_fit_models_command, run_models, .group = NULL};

/* Null where --precision would refuse it: the device has no units for it. */
static void put_peak(struct myr_answer *answer, const char *key, const struct myr_device *device,
                     enum myr_precision precision)
{
    enum myr_precision list[4];
    uint32_t count = myr_fit_precisions(device, list);
    bool known = false;
    for (uint32_t i = 0; i < count; i++) {
        known = known || list[i] == precision;
    }
    cli_put_known(answer, key, known, myr_device_peak(device, precision) / 1e12, 1);
}

static int run_devices(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("name", "DEVICE", 0),
        MYR_COLUMN("bf16_tflops", "BF16 TFLOP/s", MYR_COLUMN_NUMBER),
        MYR_COLUMN("fp8_tflops", "FP8 TFLOP/s", MYR_COLUMN_NUMBER),
        MYR_COLUMN("memory_gib", "GiB", MYR_COLUMN_NUMBER),
        MYR_COLUMN("memory_gb_per_s", "GB/s", MYR_COLUMN_NUMBER),
        MYR_COLUMN("domain_gpus", "DOMAIN", MYR_COLUMN_NUMBER),
        MYR_COLUMN("nic_gbps", "NIC Gb/s", MYR_COLUMN_NUMBER),
        MYR_COLUMN("power_w", "W", MYR_COLUMN_NUMBER),
        MYR_COLUMN("measured", "MEASURED", 0),
    };
    struct myr_answer *answer = &cli->answer;
    struct myr_profiles profiles;
    MYR_TRY(myr_profiles_init(&profiles, &cli->arena, err));
    struct myr_value *list = myr_answer_list(answer, "devices");
    for (uint32_t i = 0; i < profiles.device_count; i++) {
        const struct myr_device *d = &profiles.devices[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "name", d->name);
        myr_answer_text(answer, "alias", d->alias);
        myr_answer_double(answer, "bf16_tflops", d->bf16_flops / 1e12, 1);
        put_peak(answer, "fp8_tflops", d, MYR_PRECISION_FP8);
        put_peak(answer, "fp4_tflops", d, MYR_PRECISION_NVFP4);
        myr_answer_double(answer, "memory_gib", d->memory_bytes / 1073741824, 1);
        myr_answer_double(answer, "memory_gb_per_s", d->memory_bytes_per_s / 1e9, 0);
        myr_answer_u64(answer, "domain_gpus", d->domain_gpus);
        myr_answer_double(answer, "domain_gb_per_s", d->domain_bytes_per_s / 1e9, 0);
        myr_answer_double(answer, "nic_gbps", d->nic_gbps, 0);
        myr_answer_double(answer, "power_w", d->power_w, 0);
        myr_answer_bool(answer, "measured", !d->extrapolated); /* published runs stand behind it */
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    return MYR_OK;
}

const struct cli_verb cli_fit_devices_verb = {&cli_fit_devices_command, run_devices, .group = NULL};

/* In the order of enum myr_era. */
static const char *era_word(enum myr_era era)
{
    static const char *const words[] = {"unfused", "flash attention", "fused", "FSDP", "PyTorch"};
    return words[era];
}

static int run_stacks(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("name", "STACK", 0),          MYR_COLUMN("line", "LINE", 0),
        MYR_COLUMN("kernels", "KERNELS", 0),     MYR_COLUMN("rules", "RULES", MYR_COLUMN_NUMBER),
        MYR_COLUMN("usual_for", "TAKEN FOR", 0),
    };
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    struct myr_profiles profiles;
    MYR_TRY(myr_profiles_init(&profiles, &cli->arena, err));
    MYR_TRY(options->profile ? myr_profiles_load(&profiles, &cli->arena, options->profile, err)
                             : MYR_OK);
    struct myr_value *list = myr_answer_list(answer, "stacks");
    for (uint32_t i = 0; i < profiles.stack_count; i++) {
        const struct myr_stack *stack = &profiles.stacks[i];
        MYR_CLEANUP(myr_buf_done) struct myr_buf devices = {};
        uint32_t rules = 0;
        /* Rules of its line that hold from some release on, and before some other. */
        for (uint32_t k = 0; k < profiles.rule_count; k++) {
            const struct myr_recipe_rule *rule = &profiles.rules[k];
            rules += strcmp(rule->line, stack->line) == 0 && stack->order >= rule->from &&
                     stack->order < rule->to;
        }
        for (uint32_t k = 0; k < profiles.device_count; k++) {
            /* Those for which it is taken where --software names none. */
            if (strcmp(profiles.devices[k].software, stack->name) == 0) {
                myr_buf_printf(&devices, "%s%s", devices.len ? " " : "", profiles.devices[k].name);
            }
        }
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "name", stack->name);
        myr_answer_text(answer, "line", stack->line);
        myr_answer_text(answer, "kernels", era_word(stack->era));
        myr_answer_text(answer, "weights", myr_weights_name(stack->weights));
        myr_answer_bool(answer, "overlap_data", stack->overlap_data);
        myr_answer_u64(answer, "rules", rules);
        myr_answer_str(answer, "usual_for", (struct myr_str){devices.data, devices.len});
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    return MYR_OK;
}

const struct cli_verb cli_fit_stacks_verb = {&cli_fit_stacks_command, run_stacks, .group = NULL};

static int run_constants(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("name", "CONSTANT", 0),
        {"value", "VALUE", MYR_COLUMN_NUMBER, 4},
        MYR_COLUMN("unit", "UNIT", 0),
        MYR_COLUMN("meaning", "MEANING", 0),
        {"prior", "PRIOR", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 4},
        {"min", "MIN", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 4},
        {"max", "MAX", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 4},
    };
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    struct myr_profiles profiles;
    MYR_TRY(myr_profiles_init(&profiles, &cli->arena, err));
    MYR_TRY(options->profile ? myr_profiles_load(&profiles, &cli->arena, options->profile, err)
                             : MYR_OK);
    struct myr_value *list = myr_answer_list(answer, "constants");
    for (uint32_t i = 0; i < profiles.constant_count; i++) {
        /* The value is the profile's; prior and bounds belong to the constant itself. */
        const struct myr_constant *constant = myr_fit_constant(i);
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "name", constant->name);
        myr_answer_double(answer, "value", profiles.constants[i], 6);
        myr_answer_text(answer, "unit", constant->unit);
        myr_answer_double(answer, "prior", constant->prior, 6);
        myr_answer_double(answer, "min", constant->min, 6);
        myr_answer_double(answer, "max", constant->max, 6);
        myr_answer_text(answer, "meaning", constant->meaning);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    return MYR_OK;
}

const struct cli_verb cli_fit_constants_verb = {&cli_fit_constants_command, run_constants,
                                                .group = NULL};
