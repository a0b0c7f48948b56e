/*
 * report: the two pages, of a layout and of a training run. Every figure comes from the same
 * functions as the answers of the command line; only plots search further, over numbers of GPUs.
 */
#include "myriad/fit/report.h"

#include <stdarg.h>
#include <stdio.h>

#include "myriad/plan.h"
#include "myriad/text/amount.h"
#include "myriad/text/page.h"

/* Points of the plot of choices, and layouts whose memory is drawn. */
enum { CHOICES_MAX = 8, TOP_SHOWN = 5 };

/* A number of GPUs that no layout has is left out. */
static void add_point(const struct myr_fit_query *query, uint32_t gpus, bool weak,
                      struct myr_arena *arena, struct myr_fit_answer *answer,
                      struct myr_fit_scaling *ret)
{
    struct myr_fit_query q = *query;
    uint64_t share = (uint64_t)query->batch * gpus / query->gpus;
    q.top = 1;
    q.dp = 0; /* it follows from the number of GPUs */
    q.gpus = gpus;
    q.batch = weak ? (uint32_t)(share ? share : 1) : query->batch;
    if (ret->count == MYR_GROWTH_MAX || myr_fit_search(&q, arena, answer, NULL) < 0) {
        return;
    }
    struct myr_growth_point *point = &ret->points[ret->count++];
    *point = (struct myr_growth_point){.gpus = q.gpus, .batch = q.batch};
    point->layout = answer->top[0].layout;
    myr_fit_cost_of(&q.it, &point->layout, &point->cost);
}

/* Doublings from 'least' on, and 'most' itself; linearity is against the best of the points. */
void myr_fit_growth(const struct myr_fit_query *query, uint32_t least, uint32_t most, bool weak,
                    struct myr_arena *arena, struct myr_fit_scaling *ret)
{
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    double rate = 0;
    *ret = (struct myr_fit_scaling){};
    for (uint64_t gpus = least; gpus < most; gpus *= 2) {
        add_point(query, (uint32_t)gpus, weak, arena, answer, ret);
    }
    add_point(query, most, weak, arena, answer, ret);
    for (uint32_t i = 0; i < ret->count; i++) {
        double own = ret->points[i].cost.tokens_per_s_per_gpu;
        rate = own > rate ? own : rate;
    }
    for (uint32_t i = 0; i < ret->count; i++) {
        ret->points[i].linearity = ret->points[i].cost.tokens_per_s_per_gpu / rate;
    }
}

MYR_PRINTF(2, 3)
static void note(struct myr_buf *buf, const char *fmt, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, fmt);
    vsnprintf(text, sizeof(text), fmt, arguments);
    va_end(arguments);
    myr_page_note(buf, text);
}

/* ---- a layout ---- */

enum { LAYOUTS_SHOWN = 10, AXES = 8 }; /* a page, not a table for programs */

/* In the order of axis_heads. */
static void take_axes(const struct myr_layout *l, uint32_t ret[AXES])
{
    const uint32_t axes[AXES] = {l->tp, l->pp, l->vp, l->dp, l->cp, l->ep, l->micro_batch, l->zero};
    memcpy(ret, axes, sizeof(axes));
}

static const char *const axis_heads[AXES] = {">tp", ">pp", ">vp",          ">dp",
                                             ">cp", ">ep", ">micro-batch", ">ZeRO"};

static void name_recompute(const struct myr_layout *l, char ret[48])
{
    if (l->recompute_layers > 0) {
        snprintf(ret, 48, "%u layer%s a chunk", l->recompute_layers,
                 l->recompute_layers > 1 ? "s" : "");
    } else {
        snprintf(ret, 48, "%s", myr_recompute_name(l->recompute));
    }
}

static void put_layout_table(const struct myr_fit_answer *answer, struct myr_buf *buf)
{
    const char *heads[AXES + 4] = {"", ">step s"};
    char again[48];
    memcpy(heads + 2, axis_heads, sizeof(axis_heads));
    heads[AXES + 2] = "recompute";
    heads[AXES + 3] = "schedule";
    myr_page_table_begin(buf, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < answer->top_count && i < LAYOUTS_SHOWN; i++) {
        const struct myr_layout *l = &answer->top[i].layout;
        uint32_t axes[AXES];
        take_axes(l, axes);
        myr_page_row_begin(buf);
        myr_page_number(buf, "%u", i + 1);
        myr_page_number(buf, "%.4f", answer->top[i].step_s);
        for (size_t a = 0; a < AXES; a++) {
            myr_page_number(buf, "%u", axes[a]);
        }
        name_recompute(l, again);
        myr_page_cell(buf, again);
        myr_page_cell(buf, myr_schedule_name(l->schedule));
        myr_page_row_end(buf);
    }
    myr_page_table_end(buf);
}

