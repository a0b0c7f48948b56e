/*
 * compare: designs side by side, from the bill to the cost of a trained token.
 *
 * Every design is planned (or opened), then the same collective runs on each in the simulator, then
 * the same model is fitted to each, with what flows that meet lose on that very fabric. A row holds
 * one figure of every design, which of them is best, and for each how it came about: the rule, what
 * went into it, what it rests on, and the path under which `myriad explain plan` tells more.
 *
 * What cannot be compared is shown and has no winner: a bill with unpriced lines, two currencies, a
 * model that fits one design only. Rows are compared as the whole numbers that they are printed as.
 */
#pragma once

#include "myriad/fit.h"
#include "myriad/plan/explain.h"
#include "myriad/sim.h"
#include "myriad/text/lang.h"

enum { MYR_COMPARE_MAX = 8 }; /* designs; they are called a to h */

#define MYR_COMPARE_WORKLOAD "allreduce:auto,1GB"
#define MYR_COMPARE_IN_USE   0.9 /* share of the years in which steps run */

struct myr_compare_question {
    const char *const *files; /* specs, or designs that were planned before */
    uint32_t count;           /* 2 to MYR_COMPARE_MAX */
    const char *prices;       /* a price list for the specs, or NULL */
    const char *group;        /* the servers that train, where a design has several kinds */
    const char *workload;     /* of the simulator; NULL: MYR_COMPARE_WORKLOAD */
    /* One for each design, or one for all, or none: by what the switches speak. */
    struct myr_sim_words policies;
    struct myr_sim_words efficiencies; /* permille of line rate that headers leave */
    uint64_t seed;
    struct myr_case_question of; /* its model is NULL: nothing is trained */
    double in_use;
    myr_sim_progress *progress; /* steps done and in all; NULL: none */
    void *progress_context;
};

enum myr_compare_better { MYR_COMPARE_NEITHER, MYR_COMPARE_LESS, MYR_COMPARE_MORE };

/* One figure of one design. */
struct myr_compare_cell {
    bool known;
    double value;
    const char *basis; /* counted, given, assumed, computed, simulated, fitted */
    const char *rule, *inputs;
    const char *path; /* of 'explain plan'; NULL: it is no number of the plan */
    const char *why;  /* it is not known, or cannot be compared; NULL: it can */
};

struct myr_compare_row {
    const char *key, *title, *unit;
    int digits;
    enum myr_compare_better better;
    struct myr_compare_cell cells[MYR_COMPARE_MAX];
    uint32_t best;   /* position; MYR_NONE: none is */
    bool equal;      /* all are the same */
    const char *why; /* there is no best; NULL: there is, or none is asked for */
};

struct myr_compare_side {
    const char *file, *name;
    struct myr_design design; /* as planned */
    struct myr_design job;    /* the same, with the nodes of the group that trains alone */
    struct myr_design_head job_head;
    const char *group; /* its name, where there are several kinds; else NULL */
    enum myr_technology technology;
    bool technology_known;
    enum myr_policy policy;
    uint32_t efficiency_permille;
    bool policy_given, efficiency_given;
    uint32_t unpriced;
    const char *currency;
    struct myr_contention contention;
    struct myr_sim_job simulated; /* its texts are not kept */
    const char *algorithm;
    bool trained;
    const char *not_trained; /* why; NULL where nothing was asked */
    struct myr_layout layout;
    struct myr_case_price price;
    const char *device, *software;
    uint32_t gpus; /* of the job */
    double spread;
};

#define MYR_COMPARE_ROWS  32
#define MYR_COMPARE_NOTES 64

struct myr_design_comparison {
    const struct myr_compare_question *question;
    struct myr_compare_side sides[MYR_COMPARE_MAX];
    uint32_t count;
    struct myr_compare_row rows[MYR_COMPARE_ROWS];
    uint32_t row_count;
    const char *notes[MYR_COMPARE_NOTES]; /* what is assumed, fitted, or must not be overread */
    uint32_t note_count;
};

/* Everything lives in 'arena'; release in any case, also a zeroed one. */
MYR_MUST_USE int myr_compare_designs(struct myr_design_comparison *ret, struct myr_arena *arena,
                                     const struct myr_catalog *catalog,
                                     const struct myr_compare_question *question,
                                     struct myr_err *err);
void myr_design_comparison_done(struct myr_design_comparison *comparison);

/* The answer for programs and the page beside it. */
void myr_design_comparison_answer(const struct myr_design_comparison *comparison,
                                  struct myr_answer *answer);
/* One HTML page that needs nothing else, and its picture alone. 'lang' may be NULL: English. */
void myr_design_comparison_html(const struct myr_design_comparison *comparison,
                                const struct myr_lang *lang, struct myr_buf *buf);
void myr_design_comparison_svg(const struct myr_design_comparison *comparison,
                               const struct myr_lang *lang, struct myr_buf *buf);
