/*
 * amount: how many and how long, as people say it: "1 node", "1,280 nodes", "24 min 38 s".
 *
 * Where a sentence needs one, MYR_COUNT and its neighbours bring the memory along; it lasts as
 * long as the block that they stand in.
 */
#pragma once

#include "myriad/base.h"

enum { MYR_AMOUNT_BYTES = 64 };

/* 'word' is of one of them, such as "GPU" or "leaf", and no longer than 32 bytes. */
const char *myr_text_count(uint64_t count, const char *word, char ret[MYR_AMOUNT_BYTES]);
/* "1,419.4": digits before the point in groups of three, so many behind it. */
const char *myr_text_number(double value, uint32_t digits, char ret[MYR_AMOUNT_BYTES]);
/*
 * The two largest units that say something, the rest cut off: "0 s", "42 s", "24 min 38 s", "3 h",
 * "1 day 2 h". A time that lies ahead (negative) is no duration and counts as none.
 */
const char *myr_text_duration(int64_t seconds, char ret[MYR_AMOUNT_BYTES]);

/*
 * How amounts with a fraction get their unit: the first one of a table, smallest first, in which
 * the amount as it is written stays below a border. What is written decides, and not what was
 * before rounding: 119.96 s are "2.0 min" where seconds end at 120, and never "120.0 s".
 */
enum myr_unit_digits {
    MYR_UNIT_BEHIND,      /* so many behind the point */
    MYR_UNIT_SIGNIFICANT, /* so many at all */
    MYR_UNIT_GROUPED      /* whole, in groups of three */
};
struct myr_unit {
    double size;  /* what one is worth */
    double below; /* the border, in this unit; of the last one it is not asked */
    uint32_t digits;
    enum myr_unit_digits how;
    const char *name;
};

/* Which of the units; negative amounts have that of their size. */
size_t myr_text_unit(double amount, const struct myr_unit *units, size_t count);
/* "119.9 s", "2.0 min". A name is no longer than 16 bytes. */
const char *myr_text_in_unit(double amount, const struct myr_unit *units, size_t count,
                             char ret[MYR_AMOUNT_BYTES]);

#define MYR_COUNT(count, word) myr_text_count((count), (word), (char[MYR_AMOUNT_BYTES]){})
/* "1,280": of a number that has no word, beside others that have. */
#define MYR_GROUPED(number)       myr_u64_grouped((number), (char[MYR_AMOUNT_BYTES]){})
#define MYR_NUMBER(value, digits) myr_text_number((value), (digits), (char[MYR_AMOUNT_BYTES]){})
#define MYR_DURATION(seconds)     myr_text_duration((seconds), (char[MYR_AMOUNT_BYTES]){})
