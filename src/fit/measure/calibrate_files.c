/* calibrate_files: files of runs, kernels and profiles, read for a calibration. */
#include "myriad/fit/calibrate.h"
#include "myriad/text/kind.h"

/* Runs, kernels or both; all of it lies in the arena. */
int myr_calibrate_files(struct myr_calibration_job *ret, struct myr_arena *arena,
                        const struct myr_calibration_files *files, struct myr_err *err)
{
    *ret = (struct myr_calibration_job){.has_runs = files->runs, .has_kernels = files->kernels};
    if (!files->runs && !files->kernels) {
        int rc = myr_err_set(err, MYR_EINVAL, "give measured runs or --kernels FILE");
        myr_err_hint(err, "myriad fit calibrate runs.csv --out mine.yaml; columns as in "
                          "tests/data/published-runs.csv: software, model, hw, gpus, gbs, tp, pp, "
                          "..., iter_s");
        return rc;
    }
    MYR_TRY(myr_profiles_init(&ret->profiles, arena, err));
    /* A profile of the user's own is what calibration starts from. */
    MYR_TRY(files->profile ? myr_profiles_load(&ret->profiles, arena, files->profile, err)
                           : MYR_OK);
    MYR_TRY(files->runs ? myr_runs_read(&ret->runs, arena, &ret->profiles, files->runs, err)
                        : MYR_OK);
    MYR_TRY(files->kernels
                ? myr_kernels_read(&ret->kernels, arena, &ret->profiles, files->kernels, err)
                : MYR_OK);
    int rc = myr_calibrate(&ret->profiles, files->runs ? &ret->runs : NULL,
                           files->kernels ? &ret->kernels : NULL, files->constants_most, arena,
                           &ret->result, err);
    if (rc < 0 && files->runs) {
        (void)myr_err_wrap(err, "%s", files->runs);
    }
    return rc;
}

int myr_profiles_open(struct myr_arena *arena, const char *path, const struct myr_doc **ret,
                      struct myr_err *err)
{
    static const struct myr_doc_want want = {MYR_KINDS_DOC(PROFILE), "a profile of fit"};
    return myr_doc_read_file_of(arena, path, &want, ret, err);
}

/* Constants first, then lists: both may stand in one file. */
int myr_profiles_take(struct myr_profiles *profiles, struct myr_arena *arena,
                      const struct myr_doc *doc, struct myr_err *err)
{
    MYR_TRY(myr_profiles_parse(profiles, doc, err));
    return myr_profiles_extend(profiles, arena, doc, err);
}

int myr_profiles_load(struct myr_profiles *profiles, struct myr_arena *arena, const char *path,
                      struct myr_err *err)
{
    const struct myr_doc *doc;
    MYR_TRY(myr_profiles_open(arena, path, &doc, err));
    return myr_profiles_take(profiles, arena, doc, err);
}
