#include "figures/figures.h"
#include "myriad/plan/grow.h"
#include "optimise/optimise.h"

/*
 * One point of the space. It goes through the planner's own steps up to the bill and the energy;
 * only what proves a finished design (walks over its graph, flows, the check against the parts) is
 * left to those few that are planned in full. Points that differ in cooling alone share a plan.
 */

/* A shallow copy: lists and texts stay those of the spec. */
struct myr_spec optimise_spec(const struct myr_spec *spec, const struct myr_plan_point *point)
{
    struct myr_spec trial = *spec;
    struct myr_spec_net *net = &trial.nets[MYR_NET_COMPUTE];
    const struct myr_choice_list *lists = spec->optimise.choices;
    for (uint32_t i = 0; i < MYR_CHOICE_COUNT; i++) {
        if (!lists[i].count) {
            continue;
        }
        double value = lists[i].values[point->at[i]];
        switch (i) {
        case MYR_CHOICE_SWITCH:
            net->switch_part = (uint32_t)value;
            break;
        case MYR_CHOICE_TOPOLOGY:
            net->topology = (enum myr_topology)value;
            break;
        case MYR_CHOICE_TIERS:
            net->tiers = (uint32_t)value;
            break;
        case MYR_CHOICE_FILL:
            net->fill = (uint32_t)value;
            break;
        case MYR_CHOICE_OVERSUBSCRIPTION:
            /*
             * Only the leaves' ratio is a choice; those of higher tiers stay as the spec has them.
             */
            net->oversubscription[0] = value;
            net->oversubscription_count =
                net->oversubscription_count ? net->oversubscription_count : 1;
            break;
        case MYR_CHOICE_PLANES:
            net->planes = (uint32_t)value;
            break;
        default:
            trial.facility.cooling = (uint32_t)value;
            break;
        }
    }
    return trial;
}

/*
 * Gb/s of a GPU into the network, less what the tiers above cannot pass on. A tier with more up
 * than down adds nothing. GPUs of groups that hang elsewhere have no part in it, nor have the ports
 * of hosts without GPUs.
 */
static int64_t bandwidth_milli(const struct plan *plan)
{
    const struct net_plan *net = &plan->nets[MYR_NET_COMPUTE];
    const struct myr_network *out = &net->out;
    uint64_t ports = 0, gpus = 0;
    for (uint32_t i = 0; net->present && i < net->host_class_count; i++) {
        const struct host_class *hosts = &net->hosts[i];
        if (hosts->kind == MYR_DEVICE_NODE) {
            ports += (uint64_t)hosts->count * hosts->nic_ports * out->planes;
            gpus +=
                (uint64_t)hosts->count * plan->groups[hosts->group].server->server.gpus_per_node;
        }
    }
    if (gpus == 0) {
        return 0;
    }
    double gbps = (double)ports * out->host_gbps / (double)gpus;
    for (uint32_t i = 0; i + 1 < out->tiers; i++) {
        double ratio = out->oversubscription_milli[i] / 1000.0;
        gbps /= ratio > 1 ? ratio : 1;
    }
    return (int64_t)(gbps * 1000 + 0.5);
}

/* GPUs of a node that lose a port with so many of its ports: they share the ports evenly. */
static uint64_t gpus_behind(const struct plan *plan, uint32_t node, uint64_t ports)
{
    const struct net_plan *net = &plan->nets[MYR_NET_COMPUTE];
    uint32_t group = 0;
    while (group + 1 < plan->group_count && node >= plan->groups[group + 1].first) {
        group++;
    }
    uint64_t gpus = plan->groups[group].server->server.gpus_per_node, each = 1;
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        const struct host_class *hosts = &net->hosts[i];
        /* With several planes each GPU has a port in all of them. */
        if (hosts->kind == MYR_DEVICE_NODE && hosts->group == group && hosts->nic_ports < gpus) {
            each = ceil_div(gpus, hosts->nic_ports);
        }
    }
    return ports * each < gpus ? ports * each : gpus;
}

