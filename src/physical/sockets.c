#include "physical_internal.h"

/*
 * Boxes and cards: their cages and ports against what the design puts on them. First the parts are
 * looked up, type by type; then each group of ports is judged by itself (speeds, cages of cards),
 * and the box as a whole.
 */

/* As the part states it; 0 and NULL are not known. */
static void switch_socket(struct socket *socket, const struct myr_part *part)
{
    const struct myr_part_switch *sw = &part->sw;
    socket->form = sw->form;
    socket->top = sw->top;
    socket->takes = sw->takes;
    socket->lane_also = &sw->lane_also;
    socket->technology = sw->technology;
    socket->lanes = sw->lanes;
    socket->lane_gbps = sw->lane_gbps;
    socket->cage_gbps = sw->cage_gbps;
}

static void card_socket(struct socket *socket, const struct myr_part *part)
{
    const struct myr_part_nic *nic = &part->nic;
    socket->form = nic->form;
    socket->top = nic->top;
    socket->takes = nic->takes;
    socket->lane_also = &nic->lane_also;
    socket->technology = nic->technology;
    socket->lanes = nic->lanes;
    socket->lane_gbps = nic->lane_gbps;
    socket->cage_gbps = nic->port_gbps * nic->cage_ports;
}

/*
 * Form and speed of fixed ports go by their role. Lanes and tops stay unknown, so are not judged.
 */
static void fixed_socket(struct socket *socket, const struct myr_part *part)
{
    bool up = socket->group->role == MYR_PORT_UP;
    socket->form = up ? part->eth.uplink_form : part->eth.access_form;
    socket->technology = MYR_TECH_ETHERNET;
    socket->cage_gbps = up ? part->eth.uplink_gbps : part->eth.access_gbps;
}

/* NULL in designs of older programs, which had no such section. */
static const struct myr_card *card_of(const struct myr_design *design, uint32_t type,
                                      uint32_t group)
{
    for (uint32_t i = 0; i < design->card_count; i++) {
        if (design->cards[i].devtype == type && design->cards[i].group == group) {
            return &design->cards[i];
        }
    }
    return NULL;
}

/*
 * A box that nobody knows is one thing that is wrong, however many groups of ports it has. Compared
 * by the string that names it: cards and boxes of one device differ.
 */
static bool told_before(const struct physical *physical, uint32_t type, uint32_t group,
                        uint32_t string)
{
    const struct myr_devtype *devtype = &physical->design->devtypes[type];
    const struct socket *first = &physical->sockets[(size_t)type * MYR_PORT_GROUPS_MAX];
    for (uint32_t g = 0; g < group; g++) {
        bool host = devtype->groups[g].role == MYR_PORT_NIC;
        uint32_t other = !host ? devtype->part : first[g].card ? first[g].card->part : 0;
        if (!first[g].box && other == string) {
            return true;
        }
    }
    return false;
}

/*
 * Leaves 'box' NULL where the part is not known or of another kind: nothing else is then said about
 * what is plugged there. A type without devices is looked at no further.
 */
static void look_up(struct physical *physical, uint32_t type, uint32_t group)
{
    const struct myr_design *design = physical->design;
    const struct myr_devtype *devtype = &design->devtypes[type];
    struct socket *socket = &physical->sockets[type * MYR_PORT_GROUPS_MAX + group];
    socket->group = &devtype->groups[group];
    socket->technology = MYR_TECH_ANY;
    bool host = socket->group->role == MYR_PORT_NIC;
    socket->card = host ? card_of(design, type, group) : NULL;
    if (!socket->devices) {
        return;
    }
    if (host && !socket->card) {
        physical_report(physical, PHYSICAL_UNKNOWN_CARD, physical_place(physical, socket), 1,
                        "the design does not say which cards these are");
        return;
    }
    uint32_t string = host ? socket->card->part : devtype->part;
    socket->box = physical_part(physical, string);
    enum myr_part_kind kind = socket->box ? socket->box->kind : MYR_PART_KIND_COUNT;
    if (host && kind == MYR_PART_NIC) {
        card_socket(socket, socket->box);
    } else if (!host && kind == MYR_PART_SWITCH) {
        switch_socket(socket, socket->box);
    } else if (!host && kind == MYR_PART_ETHERNET) {
        fixed_socket(socket, socket->box);
    } else {
        socket->box = NULL;
        if (told_before(physical, type, group, string)) {
            return;
        }
        physical_report(physical, PHYSICAL_UNKNOWN_PART, physical_place(physical, socket),
                        socket->devices, "'%s' is no %s of the catalogue",
                        myr_design_str(design, string), host ? "card" : "switch");
    }
}

