#include "power/power.h"

/*
 * What the parts draw. A switch draws by what is plugged into it: three operating points are in the
 * catalogue (copper, multimode, the most), and a bill of energy at the most would be too high by a
 * fifth. Breakers and UPS are sized by the most all the same.
 */

/* Sums that the plan shows apart. */
enum sum {
    SUM_SERVERS,
    SUM_STORAGE,
    SUM_FABRIC,
    SUM_ETHERNET,
    SUM_MANAGEMENT,
    SUM_OTHER,
    SUM_COUNT
};

static const enum figure_id sum_figures[SUM_COUNT] = {FIG_IT_SERVERS,    FIG_IT_STORAGE,
                                                      FIG_IT_FABRIC,     FIG_IT_ETHERNET,
                                                      FIG_IT_MANAGEMENT, FIG_IT_OTHER};

/* Watts at the operating point and at the most, and devices behind them; 'unknown' are those whose
 * part states no watts. */
struct tally {
    double now[SUM_COUNT], most[SUM_COUNT];
    uint64_t count[SUM_COUNT], unknown;
};

/* Switches of the compute and storage networks are fabric, all others Ethernet. */
static enum sum sum_of(const struct myr_place *place)
{
    switch (place->kind) {
    case MYR_DEVICE_STORAGE:
        return SUM_STORAGE;
    case MYR_DEVICE_MANAGEMENT:
    case MYR_DEVICE_FABRIC_MANAGER:
        return SUM_MANAGEMENT;
    default:
        return place->net == MYR_NET_COMPUTE || place->net == MYR_NET_STORAGE ? SUM_FABRIC
                                                                              : SUM_ETHERNET;
    }
}

/* The most demanding kind of cable in the switch. */
static uint32_t medium_of(const struct plan *plan, uint32_t device)
{
    const struct myr_design *design = &plan->design;
    uint32_t most = MYR_MEDIUM_COPPER;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link != MYR_NONE) {
            const struct myr_cabletype *type =
                &plan->cabletypes.items[design->cable_type[design->link_cable[link]]];
            most = type->medium > most ? type->medium : most;
        }
    }
    return most;
}

/* What one device draws. A switch without operating points draws its most; several in a box share
 * the box's watts. */
static double watts_with(const struct plan *plan, const struct myr_part *part, uint32_t device)
{
    if (part->kind != MYR_PART_SWITCH) {
        return part->watts;
    }
    const struct myr_part_switch *sw = &part->sw;
    /* Where no point is stated the cables need not be looked at. */
    uint32_t medium = sw->watts_copper > 0 || sw->watts_multimode > 0 ? medium_of(plan, device)
                                                                      : MYR_MEDIUM_SINGLE;
    double watts = medium == MYR_MEDIUM_COPPER  ? sw->watts_copper
                   : medium == MYR_MEDIUM_MULTI ? sw->watts_multimode
                                                : part->watts;
    return (watts > 0 ? watts : part->watts) / sw->per_box;
}

/* 'now' and 'most' are watts of one device. */
static void add(struct tally *tally, enum sum sum, uint64_t count, double now, double most)
{
    tally->now[sum] += now * (double)count;
    tally->most[sum] += most * (double)count;
    tally->count[sum] += count;
    tally->unknown += most > 0 ? 0 : count;
}

