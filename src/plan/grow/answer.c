#include "grow/grow_internal.h"

/*
 * The growth for programs and for people. One tree for programs; the page for people is made of the
 * same lists.
 */

static void put_cents(struct myr_answer *answer, const char *key, int64_t cents, bool known)
{
    if (!known) {
        myr_answer_null(answer, key);
    } else if (cents % 100 == 0) {
        myr_answer_i64(answer, key, cents / 100);
    } else {
        myr_answer_double(answer, key, (double)cents / 100, 2);
    }
}

/* A sum of nothing is no price. */
bool myr_grow_is_priced(const struct myr_growth *growth)
{
    return growth->cost_cents > 0 || growth->unpriced_lines == 0;
}

/* What is left over has positive numbers in its own list. */
static const struct myr_value *put_lines(const struct myr_growth *growth, struct myr_answer *answer,
                                         const char *key, bool left_over)
{
    const struct myr_value *list = myr_answer_list(answer, key);
    for (uint32_t i = 0; i < growth->line_count; i++) {
        const struct myr_grow_line *line = &growth->lines[i];
        if ((line->quantity < 0) != left_over) {
            continue;
        }
        int64_t sign = left_over ? -1 : 1;
        bool priced = line->unit_cents != -1;
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "system", line->system);
        myr_answer_text(answer, "name", line->name);
        myr_answer_text(answer, "part", line->part);
        myr_answer_i64(answer, "quantity", sign * line->quantity);
        put_cents(answer, "unit_price", line->unit_cents, priced);
        put_cents(answer, "total", sign * line->total_cents, priced);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* {"compute": {"leaf_spine": 256, ...}}: all networks and layers, also where nothing moves. */
static void put_by(struct myr_answer *answer, const char *key,
                   const uint32_t counts[MYR_NET_COUNT][MYR_LAYER_COUNT])
{
    myr_answer_object(answer, key);
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        uint32_t total = 0;
        myr_answer_object(answer, myr_net_names[net]);
        for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
            total += counts[net][layer];
            myr_answer_u64(answer, myr_layer_names[layer], counts[net][layer]);
        }
        myr_answer_u64(answer, "total", total);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* "leaf/p0-g0-r0:17/2", as flags on cables have it. */
static void put_end(struct myr_answer *answer, const char *key, const struct myr_design *design,
                    uint32_t port)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_design_name(design, design->port_device[port], &name);
    myr_buf_putc(&name, ':');
    myr_design_port_name(design, port, &name);
    myr_answer_str(answer, key, (struct myr_str){name.data, name.len});
}

/* One row a link: a splitter that moves has several. What is left over has no new ends. */
static const struct myr_value *put_moves(const struct myr_growth *growth, struct myr_answer *answer)
{
    const struct myr_design *old = growth->installed, *now = &growth->grown;
    const struct myr_value *list = myr_answer_list(answer, "moves");
    for (uint32_t i = 0; i < growth->move_count; i++) {
        const struct myr_grow_move *move = &growth->moves[i];
        uint32_t first = old->first_link[move->old_cable];
        for (uint32_t l = first; l < old->first_link[move->old_cable + 1]; l++) {
            myr_answer_object(answer, NULL);
            myr_answer_u64(answer, "cable", myr_design_cable_id(old, move->old_cable));
            myr_answer_text(answer, "network", myr_net_names[move->net]);
            myr_answer_text(answer, "layer", myr_layer_names[move->layer]);
            put_end(answer, "from_a", old, old->link_a[l]);
            put_end(answer, "from_b", old, old->link_b[l]);
            uint32_t at = move->cable == MYR_NONE ? MYR_NONE : now->first_link[move->cable];
            /* A splitter may have fewer legs in its new place. */
            if (at == MYR_NONE || at + (l - first) >= now->first_link[move->cable + 1]) {
                myr_answer_null(answer, "to_a");
                myr_answer_null(answer, "to_b");
            } else {
                put_end(answer, "to_a", now, now->link_a[at + (l - first)]);
                put_end(answer, "to_b", now, now->link_b[at + (l - first)]);
            }
            myr_answer_end(answer);
        }
    }
    myr_answer_end(answer);
    return list;
}

/*
 * What is bought ahead is paid now and not later, so the sum of both stays; only the moves differ.
 */
