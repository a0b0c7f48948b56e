#include "hosts/hosts.h"

#include <stdlib.h>

/*
 * Hosts and places as an auction: each host bids for the place where most of its cables belong, by
 * as much as it is worth more than its second best, and whoever is outbid bids again (Bertsekas).
 * With values that are multiples of more than the number of hosts, and bids of at least one, the
 * sum of all values is the greatest there is: so the fewest cables are left unexplained.
 */

struct offer {
    uint32_t node;
    uint32_t worth; /* of the cables that would be explained */
};

/*
 * A cable that would be as planned, one that would at least be its host's, and a name. So hosts are
 * renamed before their cables are moved, and where all is even names are believed.
 */
enum { WORTH_RIGHT = 2, WORTH_NEAR = 1, WORTH_CALLED = 2 };

/* Bids of one host are few; all together are bounded, whatever the site looks like. */
enum { OFFERS_MAX = 24, BIDS_PER_HOST = 400 };

struct auction {
    struct hosts *hosts;
    const struct identify *identify;
    const struct unit_list *units;
    uint32_t *first; /* by host: its offers in 'offers', one more at the end */
    MYR_VEC(struct offer) offers;
    uint8_t *doubtful;         /* by device: its cables to other switches are another one's */
    uint32_t *seen;            /* by port of the design: the host that it was counted for + 1 */
    uint32_t *owner;           /* by device: the host that has it + 1 */
    int64_t *price;            /* by device */
    MYR_VEC(uint32_t) waiting; /* hosts without a place that may get one */
};

static void auction_done(struct auction *a)
{
    myr_vec_done(&a->offers);
    myr_vec_done(&a->waiting);
}

/* What a cable at a planned place says for it: nothing where its switch may be another one. */
static uint32_t worth_of(const struct auction *a, const struct host *host, const struct unit *unit)
{
    uint32_t far = myr_design_peer(a->identify->design, unit->planned);
    bool doubt =
        a->doubtful && far != MYR_NONE && a->doubtful[a->identify->design->port_device[far]];
    uint32_t node = a->identify->design->port_device[unit->planned];
    uint32_t index = unit->planned - a->identify->design->first_port[node];
    uint32_t name = unit->known != MYR_NONE ? unit->known : unit->said;
    if (doubt && host->claim != MYR_NONE) {
        return 0;
    }
    return name == MYR_NONE || name == index ? WORTH_RIGHT : WORTH_NEAR;
}

static void add_offer(struct auction *a, size_t first, uint32_t node, uint32_t worth)
{
    for (size_t i = first; i < a->offers.count; i++) {
        if (a->offers.items[i].node == node) {
            a->offers.items[i].worth += worth;
            return;
        }
    }
    if (a->offers.count - first < OFFERS_MAX) {
        struct offer fresh = {node, worth};
        myr_vec_push(&a->offers, fresh);
    }
}

/*
 * One cable does not speak against a name: it may as well be in the wrong port. And one name for
 * NICs without names of their own may be one for several machines: then most cables must agree.
 */
static void drop_weak(struct auction *a, const struct host *host, size_t first, uint32_t voters)
{
    uint32_t least = host->claim != MYR_NONE ? 2 * WORTH_RIGHT : host->named ? 1 : voters + 1;
    size_t kept = first;
    for (size_t i = first; i < a->offers.count; i++) {
        if (a->offers.items[i].worth >= least || a->offers.items[i].node == host->claim) {
            a->offers.items[kept++] = a->offers.items[i];
        }
    }
    a->offers.count = kept;
}

/* The first port of the connector at the switch where the cable of a planned place is. */
static uint32_t plug_of(const struct myr_design *design, uint32_t planned)
{
    uint32_t far = myr_design_peer(design, planned);
    const struct myr_port_group *group = myr_design_port_group(design, far);
    uint32_t at = far - design->first_port[design->port_device[far]] - group->first;
    return far - at % group->per_connector;
}

