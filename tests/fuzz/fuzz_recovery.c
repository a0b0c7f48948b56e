/* Rows of recovery data that users bring: refused, or fit to count with. */
#include "fuzz.h"
#include "myriad/fit/campaign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    struct myr_recovery recovery;
    struct myr_err err = {};
    struct myr_str text = {(const char *)data, size};
    myr_arena_init(&arena);
    int rc = myr_recovery_init(&recovery, &arena, &err);
    MYR_ASSERT(rc == MYR_OK);
    if (myr_recovery_add(&recovery, &arena, "recovery.yaml", text, &err) == MYR_OK) {
        for (double gpus = 1; gpus < 2e7; gpus *= 16) {
            for (int p = MYR_PRACTICE_COMMON; p <= MYR_PRACTICE_BEST; p++) {
                double seconds;
                rc = myr_recovery_seconds(&recovery, (enum myr_practice)p, MYR_FAULT_HANG, gpus,
                                          &seconds, &err);
                fuzz_note("%.6g", seconds);
                MYR_ASSERT(rc == MYR_OK && seconds >= 0 && seconds < 1e60);
                struct myr_renewal renewal = {.durable = {1e-9 * gpus, seconds, 1},
                                              .per_period = 1};
                renewal = myr_goodput_optimum(&renewal);
                double kept = myr_goodput_of(&renewal).goodput;
                MYR_ASSERT(kept >= 0 && kept <= 1);
            }
        }
    } else {
        fuzz_note_error(&err);
        MYR_ASSERT(err.message[0] != '\0');
    }
    myr_recovery_done(&recovery);
    myr_arena_done(&arena);
    return 0;
}
