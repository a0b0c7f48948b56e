/*
 * What another side of a connection may send: messages or one error, never more. Most changed bytes
 * only break a checksum, so an input that does not begin with 'R' is cut into payloads, each of
 * which gets a right head: type, length, bytes.
 */
#include "fuzz.h"
#include "myriad/wire.h"

static void put_frames(struct myr_buf *stream, const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at + 2 <= size) {
        struct myr_wire_head head = {
            .version = MYR_WIRE_VERSION, .type = data[at], .node = 1, .sequence = at + 1};
        size_t len = data[at + 1];
        at += 2;
        len = len < size - at ? len : size - at;
        myr_wire_frame_put(stream, &head, (struct myr_str){(const char *)data + at, len});
        at += len;
    }
}

/* All bytes that a message points to can be read. */
static uint64_t touch(const struct myr_wire_message *message)
{
    uint64_t sum = 0;
    const struct myr_wire_table *table = myr_wire_table_of(message->head.type);
    for (uint16_t i = 0; table && i < table->count; i++) {
        const void *at = message->body + table->fields[i].offset;
        if (table->fields[i].kind == MYR_WIRE_TEXT) {
            const struct myr_str *text = at;
            for (size_t c = 0; c < text->len; c++) {
                sum += (uint8_t)text->data[c];
            }
        } else if (table->fields[i].kind == MYR_WIRE_U32_LIST) {
            const struct myr_wire_list *list = at;
            for (uint32_t c = 0; c < list->count; c++) {
                sum += list->items[c];
            }
        }
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_wire_receiver receiver;
    struct myr_wire_message message;
    struct myr_buf stream = {};
    struct myr_err err = {};
    uint64_t sum = 0;
    int rc;
    if (size > 0 && data[0] == 'R') {
        myr_buf_put(&stream, (const char *)data + 1, size - 1);
    } else {
        put_frames(&stream, data, size);
    }
    myr_wire_receiver_init(&receiver);
    myr_wire_feed(&receiver, (struct myr_str){stream.len ? stream.data : "", stream.len});
    while ((rc = myr_wire_next(&receiver, &message, &err)) == 1) {
        MYR_ASSERT(message.known == (myr_wire_table_of(message.head.type) != NULL));
        sum += touch(&message);
    }
    fuzz_note("%d %llu %s", rc, (unsigned long long)sum, err.message);
    MYR_ASSERT(rc == 0 || rc == MYR_ECORRUPT || rc == MYR_EVERSION);
    MYR_ASSERT(rc == 0 || err.message[0]);
    MYR_ASSERT(sum != UINT64_MAX); /* so that the reading is not left out */
    myr_wire_receiver_done(&receiver);
    myr_buf_done(&stream);
    return 0;
}
