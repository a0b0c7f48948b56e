/*
 * fields: keys of a YAML map as rows of a table: name, unit, where it goes, what it may be.
 *
 * The same rows read and write, so that what was read can be written and read back the same. Whole
 * numbers behind the reader: a time in whatever unit becomes milliseconds.
 */
#pragma once

#include "myriad/text/doc.h"
#include "myriad/twin/scenario.h"

enum field_unit {
    FIELD_U32,
    FIELD_U64,
    FIELD_I32,
    FIELD_S,       /* seconds to int64_t milliseconds */
    FIELD_MIN,     /* minutes */
    FIELD_H,       /* hours */
    FIELD_WHOLE_S, /* seconds to int64_t seconds */
    FIELD_PER_DAY, /* so many a day, to the int64_t milliseconds between two; 0: never */
    FIELD_CHOICE,  /* uint32_t */
};

struct field {
    const char *key;
    enum field_unit unit;
    size_t at;                /* offset in the struct */
    double min, max;          /* in the unit of the file */
    const char *const *names; /* choice */
    uint32_t name_count;
};

/* Rows: a number within its limits, and one of a list of words. */
#define ROW(key, unit, at, min, max)               \
    {                                              \
        (key), (unit), (at), (min), (max), NULL, 0 \
    }
#define CHOICE(key, at, list)                                          \
    {                                                                  \
        (key), FIELD_CHOICE, (at), 0, 0, (list), MYR_ARRAY_COUNT(list) \
    }

/* Reads the keys that are there; unknown ones, beside 'others', are errors. 'map' may be NULL. */
MYR_MUST_USE int scene_read(const struct myr_doc *map, const char *what, const struct field *rows,
                            uint32_t count, const char *const *others, uint32_t other_count,
                            void *ret, struct myr_err *err);
/* "key: value, key: value". */
void scene_write(const struct field *rows, uint32_t count, const void *from, struct myr_buf *buf);

/* scenario_jobs.c */
MYR_MUST_USE int scene_read_jobs(const struct myr_doc *doc, struct myr_scenario *s,
                                 struct myr_err *err);
void scene_write_group(struct myr_buf *buf, const struct myr_scenario_jobs *group);
