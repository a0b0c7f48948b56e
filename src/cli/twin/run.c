/*
 * twin run: a scenario, once. Outputs are looked at before it runs, written behind it, and only
 * then the answer is filled.
 */
#include "twin/twin.h"

struct options {
    uint64_t seed;
    const char *save, *state, *report;
};

static const struct options defaults = {.seed = 1};

static const struct myr_option rows[] = {
    CLI_COUNT("seed", struct options, seed, 0, 0, "of everything that is drawn"),
    CLI_OUTPUT("save", "FILE", struct options, save,
               "write scenario, seed and hash there, for twin replay"),
    CLI_OUTPUT("state", "FILE", struct options, state,
               "write the controller's last state there, for whatif"),
    CLI_OUTPUT("report", "FILE", struct options, report, "figures and plots on one HTML page"),
};

const struct myr_command twin_run_command = {
    .name = "twin run",
    .operands = "SCENARIO",
    .summary = "run a scenario in virtual time under the real controller",
    .details =
        "The scenario is YAML: cluster, jobs, faults, and what else goes wrong (docs/twin.md)."
        " Invariants are checked on every event; exit status 1 says that one was broken. CSV "
        "output lists what happened.",
    .example = "myriad twin run examples/twin/day-10k.yaml --seed 7",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = 1,
};

/*
 * Before the answer: what cannot be written is an error, and then nothing is printed, nor is one
 * of them there without the others.
 */
static int write_files(const struct options *options, const struct myr_scenario *scenario,
                       const struct myr_twin_result *result, const struct myr_buf *state,
                       struct myr_err *err)
{
    MYR_CLEANUP(myr_file_set_abandon) struct myr_file_set set = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(myr_file_set_begin(&set, NULL, err));
    if (options->save) {
        myr_twin_case_write(scenario, result, &text);
        MYR_TRY(myr_file_set_add(&set, options->save, &text, err));
    }
    if (options->state) {
        MYR_TRY(myr_file_set_add(&set, options->state, state, err));
    }
    if (options->report) {
        myr_buf_clear(&text);
        myr_twin_page(scenario, result, &text);
        MYR_TRY(myr_file_set_add(&set, options->report, &text, err));
    }
    return myr_file_set_commit(&set, err);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_scenario_done) struct myr_scenario scenario = {};
    MYR_CLEANUP(myr_twin_result_done) struct myr_twin_result result = {};
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf state = {};
    int rc = myr_scenario_read(&scenario, &cli->arena, cli->operands.items[0], err);
    if (rc < 0) {
        return rc;
    }
    struct myr_twin_options how = {.seed = options->seed,
                                   /* Only the page has plots. */
                                   .samples = options->report ? MYR_TWIN_SAMPLES : 0,
                                   .snapshot = options->state ? &state : NULL,
                                   .progress = twin_progress,
                                   .context = &progress};
    cli_progress(&progress, "simulated seconds", (uint64_t)(scenario.length_ms / 1000));
    /* The run alone, without reading the scenario and writing files. */
    int64_t start_ns = myr_clock_ns();
    rc = myr_twin_run(&scenario, &how, &result, err);
    int64_t took_ns = myr_clock_ns() - start_ns;
    myr_progress_done(&progress);
    if (rc == MYR_OK) {
        rc = write_files(options, &scenario, &result, &state, err);
    }
    if (rc == MYR_OK) {
        myr_answer_text(&cli->answer, "scenario", scenario.name);
        myr_answer_rows(&cli->answer, twin_put_result(&cli->answer, &result));
        myr_answer_timing(&cli->answer, "run_s", (double)took_ns / 1e9, 3);
        twin_show_result(&cli->answer, &result);
        cli->no = result.violations > 0;
    }
    return rc;
}

const struct cli_verb cli_twin_run_verb = {.row = &twin_run_command, .run = run};
