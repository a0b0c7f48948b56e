#include <stdlib.h>
#include <time.h>

#include "fit.h"

const char *const cli_fit_recomputes[4] = {"any", "none", "selective", "full"};
const char *const cli_fit_schedules[6] = {"stack",       "1f1b",     "interleaved",
                                          "zero-bubble", "dualpipe", "any"};
const char *const cli_fit_precisions[7] = {"bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "any"};

struct asked {
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_model model;
    struct myr_fit_query query;
    struct myr_fit_answer answer;
    bool stack_exact;
    double search_ms;
};

/* Processor time: what a quiet machine's clock would show, on a busy one too. */
static double spent_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int need(bool given, const char *option, struct myr_err *err)
{
    if (given) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "give %s", option);
    myr_err_hint(err, "myriad fit --model gpt3-175b --gpus 1024 --device h100 --batch 1536");
    return rc;
}

static int prepare(struct asked *a, const struct cli_fit_question *u, struct myr_err *err)
{
    struct myr_fit_query *q = &a->query;
    int rc = need(u->model, "--model NAME", err);
    rc = rc < 0 ? rc : need(u->device, "--device NAME", err);
    rc = rc < 0 ? rc : need(u->gpus > 0, "--gpus N", err);
    rc = rc < 0 ? rc : need(u->batch > 0, "--batch SEQUENCES", err);
    rc = rc < 0 ? rc : cli_fit_profiles(&a->profiles, &a->arena, u->profile, err);
    rc = rc < 0 ? rc : myr_model_find(&a->arena, u->model, &a->model, err);
    *q = myr_fit_query_default();
    rc = rc < 0 ? rc
                : myr_profiles_device(&a->profiles, myr_str_from(u->device), &q->it.device, err);
    rc = rc < 0 ? rc
                : myr_profiles_stack(&a->profiles, myr_str_from(u->software), &q->it.stack,
                                     &a->stack_exact, err);
    if (rc < 0) {
        return rc;
    }
    q->it.model = &a->model;
    q->it.constants = a->profiles.constants;
    q->gpus = (uint32_t)u->gpus;
    q->batch = (uint32_t)u->batch;
    q->seq_tokens = (uint32_t)(u->seq ? u->seq : a->model.seq_tokens);
    (void)myr_model_stretch(&a->model, q->seq_tokens);
    q->any_precision = u->precision > MYR_PRECISION_FP32;
    q->precision = q->any_precision ? MYR_PRECISION_BF16 : (enum myr_precision)u->precision;
    q->tp = (uint32_t)u->tp;
    q->pp = (uint32_t)u->pp;
    q->vp = (uint32_t)u->vp;
    q->dp = (uint32_t)u->dp;
    q->cp = (uint32_t)u->cp;
    q->ep = (uint32_t)u->ep;
    q->micro_batch = (uint32_t)u->mbs;
    q->zero = u->zero > 3 ? -1 : (int)u->zero;
    q->recompute = (int)u->recompute - 1;
    q->schedule = u->schedule == MYR_ARRAY_COUNT(cli_fit_schedules) - 1 ? MYR_FIT_SCHEDULE_ANY
                                                                        : (int)u->schedule - 1;
    q->top = (uint32_t)u->top;
    q->exhaustive = u->exhaustive;
    return MYR_OK;
}

static double gib(double bytes)
{
    return bytes / 1073741824;
}

static void put_memory(struct myr_json *json, const struct myr_fit_memory *memory)
{
    const struct myr_state *s = &memory->state;
    myr_json_double(json, "memory_gib", gib(memory->total_bytes), 3);
    myr_json_object(json, "memory_terms_gib");
    myr_json_double(json, "weights", gib((double)s->weight_bytes), 3);
    myr_json_double(json, "gradients", gib((double)s->gradient_bytes), 3);
    myr_json_double(json, "optimiser", gib((double)s->optimiser_bytes), 3);
    myr_json_double(json, "activations", gib((double)s->activation_bytes), 3);
    myr_json_double(json, "output", gib((double)s->output_bytes), 3);
    myr_json_double(json, "working", gib((double)s->working_bytes), 3);
    myr_json_double(json, "reserve", gib(memory->reserve_bytes), 3);
    myr_json_end(json);
}

static double spread_of(const struct asked *a)
{
    bool far = !a->stack_exact || a->query.it.device->extrapolated || a->model.moe.expert_count > 0;
    return far ? a->profiles.interval_far : a->profiles.interval_near;
}

static void put_layout(struct myr_json *json, const struct myr_layout *l)
{
    myr_json_u64(json, "tp", l->tp);
    myr_json_u64(json, "pp", l->pp);
    myr_json_u64(json, "vp", l->vp);
    myr_json_u64(json, "dp", l->dp);
    myr_json_u64(json, "cp", l->cp);
    myr_json_u64(json, "ep", l->ep);
    myr_json_u64(json, "etp", myr_layout_etp(l));
    myr_json_u64(json, "zero", l->zero);
    myr_json_u64(json, "shard", myr_layout_shard(l));
    myr_json_u64(json, "mbs", l->micro_batch);
    myr_json_text(json, "recompute", myr_recompute_name(l->recompute));
    myr_json_text(json, "schedule", myr_schedule_name(l->schedule));
    myr_json_bool(json, "sequence_parallel", l->sequence_parallel);
    myr_json_list(json, "order");
    for (int i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        myr_json_text(json, NULL, myr_axis_name(l->order[i]));
    }
    myr_json_end(json);
}

