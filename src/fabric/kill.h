/* Links that are made dead for the time of a question, and what they mean to hosts. */
#pragma once

#include "myriad/fabric/repair.h"

struct kill_list {
    MYR_VEC(uint32_t) links; /* those that were alive before */
};

void kill_link(struct kill_list *list, struct myr_graph *graph, uint32_t link);
void kill_device(struct kill_list *list, struct myr_graph *graph, uint32_t device);
/* Brings them back to life and frees the list. */
void kill_undo(struct kill_list *list, struct myr_graph *graph);

bool is_host_link(const struct myr_graph *graph, uint32_t link);
/* Links between switches that are alive at a switch: all of them, or those to higher tiers. */
uint32_t alive_links(const struct myr_graph *graph, uint32_t device);
uint32_t alive_up(const struct myr_graph *graph, uint32_t device);
/* Whether hosts on this switch can reach hosts on another one. */
bool switch_cut(const struct myr_graph *graph, uint32_t device);
/* Routes with a dead link on them. */
uint32_t routes_hit(const struct myr_graph *graph, const struct myr_routes *routes);
