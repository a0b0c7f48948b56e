/* answer_write: the tree for programs, as JSON, YAML or CSV. */
#include "answer_view.h"
#include "myriad/text/csv.h"
#include "myriad/text/json.h"
#include "yaml_plain.h"

/* Trees are as deep as the code that built them, at most MYR_ANSWER_DEPTH_MAX: recursion is safe.
 */
static void put_json(struct myr_json *json, const struct myr_value *value)
{
    switch (value->kind) {
    case MYR_VALUE_NULL:
        myr_json_null(json, value->key);
        return;
    case MYR_VALUE_BOOL:
    case MYR_VALUE_NUMBER:
        myr_json_raw(json, value->key, value->text);
        return;
    case MYR_VALUE_TEXT:
        myr_json_str(json, value->key, value->text);
        return;
    case MYR_VALUE_LIST:
        myr_json_list(json, value->key);
        break;
    case MYR_VALUE_OBJECT:
        myr_json_object(json, value->key);
        break;
    }
    for (const struct myr_value *child = value->first; child; child = child->next) {
        put_json(json, child);
    }
    myr_json_end(json);
}

static void write_json(const struct myr_value *root, struct myr_buf *buf)
{
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    put_json(&json, root);
    myr_buf_putc(buf, '\n');
}

/* Block style, for people; what YAML could read otherwise is quoted as JSON, which it takes too. */
static void put_yaml_text(struct myr_buf *buf, struct myr_str text)
{
    if (is_plain_yaml(text)) {
        myr_buf_put(buf, text.data, text.len);
    } else {
        myr_json_quote(buf, text);
    }
}

/* Also what has no children: an empty list has no lines to be written in block style. */
static void put_yaml_scalar(struct myr_buf *buf, const struct myr_value *value)
{
    switch (value->kind) {
    case MYR_VALUE_NULL:
        myr_buf_put_lit(buf, "null");
        break;
    case MYR_VALUE_TEXT:
        put_yaml_text(buf, value->text);
        break;
    case MYR_VALUE_LIST:
        myr_buf_put_lit(buf, "[]");
        break;
    case MYR_VALUE_OBJECT:
        myr_buf_put_lit(buf, "{}");
        break;
    case MYR_VALUE_BOOL:
    case MYR_VALUE_NUMBER:
        myr_buf_put(buf, value->text.data, value->text.len);
        break;
    }
    myr_buf_putc(buf, '\n');
}

/* 'open': the first line goes on behind a "- " that is written already. */
static void put_yaml(struct myr_buf *buf, const struct myr_value *value, uint32_t depth, bool open)
{
    for (const struct myr_value *child = value->first; child; child = child->next) {
        bool nested = child->count > 0;
        for (uint32_t i = 0; i < depth && !open; i++) {
            myr_buf_put_lit(buf, "  ");
        }
        open = false;
        if (child->key) {
            put_yaml_text(buf, myr_str_from(child->key));
            myr_buf_puts(buf, nested ? ":\n" : ": ");
        } else {
            myr_buf_put_lit(buf, "- ");
        }
        if (nested) {
            put_yaml(buf, child, depth + 1, !child->key);
        } else {
            put_yaml_scalar(buf, child);
        }
    }
}

/* --- CSV: one line an object of the list, nested objects as "outer.inner" */

/* Names of columns as they are met, each once. */
struct columns {
    MYR_VEC(const char *) names;
    struct myr_arena *arena;
};

/* One cell of CSV; an empty object is one too, for it has no keys to make columns of. */
static bool is_flat(const struct myr_value *value)
{
    return value->kind != MYR_VALUE_OBJECT || value->count == 0;
}

/* Rows have a few dozen keys at most: comparing with all of them is cheaper than a map. */
static void add_column(struct columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->names.count; i++) {
        if (strcmp(columns->names.items[i], name) == 0) {
            return;
        }
    }
    myr_vec_push(&columns->names, name);
}

/* Columns stand in the order in which their keys are first met. */
static void find_columns(struct columns *columns, const char *prefix,
                         const struct myr_value *object)
{
    for (const struct myr_value *v = object->first; v; v = v->next) {
        const char *name = myr_arena_printf(columns->arena, "%s%s", prefix, v->key);
        if (is_flat(v)) {
            add_column(columns, name);
        } else {
            find_columns(columns, myr_arena_printf(columns->arena, "%s.", name), v);
        }
    }
}

/* The same keys in the same order, at every depth. */
static bool same_shape(const struct myr_value *a, const struct myr_value *b)
{
    const struct myr_value *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next) {
        if (strcmp(x->key, y->key) != 0 || is_flat(x) != is_flat(y) ||
            (!is_flat(x) && !same_shape(x, y))) {
            return false;
        }
    }
    return !x && !y;
}

