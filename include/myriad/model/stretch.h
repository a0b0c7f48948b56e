/* stretch: nodes by the numbers that people call them by. */
#pragma once

#include "myriad/model/design.h"

/*
 * Nodes whose numbers follow each other, from the one at 'first' of the 'count' that are looked at
 * on: a design that has grown keeps the names of what stood, so neighbours may be called otherwise.
 */
struct myr_node_stretch {
    uint32_t number, count; /* what the first is called: node/00024; how many there are */
};
struct myr_node_stretch myr_design_node_stretch(const struct myr_design *design, uint32_t first,
                                                uint32_t count);
/* All of its nodes as a server names them: "node-[00000-00063],node-[00065-00127]". */
void myr_design_node_names(const struct myr_design *design, struct myr_buf *ret);
/* Servers of a group in a stretch of its nodes. */
static inline uint32_t myr_stretch_servers(const struct myr_server_group *group,
                                           struct myr_node_stretch stretch)
{
    return (uint32_t)((uint64_t)stretch.count * group->servers / group->nodes);
}
