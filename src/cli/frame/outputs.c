/*
 * outputs: what a verb may write, looked at before it runs and before anything is lost. Options
 * that write are marked in their rows, so that no verb has to remember it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli.h"

/* The folder that holds it, as the system knows it, and its name there; NULL: there is none, and
 * errno says why. */
static char *place_of(const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? myr_xcalloc((size_t)(slash - path) + 2, 1) : NULL;
    *ret_name = slash ? slash + 1 : path;
    if (slash) {
        memcpy(folder, path, (size_t)(slash - path) + 1);
    }
    char *real = realpath(folder ? folder : ".", NULL);
    int error = errno; /* which free() may change */
    free(folder);
    errno = error;
    return real;
}

/*
 * Of files that are there the inode decides, so that links count; of two that are not, the folder
 * and the name in it. One that is there is never one that is not.
 */
bool cli_same_file(const char *a, const char *b)
{
    struct stat one, two;
    bool there = stat(a, &one) == 0;
    if (there != (stat(b, &two) == 0)) {
        return false;
    }
    if (there) { /* a pipe or a terminal takes both */
        return S_ISREG(one.st_mode) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
    }
    const char *a_name, *b_name;
    MYR_CLEANUP(myr_free_at) char *a_place = place_of(a, &a_name);
    MYR_CLEANUP(myr_free_at) char *b_place = place_of(b, &b_name);
    return a_place && b_place && strcmp(a_place, b_place) == 0 && strcmp(a_name, b_name) == 0;
}

/* OpenSM and the like are started wherever they are: files that name others do so from the root. */
const char *cli_whole_path(struct myr_arena *arena, const char *path)
{
    const char *name;
    MYR_CLEANUP(myr_free_at) char *place = place_of(path, &name);
    bool root = place && strcmp(place, "/") == 0;
    return place ? myr_arena_printf(arena, "%s/%s", root ? "" : place, name) : path;
}

/* NULL: the row is no path, or was not given. */
static const char *path_of(const struct cli *cli, const struct myr_option *row)
{
    return row->type == MYR_OPTION_PATH
               ? *(const char *const *)((const char *)cli->options + row->at)
               : NULL;
}

/* An empty one where the row is no list. Its words may be names of files: those are read. */
static const struct myr_option_list *list_of(const struct cli *cli, const struct myr_option *row)
{
    static const struct myr_option_list none;
    return row->type == MYR_OPTION_LIST ? (const void *)((const char *)cli->options + row->at)
                                        : &none;
}

/* 'by' NULL: it is an operand. */
static int is_read(const struct myr_option *out, const char *path, const char *by,
                   struct myr_err *err)
{
    return by ? myr_err_set(err, MYR_EINVAL,
                            "--%s: '%.200s' is what --%s reads, another file is expected",
                            out->name, path, by)
              : myr_err_set(err, MYR_EINVAL,
                            "--%s: '%.200s' is the input, another file is expected", out->name,
                            path);
}

/* A folder that is made for its files needs none; a file is put where there is one already. */
static int check_folder(const char *path, struct myr_err *err)
{
    const char *name;
    MYR_CLEANUP(myr_free_at) char *place = place_of(path, &name);
    if (!place && (errno == ENOENT || errno == ENOTDIR)) {
        return myr_err_errno(err, "cannot write", path);
    }
    return MYR_OK;
}

/* Found only when it is written, after all the work, it would cost the work. */
static int check_place(const struct myr_option *out, const char *path, struct myr_err *err)
{
    struct stat about;
    if (myr_file_is_stdout(path)) {
        return myr_err_set(err, MYR_EINVAL,
                           "--%s: '%.200s' is standard output, where the answer goes; a %s is "
                           "expected",
                           out->name, path, out->folder ? "folder" : "file");
    }
    if (!out->folder && stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        return myr_err_set(err, MYR_EINVAL, "--%s: '%.200s' is a folder, a file is expected",
                           out->name, path);
    }
    return out->folder ? MYR_OK : check_folder(path, err);
}

/* One that is written against the operands and all other options. */
static int check_output(const struct cli *cli, const struct myr_option *out, struct myr_err *err)
{
    const char *path = path_of(cli, out);
    MYR_TRY(check_place(out, path, err));
    for (uint32_t i = 0; i < cli->operands.count; i++) {
        if (myr_file_same(path, cli->operands.items[i])) {
            return is_read(out, path, NULL, err);
        }
    }
    for (uint32_t i = 0; i < cli->command->option_count; i++) {
        const struct myr_option *row = &cli->command->options[i];
        const struct myr_option_list *list = list_of(cli, row);
        const char *other = path_of(cli, row);
        for (uint32_t k = 0; k < list->count; k++) {
            if (myr_file_same(path, list->items[k])) {
                return is_read(out, path, row->name, err);
            }
        }
        bool renewed = out->renews && strcmp(out->renews, row->name) == 0;
        if (!row->writes && !renewed && other && myr_file_same(path, other)) {
            return is_read(out, path, row->name, err);
        }
        /* Each pair of outputs once, told in the order of the rows. */
        if (row < out && row->writes && other && cli_same_file(path, other)) {
            return myr_err_set(err, MYR_EINVAL,
                               "--%s and --%s: both are '%.200s', two files are expected",
                               row->name, out->name, path);
        }
    }
    return MYR_OK;
}

/* Who reads standard input: words for the message, and how many there are. */
struct stdin_readers {
    char first[64], second[64];
    uint32_t count;
};

static void reads_stdin(struct stdin_readers *all, const char *word, const char *option)
{
    if (!word || strcmp(word, "-") != 0) {
        return;
    }
    char *to = all->count ? all->second : all->first;
    if (all->count < 2) {
        snprintf(to, sizeof(all->first), "%s%s", option ? "--" : "", option ? option : "operand");
    }
    all->count++;
}

/* Whoever reads it second would find it empty, and say something about an empty file. */
static int check_stdin(const struct cli *cli, struct myr_err *err)
{
    struct stdin_readers all = {.count = 0};
    for (uint32_t i = 0; i < cli->operands.count; i++) {
        if (myr_operand_may_read(cli->command, i)) {
            reads_stdin(&all, cli->operands.items[i], NULL);
        }
    }
    for (uint32_t i = 0; i < cli->command->option_count; i++) {
        const struct myr_option *row = &cli->command->options[i];
        const struct myr_option_list *list = list_of(cli, row);
        if (myr_option_may_read(row) && row->type != MYR_OPTION_LIST) {
            reads_stdin(&all, *(const char *const *)((const char *)cli->options + row->at),
                        row->name);
        }
        for (uint32_t k = 0; k < list->count; k++) {
            reads_stdin(&all, list->items[k], row->name);
        }
    }
    bool alike = strcmp(all.first, all.second) == 0;
    return all.count < 2
               ? MYR_OK
               : myr_err_set(err, MYR_EINVAL,
                             "'-' is given more than once (%s%s%s): standard input is read once",
                             all.first, alike ? "" : ", ", alike ? "" : all.second);
}

int cli_check_outputs(const struct cli *cli, struct myr_err *err)
{
    MYR_TRY(check_stdin(cli, err));
    for (uint32_t i = 0; i < cli->command->option_count; i++) {
        const struct myr_option *row = &cli->command->options[i];
        const char *path = row->writes ? path_of(cli, row) : NULL;
        /* Of some the text is the answer, and nothing is written. */
        bool printed = path && row->prints && myr_file_is_stdout(path);
        if (path && !printed) {
            MYR_TRY(check_output(cli, row, err));
        }
    }
    return MYR_OK;
}
