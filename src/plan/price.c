#include <stdio.h>

#include "parts/count.h"
#include "prices/prices.h"

/*
 * The bill of materials. Quantities are counted from the finished design (modules cage by cage,
 * cables one by one), so that what is ordered is what is drawn. A pinned quantity replaces the
 * counted one and says so; fewer than counted is a finding.
 */

/* Of all pieces; nothing where nothing is known. Only an estimate may be too much to be counted. */
static int64_t of_line(int64_t unit_cents, uint64_t quantity)
{
    int64_t ret;
    return unit_cents < 0                                                ? 0
           : __builtin_mul_overflow(unit_cents, (int64_t)quantity, &ret) ? INT64_MAX / 4
                                                                         : ret;
}

/* Every line goes through here: its price, its rule and the total in one place. The part must be
 * one of the catalogue. */
void plan_bill_row(struct plan *plan, const char *system, const char *name, uint32_t part,
                   uint64_t quantity, const char *rule, const char *inputs)
{
    const struct myr_part *what = part_at(plan, part);
    struct unit_price price = prices_find(plan, part);
    bool priced = price.basis == MYR_PRICE_QUOTED || price.basis == MYR_PRICE_ASSUMED;
    /* Every text is interned: lines that repeat a rule share it. */
    struct myr_bom_row row = {
        .system = plan_string(plan, system),
        .name = plan_string(plan, name),
        .part = plan_string(plan, what->order),
        .rule = plan_string(plan, rule),
        .inputs = plan_string(plan, inputs),
        .price_note = plan_string(plan, price.note),
        .quantity = quantity,
        .unit_cents = priced ? price.cents : -1,
    };
    if (priced) {
        int64_t *total = &plan->design.head->total_cents;
        /* 1e9 pieces and 1e14 cents are allowed, but not at once: who asks plan_countable() gets an
         * error, and the row is never seen. */
        if (price.cents == INT64_MAX ||
            __builtin_mul_overflow(row.unit_cents, (int64_t)quantity, &row.total_cents) ||
            __builtin_add_overflow(*total, row.total_cents, total)) {
            plan->uncountable = plan->uncountable ? plan->uncountable : what;
        }
    } else {
        plan_finding(plan, MYR_SEVERITY_INFO, "unpriced", what->id,
                     "add a price to the price book or under prices: parts:",
                     "%s has no price; it is not in the total", what->order);
    }
    myr_vec_push(&plan->bom, row);
    /* One for each line, in the same order: finish() relies on it. */
    myr_vec_push(&plan->bom_more,
                 (struct myr_bom_more){.specification = plan_string(plan, what->title),
                                       .warranty_months = price.warranty_months});
    myr_vec_push(&plan->bom_prices, ((struct myr_bom_price){
                                        .low_cents = of_line(price.low_cents, quantity),
                                        .cents = of_line(price.cents, quantity),
                                        .high_cents = of_line(price.high_cents, quantity),
                                        .basis = price.basis,
                                        .lead_weeks = price.lead_weeks,
                                    }));
    myr_vec_push(&plan->bom_parts, part);
}

/* The quantity that the spec pins for this part on this network, if any. */
static const struct myr_pin_quantity *pinned(const struct net_plan *net, uint32_t part)
{
    for (uint32_t i = 0; i < net->spec->quantity_count; i++) {
        if (net->spec->quantities[i].part == part) {
            return &net->spec->quantities[i];
        }
    }
    return NULL;
}

