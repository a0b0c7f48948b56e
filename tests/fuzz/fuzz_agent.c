/*
 * What an agent reads beside job files: its state files, which somebody may have damaged, datagrams
 * of ranks and of other nodes, tokens. The first byte says which.
 */
#include "fuzz.h"
#include "myriad/agent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_err err = {};
    if (size == 0) {
        return 0;
    }
    enum myr_agent_text kind = (enum myr_agent_text)(data[0] % MYR_AGENT_TEXTS);
    int rc = myr_agent_check(kind, (struct myr_str){(const char *)data + 1, size - 1}, &err);
    fuzz_note("%d %s", rc, err.message);
    MYR_ASSERT(rc <= 0 && (rc == 0 || (err.code == rc && err.message[0])));
    for (const char *c = err.message; *c; c++) {
        MYR_ASSERT((unsigned char)*c >= 0x20 && *c != 0x7F);
    }
    return 0;
}
