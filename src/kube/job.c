#include "myriad/kube/job.h"

#include <stdio.h>

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

/* What only agents do. */
static int check_keys(const struct myr_doc *top, struct myr_err *err)
{
    static const char *const refused[] = {"prolog", "epilog", "array", "after", "service"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(refused); i++) {
        const struct myr_doc *node = myr_doc_get(top, refused[i]);
        if (node && node->kind != MYR_DOC_NULL) {
            return myr_doc_error(err, node, MYR_EINVAL, "'%s' is not to be had on Kubernetes",
                                 refused[i]);
        }
    }
    return MYR_OK;
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
    const char *name, *directory, *checkpoint, *image, *layout, *restart;
    uint32_t port;
};

/* The file's own come first: where both set a name, the one behind it wins, and ranks need ours. */
static void put_envs(struct myr_json *json, const struct myr_kube_job *job,
                     const struct shape *shape, const struct myr_doc *top)
{
    const struct myr_doc *env = myr_doc_get(top, "env");
    myr_json_list(json, "env");
    for (uint32_t i = 0; env && env->kind == MYR_DOC_MAP && i < env->count; i++) {
        put_env_str(json, env->entries[i].key, env->entries[i].value->text);
    }
    put_env_from(json, "NODE_RANK", MYR_KUBE_RANK);
    put_env_from(json, "GROUP_RANK", MYR_KUBE_RANK);
    put_env_from(json, "MASTER_ADDR", MYR_KUBE_MASTER);
    put_env_from(json, "MYRIAD_INCARNATION", MYR_KUBE_PLACEMENT);
    put_env_u32(json, "MASTER_PORT", shape->port);
    put_env_u32(json, "WORLD_SIZE", job->gpus);
    put_env_u32(json, "LOCAL_WORLD_SIZE", shape->gpus);
    put_env_u32(json, "GROUP_WORLD_SIZE", shape->pods);
    put_env_u32(json, "ROLE_WORLD_SIZE", job->gpus);
    put_env(json, "MYRIAD_JOB", shape->name);
    if (shape->checkpoint) {
        put_env(json, "MYRIAD_CHECKPOINT_DIR", shape->checkpoint);
    }
    myr_json_end(json);
}

/*
 * The launcher gets the command as words of its own, "rank" is its $0. A command that is one text
 * is a line for a shell, a list is taken word by word.
 */
