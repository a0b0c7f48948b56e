/*
 * json: writes JSON piece by piece into a buffer. The caller opens and ends objects and lists;
 * commas, line ends and quotes come from here.
 */
#include "myriad/text/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "letter/utf8.h"

/*
 * Numbers must come out the same with every C library. Both conversions used here, "%.*f" and
 * "%.*g", are exactly rounded in glibc and musl, and the locale is never set.
 */

/* From here on a double has no decimals worth writing, and positional digits would be invented. */
static const double POSITIONAL_LIMIT = 1e15;

/* Every double survives 17 digits, and every decimal of up to 15 survives a double. */
enum { NUMBER_BYTES_MAX = 64, DIGITS_MAX = 17, EXACT_DIGITS = 15 };

void myr_json_init(struct myr_json *json, struct myr_buf *buf, enum myr_json_style style)
{
    *json = (struct myr_json){.buf = buf, .style = style};
}

/* JSON also has \b and \f; the general form does for characters that nobody writes. */
static void put_escape(struct myr_buf *buf, uint32_t code)
{
    switch (code) {
    case '"':
        myr_buf_put_lit(buf, "\\\"");
        return;
    case '\\':
        myr_buf_put_lit(buf, "\\\\");
        return;
    case '\n':
        myr_buf_put_lit(buf, "\\n");
        return;
    case '\r':
        myr_buf_put_lit(buf, "\\r");
        return;
    case '\t':
        myr_buf_put_lit(buf, "\\t");
        return;
    default:
        myr_buf_printf(buf, "\\u%04x", code);
    }
}

/* What stands for itself. */
static const bool is_plain[256] = {
    [0x20 ... '"' - 1] = true, ['"' + 1 ... '\\' - 1] = true, ['\\' + 1 ... 0x7E] = true};

/* 'written' is how far the text has been copied; what lies behind it is still to come. */
void myr_json_quote(struct myr_buf *buf, struct myr_str value)
{
    /* Whole stretches between escapes are copied at once: most text has none. */
    size_t written = 0, plain = 0;
    while (plain < value.len && is_plain[(unsigned char)value.data[plain]]) {
        plain++;
    }
    if (plain == value.len) { /* all keys, and most values */
        myr_buf_reserve(buf, plain + 2);
        char *at = buf->data + buf->len;
        at[0] = '"';
        myr_str_put(value, at + 1);
        at[plain + 1] = '"';
        buf->len += plain + 2;
        buf->data[buf->len] = '\0';
        return;
    }
    myr_buf_putc(buf, '"');
    for (size_t at = plain; at < value.len;) {
        size_t start = at;
        unsigned char c = (unsigned char)value.data[at];
        if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') { /* nearly all of them */
            at++;
            continue;
        }
        uint32_t code = utf8_next(value, &at);
        /* Hidden characters are escaped beyond what JSON asks, so that YAML takes the text too. */
        if (code != '"' && code != '\\' && !utf8_is_hidden(code)) {
            continue;
        }
        myr_buf_put(buf, value.data + written, start - written);
        written = at;
        put_escape(buf, code == UTF8_BAD ? 0xFFFD : code);
    }
    if (value.len > written) {
        myr_buf_put(buf, value.data + written, value.len - written);
    }
    myr_buf_putc(buf, '"');
}

/* Compact text has no line ends at all. */
static void new_line(struct myr_json *json)
{
    if (json->style == MYR_JSON_PRETTY) {
        myr_buf_putc(json->buf, '\n');
        for (uint32_t i = 0; i < json->depth; i++) {
            myr_buf_put_lit(json->buf, "  ");
        }
    }
}

/* What stands in front of any value: comma, line, key. */
static void begin_value(struct myr_json *json, const char *key)
{
    /* Values of an object have a key, items of a list and the outermost value have none. */
    bool in_object = json->depth > 0 && !json->is_list[json->depth - 1];
    MYR_ASSERT(in_object == (key != NULL));
    if (json->depth == 0) {
        return;
    }
    if (json->has_items[json->depth - 1]) {
        myr_buf_putc(json->buf, ',');
    }
    json->has_items[json->depth - 1] = true;
    new_line(json);
    if (key) {
        myr_json_quote(json->buf, myr_str_from(key));
        myr_buf_putc(json->buf, ':');
        if (json->style == MYR_JSON_PRETTY) {
            myr_buf_putc(json->buf, ' ');
        }
    }
}

