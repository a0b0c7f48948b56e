/*
 * text: a file of another simulator as words, line by line. The place of each word is kept, so that
 * every complaint can name it.
 */
#include "read/text.h"

#include <stdio.h>

void scan_init(struct scan *scan, const char *file, struct myr_str text)
{
    *scan = (struct scan){.file = file, .text = text};
    if (text.len >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0) {
        scan->at = scan->line_start = 3; /* a byte order mark */
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Also where there is no word: the place is then where one is missing. */
static void mark_word(struct scan *scan, size_t len)
{
    MYR_ASSERT(scan->line_start <= scan->at && len <= scan->text.len - scan->at);
    scan->word_line = scan->line ? scan->line : 1;
    scan->word_column = (uint32_t)(scan->at - scan->line_start) + 1;
    scan->word = (struct myr_str){scan->text.data + scan->at, len};
}

/* False leaves an empty word with a place: a complaint can point at what is missing. */
bool scan_word(struct scan *scan)
{
    const struct myr_str text = scan->text;
    while (scan->at < text.len && is_blank(text.data[scan->at])) {
        scan->at++;
    }
    size_t end = scan->at;
    while (end < text.len && !is_blank(text.data[end]) && text.data[end] != '\n') {
        end++;
    }
    mark_word(scan, end - scan->at);
    scan->at = end;
    return scan->word.len > 0;
}

/* The first call goes to the first line, each later one past the end of the line at hand. */
bool scan_line(struct scan *scan)
{
    const struct myr_str text = scan->text;
    for (;;) {
        /* Past what is left of the line at hand, read or not. */
        if (scan->line > 0) {
            const char *end = scan->at < text.len
                                  ? memchr(text.data + scan->at, '\n', text.len - scan->at)
                                  : NULL;
            if (!end) {
                scan->at = text.len;
                mark_word(scan, 0);
                return false;
            }
            scan->at = scan->line_start = (size_t)(end - text.data) + 1;
        }
        scan->line++;
        size_t first = scan->at;
        while (first < text.len && is_blank(text.data[first])) {
            first++;
        }
        if (first < text.len && text.data[first] != '\n' && text.data[first] != '#') {
            return true;
        }
        scan->at = first;
    }
}

bool scan_is(const struct scan *scan, const char *word)
{
    return myr_str_eq_nocase(scan->word, myr_str_from(word));
}

struct scan_place scan_here(const struct scan *scan)
{
    return (struct scan_place){scan->word_line, scan->word_column};
}

/* At the word that was read last. */
int scan_error(struct myr_err *err, const struct scan *scan, const char *fmt, ...)
{
    char what[MYR_ERR_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, fmt);
    vsnprintf(what, sizeof(what), fmt, arguments);
    va_end(arguments);
    return myr_err_set(err, MYR_EINVAL, "%s:%u:%u: %s", scan->file, scan->word_line,
                       scan->word_column, what);
}

int scan_error_at(struct myr_err *err, const struct scan *scan, struct scan_place place,
                  const char *fmt, ...)
{
    char what[MYR_ERR_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, fmt);
    vsnprintf(what, sizeof(what), fmt, arguments);
    va_end(arguments);
    return myr_err_set(err, MYR_EINVAL, "%s:%u:%u: %s", scan->file, place.line, place.column, what);
}

/* Four bytes less than there are: three dots and a NUL. */
const char *scan_shown(const struct scan *scan, char ret[SCAN_SHOWN])
{
    size_t len = scan->word.len < SCAN_SHOWN - 4 ? scan->word.len : SCAN_SHOWN - 4;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)scan->word.data[i];
        ret[i] = (char)(c < 0x20 || c >= 0x7F ? '?' : c);
    }
    memcpy(ret + len, len < scan->word.len ? "..." : "", len < scan->word.len ? 4 : 1);
    return ret;
}

int scan_need(struct scan *scan, const char *what, struct myr_err *err)
{
    if (scan_word(scan)) {
        return MYR_OK;
    }
    return scan_error(err, scan, "the line ends where %s is expected", what);
}

