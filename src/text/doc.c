/*
 * doc: asking a tree of settings for values. Readers of YAML and JSON build it (doc_yaml.c,
 * doc_json.c); here are the questions, whose complaints all name the file, the line and the column.
 */
#include "myriad/text/doc.h"

#include <stdio.h>

#include "doc_build.h"
#include "letter/utf8.h"
#include "myriad/text/kind.h"

/* Room for "a number from X to Y" with two numbers of twelve digits. */
enum { RANGE_BYTES = 112 };

int myr_doc_read_file_of(struct myr_arena *arena, const char *path, const struct myr_doc_want *want,
                         const struct myr_doc **ret, struct myr_err *err)
{
    /* The tree copies what it keeps: the text is gone when this returns. */
    struct myr_buf text MYR_CLEANUP(myr_buf_done) = {};
    struct myr_str name = myr_str_from(path);
    /*
     * Before it is read: a file of another kind would fail with a syntax error that tells nobody
     * what is wrong.
     */
    MYR_TRY(myr_kind_read(path, MYR_DOC_BYTES_MAX, want->kinds, want->words, &text, err));
    /* By name, not by content: a guess would make the error of a typo hard to understand. */
    bool is_json = name.len > 5 && memcmp(path + name.len - 5, ".json", 5) == 0;
    const char *file = myr_arena_strndup(arena, myr_file_name(path), strlen(myr_file_name(path)));
    struct myr_str content = {text.data, text.len};
    return is_json ? myr_doc_read_json(arena, file, content, ret, err)
                   : myr_doc_read_yaml(arena, file, content, ret, err);
}

int myr_doc_read_file(struct myr_arena *arena, const char *path, const struct myr_doc **ret,
                      struct myr_err *err)
{
    static const struct myr_doc_want any = {MYR_KINDS_DOCS, "YAML or JSON"};
    return myr_doc_read_file_of(arena, path, &any, ret, err);
}

int myr_doc_error(struct myr_err *err, const struct myr_doc *node, int code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int rc = text_error_at_args(err, node->file, (struct text_place){node->line, node->column},
                                code, fmt, args);
    va_end(args);
    return rc;
}

const struct myr_doc *myr_doc_get(const struct myr_doc *map, const char *key)
{
    if (!map || map->kind != MYR_DOC_MAP) {
        return NULL;
    }
    struct myr_str wanted = myr_str_from(key);
    /* Maps of settings have a few dozen keys; whoever has a large one walks its entries instead. */
    for (uint32_t i = 0; i < map->count; i++) {
        if (myr_str_eq(map->entries[i].key, wanted)) {
            return map->entries[i].value;
        }
    }
    return NULL;
}

/* 'what' names the map in the message; NULL for the whole file. */
int myr_doc_need(const struct myr_doc *map, const char *what, const char *key,
                 const struct myr_doc **ret, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, what ? what : "the file", err));
    const struct myr_doc *value = myr_doc_get(map, key);
    if (!value) {
        return myr_doc_error(err, map, MYR_EINVAL, "'%s' is missing%s%s", key, what ? " in " : "",
                             what ? what : "");
    }
    *ret = value;
    return MYR_OK;
}

/* "'servers' is 'many', a whole number is expected": the one shape of a wrong value. */
static int fail_value(const struct myr_doc *node, const char *what, const char *wanted,
                      struct myr_err *err)
{
    char shown[MYR_EXCERPT_MAX];
    if (!node) {
        return myr_err_set(err, MYR_EINVAL, "'%s' is missing, %s is expected", what, wanted);
    }
    switch (node->kind) {
    case MYR_DOC_NULL:
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' is empty, %s is expected", what, wanted);
    case MYR_DOC_LIST:
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' is a list, %s is expected", what, wanted);
    case MYR_DOC_MAP:
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' is a map, %s is expected", what, wanted);
    case MYR_DOC_SCALAR:
        break;
    }
    return myr_doc_error(err, node, MYR_EINVAL, "'%s' is '%s', %s is expected", what,
                         myr_text_excerpt(node->text, shown), wanted);
}

/* In YAML quotes turn a number into text. Taking it all the same would hide a real confusion. */
static int fail_quoted(const struct myr_doc *node, const char *what, const char *wanted,
                       struct myr_err *err)
{
    char shown[MYR_EXCERPT_MAX];
    return myr_doc_error(err, node, MYR_EINVAL,
                         "'%s' is \"%s\", text in quotes, %s is expected; remove the quotes", what,
                         myr_text_excerpt(node->text, shown), wanted);
}

int myr_doc_expect(const struct myr_doc *node, enum myr_doc_kind kind, const char *what,
                   struct myr_err *err)
{
    static const char *const names[] = {"nothing", "a single value", "a list", "a map of keys"};
    MYR_ASSERT((size_t)kind < MYR_ARRAY_COUNT(names));
    return node && node->kind == kind ? MYR_OK : fail_value(node, what, names[kind], err);
}

/* Null is no scalar here: "servers:" with nothing behind it is a value that was forgotten. */
static bool is_scalar(const struct myr_doc *node)
{
    return node && node->kind == MYR_DOC_SCALAR;
}

int myr_doc_u64(const struct myr_doc *node, const char *what, uint64_t min, uint64_t max,
                uint64_t *ret, struct myr_err *err)
{
    MYR_ASSERT(min <= max);
    uint64_t value = 0;
    bool is_number = is_scalar(node) && myr_str_to_u64(node->text, &value);
    bool in_range = is_number && value >= min && value <= max;
    if (in_range && !node->quoted) {
        *ret = value;
        return MYR_OK;
    }
    char wanted[MESSAGE_PHRASE_MAX];
    message_range(min, max, wanted);
    return in_range ? fail_quoted(node, what, wanted, err) : fail_value(node, what, wanted, err);
}

