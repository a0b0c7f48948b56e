#include "power/power.h"

#include <math.h>

/*
 * Liquid and air, the units that move them, and what has to be bought for that. IT power is split
 * into what liquid takes and what is left to air, by the kind of cooling; flows follow from the
 * heat and the rise in temperature, CDUs and pipes from the lines of racks. The functions that take
 * a kind are asked for all three of them, for the comparison in energy.c.
 */

#define FLOW_WATER  14.3 /* l/min for a kW and a kelvin */
#define FLOW_GLYCOL 15.0
#define AIRFLOW     2985.0 /* m3/h for a kW and a kelvin */
#define AIR_UNIT_KW 100.0  /* of one air unit, class value */

/* Rounded up. What is a millionth above a whole number is noise of the arithmetic. */
static uint64_t pieces(double value, double each)
{
    return value > 0 && each > 0 ? (uint64_t)(value / each + 0.999999) : 0;
}

/* The spec's share holds for the kind that is built; cold plates it is compared with take 0.75. */
struct chosen power_liquid_share(const struct facility *f, enum myr_cooling kind)
{
    if (kind == MYR_COOLING_AIR) {
        return (struct chosen){0, MYR_BASIS_COMPUTED};
    }
    if (kind == MYR_COOLING_IMMERSION) {
        return (struct chosen){1, MYR_BASIS_COMPUTED};
    }
    bool given = f->spec->liquid_share > 0 && kind == f->kind;
    return power_choose(f->spec->liquid_share, given, 0.75);
}

/* Boxes with a cold plate: servers, or the trays of a rack-scale one. */
double power_connectors(const struct facility *f, enum myr_cooling kind)
{
    return kind == MYR_COOLING_COLD_PLATE  ? 2.0 * f->plan->nodes
           : kind == MYR_COOLING_IMMERSION ? 2.0 * (double)f->racks
                                           : 0;
}

/* Litres: 100 for a CDU, 1.2 for a kW of liquid heat (assumed), and what fills tanks. */
double power_coolant_l(const struct facility *f, enum myr_cooling kind, double liquid_w,
                       double cdus)
{
    double litres = 100 * cdus + 1.2 * liquid_w / 1000;
    /* A tank holds the boxes of a rack under a litre for each kilogram or so. */
    return kind == MYR_COOLING_IMMERSION ? litres + 700 * (double)f->racks : litres;
}

/* 1.2 MW rated and 80 % of it relied upon, where the spec does not say. */
static struct chosen cdu_kw(const struct facility *f)
{
    return power_choose(f->spec->cdu_kw, f->spec->cdu_kw > 0, 1200);
}

static struct chosen cdu_derate(const struct facility *f)
{
    return power_choose(f->spec->cdu_derate, f->spec->cdu_derate > 0, 0.8);
}

/* Each line has units and spares of its own; with 'per: room' all lines share them. */
double power_cdus(const struct facility *f, double liquid_share)
{
    double relied = cdu_kw(f).value * 1000 * cdu_derate(f).value;
    double spares = f->spec->cdu_spares >= 0 ? f->spec->cdu_spares : 1;
    double count = 0, all = 0;
    if (liquid_share <= 0) {
        return 0;
    }
    for (uint32_t i = 0; i < f->line_count; i++) {
        count += (double)pieces(f->lines[i].watts * liquid_share, relied) + spares;
        all += f->lines[i].watts * liquid_share;
    }
    return f->spec->cdu_per == MYR_CDU_ROOM ? (double)pieces(all, relied) + spares : count;
}

/* ---- pipes ---- */

/* Stock sizes of pipes. */
static const uint32_t bores_mm[] = {25,  32,  40,  50,  65,  80,  100, 125,
                                    150, 200, 250, 300, 350, 400, 500, 600};

/* In metres a second. */
static double speed(double litres_min, uint32_t bore_mm)
{
    double radius = bore_mm / 2000.0;
    return litres_min / 60000 / (3.14159265358979 * radius * radius);
}

/* Supply and return of one line: from the room's columns, or twenty racks of 0.6 m. */
static double pipe_m(const struct facility *f)
{
    const struct myr_spec_room *room = &f->plan->spec->room;
    uint32_t most = 0;
    for (uint32_t i = 0; i < f->line_count; i++) {
        most = f->lines[i].racks > most ? f->lines[i].racks : most;
    }
    return 2 * (most * room->row_pitch_m + 10); /* ten metres to the CDU and around corners */
}

