/* What ibnetdiscover -p prints. */
#include "fuzz_site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(MYR_IMPORT_IB_LINES, "ports.txt", data, size);
    return 0;
}
