/*
 * tables: the forwarding tables of an InfiniBand subnet: one egress port for each destination at
 * each switch.
 *
 * They come from the fabric's static paths, with planned flows laid over them where wanted, and go
 * to OpenSM as a file (opensm -R file -U FILE). Or they come from a running subnet, as dump_lfts
 * prints them, and are looked at. Destinations are host ports and switches; a destination has one
 * path from each switch, so flows to one host port can be planned as long as they agree where they
 * meet.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/fabric.h"
#include "myriad/site/binding.h"

/* Unicast addresses that a subnet has. */
#define MYR_LID_MAX 0xBFFF

struct myr_tables {
    const struct myr_graph *graph;
    uint32_t host_count;
    uint32_t *hosts;           /* cabled host ports, ascending */
    uint32_t *host_number;     /* by port; MYR_NONE for others */
    uint32_t columns;          /* host_count + switches */
    uint8_t *egress;           /* switch by switch: port number from 1; 0: no way */
    struct myr_bitset planned; /* entries that a planned flow has fixed */
};

/* Empty tables. Fails when the network has more ends than a subnet has addresses. */
MYR_MUST_USE int myr_tables_init(struct myr_tables *tables, struct myr_arena *arena,
                                 const struct myr_graph *graph, struct myr_err *err);
/* The fabric's per-destination paths, and the shortest ways to the switches themselves. */
void myr_tables_fill(struct myr_tables *tables);
/*
 * Lays the flows' paths over the tables. A flow that meets an earlier one to the same destination
 * on another way is left as it was; the number of these is returned.
 */
uint32_t myr_tables_plan(struct myr_tables *tables, const struct myr_routes *routes,
                         const struct myr_flow *flows);

/* False when the tables lead nowhere or in a circle. */
bool myr_tables_path(const struct myr_tables *tables, uint32_t from_port, uint32_t to_port,
                     struct myr_path *ret);
/* The paths of flows as the tables have them, and the load that they put on each channel. */
void myr_tables_routes(const struct myr_tables *tables, const struct myr_flow *flows, size_t count,
                       struct myr_routes *ret, uint64_t *ret_load);

/*
 * GUIDs are those of the binding, where it has them, else those made from the design. Reading finds
 * devices by GUID; ret_unknown counts switches and destinations that the design does not have.
 */
MYR_MUST_USE int myr_tables_write(const struct myr_tables *tables,
                                  const struct myr_binding *binding, const char *path,
                                  struct myr_err *err);
MYR_MUST_USE int myr_tables_read(struct myr_tables *tables, const struct myr_binding *binding,
                                 const char *path, uint32_t *ret_unknown, struct myr_err *err);
/* 'file' is the name for messages. */
MYR_MUST_USE int myr_tables_read_text(struct myr_tables *tables, const struct myr_binding *binding,
                                      const char *file, struct myr_str text, uint32_t *ret_unknown,
                                      struct myr_err *err);
