/* Protobuf as the tests of words write it, field by field. Include it after cmocka. */
#pragma once

#include "myriad/base.h"

static inline struct myr_str text_of(const struct myr_buf *buf)
{
    return (struct myr_str){buf->len ? buf->data : "", buf->len};
}

static inline void put_number(struct myr_buf *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        myr_buf_putc(to, (char)(value | 0x80));
    }
    myr_buf_putc(to, (char)value);
}

static inline void put_value(struct myr_buf *to, uint32_t field, uint64_t value)
{
    put_number(to, field << 3);
    put_number(to, value);
}

static inline void put_text(struct myr_buf *to, uint32_t field, struct myr_str text)
{
    put_number(to, field << 3 | 2);
    put_number(to, text.len);
    myr_buf_put(to, text.data, text.len);
}

static inline void put_words(struct myr_buf *to, uint32_t field, const char *text)
{
    put_text(to, field, myr_str_from(text));
}

/* The message is in its place, and empty again. */
static inline void put_in(struct myr_buf *to, uint32_t field, struct myr_buf *message)
{
    put_text(to, field, text_of(message));
    myr_buf_clear(message);
}

static inline void put_pair(struct myr_buf *to, uint32_t field, const char *key, const char *value)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf pair = {};
    put_words(&pair, 1, key);
    put_words(&pair, 2, value);
    put_in(to, field, &pair);
}

static inline void put_amount(struct myr_buf *to, uint32_t field, const char *key,
                              const char *value)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf pair = {}, amount = {};
    put_words(&amount, 1, value);
    put_words(&pair, 1, key);
    put_in(&pair, 2, &amount);
    put_in(to, field, &pair);
}
