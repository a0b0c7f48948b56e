#include "verify/identify.h"

/*
 * Names to places. What was bound comes first, then names in all the ways in which they are
 * written, then GUIDs that the design made up. Ports are read by what was bound, by the rules of
 * the box's system, and at last by what was learnt of this one device.
 */

/* No identity: a span without ports. */
static const struct myr_port_span nobody = {0, 0};

/* Longer names are compared as they are. */
enum { NAME_BYTES = 256 };

/* False when there was none to change. */
static bool small_letters(char *text, size_t len)
{
    bool changed = false;
    for (size_t i = 0; i < len; i++) {
        bool capital = text[i] >= 'A' && text[i] <= 'Z';
        changed = changed || capital;
        text[i] = (char)(text[i] + (capital ? 'a' - 'A' : 0));
    }
    return changed;
}

/* Port names are the same on all devices of a type: one map each, and no text is made twice. */
static void fill_type_ports(struct identify *identify)
{
    const struct myr_design *design = identify->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    for (uint32_t d = 0; d < design->device_count; d++) {
        struct myr_strmap *map = &identify->type_ports[design->device_type[d]];
        if (map->count) {
            continue;
        }
        for (uint32_t p = design->first_port[d]; p < design->first_port[d + 1]; p++) {
            myr_buf_clear(&name);
            myr_design_port_name(design, p, &name);
            struct myr_str kept = {myr_arena_strndup(identify->arena, name.data, name.len),
                                   name.len};
            (void)myr_strmap_add(map, kept, p - design->first_port[d]);
        }
    }
}

/* Host names are the same in capitals; the first one that is bound keeps the place. */
static void fill_small_hosts(struct identify *identify)
{
    const struct myr_strmap *hosts = &identify->binding->hosts;
    for (uint32_t i = 0; i < hosts->count; i++) {
        char *small = myr_arena_strndup(identify->arena, hosts->keys[i].data, hosts->keys[i].len);
        (void)small_letters(small, hosts->keys[i].len);
        (void)myr_strmap_add(&identify->small_hosts, (struct myr_str){small, hosts->keys[i].len},
                             hosts->values[i]);
    }
}

/* One place more in each list: a cabling may be empty. */
void identify_init(struct identify *identify, struct myr_arena *arena,
                   const struct myr_design *design, const struct myr_cabling *cabling,
                   struct spelling *spelling, const struct myr_verify_options *options)
{
    size_t count = cabling->devices.count + 1;
    *identify = (struct identify){.arena = arena,
                                  .design = design,
                                  .cabling = cabling,
                                  .binding = options->binding,
                                  .spelling = spelling,
                                  .nets = options->nets,
                                  .hcas = options->hcas,
                                  .hca_count = options->hca_count};
    identify->type_ports = MYR_ARENA_NEW(arena, struct myr_strmap, design->devtype_count);
    identify->devices = MYR_ARENA_NEW(arena, struct myr_port_span, count);
    identify->nodes = MYR_ARENA_NEW(arena, uint32_t, count);
    identify->inside = MYR_ARENA_NEW(arena, uint8_t, count);
    identify->by_cable = MYR_ARENA_NEW(arena, uint8_t, count);
    identify->voted = MYR_ARENA_NEW(arena, uint8_t, count);
    identify->listed = MYR_ARENA_NEW(arena, uint8_t, count);
    memset(identify->nodes, 0xFF, count * sizeof(uint32_t));
    fill_type_ports(identify);
    if (identify->binding) {
        fill_small_hosts(identify);
    }
}

void identify_done(struct identify *identify)
{
    myr_strmap_done(&identify->aliases);
    myr_strmap_done(&identify->listed_nics);
    myr_strmap_done(&identify->small_hosts);
    /* Half made when an error came early: then there are no maps yet. */
    for (uint32_t t = 0; identify->type_ports && t < identify->design->devtype_count; t++) {
        myr_strmap_done(&identify->type_ports[t]);
    }
}

/* A row is of a whole device, or of one port. */
static struct myr_port_span of_row(const struct identify *identify, uint32_t row)
{
    const struct myr_bound *bound = &identify->binding->rows.items[row];
    MYR_ASSERT(row < identify->binding->rows.count);
    return bound->port == MYR_NONE ? identity_of_device(identify->design, bound->device)
                                   : (struct myr_port_span){bound->port, 1};
}

