/* answer_page: the answer for people, fitted to their screen. */
#include "answer_view.h"

#include <stdlib.h>

#include "letter/utf8.h"
#include "myriad/text/json.h"
#include "wrap.h"

/* Without a screen, words are broken as on the narrowest one that people use. */
enum { WORDS_WIDTH = 80, FACT_GAP = 2, LABEL_MAX = 28 }; /* columns */

static uint32_t words_width(const struct myr_answer_form *form)
{
    return form->width > 0 ? form->width : WORDS_WIDTH;
}

/* The codes are for bold and for all off; words in between cannot bring codes of their own. */
static void put_bold(struct myr_buf *buf, const struct myr_answer_form *form, struct myr_str text)
{
    myr_buf_puts(buf, form->colour ? "\x1b[1m" : "");
    wrap_put_shown(buf, text);
    myr_buf_puts(buf, form->colour ? "\x1b[0m" : "");
}

/* Line by line, because bold ends with its line. */
static void put_heading(struct myr_buf *buf, const struct myr_answer_form *form,
                        struct myr_str text)
{
    do {
        put_bold(buf, form, wrap_line(&text, words_width(form)));
        myr_buf_putc(buf, '\n');
    } while (text.len);
}

/* Consecutive facts share a column; a label that is longer than most has a line of its own. */
static uint32_t label_width(const struct myr_answer_view *view)
{
    uint32_t width = 0;
    for (; view && view->kind == VIEW_FACT; view = view->next) {
        uint32_t own = myr_text_width(myr_str_from(view->label));
        width = own > width && own <= LABEL_MAX ? own : width;
    }
    return width;
}

/*
 * 'width' is the one of the group, from label_width(): a longer label stands on a line of its own.
 */
static void put_fact(struct myr_buf *buf, const struct myr_answer_form *form,
                     const struct myr_answer_view *view, uint32_t width)
{
    uint32_t own = myr_text_width(myr_str_from(view->label));
    wrap_put_shown(buf, myr_str_from(view->label));
    if (own > width) {
        myr_buf_putc(buf, '\n');
        own = 0;
    }
    for (; own < width + FACT_GAP; own++) {
        myr_buf_putc(buf, ' ');
    }
    wrap_put(buf, view->text, width + FACT_GAP, width + FACT_GAP, words_width(form));
    myr_buf_putc(buf, '\n');
}

/* Behind the point of a number that has one; "12.0" is a whole number. */
static int digits_told(struct myr_str text)
{
    const char *point = memchr(text.data, '.', text.len);
    int digits = (int)(text.data + text.len - point) - 1;
    return digits == 1 && point[1] == '0' ? 0 : digits;
}

/* A number of the tree with the digits that people want; other values as they are. */
static void add_cell(struct myr_table *table, const struct myr_answer_column *column,
                     const struct myr_value *value)
{
    double number;
    if (!value || value->kind == MYR_VALUE_NULL) {
        myr_table_text(table, NULL);
    } else if (value->kind == MYR_VALUE_BOOL) {
        myr_table_text(table, value->text.data[0] == 't' ? "yes" : "no");
    } else if (value->kind == MYR_VALUE_NUMBER && memchr(value->text.data, '.', value->text.len) &&
               myr_str_to_double(value->text, &number)) {
        bool mixed = column->flags & MYR_COLUMN_MIXED;
        myr_table_double(table, number, mixed ? digits_told(value->text) : column->digits);
    } else if (value->kind == MYR_VALUE_LIST || value->kind == MYR_VALUE_OBJECT) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
        for (const struct myr_value *v = value->first; v; v = v->next) {
            myr_buf_puts(&words, words.len > 0 ? ", " : "");
            myr_buf_put(&words, v->text.data, v->text.len);
        }
        myr_table_str(table, (struct myr_str){words.len ? words.data : "", words.len});
    } else {
        myr_table_str(table, value->text);
    }
}

/* The table has an arena of its own: its cells are copies that nobody needs once it is written. */
static void put_table(struct myr_buf *buf, const struct myr_answer_form *form,
                      const struct myr_answer_view *view)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_table_done) struct myr_table table;
    myr_arena_init(&arena);
    struct myr_column *columns = MYR_ARENA_NEW(&arena, struct myr_column, view->column_count);
    for (uint32_t i = 0; i < view->column_count; i++) {
        const struct myr_answer_column *c = &view->columns[i];
        columns[i] = (struct myr_column){c->key, c->title, c->flags};
    }
    myr_table_init(&table, &arena, columns, view->column_count);
    for (const struct myr_value *row = view->list->first; row; row = row->next) {
        for (uint32_t i = 0; i < view->column_count; i++) {
            add_cell(&table, &view->columns[i], myr_value_get(row, view->columns[i].key));
        }
    }
    struct myr_screen screen = {form->width, form->colour};
    myr_table_write(&table, form->format, &screen, buf);
}

