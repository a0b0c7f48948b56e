/* Parts of a replicated state, as they come back from etcd: taken whole, or one clear line. */
#include "fuzz.h"
#include "mute.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_err err = {};
    int rc = myr_mute_segment((struct myr_str){(const char *)data, size}, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "");
    }
    return 0;
}