static const struct myr_value *put_alternatives(const struct myr_growth *growth,
                                                struct myr_answer *answer)
{
    static const uint32_t none[MYR_NET_COUNT][MYR_LAYER_COUNT];
    bool priced = myr_grow_is_priced(growth);
    const struct myr_value *list = myr_answer_list(answer, "alternatives");
    for (uint32_t i = 0; i < (growth->first_switches ? 2 : 1); i++) {
        bool ahead = i == 1;
        bool known = priced && (!ahead || growth->first_cents >= 0);
        int64_t extra = ahead ? growth->first_cents : 0;
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "name", ahead ? "spine-first" : "later");
        myr_answer_u64(answer, "switches_now", ahead ? growth->first_switches : 0);
        put_cents(answer, "extra_now", extra, known);
        put_cents(answer, "saved_later", extra, known);
        put_cents(answer, "cost_later", growth->cost_cents - extra, known);
        myr_answer_u64(answer, "moved_cables",
                       growth->move_count - (ahead ? growth->avoided_total : 0));
        myr_answer_u64(answer, "moves_avoided", ahead ? growth->avoided_total : 0);
        put_by(answer, "avoided_by_network", ahead ? growth->avoided : none);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* By its place in the room: the rack's position in the arrays may be another. */
static bool same_rack(const struct myr_growth *growth, uint32_t device)
{
    const struct myr_design *old = growth->installed, *now = &growth->grown;
    uint32_t was = old->device_rack[device], is = now->device_rack[growth->to[device]];
    if (was == MYR_NONE || is == MYR_NONE) {
        return was == is;
    }
    return old->racks[was].row == now->racks[is].row &&
           old->racks[was].column == now->racks[is].column &&
           old->rack_more[was].building == now->rack_more[is].building;
}

/* A sum with gaps says so. */
static void show_cost(const struct myr_growth *growth, struct myr_answer *answer)
{
    const char *currency = myr_design_str(&growth->grown, growth->grown.head->currency);
    char money[MYR_PLAN_MONEY_MAX];
    (void)myr_plan_money(growth->cost_cents, currency, money);
    if (!myr_grow_is_priced(growth)) {
        myr_answer_fact(answer, "cost", "unknown: 'prices: BOOK' in the spec names a price book");
    } else if (growth->lacking[0]) {
        myr_answer_fact(answer, "cost",
                        "not known: without a price are %s; %.0f %% of the estimated money is "
                        "priced",
                        growth->lacking, growth->priced_share * 100);
    } else if (growth->unpriced_lines) {
        myr_answer_fact(answer, "cost", "%s, without %s; %.0f %% of the estimated money is priced",
                        money, MYR_COUNT(growth->unpriced_lines, "unpriced line"),
                        growth->priced_share * 100);
    } else {
        myr_answer_fact(answer, "cost", "%s", money);
    }
}

/* Boxes are not placed anew here: it has to be said that the larger plan may want them elsewhere.
 */
static void show_racks(const struct myr_growth *growth, struct myr_answer *answer)
{
    const struct myr_design *old = growth->installed;
    uint32_t elsewhere = 0;
    char count[32], all[32];
    if (!old->room_count) {
        myr_answer_fact(answer, "racks", "those of the larger plan; the installed one has none");
        return;
    }
    for (uint32_t i = 0; i < old->device_count; i++) {
        elsewhere += !same_rack(growth, i);
    }
    myr_answer_fact(answer, "racks",
                    "those of the larger plan, where %s of %s installed devices have another",
                    myr_u64_grouped(elsewhere, count), myr_u64_grouped(old->device_count, all));
}

/* The page: facts, then what to buy, the alternatives and, on request, every move. */
static void show(const struct myr_growth *growth, struct myr_answer *answer,
                 const struct myr_value *buy, const struct myr_value *alternatives,
                 const struct myr_value *moves)
{
    static const struct myr_answer_column lines[] = {
        {"system", "SYSTEM", 0, 0},
        {"name", "NAME", 0, 0},
        {"part", "PART", 0, 0},
        {"quantity", "COUNT", MYR_COLUMN_NUMBER, 0},
        {"unit_price", "EACH", MYR_COLUMN_NUMBER, 2},
        {"total", "TOTAL", MYR_COLUMN_NUMBER, 2},
    };
    static const struct myr_answer_column choices[] = {
        {"name", "ALTERNATIVE", 0, 0},
        {"switches_now", "SWITCHES NOW", MYR_COLUMN_NUMBER, 0},
        {"extra_now", "EXTRA NOW", MYR_COLUMN_NUMBER, 2},
        {"cost_later", "COST LATER", MYR_COLUMN_NUMBER, 2},
        {"moved_cables", "MOVED", MYR_COLUMN_NUMBER, 0},
        {"moves_avoided", "AVOIDED", MYR_COLUMN_NUMBER, 0},
    };
    static const struct myr_answer_column moved[] = {
        {"cable", "CABLE", MYR_COLUMN_NUMBER, 0},
        {"network", "NETWORK", 0, 0},
        {"from_a", "A", 0, 0},
        {"from_b", "B", 0, 0},
        {"to_a", "NEW A", 0, 0},
        {"to_b", "NEW B", 0, 0},
    };
    const struct myr_design_head *old = growth->installed->head, *now = growth->grown.head;
    char from[32], to[32];
    myr_answer_heading(answer, "%s grows to %s", myr_design_str(growth->installed, old->name),
                       myr_design_str(&growth->grown, now->name));
    myr_answer_fact(answer, "servers", "%s to %s", myr_u64_grouped(old->servers, from),
                    myr_u64_grouped(now->servers, to));
    show_cost(growth, answer);
    myr_answer_fact(
        answer, "installed cables that move", "%s%s", myr_u64_grouped(growth->move_count, from),
        growth->moved_at_least == growth->move_count ? ", and no choice moves fewer" : "");
    myr_answer_fact(answer, "new cables", "%s", myr_u64_grouped(growth->new_cables, from));
    if (growth->grown.room_count) {
        show_racks(growth, answer);
    }
    if (growth->crews) {
        myr_answer_fact(answer, "installation", "%s of %s", MYR_COUNT(growth->days, "working day"),
                        MYR_COUNT(growth->crews, "crew"));
    }
    myr_answer_heading(answer, "To buy");
    myr_answer_table(answer, buy, lines, MYR_ARRAY_COUNT(lines));
    myr_answer_heading(answer, "Now or later");
    myr_answer_table(answer, alternatives, choices, MYR_ARRAY_COUNT(choices));
    myr_answer_more(answer, "every cable that moves");
    myr_answer_table(answer, moves, moved, MYR_ARRAY_COUNT(moved));
}

/* Left-over lines are told but not summed up: nothing is given back for them. */
void myr_grow_answer(const struct myr_growth *growth, struct myr_answer *answer)
{
    const struct myr_design_head *old = growth->installed->head, *now = growth->grown.head;
    bool priced = myr_grow_is_priced(growth);
    myr_answer_text(answer, "installed", myr_design_str(growth->installed, old->name));
    myr_answer_text(answer, "grown", myr_design_str(&growth->grown, now->name));
    myr_answer_u64(answer, "servers_before", old->servers);
    myr_answer_u64(answer, "servers", now->servers);
    const struct myr_value *buy = put_lines(growth, answer, "buy", false);
    (void)put_lines(growth, answer, "left_over", true);
    put_cents(answer, "cost", growth->cost_cents, priced);
    myr_answer_text(answer, "currency", myr_design_str(&growth->grown, now->currency));
    myr_answer_u64(answer, "unpriced_lines", growth->unpriced_lines);
    myr_answer_double(answer, "priced_money", growth->priced_share, 4);
    myr_answer_text(answer, "lacking", growth->lacking[0] ? growth->lacking : NULL);
    myr_answer_u64(answer, "moved_cables", growth->move_count);
    myr_answer_u64(answer, "moved_at_least", growth->moved_at_least);
    put_by(answer, "moved_by_network", growth->moved);
    myr_answer_u64(answer, "new_cables", growth->new_cables);
    myr_answer_u64(answer, "new_devices",
                   growth->grown.device_count - growth->installed->device_count);
    if (growth->crews) {
        myr_answer_u64(answer, "crews", growth->crews);
        myr_answer_u64(answer, "days", growth->days);
    } else {
        myr_answer_null(answer, "crews");
        myr_answer_null(answer, "days");
    }
    const struct myr_value *alternatives = put_alternatives(growth, answer);
    const struct myr_value *moves = put_moves(growth, answer);
    show(growth, answer, buy, alternatives, moves);
    myr_answer_rows(answer, buy);
}
