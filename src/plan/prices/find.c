#include "prices/prices.h"

/*
 * Where a price comes from. The spec's own beats the book's; a book that has prices by class
 * assumes one for what it does not name; and what has none of these is estimated by the reference
 * book, which tells how much a total lacks and is never in it. Other currencies are changed by the
 * spec's rates, or by those of the book that the price is from.
 */

/* Of assumed prices whose book states no range. */
#define SPREAD 0.3

/* The last one given beats the ones before. */
static const struct myr_price *own_price(const struct plan *plan, uint32_t part)
{
    for (size_t i = plan->spec->own_prices.count; i-- > 0;) {
        if (plan->spec->own_prices.items[i].part == part) {
            return &plan->spec->own_prices.items[i];
        }
    }
    return NULL;
}

static const char *bill_currency(const struct plan *plan)
{
    return plan->strings.data + plan->design.head->currency;
}

/* What one unit of a price is in the bill; 0: not known. */
static double rate_of(const struct plan *plan, const struct myr_price_book *book, const char *from,
                      const char **ret_date)
{
    const char *to = bill_currency(plan);
    double rate = myr_exchange_rate(&plan->spec->exchange, from, to);
    *ret_date = plan->spec->exchange.date;
    if (rate <= 0 && book) {
        rate = myr_exchange_rate(&book->exchange, from, to);
        *ret_date = book->exchange.date;
    }
    return rate;
}

/* Halves are rounded up; what is too much for a bill stays what it is: far too much. */
static int64_t changed(int64_t cents, double rate)
{
    double value = (double)cents * rate + 0.5;
    return rate == 1 ? cents : value < 9e17 ? (int64_t)value : INT64_C(900000000000000000);
}

/* What it is for matters more than its note; that it is assumed stands before both. */
static const char *price_text(struct plan *plan, const struct myr_price *price)
{
    if (price->per_servers) {
        return price->per_servers == 1
                   ? myr_arena_printf(plan->arena, "price for each server%s",
                                      price->assumed ? ", assumed" : "")
                   : myr_arena_printf(plan->arena, "price for each started %u servers%s",
                                      price->per_servers, price->assumed ? ", assumed" : "");
    }
    return price->assumed ? myr_arena_printf(plan->arena, "assumed%s%s", price->note ? ": " : "",
                                             price->note ? price->note : "")
           : price->note  ? price->note
                          : "";
}

/* What a supplier says beside it, and what it was in its own currency. */
static const char *terms_text(struct plan *plan, const struct myr_price *price,
                              const char *currency, double rate, const char *date)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_puts(&text, price_text(plan, price));
    if (rate != 1) {
        myr_buf_printf(&text, "%s%s %s at %.6g", text.len ? "; " : "",
                       MYR_NUMBER((double)price->cents / 100, 2), currency, rate);
        if (date) {
            myr_buf_printf(&text, " of %s", date);
        }
    }
    if (price->valid_until) {
        myr_buf_printf(&text, "%svalid until %s", text.len ? "; " : "", price->valid_until);
    }
    if (price->tax) {
        myr_buf_printf(&text, "%stax: %s", text.len ? "; " : "", price->tax);
    }
    if (price->lead_weeks) {
        myr_buf_printf(&text, "%s%u weeks", text.len ? "; " : "", price->lead_weeks);
    }
    return myr_arena_strndup(plan->arena, text.data ? text.data : "", text.len);
}

/* A quotation that has run out by the day of the bill is no price any more, but the only one. */
static void check_quote(struct plan *plan, const struct myr_price *price)
{
    const char *day = plan->spec->price_date;
    if (day && price->valid_until && strcmp(price->valid_until, day) < 0) {
        plan_finding(plan, MYR_SEVERITY_WARNING, "quote-expired", part_at(plan, price->part)->id,
                     "ask for a new quotation",
                     "the price of %s was valid until %s, the bill is of %s",
                     part_at(plan, price->part)->order, price->valid_until, day);
    }
}

/* An entry of a book, a list or the spec. The promise of a book does not hold for what it only
 * assumes, nor for prices of others. */
static bool by_entry(struct plan *plan, const struct myr_price *price,
                     const struct myr_price_book *book, struct unit_price *ret)
{
    const char *currency = price->currency ? price->currency
                           : book          ? book->currency
                                           : bill_currency(plan);
    const char *date;
    double rate = rate_of(plan, book, currency, &date);
    double spread = !price->assumed ? 0 : book && book->spread > 0 ? book->spread : SPREAD;
    if (rate <= 0) {
        return false;
    }
    int64_t times = price->per_servers ? ceil_div(plan->spec->servers, price->per_servers) : 1;
    int64_t cents = changed(price->cents, rate);
    *ret = (struct unit_price){
        .basis = price->assumed ? MYR_PRICE_ASSUMED : MYR_PRICE_QUOTED,
        .low_cents =
            price->low_cents ? changed(price->low_cents, rate) : changed(cents, 1 - spread),
        .high_cents =
            price->high_cents ? changed(price->high_cents, rate) : changed(cents, 1 + spread),
        .warranty_months =
            (uint16_t)(price->warranty_months || price->assumed || !book ? price->warranty_months
                                                                         : book->warranty_months),
        .lead_weeks = price->lead_weeks,
        .note = terms_text(plan, price, currency, rate, date),
        .entry = price,
    };
    /* A fee that goes by size: each started set of servers costs once more. */
    if (__builtin_mul_overflow(cents, times, &ret->cents) ||
        __builtin_mul_overflow(ret->low_cents, times, &ret->low_cents) ||
        __builtin_mul_overflow(ret->high_cents, times, &ret->high_cents)) {
        ret->cents = ret->low_cents = ret->high_cents = INT64_MAX;
    }
    check_quote(plan, price);
    return true;
}

