/*
 * A design with one wrong field is refused, whatever the field: later code follows indices without
 * looking. Each row changes one field of a good design and says what the complaint must be about.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "designs.h"

static const struct shape *shape_named(const char *name)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(shapes); i++) {
        if (strcmp(shapes[i].name, name) == 0) {
            return &shapes[i];
        }
    }
    fail_msg("no shape '%s'", name);
    return NULL;
}

static void assert_refused(const struct myr_design *design, const char *field, const char *what)
{
    struct myr_err err = {};
    int rc = myr_design_check(design, "d.myr", &err);
    if (rc != MYR_ECORRUPT || !strstr(err.message, what)) {
        fail_msg("%s: %s; '%s' is expected", field, rc < 0 ? err.message : "is taken", what);
    }
}

/* Changes a field, sees the design refused, and puts the field back. */
#define DAMAGE(design, field, value, what)                     \
    do {                                                       \
        __typeof__((design)->field) good_ = (design)->field;   \
        (design)->field = (__typeof__(good_))(value);          \
        assert_refused((design), #field " = " #value, (what)); \
        (design)->field = good_;                               \
    } while (0)

static void strings_lie_inside(void **state)
{
    (void)state;
    struct planned p;
    plan_shape(&p, shape_named("rail"));
    struct myr_design *d = &p.design;
    struct myr_err err = {};
    assert_int_equal(myr_design_check(d, "d.myr", &err), MYR_OK);
    uint32_t end = d->string_bytes;
    DAMAGE(d, strings[0], 'x', "the strings do not end");
    DAMAGE(d, strings[end - 1], 'x', "the strings do not end");
    DAMAGE(d, head->name, end, "a string lies outside");
    DAMAGE(d, head->currency, end, "a string lies outside");
    DAMAGE(d, head->price_book, end, "a string lies outside");
    DAMAGE(d, head->server_part, end, "a string lies outside");
    DAMAGE(d, head->gpu_part, end, "a string lies outside");
    uint32_t last = d->bom_count - 1;
    DAMAGE(d, bom[0].system, end, "bill of materials");
    DAMAGE(d, bom[last].name, end, "bill of materials");
    DAMAGE(d, bom[0].part, end, "bill of materials");
    DAMAGE(d, bom[last].rule, end, "bill of materials");
    DAMAGE(d, bom[0].inputs, end, "bill of materials");
    DAMAGE(d, bom[0].price_note, end, "bill of materials");
    DAMAGE(d, bom_more[0].specification, end, "bill of materials");
    assert_true(d->finding_count > 0);
    DAMAGE(d, findings[0].rule, end, "a finding");
    DAMAGE(d, findings[0].where, end, "a finding");
    DAMAGE(d, findings[0].message, end, "a finding");
    DAMAGE(d, findings[0].remedy, end, "a finding");
    DAMAGE(d, findings[0].severity, MYR_SEVERITY_ERROR + 1, "a finding");
    planned_done(&p);
}

static void types_are_whole(void **state)
{
    (void)state;
    struct planned p;
    plan_shape(&p, shape_named("rail"));
    struct myr_design *d = &p.design;
    uint32_t end = d->string_bytes, last = d->devtype_count - 1;
    DAMAGE(d, devtypes[0].part, end, "a device type is wrong");
    DAMAGE(d, devtypes[last].group_count, MYR_PORT_GROUPS_MAX + 1, "a device type is wrong");
    DAMAGE(d, devtypes[0].groups[0].first, 1, "a port group is wrong");
    DAMAGE(d, devtypes[0].groups[0].per_cage, 0, "a port group is wrong");
    DAMAGE(d, devtypes[0].groups[0].per_connector, 0, "a port group is wrong");
    DAMAGE(d, devtypes[0].groups[0].per_connector, 7, "a port group is wrong");
    DAMAGE(d, devtypes[0].groups[0].role, MYR_PORT_GLOBAL + 1, "a port group is wrong");
    DAMAGE(d, devtypes[0].groups[0].net, MYR_NET_COUNT, "a port group is wrong");
    DAMAGE(d, devtypes[0].groups[0].count, 65537, "a port group is wrong");
    DAMAGE(d, devtypes[0].port_count, d->devtypes[0].port_count + 1, "ports do not add up");
    last = d->cabletype_count - 1;
    DAMAGE(d, cabletypes[0].part, end, "a cable type is wrong");
    DAMAGE(d, cabletypes[last].optic_a, end, "a cable type is wrong");
    DAMAGE(d, cabletypes[0].optic_b, end, "a cable type is wrong");
    DAMAGE(d, cabletypes[0].net, MYR_NET_COUNT, "a cable type is wrong");
    DAMAGE(d, cabletypes[0].layer, MYR_LAYER_COUNT, "a cable type is wrong");
    DAMAGE(d, cabletypes[0].medium, MYR_MEDIUM_SINGLE + 1, "a cable type is wrong");
    DAMAGE(d, cabletypes[0].legs, 0, "a cable type is wrong");
    DAMAGE(d, cabletypes[last].gbps, 0, "a cable type is wrong");
    DAMAGE(d, insides[0].kind, MYR_INSIDE_KIND_COUNT, "a server inside is wrong");
    DAMAGE(d, insides[d->inside_count - 1].net, MYR_NET_COUNT, "a server inside is wrong");
    last = d->card_count - 1;
    assert_true(d->card_count > 0);
    DAMAGE(d, cards[0].devtype, d->devtype_count, "a card is wrong");
    DAMAGE(d, cards[last].group, MYR_PORT_GROUPS_MAX, "a card is wrong");
    DAMAGE(d, cards[0].part, end, "a card is wrong");
    DAMAGE(d, cards[last].count, 0, "a card is wrong");
    DAMAGE(d, cards[0].count, 65537, "a card is wrong");
    DAMAGE(d, bisection_count, MYR_NET_COUNT + 1, "a bisection belongs to no network");
    DAMAGE(d, inside_links[0].a, d->inside_count, "leads outside");
    DAMAGE(d, inside_links[d->inside_link_count - 1].b, d->inside_count, "leads outside");
    planned_done(&p);
}

static void devices_and_ports_know_each_other(void **state)
{
    (void)state;
    struct planned p;
    plan_shape(&p, shape_named("clos"));
    struct myr_design *d = &p.design;
    uint32_t last = d->device_count - 1, port = d->link_a[0];
    DAMAGE(d, first_port[0], 1, "do not cover the devices");
    DAMAGE(d, first_port[last + 1], d->port_count - 1, "do not cover the devices");
    DAMAGE(d, first_port[1], d->first_port[1] + 1, "do not match its type");
    DAMAGE(d, place[0].kind, MYR_DEVICE_KIND_COUNT, "place is wrong");
    DAMAGE(d, place[last].net, MYR_NET_COUNT + 1, "place is wrong");
    DAMAGE(d, place[0].style, MYR_NAME_STYLE_COUNT, "place is wrong");
    DAMAGE(d, place[0].style, MYR_NAME_POD, "place is wrong"); /* a node is of no network */
    DAMAGE(d, device_type[last], d->devtype_count, "a device has no type");
    DAMAGE(d, device_rack[0], d->rack_count, "stands in no rack");
    DAMAGE(d, port_device[0], 1, "belongs to two devices");
    DAMAGE(d, port_link[port], d->link_count, "link does not know it");
    DAMAGE(d, port_link[port], d->link_count - 1, "link does not know it");
    planned_done(&p);
}

static void cables_and_links_know_each_other(void **state)
{
    (void)state;
    struct planned p;
    plan_shape(&p, shape_named("clos"));
    struct myr_design *d = &p.design;
    uint32_t last = d->cable_count - 1, link = d->link_count - 1;
    DAMAGE(d, first_link[0], 1, "do not cover the links");
    DAMAGE(d, first_link[last + 1], d->link_count - 1, "do not cover the links");
    DAMAGE(d, port_link[d->link_a[0]], MYR_NONE, "a link's ports do not know it");
    DAMAGE(d, port_link[d->link_b[link]], MYR_NONE, "a link's ports do not know it");
    DAMAGE(d, first_link[1], 0, "a cable is wrong");
    DAMAGE(d, first_link[1], d->link_count + 1, "a cable is wrong");
    DAMAGE(d, cable_type[last], d->cabletype_count, "a cable is wrong");
    DAMAGE(d, link_cable[0], 1, "belongs to two cables");
    /* A link leads from a host to a switch of its network, or from switch to switch. */
    uint32_t leaf = d->networks[MYR_NET_COMPUTE].first_leaf;
    DAMAGE(d, cabletypes[d->cable_type[0]].layer, MYR_LAYER_FABRIC, "joins what it should not");
    DAMAGE(d, cabletypes[d->cable_type[0]].net, MYR_NET_OOB, "joins what it should not");
    DAMAGE(d, place[leaf].kind, MYR_DEVICE_STORAGE, "joins what it should not");
    planned_done(&p);
}

static void rows_of_devices_are_where_they_are_said_to_be(void **state)
{
    (void)state;
    struct planned p;
    plan_shape(&p, shape_named("rail-3"));
    struct myr_design *d = &p.design;
    struct myr_network *net = &d->networks[MYR_NET_COMPUTE];
    DAMAGE(d, head->first_node, d->head->first_node + 1, "not where they should be");
    DAMAGE(d, head->nodes, d->device_count + 1, "not where they should be");
    DAMAGE(d, head->storage_servers, 1, "not where they should be");
    DAMAGE(d, head->management_nodes, d->head->management_nodes + 1, "not where they should be");
    DAMAGE(d, head->fabric_managers, d->head->fabric_managers + 1, "not where they should be");
    assert_true(net->spine > 0 && net->core > 0);
    DAMAGE(d, networks[0].first_leaf, net->first_leaf + 1, "a network is wrong");
    DAMAGE(d, networks[0].first_spine, net->first_spine + 1, "a network is wrong");
    DAMAGE(d, networks[0].first_core, net->first_core + 1, "a network is wrong");
    DAMAGE(d, networks[0].access, 1, "a network is wrong");
    DAMAGE(d, networks[0].aggregation, 1, "a network is wrong");
    DAMAGE(d, networks[1].leaf, 1, "a network is wrong"); /* one that is not there */
    planned_done(&p);
}

static void tiers_fit_together(void **state)
{
    (void)state;
    struct planned p;
    plan_shape(&p, shape_named("rail-3"));
    struct myr_design *d = &p.design;
    struct myr_network *net = &d->networks[MYR_NET_COMPUTE];
    assert_int_equal(net->tiers, 3);
    DAMAGE(d, networks[0].leaf, net->leaf - 1, "a network is wrong");
    DAMAGE(d, networks[0].spine, net->spine - 1, "a network is wrong");
    DAMAGE(d, networks[0].core, net->core - 1, "a network is wrong");
    DAMAGE(d, networks[0].pods, net->pods + 1, "a network is wrong");
    DAMAGE(d, networks[0].pod_leaves, 0, "a network is wrong");
    DAMAGE(d, networks[0].pod_leaves, net->pod_leaves + 1, "a network is wrong");
    DAMAGE(d, networks[0].pod_spines, net->pod_spines + 1, "a network is wrong");
    DAMAGE(d, networks[0].leaf_down, 0, "a network is wrong");
    DAMAGE(d, networks[0].core_groups, net->core_groups + 1, "a network is wrong");
    DAMAGE(d, networks[0].group_cores, net->group_cores + 1, "a network is wrong");
    DAMAGE(d, networks[0].rails, 0, "a network is wrong");
    DAMAGE(d, networks[0].rails, 7, "a network is wrong");
    DAMAGE(d, networks[0].units, 0, "a network is wrong");
    DAMAGE(d, networks[0].units, 2, "a network is wrong");
    DAMAGE(d, networks[0].planes, 0, "a network is wrong");
    DAMAGE(d, networks[0].planes, MYR_SPEC_PLANES_MAX + 1, "a network is wrong");
    DAMAGE(d, networks[0].tiers, 0, "a network is wrong");
    DAMAGE(d, networks[0].tiers, 2, "a network is wrong");
    DAMAGE(d, networks[0].tiers, MYR_SPEC_TIERS_MAX + 1, "a network is wrong");
    DAMAGE(d, networks[0].dim_count, MYR_SPEC_DIMS_MAX + 1, "a network is wrong");
    DAMAGE(d, networks[0].fill, MYR_FILL_DENSE + 1, "a network is wrong");
    DAMAGE(d, networks[0].topology, MYR_TOPOLOGY_COUNT, "a network is wrong");
    DAMAGE(d, networks[0].topology, MYR_TOPOLOGY_DEFAULT, "a network is wrong");
    DAMAGE(d, networks[0].topology, MYR_TOPOLOGY_ACCESS, "a network is wrong");
    /* No count is above the number of ports. */
    uint32_t many = d->port_count + 1;
    DAMAGE(d, networks[0].nodes_on_it, many, "a network is wrong");
    DAMAGE(d, networks[0].host_ports, many, "a network is wrong");
    DAMAGE(d, networks[0].leaf_up, many, "a network is wrong");
    DAMAGE(d, networks[0].spine_down, many, "a network is wrong");
    DAMAGE(d, networks[0].spine_up, many, "a network is wrong");
    DAMAGE(d, networks[0].core_down, many, "a network is wrong");
    DAMAGE(d, networks[0].group_nodes, many, "a network is wrong");
    DAMAGE(d, networks[0].groups, many, "a network is wrong");
    DAMAGE(d, networks[0].group_switches, many, "a network is wrong");
    DAMAGE(d, networks[0].hosts_per_switch, many, "a network is wrong");
    planned_done(&p);
}

static void grids_and_groups_fit_together(void **state)
{
    (void)state;
    struct planned p;
    plan_shape(&p, shape_named("torus"));
    struct myr_design *d = &p.design;
    DAMAGE(d, networks[0].dims[0], 5, "a network is wrong");
    DAMAGE(d, networks[0].dims[2], 0, "a network is wrong");
    DAMAGE(d, networks[0].dim_count, 1, "a network is wrong");
    DAMAGE(d, networks[0].dim_count, 0, "a network is wrong");
    planned_done(&p);
    plan_shape(&p, shape_named("dragonfly"));
    d = &p.design;
    DAMAGE(d, networks[0].groups, d->networks[0].groups + 1, "a network is wrong");
    DAMAGE(d, networks[0].groups, 0, "a network is wrong");
    DAMAGE(d, networks[0].group_switches, 7, "a network is wrong");
    DAMAGE(d, networks[0].topology, MYR_TOPOLOGY_DRAGONFLY_PLUS, "a network is wrong");
    planned_done(&p);
}

static void failure_domains_name_devices(void **state)
{
    (void)state;
    struct planned p;
    plan_shape(&p, shape_named("rail"));
    struct myr_design *d = &p.design;
    uint32_t last = d->domain_count - 1, many = d->member_count + 1;
    assert_true(d->domain_count > 0 && d->member_count > 0);
    DAMAGE(d, domains[0].count, many, "has members outside");
    DAMAGE(d, domains[last].first, d->member_count, "has members outside");
    DAMAGE(d, domain_devices[d->member_count - 1], d->device_count, "names no device");
    planned_done(&p);
}

static void figures_can_be_printed(void **state)
{
    (void)state;
    struct planned p;
    plan_shape(&p, shape_named("rail"));
    struct myr_design *d = &p.design;
    uint32_t end = d->string_bytes, last = d->figure_count - 1;
    assert_true(d->figure_count > 1);
    DAMAGE(d, figures[0].path, end, "a figure has a field outside");
    DAMAGE(d, figures[last].unit, end, "a figure has a field outside");
    DAMAGE(d, figures[0].text, end, "a figure has a field outside");
    DAMAGE(d, figures[last].rule, end, "a figure has a field outside");
    DAMAGE(d, figures[0].inputs, end, "a figure has a field outside");
    DAMAGE(d, figures[0].basis, MYR_BASIS_COUNT, "a figure has a field outside");
    DAMAGE(d, figures[last].digits, 13, "a figure has a field outside");
    DAMAGE(d, figures[0].value, 1.1e300, "a figure has a field outside");
    DAMAGE(d, figures[last].value, -1.1e300, "a figure has a field outside");
    DAMAGE(d, figures[0].value, NAN, "a figure has a field outside");
    planned_done(&p);
}

static void everything_stands_in_the_room(void **state)
{
    (void)state;
    /* The room stands behind the networks. */
    const struct shape shape = {"room", 40, "h100-8gpu",
                                "compute: {switch: mqm9790-ns2f}}\n"
                                "room: {rows: 4, columns: 10, power: [{name: a, kw: 2000}, "
                                "{name: b, kw: 2000}], cooling: [{name: c, kw: 4000}]"};
    struct planned p;
    struct myr_err err = {};
    plan_shape(&p, &shape);
    struct myr_design *d = &p.design;
    struct myr_rack_item items[3] = {}; /* strings and racks begin with 0 */
    d->rack_items = items;
    d->rack_item_count = MYR_ARRAY_COUNT(items);
    uint32_t end = d->string_bytes, rack = d->rack_count - 1;
    uint32_t power = d->power_count - 1, cooling = d->cooling_count - 1;
    assert_int_equal(myr_design_check(d, "d.myr", &err), MYR_OK);
    assert_true(d->room && d->rack_count > 1 && d->tray_count > 0);
    assert_true(d->power_count > 1 && d->cooling_count > 0);
    DAMAGE(d, racks[rack].part, end, "a rack is wrong");
    DAMAGE(d, racks[0].row, MYR_ROOM_SIDE_MAX, "a rack is wrong");
    DAMAGE(d, racks[rack].column, MYR_ROOM_SIDE_MAX, "a rack is wrong");
    DAMAGE(d, racks[0].power_feed, d->power_count, "a rack is wrong");
    DAMAGE(d, racks[rack].cooling_loop, d->cooling_count, "a rack is wrong");
    DAMAGE(d, trays[0].from_rack, d->rack_count, "a tray leads to no rack");
    DAMAGE(d, trays[d->tray_count - 1].to_rack, d->rack_count, "a tray leads to no rack");
    DAMAGE(d, power[power].name, end, "a power or cooling chain is wrong");
    DAMAGE(d, power[power].parent, power, "a power or cooling chain is wrong"); /* itself */
    DAMAGE(d, power_more[power].parent_b, power, "a power or cooling chain is wrong");
    DAMAGE(d, cooling[cooling].name, end, "a power or cooling chain is wrong");
    DAMAGE(d, cooling[cooling].parent, cooling, "a power or cooling chain is wrong");
    DAMAGE(d, cooling_more[cooling].parent_b, cooling, "a power or cooling chain is wrong");
    DAMAGE(d, room, NULL, "the room is there in part only");
    DAMAGE(d, rack_more, NULL, "the room is there in part only");
    DAMAGE(d, rack_items, NULL, "the room is there in part only");
    DAMAGE(d, power_more, NULL, "the room is there in part only");
    DAMAGE(d, cooling_more, NULL, "the room is there in part only");
    DAMAGE(d, device_unit, NULL, "the room is there in part only");
    DAMAGE(d, cable_mm, NULL, "the room is there in part only");
    DAMAGE(d, type_loads, NULL, "the room is there in part only");
    DAMAGE(d, room_count, 2, "the room is wrong");
    DAMAGE(d, room->buildings, 0, "the room is wrong");
    DAMAGE(d, room->buildings, MYR_ROOM_BUILDINGS_MAX + 1, "the room is wrong");
    DAMAGE(d, room->place, MYR_ROOM_SHORTEST + 1, "the room is wrong");
    DAMAGE(d, room->rows, MYR_ROOM_SIDE_MAX + 1, "the room is wrong");
    DAMAGE(d, room->columns, MYR_ROOM_SIDE_MAX + 1, "the room is wrong");
    DAMAGE(d, room->building_names[0], end, "the room is wrong");
    DAMAGE(d, room->building_names[1], end, "the room is wrong");
    DAMAGE(d, rack_more[0].building, d->room->buildings, "a rack stands outside the room");
    DAMAGE(d, rack_more[rack].power_b, d->power_count, "a rack stands outside the room");
    DAMAGE(d, rack_more[0].cooling_b, d->cooling_count, "a rack stands outside the room");
    DAMAGE(d, racks[rack].row, d->room->rows, "a rack stands outside the room");
    DAMAGE(d, racks[0].column, d->room->columns, "a rack stands outside the room");
    for (uint32_t i = 0; i < d->rack_item_count; i++) {
        DAMAGE(d, rack_items[i].rack, d->rack_count, "an item stands in no rack");
        DAMAGE(d, rack_items[i].part, end, "an item stands in no rack");
    }
    assert_int_equal(myr_design_check(d, "d.myr", &err), MYR_OK);
    planned_done(&p);
}

static uint32_t *numbers(struct myr_arena *arena, uint32_t count)
{
    uint32_t *ret = MYR_ARENA_NEW(arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        ret[i] = i;
    }
    return ret;
}

/* As a design that has grown has them: ids and names apart from where things are. */
static void ids_and_names_are_nobody_elses(void **state)
{
    (void)state;
    static const char twice[] = "an id is given twice or lies outside";
    static const char order[] = "its names are in disorder";
    struct planned p;
    struct myr_err err = {};
    plan_shape(&p, shape_named("clos"));
    struct myr_design *d = &p.design;
    uint32_t last = d->device_count - 1, leaf = d->networks[MYR_NET_COMPUTE].first_leaf;
    d->device_id = numbers(&p.arena, d->device_count);
    d->port_id = numbers(&p.arena, d->port_count);
    d->link_id = numbers(&p.arena, d->link_count);
    d->cable_id = numbers(&p.arena, d->cable_count);
    d->by_name = numbers(&p.arena, d->device_count);
    d->named = MYR_ARENA_NEW(&p.arena, struct myr_place, d->device_count);
    memcpy(d->named, d->place, d->device_count * sizeof(*d->named));
    assert_int_equal(myr_design_check(d, "d.myr", &err), MYR_OK);
    DAMAGE(d, device_id[0], 1, twice);
    DAMAGE(d, port_id[d->port_count - 1], 0, twice);
    DAMAGE(d, link_id[1], 0, twice);
    DAMAGE(d, cable_id[0], MYR_NONE, twice);
    DAMAGE(d, cable_id[0], MYR_NONE - 1, twice);
    /* A design that shrank has few of many ids: eight times as many, and a thousand. */
    uint32_t most = 8 * d->device_count + 1024;
    DAMAGE(d, device_id[last], most, twice);
    d->device_id[last] = most - 1;
    assert_int_equal(myr_design_check(d, "d.myr", &err), MYR_OK);
    DAMAGE(d, named, NULL, order);
    DAMAGE(d, by_name, NULL, order);
    DAMAGE(d, named[0].kind, MYR_DEVICE_STORAGE, order);
    DAMAGE(d, named[leaf].net, MYR_NET_OOB, order);
    DAMAGE(d, named[leaf].style, d->named[leaf].style + 1, order);
    DAMAGE(d, named[leaf].plane, d->named[leaf].plane == MYR_PLANE_NONE ? 0 : MYR_PLANE_NONE,
           order);
    struct myr_place second = d->named[1];
    d->named[1] = d->named[0];
    assert_refused(d, "two of one name", order);
    d->named[1] = second;
    DAMAGE(d, by_name[last], d->device_count, order);
    DAMAGE(d, by_name[0], leaf, order);
    DAMAGE(d, by_name[1], 0, order);
    d->named = NULL;
    d->by_name = NULL; /* neither is fine */
    assert_int_equal(myr_design_check(d, "d.myr", &err), MYR_OK);
    planned_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_lie_inside),
        cmocka_unit_test(types_are_whole),
        cmocka_unit_test(devices_and_ports_know_each_other),
        cmocka_unit_test(cables_and_links_know_each_other),
        cmocka_unit_test(rows_of_devices_are_where_they_are_said_to_be),
        cmocka_unit_test(tiers_fit_together),
        cmocka_unit_test(grids_and_groups_fit_together),
        cmocka_unit_test(failure_domains_name_devices),
        cmocka_unit_test(figures_can_be_printed),
        cmocka_unit_test(everything_stands_in_the_room),
        cmocka_unit_test(ids_and_names_are_nobody_elses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