/* The port of a host that something behind its name means: "nic3", "mlx5_3" when bound so. */
static struct myr_port_span nic_of(const struct identify *identify, uint32_t device,
                                   struct myr_str nic)
{
    uint32_t port = identify->binding ? myr_binding_port(identify->binding, device, nic) : MYR_NONE;
    if (port == MYR_NONE) {
        const struct myr_design *design = identify->design;
        uint32_t index = identify_own_index(identify, design->device_type[device], nic);
        port = index == MYR_MAP_NONE ? MYR_NONE : design->first_port[device] + index;
    }
    return port == MYR_NONE ? nobody : (struct myr_port_span){port, 1};
}

/*
 * A whole device, by its bound host name or its address in the design. What was bound comes first:
 * somebody has looked, and the design's own names may have been given to other machines since.
 */
uint32_t identify_device_named(const struct identify *identify, struct myr_str name)
{
    if (identify->binding) {
        uint32_t row = myr_strmap_get(&identify->binding->hosts, name);
        if (row == MYR_MAP_NONE) {
            row = myr_strmap_get(&identify->binding->serials, name);
        }
        if (row == MYR_MAP_NONE) {
            row = myr_strmap_get(&identify->small_hosts, name);
        }
        if (row != MYR_MAP_NONE) {
            return identify->binding->rows.items[row].device;
        }
    }
    return myr_site_find(identify->design, name);
}

/* A whole device's name is tried first: it may have dividers of its own. */
static struct myr_port_span whole_or_nic(const struct identify *identify, struct myr_str name)
{
    uint32_t device = identify_device_named(identify, name);
    if (device != MYR_NONE) {
        return identity_of_device(identify->design, device);
    }
    /* "node-00042-nic3", "gpu042 mlx5_3": the host stands before the last divider. */
    for (size_t i = name.len; i > 1; i--) {
        if (name.data[i - 1] == ' ' || name.data[i - 1] == '-') {
            device = identify_device_named(identify, (struct myr_str){name.data, i - 1});
            struct myr_str rest = {name.data + i, name.len - i};
            if (device == MYR_NONE) { /* "gpu042.site mlx5_3" */
                const char *dot = memchr(name.data, '.', i - 1);
                size_t len = dot ? (size_t)(dot - name.data) : 0;
                device = len ? identify_device_named(identify, (struct myr_str){name.data, len})
                             : MYR_NONE;
            }
            return device == MYR_NONE ? nobody : nic_of(identify, device, rest);
        }
    }
    return nobody;
}

/* "MF0;sw-a07-2:MQM9700/U1" is sw-a07-2; without "MF0;" too, when a chip is told behind. */
static struct myr_str without_model(struct myr_str name)
{
    const char *semicolon = name.len ? memchr(name.data, ';', name.len) : NULL;
    if (semicolon) {
        size_t skip = (size_t)(semicolon - name.data) + 1;
        name = (struct myr_str){name.data + skip, name.len - skip};
    }
    for (size_t i = name.len; i > 0; i--) {
        if (name.data[i - 1] == ':') {
            struct myr_str model = {name.data + i, name.len - i};
            bool chip = semicolon || memchr(model.data, '/', model.len);
            return chip ? (struct myr_str){name.data, i - 1} : name;
        }
    }
    return name;
}

/* The chip of a box that has several: "...:Q3400_RA/U3" is 3; 0 where none is told. */
static uint32_t chip_of(struct myr_str name)
{
    for (size_t i = name.len; i > 2; i--) {
        if (name.data[i - 3] == '/' && (name.data[i - 2] == 'U' || name.data[i - 2] == 'u') &&
            name.data[i - 1] >= '1' && name.data[i - 1] <= '9') {
            return (uint32_t)(name.data[i - 1] - '0');
        }
    }
    return 0;
}

uint32_t identify_chip(struct myr_str name, struct myr_str *ret_box)
{
    *ret_box = without_model(name);
    return ret_box->len && ret_box->len < name.len ? chip_of(name) : 0;
}

