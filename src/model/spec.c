#include "myriad/model/spec.h"

#include <stdlib.h>

#include "fields.h"

/* Far more than there are rules; every name is looked for among all findings. */
enum { ACCEPT_MAX = 256 };

const char *const myr_per_names[MYR_PER_COUNT] = {"piece", "gpu",      "server",
                                                  "node",  "nic_port", "switch"};
const char *const myr_pin_role_names[MYR_PIN_ROLE_COUNT] = {
    "switch_optic", "nic_optic", "host_cable", "fabric_optic", "fabric_cable", "nic"};

static const enum myr_part_kind pin_kinds[MYR_PIN_ROLE_COUNT] = {
    MYR_PART_TRANSCEIVER, MYR_PART_TRANSCEIVER, MYR_PART_CABLE,
    MYR_PART_TRANSCEIVER, MYR_PART_CABLE,       MYR_PART_NIC};

static const char *const fill_names[] = {"default", "regular", "dense"};
static const char *const rate_names[] = {"none", "good", "better", "best"};

/* The words a spec may use; several mean the same. The first of each is the one printed. */
static const struct {
    const char *name;
    enum myr_topology topology;
} topology_words[] = {
    {"rail", MYR_TOPOLOGY_RAIL},
    {"rail-optimised", MYR_TOPOLOGY_RAIL},
    {"rail-optimized", MYR_TOPOLOGY_RAIL},
    {"islands", MYR_TOPOLOGY_RAIL},
    {"dual-tor", MYR_TOPOLOGY_RAIL},
    {"dual-plane", MYR_TOPOLOGY_RAIL},
    {"twin-planar", MYR_TOPOLOGY_RAIL},
    {"clos", MYR_TOPOLOGY_CLOS},
    {"fat-tree", MYR_TOPOLOGY_CLOS},
    {"leaf-spine", MYR_TOPOLOGY_CLOS},
    {"rail-only", MYR_TOPOLOGY_RAIL_ONLY},
    {"middle-of-rack", MYR_TOPOLOGY_MIDDLE_OF_RACK},
    {"dragonfly", MYR_TOPOLOGY_DRAGONFLY},
    {"dragonfly+", MYR_TOPOLOGY_DRAGONFLY_PLUS},
    {"dragonfly-plus", MYR_TOPOLOGY_DRAGONFLY_PLUS},
    {"torus", MYR_TOPOLOGY_TORUS},
    {"torus-2d", MYR_TOPOLOGY_TORUS},
    {"torus-3d", MYR_TOPOLOGY_TORUS},
    {"access", MYR_TOPOLOGY_ACCESS},
};

const char *myr_topology_name(enum myr_topology topology)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(topology_words); i++) {
        if (topology_words[i].topology == topology) {
            return topology_words[i].name;
        }
    }
    return "default";
}

/* Nodes that need more than a table row. */
struct net_nodes {
    const struct myr_doc *topology, *sw, *spine_switch, *core_switch, *oversubscription, *dims;
    const struct myr_doc *lengths, *pin, *items, *access_switch, *aggregation_switch;
};

static const struct field net_node_fields[] = {
    FIELD_ROW_NODE("topology", struct net_nodes, topology),
    FIELD_ROW_NODE("switch", struct net_nodes, sw),
    FIELD_ROW_NODE("spine_switch", struct net_nodes, spine_switch),
    FIELD_ROW_NODE("core_switch", struct net_nodes, core_switch),
    FIELD_ROW_NODE("oversubscription", struct net_nodes, oversubscription),
    FIELD_ROW_NODE("dims", struct net_nodes, dims),
    FIELD_ROW_NODE("length_m", struct net_nodes, lengths),
    FIELD_ROW_NODE("pin", struct net_nodes, pin),
    FIELD_ROW_NODE("items", struct net_nodes, items),
    FIELD_ROW_NODE("access_switch", struct net_nodes, access_switch),
    FIELD_ROW_NODE("aggregation_switch", struct net_nodes, aggregation_switch),
};

