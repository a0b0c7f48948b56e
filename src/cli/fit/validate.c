/*
 * fit validate: the model's error on measured runs. Every row of a table of runs is predicted and
 * held against its measurement; the answer has the rows, the errors by family, and what could not
 * be expressed.
 */
#include "fit/fit.h"

struct options {
    const char *profile;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_PATH("profile", "FILE", struct options, profile,
             "your own constants, as 'fit calibrate' writes them"),
};

const struct myr_command cli_fit_validate_command = {
    .name = "fit validate",
    .operands = "CSV",
    .summary = "the model's error on measured runs",
    .details = "Columns as in tests/data/published-runs.csv; what a row leaves open takes the "
               "value that the model finds best, and is told.",
    .example = "myriad fit validate tests/data/published-runs.csv",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = 1,
};

/* What the row leaves to the model, and what was taken for a word that is not known. */
static void put_assumed(struct myr_answer *answer, const struct myr_run *run)
{
    static const char *const names[] = {"micro_batch", "vp", "recompute", "etp", "tp",
                                        "pp",          "cp", "ep",        "zero"};
    const struct myr_layout *l = &run->layout;
    const double values[] = {
        l->micro_batch, l->vp,  run->recompute_share, myr_layout_etp(l), l->tp, l->pp, l->cp,
        l->ep,          l->zero};
    bool known = !run->refused;
    myr_answer_object(answer, "assumed");
    /* Bits of 'open' stand in the order of these names. */
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        cli_put_known(answer, names[i], known && run->open & 1U << i, values[i], 3);
    }
    bool precision = known && run->guessed & MYR_RUN_GUESSED_PRECISION;
    bool device = known && run->guessed & MYR_RUN_GUESSED_DEVICE;
    myr_answer_text(answer, "precision", precision ? myr_precision_name(l->precision) : NULL);
    myr_answer_text(answer, "device", device ? run->it.device->name : NULL);
    bool offload = known && run->guessed & MYR_RUN_GUESSED_OFFLOAD;
    myr_answer_text(answer, "cpu_offload", offload ? "none" : NULL);
    myr_answer_text(answer, "software", known && !run->stack_exact ? run->it.stack->name : NULL);
    myr_answer_end(answer);
}

/* A run that the model cannot express has no prediction; one without a time no error. */
static void put_run(struct myr_answer *answer, const struct myr_run *run,
                    const struct myr_validation_row *row)
{
    bool known = !run->refused;
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "id", run->id);
    cli_put_known(answer, "predicted", known, row->predicted_s, 6);
    if (known) {
        cli_put_pair(answer, "interval", row->low_s, row->high_s, 6);
    } else {
        myr_answer_null(answer, "interval");
    }
    cli_put_known(answer, "measured", run->measured_s > 0, run->measured_s, 6);
    cli_put_known(answer, "error", row->compared, row->error, 3);
    cli_put_known(answer, "signed_error", row->compared, row->signed_error, 3);
    cli_put_known(answer, "peak_gib", known, row->peak_bytes / 1073741824, 3);
    cli_put_known(answer, "peak_measured_gib", known && run->peak_bytes > 0,
                  run->peak_bytes / 1073741824, 3);
    cli_put_known(answer, "peak_error", known && run->peak_bytes > 0, row->peak_error, 3);
    if (known) { /* as modelled: what ran and was measured did fit, whatever is said here */
        myr_answer_bool(answer, "fits", run->fits);
    } else {
        myr_answer_null(answer, "fits");
    }
    myr_answer_text(answer, "refused", run->refused);
    put_assumed(answer, run);
    cli_put_recipe(answer, run->refused ? NULL : &run->it, &run->layout);
    myr_answer_end(answer);
}

/* Figures of no row are null: an error of 0 would read as a perfect one. */
static void put_tree(struct myr_answer *answer, const struct myr_runs *runs,
                     const struct myr_validation *result)
{
    bool timed = result->timed > 0;
    myr_answer_u64(answer, "runs", runs->count);
    myr_answer_u64(answer, "timed", result->timed);
    cli_put_known(answer, "median", timed, result->median, 3);
    cli_put_known(answer, "mean", timed, result->mean, 3);
    cli_put_known(answer, "p90", timed, result->p90, 3);
    cli_put_known(answer, "coverage", runs->count > 0, result->coverage, 3);
    cli_put_known(answer, "interval_coverage", timed, result->interval_coverage, 3);
    struct myr_value *families = myr_answer_list(answer, "families");
    for (uint32_t i = 0; i < result->family_count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "family", result->families[i].name);
        myr_answer_u64(answer, "n", result->families[i].count);
        myr_answer_double(answer, "median", result->families[i].median, 3);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    struct myr_value *list = myr_answer_list(answer, "rows");
    for (uint32_t i = 0; i < runs->count; i++) {
        put_run(answer, &runs->items[i], &result->rows[i]);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, list);

    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("family", "FAMILY", 0),
        MYR_COLUMN("n", "RUNS", MYR_COLUMN_NUMBER),
        {"median", "MEDIAN ERROR %", MYR_COLUMN_NUMBER, 2}};
    myr_answer_fact(answer, "runs", "%s, %s with a time", MYR_GROUPED(runs->count),
                    MYR_GROUPED(result->timed));
    myr_answer_fact(answer, "expressible", "%.1f %%", result->coverage);
    if (timed) {
        myr_answer_fact(answer, "error", "median %.2f %%, mean %.2f %%, 90th %.2f %%",
                        result->median, result->mean, result->p90);
        myr_answer_fact(answer, "inside interval",
                        "%.1f %% of measurements (90 %% are meant to be)",
                        result->interval_coverage);
    }
    if (families->count > 0) {
        myr_answer_table(answer, families, columns, MYR_ARRAY_COUNT(columns));
    }
    for (uint32_t i = 0; i < runs->count; i++) {
        if (runs->items[i].refused) {
            myr_answer_para(answer, "Not expressible: %s: %s", runs->items[i].id,
                            runs->items[i].refused);
        }
    }
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_profiles profiles;
    struct myr_runs runs;
    struct myr_validation result;
    MYR_TRY(myr_profiles_init(&profiles, &cli->arena, err));
    /* On top of the built-in ones: what it does not name stays as shipped. */
    if (options->profile) {
        MYR_TRY(myr_profiles_load(&profiles, &cli->arena, options->profile, err));
    }
    MYR_TRY(myr_runs_read(&runs, &cli->arena, &profiles, cli->operands.items[0], err));
    myr_runs_validate(&runs, &profiles, &cli->arena, &result);
    put_tree(&cli->answer, &runs, &result);
    if (result.timed > 0) { /* without a time there is nothing to fit to */
        myr_answer_next(&cli->answer, NULL, "%s --out mine.yaml",
                        cli_again(cli, &cli_fit_calibrate_command, NULL));
    }
    return MYR_OK;
}

const struct cli_verb cli_fit_validate_verb = {&cli_fit_validate_command, run, .group = NULL};
