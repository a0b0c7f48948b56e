#include "room/room.h"

#include <stdlib.h>

/*
 * What is left when servers and their fabric stand: storage, management, the other networks,
 * security. Each goes into the nearest rack that still carries it: hosts near the middle, their
 * switches in the middle of the hosts, upper switches near the middle again.
 */

/* Hosts that stand near the middle; GPU servers have their blocks. */
static bool is_host(uint32_t kind)
{
    return kind == MYR_DEVICE_STORAGE || kind == MYR_DEVICE_MANAGEMENT ||
           kind == MYR_DEVICE_FABRIC_MANAGER;
}

static bool is_upper(uint32_t kind)
{
    return kind == MYR_DEVICE_SPINE || kind == MYR_DEVICE_CORE || kind == MYR_DEVICE_AGGREGATION;
}

/* ROOM_NONE when it fits nowhere; of racks that are as near the first in the order of filling. */
static uint32_t nearest_rack(const struct room *room, uint32_t target, const struct load *need)
{
    uint32_t best = ROOM_NONE;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < room->rack_count; i++) {
        if (room_fits(&room->racks[i].left, need) > 0) {
            int64_t path = room_path_mm(room, target, i);
            if (path < least) {
                least = path;
                best = i;
            }
        }
    }
    return best;
}

/* Into the nearest rack that carries it. */
static int put(struct room *room, uint32_t device, uint32_t target, struct myr_err *err)
{
    struct load need = room_load(room, device);
    uint32_t rack = nearest_rack(room, target, &need);
    if (rack == ROOM_NONE) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        myr_design_name(&room->plan->design, device, &name);
        return room_no_place(room, name.data, &need, err);
    }
    room_take(&room->racks[rack], &need, 1);
    room->device_rack[device] = rack;
    return MYR_OK;
}

/* Bits of networks. */
enum { OOB = 1U << MYR_NET_OOB, ALL = (1U << MYR_NET_COUNT) - 1 };

/* In the order of devices, those of these networks that have no rack yet. */
static int put_devices(struct room *room, bool (*wanted)(uint32_t kind), uint32_t networks,
                       struct myr_err *err)
{
    const struct myr_design *design = &room->plan->design;
    for (uint32_t i = design->head->first_storage; i < design->device_count; i++) {
        /* Hosts are of no network, or of several. */
        uint32_t kind = design->place[i].kind;
        bool of_these = is_host(kind) || networks >> design->place[i].net & 1;
        if (room->device_rack[i] == MYR_NONE && wanted(kind) && of_these) {
            /* Switches stand among what hangs on them, hosts near the middle of the first building.
             */
            bool middle = is_host(design->place[i].kind);
            uint32_t target = middle ? room->halls[0].centre : room_middle_of(room, i);
            MYR_TRY(put(room, i, target, err));
        }
    }
    return MYR_OK;
}

/* Leaves, routers and access switches; strips and coolers have places of their own. */
static bool is_lower(uint32_t kind)
{
    return !is_host(kind) && !is_upper(kind) && kind != MYR_DEVICE_NODE && kind < MYR_DEVICE_PDU;
}

/* What is no device of a network: it has a part, and no name. */
static void add_item(struct room *room, uint32_t rack, const struct myr_part *part,
                     const struct load *need)
{
    struct myr_rack_item item = {.part = plan_string(room->plan, part->id),
                                 .rack = rack,
                                 .units = (uint32_t)need->units,
                                 .watts = (uint32_t)need->watts};
    room_take(&room->racks[rack], need, 1);
    myr_vec_push(&room->items, item);
}

struct distance {
    int64_t path_mm;
    uint32_t rack;
};

static int compare_distances(const void *a, const void *b)
{
    const struct distance *x = a, *y = b;
    return x->path_mm != y->path_mm ? (x->path_mm < y->path_mm ? -1 : 1)
           : x->rack < y->rack      ? -1
                                    : x->rack > y->rack;
}

/* Racks by their way from the centre of the first building; those of one way in their order. */
static const struct distance *from_centre(const struct room *room)
{
    struct distance *order = MYR_ARENA_NEW(room->arena, struct distance, room->rack_count);
    for (uint32_t i = 0; i < room->rack_count; i++) {
        order[i] = (struct distance){room_path_mm(room, room->halls[0].centre, i), i};
    }
    qsort(order, room->rack_count, sizeof(*order), compare_distances);
    return order;
}

/*
 * Pieces that are all alike, near the middle as hosts are. There may be many thousands of them: the
 * racks are walked through once, each as far as it carries them.
 */
