#include "myriad/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct error_row {
    int code;
    int exit_code;
    int http;
    const char *name;
    const char *text;
};

static const struct error_row error_rows[] = {
#define MYR_ERROR_ROW(name, value, exit_code, http, text) {value, exit_code, http, #name, text},
    MYR_ERRORS(MYR_ERROR_ROW)
#undef MYR_ERROR_ROW
};

static const struct error_row *row_of(int code)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(error_rows); i++) {
        if (error_rows[i].code == code) {
            return &error_rows[i];
        }
    }
    return NULL;
}

int myr_err_set(struct myr_err *err, int code, const char *fmt, ...)
{
    MYR_ASSERT(code < 0);
    if (err) {
        va_list args;
        va_start(args, fmt);
        err->code = code;
        err->hint[0] = '\0';
        vsnprintf(err->message, sizeof(err->message), fmt, args);
        va_end(args);
    }
    return code;
}

int myr_err_errno(struct myr_err *err, const char *what, const char *path)
{
    /* A path that the user mistyped is bad input; a disk that failed is the environment. */
    int code = errno == ENOENT || errno == ENOTDIR || errno == EISDIR ? MYR_ENOENT : MYR_EIO;
    return myr_err_set(err, code, "%s: %s: %s", path, what, strerror(errno));
}

int myr_err_wrap(struct myr_err *err, const char *fmt, ...)
{
    if (!err) {
        return MYR_EINVAL;
    }
    char inner[MYR_ERR_MESSAGE_MAX];
    memcpy(inner, err->message, sizeof(inner));

    va_list args;
    va_start(args, fmt);
    int used = vsnprintf(err->message, sizeof(err->message), fmt, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof(err->message)) {
        size_t left = sizeof(err->message) - (size_t)used;
        int more = snprintf(err->message + used, left, ": %s", inner);
        (void)more; /* cut at the end of the buffer: the front is what matters */
    }
    return err->code;
}

void myr_err_hint(struct myr_err *err, const char *fmt, ...)
{
    if (err) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(err->hint, sizeof(err->hint), fmt, args);
        va_end(args);
    }
}

const char *myr_err_name(int code)
{
    const struct error_row *row = row_of(code);
    return row ? row->name : "OK";
}

const char *myr_err_text(int code)
{
    const struct error_row *row = row_of(code);
    return row ? row->text : "no error";
}

int myr_err_exit_code(int code)
{
    const struct error_row *row = row_of(code);
    return row ? row->exit_code : 0;
}

int myr_err_http_status(int code)
{
    const struct error_row *row = row_of(code);
    return row ? row->http : 200;
}

void myr_assert_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
    abort();
}
