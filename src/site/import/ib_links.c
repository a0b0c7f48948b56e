#include "import/ib_links.h"

/*
 * InfiniBand's tools list a link at both of its ends, and several files may tell of one fabric.
 * Devices and ports are kept in maps, so that the second telling confirms the first, and one that
 * contradicts it is refused in its place.
 */

/* What fits into the 16 bits of a key. */
enum { PORTS_MAX = 65535 };

/* Readers let only numbers through: ports of different spellings would be two. */
static uint64_t port_key(uint32_t device, struct myr_str port)
{
    uint64_t number = 0;
    bool good = myr_str_to_u64(port, &number);
    MYR_ASSERT(good && number <= PORTS_MAX);
    return (uint64_t)device << 16 | number;
}

static int complain_port(const struct myr_import *import, struct import_place place,
                         uint32_t link_index, const char *what, struct myr_err *err)
{
    const struct myr_cabling *cabling = import->cabling;
    const struct myr_cabling_link *link = &cabling->links.items[link_index];
    return import_error(err, place, "%s: see %s:%u", what, cabling->files.items[link->file],
                        link->line);
}

int ib_links_note(struct myr_import *import, struct import_place place,
                  const struct myr_cabling_link *link, struct myr_err *err)
{
    uint64_t key_a = port_key(link->a.device, link->a.port);
    uint64_t key_b = port_key(link->b.device, link->b.port);
    const uint32_t *own = myr_u64map_find(&import->ports, key_a);
    const uint32_t *far = myr_u64map_find(&import->ports, key_b);
    if (key_a == key_b) {
        return import_error(err, place, "the port is linked to itself");
    }
    /*
     * Both ends know this link: it is told the second time, from the other side or by another file.
     */
    if (own && far && *own == *far) {
        struct myr_cabling_link *told = &import->cabling->links.items[*own];
        if (port_key(told->a.device, told->a.port) == key_a && told->file == link->file) {
            return complain_port(import, place, *own, "the port is listed twice", err);
        }
        told->one_sided = false;
        told->no_fec = told->no_fec || link->no_fec;
        for (uint32_t f = 0; f < MYR_LINK_KEPT; f++) {
            told->unread[f] = told->unread[f] ? told->unread[f] : link->unread[f];
        }
        /* Both ends run at the lower of what they tell. */
        bool slower = link->gbps && (told->gbps == 0 || link->gbps < told->gbps);
        told->gbps = slower ? link->gbps : told->gbps;
        told->width = slower ? link->width : told->width;
        return MYR_OK;
    }
    /* Two neighbours at one port: one of the files is old, and nobody knows which. */
    if (own) {
        return complain_port(import, place, *own, "this port has another neighbour already", err);
    }
    if (far) {
        return complain_port(import, place, *far, "the far port has another neighbour already",
                             err);
    }
    /* New: both of its ports are taken now. */
    uint32_t index = (uint32_t)import->cabling->links.count;
    myr_vec_push(&import->cabling->links, *link);
    (void)myr_u64map_add(&import->ports, key_a, index);
    (void)myr_u64map_add(&import->ports, key_b, index);
    return MYR_OK;
}

/* As ibnetdiscover writes ids, so that files of several tools speak of the same devices. */
static const char *id_of(struct myr_import *import, const struct ib_end *end, bool is_switch)
{
    struct myr_arena *arena = import->cabling->arena;
    if (end->guid) {
        return myr_arena_printf(arena, "%c-%016llx", is_switch ? 'S' : 'H',
                                (unsigned long long)end->guid);
    }
    if (end->lid) {
        return myr_arena_printf(arena, "lid %llu", (unsigned long long)end->lid);
    }
    return myr_arena_printf(arena, "name %.*s", (int)end->name.len, end->name.data);
}

int ib_links_check_name(struct import_place place, struct myr_str name, struct myr_err *err)
{
    return import_name_is_good(name)
               ? MYR_OK
               : import_error(err, place, "a name has control characters or more than %u bytes",
                              MYR_IMPORT_NAME_MAX);
}

/* Lines add up: what one does not tell another one may. Names of devices that have one stay. */
int ib_links_device(struct myr_import *import, struct import_place place, const struct ib_end *end,
                    uint32_t *ret, struct myr_err *err)
{
    struct myr_cabling *cabling = import->cabling;
    struct myr_str id = myr_str_from(id_of(import, end, end->is_switch));
    MYR_TRY(import_check_room(import, place, err));
    MYR_TRY(ib_links_check_name(place, end->name, err));
    struct myr_str name = import_tidy(import, end->name);
    uint32_t device = myr_strmap_get(&import->ids, id);
    if (device == MYR_MAP_NONE && end->guid) { /* not every line says what kind of thing it is */
        device = myr_strmap_get(&import->ids, myr_str_from(id_of(import, end, !end->is_switch)));
    }
    if (device == MYR_MAP_NONE) {
        device = (uint32_t)cabling->devices.count;
        struct myr_cabling_device added = {.guid = end->guid, .line = place.line};
        myr_vec_push(&cabling->devices, added);
        (void)myr_strmap_add(&import->ids, id, device);
    }
    struct myr_cabling_device *known = &cabling->devices.items[device];
    known->guid = known->guid ? known->guid : end->guid;
    known->port_guid = known->port_guid ? known->port_guid : end->port_guid;
    known->is_switch = known->is_switch || end->is_switch;
    /* The first name that is told stays. */
    if (known->name.len == 0 && name.len) {
        known->name = name;
        (void)myr_strmap_add(&cabling->names, name, device);
    }
    *ret = device;
    return MYR_OK;
}

static struct myr_str number_text(struct myr_import *import, uint64_t number)
{
    return myr_str_from(
        myr_arena_printf(import->cabling->arena, "%llu", (unsigned long long)number));
}

int ib_links_add(struct myr_import *import, struct import_place place, const struct ib_end *own,
                 const struct ib_end *far, uint32_t gbps, uint32_t width, struct myr_err *err)
{
    /* One-sided until its far end tells it too. */
    struct myr_cabling_link link = {.gbps = gbps,
                                    .width = width,
                                    .one_sided = true,
                                    .no_fec = own->no_fec,
                                    .line = place.line,
                                    .file = (uint32_t)import->cabling->files.count - 1};
    if (own->port == 0 || far->port == 0 || own->port > PORTS_MAX || far->port > PORTS_MAX) {
        return import_error(err, place, "a port's number from 1 to %u is expected", PORTS_MAX);
    }
    MYR_TRY(ib_links_device(import, place, own, &link.a.device, err));
    MYR_TRY(ib_links_device(import, place, far, &link.b.device, err));
    /* Its own line tells of its port; with 'partial' no list counts as whole. */
    import->cabling->devices.items[link.a.device].reported = !import->partial;
    if (own->speed_word.len) {
        link.unread[MYR_LINK_SPEED] =
            myr_cabling_word(import->cabling, MYR_LINK_SPEED, own->speed_word);
    }
    if (own->fec_word.len) {
        link.unread[MYR_LINK_FEC] = myr_cabling_word(import->cabling, MYR_LINK_FEC, own->fec_word);
    }
    link.a.port = number_text(import, own->port);
    link.b.port = number_text(import, far->port);
    return ib_links_note(import, place, &link, err);
}