/* ---- by class ---- */

/* What a part has of what its class is priced by, and which class it is; false: of none. */
static bool class_of(const struct plan *plan, const struct myr_part *part,
                     enum myr_price_class *ret, double *ret_amount)
{
    const struct myr_part_cable *cable = &part->cable;
    uint32_t gpus;
    switch (part->kind) {
    case MYR_PART_SWITCH:
        *ret = MYR_CLASS_SWITCH;
        *ret_amount = (double)part->sw.cages * part->sw.cage_gbps;
        return true;
    case MYR_PART_ETHERNET:
        *ret = MYR_CLASS_ETHERNET;
        *ret_amount = (double)part->eth.access_ports * part->eth.access_gbps +
                      (double)part->eth.uplink_ports * part->eth.uplink_gbps;
        return true;
    case MYR_PART_TRANSCEIVER:
        *ret = MYR_CLASS_TRANSCEIVER;
        *ret_amount = part->optic.cage_gbps;
        return true;
    case MYR_PART_CABLE:
        *ret = cable->medium == MYR_MEDIUM_COPPER ? MYR_CLASS_COPPER
               : cable->fixed_ends                ? MYR_CLASS_ACTIVE
                                                  : MYR_CLASS_FIBRE;
        /* Copper and what has its own modules go by their speed, fibre by its length. */
        *ret_amount = *ret == MYR_CLASS_FIBRE ? cable->length_m : cable->gbps;
        return true;
    case MYR_PART_SERVER:
        gpus = part->server.nodes * part->server.gpus_per_node;
        *ret = MYR_CLASS_SERVER;
        *ret_amount = gpus;
        return true;
    case MYR_PART_STORAGE:
        *ret = MYR_CLASS_STORAGE;
        *ret_amount = (double)part->storage.disks * (double)part->storage.disk_gb / 1000;
        return true;
    case MYR_PART_DEVICE:
        *ret = MYR_CLASS_DEVICE;
        *ret_amount = 0;
        return true;
    default:
        return false; /* licences and services have no size */
    }
    (void)plan;
}

/* What the class says, in the bill's currency. */
static bool by_class(struct plan *plan, const struct myr_part *part,
                     const struct myr_price_book *book, struct unit_price *ret)
{
    enum myr_price_class class;
    double amount;
    const char *date;
    if (!class_of(plan, part, &class, &amount) || !book->classes[class].given) {
        return false;
    }
    const struct myr_class_price *price = &book->classes[class];
    double rate = rate_of(plan, book, book->currency, &date);
    if (rate <= 0) {
        return false;
    }
    int64_t cents = changed((int64_t)((price->base + price->each * amount) * 100 + 0.5), rate);
    *ret = (struct unit_price){.cents = cents,
                               .low_cents = changed(cents, price->low),
                               .high_cents = changed(cents, price->high),
                               .basis = MYR_PRICE_ASSUMED,
                               .note = myr_arena_printf(plan->arena, "assumed: %s", price->rule)};
    return true;
}

/* ---- all of it ---- */

/* What is not in the total: it says how much that lacks. */
static bool estimated(struct plan *plan, uint32_t part, struct unit_price *ret)
{
    const struct myr_price_book *book = myr_price_book_reference(plan->catalog);
    const struct myr_price *price = myr_price_find(book, part);
    if (!book || !((price && by_entry(plan, price, book, ret)) ||
                   by_class(plan, part_at(plan, part), book, ret))) {
        return false;
    }
    ret->basis = MYR_PRICE_ESTIMATED;
    ret->warranty_months = 0;
    ret->lead_weeks = 0;
    ret->note = myr_arena_printf(plan->arena, "no price known; about %s each: %s",
                                 MYR_NUMBER((double)ret->cents / 100, 0),
                                 ret->note[0] ? ret->note : book->title);
    return true;
}

struct unit_price prices_find(struct plan *plan, uint32_t part)
{
    const struct myr_price_book *book = myr_price_book_find(plan->catalog, plan->spec->price_book);
    const struct myr_price *own = own_price(plan, part), *of_book = myr_price_find(book, part);
    struct unit_price ret = {.cents = -1, .note = "no price known"};
    if ((own && by_entry(plan, own, NULL, &ret)) ||
        (of_book && by_entry(plan, of_book, book, &ret)) ||
        (book && by_class(plan, part_at(plan, part), book, &ret)) || estimated(plan, part, &ret)) {
        return ret;
    }
    return ret;
}
