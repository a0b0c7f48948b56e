#include "verify/hosts.h"

#include <stdlib.h>

/*
 * First NICs are put together by the names of their hosts; then each host votes, all of its cables
 * together, for the node that it is. Hosts with a majority go first, and every place that is taken
 * may decide another vote.
 */

/* Nodes that the NICs of one host may speak for; more are noise. */
enum { CANDIDATES_MAX = 16 };

static bool has_digit(struct myr_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] >= '0' && text.data[i] <= '9') {
            return true;
        }
    }
    return false;
}

/* What drivers call NICs, for names that have no space: "gpu-042-mlx5_3", but not "gpu-n042". */
static bool is_nic_word(struct myr_str word)
{
    static const char *const starts[] = {"mlx", "ib",   "hca",   "nic",  "hfi",  "en",
                                         "eth", "bnxt", "irdma", "roce", "rdma", "cxi"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(starts); i++) {
        size_t len = strlen(starts[i]);
        if (word.len > len &&
            myr_str_eq_nocase((struct myr_str){word.data, len}, myr_str_from(starts[i]))) {
            return has_digit(word);
        }
    }
    return false;
}

/* "gpu042.site.example" is gpu042; an address of numbers stays whole. */
static struct myr_str without_domain(struct myr_str host)
{
    bool numbers = true;
    for (size_t i = 0; i < host.len; i++) {
        numbers = numbers && (host.data[i] == '.' || (host.data[i] >= '0' && host.data[i] <= '9'));
    }
    /* An address has dots that are no domain's. */
    const char *dot = numbers ? NULL : memchr(host.data, '.', host.len);
    return (struct myr_str){host.data,
                            dot && dot > host.data ? (size_t)(dot - host.data) : host.len};
}

bool hosts_split(struct myr_str name, struct myr_str *ret_host, struct myr_str *ret_nic)
{
    size_t spaces = 0, divider = 0;
    for (size_t i = 0; i < name.len; i++) {
        spaces += name.data[i] == ' ';
        /* The last blank, or before any blank the last dash. */
        divider = name.data[i] == ' ' || (name.data[i] == '-' && !spaces) ? i : divider;
    }
    /* Cards that nobody named have several words: "MT4129 ConnectX7 Mellanox Technologies". */
    if (spaces > 1 || name.len == 0) {
        return false;
    }
    struct myr_str nic = {name.data + divider + 1, name.len - divider - 1};
    /*
     * Behind a blank anything with a number is a NIC; behind a dash only what drivers call so,
     * since names of hosts have dashes.
     */
    bool split = divider && nic.len && (spaces ? has_digit(nic) : is_nic_word(nic));
    if (spaces && !split) {
        return false;
    }
    *ret_host = without_domain((struct myr_str){name.data, split ? divider : name.len});
    *ret_nic = split ? nic : MYR_STR("");
    return !myr_str_eq(*ret_host, MYR_STR("localhost"));
}

/* Of any host type: which type this one is is not known yet. */
static uint32_t most_nics(const struct myr_design *design)
{
    uint32_t most = 0;
    for (uint32_t t = 0; t < design->devtype_count; t++) {
        uint32_t nics = 0;
        for (uint32_t g = 0; g < design->devtypes[t].group_count; g++) {
            const struct myr_port_group *group = &design->devtypes[t].groups[g];
            nics += group->role == MYR_PORT_NIC ? group->count : 0;
        }
        most = nics > most ? nics : most;
    }
    return most;
}

/* A host has each of its NICs once; two machines of one name have places that nobody can tell. */
static bool is_one_host(const struct hosts *hosts, const struct identify *identify,
                        const struct host_group *group)
{
    const struct myr_cabling_device *devices = identify->cabling->devices.items;
    struct myr_str host, one, other;
    bool wordless = false;
    /* NICs of a host are few: pairs are compared. */
    for (uint32_t i = 0; i < group->count; i++) {
        (void)hosts_split(devices[hosts->members[group->first + i]].name, &host, &one);
        wordless = wordless || one.len == 0;
        for (uint32_t j = 0; j < i && one.len; j++) {
            (void)hosts_split(devices[hosts->members[group->first + j]].name, &host, &other);
            if (myr_str_eq_nocase(one, other)) {
                return false;
            }
        }
    }
    return group->count > 0 && (!wordless || group->count <= most_nics(identify->design));
}

/* Host names are the same in capitals. Copied only where something changes. */
static struct myr_str small_name(struct myr_arena *arena, struct myr_str name)
{
    bool capitals = false;
    for (size_t i = 0; i < name.len; i++) {
        capitals = capitals || (name.data[i] >= 'A' && name.data[i] <= 'Z');
    }
    if (!capitals) {
        return name;
    }
    char *small = myr_arena_strndup(arena, name.data, name.len);
    for (size_t i = 0; i < name.len; i++) {
        bool capital = small[i] >= 'A' && small[i] <= 'Z';
        small[i] = (char)(small[i] + (capital ? 'a' - 'A' : 0));
    }
    return (struct myr_str){small, name.len};
}

