/*
 * layout_words: a layout as words of a command line or as a file of its own. Words are turned into
 * the YAML of a block, so that there is one reader and one set of messages.
 */
#include <stdio.h>

#include "myriad/text/kind.h"
#include "myriad/work.h"

/* The same keys as in a file: "tp=8,pp=4" is {tp: 8, pp: 4}. */
static void put_flow_map(const char *text, struct myr_buf *buf)
{
    myr_buf_putc(buf, '{');
    for (const char *c = text; *c; c++) {
        if (*c == '=') {
            myr_buf_put_lit(buf, ": ");
        } else {
            myr_buf_putc(buf, *c);
            if (*c == ',') {
                myr_buf_putc(buf, ' ');
            }
        }
    }
    myr_buf_putc(buf, '}');
}

/* The column of the words whose YAML, as put_flow_map() writes it, has reached this one. */
static uint32_t column_of(const char *text, uint32_t yaml_column)
{
    uint32_t column = 1, reached = 2; /* behind the brace */
    for (const char *c = text; *c && reached < yaml_column; c++) {
        bool more = ((unsigned char)*c & 0xC0) != 0x80; /* no byte that goes on with a character */
        column += more;
        reached += more + (*c == '=' || *c == ',');
    }
    return column;
}

/*
 * "--layout:1:9: ..." of the YAML becomes the place in the words that were typed. Words of several
 * lines keep the YAML's.
 */
static void place_in_words(const char *name, const char *text, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf moved = {};
    size_t len = strlen(name);
    if (!err || strchr(text, '\n') || strncmp(err->message, name, len) != 0 ||
        strncmp(err->message + len, ":1:", 3) != 0) {
        return;
    }
    const char *digits = err->message + len + 3;
    size_t count = strspn(digits, "0123456789");
    uint64_t column;
    if (!myr_str_to_u64((struct myr_str){digits, count}, &column) || column > UINT32_MAX) {
        return;
    }
    myr_buf_printf(&moved, "%s:1:%u%s", name, column_of(text, (uint32_t)column), digits + count);
    snprintf(err->message, sizeof(err->message), "%s", moved.data);
}

static int parse_words(const char *name, struct myr_str yaml, uint64_t gpus, struct myr_layout *ret,
                       struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *doc;
    myr_arena_init(&arena);
    MYR_TRY(myr_doc_read_yaml(&arena, name, yaml, &doc, err));
    return myr_layout_parse(doc, gpus, ret, err);
}

/* 'name' stands for the file in messages: the option that the words came with. */
int myr_layout_words(const char *name, const char *text, uint64_t gpus, struct myr_layout *ret,
                     struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf yaml = {};
    put_flow_map(text, &yaml);
    int rc = parse_words(name, (struct myr_str){yaml.data, yaml.len}, gpus, ret, err);
    if (rc < 0) {
        place_in_words(name, text, err);
    }
    return rc;
}

/* A head is optional; what there is of it must be ours. */
static int check_head(const struct myr_doc *doc, struct myr_err *err)
{
    static const char *const keys[] = {"schema", "version", "layout"};
    static const char *const schemas[] = {MYR_LAYOUT_SCHEMA};
    const struct myr_doc *schema = myr_doc_get(doc, "schema");
    const struct myr_doc *version = myr_doc_get(doc, "version");
    uint32_t unused;
    uint64_t number;
    MYR_TRY(myr_doc_expect(doc, MYR_DOC_MAP, "a layout file", err));
    /* What says that it is something else is refused as that, not by its first odd key. */
    MYR_TRY(schema ? myr_doc_choice(schema, "schema", schemas, 1, &unused, err) : MYR_OK);
    MYR_TRY(version ? myr_doc_u64(version, "version", MYR_LAYOUT_VERSION, MYR_LAYOUT_VERSION,
                                  &number, err)
                    : MYR_OK);
    if (!schema && !myr_doc_get(doc, "layout")) {
        int rc = myr_doc_error(err, doc, MYR_EINVAL,
                               "no layout file: a map with the key 'layout' is expected");
        myr_err_hint(err, "myriad fit ... --layout-out FILE writes one");
        return rc;
    }
    return myr_doc_check_keys(doc, NULL, keys, MYR_ARRAY_COUNT(keys), err);
}

/* 'rest' is what the question says beside the file, or NULL: it fills what the file leaves out. */
int myr_layout_file_take(const struct myr_doc *doc, const struct myr_layout_rest *rest,
                         struct myr_layout *ret, struct myr_err *err)
{
    const struct myr_doc *map;
    struct myr_layout layout;
    MYR_TRY(check_head(doc, err));
    MYR_TRY(myr_doc_need(doc, "the layout file", "layout", &map, err));
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, "layout", err));
    MYR_TRY(myr_layout_parse(map, rest ? rest->gpus : 0, &layout, err));
    if (rest && rest->batch && !myr_doc_get(map, "global_batch")) {
        layout.global_batch = (uint32_t)rest->batch;
    }
    if (rest && rest->seq && !myr_doc_get(map, "sequence")) {
        layout.seq_tokens = (uint32_t)rest->seq;
    }
    *ret = layout;
    return MYR_OK;
}

int myr_layout_file_parse(struct myr_arena *arena, const char *file, struct myr_str text,
                          const struct myr_layout_rest *rest, struct myr_layout *ret,
                          struct myr_err *err)
{
    const struct myr_doc *doc;
    MYR_TRY(myr_doc_read_yaml(arena, file, text, &doc, err));
    return myr_layout_file_take(doc, rest, ret, err);
}

int myr_layout_file_open(struct myr_arena *arena, const char *path, const struct myr_doc **ret,
                         struct myr_err *err)
{
    static const struct myr_doc_want want = {MYR_KINDS_DOC(LAYOUT), "a layout"};
    return myr_doc_read_file_of(arena, path, &want, ret, err);
}

int myr_layout_file_read(struct myr_arena *arena, const char *path,
                         const struct myr_layout_rest *rest, struct myr_layout *ret,
                         struct myr_err *err)
{
    const struct myr_doc *doc;
    MYR_TRY(myr_layout_file_open(arena, path, &doc, err));
    return myr_layout_file_take(doc, rest, ret, err);
}

/* What an option takes: words, or the name of a file. */
int myr_layout_given(struct myr_arena *arena, const char *name, const char *text, uint64_t gpus,
                     struct myr_layout *ret, struct myr_err *err)
{
    /* A path may have '=' in it, and a block has no '/'. */
    bool words = strchr(text, '=') && !strchr(text, '/');
    struct myr_layout_rest rest = {.gpus = gpus};
    return words ? myr_layout_words(name, text, gpus, ret, err)
                 : myr_layout_file_read(arena, text, &rest, ret, err);
}