static void put_command(struct myr_json *json, const struct myr_doc *top)
{
    const struct myr_doc *command = myr_doc_get(top, "command");
    myr_json_list(json, "command");
    myr_json_text(json, NULL, "/bin/sh");
    myr_json_text(json, NULL, "-c");
    put_literal(json, NULL, MYR_STR(launcher));
    myr_json_text(json, NULL, "rank");
    if (command->kind == MYR_DOC_LIST) {
        for (uint32_t i = 0; i < command->count; i++) {
            put_literal(json, NULL, command->items[i]->text);
        }
    } else {
        myr_json_text(json, NULL, "/bin/sh");
        myr_json_text(json, NULL, "-c");
        put_literal(json, NULL, command->text);
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
                          const struct shape *shape, const struct myr_doc *top)
{
    char count[16];
    snprintf(count, sizeof(count), "%u", shape->gpus);
    myr_json_list(json, "containers");
    myr_json_object(json, NULL);
    myr_json_text(json, "name", "ranks");
    myr_json_text(json, "image", shape->image);
    put_command(json, top);
    if (shape->directory) {
        myr_json_text(json, "workingDir", shape->directory);
    }
    put_envs(json, job, shape, top);
    myr_json_object(json, "resources");
    myr_json_object(json, "limits");
    myr_json_text(json, job->resource, count);
    myr_json_end(json);
    myr_json_end(json);
    myr_json_list(json, "volumeMounts");
    put_mount(json, "shared-memory", "/dev/shm");
    put_mount(json, "directory", shape->directory);
    put_mount(json, "checkpoint", shape->checkpoint);
    myr_json_end(json);
    myr_json_end(json);
    myr_json_end(json);
}

static void put_volumes(struct myr_json *json, const struct shape *shape)
{
    myr_json_list(json, "volumes");
    myr_json_object(json, NULL);
    myr_json_text(json, "name", "shared-memory");
    myr_json_object(json, "emptyDir");
    myr_json_text(json, "medium", "Memory"); /* data loaders and NCCL need more than 64 MB */
    myr_json_end(json);
    myr_json_end(json);
    put_volume(json, "directory", shape->directory);
    put_volume(json, "checkpoint", shape->checkpoint);
    myr_json_end(json);
}

/*
 * What is the same for all pods; that they are a gang stands in their annotations, which the Job
 * gives to each of them.
 */
static void put_template(struct myr_json *json, const struct myr_kube_job *job,
                         const struct shape *shape, const struct myr_doc *top)
{
    char count[16], priority[16];
    snprintf(count, sizeof(count), "%u", shape->pods);
    snprintf(priority, sizeof(priority), "%d", job->priority);
    myr_json_object(json, "template");
    myr_json_object(json, "metadata");
    myr_json_object(json, "annotations");
    myr_json_text(json, MYR_KUBE_GANG, shape->name);
    myr_json_text(json, MYR_KUBE_GANG_SIZE, count);
    if (job->priority) {
        myr_json_text(json, MYR_KUBE_PRIORITY, priority);
    }
    if (shape->restart) {
        myr_json_text(json, MYR_KUBE_RESTART, shape->restart);
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
    put_container(json, job, shape, top);
    put_volumes(json, shape);
    myr_json_end(json);
    myr_json_end(json);
}

/* All pods at once ('parallelism' is 'completions'): fewer would be no gang. */
static void put_job(struct myr_buf *ret, const struct myr_kube_job *job, const struct shape *shape,
                    const struct myr_doc *top)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf tenant = {};
    struct myr_json json;
    put_name(&tenant, job->tenant);
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
    myr_json_u64(&json, "backoffLimit", job->retries);
    if (job->time_limit_s) {
        myr_json_i64(&json, "activeDeadlineSeconds", job->time_limit_s);
    }
    put_template(&json, job, shape, top);
    myr_json_end(&json);
    myr_json_end(&json);
    myr_buf_putc(ret, '\n');
}

/* *ret stays as it was where the file does not say it. */
static int optional_text(struct myr_arena *arena, const struct myr_doc *top, const char *key,
                         const char **ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(top, key);
    struct myr_str text;
    if (node && node->kind != MYR_DOC_NULL) {
        MYR_TRY(myr_doc_text(node, key, &text, err));
        *ret = myr_arena_strndup(arena, text.data, text.len);
    }
    return MYR_OK;
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

/*
 * The file was checked by myr_jobfile_read(); here it is read once more for what only a Job needs.
 */
static int write_job(const struct myr_kube_job *job, const char *suffix, struct myr_arena *arena,
                     struct myr_buf *ret, struct myr_err *err)
{
    const struct myr_doc *top, *command;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    struct shape shape = {.image = job->image};
    bool json = job->text.len > 0 && job->text.data[0] == '{';
    MYR_TRY(json ? myr_doc_read_json(arena, job->file, job->text, &top, err)
                 : myr_doc_read_yaml(arena, job->file, job->text, &top, err));
    MYR_TRY(myr_doc_expect(top, MYR_DOC_MAP, "a job file", err));
    MYR_TRY(myr_doc_need(top, "a job", "command", &command, err));
    MYR_TRY(check_keys(top, err));
    MYR_TRY(optional_text(arena, top, "image", &shape.image, err));
    MYR_TRY(optional_text(arena, top, "directory", &shape.directory, err));
    MYR_TRY(optional_text(arena, top, "checkpoint", &shape.checkpoint, err));
    MYR_TRY(optional_text(arena, top, "restart", &shape.restart, err));
    shape.layout = layout_text(arena, myr_doc_get(top, "layout"));
    if (!shape.image) {
        int rc = myr_doc_error(err, top, MYR_EINVAL, "'image' is missing: pods run in one");
        myr_err_hint(err, "image: registry/name:tag in the file, or --image");
        return rc;
    }
    /* A pod a node where that comes out even; else the largest pods that do, all of one size. */
    shape.gpus = job->gpus <= job->gpus_per_node ? job->gpus
                                                 : greatest_common(job->gpus, job->gpus_per_node);
    shape.pods = job->gpus / shape.gpus;
    if (shape.pods > MYR_KUBE_GANG_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%s: %u pods, a gang has at most %d", job->file,
                           shape.pods, MYR_KUBE_GANG_MAX);
    }
    put_name(&name, job->name);
    if (suffix) {
        myr_buf_printf(&name, "-%s", suffix);
    }
    shape.name = name.data;
    /* Two jobs may have their rank 0 on one node. */
    shape.port = job->port ? job->port
                           : PORT_FIRST + (uint32_t)(myr_hash_bytes(name.data, name.len) % PORTS);
    put_job(ret, job, &shape, top);
    return MYR_OK;
}

int myr_kube_job_write(const struct myr_kube_job *job, const char *suffix, struct myr_buf *ret,
                       struct myr_err *err)
{
    struct myr_arena arena = {};
    MYR_ASSERT(job->gpus > 0 && job->gpus_per_node > 0);
    int rc = write_job(job, suffix, &arena, ret, err);
    myr_arena_done(&arena);
    return rc;
}
