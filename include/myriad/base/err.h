/*
 * err: one way to fail, for the whole tree.
 *
 * A function that can fail returns MYR_OK or a negative MYR_E* code and takes a struct myr_err as
 * its last argument. The struct is the caller's, usually on its stack; NULL is allowed when only
 * the code matters; it is untouched on success. The message is complete enough to print as it is:
 * each layer that knows more (which file, which rack) puts its context in front with
 * myr_err_wrap(). The hint, when there is one, says what the user can do.
 *
 * Bugs are not errors: MYR_ASSERT stops the program in every build.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define MYR_MUST_USE          __attribute__((warn_unused_result))
#define MYR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define MYR_NORETURN          __attribute__((noreturn))

/* name, value, exit code of the command, HTTP status, text */
#define MYR_ERRORS(X)                                    \
    X(EINVAL, -2, 2, 400, "invalid input")               \
    X(ERANGE, -3, 2, 400, "out of range")                \
    X(ENOENT, -4, 2, 404, "not found")                   \
    X(ECORRUPT, -5, 2, 422, "damaged data")              \
    X(EVERSION, -6, 2, 422, "unsupported version")       \
    X(EINFEASIBLE, -7, 1, 409, "no design satisfies it") \
    X(EIO, -8, 3, 500, "input or output failed")         \
    X(ENOMEM, -9, 3, 507, "out of memory")               \
    X(ESTALLED, -10, 3, 500, "nothing can progress")     \
    X(ESTALE, -11, 1, 409, "no longer so")               \
    X(EDENIED, -12, 1, 403, "not allowed")               \
    X(EUNKNOWN, -13, 1, 401, "not known here")           \
    X(EAWAY, -14, 3, 503, "not to be had now")           \
    X(EOFTEN, -15, 3, 429, "too often")                  \
    X(EREFORM, -16, 3, 503, "membership has changed")

enum {
    MYR_OK = 0,
#define MYR_ERROR_ENUM(name, value, exit_code, http, text) MYR_##name = (value),
    MYR_ERRORS(MYR_ERROR_ENUM)
#undef MYR_ERROR_ENUM
};

#define MYR_ERR_MESSAGE_MAX 512
#define MYR_ERR_HINT_MAX    768

struct myr_err {
    int code;
    char message[MYR_ERR_MESSAGE_MAX];
    char hint[MYR_ERR_HINT_MAX];
};

/* Both return 'code', so that a failing function can end in one statement. */
MYR_PRINTF(3, 4)
int myr_err_set(struct myr_err *err, int code, const char *fmt, ...);
int myr_err_errno(struct myr_err *err, const char *what, const char *path);

/*
 * Puts "context: " in front of the message. Returns the code that is already set; without an err
 * to hold one, MYR_EINVAL.
 */
MYR_PRINTF(2, 3)
int myr_err_wrap(struct myr_err *err, const char *fmt, ...);

/* Sets the remedy; printed on a line of its own. */
MYR_PRINTF(2, 3)
void myr_err_hint(struct myr_err *err, const char *fmt, ...);

const char *myr_err_name(int code);
int myr_err_exit_code(int code);
int myr_err_http_status(int code);

MYR_NORETURN void myr_assert_failed(const char *file, int line, const char *what);

#define MYR_ASSERT(cond) ((cond) ? (void)0 : myr_assert_failed(__FILE__, __LINE__, #cond))

/* For checks that cost more than O(1); compiled in where MYR_SLOW_CHECKS is set. */
#ifdef MYR_SLOW_CHECKS
#define MYR_SLOW_ASSERT(cond) MYR_ASSERT(cond)
#else
#define MYR_SLOW_ASSERT(cond) ((void)sizeof(cond))
#endif

/*
 * Runs 'fn(&variable)' when the variable goes out of scope, the one declared last first. So every
 * way out of a function releases what it holds, and a failure can leave at once.
 */
#define MYR_CLEANUP(fn) __attribute__((cleanup(fn)))

/*
 * Leaves the function with the code of 'call' when that is negative: one line for a step of many
 * that can fail. A step that must be followed by something (a message in front, a half-made output
 * to be taken back) tests its code in the open instead.
 */
#define MYR_TRY(call)            \
    do {                         \
        int myr_try_rc = (call); \
        if (myr_try_rc < 0) {    \
            return myr_try_rc;   \
        }                        \
    } while (0)

#define MYR_ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))
