/*
 * The columns of an order, for the lists and for the answer: one text a cell, empty where there is
 * nothing to say.
 */
#pragma once

#include "orders/orders.h"

enum order_cell_kind { CELL_NUMBER, CELL_TEXT, CELL_FLAG }; /* a flag is "true" or "false" */

struct order_column {
    const char *key, *chinese; /* names of the column, for programs and on Chinese lists */
    enum order_cell_kind kind;
};

/* Of a plug: where it is, where it goes, its cable, its other end. */
enum {
    CELL_ORDER,
    CELL_CREW,
    CELL_WALK,  /* place in the crew's order */
    CELL_VISIT, /* orders at one cage */
    CELL_AFTER, /* an order that must be done before */
    CELL_DO,
    CELL_RACK, /* where it is done */
    CELL_UNIT,
    CELL_DEVICE,
    CELL_PORT,
    CELL_TO_RACK, /* where the plug goes */
    CELL_TO_UNIT,
    CELL_TO_DEVICE,
    CELL_TO_PORT,
    CELL_PLUG_1,
    CELL_CABLE = 0, /* from here on: relative to CELL_PLUG_1 and CELL_PLUG_2 */
    CELL_LABEL,     /* the flag at the plug */
    CELL_LENGTH,
    CELL_COLOUR,
    CELL_PART,
    CELL_OTHER_RACK, /* where the cable's other end is */
    CELL_OTHER_UNIT,
    CELL_OTHER_DEVICE,
    CELL_OTHER_PORT,
    CELLS_OF_PLUG,
    CELL_PLUG_2 = CELL_PLUG_1 + CELLS_OF_PLUG,
    CELL_LEGS = CELL_PLUG_2 + CELLS_OF_PLUG, /* of a splitter's head */
    CELL_SAME_CAGE,                          /* ports that may go dark */
    CELL_LEAVE_MODULE,
    CELL_CHECK_FIRST,
    CELL_WAIT,  /* seconds, after the last order */
    CELL_SINCE, /* the run that first saw it */
    CELL_SENTENCE,
    CELL_CODE, /* what is scanned */
    CELL_COUNT,
};

extern const struct order_column order_columns[CELL_COUNT];

/* Clears the cells and fills them. */
void order_cells(const struct myr_orders *orders, uint32_t index, enum myr_language language,
                 struct myr_buf cells[CELL_COUNT]);
