/*
 * design: names of devices and ports, and the way back from a name to a device. A name spells the
 * numbers of a place (pod, rail, plane, ordinal), so none is stored; only a grown design has names
 * apart from places (docs/decisions, 0010).
 */
#include "myriad/model/ids.h"
#include "myriad/model/stretch.h"

enum { NODE_DIGITS = 5 }; /* of node/00042; larger numbers have more */

/* Names in the order of their enums, here and below: they stand in files and must not change. */
const char *const myr_layer_names[MYR_LAYER_COUNT] = {"host_leaf", "leaf_spine", "spine_core",
                                                      "local", "global"};

static const char *const kind_names[MYR_DEVICE_KIND_COUNT] = {"node",   "leaf",   "spine", "core",
                                                              "router", "access", "agg",   "store",
                                                              "mgmt",   "fm",     "pdu",   "cdu"};

/* What NICs are called on a node, by network. */
static const char *const nic_names[MYR_NET_COUNT] = {"nic", "st", "eth", "bmc"};

const char *const myr_basis_names[MYR_BASIS_COUNT] = {"computed", "counted", "given", "assumed"};

const char *myr_device_kind_name(enum myr_device_kind kind)
{
    return kind_names[kind];
}

/* Letter 0: the number stands alone. */
static void put_number(struct myr_buf *buf, char letter, uint32_t number)
{
    if (letter) {
        myr_buf_putc(buf, letter);
    }
    myr_buf_put_u64(buf, number);
}

/* Where it is says what it is called, unless it was called something else before. */
static const struct myr_place *name_of(const struct myr_design *design, uint32_t device)
{
    return design->named ? &design->named[device] : &design->place[device];
}

/*
 * The kind, then the numbers that a style has, from the outermost inwards: "leaf/storage-x1-p0-3".
 * Names of the compute network have no network in front.
 */
void myr_design_name(const struct myr_design *design, uint32_t device, struct myr_buf *buf)
{
    MYR_ASSERT(device < design->device_count);
    const struct myr_place *place = name_of(design, device);
    myr_buf_puts(buf, kind_names[place->kind]);
    myr_buf_putc(buf, '/');
    if (place->style == MYR_NAME_PLAIN) {
        myr_buf_put_u64_pad(buf, place->ordinal, NODE_DIGITS);
        return;
    }
    if (place->net != MYR_NET_COMPUTE) {
        myr_buf_puts(buf, myr_net_names[place->net]);
        myr_buf_putc(buf, '-');
    }
    if (place->plane != MYR_PLANE_NONE) {
        put_number(buf, 'x', place->plane);
        myr_buf_putc(buf, '-');
    }
    if (place->style == MYR_NAME_RAIL_POD || place->style == MYR_NAME_RAIL_GROUP) {
        put_number(buf, 'r', place->unit);
        myr_buf_putc(buf, '-');
    }
    if (place->style != MYR_NAME_NET) {
        bool group = place->style == MYR_NAME_GROUP || place->style == MYR_NAME_RAIL_GROUP;
        put_number(buf, place->style == MYR_NAME_COORDINATES ? 0 : group ? 'g' : 'p', place->pod);
        myr_buf_putc(buf, '-');
    }
    if (place->style == MYR_NAME_POD_GROUP || place->style == MYR_NAME_COORDINATES) {
        put_number(buf, place->style == MYR_NAME_POD_GROUP ? 'g' : 0, place->unit);
        myr_buf_putc(buf, '-');
    }
    put_number(buf, place->style == MYR_NAME_POD_GROUP ? 'r' : 0, place->ordinal);
}

/* By a walk over the groups of the type, of which there are a few. */
const struct myr_port_group *myr_design_port_group(const struct myr_design *design, uint32_t port)
{
    uint32_t device = design->port_device[port];
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    uint32_t index = port - design->first_port[device];
    /* Below the group's start the difference wraps around to more than any count. */
    for (uint32_t i = 0; i < type->group_count; i++) {
        if (index - type->groups[i].first < type->groups[i].count) {
            return &type->groups[i];
        }
    }
    MYR_ASSERT(false && "a port lies in a group of its device's type");
    return NULL;
}

