#include "import/readers.h"

/*
 * One device under several spellings: "GPU01", "gpu01" and "gpu01.hall2.example" are one machine
 * when nothing speaks against it. Lists are typed by people, and hosts of one site answer with and
 * without their domain; taken for several machines, each half of one would look miscabled.
 *
 * Devices with a GUID are themselves, whatever they are called.
 */

struct joiner {
    struct myr_cabling *cabling;
    struct myr_strmap whole; /* name in small letters, to the first device of it */
    struct myr_strmap bare;  /* the same without a domain, to a place in 'owners' */
    uint32_t *owners;        /* the device of this name that has a domain; several: many */
    uint32_t *same;          /* by device: the one that it is */
};

static const uint32_t many = UINT32_MAX - 1;

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

static bool is_named(const struct myr_cabling_device *device)
{
    return device->guid == 0 && device->name.len > 0;
}

static void note_names(struct joiner *j)
{
    for (uint32_t d = 0; d < j->cabling->devices.count; d++) {
        const struct myr_cabling_device *device = &j->cabling->devices.items[d];
        j->same[d] = d;
        if (!is_named(device)) {
            continue;
        }
        struct myr_str name = small_letters(j, device->name);
        if (!myr_strmap_add(&j->whole, name, d)) {
            j->same[d] = myr_strmap_get(&j->whole, name);
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
        uint32_t first = with < without ? with : without;
        j->same[with] = j->same[without] = first;
    }
    for (uint32_t d = 0; d < j->cabling->devices.count; d++) {
        j->same[d] = j->same[j->same[d]];
    }
}

static void merge_facts(struct myr_cabling_device *into, const struct myr_cabling_device *other)
{
    into->reported = into->reported || other->reported;
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
    uint32_t *moved = MYR_ARENA_NEW(cabling->arena, uint32_t, cabling->devices.count + 1);
    uint32_t count = 0;
    for (uint32_t d = 0; d < cabling->devices.count; d++) {
        struct myr_cabling_device device = cabling->devices.items[d];
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

void myr_import_finish(struct myr_import *import)
{
    struct myr_cabling *cabling = import->cabling;
    struct joiner j = {.cabling = cabling};
    j.same = MYR_ARENA_NEW(cabling->arena, uint32_t, cabling->devices.count + 1);
    j.owners = MYR_ARENA_NEW(cabling->arena, uint32_t, cabling->devices.count + 1);
    note_names(&j);
    join_domains(&j);
    bool joined = false;
    for (uint32_t d = 0; d < cabling->devices.count; d++) {
        joined = joined || j.same[d] != d;
    }
    if (joined) {
        compact(&j);
    }
    myr_strmap_done(&j.whole);
    myr_strmap_done(&j.bare);
}
