#include "myriad/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything that an error code stands for, from the one list of base/err.h. */
struct error_row {
    int code;
    int exit_code; /* of the command line */
    int http;      /* the status of an answer of the API */
    const char *name;
    const char *text;
};

static const struct error_row error_rows[] = {
#define MYR_ERROR_ROW(name, value, exit_code, http, text) {value, exit_code, http, #name, text},
    MYR_ERRORS(MYR_ERROR_ROW)
#undef MYR_ERROR_ROW
};

static const struct error_row success_row = {MYR_OK, 0, 200, "OK", "no error"};
/* A code from nowhere is a bug, but it must never look like success to the shell. */
static const struct error_row unknown_row = {-1, 3, 500, "EUNKNOWN", "unknown error"};

static const struct error_row *row_of(int code)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(error_rows); i++) {
        if (error_rows[i].code == code) {
            return &error_rows[i];
        }
    }
    /* Calls that succeed may return a count: every code from 0 on is success. */
    return code >= 0 ? &success_row : &unknown_row;
}

/*
 * Errors are one line, and quote what somebody wrote: a name with a line break or an escape
 * sequence in it must not become two lines, or a command to the terminal. A text that did not fit
 * is cut between two UTF-8 characters, not inside one.
 */
static void make_line(char *text, size_t size, int wanted)
{
    for (char *c = text; *c; c++) {
        *c = (unsigned char)*c < 0x20 || *c == 0x7F ? '?' : *c;
    }
    /* 'wanted' is what vsnprintf returned: all of it is there, so no character is cut. */
    if (wanted < 0 || (size_t)wanted < size) {
        return;
    }
    size_t end = size - 1;
    /* Back over the continuation bytes at the end; a character has at most three of them. */
    size_t start = end;
    while (start > 0 && end - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80) {
        start--;
    }
    if (start == 0 || (unsigned char)text[start - 1] < 0xC0) {
        return;
    }
    /* The lead byte tells how long its character was to be; one that is not whole is dropped. */
    unsigned char lead = (unsigned char)text[start - 1];
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (end - (start - 1) < length) {
        text[start - 1] = '\0';
    }
}

int myr_err_set(struct myr_err *err, int code, const char *fmt, ...)
{
    MYR_ASSERT(code < 0);
    if (err) {
        va_list args;
        va_start(args, fmt);
        err->code = code;
        /* A hint belongs to the error that it was given with, not to one that replaces it. */
        err->hint[0] = '\0';
        int len = vsnprintf(err->message, sizeof(err->message), fmt, args);
        va_end(args);
        make_line(err->message, sizeof(err->message), len);
    }
    return code;
}

/* errno is read before anything can change it. */
int myr_err_errno(struct myr_err *err, const char *what, const char *path)
{
    /* A path that the user mistyped is bad input; a disk that failed is the environment. */
    int code = errno == ENOENT || errno == ENOTDIR || errno == EISDIR ? MYR_ENOENT : MYR_EIO;
    return myr_err_set(err, code, "%s: %s: %s", path, what, strerror(errno));
}

int myr_err_wrap(struct myr_err *err, const char *fmt, ...)
{
    /* Without a place for the error its code is not known either; any failure will do. */
    if (!err) {
        return MYR_EINVAL;
    }
    char inner[MYR_ERR_MESSAGE_MAX];
    /* The message is written over below: printing it into itself would be undefined. */
    memcpy(inner, err->message, sizeof(inner));

    va_list args;
    va_start(args, fmt);
    int used = vsnprintf(err->message, sizeof(err->message), fmt, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof(err->message)) {
        size_t left = sizeof(err->message) - (size_t)used;
        used += snprintf(err->message + used, left, ": %s", inner);
    }
    /* What does not fit is lost at the end: the front says where to look. */
    make_line(err->message, sizeof(err->message), used);
    return err->code;
}

void myr_err_hint(struct myr_err *err, const char *fmt, ...)
{
    if (err) {
        va_list args;
        va_start(args, fmt);
        int len = vsnprintf(err->hint, sizeof(err->hint), fmt, args);
        va_end(args);
        make_line(err->hint, sizeof(err->hint), len);
    }
}

const char *myr_err_name(int code)
{
    return row_of(code)->name;
}

int myr_err_exit_code(int code)
{
    return row_of(code)->exit_code;
}

int myr_err_http_status(int code)
{
    return row_of(code)->http;
}

/* No way on: the state is not what the program takes it for. */
void myr_assert_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
    abort();
}
