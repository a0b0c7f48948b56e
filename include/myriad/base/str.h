/*
 * str: borrowed text (struct myr_str), growing text (struct myr_buf), strict number parsing.
 *
 * A myr_str points into somebody else's memory and need not end in NUL. A myr_buf owns heap
 * memory; once something was put, its data is NUL-terminated as well, so that it can be handed to
 * libc. The myr_buf writers for integers exist because cable lists have millions of rows: they
 * are about ten times faster than printf.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "myriad/base/err.h"

struct myr_str {
    const char *data;
    size_t len;
};

#define MYR_STR(literal) ((struct myr_str){(literal), sizeof(literal) - 1})

static inline struct myr_str myr_str_from(const char *text)
{
    return (struct myr_str){text, text ? strlen(text) : 0};
}

/* Copies a text and a NUL behind it; 'ret' has room for both. An empty text may be at no address,
 * which memcpy must not be given. */
static inline void myr_str_put(struct myr_str text, char *ret)
{
    if (text.len > 0) {
        memcpy(ret, text.data, text.len);
    }
    ret[text.len] = '\0';
}

bool myr_str_eq(struct myr_str a, struct myr_str b);
bool myr_str_eq_nocase(struct myr_str a, struct myr_str b);
int myr_str_cmp(struct myr_str a, struct myr_str b);

/* The whole text must be one number in range; no blanks, no sign for unsigned. */
MYR_MUST_USE bool myr_str_to_u64(struct myr_str text, uint64_t *ret);
MYR_MUST_USE bool myr_str_to_i64(struct myr_str text, int64_t *ret);
MYR_MUST_USE bool myr_str_to_double(struct myr_str text, double *ret);

/* A day of the calendar, as in "2026-11-16". */
bool myr_str_is_date(struct myr_str text);

/* Levenshtein distance without regard to case, at most 'limit' + 1; texts over 64 bytes are far. */
uint32_t myr_str_distance(struct myr_str a, struct myr_str b, uint32_t limit);

/*
 * Up to two of 'names' that 'text' may have meant, as " did you mean 'a' or 'b'?"-ready text:
 * "'a' or 'b'". Empty when nothing is near. 'ret' holds at least 'size' bytes.
 */
void myr_str_nearest(struct myr_str text, const char *const *names, size_t count, char *ret,
                     size_t size);

struct myr_buf {
    char *data;
    size_t len;
    size_t capacity;
};

void myr_buf_done(struct myr_buf *buf);
void myr_buf_clear(struct myr_buf *buf);
void myr_buf_reserve_slow(struct myr_buf *buf, size_t more);
void myr_buf_put(struct myr_buf *buf, const char *text, size_t len);
void myr_buf_puts(struct myr_buf *buf, const char *text);
void myr_buf_put_u64(struct myr_buf *buf, uint64_t value);
void myr_buf_put_i64(struct myr_buf *buf, int64_t value);
/* With leading zeros up to 'width' digits. */
void myr_buf_put_u64_pad(struct myr_buf *buf, uint64_t value, uint32_t width);
MYR_PRINTF(2, 3)
void myr_buf_printf(struct myr_buf *buf, const char *fmt, ...);

static inline void myr_buf_reserve(struct myr_buf *buf, size_t more)
{
    if (buf->capacity - buf->len <= more) {
        myr_buf_reserve_slow(buf, more);
    }
}

static inline void myr_buf_putc(struct myr_buf *buf, char c)
{
    myr_buf_reserve(buf, 1);
    buf->data[buf->len++] = c;
    buf->data[buf->len] = '\0';
}

/* A literal's length is known to the compiler, which then needs no call to copy it. */
static inline void myr_buf_put_known(struct myr_buf *buf, const char *text, size_t len)
{
    myr_buf_reserve(buf, len);
    memcpy(buf->data + buf->len, text, len + 1);
    buf->len += len;
}

#define myr_buf_put_lit(buf, literal) myr_buf_put_known((buf), (literal), sizeof(literal) - 1)

/* "1,234,567": for people. 'ret' holds at least 32 bytes; returns 'ret'. */
const char *myr_u64_grouped(uint64_t value, char *ret);