static const struct field net_fields[] = {
    FIELD_ROW_CHOICE("fill", struct myr_spec_net, fill, fill_names),
    FIELD_ROW_U32("nic_ports", struct myr_spec_net, nic_ports, 1, 64),
    FIELD_ROW_U32("nic_gbps", struct myr_spec_net, nic_gbps, 1, 100000),
    FIELD_ROW_U32("uplink_gbps", struct myr_spec_net, uplink_gbps, 1, 100000),
    FIELD_ROW_U32("tiers", struct myr_spec_net, tiers, 1, MYR_SPEC_TIERS_MAX),
    FIELD_ROW_U32("planes", struct myr_spec_net, planes, 1, MYR_SPEC_PLANES_MAX),
    FIELD_ROW_U32("rails", struct myr_spec_net, rails, 1, 64),
    FIELD_ROW_U32("extra_nodes", struct myr_spec_net, extra_nodes, 0, 100000),
    FIELD_ROW_U32("fabric_manager_ports", struct myr_spec_net, fabric_manager_ports, 0, 64),
    FIELD_ROW_U32("leaf_down", struct myr_spec_net, leaf_down, 1, 4096),
    FIELD_ROW_U32("leaf_up", struct myr_spec_net, leaf_up, 1, 4096),
    FIELD_ROW_U32("pod_leaves", struct myr_spec_net, pod_leaves, 1, 4096),
    FIELD_ROW_U32("islands", struct myr_spec_net, islands, 1, 4096),
    FIELD_ROW_U32("hosts_per_switch", struct myr_spec_net, hosts_per_switch, 1, 4096),
    FIELD_ROW_U32("trunk", struct myr_spec_net, trunk, 1, 1024),
    FIELD_ROW_U32("group_switches", struct myr_spec_net, group_switches, 1, 4096),
    FIELD_ROW_U32("global_ports", struct myr_spec_net, global_ports, 1, 4096),
    FIELD_ROW_U32("homes", struct myr_spec_net, homes, 1, 8),
    FIELD_ROW_U32("aggregation", struct myr_spec_net, aggregation_count, 1, 1024),
};

static int read_topology(const struct myr_doc *node, struct myr_spec_net *net, struct myr_err *err)
{
    const char *names[MYR_ARRAY_COUNT(topology_words)];
    for (size_t i = 0; i < MYR_ARRAY_COUNT(topology_words); i++) {
        names[i] = topology_words[i].name;
    }
    uint32_t choice;
    int r = myr_doc_choice(node, "topology", names, MYR_ARRAY_COUNT(names), &choice, err);
    if (r < 0) {
        return r;
    }
    struct myr_str word = myr_str_from(topology_words[choice].name);
    net->topology = topology_words[choice].topology;
    uint32_t dims = myr_str_eq(word, MYR_STR("torus-2d"))   ? 2
                    : myr_str_eq(word, MYR_STR("torus-3d")) ? 3
                                                            : net->dim_count;
    if (net->dim_count && dims != net->dim_count) {
        return myr_doc_error(err, node, MYR_EINVAL, "'topology' is '%s', but 'dims' has %u entries",
                             word.data, net->dim_count);
    }
    net->twin_planar = myr_str_eq(word, MYR_STR("twin-planar"));
    if (!net->planes && (net->twin_planar || myr_str_eq(word, MYR_STR("dual-tor")) ||
                         myr_str_eq(word, MYR_STR("dual-plane")))) {
        net->planes = 2;
    }
    return MYR_OK;
}

static int read_oversubscription(const struct myr_doc *node, struct myr_spec_net *net,
                                 struct myr_err *err)
{
    if (node->kind != MYR_DOC_LIST) {
        net->oversubscription_count = 1;
        return myr_doc_double(node, "oversubscription", 0.1, 1000, &net->oversubscription[0], err);
    }
    if (node->count < 1 || node->count > MYR_SPEC_TIERS_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE,
                             "'oversubscription' has %u entries, one for each tier (at most %d) "
                             "is expected",
                             node->count, MYR_SPEC_TIERS_MAX);
    }
    for (uint32_t i = 0; i < node->count; i++) {
        int r = myr_doc_double(node->items[i], "oversubscription", 0.1, 1000,
                               &net->oversubscription[i], err);
        if (r < 0) {
            return r;
        }
    }
    net->oversubscription_count = node->count;
    return MYR_OK;
}

static int read_dims(const struct myr_doc *node, struct myr_spec_net *net, struct myr_err *err)
{
    int r = myr_doc_expect(node, MYR_DOC_LIST, "dims", err);
    if (r < 0) {
        return r;
    }
    if (node->count < 2 || node->count > MYR_SPEC_DIMS_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'dims' has %u entries, 2 or 3 are expected",
                             node->count);
    }
    for (uint32_t i = 0; i < node->count; i++) {
        uint64_t size;
        r = myr_doc_u64(node->items[i], "dims", 2, 1024, &size, err);
        if (r < 0) {
            return r;
        }
        net->dims[i] = (uint32_t)size;
    }
    net->dim_count = node->count;
    return MYR_OK;
}

