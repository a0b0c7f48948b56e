#include "myriad/model/design_file.h"

#include "design_servers.h"

/*
 * A design file may be damaged, or made to harm: after these checks every index that later code
 * follows without looking is known to be in range, and every reference is mutual.
 */

/* 'index' is the entry of the array that was looked at, for whoever made the file. */
static int broken(struct myr_err *err, const char *name, const char *what, uint64_t index)
{
    return myr_err_set(err, MYR_ECORRUPT, "%s:1:1: not a usable design: %s (at %llu)", name, what,
                       (unsigned long long)index);
}

/* Strings are offsets into one block that ends in 0, so an offset inside is a string that ends. */
static bool string_ok(const struct myr_design *design, uint32_t offset)
{
    return offset < design->string_bytes;
}

/* First: later messages print strings. The first byte is 0, so offset 0 is the empty string. */
static int check_strings(const struct myr_design *design, const char *name, struct myr_err *err)
{
    if (design->string_bytes == 0 || design->strings[0] != '\0' ||
        design->strings[design->string_bytes - 1] != '\0') {
        return broken(err, name, "the strings do not end", 0);
    }
    const struct myr_design_head *head = design->head;
    const uint32_t used[] = {head->name, head->currency, head->price_book, head->server_part,
                             head->gpu_part};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(used); i++) {
        if (!string_ok(design, used[i])) {
            return broken(err, name, "a string lies outside", i);
        }
    }
    for (uint32_t i = 0; i < design->group_count; i++) {
        const struct myr_server_group *group = &design->groups[i];
        if (!string_ok(design, group->name) || !string_ok(design, group->server_part) ||
            !string_ok(design, group->gpu_part) || group->gpus_per_node == 0 ||
            group->gpus_per_node > 1024 || group->nodes_per_server == 0) {
            return broken(err, name, "a server group has a field outside", i);
        }
    }
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        if (!string_ok(design, row->system) || !string_ok(design, row->name) ||
            !string_ok(design, row->part) || !string_ok(design, row->rule) ||
            !string_ok(design, row->inputs) || !string_ok(design, row->price_note) ||
            (design->bom_more && !string_ok(design, design->bom_more[i].specification))) {
            return broken(err, name, "a line of the bill of materials has a string outside", i);
        }
        const struct myr_bom_price *price = design->bom_price ? &design->bom_price[i] : NULL;
        if (price && (price->basis > MYR_PRICE_ESTIMATED ||
                      (price->low_cents | price->cents | price->high_cents) < 0)) {
            return broken(err, name, "a line of the bill of materials has a price outside", i);
        }
    }
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        if (!string_ok(design, finding->rule) || !string_ok(design, finding->where) ||
            !string_ok(design, finding->message) || !string_ok(design, finding->remedy) ||
            finding->severity > MYR_SEVERITY_ERROR) {
            return broken(err, name, "a finding has a field outside", i);
        }
    }
    return MYR_OK;
}

/* Groups follow each other without a gap, and cages divide evenly: ports are found by division. */
static bool group_ok(const struct myr_port_group *group, uint32_t next)
{
    return group->first == next && group->per_cage > 0 && group->per_connector > 0 &&
           group->per_cage % group->per_connector == 0 && group->role <= MYR_PORT_GLOBAL &&
           group->net < MYR_NET_COUNT && group->count <= 65536;
}

/* Numbers that nobody can print would break every answer that shows them. */
static int check_figures(const struct myr_design *design, const char *name, struct myr_err *err)
{
    for (uint32_t i = 0; i < design->figure_count; i++) {
        const struct myr_figure *figure = &design->figures[i];
        const uint32_t used[] = {figure->path, figure->unit, figure->text, figure->rule,
                                 figure->inputs};
        bool right = figure->basis < MYR_BASIS_COUNT && figure->digits <= 12 &&
                     figure->value >= -1e300 && figure->value <= 1e300;
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(used); k++) {
            right = right && string_ok(design, used[k]);
        }
        if (!right) {
            return broken(err, name, "a figure has a field outside", i);
        }
    }
    return MYR_OK;
}

