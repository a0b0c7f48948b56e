#include <stdio.h>

#include "size/clos.h"

/*
 * Clos fabrics of one to three tiers, with or without rails.
 *
 * A unit is one independent fabric: a plane, or one rail of a plane in rail-only. All units of a
 * network are equal, so one is sized and multiplied.
 */

/* One switch, where the spec allows a single tier and all hosts find place on it. */
static bool size_one_tier(struct net_plan *net, const struct tier_range *range, struct myr_err *err,
                          int *ret_error)
{
    struct leaf_split split;
    net->out.tiers = 1;
    *ret_error = range->first > 1 ? MYR_OK : plan_split_leaf(net, 1, &split, err);
    if (range->first > 1 || *ret_error < 0) {
        return false;
    }
    net->unit_spines = net->unit_cores = 0;
    plan_count_leaves(net, &split);
    net->unit_pods = 1;
    net->out.pod_leaves = 1;
    return net->unit_leaves == 1;
}

/* Which numbers of pods there are around the one that was asked for, at its place. */
static int no_such_islands(const struct net_plan *net, struct myr_err *err)
{
    const struct myr_doc *at = myr_doc_get(net->node, "islands");
    uint32_t islands = net->spec->islands, step = plan_pod_step(net), leaves = net->unit_leaves;
    char total[32];
    myr_u64_grouped(leaves, total);
    if (net->spec->pod_leaves) {
        uint32_t pods = ceil_div(leaves, net->spec->pod_leaves);
        return myr_doc_error(err, at, MYR_EINVAL,
                             "'islands' is %u, and %s %s in pods of %u, as 'pod_leaves' has them, "
                             "make %u",
                             islands, total, leaves == 1 ? "leaf" : "leaves", net->spec->pod_leaves,
                             pods);
    }
    /* The pods next in size on either side; above the number of steps there is nothing. */
    uint32_t below = plan_pods_for(net, islands), above = islands + 1;
    while (above <= ceil_div(leaves, step) && plan_pods_for(net, above) != above) {
        above++;
    }
    char or_above[32] = "";
    if (above <= ceil_div(leaves, step)) {
        snprintf(or_above, sizeof(or_above), " or %u", above);
    }
    return myr_doc_error(err, at, MYR_EINVAL,
                         "'islands' is %u, %u%s is expected: %s %s in steps of %u cannot be cut "
                         "into %u alike",
                         islands, below, or_above, total, leaves == 1 ? "leaf" : "leaves", step,
                         islands);
}

/* Told by what the spec gave: pods, islands, tiers, else the largest number of tiers. */
static int too_big(const struct plan *plan, const struct net_plan *net, struct myr_err *err)
{
    uint32_t radix = myr_switch_radix(net->leaf_sw, net->out.host_gbps);
    char grouped[32];
    /* What is simply a wrong multiple is told first. */
    if (net->spec->pod_leaves % plan_pod_step(net)) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "'pod_leaves' is %u, a multiple of %u is expected",
                             net->spec->pod_leaves, plan_pod_step(net));
    }
    if (net->spec->islands && net->out.tiers == 3 && !plan_cuts_into_islands(net)) {
        return no_such_islands(net, err);
    }
    /* What an island of more than two tiers would need is a fourth. */
    const char *cut = net->spec->pod_leaves ? " of such pods"
                      : !net->spec->islands ? ""
                      : net->spec->tiers    ? " of such islands"
                                         : " of such islands, each of two tiers below the cores,";
    int rc = myr_doc_error(
        err, net->node, MYR_EINVAL,
        "%s host ports in one fabric%s cannot be built with %s%u tier%s of '%s' (%u ports of %u "
        "Gb/s) at oversubscription %g",
        myr_u64_grouped(net->unit_endpoints, grouped), cut, net->spec->tiers ? "" : "up to ",
        net->spec->tiers ? net->spec->tiers : MYR_SPEC_TIERS_MAX, net->spec->tiers == 1 ? "" : "s",
        part_at(plan, net->leaf_part)->id, radix, net->out.host_gbps, net->oversubscription[0]);
    myr_err_hint(err, "a switch with more ports, planes: 2, topology: rail-only, or a larger "
                      "oversubscription makes room");
    return rc;
}

/* From one unit to the network, and what is said of it. */
static void finish(struct plan *plan, struct net_plan *net)
{
    struct myr_network *out = &net->out;
    uint32_t fabrics = out->units * out->planes;
    out->leaf = net->unit_leaves * fabrics;
    out->spine = net->unit_spines * fabrics;
    out->core = net->unit_cores * fabrics;
    out->pods = net->unit_pods;
    out->core_groups = out->tiers == 3 ? out->pod_spines : 0;
    /* Up through all tiers and down again. */
    out->diameter_hops = (out->tiers - 1) * 2;
    plan_state_clos(plan, net);
    /* Counted before anything is built: wire.c lays exactly so many. */
    uint64_t links = (uint64_t)net->endpoints * out->planes + plan_unit_uplinks(net) * fabrics;
    if (out->tiers == 3) {
        links += (uint64_t)out->spine * out->spine_up;
    }
    net->link_total = links;
    if (out->tiers == 3 && net->unit_leaves % out->pod_leaves) {
        plan_finding(plan, MYR_SEVERITY_INFO, "partial-pod", myr_net_names[net->id],
                     "a number of servers that fills whole pods is even",
                     "the last pod has %u of %u leaves, and %s", net->unit_leaves % out->pod_leaves,
                     out->pod_leaves,
                     out->pod_spines == 1
                         ? "its one spine"
                         : myr_arena_printf(plan->arena, "all its %u spines", out->pod_spines));
    }
}

