#include "room/room.h"

/*
 * Power and cooling: which racks hang on which entries, and whether each entry carries what hangs
 * on it when the one beside it has failed. Two feeds of a rack, or two parents of an entry, stand
 * in for each other: each must carry all. What reaches an entry on several ways hangs on it once: a
 * rack never draws more than it needs.
 */

/* Either end may be the first; without one all is in range. */
static bool in_range(const struct myr_room_range *range, uint32_t at)
{
    uint32_t low = range->first < range->last ? range->first : range->last;
    uint32_t high = range->first < range->last ? range->last : range->first;
    return !range->first || (at >= low && at <= high);
}

/* Only entries that say which racks they serve have racks of their own. */
static bool serves(const struct myr_spec_chain *link, const struct stand *rack)
{
    return link->serves && in_range(&link->rows, rack->row + 1) &&
           in_range(&link->columns, rack->column + 1);
}

/* What hangs on each entry, as it is counted together. */
struct loads {
    const struct myr_spec_chains *spec;
    double *watts;
    uint32_t *seen; /* by entry: the last time that it was met */
    uint32_t time;
    uint32_t feeds[2]; /* of the racks whose load is not yet added */
    double waiting;
};

/* Adds what waits to its feeds and to all that they hang on, to each of them once. */
static void add_up(struct loads *loads)
{
    uint32_t most = 0;
    loads->time++;
    for (uint32_t k = 0; k < 2; k++) {
        if (loads->feeds[k] != MYR_NONE) {
            loads->seen[loads->feeds[k]] = loads->time;
            most = loads->feeds[k] + 1 > most ? loads->feeds[k] + 1 : most;
        }
    }
    /* Parents stand before what hangs on them: from behind, all are marked when their turn comes.
     */
    for (uint32_t i = loads->waiting > 0 ? most : 0; i-- > 0;) {
        if (loads->seen[i] != loads->time) {
            continue;
        }
        loads->watts[i] += loads->waiting;
        for (uint32_t k = 0; k < 2; k++) {
            if (loads->spec->items[i].parents[k] != UINT32_MAX) {
                loads->seen[loads->spec->items[i].parents[k]] = loads->time;
            }
        }
    }
    loads->waiting = 0;
}

/* Neighbours mostly have the same feeds, and are added together. */
static void hang(struct loads *loads, const uint32_t feeds[2], uint32_t watts)
{
    if (feeds[0] != loads->feeds[0] || feeds[1] != loads->feeds[1]) {
        add_up(loads);
        loads->feeds[0] = feeds[0];
        loads->feeds[1] = feeds[1];
    }
    loads->waiting += watts;
}

/* Entries without a rating are taken to carry all. */
static void check_loads(struct room *room, const struct myr_spec_chains *spec, const double *watts,
                        const char *rule, const char *what)
{
    for (uint32_t i = 0; i < spec->count; i++) {
        const struct myr_spec_chain *link = &spec->items[i];
        if (link->kw > 0 && watts[i] > link->kw * 1000) {
            plan_finding(room->plan, MYR_SEVERITY_ERROR, rule, link->name,
                         "give it more, or less to carry",
                         "%s '%s' carries %g kW, %.1f kW hang on it when the other has failed",
                         what, link->name, link->kw, watts[i] / 1000);
        }
    }
}

/* Of a rating of 0 nothing is known. */
static struct myr_chain_link *put_links(struct room *room, const struct myr_spec_chains *spec,
                                        uint32_t kind, const double *watts,
                                        struct myr_chain_more **ret_more)
{
    struct myr_chain_link *links = MYR_ARENA_NEW(room->arena, struct myr_chain_link, spec->count);
    *ret_more = MYR_ARENA_NEW(room->arena, struct myr_chain_more, spec->count);
    for (uint32_t i = 0; i < spec->count; i++) {
        const struct myr_spec_chain *link = &spec->items[i];
        /* Records have 32 bits: more than 4 GW are shown as that. */
        double most = link->kw * 1000;
        links[i] = (struct myr_chain_link){.kind = kind,
                                           .name = plan_string(room->plan, link->name),
                                           .parent = link->parents[0],
                                           .watts_max = most < UINT32_MAX ? (uint32_t)(most + 0.5)
                                                                          : UINT32_MAX};
        (*ret_more)[i] = (struct myr_chain_more){
            .parent_b = link->parents[1], .kw_used = (uint32_t)(((uint64_t)watts[i] + 999) / 1000)};
    }
    return links;
}

