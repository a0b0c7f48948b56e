/*
 * job: a job file as a Kubernetes Job, printed for kubectl or made at once. The file is checked as
 * for a server, so that one file runs on either.
 */
#include <stdlib.h>

#include "jobfile/jobfile.h"
#include "kubernetes/kubernetes.h"
#include "myriad/io/ca.h"
#include "myriad/job.h"
#include "myriad/kube.h"

static const struct kubernetes_job defaults = {
    .scheduler = "myriad", .resource = "nvidia.com/gpu", .gpus_per_node = 8};

static const struct myr_option rows[] = {
    CLI_TEXT("namespace", "NAME", struct kubernetes_job, space, "where the Job is made (default)"),
    CLI_TEXT("image", "IMAGE", struct kubernetes_job, image, "where the file names none"),
    CLI_COUNT("gpus-per-node", struct kubernetes_job, gpus_per_node, 1, 64, "of the cluster"),
    CLI_TEXT("resource", "NAME", struct kubernetes_job, resource, "what a GPU is called there"),
    CLI_TEXT("scheduler", "NAME", struct kubernetes_job, scheduler,
             "schedulerName of the pods: that of 'kubernetes schedule'"),
};

const struct myr_command kubernetes_job_command = {
    .name = "kubernetes job",
    .operands = "FILE",
    .summary = "print a job file as a Kubernetes Job",
    .details = "FILE is a job file, as for 'myriad submit' ('-': standard input). The Job goes to "
               "standard output as JSON, for 'kubectl apply -f -'; 'myriad submit --kubeconfig' "
               "makes it at once. Its pods are a gang: bound whole and in rank order by 'myriad "
               "kubernetes schedule'.",
    .example = "myriad kubernetes job examples/jobs/hello.yaml --image busybox:1.36",
    .options = rows,
    .option_count = MYR_ARRAY_COUNT(rows),
    .defaults = &defaults,
    .values_bytes = sizeof(defaults),
    .young = true,
    .operand_min = 1,
    .operand_max = 1,
};

/* Mistakes are told with line and column, as on a server. */
static int write_job(struct cli *cli, const struct kubernetes_job *how, struct myr_jobfile *job,
                     struct myr_str text, const char *suffix, struct myr_buf *ret,
                     struct myr_err *err)
{
    const struct myr_jobfile_how as = {.file = myr_file_name(cli->operands.items[0]),
                                       .gpus_per_node = (uint32_t)how->gpus_per_node};
    MYR_TRY(myr_jobfile_read(&cli->arena, &as, text, job, err));
    const struct myr_kube_job to = {.job = job,
                                    .gpus_per_node = as.gpus_per_node,
                                    .space = how->space ? how->space : "default",
                                    .scheduler = how->scheduler,
                                    .image = how->image,
                                    .resource = how->resource};
    return myr_kube_job_write(&to, suffix, ret, err);
}

/*
 * The Job is all of standard output, for a pipe into kubectl; what it leaves out is a warning
 * beside it.
 */
static int run(struct cli *cli, struct myr_err *err)
{
    const char *file = cli->operands.items[0], *keys[MYR_RECORD_ROWS_MAX];
    struct myr_jobfile job;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {}, names = {};
    MYR_TRY(jobfile_read(file, &text, err));
    file = myr_file_name(file);
    struct myr_str body = {text.len ? text.data : "", text.len};
    MYR_TRY(write_job(cli, cli->options, &job, body, NULL, &cli->document, err));
    uint32_t count = myr_jobfile_unheeded(&job, MYR_JOB_KUBERNETES, keys);
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_printf(&names, "%s%s", i ? ", " : "", keys[i]);
    }
    if (count) {
        cli_warn("%s: not heeded on Kubernetes: %s", file, names.data);
    }
    return MYR_OK;
}

static const char *lookup(const char *name)
{
    return getenv(name);
}

