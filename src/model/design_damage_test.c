/*
 * What is said of a damaged design, with the entry that is wrong; which shapes of a network are
 * designs at all; and designs that come through a pipe.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "myriad/base/rng.h"
#include "myriad/model.h"
#include "myriad/model/design_file.h"
#include "rounds.h"

enum { ALIGN = 64 };

struct image {
    void *data;
    size_t bytes;
    struct myr_design design;
};

static void open_image(const char *name, struct image *ret)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf path = {}, file = {};
    myr_buf_printf(&path, "%s/tests/fuzz/corpus/design/%s", MYR_SOURCE_DIR, name);
    assert_int_equal(myr_file_read(path.data, 1 << 20, &file, NULL), MYR_OK);
    assert_int_equal(posix_memalign(&ret->data, ALIGN, file.len), 0);
    memcpy(ret->data, file.data, file.len);
    ret->bytes = file.len;
    assert_int_equal(myr_design_parse(&ret->design, ret->data, file.len, name, NULL), MYR_OK);
}

/* "what (at index)", or "" for a design. */
static void assert_checked(const struct myr_design *design, const char *says, int line)
{
    struct myr_err err = {};
    char wanted[200] = "";
    if (says[0]) {
        snprintf(wanted, sizeof(wanted), "d:1:1: not a usable design: %s", says);
    }
    int rc = myr_design_check(design, "d", &err);
    if (rc != (says[0] ? MYR_ECORRUPT : MYR_OK) || strcmp(err.message, wanted) != 0) {
        fail_msg("line %d: '%s' in place of '%s'", line, err.message, wanted);
    }
}

/* The field takes the value, is looked at, and is as before. */
#define SET(field, value, says)                        \
    do {                                               \
        __typeof__(field) before_ = (field);           \
        (field) = (__typeof__(field))(value);          \
        assert_checked(&image.design, says, __LINE__); \
        (field) = before_;                             \
    } while (0)

static void a_wrong_device_or_port_is_told_by_its_number(void **state)
{
    struct image image;
    (void)state;
    open_image("three", &image);
    struct myr_design *d = &image.design;
    uint32_t last = d->device_count - 1, end = d->port_count - 1;
    SET(d->first_port[0], 1, "the ports do not cover the devices (at 0)");
    SET(d->first_port[d->device_count], d->port_count - 1,
        "the ports do not cover the devices (at 0)");
    SET(d->first_port[3], d->first_port[3] + 1, "a device's ports do not match its type (at 2)");
    SET(d->place[2].kind, MYR_DEVICE_KIND_COUNT, "a device's place is wrong (at 2)");
    SET(d->place[2].style, MYR_NAME_STYLE_COUNT, "a device's place is wrong (at 2)");
    SET(d->place[last].net, MYR_NET_COUNT + 1, "a device's place is wrong (at 8)");
    assert_int_equal(last, 8);
    /* What is of no network is called by a number alone. */
    assert_int_equal(d->place[0].net, MYR_NET_COUNT);
    SET(d->place[0].style, MYR_NAME_POD, "a device's place is wrong (at 0)");
    SET(d->device_type[last], d->devtype_count, "a device has no type (at 8)");
    SET(d->device_rack[last], 0, "a device stands in no rack (at 8)");
    SET(d->device_rack[0], MYR_NONE, "");
    SET(d->port_device[end], 0, "a port belongs to two devices (at 23)");
    assert_int_equal(end, 23);
    SET(d->port_link[end], d->link_count, "a port's link does not know it (at 23)");
    SET(d->port_link[1], d->port_link[1] == 0 ? 1 : 0, "a port's link does not know it (at 1)");
    SET(d->insides[3].kind, MYR_INSIDE_KIND_COUNT, "a server inside is wrong (at 3)");
    SET(d->insides[3].net, MYR_NET_COUNT, "a server inside is wrong (at 3)");
    SET(d->inside_links[2].a, d->inside_count, "a link inside a server leads outside (at 2)");
    SET(d->inside_links[2].b, d->inside_count, "a link inside a server leads outside (at 2)");
    SET(d->inside_links[1].b, d->inside_count - 1, "");
    free(image.data);
}

