/*
 * How many cables a plan needs, by what they must be long enough for. In a room every run has a
 * length of its own. Runs that the same cables of the document are long enough for are one class,
 * so that nothing is lost by counting classes: the longest run of a class stands for all of it.
 */
#include "audit/audit.h"

/*
 * Kept in rising order without doubles. A list of more lengths than there is room for parts its
 * runs less finely.
 */
static void take_length(struct audit_runs *runs, double length_m)
{
    uint32_t at = 0;
    while (at < runs->step_count && runs->steps[at] < length_m) {
        at++;
    }
    if ((at < runs->step_count && runs->steps[at] == length_m) ||
        runs->step_count == AUDIT_STEPS_MAX) {
        return;
    }
    memmove(&runs->steps[at + 1], &runs->steps[at],
            (runs->step_count - at) * sizeof(runs->steps[0]));
    runs->steps[at] = length_m;
    runs->step_count++;
}

/* The run itself, where it is known: the planned cable may be longer than what was asked for. */
static double given_length(const struct audit *audit, const struct myr_cabletype *type)
{
    const struct myr_spec_net *net = &audit->spec->nets[type->net];
    double given = type->layer == MYR_LAYER_HOST     ? net->host_length_m
                   : type->layer == MYR_LAYER_FABRIC ? net->fabric_length_m
                                                     : net->core_length_m;
    double planned = type->length_mm / 1000.0;
    return given > 0 && given < planned ? given : planned;
}

/* In a room the way of its own cable, else the length of the layer. */
static double run_of(const struct audit *audit, uint32_t link)
{
    const struct myr_design *design = &audit->plan;
    uint32_t cable = design->link_cable[link];
    return design->cable_mm ? design->cable_mm[cable] / 1000.0
                            : given_length(audit, &design->cabletypes[design->cable_type[cable]]);
}

/*
 * Whether the port is the first in use of 'size' that share a cable, which is then as long as the
 * longest of their runs.
 */
static bool first_of(const struct audit *audit, uint32_t port, uint32_t size, double *longest)
{
    const struct myr_design *design = &audit->plan;
    const struct myr_port_group *group = myr_design_port_group(design, port);
    uint32_t first = design->first_port[design->port_device[port]] + group->first;
    uint32_t begin = port - (port - first) % size;
    uint32_t end = begin + size < first + group->count ? begin + size : first + group->count;
    for (uint32_t i = begin; i < end; i++) {
        if (design->port_link[i] == MYR_NONE) {
            continue;
        }
        if (i < port) {
            return false;
        }
        double run = run_of(audit, design->port_link[i]);
        *longest = run > *longest ? run : *longest;
    }
    return true;
}

/*
 * Class k holds runs longer than step k - 1 and not longer than step k; the last those longer than
 * all.
 */
static struct audit_run *class_of(struct audit_runs *runs, uint32_t type, double run)
{
    uint32_t class = 0;
    while (class < runs->step_count && runs->steps[class] < run) {
        class ++;
    }
    struct audit_run *ret = &runs->items[(size_t)type * (AUDIT_STEPS_MAX + 1) + class];
    ret->length_m = run > ret->length_m ? run : ret->length_m;
    return ret;
}

/*
 * Each link is met once; of those that share a cable the first one counts it. As a fibre it is
 * shared by connectors, as a cable with ends by whole cages.
 */
static void count_link(const struct audit *audit, uint32_t link, struct audit_runs *runs)
{
    const struct myr_design *design = &audit->plan;
    uint32_t kind = design->cable_type[design->link_cable[link]];
    const struct myr_cabletype *type = &design->cabletypes[kind];
    const uint32_t ports[] = {design->link_b[link], design->link_a[link]};
    double open_run = run_of(audit, link), fixed_run = open_run;
    bool open = true;
    for (uint32_t end = 0; end < 2; end++) {
        const struct myr_port_group *group = myr_design_port_group(design, ports[end]);
        if (group->per_connector > 1 && group->role != MYR_PORT_NIC) {
            /* A port that is divided by its connector: one splitter for all behind it. */
            runs->legs[kind] = group->per_connector;
            open = first_of(audit, ports[end], group->per_connector, &open_run);
        }
    }
    bool fixed = true;
    if (audit->plan.networks[type->net].topology != MYR_TOPOLOGY_ACCESS) {
        /* 0 is the upper end, which stands first in 'ports'. */
        uint32_t head = ports[runs->head[type->net][type->layer]];
        fixed = first_of(audit, head, myr_design_port_group(design, head)->per_cage, &fixed_run);
    }
    if (open) {
        class_of(runs, kind, open_run)->open++;
    }
    if (fixed) {
        class_of(runs, kind, fixed_run)->fixed++;
    }
}

/* 'legs' and 'items' lie in the arena. */
void audit_count_runs(struct audit *audit, struct audit_runs *runs)
{
    const struct myr_design *design = &audit->plan;
    /* Without a room all runs of a type have one length, and there is nothing to part. */
    for (size_t i = 0; i < audit->lines.count && design->cable_mm; i++) {
        if (audit->lines.items[i].role == AUDIT_CABLE && audit->lines.items[i].length_m > 0) {
            take_length(runs, audit->lines.items[i].length_m);
        }
    }
    runs->items = MYR_ARENA_NEW(audit->arena, struct audit_run,
                                (size_t)design->cabletype_count * (AUDIT_STEPS_MAX + 1) + 1);
    runs->legs = MYR_ARENA_NEW(audit->arena, uint32_t, design->cabletype_count);
    for (uint32_t link = 0; link < design->link_count; link++) {
        count_link(audit, link, runs);
    }
}
