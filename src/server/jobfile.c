/*
 * jobfile: what a job file says, checked once for every world that may run it. Each key is heeded,
 * refused, or named as unheeded; words that only a node reads are checked for their form alone.
 */
#include "myriad/server/jobfile.h"

#include <stdio.h>
#include <string.h>

#include "myriad/record.h"
#include "myriad/sched.h"
#include "myriad/wire/pattern.h"

const char *const myr_job_world_names[MYR_JOB_WORLDS] = {"agents", "Slurm", "Kubernetes"};

/* All that a job file may say, in the order in which errors name them. */
const char *const myr_jobfile_keys[MYR_JOBFILE_KEYS] = {
    "name",    "tenant",  "priority", "gpus",      "nodes",      "gpus_per_node", "layout",
    "command", "image",   "env",      "directory", "checkpoint", "retries",       "time_limit",
    "restart", "lease_s", "prolog",   "epilog",    "after",      "array",         "progress",
    "twin",    "service", "gpus_min", "within",    "leaf_max",   "hold",
};
/* What has no meaning there. Whoever adds a key, or a world, says so here. */
static const struct {
    const char *key;
    bool in[MYR_JOB_WORLDS];
} unheeded[] = {
    {"lease_s", {[MYR_JOB_SLURM] = true, [MYR_JOB_KUBERNETES] = true}},
    {"gpus_min", {[MYR_JOB_KUBERNETES] = true}},
    {"within", {[MYR_JOB_KUBERNETES] = true}},
    {"leaf_max", {[MYR_JOB_KUBERNETES] = true}},
    {"hold", {[MYR_JOB_KUBERNETES] = true}},
    {"progress", {[MYR_JOB_SLURM] = true, [MYR_JOB_KUBERNETES] = true}},
    {"twin", {[MYR_JOB_AGENTS] = true, [MYR_JOB_SLURM] = true, [MYR_JOB_KUBERNETES] = true}},
};
/* The keys of the two maps; what else stands there is refused as at the top. */
static const char *const twin_keys[] = {"hours", "step_s"};
static const char *const progress_keys[] = {"pattern"};
static const char *const levels[] = {"leaf", "pod"};       /* from MYR_LEVEL_LEAF on */
static const char *const restarts[] = {"strict", "epoch"}; /* by enum myr_restart */

/* Refused rather than cut: two names must not become one. */
static int read_name(const struct myr_doc *node, const char *what, char *ret, size_t size,
                     struct myr_err *err)
{
    struct myr_str text;
    MYR_TRY(myr_doc_text(node, what, &text, err));
    if (text.len >= size) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' has %zu bytes, at most %zu are expected",
                             what, text.len, size - 1);
    }
    myr_str_put(text, ret);
    return MYR_OK;
}

/* 'ret' stays as it is where the key is missing. */
static int read_u32(const struct myr_doc *map, const char *key, uint64_t min, uint64_t max,
                    uint32_t *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    uint64_t value;
    if (node) {
        MYR_TRY(myr_doc_u64(node, key, min, max, &value, err));
        *ret = (uint32_t)value;
    }
    return MYR_OK;
}

/* gpus, or nodes (with gpus_per_node); not both. */
static int read_size(const struct myr_doc *top, uint32_t gpus_per_node, struct myr_jobfile *ret,
                     struct myr_err *err)
{
    /* Whole nodes where their number is given; GPUs may be a part of one. */
    uint32_t nodes = 0, each = gpus_per_node;
    MYR_TRY(read_u32(top, "gpus", 1, 1U << 24, &ret->gpus, err));
    MYR_TRY(read_u32(top, "nodes", 1, 1U << 20, &nodes, err));
    MYR_TRY(read_u32(top, "gpus_per_node", 1, 64, &each, err));
    if (nodes && ret->gpus) {
        return myr_doc_error(err, myr_doc_get(top, "nodes"), MYR_EINVAL,
                             "'nodes' beside 'gpus'; one of them is expected");
    }
    if (!nodes && !ret->gpus) {
        return myr_doc_error(err, top, MYR_EINVAL, "'gpus' or 'nodes' is missing");
    }
    if (nodes && each != gpus_per_node) {
        return myr_doc_error(err, myr_doc_get(top, "gpus_per_node"), MYR_EINVAL,
                             "'gpus_per_node' is %u; this cluster has %u a node, and gives whole "
                             "nodes to a job of several",
                             each, gpus_per_node);
    }
    ret->gpus = nodes ? nodes * each : ret->gpus;
    return MYR_OK;
}

