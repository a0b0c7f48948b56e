/* answer: building the tree and the page. Rendering is in answer_write.c and answer_page.c. */
#include "answer_view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "myriad/text/json.h"

/* NULL stays NULL: items of a list have no key. */
static const char *copy(struct myr_answer *answer, const char *text)
{
    return text ? myr_arena_strndup(answer->arena, text, strlen(text)) : NULL;
}

/* Objects of an answer have a dozen keys; lists, which may be long, have none to compare. */
static bool has_key(const struct myr_value *object, const char *key)
{
    for (const struct myr_value *v = object->first; v; v = v->next) {
        if (strcmp(v->key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* Last, in the order in which it was said; 'child' is in no list yet. */
static void append(struct myr_value *parent, struct myr_value *child)
{
    MYR_ASSERT(!child->next && !parent->first == !parent->last);
    if (parent->last) {
        parent->last->next = child;
    } else {
        parent->first = child;
    }
    parent->last = child;
    parent->count++;
}

/* Children of an object have a key that no other has; items of a list have none. */
static struct myr_value *add_to(struct myr_answer *answer, struct myr_value *parent,
                                const char *key, enum myr_value_kind kind)
{
    MYR_ASSERT(parent->kind == MYR_VALUE_OBJECT || parent->kind == MYR_VALUE_LIST);
    MYR_ASSERT((parent->kind == MYR_VALUE_OBJECT) == (key != NULL));
    MYR_ASSERT(!key || !has_key(parent, key));
    struct myr_value *value = MYR_ARENA_ONE(answer->arena, struct myr_value);
    value->kind = kind;
    value->key = copy(answer, key);
    append(parent, value);
    return value;
}

/* To the innermost object or list that is open. */
static struct myr_value *add(struct myr_answer *answer, const char *key, enum myr_value_kind kind)
{
    MYR_ASSERT(answer->depth > 0);
    return add_to(answer, answer->open[answer->depth - 1], key, kind);
}

/* What is added from here on goes into it, up to myr_answer_end(). */
static struct myr_value *open_value(struct myr_answer *answer, const char *key,
                                    enum myr_value_kind kind)
{
    MYR_ASSERT(answer->depth < MYR_ANSWER_DEPTH_MAX);
    struct myr_value *value = add(answer, key, kind);
    answer->open[answer->depth++] = value;
    return value;
}

void myr_answer_init(struct myr_answer *answer, struct myr_arena *arena, const char *schema,
                     uint32_t version)
{
    *answer = (struct myr_answer){
        .arena = arena,
        .root = {.kind = MYR_VALUE_OBJECT},
        .timing = {.kind = MYR_VALUE_OBJECT, .key = "timing"},
    };
    /* The root is always open: whatever is added without an object of its own goes there. */
    answer->open[answer->depth++] = &answer->root;
    /* First, so that a reader knows what it has before it meets anything else. */
    myr_answer_text(answer, "schema", schema);
    myr_answer_u64(answer, "version", version);
    MYR_ASSERT(answer->root.count == 2 && answer->depth == 1);
}

struct myr_value *myr_answer_object(struct myr_answer *answer, const char *key)
{
    return open_value(answer, key, MYR_VALUE_OBJECT);
}

struct myr_value *myr_answer_list(struct myr_answer *answer, const char *key)
{
    return open_value(answer, key, MYR_VALUE_LIST);
}

void myr_answer_end(struct myr_answer *answer)
{
    MYR_ASSERT(answer->depth > 1); /* the root is never closed */
    answer->depth--;
}

/* Numbers too are kept as text: every format then shows the same digits. */
static void set_text(struct myr_answer *answer, struct myr_value *value, struct myr_str text)
{
    MYR_ASSERT(!value->text.data && (text.data || text.len == 0));
    value->text = (struct myr_str){myr_arena_strndup(answer->arena, text.data, text.len), text.len};
}

/* A string without data is "not known"; an empty one is text. */
void myr_answer_str(struct myr_answer *answer, const char *key, struct myr_str value)
{
    if (!value.data) {
        myr_answer_null(answer, key);
        return;
    }
    set_text(answer, add(answer, key, MYR_VALUE_TEXT), value);
}

void myr_answer_text(struct myr_answer *answer, const char *key, const char *value)
{
    myr_answer_str(answer, key, myr_str_from(value));
}

void myr_answer_u64(struct myr_answer *answer, const char *key, uint64_t value)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    set_text(answer, add(answer, key, MYR_VALUE_NUMBER), (struct myr_str){text, (size_t)len});
}

void myr_answer_i64(struct myr_answer *answer, const char *key, int64_t value)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "%lld", (long long)value);
    set_text(answer, add(answer, key, MYR_VALUE_NUMBER), (struct myr_str){text, (size_t)len});
}

/* The value is in the tree already; here it gets its digits. */
static void set_double(struct myr_answer *answer, struct myr_value *value, double number,
                       int digits)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (!isfinite(number)) { /* JSON has no infinity; null is "not known" in all schemas */
        value->kind = MYR_VALUE_NULL;
        return;
    }
    myr_json_number(&text, number, digits);
    set_text(answer, value, (struct myr_str){text.data, text.len});
}

