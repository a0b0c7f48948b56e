/*
 * channel: messages as fields on the wire. Before the first message of a type the sender tells its
 * schema, the numbers and kinds of its fields; the receiver reads every later message of that type
 * by it. So the two ends may know different fields: what one does not know it skips, what it misses
 * is zero.
 */
#include "myriad/wire/channel.h"

#include <stdlib.h>

/* Lists are handed out as they lie in the payload. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "lists on the wire are little-endian");

/*
 * How the other side lays out a type, as its schema frame said: fields in the order of the payload.
 */
struct myr_wire_layout {
    uint16_t count;
    uint16_t numbers[MYR_WIRE_FIELDS_MAX]; /* never 0 */
    uint8_t kinds[MYR_WIRE_FIELDS_MAX];    /* enum myr_wire_kind */
};

/* 'bytes' is 8 at most. */
static void put_le(struct myr_buf *buf, uint64_t value, uint32_t bytes)
{
    char text[8];
    MYR_ASSERT(bytes <= sizeof(text));
    MYR_ASSERT(bytes == sizeof(text) || value >> 8 * bytes == 0); /* nothing of it is lost */
    for (uint32_t i = 0; i < bytes; i++) {
        text[i] = (char)(value >> 8 * i);
    }
    myr_buf_put(buf, text, bytes);
}

/* The table is a pointer, so that a test can speak as a version with other messages. */
void myr_wire_sender_init(struct myr_wire_sender *sender)
{
    MYR_ASSERT(sender);
    *sender = (struct myr_wire_sender){.version = MYR_WIRE_VERSION, .table_of = myr_wire_table_of};
}

/* Type, count, then number and kind of each field: what keep_schema() reads at the other end. */
static void put_schema(struct myr_buf *payload, const struct myr_wire_table *table)
{
    MYR_ASSERT(payload->len == 0);
    /* What the other end would refuse is never told. */
    MYR_ASSERT(table->type != MYR_WIRE_SCHEMA && table->count <= MYR_WIRE_FIELDS_MAX);
    put_le(payload, table->type, 1);
    put_le(payload, table->count, 2);
    for (uint16_t i = 0; i < table->count; i++) {
        MYR_ASSERT(table->fields[i].number > 0 && table->fields[i].kind < MYR_WIRE_KIND_COUNT);
        put_le(payload, table->fields[i].number, 2);
        put_le(payload, table->fields[i].kind, 1);
    }
    MYR_ASSERT(payload->len == 3 + 3 * (size_t)table->count);
}

/* What is too long is cut: a log line must not end a connection. Lists are the caller's own. */
static void put_field(struct myr_buf *payload, const struct myr_wire_field *field, const char *at)
{
    MYR_ASSERT(field->number > 0 && at);
    switch (field->kind) {
    case MYR_WIRE_U32:
        put_le(payload, *(const uint32_t *)(const void *)at, 4);
        break;
    case MYR_WIRE_U64:
        put_le(payload, *(const uint64_t *)(const void *)at, 8);
        break;
    case MYR_WIRE_I64:
        put_le(payload, (uint64_t) * (const int64_t *)(const void *)at, 8);
        break;
    case MYR_WIRE_TEXT: {
        const struct myr_str *text = (const void *)at;
        size_t len = text->len < MYR_WIRE_TEXT_MAX ? text->len : MYR_WIRE_TEXT_MAX;
        MYR_ASSERT(text->data || len == 0);
        put_le(payload, len, 4);
        myr_buf_put(payload, text->data ? text->data : "", len);
        break;
    }
    case MYR_WIRE_U32_LIST: {
        const struct myr_wire_list *list = (const void *)at;
        MYR_ASSERT(list->count <= MYR_WIRE_LIST_MAX);
        MYR_ASSERT(list->items || list->count == 0);
        put_le(payload, list->count, 4);
        for (uint32_t i = 0; i < list->count; i++) {
            put_le(payload, list->items[i], 4);
        }
        break;
    }
    case MYR_WIRE_KIND_COUNT: /* no table holds it */
        MYR_ASSERT(field->kind < MYR_WIRE_KIND_COUNT);
    }
}

