/* Where a run may write: looked at before it is run, and before anything is lost. */
#include <stdlib.h>
#include <sys/stat.h>

#include "twin/twin.h"

/* The folder that holds it, as the system knows it, and its name there; NULL: there is none. */
static char *place_of(const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? myr_xcalloc((size_t)(slash - path) + 2, 1) : NULL;
    *ret_name = slash ? slash + 1 : path;
    if (slash) {
        memcpy(folder, path, (size_t)(slash - path) + 1);
    }
    char *real = realpath(folder ? folder : ".", NULL);
    free(folder);
    return real;
}

/* Whether writing one would change the other: a pipe or a terminal takes both. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat one, two;
    bool there = stat(a, &one) == 0;
    if (there != (stat(b, &two) == 0)) {
        return false;
    }
    if (there) {
        return S_ISREG(one.st_mode) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
    }
    const char *a_name, *b_name;
    MYR_CLEANUP(myr_free_at) char *a_place = place_of(a, &a_name);
    MYR_CLEANUP(myr_free_at) char *b_place = place_of(b, &b_name);
    return a_place && b_place && strcmp(a_place, b_place) == 0 && strcmp(a_name, b_name) == 0;
}

int twin_check_outputs(const char *input, const struct twin_output *outputs, uint32_t count,
                       struct myr_err *err)
{
    for (uint32_t i = 0; i < count; i++) {
        struct stat about;
        const struct twin_output *out = &outputs[i];
        if (!out->path) {
            continue;
        }
        if (stat(out->path, &about) == 0 && S_ISDIR(about.st_mode)) {
            return myr_err_set(err, MYR_EINVAL, "--%s: '%.200s' is a folder, a file is expected",
                               out->option, out->path);
        }
        if (is_same_file(out->path, input)) {
            return myr_err_set(err, MYR_EINVAL,
                               "--%s: '%.200s' is the input, another file is expected", out->option,
                               out->path);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (outputs[k].path && is_same_file(out->path, outputs[k].path)) {
                return myr_err_set(err, MYR_EINVAL,
                                   "--%s and --%s: both are '%.200s', two files are expected",
                                   outputs[k].option, out->option, out->path);
            }
        }
    }
    return MYR_OK;
}
