/* One network of a spec. */
#include "catalog_find.h"
#include "fields.h"
#include "spec_parts.h"

/* Keys of 'pin', in the order of enum myr_pin_role; pin_kinds has the same order. */
const char *const myr_pin_role_names[MYR_PIN_ROLE_COUNT] = {
    "switch_optic", "nic_optic", "host_cable", "fabric_optic", "fabric_cable", "nic"};

/* What kind of part may be pinned in each role. */
static const enum myr_part_kind pin_kinds[MYR_PIN_ROLE_COUNT] = {
    MYR_PART_TRANSCEIVER, MYR_PART_TRANSCEIVER, MYR_PART_CABLE,
    MYR_PART_TRANSCEIVER, MYR_PART_CABLE,       MYR_PART_NIC};

const char *const myr_fabric_names[MYR_FABRIC_COUNT] = {"any", "infiniband", "roce", "ethernet"};
static const char *const fill_names[] = {"default", "regular", "dense"};

/* The words a spec may use; several mean the same. The first of each is the one printed. */
static const struct {
    const char *name;
    enum myr_topology topology;
} topology_words[] = {
    /* Islands and planes are rails with other numbers, some of which the words set. */
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

/* The first word of the list that means it. */
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

/* Lists, words with several spellings, and names of parts. */
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

/* Numbers of a network; 0 stays where none is given, and the planner decides. */
static const struct field net_fields[] = {
    FIELD_ROW_CHOICE("fill", struct myr_spec_net, fill, fill_names),
    FIELD_ROW_CHOICE("fabric", struct myr_spec_net, fabric, myr_fabric_names),
    FIELD_ROW_U32("nic_ports", struct myr_spec_net, nic_ports, 1, 64),
    FIELD_ROW_SCALED("nic_gbps", FIELD_GBPS, struct myr_spec_net, nic_gbps, 1, 100000),
    FIELD_ROW_SCALED("uplink_gbps", FIELD_GBPS, struct myr_spec_net, uplink_gbps, 1, 100000),
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

/*
 * Some words say more than a shape: how many dimensions, or that there are two planes. 'dims' has
 * been read by then, and must not contradict the word.
 */
static int read_topology(const struct myr_doc *node, struct myr_spec_net *net, struct myr_err *err)
{
    const char *names[MYR_ARRAY_COUNT(topology_words)];
    for (size_t i = 0; i < MYR_ARRAY_COUNT(topology_words); i++) {
        names[i] = topology_words[i].name;
    }
    uint32_t choice;
    MYR_TRY(myr_doc_choice(node, "topology", names, MYR_ARRAY_COUNT(names), &choice, err));
    struct myr_str word = myr_str_from(topology_words[choice].name);
    net->topology = topology_words[choice].topology;
    uint32_t dims = myr_str_eq(word, MYR_STR("torus-2d"))   ? 2
                    : myr_str_eq(word, MYR_STR("torus-3d")) ? 3
                                                            : net->dim_count;
    if (net->dim_count && dims != net->dim_count) {
        return myr_doc_error(err, node, MYR_EINVAL, "'topology' is '%s', but 'dims' has %u entries",
                             word.data, net->dim_count);
    }
    /* One cage of the NIC carries both ports: the planner looks for such NICs. */
    net->twin_planar = myr_str_eq(word, MYR_STR("twin-planar"));
    if (!net->planes && (net->twin_planar || myr_str_eq(word, MYR_STR("dual-tor")) ||
                         myr_str_eq(word, MYR_STR("dual-plane")))) {
        net->planes = 2;
    }
    return MYR_OK;
}

/* A single number is for the leaf; a list goes on upwards. */
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
        MYR_TRY(myr_doc_double(node->items[i], "oversubscription", 0.1, 1000,
                               &net->oversubscription[i], err));
    }
    net->oversubscription_count = node->count;
    return MYR_OK;
}

/* The sides of a torus; a side of 1 would be no side. */
static int read_dims(const struct myr_doc *node, struct myr_spec_net *net, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_LIST, "dims", err));
    if (node->count < 2 || node->count > MYR_SPEC_DIMS_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'dims' has %u entries, 2 or 3 are expected",
                             node->count);
    }
    for (uint32_t i = 0; i < node->count; i++) {
        uint64_t size;
        MYR_TRY(myr_doc_u64(node->items[i], "dims", 2, 1024, &size, err));
        net->dims[i] = (uint32_t)size;
    }
    net->dim_count = node->count;
    return MYR_OK;
}

