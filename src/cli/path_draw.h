/* The drawing of 'path': devices in use, tier above tier, and the links between them by load. */
#pragma once

#include "fabric_args.h"

/* What the flows use. */
struct path_use {
    const struct myr_graph *graph;
    struct myr_routes routes;
    size_t flow_count;
    uint64_t *load;    /* by channel, MYR_LOAD_ONE at line rate */
    uint32_t *flows;   /* by channel */
    uint64_t *highest; /* by device: load of its fullest link */
    uint32_t *links;   /* by device: links in use */
};

void path_draw(struct fabric_input *input, const struct path_use *use, struct myr_buf *buf);
