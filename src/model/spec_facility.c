/* The facility of a spec: one table a section, all of them into one struct. */
#include "fields.h"
#include "spec_parts.h"

/* The first of the enum is "not said"; a spec has no reason to write it. */
const char *const myr_cooling_names[MYR_COOLING_COUNT] = {"by-rack", "air", "cold-plate",
                                                          "immersion"};
const char *const myr_overhead_names[MYR_OVERHEAD_COUNT] = {"fans", "pumps",       "chiller",
                                                            "ups",  "transformer", "lighting"};

const char *const myr_climate_names[MYR_CLIMATE_COUNT] = {"any", "1A", "2A", "3A", "3C",
                                                          "4A",  "5A", "5B", "6B", "7"};
const char *const myr_air_plant_names[MYR_AIR_PLANT_COUNT] = {"by-climate", "economizer", "tower",
                                                              "chiller"};

/* In the order of their enums. "default" is what a spec need not say. */
static const char *const ups_names[] = {"default", "none", "n", "n+1", "2n"};
static const char *const supply_names[] = {"ac", "hvdc"};
static const char *const coolant_names[] = {"water", "glycol-25"};
static const char *const cdu_names[] = {"row", "room"};

/* All tables have rows of one struct; the sections only group its keys for people. */
#define F struct myr_spec_facility

/* What stands in the section itself; ranges are wide, for wishes are judged by the planner. */
static const struct field plain_fields[] = {
    FIELD_ROW_CHOICE("cooling", F, cooling, myr_cooling_names),
    FIELD_ROW_BOOL("bill", F, bill),
    FIELD_ROW_DOUBLE("it_kw", F, it_kw, 0.001, 1e8),
    FIELD_ROW_DOUBLE("load", F, load, 0.01, 1),
    FIELD_ROW_DOUBLE("heat_reuse", F, heat_reuse, 0, 1),
    FIELD_ROW_DOUBLE("pue_max", F, pue_max, 1, 5),
    FIELD_ROW_DOUBLE("power_kw_max", F, power_kw_max, 0.001, 1e9),
};

/* Shares of IT power: 2 is far beyond any cooling, and percent by mistake is found out below. */
static const struct field overhead_fields[] = {
    FIELD_ROW_DOUBLE("fans", F, overheads[MYR_OVERHEAD_FANS], 0, 2),
    FIELD_ROW_DOUBLE("pumps", F, overheads[MYR_OVERHEAD_PUMPS], 0, 2),
    FIELD_ROW_DOUBLE("chiller", F, overheads[MYR_OVERHEAD_CHILLER], 0, 2),
    FIELD_ROW_DOUBLE("ups", F, overheads[MYR_OVERHEAD_UPS], 0, 2),
    FIELD_ROW_DOUBLE("transformer", F, overheads[MYR_OVERHEAD_TRANSFORMER], 0, 2),
    FIELD_ROW_DOUBLE("lighting", F, overheads[MYR_OVERHEAD_LIGHTING], 0, 2),
};

/* Cooling plant for a kW of IT, in the currency of the tariff. */
static const struct field price_fields[] = {
    FIELD_ROW_DOUBLE("air", F, cooling_price[MYR_COOLING_AIR], 0, 1e6),
    FIELD_ROW_DOUBLE("cold-plate", F, cooling_price[MYR_COOLING_COLD_PLATE], 0, 1e6),
    FIELD_ROW_DOUBLE("immersion", F, cooling_price[MYR_COOLING_IMMERSION], 0, 1e6),
};

/* IT power by the rule of one GPU: its limit, its part of the host, a share for all else. */
static const struct field gpu_fields[] = {
    FIELD_ROW_DOUBLE("gpu_w", F, gpu_w, 1, 1e5),
    FIELD_ROW_DOUBLE("host_w", F, host_w, 0, 1e5),
    FIELD_ROW_DOUBLE("other_share", F, other_share, 0, 2),
};

/* The exchange is of the bill's currency for one of the tariff's. */
static const struct field energy_fields[] = {
    FIELD_ROW_DOUBLE("tariff_per_kwh", F, tariff, 0, 1000),
    FIELD_ROW_TEXT("currency", F, currency),
    FIELD_ROW_DOUBLE("exchange", F, exchange, 1e-6, 1e6),
    FIELD_ROW_DOUBLE("grid_kg_per_kwh", F, grid_kg, 0, 10),
    FIELD_ROW_DOUBLE("green_share", F, green_share, 0, 1),
    FIELD_ROW_DOUBLE("years", F, years, 1, 30),
};

/* The share of the heat that liquid takes, and what pipes are sized by. */
static const struct field liquid_fields[] = {
    FIELD_ROW_DOUBLE("share", F, liquid_share, 0.01, 1),
    FIELD_ROW_DOUBLE("delta_k", F, liquid_k, 1, 60),
    FIELD_ROW_CHOICE("coolant", F, coolant, coolant_names),
    FIELD_ROW_DOUBLE("pipe_m", F, pipe_m, 1, 10000),
    FIELD_ROW_DOUBLE("head_kpa", F, head_kpa, 1, 10000),
};

