/*
 * Which parts of a document meet: the cards and switches of a network, and which of them a module
 * is for. What fits what is the builder's predicate (fits.c).
 */
#include "audit/audit.h"

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

/* In size and form; top and lanes may still be wrong. */
static bool is_like(const struct fit_socket *cage, const struct myr_part *module, bool strict)
{
    return strict ? fits_cage(module, cage) : fits_text(cage->form, module->optic.form);
}

/* ANY where it suits both cages. */
enum audit_end audit_module_end(const struct audit *audit, const struct myr_part *module,
                                uint32_t net)
{
    const struct myr_part *sw = audit_switch(audit, net);
    const struct myr_part *nic = audit_nic(audit, (enum myr_net_id)net, false);
    const struct myr_part_transceiver *optic = &module->optic;
    struct fit_socket of_sw = sw ? fits_socket(sw, 0, 0) : (struct fit_socket){};
    struct fit_socket of_nic = nic ? fits_socket(nic, 0, 0) : (struct fit_socket){};
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
