/* units: sizes and times as people write them. */
#include "myriad/sim/words.h"

struct unit {
    const char *name;
    uint64_t factor; /* bytes or picoseconds in one of it */
};

/* A number with a unit behind it; the whole text must be used. */
static bool parse_unit(struct myr_str text, const struct unit *units, size_t count, double *ret)
{
    size_t digits = 0;
    /* No sign and no exponent: what is left behind the digits must be a unit. */
    while (digits < text.len &&
           ((text.data[digits] >= '0' && text.data[digits] <= '9') || text.data[digits] == '.')) {
        digits++;
    }
    double value;
    if (!myr_str_to_double((struct myr_str){text.data, digits}, &value)) {
        return false;
    }
    struct myr_str rest = {text.data + digits, text.len - digits};
    for (size_t i = 0; i < count; i++) {
        if (myr_str_eq_nocase(rest, myr_str_from(units[i].name))) {
            *ret = value * (double)units[i].factor;
            /* Below the end of 63 bits, so that the rounded value fits into either type. */
            return *ret < 9e18;
        }
    }
    return false;
}

/* "1Mb" is a megabit to whoever minds the case: refused, as 1mb and 1MB are not. */
static bool means_bits(struct myr_str text)
{
    static const char prefixes[] = {'K', 'M', 'G', 'T'};
    return text.len >= 2 && text.data[text.len - 1] == 'b' &&
           memchr(prefixes, text.data[text.len - 2], sizeof(prefixes));
}

/* MB is a million bytes, MiB a binary one; upper and lower case are the same. */
bool myr_sim_parse_bytes(struct myr_str text, uint64_t *ret)
{
    static const struct unit units[] = {
        {"", 1},          {"B", 1},           {"KB", 1000},
        {"MB", 1000000},  {"GB", 1000000000}, {"TB", 1000000000000},
        {"K", 1000},      {"M", 1000000},     {"G", 1000000000},
        {"KiB", 1 << 10}, {"MiB", 1 << 20},   {"GiB", 1 << 30},
    };
    double value;
    if (means_bits(text) || !parse_unit(text, units, MYR_ARRAY_COUNT(units), &value)) {
        return false;
    }
    /* "1.5KB" is a number of bytes, half a byte is none; a little is for what doubles lose. */
    uint64_t bytes = (uint64_t)(value + 0.5);
    double apart = value > (double)bytes ? value - (double)bytes : (double)bytes - value;
    if (apart > 1e-6 + value * 4e-16) {
        return false;
    }
    *ret = bytes;
    return true;
}

/* A time without a unit is refused: nobody could tell which was meant. */
bool myr_sim_parse_time(struct myr_str text, myr_ps *ret)
{
    static const struct unit units[] = {
        {"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000},
    };
    double value;
    if (!parse_unit(text, units, MYR_ARRAY_COUNT(units), &value)) {
        return false;
    }
    *ret = (myr_ps)(value + 0.5);
    return true;
}
