/*
 * sqlite: the store as one file, in this folder: one table of keys and values, written in
 * transactions of its write-ahead log. Nothing else of SQL is used, so that a store of another kind
 * can do the same.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_ops.h"

/* One connection, and its statements prepared once. */
struct sqlite {
    sqlite3 *db;
    sqlite3_stmt *put, *drop, *range, *scan, *begin, *commit, *rollback;
    char *path;
};

/* A damaged file is told from a disk that fails: only the second may go by itself. */
static int failed(const struct sqlite *store, struct myr_err *err, const char *what)
{
    MYR_ASSERT(store->path && what);
    int code = sqlite3_errcode(store->db);
    return myr_err_set(err,
                       code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? MYR_ECORRUPT : MYR_EIO,
                       "%s: %s: %s", store->path, what, sqlite3_errmsg(store->db));
}

/* For the life of the store: each is used with every commit. */
static int prepare(struct sqlite *store, const char *text, sqlite3_stmt **ret, struct myr_err *err)
{
    MYR_ASSERT(!*ret); /* one that is there would be lost */
    MYR_ASSERT(store->db && text);
    if (sqlite3_prepare_v3(store->db, text, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) !=
        SQLITE_OK) {
        return failed(store, err, "preparing");
    }
    return MYR_OK;
}

/* Only while it is opened. */
static int run(struct sqlite *store, const char *text, struct myr_err *err)
{
    MYR_ASSERT(store->db && text);
    if (sqlite3_exec(store->db, text, NULL, NULL, NULL) != SQLITE_OK) {
        return failed(store, err, "opening");
    }
    return MYR_OK;
}

/* 0: a file that was just made. */
static int version_of(struct sqlite *store, int *ret, struct myr_err *err)
{
    sqlite3_stmt *ask = NULL;
    MYR_TRY(prepare(store, "PRAGMA user_version", &ask, err));
    bool row = sqlite3_step(ask) == SQLITE_ROW;
    *ret = row ? sqlite3_column_int(ask, 0) : 0;
    sqlite3_finalize(ask);
    return row ? MYR_OK : failed(store, err, "reading its version");
}

