/* Results that 'sim compare' reads: one line about the file, or figures that equal themselves. */
#include "fuzz.h"
#include "myriad/sim/compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char file[] = "result";
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_results_done) struct myr_results results = {};
    struct myr_results_difference found;
    struct myr_err err = {};
    myr_arena_init(&arena);
    struct myr_str text = {size ? (const char *)data : "", size};
    int rc = myr_results_parse(&results, &arena, file, text, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        return 0;
    }
    rc = myr_results_compare(&found, &arena, &results, &results, 0, &err);
    fuzz_note("%u figures", (unsigned)found.count);
    for (uint32_t i = 0; i < found.count; i++) {
        fuzz_note("%u %s %s %.12g", (unsigned)found.pairs[i].group, found.pairs[i].of,
                  found.pairs[i].name, found.pairs[i].a);
    }
    MYR_ASSERT(rc == MYR_OK && found.count == results.figures.count);
    MYR_ASSERT(found.only_a == 0 && found.only_b == 0);
    return 0;
}
