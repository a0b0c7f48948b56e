/*
 * A training run planned: how it is told. Planned by the library (myr_training_plan), a case for
 * each practice and rate; here they go into the tree, onto the page and into a report.
 */
#include "goodput/goodput.h"

/* One place that checkpoints go to: failures that are mended from there, and what they cost. */
static void put_tier(struct myr_answer *answer, const char *name, const struct myr_tier *tier,
                     double interval_s, uint64_t steps)
{
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "tier", name);
    myr_answer_double(answer, "failures_per_day", tier->rate * 86400, 6);
    myr_answer_double(answer, "interval_s", interval_s, 3);
    myr_answer_u64(answer, "interval_steps", steps);
    myr_answer_double(answer, "stall_s", tier->stall, 6);
    myr_answer_double(answer, "recovery_s", tier->recovery, 3);
    myr_answer_end(answer);
}

/* A sum with a part that nobody knows is not told. */
static void put_money(struct myr_answer *answer, const struct myr_training *t,
                      const struct myr_training_case *it)
{
    const struct myr_campaign *c = &it->campaign;
    myr_answer_object(answer, "money");
    myr_answer_text(answer, "currency", t->facility.currency);
    cli_put_known(answer, "electricity", t->facility.kwh.known, c->energy_cost, 0);
    cli_put_known(answer, "machines", it->priced, c->machine_cost, 0); /* unpriced is not free */
    myr_answer_bool(answer, "machines_without_gpu_servers", t->facility.servers_unpriced);
    cli_put_known(answer, "total", it->total_cost >= 0, it->total_cost, 0);
    myr_answer_end(answer);
}

/* Without tokens to train there is no end to tell of; nor where failures leave no progress. */
static void put_days(struct myr_answer *answer, const struct myr_training *t,
                     const struct myr_training_case *it)
{
    const struct myr_campaign *c = &it->campaign;
    if (!(t->question.tokens > 0) || !c->ends) {
        /* All keys are always there: what has nothing to say is null. */
        static const char *const unknown[] = {"days", "days_interval", "days_interval_failures",
                                              "energy_mwh", "money"};
        for (size_t i = 0; i < MYR_ARRAY_COUNT(unknown); i++) {
            myr_answer_null(answer, unknown[i]);
        }
        return;
    }
    myr_answer_double(answer, "days", c->days, 6);
    /* With the error of the step time; then by failures alone. */
    cli_put_pair(answer, "days_interval", it->days[0], it->days[1], 6);
    cli_put_pair(answer, "days_interval_failures", c->days_low, c->days_high, 6);
    myr_answer_double(answer, "energy_mwh", c->energy_mwh, 3);
    put_money(answer, t, it);
}

/* One practice at one rate: its failures, its checkpoints, its layout, and what comes of it. */
static void put_case(struct myr_answer *answer, const struct myr_training *t,
                     const struct myr_training_case *it)
{
    const struct myr_campaign *c = &it->campaign;
    const struct myr_renewal *r = &c->renewal;
    myr_answer_object(answer, NULL);
    cli_goodput_put_renewal(answer, it->practice, it->rate, r, &c->goodput, &it->played);
    myr_answer_null(answer, "recovery_needed_s");
    myr_answer_list(answer, "tiers");
    if (r->quick.rate > 0) {
        put_tier(answer, "memory", &r->quick, r->interval, it->interval_steps);
    }
    put_tier(answer, "storage", &r->durable, r->interval * r->per_period,
             it->interval_steps * r->per_period);
    myr_answer_end(answer);
    myr_answer_double(answer, "write_s", c->write_s, 3);
    myr_answer_double(answer, "read_s", c->read_s, 3);
    myr_answer_double(answer, "write_gb_per_s", c->write_bytes_per_s / 1e9, 3);
    myr_answer_double(answer, "read_gb_per_s", c->read_bytes_per_s / 1e9, 3);
    myr_answer_object(answer, "layout");
    cli_put_layout(answer, &c->layout);
    myr_answer_end(answer);
    /* The layout with the most kept tokens need not be the quickest: its checkpoints count, too. */
    bool ranked = !t->it.has_layout; /* one that was given was compared with no other */
    cli_put_known(answer, "layout_rank", ranked, c->choice + 1, 0); /* by step time */
    myr_answer_double(answer, "step_s", c->step_s, 6);
    cli_put_known(answer, "layout_gap_percent", ranked, 100 * c->layout_gap, 4);
    myr_answer_double(answer, "checkpoint_gb_per_rank", c->rank_bytes / 1e9, 4);
    myr_answer_u64(answer, "spares", c->spares);
    cli_put_known(answer, "spares_in_design", t->it.has_design, t->nodes_left, 0);
    myr_answer_double(answer, "spares_out", c->spares_out, 7);
    myr_answer_double(answer, "nodes_in_repair", c->repairs, 4);
    myr_answer_double(answer, "tokens_per_day", c->tokens_per_day, 0);
    put_days(answer, t, it);
    myr_answer_end(answer);
}

