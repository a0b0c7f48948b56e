/*
 * Lists that are nearly right: the planner's own bill, with one line changed at a time, or with
 * another part of the catalogue in a line's place; then claims, layouts and lists that people wrote
 * in their own way. What an audit says of each is kept in words (tests/kept/plan-audits.txt).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "audit/audit.h"
#include "audits_test.h"
#include "kept.h"

struct wanted {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
    struct myr_design design;
};

static void begin(struct wanted *w, const char *text)
{
    const struct myr_doc *doc;
    struct myr_err err = {};
    *w = (struct wanted){};
    myr_arena_init(&w->arena);
    assert_int_equal(myr_catalog_init(&w->catalog, &w->arena, &err), MYR_OK);
    assert_int_equal(myr_doc_read_yaml(&w->arena, "spec", myr_str_from(text), &doc, &err), MYR_OK);
    if (myr_spec_read(&w->arena, &w->catalog, doc, &w->spec, &err) < 0 ||
        myr_plan(&w->arena, &w->catalog, &w->spec, &w->design, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static void end(struct wanted *w)
{
    myr_spec_done(&w->spec);
    myr_catalog_done(&w->catalog);
    myr_arena_done(&w->arena);
}

static void tell_finding(const struct myr_audit_finding *finding, struct myr_buf *told)
{
    myr_buf_printf(told, "  %s %s: %s", finding->rule, finding->where, finding->message);
    if (isnan(finding->expected)) {
        myr_buf_printf(told, " [%s | %s]\n", finding->expected_text, finding->found_text);
    } else {
        myr_buf_printf(told, " [%.10g | %.10g]\n", finding->expected, finding->found);
    }
}

/* What an audit of the document says, a line each. */
static void tell(struct wanted *w, struct myr_audit_document document, struct myr_buf *told)
{
    struct myr_audit audit = {};
    struct myr_err err = {};
    struct myr_arena arena;
    myr_arena_init(&arena);
    if (myr_audit_run(&arena, &w->catalog, &w->spec, &document, &audit, &err) < 0) {
        myr_buf_printf(told, "  refused: %s (%s)\n", err.message, err.hint);
    } else {
        if (document.claims || document.layout_file) {
            myr_buf_printf(told, "  read: %u lines, %u claims, %u racks\n", audit.lines,
                           audit.claims, audit.racks);
        }
        for (size_t i = 0; i < audit.findings.count; i++) {
            tell_finding(&audit.findings.items[i], told);
        }
        for (size_t i = 0; i < audit.doubts.count; i++) {
            myr_buf_printf(told, "  ? %s: %s\n", audit.doubts.items[i].where,
                           audit.doubts.items[i].reason);
        }
    }
    myr_audit_done(&audit);
    myr_arena_done(&arena);
}

enum edit { AS_IT_IS, DROPPED, ONE_LESS, HALF, NO_SYSTEM, OTHER_PART };

/* One line of the list that differs. */
struct change {
    enum edit edit;
    uint32_t line;
    const char *part; /* OTHER_PART */
};

static void write_list(const struct myr_design *design, struct change change, struct myr_buf *list)
{
    myr_buf_puts(list, "system,name,part,quantity,unit_price,total\n");
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        enum edit edit = i == change.line ? change.edit : AS_IT_IS;
        uint64_t quantity = edit == ONE_LESS ? row->quantity - 1
                            : edit == HALF   ? row->quantity / 2
                                             : row->quantity;
        const char *part = edit == OTHER_PART ? change.part : myr_design_str(design, row->part);
        if (edit == DROPPED) {
            continue;
        }
        myr_buf_printf(list, "%s,\"%s\",%s,%llu,",
                       edit == NO_SYSTEM ? "" : myr_design_str(design, row->system),
                       myr_design_str(design, row->name), part, (unsigned long long)quantity);
        if (row->unit_cents >= 0) {
            double price = (double)row->unit_cents / 100;
            myr_buf_printf(list, "%.2f,%.2f", price, price * (double)quantity);
        } else {
            myr_buf_puts(list, ",");
        }
        myr_buf_puts(list, "\n");
    }
}

static void tell_changed(struct wanted *w, struct change change, struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    write_list(&w->design, change, &list);
    tell(w, (struct myr_audit_document){.bom = {list.data, list.len}, .bom_file = "list"}, told);
}

