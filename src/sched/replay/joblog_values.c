#include "replay/joblog_impl.h"

enum { DAY_S = 86400 };

/* Seconds: far beyond any date, and sums stay far from overflow. */
#define TIME_MAX_S (INT64_C(1) << 40)

struct myr_str joblog_trim(struct myr_str text)
{
    while (text.len && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.len--;
    }
    while (text.len && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t')) {
        text.len--;
    }
    return text;
}

bool joblog_is_none(struct myr_str text)
{
    static const char *const words[] = {"", "none", "unknown", "n/a", "null", "nan", "-"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (myr_str_eq_nocase(text, myr_str_from(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Takes up to 'most' digits, at least one. */
static bool take_digits(struct myr_str *text, uint32_t most, int64_t *ret)
{
    uint32_t count = 0;
    *ret = 0;
    while (count < most && text->len && text->data[0] >= '0' && text->data[0] <= '9') {
        *ret = *ret * 10 + (text->data[0] - '0');
        text->data++;
        text->len--;
        count++;
    }
    return count > 0;
}

/* Takes it, if it is there. */
static bool take_char(struct myr_str *text, char c)
{
    if (text->len == 0 || text->data[0] != c) {
        return false;
    }
    text->data++;
    text->len--;
    return true;
}

/* Drops ".123"; false when there is a point without digits. */
static bool drop_fraction(struct myr_str *text)
{
    if (!take_char(text, '.')) {
        return true;
    }
    size_t before = text->len;
    while (text->len && text->data[0] >= '0' && text->data[0] <= '9') {
        text->data++;
        text->len--;
    }
    return text->len < before;
}

/* Days from 1970-01-01; the year begins in March here, so that the leap day comes last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
    return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

static int64_t days_in(int64_t year, int64_t month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* Hours and minutes, with or without seconds; a leap second may be number 60. */
static bool take_clock(struct myr_str *text, int64_t *ret_s)
{
    int64_t hour, minute, second = 0;
    if (!take_digits(text, 2, &hour) || !take_char(text, ':') || !take_digits(text, 2, &minute)) {
        return false;
    }
    if (take_char(text, ':') && (!take_digits(text, 2, &second) || !drop_fraction(text))) {
        return false;
    }
    *ret_s = hour * 3600 + minute * 60 + second;
    return hour < 24 && minute < 60 && second <= 60;
}

/* "Z", "+02:00", " +0200", " UTC", " GMT" or nothing. */
static bool take_offset(struct myr_str *text, int64_t *ret_s)
{
    int64_t hours, minutes = 0;
    *ret_s = 0;
    if (text->len == 0 || take_char(text, 'Z')) {
        return true;
    }
    if (myr_str_eq(*text, MYR_STR(" UTC")) || myr_str_eq(*text, MYR_STR(" GMT"))) {
        text->len = 0;
        return true;
    }
    (void)take_char(text, ' ');
    bool minus = take_char(text, '-');
    if ((!minus && !take_char(text, '+')) || !take_digits(text, 2, &hours)) {
        return false;
    }
    (void)take_char(text, ':');
    /* Hours alone are an offset too. */
    if (text->len && !take_digits(text, 2, &minutes)) {
        return false;
    }
    *ret_s = (hours * 3600 + minutes * 60) * (minus ? -1 : 1);
    /* No place on earth is farther from UTC than 14 hours. */
    return hours < 15 && minutes < 60;
}

/* ISO's order: year, month, day, and the clock behind a T or a blank. */
static bool time_stamp(struct myr_str text, int64_t *ret_s)
{
    int64_t year, month, day, clock_s, offset_s;
    if (!take_digits(&text, 4, &year) || !(take_char(&text, '-') || take_char(&text, '/')) ||
        !take_digits(&text, 2, &month) || !(take_char(&text, '-') || take_char(&text, '/')) ||
        !take_digits(&text, 2, &day) || !(take_char(&text, 'T') || take_char(&text, ' ')) ||
        !take_clock(&text, &clock_s) || !take_offset(&text, &offset_s) || text.len) {
        return false;
    }
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_in(year, month)) {
        return false;
    }
    *ret_s = days_of(year, month, day) * DAY_S + clock_s - offset_s;
    return true;
}

/* The whole field; a fraction is dropped. */
static bool seconds(struct myr_str text, int64_t *ret_s)
{
    /* 13 digits fit; what is larger is no time. */
    return take_digits(&text, 13, ret_s) && drop_fraction(&text) && text.len == 0 &&
           *ret_s <= TIME_MAX_S;
}

bool joblog_time(struct myr_str text, int64_t *ret_s)
{
    return seconds(text, ret_s) || time_stamp(text, ret_s);
}

bool joblog_length(struct myr_str text, int64_t *ret_s)
{
    int64_t parts[3] = {}, days = 0;
    uint32_t count = 0;
    if (seconds(text, ret_s)) {
        return *ret_s <= JOBLOG_LENGTH_MAX_S;
    }
    /* Without a dash there are no days, and the first number is of hours or minutes. */
    if (memchr(text.data ? text.data : "", '-', text.len) &&
        (!take_digits(&text, 7, &days) || !take_char(&text, '-'))) {
        return false;
    }
    /* Minutes and seconds, or with hours before them: the first may be larger than a clock's. */
    do {
        if (count == 3 || !take_digits(&text, 7, &parts[count++])) {
            return false;
        }
    } while (take_char(&text, ':'));
    bool clock = count >= 2 && parts[1] < 60 && parts[2] < 60;
    if (!clock || !drop_fraction(&text) || text.len) {
        return false;
    }
    *ret_s = count == 3 ? parts[0] * 3600 + parts[1] * 60 + parts[2] : parts[0] * 60 + parts[1];
    *ret_s += days * DAY_S;
    return *ret_s <= JOBLOG_LENGTH_MAX_S;
}

bool joblog_count(struct myr_str text, int64_t *ret)
{
    if (!take_digits(&text, 13, ret)) {
        return false;
    }
    bool part = false;
    if (take_char(&text, '.')) {
        for (; text.len && text.data[0] >= '0' && text.data[0] <= '9'; text.data++, text.len--) {
            part = part || text.data[0] != '0';
        }
    }
    /* 2.5 GPUs of a job are no number of them; 0.5 is a share of one. */
    if (part && *ret > 0) {
        return false;
    }
    *ret += part; /* a share of one holds it as a whole */
    return text.len == 0;
}

/* "gres/gpu=4" or, without a total, the kinds: "gres/gpu:a100=2,gres/gpu:h100=2". */
bool joblog_tres_gpus(struct myr_str text, int64_t *ret)
{
    const int64_t most = INT64_C(1) << 40;
    int64_t total = 0, kinds = 0;
    bool has_total = false;
    while (text.len) {
        struct myr_str item = text, name;
        const char *comma = memchr(text.data, ',', text.len);
        item.len = comma ? (size_t)(comma - text.data) : text.len;
        text.data += item.len + (comma ? 1 : 0);
        text.len -= item.len + (comma ? 1 : 0);
        /* Entries without a value say nothing about GPUs. */
        const char *equals = memchr(item.data, '=', item.len);
        if (!equals) {
            continue;
        }
        name = (struct myr_str){item.data, (size_t)(equals - item.data)};
        struct myr_str value = {equals + 1, item.len - name.len - 1};
        /* Sites list the total, the kinds, or both: then the kinds would count twice. */
        bool is_total = myr_str_eq(name, MYR_STR("gres/gpu"));
        bool is_kind = name.len > 9 && memcmp(name.data, "gres/gpu:", 9) == 0;
        int64_t count = 0;
        if ((is_total || is_kind) &&
            (!joblog_count(value, &count) || total + kinds + count > most)) {
            return false;
        }
        total += is_total ? count : 0;
        kinds += is_kind ? count : 0;
        has_total = has_total || is_total;
    }
    *ret = has_total ? total : kinds;
    return true;
}
