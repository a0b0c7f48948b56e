#include "figures/figures.h"
#include "myriad/model/stretch.h"
#include "plan_internal.h"

/*
 * The plan as a tree for programs: all of it from the finished design. Keys are the same for every
 * plan: what a plan does not have is null or 0, never absent, so that programs need not ask first.
 * Rules about numbers are explained by the same paths (explain/).
 */

/* By enum myr_fill. */
static const char *const fill_names[] = {"default", "regular", "dense"};

/* A negative price is none; what has none is never free. */
static void put_cents(struct myr_answer *answer, const char *key, int64_t cents)
{
    if (cents < 0) {
        myr_answer_null(answer, key);
    } else if (cents % 100 == 0) {
        myr_answer_i64(answer, key, cents / 100);
    } else {
        myr_answer_double(answer, key, (double)cents / 100, 2);
    }
}

/*
 * All layers are there in every answer, with 0 where a topology has none: programs find the same
 * keys.
 */
static void put_layers(struct myr_answer *answer, const char *key, const uint32_t *counts)
{
    uint64_t total = 0;
    myr_answer_object(answer, key);
    for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
        total += counts[layer];
        myr_answer_u64(answer, myr_layer_names[layer], counts[layer]);
    }
    myr_answer_u64(answer, "total", total);
    myr_answer_end(answer);
}

/* Zero where a number has no meaning in this topology. */
static void put_shape(struct myr_answer *answer, const struct myr_network *net)
{
    myr_answer_object(answer, "shape");
    myr_answer_u64(answer, "leaf_down", net->leaf_down);
    myr_answer_u64(answer, "leaf_up", net->leaf_up);
    myr_answer_u64(answer, "spine_down", net->spine_down);
    myr_answer_u64(answer, "spine_up", net->spine_up);
    myr_answer_u64(answer, "pods", net->pods);
    myr_answer_u64(answer, "pod_leaves", net->pod_leaves);
    myr_answer_u64(answer, "pod_spines", net->pod_spines);
    myr_answer_u64(answer, "core_groups", net->core_groups);
    myr_answer_u64(answer, "group_cores", net->group_cores);
    myr_answer_u64(answer, "groups", net->groups);
    myr_answer_u64(answer, "group_switches", net->group_switches);
    myr_answer_u64(answer, "hosts_per_switch", net->hosts_per_switch);
    myr_answer_list(answer, "dims");
    for (uint32_t i = 0; i < net->dim_count; i++) {
        myr_answer_u64(answer, NULL, net->dims[i]);
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}

static void put_switches(struct myr_answer *answer, const struct myr_network *net)
{
    myr_answer_object(answer, "switches");
    myr_answer_u64(answer, "leaf", net->leaf);
    myr_answer_u64(answer, "spine", net->spine);
    myr_answer_u64(answer, "core", net->core);
    myr_answer_u64(answer, "access", net->access);
    myr_answer_u64(answer, "aggregation", net->aggregation);
    myr_answer_u64(answer, "total",
                   net->leaf + net->spine + net->core + net->access + net->aggregation);
    myr_answer_end(answer);
}

/* Null in designs of older programs, which have the worse one of them alone. */
static void put_halves(struct myr_answer *answer, const struct myr_design *design, uint32_t id)
{
    if (id < design->bisection_count) {
        myr_answer_u64(answer, "bisection_ports_gbps", design->bisections[id].ports_gbps);
        myr_answer_u64(answer, "bisection_nodes_gbps", design->bisections[id].nodes_gbps);
    } else {
        myr_answer_null(answer, "bisection_ports_gbps");
        myr_answer_null(answer, "bisection_nodes_gbps");
    }
}

/* Null where the plan has no such network, so that the key is always there. */
static void put_network(struct myr_answer *answer, const struct myr_design *design, uint32_t id)
{
    const struct myr_network *net = &design->networks[id];
    const char *name = myr_net_names[id];
    if (!net->topology) {
        myr_answer_null(answer, name);
        return;
    }
    myr_answer_object(answer, name);
    myr_answer_text(answer, "topology", myr_topology_name((enum myr_topology)net->topology));
    myr_answer_text(answer, "fill", fill_names[net->fill]);
    myr_answer_u64(answer, "tiers", net->tiers);
    myr_answer_u64(answer, "planes", net->planes);
    myr_answer_u64(answer, "rails", net->rails);
    myr_answer_u64(answer, "nodes", net->nodes_on_it);
    myr_answer_u64(answer, "host_ports", net->host_ports);
    myr_answer_u64(answer, "host_gbps", net->host_gbps);
    myr_answer_u64(answer, "fabric_gbps", net->fabric_gbps);
    put_switches(answer, net);
    put_layers(answer, "cables", net->cables);
    put_layers(answer, "links", net->links);
    myr_answer_u64(answer, "copper_cables", net->copper_cables);
    myr_answer_u64(answer, "fibres", net->fibres);
    myr_answer_list(answer, "oversubscription");
    /* Between two tiers each: a network of one tier has an empty list. */
    for (uint32_t i = 0; i + 1 < net->tiers; i++) {
        myr_answer_double(answer, NULL, net->oversubscription_milli[i] / 1000.0, 3);
    }
    myr_answer_end(answer);
    myr_answer_u64(answer, "bisection_gbps", net->bisection_gbps);
    put_halves(answer, design, id);
    myr_answer_u64(answer, "worst_pair_gbps", net->worst_pair_gbps);
    myr_answer_u64(answer, "full_pair_gbps", net->full_pair_gbps);
    myr_answer_u64(answer, "diameter_hops", net->diameter_hops);
    put_shape(answer, net);
    myr_answer_end(answer);
}

/* Null in designs of older programs, and where nobody has said. */
static void put_more(struct myr_answer *answer, const struct myr_design *design, uint32_t line)
{
    const struct myr_bom_more *more = design->bom_more ? &design->bom_more[line] : NULL;
    myr_answer_text(answer, "specification",
                    more ? myr_design_str(design, more->specification) : NULL);
    if (more && more->warranty_months) {
        myr_answer_u64(answer, "warranty_months", more->warranty_months);
    } else {
        myr_answer_null(answer, "warranty_months");
    }
    if (more) {
        /* 0 is a share, so only a design without the section has null. */
        myr_answer_double(answer, "spare_share", more->spare_permille / 1000.0, 3);
    } else {
        myr_answer_null(answer, "spare_share");
    }
}

/* What the line costs where nobody has said, and how far a price may be off. */
static void put_price(struct myr_answer *answer, const struct myr_design *design, uint32_t line)
{
    const struct myr_bom_price *price = design->bom_price ? &design->bom_price[line] : NULL;
    bool known = price && price->basis != MYR_PRICE_NONE;
    myr_answer_text(answer, "basis", price ? myr_price_basis_names[price->basis] : NULL);
    put_cents(answer, "estimate_low", known ? price->low_cents : -1);
    put_cents(answer, "estimate", known ? price->cents : -1);
    put_cents(answer, "estimate_high", known ? price->high_cents : -1);
    if (known && price->lead_weeks) {
        myr_answer_u64(answer, "lead_weeks", price->lead_weeks);
    } else {
        myr_answer_null(answer, "lead_weeks");
    }
}

/* Returns the list, which the caller may show as a table. */
static const struct myr_value *put_bom(struct myr_answer *answer, const struct myr_design *design)
{
    const struct myr_value *bom = myr_answer_list(answer, "bom");
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "system", myr_design_str(design, row->system));
        myr_answer_text(answer, "name", myr_design_str(design, row->name));
        myr_answer_text(answer, "part", myr_design_str(design, row->part));
        myr_answer_u64(answer, "quantity", row->quantity);
        put_cents(answer, "unit_price", row->unit_cents);
        /* Without a price the total is not known either, whatever the row holds. */
        put_cents(answer, "total", row->unit_cents < 0 ? -1 : row->total_cents);
        myr_answer_text(answer, "rule", myr_design_str(design, row->rule));
        myr_answer_text(answer, "inputs", myr_design_str(design, row->inputs));
        myr_answer_text(answer, "price_note", myr_design_str(design, row->price_note));
        put_more(answer, design, i);
        put_price(answer, design, i);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return bom;
}