void myr_wire_send(struct myr_wire_sender *sender, struct myr_buf *buf, enum myr_wire_type type,
                   uint32_t node, uint32_t epoch, uint64_t sequence, const void *message)
{
    MYR_ASSERT(sender && buf);
    MYR_CLEANUP(myr_buf_done) struct myr_buf payload = {};
    const struct myr_wire_table *table = sender->table_of((uint8_t)type);
    struct myr_wire_head head = {.version = sender->version, .node = node, .epoch = epoch};
    MYR_ASSERT(table && table->count <= MYR_WIRE_FIELDS_MAX);
    MYR_ASSERT(table->type == type && table->size <= MYR_WIRE_MESSAGE_BYTES);
    MYR_ASSERT(type != MYR_WIRE_SCHEMA && type < MYR_ARRAY_COUNT(sender->told));
    MYR_ASSERT(message || table->count == 0);
    /* Once for each type. A schema frame has no sequence of its own: it is 0. */
    if (!sender->told[type]) {
        sender->told[type] = true;
        put_schema(&payload, table);
        head.type = MYR_WIRE_SCHEMA;
        myr_wire_frame_put(buf, &head, (struct myr_str){payload.data, payload.len});
        myr_buf_clear(&payload);
    }
    for (uint16_t i = 0; i < table->count; i++) {
        MYR_ASSERT(table->fields[i].offset < table->size);
        put_field(&payload, &table->fields[i], (const char *)message + table->fields[i].offset);
    }
    head.type = (uint8_t)type;
    head.sequence = sequence;
    /* A message without fields has no payload, and the buffer then no data. */
    myr_wire_frame_put(buf, &head, (struct myr_str){payload.len ? payload.data : "", payload.len});
}

/* --- the other end */

void myr_wire_receiver_init(struct myr_wire_receiver *receiver)
{
    MYR_ASSERT(receiver);
    *receiver = (struct myr_wire_receiver){
        .table_of = myr_wire_table_of,
        /* A layout for every number that a type can have: it is one byte on the wire. */
        .layouts = myr_xcalloc(UINT8_MAX + 1, sizeof(struct myr_wire_layout *))};
}

void myr_wire_receiver_done(struct myr_wire_receiver *receiver)
{
    MYR_ASSERT(receiver && receiver->at <= receiver->bytes.len);
    myr_buf_done(&receiver->bytes);
    myr_buf_done(&receiver->lists);
    for (uint32_t type = 0; receiver->layouts && type <= UINT8_MAX; type++) {
        free(receiver->layouts[type]);
    }
    free(receiver->layouts);
    receiver->layouts = NULL;
}

void myr_wire_feed(struct myr_wire_receiver *receiver, struct myr_str bytes)
{
    struct myr_buf *buf = &receiver->bytes;
    MYR_ASSERT(receiver->layouts && receiver->at <= buf->len);
    MYR_ASSERT(bytes.data || bytes.len == 0);
    /* What was read goes away in large pieces, so that moving costs less than a byte each. */
    if (receiver->at > 0 && receiver->at >= buf->len / 2) {
        memmove(buf->data, buf->data + receiver->at, buf->len - receiver->at);
        buf->len -= receiver->at;
        receiver->at = 0;
        MYR_ASSERT(buf->len <= buf->capacity);
    }
    myr_buf_put(buf, bytes.data, bytes.len);
    MYR_ASSERT(buf->len - receiver->at >= bytes.len); /* and what was not read before it */
}

/* A payload that is read from the front. */
struct cursor {
    const char *at;
    size_t left;
};

/* False, with nothing taken, where fewer than 'len' bytes are left. */
static bool take(struct cursor *cursor, size_t len, const char **ret)
{
    MYR_ASSERT(cursor->at || cursor->left == 0);
    if (cursor->left < len) {
        return false;
    }
    *ret = cursor->at;
    cursor->at += len;
    cursor->left -= len;
    return true;
}

/* Little-endian, 'bytes' of them; 8 at most. */
static bool take_le(struct cursor *cursor, uint32_t bytes, uint64_t *ret)
{
    const char *at;
    MYR_ASSERT(bytes <= sizeof(*ret));
    MYR_ASSERT(bytes > 0);
    if (!take(cursor, bytes, &at)) {
        return false;
    }
    *ret = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        *ret |= (uint64_t)(uint8_t)at[i] << 8 * i;
    }
    return true;
}

/*
 * A kind that is not known here is refused: its length could not be told, so nothing behind it
 * could be read. A later schema of the same type replaces the one before.
 */
