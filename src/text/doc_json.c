/*
 * A strict RFC 8259 reader. Our own, because libraries that decode JSON keep no place for a value,
 * and every complaint of ours names line and column.
 *
 * One loop and a word for what may come next, instead of functions that call each other: depth
 * costs no stack. The text is checked to be UTF-8 before, so bytes above 0x7F can be copied unseen.
 */
#include "doc_build.h"
#include "letter/utf8.h"

enum expected {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* after '[' */
    EXPECT_KEY,          /* after ',' in a map */
    EXPECT_KEY_OR_END,   /* after '{' */
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING,
};

struct reader {
    struct doc_build build;
    struct text_cursor cursor;
    struct myr_str text;
    size_t at; /* the next byte to read */
    enum expected expected;
    /* Only parts of it are wanted; then 'next' are those of the value that comes, NULL: all. */
    bool partly;
    const struct myr_doc_part *next;
    const struct myr_doc_part *parts[MYR_DOC_DEPTH_MAX]; /* of every open list or map */
};

MYR_PRINTF(4, 5)
static int fail(struct reader *reader, size_t offset, struct myr_err *err, const char *fmt, ...)
{
    /* The cursor may be past 'offset' (start of a string); errors are rare enough to count anew. */
    struct text_cursor cursor;
    text_cursor_init(&cursor, reader->text);
    va_list args;
    va_start(args, fmt);
    int rc = text_error_at_args(err, reader->build.file, text_cursor_move(&cursor, offset),
                                MYR_EINVAL, fmt, args);
    va_end(args);
    return rc;
}

/*
 * Where a value stands. Counting characters takes longer than reading the rest, and those who want
 * a part of a large text get it from a program, on one line.
 */
static struct text_place place_of(struct reader *reader, size_t offset)
{
    return reader->partly ? (struct text_place){1, (uint32_t)offset + 1}
                          : text_cursor_move(&reader->cursor, offset);
}

/* The byte at 'at', or NUL at the end (a NUL in the text is wrong everywhere, too). */
static char peek(const struct reader *reader)
{
    return reader->at < reader->text.len ? reader->text.data[reader->at] : '\0';
}

static void skip_blanks(struct reader *reader)
{
    char c = peek(reader);
    while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        reader->at++;
        c = peek(reader);
    }
}

/* "a value is expected, not 'x'"; the end of the text has no character to show. */
static int fail_found(struct reader *reader, struct myr_err *err, const char *wanted)
{
    if (reader->at == reader->text.len) {
        return fail(reader, reader->at, err, "the text ends where %s is expected", wanted);
    }
    size_t end = reader->at;
    uint32_t code = utf8_next(reader->text, &end);
    if (utf8_is_hidden(code)) {
        return fail(reader, reader->at, err, "%s is expected, not the control character 0x%02x",
                    wanted, code);
    }
    return fail(reader, reader->at, err, "%s is expected, not '%.*s'", wanted,
                (int)(end - reader->at), reader->text.data + reader->at);
}

/* Either case, as RFC 8259 allows; stops on the first that is no digit. */
static bool read_hex4(struct reader *reader, uint32_t *ret)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = peek(reader);
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit == 16) {
            return false;
        }
        value = value * 16 + digit;
        reader->at++;
    }
    *ret = value;
    return true;
}

/* After "\u": one character, from one escape or from a pair of surrogates. */
static int read_unicode(struct reader *reader, size_t start, uint32_t *ret, struct myr_err *err)
{
    uint32_t code;
    if (!read_hex4(reader, &code)) {
        return fail(reader, start, err, "'\\u' needs four hexadecimal digits");
    }
    /* JSON escapes are UTF-16: what is above U+FFFF comes as two, the high half first. */
    if (code >= 0xD800 && code <= 0xDBFF) {
        uint32_t low = 0;
        bool pair = peek(reader) == '\\';
        reader->at += pair;
        pair = pair && peek(reader) == 'u';
        reader->at += pair;
        if (!pair || !read_hex4(reader, &low) || low < 0xDC00 || low > 0xDFFF) {
            return fail(reader, start, err, "half of a surrogate pair stands alone");
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
        return fail(reader, start, err, "half of a surrogate pair stands alone");
    }
    *ret = code;
    return MYR_OK;
}

/* 'at' is on the backslash; afterwards behind the escape. */
static int read_escape(struct reader *reader, uint32_t *ret, struct myr_err *err)
{
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    size_t start = reader->at;
    reader->at++;
    char c = peek(reader);
    /* The NUL at the end of the text is no escape, though strchr() would find it. */
    const char *name = c ? strchr(names, c) : NULL;
    if (name) {
        reader->at++;
        *ret = (uint32_t)values[name - names];
        return MYR_OK;
    }
    if (c != 'u') {
        return fail(reader, start, err, "unknown escape after '\\'; write '\\\\' for a backslash");
    }
    reader->at++;
    return read_unicode(reader, start, ret, err);
}

/* RFC 8259 wants them escaped. */
static int fail_control(struct reader *reader, size_t offset, struct myr_err *err)
{
    return fail(reader, offset, err, "a control character in a string must be escaped");
}

/* 'at' is behind the opening quote, and 'len' bytes on is the closing one. */
static int copy_string(struct reader *reader, size_t len, struct myr_str *ret, struct myr_err *err)
{
    const char *data = reader->text.data + reader->at;
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)data[i] < 0x20) {
            return fail_control(reader, reader->at + i, err);
        }
    }
    *ret = (struct myr_str){myr_arena_strndup(reader->build.arena, data, len), len};
    reader->at += len + 1;
    return MYR_OK;
}

