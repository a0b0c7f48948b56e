/* member: a number of whatever width in a struct that only its row knows. Private. */
#pragma once

#include <string.h>

#include "myriad/record.h"

static inline int64_t member_get(uint8_t kind, uint16_t size, const void *at)
{
    uint32_t narrow;
    int64_t wide;
    if (size == 1) {
        return *(const uint8_t *)at; /* a flag, a word */
    }
    if (size == sizeof(wide)) {
        memcpy(&wide, at, sizeof(wide));
        return wide;
    }
    memcpy(&narrow, at, sizeof(narrow));
    return kind == MYR_FIELD_I32 ? (int32_t)narrow : (int64_t)narrow;
}

static inline void member_set(uint8_t kind, uint16_t size, void *at, int64_t value)
{
    uint32_t narrow = (uint32_t)value;
    (void)kind;
    if (size == 1) {
        *(uint8_t *)at = (uint8_t)value;
    } else if (size == sizeof(value)) {
        memcpy(at, &value, sizeof(value));
    } else {
        memcpy(at, &narrow, sizeof(narrow));
    }
}

/* An item of the list, as a row of its own. */
static inline struct myr_row member_of_list(const struct myr_row *list)
{
    static const uint16_t sizes[MYR_FIELD_KINDS] = {
        [MYR_FIELD_FLAG] = sizeof(bool),         [MYR_FIELD_U32] = sizeof(uint32_t),
        [MYR_FIELD_U64] = sizeof(uint64_t),      [MYR_FIELD_I32] = sizeof(int32_t),
        [MYR_FIELD_I64] = sizeof(int64_t),       [MYR_FIELD_REAL] = sizeof(double),
        [MYR_FIELD_TEXT] = sizeof(const char *), [MYR_FIELD_RAW] = sizeof(struct myr_str),
    };
    struct myr_row item = *list;
    item.kind = list->item;
    item.high = list->item_high;
    item.null = false;
    item.size = list->item == MYR_FIELD_PART ? (uint16_t)list->of->size : sizes[list->item];
    MYR_ASSERT(item.size > 0);
    return item;
}
