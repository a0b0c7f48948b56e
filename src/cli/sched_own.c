#include <stdio.h>

#include "sched.h"

/* "4n,2g,1p": nodes, groups, pods. */
static bool parse_cells(struct myr_str text, uint32_t *ret)
{
    static const char letters[MYR_CELL_LEVELS] = {
        [MYR_CELL_NODE] = 'n', [MYR_CELL_GROUP] = 'g', [MYR_CELL_POD] = 'p'};
    while (text.len) {
        const char *comma = memchr(text.data, ',', text.len);
        struct myr_str item = {text.data, comma ? (size_t)(comma - text.data) : text.len};
        uint64_t count;
        uint32_t level = 0;
        while (level < MYR_CELL_LEVELS &&
               (item.len < 2 || item.data[item.len - 1] != letters[level])) {
            level++;
        }
        if (level == MYR_CELL_LEVELS ||
            !myr_str_to_u64((struct myr_str){item.data, item.len - 1}, &count) || count > 1000000) {
            return false;
        }
        ret[level] = (uint32_t)count;
        text.data += item.len + (comma ? 1 : 0);
        text.len -= item.len + (comma ? 1 : 0);
        if (comma && text.len == 0) {
            return false;
        }
    }
    return true;
}

static int own_one(const struct myr_joblog *trace, const char *text, struct myr_tenant *tenants,
                   struct myr_err *err)
{
    const char *equals = strrchr(text, '=');
    if (!equals) {
        return myr_err_set(err, MYR_EINVAL, "--own '%.80s': TENANT=CELLS is expected", text);
    }
    struct myr_str name = {text, (size_t)(equals - text)};
    for (uint32_t t = 0; t < trace->tenants; t++) {
        if (!myr_str_eq(name, myr_str_from(trace->tenant_names[t]))) {
            continue;
        }
        if (equals[1] == '\0' || !parse_cells(myr_str_from(equals + 1), tenants[t].cells)) {
            return myr_err_set(err, MYR_EINVAL,
                               "--own '%.80s': cells are numbers of n (nodes), g (leaf groups) or "
                               "p (pods), such as 4n,2g",
                               text);
        }
        return MYR_OK;
    }
    char near[160] = "";
    myr_str_nearest(name, trace->tenant_names, trace->tenants, near, sizeof(near));
    int code = myr_err_set(err, MYR_ENOENT, "--own '%.80s': the trace has no such tenant", text);
    if (near[0]) {
        myr_err_hint(err, "did you mean %s?", near);
    }
    return code;
}

int cli_sched_own(const struct cli_sched_question *question, const struct myr_joblog *trace,
                  struct myr_arena *arena, struct myr_tenant **ret, struct myr_err *err)
{
    struct myr_tenant *tenants = MYR_ARENA_NEW(arena, struct myr_tenant, trace->tenants);
    for (uint32_t t = 0; t < trace->tenants; t++) {
        tenants[t] = (struct myr_tenant){.parent = MYR_NONE, .weight = 1};
    }
    for (uint32_t i = 0; i < question->own.count; i++) {
        int r = own_one(trace, question->own.items[i], tenants, err);
        if (r < 0) {
            return r;
        }
    }
    *ret = tenants;
    return MYR_OK;
}

void cli_sched_tenants(const struct myr_joblog *trace, const struct myr_tenant *tenants,
                       const struct myr_place_shape *shape, const struct myr_replay_result *result,
                       struct myr_json *json, struct myr_buf *text)
{
    if (json) {
        myr_json_list(json, "tenants");
    } else {
        myr_buf_printf(text, "\n%-20s %10s %10s %12s %12s\n", "TENANT", "OWN NODES", "JOBS",
                       "WAIT h MEAN", "WAIT h MAX");
    }
    for (uint32_t t = 0; t < trace->tenants; t++) {
        const uint32_t *cells = tenants[t].cells;
        uint64_t jobs = 0, own = cells[MYR_CELL_NODE] +
                                 (uint64_t)cells[MYR_CELL_GROUP] * shape->group_nodes +
                                 (uint64_t)cells[MYR_CELL_POD] * shape->pod_nodes;
        double sum = 0, most = 0;
        for (size_t i = 0; i < result->job_rows.count; i++) {
            double wait_h = (double)result->job_rows.items[i].wait_s / 3600;
            if (result->job_rows.items[i].tenant == t) {
                jobs++;
                sum += wait_h;
                most = wait_h > most ? wait_h : most;
            }
        }
        double mean = jobs ? sum / (double)jobs : 0;
        if (!json) {
            myr_buf_printf(text, "%-20.20s %10llu %10llu %12.3f %12.1f\n", trace->tenant_names[t],
                           (unsigned long long)own, (unsigned long long)jobs, mean, most);
            continue;
        }
        myr_json_object(json, NULL);
        myr_json_text(json, "name", trace->tenant_names[t]);
        myr_json_u64(json, "own_nodes", own);
        myr_json_u64(json, "jobs", jobs);
        myr_json_object(json, "wait_h");
        myr_json_double(json, "mean", mean, 4);
        myr_json_double(json, "max", most, 4);
        myr_json_end(json);
        myr_json_end(json);
    }
    if (json) {
        myr_json_end(json);
    }
}
