/* The job file as the server reads it: numbers within their limits, or one clear line. */
#include <string.h>

#include "fuzz.h"
#include "myriad/server/jobfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_err err = {};
    struct myr_jobfile file;
    int rc = myr_jobfile_read("job", (struct myr_str){(const char *)data, size}, 8, &file, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "job");
        return 0;
    }
    fuzz_note("%s of %s: %u GPUs, %lld s, array %u, after %u, priority %d, %.6g h", file.name,
              file.tenant, (unsigned)file.gpus, (long long)file.time_limit_s,
              (unsigned)file.array_count, (unsigned)file.after_count, (int)file.priority,
              file.twin_hours);
    MYR_ASSERT(file.gpus > 0 && strlen(file.name) > 0 && strlen(file.tenant) > 0);
    MYR_ASSERT(file.time_limit_s >= 0 && file.array_count <= MYR_JOB_ARRAY_MAX);
    MYR_ASSERT(file.after_count <= MYR_ARRAY_COUNT(file.after));
    MYR_ASSERT(file.priority >= -1000 && file.priority <= 1000);
    MYR_ASSERT(file.twin_hours > 0 && file.twin_step_s > 0);
    return 0;
}
