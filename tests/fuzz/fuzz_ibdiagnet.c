/* ibdiagnet2.net_dump, .lst and .cables, and .topo files. */
#include "fuzz_site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(MYR_IMPORT_IBDIAGNET, "dump.txt", data, size);
    return 0;
}
