#include "myriad/site/binding.h"

/*
 * Rows, and a map from each thing that must be somebody's own (GUID, MAC address, host name, serial
 * number, port name) to the row that has it. A row is never removed and never changes its place:
 * what is known of a device only grows, and what contradicts it is refused by myr_binding_add().
 */

/* A name of at most 255 bytes (file.c refuses longer ones), and the device in front. */
enum { NAME_KEY_DEVICE_BYTES = 4, NAME_KEY_MAX = 300 };

void myr_binding_init(struct myr_binding *binding, struct myr_arena *arena,
                      const struct myr_design *design)
{
    *binding = (struct myr_binding){.arena = arena, .design = design};
}

void myr_binding_done(struct myr_binding *binding)
{
    myr_vec_done(&binding->rows);
    myr_u64map_done(&binding->places);
    myr_u64map_done(&binding->guids);
    myr_u64map_done(&binding->macs);
    myr_strmap_done(&binding->hosts);
    myr_strmap_done(&binding->serials);
    myr_strmap_done(&binding->names);
}

/* A device as a whole has MYR_NONE as its port. */
static uint64_t place_key(uint32_t device, uint32_t port)
{
    return (uint64_t)device << 32 | port;
}

const struct myr_bound *myr_binding_get(const struct myr_binding *binding, uint32_t device,
                                        uint32_t port)
{
    const uint32_t *row = myr_u64map_find(&binding->places, place_key(device, port));
    MYR_ASSERT(!row || *row < binding->rows.count);
    return row ? &binding->rows.items[*row] : NULL;
}

/* The device's number, then the name: one map serves all devices. */
static struct myr_str name_key(uint32_t device, struct myr_str name, char ret[NAME_KEY_MAX])
{
    size_t len = name.len < NAME_KEY_MAX - NAME_KEY_DEVICE_BYTES
                     ? name.len
                     : NAME_KEY_MAX - NAME_KEY_DEVICE_BYTES;
    for (uint32_t i = 0; i < NAME_KEY_DEVICE_BYTES; i++) {
        ret[i] = (char)(device >> (8 * i));
    }
    memcpy(ret + NAME_KEY_DEVICE_BYTES, name.data, len);
    return (struct myr_str){ret, len + NAME_KEY_DEVICE_BYTES};
}

uint32_t myr_binding_port(const struct myr_binding *binding, uint32_t device, struct myr_str name)
{
    char key[NAME_KEY_MAX];
    if (binding->names.count == 0 || name.len == 0) {
        return MYR_NONE;
    }
    uint32_t row = myr_strmap_get(&binding->names, name_key(device, name, key));
    return row == MYR_MAP_NONE ? MYR_NONE : binding->rows.items[row].port;
}

/* Zero stands for "not known" in all numbers: no GUID, MAC address or interface has it. */

/* A number that is bound already: to which row; MYR_NONE when it is free or there is no number. */
static uint32_t taken_number(const struct myr_u64map *map, uint64_t value)
{
    const uint32_t *row = value ? myr_u64map_find(map, value) : NULL;
    return row ? *row : MYR_NONE;
}

static uint32_t taken_text(const struct myr_strmap *map, struct myr_str value)
{
    uint32_t row = value.len ? myr_strmap_get(map, value) : MYR_MAP_NONE;
    return row == MYR_MAP_NONE ? MYR_NONE : row;
}

/* What only one of the two rows knows is no contradiction. */
static bool texts_differ(struct myr_str old, struct myr_str new)
{
    return old.len && new.len && !myr_str_eq(old, new);
}

static bool numbers_differ(uint64_t old, uint64_t new)
{
    return old && new &&old != new;
}

static bool differs(const struct myr_bound *old, const struct myr_bound *new)
{
    return numbers_differ(old->guid, new->guid) || numbers_differ(old->port_guid, new->port_guid) ||
           numbers_differ(old->mac, new->mac) || numbers_differ(old->ifindex, new->ifindex) ||
           texts_differ(old->serial, new->serial) || texts_differ(old->host, new->host) ||
           texts_differ(old->address, new->address) || texts_differ(old->name, new->name);
}

/* The row that has what 'bound' claims; MYR_NONE when all of it is free, or this row's own. */
static uint32_t row_in_the_way(const struct myr_binding *binding, const struct myr_bound *bound,
                               uint32_t own)
{
    char key[NAME_KEY_MAX];
    /* GUIDs of nodes and of ports are one space: neither may be another one's. */
    const uint32_t rows[] = {
        taken_number(&binding->guids, bound->guid),
        taken_number(&binding->guids, bound->port_guid),
        taken_number(&binding->macs, bound->mac),
        taken_text(&binding->hosts, bound->host),
        taken_text(&binding->serials, bound->serial),
        bound->name.len ? taken_text(&binding->names, name_key(bound->device, bound->name, key))
                        : MYR_NONE,
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        if (rows[i] != MYR_NONE && rows[i] != own) {
            return rows[i];
        }
    }
    return MYR_NONE;
}