/* Keys that are there whether a layout fits or not. */
static void put_head(struct myr_answer *answer, const struct myr_training *t,
                     const struct myr_err *why)
{
    cli_fit_put_found(answer, why);
    cli_fit_put_case(answer, &t->it, false);
    myr_answer_u64(answer, "gpus_per_node", t->question.gpus_per_node);
}

/* No layout fits: that is the answer. */
static void put_nothing(struct cli *cli, const struct myr_training *t, const struct myr_err *why)
{
    static const char *const keys[] = {"tokens",  "spare_risk", "checkpoint_tb",
                                       "storage", "power_mw",   "facility"};
    struct myr_answer *answer = &cli->answer;
    put_head(answer, t, why);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        myr_answer_null(answer, keys[i]);
    }
    struct myr_value *cases = myr_answer_list(answer, "cases");
    myr_answer_end(answer);
    myr_answer_rows(answer, cases);
    myr_answer_null(answer, "failures_per_day_by_class");
    cli_fit_show_nothing(answer, why);
    if (cli->common.format == MYR_FORMAT_CSV) { /* no rows, but the names of their columns */
        static const struct myr_answer_column columns[] = {
            MYR_COLUMN("practice", "PRACTICE", 0), MYR_COLUMN("rate", "RATE", 0),
            MYR_COLUMN("goodput", "GOODPUT", 0), MYR_COLUMN("step_s", "STEP s", 0),
            MYR_COLUMN("days", "DAYS", 0)};
        myr_answer_table(answer, cases, columns, MYR_ARRAY_COUNT(columns));
    }
    cli->no = true;
}

