/* Where a run may write: looked at before it is run, and before anything is lost. */
#include <sys/stat.h>

#include "twin/twin.h"

/* An output that was not asked for has no path, and is passed over. */
int twin_check_outputs(const char *input, const struct twin_output *outputs, uint32_t count,
                       struct myr_err *err)
{
    for (uint32_t i = 0; i < count; i++) {
        struct stat about;
        const struct twin_output *out = &outputs[i];
        if (!out->path) {
            continue;
        }
        /* Found only when it is written, after the whole run, it would cost the run. */
        if (stat(out->path, &about) == 0 && S_ISDIR(about.st_mode)) {
            return myr_err_set(err, MYR_EINVAL, "--%s: '%.200s' is a folder, a file is expected",
                               out->option, out->path);
        }
        if (cli_same_file(out->path, input)) {
            return myr_err_set(err, MYR_EINVAL,
                               "--%s: '%.200s' is the input, another file is expected", out->option,
                               out->path);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (outputs[k].path && cli_same_file(out->path, outputs[k].path)) {
                return myr_err_set(err, MYR_EINVAL,
                                   "--%s and --%s: both are '%.200s', two files are expected",
                                   outputs[k].option, out->option, out->path);
            }
        }
    }
    return MYR_OK;
}
