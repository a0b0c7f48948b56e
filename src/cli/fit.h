/* fit: the parts of 'myriad fit', a file each. */
#pragma once

#include "cli.h"
#include "myriad/fit.h"

int cli_fit_validate(const char *path, bool json);
int cli_fit_constants(bool as_json);

/* What the user asked 'myriad fit' for; names are checked by cli_fit_search(). */
struct cli_fit_question {
    const char *model, *device, *software;
    uint64_t gpus, batch, seq;
    uint64_t tp, pp, vp, dp, cp, ep, mbs; /* 0: open */
    uint64_t zero;                        /* 4: open */
    uint32_t recompute, schedule;         /* choices; 0: open */
    uint32_t precision;
    uint64_t top;
    bool exhaustive;
};

extern const char *const cli_fit_recomputes[4];
extern const char *const cli_fit_schedules[6];
extern const char *const cli_fit_precisions[7];

int cli_fit_search(const struct cli_fit_question *question, bool json);
/* Throughput from 8 GPUs to the number asked for: batch in proportion, and batch fixed. */
int cli_fit_curve(const struct cli_fit_question *question, bool as_json);
