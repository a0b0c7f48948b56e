/*
 * What fits what, read off the parts alone: form of module and cage, light, connector, lanes,
 * reach. The builder has its own predicate; this one judges other people's choices.
 */
#include "audit.h"

static const char *const medium_names[] = {"copper", "multimode", "single-mode"};

static bool text_eq(const char *a, const char *b)
{
    return a && b && myr_str_eq_nocase(myr_str_from(a), myr_str_from(b));
}

/* Cages of the QSFP family take older modules of it; OSFP takes none but its own. */
bool audit_form_takes(const char *cage, const char *module)
{
    static const char *const family[] = {"qsfp28", "qsfp56", "qsfp112"};
    int at = -1, of = -1;
    if (text_eq(cage, module)) {
        return true;
    }
    for (int i = 0; i < (int)MYR_ARRAY_COUNT(family); i++) {
        at = text_eq(cage, family[i]) ? i : at;
        of = text_eq(module, family[i]) ? i : of;
    }
    return of >= 0 && (at > of || text_eq(cage, "qsfp-dd"));
}

bool audit_modules_agree(const struct myr_part *a, const struct myr_part *b)
{
    const struct myr_part_transceiver *x = &a->optic, *y = &b->optic;
    bool lanes = !x->lane_gbps || !y->lane_gbps || x->lane_gbps == y->lane_gbps;
    return x->medium == y->medium && x->wavelength_nm == y->wavelength_nm && lanes &&
           text_eq(x->connector, y->connector);
}

static bool cable_agrees(const struct myr_part *module, const struct myr_part *cable)
{
    return module->optic.medium == cable->cable.medium &&
           text_eq(module->optic.connector, cable->cable.connector);
}

/* 'fits' lists the beginnings of the ids of the cards that a module is made for. */
static bool card_listed(const char *fits, const char *id)
{
    for (const char *word = fits; word && *word;) {
        size_t len = strcspn(word, " ");
        if (len > 0 && strncmp(word, id, len) == 0) {
            return true;
        }
        word += len + strspn(word + len, " ");
    }
    return !fits;
}

static bool check_nic(struct audit *audit, const struct audit_link *link)
{
    const struct myr_part *module = link->nic_optic, *nic = link->nic;
    bool tops = !nic->nic.top || !module->optic.top || text_eq(nic->nic.top, module->optic.top);
    if (!audit_form_takes(nic->nic.form, module->optic.form) || !tops) {
        audit_finding_text(audit, "optic-form", link->where, nic->nic.form, module->optic.form,
                           "%s: the NIC %s has a %s%s%s cage, %s is a %s%s%s module",
                           myr_net_names[link->net], nic->order, nic->nic.top ? nic->nic.top : "",
                           nic->nic.top ? " " : "", nic->nic.form, module->order,
                           module->optic.top ? module->optic.top : "", module->optic.top ? " " : "",
                           module->optic.form);
        return false;
    }
    if (!card_listed(module->optic.fits, nic->id)) {
        audit_finding_text(audit, "optic-host", link->where, module->optic.fits, nic->id,
                           "%s: %s is specified for %s, the NIC is %s", myr_net_names[link->net],
                           module->order, module->optic.fits, nic->order);
        return false;
    }
    return true;
}

static bool check_switch(struct audit *audit, const struct audit_link *link)
{
    const struct myr_part *module = link->switch_optic, *sw = link->sw;
    if (!audit_form_takes(sw->sw.form, module->optic.form) ||
        module->optic.cage_gbps > sw->sw.cage_gbps) {
        audit_finding_text(audit, "optic-form", link->where, sw->sw.form, module->optic.form,
                           "%s: the switch %s has %s cages of %uG, %s is a %s module of %uG",
                           myr_net_names[link->net], sw->order, sw->sw.form, sw->sw.cage_gbps,
                           module->order, module->optic.form, module->optic.cage_gbps);
        return false;
    }
    return true;
}

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

static bool check_light(struct audit *audit, const struct audit_link *link)
{
    const struct myr_part *a = link->switch_optic;
    const struct myr_part *b = link->fabric ? link->switch_optic : link->nic_optic;
    const struct myr_part *cable = link->cable;
    bool optical = !cable || !cable->cable.fixed_ends;
    bool agrees = (!a || !b || audit_modules_agree(a, b)) &&
                  (!a || !cable || cable_agrees(a, cable)) &&
                  (!b || !cable || cable_agrees(b, cable));
    if (!optical || agrees) {
        return true;
    }
    audit_finding_text(audit, "optic-mode", link->where, a ? light(audit, a) : light(audit, b),
                       b && b != a ? light(audit, b) : light(audit, cable ? cable : a),
                       "%s, %s: no light arrives between %s and %s%s%s", myr_net_names[link->net],
                       link->fabric ? "between switches" : "to the hosts",
                       a ? light(audit, a) : "?", b ? light(audit, b) : "?", cable ? " over " : "",
                       cable ? light(audit, cable) : "");
    return false;
}

static bool check_reach(struct audit *audit, const struct audit_link *link)
{
    const struct myr_part *ends[] = {link->switch_optic, link->nic_optic};
    bool fine = true;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(ends) && link->length_m > 0; i++) {
        if (ends[i] && ends[i]->optic.reach_m < link->length_m) {
            audit_finding(audit, "optic-reach", link->where, link->length_m, ends[i]->optic.reach_m,
                          "%s: %s reaches %g m, the run is %g m", myr_net_names[link->net],
                          ends[i]->order, ends[i]->optic.reach_m, link->length_m);
            fine = false;
        }
    }
    return fine;
}