static void a_wrong_link_or_cable_is_told_by_its_number(void **state)
{
    struct image image;
    (void)state;
    open_image("three", &image);
    struct myr_design *d = &image.design;
    uint32_t last = d->link_count - 1;
    assert_int_equal(d->link_count, 12);
    assert_int_equal(d->cable_count, 12);
    SET(d->first_link[0], 1, "the cables do not cover the links (at 0)");
    SET(d->first_link[12], 11, "the cables do not cover the links (at 0)");
    SET(d->first_link[5], 4, "a cable is wrong (at 4)");
    SET(d->first_link[5], 13, "a cable is wrong (at 4)");
    SET(d->first_link[5], 6, "a link belongs to two cables (at 5)");
    SET(d->cable_type[11], d->cabletype_count, "a cable is wrong (at 11)");
    SET(d->link_cable[last], 0, "a link belongs to two cables (at 11)");
    /* A port that knows the link, where the link knows another. */
    uint32_t a = d->link_a[last], b = d->link_b[last];
    SET(d->link_a[last], d->port_count, "a port's link does not know it (at 19)");
    assert_int_equal(a, 19);
    SET(d->port_link[a], MYR_NONE, "a link's ports do not know it (at 11)");
    SET(d->port_link[b], MYR_NONE, "a link's ports do not know it (at 11)");
    d->port_link[a] = MYR_NONE;
    SET(d->link_a[last], d->port_count, "a link's ports do not know it (at 11)");
    SET(d->link_a[last], b, "a link's ports do not know it (at 11)");
    d->port_link[a] = last;
    /* From the hosts outwards: the two ends of a link cannot be exchanged. */
    for (uint32_t link = 0; link < d->link_count; link++) {
        bool host = d->cabletypes[d->cable_type[d->link_cable[link]]].layer == MYR_LAYER_HOST;
        char says[60] = "";
        uint32_t from = d->link_a[link];
        if (host) {
            snprintf(says, sizeof(says), "a link joins what it should not (at %u)", link);
        }
        d->link_a[link] = d->link_b[link];
        SET(d->link_b[link], from, says);
        d->link_a[link] = from;
    }
    free(image.data);
}

/* No file of the corpus has domains: the arrays are the test's. */
static void domains_name_devices(void **state)
{
    struct image image;
    struct myr_domain domains[2] = {{.first = 0, .count = 3}, {.first = 1, .count = 2}};
    uint32_t members[3] = {0, 1, 2};
    (void)state;
    open_image("two", &image);
    struct myr_design *d = &image.design;
    d->domains = domains;
    d->domain_count = 2;
    d->domain_devices = members;
    d->member_count = 3;
    assert_checked(d, "", __LINE__);
    SET(domains[1].count, 3, "a failure domain has members outside (at 1)");
    SET(domains[1].first, 2, "a failure domain has members outside (at 1)");
    SET(domains[0].count, 4, "a failure domain has members outside (at 0)");
    SET(domains[0].first, UINT32_MAX - 1, "a failure domain has members outside (at 0)");
    SET(domains[1].count, UINT32_MAX, "a failure domain has members outside (at 1)");
    SET(domains[1].count, 0, "");
    SET(members[2], d->device_count - 1, "");
    SET(members[2], d->device_count, "a failure domain names no device (at 2)");
    SET(members[0], d->device_count, "a failure domain names no device (at 0)");
    free(image.data);
}