/* A line of a network. What the spec pins replaces what was counted; zero pieces make no line. */
static void add_net_row(struct plan *plan, const struct net_plan *net, const char *name,
                        uint32_t part, uint64_t quantity, const char *rule, const char *inputs)
{
    const struct myr_pin_quantity *pin = pinned(net, part);
    if (pin) {
        inputs = myr_arena_printf(plan->arena, "pinned to %llu by the spec; counted %llu: %s",
                                  (unsigned long long)pin->quantity, (unsigned long long)quantity,
                                  inputs);
        /* Fewer than counted cannot be built; more are spares. */
        if (pin->quantity < quantity) {
            plan_finding(plan, MYR_SEVERITY_ERROR, "quantity-short", myr_net_names[net->id],
                         "leave the quantity out, or order the difference",
                         "%s: %llu ordered, %llu needed", part_at(plan, part)->order,
                         (unsigned long long)pin->quantity, (unsigned long long)quantity);
        }
    }
    uint64_t ordered = pin ? pin->quantity : quantity;
    if (ordered > 0) {
        plan_bill_row(plan, myr_net_names[net->id], name, part, ordered, rule, inputs);
        if (ordered > quantity && quantity > 0) {
            /* Pieces beyond the counted ones are spares. */
            uint64_t permille = (ordered - quantity) * 1000 / quantity;
            plan->bom_more.items[plan->bom_more.count - 1].spare_permille =
                (uint16_t)(permille < UINT16_MAX ? permille : UINT16_MAX);
        }
    }
}

/* Appends to a list with semicolons; NULL adds nothing. */
static void join_text(struct plan *plan, const char **text, const char *more)
{
    if (more) {
        *text = **text ? myr_arena_printf(plan->arena, "%s; %s", *text, more) : more;
    }
}

/* Tiers that use the same part make one line. */
static void switch_rows(struct plan *plan, const struct net_plan *net)
{
    const struct {
        uint32_t part, count;
        enum myr_device_kind kind;
        const char *name;
    } tiers[] = {
        {net->leaf_part, net->out.leaf, MYR_DEVICE_LEAF, "leaf"},
        {net->spine_part, net->out.spine, MYR_DEVICE_SPINE, "spine"},
        {net->core_part, net->out.core, MYR_DEVICE_CORE, "core"},
    };
    /* Tiers that an earlier line has taken along. */
    bool done[MYR_ARRAY_COUNT(tiers)] = {false};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(tiers); i++) {
        if (done[i] || tiers[i].count == 0) {
            continue;
        }
        uint64_t quantity = 0;
        const char *rule = "", *inputs = "";
        /* Rules of all tiers are told in the one line that they share. */
        for (uint32_t k = i; k < MYR_ARRAY_COUNT(tiers); k++) {
            if (tiers[k].count && tiers[k].part == tiers[i].part) {
                done[k] = true;
                quantity += tiers[k].count;
                join_text(plan, &rule,
                          myr_arena_printf(plan->arena, "%s: %s", tiers[k].name,
                                           net->rule[tiers[k].kind]));
                join_text(plan, &inputs,
                          myr_arena_printf(plan->arena, "%s: %s", tiers[k].name,
                                           net->inputs[tiers[k].kind]));
            }
        }
        /* One line stands for all these tiers: it has the part of the first. */
        const struct myr_part *sw = part_at(plan, tiers[i].part);
        if (sw->sw.per_box > 1) {
            join_text(plan, &inputs,
                      myr_arena_printf(plan->arena, "%u of them in a box", sw->sw.per_box));
            /* Bought are boxes, while the design has the switches in them. */
            quantity = ceil_div(quantity, sw->sw.per_box);
        }
        add_net_row(plan, net,
                    sw->sw.technology == MYR_TECH_INFINIBAND ? "InfiniBand switch"
                                                             : "Ethernet switch",
                    tiers[i].part, quantity, rule, inputs);
    }
}

/* The types still lie in the plan's vectors. */
static struct counted counted_of(const struct plan *plan)
{
    return (struct counted){&plan->design, plan->devtypes.items, plan->cabletypes.items,
                            (uint32_t)plan->cabletypes.count};
}