/*
 * A map, or words, order the ranks; a path, or a name, is only for whoever reads it. 'ret_said':
 * there is one of the first two.
 */
static int parse_layout(const struct myr_doc *node, uint32_t gpus, struct myr_layout *ret,
                        bool *ret_said, struct myr_err *err)
{
    struct myr_err why = {};
    char words[1024];
    *ret_said = node->kind == MYR_DOC_MAP;
    if (*ret_said) {
        return myr_layout_parse(node, gpus, ret, err);
    }
    MYR_TRY(myr_doc_expect(node, MYR_DOC_SCALAR, "layout", err));
    *ret_said = memchr(node->text.data, '=', node->text.len) &&
                !memchr(node->text.data, '/', node->text.len);
    if (!*ret_said) {
        return MYR_OK;
    }
    MYR_TRY(read_name(node, "layout", words, sizeof(words), err));
    int rc = myr_layout_words("layout", words, gpus, ret, &why);
    return rc < 0 ? myr_doc_error(err, node, rc, "%s", why.message) : MYR_OK;
}

/* What its sizes come to must be what is asked for: else no rank would know its place. */
static int read_layout(const struct myr_doc *top, struct myr_jobfile *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(top, "layout");
    struct myr_layout layout;
    bool said = false;
    if (node) {
        MYR_TRY(parse_layout(node, ret->gpus, &layout, &said, err));
    }
    if (!said) {
        return MYR_OK;
    }
    enum myr_layout_rule rule = myr_layout_broken(&layout, NULL, ret->gpus);
    if (rule != MYR_LAYOUT_OK) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'layout' is of %llu GPUs and breaks rule '%s'; one of the job's %u "
                             "GPUs is expected",
                             (unsigned long long)myr_layout_gpus(&layout),
                             myr_layout_rule_name(rule), ret->gpus);
    }
    if (ret->gpus_min) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'layout' beside 'gpus_min': a layout is of one size, it cannot "
                             "shrink; one of them is expected");
    }
    ret->wish = (struct myr_job_wish){.tp = layout.tp,
                                      .cp = layout.cp,
                                      .dp = layout.dp,
                                      .pp = layout.pp,
                                      .ep = layout.ep,
                                      .etp = layout.etp};
    for (uint32_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        ret->wish.order[i] = (uint8_t)layout.order[i];
    }
    return MYR_OK;
}

/* How the job may lie. Ranks of a gang that is to be ordered or kept together take whole nodes. */
static int read_wish(const struct myr_doc *top, uint32_t gpus_per_node, struct myr_jobfile *ret,
                     struct myr_err *err)
{
    static const struct myr_job_wish none;
    const struct myr_doc *within = myr_doc_get(top, "within"), *hold = myr_doc_get(top, "hold");
    MYR_TRY(read_u32(top, "gpus_min", 1, ret->gpus, &ret->gpus_min, err));
    MYR_TRY(read_layout(top, ret, err));
    MYR_TRY(read_u32(top, "leaf_max", 1, 1U << 20, &ret->wish.leaf_max, err));
    if (within) {
        uint32_t choice;
        MYR_TRY(myr_doc_choice(within, "within", levels, MYR_ARRAY_COUNT(levels), &choice, err));
        ret->wish.within = (uint8_t)(choice + MYR_LEVEL_LEAF + 1);
    }
    if (hold) {
        MYR_TRY(myr_doc_bool(hold, "hold", &ret->hold, err));
    }
    if (memcmp(&ret->wish, &none, sizeof(none)) != 0 && ret->gpus > gpus_per_node &&
        ret->gpus % gpus_per_node != 0) {
        return myr_doc_error(err, top, MYR_EINVAL,
                             "%u GPUs are no whole nodes of %u: 'layout', 'within' and 'leaf_max' "
                             "expect those",
                             ret->gpus, gpus_per_node);
    }
    return MYR_OK;
}

