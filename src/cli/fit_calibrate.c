#include "fit.h"

int cli_fit_profiles(struct myr_profiles *profiles, struct myr_arena *arena, const char *profile,
                     struct myr_err *err)
{
    int rc = myr_profiles_init(profiles, arena, err);
    return rc < 0 || !profile ? rc : myr_profiles_load(profiles, arena, profile, err);
}

struct job {
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_runs runs;
    struct myr_kernels kernels;
    struct myr_calibration result;
    bool has_runs, has_kernels;
};

static void put_errors(struct myr_json *json, const char *key, const struct myr_errors *errors)
{
    const struct {
        const char *name;
        double value;
    } figures[] = {{"median", errors->median}, {"mean", errors->mean}, {"p90", errors->p90}};
    myr_json_object(json, key);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(figures); i++) {
        if (errors->count > 0) {
            myr_json_double(json, figures[i].name, figures[i].value, 3);
        } else { /* of nothing: 0 would read as a perfect fit */
            myr_json_null(json, figures[i].name);
        }
    }
    myr_json_u64(json, "n", errors->count);
    myr_json_end(json);
}

/* Rows without a time have nothing to be held against. */
static void put_time(struct myr_json *json, const char *key, double seconds)
{
    if (seconds > 0) {
        myr_json_double(json, key, seconds, 6);
    } else {
        myr_json_null(json, key);
    }
}

