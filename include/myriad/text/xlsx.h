/*
 * xlsx: the first sheet of a workbook (OOXML), as CSV.
 *
 * What people keep in spreadsheets is read as if they had saved it as CSV: a line of the CSV is a
 * row of the sheet, so that a message names the row that people see. Formulas have the value that
 * was saved with them, merged cells are empty but for their first, line ends within a cell become
 * blanks. Hostile files are refused by named limits before memory is taken for them.
 */
#pragma once

#include "myriad/base.h"

#define MYR_XLSX_BYTES_MAX (32U << 20) /* of one unpacked part */
#define MYR_XLSX_ROWS_MAX  200000
#define MYR_XLSX_CELLS_MAX 256 /* of a row */

/* 'file' is for messages; appends to 'ret'. */
MYR_MUST_USE int myr_xlsx_csv(const char *file, struct myr_str bytes, struct myr_buf *ret,
                              struct myr_err *err);
