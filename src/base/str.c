#include "myriad/base/str.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "myriad/base/mem.h"

/* The texts that are compared by distance, a number of a file, and the digits of 2^64 - 1. */
enum { DISTANCE_TEXT_MAX = 64, NUMBER_TEXT_MAX = 63, DIGITS_MAX = 20 };

bool myr_str_eq(struct myr_str a, struct myr_str b)
{
    /* Empty text may be at no address, which memcmp must not be given. */
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* ASCII alone, whatever the locale says: keys and names of files compare alike everywhere. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool myr_str_eq_nocase(struct myr_str a, struct myr_str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.data[i]) != lower(b.data[i])) {
            return false;
        }
    }
    return true;
}

/* By bytes; of two texts that begin alike the shorter is first. */
int myr_str_cmp(struct myr_str a, struct myr_str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.data, b.data, common) : 0;
    if (order != 0) {
        return order;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

bool myr_str_to_u64(struct myr_str text, uint64_t *ret)
{
    uint64_t value = 0;
    if (text.len == 0) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.data[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return false;
        }
    }
    *ret = value;
    return true;
}

bool myr_str_to_i64(struct myr_str text, int64_t *ret)
{
    bool negative = text.len > 0 && text.data[0] == '-';
    uint64_t size;
    struct myr_str digits = negative ? (struct myr_str){text.data + 1, text.len - 1} : text;
    if (!myr_str_to_u64(digits, &size) || size > (uint64_t)INT64_MAX + negative) {
        return false;
    }
    /* The smallest number has no positive twin, so the sign is applied to the unsigned value. */
    *ret = (int64_t)(negative ? 0 - size : size);
    return true;
}

bool myr_str_is_date(struct myr_str text)
{
    static const uint8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    uint64_t year, month, day;
    if (text.len != strlen("2026-11-16") || text.data[4] != '-' || text.data[7] != '-' ||
        !myr_str_to_u64((struct myr_str){text.data, 4}, &year) ||
        !myr_str_to_u64((struct myr_str){text.data + 5, 2}, &month) ||
        !myr_str_to_u64((struct myr_str){text.data + 8, 2}, &day) || month < 1 || month > 12) {
        return false;
    }
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day >= 1 && day <= lengths[month - 1] + (month == 2 && leap ? 1U : 0U);
}

/*
 * Numbers of files are finite and written in decimal; one that a double cannot hold is refused
 * rather than rounded to infinity or nothing.
 */
bool myr_str_to_double(struct myr_str text, double *ret)
{
    if (text.len == 0 || text.len > NUMBER_TEXT_MAX) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        /* Keeps out hex, "inf", "nan" and blanks, which strtod takes. */
        if (!strchr("0123456789+-.eE", text.data[i])) {
            return false;
        }
    }
    char copy[NUMBER_TEXT_MAX + 1];
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    char *end;
    errno = 0;
    double value = strtod(copy, &end);
    if (end != copy + text.len || errno == ERANGE || !isfinite(value)) {
        return false;
    }
    *ret = value;
    return true;
}

uint32_t myr_str_distance(struct myr_str a, struct myr_str b, uint32_t limit)
{
    if (a.len > DISTANCE_TEXT_MAX || b.len > DISTANCE_TEXT_MAX) {
        return limit + 1;
    }
    uint32_t row[DISTANCE_TEXT_MAX + 1];
    for (uint32_t j = 0; j <= b.len; j++) {
        row[j] = j;
    }
    for (uint32_t i = 1; i <= a.len; i++) {
        /*
         * One row of the table is kept: 'diagonal' is the cell above and to the left, overwritten
         * by now.
         */
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= b.len; j++) {
            uint32_t change = diagonal + (lower(a.data[i - 1]) != lower(b.data[j - 1]));
            diagonal = row[j];
            uint32_t gap = (row[j - 1] < row[j] ? row[j - 1] : row[j]) + 1;
            row[j] = change < gap ? change : gap;
        }
    }
    return row[b.len] > limit ? limit + 1 : row[b.len];
}

/* Small is near; a name that contains the text (or the other way round) is nearly as near. */
static uint32_t nearness(struct myr_str text, struct myr_str name)
{
    /* Short words have many neighbours: the shorter the text, the fewer errors are forgiven. */
    uint32_t limit = text.len < 4 ? 1 : text.len < 8 ? 2 : 3;
    uint32_t distance = myr_str_distance(text, name, limit);
    if (distance <= limit) {
        return distance;
    }
    struct myr_str longer = name.len > text.len ? name : text;
    struct myr_str shorter = name.len > text.len ? text : name;
    /* One or two letters are part of almost any name. */
    if (shorter.len < 3) {
        return UINT32_MAX;
    }
    for (size_t i = 0; i + shorter.len <= longer.len; i++) {
        if (myr_str_eq_nocase((struct myr_str){longer.data + i, shorter.len}, shorter)) {
            /* Behind every name within the limit, which is 3 at most. */
            return 4 + (uint32_t)(longer.len - shorter.len);
        }
    }
    return UINT32_MAX;
}

