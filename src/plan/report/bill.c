#include <stdio.h>

#include "myriad/text/chart.h"
#include "report/report.h"

/*
 * The bill of materials by system, what each system costs, and where the quantities come from.
 * Lines keep their number of the design's bill, which is part of their paths, though they are shown
 * by system. A line without a price has a dash, and a sum of such lines has one too.
 */

/* A bar for each system with a price, in the order of the bill; no chart where none has one. */
static void put_cost_chart(const struct report *report, const struct report_system *systems,
                           uint32_t count)
{
    struct myr_bar_row rows[REPORT_SYSTEMS_MAX];
    struct myr_piece pieces[REPORT_SYSTEMS_MAX];
    MYR_CLEANUP(myr_buf_done) struct myr_buf svg = {};
    uint32_t used = 0;
    int64_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        most = systems[i].cents > most ? systems[i].cents : most;
    }
    const struct report_unit unit = report_money_unit(report, most);
    /* Systems without a price would be bars of no length. */
    for (uint32_t i = 0; i < count; i++) {
        if (systems[i].cents <= 0) {
            continue;
        }
        const char *name = report_string(report, systems[i].name);
        pieces[used] = (struct myr_piece){name, (double)systems[i].cents / (double)unit.cents, 0};
        rows[used] = (struct myr_bar_row){.name = name,
                                          .words = report_money_said(report, systems[i].cents),
                                          .pieces = &pieces[used],
                                          .count = 1};
        used++;
    }
    if (used == 0) {
        return;
    }
    /* One piece a bar: systems are compared, not their lines. */
    struct myr_bars bars = {
        .title = report_say(report, "Cost by system"),
        .unit = unit.name,
        .rows = rows,
        .count = used,
    };
    myr_chart_bars(&bars, &svg);
    report_picture(report, &svg, REPORT_COSTS);
}

/* Cells whose number can be asked for carry its path. */
static void put_row(const struct report *report, uint32_t line)
{
    const struct myr_design *design = report->design;
    const struct myr_bom_row *row = &design->bom[line];
    myr_page_row_begin(report->buf);
    myr_page_cell(report->buf, report_string(report, row->system));
    myr_page_cell(report->buf, report_string(report, row->name));
    myr_page_cell(report->buf, myr_design_str(design, row->part));
    myr_page_cell(report->buf, report_specification(report, line));
    report_count(report, row->quantity, "bom.%u.quantity", line);
    /* A dash where no price is known: the total of such a line means nothing. */
    report_number_cell(report, report_money(report, row->unit_cents), "bom.%u.unit_price", line);
    report_number_cell(report, report_money(report, row->unit_cents < 0 ? -1 : row->total_cents),
                       "bom.%u.total", line);
    report_cell_of(report, report_warranty(report, line), "bom.%u.warranty_months", line);
    myr_page_row_end(report->buf);
}

/* A sum, below the lines that it is of. */
static void put_sum(const struct report *report, const char *words, int64_t cents, const char *path)
{
    myr_page_row_begin(report->buf);
    myr_page_cell(report->buf, words);
    for (uint32_t i = 0; i < 5; i++) {
        myr_page_cell(report->buf, "");
    }
    report_number_cell(report, report_money(report, cents), "%s", path);
    myr_page_cell(report->buf, "");
    myr_page_row_end(report->buf);
}

/* System by system, each with its sum, then the sum of all. A system without any price has none,
 * nor has a bill without any. */
static void put_rows(const struct report *report, const struct report_system *systems,
                     uint32_t count)
{
    static const char *const heads[] = {"system",    "name",        "part",   "specification",
                                        ">quantity", ">unit price", ">total", "warranty"};
    const struct myr_design *design = report->design;
    bool unknown = true; /* a sum of nothing is no price */
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    /* By system, which need not stand together in the design's bill. */
    for (uint32_t s = 0; s < count; s++) {
        for (uint32_t i = 0; i < design->bom_count; i++) {
            if (design->bom[i].system == systems[s].name) {
                put_row(report, i);
            }
        }
        put_sum(report, report_say(report, "%s, together", report_string(report, systems[s].name)),
                systems[s].cents, myr_arena_printf(report->arena, "report.systems.%u.cost", s));
        unknown = unknown && systems[s].cents < 0;
    }
    put_sum(report, report_say(report, "all"), unknown ? -1 : design->head->total_cents,
            "totals.cost");
    myr_page_table_end(report->buf);
}

/* Own prices of the spec and those of a list have a note that says so; a book's may have one. */
static bool has_other_prices(const struct myr_design *design)
{
    static const char *const of_book[] = {"assumed", "price for "};
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const char *note = myr_design_str(design, design->bom[i].price_note);
        bool other = design->bom[i].unit_cents >= 0 && note[0];
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(of_book); k++) {
            other = other && strncmp(note, of_book[k], strlen(of_book[k])) != 0;
        }
        if (other) {
            return true;
        }
    }
    return false;
}

/* Which book the prices are from is said once, above the table. */
void report_bill(const struct report *report)
{
    struct report_system systems[REPORT_SYSTEMS_MAX];
    /* The same sums as those that explain tells and the chart draws. */
    uint32_t count = report_systems(report->design, systems);
    const char *book = myr_design_str(report->design, report->design->head->price_book);
    report_heading(report, "Bill of materials");
    if (book[0]) {
        const char *currency = myr_design_str(report->design, report->design->head->currency);
        if (has_other_prices(report->design)) {
            report_para(report,
                        "Prices are those of the price book %s, in %s, where the last table names "
                        "no other source.",
                        book, currency);
        } else {
            report_para(report, "Prices are those of the price book %s, in %s.", book, currency);
        }
    }
    put_cost_chart(report, systems, count);
    put_rows(report, systems, count);
}

/* Rule, figures and price of each line: at the end of the report, for whoever doubts a quantity. */
void report_origins(const struct report *report)
{
    static const char *const heads[] = {"part", ">quantity", "rule", "figures", "price"};
    const struct myr_design *design = report->design;
    report_heading(report, "Where the quantities come from");
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        report_row_of(report, "bom.%u.quantity", i);
        myr_page_cell(report->buf, myr_design_str(design, row->part));
        report_count(report, row->quantity, "bom.%u.quantity", i);
        myr_page_cell(report->buf, report_string(report, row->rule));
        myr_page_cell(report->buf, report_string(report, row->inputs));
        /* A line without a price says what it is estimated at. */
        report_cell_of(report, myr_design_str(design, row->price_note),
                       row->unit_cents < 0 ? "bom.%u.estimate" : "bom.%u.unit_price", i);
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
}
