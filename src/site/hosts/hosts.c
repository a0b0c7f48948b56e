#include "hosts/hosts.h"

/*
 * Which hosts there are, what belongs to each, and what its names say: NICs are put together by the
 * names of their hosts; hosts of lists are devices already. Where they stand is place.c's.
 */

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
                        const struct host *group)
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
            struct host *group = &hosts->items[hosts->group[d]];
            hosts->members[group->first + group->count++] = d;
        }
    }
}

/* Designs write names in small letters. */
static uint32_t place_named(const struct identify *identify, struct myr_str host)
{
    uint32_t device = identify_device_named(identify, host);
    return device == MYR_NONE ? identify_device_named(identify, small_name(identify->arena, host))
                              : device;
}

/*
 * One host may have several names: its own, and "node-00003-stor0" of a NIC that the plan knows.
 * What is known of a place is of one host; only what nobody knows is told apart by its name.
 */
static struct myr_str key_of_host(const struct identify *identify, uint32_t found,
                                  struct myr_str host)
{
    struct myr_port_span own = identify->devices[found];
    uint32_t device = place_named(identify, host);
    if (device == MYR_NONE && own.count) {
        device = identify->design->port_device[own.first];
    }
    if (device == MYR_NONE) {
        return host;
    }
    const char *key = myr_arena_printf(identify->arena, "/%u", device); /* no host's name */
    return myr_str_from(key);
}

void hosts_group(struct hosts *hosts, const struct identify *identify)
{
    const struct myr_cabling *cabling = identify->cabling;
    uint32_t devices = (uint32_t)cabling->devices.count;
    struct myr_strmap names = {};
    hosts->group = MYR_ARENA_NEW(identify->arena, uint32_t, devices);
    hosts->members = MYR_ARENA_NEW(identify->arena, uint32_t, devices);
    hosts->items = MYR_ARENA_NEW(identify->arena, struct host, devices);
    hosts->count = 0;
    for (uint32_t d = 0; d < devices; d++) {
        struct myr_str host, nic;
        hosts->group[d] = MYR_NONE;
        /* Parts of switches have names like NICs. */
        if (!identify_is_nic(identify, d) || identify->inside[d] || identify->listed[d] ||
            !hosts_split(cabling->devices.items[d].name, &host, &nic)) {
            continue;
        }
        host = key_of_host(identify, d, small_name(identify->arena, host));
        if (myr_strmap_add(&names, host, hosts->count)) {
            hosts->items[hosts->count++] =
                (struct host){.called = MYR_NONE, .claim = MYR_NONE, .node = MYR_NONE};
        }
        hosts->group[d] = myr_strmap_get(&names, host);
        hosts->items[hosts->group[d]].count++;
    }
    fill_members(hosts, devices);
    /* Members of a doubled name stand for themselves. */
    for (uint32_t g = 0; g < hosts->count; g++) {
        struct host *group = &hosts->items[g];
        group->doubled = !is_one_host(hosts, identify, group);
        for (uint32_t i = 0; i < group->count && group->doubled; i++) {
            hosts->group[hosts->members[group->first + i]] = MYR_NONE;
        }
    }
    myr_strmap_done(&names);
}

static bool is_host(const struct myr_design *design, uint32_t device)
{
    uint32_t first = design->first_port[device];
    return first < design->first_port[device + 1] &&
           myr_design_port_group(design, first)->role == MYR_PORT_NIC;
}

/* The port that a NIC's cable speaks for: what the plan has at its other end. */
static uint32_t spoken_for(const struct identify *identify, const struct found_ends *ends,
                           uint32_t found)
{
    for (uint32_t i = ends->first[found]; i < ends->first[found + 1]; i++) {
        uint32_t planned = found_planned(ends, identify, ends->ends[i]);
        if (planned != MYR_NONE &&
            myr_design_port_group(identify->design, planned)->role == MYR_PORT_NIC) {
            return planned;
        }
    }
    return MYR_NONE;
}

/* What the host's name says, or most of its NICs that have names of their own, or were bound. */
static uint32_t claim_of(const struct hosts *hosts, const struct identify *identify,
                         const struct host *host, struct myr_str name)
{
    const struct myr_design *design = identify->design;
    uint32_t claim = MYR_NONE, votes = 0;
    for (uint32_t i = 0; i < host->count; i++) {
        struct myr_port_span own = identify->devices[hosts->members[host->first + i]];
        uint32_t device = own.count ? design->port_device[own.first] : MYR_NONE, agree = 0;
        for (uint32_t j = 0; j < host->count && device != MYR_NONE; j++) {
            struct myr_port_span other = identify->devices[hosts->members[host->first + j]];
            agree += other.count && design->port_device[other.first] == device;
        }
        claim = agree > votes ? device : claim;
        votes = agree > votes ? agree : votes;
    }
    claim = claim == MYR_NONE ? place_named(identify, name) : claim;
    return claim != MYR_NONE && is_host(design, claim) ? claim : MYR_NONE;
}