/* 0 means no limit, and so cannot be asked for as one. */
static int read_limit(const struct myr_doc *top, struct myr_jobfile *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(top, "time_limit");
    if (!node) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(node, MYR_DOC_SCALAR, "time_limit", err));
    if (!myr_duration_parse(node->text, &ret->time_limit_s) || ret->time_limit_s == 0) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'time_limit' is no time; such as 90s, 30m, 12h or 2d is expected");
    }
    return MYR_OK;
}

/* "0-9", or "5": so many alike. */
static int read_array(const struct myr_doc *top, struct myr_jobfile *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(top, "array");
    uint64_t first = 0, last;
    if (!node) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(node, MYR_DOC_SCALAR, "array", err));
    const char *dash = memchr(node->text.data, '-', node->text.len);
    size_t before = dash ? (size_t)(dash - node->text.data) : node->text.len;
    bool ok = myr_str_to_u64((struct myr_str){node->text.data, before}, &first);
    /* One number is a range of one. */
    last = first;
    ok = ok &&
         (!dash || myr_str_to_u64((struct myr_str){dash + 1, node->text.len - before - 1}, &last));
    if (!ok) {
        return myr_doc_error(err, node, MYR_EINVAL, "'array' is no range such as 0-9 of at most %d",
                             MYR_JOB_ARRAY_MAX);
    }
    if (last < first) {
        return myr_doc_error(err, node, MYR_EINVAL, "'array' runs backwards: %llu-%llu is expected",
                             (unsigned long long)last, (unsigned long long)first);
    }
    if (last - first >= MYR_JOB_ARRAY_MAX || last > UINT32_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE,
                             "'array' has more than %d jobs, or numbers above %u",
                             MYR_JOB_ARRAY_MAX, UINT32_MAX);
    }
    /* Ranks are told their number from 'first' on, whatever the ids of the jobs are. */
    ret->array_first = (uint32_t)first;
    ret->array_count = (uint32_t)(last - first + 1);
    return MYR_OK;
}

/* One number, or a list of them; whether there are such jobs is for the core to say. */
static int read_after(const struct myr_doc *top, struct myr_jobfile *ret, struct myr_err *err)
{
    const struct myr_doc *list = myr_doc_get(top, "after");
    if (!list) {
        return MYR_OK;
    }
    /* A single number need not be a list. */
    uint32_t count = list->kind == MYR_DOC_LIST ? list->count : 1;
    if (count > MYR_ARRAY_COUNT(ret->after)) {
        return myr_doc_error(err, list, MYR_ERANGE, "%u jobs in 'after', at most %zu are expected",
                             count, MYR_ARRAY_COUNT(ret->after));
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id;
        const struct myr_doc *node = list->kind == MYR_DOC_LIST ? list->items[i] : list;
        MYR_TRY(myr_doc_u64(node, "after", 0, UINT32_MAX - 1, &id, err));
        ret->after[ret->after_count++] = (uint32_t)id;
    }
    return MYR_OK;
}

/* An hour in steps of ten seconds, where a simulated job says nothing of itself. */
static int read_twin(const struct myr_doc *top, struct myr_jobfile *ret, struct myr_err *err)
{
    const struct myr_doc *map = myr_doc_get(top, "twin");
    ret->twin_hours = 1;
    ret->twin_step_s = 10;
    if (!map) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, "twin", err));
    MYR_TRY(myr_doc_check_keys(map, "twin", twin_keys, MYR_ARRAY_COUNT(twin_keys), err));
    const struct myr_doc *hours = myr_doc_get(map, "hours"), *step = myr_doc_get(map, "step_s");
    if (hours) {
        MYR_TRY(myr_doc_double(hours, "twin.hours", 0.0001, 10000, &ret->twin_hours, err));
    }
    return step ? myr_doc_double(step, "twin.step_s", 0.01, 3600, &ret->twin_step_s, err) : MYR_OK;
}

/* Lines are welcome where a shell reads them; but what is handed to a program ends at a NUL, and
 * what stands behind it would run nowhere. */
static int check_whole(const struct myr_doc *node, const char *what, struct myr_str text,
                       struct myr_err *err)
{
    return text.len && memchr(text.data, '\0', text.len)
               ? myr_doc_error(err, node, MYR_EINVAL, "%s has a NUL in it, text is expected", what)
               : MYR_OK;
}

