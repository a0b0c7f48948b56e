#include <stdlib.h>

#include "verify/anchor.h"
#include "verify/hosts.h"

/*
 * Votes first: a cable to a known port says which device the plan has at its other end, and on
 * which port. Then colours: each device is coloured by what it is connected to, and that by what it
 * is connected to, in the design and in what was found alike (colour refinement); a colour that one
 * device has on both sides names it. Known devices have a colour of their own from the start.
 */

enum { ROUNDS_MAX = 6, CANDIDATES_MAX = 16 };

struct structure {
    struct identify *identify;
    const struct myr_design *design;
    const struct myr_cabling *cabling;
    struct found_ends ends;
    struct hosts hosts;
    uint32_t *taken; /* by first port of an identity: found device + 1 */
    uint8_t *open;   /* by found device: still without identity */
    uint32_t open_count;
    struct myr_verify *verify;
    MYR_VEC(struct myr_identity) named;
    MYR_VEC(struct myr_ambiguity) alike;
};

static struct myr_cabling_end end_at(const struct structure *s, uint32_t end)
{
    return found_end(&s->ends, end);
}

/* A NIC with a host is told together with the host's other NICs, at the end. */
static bool stands_alone(const struct structure *s, uint32_t found)
{
    return s->open[found] && s->hosts.group[found] == MYR_NONE;
}

static bool is_host_port(const struct myr_design *design, uint32_t port)
{
    return myr_design_port_group(design, port)->role == MYR_PORT_NIC;
}

/* What the found device is if its cable belongs into that port; in InfiniBand kinds must agree. */
static struct myr_port_span candidate_at(const struct structure *s, uint32_t found, uint32_t port)
{
    bool nic = identify_is_nic(s->identify, found);
    if (s->cabling->numbered && nic != is_host_port(s->design, port)) {
        return (struct myr_port_span){0, 0};
    }
    return nic ? (struct myr_port_span){port, 1}
               : identity_of_device(s->design, s->design->port_device[port]);
}

struct candidate {
    struct myr_port_span identity;
    uint32_t votes;
};

struct election {
    struct candidate rows[CANDIDATES_MAX];
    uint32_t count;
    uint32_t voters; /* cables to ports that have a plan */
};

static void vote(struct election *election, struct myr_port_span identity)
{
    for (uint32_t i = 0; i < election->count; i++) {
        if (election->rows[i].identity.first == identity.first) {
            election->rows[i].votes++;
            return;
        }
    }
    if (election->count < CANDIDATES_MAX) {
        election->rows[election->count++] = (struct candidate){identity, 1};
    }
}

static bool is_whole_host(const struct structure *s, struct myr_port_span identity)
{
    return identity.count > 1 && is_host_port(s->design, identity.first);
}

/* What the cables of a device say it is; more than half of them must agree. */
static struct candidate elect(const struct structure *s, uint32_t found, uint32_t *ret_voters)
{
    struct election election = {.count = 0};
    for (uint32_t i = s->ends.first[found]; i < s->ends.first[found + 1]; i++) {
        uint32_t end = s->ends.ends[i];
        uint32_t planned = found_planned(&s->ends, s->identify, end);
        if (planned == MYR_NONE) {
            continue;
        }
        election.voters++;
        struct myr_port_span candidate = candidate_at(s, found, planned);
        uint32_t port =
            candidate.count ? identify_port_as(s->identify, candidate, end_at(s, end)) : MYR_NONE;
        /* A port that has a name of its own may be the planned one. */
        bool fits = port == planned || (port == MYR_NONE && !s->cabling->numbered) ||
                    is_whole_host(s, candidate); /* its NICs may have each other's cables */
        if (candidate.count && !s->taken[candidate.first] && fits) {
            vote(&election, candidate);
        }
    }
    struct candidate best = {.votes = 0};
    for (uint32_t i = 0; i < election.count; i++) {
        best = election.rows[i].votes > best.votes ? election.rows[i] : best;
    }
    *ret_voters = election.voters;
    return best.votes * 2 > election.voters ? best : (struct candidate){.votes = 0};
}

/* How many NICs of the port's host the chosen networks have. */
static uint32_t nics_beside(const struct structure *s, uint32_t port)
{
    const struct myr_devtype *type =
        &s->design->devtypes[s->design->device_type[s->design->port_device[port]]];
    uint32_t nics = 0;
    for (uint32_t g = 0; g < type->group_count; g++) {
        nics += s->verify->options.nets >> type->groups[g].net & 1 ? type->groups[g].count : 0;
    }
    return nics;
}

