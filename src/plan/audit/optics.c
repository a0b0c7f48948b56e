/*
 * The rules of a link, and the links that a list is made of. The first half judges one link,
 * whoever says that it is one; claims use it too. The second makes links of the lines that serve
 * one layer: which module faces which is not written in a list, so each line is judged with the
 * partners that suit it best.
 */
#include "audit/audit.h"

static const char *const medium_names[] = {"copper", "multimode", "single-mode"};

static const char *cage_words(struct audit *audit, const struct fit_socket *cage)
{
    return myr_arena_printf(audit->arena, "%s%s%s", cage->top ? cage->top : "",
                            cage->top ? " " : "", cage->form);
}

static const char *module_words(struct audit *audit, const struct myr_part *module)
{
    const struct myr_part_transceiver *optic = &module->optic;
    uint32_t lane = optic->cage_lane_gbps ? optic->cage_lane_gbps : optic->lane_gbps;
    return myr_arena_printf(audit->arena, "%s%s%s with %uG lanes", optic->top ? optic->top : "",
                            optic->top ? " " : "", optic->form, lane);
}

/* False with a finding; so are all that are called check. */
static bool check_cage(struct audit *audit, const struct audit_link *link,
                       const struct myr_part *host, const struct myr_part *module)
{
    struct fit_socket cage = fits_socket(host, 0, 0);
    if (fits_cage(module, &cage)) {
        return true;
    }
    audit_finding_text(
        audit, "optic-form", link->where, cage_words(audit, &cage), module_words(audit, module),
        "%s: %s has %s cages%s, %s is %s", myr_net_names[link->net], host->order,
        cage_words(audit, &cage),
        cage.lane_gbps ? myr_arena_printf(audit->arena, " with %uG lanes", cage.lane_gbps) : "",
        module->order, module_words(audit, module));
    return false;
}

static bool check_nic(struct audit *audit, const struct audit_link *link)
{
    const struct myr_part *module = link->nic_optic, *nic = link->nic;
    if (!check_cage(audit, link, nic, module)) {
        return false;
    }
    if (!fits_host(module, nic->id)) {
        audit_finding_text(audit, "optic-host", link->where, module->optic.fits, nic->id,
                           "%s: %s is specified for %s, the NIC is %s", myr_net_names[link->net],
                           module->order, module->optic.fits, nic->order);
        return false;
    }
    return true;
}

/* A faster module may run slower; 0 Gb/s: not known. */
static bool check_speed(struct audit *audit, const struct audit_link *link,
                        const struct myr_part *module, uint32_t gbps)
{
    if (!module || !gbps || module->optic.port_gbps >= gbps) {
        return true;
    }
    audit_finding(audit, "optic-speed", link->where, gbps, module->optic.port_gbps,
                  "%s: %s carries %uG through a connector, the link needs %uG",
                  myr_net_names[link->net], module->order, module->optic.port_gbps, gbps);
    return false;
}

/* What a module sends or a cable carries, for people. */
static const char *light(struct audit *audit, const struct myr_part *part)
{
    return part->kind == MYR_PART_CABLE
               ? myr_arena_printf(audit->arena, "%s (%s %s)", part->order,
                                  medium_names[part->cable.medium],
                                  part->cable.connector ? part->cable.connector : "")
               : myr_arena_printf(audit->arena, "%s (%s, %u nm, %s, %uG lanes)", part->order,
                                  medium_names[part->optic.medium], part->optic.wavelength_nm,
                                  part->optic.connector ? part->optic.connector : "?",
                                  part->optic.lane_gbps);
}

/* Between switches both ends have the same module. Ends that are not known agree with all. */
static bool light_arrives(const struct audit_link *link)
{
    const struct myr_part *a = link->switch_optic;
    const struct myr_part *b = link->fabric ? link->switch_optic : link->nic_optic;
    const struct myr_part *cable = link->cable;
    bool optical = !cable || !cable->cable.fixed_ends;
    bool agrees = (!a || !b || fits_light(a, b)) && (!a || !cable || fits_end(cable, a)) &&
                  (!b || !cable || fits_end(cable, b));
    return !optical || agrees;
}

