/*
 * Pages of runs and layouts that few people ask for: failures each minute, runs that never end,
 * prices in part, more cases and layouts than a page shows. Their words are held against what they
 * were when somebody last looked (tests/kept); shapes of drawings are left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "kept.h"
#include "myriad/fit/report.h"
#include "test_world.h"

enum { CASES = 17 };

static struct myr_model model;
static struct myr_recovery recovery;
static struct myr_fit_query query;
static struct myr_campaign campaigns[CASES];
static struct myr_campaign_case cases[CASES];
static struct myr_campaign_question question;
static struct myr_run_facility facility;

static int setup(void **state)
{
    bool exact;
    MYR_TRY(open_world(state));
    MYR_TRY(myr_recovery_init(&recovery, &arena, NULL));
    MYR_TRY(myr_model_find(&arena, "llama3-8b", &model, NULL));
    query = myr_fit_query_default();
    query.it = (struct myr_fit_case){.model = &model, .constants = profiles.constants};
    MYR_TRY(myr_profiles_device(&profiles, MYR_STR("h100"), &query.it.device, NULL));
    return myr_profiles_stack(&profiles, MYR_STR("NeMo 25.05"), &query.it.stack, &exact, NULL);
}

static int teardown(void **state)
{
    myr_recovery_done(&recovery);
    return close_world(state);
}

/* Figures that no two cases share, so that none can stand in another's place. */
static void fill_cases(void)
{
    for (uint32_t i = 0; i < CASES; i++) {
        struct myr_campaign *c = &campaigns[i];
        *c = (struct myr_campaign){.layout = myr_layout_default(), .step_s = 2.5 + i};
        c->layout.tp = 2;
        c->layout.dp = 16;
        c->layout.global_batch = 64;
        c->renewal = (struct myr_renewal){
            .durable = {1e-5 * (1 + i), 30, 300}, .interval = 500 + i, .per_period = 1 + i % 4};
        c->goodput = (struct myr_goodput){.goodput = 0.9 - 0.01 * i,
                                          .stalled = 0.05,
                                          .recovering = 0.03,
                                          .repeated = 0.02 + 0.01 * i,
                                          .mean_time_between_s = 7199};
        c->checkpoint_bytes = 1.2e11;
        c->spares = 1 + i;
        c->ends = true;
        c->days = 20 + i;
        c->days_low = c->days * 0.98;
        c->days_high = c->days * 1.03;
        c->energy_mwh = 99 + 0.5 * i; /* the third is 100: from there on no decimals */
        cases[i] = (struct myr_campaign_case){i % 2 ? "best" : "common", i < 2 ? "a" : "b & c",
                                              0.5 * (1 + i), c, 0.1};
    }
    query.gpus = 32;
    query.batch = 64;
    query.seq_tokens = 8192;
    query.tp = 2;
    query.pp = 1;
    query.zero = 1; /* little to search: the page is what is tested */
    query.recompute = MYR_RECOMPUTE_NONE;
    query.schedule = MYR_SCHEDULE_1F1B;
    query.top = 2;
    question = (struct myr_campaign_question){.it = query.it,
                                              .recovery = &recovery,
                                              .gpus_per_node = 8,
                                              .rate_per_s = 1e-7,
                                              .interval_s = 600, /* none is searched for */
                                              .spare_risk = 0.001,
                                              .watts = 4e4,
                                              .pue = 1.2};
    facility = (struct myr_run_facility){
        .it_watts = {true, 4e4, MYR_RUN_DESIGN, MYR_BASIS_COUNTED},
        .pue = {true, 1.2, MYR_RUN_DESIGN, MYR_BASIS_ASSUMED},
        .kwh = {true, 0.11, MYR_RUN_OPTION, MYR_BASIS_GIVEN},
        .currency = "EUR",
    };
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Words of drawings, and all that is outside of them; the style is the page's own matter. */
static void put_words(struct myr_buf *out, const char *name, struct myr_buf *page)
{
    bool drawing = false;
    myr_buf_printf(out, "== %s\n", name);
    myr_buf_putc(page, '\0');
    for (char *rest = page->data, *line; (line = strsep(&rest, "\n"));) {
        drawing = drawing || begins(line, "<svg");
        bool shape = drawing && !begins(line, "<text") && !begins(line, "<title");
        drawing = drawing && !begins(line, "</svg");
        char *style = strstr(line, "<style");
        if (style) {
            *style = '\0';
        }
        if (!shape && *line) {
            myr_buf_printf(out, "%s\n", line);
        }
    }
}

static void put_run(struct myr_buf *out, const char *name, uint32_t count, uint32_t gpus_most)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    struct myr_err err = {};
    const struct myr_campaign_report report = {.question = &question,
                                               .query = &query,
                                               .cases = cases,
                                               .count = count,
                                               .facility = &facility,
                                               .gpus_most = gpus_most};
    if (myr_campaign_report_html(&report, &arena, &page, &err) < 0) {
        fail_msg("%s: %s", name, err.message);
    }
    put_words(out, name, &page);
}

