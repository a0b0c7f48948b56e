#include "size/clos.h"

#include <stdlib.h>

/*
 * What a ratio costs. Above a leaf stand as many switches as divide its uplinks (size_clos.c), and
 * fewer uplinks may divide badly: 375 servers at 1.2:1 have 29 of them, a prime, and needed 348
 * spines where 1:1 needs 96. But 1:1 has all that 1.2:1 asks for, and so has every split between.
 *
 * So the ratio is walked up from 1:1. At each ratio that some split of a leaf has, the fullest leaf
 * of that ratio is looked at; the walk goes on to it if it needs no more of anything, and stays
 * where it is if not. What a ratio gets is then no more than what any lower one gets, by
 * construction. Between two whole ratios leaves with free ports are looked at too, for these may
 * save much (150 hosts and 100 uplinks where 151 and 101 fit); but none that would need less than
 * the next whole ratio does, or that one could not have its full leaves.
 *
 * Counts decide, not prices: a design does not change with the price book.
 */

/* What a network is made of; no element may grow. */
struct parts_count {
    uint64_t switches[3]; /* by part, of the lowest tier that has it */
    uint64_t links, cables;
    uint64_t counted; /* cables as published tables have them: copper one for each link */
    uint64_t cages; /* of switches, each with a module; towards hosts an end of copper counts too */
};

/* Of leaves, what so many neighbouring host ports share: a cage, or a splitter. The last leaf, or
 * rail group, may be part empty. */
static uint64_t host_pieces(const struct net_plan *net, uint32_t ports_each)
{
    bool rails = has_rail_groups(net);
    uint64_t ports =
        rails ? (uint64_t)net->slots * net->ports_per_rail : (uint64_t)net->unit_endpoints;
    uint32_t down = net->out.leaf_down;
    uint64_t pieces =
        ports / down * ceil_div(down, ports_each) + ceil_div(ports % down, ports_each);
    return rails ? pieces * net->out.rails : pieces;
}

/* One layer between two tiers of a unit: 'up' ports of each of 'lower' switches. */
struct layer_count {
    enum myr_layer layer;
    uint64_t links;
    uint64_t lower, upper; /* switches at its ends */
    const struct myr_part_switch *lower_sw, *upper_sw;
};

/* Links are dealt out evenly. Copper needs no modules, and may have several links in one piece. */
static void add_layer(const struct plan *plan, const struct net_plan *net,
                      const struct layer_count *layer, struct parts_count *count)
{
    uint32_t gbps = net->out.fabric_gbps;
    uint32_t below = fits_straight_ports(layer->lower_sw, gbps);
    uint32_t above = fits_straight_ports(layer->upper_sw, gbps);
    bool copper;
    uint32_t each = plan_layer_links(plan, net, layer->layer, &copper);
    count->links += layer->links;
    count->cables += ceil_div(layer->links, each);
    count->counted += copper ? layer->links : ceil_div(layer->links, each);
    if (!copper) {
        count->cages += layer->lower * ceil_div(ceil_div(layer->links, layer->lower), below) +
                        layer->upper * ceil_div(ceil_div(layer->links, layer->upper), above);
    }
}

/* Of one unit, as all are equal. */
static struct parts_count count_parts(const struct plan *plan, const struct net_plan *net)
{
    const uint32_t parts[] = {net->leaf_part, net->spine_part, net->core_part};
    const uint32_t switches[] = {net->unit_leaves, net->unit_spines, net->unit_cores};
    uint32_t per_cage = myr_switch_ports_per_cage(net->leaf_sw, net->out.host_gbps);
    struct parts_count count = {.cages = host_pieces(net, per_cage),
                                .cables = host_pieces(net, net->splitter_legs)};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        size_t at = parts[i] == parts[0] ? 0 : parts[i] == parts[1] ? 1 : 2;
        count.switches[at] += switches[i];
    }
    struct layer_count fabric = {MYR_LAYER_FABRIC, plan_unit_uplinks(net), net->unit_leaves,
                                 net->unit_spines, net->leaf_sw,           net->spine_sw};
    add_layer(plan, net, &fabric, &count);
    if (net->out.tiers == 3) {
        uint64_t links = (uint64_t)net->unit_spines * net->out.spine_up;
        struct layer_count core = {MYR_LAYER_CORE,  links,         net->unit_spines,
                                   net->unit_cores, net->spine_sw, net->core_sw};
        add_layer(plan, net, &core, &count);
    }
    return count;
}

