/*
 * sections: the head has a checksum of its own, so that a length is
 * believed only when it is whole.
 */
#include "sections.h"

#include <zlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are stored as they lie");
_Static_assert(sizeof(struct section) == 24, "no padding");

/* As zlib counts it, in pieces that its type can hold. */
static uint32_t crc_of(const void *data, size_t length)
{
    MYR_ASSERT(data || length == 0);
    uLong crc = crc32(0, NULL, 0);
    const Bytef *at = data;
    while (length > 0) { /* uInt may be shorter than size_t */
        uInt part = length < (1U << 30) ? (uInt)length : 1U << 30;
        crc = crc32(crc, at, part);
        at += part;
        length -= part;
    }
    return (uint32_t)crc;
}

void section_put(struct myr_buf *buf, uint32_t tag, uint32_t version, const void *data,
                 size_t length)
{
    size_t before = buf->len;
    MYR_ASSERT(tag != 0 && (data || length == 0));
    struct section head = {tag, version, length, crc_of(data, length), 0};
    head.head_crc = crc_of(&head, offsetof(struct section, head_crc));
    myr_buf_put(buf, (const char *)&head, sizeof(head));
    if (length > 0) {
        myr_buf_put(buf, data, length);
    }
    MYR_ASSERT(buf->len == before + sizeof(head) + length);
}

enum section_found section_get(struct myr_str bytes, struct section *ret, struct myr_str *ret_data)
{
    MYR_ASSERT(bytes.data || bytes.len == 0);
    if (bytes.len < sizeof(*ret)) {
        return SECTION_CUT;
    }
    memcpy(ret, bytes.data, sizeof(*ret));
    if (ret->head_crc != crc_of(ret, offsetof(struct section, head_crc))) {
        return SECTION_DAMAGED;
    }
    /*
     * Less than said: written in part. Told apart from damage, because a
     * crash leaves that behind.
     */
    if (ret->length > bytes.len - sizeof(*ret)) {
        return SECTION_CUT;
    }
    *ret_data = (struct myr_str){bytes.data + sizeof(*ret), (size_t)ret->length};
    MYR_ASSERT(ret_data->len <= bytes.len - sizeof(*ret));
    return crc_of(ret_data->data, ret_data->len) == ret->crc ? SECTION_WHOLE : SECTION_DAMAGED;
}
