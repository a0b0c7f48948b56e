#include "myriad/site/cabling.h"

#include <stdlib.h>

/*
 * Names of devices and ports, in the several ways in which they are written, and back. A cabling is
 * what some source tells: devices, links between their ports, by name. A design can be told in the
 * same form, as InfiniBand or as others see it.
 */

/* Longer names are not looked up. */
enum { NAME_MAX_BYTES = 128 };

void myr_cabling_init(struct myr_cabling *cabling, struct myr_arena *arena)
{
    *cabling = (struct myr_cabling){.arena = arena};
}

void myr_cabling_done(struct myr_cabling *cabling)
{
    for (size_t i = 0; i < cabling->texts.count; i++) {
        myr_buf_done(&cabling->texts.items[i]);
    }
    myr_vec_done(&cabling->texts);
    myr_vec_done(&cabling->files);
    myr_vec_done(&cabling->devices);
    myr_vec_done(&cabling->links);
    myr_vec_done(&cabling->bare);
    myr_vec_done(&cabling->errors);
    myr_vec_done(&cabling->optics);
    myr_vec_done(&cabling->words);
    myr_strmap_done(&cabling->names);
}

/* The name is borrowed: it lives as long as the cabling. */
uint32_t myr_cabling_device(struct myr_cabling *cabling, struct myr_str name)
{
    uint32_t known = myr_strmap_get(&cabling->names, name);
    if (known != MYR_MAP_NONE) {
        return known;
    }
    uint32_t device = (uint32_t)cabling->devices.count;
    struct myr_cabling_device added = {.name = name};
    myr_vec_push(&cabling->devices, added);
    myr_strmap_add(&cabling->names, name, device);
    return device;
}

/* The text is copied: readers put words together on their stacks. */
uint8_t myr_cabling_word(struct myr_cabling *cabling, enum myr_link_fact fact, struct myr_str text)
{
    enum { WORDS_MAX = 64 }; /* more are noise */
    for (size_t i = 0; i < cabling->words.count; i++) {
        const struct myr_link_word *word = &cabling->words.items[i];
        if (word->fact == fact && (myr_str_eq_nocase(word->text, text) ||
                                   myr_str_eq(word->text, MYR_STR("other words")))) {
            return (uint8_t)(i + 1);
        }
    }
    bool full = cabling->words.count >= WORDS_MAX;
    const char *kept = myr_arena_strndup(cabling->arena, text.data, text.len);
    struct myr_link_word word = {fact,
                                 full ? MYR_STR("other words") : (struct myr_str){kept, text.len}};
    myr_vec_push(&cabling->words, word);
    return (uint8_t)cabling->words.count;
}

/* "leaf-p0-g0-r0" for "leaf/p0-g0-r0": many systems do not take a slash in a host name. */
void myr_site_name(const struct myr_design *design, uint32_t device, struct myr_buf *buf)
{
    size_t start = buf->len;
    myr_design_name(design, device, buf);
    char *slash = memchr(buf->data + start, '/', buf->len - start);
    MYR_ASSERT(slash);
    *slash = '-';
}

/*
 * Either spelling. Only the first dash stands for the slash: the rest of the name has dashes too.
 */
uint32_t myr_site_find(const struct myr_design *design, struct myr_str name)
{
    if (name.len == 0 || name.len >= NAME_MAX_BYTES) {
        return MYR_NONE;
    }
    if (memchr(name.data, '/', name.len)) {
        return myr_design_find(design, name);
    }
    char address[NAME_MAX_BYTES];
    memcpy(address, name.data, name.len);
    char *dash = memchr(address, '-', name.len);
    if (!dash) {
        return MYR_NONE;
    }
    *dash = '/';
    return myr_design_find(design, (struct myr_str){address, name.len});
}

