/* Groups of jobs of a scenario: sizes, hours, when they arrive. */
#include "fields.h"
#include "myriad/text/amount.h"

static const char *const restart_names[] = {"strict", "epoch"};
static const char *const yes_names[] = {"false", "true"};
static const char *const within_names[] = {"any", "leaf", "pod"};

#define JOB(field) offsetof(struct myr_scenario_jobs, field)

static const struct field job_rows[] = {
    ROW("count", FIELD_U32, JOB(count), 1, MYR_SCENARIO_JOBS_MAX),
    ROW("interval_s", FIELD_S, JOB(interval_ms), 0, 1e6),
    ROW("stall_s", FIELD_S, JOB(stall_ms), 0, 1e5),
    ROW("limit_s", FIELD_WHOLE_S, JOB(limit_s), 0, 1e9),
    CHOICE("restart", JOB(restart), restart_names),
    CHOICE("service", JOB(service), yes_names),
    ROW("retries", FIELD_U32, JOB(retries), 0, MYR_JOB_RETRIES_MAX),
    ROW("lease_s", FIELD_U32, JOB(lease_s), 1, MYR_LEASE_S_MAX),
    ROW("tenant", FIELD_U32, JOB(tenant), 0, 9999),
    ROW("priority", FIELD_I32, JOB(priority), -MYR_PRIORITY_MAX, MYR_PRIORITY_MAX),
    ROW("cancel_ppm", FIELD_U32, JOB(cancel_ppm), 0, 1e6),
    ROW("after_ppm", FIELD_U32, JOB(after_ppm), 0, 1e6),
    ROW("late_s", FIELD_S, JOB(late_ms), 0, 86400),
    CHOICE("fixed", JOB(fixed), yes_names),
    ROW("tp", FIELD_U32, JOB(tp), 0, 4096),
    ROW("pp", FIELD_U32, JOB(pp), 0, 4096),
    CHOICE("within", JOB(within), within_names),
    ROW("leaf_max", FIELD_U32, JOB(leaf_max), 0, 1000000),
    ROW("least_percent", FIELD_U32, JOB(least_percent), 0, 100),
    ROW("held_ppm", FIELD_U32, JOB(held_ppm), 0, 1e6),
    ROW("date_ppm", FIELD_U32, JOB(date_ppm), 0, 1e6),
};

/* ---- lists of numbers ---- */

static int read_numbers(const struct myr_doc *list, const char *what, double min, double max,
                        uint32_t least, uint32_t most, double *ret, uint32_t *ret_count,
                        struct myr_err *err)
{
    int rc = myr_doc_expect(list, MYR_DOC_LIST, what, err);
    if (rc < 0) {
        return rc;
    }
    if (list->count < least || list->count > most) {
        return myr_doc_error(err, list, MYR_EINVAL, "'%s' has %s, %u to %u are expected", what,
                             MYR_COUNT(list->count, "number"), least, most);
    }
    for (uint32_t i = 0; i < list->count && rc == MYR_OK; i++) {
        rc = myr_doc_double(list->items[i], what, min, max, &ret[i], err);
    }
    *ret_count = list->count;
    return rc;
}

/* ---- jobs ---- */

static int read_sizes(const struct myr_doc *map, struct myr_scenario_jobs *ret,
                      const struct myr_scenario *s, struct myr_err *err)
{
    const struct myr_doc *gpus;
    uint64_t most = (uint64_t)s->shape.nodes * s->shape.gpus_per_node, value;
    int rc = myr_doc_need(map, "jobs", "gpus", &gpus, err);
    if (rc < 0) {
        return rc;
    }
    if (gpus->kind == MYR_DOC_SCALAR) {
        rc = myr_doc_u64(gpus, "gpus", 1, most, &value, err);
        ret->sizes[0] = rc == MYR_OK ? (uint32_t)value : 0;
        ret->parts[0] = ret->size_count = 1;
        return rc;
    }
    rc = myr_doc_expect(gpus, MYR_DOC_MAP, "gpus", err);
    if (rc < 0) {
        return rc;
    }
    if (gpus->count == 0 || gpus->count > MYR_SCENARIO_SIZES_MAX) {
        return myr_doc_error(err, gpus, MYR_EINVAL, "'gpus' has %u sizes, 1 to %d are expected",
                             gpus->count, MYR_SCENARIO_SIZES_MAX);
    }
    for (uint32_t i = 0; i < gpus->count && rc == MYR_OK; i++) {
        uint64_t size;
        if (!myr_str_to_u64(gpus->entries[i].key, &size) || size < 1 || size > most) {
            return myr_doc_error(err, gpus->entries[i].value, MYR_EINVAL,
                                 "a size in GPUs from 1 to %llu is expected before ':'",
                                 (unsigned long long)most);
        }
        rc = myr_doc_u64(gpus->entries[i].value, "part of the jobs", 1, 1000000, &value, err);
        ret->sizes[i] = (uint32_t)size;
        ret->parts[i] = rc == MYR_OK ? (uint32_t)value : 0;
    }
    ret->size_count = gpus->count;
    return rc;
}

