#include "fits.h"

/*
 * Plain advice: what one key of the spec would change for the better, tried by sizing the spec with
 * that key changed. It is said as information; nothing is decided by it.
 */

/* Of tiers that advice is about; access networks are not tried. */
static uint32_t switches_of(const struct plan *plan)
{
    const struct myr_network *out = &plan->nets[MYR_NET_COMPUTE].out;
    return out->leaf + out->spine + out->core;
}

/*
 * Sizes a changed spec; 0 switches where it cannot be built. 'ret' is the network that came out. A
 * plan of its own in an arena of its own: neither findings nor strings of the trial reach the real
 * one. Its first string is the empty one, for offset 0 means that everywhere.
 */
static uint32_t sized(const struct plan *plan, const struct myr_spec *spec, struct myr_network *ret)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_err err = {};
    myr_arena_init(&arena);
    struct plan *trial = MYR_ARENA_ONE(&arena, struct plan);
    trial->arena = &arena;
    trial->catalog = plan->catalog;
    trial->spec = spec;
    (void)plan_string(trial, "");
    uint32_t switches = plan_size(trial, &err) == MYR_OK ? switches_of(trial) : 0;
    *ret = trial->nets[MYR_NET_COMPUTE].out;
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
    uint32_t fewer = sized(plan, &trial, &dense);
    /* Not to be built, or nothing gained. */
    if (fewer == 0 || fewer >= switches_of(plan)) {
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
    uint32_t fewer = sized(plan, &trial, &two);
    if (fewer > 0 && fewer < switches_of(plan)) {
        plan_finding(plan, MYR_SEVERITY_INFO, "advice-tiers", "compute",
                     "'tiers: 2', where islands are not wanted for their own sake",
                     "'tiers: 2' carries all hosts with %u switches instead of %u", fewer,
                     switches_of(plan));
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

void plan_advice(struct plan *plan)
{
    if (!plan->nets[MYR_NET_COMPUTE].present) {
        return;
    }
    advise_fill(plan);
    advise_tiers(plan);
    advise_islands(plan);
}
