/*
 * amount: how many and how long, as people say it: "1 node", "1,280 nodes", "24 min 38 s".
 *
 * Where a sentence needs one, MYR_COUNT and MYR_DURATION bring the memory along; it lasts as long
 * as the block that they stand in.
 */
#pragma once

#include "myriad/base.h"

enum { MYR_AMOUNT_BYTES = 64 };

/* 'word' is of one of them, such as "GPU" or "leaf", and no longer than 32 bytes. */
const char *myr_text_count(uint64_t count, const char *word, char ret[MYR_AMOUNT_BYTES]);
/*
 * The two largest units that say something, the rest cut off: "0 s", "42 s", "24 min 38 s", "3 h",
 * "1 day 2 h". A time that lies ahead (negative) is no duration and counts as none.
 */
const char *myr_text_duration(int64_t seconds, char ret[MYR_AMOUNT_BYTES]);

#define MYR_COUNT(count, word) myr_text_count((count), (word), (char[MYR_AMOUNT_BYTES]){})
#define MYR_DURATION(seconds)  myr_text_duration((seconds), (char[MYR_AMOUNT_BYTES]){})