void myr_str_nearest(struct myr_str text, const char *const *names, size_t count, char *ret,
                     size_t size)
{
    const char *best[2] = {NULL, NULL};
    uint32_t score[2] = {UINT32_MAX, UINT32_MAX};
    for (size_t i = 0; i < count; i++) {
        uint32_t near = nearness(text, myr_str_from(names[i]));
        /* Strictly less: of names that are equally near the first in the list is named first. */
        if (near < score[0]) {
            score[1] = score[0];
            best[1] = best[0];
            score[0] = near;
            best[0] = names[i];
        } else if (near < score[1]) {
            score[1] = near;
            best[1] = names[i];
        }
    }
    ret[0] = '\0';
    if (best[1]) {
        snprintf(ret, size, "'%s' or '%s'", best[0], best[1]);
    } else if (best[0]) {
        snprintf(ret, size, "'%s'", best[0]);
    }
}

void myr_buf_done(struct myr_buf *buf)
{
    free(buf->data);
    *buf = (struct myr_buf){};
}

/* Keeps its memory for what is put next. */
void myr_buf_clear(struct myr_buf *buf)
{
    buf->len = 0;
    if (buf->data) {
        buf->data[0] = '\0';
    }
}

/*
 * At least doubles, so that a text put piece by piece costs no more than its length; one byte more
 * than asked for is the NUL behind it.
 */
void myr_buf_reserve_slow(struct myr_buf *buf, size_t more)
{
    MYR_ASSERT(more < SIZE_MAX / 4);
    size_t wanted = buf->len + more + 1;
    size_t capacity = buf->capacity ? buf->capacity * 2 : 256;
    buf->capacity = capacity < wanted ? wanted : capacity;
    MYR_ASSERT(buf->capacity > buf->len + more); /* the NUL has a place too */
    buf->data = myr_xrealloc(buf->data, buf->capacity, 1);
}

void myr_buf_put(struct myr_buf *buf, const char *text, size_t len)
{
    myr_buf_reserve(buf, len);
    /* Borrowed empty text may be NULL. */
    if (len > 0) {
        memcpy(buf->data + buf->len, text, len);
    }
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void myr_buf_puts(struct myr_buf *buf, const char *text)
{
    myr_buf_put(buf, text, strlen(text));
}

void myr_buf_put_u64_pad(struct myr_buf *buf, uint64_t value, uint32_t width)
{
    /* Counted first and written where they belong, two at a time: lists have millions of them. */
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    MYR_ASSERT(width <= DIGITS_MAX);
    uint32_t length = 1;
    for (uint64_t limit = 10; length < DIGITS_MAX && value >= limit; limit *= 10) {
        length++;
    }
    length = length < width ? width : length;
    myr_buf_reserve(buf, length);
    char *first = buf->data + buf->len, *at = first + length;
    *at = '\0';
    for (; value >= 10; value /= 100) {
        at -= 2;
        memcpy(at, pairs + 2 * (value % 100), 2);
    }
    /* What is left over: one digit before an odd number of them, 0 behind an even one. */
    MYR_ASSERT(value < 10);
    if (value > 0) {
        *--at = (char)('0' + value);
    }
    MYR_ASSERT(at >= first); /* no more digits than were counted */
    while (at > first) {
        *--at = '0';
    }
    buf->len += length;
}

void myr_buf_put_u64(struct myr_buf *buf, uint64_t value)
{
    myr_buf_put_u64_pad(buf, value, 1);
}

void myr_buf_put_i64(struct myr_buf *buf, int64_t value)
{
    if (value < 0) {
        myr_buf_putc(buf, '-');
    }
    myr_buf_put_u64(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void myr_buf_printf(struct myr_buf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    /* Most texts fit at once; those that do not are printed again, with their length known. */
    myr_buf_reserve(buf, 64);
    int len = vsnprintf(buf->data + buf->len, buf->capacity - buf->len, fmt, args);
    va_end(args);
    MYR_ASSERT(len >= 0);
    if ((size_t)len >= buf->capacity - buf->len) {
        myr_buf_reserve(buf, (size_t)len + 1);
        vsnprintf(buf->data + buf->len, buf->capacity - buf->len, fmt, again);
    }
    va_end(again);
    buf->len += (size_t)len;
    MYR_ASSERT(buf->len < buf->capacity);
}

/* A comma before every third digit from the end. */
const char *myr_u64_grouped(uint64_t value, char *ret)
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    int at = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            ret[at++] = ',';
        }
        ret[at++] = digits[i];
    }
    ret[at] = '\0';
    return ret;
}