/* Twelve columns are wider than a phone: there each layout is a few lines of words. */
static void put_layout_words(const struct myr_fit_answer *answer, struct myr_buf *buf)
{
    char again[48];
    for (uint32_t i = 0; i < answer->top_count && i < LAYOUTS_SHOWN; i++) {
        const struct myr_layout *l = &answer->top[i].layout;
        uint32_t axes[AXES];
        take_axes(l, axes);
        name_recompute(l, again);
        myr_buf_printf(buf, "<p><b>%u. %.4f s</b><br>", i + 1, answer->top[i].step_s);
        for (size_t a = 0; a < AXES; a++) {
            /* A name and its number stay on one line. */
            myr_buf_printf(buf, "%s&nbsp;%u, ", axis_heads[a] + 1, axes[a]);
        }
        myr_buf_puts(buf, "recompute ");
        myr_page_text(buf, again);
        myr_buf_puts(buf, ", schedule ");
        myr_page_text(buf, myr_schedule_name(l->schedule));
        myr_buf_puts(buf, "</p>\n");
    }
}

/* Twice, and the page shows the one that fits the screen, as of plots. */
static void put_layouts(const struct myr_fit_report *report, struct myr_buf *buf)
{
    myr_buf_puts(buf, "<div class=\"desk\">\n");
    put_layout_table(report->answer, buf);
    myr_buf_puts(buf, "</div>\n<div class=\"phone\">\n");
    put_layout_words(report->answer, buf);
    myr_buf_puts(buf, "</div>\n");
}

/* GPU-hours and days for a trillion tokens, over numbers of GPUs with the same batch. */
static void put_sizes(const struct myr_fit_scaling *strong, struct myr_buf *buf)
{
    struct myr_choice choices[MYR_GROWTH_MAX];
    char names[MYR_GROWTH_MAX][32], number[32];
    for (uint32_t i = 0; i < strong->count; i++) {
        const struct myr_growth_point *p = &strong->points[i];
        /* Hours of all GPUs together. */
        double hours = 1e12 / p->cost.tokens_per_s_per_gpu / 3600;
        snprintf(names[i], sizeof(names[i]), "%s", myr_u64_grouped(p->gpus, number));
        choices[i] = (struct myr_choice){hours / p->gpus / 24, hours / 1e3, names[i]};
    }
    myr_plot_pareto(choices, strong->count, "days for 10^12 tokens, without failures",
                    "thousand GPU-hours for 10^12 tokens", MYR_CHART_PAGE, buf);
}

static void put_launch(const struct myr_fit_report *report, struct myr_buf *buf)
{
    for (uint32_t i = 0; i < report->launch_count; i++) {
        myr_buf_put_lit(buf, "<p>");
        myr_page_text(buf, report->launch[i].title);
        myr_buf_put_lit(buf, "<br>");
        myr_page_arguments(buf, report->launch[i].text);
        myr_buf_put_lit(buf, "</p>\n");
    }
}

static void put_best(const struct myr_fit_report *report, const struct myr_fit_cost *cost,
                     struct myr_buf *buf)
{
    const struct myr_fit_query *q = report->query;
    const struct myr_layout *l = &report->answer->top[0].layout;
    struct myr_fit_memory memory;
    char grouped[32];
    myr_fit_memory_of(&q->it, l, &memory);
    myr_page_tiles_begin(buf);
    const struct myr_plot_unit *unit = myr_plot_unit_of(cost->step_s);
    double step = cost->step_s * unit->scale;
    myr_page_tile(buf, "step", "%s %s", MYR_NUMBER(step, unit->digits), unit->name);
    /* Up and down by the same factor: the interval is one of the logarithm. */
    myr_page_tile(buf, "90 % interval", "%s to %s %s",
                  MYR_NUMBER(step / (1 + report->spread), unit->digits),
                  MYR_NUMBER(step * (1 + report->spread), unit->digits), unit->name);
    myr_page_tile(buf, "MFU", "%.1f %%", 100 * cost->mfu);
    myr_page_tile(buf, "tokens a second and GPU", "%s",
                  MYR_GROUPED((uint64_t)(cost->tokens_per_s_per_gpu + 0.5)));
    myr_page_tile(buf, "memory of the fullest rank", "%.1f GiB", memory.total_bytes / 1073741824);
    myr_page_tile(buf, "tensor x pipeline x context x data", "%u x %u x %u x %u", l->tp, l->pp,
                  l->cp, l->dp);
    if (q->it.model->moe.expert_count > 0) {
        myr_page_tile(buf, "expert parallel", "%u", l->ep);
    }
    myr_page_tile(buf, "layouts covered", "%s",
                  myr_u64_grouped(report->answer->evaluated, grouped));
    myr_page_tiles_end(buf);
}

