#include "goodput_run.h"

/* Copies are taken between steps: the nearest number of them. */
static uint64_t steps_of(double interval_s, double step_s)
{
    double steps = interval_s / step_s;
    return steps < 1 ? 1 : steps < 1e15 ? (uint64_t)(steps + 0.5) : (uint64_t)1e15;
}

static void put_tier(struct myr_json *json, const char *name, const struct myr_tier *tier,
                     double interval_s, uint64_t steps)
{
    myr_json_object(json, NULL);
    myr_json_text(json, "tier", name);
    myr_json_double(json, "failures_per_day", tier->rate * 86400, 6);
    myr_json_double(json, "interval_s", interval_s, 3);
    myr_json_u64(json, "interval_steps", steps);
    myr_json_double(json, "stall_s", tier->stall, 6);
    myr_json_double(json, "recovery_s", tier->recovery, 3);
    myr_json_end(json);
}

static void put_money(struct myr_json *json, const struct goodput_run *run,
                      const struct myr_campaign *c)
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
    if (run->kwh_known) {
        myr_json_double(json, "electricity", c->energy_cost, 0);
    } else {
        myr_json_null(json, "electricity");
    }
    if (run->question.price_per_hour > 0) {
        myr_json_double(json, "machines", c->machine_cost, 0);
    } else {
        myr_json_null(json, "machines"); /* a part without a price is not free */
    }
    myr_json_bool(json, "machines_without_gpu_servers", run->servers_unpriced);
    if (run->kwh_known && run->question.price_per_hour > 0 && !run->servers_unpriced) {
        myr_json_double(json, "total", c->energy_cost + c->machine_cost, 0);
    } else {
        myr_json_null(json, "total");
    }
    myr_json_end(json);
}

/* Nodes of the design that the job does not use. */
static uint32_t nodes_left(const struct goodput_run *run)
{
    const struct myr_design_head *head = run->a->design.head;
    return (head->gpus - (uint32_t)run->o->gpus) / head->gpus_per_node;
}

static void put_case(struct myr_json *json, const struct goodput_run *run,
                     const struct goodput_case *it)
{
    const struct myr_campaign *c = &it->campaign;
    const struct myr_renewal *r = &c->renewal;
    myr_json_object(json, NULL);
    myr_json_text(json, "practice", it->practice);
    myr_json_text(json, "rate", it->rate_name);
    myr_json_double(json, "failures_per_1000_node_days", it->rate, 4);
    myr_json_double(json, "goodput", c->goodput.goodput, 6);
    double played, error;
    if (cli_goodput_play(run->o, r, &played, &error)) {
        myr_json_double(json, "played", played, 6);
        myr_json_double(json, "played_error", error, 6);
    }
    myr_json_double(json, "stalled", c->goodput.stalled, 6);
    myr_json_double(json, "recovering", c->goodput.recovering, 6);
    myr_json_double(json, "repeated", c->goodput.repeated, 6);
    myr_json_double(json, "mtbf_h", c->goodput.mean_time_between_s / 3600, 6);
    uint64_t steps = steps_of(r->interval, c->step_s);
    myr_json_list(json, "tiers");
    if (r->quick.rate > 0) {
        put_tier(json, "memory", &r->quick, r->interval, steps);
    }
    put_tier(json, "storage", &r->durable, r->interval * r->per_period, steps * r->per_period);
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
    if (run->a->has_design) {
        myr_json_u64(json, "spares_in_design", nodes_left(run));
    }
    myr_json_double(json, "spares_out", c->spares_out, 7);
    myr_json_double(json, "nodes_in_repair", c->repairs, 4);
    myr_json_double(json, "tokens_per_day", c->tokens_per_day, 0);
    if (run->question.tokens > 0) {
        put_money(json, run, c);
    }
    myr_json_end(json);
}

void goodput_put_json(const struct goodput_run *run, struct myr_buf *buf)
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

static void put_every(struct myr_buf *buf, double interval_s, uint64_t steps)
{
    put_time(buf, interval_s);
    myr_buf_printf(buf, " (%llu step%s)", (unsigned long long)steps, steps == 1 ? "" : "s");
}

/* "1.24 M", "35100": money for people. */
static void put_amount(struct myr_buf *buf, double amount)
{
    bool large = amount >= 1e5;
    myr_buf_printf(buf, large ? "%.2f M" : "%.0f", large ? amount / 1e6 : amount);
}

static void put_days(const struct goodput_run *run, const struct myr_campaign *c,
                     struct myr_buf *buf)
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
    myr_buf_printf(buf, "  energy   %.*f MWh", c->energy_mwh < 100 ? 2 : 0, c->energy_mwh);
    if (run->kwh_known) {
        myr_buf_put_lit(buf, ", electricity ");
        put_amount(buf, c->energy_cost);
        myr_buf_printf(buf, " %s", run->currency);
    }
    if (run->question.price_per_hour > 0) {
        myr_buf_put_lit(buf, ", machines ");
        put_amount(buf, c->machine_cost);
        myr_buf_printf(buf, " %s%s", run->currency,
                       run->servers_unpriced ? " (no price of the GPU servers is known)" : "");
    }
    myr_buf_putc(buf, '\n');
}