/* One length for all runs, or some of them by layer. */
static int read_lengths(struct myr_arena *arena, const struct myr_doc *node,
                        struct myr_spec_net *net, struct myr_err *err)
{
    if (node->kind == MYR_DOC_SCALAR) {
        int rc = myr_doc_double(node, "length_m", 0.1, 100000, &net->host_length_m, err);
        net->fabric_length_m = net->core_length_m = net->host_length_m;
        return rc;
    }
    static const struct field length_fields[] = {
        FIELD_ROW_DOUBLE("host_leaf", struct myr_spec_net, host_length_m, 0.1, 100000),
        FIELD_ROW_DOUBLE("leaf_spine", struct myr_spec_net, fabric_length_m, 0.1, 100000),
        FIELD_ROW_DOUBLE("spine_core", struct myr_spec_net, core_length_m, 0.1, 100000),
    };
    struct field_table table = {length_fields, MYR_ARRAY_COUNT(length_fields), net};
    return fields_read(arena, node, "length_m", &table, 1, err);
}

/* 0 is a quantity: the part is counted and not ordered. */
static int read_quantities(const struct myr_catalog *catalog, const struct myr_doc *node,
                           struct myr_spec_net *net, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_MAP, "quantities", err));
    if (node->count > MYR_SPEC_PINS_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'quantities' has %u entries, at most %d",
                             node->count, MYR_SPEC_PINS_MAX);
    }
    uint32_t parts[MYR_SPEC_PINS_MAX];
    for (uint32_t i = 0; i < node->count; i++) {
        const struct myr_doc_entry *entry = &node->entries[i];
        uint32_t part = parts[i] = myr_catalog_find(catalog, entry->key);
        if (part == MYR_PART_NONE) {
            struct myr_doc place = catalog_key_place(entry);
            return spec_unknown_part(catalog, &place, entry->key, "quantities", err);
        }
        MYR_TRY(catalog_check_once(node, parts, i, "a quantity", err));
        MYR_ASSERT(net->quantity_count < MYR_SPEC_PINS_MAX);
        struct myr_pin_quantity *pin = &net->quantities[net->quantity_count++];
        *pin = (struct myr_pin_quantity){.part = part, .node = entry->value};
        MYR_TRY(myr_doc_u64(entry->value, "quantities", 0, 100000000, &pin->quantity, err));
    }
    return MYR_OK;
}

/* Roles and 'quantities' are keys of one map. */
static int read_pins(const struct myr_catalog *catalog, const struct myr_doc *node,
                     struct myr_spec_net *net, struct myr_err *err)
{
    const char *keys[MYR_PIN_ROLE_COUNT + 1];
    for (uint32_t role = 0; role < MYR_PIN_ROLE_COUNT; role++) {
        keys[role] = myr_pin_role_names[role];
    }
    keys[MYR_PIN_ROLE_COUNT] = "quantities";
    MYR_TRY(myr_doc_check_keys(node, "pin", keys, MYR_ARRAY_COUNT(keys), err));
    for (uint32_t role = 0; role < MYR_PIN_ROLE_COUNT; role++) {
        const struct myr_doc *part = myr_doc_get(node, keys[role]);
        MYR_TRY(
            spec_need_optional(catalog, part, keys[role], pin_kinds[role], &net->pins[role], err));
    }
    const struct myr_doc *quantities = myr_doc_get(node, "quantities");
    return quantities ? read_quantities(catalog, quantities, net, err) : MYR_OK;
}

/* Switches with cages and access switches are different kinds of parts. */
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
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        MYR_TRY(spec_need_optional(catalog, rows[i].node, rows[i].what, rows[i].kind, rows[i].ret,
                                   err));
    }
    return MYR_OK;
}

/*
 * Parts are looked up here, so that an unknown one points at its line; whether they fit each other
 * is the planner's question.
 */
int spec_read_net(struct myr_arena *arena, const struct myr_catalog *catalog,
                  const struct myr_doc *node, enum myr_net_id id, struct myr_spec *spec,
                  struct myr_err *err)
{
    struct myr_spec_net *net = &spec->nets[id];
    struct net_nodes nodes = {};
    net->node = node;
    if (node->kind == MYR_DOC_NULL) {
        return MYR_OK; /* "service:" alone asks for the network with all defaults */
    }
    const struct field_table tables[] = {
        {net_node_fields, MYR_ARRAY_COUNT(net_node_fields), &nodes},
        {net_fields, MYR_ARRAY_COUNT(net_fields), net},
    };
    const char *what = myr_arena_printf(arena, "networks.%s", myr_net_names[id]);
    MYR_TRY(fields_read(arena, node, what, tables, 2, err));
    if (nodes.dims) { /* before the topology, which looks at it */
        MYR_TRY(read_dims(nodes.dims, net, err));
    }
    if (nodes.topology) {
        MYR_TRY(read_topology(nodes.topology, net, err));
    }
    if (nodes.oversubscription) {
        MYR_TRY(read_oversubscription(nodes.oversubscription, net, err));
    }
    if (nodes.lengths) {
        MYR_TRY(read_lengths(arena, nodes.lengths, net, err));
    }
    MYR_TRY(read_net_parts(catalog, &nodes, net, err));
    if (nodes.pin) {
        MYR_TRY(read_pins(catalog, nodes.pin, net, err));
    }
    return nodes.items ? spec_read_items(arena, catalog, nodes.items, myr_net_names[id], spec, err)
                       : MYR_OK;
}