/* Parts are looked up once for each type: a design has few types and many devices. */
static void add_devices(const struct plan *plan, struct tally *tally)
{
    const struct myr_design *design = &plan->design;
    uint32_t *parts = MYR_ARENA_NEW(plan->arena, uint32_t, plan->devtypes.count);
    for (size_t i = 0; i < plan->devtypes.count; i++) {
        parts[i] = myr_catalog_find(
            plan->catalog, myr_str_from(plan->strings.data + plan->devtypes.items[i].part));
    }
    for (uint32_t i = 0; i < design->device_count; i++) {
        const struct myr_place *place = &design->place[i];
        uint32_t part = parts[design->device_type[i]];
        if (place->kind == MYR_DEVICE_NODE || place->kind >= MYR_DEVICE_PDU) {
            continue; /* counted by servers; what supplies and cools is in the overheads */
        }
        if (part == MYR_PART_NONE) {
            add(tally, sum_of(place), 1, 0, 0);
            continue;
        }
        const struct myr_part *what = part_at(plan, part);
        double most = what->watts / (what->kind == MYR_PART_SWITCH ? what->sw.per_box : 1);
        add(tally, sum_of(place), 1, watts_with(plan, what, i), most);
    }
}

/* What the room says of its servers beats the part's sheet. */
static void add_servers(struct facility *f, struct tally *tally)
{
    const struct plan *plan = f->plan;
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct plan_group *group = &plan->groups[i];
        /* One figure of the room cannot be right for several kinds of servers. */
        double stated = plan->group_count == 1 ? plan->spec->room.server_kw * 1000 : 0;
        double watts = stated > 0 ? stated : group->server->watts;
        add(tally, SUM_SERVERS, group->servers, watts, watts);
        f->server_w = i == 0 ? watts : f->server_w;
    }
}

/* Tiers behind the flash have servers without devices: they are in the bill and in the power. */
static void add_tiers(const struct plan *plan, struct tally *tally)
{
    for (uint32_t tier = 0; tier < MYR_TIER_COUNT; tier++) {
        uint32_t part, count = plan_tier_servers(plan, tier, &part);
        if (count) {
            double watts = part_at(plan, part)->watts;
            add(tally, SUM_STORAGE, count, watts, watts);
        }
    }
}

/* Boxes that the spec orders by the piece. What goes by GPU, port or server is no box. */
static void add_items(const struct plan *plan, struct tally *tally)
{
    for (size_t i = 0; i < plan->spec->items.count; i++) {
        const struct myr_spec_item *item = &plan->spec->items.items[i];
        const struct myr_part *part = part_at(plan, item->part);
        if (part->kind == MYR_PART_DEVICE && item->per == MYR_PER_PIECE) {
            add(tally, SUM_OTHER, plan_started_pieces(item->quantity), part->watts, part->watts);
        }
    }
}

/* Of one GPU; where groups differ the mean over all, so that GPUs times it is right. */
static double gpu_watts(const struct plan *plan, const char **ret_names)
{
    double watts = 0;
    *ret_names = "";
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct plan_group *group = &plan->groups[i];
        const char *name = group->server->server.gpu;
        uint32_t gpu = myr_catalog_find(plan->catalog, myr_str_from(name));
        uint64_t count = (uint64_t)group->nodes * group->server->server.gpus_per_node;
        double each = gpu == MYR_PART_NONE ? 0 : part_at(plan, gpu)->watts;
        if (plan->group_count == 1) {
            *ret_names = name;
            return each;
        }
        watts += each * (double)count;
        *ret_names = myr_arena_printf(plan->arena, "%s%s%llu %s of %g W", *ret_names, i ? ", " : "",
                                      (unsigned long long)count, name, each);
    }
    return plan->gpus ? watts / plan->gpus : 0;
}

/* The rule of one GPU, as people reckon on one line; shown beside the sum over the parts. */
static double put_rule(struct facility *f)
{
    const struct myr_spec_facility *spec = f->spec;
    const struct plan *plan = f->plan;
    const char *names;
    double tdp = gpu_watts(plan, &names);
    bool given = spec->gpu_w > 0;
    /* 575 W for the host's share of one GPU and a tenth for all else (docs/planning.md). */
    struct chosen host = power_choose(spec->host_w, spec->host_w >= 0, 575);
    struct chosen other = power_choose(spec->other_share, spec->other_share >= 0, 0.1);
    double watts = given ? spec->gpu_w : tdp;
    plan_figure(f->plan, FIG_GPU_W, watts, given ? MYR_BASIS_GIVEN : MYR_BASIS_COUNTED, "%s",
                given ? "per_gpu" : names);
    plan_figure(f->plan, FIG_HOST_W, host.value, host.basis, "processors, memory, NICs, fans");
    plan_figure(f->plan, FIG_OTHER_SHARE, other.value, other.basis, "switches, storage");
    double rule = (watts + host.value) * (1 + other.value);
    plan_figure(f->plan, FIG_GPU_RULE, rule / 1000, MYR_BASIS_COMPUTED, "(%g + %g) * (1 + %g) W",
                watts, host.value, other.value);
    return rule;
}