/* One page that needs nothing else: styles and drawings are in it. */
void myr_fit_report_html(const struct myr_fit_report *report, struct myr_arena *arena,
                         struct myr_buf *buf)
{
    const struct myr_fit_query *q = report->query;
    /* Curves are searches of their own, made here and not asked for by the answer. */
    struct myr_fit_scaling *weak = MYR_ARENA_ONE(arena, struct myr_fit_scaling);
    struct myr_fit_scaling *strong = MYR_ARENA_ONE(arena, struct myr_fit_scaling);
    struct myr_fit_cost cost;
    char title[256], grouped[32];
    snprintf(title, sizeof(title), "%s on %s x %s", q->it.model->name,
             myr_u64_grouped(q->gpus, grouped), q->it.device->name);
    myr_fit_cost_of(&q->it, &report->answer->top[0].layout, &cost);
    myr_page_begin(buf, title);
    note(buf, "Batch of %s of %s; software as of %s.", MYR_COUNT(q->batch, "sequence"),
         MYR_COUNT(q->seq_tokens, "token"), q->it.stack->name);
    put_best(report, &cost, buf);
    myr_page_wide_begin(buf);
    myr_plot_step(&cost, MYR_CHART_PAGE, buf);
    if (report->answer->top[0].layout.pp > 1) {
        myr_plot_pipeline(&q->it, &report->answer->top[0].layout, buf);
    }
    uint32_t shown = report->answer->top_count;
    myr_plot_memory(&q->it, report->answer->top, shown < TOP_SHOWN ? shown : TOP_SHOWN,
                    MYR_CHART_PAGE, buf);
    myr_fit_growth(q, 8, q->gpus, true, arena, weak);
    myr_fit_growth(q, 8, q->gpus, false, arena, strong);
    if (weak->count > 1 || strong->count > 1) { /* one point is no line */
        myr_plot_linearity(weak, strong, MYR_CHART_PAGE, buf);
        put_sizes(strong, buf);
    }
    myr_page_wide_end(buf);
    myr_page_heading(buf, "Layouts");
    put_layouts(report, buf);
    if (report->launch_count > 0) {
        myr_page_heading(buf, "To launch it");
        put_launch(report, buf);
    }
    myr_page_end(buf);
}

/* ---- a training run ---- */

enum { CASES_MAX = 16 };

/* The figures of a case, a row each. */
enum row {
    ROW_GOODPUT,
    ROW_STALLED,
    ROW_RECOVERING,
    ROW_REPEATED,
    ROW_COPY,
    ROW_STORED,
    ROW_SPARES,
    ROW_DAYS,
    ROW_RANGE,
    ROW_ENERGY,
    ROW_COUNT,
};

static const char *const row_names[ROW_COUNT] = {
    "goodput",     "stalled", "recovering", "repeated",     "copy each",
    "stored each", "spares",  "days",       "90 % of runs", "MWh"};

/* Days, their range and the energy, or why there are none. */
static void put_duration(const struct myr_campaign_report *report,
                         const struct myr_campaign_case *it, enum row row, struct myr_buf *buf)
{
    const struct myr_campaign *c = it->campaign;
    double range[2];
    if (c->days <= 0) { /* not asked for, or for ever */
        bool never = row == ROW_DAYS && report->question->tokens > 0;
        myr_page_number(buf, never ? "never" : "-");
    } else if (row == ROW_DAYS) {
        myr_page_number(buf, "%.2f", c->days);
    } else if (row == ROW_RANGE) {
        myr_campaign_days(c, it->spread, range);
        myr_page_number(buf, "%.2f to %.2f", range[0], range[1]);
    } else {
        myr_page_number(buf, "%s", MYR_NUMBER(c->energy_mwh, c->energy_mwh < 100 ? 2 : 0));
    }
}

