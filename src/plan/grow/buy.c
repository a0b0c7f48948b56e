#include "grow/grow_internal.h"
#include "prices/prices.h"

/*
 * What has to be bought: the larger bill less the smaller one, line by line. And what it would cost
 * to buy the switches above first, so that cables go to their last place at once.
 */

/* A line is what it is called and what it orders, in whatever bill. */
static bool same_line(const struct grow *grow, const struct myr_bom_row *old,
                      const struct myr_bom_row *now)
{
    const struct myr_design *a = grow->old, *b = &grow->out->grown;
    return strcmp(myr_design_str(a, old->system), myr_design_str(b, now->system)) == 0 &&
           strcmp(myr_design_str(a, old->name), myr_design_str(b, now->name)) == 0 &&
           strcmp(myr_design_str(a, old->part), myr_design_str(b, now->part)) == 0;
}

/* A line that the smaller bill does not have. */
static struct myr_grow_line new_line(const struct myr_design *design, const struct myr_bom_row *row)
{
    return (struct myr_grow_line){
        .system = myr_design_str(design, row->system),
        .name = myr_design_str(design, row->name),
        .part = myr_design_str(design, row->part),
        .quantity = (int64_t)row->quantity,
        .unit_cents = row->unit_cents,
        .total_cents = row->unit_cents < 0 ? 0 : row->total_cents,
        .needed = row->quantity,
        .may_cents = design->bom_price ? (double)design->bom_price[row - design->bom].cents : 0,
    };
}

/* Without a price in one of the two bills the difference has none. */
static struct myr_grow_line less(struct myr_grow_line line, const struct myr_bom_row *old)
{
    bool priced = line.unit_cents >= 0 && old->unit_cents >= 0;
    line.had = old->quantity;
    line.had_cents = priced ? old->total_cents : 0;
    if (line.quantity == (int64_t)old->quantity && priced && line.unit_cents != old->unit_cents) {
        /* As many as before, at another price: a fee that goes by size. */
        line.total_cents -= old->total_cents;
        line.unit_cents -= old->unit_cents;
        return line;
    }
    line.quantity -= (int64_t)old->quantity;
    line.may_cents *= line.needed ? (double)line.quantity / (double)line.needed : 0;
    line.unit_cents = priced ? line.unit_cents : -1;
    line.total_cents = priced ? line.total_cents - old->total_cents : 0;
    return line;
}

/* Lines without a difference are left out. */
static void add(struct myr_growth *out, struct myr_grow_line line)
{
    if (line.quantity == 0) {
        return;
    }
    out->lines[out->line_count++] = line;
    out->unpriced_lines += line.quantity > 0 && line.unit_cents == -1;
    out->cost_cents += line.quantity > 0 ? line.total_cents : 0; /* nothing is given back */
}

/* Lines of the larger bill in its order, then what only the smaller has. */
static void subtract(struct grow *grow)
{
    struct myr_growth *out = grow->out;
    const struct myr_design *old = grow->old, *plan = &out->grown;
    /* A bill may have two lines of the same text: each is taken once. */
    bool *seen = MYR_ARENA_NEW(grow->arena, bool, old->bom_count);
    out->lines = MYR_ARENA_NEW(grow->arena, struct myr_grow_line, old->bom_count + plan->bom_count);
    for (uint32_t i = 0; i < plan->bom_count; i++) {
        struct myr_grow_line line = new_line(plan, &plan->bom[i]);
        for (uint32_t k = 0; k < old->bom_count; k++) {
            if (!seen[k] && same_line(grow, &old->bom[k], &plan->bom[i])) {
                seen[k] = true;
                line = less(line, &old->bom[k]);
                break;
            }
        }
        add(out, line);
    }
    /* What only the smaller bill has is left over. */
    for (uint32_t k = 0; k < old->bom_count; k++) {
        if (!seen[k]) {
            struct myr_grow_line line = new_line(old, &old->bom[k]);
            line.had = line.needed;
            line.had_cents = line.total_cents;
            line.needed = 0;
            line.quantity = -line.quantity;
            line.total_cents = -line.total_cents;
            add(out, line);
        }
    }
}

