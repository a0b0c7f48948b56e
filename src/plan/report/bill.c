#include <stdio.h>

#include "myriad/text/chart.h"
#include "report/report.h"

/* The bill of materials by system, what each system costs, and where the quantities come from. */

enum { SYSTEMS_MAX = 32 };

struct system {
    uint32_t name; /* string */
    int64_t cents;
};

static uint32_t sum_systems(const struct myr_design *design, struct system ret[SYSTEMS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        uint32_t at = 0;
        while (at < count && ret[at].name != row->system) {
            at++;
        }
        if (at == SYSTEMS_MAX) {
            continue;
        }
        if (at == count) {
            ret[count++] = (struct system){row->system, 0};
        }
        ret[at].cents += row->unit_cents < 0 ? 0 : row->total_cents;
    }
    return count;
}

static void put_cost_chart(const struct report *report, const struct system *systems,
                           uint32_t count)
{
    struct myr_bar_row rows[SYSTEMS_MAX];
    struct myr_piece pieces[SYSTEMS_MAX];
    MYR_CLEANUP(myr_buf_done) struct myr_buf svg = {0};
    char money[MYR_PLAN_MONEY_MAX];
    uint32_t used = 0;
    const char *currency = myr_design_str(report->design, report->design->head->currency);
    for (uint32_t i = 0; i < count; i++) {
        if (systems[i].cents == 0) {
            continue;
        }
        const char *name = report_string(report, systems[i].name);
        myr_plan_money(systems[i].cents, currency, money);
        pieces[used] = (struct myr_piece){name, (double)systems[i].cents / 1e8, 0};
        rows[used] = (struct myr_bar_row){.name = name,
                                          .words = myr_arena_printf(report->arena, "%s", money),
                                          .pieces = &pieces[used],
                                          .count = 1};
        used++;
    }
    if (used == 0) {
        return;
    }
    struct myr_bars bars = {
        .title = report_say(report, "Cost by system"),
        .unit = myr_arena_printf(report->arena, "M %s", currency),
        .rows = rows,
        .count = used,
    };
    myr_chart_bars(&bars, &svg);
    report_picture(report, &svg, true);
}

static void put_rows(const struct report *report, const struct system *systems, uint32_t count)
{
    static const char *const heads[] = {"system",    "name",        "part",   "specification",
                                        ">quantity", ">unit price", ">total", "warranty"};
    const struct myr_design *design = report->design;
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t s = 0; s < count; s++) {
        for (uint32_t i = 0; i < design->bom_count; i++) {
            const struct myr_bom_row *row = &design->bom[i];
            if (row->system != systems[s].name) {
                continue;
            }
            myr_page_row_begin(report->buf);
            myr_page_cell(report->buf, report_string(report, row->system));
            myr_page_cell(report->buf, report_string(report, row->name));
            myr_page_cell(report->buf, myr_design_str(design, row->part));
            myr_page_cell(report->buf, report_specification(report, i));
            report_count(report, row->quantity);
            myr_page_number(report->buf, "%s", report_money(report, row->unit_cents));
            myr_page_number(report->buf, "%s",
                            report_money(report, row->unit_cents < 0 ? -1 : row->total_cents));
            myr_page_cell(report->buf, report_warranty(report, i));
            myr_page_row_end(report->buf);
        }
        myr_page_row_begin(report->buf);
        myr_page_cell(report->buf,
                      report_say(report, "%s, together", report_string(report, systems[s].name)));
        for (uint32_t i = 0; i < 5; i++) {
            myr_page_cell(report->buf, "");
        }
        myr_page_number(report->buf, "%s", report_money(report, systems[s].cents));
        myr_page_cell(report->buf, "");
        myr_page_row_end(report->buf);
    }
    myr_page_row_begin(report->buf);
    myr_page_cell(report->buf, report_say(report, "all"));
    for (uint32_t i = 0; i < 5; i++) {
        myr_page_cell(report->buf, "");
    }
    myr_page_number(report->buf, "%s", report_money(report, design->head->total_cents));
    myr_page_cell(report->buf, "");
    myr_page_row_end(report->buf);
    myr_page_table_end(report->buf);
}

void report_bill(const struct report *report)
{
    struct system systems[SYSTEMS_MAX];
    uint32_t count = sum_systems(report->design, systems);
    const char *book = myr_design_str(report->design, report->design->head->price_book);
    report_heading(report, "Bill of materials");
    if (book[0]) {
        report_para(report, "Prices are those of the price book %s, in %s.", book,
                    myr_design_str(report->design, report->design->head->currency));
    }
    put_cost_chart(report, systems, count);
    put_rows(report, systems, count);
}

void report_origins(const struct report *report)
{
    static const char *const heads[] = {"part", ">quantity", "rule", "figures", "price"};
    const struct myr_design *design = report->design;
    report_heading(report, "Where the quantities come from");
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        myr_page_row_begin(report->buf);
        myr_page_cell(report->buf, myr_design_str(design, row->part));
        report_count(report, row->quantity);
        myr_page_cell(report->buf, report_string(report, row->rule));
        myr_page_cell(report->buf, report_string(report, row->inputs));
        myr_page_cell(report->buf, report_string(report, row->price_note));
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
}
