#include "doc_build.h"

#include "letter/utf8.h"

/* Below this many keys comparing all pairs is cheaper than a hash map. */
enum { FEW_KEYS = 16 };

/*
 * The tree behind YAML and JSON, built by events. Children of all open nodes lie in one stack, and
 * are copied into the arena when their node closes: then their number is known, and a node's
 * entries lie side by side.
 */

void doc_build_init(struct doc_build *build, struct myr_arena *arena, const char *file)
{
    *build = (struct doc_build){.arena = arena, .file = file};
}

void doc_build_done(struct doc_build *build)
{
    myr_vec_done(&build->children);
}

/* The innermost open list or map; NULL at the top. */
static struct doc_frame *top_frame(struct doc_build *build)
{
    return build->depth > 0 ? &build->frames[build->depth - 1] : NULL;
}

/* In a map keys and values take turns. */
bool doc_build_wants_key(const struct doc_build *build)
{
    if (build->depth == 0) {
        return false;
    }
    const struct doc_frame *frame = &build->frames[build->depth - 1];
    return frame->node->kind == MYR_DOC_MAP && !frame->has_key;
}

/* At most MYR_DOC_DEPTH_MAX to look at. */
bool doc_build_is_open(const struct doc_build *build, const struct myr_doc *node)
{
    for (uint32_t i = 0; i < build->depth; i++) {
        if (build->frames[i].node == node) {
            return true;
        }
    }
    return false;
}

void doc_build_key(struct doc_build *build, struct text_place place, struct myr_str key)
{
    MYR_ASSERT(doc_build_wants_key(build));
    struct doc_frame *frame = top_frame(build);
    frame->key = key;
    frame->key_place = place;
    frame->has_key = true;
}

/* Hands a complete value to the list or map that is open, or makes it the root. */
static int attach(struct doc_build *build, struct text_place place, const struct myr_doc *value,
                  struct myr_err *err)
{
    struct doc_frame *frame = top_frame(build);
    if (!frame) {
        MYR_ASSERT(!build->root);
        build->root = value;
        return MYR_OK;
    }
    struct myr_doc *parent = frame->node;
    MYR_ASSERT(parent->kind == MYR_DOC_LIST || frame->has_key);
    frame->has_key = false;
    myr_vec_push(&build->children, (struct myr_doc_entry){
                                       .key = frame->key,
                                       .key_line = frame->key_place.line,
                                       .key_column = frame->key_place.column,
                                       .value = value,
                                   });
    /*
     * Both figures grow with every child, so that a bomb is noticed at the alias that makes it too
     * large. They cannot overflow: parent and child were both within the limit until now.
     */
    MYR_ASSERT(value != parent && value->expanded <= MYR_DOC_EXPANDED_MAX);
    parent->count++;
    parent->expanded += 1 + value->expanded;
    if (parent->depth < value->depth + 1) {
        parent->depth = value->depth + 1;
    }
    if (parent->expanded > MYR_DOC_EXPANDED_MAX) {
        return text_error_at(err, build->file, place, MYR_ERANGE,
                             "aliases repeat so much that the whole has more than %d values",
                             MYR_DOC_EXPANDED_MAX);
    }
    return MYR_OK;
}

/* NULL, with the error set, when there are too many. */
static struct myr_doc *new_node(struct doc_build *build, const struct myr_doc *like,
                                struct myr_err *err)
{
    struct text_place place = {like->line, like->column};
    if (build->node_count == MYR_DOC_NODES_MAX) {
        text_error_at(err, build->file, place, MYR_ERANGE,
                      "more than %d values, the most allowed in one file", MYR_DOC_NODES_MAX);
        return NULL;
    }
    build->node_count++;
    struct myr_doc *node = MYR_ARENA_ONE(build->arena, struct myr_doc);
    *node = *like;
    node->file = build->file;
    return node;
}

/* Null is a value of its own: 'scalar' says which of the two it is. */
int doc_build_scalar(struct doc_build *build, const struct myr_doc *scalar,
                     const struct myr_doc **ret, struct myr_err *err)
{
    MYR_ASSERT(scalar->kind == MYR_DOC_NULL || scalar->kind == MYR_DOC_SCALAR);
    MYR_ASSERT(scalar->depth == 0 && scalar->expanded == 0);
    const struct myr_doc *node = new_node(build, scalar, err);
    if (!node) {
        return MYR_ERANGE;
    }
    if (ret) {
        *ret = node;
    }
    return attach(build, (struct text_place){node->line, node->column}, node, err);
}

/* Callers may then walk the tree by recursion: that is what the limit is for. */
static int too_deep(const struct doc_build *build, struct text_place place, struct myr_err *err)
{
    return text_error_at(err, build->file, place, MYR_ERANGE,
                         "nested more than %d levels deep, the most allowed", MYR_DOC_DEPTH_MAX);
}