/* The places that speak for a host: where its cables belong, and what it is called. */
static void list_offers(struct auction *a, uint32_t h)
{
    const struct host *host = &a->hosts->items[h];
    size_t first = a->offers.count;
    uint32_t voters = 0;
    a->first[h] = (uint32_t)first;
    if (host->doubled) {
        return;
    }
    if (host->claim != MYR_NONE) { /* first: where all is even it stays */
        add_offer(a, first, host->claim, 0);
    }
    for (uint32_t i = 0; i < host->unit_count; i++) {
        const struct unit *unit = &a->units->items[host->first_unit + i];
        bool host_port =
            unit->planned != MYR_NONE &&
            myr_design_port_group(a->identify->design, unit->planned)->role == MYR_PORT_NIC;
        /* Both ends of a cable may tell of it, each in its own way; legs of one head are one plug.
         */
        uint32_t plug = host_port ? plug_of(a->identify->design, unit->planned) : MYR_NONE;
        if (host_port && a->seen[plug] != h + 1) {
            a->seen[plug] = h + 1;
            voters++;
            add_offer(a, first, a->identify->design->port_device[unit->planned],
                      worth_of(a, host, unit));
        }
    }
    drop_weak(a, host, first, voters);
}

/* Cables and names first, then names alone; the least bid is one. */
static int64_t value_of(const struct auction *a, const struct host *host, const struct offer *offer)
{
    int64_t many = (int64_t)a->hosts->count + 1;
    bool called = offer->node == host->claim;
    return ((offer->worth + WORTH_CALLED * called) * many + called) * many;
}

/* One host bids; nobody's place at all is worth nothing and always free. */
static void bid(struct auction *a, uint32_t h)
{
    struct host *host = &a->hosts->items[h];
    const struct offer *best = NULL;
    int64_t most = 0, second = 0;
    for (uint32_t i = a->first[h]; i < a->first[h + 1]; i++) {
        const struct offer *offer = &a->offers.items[i];
        int64_t gain = value_of(a, host, offer) - a->price[offer->node];
        if (gain > most || (gain == most && best && offer->node < best->node && gain > 0)) {
            second = most > second ? most : second;
            most = gain;
            best = offer;
        } else if (gain > second) {
            second = gain;
        }
    }
    if (!best) {
        return; /* others are worth more everywhere */
    }
    uint32_t before = a->owner[best->node];
    if (before) {
        a->hosts->items[before - 1].node = MYR_NONE;
        myr_vec_push(&a->waiting, before - 1);
    }
    a->price[best->node] += most - second + 1;
    a->owner[best->node] = h + 1;
    host->node = best->node;
}

/* True when nobody could gain by leaving the place that is his by name. */
static bool all_are_content(const struct auction *a)
{
    for (uint32_t h = 0; h < a->hosts->count; h++) {
        const struct host *host = &a->hosts->items[h];
        if (a->first[h] < a->first[h + 1] && host->claim == MYR_NONE) {
            return false;
        }
        for (uint32_t i = a->first[h] + 1; i < a->first[h + 1]; i++) {
            if (a->offers.items[i].worth > a->offers.items[a->first[h]].worth + WORTH_CALLED) {
                return false;
            }
        }
    }
    return true;
}

static void list_all(struct auction *a)
{
    a->offers.count = 0;
    memset(a->seen, 0, a->identify->design->port_count * sizeof(uint32_t));
    for (uint32_t h = 0; h < a->hosts->count; h++) {
        list_offers(a, h);
    }
    a->first[a->hosts->count] = (uint32_t)a->offers.count;
}

/* Two hosts of one name: the first that was found has what it says, the others what cables say. */
static void hold_claims(struct auction *a)
{
    memset(a->owner, 0, a->identify->design->device_count * sizeof(uint32_t));
    for (uint32_t h = 0; h < a->hosts->count; h++) {
        struct host *host = &a->hosts->items[h];
        host->node = MYR_NONE;
        if (host->claim != MYR_NONE && !host->doubled && !a->owner[host->claim]) {
            a->owner[host->claim] = h + 1;
            host->node = host->claim;
        }
    }
}