/* As it is, without a model, without a domain, or as a bound MAC address. */
static struct myr_port_span by_plain_name(const struct identify *identify, struct myr_str name)
{
    struct myr_port_span found = name.len ? whole_or_nic(identify, name) : nobody;
    if (found.count || name.len == 0) {
        return found;
    }
    /* Managed switches tell their model behind the name. */
    struct myr_str bare = without_model(name);
    if (bare.len < name.len && bare.len) {
        return by_plain_name(identify, bare);
    }
    const char *dot = memchr(name.data, '.', name.len);
    /* A domain has no blanks: "gpu042.site mlx5_3" is a NIC's name, and was tried. */
    if (dot && !memchr(dot, ' ', name.len - (size_t)(dot - name.data))) {
        found = whole_or_nic(identify, (struct myr_str){name.data, (size_t)(dot - name.data)});
        if (found.count) {
            return found; /* else the dots may be those of "0000.5e00.5301" */
        }
    }
    uint64_t mac;
    if (identify->binding && myr_mac_parse(name, &mac)) {
        const uint32_t *row = myr_u64map_find(&identify->binding->macs, mac);
        return row ? of_row(identify, *row) : nobody;
    }
    return nobody;
}

/* Blanks around are cut and runs of them are one, as people and firmware write them. */
static struct myr_str tidy_name(struct myr_str name, char ret[NAME_BYTES])
{
    size_t len = 0;
    for (size_t i = 0; i < name.len && len < NAME_BYTES; i++) {
        bool blank = name.data[i] == ' ' || name.data[i] == '\t';
        if (!blank || (len && ret[len - 1] != ' ')) {
            ret[len++] = blank ? ' ' : name.data[i];
        }
    }
    len -= len && ret[len - 1] == ' ';
    return (struct myr_str){ret, len};
}

/* As written first; only then tidied, and in small letters. */
static struct myr_port_span by_name(const struct identify *identify, struct myr_str name)
{
    char bytes[NAME_BYTES];
    struct myr_port_span found = by_plain_name(identify, name);
    if (found.count || name.len == 0 || name.len > NAME_BYTES) {
        return found;
    }
    struct myr_str tidy = tidy_name(name, bytes);
    found = tidy.len < name.len ? by_plain_name(identify, tidy) : nobody;
    if (!found.count && small_letters(bytes, tidy.len)) {
        found = by_plain_name(identify, tidy);
    }
    return found;
}

/* SHARP's own end of a switch, and the router function of its chip: no cable leads there. */
static bool is_inside(struct myr_str name)
{
    static const struct myr_str sharp = MYR_STR("Mellanox Technologies Aggregation Node");
    char bytes[NAME_BYTES];
    if (name.len < 4 ||
        (!memchr(name.data, '/', name.len) && !memmem(name.data, name.len, "ggregation", 10))) {
        return false; /* as nearly all of them */
    }
    struct myr_str tidy = tidy_name(name, bytes);
    bool router = tidy.len > 3 && memcmp(tidy.data + tidy.len - 3, "/RT", 3) == 0;
    return router || myr_str_eq_nocase(tidy, sharp) ||
           (tidy.len > 17 && myr_str_eq_nocase((struct myr_str){tidy.data + tidy.len - 17, 17},
                                               MYR_STR(" Aggregation Node")));
}

static struct myr_port_span by_bound_guid(const struct identify *identify, uint64_t guid)
{
    const uint32_t *row =
        identify->binding && guid ? myr_u64map_find(&identify->binding->guids, guid) : NULL;
    return row ? of_row(identify, *row) : nobody;
}

/* GUIDs that the design itself made up, for simulators and before delivery. */
static struct myr_port_span by_made_guid(const struct identify *identify,
                                         const struct myr_cabling_device *found)
{
    const struct myr_design *design = identify->design;
    uint64_t guid = found->guid;
    /* A NIC that says whose it is is asked for its name: the host may sit elsewhere. */
    bool named = identify->cabling->numbered && !found->is_switch && found->name.len;
    if (guid == 0 || design->port_count == 0 || named) {
        return nobody;
    }
    /* Made GUIDs carry the port's or the device's number in their low half (guids.h); a real one
     * that happens to do so is told apart by the rest of it. */
    uint64_t low = guid & UINT32_MAX;
    if (low / 2 < design->port_count) {
        uint32_t port = (uint32_t)(low / 2);
        bool host = myr_design_port_group(design, port)->role == MYR_PORT_NIC;
        if (host && myr_site_guid(design, port) == (guid & ~UINT64_C(1))) {
            return (struct myr_port_span){port, 1};
        }
    }
    if (low < design->device_count) {
        struct myr_port_span device = identity_of_device(design, (uint32_t)low);
        if (device.count && myr_site_guid(design, device.first) == guid) {
            return device;
        }
    }
    return nobody;
}