static void put_runs(struct myr_buf *out)
{
    struct myr_fit_topology flat = {};
    fill_cases();
    for (uint32_t i = 0; i < CASES; i++) { /* not asked for */
        campaigns[i].days = campaigns[i].energy_mwh = 0;
    }
    put_run(out, "no tokens, a failure in less than two hours", 2, 0);
    fill_cases();
    campaigns[0].goodput.mean_time_between_s = 7200;
    question.tokens = 999e9;
    campaigns[1].days = 0; /* it never ends */
    put_run(out, "billions, five cases, one without an end", 5, 0);
    fill_cases();
    question.tokens = 1e12;
    question.store.servers = 4;
    question.price_per_hour = 90;
    question.price_per_kwh = 0.11;
    put_run(out, "a trillion at a price, and more cases than are shown", CASES, 0);
    facility.servers_unpriced = true;
    facility.kwh.known = false;
    put_run(out, "prices in part", 3, 0);
    for (uint32_t i = 0; i < MYR_FIT_LEVELS; i++) {
        flat.levels[i].gpus = 1U << 20;
        for (int p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
            flat.levels[i].slow[p] = 1;
        }
    }
    query.it.topology = &flat;
    put_run(out, "a design of 64 GPUs", 2, 64);
    put_run(out, "a design of 63 GPUs", 2, 63);
    query.it.topology = NULL;
    question.rate_per_s = 1; /* nothing ends: no choice is drawn */
    put_run(out, "failures each second", 2, 0);
}

static void pages_of_rare_runs_say_what_they_said(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    put_runs(&out);
    assert_kept("fit-pages.txt", &out);
}

/* Ten rows are shown, five of them with their memory. */
static void put_layouts(struct myr_buf *out, uint32_t count, const struct myr_report_text *launch,
                        uint32_t launch_count)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
    char name[64];
    answer->top_count = count;
    answer->evaluated = 1234567;
    for (uint32_t i = 0; i < count; i++) {
        struct myr_layout *l = &answer->top[i].layout;
        *l = myr_layout_default();
        l->tp = 1U << i % 4;
        l->dp = 8 / l->tp;
        l->zero = i % 4;
        l->micro_batch = 1 + i % 2;
        l->global_batch = 16;
        l->recompute = i % 3 ? MYR_RECOMPUTE_FULL : MYR_RECOMPUTE_NONE;
        l->recompute_layers = i % 3; /* "1 layer", "2 layers" */
        answer->top[i].step_s = 1.5 + 0.25 * i;
    }
    const struct myr_fit_report report = {.query = &query,
                                          .answer = answer,
                                          .spread = 0.25,
                                          .launch = launch,
                                          .launch_count = launch_count};
    myr_fit_report_html(&report, &arena, &page);
    snprintf(name, sizeof(name), "%u layouts, %u ways to launch", count, launch_count);
    put_words(out, name, &page);
}

static void pages_of_layouts_show_ten_and_escape_their_words(void **state)
{
    static const struct myr_report_text launch[] = {{"one <trainer>", "run --a 1 --b \"x\""},
                                                    {"another & more", "go --tp-size 2"}};
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    fill_cases();
    query.gpus = 8; /* one point is no line: neither growth nor sizes are drawn */
    query.batch = 16;
    put_layouts(&out, 1, NULL, 0);
    put_layouts(&out, 10, launch, 1);
    put_layouts(&out, 11, launch, 2);
    assert_null(strstr(out.data, "<trainer>"));
    assert_null(strstr(out.data, "days for 10^12 tokens"));
    assert_kept("fit-layout-pages.txt", &out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_rare_runs_say_what_they_said),
        cmocka_unit_test(pages_of_layouts_show_ten_and_escape_their_words),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