static int read_lengths(struct myr_arena *arena, const struct myr_doc *node,
                        struct myr_spec_net *net, struct myr_err *err)
{
    if (node->kind == MYR_DOC_SCALAR) {
        int r = myr_doc_double(node, "length_m", 0.1, 100000, &net->host_length_m, err);
        net->fabric_length_m = net->core_length_m = net->host_length_m;
        return r;
    }
    static const struct field length_fields[] = {
        FIELD_ROW_DOUBLE("host_leaf", struct myr_spec_net, host_length_m, 0.1, 100000),
        FIELD_ROW_DOUBLE("leaf_spine", struct myr_spec_net, fabric_length_m, 0.1, 100000),
        FIELD_ROW_DOUBLE("spine_core", struct myr_spec_net, core_length_m, 0.1, 100000),
    };
    struct field_table table = {length_fields, MYR_ARRAY_COUNT(length_fields), net};
    return fields_read(arena, node, "length_m", &table, 1, err);
}

/*
 * A part of any kind was meant, so the nearest names of all kinds are offered. Where the name is a
 * key, the complaint points at the key.
 */
static int unknown_part(const struct myr_catalog *catalog, const struct myr_doc *place,
                        struct myr_str name, const char *where, struct myr_err *err)
{
    MYR_VEC(const char *) names = {0};
    for (uint32_t i = 0; i < catalog->names.count; i++) {
        myr_vec_push(&names, catalog->names.keys[i].data);
    }
    char near[128], shown[MYR_EXCERPT_MAX];
    myr_str_nearest(name, names.items, names.count, near, sizeof(near));
    myr_vec_done(&names);
    return myr_doc_error(err, place, MYR_ENOENT, "unknown part '%s' in '%s'%s%s%s",
                         myr_text_excerpt(name, shown), where, near[0] ? "; did you mean " : "",
                         near, near[0] ? "?" : "");
}

static struct myr_doc key_place(const struct myr_doc_entry *entry)
{
    struct myr_doc place = *entry->value;
    place.line = entry->key_line;
    place.column = entry->key_column;
    return place;
}

static int read_quantities(const struct myr_catalog *catalog, const struct myr_doc *node,
                           struct myr_spec_net *net, struct myr_err *err)
{
    int r = myr_doc_expect(node, MYR_DOC_MAP, "quantities", err);
    if (r == MYR_OK && node->count > MYR_SPEC_PINS_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'quantities' has %u entries, at most %d",
                             node->count, MYR_SPEC_PINS_MAX);
    }
    for (uint32_t i = 0; r == MYR_OK && i < node->count; i++) {
        const struct myr_doc_entry *entry = &node->entries[i];
        uint32_t part = myr_catalog_find(catalog, entry->key);
        if (part == MYR_PART_NONE) {
            struct myr_doc place = key_place(entry);
            return unknown_part(catalog, &place, entry->key, "quantities", err);
        }
        struct myr_pin_quantity *pin = &net->quantities[net->quantity_count++];
        *pin = (struct myr_pin_quantity){.part = part, .node = entry->value};
        r = myr_doc_u64(entry->value, "quantities", 0, 100000000, &pin->quantity, err);
    }
    return r;
}

static int read_pins(const struct myr_catalog *catalog, const struct myr_doc *node,
                     struct myr_spec_net *net, struct myr_err *err)
{
    const char *keys[MYR_PIN_ROLE_COUNT + 1];
    for (uint32_t role = 0; role < MYR_PIN_ROLE_COUNT; role++) {
        keys[role] = myr_pin_role_names[role];
    }
    keys[MYR_PIN_ROLE_COUNT] = "quantities";
    int r = myr_doc_check_keys(node, "pin", keys, MYR_ARRAY_COUNT(keys), err);
    for (uint32_t role = 0; r == MYR_OK && role < MYR_PIN_ROLE_COUNT; role++) {
        const struct myr_doc *part = myr_doc_get(node, keys[role]);
        if (part) {
            r = myr_catalog_need(catalog, part, keys[role], pin_kinds[role], &net->pins[role], err);
        }
    }
    const struct myr_doc *quantities = myr_doc_get(node, "quantities");
    if (r == MYR_OK && quantities) {
        r = read_quantities(catalog, quantities, net, err);
    }
    return r;
}

