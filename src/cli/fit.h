/* fit: the parts of 'myriad fit', a file each. */
#pragma once

#include "cli.h"
#include "myriad/fit.h"

/* JSON is YAML too. */
static inline bool cli_fit_is_json(uint32_t format)
{
    return format == MYR_FORMAT_JSON || format == MYR_FORMAT_YAML;
}

/* 'profile' is a user's profile, or NULL. */
int cli_fit_validate(const char *path, const char *profile, uint32_t format);
/* The user's own constants from runs (or NULL) and a kernel sweep (or NULL). */
struct cli_fit_calibration {
    const char *runs, *kernels, *profile, *out;
    uint64_t constants; /* at most so many; 0: by the number of runs */
};
int cli_fit_calibrate(const struct cli_fit_calibration *asked, bool json);
/* The shipped profiles, then the user's. */
MYR_MUST_USE int cli_fit_profiles(struct myr_profiles *profiles, struct myr_arena *arena,
                                  const char *profile, struct myr_err *err);
int cli_fit_constants(const char *profile, uint32_t format);

/* What the user asked 'myriad fit' for; names are checked by cli_fit_ask(). */
struct cli_fit_question {
    const char *model, *device, *software, *profile, *design, *report, *plots;
    struct myr_option_list pools; /* "h800:512" */
    uint64_t gpus, batch, seq;
    uint64_t tp, pp, vp, dp, cp, ep, mbs; /* 0: open */
    uint64_t zero;                        /* 4: open */
    uint32_t recompute, schedule;         /* choices; 0: open */
    uint32_t precision;
    uint64_t top;
    bool exhaustive;
};

/* The answer as a page and as plots, where the question asks for them. */
MYR_MUST_USE int cli_fit_report(const struct cli_fit_question *question,
                                const struct myr_fit_query *query,
                                const struct myr_fit_answer *answer, double spread,
                                struct myr_arena *arena, struct myr_err *err);
/* A Megatron-LM log against the model; CSV gives a row for 'calibrate'. */
int cli_fit_compare(const struct cli_fit_question *question, const char *log, uint32_t format);

extern const char *const cli_fit_recomputes[4];
extern const char *const cli_fit_schedules[6];
extern const char *const cli_fit_precisions[7];

/* The same with names looked up and files read. */
struct cli_fit_asked {
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_model model;
    struct myr_fit_query query;
    struct myr_design design; /* --design */
    struct myr_fit_topology topology;
    bool has_design, stack_exact;
};

/* The axes that the user fixed, the others open. */
void cli_fit_fix_axes(struct myr_fit_query *q, const struct cli_fit_question *u);

struct cli_fit_asked *cli_fit_asked_new(void);
void cli_fit_asked_free(struct cli_fit_asked *asked);
MYR_MUST_USE int cli_fit_ask(struct cli_fit_asked *asked, const struct cli_fit_question *question,
                             struct myr_err *err);
/* Prints the error; a model that fits nowhere is bad input too. */
int cli_fit_error(const struct myr_err *err);
/* The step lies between 1/(1+s) and 1+s of what is said, nine times of ten. */
double cli_fit_spread(const struct cli_fit_asked *asked);
void cli_fit_put_layout(struct myr_json *json, const struct myr_layout *layout);
void cli_fit_put_memory(struct myr_json *json, const struct myr_fit_memory *memory);

int cli_fit_search(const struct cli_fit_question *question, bool json);
/* The same for --pool DEVICE:GPUS, given twice or more. */
int cli_fit_pool(const struct cli_fit_question *question, bool as_json);
/* Throughput from 8 GPUs to the number asked for: batch in proportion, and batch fixed. */
int cli_fit_curve(const struct cli_fit_question *question, bool as_json);
