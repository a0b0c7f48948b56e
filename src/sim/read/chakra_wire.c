#include "read/chakra.h"

/*
 * Protocol Buffers, as much of them as nodes have: a key (number and type) and a value, one behind
 * the other; what is not known is passed over. Numbers of an attribute may have any of the format's
 * types: a reader that takes one of them only finds all sizes 0 when a writer changes its mind.
 */

/* Types of fields, by the numbers of Protocol Buffers; others are refused. */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct field {
    uint32_t number, type;
    uint64_t value;       /* VARINT, FIXED64, FIXED32 */
    struct myr_str bytes; /* BYTES */
};

/* What is left of a message, or of a field with fields inside. */
struct cursor {
    const struct chakra_reader *reader;
    const char *at, *end;
};

/* The line is the number of the message, the column the byte in it, its length included. */
static struct scan_place place_of(const struct chakra_reader *reader, const char *at)
{
    const char *start = reader->scan->text.data + reader->message_at;
    MYR_ASSERT(at >= start && at <= reader->scan->text.data + reader->scan->text.len);
    return (struct scan_place){reader->message, (uint32_t)(at - start) + 1};
}

/* Where the reader stands: the byte in the message that could not be. */
static int broken(const struct cursor *cursor, const char *what, struct myr_err *err)
{
    return scan_error_at(err, cursor->reader->scan, place_of(cursor->reader, cursor->at),
                         "not a Chakra trace: %s", what);
}

/* Seven bits a byte, the lowest first; ten bytes are enough for 64 bits. */
static int read_varint(struct cursor *cursor, uint64_t *ret, struct myr_err *err)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        if (cursor->at == cursor->end) {
            return broken(cursor, "a number is cut off", err);
        }
        uint8_t byte = (uint8_t)*cursor->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *ret = value;
            return MYR_OK;
        }
    }
    return broken(cursor, "a number of more than ten bytes", err);
}

/* Little-endian, as the format has them on every machine. */
static int read_fixed(struct cursor *cursor, uint32_t len, uint64_t *ret, struct myr_err *err)
{
    if ((size_t)(cursor->end - cursor->at) < len) {
        return broken(cursor, "a number is cut off", err);
    }
    *ret = 0;
    for (uint32_t i = 0; i < len; i++) {
        *ret |= (uint64_t)(uint8_t)cursor->at[i] << (8 * i);
    }
    cursor->at += len;
    return MYR_OK;
}

/* 1 when there was one, 0 at the end. */
static int next_field(struct cursor *cursor, struct field *ret, struct myr_err *err)
{
    uint64_t key = 0, len = 0;
    MYR_ASSERT(cursor->at <= cursor->end); /* beyond it no end would be met */
    if (cursor->at == cursor->end) {
        return 0;
    }
    MYR_TRY(read_varint(cursor, &key, err));
    /* Field numbers have 29 bits, and 0 is none. */
    if (key >> 3 == 0 || key >> 3 > UINT32_C(0x1FFFFFFF)) {
        return broken(cursor, "a field has no number", err);
    }
    *ret = (struct field){.number = (uint32_t)(key >> 3), .type = key & 7};
    switch (ret->type) {
    case VARINT:
        MYR_TRY(read_varint(cursor, &ret->value, err));
        return 1;
    case FIXED64:
    case FIXED32:
        MYR_TRY(read_fixed(cursor, ret->type == FIXED64 ? 8 : 4, &ret->value, err));
        return 1;
    case BYTES:
        MYR_TRY(read_varint(cursor, &len, err));
        if (len > (uint64_t)(cursor->end - cursor->at)) {
            return broken(cursor, "a field is longer than what it stands in", err);
        }
        ret->bytes = (struct myr_str){cursor->at, (size_t)len};
        cursor->at += len;
        return 1;
    default:
        return broken(cursor, "a field of an unknown type", err);
    }
}

/* Of a field of type BYTES: others have none. */
static struct cursor inside(const struct cursor *cursor, struct myr_str bytes)
{
    return (struct cursor){cursor->reader, bytes.data, bytes.data + bytes.len};
}

/* Ids that nodes wait for: packed, or one by one. */
static int read_deps(const struct cursor *cursor, const struct field *field,
                     struct chakra_node *node, struct myr_err *err)
{
    if (field->type == VARINT) {
        myr_vec_push(&node->deps, field->value);
        return MYR_OK;
    }
    if (field->type != BYTES) {
        return broken(cursor, "ids are expected", err);
    }
    struct cursor list = inside(cursor, field->bytes);
    while (list.at < list.end) {
        uint64_t id = 0;
        MYR_TRY(read_varint(&list, &id, err));
        myr_vec_push(&node->deps, id);
    }
    return MYR_OK;
}

