/*
 * What a planned cluster needs, counted from its ports: a module for every cage in which a port is
 * used, a cable for every link or, with splitters, for every connector. Which modules and cables
 * the planner took plays no part; the document may have others.
 */
#include "audit/audit.h"

/* NULL where nothing is needed. */
static struct audit_need *add(struct audit *audit, struct audit_need need)
{
    if (need.quantity == 0) {
        return NULL;
    }
    MYR_ASSERT(audit->need_count < AUDIT_NEEDS_MAX);
    audit->needs[audit->need_count] = need;
    return &audit->needs[audit->need_count++];
}

/* What a device is. */
static uint32_t type_part(const struct audit *audit, uint32_t device)
{
    const struct myr_design *design = &audit->plan;
    if (device >= design->device_count) {
        return MYR_PART_NONE;
    }
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    return myr_catalog_find(audit->catalog, myr_str_from(myr_design_str(design, type->part)));
}

/* Cages of one network that the plan fills alike. */
struct cages {
    uint32_t layer, optic; /* string of the design; 0: none */
    enum audit_end end;
    uint64_t count;
};

enum { CAGES_MAX = 64 };

/* Kinds of cages of one network. */
struct counted {
    struct cages items[CAGES_MAX];
    uint32_t count;
};

/*
 * By layer and end: both fibres of a twin cage are of one kind, so cages with splitters and with
 * straight fibres are counted apart (docs/audit.md has an example: 150 modules, not 147).
 */
static void count_cage(struct counted *counted, struct cages cage)
{
    uint32_t i = 0;
    while (i < counted->count &&
           (counted->items[i].layer != cage.layer || counted->items[i].end != cage.end ||
            (counted->items[i].optic != cage.optic && counted->count < CAGES_MAX / 2))) {
        i++; /* beyond half of the room what the plan took is no longer told apart */
    }
    if (i == counted->count) {
        MYR_ASSERT(counted->count < CAGES_MAX);
        counted->items[counted->count++] = cage;
    }
    counted->items[i].count++;
}

/* Whether no port before this one in its set of 'size' is in use: each set is counted once. */
static bool first_of(const struct myr_design *design, uint32_t first, uint32_t index, uint32_t size)
{
    for (uint32_t i = index - index % size; i < index; i++) {
        if (design->port_link[first + i] != MYR_NONE) {
            return false;
        }
    }
    return true;
}

/*
 * 'head': the end that a cable with fixed ends is counted by has more cages; 1: end a. Every cage
 * counts once, by its first port in use.
 */
static void count_cages(const struct myr_design *design, uint32_t net, struct counted *ret,
                        uint8_t *head)
{
    /* Cages of switches at both ends of each layer; hosts have one for each NIC in any case. */
    uint64_t ends[MYR_LAYER_COUNT][2] = {};
    for (uint32_t device = 0; device < design->device_count; device++) {
        const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
        for (uint32_t g = 0; g < type->group_count; g++) {
            const struct myr_port_group *group = &type->groups[g];
            uint32_t first = design->first_port[device] + group->first;
            for (uint32_t i = 0; group->net == net && i < group->count; i++) {
                uint32_t link = design->port_link[first + i];
                if (link == MYR_NONE || !first_of(design, first, i, group->per_cage)) {
                    continue;
                }
                const struct myr_cabletype *cable =
                    &design->cabletypes[design->cable_type[design->link_cable[link]]];
                bool end_a = design->link_a[link] == first + i, nic = group->role == MYR_PORT_NIC;
                count_cage(ret, (struct cages){.layer = nic ? MYR_LAYER_HOST : cable->layer,
                                               .optic = end_a ? cable->optic_a : cable->optic_b,
                                               .end = nic ? AUDIT_END_NIC : AUDIT_END_SWITCH});
                ends[cable->layer][end_a] += !nic;
            }
        }
    }
    for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
        /*
         * By the end with more cages: each end of such a cable fills one, so no cage stays without.
         */
        head[layer] = ends[layer][1] > ends[layer][0];
    }
}

static const char *layer_words(uint32_t layer)
{
    static const char *const words[MYR_LAYER_COUNT] = {
        "to the hosts", "leaf to spine", "spine to core", "between switches", "between groups"};
    return words[layer];
}

/*
 * Two needs for the same runs, one for fibres and one for cables with ends; the document has one or
 * the other, and the other is switched off later.
 */