static void put_found(struct myr_json *json, const char *key, const struct asked *a,
                      const struct myr_fit_found *found)
{
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    double spread = spread_of(a);
    myr_fit_cost_of(&a->query.it, &found->layout, &cost);
    myr_fit_memory_of(&a->query.it, &found->layout, &memory);
    myr_json_object(json, key);
    put_layout(json, &found->layout);
    myr_json_double(json, "step_s", cost.step_s, 6);
    myr_json_list(json, "step_s_interval");
    myr_json_double(json, NULL, cost.step_s / (1 + spread), 6);
    myr_json_double(json, NULL, cost.step_s * (1 + spread), 6);
    myr_json_end(json);
    myr_json_double(json, "mfu", cost.mfu, 5);
    myr_json_double(json, "tokens_per_s_per_gpu", cost.tokens_per_s_per_gpu, 3);
    put_memory(json, &memory);
    myr_json_object(json, "terms_s");
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        myr_json_double(json, myr_fit_term_name((enum myr_fit_term)i), cost.terms_s[i], 6);
    }
    myr_json_end(json);
    myr_json_end(json);
}

static void put_json(const struct asked *a, struct myr_buf *buf)
{
    struct myr_json json;
    struct myr_buf line = {0};
    const struct myr_layout *best = &a->answer.top[0].layout;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "model", a->model.name);
    myr_json_text(&json, "device", a->query.it.device->name);
    myr_json_text(&json, "software", a->query.it.stack->name);
    put_found(&json, "best", a, &a->answer.top[0]);
    myr_json_list(&json, "top");
    for (uint32_t i = 0; i < a->answer.top_count; i++) {
        put_found(&json, NULL, a, &a->answer.top[i]);
    }
    myr_json_end(&json);
    myr_json_u64(&json, "evaluated", a->answer.evaluated);
    myr_json_u64(&json, "costed", a->answer.costed);
    myr_json_double(&json, "search_ms", a->search_ms, 3);
    myr_json_double(&json, "gap", 0, 1);
    myr_json_object(&json, "launch");
    for (int t = MYR_TRAINER_MEGATRON; t <= MYR_TRAINER_TORCHTITAN; t++) {
        myr_buf_clear(&line);
        myr_launch_write(&line, (enum myr_trainer)t, best, &a->model);
        myr_json_str(&json, myr_trainer_name((enum myr_trainer)t),
                     (struct myr_str){line.data, line.len});
    }
    myr_json_end(&json);
    myr_buf_clear(&line);
    myr_layout_write(&line, best);
    myr_json_str(&json, "layout", (struct myr_str){line.data, line.len});
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
    myr_buf_done(&line);
}

static void put_text(const struct asked *a, struct myr_buf *buf)
{
    const struct myr_fit_found *best = &a->answer.top[0];
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    char grouped[32];
    double spread = spread_of(a);
    myr_buf_printf(buf, "%s on %u x %s, batch %u x %u tokens, %s\n\n", a->model.name, a->query.gpus,
                   a->query.it.device->name, a->query.batch, a->query.seq_tokens,
                   a->query.it.stack->name);
    for (uint32_t i = 0; i < a->answer.top_count; i++) {
        const struct myr_layout *l = &a->answer.top[i].layout;
        myr_buf_printf(
            buf,
            "%2u. %8.3f s  tp %u pp %u vp %u dp %u cp %u ep %u  micro-batch %u  ZeRO-%u  "
            "recompute %s\n",
            i + 1, a->answer.top[i].step_s, l->tp, l->pp, l->vp, l->dp, l->cp, l->ep,
            l->micro_batch, l->zero, myr_recompute_name(l->recompute));
    }
    myr_fit_cost_of(&a->query.it, &best->layout, &cost);
    myr_fit_memory_of(&a->query.it, &best->layout, &memory);
    myr_buf_printf(buf,
                   "\nstep %.3f s (90 %%: %.3f to %.3f), MFU %.1f %%, %.0f tokens/s a GPU, %.1f of "
                   "%.1f GiB\n",
                   cost.step_s, cost.step_s / (1 + spread), cost.step_s * (1 + spread),
                   100 * cost.mfu, cost.tokens_per_s_per_gpu, gib(memory.total_bytes),
                   gib(memory.limit_bytes));
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        if (cost.terms_s[i] > 0.0005 * cost.step_s) {
            myr_buf_printf(buf, "  %-14s %9.4f s %5.1f %%\n",
                           myr_fit_term_name((enum myr_fit_term)i), cost.terms_s[i],
                           100 * cost.terms_s[i] / cost.step_s);
        }
    }
    myr_buf_printf(buf, "\n%s layouts in %.1f ms\n", myr_u64_grouped(a->answer.evaluated, grouped),
                   a->search_ms);
    myr_launch_write(buf, MYR_TRAINER_MEGATRON, &best->layout, &a->model);
    myr_buf_putc(buf, '\n');
}