/* One finding for both ends and the cable: which of them is wrong cannot be said. */
static bool check_light(struct audit *audit, const struct audit_link *link)
{
    const struct myr_part *a = link->switch_optic;
    const struct myr_part *b = link->fabric ? link->switch_optic : link->nic_optic;
    const struct myr_part *cable = link->cable;
    if (light_arrives(link)) {
        return true;
    }
    /* Where an end is not known, it is the other one and the cable that do not agree. */
    const struct myr_part *one = a ? a : b, *other = a && b ? b : cable;
    const struct myr_part *over = a && b ? cable : NULL;
    audit_finding_text(audit, "optic-mode", link->where, light(audit, one),
                       light(audit, a == b && cable ? cable : other),
                       "%s, %s: no light arrives between %s and %s%s%s", myr_net_names[link->net],
                       link->fabric ? "between switches" : "to the hosts", light(audit, one),
                       light(audit, other), over ? " over " : "", over ? light(audit, over) : "");
    return false;
}

/* A module or length that is not known reaches. */
static bool reaches(const struct myr_part *module, double length_m)
{
    return !module || length_m <= 0 || module->optic.reach_m >= length_m;
}

/* Each end by itself: one of them may be right. */
static bool check_reach(struct audit *audit, const struct audit_link *link)
{
    const struct myr_part *ends[] = {link->switch_optic, link->nic_optic};
    bool fine = true;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(ends); i++) {
        if (!reaches(ends[i], link->length_m)) {
            MYR_ASSERT(ends[i]); /* what is not known reaches */
            audit_finding(audit, "optic-reach", link->where, link->length_m, ends[i]->optic.reach_m,
                          "%s: %s reaches %g m, the run is %g m", myr_net_names[link->net],
                          ends[i]->order, ends[i]->optic.reach_m, link->length_m);
            fine = false;
        }
    }
    return fine;
}

static bool check_length(struct audit *audit, const struct audit_link *link)
{
    if (!link->cable || link->cable_m <= 0 || link->cable_m >= link->length_m) {
        return true;
    }
    audit_finding(audit, "cable-length", link->where, link->length_m, link->cable_m,
                  "%s, %s: %s is %g m long, the run is %g m", myr_net_names[link->net],
                  link->fabric ? "between switches" : "to the hosts", link->cable->order,
                  link->cable_m, link->length_m);
    return false;
}

/*
 * All rules, not just the first that is broken: each is a fault of its own to mend. The switch's
 * connector carries all legs of a splitter.
 */
bool audit_link_rules(struct audit *audit, const struct audit_link *link)
{
    bool fine = true;
    if (link->nic && link->nic_optic) {
        /* In this order of the operands all checks are made, whatever the first ones say. */
        fine = check_nic(audit, link) && fine;
    }
    if (link->sw && link->switch_optic) {
        fine = check_cage(audit, link, link->sw, link->switch_optic) && fine;
    }
    fine =
        check_speed(audit, link, link->switch_optic, link->gbps * (link->legs ? link->legs : 1)) &&
        fine;
    fine = check_speed(audit, link, link->nic_optic, link->gbps) && fine;
    fine = check_light(audit, link) && fine;
    fine = check_length(audit, link) && fine;
    return check_reach(audit, link) && fine;
}

/* ---- the links of a list ---- */

/*
 * The next line that serves the need with a known part, from 'from' on; SIZE_MAX: none. UINT32_MAX
 * is no need: it has no lines.
 */
