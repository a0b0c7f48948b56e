#include "explain/rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* One row a number of the plan's tree that has no rule of its own in the design. */
static const struct explain_rule rows[] = {
    {"version", "version of the answer's schema", ""},
    {"servers", "given by the spec; with groups their sum", ""},
    {"nodes", "servers * operating-system instances of one", "servers"},
    {"gpus", "nodes * GPUs of one, over all groups", "nodes"},
    {"scale_up_gpus", "of the server part: GPUs that reach each other without a network", ""},
    {"groups.*.servers", "given by the spec", ""},
    {"groups.*.first_node", "nodes of the groups before it", ""},
    {"groups.*.nodes", "servers * instances of one", ".servers"},
    {"groups.*.gpus_per_node", "of the server part", ""},
    {"groups.*.gpus", "nodes * GPUs of one", ".nodes .gpus_per_node"},
    {"networks.*.tiers", "the fewest tiers of switches that carry all hosts, or given",
     ".host_ports .shape.leaf_down .shape.leaf_up"},
    {"networks.*.planes", "given, or as the topology asks for", ""},
    {"networks.*.rails", "of the server part; 1 where the topology has none", ""},
    {"networks.*.nodes", "devices that hang on it", ""},
    {"networks.*.host_ports", "ports of all hosts on it, over all planes", ".nodes .planes"},
    {"networks.*.host_gbps", "the highest speed that all cards and the switch have, or given", ""},
    {"networks.*.fabric_gbps", "speed between switches: the part's, or given", ".host_gbps"},
    {"networks.*.switches.leaf",
     "ceil(host ports / ports down of a leaf), by the topology's groups",
     "..host_ports ..shape.leaf_down ..rails"},
    {"networks.*.switches.spine",
     "regular: the smallest divisor of a leaf's uplinks that carries all of them; dense: the least",
     ".leaf ..shape.leaf_up ..fill"},
    {"networks.*.switches.core", "the same rule above the spines, for each core group",
     ".spine ..shape.spine_up ..shape.core_groups"},
    {"networks.*.switches.access", "homes * ceil(nodes / ports of an access switch)",
     "..nodes ..shape.leaf_down"},
    {"networks.*.switches.aggregation", "given, or what the uplinks of all access switches need",
     ".access ..shape.leaf_up"},
    {"networks.*.switches.total", "leaf + spine + core + access + aggregation",
     ".leaf .spine .core .access .aggregation"},
    {"networks.*.cables.total", "sum over the layers", ".host_leaf .leaf_spine .spine_core"},
    {"networks.*.cables.*", "counted: cables of this layer, as published tables count them",
     "..links.total"},
    {"networks.*.links.total", "sum over the layers", ".host_leaf .leaf_spine .spine_core"},
    {"networks.*.links.*", "counted: pairs of ports of this layer", "..host_ports"},
    {"networks.*.copper_cables", "counted: cables whose part is copper", ".cables.total"},
    {"networks.*.fibres", "counted: pieces that are pulled, a label each", ".cables.total"},
    {"networks.*.oversubscription.*", "down * host speed / (up * uplink speed) of a full switch",
     "..shape.leaf_down ..shape.leaf_up"},
    {"networks.*.bisection_gbps", "the smaller of the two halvings",
     ".bisection_ports_gbps .bisection_nodes_gbps"},
    {"networks.*.bisection_ports_gbps",
     "maximum flow over the cables between halves of the host ports, the worst order",
     ".links.total"},
    {"networks.*.bisection_nodes_gbps",
     "maximum flow over the cables between the first half of the nodes and the others",
     ".nodes .links.total"},
    {"networks.*.worst_pair_gbps", "links between the two worst joined pods or leaves * speed",
     ".fabric_gbps"},
    {"networks.*.full_pair_gbps", "what an even fill gives the same pair", ".fabric_gbps"},
    {"networks.*.diameter_hops", "links between the two farthest switches with hosts", ".tiers"},
    {"networks.*.shape.dims.*", "sides of the torus: given, or as even as the switches allow", ""},
    {"networks.*.shape.leaf_down",
     "as many ports as the cages allow such that down * host speed = ratio * up * uplink speed",
     "..host_gbps ..fabric_gbps"},
    {"networks.*.shape.leaf_up", "down * host speed / (ratio * uplink speed)", ".leaf_down"},
    {"networks.*.shape.spine_down", "ports of a spine towards leaves, used at most", ".pod_leaves"},
    {"networks.*.shape.spine_up", "ports of a spine towards cores", ".spine_down"},
    {"networks.*.shape.pods", "ceil(leaves / leaves of a pod)", "..switches.leaf .pod_leaves"},
    {"networks.*.shape.pod_leaves", "the smallest multiple of the rails that works, or given",
     "..rails"},
    {"networks.*.shape.pod_spines", "the smallest divisor of a leaf's uplinks whose ports suffice",
     ".leaf_up .pod_leaves"},
    {"networks.*.shape.core_groups", "one for each spine of a pod", ".pod_spines"},
    {"networks.*.shape.group_cores",
     "regular: the smallest divisor of a spine's uplinks that is at least ceil(pods * uplinks / "
     "radix)",
     ".pods .spine_up"},
    {"networks.*.shape.groups", "ceil(hosts / hosts of a group)",
     ".group_switches .hosts_per_switch"},
    {"networks.*.shape.group_switches", "of a dragonfly's group: given, or by the radix", ""},
    {"networks.*.shape.hosts_per_switch", "given, or by the radix", ""},
    {"storage.servers", "the largest of what each wish needs, or given",
     ".needs.by_capacity .needs.by_rate .needs.by_iops .needs.by_metadata .needs.by_files "
     ".needs.by_checkpoint"},
    {"storage.raw_tb", "servers * disks * disk size", ".servers"},
    {"storage.usable_tb", "raw * data / stored", ".raw_tb"},
    {"room.buildings", "given by the room", ""},
    {"room.rows", "given, or 20", ""},
    {"room.columns", "given, or as many as it must be", ""},
    {"room.racks", "rows * columns of all buildings", ".rows .columns .buildings"},
    {"room.racks_used", "counted: racks in which something stands", ".racks"},
    {"room.racks_mixed_power", "counted: racks whose power was dealt out anew in pairs", ""},
    {"room.kw", "sum of what stands in all racks, at the most", ""},
    {"room.kw_limit", "sum of what all racks may draw", ".racks"},
    {"room.cable_m", "sum over all cables: tray path, drops and slack", ""},
    {"room.fibre_m", "the same of cables that are optical", ".cable_m"},
    {"room.lower_bound_m", "what no placement can go below: docs/planning.md, Room and racks", ""},
    {"room.over_bound", "cable length / lower bound - 1", ".cable_m .lower_bound_m"},
    {"room.longest_m", "the longest of all routes", ""},
    {"room.tray_fill", "cables * pi / 4 * diameter^2 / area of the fullest tray", ""},
    {"room.pdus", "counted: power strips that hang on oob", ""},
    {"room.cdus", "counted: coolant distribution units that hang on oob", ""},
    {"room.trunks", "ceil(cables between two columns / cables of a trunk), summed up", ""},
    {"room.patch_panels", "ceil(trunk ends * cables / ports of a panel)", ".trunks"},
    {"room.power.*.kw", "given by the room", ""},
    {"room.power.*.kw_used", "all that hangs on it when what stands beside it has failed", ""},
    {"room.cooling.*.kw", "given by the room", ""},
    {"room.cooling.*.kw_used", "all that hangs on it when what stands beside it has failed", ""},
    {"bom.*.unit_price", "the spec's own price, else the price list's, else the book's", ""},
    {"bom.*.total", "quantity * unit price", ".quantity .unit_price"},
    {"bom.*.warranty_months", "the price's own, else the book's for what it quotes", ""},
    {"bom.*.spare_share", "what the spec orders beyond what is needed, of what is needed", ""},
    {"totals.cost", "sum of the bill's totals; lines without a price are not in it",
     ".unpriced_lines"},
    {"totals.unpriced_lines", "counted: lines of the bill without a price", ""},
    {"totals.devices", "nodes, storage servers, management nodes, managers and switches", "nodes"},
    {"totals.ports", "counted: ports of all devices", ".devices"},
    {"totals.links", "counted: pairs of ports", ".ports"},
    {"totals.cables", "sum over the networks", ""},
    {"totals.fibres", "sum over the networks", ""},
    {"totals.bytes_per_cable", "bytes of ports, links and cables in memory / cables", ".cables"},
    {"totals.racks", "as power.racks.count", "power.racks.count"},
    {"totals.it_power_kw", "as power.it.kw", "power.it.kw"},
    {"totals.facility_power_kw", "IT power * PUE", ".it_power_kw .pue"},
    {"totals.pue", "as power.pue.value", "power.pue.value"},
    {"totals.energy_mwh_per_year", "facility * 8,760 h * load", ".facility_power_kw power.load"},
    {"totals.energy_cost_per_year", "kWh of a year * tariff",
     ".energy_mwh_per_year power.energy.tariff_per_kwh"},
    {"totals.carbon_t_per_year", "MWh * grid factor * (1 - green share)",
     ".energy_mwh_per_year power.carbon.grid_kg_per_kwh power.carbon.green_share"},
};

/* Word by word; '*' takes any one. */
static bool fits(const char *pattern, const char *path)
{
    while (*pattern && *path) {
        if (*pattern == '*') {
            pattern++;
            while (*path && *path != '.') {
                path++;
            }
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return !*pattern && !*path;
}

const struct explain_rule *explain_rule_of(const char *path)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (fits(rows[i].path, path)) {
            return &rows[i];
        }
    }
    return NULL;
}
