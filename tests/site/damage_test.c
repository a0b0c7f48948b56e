/*
 * A design with one wrong field is refused, whatever the field: later code follows indices without
 * looking. Each row changes one field of a good design and says what the complaint must be about.
 */
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
