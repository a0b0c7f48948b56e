/*
 * cards: which card a host has on a network, and whether it can do what the network asks. Servers
 * come with cards, but the same family is sold with other ports: the spec's pin decides first, then
 * the server's own card, then a variant of it. The hosts of a network run at one speed, which
 * storage servers may lower to what all cards have.
 */
#include "parts/cards.h"

#include "fits.h"

/* What the spec's word or its switch asks for; MYR_TECH_ANY: it leaves that open. */
uint32_t card_asked_technology(const struct plan *plan, const struct myr_spec_net *spec)
{
    if (spec->fabric != MYR_FABRIC_ANY) {
        return spec->fabric == MYR_FABRIC_INFINIBAND ? MYR_TECH_INFINIBAND : MYR_TECH_ETHERNET;
    }
    return spec->switch_part == MYR_PART_NONE ? MYR_TECH_ANY
                                              : part_at(plan, spec->switch_part)->sw.technology;
}

/* A part may be several cards behind one cage; each of them has a port in every plane. */
static uint32_t ports_of_card(const struct myr_part_nic *nic)
{
    uint32_t ports = nic->cages * nic->cage_ports / nic->cards;
    return ports ? ports : 1;
}

/* Whether a card can do what the network asks: technology, speed, ports for every plane. */
bool card_suits(const struct plan *plan, const struct myr_spec_net *spec,
                const struct myr_part_nic *nic)
{
    uint32_t technology = card_asked_technology(plan, spec);
    bool speaks = fits_technology(nic->technology, technology);
    uint32_t planes = spec->planes ? spec->planes : 1;
    /* Each card serves all planes alike, so its ports come in whole sets of one a plane; a
     * twin-planar one has such a set in every cage. */
    bool planar =
        ports_of_card(nic) % planes == 0 && (!spec->twin_planar || nic->cage_ports == planes);
    return speaks && planar && (!spec->nic_gbps || fits_speed(nic, spec->nic_gbps));
}

/* Ids of a family begin alike up to the first dash. */
bool card_is_of_family(const struct plan *plan, uint32_t card, uint32_t own)
{
    const struct myr_part *part = part_at(plan, card);
    const char *id = part_at(plan, own)->id;
    size_t family = strcspn(id, "-");
    return part->kind == MYR_PART_NIC && strncmp(part->id, id, family) == 0 &&
           part->id[family] == '-';
}

/*
 * The server's own card, or one of the same family that suits the network where it does not: the
 * same ConnectX comes with other ports, and servers are ordered with either.
 */
uint32_t card_variant(const struct plan *plan, const struct myr_spec_net *spec, uint32_t own)
{
    if (card_suits(plan, spec, &part_at(plan, own)->nic)) {
        return own;
    }
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        if (card_is_of_family(plan, i, own) && card_suits(plan, spec, &part_at(plan, i)->nic)) {
            return i;
        }
    }
    return own;
}

uint32_t card_or_variant(struct plan *plan, const struct net_plan *net, uint32_t own)
{
    uint32_t taken = MYR_PART_NONE;
    for (uint32_t i = 0; i < net->agreed_count; i++) {
        taken = net->agreed[i].own == own ? net->agreed[i].taken : taken;
    }
    taken = taken == MYR_PART_NONE ? card_variant(plan, net->spec, own) : taken;
    if (taken != own) {
        plan_finding(plan, MYR_SEVERITY_INFO, "nic-variant", myr_net_names[net->id],
                     "give pin: {nic: ...} to choose the card",
                     "the server's '%s' does not suit this network; '%s' is taken",
                     part_at(plan, own)->id, part_at(plan, taken)->id);
    }
    return taken;
}

/* The speeds of a card, as text for people. */
static const char *card_speeds(const struct plan *plan, const struct myr_part_nic *nic)
{
    const char *text = myr_arena_printf(plan->arena, "%u", nic->port_gbps);
    for (uint32_t i = 0; i < nic->also.count; i++) {
        text = myr_arena_printf(plan->arena, "%s or %u", text, nic->also.items[i]);
    }
    return text;
}

/* A card has a port in every plane. */
int card_check(const struct plan *plan, const struct net_plan *net, uint32_t part,
               struct myr_err *err)
{
    const struct myr_part_nic *nic = &part_at(plan, part)->nic;
    uint32_t planes = net->out.planes;
    if (ports_of_card(nic) % planes) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "%u planes need %u ports on every card, '%s' has %u", planes, planes,
                             part_at(plan, part)->id, ports_of_card(nic));
    }
    return MYR_OK;
}