static void racks_trays_and_chains_lead_somewhere(void **state)
{
    struct image image;
    struct myr_rack_item items[2] = {};
    (void)state;
    open_image("room", &image);
    struct myr_design *d = &image.design;
    const char *chain = "a power or cooling chain is wrong (at 0)";
    assert_true(d->power_count == 4 && d->cooling_count == 2 && d->tray_count == 1);
    SET(d->trays[0].from_rack, d->rack_count, "a tray leads to no rack (at 0)");
    SET(d->trays[0].to_rack, d->rack_count, "a tray leads to no rack (at 0)");
    SET(d->trays[0].to_rack, d->rack_count - 1, "");
    for (uint32_t i = 0; i < d->power_count; i++) {
        SET(d->power[i].parent, i, chain);
        SET(d->power[i].parent, MYR_NONE, "");
        SET(d->power[i].name, d->string_bytes, chain);
        SET(d->power_more[i].parent_b, i, chain);
        SET(d->power_more[i].parent_b, i ? i - 1 : MYR_NONE, "");
    }
    for (uint32_t i = 0; i < d->cooling_count; i++) {
        SET(d->cooling[i].parent, i, chain);
        SET(d->cooling[i].parent, i ? i - 1 : MYR_NONE, "");
        SET(d->cooling[i].name, d->string_bytes, chain);
        SET(d->cooling_more[i].parent_b, i, chain);
    }
    d->rack_items = items;
    d->rack_item_count = 2;
    assert_checked(d, "", __LINE__);
    SET(items[1].rack, d->rack_count - 1, "");
    SET(items[1].rack, d->rack_count, "an item stands in no rack (at 1)");
    SET(items[1].part, d->string_bytes, "an item stands in no rack (at 1)");
    SET(items[0].part, d->string_bytes - 1, "");
    SET(d->racks[5].part, d->string_bytes, "a rack is wrong (at 5)");
    SET(d->bom_more[3].specification, d->string_bytes,
        "a line of the bill of materials has a string outside (at 3)");
    SET(d->bom_more[3].specification, d->string_bytes - 1, "");
    /* The file is of before prices had a range. */
    struct myr_bom_price prices[64] = {};
    assert_in_range(d->bom_count, 4, MYR_ARRAY_COUNT(prices));
    d->bom_price = prices;
    assert_checked(d, "", __LINE__);
    SET(prices[3].basis, MYR_PRICE_ESTIMATED + 1,
        "a line of the bill of materials has a price outside (at 3)");
    SET(prices[3].low_cents, -1, "a line of the bill of materials has a price outside (at 3)");
    d->bom_price = NULL;
    SET(d->bom[4].rule, d->string_bytes,
        "a line of the bill of materials has a string outside (at 4)");
    struct myr_finding *finding = &d->findings[6];
    const char *says = "a finding has a field outside (at 6)";
    SET(finding->rule, d->string_bytes, says);
    SET(finding->where, d->string_bytes, says);
    SET(finding->message, d->string_bytes, says);
    SET(finding->remedy, d->string_bytes, says);
    SET(finding->remedy, d->string_bytes - 1, "");
    SET(finding->severity, MYR_SEVERITY_ERROR, "");
    SET(finding->severity, MYR_SEVERITY_ERROR + 1, says);
    free(image.data);
}

static void hosts_stand_in_rows(void **state)
{
    struct image image;
    (void)state;
    open_image("three", &image);
    struct myr_design *d = &image.design;
    const char *says = "the nodes are not where they should be (at 0)";
    assert_true(d->head->nodes > 0);
    SET(d->head->nodes, d->head->nodes + 1, says);
    SET(d->head->nodes, d->device_count + 1, says);
    SET(d->head->first_node, d->head->first_node + 1, says);
    SET(d->head->first_node, UINT32_MAX, says);
    /* A row of none begins anywhere, up to the end. */
    uint32_t *const firsts[] = {&d->head->first_storage, &d->head->first_management,
                                &d->head->first_fabric_manager};
    uint32_t *const counts[] = {&d->head->storage_servers, &d->head->management_nodes,
                                &d->head->fabric_managers};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(firsts); i++) {
        assert_int_equal(*counts[i], 0);
        SET(*firsts[i], d->device_count, "");
        SET(*firsts[i], d->device_count + 1, says);
        SET(*counts[i], 1, says);
    }
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        char wrong[40];
        snprintf(wrong, sizeof(wrong), "a network is wrong (at %u)", net);
        SET(d->networks[net].planes, 0, wrong);
        SET(d->networks[net].first_core, d->device_count + 1, wrong);
        SET(d->networks[net].first_access, d->device_count + 1, wrong);
        SET(d->networks[net].first_aggregation, d->device_count + 1, wrong);
        SET(d->networks[net].aggregation, 1, wrong);
    }
    free(image.data);
}

