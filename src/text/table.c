/*
 * table: rows of cells as columns that fit the screen. Cells lie row by row in one list, so a
 * cell's column is its place modulo the columns.
 */
#include "myriad/text/table.h"

#include "letter/utf8.h"
#include "myriad/text/json.h"
#include "wrap.h"

/* Arrays of layouts lie on the stack: 64 columns are more than any screen has room for. */
enum { COLUMN_GAP = 2, COLUMNS_MAX = 64, NO_COLUMN = COLUMNS_MAX };

const char *const myr_format_names[MYR_FORMAT_COUNT] = {"table", "wide", "json", "yaml", "csv"};

void myr_table_init(struct myr_table *table, struct myr_arena *arena,
                    const struct myr_column *columns, uint32_t column_count)
{
    MYR_ASSERT(columns && column_count > 0 && column_count <= COLUMNS_MAX);
    *table = (struct myr_table){
        .columns = columns,
        .column_count = column_count,
        .arena = arena,
    };
}

void myr_table_done(struct myr_table *table)
{
    myr_vec_done(&table->cells);
}

/* No data is "not known", which every form shows in its own way; an empty text is text. */
void myr_table_str(struct myr_table *table, struct myr_str value)
{
    struct myr_str copy = {NULL, 0};
    if (value.data) {
        copy = (struct myr_str){
            myr_arena_strndup(table->arena, value.data, value.len),
            value.len,
        };
    }
    myr_vec_push(&table->cells, copy);
}

void myr_table_text(struct myr_table *table, const char *value)
{
    myr_table_str(table, myr_str_from(value));
}

void myr_table_double(struct myr_table *table, double value, int digits)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_json_number(&buf, value, digits);
    myr_table_str(table, (struct myr_str){buf.data, buf.len});
}

/* Not isdigit(), which follows the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* As JSON has numbers: what else stands in a column of numbers is a word. */
static bool is_number(struct myr_str cell)
{
    double value;
    /* JSON has no leading zeros, no '+', and a digit on both sides of the point. */
    size_t first = cell.len > 0 && cell.data[0] == '-';
    if (!myr_str_to_double(cell, &value) || !is_digit(cell.data[first]) ||
        (cell.data[first] == '0' && first + 1 < cell.len && is_digit(cell.data[first + 1]))) {
        return false;
    }
    const char *point = memchr(cell.data, '.', cell.len);
    return !point || (point + 1 < cell.data + cell.len && is_digit(point[1]));
}

/* A number column may hold words ("n/a"): those are not grouped. */
static bool is_bare(const struct myr_column *column, struct myr_str cell)
{
    return (column->flags & MYR_COLUMN_NUMBER) && is_number(cell);
}

/* Digits after the point; an exponent form has none that could be lined up. */
static uint32_t decimals_of(struct myr_str cell)
{
    const char *point = memchr(cell.data, '.', cell.len);
    if (!point || memchr(cell.data, 'e', cell.len)) {
        return 0;
    }
    return (uint32_t)(cell.data + cell.len - point - 1);
}

/* "-1234567.5" as "-1,234,567.50" for two decimals. */
static void put_grouped(struct myr_buf *buf, struct myr_str number, uint32_t decimals)
{
    /* An exponent has no places to group. */
    if (memchr(number.data, 'e', number.len) || memchr(number.data, 'E', number.len)) {
        myr_buf_put(buf, number.data, number.len);
        return;
    }
    /* The point and what is behind it are copied as they are; only zeros are added. */
    uint32_t own_decimals = decimals_of(number);
    size_t whole_end = number.len - own_decimals - (own_decimals > 0);
    for (size_t i = 0; i < whole_end; i++) {
        if (i > 0 && is_digit(number.data[i - 1]) && (whole_end - i) % 3 == 0) {
            myr_buf_putc(buf, ',');
        }
        myr_buf_putc(buf, number.data[i]);
    }
    myr_buf_put(buf, number.data + whole_end, number.len - whole_end);
    if (decimals > 0 && own_decimals == 0) {
        myr_buf_putc(buf, '.');
    }
    for (uint32_t i = own_decimals; i < decimals; i++) {
        myr_buf_putc(buf, '0');
    }
}

/* For people: "-" where nothing is known, numbers in groups of three, text without controls. */
static void put_shown(struct myr_buf *buf, const struct myr_column *column, struct myr_str cell,
                      uint32_t decimals)
{
    if (!cell.data) {
        myr_buf_putc(buf, '-');
        return;
    }
    if (is_bare(column, cell)) {
        put_grouped(buf, cell, decimals);
        return;
    }
    for (size_t at = 0; at < cell.len;) {
        size_t start = at;
        if (utf8_is_hidden(utf8_next(cell, &at))) {
            myr_buf_putc(buf, '?'); /* a cell cannot break the row or drive the terminal */
        } else {
            myr_buf_put(buf, cell.data + start, at - start);
        }
    }
}

