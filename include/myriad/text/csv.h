/*
 * csv: RFC 4180 reading and writing.
 *
 * The reader goes row by row over text in memory and borrows fields from it; only fields that
 * contain doubled quotes are copied (into the arena). Lines may end in LF or CRLF; a UTF-8 byte
 * order mark is skipped; blank lines are skipped. Column numbers in errors count bytes from 1.
 * Quotes are strict: a field either has none or is quoted whole.
 *
 * Below a header a row may end early, but has nothing behind the header's last field: a number
 * with a comma in it would be cut, or shift all that follows, without anybody noticing. Empty
 * fields there are what other programs leave behind, and mean nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

#define MYR_CSV_FIELDS_MAX 256

struct myr_csv {
    const char *file; /* for messages */
    struct myr_str text;
    struct myr_arena *arena;
    size_t at;
    size_t line_start;   /* offset of the current line */
    uint32_t line;       /* of the row last read, from 1 */
    uint32_t next_line;  /* of 'at' */
    uint32_t count;      /* fields of the row last read */
    uint32_t head_count; /* fields of the header; 0: rows have none above them */
    struct myr_str fields[MYR_CSV_FIELDS_MAX];
    uint32_t lines[MYR_CSV_FIELDS_MAX]; /* where each field starts: */
    uint32_t bytes[MYR_CSV_FIELDS_MAX]; /* before it in its line; a quoted one may span lines */
    size_t row_start;                   /* where the first line of the row begins */
};

void myr_csv_init(struct myr_csv *csv, struct myr_arena *arena, const char *file,
                  struct myr_str text);
/* 1 when a row was read, 0 at the end, negative on error. */
MYR_MUST_USE int myr_csv_next(struct myr_csv *csv, struct myr_err *err);
/* The same for the row that names the columns: from then on rows are held against it. */
MYR_MUST_USE int myr_csv_header(struct myr_csv *csv, struct myr_err *err);
/* Where only its content tells that a row is the header: the row last read is. */
void myr_csv_is_header(struct myr_csv *csv);
/* Whether the row last read fits below the header, for those who fill the fields themselves. */
MYR_MUST_USE int myr_csv_check_row(const struct myr_csv *csv, struct myr_err *err);
/* Where a field of the row last read begins in its line: characters, from 1. */
uint32_t myr_csv_column(const struct myr_csv *csv, uint32_t field);
/* Sets "file:line:column: message" for a field of the row last read; returns MYR_EINVAL. */
MYR_PRINTF(4, 5)
int myr_csv_error(struct myr_err *err, const struct myr_csv *csv, uint32_t field, const char *fmt,
                  ...);

/* Appends a field, quoted only where it must be; the caller puts commas and line ends. */
void myr_csv_put(struct myr_buf *buf, struct myr_str field);

/*
 * The same for a cell of text in a list for people, who open it in a spreadsheet: what a
 * spreadsheet would run as a formula ("=...", "+...", "-...", "@...") gets an apostrophe in front.
 * Never for numbers, and never in files for other programs. myr_csv_text() takes it off again:
 * every text comes back as it was.
 */
void myr_csv_put_text(struct myr_buf *buf, struct myr_str field);
struct myr_str myr_csv_text(struct myr_str field);

/* In front of a list with Chinese names: Excel takes the bytes for the local code page else. */
#define MYR_CSV_MARK "\xEF\xBB\xBF"
