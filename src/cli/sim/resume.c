/*
 * sim resume: the rest of a run that was saved. What was asked is in the saved file: only the
 * outputs can be asked for anew.
 */
#include "cli.h"
#include "sim/sim.h"

struct options {
    const char *report, *heatmap, *fct, *flows, *paths, *trace, *series;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_OUTPUT("report", "FILE.html", struct options, report, "also write a page about the run"),
    CLI_OUTPUT("heatmap", "FILE.svg", struct options, heatmap, "also draw the load of the links"),
    CLI_OUTPUT("fct", "FILE.csv", struct options, fct,
               "also write a row for each flow: when it ran, what held it back"),
    CLI_OUTPUT("flows", "FILE.csv", struct options, flows,
               "also write every task and what it waited for; a workload (file:FILE.csv)"),
    CLI_OUTPUT("paths", "FILE.csv", struct options, paths,
               "also write the links of every flow; only of a run that was saved with --paths"),
    CLI_OUTPUT("trace", "FILE.json", struct options, trace,
               "also write the run as a timeline for Perfetto"),
    CLI_OUTPUT("series", "FILE.csv", struct options, series,
               "also write what each link carried; only of a run that was saved with --series"),
};

const struct myr_command cli_sim_resume_command = {
    .name = "sim resume",
    .operands = "FILE",
    .summary = "go on with a run that sim --save has kept",
    .details = "The answer is that of the whole run, to the last bit the same as if it had not "
               "been stopped. The design and the files that the run reads are read again, and must "
               "not have changed; a damaged file is refused.",
    .example = "myriad sim resume run.state --fct flows.csv",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = 1,
};

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress;
    MYR_CLEANUP(myr_sim_answer_done) struct myr_sim_answer sim = {};
    const struct options *options = cli->options;
    struct myr_sim_files files = {options->report, options->heatmap, options->fct,   options->flows,
                                  options->paths,  options->trace,   options->series};
    cli_progress(&progress, "simulating", 0);
    struct myr_sim_question question = {.progress = cli_sim_progress,
                                        .progress_context = &progress};
    MYR_TRY(myr_sim_resume(&sim, &question, cli->operands.items[0], err));
    /* What a run did not keep cannot be had afterwards: the saved part of it is over. */
    if (options->paths && !question.keep_paths) {
        return myr_err_set(err, MYR_EINVAL, "--paths: the run was saved without --paths");
    }
    if (options->series && !question.series_step) {
        return myr_err_set(err, MYR_EINVAL, "--series: the run was saved without --series");
    }
    MYR_TRY(myr_sim_files_write(&sim, &files, err));
    cli_sim_put(cli, &question, &sim);
    return MYR_OK;
}

const struct cli_verb cli_sim_resume_verb = {.row = &cli_sim_resume_command, .run = run};
