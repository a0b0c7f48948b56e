#include "power/power.h"

/*
 * What cooling takes beside IT: by the share of the heat that liquid carries away, by the load of
 * the year and by the climate. Air and liquid have each their own plant, and share the heat. What
 * is supplied has losses that do not fall with the load, so that a hall that is half empty has a
 * higher PUE. Sources and what is assumed of them: docs/planning.md.
 */

/* Power and water of halls cooled by air: the published middle half-width aside, 5th to 95th
 * percentile of a model of large halls (the chiller: midsize) by climate zone; water in l/kWh. */
static const struct band {
    double pue_low, pue_high, wue_low, wue_high;
} bands[MYR_AIR_PLANT_COUNT][MYR_CLIMATE_COUNT] = {
    [MYR_AIR_PLANT_ECONOMIZER] = {[MYR_CLIMATE_1A] = {1.17, 1.34, 0.77, 2.36},
                                  [MYR_CLIMATE_2A] = {1.17, 1.31, 0.80, 1.80},
                                  [MYR_CLIMATE_3A] = {1.13, 1.25, 0.41, 1.15},
                                  [MYR_CLIMATE_3C] = {1.09, 1.23, 0.00, 1.14},
                                  [MYR_CLIMATE_4A] = {1.11, 1.22, 0.27, 0.83},
                                  [MYR_CLIMATE_5A] = {1.10, 1.21, 0.20, 0.71},
                                  [MYR_CLIMATE_5B] = {1.09, 1.20, 0.04, 0.30},
                                  [MYR_CLIMATE_6B] = {1.08, 1.18, 0.01, 0.11},
                                  [MYR_CLIMATE_7] = {1.10, 1.20, 0.07, 0.52}},
    [MYR_AIR_PLANT_TOWER] = {[MYR_CLIMATE_1A] = {1.11, 1.29, 1.76, 2.63},
                             [MYR_CLIMATE_2A] = {1.10, 1.25, 1.75, 2.62},
                             [MYR_CLIMATE_3A] = {1.09, 1.21, 1.75, 2.62},
                             [MYR_CLIMATE_3C] = {1.07, 1.18, 1.75, 2.61},
                             [MYR_CLIMATE_4A] = {1.08, 1.20, 1.74, 2.61},
                             [MYR_CLIMATE_5A] = {1.08, 1.20, 1.74, 2.61},
                             [MYR_CLIMATE_5B] = {1.08, 1.19, 1.74, 2.60},
                             [MYR_CLIMATE_6B] = {1.08, 1.19, 1.73, 2.60},
                             [MYR_CLIMATE_7] = {1.08, 1.19, 1.73, 2.60}},
    [MYR_AIR_PLANT_CHILLER] = {[MYR_CLIMATE_1A] = {1.73, 2.45, 0.02, 0.10},
                               [MYR_CLIMATE_2A] = {1.65, 2.25, 0.02, 0.10},
                               [MYR_CLIMATE_3A] = {1.59, 2.10, 0.02, 0.10},
                               [MYR_CLIMATE_3C] = {1.51, 1.91, 0.02, 0.10},
                               [MYR_CLIMATE_4A] = {1.54, 1.99, 0.02, 0.10},
                               [MYR_CLIMATE_5A] = {1.51, 1.92, 0.02, 0.10},
                               [MYR_CLIMATE_5B] = {1.53, 1.96, 0.02, 0.10},
                               [MYR_CLIMATE_6B] = {1.48, 1.85, 0.02, 0.10},
                               [MYR_CLIMATE_7] = {1.46, 1.79, 0.02, 0.10}},
};

/* Shares of IT for heat that air takes, where no climate is given; and the supply's, by kind. */
static const double air_class[MYR_OVERHEAD_COUNT] = {0.06, 0.01, 0.22, 0.05, 0.01, 0.005};
static const double supply_class[MYR_OVERHEAD_COUNT] = {0, 0, 0, 0.03, 0.01, 0.005};

/* Of heat that liquid takes: pumps, and coolers outside, which need no chiller where it is cool. */
static const struct {
    double pumps, cooler, cooler_cool;
} liquid_class[MYR_COOLING_COUNT] = {
    [MYR_COOLING_COLD_PLATE] = {0.02, 0.03, 0.02}, [MYR_COOLING_IMMERSION] = {0.01, 0.03, 0.02}};

/* How much of each share is drawn at any load. */
static const double fixed[MYR_OVERHEAD_COUNT] = {0, 0.3, 0, 0.3, 0.3, 1};

/* Dry coolers with water in the hottest hours. */
#define LIQUID_WUE 0.16

/* HVDC leaves out the inverter of a UPS and the rectifier behind it: about two fifths less. */
#define HVDC_UPS_LEFT 0.6

/* The plant of the air: without a word of it a chiller of no known climate, with one outside air.
 */
struct air_plant {
    enum myr_air_plant kind;
    enum myr_climate zone;
    bool published; /* in the table above; else class values */
};

static struct air_plant plant_of(const struct myr_spec_facility *spec)
{
    struct air_plant ret = {.kind = spec->air_plant, .zone = spec->climate};
    ret.published = ret.kind != MYR_AIR_PLANT_OPEN || ret.zone != MYR_CLIMATE_OPEN;
    /* A plant without a climate stands in a mild one. */
    if (ret.kind == MYR_AIR_PLANT_OPEN) {
        ret.kind = ret.published ? MYR_AIR_PLANT_ECONOMIZER : MYR_AIR_PLANT_CHILLER;
    }
    ret.zone = ret.zone == MYR_CLIMATE_OPEN ? MYR_CLIMATE_4A : ret.zone;
    return ret;
}

