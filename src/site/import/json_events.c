#include "import/json_events.h"

/*
 * A stack of open brackets and what may come next are all the state there is. Pieces of a text are
 * joined in one buffer: whatever lies before the token at hand is dropped when more is read, so
 * that memory stays small however long the text is.
 */

enum want {
    WANT_VALUE,
    WANT_VALUE_OR_END, /* after '[' */
    WANT_KEY,          /* after a comma */
    WANT_KEY_OR_END,   /* after '{' */
    WANT_COMMA_OR_END,
};

/* What is read at once; a longer token makes the buffer grow. */
enum { PIECE_BYTES = 1 << 20 };

/* A first piece is copied, since the buffer moves; a whole text is read where it lies. */
void json_reader_init(struct json_reader *reader, struct myr_str text,
                      const struct json_source *source)
{
    *reader = (struct json_reader){.start_line = 1, .start_column = 1, .want = WANT_VALUE};
    if (source) {
        reader->source = *source;
        myr_buf_put(&reader->piece, text.data, text.len);
        text.data = reader->piece.data;
    }
    reader->start = reader->at = reader->token = text.data;
    reader->end = text.data + text.len;
}

void json_reader_done(struct json_reader *reader)
{
    myr_buf_done(&reader->piece);
    myr_buf_done(&reader->unescaped);
}

/* Counted only when somebody asks: most events have no message. */
void json_place(const struct json_reader *reader, uint32_t *ret_line, uint32_t *ret_column)
{
    uint64_t column = reader->start_column;
    *ret_line = reader->start_line;
    for (const char *c = reader->start; c < reader->token; c++) {
        /* Bytes that go on with a character are none of their own. */
        column = *c == '\n' ? 1 : column + (((unsigned char)*c & 0xC0) != 0x80);
        *ret_line += *c == '\n';
    }
    *ret_column = column < UINT32_MAX ? (uint32_t)column : UINT32_MAX;
}

/*
 * Drops what lies before the token at hand and reads on behind the rest. False at the end. Pointers
 * into the piece move; 'at', 'token' and 'text' move with it.
 */
static bool read_more(struct json_reader *reader)
{
    if (!reader->source.fill) {
        return false;
    }
    uint32_t line, column;
    /* Lines are counted before their text is dropped. */
    json_place(reader, &line, &column);
    size_t kept = (size_t)(reader->end - reader->token);
    size_t at = (size_t)(reader->at - reader->token);
    size_t text = (size_t)(reader->text.data - reader->token);
    /* The text may lie in the piece or among the unescaped ones. */
    bool moves = reader->text.data >= reader->token && reader->text.data <= reader->end;
    memmove(reader->piece.data, reader->token, kept);
    reader->piece.len = kept;
    myr_buf_reserve(&reader->piece, kept < PIECE_BYTES ? PIECE_BYTES : kept);
    char *free_part = reader->piece.data + kept;
    size_t got =
        reader->source.fill(reader->source.context, free_part, reader->piece.capacity - kept - 1);
    reader->piece.len += got;
    reader->start = reader->token = reader->piece.data;
    reader->at = reader->start + at;
    reader->end = reader->start + reader->piece.len;
    reader->text.data = moves ? reader->start + text : reader->text.data;
    reader->start_line = line;
    reader->start_column = column;
    return got > 0;
}

static enum json_event bad(struct json_reader *reader, const char *fault)
{
    reader->fault = fault;
    return JSON_BAD;
}

/* False when the text ends there. */
static bool skip_blanks(struct json_reader *reader)
{
    do {
        const char *at = reader->at;
        while (at < reader->end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) {
            at++;
        }
        reader->at = at;
    } while (reader->at == reader->end && read_more(reader));
    return reader->at < reader->end;
}

/* The caller has made sure of four bytes. */
static bool hex4(const char *at, uint32_t *ret)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < 4; i++) {
        char c = at[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : 16;
        if (digit == 16) {
            return false;
        }
        value = value << 4 | digit;
    }
    *ret = value;
    return true;
}

