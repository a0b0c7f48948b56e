#include "verify/naming.h"

#include <stdlib.h>

enum { KEY_MAX = 300, KEY_NUMBER_BYTES = 4 };

/* A number in front of a text: one map serves all types, or all devices. */
static struct myr_str key_of(uint32_t number, struct myr_str name, char ret[KEY_MAX])
{
    size_t len = name.len < KEY_MAX - KEY_NUMBER_BYTES ? name.len : KEY_MAX - KEY_NUMBER_BYTES;
    for (uint32_t i = 0; i < KEY_NUMBER_BYTES; i++) {
        ret[i] = (char)(number >> (8 * i));
    }
    memcpy(ret + KEY_NUMBER_BYTES, name.data, len);
    return (struct myr_str){ret, len + KEY_NUMBER_BYTES};
}

static bool add_key(struct myr_strmap *map, struct myr_arena *arena, struct myr_str key,
                    uint32_t value)
{
    if (myr_strmap_get(map, key) != MYR_MAP_NONE) {
        return false;
    }
    key.data = myr_arena_strndup(arena, key.data, key.len);
    return myr_strmap_add(map, key, value);
}

/* Whose cable says most: a port that is listed twice keeps what fits its own device. */
static void collect_end(const struct identify *identify, const struct found_ends *ends,
                        uint32_t end, struct myr_strmap *seen, struct unit_list *list)
{
    char key[KEY_MAX];
    struct myr_cabling_end own = found_end(ends, end);
    struct myr_port_span known = identify->devices[own.device];
    uint64_t mac;
    bool hearsay = ends->cabling->links.items[end / 2].one_sided && end & 1;
    if (known.count == 0 || own.port.len == 0 || identify_port(identify, own) != MYR_NONE ||
        (hearsay && myr_mac_parse(own.port, &mac))) {
        return; /* LLDP's MAC addresses: the matching guesses at them, and says so */
    }
    uint32_t device = identify->design->port_device[known.first];
    struct unit unit = {.device = device,
                        .found = own.device,
                        .planned = found_planned(ends, identify, end),
                        .port = MYR_NONE,
                        .name = own.port,
                        .hearsay = hearsay};
    struct myr_str text = key_of(own.device, own.port, key);
    if (add_key(seen, identify->arena, text, (uint32_t)list->count)) {
        myr_vec_push(list, unit);
        return;
    }
    struct unit *old = &list->items[myr_strmap_get(seen, text)];
    bool fits = unit.planned != MYR_NONE && identify->design->port_device[unit.planned] == device;
    bool fitted = old->planned != MYR_NONE && identify->design->port_device[old->planned] == device;
    old->planned = fits && !fitted ? unit.planned : old->planned;
    old->hearsay = old->hearsay && hearsay;
}

void naming_collect(const struct identify *identify, const struct found_ends *ends,
                    struct unit_list *ret)
{
    struct myr_strmap seen = {0};
    for (uint32_t end = 0; !ends->cabling->numbered && end < 2 * ends->cabling->links.count;
         end++) {
        collect_end(identify, ends, end, &seen, ret);
    }
    myr_strmap_done(&seen);
}

struct tally {
    uint32_t name;  /* index of a name of a type */
    uint32_t index; /* of a port in its device */
    uint32_t votes;
    uint32_t type;
    struct myr_str text;
};

struct namer {
    const struct identify *identify;
    struct myr_strmap names; /* type and name, to an index */
    MYR_VEC(uint32_t) voters;
    MYR_VEC(uint32_t) meaning; /* by name: index of a port; MYR_NONE: says nothing */
    MYR_VEC(struct tally) tallies;
    struct myr_u64map tally_of; /* name and port index */
    uint8_t *used;              /* by port of the design */
};

static uint32_t type_of(const struct namer *n, const struct unit *unit)
{
    return n->identify->design->device_type[unit->device];
}

static bool fits(const struct namer *n, const struct unit *unit)
{
    return unit->planned != MYR_NONE &&
           n->identify->design->port_device[unit->planned] == unit->device;
}

static uint32_t name_of(struct namer *n, const struct unit *unit)
{
    char key[KEY_MAX];
    struct myr_str text = key_of(type_of(n, unit), unit->name, key);
    if (add_key(&n->names, n->identify->arena, text, (uint32_t)n->voters.count)) {
        myr_vec_push(&n->voters, 0);
        myr_vec_push(&n->meaning, MYR_NONE);
    }
    return myr_strmap_get(&n->names, text);
}

static void count_vote(struct namer *n, const struct unit *unit)
{
    uint32_t name = name_of(n, unit);
    uint32_t index = unit->planned - n->identify->design->first_port[unit->device];
    uint64_t key = (uint64_t)name << 32 | index;
    if (myr_u64map_add(&n->tally_of, key, (uint32_t)n->tallies.count)) {
        struct tally fresh = {name, index, 0, type_of(n, unit), unit->name};
        myr_vec_push(&n->tallies, fresh);
    }
    n->tallies.items[*myr_u64map_find(&n->tally_of, key)].votes++;
    n->voters.items[name]++;
}

/* Most votes first; among equals the order of the names and of the ports, as systems count. */
static int compare_tallies(const void *left, const void *right)
{
    const struct tally *a = left, *b = right;
    if (a->votes != b->votes) {
        return a->votes > b->votes ? -1 : 1;
    }
    if (a->text.len != b->text.len) {
        return a->text.len < b->text.len ? -1 : 1;
    }
    int order = memcmp(a->text.data, b->text.data, a->text.len);
    if (order) {
        return order;
    }
    return a->index != b->index ? (a->index < b->index ? -1 : 1)
                                : (a->type > b->type) - (a->type < b->type);
}

