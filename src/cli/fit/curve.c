/*
 * fit curve: how far more GPUs carry, from 8 to the number asked for. Two curves are traced by the
 * library (myr_scale_trace), one with the batch in proportion and one with it fixed; a point
 * without a layout is left out and said.
 */
#include "fit/fit.h"
#include "goodput/goodput.h"

struct options {
    struct cli_case of;
};

static const struct options defaults = {.of = CLI_CASE_DEFAULTS};

static const struct myr_option rows[] = {
    CLI_CASE_MODEL_ROW(struct options, of),
    CLI_CASE_DEVICE_ROWS(struct options, of),
    CLI_CASE_DESIGN_ROW(struct options, of),
    CLI_COUNT("gpus", struct options, of.gpus, 1, 1 << 24,
              "the end of the curve; the design's when absent"),
    CLI_CASE_BATCH_ROWS(struct options, of),
    CLI_CASE_AXIS_ROWS(struct options, of),
    CLI_CASE_SCHEDULE_ROW(struct options, of),
};

const struct myr_command cli_fit_curve_command = {
    .name = "fit curve",
    .operands = "",
    .summary = "the best layout and its throughput from 8 GPUs to --gpus",
    .details = "Two curves: weak, with the batch in proportion to the GPUs, and strong, with the "
               "batch fixed. Effective compute = peak x GPUs x efficiency; efficiency = MFU of the "
               "best point x linearity x availability. Exit status 1: nothing fits on "
               "that many.",
    .example = "myriad fit curve --model llama3-70b --gpus 4096 --device h100 --batch 2048",
    CLI_OPTIONS(rows, defaults),
};

/* Each point is the best layout of its size: the axes may change from one to the next. */
static void put_point(struct myr_answer *answer, const char *scaling,
                      const struct myr_scale_point *p)
{
    const struct myr_fit_parts *parts = &p->parts;
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "scaling", scaling);
    myr_answer_u64(answer, "gpus", p->gpus);
    myr_answer_u64(answer, "batch", p->batch);
    myr_answer_double(answer, "batch_share", p->batch_share, 3);
    cli_put_layout(answer, &p->layout);
    myr_answer_double(answer, "step_s", p->cost.step_s, 6);
    myr_answer_double(answer, "mfu", p->cost.mfu, 5);
    myr_answer_double(answer, "tokens_per_s_per_gpu", p->cost.tokens_per_s_per_gpu, 3);
    myr_answer_double(answer, "tokens_per_s", p->cost.tokens_per_s_per_gpu * p->gpus, 0);
    myr_answer_double(answer, "linearity", p->linearity, 5);
    myr_answer_object(answer, "effective_compute");
    myr_answer_double(answer, "peak_tflops_per_gpu", p->peak_flops / 1e12, 1);
    myr_answer_double(answer, "single_efficiency", p->single_efficiency, 5);
    myr_answer_double(answer, "linearity", p->linearity, 5);
    myr_answer_double(answer, "availability", p->availability[MYR_PRACTICE_BEST], 5);
    myr_answer_double(answer, "availability_common", p->availability[MYR_PRACTICE_COMMON], 5);
    myr_answer_double(answer, "efficiency", p->efficiency, 5);
    myr_answer_double(answer, "pflops", p->effective_flops / 1e15, 3);
    myr_answer_end(answer);
    myr_answer_object(answer, "step");
    myr_answer_double(answer, "compute_s", parts->compute_s, 6);
    myr_answer_double(answer, "waiting_s", parts->waiting_s, 6);
    myr_answer_double(answer, "communication_s", parts->communication_s, 6);
    myr_answer_double(answer, "hidden_communication_s", parts->hidden_communication_s, 6);
    myr_answer_double(answer, "io_s", parts->io_s, 6);
    myr_answer_double(answer, "hidden_io_s", parts->hidden_io_s, 6);
    myr_answer_end(answer);
    myr_answer_end(answer);
}

