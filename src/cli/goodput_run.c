#include <stdlib.h>

#include "fit.h"
#include "goodput.h"

enum { LAYOUTS = 16, CASES_MAX = 4 };

/* One practice at one failure rate. */
struct outcome {
    const char *practice, *rate_name;
    double rate; /* per 1,000 node-days */
    struct myr_campaign campaign;
};

struct run {
    struct cli_goodput_options asked; /* with the design's numbers where the user gave none */
    const struct cli_goodput_options *o;
    struct cli_fit_asked *a;
    struct myr_recovery recovery;
    struct myr_fit_answer answer;
    struct myr_campaign_question question;
    struct cli_rates rates;
    double tokens, spread;
    const char *currency;
    bool servers_unpriced; /* the design's price lacks what costs most */
    struct outcome cases[CASES_MAX];
    uint32_t case_count;
};

/* The fastest layouts, of which the one that keeps most is chosen. */
static int find_layouts(struct run *run, struct myr_err *err)
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
static int price(struct run *run, struct myr_err *err)
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
    run->currency = "CNY";
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
        run->currency = myr_design_str(&run->a->design, head->currency);
        if (!o->gpu_hour) {
            run->servers_unpriced = !servers_have_price(&run->a->design);
            q->price_per_hour = (double)head->total_cents / 100 * part / (years * 365 * 24);
        }
        myr_catalog_done(&catalog);
    }
    return rc;
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

static int answer(struct run *run, struct myr_err *err)
{
    const struct cli_goodput_options *o = run->o;
    struct myr_campaign_question *q = &run->question;
    struct cli_times times = {0};
    q->spare_risk = 0.001;
    int rc = myr_recovery_init(&run->recovery, &run->a->arena, err);
    rc = rc < 0 ? rc : complete(o, err);
    rc = rc < 0 ? rc : cli_goodput_number(o->tokens, "tokens", 1, 1e18, &q->tokens, err);
    rc = rc < 0 ? rc : cli_goodput_times(o, &times, err);
    rc = rc < 0 ? rc
                : cli_goodput_number(o->spare_risk, "spare-risk", 1e-9, 0.5, &q->spare_risk, err);
    rc = rc < 0 ? rc : find_layouts(run, err);
    rc = rc < 0 ? rc : cli_goodput_rates(o, &run->recovery, &run->rates, err);
    rc = rc < 0 ? rc : price(run, err);
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
            struct outcome *c = &run->cases[run->case_count++];
            c->practice = p == MYR_PRACTICE_COMMON ? "common" : "best";
            c->rate = run->rates.values[i];
            c->rate_name = run->rates.names[i];
            rc = myr_campaign_of(q, (enum myr_practice)p, run->answer.top, run->answer.top_count,
                                 &c->campaign, err);
        }
    }
    return rc;
}

static void put_tier(struct myr_json *json, const char *name, const struct myr_tier *tier,
                     double interval_s)
{
    myr_json_object(json, NULL);
    myr_json_text(json, "tier", name);
    myr_json_double(json, "failures_per_day", tier->rate * 86400, 6);
    myr_json_double(json, "interval_s", interval_s, 3);
    myr_json_double(json, "stall_s", tier->stall, 6);
    myr_json_double(json, "recovery_s", tier->recovery, 3);
    myr_json_end(json);
}