void myr_answer_double(struct myr_answer *answer, const char *key, double value, int digits)
{
    set_double(answer, add(answer, key, MYR_VALUE_NUMBER), value, digits);
}

void myr_answer_bool(struct myr_answer *answer, const char *key, bool value)
{
    add(answer, key, MYR_VALUE_BOOL)->text = value ? MYR_STR("true") : MYR_STR("false");
}

void myr_answer_null(struct myr_answer *answer, const char *key)
{
    (void)add(answer, key, MYR_VALUE_NULL);
}

/* Kept apart from the rest: times differ from run to run, and answers are compared. */
void myr_answer_timing(struct myr_answer *answer, const char *key, double value, int digits)
{
    set_double(answer, add_to(answer, &answer->timing, key, MYR_VALUE_NUMBER), value, digits);
}

void myr_answer_rows(struct myr_answer *answer, const struct myr_value *list)
{
    MYR_ASSERT(list->kind == MYR_VALUE_LIST);
    /* The list that CSV writes; an answer without one has no CSV. */
    answer->rows = list;
}

void myr_answer_header(struct myr_answer *answer, const char *columns)
{
    answer->header = copy(answer, columns);
}

/* 'path' is "outer.inner"; a dot always divides, so keys have none. */
const struct myr_value *myr_value_get(const struct myr_value *object, const char *path)
{
    while (object && object->kind == MYR_VALUE_OBJECT) {
        /* One step of the path; the key must be as long as the step, not only begin like it. */
        size_t len = strcspn(path, ".");
        const struct myr_value *child = object->first;
        while (child && (strncmp(child->key, path, len) != 0 || child->key[len])) {
            child = child->next;
        }
        if (path[len] == '\0') {
            return child;
        }
        object = child;
        path += len + 1;
    }
    return NULL;
}

/*
 * --- the page: what a person reads, in the order in which it was said. It points into the tree for
 * its tables, and says in words what the tree says in keys; it is rendered only for tables.
 */

/* Pieces stand on the page in the order in which they are added, but for "more" and "next". */
static struct myr_answer_view *add_view(struct myr_answer *answer, enum view_kind kind)
{
    struct myr_answer_view *view = MYR_ARENA_ONE(answer->arena, struct myr_answer_view);
    view->kind = kind;
    if (answer->last_view) {
        answer->last_view->next = view;
    } else {
        answer->first_view = view;
    }
    answer->last_view = view;
    return view;
}

MYR_PRINTF(3, 0)
static void format_text(struct myr_answer *answer, struct myr_answer_view *view, const char *fmt,
                        va_list args)
{
    /* Measured first, so that the text is allocated once and to size: it stays in the arena. */
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    MYR_ASSERT(len >= 0);
    char *text = myr_arena_alloc(answer->arena, (size_t)len + 1, 1);
    vsnprintf(text, (size_t)len + 1, fmt, args);
    view->text = (struct myr_str){text, (size_t)len};
}

void myr_answer_heading(struct myr_answer *answer, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    format_text(answer, add_view(answer, VIEW_HEADING), fmt, args);
    va_end(args);
}

void myr_answer_para(struct myr_answer *answer, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    format_text(answer, add_view(answer, VIEW_PARA), fmt, args);
    va_end(args);
}

void myr_answer_fact(struct myr_answer *answer, const char *label, const char *fmt, ...)
{
    va_list args;
    struct myr_answer_view *view = add_view(answer, VIEW_FACT);
    /* Copied: a label may be made on the caller's stack. */
    view->label = copy(answer, label);
    va_start(args, fmt);
    format_text(answer, view, fmt, args);
    va_end(args);
}

