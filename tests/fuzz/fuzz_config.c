/* myriad.yaml, with the list of nodes in it: within its limits, or one clear line. */
#include "fuzz.h"
#include "myriad/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_err err = {};
    int rc = myr_server_check("config", (struct myr_str){(const char *)data, size}, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "config");
    }
    return 0;
}
