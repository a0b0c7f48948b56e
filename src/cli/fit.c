#include "fit.h"

#include <stdio.h>

static struct {
    uint32_t format;
} options;

const struct myr_command *cli_fit_command(void)
{
    static const struct myr_option rows[] = {
        {.name = "output",
         .letter = 'o',
         .type = MYR_OPTION_CHOICE,
         .value = "FORMAT",
         .help = "how to print the result",
         .target = &options.format,
         .choices = myr_format_names,
         .choice_count = MYR_FORMAT_COUNT},
    };
    static const struct myr_command command = {
        .name = "fit",
        .operands = "[validate CSV | constants]",
        .summary = "step time, memory and the best parallel layout of a model",
        .details = "'validate CSV' compares the model with measured runs; 'constants' lists the "
                   "fitted numbers with unit and meaning.",
        .example = "myriad fit validate tests/data/published-runs.csv -o json",
        .options = rows,
        .option_count = MYR_ARRAY_COUNT(rows),
        .operand_min = 0,
        .operand_max = 2,
    };
    return &command;
}

int cli_fit(const struct myr_operands *operands)
{
    struct myr_err err = {0};
    bool json = strcmp(myr_format_names[options.format], "json") == 0;
    const char *word = operands->count ? operands->items[0] : "";
    if (strcmp(word, "constants") == 0 && operands->count == 1) {
        return cli_fit_constants(json);
    }
    if (strcmp(word, "validate") == 0 && operands->count == 2) {
        return cli_fit_validate(operands->items[1], json);
    }
    (void)myr_err_set(&err, MYR_EINVAL, "fit does not know what to do with '%.60s'", word);
    myr_err_hint(&err, "myriad fit validate CSV, or myriad fit constants");
    return cli_error(&err);
}
