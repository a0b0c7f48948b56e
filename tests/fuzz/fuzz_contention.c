/*
 * Contention tables: any bytes give one clear line, or a table that answers every question with a
 * slowdown of at least 1.
 */
#include "fuzz.h"
#include "myriad/sim/contention.h"

static const char file[] = "contention.json";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_contention table;
    struct myr_err err;
    int rc = myr_contention_parse(file, (struct myr_str){(const char *)data, size}, &table, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        return 0;
    }
    for (uint32_t p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
        for (uint32_t level = 0; level < MYR_CONTENTION_LEVELS; level++) {
            for (uint32_t i = 0; i <= 4; i++) {
                double slow = myr_contention_lookup(&table, (enum myr_contention_pattern)p,
                                                    (enum myr_contention_level)level, i / 4.0);
                fuzz_note("%.6g", slow);
                MYR_ASSERT(slow >= 1 && slow <= 1e9);
            }
        }
    }
    return 0;
}