/* One character as UTF-8; halves of a pair alone become U+FFFD. */
static size_t put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        /* Half of a pair alone is no character. */
        code = code >= 0xD800 && code < 0xE000 ? 0xFFFD : code;
        to[0] = (char)(0xE0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 63));
        to[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    to[0] = (char)(0xF0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 63));
    to[2] = (char)(0x80 | (code >> 6 & 63));
    to[3] = (char)(0x80 | (code & 63));
    return 4;
}

/* "\u...." at 'at', which points behind the 'u': the character, and how many bytes it takes. */
static bool unicode_escape(const char *at, const char *end, uint32_t *ret_code, size_t *ret_used)
{
    uint32_t low;
    if (end - at < 4 || !hex4(at, ret_code)) {
        return false;
    }
    *ret_used = 4;
    /* Characters beyond 16 bits come as two escapes. */
    bool high = *ret_code >= 0xD800 && *ret_code < 0xDC00;
    if (high && end - at >= 10 && at[4] == '\\' && at[5] == 'u' && hex4(at + 6, &low) &&
        low >= 0xDC00 && low < 0xE000) {
        *ret_code = 0x10000 + ((*ret_code - 0xD800) << 10) + (low - 0xDC00);
        *ret_used = 10;
    }
    return true;
}

/* The string between 'start' and 'end' without its escapes; it only becomes shorter. */
static bool unescape(struct json_reader *reader, const char *start, const char *end)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    myr_buf_clear(&reader->unescaped);
    myr_buf_reserve(&reader->unescaped, (size_t)(end - start) + 1);
    char *copy = reader->unescaped.data;
    size_t len = 0;
    for (const char *at = start; at < end; at++) {
        if (*at != '\\') {
            copy[len++] = *at;
            continue;
        }
        at++;
        MYR_ASSERT(at < end); /* the closing quote was looked for behind it */
        const char *letter = *at ? strchr(letters, *at) : NULL;
        uint32_t code;
        size_t used;
        if (letter) {
            copy[len++] = meant[letter - letters];
        } else if (*at == 'u' && unicode_escape(at + 1, end, &code, &used)) {
            len += put_utf8(copy + len, code);
            at += used;
        } else {
            return false;
        }
    }
    reader->text = (struct myr_str){copy, len};
    return true;
}

/* Counts from 'at', which stays: 'read_more' may move everything. */
static enum json_event read_string(struct json_reader *reader, enum json_event event)
{
    size_t len = 1; /* with the opening quote */
    bool escaped = false;
    do {
        const char *at = reader->at;
        size_t there = (size_t)(reader->end - at);
        while (len < there && at[len] != '"') {
            if ((unsigned char)at[len] < 0x20) {
                reader->token = at + len;
                return bad(reader, "a control character within a string");
            }
            escaped = escaped || at[len] == '\\';
            /* The sign behind a backslash cannot end the string. */
            len += at[len] == '\\' ? 2 : 1;
        }
        if (len < there) {
            break;
        }
    } while (read_more(reader));
    const char *start = reader->at + 1, *end = reader->at + len;
    /* The closing quote never came. */
    if (end >= reader->end) {
        return JSON_CUT;
    }
    reader->text = (struct myr_str){start, len - 1};
    reader->at = end + 1;
    if (escaped && !unescape(reader, start, end)) {
        return bad(reader, "an escape that JSON does not know within this string");
    }
    return event;
}

/* Whether the word is one of JSON's; 'ret_begins': or the beginning of one. */
static bool is_known_word(struct myr_str word, bool *ret_begins)
{
    static const char *const words[] = {"true", "false", "null"};
    double number;
    *ret_begins = word.len && strchr("-0123456789", word.data[0]);
    if (*ret_begins) {
        return myr_str_to_double(word, &number);
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        size_t len = strlen(words[i]);
        if (word.len && word.len <= len && memcmp(word.data, words[i], word.len) == 0) {
            *ret_begins = true;
            return word.len == len;
        }
    }
    return false;
}

