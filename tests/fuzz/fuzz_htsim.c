/* htsim's connection matrices and topologies: the first byte says which. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == 'c') {
        fuzz_trace("fuzz.cm", MYR_TRACE_HTSIM, data + 1, size - 1);
    } else if (size > 0) {
        fuzz_shape("fuzz.topo", MYR_SHAPE_HTSIM, data + 1, size - 1);
    }
    return 0;
}
