#include "power/power.h"

#include <math.h>

/*
 * Whether the supply carries it: breakers of a rack, the busway of a line, UPS, what a line could
 * share, what comes at once when all GPUs start, and the floor below. A size that the spec gives is
 * held against the load; one that it leaves open is chosen, and shown.
 */

/* Ratings in which they are sold. */
static const double breakers_a[] = {16,  20,  25,  32,  40,  50,  63, 80,
                                    100, 125, 160, 200, 250, 315, 400};
static const double busways_a[] = {100,  160,  250,  400,  630,  800,  1000, 1250,
                                   1600, 2000, 2500, 3200, 4000, 5000, 6300};

/* Between phases, or of direct current: 400 and 800 by default. */
static struct chosen volts_of(const struct facility *f)
{
    bool dc = f->spec->supply == MYR_SUPPLY_HVDC;
    return power_choose(f->spec->volts, f->spec->volts > 0, dc ? 800 : 400);
}

/* Of AC; direct current has none. */
static struct chosen factor_of(const struct facility *f)
{
    return power_choose(f->spec->power_factor, f->spec->power_factor > 0, 0.95);
}

/* Three phases share an AC load: W / (sqrt(3) * V * factor). DC has neither. */
double power_amps(const struct facility *f, double watts)
{
    double volts = volts_of(f).value;
    return f->spec->supply == MYR_SUPPLY_HVDC ? watts / volts
                                              : watts / (sqrt(3.0) * volts * factor_of(f).value);
}

/* The least size whose continuous share carries the current; the largest where none does. */
static double next_size(const double *sizes, uint32_t count, double amps, double share)
{
    for (uint32_t i = 0; i < count; i++) {
        if (sizes[i] * share + 1e-9 >= amps) {
            return sizes[i];
        }
    }
    return sizes[count - 1];
}

/* The size in place, given or chosen, with the current that flows through it. */
static void put_size(struct facility *f, enum figure_id id, double given, double size, double amps)
{
    plan_figure(f->plan, id, given > 0 ? given : size,
                given > 0 ? MYR_BASIS_GIVEN : MYR_BASIS_COMPUTED, "%.1f A flow", amps);
}

#define OVERLOADED \
    "%s of %g A carries %.1f A continuously, %.1f A flow when the other feed has failed"

/* A size that the spec gives is an error; one that nobody makes is for people to solve. */
static enum myr_severity severity_of(double given)
{
    return given > 0 ? MYR_SEVERITY_ERROR : MYR_SEVERITY_WARNING;
}

/* Of one feed: what the spec gives (0: nothing), the size that was chosen, the current. */
struct feed_size {
    double given, size, amps;
};

/* One feed carries all: the other may have failed. */
static void check_feeds(struct facility *f, struct feed_size rack, struct feed_size line,
                        double share)
{
    static const char remedy[] = "a larger one, a higher voltage, or less behind it";
    double breaker = rack.given > 0 ? rack.given : rack.size;
    double busway = line.given > 0 ? line.given : line.size;
    if (rack.amps > breaker * share + 1e-9) {
        plan_finding(f->plan, severity_of(rack.given), "breaker-overload", "facility", remedy,
                     OVERLOADED, "a rack's breaker", breaker, breaker * share, rack.amps);
    }
    if (line.amps > busway * share + 1e-9) {
        plan_finding(f->plan, severity_of(line.given), "busway-overload", "facility", remedy,
                     OVERLOADED, "a line's busway", busway, busway * share, line.amps);
    }
}

/* The fullest rack and the fullest line decide, so that all have one size. */
static void put_feeds(struct facility *f)
{
    struct plan *plan = f->plan;
    const struct myr_spec_facility *spec = f->spec;
    struct chosen volts = volts_of(f), factor = factor_of(f);
    struct chosen share = power_choose(spec->continuous, spec->continuous > 0, 0.8);
    double line_w = 0;
    for (uint32_t i = 0; i < f->line_count; i++) {
        line_w = f->lines[i].watts > line_w ? f->lines[i].watts : line_w;
    }
    /* Everything on one feed: what flows when the other has failed. */
    double rack_a = power_amps(f, f->rack_w), line_a = power_amps(f, line_w);
    double breaker = next_size(breakers_a, MYR_ARRAY_COUNT(breakers_a), rack_a, share.value);
    double busway = next_size(busways_a, MYR_ARRAY_COUNT(busways_a), line_a, share.value);
    plan_figure_word(plan, FIG_SUPPLY, spec->supply == MYR_SUPPLY_HVDC ? "hvdc" : "ac",
                     spec->supply_node ? MYR_BASIS_GIVEN : MYR_BASIS_ASSUMED);
    plan_figure(plan, FIG_VOLTS, volts.value, volts.basis, "at the rack");
    plan_figure(plan, FIG_FACTOR, factor.value, factor.basis, "of AC");
    plan_figure(plan, FIG_CONTINUOUS, share.value, share.basis, "breakers and busways");
    plan_figure(plan, FIG_RACK_AMPS, rack_a, MYR_BASIS_COMPUTED, "%.2f kW at %g V",
                f->rack_w / 1000, volts.value);
    put_size(f, FIG_BREAKER, spec->breaker_a, breaker, rack_a);
    plan_figure(plan, FIG_LINE_KW, line_w / 1000, MYR_BASIS_COMPUTED, "the fullest of %u",
                f->line_count);
    plan_figure(plan, FIG_LINE_AMPS, line_a, MYR_BASIS_COMPUTED, "%.1f kW at %g V", line_w / 1000,
                volts.value);
    put_size(f, FIG_BUSWAY, spec->busway_a, busway, line_a);
    check_feeds(f, (struct feed_size){spec->breaker_a, breaker, rack_a},
                (struct feed_size){spec->busway_a, busway, line_a}, share.value);
}

