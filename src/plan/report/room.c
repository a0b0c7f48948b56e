#include <stdio.h>

#include "report/report.h"

/*
 * Racks, what they carry, and what to look at. The floor plan is the drawing of racks.svg, put into
 * the page while it is small enough; the findings of the whole plan have their chapter here as
 * well.
 */

/* A drawing of more is no page any more: the file beside it is named instead. */
enum { PICTURE_BYTES_MAX = 3 << 20 };

/* For kW, km and m: nobody measures them closer. */
static const char *tenths(const struct report *report, double number)
{
    return myr_arena_printf(report->arena, "%.1f", number);
}

/* Eight at the most: whoever needs all of them has racks.csv. */
static void put_fullest(const struct report *report)
{
    static const char *const heads[] = {"rack",    ">devices", ">kW", ">kW limit",
                                        ">U used", ">U",       ">kg"};
    enum { SHOWN = 8 };
    const struct myr_design *design = report->design;
    /* Racks, the one that draws the most first. */
    uint32_t best[SHOWN];
    uint32_t count = 0;
    /* The few that are nearest to their limit of power; ties in the order of the room. */
    for (uint32_t i = 0; i < design->rack_count; i++) {
        if (design->rack_more[i].devices == 0) {
            continue;
        }
        /* Insertion into a short list: eight of any number of racks. */
        uint32_t at = count < SHOWN ? count++ : SHOWN;
        if (at == SHOWN) {
            if (design->rack_more[best[SHOWN - 1]].watts >= design->rack_more[i].watts) {
                continue;
            }
            at = SHOWN - 1;
        }
        /* Ties stay in the order of the room: only a rack that draws more moves ahead. */
        while (at > 0 && design->rack_more[best[at - 1]].watts < design->rack_more[i].watts) {
            best[at] = best[at - 1];
            at--;
        }
        best[at] = i;
    }
    report_para(report, "The racks that draw the most:");
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < count; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        const struct myr_rack_more *more = &design->rack_more[best[i]];
        const struct myr_rack *rack = &design->racks[best[i]];
        myr_design_rack_name(design, best[i], &name);
        myr_buf_putc(&name, '\0');
        myr_page_row_begin(report->buf);
        myr_page_cell(report->buf, name.data);
        report_count(report, more->devices, "racks.%s.devices", name.data);
        report_number_cell(report, tenths(report, more->watts / 1000.0), "racks.%s.kw", name.data);
        report_number_cell(report, tenths(report, rack->watts_max / 1000.0), "racks.%s.kw_limit",
                           name.data);
        report_count(report, more->units, "racks.%s.units", name.data);
        report_count(report, rack->units, "racks.%s.units_limit", name.data);
        report_count(report, more->kg, "racks.%s.kg", name.data);
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
}

/* Lengths are in km and m here, in mm in the design. */
void report_room(const struct report *report)
{
    const struct myr_room *room = report->design->room;
    MYR_CLEANUP(myr_buf_done) struct myr_buf svg = {};
    report_heading(report, "Room and racks");
    if (!room) {
        report_para(report, "The spec has no room: racks, lengths and their power are not placed.");
        return;
    }
    report_para(
        report, "%s of %s racks are in use, %s of %s kW.",
        report_counted(report, room->racks_used, "room.racks_used"),
        report_counted(report, report->design->rack_count, "room.racks"),
        report_value(report, tenths(report, (double)room->watts / 1000), "room.kw"),
        report_value(report, tenths(report, (double)room->watts_max / 1000), "room.kw_limit"));
    /* In whole percent. */
    const char *fill = myr_arena_printf(report->arena, "%.0f", room->tray_fill_permille / 10.0);
    report_para(report,
                "Cables: %s km along the trays, the longest %s m; the fullest tray is "
                "filled to %s %%.",
                report_value(report, tenths(report, (double)room->cable_mm / 1e6), "room.cable_m"),
                report_value(report, tenths(report, room->longest_mm / 1e3), "room.longest_m"),
                report_value(report, fill, "room.tray_fill"));
    /* Drawn in any case: only then is its size known. */
    myr_plan_racks_svg(report->design, &svg);
    if (svg.len <= PICTURE_BYTES_MAX) {
        report_picture(report, &svg, REPORT_FLOOR);
    } else {
        report_para(report, "The floor plan of %s racks is in racks.svg beside this page.",
                    report_counted(report, report->design->rack_count, "room.racks"));
    }
    put_fullest(report);
}

/* Accepted errors are shown too, as such: a customer reads what was known. */
void report_findings(const struct report *report)
{
    static const char *const heads[] = {"severity", "where", "rule", "what", "remedy"};
    const struct myr_design *design = report->design;
    report_heading(report, "What to look at");
    if (design->finding_count == 0) {
        report_para(report, "Nothing: no rule of good practice is broken.");
        return;
    }
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        /* An accepted error is shown as accepted; warnings and infos as what they are. */
        bool known = finding->accepted && finding->severity == MYR_SEVERITY_ERROR;
        report_row_of(report, "findings.%u.message", i);
        report_word(report, known ? "accepted" : plan_severity_names[finding->severity]);
        myr_page_cell(report->buf, report_string(report, finding->where));
        myr_page_cell(report->buf, myr_design_str(design, finding->rule));
        myr_page_cell(report->buf, report_string(report, finding->message));
        myr_page_cell(report->buf, report_string(report, finding->remedy));
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
}