/* Names and units of the trainer's own log, least and most over the stages. */
static void put_timers(struct myr_answer *answer, const struct myr_fit_timers *timers)
{
    myr_answer_object(answer, "timers_ms");
    for (int i = 0; i < MYR_FIT_TIMER_COUNT; i++) {
        cli_put_pair(answer, myr_fit_timer_name((enum myr_fit_timer)i), timers->least_s[i] * 1e3,
                     timers->most_s[i] * 1e3, 3);
    }
    myr_answer_end(answer);
}

static void show_points(struct myr_answer *answer, const struct myr_value *points)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("scaling", "SCALING", 0),
        MYR_COLUMN("gpus", "GPUS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("batch", "BATCH", MYR_COLUMN_NUMBER),
        {"step_s", "STEP s", MYR_COLUMN_NUMBER, 3},
        {"mfu", "MFU", MYR_COLUMN_NUMBER, 3},
        {"linearity", "LINEARITY", MYR_COLUMN_NUMBER, 4},
        {"effective_compute.availability", "AVAILABLE", MYR_COLUMN_NUMBER, 4},
        {"effective_compute.pflops", "EFFECTIVE PF/s", MYR_COLUMN_NUMBER, 2},
        {"step.compute_s", "COMPUTE s", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 3},
        {"step.waiting_s", "WAITING s", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 3},
        {"step.communication_s", "TRANSFERS s", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 3},
        {"step.hidden_communication_s", "HIDDEN s", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 3},
        MYR_COLUMN("tp", "TP", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("pp", "PP", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("dp", "DP", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
    };
    myr_answer_table(answer, points, columns, MYR_ARRAY_COUNT(columns));
}

/* Where a batch in proportion is no whole number, the weak curve has another one: which, and why.
 */
static void show_rounded(struct myr_answer *answer, const struct myr_scale_curve *weak)
{
    uint32_t rounded = 0, last = 0;
    for (uint32_t i = 0; i < weak->count; i++) {
        if (weak->points[i].batch_share != (double)weak->points[i].batch) {
            rounded++;
            last = i;
        }
    }
    if (rounded > 0) {
        const struct myr_scale_point *p = &weak->points[last];
        myr_answer_para(answer,
                        "Weak: in proportion to the GPUs the batch is no whole number on %s of %s "
                        "sizes and is rounded there to one that layouts divide, as on %s %s for "
                        "%.2f (batch_share).",
                        MYR_GROUPED(rounded), MYR_GROUPED(weak->count), MYR_COUNT(p->gpus, "GPU"),
                        MYR_GROUPED(p->batch), p->batch_share);
    }
}

/* What the table does not say by itself: rounding, points that are missing, and the formulas. */
static void show_rest(struct myr_answer *answer, const struct myr_scale_curves *curves)
{
    const struct myr_scale_curve *all[] = {&curves->weak, &curves->strong};
    uint32_t missing = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        /* The larger of both: up to there at least one curve has gaps. */
        missing = all[i]->missing_gpus > missing ? all[i]->missing_gpus : missing;
    }
    show_rounded(answer, &curves->weak);
    if (missing > 0) {
        myr_answer_para(answer, "Up to %s some points are missing: no layout fits.",
                        MYR_COUNT(missing, "GPU"));
    }
    myr_answer_heading(answer, "Timers of the last point, least and most over stages");
    for (int i = 0; i < MYR_FIT_TIMER_COUNT; i++) {
        if (curves->timers.most_s[i] > 0) {
            myr_answer_fact(answer, myr_fit_timer_name((enum myr_fit_timer)i), "%.2f to %.2f ms",
                            curves->timers.least_s[i] * 1e3, curves->timers.most_s[i] * 1e3);
        }
    }
    myr_answer_para(answer,
                    "Step = compute + waiting + transfers - hidden; tokens are read ahead, so IO "
                    "is hidden whole. Effective compute = peak x GPUs x efficiency; efficiency = "
                    "MFU of the best point x linearity x availability. Availability: failures by "
                    "classes of cause (goodput --rate classes), best practice of recovery, best "
                    "checkpoint interval.");
}

/* Keys that an answer with points and one without have alike. */
static void put_head(struct myr_answer *answer, const struct myr_case *it,
                     const struct myr_err *why)
{
    cli_fit_put_found(answer, why);
    cli_fit_put_case(answer, it, false);
}

/* Not even the last point has a layout: that is the answer. */
static void put_nothing(struct cli *cli, const struct myr_case *it, const struct myr_err *why)
{
    struct myr_answer *answer = &cli->answer;
    put_head(answer, it, why);
    struct myr_value *points = myr_answer_list(answer, "points");
    myr_answer_end(answer);
    myr_answer_rows(answer, points);
    myr_answer_null(answer, "timers_ms");
    cli_fit_show_nothing(answer, why);
    if (cli->common.format == MYR_FORMAT_CSV) { /* no rows, but the names of their columns */
        show_points(answer, points);
    }
    cli->no = true;
}

/* Goodput plans the same run, where it takes all that was asked with: it has no axes to fix. */
static void hint_next(struct cli *cli)
{
    const struct myr_command *goodput = cli_goodput_verb.row;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        bool has = false;
        for (uint32_t k = 0; k < goodput->option_count; k++) {
            has = has || strcmp(rows[i].name, goodput->options[k].name) == 0;
        }
        if (!has && cli_given(cli, rows[i].name)) {
            return;
        }
    }
    /* With the failures that the points were reckoned with: else the two would not agree. */
    myr_answer_next(&cli->answer, "for what failures cost", "%s --rate classes",
                    cli_again(cli, goodput, NULL));
}

