#include "disk/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void path_join(char ret[AGENT_PATH_MAX], const char *folder, const char *name)
{
    size_t first = strlen(folder);
    size_t second = strlen(name);
    ret[0] = '\0';
    if (first + second + 2 <= AGENT_PATH_MAX) {
        /* Joined only where both fit: a name that was cut would be another's. */
        memcpy(ret, folder, first);
        ret[first] = '/';
        memcpy(ret + first + 1, name, second + 1);
    }
}

/* Never cut: a path that is shortened is another file's. */
static int path_of(const char *folder, const char *name, char ret[AGENT_PATH_MAX],
                   struct myr_err *err)
{
    path_join(ret, folder, name);
    MYR_ASSERT(name[0]);
    return ret[0] ? MYR_OK
                  : myr_err_set(err, MYR_EINVAL, "%.100s...: the name is too long", folder);
}

/* Without it a file that was renamed may be found under its old name after a crash. */
void folder_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

/* For tests alone, and the only thing here that is not a function of its arguments. */
static struct {
    const char *role;
    uint64_t points;
} deadly;

void deadly_role(const char *role)
{
    deadly.role = role;
}

/* Without the variable it counts, and does nothing else. */
void deadly_point(void)
{
    const char *wish = getenv("MYRIAD_AGENT_DIE");
    uint64_t number;
    deadly.points++;
    /* "agent:7": the role, and which of the points that it comes to. */
    if (wish && deadly.role) {
        size_t len = strlen(deadly.role);
        if (strncmp(wish, deadly.role, len) == 0 && wish[len] == ':' &&
            myr_str_to_u64(myr_str_from(wish + len + 1), &number) && number == deadly.points) {
            (void)kill(getpid(), SIGKILL);
        }
    }
}

/* A full disk takes a part: what is left is tried again and then fails. */
static int write_all(int fd, struct myr_str text)
{
    size_t at = 0;
    while (at < text.len) {
        ssize_t put = write(fd, text.data + at, text.len - at);
        if (put < 0 && errno != EINTR) {
            return -1;
        }
        at += put > 0 ? (size_t)put : 0;
        MYR_ASSERT(at <= text.len);
    }
    return 0;
}

/* Temporary name, text, sync, rename, sync of the folder, with a place to die between each two. */
static int put(const char *folder, const char *name, struct myr_str text, bool sync,
               struct myr_err *err)
{
    char path[AGENT_PATH_MAX];
    char temp[AGENT_PATH_MAX + 8];
    MYR_ASSERT(text.data || text.len == 0);
    MYR_TRY(path_of(folder, name, path, err));
    deadly_point();
    snprintf(temp, sizeof(temp), "%s.tmp", path);
    /* One name for all attempts: what a crash has left is written over. */
    int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return myr_err_errno(err, "cannot write", temp);
    }
    bool good = write_all(fd, text) == 0;
    deadly_point();
    /* The text before the name: after a crash the name leads to all of it, or to what was there. */
    good = good && (!sync || fsync(fd) == 0);
    /* Said before close() and unlink(), which have errors of their own. */
    int rc = good ? MYR_OK : myr_err_errno(err, "cannot write", path);
    close(fd);
    deadly_point();
    if (rc == MYR_OK && rename(temp, path) < 0) {
        rc = myr_err_errno(err, "cannot write", path);
    }
    if (rc < 0) {
        unlink(temp);
        return rc;
    }
    deadly_point();
    if (sync) {
        folder_sync(folder);
    }
    deadly_point();
    return MYR_OK;
}

int file_put(const char *folder, const char *name, struct myr_str text, struct myr_err *err)
{
    return put(folder, name, text, true, err);
}

int file_put_lightly(const char *folder, const char *name, struct myr_str text, struct myr_err *err)
{
    return put(folder, name, text, false, err);
}

/* A link is not followed. Empty files give an empty text. */
int file_get(const char *folder, const char *name, struct myr_buf *ret, struct myr_err *err)
{
    char path[AGENT_PATH_MAX];
    MYR_TRY(path_of(folder, name, path, err));
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return myr_err_errno(err, "cannot open", path);
    }
    myr_buf_clear(ret);
    myr_buf_reserve(ret, 1);
    ssize_t got = 1;
    /* One byte beyond the limit is enough to know. */
    while (got > 0 && ret->len <= AGENT_FILE_MAX) {
        myr_buf_reserve(ret, 4096);
        got = read(fd, ret->data + ret->len, 4096);
        if (got < 0 && errno == EINTR) {
            got = 1;
            continue;
        }
        ret->len += got > 0 ? (size_t)got : 0;
        ret->data[ret->len] = '\0';
        MYR_ASSERT(ret->len <= AGENT_FILE_MAX + 4096);
    }
    /* Said before close(), which has errors of its own. */
    int rc = got < 0 ? myr_err_errno(err, "cannot read", path)
             : ret->len > AGENT_FILE_MAX
                 ? myr_err_set(err, MYR_ECORRUPT, "%s: larger than it can be", path)
                 : MYR_OK;
    close(fd);
    return rc;
}

