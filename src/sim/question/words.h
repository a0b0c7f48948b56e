/* "kind:word,word,key=value": what workloads, faults and slow nodes are written in. */
#pragma once

#include "myriad/sim/words.h"

enum { SIM_WORDS_MAX = 24 }; /* behind the colon */

struct sim_words {
    const char *option; /* for complaints: "--workload" */
    struct myr_str kind;
    struct myr_str items[SIM_WORDS_MAX];
    uint32_t count;
};

MYR_MUST_USE int sim_words_split(const char *option, const char *text, struct sim_words *ret,
                                 struct myr_err *err);

/* The value of "key=..." among the words; false when it is absent. */
MYR_MUST_USE bool sim_words_keyed(const struct sim_words *words, const char *key,
                                  struct myr_str *ret);

/* Every word behind the first 'positional' ones must be a key of the list, once. */
MYR_MUST_USE int sim_words_check(const struct sim_words *words, uint32_t positional,
                                 const char *const *keys, size_t key_count, struct myr_err *err);

/* A size above 0 in this place. */
MYR_MUST_USE int sim_words_bytes(const struct sim_words *words, uint32_t index, uint64_t *ret,
                                 struct myr_err *err);
/* A whole number from 'least' to 'most' behind the key; untouched when it is absent. */
MYR_MUST_USE int sim_words_number(const struct sim_words *words, const char *key, uint64_t least,
                                  uint64_t most, uint64_t *value, struct myr_err *err);
/* A time behind the key; untouched when it is absent. */
MYR_MUST_USE int sim_words_time(const struct sim_words *words, const char *key, myr_ps *value,
                                struct myr_err *err);

/* How much of a word a complaint shows. */
static inline int sim_words_shown(struct myr_str text)
{
    return text.len > 40 ? 40 : (int)text.len;
}
