#include <stdlib.h>

#include "verify/anchor.h"
#include "verify/structure.h"

/*
 * Votes first (votes.c), then switches by their neighbours (anchor.c), then colours: each device is
 * coloured by what it is connected to, and that by what it is connected to, in the design and in
 * what was found alike (colour refinement); a colour that one device has on both sides names it.
 * Known devices have a colour of their own from the start.
 */

/* After as many, devices that still look alike do so all around. */
enum { ROUNDS_MAX = 6 };

/* Parts of the design as devices of the cabling's kind would show them. */
struct colours {
    uint64_t *found, *found_next;   /* by found device */
    uint64_t *design, *design_next; /* by first port of a part; 0: no part begins here */
    uint64_t *port_hash;            /* by port of the design: of the name that files give it */
    uint8_t *planned;               /* by first port of a part: it has cables in these networks */
};

/* Not symmetric: which end has which port matters. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    return myr_hash_u64(a * UINT64_C(0x9e3779b97f4a7c15) + b);
}

/* Never 0. */
static uint64_t hash_of_port(struct myr_str port)
{
    return myr_hash_bytes(port.data, port.len) | 1;
}

/* The first port of the part of the design that this port belongs to. */
static uint32_t part_of(const struct structure *s, uint32_t port)
{
    bool alone = s->cabling->numbered && structure_is_host(s->design, port);
    return alone ? port : s->design->first_port[s->design->port_device[port]];
}

/* As files of this kind name them, so that both sides hash the same texts. */
static void hash_ports(const struct structure *s, struct colours *colours)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    for (uint32_t p = 0; p < s->design->port_count; p++) {
        myr_buf_clear(&name);
        if (s->cabling->numbered) {
            myr_buf_put_u64(&name,
                            structure_is_host(s->design, p) ? 1 : myr_site_number(s->design, p));
        } else {
            myr_design_port_name(s->design, p, &name);
        }
        colours->port_hash[p] = hash_of_port((struct myr_str){name.data, name.len});
    }
}

static bool in_nets(const struct structure *s, uint32_t link)
{
    uint32_t type = s->design->cable_type[s->design->link_cable[link]];
    return s->verify->options.nets >> s->design->cabletypes[type].net & 1;
}

/* Parts without a cable in these networks cannot be told by cables. */
static void mark_planned(const struct structure *s, struct colours *colours)
{
    for (uint32_t link = 0; link < s->design->link_count; link++) {
        if (in_nets(s, link)) {
            colours->planned[part_of(s, s->design->link_a[link])] = 1;
            colours->planned[part_of(s, s->design->link_b[link])] = 1;
        }
    }
}

/* All that is not known starts alike; what is known has its own colour on both sides. */
static void start_colours(const struct structure *s, struct colours *colours)
{
    enum { UNKNOWN = 1, UNKNOWN_NIC = 2 };
    bool kinds = s->cabling->numbered;
    for (uint32_t p = 0; p < s->design->port_count; p++) {
        uint64_t start = kinds && structure_is_host(s->design, p) ? UNKNOWN_NIC : UNKNOWN;
        colours->design[p] = colours->planned[p] ? start : 0;
    }
    for (uint32_t d = 0; d < s->cabling->devices.count; d++) {
        struct myr_port_span known = s->identify->devices[d];
        colours->found[d] = identify_is_nic(s->identify, d) ? UNKNOWN_NIC : UNKNOWN;
        if (known.count) {
            colours->found[d] = colours->design[known.first] = mix(known.first, UNKNOWN_NIC);
        }
    }
}

/* One round: each colour takes up the colours around it; sums do not care for order. */
static void refine(const struct structure *s, struct colours *colours)
{
    const struct myr_design *design = s->design;
    size_t devices = s->cabling->devices.count;
    memset(colours->design_next, 0, design->port_count * sizeof(uint64_t));
    memset(colours->found_next, 0, devices * sizeof(uint64_t));
    for (uint32_t link = 0; link < design->link_count; link++) {
        const uint32_t ports[] = {design->link_a[link], design->link_b[link]};
        for (uint32_t side = 0; side < 2 && in_nets(s, link); side++) {
            uint32_t own = ports[side], far = ports[!side];
            colours->design_next[part_of(s, own)] +=
                mix(mix(colours->port_hash[own], colours->port_hash[far]),
                    colours->design[part_of(s, far)]);
        }
    }
    for (uint32_t end = 0; end < 2 * s->cabling->links.count; end++) {
        struct myr_cabling_end own = structure_end(s, end), far = structure_end(s, end ^ 1);
        /* Claims of LLDP come from both ends, each as a link of its own. */
        bool told_twice = s->cabling->links.items[end / 2].one_sided && end & 1;
        if (!told_twice) {
            colours->found_next[own.device] += mix(
                mix(hash_of_port(own.port), hash_of_port(far.port)), colours->found[far.device]);
        }
    }
    for (uint32_t p = 0; p < design->port_count; p++) {
        /* What is known keeps its colour, and is an anchor for what is around it. */
        bool known = colours->design[p] == 0 || s->taken[p];
        colours->design[p] =
            known ? colours->design[p] : mix(colours->design[p], colours->design_next[p]);
    }
    for (size_t d = 0; d < devices; d++) {
        colours->found[d] =
            s->open[d] ? mix(colours->found[d], colours->found_next[d]) : colours->found[d];
    }
}

