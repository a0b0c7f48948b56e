/* SimAI workloads: layers become collectives and computing, or one clear line. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_trace("fuzz.txt", MYR_TRACE_SIMAI, data, size);
    return 0;
}
