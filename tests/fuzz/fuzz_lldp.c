/* LLDP as lldpcli prints it. */
#include "fuzz_site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(MYR_IMPORT_LLDP, "leaf-p0-g0-r0.json", data, size);
    return 0;
}