/* A colour and who has it. */
struct coloured {
    uint64_t colour;
    uint32_t member; /* found device, or first port of a part */
    bool in_design;
};

/* Within a colour the found ones stand before those of the design. */
static int compare_coloured(const void *left, const void *right)
{
    const struct coloured *a = left, *b = right;
    if (a->colour != b->colour) {
        return a->colour < b->colour ? -1 : 1;
    }
    if (a->in_design != b->in_design) {
        return a->in_design ? 1 : -1;
    }
    return a->member < b->member ? -1 : a->member > b->member;
}

struct coloured_list {
    struct coloured *items;
    size_t count;
    size_t capacity;
};

/* Of both sides, in one list: equal colours then stand together. */
static void list_colours(const struct structure *s, const struct colours *colours,
                         struct coloured_list *list)
{
    list->count = 0;
    for (uint32_t d = 0; d < s->cabling->devices.count; d++) {
        if (structure_is_alone(s, d)) {
            myr_vec_push(list, (struct coloured){colours->found[d], d, false});
        }
    }
    for (uint32_t p = 0; p < s->design->port_count; p++) {
        if (colours->design[p] && !s->taken[p]) {
            myr_vec_push(list, (struct coloured){colours->design[p], p, true});
        }
    }
    if (list->count > 1) {
        qsort(list->items, list->count, sizeof(*list->items), compare_coloured);
    }
}

static struct myr_port_span identity_at(const struct structure *s, uint32_t first)
{
    bool alone = s->cabling->numbered && structure_is_host(s->design, first);
    return alone ? (struct myr_port_span){first, 1}
                 : identity_of_device(s->design, s->design->port_device[first]);
}

/* Names what has a colour of its own; with 'last', counts what has not. */
static void match_colours(struct structure *s, const struct coloured_list *list, bool last)
{
    for (size_t i = 0; i < list->count;) {
        size_t end = i, found = 0;
        while (end < list->count && list->items[end].colour == list->items[i].colour) {
            found += !list->items[end].in_design;
            end++;
        }
        /* One of each: that is the device. Several: they look alike. */
        size_t planned = end - i - found;
        if (found == 1 && planned == 1 && s->open[list->items[i].member]) {
            uint32_t device = list->items[i].member;
            struct myr_port_span identity = identity_at(s, list->items[i + 1].member);
            structure_accept(s, device, identity, 0,
                             s->ends.first[device + 1] - s->ends.first[device]);
        } else if (last && found && planned) {
            struct myr_ambiguity alike = {(uint32_t)found, (uint32_t)planned, list->items[i].member,
                                          list->items[i + found].member};
            myr_vec_push(&s->alike, alike);
        }
        i = end;
    }
}

/*
 * Devices that look like nothing in the design hang where they do not belong. In InfiniBand their
 * kind is known: they are some of the places of that kind that are left.
 */
static void count_strangers(struct structure *s, const struct coloured_list *list)
{
    struct myr_ambiguity kinds[2] = {{}, {}}; /* switches, NICs */
    for (size_t i = 0; s->cabling->numbered && i < list->count;) {
        size_t end = i, found = 0;
        while (end < list->count && list->items[end].colour == list->items[i].colour) {
            found += !list->items[end].in_design;
            end++;
        }
        for (size_t j = i; j < end && (found == 0 || found == end - i); j++) {
            uint32_t member = list->items[j].member;
            bool nic =
                found ? identify_is_nic(s->identify, member) : structure_is_host(s->design, member);
            struct myr_ambiguity *kind = &kinds[nic];
            uint32_t *count = found ? &kind->found_count : &kind->design_count;
            uint32_t *one = found ? &kind->found : &kind->first_port;
            *one = *count == 0 || member < *one ? member : *one;
            ++*count;
        }
        i = end;
    }
    for (uint32_t k = 0; k < 2; k++) {
        if (kinds[k].found_count && kinds[k].design_count) {
            myr_vec_push(&s->alike, kinds[k]);
        }
    }
}

