/* HPCC's flow lists and topologies: the first byte says which. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == 'f') {
        fuzz_trace("fuzz.txt", MYR_TRACE_HPCC, data + 1, size - 1);
    } else if (size > 0) {
        fuzz_shape("fuzz.txt", MYR_SHAPE_HPCC, data + 1, size - 1);
    }
    return 0;
}
