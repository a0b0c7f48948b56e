/* run_check: whether a run is one that could have been. */
#include "measure/words.h"
#include "myriad/fit/runs.h"

/* Sizes that contradict each other; what is open is not counted. */
int fit_run_check_sizes(const struct myr_run *run, struct myr_err *err)
{
    const struct myr_layout *l = &run->layout;
    if (!run->gpus || !l->tp || !l->pp || !l->cp || !l->ep || !l->dp || !l->vp || !l->micro_batch ||
        !l->global_batch) {
        return myr_err_set(err, MYR_EINVAL, "no size of a layout can be 0");
    }
    uint64_t ranks = (uint64_t)l->tp * l->pp * l->cp;
    bool open = run->open & (MYR_RUN_OPEN_TP | MYR_RUN_OPEN_PP | MYR_RUN_OPEN_CP);
    if (!open && run->gpus % ranks != 0) {
        return myr_err_set(err, MYR_EINVAL, "tp %u x pp %u x cp %u does not divide %u GPU%s", l->tp,
                           l->pp, l->cp, run->gpus, run->gpus == 1 ? "" : "s");
    }
    if (!open && run->dp && run->gpus / ranks != run->dp) {
        return myr_err_set(err, MYR_EINVAL, "tp %u x pp %u x cp %u x dp %u is not %u GPU%s", l->tp,
                           l->pp, l->cp, run->dp, run->gpus, run->gpus == 1 ? "" : "s");
    }
    /* A layout that no rule allows as it stands may still have an open axis that mends it. */
    return run->open == 0 ? myr_layout_check(l, &run->model, 0, err) : MYR_OK;
}