static void unit_list_done(struct unit_list *list)
{
    free(list->items);
}

static void coloured_list_done(struct coloured_list *list)
{
    free(list->items);
}

static void init_colours(const struct structure *s, struct colours *colours)
{
    struct myr_arena *arena = s->identify->arena;
    size_t devices = s->cabling->devices.count + 1, ports = (size_t)s->design->port_count + 1;
    *colours = (struct colours){
        .found = MYR_ARENA_NEW(arena, uint64_t, devices),
        .found_next = MYR_ARENA_NEW(arena, uint64_t, devices),
        .design = MYR_ARENA_NEW(arena, uint64_t, ports),
        .design_next = MYR_ARENA_NEW(arena, uint64_t, ports),
        .port_hash = MYR_ARENA_NEW(arena, uint64_t, ports),
        .planned = MYR_ARENA_NEW(arena, uint8_t, ports),
    };
    hash_ports(s, colours);
    mark_planned(s, colours);
    start_colours(s, colours);
}

/* Its name, or what was bound, said otherwise: the wiring has another place for it. */
static void release(struct structure *s, uint32_t found)
{
    struct myr_port_span *own = &s->identify->devices[found];
    MYR_ASSERT(!s->open[found]);
    if (own->count && s->taken[own->first] == found + 1) {
        s->taken[own->first] = 0;
    }
    *own = (struct myr_port_span){0, 0};
    s->open[found] = 1;
    s->open_count++;
    for (size_t i = 0; s->identify->voted[found] && i < s->named.count; i++) {
        if (s->named.items[i].found == found) {
            s->named.items[i] = s->named.items[--s->named.count];
            s->identify->voted[found] = 0;
        }
    }
}

/* Whoever has left its place first, so that others may have it. */
static void release_hosts(struct structure *s, const struct unit_list *units)
{
    const struct myr_design *design = s->design;
    for (uint32_t h = 0; h < s->hosts.count && !s->cabling->numbered; h++) {
        const struct host *host = &s->hosts.items[h];
        struct myr_port_span own = s->identify->devices[host->found];
        if (own.count && design->port_device[own.first] != host->node) {
            release(s, host->found);
        }
    }
    for (size_t i = 0; i < units->count && s->cabling->numbered; i++) {
        const struct unit *unit = &units->items[i];
        struct myr_port_span own = s->identify->devices[unit->found];
        bool host = s->hosts.items[unit->host].called != MYR_NONE;
        if (host && own.count && design->port_device[own.first] != unit->device) {
            release(s, unit->found);
        }
    }
}

static void accept_hosts(struct structure *s)
{
    for (uint32_t h = 0; h < s->hosts.count && !s->cabling->numbered; h++) {
        const struct host *host = &s->hosts.items[h];
        struct myr_port_span place = host->node == MYR_NONE
                                         ? (struct myr_port_span){0, 0}
                                         : identity_of_device(s->design, host->node);
        if (s->open[host->found] && place.count && !s->taken[place.first]) {
            structure_accept(s, host->found, place, 0, host->unit_count);
        }
    }
}

/*
 * InfiniBand's NIC is a device and gets its place; elsewhere a port of a known device gets a name.
 */
static void accept_unit(struct structure *s, const struct unit *unit)
{
    struct myr_cabling_end end = {unit->found, unit->name};
    if (unit->port == MYR_NONE) {
        return;
    }
    if (!s->cabling->numbered) {
        if (identify_port(s->identify, end) != unit->port) {
            identify_alias(s->identify, unit->found, unit->name, unit->port);
        }
    } else if (s->open[unit->found] && !s->taken[unit->port]) {
        structure_accept(s, unit->found, (struct myr_port_span){unit->port, 1},
                         unit->planned == unit->port, unit->planned != MYR_NONE);
    }
}

static void tell_units(const struct hosts *hosts, struct unit_list *units)
{
    for (size_t i = 0; i < units->count; i++) {
        units->items[i].device = hosts->items[units->items[i].host].node;
    }
}

/*
 * Hosts that are called as other places than theirs are to be renamed, and with them those whose
 * names go on where the plan's end; alone these are names of the site's own.
 */
