/* compare: a log's timers against the model's terms, phase by phase; both sides sum to the step. */
#include "myriad/fit/compare.h"

#include <math.h>

#include "cost/combine.h"

static const char *const phase_names[] = {
#define PHASE_NAME(name, text, timers) text,
    MYR_PHASES(PHASE_NAME)
#undef PHASE_NAME
};
static const char *const phase_timers[] = {
#define PHASE_TIMERS(name, text, timers) timers,
    MYR_PHASES(PHASE_TIMERS)
#undef PHASE_TIMERS
};

const char *myr_step_phase_name(enum myr_phase_id phase)
{
    return phase_names[phase];
}

const char *myr_step_phase_timers(enum myr_phase_id phase)
{
    return phase_timers[phase];
}

/* What the model says, in the log's phases; the pipeline has what is left of the step. */
static void predict(const struct myr_fit_case *it, const struct myr_layout *layout,
                    struct myr_comparison *ret)
{
    struct fit_blocks blocks;
    double forward = 0, backward = 0;
    double passes = myr_layout_micro_batches(layout);
    const double *terms = ret->cost.terms_s;
    fit_blocks_of(it, layout, &blocks);
    /* The mean of the stages, as the log's timer is the middle of the ranks. */
    for (uint32_t stage = 0; stage < layout->pp; stage++) {
        struct fit_layer one;
        fit_stage_of(it, layout, &blocks, stage, &one);
        forward += passes * one.forward.total / layout->pp;
        backward += passes * one.backward.total / layout->pp;
    }
    struct myr_step_phase *p = ret->phases;
    p[MYR_STEP_FORWARD].predicted_s = forward;
    p[MYR_STEP_BACKWARD].predicted_s = backward;
    p[MYR_STEP_EXCHANGE].predicted_s = terms[MYR_FIT_DATA];
    p[MYR_STEP_OPTIMISER].predicted_s = terms[MYR_FIT_OPTIMISER];
    p[MYR_STEP_REST].predicted_s = terms[MYR_FIT_STRAGGLER];
    p[MYR_STEP_PIPELINE].predicted_s = ret->cost.step_s - forward - backward - terms[MYR_FIT_DATA] -
                                       terms[MYR_FIT_OPTIMISER] - terms[MYR_FIT_STRAGGLER];
}

/* Differences of timers may come out below 0: that is none. */
static void set(struct myr_step_phase *phase, double seconds)
{
    phase->measured = true;
    phase->measured_s = seconds > 0 ? seconds : 0;
}

/* A timer that the log lacks is 0 s, so a phase counts only where its timers are there. */
static void measure(const struct myr_trainlog *log, struct myr_comparison *ret)
{
    struct myr_step_phase *p = ret->phases;
    double forward = myr_trainlog_seconds(log, "forward-compute");
    double backward = myr_trainlog_seconds(log, "backward-compute");
    double both = myr_trainlog_seconds(log, "forward-backward");
    double gather = myr_trainlog_seconds(log, "params-all-gather");
    double sync = myr_trainlog_seconds(log, "all-grads-sync");
    double optimiser = myr_trainlog_seconds(log, "optimizer");
    double others = myr_trainlog_seconds(log, "layernorm-grads-all-reduce") +
                    myr_trainlog_seconds(log, "embedding-grads-all-reduce") +
                    myr_trainlog_seconds(log, "backward-params-all-reduce");
    /* What the timers leave of the step is the rest. */
    double known = 0;
    if (forward > 0 && backward > 0) {
        set(&p[MYR_STEP_FORWARD], forward);
        set(&p[MYR_STEP_BACKWARD], backward);
        if (both > 0) {
            set(&p[MYR_STEP_PIPELINE], both - forward - backward);
        }
    }
    if (sync + gather + others > 0) {
        set(&p[MYR_STEP_EXCHANGE], sync + gather + others);
    }
    if (optimiser > 0) {
        /* Gathering parameters runs inside the trainer's timer of the optimiser. */
        set(&p[MYR_STEP_OPTIMISER], optimiser > gather ? optimiser - gather : optimiser);
    }
    for (int i = 0; i < MYR_STEP_REST; i++) {
        known += p[i].measured_s;
        ret->has_timers = ret->has_timers || p[i].measured;
    }
    /* Without any timer the rest would be the whole step, and all of it a gap. */
    if (ret->has_timers) {
        set(&p[MYR_STEP_REST], ret->measured_s - known);
    }
}

/* What usually makes a phase faster or slower than told: a hint where to look, not a finding. */
static const char *cause_of(enum myr_phase_id phase, bool slower)
{
    static const char *const causes[][2] = {
        [MYR_STEP_FORWARD] = {"kernels faster than those of the release assumed (--software), or "
                              "more transfers hidden",
                              "slower kernels or clocks, or tensor-parallel transfers in sight"},
        [MYR_STEP_BACKWARD] = {"kernels faster than those of the release assumed (--software), or "
                               "less recomputed",
                               "slower kernels or clocks, or more recomputed than assumed"},
        [MYR_STEP_PIPELINE] = {"a better schedule than assumed, or more even stages",
                               "waiting for slow or uneven stages, or for transfers between them"},
        [MYR_STEP_EXCHANGE] = {"gradients hidden better than assumed",
                               "gradients and parameters not hidden, or slower links"},
        [MYR_STEP_OPTIMISER] = {"a lighter update than assumed", "a heavier update than assumed"},
        [MYR_STEP_REST] = {"fewer stragglers than assumed",
                           "stragglers, data loading, logging, saving"},
    };
    return causes[phase][slower];
}

/* Phases that the log does not tell apart are compared together, as the rest. */
static void find_worst(struct myr_comparison *ret)
{
    double largest = -1;
    ret->worst = MYR_STEP_REST;
    double rest = ret->phases[MYR_STEP_REST].measured_s;
    for (int i = 0; i < MYR_STEP_PHASE_COUNT; i++) {
        rest -= ret->phases[i].measured && i != MYR_STEP_REST ? 0 : ret->phases[i].predicted_s;
    }
    for (int i = 0; i < MYR_STEP_PHASE_COUNT; i++) {
        const struct myr_step_phase *phase = &ret->phases[i];
        double gap = i == MYR_STEP_REST ? rest : phase->measured_s - phase->predicted_s;
        if (phase->measured && fabs(gap) > largest) {
            largest = fabs(gap);
            ret->worst = (enum myr_phase_id)i;
            ret->cause = cause_of(ret->worst, gap > 0);
        }
    }
}

/* FLOPs are compared beside times: where they differ it is not this model that ran. */
void myr_compare(const struct myr_fit_case *it, const struct myr_layout *layout,
                 const struct myr_trainlog *log, struct myr_comparison *ret)
{
    *ret = (struct myr_comparison){};
    myr_fit_cost_of(it, layout, &ret->cost);
    ret->measured_s = myr_samples_typical(&log->elapsed_s);
    ret->error = ret->cost.step_s / ret->measured_s - 1;
    ret->log_tflops = myr_samples_typical(&log->tflops);
    /* Logs count the whole square of attention. */
    struct myr_model square = *it->model;
    square.causal = false;
    struct myr_flops flops = myr_model_flops(&square, myr_layout_seq(layout, it->model));
    ret->model_tflops = 3 * (double)flops.forward * layout->global_batch / ret->measured_s /
                        (double)myr_layout_gpus(layout) / 1e12;
    predict(it, layout, ret);
    measure(log, ret);
    find_worst(ret);
}