static void every_line_is_missed_when_it_is_changed(struct wanted *w, struct myr_buf *told)
{
    static const char *const words[] = {"as it is", "dropped", "one less", "half", "no system"};
    tell_changed(w, (struct change){.line = MYR_NONE}, told);
    for (uint32_t i = 0; i < w->design.bom_count; i++) {
        const char *part = myr_design_str(&w->design, w->design.bom[i].part);
        for (enum edit edit = DROPPED; edit <= NO_SYSTEM; edit++) {
            if (edit == HALF && w->design.bom[i].quantity < 4) {
                continue; /* nearly as one less */
            }
            myr_buf_printf(told, "%s of line %u is %s\n", part, i + 2, words[edit]);
            tell_changed(w, (struct change){.edit = edit, .line = i}, told);
        }
    }
}

/* What cables and modules are of is what is judged; some cables will do, since those of one kind
 * differ in their length alone. */
static bool is_tried(const struct myr_part *part, enum myr_part_kind kind, uint32_t *seen)
{
    bool judged = kind == MYR_PART_TRANSCEIVER || kind == MYR_PART_CABLE || kind == MYR_PART_SWITCH;
    return part->kind == kind && judged && (kind != MYR_PART_CABLE || (*seen)++ % 16 == 0);
}

static void every_part_is_tried_in_every_line(struct wanted *w, struct myr_buf *told)
{
    for (uint32_t i = 0; i < w->design.bom_count; i++) {
        const char *name = myr_design_str(&w->design, w->design.bom[i].part);
        uint32_t at = myr_catalog_find(&w->catalog, myr_str_from(name)), seen = 0;
        enum myr_part_kind kind =
            at == MYR_PART_NONE ? MYR_PART_KIND_COUNT : w->catalog.parts.items[at].kind;
        for (size_t k = 0; k < w->catalog.parts.count; k++) {
            const struct myr_part *part = &w->catalog.parts.items[k];
            if (is_tried(part, kind, &seen) && k != at) {
                myr_buf_printf(told, "%s in place of %s\n", part->id, name);
                tell_changed(w, (struct change){OTHER_PART, i, part->id}, told);
            }
        }
    }
}

static void a_changed_line_is_named_by_its_rule(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t s = 0; s < MYR_ARRAY_COUNT(changed_specs); s++) {
        struct wanted w;
        myr_buf_printf(&told, "== %s", changed_specs[s].text);
        begin(&w, changed_specs[s].text);
        every_line_is_missed_when_it_is_changed(&w, &told);
        if (changed_specs[s].parts) {
            every_part_is_tried_in_every_line(&w, &told);
        }
        end(&w);
    }
    assert_kept("plan-audits.txt", &told);
}

/* Documents of one kind against one spec; lists that are not in question are right. */
static void tell_written(const char *spec, bool layouts, struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    struct wanted w;
    begin(&w, spec);
    write_list(&w.design, (struct change){.line = MYR_NONE}, &list);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(written); i++) {
        struct myr_err err = {};
        struct myr_audit_document document = {.bom = {list.data, list.len}, .bom_file = "list"};
        struct myr_str text = myr_str_from(written[i].text);
        if ((written[i].kind == LAYOUT) != layouts) {
            continue;
        }
        myr_buf_printf(told, "== %s\n", written[i].text);
        if (written[i].kind == CLAIMS &&
            myr_doc_read_yaml(&w.arena, "claims", text, &document.claims, &err) < 0) {
            fail_msg("%s", err.message);
        }
        if (layouts) {
            document.layout = text;
            document.layout_file = "racks";
        }
        document.bom = written[i].kind == LIST ? text : document.bom;
        tell(&w, document, told);
    }
    end(&w);
}

static void what_people_write_is_read_as_they_mean_it(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    tell_written(WRITTEN_SPEC, false, &told);
    tell_written(WRITTEN_SPEC WRITTEN_ROOM, true, &told); /* racks have their limits */
    assert_kept("plan-audits-written.txt", &told);
}

/* Whether a claim of what the list costs is found wrong. */
static bool is_wrong_cost(struct wanted *w, double cost)
{
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    const char *claims = myr_arena_printf(&w->arena, "totals.cost: %.2f\n", cost);
    struct myr_audit_document document = {.bom_file = "list"};
    write_list(&w->design, (struct change){.line = MYR_NONE}, &list);
    document.bom = (struct myr_str){list.data, list.len};
    assert_int_equal(
        myr_doc_read_yaml(&w->arena, "claims", myr_str_from(claims), &document.claims, &err),
        MYR_OK);
    tell(w, document, &told);
    return strstr(told.data, "claim-value claims:1: totals.cost") != NULL;
}

