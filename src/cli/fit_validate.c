#include "fit.h"
#include "myriad/text/csv.h"

static const char *const open_names[] = {"micro_batch", "vp", "recompute", "etp", "tp",
                                         "pp",          "cp", "ep",        "zero"};

/* What the row leaves to the model, and what was taken for a word that is not known. */
static void put_assumed(struct myr_json *json, const struct myr_run *run)
{
    const struct myr_layout *l = &run->layout;
    const double values[] = {
        l->micro_batch, l->vp,  run->recompute_share, myr_layout_etp(l), l->tp, l->pp, l->cp,
        l->ep,          l->zero};
    myr_json_object(json, "assumed");
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(open_names) && !run->refused; i++) {
        if (run->open & 1U << i) {
            myr_json_double(json, open_names[i], values[i], 3);
        }
    }
    if (!run->refused && run->guessed & MYR_RUN_GUESSED_PRECISION) {
        myr_json_text(json, "precision", myr_precision_name(l->precision));
    }
    if (!run->refused && run->guessed & MYR_RUN_GUESSED_DEVICE) {
        myr_json_text(json, "device", run->it.device->name);
    }
    if (!run->refused && !run->stack_exact) {
        myr_json_text(json, "software", run->it.stack->name);
    }
    myr_json_end(json);
}

static void put_run(struct myr_json *json, const struct myr_run *run,
                    const struct myr_profiles *profiles, double predicted_s)
{
    myr_json_object(json, NULL);
    myr_json_text(json, "id", run->id);
    if (run->refused) {
        myr_json_null(json, "predicted");
        myr_json_text(json, "refused", run->refused);
    } else {
        double spread = myr_run_spread(run, profiles);
        myr_json_double(json, "predicted", predicted_s, 6);
        myr_json_list(json, "interval");
        myr_json_double(json, NULL, predicted_s / (1 + spread), 6);
        myr_json_double(json, NULL, predicted_s * (1 + spread), 6);
        myr_json_end(json);
    }
    if (run->measured_s > 0) {
        myr_json_double(json, "measured", run->measured_s, 6);
    } else {
        myr_json_null(json, "measured");
    }
    if (run->measured_s > 0 && !run->refused) {
        double signed_error = 100 * (predicted_s / run->measured_s - 1);
        myr_json_double(json, "error", signed_error < 0 ? -signed_error : signed_error, 3);
        myr_json_double(json, "signed_error", signed_error, 3); /* above 0: told too slow */
    } else {
        myr_json_null(json, "error");
    }
    put_assumed(json, run);
    myr_json_end(json);
}

/* Percent; null where no row says anything: an error of 0 would read as a perfect one. */
static void put_share(struct myr_json *json, const char *key, double value, bool known)
{
    if (known) {
        myr_json_double(json, key, value, 3);
    } else {
        myr_json_null(json, key);
    }
}

static void put_json(const struct myr_runs *runs, const struct myr_profiles *profiles,
                     const struct myr_validation *result, struct myr_buf *buf)
{
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    put_share(&json, "median", result->median, result->timed > 0);
    put_share(&json, "mean", result->mean, result->timed > 0);
    put_share(&json, "p90", result->p90, result->timed > 0);
    put_share(&json, "coverage", result->coverage, runs->count > 0);
    put_share(&json, "interval_coverage", result->interval_coverage, result->timed > 0);
    myr_json_object(&json, "families");
    for (uint32_t i = 0; i < result->family_count; i++) {
        myr_json_object(&json, result->families[i].name);
        myr_json_double(&json, "median", result->families[i].median, 3);
        myr_json_u64(&json, "n", result->families[i].count);
        myr_json_end(&json);
    }
    myr_json_end(&json);
    myr_json_list(&json, "rows");
    for (uint32_t i = 0; i < runs->count; i++) {
        put_run(&json, &runs->items[i], profiles, result->rows[i].predicted_s);
    }
    myr_json_end(&json);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void put_text(const struct myr_runs *runs, const struct myr_validation *result,
                     struct myr_buf *buf)
{
    myr_buf_printf(buf, "%u runs, %u with a time", runs->count, result->timed);
    if (result->timed > 0) {
        myr_buf_printf(buf, ": median error %.2f %%, mean %.2f %%, 90th %.2f %%", result->median,
                       result->mean, result->p90);
    }
    myr_buf_printf(buf, "\n%.1f %% expressible", result->coverage);
    if (result->timed > 0) {
        myr_buf_printf(buf, "; %.1f %% of measurements inside the 90 %% interval",
                       result->interval_coverage);
    }
    myr_buf_putc(buf, '\n');
    for (uint32_t i = 0; i < result->family_count; i++) {
        myr_buf_printf(buf, "  %-18s %4u rows  median %6.2f %%\n", result->families[i].name,
                       result->families[i].count, result->families[i].median);
    }
    for (uint32_t i = 0; i < runs->count; i++) {
        if (runs->items[i].refused) {
            myr_buf_printf(buf, "  not expressible: %s: %s\n", runs->items[i].id,
                           runs->items[i].refused);
        }
    }
}

/* One line a run; a number that there is none of stays empty. */
static void put_csv(const struct myr_runs *runs, const struct myr_validation *result,
                    struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "id,predicted,measured,error,signed_error,refused\n");
    for (uint32_t i = 0; i < runs->count; i++) {
        const struct myr_run *run = &runs->items[i];
        double predicted = result->rows[i].predicted_s, measured = run->measured_s;
        bool both = !run->refused && measured > 0;
        double off = both ? 100 * (predicted / measured - 1) : 0;
        const struct {
            bool known;
            double value;
        } cells[] = {{!run->refused, predicted},
                     {measured > 0, measured},
                     {both, off < 0 ? -off : off},
                     {both, off}};
        myr_csv_put(buf, myr_str_from(run->id));
        for (size_t c = 0; c < MYR_ARRAY_COUNT(cells); c++) {
            myr_buf_putc(buf, ',');
            if (cells[c].known) {
                myr_json_number(buf, cells[c].value, 6);
            }
        }
        myr_buf_putc(buf, ',');
        myr_csv_put(buf, myr_str_from(run->refused ? run->refused : ""));
        myr_buf_putc(buf, '\n');
    }
}

