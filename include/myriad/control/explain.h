/*
 * explain: what is known of one job or node, and why it is as it is, line by line.
 */
#pragma once

#include "myriad/control/core.h"

enum { MYR_EXPLAIN_FACTS = 32, MYR_EXPLAIN_TEXT = 160 };

struct myr_explain_fact {
    char what[40], is[MYR_EXPLAIN_TEXT];
};

struct myr_explanation {
    struct myr_explain_fact facts[MYR_EXPLAIN_FACTS];
    uint32_t count;
};

/* 'name' is "job/42" or "node/00012". */
MYR_MUST_USE int myr_control_explain(const struct myr_control *control, const char *name,
                                     struct myr_explanation *ret, struct myr_err *err);
/* What a waiting job lacks, as half a sentence. Not const: the queue uses its own scratch space, so
 * ask a copy. */
const char *myr_control_waits(struct myr_control *control, uint32_t job);