static void add_cables(struct audit *audit, uint32_t kind, const struct audit_run *run,
                       uint32_t legs)
{
    const struct myr_design *design = &audit->plan;
    const struct myr_cabletype *type = &design->cabletypes[kind];
    uint32_t part = type->part ? myr_catalog_find(audit->catalog,
                                                  myr_str_from(myr_design_str(design, type->part)))
                               : MYR_PART_NONE;
    struct audit_need need = {
        .role = AUDIT_CABLE,
        .net = type->net,
        .layer = type->layer,
        .part = part,
        .gbps = type->gbps,
        .length_m = run->length_m,
        .quantity = run->open,
        .legs = legs,
    };
    need.what = myr_arena_printf(audit->arena, "%s %s", legs > 1 ? "splitter cables" : "fibres",
                                 layer_words(type->layer));
    (void)add(audit, need);
    /* Only a part with ends may stand for a cable with ends, and the other way round. */
    bool planned = part != MYR_PART_NONE && audit_part(audit, part)->cable.fixed_ends;
    need.fixed = true;
    need.part = planned ? part : MYR_PART_NONE;
    need.quantity = run->fixed;
    need.legs = 0; /* as many as the cage has ports */
    need.what = myr_arena_printf(audit->arena, "cables with ends, %s", layer_words(type->layer));
    (void)add(audit, need);
}

/* Two places are kept free, for each run may make two needs. */
static void add_runs(struct audit *audit, uint32_t net, const struct audit_runs *runs)
{
    for (uint32_t i = 0; i < audit->plan.cabletype_count; i++) {
        uint32_t legs = runs->legs[i] ? runs->legs[i] : 1;
        for (uint32_t k = 0; k <= AUDIT_STEPS_MAX; k++) {
            const struct audit_run *run = &runs->items[(size_t)i * (AUDIT_STEPS_MAX + 1) + k];
            if (audit->plan.cabletypes[i].net == net && run->open + run->fixed > 0 &&
                audit->need_count + 2 < AUDIT_NEEDS_MAX) {
                add_cables(audit, i, run, legs);
            }
        }
    }
}

/* Tiers that use the same part are one line of a list. */
static void add_switches(struct audit *audit, uint32_t net)
{
    const struct myr_network *out = &audit->plan.networks[net];
    const struct {
        uint32_t count;
        uint32_t first;
        enum audit_tier tier;
    } tiers[] = {{out->leaf, out->first_leaf, AUDIT_TIER_LEAF},
                 {out->spine, out->first_spine, AUDIT_TIER_SPINE},
                 {out->core, out->first_core, AUDIT_TIER_CORE}};
    uint32_t first_switch = audit->need_count;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(tiers); i++) {
        if (tiers[i].count == 0) {
            continue;
        }
        uint32_t part = type_part(audit, tiers[i].first);
        /* One line of a list has all switches of a part, in whatever tier they stand. */
        bool joined = false;
        for (uint32_t k = first_switch; k < audit->need_count; k++) {
            if (audit->needs[k].part == part) {
                audit->needs[k].quantity += tiers[i].count;
                joined = true;
            }
        }
        if (!joined) {
            (void)add(audit, (struct audit_need){.role = AUDIT_SWITCH,
                                                 .net = net,
                                                 .part = part,
                                                 .quantity = tiers[i].count,
                                                 .what = "switches"});
        }
    }
    for (uint32_t k = first_switch; k < audit->need_count; k++) {
        const struct myr_part_switch *sw = &audit_part(audit, audit->needs[k].part)->sw;
        uint32_t box = sw->per_box ? sw->per_box : 1; /* some are ordered two in a box */
        audit->needs[k].quantity = (audit->needs[k].quantity + box - 1) / box;
    }
}

/* One for each cage, whatever the document plugs into it. */
static void add_modules(struct audit *audit, uint32_t net, const struct cages *cages)
{
    const char *optic = cages->optic ? myr_design_str(&audit->plan, cages->optic) : NULL;
    bool nic = cages->end == AUDIT_END_NIC;
    (void)add(audit, (struct audit_need){
                         .role = AUDIT_MODULE,
                         .net = net,
                         .layer = cages->layer,
                         .end = cages->end,
                         .part = optic ? myr_catalog_find(audit->catalog, myr_str_from(optic))
                                       : MYR_PART_NONE,
                         .quantity = cages->count,
                         .what = nic ? "modules in NICs"
                                     : myr_arena_printf(audit->arena, "modules in switches, %s",
                                                        layer_words(cages->layer))});
}

static void add_fabric(struct audit *audit, uint32_t net, const struct counted *counted,
                       const struct audit_runs *runs)
{
    uint32_t first_switch = audit->need_count;
    add_switches(audit, net);
    bool built_in = false; /* light comes out of the box: no modules there */
    for (uint32_t k = first_switch; k < audit->need_count; k++) {
        const struct myr_part_switch *sw = &audit_part(audit, audit->needs[k].part)->sw;
        built_in = built_in || (sw->form && strcmp(sw->form, "co-packaged") == 0);
    }
    for (uint32_t i = 0; i < counted->count; i++) {
        if (!built_in || counted->items[i].end == AUDIT_END_NIC) {
            add_modules(audit, net, &counted->items[i]);
        }
    }
    add_runs(audit, net, runs);
}

