/*
 * message: what complaints about outside text are made of, for every reader of text/. Private.
 *
 * A complaint is one line, "file:line:column: what is wrong", whatever the outside text holds.
 */
#pragma once

#include "myriad/base.h"

struct text_place {
    uint32_t line, column; /* from 1 */
};

/* Sets "file:line:column: message" without control characters or line breaks. */
MYR_PRINTF(5, 6)
int text_error_at(struct myr_err *err, const char *file, struct text_place place, int code,
                  const char *fmt, ...);
MYR_PRINTF(5, 0)
int text_error_at_args(struct myr_err *err, const char *file, struct text_place place, int code,
                       const char *fmt, va_list args);

/* Walks over text and counts lines (ended by LF, CRLF or CR) and characters. Only forwards. */
struct text_cursor {
    struct myr_str text;
    size_t at; /* offset of the byte that 'place' names */
    struct text_place place;
};

void text_cursor_init(struct text_cursor *cursor, struct myr_str text);
struct text_place text_cursor_move(struct text_cursor *cursor, size_t offset);

/*
 * The phrases below are cut to MESSAGE_PHRASE_MAX bytes, so that a few of them fit into a message;
 * each returns 'ret'.
 */
#define MESSAGE_PHRASE_MAX 320

/* "a whole number from 1 to 200,000" */
const char *message_range(uint64_t min, uint64_t max, char ret[MESSAGE_PHRASE_MAX]);
/* "one of a, b, c"; "another word" when the list would be too long to help. */
const char *message_one_of(const char *const *names, size_t count, char ret[MESSAGE_PHRASE_MAX]);
/* "did you mean 'a'?"; empty when nothing is near. */
const char *message_nearest(struct myr_str text, const char *const *names, size_t count,
                            char ret[MESSAGE_PHRASE_MAX]);
/* "a, b, c"; empty when there are more than 20 or they take too much room. */
const char *message_list(const char *const *names, size_t count, char ret[MESSAGE_PHRASE_MAX]);
