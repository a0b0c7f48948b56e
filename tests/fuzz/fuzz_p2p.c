/* Point-to-point lists. */
#include "fuzz_site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(MYR_IMPORT_P2P, "p2p.csv", data, size);
    return 0;
}
