#include "power/power.h"

/*
 * PUE from its parts, then energy, money and carbon; and the same for the three kinds of cooling,
 * whatever was chosen, so that the choice can be judged.
 */

enum { HOURS_A_YEAR = 8760 };

/* Plant for a kW of IT, in dollars: class values. */
static const double plant[MYR_COOLING_COUNT] = {
    [MYR_COOLING_AIR] = 700, [MYR_COOLING_COLD_PLATE] = 1000, [MYR_COOLING_IMMERSION] = 1400};

/* What air takes away from one rack: class value, where the spec gives no limit. */
#define AIR_RACK_KW 30.0

/* Watts that air takes away from one rack. */
static double air_limit_w(const struct facility *f)
{
    return (f->spec->air_rack_kw > 0 ? f->spec->air_rack_kw : AIR_RACK_KW) * 1000;
}

/* Air as long as the fullest rack allows it, cold plates beyond; the spec's word beats that. */
enum myr_cooling power_kind(const struct facility *f, enum myr_basis *ret_basis)
{
    *ret_basis = f->spec->cooling ? MYR_BASIS_GIVEN : MYR_BASIS_ASSUMED;
    return f->spec->cooling              ? (enum myr_cooling)f->spec->cooling
           : f->rack_w <= air_limit_w(f) ? MYR_COOLING_AIR
                                         : MYR_COOLING_COLD_PLATE;
}

/* What everything hangs on: read by both the plan and the comparison. */
struct terms {
    struct chosen load, tariff, grid, green, years;
};

/* Defaults: always busy, 0.078 a kWh, 0.57 kg of CO2 a kWh, five years; all marked as assumed. */
static struct terms terms_of(const struct facility *f)
{
    const struct myr_spec_facility *spec = f->spec;
    return (struct terms){
        .load = power_choose(spec->load, spec->load > 0, 1),
        .tariff = power_choose(spec->tariff, spec->tariff >= 0, 0.078),
        .grid = power_choose(spec->grid_kg, spec->grid_kg >= 0, 0.57),
        .green = power_choose(spec->green_share, spec->green_share >= 0, 0),
        .years = power_choose(spec->years, spec->years > 0, 5),
    };
}

/* Of a year, with what serves IT at that load. */
static double mwh_of(const struct terms *terms, double watts)
{
    return watts / 1e6 * HOURS_A_YEAR * terms->load.value;
}

/* Energy has the tariff's currency, the years that of the bill: 7.2 CNY for a dollar is the only
 * rate that is assumed. */
static void put_money(struct facility *f, const struct terms *terms, double mwh)
{
    struct plan *plan = f->plan;
    const struct myr_spec_facility *spec = f->spec;
    /* A copy: the strings move as figures are added. */
    const char *bill =
        myr_arena_printf(plan->arena, "%s", plan->strings.data + plan->design.head->currency);
    f->currency = spec->currency ? spec->currency : "USD";
    double cost = mwh * 1000 * terms->tariff.value;
    plan_figure(plan, FIG_TARIFF, terms->tariff.value, terms->tariff.basis, "%s a kWh",
                f->currency);
    plan_figure_word(plan, FIG_ENERGY_CURRENCY, f->currency,
                     spec->currency ? MYR_BASIS_GIVEN : MYR_BASIS_ASSUMED);
    plan_figure(plan, FIG_ENERGY_COST, cost, MYR_BASIS_COMPUTED, "%.1f MWh * 1,000 * %g", mwh,
                terms->tariff.value);
    plan_figure(plan, FIG_YEARS, terms->years.value, terms->years.basis, "from the first day");
    /* One currency needs no exchange; CNY and USD have an assumed one; others must be given. */
    bool same = strcmp(bill, f->currency) == 0;
    bool known = strcmp(bill, "CNY") == 0 && strcmp(f->currency, "USD") == 0;
    struct chosen exchange = power_choose(spec->exchange, spec->exchange > 0, same ? 1 : 7.2);
    if (spec->exchange <= 0 && !same && !known) {
        return; /* two currencies that nobody has compared add up to nothing */
    }
    exchange.basis = same && spec->exchange <= 0 ? MYR_BASIS_COMPUTED : exchange.basis;
    plan_figure(plan, FIG_EXCHANGE, exchange.value, exchange.basis, "%s for one %s", bill,
                f->currency);
    double total =
        (double)plan->design.head->total_cents / 100 + terms->years.value * cost * exchange.value;
    plan_figure(plan, FIG_TCO, total, MYR_BASIS_COMPUTED, "%.2f + %g * %.2f * %g",
                (double)plan->design.head->total_cents / 100, terms->years.value, cost,
                exchange.value);
}

