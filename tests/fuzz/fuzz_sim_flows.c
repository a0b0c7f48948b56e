/* Our own flow lists, as workloads. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_trace("fuzz.csv", MYR_TRACE_FLOWS, data, size);
    return 0;
}
