/*
 * agree: what the servers of several groups have in common on a network. A network has one
 * technology and one speed towards its hosts; the first group alone decided both, so that H100
 * before MI300X gave InfiniBand, which an Ethernet card does not speak, and the other order worked.
 * Now all cards are asked, and the order of the groups does not matter.
 */
#include "fits.h"
#include "parts/cards.h"

/* The cards of the groups on a network, each once; of storage servers as well. */
struct cards {
    uint32_t parts[MYR_GROUPS_MAX + 1], taken[MYR_GROUPS_MAX + 1]; /* taken: MYR_PART_NONE: open */
    const char *owners[MYR_GROUPS_MAX + 1];                        /* the first that has it */
    uint32_t count;
};

static void add_card(struct cards *cards, uint32_t part, const char *owner)
{
    for (uint32_t i = 0; i < cards->count; i++) {
        if (cards->parts[i] == part) {
            return;
        }
    }
    cards->parts[cards->count] = part;
    cards->taken[cards->count] = MYR_PART_NONE;
    cards->owners[cards->count++] = owner;
}

/* Servers' own cards; a group without one is refused where its hosts are counted. */
static struct cards cards_on(const struct plan *plan, const struct net_plan *net)
{
    struct cards cards = {};
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct plan_group *group = &plan->groups[i];
        const char *nic = group->server->server.nics[net->id].nic;
        uint32_t part = nic ? myr_catalog_find(plan->catalog, myr_str_from(nic)) : MYR_PART_NONE;
        if (part != MYR_PART_NONE && group->networks & 1U << net->id) {
            add_card(&cards, part, group->name);
        }
    }
    return cards;
}

/* Whether all of the cards are right for such a network, or one of the family of each. */
static bool all_suit(const struct plan *plan, const struct myr_spec_net *spec,
                     const struct cards *cards, bool variants)
{
    for (uint32_t i = 0; i < cards->count; i++) {
        uint32_t own = cards->parts[i];
        uint32_t taken = variants ? card_variant(plan, spec, own) : own;
        if (!card_suits(plan, spec, &part_at(plan, taken)->nic)) {
            return false;
        }
    }
    return true;
}

/* How much is asked of a speed: with the servers' own cards, or others of their families; with a
 * switch that joins them. */
struct wish {
    uint32_t most; /* Gb/s */
    bool variants, joined;
};

/* The card that is taken for number 'i', its own if possible; MYR_PART_NONE: none joins the switch
 * beside those before. */
static uint32_t joined_card(struct plan *plan, struct net_plan *trial, const struct cards *cards,
                            uint32_t i, uint32_t sw, bool variants)
{
    uint32_t own = cards->parts[i];
    for (uint32_t k = 0; k <= plan->catalog->parts.count; k++) {
        uint32_t part = k ? k - 1 : own;
        if (k && (!variants || !card_is_of_family(plan, part, own))) {
            continue;
        }
        trial->hosts[i] = (struct host_class){.nic_part = part,
                                              .count = 1,
                                              .nic_ports = 1,
                                              .per_cage = part_at(plan, part)->nic.cage_ports};
        if (card_suits(plan, trial->spec, &part_at(plan, part)->nic) &&
            plan_card_joins(plan, trial, part, sw)) {
            return part;
        }
    }
    return MYR_PART_NONE;
}

/* Whether some switch, or that of the spec, can be cabled to all of the cards; fills which cards
 * these are. */
static bool all_joined(struct plan *plan, const struct net_plan *net,
                       const struct myr_spec_net *spec, struct cards *cards, bool variants)
{
    struct net_plan *trial = MYR_ARENA_ONE(plan->arena, struct net_plan);
    *trial = *net;
    trial->spec = spec;
    trial->out.planes = spec->planes ? spec->planes : 1;
    trial->out.host_gbps = spec->nic_gbps;
    trial->nic_ports = trial->ports_per_rail = 1; /* how many there are does not matter to it */
    trial->host_class_count = cards->count;
    for (uint32_t sw = 0; sw < plan->catalog->parts.count; sw++) {
        const struct myr_part *part = part_at(plan, sw);
        bool open = spec->switch_part == MYR_PART_NONE || spec->switch_part == sw;
        bool joined = open && part->kind == MYR_PART_SWITCH &&
                      myr_switch_radix(&part->sw, spec->nic_gbps) > 0;
        /* Kinds that are not chosen yet have no say. */
        for (uint32_t i = 0; joined && i < cards->count; i++) {
            trial->hosts[i] = trial->hosts[0];
            cards->taken[i] = joined_card(plan, trial, cards, i, sw, variants);
            joined = cards->taken[i] != MYR_PART_NONE;
        }
        if (joined) {
            return true;
        }
    }
    return false;
}

/* The highest speed of their own that every card can run at; 0: there is none. */
static uint32_t highest_common(struct plan *plan, const struct net_plan *net,
                               const struct myr_spec_net *spec, struct cards *cards,
                               const struct wish *wish)
{
    struct myr_spec_net trial = *spec;
    struct cards best = *cards;
    uint32_t highest = 0;
    for (uint32_t i = 0; i < cards->count; i++) {
        const struct myr_part_nic *nic = &part_at(plan, cards->parts[i])->nic;
        for (uint32_t k = 0; k <= nic->also.count; k++) {
            trial.nic_gbps = k ? nic->also.items[k - 1] : nic->port_gbps;
            if (trial.nic_gbps <= highest || trial.nic_gbps > wish->most ||
                (wish->joined ? !all_joined(plan, net, &trial, cards, wish->variants)
                              : !all_suit(plan, &trial, cards, wish->variants))) {
                continue;
            }
            highest = trial.nic_gbps;
            best = *cards;
        }
    }
    *cards = best;
    return highest;
}

