/* wrap: words broken to a width, measured in terminal columns. Private to text. */
#pragma once

#include "myriad/base.h"

/* Outside text with '?' for what a terminal would act on. */
void wrap_put_shown(struct myr_buf *buf, struct myr_str text);

/*
 * The words of 'text' on lines of at most 'width' columns; the first line stands at 'column'
 * already, the others begin with 'indent' blanks. A line end in the text stays one. A word is never
 * broken: one that is too long sticks out. Returns the column after the last word.
 */
uint32_t wrap_put(struct myr_buf *buf, struct myr_str text, uint32_t column, uint32_t indent,
                  uint32_t width);

/* The first line of at most 'width' columns, and what is left of the text. */
struct myr_str wrap_line(struct myr_str *text, uint32_t width);
/* Columns of the longest word. */
uint32_t wrap_longest(struct myr_str text);
