/*
 * jobfile: of a job file what a launcher needs. The server has checked it before, but it lay on a
 * disk since then: nothing is taken for granted.
 */
#include "jobfile.h"

#include "myriad/text/doc.h"

static const char file[] = "job file"; /* for messages */

/* A NUL would cut the word silently where it becomes an argument or a variable. */
static int take_word(struct myr_arena *arena, const struct myr_doc *node, const char *what,
                     const char **ret, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_SCALAR, what, err));
    if (memchr(node->text.data, '\0', node->text.len)) {
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' holds a NUL", what);
    }
    *ret = myr_arena_strndup(arena, node->text.data, node->text.len);
    return MYR_OK;
}

/* 'ret' stays NULL where the key is missing or null; an empty text is a mistake. */
static int take_optional(struct myr_arena *arena, const struct myr_doc *map, const char *key,
                         const char **ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    if (!node || node->kind == MYR_DOC_NULL) {
        return MYR_OK;
    }
    MYR_TRY(take_word(arena, node, key, ret, err));
    MYR_ASSERT(*ret); /* it was taken */
    if (**ret == '\0') {
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' is empty", key);
    }
    return MYR_OK;
}

/* A list is run as it is, word by word, without a shell. */
static int take_command(struct myr_arena *arena, const struct myr_doc *map, struct jobfile *ret,
                        struct myr_err *err)
{
    const struct myr_doc *node;
    MYR_TRY(myr_doc_need(map, "the job", "command", &node, err));
    if (node->kind != MYR_DOC_LIST) {
        /* A text is for the shell; arenas are zeroed, so that argv[3] is the NULL at the end. */
        const char **argv = MYR_ARENA_NEW(arena, const char *, 4);
        argv[0] = "/bin/sh";
        argv[1] = "-c";
        MYR_TRY(take_word(arena, node, "command", &argv[2], err));
        ret->command = argv;
        return *argv[2] ? MYR_OK : myr_doc_error(err, node, MYR_EINVAL, "'command' is empty");
    }
    if (node->count == 0 || node->count > JOBFILE_WORDS_MAX) {
        return myr_doc_error(err, node, MYR_EINVAL, "'command' has %u words, 1 to %u are expected",
                             node->count, JOBFILE_WORDS_MAX);
    }
    const char **argv = MYR_ARENA_NEW(arena, const char *, node->count + 1);
    for (uint32_t i = 0; i < node->count; i++) {
        MYR_TRY(take_word(arena, node->items[i], "command", &argv[i], err));
    }
    ret->command = argv;
    return *argv[0] ? MYR_OK : myr_doc_error(err, node, MYR_EINVAL, "'command' is empty");
}

/* Names as shells take them: anything else could not be read by the command. */
static bool is_name(struct myr_str text)
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

/* A value of null is an empty one: the variable is there. */
static int take_env(struct myr_arena *arena, const struct myr_doc *map, struct jobfile *ret,
                    struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, "env");
    if (!node || node->kind == MYR_DOC_NULL) {
        ret->env = MYR_ARENA_ONE(arena, const char *);
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(node, MYR_DOC_MAP, "env", err));
    if (node->count > JOBFILE_WORDS_MAX) {
        return myr_doc_error(err, node, MYR_EINVAL, "'env' has %u names, at most %u are expected",
                             node->count, JOBFILE_WORDS_MAX);
    }
    /* One more, for the NULL at the end. */
    const char **env = MYR_ARENA_NEW(arena, const char *, node->count + 1);
    for (uint32_t i = 0; i < node->count; i++) {
        const struct myr_doc_entry *entry = &node->entries[i];
        char shown[MYR_EXCERPT_MAX];
        const char *value = "";
        if (!is_name(entry->key)) {
            return myr_doc_error(err, entry->value, MYR_EINVAL,
                                 "'%s' is no name of a variable: letters, digits and '_'",
                                 myr_text_excerpt(entry->key, shown));
        }
        if (entry->value->kind != MYR_DOC_NULL) {
            MYR_TRY(take_word(arena, entry->value, "env", &value, err));
        }
        env[i] = myr_arena_printf(arena, "%.*s=%s", (int)entry->key.len, entry->key.data, value);
    }
    ret->env = env;
    return MYR_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* 'ret' is set when all of it was read. */
int jobfile_read(struct myr_arena *arena, struct myr_str text, struct jobfile *ret,
                 struct myr_err *err)
{
    struct jobfile job = {};
    const struct myr_doc *map;
    size_t at = 0;
    while (at < text.len && is_blank(text.data[at])) {
        at++;
    }
    /* Blanks in front do not count. */
    bool json = at < text.len && text.data[at] == '{';
    MYR_TRY(json ? myr_doc_read_json(arena, file, text, &map, err)
                 : myr_doc_read_yaml(arena, file, text, &map, err));
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, "job", err));
    MYR_TRY(take_command(arena, map, &job, err));
    MYR_TRY(take_env(arena, map, &job, err));
    MYR_TRY(take_optional(arena, map, "directory", &job.directory, err));
    MYR_TRY(take_optional(arena, map, "checkpoint", &job.checkpoint, err));
    MYR_TRY(take_optional(arena, map, "prolog", &job.prolog, err));
    MYR_TRY(take_optional(arena, map, "epilog", &job.epilog, err));
    MYR_TRY(take_optional(arena, map, "image", &job.image, err));
    /* Other keys of it are a newer server's. */
    const struct myr_doc *progress = myr_doc_get(map, "progress");
    if (progress && progress->kind != MYR_DOC_NULL) {
        MYR_TRY(myr_doc_expect(progress, MYR_DOC_MAP, "progress", err));
        MYR_TRY(take_optional(arena, progress, "pattern", &job.pattern, err));
    }
    *ret = job;
    return MYR_OK;
}