/* InfiniBand's hosts: each NIC is one port of its host. */
static void collect_group(struct hosts *hosts, const struct identify *identify,
                          const struct found_ends *ends, uint32_t number, struct unit_list *ret)
{
    struct host *host = &hosts->items[number];
    struct myr_str name, nic = MYR_STR("");
    host->first_unit = (uint32_t)ret->count;
    host->found = hosts->members[host->first];
    if (host->doubled) {
        return;
    }
    for (uint32_t i = 0; i < host->count; i++) {
        uint32_t found = hosts->members[host->first + i];
        struct myr_port_span own = identify->devices[found];
        bool split = hosts_split(identify->cabling->devices.items[found].name, &name, &nic);
        MYR_ASSERT(split); /* else it would be no member */
        host->named = host->named || nic.len;
        struct unit unit = {
            .host = number,
            .device = MYR_NONE,
            .found = found,
            .planned = spoken_for(identify, ends, found),
            .known =
                own.count == 0
                    ? MYR_NONE
                    : own.first -
                          identify->design->first_port[identify->design->port_device[own.first]],
            .said = MYR_NONE,
            .port = MYR_NONE,
            .name = nic};
        myr_vec_push(ret, unit);
    }
    host->claim = host->called = claim_of(hosts, identify, host, name);
    host->unit_count = (uint32_t)ret->count - host->first_unit;
}

/* A port that is listed twice keeps the cable that leads to a planned place. */
static void collect_end(const struct identify *identify, const struct found_ends *ends,
                        uint32_t end, uint32_t first, struct unit_list *list)
{
    struct myr_cabling_end own = found_end(ends, end);
    struct myr_port_span known = identify->devices[own.device];
    uint64_t mac;
    bool hearsay = ends->cabling->links.items[end / 2].one_sided && end & 1;
    uint32_t planned = found_planned(ends, identify, end);
    if (own.port.len == 0) {
        return;
    }
    for (size_t i = first; i < list->count; i++) { /* of one host they are few */
        struct unit *old = &list->items[i];
        if (myr_str_eq_nocase(old->name, own.port)) {
            old->planned = old->planned == MYR_NONE ? planned : old->planned;
            old->hearsay = old->hearsay && hearsay;
            return;
        }
    }
    uint32_t port = known.count ? identify_port_as(identify, known, own) : MYR_NONE;
    struct unit unit = {.host = MYR_NONE,
                        .device = MYR_NONE,
                        .found = own.device,
                        .planned = planned,
                        .known = port == MYR_NONE ? MYR_NONE : port - known.first,
                        .said = MYR_NONE,
                        .port = MYR_NONE,
                        .name = own.port,
                        .hearsay = hearsay,
                        .address = myr_mac_parse(own.port, &mac)};
    myr_vec_push(list, unit);
}

/* Whether a device of a list that nobody knows hangs where the plan has hosts. */
static bool hangs_as_host(const struct identify *identify, const struct found_ends *ends,
                          uint32_t found)
{
    uint32_t hosts = 0, all = 0;
    for (uint32_t i = ends->first[found]; i < ends->first[found + 1]; i++) {
        uint32_t planned = found_planned(ends, identify, ends->ends[i]);
        all += planned != MYR_NONE;
        hosts += planned != MYR_NONE &&
                 myr_design_port_group(identify->design, planned)->role == MYR_PORT_NIC;
    }
    return hosts && hosts * 2 >= all; /* at even it is the one whose plugs go astray */
}

/* Hosts of lists are devices, their NICs are ports. */
static void collect_device(struct hosts *hosts, const struct identify *identify,
                           const struct found_ends *ends, uint32_t found, struct unit_list *ret)
{
    struct myr_port_span known = identify->devices[found];
    uint32_t device = known.count ? identify->design->port_device[known.first] : MYR_NONE;
    bool is = device == MYR_NONE ? hangs_as_host(identify, ends, found)
                                 : is_host(identify->design, device);
    if (!is || identify->inside[found]) {
        return;
    }
    uint32_t first = (uint32_t)ret->count, number = hosts->count++;
    for (uint32_t i = ends->first[found]; i < ends->first[found + 1]; i++) {
        collect_end(identify, ends, ends->ends[i], first, ret);
    }
    for (size_t i = first; i < ret->count; i++) {
        ret->items[i].host = number;
    }
    uint32_t named = identify->voted[found] ? MYR_NONE : device;
    hosts->items[number] = (struct host){.called = named,
                                         .claim = named,
                                         .node = MYR_NONE,
                                         .found = found,
                                         .first_unit = first,
                                         .unit_count = (uint32_t)ret->count - first,
                                         .named = true};
}

void hosts_collect(struct hosts *hosts, const struct identify *identify,
                   const struct found_ends *ends, struct unit_list *ret)
{
    for (uint32_t h = 0; identify->cabling->numbered && h < hosts->count; h++) {
        collect_group(hosts, identify, ends, h, ret);
    }
    for (uint32_t d = 0; !identify->cabling->numbered && d < identify->cabling->devices.count;
         d++) {
        collect_device(hosts, identify, ends, d, ret);
    }
}
