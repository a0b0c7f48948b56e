#include <stdlib.h>

#include "cloth.h"
#include "myriad/physical.h"

/*
 * Bisection: how much flows at once between two halves of the hosts, one direction, by maximum flow
 * over the cables.
 *
 * Host ports are halved in each separate fabric by itself (a plane, a rail of rail-only), for
 * nothing flows between fabrics: the first half of the ports in an order of their switches. Orders:
 * as the switches are numbered; with rails also rail by rail; in a torus along each side. The worst
 * of them counts. Nodes are halved in the order of their names; what only has a management port,
 * and fabric managers, are no nodes.
 */

/* A switch under the key that it is sorted by; equal keys keep the order of the switches. */
struct ordered {
    uint32_t key, at;
};

static int by_key(const void *a, const void *b)
{
    const struct ordered *left = a, *right = b;
    if (left->key != right->key) {
        return left->key < right->key ? -1 : 1;
    }
    return left->at < right->at ? -1 : left->at > right->at;
}

/* Which number of a switch's place the order goes by. */
enum order { ORDER_NUMBER, ORDER_POD, ORDER_UNIT, ORDER_ORDINAL, ORDER_COUNT };

/*
 * Pod, unit and ordinal are the coordinates of a torus switch. A rail leaf's ordinal is its rail.
 */
static uint32_t key_of(const struct myr_place *place, enum order order)
{
    return order == ORDER_POD       ? place->pod
           : order == ORDER_UNIT    ? place->unit
           : order == ORDER_ORDINAL ? place->ordinal
                                    : 0;
}

/*
 * The switch in the middle is on both sides: as many of its ports as the first half lacks send, the
 * others receive. That flow stays in the switch and needs no cable.
 */
static uint64_t halve_ports(const struct cloth *cloth, struct myr_arena *arena, enum order order)
{
    uint32_t *total = MYR_ARENA_NEW(arena, uint32_t, cloth->fabrics);
    uint32_t *taken = MYR_ARENA_NEW(arena, uint32_t, cloth->fabrics);
    uint64_t *from = MYR_ARENA_NEW(arena, uint64_t, cloth->switches);
    uint64_t *to = MYR_ARENA_NEW(arena, uint64_t, cloth->switches);
    struct ordered *list = MYR_ARENA_NEW(arena, struct ordered, cloth->switches);
    for (uint32_t i = 0; i < cloth->switches; i++) {
        const struct myr_place *place = &cloth->design->place[cloth->first_device + i];
        list[i] = (struct ordered){key_of(place, order), i};
        total[cloth->fabric[i]] += cloth->ports[i];
    }
    if (order != ORDER_NUMBER) {
        qsort(list, cloth->switches, sizeof(*list), by_key);
    }
    for (uint32_t i = 0; i < cloth->switches; i++) {
        uint32_t at = list[i].at, fabric = cloth->fabric[at], ports = cloth->ports[at];
        if (ports == 0) {
            continue;
        }
        uint32_t left = total[fabric] / 2 - taken[fabric];
        uint32_t here = ports < left ? ports : left;
        taken[fabric] += here;
        /* Ports count with the mean speed of their switch, for which ones are taken is not said. */
        from[at] = cloth->port_gbps[at] / ports * here;
        to[at] = cloth->port_gbps[at] / ports * (ports - here);
    }
    return cloth_flow(cloth, arena, from, to);
}

/* Hosts that do work. Boxes with a management port and fabric managers hang on a network too. */
static bool is_node(const struct myr_design *design, uint32_t device)
{
    uint8_t kind = design->place[device].kind;
    return kind == MYR_DEVICE_NODE || kind == MYR_DEVICE_STORAGE || kind == MYR_DEVICE_MANAGEMENT;
}

/*
 * UINT64_MAX when there are not two nodes. Devices lie in the order of their names, so 'middle'
 * parts the halves: it is the first device of the second.
 */
static uint64_t halve_nodes(const struct cloth *cloth, struct myr_arena *arena)
{
    const struct myr_design *design = cloth->design;
    bool *on_it = MYR_ARENA_NEW(arena, bool, design->device_count);
    uint64_t *from = MYR_ARENA_NEW(arena, uint64_t, cloth->switches);
    uint64_t *to = MYR_ARENA_NEW(arena, uint64_t, cloth->switches);
    uint32_t nodes = 0, middle = 0;
    for (uint32_t i = 0; i < cloth->host_count; i++) {
        uint32_t device = cloth->hosts[i].device;
        nodes += !on_it[device] && is_node(design, device);
        on_it[device] = true;
    }
    if (nodes < 2) {
        return UINT64_MAX;
    }
    for (uint32_t left = nodes / 2; left > 0; middle++) {
        left -= on_it[middle] && is_node(design, middle);
    }
    for (uint32_t i = 0; i < cloth->host_count; i++) {
        const struct cloth_host *host = &cloth->hosts[i];
        if (is_node(design, host->device)) {
            uint64_t *side = host->device < middle ? from : to;
            side[host->at] += host->gbps;
        }
    }
    return cloth_flow(cloth, arena, from, to);
}

/* Everything is made anew for each call and given back: designs are asked for it rarely. */
void myr_physical_bisection(const struct myr_design *design, uint32_t net,
                            struct myr_bisection *ret)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct cloth cloth;
    myr_arena_init(&arena);
    cloth_init(&cloth, &arena, design, net);
    uint32_t topology = design->networks[net].topology;
    uint64_t worst = halve_ports(&cloth, &arena, ORDER_NUMBER);
    /* All three sides of a torus; with rails the ordinal alone, which is the rail. */
    for (uint32_t order = ORDER_POD; order < ORDER_COUNT; order++) {
        if (topology == MYR_TOPOLOGY_TORUS ||
            (topology == MYR_TOPOLOGY_RAIL && order == ORDER_ORDINAL)) {
            uint64_t flow = halve_ports(&cloth, &arena, (enum order)order);
            worst = flow < worst ? flow : worst;
        }
    }
    uint64_t nodes = halve_nodes(&cloth, &arena);
    *ret = (struct myr_bisection){worst, nodes == UINT64_MAX ? worst : nodes};
}