static int keep_schema(struct myr_wire_receiver *receiver, struct myr_str payload,
                       struct myr_err *err)
{
    MYR_ASSERT(receiver->layouts);
    struct cursor cursor = {payload.data, payload.len};
    struct myr_wire_layout layout = {};
    uint64_t type, count;
    bool good =
        take_le(&cursor, 1, &type) && take_le(&cursor, 2, &count) && count <= MYR_WIRE_FIELDS_MAX;
    for (uint64_t i = 0; good && i < count; i++) {
        uint64_t number, kind;
        good = take_le(&cursor, 2, &number) && take_le(&cursor, 1, &kind) && number > 0 &&
               kind < MYR_WIRE_KIND_COUNT;
        layout.numbers[i] = good ? (uint16_t)number : 0;
        layout.kinds[i] = good ? (uint8_t)kind : 0;
    }
    if (!good || cursor.left > 0) {
        return myr_err_set(err, MYR_ECORRUPT, "a schema that makes no sense");
    }
    MYR_ASSERT(type <= UINT8_MAX && count <= MYR_WIRE_FIELDS_MAX);
    layout.count = (uint16_t)count;
    if (!receiver->layouts[type]) {
        receiver->layouts[type] = myr_xcalloc(1, sizeof(layout));
    }
    *receiver->layouts[type] = layout;
    return MYR_OK;
}

/* Where a field of that number and kind goes, or NULL: nobody here knows it. */
static void *place_of(const struct myr_wire_table *table, uint16_t number, uint8_t kind, void *body)
{
    MYR_ASSERT(number > 0 && kind < MYR_WIRE_KIND_COUNT); /* no schema with others was kept */
    for (uint16_t i = 0; i < table->count; i++) {
        if (table->fields[i].number == number && table->fields[i].kind == kind) {
            MYR_ASSERT(table->fields[i].offset < table->size);
            return (char *)body + table->fields[i].offset;
        }
    }
    return NULL;
}

/* A list must lie on a multiple of four bytes to be read as numbers: it is copied there. */
static bool take_list(struct myr_wire_receiver *receiver, struct cursor *cursor,
                      struct myr_wire_list *ret)
{
    uint64_t count;
    const char *at;
    if (!take_le(cursor, 4, &count) || count > MYR_WIRE_LIST_MAX ||
        !take(cursor, (size_t)count * 4, &at)) {
        return false;
    }
    myr_buf_clear(&receiver->lists);
    myr_buf_put(&receiver->lists, at, (size_t)count * 4);
    MYR_ASSERT(receiver->lists.len == (size_t)count * 4);
    if (ret) {
        const void *items = receiver->lists.data;
        MYR_ASSERT(count == 0 || ((uintptr_t)items & 3) == 0);
        *ret = (struct myr_wire_list){count ? items : NULL, (uint32_t)count};
    }
    return true;
}

/* The text stays in the receiver's buffer: it holds until more bytes are fed. */
static bool take_text(struct cursor *cursor, struct myr_str *ret)
{
    uint64_t len;
    const char *at;
    if (!take_le(cursor, 4, &len) || len > MYR_WIRE_TEXT_MAX || !take(cursor, (size_t)len, &at)) {
        return false;
    }
    if (ret) {
        *ret = (struct myr_str){at, (size_t)len};
    }
    return true;
}

/* Reads one field whether it is known or not; 'place' is NULL for one that is not. */
static bool take_field(struct myr_wire_receiver *receiver, struct cursor *cursor, uint8_t kind,
                       void *place)
{
    uint64_t number;
    MYR_ASSERT(kind < MYR_WIRE_KIND_COUNT); /* no schema with another one was kept */
    switch ((enum myr_wire_kind)kind) {
    case MYR_WIRE_U32:
        if (!take_le(cursor, 4, &number)) {
            return false;
        }
        if (place) {
            *(uint32_t *)place = (uint32_t)number;
        }
        return true;
    case MYR_WIRE_U64:
    case MYR_WIRE_I64:
        if (!take_le(cursor, 8, &number)) {
            return false;
        }
        if (place) {
            *(uint64_t *)place = number;
        }
        return true;
    case MYR_WIRE_TEXT:
        return take_text(cursor, place);
    case MYR_WIRE_U32_LIST:
        return take_list(receiver, cursor, place);
    case MYR_WIRE_KIND_COUNT:
        break;
    }
    return false;
}

/*
 * Fields that the sender does not have stay zero. A message whose type has no table here is checked
 * to its end all the same; 'known' says that its body holds nothing.
 */