/* Counts become places, and are counted again as members come. */
static void fill_members(struct hosts *hosts, uint32_t devices)
{
    uint32_t first = 0;
    for (uint32_t g = 0; g < hosts->count; g++) {
        hosts->items[g].first = first;
        first += hosts->items[g].count;
        hosts->items[g].count = 0;
    }
    for (uint32_t d = 0; d < devices; d++) {
        if (hosts->group[d] != MYR_NONE) {
            struct host_group *group = &hosts->items[hosts->group[d]];
            hosts->members[group->first + group->count++] = d;
        }
    }
}

void hosts_group(struct hosts *hosts, const struct identify *identify)
{
    const struct myr_cabling *cabling = identify->cabling;
    uint32_t devices = (uint32_t)cabling->devices.count;
    struct myr_strmap names = {};
    hosts->group = MYR_ARENA_NEW(identify->arena, uint32_t, devices);
    hosts->members = MYR_ARENA_NEW(identify->arena, uint32_t, devices);
    hosts->items = MYR_ARENA_NEW(identify->arena, struct host_group, devices);
    hosts->count = 0;
    for (uint32_t d = 0; d < devices; d++) {
        struct myr_str host, nic;
        hosts->group[d] = MYR_NONE;
        /* Parts of switches have names like NICs. */
        if (!identify_is_nic(identify, d) || identify->inside[d] || identify->listed[d] ||
            !hosts_split(cabling->devices.items[d].name, &host, &nic)) {
            continue;
        }
        host = small_name(identify->arena, host);
        if (myr_strmap_add(&names, host, hosts->count)) {
            hosts->items[hosts->count++].node = MYR_NONE;
        }
        hosts->group[d] = myr_strmap_get(&names, host);
        hosts->items[hosts->group[d]].count++;
    }
    fill_members(hosts, devices);
    /* Members of a doubled name stand for themselves. */
    for (uint32_t g = 0; g < hosts->count; g++) {
        struct host_group *group = &hosts->items[g];
        group->doubled = !is_one_host(hosts, identify, group);
        for (uint32_t i = 0; i < group->count && group->doubled; i++) {
            hosts->group[hosts->members[group->first + i]] = MYR_NONE;
        }
    }
    myr_strmap_done(&names);
}

struct host_ballot {
    uint32_t group, node, votes, voters;
};

struct host_vote {
    struct hosts *hosts;
    const struct identify *identify;
    const struct found_ends *ends;
    uint32_t *owner; /* by device of the design: group + 1, or MYR_NONE for a NIC of no group */
};

/* The port that a NIC's cable, or its own identity, speaks for. */
static uint32_t spoken_for(const struct host_vote *v, uint32_t found)
{
    struct myr_port_span known = v->identify->devices[found];
    /* What it is called outweighs where it leads. */
    if (known.count) {
        return known.first;
    }
    for (uint32_t i = v->ends->first[found]; i < v->ends->first[found + 1]; i++) {
        uint32_t planned = found_planned(v->ends, v->identify, v->ends->ends[i]);
        if (planned != MYR_NONE &&
            myr_design_port_group(v->identify->design, planned)->role == MYR_PORT_NIC) {
            return planned;
        }
    }
    return MYR_NONE;
}

/* The node that most NICs of the host speak for, among those that nobody has. */
static struct host_ballot elect_node(const struct host_vote *v, uint32_t g)
{
    const struct host_group *group = &v->hosts->items[g];
    struct host_ballot rows[CANDIDATES_MAX], best = {g, MYR_NONE, 0, 0};
    uint32_t count = 0, voters = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t port = spoken_for(v, v->hosts->members[group->first + i]);
        if (port == MYR_NONE) {
            continue;
        }
        uint32_t node = v->identify->design->port_device[port], at = 0;
        voters++;
        /* Taken by another one: this NIC's cable is wrong, or that one's is. */
        if (v->owner[node] && v->owner[node] != g + 1) {
            continue;
        }
        while (at < count && rows[at].node != node) {
            at++;
        }
        if (at == count && count < CANDIDATES_MAX) {
            rows[count++] = (struct host_ballot){g, node, 0, 0};
        }
        if (at < count) {
            rows[at].votes++;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        /* Among equals the lower node: the same input gives the same answer. */
        bool better =
            rows[i].votes > best.votes || (rows[i].votes == best.votes && rows[i].node < best.node);
        best = better ? rows[i] : best;
    }
    best.voters = voters;
    return best;
}

