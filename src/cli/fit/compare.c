/*
 * fit compare: a trainer's log against the model, phase by phase. The log says what ran and how
 * long its phases took, the model what they should have taken; the run comes out as a row that 'fit
 * calibrate' reads.
 */
#include "fit/fit.h"

struct options {
    struct cli_case of;
    const char *log;
};

static const struct options defaults = {.of = CLI_CASE_DEFAULTS};

static const struct myr_option rows[] = {
    CLI_PATH("log", "FILE", struct options, log, "a Megatron-LM or NeMo log; -: standard input"),
    CLI_CASE_MODEL_ROW(struct options, of),
    CLI_CASE_DEVICE_ROWS(struct options, of),
    CLI_COUNT("gpus", struct options, of.gpus, 1, 1 << 24, "how many; the log's when absent"),
    CLI_CASE_BATCH_ROWS(struct options, of),
    CLI_CASE_AXIS_ROWS(struct options, of),
};

const struct myr_command cli_fit_compare_command = {
    .name = "fit compare",
    .operands = "",
    .summary = "a Megatron-LM log against the model, phase by phase",
    .details =
        "Axes and model are read from the log; what it does not say can be given here, and "
        "takes the model's best value otherwise. CSV is the run as a row for 'fit calibrate' "
        "and 'fit validate'.",
    .example = "myriad fit compare --log run.log --model llama3-70b --device h100",
    CLI_OPTIONS(rows, defaults),
};

/* A phase without timers in the log has a prediction alone. */
static const struct myr_value *put_phases(struct myr_answer *answer, const struct myr_comparison *c)
{
    const struct myr_value *phases = myr_answer_list(answer, "phases");
    for (int i = 0; i < MYR_STEP_PHASE_COUNT; i++) {
        const struct myr_step_phase *p = &c->phases[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "phase", myr_step_phase_name((enum myr_phase_id)i));
        myr_answer_text(answer, "timers", myr_step_phase_timers((enum myr_phase_id)i));
        myr_answer_double(answer, "predicted_s", p->predicted_s, 6);
        cli_put_known(answer, "measured_s", p->measured, p->measured_s, 6);
        cli_put_known(answer, "gap_s", p->measured, p->measured_s - p->predicted_s, 6);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return phases;
}

/* The run as a row for 'fit calibrate'; its columns are those of the table of runs. */
static void put_row(struct myr_answer *answer, const struct myr_log_comparison *c,
                    const char *software)
{
    static const char *const shardings[] = {"none", "zero1", "zero2", "zero3"};
    const struct myr_layout *l = &c->layout;
    const struct myr_model *m = &c->model;
    const struct {
        const char *name;
        uint64_t value;
    } shape[] = {
        {"layers", m->layer_count},
        {"hidden", m->hidden},
        {"ffn", m->ffn_hidden},
        {"gated", m->gated},
        {"heads", m->head_count},
        {"kv_heads", m->kv_head_count},
        {"head_dim", myr_model_v_dim(m)},
        {"vocab", m->vocab},
        {"seq", myr_layout_seq(l, m)},
        {"experts", m->moe.expert_count},
        {"topk", m->moe.experts_per_token},
        {"shared_experts", m->moe.shared_count},
        {"moe_ffn", m->moe.expert_hidden},
        {"moe_layers", myr_model_moe_layers(m, 0, m->layer_count)},
    };
    struct myr_value *list = myr_answer_list(answer, "runs");
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "software", software);
    myr_answer_text(answer, "model", m->name);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(shape); i++) {
        myr_answer_u64(answer, shape[i].name, shape[i].value);
    }
    myr_answer_text(answer, "hw", c->query.it.device->name);
    myr_answer_u64(answer, "gpus", c->query.gpus);
    myr_answer_u64(answer, "tp", l->tp);
    myr_answer_u64(answer, "pp", l->pp);
    myr_answer_u64(answer, "cp", l->cp);
    myr_answer_u64(answer, "ep", l->ep);
    myr_answer_u64(answer, "dp", l->dp);
    myr_answer_u64(answer, "vp", l->vp);
    myr_answer_u64(answer, "mbs", l->micro_batch);
    myr_answer_u64(answer, "gbs", l->global_batch);
    myr_answer_text(answer, "sharding", shardings[l->zero]);
    /* A number of layers has no word in that table: "recipe" leaves it open. */
    myr_answer_text(answer, "recompute",
                    l->recompute_layers ? "recipe" : myr_recompute_name(l->recompute));
    myr_answer_u64(answer, "seq_par", l->sequence_parallel);
    myr_answer_text(answer, "precision", myr_precision_name(l->precision));
    myr_answer_double(answer, "iter_s", c->result.measured_s, 6);
    myr_answer_end(answer);
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
}

