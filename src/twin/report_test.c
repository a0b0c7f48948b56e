/*
 * The page of a run whose figures are made up, so that every curve has a place of its own and
 * nothing begins at nothing; behind its style it is held against tests/kept/twin-pages.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/twin.h"

enum { HOUR_MS = 3600000 };

static struct myr_twin_result made_up(int64_t end_ms, uint32_t samples, uint32_t waits)
{
    struct myr_twin_result r = {.seed = 77,
                                .end_ms = end_ms,
                                .submitted = 9,
                                .done = 7,
                                .gpu_utilisation = 0.8125,
                                .goodput = 0.75,
                                .wait_mean_h = 1.25,
                                .failures = 12,
                                .recovery_p50_s = 345,
                                .long_count = 2,
                                .longest = {{.job = 4, .gpus = 64, .hours = 30.5, .ettr = 0.875},
                                            {.job = 2, .gpus = 8, .hours = 20, .failures = 3}}};
    for (uint32_t i = 0; i < samples; i++) {
        struct myr_twin_sample sample = {.now_ms = end_ms / samples * (i + 1),
                                         .busy_gpus = 40 + 3 * i,
                                         .held_gpus = 60 + 2 * i,
                                         .waiting = 20 + i * i,
                                         .nodes_out = 5 - i % 3,
                                         .failures = 7 + 2 * i};
        myr_vec_push(&r.samples, sample);
    }
    for (uint32_t i = 0; i < waits; i++) {
        myr_vec_push(&r.wait_h, 2 + 0.5 * i);
        myr_vec_push(&r.recovery_s, 100 + 10.0 * i * i);
    }
    return r;
}

/* Without what is the same on every page: its styles. */
static void put_body(const char *line, struct myr_buf *text)
{
    while (*line) {
        size_t len = strcspn(line, "\n");
        if (strncmp(line, "<style>", 7) != 0 && strncmp(line, "@media", 6) != 0) {
            myr_buf_printf(text, "%.*s\n", (int)len, line);
        }
        line += len + (line[len] == '\n');
    }
}

static void put_page(struct myr_twin_result *r, struct myr_buf *text)
{
    struct myr_buf page = {};
    struct myr_scenario scenario = {.name = "a scenario of a very long name, of which the page "
                                            "shows the first eighty bytes and no more than that",
                                    .shape = {24, 4, 8, 24}};
    myr_twin_page(&scenario, r, &page);
    const char *body = strstr(page.data, "</style>");
    assert_non_null(body);
    myr_buf_printf(text, "==== until %lld ms, %zu samples, %zu waits\n", (long long)r->end_ms,
                   r->samples.count, r->wait_h.count);
    put_body(body, text);
    myr_buf_done(&page);
    myr_twin_result_done(r);
}

static void pages_show_what_the_result_says(void **state)
{
    (void)state;
    struct myr_buf text = {};
    struct myr_twin_result hours = made_up(72 * (int64_t)HOUR_MS - 1, 4, 3);
    struct myr_twin_result days = made_up(72 * (int64_t)HOUR_MS, 2, 1);
    struct myr_twin_result none = made_up(HOUR_MS, 0, 0);
    days.violations = 3;
    days.first_rule = "leak";
    snprintf(days.first_violation, sizeof(days.first_violation), "gpu/00001/2 <is> nobody's");
    put_page(&hours, &text);
    put_page(&days, &text);
    put_page(&none, &text);
    assert_kept("twin-pages.txt", &text);
    myr_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_show_what_the_result_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
