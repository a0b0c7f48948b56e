#include <stdlib.h>

#include "hosts/namer.h"

static bool add_key(struct myr_strmap *map, struct myr_arena *arena, struct myr_str key,
                    uint32_t value)
{
    if (myr_strmap_get(map, key) != MYR_MAP_NONE) {
        return false;
    }
    key.data = myr_arena_strndup(arena, key.data, key.len);
    return myr_strmap_add(map, key, value);
}

/*
 * Fewer hosts than AGREED_LEAST are their own cables and little else: one pair of plugs that one
 * crew exchanged alike would be learned as what those NICs are called.
 */
enum { AGREED_LEAST = 3 };

static uint32_t habit_of(const struct namer *n, const struct unit *unit)
{
    return n->habit_of[unit->host];
}

static bool fits(const struct namer *n, const struct unit *unit)
{
    return unit->planned != MYR_NONE &&
           n->identify->design->port_device[unit->planned] == unit->device;
}

static uint32_t name_of(struct namer *n, const struct unit *unit)
{
    char key[NAMING_KEY_MAX];
    struct myr_str text = naming_key(habit_of(n, unit), unit->name, key);
    if (add_key(&n->names, n->identify->arena, text, (uint32_t)n->meanings.count)) {
        struct meaning fresh = {.habit = habit_of(n, unit), .index = MYR_NONE, .text = unit->name};
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
        struct tally fresh = {name, index, 0, habit_of(n, unit), unit->name};
        myr_vec_push(&n->tallies, fresh);
    }
    n->tallies.items[*myr_u64map_find(&n->tally_of, key)].votes++;
    n->meanings.items[name].voters++;
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
                                : (a->habit > b->habit) - (a->habit < b->habit);
}

/* The port that the user told, or that has the design's own name. */
static uint32_t told_index(const struct namer *n, const struct meaning *meaning)
{
    const struct identify *identify = n->identify;
    uint32_t type = n->types[meaning->habit];
    for (uint32_t i = 0; i < identify->hca_count; i++) {
        if (myr_str_eq_nocase(identify->hcas[i].name, meaning->text)) {
            return identify_own_index(identify, type, identify->hcas[i].port);
        }
    }
    return identify_own_index(identify, type, meaning->text);
}

static void decide_told(struct namer *n, struct myr_u64map *given)
{
    for (size_t i = 0; i < n->meanings.count; i++) {
        struct meaning *meaning = &n->meanings.items[i];
        uint32_t index = told_index(n, meaning);
        if (index != MYR_MAP_NONE && naming_is_judged(n, n->types[meaning->habit], index) &&
            myr_u64map_add(given, (uint64_t)meaning->habit << 32 | index, 1)) {
            meaning->index = index;
            meaning->known = true;
        }
    }
}

/*
 * A server's model is known when one rule set reads every name of the type, and all of the model's
 * ports are among them: parts of one could be of another.
 */