static int put_pieces(struct room *room, const struct distance *order, const struct myr_part *part,
                      uint64_t count, const struct load *need, struct myr_err *err)
{
    for (uint32_t i = 0; count > 0 && i < room->rack_count; i++) {
        while (count > 0 && room_fits(&room->racks[order[i].rack].left, need) > 0) {
            add_item(room, order[i].rack, part, need);
            count--;
        }
    }
    return count > 0 ? room_no_place(room, part->id, need, err) : MYR_OK;
}

/* Servers of storage tiers, then security devices and the like: what is in no network. */
static int put_items(struct room *room, struct myr_err *err)
{
    const struct distance *order = NULL;
    struct room_pieces pieces = {};
    while (room_next_pieces(room, &pieces)) {
        order = order ? order : from_centre(room);
        MYR_TRY(put_pieces(room, order, part_at(room->plan, pieces.of.part), pieces.of.count,
                           &pieces.need, err));
    }
    return MYR_OK;
}

void room_reserve(struct room *room, bool open)
{
    uint32_t every = room->reserve_every;
    for (uint32_t i = every / 2; every && i < room->rack_count; i += every) {
        struct load *left = &room->racks[i].left;
        if (open) {
            room_give(&room->racks[i], &room->server);
        } else {
            left->watts -= room->server.watts;
            left->units -= room->server.units;
            left->grams -= room->server.grams;
        }
    }
}

/* Hosts before their switches, and these before the ones above: each stands in the middle of what
 * is there. Strips stand about where they will be, as they pull their switches. */
int room_rest(struct room *room, struct myr_err *err)
{
    const struct myr_design *design = &room->plan->design;
    uint32_t nodes = room->plan->server->server.nodes;
    for (uint32_t i = 0; i < room->plan->nodes; i++) {
        room->device_rack[design->head->first_node + i] = room->server_rack[i / nodes];
    }
    MYR_TRY(put_devices(room, is_host, ALL, err));
    room_strips_about(room);
    /* Management ports are dealt out by where switches stand; so these stand first, and leave the
     * places for access switches free. */
    bool deals = room_deals_managed(room);
    uint32_t first = deals ? ALL & ~OOB : ALL;
    room_reserve(room, true);
    MYR_TRY(put_devices(room, is_lower, first, err));
    if (deals) {
        room_reserve(room, false);
        MYR_TRY(put_devices(room, is_upper, first, err));
        room_deal_managed(room);
        room_reserve(room, true);
        MYR_TRY(put_devices(room, is_lower, OOB, err));
    }
    MYR_TRY(put_devices(room, is_upper, ALL, err));
    return put_items(room, err);
}

int room_deal_again(struct room *room, struct myr_err *err)
{
    const struct myr_design *design = &room->plan->design;
    for (uint32_t i = design->head->first_storage; i < design->device_count; i++) {
        uint32_t kind = design->place[i].kind;
        if (design->place[i].net == MYR_NET_OOB && (is_lower(kind) || is_upper(kind))) {
            struct load need = room_load(room, i);
            room_give(&room->racks[room->device_rack[i]], &need);
            room->device_rack[i] = MYR_NONE;
        }
    }
    room->plan->managed_place = NULL;
    room_deal_managed(room);
    MYR_TRY(put_devices(room, is_lower, OOB, err));
    return put_devices(room, is_upper, OOB, err);
}

/* Whether a switch stands in the middle of the servers of its rack. */
static bool is_in_middle(const struct room *room, uint32_t device)
{
    const struct myr_network *net = &room->plan->nets[MYR_NET_COMPUTE].out;
    return room->in_middle && device - net->first_leaf < net->leaf;
}

/* What stands in the middle of a rack: below it is half of the servers. */
struct middle {
    uint32_t units, servers; /* of the switches there; still to come below them */
    uint32_t unit;           /* the next free one */
};

static struct middle *find_middles(const struct room *room)
{
    struct middle *middles = MYR_ARENA_NEW(room->arena, struct middle, room->rack_count);
    for (uint32_t i = 0; i < room->plan->design.device_count; i++) {
        if (is_in_middle(room, i)) {
            middles[room->device_rack[i]].units += (uint32_t)room_load(room, i).units;
        }
    }
    for (uint32_t i = 0; i < room->rack_count; i++) {
        middles[i].servers = room->racks[i].servers / 2;
        middles[i].unit = middles[i].units && !middles[i].servers ? 1 : 0;
    }
    return middles;
}

