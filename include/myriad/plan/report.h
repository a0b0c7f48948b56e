/*
 * report: the design as a document that is handed over: what is built and why, pictures, the bill,
 * what it costs, what to look at, and how each number came about; and the bill as a workbook.
 *
 * All of it is made of the finished design. The same design, words and date give the same bytes.
 */
#pragma once

#include "myriad/model.h"
#include "myriad/plan/language.h"

#define MYR_REPORT_DIGEST 65
#define MYR_REPORT_LABELS "labels.html"

struct myr_growth;
struct myr_plan_listener;

/*
 * A target of acceptance that needs more than the plan (study/acceptance.h): shown below the tests,
 * and explained as 'acceptance.KEY.target'.
 */
struct myr_plan_target {
    const char *key, *test, *unit;
    double value;
    int digits;
    const char *basis, *rule, *inputs;
    const char *reach; /* how far it is from anything measured */
};
enum { MYR_PLAN_TARGETS_MAX = 24 };
struct myr_plan_targets {
    struct myr_plan_target items[MYR_PLAN_TARGETS_MAX];
    const char *lacking[MYR_PLAN_TARGETS_MAX]; /* what has no target, and why */
    uint32_t count, lacking_count;
};

/* What stands on its first lines besides; any of them may be NULL. */
struct myr_plan_about {
    const struct myr_lang *lang; /* NULL: English */
    const char *date, *revision;
    const char *spec;                       /* the name of its file */
    char digest[MYR_REPORT_DIGEST];         /* SHA-256 of the spec's bytes, or "" */
    const struct myr_growth *next;          /* plan/grow.h: the phase after this one, or NULL */
    const struct myr_plan_targets *targets; /* or NULL */
    const char *options; /* what else 'explain plan' needs to find the same: "--next later.yaml" */
    const struct myr_plan_listener *listener; /* hears of every file that is written */
    const char *labels; /* whose cable labels are printed: "all", a network, rack or device; NULL */
};

void myr_report_digest(struct myr_str bytes, char ret[MYR_REPORT_DIGEST]);

/* One HTML page that needs nothing else. */
void myr_plan_report(const struct myr_design *design, const struct myr_plan_about *about,
                     struct myr_buf *buf);
/* The bill and the findings as a workbook (OOXML); what is written meanwhile lies in 'folder'. */
MYR_MUST_USE int myr_plan_workbook(const struct myr_design *design,
                                   const struct myr_plan_about *about, const char *folder,
                                   struct myr_buf *ret, struct myr_err *err);
