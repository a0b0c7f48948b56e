/* What a spec wants to have optimised. */
#include "fields.h"
#include "spec_parts.h"

/* In the order of their enums. */
const char *const myr_choice_names[MYR_CHOICE_COUNT] = {
    "switch", "topology", "tiers", "fill", "oversubscription", "planes", "cooling"};
const char *const myr_metric_names[MYR_METRIC_COUNT] = {
    "capex",      "cost_of_years", "power_kw", "bandwidth_per_gpu_gbps",
    "blast_gpus", "moved_cables",  "racks",    "hops"};

/*
 * Those that can be compared without further keys: a torus has its sides, access is for other
 * networks. Both lists have the same order.
 */
static const char *const topology_names[] = {"rail",           "clos",      "rail-only",
                                             "middle-of-rack", "dragonfly", "dragonfly+"};
static const enum myr_topology topologies[] = {MYR_TOPOLOGY_RAIL,      MYR_TOPOLOGY_CLOS,
                                               MYR_TOPOLOGY_RAIL_ONLY, MYR_TOPOLOGY_MIDDLE_OF_RACK,
                                               MYR_TOPOLOGY_DRAGONFLY, MYR_TOPOLOGY_DRAGONFLY_PLUS};
static const char *const fill_names[] = {"regular", "dense"};

/* The rows below all lie in this struct. */
#define O struct myr_spec_optimise

/* A limit for each metric, by its index; the bandwidth's is the only one from below. */
static const struct field limit_fields[] = {
    FIELD_ROW_DOUBLE("capex_max", O, limits[MYR_METRIC_CAPEX], 0, 1e15),
    FIELD_ROW_DOUBLE("cost_of_years_max", O, limits[MYR_METRIC_COST_OF_YEARS], 0, 1e15),
    FIELD_ROW_DOUBLE("power_kw_max", O, limits[MYR_METRIC_POWER_KW], 0, 1e9),
    FIELD_ROW_DOUBLE("bandwidth_per_gpu_gbps_min", O, limits[MYR_METRIC_BANDWIDTH], 0, 1e6),
    FIELD_ROW_DOUBLE("blast_gpus_max", O, limits[MYR_METRIC_BLAST], 1, 1e9),
    FIELD_ROW_DOUBLE("moved_cables_max", O, limits[MYR_METRIC_MOVED], 0, 1e9),
    FIELD_ROW_DOUBLE("racks_max", O, limits[MYR_METRIC_RACKS], 1, 1e9),
    FIELD_ROW_DOUBLE("hops_max", O, limits[MYR_METRIC_HOPS], 0, 1e6),
};

/* One value of a list, as a number: a part, the position of a word, or the number itself. */
static int read_value(const struct myr_catalog *catalog, const struct myr_doc *node,
                      enum myr_open_choice choice, double *ret, struct myr_err *err)
{
    uint32_t word = 0;
    uint64_t whole;
    switch (choice) {
    case MYR_CHOICE_SWITCH:
        MYR_TRY(myr_catalog_need(catalog, node, "switch", MYR_PART_SWITCH, &word, err));
        *ret = word;
        return MYR_OK;
    case MYR_CHOICE_TOPOLOGY:
        MYR_TRY(myr_doc_choice(node, "topology", topology_names, MYR_ARRAY_COUNT(topology_names),
                               &word, err));
        *ret = topologies[word];
        return MYR_OK;
    case MYR_CHOICE_FILL:
        MYR_TRY(myr_doc_choice(node, "fill", fill_names, 2, &word, err));
        /* Behind the default, which is no choice. */
        *ret = MYR_FILL_REGULAR + word;
        return MYR_OK;
    case MYR_CHOICE_COOLING:
        MYR_TRY(myr_doc_choice(node, "cooling", myr_cooling_names + 1, MYR_COOLING_COUNT - 1, &word,
                               err));
        *ret = word + 1;
        return MYR_OK;
    case MYR_CHOICE_OVERSUBSCRIPTION:
        return myr_doc_double(node, "oversubscription", 0.1, 1000, ret, err);
    default:
        MYR_TRY(myr_doc_u64(node, myr_choice_names[choice], 1,
                            choice == MYR_CHOICE_TIERS ? MYR_SPEC_TIERS_MAX : MYR_SPEC_PLANES_MAX,
                            &whole, err));
        *ret = (double)whole;
        return MYR_OK;
    }
}