/* GPUs that the catalogue does not know count nothing. */
static void put_efficiency(struct facility *f)
{
    struct plan *plan = f->plan;
    double tflops = 0;
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct plan_group *group = &plan->groups[i];
        uint32_t gpu = myr_catalog_find(plan->catalog, myr_str_from(group->server->server.gpu));
        double each = gpu == MYR_PART_NONE ? 0 : part_at(plan, gpu)->gpu.bf16_tflops;
        tflops += each * group->nodes * group->server->server.gpus_per_node;
    }
    plan_figure(plan, FIG_PFLOPS, tflops / 1000, MYR_BASIS_COUNTED, "%u GPUs", plan->gpus);
    plan_figure(plan, FIG_GFLOPS_W, f->facility_w > 0 ? tflops * 1000 / f->facility_w : 0,
                MYR_BASIS_COMPUTED, "%.1f PFLOP/s / %.1f kW", tflops / 1000, f->facility_w / 1000);
}

/* The kind of cooling is chosen here, since all shares of the PUE hang on it. */
void power_energy(struct facility *f)
{
    struct plan *plan = f->plan;
    struct terms terms = terms_of(f);
    enum myr_basis basis;
    f->kind = power_kind(f, &basis);
    f->pue = power_pue(f, f->kind, terms.load.value);
    plan_figure(plan, FIG_LOAD, terms.load.value, terms.load.basis, "1 is all GPUs busy, always");
    /* The six shares are figures one behind the other, from the fans on. */
    for (uint32_t i = 0; i < MYR_OVERHEAD_COUNT; i++) {
        struct chosen share = power_overhead(f, f->kind, i, terms.load.value);
        plan_figure(plan, (enum figure_id)(FIG_PUE_FANS + i), share.value, share.basis,
                    "%s, %g of the heat in liquid, load %g", myr_cooling_names[f->kind],
                    power_liquid_share(f, f->kind).value, terms.load.value);
    }
    plan_figure(plan, FIG_PUE, f->pue, MYR_BASIS_COMPUTED, "1 + %.4f", f->pue - 1);
    /* What has to be there is for full load; what is paid for is for that of the year. */
    double full = power_pue(f, f->kind, 1);
    f->facility_w = f->it_w * full;
    plan_figure(plan, FIG_FULL_PUE, full, MYR_BASIS_COMPUTED, "1 + %.4f", full - 1);
    plan_figure(plan, FIG_FACILITY, f->facility_w / 1000, MYR_BASIS_COMPUTED, "%.1f kW * %.4f",
                f->it_w / 1000, full);
    double mwh = mwh_of(&terms, f->it_w * f->pue);
    plan_figure(plan, FIG_MWH, mwh, MYR_BASIS_COMPUTED, "%.1f kW * %.4f * 8,760 h * %g",
                f->it_w / 1000, f->pue, terms.load.value);
    power_climate(f, terms.load.value);
    put_money(f, &terms, mwh);
    plan_figure(plan, FIG_GRID, terms.grid.value, terms.grid.basis, "kg of CO2 a kWh");
    plan_figure(plan, FIG_GREEN, terms.green.value, terms.green.basis, "of all energy");
    plan_figure(plan, FIG_CARBON, mwh * terms.grid.value * (1 - terms.green.value),
                MYR_BASIS_COMPUTED, "%.1f MWh * %g * (1 - %g)", mwh, terms.grid.value,
                terms.green.value);
    put_efficiency(f);
}

/* ---- the three kinds ---- */

