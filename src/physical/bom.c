#include <stdio.h>

#include "physical_internal.h"

/*
 * What is ordered against what the design uses, and what is counted against what is there. A row
 * that the spec asked for or pinned may hold more than the design needs; no row may hold less.
 */

/* Figures follow in such texts, so only the beginning can be compared. */
static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Rows that say themselves that the spec named their quantity. */
static bool asked(const struct myr_design *design, const struct myr_bom_row *row)
{
    const char *rule = myr_design_str(design, row->rule);
    return begins(rule, "as many as the spec asks for") || begins(rule, "asked for per ") ||
           begins(rule, "pinned by the spec") ||
           begins(myr_design_str(design, row->inputs), "pinned to ");
}

/* What the design uses of one part in one network, and which rule is broken if the bill differs. */
struct need {
    const struct myr_part *part;
    uint32_t net;
    uint64_t used;
    enum physical_rule rule;
};

struct needs {
    MYR_VEC(struct need) rows;
};

static void needs_done(struct needs *needs)
{
    myr_vec_done(&needs->rows);
}

/*
 * The bill has one row for a part of a network, however many cable types and ends use it, so uses
 * are added up before they are compared. By order number, which is what the bill names.
 */
static void add_need(struct needs *needs, const struct myr_part *part, uint32_t net, uint64_t used,
                     enum physical_rule rule)
{
    for (size_t i = 0; i < needs->rows.count; i++) {
        struct need *row = &needs->rows.items[i];
        if (row->net == net && strcmp(row->part->order, part->order) == 0) {
            row->used += used;
            return;
        }
    }
    struct need row = {part, net, used, rule};
    myr_vec_push(&needs->rows, row);
}

/*
 * Access networks may be cabled by others: then none of their cables and modules is ordered. Told
 * by the bill itself, which then has no such row for the network.
 */
static bool cabled_by_others(const struct physical *physical, uint32_t net)
{
    const struct myr_design *design = physical->design;
    if (design->networks[net].topology != MYR_TOPOLOGY_ACCESS) {
        return false;
    }
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        uint32_t part =
            myr_catalog_find(physical->catalog, myr_str_from(myr_design_str(design, row->part)));
        enum myr_part_kind kind =
            part == MYR_PART_NONE ? MYR_PART_KIND_COUNT : physical->catalog->parts.items[part].kind;
        if (strcmp(myr_design_str(design, row->system), myr_net_names[net]) == 0 &&
            (kind == MYR_PART_CABLE || kind == MYR_PART_TRANSCEIVER)) {
            return false;
        }
    }
    return true;
}

/*
 * A cage that a link without a cable shares with others: which module it holds is not decided. Then
 * modules of the whole network are not counted.
 */
static bool undecided(const struct physical *physical, uint32_t net)
{
    for (uint32_t i = 0; i < physical->design->cabletype_count; i++) {
        const struct lay *lay = &physical->lays[i];
        if (lay->type->net == net && lay->cables && !lay->cable) {
            return true;
        }
    }
    return false;
}

/*
 * Of switches, modules and cables only. Types without a device, and modules that are built into
 * their box, are not ordered.
 */
static void collect(const struct physical *physical, struct needs *needs)
{
    const struct myr_design *design = physical->design;
    for (uint32_t type = 0; type < design->devtype_count; type++) {
        const struct socket *socket = &physical->sockets[(size_t)type * MYR_PORT_GROUPS_MAX];
        const struct myr_part *box = design->devtypes[type].group_count ? socket->box : NULL;
        if (box && socket->devices &&
            (box->kind == MYR_PART_SWITCH || box->kind == MYR_PART_ETHERNET)) {
            add_need(needs, box, socket->group->net, socket->devices, PHYSICAL_BOM_SWITCHES);
        }
    }
    for (uint32_t i = 0; i < design->cabletype_count; i++) {
        const struct lay *lay = &physical->lays[i];
        /* A type that no cable has (any more) needs nothing. */
        if (lay->cables == 0 || cabled_by_others(physical, lay->type->net)) {
            continue;
        }
        for (uint32_t end = 0; end < 2; end++) {
            if (lay->module[end] && !lay->module[end]->optic.built_in &&
                !undecided(physical, lay->type->net)) {
                add_need(needs, lay->module[end], lay->type->net, lay->modules[end],
                         PHYSICAL_BOM_MODULES);
            }
        }
        if (lay->cable) {
            add_need(needs, lay->cable, lay->type->net, lay->pieces, PHYSICAL_BOM_CABLES);
        }
    }
}

