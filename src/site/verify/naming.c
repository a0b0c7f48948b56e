#include <stdlib.h>

#include "verify/namer.h"

enum { KEY_MAX = 300, KEY_NUMBER_BYTES = 4 };

/*
 * A number in front of a text: one map serves all types, or all devices. Capitals and blanks do not
 * count: "MLX5_3" is mlx5_3.
 */
static struct myr_str key_of(uint32_t number, struct myr_str name, char ret[KEY_MAX])
{
    size_t len = KEY_NUMBER_BYTES;
    for (uint32_t i = 0; i < KEY_NUMBER_BYTES; i++) {
        ret[i] = (char)(number >> (8 * i));
    }
    for (size_t i = 0; i < name.len && len < KEY_MAX; i++) {
        if (name.data[i] != ' ') {
            ret[len++] = naming_small(name.data[i]);
        }
    }
    return (struct myr_str){ret, len};
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
    uint32_t device = known.count ? identify->design->port_device[known.first] : MYR_NONE;
    if (known.count == 0 || own.port.len == 0 ||
        !identify->spelling->boxes[identify->design->device_type[device]].host) {
        return; /* switches are read by the rules of their systems */
    }
    if (identify_port_as(identify, known, own) != MYR_NONE || myr_mac_parse(own.port, &mac)) {
        return; /* a MAC address that nobody bound is one device's: others cannot tell about it */
    }
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
    struct myr_strmap seen = {};
    for (uint32_t end = 0; !ends->cabling->numbered && end < 2 * ends->cabling->links.count;
         end++) {
        collect_end(identify, ends, end, &seen, ret);
    }
    myr_strmap_done(&seen);
}

/*
 * Fewer hosts than AGREED_LEAST are their own cables and little else: one pair of plugs that one
 * crew exchanged alike would be learned as what those NICs are called.
 */
enum { AGREED_PERCENT = 90, AGREED_LEAST = 3 };

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
    if (add_key(&n->names, n->identify->arena, text, (uint32_t)n->meanings.count)) {
        struct meaning fresh = {.type = type_of(n, unit), .index = MYR_NONE, .text = unit->name};
        myr_vec_push(&n->meanings, fresh);
    }
    return myr_strmap_get(&n->names, text);
}

/* Whether the switch that the port's cable should lead to seems to have changed places. */
static bool is_doubtful(const struct namer *n, uint32_t planned)
{
    uint32_t far = myr_design_peer(n->identify->design, planned);
    return far != MYR_NONE && n->doubtful[n->identify->design->port_device[far]];
}

static void count_vote(struct namer *n, const struct unit *unit)
{
    uint32_t name = name_of(n, unit);
    MYR_ASSERT(name < n->meanings.count);
    n->meanings.items[name].hosts++;
    if (!fits(n, unit) || is_doubtful(n, unit->planned)) {
        return; /* a cable that leads to another host says nothing about this one's names */
    }
    uint32_t index = unit->planned - n->identify->design->first_port[unit->device];
    uint64_t key = (uint64_t)name << 32 | index;
    if (myr_u64map_add(&n->tally_of, key, (uint32_t)n->tallies.count)) {
        struct tally fresh = {name, index, 0, type_of(n, unit), unit->name};
        myr_vec_push(&n->tallies, fresh);
    }
    n->tallies.items[*myr_u64map_find(&n->tally_of, key)].votes++;
    n->meanings.items[name].voters++;
}