/* For the fullest line: all lines get the same pipe. 'flow_per_w' is in litres a minute. */
static void put_pipes(struct facility *f, double flow_per_w)
{
    struct plan *plan = f->plan;
    double most = 0;
    for (uint32_t i = 0; i < f->line_count; i++) {
        most = f->lines[i].watts > most ? f->lines[i].watts : most;
    }
    double flow = most * f->liquid_share * flow_per_w;
    uint32_t bore = 0;
    /* The least bore with at most 2 m/s; the widest where none has that. */
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(bores_mm) && (bore == 0 || speed(flow, bore) > 2);
         i++) {
        bore = bores_mm[i];
    }
    struct chosen length = power_choose(f->spec->pipe_m, f->spec->pipe_m > 0, pipe_m(f));
    struct chosen head = power_choose(f->spec->head_kpa, f->spec->head_kpa > 0, 200);
    double v = speed(flow, bore);
    /* 0.02 is the friction factor, 1,000 kg/m3 the density of water; in kPa. */
    double drop = 0.02 * length.value / (bore / 1000.0) * 1000 * v * v / 2 / 1000;
    plan_figure(plan, FIG_PIPE_M, length.value, length.basis, "there and back, 10 m to the CDU");
    plan_figure(plan, FIG_PIPE_MM, bore, MYR_BASIS_COMPUTED, "%.1f l/min of the fullest line",
                flow);
    plan_figure(plan, FIG_PIPE_SPEED, v, MYR_BASIS_COMPUTED, "%.1f l/min in %u mm", flow, bore);
    plan_figure(plan, FIG_PIPE_KPA, drop, MYR_BASIS_COMPUTED, "%.1f m of %u mm at %.2f m/s",
                length.value, bore, v);
    plan_figure(plan, FIG_PIPE_HEAD, head.value, head.basis, "for pipes alone, beside plates");
    /* More than 3 m/s is left only where not even the widest pipe is enough. */
    if (drop > head.value || v > 3) {
        plan_finding(plan, MYR_SEVERITY_WARNING, "pipe-pressure", "facility",
                     "CDUs nearer to their racks, or a wider pipe",
                     "%.1f m of %u mm pipe lose %.1f kPa at %.2f m/s, a CDU presses %g kPa",
                     length.value, bore, drop, v, head.value);
    }
}

/* ---- all of it ---- */

/* What has to be bought for it, whoever pays; power/bill.c makes lines of it where asked. */
static void put_bill(struct facility *f)
{
    struct plan *plan = f->plan;
    /* Manifolds are for cold plates, tanks for immersion, connectors for both; air needs none. */
    bool plate = f->kind == MYR_COOLING_COLD_PLATE, tank = f->kind == MYR_COOLING_IMMERSION;
    plan_figure(plan, FIG_BILL_CDUS, f->cdus, MYR_BASIS_COMPUTED, "with spares");
    uint64_t cooled = plate ? f->server_racks : 0;
    plan_figure(plan, FIG_BILL_MANIFOLDS, 2 * (double)cooled, MYR_BASIS_COMPUTED, "2 * %llu racks",
                (unsigned long long)cooled);
    plan_figure(plan, FIG_BILL_CONNECTORS, f->connectors, MYR_BASIS_COMPUTED, "2 * %u %s",
                plate  ? plan->nodes
                : tank ? (uint32_t)f->racks
                       : 0,
                tank ? "tanks" : "boxes");
    plan_figure(plan, FIG_BILL_COOLANT, f->coolant_l, MYR_BASIS_ASSUMED, "100 a CDU, 1.2 a kW%s",
                tank ? ", 700 a tank" : "");
    plan_figure(plan, FIG_BILL_TANKS, tank ? (double)f->racks : 0, MYR_BASIS_COMPUTED,
                "one a rack, with immersion");
    double air_w = f->it_w - f->liquid_w;
    /* Even cold plates leave a share to air units; one more stands by. */
    double units = air_w > 0 ? (double)pieces(air_w / 1000, AIR_UNIT_KW) + 1 : 0;
    plan_figure(plan, FIG_BILL_AIR_UNITS, units, MYR_BASIS_ASSUMED, "%.1f kW / 100 kW, one spare",
                air_w / 1000);
}