int cli_fit_validate(const char *path, const char *profile, uint32_t format)
{
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_runs runs;
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    int code;
    myr_arena_init(&arena);
    int rc = cli_fit_profiles(&profiles, &arena, profile, &err);
    rc = rc < 0 ? rc : myr_runs_read(&runs, &arena, &profiles, path, &err);
    if (rc < 0) {
        code = cli_error(&err);
    } else {
        struct myr_validation result;
        myr_runs_validate(&runs, &profiles, &arena, &result);
        if (cli_fit_is_json(format)) {
            put_json(&runs, &profiles, &result, &buf);
        } else if (format == MYR_FORMAT_CSV) {
            put_csv(&runs, &result, &buf);
        } else {
            put_text(&runs, &result, &buf);
        }
        code = cli_print(&buf);
    }
    myr_buf_done(&buf);
    myr_arena_done(&arena);
    return code;
}

static void put_constant(struct myr_json *json, const struct myr_constant *constant, double value)
{
    myr_json_object(json, NULL);
    myr_json_text(json, "name", constant->name);
    myr_json_double(json, "value", value, 6);
    myr_json_text(json, "unit", constant->unit);
    myr_json_double(json, "prior", constant->prior, 6);
    myr_json_double(json, "min", constant->min, 6);
    myr_json_double(json, "max", constant->max, 6);
    myr_json_text(json, "meaning", constant->meaning);
    myr_json_end(json);
}

static void put_constant_csv(struct myr_buf *buf, const struct myr_constant *constant, double value)
{
    myr_csv_put(buf, myr_str_from(constant->name));
    myr_buf_putc(buf, ',');
    myr_json_number(buf, value, 6);
    myr_buf_printf(buf, ",%s,", constant->unit);
    myr_csv_put(buf, myr_str_from(constant->meaning));
    myr_buf_putc(buf, '\n');
}

int cli_fit_constants(const char *profile, uint32_t format)
{
    bool as_json = cli_fit_is_json(format), as_csv = format == MYR_FORMAT_CSV;
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    struct myr_json json;
    myr_arena_init(&arena);
    if (cli_fit_profiles(&profiles, &arena, profile, &err) < 0) {
        myr_arena_done(&arena);
        return cli_error(&err);
    }
    myr_json_init(&json, &buf, MYR_JSON_PRETTY);
    if (as_json) {
        myr_json_list(&json, NULL);
    } else if (as_csv) {
        myr_buf_put_lit(&buf, "name,value,unit,meaning\n");
    }
    for (uint32_t i = 0; i < profiles.constant_count; i++) {
        const struct myr_constant *constant = myr_fit_constant(i);
        if (as_json) {
            put_constant(&json, constant, profiles.constants[i]);
        } else if (as_csv) {
            put_constant_csv(&buf, constant, profiles.constants[i]);
        } else {
            myr_buf_printf(&buf, "%-30s %10.4g %-3s %s\n", constant->name, profiles.constants[i],
                           constant->unit, constant->meaning);
        }
    }
    if (as_json) {
        myr_json_end(&json);
        myr_buf_putc(&buf, '\n');
    }
    int code = cli_print(&buf);
    myr_buf_done(&buf);
    myr_arena_done(&arena);
    return code;
}