/*
 * Cables only unless the spec says that others supply them; fibres are off, since these ports take
 * fixed ends.
 */
static void add_access(struct audit *audit, uint32_t net, const struct audit_runs *runs)
{
    const struct myr_network *out = &audit->plan.networks[net];
    (void)add(audit, (struct audit_need){.role = AUDIT_ACCESS,
                                         .net = net,
                                         .part = type_part(audit, out->first_access),
                                         .quantity = out->access,
                                         .what = "access switches"});
    (void)add(audit, (struct audit_need){.role = AUDIT_AGGREGATION,
                                         .net = net,
                                         .part = type_part(audit, out->first_aggregation),
                                         .quantity = out->aggregation,
                                         .what = "aggregation switches"});
    /* Others may lay them: then none is missed. */
    if (!(audit->spec->supplied & MYR_SUPPLIED_ETHERNET_CABLING)) {
        uint32_t first = audit->need_count;
        add_runs(audit, net, runs);
        for (uint32_t i = first; i < audit->need_count; i++) {
            audit->needs[i].off = !audit->needs[i].fixed;
            audit->needs[i].scope = true;
        }
    }
}

/* Rows of the plan's own bill that no port asks for: servers, storage, what is bought along. */
static void add_others(struct audit *audit)
{
    const struct myr_design *design = &audit->plan;
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        double length;
        uint32_t part =
            audit_find_part(audit, myr_str_from(myr_design_str(design, row->part)), &length);
        enum audit_role role = part == MYR_PART_NONE ? AUDIT_UNKNOWN : audit_part_role(audit, part);
        uint32_t net = audit_words_system(myr_str_from(myr_design_str(design, row->system)));
        /* Comes with the storage servers and is not asked for by itself. */
        bool software = part != MYR_PART_NONE && role == AUDIT_OTHER &&
                        strcmp(audit_part(audit, part)->id, "storage-software") == 0;
        if (role == AUDIT_UNKNOWN || role == AUDIT_SWITCH || role == AUDIT_MODULE ||
            role == AUDIT_CABLE || role == AUDIT_ETHERNET || software ||
            audit->need_count == AUDIT_NEEDS_MAX) {
            continue;
        }
        (void)add(audit, (struct audit_need){.role = role,
                                             .net = role == AUDIT_OTHER && net < MYR_NET_COUNT
                                                        ? net
                                                        : AUDIT_ANY_NET,
                                             .part = part,
                                             .quantity = row->quantity,
                                             .what = myr_design_str(design, row->name),
                                             .scope = true});
    }
}

/*
 * Cards come with the servers, unless the list has some for this network: then all of them. Any
 * card will do: which one is judged by its modules.
 */
static void add_nics(struct audit *audit, uint32_t net)
{
    const struct myr_network *out = &audit->plan.networks[net];
    for (size_t i = 0; i < audit->lines.count; i++) {
        const struct audit_line *line = &audit->lines.items[i];
        if (line->role != AUDIT_NIC || line->says.net != net || line->part == MYR_PART_NONE) {
            continue;
        }
        const struct myr_part_nic *nic = &audit_part(audit, line->part)->nic;
        /* As many as one card has; a host may use several. */
        uint32_t ports = nic->cages * nic->cage_ports;
        (void)add(audit, (struct audit_need){.role = AUDIT_NIC,
                                             .net = net,
                                             .part = MYR_PART_NONE,
                                             .quantity = (out->host_ports + ports - 1) /
                                                         (ports ? ports : 1),
                                             .what = "NICs"});
        return;
    }
}

/* Cages first: they say by which end cables with ends are counted. */
void audit_needs_bom(struct audit *audit)
{
    struct audit_runs runs = {};
    struct counted counted[MYR_NET_COUNT] = {};
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        count_cages(&audit->plan, net, &counted[net], runs.head[net]);
    }
    audit_count_runs(audit, &runs);
    audit->need_count = 0;
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        const struct myr_network *out = &audit->plan.networks[net];
        if (!out->topology) {
            continue;
        }
        if (out->topology == MYR_TOPOLOGY_ACCESS) {
            add_access(audit, net, &runs);
        } else {
            add_fabric(audit, net, &counted[net], &runs);
        }
        add_nics(audit, net);
    }
    add_others(audit);
    /* Which end a module is for hangs on the switches, so it waits until these are known. */
    for (size_t i = 0; i < audit->lines.count; i++) {
        struct audit_line *line = &audit->lines.items[i];
        const struct myr_part *part =
            line->part == MYR_PART_NONE ? NULL : audit_part(audit, line->part);
        for (uint32_t net = 0; part && net < MYR_NET_COUNT; net++) {
            if (part->kind == MYR_PART_TRANSCEIVER) {
                line->ends[net] = (uint8_t)audit_module_end(audit, part, net);
            }
        }
    }
}

