/*
 * orders: the repair as work for people: who walks where, takes which plug, and what comes with it.
 *
 * verify says which plugs change places; an order says it to somebody with a trolley: rack and
 * unit of both ends (where the design has a room), number, flag, length and colour of each cable,
 * and which neighbours go dark when a cage is opened. Orders of chains that share a cage stay with
 * one crew, so that no two people work in one cage. What a run found is kept in a small file; the
 * next run says what was mended since, what came new, and what nobody sees any more.
 *
 * Links that are in place but degraded are orders too (inspect). Everything lives in the arena;
 * 'verify' must outlive it.
 */
#pragma once

#include "myriad/site/verify.h"

enum myr_order_op {
    MYR_ORDER_SWAP,
    MYR_ORDER_MOVE,
    MYR_ORDER_ADD,
    MYR_ORDER_REMOVE,
    MYR_ORDER_INSPECT,
    MYR_ORDER_OPS,
};

extern const char *const myr_order_op_names[MYR_ORDER_OPS];

/* An end of a cable that a hand takes. Vertices as in verify.h. */
struct myr_plug {
    uint32_t at;    /* where it is now; MYR_NONE: a new cable */
    uint32_t to;    /* where it goes; MYR_NONE: it is taken out */
    uint32_t far;   /* its other end; MYR_NONE: not known */
    uint32_t cable; /* that the plan has at its other end: its flag should say so; or MYR_NONE */
};

struct myr_work_order {
    uint32_t op;         /* enum myr_order_op */
    uint32_t crew, walk; /* from 1; the place in the crew's walk */
    uint32_t visit;      /* orders of one visit are done in the same cage */
    uint32_t after;      /* the order that must be done before, from 1; 0: none */
    uint32_t plug_count; /* 2: they change places */
    struct myr_plug plugs[2];
    uint32_t legs;    /* of a splitter's head; 0: a plug of one link */
    uint32_t since;   /* the run in which the fault was first seen */
    uint32_t why;     /* inspect: bits of enum myr_degraded_why */
    bool check_first; /* nobody looked at the new port */
};

/* A fault, as it is kept from run to run: by the names of its two ends. */
struct myr_site_fault {
    struct myr_str device, port, peer_device, peer_port;
    uint32_t state; /* enum myr_port_state; MYR_STATE_COUNT: a cable that the plan does not use */
    uint32_t since;
};

struct myr_faults {
    struct myr_site_fault *items;
    uint32_t count;
};

struct myr_orders_question {
    uint32_t crews;             /* at least 1 */
    const char *const *colours; /* "host=blue": what cables of a layer look like */
    uint32_t colour_count;
};

struct myr_orders {
    struct myr_arena *arena;
    const struct myr_verify *verify;
    uint32_t run, crews, count, visits;
    struct myr_work_order *items;
    const char *colours[MYR_LAYER_COUNT]; /* NULL: by the cable's kind */
    uint32_t wait_s;                      /* after the last move, before anybody looks again */
    bool lldp;                            /* which is why */
    /* Since the run before: 'open' are all faults now, 'fresh' those of them that are new. */
    struct myr_faults open, fresh, mended, unseen;
    uint32_t gone; /* of a device or port that the design no longer has */
};

/* 'catalog' knows which networks are InfiniBand; NULL: what the cabling looks like decides. */
MYR_MUST_USE int myr_orders_make(struct myr_orders *ret, struct myr_arena *arena,
                                 const struct myr_verify *verify, const struct myr_catalog *catalog,
                                 const struct myr_orders_question *question, struct myr_err *err);

/* What the run before left; refused where it is of another design. */
MYR_MUST_USE int myr_orders_since(struct myr_orders *orders, const char *path, struct myr_err *err);
MYR_MUST_USE int myr_orders_since_text(struct myr_orders *orders, const char *file,
                                       struct myr_str text, struct myr_err *err);
/* For the next run. */
void myr_orders_state(const struct myr_orders *orders, struct myr_buf *buf);

enum myr_language { MYR_ENGLISH, MYR_CHINESE, MYR_LANGUAGES };

/* One row an order. In Chinese with a mark in front, for spreadsheets. */
void myr_orders_csv(const struct myr_orders *orders, enum myr_language language,
                    struct myr_buf *buf);
/* Sheets to print, a crew after the other, with a code to scan at each order. */
void myr_orders_html(const struct myr_orders *orders, enum myr_language language,
                     struct myr_buf *buf);

struct myr_answer;
/* The orders as a tree, with a page for people. */
void myr_orders_answer(const struct myr_orders *orders, struct myr_answer *answer);