/* "" where it is missing or no text. In the arena: the answer is printed later. */
static const char *kept(struct cli *cli, const struct myr_doc *map, const char *key)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    return node && node->kind == MYR_DOC_SCALAR
               ? myr_arena_strndup(&cli->arena, node->text.data, node->text.len)
               : "";
}

/* The same keys as of a job on a server, which 'submit' tells of too. */
static void show(struct cli *cli, const struct kubernetes_job *how, const struct myr_doc *made)
{
    const struct myr_doc *meta = myr_doc_get(made, "metadata"), *spec = myr_doc_get(made, "spec");
    struct myr_answer *answer = &cli->answer;
    const char *name = kept(cli, meta, "name"), *space = kept(cli, meta, "namespace");
    myr_answer_list(answer, "jobs"); /* none was made on a server */
    myr_answer_end(answer);
    struct myr_value *list = myr_answer_list(answer, "kubernetes");
    uint64_t pods = 0;
    (void)!myr_str_to_u64(myr_str_from(kept(cli, spec, "parallelism")), &pods);
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "id", name);
    myr_answer_text(answer, "name", name);
    myr_answer_text(answer, "namespace", space);
    myr_answer_text(answer, "uid", kept(cli, meta, "uid"));
    myr_answer_u64(answer, "pods", pods);
    myr_answer_text(answer, "state", "queued");
    myr_answer_end(answer);
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_fact(answer, "job", "%s", name);
    myr_answer_fact(answer, "namespace", "%s", space);
    myr_answer_fact(answer, "pods", "%s", MYR_GROUPED(pods));
    myr_answer_next(answer, NULL, "kubectl --kubeconfig %s%s%s describe job %s -n %s",
                    myr_answer_word(answer, how->kubeconfig), how->context ? " --context " : "",
                    how->context ? myr_answer_word(answer, how->context) : "", name, space);
}

/* A name with a random end: the same file can be submitted twice, as on a server. */
int kubernetes_submit(struct cli *cli, const struct kubernetes_job *how, struct myr_str text,
                      struct myr_err *err)
{
    struct kubernetes_job to = *how;
    struct myr_jobfile file;
    struct myr_kube_access access;
    const struct myr_doc *made = NULL;
    MYR_CLEANUP(myr_buf_done) struct myr_buf job = {}, answer = {}, suffix = {};
    const struct myr_kube_where where = {
        .kubeconfig = how->kubeconfig, .context = how->context, .lookup_env = lookup};
    MYR_TRY(myr_io_secret(8, &suffix, err));
    suffix.data[8] = '\0'; /* a name of a Job has 63 bytes at most */
    MYR_TRY(myr_kube_access_find(&where, &access, err));
    to.space = to.space ? to.space : access.space;
    int rc = write_job(cli, &to, &file, text, suffix.data, &job, err);
    if (rc == MYR_OK) {
        const char *path =
            myr_arena_printf(&cli->arena, "/apis/batch/v1/namespaces/%s/jobs", to.space);
        rc = myr_kube_ask(&access,
                          &(struct myr_kube_question){
                              .method = "POST", .path = path, .body = {job.data, job.len}},
                          &answer, err);
    }
    if (rc == MYR_OK) {
        rc = myr_doc_read_json(&cli->arena, "answer",
                               (struct myr_str){answer.len ? answer.data : "", answer.len}, &made,
                               err);
    }
    myr_kube_access_done(&access);
    if (rc == MYR_OK) {
        const char *keys[MYR_RECORD_ROWS_MAX];
        uint32_t count = myr_jobfile_unheeded(&file, MYR_JOB_KUBERNETES, keys);
        show(cli, how, made);
        jobfile_put_unheeded(cli, keys, count, myr_job_world_names[MYR_JOB_KUBERNETES]);
    }
    return rc;
}

const struct cli_verb cli_kubernetes_job_verb = {&kubernetes_job_command, run, .group = NULL};
