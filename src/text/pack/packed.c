/*
 * Packed documents: the files that the program carries with it, read when it was built. Each node
 * is a byte (kind, whether quoted), its line and column and its count or length as numbers of seven
 * bits a byte, then its text with a NUL, or its children; in a map each behind its key. Texts stay
 * where they lie. Nobody but the build writes this, so what is broken here is the program itself.
 */
#include "myriad/text/doc.h"

/* The bit above the four kinds of a node. */
enum { QUOTED = 4 };

struct packed {
    struct myr_arena *arena;
    const char *file;
    struct myr_str left; /* what is not read yet */
};

/* Seven bits a byte, the lowest first; the high bit says that more follow. */
static void put_number(struct myr_buf *buf, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        myr_buf_putc(buf, (char)(0x80 | (value & 0x7F)));
    }
    myr_buf_putc(buf, (char)value);
}

/* With a NUL behind it: whoever unpacks may take the text for a C string without copying. */
static void put_text(struct myr_buf *buf, struct myr_str text)
{
    put_number(buf, text.len);
    myr_buf_put(buf, text.data, text.len);
    myr_buf_putc(buf, '\0');
}

void myr_doc_pack(const struct myr_doc *node, struct myr_buf *buf)
{
    put_number(buf, (uint64_t)node->kind | (node->quoted ? QUOTED : 0));
    put_number(buf, node->line);
    put_number(buf, node->column);
    if (node->kind == MYR_DOC_NULL || node->kind == MYR_DOC_SCALAR) {
        put_text(buf, node->text);
        return;
    }
    put_number(buf, node->count);
    for (uint32_t i = 0; i < node->count; i++) {
        if (node->kind == MYR_DOC_LIST) {
            myr_doc_pack(node->items[i], buf);
            continue;
        }
        const struct myr_doc_entry *entry = &node->entries[i];
        put_number(buf, entry->key_line);
        put_number(buf, entry->key_column);
        put_text(buf, entry->key);
        myr_doc_pack(entry->value, buf);
    }
}

/* A number that does not fit is a broken program: asserted, not reported. */
static uint32_t take_number(struct packed *packed)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        /* Five bytes are the most that a number of 32 bits takes. */
        MYR_ASSERT(packed->left.len > 0 && shift < 35);
        unsigned char byte = (unsigned char)*packed->left.data++;
        packed->left.len--;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            MYR_ASSERT(value <= UINT32_MAX);
            return (uint32_t)value;
        }
    }
}

/* It stays where it lies: no copy is made. */
static struct myr_str take_text(struct packed *packed)
{
    size_t len = take_number(packed);
    MYR_ASSERT(len < packed->left.len && packed->left.data[len] == '\0');
    struct myr_str text = {packed->left.data, len};
    packed->left.data += len + 1;
    packed->left.len -= len + 1;
    return text;
}

/* The depth was bounded by the reader of what was packed. */
static const struct myr_doc *take_node(struct packed *packed)
{
    uint32_t begin = take_number(packed);
    struct myr_doc *node = MYR_ARENA_ONE(packed->arena, struct myr_doc);
    *node = (struct myr_doc){.kind = (enum myr_doc_kind)(begin % QUOTED),
                             .quoted = begin >= QUOTED,
                             .file = packed->file};
    node->line = take_number(packed);
    node->column = take_number(packed);
    if (node->kind == MYR_DOC_NULL || node->kind == MYR_DOC_SCALAR) {
        node->text = take_text(packed);
        return node;
    }
    node->count = take_number(packed);
    if (node->kind == MYR_DOC_LIST) {
        node->items = MYR_ARENA_NEW(packed->arena, const struct myr_doc *, node->count);
    } else {
        node->entries = MYR_ARENA_NEW(packed->arena, struct myr_doc_entry, node->count);
    }
    /* A list or map without children is one level deep, as doc_build.c has it. */
    node->depth = 1;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct myr_doc *child;
        if (node->kind == MYR_DOC_LIST) {
            child = node->items[i] = take_node(packed);
        } else {
            struct myr_doc_entry *entry = &node->entries[i];
            entry->key_line = take_number(packed);
            entry->key_column = take_number(packed);
            entry->key = take_text(packed);
            child = entry->value = take_node(packed);
        }
        /* As doc_build.c counts them, so that a packed tree is like one that was read. */
        node->expanded += 1 + child->expanded;
        node->depth = child->depth < node->depth ? node->depth : child->depth + 1;
    }
    return node;
}

const struct myr_doc *myr_doc_unpack(struct myr_arena *arena, const char *file, const void *data,
                                     size_t size)
{
    struct packed packed = {arena, file, {data, size}};
    const struct myr_doc *doc = take_node(&packed);
    MYR_ASSERT(packed.left.len == 0);
    return doc;
}