/* 'negative' is kept apart: the number is then not one that anybody here can use. */
struct attribute {
    struct myr_str name, text;
    uint64_t number;
    bool has_number, negative, any_false; /* any_false: of a list of truth values */
};

/* Numbers of the oneof 'value', by their types: see Chakra's et_def.proto. */
enum {
    ATTR_DOUBLE = 3,
    ATTR_FLOAT = 5,
    ATTR_INT32 = 7,
    ATTR_INT64 = 9,
    ATTR_UINT32 = 11,
    ATTR_UINT64 = 13,
    ATTR_SINT32 = 15,
    ATTR_SINT64 = 17,
    ATTR_FIXED32 = 19,
    ATTR_FIXED64 = 21,
    ATTR_SFIXED32 = 23,
    ATTR_SFIXED64 = 25,
    ATTR_BOOL = 27,
    ATTR_BOOL_LIST = 28,
    ATTR_STRING = 29,
};

/* "[true, false]": whether one is false. */
static int read_bools(const struct cursor *cursor, struct myr_str bytes, bool *ret,
                      struct myr_err *err)
{
    struct cursor list = inside(cursor, bytes);
    struct field field = {};
    int rc;
    while ((rc = next_field(&list, &field, err)) > 0) {
        *ret = *ret || (field.type == VARINT && field.value == 0);
        for (size_t i = 0; field.type == BYTES && i < field.bytes.len; i++) {
            *ret = *ret || field.bytes.data[i] == 0;
        }
    }
    return rc;
}

/* A whole double, and nothing else: what is no number of bytes or ranks is refused by its user. */
static void take_double(struct attribute *ret, double value)
{
    ret->has_number = value >= 0 && value < 9e15 && value <= (double)(uint64_t)value;
    ret->number = ret->has_number ? (uint64_t)value : 0;
}

/* By the field's number, for the wire type alone does not tell a double from an integer. */
static void take_value(const struct field *field, struct attribute *ret)
{
    double wide;
    float narrow;
    uint32_t half = (uint32_t)field->value;
    switch (field->number) {
    case ATTR_DOUBLE:
        memcpy(&wide, &field->value, sizeof(wide));
        take_double(ret, wide);
        return;
    case ATTR_FLOAT:
        memcpy(&narrow, &half, sizeof(narrow));
        take_double(ret, (double)narrow);
        return;
    case ATTR_SINT32:
    case ATTR_SINT64: /* zigzag: the last bit is the sign */
        ret->negative = field->value & 1;
        ret->number = field->value >> 1;
        break;
    case ATTR_SFIXED32:
        ret->negative = half >> 31;
        ret->number = half;
        break;
    case ATTR_INT32:
    case ATTR_INT64:
    case ATTR_SFIXED64:
        ret->negative = field->value >> 63;
        ret->number = field->value;
        break;
    default:
        ret->number = field->value;
        break;
    }
    ret->has_number = true;
}

/* Text, a number or a list of truth values; other kinds of values mean nothing here. */
static int read_attribute(const struct cursor *cursor, struct myr_str bytes, struct attribute *ret,
                          struct myr_err *err)
{
    struct cursor list = inside(cursor, bytes);
    struct field field = {};
    int rc;
    *ret = (struct attribute){};
    while ((rc = next_field(&list, &field, err)) > 0) {
        /* Field 1 is the attribute's name; the value's field number says its type. */
        if (field.number == 1 && field.type == BYTES) {
            ret->name = field.bytes;
        } else if (field.number == ATTR_STRING && field.type == BYTES) {
            ret->text = field.bytes;
        } else if (field.number == ATTR_BOOL_LIST && field.type == BYTES) {
            MYR_TRY(read_bools(cursor, field.bytes, &ret->any_false, err));
        } else if (field.type != BYTES && field.number >= ATTR_DOUBLE &&
                   field.number <= ATTR_BOOL) {
            take_value(&field, ret);
        }
    }
    return rc;
}