/* Ports of a cage follow each other. */
uint32_t myr_design_port_cage(const struct myr_design *design, uint32_t port)
{
    const struct myr_port_group *group = myr_design_port_group(design, port);
    uint32_t index = port - design->first_port[design->port_device[port]] - group->first;
    return group->first_cage + index / group->per_cage;
}

/*
 * NICs are named by network and number, switch ports by cage, connector and leg, so that a name is
 * what a person finds on the box.
 */
void myr_design_port_name(const struct myr_design *design, uint32_t port, struct myr_buf *buf)
{
    const struct myr_port_group *group = myr_design_port_group(design, port);
    uint32_t index = port - design->first_port[design->port_device[port]] - group->first;
    if (group->role == MYR_PORT_NIC) {
        /* Ports of one NIC follow each other, one in each plane. */
        uint32_t planes = design->networks[group->net].planes;
        /* A switch has no controller board of its own name: its port is the management port. */
        bool host = design->place[design->port_device[port]].net == MYR_NET_COUNT;
        myr_buf_puts(buf, host ? nic_names[group->net] : "mgmt");
        myr_buf_put_u64(buf, index / planes);
        if (planes > 1) {
            put_number(buf, 'p', index % planes);
        }
        return;
    }
    /*
     * Switches count from 1, as is printed on them: cage, connector of the cage, leg of the
     * connector.
     */
    myr_buf_put_u64(buf, group->first_cage + index / group->per_cage + 1);
    uint32_t in_cage = index % group->per_cage;
    if (group->per_cage > group->per_connector) {
        myr_buf_putc(buf, '/');
        myr_buf_put_u64(buf, in_cage / group->per_connector + 1);
    }
    if (group->per_connector > 1) {
        myr_buf_putc(buf, '/');
        myr_buf_put_u64(buf, in_cage % group->per_connector + 1);
    }
}

/*
 * Cuts "x3-" or "17" off the front: the letter must match (0: none); a dash goes too, and then
 * something must be left.
 */
static bool take_number(struct myr_str *text, char letter, uint32_t *ret)
{
    size_t at = 0;
    if (letter && (text->len == 0 || text->data[at++] != letter)) {
        return false;
    }
    size_t digits = at;
    while (digits < text->len && text->data[digits] >= '0' && text->data[digits] <= '9') {
        digits++;
    }
    uint64_t value;
    if (!myr_str_to_u64((struct myr_str){text->data + at, digits - at}, &value) ||
        value > UINT32_MAX) {
        return false;
    }
    bool last = digits == text->len;
    if (!last && (text->data[digits] != '-' || digits + 1 == text->len)) {
        return false;
    }
    size_t used = last ? digits : digits + 1;
    text->data += used;
    text->len -= used;
    *ret = (uint32_t)value;
    return true;
}

/* Cuts a word and the character behind it off the front; something must be left. */
static bool take_word(struct myr_str *text, const char *word, char end)
{
    size_t len = strlen(word);
    if (text->len <= len || memcmp(text->data, word, len) != 0 || text->data[len] != end) {
        return false;
    }
    text->data += len + 1;
    text->len -= len + 1;
    return true;
}

/* The order in which devices of one kind and network stand in the design. */
int myr_place_compare(const struct myr_place *a, const struct myr_place *b)
{
    /* Rails are numbered before pods where a fabric is made of rails; both have the same style. */
    bool unit_first = a->style == MYR_NAME_RAIL_POD || a->style == MYR_NAME_RAIL_GROUP;
    const uint32_t left[] = {a->plane, unit_first ? a->unit : a->pod, unit_first ? a->pod : a->unit,
                             a->ordinal};
    const uint32_t right[] = {b->plane, unit_first ? b->unit : b->pod,
                              unit_first ? b->pod : b->unit, b->ordinal};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(left); i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i] ? -1 : 1;
        }
    }
    return 0;
}

/*
 * The inverse of myr_design_name() behind the slash. 'ret' brings the network, which the name must
 * have in front.
 */
