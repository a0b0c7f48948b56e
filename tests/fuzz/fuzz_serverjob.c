/* The job file as the server reads it: numbers within their limits, or one clear line. */
#include <string.h>

#include "fuzz.h"
#include "myriad/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_err err = {};
    struct myr_jobfile file;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_jobfile_how how = {.file = "job", .gpus_per_node = 8};
    struct myr_str text = {(const char *)data, size};
    int rc = myr_jobfile_read(&arena, &how, text, &file, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "job");
        return 0;
    }
    fuzz_note("%s of %s: %u GPUs, %lld s, array %u, after %u, priority %d, %.6g h", file.name,
              file.tenant, (unsigned)file.gpus, (long long)file.time_limit,
              (unsigned)file.array.count, (unsigned)file.after.count, (int)file.priority,
              file.twin.hours);
    MYR_ASSERT(file.gpus > 0 && strlen(file.name) > 0 && strlen(file.tenant) > 0);
    MYR_ASSERT(file.time_limit >= 0 && file.array.count <= MYR_JOB_ARRAY_MAX);
    MYR_ASSERT(file.after.count <= 16 && file.command.argv[file.command.count] == NULL);
    /* Whoever launches it takes what was queued. */
    rc = myr_jobfile_read(&arena, MYR_JOBFILE_TAKEN("job"), text, &file, &err);
    MYR_ASSERT(rc == MYR_OK);
    MYR_ASSERT(file.priority >= -1000 && file.priority <= 1000);
    MYR_ASSERT(file.twin.hours > 0 && file.twin.step_s > 0);
    return 0;
}