/* Figures of the CDUs, in the order of their rule. */
static void put_cdus(struct facility *f)
{
    struct plan *plan = f->plan;
    bool given = f->spec->cdu_spares >= 0;
    f->cdus = power_cdus(f, f->liquid_share);
    plan_figure(plan, FIG_CDU_KW, cdu_kw(f).value, cdu_kw(f).basis, "heat that it takes over");
    plan_figure(plan, FIG_CDU_DERATE, cdu_derate(f).value, cdu_derate(f).basis, "of its rating");
    plan_figure(plan, FIG_CDU_SPARES, given ? f->spec->cdu_spares : 1,
                given ? MYR_BASIS_GIVEN : MYR_BASIS_ASSUMED, "N + this many");
    plan_figure(plan, FIG_CDU_LINES, f->line_count, MYR_BASIS_COUNTED, "%llu racks",
                (unsigned long long)f->racks);
    plan_figure(plan, FIG_CDUS, f->cdus, MYR_BASIS_COMPUTED,
                "%.1f kW of liquid in %u lines, %g kW * %g each; per %s", f->liquid_w / 1000,
                f->line_count, cdu_kw(f).value, cdu_derate(f).value,
                f->spec->cdu_per == MYR_CDU_ROOM ? "room" : "line");
    /* No spare is a warning only where the spec asks for none: by default there is one. */
    if (f->cdus > 0 && given && f->spec->cdu_spares == 0) {
        plan_finding(plan, MYR_SEVERITY_WARNING, "cdu-no-spare", "facility",
                     "facility: {cdu: {spares: 1}}",
                     "a CDU that fails stops its racks: there is no spare");
    }
}

/* Heat that others could use: what liquid carries away, of which a share is taken. */
static void put_heat(struct facility *f)
{
    struct plan *plan = f->plan;
    double given = f->spec->heat_reuse;
    struct chosen share = power_choose(given, given >= 0, 0);
    double load = plan_figure_value(plan, FIG_LOAD);
    plan_figure(plan, FIG_REUSE_SHARE, share.value, share.basis, "of what liquid carries");
    plan_figure(plan, FIG_REUSABLE, f->liquid_w / 1000, MYR_BASIS_COMPUTED, "all of the liquid's");
    plan_figure(plan, FIG_REUSED, f->liquid_w / 1e6 * share.value * load * 8760, MYR_BASIS_COMPUTED,
                "%.1f kW * %g * %g * 8,760 h", f->liquid_w / 1000, share.value, load);
}

/* Splits the heat between liquid and air, and from that follow flows, units, pipes and the bill. */
void power_cooling(struct facility *f)
{
    struct plan *plan = f->plan;
    const struct myr_spec_facility *spec = f->spec;
    struct chosen share = power_liquid_share(f, f->kind);
    struct chosen liquid_k = power_choose(spec->liquid_k, spec->liquid_k > 0, 10);
    struct chosen air_k = power_choose(spec->air_k, spec->air_k > 0, 12);
    bool glycol = spec->coolant == MYR_COOLANT_GLYCOL;
    /* Litres a minute for one kW: the wider the rise in temperature, the less has to flow. */
    double flow = (glycol ? FLOW_GLYCOL : FLOW_WATER) / liquid_k.value;
    f->liquid_share = share.value;
    f->liquid_w = f->it_w * share.value;
    double air_w = f->it_w - f->liquid_w;
    /* In the order in which the answer shows them. */
    plan_figure_word(plan, FIG_COOLING, myr_cooling_names[f->kind],
                     spec->cooling ? MYR_BASIS_GIVEN : MYR_BASIS_ASSUMED);
    plan_figure(plan, FIG_LIQUID_SHARE, share.value, share.basis, "%s", myr_cooling_names[f->kind]);
    plan_figure(plan, FIG_LIQUID_KW, f->liquid_w / 1000, MYR_BASIS_COMPUTED, "%.1f kW * %g",
                f->it_w / 1000, share.value);
    plan_figure(plan, FIG_AIR_KW, air_w / 1000, MYR_BASIS_COMPUTED, "%.1f - %.1f kW",
                f->it_w / 1000, f->liquid_w / 1000);
    plan_figure_word(plan, FIG_COOLANT, glycol ? "glycol-25" : "water",
                     glycol ? MYR_BASIS_GIVEN : MYR_BASIS_ASSUMED);
    plan_figure(plan, FIG_LIQUID_K, liquid_k.value, liquid_k.basis, "supply to return");
    plan_figure(plan, FIG_FLOW, f->liquid_w / 1000 * flow, MYR_BASIS_COMPUTED, "%g * %.1f / %g",
                glycol ? FLOW_GLYCOL : FLOW_WATER, f->liquid_w / 1000, liquid_k.value);
    plan_figure(plan, FIG_AIR_K, air_k.value, air_k.basis, "front to back");
    plan_figure(plan, FIG_AIRFLOW, AIRFLOW * air_w / 1000 / air_k.value, MYR_BASIS_COMPUTED,
                "2,985 * %.1f / %g", air_w / 1000, air_k.value);
    /* Pipes need the flow, the bill the units, reuse the liquid's heat. */
    put_cdus(f);
    if (f->liquid_w > 0) {
        put_pipes(f, flow / 1000);
    }
    f->connectors = power_connectors(f, f->kind);
    f->coolant_l = power_coolant_l(f, f->kind, f->liquid_w, f->cdus);
    put_bill(f);
    put_heat(f);
}
