#include <stdlib.h>

#include "room/room.h"

/*
 * Layers that would be ordered in fewer cables if all of them were short: copper that carries
 * several links, where fibre carries one. The annealing pulls such layers together, each by itself,
 * and what does not get short costs nothing but its time; so a rough look is enough here: whether
 * any rack has, within the reach, seats for a switch and all that hangs on it.
 */

enum {
    RACKS_TRIED = 4096, /* larger rooms count as possible */
    SHORT_MM = 10000,   /* beyond this a layer holds nothing together */
};

struct short_net { /* of which layers are asked */
    struct room *room;
    uint32_t id, layer;
    bool *seen;      /* scratch, by device */
    uint32_t *below; /* scratch: what hangs on a switch */
};

static bool is_inside(const struct short_net *of)
{
    return of->layer == MYR_LAYER_HOST &&
           of->room->plan->nets[of->id].out.topology == MYR_TOPOLOGY_MIDDLE_OF_RACK;
}

/* How far two racks are apart at the most whose cable has this length. */
static double reach_of(const struct short_net *of, double length_mm)
{
    const struct myr_spec_room *spec = of->room->spec;
    if (is_inside(of)) {
        return length_mm; /* these need not come out of their rack */
    }
    return (length_mm - spec->slack_m * 1000) / (1 + spec->slack_percent / 100) -
           2 * spec->drop_m * 1000 + 1; /* a millimetre for what was rounded */
}

/* Whether a link is of the layer in hand. */
static bool is_of(const struct short_net *of, uint32_t link)
{
    const struct plan *plan = of->room->plan;
    const struct myr_design *design = &plan->design;
    const struct myr_cabletype *type =
        &plan->cabletypes.items[design->cable_type[design->link_cable[link]]];
    return type->net == of->id && type->layer == of->layer;
}

/* Different things that a switch has cables of the layer to, below it: servers, or switches. */
static uint32_t things_below(const struct short_net *of, uint32_t device)
{
    const struct myr_design *design = &of->room->plan->design;
    uint32_t count = 0, nodes = of->room->plan->server->server.nodes;
    uint32_t first = design->head->first_node;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link == MYR_NONE || design->link_b[link] != p || !is_of(of, link)) {
            continue;
        }
        uint32_t other = design->port_device[design->link_a[link]];
        bool node = design->place[other].kind == MYR_DEVICE_NODE;
        if (of->layer == MYR_LAYER_HOST && !node) {
            continue;
        }
        /* All nodes of a server stand together: it counts once, as its first node. */
        other = node ? first + (other - first) / nodes * nodes : other;
        if (!of->seen[other]) {
            of->seen[other] = true;
            of->below[count++] = other;
        }
    }
    /* Left as it was found: the array is used for every switch. */
    for (uint32_t i = 0; i < count; i++) {
        of->seen[of->below[i]] = false;
    }
    return count;
}

static struct load least_load(struct load a, struct load b)
{
    return (struct load){a.watts < b.watts ? a.watts : b.watts,
                         a.units < b.units ? a.units : b.units,
                         a.grams < b.grams ? a.grams : b.grams};
}

/* Whether some rack has so many seats for what needs 'need' within reach. */
static bool have_seats(const struct short_net *of, double reach_mm, struct load need,
                       uint32_t wanted)
{
    const struct room *room = of->room;
    if (room->rack_count > RACKS_TRIED) {
        return true;
    }
    for (uint32_t x = 0; x < room->rack_count; x++) {
        uint64_t seats = 0;
        for (uint32_t i = 0; i < room->rack_count; i++) {
            if ((double)room_path_mm(room, x, i) <= reach_mm) {
                struct load empty = {room->racks[i].watts_max, room->rack.units, room->rack.grams};
                seats += room_fits(&empty, &need);
            }
        }
        if (seats >= wanted) {
            return true;
        }
    }
    return false;
}

/* The switch with most below it decides: what holds for it holds for the others. */
static bool may_be(const struct short_net *of, double reach_mm)
{
    const struct room *room = of->room;
    const struct myr_design *design = &room->plan->design;
    struct load need = room->server;
    uint32_t most = 0;
    if (reach_mm < 0) {
        return false; /* shorter than drops and slack: no cable can be */
    }
    for (uint32_t i = 0; i < design->device_count; i++) {
        uint32_t kind = design->place[i].kind;
        bool is_switch =
            kind == MYR_DEVICE_LEAF || kind == MYR_DEVICE_SPINE || kind == MYR_DEVICE_CORE;
        uint32_t count = is_switch ? things_below(of, i) : 0;
        if (count == 0 || of->layer == MYR_LAYER_HOST) {
            most = count > most ? count : most;
            continue;
        }
        need = most ? least_load(need, room_load(room, i)) : room_load(room, i);
        for (uint32_t k = 0; k < count; k++) {
            need = least_load(need, room_load(room, of->below[k]));
        }
        most = count + 1 > most ? count + 1 : most;
    }
    return have_seats(of, reach_mm, need, most);
}

static bool has_layer(const struct short_net *of)
{
    const struct myr_design *design = &of->room->plan->design;
    for (uint32_t i = 0; i < design->cable_count; i++) {
        if (is_of(of, design->first_link[i])) {
            return true;
        }
    }
    return false;
}

/* Lengths at which the layer in hand would be cut otherwise, and that it may have. */
static uint32_t add_lengths(const struct short_net *of, struct short_layer *ret, uint32_t most)
{
    const struct myr_spec_room *spec = of->room->spec;
    /* No cable is shorter than its drops and slack. */
    double least = 2 * spec->drop_m * (1 + spec->slack_percent / 100) + spec->slack_m;
    struct cut_way ways[ROOM_STEPS];
    uint32_t first = is_inside(of) ? 0 : room_step((int64_t)(least * 1000) - 1);
    uint32_t count = room_cut_ways(of->room, of->id, of->layer, first, ways), added = 0;
    for (uint32_t i = 0; i < count && added < most; i++) {
        double reach_mm = reach_of(of, room_step_mm(ways[i].step));
        if (!ways[i].now && reach_mm <= SHORT_MM && may_be(of, reach_mm)) {
            ret[added++] =
                (struct short_layer){of->id, of->layer, (uint32_t)room_step_mm(ways[i].step)};
        }
    }
    return added;
}

uint32_t room_short_layers(struct room *room, struct short_layer ret[ROOM_SHORT_MAX])
{
    uint32_t count = 0, devices = room->plan->design.device_count;
    struct short_net of = {.room = room,
                           .seen = MYR_ARENA_NEW(room->arena, bool, devices),
                           .below = MYR_ARENA_NEW(room->arena, uint32_t, devices)};
    for (of.id = 0; of.id < MYR_NET_COUNT; of.id++) {
        for (of.layer = 0; room->plan->nets[of.id].present && of.layer < MYR_LAYER_COUNT;
             of.layer++) {
            if (has_layer(&of)) {
                count += add_lengths(&of, ret + count, ROOM_SHORT_MAX - count);
            }
        }
    }
    return count;
}
