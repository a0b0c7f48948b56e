#include "figures/figures.h"
#include "prices/prices.h"

/*
 * How far a total reaches: which share of the lines has a price, and of the money that all lines
 * are estimated to cost; what of it is assumed; which main lines lack one, without whom there is no
 * sum to speak of; and what others supply.
 */

/* A line that makes so much of the estimate is a main one; and so much has to be priced. */
#define MAIN_SHARE   0.05
#define PRICED_SHARE 0.9
enum { NAMED_MAX = 4 }; /* lines that are named */

struct totals {
    double priced, assumed, low, typical, high; /* cents; the last three with what is estimated */
    uint32_t lines, priced_lines, lead_weeks;
};

static struct totals add_up(const struct plan *plan)
{
    struct totals sum = {.lines = (uint32_t)plan->bom.count};
    for (size_t i = 0; i < plan->bom.count; i++) {
        const struct myr_bom_price *price = &plan->bom_prices.items[i];
        bool known = plan->bom.items[i].unit_cents >= 0;
        sum.priced_lines += known;
        sum.priced += known ? (double)price->cents : 0;
        sum.assumed += price->basis == MYR_PRICE_ASSUMED ? (double)price->cents : 0;
        sum.low += (double)price->low_cents;
        sum.typical += (double)price->cents;
        sum.high += (double)price->high_cents;
        sum.lead_weeks = price->lead_weeks > sum.lead_weeks ? price->lead_weeks : sum.lead_weeks;
    }
    return sum;
}

/* Without an estimate it is one by what it is: what is not known may be anything. */
static bool is_main(const struct plan *plan, size_t line)
{
    enum myr_part_kind kind = part_at(plan, plan->bom_parts.items[line])->kind;
    return plan->bom_prices.items[line].basis == MYR_PRICE_NONE &&
           (kind == MYR_PART_SERVER || kind == MYR_PART_SWITCH || kind == MYR_PART_TRANSCEIVER ||
            kind == MYR_PART_STORAGE);
}

/* Any line counts where 'least' is negative, else those that make so much of the money. */
static bool lacks(const struct priced_line *line, double least)
{
    return !line->priced && (line->main || least < 0 || (line->cents > 0 && line->cents >= least));
}

/* Lines of one name are named once; beyond the first few they are counted. Returns how many. */
static uint32_t list_lacking(const struct priced_line *lines, uint32_t count, double least,
                             struct myr_buf *list)
{
    uint32_t names = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool counts = lacks(&lines[i], least);
        for (uint32_t k = 0; k < i && counts; k++) {
            counts = strcmp(lines[k].name, lines[i].name) != 0 || !lacks(&lines[k], least);
        }
        if (counts && names < NAMED_MAX) {
            myr_buf_printf(list, "%s%s", names ? "; " : "", lines[i].name);
        }
        names += counts;
    }
    if (names > NAMED_MAX) {
        myr_buf_printf(list, "; %u more", names - NAMED_MAX);
    }
    return names;
}

const char *prices_lacking(struct myr_arena *arena, const struct priced_line *lines, uint32_t count,
                           double *ret_share)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    double priced = 0, all = 0;
    for (uint32_t i = 0; i < count; i++) {
        priced += lines[i].priced ? lines[i].cents : 0;
        all += lines[i].cents;
    }
    *ret_share = all > 0 ? priced / all : 0;
    /* Main lines; and, where too little of the money is priced without one of them being large,
     * all others. */
    if (list_lacking(lines, count, MAIN_SHARE * all, &list) == 0 && priced < PRICED_SHARE * all) {
        (void)list_lacking(lines, count, -1, &list);
    }
    return myr_arena_strndup(arena, list.data ? list.data : "", list.len);
}

/* "" where the sum may stand. */
static const char *lacking(struct plan *plan, double *ret_share)
{
    uint32_t count = (uint32_t)plan->bom.count;
    struct priced_line *lines = MYR_ARENA_NEW(plan->arena, struct priced_line, count);
    for (uint32_t i = 0; i < count; i++) {
        lines[i] = (struct priced_line){plan->strings.data + plan->bom.items[i].name,
                                        (double)plan->bom_prices.items[i].cents,
                                        plan->bom.items[i].unit_cents >= 0, is_main(plan, i)};
    }
    return prices_lacking(plan->arena, lines, count, ret_share);
}

/* In the order of the bits of 'supplied'. */
const char *prices_supplied(const struct plan *plan)
{
    static const char *const names[] = {"servers", "management nodes", "Ethernet cabling",
                                        "fabric managers"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        if (plan->spec->supplied & 1U << i) {
            myr_buf_printf(&list, "%s%s", list.len ? ", " : "", names[i]);
        }
    }
    return myr_arena_strndup(plan->arena, list.data ? list.data : "", list.len);
}

/* Behind the last line of the bill. A bill without lines has nothing to say. */
void plan_price_figures(struct plan *plan)
{
    struct totals sum = add_up(plan);
    double money;
    const char *lack = lacking(plan, &money), *supplied = prices_supplied(plan);
    if (sum.lines == 0) {
        return;
    }
    plan_figure(plan, FIG_PRICED_LINES, (double)sum.priced_lines / sum.lines, MYR_BASIS_COUNTED,
                "%u of %u lines", sum.priced_lines, sum.lines);
    plan_figure(plan, FIG_PRICED_MONEY, money, MYR_BASIS_COMPUTED, "%.0f / %.0f", sum.priced / 100,
                sum.typical / 100);
    plan_figure(plan, FIG_PRICED_ASSUMED, sum.assumed / 100, MYR_BASIS_COMPUTED,
                "lines whose price is assumed");
    plan_figure(plan, FIG_PRICED_LOW, sum.low / 100, MYR_BASIS_COMPUTED,
                "prices at their lowest, and estimates");
    plan_figure(plan, FIG_PRICED_TYPICAL, sum.typical / 100, MYR_BASIS_COMPUTED,
                "prices, and estimates of lines without one");
    plan_figure(plan, FIG_PRICED_HIGH, sum.high / 100, MYR_BASIS_COMPUTED,
                "prices at their highest, and estimates");
    if (lack[0]) {
        plan_figure_word(plan, FIG_PRICED_LACK, lack, MYR_BASIS_COUNTED);
    }
    if (supplied[0]) {
        plan_figure_word(plan, FIG_PRICED_SUPPLIED, supplied, MYR_BASIS_GIVEN);
    }
    if (sum.lead_weeks) {
        plan_figure(plan, FIG_PRICED_LEAD, sum.lead_weeks, MYR_BASIS_GIVEN,
                    "the longest of all lines");
    }
}
