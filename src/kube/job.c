#include "myriad/kube/job.h"

#include <stdio.h>
#include <string.h>

#include "kube.h"

/* A Job's name may get a suffix here, and gets another one in those of its pods: room is left. */
enum { NAME_BYTES = 52, PORT_FIRST = 20000, PORTS = 10000 };

/*
 * One process a GPU, as agents start them; the words of the command are "$@". When one of them
 * fails the others end too: they would wait for it for ever.
 */
static const char launcher[] =
    "trap 'trap - TERM; kill -TERM 0 2>/dev/null; exit 1' TERM\n"
    "i=0\n"
    "pids=\n"
    "while [ $i -lt \"$LOCAL_WORLD_SIZE\" ]; do\n"
    "  { LOCAL_RANK=$i RANK=$((NODE_RANK * LOCAL_WORLD_SIZE + i)) \\\n"
    "    ROLE_RANK=$((NODE_RANK * LOCAL_WORLD_SIZE + i)) \"$@\" || kill -TERM $$; } &\n"
    "  pids=\"$pids $!\"\n"
    "  i=$((i + 1))\n"
    "done\n"
    "for p in $pids; do wait \"$p\" || exit 1; done\n";

/* A name of the API: what does not belong there becomes '-'. */
static void put_name(struct myr_buf *ret, const char *name)
{
    size_t from = ret->len;
    for (const char *c = name; *c && ret->len - from < NAME_BYTES; c++) {
        char lower = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
        bool plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
        /* A name begins with a letter or digit: what comes before the first one is left out. */
        if (plain || ret->len > from) {
            myr_buf_putc(ret, plain ? lower : '-');
        }
    }
    while (ret->len > from && ret->data[ret->len - 1] == '-') {
        ret->data[--ret->len] = '\0';
    }
    if (ret->len == from) {
        myr_buf_puts(ret, "job");
    }
}

/* Neither is 0 (myr_kube_job_write). */
static uint32_t greatest_common(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Kubelets replace $(NAME) and make one $ of two, in commands and in the environment: so that a
 * shell gets what the file says, every $ is written twice. */
static void put_literal(struct myr_json *json, const char *key, struct myr_str text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf twice = {};
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '$') {
            myr_buf_putc(&twice, '$');
        }
        myr_buf_putc(&twice, text.data[i]);
    }
    myr_json_str(json, key, (struct myr_str){twice.len ? twice.data : "", twice.len});
}

static void put_env_str(struct myr_json *json, struct myr_str name, struct myr_str value)
{
    myr_json_object(json, NULL);
    myr_json_str(json, "name", name);
    put_literal(json, "value", value);
    myr_json_end(json);
}

static void put_env(struct myr_json *json, const char *name, const char *value)
{
    put_env_str(json, myr_str_from(name), myr_str_from(value));
}

static void put_env_u32(struct myr_json *json, const char *name, uint32_t value)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", value);
    put_env(json, name, text);
}

/* Through the downward API: what Myriad has written before it bound the pod. */
static void put_env_from(struct myr_json *json, const char *name, const char *annotation)
{
    char path[96];
    snprintf(path, sizeof(path), "metadata.annotations['%s']", annotation);
    myr_json_object(json, NULL);
    myr_json_text(json, "name", name);
    myr_json_object(json, "valueFrom");
    myr_json_object(json, "fieldRef");
    myr_json_text(json, "fieldPath", path);
    myr_json_end(json);
    myr_json_end(json);
    myr_json_end(json);
}

/* What a job file comes to: pods of one size, which together have exactly the job's GPUs. */
struct shape {
    uint32_t pods, gpus; /* of a pod */
    const char *name, *image, *layout;
    uint32_t port;
};

/* The file's own come first: where both set a name, the one behind it wins, and ranks need ours. */
static void put_envs(struct myr_json *json, const struct myr_kube_job *job,
                     const struct shape *shape)
{
    const struct myr_job_env *env = &job->job->env;
    myr_json_list(json, "env");
    for (uint32_t i = 0; i < env->count; i++) {
        const char *word = env->words[i], *value = strchr(word, '=') + 1;
        put_env_str(json, (struct myr_str){word, (size_t)(value - 1 - word)}, myr_str_from(value));
    }
    put_env_from(json, "NODE_RANK", MYR_KUBE_RANK);
    put_env_from(json, "GROUP_RANK", MYR_KUBE_RANK);
    put_env_from(json, "MASTER_ADDR", MYR_KUBE_MASTER);
    put_env_from(json, "MYRIAD_INCARNATION", MYR_KUBE_PLACEMENT);
    put_env_u32(json, "MASTER_PORT", shape->port);
    put_env_u32(json, "WORLD_SIZE", job->job->gpus);
    put_env_u32(json, "LOCAL_WORLD_SIZE", shape->gpus);
    put_env_u32(json, "GROUP_WORLD_SIZE", shape->pods);
    put_env_u32(json, "ROLE_WORLD_SIZE", job->job->gpus);
    put_env(json, "MYRIAD_JOB", shape->name);
    if (job->job->checkpoint) {
        put_env(json, "MYRIAD_CHECKPOINT_DIR", job->job->checkpoint);
    }
    myr_json_end(json);
}

