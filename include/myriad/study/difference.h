/*
 * difference: what changes from one proposal to another.
 *
 * Two specs or designs, whoever made them: the figures that a customer asks for first, every line
 * of the two bills side by side, findings that only one has, and every other number of the plans
 * that is not the same in both, each by its path ('myriad explain plan'). Money is subtracted only
 * where both are in one currency and no main line lacks a price; the shares that are priced stand
 * beside it. Nothing is simulated: that is compare.h.
 */
#pragma once

#include "myriad/plan/explain.h"
#include "myriad/text/lang.h"

/* A number of both plans; one that a plan has not is not known there. */
struct myr_difference_row {
    const char *path, *title, *unit;
    bool known[2];
    double values[2];
    int digits;
    const char *why; /* nothing is subtracted; NULL: it is */
};

struct myr_difference_line {
    const char *system, *name, *part;
    uint64_t quantities[2];
    int64_t cents[2]; /* -1: a side has none of it, or no price */
};

/* A rule that is broken in one of them, as often as it is there more. */
struct myr_difference_finding {
    uint32_t side; /* 0 or 1 */
    const char *severity, *rule, *where, *message;
};

struct myr_difference {
    const char *files[2];
    const struct myr_design *designs[2];
    struct myr_difference_row *rows;    /* what is asked for first, also where it is the same */
    struct myr_difference_row *numbers; /* all others that differ */
    struct myr_difference_line *lines;  /* all of both bills */
    struct myr_difference_finding *findings;
    uint32_t row_count, number_count, line_count, finding_count;
};

/* Everything lies in 'arena'; the designs outlive it. */
MYR_MUST_USE int myr_difference_of(struct myr_arena *arena,
                                   const struct myr_design *const designs[2],
                                   const char *const files[2], struct myr_difference *ret,
                                   struct myr_err *err);
void myr_difference_answer(const struct myr_difference *difference, struct myr_answer *answer);
/* One HTML page that needs nothing else. 'lang' may be NULL: English. */
void myr_difference_html(const struct myr_difference *difference, const struct myr_lang *lang,
                         struct myr_buf *buf);
