/*
 * source_port: steering hashed paths by the UDP source port of each RoCE connection.
 *
 * A switch takes the uplink that its hash of the five-tuple names. Addresses and the destination
 * port are given; the source port (49152 to 65535) is free, and whoever knows the hashes of all
 * switches on the way can choose it so that the connection takes the path that was planned for it.
 * Where no port leads along the planned path (many hops with many choices), the port is taken that
 * makes the fullest link on its way the least full.
 */
#pragma once

#include <stdint.h>

#include "myriad/base.h"
#include "myriad/fabric.h"
#include "myriad/site/addresses.h"

/*
 * How a switch hashes and how it turns the hash into a choice. The first two are the fabric's
 * families, hash modulo choices; the third is exactly what Linux does with
 * net.ipv4.fib_multipath_hash_policy = 1 and a given fib_multipath_hash_seed.
 */
enum myr_switch_hash { MYR_SWITCH_CRC, MYR_SWITCH_XOR, MYR_SWITCH_LINUX, MYR_SWITCH_HASH_COUNT };

extern const char *const myr_switch_hash_names[MYR_SWITCH_HASH_COUNT];

struct myr_switch_hashes {
    enum myr_switch_hash kind;
    uint32_t *seeds; /* by device */
    uint32_t *ranks; /* by port: where it stands among its switch's next hops; NULL: port order */
};

/* Every switch has the same seed, until myr_switch_seeds_read() says otherwise. */
void myr_switch_hashes_init(struct myr_switch_hashes *hashes, struct myr_arena *arena,
                            const struct myr_design *design, enum myr_switch_hash kind,
                            uint32_t seed);
/* CSV with a header: device,seed. */
MYR_MUST_USE int myr_switch_seeds_read(struct myr_switch_hashes *hashes,
                                       const struct myr_design *design, const char *path,
                                       struct myr_err *err);

/*
 * CSV with a header: device,port. Switches number the next hops of a route in an order of their
 * own, often that in which they learnt them; the rows of a device are its ports in that order.
 */
MYR_MUST_USE int myr_switch_order_read(struct myr_switch_hashes *hashes, struct myr_arena *arena,
                                       const struct myr_design *design, const char *path,
                                       struct myr_err *err);

/* Which of 'count' next hops the hash picks. */
uint32_t myr_switch_pick(enum myr_switch_hash kind, uint32_t seed, const struct myr_tuple *tuple,
                         uint32_t count);

struct myr_source_ports {
    uint16_t *ports;          /* by flow; 0: the flow has no path */
    bool *exact;              /* by flow: the hashes lead it along the planned path */
    uint32_t exact_count;     /* of flows */
    struct myr_routes routes; /* the paths that the hashes lead along */
    uint64_t *load;           /* by channel, in 1/MYR_LOAD_ONE */
};

/* 'planned' are the paths wanted for the flows. Arrays live in the arena; routes are heap. */
void myr_source_ports_choose(struct myr_source_ports *ret, struct myr_arena *arena,
                             const struct myr_graph *graph, const struct myr_addresses *addresses,
                             const struct myr_switch_hashes *hashes, const struct myr_flow *flows,
                             size_t flow_count, const struct myr_routes *planned);
