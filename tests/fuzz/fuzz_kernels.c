/* Kernel sweeps: rows or one clear line; what was read, written again, reads the same. */
#include "fuzz_fit.h"

static const char file[] = "fuzz.csv";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    const struct myr_profiles *profiles = fuzz_profiles();
    struct myr_kernels kernels, again;
    struct myr_err err = {};
    struct myr_buf buf = {};
    myr_arena_init(&arena);
    struct myr_str text = {(const char *)data, size};
    int rc = myr_kernels_parse(&kernels, &arena, profiles, file, text, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else {
        for (uint32_t i = 0; i < kernels.count; i++) {
            double time =
                myr_kernel_predict(&kernels.items[i], kernels.device, profiles->constants);
            fuzz_note("%.6g", time);
            MYR_ASSERT(time >= 0 && time < 1e18);
        }
        myr_kernels_write(&kernels, &buf);
        fuzz_note_text("written", &buf);
        rc = myr_kernels_parse(&again, &arena, profiles, file, (struct myr_str){buf.data, buf.len},
                               &err);
        MYR_ASSERT(rc == MYR_OK && again.count == kernels.count);
        MYR_ASSERT(again.device == kernels.device);
        for (uint32_t i = 0; i < again.count; i++) {
            MYR_ASSERT(again.items[i].m == kernels.items[i].m);
            MYR_ASSERT(again.items[i].kind == kernels.items[i].kind);
        }
    }
    myr_buf_done(&buf);
    myr_arena_done(&arena);
    return 0;
}
