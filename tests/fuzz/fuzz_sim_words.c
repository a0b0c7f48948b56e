/*
 * Words about a simulation: any text as --workload, --fault, --slow or --topology gives one
 * printable line that begins with the option (or names the workload), or an engine that is sound.
 * The first byte chooses the reader. Files are read by other fuzzers.
 */
#include "fuzz.h"
#include "myriad/sim.h"

struct tree {
    struct myr_sim_fabric fabric;
    struct myr_arena arena;
    struct myr_graph graph;
};

static struct tree *the_tree(void)
{
    static struct tree tree;
    struct myr_err err;
    if (!tree.graph.design) {
        myr_arena_init(&tree.arena);
        MYR_ASSERT(myr_sim_fabric_open(&tree.fabric, NULL, "fat-tree:k=4", &err) == MYR_OK);
        MYR_ASSERT(myr_graph_init(&tree.graph, &tree.arena, tree.fabric.design, MYR_NET_COMPUTE,
                                  &err) == MYR_OK);
    }
    return &tree;
}

static void check_line(const struct myr_err *err, int rc)
{
    fuzz_note_error(err);
    MYR_ASSERT(rc < 0 && err->code == rc && err->message[0]);
    MYR_ASSERT(!strchr(err->message, '\n'));
}

/* What the words have made of the engine shows in what it does. */
static void run(struct myr_sim *sim)
{
    enum { TASKS_MAX = 2000 };
    struct myr_sim_result result;
    struct myr_err err = {};
    if (myr_sim_task_count(sim) > TASKS_MAX || myr_sim_route(sim, &err) < 0 ||
        myr_sim_run(sim, NULL, NULL, &result, &err) < 0) {
        fuzz_note_error(&err);
        return;
    }
    fuzz_note("%lld ps, %llu flows, %016llx", (long long)result.end,
              (unsigned long long)result.flows, (unsigned long long)result.hash);
}

static void run_permutation(struct tree *tree, struct myr_sim *sim)
{
    struct myr_sim_load load;
    struct myr_err err = {};
    int rc = myr_sim_load_words(sim, &tree->graph, NULL, "permutation:1GB", 1, &load, &err);
    MYR_ASSERT(rc == MYR_OK);
    run(sim);
}

static void try_workload(struct tree *tree, struct myr_sim *sim, const char *text)
{
    struct myr_sim_load load;
    struct myr_err err = {};
    int rc = myr_sim_load_words(sim, &tree->graph, NULL, text, 1, &load, &err);
    if (rc < 0) {
        check_line(&err, rc);
        return;
    }
    fuzz_note("%u tasks, %u flows, %u ranks, %llu bytes", load.task_count, load.flow_count,
              load.ranks, (unsigned long long)load.bytes);
    MYR_ASSERT(load.first_task + load.task_count == myr_sim_task_count(sim));
    MYR_ASSERT(load.first_flow + load.flow_count <= myr_sim_task_count(sim));
    MYR_ASSERT(!load.collective || (load.ranks >= 2 && load.bytes > 0));
    fuzz_note("%d%s", (int)load.algorithm, load.full ? " full" : "");
    run(sim);
}

static void try_topology(const char *text)
{
    MYR_CLEANUP(myr_sim_topology_done) struct myr_sim_topology topology = {};
    struct myr_err err = {};
    /* Large ones are sound, too, but take long to plan. */
    if (strstr(text, "k=") && strlen(strstr(text, "k=")) > 3) {
        return;
    }
    int rc = myr_sim_topology_make(&topology, text, &err);
    if (rc < 0) {
        check_line(&err, rc);
    } else {
        fuzz_note("%u GPUs, %u links, %lld ps", topology.design.head->gpus,
                  topology.design.link_count, (long long)topology.delay_ps);
        MYR_ASSERT(topology.design.head->gpus > 0 && topology.delay_ps >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[257];
    struct tree *tree = the_tree();
    struct myr_sim_options options = myr_sim_default();
    struct myr_err err = {};
    if (size < 1 || size > sizeof(text)) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (strncmp(text, "file:", 5) == 0 || strstr(text, "step:")) {
        return 0; /* models may be files, too */
    }
    struct myr_sim *sim = myr_sim_create(&tree->graph, &options);
    int rc = MYR_OK;
    switch (data[0] % 4) {
    case 0:
        try_workload(tree, sim, text);
        break;
    case 1:
        rc = myr_sim_fault_words(sim, &tree->graph, text, &err);
        break;
    case 2:
        rc = myr_sim_slow_words(sim, &tree->graph, text, &err);
        break;
    default:
        try_topology(text);
        break;
    }
    if (rc < 0) {
        check_line(&err, rc);
    } else if (data[0] % 4 == 1 || data[0] % 4 == 2) {
        run_permutation(tree, sim);
    }
    myr_sim_free(sim);
    return 0;
}
