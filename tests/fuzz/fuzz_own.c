/* Cells of tenants from the command line, one a line: a sound tree, or one clear line. */
#include <stdlib.h>

#include "fuzz.h"
#include "myriad/sched.h"

static const char jobs[] = "submit_s,duration_s,num_gpus,vc\n0,9,1,a\n1,9,8,b\n2,9,24,c\n3,9,1,a\n";

static int read_lines(struct myr_tenant_tree *tree, char *text, struct myr_err *err)
{
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end ? (*end = '\0', 1) : 0;
        int rc = myr_tenant_tree_own(tree, line, err);
        if (rc < 0) {
            return rc;
        }
    }
    return MYR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_tenant_tree tree;
    struct myr_joblog trace;
    struct myr_tenant *tenants;
    struct myr_err err = {};
    char *text = myr_xcalloc(size + 1, 1);
    memcpy(text, data, size);
    myr_tenant_tree_init(&tree);
    int rc = read_lines(&tree, text, &err);
    if (rc == MYR_OK) {
        rc = myr_joblog_parse(&trace, "jobs.csv", MYR_STR(jobs), &err);
        MYR_ASSERT(rc == MYR_OK);
        rc = myr_tenant_tree_join(&tree, &trace, &tenants, &err);
        for (uint32_t t = 0; rc == MYR_OK && t < trace.tenants; t++) {
            fuzz_note("%u %u", tenants[t].parent, tenants[t].weight);
            MYR_ASSERT(tenants[t].parent == MYR_NONE || tenants[t].parent < t);
            MYR_ASSERT(tenants[t].weight > 0 && tenants[t].weight <= MYR_TENANT_WEIGHT_MAX);
        }
        myr_joblog_done(&trace);
    }
    if (rc < 0) {
        fuzz_check_error(&err, rc, "--own");
    }
    myr_tenant_tree_done(&tree);
    free(text);
    return 0;
}