/* The strongest claim to a node stands first, and gets it. */
static int compare_host_ballots(const void *left, const void *right)
{
    const struct host_ballot *a = left, *b = right;
    if (a->node != b->node) {
        return a->node < b->node ? -1 : 1;
    }
    if (a->votes != b->votes) {
        return a->votes > b->votes ? -1 : 1;
    }
    return a->group < b->group ? -1 : a->group > b->group;
}

/* One name for NICs without names of their own may as well be one for several machines. */
static bool names_its_nics(const struct host_vote *v, uint32_t g)
{
    uint32_t one = v->hosts->members[v->hosts->items[g].first];
    struct myr_str host, nic = MYR_STR("");
    (void)hosts_split(v->identify->cabling->devices.items[one].name, &host, &nic);
    return nic.len > 0;
}

/*
 * Majorities first; 'last' also gives hosts whose NICs are divided a place, the first that is free:
 * whichever it is, what contradicts it must be seen.
 */
static bool vote_hosts(const struct host_vote *v, bool last)
{
    MYR_VEC(struct host_ballot) ballots = {};
    bool changed = false;
    for (uint32_t g = 0; g < v->hosts->count; g++) {
        if (!v->hosts->items[g].doubled && v->hosts->items[g].node == MYR_NONE) {
            /* Who has a place already votes no more. */
            struct host_ballot ballot = elect_node(v, g);
            bool named = last && names_its_nics(v, g);
            if (ballot.votes && (named || ballot.votes * 2 > ballot.voters)) {
                myr_vec_push(&ballots, ballot);
            }
        }
    }
    if (ballots.count > 1) {
        qsort(ballots.items, ballots.count, sizeof(*ballots.items), compare_host_ballots);
    }
    for (size_t i = 0; i < ballots.count; i++) {
        const struct host_ballot *one = &ballots.items[i];
        /* One whose place is gone votes again in the next round. */
        if (v->owner[one->node] == 0 || v->owner[one->node] == one->group + 1) {
            v->owner[one->node] = one->group + 1;
            v->hosts->items[one->group].node = one->node;
            changed = true;
        }
    }
    myr_vec_done(&ballots);
    return changed;
}

static bool is_host(const struct myr_design *design, uint32_t device)
{
    uint32_t first = design->first_port[device];
    return first < design->first_port[device + 1] &&
           myr_design_port_group(design, first)->role == MYR_PORT_NIC;
}

/* Hosts whose names are known, and nodes that NICs of no group have. */
static void mark_known(const struct host_vote *v)
{
    const struct identify *identify = v->identify;
    for (uint32_t d = 0; d < identify->cabling->devices.count; d++) {
        struct myr_port_span known = identify->devices[d];
        if (known.count && identify_is_nic(identify, d) && v->hosts->group[d] == MYR_NONE) {
            v->owner[identify->design->port_device[known.first]] = MYR_NONE;
        }
    }
    for (uint32_t g = 0; g < v->hosts->count; g++) {
        struct host_group *group = &v->hosts->items[g];
        struct myr_str host, nic;
        if (group->doubled) {
            continue;
        }
        /* Any member tells the host's name. */
        uint32_t one = v->hosts->members[group->first];
        bool split = hosts_split(identify->cabling->devices.items[one].name, &host, &nic);
        MYR_ASSERT(split); /* else it would be no member */
        uint32_t device = identify_device_named(identify, host);
        /* Designs write names in small letters. */
        if (device == MYR_NONE) {
            device = identify_device_named(identify, small_name(identify->arena, host));
        }
        if (device != MYR_NONE && v->owner[device] == 0 && is_host(identify->design, device)) {
            group->node = device;
            v->owner[device] = g + 1;
        }
    }
}

/* Until nothing changes: each place that is taken may decide another vote. */
void hosts_elect(struct hosts *hosts, const struct identify *identify,
                 const struct found_ends *ends, struct unit_list *ret)
{
    struct host_vote v = {hosts, identify, ends, NULL};
    v.owner = MYR_ARENA_NEW(identify->arena, uint32_t, identify->design->device_count);
    mark_known(&v);
    while (vote_hosts(&v, false)) {
    }
    while (vote_hosts(&v, true)) {
    }
    for (uint32_t d = 0; d < identify->cabling->devices.count; d++) {
        uint32_t node = hosts->group[d] == MYR_NONE ? MYR_NONE : hosts->items[hosts->group[d]].node;
        struct myr_str host, nic = MYR_STR("");
        /* Whose NIC it is is told even where which one it is is not. */
        identify->nodes[d] = node == MYR_NONE ? identify->nodes[d] : node;
        if (node == MYR_NONE || identify->devices[d].count) {
            continue;
        }
        (void)hosts_split(identify->cabling->devices.items[d].name, &host, &nic);
        struct unit unit = {node, d, spoken_for(&v, d), MYR_NONE, nic, false};
        myr_vec_push(ret, unit);
    }
}