/* Sums by use first, then the rule of one GPU beside them, then the figure that counts. */
void power_it(struct facility *f)
{
    struct plan *plan = f->plan;
    const struct myr_spec_facility *spec = f->spec;
    struct tally tally = {};
    /* Servers by their groups, all else device by device, then what has no devices. */
    add_servers(f, &tally);
    add_devices(plan, &tally);
    add_tiers(plan, &tally);
    add_items(plan, &tally);
    double sum = 0;
    /* Sums of the operating point are shown; those of the most go into one figure. */
    for (uint32_t i = 0; i < SUM_COUNT; i++) {
        bool room = i == SUM_SERVERS && plan->group_count == 1 && plan->spec->room.server_kw > 0;
        plan_figure(plan, sum_figures[i], tally.now[i] / 1000,
                    room ? MYR_BASIS_GIVEN : MYR_BASIS_COUNTED, "%llu, %.1f W each in the mean",
                    (unsigned long long)tally.count[i],
                    tally.count[i] ? tally.now[i] / (double)tally.count[i] : 0);
        sum += tally.now[i];
        f->max_w += tally.most[i];
    }
    /* What breakers and UPS have to carry, and how much of the list is not in it. */
    plan_figure(plan, FIG_IT_MAX, f->max_w / 1000, MYR_BASIS_COUNTED, "all parts at their most");
    plan_figure(plan, FIG_IT_UNKNOWN, (double)tally.unknown, MYR_BASIS_COUNTED,
                "they are in no sum");
    double rule = put_rule(f);
    /* Stated power beats the rule of one GPU, and that the sum of the parts; all three are shown.
     */
    f->it_w = spec->it_kw > 0 ? spec->it_kw * 1000 : spec->by_gpu ? rule * plan->gpus : sum;
    /* A stated power is the most as well: nothing else is known of it. */
    bool stated = spec->it_kw > 0 || spec->by_gpu;
    f->max_w = stated ? f->it_w : f->max_w;
    plan_figure_word(plan, FIG_IT_SOURCE,
                     spec->it_kw > 0 ? "stated"
                     : spec->by_gpu  ? "per-gpu"
                                     : "parts",
                     stated ? MYR_BASIS_GIVEN : MYR_BASIS_COUNTED);
    plan_figure(plan, FIG_IT, f->it_w / 1000, stated ? MYR_BASIS_GIVEN : MYR_BASIS_COMPUTED,
                "parts %.1f kW; %u GPUs by rule %.1f kW%s", sum / 1000, plan->gpus,
                rule * plan->gpus / 1000, spec->it_kw > 0 ? "; stated in the spec" : "");
    plan_figure(plan, FIG_GPU_KW, plan->gpus ? f->it_w / 1000 / plan->gpus : 0, MYR_BASIS_COMPUTED,
                "%.1f kW / %u GPUs", f->it_w / 1000, plan->gpus);
    /* Where the power is stated nothing is missing from it. */
    if (tally.unknown && !stated) {
        plan_finding(plan, MYR_SEVERITY_INFO, "power-unknown", "facility",
                     "add 'watts' to their parts (--catalog), or state facility: {it_kw: ...}",
                     "%llu devices have parts that state no watts; their power is in no sum",
                     (unsigned long long)tally.unknown);
    }
}
