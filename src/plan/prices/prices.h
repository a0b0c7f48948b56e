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

/* What a line makes of a sum: its price, or what it is estimated to cost. */
struct priced_line {
    const char *name;
    double cents;
    bool priced;
    bool main; /* whatever it may cost: nothing is known of it */
};

/* "GPU server; Ethernet switch; 2 more": lines without which there is no sum to speak of; "": it
 * may stand. And the share of the money that is priced. */
const char *prices_lacking(struct myr_arena *arena, const struct priced_line *lines, uint32_t count,
                           double *ret_share);
/* "servers, management nodes": what the spec says that others supply. */
const char *prices_supplied(const struct plan *plan);
struct unit_price prices_find(struct plan *plan, uint32_t part);
