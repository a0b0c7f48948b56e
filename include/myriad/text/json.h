/*
 * json: a streaming writer into a buffer. Keys come out in the order of the calls; numbers are
 * written the same way on every machine. Nesting is checked: ending what was not begun is a bug.
 *
 *     struct myr_json json;
 *     myr_json_init(&json, &buf, MYR_JSON_PRETTY);
 *     myr_json_object(&json, NULL);
 *     myr_json_u64(&json, "servers", 64);
 *     myr_json_end(&json);
 *
 * 'key' is NULL inside a list and at the top. PRETTY is one item a line, indented by two spaces;
 * the line end after the whole is the caller's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

#define MYR_JSON_DEPTH_MAX 32

enum myr_json_style { MYR_JSON_COMPACT, MYR_JSON_PRETTY };

struct myr_json {
    struct myr_buf *buf;
    enum myr_json_style style;
    uint32_t depth;
    bool is_list[MYR_JSON_DEPTH_MAX];
    bool has_items[MYR_JSON_DEPTH_MAX];
};

void myr_json_init(struct myr_json *json, struct myr_buf *buf, enum myr_json_style style);
void myr_json_object(struct myr_json *json, const char *key);
void myr_json_list(struct myr_json *json, const char *key);
void myr_json_end(struct myr_json *json);

void myr_json_str(struct myr_json *json, const char *key, struct myr_str value);
void myr_json_text(struct myr_json *json, const char *key, const char *value); /* NULL: null */
void myr_json_u64(struct myr_json *json, const char *key, uint64_t value);
void myr_json_i64(struct myr_json *json, const char *key, int64_t value);
/*
 * The shortest text that reads back as the same value, but at most 'digits' (0 to 17) after the
 * point. No exponent below 1e15. NaN and infinity are bugs.
 */
void myr_json_double(struct myr_json *json, const char *key, double value, int digits);
void myr_json_bool(struct myr_json *json, const char *key, bool value);
void myr_json_null(struct myr_json *json, const char *key);
/* A value that is JSON already. */
void myr_json_raw(struct myr_json *json, const char *key, struct myr_str value);

/* The value as a JSON string with quotes; bytes that are not UTF-8 become U+FFFD. */
void myr_json_quote(struct myr_buf *buf, struct myr_str value);
/* The number as myr_json_double() writes it. */
void myr_json_number(struct myr_buf *buf, double value, int digits);