/* Text that a shell gets, or a list of words. */
static int check_command(const struct myr_doc *top, struct myr_err *err)
{
    const struct myr_doc *node;
    struct myr_str text;
    MYR_TRY(myr_doc_need(top, "a job", "command", &node, err));
    if (node->kind != MYR_DOC_LIST) {
        MYR_TRY(myr_doc_expect(node, MYR_DOC_SCALAR, "command", err));
        MYR_TRY(check_whole(node, "'command'", node->text, err));
        return node->text.len ? MYR_OK : myr_doc_error(err, node, MYR_EINVAL, "'command' is empty");
    }
    for (uint32_t i = 0; i < node->count; i++) {
        MYR_TRY(myr_doc_text(node->items[i], "a word of 'command'", &text, err));
    }
    return node->count ? MYR_OK : myr_doc_error(err, node, MYR_EINVAL, "'command' is empty");
}

/* Names as the system takes them; agents want those of a shell. */
static int check_env(const struct myr_doc *top, struct myr_err *err)
{
    const struct myr_doc *map = myr_doc_get(top, "env");
    if (!map) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, "env", err));
    for (uint32_t i = 0; i < map->count; i++) {
        const struct myr_doc_entry *entry = &map->entries[i];
        MYR_TRY(myr_doc_expect(entry->value, MYR_DOC_SCALAR, "a value of 'env'", err));
        /* Numbers and words alike are taken as they are written. */
        MYR_TRY(check_whole(entry->value, "a value of 'env'", entry->value->text, err));
        MYR_TRY(check_whole(entry->value, "a name in 'env'", entry->key, err));
        /* Such a name would be another variable where it is handed to a program. */
        if (entry->key.len == 0 || memchr(entry->key.data, '=', entry->key.len)) {
            return myr_doc_error(err, entry->value, MYR_EINVAL,
                                 "a name in 'env' is empty or holds '='");
        }
    }
    return MYR_OK;
}

/* By the rule of the agents: a job that none of them would start is not taken. */
static int check_pattern(const struct myr_doc *node, struct myr_err *err)
{
    MYR_CLEANUP(myr_step_pattern_done) struct myr_step_pattern pattern = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_err why = {};
    struct myr_str text;
    MYR_TRY(myr_doc_text(node, "progress.pattern", &text, err));
    const char *whole = myr_arena_strndup(&arena, text.data, text.len);
    int rc = myr_step_pattern_init(&pattern, whole, &why);
    return rc < 0 ? myr_doc_error(err, node, rc, "'progress.pattern': %s", why.message) : MYR_OK;
}

/* Their form alone: whether there is such a folder or image only the node can tell. */
static int check_texts(const struct myr_doc *top, struct myr_err *err)
{
    static const char *const texts[] = {"image", "directory", "checkpoint", "prolog", "epilog"};
    struct myr_str text;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        const struct myr_doc *node = myr_doc_get(top, texts[i]);
        if (node) {
            MYR_TRY(myr_doc_text(node, texts[i], &text, err));
        }
    }
    const struct myr_doc *progress = myr_doc_get(top, "progress");
    if (!progress) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(progress, MYR_DOC_MAP, "progress", err));
    MYR_TRY(myr_doc_check_keys(progress, "progress", progress_keys, MYR_ARRAY_COUNT(progress_keys),
                               err));
    const struct myr_doc *pattern = myr_doc_get(progress, "pattern");
    return pattern ? check_pattern(pattern, err) : MYR_OK;
}

