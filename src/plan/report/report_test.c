#include "myriad/plan/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/plan/grow.h"
#include "planned_test.h"
#include "report/labels.h"

static bool has(const struct myr_buf *page, const char *words)
{
    return memmem(page->data, page->len, words, strlen(words)) != NULL;
}

static uint32_t times(const struct myr_buf *page, const char *words)
{
    uint32_t count = 0;
    const char *at = page->data, *end = page->data + page->len;
    while ((at = memmem(at, (size_t)(end - at), words, strlen(words)))) {
        count++;
        at += strlen(words);
    }
    return count;
}

static void expect(const struct myr_buf *page, const char *words)
{
    if (!has(page, words)) {
        fail_msg("the page lacks '%s'", words);
    }
}

/* The order of 2024, its compute network alone. */
#define ORDER                                                                                   \
    "server: h100-8gpu\nsupplied: [servers]\nprices: cn-2024-05\nnetworks: {compute: {switch: " \
    "mqm9790-ns2f, pin: {switch_optic: mms4x00-ns, nic_optic: mms4x00-ns400, host_cable: "      \
    "mfp7e30-n050, fabric_optic: mms4x00-ns, fabric_cable: mfp7e30-n050}}}\n"

/* What a reader sees of it: numbers without their paths. */
static void show(struct myr_buf *page)
{
    size_t put = 0;
    for (size_t at = 0; at < page->len;) {
        const char *from = page->data + at;
        size_t left = page->len - at;
        if (left > 11 && strncmp(from, "<bdi title=", 11) == 0) {
            at += (size_t)((const char *)memchr(from, '>', left) - from) + 1;
        } else if (left > 6 && strncmp(from, "</bdi>", 6) == 0) {
            at += 6;
        } else if (left > 8 && strncmp(from, " title=\"", 8) == 0) {
            at += 8 + (size_t)((const char *)memchr(from + 8, '"', left - 8) - (from + 8)) + 1;
        } else {
            page->data[put++] = page->data[at++];
        }
    }
    page->len = put;
}

