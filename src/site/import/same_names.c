#include "import/readers.h"
#include "myriad/site/binding.h"

/*
 * One device under several spellings: "GPU01", "gpu01" and "gpu01.hall2.example" are one machine
 * when nothing speaks against it. Lists are typed by people, and hosts of one site answer with and
 * without their domain; taken for several machines, each half of one would look miscabled.
 *
 * Devices with a GUID are themselves, whatever they are called.
 *
 * What LLDP's neighbours are told of by a file alone bears the file's name, and files are named by
 * whoever collected them: "10.20.0.3.json", "lldp_leaf01_2026-11-16.json". The management address
 * or the chassis address that neighbours tell, or a neighbour's name within the file's, says who
 * that is; otherwise it would be a stranger in the place of every neighbour.
 */

struct joiner {
    struct myr_cabling *cabling;
    struct myr_strmap whole;     /* name in small letters, to the first device of it */
    struct myr_strmap bare;      /* the same without a domain, to a place in 'owners' */
    uint32_t *owners;            /* the device of this name that has a domain; several: many */
    uint32_t *same;              /* by device: the one that it is, or one nearer to it */
    uint8_t *told;               /* by device: some neighbour calls it so */
    struct myr_strmap addresses; /* of management, to a place in 'at_address' */
    uint32_t *at_address;        /* who is managed there; several: many */
    struct myr_u64map macs;      /* of a chassis, to whose it is; several: many */
};

/* A thing that several devices claim tells nothing of any. */
static const uint32_t many = UINT32_MAX - 1;

/* Copied only where something changes: most names are small already. */
static struct myr_str small_letters(struct joiner *j, struct myr_str name)
{
    bool capitals = false;
    for (size_t i = 0; i < name.len; i++) {
        capitals = capitals || (name.data[i] >= 'A' && name.data[i] <= 'Z');
    }
    if (!capitals) {
        return name;
    }
    char *small = myr_arena_strndup(j->cabling->arena, name.data, name.len);
    for (size_t i = 0; i < name.len; i++) {
        bool capital = small[i] >= 'A' && small[i] <= 'Z';
        small[i] = (char)(small[i] + (capital ? 'a' - 'A' : 0));
    }
    return (struct myr_str){small, name.len};
}

/* The length before a domain; 0 where there is none: a domain begins with a letter. */
static size_t bare_length(struct myr_str name)
{
    const char *dot = name.len ? memchr(name.data, '.', name.len) : NULL;
    size_t len = dot ? (size_t)(dot - name.data) : 0;
    bool letter = dot && len + 1 < name.len && dot[1] >= 'a' && dot[1] <= 'z';
    bool plain = letter && !memchr(name.data, ' ', name.len) && !memchr(name.data, ';', name.len);
    return plain ? len : 0;
}

/* No path is shortened: chains are as long as spellings of one name. */
static uint32_t root_of(const struct joiner *j, uint32_t device)
{
    while (j->same[device] != device) {
        device = j->same[device];
    }
    return device;
}

/* The lower number stays, so that devices keep their order. */
static void unite(struct joiner *j, uint32_t one, uint32_t other)
{
    one = root_of(j, one);
    other = root_of(j, other);
    j->same[one > other ? one : other] = one > other ? other : one;
}

static bool is_named(const struct myr_cabling_device *device)
{
    return device->guid == 0 && device->name.len > 0;
}

/* Also starts 'same'. Equal names in small letters are one device at once. */
static void note_names(struct joiner *j)
{
    for (uint32_t d = 0; d < j->cabling->devices.count; d++) {
        const struct myr_cabling_device *device = &j->cabling->devices.items[d];
        j->same[d] = d;
        /* Those with GUIDs, and those without any name, stay as they are. */
        if (!is_named(device)) {
            continue;
        }
        struct myr_str name = small_letters(j, device->name);
        if (!myr_strmap_add(&j->whole, name, d)) {
            unite(j, d, myr_strmap_get(&j->whole, name));
            continue;
        }
        struct myr_str bare = {name.data, bare_length(name)};
        if (bare.len == 0) {
            continue;
        }
        /* Two domains: the name alone does not say which of the two. */
        bool first = myr_strmap_add(&j->bare, bare, j->bare.count);
        j->owners[myr_strmap_get(&j->bare, bare)] = first ? d : many;
    }
}

