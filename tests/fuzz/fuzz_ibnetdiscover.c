/* What ibnetdiscover prints, and netlists of simulators. */
#include "fuzz_site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(MYR_IMPORT_IBNETDISCOVER, "fabric.topo", data, size);
    return 0;
}
