#include "drawing/drawing.h"
#include "explain/tree.h"
#include "plan_internal.h"

/*
 * What drawings count by themselves: links of pairs, hosts of a leaf, the inside of a node. A
 * number that stands in a drawing and nowhere else can so be asked for like any other.
 */

/*
 * Each number that occurs, in the order in which it was met. A regular fabric has one or two;
 * beyond the room the rest is left out.
 */
struct occurring {
    uint32_t items[64];
    uint32_t count;
};

/* 0 is no number that a drawing shows. */
static void occurs(struct occurring *all, uint32_t number)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->items[i] == number) {
            return;
        }
    }
    if (number && all->count < MYR_ARRAY_COUNT(all->items)) {
        all->items[all->count++] = number;
    }
}

static void put(struct myr_answer *answer, const char *key, const struct occurring *all)
{
    myr_answer_list(answer, key);
    for (uint32_t i = 0; i < all->count; i++) {
        myr_answer_u64(answer, NULL, all->items[i]);
    }
    myr_answer_end(answer);
}

/* Links of one switch to each other one; 'links' is by device, all 0 before and after. */
static void count_pairs(const struct myr_design *design, uint32_t device, uint16_t *links,
                        struct occurring *ret)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t port = design->first_port[device]; port < design->first_port[device + 1];
             port++) {
            uint32_t peer = myr_design_peer(design, port);
            if (peer == MYR_NONE || myr_design_port_group(design, peer)->role == MYR_PORT_NIC) {
                continue;
            }
            uint16_t *pair = &links[design->port_device[peer]];
            if (pass == 0) {
                (*pair)++;
            } else {
                occurs(ret, *pair);
                *pair = 0;
            }
        }
    }
}

/* Every number that a drawing of this network may write beside a shape. */
static void put_network(const struct myr_design *design, struct myr_answer *answer, uint32_t id,
                        uint16_t *links)
{
    const struct myr_network *net = &design->networks[id];
    struct occurring pairs = {}, reached = {}, hosts = {}, ports = {};
    for (uint32_t device = 0; device < design->device_count; device++) {
        const struct myr_place *place = &design->place[device];
        bool leaf = place->kind == MYR_DEVICE_LEAF || place->kind == MYR_DEVICE_ACCESS ||
                    place->kind == MYR_DEVICE_ROUTER;
        /* Aggregation switches are left out: their links are those of the access switches. */
        bool upper = place->kind == MYR_DEVICE_SPINE || place->kind == MYR_DEVICE_CORE;
        if (place->net != id || (!leaf && !upper)) {
            continue;
        }
        count_pairs(design, device, links, &pairs);
        if (leaf) {
            struct draw_hosts on = plan_draw_hosts_of(design, device);
            occurs(&hosts, on.devices);
            occurs(&ports, on.ports);
        }
    }
    /* With rails all leaves of a group share their nodes. */
    uint32_t shared = net->topology == MYR_TOPOLOGY_RAIL ? net->rails : 1;
    myr_answer_object(answer, myr_net_names[id]);
    put(answer, "links_of_a_pair", &pairs);
    put(answer, "hosts_of_a_leaf", &hosts);
    put(answer, "host_ports_of_a_leaf", &ports);
    if (net->pods > 1 && net->tiers >= 3 && shared) {
        uint32_t full = net->pod_leaves / shared * net->group_nodes;
        /* 0 where all pods are full: occurs() then adds nothing. */
        uint32_t last = full ? net->nodes_on_it % full : 0;
        occurs(&reached, full);
        occurs(&reached, last);
        put(answer, "nodes_of_a_pod", &reached);
    }
    myr_answer_end(answer);
}

/* As drawing/inside.c shows it; empty where servers differ. */
static void put_inside(const struct myr_design *design, struct myr_answer *answer)
{
    static const struct {
        enum myr_inside_kind kind;
        const char *key;
    } kinds[] = {{MYR_INSIDE_NUMA, "numa_domains"},
                 {MYR_INSIDE_PCIE_SWITCH, "pcie_switches"},
                 {MYR_INSIDE_GPU, "gpus"},
                 {MYR_INSIDE_NIC, "nics"}};
    struct occurring rates = {};
    myr_answer_object(answer, "inside");
    for (uint32_t k = 0; k < MYR_ARRAY_COUNT(kinds); k++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < design->inside_count; i++) {
            count += design->insides[i].kind == kinds[k].kind;
        }
        myr_answer_u64(answer, kinds[k].key, count);
    }
    for (uint32_t i = 0; i < design->inside_link_count; i++) {
        occurs(&rates, design->inside_links[i].gbps);
    }
    put(answer, "link_gbps", &rates);
    myr_answer_u64(answer, "nodes_of_a_server", design->head->nodes_per_server);
    myr_answer_end(answer);
}

/* Into the open object, and the node beside it. */
void explain_put_drawn(const struct myr_design *design, struct myr_answer *answer)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    uint16_t *links = MYR_ARENA_NEW(&scratch, uint16_t, design->device_count);
    myr_answer_object(answer, "drawn");
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (design->networks[id].topology) {
            put_network(design, answer, id, links);
        }
    }
    myr_answer_end(answer);
    put_inside(design, answer);
}