/* GPUs that lose a port when the worst switch with hosts fails, counted over its cables. */
static int64_t blast_gpus(const struct plan *plan)
{
    const struct myr_design *design = &plan->design;
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    /* Ports that the switch at hand takes from each node. */
    uint32_t *lost = MYR_ARENA_NEW(&scratch, uint32_t, plan->nodes);
    uint64_t worst = 0;
    for (uint32_t device = 0; device < design->device_count; device++) {
        if (design->place[device].net != MYR_NET_COMPUTE) {
            continue;
        }
        const uint32_t first = design->first_port[device], end = design->first_port[device + 1];
        uint64_t gpus = 0;
        for (uint32_t pass = 0; pass < 2; pass++) {
            for (uint32_t port = first; port < end; port++) {
                uint32_t link = design->port_link[port];
                uint32_t node = link == MYR_NONE ? MYR_NONE
                                                 : design->port_device[design->link_a[link]] -
                                                       design->head->first_node;
                if (node >= plan->nodes) {
                    continue;
                }
                if (pass == 0) {
                    lost[node]++;
                } else if (lost[node]) {
                    gpus += gpus_behind(plan, node, lost[node]);
                    lost[node] = 0;
                }
            }
        }
        worst = gpus > worst ? gpus : worst;
    }
    return (int64_t)worst;
}

/* Such a point would look cheap beside those that are priced. */
static bool compute_unpriced(const struct plan *plan)
{
    for (size_t i = 0; i < plan->bom.count; i++) {
        const struct myr_bom_row *row = &plan->bom.items[i];
        if (row->unit_cents < 0 && strcmp(plan->strings.data + row->system, "compute") == 0) {
            return true;
        }
    }
    return false;
}

/* The first error that the spec does not accept; NULL: none. */
static const char *open_error(const struct plan *plan)
{
    for (size_t i = 0; i < plan->findings.count; i++) {
        const struct myr_finding *finding = &plan->findings.items[i];
        if (finding->severity == MYR_SEVERITY_ERROR && !finding->accepted) {
            return plan->strings.data + finding->rule;
        }
    }
    return NULL;
}

/* Rounded to a whole number of the metric's unit. */
static void set(struct myr_plan_point *point, enum myr_metric metric, double value)
{
    point->known[metric] = true;
    point->metric[metric] = (int64_t)(value + (value < 0 ? -0.5 : 0.5));
}

/* As objective or as a constraint. */
static bool money_decides(const struct myr_spec *spec)
{
    const struct myr_spec_optimise *o = &spec->optimise;
    return o->objective == MYR_METRIC_CAPEX || o->objective == MYR_METRIC_COST_OF_YEARS ||
           o->limits[MYR_METRIC_CAPEX] >= 0 || o->limits[MYR_METRIC_COST_OF_YEARS] >= 0;
}

static bool years_decide(const struct myr_spec *spec)
{
    const struct myr_spec_optimise *o = &spec->optimise;
    return o->objective == MYR_METRIC_COST_OF_YEARS || o->limits[MYR_METRIC_COST_OF_YEARS] >= 0;
}

/* The estimate of a plan without its room would be of other racks. */
static bool racks_decide(const struct myr_spec *spec)
{
    return spec->optimise.objective == MYR_METRIC_RACKS ||
           spec->optimise.limits[MYR_METRIC_RACKS] >= 0;
}

/*
 * Racks of the room that are in use: known when all has found its place there, so the point is
 * planned in full. Where they do not decide they stay unknown but of the best, which are planned in
 * full in any case.
 */
static void measure_racks(struct myr_arena *keep, const struct myr_catalog *catalog,
                          const struct myr_spec *spec, struct myr_plan_point *point)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_spec trial = optimise_spec(spec, point);
    struct myr_design design = {};
    struct myr_err err = {};
    myr_arena_init(&arena);
    if (myr_plan(&arena, catalog, &trial, &design, &err) < 0) {
        point->state = MYR_POINT_REFUSED;
        point->why = myr_arena_printf(keep, "%s", err.message);
        return;
    }
    optimise_racks(&design, point);
}

/* Nothing without a room: they were estimated then. */
void optimise_racks(const struct myr_design *design, struct myr_plan_point *point)
{
    if (design->room) {
        set(point, MYR_METRIC_RACKS, design->room->racks_used);
    }
}

/*
 * Installed cables that move when the cluster grows to what the spec says. Unknown where one of the
 * two cannot be planned, or the one does not grow into the other.
 */
static void measure_growth(struct myr_arena *arena, const struct myr_catalog *catalog,
                           const struct myr_spec *trial, struct myr_plan_point *point)
{
    struct myr_design small = {}, large = {};
    struct myr_growth growth;
    struct myr_err err = {};
    struct myr_spec grown = *trial;
    if (!trial->optimise.grow_to) {
        return;
    }
    grown.servers = trial->optimise.grow_to;
    if (myr_plan(arena, catalog, trial, &small, &err) == MYR_OK &&
        myr_plan(arena, catalog, &grown, &large, &err) == MYR_OK &&
        myr_grow(arena, catalog, &small, &large, (struct myr_grow_names){"", ""}, &growth, &err) ==
            MYR_OK) {
        set(point, MYR_METRIC_MOVED, growth.move_count);
    }
}

