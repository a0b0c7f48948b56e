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

const char *myr_text_number(double value, uint32_t digits, char ret[MYR_AMOUNT_BYTES])
{
    char plain[MYR_AMOUNT_BYTES], grouped[32];
    uint64_t whole;
    if (!(value > -1e15 && value < 1e15)) {
        snprintf(ret, MYR_AMOUNT_BYTES, "%.4g", value);
        return ret;
    }
    /* Rounded once, as a whole: 999.96 with one digit is 1,000.0. */
    snprintf(plain, sizeof(plain), "%.*f", digits < 12 ? (int)digits : 12, value);
    size_t sign = plain[0] == '-', len = strspn(plain + sign, "0123456789");
    bool read = myr_str_to_u64((struct myr_str){plain + sign, len}, &whole);
    MYR_ASSERT(read);
    snprintf(ret, MYR_AMOUNT_BYTES, "%s%s%.16s", sign ? "-" : "", myr_u64_grouped(whole, grouped),
             plain + sign + len);
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

/* The number alone; 'ret' has room for what a double below 1e18 needs. */
static void write_number(double amount, const struct myr_unit *unit, char ret[MYR_AMOUNT_BYTES])
{
    double count = amount / unit->size;
    char grouped[32];
    if (unit->how == MYR_UNIT_GROUPED && count >= 0 && count < 1e18) {
        snprintf(ret, MYR_AMOUNT_BYTES, "%s", myr_u64_grouped((uint64_t)(count + 0.5), grouped));
    } else if (unit->how == MYR_UNIT_SIGNIFICANT || count >= 1e18 || count <= -1e18) {
        snprintf(ret, MYR_AMOUNT_BYTES, "%.*g", unit->digits ? (int)unit->digits : 4, count);
    } else {
        snprintf(ret, MYR_AMOUNT_BYTES, "%.*f", (int)unit->digits, count);
    }
}

/* What was written, read again: no second rule of rounding that could differ. */
static bool reaches_border(double amount, const struct myr_unit *unit)
{
    struct myr_unit plain = *unit;
    char text[MYR_AMOUNT_BYTES];
    double written = 0;
    plain.how = unit->how == MYR_UNIT_GROUPED ? MYR_UNIT_BEHIND : unit->how;
    write_number(amount, &plain, text);
    return !myr_str_to_double(myr_str_from(text), &written) || written >= unit->below;
}

size_t myr_text_unit(double amount, const struct myr_unit *units, size_t count)
{
    size_t unit = 0;
    amount = amount < 0 ? -amount : amount;
    while (unit + 1 < count && reaches_border(amount, &units[unit])) {
        unit++;
    }
    return unit;
}

const char *myr_text_in_unit(double amount, const struct myr_unit *units, size_t count,
                             char ret[MYR_AMOUNT_BYTES])
{
    const struct myr_unit *unit = &units[myr_text_unit(amount, units, count)];
    write_number(amount, unit, ret);
    size_t len = strlen(ret);
    snprintf(ret + len, MYR_AMOUNT_BYTES - len, " %.16s", unit->name);
    return ret;
}