/* Names of the findings, and what the entry is called. */
struct feed_rules {
    const char *overload, *single, *none, *what;
};

/* The first two entries that serve a rack; more are not used. Empty racks hang on them as well, and
 * add nothing. */
static void hang_racks(struct room *room, const struct myr_spec_chains *spec, double *watts,
                       const struct feed_rules *rules, bool power)
{
    struct loads loads = {.spec = spec,
                          .seen = MYR_ARENA_NEW(room->arena, uint32_t, spec->count),
                          .feeds = {MYR_NONE, MYR_NONE}};
    loads.watts = watts;
    struct myr_design *design = &room->plan->design;
    /* Racks in use alone are told: an empty one needs no feed. */
    uint32_t single = 0, none = 0;
    for (uint32_t i = 0; i < room->rack_count; i++) {
        uint32_t found[2] = {MYR_NONE, MYR_NONE}, count = 0;
        /* In the order of the spec: the first two that cover it. */
        for (uint32_t k = 0; k < spec->count && count < 2; k++) {
            if (serves(&spec->items[k], &room->racks[i])) {
                found[count++] = k;
            }
        }
        uint32_t load = design->rack_more[i].watts;
        hang(&loads, found, load);
        single += load > 0 && count == 1;
        none += load > 0 && count == 0;
        *(power ? &design->racks[i].power_feed : &design->racks[i].cooling_loop) = found[0];
        *(power ? &design->rack_more[i].power_b : &design->rack_more[i].cooling_b) = found[1];
    }
    add_up(&loads);
    /* No feed at all is an error; one alone is a risk that is told. */
    if (none) {
        plan_finding(room->plan, MYR_SEVERITY_ERROR, rules->none, "room",
                     "give an entry 'rows' or 'columns' that cover them", "%s in use %s on no %s",
                     MYR_COUNT(none, "rack"), none == 1 ? "hangs" : "hang", rules->what);
    }
    if (single) {
        plan_finding(room->plan, MYR_SEVERITY_WARNING, rules->single, "room",
                     "give a second entry the same racks", "%s in use %s on one %s only",
                     MYR_COUNT(single, "rack"), single == 1 ? "hangs" : "hang", rules->what);
    }
}

/* Power, then cooling: the same chains with other names. Nothing that is overloaded is an error
 * here, but a finding. */
int room_feeds(struct room *room, struct myr_err *err)
{
    static const struct feed_rules power = {"feed-overload", "feed-single", "feed-none", "feed"};
    static const struct feed_rules cooling = {"cooling-overload", "cooling-single", "cooling-none",
                                              "cooling unit"};
    struct myr_design *design = &room->plan->design;
    const struct myr_spec_chains *const specs[] = {&room->spec->power, &room->spec->cooling};
    const struct feed_rules *const rules[] = {&power, &cooling};
    (void)err;
    for (uint32_t kind = 0; kind < 2; kind++) {
        const struct myr_spec_chains *spec = specs[kind];
        double *watts = MYR_ARENA_NEW(room->arena, double, spec->count);
        /* A room without entries has no chains, and nothing to check. */
        if (spec->count) {
            hang_racks(room, spec, watts, rules[kind], kind == 0);
            check_loads(room, spec, watts, rules[kind]->overload, rules[kind]->what);
        }
        struct myr_chain_more *more;
        struct myr_chain_link *links = put_links(room, spec, kind, watts, &more);
        if (kind == 0) {
            design->power = links;
            design->power_more = more;
            design->power_count = spec->count;
        } else {
            design->cooling = links;
            design->cooling_more = more;
            design->cooling_count = spec->count;
        }
    }
    return MYR_OK;
}

