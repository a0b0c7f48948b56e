#include "myriad/fit/place.h"

const char *const myr_fit_level_names[MYR_FIT_LEVELS] = {"scale-up", "leaf", "pod"};

/* Where a node hangs: its leaf on the first rail, or the pod of that leaf. */
static uint32_t block_of(const struct myr_graph *graph, uint32_t node, bool pod)
{
    uint32_t port = myr_flow_port(graph, node * graph->design->head->gpus_per_node);
    uint32_t leaf = port == MYR_NONE ? MYR_NONE : myr_graph_host_switch(graph, port);
    return pod && leaf != MYR_NONE ? myr_graph_leaf_spot(graph, leaf).pod : leaf;
}

/* Nodes of a block: the shortest run of neighbours in one, but for what is left over at the end. */
static uint32_t block_nodes(const struct myr_graph *graph, bool pod)
{
    uint32_t nodes = graph->design->head->nodes, least = 0, run = 1;
    for (uint32_t i = 1; i < nodes; i++) {
        if (block_of(graph, i, pod) == block_of(graph, i - 1, pod)) {
            run++;
            continue;
        }
        least = least == 0 || run < least ? run : least;
        run = 1;
    }
    return least; /* 0: there is one block only */
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
    }
}

/* Bandwidth of all hosts over what two halves of them share; at least 1. */
static double bisection_loss(const struct myr_network *net)
{
    double hosts = (double)net->host_ports * net->host_gbps / 2;
    double there = (double)net->bisection_gbps;
    return there > 0 && hosts > there ? hosts / there : 1;
}

int myr_fit_topology_init(struct myr_fit_topology *topology, struct myr_arena *arena,
                          const struct myr_design *design, const struct myr_contention *table,
                          uint32_t gpus, struct myr_err *err)
{
    struct myr_graph graph;
    const struct myr_design_head *head = design->head;
    int rc = myr_graph_init(&graph, arena, design, MYR_NET_COMPUTE, err);
    if (rc < 0) {
        return rc;
    }
    const struct myr_network *net = graph.net;
    if (table && (table->gpus != head->gpus || table->links != design->link_count)) {
        return myr_err_set(err, MYR_EINVAL,
                           "the contention table is of a fabric with %u GPUs and %u links, the "
                           "design has %u and %u; make it again with 'myriad sim contention'",
                           table->gpus, table->links, head->gpus, design->link_count);
    }
    *topology = (struct myr_fit_topology){
        .measured = table != NULL, .gpus = head->gpus, .domain_gpus = head->scale_up_gpus};
    topology->nic_gbps = (double)net->host_ports * net->host_gbps / head->gpus;
    double load = head->gpus ? (double)gpus / head->gpus : 1;
    double leaf = net->oversubscription_milli[0] / 1000.0;
    double pod = net->oversubscription_milli[1] / 1000.0;
    struct myr_fit_level *levels = topology->levels;
    levels[0].gpus = head->scale_up_gpus;
    levels[0].oversubscription = 1;
    levels[1].gpus = block_nodes(&graph, false) * head->gpus_per_node;
    levels[1].oversubscription = graph.clos && leaf > 1 ? leaf : 1;
    levels[2].gpus = graph.clos ? block_nodes(&graph, true) * head->gpus_per_node : 0;
    levels[2].oversubscription = levels[1].oversubscription * (pod > 1 ? pod : 1);
    if (!graph.clos) { /* what leaves a router shares the cut through the middle */
        levels[1].oversubscription = bisection_loss(net);
    }
    for (int i = 1; i < MYR_FIT_LEVELS; i++) {
        bool inside = levels[i].gpus > 0 && levels[i].gpus < levels[i - 1].gpus;
        levels[i].gpus = inside ? levels[i - 1].gpus : levels[i].gpus;
    }
    set_slow(&levels[0], table, MYR_CONTENTION_LEAF, load);
    set_slow(&levels[1], table, graph.clos ? MYR_CONTENTION_POD : MYR_CONTENTION_FABRIC, load);
    set_slow(&levels[2], table, MYR_CONTENTION_FABRIC, load);
    return MYR_OK;
}