static void groups_of_servers_are_all_nodes_one_after_the_other(void **state)
{
    struct image image;
    (void)state;
    open_image("groups", &image);
    struct myr_design *d = &image.design;
    struct myr_server_group *a = &d->groups[0], *b = &d->groups[1];
    assert_true(d->group_count == 2 && d->head->nodes == 2 && b->first_node == 1);
    const char *outside[] = {"a server group has nodes outside, or of another (at 0)",
                             "a server group has nodes outside, or of another (at 1)"};
    const char *servers = "the servers and nodes of a group do not agree (at 1)";
    const char *sum = "servers, nodes and GPUs do not add up (at 0)";
    SET(a->nodes, 5000, outside[0]);
    SET(a->nodes, UINT32_MAX, outside[0]);
    SET(a->first_node, 1, outside[0]);
    SET(a->first_node, UINT32_MAX, outside[0]);
    SET(b->nodes, 2, outside[1]);
    SET(b->first_node, 0, outside[1]);
    SET(b->nodes, 0, servers);
    SET(b->servers, 2, servers);
    SET(b->servers, 0, servers);
    SET(b->nodes_per_server, 2, servers);
    SET(d->head->servers, 3, sum);
    SET(d->head->gpus, 0, sum);
    SET(d->head->gpus_per_node, 0, sum);
    SET(d->head->nodes_per_server, 2, sum);
    d->group_count = 1;
    assert_checked(d, sum, __LINE__);
    /* Routing and simulation start at the ports of a node for the compute network. */
    const char *off = "a server group has nodes without a port on its network (at 0)";
    /* Without groups all servers are one, and on all networks: here the second one is not. */
    d->group_count = 0;
    assert_checked(d, off, __LINE__);
    SET(d->head->gpus_per_node, 0, "the servers and nodes of a group do not agree (at 0)");
    d->group_count = 2;
    assert_checked(d, "", __LINE__);
    assert_true(a->networks & 1U << MYR_NET_COMPUTE);
    uint32_t type = d->device_type[d->head->first_node];
    for (uint32_t g = 0; g < d->devtypes[type].group_count; g++) {
        struct myr_port_group *ports = &d->devtypes[type].groups[g];
        if (ports->net == MYR_NET_COMPUTE) {
            SET(ports->net, MYR_NET_OOB, off);
            SET(ports->role, MYR_PORT_DOWN, off);
        }
    }
    SET(d->networks[MYR_NET_COMPUTE].host_gbps, 0, "a network has hosts without a speed (at 0)");
    const char *speed = "a cable type has another speed than the hosts of its network (at 0)";
    assert_int_equal(d->cabletypes[0].layer, MYR_LAYER_HOST);
    SET(d->networks[d->cabletypes[0].net].host_gbps, 1 + d->cabletypes[0].gbps, speed);
    SET(d->cabletypes[0].gbps, 1 + d->cabletypes[0].gbps, speed);
    free(image.data);
}

/* --- shapes */

enum { PORTS = 64, DEVICES = 400 };

/* A node with ports that are not plugged, and the switches that a network counts. */
struct world {
    struct myr_design_head head;
    struct myr_network nets[MYR_NET_COUNT];
    struct myr_place place[DEVICES];
    uint16_t type[DEVICES];
    uint32_t first_port[DEVICES + 1], rack[DEVICES], port_device[PORTS], port_link[PORTS];
    uint32_t first_link[1];
    struct myr_devtype types[2];
    char strings[1];
    struct myr_design design;
};