/* In equal parts over the racks in which something stands, in their order. */
void room_strips_about(struct room *room)
{
    const struct net_plan *oob = &room->plan->nets[MYR_NET_OOB];
    /* Racks in which something stands by now; more may come. */
    uint32_t *used = MYR_ARENA_NEW(room->arena, uint32_t, room->rack_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < room->rack_count; i++) {
        if (room->racks[i].left.units < room->rack.units) {
            used[count++] = i;
        }
    }
    for (uint32_t i = 0; oob->present && count > 0 && i < oob->host_class_count; i++) {
        const struct host_class *hosts = &oob->hosts[i];
        /* Strips and coolers are the last kinds of devices. */
        for (uint32_t k = 0; hosts->kind >= MYR_DEVICE_PDU && k < hosts->count; k++) {
            room->device_rack[hosts->first_device + k] = used[(uint64_t)k * count / hosts->count];
        }
    }
}

/* From where it was put about; it takes no units. */
static void put_strip(struct room *room, uint32_t device, uint32_t rack)
{
    struct myr_rack_more *more = room->plan->design.rack_more;
    MYR_ASSERT(more[room->device_rack[device]].devices > 0);
    more[room->device_rack[device]].devices--;
    room->device_rack[device] = rack;
    more[rack].devices++;
}

/* One for each feed of the racks in use; any that were counted too many in the last rack. */
static void put_strips(struct room *room, uint32_t first, uint32_t count)
{
    const struct myr_design *design = &room->plan->design;
    uint32_t put = 0, last = 0;
    for (uint32_t i = 0; i < room->rack_count; i++) {
        uint32_t feeds = design->rack_more[i].units ? plan_rack_feeds(room->plan, i) : 0;
        for (uint32_t k = 0; k < feeds && put < count; k++) {
            put_strip(room, first + put++, i);
            last = i;
        }
    }
    while (put < count) {
        put_strip(room, first + put++, last);
    }
}

/* At the lower end of the lines in use, dealt out over them. */
static void put_coolers(struct room *room, uint32_t first, uint32_t count)
{
    const struct myr_design *design = &room->plan->design;
    uint32_t *ends = MYR_ARENA_NEW(room->arena, uint32_t, room->rack_count);
    uint32_t lines = 0;
    for (uint32_t h = 0; h < room->hall_count; h++) {
        const struct hall *hall = &room->halls[h];
        for (uint32_t c = 0; c < hall->columns; c++) {
            /* A line is cooled as soon as one rack of it is in use. */
            uint32_t used = 0, begin = hall->first_rack + c * hall->rows;
            for (uint32_t r = 0; r < hall->rows; r++) {
                used += design->rack_more[begin + r].units > 0;
            }
            if (used) {
                ends[lines++] = begin + hall->rows - 1;
            }
        }
    }
    /* In equal parts over the lines; without any line in use the first place of the list is taken.
     */
    for (uint32_t i = 0; i < count; i++) {
        put_strip(room, first + i, ends[lines ? (uint64_t)i * lines / count : 0]);
    }
}

/* After the racks are filled: which of them are in use is known only then. */
void room_strips(struct room *room)
{
    const struct net_plan *oob = &room->plan->nets[MYR_NET_OOB];
    for (uint32_t i = 0; oob->present && i < oob->host_class_count; i++) {
        const struct host_class *hosts = &oob->hosts[i];
        if (hosts->kind == MYR_DEVICE_PDU) {
            put_strips(room, hosts->first_device, hosts->count);
        } else if (hosts->kind == MYR_DEVICE_CDU) {
            put_coolers(room, hosts->first_device, hosts->count);
        }
    }
}