/* What is known stays; differs() has made sure that the new row says nothing else. */
static void merge(struct myr_bound *row, const struct myr_bound *bound)
{
    MYR_ASSERT(row->device == bound->device && row->port == bound->port);
    row->guid = row->guid ? row->guid : bound->guid;
    row->port_guid = row->port_guid ? row->port_guid : bound->port_guid;
    row->mac = row->mac ? row->mac : bound->mac;
    row->ifindex = row->ifindex ? row->ifindex : bound->ifindex;
    row->serial = row->serial.len ? row->serial : bound->serial;
    row->host = row->host.len ? row->host : bound->host;
    row->address = row->address.len ? row->address : bound->address;
    row->name = row->name.len ? row->name : bound->name;
}

static void index_number(struct myr_u64map *map, uint64_t value, uint32_t row)
{
    if (value) {
        (void)myr_u64map_add(map, value, row); /* it may be there for this row already */
    }
}

/* What is in a map already is this row's own: row_in_the_way() has seen to it. */
static void index_row(struct myr_binding *binding, uint32_t index)
{
    const struct myr_bound *row = &binding->rows.items[index];
    MYR_ASSERT(index < binding->rows.count);
    index_number(&binding->guids, row->guid, index);
    index_number(&binding->guids, row->port_guid, index);
    index_number(&binding->macs, row->mac, index);
    if (row->host.len) {
        (void)myr_strmap_add(&binding->hosts, row->host, index);
    }
    if (row->serial.len) {
        (void)myr_strmap_add(&binding->serials, row->serial, index);
    }
    if (row->name.len) {
        char key[NAME_KEY_MAX];
        struct myr_str text = name_key(row->device, row->name, key);
        if (myr_strmap_get(&binding->names, text) == MYR_MAP_NONE) {
            /* The map borrows its keys, and this one lies on the stack. */
            text.data = myr_arena_strndup(binding->arena, text.data, text.len);
            (void)myr_strmap_add(&binding->names, text, index);
        }
    }
}

/*
 * All or nothing: everything is looked at before the first map changes. 'ret_row' is the row added
 * to, or the one in the way.
 */
bool myr_binding_add(struct myr_binding *binding, const struct myr_bound *bound, uint32_t *ret_row)
{
    MYR_ASSERT(bound->device < binding->design->device_count);
    MYR_ASSERT(bound->port == MYR_NONE ||
               binding->design->port_device[bound->port] == bound->device);
    /* A place has one row, whoever tells of it. */
    uint64_t key = place_key(bound->device, bound->port);
    const uint32_t *known = myr_u64map_find(&binding->places, key);
    uint32_t row = known ? *known : MYR_NONE;
    uint32_t other = row_in_the_way(binding, bound, row);
    if (other != MYR_NONE) {
        *ret_row = other;
        return false;
    }
    if (row == MYR_NONE) {
        row = (uint32_t)binding->rows.count;
        myr_vec_push(&binding->rows, *bound);
        bool fresh = myr_u64map_add(&binding->places, key, row);
        MYR_ASSERT(fresh && binding->places.count == binding->rows.count);
    } else if (differs(&binding->rows.items[row], bound)) {
        *ret_row = row;
        return false;
    } else {
        merge(&binding->rows.items[row], bound);
    }
    /* Again for a known row: a merge may have brought it new things. */
    index_row(binding, row);
    MYR_SLOW_ASSERT(row_in_the_way(binding, bound, row) == MYR_NONE);
    *ret_row = row;
    return true;
}

/* 16: no digit. */
static uint32_t hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
           : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                  : 16;
}

/* "3e:9c:2b:3d:21:25", the same with '-', or Cisco's "3e9c.2b3d.2125". */
bool myr_mac_parse(struct myr_str text, uint64_t *ret)
{
    enum { PAIRS = 17, DOTTED = 14 };
    uint64_t value = 0;
    uint32_t digits = 0;
    if (text.len != PAIRS && text.len != DOTTED) {
        return false;
    }
    uint32_t each = text.len == PAIRS ? 2 : 4; /* digits between dividers */
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        /* Dividers stand at fixed places. */
        if ((i + 1) % (each + 1) == 0) {
            /* All dividers are the same one. */
            bool divider = each == 2 ? (c == ':' || c == '-') && c == text.data[2] : c == '.';
            if (!divider) {
                return false;
            }
            continue;
        }
        uint32_t digit = hex_digit(c);
        if (digit == 16) {
            return false;
        }
        value = value << 4 | digit;
        digits++;
    }
    MYR_ASSERT(digits == 12);
    *ret = value;
    return true;
}
