/*
 * What a plan says in figures: supply, cooling and energy of halls that are given in many ways,
 * storage systems, what an optimum is and how it is shown, and how every number came about. Kept
 * value by value (tests/kept/plan-facilities.txt and others).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/plan/explain.h"
#include "myriad/plan/optimise.h"
#include "pages_test.h"
#include "planned_test.h"
#include "trees_test.h"

/* The subtrees of a plan's answer, or why there is none. */
static void tell_plan(const char *text, const char *const *keys, struct myr_buf *told)
{
    struct planned p;
    planned_read(&p, text);
    if (myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0) {
        myr_buf_printf(told, "  refused: %s (%s)\n", p.err.message, p.err.hint);
        planned_end(&p);
        return;
    }
    myr_answer_init(&p.answer, &p.arena, "myriad.plan", 1);
    (void)myr_plan_answer(&p.design, &p.answer);
    for (; *keys; keys++) {
        planned_tell(myr_value_get(&p.answer.root, *keys), *keys, told);
    }
    planned_tell_findings(&p, told);
    planned_end(&p);
}

/* Each after the first is the first with other words: only lines that differ are told. */
static void tell_difference(const struct myr_buf *first, const struct myr_buf *now,
                            struct myr_buf *told)
{
    for (const char *line = now->data; *line;) {
        size_t len = strcspn(line, "\n") + 1;
        const char *at = memmem(first->data, first->len, line, len);
        if (!at || (at != first->data && at[-1] != '\n')) {
            myr_buf_put(told, line, len);
        }
        line += len;
    }
}

static void a_hall_is_supplied_and_cooled_as_it_is_told(void **state)
{
    (void)state;
    static const char *const keys[] = {"power", "cooling", "totals", NULL};
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t hall = 0; hall < MYR_ARRAY_COUNT(halls); hall++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf first = {};
        myr_buf_printf(&told, "== %s", halls[hall]);
        tell_plan(halls[hall], keys, &first);
        myr_buf_put(&told, first.data, first.len);
        for (size_t i = 0; i < MYR_ARRAY_COUNT(facilities); i++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            MYR_CLEANUP(myr_buf_done) struct myr_buf now = {};
            myr_buf_printf(&text, "%sfacility: {%s}\n", halls[hall], facilities[i]);
            myr_buf_printf(&told, "-- %s\n", facilities[i]);
            tell_plan(text.data, keys, &now);
            tell_difference(&first, &now, &told);
        }
    }
    assert_kept("plan-facilities.txt", &told);
}

static void storage_is_sized_by_each_of_its_wishes(void **state)
{
    (void)state;
    static const char *const keys[] = {"storage", NULL};
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(stores); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        myr_buf_printf(&text, "servers: 70\nnetworks: {compute: , storage: }\nstorage: {%s}\n",
                       stores[i]);
        myr_buf_printf(&told, "== %s\n", stores[i]);
        tell_plan(text.data, keys, &told);
    }
    assert_kept("plan-stores.txt", &told);
}

static void write_page(const struct myr_answer *answer, struct myr_buf *told)
{
    struct myr_err err = {};
    struct myr_answer_form form = {.format = MYR_FORMAT_WIDE, .width = 110};
    assert_int_equal(myr_answer_write(answer, &form, told, &err), MYR_OK);
}

static void an_optimum_is_shown_with_what_it_was_chosen_from(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(optima); i++) {
        struct planned p;
        struct myr_optimum optimum;
        myr_buf_printf(&told, "== %s", optima[i]);
        planned_read(&p, optima[i]);
        if (myr_optimise(&p.arena, &p.catalog, &p.spec, &optimum, &p.err) < 0) {
            myr_buf_printf(&told, "  refused: %s (%s)\n", p.err.message, p.err.hint);
        } else {
            myr_answer_init(&p.answer, &p.arena, "myriad.plan.optimise", 1);
            myr_optimise_answer(&optimum, &p.catalog, &p.answer);
            struct myr_answer_form narrow = {.format = MYR_FORMAT_TABLE, .width = 100};
            planned_tell(&p.answer.root, "", &told);
            write_page(&p.answer, &told);
            assert_int_equal(myr_answer_write(&p.answer, &narrow, &told, &p.err), MYR_OK);
        }
        planned_end(&p);
    }
    assert_kept("plan-optima.txt", &told);
}

