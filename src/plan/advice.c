#include "fits.h"

/*
 * Plain advice: what one key of the spec would change for the better, tried by sizing the spec with
 * that key changed. It is said as information; nothing is decided by it.
 */

/* Of tiers that advice is about; access networks are not tried. */
static uint32_t switches_of(const struct plan *plan, enum myr_net_id id)
{
    const struct myr_network *out = &plan->nets[id].out;
    return out->leaf + out->spine + out->core;
}

/*
 * Sizes a changed spec; 0 switches where it cannot be built. 'ret' is the network that came out. A
 * plan of its own in an arena of its own: neither findings nor strings of the trial reach the real
 * one. Its first string is the empty one, for offset 0 means that everywhere.
 */
static uint32_t sized(const struct plan *plan, const struct myr_spec *spec, enum myr_net_id id,
                      struct myr_network *ret)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_err err = {};
    myr_arena_init(&arena);
    struct plan *trial = MYR_ARENA_ONE(&arena, struct plan);
    trial->arena = &arena;
    trial->catalog = plan->catalog;
    trial->spec = spec;
    (void)plan_string(trial, "");
    uint32_t switches = plan_size(trial, &err) == MYR_OK ? switches_of(trial, id) : 0;
    *ret = trial->nets[id].out;
    plan_release(trial);
    return switches;
}

/*
 * Regular fills take whole divisors: a dense one may do with fewer switches above the leaves.
 * docs/decisions/0005 has what that saves and costs: 784 cores instead of 1,024 at 100,352 GPUs.
 */
static void advise_fill(struct plan *plan)
{
    const struct myr_network *out = &plan->nets[MYR_NET_COMPUTE].out;
    struct myr_spec trial = *plan->spec;
    struct myr_network dense;
    trial.nets[MYR_NET_COMPUTE].fill = MYR_FILL_DENSE;
    if (out->fill != MYR_FILL_REGULAR || out->tiers < 2) {
        return;
    }
    uint32_t fewer = sized(plan, &trial, MYR_NET_COMPUTE, &dense);
    /* Not to be built, or nothing gained. */
    if (fewer == 0 || fewer >= switches_of(plan, MYR_NET_COMPUTE) ||
        (dense.core >= out->core && dense.spine >= out->spine)) {
        return;
    }
    /* The tier that shrinks is named: the cores where there are fewer, else the spines. */
    bool core = dense.core < out->core;
    plan_finding(plan, MYR_SEVERITY_INFO, "advice-fill", "compute",
                 "'fill: dense', where pairs with one link more or less do no harm",
                 "'fill: dense' needs %u %s switches instead of %u",
                 core ? dense.core : dense.spine, core ? "core" : "spine",
                 core ? out->core : out->spine);
}

/* A third tier that nobody needs costs switches, modules and hops. */
static void advise_tiers(struct plan *plan)
{
    const struct myr_network *out = &plan->nets[MYR_NET_COMPUTE].out;
    struct myr_spec trial = *plan->spec;
    struct myr_network two;
    if (out->tiers != 3 || out->topology == MYR_TOPOLOGY_ACCESS) {
        return;
    }
    trial.nets[MYR_NET_COMPUTE].tiers = 2;
    /* Both say how pods are cut, and there are none with two tiers. */
    trial.nets[MYR_NET_COMPUTE].islands = trial.nets[MYR_NET_COMPUTE].pod_leaves = 0;
    uint32_t fewer = sized(plan, &trial, MYR_NET_COMPUTE, &two);
    if (fewer > 0 && fewer < switches_of(plan, MYR_NET_COMPUTE)) {
        plan_finding(plan, MYR_SEVERITY_INFO, "advice-tiers", "compute",
                     "'tiers: 2', where islands are not wanted for their own sake",
                     "'tiers: 2' carries all hosts with %u switches instead of %u", fewer,
                     switches_of(plan, MYR_NET_COMPUTE));
    }
}

