/*
 * backup: a server's folder copied, and put back. The store is had from the server while it runs,
 * which gives a copy of one moment; the other files change seldom and are copied as they are. A
 * copy counts when its store was opened and read.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "myriad/server/folder.h"
#include "server.h"

/* A large store takes its time before the first byte comes. */
enum { BLOCK = 256 << 10, TOKEN_MAX = 4096, ALL_PAGES = -1, COPY_S = 600 };

static const char *const names[] = {"myriad.yaml",    "ca.pem",      "ca-key.pem", "server.pem",
                                    "server-key.pem", "admin.token", "audit.log",  "state.db"};
/* What a server cannot do without. */
static const char *const needed[] = {"myriad.yaml", "ca.pem",         "ca-key.pem",
                                     "server.pem",  "server-key.pem", "state.db"};

static void join(const char *folder, const char *name, char ret[MYR_SERVER_PATH_MAX])
{
    snprintf(ret, MYR_SERVER_PATH_MAX, "%.4000s/%s", folder, name);
}

/* Files alone: a folder of that name is not what a server wrote. */
static bool is_there(const char *folder, const char *name)
{
    char path[MYR_SERVER_PATH_MAX];
    struct stat status;
    join(folder, name, path);
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* A new folder, or one with nothing in it. */
static int make_empty(const char *folder, struct myr_err *err)
{
    MYR_TRY(myr_make_dirs(folder, err));
    DIR *list = opendir(folder);
    if (!list) {
        return myr_err_errno(err, "opening", folder);
    }
    bool empty = true;
    for (const struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        /* Whatever else lies there is somebody's. */
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
    }
    closedir(list);
    if (!empty) {
        return myr_err_set(err, MYR_EINVAL, "%s: not empty; a new folder is expected", folder);
    }
    return chmod(folder, 0700) == 0 ? MYR_OK : myr_err_errno(err, "protecting", folder);
}

/* What a copy that failed has made; the folder was empty before. */
static void remove_all(const char *folder)
{
    char path[MYR_SERVER_PATH_MAX];
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        join(folder, names[i], path);
        unlink(path);
    }
    rmdir(folder);
}

/* A file being written; the first error counts, and is told when it is closed. */
struct sink {
    int fd;
    int error; /* errno; 0: none yet */
    uint64_t bytes;
};

/* As a 'piece' of an answer too: false ends the transfer. */
static bool put_bytes(void *context, struct myr_str bytes)
{
    struct sink *sink = context;
    while (bytes.len > 0 && !sink->error) {
        ssize_t put = write(sink->fd, bytes.data, bytes.len);
        if (put < 0 && errno != EINTR) {
            sink->error = errno;
        } else if (put > 0) {
            bytes.data += put;
            bytes.len -= (size_t)put;
            sink->bytes += (uint64_t)put;
        }
    }
    return !sink->error;
}

