/* PTM's dot files. */
#include "fuzz_site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(MYR_IMPORT_PTM, "topology.dot", data, size);
    return 0;
}
