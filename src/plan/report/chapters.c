#include "report/report.h"

/*
 * Chapters that are words, from catalog/proposal: paragraphs and tables whose numbers are those of
 * the plan, by their paths. What the plan does not know is not said: a paragraph or a row that
 * names such a number is left out, and a table without rows with it.
 */

enum { TEMPLATE_BYTES = 256 };

/* ---- texts ---- */

/* "15,360" of "15360"; words as they are. */
static const char *grouped(const struct report *report, const struct myr_value *value)
{
    uint64_t whole;
    char text[32];
    if (value->kind != MYR_VALUE_NUMBER) {
        return report_words(report,
                            myr_arena_strndup(report->arena, value->text.data, value->text.len),
                            ", ", ", ");
    }
    const char *point = memchr(value->text.data, '.', value->text.len);
    size_t len = point ? (size_t)(point - value->text.data) : value->text.len;
    if (!myr_str_to_u64((struct myr_str){value->text.data, len}, &whole)) {
        return myr_arena_strndup(report->arena, value->text.data, value->text.len);
    }
    return myr_arena_printf(report->arena, "%s%.*s", myr_u64_grouped(whole, text),
                            (int)(value->text.len - len), value->text.data + len);
}

/* One that the plan has not, and a word that says nothing. */
static bool is_known(const struct myr_value *value)
{
    return value && value->text.len > 0 &&
           (value->kind == MYR_VALUE_NUMBER || value->kind == MYR_VALUE_TEXT);
}

/* "0", "0.00": there is none of it. */
static bool is_none(const struct myr_value *value)
{
    double number;
    return value->kind == MYR_VALUE_NUMBER && myr_str_to_double(value->text, &number) &&
           number == 0;
}

/*
 * The text with its numbers, in the report's language; NULL: one of them is not known, or the first
 * says that there is none.
 */
static const char *filled(const struct report *report, struct myr_str text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    for (size_t i = 0; i < text.len;) {
        const char *end = text.data[i] == '{' ? memchr(text.data + i, '}', text.len - i) : NULL;
        if (!end) {
            myr_buf_putc(&said, text.data[i++]);
            continue;
        }
        char path[TEMPLATE_BYTES];
        size_t len = (size_t)(end - text.data) - i - 1;
        MYR_ASSERT(len < sizeof(path));
        memcpy(path, text.data + i + 1, len);
        path[len] = '\0';
        const struct myr_value *value = myr_value_get(&report->tree->root, path);
        if (!is_known(value) || (report->paths->count == 0 && is_none(value))) {
            report->paths->count = 0;
            return NULL;
        }
        myr_buf_puts(&said, report_value(report, grouped(report, value), "%s", path));
        i += len + 2;
    }
    const char *english = myr_arena_strndup(report->arena, said.data ? said.data : "", said.len);
    return report_say(report, "%s", english);
}

/* Cell by cell; false: the row has a number that is not known, and nothing was written. */
static bool put_row(const struct report *report, const struct myr_doc *row)
{
    const char *cells[8];
    MYR_ASSERT(row->count <= MYR_ARRAY_COUNT(cells));
    struct report_paths all[MYR_ARRAY_COUNT(cells)];
    for (uint32_t i = 0; i < row->count; i++) {
        report->paths->count = 0;
        cells[i] = filled(report, row->items[i]->text);
        if (!cells[i]) {
            return false;
        }
        all[i] = *report->paths; /* marks are counted from the beginning of each cell */
    }
    myr_page_row_begin(report->buf);
    for (uint32_t i = 0; i < row->count; i++) {
        *report->paths = all[i];
        myr_buf_put_lit(report->buf, "<td>");
        report_put(report, cells[i]);
        myr_buf_put_lit(report->buf, "</td>");
    }
    myr_page_row_end(report->buf);
    return true;
}

/* ---- sections ---- */

static void put_table(const struct report *report, const struct myr_doc *heads,
                      const struct myr_doc *rows)
{
    const char *names[8];
    size_t before = report->buf->len;
    bool any = false;
    MYR_ASSERT(heads->count <= MYR_ARRAY_COUNT(names));
    for (uint32_t i = 0; i < heads->count; i++) {
        names[i] = heads->items[i]->text.data;
    }
    report_table(report, names, heads->count);
    for (uint32_t i = 0; i < rows->count; i++) {
        MYR_ASSERT(rows->items[i]->count == heads->count);
        any = put_row(report, rows->items[i]) || any;
    }
    if (any) {
        myr_page_table_end(report->buf);
    } else {
        report->buf->len = before; /* a head alone says nothing */
    }
}

static void put_section(const struct report *report, const struct myr_doc *section)
{
    const struct myr_doc *title = myr_doc_get(section, "title");
    const struct myr_doc *text = myr_doc_get(section, "text");
    const struct myr_doc *rows = myr_doc_get(section, "rows");
    if (title) {
        report_subheading(report, "%s", title->text.data);
    }
    for (uint32_t i = 0; text && i < text->count; i++) {
        const char *said = filled(report, text->items[i]->text);
        if (said) {
            myr_buf_put_lit(report->buf, "<p>");
            report_put(report, said);
            myr_buf_put_lit(report->buf, "</p>\n");
        }
    }
    if (rows) {
        put_table(report, myr_doc_get(section, "heads"), rows);
    }
}

/* Whether the plan is one that the chapter is about. */
static bool is_meant(const struct report *report, const struct myr_doc *when)
{
    if (!when) {
        return true;
    }
    const struct myr_value *value = myr_value_get(&report->tree->root, when->items[0]->text.data);
    return value && myr_str_eq(value->text, when->items[1]->text);
}

void report_chapter(const struct report *report, const char *name)
{
    const struct myr_doc *chapter = myr_doc_get(report_document(report->arena, "chapters"), name);
    MYR_ASSERT(chapter);
    if (!is_meant(report, myr_doc_get(chapter, "when"))) {
        return;
    }
    const struct myr_doc *title = myr_doc_get(chapter, "title");
    const struct myr_doc *sections = myr_doc_get(chapter, "sections");
    if (title && title->kind == MYR_DOC_SCALAR) {
        report_heading(report, title->text.data);
    }
    for (uint32_t i = 0; i < sections->count; i++) {
        put_section(report, sections->items[i]);
    }
}
