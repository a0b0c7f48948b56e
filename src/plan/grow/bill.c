#include <stdio.h>

#include "grow/grow_internal.h"
#include "parts/count.h"

/*
 * The bill of the grown design. Boxes are those of the planned one. Modules and cables are not:
 * ports that stay in use may lie in other cages than a plan from nothing would take, and a splitter
 * that stays may have other legs; so both are counted again, by the code that counts for a plan.
 */

/* New strings go behind those of the plan, so that all offsets of the plan still hold. */
struct bill {
    struct grow *grow;
    struct myr_design *out;
    struct myr_buf strings; /* those of the planned design, and new ones */
    int64_t more_cents;
    bool changed; /* some line has another number */
};

static uint32_t add_string(struct bill *bill, const char *text)
{
    uint32_t at = (uint32_t)bill->strings.len;
    myr_buf_put(&bill->strings, text, strlen(text) + 1);
    return at;
}

/* By its order number; parts of a catalogue that was not given have their own name, if any. */
static const struct myr_part *part_of(const struct bill *bill, uint32_t id)
{
    const char *name = myr_design_str(bill->grow->plan, id);
    uint32_t part = myr_catalog_find(bill->grow->catalog, myr_str_from(name));
    return part == MYR_PART_NONE ? NULL : &bill->grow->catalog->parts.items[part];
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/*
 * The line of a network that has this part, by what its name ends with. NULL: the bill has no such
 * line, as for networks that others cable.
 */
static struct myr_bom_row *line_of(const struct bill *bill, uint32_t net, const char *order,
                                   const char *end)
{
    for (uint32_t i = 0; i < bill->out->bom_count; i++) {
        struct myr_bom_row *row = &bill->out->bom[i];
        const struct myr_design *plan = bill->grow->plan;
        if (strcmp(myr_design_str(plan, row->system), myr_net_names[net]) == 0 &&
            strcmp(myr_design_str(plan, row->part), order) == 0 &&
            ends_with(myr_design_str(plan, row->name), end)) {
            return row;
        }
    }
    return NULL;
}

/*
 * A line that the spec pins keeps its number: it was not counted. Nor was one whose number is not
 * what was counted.
 */
static bool was_counted(const struct bill *bill, const struct myr_bom_row *row, uint64_t planned)
{
    static const char pinned[] = "pinned to ";
    const char *inputs = myr_design_str(bill->grow->plan, row->inputs);
    return row->quantity == planned && strncmp(inputs, pinned, sizeof(pinned) - 1) != 0;
}

/* What the line may cost goes with its number. */
static void scale_price(struct bill *bill, const struct myr_bom_row *row, uint64_t quantity)
{
    struct myr_design *out = bill->out;
    struct myr_bom_price *price = out->bom_price ? &out->bom_price[row - out->bom] : NULL;
    double times = row->quantity ? (double)quantity / (double)row->quantity : 0;
    if (price) {
        price->low_cents = (int64_t)((double)price->low_cents * times + 0.5);
        price->cents = (int64_t)((double)price->cents * times + 0.5);
        price->high_cents = (int64_t)((double)price->high_cents * times + 0.5);
    }
}

/* How far the total reaches, anew: the lines are the same, their numbers are not. */
static void set_reach(struct bill *bill)
{
    struct myr_design *out = bill->out;
    double priced = 0, assumed = 0, low = 0, typical = 0, high = 0;
    for (uint32_t i = 0; i < out->bom_count; i++) {
        const struct myr_bom_price *price = &out->bom_price[i];
        priced += out->bom[i].unit_cents >= 0 ? (double)price->cents / 100 : 0;
        assumed += price->basis == MYR_PRICE_ASSUMED ? (double)price->cents / 100 : 0;
        low += (double)price->low_cents / 100;
        typical += (double)price->cents / 100;
        high += (double)price->high_cents / 100;
    }
    const struct {
        const char *path;
        double value;
    } rows[] = {{"totals.priced.money", typical > 0 ? priced / typical : 0},
                {"totals.priced.assumed_cost", assumed},
                {"totals.priced.estimate_low", low},
                {"totals.priced.estimate", typical},
                {"totals.priced.estimate_high", high}};
    for (uint32_t i = 0; i < out->figure_count; i++) {
        const char *path = myr_design_str(bill->grow->plan, out->figures[i].path);
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(rows); k++) {
            if (strcmp(path, rows[k].path) == 0) {
                out->figures[i].value = rows[k].value;
                out->figures[i].inputs = add_string(bill, "lines of the grown bill");
            }
        }
    }
}

/* The total of the bill follows, by the difference. */
static void set_line(struct bill *bill, struct myr_bom_row *row, uint64_t quantity,
                     const char *inputs)
{
    int64_t total = 0;
    if (row->unit_cents >= 0 &&
        __builtin_mul_overflow(row->unit_cents, (int64_t)quantity, &total)) {
        row->unit_cents = -1; /* more than can be counted, as in a plan */
        total = 0;
    }
    /* What the total changes by, over all lines; a line without a price counts nothing. */
    bill->more_cents += total - (row->total_cents > 0 ? row->total_cents : 0);
    row->total_cents = total;
    scale_price(bill, row, quantity);
    row->quantity = quantity;
    bill->changed = true;
    row->inputs = add_string(bill, inputs);
}

