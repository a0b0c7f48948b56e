/*
 * frame: the envelope of everything on the wire. A head of fixed size, all numbers little-endian,
 * with a checksum at its end over the rest of the head and the payload.
 */
#include "myriad/wire/frame.h"

#include <zlib.h>

/* The bytes "MY" in the order in which they are sent. The checksum covers the head up to itself. */
enum { MAGIC = 0x594D, CHECKED_BYTES = 24 };

/* Byte by byte: the same on every machine, and compilers make one store of it. */
static void put_le(uint8_t *at, uint64_t value, uint32_t bytes)
{
    MYR_ASSERT(bytes <= sizeof(value));
    MYR_ASSERT(bytes == sizeof(value) || value >> 8 * bytes == 0); /* nothing of it is lost */
    for (uint32_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

/* The counterpart of put_le(). */
static uint64_t get_le(const char *at, uint32_t bytes)
{
    uint64_t value = 0;
    MYR_ASSERT(bytes <= sizeof(value));
    for (uint32_t i = 0; i < bytes; i++) {
        value |= (uint64_t)(uint8_t)at[i] << 8 * i;
    }
    return value;
}

/*
 * zlib is not asked about an empty payload: its pointer may be NULL, which would start the sum
 * anew.
 */
static uint32_t checksum(const void *head, struct myr_str payload)
{
    MYR_ASSERT(payload.data || payload.len == 0);
    MYR_ASSERT(payload.len <= MYR_WIRE_PAYLOAD_MAX); /* which zlib's own type can hold */
    uLong sum = crc32(0, head, CHECKED_BYTES);
    if (payload.len > 0) {
        sum = crc32(sum, (const Bytef *)payload.data, (uInt)payload.len);
    }
    return (uint32_t)sum;
}

/* Places in the head are fixed: both ends know them, whatever their versions. */
void myr_wire_frame_put(struct myr_buf *buf, const struct myr_wire_head *head,
                        struct myr_str payload)
{
    uint8_t bytes[MYR_WIRE_HEAD_BYTES];
    MYR_ASSERT(payload.len <= MYR_WIRE_PAYLOAD_MAX);
    MYR_ASSERT(payload.data || payload.len == 0);
    size_t before = buf->len;
    put_le(bytes, MAGIC, 2);
    bytes[2] = head->version;
    bytes[3] = head->type;
    put_le(bytes + 4, payload.len, 4);
    put_le(bytes + 8, head->node, 4);
    put_le(bytes + 12, head->epoch, 4);
    put_le(bytes + 16, head->sequence, 8);
    put_le(bytes + CHECKED_BYTES, checksum(bytes, payload), 4);
    myr_buf_put(buf, (const char *)bytes, sizeof(bytes));
    myr_buf_put(buf, payload.data, payload.len);
    MYR_ASSERT(buf->len == before + sizeof(bytes) + payload.len);
}

/* Before the checksum is looked at: a wrong length must not make anybody wait for a gigabyte. */
static int check_head(const struct myr_wire_head *head, struct myr_err *err)
{
    if (head->length > MYR_WIRE_PAYLOAD_MAX) {
        return myr_err_set(err, MYR_ECORRUPT, "a frame of %u bytes, %u are allowed", head->length,
                           MYR_WIRE_PAYLOAD_MAX);
    }
    if (head->version < MYR_WIRE_VERSION_MIN) {
        return myr_err_set(err, MYR_EVERSION, "the other side speaks version %u, %u is the oldest",
                           head->version, MYR_WIRE_VERSION_MIN);
    }
    return MYR_OK;
}

/* 1: a frame of 'ret_size' bytes; 0: more bytes are needed; the payload points into 'bytes'. */
int myr_wire_frame_get(struct myr_str bytes, struct myr_wire_head *ret, struct myr_str *ret_payload,
                       size_t *ret_size, struct myr_err *err)
{
    MYR_ASSERT(bytes.data || bytes.len == 0);
    /* Two bytes are enough to tell that this is no peer of ours: it is not waited for. */
    if (bytes.len >= 2 && get_le(bytes.data, 2) != MAGIC) {
        return myr_err_set(err, MYR_ECORRUPT, "no frame begins with 0x%04x",
                           (unsigned)get_le(bytes.data, 2));
    }
    if (bytes.len < MYR_WIRE_HEAD_BYTES) {
        return 0;
    }
    struct myr_wire_head head = {.version = (uint8_t)bytes.data[2],
                                 .type = (uint8_t)bytes.data[3],
                                 .length = (uint32_t)get_le(bytes.data + 4, 4),
                                 .node = (uint32_t)get_le(bytes.data + 8, 4),
                                 .epoch = (uint32_t)get_le(bytes.data + 12, 4),
                                 .sequence = get_le(bytes.data + 16, 8)};
    /* Before more is waited for: the length is still unproved. */
    MYR_TRY(check_head(&head, err));
    if (bytes.len - MYR_WIRE_HEAD_BYTES < head.length) {
        return 0;
    }
    struct myr_str payload = {bytes.data + MYR_WIRE_HEAD_BYTES, head.length};
    if (get_le(bytes.data + CHECKED_BYTES, 4) != checksum(bytes.data, payload)) {
        return myr_err_set(err, MYR_ECORRUPT, "a frame of type %u has a wrong checksum", head.type);
    }
    MYR_ASSERT(head.length <= MYR_WIRE_PAYLOAD_MAX);
    *ret = head;
    *ret_payload = payload;
    *ret_size = MYR_WIRE_HEAD_BYTES + head.length;
    MYR_ASSERT(*ret_size <= bytes.len);
    return 1;
}