/* Accepted ones too, marked as such. */
static void put_findings(struct myr_answer *answer, const struct myr_design *design)
{
    myr_answer_list(answer, "findings");
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "severity", plan_severity_names[finding->severity]);
        myr_answer_text(answer, "rule", myr_design_str(design, finding->rule));
        myr_answer_text(answer, "where", myr_design_str(design, finding->where));
        myr_answer_text(answer, "message", myr_design_str(design, finding->message));
        myr_answer_text(answer, "remedy", myr_design_str(design, finding->remedy));
        myr_answer_bool(answer, "accepted", finding->accepted);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

static void put_storage(struct myr_answer *answer, const struct myr_design *design)
{
    const struct myr_design_head *head = design->head;
    if (!head->storage_servers) {
        myr_answer_null(answer, "storage");
        return;
    }
    myr_answer_object(answer, "storage");
    myr_answer_u64(answer, "servers", head->storage_servers);
    myr_answer_double(answer, "raw_tb", myr_plan_raw_tb(head), 3);
    myr_answer_double(answer, "usable_tb", myr_plan_usable_tb(head), 3);
    /* Below the object that is open, so one word of the paths is skipped. */
    plan_figures_tree(design, answer, FIG_ST_CAPACITY, FIG_ST_OBJECT_READ, 1);
    myr_answer_end(answer);
}

