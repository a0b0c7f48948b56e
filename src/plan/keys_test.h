/* Specs that are drawn key by key, for tests that keep what is planned of them. */
#pragma once

#include "myriad/base.h"

static inline bool keys_maybe(struct myr_rng *rng, uint32_t percent)
{
    return myr_rng_below(rng, 100) < percent;
}

/* One of the words that bars divide. */
static inline struct myr_str keys_word(struct myr_rng *rng, const char *words)
{
    uint32_t count = 1;
    for (const char *at = words; *at; at++) {
        count += *at == '|';
    }
    for (uint32_t chosen = myr_rng_below(rng, count); chosen > 0; words++) {
        chosen -= *words == '|';
    }
    return (struct myr_str){words, strcspn(words, "|")};
}

/* A key with one of these values, so often of a hundred. */
struct key {
    uint32_t percent;
    const char *key, *words;
};

static inline void keys_draw(struct myr_rng *rng, const struct key *keys, size_t count,
                             struct myr_buf *spec)
{
    for (size_t i = 0; i < count; i++) {
        if (keys_maybe(rng, keys[i].percent)) {
            struct myr_str value = keys_word(rng, keys[i].words);
            bool first = spec->len == 0 || spec->data[spec->len - 1] == '{';
            const char *comma = first ? "" : ", ";
            myr_buf_printf(spec, "%s%s: %.*s", comma, keys[i].key, (int)value.len, value.data);
        }
    }
}

#define DRAW_KEYS(rng, spec, ...)                       \
    keys_draw((rng), (const struct key[]){__VA_ARGS__}, \
              MYR_ARRAY_COUNT(((const struct key[]){__VA_ARGS__})), (spec))
