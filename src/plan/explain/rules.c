#include "explain/rules.h"

#include <stddef.h>
#include <string.h>

/*
 * One row a number of the plan's tree that has no rule of its own in the design. The first row that
 * fits counts, so a particular one stands before one with '*' in its place.
 */
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
    /* Of one network: it is one dot away from its own numbers, two from those of its objects. */
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
    /* Of storage; its wishes are figures with rules of their own. */
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
    /* Of a line of the bill, whose quantity has its own rule in the design. */
    {"bom.*.unit_price", "the spec's own price, else the price list's, else the book's",
     ".price_note"},
    {"bom.*.total", "quantity * unit price", ".quantity .unit_price"},
    {"bom.*.estimate_low", "the line at the lowest that is stated or assumed of its price",
     ".quantity .price_note"},
    {"bom.*.estimate", "the line's total; without a price quantity * an estimate of one by a rule",
     ".quantity .price_note"},
    {"bom.*.estimate_high", "the line at the highest that is stated or assumed of its price",
     ".quantity .price_note"},
    {"bom.*.lead_weeks", "of the price, from order to delivery", ""},
    {"bom.*.warranty_months", "the price's own, else the book's for what it quotes", ""},
    {"bom.*.spare_share", "what the spec orders beyond what is needed, of what is needed", ""},
    {"findings.*.message", "a rule of good practice: docs/spec.md, accept and findings",
     ".rule .where .severity .remedy"},
    /* What only a report sums up. */
    {"report.switches", "sum over the networks",
     "networks.compute.switches.total networks.storage.switches.total "
     "networks.service.switches.total networks.oob.switches.total"},
    {"report.gpus_per_server", "GPUs / servers", "gpus servers"},
    {"report.scale_up_gbps", "of the server part: what a GPU sends into its scale-up domain", ""},
    {"report.ports_per_node.compute", "host ports / nodes on the network",
     "networks.compute.host_ports networks.compute.nodes"},
    {"report.ports_per_node.storage", "host ports / nodes on the network",
     "networks.storage.host_ports networks.storage.nodes"},
    {"report.ports_per_node.service", "host ports / nodes on the network",
     "networks.service.host_ports networks.service.nodes"},
    {"report.ports_per_node.oob", "host ports / nodes on the network",
     "networks.oob.host_ports networks.oob.nodes"},
    {"report.systems.*.cost", "sum of the totals of the system's lines that have a price",
     ".system .lines"},
    {"report.storage.units", "GPUs / 256, the started one counted: units of 32 servers of 8",
     "gpus .unit_servers"},
    {"report.storage.unit_servers", "of the published classes: what their rates are for", ""},
    {"report.storage.*.read_gbytes_per_s", "rate of a published class for one unit * units",
     ".read_of_one_unit ..units"},
    {"report.storage.*.write_gbytes_per_s", "rate of a published class for one unit * units",
     ".write_of_one_unit ..units"},
    {"report.storage.*.*", "of the published class", ""},
    {"report.drawn.*.links_of_a_pair.*",
     "counted: links between two switches, each number that occurs", ""},
    {"report.drawn.*.hosts_of_a_leaf.*", "counted: hosts on a leaf, each number that occurs", ""},
    {"report.drawn.*.host_ports_of_a_leaf.*",
     "counted: ports of hosts on a leaf, each number that occurs", ""},
    {"report.drawn.*.nodes_of_a_pod.*",
     "rail groups of a pod * nodes of a full one; the last pod takes what is left", ""},
    {"report.inside.link_gbps.*", "of the server part: links inside a node, each rate once", ""},
    {"report.inside.nodes_of_a_server", "of the server part: operating-system instances", ""},
    {"report.inside.*", "counted: parts of a node, of the server part", ""},
    /* Names of racks and devices may have dots, hence '%'. */
    {"racks.%.devices", "counted: what stands in the rack; racks.csv lists it", ""},
    {"racks.%.kw", "sum of what stands in the rack, at the most; racks.csv lists it", ""},
    {"racks.%.kw_limit", "what the rack may draw: the room's, dealt out anew where mixed", ""},
    {"racks.%.units", "sum of the height units of what stands in the rack; racks.csv lists it", ""},
    {"racks.%.units_limit", "of the rack", ""},
    {"racks.%.kg", "sum of the weights of what stands in the rack; racks.csv lists it", ""},
    {"devices.%.ports.*.used", "counted: ports of the group that carry a link", ".count"},
    {"devices.%.ports.*.count", "ports that the part has for this use", ""},
    {"devices.%.ports.*.gbps", "speed of the port's links", ""},
    {"devices.%.links_up", "counted: links of the switch to those above it", ""},
    {"devices.%.most_to_one", "counted: the most of them that go to one switch", ".links_up"},
    {"devices.%.hosts.*", "counted: what hangs on the switch, over its cables", ""},
    /* Of the phase after this one (grow/phase.c). */
    {"next.*.now", "of this phase", ""},
    {"next.*.then", "of the spec of the next phase", ""},
    {"next.*.more", "then - now", ".then .now"},
    {"next.networks.*.*.now", "counted: switches of this phase", ""},
    {"next.networks.*.*.then", "counted: switches of the next phase, sized like those of a plan",
     ""},
    {"next.networks.*.*.more", "then - now", ".then .now"},
    {"next.lines.*.now", "quantity in the bill of this phase", ".part"},
    {"next.lines.*.then", "quantity in the bill of the larger cluster", ".part"},
    {"next.lines.*.quantity",
     "then - now; all of them where their number stays and a price for all goes by size",
     ".name .part .then .now"},
    {"next.lines.*.unit_price",
     "price of one in the larger bill; less that of this one where only the price changes",
     ".part .total_then .then"},
    {"next.lines.*.total", "the line's total in the larger bill - its total in this one",
     ".part .total_then .total_now"},
    {"next.lines.*.total_now", "the line's total in the bill of this phase", ".part .now"},
    {"next.lines.*.total_then", "the line's total in the bill of the larger cluster",
     ".part .then"},
    {"next.cost", "sum of the totals of what is bought; what is left over brings nothing back",
     ".unpriced_lines"},
    {"next.cost_of_both", "sum of the larger cluster's bill", ".unpriced_lines"},
    {"next.unpriced_lines", "counted: lines to buy without a price", ""},
    {"next.installed_cables", "counted: cables of this phase", "totals.cables"},
    {"next.moved_cables", "counted: cables of this phase of which an end goes elsewhere",
     ".installed_cables"},
    {"next.moved_at_least", "moved cables less those of which it is not proved that they must move",
     ".moved_cables"},
    {"next.ahead.switches", "counted: upper switches to which cables of this phase will move",
     "next.moved_cables"},
    {"next.ahead.extra_now", "switches bought ahead * their price", ".switches"},
    {"next.ahead.cost_now", "cost of this phase + what is bought ahead", "totals.cost .extra_now"},
    {"next.ahead.moves_avoided",
     "counted: moved cables whose lower end stays: they go to their last place at once",
     "next.moved_cables"},
    /* Sums over the whole plan; some repeat a figure under a shorter name. */
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
    {"totals.facility_power_kw", "IT power * PUE at full load", ".it_power_kw power.full_load_pue"},
    {"totals.pue", "as power.pue.value", "power.pue.value"},
    {"totals.energy_mwh_per_year", "IT power * PUE * 8,760 h * load",
     ".it_power_kw .pue power.load"},
    {"totals.energy_cost_per_year", "kWh of a year * tariff",
     ".energy_mwh_per_year power.energy.tariff_per_kwh"},
    {"totals.carbon_t_per_year", "MWh * grid factor * (1 - green share)",
     ".energy_mwh_per_year power.carbon.grid_kg_per_kwh power.carbon.green_share"},
};