static void put_row(struct world *w, uint32_t *first, uint32_t count, enum myr_device_kind kind)
{
    struct myr_design *d = &w->design;
    *first = d->device_count;
    assert_true(d->device_count + count < DEVICES);
    for (uint32_t i = 0; i < count; i++) {
        w->place[d->device_count] = (struct myr_place){
            .kind = (uint8_t)kind, .net = MYR_NET_COMPUTE, .style = MYR_NAME_NET, .ordinal = i};
        w->type[d->device_count++] = 1;
    }
}

static void build(struct world *w, const struct myr_network *net)
{
    bool routers = net->topology == MYR_TOPOLOGY_DRAGONFLY || net->topology == MYR_TOPOLOGY_TORUS;
    *w = (struct world){
        .head = {.servers = 1, .nodes = 1, .gpus = 1, .nodes_per_server = 1, .gpus_per_node = 1}};
    w->design = (struct myr_design){.head = &w->head,
                                    .networks = w->nets,
                                    .device_count = 1,
                                    .place = w->place,
                                    .device_type = w->type,
                                    .first_port = w->first_port,
                                    .device_rack = w->rack,
                                    .port_count = PORTS,
                                    .port_device = w->port_device,
                                    .port_link = w->port_link,
                                    .first_link = w->first_link,
                                    .devtypes = w->types,
                                    .devtype_count = 2,
                                    .strings = w->strings,
                                    .string_bytes = 1};
    for (uint32_t i = 0; i < MYR_NET_COUNT; i++) {
        w->nets[i].planes = 1;
    }
    w->nets[MYR_NET_COMPUTE] = *net;
    w->nets[MYR_NET_COMPUTE].host_gbps = 400;
    w->place[0] = (struct myr_place){.kind = MYR_DEVICE_NODE, .net = MYR_NET_COUNT};
    w->types[0] = (struct myr_devtype){.group_count = 1, .port_count = PORTS};
    w->types[0].groups[0] =
        (struct myr_port_group){.count = PORTS, .per_cage = 1, .per_connector = 1};
    struct myr_network *own = &w->nets[MYR_NET_COMPUTE];
    put_row(w, &own->first_leaf, net->leaf, routers ? MYR_DEVICE_ROUTER : MYR_DEVICE_LEAF);
    put_row(w, &own->first_spine, net->spine, MYR_DEVICE_SPINE);
    put_row(w, &own->first_core, net->core, MYR_DEVICE_CORE);
    put_row(w, &own->first_access, net->access, MYR_DEVICE_ACCESS);
    put_row(w, &own->first_aggregation, net->aggregation, MYR_DEVICE_AGGREGATION);
    for (uint32_t i = 0; i < DEVICES; i++) {
        w->first_port[i + 1] = PORTS;
        w->rack[i] = MYR_NONE;
    }
    for (uint32_t i = 0; i < PORTS; i++) {
        w->port_link[i] = MYR_NONE;
    }
}

/* One fabric of tiers, said by its pods: full ones of so many leaves, and a last one. */
static bool naive_tiers(const struct myr_network *net)
{
    uint32_t fabrics = net->planes * net->units;
    uint32_t units = net->topology == MYR_TOPOLOGY_RAIL_ONLY ? net->rails : 1;
    if (net->units != units || net->pod_leaves == 0 || net->leaf_down == 0 || net->leaf == 0 ||
        net->leaf % fabrics || net->spine % fabrics || net->core % fabrics) {
        return false;
    }
    uint32_t pods = 0, leaves = net->leaf / fabrics;
    for (uint32_t placed = 0; placed < leaves; placed += net->pod_leaves) {
        pods++;
    }
    bool rails = net->topology != MYR_TOPOLOGY_RAIL ||
                 (leaves % net->rails == 0 && net->pod_leaves % net->rails == 0);
    uint32_t spines = net->spine / fabrics, cores = net->core / fabrics;
    switch (net->tiers) {
    case 1:
        return rails && net->pods == 1 && pods == 1 && leaves == 1 && spines == 0 && cores == 0;
    case 2:
        return rails && net->pods == 1 && pods == 1 && spines == net->pod_spines && spines > 0 &&
               cores == 0;
    default:
        return rails && net->pods == pods && spines == pods * net->pod_spines && spines > 0 &&
               net->core_groups == net->pod_spines && cores > 0 &&
               cores == net->core_groups * net->group_cores;
    }
}

