/*
 * Flow files on small fabrics of several shapes: any bytes give one clear line, or flows that every
 * policy can route. The first byte chooses the fabric, the second the policy and what is dead.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "myriad/fabric.h"
#include "myriad/plan.h"

static const char file[] = "flows.csv";

static const char *const specs[] = {
    "servers: 4\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790}}\n",
    "servers: 12\nserver: generic-1gpu\nnetworks: {compute: {topology: clos, switch: mqm9790, "
    "nic_gbps: 400, leaf_down: 2, leaf_up: 2}}\n",
    "servers: 8\nserver: generic-1gpu\nnetworks: {compute: {topology: clos, switch: mqm9790, "
    "nic_gbps: 400, tiers: 3, leaf_down: 2, leaf_up: 2, pod_leaves: 2}}\n",
    "servers: 8\nserver: generic-1gpu\nnetworks: {compute: {topology: torus, switch: mqm9790, "
    "dims: [4, 2]}}\n",
    "servers: 12\nserver: generic-1gpu\nnetworks: {compute: {topology: dragonfly, switch: mqm9790, "
    "global_ports: 1, group_switches: 2, hosts_per_switch: 2}}\n",
};

enum { FABRICS = MYR_ARRAY_COUNT(specs), ROUTED_MAX = 64 };

struct fabric {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
    struct myr_design design;
    struct myr_graph graph;
};

static struct fabric *fabric_at(uint32_t index)
{
    static struct fabric fabrics[FABRICS];
    struct fabric *fabric = &fabrics[index];
    const struct myr_doc *doc;
    struct myr_err err;
    if (!fabric->graph.design) {
        myr_arena_init(&fabric->arena);
        MYR_ASSERT(myr_catalog_init(&fabric->catalog, &fabric->arena, &err) == MYR_OK);
        MYR_ASSERT(myr_doc_read_yaml(&fabric->arena, "spec", myr_str_from(specs[index]), &doc,
                                     &err) == MYR_OK);
        MYR_ASSERT(myr_spec_read(&fabric->arena, &fabric->catalog, doc, &fabric->spec, &err) ==
                   MYR_OK);
        MYR_ASSERT(myr_plan(&fabric->arena, &fabric->catalog, &fabric->spec, &fabric->design,
                            &err) == MYR_OK);
        MYR_ASSERT(myr_graph_init(&fabric->graph, &fabric->arena, &fabric->design, MYR_NET_COMPUTE,
                                  &err) == MYR_OK);
    }
    return fabric;
}

/* Some links, by the bits of a number. */
static void set_dead(struct fabric *fabric, uint32_t bits, bool dead)
{
    for (uint32_t link = 0; link < fabric->design.link_count; link++) {
        if (bits && myr_hash_u64((uint64_t)bits << 32 | link) % 8 == 0) {
            myr_graph_set_link(&fabric->graph, link, dead);
        }
    }
}

static void use(const struct fabric *fabric, const struct myr_flows *flows, uint32_t policy)
{
    struct myr_balance_options options = {.policy = (enum myr_policy)policy};
    struct myr_routes routes = {};
    struct myr_err err;
    uint64_t *load = myr_xcalloc((size_t)fabric->design.link_count * 2, sizeof(*load));
    for (size_t i = 0; i < flows->items.count; i++) {
        const struct myr_flow *flow = &flows->items.items[i];
        MYR_ASSERT(flow->share > 0 && flow->share <= MYR_SHARE_ONE);
        MYR_ASSERT(flow->from_port != flow->to_port);
        MYR_ASSERT(flow->from_port < fabric->design.port_count);
        MYR_ASSERT(flow->to_port < fabric->design.port_count);
    }
    size_t count = flows->items.count < ROUTED_MAX ? flows->items.count : ROUTED_MAX;
    MYR_ASSERT(myr_balance(&fabric->graph, &options, flows->items.items, count, &routes, load,
                           &err) == MYR_OK);
    MYR_ASSERT(routes.unroutable <= count);
    MYR_ASSERT(routes.sprayed || routes.flow.count + routes.unroutable >= count);
    myr_routes_done(&routes);
    free(load);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_flows flows = {};
    struct myr_err err;
    if (size < 2) {
        return 0;
    }
    struct fabric *fabric = fabric_at(data[0] % FABRICS);
    struct myr_str text = {(const char *)data + 2, size - 2};
    int rc = myr_flows_parse(&flows, &fabric->graph, file, text, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        MYR_ASSERT(flows.items.count == 0);
    } else {
        uint32_t dead = data[1] / MYR_POLICY_COUNT;
        set_dead(fabric, dead, true);
        use(fabric, &flows, data[1] % MYR_POLICY_COUNT);
        set_dead(fabric, dead, false);
    }
    myr_flows_done(&flows);
    return 0;
}
