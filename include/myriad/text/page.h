/*
 * page: one HTML page that needs nothing else: a title, paragraphs, tables, drawings.
 *
 * Drawings are put between the calls as SVG elements. Text is escaped. Light or dark, as the reader
 * likes it.
 */
#pragma once

#include "myriad/base.h"

void myr_page_begin(struct myr_buf *buf, const char *title);
/* The same in another language, by its mark: "zh". */
void myr_page_begin_in(struct myr_buf *buf, const char *lang, const char *title);
void myr_page_end(struct myr_buf *buf);
/* Escaped text, as part of whatever is open. */
void myr_page_text(struct myr_buf *buf, const char *text);
void myr_page_heading(struct myr_buf *buf, const char *text);
/* A paragraph that steps back. */
void myr_page_note(struct myr_buf *buf, const char *text);

/* Tiles with a figure each, for what a reader looks for first. */
/* Around a drawing: on a phone it keeps a size at which its words can be read, and scrolls. */
void myr_page_wide_begin(struct myr_buf *buf);
void myr_page_wide_end(struct myr_buf *buf);
/* A command's arguments: lines break before '--', and not at hyphens inside names. */
void myr_page_arguments(struct myr_buf *buf, const char *text);
void myr_page_tiles_begin(struct myr_buf *buf);
MYR_PRINTF(3, 4)
void myr_page_tile(struct myr_buf *buf, const char *what, const char *fmt, ...);
void myr_page_tiles_end(struct myr_buf *buf);

/* A table: the head's cells, then rows of as many. Numbers stand right. */
void myr_page_table_begin(struct myr_buf *buf, const char *const *heads, uint32_t count);
/*
 * The same of a table that stands upright: a row for each figure and a column for each of a few
 * cases, so that a phone shows all of it.
 */
void myr_page_upright_begin(struct myr_buf *buf, const char *const *heads, uint32_t count);
void myr_page_row_begin(struct myr_buf *buf);
void myr_page_cell(struct myr_buf *buf, const char *text);
MYR_PRINTF(2, 3)
void myr_page_number(struct myr_buf *buf, const char *fmt, ...);
void myr_page_row_end(struct myr_buf *buf);
void myr_page_table_end(struct myr_buf *buf);