/* Returns the list of phases, which the page shows as a table; CSV has the run as a row instead. */
static const struct myr_value *put_tree(struct myr_answer *answer,
                                        const struct myr_log_comparison *it, const char *software)
{
    const struct myr_comparison *c = &it->result;
    myr_answer_u64(answer, "iterations", it->log.elapsed_s.values.count);
    myr_answer_double(answer, "predicted_s", c->cost.step_s, 6);
    cli_put_pair(answer, "predicted_s_interval", it->low_s, it->high_s, 6);
    myr_answer_double(answer, "measured_s", c->measured_s, 6);
    myr_answer_double(answer, "error", 100 * c->error, 3);
    const struct myr_value *phases = put_phases(answer, c);
    /* One number says that there is a gap, not where. */
    myr_answer_text(answer, "worst", c->has_timers ? myr_step_phase_name(c->worst) : NULL);
    myr_answer_text(answer, "cause", c->has_timers ? c->cause : NULL);
    cli_put_known(answer, "log_tflops", c->log_tflops > 0, c->log_tflops, 3);
    myr_answer_double(answer, "model_tflops", c->model_tflops, 3);
    myr_answer_bool(answer, "fits", it->fits);
    myr_answer_object(answer, "layout");
    cli_put_layout(answer, &it->layout);
    myr_answer_end(answer);
    put_row(answer, it, software);
    return phases;
}

static void show(struct cli *cli, const struct myr_log_comparison *it,
                 const struct myr_value *phases)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("phase", "PHASE", 0),
        {"predicted_s", "PREDICTED s", MYR_COLUMN_NUMBER, 4},
        {"measured_s", "MEASURED s", MYR_COLUMN_NUMBER, 4},
        {"gap_s", "GAP s", MYR_COLUMN_NUMBER, 4},
        MYR_COLUMN("timers", "TIMERS", MYR_COLUMN_WIDE),
    };
    struct myr_answer *answer = &cli->answer;
    const struct myr_comparison *c = &it->result;
    double step_s = c->cost.step_s;
    myr_answer_para(answer, "%s on %s x %s, batch %s, %s; %s", it->model.name,
                    MYR_GROUPED(it->query.gpus), it->query.it.device->name,
                    MYR_GROUPED(it->layout.global_batch), it->query.it.stack->name,
                    cli_layout_words(&cli->arena, &it->layout));
    myr_answer_fact(answer, "measured", "%.3f s a step, %s", c->measured_s,
                    MYR_COUNT(it->log.elapsed_s.values.count, "iteration"));
    myr_answer_fact(answer, "predicted", "%.3f s (90 %%: %.3f to %.3f s): %+.1f %%", step_s,
                    it->low_s, it->high_s, 100 * c->error);
    myr_answer_table(answer, phases, columns, MYR_ARRAY_COUNT(columns));
    if (c->has_timers) {
        const struct myr_step_phase *p = &c->phases[c->worst];
        myr_answer_para(answer, "Of the gap of %+.3f s, %+.3f s are in '%s': %s.",
                        c->measured_s - step_s, p->measured_s - p->predicted_s,
                        myr_step_phase_name(c->worst), c->cause);
    } else {
        myr_answer_para(answer, "The log has no timers: run with --timing-log-level 2 to see where "
                                "the gap is.");
    }
    if (c->log_tflops > 0) {
        /* Farther apart than that, another model may have run than the one that was named. */
        bool far = c->model_tflops > 1.05 * c->log_tflops || c->model_tflops < 0.95 * c->log_tflops;
        myr_answer_para(answer, "TFLOP/s a GPU: %.1f in the log, %.1f by this model's shape%s",
                        c->log_tflops, c->model_tflops, far ? ": is it the model that ran?" : "");
    }
    if (!it->fits) {
        myr_answer_para(answer, "As modelled, this layout does not fit in memory.");
    }
    if (myr_answer_next(answer, "for a row to calibrate with", "%s -o csv > runs.csv",
                        cli_again(cli, cli->command, NULL))) {
        myr_answer_next(answer, "and then", "myriad fit calibrate runs.csv");
    }
}

/* For MYR_CLEANUP on one that lies in the arena. */
static void close_comparison(struct myr_log_comparison **it)
{
    myr_log_comparison_done(*it);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_log_question question = {cli_case_question(&options->of), options->log};
    MYR_CLEANUP(close_comparison)
    struct myr_log_comparison *it = MYR_ARENA_ONE(&cli->arena, struct myr_log_comparison);
    if (!options->log) {
        int rc = myr_err_set(err, MYR_EINVAL, "give --log FILE");
        myr_err_hint(err, "%s", cli_fit_compare_command.example);
        return rc;
    }
    MYR_TRY(myr_compare_log(it, &cli->arena, &question, err));
    /* As predicted: a row without it would be predicted for another release. */
    const char *release = options->of.software ? options->of.software : it->query.it.stack->name;
    show(cli, it, put_tree(&cli->answer, it, release));
    return MYR_OK;
}

const struct cli_verb cli_fit_compare_verb = {&cli_fit_compare_command, run, .group = NULL};