static void accept(struct structure *s, uint32_t found, struct myr_port_span identity,
                   uint32_t votes, uint32_t links)
{
    MYR_ASSERT(s->open[found] && !s->taken[identity.first]);
    s->identify->by_cable[found] = stands_alone(s, found) && identify_is_nic(s->identify, found) &&
                                   nics_beside(s, identity.first) > 1;
    s->identify->devices[found] = identity;
    s->taken[identity.first] = found + 1;
    s->open[found] = 0;
    s->open_count--;
    struct myr_identity row = {found, identity.first, votes, links};
    myr_vec_push(&s->named, row);
}

struct ballot {
    uint32_t found, voters;
    struct candidate winner;
};

static int compare_ballots(const void *left, const void *right)
{
    const struct ballot *a = left, *b = right;
    uint32_t first_a = a->winner.identity.first, first_b = b->winner.identity.first;
    if (first_a != first_b) {
        return first_a < first_b ? -1 : 1;
    }
    if (a->winner.votes != b->winner.votes) {
        return a->winner.votes > b->winner.votes ? -1 : 1;
    }
    return a->found < b->found ? -1 : a->found > b->found;
}

/* One round of votes for all; two that want one place with equal right both wait. */
static bool vote_round(struct structure *s)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(struct ballot) ballots = {0};
    uint32_t before = s->open_count;
    for (uint32_t d = 0; d < s->cabling->devices.count; d++) {
        struct ballot ballot = {.found = d};
        if (stands_alone(s, d)) {
            ballot.winner = elect(s, d, &ballot.voters);
        }
        if (ballot.winner.votes) {
            myr_vec_push(&ballots, ballot);
        }
    }
    if (ballots.count > 1) {
        qsort(ballots.items, ballots.count, sizeof(*ballots.items), compare_ballots);
    }
    for (size_t i = 0; i < ballots.count; i++) {
        const struct ballot *one = &ballots.items[i];
        const struct ballot *next = i + 1 < ballots.count ? one + 1 : NULL;
        bool tie = next && next->winner.identity.first == one->winner.identity.first &&
                   next->winner.votes == one->winner.votes;
        if (!tie && !s->taken[one->winner.identity.first]) {
            accept(s, one->found, one->winner.identity, one->winner.votes, one->voters);
        } else if (tie) {
            i++; /* and the one that it ties with */
        }
    }
    return s->open_count < before;
}

/* Parts of the design as devices of the cabling's kind would show them. */
struct colours {
    uint64_t *found, *found_next;   /* by found device */
    uint64_t *design, *design_next; /* by first port of a part; 0: no part begins here */
    uint64_t *port_hash;            /* by port of the design: of the name that files give it */
    uint8_t *planned;               /* by first port of a part: it has cables in these networks */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    return myr_hash_u64(a * UINT64_C(0x9e3779b97f4a7c15) + b);
}

static uint64_t hash_of_port(struct myr_str port)
{
    return myr_hash_bytes(port.data, port.len) | 1;
}

/* The first port of the part of the design that this port belongs to. */
static uint32_t part_of(const struct structure *s, uint32_t port)
{
    bool alone = s->cabling->numbered && is_host_port(s->design, port);
    return alone ? port : s->design->first_port[s->design->port_device[port]];
}

