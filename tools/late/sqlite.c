/* SQLite as its first call loads it (late.h). */
#include <sqlite3.h>

#include "late.h"

LATE(LATE_SQLITE3, int, sqlite3_backup_finish, (sqlite3_backup * a), (a))
LATE(LATE_SQLITE3, sqlite3_backup *, sqlite3_backup_init,
     (sqlite3 * a, const char *b, sqlite3 *c, const char *d), (a, b, c, d))
LATE(LATE_SQLITE3, int, sqlite3_backup_step, (sqlite3_backup * a, int b), (a, b))
LATE(LATE_SQLITE3, int, sqlite3_bind_blob64,
     (sqlite3_stmt * a, int b, const void *c, sqlite3_uint64 d, void (*e)(void *)), (a, b, c, d, e))
LATE(LATE_SQLITE3, int, sqlite3_bind_text,
     (sqlite3_stmt * a, int b, const char *c, int d, void (*e)(void *)), (a, b, c, d, e))
LATE(LATE_SQLITE3, int, sqlite3_busy_timeout, (sqlite3 * a, int b), (a, b))
LATE(LATE_SQLITE3, int, sqlite3_close, (sqlite3 * a), (a))
LATE(LATE_SQLITE3, const void *, sqlite3_column_blob, (sqlite3_stmt * a, int b), (a, b))
LATE(LATE_SQLITE3, int, sqlite3_column_bytes, (sqlite3_stmt * a, int b), (a, b))
LATE(LATE_SQLITE3, int, sqlite3_column_int, (sqlite3_stmt * a, int b), (a, b))
LATE(LATE_SQLITE3, const unsigned char *, sqlite3_column_text, (sqlite3_stmt * a, int b), (a, b))
LATE(LATE_SQLITE3, int, sqlite3_errcode, (sqlite3 * a), (a))
LATE(LATE_SQLITE3, const char *, sqlite3_errmsg, (sqlite3 * a), (a))
LATE(LATE_SQLITE3, const char *, sqlite3_errstr, (int a), (a))
LATE(LATE_SQLITE3, int, sqlite3_exec,
     (sqlite3 * a, const char *b, int (*c)(void *, int, char **, char **), void *d, char **e),
     (a, b, c, d, e))
LATE(LATE_SQLITE3, int, sqlite3_finalize, (sqlite3_stmt * a), (a))
LATE(LATE_SQLITE3, int, sqlite3_get_autocommit, (sqlite3 * a), (a))
LATE(LATE_SQLITE3, const char *, sqlite3_libversion, (void), ())
LATE(LATE_SQLITE3, int, sqlite3_open_v2, (const char *a, sqlite3 **b, int c, const char *d),
     (a, b, c, d))
LATE(LATE_SQLITE3, int, sqlite3_prepare_v3,
     (sqlite3 * a, const char *b, int c, unsigned d, sqlite3_stmt **e, const char **f),
     (a, b, c, d, e, f))
LATE(LATE_SQLITE3, int, sqlite3_reset, (sqlite3_stmt * a), (a))
LATE(LATE_SQLITE3, int, sqlite3_step, (sqlite3_stmt * a), (a))
LATE(LATE_SQLITE3, int, sqlite3_stmt_busy, (sqlite3_stmt * a), (a))