/* How large a pod could be: what a spine has left below its uplinks, one link to each leaf. */
static void advise_islands(struct plan *plan)
{
    const struct net_plan *net = &plan->nets[MYR_NET_COMPUTE];
    const struct myr_network *out = &net->out;
    if (out->tiers != 3 || !net->spec->islands) {
        return;
    }
    double ratio = net->oversubscription[1] > 0 ? net->oversubscription[1] : 1;
    uint32_t radix = fits_straight_radix(net->spine_sw, out->fabric_gbps);
    /* Rounded up, but not by what the division in floating point adds to a whole number. */
    uint32_t up = (uint32_t)((double)radix / (1 + ratio) + 0.999999);
    /* Pods are built of whole rail groups, without rails of a node's ports. */
    uint32_t most = radix - up, step = has_rail_groups(net) ? out->rails : net->nic_ports;
    if (most % step == 0) {
        plan_finding(
            plan, MYR_SEVERITY_INFO, "advice-island", "compute", "fewer islands, up to that size",
            "the largest island of these switches is %s at %g:1 above it, %u %s used",
            MYR_COUNT(most, "leaf"), ratio, out->pod_leaves, out->pod_leaves == 1 ? "is" : "are");
        return;
    }
    plan_finding(plan, MYR_SEVERITY_INFO, "advice-island", "compute",
                 "fewer islands, up to that size",
                 "the largest island of these switches is %s at %g:1 above it, %u in steps of %u; "
                 "%u %s used",
                 MYR_COUNT(most, "leaf"), ratio, most / step * step, step, out->pod_leaves,
                 out->pod_leaves == 1 ? "is" : "are");
}

/* What all switches of a network could switch together, were they of this part. */
static uint64_t capacity(const struct myr_part *part, uint32_t switches)
{
    return (uint64_t)switches * part->sw.cages * part->sw.cage_gbps;
}

/* Whether the network could be built of this one as it could of the one that is taken. */
static bool could_be(struct plan *plan, const struct net_plan *net, uint32_t part)
{
    const struct myr_part *other = part_at(plan, part);
    return other->kind == MYR_PART_SWITCH && part != net->leaf_part &&
           other->sw.technology == net->leaf_sw->technology &&
           myr_switch_radix(&other->sw, net->out.host_gbps) > 0 &&
           plan_card_joins(plan, net, net->hosts[0].nic_part, part);
}

/*
 * A switch that the spec leaves open is the first of the catalogue that fits. Where another of its
 * kind would do with half of them or fewer, and with less to switch by in all (a chassis counts
 * for as many boxes as are in it), that is no matter of taste, and is said.
 */
static void advise_switch(struct plan *plan, enum myr_net_id id)
{
    const struct net_plan *net = &plan->nets[id];
    struct myr_spec trial = *plan->spec;
    struct myr_network other, taken = {};
    uint32_t built = switches_of(plan, id), fewest = 0, best = MYR_PART_NONE;
    if (!net->present || !net->leaf_sw || net->spec->switch_part != MYR_PART_NONE) {
        return;
    }
    uint64_t least = capacity(part_at(plan, net->leaf_part), built);
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        trial.nets[id].switch_part = i;
        uint32_t switches = could_be(plan, net, i) ? sized(plan, &trial, id, &other) : 0;
        if (switches > 0 && switches <= built / 2 && capacity(part_at(plan, i), switches) < least) {
            least = capacity(part_at(plan, i), switches);
            fewest = switches;
            best = i;
            taken = other;
        }
    }
    if (best != MYR_PART_NONE) {
        plan_finding(plan, MYR_SEVERITY_INFO, "advice-switch", myr_net_names[id],
                     myr_arena_printf(plan->arena, "switch: %s, or name the one that is meant",
                                      part_at(plan, best)->id),
                     "no 'switch' is given: %u of '%s' are planned, in %u tiers; of '%s' %u are "
                     "enough, in %u",
                     built, part_at(plan, net->leaf_part)->id, net->out.tiers,
                     part_at(plan, best)->id, fewest, taken.tiers);
    }
}

void plan_advice(struct plan *plan)
{
    advise_switch(plan, MYR_NET_STORAGE);
    if (!plan->nets[MYR_NET_COMPUTE].present) {
        return;
    }
    advise_switch(plan, MYR_NET_COMPUTE);
    advise_fill(plan);
    advise_tiers(plan);
    advise_islands(plan);
}