/* Called once all hosts have had their say: the storage servers may have lowered the speed. */
int card_check_speed(const struct plan *plan, const struct net_plan *net, uint32_t part,
                     struct myr_err *err)
{
    const struct myr_part_nic *nic = &part_at(plan, part)->nic;
    if (fits_speed(nic, net->out.host_gbps)) {
        return MYR_OK;
    }
    return myr_doc_error(err, net->node, MYR_EINVAL, "NIC '%s' runs at %s Gb/s, %u are asked for",
                         part_at(plan, part)->id, card_speeds(plan, nic), net->out.host_gbps);
}

/*
 * Fabric managers have one port in each plane. Where the nodes' card has more in a cage, a single
 * one of its family serves them.
 */
uint32_t card_of_manager(struct plan *plan, const struct net_plan *net, uint32_t nodes)
{
    const struct myr_part *own = part_at(plan, nodes);
    /* A manager's ports fill whole cages of the nodes' card. */
    if (net->out.planes % own->nic.cage_ports == 0) {
        return nodes;
    }
    /* The appliance comes with a card of its own, if the catalogue says which. */
    uint32_t box = myr_catalog_find(plan->catalog, MYR_STR("ufm-appliance"));
    const char *card = box == MYR_PART_NONE ? NULL : part_at(plan, box)->device.nic;
    uint32_t fixed = card ? myr_catalog_find(plan->catalog, myr_str_from(card)) : MYR_PART_NONE;
    if (fixed != MYR_PART_NONE && plan_card_joins(plan, net, fixed, net->leaf_part)) {
        return fixed;
    }
    size_t family = strcspn(own->id, "-");
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        const struct myr_part *part = part_at(plan, i);
        if (part->kind == MYR_PART_NIC && strncmp(part->id, own->id, family) == 0 &&
            part->id[family] == '-' && part->nic.cage_ports == 1 &&
            plan_card_joins(plan, net, i, net->leaf_part)) {
            return i;
        }
    }
    /* None can be cabled, which is said elsewhere; the card is one that managers come with. */
    bool lost = !plan_card_joins(plan, net, nodes, net->leaf_part) && fixed != MYR_PART_NONE;
    return lost && fits_speed(&part_at(plan, fixed)->nic, net->out.host_gbps) ? fixed : nodes;
}

/* The highest speed that both cards can run at; 0: none. */
static uint32_t common_speed(const struct myr_part_nic *a, const struct myr_part_nic *b)
{
    uint32_t best = fits_speed(b, a->port_gbps) ? a->port_gbps : 0;
    for (uint32_t i = 0; i < a->also.count; i++) {
        uint32_t gbps = a->also.items[i];
        best = gbps > best && fits_speed(b, gbps) ? gbps : best;
    }
    return best;
}

/*
 * The storage servers' own card. A network has one speed for its hosts: where the spec leaves it
 * open it is the highest that all cards have, else the card is one of the family that has it.
 */
int card_of_storage(struct plan *plan, struct net_plan *net, uint32_t node_nic, uint32_t *ret,
                    struct myr_err *err)
{
    const struct myr_part *storage = part_at(plan, plan->storage_part);
    uint32_t own = myr_catalog_find(plan->catalog, myr_str_from(storage->storage.nic));
    const struct myr_part *card = part_at(plan, own);
    uint32_t common = common_speed(&part_at(plan, node_nic)->nic, &card->nic);
    if (!net->spec->nic_gbps && common && common != net->out.host_gbps) {
        plan_finding(plan, MYR_SEVERITY_INFO, "common-speed", myr_net_names[net->id],
                     "storage servers with faster cards, or 'nic_gbps', decide otherwise",
                     "all hosts run at %u Gb/s: '%s' of the storage servers has no %u", common,
                     card->id, net->out.host_gbps);
        net->out.host_gbps = common;
    }
    *ret = fits_speed(&card->nic, net->out.host_gbps) && !net->agreed_count
               ? own
               : card_or_variant(plan, net, own);
    const struct myr_part *taken = part_at(plan, *ret);
    if (!fits_speed(&taken->nic, net->out.host_gbps)) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "'%s' of the storage servers runs at %s Gb/s, the network at %u",
                             taken->id, card_speeds(plan, &taken->nic), net->out.host_gbps);
    }
    if (taken->nic.cages * taken->nic.cage_ports % net->out.planes) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "%u planes need as many ports on every card, '%s' of the storage "
                             "servers has %u",
                             net->out.planes, taken->id, taken->nic.cages * taken->nic.cage_ports);
    }
    return MYR_OK;
}