/* A share of IT for heat that air takes. A hall cooled by air alone has the published middle. */
static double of_air(const struct myr_spec_facility *spec, uint32_t which)
{
    struct air_plant plant = plant_of(spec);
    const struct band *band = &bands[plant.kind][plant.zone];
    double class = 0, supply = 0;
    for (uint32_t i = 0; i < MYR_OVERHEAD_COUNT; i++) {
        class += i <= MYR_OVERHEAD_CHILLER ? air_class[i] : 0;
        supply += i > MYR_OVERHEAD_CHILLER ? air_class[i] : 0;
    }
    double heat = (band->pue_low + band->pue_high) / 2 - 1 - supply;
    return plant.published ? air_class[which] * heat / class : air_class[which];
}

/* Warm water needs chillers in the hottest zones alone. */
static double of_liquid(const struct myr_spec_facility *spec, enum myr_cooling kind, uint32_t which)
{
    bool cool = spec->climate > MYR_CLIMATE_2A;
    return which == MYR_OVERHEAD_PUMPS     ? liquid_class[kind].pumps
           : which != MYR_OVERHEAD_CHILLER ? 0
           : cool                          ? liquid_class[kind].cooler_cool
                                           : liquid_class[kind].cooler;
}

/* At full load. */
static double share_of(const struct facility *f, enum myr_cooling kind, uint32_t which)
{
    double liquid = power_liquid_share(f, kind).value;
    if (which <= MYR_OVERHEAD_CHILLER) {
        return (1 - liquid) * of_air(f->spec, which) +
               (liquid > 0 ? liquid * of_liquid(f->spec, kind, which) : 0);
    }
    double share = kind == MYR_COOLING_AIR ? air_class[which] : supply_class[which];
    if (which == MYR_OVERHEAD_UPS && f->spec->ups == MYR_UPS_NONE) {
        return 0;
    }
    return which == MYR_OVERHEAD_UPS && f->spec->supply == MYR_SUPPLY_HVDC ? share * HVDC_UPS_LEFT
                                                                           : share;
}

/* What the spec gives holds for the kind that is built, at the load of its year. */
struct chosen power_overhead(const struct facility *f, enum myr_cooling kind, uint32_t which,
                             double load)
{
    double given = f->spec->overheads[which];
    double assumed = share_of(f, kind, which) * (1 - fixed[which] + fixed[which] / load);
    return power_choose(given, given >= 0 && kind == f->kind, assumed);
}

/* The sum of its parts instead of a number that is entered: so it follows the choices. */
double power_pue(const struct facility *f, enum myr_cooling kind, double load)
{
    double pue = 1;
    for (uint32_t i = 0; i < MYR_OVERHEAD_COUNT; i++) {
        pue += power_overhead(f, kind, i, load).value;
    }
    return pue;
}

/* Litres a kWh of IT: what air's plant evaporates, and what the liquid's coolers do. */
double power_wue(const struct facility *f, enum myr_cooling kind)
{
    struct air_plant plant = plant_of(f->spec);
    const struct band *band = &bands[plant.kind][plant.zone];
    double liquid = power_liquid_share(f, kind).value;
    return (1 - liquid) * (band->wue_low + band->wue_high) / 2 + liquid * LIQUID_WUE;
}

/* Which plant and climate that is, what is published of them, and the water of a year. */
void power_climate(struct facility *f, double load)
{
    struct plan *plan = f->plan;
    struct air_plant plant = plant_of(f->spec);
    const struct band *band = &bands[plant.kind][plant.zone];
    enum myr_basis zone = f->spec->climate ? MYR_BASIS_GIVEN : MYR_BASIS_ASSUMED;
    plan_figure_word(plan, FIG_CLIMATE, plant.published ? myr_climate_names[plant.zone] : "any",
                     zone);
    plan_figure_word(plan, FIG_AIR_PLANT, myr_air_plant_names[plant.kind],
                     f->spec->air_plant ? MYR_BASIS_GIVEN : MYR_BASIS_ASSUMED);
    if (plant.published) {
        plan_figure(plan, FIG_BAND_LOW, band->pue_low, MYR_BASIS_COUNTED, "%s in zone %s",
                    myr_air_plant_names[plant.kind], myr_climate_names[plant.zone]);
        plan_figure(plan, FIG_BAND_HIGH, band->pue_high, MYR_BASIS_COUNTED, "%s in zone %s",
                    myr_air_plant_names[plant.kind], myr_climate_names[plant.zone]);
    }
    double wue = power_wue(f, f->kind), liquid = power_liquid_share(f, f->kind).value;
    plan_figure(plan, FIG_WUE, wue, MYR_BASIS_ASSUMED, "%g * %g (%s) + %g * %g", 1 - liquid,
                (band->wue_low + band->wue_high) / 2, myr_air_plant_names[plant.kind], liquid,
                LIQUID_WUE);
    plan_figure(plan, FIG_WATER, f->it_w / 1e6 * 8760 * load * wue, MYR_BASIS_COMPUTED,
                "%.1f kW * 8,760 h * %g * %.3f l", f->it_w / 1000, load, wue);
}
