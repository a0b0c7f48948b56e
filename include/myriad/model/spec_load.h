/*
 * spec_load: a spec from its file, and the price list that goes with it.
 */
#pragma once

#include "myriad/model/design.h"
#include "myriad/model/spec.h"

/*
 * A price list for several specs. Whoever needs it first reads it, in the arena that it is given:
 * standard input and pipes have it once only.
 */
struct myr_price_file {
    const char *path; /* NULL: none */
    struct myr_str text;
    bool read;
};

/*
 * A whole spec from its file ("-": standard input), with the price list that it or 'prices' names;
 * 'prices' may be NULL.
 */
MYR_MUST_USE int myr_spec_load(struct myr_arena *arena, const struct myr_catalog *catalog,
                               const char *path, struct myr_price_file *prices,
                               struct myr_spec *ret, struct myr_err *err);
/*
 * Adds the prices of a list (CSV: part, price; currency and date where given) to the spec's own.
 * They come after what the spec itself says under prices: parts.
 */
MYR_MUST_USE int myr_spec_add_prices(struct myr_arena *arena, const struct myr_catalog *catalog,
                                     const char *file, struct myr_str text, struct myr_spec *spec,
                                     struct myr_err *err);
/* The files that the spec named and that were read with it; their names live as long as it. */
struct myr_named_files myr_spec_named_files(const struct myr_spec *spec);
/* The list that 'prices' names, or else the spec; nothing when neither does. */
MYR_MUST_USE int myr_spec_read_price_list(struct myr_arena *arena,
                                          const struct myr_catalog *catalog,
                                          struct myr_price_file *prices, struct myr_spec *spec,
                                          struct myr_err *err);
