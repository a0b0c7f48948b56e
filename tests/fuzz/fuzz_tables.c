/* Forwarding tables as dump_lfts prints them: refused in one line, or every flow can be followed.
 */
#include "fuzz_site.h"

/* Tables of the laboratory, empty; made once and cleared, for that is what takes the time. */
static struct myr_tables *lab_tables(void)
{
    static struct myr_arena arena;
    static struct myr_graph graph;
    static struct myr_tables tables;
    if (!tables.graph) {
        struct myr_err err;
        myr_arena_init(&arena);
        int rc = myr_graph_init(&graph, &arena, fuzz_lab(), MYR_NET_COMPUTE, &err);
        rc = rc < 0 ? rc : myr_tables_init(&tables, &arena, &graph, &err);
        MYR_ASSERT(rc == MYR_OK);
    }
    memset(tables.egress, 0, (size_t)tables.columns * graph.switch_count);
    return &tables;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_tables *tables = lab_tables();
    struct myr_err err = {};
    uint32_t unknown;
    int rc = myr_tables_read_text(tables, NULL, "lfts", (struct myr_str){(const char *)data, size},
                                  &unknown, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "lfts");
        return 0;
    }
    for (uint32_t i = 1; i < tables->host_count; i++) {
        struct myr_path path;
        (void)myr_tables_path(tables, tables->hosts[0], tables->hosts[i], &path);
        fuzz_note("%u", path.count);
        MYR_ASSERT(path.count <= MYR_PATH_MAX);
    }
    return 0;
}