/* Switch ends first, then NIC ends: the order of the bill. */
static void module_rows(struct plan *plan, const struct net_plan *net)
{
    struct tally tally;
    struct counted counted = counted_of(plan);
    count_modules(&counted, net->id, &tally);
    for (uint32_t at_nic = 0; at_nic < 2; at_nic++) {
        for (uint32_t i = 0; i < tally.count; i++) {
            const struct tally_row *row = &tally.rows[i];
            if (row->at_nic != (at_nic == 1)) {
                continue;
            }
            /* The design holds ids, the bill needs parts. */
            uint32_t part =
                myr_catalog_find(plan->catalog, myr_str_from(plan->strings.data + row->part));
            const struct myr_part *optic = part_at(plan, part);
            if (optic->optic.built_in) {
                continue; /* comes with the switch */
            }
            const char *name =
                myr_arena_printf(plan->arena, "%uG transceiver, %s",
                                 at_nic ? net->out.host_gbps : optic->optic.cage_gbps,
                                 at_nic ? "NIC end" : "switch end");
            add_net_row(plan, net, name, part, row->count,
                        at_nic ? "one for each NIC cage in use"
                               : "one for each switch cage with a port in use",
                        myr_arena_printf(plan->arena, "%llu cage%s counted in the design",
                                         (unsigned long long)row->count,
                                         row->count == 1 ? "" : "s"));
        }
    }
}

/* A fibre is ordered by the link; a splitter, or a cable with its own ends, is one piece. */
static void cable_rows(struct plan *plan, const struct net_plan *net)
{
    struct tally tally;
    struct counted counted = counted_of(plan);
    count_cables(&counted, net->id, &tally);
    for (uint32_t i = 0; i < tally.count; i++) {
        const struct tally_row *row = &tally.rows[i];
        uint32_t part =
            myr_catalog_find(plan->catalog, myr_str_from(plan->strings.data + row->part));
        const struct myr_part_cable *cable = &part_at(plan, part)->cable;
        /* What cannot be taken apart is ordered whole, even if a leg stays free. */
        bool one_piece = cable->legs > 1 || cable->fixed_ends;
        const char *name = cable->legs > 1                      ? "splitter cable"
                           : cable->medium == MYR_MEDIUM_COPPER ? "copper cable"
                           : cable->fixed_ends                  ? "active cable"
                                                                : "fibre cable";
        add_net_row(
            plan, net, name, part, one_piece ? row->count : row->links,
            cable->legs > 1 ? "ceil(links / legs), connector by connector" : "one for each link",
            myr_arena_printf(plan->arena, "%llu links, %u leg%s", (unsigned long long)row->links,
                             cable->legs, cable->legs == 1 ? "" : "s"));
    }
}

/* Parts that are pinned to a number without the rules asking for any. */
static void pinned_rows(struct plan *plan, const struct net_plan *net, size_t first_row)
{
    for (uint32_t i = 0; i < net->spec->quantity_count; i++) {
        const struct myr_pin_quantity *pin = &net->spec->quantities[i];
        /* Pinned to none is an answer, not a line. */
        bool there = pin->quantity == 0;
        for (size_t k = first_row; k < plan->bom.count; k++) {
            there = there || strcmp(plan->strings.data + plan->bom.items[k].part,
                                    part_at(plan, pin->part)->order) == 0;
        }
        if (!there) {
            plan_bill_row(plan, myr_net_names[net->id], part_at(plan, pin->part)->title, pin->part,
                          pin->quantity, "pinned by the spec", "no rule asks for it");
        }
    }
}

/* What 'per' counts, on the network that the item's system names, else on compute. */
static double item_base(const struct plan *plan, const struct myr_spec_item *item)
{
    const struct net_plan *net = &plan->nets[MYR_NET_COMPUTE];
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (item->system && strcmp(item->system, myr_net_names[id]) == 0) {
            net = &plan->nets[id];
        }
    }
    const struct myr_network *out = &net->out;
    switch (item->per) {
    case MYR_PER_GPU:
        return plan->gpus;
    case MYR_PER_SERVER:
        return plan->spec->servers;
    case MYR_PER_NODE:
        return net->nodes;
    case MYR_PER_NIC_PORT:
        return (double)net->endpoints * out->planes;
    case MYR_PER_SWITCH:
        return (double)out->leaf + out->spine + out->core + out->access + out->aggregation;
    default:
        return 1;
    }
}