static void put_renamed(struct structure *s)
{
    struct myr_verify *verify = s->verify;
    bool any = false;
    verify->renamed = MYR_ARENA_NEW(verify->arena, struct myr_renamed, s->hosts.count);
    for (uint32_t h = 0; h < s->hosts.count; h++) {
        const struct host *host = &s->hosts.items[h];
        any = any ||
              (host->node != MYR_NONE && host->called != MYR_NONE && host->node != host->called);
    }
    for (uint32_t h = 0; h < s->hosts.count && any; h++) {
        const struct host *host = &s->hosts.items[h];
        bool other = host->node != MYR_NONE && host->node != host->called &&
                     (host->called != MYR_NONE || host->beyond);
        if (other) {
            verify->renamed[verify->renamed_count++] =
                (struct myr_renamed){host->found, host->called, host->node};
        }
    }
}

/*
 * Hosts by all of their cables and by what they are called; ports by what hosts of one habit call
 * them; and with that, which host is which once more: one question, until nothing changes.
 */
static void settle_names(struct structure *s)
{
    enum { ROUNDS = 4 };
    MYR_CLEANUP(unit_list_done) struct unit_list units = {};
    hosts_collect(&s->hosts, s->identify, &s->ends, &units);
    hosts_count_anew(&s->hosts, s->identify, &units);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        bool changed = hosts_place(&s->hosts, s->identify, &units);
        if (round && !changed) {
            break;
        }
        tell_units(&s->hosts, &units);
        naming_settle(s->identify, s->verify, &units);
    }
    release_hosts(s, &units);
    accept_hosts(s);
    for (size_t i = 0; i < units.count; i++) {
        accept_unit(s, &units.items[i]);
    }
    for (uint32_t d = 0; d < s->cabling->devices.count && s->cabling->numbered; d++) {
        uint32_t host = s->hosts.group[d];
        uint32_t node = host == MYR_NONE ? MYR_NONE : s->hosts.items[host].node;
        /* Whose NIC it is is told even where which one it is is not. */
        s->identify->nodes[d] = node == MYR_NONE ? s->identify->nodes[d] : node;
    }
    put_renamed(s);
}

/* Round by round further out; whenever a device is named, from the beginning again. */
static void by_colours(struct structure *s)
{
    struct colours colours;
    MYR_CLEANUP(coloured_list_done) struct coloured_list list = {};
    init_colours(s, &colours);
    for (uint32_t round = 0; round < ROUNDS_MAX && s->open_count; round++) {
        uint32_t before = s->open_count;
        refine(s, &colours);
        list_colours(s, &colours, &list);
        match_colours(s, &list, false);
        /* Somebody was named: votes may go on from there, and colours begin anew. */
        if (s->open_count < before) {
            while (structure_vote(s)) {
            }
            /* Those that are known now are anchors for the rest. */
            start_colours(s, &colours);
            round = 0;
        }
    }
    settle_names(s);
    list_colours(s, &colours, &list);
    match_colours(s, &list, true);
    count_strangers(s, &list);
}

static bool any_alone(const struct structure *s)
{
    for (uint32_t d = 0; s->open_count && d < s->cabling->devices.count; d++) {
        if (structure_is_alone(s, d)) {
            return true;
        }
    }
    return false;
}

/* Switches that votes have named since, of which nobody has learnt how they call their ports. */
static bool any_new_switch(const struct structure *s, size_t first)
{
    for (size_t i = first; i < s->named.count && !s->cabling->numbered; i++) {
        if (!structure_is_host(s->design, s->named.items[i].first_port)) {
            return true;
        }
    }
    return false;
}

/* Votes as long as they name anything; who is known now helps to read the others' ports. */
static void vote_and_learn(struct structure *s)
{
    size_t before;
    do {
        before = s->named.count;
        while (structure_vote(s)) {
        }
        if (any_new_switch(s, before)) {
            identify_learn(s->identify);
        }
    } while (any_new_switch(s, before));
}

/* "SW-1.hall2.example" and "sw-1" are one box. */
static struct myr_str box_key(struct myr_arena *arena, struct myr_str name)
{
    const char *dot = memchr(name.data, '.', name.len);
    size_t len = dot && dot > name.data ? (size_t)(dot - name.data) : name.len;
    char *key = myr_arena_strndup(arena, name.data, len);
    for (size_t i = 0; i < len; i++) {
        bool capital = key[i] >= 'A' && key[i] <= 'Z';
        key[i] = (char)(key[i] + (capital ? 'a' - 'A' : 0));
    }
    return (struct myr_str){key, len};
}