static void put_spares(const struct goodput_run *run, const struct myr_campaign *c,
                       struct myr_buf *buf)
{
    myr_buf_printf(buf,
                   "  spares   %u node%s (%.2g in repair on average; short %.2g %% of the time)",
                   c->spares, c->spares == 1 ? "" : "s", c->repairs, 100 * c->spares_out);
    if (run->a->has_design && nodes_left(run) < c->spares) {
        myr_buf_printf(buf, "; the design has %u left", nodes_left(run));
    }
    myr_buf_putc(buf, '\n');
}

static void put_text_case(const struct goodput_run *run, const struct goodput_case *it,
                          struct myr_buf *buf)
{
    const struct myr_campaign *c = &it->campaign;
    const struct myr_renewal *r = &c->renewal;
    const struct myr_layout *l = &c->layout;
    uint64_t steps = steps_of(r->interval, c->step_s);
    myr_buf_printf(buf, "\n%s practice, %.4g failures per 1,000 node-days (%s): one each ",
                   it->practice, it->rate, it->rate_name);
    put_time(buf, c->goodput.mean_time_between_s);
    myr_buf_printf(buf, "\n  goodput %.2f %%  (stalled %.2f, recovering %.2f, repeated %.2f)\n",
                   100 * c->goodput.goodput, 100 * c->goodput.stalled, 100 * c->goodput.recovering,
                   100 * c->goodput.repeated);
    double played, error;
    if (cli_goodput_play(run->o, r, &played, &error)) {
        myr_buf_printf(buf, "  played   %.3f +- %.3f %%\n", 100 * played, 100 * error);
    }
    if (r->quick.rate > 0) {
        myr_buf_put_lit(buf, "  memory   each ");
        put_every(buf, r->interval, steps);
        myr_buf_printf(buf, ", stall %.2f s, recovery ", r->quick.stall);
        put_time(buf, r->quick.recovery);
        myr_buf_putc(buf, '\n');
    }
    myr_buf_put_lit(buf, "  storage  each ");
    put_every(buf, r->interval * r->per_period, steps * r->per_period);
    myr_buf_printf(buf, ", stall %.2f s, recovery ", r->durable.stall);
    put_time(buf, r->durable.recovery);
    myr_buf_printf(buf, "; writes in %.1f s at %.0f GB/s, reads in %.1f s\n", c->write_s,
                   c->write_bytes_per_s / 1e9, c->read_s);
    myr_buf_printf(buf,
                   "  layout   %u. by step time: tp %u pp %u vp %u dp %u cp %u ep %u, %.3f s\n",
                   c->choice + 1, l->tp, l->pp, l->vp, l->dp, l->cp, l->ep, c->step_s);
    put_spares(run, c, buf);
    myr_buf_printf(buf, "  tokens   %.3f billion a day\n", c->tokens_per_day / 1e9);
    if (run->question.tokens > 0) {
        put_days(run, c, buf);
    }
}

void goodput_put_text(const struct goodput_run *run, struct myr_buf *buf)
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

/* The cases as rows: for a spreadsheet. */
void goodput_put_table(const struct goodput_run *run, struct myr_buf *buf)
{
    enum { NUMBER = MYR_COLUMN_NUMBER };
    static const struct myr_column columns[] = {{"practice", "", 0},
                                                {"rate", "", 0},
                                                {"failures_per_1000_node_days", "", NUMBER},
                                                {"mtbf_h", "", NUMBER},
                                                {"goodput", "", NUMBER},
                                                {"copy_interval_s", "", NUMBER},
                                                {"storage_interval_s", "", NUMBER},
                                                {"step_s", "", NUMBER},
                                                {"spares", "", NUMBER},
                                                {"tokens_per_day", "", NUMBER},
                                                {"days", "", NUMBER},
                                                {"days_low", "", NUMBER},
                                                {"days_high", "", NUMBER},
                                                {"energy_mwh", "", NUMBER},
                                                {"electricity", "", NUMBER},
                                                {"machines", "", NUMBER}};
    struct myr_table table;
    myr_table_init(&table, &run->a->arena, columns, MYR_ARRAY_COUNT(columns));
    for (uint32_t i = 0; i < run->case_count; i++) {
        const struct goodput_case *it = &run->cases[i];
        const struct myr_campaign *c = &it->campaign;
        bool ends = run->question.tokens > 0 && c->ends;
        double range[2] = {0};
        if (ends) {
            myr_campaign_days(c, run->spread, range);
        }
        myr_table_text(&table, it->practice);
        myr_table_text(&table, it->rate_name);
        myr_table_double(&table, it->rate, 4);
        myr_table_double(&table, c->goodput.mean_time_between_s / 3600, 6);
        myr_table_double(&table, c->goodput.goodput, 6);
        myr_table_double(&table, c->renewal.interval, 3);
        myr_table_double(&table, c->renewal.interval * c->renewal.per_period, 3);
        myr_table_double(&table, c->step_s, 6);
        myr_table_u64(&table, c->spares);
        myr_table_double(&table, c->tokens_per_day, 0);
        cli_goodput_optional(&table, ends, c->days, 6);
        cli_goodput_optional(&table, ends, range[0], 6);
        cli_goodput_optional(&table, ends, range[1], 6);
        cli_goodput_optional(&table, ends, c->energy_mwh, 3);
        cli_goodput_optional(&table, ends && run->kwh_known, c->energy_cost, 0);
        cli_goodput_optional(&table, ends && run->question.price_per_hour > 0, c->machine_cost, 0);
    }
    myr_table_write(&table, (enum myr_format)run->o->format, buf);
    myr_table_done(&table);
}