/* Items of one system; with 'others' those of no network. */
static void item_rows(struct plan *plan, const char *system, bool others)
{
    for (size_t i = 0; i < plan->spec->items.count; i++) {
        const struct myr_spec_item *item = &plan->spec->items.items[i];
        /* Items of a network are listed with it, all others at the end of the bill. */
        bool of_net = false;
        for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
            of_net = of_net || strcmp(item->system, myr_net_names[id]) == 0;
        }
        if (others ? of_net : strcmp(item->system, system) != 0) {
            continue;
        }
        double base = item_base(plan, item);
        const struct myr_part *part = part_at(plan, item->part);
        plan_bill_row(plan, item->system, item->name ? item->name : part->title, item->part,
                      plan_started_pieces(item->quantity * base),
                      item->per == MYR_PER_PIECE ? "as many as the spec asks for"
                                                 : myr_arena_printf(plan->arena, "asked for per %s",
                                                                    myr_per_names[item->per]),
                      myr_arena_printf(plan->arena, "%.15g * %.15g", item->quantity, base));
    }
}

/* Switches, modules, cables, managers, then what the spec pins or adds. */
static void fabric_rows(struct plan *plan, const struct net_plan *net)
{
    /* Rows of this network alone: another may have the same part. */
    size_t first_row = plan->bom.count;
    switch_rows(plan, net);
    module_rows(plan, net);
    cable_rows(plan, net);
    /* Ports of managers are cabled in any case, the boxes may come from others. */
    if (net->managers && !(plan->spec->supplied & MYR_SUPPLIED_FABRIC_MANAGERS)) {
        uint32_t part = myr_catalog_find(plan->catalog, MYR_STR("ufm-appliance"));
        if (part != MYR_PART_NONE) {
            add_net_row(plan, net, "fabric manager", part, net->managers,
                        "one for each fabric-manager port of a plane", "fabric_manager_ports");
        }
    }
    pinned_rows(plan, net, first_row);
    item_rows(plan, myr_net_names[net->id], false);
}

/* Power strips and cooling units, where they hang on this network. */
static void unit_rows(struct plan *plan, const struct net_plan *net)
{
    const struct {
        const char *id, *name, *rule, *inputs;
        uint32_t count;
    } units[] = {
        {"rack-pdu", "rack PDU", "one for each feed of a rack in use",
         "racks in use * feeds, counted in the room", plan->pdus},
        {"cooling-cdu", "cooling unit", "as many as the facility needs", "cooling.cdu.count",
         plan->spec->facility.bill ? 0 : plan->cdus}, /* else the cooling plant has them */
    };
    for (uint32_t i = 0; net->id == MYR_NET_OOB && i < MYR_ARRAY_COUNT(units); i++) {
        uint32_t part = myr_catalog_find(plan->catalog, myr_str_from(units[i].id));
        if (units[i].count && part != MYR_PART_NONE) {
            add_net_row(plan, net, units[i].name, part, units[i].count, units[i].rule,
                        units[i].inputs);
        }
    }
}

/* Ethernet cabling may be supplied by others; the switches are bought in any case. */
static void access_rows(struct plan *plan, const struct net_plan *net)
{
    size_t first_row = plan->bom.count;
    add_net_row(plan, net, "access switch", net->access_part, net->out.access,
                net->rule[MYR_DEVICE_ACCESS], net->inputs[MYR_DEVICE_ACCESS]);
    add_net_row(plan, net, "aggregation switch", net->aggregation_part, net->out.aggregation,
                net->rule[MYR_DEVICE_AGGREGATION], net->inputs[MYR_DEVICE_AGGREGATION]);
    if (net->out.core) {
        add_net_row(plan, net, "core switch", net->core_part, net->out.core,
                    net->rule[MYR_DEVICE_CORE], net->inputs[MYR_DEVICE_CORE]);
    }
    unit_rows(plan, net);
    if (!(plan->spec->supplied & MYR_SUPPLIED_ETHERNET_CABLING)) {
        module_rows(plan, net);
        cable_rows(plan, net);
    }
    pinned_rows(plan, net, first_row);
    item_rows(plan, myr_net_names[net->id], false);
}