/* A key of the spec that needs more tiers than there are. */
static int unused_key(struct plan *plan, const struct net_plan *net, const char *key,
                      uint32_t needs, struct myr_err *err)
{
    uint32_t tiers = net->out.tiers;
    if (net->spec->tiers) {
        int rc = myr_doc_error(err, net->node, MYR_EINVAL, "%s is for %u tiers, but 'tiers' is %u",
                               key, needs, tiers);
        myr_err_hint(err, "tiers: %u, or leave %s out", needs, key);
        return rc;
    }
    plan_finding(plan, MYR_SEVERITY_WARNING, "key-unused", myr_net_names[net->id],
                 "leave it out, or ask for the tier with 'tiers'",
                 "%s is for %u tiers; the network needs %u and has no more", key, needs, tiers);
    return MYR_OK;
}

/* What the spec says about tiers that are not built must not be lost in silence. */
static int check_keys(struct plan *plan, const struct net_plan *net, struct myr_err *err)
{
    const struct myr_spec_net *spec = net->spec;
    const struct {
        const char *key;
        uint32_t needs;
        bool given;
    } keys[] = {
        /* A ratio of 1:1 is no wish: it is what one gets. */
        {"'spine_switch'", 2, spec->spine_switch != MYR_PART_NONE},
        {"'leaf_up'", 2, spec->leaf_up > 0},
        {"'oversubscription'", 2,
         spec->oversubscription_count > 0 && spec->oversubscription[0] > 1},
        {"'core_switch'", 3, spec->core_switch != MYR_PART_NONE},
        {"the second 'oversubscription'", 3,
         spec->oversubscription_count > 1 && spec->oversubscription[1] > 1},
        {"'islands'", 3, spec->islands > 0},
        {"'pod_leaves'", 3, spec->pod_leaves > 0},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        if (keys[i].given && keys[i].needs > net->out.tiers) {
            MYR_TRY(unused_key(plan, net, keys[i].key, keys[i].needs, err));
        }
    }
    /* The ports of a leaf are more than its ratio: they win, and that is said. */
    double made = net->out.oversubscription_milli[0] / 1000.0;
    if (net->out.tiers > 1 && spec->leaf_down && spec->leaf_up && spec->oversubscription_count &&
        (made > spec->oversubscription[0] * 1.01 || made < spec->oversubscription[0] * 0.99)) {
        plan_finding(plan, MYR_SEVERITY_WARNING, "key-unused", myr_net_names[net->id],
                     "leave 'oversubscription' out, or one of the two",
                     "'oversubscription' is %g, but 'leaf_down' and 'leaf_up' make %g:1",
                     spec->oversubscription[0], made);
    }
    return MYR_OK;
}

/* Sized for the ratio itself. An error: it cannot be built, and why; 'ret_split': a leaf could. */
static int size_asked(const struct plan *plan, struct net_plan *net, const struct tier_range *range,
                      bool *ret_split, struct myr_err *err)
{
    struct leaf_split split;
    int rc;
    *ret_split = false;
    if (size_one_tier(net, range, err, &rc)) {
        return MYR_OK;
    }
    MYR_TRY(rc);
    if (range->last > 1) {
        net->out.tiers = range->first > 2 ? range->first : 2;
        /* With the uplinks given, a lower ratio may still find room for its hosts. */
        *ret_split = net->spec->leaf_up && net->oversubscription[0] > 1;
        MYR_TRY(plan_split_leaf(net, net->oversubscription[0], &split, err));
        *ret_split = true;
        if (plan_tiers_above(plan, net, &split, range)) {
            return MYR_OK;
        }
    }
    return too_big(plan, net, err);
}

/* The fewest tiers that carry it, from the least that the spec allows. Rails need spines to join
 * them, islands and pods a third tier. */
int plan_size_clos(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    const struct myr_spec_net *spec = net->spec;
    const bool may_be_one = net->out.topology != MYR_TOPOLOGY_RAIL;
    struct tier_range range = {
        .first = spec->tiers                         ? spec->tiers
                 : spec->islands || spec->pod_leaves ? 3
                 : may_be_one                        ? 1
                                                     : 2,
        .last = spec->tiers ? spec->tiers : MYR_SPEC_TIERS_MAX,
    };
    plan_host_slots(net);
    struct net_plan asked = *net;
    struct myr_err refusal = {};
    bool split;
    int rc = size_asked(plan, &asked, &range, &split, &refusal);
    /* Where no fabric of such leaves is large enough, one of a lower ratio may be. */
    bool walked = split && plan_walk_ratios(plan, net, &range, &asked, rc == MYR_OK);
    if (!walked && rc < 0) {
        *net = asked;
        if (err) {
            *err = refusal;
        }
        return rc;
    }
    *net = walked ? *net : asked;
    finish(plan, net);
    MYR_TRY(check_keys(plan, net, err));
    return net->link_total > PLAN_LINKS_MAX
               ? myr_doc_error(err, net->node, MYR_ERANGE,
                               "%llu links are more than one design may have (%u)",
                               (unsigned long long)net->link_total, PLAN_LINKS_MAX)
               : MYR_OK;
}
