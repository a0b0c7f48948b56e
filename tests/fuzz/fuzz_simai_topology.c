/* SimAI's topologies: servers on rails or leaves of a Clos, or one clear line. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_shape("fuzz.txt", MYR_SHAPE_SIMAI, data, size);
    return 0;
}