/* Keys that have defaults; docs/server.md lists them. */
static int read_rest(const struct myr_doc *top, struct myr_jobfile *ret, struct myr_err *err)
{
    const struct myr_doc *priority = myr_doc_get(top, "priority");
    const struct myr_doc *restart = myr_doc_get(top, "restart");
    const struct myr_doc *tenant = myr_doc_get(top, "tenant");
    const struct myr_doc *service = myr_doc_get(top, "service");
    uint32_t choice = MYR_RESTART_STRICT;
    if (priority) {
        int64_t value;
        MYR_TRY(myr_doc_expect(priority, MYR_DOC_SCALAR, "priority", err));
        /* Below 0 too: who is in no hurry may say so. */
        if (!myr_str_to_i64(priority->text, &value) || value < -MYR_PRIORITY_MAX ||
            value > MYR_PRIORITY_MAX) {
            return myr_doc_error(err, priority, MYR_ERANGE,
                                 "'priority' is no whole number from -%d to %d", MYR_PRIORITY_MAX,
                                 MYR_PRIORITY_MAX);
        }
        ret->priority = (int32_t)value;
    }
    if (restart) {
        MYR_TRY(
            myr_doc_choice(restart, "restart", restarts, MYR_ARRAY_COUNT(restarts), &choice, err));
    }
    ret->restart = (enum myr_restart)choice;
    if (service) {
        MYR_TRY(myr_doc_bool(service, "service", &ret->service, err));
    }
    /* One tenant for all who name none. */
    snprintf(ret->tenant, sizeof(ret->tenant), "default");
    if (tenant) {
        MYR_TRY(read_name(tenant, "tenant", ret->tenant, sizeof(ret->tenant), err));
    }
    ret->retries = 3;
    ret->lease_s = 600;
    MYR_TRY(read_u32(top, "retries", 0, MYR_JOB_RETRIES_MAX, &ret->retries, err));
    return read_u32(top, "lease_s", 1, MYR_LEASE_S_MAX, &ret->lease_s, err);
}

/* Unknown keys first: a slip in a name is told before anything that follows from it. */
static int read_top(const struct myr_doc *top, uint32_t gpus_per_node, struct myr_jobfile *ret,
                    struct myr_err *err)
{
    const struct myr_doc *name = myr_doc_get(top, "name");
    MYR_TRY(myr_doc_expect(top, MYR_DOC_MAP, "a job file", err));
    MYR_TRY(myr_doc_check_keys(top, NULL, myr_jobfile_keys, MYR_JOBFILE_KEYS, err));
    snprintf(ret->name, sizeof(ret->name), "job");
    if (name) {
        MYR_TRY(read_name(name, "name", ret->name, sizeof(ret->name), err));
    }
    MYR_TRY(read_size(top, gpus_per_node, ret, err));
    MYR_TRY(check_command(top, err));
    MYR_TRY(check_env(top, err));
    MYR_TRY(check_texts(top, err));
    MYR_TRY(read_wish(top, gpus_per_node, ret, err));
    MYR_TRY(read_limit(top, ret, err));
    MYR_TRY(read_array(top, ret, err));
    MYR_TRY(read_after(top, ret, err));
    MYR_TRY(read_rest(top, ret, err));
    return read_twin(top, ret, err);
}

static int read_text(struct myr_arena *arena, const char *file, struct myr_str text,
                     const struct myr_doc **ret, struct myr_err *err)
{
    /* JSON where it begins as an object does, else YAML. */
    bool json = text.len > 0 && text.data[0] == '{';
    return json ? myr_doc_read_json(arena, file, text, ret, err)
                : myr_doc_read_yaml(arena, file, text, ret, err);
}

/* Of a text that cannot be read there are none: whoever reads it says why. */
uint32_t myr_jobfile_unheeded(struct myr_str text, enum myr_job_world world,
                              const char *ret[MYR_JOBFILE_KEYS])
{
    const struct myr_doc *top;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    uint32_t count = 0;
    MYR_ASSERT(world < MYR_JOB_WORLDS);
    if (read_text(&arena, "job", text, &top, NULL) == MYR_OK) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(unheeded); i++) {
            if (unheeded[i].in[world] && myr_doc_get(top, unheeded[i].key)) {
                ret[count++] = unheeded[i].key;
            }
        }
    }
    return count;
}

/* Values only: nothing of 'ret' points into the text. */
int myr_jobfile_read(const char *file, struct myr_str text, uint32_t gpus_per_node,
                     struct myr_jobfile *ret, struct myr_err *err)
{
    const struct myr_doc *top;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    /* It goes to every node of the job in one message. */
    if (text.len > MYR_JOBFILE_BYTES_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%s: %zu bytes; a job file has at most %u", file,
                           text.len, MYR_JOBFILE_BYTES_MAX);
    }
    *ret = (struct myr_jobfile){};
    MYR_TRY(read_text(&arena, file, text, &top, err));
    return read_top(top, gpus_per_node, ret, err);
}
