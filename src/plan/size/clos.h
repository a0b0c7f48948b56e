/*
 * clos: how the ports of a leaf are split into hosts and uplinks. What stands above a leaf hangs on
 * the divisors of its uplinks, so that a split with fewer uplinks may need far more switches.
 */
#pragma once

#include "fits.h"

/* Ports of a leaf. */
struct leaf_split {
    uint32_t down, up;
};

/* The tiers that may be built. */
struct tier_range {
    uint32_t first, last;
};

/* The fullest leaf with at most 'ratio' hosts for an uplink, or as the spec gives its ports. An
 * error: no such leaf can be cabled. */
MYR_MUST_USE int plan_split_leaf(const struct net_plan *net, double ratio, struct leaf_split *ret,
                                 struct myr_err *err);
/* Rounds the hosts down to whole nodes; whether such a leaf can be cabled. */
bool plan_leaf_takes(const struct net_plan *net, struct leaf_split *split);

/* Leaves of one unit that are split so; net->out has the split. */
void plan_count_leaves(struct net_plan *net, const struct leaf_split *split);
/* Two or three tiers above such leaves, the fewest that carry it; false: none in the range does. */
bool plan_tiers_above(const struct plan *plan, struct net_plan *net, const struct leaf_split *split,
                      const struct tier_range *range);

/* Of a number, from 'at_least' on; 0: none. Uplinks are a few hundred at most, so trying them all
 * costs nothing. */
uint32_t plan_smallest_divisor(uint32_t number, uint32_t at_least);
/* Leaves by which pods grow; how many pods there are at the most if so many are wanted; whether the
 * leaves make as many islands as the spec wants. */
uint32_t plan_pod_step(const struct net_plan *net);
uint32_t plan_pods_for(const struct net_plan *net, uint32_t wanted);
bool plan_cuts_into_islands(const struct net_plan *net);

/* Ratios of 1:1 and below are what they are; so is a leaf of which the spec gives all ports. */
static inline bool plan_ratio_is_limit(const struct net_plan *net)
{
    const struct myr_spec_net *spec = net->spec;
    return net->oversubscription[0] > 1 && !(spec->leaf_down && spec->leaf_up);
}

/*
 * A ratio is a limit: what has no more than was asked is as good. Of all splits up to the ratio
 * this takes one that needs no more switches, links or modules than any lower ratio did, so that
 * asking for less never costs more. 'asked' is what was sized for the ratio itself, as far as it
 * came; 'built': it can be. False: 'net' is left alone, as the ratio is no limit here, or there is
 * nothing to be built.
 */
bool plan_walk_ratios(struct plan *plan, struct net_plan *net, const struct tier_range *range,
                      const struct net_plan *asked, bool built);