/* Types of devices and cables, and the insides of a node: what devices and links point at. */
static int check_types(const struct myr_design *design, const char *name, struct myr_err *err)
{
    for (uint32_t i = 0; i < design->devtype_count; i++) {
        const struct myr_devtype *type = &design->devtypes[i];
        uint32_t next = 0;
        if (type->group_count > MYR_PORT_GROUPS_MAX || !string_ok(design, type->part)) {
            return broken(err, name, "a device type is wrong", i);
        }
        for (uint32_t g = 0; g < type->group_count; g++) {
            if (!group_ok(&type->groups[g], next)) {
                return broken(err, name, "a port group is wrong", i);
            }
            next += type->groups[g].count;
        }
        if (next != type->port_count) {
            return broken(err, name, "a device type's ports do not add up", i);
        }
    }
    for (uint32_t i = 0; i < design->cabletype_count; i++) {
        const struct myr_cabletype *type = &design->cabletypes[i];
        if (!string_ok(design, type->part) || !string_ok(design, type->optic_a) ||
            !string_ok(design, type->optic_b) || type->net >= MYR_NET_COUNT ||
            type->layer >= MYR_LAYER_COUNT || type->medium > MYR_MEDIUM_SINGLE || type->legs == 0 ||
            type->gbps == 0) {
            return broken(err, name, "a cable type is wrong", i);
        }
    }
    for (uint32_t i = 0; i < design->inside_count; i++) {
        if (design->insides[i].kind >= MYR_INSIDE_KIND_COUNT ||
            design->insides[i].net >= MYR_NET_COUNT) {
            return broken(err, name, "a server inside is wrong", i);
        }
    }
    for (uint32_t i = 0; i < design->inside_link_count; i++) {
        if (design->inside_links[i].a >= design->inside_count ||
            design->inside_links[i].b >= design->inside_count) {
            return broken(err, name, "a link inside a server leads outside", i);
        }
    }
    return MYR_OK;
}

/*
 * Cards name a type and a group of its ports, so types come first. Bisections are one a network, or
 * none where the program that wrote the file did not count them.
 */
static int check_cards(const struct myr_design *design, const char *name, struct myr_err *err)
{
    for (uint32_t i = 0; i < design->card_count; i++) {
        const struct myr_card *card = &design->cards[i];
        if (card->devtype >= design->devtype_count ||
            card->group >= design->devtypes[card->devtype].group_count ||
            !string_ok(design, card->part) || card->count == 0 || card->count > 65536) {
            return broken(err, name, "a card is wrong", i);
        }
    }
    return design->bisection_count && design->bisection_count != MYR_NET_COUNT
               ? broken(err, name, "a bisection belongs to no network", design->bisection_count)
               : MYR_OK;
}

/* first_port ends the range of the device before it: the array has one entry more than devices. */
static int check_devices(const struct myr_design *design, const char *name, struct myr_err *err)
{
    if (design->first_port[0] != 0 ||
        design->first_port[design->device_count] != design->port_count) {
        return broken(err, name, "the ports do not cover the devices", 0);
    }
    for (uint32_t i = 0; i < design->device_count; i++) {
        const struct myr_place *place = &design->place[i];
        if (place->kind >= MYR_DEVICE_KIND_COUNT || place->net > MYR_NET_COUNT ||
            place->style >= MYR_NAME_STYLE_COUNT ||
            (place->net == MYR_NET_COUNT && place->style != MYR_NAME_PLAIN)) {
            return broken(err, name, "a device's place is wrong", i);
        }
        if (design->device_type[i] >= design->devtype_count) {
            return broken(err, name, "a device has no type", i);
        }
        uint64_t next =
            (uint64_t)design->first_port[i] + design->devtypes[design->device_type[i]].port_count;
        if (next != design->first_port[i + 1]) {
            return broken(err, name, "a device's ports do not match its type", i);
        }
        if (design->device_rack[i] != MYR_NONE && design->device_rack[i] >= design->rack_count) {
            return broken(err, name, "a device stands in no rack", i);
        }
    }
    return MYR_OK;
}

/*
 * Ports know their device and their link; whether the link knows both ends is checked with cables.
 */
static int check_ports(const struct myr_design *design, const char *name, struct myr_err *err)
{
    for (uint32_t device = 0; device < design->device_count; device++) {
        for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
            uint32_t link = design->port_link[p];
            if (design->port_device[p] != device) {
                return broken(err, name, "a port belongs to two devices", p);
            }
            if (link != MYR_NONE && (link >= design->link_count ||
                                     (design->link_a[link] != p && design->link_b[link] != p))) {
                return broken(err, name, "a port's link does not know it", p);
            }
        }
    }
    return MYR_OK;
}

