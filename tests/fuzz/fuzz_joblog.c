/* Traces of jobs: rows in order, or one clear line; short ones are also replayed. */
#include "fuzz.h"
#include "myriad/sched.h"

enum { REPLAY_MAX = 6 };

static void replay(const struct myr_joblog *trace, bool preempt)
{
    struct myr_place_shape shape = {3, 8, 2, 4};
    struct myr_replay_options options = myr_replay_default(&shape);
    struct myr_replay_result result;
    struct myr_err err = {};
    options.policy.preempt = preempt;
    int rc = myr_replay(trace, &options, &result, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "jobs.csv:");
        return;
    }
    MYR_ASSERT(result.jobs == trace->jobs.count);
    MYR_ASSERT(result.wait_max_h >= result.wait_p50_h && result.wait_p50_h >= 0);
    MYR_ASSERT(result.leaf_span >= 1);
    myr_replay_result_done(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_joblog trace;
    struct myr_err err = {};
    int rc = myr_joblog_parse(&trace, "jobs.csv", (struct myr_str){(const char *)data, size}, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "jobs.csv:");
        return 0;
    }
    MYR_ASSERT(trace.jobs.count > 0 && trace.tenants > 0);
    for (size_t i = 0; i < trace.jobs.count; i++) {
        const struct myr_job_row *job = &trace.jobs.items[i];
        fuzz_note("%llu %llu %u %u", (unsigned long long)job->submit_s,
                  (unsigned long long)job->duration_s, job->gpus, job->tenant);
        MYR_ASSERT(job->gpus > 0 && job->duration_s <= UINT64_C(1) << 33 &&
                   job->tenant < trace.tenants);
        MYR_ASSERT(job->submit_s >= (i ? trace.jobs.items[i - 1].submit_s : 0));
    }
    if (trace.jobs.count <= REPLAY_MAX && size % 16 < 2) { /* now and then: it takes longer */
        replay(&trace, size % 2);
    }
    myr_joblog_done(&trace);
    return 0;
}
