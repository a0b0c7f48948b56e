/* What the chapters of a report share. */
#pragma once

#include "myriad/plan/report.h"
#include "myriad/text/page.h"
#include "plan_internal.h"

/* Paths of the numbers in the sentence that is being written (explain.h). */
struct report_paths {
    const char *items[64]; /* no sentence has more */
    uint32_t count;
};

/* A report being written: every chapter gets it and adds to 'buf'. */
struct report {
    const struct myr_design *design;
    const struct myr_plan_about *about; /* language, date, spec, next phase */
    struct myr_arena *arena;            /* for texts of this report */
    struct myr_buf *buf;                /* the page */
    uint32_t *pictures;                 /* so many are in it */
    struct report_paths *paths;
    const struct myr_answer *tree; /* report_tree() */
};

/*
 * Every number of the page says by which path 'myriad explain plan' knows it: where the pointer
 * rests on it, and for whoever reads the file (tests/plan/report_numbers.py). report_value() marks
 * a number that goes into a sentence; the mark outlives the translation.
 */
MYR_PRINTF(3, 4)
const char *report_value(const struct report *report, const char *text, const char *path, ...);
/* The same of a count: "204,800". */
MYR_PRINTF(3, 4)
const char *report_counted(const struct report *report, uint64_t number, const char *path, ...);
/* A text with marked numbers, escaped, into what is open. */
void report_put(const struct report *report, const char *text);

/* A sentence with its figures, in the report's language. */
MYR_PRINTF(2, 3)
const char *report_say(const struct report *report, const char *fmt, ...);
/* The same as a heading, and as a paragraph. */
void report_heading(const struct report *report, const char *english);
MYR_PRINTF(2, 3)
void report_subheading(const struct report *report, const char *fmt, ...);
MYR_PRINTF(2, 3)
void report_para(const struct report *report, const char *fmt, ...);
/* One whose only number is of that path, and is part of the wording. */
MYR_PRINTF(3, 4)
void report_para_of(const struct report *report, const char *path, const char *fmt, ...);
/* For what a reader looks for first. */
void report_tile(const struct report *report, const char *english, const char *text);
/* Several words of one text, each in the report's language; what parts them there, and here. */
const char *report_words(const struct report *report, const char *words, const char *separator,
                         const char *between);
/* A string of the design in the report's language. */
const char *report_string(const struct report *report, uint32_t string);
/* Cells of a table. */
void report_cell(const struct report *report, const char *english);
/* One that is never broken over two lines. */
void report_word(const struct report *report, const char *english);
MYR_PRINTF(3, 4)
void report_count(const struct report *report, uint64_t number, const char *path, ...);
MYR_PRINTF(3, 4)
void report_number_cell(const struct report *report, const char *text, const char *path, ...);
/* A cell or a whole row whose words explain the number of that path. */
MYR_PRINTF(3, 4)
void report_cell_of(const struct report *report, const char *english, const char *path, ...);
MYR_PRINTF(2, 3)
void report_row_of(const struct report *report, const char *path, ...);
/* Opens a table; a head that begins with '>' is that of a column of numbers. */
void report_table(const struct report *report, const char *const *heads, uint32_t count);
/* A drawing, its words in the report's language. All but the topology have one shape, and scroll.
 */
enum report_picture { REPORT_TOPOLOGY, REPORT_COSTS, REPORT_FLOOR };
void report_picture(const struct report *report, const struct myr_buf *svg,
                    enum report_picture what);
/* Where in it the next text stands; and below which paths the numbers of that text are found. */
struct report_drawn {
    enum report_picture what;
    const char *card, *device, *rack; /* the last that were named; NULL: none yet */
};
const char *report_drawn_paths(const struct report *report, struct report_drawn *drawn,
                               const char *text);
/* "204,800" */
const char *report_number(const struct report *report, uint64_t number);
/* For sentences: "48.68 M CNY", in Chinese "4,868.11 万元". */
const char *report_money_said(const struct report *report, int64_t cents);
/* What a scale up to so much counts in: "M CNY", in Chinese "万元" or "亿元". */
struct report_unit {
    const char *name;
    int64_t cents; /* of one */
};
struct report_unit report_money_unit(const struct report *report, int64_t cents);
/* "48,681,100", or "-" where none is known. */
const char *report_money(const struct report *report, int64_t cents);

/* Of a line of the bill; "" where nobody has said. */
const char *report_specification(const struct report *report, uint32_t line);
const char *report_warranty(const struct report *report, uint32_t line);

/* What each system of the bill costs, in the bill's order; -1: none of its lines has a price. */
enum { REPORT_SYSTEMS_MAX = 32 };
struct report_system {
    uint32_t name; /* string */
    int64_t cents; /* -1: no price */
};
uint32_t report_systems(const struct myr_design *design,
                        struct report_system ret[REPORT_SYSTEMS_MAX]);

/* --- chapters */

/* Each writes its heading and all below it; one without anything to say writes nothing. */
void report_summary(const struct report *report);
void report_care(const struct report *report);
/* One of catalog/proposal, by its name there. */
void report_chapter(const struct report *report, const char *name);
void report_networks(const struct report *report);
void report_bill(const struct report *report);
void report_room(const struct report *report);
void report_figures(const struct report *report);
/* For the tiles at the top. */
void report_power_tiles(const struct report *report);
void report_findings(const struct report *report);
void report_next(const struct report *report);
void report_origins(const struct report *report);

/* --- catalog/proposal, and its numbers, which are no plan's (constants.c) */

const struct myr_doc *report_document(struct myr_arena *arena, const char *key);

/* All that words may name: the plan's answer, 'report', 'proposal' and 'acceptance'. */
void report_tree(const struct myr_design *design, const struct myr_plan_targets *targets,
                 struct myr_arena *arena, struct myr_answer *ret);
/* Of all networks. */
uint64_t report_switches(const struct myr_design *design);
/* The object 'acceptance'. */
void report_targets(const struct myr_plan_targets *targets, struct myr_answer *answer);
/* The object 'proposal'. */
void report_constants(const struct myr_design *design, struct myr_answer *answer);
/* Where one of them is from; NULL: there is none of that name. */
const char *report_constant_source(struct myr_arena *arena, const char *name,
                                   const char **ret_unit);