/* Ports of a cage share its speed; a port runs at a speed that the box offers. */
static void judge_speed(struct physical *physical, const struct socket *socket)
{
    const struct myr_port_group *group = socket->group;
    const struct myr_part *box = socket->box;
    const char *where = physical_place(physical, socket);
    bool nic = box->kind == MYR_PART_NIC;
    bool has = box->kind == MYR_PART_SWITCH
                   ? physical_has(&box->sw.splits, box->sw.port_gbps, group->gbps)
               : nic ? physical_has(&box->nic.also, box->nic.port_gbps, group->gbps)
                     : group->gbps <= socket->cage_gbps;
    if (!has) {
        physical_report(physical, nic ? PHYSICAL_CARD_SPEED : PHYSICAL_SWITCH_SPEED, where,
                        socket->devices, "%s has no ports of %u Gb/s", box->id, group->gbps);
    } else if ((uint64_t)group->per_cage * group->gbps > socket->cage_gbps) {
        physical_report(physical, PHYSICAL_CAGE_SPEED, where, socket->devices,
                        "%u ports of %u Gb/s in a cage of %s, which carries %u Gb/s",
                        group->per_cage, group->gbps, box->id, socket->cage_gbps);
    }
}

/*
 * What the server brings is used: all its cards, each with at least one port. A spec that asks for
 * fewer cards than the server has is taken at its word.
 */
static void judge_card(struct physical *physical, uint32_t type, const struct socket *socket)
{
    const struct myr_part_nic *nic = &socket->box->nic;
    const struct myr_card *card = socket->card;
    MYR_ASSERT(card); /* else look_up() leaves the box unknown */
    const struct myr_port_group *group = socket->group;
    const char *where = physical_place(physical, socket);
    const struct myr_part *server = physical_part(physical, physical->design->devtypes[type].part);
    uint64_t cages = (group->count + group->per_cage - 1) / group->per_cage;
    uint64_t there = (uint64_t)card->count * nic->cages;
    /* A twin cage may serve two cards, each of which wants a port. */
    uint64_t cards = (uint64_t)card->count * nic->cards;
    if (cages > there || group->per_cage > nic->cage_ports) {
        physical_report(physical, PHYSICAL_CARD_CAGES, where, socket->devices,
                        "%u ports in %llu cages of %u, %u x %s have %llu cages of %u", group->count,
                        (unsigned long long)cages, group->per_cage, card->count, socket->box->id,
                        (unsigned long long)there, nic->cage_ports);
    }
    if (group->count < cards) {
        physical_report(physical, PHYSICAL_CARD_DROPPED, where, socket->devices,
                        "%u ports for %llu cards", group->count, (unsigned long long)cards);
    } else if (server && server->kind == MYR_PART_SERVER && !card->asked &&
               card->count < server->server.nics[group->net].count) {
        physical_report(physical, PHYSICAL_CARD_DROPPED, where, socket->devices,
                        "%u of the server's %u x %s are connected", card->count,
                        server->server.nics[group->net].count, socket->box->id);
    }
    /* A card may carry less than the sum of its ports. */
    uint64_t total = (uint64_t)group->count * group->gbps;
    if (nic->card_gbps && total > (uint64_t)card->count * nic->card_gbps) {
        physical_report(physical, PHYSICAL_CARD_TOTAL, where, socket->devices,
                        "%llu Gb/s on %u x %s, which carry %llu Gb/s", (unsigned long long)total,
                        card->count, socket->box->id,
                        (unsigned long long)card->count * nic->card_gbps);
    }
}