/* NULL: nothing of it is in the other design. */
static const struct tally_row *row_like(const struct tally *tally, const struct tally_row *like)
{
    for (uint32_t i = 0; i < tally->count; i++) {
        if (tally->rows[i].part == like->part && tally->rows[i].at_nic == like->at_nic) {
            return &tally->rows[i];
        }
    }
    return NULL;
}

/*
 * Only the difference between the two counts is of interest: lines that agree are left as the
 * planner wrote them.
 */
static void count_again(struct bill *bill, uint32_t net, bool cables, const struct tally *planned,
                        const struct tally *grown)
{
    for (uint32_t i = 0; i < planned->count; i++) {
        const struct tally_row *was = &planned->rows[i], *is = row_like(grown, was);
        const struct myr_part *part = part_of(bill, was->part);
        const struct tally_row none = {};
        /* Nothing of it is left in the grown design. */
        is = is ? is : &none;
        /*
         * Splitters and cables with ends are ordered as pieces, straight fibres one for each link.
         */
        bool whole = !cables || (part && (part->cable.legs > 1 || part->cable.fixed_ends));
        uint64_t before = whole ? was->count : was->links, now = whole ? is->count : is->links;
        /* Names of lines end so (parts/count.c counts the same kinds). */
        const char *end = cables ? " cable" : was->at_nic ? ", NIC end" : ", switch end";
        struct myr_bom_row *row = part ? line_of(bill, net, part->order, end) : NULL;
        char inputs[64];
        if (!row || before == now || !was_counted(bill, row, before)) {
            continue;
        }
        if (cables) {
            snprintf(inputs, sizeof(inputs), "%llu links, %u leg%s", (unsigned long long)is->links,
                     part->cable.legs, part->cable.legs == 1 ? "" : "s");
        } else {
            snprintf(inputs, sizeof(inputs), "%llu cage%s counted in the design",
                     (unsigned long long)now, now == 1 ? "" : "s");
        }
        set_line(bill, row, now, inputs);
    }
}

/*
 * What is paid over the years holds the bill: "48681100.00 + 5 * ..." The figure is left alone
 * where its inputs do not begin with just that sum.
 */
static void set_years(struct bill *bill, int64_t before)
{
    struct myr_design *out = bill->out;
    char old[48];
    snprintf(old, sizeof(old), "%.2f", (double)before / 100);
    for (uint32_t i = 0; i < out->figure_count; i++) {
        struct myr_figure *figure = &out->figures[i];
        const char *inputs = myr_design_str(bill->grow->plan, figure->inputs);
        if (strcmp(myr_design_str(bill->grow->plan, figure->path), "power.energy.cost_of_years") ==
                0 &&
            strncmp(inputs, old, strlen(old)) == 0) {
            figure->value += (double)bill->more_cents / 100;
            figure->inputs =
                add_string(bill, myr_arena_printf(bill->grow->arena, "%.2f%s",
                                                  (double)(before + bill->more_cents) / 100,
                                                  inputs + strlen(old)));
        }
    }
}

static void *copy_of(struct myr_arena *arena, const void *items, size_t count, size_t size)
{
    void *copy = myr_arena_alloc(arena, count, size);
    if (count) {
        memcpy(copy, items, count * size);
    }
    return copy;
}

/* In place of the planned bill, which the grown design has shared so far. */
void grow_bill(struct grow *grow)
{
    const struct myr_design *plan = grow->plan;
    struct myr_design *out = &grow->out->grown;
    struct bill bill = {.grow = grow, .out = out};
    /* The arrays of the plan are shared up to here; what changes is copied first. */
    out->bom = copy_of(grow->arena, plan->bom, plan->bom_count, sizeof(*plan->bom));
    if (plan->bom_price) {
        out->bom_price =
            copy_of(grow->arena, plan->bom_price, plan->bom_count, sizeof(*plan->bom_price));
    }
    out->figures = copy_of(grow->arena, plan->figures, plan->figure_count, sizeof(*plan->figures));
    out->head = copy_of(grow->arena, plan->head, 1, sizeof(*plan->head));
    myr_buf_put(&bill.strings, plan->strings, plan->string_bytes);
    const struct counted planned = {plan, plan->devtypes, plan->cabletypes, plan->cabletype_count};
    const struct counted grown = {out, plan->devtypes, plan->cabletypes, plan->cabletype_count};
    struct tally *tallies = MYR_ARENA_NEW(grow->arena, struct tally, 2);
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        if (plan->networks[net].topology) {
            count_modules(&planned, net, &tallies[0]);
            count_modules(&grown, net, &tallies[1]);
            count_again(&bill, net, false, &tallies[0], &tallies[1]);
            count_cables(&planned, net, &tallies[0]);
            count_cables(&grown, net, &tallies[1]);
            count_again(&bill, net, true, &tallies[0], &tallies[1]);
        }
    }
    if (bill.changed && out->bom_price) {
        set_reach(&bill);
    }
    if (bill.more_cents) {
        set_years(&bill, plan->head->total_cents);
        out->head->total_cents += bill.more_cents;
    }
    out->strings = copy_of(grow->arena, bill.strings.data, bill.strings.len, 1);
    out->string_bytes = (uint32_t)bill.strings.len;
    myr_buf_done(&bill.strings);
}
