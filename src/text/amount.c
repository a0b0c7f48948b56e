#include "myriad/text/amount.h"

#include <stdio.h>

/* Enough English for the words that are used: leaf, switch, retry and the regular ones. */
const char *myr_text_count(uint64_t count, const char *word, char ret[MYR_AMOUNT_BYTES])
{
    char number[32];
    size_t len = strlen(word);
    MYR_ASSERT(len >= 2 && len <= 32);
    char last = word[len - 1], before = word[len - 2];
    bool leaf = last == 'f', retry = last == 'y' && !strchr("aeiou", before);
    bool hisses = last == 's' || last == 'x' || (last == 'h' && (before == 'c' || before == 's'));
    const char *ending = leaf ? "ves" : retry ? "ies" : hisses ? "es" : "s";
    size_t stem = leaf || retry ? len - 1 : len;
    snprintf(ret, MYR_AMOUNT_BYTES, "%s %.*s%s", myr_u64_grouped(count, number),
             (int)(count == 1 ? len : stem), word, count == 1 ? "" : ending);
    return ret;
}

const char *myr_text_duration(int64_t seconds, char ret[MYR_AMOUNT_BYTES])
{
    static const struct {
        int64_t seconds;
        const char *one, *many;
    } units[] = {{86400, "day", "days"}, {3600, "h", "h"}, {60, "min", "min"}, {1, "s", "s"}};
    const size_t last = MYR_ARRAY_COUNT(units) - 1;
    size_t unit = 0;
    seconds = seconds > 0 ? seconds : 0;
    while (unit < last && seconds < units[unit].seconds) {
        unit++;
    }
    int64_t count = seconds / units[unit].seconds, rest = seconds % units[unit].seconds;
    int64_t less = unit < last ? rest / units[unit + 1].seconds : 0;
    int at = snprintf(ret, MYR_AMOUNT_BYTES, "%lld %s", (long long)count,
                      count == 1 ? units[unit].one : units[unit].many);
    if (less > 0) {
        at += snprintf(ret + at, (size_t)(MYR_AMOUNT_BYTES - at), " %lld %s", (long long)less,
                       units[unit + 1].many);
    }
    MYR_ASSERT(at > 0 && at < MYR_AMOUNT_BYTES);
    return ret;
}