/* The size of a checkpoint is the model's: it is the same in all cases. */
static void put_tree(struct myr_answer *answer, const struct myr_training *t)
{
    const struct myr_campaign_question *q = &t->question;
    put_head(answer, t, NULL);
    cli_put_known(answer, "tokens", q->tokens > 0, q->tokens, 0);
    myr_answer_double(answer, "spare_risk", q->spare_risk, 9);
    myr_answer_double(answer, "checkpoint_tb", t->cases[0].campaign.checkpoint_bytes / 1e12, 4);
    myr_answer_text(answer, "storage", q->store.servers ? "planned" : "practice");
    myr_answer_double(answer, "power_mw", q->watts * q->pue / 1e6, 4);
    cli_goodput_put_facility(answer, &t->facility);
    struct myr_value *cases = myr_answer_list(answer, "cases");
    for (uint32_t i = 0; i < t->case_count; i++) {
        put_case(answer, t, &t->cases[i]);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, cases);
    myr_answer_list(answer, "failures_per_day_by_class");
    for (uint32_t i = 0; i < t->class_count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "class", t->classes[i].row->key);
        myr_answer_double(answer, "per_day", t->classes[i].per_day, 5);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* The page */

const char *cli_goodput_time(struct myr_arena *arena, double seconds)
{
    static const struct myr_unit units[] = {
        {1, 120, 1, MYR_UNIT_BEHIND, "s"},
        {60, 120, 1, MYR_UNIT_BEHIND, "min"},
        {3600, 48, 1, MYR_UNIT_BEHIND, "h"},
        {86400, 730, 1, MYR_UNIT_BEHIND, "days"},
        {86400 * 365.0, 0, 4, MYR_UNIT_SIGNIFICANT, "years"},
    };
    char text[MYR_AMOUNT_BYTES];
    return myr_arena_printf(arena, "%s",
                            myr_text_in_unit(seconds, units, MYR_ARRAY_COUNT(units), text));
}

/* "1.24 M", "35,100": money for people. */
static const char *amount(struct myr_arena *arena, double value, const char *currency)
{
    static const struct myr_unit units[] = {
        {1, 1e5, 0, MYR_UNIT_GROUPED, ""},
        {1e6, 0, 2, MYR_UNIT_BEHIND, "M "},
    };
    char text[MYR_AMOUNT_BYTES];
    return myr_arena_printf(arena, "%s%s", myr_text_in_unit(value, units, 2, text), currency);
}

static void show_tier(struct cli *cli, const char *name, const struct myr_tier *tier,
                      double interval_s, uint64_t steps)
{
    myr_answer_fact(&cli->answer, name, "each %s (%s), stall %.2f s, recovery %s",
                    cli_goodput_time(&cli->arena, interval_s), MYR_COUNT(steps, "step"),
                    tier->stall, cli_goodput_time(&cli->arena, tier->recovery));
}

/* Short runs in hours: 0.04 days say little. */
static void show_days(struct cli *cli, const struct myr_training *t,
                      const struct myr_training_case *it)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_campaign *c = &it->campaign;
    if (!c->ends) {
        myr_answer_fact(answer, "time", "never: failures come faster than work is kept");
        return;
    }
    bool hours = c->days < 1;
    double unit = hours ? 24 : 1;
    myr_answer_fact(answer, "time", "%.2f %s (90 %%: %.2f to %.2f; by failures alone %.2f to %.2f)",
                    c->days * unit, hours ? "hours" : "days", it->days[0] * unit,
                    it->days[1] * unit, c->days_low * unit, c->days_high * unit);
    static const struct myr_unit energy[] = {{1, 100, 2, MYR_UNIT_BEHIND, "MWh"},
                                             {1, 0, 0, MYR_UNIT_GROUPED, "MWh"}};
    char mwh[MYR_AMOUNT_BYTES];
    myr_answer_fact(
        answer, "energy", "%s%s%s",
        myr_text_in_unit(c->energy_mwh, energy, MYR_ARRAY_COUNT(energy), mwh),
        t->facility.kwh.known ? ", electricity " : "",
        t->facility.kwh.known ? amount(&cli->arena, c->energy_cost, t->facility.currency) : "");
    if (it->priced) {
        myr_answer_fact(
            answer, "machines", "%s%s", amount(&cli->arena, c->machine_cost, t->facility.currency),
            t->facility.servers_unpriced ? " (no price of the GPU servers is known)" : "");
    }
}

/* That the design has fewer nodes left than the run needs spares is said only where it is so. */
static void show_spares(struct cli *cli, const struct myr_training *t, const struct myr_campaign *c)
{
    const char *left = "";
    if (t->it.has_design && t->nodes_left < c->spares) {
        left =
            myr_arena_printf(&cli->arena, "; the design has %s left", MYR_GROUPED(t->nodes_left));
    }
    myr_answer_fact(&cli->answer, "spares",
                    "%s (%s in repair on average; short %.2g %% of the time)%s",
                    MYR_COUNT(c->spares, "node"),
                    c->repairs < 99.5 ? myr_arena_printf(&cli->arena, "%.2g", c->repairs)
                                      : MYR_NUMBER(c->repairs, 0),
                    100 * c->spares_out, left);
}

static void show_case(struct cli *cli, const struct myr_training *t,
                      const struct myr_training_case *it)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_campaign *c = &it->campaign;
    const struct myr_renewal *r = &c->renewal;
    myr_answer_heading(answer, "%s practice, %.4g failures per 1,000 node-days (%s)",
                       it->practice == MYR_PRACTICE_COMMON ? "Common" : "Best",
                       it->rate.per_1000_node_days, it->rate.name);
    myr_answer_fact(answer, "goodput", "%.2f %% (stalled %.2f, recovering %.2f, repeated %.2f)",
                    100 * c->goodput.goodput, 100 * c->goodput.stalled, 100 * c->goodput.recovering,
                    100 * c->goodput.repeated);
    myr_answer_fact(answer, "failures", "one each %s",
                    cli_goodput_time(&cli->arena, c->goodput.mean_time_between_s));
    if (it->played.known) {
        myr_answer_fact(answer, "played", "%.3f +- %.3f %%", 100 * it->played.goodput,
                        100 * it->played.error);
    }
    if (r->quick.rate > 0) {
        show_tier(cli, "memory", &r->quick, r->interval, it->interval_steps);
    }
    show_tier(cli, "storage", &r->durable, r->interval * r->per_period,
              it->interval_steps * r->per_period);
    myr_answer_fact(answer, "checkpoint", "writes in %.1f s at %s GB/s, reads in %.1f s",
                    c->write_s, MYR_NUMBER(c->write_bytes_per_s / 1e9, 0), c->read_s);
    const char *rank = t->it.has_layout
                           ? "as given"
                           : myr_arena_printf(&cli->arena, "%u. by step time", c->choice + 1);
    myr_answer_fact(answer, "layout", "%s, %.3f s: %s", rank, c->step_s,
                    cli_layout_words(&cli->arena, &c->layout));
    show_spares(cli, t, c);
    myr_answer_fact(answer, "tokens", "%.3f billion a day", c->tokens_per_day / 1e9);
    if (t->question.tokens > 0) {
        show_days(cli, t, it);
    }
}