static int read_item(struct myr_arena *arena, const struct myr_catalog *catalog,
                     const struct myr_doc *node, struct myr_spec_item *item, struct myr_err *err)
{
    struct item_nodes {
        const struct myr_doc *part;
    } nodes = {0};
    static const struct field node_fields[] = {FIELD_ROW_NODE("part", struct item_nodes, part)};
    static const struct field item_fields[] = {
        FIELD_ROW_CHOICE("per", struct myr_spec_item, per, myr_per_names),
        FIELD_ROW_DOUBLE("quantity", struct myr_spec_item, quantity, 0, 1e9),
        FIELD_ROW_TEXT("system", struct myr_spec_item, system),
        FIELD_ROW_TEXT("name", struct myr_spec_item, name),
    };
    const struct field_table tables[] = {
        {node_fields, 1, &nodes},
        {item_fields, MYR_ARRAY_COUNT(item_fields), item},
    };
    int r = fields_read(arena, node, "an item", tables, 2, err);
    if (r < 0) {
        return r;
    }
    if (!nodes.part) {
        return myr_doc_error(err, node, MYR_EINVAL, "the item lacks 'part'");
    }
    struct myr_str name;
    r = myr_doc_text(nodes.part, "part", &name, err);
    if (r < 0) {
        return r;
    }
    item->part = myr_catalog_find(catalog, name);
    item->node = node;
    return item->part == MYR_PART_NONE ? unknown_part(catalog, nodes.part, name, "items", err)
                                       : MYR_OK;
}

static int read_items(struct myr_arena *arena, const struct myr_catalog *catalog,
                      const struct myr_doc *node, const char *system, struct myr_spec *spec,
                      struct myr_err *err)
{
    int r = myr_doc_expect(node, MYR_DOC_LIST, "items", err);
    for (uint32_t i = 0; r == MYR_OK && i < node->count; i++) {
        struct myr_spec_item item = {.quantity = 1, .system = system};
        r = read_item(arena, catalog, node->items[i], &item, err);
        if (r == MYR_OK && spec->items.count == MYR_SPEC_ITEMS_MAX) {
            r = myr_doc_error(err, node, MYR_ERANGE, "more than %d items", MYR_SPEC_ITEMS_MAX);
        }
        if (r == MYR_OK) {
            myr_vec_push(&spec->items, item);
        }
    }
    return r;
}

static int need_optional(const struct myr_catalog *catalog, const struct myr_doc *node,
                         const char *what, enum myr_part_kind kind, uint32_t *ret,
                         struct myr_err *err)
{
    return node ? myr_catalog_need(catalog, node, what, kind, ret, err) : MYR_OK;
}

static int read_net_parts(const struct myr_catalog *catalog, const struct net_nodes *nodes,
                          struct myr_spec_net *net, struct myr_err *err)
{
    const struct {
        const struct myr_doc *node;
        const char *what;
        enum myr_part_kind kind;
        uint32_t *ret;
    } rows[] = {
        {nodes->sw, "switch", MYR_PART_SWITCH, &net->switch_part},
        {nodes->spine_switch, "spine_switch", MYR_PART_SWITCH, &net->spine_switch},
        {nodes->core_switch, "core_switch", MYR_PART_SWITCH, &net->core_switch},
        {nodes->access_switch, "access_switch", MYR_PART_ETHERNET, &net->access_switch},
        {nodes->aggregation_switch, "aggregation_switch", MYR_PART_ETHERNET,
         &net->aggregation_switch},
    };
    int r = MYR_OK;
    for (size_t i = 0; r == MYR_OK && i < MYR_ARRAY_COUNT(rows); i++) {
        r = need_optional(catalog, rows[i].node, rows[i].what, rows[i].kind, rows[i].ret, err);
    }
    return r;
}

