#include "myriad/fabric/balance.h"

#include <stdlib.h>

#include "myriad/fabric/colour.h"
#include "policy/policy.h"

/*
 * The policies behind one call. Most are a choice at every switch, made by a picker as the path is
 * walked: by hash, by ingress port, by a table, by load. Spraying and planning look at all flows
 * together and have files of their own (policy/, colour.c); here they are only called and put into
 * one form.
 */

/* As balance.h promises. */
enum { FLOWLETS = 8 };

const char *const myr_policy_names[MYR_POLICY_COUNT] = {
    "ecmp", "ecmp-xor", "port", "static", "flowlet", "spray", "adaptive", "planned"};

void myr_routes_done(struct myr_routes *routes)
{
    myr_vec_done(&routes->start);
    myr_vec_done(&routes->channels);
    myr_vec_done(&routes->flow);
    myr_vec_done(&routes->weight);
    myr_vec_done(&routes->limit);
}

/* What a switch needs to pick an egress. */
struct picker {
    const struct myr_graph *graph;
    const struct myr_balance_options *options;
    const struct myr_flow *flow;
    struct myr_tuple tuple; /* what its hash is of */
    uint32_t came_by;       /* channel into the present switch */
    const uint64_t *load;   /* by channel, of what was routed before */
};

/* Polarised: all switches with one seed make the same choice, tier after tier. */
static uint32_t switch_seed(const struct picker *picker, uint32_t device)
{
    uint64_t own = picker->options->polarised ? 0 : device;
    return (uint32_t)myr_hash_u64(picker->options->seed * UINT64_C(0x9E3779B97F4A7C15) + own);
}

/*
 * A CRC is linear: another start value only flips the same bits of every flow's hash, so two
 * switches in a row would make the same choice up to a constant, and each would leave most of its
 * uplinks empty. Chips therefore mix the CRC with their own seed before they take it modulo.
 */
static uint32_t crc_choice(const struct picker *picker, uint32_t device)
{
    uint64_t crc = myr_hash_crc(&picker->tuple, 0);
    return (uint32_t)(myr_hash_u64(crc | (uint64_t)switch_seed(picker, device) << 32) >> 32);
}

/* The number of the port, on its switch, by which the flow came in. */
static uint32_t ingress_index(const struct picker *picker)
{
    const struct myr_design *design = picker->graph->design;
    uint32_t port = myr_channel_from_port(design, myr_channel_back(picker->came_by));
    return port - design->first_port[design->port_device[port]];
}

static uint32_t least_loaded(const struct picker *picker, uint32_t count,
                             const uint32_t *candidates)
{
    /* Among equals by hash, so that the first uplinks are not always the first to fill. */
    uint32_t start = myr_hash_crc(&picker->tuple, (uint32_t)picker->options->seed) % count;
    uint32_t best = start;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t at = (start + i) % count;
        if (picker->load[candidates[at]] < picker->load[candidates[best]]) {
            best = at;
        }
    }
    return best;
}

/*
 * One choice at one switch, as myr_path_find() asks for it. Notes the channel, for the next switch
 * may go by it.
 */
static uint32_t pick(void *context, uint32_t device, uint32_t count, uint32_t depth,
                     const uint32_t *candidates)
{
    struct picker *picker = context;
    uint32_t choice = 0;
    (void)depth;
    switch (picker->options->policy) {
    case MYR_POLICY_ECMP_CRC:
    case MYR_POLICY_FLOWLET:
        choice = crc_choice(picker, device) % count;
        break;
    case MYR_POLICY_ECMP_XOR:
        choice = myr_hash_xor(&picker->tuple, switch_seed(picker, device)) % count;
        break;
    case MYR_POLICY_PORT:
        choice = ingress_index(picker) % count;
        break;
    case MYR_POLICY_STATIC: {
        uint32_t channel = myr_path_static(picker->graph, device, picker->flow->to_port);
        /* The table's channel is one of the candidates, which are living. */
        while (choice + 1 < count && candidates[choice] != channel) {
            choice++;
        }
        break;
    }
    default: /* adaptive, and what a plan has no colour for */
        choice = least_loaded(picker, count, candidates);
        break;
    }
    picker->came_by = candidates[choice];
    return choice;
}

static struct picker picker_for(const struct myr_graph *graph,
                                const struct myr_balance_options *options,
                                const struct myr_flow *flow, const uint64_t *load)
{
    uint32_t link = graph->design->port_link[flow->from_port];
    return (struct picker){.graph = graph,
                           .options = options,
                           .flow = flow,
                           .tuple = myr_flow_tuple(flow),
                           /*
                            * Hosts are at end a: the channel into the fabric is the even one. 0 is
                            * never asked for.
                            */
                           .came_by = link == MYR_NONE ? 0 : link * 2,
                           .load = load};
}

