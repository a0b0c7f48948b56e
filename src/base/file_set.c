#include "myriad/base/file_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_internal.h"

/* More files than this are synced with their whole file system, once. */
enum { SYNC_ONE_BY_ONE_MAX = 16 };

/* The set's own copy: callers build names in buffers that they use again. */
static char *copy(const char *text)
{
    size_t len = strlen(text) + 1;
    return memcpy(myr_xrealloc(NULL, len, 1), text, len);
}

/* Told by file_make_dirs(), parents first; abandon removes them the other way round. */
static void keep_made(void *context, const char *path)
{
    struct myr_file_set *set = context;
    myr_vec_push(&set->made, copy(path));
}

/* Every folder that had to be made is the set's to take back. */
static int make_folder(struct myr_file_set *set, const char *path, struct myr_err *err)
{
    struct file_made made = {set, keep_made};
    return file_make_dirs(path, &made, err);
}

static int check_folder(const char *folder, struct myr_err *err)
{
    return strcmp(folder, "-") == 0
               ? myr_err_set(err, MYR_EINVAL, "'-' is standard output, a folder is needed")
               : MYR_OK;
}

int myr_file_set_begin(struct myr_file_set *set, const char *folder, struct myr_err *err)
{
    *set = (struct myr_file_set){};
    MYR_TRY(folder ? check_folder(folder, err) : MYR_OK);
    /* From here on signals wait: a folder that was made is taken back before the program ends. */
    *set = (struct myr_file_set){.open = true, .folder = folder ? copy(folder) : NULL};
    file_hold(&set->hold);
    MYR_ASSERT(set->files.count == 0 && set->made.count == 0);
    int rc = folder ? make_folder(set, folder, err) : MYR_OK;
    if (rc < 0) {
        myr_file_set_abandon(set);
    }
    return rc;
}

/* The folders in front of a file's name, where they are not there yet. */
static int make_parents(struct myr_file_set *set, const char *path, struct myr_err *err)
{
    MYR_CLEANUP(myr_free_at) char *folder = copy(path);
    *strrchr(folder, '/') = '\0';
    struct stat st;
    bool there = stat(folder, &st) == 0 && S_ISDIR(st.st_mode);
    return there ? MYR_OK : make_folder(set, folder, err);
}

int myr_file_set_open(struct myr_file_set *set, const char *name, struct myr_outfile *file,
                      struct myr_err *err)
{
    MYR_ASSERT(set->open);
    MYR_ASSERT(name[0]);
    MYR_CLEANUP(myr_buf_done) struct myr_buf path = {};
    if (set->folder) {
        myr_buf_printf(&path, "%s/", set->folder);
    }
    myr_buf_puts(&path, name);
    *file = (struct myr_outfile){.fd = -1};
    /* Whoever gives a path of his own has made its folder. */
    if (strcmp(path.data, "-") == 0) {
        return myr_err_set(err, MYR_EINVAL, "'-' is standard output, a file's name is needed");
    }
    MYR_TRY(set->folder && strchr(name, '/') ? make_parents(set, path.data, err) : MYR_OK);
    MYR_TRY(file_open(file, path.data, &set->hold, err));
    MYR_ASSERT(file->open && file->kept); /* closing it gives it no name: the set does */
    struct myr_set_file added = {path.data, copy(file->temp), copy(file->target)};
    myr_vec_push(&set->files, added);
    path = (struct myr_buf){}; /* the set's own now */
    return MYR_OK;
}

/* Commit of a file in a set closes it only: it stays under its temporary name. */
int myr_file_set_add(struct myr_file_set *set, const char *name, const struct myr_buf *text,
                     struct myr_err *err)
{
    struct myr_outfile file MYR_CLEANUP(myr_outfile_abandon) = {};
    MYR_TRY(myr_file_set_open(set, name, &file, err));
    myr_outfile_write(&file, text->data, text->len);
    return myr_outfile_commit(&file, err);
}

int myr_file_set_add_in(struct myr_file_set *set, const char *folder, const char *name,
                        const struct myr_buf *text, struct myr_err *err)
{
    MYR_ASSERT(set->open && !set->folder);
    MYR_CLEANUP(myr_buf_done) struct myr_buf path = {};
    MYR_TRY(check_folder(folder, err));
    MYR_TRY(make_folder(set, folder, err));
    myr_buf_printf(&path, "%s/%s", folder, name);
    return myr_file_set_add(set, path.data, text, err);
}

