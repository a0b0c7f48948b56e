#include "store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum change_kind { CHANGE_PUT, CHANGE_DELETE, CHANGE_RANGE };

struct change {
    enum change_kind kind;
    char *key, *to;
    char *value;
    size_t size;
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *put, *drop, *range, *scan, *begin, *commit, *rollback;
    MYR_VEC(struct change) changes;
    char *path;
};

static int failed(const struct store *store, struct myr_err *err, const char *what)
{
    int code = sqlite3_errcode(store->db);
    return myr_err_set(err,
                       code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? MYR_ECORRUPT : MYR_EIO,
                       "%s: %s: %s", store->path, what, sqlite3_errmsg(store->db));
}

static int prepare(struct store *store, const char *text, sqlite3_stmt **ret, struct myr_err *err)
{
    if (sqlite3_prepare_v3(store->db, text, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) !=
        SQLITE_OK) {
        return failed(store, err, "preparing");
    }
    return MYR_OK;
}

static int run(struct store *store, const char *text, struct myr_err *err)
{
    if (sqlite3_exec(store->db, text, NULL, NULL, NULL) != SQLITE_OK) {
        return failed(store, err, "opening");
    }
    return MYR_OK;
}

static int version_of(struct store *store, int *ret, struct myr_err *err)
{
    sqlite3_stmt *ask = NULL;
    MYR_TRY(prepare(store, "PRAGMA user_version", &ask, err));
    bool row = sqlite3_step(ask) == SQLITE_ROW;
    *ret = row ? sqlite3_column_int(ask, 0) : 0;
    sqlite3_finalize(ask);
    return row ? MYR_OK : failed(store, err, "reading its version");
}