static bool needs_no_more(const struct parts_count *a, const struct parts_count *b)
{
    bool no_more = a->links <= b->links && a->cables <= b->cables && a->counted <= b->counted &&
                   a->cages <= b->cages;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(a->switches); i++) {
        no_more = no_more && a->switches[i] <= b->switches[i];
    }
    return no_more;
}

/* Where the walk is. */
struct walk {
    const struct plan *plan;
    struct net_plan fresh; /* nothing of it is sized */
    const struct tier_range *range;
    struct net_plan trial, best;
    struct parts_count count; /* of the best */
    struct parts_count least; /* below which it does not go */
    struct leaf_split last;   /* that was tried */
    bool any, with_free;      /* with_free: leaves with free ports too */
};

/* Leaves and their links alone are often too many already. */
static bool hopeless(const struct walk *walk, const struct leaf_split *split)
{
    const struct net_plan *net = &walk->trial;
    uint64_t leaves = net->unit_leaves;
    uint64_t total = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(walk->count.switches); i++) {
        total += walk->count.switches[i];
    }
    return walk->any && !spreads_hosts(net) &&
           (leaves >= total || leaves * split->up > walk->count.links);
}

/* Steps to this split if it needs no more than where the walk is; whether it stands there now. */
static bool step_to(struct walk *walk, struct leaf_split split)
{
    const struct myr_network *here = &walk->best.out;
    if (split.down == walk->last.down && split.up == walk->last.up) {
        return walk->any && here->leaf_down == split.down && here->leaf_up == split.up;
    }
    walk->last = split;
    walk->trial = walk->fresh;
    plan_count_leaves(&walk->trial, &split);
    if (hopeless(walk, &split) ||
        !plan_tiers_above(walk->plan, &walk->trial, &split, walk->range)) {
        return false;
    }
    struct parts_count count = count_parts(walk->plan, &walk->trial);
    if (!needs_no_more(&walk->least, &count) ||
        (walk->any && !needs_no_more(&count, &walk->count))) {
        return false;
    }
    walk->best = walk->trial;
    walk->count = count;
    walk->any = true;
    return true;
}

/* Speeds are the same for all, so that ports alone are compared. */
static int compare_ratios(const struct leaf_split *x, const struct leaf_split *y)
{
    uint64_t left = (uint64_t)x->down * y->up, right = (uint64_t)y->down * x->up;
    return (left > right) - (left < right);
}

/* By ratio, the most uplinks first where it is equal. */
static int by_ratio(const void *a, const void *b)
{
    const struct leaf_split *x = a, *y = b;
    int order = compare_ratios(x, y);
    return order ? order : (x->up < y->up) - (x->up > y->up);
}

/* All ways to split a leaf. */
struct splits {
    struct leaf_split *items;
    uint32_t count;
};

/* Not above the ratio, but for what its decimals are off by. */
static bool within(const struct net_plan *net, const struct leaf_split *split, double ratio)
{
    double down = (double)split->down * net->out.host_gbps;
    return down <= ratio * split->up * net->out.fabric_gbps * (1 + 1e-12);
}

/* Above 1:1 and up to the ratio, in its order. What the spec gives is the only number. */
static struct splits list_splits(struct myr_arena *arena, const struct net_plan *net, double ratio)
{
    const struct myr_spec_net *spec = net->spec;
    const struct myr_part_switch *sw = net->leaf_sw;
    uint32_t ports = spec->leaf_down ? 1 : myr_switch_radix(sw, net->out.host_gbps);
    uint32_t uplinks = spec->leaf_up ? 1 : fits_straight_radix(sw, net->out.fabric_gbps);
    struct splits all = {MYR_ARENA_NEW(arena, struct leaf_split, (size_t)ports * uplinks), 0};
    for (uint32_t u = 0; u < uplinks; u++) {
        for (uint32_t d = 0; d < ports; d++) {
            struct leaf_split split = {spec->leaf_down ? spec->leaf_down : d + 1,
                                       spec->leaf_up ? spec->leaf_up : u + 1};
            uint64_t gbps = (uint64_t)split.down * net->out.host_gbps;
            gbps += (uint64_t)split.up * net->out.fabric_gbps;
            if (!within(net, &split, 1) && within(net, &split, ratio) &&
                gbps <= (uint64_t)sw->cages * sw->cage_gbps) {
                all.items[all.count++] = split;
            }
        }
    }
    qsort(all.items, all.count, sizeof(*all.items), by_ratio);
    return all;
}

