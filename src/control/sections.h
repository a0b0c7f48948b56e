/*
 * sections: bytes that know whether they are whole: tag, version, length, checksum, then the data.
 * Little-endian hosts only, as the wire.
 */
#pragma once

#include "myriad/base.h"

struct section {
    uint32_t tag, version;
    uint64_t length;
    uint32_t crc, head_crc; /* of the data; of the words before */
};

#define SECTION_TAG(a, b, c, d) \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

void section_put(struct myr_buf *buf, uint32_t tag, uint32_t version, const void *data,
                 size_t length);

enum section_found { SECTION_WHOLE, SECTION_CUT, SECTION_DAMAGED };

/* The section at the beginning of 'bytes'; CUT: they end before it does. */
enum section_found section_get(struct myr_str bytes, struct section *ret, struct myr_str *ret_data);