/* How the columns come out for people. */
struct layout {
    uint32_t decimals[COLUMNS_MAX]; /* that all numbers of the column are padded to */
    uint32_t widths[COLUMNS_MAX];
    bool shown[COLUMNS_MAX];
    uint32_t last_shown; /* ends the line, without padding */
    bool wrapped;        /* cells may take several lines */
};

/* Two passes over the cells: decimals must be known before widths can be. */
static void measure(const struct myr_table *table, enum myr_format format, struct layout *layout)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    *layout = (struct layout){};
    for (uint32_t c = 0; c < table->column_count; c++) {
        const struct myr_column *column = &table->columns[c];
        layout->shown[c] = format == MYR_FORMAT_WIDE || !(column->flags & MYR_COLUMN_WIDE);
        layout->last_shown = layout->shown[c] ? c : layout->last_shown;
        layout->widths[c] = myr_text_width(myr_str_from(column->title));
        for (size_t i = c; i < table->cells.count; i += table->column_count) {
            struct myr_str cell = table->cells.items[i];
            /* Mixed columns keep each number's own digits: nothing is lined up. */
            bool lined_up =
                cell.data && is_bare(column, cell) && !(column->flags & MYR_COLUMN_MIXED);
            uint32_t decimals = lined_up ? decimals_of(cell) : 0;
            decimals = decimals == 1 && (column->flags & MYR_COLUMN_MONEY) ? 2 : decimals;
            if (layout->decimals[c] < decimals) {
                layout->decimals[c] = decimals;
            }
        }
        for (size_t i = c; i < table->cells.count; i += table->column_count) {
            myr_buf_clear(&scratch);
            put_shown(&scratch, column, table->cells.items[i], layout->decimals[c]);
            uint32_t width = myr_text_width((struct myr_str){scratch.data, scratch.len});
            if (layout->widths[c] < width) {
                layout->widths[c] = width;
            }
        }
    }
}

static void put_spaces(struct myr_buf *buf, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_putc(buf, ' ');
    }
}

/* One cell of one line, with the gap behind it or the end of the line. */
static void put_aligned(const struct myr_table *table, const struct layout *layout, uint32_t c,
                        struct myr_str shown, struct myr_buf *buf)
{
    /* Not printf's width: it counts bytes, and a CJK character has three for two columns. */
    uint32_t own = myr_text_width(shown);
    uint32_t padding = layout->widths[c] > own ? layout->widths[c] - own : 0;
    bool right = table->columns[c].flags & MYR_COLUMN_NUMBER;
    put_spaces(buf, right ? padding : 0);
    myr_buf_put(buf, shown.data, shown.len);
    if (c < layout->last_shown) {
        put_spaces(buf, COLUMN_GAP + (right ? 0 : padding));
        return;
    }
    /* Blanks at the end of a line (the last cells may be empty) only trouble those who compare. */
    while (buf->len > 0 && buf->data[buf->len - 1] == ' ') {
        buf->len--;
    }
    myr_buf_putc(buf, '\n');
}

/* One row, over as many lines as its longest cell needs. */
static void put_row(const struct myr_table *table, const struct layout *layout,
                    struct myr_str rest[COLUMNS_MAX], struct myr_buf *buf)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t c = 0; c < table->column_count; c++) {
            if (!layout->shown[c]) {
                continue;
            }
            struct myr_str line = rest[c];
            if (layout->wrapped) {
                line = wrap_line(&rest[c], layout->widths[c]);
                more = more || rest[c].len > 0;
            }
            put_aligned(table, layout, c, line, buf);
        }
    }
}

/* Of a line; the last column has no gap behind it. */
static uint32_t total_width(const struct myr_table *table, const struct layout *layout)
{
    uint32_t total = 0;
    for (uint32_t c = 0; c < table->column_count; c++) {
        total += layout->shown[c] ? layout->widths[c] + COLUMN_GAP : 0;
    }
    return total > 0 ? total - COLUMN_GAP : 0;
}

/* The narrowest that breaks no word of a column. */
static uint32_t narrowest(const struct myr_table *table, const struct layout *layout, uint32_t c)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    const struct myr_column *column = &table->columns[c];
    uint32_t width = wrap_longest(myr_str_from(column->title));
    for (size_t i = c; i < table->cells.count; i += table->column_count) {
        myr_buf_clear(&scratch);
        put_shown(&scratch, column, table->cells.items[i], layout->decimals[c]);
        uint32_t own = wrap_longest((struct myr_str){scratch.data, scratch.len});
        width = own > width ? own : width;
    }
    return width;
}