/* How long what cools takes up the heat, when nothing cools it: 10 K of liquid, or of room air. */
static double ride_through_s(const struct facility *f, enum myr_cooling kind, double liquid_w)
{
    enum { RISE_K = 10 };
    if (kind == MYR_COOLING_AIR) {
        /* Air of 1.2 kg/m3 and 1,005 J/(kg K). */
        double floor_m2 = 2.5 * (double)f->racks, height_m = 3; /* aisles included */
        return f->it_w > 0 ? floor_m2 * height_m * 1.2 * 1005 * RISE_K / f->it_w : 0;
    }
    double share = power_liquid_share(f, kind).value;
    double litres = power_coolant_l(f, kind, liquid_w, power_cdus(f, share));
    double heat = kind == MYR_COOLING_IMMERSION ? 1600 : 4180; /* J in a litre and K: oil, water */
    return liquid_w > 0 ? litres * heat * RISE_K / liquid_w : 0;
}

/* The same IT power, load, tariff and grid for each kind: what differs is the cooling alone. */
static void compare(struct facility *f, enum myr_cooling kind, uint32_t base)
{
    /* What a rack may draw: class values. That of air may come from the spec. */
    static const double rack_kw[MYR_COOLING_COUNT] = {
        [MYR_COOLING_COLD_PLATE] = 150, [MYR_COOLING_IMMERSION] = 100};
    struct plan *plan = f->plan;
    struct terms terms = terms_of(f);
    double pue = power_pue(f, kind, terms.load.value), watts = f->it_w * power_pue(f, kind, 1);
    double mwh = mwh_of(&terms, f->it_w * pue);
    double cost = mwh * 1000 * terms.tariff.value;
    double given = f->spec->cooling_price[kind];
    struct chosen price = power_choose(given, given >= 0, plant[kind]);
    double bought = f->it_w / 1000 * price.value;
    double liquid_w = f->it_w * power_liquid_share(f, kind).value;
    double most_w = kind == MYR_COOLING_AIR ? air_limit_w(f) : rack_kw[kind] * 1000;
    /* In the order of the figures behind 'base'. */
    const struct {
        double value;
        enum myr_basis basis;
        const char *inputs;
    } rows[FIG_COMPARED] = {
        {pue, MYR_BASIS_COMPUTED, "its six shares"},
        {power_wue(f, kind), MYR_BASIS_ASSUMED, "air's plant, and the liquid's coolers"},
        {watts / 1000, MYR_BASIS_COMPUTED, "the same IT power"},
        {mwh, MYR_BASIS_COMPUTED, "the same load"},
        {cost, MYR_BASIS_COMPUTED, "the same tariff"},
        {bought, price.basis,
         myr_arena_printf(plan->arena, "%g %s a kW", price.value, f->currency)},
        {bought + terms.years.value * cost, MYR_BASIS_COMPUTED, "plant and energy"},
        {mwh * terms.grid.value * (1 - terms.green.value), MYR_BASIS_COMPUTED, "the same grid"},
        {power_connectors(f, kind), MYR_BASIS_COMPUTED, "none with air"},
        {ride_through_s(f, kind, liquid_w), MYR_BASIS_ASSUMED,
         kind == MYR_COOLING_AIR ? "2.5 m2 and 3 m a rack of air" : "the coolant of the bill"},
        {most_w / 1000, MYR_BASIS_ASSUMED, "class value"},
        {f->rack_w <= most_w, MYR_BASIS_COMPUTED,
         myr_arena_printf(plan->arena, "the fullest rack draws %.2f kW", f->rack_w / 1000)},
    };
    for (uint32_t i = 0; i < FIG_COMPARED; i++) {
        plan_figure(plan, (enum figure_id)(base + i), rows[i].value, rows[i].basis, "%s",
                    rows[i].inputs);
    }
}

/* That air is chosen by hand for racks that are too hot is a warning: nobody else would say it. */
void power_compare(struct facility *f)
{
    compare(f, MYR_COOLING_AIR, FIG_WITH_AIR_PUE);
    compare(f, MYR_COOLING_COLD_PLATE, FIG_WITH_PLATE_PUE);
    compare(f, MYR_COOLING_IMMERSION, FIG_WITH_IMMERSION_PUE);
    if (f->kind == MYR_COOLING_AIR && f->rack_w > air_limit_w(f)) {
        plan_finding(f->plan, MYR_SEVERITY_WARNING, "air-limit", "facility",
                     "facility: {cooling: cold-plate}, or fewer servers a rack",
                     "a rack draws %.2f kW, air takes %.1f kW away", f->rack_w / 1000,
                     air_limit_w(f) / 1000);
    }
}
