#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xlsxwriter.h>

#include "report/report.h"

/*
 * The bill as a workbook: numbers as numbers, totals as formulas with their values, so that a
 * buyer may change a quantity and see what becomes of it.
 */

/* Where the next row goes, and the formats that all sheets share. */
struct sheet {
    const struct report *report;
    lxw_workbook *book;
    lxw_worksheet *sheet;
    lxw_format *bold, *count, *money;
    lxw_row_t row;
};

/* Widths in characters; a name that is longer wraps in the eye, not in the file. */
static void head(struct sheet *to, const char *const *names, const double *widths, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        worksheet_set_column(to->sheet, (lxw_col_t)i, (lxw_col_t)i, widths[i], NULL);
        worksheet_write_string(to->sheet, to->row, (lxw_col_t)i,
                               report_say(to->report, "%s", names[i]), to->bold);
    }
    worksheet_freeze_panes(to->sheet, 1, 0);
    to->row++;
}

/* In the row in hand. */
static void text(struct sheet *to, lxw_col_t column, const char *words)
{
    worksheet_write_string(to->sheet, to->row, column, words, NULL);
}

/* Columns A to J; totals are D times E of their own row. */
static void put_bill(struct sheet *to)
{
    static const char *const names[] = {"system", "name", "part",    "quantity",      "unit price",
                                        "total",  "rule", "figures", "specification", "warranty"};
    static const double widths[] = {16, 44, 24, 12, 14, 18, 48, 40, 60, 12};
    const struct myr_design *design = to->report->design;
    head(to, names, widths, MYR_ARRAY_COUNT(names));
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        char formula[64];
        /* Columns are by number here; the formulas name them by letter. */
        text(to, 0, report_string(to->report, row->system));
        text(to, 1, report_string(to->report, row->name));
        text(to, 2, myr_design_str(design, row->part));
        worksheet_write_number(to->sheet, to->row, 3, (double)row->quantity, to->count);
        /* Without a price both cells stay empty: a zero would be a price. */
        if (row->unit_cents >= 0) {
            snprintf(formula, sizeof(formula), "=D%u*E%u", to->row + 1, to->row + 1);
            worksheet_write_number(to->sheet, to->row, 4, (double)row->unit_cents / 100, to->money);
            worksheet_write_formula_num(to->sheet, to->row, 5, formula, to->money,
                                        (double)row->total_cents / 100);
        }
        text(to, 6, report_string(to->report, row->rule));
        text(to, 7, report_string(to->report, row->inputs));
        text(to, 8, report_specification(to->report, i));
        text(to, 9, report_warranty(to->report, i));
        to->row++;
    }
    char formula[64];
    /* Row 1 has the heads; sheets count rows from 1, the library from 0. */
    snprintf(formula, sizeof(formula), "=SUM(F2:F%u)", to->row);
    worksheet_write_string(to->sheet, to->row, 0, report_say(to->report, "all"), to->bold);
    worksheet_write_formula_num(to->sheet, to->row, 5, formula, to->money,
                                (double)design->head->total_cents / 100);
}

/* Accepted ones too, as in the report. */
static void put_findings(struct sheet *to)
{
    static const char *const names[] = {"severity", "where", "rule", "what", "remedy"};
    static const double widths[] = {12, 24, 20, 80, 60};
    const struct myr_design *design = to->report->design;
    head(to, names, widths, MYR_ARRAY_COUNT(names));
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        bool known = finding->accepted && finding->severity == MYR_SEVERITY_ERROR;
        text(to, 0,
             report_say(to->report, "%s",
                        known ? "accepted" : plan_severity_names[finding->severity]));
        text(to, 1, report_string(to->report, finding->where));
        text(to, 2, myr_design_str(design, finding->rule));
        text(to, 3, report_string(to->report, finding->message));
        text(to, 4, report_string(to->report, finding->remedy));
        to->row++;
    }
}

/* Both sheets into the book, which is closed in any case. */
static lxw_error fill(lxw_workbook *book, const struct report *report)
{
    const char *name = myr_design_str(report->design, report->design->head->name);
    /* The library would put the clock in: the same design gives the same bytes. */
    lxw_doc_properties properties = {.title = (char *)name, .created = 1577836800};
    workbook_set_properties(book, &properties);
    /* Formats belong to the book and serve both sheets. */
    struct sheet to = {.report = report, .book = book};
    to.bold = workbook_add_format(book);
    format_set_bold(to.bold);
    to.count = workbook_add_format(book);
    format_set_num_format(to.count, "#,##0");
    to.money = workbook_add_format(book);
    format_set_num_format(to.money, "#,##0.00");
    to.sheet = workbook_add_worksheet(book, report_say(report, "Bill of materials"));
    put_bill(&to);
    to.sheet = workbook_add_worksheet(book, report_say(report, "What to look at"));
    to.row = 0;
    put_findings(&to);
    return workbook_close(book);
}

/* All of the file into 'ret'. */
static int take_file(const char *path, struct myr_buf *ret, struct myr_err *err)
{
    FILE *file = fopen(path, "rb");
    char piece[1 << 16];
    size_t got;
    if (!file) {
        return myr_err_errno(err, "cannot read", path);
    }
    while ((got = fread(piece, 1, sizeof(piece), file)) > 0) {
        myr_buf_put(ret, piece, got);
    }
    int bad = ferror(file);
    (void)fclose(file);
    return bad ? myr_err_set(err, MYR_EIO, "%s: cannot be read back", path) : MYR_OK;
}

/* The library writes files by name alone: one of its own beside those that are written. */
int myr_plan_workbook(const struct myr_design *design, const struct myr_plan_about *about,
                      const char *folder, struct myr_buf *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct report report = {.design = design, .about = about, .arena = &arena};
    char path[4096];
    myr_arena_init(&arena);
    /* In the folder that is written anyway; it is removed whatever comes. */
    int len = snprintf(path, sizeof(path), "%s/.bom-XXXXXX", folder);
    int fd = len < (int)sizeof(path) ? mkstemp(path) : -1;
    if (fd < 0) {
        return myr_err_errno(err, "cannot make a temporary file in", folder);
    }
    close(fd);
    /* The library's own temporary files lie there too, and not in /tmp. */
    lxw_workbook_options options = {.tmpdir = (char *)folder};
    lxw_workbook *book = workbook_new_opt(path, &options);
    lxw_error failed = book ? fill(book, &report) : LXW_ERROR_MEMORY_MALLOC_FAILED;
    int rc = failed ? myr_err_set(err, MYR_EIO, "the workbook cannot be written: %s",
                                  lxw_strerror(failed))
                    : take_file(path, ret, err);
    /* The file is only the library's way to hand over its bytes. */
    (void)unlink(path);
    return rc;
}
