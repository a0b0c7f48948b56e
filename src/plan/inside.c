#include "plan_internal.h"

/*
 * The insides of a node, from the few numbers of the catalogue: NUMA nodes in a row, PCIe switches
 * spread over them, GPUs and compute NICs spread over the PCIe switches in order (GPU k beside NIC
 * k: that is what makes a rail short), scale-up switches joined to every GPU. Where there are no
 * scale-up switches, GPUs of one domain are joined to each other.
 */

struct inside_builder {
    struct plan *plan;
    MYR_VEC(struct myr_inside) parts;
    MYR_VEC(struct myr_inside_link) links;
};

/* Returns its position, by which links name it. */
static uint16_t put_part(struct inside_builder *builder, enum myr_inside_kind kind, uint32_t net,
                         uint32_t index, uint32_t numa)
{
    struct myr_inside part = {.kind = (uint8_t)kind,
                              .net = (uint8_t)net,
                              .index = (uint16_t)index,
                              .numa = (uint16_t)numa};
    myr_vec_push(&builder->parts, part);
    return (uint16_t)(builder->parts.count - 1);
}

static void put_link(struct inside_builder *builder, uint32_t a, uint32_t b, uint32_t gbps)
{
    struct myr_inside_link link = {.a = (uint16_t)a, .b = (uint16_t)b, .gbps = gbps};
    myr_vec_push(&builder->links, link);
}

/* One direction of sixteen lanes: 8 GT/s in generation 3, doubling with each. */
static uint32_t pcie_gbps(uint32_t generation)
{
    uint32_t gbps = 32; /* generation 1, with its 8b/10b coding */
    for (uint32_t i = 1; i < generation; i++) {
        gbps *= 2;
    }
    /* 128b/130b coding, which leaves 126 of 128 Gb/s. */
    return generation >= 3 ? gbps * 126 / 128 : gbps;
}

/* What parts hang on, and how fast that link is. */
struct roots {
    uint32_t first, count; /* PCIe switches, or NUMA nodes where there are none */
    uint32_t gbps;
};

/* Spread in order and as evenly as whole numbers allow; a child is on the NUMA node of its root. */
static void put_children(struct inside_builder *builder, enum myr_inside_kind kind, uint32_t net,
                         uint32_t count, struct roots roots, uint32_t numa_count)
{
    for (uint32_t i = 0; i < count; i++) {
        /* Child i of n goes to root floor(i * roots / n). */
        uint32_t at = (uint32_t)((uint64_t)i * roots.count / count);
        uint32_t numa = (uint32_t)((uint64_t)at * numa_count / roots.count);
        uint32_t part = put_part(builder, kind, net, i, numa);
        put_link(builder, roots.first + at, part, roots.gbps);
    }
}

/* The rate of a GPU is divided evenly among its links. */
static void put_scale_up(struct inside_builder *builder, uint32_t first_gpu,
                         const struct myr_part_server *server)
{
    /* In a server of several nodes the switches are outside of the node, so its inside has none. */
    uint32_t switches = server->nodes == 1 ? server->scale_up_switches : 0;
    for (uint32_t s = 0; s < switches; s++) {
        uint32_t part = put_part(builder, MYR_INSIDE_SCALE_UP_SWITCH, 0, s, 0);
        for (uint32_t g = 0; g < server->gpus_per_node; g++) {
            put_link(builder, part, first_gpu + g, server->scale_up_gbps / switches);
        }
    }
    /* Without switches each GPU divides its rate among all others of the node. */
    if (switches || server->gpus_per_node < 2 || !server->scale_up_gbps || server->nodes > 1) {
        return;
    }
    for (uint32_t a = 0; a < server->gpus_per_node; a++) {
        for (uint32_t b = a + 1; b < server->gpus_per_node; b++) {
            put_link(builder, first_gpu + a, first_gpu + b,
                     server->scale_up_gbps / (server->gpus_per_node - 1));
        }
    }
}

/*
 * Cards that a node has on a network: a twin cage may serve two. A card that the catalogue does not
 * have counts as one.
 */
static uint32_t cards_of(const struct plan *plan, const struct myr_server_nics *nics)
{
    uint32_t nic = nics->nic ? myr_catalog_find(plan->catalog, myr_str_from(nics->nic)) : MYR_NONE;
    return nic == MYR_NONE ? nics->count : nics->count * part_at(plan, nic)->nic.cards;
}

static void inside_builder_done(struct inside_builder *builder)
{
    myr_vec_done(&builder->parts);
    myr_vec_done(&builder->links);
}

/* One list stands for all nodes: where their servers differ there is none. */
static bool servers_differ(const struct plan *plan)
{
    for (uint32_t i = 1; i < plan->group_count; i++) {
        if (plan->groups[i].server_part != plan->groups[0].server_part) {
            return true;
        }
    }
    return false;
}