/* "17/2", "17/2/1" or "17": cage, connector, leg, all from 1. */
static uint32_t own_port_index(const struct myr_devtype *type, struct myr_str name)
{
    uint64_t part[3] = {0, 1, 1};
    uint32_t parts = 0;
    size_t start = 0;
    for (size_t i = 0; i <= name.len; i++) {
        if (i < name.len && name.data[i] != '/') {
            continue;
        }
        struct myr_str digits = {name.data + start, i - start};
        if (parts == 3 || !myr_str_to_u64(digits, &part[parts]) || part[parts] == 0) {
            return MYR_NONE;
        }
        parts++;
        start = i + 1;
    }
    /* The cage tells the group, and the group what else the name must have. */
    for (uint32_t g = 0; g < type->group_count; g++) {
        const struct myr_port_group *group = &type->groups[g];
        /* The last cage may be used in part. */
        uint64_t cages = (group->count + group->per_cage - 1) / group->per_cage;
        uint64_t cage = part[0] - 1;
        uint32_t connectors = group->per_cage / group->per_connector;
        if (group->role == MYR_PORT_NIC || cage < group->first_cage ||
            cage >= group->first_cage + cages) {
            continue; /* management ports are no cages */
        }
        uint64_t connector = connectors > 1 ? part[1] - 1 : 0;
        uint64_t leg = group->per_connector > 1 ? part[connectors > 1 ? 2 : 1] - 1 : 0;
        /*
         * A part of the name that does not divide anything is not written, and must not be there.
         */
        uint32_t wanted = 1 + (connectors > 1) + (group->per_connector > 1);
        uint64_t index =
            (cage - group->first_cage) * group->per_cage + connector * group->per_connector + leg;
        bool fits = connector < connectors && leg < group->per_connector && parts == wanted;
        return fits && index < group->count ? group->first + (uint32_t)index : MYR_NONE;
    }
    return MYR_NONE;
}

/* "swp17s1" counts the ports of a cage from 0, "sw17p2" from 1: the cage, and where in it. */
static uint32_t caged_port_index(const struct myr_devtype *type, struct myr_str name, char divider,
                                 uint32_t first)
{
    const char *cut = memchr(name.data, divider, name.len);
    size_t digits = cut ? (size_t)(cut - name.data) : name.len;
    /* Without a divider it is the first port of the cage. */
    uint64_t cage, at = first;
    if (!myr_str_to_u64((struct myr_str){name.data, digits}, &cage) || cage == 0) {
        return MYR_NONE;
    }
    if (cut &&
        (!myr_str_to_u64((struct myr_str){cut + 1, name.len - digits - 1}, &at) || at < first)) {
        return MYR_NONE;
    }
    for (uint32_t g = 0; g < type->group_count; g++) {
        const struct myr_port_group *group = &type->groups[g];
        uint64_t cages = (group->count + group->per_cage - 1) / group->per_cage;
        uint64_t in_group = cage - 1 - group->first_cage; /* wraps below the first */
        uint64_t index = in_group * group->per_cage + at - first;
        if (group->role != MYR_PORT_NIC && in_group < cages && at - first < group->per_cage &&
            index < group->count) {
            /* A divided cage has no port of its own: "swp17" is then nothing. */
            return cut || group->per_cage == 1 ? group->first + (uint32_t)index : MYR_NONE;
        }
    }
    return MYR_NONE;
}

/* A prefix alone is no name: something must follow. */
static bool cut_prefix(struct myr_str *name, const char *prefix)
{
    size_t len = strlen(prefix);
    if (name->len <= len || memcmp(name->data, prefix, len) != 0) {
        return false;
    }
    name->data += len;
    name->len -= len;
    return true;
}

/* By the prefix: "swp", "sw", or the design's own way with or without a word in front. */
static uint32_t switch_port_index(const struct myr_devtype *type, struct myr_str name)
{
    if (cut_prefix(&name, "swp")) {
        return caged_port_index(type, name, 's', 0);
    }
    if (cut_prefix(&name, "sw")) {
        return caged_port_index(type, name, 'p', 1);
    }
    /* A bare "Ethernet64" counts lanes, and how many a port has is not known here. */
    if (memchr(name.data, '/', name.len)) {
        (void)(cut_prefix(&name, "Ethernet") || cut_prefix(&name, "Eth") ||
               cut_prefix(&name, "IB1/"));
    }
    return own_port_index(type, name);
}

