/* SONiC's 'show lldp table'. */
#include "fuzz_site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(MYR_IMPORT_SONIC_LLDP, "leaf-p0-g0-r0.txt", data, size);
    return 0;
}