/* A switch of another network is a host here: its management port is wired like one. */
static bool is_switch_of(const struct myr_design *design, uint32_t port, uint32_t net)
{
    const struct myr_place *place = &design->place[design->port_device[port]];
    return place->kind >= MYR_DEVICE_LEAF && place->kind <= MYR_DEVICE_AGGREGATION &&
           place->net == net;
}

/* Away from the hosts: a link begins at a host (or at what is one for this network) or lower. */
static bool ends_ok(const struct myr_design *design, uint32_t link)
{
    const struct myr_cabletype *type =
        &design->cabletypes[design->cable_type[design->link_cable[link]]];
    uint32_t a = design->link_a[link], b = design->link_b[link];
    bool host = type->layer == MYR_LAYER_HOST;
    return design->port_device[a] != design->port_device[b] &&
           is_switch_of(design, a, type->net) == !host && is_switch_of(design, b, type->net);
}

/* After cabling: it follows links to cables and their types. */
static int check_ends(const struct myr_design *design, const char *name, struct myr_err *err)
{
    for (uint32_t link = 0; link < design->link_count; link++) {
        if (!ends_ok(design, link)) {
            return broken(err, name, "a link joins what it should not", link);
        }
    }
    return MYR_OK;
}

/* Links of a cable follow each other, as ports of a device do; no cable is without a link. */
static int check_cabling(const struct myr_design *design, const char *name, struct myr_err *err)
{
    if (design->first_link[0] != 0 ||
        design->first_link[design->cable_count] != design->link_count) {
        return broken(err, name, "the cables do not cover the links", 0);
    }
    for (uint32_t i = 0; i < design->link_count; i++) {
        uint32_t a = design->link_a[i], b = design->link_b[i];
        if (a >= design->port_count || b >= design->port_count || a == b ||
            design->port_link[a] != i || design->port_link[b] != i) {
            return broken(err, name, "a link's ports do not know it", i);
        }
    }
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        uint32_t first = design->first_link[cable], end = design->first_link[cable + 1];
        if (first >= end || end > design->link_count ||
            design->cable_type[cable] >= design->cabletype_count) {
            return broken(err, name, "a cable is wrong", cable);
        }
        for (uint32_t link = first; link < end; link++) {
            if (design->link_cable[link] != cable) {
                return broken(err, name, "a link belongs to two cables", link);
            }
        }
    }
    return MYR_OK;
}

/* Devices of one kind on one network stand in a row: later code walks it without a look. */
static bool row_ok(const struct myr_design *design, uint32_t first, uint32_t count,
                   enum myr_device_kind kind, uint32_t net)
{
    if (count > design->device_count || first > design->device_count - count) {
        return false;
    }
    for (uint32_t device = first; device < first + count; device++) {
        if (design->place[device].kind != kind || design->place[device].net != net) {
            return false;
        }
    }
    return true;
}

/* A dragonfly and a torus have routers where others have leaves. */
static bool switches_ok(const struct myr_design *design, uint32_t id)
{
    const struct myr_network *net = &design->networks[id];
    bool routers = net->topology == MYR_TOPOLOGY_DRAGONFLY || net->topology == MYR_TOPOLOGY_TORUS;
    return row_ok(design, net->first_leaf, net->leaf, routers ? MYR_DEVICE_ROUTER : MYR_DEVICE_LEAF,
                  id) &&
           row_ok(design, net->first_spine, net->spine, MYR_DEVICE_SPINE, id) &&
           row_ok(design, net->first_core, net->core, MYR_DEVICE_CORE, id) &&
           row_ok(design, net->first_access, net->access, MYR_DEVICE_ACCESS, id) &&
           row_ok(design, net->first_aggregation, net->aggregation, MYR_DEVICE_AGGREGATION, id);
}