/* Hash, port, static, adaptive, flowlet: hop by hop. */
static void route_by_hop(const struct myr_graph *graph, const struct myr_balance_options *options,
                         const struct myr_flow *flows, size_t count, struct myr_routes *ret,
                         uint64_t *load)
{
    uint32_t pieces = options->policy == MYR_POLICY_FLOWLET ? FLOWLETS : 1;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t piece = 0; piece < pieces; piece++) {
            struct myr_path path;
            struct picker picker = picker_for(graph, options, &flows[i], load);
            /* Another source port stands for another flowlet; an odd factor spreads the bits. */
            picker.tuple.source = (uint16_t)(picker.tuple.source ^ piece * 0x1F35);
            if (!myr_path_find(graph, flows[i].from_port, flows[i].to_port, pick, &picker, &path)) {
                ret->unroutable++;
                break;
            }
            uint64_t share = flows[i].share;
            /* Differences of rounded parts: they add up to the whole share. */
            uint32_t weight = (uint32_t)(share * (piece + 1) / pieces - share * piece / pieces);
            if (weight > 0) {
                policy_put_route(ret, (uint32_t)i, weight, &path);
                policy_add_load(graph, load, &path, weight, false);
            }
        }
    }
}

/* --- planned */

/* In the order of flows; those without a path count and have no route. */
static void put_plan(const struct policy_plan *plan, struct myr_routes *ret)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->paths[i].count > 0) {
            policy_put_route(ret, (uint32_t)i, plan->flows[i].share, &plan->paths[i]);
        } else {
            ret->unroutable++;
        }
    }
}

/* Flows that the colouring has no path for are left to plan_lost(). */
static void plan_by_colour(struct policy_plan *plan, struct myr_colouring *colouring)
{
    uint32_t first = myr_colouring_add(colouring, plan->flows, plan->count);
    for (size_t i = 0; i < plan->count; i++) {
        struct myr_path *path = &plan->paths[i];
        if (myr_colouring_path(colouring, first + (uint32_t)i, path)) {
            policy_add_load(plan->graph, plan->load, path, plan->flows[i].share, false);
        } else {
            path->count = 0;
        }
    }
}

/* Puts flows that have no path on the least loaded one. */
static void plan_lost(struct policy_plan *plan, const struct myr_balance_options *options)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct myr_flow *flow = &plan->flows[i];
        struct picker picker = picker_for(plan->graph, options, flow, plan->load);
        /* The colouring has found it one. */
        if (plan->paths[i].count > 0) {
            continue;
        }
        if (myr_path_find(plan->graph, flow->from_port, flow->to_port, pick, &picker,
                          &plan->paths[i])) {
            policy_add_load(plan->graph, plan->load, &plan->paths[i], flow->share, false);
        } else {
            plan->paths[i].count = 0;
        }
    }
}

/* Dead links leave a colouring short here and there: the last flows are looked at one by one. */
static void polish(struct policy_plan *plan)
{
    const struct myr_network *net = plan->graph->net;
    double bound = myr_load_bound(plan->graph, plan->flows, plan->count, false);
    /* A single flow at line rate is never too much for a link, whatever the bound says. */
    uint64_t one = MYR_LOAD_ONE * net->host_gbps / net->fabric_gbps;
    uint64_t most = (uint64_t)(bound * (double)MYR_LOAD_ONE + 0.5);
    policy_polish(plan, most > one ? most : one);
}

static void free_colouring(struct myr_colouring **colouring)
{
    myr_colouring_free(*colouring);
}

/* By colours where the fabric has any, then what is left over, then what is still too full. */
static void route_planned(const struct myr_graph *graph, const struct myr_balance_options *options,
                          const struct myr_flow *flows, size_t count, struct myr_routes *ret,
                          uint64_t *load)
{
    MYR_CLEANUP(free_colouring) struct myr_colouring *colouring = myr_colouring_create(graph);
    MYR_CLEANUP(myr_free_at)
    struct myr_path *paths = myr_xcalloc(count, sizeof(*paths));
    struct policy_plan plan = {graph, flows, count, paths, NULL};
    plan.load = load; /* what is written */
    if (colouring) {
        plan_by_colour(&plan, colouring);
    }
    /* All of them where no colouring is possible: no Clos, or one whose uplinks differ. */
    plan_lost(&plan, options);
    /* A search starts from something: the greedy paths. */
    if (!colouring) {
        policy_improve(&plan);
    }
    /* Dead links leave plans short of the bound. */
    if (graph->clos && graph->dead_count) {
        polish(&plan);
    }
    put_plan(&plan, ret);
}

int myr_balance(const struct myr_graph *graph, const struct myr_balance_options *options,
                const struct myr_flow *flows, size_t count, struct myr_routes *ret,
                uint64_t *ret_load, struct myr_err *err)
{
    /* Every flow may be several routes, each of several channels, and positions are 32 bits. */
    if (count > UINT32_MAX / 64) {
        return myr_err_set(err, MYR_ERANGE, "%zu flows are too many", count);
    }
    /* 'start' has one entry more than there are routes. */
    *ret = (struct myr_routes){};
    myr_vec_push(&ret->start, 0);
    if (options->policy == MYR_POLICY_PLANNED) {
        route_planned(graph, options, flows, count, ret, ret_load);
    } else if (options->policy == MYR_POLICY_SPRAY) {
        policy_spray(graph, flows, count, ret, ret_load);
    } else {
        route_by_hop(graph, options, flows, count, ret, ret_load);
    }
    MYR_ASSERT(ret->start.count == ret->flow.count + 1 && ret->weight.count == ret->flow.count);
    MYR_ASSERT(ret->start.items[ret->flow.count] == ret->channels.count);
    return MYR_OK;
}
