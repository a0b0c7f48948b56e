#include "fit.h"

static struct {
    uint32_t format;
    struct cli_fit_question question;
    struct cli_fit_calibration calibration;
    const char *log;
} options = {.question = {.software = "NeMo 25.05", .zero = 4, .top = 5}};

#define COUNT_OPTION(word, field, most, text)                             \
    {                                                                     \
        .name = word, .type = MYR_OPTION_U64, .value = "N", .help = text, \
        .target = &options.question.field, .min = 1, .max = most          \
    }
#define NAME_OPTION(word, field, text)                                        \
    {                                                                         \
        .name = word, .type = MYR_OPTION_TEXT, .value = "NAME", .help = text, \
        .target = &options.question.field                                     \
    }
#define CHOICE_OPTION(word, field, names, text)                                 \
    {                                                                           \
        .name = word, .type = MYR_OPTION_CHOICE, .value = "WORD", .help = text, \
        .target = &options.question.field, .choices = names,                    \
        .choice_count = MYR_ARRAY_COUNT(names)                                  \
    }

#define PATH_OPTION(word, field, text)                                        \
    {                                                                         \
        .name = word, .type = MYR_OPTION_PATH, .value = "FILE", .help = text, \
        .target = &options.field                                              \
    }

static const struct myr_option option_rows[] = {
    CLI_OUTPUT_OPTION(options.format),
    NAME_OPTION("model", model, "a built-in model, a model file or a config.json"),
    NAME_OPTION("device", device, "a100-80, h100, h200, b200, gb200, ..."),
    NAME_OPTION("software", software, "release of the trainer"),
    PATH_OPTION("profile", question.profile, "your own constants, as 'calibrate' writes them"),
    PATH_OPTION("kernels", calibration.kernels, "with 'calibrate': a sweep of 'myriad bench gpu'"),
    PATH_OPTION("out", calibration.out, "with 'calibrate': where the profile goes"),
    PATH_OPTION("report", question.report, "write a page with plots"),
    {.name = "plots",
     .type = MYR_OPTION_PATH,
     .value = "DIR",
     .help = "write the plots as SVG files",
     .target = &options.question.plots},
    PATH_OPTION("log", log, "with 'compare': a Megatron-LM log"),
    {.name = "constants",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "with 'calibrate': fit at most so many",
     .target = &options.calibration.constants,
     .max = MYR_CALIBRATE_FREE_MAX},
    PATH_OPTION("design", question.design, "the planned cluster: GPUs, NICs, levels, contention"),
    COUNT_OPTION("gpus", gpus, 1 << 24, "how many; the design's when absent"),
    {.name = "pool",
     .type = MYR_OPTION_LIST,
     .value = "DEVICE:GPUS",
     .help = "a kind of GPUs among several",
     .target = &options.question.pools},
    COUNT_OPTION("batch", batch, 1 << 24, "sequences in one step"),
    COUNT_OPTION("seq", seq, 1 << 24, "tokens of a sequence"),
    COUNT_OPTION("tp", tp, 1024, "fixes tensor parallelism"),
    COUNT_OPTION("pp", pp, 4096, "fixes pipeline stages"),
    COUNT_OPTION("vp", vp, 1024, "fixes chunks a stage"),
    COUNT_OPTION("dp", dp, 1 << 24, "fixes data parallelism"),
    COUNT_OPTION("cp", cp, 1024, "fixes context parallelism"),
    COUNT_OPTION("ep", ep, 4096, "fixes expert parallelism"),
    COUNT_OPTION("mbs", mbs, 4096, "fixes the micro-batch"),
    {.name = "zero",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "fixes the ZeRO stage",
     .target = &options.question.zero,
     .max = 3},
    CHOICE_OPTION("recompute", recompute, cli_fit_recomputes, "fixes recomputation"),
    CHOICE_OPTION("schedule", schedule, cli_fit_schedules,
                  "fixes the schedule; stack: those it runs"),
    CHOICE_OPTION("precision", precision, cli_fit_precisions,
                  "of the products; any: all that are faster"),
    {.name = "top",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "how many layouts to show",
     .target = &options.question.top,
     .min = 1,
     .max = MYR_FIT_TOP_MAX},
    {.name = "exhaustive",
     .type = MYR_OPTION_FLAG,
     .help = "visit every layout one by one; slow, same answer",
     .target = &options.question.exhaustive},
};

const struct myr_command *cli_fit_command(void)
{
    static const struct myr_command command = {
        .name = "fit",
        .operands = "[validate CSV | calibrate [CSV] | compare | constants | curve]",
        .summary = "step time, memory and the best parallel layout of a model",
        .details = "Without an operand: the layout with the shortest step among those that fit "
                   "in memory. 'validate CSV' compares the model with measured runs; 'calibrate "
                   "CSV' draws the constants to your own runs, with the error of each run left "
                   "out; 'compare --log FILE' holds a Megatron-LM log against the model, phase by "
                   "phase (-o csv: as a row for 'calibrate'); 'constants' "
                   "lists the "
                   "fitted numbers with unit and meaning; 'curve' "
                   "follows the best layout from 8 GPUs to --gpus.",
        .example = "myriad fit --model gpt3-175b --gpus 1024 --device h100 --batch 1536",
        .options = option_rows,
        .option_count = MYR_ARRAY_COUNT(option_rows),
        .operand_min = 0,
        .operand_max = 2,
    };
    return &command;
}

int cli_fit(const struct myr_operands *operands)
{
    struct myr_err err = {0};
    bool json = cli_fit_is_json(options.format);
    const char *word = operands->count ? operands->items[0] : "";
    if (strcmp(word, "constants") == 0 && operands->count == 1) {
        return cli_fit_constants(options.question.profile, options.format);
    }
    if (strcmp(word, "validate") == 0 && operands->count == 2) {
        return cli_fit_validate(operands->items[1], options.question.profile, options.format);
    }
    if (strcmp(word, "compare") == 0 && operands->count == 1) {
        return cli_fit_compare(&options.question, options.log, options.format);
    }
    if (options.format == MYR_FORMAT_CSV) {
        (void)myr_err_set(&err, MYR_EINVAL, "an answer with parts of many kinds has no CSV form");
        myr_err_hint(&err, "-o json or -o yaml would work; validate, compare and constants have "
                           "-o csv");
        return cli_error(&err);
    }
    if (strcmp(word, "calibrate") == 0) {
        options.calibration.runs = operands->count > 1 ? operands->items[1] : NULL;
        options.calibration.profile = options.question.profile;
        return cli_fit_calibrate(&options.calibration, json);
    }
    if (strcmp(word, "curve") == 0 && operands->count == 1) {
        return cli_fit_curve(&options.question, json);
    }
    if (operands->count == 0) {
        return options.question.pools.count ? cli_fit_pool(&options.question, json)
                                            : cli_fit_search(&options.question, json);
    }
    (void)myr_err_set(&err, MYR_EINVAL, "fit does not know what to do with '%.60s'", word);
    myr_err_hint(&err, "myriad fit --model M ..., or myriad fit validate CSV, calibrate CSV, "
                       "compare, constants, curve");
    return cli_error(&err);
}
