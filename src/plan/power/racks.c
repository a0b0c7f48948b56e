#include "power/power.h"

/*
 * Racks, and lines of racks: a column of the room in its building, whose racks share a busway and a
 * pipe. Without a room both are estimated: as many racks as hold the servers, and what is left over
 * of the others behind them, in lines of twenty.
 */

/* Without a room: class value. */
enum { LINE_RACKS = 20 };

/* The first rack of the catalogue that carries a server, by the room's own default first. */
static const struct myr_part *rack_for(const struct plan *plan, double watts, double units)
{
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        const struct myr_part *part = part_at(plan, i);
        if (part->kind == MYR_PART_RACK && part->watts >= watts && part->rack_units >= units) {
            return part;
        }
    }
    return NULL;
}

/* NULL where the catalogue has no rack that states its watts. */
static const struct myr_part *largest_rack(const struct plan *plan)
{
    const struct myr_part *found = NULL;
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        const struct myr_part *part = part_at(plan, i);
        if (part->kind == MYR_PART_RACK && part->watts >= 1 &&
            (!found || part->watts > found->watts)) {
            found = part;
        }
    }
    return found;
}

/* Rounded up, as pieces() in cooling.c. */
static uint64_t count_up(double value, double each)
{
    return each > 0 && value > 0 ? (uint64_t)(value / each + 0.999999) : 0;
}

/* Rack units of everything that is no GPU server; what has no part counts as one. */
static void others(const struct plan *plan, double *ret_units)
{
    const struct myr_design *design = &plan->design;
    *ret_units = 0;
    for (uint32_t i = 0; i < design->device_count; i++) {
        if (design->place[i].kind != MYR_DEVICE_NODE) {
            uint32_t part = myr_catalog_find(
                plan->catalog, myr_str_from(plan->strings.data +
                                            plan->devtypes.items[design->device_type[i]].part));
            *ret_units += part == MYR_PART_NONE ? 1 : part_at(plan, part)->rack_units;
        }
    }
    struct plan_pieces pieces = {};
    while (plan_next_pieces(plan, &pieces)) {
        *ret_units += part_at(plan, pieces.part)->rack_units * (double)pieces.count;
    }
}

/* What the servers take, and what their racks have left for the others. */
struct guess {
    uint64_t racks;
    double limit_w; /* of these racks together: kinds of racks differ */
    double server_w, left_w, left_u;
};

/* A server that is larger than any rack brings its own, as few as the largest kind would make. */
static void guess_large(struct facility *f, const struct plan_group *group, struct guess *guess)
{
    const struct myr_part *largest = largest_rack(f->plan);
    uint64_t own =
        largest ? ceil_div((uint64_t)(group->server->watts + 0.5), (uint64_t)largest->watts) : 1;
    double each_w = group->server->watts / (double)(own ? own : 1);
    guess->racks += (own ? own : 1) * group->servers;
    guess->limit_w += group->server->watts * group->servers;
    f->rack_w = each_w > f->rack_w ? each_w : f->rack_w;
    f->rack_limit_w = each_w > f->rack_limit_w ? each_w : f->rack_limit_w;
}

/* Servers in racks of the first kind that carries one, as many in each as watts and units allow. */
static void guess_group(struct facility *f, const struct plan_group *group, struct guess *guess)
{
    const struct myr_part *server = group->server;
    const struct myr_part *rack = rack_for(f->plan, server->watts, server->rack_units);
    guess->server_w += group->servers * server->watts;
    if (!rack) {
        guess_large(f, group, guess);
        return;
    }
    double by_w = server->watts > 0 ? rack->watts / server->watts : 1;
    /* A server that states no units is limited by its watts alone. */
    double by_u = server->rack_units > 0 ? rack->rack_units / server->rack_units : by_w;
    uint32_t each = (uint32_t)(by_w < by_u ? by_w : by_u);
    each = each ? each : 1;
    uint64_t own = ceil_div(group->servers, each);
    double filled_w = each * server->watts;
    guess->racks += own;
    guess->limit_w += (double)own * rack->watts;
    /* What its racks have left is for switches and storage. */
    guess->left_w += (double)own * rack->watts - group->servers * server->watts;
    guess->left_u += (double)own * rack->rack_units - group->servers * server->rack_units;
    f->rack_limit_w = rack->watts > f->rack_limit_w ? rack->watts : f->rack_limit_w;
    f->rack_w = filled_w > f->rack_w ? filled_w : f->rack_w;
}

/* Others stand beside the servers while watts and units are left, then in racks of their own, of 42
 * units as is usual. */
