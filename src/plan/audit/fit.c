/*
 * What fits what, read off the parts alone. The builder has its own predicate; this one judges
 * other people's choices.
 */
#include "audit/audit.h"
#include "plan_internal.h"

/* The first tier's, where tiers have different parts. */
const struct myr_part *audit_switch(const struct audit *audit, uint32_t net)
{
    for (uint32_t i = 0; i < audit->need_count; i++) {
        const struct audit_need *need = &audit->needs[i];
        if (need->role == AUDIT_SWITCH && need->net == net && need->part != MYR_PART_NONE) {
            return audit_part(audit, need->part);
        }
    }
    return NULL;
}

/* Servers of tiers behind the flash are not cabled, so nothing hangs on their cards. */
bool audit_is_tier(const struct audit *audit, uint32_t part)
{
    bool tier = false;
    for (uint32_t i = 0; i < MYR_TIER_COUNT; i++) {
        tier = tier || plan_tier_part(audit->catalog, audit->spec, i) == part;
    }
    return tier && part != audit->spec->storage.server_part;
}

/*
 * The later word counts: the server's card, then the spec's pin, then (for storage servers) the
 * card of the one in the list. NULL where no card is known.
 */
const struct myr_part *audit_nic(const struct audit *audit, enum myr_net_id net,
                                 bool storage_server)
{
    uint32_t server = myr_catalog_find(
        audit->catalog, myr_str_from(myr_design_str(&audit->plan, audit->plan.head->server_part)));
    const char *name =
        server == MYR_PART_NONE ? NULL : audit_part(audit, server)->server.nics[net].nic;
    uint32_t part = name ? myr_catalog_find(audit->catalog, myr_str_from(name)) : MYR_PART_NONE;
    if (audit->spec->nets[net].pins[MYR_PIN_NIC] != MYR_PART_NONE) {
        part = audit->spec->nets[net].pins[MYR_PIN_NIC];
    }
    for (uint32_t i = 0; storage_server && i < audit->lines.count; i++) {
        const struct audit_line *line = &audit->lines.items[i];
        if (line->role == AUDIT_STORAGE && line->part != MYR_PART_NONE &&
            !audit_is_tier(audit, line->part) &&
            audit_part(audit, line->part)->kind == MYR_PART_STORAGE &&
            audit_part(audit, line->part)->storage.nic) {
            part = myr_catalog_find(audit->catalog,
                                    myr_str_from(audit_part(audit, line->part)->storage.nic));
        }
    }
    return part == MYR_PART_NONE ? NULL : audit_part(audit, part);
}

static bool text_eq(const char *a, const char *b)
{
    return a && b && myr_str_eq_nocase(myr_str_from(a), myr_str_from(b));
}

/* 'words' are separated by blanks; NULL has none. */
static bool listed(const char *words, const char *word)
{
    size_t want = strlen(word);
    for (const char *at = words; at && *at;) {
        size_t len = strcspn(at, " ");
        if (len == want && myr_str_eq_nocase((struct myr_str){at, len}, myr_str_from(word))) {
            return true;
        }
        at += len + strspn(at + len, " ");
    }
    return false;
}

static bool has_speed(const struct myr_speeds *speeds, uint32_t gbps)
{
    for (uint32_t i = 0; i < speeds->count; i++) {
        if (speeds->items[i] == gbps) {
            return true;
        }
    }
    return false;
}

/* Tops and lanes count only where both sides state them. */
bool audit_cage_takes(const struct audit_cage *cage, const struct myr_part *module)
{
    const struct myr_part_transceiver *optic = &module->optic;
    bool form = text_eq(cage->form, optic->form) || listed(cage->takes, optic->form);
    bool top = !cage->top || !optic->top || text_eq(cage->top, optic->top);
    uint32_t lane = optic->cage_lane_gbps ? optic->cage_lane_gbps : optic->lane_gbps;
    bool lanes =
        !cage->lane_gbps || !lane || cage->lane_gbps == lane || has_speed(cage->lane_also, lane);
    return form && top && lanes;
}

/* Of a switch or a card; nothing else has cages for modules. */
struct audit_cage audit_cage_of(const struct myr_part *part)
{
    bool sw = part->kind == MYR_PART_SWITCH;
    return (struct audit_cage){
        .form = sw ? part->sw.form : part->nic.form,
        .top = sw ? part->sw.top : part->nic.top,
        .takes = sw ? part->sw.takes : part->nic.takes,
        .lane_gbps = sw ? part->sw.lane_gbps : part->nic.lane_gbps,
        .lane_also = sw ? &part->sw.lane_also : &part->nic.lane_also,
    };
}

/* Lanes that the catalogue does not state agree with any. */
bool audit_modules_agree(const struct myr_part *a, const struct myr_part *b)
{
    const struct myr_part_transceiver *x = &a->optic, *y = &b->optic;
    bool lanes = !x->lane_gbps || !y->lane_gbps || x->lane_gbps == y->lane_gbps;
    return x->medium == y->medium && x->wavelength_nm == y->wavelength_nm && lanes &&
           text_eq(x->connector, y->connector);
}

bool audit_cable_agrees(const struct myr_part *module, const struct myr_part *cable)
{
    return module->optic.medium == cable->cable.medium &&
           text_eq(module->optic.connector, cable->cable.connector);
}

/* In size and form; top and lanes may still be wrong. */
static bool is_like(const struct audit_cage *cage, const struct myr_part *module, bool strict)
{
    return strict ? audit_cage_takes(cage, module) : text_eq(cage->form, module->optic.form);
}

/* ANY where it suits both cages. */
enum audit_end audit_module_end(const struct audit *audit, const struct myr_part *module,
                                uint32_t net)
{
    const struct myr_part *sw = audit_switch(audit, net);
    const struct myr_part *nic = audit_nic(audit, (enum myr_net_id)net, false);
    const struct myr_part_transceiver *optic = &module->optic;
    struct audit_cage of_sw = sw ? audit_cage_of(sw) : (struct audit_cage){};
    struct audit_cage of_nic = nic ? audit_cage_of(nic) : (struct audit_cage){};
    /* First what fits, then what only looks like it: a wrong one was meant for one of them too. */
    for (int strict = 1; strict >= 0; strict--) {
        bool for_sw = sw && sw->sw.cage_gbps == optic->cage_gbps && is_like(&of_sw, module, strict);
        /* A card may hold a module that could do more than it; a switch's module fills its cage. */
        bool for_nic = nic && optic->cage_gbps >= nic->nic.port_gbps * nic->nic.cage_ports &&
                       is_like(&of_nic, module, strict);
        if (for_sw && for_nic) {
            return AUDIT_END_ANY;
        }
        if (for_sw || for_nic) {
            return for_sw ? AUDIT_END_SWITCH : AUDIT_END_NIC;
        }
    }
    /* By speed alone, where the form is right for neither. */
    return sw && sw->sw.cage_gbps == optic->cage_gbps ? AUDIT_END_SWITCH : AUDIT_END_NIC;
}