/* How far the sum of what is bought reaches. */
static void tell_reach(struct grow *grow)
{
    struct myr_growth *out = grow->out;
    struct priced_line *lines = MYR_ARENA_NEW(grow->arena, struct priced_line, out->line_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < out->line_count; i++) {
        const struct myr_grow_line *line = &out->lines[i];
        bool priced = line->unit_cents != -1;
        if (line->quantity > 0) {
            lines[count++] = (struct priced_line){
                line->name, priced ? (double)line->total_cents : line->may_cents, priced,
                !priced && line->may_cents <= 0};
        }
    }
    out->lacking = prices_lacking(grow->arena, lines, count, &out->priced_share);
}

/* Unit price of a network's switch: that line of its bill that counts as many as there are. */
static int64_t switch_price(const struct grow *grow, uint32_t device)
{
    const struct myr_design *plan = grow->plan;
    uint32_t net = plan->place[device].net, alike = 0;
    uint32_t part = plan->devtypes[plan->device_type[device]].part;
    for (uint32_t d = 0; d < plan->device_count; d++) {
        alike += plan->place[d].net == net && plan->devtypes[plan->device_type[d]].part == part;
    }
    for (uint32_t i = 0; i < plan->bom_count; i++) {
        const struct myr_bom_row *row = &plan->bom[i];
        /*
         * The bill names order numbers, the design catalogue ids, so the line is found by its
         * count.
         */
        if (row->quantity == alike &&
            strcmp(myr_design_str(plan, row->system), myr_net_names[net]) == 0 &&
            strstr(myr_design_str(plan, row->name), "switch")) {
            return row->unit_cents;
        }
    }
    return -1;
}

/* Uplinks: what a switch above, bought early, could have taken at once. */
static bool is_above(const struct myr_cabletype *type)
{
    return type->layer == MYR_LAYER_FABRIC || type->layer == MYR_LAYER_CORE;
}

/*
 * A cable that moves from one switch to another while its lower end stays could have gone to the
 * second at once, had that been there. Those switches are bought ahead; with all of a block's
 * switches standing no uplink of an installed box moves. For h100-64 and h100-128 of the examples
 * these are 9 switches, and 282 cables that need not move.
 */
static void look_ahead(struct grow *grow)
{
    struct myr_growth *out = grow->out;
    const struct myr_design *grown = &out->grown;
    bool *first = MYR_ARENA_NEW(grow->arena, bool, grown->device_count);
    for (uint32_t i = 0; i < out->move_count; i++) {
        const struct myr_grow_move *move = &out->moves[i];
        if (move->cable == MYR_NONE || !is_above(grow_type(grown, move->cable))) {
            continue;
        }
        /* The first link speaks for its cable. */
        uint32_t old = grow->old->first_link[move->old_cable];
        uint32_t link = grown->first_link[move->cable];
        uint32_t lower = grown->port_device[grown->link_a[link]];
        if (grow->to[grow->old->port_device[grow->old->link_a[old]]] == lower) {
            first[grown->port_device[grown->link_b[link]]] = true;
            out->avoided[move->net][move->layer]++;
            out->avoided_total++;
        }
    }
    for (uint32_t device = 0; device < grown->device_count; device++) {
        /* Those that stand already cost nothing more. */
        if (first[device] && grow->from[device] == MYR_NONE) {
            int64_t cents = switch_price(grow, device);
            out->first_switches++;
            /* Once a price is missing the sum is unknown. */
            out->first_cents = out->first_cents < 0 || cents < 0 ? -1 : out->first_cents + cents;
        }
    }
}

void grow_buy(struct grow *grow)
{
    subtract(grow);
    tell_reach(grow);
    look_ahead(grow);
}