static void put_money(struct myr_json *json, const struct run *run, const struct myr_campaign *c)
{
    double range[2];
    if (!c->ends) {
        static const char *const unknown[] = {"days", "days_interval", "days_interval_failures",
                                              "energy_mwh", "money"};
        for (size_t i = 0; i < MYR_ARRAY_COUNT(unknown); i++) {
            myr_json_null(json, unknown[i]);
        }
        return;
    }
    myr_campaign_days(c, run->spread, range);
    myr_json_double(json, "days", c->days, 6);
    myr_json_list(json, "days_interval");
    myr_json_double(json, NULL, range[0], 6);
    myr_json_double(json, NULL, range[1], 6);
    myr_json_end(json);
    myr_json_list(json, "days_interval_failures"); /* at exactly this step time */
    myr_json_double(json, NULL, c->days_low, 6);
    myr_json_double(json, NULL, c->days_high, 6);
    myr_json_end(json);
    myr_json_double(json, "energy_mwh", c->energy_mwh, 3);
    myr_json_object(json, "money");
    myr_json_text(json, "currency", run->currency);
    myr_json_double(json, "electricity", c->energy_cost, 0);
    if (run->question.price_per_hour > 0) {
        myr_json_double(json, "machines", c->machine_cost, 0);
    } else {
        myr_json_null(json, "machines"); /* a part without a price is not free */
    }
    myr_json_bool(json, "machines_without_gpu_servers", run->servers_unpriced);
    if (run->question.price_per_hour > 0 && !run->servers_unpriced) {
        myr_json_double(json, "total", c->energy_cost + c->machine_cost, 0);
    } else {
        myr_json_null(json, "total");
    }
    myr_json_end(json);
}

static void put_case(struct myr_json *json, const struct run *run, const struct outcome *it)
{
    const struct myr_campaign *c = &it->campaign;
    const struct myr_renewal *r = &c->renewal;
    myr_json_object(json, NULL);
    myr_json_text(json, "practice", it->practice);
    myr_json_text(json, "rate", it->rate_name);
    myr_json_double(json, "failures_per_1000_node_days", it->rate, 4);
    myr_json_double(json, "goodput", c->goodput.goodput, 6);
    myr_json_double(json, "stalled", c->goodput.stalled, 6);
    myr_json_double(json, "recovering", c->goodput.recovering, 6);
    myr_json_double(json, "repeated", c->goodput.repeated, 6);
    myr_json_double(json, "mtbf_h", c->goodput.mean_time_between_s / 3600, 6);
    myr_json_list(json, "tiers");
    if (r->quick.rate > 0) {
        put_tier(json, "memory", &r->quick, r->interval);
    }
    put_tier(json, "storage", &r->durable, r->interval * r->per_period);
    myr_json_end(json);
    myr_json_double(json, "write_s", c->write_s, 3);
    myr_json_double(json, "read_s", c->read_s, 3);
    myr_json_double(json, "write_gb_per_s", c->write_bytes_per_s / 1e9, 3);
    myr_json_double(json, "read_gb_per_s", c->read_bytes_per_s / 1e9, 3);
    myr_json_object(json, "layout");
    myr_json_u64(json, "rank", c->choice + 1);
    myr_json_u64(json, "tp", c->layout.tp);
    myr_json_u64(json, "pp", c->layout.pp);
    myr_json_u64(json, "vp", c->layout.vp);
    myr_json_u64(json, "dp", c->layout.dp);
    myr_json_u64(json, "cp", c->layout.cp);
    myr_json_u64(json, "ep", c->layout.ep);
    myr_json_u64(json, "mbs", c->layout.micro_batch);
    myr_json_u64(json, "zero", c->layout.zero);
    myr_json_end(json);
    myr_json_double(json, "step_s", c->step_s, 6);
    myr_json_double(json, "layout_gap_percent", 100 * c->layout_gap, 4);
    myr_json_double(json, "checkpoint_gb_per_rank", c->rank_bytes / 1e9, 4);
    myr_json_u64(json, "spares", c->spares);
    myr_json_double(json, "spares_out", c->spares_out, 7);
    myr_json_double(json, "nodes_in_repair", c->repairs, 4);
    myr_json_double(json, "tokens_per_day", c->tokens_per_day, 0);
    if (run->question.tokens > 0) {
        put_money(json, run, c);
    }
    myr_json_end(json);
}