/* Modules for all IT, with one more or twice as many as the kind asks for. */
static void put_ups(struct facility *f)
{
    /* By kind; the first is that of a spec that does not say. */
    static const char *const names[] = {"n+1", "none", "n", "n+1", "2n"};
    struct plan *plan = f->plan;
    const struct myr_spec_facility *spec = f->spec;
    /* One spare module is what is built if nobody says otherwise (assumed). */
    uint32_t kind = spec->ups ? spec->ups : MYR_UPS_SPARE;
    struct chosen module = power_choose(spec->ups_module_kw, spec->ups_module_kw > 0, 500);
    struct chosen minutes = power_choose(spec->ups_minutes, spec->ups_minutes >= 0, 10);
    plan_figure_word(plan, FIG_UPS_KIND, names[kind],
                     spec->ups ? MYR_BASIS_GIVEN : MYR_BASIS_ASSUMED);
    if (kind == MYR_UPS_NONE) {
        return;
    }
    /* UPS goes by the most that IT can draw, not by the operating point. */
    double n = floor(f->max_w / (module.value * 1000) + 0.999999);
    /* What the kind needs; fewer given by the spec is an error. */
    double wanted = kind == MYR_UPS_DOUBLE ? 2 * n : kind == MYR_UPS_SPARE ? n + 1 : n;
    /* What the spec gives is shown and held against what is needed. */
    double modules = spec->ups_modules ? spec->ups_modules : wanted;
    plan_figure(plan, FIG_UPS_LOAD, f->max_w / 1000, MYR_BASIS_COMPUTED, "all IT");
    plan_figure(plan, FIG_UPS_MODULE, module.value, module.basis, "of one module");
    plan_figure(plan, FIG_UPS_MODULES, modules,
                spec->ups_modules ? MYR_BASIS_GIVEN : MYR_BASIS_COMPUTED,
                "ceil(%.1f / %g) = %.0f, %s", f->max_w / 1000, module.value, n, names[kind]);
    plan_figure(plan, FIG_UPS_MINUTES, minutes.value, minutes.basis, "until generators run");
    plan_figure(plan, FIG_UPS_KWH, f->max_w / 1000 * minutes.value / 60, MYR_BASIS_COMPUTED,
                "%.1f kW * %g min", f->max_w / 1000, minutes.value);
    if (modules < wanted) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "ups-short", "facility",
                     "more modules, or larger ones",
                     "%s of %g kW for %.1f kW, %.0f are needed for %s",
                     MYR_COUNT((uint64_t)modules, "UPS module"), module.value, f->max_w / 1000,
                     wanted, names[kind]);
    }
}

/* What racks keep to themselves, and what their lines could carry if they shared it. */
static void put_pool(struct facility *f)
{
    struct plan *plan = f->plan;
    double given = 0, drawn = 0, more = 0, worst = 0;
    for (uint32_t i = 0; i < f->line_count; i++) {
        const struct power_line *line = &f->lines[i];
        /* What the line may draw: the spec's pool, or its racks' limits together. */
        double pool = f->spec->pool_kw > 0 ? f->spec->pool_kw * 1000 : line->limit_w;
        given += pool;
        drawn += line->watts;
        worst = line->watts > worst ? line->watts : worst;
        /* Whole servers that a line would still carry, if its racks shared what they have. */
        if (f->server_w > 0 && pool > line->watts) {
            more += floor((pool - line->watts) / f->server_w + 1e-9);
        }
    }
    /* Stranded is what racks may draw and do not. */
    plan_figure(plan, FIG_PROVISIONED, given / 1000, MYR_BASIS_COMPUTED, "%u lines, %llu racks",
                f->line_count, (unsigned long long)f->racks);
    plan_figure(plan, FIG_STRANDED, (given - drawn) / 1000, MYR_BASIS_COMPUTED, "%.1f - %.1f kW",
                given / 1000, drawn / 1000);
    plan_figure(plan, FIG_POOLED, more, MYR_BASIS_COMPUTED, "servers of %.2f kW",
                f->server_w / 1000);
    if (f->spec->pool_kw > 0 && worst > f->spec->pool_kw * 1000 + 0.5) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "pool-overload", "facility",
                     "a larger pool, or fewer servers in the line",
                     "a line of racks draws %.1f kW of a pool of %g kW", worst / 1000,
                     f->spec->pool_kw);
    }
}