/* Where most of a host's cables belong, other than where it is; MYR_NONE: nowhere. */
static uint32_t drawn_to(const struct auction *a, uint32_t h)
{
    const struct host *host = &a->hosts->items[h];
    struct offer best = {MYR_NONE, 0};
    for (uint32_t i = 0; i < host->unit_count; i++) {
        const struct unit *unit = &a->units->items[host->first_unit + i];
        uint32_t node =
            unit->planned == MYR_NONE ? MYR_NONE : a->identify->design->port_device[unit->planned];
        uint32_t agree = 0;
        for (uint32_t j = 0; j < host->unit_count && node != MYR_NONE; j++) {
            uint32_t other = a->units->items[host->first_unit + j].planned;
            agree += other != MYR_NONE && a->identify->design->port_device[other] == node;
        }
        bool host_port =
            unit->planned != MYR_NONE &&
            myr_design_port_group(a->identify->design, unit->planned)->role == MYR_PORT_NIC;
        if (host_port && node != host->node && agree > best.worth) {
            best = (struct offer){node, agree};
        }
    }
    return best.node;
}

/*
 * A host that nobody knows, in the port of one that is believed by its name: it is whose port that
 * one has, or the one after that, as long as a place is free.
 */
static void place_rest(struct auction *a)
{
    for (uint32_t h = 0; h < a->hosts->count; h++) {
        struct host *host = &a->hosts->items[h];
        uint32_t node = MYR_NONE;
        if (host->node == MYR_NONE && host->claim == MYR_NONE && !host->doubled && host->named) {
            node = drawn_to(a, h);
        }
        for (uint32_t hops = 0; node != MYR_NONE && a->owner[node] && hops < a->hosts->count;
             hops++) {
            node = drawn_to(a, a->owner[node] - 1);
        }
        if (node != MYR_NONE && !a->owner[node]) {
            host->node = node;
            a->owner[node] = h + 1;
        }
    }
}

static void hold_auction(struct auction *a)
{
    struct hosts *hosts = a->hosts;
    a->price = MYR_ARENA_NEW(a->identify->arena, int64_t, a->identify->design->device_count);
    memset(a->owner, 0, a->identify->design->device_count * sizeof(uint32_t));
    for (uint32_t h = hosts->count; h > 0; h--) { /* the first bids first */
        hosts->items[h - 1].node = MYR_NONE;
        myr_vec_push(&a->waiting, h - 1);
    }
    uint64_t left = (uint64_t)BIDS_PER_HOST * (hosts->count + 1);
    while (a->waiting.count && left--) {
        bid(a, a->waiting.items[--a->waiting.count]);
    }
    place_rest(a);
}

bool hosts_place(struct hosts *hosts, const struct identify *identify,
                 const struct unit_list *units)
{
    struct myr_arena *arena = identify->arena;
    const struct myr_design *design = identify->design;
    MYR_CLEANUP(auction_done)
    struct auction a = {.hosts = hosts, .identify = identify, .units = units};
    uint32_t *before = MYR_ARENA_NEW(arena, uint32_t, (size_t)hosts->count + 1);
    a.first = MYR_ARENA_NEW(arena, uint32_t, (size_t)hosts->count + 1);
    a.seen = MYR_ARENA_NEW(arena, uint32_t, design->port_count);
    a.owner = MYR_ARENA_NEW(arena, uint32_t, design->device_count);
    for (uint32_t h = 0; h < hosts->count; h++) {
        before[h] = hosts->items[h].node;
    }
    list_all(&a);
    hold_claims(&a);
    if (!all_are_content(&a)) {
        /* Switches that changed places seem to have moved all of their hosts. */
        a.doubtful = naming_doubtful(identify);
        list_all(&a);
        hold_auction(&a);
    }
    for (uint32_t h = 0; h < hosts->count; h++) {
        if (hosts->items[h].node != before[h]) {
            return true;
        }
    }
    return false;
}