int cli_fit_search(const struct cli_fit_question *question, bool json)
{
    struct asked *a = myr_xcalloc(1, sizeof(*a));
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    int code;
    myr_arena_init(&a->arena);
    int rc = prepare(a, question, &err);
    double start_ms = spent_ms();
    rc = rc < 0 ? rc : myr_fit_search(&a->query, &a->arena, &a->answer, &err);
    a->search_ms = spent_ms() - start_ms;
    if (rc < 0) {
        code = cli_error(&err);
    } else {
        if (json) {
            put_json(a, &buf);
        } else {
            put_text(a, &buf);
        }
        code = cli_print(&buf);
    }
    myr_buf_done(&buf);
    myr_arena_done(&a->arena);
    free(a);
    return code;
}

/* One point of the curve; nothing is printed where no layout exists. */
struct point {
    uint32_t gpus, batch;
    struct myr_fit_cost cost;
    struct myr_layout layout;
    double linearity; /* throughput a GPU against the best point: few GPUs may lack memory */
};

static uint32_t trace(struct asked *a, bool weak, uint32_t most, uint32_t batch,
                      struct point *points, uint32_t point_max)
{
    uint32_t count = 0;
    double rate = 0;
    for (uint32_t gpus = 8; gpus <= most && count < point_max; gpus *= 2) {
        struct point *point = &points[count];
        uint64_t share = (uint64_t)batch * gpus / most;
        a->query.gpus = gpus;
        a->query.batch = weak ? (uint32_t)(share ? share : 1) : batch;
        if (myr_fit_search(&a->query, &a->arena, &a->answer, NULL) < 0) {
            continue;
        }
        *point = (struct point){.gpus = gpus, .batch = a->query.batch};
        point->layout = a->answer.top[0].layout;
        myr_fit_cost_of(&a->query.it, &point->layout, &point->cost);
        rate = point->cost.tokens_per_s_per_gpu > rate ? point->cost.tokens_per_s_per_gpu : rate;
        count++;
    }
    for (uint32_t i = 0; i < count; i++) {
        points[i].linearity = points[i].cost.tokens_per_s_per_gpu / rate;
    }
    return count;
}

static void put_curve(struct myr_json *json, struct myr_buf *buf, bool as_json, const char *name,
                      const struct point *points, uint32_t count)
{
    if (as_json) {
        myr_json_list(json, name);
    } else {
        myr_buf_printf(buf, "%s scaling\n", name);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct point *p = &points[i];
        const struct myr_layout *l = &p->layout;
        if (!as_json) {
            myr_buf_printf(buf,
                           "  %7u GPUs  batch %7u  step %9.3f s  MFU %5.1f %%  linearity %6.2f %%  "
                           "tp %u pp %u vp %u cp %u dp %u\n",
                           p->gpus, p->batch, p->cost.step_s, 100 * p->cost.mfu, 100 * p->linearity,
                           l->tp, l->pp, l->vp, l->cp, l->dp);
            continue;
        }
        myr_json_object(json, NULL);
        myr_json_u64(json, "gpus", p->gpus);
        myr_json_u64(json, "batch", p->batch);
        put_layout(json, l);
        myr_json_double(json, "step_s", p->cost.step_s, 6);
        myr_json_double(json, "mfu", p->cost.mfu, 5);
        myr_json_double(json, "tokens_per_s_per_gpu", p->cost.tokens_per_s_per_gpu, 3);
        myr_json_double(json, "linearity", p->linearity, 5);
        myr_json_end(json);
    }
    if (as_json) {
        myr_json_end(json);
    }
}

int cli_fit_curve(const struct cli_fit_question *question, bool as_json)
{
    enum { POINTS_MAX = 24 };
    struct asked *a = myr_xcalloc(1, sizeof(*a));
    struct point points[POINTS_MAX];
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    struct myr_json json;
    int code;
    myr_arena_init(&a->arena);
    int rc = prepare(a, question, &err);
    if (rc < 0) {
        code = cli_error(&err);
    } else {
        uint32_t most = a->query.gpus, batch = a->query.batch;
        a->query.top = 1;
        myr_json_init(&json, &buf, MYR_JSON_PRETTY);
        if (as_json) {
            myr_json_object(&json, NULL);
        }
        for (int weak = 1; weak >= 0; weak--) {
            uint32_t count = trace(a, weak, most, batch, points, POINTS_MAX);
            put_curve(&json, &buf, as_json, weak ? "weak" : "strong", points, count);
        }
        if (as_json) {
            myr_json_end(&json);
            myr_buf_putc(&buf, '\n');
        }
        code = cli_print(&buf);
    }
    myr_buf_done(&buf);
    myr_arena_done(&a->arena);
    free(a);
    return code;
}
