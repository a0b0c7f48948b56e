/* run_file: runs of a file, and what is asked of single ones. */
#include "measure/words.h"
#include "myriad/fit/runs.h"
#include "myriad/text/kind.h"

#define RUNS_BYTES_MAX (64U << 20)

int myr_runs_read(struct myr_runs *runs, struct myr_arena *arena,
                  const struct myr_profiles *profiles, const char *path, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {}; /* what the rows keep is copied */
    *runs = (struct myr_runs){};
    MYR_TRY(myr_kind_read(path, RUNS_BYTES_MAX, MYR_KINDS_CSV,
                          "a CSV list of runs (software, model, hw, gpus, gbs, ..., iter_s)", &file,
                          err));
    path = myr_file_name(path);
    MYR_TRY(
        myr_runs_parse(runs, arena, profiles, path, (struct myr_str){file.data, file.len}, err));
    /* A table is read for its times: whoever calls them otherwise would be told of none. */
    return runs->has_times ? MYR_OK
                           : myr_err_set(err, MYR_EINVAL,
                                         "%s:1:1: no column says how long a step took, expected "
                                         "'iter_s' or 'tokens_per_s_per_gpu'",
                                         path);
}

/* As wide as what had to be guessed of the run makes it. */
struct myr_fit_spread myr_run_spread(const struct myr_run *run, const struct myr_profiles *profiles,
                                     const struct myr_fit_cost *cost)
{
    /* Recomputation, cut experts and ZeRO left open do not widen an interval; other axes do. */
    uint32_t chosen = MYR_RUN_OPEN_RECOMPUTE | MYR_RUN_OPEN_ETP | MYR_RUN_OPEN_ZERO;
    bool axes = run->open & ~chosen || run->guessed & MYR_RUN_GUESSED_OFFLOAD;
    uint32_t unknown = (run->stack_exact ? 0 : MYR_UNKNOWN_RELEASE) | (axes ? MYR_UNKNOWN_AXES : 0);
    return myr_fit_spread(profiles, &run->it, &run->layout, cost, unknown);
}

size_t myr_run_family_len(const struct myr_run *run)
{
    const char *dash = strchr(run->source, '-');
    return dash ? (size_t)(dash - run->source) : strlen(run->source);
}
