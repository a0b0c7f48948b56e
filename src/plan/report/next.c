#include "myriad/plan/grow.h"
#include "report/report.h"

/*
 * The phase after this one: what it adds, what it costs, which cables it moves. All of it comes
 * from the growth that --next computes (grow.h); paths begin with 'next'. Designs of both phases
 * have strings of their own, so each name is asked of its own design.
 */

/* Now and then side by side; kinds of switches that neither has are left out. */
static void put_switches(const struct report *report, const struct myr_growth *growth)
{
    static const char *const heads[] = {"network", "switches", ">now", ">then", ">more"};
    static const char *const kinds[] = {"leaf", "spine", "core", "access", "aggregation"};
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *a = &growth->installed->networks[id];
        const struct myr_network *b = &growth->grown.networks[id];
        const uint32_t now[] = {a->leaf, a->spine, a->core, a->access, a->aggregation};
        const uint32_t then[] = {b->leaf, b->spine, b->core, b->access, b->aggregation};
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(kinds); k++) {
            if (now[k] == 0 && then[k] == 0) {
                continue;
            }
            myr_page_row_begin(report->buf);
            report_cell(report, myr_net_names[id]);
            report_cell(report, kinds[k]);
            report_count(report, now[k], "next.networks.%s.%s.now", myr_net_names[id], kinds[k]);
            report_count(report, then[k], "next.networks.%s.%s.then", myr_net_names[id], kinds[k]);
            /* With its sign, as a difference is read. */
            const char *more =
                myr_arena_printf(report->arena, "%+lld", (long long)then[k] - now[k]);
            report_number_cell(report, more, "next.networks.%s.%s.more", myr_net_names[id],
                               kinds[k]);
            myr_page_row_end(report->buf);
        }
    }
    myr_page_table_end(report->buf);
}

/* "-12,345.50"; what is left over brings nothing back, and is shown as less. */
static const char *signed_money(const struct report *report, int64_t cents)
{
    const char *text = report_money(report, cents < 0 ? -cents : cents);
    return cents < 0 ? myr_arena_printf(report->arena, "-%s", text) : text;
}

/* Without its main lines there is none. */
static bool has_sum(const struct myr_growth *growth)
{
    return myr_grow_is_priced(growth) && !growth->lacking[0];
}

/* What is bought and what is left over, as lines of a bill: the latter with a minus. */
static void put_lines(const struct report *report, const struct myr_growth *growth)
{
    static const char *const heads[] = {"system",    "name",        "part",
                                        ">quantity", ">unit price", ">total"};
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < growth->line_count; i++) {
        const struct myr_grow_line *line = &growth->lines[i];
        bool priced = line->unit_cents != -1; /* a price may have fallen */
        report_row_of(report, "next.lines.%u.quantity", i);
        report_cell(report, line->system);
        report_cell(report, line->name);
        myr_page_cell(report->buf, line->part);
        /* Groups of digits know no minus: it is put before them. */
        const char *quantity = report_number(
            report, (uint64_t)(line->quantity < 0 ? -line->quantity : line->quantity));
        report_number_cell(report,
                           line->quantity < 0 ? myr_arena_printf(report->arena, "-%s", quantity)
                                              : quantity,
                           "next.lines.%u.quantity", i);
        report_number_cell(report, priced ? signed_money(report, line->unit_cents) : "-",
                           "next.lines.%u.unit_price", i);
        report_number_cell(report, priced ? signed_money(report, line->total_cents) : "-",
                           "next.lines.%u.total", i);
        myr_page_row_end(report->buf);
    }
    /* The sum has the place of the totals, other cells stay empty. */
    myr_page_row_begin(report->buf);
    report_cell(report, "all");
    for (uint32_t i = 0; i < 4; i++) {
        myr_page_cell(report->buf, "");
    }
    report_number_cell(report, has_sum(growth) ? signed_money(report, growth->cost_cents) : "-",
                       "next.cost");
    myr_page_row_end(report->buf);
    myr_page_table_end(report->buf);
}

/* Buying ahead what installed cables will have to reach. */
static void put_ahead(const struct report *report, const struct myr_growth *growth)
{
    const struct myr_design_head *head = growth->installed->head;
    const char *currency = myr_design_str(growth->installed, head->currency);
    report_subheading(report, "Upper switches first");
    if (growth->first_switches == 0) {
        report_para(report, "There is nothing to buy ahead: no installed cable would be spared.");
        return;
    }
    const char *switches = report_counted(report, growth->first_switches, "next.ahead.switches");
    const char *avoided = report_counted(report, growth->avoided_total, "next.ahead.moves_avoided");
    /* Switches without a price still spare cables: only the money is left out. */
    if (growth->first_cents < 0) {
        report_para(report, "%s switches bought now spare %s of these cables; they have no price.",
                    switches, avoided);
        return;
    }
    /* What is paid now is saved later: only the time of paying changes. */
    report_para(
        report,
        "%s switches bought now cost %s %s more in this phase and as much less in the "
        "next; they spare %s of these cables.",
        switches,
        report_value(report, report_money(report, growth->first_cents), "next.ahead.extra_now"),
        currency, avoided);
    report_para(report, "This phase then costs %s %s instead of %s.",
                report_value(report, report_money(report, head->total_cents + growth->first_cents),
                             "next.ahead.cost_now"),
                currency,
                report_value(report, report_money(report, head->total_cents), "totals.cost"));
}

/* What is added, what it costs, what moves, and what buying ahead would spare: the questions of a
 * second phase. */
void report_next(const struct report *report)
{
    /* Without --next there is no such chapter. */
    const struct myr_growth *growth = report->about->next;
    if (!growth) {
        return;
    }
    const struct myr_design_head *now = growth->installed->head, *then = growth->grown.head;
    report_heading(report, "The next phase");
    report_para(report, "From %s to %s servers, from %s to %s GPUs.",
                report_counted(report, now->servers, "next.servers.now"),
                report_counted(report, then->servers, "next.servers.then"),
                report_counted(report, now->gpus, "next.gpus.now"),
                report_counted(report, then->gpus, "next.gpus.then"));
    put_switches(report, growth);
    report_subheading(report, "What is bought for it");
    put_lines(report, growth);
    if (growth->unpriced_lines) {
        report_para(report, "Lines without a price are not in the sum.");
    }
    /* The grown design's own total: what both phases together have cost. */
    if (has_sum(growth)) {
        report_para(
            report, "Both phases together: %s %s.",
            report_value(report, report_money(report, then->total_cents), "next.cost_of_both"),
            myr_design_str(&growth->grown, then->currency));
    }
    /* The bound is said beside the count: that nothing better was missed can be seen. */
    report_subheading(report, "Installed cables that move");
    if (growth->move_count == 0) {
        report_para(report, "None.");
    } else {
        report_para(report, "%s of %s; no growth into this design moves fewer than %s.",
                    report_counted(report, growth->move_count, "next.moved_cables"),
                    report_counted(report, growth->installed->cable_count, "next.installed_cables"),
                    report_counted(report, growth->moved_at_least, "next.moved_at_least"));
    }
    put_ahead(report, growth);
}
