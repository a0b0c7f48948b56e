/* NetBox's list of cables. */
#include "fuzz_site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(MYR_IMPORT_NETBOX, "cables.csv", data, size);
    return 0;
}
