/*
 * Design files for fuzzers: what checksums guard must hold by itself, since anybody can compute a
 * checksum. So images are also tried with their checksums made right.
 */
#pragma once

#include <string.h>
#include <zlib.h>

#include "fuzz.h"

/* The layout of src/model/design_file.c, by offsets. */
enum {
    COUNT_AT = 12,
    FILE_BYTES_AT = 16,
    TABLE_CRC_AT = 24,
    HEADER_CRC_AT = 28,
    HEADER_BYTES = 32,
    ENTRY_BYTES = 40,
    ENTRY_OFFSET_AT = 16,
    ENTRY_SIZE_AT = 24,
    ENTRY_CRC_AT = 32,
    ENTRIES_MAX = 256,
    IMAGE_ALIGN = 64,
};

static inline uint64_t fuzz_image_get(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

static inline void fuzz_image_crc(uint8_t *at, const uint8_t *data, size_t bytes)
{
    uint32_t crc = bytes ? (uint32_t)crc32_z(0, data, bytes) : 0;
    memcpy(at, &crc, sizeof(crc));
}

/* Length and checksums as they should be, as far as the table of sections makes sense. */
static inline void fuzz_image_mend(uint8_t *image, size_t bytes)
{
    if (bytes < HEADER_BYTES) {
        return;
    }
    uint64_t count = fuzz_image_get(image + COUNT_AT, 4), length = bytes;
    memcpy(image + FILE_BYTES_AT, &length, sizeof(length));
    if (count <= ENTRIES_MAX && HEADER_BYTES + count * ENTRY_BYTES <= bytes) {
        for (uint64_t i = 0; i < count; i++) {
            uint8_t *entry = image + HEADER_BYTES + i * ENTRY_BYTES;
            uint64_t offset = fuzz_image_get(entry + ENTRY_OFFSET_AT, 8);
            uint64_t size = fuzz_image_get(entry + ENTRY_SIZE_AT, 8);
            if (offset <= bytes && size <= bytes - offset) {
                fuzz_image_crc(entry + ENTRY_CRC_AT, image + offset, size);
            }
        }
        fuzz_image_crc(image + TABLE_CRC_AT, image + HEADER_BYTES, count * ENTRY_BYTES);
    }
    fuzz_image_crc(image + HEADER_CRC_AT, image, HEADER_CRC_AT);
}