static void count_hosts(struct namer *n, const struct unit_list *units)
{
    const struct myr_design *design = n->identify->design;
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map seen = {};
    n->hosts = MYR_ARENA_NEW(n->identify->arena, uint32_t, design->devtype_count);
    for (size_t i = 0; i < units->count; i++) {
        if (myr_u64map_add(&seen, units->items[i].device, 1)) {
            n->hosts[design->device_type[units->items[i].device]]++;
        }
    }
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
    for (size_t i = 0; i < a->text.len; i++) {
        char x = naming_small(a->text.data[i]), y = naming_small(b->text.data[i]);
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return a->index != b->index ? (a->index < b->index ? -1 : 1)
                                : (a->type > b->type) - (a->type < b->type);
}

/* The port that the user told, or that has the design's own name. */
static uint32_t told_index(const struct namer *n, const struct meaning *meaning)
{
    const struct identify *identify = n->identify;
    for (uint32_t i = 0; i < identify->hca_count; i++) {
        if (myr_str_eq_nocase(identify->hcas[i].name, meaning->text)) {
            return identify_own_index(identify, meaning->type, identify->hcas[i].port);
        }
    }
    return identify_own_index(identify, meaning->type, meaning->text);
}

static void decide_told(struct namer *n, struct myr_u64map *given)
{
    for (size_t i = 0; i < n->meanings.count; i++) {
        struct meaning *meaning = &n->meanings.items[i];
        uint32_t index = told_index(n, meaning);
        if (index != MYR_MAP_NONE && naming_is_judged(n, meaning->type, index) &&
            myr_u64map_add(given, (uint64_t)meaning->type << 32 | index, 1)) {
            meaning->index = index;
            meaning->known = true;
        }
    }
}

/*
 * A server's model is known when one rule set reads every name of the type, and all of the model's
 * ports are among them: parts of one could be of another.
 */
static void decide_by_model(struct namer *n, uint32_t type, struct myr_u64map *given)
{
    struct spelling *spelling = n->identify->spelling;
    uint32_t systems = UINT32_MAX, covered = 0;
    char word[NAMING_WORD_MAX];
    for (size_t i = 0; i < n->meanings.count && systems; i++) {
        if (n->meanings.items[i].type == type) {
            const struct spelled *spelled =
                spelling_of(spelling, type, naming_device_word(n->meanings.items[i].text, word));
            uint32_t all = 0;
            for (uint32_t r = 0; r < spelled->count; r++) {
                all |= spelled->systems[r];
            }
            systems &= all;
            covered += all && spelled->index[0] != MYR_PORT_SPARE;
        }
    }
    const struct myr_devtype *devtype = spelling->boxes[type].type;
    if (systems == 0 || systems == UINT32_MAX || devtype->group_count == 0 ||
        covered != devtype->groups[0].count) {
        return;
    }
    for (size_t i = 0; i < n->meanings.count; i++) {
        struct meaning *meaning = &n->meanings.items[i];
        uint32_t index =
            meaning->type != type || meaning->known
                ? MYR_NONE
                : spelling_read_by(
                      spelling_of(spelling, type, naming_device_word(meaning->text, word)),
                      systems);
        meaning->known = meaning->known || (meaning->type == type && index == MYR_PORT_SPARE);
        if (index != MYR_NONE && index != MYR_PORT_SPARE &&
            myr_u64map_add(given, (uint64_t)type << 32 | index, 1)) {
            meaning->index = index;
            meaning->known = true;
        }
    }
}

/* What nine in ten hosts agree on, of those that can tell; a name of few hosts says nothing. */
static void decide_by_votes(struct namer *n, struct myr_u64map *given)
{
    if (n->tallies.count > 1) {
        qsort(n->tallies.items, n->tallies.count, sizeof(*n->tallies.items), compare_tallies);
    }
    for (size_t i = 0; i < n->tallies.count; i++) {
        const struct tally *tally = &n->tallies.items[i];
        struct meaning *meaning = &n->meanings.items[tally->name];
        bool agreed = (uint64_t)tally->votes * 100 >= (uint64_t)meaning->voters * AGREED_PERCENT &&
                      (uint64_t)meaning->hosts * 2 >= n->hosts[meaning->type] &&
                      (uint64_t)meaning->voters * 2 >= meaning->hosts;
        uint64_t place = (uint64_t)tally->type << 32 | tally->index;
        if (agreed && !meaning->known && meaning->index == MYR_NONE &&
            myr_u64map_add(given, place, 1)) {
            meaning->index = tally->index;
            meaning->votes = tally->votes;
        }
    }
}

static bool is_of_few(const struct meaning *meaning, uint32_t type)
{
    return meaning->type == type && meaning->index != MYR_NONE && !meaning->known &&
           meaning->votes < AGREED_LEAST;
}

/* What few hosts say is taken back, unless it is what the names say without any cable. */
static void take_back_few(struct namer *n, uint32_t type)
{
    uint32_t few = 0;
    for (size_t i = 0; i < n->meanings.count; i++) {
        few += is_of_few(&n->meanings.items[i], type);
    }
    if (few == 0 || naming_is_natural(n, type)) {
        return;
    }
    for (size_t i = 0; i < n->meanings.count; i++) {
        struct meaning *meaning = &n->meanings.items[i];
        if (is_of_few(meaning, type)) {
            meaning->index = MYR_NONE;
            n->few_hosts = n->hosts[type] > n->few_hosts ? n->hosts[type] : n->few_hosts;
        }
    }
}

/* Of each name, how many hosts say what was taken for it, by whatever rule. */
static void count_agreed(struct namer *n)
{
    for (size_t i = 0; i < n->tallies.count; i++) {
        const struct tally *tally = &n->tallies.items[i];
        struct meaning *meaning = &n->meanings.items[tally->name];
        meaning->votes = meaning->index == tally->index ? tally->votes : meaning->votes;
    }
}

static void decide_names(struct namer *n)
{
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map given = {}; /* type and port index */
    decide_told(n, &given);
    for (uint32_t t = 0; t < n->identify->design->devtype_count; t++) {
        if (n->hosts[t] && n->identify->spelling->boxes[t].host) {
            decide_by_model(n, t, &given);
        }
    }
    decide_by_votes(n, &given);
    for (uint32_t t = 0; t < n->identify->design->devtype_count; t++) {
        if (n->hosts[t]) {
            take_back_few(n, t);
            naming_decide_by_order(n, t);
        }
    }
    count_agreed(n);
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
    struct myr_u64map waiting = {}; /* device to unit + 1; 0: several */
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
    return n->meanings.items[name].index;
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

/*
 * What only its own cable says of a port, for who wants the wiring to decide. Two that want one
 * port both stay out.
 */
static void put_by_wiring(struct namer *n, const struct unit_list *units, struct myr_verify *verify)
{
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map wanted = {}; /* port to units that want it */
    verify->wired = MYR_ARENA_NEW(verify->arena, struct myr_wired, units->count);
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < units->count; i++) {
            const struct unit *unit = &units->items[i];
            if (unit->port != MYR_NONE || unit->hearsay || !fits(n, unit) ||
                n->used[unit->planned]) {
                continue;
            }
            if (pass == 0 && !myr_u64map_add(&wanted, unit->planned, 1)) {
                *myr_u64map_find(&wanted, unit->planned) = 2;
            } else if (pass == 1 && *myr_u64map_find(&wanted, unit->planned) == 1) {
                verify->wired[verify->wired_count++] =
                    (struct myr_wired){{unit->found, unit->name}, unit->planned};
            }
        }
    }
}

