/* init spec: a commented spec to start from. */
#include "myriad/plan/start.h"

#include <unistd.h>

#include "plan/plan.h"

struct options {
    uint64_t gpus;
    const char *server;
    uint32_t fabric;
    struct myr_option_list catalogs;
};

static const struct options defaults = {.gpus = 512};

static const struct myr_option rows[] = {
    CLI_COUNT("gpus", struct options, gpus, 1, CLI_PLAN_GPUS_MAX, "how many GPUs"),
    {CLI_ROW("server", MYR_OPTION_TEXT, "NAME", struct options, server,
             "what they are in: h100, h200, b200, gb200 (default: h100-8gpu)"),
     .young = true},
    CLI_CHOICE("fabric", "WORD", struct options, fabric, myr_fabric_names,
               "what the compute network speaks"),
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
};

const struct myr_command cli_init_spec_command = {
    .name = "init spec",
    .operands = "[FILE]",
    .summary = "write a commented spec to start from",
    .details = "FILE is cluster.yaml unless it is named; nothing is overwritten. The spec is the "
               "one that 'myriad plan --gpus' plans with the same options. CSV output has what "
               "was assumed.",
    .example = "myriad init spec cluster.yaml --gpus 2000 --server h200 --fabric roce",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 1,
    .young = true,
};

/* The key is there in any case, with an empty list where a spec was given. */
const struct myr_value *cli_put_assumed(struct cli *cli, const struct myr_start_text *text)
{
    const struct myr_value *list = myr_answer_list(&cli->answer, "assumed");
    for (size_t i = 0; text && i < text->assumed.count; i++) {
        myr_answer_object(&cli->answer, NULL);
        myr_answer_text(&cli->answer, "what", text->assumed.items[i]);
        myr_answer_end(&cli->answer);
    }
    myr_answer_end(&cli->answer);
    return list;
}

void cli_show_assumed(struct cli *cli, const struct myr_value *list)
{
    static const struct myr_answer_column columns[] = {MYR_COLUMN("what", "ASSUMED", 0)};
    myr_answer_table(&cli->answer, list, columns, MYR_ARRAY_COUNT(columns));
}

/* What makes the spec is in it now; own parts are not. */
static void hint_next(struct cli *cli, const struct options *options, const char *file)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    myr_buf_printf(&line, "myriad plan %s", myr_answer_input(&cli->answer, file));
    for (uint32_t i = 0; i < options->catalogs.count; i++) {
        myr_buf_printf(&line, " --catalog %s",
                       myr_answer_input(&cli->answer, options->catalogs.items[i]));
    }
    myr_answer_next(&cli->answer, NULL, "%s", line.data);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    const char *file = cli->operands.count ? cli->operands.items[0] : "cluster.yaml";
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_CLEANUP(myr_start_done) struct myr_start_text text = {};
    /* The same as 'plan --gpus' makes: what is written here is what is planned there. */
    struct myr_plan_start start = {options->gpus, options->server, options->fabric};
    if (strcmp(file, "-") != 0 && access(file, F_OK) == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s: is there already; nothing is overwritten", file);
    }
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_TRY(myr_start_write(&cli->arena, &catalog, &start, &text, err));
    if (strcmp(file, "-") == 0) {
        myr_buf_put(&cli->document, text.spec.data, text.spec.len);
        return MYR_OK;
    }
    MYR_TRY(myr_file_write(file, &text.spec, err));
    myr_answer_text(&cli->answer, "file", file);
    const struct myr_value *assumed = cli_put_assumed(cli, &text);
    myr_answer_rows(&cli->answer, assumed);
    myr_answer_fact(&cli->answer, "written", "%s", file);
    cli_show_assumed(cli, assumed);
    hint_next(cli, options, file);
    return MYR_OK;
}

const struct cli_verb cli_init_spec_verb = {&cli_init_spec_command, run, .group = NULL};
