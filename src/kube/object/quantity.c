/* quantity: the small texts of API objects: amounts, times, names. */
#include "kube.h"

bool kube_is_name(struct myr_str text)
{
    static const bool plain[256] = {
        ['-'] = true, ['.'] = true, ['0' ... '9'] = true, ['a' ... 'z'] = true};
    /* The longest name that the API takes. */
    bool ok = text.len > 0 && text.len <= 253;
    for (size_t i = 0; i < text.len && ok; i++) {
        ok = plain[(unsigned char)text.data[i]];
    }
    /* Those two are lower than all digits, and not at either end. */
    return ok && text.data[0] >= '0' && text.data[text.len - 1] >= '0';
}

/* The factor of a suffix in thousandths, as numerator and power of ten below it. */
static bool suffix_of(struct myr_str text, __int128 *ret_milli, uint32_t *ret_divisor)
{
    static const struct {
        const char *name;
        int64_t factor;
        uint32_t divisor;
    } suffixes[] = {
        {"", 1, 1},
        {"n", 1, 1000000000},
        {"u", 1, 1000000},
        {"m", 1, 1000},
        {"k", 1000, 1},
        {"M", 1000000, 1},
        {"G", 1000000000, 1},
        {"T", 1000000000000, 1},
        {"P", 1000000000000000, 1},
        {"E", 1000000000000000000, 1},
        {"Ki", 1LL << 10, 1},
        {"Mi", 1LL << 20, 1},
        {"Gi", 1LL << 30, 1},
        {"Ti", 1LL << 40, 1},
        {"Pi", 1LL << 50, 1},
        {"Ei", 1LL << 60, 1},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(suffixes); i++) {
        if (myr_str_eq(text, myr_str_from(suffixes[i].name))) {
            *ret_milli = (__int128)suffixes[i].factor * 1000;
            *ret_divisor = suffixes[i].divisor;
            return true;
        }
    }
    /* "1e3", "5E-1" */
    int64_t power;
    size_t sign = 1 + (text.len > 2 && text.data[1] == '+' && text.data[2] != '-');
    if (text.len < 2 || (text.data[0] != 'e' && text.data[0] != 'E') ||
        !myr_str_to_i64((struct myr_str){text.data + sign, text.len - sign}, &power) ||
        power > 18 || power < -9) {
        return false;
    }
    *ret_milli = 1000;
    *ret_divisor = 1;
    for (; power > 0; power--) {
        *ret_milli *= 10;
    }
    for (; power < 0; power++) {
        *ret_divisor *= 10;
    }
    return true;
}

/*
 * Digits are read into 128 bits and held at a bound there: no sum on the way can overflow, and what
 * is held at it is beyond every amount that a node has.
 */
bool kube_quantity(struct myr_str text, int64_t *ret_milli)
{
    const __int128 most = (__int128)1 << 80;
    __int128 value = 0, factor;
    uint64_t below = 1; /* ten to the number of digits behind the point */
    uint32_t divisor;
    size_t at = text.len && text.data[0] == '+', digits = 0;
    bool point = false, finer = false;
    for (; at < text.len; at++) {
        char c = text.data[at];
        if (c == '.' && !point) {
            point = true;
        } else if (c >= '0' && c <= '9') {
            digits++;
            if (point && below >= 1000000000) {
                finer |= c != '0'; /* it only rounds up */
            } else {
                value = value < most / 16 ? value * 10 + (c - '0') : most / 16;
                below *= point ? 10 : 1;
            }
        } else {
            break;
        }
    }
    if (!digits || !suffix_of((struct myr_str){text.data + at, text.len - at}, &factor, &divisor)) {
        return false;
    }
    if (value != 0 && factor > (((__int128)1 << 126) / value)) {
        *ret_milli = INT64_MAX;
        return true;
    }
    /* Rounded up: who asks for less than a thousandth asks for one. */
    __int128 under = (__int128)below * divisor;
    MYR_ASSERT(under > 0 && value >= 0 && value <= most);
    __int128 milli = (value * factor + under - 1 + finer) / under;
    *ret_milli = milli > INT64_MAX ? INT64_MAX : (int64_t)milli;
    return true;
}

/* Days since 1970 of a day in the calendar in use. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    /*
     * A year begins in March here: the leap day is its last one, and months before it have fixed
     * lengths. 400 years have 146,097 days; 719,468 lie between the 1st of March of year 0 and
     * 1970.
     */
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    MYR_ASSERT(of_era >= 0 && of_era < 400);
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/*
 * What stands behind the seconds (a fraction, the zone) is not looked at: an API server writes UTC,
 * and nothing here needs less than a second. A leap second is taken.
 */
bool kube_time(struct myr_str text, int64_t *ret_ms)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    int64_t parts[6] = {};
    uint32_t part = 0;
    if (text.len < sizeof(form)) {
        return false;
    }
    for (size_t i = 0; i + 1 < sizeof(form); i++) {
        char c = text.data[i];
        if (form[i] != 'd') {
            part++;
        }
        if (form[i] == 'd' ? c < '0' || c > '9' : c != form[i]) {
            return false;
        }
        parts[part] = form[i] == 'd' ? parts[part] * 10 + (c - '0') : 0;
        MYR_ASSERT(part < MYR_ARRAY_COUNT(parts));
    }
    if (parts[1] < 1 || parts[1] > 12 || parts[2] < 1 || parts[2] > 31 || parts[3] > 23 ||
        parts[4] > 59 || parts[5] > 60) {
        return false;
    }
    *ret_ms = ((days_of(parts[0], parts[1], parts[2]) * 24 + parts[3]) * 60 + parts[4]) * 60000 +
              parts[5] * 1000;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* How far both are the same; not into a number. Names of a gang's pods differ in their ends. */
static size_t same_until(struct myr_str a, struct myr_str b)
{
    size_t at = 0, most = a.len < b.len ? a.len : b.len;
    while (most - at >= sizeof(uint64_t) &&
           memcmp(a.data + at, b.data + at, sizeof(uint64_t)) == 0) {
        at += sizeof(uint64_t);
    }
    while (at < most && a.data[at] == b.data[at]) {
        at++;
    }
    /* Back to where the number begins: 12 and 13 differ as numbers, not in their second digit. */
    while (at > 0 && is_digit(a.data[at - 1])) {
        at--;
    }
    return at;
}

int kube_natural(struct myr_str a, struct myr_str b)
{
    size_t i = same_until(a, b), k = i;
    while (i < a.len && k < b.len) {
        if (!is_digit(a.data[i]) || !is_digit(b.data[k])) {
            if (a.data[i] != b.data[k]) {
                return (unsigned char)a.data[i] < (unsigned char)b.data[k] ? -1 : 1;
            }
            i++;
            k++;
            continue;
        }
        /* Without zeros in front the longer number is the larger one, of whatever length. */
        while (i < a.len && a.data[i] == '0') {
            i++;
        }
        while (k < b.len && b.data[k] == '0') {
            k++;
        }
        size_t from_a = i, from_b = k;
        while (i < a.len && is_digit(a.data[i])) {
            i++;
        }
        while (k < b.len && is_digit(b.data[k])) {
            k++;
        }
        if (i - from_a != k - from_b) {
            return i - from_a < k - from_b ? -1 : 1;
        }
        int order = i > from_a ? memcmp(a.data + from_a, b.data + from_b, i - from_a) : 0;
        if (order) {
            return order;
        }
    }
    /* 01 and 1 are two names: the rest, and at last the bytes, decide. */
    return i < a.len ? 1 : k < b.len ? -1 : myr_str_cmp(a, b);
}