static bool deviates(struct namer *n, const struct unit *unit)
{
    uint32_t index = meaning_of(n, unit);
    return index != MYR_NONE && fits(n, unit) &&
           unit->planned != n->identify->design->first_port[unit->device] + index;
}

/* What was taken for granted, and which hosts speak against it: people must be able to object. */
static void put_assumed(struct namer *n, const struct unit_list *units, struct myr_verify *verify)
{
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map seen = {};
    verify->assumed = MYR_ARENA_NEW(verify->arena, struct myr_assumed, n->meanings.count);
    verify->deviating = MYR_ARENA_NEW(verify->arena, uint32_t, units->count);
    for (size_t i = 0; i < n->meanings.count; i++) {
        const struct meaning *meaning = &n->meanings.items[i];
        if (meaning->index != MYR_NONE && !meaning->known) {
            verify->assumed[verify->assumed_count++] = (struct myr_assumed){
                meaning->type, meaning->index, meaning->text, meaning->votes, meaning->voters};
        }
    }
    for (size_t i = 0; i < units->count; i++) {
        if (deviates(n, &units->items[i]) && myr_u64map_add(&seen, units->items[i].device, 1)) {
            verify->deviating[verify->deviating_count++] = units->items[i].device;
        }
    }
}

void naming_settle(const struct identify *identify, struct myr_verify *verify,
                   struct unit_list *units)
{
    struct namer n = {.identify = identify};
    if (units->count == 0) {
        return;
    }
    n.used = MYR_ARENA_NEW(identify->arena, uint8_t, identify->design->port_count);
    mark_used(&n);
    count_hosts(&n, units);
    n.doubtful = naming_doubtful(identify);
    for (size_t i = 0; i < units->count; i++) {
        if (units->items[i].name.len) {
            count_vote(&n, &units->items[i]);
        }
    }
    decide_names(&n);
    settle_by_names(&n, units);
    settle_rest(&n, verify->options.nets, units);
    put_assumed(&n, units, verify);
    put_by_wiring(&n, units, verify);
    verify->few_hosts = n.few_hosts;
    myr_strmap_done(&n.names);
    myr_u64map_done(&n.tally_of);
    myr_vec_done(&n.meanings);
    myr_vec_done(&n.tallies);
}
