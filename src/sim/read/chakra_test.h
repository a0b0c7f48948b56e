/*
 * Chakra's traces, written by hand: what the wire format says, and whole traces out of one line of
 * text. Include it after cmocka. Whoever has made files gives them back with files_done().
 */
#pragma once

#include <string.h>

#include "myriad/sim/read.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
enum { DOUBLE = 3, FLOAT = 5, INT64 = 9, SINT32 = 15, SINT64 = 17, FIXED_32 = 19, FIXED_64 = 21 };
enum { SFIXED32 = 23, SFIXED64 = 25, BOOL = 27, BOOLS = 28, TEXT = 29 };
enum { RANKS_MAX = 8 };

static inline void put_varint(struct myr_buf *out, uint64_t value)
{
    for (; value > 0x7F; value >>= 7) {
        myr_buf_putc(out, (char)((value & 0x7F) | 0x80));
    }
    myr_buf_putc(out, (char)value);
}

static inline void put_fixed(struct myr_buf *out, uint32_t len, uint64_t value)
{
    for (uint32_t i = 0; i < len; i++) {
        myr_buf_putc(out, (char)(value >> (8 * i)));
    }
}

static inline void put_key(struct myr_buf *out, uint32_t number, uint32_t type)
{
    put_varint(out, (uint64_t)number << 3 | type);
}

static inline void put_number(struct myr_buf *out, uint32_t number, uint64_t value)
{
    put_key(out, number, VARINT);
    put_varint(out, value);
}

static inline void put_bytes(struct myr_buf *out, uint32_t number, const char *data, size_t len)
{
    put_key(out, number, BYTES);
    put_varint(out, len);
    myr_buf_put(out, data, len);
}

/* The wire type that a kind of number has in Chakra's own writer. */
static inline uint32_t wire_type(uint32_t kind)
{
    return kind == DOUBLE || kind == FIXED_64 || kind == SFIXED64  ? FIXED64
           : kind == FLOAT || kind == FIXED_32 || kind == SFIXED32 ? FIXED32
                                                                   : VARINT;
}

/* 'value' is what lies on the wire: zigzag, two's complement and floating point are the caller's.
 */
static inline void put_attribute(struct myr_buf *node, const char *name, uint32_t kind,
                                 uint64_t value)
{
    struct myr_buf inner = {};
    put_bytes(&inner, 1, name, strlen(name));
    put_key(&inner, kind, wire_type(kind));
    if (wire_type(kind) == VARINT) {
        put_varint(&inner, value);
    } else {
        put_fixed(&inner, wire_type(kind) == FIXED64 ? 8 : 4, value);
    }
    put_bytes(node, 10, inner.data, inner.len);
    myr_buf_done(&inner);
}

static inline void put_text(struct myr_buf *node, const char *name, uint32_t kind,
                            struct myr_str text)
{
    struct myr_buf inner = {};
    put_bytes(&inner, 1, name, strlen(name));
    put_bytes(&inner, kind, text.data, text.len);
    put_bytes(node, 10, inner.data, inner.len);
    myr_buf_done(&inner);
}

static inline void put_message(struct myr_buf *file, const struct myr_buf *node)
{
    put_varint(file, node->len);
    myr_buf_put(file, node->data, node->len);
}

static inline uint64_t number_at(const char **at)
{
    uint64_t value = 0;
    size_t len = strspn(*at, "0123456789");
    assert_true(myr_str_to_u64((struct myr_str){*at, len}, &value));
    *at += len;
    return value;
}

/* "deps=1,2": one by one; a list that ends in a comma is packed. */
static inline void put_ids(struct myr_buf *node, uint32_t field, const char **at)
{
    struct myr_buf packed = {}, single = {};
    char last;
    do {
        uint64_t id = number_at(at);
        put_varint(&packed, id);
        put_number(&single, field, id);
        last = **at;
        *at += last == ',';
    } while (last == ',' && **at >= '0' && **at <= '9');
    if (last == ',') {
        put_bytes(node, field, packed.data, packed.len);
    } else {
        myr_buf_put(node, single.data, single.len);
    }
    myr_buf_done(&packed);
    myr_buf_done(&single);
}

/* "dims=tf": a list of truth values, in a list field or packed ("dims=tf,"). */
static inline void put_dims(struct myr_buf *node, const char **at)
{
    struct myr_buf packed = {}, single = {};
    for (; **at == 't' || **at == 'f'; (*at)++) {
        myr_buf_putc(&packed, **at == 't');
        put_number(&single, 1, **at == 't');
    }
    struct myr_buf list = {};
    if (**at == ',') {
        ++*at;
        put_bytes(&list, 1, packed.data, packed.len);
    } else {
        myr_buf_put(&list, single.data, single.len);
    }
    put_text(node, "involved_dim", BOOLS, (struct myr_str){list.data, list.len});
    myr_buf_done(&packed);
    myr_buf_done(&single);
    myr_buf_done(&list);
}