/*
 * What the cooling plant costs beside the bill, where kinds of cooling are compared: the table of
 * the plan has it, by the price of a kW that the spec gives or that is assumed. Without it the kind
 * that draws least would win, whatever it costs. A plant that the bill has, each line of it priced,
 * is paid for there; one with unpriced lines costs what it does less those that have a price.
 * False: its currency and that of the bill were never compared.
 */
static bool plant_cents(const struct plan *plan, int64_t *ret)
{
    static const enum figure_id costs[MYR_COOLING_COUNT] = {
        [MYR_COOLING_AIR] = FIG_WITH_AIR_PLANT,
        [MYR_COOLING_COLD_PLATE] = FIG_WITH_PLATE_PLANT,
        [MYR_COOLING_IMMERSION] = FIG_WITH_IMMERSION_PLANT};
    int64_t billed = 0;
    bool has_lines = false, all_priced = true;
    for (size_t i = 0; i < plan->bom.count; i++) {
        const struct myr_bom_row *row = &plan->bom.items[i];
        if (strcmp(plan->strings.data + row->system, "cooling") == 0) {
            has_lines = true;
            all_priced = all_priced && row->unit_cents >= 0;
            billed += row->unit_cents >= 0 ? row->total_cents : 0;
        }
    }
    *ret = 0;
    if (has_lines && all_priced) {
        return true;
    }
    double exchange = plan_figure_value(plan, FIG_EXCHANGE);
    double cents = plan_figure_value(plan, costs[plan->spec->facility.cooling]) * exchange * 100;
    *ret = cents > (double)billed && cents < 9e17 ? (int64_t)(cents + 0.5) - billed : 0;
    return exchange > 0;
}

/* Lines whose price is assumed, for whoever asks whether they decide. */
static void keep_assumed(struct myr_arena *keep, const struct plan *plan,
                         struct myr_plan_point *point)
{
    point->assumed = MYR_ARENA_NEW(keep, struct myr_assumed_line, plan->bom.count + 1);
    for (size_t i = 0; i < plan->bom.count; i++) {
        const struct myr_bom_price *price = &plan->bom_prices.items[i];
        if (price->basis == MYR_PRICE_ASSUMED && plan->bom.items[i].quantity > 0) {
            double pieces = (double)plan->bom.items[i].quantity;
            point->assumed[point->assumed_count++] = (struct myr_assumed_line){
                .part = plan->bom_parts.items[i],
                .pieces = pieces,
                .down_cents = (double)(price->cents - price->low_cents) / pieces,
                .up_cents = (double)(price->high_cents - price->cents) / pieces};
        }
    }
}

/* Cents are taken as they are: as a double, sums beyond 2^53 would be rounded. */
static void read_plan(struct myr_arena *keep, struct plan *plan, bool room,
                      struct myr_plan_point *point)
{
    const struct net_plan *net = &plan->nets[MYR_NET_COMPUTE];
    const char *error = open_error(plan);
    /* Without one price there is no sum. */
    int64_t plant = 0;
    bool known =
        !plan->spec->optimise.choices[MYR_CHOICE_COOLING].count || plant_cents(plan, &plant);
    point->plant_cents = plant;
    point->known[MYR_METRIC_CAPEX] = known && plan_priced(plan) &&
                                     !__builtin_add_overflow(plan->design.head->total_cents, plant,
                                                             &point->metric[MYR_METRIC_CAPEX]);
    double years = known ? plan_figure_value(plan, FIG_TCO) * 100 : 0;
    years += years > 0 ? (double)plant : 0;
    /* Unknown without a tariff, or where it would not fit. */
    if (years > 0 && years < 9e18) {
        set(point, MYR_METRIC_COST_OF_YEARS, years);
    }
    set(point, MYR_METRIC_POWER_KW, plan_figure_value(plan, FIG_FACILITY) * 1000);
    set(point, MYR_METRIC_BANDWIDTH, (double)bandwidth_milli(plan));
    set(point, MYR_METRIC_BLAST, (double)blast_gpus(plan));
    if (!room) {
        set(point, MYR_METRIC_RACKS, plan_figure_value(plan, FIG_RACKS));
    }
    set(point, MYR_METRIC_HOPS, net->out.diameter_hops);
    if (money_decides(plan->spec)) {
        keep_assumed(keep, plan, point);
    }
    point->leaf = net->out.leaf;
    point->spine = net->out.spine;
    point->core = net->out.core;
    point->state = MYR_POINT_GOOD;
    if (error) {
        point->state = MYR_POINT_FAULTY;
        point->why = myr_arena_printf(keep, "%s", error);
    } else if (money_decides(plan->spec) && compute_unpriced(plan)) {
        point->state = MYR_POINT_UNPRICED;
        point->why = "a part of the compute network has no price";
    } else if (money_decides(plan->spec) && plan_figure_said(plan, FIG_PRICED_LACK)[0]) {
        point->state = MYR_POINT_UNPRICED;
        point->why =
            myr_arena_printf(keep, "without a price: %s", plan_figure_said(plan, FIG_PRICED_LACK));
    } else if (money_decides(plan->spec) && !known) {
        point->state = MYR_POINT_UNPRICED;
        point->why = "the cooling plant is priced in the tariff's currency: facility.energy lacks "
                     "'exchange'";
    } else if (years_decide(plan->spec) && !point->known[MYR_METRIC_COST_OF_YEARS]) {
        point->state = MYR_POINT_UNPRICED;
        point->why = plan_years_missing(plan, keep);
    }
}