/* A device without a domain is the one that has its name with one, if there is one such. */
static void join_domains(struct joiner *j)
{
    for (uint32_t i = 0; i < j->bare.count; i++) {
        uint32_t with = j->owners[i];
        uint32_t without = myr_strmap_get(&j->whole, j->bare.keys[i]);
        if (with == many || without == MYR_MAP_NONE) {
            continue;
        }
        unite(j, with, without);
    }
}

static void note_mac(struct joiner *j, uint32_t device)
{
    struct myr_str text = j->cabling->devices.items[device].mac;
    uint32_t root = root_of(j, device);
    uint64_t mac;
    /* A chassis address that two devices have is nobody's. */
    if (text.len && myr_mac_parse(text, &mac) && !myr_u64map_add(&j->macs, mac, root)) {
        uint32_t *owner = myr_u64map_find(&j->macs, mac);
        *owner = *owner == root ? root : many;
    }
}

static uint32_t owner_of_mac(const struct joiner *j, struct myr_str text)
{
    uint64_t mac;
    const uint32_t *owner =
        text.len && myr_mac_parse(text, &mac) ? myr_u64map_find(&j->macs, mac) : NULL;
    return owner ? *owner : many;
}

static bool is_mac(struct myr_str name)
{
    uint64_t mac;
    return myr_mac_parse(name, &mac);
}

/* Who is known by which address, of those that somebody calls by a name. */
static void note_addresses(struct joiner *j)
{
    const struct myr_cabling *cabling = j->cabling;
    bool asked = false;
    for (uint32_t d = 0; d < cabling->devices.count && !asked; d++) {
        asked = cabling->devices.items[d].by_file || cabling->devices.items[d].address.len;
    }
    /* Whom neighbours told is asked of these alone; lists of cables have neither. */
    for (size_t i = 0; asked && i < cabling->links.count; i++) {
        if (cabling->links.items[i].one_sided) {
            uint32_t far = cabling->links.items[i].b.device;
            j->told[far] = j->told[root_of(j, far)] = 1;
        }
    }
    for (uint32_t d = 0; d < cabling->devices.count; d++) {
        const struct myr_cabling_device *device = &cabling->devices.items[d];
        uint32_t root = root_of(j, d);
        /* Who is known by a file or an address only is what is being looked for. */
        if (!is_named(device) || device->by_file || is_mac(device->name)) {
            continue;
        }
        note_mac(j, d);
        /* Addresses of those that neighbours speak of. */
        if (device->address.len && j->told[root]) {
            bool first = myr_strmap_add(&j->addresses, device->address, j->addresses.count);
            uint32_t *owner = &j->at_address[myr_strmap_get(&j->addresses, device->address)];
            *owner = first || *owner == root ? root : many;
        }
    }
}

/* Whether a name may begin or end at this place of a file's name. */
static bool ends_word(struct myr_str text, size_t at)
{
    return at == 0 || at == text.len || strchr("-_. @+", text.data[at]) ||
           strchr("-_. @+", text.data[at - 1]);
}

/* The longest name that a neighbour told and that stands in the file's name between signs. */
static uint32_t named_within(const struct joiner *j, struct myr_str stem)
{
    uint32_t found = many;
    size_t longest = 2; /* shorter names are found in anything */
    for (size_t from = 0; from < stem.len; from++) {
        /* The longest part first, down to what was found already. */
        for (size_t to = stem.len; ends_word(stem, from) && to > from + longest; to--) {
            struct myr_str part = {stem.data + from, to - from};
            uint32_t known = ends_word(stem, to) ? myr_strmap_get(&j->whole, part) : MYR_MAP_NONE;
            if (known != MYR_MAP_NONE && j->told[root_of(j, known)]) {
                found = root_of(j, known);
                longest = part.len;
            }
        }
    }
    return found;
}

/* Who a file is about that is named after nobody; 'many' where that is not known. */
static uint32_t owner_of_file(struct joiner *j, const struct myr_cabling_device *device)
{
    struct myr_str name = small_letters(j, device->name);
    uint32_t place = myr_strmap_get(&j->addresses, name);
    uint32_t owner = place == MYR_MAP_NONE ? many : j->at_address[place];
    owner = owner == many ? owner_of_mac(j, name) : owner;
    owner = owner == many ? owner_of_mac(j, device->mac) : owner;
    return owner == many ? named_within(j, name) : owner;
}