/* "nic3", "nic3p1", "st0", "eth1", "bmc0". */
static uint32_t nic_port_index(const struct myr_design *design, uint32_t device,
                               struct myr_str name)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint32_t found = MYR_NONE;
    uint32_t first = design->first_port[device], end = design->first_port[device + 1];
    for (uint32_t p = first; p < end && found == MYR_NONE; p++) {
        myr_buf_clear(&text);
        myr_design_port_name(design, p, &text);
        if (myr_str_eq((struct myr_str){text.data, text.len}, name)) {
            found = p - first;
        }
    }
    return found;
}

uint32_t myr_site_own_port(const struct myr_devtype *type, struct myr_str name)
{
    bool host = type->group_count == 0 || type->groups[0].role == MYR_PORT_NIC;
    return host || name.len == 0 ? MYR_NONE : own_port_index(type, name);
}

uint32_t myr_site_find_port(const struct myr_design *design, uint32_t device, struct myr_str name)
{
    MYR_ASSERT(device < design->device_count);
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    if (name.len == 0 || type->group_count == 0) {
        return MYR_NONE;
    }
    /* NICs and management ports have names of their own; other ports of switches are cages. */
    bool named =
        type->groups[0].role == MYR_PORT_NIC || (name.len > 4 && memcmp(name.data, "mgmt", 4) == 0);
    uint32_t index = named ? nic_port_index(design, device, name) : switch_port_index(type, name);
    return index == MYR_NONE ? MYR_NONE : design->first_port[device] + index;
}

/* As Linux calls front panel ports: "swp17", or "swp17s1" in a divided cage. */
void myr_site_interface(const struct myr_design *design, uint32_t port, struct myr_buf *buf)
{
    const struct myr_port_group *group = myr_design_port_group(design, port);
    if (group->role == MYR_PORT_NIC) {
        myr_design_port_name(design, port, buf);
        return;
    }
    uint32_t index = port - design->first_port[design->port_device[port]] - group->first;
    myr_buf_put_lit(buf, "swp");
    myr_buf_put_u64(buf, group->first_cage + index / group->per_cage + 1);
    if (group->per_cage > 1) {
        myr_buf_putc(buf, 's');
        myr_buf_put_u64(buf, index % group->per_cage);
    }
}

static struct myr_str keep(struct myr_cabling *cabling, const struct myr_buf *buf)
{
    return (struct myr_str){myr_arena_strndup(cabling->arena, buf->data, buf->len), buf->len};
}

static bool is_host(const struct myr_design *design, uint32_t port)
{
    return myr_design_port_group(design, port)->role == MYR_PORT_NIC;
}

/* 02 marks a locally assigned address; then "MYR" for a NIC, one more for a switch. */
static const uint64_t guid_nics = UINT64_C(0x024d595200000000);
static const uint64_t guid_switches = UINT64_C(0x024d595300000000);

/* Two numbers a NIC: the next one is its port's. Switches have one for all of their ports. */
uint64_t myr_site_guid(const struct myr_design *design, uint32_t port)
{
    MYR_ASSERT(port < design->port_count);
    return is_host(design, port) ? guid_nics + 2 * (uint64_t)port
                                 : guid_switches + design->port_device[port];
}

uint64_t myr_site_port_guid(const struct myr_design *design, uint32_t port)
{
    return myr_site_guid(design, port) + (is_host(design, port) ? 1 : 0);
}

/* All ports of a host; of a switch those in cages, its management ports apart. */
static uint32_t ports_in_cages(const struct myr_design *design, uint32_t device)
{
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    uint32_t ports = 0;
    for (uint32_t g = 0; g < type->group_count; g++) {
        bool counts = type->groups[0].role == MYR_PORT_NIC || type->groups[g].role != MYR_PORT_NIC;
        ports += counts ? type->groups[g].count : 0;
    }
    return ports;
}

/* Of a switch all that it has, as InfiniBand counts them. */
static uint32_t ports_of(const struct myr_design *design, uint32_t device, enum myr_nic_view view)
{
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    bool caged = view == MYR_NIC_AS_DEVICE && !myr_site_counts_on(type);
    return caged ? type->cages * myr_site_numbers(type) : ports_in_cages(design, device);
}

/*
 * As a real source would show the port: subnet managers see each NIC as a device with port 1, and
 * switch ports by number; others see hosts, and names.
 */
