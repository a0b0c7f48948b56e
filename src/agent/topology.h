/* topology: sockets and devices of this node by hwloc, whose calls may be a test's. */
#pragma once

#include <hwloc.h>

#include "myriad/text/answer.h"

/* Typed by the library's header, so that a call with wrong arguments does not compile. */
struct hwloc {
    __typeof__(&hwloc_topology_init) init;
    __typeof__(&hwloc_topology_load) load;
    __typeof__(&hwloc_topology_destroy) destroy;
    __typeof__(&hwloc_topology_set_io_types_filter) io_filter;
    __typeof__(&hwloc_get_obj_by_depth) by_depth;
    __typeof__(&hwloc_bitmap_list_snprintf) list;
    __typeof__(&hwloc_bitmap_first) first;
};

/* The lists 'numa' and 'pcie'; NULL: there is no such library. */
void topology_tell(const struct hwloc *hwloc, struct myr_answer *answer);
