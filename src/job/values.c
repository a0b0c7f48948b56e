/* values: command, variables, layout and array of a job file. */
#include "values.h"

#include <string.h>

/* What it means depends on the size of the job (job.c). */
int myr_job_read_layout(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                        void *ret, struct myr_err *err)
{
    (void)arena;
    if (node->kind != MYR_DOC_MAP) {
        MYR_TRY(myr_doc_expect(node, MYR_DOC_SCALAR, what, err));
    }
    *(const struct myr_doc **)ret = node;
    return MYR_OK;
}

/*
 * Lines are welcome where a shell or a program reads them; but what is handed to a program ends at
 * a NUL, and what stands behind it would run nowhere.
 */
static int take_whole(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                      const char **ret, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_SCALAR, what, err));
    if (node->text.len && memchr(node->text.data, '\0', node->text.len)) {
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' has a NUL in it, text is expected", what);
    }
    *ret = myr_arena_strndup(arena, node->text.data, node->text.len);
    return MYR_OK;
}

/* A word may be empty, as an argument may: only the program's own name may not. */
int myr_job_read_command(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                         void *ret, struct myr_err *err)
{
    bool shell = node->kind != MYR_DOC_LIST;
    uint32_t count = shell ? 3 : node->count;
    if (count > MYR_JOB_WORDS_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE,
                             "'command' has %u words, at most %u are expected", count,
                             MYR_JOB_WORDS_MAX);
    }
    const char **argv = MYR_ARENA_NEW(arena, const char *, count + 1);
    if (shell) {
        argv[0] = "/bin/sh";
        argv[1] = "-c";
        MYR_TRY(take_whole(node, what, arena, &argv[2], err));
    }
    for (uint32_t i = 0; !shell && i < count; i++) {
        MYR_TRY(take_whole(node->items[i], "a word of 'command'", arena, &argv[i], err));
    }
    if (count == 0 || *argv[shell ? 2 : 0] == '\0') {
        return myr_doc_error(err, node, MYR_EINVAL, "'command' is empty");
    }
    *(struct myr_job_command *)ret = (struct myr_job_command){argv, count, shell};
    return MYR_OK;
}

/* As shells take them: anything else could not be read by the command. */
static bool is_variable(struct myr_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) {
            return false;
        }
    }
    return text.len > 0;
}

/* Numbers and words alike are taken as they are written. */
int myr_job_read_env(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                     void *ret, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_MAP, what, err));
    if (node->count > MYR_JOB_WORDS_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'env' has %u names, at most %u are expected",
                             node->count, MYR_JOB_WORDS_MAX);
    }
    const char **words = MYR_ARENA_NEW(arena, const char *, node->count + 1);
    for (uint32_t i = 0; i < node->count; i++) {
        const struct myr_doc_entry *entry = &node->entries[i];
        char shown[MYR_EXCERPT_MAX];
        const char *value;
        if (!is_variable(entry->key)) {
            return myr_doc_error(err, entry->value, MYR_EINVAL,
                                 "'%s' is no name of a variable: letters, digits and '_'",
                                 myr_text_excerpt(entry->key, shown));
        }
        MYR_TRY(take_whole(entry->value, "a value of 'env'", arena, &value, err));
        words[i] = myr_arena_printf(arena, "%.*s=%s", (int)entry->key.len, entry->key.data, value);
    }
    *(struct myr_job_env *)ret = (struct myr_job_env){words, node->count};
    return MYR_OK;
}

int myr_job_read_script(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                        void *ret, struct myr_err *err)
{
    const char *text;
    MYR_TRY(take_whole(node, what, arena, &text, err));
    if (!*text) {
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' is empty", what);
    }
    *(const char **)ret = text;
    return MYR_OK;
}

/* "0-9", or "5": so many alike. Ranks are told their number from 'first' on. */
int myr_job_read_array(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                       void *ret, struct myr_err *err)
{
    uint64_t first = 0, last;
    (void)arena;
    MYR_TRY(myr_doc_expect(node, MYR_DOC_SCALAR, what, err));
    const char *dash = memchr(node->text.data, '-', node->text.len);
    size_t before = dash ? (size_t)(dash - node->text.data) : node->text.len;
    bool ok = myr_str_to_u64((struct myr_str){node->text.data, before}, &first);
    last = first; /* one number is a range of one */
    ok = ok &&
         (!dash || myr_str_to_u64((struct myr_str){dash + 1, node->text.len - before - 1}, &last));
    if (!ok) {
        return myr_doc_error(err, node, MYR_EINVAL, "'array' is no range such as 0-9 of at most %d",
                             MYR_JOB_ARRAY_MAX);
    }
    if (last < first) {
        return myr_doc_error(err, node, MYR_EINVAL, "'array' runs backwards: %llu-%llu is expected",
                             (unsigned long long)last, (unsigned long long)first);
    }
    if (last - first >= MYR_JOB_ARRAY_MAX || last > UINT32_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE,
                             "'array' has more than %d jobs, or numbers above %u",
                             MYR_JOB_ARRAY_MAX, UINT32_MAX);
    }
    *(struct myr_job_array *)ret =
        (struct myr_job_array){(uint32_t)first, (uint32_t)(last - first + 1)};
    return MYR_OK;
}
