/* fit_curve: how far more GPUs carry, from 8 to the number asked for. */
#include "fit.h"

enum { POINTS_MAX = 32 };

/* One point of the curve; nothing is printed where no layout exists. */
struct point {
    uint32_t gpus, batch;
    struct myr_fit_cost cost;
    struct myr_fit_parts parts;
    struct myr_layout layout;
    double linearity; /* throughput a GPU against the best point before: few may lack memory */
    double peak_flops;
    double kept[2]; /* share of the time that trains, by practice */
};

struct curve {
    struct cli_fit_asked *a;
    struct myr_recovery recovery;
    struct myr_fit_answer answer;
    struct point points[POINTS_MAX];
    uint32_t count;
    uint32_t least_gpus; /* the last number that no layout was found for; 0: none */
};

/* Failures of every class, checkpoints at their best interval, recovery by practice. */
static void set_kept(struct curve *c, struct point *point)
{
    struct myr_failure_class classes[MYR_FAILURE_CLASSES_MAX];
    struct myr_campaign_question question = {.it = c->a->query.it,
                                             .recovery = &c->recovery,
                                             .gpus_per_node = 8,
                                             .spare_risk = 0.001,
                                             .pue = 1};
    struct myr_fit_found found = {point->layout, point->cost.step_s};
    if (c->a->has_design) {
        question.store = myr_store_of(&c->a->design);
        question.gpus_per_node = c->a->design.head->gpus_per_node;
    }
    double nodes = (double)point->gpus / question.gpus_per_node;
    uint32_t count = myr_failure_classes(&c->recovery, point->gpus, nodes, classes);
    for (uint32_t i = 0; i < count; i++) {
        question.rate_per_s += classes[i].per_day / 86400;
    }
    for (int p = MYR_PRACTICE_COMMON; p <= MYR_PRACTICE_BEST; p++) {
        struct myr_campaign campaign;
        int rc = myr_campaign_of(&question, (enum myr_practice)p, &found, 1, &campaign, NULL);
        point->kept[p] = rc == MYR_OK ? campaign.goodput.goodput : 1;
    }
}

static void add_point(struct curve *c, uint32_t gpus, uint32_t batch)
{
    struct cli_fit_asked *a = c->a;
    struct point *point = &c->points[c->count];
    a->query.gpus = gpus;
    a->query.batch = batch;
    if (c->count == POINTS_MAX) {
        return;
    }
    if (myr_fit_search(&a->query, &a->arena, &c->answer, NULL) < 0) {
        c->least_gpus = gpus; /* too few, or nothing divides; the points after it say which */
        return;
    }
    *point = (struct point){.gpus = gpus, .batch = batch};
    point->layout = c->answer.top[0].layout;
    point->peak_flops = myr_device_peak(a->query.it.device, point->layout.precision);
    myr_fit_cost_of(&a->query.it, &point->layout, &point->cost);
    myr_fit_parts_of(&a->query.it, &point->layout, &point->parts);
    set_kept(c, point);
    c->count++;
}

static void trace(struct curve *c, bool weak, uint32_t most, uint32_t batch)
{
    double rate = 0;
    uint32_t gpus = 8;
    c->count = 0;
    c->least_gpus = 0;
    for (; gpus < most; gpus *= 2) {
        uint64_t share = (uint64_t)batch * gpus / most;
        add_point(c, gpus, weak ? (uint32_t)(share ? share : 1) : batch);
    }
    add_point(c, most, batch);
    for (uint32_t i = 0; i < c->count; i++) {
        double now = c->points[i].cost.tokens_per_s_per_gpu;
        rate = now > rate ? now : rate;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        c->points[i].linearity = c->points[i].cost.tokens_per_s_per_gpu / rate;
    }
}

/*
 * Effective compute = peak x GPUs x efficiency; efficiency = that of the best point (one machine at
 * its best) x linearity (the cluster at its best) x availability (what interruptions leave).
 */
static void put_point_json(struct myr_json *json, const struct point *p)
{
    const struct myr_fit_parts *parts = &p->parts;
    double peak = p->peak_flops * p->gpus / 1e15;
    myr_json_object(json, NULL);
    myr_json_u64(json, "gpus", p->gpus);
    myr_json_u64(json, "batch", p->batch);
    cli_fit_put_layout(json, &p->layout);
    myr_json_double(json, "step_s", p->cost.step_s, 6);
    myr_json_double(json, "mfu", p->cost.mfu, 5);
    myr_json_double(json, "tokens_per_s_per_gpu", p->cost.tokens_per_s_per_gpu, 3);
    myr_json_double(json, "tokens_per_s", p->cost.tokens_per_s_per_gpu * p->gpus, 0);
    myr_json_double(json, "linearity", p->linearity, 5);
    myr_json_object(json, "effective_compute");
    myr_json_double(json, "peak_tflops_per_gpu", p->peak_flops / 1e12, 1);
    myr_json_u64(json, "gpus", p->gpus);
    myr_json_double(json, "single_efficiency", p->cost.mfu / p->linearity, 5);
    myr_json_double(json, "linearity", p->linearity, 5);
    myr_json_double(json, "availability", p->kept[MYR_PRACTICE_BEST], 5);
    myr_json_double(json, "availability_common", p->kept[MYR_PRACTICE_COMMON], 5);
    double efficiency = p->cost.mfu * p->kept[MYR_PRACTICE_BEST];
    myr_json_double(json, "efficiency", efficiency, 5);
    myr_json_double(json, "pflops", peak * efficiency, 3);
    myr_json_end(json);
    myr_json_object(json, "step");
    myr_json_double(json, "compute_s", parts->compute_s, 6);
    myr_json_double(json, "waiting_s", parts->waiting_s, 6);
    myr_json_double(json, "communication_s", parts->communication_s, 6);
    myr_json_double(json, "hidden_communication_s", parts->hidden_communication_s, 6);
    myr_json_double(json, "io_s", parts->io_s, 6);
    myr_json_double(json, "hidden_io_s", parts->hidden_io_s, 6);
    myr_json_end(json);
    myr_json_end(json);
}

