/*
 * drawn: small fabrics of all topologies, with a second network and other devices around them. Only
 * what flows is asked: devices, and who is wired to whom with which speed.
 */
#pragma once

#include "bench_test.h"

enum { NET = MYR_NET_STORAGE, OTHER = MYR_NET_SERVICE, SWITCHES = 8, SPEEDS = 2 };

static inline uint32_t drawn_lay(struct bench *b, uint32_t net, uint32_t layer, uint32_t gbps)
{
    for (uint32_t i = 0; i < b->design.cabletype_count; i++) {
        const struct myr_cabletype *type = &b->cabletypes[i];
        if (type->net == net && type->layer == layer && type->gbps == gbps) {
            return i;
        }
    }
    return bench_lay(
        b, (struct myr_cabletype){.net = (uint8_t)net, .layer = (uint8_t)layer, .gbps = gbps});
}

/* Each end is a port of its own; only whose it is matters here. */
static inline void drawn_wire(struct bench *b, uint32_t lay, uint32_t a, uint32_t z)
{
    uint32_t port = b->design.port_count;
    assert_true(port + 2 <= BENCH_PORTS);
    b->port_device[port] = a;
    b->port_device[port + 1] = z;
    b->port_link[port] = b->port_link[port + 1] = MYR_NONE;
    b->design.port_count += 2;
    bench_cable(b, lay);
    bench_link(b, port, port + 1);
}

static inline uint32_t drawn_put(struct bench *b, uint32_t kind, uint32_t net, struct myr_rng *rng)
{
    b->place[b->design.device_count] = (struct myr_place){
        .pod = myr_rng_below(rng, 3),
        .unit = myr_rng_below(rng, 3),
        .ordinal = myr_rng_below(rng, 3),
        .kind = (uint8_t)kind,
        .net = (uint8_t)net,
    };
    return b->design.device_count++;
}

/* Hosts of all kinds: boxes with a management port, and those that are on no network at all. */
static inline void drawn_hosts(struct bench *b, uint32_t *hosts, uint32_t *count,
                               struct myr_rng *rng)
{
    static const uint8_t kinds[] = {MYR_DEVICE_NODE,    MYR_DEVICE_NODE,
                                    MYR_DEVICE_STORAGE, MYR_DEVICE_MANAGEMENT,
                                    MYR_DEVICE_PDU,     MYR_DEVICE_FABRIC_MANAGER};
    for (uint32_t n = myr_rng_below(rng, 6); n > 0; n--) {
        uint32_t kind = kinds[myr_rng_below(rng, MYR_ARRAY_COUNT(kinds))];
        hosts[(*count)++] = drawn_put(b, kind, MYR_NET_COUNT, rng);
    }
}

static inline void drawn_init(struct bench *b, struct myr_rng *rng)
{
    static const uint32_t speeds[SPEEDS] = {100, 400};
    uint32_t hosts[16], host_count = 0;
    bench_init(b);
    b->networks[NET].topology = 1 + myr_rng_below(rng, MYR_TOPOLOGY_COUNT - 1);
    b->networks[OTHER].topology = MYR_TOPOLOGY_TORUS;
    drawn_hosts(b, hosts, &host_count, rng);
    uint32_t before = drawn_put(b, MYR_DEVICE_LEAF, OTHER, rng),
             switches = 2 + myr_rng_below(rng, SWITCHES - 1);
    uint32_t first = b->design.device_count;
    for (uint32_t i = 0; i < switches; i++) {
        drawn_put(b, MYR_DEVICE_LEAF + myr_rng_below(rng, 6), NET, rng);
    }
    uint32_t after = drawn_put(b, MYR_DEVICE_SPINE, OTHER, rng);
    drawn_hosts(b, hosts, &host_count, rng);
    drawn_wire(b, drawn_lay(b, OTHER, MYR_LAYER_FABRIC, 100), before, after);
    for (uint32_t i = 0; host_count && i < 16; i++) {
        uint32_t host = hosts[myr_rng_below(rng, host_count)];
        uint32_t speed = speeds[myr_rng_below(rng, SPEEDS)];
        bool other = myr_rng_below(rng, 8) == 0;
        drawn_wire(b, drawn_lay(b, other ? OTHER : NET, MYR_LAYER_HOST, other ? 100 : speed), host,
                   other ? before : first + myr_rng_below(rng, switches));
    }
    for (uint32_t i = myr_rng_below(rng, 3 * switches); i > 0; i--) {
        uint32_t a = myr_rng_below(rng, switches), z = myr_rng_below(rng, switches);
        if (a != z) {
            uint32_t layer = MYR_LAYER_FABRIC + myr_rng_below(rng, MYR_LAYER_COUNT - 1);
            drawn_wire(b, drawn_lay(b, NET, layer, speeds[myr_rng_below(rng, SPEEDS)]), first + a,
                       first + z);
        }
    }
}