/* Never over a file that is there. */
static int sink_open(const char *path, struct sink *ret, struct myr_err *err)
{
    *ret = (struct sink){.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    return ret->fd < 0 ? myr_err_errno(err, "writing", path) : MYR_OK;
}

/* Synced: a backup is for the day when this machine fails. */
static int sink_close(struct sink *sink, const char *path, struct myr_err *err)
{
    if (!sink->error && fsync(sink->fd) != 0) {
        sink->error = errno;
    }
    if (close(sink->fd) != 0 && !sink->error) {
        sink->error = errno;
    }
    errno = sink->error;
    return sink->error ? myr_err_errno(err, "writing", path) : MYR_OK;
}

/* Readable by the owner alone, whatever the original was. */
static int copy_file(const char *from_path, const char *path, struct myr_server_copied *ret,
                     struct myr_err *err)
{
    MYR_CLEANUP(myr_free_at) char *block = myr_xcalloc(1, BLOCK);
    struct sink sink;
    ssize_t got = 0;
    int fd = open(from_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return myr_err_errno(err, "reading", from_path);
    }
    int rc = sink_open(path, &sink, err);
    if (rc == MYR_OK) {
        while ((got = read(fd, block, BLOCK)) > 0 &&
               put_bytes(&sink, (struct myr_str){block, (size_t)got})) {
        }
        /* An error of reading goes before one of writing, which it may have caused. */
        rc = got < 0 ? myr_err_errno(err, "reading", from_path) : MYR_OK;
        int closed = sink_close(&sink, path, rc == MYR_OK ? err : NULL);
        rc = rc == MYR_OK ? closed : rc;
        ret->bytes += sink.bytes;
        ret->files++;
    }
    close(fd);
    return rc;
}

static int count_key(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    (void)key;
    (void)value;
    (void)err;
    ++*(uint64_t *)context;
    return MYR_OK;
}

/* A copy that nobody could read would be none. */
static int check_store(const char *folder, struct myr_server_copied *ret, struct myr_err *err)
{
    char path[MYR_SERVER_PATH_MAX];
    struct store *store;
    join(folder, "state.db", path);
    MYR_TRY(store_open(path, &store, err));
    int rc = store_scan(store, "", count_key, &ret->keys, err);
    store_close(store);
    return rc;
}

/* MYR_EAWAY: nobody is there to ask. */
static int store_from_server(const struct myr_server_copy *copy, const char *path,
                             struct myr_server_copied *ret, struct myr_err *err)
{
    struct myr_server_place place;
    MYR_CLEANUP(myr_buf_done) struct myr_buf token = {};
    struct myr_http_answer answer = {};
    struct sink sink;
    MYR_TRY(myr_server_find(copy->folder, &place, err));
    if (!place.said) {
        return myr_err_set(err, MYR_EAWAY, "no server runs in %s", copy->folder);
    }
    MYR_TRY(
        myr_file_read(copy->token_file ? copy->token_file : place.token, TOKEN_MAX, &token, err));
    /* A file that a person has edited may end in blanks or a line break. */
    if (token.len) {
        token.data[strcspn(token.data, " \t\r\n")] = '\0';
    }
    /* The address may end in a slash, and the path begins with one. */
    char url[sizeof(place.url) + 16];
    size_t length = strlen(place.url);
    snprintf(url, sizeof(url), "%.*s/v1/backup",
             (int)(length && place.url[length - 1] == '/' ? length - 1 : length), place.url);
    struct myr_http_request request = {
        .method = "POST", .url = url, .token = token.data, .ca = place.ca, .timeout_s = COPY_S};
    /* Straight to the disk: a store may be larger than the memory for an answer. */
    MYR_TRY(sink_open(path, &sink, err));
    int rc = myr_http_ask(&request, put_bytes, &sink, &answer, err);
    int closed = sink_close(&sink, path, rc == MYR_OK ? err : NULL);
    rc = rc == MYR_OK ? closed : rc;
    myr_http_answer_done(&answer);
    if (rc == MYR_OK && answer.status != 200) {
        rc = myr_err_set(err, answer.status == 401 ? MYR_EUNKNOWN : MYR_EDENIED,
                         "%s: refused with status %u; the token of an administrator is needed",
                         place.url, answer.status);
    }
    if (rc < 0) {
        unlink(path);
        return rc;
    }
    /* Told to whoever asked: a copy of a running server, not of files at rest. */
    ret->live = true;
    ret->files++;
    ret->bytes += sink.bytes;
    return MYR_OK;
}

/* Keeps who leads, or why etcd cannot be asked, for the message; nothing is waited for. */
static bool nobody_leads(void *context, const char *leader, const char *why)
{
    snprintf(context, MYR_EXCERPT_MAX, "%s%.150s", leader ? "a server leads: " : "",
             leader ? leader
             : why  ? why
                    : "");
    return false;
}

/* The state in etcd, where nobody leads: whoever does writes there. */
static int open_etcd(const struct etcd_config *config, const char *name, struct store **ret,
                     struct myr_err *err)
{
    char who[MYR_EXCERPT_MAX] = "";
    int rc = store_stand_by(config, name, nobody_leads, who, ret, err);
    return rc < 0 && who[0] ? myr_err_set(err, MYR_EAWAY, "etcd: %s", who) : rc;
}

/* Opened as a server would: where one runs after all, the store refuses. */
static int store_at_rest(const struct myr_server_copy *copy, const struct config *config,
                         const char *path, struct myr_server_copied *ret, struct myr_err *err)
{
    char from[MYR_SERVER_PATH_MAX];
    struct stat status;
    struct store *store;
    struct store_copy *work;
    join(copy->folder, "state.db", from);
    MYR_TRY(config->etcd.count > 0 ? open_etcd(&config->etcd, "backup", &store, err)
                                   : store_open(from, &store, err));
    int rc = store_copy_begin(store, path, &work, err);
    if (rc == MYR_OK) {
        rc = store_copy_step(work, ALL_PAGES, err);
        store_copy_end(work);
    }
    store_close(store);
    MYR_TRY(rc);
    /* SQLite has made it by the umask. */
    if (chmod(path, 0600) != 0 || stat(path, &status) != 0) {
        return myr_err_errno(err, "protecting", path);
    }
    ret->files++;
    ret->bytes += (uint64_t)status.st_size;
    return MYR_OK;
}

/* 'apart': the state is somewhere else than in the folder. */
static int check_needed(const char *folder, bool apart, struct myr_err *err)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(needed); i++) {
        /* The state of several servers lies in etcd. */
        bool elsewhere = apart && strcmp(needed[i], "state.db") == 0;
        if (!elsewhere && !is_there(folder, needed[i])) {
            return myr_err_set(err, MYR_ENOENT, "%s: no server's folder: %s is missing", folder,
                               needed[i]);
        }
    }
    return MYR_OK;
}

