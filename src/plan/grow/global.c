#include "grow/grow_internal.h"

/*
 * Links between the groups of a dragonfly. A pair of groups has so many, each switch so many global
 * ports; at which of its switches a group holds them is free. So all those stay that a pair still
 * has in the larger design, and new ones go to the switches with the most free ports.
 */

struct groups {
    const struct grow *grow;
    uint32_t first, size, count; /* first switch with global ports, switches of a group, groups */
    uint32_t *ports;             /* global ports that are left, by switch */
};

static uint32_t group_of(const struct groups *groups, uint32_t device)
{
    return (device - groups->first) / groups->size;
}

/* Takes one of its ports. Of equals the first. */
static uint32_t freest(const struct groups *groups, uint32_t group)
{
    uint32_t best = group * groups->size;
    for (uint32_t i = 0; i < groups->size; i++) {
        uint32_t at = group * groups->size + i;
        best = groups->ports[at] > groups->ports[best] ? at : best;
    }
    MYR_ASSERT(groups->ports[best] > 0);
    groups->ports[best]--;
    return groups->first + best;
}

/* Pairs in one direction: the lower group first. */
static uint32_t pair_of(const struct groups *groups, uint32_t a, uint32_t b)
{
    uint32_t left = group_of(groups, a), right = group_of(groups, b);
    return left < right ? left * groups->count + right : right * groups->count + left;
}

/*
 * Takes from each pair's wanted links those that an installed one is; spread over what there was,
 * so that no switch loses all of its. Passed twice: first how many each pair has, then which of
 * them stay.
 */
static void take_installed(struct groups *groups, enum myr_net_id net, uint32_t *wanted,
                           struct grow_link *ret, uint32_t *ret_count, struct myr_arena *scratch)
{
    const struct grow *grow = groups->grow;
    const struct myr_design *old = grow->old;
    uint32_t pairs = groups->count * groups->count;
    uint32_t *have = MYR_ARENA_NEW(scratch, uint32_t, pairs);
    uint32_t *passed = MYR_ARENA_NEW(scratch, uint32_t, pairs);
    uint32_t *planned = MYR_ARENA_NEW(scratch, uint32_t, pairs);
    memcpy(planned, wanted, pairs * sizeof(*planned));
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t l = 0; l < old->link_count; l++) {
            const struct myr_cabletype *type = grow_type(old, old->link_cable[l]);
            if (type->net != net || type->layer != MYR_LAYER_GLOBAL ||
                grow_port(grow, old->link_a[l]) == MYR_NONE ||
                grow_port(grow, old->link_b[l]) == MYR_NONE) {
                continue;
            }
            uint32_t a = grow->to[old->port_device[old->link_a[l]]];
            uint32_t b = grow->to[old->port_device[old->link_b[l]]];
            uint32_t pair = pair_of(groups, a, b);
            if (pass == 0) {
                have[pair]++;
                continue;
            }
            /* As many as the pair has in the larger design, at most. */
            uint32_t keep = have[pair] < planned[pair] ? have[pair] : planned[pair];
            uint64_t at = passed[pair]++;
            /* Of 'have' links 'keep' stay, as evenly over them as whole numbers allow. */
            if ((at + 1) * keep / have[pair] > at * keep / have[pair]) {
                wanted[pair]--;
                groups->ports[a - groups->first]--;
                groups->ports[b - groups->first]--;
                ret[(*ret_count)++] = (struct grow_link){a, b, MYR_NONE, MYR_NONE, MYR_NONE};
            }
        }
    }
}

/* Fills 'links' anew: the ends of the planned ones are only counted by pairs of groups. */
void grow_global(struct grow *grow, enum myr_net_id net_id, struct grow_link *links, uint32_t count)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    const struct myr_network *net = &grow->plan->networks[net_id];
    bool plus = net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    struct groups groups = {.grow = grow,
                            .first = plus ? net->first_spine : net->first_leaf,
                            .size = net->group_switches,
                            .count = net->groups};
    uint32_t switches = groups.size * groups.count, laid = 0;
    groups.ports = MYR_ARENA_NEW(&scratch, uint32_t, switches);
    for (uint32_t i = 0; i < switches; i++) {
        groups.ports[i] = plus ? net->spine_up : net->leaf_up;
    }
    uint32_t *wanted = MYR_ARENA_NEW(&scratch, uint32_t, groups.count * groups.count);
    for (uint32_t l = 0; l < count; l++) {
        wanted[pair_of(&groups, links[l].a, links[l].b)]++;
    }
    if (grow->old->networks[net_id].topology) {
        take_installed(&groups, net_id, wanted, links, &laid, &scratch);
    }
    for (uint32_t a = 0; a < groups.count; a++) {
        for (uint32_t b = a + 1; b < groups.count; b++) {
            for (; wanted[a * groups.count + b] > 0; wanted[a * groups.count + b]--) {
                uint32_t left = freest(&groups, a), right = freest(&groups, b);
                links[laid++] = (struct grow_link){left, right, MYR_NONE, MYR_NONE, MYR_NONE};
            }
        }
    }
    MYR_ASSERT(laid == count);
}
