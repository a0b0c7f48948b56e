/* The files that a sub-verb writes are none of those that it reads, and no two are one. */
#include <limits.h>
#include <stdlib.h>

#include "sched/sched.h"

/* The folder that a file is or will be in, whichever way is given; false: there is none. */
static bool folder_of(const char *path, char ret[PATH_MAX])
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf way = {};
    const char *slash = strrchr(path, '/');
    myr_buf_put(&way, slash ? path : ".", slash ? (size_t)(slash + 1 - path) : 1);
    return realpath(way.data, ret) != NULL;
}

/* Behind the last '/'. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* By its name, by a link, or by another way to a name that is not there yet. */
static bool is_one(const char *path, const char *other)
{
    char a[PATH_MAX], b[PATH_MAX];
    return myr_file_same(path, other) ||
           (strcmp(name_of(path), name_of(other)) == 0 && folder_of(path, a) &&
            folder_of(other, b) && strcmp(a, b) == 0);
}

/* An output may be given as NULL: it is not written, and met by nobody. */
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
            if (outputs[i].path && is_one(out->path, outputs[i].path)) {
                return myr_err_set(err, MYR_EINVAL,
                                   "%s and %s are one file, %.400s: two are expected",
                                   outputs[i].what, out->what, out->path);
            }
        }
    }
    return MYR_OK;
}