static int read_net(struct myr_arena *arena, const struct myr_catalog *catalog,
                    const struct myr_doc *node, enum myr_net_id id, struct myr_spec *spec,
                    struct myr_err *err)
{
    struct myr_spec_net *net = &spec->nets[id];
    struct net_nodes nodes = {0};
    net->node = node;
    if (node->kind == MYR_DOC_NULL) {
        return MYR_OK; /* "service:" alone asks for the network with all defaults */
    }
    const struct field_table tables[] = {
        {net_node_fields, MYR_ARRAY_COUNT(net_node_fields), &nodes},
        {net_fields, MYR_ARRAY_COUNT(net_fields), net},
    };
    const char *what = myr_arena_printf(arena, "networks.%s", myr_net_names[id]);
    int r = fields_read(arena, node, what, tables, 2, err);
    if (r == MYR_OK && nodes.dims) {
        r = read_dims(nodes.dims, net, err);
    }
    if (r == MYR_OK && nodes.topology) {
        r = read_topology(nodes.topology, net, err);
    }
    if (r == MYR_OK && nodes.oversubscription) {
        r = read_oversubscription(nodes.oversubscription, net, err);
    }
    if (r == MYR_OK && nodes.lengths) {
        r = read_lengths(arena, nodes.lengths, net, err);
    }
    r = r < 0 ? r : read_net_parts(catalog, &nodes, net, err);
    if (r == MYR_OK && nodes.pin) {
        r = read_pins(catalog, nodes.pin, net, err);
    }
    if (r == MYR_OK && nodes.items) {
        r = read_items(arena, catalog, nodes.items, myr_net_names[id], spec, err);
    }
    return r;
}

static int read_storage(struct myr_arena *arena, const struct myr_catalog *catalog,
                        const struct myr_doc *node, struct myr_spec_storage *storage,
                        struct myr_err *err)
{
    struct storage_nodes {
        const struct myr_doc *server, *erasure;
        double capacity_pb;
        bool binary;
    } nodes = {0};
    static const struct field node_fields[] = {
        FIELD_ROW_NODE("server", struct storage_nodes, server),
        FIELD_ROW_NODE("erasure", struct storage_nodes, erasure),
        FIELD_ROW_DOUBLE("capacity_pb", struct storage_nodes, capacity_pb, 0, 1e6),
        FIELD_ROW_BOOL("binary", struct storage_nodes, binary),
    };
    static const struct field storage_fields[] = {
        FIELD_ROW_DOUBLE("capacity_tb", struct myr_spec_storage, capacity_tb, 0, 1e9),
        FIELD_ROW_U32("copies", struct myr_spec_storage, copies, 1, 10),
        FIELD_ROW_CHOICE("rate", struct myr_spec_storage, rate_class, rate_names),
        FIELD_ROW_U32("servers", struct myr_spec_storage, servers, 1, 100000),
    };
    static const struct field erasure_fields[] = {
        FIELD_ROW_U32("data", struct myr_spec_storage, erasure_data, 1, 255),
        FIELD_ROW_U32("parity", struct myr_spec_storage, erasure_parity, 0, 255),
    };
    const struct field_table tables[] = {
        {node_fields, MYR_ARRAY_COUNT(node_fields), &nodes},
        {storage_fields, MYR_ARRAY_COUNT(storage_fields), storage},
    };
    storage->node = node;
    int r = fields_read(arena, node, "storage", tables, 2, err);
    if (r == MYR_OK && nodes.erasure) {
        struct field_table table = {erasure_fields, MYR_ARRAY_COUNT(erasure_fields), storage};
        r = fields_read(arena, nodes.erasure, "erasure", &table, 1, err);
        if (r == MYR_OK && !storage->erasure_data) {
            r = myr_doc_error(err, nodes.erasure, MYR_EINVAL, "'erasure' lacks 'data'");
        }
    }
    if (r == MYR_OK && storage->copies && storage->erasure_data) {
        r = myr_doc_error(err, node, MYR_EINVAL, "give 'copies' or 'erasure', not both");
    }
    /* People say 3 PB and mean 3,000 or 3,072 TB: 'binary' says which. */
    if (nodes.capacity_pb > 0) {
        storage->capacity_tb = nodes.capacity_pb * (nodes.binary ? 1024 : 1000);
    }
    return r < 0 ? r
                 : need_optional(catalog, nodes.server, "server", MYR_PART_STORAGE,
                                 &storage->server_part, err);
}