/* A number, or [low, typical, high]. */
static int read_hours(const struct myr_doc *map, struct myr_scenario_jobs *ret, struct myr_err *err)
{
    const struct myr_doc *hours;
    double values[3] = {};
    uint32_t count = 1;
    int rc = myr_doc_need(map, "jobs", "hours", &hours, err);
    if (rc < 0) {
        return rc;
    }
    rc = hours->kind == MYR_DOC_LIST
             ? read_numbers(hours, "hours", 0.001, 100000, 3, 3, values, &count, err)
             : myr_doc_double(hours, "hours", 0.001, 100000, &values[0], err);
    if (rc < 0) {
        return rc;
    }
    values[1] = count == 1 ? values[0] : values[1];
    values[2] = count == 1 ? values[0] : values[2];
    if (values[0] > values[1] || values[1] > values[2]) {
        return myr_doc_error(err, hours, MYR_EINVAL,
                             "'hours' is not in rising order: low, typical, high");
    }
    for (uint32_t i = 0; i < 3; i++) {
        ret->work_ms[i] = (int64_t)(values[i] * 3600e3 + 0.5);
    }
    return MYR_OK;
}

static int read_arrival(const struct myr_doc *map, struct myr_scenario_jobs *ret,
                        const struct myr_scenario *s, struct myr_err *err)
{
    const struct myr_doc *arrive = myr_doc_get(map, "arrive_h");
    double values[2] = {0, 0};
    uint32_t count;
    ret->arrive_ms[1] = s->length_ms;
    if (!arrive) {
        return MYR_OK;
    }
    int rc = read_numbers(arrive, "arrive_h", 0, 24000, 2, 2, values, &count, err);
    if (rc == MYR_OK && values[0] > values[1]) {
        return myr_doc_error(err, arrive, MYR_EINVAL, "'arrive_h' is not in rising order");
    }
    ret->arrive_ms[0] = (int64_t)(values[0] * 3600e3 + 0.5);
    ret->arrive_ms[1] = (int64_t)(values[1] * 3600e3 + 0.5);
    return rc;
}

static int read_group(const struct myr_doc *map, struct myr_scenario *s, struct myr_err *err)
{
    static const char *const others[] = {"gpus", "hours", "arrive_h"};
    struct myr_scenario_jobs *group = &s->groups[s->group_count];
    *group = (struct myr_scenario_jobs){
        .count = 1, .interval_ms = 1800000, .stall_ms = 30000, .retries = 1000, .lease_s = 600};
    int rc = scene_read(map, "jobs", job_rows, MYR_ARRAY_COUNT(job_rows), others,
                        MYR_ARRAY_COUNT(others), group, err);
    if (rc == MYR_OK && map->kind == MYR_DOC_MAP) {
        rc = read_sizes(map, group, s, err);
    }
    if (rc == MYR_OK) {
        rc = read_hours(map, group, err);
    }
    if (rc == MYR_OK) {
        rc = read_arrival(map, group, s, err);
    }
    if (rc == MYR_OK && group->tenant >= s->tenants) {
        return myr_doc_error(err, map, MYR_EINVAL,
                             "'tenant' is %u, below 'tenants' (%u) is expected", group->tenant,
                             s->tenants);
    }
    if (rc == MYR_OK && group->count > MYR_SCENARIO_JOBS_MAX - s->job_count) {
        return myr_doc_error(err, map, MYR_EINVAL, "more than %u jobs in all",
                             MYR_SCENARIO_JOBS_MAX);
    }
    if (rc == MYR_OK) {
        s->job_count += group->count;
        s->group_count++;
    }
    return rc;
}

int scene_read_jobs(const struct myr_doc *doc, struct myr_scenario *s, struct myr_err *err)
{
    const struct myr_doc *jobs;
    int rc = myr_doc_need(doc, "scenario", "jobs", &jobs, err);
    if (rc < 0) {
        return rc;
    }
    rc = myr_doc_expect(jobs, MYR_DOC_LIST, "jobs", err);
    if (rc < 0) {
        return rc;
    }
    if (jobs->count > MYR_SCENARIO_GROUPS_MAX) {
        return myr_doc_error(err, jobs, MYR_EINVAL, "%u groups of jobs, up to %d are expected",
                             jobs->count, MYR_SCENARIO_GROUPS_MAX);
    }
    for (uint32_t i = 0; i < jobs->count && rc == MYR_OK; i++) {
        rc = read_group(jobs->items[i], s, err);
    }
    return rc;
}

void scene_write_group(struct myr_buf *buf, const struct myr_scenario_jobs *group)
{
    myr_buf_put_lit(buf, "  - {");
    scene_write(job_rows, MYR_ARRAY_COUNT(job_rows), group, buf);
    myr_buf_printf(buf, ", hours: [%.12g, %.12g, %.12g], arrive_h: [%.12g, %.12g], gpus: {",
                   (double)group->work_ms[0] / 3600e3, (double)group->work_ms[1] / 3600e3,
                   (double)group->work_ms[2] / 3600e3, (double)group->arrive_ms[0] / 3600e3,
                   (double)group->arrive_ms[1] / 3600e3);
    for (uint32_t i = 0; i < group->size_count; i++) {
        myr_buf_printf(buf, "%s%u: %u", i ? ", " : "", group->sizes[i], group->parts[i]);
    }
    myr_buf_put_lit(buf, "}}\n");
}