int scan_number(struct scan *scan, const char *what, uint64_t least, uint64_t most, uint64_t *ret,
                struct myr_err *err)
{
    char shown[SCAN_SHOWN];
    MYR_ASSERT(least <= most);
    MYR_TRY(scan_need(scan, what, err));
    if (!myr_str_to_u64(scan->word, ret) || *ret < least || *ret > most) {
        return scan_error(err, scan, "%s must be a whole number from %llu to %llu, not '%s'", what,
                          (unsigned long long)least, (unsigned long long)most,
                          scan_shown(scan, shown));
    }
    return MYR_OK;
}

int scan_u32(struct scan *scan, const char *what, uint32_t least, uint32_t most, uint32_t *ret,
             struct myr_err *err)
{
    uint64_t value = 0;
    *ret = 0; /* what a caller declared without a value has one on every path */
    MYR_TRY(scan_number(scan, what, least, most, &value, err));
    *ret = (uint32_t)value;
    return MYR_OK;
}

/* The exponent behind an 'e'; false when that is no small whole number. */
static bool exponent_of(struct myr_str text, int64_t *ret)
{
    if (text.len && text.data[0] == '+') {
        text.data++;
        text.len--;
        if (text.len && text.data[0] == '-') {
            return false; /* one sign, not two */
        }
    }
    return myr_str_to_i64(text, ret) && *ret > -100 && *ret < 100;
}

/*
 * By integers, so that a time is the same picosecond everywhere: the digits without the point, and
 * how far the point must move.
 */
bool scan_decimal(struct myr_str text, int32_t digits, uint64_t most, uint64_t *ret)
{
    uint64_t value = 0;
    int64_t shift = digits, exponent = 0;
    bool point = false, any = false;
    size_t i = 0;
    for (; i < text.len && text.data[i] != 'e' && text.data[i] != 'E'; i++) {
        char c = text.data[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9') {
            return false;
        }
        any = true;
        /* Digits beyond what 64 bits hold are left out. */
        bool room = value <= UINT64_MAX / 100;
        if (room) {
            value = value * 10 + (uint64_t)(c - '0');
        }
        /* A digit that is left out moves the point instead. */
        shift += room ? (point ? -1 : 0) : (point ? 0 : 1);
    }
    if (i < text.len) {
        struct myr_str rest = {text.data + i + 1, text.len - i - 1};
        if (!exponent_of(rest, &exponent)) {
            return false;
        }
    }
    /* Zero is zero however far the point moves: no loop over a large exponent. */
    for (shift += exponent; shift > 0 && value; shift--) {
        if (value > most / 10) {
            return false;
        }
        value *= 10;
    }
    for (; shift < 0 && value; shift++) {
        value /= 10;
    }
    *ret = value;
    return any && value <= most;
}

/* 'digits' is the unit of the file: 0 for seconds, 9 for nanoseconds, 12 for picoseconds. */
int scan_time(struct scan *scan, const char *what, uint32_t digits, myr_ps *ret,
              struct myr_err *err)
{
    char shown[SCAN_SHOWN];
    uint64_t ps = 0;
    MYR_ASSERT(digits <= 12); /* a picosecond is the shortest */
    MYR_TRY(scan_need(scan, what, err));
    if (!scan_decimal(scan->word, 12 - (int32_t)digits, (uint64_t)MYR_TRACE_TIME_MAX, &ps)) {
        return scan_error(err, scan, "%s must be a time of 0 to 1000000 seconds, not '%s'", what,
                          scan_shown(scan, shown));
    }
    *ret = (myr_ps)ps;
    return MYR_OK;
}

int scan_end(struct scan *scan, struct myr_err *err)
{
    char shown[SCAN_SHOWN];
    if (!scan_word(scan)) {
        return MYR_OK;
    }
    return scan_error(err, scan, "'%s' is too much: the line should have ended",
                      scan_shown(scan, shown));
}
