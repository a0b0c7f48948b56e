/*
 * Whole reports, as text: what stands between the tags, a line each, with a digest of the tags and
 * pictures (tests/kept/plan-reports.txt). In both languages, with and without the phase after it.
 */
#include "myriad/plan/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/plan/grow.h"
#include "pages_test.h"
#include "planned_test.h"

/* Text of a page; what stands in a picture, a style or a script counts as a tag. */
static void tell_text(const struct myr_buf *page, struct myr_buf *told)
{
    static const char *const skipped[][2] = {
        {"<svg", "</svg>"}, {"<style", "</style>"}, {"<script", "</script>"}};
    uint64_t tags = page->len;
    bool open = false;
    for (size_t at = 0; at < page->len;) {
        size_t len = 1;
        const char *from = page->data + at;
        if (*from == '<') {
            const char *end = strchr(from, '>');
            for (size_t i = 0; i < MYR_ARRAY_COUNT(skipped); i++) {
                if (strncmp(from, skipped[i][0], strlen(skipped[i][0])) == 0) {
                    end = strstr(from, skipped[i][1]) + strlen(skipped[i][1]) - 1;
                }
            }
            assert_non_null(end);
            len = (size_t)(end - from) + 1;
            tags = myr_hash_u64(tags + myr_hash_bytes(from, len));
            if (open) {
                myr_buf_puts(told, "\n");
                open = false;
            }
        } else if (*from != '\n') {
            myr_buf_puts(told, open ? "" : "  ");
            myr_buf_putc(told, *from);
            open = true;
        }
        at += len;
    }
    myr_buf_printf(told, "%s  %zu bytes, tags %016llx\n", open ? "\n" : "", page->len,
                   (unsigned long long)tags);
}

static void tell_report(const struct planned *p, const struct myr_plan_about *about,
                        struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    myr_plan_report(&p->design, about, &page);
    tell_text(&page, told);
}

static void reports_say_what_they_said(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pages); i++) {
        struct planned p;
        struct myr_lang lang = {};
        bool other;
        struct myr_plan_about about = {.date = "2026-11-17", .spec = "s.yaml"};
        planned_begin(&p, pages[i]);
        myr_buf_printf(&told, "== %s", pages[i]);
        if (i % 3 == 1) {
            assert_int_equal(myr_report_language(&p.arena, "zh", &lang, &other, &p.err), MYR_OK);
            about.lang = &lang;
            about.revision = "C";
        }
        tell_report(&p, &about, &told);
        myr_lang_done(&lang);
        planned_end(&p);
    }
    assert_kept("plan-reports.txt", &told);
}

static void a_report_tells_of_the_phase_after_it(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    static const char *const specs[][2] = {
        {"servers: 64\nprices: cn-2024-05\nsupplied: [servers]\nnetworks: {compute: {switch: "
         "mqm9790-ns2f}, oob: }\n",
         "servers: 128\nprices: cn-2024-05\nsupplied: [servers]\nnetworks: {compute: {switch: "
         "mqm9790-ns2f}, oob: }\n"},
        {"servers: 4\nnetworks: {compute: {topology: clos}}\n",
         "servers: 9\nnetworks: {compute: {topology: clos}, oob: }\n"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct planned p, next;
        struct myr_growth growth;
        struct myr_plan_about about = {.next = &growth, .options = "--next later.yaml"};
        planned_begin(&p, specs[i][0]);
        planned_begin(&next, specs[i][1]);
        assert_int_equal(myr_grow(&p.arena, &p.catalog, &p.design, &next.design,
                                  (struct myr_grow_names){"now", "later"}, &growth, &p.err),
                         MYR_OK);
        myr_buf_printf(&told, "== %sto %s", specs[i][0], specs[i][1]);
        tell_report(&p, &about, &told);
        planned_end(&next);
        planned_end(&p);
    }
    assert_kept("plan-reports-next.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_say_what_they_said),
        cmocka_unit_test(a_report_tells_of_the_phase_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