/* Warming of the air, the most that it takes from one rack; its plant, and the climate outside. */
static const struct field air_fields[] = {
    FIELD_ROW_CHOICE("climate", F, climate, myr_climate_names),
    FIELD_ROW_CHOICE("plant", F, air_plant, myr_air_plant_names),
    FIELD_ROW_DOUBLE("delta_k", F, air_k, 1, 60),
    FIELD_ROW_DOUBLE("rack_kw_max", F, air_rack_kw, 1, 1000),
};

/* 'spares' is a double so that below 0 can say "not given"; check() holds it to whole numbers. */
static const struct field cdu_fields[] = {
    FIELD_ROW_DOUBLE("kw", F, cdu_kw, 1, 1e5),
    FIELD_ROW_DOUBLE("derate", F, cdu_derate, 0.1, 1),
    FIELD_ROW_DOUBLE("spares", F, cdu_spares, 0, 100),
    FIELD_ROW_CHOICE("per", F, cdu_per, cdu_names),
};

/* n modules carry IT, n+1 has one more, 2n all twice; 'modules' is a number that somebody has. */
static const struct field ups_fields[] = {
    FIELD_ROW_CHOICE("kind", F, ups, ups_names),
    FIELD_ROW_DOUBLE("module_kw", F, ups_module_kw, 1, 1e5),
    FIELD_ROW_U32("modules", F, ups_modules, 1, 100000),
    FIELD_ROW_DOUBLE("minutes", F, ups_minutes, 0, 1440),
};

/* 'continuous' is the share of a rating that may flow for hours. */
static const struct field supply_fields[] = {
    FIELD_ROW_CHOICE("kind", F, supply, supply_names),
    FIELD_ROW_DOUBLE("volts", F, volts, 48, 1500),
    FIELD_ROW_DOUBLE("power_factor", F, power_factor, 0.5, 1),
    FIELD_ROW_DOUBLE("continuous", F, continuous, 0.1, 1),
    FIELD_ROW_DOUBLE("breaker_a", F, breaker_a, 1, 10000),
    FIELD_ROW_DOUBLE("busway_a", F, busway_a, 1, 100000),
};

/* What a line of racks shares. */
static const struct field pool_fields[] = {FIELD_ROW_DOUBLE("kw", F, pool_kw, 0.1, 1e6)};

/* What a square metre bears, and an empty rack weighs. */
static const struct field floor_fields[] = {
    FIELD_ROW_DOUBLE("kg_per_m2", F, floor_kg, 1, 1e5),
    FIELD_ROW_DOUBLE("rack_kg", F, rack_kg, 0, 5000),
};

/* All GPUs starting at once: from a share of idling, to a share that the supply accepts. */
static const struct field step_fields[] = {
    FIELD_ROW_DOUBLE("idle_share", F, idle_share, 0, 1),
    FIELD_ROW_DOUBLE("limit_share", F, step_share, 0.01, 1),
};

/* What one prefabricated module holds; check() asks for one of the two at least. */
static const struct field module_fields[] = {
    FIELD_ROW_U32("racks", F, module_racks, 1, 10000),
    FIELD_ROW_DOUBLE("kw", F, module_kw, 1, 1e6),
};

/* Sections as they stand in the document; some are kept in the struct for later complaints. */
struct part_nodes {
    const struct myr_doc *overheads, *prices, *per_gpu, *energy, *liquid, *air, *cdu, *ups, *supply,
        *pool, *floor, *step, *module;
};

static const struct field node_fields[] = {
    FIELD_ROW_NODE("overheads", struct part_nodes, overheads),
    FIELD_ROW_NODE("price_per_kw", struct part_nodes, prices),
    FIELD_ROW_NODE("per_gpu", struct part_nodes, per_gpu),
    FIELD_ROW_NODE("energy", struct part_nodes, energy),
    FIELD_ROW_NODE("liquid", struct part_nodes, liquid),
    FIELD_ROW_NODE("air", struct part_nodes, air),
    FIELD_ROW_NODE("cdu", struct part_nodes, cdu),
    FIELD_ROW_NODE("ups", struct part_nodes, ups),
    FIELD_ROW_NODE("supply", struct part_nodes, supply),
    FIELD_ROW_NODE("pool", struct part_nodes, pool),
    FIELD_ROW_NODE("floor", struct part_nodes, floor),
    FIELD_ROW_NODE("step", struct part_nodes, step),
    FIELD_ROW_NODE("module", struct part_nodes, module),
};