bool audit_link_rules(struct audit *audit, const struct audit_link *link)
{
    bool fine = true;
    if (link->nic && link->nic_optic) {
        fine = check_nic(audit, link) && fine;
    }
    if (link->sw && link->switch_optic) {
        fine = check_switch(audit, link) && fine;
    }
    fine =
        check_speed(audit, link, link->switch_optic, link->gbps * (link->legs ? link->legs : 1)) &&
        fine;
    fine = check_speed(audit, link, link->nic_optic, link->gbps) && fine;
    fine = check_light(audit, link) && fine;
    return check_reach(audit, link) && fine;
}

/* ---- the links of a list ---- */

/* The next line that serves the need with a known part, from 'from' on; SIZE_MAX: none. */
static size_t next_server(const struct audit *audit, uint32_t need, size_t from)
{
    for (size_t i = from; need != UINT32_MAX && i < audit->lines.count; i++) {
        if (*audit_flow(audit, i, need) > 0 && audit->lines.items[i].part != MYR_PART_NONE) {
            return i;
        }
    }
    return SIZE_MAX;
}

static const struct myr_part *line_part(const struct audit *audit, size_t line)
{
    return line == SIZE_MAX ? NULL : audit_part(audit, audit->lines.items[line].part);
}

/* The line of this need whose light suits 'with', or the first. */
static size_t best_server(const struct audit *audit, uint32_t need, const struct myr_part *with)
{
    size_t first = next_server(audit, need, 0);
    for (size_t i = first; with && i != SIZE_MAX; i = next_server(audit, need, i + 1)) {
        const struct myr_part *part = line_part(audit, i);
        bool cable = part->kind == MYR_PART_CABLE, other = with->kind == MYR_PART_CABLE;
        if (cable ? cable_agrees(with, part)
                  : (other ? cable_agrees(part, with) : audit_modules_agree(with, part))) {
            return i;
        }
    }
    return first;
}

/* The needs of one layer: modules at both ends, and what lies between. */
struct layer {
    uint32_t net, layer;
    uint32_t in_switch, in_nic, cable; /* needs; UINT32_MAX: none */
};

static struct audit_link link_of(const struct audit *audit, const struct layer *layer, size_t a,
                                 size_t b, size_t cable, size_t about)
{
    const struct audit_need *need = &audit->needs[layer->cable];
    return (struct audit_link){
        .net = (enum myr_net_id)layer->net,
        .where = audit->lines.items[about].where,
        .sw = audit_switch(audit, layer->net),
        .switch_optic = line_part(audit, a),
        .nic_optic = line_part(audit, b),
        .cable = line_part(audit, cable),
        .fabric = layer->layer != MYR_LAYER_HOST,
        .gbps = need->gbps,
        .legs = need->legs,
        .length_m = need->length_m,
    };
}

/* Every line that serves the layer, with the partners that suit it best. */
static void judge_layer(struct audit *audit, const struct layer *layer)
{
    const uint32_t needs[] = {layer->in_switch, layer->in_nic, layer->cable};
    for (uint32_t k = 0; k < MYR_ARRAY_COUNT(needs); k++) {
        for (size_t i = next_server(audit, needs[k], 0); i != SIZE_MAX;
             i = next_server(audit, needs[k], i + 1)) {
            const struct myr_part *part = line_part(audit, i);
            size_t a = k == 0 ? i : best_server(audit, layer->in_switch, part);
            size_t b = k == 1 ? i : best_server(audit, layer->in_nic, part);
            size_t cable = k == 2 ? i : best_server(audit, layer->cable, part);
            struct audit_link link = link_of(audit, layer, a, b, cable, i);
            if (!audit_link_rules(audit, &link)) {
                audit->lines.items[i].named = true;
            }
        }
    }
}

static bool nic_takes(const struct audit *audit, const struct myr_part *nic,
                      const struct myr_part *module)
{
    (void)audit;
    bool tops = !nic->nic.top || !module->optic.top || text_eq(nic->nic.top, module->optic.top);
    return audit_form_takes(nic->nic.form, module->optic.form) && tops &&
           card_listed(module->optic.fits, nic->id);
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

/* Every kind of card finds a module that fits, and every module a card. */
static void judge_cards(struct audit *audit, const struct layer *layer)
{
    const struct myr_part *cards[AUDIT_CARDS_MAX];
    uint32_t count = 0;
    bool listed = false;
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
    size_t first = next_server(audit, layer->in_nic, 0);
    for (uint32_t i = 0; i < count && first != SIZE_MAX; i++) {
        bool fits = false;
        for (size_t k = first; k != SIZE_MAX; k = next_server(audit, layer->in_nic, k + 1)) {
            fits = fits || nic_takes(audit, cards[i], line_part(audit, k));
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

void audit_judge_optics(struct audit *audit)
{
    for (uint32_t i = 0; i < audit->need_count; i++) {
        const struct audit_need *cable = &audit->needs[i];
        if (cable->role != AUDIT_CABLE || cable->off || cable->fixed ||
            audit->plan.networks[cable->net].topology == MYR_TOPOLOGY_ACCESS) {
            continue;
        }
        struct layer layer = {cable->net, cable->layer, UINT32_MAX, UINT32_MAX, i};
        for (uint32_t k = 0; k < audit->need_count; k++) {
            const struct audit_need *need = &audit->needs[k];
            if (need->role == AUDIT_MODULE && !need->off && need->net == cable->net &&
                need->layer == cable->layer) {
                *(need->end == AUDIT_END_NIC ? &layer.in_nic : &layer.in_switch) = k;
            }
        }
        judge_layer(audit, &layer);
        if (layer.in_nic != UINT32_MAX) {
            judge_cards(audit, &layer);
        }
    }
}
