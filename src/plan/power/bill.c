#include "power/power.h"

/*
 * The cooling plant as lines of the bill, where the spec asks for it: a customer who buys the
 * building elsewhere would pay twice otherwise. Parts without a price are findings, as all others.
 */

/* Figures that are pieces to buy, with their parts of the catalogue. */
static const struct {
    enum figure_id figure;
    const char *part, *name;
} rows[] = {
    {FIG_CDUS, "cooling-cdu", "coolant distribution unit"},
    {FIG_BILL_MANIFOLDS, "cooling-manifold", "rack manifold"},
    {FIG_BILL_CONNECTORS, "cooling-connector", "quick connector"},
    {FIG_BILL_COOLANT, "cooling-coolant", "coolant, a litre"},
    {FIG_BILL_TANKS, "cooling-tank", "immersion tank"},
    {FIG_BILL_AIR_UNITS, "cooling-air-unit", "air unit of 100 kW"},
};

/* What the bill and its years cost with them. */
static void again(struct facility *f, int64_t before_cents)
{
    struct plan *plan = f->plan;
    /* Only the cost of the years is put right: it was computed from the bill without the plant. */
    double more = (double)(plan->design.head->total_cents - before_cents) / 100;
    double years = plan_figure_value(plan, FIG_TCO);
    if (more > 0 && years > 0) {
        plan_figure_again(plan, FIG_TCO, years + more, "%.2f + cooling plant %.2f", years, more);
    }
}

/* Behind the figures of cooling, which say how many, and before those of supply. */
void power_bill(struct facility *f)
{
    struct plan *plan = f->plan;
    int64_t before_cents = plan->design.head->total_cents;
    if (!f->spec->bill) {
        return;
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        uint32_t part = myr_catalog_find(plan->catalog, myr_str_from(rows[i].part));
        /* Litres come as fractions, and are bought whole. */
        uint64_t quantity = (uint64_t)(plan_figure_value(plan, rows[i].figure) + 0.999999);
        if (part != MYR_PART_NONE && quantity > 0) {
            plan_bill_row(plan, "cooling", rows[i].name, part, quantity,
                          plan_figure_rule(rows[i].figure),
                          myr_arena_printf(plan->arena, "%s, %.1f kW of IT",
                                           myr_cooling_names[f->kind], f->it_w / 1000));
        }
    }
    again(f, before_cents);
}

/* A bill without one price is no sum of nothing: unpriced is never free, nor are its years. */
void power_years(struct facility *f)
{
    struct plan *plan = f->plan;
    plan_price_figures(plan);
    plan_spares(plan);
    if (!plan_priced(plan)) {
        plan_figure_drop(plan, FIG_TCO);
    }
}
