#include "grow/grow_internal.h"

/* The order of growing. Everything is decided on the two designs; no file is touched. */

/* A cable has at least one link, so there is room for all of them. */
static void begin(struct grow *grow)
{
    struct myr_arena *arena = grow->arena;
    grow->to = MYR_ARENA_NEW(arena, uint32_t, grow->old->device_count);
    grow->from = MYR_ARENA_NEW(arena, uint32_t, grow->plan->device_count);
    grow->links = MYR_ARENA_NEW(arena, struct grow_link, grow->plan->link_count);
    grow->cables = MYR_ARENA_NEW(arena, struct grow_cable, grow->plan->link_count);
    grow->port_taken = MYR_ARENA_NEW(arena, bool, grow->plan->port_count);
    grow->old_placed = MYR_ARENA_NEW(arena, bool, grow->old->cable_count);
}

/* Links that an installed core can keep where pods are cut anew: it meets one spine of each pod. */
static uint64_t cores_lose(const struct grow *grow, uint32_t id)
{
    const struct myr_network *was = &grow->old->networks[id], *net = &grow->plan->networks[id];
    uint64_t lost = 0;
    if (!was->core || !net->group_cores) {
        return 0;
    }
    /* Links of a spine and a core at most, where the uplinks do not divide evenly. */
    uint32_t most = net->spine_up / net->group_cores + (net->spine_up % net->group_cores > 0);
    for (uint32_t core = was->first_core; core < was->first_core + was->core; core++) {
        /* A core meets one spine of each pod, with so many links at most. */
        uint64_t links = 0, room = (uint64_t)net->pods * most;
        for (uint32_t p = grow->old->first_port[core]; p < grow->old->first_port[core + 1]; p++) {
            links += grow->old->port_link[p] != MYR_NONE &&
                     myr_design_port_group(grow->old, p)->role != MYR_PORT_NIC;
        }
        lost += links > room ? links - room : 0;
    }
    return lost;
}

/*
 * No choice of places moves fewer; what is not proved is left out. Layers whose places were found
 * by search or taken in order count nothing as proved, beyond what no choice could have kept. Where
 * everything was proved it is equal to the moves, which the page then says.
 */
static void bound(struct grow *grow)
{
    struct myr_growth *out = grow->out;
    uint64_t unproved = grow->loose_keep;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (grow->recut[id]) {
            const uint32_t *moved = out->moved[id];
            uint64_t links = grow->old->networks[id].links[MYR_LAYER_FABRIC];
            uint64_t lost = links > grow->keep_most[id] ? links - grow->keep_most[id] : 0;
            unproved += moved[MYR_LAYER_FABRIC] > lost ? moved[MYR_LAYER_FABRIC] - lost : 0;
            lost = cores_lose(grow, id);
            unproved += moved[MYR_LAYER_CORE] > lost ? moved[MYR_LAYER_CORE] - lost : 0;
        } else if (grow->old->networks[id].access && grow->plan->networks[id].core) {
            /* Cores are taken in their order, and blocks as they are planned. */
            unproved += out->moved[id][MYR_LAYER_FABRIC] + out->moved[id][MYR_LAYER_CORE];
        }
    }
    /*
     * In a room ends are not chosen, so nothing is proved of dense fills and of links between
     * groups.
     */
    for (uint32_t id = 0; grow_in_room(grow) && id < MYR_NET_COUNT; id++) {
        const uint32_t *moved = out->moved[id];
        bool dense = grow->plan->networks[id].fill == MYR_FILL_DENSE;
        dense = (dense || grow->plan->networks[id].access) && !grow->recut[id];
        unproved += dense ? moved[MYR_LAYER_FABRIC] + moved[MYR_LAYER_CORE] : 0;
        unproved += moved[MYR_LAYER_GLOBAL];
    }
    out->moved_at_least = out->move_count > unproved ? out->move_count - unproved : 0;
}

/* Every installed cable that did not stay with both ends has moved, or is left over. */
void grow_count(struct grow *grow)
{
    struct myr_growth *out = grow->out;
    const struct myr_design *old = grow->old;
    /* By installed cable: where it lies now, and whether both its ends stayed. */
    uint32_t *now = MYR_ARENA_NEW(grow->arena, uint32_t, old->cable_count);
    bool *kept = MYR_ARENA_NEW(grow->arena, bool, old->cable_count);
    for (uint32_t c = 0; c < old->cable_count; c++) {
        now[c] = MYR_NONE;
    }
    for (uint32_t c = 0; c < grow->cable_count; c++) {
        if (grow->cables[c].from != MYR_NONE) {
            now[grow->cables[c].from] = c;
            kept[grow->cables[c].from] = grow->cables[c].kept;
        } else {
            out->new_cables++;
        }
    }
    out->cable_from = MYR_ARENA_NEW(grow->arena, uint32_t, grow->cable_count);
    for (uint32_t c = 0; c < grow->cable_count; c++) {
        out->cable_from[c] = grow->cables[c].from;
    }
    out->moves = MYR_ARENA_NEW(grow->arena, struct myr_grow_move, old->cable_count);
    for (uint32_t c = 0; c < old->cable_count; c++) {
        if (!kept[c]) {
            const struct myr_cabletype *type = grow_type(old, c);
            out->moves[out->move_count++] =
                (struct myr_grow_move){c, now[c], type->net, type->layer};
            out->moved[type->net][type->layer]++;
        }
    }
    bound(grow);
}

/* Nothing is written to 'ret' where it fails. */
int myr_grow(struct myr_arena *arena, const struct myr_catalog *catalog,
             const struct myr_design *installed, const struct myr_design *planned,
             struct myr_grow_names names, struct myr_growth *ret, struct myr_err *err)
{
    struct myr_growth growth = {.installed = installed, .planned = planned};
    struct grow grow = {.arena = arena,
                        .catalog = catalog,
                        .old = installed,
                        .plan = planned,
                        .names = names,
                        .out = &growth};
    begin(&grow);
    MYR_TRY(grow_check(&grow, err));
    MYR_TRY(grow_match(&grow, err));
    /*
     * Network by network, hosts first: what stays takes its ports before build.c deals out the
     * rest.
     */
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (planned->networks[id].topology) {
            grow_lay_hosts(&grow, (enum myr_net_id)id);
            grow_lay_switches(&grow, (enum myr_net_id)id);
        }
    }
    MYR_ASSERT(grow.link_count == planned->link_count);
    MYR_TRY(grow_build(&grow, err));
    grow_name(&grow);
    grow_count(&grow);
    grow_bill(&grow);
    grow_buy(&grow);
    growth.to = grow.to;
    growth.from = grow.from;
    *ret = growth;
    /* Ids, ports and references are whole, as if the design had been read from a file. */
    MYR_SLOW_ASSERT(myr_design_check(&ret->grown, "grown", NULL) == MYR_OK);
    return MYR_OK;
}
