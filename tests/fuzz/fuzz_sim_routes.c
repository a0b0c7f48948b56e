/* Files of paths: refused in one line with its place, or an engine that routes and runs by them. */
#include "fuzz.h"
#include "myriad/sim.h"

static struct myr_graph *the_graph(void)
{
    static struct myr_sim_fabric fabric;
    static struct myr_arena arena;
    static struct myr_graph graph;
    struct myr_err err;
    if (!graph.design) {
        myr_arena_init(&arena);
        MYR_ASSERT(myr_sim_fabric_open(&fabric, NULL, "fat-tree:k=4", &err) == MYR_OK);
        MYR_ASSERT(myr_graph_init(&graph, &arena, fabric.design, MYR_NET_COMPUTE, &err) == MYR_OK);
    }
    return &graph;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_sim_options options = myr_sim_default();
    struct myr_sim *sim = myr_sim_create(the_graph(), &options);
    struct myr_str text = {(const char *)data, size};
    struct myr_message message = {1, 2};
    struct myr_sim_result result;
    struct myr_err err = {};
    int rc = myr_sim_given_paths(sim, "fuzz.csv", text, &err);
    if (rc == MYR_OK) {
        myr_sim_transfer(sim, myr_sim_pattern(sim, &message, 1), 1000, 1);
        rc = myr_sim_route(sim, &err);
    }
    if (rc == MYR_OK) {
        rc = myr_sim_run(sim, NULL, NULL, &result, &err);
    }
    if (rc < 0) {
        fuzz_note_error(&err);
    } else {
        fuzz_note("%lld ps", (long long)result.end);
        for (uint32_t c = 0; c < 48 * 2; c++) { /* links of the tree */
            uint64_t bytes = myr_sim_channel_bytes(sim, c);
            if (bytes) {
                fuzz_note("%u: %llu", c, (unsigned long long)bytes);
            }
        }
    }
    MYR_ASSERT(rc == MYR_OK || (err.code == rc && err.message[0] && !strchr(err.message, '\n')));
    myr_sim_free(sim);
    return 0;
}