/* Nesting is as deep as the code that writes, hence an assertion and no error. */
static void begin_container(struct myr_json *json, const char *key, bool is_list)
{
    begin_value(json, key);
    MYR_ASSERT(json->depth < MYR_JSON_DEPTH_MAX);
    json->is_list[json->depth] = is_list;
    json->has_items[json->depth] = false;
    json->depth++;
    myr_buf_putc(json->buf, is_list ? '[' : '{');
}

void myr_json_object(struct myr_json *json, const char *key)
{
    begin_container(json, key, false);
}

void myr_json_list(struct myr_json *json, const char *key)
{
    begin_container(json, key, true);
}

/* An empty one stays on its line: "[]". */
void myr_json_end(struct myr_json *json)
{
    MYR_ASSERT(json->depth > 0);
    json->depth--;
    if (json->has_items[json->depth]) {
        new_line(json);
    }
    myr_buf_putc(json->buf, json->is_list[json->depth] ? ']' : '}');
}

void myr_json_str(struct myr_json *json, const char *key, struct myr_str value)
{
    begin_value(json, key);
    myr_json_quote(json->buf, value);
}

void myr_json_text(struct myr_json *json, const char *key, const char *value)
{
    if (!value) {
        myr_json_null(json, key);
        return;
    }
    myr_json_str(json, key, myr_str_from(value));
}

void myr_json_u64(struct myr_json *json, const char *key, uint64_t value)
{
    begin_value(json, key);
    myr_buf_put_u64(json->buf, value);
}

void myr_json_i64(struct myr_json *json, const char *key, int64_t value)
{
    begin_value(json, key);
    myr_buf_put_i64(json->buf, value);
}

/* The shortest of the exponent forms that reads back as the same value. */
static void put_large(struct myr_buf *buf, double value)
{
    char text[NUMBER_BYTES_MAX];
    /* Seventeen digits always read back as the same value: the loop ends there at the latest. */
    for (int digits = EXACT_DIGITS; digits <= DIGITS_MAX; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    myr_buf_puts(buf, text);
}

/* "1.500" to "1.5", "2.000" to "2"; "100" stays. */
static size_t trim_zeros(char *text, size_t len)
{
    if (!memchr(text, '.', len)) {
        return len;
    }
    while (text[len - 1] == '0') {
        len--;
    }
    return text[len - 1] == '.' ? len - 1 : len;
}

/* Without a trailing point or zeros, without "-0", the same on every machine. */
void myr_json_number(struct myr_buf *buf, double value, int digits)
{
    MYR_ASSERT(isfinite(value));
    MYR_ASSERT(digits >= 0 && digits <= DIGITS_MAX);
    if (fabs(value) >= POSITIONAL_LIMIT) {
        put_large(buf, value);
        return;
    }
    char text[NUMBER_BYTES_MAX];
    int len = snprintf(text, sizeof(text), "%.*f", digits, value);
    MYR_ASSERT(len > 0 && (size_t)len < sizeof(text));
    /*
     * Up to 15 digits no two decimals share a double, so the trimmed text is the shortest already.
     * Beyond that the last digits may be noise, and fewer may do.
     */
    for (int fewer = 0; len > EXACT_DIGITS && fewer < digits; fewer++) {
        char shorter[NUMBER_BYTES_MAX];
        int shorter_len = snprintf(shorter, sizeof(shorter), "%.*f", fewer, value);
        if (strtod(shorter, NULL) == value) {
            memcpy(text, shorter, sizeof(text));
            len = shorter_len;
            break;
        }
    }
    /* A small negative value may round to "-0", which readers show as it is. */
    size_t end = trim_zeros(text, (size_t)len);
    bool minus_zero = end == 2 && text[0] == '-' && text[1] == '0';
    myr_buf_put(buf, text + minus_zero, end - minus_zero);
}

void myr_json_double(struct myr_json *json, const char *key, double value, int digits)
{
    begin_value(json, key);
    myr_json_number(json->buf, value, digits);
}

void myr_json_bool(struct myr_json *json, const char *key, bool value)
{
    begin_value(json, key);
    myr_buf_puts(json->buf, value ? "true" : "false");
}

void myr_json_null(struct myr_json *json, const char *key)
{
    begin_value(json, key);
    myr_buf_put_lit(json->buf, "null");
}

/* 'value' is JSON already: who calls vouches for it. */
void myr_json_raw(struct myr_json *json, const char *key, struct myr_str value)
{
    MYR_ASSERT(value.len > 0);
    begin_value(json, key);
    myr_buf_put(json->buf, value.data, value.len);
}
