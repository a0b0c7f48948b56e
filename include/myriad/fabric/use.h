/*
 * use: every NIC, switch and link that flows use, with its load, and a drawing of it.
 *
 * Loads are in 1/MYR_LOAD_ONE of line rate, one direction each: 'up' is away from the hosts. The
 * same flows and policy give the same rows and the same drawing.
 */
#pragma once

#include "myriad/fabric/balance.h"

struct myr_use {
    const struct myr_graph *graph;
    struct myr_balance_report report;
    struct myr_routes routes;
    size_t flow_count;
    /* By channel and by device; they live in the arena that was given. */
    uint64_t *load;    /* by channel */
    uint32_t *flows;   /* by channel; pieces of a flow count where they go */
    uint64_t *highest; /* by device: load of its fullest link */
    uint32_t *links;   /* by device: links in use */
};

/* Release the routes with myr_use_done() in any case; it accepts a zeroed struct. */
MYR_MUST_USE int myr_use_find(struct myr_use *ret, struct myr_arena *arena,
                              const struct myr_graph *graph,
                              const struct myr_balance_options *balance,
                              const struct myr_flow *flows, size_t count, struct myr_err *err);
void myr_use_done(struct myr_use *use);

/* One NIC port of a host in use. */
struct myr_use_nic {
    uint32_t device, port, peer;  /* the host, its port, the switch */
    uint32_t first_gpu, last_gpu; /* of the node, beside the port; MYR_NONE: a host without any */
    uint64_t send, receive;
};

struct myr_use_nics {
    const struct myr_use_nic *items;
    size_t count;
};

/* In use, by id: NICs host by host. */
struct myr_use_nics myr_use_nics(const struct myr_use *use, struct myr_arena *arena);

static inline bool myr_use_link(const struct myr_use *use, uint32_t link)
{
    return use->load[link * 2] || use->load[link * 2 + 1];
}

/* Devices in use tier above tier, and the links between them by load, as an SVG document. */
void myr_use_draw(const struct myr_use *use, struct myr_buf *buf);