/*
 * By system and order number. Several rows may hold one part: they are added up, and one that may
 * hold more is enough.
 */
static void judge_need(struct physical *physical, const struct need *need)
{
    const struct myr_design *design = physical->design;
    uint64_t ordered = 0, needed = need->used;
    bool may_exceed = false;
    /* Boxes are ordered; one may hold several switches, and the design counts these. */
    if (need->part->kind == MYR_PART_SWITCH) {
        needed = (needed + need->part->sw.per_box - 1) / need->part->sw.per_box;
    }
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        if (strcmp(myr_design_str(design, row->system), myr_net_names[need->net]) == 0 &&
            strcmp(myr_design_str(design, row->part), need->part->order) == 0) {
            ordered += row->quantity;
            may_exceed = may_exceed || asked(design, row);
        }
    }
    if (ordered < needed || (ordered > needed && !may_exceed)) {
        physical_report(physical, need->rule, myr_net_names[need->net],
                        ordered < needed ? needed - ordered : ordered - needed,
                        "%s: %llu ordered, the design uses %llu", need->part->order,
                        (unsigned long long)ordered, (unsigned long long)needed);
    }
}

/* Rows for modules, cables and switches that nothing in the design uses. */
static void judge_surplus(struct physical *physical, const struct needs *needs)
{
    const struct myr_design *design = physical->design;
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        const char *order = myr_design_str(design, row->part);
        uint32_t index = myr_catalog_find(physical->catalog, myr_str_from(order));
        uint32_t net = 0;
        while (net < MYR_NET_COUNT &&
               strcmp(myr_design_str(design, row->system), myr_net_names[net]) != 0) {
            net++;
        }
        if (index == MYR_PART_NONE || net == MYR_NET_COUNT || asked(design, row)) {
            continue;
        }
        enum myr_part_kind kind = physical->catalog->parts.items[index].kind;
        /* Whose module such a row is cannot be said. */
        if (kind == MYR_PART_TRANSCEIVER && undecided(physical, net)) {
            continue;
        }
        /* Parts of other kinds (servers, licences, racks) are not counted by this module. */
        bool used = kind != MYR_PART_SWITCH && kind != MYR_PART_ETHERNET &&
                    kind != MYR_PART_TRANSCEIVER && kind != MYR_PART_CABLE;
        for (size_t k = 0; k < needs->rows.count; k++) {
            used = used || (needs->rows.items[k].net == net &&
                            strcmp(needs->rows.items[k].part->order, order) == 0);
        }
        if (!used) {
            enum physical_rule rule = kind == MYR_PART_CABLE         ? PHYSICAL_BOM_CABLES
                                      : kind == MYR_PART_TRANSCEIVER ? PHYSICAL_BOM_MODULES
                                                                     : PHYSICAL_BOM_SWITCHES;
            physical_report(physical, rule, myr_net_names[net], row->quantity,
                            "%s: %llu ordered, the design uses none", order,
                            (unsigned long long)row->quantity);
        }
    }
}

/* What the plan states for each layer against the cables that are laid in it. */
static void judge_counts(struct physical *physical)
{
    const struct myr_design *design = physical->design;
    uint64_t cables[MYR_NET_COUNT][MYR_LAYER_COUNT] = {};
    for (uint32_t i = 0; i < design->cabletype_count; i++) {
        const struct lay *lay = &physical->lays[i];
        /* Published tables count copper and active cables by links, fibre by what is pulled. */
        bool fixed = lay->cable && lay->cable->cable.fixed_ends;
        cables[lay->type->net][lay->type->layer] += fixed ? lay->links : lay->cables;
    }
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
            if (design->networks[net].cables[layer] != cables[net][layer]) {
                char where[64];
                snprintf(where, sizeof(where), "%s %s", myr_net_names[net], myr_layer_names[layer]);
                physical_report(
                    physical, PHYSICAL_CABLE_COUNT, where, 1, "%u cables are stated, %llu are laid",
                    design->networks[net].cables[layer], (unsigned long long)cables[net][layer]);
            }
        }
    }
}

/* What is needed but not ordered, what is ordered but not needed, then what is stated. */
void physical_bom(struct physical *physical)
{
    MYR_CLEANUP(needs_done) struct needs needs = {};
    collect(physical, &needs);
    for (size_t i = 0; i < needs.rows.count; i++) {
        judge_need(physical, &needs.rows.items[i]);
    }
    judge_surplus(physical, &needs);
    judge_counts(physical);
}
