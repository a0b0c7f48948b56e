/*
 * Reading a bill of materials. Spreadsheets put a title above the header, write headings into rows
 * of their own, leave merged cells empty below their first row, group digits, and end in a sum: all
 * of that is read as it is meant. What is neither is an error with its place.
 */
#include "audit/audit.h"

enum column { SYSTEM, NAME, PART, DETAILS, QUANTITY, UNIT_PRICE, TOTAL, COLUMN_COUNT };
enum { HEADER_ROWS_MAX = 20 };

static const char *const *const column_words[COLUMN_COUNT] = {
    [SYSTEM] = (const char *const[]){"system", "section", "network", "系统", "分类", "网络", NULL},
    [NAME] = (const char *const[]){"name", "item", "title", "名称", "设备名称", "品名", NULL},
    [PART] = (const char *const[]){"part", "part number", "part_number", "model", "order number",
                                   "sku", "组件", "型号", "部件", "料号", "设备型号", NULL},
    [DETAILS] = (const char *const[]){"description", "details", "specification", "spec", "技术规格",
                                      "规格", "描述", "配置", NULL},
    [QUANTITY] = (const char *const[]){"quantity", "qty", "count", "数量", NULL},
    [UNIT_PRICE] = (const char *const[]){"unit_price", "unit price", "price", "单价", NULL},
    [TOTAL] = (const char *const[]){"total", "total price", "amount", "总价", "小计", "金额",
                                    "合计", NULL},
};

struct reader {
    struct audit *audit;
    struct myr_csv csv;
    int columns[COLUMN_COUNT];   /* -1: absent */
    struct myr_str system, name; /* of the rows above */
};

/* Empty where the list has no such column, or this row is shorter. */
static struct myr_str cell(const struct reader *reader, enum column column)
{
    int at = reader->columns[column];
    return at < 0 || (uint32_t)at >= reader->csv.count
               ? (struct myr_str){"", 0}
               : audit_trim(myr_csv_text(reader->csv.fields[at]));
}

/*
 * False: not the header, or an error in '*rc', which is left alone else. A word twice in one row is
 * an error at once: which of the columns is meant cannot be guessed.
 */
static bool read_header(struct reader *reader, struct myr_err *err, int *rc)
{
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        reader->columns[i] = -1;
    }
    for (uint32_t i = 0; i < reader->csv.count; i++) {
        int column = audit_column(myr_csv_text(reader->csv.fields[i]), column_words, COLUMN_COUNT);
        if (column >= 0 && reader->columns[column] >= 0) {
            *rc = myr_csv_error(err, &reader->csv, i,
                                "two columns for '%s'; one of them must have another name",
                                column_words[column][0]);
            return false;
        }
        if (column >= 0) {
            reader->columns[column] = (int)i;
        }
    }
    /* Without these two it is a title, or a row of something else. */
    return reader->columns[PART] >= 0 && reader->columns[QUANTITY] >= 0;
}

/* Titles may stand above it; the rows before the header are skipped. */
static int find_header(struct reader *reader, struct myr_err *err)
{
    for (uint32_t row = 0; row < HEADER_ROWS_MAX; row++) {
        int rc = myr_csv_next(&reader->csv, err);
        MYR_TRY(rc);
        if (rc == 0) {
            break;
        }
        rc = MYR_OK;
        /*
         * A file with other separators has one column; said at its first row, for it has no header
         * either way.
         */
        struct myr_str only = reader->csv.fields[0];
        if (row == 0 && reader->csv.count == 1 &&
            (memchr(only.data, ';', only.len) || memchr(only.data, '\t', only.len))) {
            return myr_csv_error(err, &reader->csv, 0,
                                 "columns are separated by '%s', commas are expected",
                                 memchr(only.data, ';', only.len) ? ";" : "tabs");
        }
        if (read_header(reader, err, &rc)) {
            myr_csv_is_header(&reader->csv);
            return MYR_OK;
        }
        MYR_TRY(rc);
    }
    return myr_err_set(err, MYR_EINVAL,
                       "%s:1:1: no header row; the columns 'part' and 'quantity' are expected in "
                       "the first %d rows",
                       reader->csv.file, HEADER_ROWS_MAX);
}

/* 'ret' is left alone where the cell is empty. */
static int read_number(struct reader *reader, enum column column, double max, double *ret,
                       struct myr_err *err)
{
    struct myr_str text = cell(reader, column);
    double value = 0;
    if (text.len == 0) {
        return MYR_OK;
    }
    if (!audit_number(text, &value) || value > max) {
        char shown[MYR_EXCERPT_MAX];
        return myr_csv_error(err, &reader->csv, (uint32_t)reader->columns[column],
                             "'%s' is '%s', a number from 0 to %.0f is expected",
                             column_words[column][0], myr_text_excerpt(text, shown), max);
    }
    *ret = value;
    return MYR_OK;
}

