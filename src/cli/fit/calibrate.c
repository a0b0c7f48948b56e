/*
 * fit calibrate: the shipped constants drawn towards the user's own measurements. Errors are told
 * before, after, and with each run left out: a fit that only learns its own runs by heart shows in
 * the last of them.
 */
#include "fit/fit.h"

struct options {
    const char *kernels, *profile, *out;
    uint64_t constants;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_PATH("kernels", "FILE", struct options, kernels, "a sweep of 'myriad bench gpu'"),
    CLI_PATH("profile", "FILE", struct options, profile, "start from these constants"),
    CLI_OUTPUT("out", "FILE", struct options, out, "where the profile goes"),
    CLI_COUNT("constants", struct options, constants, 0, MYR_CALIBRATE_FREE_MAX,
              "fit at most so many; 0: as many as the measurements carry"),
};

const struct myr_command cli_fit_calibrate_command = {
    .name = "fit calibrate",
    .operands = "[CSV]",
    .summary = "draw the model's constants to your own runs or kernels",
    .details = "Each run is also predicted by constants fitted without it: only that error says "
               "whether the change is worth anything.",
    .example = "myriad fit calibrate runs.csv --out mine.yaml",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 1,
};

/* Null: no runs, or no kernels, were given. */
static void put_errors(struct myr_answer *answer, const char *key, bool asked,
                       const struct myr_errors *errors)
{
    if (!asked) {
        myr_answer_null(answer, key);
        return;
    }
    bool known = errors->count > 0; /* of nothing, 0 would read as a perfect fit */
    myr_answer_object(answer, key);
    cli_put_known(answer, "median", known, errors->median, 3);
    cli_put_known(answer, "mean", known, errors->mean, 3);
    cli_put_known(answer, "p90", known, errors->p90, 3);
    myr_answer_u64(answer, "n", errors->count);
    myr_answer_end(answer);
}