/* The part is that of the first device, all of a kind being alike. */
static void add_placed(struct audit *audit, struct audit_need need, uint32_t first_device)
{
    if (need.quantity && need.part == MYR_PART_NONE) {
        need.part = type_part(audit, first_device);
    }
    (void)add(audit, need);
}

/* Group by group, since racks are told by servers of one kind. */
static void add_placed_servers(struct audit *audit)
{
    const struct myr_design *design = &audit->plan;
    for (uint32_t i = 0; i < (design->group_count ? design->group_count : 1); i++) {
        const struct myr_server_group *group = design->group_count ? &design->groups[i] : NULL;
        const char *part =
            myr_design_str(design, group ? group->server_part : design->head->server_part);
        add_placed(audit,
                   (struct audit_need){
                       .role = AUDIT_SERVER,
                       .net = AUDIT_ANY_NET,
                       .part = myr_catalog_find(audit->catalog, myr_str_from(part)),
                       .quantity = group ? group->servers : design->head->servers,
                       .what = group ? myr_arena_printf(audit->arena, "GPU servers of %s",
                                                        myr_design_str(design, group->name))
                                     : "GPU servers"},
                   0);
    }
}

/* Tier by tier, unlike a bill: a leaf in a rack is no spine. */
void audit_needs_layout(struct audit *audit)
{
    const struct myr_design_head *head = audit->plan.head;
    audit->need_count = 0;
    add_placed_servers(audit);
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        const struct myr_network *out = &audit->plan.networks[net];
        const struct {
            enum audit_role role;
            enum audit_tier tier;
            uint32_t count, first;
            const char *name;
        } kinds[] = {
            {AUDIT_SWITCH, AUDIT_TIER_LEAF, out->leaf, out->first_leaf, "leaf"},
            {AUDIT_SWITCH, AUDIT_TIER_SPINE, out->spine, out->first_spine, "spine"},
            {AUDIT_SWITCH, AUDIT_TIER_CORE, out->core, out->first_core, "core"},
            {AUDIT_ACCESS, 0, out->access, out->first_access, "access"},
            {AUDIT_AGGREGATION, 0, out->aggregation, out->first_aggregation, "aggregation"}};
        for (uint32_t i = 0; out->topology && i < MYR_ARRAY_COUNT(kinds); i++) {
            add_placed(
                audit,
                (struct audit_need){.role = kinds[i].role,
                                    .tier = kinds[i].tier,
                                    .net = net,
                                    .part = MYR_PART_NONE,
                                    .quantity = kinds[i].count,
                                    .what = myr_arena_printf(audit->arena, "%s switches of %s",
                                                             kinds[i].name, myr_net_names[net])},
                kinds[i].first);
        }
    }
    const struct {
        enum audit_role role;
        uint32_t count, first;
        const char *what;
    } hosts[] = {
        {AUDIT_STORAGE, head->storage_servers, head->first_storage, "storage servers"},
        {AUDIT_MANAGEMENT, head->management_nodes, head->first_management, "management nodes"},
        {AUDIT_MANAGER, head->fabric_managers, head->first_fabric_manager, "fabric managers"}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(hosts); i++) {
        add_placed(audit,
                   (struct audit_need){.role = hosts[i].role,
                                       .net = AUDIT_ANY_NET,
                                       .part = MYR_PART_NONE,
                                       .quantity = hosts[i].count,
                                       .what = hosts[i].what},
                   hosts[i].first);
    }
    for (size_t i = 0; i < audit->spec->items.count; i++) {
        const struct myr_spec_item *item = &audit->spec->items.items[i];
        const struct myr_part *part = audit_part(audit, item->part);
        /* Only boxes that are asked for by number stand somewhere; licences and shares do not. */
        if (part->kind == MYR_PART_DEVICE && item->per == MYR_PER_PIECE &&
            audit->need_count < AUDIT_NEEDS_MAX) {
            (void)add(audit, (struct audit_need){.role = AUDIT_OTHER,
                                                 .net = AUDIT_ANY_NET,
                                                 .part = item->part,
                                                 .quantity = (uint64_t)(item->quantity + 0.999999),
                                                 .what = part->title});
        }
    }
}
