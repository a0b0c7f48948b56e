/*
 * compare: a measured run against the model, phase by phase.
 *
 * Phases are those that Megatron-LM's timers tell apart; they sum to the step on both sides. A
 * phase that the log has no timer for is not measured, and belongs to the rest. Of a log without
 * any timer nothing is measured but the step.
 */
#pragma once

#include "myriad/fit/case.h"
#include "myriad/fit/trainlog.h"

#define MYR_PHASES(X)                                                                             \
    X(FORWARD, "forward", "forward-compute")                                                      \
    X(BACKWARD, "backward", "backward-compute")                                                   \
    X(PIPELINE, "pipeline", "forward-backward less both computes")                                \
    X(EXCHANGE, "exchange", "all-grads-sync, params-all-gather, layernorm- and embedding-grads-") \
    X(OPTIMISER, "optimiser", "optimizer less params-all-gather")                                 \
    X(REST, "rest", "elapsed less all of these")

enum myr_phase_id {
#define MYR_PHASE_ENUM(name, text, timers) MYR_STEP_##name,
    MYR_PHASES(MYR_PHASE_ENUM)
#undef MYR_PHASE_ENUM
        MYR_STEP_PHASE_COUNT
};

struct myr_step_phase {
    double predicted_s, measured_s;
    bool measured;
};

struct myr_comparison {
    struct myr_fit_cost cost;
    double measured_s; /* the typical step */
    double error;      /* of the prediction, as a share of the measurement; above 0: too slow */
    struct myr_step_phase phases[MYR_STEP_PHASE_COUNT];
    bool has_timers;
    enum myr_phase_id worst; /* where most of the gap is; REST where nothing is told apart */
    const char *cause;       /* what usually makes that difference; NULL without timers */
    double log_tflops;       /* the log's own figure a GPU; 0: none */
    double model_tflops;     /* the model's FLOPs in the measured time, attention in full */
};

const char *myr_step_phase_name(enum myr_phase_id phase);
const char *myr_step_phase_timers(enum myr_phase_id phase);

void myr_compare(const struct myr_fit_case *it, const struct myr_layout *layout,
                 const struct myr_trainlog *log, struct myr_comparison *ret);

/*
 * A log's run by what the log says of itself and the user says in addition ('of': the model may be
 * left to the log; neither design nor layout). What is said nowhere takes the model's best value.
 */
struct myr_log_question {
    struct myr_case_question of;
    const char *log; /* a file; "-": standard input */
};

struct myr_log_comparison {
    struct myr_profiles profiles;
    struct myr_trainlog log;
    struct myr_model model;
    struct myr_fit_query query;
    struct myr_layout layout;
    struct myr_recipe recipes[MYR_PRECISION_COUNT];
    bool stack_exact;
    bool fits;            /* in memory, as modelled; it ran, so it did */
    double low_s, high_s; /* the prediction's interval, nine of ten */
    struct myr_comparison result;
};

MYR_MUST_USE int myr_compare_log(struct myr_log_comparison *ret, struct myr_arena *arena,
                                 const struct myr_log_question *question, struct myr_err *err);
/* A zeroed one too. */
void myr_log_comparison_done(struct myr_log_comparison *comparison);
