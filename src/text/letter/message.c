#include "letter/message.h"

#include <stdio.h>

#include "letter/secret.h"
#include "letter/utf8.h"
#include "myriad/text/doc.h"

enum {
    EXCERPT_CHARACTERS = 40,
    LISTED_NAMES_MAX = 20, /* a longer list is left out */
    NAME_BYTES_MAX = 64,   /* text longer than any name is near to none */
};

/* Where a word begins: a secret is told by all of it. */
static size_t secret_at(struct myr_str text, size_t at)
{
    char before = at > 0 ? text.data[at - 1] : ' ';
    bool inside = (before >= '0' && before <= '9') || (before >= 'a' && before <= 'z') ||
                  (before >= 'A' && before <= 'Z') || before == '_';
    return inside ? 0 : secret_length((struct myr_str){text.data + at, text.len - at});
}

/*
 * Whole characters only; what cannot be seen is a '?', so that quoted text cannot drive a terminal.
 * What looks like a secret is "***": errors are kept and passed on.
 */
const char *myr_text_excerpt(struct myr_str text, char ret[MYR_EXCERPT_MAX])
{
    size_t len = 0;
    size_t at = 0;
    for (int i = 0; i < EXCERPT_CHARACTERS && at < text.len; i++) {
        size_t start = at, secret = secret_at(text, at);
        if (secret > 0) {
            memcpy(ret + len, "***", 3);
            len += 3;
            at += secret;
            continue;
        }
        if (utf8_is_hidden(utf8_next(text, &at))) {
            ret[len++] = '?';
            continue;
        }
        memcpy(ret + len, text.data + start, at - start);
        len += at - start;
    }
    if (at < text.len) {
        memcpy(ret + len, "...", 3);
        len += 3;
    }
    MYR_ASSERT(len < MYR_EXCERPT_MAX);
    ret[len] = '\0';
    return ret;
}

/* A message that is too long is cut at its end; the place in front is what matters most. */
int text_error_at_args(struct myr_err *err, const char *file, struct text_place place, int code,
                       const char *fmt, va_list args)
{
    char line[MYR_ERR_MESSAGE_MAX];
    char clean[MYR_ERR_MESSAGE_MAX];
    int len = snprintf(line, sizeof(line), "%s:%u:%u: ", file, place.line, place.column);
    MYR_ASSERT(len > 0);
    if ((size_t)len < sizeof(line)) {
        vsnprintf(line + len, sizeof(line) - (size_t)len, fmt, args);
    }
    /*
     * Names from outside may hold anything; one message stays one line and one reading. Every '?'
     * is at most as long as what it stands for, so the clean line fits where the other did.
     */
    struct myr_str text = myr_str_from(line);
    size_t put = 0;
    for (size_t at = 0; at < text.len;) {
        size_t start = at;
        if (utf8_is_hidden(utf8_next(text, &at))) {
            clean[put++] = '?';
            continue;
        }
        memcpy(clean + put, text.data + start, at - start);
        put += at - start;
    }
    clean[put] = '\0';
    return myr_err_set(err, code, "%s", clean);
}

int text_error_at(struct myr_err *err, const char *file, struct text_place place, int code,
                  const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int rc = text_error_at_args(err, file, place, code, fmt, args);
    va_end(args);
    return rc;
}

void text_cursor_init(struct text_cursor *cursor, struct myr_str text)
{
    *cursor = (struct text_cursor){.text = text, .place = {1, 1}};
}

struct text_place text_cursor_move(struct text_cursor *cursor, size_t offset)
{
    MYR_ASSERT(offset >= cursor->at && offset <= cursor->text.len);
    const char *data = cursor->text.data;
    /* Each byte is passed once, so asking for a million places costs one walk. */
    for (; cursor->at < offset; cursor->at++) {
        char c = data[cursor->at];
        bool crlf = c == '\r' && cursor->at + 1 < cursor->text.len && data[cursor->at + 1] == '\n';
        /* In CR LF the LF ends the line: counted once. */
        if (c == '\n' || (c == '\r' && !crlf)) {
            cursor->place.line++;
            cursor->place.column = 1;
        } else if (((unsigned char)c & 0xC0) != 0x80) {
            cursor->place.column++; /* bytes inside a character do not count */
        }
    }
    return cursor->place;
}

/* An open end is not told as a number of twenty digits. */
const char *message_range(uint64_t min, uint64_t max, char ret[MESSAGE_PHRASE_MAX])
{
    char low[32];
    char high[32];
    myr_u64_grouped(min, low);
    myr_u64_grouped(max, high);
    if (max == UINT64_MAX) {
        snprintf(ret, MESSAGE_PHRASE_MAX, "a whole number of at least %s", low);
    } else {
        snprintf(ret, MESSAGE_PHRASE_MAX, "a whole number from %s to %s", low, high);
    }
    return ret;
}

/* All or nothing: half a list reads as if it were the whole. */
const char *message_list(const char *const *names, size_t count, char ret[MESSAGE_PHRASE_MAX])
{
    size_t len = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        /* With the comma and the blank before it. */
        size_t more = strlen(names[i]) + (i > 0 ? 2 : 0);
        if (count > LISTED_NAMES_MAX || len + more + 16 > MESSAGE_PHRASE_MAX) {
            ret[0] = '\0';
            return ret;
        }
        len += (size_t)snprintf(ret + len, MESSAGE_PHRASE_MAX - len, "%s%s", i > 0 ? ", " : "",
                                names[i]);
    }
    return ret;
}

/* Where the list would be too long, only that the word is another one. */
const char *message_one_of(const char *const *names, size_t count, char ret[MESSAGE_PHRASE_MAX])
{
    char list[MESSAGE_PHRASE_MAX];
    message_list(names, count, list);
    if (list[0]) {
        /* The list leaves 16 bytes free for what goes in front. */
        snprintf(ret, MESSAGE_PHRASE_MAX, "%s%.304s", count > 1 ? "one of " : "", list);
    } else {
        snprintf(ret, MESSAGE_PHRASE_MAX, "another word");
    }
    return ret;
}

/* 16 bytes less: room for the words around what is near. */
const char *message_nearest(struct myr_str text, const char *const *names, size_t count,
                            char ret[MESSAGE_PHRASE_MAX])
{
    char near[MESSAGE_PHRASE_MAX - 16] = "";
    ret[0] = '\0';
    if (text.len <= NAME_BYTES_MAX) {
        myr_str_nearest(text, names, count, near, sizeof(near));
    }
    if (near[0]) {
        snprintf(ret, MESSAGE_PHRASE_MAX, "did you mean %s?", near);
    }
    return ret;
}