static int read_room(struct myr_arena *arena, const struct myr_catalog *catalog,
                     const struct myr_doc *node, struct myr_spec_room *room, struct myr_err *err)
{
    struct room_nodes {
        const struct myr_doc *rack;
    } nodes = {0};
    static const struct field node_fields[] = {FIELD_ROW_NODE("rack", struct room_nodes, rack)};
    static const struct field room_fields[] = {
        FIELD_ROW_U32("rows", struct myr_spec_room, rows, 1, 10000),
        FIELD_ROW_U32("racks_per_row", struct myr_spec_room, racks_per_row, 1, 10000),
        FIELD_ROW_DOUBLE("rack_kw", struct myr_spec_room, rack_kw, 0.1, 10000),
    };
    const struct field_table tables[] = {
        {node_fields, 1, &nodes},
        {room_fields, MYR_ARRAY_COUNT(room_fields), room},
    };
    room->node = node;
    int r = fields_read(arena, node, "room", tables, 2, err);
    return r < 0 ? r
                 : need_optional(catalog, nodes.rack, "rack", MYR_PART_RACK, &room->rack_part, err);
}

static int read_names(struct myr_arena *arena, const struct myr_doc *node, const char *what,
                      struct myr_spec *spec, struct myr_err *err)
{
    int r = myr_doc_expect(node, MYR_DOC_LIST, what, err);
    if (r == MYR_OK && node->count > ACCEPT_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' has %u entries, at most %d are expected",
                             what, node->count, ACCEPT_MAX);
    }
    for (uint32_t i = 0; r == MYR_OK && i < node->count; i++) {
        struct myr_str name;
        r = field_text(node->items[i], what, &name, err);
        if (r == MYR_OK) {
            myr_vec_push(&spec->accept, myr_arena_strndup(arena, name.data, name.len));
        }
    }
    return r;
}

static int read_supplied(const struct myr_doc *node, struct myr_spec *spec, struct myr_err *err)
{
    static const char *const names[] = {"servers", "management_nodes", "ethernet_cabling",
                                        "fabric_managers"};
    int r = myr_doc_expect(node, MYR_DOC_LIST, "supplied", err);
    for (uint32_t i = 0; r == MYR_OK && i < node->count; i++) {
        uint32_t choice;
        r = myr_doc_choice(node->items[i], "supplied", names, MYR_ARRAY_COUNT(names), &choice, err);
        if (r == MYR_OK) {
            spec->supplied |= 1U << choice;
        }
    }
    return r;
}

/* "prices: book" or "prices: {book: NAME, parts: {part: amount}}". */
static int read_prices(struct myr_arena *arena, const struct myr_catalog *catalog,
                       const struct myr_doc *node, struct myr_spec *spec, struct myr_err *err)
{
    const struct myr_doc *book = node;
    const struct myr_doc *parts = NULL;
    int r = MYR_OK;
    spec->price_node = node;
    if (node->kind == MYR_DOC_MAP) {
        static const char *const keys[] = {"book", "parts"};
        r = myr_doc_check_keys(node, "prices", keys, 2, err);
        book = myr_doc_get(node, "book");
        parts = myr_doc_get(node, "parts");
    }
    if (r == MYR_OK && book) {
        const char *names[64];
        uint32_t choice;
        size_t count = catalog->books.count < 64 ? catalog->books.count : 64;
        for (size_t i = 0; i < count; i++) {
            names[i] = catalog->books.items[i].id;
        }
        r = myr_doc_choice(book, "prices", names, count, &choice, err);
        spec->price_book = r < 0 ? NULL : names[choice];
    }
    r = r < 0 || !parts ? r : myr_doc_expect(parts, MYR_DOC_MAP, "parts", err);
    for (uint32_t i = 0; r == MYR_OK && parts && i < parts->count; i++) {
        const struct myr_doc_entry *entry = &parts->entries[i];
        struct myr_price price = {.part = myr_catalog_find(catalog, entry->key)};
        double amount;
        if (price.part == MYR_PART_NONE) {
            struct myr_doc place = key_place(entry);
            return unknown_part(catalog, &place, entry->key, "prices", err);
        }
        r = myr_doc_double(entry->value, "price", 0, 1e12, &amount, err);
        if (r == MYR_OK) {
            price.cents = (int64_t)(amount * 100 + 0.5);
            price.note = myr_arena_printf(arena, "the spec's own price");
            myr_vec_push(&spec->own_prices, price);
        }
    }
    return r;
}

struct root_nodes {
    const struct myr_doc *server, *networks, *storage, *room, *supplied, *prices, *items, *accept;
};