/* Best with the servers' own cards and a switch for all; then what is left of that. */
static uint32_t common_speed(struct plan *plan, const struct net_plan *net,
                             const struct myr_spec_net *spec, struct cards *cards)
{
    bool access = net->out.topology == MYR_TOPOLOGY_ACCESS;
    uint32_t limit = access && spec->access_switch != MYR_PART_NONE
                         ? part_at(plan, spec->access_switch)->eth.access_gbps
                         : UINT32_MAX;
    for (uint32_t i = access ? 2 : 0; i < 4; i++) {
        struct wish wish = {limit, i % 2, i < 2};
        struct cards tried = *cards;
        uint32_t gbps = highest_common(plan, net, spec, &tried, &wish);
        if (gbps) {
            *cards = tried;
            return gbps;
        }
    }
    return 0;
}

/* Each vendor's card by its name, for the message. */
static const char *list_cards(const struct plan *plan, const struct cards *cards)
{
    const char *text = "";
    for (uint32_t i = 0; i < cards->count; i++) {
        const char *before = i == 0 ? "" : i + 1 == cards->count ? " and " : ", ";
        text = myr_arena_printf(plan->arena, "%s%s'%s' of '%.40s'", text, before,
                                part_at(plan, cards->parts[i])->id, cards->owners[i]);
    }
    return text;
}

/* Cards that speak InfiniBand alone beside such that do not leave no technology for all. */
static enum myr_fabric common_fabric(const struct plan *plan, const struct myr_spec_net *spec,
                                     const struct cards *cards)
{
    struct myr_spec_net trial = *spec;
    for (uint32_t variants = 0; variants < 2; variants++) {
        trial.fabric = MYR_FABRIC_INFINIBAND;
        bool infiniband = all_suit(plan, &trial, cards, variants);
        trial.fabric = MYR_FABRIC_ROCE;
        bool ethernet = all_suit(plan, &trial, cards, variants);
        if (infiniband != ethernet) {
            return infiniband ? MYR_FABRIC_INFINIBAND : MYR_FABRIC_ROCE;
        }
        /* All speak both: the network's switches decide, as they do for one kind of servers. */
        if (infiniband) {
            break;
        }
    }
    return MYR_FABRIC_ANY;
}

void cards_agree(struct plan *plan, struct net_plan *net)
{
    const struct myr_spec_net *spec = net->spec;
    struct cards cards = cards_on(plan, net);
    /* A pinned card is that of all groups. */
    if (cards.count < 2 || spec->pins[MYR_PIN_NIC] != MYR_PART_NONE) {
        return;
    }
    const char *storage = net->id == MYR_NET_STORAGE && plan->storage_servers
                              ? part_at(plan, plan->storage_part)->storage.nic
                              : NULL;
    if (storage) {
        add_card(&cards, myr_catalog_find(plan->catalog, myr_str_from(storage)), "storage servers");
    }
    struct myr_spec_net *agreed = MYR_ARENA_ONE(plan->arena, struct myr_spec_net);
    *agreed = *spec;
    if (net->out.topology != MYR_TOPOLOGY_ACCESS && spec->fabric == MYR_FABRIC_ANY &&
        spec->switch_part == MYR_PART_NONE) {
        agreed->fabric = common_fabric(plan, spec, &cards);
    }
    uint32_t common = spec->nic_gbps ? 0 : common_speed(plan, net, agreed, &cards);
    bool slower = false;
    for (uint32_t i = 0; i < cards.count; i++) {
        uint32_t part = cards.taken[i] == MYR_PART_NONE ? cards.parts[i] : cards.taken[i];
        slower = slower || part_at(plan, part)->nic.port_gbps != common;
    }
    agreed->nic_gbps = common && slower ? common : spec->nic_gbps;
    net->spec = agreed;
    for (uint32_t i = 0; i < cards.count; i++) {
        net->agreed[i] = (struct agreed_card){cards.parts[i], cards.taken[i]};
    }
    net->agreed_count = cards.count;
    if (agreed->fabric != spec->fabric) {
        plan_finding(plan, MYR_SEVERITY_INFO, "common-technology", myr_net_names[net->id],
                     "'fabric', or groups on networks of their own, decide otherwise",
                     "the network is %s, which all cards speak: %s",
                     agreed->fabric == MYR_FABRIC_INFINIBAND ? "InfiniBand" : "Ethernet",
                     list_cards(plan, &cards));
    }
    if (agreed->nic_gbps != spec->nic_gbps) {
        plan_finding(plan, MYR_SEVERITY_INFO, "common-speed", myr_net_names[net->id],
                     "groups on networks of their own, or 'nic_gbps', decide otherwise",
                     "all hosts run at %u Gb/s, the highest that all cards have: %s", common,
                     list_cards(plan, &cards));
    }
}

uint32_t cards_homes(const struct plan *plan, const struct net_plan *net)
{
    uint32_t homes = net->nic_ports;
    if (net->out.topology != MYR_TOPOLOGY_ACCESS || net->spec->nic_ports ||
        net->spec->pins[MYR_PIN_NIC] != MYR_PART_NONE) {
        return homes;
    }
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct plan_group *group = &plan->groups[i];
        const struct myr_server_nics *nics = &group->server->server.nics[net->id];
        uint32_t part =
            nics->nic ? myr_catalog_find(plan->catalog, myr_str_from(nics->nic)) : MYR_PART_NONE;
        if (group->networks & 1U << net->id && part != MYR_PART_NONE) {
            const struct myr_part_nic *nic = &part_at(plan, part)->nic;
            uint32_t ports = nics->count * nic->cages * nic->cage_ports;
            homes = ports && ports < homes ? ports : homes;
        }
    }
    return homes;
}