/* The launcher gets the command as words of its own, "rank" is its $0. */
static void put_command(struct myr_json *json, const struct myr_job_command *command)
{
    myr_json_list(json, "command");
    myr_json_text(json, NULL, "/bin/sh");
    myr_json_text(json, NULL, "-c");
    put_literal(json, NULL, MYR_STR(launcher));
    myr_json_text(json, NULL, "rank");
    for (uint32_t i = 0; i < command->count; i++) {
        put_literal(json, NULL, myr_str_from(command->argv[i]));
    }
    myr_json_end(json);
}

/* Nothing where the file names no such folder; put_volume() has the other half of it. */
static void put_mount(struct myr_json *json, const char *name, const char *path)
{
    if (path) {
        myr_json_object(json, NULL);
        myr_json_text(json, "name", name);
        myr_json_text(json, "mountPath", path);
        myr_json_end(json);
    }
}

/* A folder of the node, mounted under its own name. */
static void put_volume(struct myr_json *json, const char *name, const char *path)
{
    if (path) {
        myr_json_object(json, NULL);
        myr_json_text(json, "name", name);
        myr_json_object(json, "hostPath");
        myr_json_text(json, "path", path);
        myr_json_end(json);
        myr_json_end(json);
    }
}

/* GPUs are limits, of which an API server makes requests. */
static void put_container(struct myr_json *json, const struct myr_kube_job *job,
                          const struct shape *shape)
{
    char count[16];
    snprintf(count, sizeof(count), "%u", shape->gpus);
    myr_json_list(json, "containers");
    myr_json_object(json, NULL);
    myr_json_text(json, "name", "ranks");
    myr_json_text(json, "image", shape->image);
    put_command(json, &job->job->command);
    if (job->job->directory) {
        myr_json_text(json, "workingDir", job->job->directory);
    }
    put_envs(json, job, shape);
    myr_json_object(json, "resources");
    myr_json_object(json, "limits");
    myr_json_text(json, job->resource, count);
    myr_json_end(json);
    myr_json_end(json);
    myr_json_list(json, "volumeMounts");
    put_mount(json, "shared-memory", "/dev/shm");
    put_mount(json, "directory", job->job->directory);
    put_mount(json, "checkpoint", job->job->checkpoint);
    myr_json_end(json);
    myr_json_end(json);
    myr_json_end(json);
}

static void put_volumes(struct myr_json *json, const struct myr_jobfile *job)
{
    myr_json_list(json, "volumes");
    myr_json_object(json, NULL);
    myr_json_text(json, "name", "shared-memory");
    myr_json_object(json, "emptyDir");
    myr_json_text(json, "medium", "Memory"); /* data loaders and NCCL need more than 64 MB */
    myr_json_end(json);
    myr_json_end(json);
    put_volume(json, "directory", job->directory);
    put_volume(json, "checkpoint", job->checkpoint);
    myr_json_end(json);
}

/*
 * What is the same for all pods; that they are a gang stands in their annotations, which the Job
 * gives to each of them.
 */
static void put_template(struct myr_json *json, const struct myr_kube_job *job,
                         const struct shape *shape)
{
    char count[16], priority[16];
    snprintf(count, sizeof(count), "%u", shape->pods);
    snprintf(priority, sizeof(priority), "%d", job->job->priority);
    myr_json_object(json, "template");
    myr_json_object(json, "metadata");
    myr_json_object(json, "annotations");
    myr_json_text(json, MYR_KUBE_GANG, shape->name);
    myr_json_text(json, MYR_KUBE_GANG_SIZE, count);
    if (job->job->priority) {
        myr_json_text(json, MYR_KUBE_PRIORITY, priority);
    }
    if (myr_jobfile_says(job->job, "restart")) {
        myr_json_text(json, MYR_KUBE_RESTART, myr_job_restarts[job->job->restart]);
    }
    myr_json_end(json);
    myr_json_end(json);
    myr_json_object(json, "spec");
    myr_json_text(json, "schedulerName", job->scheduler);
    /* A container that failed is not started again in its pod: the gang is made again whole. */
    myr_json_text(json, "restartPolicy", "Never");
    /* The node's own network: RDMA, and an address for rank 0 that is known before it starts. */
    myr_json_bool(json, "hostNetwork", true);
    myr_json_text(json, "dnsPolicy", "ClusterFirstWithHostNet");
    put_container(json, job, shape);
    put_volumes(json, job->job);
    myr_json_end(json);
    myr_json_end(json);
}