static void decide_names(struct namer *n)
{
    struct myr_u64map given = {0}; /* type and port index */
    if (n->tallies.count > 1) {
        qsort(n->tallies.items, n->tallies.count, sizeof(*n->tallies.items), compare_tallies);
    }
    for (size_t i = 0; i < n->tallies.count; i++) {
        const struct tally *tally = &n->tallies.items[i];
        uint32_t voters = n->voters.items[tally->name];
        uint64_t place = (uint64_t)tally->type << 32 | tally->index;
        if (voters > 1 && tally->votes * 2 >= voters && n->meaning.items[tally->name] == MYR_NONE &&
            myr_u64map_add(&given, place, 1)) {
            n->meaning.items[tally->name] = tally->index;
        }
    }
    myr_u64map_done(&given);
}

static void take(struct namer *n, struct unit *unit, uint32_t port)
{
    MYR_ASSERT(!n->used[port]);
    MYR_ASSERT(n->identify->design->port_device[port] == unit->device);
    unit->port = port;
    n->used[port] = 1;
}

/* The only port that is left of a device for the only cable that leads away from it. */
static void settle_rest(struct namer *n, uint32_t nets, struct unit_list *units)
{
    const struct myr_design *design = n->identify->design;
    struct myr_u64map waiting = {0}; /* device to unit + 1; 0: several */
    for (size_t i = 0; i < units->count; i++) {
        const struct unit *unit = &units->items[i];
        if (unit->port == MYR_NONE && unit->planned != MYR_NONE && !unit->hearsay &&
            !myr_u64map_add(&waiting, unit->device, (uint32_t)i + 1)) {
            *myr_u64map_find(&waiting, unit->device) = 0;
        }
    }
    for (size_t i = 0; i < units->count; i++) {
        struct unit *unit = &units->items[i];
        const uint32_t *only = myr_u64map_find(&waiting, unit->device);
        if (!only || *only != i + 1) {
            continue;
        }
        uint32_t left = 0, port = MYR_NONE;
        for (uint32_t p = design->first_port[unit->device];
             p < design->first_port[unit->device + 1]; p++) {
            bool open = !n->used[p] && myr_design_peer(design, p) != MYR_NONE &&
                        nets >> myr_design_port_group(design, p)->net & 1;
            left += open;
            port = open ? p : port;
        }
        if (left == 1) {
            take(n, unit, port);
        }
    }
    myr_u64map_done(&waiting);
}

/* The index of the port that the name means; MYR_NONE: it says nothing. */
static uint32_t meaning_of(struct namer *n, const struct unit *unit)
{
    if (unit->name.len == 0) {
        return MYR_NONE;
    }
    uint32_t name = name_of(n, unit); /* may be new, and the list with it */
    return n->meaning.items[name];
}

static void settle_by_names(struct namer *n, struct unit_list *units)
{
    for (size_t i = 0; i < units->count; i++) {
        struct unit *unit = &units->items[i];
        uint32_t index = meaning_of(n, unit);
        uint32_t port =
            index == MYR_NONE ? MYR_NONE : n->identify->design->first_port[unit->device] + index;
        if (port != MYR_NONE && !n->used[port]) {
            take(n, unit, port);
        }
    }
    for (size_t i = 0; i < units->count; i++) {
        struct unit *unit = &units->items[i];
        if (unit->port == MYR_NONE && meaning_of(n, unit) == MYR_NONE && fits(n, unit) &&
            !n->used[unit->planned]) {
            take(n, unit, unit->planned);
        }
    }
}

/* Ports that somebody is already. */
static void mark_used(struct namer *n)
{
    const struct identify *identify = n->identify;
    const struct myr_cabling *cabling = identify->cabling;
    for (uint32_t d = 0; cabling->numbered && d < cabling->devices.count; d++) {
        struct myr_port_span known = identify->devices[d];
        if (known.count == 1) {
            n->used[known.first] = 1;
        }
    }
    for (size_t i = 0; !cabling->numbered && i < cabling->links.count; i++) {
        uint32_t a = identify_port(identify, cabling->links.items[i].a);
        uint32_t b = identify_port(identify, cabling->links.items[i].b);
        if (a != MYR_NONE) {
            n->used[a] = 1;
        }
        if (b != MYR_NONE) {
            n->used[b] = 1;
        }
    }
}

void naming_settle(const struct identify *identify, uint32_t nets, struct unit_list *units)
{
    struct namer n = {.identify = identify};
    if (units->count == 0) {
        return;
    }
    n.used = MYR_ARENA_NEW(identify->arena, uint8_t, (size_t)identify->design->port_count + 1);
    mark_used(&n);
    for (size_t i = 0; i < units->count; i++) {
        if (units->items[i].name.len && fits(&n, &units->items[i])) {
            count_vote(&n, &units->items[i]);
        }
    }
    decide_names(&n);
    settle_by_names(&n, units);
    settle_rest(&n, nets, units);
    myr_strmap_done(&n.names);
    myr_u64map_done(&n.tally_of);
    myr_vec_done(&n.voters);
    myr_vec_done(&n.meaning);
    myr_vec_done(&n.tallies);
}