static void a_page_says_what_is_planned(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pages); i++) {
        struct planned p;
        planned_read(&p, pages[i]);
        myr_buf_printf(&told, "== %s", pages[i]);
        if (myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0) {
            fail_msg("%s", p.err.message);
        }
        myr_answer_init(&p.answer, &p.arena, "myriad.plan", 1);
        const struct myr_value *bom = myr_plan_answer(&p.design, &p.answer);
        myr_plan_page(&p.design, &p.answer, bom);
        write_page(&p.answer, &told);
        planned_end(&p);
    }
    assert_kept("plan-pages.txt", &told);
}

static void every_number_has_a_rule(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pages); i += 3) { /* some of them will do */
        struct planned p;
        struct myr_explained *all;
        uint32_t count;
        planned_begin(&p, pages[i]);
        myr_answer_init(&p.answer, &p.arena, "myriad.plan", 1);
        myr_plan_explain_tree(&p.design, NULL, &p.answer);
        assert_int_equal(myr_plan_explain_path(&p.design, &p.answer, "", &all, &count, &p.err),
                         MYR_OK);
        myr_buf_printf(&told, "== %s", pages[i]);
        for (uint32_t k = 0; k < count; k++) {
            const struct myr_explained *one = &all[k];
            if (strncmp(one->path, "bom.", 4) == 0 || strncmp(one->path, "findings.", 9) == 0) {
                continue; /* the bill has its rules in its lines */
            }
            myr_buf_printf(&told, "  %s: %.*s %s, %s: %s; %s\n", one->path,
                           (int)one->value->text.len, one->value->text.data, one->unit, one->basis,
                           one->rule, one->inputs);
        }
        planned_end(&p);
    }
    assert_kept("plan-rules.txt", &told);
}

/* The first and the last device of every type: its ports, and where they lead. */
static void a_device_is_told_with_its_ports(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pages); i++) {
        struct planned p;
        planned_begin(&p, pages[i]);
        const struct myr_design *design = &p.design;
        myr_buf_printf(&told, "== %s", pages[i]);
        for (uint32_t d = 0; d < design->device_count; d++) {
            bool first = d == 0 || design->device_type[d] != design->device_type[d - 1];
            bool last = d + 1 == design->device_count ||
                        design->device_type[d] != design->device_type[d + 1];
            if (first || last) {
                MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
                MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
                const struct myr_value *ports;
                struct myr_answer answer;
                struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
                myr_design_name(design, d, &name);
                myr_answer_init(&answer, &p.arena, "myriad.design.device", 1);
                assert_int_equal(myr_plan_device(design, name.data, &answer, &ports, &p.err), 0);
                assert_int_equal(myr_answer_write(&answer, &form, &page, &p.err), MYR_OK);
                myr_buf_printf(&told, "  %s: %u ports, %016llx\n", name.data, ports->count,
                               (unsigned long long)myr_hash_bytes(page.data, page.len));
                if (first && ports->first) {
                    planned_tell(ports->first, "    first", &told);
                }
            }
        }
        struct myr_answer none;
        const struct myr_value *ports;
        myr_answer_init(&none, &p.arena, "myriad.design.device", 1);
        assert_true(myr_plan_device(design, "leaf/nowhere", &none, &ports, &p.err) < 0);
        myr_buf_printf(&told, "  %s (%s)\n", p.err.message, p.err.hint);
        planned_end(&p);
    }
    assert_kept("plan-devices.txt", &told);
}

/* How the plan came about, on a page. */
static void a_plan_explains_itself(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pages); i++) {
        struct planned p;
        struct myr_answer answer;
        planned_begin(&p, pages[i]);
        myr_buf_printf(&told, "== %s", pages[i]);
        myr_answer_init(&answer, &p.arena, "myriad.plan", 1);
        (void)myr_plan_answer(&p.design, &answer);
        myr_plan_explain(&p.design, &answer);
        write_page(&answer, &told);
        planned_end(&p);
    }
    assert_kept("plan-explained.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hall_is_supplied_and_cooled_as_it_is_told),
        cmocka_unit_test(storage_is_sized_by_each_of_its_wishes),
        cmocka_unit_test(an_optimum_is_shown_with_what_it_was_chosen_from),
        cmocka_unit_test(a_page_says_what_is_planned),
        cmocka_unit_test(every_number_has_a_rule),
        cmocka_unit_test(a_device_is_told_with_its_ports),
        cmocka_unit_test(a_plan_explains_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