/* From one split to the last within the ratio; returns where the next begin. */
static uint32_t walk_to(struct walk *walk, const struct splits *all, uint32_t at, double ratio)
{
    const struct net_plan *net = &walk->fresh;
    while (at < all->count && within(net, &all->items[at], ratio)) {
        const struct leaf_split *first = &all->items[at];
        double here =
            (double)first->down * net->out.host_gbps / ((double)first->up * net->out.fabric_gbps);
        struct leaf_split full;
        bool done = plan_split_leaf(net, here, &full, NULL) == MYR_OK && step_to(walk, full);
        for (; at < all->count && compare_ratios(first, &all->items[at]) == 0; at++) {
            struct leaf_split split = all->items[at];
            /* Free ports may save something, but make no design that full leaves do not. */
            bool looks = !done && walk->with_free && walk->any;
            done = done || (looks && plan_leaf_takes(net, &split) && step_to(walk, split));
        }
    }
    return at;
}

/* From whole ratio to whole ratio, then to the one that is asked for. */
static void walk_all(struct walk *walk, const struct splits *all, double ratio)
{
    struct leaf_split even;
    uint32_t at = 0, whole = 1;
    if (plan_split_leaf(&walk->fresh, 1, &even, NULL) == MYR_OK) {
        (void)step_to(walk, even);
    }
    for (; whole + 1 <= ratio; whole++) {
        at = walk_to(walk, all, at, whole + 1);
    }
    if (whole < ratio) {
        /* What the next whole ratio gets is known before anything below it is chosen. */
        struct walk next = *walk;
        (void)walk_to(&next, all, at, whole + 1);
        walk->with_free = true;
        walk->least = next.count;
        walk->last = (struct leaf_split){};
        (void)walk_to(walk, all, at, ratio);
    }
}

/* Only where the asked ratio was left for a lower one. */
static void tell_walk(struct plan *plan, const struct net_plan *asked, const struct net_plan *net,
                      bool built)
{
    char wanted[32], taken[32];
    if (asked->out.leaf_down == net->out.leaf_down && asked->out.leaf_up == net->out.leaf_up) {
        return;
    }
    uint32_t fabrics = net->out.units * net->out.planes;
    uint64_t before = (uint64_t)asked->unit_leaves + asked->unit_spines + asked->unit_cores;
    uint64_t after = (uint64_t)net->unit_leaves + net->unit_spines + net->unit_cores;
    if (!built && net->spec->leaf_up) {
        plan_finding(plan, MYR_SEVERITY_INFO, "ratio-below-asked", myr_net_names[net->id],
                     "a lower 'leaf_up' leaves more ports for hosts",
                     "a leaf with 'leaf_up: %u' has no room for as many hosts as %g:1 allows; %u "
                     "are built",
                     net->out.leaf_up, net->oversubscription[0], net->out.leaf_down);
        return;
    }
    /* Of switches, links and modules one may be fewer where another is more. */
    const char *why = built ? myr_arena_printf(plan->arena,
                                               "need %s switches and more of something than a "
                                               "lower ratio does",
                                               myr_u64_grouped(before * fabrics, wanted))
                            : "carry too few hosts";
    plan_finding(plan, MYR_SEVERITY_INFO, "ratio-below-asked", myr_net_names[net->id],
                 "'leaf_down' and 'leaf_up' give the ports of a leaf as they are to be",
                 "%u hosts and %u uplinks on a leaf, as %g:1 has them, %s; %u and %u are built, "
                 "with %s",
                 asked->out.leaf_down, asked->out.leaf_up, net->oversubscription[0], why,
                 net->out.leaf_down, net->out.leaf_up, myr_u64_grouped(after * fabrics, taken));
}

bool plan_walk_ratios(struct plan *plan, struct net_plan *net, const struct tier_range *range,
                      const struct net_plan *asked, bool built)
{
    if (range->last < 2 || !plan_ratio_is_limit(net)) {
        return false;
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    myr_arena_init(&arena);
    struct walk *walk = MYR_ARENA_ONE(&arena, struct walk);
    double ratio = net->oversubscription[0];
    walk->plan = plan;
    walk->fresh = *net;
    walk->range = range;
    /* Not a single tier, whose leaves have no uplinks. */
    walk->fresh.out.tiers = range->first > 2 ? range->first : 2;
    struct splits all = list_splits(&arena, net, ratio + 1);
    walk_all(walk, &all, ratio);
    if (walk->any) {
        *net = walk->best;
        tell_walk(plan, asked, net, built);
    }
    return walk->any;
}
