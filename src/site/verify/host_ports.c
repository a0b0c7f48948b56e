#include "verify/identify.h"

/*
 * Ports of hosts by their names: the design's own, and those that a list of cables has beside
 * InfiniBand's files, where the same NICs are devices.
 */

static bool is_number(struct myr_str text)
{
    uint64_t number;
    return myr_str_to_u64(text, &number);
}

uint32_t identify_own_index(const struct identify *identify, uint32_t type, struct myr_str name)
{
    char small[IDENTIFY_KEY_MAX];
    uint32_t index = myr_strmap_get(&identify->type_ports[type], name);
    if (index != MYR_MAP_NONE || name.len == 0 || name.len > sizeof(small)) {
        return index;
    }
    /* In small letters, where that is something else. */
    bool capitals = false;
    for (size_t i = 0; i < name.len; i++) {
        bool capital = name.data[i] >= 'A' && name.data[i] <= 'Z';
        small[i] = (char)(name.data[i] + (capital ? 'a' - 'A' : 0));
        capitals = capitals || capital;
    }
    return capitals ? myr_strmap_get(&identify->type_ports[type], (struct myr_str){small, name.len})
                    : MYR_MAP_NONE;
}

enum { DEVICE_BYTES = 4 };

struct myr_str identify_key(uint32_t found, struct myr_str name, char ret[IDENTIFY_KEY_MAX])
{
    size_t len = DEVICE_BYTES;
    for (uint32_t i = 0; i < DEVICE_BYTES; i++) {
        ret[i] = (char)(found >> (8 * i));
    }
    for (size_t i = 0; i < name.len && len < IDENTIFY_KEY_MAX; i++) {
        char c = name.data[i];
        if (c != ' ') { /* names are the same in capitals, and with blanks */
            ret[len++] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
        }
    }
    return (struct myr_str){ret, len};
}

uint32_t identify_host_port(const struct identify *identify, uint32_t device, struct myr_str port,
                            bool judged)
{
    const struct myr_design *design = identify->design;
    uint32_t type = design->device_type[device];
    uint32_t index = identify_own_index(identify, type, port);
    if (index == MYR_MAP_NONE) {
        index = spelling_read_by(spelling_of(identify->spelling, type, port),
                                 identify->spelling->systems[type]);
        return index == MYR_NONE || index == MYR_PORT_SPARE ? MYR_NONE
                                                            : design->first_port[device] + index;
    }
    uint32_t found = design->first_port[device] + index;
    /* "eth0" of the service network may be the name of a NIC of another one here. */
    bool wanted = identify->nets >> myr_design_port_group(design, found)->net & 1;
    return wanted || !judged ? found : MYR_NONE;
}

/* The NIC that InfiniBand's files call "gpu042 mlx5_3" or "node-00042-nic3"; MYR_MAP_NONE: none. */
static uint32_t nic_named(const struct identify *identify, struct myr_cabling_end end)
{
    static const char dividers[] = {' ', '-'};
    const struct myr_cabling *cabling = identify->cabling;
    struct myr_str host = cabling->devices.items[end.device].name;
    for (uint32_t i = 0; i < sizeof(dividers); i++) {
        char text[IDENTIFY_KEY_MAX];
        size_t len = host.len + 1 + end.port.len;
        if (len > sizeof(text)) {
            return MYR_MAP_NONE;
        }
        memcpy(text, host.data, host.len);
        text[host.len] = dividers[i];
        memcpy(text + host.len + 1, end.port.data, end.port.len);
        uint32_t found = myr_strmap_get(&cabling->names, (struct myr_str){text, len});
        if (found != MYR_MAP_NONE) {
            return found;
        }
    }
    return MYR_MAP_NONE;
}

/* A list beside InfiniBand's files names NICs as ports of their hosts, which there are devices. */
static void note_listed(struct identify *identify, struct myr_cabling_end end)
{
    const struct myr_cabling_device *device = &identify->cabling->devices.items[end.device];
    struct myr_port_span own = identify->devices[end.device];
    bool host =
        own.count == 0 ||
        identify_is_host_type(
            identify, identify->design->device_type[identify->design->port_device[own.first]]);
    if (device->is_switch || device->guid || !host || end.port.len == 0 || is_number(end.port)) {
        return;
    }
    uint32_t nic = nic_named(identify, end);
    /* A name that nobody knows may be a switch's. */
    if (nic == MYR_MAP_NONE && own.count == 0) {
        return;
    }
    identify->listed[end.device] = 1;
    if (nic != MYR_MAP_NONE) {
        char text[IDENTIFY_KEY_MAX];
        struct myr_str key = identify_key(end.device, end.port, text);
        if (myr_strmap_get(&identify->listed_nics, key) == MYR_MAP_NONE) {
            key.data = myr_arena_strndup(identify->arena, key.data, key.len);
            (void)myr_strmap_add(&identify->listed_nics, key, nic);
        }
    }
}

void identify_listed(struct identify *identify)
{
    const struct myr_cabling *cabling = identify->cabling;
    for (size_t i = 0; cabling->numbered && i < cabling->links.count; i++) {
        note_listed(identify, cabling->links.items[i].a);
        note_listed(identify, cabling->links.items[i].b);
    }
}

uint32_t identify_listed_port(const struct identify *identify, struct myr_cabling_end end)
{
    char text[IDENTIFY_KEY_MAX];
    uint32_t nic = myr_strmap_get(&identify->listed_nics, identify_key(end.device, end.port, text));
    if (nic != MYR_MAP_NONE && identify->devices[nic].count == 1) {
        return identify->devices[nic].first;
    }
    uint32_t node = identify->nodes[end.device];
    return node == MYR_NONE ? MYR_NONE : identify_host_port(identify, node, end.port, true);
}
