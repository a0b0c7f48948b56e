/*
 * Bodies of requests, every call that takes one, every role: an answer or one clear line, and the
 * server goes on. The first byte is the call, the second the role and what its path names.
 */
#include "fuzz_mute.h"

enum { JOBS_MAX = 400, RUNS_MAX = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"n1", "0", "1", "none", "%00", "4294967296", "", "r0"};
    static uint32_t runs;
    struct myr_err err = {};
    if (size < 2) {
        return 0;
    }
    if (!mute) {
        begin();
    }
    struct myr_mute_request request = {.call = data[0] % myr_mute_calls(),
                                       .role = data[1] % 5U,
                                       .name = names[(data[1] >> 4) % MYR_ARRAY_COUNT(names)],
                                       .body = {(const char *)data + 2, size - 2}};
    unsigned status = myr_mute_post(mute, &request, &err);
    fuzz_note("%u %s", status, err.message[0] == '/' ? "of a file" : err.message);
    MYR_ASSERT(status == 200 || (status >= 400 && status < 600));
    MYR_ASSERT(status != 500); /* an error of ours, not of who asks */
    MYR_ASSERT(status == 200 || err.message[0]);
    for (const char *c = err.message; *c; c++) {
        MYR_ASSERT((unsigned char)*c >= 0x20 && *c != 0x7F);
    }
    if (myr_mute_jobs(mute) > JOBS_MAX || ++runs % RUNS_MAX == 0) {
        end();
    }
    return 0;
}
