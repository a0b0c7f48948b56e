/*
 * facility: figures of a run's power and money, each from an option, the design or the program, in
 * this order. Nothing is computed that the plan has said already.
 */
#include "myriad/fit/facility.h"

#include "myriad/fit/campaign.h"

#define CURRENCY_MAX 8U
#define HOURS_A_YEAR 8760.0
#define KWH_CURRENCY "CNY" /* of MYR_RUN_KWH */

const char *const myr_run_from_names[MYR_RUN_FROM_COUNT] = {
    [MYR_RUN_OPTION] = "option", [MYR_RUN_DESIGN] = "design", [MYR_RUN_DEFAULT] = "default"};

const char *myr_run_from_words(const struct myr_run_figure *figure)
{
    return figure->from == MYR_RUN_OPTION       ? "given"
           : figure->from == MYR_RUN_DEFAULT    ? "assumed"
           : figure->basis == MYR_BASIS_ASSUMED ? "the design's, assumed there"
                                                : "the design's";
}

/*
 * The design's figure, unless it is none that a spec could have led to: a file may hold anything,
 * and what is charged by it must stay a number.
 */
static const struct myr_figure *planned(const struct myr_design *design, const char *path,
                                        double least, double most)
{
    const struct myr_figure *own = design ? myr_design_figure(design, path) : NULL;
    return own && own->value >= least && own->value <= most ? own : NULL;
}

/* An option beats the design, the design the program. */
static struct myr_run_figure choose(double option, const struct myr_figure *own, double otherwise)
{
    if (option >= 0) {
        return (struct myr_run_figure){true, option, MYR_RUN_OPTION, MYR_BASIS_GIVEN};
    }
    if (own) {
        return (struct myr_run_figure){true, own->value, MYR_RUN_DESIGN, own->basis};
    }
    return (struct myr_run_figure){true, otherwise, MYR_RUN_DEFAULT, MYR_BASIS_ASSUMED};
}

/* A total without its dearest part would look like a bargain: the answer says so instead. */
static bool servers_have_price(const struct myr_design *design)
{
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        if (strcmp(myr_design_str(design, row->name), "GPU server") == 0 && row->unit_cents >= 0) {
            return true;
        }
    }
    return false; /* nor where they are not part of the offer */
}

/* Prices of a design are in its currency. */
static int set_currency(const struct myr_run_facility_question *u, struct myr_run_facility *f,
                        struct myr_err *err)
{
    const char *own =
        u->design ? myr_design_str(u->design, u->design->head->currency) : KWH_CURRENCY;
    f->currency = u->currency ? u->currency : own;
    f->currency_from = u->currency ? MYR_RUN_OPTION : u->design ? MYR_RUN_DESIGN : MYR_RUN_DEFAULT;
    if (strlen(f->currency) > CURRENCY_MAX || f->currency[0] == '\0') {
        return myr_err_set(err, MYR_EINVAL, "--currency is '%.40s', a word such as USD is expected",
                           f->currency);
    }
    if (strcmp(f->currency, own) != 0 && u->design && u->gpu_hour < 0) {
        int rc =
            myr_err_set(err, MYR_EINVAL, "the design is priced in %s, not in %s", own, f->currency);
        myr_err_hint(err, "--gpu-hour PRICE takes the place of the design's price");
        return rc;
    }
    return MYR_OK;
}

/*
 * A design's tariff has a currency of its own; the plan says what one of it is in the bill's. In a
 * third one, or where nobody has compared the two, no price is known until one is given.
 */
