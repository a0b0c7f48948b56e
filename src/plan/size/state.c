#include "fits.h"

/*
 * What is stated about a Clos fabric once it is sized: pairs, bisection, ratios, rules. Figures are
 * computed from counts alone, by closed form; rules and inputs are the texts that the bill and
 * 'explain' show for each tier.
 */

/* Bandwidth between two pods (or leaves) over one group of switches above, worst pair. */
static uint64_t worst_pair(uint32_t pods, uint32_t up, uint32_t above)
{
    uint64_t worst = up;
    MYR_ASSERT(above > 0);
    for (uint32_t other = 1; other < pods; other++) {
        /* Pod j starts at (j * up) mod above: only the distance between two starts matters. */
        uint32_t shift = (uint32_t)(other * (uint64_t)up % above);
        uint64_t shared = 0;
        for (uint32_t i = 0; i < above; i++) {
            /* The first switches from where the pod begins have one link more. */
            uint32_t mine = up / above + (i < up % above);
            uint32_t place = (i + above - shift) % above;
            uint32_t theirs = up / above + (place < up % above);
            shared += mine < theirs ? mine : theirs;
        }
        worst = shared < worst ? shared : worst;
    }
    return worst;
}

/* What two pods, or two leaves, have between them; dense fills may leave a pair less. */
static void state_pairs(struct plan *plan, struct net_plan *net)
{
    uint32_t gbps = net->out.fabric_gbps;
    if (net->out.tiers == 3) {
        /* Pod spines times uplinks: all that leaves a pod. */
        uint64_t full = (uint64_t)net->out.spine_up * net->out.pod_spines * gbps;
        net->out.full_pair_gbps = full;
        net->out.worst_pair_gbps = full;
        if (net->out.fill == MYR_FILL_DENSE && net->unit_pods > 1) {
            net->out.worst_pair_gbps =
                worst_pair(net->unit_pods, net->out.spine_up, net->out.group_cores) *
                net->out.pod_spines * gbps;
        }
    } else if (net->out.tiers == 2) {
        uint64_t full = (uint64_t)plan_leaf_uplinks(net, 0) * gbps;
        net->out.full_pair_gbps = net->out.worst_pair_gbps = full;
        if (net->out.fill == MYR_FILL_DENSE && net->unit_leaves > 1) {
            /* The last leaf has the fewest hosts and so the fewest uplinks. */
            uint32_t up = plan_leaf_uplinks(net, net->unit_leaves - 1);
            net->out.worst_pair_gbps = worst_pair(net->unit_leaves, up, net->unit_spines) * gbps;
        }
    }
    /* Only a dense fill can be uneven, and only where the numbers do not divide. */
    if (net->out.worst_pair_gbps < net->out.full_pair_gbps) {
        char worst[32], full[32];
        plan_finding(plan, MYR_SEVERITY_INFO, "uneven-fill", myr_net_names[net->id],
                     "fill: regular gives every pair the same",
                     "dense fill: the worst pair of %s has %s Gb/s, an even fill would give %s",
                     net->out.tiers == 3 ? "pods" : "leaves",
                     myr_u64_grouped(net->out.worst_pair_gbps, worst),
                     myr_u64_grouped(net->out.full_pair_gbps, full));
    }
}

/* The least capacity over the cuts that halve the hosts: at the hosts, above leaves, above spines.
 */
static void state_bisection(struct net_plan *net)
{
    uint64_t units = (uint64_t)net->out.units * net->out.planes;
    uint64_t hosts = (uint64_t)net->endpoints * net->out.planes * net->out.host_gbps;
    uint64_t least = hosts;
    /* Each tier is a cut by itself; the thinnest one decides. */
    if (net->out.tiers >= 2) {
        uint64_t leaves = plan_unit_uplinks(net) * units * net->out.fabric_gbps;
        least = leaves < least ? leaves : least;
    }
    if (net->out.tiers == 3) {
        uint64_t spines =
            (uint64_t)net->unit_spines * net->out.spine_up * units * net->out.fabric_gbps;
        least = spines < least ? spines : least;
    }
    net->out.bisection_gbps = least / 2;
}

