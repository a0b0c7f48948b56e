#include <stdlib.h>

#include "fit.h"
#include "myriad/text/csv.h"

struct job {
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_trainlog log;
    struct myr_model model;
    struct myr_fit_query query;
    struct myr_fit_answer answer;
    struct myr_layout layout;
    struct myr_comparison result;
    bool stack_exact;
    bool fits; /* in memory, as modelled */
    double spread;
    const char *software;
};

static int need(bool given, const char *what, struct myr_err *err)
{
    if (given) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "the log does not say %s", what);
    myr_err_hint(err, "myriad fit compare --log run.log --model llama3-70b --device h100 "
                      "--gpus 256 --tp 4 --pp 4");
    return rc;
}

static void fix_axes(struct job *job, const struct cli_fit_question *u)
{
    struct myr_fit_query *q = &job->query;
    q->it.model = &job->model;
    q->it.constants = job->profiles.constants;
    q->gpus = (uint32_t)u->gpus;
    q->batch = (uint32_t)u->batch;
    q->seq_tokens = (uint32_t)u->seq;
    cli_fit_fix_axes(q, u);
    q->any_precision = false; /* a log has one */
    q->top = 1;
    myr_trainlog_query(&job->log, q);
    q->seq_tokens = q->seq_tokens ? q->seq_tokens : job->model.seq_tokens;
}

/* What ran need not be among what is searched: so many chunks, so large a micro-batch. */
static bool set_as_told(struct job *job)
{
    struct myr_fit_query open = job->query;
    open.vp = open.micro_batch = 0;
    if (myr_fit_search(&open, &job->arena, &job->answer, NULL) < 0) {
        return false;
    }
    struct myr_layout l = job->answer.top[0].layout;
    l.vp = job->query.vp ? job->query.vp : l.vp;
    l.micro_batch = job->query.micro_batch ? job->query.micro_batch : l.micro_batch;
    l.schedule = l.vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
    l.first_layers = l.last_layers = l.recompute_layers = 0;
    if (myr_layout_broken(&l, &job->model, job->query.gpus) != MYR_LAYOUT_OK) {
        return false;
    }
    struct myr_fit_memory memory;
    myr_fit_memory_of(&job->query.it, &l, &memory);
    job->layout = l;
    job->fits = memory.fits;
    return true;
}

/* Axes that neither the log nor the user fixes take the model's best; one that ran did fit. */
static int choose_layout(struct job *job, struct myr_err *err)
{
    int rc = myr_fit_search(&job->query, &job->arena, &job->answer, err);
    if (rc < 0 && !job->answer.has_nearest && set_as_told(job)) {
        return MYR_OK;
    }
    job->fits = rc == MYR_OK;
    if (rc < 0 && job->answer.has_nearest) {
        job->layout = job->answer.nearest;
        return MYR_OK;
    }
    job->layout = job->answer.top[0].layout;
    return rc;
}

static int prepare(struct job *job, const struct cli_fit_question *u, const char *log,
                   struct myr_err *err)
{
    struct myr_fit_query *q = &job->query;
    *q = myr_fit_query_default();
    int rc = MYR_OK;
    if (!log) {
        rc = myr_err_set(err, MYR_EINVAL, "give --log FILE");
        myr_err_hint(err, "myriad fit compare --log run.log --model llama3-70b --device h100");
    }
    rc = rc < 0 ? rc : need(u->device, "the device: give --device NAME", err);
    rc = rc < 0 ? rc : cli_fit_profiles(&job->profiles, &job->arena, u->profile, err);
    rc = rc < 0 ? rc : myr_trainlog_read(&job->log, log, err);
    rc = rc < 0     ? rc
         : u->model ? myr_model_find(&job->arena, u->model, &job->model, err)
                    : myr_trainlog_model(&job->log, &job->model, err);
    rc = rc < 0 ? rc
                : myr_profiles_device(&job->profiles, myr_str_from(u->device), &q->it.device, err);
    rc = rc < 0 ? rc
                : myr_profiles_stack(&job->profiles, myr_str_from(u->software), &q->it.stack,
                                     &job->stack_exact, err);
    if (rc < 0) {
        return rc;
    }
    /* What the log says of a model by name: its modules may have been left out. */
    if (u->model && job->log.given[MYR_LOG_MTP]) {
        job->model.mtp_count = (uint32_t)job->log.arguments[MYR_LOG_MTP];
        rc = myr_model_check(&job->model, err);
    }
    fix_axes(job, u);
    job->software = u->software;
    rc = rc < 0 ? rc : need(q->gpus > 0, "how many GPUs: give --gpus N", err);
    rc = rc < 0 ? rc : need(q->batch > 0, "the batch: give --batch SEQUENCES", err);
    job->spread =
        myr_profiles_spread(&job->profiles, &job->model, q->it.device, job->stack_exact, false);
    return rc < 0 ? rc : choose_layout(job, err);
}

