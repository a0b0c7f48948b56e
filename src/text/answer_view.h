/* answer_view: the pieces of an answer's page. Private to answer*.c. */
#pragma once

#include "myriad/text/answer.h"

enum view_kind {
    VIEW_HEADING,
    VIEW_PARA,
    VIEW_FACT,
    VIEW_TABLE,
    VIEW_VERBATIM,
    VIEW_MORE,
    VIEW_NEXT
};

struct myr_answer_view {
    enum view_kind kind;
    const char *label; /* of a fact */
    struct myr_str text;
    const struct myr_value *list; /* of a table */
    const struct myr_answer_column *columns;
    uint32_t column_count;
    struct myr_answer_view *next;
};

/* The page for people; 'form' holds table or wide. */
void answer_page(const struct myr_answer *answer, const struct myr_answer_form *form,
                 struct myr_buf *buf);
