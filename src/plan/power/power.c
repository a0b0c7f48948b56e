#include "power/power.h"

/*
 * The building around the cluster: what all parts draw, what that costs with everything that
 * supplies and cools it, and whether breakers, busways, UPS and floor carry it. Every number is a
 * figure with its rule; what the spec does not say is a class value and marked as assumed.
 */

/* What the spec wishes of the whole, held against what came out. */
static void check_wishes(struct facility *f)
{
    const struct myr_spec_facility *spec = f->spec;
    if (spec->pue_max > 0 && f->pue > spec->pue_max + 1e-9) {
        plan_finding(f->plan, MYR_SEVERITY_ERROR, "pue-high", "facility",
                     "another kind of cooling, or better overheads",
                     "PUE is %.4f with cooling by %s, at most %g is asked for", f->pue,
                     myr_cooling_names[f->kind], spec->pue_max);
    }
    /* Half a watt is rounding. */
    if (spec->power_kw_max > 0 && f->facility_w > spec->power_kw_max * 1000 + 0.5) {
        plan_finding(f->plan, MYR_SEVERITY_ERROR, "power-short", "facility",
                     "more supply, fewer servers, or a lower PUE",
                     "the facility draws %.1f kW, %g kW are there", f->facility_w / 1000,
                     spec->power_kw_max);
    }
    if (f->rack_limit_w > 0 && f->rack_w > f->rack_limit_w + 0.5) {
        plan_finding(f->plan, MYR_SEVERITY_WARNING, "rack-power", "facility",
                     "racks that carry more", "a rack draws %.2f kW, %.2f kW are allowed",
                     f->rack_w / 1000, f->rack_limit_w / 1000);
    }
}

/* Each step reads what the ones before left in 'f' and in the figures: racks take the watts of the
 * parts, energy the fullest rack for its kind of cooling, cooling that kind, the bill its pieces.
 */
void plan_power(struct plan *plan)
{
    struct facility *f = MYR_ARENA_ONE(plan->arena, struct facility);
    f->plan = plan;
    f->spec = &plan->spec->facility;
    power_it(f);
    power_racks(f);
    power_energy(f);
    power_cooling(f);
    power_bill(f);
    power_years(f);
    power_supply(f);
    power_compare(f);
    check_wishes(f);
}
