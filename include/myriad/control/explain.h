/*
 * explain: what is known of one job or node, and why it is as it is, line by line.
 */
#pragma once

#include "myriad/control/core.h"
#include "myriad/sched/start.h"
#include "myriad/sched/trial.h"

/* The longest text is that of MYR_TRIAL_JOBS_MAX moves between nodes of long names. */
enum { MYR_EXPLAIN_FACTS = 32, MYR_EXPLAIN_TEXT = 1536 };

struct myr_explain_fact {
    char what[40], is[MYR_EXPLAIN_TEXT];
};

struct myr_explanation {
    struct myr_explain_fact facts[MYR_EXPLAIN_FACTS];
    uint32_t count;
};

/*
 * What the asker knows and the state does not. The state's own time is that of its last event,
 * which on an idle cluster may be long ago, and has no hours without a controller in it.
 */
struct myr_explain_asker {
    int64_t now_ms; /* by the clock of the events; earlier than the last of them counts as it */
    int64_t submitted_ms;        /* by the same clock, when the job came; -1: as the state has it */
    struct myr_node_names names; /* at most 64 bytes each; none: "node/00012" */
    /* When it starts, in seconds from now, as it was worked out before; NULL: it is worked out now
     * with so many steps (start.h), 0: not at all. */
    const struct myr_start_time *start;
    uint32_t start_steps;
};

/* 'name' is "job/42" or "node/00012". Without an asker: as of the state's last event,
 * and starts are not worked out. */
MYR_MUST_USE int myr_control_explain(const struct myr_control *control, const char *name,
                                     const struct myr_explain_asker *asker,
                                     struct myr_explanation *ret, struct myr_err *err);
/* What the waiting job of this id lacks, as half a sentence. Not const: the queue uses its own
 * scratch space, so ask a copy. */
const char *myr_control_waits(struct myr_control *control, uint32_t id);
/* When jobs that wait are likely to start, in seconds from 'now_ms'; see start.h. */
bool myr_control_starts(const struct myr_control *control, int64_t now_ms, const uint32_t *ids,
                        uint32_t count, uint32_t steps, struct myr_start_time *ret);
