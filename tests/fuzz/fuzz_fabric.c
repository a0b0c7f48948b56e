#include "fuzz.h"
#include "myriad/fabric.h"
#include <stdlib.h>
#include <zlib.h>
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

static uint32_t zero(void *c, uint32_t d, uint32_t n, uint32_t dep, const uint32_t *k)
{
    (void)c;
    (void)d;
    (void)dep;
    (void)k;
    return n - 1;
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *image = aligned_alloc(16, (size + 31) / 16 * 16);
    memcpy(image, data, size);
    mend(image, size);
    struct myr_design design;
    struct myr_err err;
    if (myr_design_parse(&design, image, size, "f", &err) == MYR_OK) {
        for (int net = 0; net < MYR_NET_COUNT; net++) {
            struct myr_arena arena;
            myr_arena_init(&arena);
            struct myr_graph g;
            if (myr_graph_init(&g, &arena, &design, net, &err) == MYR_OK) {
                struct myr_flows f = {0};
                for (uint32_t l = 0; l < design.link_count && l < 64; l++) {
                    if (!myr_graph_has_link(&g, l))
                        continue;
                    uint32_t p = design.link_a[l];
                    uint32_t q = design.link_a[(l * 7 + 3) % design.link_count];
                    struct myr_path path;
                    if (design.cabletypes[design.cable_type[design.link_cable[l]]].layer !=
                        MYR_LAYER_HOST)
                        continue;
                    uint32_t l2 = (l * 7 + 3) % design.link_count;
                    if (!myr_graph_has_link(&g, l2) ||
                        design.cabletypes[design.cable_type[design.link_cable[l2]]].layer !=
                            MYR_LAYER_HOST)
                        continue;
                    (void)!myr_path_find(&g, p, q, zero, NULL, &path);
                    (void)!myr_path_by_value(&g, p, q, 12345, &path);
                    (void)!myr_path_valiant(&g, p, q, 1, 77, &path);
                    struct myr_flow fl = {.from_port = p, .to_port = q, .share = 1000};
                    myr_vec_push(&f.items, fl);
                }
                for (int pol = 0; pol < MYR_POLICY_COUNT; pol++) {
                    struct myr_balance_options o = {.policy = pol};
                    struct myr_balance_report rep;
                    (void)!myr_balance_report(&g, &o, f.items.items, f.items.count, &rep, &err);
                }
                struct myr_degraded d;
                myr_degraded_report(&g, &d);
                if (design.link_count) {
                    (void)myr_failover_link(&g, 0, NULL);
                }
                if (g.switch_count)
                    (void)myr_failover_device(&g, g.first_switch, NULL);
                myr_flows_done(&f);
            }
            myr_arena_done(&arena);
        }
    }
    free(image);
    return 0;
}