/* -1 is "not given" where 0 is an answer; elsewhere 0 is. The planner fills in class values. */
void spec_facility_defaults(struct myr_spec_facility *facility)
{
    *facility = (struct myr_spec_facility){.cdu_spares = -1,
                                           .tariff = -1,
                                           .grid_kg = -1,
                                           .green_share = -1,
                                           .host_w = -1,
                                           .other_share = -1,
                                           .idle_share = -1,
                                           .heat_reuse = -1,
                                           .ups_minutes = -1,
                                           .rack_kg = -1};
    for (uint32_t i = 0; i < MYR_OVERHEAD_COUNT; i++) {
        facility->overheads[i] = -1;
    }
    for (uint32_t i = 0; i < MYR_COOLING_COUNT; i++) {
        facility->cooling_price[i] = -1;
    }
}

/* What contradicts itself, and what is a typing error for certain. */
static int check(const struct part_nodes *nodes, const F *facility, struct myr_err *err)
{
    double sum = 0;
    for (uint32_t i = 0; i < MYR_OVERHEAD_COUNT; i++) {
        sum += facility->overheads[i] > 0 ? facility->overheads[i] : 0;
    }
    /* A PUE above 5 is percent taken for shares. */
    if (sum > 4) {
        return myr_doc_error(err, nodes->overheads, MYR_ERANGE,
                             "'overheads' add up to %g of IT, shares of IT (0.05 is 5 %%) are "
                             "expected",
                             sum);
    }
    if (facility->it_kw > 0 && nodes->per_gpu) {
        return myr_doc_error(err, nodes->per_gpu, MYR_EINVAL,
                             "give 'it_kw' or 'per_gpu', not both");
    }
    if (facility->ups == MYR_UPS_NONE && (facility->ups_modules || facility->ups_module_kw > 0)) {
        return myr_doc_error(err, nodes->ups, MYR_EINVAL,
                             "'ups' has modules and is 'none', one of the two is expected");
    }
    if (facility->cdu_spares != (double)(int)facility->cdu_spares) {
        return myr_doc_error(err, nodes->cdu, MYR_EINVAL,
                             "'spares' is %g, a whole number is expected", facility->cdu_spares);
    }
    if (nodes->module && !facility->module_racks && facility->module_kw <= 0) {
        return myr_doc_error(err, nodes->module, MYR_EINVAL,
                             "the module lacks 'racks' or 'kw': what one of them holds");
    }
    if (nodes->pool && facility->pool_kw <= 0) {
        return myr_doc_error(err, nodes->pool, MYR_EINVAL, "the pool lacks 'kw'");
    }
    return fields_currency(nodes->energy, err);
}

/* One loop over the sections that are there; all rows lie in the one struct. */
int spec_read_facility(struct myr_arena *arena, const struct myr_doc *node, F *facility,
                       struct myr_err *err)
{
    struct part_nodes nodes = {};
    const struct field_table tables[] = {
        {plain_fields, MYR_ARRAY_COUNT(plain_fields), facility},
        {node_fields, MYR_ARRAY_COUNT(node_fields), &nodes},
    };
    facility->node = node;
    MYR_TRY(fields_read(arena, node, "facility", tables, 2, err));
    const struct {
        const struct myr_doc *node;
        const char *what;
        const struct field *fields;
        uint32_t count;
    } parts[] = {
        {nodes.overheads, "overheads", overhead_fields, MYR_ARRAY_COUNT(overhead_fields)},
        {nodes.prices, "price_per_kw", price_fields, MYR_ARRAY_COUNT(price_fields)},
        {nodes.per_gpu, "per_gpu", gpu_fields, MYR_ARRAY_COUNT(gpu_fields)},
        {nodes.energy, "energy", energy_fields, MYR_ARRAY_COUNT(energy_fields)},
        {nodes.liquid, "liquid", liquid_fields, MYR_ARRAY_COUNT(liquid_fields)},
        {nodes.air, "air", air_fields, MYR_ARRAY_COUNT(air_fields)},
        {nodes.cdu, "cdu", cdu_fields, MYR_ARRAY_COUNT(cdu_fields)},
        {nodes.ups, "ups", ups_fields, MYR_ARRAY_COUNT(ups_fields)},
        {nodes.supply, "supply", supply_fields, MYR_ARRAY_COUNT(supply_fields)},
        {nodes.pool, "pool", pool_fields, MYR_ARRAY_COUNT(pool_fields)},
        {nodes.floor, "floor", floor_fields, MYR_ARRAY_COUNT(floor_fields)},
        {nodes.step, "step", step_fields, MYR_ARRAY_COUNT(step_fields)},
        {nodes.module, "module", module_fields, MYR_ARRAY_COUNT(module_fields)},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        struct field_table table = {parts[i].fields, parts[i].count, facility};
        if (parts[i].node) {
            MYR_TRY(fields_read(arena, parts[i].node, parts[i].what, &table, 1, err));
        }
    }
    /* Nodes are kept where the planner may still complain about a number. */
    facility->by_gpu = nodes.per_gpu != NULL;
    facility->ups_node = nodes.ups;
    facility->supply_node = nodes.supply;
    facility->cdu_node = nodes.cdu;
    facility->pool_node = nodes.pool;
    facility->module_node = nodes.module;
    return check(&nodes, facility, err);
}