static void put_figure(const struct myr_campaign_report *report, const struct myr_campaign_case *it,
                       enum row row, struct myr_buf *buf)
{
    const struct myr_campaign *c = it->campaign;
    const double shares[] = {c->goodput.goodput, c->goodput.stalled, c->goodput.recovering,
                             c->goodput.repeated};
    if (row <= ROW_REPEATED) {
        myr_page_number(buf, "%.2f %%", 100 * shares[row]);
    } else if (row == ROW_COPY || row == ROW_STORED) {
        uint32_t copies = row == ROW_COPY ? 1 : c->renewal.per_period;
        myr_page_number(buf, "%.0f s", c->renewal.interval * copies);
    } else if (row == ROW_SPARES) {
        myr_page_number(buf, "%s", MYR_GROUPED(c->spares));
    } else {
        put_duration(report, it, row, buf);
    }
}

/* Upright: there are a few cases and many figures, and a phone has little width. */
static void put_cases(const struct myr_campaign_report *report, struct myr_buf *buf)
{
    const char *heads[CASES_MAX + 1] = {""};
    char names[CASES_MAX][96];
    uint32_t count = report->count < CASES_MAX ? report->count : CASES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_campaign_case *it = &report->cases[i];
        /* The name of the rate and its number. */
        snprintf(names[i], sizeof(names[i]), ">%s, %s (%.4g)", it->practice, it->rate,
                 it->rate_per_1000_node_days);
        heads[i + 1] = names[i];
    }
    myr_page_upright_begin(buf, heads, count + 1);
    for (int row = 0; row < ROW_COUNT; row++) {
        myr_page_row_begin(buf);
        myr_page_cell(buf, row_names[row]);
        for (uint32_t i = 0; i < count; i++) {
            put_figure(report, &report->cases[i], (enum row)row, buf);
        }
        myr_page_row_end(buf);
    }
    myr_page_table_end(buf);
    note(buf, "Practice and rate of failures; in brackets failures per 1,000 node-days; seconds of "
              "work between copies and between stored ones.");
}

/* The same run on other numbers of GPUs: fewer are cheaper, more are sooner. */
static int put_choices(const struct myr_campaign_report *report, struct myr_arena *arena,
                       struct myr_buf *buf, struct myr_err *err)
{
    const struct myr_campaign_question *q = report->question;
    struct myr_choice choices[CHOICES_MAX];
    char names[CHOICES_MAX][32], cost_name[64], number[32];
    uint32_t count = 0, gpus = report->query->gpus;
    bool priced = q->price_per_hour > 0;
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    /* From a sixteenth of the GPUs to four times as many, where there are layouts. */
    for (int shift = -4; shift <= 2 && count < CHOICES_MAX; shift++) {
        struct myr_fit_query query = *report->query;
        struct myr_campaign_question scaled = *q;
        struct myr_campaign c;
        double factor = shift < 0 ? 1.0 / (1 << -shift) : 1 << shift;
        query.gpus = (uint32_t)(gpus * factor);
        /* A design has the GPUs it has. */
        bool room = !query.it.topology || query.gpus <= report->gpus_most;
        if (query.gpus < 8 || !room || myr_fit_search(&query, arena, answer, NULL) < 0) {
            continue;
        }
        /* Failures, power and price all follow the number of nodes. */
        scaled.rate_per_s *= factor;
        scaled.watts *= factor;
        scaled.price_per_hour *= factor;
        int rc =
            myr_campaign_of(&scaled, MYR_PRACTICE_BEST, answer->top, answer->top_count, &c, err);
        if (rc < 0) {
            return rc;
        }
        snprintf(names[count], sizeof(names[count]), "%s", myr_u64_grouped(query.gpus, number));
        if (!c.ends) {
            continue;
        }
        double cost = priced ? (c.energy_cost + c.machine_cost) / 1e6 : c.energy_mwh / 1e3;
        choices[count] = (struct myr_choice){c.days, cost, names[count]};
        count++;
    }
    snprintf(cost_name, sizeof(cost_name), priced ? "million %s%s" : "GWh%s%s",
             priced ? report->facility->currency : "",
             priced && report->facility->servers_unpriced ? " without GPU servers" : "");
    myr_plot_pareto(choices, count, "days, best practice, by number of GPUs", cost_name,
                    MYR_CHART_PAGE, buf);
    return MYR_OK;
}

