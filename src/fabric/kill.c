#include "kill.h"

/*
 * Questions about failures are asked of the real graph: links die, the question is asked, and the
 * very links that died are brought back. So a question costs no copy of the graph.
 */

/* Only links that were alive are noted: undo must not revive what was dead before. */
void kill_link(struct kill_list *list, struct myr_graph *graph, uint32_t link)
{
    if (!myr_bitset_has(&graph->dead, link)) {
        myr_graph_set_link(graph, link, true);
        myr_vec_push(&list->links, link);
    }
}

/* A device may have ports on other networks; links there are not the graph's to kill. */
void kill_device(struct kill_list *list, struct myr_graph *graph, uint32_t device)
{
    const struct myr_design *design = graph->design;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link != MYR_NONE && myr_graph_has_link(graph, link)) {
            kill_link(list, graph, link);
        }
    }
}

/* In any order: links do not depend on each other. */
void kill_undo(struct kill_list *list, struct myr_graph *graph)
{
    uint32_t before = graph->dead_count;
    for (size_t i = 0; i < list->links.count; i++) {
        myr_graph_set_link(graph, list->links.items[i], false);
    }
    MYR_ASSERT(graph->dead_count + list->links.count == before); /* each was alive, and is again */
    myr_vec_done(&list->links);
}

bool is_host_link(const struct myr_graph *graph, uint32_t link)
{
    const struct myr_design *design = graph->design;
    uint32_t type = design->cable_type[design->link_cable[link]];
    return design->cabletypes[type].layer == MYR_LAYER_HOST;
}

/* Bundles keep their count, so that no link is looked at. */
uint32_t alive_links(const struct myr_graph *graph, uint32_t device)
{
    uint32_t at = device - graph->first_switch, alive = 0;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        alive += graph->bundles[i].alive;
    }
    return alive;
}

/* Switches are numbered tier by tier, so that all neighbours above have higher numbers. */
uint32_t alive_up(const struct myr_graph *graph, uint32_t device)
{
    const struct myr_network *net = graph->net;
    bool lowest = device - net->first_leaf < net->leaf;
    uint32_t above = lowest ? net->first_spine : net->first_core;
    uint32_t at = device - graph->first_switch, alive = 0;
    if (!graph->clos) {
        return alive_links(graph, device);
    }
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        alive += graph->bundles[i].neighbour >= above ? graph->bundles[i].alive : 0;
    }
    return alive;
}

/* A switch that never had neighbours is a fabric of its own, and not cut. */
bool switch_cut(const struct myr_graph *graph, uint32_t device)
{
    uint32_t at = device - graph->first_switch;
    bool alone = graph->bundle_start[at] == graph->bundle_start[at + 1];
    return !alone && alive_links(graph, device) == 0;
}

uint32_t routes_hit(const struct myr_graph *graph, const struct myr_routes *routes)
{
    uint32_t hit = 0;
    /* NULL: nothing was routed, so nothing is hit. */
    for (uint32_t r = 0; routes && r < routes->flow.count; r++) {
        for (uint32_t i = routes->start.items[r]; i < routes->start.items[r + 1]; i++) {
            if (myr_graph_link_dead(graph, myr_channel_link(routes->channels.items[i]))) {
                hit++;
                break;
            }
        }
    }
    return hit;
}
