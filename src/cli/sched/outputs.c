/* The files that a sub-verb writes are none of those that it reads, and no two are one. */
#include "sched/sched.h"

int sched_check_outputs(const struct sched_file *outputs, uint32_t output_count,
                        const struct sched_file *inputs, uint32_t input_count, struct myr_err *err)
{
    for (uint32_t o = 0; o < output_count; o++) {
        const struct sched_file *out = &outputs[o];
        bool direct = !out->path || strcmp(out->path, "-") == 0; /* there "-" is standard output */
        for (uint32_t i = 0; i < input_count && !direct; i++) {
            if (inputs[i].path && myr_file_same(out->path, inputs[i].path)) {
                return myr_err_set(err, MYR_EINVAL,
                                   "%s %.400s would overwrite %s: another file is expected",
                                   out->what, out->path, inputs[i].what);
            }
        }
        for (uint32_t i = 0; i < o && !direct; i++) {
            if (outputs[i].path && (strcmp(out->path, outputs[i].path) == 0 ||
                                    myr_file_same(out->path, outputs[i].path))) {
                return myr_err_set(err, MYR_EINVAL,
                                   "%s and %s are one file, %.400s: two are expected",
                                   outputs[i].what, out->what, out->path);
            }
        }
    }
    return MYR_OK;
}