static void put_curves(const struct myr_campaign_report *report, struct myr_buf *buf)
{
    struct myr_goodput_curve curves[4];
    char names[4][64];
    uint32_t count = report->count < 4 ? report->count : 4;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "%s, %s", report->cases[i].practice,
                 report->cases[i].rate);
        curves[i] = (struct myr_goodput_curve){names[i], report->cases[i].campaign->renewal};
    }
    myr_plot_goodput(curves, count, MYR_CHART_PAGE, buf);
}

/* Figures that nobody gave are marked on the page as in the answer. */
static void put_facility(const struct myr_campaign_report *report, struct myr_buf *buf)
{
    const struct myr_run_facility *f = report->facility;
    char all[MYR_PLAN_POWER_MAX], it[MYR_PLAN_POWER_MAX];
    note(buf, "%s with cooling: %s of IT (%s), PUE %.4g (%s).",
         myr_plan_power(f->it_watts.value * f->pue.value / 1000, all),
         myr_plan_power(f->it_watts.value / 1000, it), myr_run_from_words(&f->it_watts),
         f->pue.value, myr_run_from_words(&f->pue));
    if (report->question->tokens > 0 && f->kwh.known) {
        note(buf, "Electricity: %.4g %s a kWh (%s).", f->kwh.value, f->currency,
             myr_run_from_words(&f->kwh));
    }
}

/* The first two cases are both practices at the first rate. */
int myr_campaign_report_html(const struct myr_campaign_report *report, struct myr_arena *arena,
                             struct myr_buf *buf, struct myr_err *err)
{
    const struct myr_campaign_question *q = report->question;
    const struct myr_campaign *common = report->cases[0].campaign;
    const struct myr_campaign *best = report->cases[1].campaign;
    struct myr_fit_cost cost;
    char title[256], grouped[32];
    int rc = MYR_OK;
    snprintf(title, sizeof(title), "Training %s on %s x %s", q->it.model->name,
             myr_u64_grouped(report->query->gpus, grouped), q->it.device->name);
    myr_page_begin(buf, title);
    if (q->tokens > 0) {
        /* Billions and trillions are how people count tokens. */
        bool large = q->tokens >= 1e12;
        note(buf, "%.6g %s tokens.", q->tokens / (large ? 1e12 : 1e9),
             large ? "trillion" : "billion");
    }
    note(buf, "Batch of %s; a checkpoint is %s TB; storage %s.",
         MYR_COUNT(report->query->batch, "sequence"),
         MYR_NUMBER(common->checkpoint_bytes / 1e12, 2),
         q->store.servers ? "as planned" : "by practice's rates");
    put_facility(report, buf);
    myr_page_tiles_begin(buf);
    myr_page_tile(buf, "goodput, common to best practice", "%.1f to %.1f %%",
                  100 * common->goodput.goodput, 100 * best->goodput.goodput);
    if (common->days > 0 && best->days > 0) {
        myr_page_tile(buf, "days, common to best", "%.1f to %.1f", common->days, best->days);
        myr_page_tile(buf, "energy", "%.3g to %.3g GWh", common->energy_mwh / 1e3,
                      best->energy_mwh / 1e3);
    }
    /* Practices share the rate of failures: either tells it. */
    static const struct myr_unit units[] = {
        {60, 120, 1, MYR_UNIT_BEHIND, "min"},
        {3600, 0, 1, MYR_UNIT_BEHIND, "h"},
    };
    char each[MYR_AMOUNT_BYTES];
    myr_page_tile(buf, "a failure each", "%s",
                  myr_text_in_unit(common->goodput.mean_time_between_s, units, 2, each));
    myr_page_tile(buf, "spare nodes", "%u to %u", common->spares, best->spares);
    const struct myr_plot_unit *unit = myr_plot_unit_of(best->step_s);
    myr_page_tile(buf, "step", "%s %s", MYR_NUMBER(best->step_s * unit->scale, unit->digits),
                  unit->name);
    myr_page_tiles_end(buf);
    put_cases(report, buf);
    myr_page_wide_begin(buf);
    put_curves(report, buf);
    if (q->tokens > 0) {
        rc = put_choices(report, arena, buf, err);
    }
    myr_fit_cost_of(&q->it, &best->layout, &cost);
    myr_plot_step(&cost, MYR_CHART_PAGE, buf);
    struct myr_fit_found found = {best->layout, best->step_s};
    myr_plot_memory(&q->it, &found, 1, MYR_CHART_PAGE, buf);
    myr_page_wide_end(buf);
    myr_page_end(buf);
    return rc;
}
