#include <stdlib.h>

#include "goodput_run.h"

enum { LAYOUTS = 16 };

/* The fastest layouts, of which the one that keeps most is chosen. */
static int find_layouts(struct goodput_run *run, struct myr_err *err)
{
    const struct cli_goodput_options *o = run->o;
    struct cli_fit_question question = {.model = o->model,
                                        .device = o->device,
                                        .software = o->software,
                                        .profile = o->profile,
                                        .design = o->design,
                                        .gpus = o->gpus,
                                        .batch = o->batch,
                                        .seq = o->seq,
                                        .zero = 4,
                                        .top = LAYOUTS};
    int rc = cli_fit_ask(run->a, &question, err);
    if (rc < 0) {
        return rc;
    }
    run->spread = cli_fit_spread(run->a);
    if (run->a->has_design) {
        run->question.store = myr_store_of(&run->a->design);
        run->asked.gpus_per_node = run->a->design.head->gpus_per_node;
    }
    run->asked.gpus = run->a->query.gpus;
    run->question.gpus_per_node = (uint32_t)run->asked.gpus_per_node;
    return myr_fit_search(&run->a->query, &run->a->arena, &run->answer, err);
}

static bool servers_have_price(const struct myr_design *design)
{
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        if (strcmp(myr_design_str(design, row->name), "GPU server") == 0 && row->unit_cents >= 0) {
            return true;
        }
    }
    return false; /* nor where they are not part of the offer */
}

/*
 * Power and price of the job's part. A design says both; without one, a server draws 1.8 times what
 * its GPUs do (the data sheets' ratio), and nothing is known of its price.
 */
static int price(struct goodput_run *run, struct myr_err *err)
{
    const struct cli_goodput_options *o = run->o;
    struct myr_campaign_question *q = &run->question;
    double gpu_hour = 0, years = 4;
    q->pue = 1.25;
    q->price_per_kwh = 0.65;
    int rc = cli_goodput_number(o->pue, "pue", 1, 10, &q->pue, err);
    rc = rc < 0 ? rc : cli_goodput_number(o->kwh, "kwh", 0, 1e6, &q->price_per_kwh, err);
    rc = rc < 0 ? rc : cli_goodput_number(o->years, "years", 0.01, 100, &years, err);
    rc = rc < 0 ? rc : cli_goodput_number(o->gpu_hour, "gpu-hour", 0, 1e6, &gpu_hour, err);
    q->watts = 1.8 * run->a->query.it.device->power_w * (double)o->gpus;
    q->price_per_hour = gpu_hour * (double)o->gpus;
    if (rc < 0 || !run->a->has_design) {
        return rc;
    }
    const struct myr_design_head *head = run->a->design.head;
    struct myr_catalog catalog;
    rc = myr_catalog_init(&catalog, &run->a->arena, err);
    if (rc == MYR_OK) {
        double part = (double)o->gpus / head->gpus;
        double node_watts = 1.8 * run->a->query.it.device->power_w * head->gpus_per_node;
        q->watts = myr_design_watts(&run->a->design, &catalog, node_watts) * part;
        if (!o->gpu_hour) {
            run->servers_unpriced = !servers_have_price(&run->a->design);
            q->price_per_hour = (double)head->total_cents / 100 * part / (years * 365 * 24);
        }
        myr_catalog_done(&catalog);
    }
    return rc;
}

static int set_currency(struct goodput_run *run, struct myr_err *err)
{
    const struct cli_goodput_options *o = run->o;
    const char *own =
        run->a->has_design ? myr_design_str(&run->a->design, run->a->design.head->currency) : "CNY";
    run->currency = o->currency ? o->currency : own;
    if (strlen(run->currency) > 8 || run->currency[0] == '\0') {
        return myr_err_set(err, MYR_EINVAL, "--currency is '%.40s', a word such as USD is expected",
                           o->currency);
    }
    if (strcmp(run->currency, own) != 0 && run->a->has_design && !o->gpu_hour) {
        int rc = myr_err_set(err, MYR_EINVAL, "the design is priced in %s, not in %s", own,
                             run->currency);
        myr_err_hint(err, "--gpu-hour PRICE takes the place of the design's price");
        return rc;
    }
    run->kwh_known = o->kwh || strcmp(run->currency, "CNY") == 0;
    run->question.price_per_kwh = run->kwh_known ? run->question.price_per_kwh : 0;
    return MYR_OK;
}