/* The relations between tiers that paths and drawings are computed by, in one fabric of it. */
static bool tiers_ok(const struct myr_network *net)
{
    /* Planes are fabrics of their own, and so are the rails of rail-only. */
    uint64_t fabrics = (uint64_t)net->planes * net->units;
    if (fabrics == 0 || net->leaf % fabrics || net->spine % fabrics || net->core % fabrics) {
        return false;
    }
    uint64_t leaves = net->leaf / fabrics, spines = net->spine / fabrics;
    uint64_t cores = net->core / fabrics;
    if (leaves == 0 || net->pod_leaves == 0 || net->leaf_down == 0) {
        return false;
    }
    /* The last pod may have fewer leaves, but all its spines. */
    uint64_t pods = (leaves + net->pod_leaves - 1) / net->pod_leaves;
    if (net->topology == MYR_TOPOLOGY_RAIL &&
        (net->rails == 0 || net->pod_leaves % net->rails || leaves % net->rails)) {
        return false;
    }
    if (net->units != (net->topology == MYR_TOPOLOGY_RAIL_ONLY ? net->rails : 1) ||
        net->pods != pods || spines != (net->tiers > 1 ? pods * net->pod_spines : 0)) {
        return false;
    }
    /*
     * One tier is one switch; two tiers are one pod; with three, spine i of each pod is in core
     * group i.
     */
    return net->tiers < 3 ? pods == 1 && cores == 0 && (net->tiers > 1 ? spines > 0 : leaves == 1)
                          : spines > 0 && net->core_groups == net->pod_spines && cores > 0 &&
                                cores == (uint64_t)net->core_groups * net->group_cores;
}

/* A torus: its routers are the product of its sides, and there is nothing above them. */
static bool grid_ok(const struct myr_network *net)
{
    /* 0 once a side is wrong or the product passes the number of routers, and 0 it stays. */
    uint64_t routers = net->dim_count >= 2;
    for (uint32_t i = 0; i < net->dim_count; i++) {
        uint64_t size = net->dims[i];
        routers = size > 0 && routers <= net->leaf / size ? routers * size : 0;
    }
    return routers > 0 && routers == net->leaf && net->spine == 0 && net->core == 0;
}

/* Dragonfly+ has as many spines as leaves in a group; the plain one has one kind of switch. */
static bool groups_ok(const struct myr_network *net)
{
    bool plus = net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    uint64_t switches = (uint64_t)net->groups * net->group_switches;
    return switches > 0 && net->leaf == switches && net->spine == (plus ? switches : 0) &&
           net->core == 0;
}

/* What each topology has, so that code for one never meets the counts of another. */
static bool shape_ok(const struct myr_network *net)
{
    switch ((enum myr_topology)net->topology) {
    case MYR_TOPOLOGY_DEFAULT: /* there is no such network */
        return !net->leaf && !net->spine && !net->core && !net->access && !net->aggregation;
    case MYR_TOPOLOGY_ACCESS:
        return net->access > 0 && !net->leaf && !net->spine && (net->core > 0) == (net->tiers == 3);
    case MYR_TOPOLOGY_TORUS:
        return grid_ok(net);
    case MYR_TOPOLOGY_DRAGONFLY:
    case MYR_TOPOLOGY_DRAGONFLY_PLUS:
        return groups_ok(net);
    default:
        return tiers_ok(net);
    }
}

/* What is counted in a network is a part of its ports. */
static bool counts_ok(const struct myr_design *design, const struct myr_network *net)
{
    const uint32_t counts[] = {
        net->units,       net->rails,          net->nodes_on_it,
        net->host_ports,  net->leaf_down,      net->leaf_up,
        net->spine_down,  net->spine_up,       net->core_down,
        net->pods,        net->pod_leaves,     net->pod_spines,
        net->core_groups, net->group_cores,    net->group_nodes,
        net->groups,      net->group_switches, net->hosts_per_switch,
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        if (counts[i] > design->port_count) {
            return false;
        }
    }
    return net->planes > 0 && net->planes <= MYR_SPEC_PLANES_MAX &&
           net->tiers <= MYR_SPEC_TIERS_MAX && net->dim_count <= MYR_SPEC_DIMS_MAX &&
           net->fill <= MYR_FILL_DENSE && net->topology < MYR_TOPOLOGY_COUNT &&
           (!net->topology || (net->tiers > 0 && net->rails > 0 && net->units > 0));
}

