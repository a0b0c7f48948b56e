/*
 * Chakra traces: the first byte says whether one file stands for three ranks, or two files (cut at
 * the place that the second byte says) are those of two.
 */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char file[] = "fuzz.0.et";
    struct myr_trace trace;
    struct myr_err err = {};
    if (size < 2) {
        return 0;
    }
    bool several = data[0] & 1;
    struct myr_chakra_options options = {several ? 0 : 3, data[0] & 2 ? 1e12 : 0, data[0] & 4};
    const char *text = (const char *)data + 2;
    size_t len = size - 2, cut = several ? len * data[1] / 255 : len;
    struct myr_trace_file files[] = {{file, {text, cut}}, {file, {text + cut, len - cut}}};
    int rc = myr_trace_read_chakra(files, several ? 2 : 1, &options, &trace, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        return 0;
    }
    MYR_ASSERT(trace.ranks == (several ? 2 : 3));
    fuzz_check_trace(&trace);
    myr_trace_done(&trace);
    return 0;
}