static bool same_identity(struct myr_port_span a, struct myr_port_span b)
{
    return a.first == b.first && a.count == b.count;
}

/*
 * One place, two devices with GUIDs of their own: one of the names is a lie, and which one the
 * wiring must tell. Without GUIDs two names for one device are ordinary (LLDP).
 */
static void drop_double_claims(struct identify *identify)
{
    const struct myr_cabling *cabling = identify->cabling;
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map claims = {};
    for (uint32_t i = 0; i < cabling->devices.count; i++) {
        struct myr_port_span own = identify->devices[i];
        /* Several NICs may bear one host's name: that is no lie. */
        bool host_name = own.count > 1 && identify_is_nic(identify, i);
        if (own.count == 0 || cabling->devices.items[i].guid == 0 || host_name) {
            continue;
        }
        /* Chips of one box have one name and GUIDs of their own. */
        uint64_t chip = chip_of(cabling->devices.items[i].name);
        /* Whole devices and single ports that begin alike are different places. */
        uint64_t key = ((uint64_t)own.first << 32 | own.count) ^ chip << 60;
        if (myr_u64map_add(&claims, key, i)) {
            continue;
        }
        uint32_t other = *myr_u64map_find(&claims, key);
        MYR_ASSERT(other < i);
        if (cabling->devices.items[other].guid != cabling->devices.items[i].guid) {
            identify->devices[i] = nobody;
            identify->devices[other] = nobody;
            identify->name_conflicts++;
        }
    }
}

void identify_by_name(struct identify *identify)
{
    const struct myr_cabling *cabling = identify->cabling;
    for (uint32_t i = 0; i < cabling->devices.count; i++) {
        const struct myr_cabling_device *device = &cabling->devices.items[i];
        identify->inside[i] = is_inside(device->name);
        if (identify->inside[i]) {
            continue;
        }
        struct myr_port_span bound = by_bound_guid(identify, device->guid);
        struct myr_port_span named = by_name(identify, device->name);
        uint64_t mac;
        if (!named.count && device->mac.len && identify->binding &&
            myr_mac_parse(device->mac, &mac)) {
            named = by_name(identify, device->mac);
        }
        /* What is burnt in outlives what is typed in; but somebody should know. */
        if (bound.count && named.count && !same_identity(bound, named)) {
            identify->name_conflicts++;
        }
        identify->devices[i] = bound.count   ? bound
                               : named.count ? named
                                             : by_made_guid(identify, device);
    }
    drop_double_claims(identify);
    identify_listed(identify);
    /* "node-00042" for all NICs of a host: whose it is is known, and which one it is is not. */
    for (uint32_t i = 0; i < cabling->devices.count; i++) {
        struct myr_port_span own = identify->devices[i];
        uint32_t device = own.count ? identify->design->port_device[own.first] : MYR_NONE;
        if (own.count > 1 && identify_is_nic(identify, i) &&
            identify_is_host_type(identify, identify->design->device_type[device])) {
            identify->nodes[i] = device;
            identify->devices[i] = nobody;
        }
    }
}

/* One port of a host. Cards behind switches of several chips have a number for each chip. */
static uint32_t nic_port_as(const struct identify *identify, struct myr_port_span as,
                            struct myr_str port)
{
    const struct myr_design *design = identify->design;
    uint32_t peer = myr_design_peer(design, as.first);
    uint32_t planes =
        peer == MYR_NONE
            ? 1
            : identify->spelling->boxes[design->device_type[design->port_device[peer]]].planes;
    uint64_t number;
    bool fits = myr_str_to_u64(port, &number) && number > 0 && number <= planes;
    return fits ? as.first : MYR_NONE;
}

/*
 * A management port, which is no cage: by the design's own name, or by any name for such a port
 * where the box has but one. MYR_NONE: the name is none of these.
 */
static uint32_t management_index(const struct identify *identify, uint32_t type,
                                 struct myr_str port)
{
    const struct myr_devtype *box = &identify->design->devtypes[type];
    uint32_t own = identify_own_index(identify, type, port);
    for (uint32_t g = 0; g < box->group_count; g++) {
        const struct myr_port_group *group = &box->groups[g];
        if (group->role != MYR_PORT_NIC) {
            continue;
        }
        if (own != MYR_MAP_NONE && own - group->first < group->count) {
            return own;
        }
        if (group->count == 1 && spelling_is_management(identify->spelling, type, port)) {
            return group->first;
        }
    }
    return MYR_NONE;
}