/* As it is, but nothing in it drives the terminal. */
static void put_verbatim(struct myr_buf *buf, struct myr_str text)
{
    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t)(end - text.data) : text.len;
        wrap_put_shown(buf, (struct myr_str){text.data, len});
        myr_buf_putc(buf, '\n');
        size_t skip = len + (end != NULL);
        text = (struct myr_str){text.data + skip, text.len - skip};
    }
}

/* 'labels' is the width of the group of facts at hand. */
static void put_view(struct myr_buf *buf, const struct myr_answer_form *form,
                     const struct myr_answer_view *view, uint32_t labels)
{
    switch (view->kind) {
    case VIEW_HEADING:
        put_heading(buf, form, view->text);
        return;
    case VIEW_PARA:
        wrap_put(buf, view->text, 0, 0, words_width(form));
        myr_buf_putc(buf, '\n');
        return;
    case VIEW_FACT:
        put_fact(buf, form, view, labels);
        return;
    case VIEW_TABLE:
        put_table(buf, form, view);
        return;
    case VIEW_VERBATIM:
        put_verbatim(buf, view->text);
        return;
    case VIEW_MORE:
    case VIEW_NEXT:
        return; /* gathered at the end */
    }
}

/* Pieces that belong together stand together: a heading with what follows, facts, paragraphs. */
static bool needs_gap(const struct myr_answer_view *before, const struct myr_answer_view *view)
{
    if (!before || before->kind == VIEW_HEADING) {
        return false;
    }
    return before->kind != view->kind || view->kind == VIEW_TABLE || view->kind == VIEW_VERBATIM;
}

/*
 * The first line goes on behind "more: -o wide, for ", which is 19 wide; the next ones behind
 * "more: ".
 */
static void put_more(const struct myr_answer_form *form, const struct myr_answer_view *view,
                     struct myr_buf *buf)
{
    myr_buf_putc(buf, '\n');
    put_bold(buf, form, MYR_STR("more: "));
    myr_buf_put_lit(buf, "-o wide, for ");
    wrap_put(buf, view->text, 19, 6, words_width(form));
    myr_buf_putc(buf, '\n');
}

/*
 * All of them at the end of the page, wherever they were said. A command is never broken, and
 * stands alone where words, or its own length, would not leave it room.
 */
static void put_next(const struct myr_answer *answer, const struct myr_answer_form *form,
                     struct myr_buf *buf)
{
    enum { LINE_MAX = 80, WORD = 6 }; /* "next: " */
    bool first = true;
    for (const struct myr_answer_view *view = answer->first_view; view; view = view->next) {
        if (view->kind != VIEW_NEXT) {
            continue;
        }
        if (first && buf->len > 0) {
            myr_buf_putc(buf, '\n');
        }
        first = false;
        if (!view->label && WORD + myr_text_width(view->text) <= LINE_MAX) {
            put_bold(buf, form, MYR_STR("next: "));
        } else {
            put_bold(buf, form, view->label ? MYR_STR("next") : MYR_STR("next:"));
            myr_buf_printf(buf, "%s%s%s\n  ", view->label ? ", " : "",
                           view->label ? view->label : "", view->label ? ":" : "");
        }
        put_verbatim(buf, view->text); /* to be pasted: never broken */
    }
}

/* Where a time is not known the text has no data. */
static void put_timing(const struct myr_answer *answer, struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "\ntiming:");
    for (const struct myr_value *v = answer->timing.first; v; v = v->next) {
        myr_buf_printf(buf, "%s %s %.*s", v == answer->timing.first ? "" : ",", v->key,
                       (int)v->text.len, v->text.data ? v->text.data : "-");
    }
    myr_buf_putc(buf, '\n');
}

void answer_page(const struct myr_answer *answer, const struct myr_answer_form *form,
                 struct myr_buf *buf)
{
    const struct myr_answer_view *before = NULL;
    uint32_t labels = 0;
    for (const struct myr_answer_view *view = answer->first_view; view; view = view->next) {
        /*
         * What stands behind "more" is the detail: table leaves it out and says so, wide shows it.
         */
        if (view->kind == VIEW_MORE && form->format == MYR_FORMAT_TABLE) {
            put_more(form, view, buf);
            break;
        }
        /* With wide, "more" has nothing left to point to. */
        if (view->kind == VIEW_NEXT || view->kind == VIEW_MORE) {
            continue;
        }
        if (needs_gap(before, view)) {
            myr_buf_putc(buf, '\n');
        }
        /* Only the first fact of a group measures; the others stand in its column. */
        if (view->kind == VIEW_FACT && (!before || before->kind != VIEW_FACT)) {
            labels = label_width(view);
        }
        put_view(buf, form, view, labels);
        before = view;
    }
    put_next(answer, form, buf);
    if (form->timing) {
        put_timing(answer, buf);
    }
}