/*
 * Word by word: '*' takes any one of them, '%' a name, which may have dots. A name is taken as
 * short as possible at first, then longer, until the rest of the pattern fits.
 */
static bool fits(const char *pattern, const char *path)
{
    while (*pattern && *path) {
        if (*pattern == '%') {
            for (const char *rest = path + 1; *rest; rest++) {
                if (fits(pattern + 1, rest)) {
                    return true;
                }
            }
            return false;
        }
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

/* In the order of the rows. */
const struct explain_rule *explain_rule_of(const char *path)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (fits(rows[i].path, path)) {
            return &rows[i];
        }
    }
    return NULL;
}

bool explain_rule_is_money(const struct explain_rule *rule)
{
    static const char *const sums[] = {
        "bom.*.estimate_low",         "bom.*.estimate",      "bom.*.estimate_high",
        "bom.*.unit_price",           "bom.*.total",         "report.systems.*.cost",
        "next.lines.*.unit_price",    "next.lines.*.total",  "next.lines.*.total_now",
        "next.lines.*.total_then",    "next.cost",           "next.cost_of_both",
        "next.ahead.extra_now",       "next.ahead.cost_now", "totals.cost",
        "totals.energy_cost_per_year"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(sums); i++) {
        if (strcmp(rule->path, sums[i]) == 0) {
            return true;
        }
    }
    return false;
}