static void put_json(const struct run *run, struct myr_buf *buf)
{
    const struct myr_campaign_question *q = &run->question;
    struct myr_failure_class classes[MYR_FAILURE_CLASSES_MAX];
    double gpus = (double)run->o->gpus;
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "model", run->a->model.name);
    myr_json_text(&json, "device", q->it.device->name);
    myr_json_u64(&json, "gpus", run->o->gpus);
    myr_json_u64(&json, "gpus_per_node", q->gpus_per_node);
    myr_json_double(&json, "tokens", q->tokens, 0);
    myr_json_double(&json, "checkpoint_tb", run->cases[0].campaign.checkpoint_bytes / 1e12, 4);
    myr_json_text(&json, "storage", q->store.servers ? "planned" : "practice");
    myr_json_double(&json, "power_mw", q->watts * q->pue / 1e6, 4);
    myr_json_list(&json, "cases");
    for (uint32_t i = 0; i < run->case_count; i++) {
        put_case(&json, run, &run->cases[i]);
    }
    myr_json_end(&json);
    myr_json_object(&json, "failures_per_day_by_class");
    uint32_t count = myr_failure_classes(&run->recovery, gpus, gpus / q->gpus_per_node, classes);
    for (uint32_t i = 0; i < count; i++) {
        myr_json_double(&json, classes[i].key + strlen("rate."), classes[i].per_day, 5);
    }
    myr_json_end(&json);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

/* "45.2 s", "12.3 min", "1.8 h", "3.2 days": for people. */
static void put_time(struct myr_buf *buf, double seconds)
{
    if (seconds < 120) {
        myr_buf_printf(buf, "%.1f s", seconds);
    } else if (seconds < 7200) {
        myr_buf_printf(buf, "%.1f min", seconds / 60);
    } else if (seconds < 48 * 3600) {
        myr_buf_printf(buf, "%.1f h", seconds / 3600);
    } else if (seconds < 2 * 365 * 86400.0) {
        myr_buf_printf(buf, "%.1f days", seconds / 86400);
    } else {
        myr_buf_printf(buf, "%.4g years", seconds / 86400 / 365);
    }
}

/* "1.24 M", "35.1 k": money for people. */
static void put_amount(struct myr_buf *buf, double amount)
{
    bool large = amount >= 1e5;
    myr_buf_printf(buf, large ? "%.2f M" : "%.0f", large ? amount / 1e6 : amount);
}

static void put_days(const struct run *run, const struct myr_campaign *c, struct myr_buf *buf)
{
    double range[2];
    if (!c->ends) {
        myr_buf_put_lit(buf, "  time     never: failures come faster than work is kept\n");
        return;
    }
    myr_campaign_days(c, run->spread, range);
    bool hours = c->days < 1;
    double unit = hours ? 24 : 1;
    myr_buf_printf(buf,
                   "  time     %.2f %s (90 %%: %.2f to %.2f; by failures alone %.2f to %.2f)\n",
                   c->days * unit, hours ? "hours" : "days", range[0] * unit, range[1] * unit,
                   c->days_low * unit, c->days_high * unit);
    myr_buf_printf(buf, "  energy   %.*f MWh, electricity ", c->energy_mwh < 100 ? 2 : 0,
                   c->energy_mwh);
    put_amount(buf, c->energy_cost);
    myr_buf_printf(buf, " %s", run->currency);
    if (run->question.price_per_hour > 0) {
        myr_buf_put_lit(buf, ", machines ");
        put_amount(buf, c->machine_cost);
        myr_buf_printf(buf, "%s",
                       run->servers_unpriced ? " (no price of the GPU servers is known)" : "");
    }
    myr_buf_putc(buf, '\n');
}