/*
 * The kinds of cooling of one plan: its figures are computed anew, all else stands. Figures,
 * findings and lines of the kind before are cut off again.
 */
static void measure_cooling(struct myr_arena *keep, struct plan *plan, struct myr_spec *trial,
                            const struct myr_spec *spec, struct myr_plan_point *points,
                            uint32_t count)
{
    size_t figures = plan->figures.count, findings = plan->findings.count;
    size_t lines = plan->bom.count; /* cooling plant may add some */
    int64_t cents = plan->design.head->total_cents;
    for (uint32_t i = 0; i < count; i++) {
        /* The plan points to this spec, so it is changed in place. */
        *trial = optimise_spec(spec, &points[i]);
        trial->room.node = NULL;
        plan->figures.count = figures;
        plan->findings.count = findings;
        plan->bom.count = plan->bom_more.count = lines;
        plan->bom_prices.count = plan->bom_parts.count = lines;
        plan->design.head->total_cents = cents;
        plan->uncountable = NULL;
        plan_power(plan);
        /* As a plan would be: the lines of a cooling plant may be more than can be counted. */
        struct myr_err err = {};
        if (plan_countable(plan, &err) < 0) {
            points[i].state = MYR_POINT_REFUSED;
            points[i].why = myr_arena_printf(keep, "%s", err.message);
        } else {
            read_plan(keep, plan, spec->room.node != NULL, &points[i]);
        }
    }
}

/* Points [0, count) differ in their cooling alone. What outlives the call is in 'keep'. */
void optimise_measure(struct myr_arena *keep, const struct myr_catalog *catalog,
                      const struct myr_optimum *optimum, struct myr_plan_point *points,
                      uint32_t count)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_err err = {};
    struct myr_spec trial = optimise_spec(optimum->spec, &points[0]);
    myr_arena_init(&arena);
    trial.room.node = NULL; /* lengths are the spec's; the best are placed */
    struct plan *plan = MYR_ARENA_ONE(&arena, struct plan);
    plan->arena = &arena;
    plan->catalog = catalog;
    plan->spec = &trial;
    (void)plan_string(plan, "");
    if (plan_unproved(plan, &err) < 0) {
        const char *why = myr_arena_printf(keep, "%s", err.message);
        for (uint32_t i = 0; i < count; i++) {
            points[i].state = MYR_POINT_REFUSED;
            points[i].why = why;
        }
        plan_release(plan);
        return;
    }
    measure_cooling(keep, plan, &trial, optimum->spec, points, count);
    /* Cooling moves no cables: measured once for all kinds. */
    struct myr_plan_point grown = points[0];
    measure_growth(&arena, catalog, &trial, &grown);
    for (uint32_t i = 0; i < count; i++) {
        points[i].known[MYR_METRIC_MOVED] = grown.known[MYR_METRIC_MOVED];
        points[i].metric[MYR_METRIC_MOVED] = grown.metric[MYR_METRIC_MOVED];
    }
    plan_release(plan);
    bool racks = optimum->spec->room.node && racks_decide(optimum->spec);
    for (uint32_t i = 0; racks && i < count; i++) {
        if (points[i].state >= MYR_POINT_UNPRICED) {
            measure_racks(keep, catalog, optimum->spec, &points[i]);
        }
    }
}
