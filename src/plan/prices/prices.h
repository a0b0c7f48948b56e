/* prices: what a piece costs, and how far that may be off. Private to the planner. */
#pragma once

#include "plan_internal.h"

/* One piece, in the bill's currency. */
struct unit_price {
    int64_t cents, low_cents, high_cents; /* -1 where nothing is known */
    enum myr_price_basis basis;
    uint16_t warranty_months;
    uint32_t lead_weeks;
    const char *note;              /* what kind of price it is; "": nothing to say */
    const struct myr_price *entry; /* of a book, a list or the spec; NULL: by its class */
};

/* "servers, management nodes": what the spec says that others supply. */
const char *prices_supplied(const struct plan *plan);
struct unit_price prices_find(struct plan *plan, uint32_t part);
