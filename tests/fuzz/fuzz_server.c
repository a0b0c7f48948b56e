/*
 * What agents and relays may say to the server: whatever it is, the server goes on, and its store
 * and its core agree. The first byte chooses a relay's connection or an agent's. The input
 * is cut into frames: type, channel, length, payload; the schema of a type goes before its first,
 * so that bytes become fields. A type of 0 takes the rest as it is, checksums and all.
 */
#include "fuzz_mute.h"
#include "myriad/wire.h"

enum { AGAIN = 20000 };

static void put_schema(struct myr_buf *stream, uint8_t type, uint32_t node)
{
    const struct myr_wire_table *table = myr_wire_table_of(type);
    struct myr_wire_head head = {
        .version = MYR_WIRE_VERSION, .type = MYR_WIRE_SCHEMA, .node = node};
    char payload[3 + 3 * MYR_WIRE_FIELDS_MAX];
    size_t len = 3;
    if (!table) {
        return;
    }
    payload[0] = (char)type;
    payload[1] = (char)table->count;
    payload[2] = 0;
    for (uint16_t i = 0; i < table->count; i++) {
        payload[len++] = (char)table->fields[i].number;
        payload[len++] = 0;
        payload[len++] = (char)table->fields[i].kind;
    }
    myr_wire_frame_put(stream, &head, (struct myr_str){payload, len});
}

static void put_frames(struct myr_buf *stream, bool relay, const uint8_t *data, size_t size)
{
    size_t at = 0;
    bool told[2][256] = {{false}};
    while (at + 3 <= size && data[at] != 0) {
        struct myr_wire_head head = {.version = MYR_WIRE_VERSION,
                                     .type = data[at],
                                     .node = !relay || data[at + 1] & 1 ? MYR_WIRE_NO_NODE : 0,
                                     .epoch = data[at + 1] >> 1,
                                     .sequence = at + 1};
        size_t len = data[at + 2];
        bool own = head.node == MYR_WIRE_NO_NODE;
        if (!told[own][head.type]) {
            told[own][head.type] = true;
            put_schema(stream, head.type, head.node);
        }
        at += 3;
        len = len < size - at ? len : size - at;
        myr_wire_frame_put(stream, &head, (struct myr_str){(const char *)data + at, len});
        at += len;
    }
    if (at < size && data[at] == 0) {
        myr_buf_put(stream, (const char *)data + at + 1, size - at - 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint32_t runs;
    struct myr_buf stream = {};
    if (size < 2) {
        return 0;
    }
    if (!mute) {
        begin();
    }
    bool relay = data[0] & 1;
    put_frames(&stream, relay, data + 1, size - 1);
    myr_mute_connection(mute, relay, (struct myr_str){stream.len ? stream.data : "", stream.len});
    myr_buf_done(&stream);
    if (++runs % AGAIN == 0) {
        end();
    }
    return 0;
}