int myr_doc_double(const struct myr_doc *node, const char *what, double min, double max,
                   double *ret, struct myr_err *err)
{
    MYR_ASSERT(min <= max);
    double value = 0;
    /* Text that is no number, a number out of range and one in quotes get words of their own. */
    bool is_number = is_scalar(node) && myr_str_to_double(node->text, &value);
    bool in_range = is_number && value >= min && value <= max;
    if (in_range && !node->quoted) {
        *ret = value;
        return MYR_OK;
    }
    char wanted[RANGE_BYTES];
    snprintf(wanted, sizeof(wanted), "a number from %.12g to %.12g", min, max);
    return in_range ? fail_quoted(node, what, wanted, err) : fail_value(node, what, wanted, err);
}

/* Not yes, no, on and off, which YAML 1.1 took for truth: in a country list "no" is Norway. */
int myr_doc_bool(const struct myr_doc *node, const char *what, bool *ret, struct myr_err *err)
{
    bool is_true = is_scalar(node) && myr_str_eq(node->text, MYR_STR("true"));
    bool is_false = is_scalar(node) && myr_str_eq(node->text, MYR_STR("false"));
    if (!is_true && !is_false) {
        return fail_value(node, what, "true or false", err);
    }
    if (node->quoted) {
        return fail_quoted(node, what, "true or false", err);
    }
    *ret = is_true;
    return MYR_OK;
}

/* One line of visible text: names end up on screens and in files of other programs. */
int myr_doc_text(const struct myr_doc *node, const char *what, struct myr_str *ret,
                 struct myr_err *err)
{
    if (!is_scalar(node)) {
        return fail_value(node, what, "text", err);
    }
    if (node->text.len == 0) {
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' is empty, text is expected", what);
    }
    /* Valid UTF-8 already: only characters that do not show are looked for. */
    for (size_t at = 0; at < node->text.len;) {
        uint32_t code = utf8_next(node->text, &at);
        if (utf8_is_hidden(code)) {
            return myr_doc_error(err, node, MYR_EINVAL,
                                 "'%s' has a control character (U+%04X) in it, text of one line "
                                 "is expected",
                                 what, code == UTF8_BAD ? 0xFFFD : code);
        }
    }
    *ret = node->text;
    return MYR_OK;
}

/* A slip of the pen gets the nearest name; only what resembles none gets the whole list. */
int myr_doc_choice(const struct myr_doc *node, const char *what, const char *const *names,
                   size_t count, uint32_t *ret, struct myr_err *err)
{
    MYR_ASSERT(count > 0);
    for (size_t i = 0; is_scalar(node) && i < count; i++) {
        if (myr_str_eq(node->text, myr_str_from(names[i]))) {
            *ret = (uint32_t)i;
            return MYR_OK;
        }
    }
    /* What is no single value resembles no name: it goes straight to the list. */
    char phrase[MESSAGE_PHRASE_MAX] = "";
    if (is_scalar(node)) {
        message_nearest(node->text, names, count, phrase);
    }
    if (phrase[0]) {
        char shown[MYR_EXCERPT_MAX];
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' is '%s', which is no known choice; %s",
                             what, myr_text_excerpt(node->text, shown), phrase);
    }
    return fail_value(node, what, message_one_of(names, count, phrase), err);
}

/* Half a list reads as if it were the whole, so that a list without room ends in dots. */
static void hint_keys(const char *const *keys, size_t count, struct myr_err *err)
{
    char list[MYR_ERR_HINT_MAX - 32];
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        if (len + strlen(keys[i]) + 8 > sizeof(list)) {
            (void)snprintf(list + len, sizeof(list) - len, ", ...");
            break;
        }
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", keys[i]);
    }
    myr_err_hint(err, "known keys: %s", list);
}

/* Points at the key itself; the value may be far away. */
static int fail_key(const struct myr_doc *map, const struct myr_doc_entry *entry, const char *what,
                    const char *const *keys, size_t count, struct myr_err *err)
{
    char shown[MYR_EXCERPT_MAX];
    char near[MESSAGE_PHRASE_MAX];
    char list[MESSAGE_PHRASE_MAX];
    /* The nearest key, or all of them: in the line where they fit into it, else below it. */
    message_nearest(entry->key, keys, count, near);
    message_list(keys, count, list);
    const char *label = near[0] ? "; " : list[0] ? "; known keys: " : "";
    int rc =
        text_error_at(err, map->file, (struct text_place){entry->key_line, entry->key_column},
                      MYR_EINVAL, "unknown key '%s'%s%s%s%s", myr_text_excerpt(entry->key, shown),
                      what && *what ? " in " : "", what ? what : "", label, near[0] ? near : list);
    if (!label[0]) {
        hint_keys(keys, count, err);
    }
    return rc;
}

/*
 * A key that nobody reads is an error: a setting with a typo would be left at its default unseen.
 */
int myr_doc_check_keys(const struct myr_doc *map, const char *what, const char *const *keys,
                       size_t count, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, what && *what ? what : "the file", err));
    for (uint32_t i = 0; i < map->count; i++) {
        bool known = false;
        for (size_t k = 0; k < count && !known; k++) {
            known = myr_str_eq(map->entries[i].key, myr_str_from(keys[k]));
        }
        if (!known) {
            return fail_key(map, &map->entries[i], what, keys, count, err);
        }
    }
    return MYR_OK;
}
