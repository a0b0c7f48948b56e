/*
 * place: the levels of a design as the cost model sees them: how many GPUs lie in a block of each,
 * and how much slower what leaves it is.
 */
#include "myriad/fit/place.h"
#include "myriad/text/amount.h"

#include <stdlib.h>

/* In the order of enum place_level. */
const char *const myr_fit_level_names[MYR_FIT_LEVELS] = {"scale-up", "leaf", "pod"};

/* Where a node hangs: its leaf on the first rail, or the pod of that leaf. */
static uint32_t block_of(const struct myr_graph *graph, uint32_t node, bool pod)
{
    uint32_t port = myr_flow_port(graph, node * graph->design->head->gpus_per_node);
    uint32_t leaf = port == MYR_NONE ? MYR_NONE : myr_graph_host_switch(graph, port);
    return pod && leaf != MYR_NONE ? myr_graph_leaf_spot(graph, leaf).pod : leaf;
}

enum place_level { PLACE_DOMAIN, PLACE_LEAF, PLACE_POD };

/* The block of a level that a node is in. */
static uint32_t block_at(const struct myr_graph *graph, enum place_level level, uint32_t node)
{
    const struct myr_design_head *head = graph->design->head;
    uint32_t domain = head->gpus_per_node ? head->scale_up_gpus / head->gpus_per_node : 1;
    return level == PLACE_DOMAIN ? node / (domain ? domain : 1)
                                 : block_of(graph, node, level == PLACE_POD);
}

/*
 * Nodes of a block: the shortest run of neighbours in one, but for what is left over at the end.
 * 0: there is one block only.
 */
static uint32_t block_nodes(const struct myr_graph *graph, enum place_level level)
{
    uint32_t nodes = graph->design->head->nodes, least = 0, run = 1;
    /*
     * Nodes of a block are neighbours in the order of ranks; the last run may be cut short and does
     * not count.
     */
    for (uint32_t i = 1; i < nodes; i++) {
        if (block_at(graph, level, i) == block_at(graph, level, i - 1)) {
            run++;
            continue;
        }
        least = least == 0 || run < least ? run : least;
        run = 1;
    }
    MYR_ASSERT(least < nodes || nodes == 0);
    return least;
}

/*
 * Ranks of a group lie on one rail, or reach it through the scale-up domain before they send. So
 * neither an all-to-all nor a chain of stages is slowed more than a ring over the same links;
 * tables are of traffic from rail to rail for the one, of any pairs for the other.
 */
static void set_slow(struct myr_fit_level *level, const struct myr_contention *table,
                     enum myr_contention_level at, double load)
{
    double ring = table ? myr_contention_lookup(table, MYR_CONTENTION_RING, at, load) : 1;
    for (int p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
        double found =
            table ? myr_contention_lookup(table, (enum myr_contention_pattern)p, at, load) : 1;
        found = found < ring ? found : ring;
        level->slow[p] = found > level->oversubscription ? found : level->oversubscription;
        MYR_ASSERT(level->slow[p] >= 1); /* nothing is faster for being shared */
    }
}

/* Bandwidth of all hosts over what two halves of them share; at least 1. */
static double bisection_loss(const struct myr_network *net)
{
    double hosts = (double)net->host_ports * net->host_gbps / 2;
    double there = (double)net->bisection_gbps;
    return there > 0 && hosts > there ? hosts / there : 1;
}

int myr_fit_contention_check(const struct myr_contention *table, const struct myr_design *design,
                             struct myr_err *err)
{
    uint32_t gpus = design->head->gpus, links = design->link_count;
    if (table->gpus == gpus && table->links == links) {
        return MYR_OK;
    }
    int rc =
        myr_err_set(err, MYR_EINVAL,
                    "the contention table is of a fabric with %s and %s, the design has %u "
                    "and %u",
                    MYR_COUNT(table->gpus, "GPU"), MYR_COUNT(table->links, "link"), gpus, links);
    myr_err_hint(err, "'myriad sim contention' makes it again; without the file, oversubscription "
                      "alone counts");
    return rc;
}

