/* Trees of tenants: parents before children and every job with a tenant, or one clear line. */
#include "fuzz.h"
#include "myriad/sched.h"

static const char file[] = "tenants.yaml";
static const char jobs[] = "submit_s,duration_s,num_gpus,vc\n0,9,1,a\n1,9,8,b\n2,9,24,c\n3,9,1,a\n";

static void replay(struct myr_joblog *trace, const struct myr_tenant *tenants, bool preempt)
{
    struct myr_place_shape shape = {12, 8, 2, 4};
    struct myr_replay_options options = myr_replay_default(&shape);
    struct myr_replay_result result;
    struct myr_err err = {};
    options.policy.preempt = preempt;
    options.tenants = tenants;
    int rc = myr_replay(trace, &options, &result, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, ""); /* more cells than the cluster has */
        return;
    }
    fuzz_note("%.6g", result.multinode_wait_mean_h);
    MYR_ASSERT(result.jobs == trace->jobs.count);
    myr_replay_result_done(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_tenant_tree tree;
    struct myr_joblog trace;
    struct myr_tenant *tenants;
    struct myr_err err = {};
    myr_tenant_tree_init(&tree);
    int rc = myr_tenant_tree_parse(&tree, file, (struct myr_str){(const char *)data, size}, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        myr_tenant_tree_done(&tree);
        return 0;
    }
    rc = myr_joblog_parse(&trace, "jobs.csv", MYR_STR(jobs), &err);
    MYR_ASSERT(rc == MYR_OK);
    rc = myr_tenant_tree_join(&tree, &trace, &tenants, &err);
    MYR_ASSERT(rc == MYR_OK);
    for (uint32_t t = 0; t < trace.tenants; t++) {
        fuzz_note("%u %u", tenants[t].parent, tenants[t].weight);
        MYR_ASSERT(tenants[t].parent == MYR_NONE || tenants[t].parent < t);
        MYR_ASSERT(tenants[t].weight > 0);
    }
    for (size_t i = 0; i < trace.jobs.count; i++) {
        const char *name = trace.tenant_names[trace.jobs.items[i].tenant];
        MYR_ASSERT(name[0] == "abca"[i] && name[1] == '\0');
    }
    replay(&trace, tenants, size % 2);
    myr_joblog_done(&trace);
    myr_tenant_tree_done(&tree);
    return 0;
}