/* FULL in WAL mode: a commit is on the disk when it returns, whatever happens to the power. */
static int begin(struct sqlite *store, struct myr_err *err)
{
    int version = 0;
    MYR_ASSERT(store->db && !store->put && !store->rollback); /* it is opened once */
    /* Another server on the same file waits, and then says so, rather than break it. */
    sqlite3_busy_timeout(store->db, 2000);
    MYR_TRY(run(store, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;", err));
    MYR_TRY(run(store, "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=2000;", err));
    MYR_TRY(version_of(store, &version, err));
    if (version == 0) {
        /*
         * Keys in an index of their own: without row ids SQLite reads a value of megabytes (the
         * snapshot) whole whenever a search passes by its key. Files made so before are read alike.
         */
        MYR_TRY(run(store,
                    "BEGIN; CREATE TABLE kv(key TEXT PRIMARY KEY, value BLOB NOT NULL); "
                    "PRAGMA user_version=1; COMMIT;",
                    err));
    } else if (version != STORE_VERSION) {
        return myr_err_set(err, MYR_EVERSION,
                           "%s: a store of version %d; this program reads version %d", store->path,
                           version, STORE_VERSION);
    }
    MYR_TRY(prepare(store, "INSERT OR REPLACE INTO kv VALUES(?,?)", &store->put, err));
    MYR_TRY(prepare(store, "DELETE FROM kv WHERE key=?", &store->drop, err));
    MYR_TRY(prepare(store, "DELETE FROM kv WHERE key>=? AND key<?", &store->range, err));
    /* Everything with the prefix sorts below it: text in UTF-8 has no byte 0xff. */
    MYR_TRY(prepare(store, "SELECT key,value FROM kv WHERE key>=?1 AND key<?1||x'ff' ORDER BY key",
                    &store->scan, err));
    MYR_TRY(prepare(store, "BEGIN IMMEDIATE", &store->begin, err));
    MYR_TRY(prepare(store, "COMMIT", &store->commit, err));
    return prepare(store, "ROLLBACK", &store->rollback, err);
}

static void close_file(void *own)
{
    struct sqlite *store = own;
    MYR_ASSERT(store->path);
    /* NULL is taken for each: opening may have failed before it was prepared. */
    sqlite3_stmt *all[] = {store->put,   store->drop,   store->range,   store->scan,
                           store->begin, store->commit, store->rollback};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        sqlite3_finalize(all[i]);
    }
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}

/* Reset at once: a statement that is left open would keep the transaction. */
static bool step(sqlite3_stmt *statement)
{
    MYR_ASSERT(statement);
    int rc = sqlite3_step(statement);
    sqlite3_reset(statement);
    return rc == SQLITE_DONE;
}

/* Bound without a copy: the changes outlive the statement. */
static bool apply(struct sqlite *store, const struct change *change)
{
    MYR_ASSERT(change->key && change->kind <= CHANGE_RANGE);
    sqlite3_stmt *statement = change->kind == CHANGE_PUT      ? store->put
                              : change->kind == CHANGE_DELETE ? store->drop
                                                              : store->range;
    MYR_ASSERT((change->kind == CHANGE_PUT) == (change->value != NULL));
    MYR_ASSERT((change->kind == CHANGE_RANGE) == (change->to != NULL));
    sqlite3_bind_text(statement, 1, change->key, -1, SQLITE_STATIC);
    if (change->kind == CHANGE_PUT) {
        sqlite3_bind_blob64(statement, 2, change->value, change->size, SQLITE_STATIC);
    } else if (change->kind == CHANGE_RANGE) {
        sqlite3_bind_text(statement, 2, change->to, -1, SQLITE_STATIC);
    }
    return step(statement);
}

/* All changes in one transaction, or none. */
static int commit_file(void *own, const struct change *changes, size_t count, struct myr_err *err)
{
    struct sqlite *store = own;
    MYR_ASSERT(count > 0); /* nothing to do is no transaction */
    bool ok = step(store->begin);
    for (size_t i = 0; ok && i < count; i++) {
        ok = apply(store, &changes[i]);
    }
    ok = ok && step(store->commit);
    if (!ok) {
        int rc = failed(store, err, "writing");
        /* Some errors have rolled back already; the changes wait with the caller. */
        if (!sqlite3_get_autocommit(store->db)) {
            (void)step(store->rollback);
        }
        return rc;
    }
    MYR_ASSERT(sqlite3_get_autocommit(store->db));
    return MYR_OK;
}

/* Keys and values are valid during the call of 'each' alone. */
static int scan_file(void *own, const char *prefix, store_each *each, void *context,
                     struct myr_err *err)
{
    struct sqlite *store = own;
    int rc = MYR_OK;
    MYR_ASSERT(!sqlite3_stmt_busy(store->scan)); /* never from inside of 'each' */
    MYR_ASSERT(prefix && each);
    sqlite3_bind_text(store->scan, 1, prefix, -1, SQLITE_STATIC);
    while (rc == MYR_OK) {
        int got = sqlite3_step(store->scan);
        if (got == SQLITE_DONE) {
            break;
        }
        if (got != SQLITE_ROW) {
            rc = failed(store, err, "reading");
            break;
        }
        /* NULL for an empty value, which is a value all the same. */
        const void *value = sqlite3_column_blob(store->scan, 1);
        size_t size = (size_t)sqlite3_column_bytes(store->scan, 1);
        rc = each(context, (const char *)sqlite3_column_text(store->scan, 0),
                  (struct myr_str){size ? value : "", size}, err);
    }
    sqlite3_reset(store->scan);
    return rc;
}

static const struct store_ops sqlite_ops = {commit_file, scan_file, close_file};

/* Held alone while it is open: two servers on one file would each overwrite the other. */
int store_open(const char *path, struct store **ret, struct myr_err *err)
{
    MYR_ASSERT(path && ret);
    struct sqlite *store = myr_xcalloc(1, sizeof(*store));
    store->path = strdup(path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2(path, &store->db, flags, NULL) == SQLITE_OK
                 ? begin(store, err)
                 : failed(store, err, "opening");
    if (rc < 0) {
        if (sqlite3_errcode(store->db) == SQLITE_BUSY && err) {
            snprintf(err->hint, sizeof(err->hint), "another server has it open");
        }
        close_file(store);
        return rc;
    }
    MYR_ASSERT(store->put && store->scan && store->begin && store->commit && store->rollback);
    *ret = store_of(&sqlite_ops, store);
    return MYR_OK;
}

/* Without 'work' the copy was whole at once, from a store that is no file. */
struct store_copy {
    sqlite3 *to;
    sqlite3_backup *work;
    char *path;
};

static int copy_failed(const struct store_copy *copy, int code, struct myr_err *err)
{
    return myr_err_set(err, MYR_EIO, "%s: copying the store: %s", copy->path, sqlite3_errstr(code));
}

static int put_key(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    MYR_ASSERT(context && key);
    (void)err;
    store_put(context, key, value);
    return MYR_OK;
}

static void close_at(struct store **store)
{
    store_close(*store);
}

/* Of a store that is no file: all keys in one commit. */
static int write_out(struct store *from, const char *path, struct myr_err *err)
{
    MYR_CLEANUP(close_at) struct store *to = NULL;
    MYR_TRY(store_open(path, &to, err));
    MYR_TRY(store_scan(from, "", put_key, to, err));
    return store_commit(to, err);
}

/* By SQLite's own backup: pages that change meanwhile are copied again by it. */
int store_copy_begin(struct store *store, const char *path, struct store_copy **ret,
                     struct myr_err *err)
{
    MYR_ASSERT(store && path && ret);
    const struct sqlite *from = store_own_if(store, &sqlite_ops);
    struct store_copy *copy = myr_xcalloc(1, sizeof(*copy));
    copy->path = strdup(path);
    if (!from) {
        int rc = write_out(store, path, err);
        if (rc < 0) {
            store_copy_end(copy);
            return rc;
        }
        *ret = copy;
        return MYR_OK;
    }
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, &copy->to, flags, NULL);
    copy->work = code == SQLITE_OK ? sqlite3_backup_init(copy->to, "main", from->db, "main") : NULL;
    if (!copy->work) {
        int rc = copy_failed(copy, code == SQLITE_OK ? sqlite3_errcode(copy->to) : code, err);
        store_copy_end(copy);
        return rc;
    }
    *ret = copy;
    return MYR_OK;
}

/* -1 pages: all that is left. */
int store_copy_step(struct store_copy *copy, int pages, struct myr_err *err)
{
    MYR_ASSERT(pages != 0); /* else it would never be whole */
    MYR_ASSERT(!copy->work || copy->to);
    if (!copy->work) {
        return 0; /* it was written out whole */
    }
    int code = sqlite3_backup_step(copy->work, pages);
    /* Busy is no failure: the next step goes on. */
    if (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        return 1;
    }
    return code == SQLITE_DONE ? 0 : copy_failed(copy, code, err);
}

void store_copy_end(struct store_copy *copy)
{
    MYR_ASSERT(copy && (!copy->work || copy->to));
    if (copy->work) {
        sqlite3_backup_finish(copy->work);
    }
    sqlite3_close(copy->to);
    free(copy->path);
    free(copy);
}
