/* States of a cluster: no GPU twice, or one clear line. */
#include "fuzz.h"
#include "myriad/sched/state.h"

static const char file[] = "fuzz.csv";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct myr_place_shape shape = {64, 8, 8, 32};
    struct myr_placer *placer = myr_placer_create(&shape);
    struct myr_sched_state state;
    struct myr_err err = {};
    uint64_t taken[64] = {};
    int rc = myr_sched_state_parse(&state, placer, file, (struct myr_str){(const char *)data, size},
                                   &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    }
    for (size_t i = 0; rc == MYR_OK && i < state.jobs.count; i++) {
        const struct myr_gang *gang = state.jobs.items[i].gang;
        for (uint32_t k = 0; k < gang->count; k++) {
            fuzz_note("%zu %u %llx", i, gang->shares[k].node,
                      (unsigned long long)gang->shares[k].gpus);
            MYR_ASSERT((taken[gang->shares[k].node] & gang->shares[k].gpus) == 0);
            taken[gang->shares[k].node] |= gang->shares[k].gpus;
        }
    }
    if (rc == MYR_OK) {
        myr_sched_state_done(&state);
    }
    myr_placer_free(placer);
    return 0;
}
