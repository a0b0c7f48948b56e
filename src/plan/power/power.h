/* power: what the steps of supply, cooling and energy share. Private to the planner. */
#pragma once

#include "figures/figures.h"

/* A line of racks side by side, which share a busway, a pipe and CDUs. */
struct power_line {
    double watts, limit_w; /* drawn; what its racks may draw, each by itself */
    uint32_t racks;        /* in use */
};

/* What the steps hand on to each other: IT and racks first, then what supplies and cools them.
 * Watts throughout; figures show kW. */
struct facility {
    struct plan *plan;                    /* figures, findings and lines of the bill go there */
    const struct myr_spec_facility *spec; /* never NULL: all keys have a value for 'not given' */
    double it_w, max_w;                   /* at the operating point of the cables; the most */
    double server_w;                      /* of one server of the first kind */
    uint64_t racks;                       /* in use */
    uint64_t server_racks;                /* of them, those with a GPU server */
    double rack_w, rack_limit_w;          /* of the fullest one; of what one may draw */
    uint32_t line_count;
    struct power_line *lines; /* those with racks in use; without a room all alike */
    enum myr_cooling kind;    /* given, or chosen by the fullest rack */
    double pue;               /* at the load of the year */
    double facility_w, liquid_share, liquid_w; /* facility_w: IT and all that serves it */
    double connectors, cdus, coolant_l;        /* pieces, pieces with spares, litres */
    const char *currency;                      /* of the energy */
};

/* A value of the spec, or the class value where the spec is silent. */
struct chosen {
    double value;
    enum myr_basis basis;
};

static inline struct chosen power_choose(double given, bool is_given, double assumed)
{
    return is_given ? (struct chosen){given, MYR_BASIS_GIVEN}
                    : (struct chosen){assumed, MYR_BASIS_ASSUMED};
}

/* it.c: what the parts draw */
void power_it(struct facility *f);
/* racks.c: what stands together */
void power_racks(struct facility *f);
/* energy.c: PUE, energy, money, carbon, and the three kinds of cooling side by side */
enum myr_cooling power_kind(const struct facility *f, enum myr_basis *ret_basis);
/* Sets kind, PUE and facility power; comes before power_cooling(). */
void power_energy(struct facility *f);
void power_compare(struct facility *f);
/* climate.c: a share of IT power for a kind of cooling, at a load; the PUE of all; water in l/kWh
 */
struct chosen power_overhead(const struct facility *f, enum myr_cooling kind, uint32_t which,
                             double load);
double power_pue(const struct facility *f, enum myr_cooling kind, double load);
double power_wue(const struct facility *f, enum myr_cooling kind);
void power_climate(struct facility *f, double load);
/* cooling.c: liquid, air, CDUs and what else is bought for it */
struct chosen power_liquid_share(const struct facility *f, enum myr_cooling kind);
/* For any kind, also one that is not built: pieces, litres, units. */
double power_connectors(const struct facility *f, enum myr_cooling kind);
double power_coolant_l(const struct facility *f, enum myr_cooling kind, double liquid_w,
                       double cdus);
double power_cdus(const struct facility *f, double liquid_share);
void power_cooling(struct facility *f);
/* bill.c: the plant as lines of the bill, where the spec asks for it */
void power_bill(struct facility *f);
/* Behind the last line of the bill. */
void power_years(struct facility *f);
/* supply.c: breakers, busways, UPS, pools, step load, floor */
void power_supply(struct facility *f);
/* Amperes of a load on one feed. */
double power_amps(const struct facility *f, double watts);