static int read_networks(struct myr_arena *arena, const struct myr_catalog *catalog,
                         const struct myr_doc *networks, struct myr_spec *spec, struct myr_err *err)
{
    if (!networks) {
        spec->nets[MYR_NET_COMPUTE].node = spec->root;
        return MYR_OK;
    }
    int r = myr_doc_expect(networks, MYR_DOC_MAP, "networks", err);
    if (r == MYR_OK) {
        r = myr_doc_check_keys(networks, "networks", myr_net_names, MYR_NET_COUNT, err);
    }
    for (uint32_t id = 0; r == MYR_OK && id < MYR_NET_COUNT; id++) {
        const struct myr_doc *node = myr_doc_get(networks, myr_net_names[id]);
        if (node) {
            r = read_net(arena, catalog, node, (enum myr_net_id)id, spec, err);
        }
    }
    return r;
}

static int read_sections(struct myr_arena *arena, const struct myr_catalog *catalog,
                         const struct root_nodes *nodes, struct myr_spec *spec, struct myr_err *err)
{
    int r =
        need_optional(catalog, nodes->server, "server", MYR_PART_SERVER, &spec->server_part, err);
    r = r < 0 ? r : read_networks(arena, catalog, nodes->networks, spec, err);
    if (r == MYR_OK && nodes->storage) {
        r = read_storage(arena, catalog, nodes->storage, &spec->storage, err);
    }
    if (r == MYR_OK && nodes->room) {
        r = read_room(arena, catalog, nodes->room, &spec->room, err);
    }
    if (r == MYR_OK && nodes->items) {
        r = read_items(arena, catalog, nodes->items, "other", spec, err);
    }
    if (r == MYR_OK && nodes->supplied) {
        r = read_supplied(nodes->supplied, spec, err);
    }
    if (r == MYR_OK && nodes->prices) {
        r = read_prices(arena, catalog, nodes->prices, spec, err);
    }
    if (r == MYR_OK && nodes->accept) {
        r = read_names(arena, nodes->accept, "accept", spec, err);
    }
    return r;
}

int myr_spec_read(struct myr_arena *arena, const struct myr_catalog *catalog,
                  const struct myr_doc *doc, struct myr_spec *ret, struct myr_err *err)
{
    static const struct field root_node_fields[] = {
        FIELD_ROW_NODE("server", struct root_nodes, server),
        FIELD_ROW_NODE("networks", struct root_nodes, networks),
        FIELD_ROW_NODE("storage", struct root_nodes, storage),
        FIELD_ROW_NODE("room", struct root_nodes, room),
        FIELD_ROW_NODE("supplied", struct root_nodes, supplied),
        FIELD_ROW_NODE("prices", struct root_nodes, prices),
        FIELD_ROW_NODE("items", struct root_nodes, items),
        FIELD_ROW_NODE("accept", struct root_nodes, accept),
    };
    static const struct field root_fields[] = {
        FIELD_ROW_TEXT("name", struct myr_spec, name),
        FIELD_ROW_U32("servers", struct myr_spec, servers, 1, MYR_SPEC_SERVERS_MAX),
    };
    struct root_nodes nodes = {0};
    struct myr_spec spec = {.root = doc, .name = "cluster", .server_part = MYR_PART_NONE};
    spec.storage.server_part = spec.room.rack_part = MYR_PART_NONE;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        struct myr_spec_net *net = &spec.nets[id];
        net->switch_part = net->spine_switch = net->core_switch = MYR_PART_NONE;
        net->access_switch = net->aggregation_switch = MYR_PART_NONE;
        for (uint32_t role = 0; role < MYR_PIN_ROLE_COUNT; role++) {
            net->pins[role] = MYR_PART_NONE;
        }
    }
    const struct field_table tables[] = {
        {root_node_fields, MYR_ARRAY_COUNT(root_node_fields), &nodes},
        {root_fields, MYR_ARRAY_COUNT(root_fields), &spec},
    };
    int r = fields_read(arena, doc, "the spec", tables, 2, err);
    if (r == MYR_OK && spec.servers == 0) {
        r = myr_doc_error(err, doc, MYR_EINVAL,
                          "the spec lacks 'servers', the number of GPU servers");
    }
    r = r < 0 ? r : read_sections(arena, catalog, &nodes, &spec, err);
    if (r < 0) {
        myr_spec_done(&spec);
        return r;
    }
    *ret = spec;
    return MYR_OK;
}

void myr_spec_done(struct myr_spec *spec)
{
    myr_vec_done(&spec->own_prices);
    myr_vec_done(&spec->items);
    myr_vec_done(&spec->accept);
}