static void decide_by_model(struct namer *n, uint32_t habit, struct myr_u64map *given)
{
    struct spelling *spelling = n->identify->spelling;
    uint32_t type = n->types[habit];
    uint32_t systems = UINT32_MAX, covered = 0;
    char word[NAMING_WORD_MAX];
    for (size_t i = 0; i < n->meanings.count && systems; i++) {
        if (n->meanings.items[i].habit == habit) {
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
            meaning->habit != habit || meaning->known
                ? MYR_NONE
                : spelling_read_by(
                      spelling_of(spelling, type, naming_device_word(meaning->text, word)),
                      systems);
        meaning->known = meaning->known || (meaning->habit == habit && index == MYR_PORT_SPARE);
        if (index != MYR_NONE && index != MYR_PORT_SPARE &&
            myr_u64map_add(given, (uint64_t)habit << 32 | index, 1)) {
            meaning->index = index;
            meaning->known = true;
        }
    }
}

/* Where most of its cables lead, of those that lead to a place of their own host. */
static void decide_by_votes(struct namer *n, struct myr_u64map *given)
{
    if (n->tallies.count > 1) {
        qsort(n->tallies.items, n->tallies.count, sizeof(*n->tallies.items), compare_tallies);
    }
    for (size_t i = 0; i < n->tallies.count; i++) {
        const struct tally *tally = &n->tallies.items[i];
        struct meaning *meaning = &n->meanings.items[tally->name];
        bool agreed = (uint64_t)tally->votes * 2 > meaning->voters;
        uint64_t place = (uint64_t)tally->habit << 32 | tally->index;
        if (agreed && !meaning->known && meaning->index == MYR_NONE &&
            myr_u64map_add(given, place, 1)) {
            meaning->index = tally->index;
            meaning->votes = tally->votes;
        }
    }
}

static bool is_of_few(const struct meaning *meaning, uint32_t habit)
{
    return meaning->habit == habit && meaning->index != MYR_NONE && !meaning->known &&
           meaning->votes < AGREED_LEAST;
}

/*
 * What few hosts say is taken back, unless it is what the names say without any cable, and none of
 * them says otherwise.
 */
static void take_back_few(struct namer *n, uint32_t habit)
{
    uint32_t few = 0, denied = 0;
    for (size_t i = 0; i < n->meanings.count; i++) {
        const struct meaning *meaning = &n->meanings.items[i];
        few += is_of_few(meaning, habit);
        denied += meaning->habit == habit && meaning->voters < AGREED_LEAST + 1 &&
                  meaning->votes < meaning->voters && meaning->votes < AGREED_LEAST;
    }
    if (few == 0 || (denied == 0 && naming_is_natural(n, habit))) {
        return;
    }
    for (size_t i = 0; i < n->meanings.count; i++) {
        struct meaning *meaning = &n->meanings.items[i];
        if (is_of_few(meaning, habit)) {
            meaning->index = MYR_NONE;
            n->few_hosts = meaning->hosts > n->few_hosts ? meaning->hosts : n->few_hosts;
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
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map given = {}; /* habit and port index */
    decide_told(n, &given);
    for (uint32_t h = 0; h < n->habit_count; h++) {
        decide_by_model(n, h, &given);
    }
    decide_by_votes(n, &given);
    for (uint32_t h = 0; h < n->habit_count; h++) {
        take_back_few(n, h);
        naming_decide_by_order(n, h);
    }
    count_agreed(n);
}

/* The index of the port that the name means; MYR_NONE: it says nothing. */
static uint32_t meaning_of(struct namer *n, const struct unit *unit)
{
    if (unit->known != MYR_NONE) {
        return unit->known;
    }
    if (!naming_is_open(unit) || habit_of(n, unit) == MYR_NONE) {
        return MYR_NONE;
    }
    uint32_t name = name_of(n, unit); /* may be new, and the list with it */
    return n->meanings.items[name].index;
}

static void take(struct namer *n, struct unit_list *units, size_t number, uint32_t port)
{
    struct unit *unit = &units->items[number];
    MYR_ASSERT(n->identify->design->port_device[port] == unit->device);
    unit->port = port;
    n->used[port] = n->used[port] ? n->used[port] : (uint32_t)number + 1;
}

/* By names; of two that mean one port the first has it. */
static void settle_by_names(struct namer *n, struct unit_list *units)
{
    const struct myr_design *design = n->identify->design;
    for (size_t i = 0; i < units->count; i++) {
        struct unit *unit = &units->items[i];
        unit->said = meaning_of(n, unit);
        unit->port = MYR_NONE;
        if (unit->device == MYR_NONE || unit->said == MYR_NONE) {
            continue;
        }
        uint32_t port = design->first_port[unit->device] + unit->said;
        if (port < design->first_port[unit->device + 1] && !n->used[port]) {
            take(n, units, i, port);
        }
    }
}

/* Ports of the judged networks that the plan uses on a device; 'free': that nobody is. */
static uint32_t count_ports(const struct namer *n, uint32_t device, bool free, uint32_t *ret_last)
{
    const struct myr_design *design = n->identify->design;
    uint32_t count = 0;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        bool wanted = !(free && n->used[p]) && myr_design_peer(design, p) != MYR_NONE &&
                      n->identify->nets >> myr_design_port_group(design, p)->net & 1;
        count += wanted;
        *ret_last = wanted ? p : *ret_last;
    }
    return count;
}

/*
 * The only port that is left of a host for the only cable that leads away from it. A cable may have
 * several names, one from each end; what only the other end says counts where a host has but one
 * port at all.
 */
static void settle_rest(struct namer *n, struct unit_list *units, size_t first, size_t end)
{
    uint32_t device = units->items[first].device, left = MYR_NONE, any, cable = MYR_NONE;
    if (device == MYR_NONE || count_ports(n, device, true, &left) != 1) {
        return;
    }
    bool sole = count_ports(n, device, false, &any) == 1, several = false;
    for (uint32_t pass = 0; pass < 2 && !several; pass++) {
        for (size_t i = first; i < end; i++) {
            const struct unit *unit = &units->items[i];
            if (unit->port != MYR_NONE || unit->planned == MYR_NONE ||
                (!sole && (unit->hearsay || unit->address))) {
                continue;
            }
            several = several || (cable != MYR_NONE && cable != unit->planned);
            cable = unit->planned;
            if (pass == 1) {
                take(n, units, i, left);
            }
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
    verify->wired_count = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < units->count; i++) {
            const struct unit *unit = &units->items[i];
            if (unit->port != MYR_NONE || unit->hearsay || unit->address || !fits(n, unit) ||
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
    uint32_t index = naming_is_open(unit) ? meaning_of(n, unit) : MYR_NONE;
    return index != MYR_NONE && fits(n, unit) &&
           unit->planned != n->identify->design->first_port[unit->device] + index;
}

/* What was taken for granted, and which hosts speak against it: people must be able to object. */
static void put_assumed(struct namer *n, const struct unit_list *units, struct myr_verify *verify)
{
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map seen = {};
    verify->assumed_count = verify->deviating_count = 0;
    verify->assumed = MYR_ARENA_NEW(verify->arena, struct myr_assumed, n->meanings.count);
    verify->deviating = MYR_ARENA_NEW(verify->arena, uint32_t, units->count);
    uint8_t *against = MYR_ARENA_NEW(verify->arena, uint8_t, n->habit_count);
    for (uint32_t h = 0; h < n->habit_count; h++) {
        against[h] = naming_is_against_order(n, h);
    }
    for (size_t i = 0; i < n->meanings.count; i++) {
        const struct meaning *meaning = &n->meanings.items[i];
        if (meaning->index != MYR_NONE && !meaning->known) {
            verify->assumed[verify->assumed_count++] = (struct myr_assumed){
                n->types[meaning->habit], meaning->index,  meaning->text,
                meaning->votes,           meaning->voters, against[meaning->habit]};
        }
    }
    for (size_t i = 0; i < units->count; i++) {
        if (deviates(n, &units->items[i]) && myr_u64map_add(&seen, units->items[i].device, 1)) {
            verify->deviating[verify->deviating_count++] = units->items[i].device;
        }
    }
}

static void namer_done(struct namer *n)
{
    myr_strmap_done(&n->names);
    myr_u64map_done(&n->tally_of);
    myr_vec_done(&n->meanings);
    myr_vec_done(&n->tallies);
}

/* Ports that somebody is already: NICs without a host. */
static void mark_used(struct namer *n, const struct unit_list *units)
{
    const struct identify *identify = n->identify;
    uint8_t *is_unit = MYR_ARENA_NEW(identify->arena, uint8_t, identify->cabling->devices.count);
    for (size_t i = 0; i < units->count; i++) {
        is_unit[units->items[i].found] = 1;
    }
    for (uint32_t d = 0; identify->cabling->numbered && d < identify->cabling->devices.count; d++) {
        struct myr_port_span known = identify->devices[d];
        if (known.count == 1 && !is_unit[d]) {
            n->used[known.first] = MYR_NONE;
        }
    }
}

static void count_votes(struct namer *n, const struct unit_list *units)
{
    for (size_t i = 0; i < units->count; i++) {
        if (naming_is_open(&units->items[i]) && habit_of(n, &units->items[i]) != MYR_NONE) {
            count_vote(n, &units->items[i]);
        }
    }
}

void naming_settle(const struct identify *identify, struct myr_verify *verify,
                   struct unit_list *units)
{
    MYR_CLEANUP(namer_done) struct namer n = {.identify = identify};
    if (units->count == 0) {
        return;
    }
    n.used = MYR_ARENA_NEW(identify->arena, uint32_t, identify->design->port_count);
    mark_used(&n, units);
    naming_find_habits(&n, units, units->items[units->count - 1].host + 1);
    if (n.habit_count) {
        n.doubtful = naming_doubtful(identify);
        count_votes(&n, units);
        decide_names(&n);
    }
    settle_by_names(&n, units);
    for (size_t i = 0; i < units->count;) {
        size_t end = i;
        while (end < units->count && units->items[end].host == units->items[i].host) {
            end++;
        }
        settle_rest(&n, units, i, end);
        i = end;
    }
    put_assumed(&n, units, verify);
    put_by_wiring(&n, units, verify);
    verify->few_hosts = n.few_hosts;
}
