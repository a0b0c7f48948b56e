/*
 * job: the one reader of the job file. The table checks each key by itself; here is what several of
 * them have to say together.
 */
#include "myriad/job.h"

#include <stdio.h>
#include <string.h>

#include "myriad/wire/pattern.h"
#include "values.h"

const char *const myr_job_world_names[MYR_JOB_WORLDS] = {"agents", "Slurm", "Kubernetes"};
const char *const myr_job_restarts[2] = {"strict", "epoch"};
const char *const myr_job_withins[2] = {"leaf", "pod"};

static const struct myr_row progress_rows[] = {
#define MYR_FIELDS "myriad/job/progress.rec"
#define MYR_OF     struct myr_job_progress
#include "myriad/record/rows.def"
};
static const struct myr_record myr_job_progress_record =
    MYR_RECORD("progress", struct myr_job_progress, progress_rows, "progress");
static const struct myr_row twin_rows[] = {
#define MYR_FIELDS "myriad/job/twin.rec"
#define MYR_OF     struct myr_job_twin
#include "myriad/record/rows.def"
};
static const struct myr_record myr_job_twin_record =
    MYR_RECORD("twin", struct myr_job_twin, twin_rows, "twin");
static const struct myr_row job_rows[] = {
#define MYR_FIELDS "myriad/job/job.rec"
#define MYR_OF     struct myr_jobfile
#include "myriad/record/rows.def"
};
const struct myr_record myr_job_record =
    MYR_RECORD("job_file", struct myr_jobfile, job_rows, "a job file");

bool myr_jobfile_says(const struct myr_jobfile *job, const char *key)
{
    return myr_doc_get(job->top, key) != NULL;
}

/* gpus, or nodes (with gpus_per_node); not both. */
static int check_size(const struct myr_doc *top, uint32_t cluster, struct myr_jobfile *job,
                      struct myr_err *err)
{
    if (job->nodes && job->gpus) {
        return myr_doc_error(err, myr_doc_get(top, "nodes"), MYR_EINVAL,
                             "'nodes' beside 'gpus'; one of them is expected");
    }
    if (!job->nodes && !job->gpus) {
        return myr_doc_error(err, top, MYR_EINVAL, "'gpus' or 'nodes' is missing");
    }
    if (job->nodes && job->gpus_per_node && job->gpus_per_node != cluster) {
        return myr_doc_error(err, myr_doc_get(top, "gpus_per_node"), MYR_EINVAL,
                             "'gpus_per_node' is %u; this cluster has %u a node, and gives whole "
                             "nodes to a job of several",
                             job->gpus_per_node, cluster);
    }
    job->gpus = job->nodes ? job->nodes * cluster : job->gpus;
    return MYR_OK;
}

/* A map, or words, order the ranks; a path, or a name, is only for whoever reads it. */
static int parse_layout(struct myr_jobfile *job, struct myr_err *err)
{
    const struct myr_doc *node = job->layout;
    struct myr_err why = {};
    char words[1024];
    job->ordered = node->kind == MYR_DOC_MAP;
    if (job->ordered) {
        return myr_layout_parse(node, job->gpus, &job->order, err);
    }
    job->ordered = memchr(node->text.data, '=', node->text.len) &&
                   !memchr(node->text.data, '/', node->text.len);
    if (!job->ordered) {
        return MYR_OK;
    }
    struct myr_str text;
    MYR_TRY(myr_doc_text(node, "layout", &text, err));
    if (text.len >= sizeof(words)) {
        return myr_doc_error(err, node, MYR_ERANGE,
                             "'layout' has %zu bytes, at most %zu are expected", text.len,
                             sizeof(words) - 1);
    }
    myr_str_put(text, words);
    int rc = myr_layout_words("layout", words, job->gpus, &job->order, &why);
    return rc < 0 ? myr_doc_error(err, node, rc, "%s", why.message) : MYR_OK;
}

/* What its sizes come to must be what is asked for: else no rank would know its place. */
static int check_layout(struct myr_jobfile *job, struct myr_err *err)
{
    if (job->layout) {
        MYR_TRY(parse_layout(job, err));
    }
    if (!job->ordered) {
        return MYR_OK;
    }
    enum myr_layout_rule rule = myr_layout_broken(&job->order, NULL, job->gpus);
    if (rule != MYR_LAYOUT_OK) {
        return myr_doc_error(err, job->layout, MYR_EINVAL,
                             "'layout' is of %llu GPUs and breaks rule '%s'; one of the job's %u "
                             "GPUs is expected",
                             (unsigned long long)myr_layout_gpus(&job->order),
                             myr_layout_rule_name(rule), job->gpus);
    }
    if (job->gpus_min) {
        return myr_doc_error(err, job->layout, MYR_EINVAL,
                             "'layout' beside 'gpus_min': a layout is of one size, it cannot "
                             "shrink; one of them is expected");
    }
    return MYR_OK;
}