/* A word is known to be whole only by what follows it. */
static enum json_event read_word(struct json_reader *reader)
{
    size_t len = 0;
    do {
        size_t there = (size_t)(reader->end - reader->at);
        /* Up to what may follow a value. */
        while (len < there && !strchr(" \t\r\n,]}", reader->at[len])) {
            len++;
        }
        if (len < there) {
            break;
        }
    } while (read_more(reader));
    struct myr_str word = {reader->at, len};
    bool begins;
    if (!is_known_word(word, &begins)) {
        /* At the end of the text a beginning of a word may have been cut. */
        bool cut = begins && reader->at + len == reader->end;
        return cut ? JSON_CUT : bad(reader, "a value is expected");
    }
    reader->at += len;
    reader->text = word;
    return JSON_OTHER;
}

/* Open brackets are on a list of fixed length, not on the stack of calls. */
static enum json_event open_container(struct json_reader *reader, char open)
{
    if (reader->depth == JSON_DEPTH_MAX) {
        return bad(reader, "nested deeper than 64 levels");
    }
    reader->open[reader->depth++] = open;
    reader->at++;
    /* An empty container may close at once. */
    reader->want = open == '{' ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
    return open == '{' ? JSON_OBJECT : JSON_LIST;
}

static enum json_event close_container(struct json_reader *reader)
{
    reader->at++;
    reader->depth--;
    /* At the top another value may follow. */
    reader->want = reader->depth ? WANT_COMMA_OR_END : WANT_VALUE;
    return reader->open[reader->depth] == '{' ? JSON_OBJECT_END : JSON_LIST_END;
}

static enum json_event read_value(struct json_reader *reader)
{
    char c = *reader->at;
    if (c == '{' || c == '[') {
        return open_container(reader, c);
    }
    enum json_event event = c == '"' ? read_string(reader, JSON_STRING) : read_word(reader);
    reader->want = reader->depth ? WANT_COMMA_OR_END : WANT_VALUE;
    return event;
}

/* A key and its colon are one event. */
static enum json_event read_key(struct json_reader *reader)
{
    if (*reader->at != '"') {
        return bad(reader, "a key in quotes is expected");
    }
    enum json_event event = read_string(reader, JSON_KEY);
    if (event != JSON_KEY) {
        return event;
    }
    if (!skip_blanks(reader)) {
        return JSON_CUT;
    }
    if (*reader->at != ':') {
        reader->token = reader->at;
        return bad(reader, "':' is expected after a key");
    }
    reader->at++;
    reader->want = WANT_VALUE;
    return JSON_KEY;
}

/* At the top values follow each other without commas. */
enum json_event json_next(struct json_reader *reader)
{
    reader->token = reader->at;
    bool more = skip_blanks(reader);
    reader->token = reader->at;
    if (!more) {
        return reader->depth ? JSON_CUT : JSON_END;
    }
    /* What may come is known by 'want' and the bracket that is open. */
    char c = *reader->at;
    bool in_object = reader->depth && reader->open[reader->depth - 1] == '{';
    if (reader->want == WANT_COMMA_OR_END && c == ',') {
        reader->at++;
        more = skip_blanks(reader);
        reader->token = reader->at;
        if (!more) {
            return JSON_CUT;
        }
        reader->want = in_object ? WANT_KEY : WANT_VALUE;
    } else if (reader->want == WANT_COMMA_OR_END || reader->want == WANT_KEY_OR_END ||
               reader->want == WANT_VALUE_OR_END) {
        if (c == (in_object ? '}' : ']')) {
            return close_container(reader);
        }
        if (reader->want == WANT_COMMA_OR_END) {
            return bad(reader, in_object ? "',' or '}' is expected" : "',' or ']' is expected");
        }
    }
    bool key = reader->want == WANT_KEY || reader->want == WANT_KEY_OR_END;
    return key ? read_key(reader) : read_value(reader);
}
