/* libxlsxwriter as its first call loads it (late.h). */
#include <xlsxwriter.h>

#include "late.h"

LATE(LATE_XLSXWRITER, void, format_set_bold, (lxw_format * a), (a))
LATE(LATE_XLSXWRITER, void, format_set_num_format, (lxw_format * a, const char *b), (a, b))
LATE(LATE_XLSXWRITER, char *, lxw_strerror, (lxw_error a), (a))
LATE(LATE_XLSXWRITER, lxw_format *, workbook_add_format, (lxw_workbook * a), (a))
LATE(LATE_XLSXWRITER, lxw_worksheet *, workbook_add_worksheet, (lxw_workbook * a, const char *b),
     (a, b))
LATE(LATE_XLSXWRITER, lxw_error, workbook_close, (lxw_workbook * a), (a))
LATE(LATE_XLSXWRITER, lxw_workbook *, workbook_new_opt, (const char *a, lxw_workbook_options *b),
     (a, b))
LATE(LATE_XLSXWRITER, lxw_error, workbook_set_properties, (lxw_workbook * a, lxw_doc_properties *b),
     (a, b))
LATE(LATE_XLSXWRITER, void, worksheet_freeze_panes, (lxw_worksheet * a, lxw_row_t b, lxw_col_t c),
     (a, b, c))
LATE(LATE_XLSXWRITER, lxw_error, worksheet_set_column,
     (lxw_worksheet * a, lxw_col_t b, lxw_col_t c, double d, lxw_format *e), (a, b, c, d, e))
LATE(LATE_XLSXWRITER, lxw_error, worksheet_write_formula_num,
     (lxw_worksheet * a, lxw_row_t b, lxw_col_t c, const char *d, lxw_format *e, double f),
     (a, b, c, d, e, f))
LATE(LATE_XLSXWRITER, lxw_error, worksheet_write_number,
     (lxw_worksheet * a, lxw_row_t b, lxw_col_t c, double d, lxw_format *e), (a, b, c, d, e))
LATE(LATE_XLSXWRITER, lxw_error, worksheet_write_string,
     (lxw_worksheet * a, lxw_row_t b, lxw_col_t c, const char *d, lxw_format *e), (a, b, c, d, e))