/* InfiniBand tells numbers; some of its files have names all the same. */
static uint32_t switch_index_as(const struct identify *identify, uint32_t type, struct myr_str port,
                                uint32_t port_count)
{
    uint64_t number;
    if (identify->cabling->numbered && myr_str_to_u64(port, &number)) {
        return spelling_number(identify->spelling, type, number, port_count);
    }
    uint32_t index = spelling_read(identify->spelling, type, port);
    /* Rules take such names for ports of no network; the plan may have them in one. */
    uint32_t management = index == MYR_NONE || index == MYR_PORT_SPARE
                              ? management_index(identify, type, port)
                              : MYR_NONE;
    return management == MYR_NONE ? index : management;
}

static uint32_t port_as(const struct identify *identify, struct myr_port_span as,
                        struct myr_str port, uint32_t port_count, bool judged)
{
    const struct myr_design *design = identify->design;
    if (as.count == 0) {
        return MYR_NONE;
    }
    uint32_t device = design->port_device[as.first], type = design->device_type[device];
    MYR_ASSERT(as.first + as.count <= design->first_port[device + 1]);
    /* A part of a device is one NIC of a host. */
    if (as.count < design->first_port[device + 1] - design->first_port[device]) {
        return nic_port_as(identify, as, port);
    }
    /* A bound name beats all others. */
    uint32_t bound =
        identify->binding ? myr_binding_port(identify->binding, device, port) : MYR_NONE;
    if (bound != MYR_NONE) {
        return bound;
    }
    if (identify_is_host_type(identify, type)) {
        bool numbered = identify->cabling->numbered; /* which tells nothing of several NICs */
        uint32_t only = numbered && as.count == 1 ? nic_port_as(identify, as, port) : MYR_NONE;
        return only != MYR_NONE || (numbered && as.count > 1)
                   ? only
                   : identify_host_port(identify, device, port, judged);
    }
    uint32_t index = switch_index_as(identify, type, port, port_count);
    return index == MYR_NONE || index == MYR_PORT_SPARE ? MYR_NONE : as.first + index;
}

uint32_t identify_port_as(const struct identify *identify, struct myr_port_span as,
                          struct myr_cabling_end end)
{
    return port_as(identify, as, end.port, identify->cabling->devices.items[end.device].port_count,
                   true);
}

/* Hosts have no spare ports: what is not a NIC of the design is another card. */
bool identify_is_spare(const struct identify *identify, struct myr_cabling_end end)
{
    struct myr_port_span as = identify->devices[end.device];
    if (as.count == 0) {
        return false;
    }
    uint32_t type = identify->design->device_type[identify->design->port_device[as.first]];
    return !identify_is_host_type(identify, type) &&
           switch_index_as(identify, type, end.port,
                           identify->cabling->devices.items[end.device].port_count) ==
               MYR_PORT_SPARE;
}

/* The first meaning of a name stays. */
void identify_alias(struct identify *identify, uint32_t found, struct myr_str name, uint32_t port)
{
    char text[IDENTIFY_KEY_MAX];
    struct myr_str key = identify_key(found, name, text);
    MYR_ASSERT(port < identify->design->port_count);
    key.data = myr_arena_strndup(identify->arena, key.data, key.len);
    (void)myr_strmap_add(&identify->aliases, key, port);
}

uint32_t identify_port(const struct identify *identify, struct myr_cabling_end end)
{
    char text[IDENTIFY_KEY_MAX];
    struct myr_port_span as = identify->devices[end.device];
    uint32_t ports = identify->cabling->devices.items[end.device].port_count;
    if (as.count == 0 && identify->listed[end.device]) {
        return identify_listed_port(identify, end);
    }
    uint32_t port = port_as(identify, as, end.port, ports, true);
    /*
     * Rules first, then what was learnt of this device, at last also ports of networks not judged.
     */
    if (port != MYR_NONE || as.count == 0) {
        return port;
    }
    if (identify->aliases.count) {
        port = myr_strmap_get(&identify->aliases, identify_key(end.device, end.port, text));
    }
    return identify->aliases.count && port != MYR_MAP_NONE
               ? port
               : port_as(identify, as, end.port, ports, false);
}