static int read_quantity(struct reader *reader, struct audit_line *line, struct myr_err *err)
{
    double quantity = -1;
    MYR_TRY(read_number(reader, QUANTITY, 1e9, &quantity, err));
    /* Half a switch is a misread column. */
    if (quantity >= 0 && quantity != (double)(uint64_t)quantity) {
        return myr_csv_error(err, &reader->csv, (uint32_t)reader->columns[QUANTITY],
                             "'quantity' is %g, a whole number is expected", quantity);
    }
    /* Without a number it is one lot, and that is told. */
    line->uncounted = quantity < 0;
    line->quantity = line->uncounted ? 1 : (uint64_t)quantity;
    return MYR_OK;
}

/* A cell has no end of its own; messages want a text that has one. */
static const char *copy(const struct reader *reader, struct myr_str text)
{
    return myr_arena_strndup(reader->audit->arena, text.data, text.len);
}

/* The last line of a list: a word for it, and a sum. */
static bool is_sum(const struct reader *reader)
{
    /* The word may stand in any of the first columns. */
    bool word = audit_is_total(cell(reader, SYSTEM)) || audit_is_total(cell(reader, NAME)) ||
                audit_is_total(cell(reader, PART));
    return word && cell(reader, TOTAL).len > 0;
}

/* Adds nothing for headings and empty rows. */
static int read_line(struct reader *reader, struct myr_err *err)
{
    struct audit *audit = reader->audit;
    struct myr_str system = cell(reader, SYSTEM), part = cell(reader, PART);
    struct myr_str name = cell(reader, NAME), details = cell(reader, DETAILS);
    struct audit_line line = {.unit_price = -1, .total = -1};
    /* A new system ends a name that was merged over the rows above. */
    if (system.len > 0) {
        reader->system = system;
        reader->name = (struct myr_str){"", 0};
    }
    if (part.len == 0 && name.len == 0) {
        return MYR_OK; /* a heading, or nothing */
    }
    /* A merged cell is empty below its first row, so the name above counts. */
    reader->name = name.len > 0 ? name : reader->name;
    line.where = myr_arena_printf(audit->arena, "%s:%u", reader->csv.file, reader->csv.line);
    MYR_TRY(read_quantity(reader, &line, err));
    MYR_TRY(read_number(reader, UNIT_PRICE, 1e12, &line.unit_price, err));
    MYR_TRY(read_number(reader, TOTAL, 1e14, &line.total, err));
    audit_words_read(reader->name, &line.says);
    line.says.net = audit_words_system(reader->system);
    line.shown = copy(reader, part.len > 0 ? part : name);
    line.text = myr_str_from(myr_arena_printf(audit->arena, "%.*s %.*s", (int)reader->name.len,
                                              reader->name.data, (int)details.len, details.data));
    audit_line_finish(audit, &line, part.len > 0 ? part : name);
    /* Only of cables: other descriptions have metres too. */
    line.told_m = line.role == AUDIT_CABLE ? audit_told_length(line.text) : 0;
    if (audit->lines.count == MYR_AUDIT_LINES_MAX) {
        return myr_csv_error(err, &reader->csv, 0, "more than %d lines", MYR_AUDIT_LINES_MAX);
    }
    myr_vec_push(&audit->lines, line);
    return MYR_OK;
}

/* At least one line must be there. */
int audit_read_bom(struct audit *audit, const char *file, struct myr_str text, struct myr_err *err)
{
    struct reader reader = {.audit = audit, .system = {"", 0}, .name = {"", 0}};
    myr_csv_init(&reader.csv, audit->arena, file, text);
    MYR_TRY(find_header(&reader, err));
    for (;;) {
        int rc = myr_csv_next(&reader.csv, err);
        MYR_TRY(rc);
        if (rc == 0) {
            break;
        }
        /* Kept apart; the last one counts where a list has several. */
        if (is_sum(&reader)) {
            MYR_TRY(read_number(&reader, TOTAL, 1e15, &audit->stated_total, err));
            audit->total_at = myr_arena_printf(audit->arena, "%s:%u", file, reader.csv.line);
            continue;
        }
        MYR_TRY(read_line(&reader, err));
    }
    if (audit->lines.count == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s:1:1: no lines below the header", file);
    }
    audit->out->lines = (uint32_t)audit->lines.count;
    return MYR_OK;
}