/* The node counts as soon as it is opened: limits hold while it is still growing. */
int doc_build_open(struct doc_build *build, struct text_place place, enum myr_doc_kind kind,
                   const struct myr_doc **ret, struct myr_err *err)
{
    MYR_ASSERT(kind == MYR_DOC_LIST || kind == MYR_DOC_MAP);
    MYR_ASSERT(!doc_build_wants_key(build));
    if (build->depth == MYR_DOC_DEPTH_MAX) {
        return too_deep(build, place, err);
    }
    /* A list or map has depth 1 even when empty; its children raise it as they are attached. */
    struct myr_doc like = {.kind = kind, .line = place.line, .column = place.column, .depth = 1};
    struct myr_doc *node = new_node(build, &like, err);
    if (!node) {
        return MYR_ERANGE;
    }
    build->frames[build->depth] =
        (struct doc_frame){.node = node, .first_child = build->children.count};
    build->depth++;
    if (ret) {
        *ret = node;
    }
    return MYR_OK;
}

/* The last one wins in many readers, the first in some; a person meant one of them. */
static int twice(const struct doc_build *build, const struct myr_doc_entry *first,
                 const struct myr_doc_entry *second, struct myr_err *err)
{
    char key[MYR_EXCERPT_MAX];
    struct text_place place = {second->key_line, second->key_column};
    if (first->key_line == second->key_line) {
        return text_error_at(err, build->file, place, MYR_EINVAL,
                             "key '%s' is given twice, both on line %u",
                             myr_text_excerpt(second->key, key), second->key_line);
    }
    return text_error_at(err, build->file, place, MYR_EINVAL,
                         "key '%s' is given twice, on line %u and on line %u",
                         myr_text_excerpt(second->key, key), first->key_line, second->key_line);
}

/* 'j' below 'i': the pair is told in the order of the file. */
static int check_pairs(const struct doc_build *build, const struct myr_doc_entry *entries,
                       uint32_t count, struct myr_err *err)
{
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (myr_str_eq(entries[i].key, entries[j].key)) {
                return twice(build, &entries[j], &entries[i], err);
            }
        }
    }
    return MYR_OK;
}

/* Lists of many keys are hashed, so that a file of a million keys takes no quadratic time. */
static int check_unique(const struct doc_build *build, const struct myr_doc_entry *entries,
                        uint32_t count, struct myr_err *err)
{
    if (count <= FEW_KEYS) {
        return check_pairs(build, entries, count, err);
    }
    MYR_CLEANUP(myr_strmap_done) struct myr_strmap seen = {};
    int rc = MYR_OK;
    for (uint32_t i = 0; i < count && rc == MYR_OK; i++) {
        if (!myr_strmap_add(&seen, entries[i].key, i)) {
            rc = twice(build, &entries[myr_strmap_get(&seen, entries[i].key)], &entries[i], err);
        }
    }
    return rc;
}

/* Moves the children off the shared stack into an array of the right size. */
static int keep_children(struct doc_build *build, struct myr_doc *node,
                         const struct myr_doc_entry *children, struct myr_err *err)
{
    if (node->kind == MYR_DOC_LIST) {
        node->items = MYR_ARENA_NEW(build->arena, const struct myr_doc *, node->count);
        for (uint32_t i = 0; i < node->count; i++) {
            node->items[i] = children[i].value;
        }
        return MYR_OK;
    }
    MYR_TRY(check_unique(build, children, node->count, err));
    node->entries = MYR_ARENA_NEW(build->arena, struct myr_doc_entry, node->count);
    memcpy(node->entries, children, node->count * sizeof(*children));
    return MYR_OK;
}

/* The children leave the stack, and the node becomes a child of the one around it. */
int doc_build_close(struct doc_build *build, struct myr_err *err)
{
    MYR_ASSERT(build->depth > 0);
    struct doc_frame *frame = top_frame(build);
    struct myr_doc *node = frame->node;
    MYR_ASSERT(!frame->has_key);
    MYR_ASSERT(build->children.count - frame->first_child == node->count);
    if (node->count > 0) {
        MYR_TRY(keep_children(build, node, build->children.items + frame->first_child, err));
    }
    /* Also where it had none: the stack is then as it was. */
    build->children.count = frame->first_child;
    build->depth--;
    return attach(build, (struct text_place){node->line, node->column}, node, err);
}

int doc_build_alias(struct doc_build *build, struct text_place place, const struct myr_doc *node,
                    struct myr_err *err)
{
    MYR_ASSERT(!doc_build_is_open(build, node));
    /* The anchored node was shallow enough where it stood; here it may hang deeper. */
    if (build->depth + node->depth > MYR_DOC_DEPTH_MAX) {
        return too_deep(build, place, err);
    }
    return attach(build, place, node, err);
}

/* The size first: what is too long is not even looked at for bad bytes. */
int doc_check_text(const char *file, struct myr_str text, struct myr_err *err)
{
    if (text.len > MYR_DOC_BYTES_MAX) {
        return text_error_at(err, file, (struct text_place){1, 1}, MYR_ERANGE,
                             "the file has %zu bytes, more than %u are not read", text.len,
                             MYR_DOC_BYTES_MAX);
    }
    /* Checked once here; everything behind may take the text for UTF-8. */
    size_t bad = utf8_first_bad(text);
    if (bad < text.len) {
        struct text_cursor cursor;
        text_cursor_init(&cursor, text);
        struct text_place place = text_cursor_move(&cursor, bad);
        return text_error_at(err, file, place, MYR_EINVAL,
                             "byte 0x%02x is not UTF-8 text; save the file as UTF-8",
                             (unsigned)(unsigned char)text.data[bad]);
    }
    return MYR_OK;
}