static int read_body(struct myr_wire_receiver *receiver, struct myr_str payload,
                     struct myr_wire_message *ret, struct myr_err *err)
{
    MYR_ASSERT(receiver->layouts && receiver->table_of);
    const struct myr_wire_layout *layout = receiver->layouts[ret->head.type];
    const struct myr_wire_table *table = receiver->table_of(ret->head.type);
    struct cursor cursor = {payload.data, payload.len};
    /* Fields that do not come must not show what the message before had. */
    memset(ret->body, 0, sizeof(ret->body));
    ret->known = table != NULL;
    if (!layout) {
        return myr_err_set(err, MYR_ECORRUPT, "a message '%s' before its schema",
                           myr_wire_type_name(ret->head.type));
    }
    MYR_ASSERT(!table || table->size <= sizeof(ret->body));
    MYR_ASSERT(ret->head.type != MYR_WIRE_SCHEMA && layout->count <= MYR_WIRE_FIELDS_MAX);
    for (uint16_t i = 0; i < layout->count; i++) {
        void *place =
            table ? place_of(table, layout->numbers[i], layout->kinds[i], ret->body) : NULL;
        MYR_ASSERT(layout->numbers[i] > 0);
        if (!take_field(receiver, &cursor, layout->kinds[i], place)) {
            return myr_err_set(err, MYR_ECORRUPT, "a message '%s' that ends in its field %u",
                               myr_wire_type_name(ret->head.type), layout->numbers[i]);
        }
    }
    return cursor.left > 0
               ? myr_err_set(err, MYR_ECORRUPT, "a message '%s' with %zu bytes too many",
                             myr_wire_type_name(ret->head.type), cursor.left)
               : MYR_OK;
}

/* Schemas are kept on the way; only messages come back. */
int myr_wire_next(struct myr_wire_receiver *receiver, struct myr_wire_message *ret,
                  struct myr_err *err)
{
    MYR_ASSERT(receiver->layouts);
    for (;;) {
        MYR_ASSERT(receiver->at <= receiver->bytes.len);
        /* Nothing is left: not even the beginning of a frame. */
        if (receiver->at == receiver->bytes.len) {
            return 0;
        }
        struct myr_str bytes = {receiver->bytes.data + receiver->at,
                                receiver->bytes.len - receiver->at};
        struct myr_wire_head head;
        struct myr_str payload;
        size_t size;
        int rc = myr_wire_frame_get(bytes, &head, &payload, &size, err);
        if (rc <= 0) {
            return rc;
        }
        ret->head = head;
        rc = head.type == MYR_WIRE_SCHEMA ? keep_schema(receiver, payload, err)
                                          : read_body(receiver, payload, ret, err);
        if (rc < 0) {
            return rc; /* nothing was taken: the next call says the same */
        }
        MYR_ASSERT(size > 0 && size <= bytes.len); /* it gets on, and no further than was fed */
        receiver->at += size;
        if (head.type != MYR_WIRE_SCHEMA) {
            return 1;
        }
    }
}

/* Leaves the frame where it is: whoever passes it on unread takes it away with myr_wire_skip(). */
int myr_wire_peek(const struct myr_wire_receiver *receiver, struct myr_wire_head *ret,
                  struct myr_str *ret_frame, struct myr_err *err)
{
    struct myr_str bytes = {receiver->bytes.data + receiver->at,
                            receiver->bytes.len - receiver->at};
    struct myr_str payload;
    size_t size;
    MYR_ASSERT(receiver->at <= receiver->bytes.len);
    if (bytes.len == 0) {
        return 0;
    }
    int rc = myr_wire_frame_get(bytes, ret, &payload, &size, err);
    if (rc > 0) {
        MYR_ASSERT(size >= MYR_WIRE_HEAD_BYTES && size <= bytes.len);
        *ret_frame = (struct myr_str){bytes.data, size};
    }
    return rc;
}

/* Only the frame that was peeked at: any other would lose the place. */
void myr_wire_skip(struct myr_wire_receiver *receiver, struct myr_str frame)
{
    MYR_ASSERT(frame.data == receiver->bytes.data + receiver->at);
    MYR_ASSERT(frame.len <= receiver->bytes.len - receiver->at);
    MYR_ASSERT(frame.len >= MYR_WIRE_HEAD_BYTES);
    receiver->at += frame.len;
}