/* Hosts hang on several networks, so they are of none: MYR_NET_COUNT. */
static int check_networks(const struct myr_design *design, const char *name, struct myr_err *err)
{
    const struct myr_design_head *head = design->head;
    if (!row_ok(design, head->first_node, head->nodes, MYR_DEVICE_NODE, MYR_NET_COUNT) ||
        !row_ok(design, head->first_storage, head->storage_servers, MYR_DEVICE_STORAGE,
                MYR_NET_COUNT) ||
        !row_ok(design, head->first_management, head->management_nodes, MYR_DEVICE_MANAGEMENT,
                MYR_NET_COUNT) ||
        !row_ok(design, head->first_fabric_manager, head->fabric_managers,
                MYR_DEVICE_FABRIC_MANAGER, MYR_NET_COUNT)) {
        return broken(err, name, "the nodes are not where they should be", 0);
    }
    for (uint32_t i = 0; i < MYR_NET_COUNT; i++) {
        const struct myr_network *net = &design->networks[i];
        if (!counts_ok(design, net) || !shape_ok(net) || !switches_ok(design, i)) {
            return broken(err, name, "a network is wrong", i);
        }
    }
    return MYR_OK;
}

/* After networks: it walks through nodes. */
static int check_servers(const struct myr_design *design, const char *name, struct myr_err *err)
{
    uint32_t at = 0;
    const char *wrong = design_servers_wrong(design, &at);
    return wrong ? broken(err, name, wrong, at) : MYR_OK;
}

/* Written so that no sum of two 32-bit numbers from the file can wrap. */
static int check_domains(const struct myr_design *design, const char *name, struct myr_err *err)
{
    for (uint32_t i = 0; i < design->domain_count; i++) {
        const struct myr_domain *domain = &design->domains[i];
        if (domain->count > design->member_count ||
            domain->first > design->member_count - domain->count) {
            return broken(err, name, "a failure domain has members outside", i);
        }
    }
    for (uint32_t i = 0; i < design->member_count; i++) {
        if (design->domain_devices[i] >= design->device_count) {
            return broken(err, name, "a failure domain names no device", i);
        }
    }
    return MYR_OK;
}

/* No id twice. Ids are given out in order and little is ever taken away, so none is far out. */
static bool ids_ok(const uint32_t *ids, uint32_t count)
{
    enum { SPARE = 1024, PART = 8 };
    /*
     * A bit for each id below the limit: the file's size bounds the memory, whatever ids it claims.
     */
    uint64_t limit = (uint64_t)count * PART + SPARE;
    if (!ids) {
        return true;
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    myr_arena_init(&arena);
    struct myr_bitset seen;
    myr_bitset_init(&seen, &arena, limit < MYR_NONE ? (uint32_t)limit : MYR_NONE - 1);
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] >= limit || ids[i] >= MYR_NONE - 1 || myr_bitset_has(&seen, ids[i])) {
            return false;
        }
        myr_bitset_add(&seen, ids[i]);
    }
    return true;
}

/* A name says what a device is, and no two have the same. */
static bool names_ok(const struct myr_design *design)
{
    if (!design->named || !design->by_name) {
        return !design->named && !design->by_name;
    }
    for (uint32_t i = 0; i < design->device_count; i++) {
        const struct myr_place *place = &design->place[i], *named = &design->named[i];
        uint32_t at = design->by_name[i];
        if (named->kind != place->kind || named->net != place->net ||
            named->style != place->style ||
            (named->plane == MYR_PLANE_NONE) != (place->plane == MYR_PLANE_NONE) ||
            at >= design->device_count) {
            return false;
        }
        const struct myr_place *there = &design->named[at];
        if (there->kind != place->kind || there->net != place->net) {
            return false;
        }
        /* Strictly ascending inside each kind and network: sorted, and no name twice. */
        bool follows = i > 0 && design->place[i - 1].kind == place->kind &&
                       design->place[i - 1].net == place->net;
        if (follows && myr_place_compare(&design->named[design->by_name[i - 1]], there) >= 0) {
            return false;
        }
    }
    return true;
}

/* Only grown designs have ids apart from positions. */
static int check_ids(const struct myr_design *design, const char *name, struct myr_err *err)
{
    if (!ids_ok(design->device_id, design->device_count) ||
        !ids_ok(design->port_id, design->port_count) ||
        !ids_ok(design->link_id, design->link_count) ||
        !ids_ok(design->cable_id, design->cable_count)) {
        return broken(err, name, "an id is given twice or lies outside", 0);
    }
    return names_ok(design) ? MYR_OK : broken(err, name, "its names are in disorder", 0);
}