/* All pods at once ('parallelism' is 'completions'): fewer would be no gang. */
static void put_job(struct myr_buf *ret, const struct myr_kube_job *job, const struct shape *shape)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf tenant = {};
    struct myr_json json;
    put_name(&tenant, job->job->tenant);
    myr_json_init(&json, ret, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "apiVersion", "batch/v1");
    myr_json_text(&json, "kind", "Job");
    myr_json_object(&json, "metadata");
    myr_json_text(&json, "name", shape->name);
    myr_json_text(&json, "namespace", job->space);
    myr_json_object(&json, "labels");
    myr_json_text(&json, "app.kubernetes.io/managed-by", "myriad");
    myr_json_text(&json, "myriad/tenant", tenant.data);
    myr_json_end(&json);
    if (shape->layout) { /* for whoever reads it */
        myr_json_object(&json, "annotations");
        myr_json_text(&json, "myriad/layout", shape->layout);
        myr_json_end(&json);
    }
    myr_json_end(&json);
    myr_json_object(&json, "spec");
    myr_json_u64(&json, "parallelism", shape->pods);
    myr_json_u64(&json, "completions", shape->pods);
    myr_json_u64(&json, "backoffLimit", job->job->retries);
    if (job->job->time_limit) {
        myr_json_i64(&json, "activeDeadlineSeconds", job->job->time_limit);
    }
    put_template(&json, job, shape);
    myr_json_end(&json);
    myr_json_end(&json);
    myr_buf_putc(ret, '\n');
}

/* Words, a path, or a map of its own: whatever stands there. */
static const char *layout_text(struct myr_arena *arena, const struct myr_doc *node)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (!node || node->kind == MYR_DOC_NULL) {
        return NULL;
    }
    if (node->kind == MYR_DOC_SCALAR) {
        return myr_arena_strndup(arena, node->text.data, node->text.len);
    }
    myr_doc_write_yaml(node, &text);
    return myr_arena_strndup(arena, text.len ? text.data : "", text.len);
}

static int write_job(const struct myr_kube_job *how, const char *suffix, struct myr_arena *arena,
                     struct myr_buf *ret, struct myr_err *err)
{
    const struct myr_jobfile *job = how->job;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    struct shape shape = {.image = job->image ? job->image : how->image};
    MYR_TRY(myr_jobfile_refuse(job, MYR_JOB_KUBERNETES, err));
    shape.layout = layout_text(arena, job->layout);
    if (!shape.image) {
        int rc = myr_doc_error(err, job->top, MYR_EINVAL, "'image' is missing: pods run in one");
        myr_err_hint(err, "image: registry/name:tag in the file, or --image");
        return rc;
    }
    /* A pod a node where that comes out even; else the largest pods that do, all of one size. */
    shape.gpus = job->gpus <= how->gpus_per_node ? job->gpus
                                                 : greatest_common(job->gpus, how->gpus_per_node);
    shape.pods = job->gpus / shape.gpus;
    if (shape.pods > MYR_KUBE_GANG_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%s: %u pods, a gang has at most %d", job->top->file,
                           shape.pods, MYR_KUBE_GANG_MAX);
    }
    put_name(&name, job->name);
    if (suffix) {
        myr_buf_printf(&name, "-%s", suffix);
    }
    shape.name = name.data;
    /* Two jobs may have their rank 0 on one node. */
    shape.port = how->port ? how->port
                           : PORT_FIRST + (uint32_t)(myr_hash_bytes(name.data, name.len) % PORTS);
    put_job(ret, how, &shape);
    return MYR_OK;
}

int myr_kube_job_write(const struct myr_kube_job *job, const char *suffix, struct myr_buf *ret,
                       struct myr_err *err)
{
    struct myr_arena arena = {};
    MYR_ASSERT(job->job->gpus > 0 && job->gpus_per_node > 0);
    int rc = write_job(job, suffix, &arena, ret, err);
    myr_arena_done(&arena);
    return rc;
}