/* Ranks of a gang that is to be ordered or kept together take whole nodes. */
static int check_wish(const struct myr_doc *top, uint32_t cluster, struct myr_jobfile *job,
                      struct myr_err *err)
{
    uint64_t least;
    if (job->gpus_min > job->gpus) {
        return myr_doc_u64(myr_doc_get(top, "gpus_min"), "gpus_min", 1, job->gpus, &least, err);
    }
    MYR_TRY(check_layout(job, err));
    bool wishes = job->ordered || job->within != MYR_JOB_ANYWHERE || job->leaf_max;
    if (wishes && job->gpus > cluster && job->gpus % cluster != 0) {
        return myr_doc_error(err, top, MYR_EINVAL,
                             "%u GPUs are no whole nodes of %u: 'layout', 'within' and 'leaf_max' "
                             "expect those",
                             job->gpus, cluster);
    }
    return MYR_OK;
}

/* By the rule of the agents, who match it against what ranks write. */
static int check_pattern(const struct myr_doc *top, const struct myr_jobfile *job,
                         struct myr_err *err)
{
    MYR_CLEANUP(myr_step_pattern_done) struct myr_step_pattern pattern = {};
    struct myr_err why = {};
    if (!job->progress.pattern) {
        return MYR_OK;
    }
    int rc = myr_step_pattern_init(&pattern, job->progress.pattern, &why);
    return rc < 0 ? myr_doc_error(err, myr_doc_get(myr_doc_get(top, "progress"), "pattern"), rc,
                                  "'progress.pattern': %s", why.message)
                  : MYR_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

int myr_jobfile_tree(struct myr_arena *arena, const char *file, struct myr_str text,
                     const struct myr_doc **ret, struct myr_err *err)
{
    size_t at = 0;
    while (at < text.len && is_blank(text.data[at])) {
        at++;
    }
    return at < text.len && text.data[at] == '{' ? myr_doc_read_json(arena, file, text, ret, err)
                                                 : myr_doc_read_yaml(arena, file, text, ret, err);
}

int myr_jobfile_read(struct myr_arena *arena, const struct myr_jobfile_how *how,
                     struct myr_str text, struct myr_jobfile *ret, struct myr_err *err)
{
    static const char *const none[] = {NULL};
    const struct myr_reading reading = {.arena = arena, .lenient = how->lenient};
    struct myr_jobfile job;
    const struct myr_doc *top;
    /* It goes to every node of the job in one message. */
    if (text.len > MYR_JOBFILE_BYTES_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%s: %zu bytes; a job file has at most %u", how->file,
                           text.len, MYR_JOBFILE_BYTES_MAX);
    }
    MYR_TRY(myr_jobfile_tree(arena, how->file, text, &top, err));
    MYR_TRY(myr_record_read(&myr_job_record, top, &reading, &job, err));
    job.top = top;
    job.env.words = job.env.words ? job.env.words : none;
    if (how->gpus_per_node) {
        MYR_TRY(check_size(top, how->gpus_per_node, &job, err));
        MYR_TRY(check_wish(top, how->gpus_per_node, &job, err));
    }
    MYR_TRY(check_pattern(top, &job, err));
    *ret = job;
    return MYR_OK;
}

uint32_t myr_jobfile_unheeded(const struct myr_jobfile *job, enum myr_job_world world,
                              const char *ret[MYR_RECORD_ROWS_MAX])
{
    uint32_t count = 0;
    MYR_ASSERT(world < MYR_JOB_WORLDS);
    for (uint32_t i = 0; i < myr_job_record.count; i++) {
        const struct myr_row *row = &myr_job_record.rows[i];
        if ((row->facts >> world & 1) && myr_jobfile_says(job, row->key)) {
            ret[count++] = row->key;
        }
    }
    return count;
}

int myr_jobfile_refuse(const struct myr_jobfile *job, enum myr_job_world world, struct myr_err *err)
{
    for (uint32_t i = 0; i < myr_job_record.count; i++) {
        const struct myr_row *row = &myr_job_record.rows[i];
        if ((row->facts >> (world + MYR_JOB_WORLDS) & 1) && myr_jobfile_says(job, row->key)) {
            return myr_doc_error(err, myr_doc_get(job->top, row->key), MYR_EINVAL,
                                 "'%s' is not to be had on %s", row->key,
                                 myr_job_world_names[world]);
        }
    }
    return MYR_OK;
}