static bool naive_shape(const struct myr_network *net)
{
    uint32_t product = net->dim_count >= 2;
    switch ((enum myr_topology)net->topology) {
    case MYR_TOPOLOGY_TORUS:
        for (uint32_t i = 0; i < net->dim_count; i++) {
            product *= net->dims[i];
        }
        return product > 0 && net->leaf == product && net->spine == 0 && net->core == 0;
    case MYR_TOPOLOGY_DRAGONFLY:
        return net->leaf > 0 && net->leaf == net->groups * net->group_switches && net->spine == 0 &&
               net->core == 0;
    case MYR_TOPOLOGY_DRAGONFLY_PLUS:
        return net->leaf > 0 && net->leaf == net->groups * net->group_switches &&
               net->spine == net->leaf && net->core == 0;
    case MYR_TOPOLOGY_ACCESS:
        return net->access > 0 && net->leaf == 0 && net->spine == 0 &&
               (net->tiers == 3 ? net->core > 0 : net->core == 0);
    default:
        return naive_tiers(net);
    }
}

static uint32_t from_one(struct myr_rng *rng, uint32_t most)
{
    return 1 + myr_rng_below(rng, most);
}

/* A shape that is right more often than not. */
static struct myr_network draw_network(struct myr_rng *rng)
{
    struct myr_network net = {.topology = 1 + myr_rng_below(rng, MYR_TOPOLOGY_COUNT - 1),
                              .tiers = from_one(rng, 3),
                              .planes = from_one(rng, 2),
                              .rails = from_one(rng, 2),
                              .leaf_down = 1,
                              .pod_leaves = from_one(rng, 4),
                              .pod_spines = from_one(rng, 2),
                              .group_cores = from_one(rng, 2),
                              .groups = from_one(rng, 3),
                              .group_switches = from_one(rng, 3),
                              .dim_count = 2 + myr_rng_below(rng, 2)};
    net.units = net.topology == MYR_TOPOLOGY_RAIL_ONLY ? net.rails : 1;
    net.core_groups = net.pod_spines;
    net.leaf = net.spine = net.core = 0;
    uint32_t fabrics = net.planes * net.units, leaves = from_one(rng, 7);
    switch ((enum myr_topology)net.topology) {
    case MYR_TOPOLOGY_TORUS:
        net.leaf = 1;
        for (uint32_t i = 0; i < net.dim_count; i++) {
            net.dims[i] = from_one(rng, 3);
            net.leaf *= net.dims[i];
        }
        return net;
    case MYR_TOPOLOGY_DRAGONFLY:
    case MYR_TOPOLOGY_DRAGONFLY_PLUS:
        net.leaf = net.groups * net.group_switches;
        net.spine = net.topology == MYR_TOPOLOGY_DRAGONFLY_PLUS ? net.leaf : 0;
        return net;
    case MYR_TOPOLOGY_ACCESS:
        net.access = from_one(rng, 3);
        net.core = net.tiers == 3;
        net.aggregation = myr_rng_below(rng, 2);
        return net;
    default:
        leaves = net.tiers == 1 ? 1 : net.tiers == 2 ? from_one(rng, net.pod_leaves) : leaves;
        net.pods = (leaves + net.pod_leaves - 1) / net.pod_leaves;
        net.leaf = leaves * fabrics;
        net.spine = net.tiers > 1 ? net.pods * net.pod_spines * fabrics : 0;
        net.core = net.tiers > 2 ? net.core_groups * net.group_cores * fabrics : 0;
        return net;
    }
}