static void put_text_case(const struct run *run, const struct outcome *it, struct myr_buf *buf)
{
    const struct myr_campaign *c = &it->campaign;
    const struct myr_renewal *r = &c->renewal;
    const struct myr_layout *l = &c->layout;
    myr_buf_printf(buf, "\n%s practice, %.4g failures per 1,000 node-days (%s): one each ",
                   it->practice, it->rate, it->rate_name);
    put_time(buf, c->goodput.mean_time_between_s);
    myr_buf_printf(buf, "\n  goodput %.2f %%  (stalled %.2f, recovering %.2f, repeated %.2f)\n",
                   100 * c->goodput.goodput, 100 * c->goodput.stalled, 100 * c->goodput.recovering,
                   100 * c->goodput.repeated);
    if (r->quick.rate > 0) {
        myr_buf_put_lit(buf, "  memory   each ");
        put_time(buf, r->interval);
        myr_buf_printf(buf, ", stall %.2f s, recovery ", r->quick.stall);
        put_time(buf, r->quick.recovery);
        myr_buf_putc(buf, '\n');
    }
    myr_buf_put_lit(buf, "  storage  each ");
    put_time(buf, r->interval * r->per_period);
    myr_buf_printf(buf, ", stall %.2f s, recovery ", r->durable.stall);
    put_time(buf, r->durable.recovery);
    myr_buf_printf(buf, "; writes in %.1f s at %.0f GB/s, reads in %.1f s\n", c->write_s,
                   c->write_bytes_per_s / 1e9, c->read_s);
    myr_buf_printf(buf,
                   "  layout   %u. by step time: tp %u pp %u vp %u dp %u cp %u ep %u, %.3f s\n",
                   c->choice + 1, l->tp, l->pp, l->vp, l->dp, l->cp, l->ep, c->step_s);
    myr_buf_printf(buf,
                   "  spares   %u node%s (%.2g in repair on average; short %.2g %% of the time)\n",
                   c->spares, c->spares == 1 ? "" : "s", c->repairs, 100 * c->spares_out);
    myr_buf_printf(buf, "  tokens   %.3f billion a day\n", c->tokens_per_day / 1e9);
    if (run->question.tokens > 0) {
        put_days(run, c, buf);
    }
}

static void put_text(const struct run *run, struct myr_buf *buf)
{
    const struct myr_campaign_question *q = &run->question;
    myr_buf_printf(buf, "%s on %llu x %s, checkpoint %.2f TB, %s", run->a->model.name,
                   (unsigned long long)run->o->gpus, q->it.device->name,
                   run->cases[0].campaign.checkpoint_bytes / 1e12,
                   q->store.servers ? "" : "storage by practice's rates");
    if (q->store.servers) {
        myr_buf_printf(buf, "%u storage servers with %.0f GB/s of ports", q->store.servers,
                       q->store.server_bytes_per_s / 1e9);
    }
    myr_buf_printf(buf, ", %.2f MW with cooling\n", q->watts * q->pue / 1e6);
    for (uint32_t i = 0; i < run->case_count; i++) {
        put_text_case(run, &run->cases[i], buf);
    }
}

static int write_report(const struct run *run, struct myr_arena *arena, struct myr_err *err)
{
    struct myr_campaign_case cases[CASES_MAX];
    struct myr_buf buf = {0};
    for (uint32_t i = 0; i < run->case_count; i++) {
        const struct outcome *c = &run->cases[i];
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
    struct run *run = myr_xcalloc(1, sizeof(*run));
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    run->asked = *options;
    run->o = &run->asked;
    run->a = cli_fit_asked_new();
    int rc = answer(run, &err);
    rc = rc < 0 || !options->report ? rc : write_report(run, &run->a->arena, &err);
    if (rc == MYR_OK) {
        if (options->format == MYR_FORMAT_JSON) {
            put_json(run, &buf);
        } else {
            put_text(run, &buf);
        }
    }
    int code = rc < 0 ? cli_fit_error(&err) : cli_print(&buf);
    myr_recovery_done(&run->recovery);
    myr_buf_done(&buf);
    cli_fit_asked_free(run->a);
    free(run);
    return code;
}