/* Only those that were fitted: the others are as shipped. */
static struct myr_value *put_constants(struct myr_answer *answer,
                                       const struct myr_calibration_job *job)
{
    struct myr_value *list = myr_answer_list(answer, "constants");
    for (uint32_t f = 0; f < job->result.free_count; f++) {
        uint32_t at = job->result.free[f];
        double was = job->profiles.constants[at], is = job->result.constants[at];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "name", myr_fit_constant(at)->name);
        myr_answer_double(answer, "shipped", was, 6);
        myr_answer_double(answer, "fitted", is, 6);
        myr_answer_double(answer, "change_percent", 100 * (is / was - 1), 3);
        myr_answer_text(answer, "meaning", myr_fit_constant(at)->meaning);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* Rows without a time have nothing to be held against. */
static void put_rows(struct myr_answer *answer, const struct myr_calibration_job *job)
{
    myr_answer_list(answer, "rows");
    for (uint32_t i = 0; job->has_runs && i < job->runs.count; i++) {
        const struct myr_run *run = &job->runs.items[i];
        const struct myr_calibration_row *row = &job->result.rows[i];
        bool known = !run->refused;
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "id", run->id);
        cli_put_known(answer, "measured", known && run->measured_s > 0, run->measured_s, 6);
        cli_put_known(answer, "before", known && row->before_s > 0, row->before_s, 6);
        cli_put_known(answer, "after", known && row->after_s > 0, row->after_s, 6);
        cli_put_known(answer, "left_out", known && row->left_out_s > 0, row->left_out_s, 6);
        myr_answer_text(answer, "refused", run->refused);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* Numbers have one width: the lines stand below each other. */
static void show_errors(struct myr_answer *answer, const char *what,
                        const struct myr_errors *errors)
{
    if (errors->count == 0) {
        myr_answer_fact(answer, what, "none: a single run cannot be left out");
        return;
    }
    myr_answer_fact(answer, what, "%4u   median %6.2f %%   mean %6.2f %%   90th %6.2f %%",
                    errors->count, errors->median, errors->mean, errors->p90);
}

/*
 * The first run that 'fit' can be asked about again: its time was taken, and its model has a name
 * there. Kernels have a device alone.
 */
static void hint_use(struct cli *cli, const struct myr_calibration_job *job, const char *out)
{
    const struct myr_run *of = NULL;
    for (uint32_t i = 0; job->has_runs && i < job->runs.count && !of; i++) {
        const struct myr_run *run = &job->runs.items[i];
        bool known = false;
        for (uint32_t k = 0; !run->refused && k < myr_model_builtin_count(); k++) {
            known = known || myr_str_eq(myr_str_from(run->model.name), myr_model_builtin_name(k));
        }
        of = known && run->measured_s > 0 ? run : NULL;
    }
    const char *profile = myr_answer_input(&cli->answer, out);
    if (of) {
        myr_answer_next(&cli->answer, "with these constants",
                        "myriad fit --profile %s --model %s --device %s --gpus %u --batch %u",
                        profile, of->model.name, of->it.device->name, of->gpus,
                        of->layout.global_batch);
    } else if (!job->has_runs) {
        myr_answer_next(&cli->answer, "with these constants",
                        "myriad fit --profile %s --model llama3-70b --device %s --gpus 512 "
                        "--batch 512",
                        profile, job->kernels.device->name);
    }
}

/* The error of runs left out stands between the others: it is the one that counts. */
static void show(struct cli *cli, const struct myr_calibration_job *job,
                 const struct myr_value *constants, const char *out)
{
    struct myr_answer *answer = &cli->answer;
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("name", "CONSTANT", 0),
        {"shipped", "SHIPPED", MYR_COLUMN_NUMBER, 4},
        {"fitted", "FITTED", MYR_COLUMN_NUMBER, 4},
        {"change_percent", "CHANGE %", MYR_COLUMN_NUMBER, 1},
        MYR_COLUMN("meaning", "MEANING", MYR_COLUMN_WIDE),
    };
    const struct myr_calibration *result = &job->result;
    myr_answer_heading(answer, "Error");
    if (job->has_runs) {
        show_errors(answer, "runs, before", &result->before);
        show_errors(answer, "runs, each left out", &result->left_out);
        show_errors(answer, "runs, fitted", &result->after);
    }
    if (job->has_kernels) {
        show_errors(answer, "kernels, before", &result->kernels_before);
        show_errors(answer, "kernels, fitted", &result->kernels_after);
    }
    myr_answer_table(answer, constants, columns, MYR_ARRAY_COUNT(columns));
    for (uint32_t i = 0; job->has_runs && i < job->runs.count; i++) {
        if (job->runs.items[i].refused) {
            myr_answer_para(answer, "Left aside: %s: %s", job->runs.items[i].id,
                            job->runs.items[i].refused);
        }
    }
    /* Said whether a file was asked for or not. */
    if (!result->worth_it) {
        myr_answer_para(answer, "These measurements do not make left-out ones better: keep the "
                                "shipped profile.");
    } else if (!out) {
        myr_answer_next(answer, "to write the profile", "%s --out mine.yaml",
                        cli_again(cli, cli->command, NULL));
    }
    if (out) {
        myr_answer_fact(answer, "written", "%s", out);
    }
    if (out && result->worth_it) {
        hint_use(cli, job, out);
    }
}

/* Written whether it is worth it or not, where it was asked for; the answer says which. */
static int write_profile(const struct myr_calibration_job *job, const char *path,
                         struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf profile = {};
    if (!path) {
        return MYR_OK;
    }
    myr_calibration_write(&job->result, &job->profiles, &profile);
    return myr_file_write(path, &profile, err);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    struct myr_calibration_job *job = MYR_ARENA_ONE(&cli->arena, struct myr_calibration_job);
    struct myr_calibration_files files = {
        .runs = cli->operands.count ? cli->operands.items[0] : NULL,
        .kernels = options->kernels,
        .profile = options->profile,
        .constants_most = (uint32_t)options->constants,
    };
    MYR_TRY(myr_calibrate_files(job, &cli->arena, &files, err));
    /* Before anything is told: what cannot be written is an error without an answer. */
    MYR_TRY(write_profile(job, options->out, err));
    const struct myr_calibration *result = &job->result;
    myr_answer_bool(answer, "worth_it", result->worth_it);
    put_errors(answer, "before", job->has_runs, &result->before);
    put_errors(answer, "after", job->has_runs, &result->after);
    put_errors(answer, "left_out", job->has_runs, &result->left_out);
    put_errors(answer, "kernels_before", job->has_kernels, &result->kernels_before);
    put_errors(answer, "kernels_after", job->has_kernels, &result->kernels_after);
    struct myr_value *constants = put_constants(answer, job);
    myr_answer_rows(answer, constants);
    put_rows(answer, job);
    show(cli, job, constants, options->out);
    return MYR_OK;
}

const struct cli_verb cli_fit_calibrate_verb = {&cli_fit_calibrate_command, run, .group = NULL};
