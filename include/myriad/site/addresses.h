/*
 * addresses: IPv4 addresses and AS numbers of a routed Ethernet network, by arithmetic.
 *
 * eBGP after RFC 7938: a private 4-byte AS number for each leaf, one for the spines of a pod, one
 * for a core group, one for each host; a /31 on each link and a /32 on each device. The links of a
 * leaf's hosts fill one block that the leaf announces whole, so tables grow with leaves, not hosts.
 * The compute network lies in 10.0.0.0/8, the storage network in 172.16.0.0/12; the first quarter
 * is for hosts, the second for links between switches, the third for loopbacks.
 *
 * Addresses are in host byte order. The same design always gives the same plan.
 */
#pragma once

#include <stdint.h>

#include "myriad/base.h"
#include "myriad/model.h"

struct myr_addresses {
    const struct myr_design *design;
    enum myr_net_id net;
    uint32_t host_base, fabric_base, loopback_base;
    uint32_t block_bits;     /* a leaf's hosts: 2^block_bits addresses */
    uint32_t *fabric_number; /* by link: its place among those between switches */
};

/* Fails for networks that are not routed, and for those larger than the address space. */
MYR_MUST_USE int myr_addresses_init(struct myr_addresses *ret, struct myr_arena *arena,
                                    const struct myr_design *design, enum myr_net_id net,
                                    struct myr_err *err);

/* Of a cabled port. The end nearer to the hosts has the odd address of the /31. */
uint32_t myr_address_of_port(const struct myr_addresses *addresses, uint32_t port);
uint32_t myr_address_of_device(const struct myr_addresses *addresses, uint32_t device);
/* The block of a leaf's hosts; its prefix length is 32 - block_bits. */
uint32_t myr_address_block(const struct myr_addresses *addresses, uint32_t leaf);
uint32_t myr_address_asn(const struct myr_addresses *addresses, uint32_t device);
/* "10.0.0.1" */
void myr_address_put(struct myr_buf *buf, uint32_t address);