static void show(struct cli *cli, const struct myr_training *t, const char *report)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_campaign_question *q = &t->question;
    /* A design with storage servers says how fast they are; without one practice does. */
    const char *store = "storage by practice's rates";
    if (q->store.servers) {
        store = myr_arena_printf(&cli->arena, "%s with %s GB/s of ports",
                                 MYR_COUNT(q->store.servers, "storage server"),
                                 MYR_NUMBER(q->store.server_bytes_per_s / 1e9, 0));
    }
    myr_answer_para(answer, "%s on %s x %s, batch %s x %s, %s, checkpoint %.2f TB, %s",
                    t->it.model.name, MYR_GROUPED(t->it.query.gpus), q->it.device->name,
                    MYR_GROUPED(t->it.query.batch), MYR_COUNT(t->it.query.seq_tokens, "token"),
                    q->it.stack->name, t->cases[0].campaign.checkpoint_bytes / 1e12, store);
    cli_fit_show_device(answer, &t->it);
    cli_fit_show_basis(answer, &t->it);
    cli_goodput_show_facility(answer, &t->facility, q->tokens > 0);
    for (uint32_t i = 0; i < t->case_count; i++) {
        show_case(cli, t, &t->cases[i]);
    }
    if (report) {
        myr_answer_fact(answer, "report", "%s", report);
    } else {
        myr_answer_next(answer, "for a page with plots", "%s --report run.html",
                        cli_again(cli, cli->command, NULL));
    }
}

/* Before anything is printed: what cannot be written is an error, and then there is no answer. */
static int write_report(const struct myr_training *t, const char *path, struct myr_arena *arena,
                        struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    struct myr_campaign_case cases[MYR_TRAINING_CASES];
    if (!path) {
        return MYR_OK;
    }
    for (uint32_t i = 0; i < t->case_count; i++) {
        const struct myr_training_case *c = &t->cases[i];
        cases[i] = (struct myr_campaign_case){myr_practice_name(c->practice), c->rate.name,
                                              c->rate.per_1000_node_days, &c->campaign, c->spread};
    }
    const struct myr_campaign_report report = {
        .question = &t->question,
        .query = &t->it.query,
        .cases = cases,
        .count = t->case_count,
        .facility = &t->facility,
        .gpus_most = t->it.has_design ? t->it.design.head->gpus : 0,
    };
    MYR_TRY(myr_campaign_report_html(&report, arena, &buf, err));
    return myr_file_write(path, &buf, err);
}

/* For MYR_CLEANUP on one that lies in the arena. */
static void close_training(struct myr_training **t)
{
    myr_training_done(*t);
}

int cli_goodput_training(struct cli *cli, const struct myr_training_question *question,
                         const char *report, struct myr_err *err)
{
    MYR_CLEANUP(close_training)
    struct myr_training *t = MYR_ARENA_ONE(&cli->arena, struct myr_training);
    struct myr_err why = {};
    int rc = myr_training_plan(t, &cli->arena, question, &why);
    /* That no layout fits is an answer, with exit status 1; all else is an error. */
    if (rc == MYR_EINFEASIBLE) {
        put_nothing(cli, t, &why);
        return MYR_OK;
    }
    if (rc < 0) {
        *err = why;
        return rc;
    }
    MYR_TRY(write_report(t, report, &cli->arena, err));
    put_tree(&cli->answer, t);
    show(cli, t, report);
    return MYR_OK;
}
