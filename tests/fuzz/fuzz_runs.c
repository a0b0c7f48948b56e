/* Measured runs: each row has a sane prediction or a reason, whatever its fields hold. */
#include "fuzz_fit.h"

static const char file[] = "fuzz.csv";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    const struct myr_profiles *profiles = fuzz_profiles();
    struct myr_runs runs;
    struct myr_validation result;
    struct myr_err err = {};
    myr_arena_init(&arena);
    struct myr_str text = {(const char *)data, size};
    int rc = myr_runs_parse(&runs, &arena, profiles, file, text, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else if (runs.count < 8) {
        myr_runs_validate(&runs, profiles, &arena, &result);
        for (uint32_t i = 0; i < runs.count; i++) {
            double time = result.rows[i].predicted_s;
            fuzz_note("%.6g %s", time, runs.items[i].refused ? runs.items[i].refused : "");
            MYR_ASSERT(runs.items[i].refused ? time == 0 : time > 0 && time < 1e30);
        }
    }
    myr_arena_done(&arena);
    return 0;
}