static void hash_ports(const struct structure *s, struct colours *colours)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {0};
    for (uint32_t p = 0; p < s->design->port_count; p++) {
        myr_buf_clear(&name);
        if (s->cabling->numbered) {
            myr_buf_put_u64(&name, is_host_port(s->design, p) ? 1 : myr_site_number(s->design, p));
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
        uint64_t start = kinds && is_host_port(s->design, p) ? UNKNOWN_NIC : UNKNOWN;
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
        struct myr_cabling_end own = end_at(s, end), far = end_at(s, end ^ 1);
        bool told_twice = s->cabling->links.items[end / 2].one_sided && end & 1;
        if (!told_twice) {
            colours->found_next[own.device] += mix(
                mix(hash_of_port(own.port), hash_of_port(far.port)), colours->found[far.device]);
        }
    }
    for (uint32_t p = 0; p < design->port_count; p++) {
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
    uint32_t member;
    bool in_design;
};

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

static void list_colours(const struct structure *s, const struct colours *colours,
                         struct coloured_list *list)
{
    list->count = 0;
    for (uint32_t d = 0; d < s->cabling->devices.count; d++) {
        if (stands_alone(s, d)) {
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
    bool alone = s->cabling->numbered && is_host_port(s->design, first);
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
        size_t planned = end - i - found;
        if (found == 1 && planned == 1) {
            uint32_t device = list->items[i].member;
            struct myr_port_span identity = identity_at(s, list->items[i + 1].member);
            accept(s, device, identity, 0, s->ends.first[device + 1] - s->ends.first[device]);
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
    struct myr_ambiguity kinds[2] = {{0}, {0}}; /* switches, NICs */
    for (size_t i = 0; s->cabling->numbered && i < list->count;) {
        size_t end = i, found = 0;
        while (end < list->count && list->items[end].colour == list->items[i].colour) {
            found += !list->items[end].in_design;
            end++;
        }
        for (size_t j = i; j < end && (found == 0 || found == end - i); j++) {
            uint32_t member = list->items[j].member;
            bool nic =
                found ? identify_is_nic(s->identify, member) : is_host_port(s->design, member);
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

/* Hosts by all of their NICs, then ports by what most devices of a type call them. */
static void settle_names(struct structure *s)
{
    struct unit_list units = {0};
    if (s->open_count) {
        hosts_elect(&s->hosts, s->identify, &s->ends, &units);
    }
    naming_collect(s->identify, &s->ends, &units);
    naming_settle(s->identify, s->verify, &units);
    for (size_t i = 0; i < units.count; i++) {
        const struct unit *unit = &units.items[i];
        if (unit->port != MYR_NONE && s->cabling->numbered) {
            accept(s, unit->found, (struct myr_port_span){unit->port, 1},
                   unit->planned == unit->port, unit->planned != MYR_NONE);
        } else if (unit->port != MYR_NONE) {
            identify_alias(s->identify, unit->found, unit->name, unit->port);
        }
    }
    free(units.items);
}

static void by_colours(struct structure *s)
{
    struct colours colours;
    MYR_CLEANUP(coloured_list_done) struct coloured_list list = {0};
    init_colours(s, &colours);
    for (uint32_t round = 0; round < ROUNDS_MAX && s->open_count; round++) {
        uint32_t before = s->open_count;
        refine(s, &colours);
        list_colours(s, &colours, &list);
        match_colours(s, &list, false);
        if (s->open_count < before) {
            while (vote_round(s)) {
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
        if (stands_alone(s, d)) {
            return true;
        }
    }
    return false;
}

/* Switches that votes have named since, of which nobody has learnt how they call their ports. */
static bool any_new_switch(const struct structure *s, size_t first)
{
    for (size_t i = first; i < s->named.count && !s->cabling->numbered; i++) {
        if (!is_host_port(s->design, s->named.items[i].first_port)) {
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
        while (vote_round(s)) {
        }
        if (any_new_switch(s, before)) {
            identify_learn(s->identify);
        }
    } while (any_new_switch(s, before));
}

/* Switches under names of the site's own. In InfiniBand numbers are all alike: colours do it. */
static void by_neighbours(struct structure *s)
{
    if (s->cabling->numbered || !any_alone(s)) {
        return;
    }
    size_t before = s->named.count;
    const uint32_t *places = anchor_switches(s->identify, &s->ends, s->open);
    for (uint32_t d = 0; d < s->cabling->devices.count; d++) {
        if (places[d] != MYR_NONE && s->open[d]) {
            accept(s, d, identity_of_device(s->design, places[d]), 0,
                   s->ends.first[d + 1] - s->ends.first[d]);
        }
    }
    if (s->named.count > before) {
        identify_learn(s->identify);
        vote_and_learn(s);
    }
}

static int compare_named(const void *left, const void *right)
{
    const struct myr_identity *a = left, *b = right;
    return a->first_port < b->first_port ? -1 : a->first_port > b->first_port;
}

static void put_results(struct structure *s)
{
    struct myr_verify *verify = s->verify;
    verify->identity_count = (uint32_t)s->named.count;
    verify->identities = MYR_ARENA_NEW(verify->arena, struct myr_identity, s->named.count + 1);
    verify->ambiguity_count = (uint32_t)s->alike.count;
    verify->ambiguities = MYR_ARENA_NEW(verify->arena, struct myr_ambiguity, s->alike.count + 1);
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

void identify_by_structure(struct identify *identify, struct myr_verify *verify)
{
    struct structure s = {.identify = identify,
                          .design = identify->design,
                          .cabling = identify->cabling,
                          .verify = verify};
    uint32_t devices = (uint32_t)s.cabling->devices.count;
    s.open = MYR_ARENA_NEW(identify->arena, uint8_t, (size_t)devices + 1);
    s.taken = MYR_ARENA_NEW(identify->arena, uint32_t, (size_t)s.design->port_count + 1);
    for (uint32_t d = 0; d < devices; d++) {
        struct myr_port_span known = identify->devices[d];
        s.open[d] = known.count == 0 && !identify->inside[d];
        s.open_count += s.open[d];
        if (known.count) {
            s.taken[known.first] = d + 1;
        }
    }
    hosts_group(&s.hosts, identify);
    s.ends.cabling = s.cabling;
    if (s.open_count) {
        found_ends_fill(&s.ends, s.cabling, identify->arena);
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
