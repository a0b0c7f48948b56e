/*
 * grow: a cluster that is larger than the one that stands.
 *
 * myr_grow() takes the design that is installed and the one that was planned for the larger
 * cluster, and lays the second over the first: every installed box, port and cable keeps its id and
 * its name, and boxes take those places of the larger design, and hosts and uplinks those ports, at
 * which the fewest installed cables have to be moved. What comes out is a design like any other;
 * its arrays are in the regular order of the planned one, and its ids and names are held beside
 * them.
 *
 * What is free to choose: which box of a kind takes which place, which port of one role a cable
 * ends in, on which leaf a host hangs where there are no rails, and which pairs have one link more
 * where a fill is dense. Counts and ratios are those of the planned design, and so is its bill but
 * for modules and cables, which are counted anew: what stays may fill cages otherwise.
 */
#pragma once

#include "myriad/model/spec_load.h"
#include "myriad/plan.h"

/* One installed cable that does not stay as it is. */
struct myr_grow_move {
    uint32_t old_cable; /* its position in the installed design */
    uint32_t cable;     /* its position in the grown one; MYR_NONE: it is left over */
    uint8_t net, layer;
};

/* One line of what has to be bought: the bill of the larger design less that of the smaller. */
struct myr_grow_line {
    const char *system, *name, *part;
    int64_t quantity;     /* negative: left over */
    int64_t unit_cents;   /* -1: no price known */
    int64_t total_cents;  /* of the whole line: new total less old total */
    uint64_t had, needed; /* in the smaller and in the larger bill */
    int64_t had_cents;    /* the line's total in the smaller one */
    double may_cents;     /* what is bought of it, by its price or an estimate; 0: nobody knows */
};

struct myr_growth {
    const struct myr_design *installed, *planned;
    struct myr_design grown;
    uint32_t *to;         /* by installed device: its place in the grown design */
    uint32_t *from;       /* by device of the grown design: the installed one; MYR_NONE: new */
    uint32_t *cable_from; /* the same by cable */

    struct myr_grow_move *moves;
    uint32_t move_count;
    uint32_t moved[MYR_NET_COUNT][MYR_LAYER_COUNT];
    uint64_t moved_at_least; /* no grown design moves fewer; equal to move_count where proved */
    uint32_t new_cables;

    struct myr_grow_line *lines;
    uint32_t line_count, unpriced_lines;
    int64_t cost_cents;
    double priced_share; /* of the money that all lines to buy are estimated to cost */
    const char *lacking; /* main lines to buy without a price; "": 'cost_cents' may stand */

    /* Buying the switches now that installed cables will have to reach later. */
    uint32_t first_switches; /* pieces; 0: there is nothing to buy ahead */
    int64_t first_cents;     /* -1: no price known */
    uint32_t avoided[MYR_NET_COUNT][MYR_LAYER_COUNT];
    uint32_t avoided_total;

    uint32_t crews, days; /* of the order of installation that was written; 0: none was */
};

/* The names are for messages. Everything lives in 'arena'; both designs must outlive the result. */
struct myr_grow_names {
    const char *installed, *planned;
};

/* MYR_EINVAL: these two are no growth; MYR_EINFEASIBLE: the one cannot grow into the other. */
MYR_MUST_USE int myr_grow(struct myr_arena *arena, const struct myr_catalog *catalog,
                          const struct myr_design *installed, const struct myr_design *planned,
                          struct myr_grow_names names, struct myr_growth *ret, struct myr_err *err);

/*
 * A spec's file, which is planned, or a design.myr. 'prices': a price list in place of the spec's,
 * or NULL; a design has its own. 'listener' hears of the plan's steps, or is NULL. Close it with
 * myr_design_close().
 */
bool myr_grow_is_design(const char *path);
MYR_MUST_USE int myr_grow_read(struct myr_arena *arena, const struct myr_catalog *catalog,
                               const char *path, struct myr_price_file *prices,
                               const struct myr_plan_listener *listener, struct myr_design *ret,
                               struct myr_err *err);
/* The same for what the installed one grows into: servers that stand keep their order. */
MYR_MUST_USE int myr_grow_read_larger(struct myr_arena *arena, const struct myr_catalog *catalog,
                                      const struct myr_design *installed, const char *path,
                                      struct myr_price_file *prices,
                                      const struct myr_plan_listener *listener,
                                      struct myr_design *ret, struct myr_err *err);

/* The growth as an answer and as a page. */
void myr_grow_answer(const struct myr_growth *growth, struct myr_answer *answer);
/* As the object 'next' of the plan's tree: what a report says of the phase after it. */
void myr_grow_phase(const struct myr_growth *growth, struct myr_answer *answer);
/* Whether any of what is bought has a price: a sum of nothing is none. */
bool myr_grow_is_priced(const struct myr_growth *growth);

/* A cluster that is built from nothing, for its order of installation. */
void myr_grow_from_nothing(struct myr_arena *arena, const struct myr_design *design,
                           struct myr_growth *ret);

/* Who installs it, and how fast one crew is. */
struct myr_grow_crews {
    uint32_t crews; /* 0: no order and no sheets */
    uint32_t cables_a_day, devices_a_day;
};

/*
 * The files of the grown design with buy.csv and moves.csv; with crews also install.csv and, in
 * sheets/, what each crew pulls and tests on each day: all of them or none.
 */
MYR_MUST_USE int myr_grow_write(struct myr_growth *growth, const char *folder,
                                struct myr_grow_crews crews, struct myr_err *err);
