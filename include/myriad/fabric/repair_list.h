/*
 * repair_list: the questions of repair.h asked for a whole fabric, as rows with names.
 *
 * Three questions: what happens when a link or a device dies (failover), what bandwidth is left
 * without what is dead now (degraded), and what a set of devices takes along (blast). Rows and
 * their names live in the case's arena.
 */
#pragma once

#include "myriad/fabric/question.h"
#include "myriad/fabric/repair.h"

/*
 * Puts the case's flows on paths before anything dies; zeroed, without any route, where the case
 * has no flows. Sprayed flows are refused: they are on every path. Release with myr_routes_done().
 */
MYR_MUST_USE int myr_repair_routes(const struct myr_fabric_case *fabric,
                                   const struct myr_balance_options *balance,
                                   struct myr_routes *ret, struct myr_err *err);

struct myr_failover_question {
    const char *link, *device; /* only these; both NULL: the whole fabric */
    bool all;                  /* every link and switch, not one of each kind */
};

struct myr_failover_row {
    const char *what, *kind;
    const char *between; /* the two ports of a link; NULL of a device */
    uint64_t alike;      /* links or switches of this kind that the row stands for */
    struct myr_failover failover;
};

struct myr_failover_rows {
    const struct myr_failover_row *items;
    size_t count;
};

/* 'routes' NULL: no flow is counted. */
MYR_MUST_USE int myr_failover_list(struct myr_fabric_case *fabric,
                                   const struct myr_failover_question *question,
                                   const struct myr_routes *routes, struct myr_failover_rows *ret,
                                   struct myr_err *err);

struct myr_degraded_answer {
    struct myr_degraded left;
    uint64_t worst_full_gbps;      /* the worst pair's when nothing is dead */
    const char *worst_a, *worst_b; /* NULL: there is no pair */
    const struct myr_rail_bandwidth *rails;
    uint32_t rail_count;
};

void myr_degraded_answer(struct myr_fabric_case *fabric, struct myr_degraded_answer *ret);

/* The part of the planned bandwidth that is left; 0 where none was planned. */
double myr_degraded_share(struct myr_rail_bandwidth bandwidth);

struct myr_blast_row {
    const char *what;
    struct myr_blast blast;
    double bisection_left; /* part of the full one */
};

struct myr_blast_rows {
    const struct myr_blast_row *items;
    size_t count;
};

/* 'names' is a list of devices and domains (words.h). */
MYR_MUST_USE int myr_blast_list(struct myr_fabric_case *fabric, const char *names,
                                const struct myr_routes *routes, struct myr_blast_rows *ret,
                                struct myr_err *err);