/* The servers, their software once, and the tiers behind them. */
static void storage_rows(struct plan *plan)
{
    const struct myr_part *server = part_at(plan, plan->storage_part);
    plan_bill_row(plan, "storage system", "storage server", plan->storage_part,
                  plan->storage_servers, plan->storage_rule, plan->storage_inputs);
    /* One for the cluster, not one for each server. */
    if (server->storage.software) {
        uint32_t software = myr_catalog_find(plan->catalog, myr_str_from(server->storage.software));
        plan_bill_row(plan, "storage system", "storage software", software, 1,
                      "one for the storage cluster", "comes with the storage servers");
    }
    /* Behind the flash, in the order of the spec's kinds. */
    for (uint32_t tier = 0; tier < MYR_TIER_COUNT; tier++) {
        uint32_t part, count = plan_tier_servers(plan, tier, &part);
        if (count) {
            plan_bill_row(plan, "storage system",
                          myr_arena_printf(plan->arena, "%s storage server", myr_tier_names[tier]),
                          part, count, "ceil(usable * stored / data / raw of one server)",
                          "a tier behind the flash; its cables are not planned");
        }
    }
}

/* What is left out of the bill is said, or its total would be taken for all. */
static void supplied_finding(struct plan *plan)
{
    const char *list = prices_supplied(plan);
    if (list[0]) {
        plan_finding(plan, MYR_SEVERITY_INFO, "bom-scope", "bill of materials",
                     "remove 'supplied' to have them listed",
                     "supplied by others and not in the bill of materials: %s", list);
    }
}

/* Asked at the end of the bill, when the first part that broke it is known. */
int plan_countable(const struct plan *plan, struct myr_err *err)
{
    if (!plan->uncountable) {
        return MYR_OK;
    }
    int rc = myr_doc_error(err, plan->spec->root, MYR_ERANGE,
                           "with the price of '%s' the total is more than can be counted "
                           "(92,233,720,368,547,758.07)",
                           plan->uncountable->id);
    myr_err_hint(err, "a smaller price or quantity of '%s', or none", plan->uncountable->id);
    return rc;
}

/* The order of the bill: servers, then network by network with the storage system behind its
 * network, management nodes, what else was asked for. */
int plan_price(struct plan *plan, struct myr_err *err)
{
    if (!(plan->spec->supplied & MYR_SUPPLIED_SERVERS)) {
        for (uint32_t i = 0; i < plan->group_count; i++) {
            const struct plan_group *group = &plan->groups[i];
            plan_bill_row(plan, "servers",
                          group->name ? myr_arena_printf(plan->arena, "GPU server, %s", group->name)
                                      : "GPU server",
                          group->server_part, group->servers, "as many as the spec asks for",
                          myr_arena_printf(plan->arena, "servers=%u", group->servers));
        }
    }
    /* The storage system stands behind its network. */
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct net_plan *net = &plan->nets[id];
        if (net->present && net->out.topology != MYR_TOPOLOGY_ACCESS) {
            fabric_rows(plan, net);
        }
        if (id == MYR_NET_STORAGE && plan->storage_servers) {
            storage_rows(plan);
        }
        if (net->present && net->out.topology == MYR_TOPOLOGY_ACCESS) {
            access_rows(plan, net);
        }
    }
    /* Networks share them: they are bought once. */
    if (plan->management_nodes && !(plan->spec->supplied & MYR_SUPPLIED_MANAGEMENT_NODES)) {
        uint32_t part = myr_catalog_find(plan->catalog, MYR_STR("mgmt-node"));
        if (part != MYR_PART_NONE) {
            plan_bill_row(plan, "servers", "management node", part, plan->management_nodes,
                          "the largest extra_nodes of the networks", "extra_nodes");
        }
    }
    item_rows(plan, NULL, true);
    supplied_finding(plan);
    return plan_countable(plan, err);
}