/* As built, at a full switch, in thousandths and rounded. */
static void state_ratios(struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    if (out->tiers >= 2) {
        uint64_t down = (uint64_t)plan_leaf_hosts(net, 0) * out->host_gbps * 1000;
        uint64_t up = (uint64_t)plan_leaf_uplinks(net, 0) * out->fabric_gbps;
        net->out.oversubscription_milli[0] = (uint32_t)((down + up / 2) / up);
    }
    if (out->tiers == 3) {
        net->out.oversubscription_milli[1] =
            (uint32_t)(((uint64_t)out->spine_down * 1000 + out->spine_up / 2) / out->spine_up);
    }
}

/* The rules as the bill and 'explain' show them, with the numbers of this network. */
static void explain(struct plan *plan, struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    struct myr_arena *arena = plan->arena;
    /* Said only where there are several fabrics. */
    const char *times =
        out->planes * out->units > 1
            ? myr_arena_printf(arena, " * %u planes * %u units", out->planes, out->units)
            : "";
    if (has_rail_groups(net)) {
        net->rule[MYR_DEVICE_LEAF] = "rails * ceil(nodes / nodes of a rail group)";
        net->inputs[MYR_DEVICE_LEAF] =
            myr_arena_printf(arena, "%u rails * ceil(%u / %u)%s = %u", out->rails, net->slots,
                             out->group_nodes, times, out->leaf);
    } else {
        net->rule[MYR_DEVICE_LEAF] = "ceil(host ports / down ports of a leaf)";
        net->inputs[MYR_DEVICE_LEAF] = myr_arena_printf(
            arena, "ceil(%u / %u)%s = %u", net->unit_endpoints, out->leaf_down, times, out->leaf);
    }
    /* One tier has leaves alone. */
    uint32_t spine_radix = fits_straight_radix(net->spine_sw, out->fabric_gbps);
    if (out->tiers == 2) {
        bool dense = out->fill == MYR_FILL_DENSE;
        net->rule[MYR_DEVICE_SPINE] =
            dense ? "ceil(leaf uplinks / ports of a spine)"
                  : "smallest divisor of a leaf's uplinks >= ceil(leaf uplinks / ports of a spine)";
        net->inputs[MYR_DEVICE_SPINE] = myr_arena_printf(
            arena, "uplinks of a leaf=%u, ceil(%llu / %u)%s = %u", out->leaf_up,
            (unsigned long long)plan_unit_uplinks(net), spine_radix, times, out->spine);
    } else if (out->tiers == 3) {
        /* The least number of cores is shown beside the divisor that was taken. */
        net->rule[MYR_DEVICE_SPINE] =
            "pods * smallest divisor of a leaf's uplinks whose spines can carry the pod";
        net->inputs[MYR_DEVICE_SPINE] =
            myr_arena_printf(arena, "%u pods of %u leaves * %u spines%s = %u", net->unit_pods,
                             out->pod_leaves, out->pod_spines, times, out->spine);
        net->rule[MYR_DEVICE_CORE] =
            out->fill == MYR_FILL_DENSE
                ? "core groups * ceil(pods * spine uplinks / ports of a core)"
                : "core groups * smallest divisor of a spine's uplinks >= ceil(pods * uplinks / "
                  "ports of a core)";
        net->inputs[MYR_DEVICE_CORE] = myr_arena_printf(
            arena, "%u groups * %u (ceil(%u * %u / %u) = %u)%s = %u", out->core_groups,
            out->group_cores, net->unit_pods, out->spine_up, out->core_down,
            ceil_div((uint64_t)net->unit_pods * out->spine_up, out->core_down), times, out->core);
    }
}

/* The bisection here is by whole tiers; plugged.c measures the flow over the finished cables and
 * replaces it. */
void plan_state_clos(struct plan *plan, struct net_plan *net)
{
    state_pairs(plan, net);
    state_bisection(net);
    state_ratios(net);
    explain(plan, net);
}