static void a_cost_is_claimed_to_half_a_unit_of_the_list(void **state)
{
    (void)state;
    struct wanted w;
    double sum = 0;
    begin(&w, WRITTEN_SPEC);
    for (uint32_t i = 0; i < w.design.bom_count; i++) {
        const struct myr_bom_row *row = &w.design.bom[i];
        sum += row->unit_cents >= 0 ? (double)row->unit_cents / 100 * (double)row->quantity : 0;
    }
    assert_true(sum > 0);
    assert_false(is_wrong_cost(&w, sum));
    assert_false(is_wrong_cost(&w, sum + 0.5));
    assert_false(is_wrong_cost(&w, sum - 0.5));
    assert_true(is_wrong_cost(&w, sum + 0.52));
    assert_true(is_wrong_cost(&w, sum - 0.52));
    end(&w);
}

/* A row more below the list that is right: whether it brings a finding of that rule. */
static bool is_found(struct wanted *w, const char *row, const char *rule)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    write_list(&w->design, (struct change){.line = MYR_NONE}, &list);
    myr_buf_puts(&list, row);
    tell(w, (struct myr_audit_document){.bom = {list.data, list.len}, .bom_file = "list"}, &told);
    return told.len > 0 && strstr(told.data, rule) != NULL;
}

static void sums_are_right_to_half_a_unit(void **state)
{
    (void)state;
    static const struct {
        double off;
        bool found;
    } cases[] = {{0, false}, {0.5, false}, {-0.5, false}, {0.52, true}, {-0.52, true}};
    struct wanted w;
    begin(&w, WRITTEN_SPEC);
    double sum = (double)w.design.head->total_cents / 100;
    const char *where = myr_arena_printf(&w.arena, "line-total list:%u: ", w.design.bom_count + 2);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        double off = cases[i].off;
        const char *row = myr_arena_printf(&w.arena, "Total,,,,,%.2f\n", sum + off);
        assert_true(is_found(&w, row, "list-total") == cases[i].found);
        row = myr_arena_printf(&w.arena, "security,wall,firewall,3,100.25,%.2f\n", 300.75 + off);
        assert_true(is_found(&w, row, where) == cases[i].found);
    }
    end(&w);
}

/* What is missing from a list is one fault, and a sum that its lines do not make another. */
static void a_wrong_total_is_told_beside_what_is_missing(void **state)
{
    (void)state;
    struct wanted w;
    begin(&w, WRITTEN_SPEC);
    double sum = (double)w.design.head->total_cents / 100;
    uint32_t tried = 0;
    for (uint32_t i = 0; i < w.design.bom_count; i++) {
        const struct myr_bom_row *row = &w.design.bom[i];
        if (row->unit_cents < 0 || row->quantity < 4) {
            continue;
        }
        const enum edit edits[] = {DROPPED, ONE_LESS};
        double left[] = {0, (double)row->unit_cents / 100 * (double)(row->quantity - 1)};
        for (size_t e = 0; e < MYR_ARRAY_COUNT(edits); e++) {
            double total = sum - (double)row->total_cents / 100 + left[e];
            /* The sum of the lines that there are is right, any other is not. */
            for (uint32_t off = 0; off < 2; off++) {
                MYR_CLEANUP(myr_buf_done) struct myr_buf list = {}, told = {};
                write_list(&w.design, (struct change){edits[e], i, NULL}, &list);
                myr_buf_printf(&list, "Total,,,,,%.2f\n", total + off * 5000);
                tell(&w, (struct myr_audit_document){.bom = {list.data, list.len}, .bom_file = "l"},
                     &told);
                assert_true((told.data && strstr(told.data, "list-total")) == (off > 0));
                tried++;
            }
        }
    }
    assert_true(tried >= 8);
    end(&w);
}

/* A line that was told excuses the sum of the list only where that is the lines' right sum. */
static void a_wrong_line_excuses_the_total_that_would_be_right(void **state)
{
    (void)state;
    struct wanted w;
    begin(&w, WRITTEN_SPEC);
    double sum = (double)w.design.head->total_cents / 100;
    const struct {
        double total;
        bool found;
    } cases[] = {{sum + 300.75, false}, {sum + 400, false}, {sum, true}, {sum + 350, true}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        const char *rows = myr_arena_printf(
            &w.arena, "security,wall,firewall,3,100.25,400.00\nTotal,,,,,%.2f\n", cases[i].total);
        assert_true(is_found(&w, rows, "line-total"));
        assert_true(is_found(&w, rows, "list-total") == cases[i].found);
    }
    end(&w);
}