/* MYR_NONE says that there is none. */
static bool place_ok(uint32_t index, uint32_t count)
{
    return index == MYR_NONE || index < count;
}

/* The chain that feeds or cools: what stands behind an entry comes before it, so nothing rings. */
static bool chain_ok(const struct myr_design *design, const struct myr_chain_link *links,
                     const struct myr_chain_more *more, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!string_ok(design, links[i].name) || !place_ok(links[i].parent, i) ||
            (more && !place_ok(more[i].parent_b, i))) {
            return false;
        }
    }
    return true;
}

/* Also of designs without a room: racks and chains are older than rooms are. */
static int check_racks(const struct myr_design *design, const char *name, struct myr_err *err)
{
    for (uint32_t i = 0; i < design->rack_count; i++) {
        const struct myr_rack *rack = &design->racks[i];
        if (!string_ok(design, rack->part) || rack->row >= MYR_ROOM_SIDE_MAX ||
            rack->column >= MYR_ROOM_SIDE_MAX || !place_ok(rack->power_feed, design->power_count) ||
            !place_ok(rack->cooling_loop, design->cooling_count)) {
            return broken(err, name, "a rack is wrong", i);
        }
    }
    for (uint32_t i = 0; i < design->tray_count; i++) {
        if (design->trays[i].from_rack >= design->rack_count ||
            design->trays[i].to_rack >= design->rack_count) {
            return broken(err, name, "a tray leads to no rack", i);
        }
    }
    return chain_ok(design, design->power, design->power_more, design->power_count) &&
                   chain_ok(design, design->cooling, design->cooling_more, design->cooling_count)
               ? MYR_OK
               : broken(err, name, "a power or cooling chain is wrong", 0);
}

/* What came with rooms: all of it, or nothing. */
static int check_room(const struct myr_design *design, const char *name, struct myr_err *err)
{
    MYR_TRY(check_racks(design, name, err));
    const void *const parts[] = {design->room,       design->rack_more,    design->rack_items,
                                 design->power_more, design->cooling_more, design->device_unit,
                                 design->cable_mm,   design->type_loads};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        if (!parts[i] != !design->room) {
            return broken(err, name, "the room is there in part only", i);
        }
    }
    if (!design->room) {
        return MYR_OK;
    }
    const struct myr_room *room = design->room;
    if (design->room_count != 1 || room->buildings == 0 ||
        room->buildings > MYR_ROOM_BUILDINGS_MAX || room->place > MYR_ROOM_SHORTEST ||
        room->rows > MYR_ROOM_SIDE_MAX || room->columns > MYR_ROOM_SIDE_MAX ||
        !string_ok(design, room->building_names[0]) ||
        !string_ok(design, room->building_names[1])) {
        return broken(err, name, "the room is wrong", 0);
    }
    for (uint32_t i = 0; i < design->rack_count; i++) {
        const struct myr_rack_more *more = &design->rack_more[i];
        if (more->building >= room->buildings || !place_ok(more->power_b, design->power_count) ||
            !place_ok(more->cooling_b, design->cooling_count) ||
            design->racks[i].row >= room->rows || design->racks[i].column >= room->columns) {
            return broken(err, name, "a rack stands outside the room", i);
        }
    }
    for (uint32_t i = 0; i < design->rack_item_count; i++) {
        if (design->rack_items[i].rack >= design->rack_count ||
            !string_ok(design, design->rack_items[i].part)) {
            return broken(err, name, "an item stands in no rack", i);
        }
    }
    return MYR_OK;
}

int myr_design_check(const struct myr_design *design, const char *name, struct myr_err *err)
{
    /* The order counts: each check follows only what those before it have found right. */
    MYR_TRY(check_strings(design, name, err));
    MYR_TRY(check_figures(design, name, err));
    MYR_TRY(check_types(design, name, err));
    MYR_TRY(check_cards(design, name, err));
    MYR_TRY(check_devices(design, name, err));
    MYR_TRY(check_ports(design, name, err));
    MYR_TRY(check_cabling(design, name, err));
    MYR_TRY(check_ends(design, name, err));
    MYR_TRY(check_networks(design, name, err));
    MYR_TRY(check_servers(design, name, err));
    MYR_TRY(check_ids(design, name, err));
    MYR_TRY(check_domains(design, name, err));
    return check_room(design, name, err);
}