/* Fixed ports have no cages to share; each kind of them has a number. */
static void judge_fixed(struct physical *physical, const struct socket *socket)
{
    const struct myr_part_ethernet *eth = &socket->box->eth;
    bool up = socket->group->role == MYR_PORT_UP;
    uint32_t there = up ? eth->uplink_ports : eth->access_ports;
    if (socket->group->count > there) {
        physical_report(physical, PHYSICAL_CAGES, physical_place(physical, socket), socket->devices,
                        "%u ports, %s has %u %s", socket->group->count, socket->box->id, there,
                        up ? "uplinks" : "access ports");
    }
}

/* A switch as a whole: cages of its own, and beside them ports for its management. */
static void judge_box(struct physical *physical, const struct myr_devtype *devtype,
                      const struct socket *first)
{
    const struct myr_part *box = devtype->group_count ? first->box : NULL;
    if (!box || (box->kind != MYR_PART_SWITCH && box->kind != MYR_PART_ETHERNET)) {
        return;
    }
    /* On a switch ports of role NIC are those of its management: they take none of its cages. */
    uint32_t cages = 0, managed = 0;
    for (uint32_t g = 0; g < devtype->group_count; g++) {
        const struct myr_port_group *group = &devtype->groups[g];
        uint32_t here = (group->count + group->per_cage - 1) / group->per_cage;
        cages += group->role == MYR_PORT_NIC ? 0 : here;
        managed += group->role == MYR_PORT_NIC ? group->count : 0;
    }
    bool sw = box->kind == MYR_PART_SWITCH;
    uint32_t there = sw ? box->sw.mgmt_ports : box->eth.mgmt_ports;
    if (sw && cages > box->sw.cages) {
        physical_report(physical, PHYSICAL_CAGES, physical_place(physical, first), first->devices,
                        "%u cages, %s has %u", cages, box->id, box->sw.cages);
    }
    /* A part that does not say how many it has is not judged. */
    if (there != MYR_PART_NONE && managed > there) {
        physical_report(physical, PHYSICAL_MGMT_PORTS, physical_place(physical, first),
                        first->devices, "%u management ports, %s has %u", managed, box->id, there);
    }
}

/* Each group of ports by itself, then the box they share. */
static void judge_boxes(struct physical *physical, uint32_t type)
{
    const struct myr_devtype *devtype = &physical->design->devtypes[type];
    const struct socket *first = &physical->sockets[type * MYR_PORT_GROUPS_MAX];
    for (uint32_t g = 0; g < devtype->group_count; g++) {
        const struct socket *socket = first + g;
        if (!socket->box) {
            continue;
        }
        judge_speed(physical, socket);
        if (socket->box->kind == MYR_PART_NIC) {
            judge_card(physical, type, socket);
        } else if (socket->box->kind == MYR_PART_ETHERNET) {
            judge_fixed(physical, socket);
        }
    }
    judge_box(physical, devtype, first);
}

/*
 * Devices of a type are counted at its first socket and then copied to the others of the type. The
 * first device of a type tells its kind.
 */
void physical_sockets(struct physical *physical)
{
    const struct myr_design *design = physical->design;
    physical->sockets = MYR_ARENA_NEW(physical->arena, struct socket,
                                      (size_t)design->devtype_count * MYR_PORT_GROUPS_MAX);
    for (uint32_t device = 0; device < design->device_count; device++) {
        struct socket *socket =
            &physical->sockets[(size_t)design->device_type[device] * MYR_PORT_GROUPS_MAX];
        for (uint32_t g = 0; socket->devices == 0 && g < MYR_PORT_GROUPS_MAX; g++) {
            socket[g].kind = design->place[device].kind;
        }
        socket->devices++;
    }
    for (uint32_t type = 0; type < design->devtype_count; type++) {
        struct socket *first = &physical->sockets[(size_t)type * MYR_PORT_GROUPS_MAX];
        for (uint32_t g = 0; g < design->devtypes[type].group_count; g++) {
            first[g].devices = first->devices;
            look_up(physical, type, g);
        }
        judge_boxes(physical, type);
    }
}