/* Unit of a tray in its server, from 0; MYR_NONE where there are not so many. */
static uint32_t tray_unit(const struct myr_speeds *runs, uint32_t tray)
{
    for (uint32_t i = 0; i + 1 < runs->count; i += 2) {
        if (tray < runs->items[i + 1]) {
            return runs->items[i] - 1 + tray;
        }
        tray -= runs->items[i + 1];
    }
    return MYR_NONE;
}

/* Of a server whose lowest unit is 'base'; without a layout the nodes share its units evenly. */
static uint32_t node_unit(const struct room *room, uint32_t server, uint32_t node, uint32_t base)
{
    const struct plan_group *group = &room->plan->groups[room_group(room, server)];
    uint32_t unit = tray_unit(&group->server->server.node_trays, node);
    uint32_t units = (uint32_t)room->groups[room_group(room, server)].units;
    return base + (unit != MYR_NONE ? unit : node * units / group->server->server.nodes);
}

/* What else is in a rack-scale system: it needs nothing beside what the whole of it does. */
static void put_trays(struct room *room, uint32_t server, uint32_t base)
{
    const struct plan_group *group = &room->plan->groups[room_group(room, server)];
    const struct {
        const struct myr_speeds *runs;
        const char *part;
    } kinds[] = {{&group->server->server.switch_trays, "nvlink-switch-tray"},
                 {&group->server->server.power_shelves, "power-shelf"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        uint32_t unit;
        for (uint32_t n = 0; (unit = tray_unit(kinds[i].runs, n)) != MYR_NONE; n++) {
            struct myr_rack_item item = {.part = plan_string(room->plan, kinds[i].part),
                                         .rack = room->server_rack[server],
                                         .units = 1,
                                         .unit = base + unit};
            myr_vec_push(&room->items, item);
        }
    }
}

/* Servers from the bottom, other hosts above them, switches from the top. */
void room_units(struct room *room)
{
    const struct myr_design *design = &room->plan->design;
    struct middle *middles = find_middles(room);
    uint32_t nodes = room->plan->server->server.nodes;
    /* By rack: the next free unit from below, and the lowest one taken from above. */
    uint32_t *low = MYR_ARENA_NEW(room->arena, uint32_t, room->rack_count);
    uint32_t *high = MYR_ARENA_NEW(room->arena, uint32_t, room->rack_count);
    for (uint32_t i = 0; i < room->rack_count; i++) {
        /* A lone server stands above its leaf. */
        low[i] = 1 + (middles[i].unit ? middles[i].units : 0);
        high[i] = (uint32_t)room->rack.units + 1;
    }
    /* The lowest unit of the server in hand, which its nodes share. */
    uint32_t base = 1;
    for (uint32_t i = 0; i < design->device_count; i++) {
        uint32_t rack = room->device_rack[i], kind = design->place[i].kind;
        if (kind == MYR_DEVICE_NODE) {
            uint32_t node = i - design->head->first_node;
            uint32_t units = (uint32_t)room->groups[room_group(room, node / nodes)].units;
            if (node % nodes == 0) {
                struct middle *middle = &middles[rack];
                base = low[rack];
                low[rack] += units;
                put_trays(room, node / nodes, base);
                middle->servers -= middle->servers > 0;
                if (middle->units && !middle->servers && !middle->unit) {
                    middle->unit = low[rack];
                    low[rack] += middle->units;
                }
            }
            room->device_unit[i] = (uint16_t)node_unit(room, node / nodes, node % nodes, base);
            continue;
        }
        uint32_t units = (uint32_t)room_load(room, i).units;
        if (kind >= MYR_DEVICE_PDU) {
            continue; /* at the back of the rack, or beside it */
        }
        if (is_in_middle(room, i)) {
            room->device_unit[i] = (uint16_t)middles[rack].unit;
            middles[rack].unit += units;
        } else if (is_host(kind)) {
            room->device_unit[i] = (uint16_t)low[rack];
            low[rack] += units;
        } else {
            high[rack] -= units;
            room->device_unit[i] = (uint16_t)high[rack];
        }
        MYR_ASSERT(low[rack] <= high[rack]);
    }
    /* Items stand above the hosts; for all of them units were counted down already. */
    for (size_t i = 0; i < room->items.count; i++) {
        struct myr_rack_item *item = &room->items.items[i];
        if (item->unit) {
            continue; /* within its server */
        }
        item->unit = low[item->rack];
        low[item->rack] += item->units;
        MYR_ASSERT(low[item->rack] <= high[item->rack]);
    }
}
