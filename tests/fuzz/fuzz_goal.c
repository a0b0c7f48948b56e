/* GOAL schedules: operations and edges in range, or one clear line. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_trace("fuzz.goal", MYR_TRACE_GOAL, data, size);
    return 0;
}
