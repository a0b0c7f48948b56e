#include "verify/identify.h"

static const struct myr_port_span nobody = {0, 0};

/* Port names are the same on all devices of a type: one map each, and no text is made twice. */
static void fill_type_ports(struct identify *identify)
{
    const struct myr_design *design = identify->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {0};
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

void identify_init(struct identify *identify, struct myr_arena *arena,
                   const struct myr_design *design, const struct myr_cabling *cabling,
                   const struct myr_binding *binding)
{
    *identify =
        (struct identify){.arena = arena, .design = design, .cabling = cabling, .binding = binding};
    identify->type_ports = MYR_ARENA_NEW(arena, struct myr_strmap, design->devtype_count);
    identify->devices = MYR_ARENA_NEW(arena, struct myr_port_span, cabling->devices.count + 1);
    fill_type_ports(identify);
}

void identify_done(struct identify *identify)
{
    myr_strmap_done(&identify->aliases);
    /* Half made when an error came early: then there are no maps yet. */
    for (uint32_t t = 0; identify->type_ports && t < identify->design->devtype_count; t++) {
        myr_strmap_done(&identify->type_ports[t]);
    }
}

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
        uint32_t index = myr_strmap_get(&identify->type_ports[design->device_type[device]], nic);
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
        if (row != MYR_MAP_NONE) {
            return identify->binding->rows.items[row].device;
        }
    }
    return myr_site_find(identify->design, name);
}

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

static struct myr_port_span by_name(const struct identify *identify, struct myr_str name)
{
    struct myr_port_span found = name.len ? whole_or_nic(identify, name) : nobody;
    if (found.count || name.len == 0) {
        return found;
    }
    /* Managed switches: "MF0;sw-a07-2:MQM9700/U1". */
    const char *semicolon = memchr(name.data, ';', name.len);
    if (semicolon) {
        size_t skip = (size_t)(semicolon - name.data) + 1;
        struct myr_str rest = {name.data + skip, name.len - skip};
        const char *colon = memchr(rest.data, ':', rest.len);
        rest.len = colon ? (size_t)(colon - rest.data) : rest.len;
        return whole_or_nic(identify, rest);
    }
    const char *dot = memchr(name.data, '.', name.len);
    if (dot && !memchr(dot, ' ', name.len - (size_t)(dot - name.data))) {
        return whole_or_nic(identify, (struct myr_str){name.data, (size_t)(dot - name.data)});
    }
    uint64_t mac;
    if (identify->binding && myr_mac_parse(name, &mac)) {
        const uint32_t *row = myr_u64map_find(&identify->binding->macs, mac);
        return row ? of_row(identify, *row) : nobody;
    }
    return nobody;
}

static struct myr_port_span by_bound_guid(const struct identify *identify, uint64_t guid)
{
    const uint32_t *row =
        identify->binding && guid ? myr_u64map_find(&identify->binding->guids, guid) : NULL;
    return row ? of_row(identify, *row) : nobody;
}

/* GUIDs that the design itself made up, for simulators and before delivery. */
static struct myr_port_span by_made_guid(const struct identify *identify, uint64_t guid)
{
    const struct myr_design *design = identify->design;
    if (guid == 0 || design->port_count == 0) {
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
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map claims = {0};
    for (uint32_t i = 0; i < cabling->devices.count; i++) {
        struct myr_port_span own = identify->devices[i];
        if (own.count == 0 || cabling->devices.items[i].guid == 0) {
            continue;
        }
        uint64_t key = (uint64_t)own.first << 32 | own.count;
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
                                             : by_made_guid(identify, device->guid);
    }
    drop_double_claims(identify);
}

uint32_t identify_port_as(const struct identify *identify, struct myr_port_span as,
                          struct myr_str port)
{
    const struct myr_design *design = identify->design;
    uint64_t number;
    if (as.count == 0) {
        return MYR_NONE;
    }
    uint32_t device = design->port_device[as.first];
    MYR_ASSERT(as.first + as.count <= design->first_port[device + 1]);
    bool is_number = myr_str_to_u64(port, &number) && number > 0;
    if (as.count < design->first_port[device + 1] - design->first_port[device]) {
        return is_number && number == 1 ? as.first : MYR_NONE; /* one port of a host */
    }
    /* InfiniBand counts ports from 1; every other list names them, and a bound name beats ours. */
    if (identify->cabling->numbered) {
        return is_number && number <= as.count ? as.first + (uint32_t)number - 1 : MYR_NONE;
    }
    uint32_t bound =
        identify->binding ? myr_binding_port(identify->binding, device, port) : MYR_NONE;
    if (bound != MYR_NONE) {
        return bound;
    }
    uint32_t index = myr_strmap_get(&identify->type_ports[design->device_type[device]], port);
    if (index != MYR_MAP_NONE) {
        return as.first + index;
    }
    uint32_t found = myr_site_find_port(design, device, port);
    if (found == MYR_NONE && is_number && number <= as.count) {
        found = as.first + (uint32_t)number - 1;
    }
    return found;
}

enum { ALIAS_MAX = 300, ALIAS_DEVICE_BYTES = 4 };

static struct myr_str alias_key(uint32_t found, struct myr_str name, char ret[ALIAS_MAX])
{
    size_t len =
        name.len < ALIAS_MAX - ALIAS_DEVICE_BYTES ? name.len : ALIAS_MAX - ALIAS_DEVICE_BYTES;
    for (uint32_t i = 0; i < ALIAS_DEVICE_BYTES; i++) {
        ret[i] = (char)(found >> (8 * i));
    }
    memcpy(ret + ALIAS_DEVICE_BYTES, name.data, len);
    return (struct myr_str){ret, len + ALIAS_DEVICE_BYTES};
}

void identify_alias(struct identify *identify, uint32_t found, struct myr_str name, uint32_t port)
{
    char text[ALIAS_MAX];
    struct myr_str key = alias_key(found, name, text);
    MYR_ASSERT(port < identify->design->port_count);
    key.data = myr_arena_strndup(identify->arena, key.data, key.len);
    (void)myr_strmap_add(&identify->aliases, key, port);
}

uint32_t identify_port(const struct identify *identify, struct myr_cabling_end end)
{
    char text[ALIAS_MAX];
    uint32_t port = identify_port_as(identify, identify->devices[end.device], end.port);
    if (port != MYR_NONE || identify->aliases.count == 0) {
        return port;
    }
    port = myr_strmap_get(&identify->aliases, alias_key(end.device, end.port, text));
    return port == MYR_MAP_NONE ? MYR_NONE : port;
}