void myr_answer_more(struct myr_answer *answer, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    format_text(answer, add_view(answer, VIEW_MORE), fmt, args);
    va_end(args);
}

bool myr_answer_next(struct myr_answer *answer, const char *what_for, const char *fmt, ...)
{
    va_list args;
    struct myr_answer_view line = {};
    va_start(args, fmt);
    format_text(answer, &line, fmt, args);
    va_end(args);
    if (strstr(line.text.data, MYR_ANSWER_GONE)) {
        return false;
    }
    struct myr_answer_view *view = add_view(answer, VIEW_NEXT);
    view->label = what_for ? copy(answer, what_for) : NULL;
    view->text = line.text;
    return true;
}

void myr_answer_table(struct myr_answer *answer, const struct myr_value *list,
                      const struct myr_answer_column *columns, uint32_t column_count)
{
    MYR_ASSERT(list->kind == MYR_VALUE_LIST);
    struct myr_answer_view *view = add_view(answer, VIEW_TABLE);
    /*
     * Callers may build their columns on the stack: the page is written long after they have
     * returned.
     */
    struct myr_answer_column *own =
        MYR_ARENA_NEW(answer->arena, struct myr_answer_column, column_count);
    for (uint32_t i = 0; i < column_count; i++) {
        own[i] = columns[i];
        own[i].key = copy(answer, columns[i].key);
        own[i].title = copy(answer, columns[i].title);
    }
    MYR_ASSERT(column_count > 0 && answer->last_view == view);
    view->list = list;
    view->columns = own;
    view->column_count = column_count;
}

/* For a text whose line ends and blanks matter. */
void myr_answer_verbatim(struct myr_answer *answer, struct myr_str text)
{
    struct myr_answer_view *view = add_view(answer, VIEW_VERBATIM);
    view->text = (struct myr_str){myr_arena_strndup(answer->arena, text.data, text.len), text.len};
}

/* Can be pasted into a shell: as it is where no shell minds, else in single quotes. */
static void put_word(const char *text, struct myr_buf *ret)
{
    /* Letters, digits and marks that no shell takes for more than themselves. */
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    if (text[0] && text[strspn(text, plain)] == '\0') {
        myr_buf_puts(ret, text);
        return;
    }
    myr_buf_putc(ret, '\'');
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            myr_buf_put_lit(ret, "'\\''"); /* out of the quotes, one by itself, in again */
        } else {
            myr_buf_putc(ret, *c);
        }
    }
    myr_buf_putc(ret, '\'');
}

const char *myr_answer_word(const struct myr_answer *answer, const char *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf word = {};
    put_word(text, &word);
    return myr_arena_strndup(answer->arena, word.data, word.len);
}

const char *myr_answer_input(const struct myr_answer *answer, const char *path)
{
    /* Open already, and read to their ends by now; what another command finds there is its own. */
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    bool once = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(folders); i++) {
        once = once || strncmp(path, folders[i], strlen(folders[i])) == 0;
    }
    return once             ? MYR_ANSWER_GONE
           : path[0] == '-' ? myr_answer_word(answer, myr_arena_printf(answer->arena, "./%s", path))
                            : myr_answer_word(answer, path);
}

/* Letters, digits, what is not ASCII, and marks that mean nothing within a path. */
static bool is_of_file(char c)
{
    return (unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '+' || c == '-';
}

const char *myr_answer_file(const struct myr_answer *answer, const char *name,
                            const char *otherwise)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    for (const char *c = name; *c; c++) {
        char put = (char)(is_of_file(*c) ? *c : '-');
        bool first = file.len == 0 && (put == '.' || put == '-'); /* hidden, above, an option */
        bool again = put != *c && file.len && file.data[file.len - 1] == '-';
        if (!first && !again) {
            myr_buf_putc(&file, put);
        }
    }
    while (file.len && file.data[file.len - 1] == '-') {
        file.len--;
    }
    return file.len ? myr_arena_strndup(answer->arena, file.data, file.len) : otherwise;
}

/* What does not fit into 'size' is cut. */
const char *myr_shell_word(const char *text, char *ret, size_t size)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf word = {};
    put_word(text, &word);
    snprintf(ret, size, "%s", word.data);
    return ret;
}
