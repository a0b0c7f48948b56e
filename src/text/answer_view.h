/* answer_view: the pieces of an answer's page. Private to answer*.c. */
#pragma once

#include "myriad/text/answer.h"

enum view_kind {
    VIEW_HEADING,
    VIEW_PARA, /* words, wrapped */
    VIEW_FACT, /* a label and its words */
    VIEW_TABLE,
    VIEW_VERBATIM, /* never wrapped */
    VIEW_MORE,     /* what follows is for wide only; the words say what it is */
    VIEW_NEXT      /* a command to go on with */
};

/* One piece of the page; all that it points to lies in the answer's arena. */
struct myr_answer_view {
    enum view_kind kind;
    const char *label; /* of a fact; of a next command what it is for, or NULL */
    /* Of all kinds but a table. */
    struct myr_str text;
    const struct myr_value *list; /* of a table */
    const struct myr_answer_column *columns;
    uint32_t column_count;
    struct myr_answer_view *next;
};

/* The page for people; 'form' holds table or wide. */
void answer_page(const struct myr_answer *answer, const struct myr_answer_form *form,
                 struct myr_buf *buf);
