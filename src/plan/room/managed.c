#include "room/room.h"

#include <stdlib.h>

/*
 * Which management ports hang on which switch of the out-of-band network. By number the last leaves
 * of a hall and the first of its spines had one switch, and half of them were farther from it than
 * twisted pair reaches. So ports are dealt out by where they are: those nearest to the last nodes
 * fill up the switch that these hang on, and the rest is halved along its longer side until each
 * part is one switch full.
 */

struct port_at {
    int64_t x_mm, y_mm;
    uint32_t at; /* its number among all management ports */
};

static int compare_at(const struct port_at *a, const struct port_at *b)
{
    return a->at < b->at ? -1 : a->at > b->at;
}

static int by_x(const void *a, const void *b)
{
    const struct port_at *p = a, *q = b;
    return p->x_mm != q->x_mm   ? (p->x_mm < q->x_mm ? -1 : 1)
           : p->y_mm != q->y_mm ? (p->y_mm < q->y_mm ? -1 : 1)
                                : compare_at(p, q);
}

static int by_y(const void *a, const void *b)
{
    const struct port_at *p = a, *q = b;
    return p->y_mm != q->y_mm   ? (p->y_mm < q->y_mm ? -1 : 1)
           : p->x_mm != q->x_mm ? (p->x_mm < q->x_mm ? -1 : 1)
                                : compare_at(p, q);
}

/* Parts of 'each' ports, in an order in which neighbours are near. */
static void halve(struct port_at *ports, uint32_t count, uint32_t each)
{
    if (count <= each) {
        return;
    }
    int64_t low[2] = {INT64_MAX, INT64_MAX}, high[2] = {INT64_MIN, INT64_MIN};
    for (uint32_t i = 0; i < count; i++) {
        const int64_t at[] = {ports[i].x_mm, ports[i].y_mm};
        for (uint32_t k = 0; k < 2; k++) {
            low[k] = at[k] < low[k] ? at[k] : low[k];
            high[k] = at[k] > high[k] ? at[k] : high[k];
        }
    }
    qsort(ports, count, sizeof(*ports), high[0] - low[0] >= high[1] - low[1] ? by_x : by_y);
    /* Whole switches on either side; the one that is not full comes last. */
    uint32_t half = ceil_div(count, each) / 2 * each;
    halve(ports, half, each);
    halve(ports + half, count - half, each);
}

/* The first 'count' become those that are nearest to a place. */
static void nearest_first(struct port_at *ports, uint32_t all, uint32_t count,
                          const struct stand *rack)
{
    for (uint32_t i = 0; i < count && i < all; i++) {
        uint32_t best = i;
        int64_t least = INT64_MAX;
        for (uint32_t k = i; k < all; k++) {
            int64_t way = llabs(ports[k].x_mm - rack->x_mm) + llabs(ports[k].y_mm - rack->y_mm);
            if (way < least || (way == least && ports[k].at < ports[best].at)) {
                least = way;
                best = k;
            }
        }
        struct port_at taken = ports[best];
        ports[best] = ports[i];
        ports[i] = taken;
    }
}

/* Buildings lie behind each other, so that no switch serves two of them by chance. */
static struct port_at place_of(struct room *room, uint32_t device, uint32_t at)
{
    uint32_t id = room->device_rack[device];
    const struct stand *rack = &room->racks[id == MYR_NONE ? room_middle_of(room, device) : id];
    return (struct port_at){rack->x_mm + (int64_t)rack->hall * 1000000000, rack->y_mm, at};
}

/* Not on one row of switches, where all ways are alike. */
bool room_deals_managed(const struct room *room)
{
    const struct net_plan *net = &room->plan->nets[MYR_NET_OOB];
    uint32_t slots = net->present ? ceil_div(net->managed, net->nic_ports) : 0;
    return !room->plan->managed_place && slots > 0 &&
           net->nodes % net->out.leaf_down + slots > net->out.leaf_down;
}

void room_deal_managed(struct room *room)
{
    struct plan *plan = room->plan;
    const struct net_plan *net = &plan->nets[MYR_NET_OOB];
    uint32_t homes = net->nic_ports, each = net->out.leaf_down, count = 0;
    struct port_at *ports = MYR_ARENA_NEW(room->arena, struct port_at, net->managed);
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        const struct host_class *hosts = &net->hosts[i];
        for (uint32_t k = 0; hosts->managed && k < hosts->count * hosts->nic_ports; k++) {
            ports[count++] =
                place_of(room, hosts->first_device + k / hosts->nic_ports, hosts->start + k);
        }
    }
    MYR_ASSERT(count == net->managed);
    /* What is left of the last nodes' switches, in ports; none where these are full. */
    uint32_t begun = net->nodes % each ? (each - net->nodes % each) * homes : 0;
    begun = begun < count ? begun : count;
    if (begun) {
        const struct host_class *nodes = &net->hosts[0];
        uint32_t last = nodes->first_device + nodes->count - 1;
        for (uint32_t i = 1; i < net->host_class_count && !net->hosts[i].managed; i++) {
            last = net->hosts[i].first_device + net->hosts[i].count - 1;
        }
        struct port_at at = place_of(room, last, 0);
        nearest_first(ports, count, begun, &(struct stand){.x_mm = at.x_mm, .y_mm = at.y_mm});
    }
    halve(ports + begun, count - begun, each * homes);
    plan->managed_place = MYR_ARENA_NEW(room->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        plan->managed_place[ports[i].at] = i;
    }
    room_wire_again(room);
}
