/*
 * study: an answer and what lies around it: prices of the best layouts, what was refused,
 * neighbours of the best, and what the machine's figures do to it.
 */
#include "myriad/fit/study.h"

#include <stdio.h>

int myr_study_answer(const struct myr_case *it, struct myr_arena *arena, struct myr_study *ret,
                     struct myr_err *err)
{
    /* That nothing fits is an answer, with its reason; only other errors are errors. */
    struct myr_err why = {};
    *ret = (struct myr_study){};
    int rc = myr_case_answer(it, arena, &ret->answer, &why);
    if (rc < 0 && rc != MYR_EINFEASIBLE) {
        if (err) {
            *err = why;
        }
        return rc;
    }
    ret->found = rc == MYR_OK;
    snprintf(ret->reason, sizeof(ret->reason), "%s", why.message);
    snprintf(ret->hint, sizeof(ret->hint), "%s", why.hint);
    if (ret->answer.has_nearest) {
        myr_fit_memory_of(&it->query.it, &ret->answer.nearest, &ret->nearest);
    }
    MYR_ASSERT(ret->found == (ret->answer.top_count > 0));
    return MYR_OK;
}

/* What a fixed layout has no neighbours for is left out. */
int myr_study_around(const struct myr_case *it, struct myr_arena *arena, struct myr_study *study,
                     struct myr_err *err)
{
    const struct myr_fit_answer *answer = &study->answer;
    for (uint32_t i = 0; i < answer->top_count; i++) {
        MYR_TRY(myr_case_price(it, &answer->top[i].layout, NULL, arena, &study->prices[i], err));
    }
    if (!it->has_layout) {
        /* Where nothing fits there is no time to beat. */
        double best_s = study->found ? answer->top[0].step_s : 1e30;
        study->refused_count =
            myr_fit_refused(&it->query, arena, best_s, study->refused, MYR_STUDY_REFUSED_MAX);
    }
    if (!study->found) {
        return MYR_OK;
    }
    const struct myr_layout *best = &answer->top[0].layout;
    if (!it->has_layout) {
        myr_fit_choices(&it->query, best, arena, &study->choices);
    }
    for (uint32_t i = 0; i < study->choices.count; i++) {
        const struct myr_fit_choice *c = &study->choices.items[i];
        study->costs[i] = c->found ? c->best.step_s / answer->top[0].step_s - 1 : 0;
    }
    for (int k = 0; k < MYR_FIT_KNOB_COUNT; k++) {
        enum myr_fit_knob knob = (enum myr_fit_knob)k;
        struct myr_study_knob *turned = &study->knobs[k];
        /* Ten percent up and down, the layout kept. */
        turned->more_s = myr_fit_turned_s(&it->query.it, best, knob, 1.1);
        turned->less_s = myr_fit_turned_s(&it->query.it, best, knob, 0.9);
        turned->more = turned->more_s / answer->top[0].step_s - 1;
        turned->less = turned->less_s / answer->top[0].step_s - 1;
    }
    return MYR_OK;
}

/* Without a design nothing beyond the scale-up domain has a name. */
const char *myr_study_reach(const struct myr_case *it, const struct myr_layout *layout,
                            enum myr_axis axis)
{
    uint32_t level = myr_fit_reach(&it->query.it, layout, axis);
    bool named = level == 0 || (it->has_design && level < MYR_FIT_LEVELS);
    return named ? myr_fit_level_names[level] : "fabric";
}

/* By the topology and not by the design, which is closed where nothing fitted. */
const char *myr_study_slowdowns(const struct myr_case *it)
{
    if (!it->query.it.topology) {
        return "generic: a NIC a GPU into one fabric, a fitted share lost for each doubling of a "
               "group's servers (link.crowd)";
    }
    return it->topology.measured
               ? "contention.json beside the design"
               : "oversubscription only; 'myriad sim contention' would write contention.json";
}