/*
 * Takes from the widest column that can give, until the rows fit. False when no word-wise breaking
 * is enough.
 */
static bool fit_screen(const struct myr_table *table, struct layout *layout, uint32_t width)
{
    /* Below these a word would be broken. */
    uint32_t least[COLUMNS_MAX];
    if (width == 0 || total_width(table, layout) <= width) {
        return true;
    }
    for (uint32_t c = 0; c < table->column_count; c++) {
        least[c] = layout->shown[c] ? narrowest(table, layout, c) : 0;
    }
    while (total_width(table, layout) > width) {
        uint32_t widest = NO_COLUMN;
        for (uint32_t c = 0; c < table->column_count; c++) {
            bool gives = layout->shown[c] && layout->widths[c] > least[c];
            if (gives && (widest == NO_COLUMN || layout->widths[c] > layout->widths[widest])) {
                widest = c;
            }
        }
        /* Every column is as narrow as its longest word: columns are given up for blocks. */
        if (widest == NO_COLUMN) {
            return false;
        }
        MYR_ASSERT(layout->widths[widest] > least[widest] && layout->widths[widest] > 0);
        layout->widths[widest]--;
    }
    /* Only a layout that gave something needs its cells broken. */
    layout->wrapped = true;
    return true;
}

/* A screen too narrow for columns gets a block a row: "TITLE  value", line by line. */
static void write_blocks(const struct myr_table *table, const struct layout *layout, uint32_t width,
                         struct myr_buf *buf)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    /* All titles in one column, values in the other. */
    uint32_t titles = 0;
    for (uint32_t c = 0; c < table->column_count; c++) {
        uint32_t own = myr_text_width(myr_str_from(table->columns[c].title));
        titles = layout->shown[c] && own > titles ? own : titles;
    }
    for (size_t i = 0; i < table->cells.count; i++) {
        uint32_t c = (uint32_t)(i % table->column_count);
        if (c == 0 && i > 0) {
            myr_buf_putc(buf, '\n');
        }
        if (!layout->shown[c]) {
            continue;
        }
        const char *title = table->columns[c].title;
        myr_buf_puts(buf, title);
        put_spaces(buf, titles + COLUMN_GAP - myr_text_width(myr_str_from(title)));
        myr_buf_clear(&scratch);
        put_shown(&scratch, &table->columns[c], table->cells.items[i], layout->decimals[c]);
        wrap_put(buf, (struct myr_str){scratch.data, scratch.len}, titles + COLUMN_GAP,
                 titles + COLUMN_GAP, width);
        myr_buf_putc(buf, '\n');
    }
}

/* Each column has a buffer of its own: 'rest' points into it until the whole row is written. */
static void write_columns(const struct myr_table *table, const struct layout *layout, bool colour,
                          struct myr_buf *buf)
{
    struct myr_buf scratch[COLUMNS_MAX] = {};
    struct myr_str rest[COLUMNS_MAX];
    for (uint32_t c = 0; c < table->column_count; c++) {
        rest[c] = myr_str_from(table->columns[c].title);
    }
    myr_buf_puts(buf, colour ? "\x1b[1m" : "");
    put_row(table, layout, rest, buf);
    myr_buf_puts(buf, colour ? "\x1b[0m" : "");
    for (size_t i = 0; i < table->cells.count; i++) {
        uint32_t c = (uint32_t)(i % table->column_count);
        myr_buf_clear(&scratch[c]);
        put_shown(&scratch[c], &table->columns[c], table->cells.items[i], layout->decimals[c]);
        rest[c] = (struct myr_str){scratch[c].data ? scratch[c].data : "", scratch[c].len};
        if (c + 1 == table->column_count) {
            put_row(table, layout, rest, buf);
        }
    }
    for (uint32_t c = 0; c < table->column_count; c++) {
        myr_buf_done(&scratch[c]);
    }
}

void myr_table_write(const struct myr_table *table, enum myr_format format,
                     const struct myr_screen *screen, struct myr_buf *buf)
{
    struct layout layout;
    MYR_ASSERT(format == MYR_FORMAT_TABLE || format == MYR_FORMAT_WIDE);
    MYR_ASSERT(table->cells.count % table->column_count == 0); /* whole rows */
    measure(table, format, &layout);
    if (fit_screen(table, &layout, screen->width)) {
        write_columns(table, &layout, screen->colour, buf);
    } else {
        write_blocks(table, &layout, screen->width, buf);
    }
}