/* Chips of one box, each with the one before it. */
static void join_chips(struct structure *s)
{
    MYR_CLEANUP(myr_strmap_done) struct myr_strmap boxes = {};
    uint32_t devices = (uint32_t)s->cabling->devices.count;
    uint32_t *last = MYR_ARENA_NEW(s->identify->arena, uint32_t, devices);
    s->chip_before = MYR_ARENA_NEW(s->identify->arena, uint32_t, devices);
    for (uint32_t d = 0; d < devices && s->cabling->numbered; d++) {
        struct myr_str box;
        if (!s->open[d] || identify_is_nic(s->identify, d) ||
            !identify_chip(s->cabling->devices.items[d].name, &box)) {
            continue;
        }
        box = box_key(s->identify->arena, box);
        (void)myr_strmap_add(&boxes, box, d);
        uint32_t first = myr_strmap_get(&boxes, box);
        s->chip_before[d] = last[first];
        last[first] = s->chip_before[first] = d + 1; /* round, through the first one */
    }
}

/* Switches under names of the site's own; of a box of several chips the first speaks for all. */
static void by_neighbours(struct structure *s)
{
    uint32_t devices = (uint32_t)s->cabling->devices.count, count = 0;
    uint8_t *asked = MYR_ARENA_NEW(s->identify->arena, uint8_t, devices);
    for (uint32_t d = 0; d < devices; d++) {
        /* The first chip of a box is asked; the others follow it (votes.c). */
        bool later = s->chip_before[d] && s->chip_before[d] - 1 < d;
        asked[d] = structure_is_alone(s, d) && !identify_is_nic(s->identify, d) && !later;
        count += asked[d];
    }
    if (count == 0) {
        return;
    }
    /* Names of ports can be learnt anew when more switches are known. */
    size_t before = s->named.count;
    const uint32_t *places = anchor_switches(s->identify, &s->ends, asked);
    for (uint32_t d = 0; d < s->cabling->devices.count; d++) {
        if (places[d] != MYR_NONE && s->open[d]) {
            structure_accept(s, d, identity_of_device(s->design, places[d]), 0,
                             s->ends.first[d + 1] - s->ends.first[d]);
        }
    }
    if (s->named.count > before) {
        identify_learn(s->identify);
        vote_and_learn(s);
    }
}

/* In design order, whatever order they were found in. */
static int compare_named(const void *left, const void *right)
{
    const struct myr_identity *a = left, *b = right;
    return a->first_port < b->first_port ? -1 : a->first_port > b->first_port;
}

/* The verify keeps its own copies. */
static void put_results(struct structure *s)
{
    struct myr_verify *verify = s->verify;
    verify->identity_count = (uint32_t)s->named.count;
    verify->identities = MYR_ARENA_NEW(verify->arena, struct myr_identity, s->named.count);
    verify->ambiguity_count = (uint32_t)s->alike.count;
    verify->ambiguities = MYR_ARENA_NEW(verify->arena, struct myr_ambiguity, s->alike.count);
    if (s->named.count) {
        qsort(s->named.items, s->named.count, sizeof(*s->named.items), compare_named);
        memcpy(verify->identities, s->named.items, s->named.count * sizeof(*s->named.items));
    }
    if (s->alike.count) {
        memcpy(verify->ambiguities, s->alike.items, s->alike.count * sizeof(*s->alike.items));
    }
    myr_vec_done(&s->named);
    myr_vec_done(&s->alike);
}

/* From the surest to the least sure: votes, neighbours, colours. */
void identify_by_structure(struct identify *identify, struct myr_verify *verify)
{
    struct structure s = {.identify = identify,
                          .design = identify->design,
                          .cabling = identify->cabling,
                          .verify = verify};
    uint32_t devices = (uint32_t)s.cabling->devices.count;
    s.open = MYR_ARENA_NEW(identify->arena, uint8_t, devices);
    s.taken = MYR_ARENA_NEW(identify->arena, uint32_t, s.design->port_count);
    for (uint32_t d = 0; d < devices; d++) {
        struct myr_port_span known = identify->devices[d];
        s.open[d] = known.count == 0 && !identify->inside[d] && !identify->listed[d];
        s.open_count += s.open[d];
        if (known.count) {
            s.taken[known.first] = d + 1;
        }
    }
    hosts_group(&s.hosts, identify);
    s.ends.cabling = s.cabling;
    join_chips(&s);
    found_ends_fill(&s.ends, s.cabling, identify->arena);
    if (s.open_count) {
        vote_and_learn(&s);
        by_neighbours(&s);
    }
    if (any_alone(&s)) {
        by_colours(&s);
    } else {
        settle_names(&s); /* NICs are told with their hosts: nothing is left to colour */
    }
    verify->host_group = s.hosts.group;
    put_results(&s);
}