static int begin(struct store *store, struct myr_err *err)
{
    int version = 0;
    /* Another server on the same file waits, and then says so, rather than break it. */
    sqlite3_busy_timeout(store->db, 2000);
    MYR_TRY(run(store, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;", err));
    MYR_TRY(run(store, "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=2000;", err));
    MYR_TRY(version_of(store, &version, err));
    if (version == 0) {
        MYR_TRY(run(store,
                    "BEGIN; CREATE TABLE kv(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT "
                    "ROWID; PRAGMA user_version=1; COMMIT;",
                    err));
    } else if (version != STORE_VERSION) {
        return myr_err_set(err, MYR_EVERSION,
                           "%s: a store of version %d; this program reads version %d", store->path,
                           version, STORE_VERSION);
    }
    MYR_TRY(prepare(store, "INSERT OR REPLACE INTO kv VALUES(?,?)", &store->put, err));
    MYR_TRY(prepare(store, "DELETE FROM kv WHERE key=?", &store->drop, err));
    MYR_TRY(prepare(store, "DELETE FROM kv WHERE key>=? AND key<?", &store->range, err));
    MYR_TRY(prepare(store, "SELECT key,value FROM kv WHERE key>=?1 AND key<?1||x'ff' ORDER BY key",
                    &store->scan, err));
    MYR_TRY(prepare(store, "BEGIN IMMEDIATE", &store->begin, err));
    MYR_TRY(prepare(store, "COMMIT", &store->commit, err));
    return prepare(store, "ROLLBACK", &store->rollback, err);
}

int store_open(const char *path, struct store **ret, struct myr_err *err)
{
    struct store *store = myr_xcalloc(1, sizeof(*store));
    store->path = strdup(path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2(path, &store->db, flags, NULL) == SQLITE_OK
                 ? begin(store, err)
                 : failed(store, err, "opening");
    if (rc < 0) {
        if (sqlite3_errcode(store->db) == SQLITE_BUSY && err) {
            snprintf(err->hint, sizeof(err->hint), "another server has it open");
        }
        store_close(store);
        return rc;
    }
    *ret = store;
    return MYR_OK;
}

static void forget_changes(struct store *store)
{
    for (size_t i = 0; i < store->changes.count; i++) {
        free(store->changes.items[i].key);
        free(store->changes.items[i].to);
        free(store->changes.items[i].value);
    }
    store->changes.count = 0;
}

void store_close(struct store *store)
{
    if (!store) {
        return;
    }
    sqlite3_stmt *all[] = {store->put,   store->drop,   store->range,   store->scan,
                           store->begin, store->commit, store->rollback};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        sqlite3_finalize(all[i]);
    }
    sqlite3_close(store->db);
    forget_changes(store);
    myr_vec_done(&store->changes);
    free(store->path);
    free(store);
}

static struct change *change_of(struct store *store, enum change_kind kind, const char *key)
{
    myr_vec_push(&store->changes, (struct change){.kind = kind, .key = strdup(key)});
    return &store->changes.items[store->changes.count - 1];
}

void store_put(struct store *store, const char *key, struct myr_str value)
{
    struct change *change = change_of(store, CHANGE_PUT, key);
    change->value = myr_xcalloc(1, value.len + 1);
    memcpy(change->value, value.data, value.len);
    change->size = value.len;
}

void store_delete(struct store *store, const char *key)
{
    change_of(store, CHANGE_DELETE, key);
}

void store_delete_range(struct store *store, const char *from, const char *to)
{
    change_of(store, CHANGE_RANGE, from)->to = strdup(to);
}

static bool step(sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    sqlite3_reset(statement);
    return rc == SQLITE_DONE;
}

static bool apply(struct store *store, const struct change *change)
{
    sqlite3_stmt *statement = change->kind == CHANGE_PUT      ? store->put
                              : change->kind == CHANGE_DELETE ? store->drop
                                                              : store->range;
    sqlite3_bind_text(statement, 1, change->key, -1, SQLITE_STATIC);
    if (change->kind == CHANGE_PUT) {
        sqlite3_bind_blob64(statement, 2, change->value, change->size, SQLITE_STATIC);
    } else if (change->kind == CHANGE_RANGE) {
        sqlite3_bind_text(statement, 2, change->to, -1, SQLITE_STATIC);
    }
    return step(statement);
}

int store_commit(struct store *store, struct myr_err *err)
{
    if (store->changes.count == 0) {
        return MYR_OK;
    }
    bool ok = step(store->begin);
    for (size_t i = 0; ok && i < store->changes.count; i++) {
        ok = apply(store, &store->changes.items[i]);
    }
    ok = ok && step(store->commit);
    if (!ok) {
        int rc = failed(store, err, "writing");
        if (!sqlite3_get_autocommit(store->db)) {
            (void)step(store->rollback);
        }
        return rc;
    }
    forget_changes(store);
    return MYR_OK;
}

int store_scan(struct store *store, const char *prefix, store_each *each, void *context,
               struct myr_err *err)
{
    int rc = MYR_OK;
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
        const void *value = sqlite3_column_blob(store->scan, 1);
        size_t size = (size_t)sqlite3_column_bytes(store->scan, 1);
        rc = each(context, (const char *)sqlite3_column_text(store->scan, 0),
                  (struct myr_str){size ? value : "", size}, err);
    }
    sqlite3_reset(store->scan);
    return rc;
}

struct store_copy {
    struct store *from;
    sqlite3 *to;
    sqlite3_backup *work;
    char *path;
};

static int copy_failed(const struct store_copy *copy, int code, struct myr_err *err)
{
    return myr_err_set(err, MYR_EIO, "%s: copying the store: %s", copy->path, sqlite3_errstr(code));
}

int store_copy_begin(struct store *store, const char *path, struct store_copy **ret,
                     struct myr_err *err)
{
    struct store_copy *copy = myr_xcalloc(1, sizeof(*copy));
    copy->from = store;
    copy->path = strdup(path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, &copy->to, flags, NULL);
    copy->work =
        code == SQLITE_OK ? sqlite3_backup_init(copy->to, "main", store->db, "main") : NULL;
    if (!copy->work) {
        int rc = copy_failed(copy, code == SQLITE_OK ? sqlite3_errcode(copy->to) : code, err);
        store_copy_end(copy);
        return rc;
    }
    *ret = copy;
    return MYR_OK;
}

int store_copy_step(struct store_copy *copy, int pages, struct myr_err *err)
{
    int code = sqlite3_backup_step(copy->work, pages);
    if (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        return 1;
    }
    return code == SQLITE_DONE ? 0 : copy_failed(copy, code, err);
}

void store_copy_end(struct store_copy *copy)
{
    sqlite3_backup_finish(copy->work);
    sqlite3_close(copy->to);
    free(copy->path);
    free(copy);
}