static void put_json(const struct job *job, struct myr_buf *buf)
{
    const struct myr_comparison *c = &job->result;
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_u64(&json, "iterations", job->log.elapsed_s.values.count);
    myr_json_double(&json, "predicted_s", c->cost.step_s, 6);
    myr_json_list(&json, "predicted_s_interval");
    myr_json_double(&json, NULL, c->cost.step_s / (1 + job->spread), 6);
    myr_json_double(&json, NULL, c->cost.step_s * (1 + job->spread), 6);
    myr_json_end(&json);
    myr_json_double(&json, "measured_s", c->measured_s, 6);
    myr_json_double(&json, "error", 100 * (c->cost.step_s / c->measured_s - 1), 3);
    myr_json_list(&json, "phases");
    for (int i = 0; i < MYR_STEP_PHASE_COUNT; i++) {
        myr_json_object(&json, NULL);
        myr_json_text(&json, "phase", myr_step_phase_name((enum myr_phase_id)i));
        myr_json_text(&json, "timers", myr_step_phase_timers((enum myr_phase_id)i));
        myr_json_double(&json, "predicted_s", c->phases[i].predicted_s, 6);
        if (c->phases[i].measured) {
            myr_json_double(&json, "measured_s", c->phases[i].measured_s, 6);
        } else {
            myr_json_null(&json, "measured_s");
        }
        myr_json_end(&json);
    }
    myr_json_end(&json);
    if (c->has_timers) {
        myr_json_text(&json, "worst", myr_step_phase_name(c->worst));
        myr_json_text(&json, "cause", c->cause);
    } else { /* one number says that there is a gap, not where */
        myr_json_null(&json, "worst");
        myr_json_null(&json, "cause");
    }
    myr_json_double(&json, "log_tflops", c->log_tflops, 3);
    myr_json_double(&json, "model_tflops", c->model_tflops, 3);
    myr_json_bool(&json, "fits", job->fits);
    myr_json_object(&json, "layout");
    myr_json_u64(&json, "tp", job->layout.tp);
    myr_json_u64(&json, "pp", job->layout.pp);
    myr_json_u64(&json, "vp", job->layout.vp);
    myr_json_u64(&json, "dp", job->layout.dp);
    myr_json_u64(&json, "cp", job->layout.cp);
    myr_json_u64(&json, "ep", job->layout.ep);
    myr_json_u64(&json, "mbs", job->layout.micro_batch);
    myr_json_u64(&json, "zero", job->layout.zero);
    myr_json_text(&json, "recompute", myr_recompute_name(job->layout.recompute));
    myr_json_end(&json);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void put_text(const struct job *job, struct myr_buf *buf)
{
    const struct myr_comparison *c = &job->result;
    const struct myr_layout *l = &job->layout;
    double gap = c->measured_s - c->cost.step_s;
    myr_buf_printf(buf, "%s on %u x %s, tp %u pp %u vp %u dp %u cp %u ep %u, micro-batch %u\n",
                   job->model.name, job->query.gpus, job->query.it.device->name, l->tp, l->pp,
                   l->vp, l->dp, l->cp, l->ep, l->micro_batch);
    myr_buf_printf(buf,
                   "step %.3f s measured (%zu iterations), %.3f s predicted (90 %%: %.3f to "
                   "%.3f): %+.1f %%\n\n",
                   c->measured_s, job->log.elapsed_s.values.count, c->cost.step_s,
                   c->cost.step_s / (1 + job->spread), c->cost.step_s * (1 + job->spread),
                   100 * (c->cost.step_s / c->measured_s - 1));
    myr_buf_put_lit(buf, "phase       predicted s  measured s  measured - predicted\n");
    for (int i = 0; i < MYR_STEP_PHASE_COUNT; i++) {
        const struct myr_step_phase *p = &c->phases[i];
        myr_buf_printf(buf, "%-10s %12.4f", myr_step_phase_name((enum myr_phase_id)i),
                       p->predicted_s);
        if (p->measured && c->has_timers) {
            myr_buf_printf(buf, " %11.4f %+21.4f\n", p->measured_s, p->measured_s - p->predicted_s);
        } else {
            myr_buf_put_lit(buf, "           -                     -\n");
        }
    }
    if (!c->has_timers) {
        myr_buf_put_lit(buf, "\nThe log has no timers: run with --timing-log-level 2 to see where "
                             "the gap is.\n");
    } else {
        const struct myr_step_phase *p = &c->phases[c->worst];
        myr_buf_printf(buf, "\nOf the gap of %+.3f s, %+.3f s are in '%s': %s.\n", gap,
                       p->measured_s - p->predicted_s, myr_step_phase_name(c->worst), c->cause);
    }
    if (c->log_tflops > 0) {
        myr_buf_printf(buf, "TFLOP/s a GPU: %.1f in the log, %.1f by this model's shape%s\n",
                       c->log_tflops, c->model_tflops,
                       c->model_tflops > 1.05 * c->log_tflops ||
                               c->model_tflops < 0.95 * c->log_tflops
                           ? ": is it the model that ran?"
                           : "");
    }
    if (!job->fits) {
        myr_buf_put_lit(buf, "As modelled, this layout does not fit in memory.\n");
    }
}

/* The run as a row for 'fit calibrate'. */
static void put_csv(const struct job *job, const struct cli_fit_question *u, struct myr_buf *buf)
{
    const struct myr_layout *l = &job->layout;
    const struct myr_model *m = &job->model;
    myr_buf_put_lit(
        buf, "software,model,layers,hidden,ffn,gated,heads,kv_heads,head_dim,vocab,seq,"
             "experts,topk,shared_experts,moe_ffn,moe_layers,hw,gpus,tp,pp,cp,ep,dp,vp,mbs,gbs,"
             "sharding,recompute,seq_par,precision,iter_s\n");
    myr_csv_put(buf, myr_str_from(u->software));
    myr_buf_putc(buf, ',');
    myr_csv_put(buf, myr_str_from(m->name));
    uint32_t moe = myr_model_moe_layers(m, 0, m->layer_count);
    static const char *const shardings[] = {"none", "zero1", "zero2", "zero3"};
    myr_buf_printf(buf, ",%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%s", m->layer_count, m->hidden,
                   m->ffn_hidden, m->gated, m->head_count, m->kv_head_count, myr_model_v_dim(m),
                   m->vocab, myr_layout_seq(l, m), m->moe.expert_count, m->moe.experts_per_token,
                   m->moe.shared_count, m->moe.expert_hidden, moe, job->query.it.device->name);
    myr_buf_printf(buf, ",%u,%u,%u,%u,%u,%u,%u,%u,%u,%s,%s,%u,%s,", job->query.gpus, l->tp, l->pp,
                   l->cp, l->ep, l->dp, l->vp, l->micro_batch, l->global_batch, shardings[l->zero],
                   l->recompute_layers ? "recipe" : myr_recompute_name(l->recompute),
                   l->sequence_parallel, cli_fit_precisions[l->precision]);
    myr_json_number(buf, job->result.measured_s, 6);
    myr_buf_putc(buf, '\n');
}

int cli_fit_compare(const struct cli_fit_question *question, const char *log, uint32_t format)
{
    struct job *job = myr_xcalloc(1, sizeof(*job));
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    myr_arena_init(&job->arena);
    myr_trainlog_init(&job->log);
    int rc = prepare(job, question, log, &err);
    if (rc == MYR_OK) {
        myr_compare(&job->query.it, &job->layout, &job->log, &job->result);
        if (cli_fit_is_json(format)) {
            put_json(job, &buf);
        } else if (format == MYR_FORMAT_CSV) {
            put_csv(job, question, &buf);
        } else {
            put_text(job, &buf);
        }
    }
    int code = rc < 0 ? cli_fit_error(&err) : cli_print(&buf);
    myr_buf_done(&buf);
    myr_trainlog_done(&job->log);
    myr_arena_done(&job->arena);
    free(job);
    return code;
}
