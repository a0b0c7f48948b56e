/* What the chapters of a report share. */
#pragma once

#include "myriad/plan/report.h"
#include "myriad/text/page.h"
#include "plan_internal.h"

struct report {
    const struct myr_design *design;
    const struct myr_report *about;
    struct myr_arena *arena;
    struct myr_buf *buf;
    uint32_t *pictures; /* so many are in it */
};

/* A sentence with its figures, in the report's language. */
MYR_PRINTF(2, 3)
const char *report_say(const struct report *report, const char *fmt, ...);
/* The same as a heading, and as a paragraph. */
void report_heading(const struct report *report, const char *english);
MYR_PRINTF(2, 3)
void report_subheading(const struct report *report, const char *fmt, ...);
MYR_PRINTF(2, 3)
void report_para(const struct report *report, const char *fmt, ...);
/* A string of the design in the report's language. */
const char *report_string(const struct report *report, uint32_t string);
/* Cells of a table. */
void report_cell(const struct report *report, const char *english);
/* One that is never broken over two lines. */
void report_word(const struct report *report, const char *english);
void report_count(const struct report *report, uint64_t number);
void report_table(const struct report *report, const char *const *heads, uint32_t count);
/* A drawing, its words in the report's language. 'wide': it has one shape only, and scrolls. */
void report_picture(const struct report *report, const struct myr_buf *svg, bool wide);
/* "204,800" */
const char *report_number(const struct report *report, uint64_t number);
/* "48,681,100", or "-" where none is known. */
const char *report_money(const struct report *report, int64_t cents);

/* Of a line of the bill; "" where nobody has said. */
const char *report_specification(const struct report *report, uint32_t line);
const char *report_warranty(const struct report *report, uint32_t line);

/* --- chapters */

void report_networks(const struct report *report);
void report_bill(const struct report *report);
void report_room(const struct report *report);
void report_figures(const struct report *report);
/* For the tiles at the top. */
void report_power_tiles(const struct report *report);
void report_findings(const struct report *report);
void report_next(const struct report *report);
void report_origins(const struct report *report);
