/* Lists of tenants and their nodes: refused in one line, or every node has one tenant at most. */
#include "fuzz_site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char file[] = "tenants.csv";
    struct myr_arena arena;
    struct myr_site_tenants tenants;
    struct myr_err err;
    const struct myr_design *design = fuzz_lab();
    myr_arena_init(&arena);
    int rc = myr_site_tenants_read(&tenants, &arena, design, file,
                                   (struct myr_str){(const char *)data, size}, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    }
    for (uint32_t d = 0; rc == MYR_OK && d < design->device_count; d++) {
        fuzz_note("%x", tenants.of_node[d]);
        MYR_ASSERT(tenants.of_node[d] == MYR_NONE || tenants.of_node[d] < tenants.names.count);
    }
    myr_site_tenants_done(&tenants);
    myr_arena_done(&arena);
    return 0;
}