static void the_page_says_what_the_plan_says(void **state)
{
    (void)state;
    struct planned p;
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    struct myr_plan_about about = {.date = "2026-11-16", .revision = "B", .spec = "s.yaml"};
    planned_begin(&p, "name: a<b\nservers: 64\n" ORDER);
    myr_report_digest(MYR_STR("abc"), about.digest);
    myr_plan_report(&p.design, &about, &page);
    assert_string_equal(about.digest,
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    show(&page);
    expect(&page, "<html lang=\"en\">");
    expect(&page, "a&lt;b");
    expect(&page, "revision B");
    expect(&page, "2026-11-16");
    expect(&page, "16 leaf and 8 spine switches");
    expect(&page, "4,992,000"); /* 24 switches of the quotation */
    expect(&page, "22,016,000");
    expect(&page, about.digest);
    expect(&page, "facility power");
    expect(&page, "costs the least over the years");
    assert_false(has(&page, "The next phase"));
    planned_end(&p);
}

static void the_next_phase_is_that_of_the_published_design(void **state)
{
    (void)state;
    struct planned small, large;
    struct myr_growth growth;
    struct myr_plan_about about = {.next = &growth};
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    planned_begin(&small, "servers: 64\n" ORDER);
    planned_begin(&large, "servers: 128\n" ORDER);
    if (myr_grow(&small.arena, &small.catalog, &small.design, &large.design,
                 (struct myr_grow_names){"small", "large"}, &growth, &small.err) < 0) {
        fail_msg("%s", small.err.message);
    }
    myr_plan_report(&small.design, &about, &page);
    expect(&page, "<bdi title=\"next.servers.then\">128</bdi>");
    expect(&page, "<td class=\"n\" title=\"next.networks.compute.spine.more\">+8</td>");
    show(&page);
    expect(&page, "From 64 to 128 servers, from 512 to 1,024 GPUs.");
    expect(&page, "<td class=\"n\">+16</td>"); /* leaves */
    expect(&page, "<td class=\"n\">+8</td>");  /* spines */
    expect(&page, "256 of 1,024; no growth into this design moves fewer than 256.");
    /* Eight spines of 208,000 more now. */
    expect(&page, "8 switches bought now cost 1,664,000 CNY more in this phase");
    expect(&page, "spare 256 of these cables");
    expect(&page, "This phase then costs 23,680,000 CNY instead of 22,016,000.");
    expect(&page, "Both phases together: 44,032,000 CNY.");
    planned_end(&large);
    planned_end(&small);
}

static void the_chinese_page_is_the_same_in_chinese(void **state)
{
    (void)state;
    struct planned p;
    bool other;
    MYR_CLEANUP(myr_lang_done) struct myr_lang lang = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    planned_begin(&p, "servers: 64\n" ORDER);
    assert_int_equal(myr_report_language(&p.arena, "zh", &lang, &other, &p.err), MYR_OK);
    assert_true(other);
    myr_plan_report(&p.design, &(struct myr_plan_about){.lang = &lang}, &page);
    expect(&page, "<html lang=\"zh\">");
    expect(&page, "物料清单");
    expect(&page, "22,016,000");
    assert_false(has(&page, "Bill of materials"));
    struct myr_lang none;
    assert_true(myr_report_language(&p.arena, "fr", &none, &other, &p.err) < 0);
    assert_int_equal(myr_report_language(&p.arena, "en", &none, &other, &p.err), MYR_OK);
    assert_false(other);
    planned_end(&p);
}

/* A name with the characters that mark numbers is a name, and no mark-up comes of it. */
static void marks_of_a_name_are_no_marks(void **state)
{
    (void)state;
    struct planned p;
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    planned_begin(&p, "groups: [{name: \"\xEE\x80\x80x\xEF\xA3\xBF\xEE\x80\x81\", servers: "
                      "4, server: h100-8gpu}]\nnetworks: {compute: {}}\n");
    myr_plan_report(&p.design, &(struct myr_plan_about){}, &page);
    assert_int_equal(times(&page, "<bdi"), times(&page, "</bdi>"));
    planned_end(&p);
}

static uint64_t labels(struct planned *p, const char *where, struct myr_buf *page)
{
    struct report_labels which;
    if (report_labels_choose(&p->design, where, &which, &p->err) < 0) {
        fail_msg("%s", p->err.message);
    }
    myr_buf_clear(page);
    report_labels_put(&p->design, &(struct myr_plan_about){}, &which, page);
    assert_int_equal(times(page, "<div class=\"l\">"), which.count);
    assert_int_equal(times(page, "class=\"qr\""), which.count);
    assert_int_equal(times(page, "<div class=\"sheet\">"), (which.count + 20) / 21);
    return which.count;
}

static void both_ends_of_every_cable_have_a_label_with_a_code(void **state)
{
    (void)state;
    struct planned p;
    struct report_labels which;
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    planned_begin(&p, "servers: 8\nnetworks: {compute: {topology: rail, switch: mqm9790}, oob: "
                      "{}}\nroom: {rows: 10, columns: 4}\n");
    uint64_t all = labels(&p, "all", &page);
    assert_int_equal(all, 2 * (uint64_t)p.design.link_count);
    expect(&page, "node/00000:nic0");
    assert_int_equal(labels(&p, "compute", &page) + labels(&p, "oob", &page), all);
    assert_int_equal(labels(&p, "node/00003", &page), 9); /* eight rails and its controller */
    assert_int_equal(times(&page, "node/00003:"), 9);
    uint64_t racks = 0;
    for (uint32_t i = 0; i < p.design.rack_count; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        myr_design_rack_name(&p.design, i, &name);
        myr_buf_putc(&name, '\0');
        racks += labels(&p, name.data, &page);
    }
    assert_int_equal(racks, all); /* every end stands in one rack */
    assert_true(report_labels_choose(&p.design, "storage", &which, &p.err) < 0);
    assert_true(report_labels_choose(&p.design, "node/99999", &which, &p.err) < 0);
    planned_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_says_what_the_plan_says),
        cmocka_unit_test(the_next_phase_is_that_of_the_published_design),
        cmocka_unit_test(marks_of_a_name_are_no_marks),
        cmocka_unit_test(the_chinese_page_is_the_same_in_chinese),
        cmocka_unit_test(both_ends_of_every_cable_have_a_label_with_a_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
