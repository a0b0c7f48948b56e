/*
 * spec_facility: the building services that a spec asks for: supply, cooling, energy.
 *
 * Nothing of it has to be said: what is absent is below zero, 0 or NULL here, and the planner takes
 * a class value and shows it as assumed (docs/planning.md, "Power and cooling").
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct myr_doc;

enum myr_cooling {
    MYR_COOLING_OPEN, /* by the power of a rack */
    MYR_COOLING_AIR,
    MYR_COOLING_COLD_PLATE,
    MYR_COOLING_IMMERSION,
    MYR_COOLING_COUNT,
};
extern const char *const myr_cooling_names[MYR_COOLING_COUNT];

/* What is drawn beside IT, each as a share of it. */
enum myr_overhead {
    MYR_OVERHEAD_FANS,
    MYR_OVERHEAD_PUMPS,
    MYR_OVERHEAD_CHILLER,
    MYR_OVERHEAD_UPS,
    MYR_OVERHEAD_TRANSFORMER,
    MYR_OVERHEAD_LIGHTING,
    MYR_OVERHEAD_COUNT,
};
extern const char *const myr_overhead_names[MYR_OVERHEAD_COUNT];

/* Zones of ASHRAE 169, of which figures are published; and what cools the air. */
enum myr_climate {
    MYR_CLIMATE_OPEN,
    MYR_CLIMATE_1A,
    MYR_CLIMATE_2A,
    MYR_CLIMATE_3A,
    MYR_CLIMATE_3C,
    MYR_CLIMATE_4A,
    MYR_CLIMATE_5A,
    MYR_CLIMATE_5B,
    MYR_CLIMATE_6B,
    MYR_CLIMATE_7,
    MYR_CLIMATE_COUNT,
};
extern const char *const myr_climate_names[MYR_CLIMATE_COUNT];
enum myr_air_plant {
    MYR_AIR_PLANT_OPEN,
    MYR_AIR_PLANT_ECONOMIZER, /* outside air, with water in the hottest hours */
    MYR_AIR_PLANT_TOWER,      /* chillers cooled by water, and a water economizer */
    MYR_AIR_PLANT_CHILLER,    /* chillers cooled by air */
    MYR_AIR_PLANT_COUNT,
};
extern const char *const myr_air_plant_names[MYR_AIR_PLANT_COUNT];

enum myr_ups { MYR_UPS_OPEN, MYR_UPS_NONE, MYR_UPS_N, MYR_UPS_SPARE, MYR_UPS_DOUBLE };
enum myr_supply { MYR_SUPPLY_AC, MYR_SUPPLY_HVDC };
enum myr_coolant { MYR_COOLANT_WATER, MYR_COOLANT_GLYCOL };
enum myr_cdu_per { MYR_CDU_ROW, MYR_CDU_ROOM };

struct myr_spec_facility {
    const struct myr_doc *node; /* NULL: not said; the sections below, for messages */
    const struct myr_doc *ups_node, *supply_node, *cdu_node, *pool_node, *module_node;
    uint32_t cooling;                        /* enum myr_cooling */
    uint32_t climate, air_plant;             /* enum myr_climate, myr_air_plant */
    bool bill;                               /* cooling plant has lines in the bill */
    double overheads[MYR_OVERHEAD_COUNT];    /* below 0: by the kind of cooling */
    double cooling_price[MYR_COOLING_COUNT]; /* of plant, per kW of IT, in the energy's currency */
    double it_kw;                            /* stated by somebody; 0: the sum over all parts */
    bool by_gpu;                             /* IT by the rule of one GPU instead */
    double gpu_w, host_w, other_share;
    double load; /* mean over the year, a share of IT */

    double tariff, grid_kg, green_share, years, exchange;
    const char *currency; /* of the tariff */

    double liquid_share, liquid_k, pipe_m, head_kpa;
    uint32_t coolant;
    double air_k, air_rack_kw; /* the most that air takes from one rack */
    double cdu_kw, cdu_derate;
    double cdu_spares; /* below 0: one */
    uint32_t cdu_per;

    uint32_t ups, ups_modules;
    double ups_module_kw, ups_minutes;
    uint32_t supply;
    double volts, power_factor, continuous; /* continuous: share of a rating that may flow */
    double breaker_a, busway_a;             /* 0: the next standard size is taken */
    double pool_kw;                         /* of one line of racks; 0: racks keep to themselves */
    double floor_kg, rack_kg;               /* per square metre; of an empty rack */
    double idle_share, step_share;
    double heat_reuse;
    uint32_t module_racks;
    double module_kw;
    double pue_max, power_kw_max; /* wishes; 0: none */
};