static int complete(const struct cli_goodput_options *o, struct myr_err *err)
{
    const char *lacks = !o->device && !o->design ? "give --device NAME"
                        : !o->gpus && !o->design ? "give --gpus N"
                        : !o->batch              ? "give --batch SEQUENCES"
                        : o->target              ? "--target goes without --model"
                        : o->show                ? "--show goes without --model"
                                                 : NULL;
    if (!lacks) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "%s", lacks);
    myr_err_hint(err, "%s", cli_goodput_command()->example);
    return rc;
}

static int answer(struct goodput_run *run, struct myr_err *err)
{
    const struct cli_goodput_options *o = run->o;
    struct myr_campaign_question *q = &run->question;
    struct cli_times times = {0};
    q->spare_risk = 0.001;
    int rc = cli_goodput_data(o, &run->a->arena, &run->recovery, err);
    rc = rc < 0 ? rc : complete(o, err);
    rc = rc < 0 ? rc : cli_goodput_number(o->tokens, "tokens", 1, 1e18, &q->tokens, err);
    rc = rc < 0 ? rc : cli_goodput_times(o, &times, err);
    rc = rc < 0 ? rc
                : cli_goodput_number(o->spare_risk, "spare-risk", 1e-9, 0.5, &q->spare_risk, err);
    rc = rc < 0 ? rc : find_layouts(run, err);
    rc = rc < 0 ? rc : cli_goodput_rates(o, &run->recovery, &run->rates, err);
    rc = rc < 0 ? rc : price(run, err);
    rc = rc < 0 ? rc : set_currency(run, err);
    q->it = run->a->query.it;
    q->recovery = &run->recovery;
    q->interval_s = times.interval_s;
    q->fault = (enum myr_fault)o->fault;
    q->has_recovery = times.has_recovery;
    q->recovery_s = times.recovery_s;
    q->has_stall = times.has_stall;
    q->stall_s = times.stall_s;
    double nodes = (double)o->gpus / q->gpus_per_node;
    for (uint32_t i = 0; rc == MYR_OK && i < run->rates.count; i++) {
        q->rate_per_s = run->rates.values[i] / 1000 / 86400 * nodes;
        for (uint32_t p = 0; rc == MYR_OK && p < 2; p++) {
            struct goodput_case *c = &run->cases[run->case_count++];
            c->practice = p == MYR_PRACTICE_COMMON ? "common" : "best";
            c->rate = run->rates.values[i];
            c->rate_name = run->rates.names[i];
            rc = myr_campaign_of(q, (enum myr_practice)p, run->answer.top, run->answer.top_count,
                                 &c->campaign, err);
        }
    }
    return rc;
}

static int write_report(const struct goodput_run *run, struct myr_arena *arena, struct myr_err *err)
{
    struct myr_campaign_case cases[CASES_MAX];
    struct myr_buf buf = {0};
    for (uint32_t i = 0; i < run->case_count; i++) {
        const struct goodput_case *c = &run->cases[i];
        cases[i] = (struct myr_campaign_case){c->practice, c->rate_name, c->rate, &c->campaign};
    }
    struct myr_campaign_report report = {&run->question,
                                         &run->a->query,
                                         cases,
                                         run->case_count,
                                         run->spread,
                                         run->currency,
                                         run->servers_unpriced,
                                         run->a->has_design ? run->a->design.head->gpus : 0};
    int rc = myr_campaign_report_html(&report, arena, &buf, err);
    rc = rc < 0 ? rc : myr_file_write(run->o->report, &buf, err);
    myr_buf_done(&buf);
    return rc;
}

int cli_goodput_run(const struct cli_goodput_options *options)
{
    struct goodput_run *run = myr_xcalloc(1, sizeof(*run));
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    run->asked = *options;
    run->o = &run->asked;
    run->a = cli_fit_asked_new();
    int rc = answer(run, &err);
    rc = rc < 0 || !options->report ? rc : write_report(run, &run->a->arena, &err);
    if (rc == MYR_OK) {
        if (options->format == MYR_FORMAT_JSON) {
            goodput_put_json(run, &buf);
        } else if (options->format == MYR_FORMAT_YAML || options->format == MYR_FORMAT_CSV) {
            goodput_put_table(run, &buf);
        } else {
            goodput_put_text(run, &buf);
        }
    }
    int code = rc < 0 ? cli_fit_error(&err) : cli_print(&buf);
    myr_recovery_done(&run->recovery);
    myr_buf_done(&buf);
    cli_fit_asked_free(run->a);
    free(run);
    return code;
}