/* All GPUs go from idle to full at once: what the supply does not accept in one step comes in
 * waves. */
static void put_step(struct facility *f)
{
    struct plan *plan = f->plan;
    const struct myr_spec_facility *spec = f->spec;
    double gpu_w = plan_figure_value(plan, FIG_GPU_W);
    struct chosen idle = power_choose(spec->idle_share, spec->idle_share >= 0, 0.15);
    /* The share of the facility's power that generators and UPS take in one step (assumed). */
    struct chosen limit = power_choose(spec->step_share, spec->step_share > 0, 0.6);
    double step = plan->gpus * gpu_w * (1 - idle.value);
    double at_once = limit.value * f->facility_w;
    /* At least one, also where nothing is known of the GPUs. */
    double waves = at_once > 0 && step > 0 ? floor(step / at_once + 0.999999) : 1;
    plan_figure(plan, FIG_STEP_IDLE, idle.value, idle.basis, "of a GPU's power limit");
    plan_figure(plan, FIG_STEP, step / 1000, MYR_BASIS_COMPUTED, "%u * %g W * (1 - %g)", plan->gpus,
                gpu_w, idle.value);
    plan_figure(plan, FIG_STEP_LIMIT, limit.value, limit.basis, "that generators and UPS accept");
    plan_figure(plan, FIG_WAVES, waves, MYR_BASIS_COMPUTED, "%.1f kW of %.1f kW at once",
                step / 1000, at_once / 1000);
    if (waves > 1) {
        plan_finding(plan,
                     limit.basis == MYR_BASIS_GIVEN ? MYR_SEVERITY_WARNING : MYR_SEVERITY_INFO,
                     "step-load", "facility",
                     myr_arena_printf(plan->arena, "start jobs in %.0f waves", waves),
                     "all GPUs starting together draw %.1f kW more at once, %.1f kW are accepted",
                     step / 1000, at_once / 1000);
    }
}

/* The heaviest rack over its own floor and its share of the aisles. */
static void put_floor(struct facility *f)
{
    struct plan *plan = f->plan;
    const struct myr_spec_facility *spec = f->spec;
    const struct myr_spec_room *room = &plan->spec->room;
    const struct myr_design *design = &plan->design;
    /* Of what stands in the heaviest rack, without the rack itself. */
    double kg = 0;
    for (uint32_t i = 0; design->room && i < design->rack_count; i++) {
        kg = design->rack_more[i].kg > kg ? design->rack_more[i].kg : kg;
    }
    /* Without a room: as many servers as the fullest rack was taken to hold. */
    double each = plan->server->watts > 0 ? floor(f->rack_w / plan->server->watts + 1e-9) : 1;
    kg = design->room ? kg : (each > 0 ? each : 1) * plan->server->weight_kg;
    struct chosen empty = power_choose(spec->rack_kg, spec->rack_kg >= 0, 150);
    struct chosen limit = power_choose(spec->floor_kg, spec->floor_kg > 0, 1600);
    double aisle = room->aisle_every ? room->aisle_m / room->aisle_every : 0;
    /* A rack stands on its pitch and its share of the aisles. */
    double area = room->row_pitch_m * (room->column_pitch_m + aisle);
    double load = (kg + empty.value) / area;
    plan_figure(plan, FIG_FLOOR, load,
                empty.basis == MYR_BASIS_GIVEN ? MYR_BASIS_COMPUTED : MYR_BASIS_ASSUMED,
                "(%.0f + %g kg) / (%g m * (%g + %g m))", kg, empty.value, room->row_pitch_m,
                room->column_pitch_m, aisle);
    plan_figure(plan, FIG_FLOOR_LIMIT, limit.value, limit.basis, "of a raised or concrete floor");
    /* An assumed floor can only be a warning. */
    if (load > limit.value) {
        plan_finding(
            plan, limit.basis == MYR_BASIS_GIVEN ? MYR_SEVERITY_ERROR : MYR_SEVERITY_WARNING,
            "floor-load", "facility", "lighter racks, wider aisles, or a stronger floor",
            "the heaviest rack loads the floor with %.1f kg/m2, it carries %g", load, limit.value);
    }
}

void power_supply(struct facility *f)
{
    put_feeds(f);
    put_ups(f);
    put_pool(f);
    put_step(f);
    put_floor(f);
}