static struct myr_cabling_end end_of(struct myr_cabling *cabling, const struct myr_design *design,
                                     uint32_t port, enum myr_nic_view view, struct myr_buf *scratch)
{
    uint32_t device = design->port_device[port];
    bool own_device = view == MYR_NIC_AS_DEVICE && is_host(design, port);
    struct myr_cabling_end end;
    myr_buf_clear(scratch);
    myr_site_name(design, device, scratch);
    if (own_device) {
        myr_buf_putc(scratch, '-');
        myr_design_port_name(design, port, scratch);
    }
    struct myr_str name = {scratch->data, scratch->len};
    end.device = myr_strmap_get(&cabling->names, name);
    /* The first end of a device tells all about it: no source repeats it. */
    if (end.device == MYR_MAP_NONE) {
        end.device = myr_cabling_device(cabling, keep(cabling, scratch));
        struct myr_cabling_device *added = &cabling->devices.items[end.device];
        /* A management port is no cage of its switch, and makes no host of it. */
        added->is_switch = design->place[device].net != MYR_NET_COUNT || !is_host(design, port);
        added->guid = own_device || !is_host(design, port) ? myr_site_guid(design, port) : 0;
        added->port_count = own_device ? 1 : ports_of(design, device, view);
    }
    myr_buf_clear(scratch);
    if (own_device) {
        myr_buf_putc(scratch, '1');
    } else if (view == MYR_NIC_AS_DEVICE) {
        myr_buf_put_u64(scratch, myr_site_number(design, port));
    } else {
        myr_design_port_name(design, port, scratch);
    }
    end.port = keep(cabling, scratch);
    return end;
}

/* What a perfect source would find, for exports and comparisons. */
void myr_cabling_from_design(struct myr_cabling *cabling, const struct myr_design *design,
                             enum myr_net_id net, enum myr_nic_view view)
{
    static const char *const media[] = {"dac-passive", "mmf", "smf"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    for (uint32_t i = 0; i < design->link_count; i++) {
        uint32_t cable = design->link_cable[i];
        const struct myr_cabletype *type = &design->cabletypes[design->cable_type[cable]];
        if (type->net != net) {
            continue;
        }
        struct myr_cabling_link link = {.gbps = type->gbps,
                                        .medium = myr_str_from(media[type->medium]),
                                        .length_mm = type->length_mm};
        myr_buf_clear(&scratch);
        myr_buf_put_u64_pad(&scratch, cable, 8);
        link.label = keep(cabling, &scratch);
        link.a = end_of(cabling, design, design->link_a[i], view, &scratch);
        link.b = end_of(cabling, design, design->link_b[i], view, &scratch);
        myr_vec_push(&cabling->links, link);
    }
}

/* "node-00042-nic3" is the NIC of a node: the node is what stands before the last dash. */
static uint32_t nic_device_port(const struct myr_design *design, struct myr_str name)
{
    for (size_t i = name.len; i > 1; i--) {
        /* From the back: names of hosts have dashes of their own. */
        if (name.data[i - 1] == '-' || name.data[i - 1] == ' ') {
            uint32_t device = myr_site_find(design, (struct myr_str){name.data, i - 1});
            struct myr_str port = {name.data + i, name.len - i};
            return device == MYR_NONE ? MYR_NONE : myr_site_find_port(design, device, port);
        }
    }
    return MYR_NONE;
}

/*
 * MYR_NONE where the end is not one of the design. A name is tried before a number, for "17" may be
 * a cage.
 */
uint32_t myr_cabling_port(const struct myr_design *design, const struct myr_cabling *cabling,
                          struct myr_cabling_end end)
{
    struct myr_str name = cabling->devices.items[end.device].name;
    uint32_t device = myr_site_find(design, name);
    if (device == MYR_NONE) {
        return nic_device_port(design, name);
    }
    uint32_t port = myr_site_find_port(design, device, end.port);
    uint64_t number;
    if (port == MYR_NONE && myr_str_to_u64(end.port, &number) && number <= UINT32_MAX) {
        port = myr_site_numbered(design, device, (uint32_t)number);
    }
    return port;
}