/* Links and ports are counted in arrays, cables as published tables do: see count_layers(). */
static void put_totals(struct myr_answer *answer, const struct myr_design *design)
{
    uint32_t unpriced = 0;
    uint64_t cables = 0, fibres = 0;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &design->networks[id];
        fibres += net->fibres;
        for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
            cables += net->cables[layer];
        }
    }
    for (uint32_t i = 0; i < design->bom_count; i++) {
        unpriced += design->bom[i].unit_cents < 0;
    }
    myr_answer_object(answer, "totals");
    /* A sum of nothing is no price. */
    bool unknown = unpriced == design->bom_count;
    put_cents(answer, "cost", unknown ? -1 : design->head->total_cents);
    myr_answer_text(answer, "currency", myr_design_str(design, design->head->currency));
    myr_answer_u64(answer, "unpriced_lines", unpriced);
    plan_figures_tree(design, answer, FIG_PRICED_LINES, FIG_PRICED_LEAD, 1);
    myr_answer_u64(answer, "devices", design->device_count);
    myr_answer_u64(answer, "ports", design->port_count);
    myr_answer_u64(answer, "links", design->link_count);
    myr_answer_u64(answer, "cables", cables);
    myr_answer_u64(answer, "fibres", fibres);
    plan_figure_put(design, answer, "racks", FIG_RACKS);
    plan_figure_put(design, answer, "it_power_kw", FIG_IT);
    plan_figure_put(design, answer, "facility_power_kw", FIG_FACILITY);
    plan_figure_put(design, answer, "pue", FIG_PUE);
    plan_figure_put(design, answer, "energy_mwh_per_year", FIG_MWH);
    plan_figure_put(design, answer, "energy_cost_per_year", FIG_ENERGY_COST);
    plan_figure_put(design, answer, "energy_currency", FIG_ENERGY_CURRENCY);
    plan_figure_put(design, answer, "carbon_t_per_year", FIG_CARBON);
    myr_answer_double(answer, "bytes_per_cable", myr_design_bytes_per_cable(design), 1);
    myr_answer_end(answer);
}

static void put_group(struct myr_answer *answer, const struct myr_design *design,
                      const struct myr_server_group *group, struct myr_node_stretch stretch)
{
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "name", myr_design_str(design, group->name));
    myr_answer_text(answer, "server", myr_design_str(design, group->server_part));
    myr_answer_text(answer, "gpu", myr_design_str(design, group->gpu_part));
    myr_answer_u64(answer, "servers", myr_stretch_servers(group, stretch));
    myr_answer_u64(answer, "first_node", stretch.number);
    myr_answer_u64(answer, "nodes", stretch.count);
    myr_answer_u64(answer, "gpus_per_node", group->gpus_per_node);
    myr_answer_u64(answer, "gpus", (uint64_t)stretch.count * group->gpus_per_node);
    myr_answer_list(answer, "networks");
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        /* A group may be on networks that the spec does not have. */
        if (group->networks & 1U << net && design->networks[net].topology) {
            myr_answer_text(answer, NULL, myr_net_names[net]);
        }
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}

/*
 * An empty list where all servers are of one kind; a group once for each stretch of its nodes, as
 * they are called.
 */
static void put_groups(struct myr_answer *answer, const struct myr_design *design)
{
    myr_answer_list(answer, "groups");
    for (uint32_t i = 0; i < design->group_count; i++) {
        const struct myr_server_group *group = &design->groups[i];
        for (uint32_t at = 0; at < group->nodes;) {
            struct myr_node_stretch stretch =
                myr_design_node_stretch(design, group->first_node + at, group->nodes - at);
            put_group(answer, design, group, stretch);
            at += stretch.count;
        }
    }
    myr_answer_end(answer);
}

/* Returns the bill of materials, of which the caller may make a table. */
const struct myr_value *myr_plan_answer(const struct myr_design *design, struct myr_answer *answer)
{
    const struct myr_design_head *head = design->head;
    myr_answer_text(answer, "name", myr_design_str(design, head->name));
    myr_answer_u64(answer, "servers", head->servers);
    myr_answer_u64(answer, "nodes", head->nodes);
    myr_answer_u64(answer, "gpus", head->gpus);
    myr_answer_text(answer, "server", myr_design_str(design, head->server_part));
    myr_answer_u64(answer, "scale_up_gpus", head->scale_up_gpus);
    put_groups(answer, design);
    myr_answer_object(answer, "networks");
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        put_network(answer, design, id);
    }
    myr_answer_end(answer);
    put_storage(answer, design);
    plan_room_answer(design, answer);
    /* Power, then cooling: in the table they are neighbours, but each is an object of its own. */
    plan_figures_tree(design, answer, FIG_IT_SERVERS, FIG_FLOOR_LIMIT, 0);
    plan_figures_tree(design, answer, FIG_COOLING, FIG_WITH_IMMERSION_FITS, 0);
    plan_figures_tree(design, answer, FIG_SPARE_WEEKS, FIG_SPARE_DISK, 0);
    const struct myr_value *bom = put_bom(answer, design);
    put_totals(answer, design);
    put_findings(answer, design);
    plan_figures_list(design, answer);
    return bom;
}