/* Strings with escapes (or without an end) are taken apart byte by byte. */
static int decode_string(struct reader *reader, struct myr_buf *decoded, struct myr_err *err)
{
    /* The quote that opens it: where it is never closed, that is the place to look at. */
    size_t start = reader->at - 1;
    while (peek(reader) != '"') {
        unsigned char c = (unsigned char)peek(reader);
        if (reader->at >= reader->text.len) {
            return fail(reader, start, err, "the quote opened here is never closed");
        }
        if (c < 0x20) {
            return fail_control(reader, reader->at, err);
        }
        if (c != '\\') {
            myr_buf_putc(decoded, (char)c);
            reader->at++;
            continue;
        }
        uint32_t code = 0;
        MYR_TRY(read_escape(reader, &code, err));
        char encoded[4];
        size_t len = utf8_encode(code, encoded);
        myr_buf_put(decoded, encoded, len);
    }
    reader->at++;
    return MYR_OK;
}

/* 'at' is on the opening quote; afterwards behind the closing one. */
static int read_string(struct reader *reader, struct myr_str *ret, struct myr_err *err)
{
    reader->at++;
    const char *data = reader->text.data + reader->at;
    const char *quote = memchr(data, '"', reader->text.len - reader->at);
    if (quote && !memchr(data, '\\', (size_t)(quote - data))) {
        return copy_string(reader, (size_t)(quote - data), ret, err);
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf decoded = {};
    MYR_TRY(decode_string(reader, &decoded, err));
    MYR_ASSERT(decoded.len > 0); /* it holds an escape at least */
    *ret = (struct myr_str){myr_arena_strndup(reader->build.arena, decoded.data, decoded.len),
                            decoded.len};
    return MYR_OK;
}

/* False where there was none. */
static bool skip_digits(struct reader *reader)
{
    size_t start = reader->at;
    while (peek(reader) >= '0' && peek(reader) <= '9') {
        reader->at++;
    }
    return reader->at > start;
}

/* Checks the grammar only; the value stays text until somebody asks for a type. */
static int read_number(struct reader *reader, struct myr_err *err)
{
    size_t start = reader->at;
    reader->at += peek(reader) == '-';
    if (peek(reader) == '0') {
        reader->at++;
        if (peek(reader) >= '0' && peek(reader) <= '9') {
            return fail(reader, start, err, "a number cannot begin with 0");
        }
    } else if (!skip_digits(reader)) {
        return fail_found(reader, err, "a digit");
    }
    if (peek(reader) == '.') {
        reader->at++;
        if (!skip_digits(reader)) {
            return fail_found(reader, err, "a digit after the point");
        }
    }
    if (peek(reader) == 'e' || peek(reader) == 'E') {
        reader->at++;
        reader->at += peek(reader) == '+' || peek(reader) == '-';
        if (!skip_digits(reader)) {
            return fail_found(reader, err, "a digit of the exponent");
        }
    }
    return MYR_OK;
}

/* What follows a word is checked by whoever reads on: "nullx" fails there. */
static bool skip_word(struct reader *reader, struct myr_str word)
{
    if (reader->text.len - reader->at < word.len ||
        memcmp(reader->text.data + reader->at, word.data, word.len) != 0) {
        return false;
    }
    reader->at += word.len;
    return true;
}

/* Numbers and words keep their spelling as text; only strings are quoted. */
static int read_scalar(struct reader *reader, struct myr_err *err)
{
    size_t start = reader->at;
    struct text_place place = place_of(reader, start);
    struct myr_doc scalar = {.kind = MYR_DOC_SCALAR, .line = place.line, .column = place.column};
    char c = peek(reader);
    int rc = MYR_OK;
    if (c == '"') {
        scalar.quoted = true;
        rc = read_string(reader, &scalar.text, err);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        rc = read_number(reader, err);
    } else if (skip_word(reader, MYR_STR("null"))) {
        scalar.kind = MYR_DOC_NULL;
    } else if (!skip_word(reader, MYR_STR("true")) && !skip_word(reader, MYR_STR("false"))) {
        rc = fail_found(reader, err, "a value");
    }
    if (rc < 0) {
        return rc;
    }
    if (!scalar.quoted) {
        size_t len = reader->at - start;
        scalar.text = (struct myr_str){
            myr_arena_strndup(reader->build.arena, reader->text.data + start, len), len};
    }
    reader->expected = reader->build.depth > 0 ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
    return doc_build_scalar(&reader->build, &scalar, NULL, err);
}

/* A list or map is only opened here; its inside comes in the next steps. */
static int read_value(struct reader *reader, struct myr_err *err)
{
    char c = peek(reader);
    if (c != '[' && c != '{') {
        return read_scalar(reader, err);
    }
    struct text_place place = place_of(reader, reader->at);
    reader->at++;
    reader->expected = c == '[' ? EXPECT_VALUE_OR_END : EXPECT_KEY_OR_END;
    MYR_TRY(
        doc_build_open(&reader->build, place, c == '[' ? MYR_DOC_LIST : MYR_DOC_MAP, NULL, err));
    /* What is wanted of it holds for its whole inside, until a key says otherwise. */
    reader->parts[reader->build.depth - 1] = reader->next;
    return MYR_OK;
}

/* --- what is not wanted: only quotes and brackets are looked at */

/* A quote behind an odd number of backslashes is escaped, and the string goes on. */
static int pass_string(struct reader *reader, struct myr_err *err)
{
    size_t start = reader->at;
    reader->at++;
    for (;;) {
        const char *data = reader->text.data + reader->at;
        const char *quote = memchr(data, '"', reader->text.len - reader->at);
        if (!quote) {
            return fail(reader, start, err, "the quote opened here is never closed");
        }
        size_t len = (size_t)(quote - data), escapes = 0;
        while (escapes < len && data[len - 1 - escapes] == '\\') {
            escapes++;
        }
        reader->at += len + 1;
        if (escapes % 2 == 0) {
            return MYR_OK;
        }
    }
}

/* A number or a word, of at least one character. */
static int pass_word(struct reader *reader, struct myr_err *err)
{
    size_t start = reader->at;
    while (reader->at < reader->text.len && !strchr(",]} \n\t\r\"[{:", peek(reader))) {
        reader->at++;
    }
    return reader->at > start ? MYR_OK : fail_found(reader, err, "a value");
}

/*
 * What is left out is checked for quotes and brackets that match, and no further. The 64 bits of
 * 'lists' are enough for all levels that are allowed.
 */
static int pass_value(struct reader *reader, struct myr_err *err)
{
    static const bool marks[256] = {
        ['"'] = true, ['['] = true, [']'] = true, ['{'] = true, ['}'] = true};
    uint64_t lists = 0; /* the innermost open bracket is the lowest bit: 1 for a list */
    uint32_t depth = 0;
    skip_blanks(reader);
    if (!marks[(unsigned char)peek(reader)]) {
        return pass_word(reader, err);
    }
    do {
        while (reader->at < reader->text.len && !marks[(unsigned char)peek(reader)]) {
            reader->at++;
        }
        char c = peek(reader);
        if (c == '"') {
            MYR_TRY(pass_string(reader, err));
            continue;
        }
        /* Which of the two kinds, and whether it opens or closes. */
        bool list = c == '[' || c == ']', opens = c == '[' || c == '{';
        if (opens && depth == MYR_DOC_DEPTH_MAX) {
            return fail(reader, reader->at, err, "nested more than %d levels deep",
                        MYR_DOC_DEPTH_MAX);
        }
        if (c == '\0' || (!opens && (depth == 0 || (lists & 1) != list))) {
            return fail_found(reader, err, depth == 0 ? "a value" : lists & 1 ? "']'" : "'}'");
        }
        lists = opens ? lists << 1 | list : lists >> 1;
        depth = opens ? depth + 1 : depth - 1;
        reader->at++;
    } while (depth > 0);
    return MYR_OK;
}

/* Sets what is wanted of the value behind this key; false: nothing. */
static bool wanted(struct reader *reader, struct myr_str key)
{
    const struct myr_doc_part *part = reader->parts[reader->build.depth - 1];
    reader->next = NULL;
    if (!part) {
        return true;
    }
    for (; part->key; part++) {
        /* The first byte tells most of them apart; a key ends in NUL, and may hold one. */
        if (part->key[0] == key.data[0] && strcmp(part->key, key.data) == 0 &&
            strlen(part->key) == key.len) {
            reader->next = part->below;
            return true;
        }
    }
    return false;
}

/* A key whose value nobody wants is passed over with it, and the tree never hears of it. */
static int read_key(struct reader *reader, struct myr_err *err)
{
    if (peek(reader) != '"') {
        return fail_found(reader, err, "a key in quotes");
    }
    struct text_place place = place_of(reader, reader->at);
    struct myr_str key = {};
    MYR_TRY(read_string(reader, &key, err));
    skip_blanks(reader);
    if (peek(reader) != ':') {
        return fail_found(reader, err, "':' after the key");
    }
    reader->at++;
    if (reader->partly && !wanted(reader, key)) {
        reader->expected = EXPECT_COMMA_OR_END;
        return pass_value(reader, err);
    }
    doc_build_key(&reader->build, place, key);
    reader->expected = EXPECT_VALUE;
    return MYR_OK;
}

static bool in_list(const struct reader *reader)
{
    return reader->build.frames[reader->build.depth - 1].node->kind == MYR_DOC_LIST;
}

/* The same for both brackets: that it is the right one was seen before. */
static int read_end(struct reader *reader, struct myr_err *err)
{
    reader->at++;
    int rc = doc_build_close(&reader->build, err);
    reader->expected = reader->build.depth > 0 ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
    return rc;
}

/* Behind a value: the end of the list or map, or one more. */
static int read_comma(struct reader *reader, struct myr_err *err)
{
    char end = in_list(reader) ? ']' : '}';
    if (peek(reader) == end) {
        return read_end(reader, err);
    }
    if (peek(reader) != ',') {
        return fail_found(reader, err, end == ']' ? "',' or ']'" : "',' or '}'");
    }
    /* Looks over the comma at once, so that the commonest slip gets its own words. */
    size_t comma = reader->at;
    reader->at++;
    skip_blanks(reader);
    if (peek(reader) == end) {
        return fail(reader, comma, err, "a ',' before '%c' is not allowed", end);
    }
    reader->expected = end == ']' ? EXPECT_VALUE : EXPECT_KEY;
    reader->next = reader->parts[reader->build.depth - 1]; /* a list's are those of its items */
    return MYR_OK;
}

/* One token, or a key with its colon. Each step moves 'at' or fails, so that the loop ends. */
static int read_step(struct reader *reader, struct myr_err *err)
{
    skip_blanks(reader);
    switch (reader->expected) {
    case EXPECT_VALUE_OR_END:
        return peek(reader) == ']' ? read_end(reader, err) : read_value(reader, err);
    case EXPECT_KEY_OR_END:
        return peek(reader) == '}' ? read_end(reader, err) : read_key(reader, err);
    case EXPECT_KEY:
        return read_key(reader, err);
    case EXPECT_COMMA_OR_END:
        return read_comma(reader, err);
    case EXPECT_VALUE:
    case EXPECT_NOTHING:
        break;
    }
    return read_value(reader, err);
}

/* Until the outermost value is complete; only blanks may follow. */
static int read_all(struct reader *reader, struct myr_err *err)
{
    skip_blanks(reader);
    if (reader->at == reader->text.len) {
        return fail(reader, 0, err, "the file is empty, a JSON value is expected");
    }
    while (reader->expected != EXPECT_NOTHING) {
        MYR_TRY(read_step(reader, err));
    }
    skip_blanks(reader);
    if (reader->at < reader->text.len) {
        return fail(reader, reader->at, err, "nothing more is expected after the value");
    }
    return MYR_OK;
}

static void reader_done(struct reader *reader)
{
    doc_build_done(&reader->build);
}

int myr_doc_read_json(struct myr_arena *arena, const char *file, struct myr_str text,
                      const struct myr_doc **ret, struct myr_err *err)
{
    return myr_doc_read_json_parts(arena, file, text, NULL, ret, err);
}

/* 'parts' NULL: all of it. */
int myr_doc_read_json_parts(struct myr_arena *arena, const char *file, struct myr_str text,
                            const struct myr_doc_part *parts, const struct myr_doc **ret,
                            struct myr_err *err)
{
    /* Some editors put a mark in front; RFC 8259 lets a reader pass over it. */
    text = utf8_skip_mark(text);
    MYR_TRY(doc_check_text(file, text, err));
    MYR_CLEANUP(reader_done)
    struct reader reader = {
        .text = text, .expected = EXPECT_VALUE, .partly = parts != NULL, .next = parts};
    doc_build_init(&reader.build, arena, file);
    text_cursor_init(&reader.cursor, text);
    MYR_TRY(read_all(&reader, err));
    *ret = reader.build.root;
    return MYR_OK;
}
