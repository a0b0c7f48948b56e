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

static void put_list(struct myr_answer *answer, const char *key, const struct myr_sim_words *words)
{
    myr_answer_list(answer, key);
    for (uint32_t i = 0; i < words->count; i++) {
        myr_answer_text(answer, NULL, words->items[i]);
    }
    myr_answer_end(answer);
}

/* What was asked of the run that was saved: here no option says it. By the names of 'sim'. */
static void put_saved(struct myr_answer *answer, const struct myr_sim_question *question)
{
    myr_answer_object(answer, "saved");
    myr_answer_text(answer, "design", question->design);
    myr_answer_text(answer, "topology", question->topology);
    put_list(answer, "workloads", &question->workloads);
    put_list(answer, "fault", &question->faults);
    put_list(answer, "slow", &question->slow);
    myr_answer_text(answer, "lb", myr_policy_names[question->balance.policy]);
    myr_answer_u64(answer, "seed", question->balance.seed);
    myr_answer_bool(answer, "polarised", question->balance.polarised);
    myr_answer_u64(answer, "queue_pairs", question->queue_pairs);
    myr_answer_u64(answer, "efficiency", question->efficiency_permille);
    myr_answer_u64(answer, "sharing_loss", question->sharing_loss_permille);
    myr_answer_u64(answer, "pause", question->pause_permille);
    myr_answer_text(answer, "message_overhead", question->message_overhead);
    myr_answer_text(answer, "routes", question->routes);
    myr_answer_end(answer);
}

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
    put_saved(&cli->answer, &question);
    cli_sim_put(cli, &question, &sim);
    return MYR_OK;
}

const struct cli_verb cli_sim_resume_verb = {.row = &cli_sim_resume_command, .run = run};