/* An attribute that means something here; others belong to other tools. */
static int apply(const struct cursor *cursor, const struct attribute *attribute,
                 struct chakra_node *node, struct myr_err *err)
{
    bool ignored = false;
    uint64_t is_cpu = 0;
    const struct {
        const char *name;
        uint64_t *value;
        bool *has;
    } numbers[] = {
        {"comm_type", &node->comm_type, &node->has_comm_type},
        {"comm_size", &node->comm_size, &node->has_size},
        {"comm_src", &node->src, &node->has_src},
        {"comm_dst", &node->dst, &node->has_dst},
        {"comm_tag", &node->tag, &ignored},
        {"num_ops", &node->num_ops, &ignored},
        {"is_cpu_op", &is_cpu, &ignored},
    };
    if (myr_str_eq(attribute->name, MYR_STR("pg_name"))) {
        node->group = attribute->text;
    } else if (myr_str_eq(attribute->name, MYR_STR("involved_dim"))) {
        node->part_of_dims = attribute->any_false;
    }
    /*
     * A number that is none, or is negative, is refused only where its name means something here.
     */
    for (size_t i = 0; i < MYR_ARRAY_COUNT(numbers); i++) {
        if (!myr_str_eq(attribute->name, myr_str_from(numbers[i].name))) {
            continue;
        }
        if (!attribute->has_number || attribute->negative) {
            return scan_error_at(err, cursor->reader->scan, place_of(cursor->reader, cursor->at),
                                 "'%s' must be a whole number from 0", numbers[i].name);
        }
        *numbers[i].value = attribute->number;
        *numbers[i].has = true;
    }
    node->is_cpu = node->is_cpu || is_cpu != 0;
    return MYR_OK;
}

/* Fields of Chakra's message Node. */
enum {
    NODE_ID = 1,
    NODE_TYPE = 3,
    NODE_CTRL = 4,
    NODE_DATA = 5,
    NODE_DURATION = 7,
    NODE_ATTR = 10
};

/* Fields may come in any order, and more than once: the last one counts. */
static int read_node(struct cursor *cursor, struct chakra_node *node, struct myr_err *err)
{
    struct field field = {};
    struct attribute attribute;
    int rc;
    while ((rc = next_field(cursor, &field, err)) > 0) {
        bool number = field.type == VARINT;
        if (field.number == NODE_ID && number) {
            node->id = field.value;
        } else if (field.number == NODE_TYPE && number) {
            /* A type that does not fit is no known one either. */
            node->type = field.value < UINT32_MAX ? (uint32_t)field.value : UINT32_MAX;
        } else if (field.number == NODE_DURATION && number) {
            node->duration_us = field.value;
        } else if (field.number == NODE_DATA ||
                   (field.number == NODE_CTRL && cursor->reader->callers)) {
            MYR_TRY(read_deps(cursor, &field, node, err));
        } else if (field.number == NODE_ATTR && field.type == BYTES) {
            MYR_TRY(read_attribute(cursor, field.bytes, &attribute, err));
            MYR_TRY(apply(cursor, &attribute, node, err));
        }
    }
    return rc;
}

/* The first message is about the file, unless it has a type: files of early versions lack it. */
static int is_metadata(struct cursor cursor, bool *ret, struct myr_err *err)
{
    struct field field = {};
    int rc;
    *ret = true;
    while ((rc = next_field(&cursor, &field, err)) > 0) {
        *ret = *ret && field.number != NODE_TYPE;
    }
    return rc;
}

void chakra_begin(struct chakra_reader *reader, struct scan *scan, bool callers)
{
    *reader = (struct chakra_reader){.scan = scan, .callers = callers};
}

void chakra_node_done(struct chakra_node *node)
{
    myr_vec_done(&node->deps);
}

/* The list of ids is a node's own; its memory serves the next one. */
static void clear_node(struct chakra_node *node, struct scan_place place)
{
    node->deps.count = 0;
    *node = (struct chakra_node){.place = place, .deps = node->deps};
}

/* 'ret' is cleared here for each node: what it holds lives until the next call. */
int chakra_next(struct chakra_reader *reader, struct chakra_node *ret, struct myr_err *err)
{
    const struct myr_str text = reader->scan->text;
    for (;;) {
        struct cursor file = {reader, text.data + reader->at, text.data + text.len};
        uint64_t len = 0;
        if (reader->at == text.len) {
            return 0;
        }
        reader->message++;
        reader->message_at = reader->at;
        MYR_TRY(read_varint(&file, &len, err));
        if (len > (uint64_t)(file.end - file.at)) {
            return broken(&file, "a message is longer than the file", err);
        }
        struct cursor message = {reader, file.at, file.at + len};
        reader->at = (size_t)(message.end - text.data);
        /* Only the first message can be about the file. */
        bool metadata = false;
        if (reader->message == 1) {
            MYR_TRY(is_metadata(message, &metadata, err));
        }
        if (!metadata) {
            clear_node(ret, place_of(reader, message.at));
            MYR_TRY(read_node(&message, ret, err));
            return 1;
        }
    }
}
