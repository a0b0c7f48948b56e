#include <math.h>

#include "compare_rows.h"

/*
 * Who wins a row: the best of figures that are all known and may be compared, as printed. Money is
 * compared in one currency alone, and what nobody has quoted decides nothing.
 */

/* Designs are lettered in the order in which they were given. */
const char *compare_letter(uint32_t index)
{
    static const char *const letters[MYR_COMPARE_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    MYR_ASSERT(index < MYR_COMPARE_MAX);
    return letters[index];
}

/* As the number that is printed, so that equal print is equal. */
static int64_t whole(const struct myr_compare_row *row, uint32_t index)
{
    /* By the digits that the row shows. */
    double scale = 1;
    for (int i = 0; i < row->digits; i++) {
        scale *= 10;
    }
    return llround(row->cells[index].value * scale);
}

/* A row of money has the unit of the first design: a sum in another currency is none of it. */
static void drop_other_currencies(const struct myr_design_comparison *all, struct myr_arena *arena,
                                  struct myr_compare_row *row)
{
    for (uint32_t i = 1; i < all->count && row->unit == all->sides[0].currency; i++) {
        if (strcmp(all->sides[i].currency, row->unit) != 0) {
            row->cells[i].known = false;
            row->cells[i].why = myr_arena_printf(arena, "priced in %s", all->sides[i].currency);
        }
    }
}

/* The first reason why the row has no winner; NULL: it may have one. */
static const char *not_comparable(const struct myr_design_comparison *all, struct myr_arena *arena,
                                  const struct myr_compare_row *row)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const struct myr_compare_cell *cell = &row->cells[i];
        /* A figure may be known and still be no ground for a judgement. */
        if (!cell->known || cell->why) {
            return myr_arena_printf(arena, "%s: %s", compare_letter(i),
                                    cell->why ? cell->why : "not known");
        }
    }
    return NULL;
}

/* Pieces of a part in all lines of a bill, at one price; 'ret_first': the first of its lines. */
static double pieces_of(const struct myr_design *design, const char *part, int64_t unit_cents,
                        uint32_t *ret_first)
{
    double pieces = 0;
    *ret_first = MYR_NONE;
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        if (row->unit_cents == unit_cents && strcmp(part, myr_design_str(design, row->part)) == 0) {
            *ret_first = *ret_first == MYR_NONE ? i : *ret_first;
            pieces += (double)row->quantity;
        }
    }
    return pieces;
}

/* How far assumed prices may move what the bill of one design has more of than another's: down, and
 * up. */
static void doubt_apart(const struct myr_design *one, const struct myr_design *other,
                        double *ret_down, double *ret_up)
{
    *ret_down = *ret_up = 0;
    for (uint32_t i = 0; one->bom_price && i < one->bom_count; i++) {
        const struct myr_bom_price *price = &one->bom_price[i];
        const struct myr_bom_row *row = &one->bom[i];
        const char *part = myr_design_str(one, row->part);
        uint32_t first, others;
        if (price->basis != MYR_PRICE_ASSUMED || row->quantity == 0) {
            continue;
        }
        double more = pieces_of(one, part, row->unit_cents, &first) -
                      pieces_of(other, part, row->unit_cents, &others);
        if (first == i && more > 0) {
            double share = more / (double)row->quantity / 100;
            *ret_down += (double)(price->cents - price->low_cents) * share;
            *ret_up += (double)(price->high_cents - price->cents) * share;
        }
    }
}

/*
 * What nobody has quoted decides nothing: the cheaper one has to be so with all its assumed prices
 * at their highest and the other's at their lowest. Parts that both have in the same number move
 * both bills alike, so that only what one has more of is in doubt. The first design that the best
 * is not surely cheaper than; MYR_NONE: it is than all.
 */
static uint32_t undecided(const struct myr_design_comparison *all,
                          const struct myr_compare_row *row, uint32_t best)
{
    bool money = row->unit == all->sides[0].currency && row->unit[0];
    for (uint32_t i = 0; money && i < all->count; i++) {
        double down, up, other_down, other_up;
        const struct myr_design *one = &all->sides[best].design, *other = &all->sides[i].design;
        if (i == best || whole(row, i) == whole(row, best)) {
            continue;
        }
        doubt_apart(one, other, &down, &up);
        doubt_apart(other, one, &other_down, &other_up);
        /* The row may be of a part of the bill, such as one GPU's. */
        double share = one->head->total_cents > 0
                           ? row->cells[best].value / ((double)one->head->total_cents / 100)
                           : 0;
        share = share > 1 ? 1 : share;
        if (row->cells[best].value + share * up >= row->cells[i].value - share * other_down) {
            return i;
        }
    }
    return MYR_NONE;
}

/* Compared as printed. All alike is a tie; of some that are alike the first wins. */
static void judge(const struct myr_design_comparison *all, struct myr_arena *arena,
                  struct myr_compare_row *row)
{
    uint32_t ties = 0;
    row->best = MYR_NONE;
    row->why = not_comparable(all, arena, row);
    /* A row without a winner still shows its figures. */
    if (row->why || row->better == MYR_COMPARE_NEITHER) {
        return;
    }
    row->best = 0;
    for (uint32_t i = 1; i < all->count; i++) {
        int64_t one = whole(row, i), best = whole(row, row->best);
        row->best = (row->better == MYR_COMPARE_LESS ? one < best : one > best) ? i : row->best;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        ties += whole(row, i) == whole(row, row->best);
    }
    row->equal = ties == all->count;
    row->best = row->equal ? MYR_NONE : row->best;
    uint32_t other = row->best == MYR_NONE ? MYR_NONE : undecided(all, row, row->best);
    if (other != MYR_NONE) {
        row->why = myr_arena_printf(arena, "assumed prices decide between %s and %s",
                                    compare_letter(row->best), compare_letter(other));
        row->best = MYR_NONE;
    }
}

void compare_judge(struct myr_design_comparison *all, struct myr_arena *arena)
{
    for (uint32_t i = 0; i < all->row_count; i++) {
        drop_other_currencies(all, arena, &all->rows[i]);
        judge(all, arena, &all->rows[i]);
    }
}
