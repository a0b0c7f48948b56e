#include "grow/grow_internal.h"

/*
 * The phase after this one as a part of the plan's tree: what its chapter of the report says. Its
 * numbers can be explained like those of the plan (explain/rules.c has the rules).
 */

/* Null where no price is known. */
static void put_cents(struct myr_answer *answer, const char *key, int64_t cents, bool known)
{
    if (known) {
        myr_answer_double(answer, key, (double)cents / 100, 2);
    } else {
        myr_answer_null(answer, key);
    }
}

static void put_pair(struct myr_answer *answer, const char *key, uint32_t now, uint32_t then)
{
    myr_answer_object(answer, key);
    myr_answer_u64(answer, "now", now);
    myr_answer_u64(answer, "then", then);
    myr_answer_i64(answer, "more", (int64_t)then - now);
    myr_answer_end(answer);
}

static void put_networks(const struct myr_growth *growth, struct myr_answer *answer)
{
    myr_answer_object(answer, "networks");
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *a = &growth->installed->networks[id];
        const struct myr_network *b = &growth->grown.networks[id];
        /* A network may be new in the larger phase, never gone. */
        if (!a->topology && !b->topology) {
            continue;
        }
        myr_answer_object(answer, myr_net_names[id]);
        put_pair(answer, "leaf", a->leaf, b->leaf);
        put_pair(answer, "spine", a->spine, b->spine);
        put_pair(answer, "core", a->core, b->core);
        put_pair(answer, "access", a->access, b->access);
        put_pair(answer, "aggregation", a->aggregation, b->aggregation);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* What is left over is here too, with a negative quantity. */
static void put_lines(const struct myr_growth *growth, struct myr_answer *answer)
{
    myr_answer_list(answer, "lines");
    for (uint32_t i = 0; i < growth->line_count; i++) {
        const struct myr_grow_line *line = &growth->lines[i];
        bool priced = line->unit_cents != -1;
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "name", line->name);
        myr_answer_text(answer, "part", line->part);
        myr_answer_u64(answer, "now", line->had);
        myr_answer_u64(answer, "then", line->needed);
        myr_answer_i64(answer, "quantity", line->quantity);
        put_cents(answer, "unit_price", line->unit_cents, priced);
        put_cents(answer, "total", line->total_cents, priced);
        put_cents(answer, "total_now", line->had_cents, priced);
        put_cents(answer, "total_then", line->had_cents + line->total_cents, priced);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* The names are those of explain/rules.c. */
void myr_grow_phase(const struct myr_growth *growth, struct myr_answer *answer)
{
    const struct myr_design_head *now = growth->installed->head, *then = growth->grown.head;
    /* Without switches to buy ahead there is no such price, not a price of 0. */
    bool ahead = growth->first_switches > 0 && growth->first_cents >= 0;
    myr_answer_object(answer, "next");
    put_pair(answer, "servers", now->servers, then->servers);
    put_pair(answer, "gpus", now->gpus, then->gpus);
    put_networks(growth, answer);
    put_lines(growth, answer);
    put_cents(answer, "cost", growth->cost_cents, myr_grow_is_priced(growth));
    put_cents(answer, "cost_of_both", then->total_cents, myr_grow_is_priced(growth));
    myr_answer_u64(answer, "unpriced_lines", growth->unpriced_lines);
    myr_answer_u64(answer, "installed_cables", growth->installed->cable_count);
    myr_answer_u64(answer, "moved_cables", growth->move_count);
    myr_answer_u64(answer, "moved_at_least", growth->moved_at_least);
    myr_answer_object(answer, "ahead");
    myr_answer_u64(answer, "switches", growth->first_switches);
    put_cents(answer, "extra_now", growth->first_cents, ahead);
    put_cents(answer, "cost_now", now->total_cents + growth->first_cents, ahead);
    myr_answer_u64(answer, "moves_avoided", growth->avoided_total);
    myr_answer_end(answer);
    myr_answer_end(answer);
}
