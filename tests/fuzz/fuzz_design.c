/*
 * Design files: any bytes give one clear line, or a design that can be walked without a look at the
 * bounds. An image is tried as it is and once more with all checksums made right: what they guard
 * must hold by itself, since anybody can compute a checksum.
 */
#include <stdlib.h>
#include <zlib.h>

#include "fuzz_plan.h"

static const char file[] = "fuzz.myr";

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

static uint64_t get(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

static void put_crc(uint8_t *at, const uint8_t *data, size_t bytes)
{
    uint32_t crc = bytes ? (uint32_t)crc32_z(0, data, bytes) : 0;
    memcpy(at, &crc, sizeof(crc));
}

/* Length and checksums as they should be, as far as the table of sections makes sense. */
static void mend(uint8_t *image, size_t bytes)
{
    if (bytes < HEADER_BYTES) {
        return;
    }
    uint64_t count = get(image + COUNT_AT, 4), length = bytes;
    memcpy(image + FILE_BYTES_AT, &length, sizeof(length));
    if (count <= ENTRIES_MAX && HEADER_BYTES + count * ENTRY_BYTES <= bytes) {
        for (uint64_t i = 0; i < count; i++) {
            uint8_t *entry = image + HEADER_BYTES + i * ENTRY_BYTES;
            uint64_t offset = get(entry + ENTRY_OFFSET_AT, 8);
            uint64_t size = get(entry + ENTRY_SIZE_AT, 8);
            if (offset <= bytes && size <= bytes - offset) {
                put_crc(entry + ENTRY_CRC_AT, image + offset, size);
            }
        }
        put_crc(image + TABLE_CRC_AT, image + HEADER_BYTES, count * ENTRY_BYTES);
    }
    put_crc(image + HEADER_CRC_AT, image, HEADER_CRC_AT);
}

static void parse(void *image, size_t bytes)
{
    struct myr_design design;
    struct myr_err err;
    int r = myr_design_parse(&design, image, bytes, file, &err);
    if (r < 0) {
        fuzz_check_error(&err, r, file);
    } else {
        fuzz_use_design(&design, false);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Exact size, so that a sanitizer sees a read past the end; aligned as a mapping is. */
    void *image = NULL;
    MYR_ASSERT(posix_memalign(&image, IMAGE_ALIGN, size ? size : 1) == 0);
    memcpy(image, data, size);
    parse(image, size);
    mend(image, size);
    parse(image, size);
    free(image);
    return 0;
}