/* The name itself counts: a link that somebody put there is not followed. */
bool file_is_there(const char *folder, const char *name)
{
    char path[AGENT_PATH_MAX];
    struct stat st;
    return path_of(folder, name, path, NULL) == MYR_OK && lstat(path, &st) == 0;
}

/* One that is there is fine, whoever made it. */
int folder_make(const char *path, mode_t mode, struct myr_err *err)
{
    char parent[AGENT_PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash && slash != path && (size_t)(slash - path) < sizeof(parent)) {
        memcpy(parent, path, (size_t)(slash - path));
        parent[slash - path] = '\0';
        struct stat st;
        /* Parents that are missing get the usual rights; only the folder itself has 'mode'. */
        if (stat(parent, &st) < 0) {
            MYR_TRY(myr_make_dirs(parent, err));
        }
    }
    if (mkdir(path, mode) < 0 && errno != EEXIST) {
        return myr_err_errno(err, "cannot make the folder", path);
    }
    struct stat st;
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
        return myr_err_set(err, MYR_EINVAL, "%s: a folder is needed", path);
    }
    return MYR_OK;
}

/* What cannot be removed stays, and is found again at the next start. */
void folder_remove(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) {
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            /* By the open folder: a link in its place is not followed. */
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        }
    }
    closedir(dir);
    (void)rmdir(path);
}

/* Only ENOENT: a disk that does not answer has removed nothing. */
bool folder_is_gone(const char *path)
{
    struct stat st;
    return stat(path, &st) < 0 && errno == ENOENT;
}

/* The first line of that key; a last line without its end was cut off, and does not count. */
bool line_text(struct myr_str text, const char *key, struct myr_str *ret)
{
    size_t len = strlen(key);
    const char *at = text.data;
    const char *end = text.data + text.len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) {
            return false;
        }
        if ((size_t)(stop - at) > len && memcmp(at, key, len) == 0 && at[len] == ' ') {
            *ret = (struct myr_str){at + len + 1, (size_t)(stop - at) - len - 1};
            MYR_ASSERT(ret->data + ret->len == stop);
            return true;
        }
        at = stop + 1;
    }
    return false;
}

bool line_u64(struct myr_str text, const char *key, uint64_t max, uint64_t *ret)
{
    struct myr_str value;
    uint64_t number;
    if (!line_text(text, key, &value) || !myr_str_to_u64(value, &number) || number > max) {
        return false;
    }
    *ret = number;
    return true;
}

/* Sleep counts: a lease runs out while a machine sleeps. */
int64_t boot_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Empty where the kernel does not say; then all boots are one. */
void boot_id(char ret[40])
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    ret[0] = '\0';
    if (file_get("/proc/sys/kernel/random", "boot_id", &text, NULL) == MYR_OK && text.len > 0) {
        size_t len = strcspn(text.data, "\n ");
        snprintf(ret, 40, "%.*s", (int)len, text.data);
    }
}

/* A number is given again to others; number and beginning together are not. */
uint64_t process_began(pid_t pid, pid_t *ret_parent, char *ret_state)
{
    char path[64];
    char text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *at = strrchr(text, ')'); /* a name may hold anything, blanks and brackets too */
    if (!at || at[1] != ' ') {
        return 0;
    }
    at += 2; /* field 3: the state */
    /* Fields 3 to 22 of proc(5). */
    struct myr_str fields[20] = {};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(fields); i++) {
        size_t len = strcspn(at, " \n");
        /* Fields behind the end of the text are empty, and fail below. */
        fields[i] = (struct myr_str){at, len};
        at += len + (at[len] != '\0');
    }
    uint64_t parent = 0;
    uint64_t began = 0; /* field 22 */
    if (!myr_str_to_u64(fields[1], &parent) || !myr_str_to_u64(fields[19], &began)) {
        return 0;
    }
    if (ret_parent) {
        *ret_parent = (pid_t)parent;
    }
    if (ret_state) {
        *ret_state = fields[0].data[0];
    }
    /* 0 says that there is no such process. */
    return began > 0 ? began : 1;
}

/* Through a descriptor of the process, which cannot become another's. */
void process_signal(pid_t pid, uint64_t began, int signal)
{
    /* Opened first, compared then: the descriptor holds on to whoever has the number now. */
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) {
        return;
    }
    if (process_began(pid, NULL, NULL) == began) {
        (void)syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
    }
    close(fd);
}

/* Cut at its length. */
void say(const char *fmt, ...)
{
    char text[700];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    for (char *c = text; *c; c++) { /* what came from outside stays on its line */
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    }
    /* One write a line, so that those of several processes do not mix. */
    /* A relay is the same session in the command. */
    bool command = strcmp(program_invocation_short_name, "myriad") == 0;
    dprintf(STDERR_FILENO, "%s: %s\n", command ? "myriad" : "myriad-agent", text);
}