/* NUMA nodes come first in the list, then PCIe switches, GPUs, NICs. */
void plan_insides(struct plan *plan)
{
    const struct myr_part_server *server = &plan->server->server;
    /* Counts stay 0; the arrays are there all the same. */
    if (servers_differ(plan)) {
        plan->design.insides = MYR_ARENA_ONE(plan->arena, struct myr_inside);
        plan->design.inside_links = MYR_ARENA_ONE(plan->arena, struct myr_inside_link);
        return;
    }
    MYR_CLEANUP(inside_builder_done) struct inside_builder builder = {.plan = plan};
    uint32_t numa_count = server->numa ? server->numa : 1;
    /* Generation 5 where the catalogue does not say. */
    uint32_t gbps = pcie_gbps(server->pcie_gen ? server->pcie_gen : 5);
    for (uint32_t i = 0; i < numa_count; i++) {
        put_part(&builder, MYR_INSIDE_NUMA, 0, i, i);
        if (i > 0) {
            put_link(&builder, i - 1, i, gbps);
        }
    }
    struct roots numa = {0, numa_count, gbps}, roots = numa;
    if (server->pcie_switches) {
        roots.first = (uint32_t)builder.parts.count;
        roots.count = server->pcie_switches;
        put_children(&builder, MYR_INSIDE_PCIE_SWITCH, 0, server->pcie_switches, numa, numa_count);
    }
    uint32_t first_gpu = (uint32_t)builder.parts.count;
    put_children(&builder, MYR_INSIDE_GPU, 0, server->gpus_per_node, roots, numa_count);
    /* Compute cards sit beside the GPUs, all others at the processors. */
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        put_children(&builder, MYR_INSIDE_NIC, net, cards_of(plan, &server->nics[net]),
                     net == MYR_NET_COMPUTE ? roots : numa, numa_count);
    }
    if (server->dpu) {
        put_children(&builder, MYR_INSIDE_DPU, 0, 1, numa, numa_count);
    }
    put_scale_up(&builder, first_gpu, server);

    struct myr_design *design = &plan->design;
    design->inside_count = (uint32_t)builder.parts.count;
    design->inside_link_count = (uint32_t)builder.links.count;
    design->insides = MYR_ARENA_NEW(plan->arena, struct myr_inside, design->inside_count);
    design->inside_links =
        MYR_ARENA_NEW(plan->arena, struct myr_inside_link, design->inside_link_count);
    memcpy(design->insides, builder.parts.items, design->inside_count * sizeof(struct myr_inside));
    if (builder.links.count) {
        memcpy(design->inside_links, builder.links.items,
               design->inside_link_count * sizeof(struct myr_inside_link));
    }
}

/* Consecutive nodes that fall into sets of one size; 0: into none. */
struct span {
    uint32_t first, nodes, size;
};

/*
 * Sets of nodes that share something: a scale-up domain, a rail group, a pod. Rail groups and pods
 * are told by the first group of servers for all, scale-up domains by each for its own nodes.
 */
static struct span domain_span(const struct plan *plan, enum myr_domain_kind kind, uint32_t i)
{
    const struct net_plan *net = &plan->nets[MYR_NET_COMPUTE];
    const struct plan_group *group = &plan->groups[i];
    struct span span = {group->first, group->nodes, 0};
    if (kind == MYR_DOMAIN_SCALE_UP) {
        const struct myr_part_server *server = &group->server->server;
        /* A domain within one node is no set of nodes. */
        uint32_t nodes = server->scale_up_gpus / server->gpus_per_node;
        span.size = nodes > 1 ? nodes : 0;
        return span;
    }
    /*
     * Groups on the compute network come first and share its leaves. All groups on the network
     * together, from here on.
     */
    span.nodes = 0;
    for (uint32_t k = 0; k < plan->group_count; k++) {
        bool on = plan->groups[k].networks & 1U << MYR_NET_COMPUTE;
        span.nodes += on ? plan->groups[k].nodes : 0;
    }
    /* Told once, at the first group, for all groups on the network together. */
    bool railed = i == 0 && net->present && net->out.topology == MYR_TOPOLOGY_RAIL;
    if (railed && kind == MYR_DOMAIN_RAIL_GROUP) {
        span.size = net->out.group_nodes;
    } else if (railed && kind == MYR_DOMAIN_POD && net->out.tiers == 3) {
        span.size = net->out.group_nodes * (net->out.pod_leaves / net->out.rails);
    }
    return span;
}

/* Counted first, so that the arrays have their size; then filled in the same order. */
void plan_domains(struct plan *plan)
{
    struct myr_design *design = &plan->design;
    uint32_t domains = 0, members = 0;
    for (uint32_t kind = MYR_DOMAIN_SCALE_UP; kind <= MYR_DOMAIN_POD; kind++) {
        for (uint32_t i = 0; i < plan->group_count; i++) {
            struct span span = domain_span(plan, (enum myr_domain_kind)kind, i);
            domains += span.size ? ceil_div(span.nodes, span.size) : 0;
            /* The last set of a span may be smaller than the others. */
            members += span.size ? span.nodes : 0;
        }
    }
    design->domains = MYR_ARENA_NEW(plan->arena, struct myr_domain, domains);
    design->domain_devices = MYR_ARENA_NEW(plan->arena, uint32_t, members);
    for (uint32_t kind = MYR_DOMAIN_SCALE_UP; kind <= MYR_DOMAIN_POD; kind++) {
        uint32_t index = 0;
        for (uint32_t i = 0; i < plan->group_count; i++) {
            struct span span = domain_span(plan, (enum myr_domain_kind)kind, i);
            for (uint32_t node = 0; span.size && node < span.nodes; node++) {
                if (node % span.size == 0) {
                    design->domains[design->domain_count++] = (struct myr_domain){
                        .kind = kind, .index = index++, .first = design->member_count};
                }
                design->domains[design->domain_count - 1].count++;
                design->domain_devices[design->member_count++] =
                    design->head->first_node + span.first + node;
            }
        }
    }
    MYR_ASSERT(design->domain_count == domains);
    MYR_ASSERT(design->member_count == members);
}
