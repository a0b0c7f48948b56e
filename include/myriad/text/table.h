/*
 * table: rows for people, as aligned text.
 *
 * A table is filled cell by cell and then written. Tables are stable when piped: no colour, no
 * truncation; width is measured in terminal columns (CJK is two). Numbers are right-aligned, with
 * thousands separators, and as many decimals as the row that has most; null is "-". What programs
 * read is written from the answer itself (answer.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

enum myr_format {
    MYR_FORMAT_TABLE,
    MYR_FORMAT_WIDE, /* also the columns marked wide */
    MYR_FORMAT_JSON,
    MYR_FORMAT_YAML,
    MYR_FORMAT_CSV,
};

/* The names accepted by -o, in the order of enum myr_format. */
extern const char *const myr_format_names[];
#define MYR_FORMAT_COUNT 5

enum myr_column_flags {
    MYR_COLUMN_NUMBER = 1, /* right-aligned, in groups of three */
    MYR_COLUMN_WIDE = 2,   /* shown to people only with -o wide */
    MYR_COLUMN_MIXED = 4,  /* of several units: each number with the digits that it has */
    MYR_COLUMN_MONEY = 8,  /* with cents or without, for all rows: never one digit of them */
};

struct myr_column {
    const char *key;   /* JSON and CSV name, with unit: "cost_cny" */
    const char *title; /* for people: "COST" */
    uint32_t flags;
};

struct myr_table {
    const struct myr_column *columns;
    uint32_t column_count;
    struct myr_arena *arena;
    MYR_VEC(struct myr_str) cells; /* row by row; data == NULL is null */
};

void myr_table_init(struct myr_table *table, struct myr_arena *arena,
                    const struct myr_column *columns, uint32_t column_count);
void myr_table_done(struct myr_table *table);

/* Cells go in from left to right; a row is complete after column_count of them. */
void myr_table_str(struct myr_table *table, struct myr_str value);
void myr_table_text(struct myr_table *table, const char *value); /* NULL: null */
void myr_table_double(struct myr_table *table, double value, int digits);

/* Where people read it. */
struct myr_screen {
    uint32_t width; /* columns; 0: unknown, the table is as wide as it is */
    bool colour;
};

/*
 * The table for people, fitted to the screen: long texts and titles are broken between words, and
 * where that is not enough each row becomes a block of lines. No word is cut, nothing is left out.
 */
void myr_table_write(const struct myr_table *table, enum myr_format format,
                     const struct myr_screen *screen, struct myr_buf *buf);

/* Terminal columns of UTF-8 text. */
uint32_t myr_text_width(struct myr_str text);
