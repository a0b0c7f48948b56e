/* parts: the kinds of parts as tables, one row a field; what the reader of a catalogue needs. */
#pragma once

#include "fields.h"
#include "myriad/model/catalog.h"

/* Read apart from the struct, because they shape the catalogue rather than the part. */
struct part_extra {
    const struct myr_doc *aliases, *lengths, *nics;
};

/* A kind of part: where it stands in a file, what it is called, and its own keys. */
struct part_kind {
    const char *section; /* in a catalogue file */
    const char *name;    /* one of them, for messages */
    const struct field *fields;
    uint32_t field_count;
};

extern const struct part_kind part_kinds[MYR_PART_KIND_COUNT];

/* A part with what a file need not say. */
struct myr_part part_defaults(enum myr_part_kind kind);
/* The fields that all kinds have, and those that are read apart. */
struct field_table part_common_table(struct myr_part *part);
struct field_table part_extra_table(enum myr_part_kind kind, struct part_extra *extra);
/* What later code divides by or points through must be there: the first that is not, or NULL. */
const char *part_missing(const struct myr_part *part);
