/*
 * What the parts of orders share: where things are, what cables look like, and words.
 */
#pragma once

#include "myriad/model/ids.h"
#include "myriad/site/orders.h"
#include "verify/verify.h"

/* All faults, each as new; then of which run each order's is. */
void order_faults(struct myr_orders *orders);

/* Rack and unit of a vertex's device; rack MYR_NONE where the design has no room. */
struct order_place {
    uint32_t rack, unit;
};

struct order_place order_place_of(const struct myr_orders *orders, uint32_t vertex);
/* Names of device and port; those of far ends outside of the design as their source has them. */
void order_put_device(const struct myr_orders *orders, uint32_t vertex, struct myr_buf *buf);
void order_put_port(const struct myr_orders *orders, uint32_t vertex, struct myr_buf *buf);

/* The flag at the plug: "leaf/p0-g1-r5:17/2 -> node/00042:nic3". Nothing without a cable. */
void order_put_flag(const struct myr_orders *orders, const struct myr_plug *plug,
                    struct myr_buf *buf);
const struct myr_cabletype *order_cable_type(const struct myr_orders *orders, uint32_t cable);
const char *order_colour(const struct myr_orders *orders, uint32_t cable);

/*
 * Ports that share a cage with a plug and have a cable that runs; the vertices, at most 'max' of
 * them. 'ret_module': they stay alight if the fibre alone is pulled and the module stays.
 */
uint32_t order_cage_mates(const struct myr_orders *orders, const struct myr_work_order *order,
                          uint32_t *ret, uint32_t max, bool *ret_module);
/* What is scanned: "MYR:design:R2:O17:C00000042:leaf/p0-g1-r5 17/2>leaf/p0-g1-r5 17/1". */
void order_put_code(const struct myr_orders *orders, uint32_t index, bool with_ends,
                    struct myr_buf *buf);

/* Words of the sheets. */
enum order_word {
    WORD_TITLE,
    WORD_CREW,
    WORD_ORDER,
    WORD_WALK,
    WORD_VISIT,
    WORD_AFTER,
    WORD_DO,
    WORD_RACK,
    WORD_UNIT,
    WORD_DEVICE,
    WORD_PORT,
    WORD_NOW,  /* where a plug is */
    WORD_THEN, /* where it goes */
    WORD_FAR,
    WORD_CABLE,
    WORD_FLAG,
    WORD_LENGTH,
    WORD_COLOUR,
    WORD_PART,
    WORD_DARK, /* ports of the same cage */
    WORD_SINCE,
    WORD_DONE,
    WORD_NOTHING,
    WORD_PLUG,
    WORD_LOOK_FIRST, /* nobody looked at the new port */
    WORD_PULL_FIBRE, /* the module stays */
    WORD_PULL_PLUG,  /* others of the cage go dark */
    WORD_READ_FLAG,
    WORD_WAIT_LLDP,
    WORD_WAIT_SM,
    WORD_SUMMARY,
    WORD_RENAME, /* instead of moving plugs */
    WORD_NEW_CABLE,
    WORD_OUT,
    WORD_COUNT,
};

const char *order_word(enum myr_language language, enum order_word word);
/* {1}, {2}, {3} of the text become the arguments. */
void order_fill(struct myr_buf *buf, const char *text, const char *const *args, uint32_t count);
/* The order as one sentence. */
void order_sentence(const struct myr_orders *orders, const struct myr_work_order *order,
                    enum myr_language language, struct myr_buf *buf);
/* The name of a colour; one that is not known as it is. */
const char *order_colour_word(enum myr_language language, const char *colour);
