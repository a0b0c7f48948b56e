/* Price lists: any bytes give one clear line, or prices of parts that are there. */
#include "fuzz_plan.h"

static const char file[] = "fuzz.csv";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct myr_catalog *catalog = fuzz_catalog();
    struct myr_arena arena;
    struct myr_spec spec = {};
    struct myr_err err;
    myr_arena_init(&arena);
    int rc = myr_spec_add_prices(&arena, catalog, file, (struct myr_str){(const char *)data, size},
                                 &spec, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        MYR_ASSERT(spec.own_prices.count == 0);
    }
    for (size_t i = 0; i < spec.own_prices.count; i++) {
        fuzz_note("%u %lld", spec.own_prices.items[i].part,
                  (long long)spec.own_prices.items[i].cents);
        MYR_ASSERT(spec.own_prices.items[i].part < catalog->parts.count);
        MYR_ASSERT(spec.own_prices.items[i].cents >= 0);
    }
    myr_spec_done(&spec);
    myr_arena_done(&arena);
    return 0;
}