/* From a design that is filled in the order of its nodes. */
int myr_fit_topology_init(struct myr_fit_topology *topology, struct myr_arena *arena,
                          const struct myr_design *design, const struct myr_contention *table,
                          uint32_t gpus, struct myr_err *err)
{
    struct myr_graph graph;
    const struct myr_design_head *head = design->head;
    MYR_TRY(myr_graph_init(&graph, arena, design, MYR_NET_COMPUTE, err));
    const struct myr_network *net = graph.net;
    MYR_TRY(table ? myr_fit_contention_check(table, design, err) : MYR_OK);
    *topology = (struct myr_fit_topology){
        .measured = table != NULL, .gpus = head->gpus, .domain_gpus = head->scale_up_gpus};
    /* What the design really has for each GPU, in place of the device's usual NIC. */
    topology->nic_gbps = (double)net->host_ports * net->host_gbps / head->gpus;
    /* Tables are asked at the job's share of the fabric. */
    double load = head->gpus ? (double)gpus / head->gpus : 1;
    double leaf = net->oversubscription_milli[0] / 1000.0;
    double pod = net->oversubscription_milli[1] / 1000.0;
    struct myr_fit_level *levels = topology->levels;
    levels[0].gpus = head->scale_up_gpus;
    levels[0].oversubscription = 1;
    levels[1].gpus = block_nodes(&graph, PLACE_LEAF) * head->gpus_per_node;
    levels[1].oversubscription = graph.clos && leaf > 1 ? leaf : 1;
    levels[2].gpus = graph.clos ? block_nodes(&graph, PLACE_POD) * head->gpus_per_node : 0;
    /* What leaves a pod has passed the leaf's uplinks already. */
    levels[2].oversubscription = levels[1].oversubscription * (pod > 1 ? pod : 1);
    if (!graph.clos) { /* what leaves a router shares the cut through the middle */
        levels[1].oversubscription = bisection_loss(net);
    }
    for (int i = 1; i < MYR_FIT_LEVELS; i++) {
        /* A level whose blocks are smaller than a scale-up domain says nothing of its own. */
        bool inside = levels[i].gpus > 0 && levels[i].gpus < levels[i - 1].gpus;
        levels[i].gpus = inside ? levels[i - 1].gpus : levels[i].gpus;
        MYR_ASSERT(levels[i].gpus == 0 || levels[i].gpus >= levels[i - 1].gpus);
    }
    set_slow(&levels[0], table, MYR_CONTENTION_LEAF, load);
    set_slow(&levels[1], table, graph.clos ? MYR_CONTENTION_POD : MYR_CONTENTION_FABRIC, load);
    set_slow(&levels[2], table, MYR_CONTENTION_FABRIC, load);
    return MYR_OK;
}

/* Nodes and GPUs that the design has. */
static int check_placement(const struct myr_design_head *head,
                           const struct myr_fit_placement *placement, struct myr_err *err)
{
    if (placement->node_count == 0 || placement->gpus_per_node > head->gpus_per_node) {
        return myr_err_set(
            err, MYR_EINVAL, "a placement on %s with %s each; the design has %u with %u",
            MYR_COUNT(placement->node_count, "node"), MYR_COUNT(placement->gpus_per_node, "GPU"),
            head->nodes, head->gpus_per_node);
    }
    for (uint32_t i = 0; i < placement->node_count; i++) {
        if (placement->nodes[i] >= head->nodes) {
            return myr_err_set(err, MYR_EINVAL,
                               "the placement has node %u; nodes of the design are 0 to %u",
                               placement->nodes[i], head->nodes - 1);
        }
    }
    return MYR_OK;
}

/* For qsort(). */
static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Blocks of a level that the nodes lie in. */
static uint32_t blocks_touched(const struct myr_graph *graph, enum place_level level,
                               const struct myr_fit_placement *placement, uint32_t *scratch)
{
    uint32_t count = placement->node_count, touched = 1;
    for (uint32_t i = 0; i < count; i++) {
        scratch[i] = block_at(graph, level, placement->nodes[i]);
    }
    qsort(scratch, count, sizeof(*scratch), by_number);
    for (uint32_t i = 1; i < count; i++) {
        touched += scratch[i] != scratch[i - 1];
    }
    MYR_ASSERT(touched <= count);
    return touched;
}

/*
 * The same levels for nodes that a scheduler chose: blocks hold fewer ranks where it had to
 * scatter.
 */
int myr_fit_topology_placed(const struct myr_fit_topology *all, struct myr_arena *arena,
                            const struct myr_design *design,
                            const struct myr_fit_placement *placement, struct myr_fit_topology *ret,
                            struct myr_err *err)
{
    const struct myr_design_head *head = design->head;
    struct myr_graph graph;
    MYR_TRY(check_placement(head, placement, err));
    MYR_TRY(myr_graph_init(&graph, arena, design, MYR_NET_COMPUTE, err));
    uint32_t each = placement->gpus_per_node ? placement->gpus_per_node : head->gpus_per_node;
    uint32_t count = placement->node_count;
    uint32_t *scratch = MYR_ARENA_NEW(arena, uint32_t, count);
    struct myr_fit_topology placed = *all;
    for (int i = 0; i < MYR_FIT_LEVELS; i++) {
        uint64_t whole = all->levels[i].gpus; /* 0: one block holds everything */
        uint64_t nodes = whole / head->gpus_per_node;
        if (whole == 0) {
            continue;
        }
        /*
         * As many blocks as are needed cost what whole ones do; more make blocks as small as their
         * mean.
         */
        uint64_t fewest = nodes > 0 ? (count + nodes - 1) / nodes : count;
        uint64_t touched = blocks_touched(&graph, (enum place_level)i, placement, scratch);
        /* A job that has some GPUs of each node only has fewer ranks in a block. */
        uint64_t gpus = touched > fewest ? count / touched * each : whole * each;
        placed.levels[i].gpus = (uint32_t)(touched > fewest ? gpus : gpus / head->gpus_per_node);
    }
    placed.domain_gpus = placed.levels[PLACE_DOMAIN].gpus;
    *ret = placed;
    return MYR_OK;
}