/* Everything but the store. */
static int copy_files(const char *from, const char *to, struct myr_server_copied *ret,
                      struct myr_err *err)
{
    char from_path[MYR_SERVER_PATH_MAX], path[MYR_SERVER_PATH_MAX];
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        if (strcmp(names[i], "state.db") != 0 && is_there(from, names[i])) {
            join(from, names[i], from_path);
            join(to, names[i], path);
            MYR_TRY(copy_file(from_path, path, ret, err));
        }
    }
    return MYR_OK;
}

/*
 * The running server's copy is consistent while it goes on; without one the store is opened here.
 */
static int backup(const struct myr_server_copy *copy, const struct config *config,
                  struct myr_server_copied *ret, struct myr_err *err)
{
    char path[MYR_SERVER_PATH_MAX];
    join(copy->to, "state.db", path);
    MYR_TRY(copy_files(copy->folder, copy->to, ret, err));
    struct myr_err why = {};
    int rc = store_from_server(copy, path, ret, &why);
    /* Only where nobody answers: a server that refuses has the store open. */
    if (rc == MYR_EAWAY) {
        rc = store_at_rest(copy, config, path, ret, &why);
    }
    if (rc < 0) {
        /* The last try's reason: the first one, that nobody answers, is no failure here. */
        *err = why;
        return rc;
    }
    return check_store(copy->to, ret, err);
}

static int read_config(const char *folder, struct config *ret, struct myr_err *err)
{
    char path[MYR_SERVER_PATH_MAX];
    join(folder, "myriad.yaml", path);
    return config_read(path, ret, err);
}

/* Whole, or the new folder is gone again. */
int myr_server_backup(const struct myr_server_copy *copy, struct myr_server_copied *ret,
                      struct myr_err *err)
{
    MYR_CLEANUP(config_done) struct config config = {};
    *ret = (struct myr_server_copied){};
    /* Before the configuration is read, which says where the state is. */
    MYR_TRY(check_needed(copy->folder, true, err));
    MYR_TRY(read_config(copy->folder, &config, err));
    MYR_TRY(check_needed(copy->folder, config.etcd.count > 0, err));
    MYR_TRY(make_empty(copy->to, err));
    int rc = backup(copy, &config, ret, err);
    if (rc < 0) {
        remove_all(copy->to);
    }
    return rc;
}

static int put_key(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    (void)err;
    store_put(context, key, value);
    return MYR_OK;
}

static void close_at(struct store **store)
{
    store_close(*store);
}

/* The state of a cluster of several servers lies in etcd, and the copy goes there too. */
static int restore_etcd(const struct etcd_config *config, const char *path, struct myr_err *err)
{
    MYR_CLEANUP(close_at) struct store *from = NULL, *to = NULL;
    MYR_TRY(open_etcd(config, "restore", &to, err));
    /* Two states in one would be none. */
    if (!store_is_empty(to)) {
        int rc =
            myr_err_set(err, MYR_EINVAL, "etcd holds the state of a cluster under '%s' already",
                        config->prefix);
        myr_err_hint(err, "etcdctl del --prefix %s, if nobody needs it", config->prefix);
        return rc;
    }
    MYR_TRY(store_open(path, &from, err));
    MYR_TRY(store_scan(from, "", put_key, to, err));
    return store_commit(to, err);
}

/* Opened and read once before it counts: a copy may have been damaged since it was made. */
static int restore(const struct myr_server_copy *copy, const struct config *config,
                   struct myr_server_copied *ret, struct myr_err *err)
{
    char from_path[MYR_SERVER_PATH_MAX], path[MYR_SERVER_PATH_MAX];
    MYR_TRY(copy_files(copy->folder, copy->to, ret, err));
    join(copy->folder, "state.db", from_path);
    join(copy->to, "state.db", path);
    MYR_TRY(copy_file(from_path, path, ret, err));
    MYR_TRY(check_store(copy->to, ret, err));
    if (config->etcd.count > 0) {
        MYR_TRY(restore_etcd(&config->etcd, path, err));
        (void)unlink(path); /* it would only look as if it were the state */
    }
    return MYR_OK;
}

/* Only from a backup: the files of a server that lives are not consistent with each other. */
int myr_server_restore(const struct myr_server_copy *copy, struct myr_server_copied *ret,
                       struct myr_err *err)
{
    struct config config;
    *ret = (struct myr_server_copied){};
    MYR_TRY(check_needed(copy->folder, false, err));
    /* A folder that a server lives in has more than its files: the store's journal. */
    if (is_there(copy->folder, "server.url") || is_there(copy->folder, "state.db-wal")) {
        int rc = myr_err_set(err, MYR_EINVAL, "%s: a server lives there; a backup is expected",
                             copy->folder);
        myr_err_hint(err, "myriad backup %s TO", copy->folder);
        return rc;
    }
    MYR_TRY(read_config(copy->folder, &config, err));
    int rc = make_empty(copy->to, err);
    if (rc == MYR_OK) {
        rc = restore(copy, &config, ret, err);
        if (rc < 0) {
            remove_all(copy->to);
        }
    }
    config_done(&config);
    return rc;
}
