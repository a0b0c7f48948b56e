#include <stdlib.h>

#include "sched.h"

int cli_sched_own(const struct cli_sched_question *question, struct myr_joblog *trace,
                  struct myr_tenant **ret, struct myr_err *err)
{
    struct myr_tenant_tree tree;
    myr_tenant_tree_init(&tree);
    int r = question->tenants ? myr_tenant_tree_read(&tree, question->tenants, err) : MYR_OK;
    for (uint32_t i = 0; i < question->own.count && r == MYR_OK; i++) {
        r = myr_tenant_tree_own(&tree, question->own.items[i], err);
    }
    r = r < 0 ? r : myr_tenant_tree_join(&tree, trace, ret, err);
    myr_tenant_tree_done(&tree);
    return r;
}

/* The next tenant in the order of the tree: children behind their parent; MYR_NONE: no more. */
static uint32_t next_in_tree(const struct myr_tenant *tenants, uint32_t count, uint32_t last)
{
    /* Below it, else behind it, else behind those above it. */
    for (uint32_t t = last + 1; t < count; t++) {
        if (tenants[t].parent == last) {
            return t;
        }
    }
    for (uint32_t at = last; at != MYR_NONE; at = tenants[at].parent) {
        for (uint32_t t = at + 1; t < count; t++) {
            if (tenants[t].parent == tenants[at].parent) {
                return t;
            }
        }
    }
    return MYR_NONE;
}

/* What the jobs of one tenant had to wait. */
struct waits {
    uint64_t jobs;
    double sum_h, most_h;
};

static void put_tenant(const struct myr_joblog *trace, const struct myr_tenant *tenants,
                       const struct myr_place_shape *shape, uint32_t t, const struct waits *waits,
                       struct myr_json *json)
{
    myr_json_object(json, NULL);
    myr_json_text(json, "name", trace->tenant_names[t]);
    if (tenants[t].parent != MYR_NONE) {
        myr_json_text(json, "parent", trace->tenant_names[tenants[t].parent]);
    }
    myr_json_u64(json, "weight", tenants[t].weight);
    myr_json_u64(json, "own_nodes", myr_tenant_nodes(&tenants[t], shape));
    myr_json_u64(json, "jobs", waits->jobs);
    myr_json_object(json, "wait_h");
    myr_json_double(json, "mean", waits->jobs ? waits->sum_h / (double)waits->jobs : 0, 4);
    myr_json_double(json, "max", waits->most_h, 4);
    myr_json_end(json);
    myr_json_end(json);
}

/* Tenants below others are indented. */
static void put_tenant_text(const struct myr_joblog *trace, const struct myr_tenant *tenants,
                            const struct myr_place_shape *shape, uint32_t t,
                            const struct waits *waits, struct myr_buf *text)
{
    int indent = 0;
    for (uint32_t a = tenants[t].parent; a != MYR_NONE; a = tenants[a].parent) {
        indent += 2;
    }
    myr_buf_printf(text, "%*s%-*.*s %6u %10llu %10llu %12.3f %12.1f\n", indent, "", 20 - indent,
                   20 - indent, trace->tenant_names[t], tenants[t].weight,
                   (unsigned long long)myr_tenant_nodes(&tenants[t], shape),
                   (unsigned long long)waits->jobs,
                   waits->jobs ? waits->sum_h / (double)waits->jobs : 0, waits->most_h);
}

void cli_sched_tenants(const struct myr_joblog *trace, const struct myr_tenant *tenants,
                       const struct myr_place_shape *shape, const struct myr_replay_result *result,
                       struct myr_json *json, struct myr_buf *text)
{
    struct waits *waits = myr_xcalloc(trace->tenants, sizeof(*waits));
    for (size_t i = 0; i < result->job_rows.count; i++) {
        struct waits *w = &waits[result->submitted[i].tenant];
        double wait_h = (double)result->job_rows.items[i].wait_s / 3600;
        w->jobs++;
        w->sum_h += wait_h;
        w->most_h = wait_h > w->most_h ? wait_h : w->most_h;
    }
    if (json) {
        myr_json_list(json, "tenants");
    } else {
        myr_buf_printf(text, "\n%-20s %6s %10s %10s %12s %12s\n", "TENANT", "WEIGHT", "OWN NODES",
                       "JOBS", "WAIT h MEAN", "WAIT h MAX");
    }
    for (uint32_t t = 0; t != MYR_NONE; t = next_in_tree(tenants, trace->tenants, t)) {
        if (json) {
            put_tenant(trace, tenants, shape, t, &waits[t], json);
        } else {
            put_tenant_text(trace, tenants, shape, t, &waits[t], text);
        }
    }
    if (json) {
        myr_json_end(json);
    }
    free(waits);
}