static bool parse_place(struct myr_str text, uint8_t style, bool planes, struct myr_place *ret)
{
    uint32_t plane = MYR_PLANE_NONE;
    if (style == MYR_NAME_PLAIN) {
        return take_number(&text, 0, &ret->ordinal) && text.len == 0;
    }
    if (ret->net != MYR_NET_COMPUTE && !take_word(&text, myr_net_names[ret->net], '-')) {
        return false;
    }
    if (planes && (!take_number(&text, 'x', &plane) || plane > UINT8_MAX)) {
        return false;
    }
    ret->plane = (uint8_t)plane;
    bool good = true;
    if (style == MYR_NAME_RAIL_POD || style == MYR_NAME_RAIL_GROUP) {
        good = take_number(&text, 'r', &ret->unit);
    }
    if (style != MYR_NAME_NET) {
        bool group = style == MYR_NAME_GROUP || style == MYR_NAME_RAIL_GROUP;
        char letter = style == MYR_NAME_COORDINATES ? 0 : group ? 'g' : 'p';
        good = good && take_number(&text, letter, &ret->pod);
    }
    if (style == MYR_NAME_POD_GROUP || style == MYR_NAME_COORDINATES) {
        good = good && take_number(&text, style == MYR_NAME_POD_GROUP ? 'g' : 0, &ret->unit);
    }
    return good && take_number(&text, style == MYR_NAME_POD_GROUP ? 'r' : 0, &ret->ordinal) &&
           text.len == 0;
}

/* Those of the two last kinds stand behind all others. */
static struct myr_device_range last_of(const struct myr_design *design, enum myr_device_kind kind)
{
    uint32_t ends[2]; /* the first of the kind, and the first behind it */
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t low = 0, high = design->device_count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2, here = design->place[middle].kind;
            bool before = here < MYR_DEVICE_PDU || here < (uint32_t)kind + i;
            low = before ? middle + 1 : low;
            high = before ? high : middle;
        }
        ends[i] = low;
    }
    return (struct myr_device_range){ends[0], ends[1] - ends[0]};
}

struct myr_node_stretch myr_design_node_stretch(const struct myr_design *design, uint32_t first,
                                                uint32_t count)
{
    MYR_ASSERT(count > 0 && first < design->head->nodes && count <= design->head->nodes - first);
    const struct myr_place *named = design->named ? design->named : design->place;
    named += design->head->first_node + first;
    struct myr_node_stretch stretch = {named->ordinal, 1};
    while (stretch.count < count &&
           named[stretch.count].ordinal == stretch.number + stretch.count) {
        stretch.count++;
    }
    return stretch;
}

void myr_design_node_names(const struct myr_design *design, struct myr_buf *ret)
{
    for (uint32_t i = 0, nodes = design->head->nodes; i < nodes;) {
        struct myr_node_stretch stretch = myr_design_node_stretch(design, i, nodes - i);
        myr_buf_printf(ret, "%snode-[%05u-%05u]", i ? "," : "", stretch.number,
                       stretch.number + stretch.count - 1);
        i += stretch.count;
    }
}

/*
 * Devices of one kind on one network are a run of the arrays; hosts are of no network, and 'net'
 * does not matter for them.
 */
struct myr_device_range myr_design_range(const struct myr_design *design, enum myr_device_kind kind,
                                         enum myr_net_id net)
{
    const struct myr_design_head *head = design->head;
    const struct myr_network *network = &design->networks[net];
    switch (kind) {
    case MYR_DEVICE_NODE:
        return (struct myr_device_range){head->first_node, head->nodes};
    case MYR_DEVICE_STORAGE:
        return (struct myr_device_range){head->first_storage, head->storage_servers};
    case MYR_DEVICE_MANAGEMENT:
        return (struct myr_device_range){head->first_management, head->management_nodes};
    case MYR_DEVICE_FABRIC_MANAGER:
        return (struct myr_device_range){head->first_fabric_manager, head->fabric_managers};
    case MYR_DEVICE_LEAF:
    case MYR_DEVICE_ROUTER:
        return (struct myr_device_range){network->first_leaf, network->leaf};
    case MYR_DEVICE_SPINE:
        return (struct myr_device_range){network->first_spine, network->spine};
    case MYR_DEVICE_CORE:
        return (struct myr_device_range){network->first_core, network->core};
    case MYR_DEVICE_ACCESS:
        return (struct myr_device_range){network->first_access, network->access};
    case MYR_DEVICE_AGGREGATION:
        return (struct myr_device_range){network->first_aggregation, network->aggregation};
    case MYR_DEVICE_PDU:
    case MYR_DEVICE_CDU:
        return last_of(design, kind);
    case MYR_DEVICE_KIND_COUNT:
        break;
    }
    return (struct myr_device_range){0, 0};
}