/* Both curves in one list, told apart by 'scaling'. */
static void put_answer(struct cli *cli, const struct myr_case *it,
                       const struct myr_scale_curves *curves)
{
    struct myr_answer *answer = &cli->answer;
    put_head(answer, it, NULL);
    struct myr_value *points = myr_answer_list(answer, "points");
    for (uint32_t i = 0; i < curves->strong.count; i++) {
        put_point(answer, "strong", &curves->strong.points[i]);
    }
    for (uint32_t i = 0; i < curves->weak.count; i++) {
        put_point(answer, "weak", &curves->weak.points[i]);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, points);
    put_timers(answer, &curves->timers);
    myr_answer_para(answer, "%s on up to %s x %s, %s", it->model.name, MYR_GROUPED(it->query.gpus),
                    it->query.it.device->name, it->query.it.stack->name);
    cli_fit_show_device(answer, it);
    cli_fit_show_basis(answer, it);
    show_points(answer, points);
    show_rest(answer, curves);
    hint_next(cli);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_case_question question = cli_case_question(&options->of);
    MYR_CLEANUP(cli_case_close)
    struct myr_case *it = MYR_ARENA_ONE(&cli->arena, struct myr_case);
    struct myr_scale_curves *curves = MYR_ARENA_ONE(&cli->arena, struct myr_scale_curves);
    MYR_CLEANUP(myr_recovery_done) struct myr_recovery recovery = {};
    /* Availability is part of every point: it comes from the same data as goodput's. */
    MYR_TRY(myr_recovery_read(&recovery, &cli->arena, NULL, err));
    MYR_TRY(myr_case_init(it, &cli->arena, &question, err));
    struct myr_err why = {};
    int rc = myr_scale_trace(it, &recovery, &cli->arena, curves, &why);
    /* That nothing fits is an answer, with exit status 1; all else is an error. */
    if (rc == MYR_EINFEASIBLE) {
        put_nothing(cli, it, &why);
        return MYR_OK;
    }
    if (rc < 0) {
        *err = why;
        return rc;
    }
    put_answer(cli, it, curves);
    return MYR_OK;
}

const struct cli_verb cli_fit_curve_verb = {&cli_fit_curve_command, run, .group = NULL};