/* Values of all lists are doubles, so that the search can treat them alike; each is there once. */
static int read_choices(const struct myr_catalog *catalog, const struct myr_doc *node, O *optimise,
                        struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_MAP, "choices", err));
    MYR_TRY(myr_doc_check_keys(node, "choices", myr_choice_names, MYR_CHOICE_COUNT, err));
    for (uint32_t i = 0; i < MYR_CHOICE_COUNT; i++) {
        struct myr_choice_list *list = &optimise->choices[i];
        list->node = myr_doc_get(node, myr_choice_names[i]);
        if (!list->node) {
            continue;
        }
        MYR_TRY(myr_doc_expect(list->node, MYR_DOC_LIST, myr_choice_names[i], err));
        if (list->node->count < 1 || list->node->count > MYR_CHOICE_VALUES_MAX) {
            return myr_doc_error(err, list->node, MYR_ERANGE,
                                 "'%s' has %u entries, 1 to %d are expected", myr_choice_names[i],
                                 list->node->count, MYR_CHOICE_VALUES_MAX);
        }
        for (uint32_t k = 0; k < list->node->count; k++) {
            double value = 0;
            MYR_TRY(
                read_value(catalog, list->node->items[k], (enum myr_open_choice)i, &value, err));
            /* A value twice would be planned twice. */
            for (uint32_t old = 0; old < list->count; old++) {
                if (list->values[old] == value) {
                    return myr_doc_error(err, list->node->items[k], MYR_EINVAL,
                                         "'%s' has the same value twice, one of each is expected",
                                         myr_choice_names[i]);
                }
            }
            list->values[list->count++] = value;
        }
    }
    return MYR_OK;
}

void spec_optimise_defaults(struct myr_spec_optimise *optimise)
{
    *optimise = (struct myr_spec_optimise){};
    for (uint32_t i = 0; i < MYR_METRIC_COUNT; i++) {
        /* No limit; 0 is one. */
        optimise->limits[i] = -1;
    }
}

/* After servers and groups: growth is held against them. */
int spec_read_optimise(struct myr_arena *arena, const struct myr_catalog *catalog,
                       const struct myr_doc *node, struct myr_spec *spec, struct myr_err *err)
{
    struct optimise_nodes {
        const struct myr_doc *choices, *constraints;
    } nodes = {};
    static const struct field node_fields[] = {
        FIELD_ROW_NODE("choices", struct optimise_nodes, choices),
        FIELD_ROW_NODE("constraints", struct optimise_nodes, constraints),
    };
    static const struct field fields[] = {
        FIELD_ROW_CHOICE("objective", O, objective, myr_metric_names),
        FIELD_ROW_U32("grow_to", O, grow_to, 1, MYR_SPEC_SERVERS_MAX),
    };
    O *optimise = &spec->optimise;
    const struct field_table tables[] = {{node_fields, MYR_ARRAY_COUNT(node_fields), &nodes},
                                         {fields, MYR_ARRAY_COUNT(fields), optimise}};
    optimise->node = node;
    MYR_TRY(fields_read(arena, node, "optimise", tables, 2, err));
    if (nodes.choices) {
        MYR_TRY(read_choices(catalog, nodes.choices, optimise, err));
    }
    if (nodes.constraints) {
        struct field_table table = {limit_fields, MYR_ARRAY_COUNT(limit_fields), optimise};
        MYR_TRY(fields_read(arena, nodes.constraints, "constraints", &table, 1, err));
    }
    if (optimise->grow_to && (spec->group_count || optimise->grow_to < spec->servers)) {
        return myr_doc_error(
            err, myr_doc_get(node, "grow_to"), MYR_EINVAL,
            spec->group_count ? "'grow_to' with 'groups', servers of one kind are expected"
                              : "'grow_to' is less than 'servers', as many or more are expected");
    }
    /* Cables move only when something grows. */
    bool moved = optimise->objective == MYR_METRIC_MOVED || optimise->limits[MYR_METRIC_MOVED] >= 0;
    if (moved && !optimise->grow_to) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "moved cables without 'grow_to', the servers of the larger cluster "
                             "are expected");
    }
    return MYR_OK;
}