/* Returns 0 or an errno. EINVAL is no failure: what cannot be synced has nothing to lose. */
static int sync_path(const char *path, int flags, int (*sync)(int fd))
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    int rc = fd < 0 ? -1 : sync(fd);
    int error = rc < 0 && errno != EINVAL ? errno : 0;
    if (fd >= 0) {
        close(fd);
    }
    return error;
}

static int sync_all(const struct myr_file_set *set, struct myr_err *err)
{
    size_t count = set->files.count;
    /* Paths of their own may lie on several file systems, which one syncfs() would not reach. */
    bool together = set->folder && count > SYNC_ONE_BY_ONE_MAX;
    int error = together ? sync_path(set->folder, O_DIRECTORY, syncfs) : 0;
    for (size_t i = 0; i < count && !together && !error; i++) {
        const char *temp = set->files.items[i].temp;
        error = temp[0] ? sync_path(temp, 0, fsync) : 0;
    }
    if (error) {
        errno = error;
        return myr_err_errno(err, "cannot write", set->folder ? set->folder : "the files");
    }
    return MYR_OK;
}

/* What a rename would refuse is found before the first one. */
static int check_targets(const struct myr_file_set *set, struct myr_err *err)
{
    for (size_t i = 0; i < set->files.count; i++) {
        const struct myr_set_file *file = &set->files.items[i];
        struct stat st;
        if (!file->temp[0]) {
            continue;
        }
        if (stat(file->path, &st) == 0 && S_ISDIR(st.st_mode)) {
            return myr_err_set(err, MYR_EINVAL, "%s: cannot write: a folder has this name",
                               file->path);
        }
        if (stat(file->temp, &st) < 0) { /* somebody else tidied up */
            return myr_err_errno(err, "cannot write", file->path);
        }
    }
    /* The last moment at which Ctrl-C can leave the folder as it was. */
    if (file_interrupted(&set->hold)) {
        return myr_err_set(err, MYR_EIO, "interrupted");
    }
    return MYR_OK;
}

/* Frees everything; the names that were not taken are removed by whoever fails. */
static void forget(struct myr_file_set *set)
{
    for (size_t i = 0; i < set->files.count; i++) {
        free(set->files.items[i].path);
        free(set->files.items[i].temp);
        free(set->files.items[i].target);
    }
    for (size_t i = 0; i < set->made.count; i++) {
        free(set->made.items[i]);
    }
    MYR_ASSERT(set->open); /* once a set */
    myr_vec_done(&set->files);
    myr_vec_done(&set->made);
    free(set->folder);
    set->folder = NULL;
    set->open = false;
    file_release(&set->hold);
}

/* In the order in which they were added; up to the first rename nothing has changed. */
static int take_names(const struct myr_file_set *set, struct myr_err *err)
{
    MYR_ASSERT(set->open);
    MYR_TRY(sync_all(set, err));
    MYR_TRY(check_targets(set, err));
    for (size_t i = 0; i < set->files.count; i++) {
        const struct myr_set_file *file = &set->files.items[i];
        if (file->temp[0] && rename(file->temp, file->target) < 0) {
            return myr_err_errno(err, "cannot write", file->path);
        }
    }
    return MYR_OK;
}

int myr_file_set_commit(struct myr_file_set *set, struct myr_err *err)
{
    MYR_ASSERT(set->open);
    int rc = take_names(set, err);
    if (rc < 0) {
        myr_file_set_abandon(set);
        return rc;
    }
    if (set->folder) {
        (void)sync_path(set->folder, O_DIRECTORY,
                        fsync); /* the names; the files are safe already */
    }
    forget(set);
    return MYR_OK;
}

void myr_file_set_abandon(struct myr_file_set *set)
{
    if (!set->open) {
        return;
    }
    for (size_t i = 0; i < set->files.count; i++) {
        if (set->files.items[i].temp[0]) {
            unlink(set->files.items[i].temp); /* gone already where it was renamed */
        }
    }
    for (size_t i = set->made.count; i > 0; i--) {
        rmdir(set->made.items[i - 1]); /* stays where somebody else put something */
    }
    forget(set);
    MYR_ASSERT(!set->open && !set->hold.on);
}