/* One word of a node: what is none of the node's own fields is an attribute of it. */
static inline void put_word(struct myr_buf *node, const char *name, const char **at)
{
    static const struct {
        const char *name;
        uint32_t field;
    } fields[] = {{"id", 1}, {"type", 3}, {"us", 7}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(fields); i++) {
        if (strcmp(name, fields[i].name) == 0) {
            put_number(node, fields[i].field, number_at(at));
            return;
        }
    }
    if (strcmp(name, "ctrl") == 0 || strcmp(name, "deps") == 0) {
        put_ids(node, *name == 'c' ? 4 : 5, at);
    } else if (strcmp(name, "involved_dim") == 0) {
        put_dims(node, at);
    } else if (strcmp(name, "pg_name") == 0) {
        size_t len = strcspn(*at, " ;|");
        put_text(node, name, TEXT, (struct myr_str){*at, len});
        *at += len;
    } else {
        put_attribute(node, name, INT64, number_at(at));
    }
}

struct files {
    struct myr_buf text[RANKS_MAX];
    uint32_t count;
};

static inline void files_done(struct files *files)
{
    for (uint32_t i = 0; i < RANKS_MAX; i++) {
        myr_buf_done(&files->text[i]);
    }
}

/* "id=0 type=4 us=5; id=1 type=5 comm_size=8 | ...": nodes end in ';', ranks in '|'. */
static inline void put_files(struct files *files, const char *at)
{
    struct myr_buf node = {};
    char name[24];
    *files = (struct files){.count = 1};
    while (true) {
        struct myr_buf *file = &files->text[files->count - 1];
        at += strspn(at, " ");
        if (*at == ';' || *at == '|' || *at == '\0') {
            if (node.len > 0) {
                put_message(file, &node);
            }
            myr_buf_clear(&node);
            files->count += *at == '|';
            if (*at++ == '\0') {
                break;
            }
            continue;
        }
        size_t len = strcspn(at, "=");
        assert_in_range(len, 1, sizeof(name) - 1);
        myr_str_put((struct myr_str){at, len}, name);
        at += len + 1;
        put_word(&node, name, &at);
    }
    myr_buf_done(&node);
}

static inline int read_files(const struct files *files, const struct myr_chakra_options *options,
                             struct myr_trace *trace, struct myr_err *err)
{
    static const char *const names[RANKS_MAX] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"};
    struct myr_trace_file each[RANKS_MAX];
    for (uint32_t i = 0; i < files->count; i++) {
        each[i].name = names[i];
        each[i].text =
            (struct myr_str){files->text[i].len ? files->text[i].data : "", files->text[i].len};
    }
    return myr_trace_read_chakra(each, files->count, options, trace, err);
}

static inline void put_trace(struct myr_buf *out, const struct myr_trace *trace)
{
    static const char *const kinds[] = {"compute", "message", "collective"};
    myr_buf_printf(out, "  %u ranks, %u messages\n", trace->ranks, trace->messages);
    for (size_t i = 0; i < trace->ops.count; i++) {
        const struct myr_trace_op *op = &trace->ops.items[i];
        myr_buf_printf(out, "  %zu %s line %u: from %u to %u, kind %u, %llu bytes, %lld ps", i,
                       kinds[op->kind], op->line, op->from, op->to, op->collective,
                       (unsigned long long)op->bytes, (long long)op->duration);
        assert_int_equal(op->start, 0);
        for (size_t e = 0; e < trace->edges.count; e++) {
            if (trace->edges.items[e].op == i) {
                myr_buf_printf(out, " after %u", trace->edges.items[e].before);
            }
        }
        myr_buf_putc(out, '\n');
    }
    for (size_t i = 0; i < trace->splits.count; i++) {
        const struct myr_trace_split *split = &trace->splits.items[i];
        myr_buf_printf(out, "  split %zu%s:", i, split->listed ? "" : ", regular");
        for (uint32_t m = 0; m < split->size; m++) {
            myr_buf_printf(out, " %u", trace->members.items[split->first_member + m]);
        }
        myr_buf_putc(out, '\n');
    }
}

static inline void put_read(struct myr_buf *out, const struct files *files,
                            const struct myr_chakra_options *options)
{
    struct myr_trace trace;
    struct myr_err err = {};
    if (read_files(files, options, &trace, &err) < 0) {
        assert_null(trace.ops.items);
        myr_buf_printf(out, "  %s%s%s\n", err.message, *err.hint ? "; hint: " : "", err.hint);
        return;
    }
    put_trace(out, &trace);
    myr_trace_done(&trace);
}