/* An empty list still says which columns it would have: those of the table over it. */
static void find_all_columns(struct columns *columns, const struct myr_answer *answer)
{
    const struct myr_value *before = NULL;
    for (const char *at = answer->header; at && *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        add_column(columns, myr_arena_strndup(columns->arena, at, len));
        at += len;
    }
    for (const struct myr_value *row = answer->rows->first; row; row = row->next) {
        MYR_ASSERT(row->kind == MYR_VALUE_OBJECT);
        /* Nearly always the rows are alike: then their names are looked at once, not each time. */
        if (!before || !same_shape(before, row)) {
            find_columns(columns, "", row);
        }
        before = row;
    }
    for (const struct myr_answer_view *view = answer->first_view; view; view = view->next) {
        for (uint32_t i = 0; view->list == answer->rows && i < view->column_count; i++) {
            add_column(columns, view->columns[i].key);
        }
    }
}

/* Only text is guarded against formulas: a number that begins with '-' is what it looks like. */
static void put_cell(struct myr_buf *buf, const struct myr_value *value, struct myr_buf *scratch)
{
    if (!value || value->kind == MYR_VALUE_NULL) {
        return;
    }
    if (value->kind == MYR_VALUE_TEXT) {
        myr_csv_put_text(buf, value->text);
        return;
    }
    if (value->kind != MYR_VALUE_LIST && value->kind != MYR_VALUE_OBJECT) {
        myr_csv_put(buf, value->text);
        return;
    }
    struct myr_json json; /* a list inside a row: as JSON, so that nothing is lost */
    struct myr_value bare = *value;
    bare.key = NULL;
    myr_buf_clear(scratch);
    myr_json_init(&json, scratch, MYR_JSON_COMPACT);
    put_json(&json, &bare);
    myr_csv_put(buf, (struct myr_str){scratch->data, scratch->len});
}

static void columns_done(struct columns *columns)
{
    myr_vec_done(&columns->names);
}

/* Rows may differ in their keys: a column that a row lacks is an empty cell. */
static void write_csv(const struct myr_answer *answer, bool excel, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(columns_done) struct columns columns = {.arena = &arena};
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    myr_arena_init(&arena);
    find_all_columns(&columns, answer);
    if (excel) {
        /* The mark by which Excel knows that the file is UTF-8. */
        myr_buf_put_lit(buf, "\xEF\xBB\xBF");
    }
    for (size_t i = 0; i < columns.names.count; i++) {
        myr_csv_put(buf, myr_str_from(columns.names.items[i]));
        myr_buf_putc(buf, i + 1 < columns.names.count ? ',' : '\n');
    }
    for (const struct myr_value *row = answer->rows->first; row; row = row->next) {
        /* Whether all cells of the row were empty. */
        size_t start = buf->len;
        for (size_t i = 0; i < columns.names.count; i++) {
            put_cell(buf, myr_value_get(row, columns.names.items[i]), &scratch);
            if (i + 1 < columns.names.count) {
                myr_buf_putc(buf, ',');
            }
        }
        if (buf->len == start) {
            myr_buf_put_lit(buf, "\"\""); /* a blank line would be no row at all */
        }
        myr_buf_putc(buf, '\n');
    }
}

int myr_answer_write(const struct myr_answer *answer, const struct myr_answer_form *form,
                     struct myr_buf *buf, struct myr_err *err)
{
    MYR_ASSERT(answer->depth == 1); /* everything that was opened was ended */
    /*
     * A copy of the root, so that the timing can hang behind its last value without changing the
     * answer.
     */
    struct myr_value root = answer->root;
    struct myr_value timing = answer->timing;
    MYR_ASSERT(root.last); /* at least the schema */
    if (form->timing) {
        root.last->next = &timing; /* for as long as it is written */
    }
    int rc = MYR_OK;
    switch (form->format) {
    case MYR_FORMAT_TABLE:
    case MYR_FORMAT_WIDE:
        answer_page(answer, form, buf);
        break;
    case MYR_FORMAT_JSON:
        write_json(&root, buf);
        break;
    case MYR_FORMAT_YAML:
        put_yaml(buf, &root, 0, false);
        break;
    case MYR_FORMAT_CSV:
        if (answer->rows) {
            write_csv(answer, form->excel, buf);
        } else {
            rc = myr_err_set(err, MYR_EINVAL, "this answer is no list and has no CSV form");
            myr_err_hint(err, "-o json or -o yaml holds all of it");
        }
        break;
    }
    root.last->next = NULL;
    return rc;
}