static void a_network_has_the_shape_of_its_topology(void **state)
{
    static struct world world;
    struct myr_rng rng;
    const uint64_t seed = 20261118;
    uint32_t right[MYR_TOPOLOGY_COUNT] = {}, wrong[MYR_TOPOLOGY_COUNT] = {};
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    myr_rng_init(&rng, seed, 0);
    for (uint32_t round = 0; round < TEST_ROUNDS(6000); round++) {
        struct myr_network net = draw_network(&rng);
        uint32_t *const fields[] = {&net.leaf,      &net.spine,       &net.core,
                                    &net.pods,      &net.pod_leaves,  &net.pod_spines,
                                    &net.units,     &net.core_groups, &net.group_cores,
                                    &net.leaf_down, &net.groups,      &net.group_switches,
                                    &net.dims[0],   &net.dims[1],     &net.access};
        if (myr_rng_below(&rng, 3)) {
            uint32_t *field = fields[myr_rng_below(&rng, MYR_ARRAY_COUNT(fields))];
            *field = myr_rng_below(&rng, 2) ? *field + 1 : *field ? *field - 1 : 0;
        }
        build(&world, &net);
        bool good = net.units > 0 && naive_shape(&net);
        (good ? right : wrong)[net.topology]++;
        assert_checked(&world.design, good ? "" : "a network is wrong (at 0)", (int)round);
    }
    for (uint32_t i = 1; i < MYR_TOPOLOGY_COUNT; i++) {
        assert_true(right[i] > TEST_ROUNDS(6000) / 300 && wrong[i] > TEST_ROUNDS(6000) / 300);
    }
}

/* --- pipes */

/* Of at most what a pipe holds, so that nobody has to read while it is written. */
static int open_pipe(const void *data, size_t bytes, struct myr_design *ret, struct myr_err *err)
{
    int ends[2];
    char path[40];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], data, bytes), bytes);
    close(ends[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    int rc = myr_design_open(ret, path, err);
    close(ends[0]);
    return rc;
}

static void a_design_comes_through_a_pipe(void **state)
{
    struct image image;
    struct myr_design design = {.device_count = 77};
    struct myr_err err = {};
    (void)state;
    open_image("room", &image);
    assert_int_equal(open_pipe(image.data, image.bytes, &design, &err), MYR_OK);
    assert_int_equal(design.mapping_bytes, image.bytes);
    assert_memory_equal(design.mapping, image.data, image.bytes);
    assert_int_equal(design.link_count, image.design.link_count);
    myr_design_close(&design);
    design.device_count = 77;
    assert_true(open_pipe("", 0, &design, &err) < 0);
    assert_non_null(strstr(err.message, ":1:1: the file is empty, a design.myr is expected"));
    assert_int_equal(open_pipe(image.data, image.bytes - 1, &design, &err), MYR_ECORRUPT);
    assert_non_null(
        strstr(err.message, ":1:1: not a usable design file: it is cut off or has grown"));
    assert_true(open_pipe("servers: 4\n", 11, &design, &err) < 0);
    assert_non_null(strstr(err.message, ":1:1: looks like a spec; a design.myr is expected"));
    assert_int_equal(design.device_count, 77);
    assert_null(design.mapping);
    free(image.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_device_or_port_is_told_by_its_number),
        cmocka_unit_test(a_wrong_link_or_cable_is_told_by_its_number),
        cmocka_unit_test(domains_name_devices),
        cmocka_unit_test(racks_trays_and_chains_lead_somewhere),
        cmocka_unit_test(hosts_stand_in_rows),
        cmocka_unit_test(groups_of_servers_are_all_nodes_one_after_the_other),
        cmocka_unit_test(a_network_has_the_shape_of_its_topology),
        cmocka_unit_test(a_design_comes_through_a_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
