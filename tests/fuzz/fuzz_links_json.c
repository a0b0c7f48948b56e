/* Links of UFM and NetQ. */
#include "fuzz_site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(MYR_IMPORT_LINKS_JSON, "links.json", data, size);
    return 0;
}