/*
 * By halving: devices of a kind and network stand in the order of myr_place_compare(), or 'by_name'
 * lists them so.
 */
static uint32_t find_in(const struct myr_design *design, struct myr_device_range range,
                        const struct myr_place *wanted)
{
    uint32_t low = range.first, high = range.first + range.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t device = design->by_name ? design->by_name[middle] : middle;
        int order = myr_place_compare(name_of(design, device), wanted);
        if (order == 0) {
            return device;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return MYR_NONE;
}

/* MYR_NONE for a name that no device has. Networks are tried in turn, for several have leaves. */
uint32_t myr_design_find(const struct myr_design *design, struct myr_str name)
{
    for (uint32_t kind = 0; kind < MYR_DEVICE_KIND_COUNT; kind++) {
        /* Each kind begins with its own word and a slash. */
        struct myr_str rest = name;
        if (!take_word(&rest, kind_names[kind], '/')) {
            continue;
        }
        for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
            struct myr_device_range range =
                myr_design_range(design, (enum myr_device_kind)kind, (enum myr_net_id)net);
            if (range.count == 0 || design->place[range.first].kind != kind) {
                continue;
            }
            /* All of a range have one style, so the first says how names of it are to be read. */
            struct myr_place wanted = *name_of(design, range.first);
            bool planes = wanted.plane != MYR_PLANE_NONE;
            wanted.pod = wanted.unit = wanted.ordinal = 0;
            if (!parse_place(rest, wanted.style, planes, &wanted)) {
                continue;
            }
            uint32_t device = find_in(design, range, &wanted);
            if (device != MYR_NONE) {
                return device;
            }
        }
    }
    return MYR_NONE;
}

/* The position of a link, by its id; MYR_NONE: there is none. */
uint32_t myr_design_link_at(const struct myr_design *design, uint32_t id)
{
    if (!design->link_id) {
        return id < design->link_count ? id : MYR_NONE;
    }
    /*
     * Ids of a grown design are in no order: a question about one link may look through them all.
     */
    for (uint32_t link = 0; link < design->link_count; link++) {
        if (design->link_id[link] == id) {
            return link;
        }
    }
    return MYR_NONE;
}

/* "A14", or "NAME/A14" where there are several buildings. */
void myr_design_rack_name(const struct myr_design *design, uint32_t rack, struct myr_buf *buf)
{
    char letters[MYR_ROOM_COLUMN_BYTES];
    if (design->room && design->room->buildings > 1) {
        /* The names of all buildings are one text with commas between them. */
        const char *names = myr_design_str(design, design->room->building_names[1]);
        for (uint32_t skip = design->rack_more[rack].building; skip > 0 && *names; names++) {
            skip -= *names == ',';
        }
        myr_buf_put(buf, names, strcspn(names, ","));
        myr_buf_putc(buf, '/');
    }
    myr_buf_puts(buf, myr_room_column_name(design->racks[rack].column + 1, letters));
    myr_buf_put_u64(buf, (uint64_t)design->racks[rack].row + 1);
}

const struct myr_figure *myr_design_figure(const struct myr_design *design, const char *path)
{
    for (uint32_t i = 0; i < design->figure_count; i++) {
        if (strcmp(myr_design_str(design, design->figures[i].path), path) == 0) {
            return &design->figures[i];
        }
    }
    return NULL;
}

/* What the arrays that grow with the cabling take. */
double myr_design_bytes_per_cable(const struct myr_design *design)
{
    if (design->cable_count == 0) {
        return 0;
    }
    double ports = (double)design->port_count * (sizeof(uint32_t) * 2);
    double links = (double)design->link_count * (sizeof(uint32_t) * 3);
    double cables = (double)design->cable_count * (sizeof(uint32_t) + sizeof(uint16_t));
    return (ports + links + cables) / design->cable_count;
}