static void a_line_without_a_quantity_is_not_judged_for_it(void **state)
{
    (void)state;
    struct wanted w;
    begin(&w, WRITTEN_SPEC);
    /* What is needed, and a lot of something that nobody knows. */
    assert_true(is_found(&w, "compute,switch,mqm9790-ns2f,,,\n",
                         "'mqm9790-ns2f' has no quantity; counted as 1, whether that is meant is "
                         "not judged"));
    assert_false(is_found(&w, "compute,switch,mqm9790-ns2f,0,,\n", "has no quantity"));
    assert_true(is_found(&w, "other,training,course-x,,,\n", "'course-x' is not in the catalogue"));
    assert_false(is_found(&w, "other,training,course-x,,,\n", "has no quantity"));
    end(&w);
}

/* How many times the words are in what an audit of the list says. */
static uint32_t times_told(struct wanted *w, const char *list, const char *words)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    uint32_t count = 0;
    tell(w, (struct myr_audit_document){.bom = myr_str_from(list), .bom_file = "list"}, &told);
    for (const char *at = told.len ? told.data : ""; (at = strstr(at, words)); at++) {
        count++;
    }
    return count;
}

static void short_cables_are_counted_over_all_layers_and_told_line_by_line(void **state)
{
    (void)state;
    static const char rest[] = "system,name,part,quantity,unit_price,total\n"
                               "servers,GPU server,H100-8GPU,32,,\n"
                               "compute,switch,MQM9790-NS2F,12,1000,12000\n"
                               ",module,MMA4Z00-NS,384,,\n,module,MMA4Z00-NS400,256,,\n";
    struct wanted w;
    begin(&w, "servers: 32\nnetworks: {compute: {switch: mqm9790-ns2f}}\n");
    const char *one = myr_arena_printf(&w.arena, "%s,fibre,MFP7E10-N030,512,,\n", rest);
    assert_int_equal(times_told(&w, one, "cable-length"), 1);
    assert_int_equal(times_told(&w, one, "is 30 m long, the run is 50 m (512 cables)"), 1);
    /* Two lines that are wrong in the same words are two faults. */
    const char *two = myr_arena_printf(
        &w.arena, "%s,fibre,MFP7E10-N030,256,,\n,fibre,MFP7E10-N030,256,,\n", rest);
    assert_int_equal(times_told(&w, two, "cable-length"), 2);
    const char *sums =
        myr_arena_printf(&w.arena,
                         "%s,fibre,MFP7E10-N050,512,,\nsecurity,wall,firewall,3,100,301\n"
                         "security,wall,firewall,3,100,301\n",
                         rest);
    assert_int_equal(times_told(&w, sums, "line-total"), 2);
    end(&w);
}

/* The limits of a list: lines, header rows. */
static void a_list_has_its_limits(void **state)
{
    (void)state;
    struct wanted w;
    begin(&w, WRITTEN_SPEC);
    for (uint32_t lines = MYR_AUDIT_LINES_MAX; lines <= MYR_AUDIT_LINES_MAX + 1; lines++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
        myr_buf_puts(&list, "part,quantity\n");
        for (uint32_t i = 0; i < lines; i++) {
            myr_buf_puts(&list, "firewall,1\n");
        }
        tell(&w, (struct myr_audit_document){.bom = {list.data, list.len}, .bom_file = "list"},
             &told);
        assert_true((strstr(told.data, "refused: list:2002") != NULL) ==
                    (lines > MYR_AUDIT_LINES_MAX));
    }
    for (uint32_t above = 18; above <= 20; above++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
        for (uint32_t i = 0; i < above; i++) {
            myr_buf_puts(&list, "a title\n");
        }
        myr_buf_puts(&list, "part,quantity\nfirewall,1\n");
        tell(&w, (struct myr_audit_document){.bom = {list.data, list.len}, .bom_file = "list"},
             &told);
        assert_true((strstr(told.data, "no header row") != NULL) == (above == 20));
    }
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_line_is_named_by_its_rule),
        cmocka_unit_test(what_people_write_is_read_as_they_mean_it),
        cmocka_unit_test(a_cost_is_claimed_to_half_a_unit_of_the_list),
        cmocka_unit_test(sums_are_right_to_half_a_unit),
        cmocka_unit_test(a_wrong_total_is_told_beside_what_is_missing),
        cmocka_unit_test(a_wrong_line_excuses_the_total_that_would_be_right),
        cmocka_unit_test(a_line_without_a_quantity_is_not_judged_for_it),
        cmocka_unit_test(short_cables_are_counted_over_all_layers_and_told_line_by_line),
        cmocka_unit_test(a_list_has_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
