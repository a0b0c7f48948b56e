/* The job file that an agent is sent: a command to run, or one clear line. */
#include "fuzz.h"
#include "myriad/agent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_err err = {};
    int rc = myr_agent_check(MYR_AGENT_JOB_FILE, (struct myr_str){(const char *)data, size}, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "job file");
    }
    return 0;
}