static void put_rows(struct myr_json *json, const struct job *job)
{
    myr_json_list(json, "rows");
    for (uint32_t i = 0; i < job->runs.count; i++) {
        const struct myr_run *run = &job->runs.items[i];
        const struct myr_calibration_row *row = &job->result.rows[i];
        myr_json_object(json, NULL);
        myr_json_text(json, "id", run->id);
        if (run->refused) {
            myr_json_text(json, "refused", run->refused);
        } else {
            put_time(json, "measured", run->measured_s);
            put_time(json, "before", row->before_s);
            put_time(json, "after", row->after_s);
            put_time(json, "left_out", row->left_out_s);
        }
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void put_json(const struct job *job, struct myr_buf *buf)
{
    const struct myr_calibration *result = &job->result;
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_bool(&json, "worth_it", result->worth_it);
    if (job->has_runs) {
        put_errors(&json, "before", &result->before);
        put_errors(&json, "after", &result->after);
        put_errors(&json, "left_out", &result->left_out);
    }
    if (job->has_kernels) {
        put_errors(&json, "kernels_before", &result->kernels_before);
        put_errors(&json, "kernels_after", &result->kernels_after);
    }
    myr_json_list(&json, "constants");
    for (uint32_t f = 0; f < result->free_count; f++) {
        uint32_t at = result->free[f];
        myr_json_object(&json, NULL);
        myr_json_text(&json, "name", myr_fit_constant(at)->name);
        myr_json_double(&json, "shipped", job->profiles.constants[at], 6);
        myr_json_double(&json, "fitted", result->constants[at], 6);
        myr_json_text(&json, "meaning", myr_fit_constant(at)->meaning);
        myr_json_end(&json);
    }
    myr_json_end(&json);
    if (job->has_runs) {
        put_rows(&json, job);
    }
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void put_line(struct myr_buf *buf, const char *what, const struct myr_errors *errors)
{
    if (errors->count == 0) {
        myr_buf_printf(buf, "  %-22s none: a single run cannot be left out\n", what);
        return;
    }
    myr_buf_printf(buf, "  %-22s %4u   median %6.2f %%   mean %6.2f %%   90th %6.2f %%\n", what,
                   errors->count, errors->median, errors->mean, errors->p90);
}

static void put_text(const struct job *job, const char *out, struct myr_buf *buf)
{
    const struct myr_calibration *result = &job->result;
    myr_buf_put_lit(buf, "error\n");
    if (job->has_runs) {
        put_line(buf, "runs, before", &result->before);
        put_line(buf, "runs, each left out", &result->left_out);
        put_line(buf, "runs, fitted", &result->after);
    }
    if (job->has_kernels) {
        put_line(buf, "kernels, before", &result->kernels_before);
        put_line(buf, "kernels, fitted", &result->kernels_after);
    }
    myr_buf_put_lit(buf, "\nconstants\n");
    for (uint32_t f = 0; f < result->free_count; f++) {
        uint32_t at = result->free[f];
        double was = job->profiles.constants[at], is = result->constants[at];
        myr_buf_printf(buf, "  %-28s %10.4g -> %10.4g  (%+.1f %%)  %s\n",
                       myr_fit_constant(at)->name, was, is, 100 * (is / was - 1),
                       myr_fit_constant(at)->meaning);
    }
    for (uint32_t i = 0; job->has_runs && i < job->runs.count; i++) {
        if (job->runs.items[i].refused) {
            myr_buf_printf(buf, "\nleft aside: %s: %s\n", job->runs.items[i].id,
                           job->runs.items[i].refused);
        }
    }
    if (!result->worth_it) {
        myr_buf_put_lit(buf, "\nThese measurements do not make left-out ones better: keep the "
                             "shipped profile.\n");
    } else if (!out) {
        myr_buf_put_lit(buf, "\n--out FILE writes the profile.\n");
    }
    if (out) {
        myr_buf_printf(buf, "\nwritten to %s; use it with: myriad fit --profile %s ...\n", out,
                       out);
    }
}

static int calibrate(struct job *job, const struct cli_fit_calibration *asked, struct myr_err *err)
{
    int rc = MYR_OK;
    if (!asked->runs && !asked->kernels) {
        rc = myr_err_set(err, MYR_EINVAL, "give measured runs or --kernels FILE");
        myr_err_hint(err, "myriad fit calibrate runs.csv --out mine.yaml; columns as in "
                          "tests/data/published-runs.csv: software, model, hw, gpus, gbs, tp, pp, "
                          "..., iter_s");
    }
    rc = rc < 0 ? rc : cli_fit_profiles(&job->profiles, &job->arena, asked->profile, err);
    if (rc == MYR_OK && asked->runs) {
        rc = myr_runs_read(&job->runs, &job->arena, &job->profiles, asked->runs, err);
        job->has_runs = true;
    }
    if (rc == MYR_OK && asked->kernels) {
        rc = myr_kernels_read(&job->kernels, &job->arena, &job->profiles, asked->kernels, err);
        job->has_kernels = true;
    }
    rc = rc < 0 ? rc
                : myr_calibrate(&job->profiles, job->has_runs ? &job->runs : NULL,
                                job->has_kernels ? &job->kernels : NULL, (uint32_t)asked->constants,
                                &job->arena, &job->result, err);
    return rc < 0 && asked->runs && rc == MYR_EINVAL && !job->result.free_count && job->has_runs &&
                   job->runs.count
               ? myr_err_wrap(err, "%s", asked->runs)
               : rc;
}

int cli_fit_calibrate(const struct cli_fit_calibration *asked, bool json)
{
    struct job job = {.has_runs = false};
    struct myr_err err = {0};
    struct myr_buf buf = {0}, profile = {0};
    myr_arena_init(&job.arena);
    int rc = calibrate(&job, asked, &err);
    if (rc == MYR_OK && asked->out) {
        myr_calibration_write(&job.result, &job.profiles, &profile);
        rc = myr_file_write(asked->out, &profile, &err);
    }
    if (rc == MYR_OK && json) {
        put_json(&job, &buf);
    } else if (rc == MYR_OK) {
        put_text(&job, asked->out, &buf);
    }
    int code = rc < 0 ? cli_error(&err) : cli_print(&buf);
    myr_buf_done(&profile);
    myr_buf_done(&buf);
    myr_arena_done(&job.arena);
    return code;
}