static void estimate(struct facility *f)
{
    struct plan *plan = f->plan;
    struct guess guess = {};
    double units;
    others(plan, &units);
    for (uint32_t i = 0; i < plan->group_count; i++) {
        guess_group(f, &plan->groups[i], &guess);
    }
    /* Power may be stated lower than the servers' own: nothing is left for others then. */
    double other_w = f->max_w > guess.server_w ? f->max_w - guess.server_w : 0;
    uint64_t more_w = count_up(other_w - guess.left_w, f->rack_limit_w);
    uint64_t more_u = count_up(units - guess.left_u, 42);
    f->server_racks = guess.racks;
    uint64_t more = more_w > more_u ? more_w : more_u;
    f->racks = guess.racks + more;
    double limit_w = guess.limit_w + (double)more * f->rack_limit_w;
    f->line_count = ceil_div(f->racks, LINE_RACKS);
    f->lines = MYR_ARENA_NEW(plan->arena, struct power_line, f->line_count);
    for (uint32_t i = 0; i < f->line_count; i++) {
        uint64_t first = (uint64_t)i * LINE_RACKS, end = first + LINE_RACKS;
        f->lines[i].racks = (uint32_t)((end < f->racks ? end : f->racks) - first);
        /* Nobody knows what stands where: every rack draws the mean. */
        f->lines[i].watts = f->max_w * f->lines[i].racks / (double)f->racks;
        f->lines[i].limit_w = limit_w * f->lines[i].racks / (double)f->racks;
    }
    plan_figure(plan, FIG_RACKS, (double)f->racks, MYR_BASIS_ASSUMED,
                "no room: %llu for servers, %llu more for %.1f kW and %.0f U of the others",
                (unsigned long long)guess.racks, (unsigned long long)(f->racks - guess.racks),
                other_w / 1000, units);
}

/* Racks in which a GPU server stands: cold plates are on them alone. */
static uint64_t count_server_racks(const struct plan *plan)
{
    const struct myr_design *design = &plan->design;
    bool *seen = MYR_ARENA_NEW(plan->arena, bool, design->rack_count);
    uint64_t count = 0;
    for (uint32_t i = 0; i < design->device_count; i++) {
        uint32_t rack = design->device_rack[i];
        if (design->place[i].kind == MYR_DEVICE_NODE && rack < design->rack_count && !seen[rack]) {
            seen[rack] = true;
            count++;
        }
    }
    return count;
}

/* A line is a column of one building; racks of a column stand together in the design. */
static void measure(struct facility *f)
{
    struct plan *plan = f->plan;
    const struct myr_design *design = &plan->design;
    f->lines = MYR_ARENA_NEW(plan->arena, struct power_line, design->rack_count);
    uint32_t at = MYR_NONE;
    for (uint32_t i = 0; i < design->rack_count; i++) {
        const struct myr_rack_more *more = &design->rack_more[i];
        bool same = i > 0 && design->racks[i].column == design->racks[i - 1].column &&
                    more->building == design->rack_more[i - 1].building;
        /* Another column or building begins a line, but only with its first rack that is in use. */
        at = same ? at : MYR_NONE;
        /* Empty racks break no line: what is behind them hangs on the same busway. */
        if (more->units == 0) {
            continue;
        }
        at = at == MYR_NONE ? f->line_count++ : at;
        f->lines[at].watts += more->watts;
        f->lines[at].limit_w += design->racks[i].watts_max;
        f->lines[at].racks++;
        f->rack_w = more->watts > f->rack_w ? more->watts : f->rack_w;
        f->rack_limit_w = design->racks[i].watts_max > f->rack_limit_w ? design->racks[i].watts_max
                                                                       : f->rack_limit_w;
    }
    f->racks = design->room->racks_used;
    f->server_racks = count_server_racks(plan);
    plan_figure(plan, FIG_RACKS, (double)f->racks, MYR_BASIS_COUNTED, "%u racks of the room",
                design->rack_count);
}

/* Where IT power is stated, the lines share it as they share what their parts draw. */
static void scale_lines(struct facility *f)
{
    double sum = 0;
    for (uint32_t i = 0; i < f->line_count; i++) {
        sum += f->lines[i].watts;
    }
    for (uint32_t i = 0; sum > 0 && i < f->line_count; i++) {
        f->lines[i].watts *= f->it_w / sum;
    }
}

/* By the room where there is one; estimated where there is none, and marked so. */
void power_racks(struct facility *f)
{
    struct plan *plan = f->plan;
    const struct myr_spec_facility *spec = f->spec;
    bool room = plan->design.room != NULL;
    if (room) {
        measure(f);
    } else {
        estimate(f);
    }
    /* Parts and statement differ: the lines follow the statement. */
    if (spec->it_kw > 0 || spec->by_gpu) {
        scale_lines(f);
    }
    enum myr_basis basis = room ? MYR_BASIS_COUNTED : MYR_BASIS_ASSUMED;
    plan_figure(plan, FIG_RACK_KW, f->rack_w / 1000, basis, "%s",
                room ? "all that stands in it" : "its servers alone");
    plan_figure(plan, FIG_RACK_LIMIT, f->rack_limit_w / 1000, basis, "%s",
                room ? "the room's" : "the first rack part that carries a server");
    /* Prefabricated modules: enough of them for racks and for power. */
    if (spec->module_node) {
        /* Either limit may be the one that asks for more. */
        uint64_t by_racks = spec->module_racks ? ceil_div(f->racks, spec->module_racks) : 0;
        uint64_t by_kw = count_up(f->max_w, spec->module_kw * 1000);
        plan_figure(plan, FIG_MODULES, (double)(by_racks > by_kw ? by_racks : by_kw),
                    MYR_BASIS_COMPUTED, "%llu by racks, %llu by power",
                    (unsigned long long)by_racks, (unsigned long long)by_kw);
    }
}