static void put_curve_text(struct myr_buf *buf, const char *name, const struct curve *c)
{
    myr_buf_printf(buf,
                   "%s scaling\n     GPUs   batch     step  compute + waiting + transfers - hidden"
                   "    MFU  linearity  availability  effective\n",
                   name);
    for (uint32_t i = 0; i < c->count; i++) {
        const struct point *p = &c->points[i];
        const struct myr_layout *l = &p->layout;
        double kept = p->kept[MYR_PRACTICE_BEST];
        myr_buf_printf(
            buf,
            "  %7u %7u %8.3f %8.3f %9.3f %11.3f %8.3f  %5.1f %% %7.2f %% %10.2f %%  %8.2f PF  "
            "tp %u pp %u vp %u cp %u dp %u\n",
            p->gpus, p->batch, p->cost.step_s, p->parts.compute_s, p->parts.waiting_s,
            p->parts.communication_s, p->parts.hidden_communication_s, 100 * p->cost.mfu,
            100 * p->linearity, 100 * kept, p->peak_flops * p->gpus * p->cost.mfu * kept / 1e15,
            l->tp, l->pp, l->vp, l->cp, l->dp);
    }
}

static void put_missing(struct myr_buf *buf, const struct curve *c)
{
    if (c->least_gpus > 0) {
        myr_buf_printf(buf, "  up to %u GPUs some points are missing: no layout fits\n",
                       c->least_gpus);
    }
}

static void put_timers(struct myr_json *json, struct myr_buf *buf, bool as_json,
                       const struct curve *c)
{
    struct myr_fit_timers timers;
    const struct point *last = &c->points[c->count - 1];
    myr_fit_timers_of(&c->a->query.it, &last->layout, &timers);
    if (as_json) {
        myr_json_object(json, "timers_ms");
    } else {
        myr_buf_printf(buf, "\ntimers of %u GPUs, (min, max) over stages (ms)\n", last->gpus);
    }
    for (int i = 0; i < MYR_FIT_TIMER_COUNT; i++) {
        const char *name = myr_fit_timer_name((enum myr_fit_timer)i);
        if (as_json) {
            myr_json_list(json, name);
            myr_json_double(json, NULL, timers.least_s[i] * 1e3, 3);
            myr_json_double(json, NULL, timers.most_s[i] * 1e3, 3);
            myr_json_end(json);
        } else if (timers.most_s[i] > 0) {
            myr_buf_printf(buf, "  %-28s (%.2f, %.2f)\n", name, timers.least_s[i] * 1e3,
                           timers.most_s[i] * 1e3);
        }
    }
    if (as_json) {
        myr_json_end(json);
    }
}

static void put_curves(struct curve *c, bool as_json, struct myr_buf *buf)
{
    uint32_t most = c->a->query.gpus, batch = c->a->query.batch;
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    if (as_json) {
        myr_json_object(&json, NULL);
        myr_json_text(&json, "model", c->a->model.name);
        myr_json_text(&json, "device", c->a->query.it.device->name);
    }
    for (int strong = 1; strong >= 0; strong--) { /* weak last: its last point is the question */
        const char *name = strong ? "strong" : "weak";
        trace(c, !strong, most, batch);
        if (as_json) {
            myr_json_list(&json, name);
            for (uint32_t i = 0; i < c->count; i++) {
                put_point_json(&json, &c->points[i]);
            }
            myr_json_end(&json);
        } else {
            put_curve_text(buf, name, c);
            put_missing(buf, c);
        }
    }
    if (c->count > 0) {
        put_timers(&json, buf, as_json, c);
    }
    if (as_json) {
        myr_json_end(&json);
        myr_buf_putc(buf, '\n');
    } else {
        myr_buf_put_lit(buf, "\nstep = compute + waiting + transfers - hidden; tokens are read "
                             "ahead, so IO is hidden whole\neffective compute = peak x GPUs x "
                             "efficiency; efficiency = MFU of the best point x linearity x "
                             "availability\navailability: failures of Llama 3's table, best "
                             "practice of recovery, best checkpoint interval ('myriad goodput')\n");
    }
}

int cli_fit_curve(const struct cli_fit_question *question, bool as_json)
{
    struct cli_fit_asked *a = cli_fit_asked_new();
    struct curve *c = MYR_ARENA_NEW(&a->arena, struct curve, 1);
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    int code;
    int rc = cli_fit_ask(a, question, &err);
    rc = rc < 0 ? rc : myr_recovery_init(&c->recovery, &a->arena, &err);
    c->a = a;
    a->query.top = 1;
    if (rc == MYR_OK && myr_fit_search(&a->query, &a->arena, &c->answer, &err) < 0) {
        rc = MYR_EINFEASIBLE; /* not even the largest: say why */
    }
    if (rc < 0) {
        code = cli_fit_error(&err);
    } else {
        put_curves(c, as_json, &buf);
        code = cli_print(&buf);
    }
    myr_buf_done(&buf);
    myr_recovery_done(&c->recovery);
    cli_fit_asked_free(a);
    return code;
}