static void set_kwh(const struct myr_run_facility_question *u, struct myr_run_facility *f)
{
    const struct myr_design *design = u->design;
    const struct myr_figure *tariff = planned(design, "power.energy.tariff_per_kwh", 0, 1e6);
    const struct myr_figure *of = planned(design, "power.energy.currency", 0, 0);
    f->kwh = choose(u->kwh, of ? tariff : NULL, MYR_RUN_KWH);
    if (f->kwh.from == MYR_RUN_OPTION) {
        return;
    }
    if (f->kwh.from == MYR_RUN_DEFAULT) { /* no design, or one of an older program */
        f->kwh.known = strcmp(f->currency, KWH_CURRENCY) == 0;
        return;
    }
    if (strcmp(f->currency, myr_design_str(design, of->text)) == 0) {
        return;
    }
    const struct myr_figure *exchange = planned(design, "power.energy.exchange", 0, 1e6);
    const char *bill = myr_design_str(design, design->head->currency);
    f->kwh.known = exchange && strcmp(f->currency, bill) == 0;
    if (f->kwh.known) {
        f->kwh.value *= exchange->value;
        /* What rests on one assumption is assumed. */
        f->kwh.basis = exchange->basis == MYR_BASIS_ASSUMED ? MYR_BASIS_ASSUMED : f->kwh.basis;
    }
}

/* As the plan counted it; a file of an older program has no such figure and is counted here. */
static int set_watts(const struct myr_run_facility_question *u, struct myr_arena *arena,
                     struct myr_run_facility *f, struct myr_err *err)
{
    const struct myr_design *design = u->design;
    f->it_watts =
        (struct myr_run_figure){true, u->gpu_watts * u->gpus, MYR_RUN_DEFAULT, MYR_BASIS_ASSUMED};
    if (!design) {
        return MYR_OK;
    }
    double part = u->gpus / design->head->gpus;
    const struct myr_figure *own = planned(design, "power.it.kw", 0, 1e12);
    const struct myr_figure *unknown = planned(design, "power.it.unknown_devices", 0, UINT32_MAX);
    if (own) {
        f->it_watts =
            (struct myr_run_figure){true, own->value * 1000 * part, MYR_RUN_DESIGN, own->basis};
        f->without_watts = unknown ? (uint32_t)unknown->value : 0;
        return MYR_OK;
    }
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_TRY(myr_catalog_init(&catalog, arena, err));
    double all = myr_design_watts(design, &catalog, u->gpu_watts * design->head->gpus_per_node);
    f->it_watts = (struct myr_run_figure){true, all * part, MYR_RUN_DESIGN, MYR_BASIS_COUNTED};
    return MYR_OK;
}

/* The job pays for its share of the whole design, network and storage included. */
static void set_machines(const struct myr_run_facility_question *u, struct myr_run_facility *f)
{
    if (u->gpu_hour >= 0) {
        f->machine_hour = (struct myr_run_figure){true, u->gpu_hour * u->gpus, MYR_RUN_OPTION,
                                                  MYR_BASIS_GIVEN}; /* 0: owned already */
        return;
    }
    if (!u->design) {
        return; /* nothing is spread over years */
    }
    const struct myr_design_head *head = u->design->head;
    double part = u->gpus / head->gpus;
    f->years =
        choose(u->years, planned(u->design, "power.energy.years", 0.01, 1000), MYR_RUN_YEARS);
    f->servers_unpriced = !servers_have_price(u->design);
    /* Bought and written off evenly over the years, busy or not. */
    double each = (double)head->total_cents / 100 * part / (f->years.value * HOURS_A_YEAR);
    f->machine_hour =
        (struct myr_run_figure){head->total_cents > 0, each, MYR_RUN_DESIGN, MYR_BASIS_COMPUTED};
}

int myr_run_facility_of(const struct myr_run_facility_question *question, struct myr_arena *arena,
                        struct myr_run_facility *ret, struct myr_err *err)
{
    struct myr_run_facility f = {};
    MYR_ASSERT(question->gpus > 0 && question->gpu_watts >= 0);
    MYR_TRY(set_currency(question, &f, err));
    MYR_TRY(set_watts(question, arena, &f, err));
    f.pue =
        choose(question->pue, planned(question->design, "power.pue.value", 1, 100), MYR_RUN_PUE);
    set_kwh(question, &f);
    set_machines(question, &f);
    *ret = f;
    return MYR_OK;
}