/* Those that tell about themselves under a file's name; and neighbours that told an address. */
static void join_unnamed(struct joiner *j)
{
    const struct myr_cabling *cabling = j->cabling;
    for (uint32_t d = 0; d < cabling->devices.count; d++) {
        const struct myr_cabling_device *device = &cabling->devices.items[d];
        if (!device->by_file || device->guid) {
            continue;
        }
        uint32_t owner = j->told[root_of(j, d)] ? many : owner_of_file(j, device);
        /* One that tells under its own name is not the one that this file is about. */
        if (owner != many && !cabling->devices.items[owner].reported) {
            unite(j, d, owner);
        }
        note_mac(j, d);
    }
    for (uint32_t d = 0; d < cabling->devices.count; d++) {
        const struct myr_cabling_device *device = &cabling->devices.items[d];
        uint32_t owner =
            is_named(device) && !device->by_file ? owner_of_mac(j, device->name) : many;
        if (owner != many) {
            unite(j, d, owner);
        }
    }
    /* A file's name that neighbours use too is the device's own. */
    for (uint32_t d = 0; d < cabling->devices.count; d++) {
        struct myr_cabling_device *device = &j->cabling->devices.items[d];
        device->by_file = device->by_file && !j->told[d];
    }
}

/* A name that somebody calls it by is better than a file's, and that than an address. */
static uint32_t name_rank(const struct myr_cabling_device *device)
{
    return device->name.len == 0 || is_mac(device->name) ? 0 : device->by_file ? 1 : 2;
}

/* What either knows; a better name takes the place of a worse one. */
static void merge_facts(struct myr_cabling_device *into, const struct myr_cabling_device *other)
{
    if (name_rank(other) > name_rank(into)) {
        into->name = other->name;
        into->by_file = other->by_file;
    }
    into->reported = into->reported || other->reported;
    into->whole = into->whole || other->whole;
    into->is_switch = into->is_switch || other->is_switch;
    into->line = into->line ? into->line : other->line;
    into->port_count = into->port_count ? into->port_count : other->port_count;
    into->mac = into->mac.len ? into->mac : other->mac;
    into->address = into->address.len ? into->address : other->address;
}

/* Numbers of devices have no gaps: the rest moves up. */
static void compact(struct joiner *j)
{
    struct myr_cabling *cabling = j->cabling;
    uint32_t *moved = MYR_ARENA_NEW(cabling->arena, uint32_t, cabling->devices.count);
    uint32_t count = 0;
    for (uint32_t d = 0; d < cabling->devices.count; d++) {
        struct myr_cabling_device device = cabling->devices.items[d];
        /* So its new number is known when it is asked for. */
        MYR_ASSERT(j->same[d] <= d);
        if (j->same[d] != d) {
            moved[d] = moved[j->same[d]];
            merge_facts(&cabling->devices.items[moved[d]], &device);
            continue;
        }
        moved[d] = count;
        cabling->devices.items[count++] = device;
    }
    cabling->devices.count = count;
    for (uint32_t i = 0; i < cabling->names.count; i++) {
        cabling->names.values[i] = moved[cabling->names.values[i]];
    }
    for (size_t i = 0; i < cabling->links.count; i++) {
        cabling->links.items[i].a.device = moved[cabling->links.items[i].a.device];
        cabling->links.items[i].b.device = moved[cabling->links.items[i].b.device];
    }
    for (size_t i = 0; i < cabling->bare.count; i++) {
        cabling->bare.items[i].end.device = moved[cabling->bare.items[i].end.device];
    }
}

/* In this order: names first, since addresses are asked of whole devices. */
void myr_import_finish(struct myr_import *import)
{
    struct myr_cabling *cabling = import->cabling;
    struct joiner j = {.cabling = cabling};
    j.same = MYR_ARENA_NEW(cabling->arena, uint32_t, cabling->devices.count);
    j.owners = MYR_ARENA_NEW(cabling->arena, uint32_t, cabling->devices.count);
    j.told = MYR_ARENA_NEW(cabling->arena, uint8_t, cabling->devices.count);
    j.at_address = MYR_ARENA_NEW(cabling->arena, uint32_t, cabling->devices.count);
    note_names(&j);
    join_domains(&j);
    note_addresses(&j);
    join_unnamed(&j);
    bool joined = false;
    for (uint32_t d = 0; d < cabling->devices.count; d++) {
        j.same[d] = root_of(&j, d);
        joined = joined || j.same[d] != d;
    }
    if (joined) {
        compact(&j);
    }
    myr_strmap_done(&j.whole);
    myr_strmap_done(&j.bare);
    myr_strmap_done(&j.addresses);
    myr_u64map_done(&j.macs);
}
