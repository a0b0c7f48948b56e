/* sweep: every shape on one GPU, one after the other. */
#include "myriad/fit/kernels.h"

/* For MYR_CLEANUP; takes NULL. */
static void close_gpu(struct myr_gpu **gpu)
{
    myr_gpu_close(*gpu);
}

/*
 * Shares of the peak need a data sheet: the device named, or the one that the driver's name means.
 */
static int choose_device(const struct myr_sweep_question *question,
                         const struct myr_profiles *profiles, struct myr_kernels *kernels,
                         struct myr_err *err)
{
    if (question->device) {
        return myr_profiles_device(profiles, myr_str_from(question->device), &kernels->device, err);
    }
    kernels->device = myr_kernels_device(profiles, kernels->gpu);
    if (kernels->device) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_ENOENT, "the catalogue does not know a '%.60s'", kernels->gpu);
    myr_err_hint(err, "name the nearest device with --device, such as h100");
    return rc;
}

/* A shape that the GPU cannot do has no time; the sweep goes on. */
int myr_gpu_sweep(const struct myr_sweep_question *question, const struct myr_profiles *profiles,
                  struct myr_arena *arena, struct myr_kernels *ret, struct myr_err *err)
{
    MYR_CLEANUP(close_gpu) struct myr_gpu *gpu = NULL;
    struct myr_kernels kernels = {};
    MYR_TRY(myr_gpu_open(&gpu, question->library, question->gpu, err));
    const char *name = myr_gpu_name(gpu);
    kernels.gpu = myr_arena_strndup(arena, name, strlen(name));
    MYR_TRY(choose_device(question, profiles, &kernels, err));
    myr_kernels_sweep(&kernels, arena, question->quick);
    for (uint32_t i = 0; i < kernels.count; i++) {
        MYR_TRY(myr_gpu_measure(gpu, &kernels.items[i], question->least_ms, err));
        if (question->progress) {
            question->progress(question->context, i + 1, kernels.count);
        }
    }
    *ret = kernels;
    return MYR_OK;
}
