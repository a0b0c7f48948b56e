/*
 * Numbers as spreadsheets write them. What can be read in two ways is refused rather than guessed
 * at.
 */
#include "audit/audit.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes the prefix away where the text begins with it. */
static bool skip(struct myr_str *text, const char *prefix)
{
    size_t len = strlen(prefix);
    if (text->len < len || memcmp(text->data, prefix, len) != 0) {
        return false;
    }
    text->data += len;
    text->len -= len;
    return true;
}

/* As skip(), at the other end. */
static bool drop_end(struct myr_str *text, const char *suffix)
{
    size_t len = strlen(suffix);
    if (text->len < len || memcmp(text->data + text->len - len, suffix, len) != 0) {
        return false;
    }
    text->len -= len;
    return true;
}

/* Until nothing changes: blanks of several kinds may follow each other. */
struct myr_str audit_trim(struct myr_str text)
{
    /* The last two are the no-break space and the ideographic one. */
    static const char *const blanks[] = {" ", "\t", "\r", "\n", "\xC2\xA0", "\xE3\x80\x80"};
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < MYR_ARRAY_COUNT(blanks); i++) {
            more = skip(&text, blanks[i]) || drop_end(&text, blanks[i]) || more;
        }
    }
    return text;
}

/* Before or behind the number, or both. */
static struct myr_str without_currency(struct myr_str text)
{
    /*
     * Yen or yuan sign, the same in full width, dollar, euro; behind a number also the character
     * for yuan.
     */
    static const char *const before[] = {"\xC2\xA5", "\xEF\xBF\xA5", "$",   "\xE2\x82\xAC",
                                         "CNY",      "RMB",          "USD", "EUR"};
    static const char *const after[] = {"\xE5\x85\x83", "CNY", "RMB", "USD", "EUR"};
    text = audit_trim(text);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(before); i++) {
        (void)skip(&text, before[i]);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(after); i++) {
        (void)drop_end(&text, after[i]);
    }
    return audit_trim(text);
}

/*
 * Groups of three behind a comma ("48, 681, 100"), a point before decimals. "1,5" and "1.234,56"
 * are refused: who writes them may mean one and a half or fifteen.
 */
bool audit_number(struct myr_str text, double *ret)
{
    char plain[40];
    size_t len = 0, group = 0;
    bool grouped = false, point = false;
    text = without_currency(text);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (len + 1 >= sizeof(plain)) {
            return false;
        }
        if (is_digit(c)) {
            plain[len++] = c;
            group++;
            /* The first group may be short, every later one has three digits. */
        } else if (c == ',' && !point && len > 0 && (grouped ? group == 3 : group <= 3)) {
            grouped = true;
            group = 0;
            while (i + 1 < text.len && text.data[i + 1] == ' ') {
                i++;
            }
        } else if (c == '.' && !point && len > 0 && (!grouped || group == 3)) {
            point = true;
            plain[len++] = c;
        } else {
            return false;
        }
    }
    /* Nothing, a last group that is short, or a point without decimals. */
    if (len == 0 || (grouped && !point && group != 3) || plain[len - 1] == '.') {
        return false;
    }
    return myr_str_to_double((struct myr_str){plain, len}, ret) && *ret < 1e15;
}

/* A number right before "m" or the Chinese metre, which is no part of a longer word. */
double audit_told_length(struct myr_str text)
{
    double found = 0;
    /* Where several are told the last one counts. */
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.data[i]) ||
            (i > 0 && (is_digit(text.data[i - 1]) || text.data[i - 1] == '.'))) {
            continue;
        }
        size_t end = i;
        while (end < text.len && (is_digit(text.data[end]) || text.data[end] == '.')) {
            end++;
        }
        struct myr_str number = {text.data + i, end - i};
        struct myr_str rest = audit_trim((struct myr_str){text.data + end, text.len - end});
        bool metre = skip(&rest, "\xE7\xB1\xB3");
        if (!metre && (skip(&rest, "m") || skip(&rest, "M"))) {
            char next = rest.len ? rest.data[0] : ' ';
            metre =
                !((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || is_digit(next));
        }
        double value;
        if (metre && myr_str_to_double(number, &value) && value > 0 && value < 100000) {
            found = value;
        }
    }
    return found;
}

/* Only 'M' is mega: a small one would be milli. */
bool audit_watts(struct myr_str text, double *ret)
{
    double factor = 1;
    text = audit_trim(text);
    if (text.len > 0 && (text.data[text.len - 1] == 'W' || text.data[text.len - 1] == 'w')) {
        text.len--;
        char prefix = text.len ? text.data[text.len - 1] : ' ';
        factor = prefix == 'k' || prefix == 'K' ? 1e3 : prefix == 'M' ? 1e6 : 1;
        text.len -= factor > 1;
    }
    double value;
    if (!audit_number(text, &value)) {
        return false;
    }
    *ret = value * factor;
    return true;
}