static size_t next_server(const struct audit *audit, uint32_t need, size_t from)
{
    for (size_t i = from; need != UINT32_MAX && i < audit->lines.count; i++) {
        if (*audit_flow(audit, i, need) > 0 && audit->lines.items[i].part != MYR_PART_NONE) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* NULL for SIZE_MAX, no line. */
static const struct myr_part *line_part(const struct audit *audit, size_t line)
{
    return line == SIZE_MAX ? NULL : audit_part(audit, audit->lines.items[line].part);
}

/* A line that lies in runs of one class. */
struct laid {
    size_t line;
    uint32_t need;
};

/* The needs of one layer: modules at both ends, and what lies between, run by run. */
struct layer {
    uint32_t net, layer;
    uint32_t cable; /* the first of its cables' needs */
    uint32_t laid_count;
    struct laid *laid;
    bool cards;                 /* a NIC takes modules there */
    size_t *in_switch, *in_nic; /* lines */
    size_t switch_count, nic_count;
};

/* Of these lines the first whose module suits the link's others, or the first. */
static size_t best_end(const struct audit *audit, const size_t *lines, size_t count,
                       const struct myr_part *with, const struct audit_link *link)
{
    for (size_t i = 0; i < count; i++) {
        const struct myr_part *part = line_part(audit, lines[i]);
        /*
         * What fits in all: partner, cable and reach. The first of the list stands in for them
         * where none does, and its fault is then told.
         */
        if ((!with || fits_light(with, part)) && (!link->cable || fits_end(link->cable, part)) &&
            reaches(part, link->length_m)) {
            return lines[i];
        }
    }
    return count ? lines[0] : SIZE_MAX;
}

/* The link of these lines; an end that is SIZE_MAX gets the module that suits best. */
static struct audit_link link_of(const struct audit *audit, const struct layer *layer, size_t a,
                                 size_t b, struct laid laid)
{
    const struct audit_need *need = &audit->needs[laid.need];
    struct audit_link ret = {
        .net = (enum myr_net_id)layer->net,
        .sw = audit_switch(audit, layer->net),
        .cable = line_part(audit, laid.line),
        .fabric = layer->layer != MYR_LAYER_HOST,
        .gbps = need->gbps,
        .legs = need->legs,
        .length_m = need->length_m,
    };
    if (a == SIZE_MAX) {
        a = best_end(audit, layer->in_switch, layer->switch_count, line_part(audit, b), &ret);
    }
    ret.switch_optic = line_part(audit, a);
    if (b == SIZE_MAX) {
        b = best_end(audit, layer->in_nic, layer->nic_count, ret.switch_optic, &ret);
    }
    ret.nic_optic = line_part(audit, b);
    return ret;
}

/*
 * A module has its place where there is one run that it serves. Light that arrives counts more than
 * reach. A list of modules without any cables is judged once, by the first class of runs.
 */
static void judge_module(struct audit *audit, const struct layer *layer, size_t line, bool nic)
{
    size_t a = nic ? SIZE_MAX : line, b = nic ? line : SIZE_MAX;
    const struct laid none = {SIZE_MAX, layer->cable};
    struct audit_link best = {};
    int most = -1;
    for (uint32_t i = 0; most < 3 && i < (layer->laid_count ? layer->laid_count : 1); i++) {
        struct audit_link link =
            link_of(audit, layer, a, b, i < layer->laid_count ? layer->laid[i] : none);
        bool far =
            reaches(link.switch_optic, link.length_m) && reaches(link.nic_optic, link.length_m);
        /* 3 is a run that it serves: no need to look further. */
        int fits = 2 * light_arrives(&link) + far;
        if (fits > most) {
            most = fits;
            best = link;
        }
    }
    best.where = audit->lines.items[line].where;
    if (!audit_link_rules(audit, &best)) {
        audit->lines.items[line].named = true;
    }
}

/* Every line that serves the layer, with the partners that suit it best. */
static void judge_layer(struct audit *audit, const struct layer *layer)
{
    for (size_t i = 0; i < layer->switch_count; i++) {
        judge_module(audit, layer, layer->in_switch[i], false);
    }
    for (size_t i = 0; i < layer->nic_count; i++) {
        judge_module(audit, layer, layer->in_nic[i], true);
    }
    for (uint32_t k = 0; k < layer->laid_count; k++) {
        struct audit_link link = link_of(audit, layer, SIZE_MAX, SIZE_MAX, layer->laid[k]);
        link.where = audit->lines.items[layer->laid[k].line].where;
        if (!audit_link_rules(audit, &link)) {
            audit->lines.items[layer->laid[k].line].named = true;
        }
    }
}

static bool nic_takes(const struct myr_part *nic, const struct myr_part *module)
{
    struct fit_socket cage = fits_socket(nic, 0, 0);
    return fits_cage(module, &cage) && fits_host(module, nic->id);
}

/* The planner may take another card of the family: what any of them takes is then not judged. */
static bool was_replaced(const struct audit *audit, uint32_t net)
{
    const struct myr_design *design = &audit->plan;
    for (uint32_t i = 0; i < design->finding_count; i++) {
        if (strcmp(myr_design_str(design, design->findings[i].rule), "nic-variant") == 0 &&
            strcmp(myr_design_str(design, design->findings[i].where), myr_net_names[net]) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * Every kind of card finds a module that fits, and every module a card. The cards of the list;
 * without any there those of the server and, on the storage network, of storage servers, which may
 * differ.
 */
static void judge_cards(struct audit *audit, const struct layer *layer)
{
    const struct myr_part *cards[AUDIT_CARDS_MAX];
    uint32_t count = 0;
    bool listed = false;
    /* Two places remain for the cards of servers and of storage servers. */
    for (size_t i = 0; i < audit->lines.count && count < AUDIT_CARDS_MAX - 2; i++) {
        const struct audit_line *line = &audit->lines.items[i];
        if (line->role == AUDIT_NIC && line->part != MYR_PART_NONE &&
            line->says.net == layer->net) {
            cards[count++] = audit_part(audit, line->part);
            listed = true;
        }
    }
    if (!listed && !was_replaced(audit, layer->net)) {
        cards[count] = audit_nic(audit, (enum myr_net_id)layer->net, false);
        count += cards[count] != NULL;
    }
    if (!listed && layer->net == MYR_NET_STORAGE && audit->plan.head->storage_servers) {
        cards[count] = audit_nic(audit, MYR_NET_STORAGE, true);
        count += cards[count] != NULL;
    }
    for (uint32_t i = 0; i < count && layer->nic_count; i++) {
        /* Should no module suit the card, the first line of them is named for it. */
        size_t first = layer->in_nic[0];
        bool fits = false;
        for (size_t k = 0; k < layer->nic_count; k++) {
            fits = fits || nic_takes(cards[i], line_part(audit, layer->in_nic[k]));
        }
        if (!fits) {
            (void)check_nic(audit, &(struct audit_link){.net = (enum myr_net_id)layer->net,
                                                        .where = audit->lines.items[first].where,
                                                        .nic = cards[i],
                                                        .nic_optic = line_part(audit, first)});
            audit->lines.items[first].named = true;
        }
    }
}

/* Needs for links with modules; Ethernet with fixed ports has none. */
static bool is_fibre(const struct audit *audit, uint32_t at)
{
    const struct audit_need *need = &audit->needs[at];
    return need->role == AUDIT_CABLE && !need->off && !need->fixed &&
           audit->plan.networks[need->net].topology != MYR_TOPOLOGY_ACCESS;
}

static bool in_layer(const struct audit *audit, const struct layer *layer, uint32_t need)
{
    return audit->needs[need].net == layer->net && audit->needs[need].layer == layer->layer;
}

/* Runs of one layer and one number of legs are judged together, all lengths. */
static bool is_laid(const struct audit *audit, const struct layer *layer, uint32_t need)
{
    return in_layer(audit, layer, need) && is_fibre(audit, need) &&
           audit->needs[need].legs == audit->needs[layer->cable].legs;
}

/* Every line in every class of runs that it was put to. */
static void gather_cables(struct audit *audit, struct layer *layer)
{
    MYR_VEC(struct laid) laid = {};
    for (uint32_t k = layer->cable; k < audit->need_count; k++) {
        size_t i = is_laid(audit, layer, k) ? next_server(audit, k, 0) : SIZE_MAX;
        for (; i != SIZE_MAX; i = next_server(audit, k, i + 1)) {
            myr_vec_push(&laid, ((struct laid){i, k}));
        }
    }
    layer->laid_count = (uint32_t)laid.count;
    layer->laid = MYR_ARENA_NEW(audit->arena, struct laid, laid.count);
    for (size_t i = 0; i < laid.count; i++) {
        layer->laid[i] = laid.items[i];
    }
    myr_vec_done(&laid);
}

/* Lines by the end that they serve; one may serve both. */
static void gather_modules(struct audit *audit, struct layer *layer)
{
    layer->in_switch = MYR_ARENA_NEW(audit->arena, size_t, audit->lines.count);
    layer->in_nic = MYR_ARENA_NEW(audit->arena, size_t, audit->lines.count);
    for (size_t i = 0; i < audit->lines.count; i++) {
        bool in_switch = false, in_nic = false;
        for (uint32_t k = 0; k < audit->need_count; k++) {
            const struct audit_need *need = &audit->needs[k];
            if (need->role != AUDIT_MODULE || need->off || !in_layer(audit, layer, k)) {
                continue;
            }
            bool here = *audit_flow(audit, i, k) > 0 && audit->lines.items[i].part != MYR_PART_NONE;
            layer->cards = layer->cards || need->end == AUDIT_END_NIC;
            *(need->end == AUDIT_END_NIC ? &in_nic : &in_switch) |= here;
        }
        if (in_switch) {
            layer->in_switch[layer->switch_count++] = i;
        }
        if (in_nic) {
            layer->in_nic[layer->nic_count++] = i;
        }
    }
}

/* Layer by layer of each network, at the first need that names it. */
void audit_judge_optics(struct audit *audit)
{
    for (uint32_t i = 0; i < audit->need_count; i++) {
        struct layer layer = {
            .net = audit->needs[i].net, .layer = audit->needs[i].layer, .cable = i};
        bool again = !is_fibre(audit, i);
        for (uint32_t k = 0; k < i && !again; k++) {
            again = is_laid(audit, &layer, k); /* judged with the first of its lengths */
        }
        if (again) {
            continue;
        }
        gather_cables(audit, &layer);
        gather_modules(audit, &layer);
        judge_layer(audit, &layer);
        if (layer.cards) {
            judge_cards(audit, &layer);
        }
    }
}
