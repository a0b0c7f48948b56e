/* object: nodes and pods out of what the API server sends; what is not used is not looked at. */
#include <stdio.h>
#include <stdlib.h>

#include "kube.h"

/* Most objects are small, and there are thousands. */
enum { OBJECT_BYTES = 1024, NAME_MAX_BYTES = 253 };

#define COMPLETION_INDEX "batch.kubernetes.io/job-completion-index"

/*
 * What is read of an object. Most of its text is of no use here (who has set which field, images,
 * volumes, the states of containers), and is passed over. Whoever reads one more field names it
 * here: 'object' of the unit tests compares with whole objects. "code" and "message" are those of
 * the error that comes in an object's place.
 */
#define ALL(name)  \
    {              \
        name, NULL \
    }
#define END        \
    {              \
        NULL, NULL \
    }

static const struct myr_doc_part node_meta[] = {ALL("name"), ALL("uid"), ALL("resourceVersion"),
                                                ALL("labels"), END};
static const struct myr_doc_part node_spec[] = {ALL("unschedulable"), ALL("taints"), END};
static const struct myr_doc_part condition[] = {ALL("type"), ALL("status"), END};
static const struct myr_doc_part node_status[] = {
    ALL("allocatable"), ALL("capacity"), ALL("addresses"), {"conditions", condition}, END};
const struct myr_doc_part kube_node_parts[] = {{"metadata", node_meta}, {"spec", node_spec},
                                               {"status", node_status}, ALL("code"),
                                               ALL("message"),          END};

static const struct myr_doc_part notes[] = {ALL(COMPLETION_INDEX),
                                            ALL(MYR_KUBE_GANG),
                                            ALL(MYR_KUBE_GANG_SIZE),
                                            ALL(MYR_KUBE_PRIORITY),
                                            ALL(MYR_KUBE_NODE),
                                            ALL(MYR_KUBE_PLACEMENT),
                                            ALL(MYR_KUBE_RANK),
                                            ALL(MYR_KUBE_WORLD),
                                            ALL(MYR_KUBE_MASTER),
                                            ALL(MYR_KUBE_PLAN),
                                            END};
static const struct myr_doc_part pod_meta[] = {ALL("name"),
                                               ALL("namespace"),
                                               ALL("uid"),
                                               ALL("resourceVersion"),
                                               ALL("creationTimestamp"),
                                               ALL("deletionTimestamp"),
                                               ALL("ownerReferences"),
                                               {"annotations", notes},
                                               END};
static const struct myr_doc_part asked[] = {ALL("requests"), END};
static const struct myr_doc_part container[] = {
    {"resources", asked}, ALL("ports"), ALL("restartPolicy"), END};
static const struct myr_doc_part spread[] = {ALL("whenUnsatisfiable"), END};
static const struct myr_doc_part pod_spec[] = {ALL("nodeName"),
                                               ALL("schedulerName"),
                                               ALL("hostNetwork"),
                                               ALL("hostname"),
                                               ALL("subdomain"),
                                               ALL("priority"),
                                               {"containers", container},
                                               {"initContainers", container},
                                               ALL("overhead"),
                                               ALL("nodeSelector"),
                                               ALL("tolerations"),
                                               ALL("affinity"),
                                               {"topologySpreadConstraints", spread},
                                               ALL("schedulingGates"),
                                               ALL("resourceClaims"),
                                               END};
static const struct myr_doc_part pod_status[] = {ALL("phase"), END};
const struct myr_doc_part kube_pod_parts[] = {{"metadata", pod_meta}, {"spec", pod_spec},
                                              {"status", pod_status}, ALL("code"),
                                              ALL("message"),         END};

static int no_object(struct myr_err *err, const struct myr_doc *object, const char *what)
{
    return object ? myr_doc_error(err, object, MYR_EINVAL, "%s", what)
                  : myr_err_set(err, MYR_EINVAL, "%s", what);
}

/* The common part: metadata with a name and a uid. */
static int check_object(const struct myr_doc *object, bool spaced, const struct myr_doc **ret,
                        struct myr_err *err)
{
    const struct myr_doc *meta = myr_doc_get(object, "metadata");
    if (!kube_is_name(kube_text(meta, "name")) ||
        (spaced && !kube_is_name(kube_text(meta, "namespace")))) {
        return no_object(err, object, "an object without a proper name");
    }
    struct myr_str uid = kube_text(meta, "uid");
    if (uid.len == 0 || uid.len > NAME_MAX_BYTES) {
        return no_object(err, object, "an object without a uid");
    }
    *ret = meta;
    return MYR_OK;
}

static void read_has(struct kube_resources *resources, struct kube_node *node,
                     const struct myr_doc *status)
{
    const struct myr_doc *map = myr_doc_get(status, "allocatable");
    if (!map || map->kind != MYR_DOC_MAP) {
        map = myr_doc_get(status, "capacity");
    }
    if (!map || map->kind != MYR_DOC_MAP) {
        return;
    }
    node->has.items = MYR_ARENA_NEW(&node->arena, struct kube_amount, KUBE_RESOURCES);
    for (uint32_t i = 0; i < map->count && node->has.count < KUBE_RESOURCES; i++) {
        const struct myr_doc_entry *entry = &map->entries[i];
        int64_t milli;
        uint32_t id = kube_resource(resources, entry->key);
        if (id != MYR_NONE && entry->value->kind == MYR_DOC_SCALAR &&
            kube_quantity(entry->value->text, &milli)) {
            node->has.items[node->has.count++] = (struct kube_amount){id, milli};
        }
    }
}

static void read_taints(struct kube_node *node, const struct myr_doc *spec)
{
    const struct myr_doc *list = kube_list(spec, "taints");
    if (!list) {
        return;
    }
    node->taints = MYR_ARENA_NEW(&node->arena, struct kube_taint, list->count + 1);
    for (uint32_t i = 0; i < list->count; i++) {
        node->taints[node->taint_count++] = (struct kube_taint){
            .key = kube_keep(&node->arena, kube_text(list->items[i], "key")),
            .value = kube_keep(&node->arena, kube_text(list->items[i], "value")),
            .effect = kube_effect_of(kube_text(list->items[i], "effect"))};
    }
}

static void read_status(struct kube_node *node, const struct myr_doc *status)
{
    const struct myr_doc *conditions = kube_list(status, "conditions");
    const struct myr_doc *addresses = kube_list(status, "addresses");
    for (uint32_t i = 0; conditions && i < conditions->count; i++) {
        if (myr_str_eq(kube_text(conditions->items[i], "type"), MYR_STR("Ready"))) {
            node->ready = myr_str_eq(kube_text(conditions->items[i], "status"), MYR_STR("True"));
        }
    }
    node->address = node->name;
    for (uint32_t i = 0; addresses && i < addresses->count; i++) {
        struct myr_str address = kube_text(addresses->items[i], "address");
        if (myr_str_eq(kube_text(addresses->items[i], "type"), MYR_STR("InternalIP")) &&
            address.len > 0 && address.len <= NAME_MAX_BYTES) {
            node->address = kube_keep(&node->arena, address);
            break;
        }
    }
}

/* Everything of a node that a decision looks at: heartbeats change none of it. */
static uint64_t digest_of(const struct kube_node *node)
{
    uint64_t digest = (uint64_t)node->unschedulable * 2 + node->ready;
    for (uint32_t i = 0; i < node->labels.count; i++) {
        struct myr_str key = node->labels.items[i].key, value = node->labels.items[i].value;
        digest = myr_hash_u64(digest + myr_hash_bytes(key.data, key.len)) +
                 myr_hash_bytes(value.data, value.len);
    }
    for (uint32_t i = 0; i < node->taint_count; i++) {
        struct myr_str key = node->taints[i].key, value = node->taints[i].value;
        digest = myr_hash_u64(digest + myr_hash_bytes(key.data, key.len)) +
                 myr_hash_bytes(value.data, value.len) + (uint64_t)node->taints[i].effect;
    }
    for (uint32_t i = 0; i < node->has.count; i++) {
        digest =
            myr_hash_u64(digest + node->has.items[i].resource) + (uint64_t)node->has.items[i].milli;
    }
    return myr_hash_u64(digest + myr_hash_bytes(node->address.data, node->address.len));
}

struct kube_node *kube_node_read(struct kube_resources *resources, const struct myr_doc *object,
                                 const struct myr_kube_policy *policy, struct myr_err *err)
{
    const struct myr_doc *meta, *spec = myr_doc_get(object, "spec");
    if (check_object(object, false, &meta, err) < 0) {
        return NULL;
    }
    struct kube_node *node = myr_xcalloc(1, sizeof(*node));
    myr_arena_init(&node->arena);
    node->arena.next_block_bytes = OBJECT_BYTES;
    node->name = kube_keep(&node->arena, kube_text(meta, "name"));
    node->uid = kube_keep(&node->arena, kube_text(meta, "uid"));
    node->labels = kube_pairs_read(&node->arena, myr_doc_get(meta, "labels"));
    bool there = false;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(policy->leaf_labels) && !there; i++) {
        if (policy->leaf_labels[i]) {
            node->leaf = kube_pair(&node->labels, policy->leaf_labels[i], &there);
        }
    }
    node->unschedulable = myr_str_eq(kube_text(spec, "unschedulable"), MYR_STR("true"));
    node->lost_ms = -1;
    read_taints(node, spec);
    read_has(resources, node, myr_doc_get(object, "status"));
    read_status(node, myr_doc_get(object, "status"));
    node->digest = digest_of(node);
    return node;
}

static void read_owner(struct kube_pod *pod, const struct myr_doc *meta)
{
    const struct myr_doc *list = kube_list(meta, "ownerReferences");
    for (uint32_t i = 0; list && i < list->count; i++) {
        const struct myr_doc *owner = list->items[i];
        if (myr_str_eq(kube_text(owner, "controller"), MYR_STR("true")) &&
            kube_is_name(kube_text(owner, "name"))) {
            pod->owner_kind = kube_keep(&pod->arena, kube_text(owner, "kind"));
            pod->owner_name = kube_keep(&pod->arena, kube_text(owner, "name"));
            pod->owner_uid = kube_keep(&pod->arena, kube_text(owner, "uid"));
            pod->owner_api = kube_keep(&pod->arena, kube_text(owner, "apiVersion"));
            return;
        }
    }
}

static uint32_t small_number(struct myr_str text, uint32_t most)
{
    uint64_t value;
    return myr_str_to_u64(text, &value) && value <= most ? (uint32_t)value : MYR_NONE;
}

static void read_annotations(struct kube_pod *pod, const struct myr_doc *meta)
{
    const struct myr_doc *map = myr_doc_get(meta, "annotations");
    struct myr_str index = kube_text(map, COMPLETION_INDEX);
    struct myr_str size = kube_text(map, MYR_KUBE_GANG_SIZE);
    pod->gang = kube_keep(&pod->arena, kube_text(map, MYR_KUBE_GANG));
    pod->gang_size = size.len ? small_number(size, MYR_KUBE_GANG_MAX) : pod->gang.len ? 0 : 1;
    if (pod->gang_size == MYR_NONE || pod->gang.len > NAME_MAX_BYTES) {
        pod->gang_size = 0;
    }
    int64_t priority;
    if (myr_str_to_i64(kube_text(map, MYR_KUBE_PRIORITY), &priority) && priority >= -1000000 &&
        priority <= 1000000) {
        pod->own_priority = (int32_t)priority;
    }
    pod->indexed = myr_str_to_u64(index, &pod->index);
    pod->planned_node = kube_keep(&pod->arena, kube_text(map, MYR_KUBE_NODE));
    pod->placement = kube_keep(&pod->arena, kube_text(map, MYR_KUBE_PLACEMENT));
    pod->master = kube_keep(&pod->arena, kube_text(map, MYR_KUBE_MASTER));
    pod->plan = kube_keep(&pod->arena, kube_text(map, MYR_KUBE_PLAN));
    pod->planned_rank = small_number(kube_text(map, MYR_KUBE_RANK), MYR_KUBE_GANG_MAX - 1);
    pod->planned_world = small_number(kube_text(map, MYR_KUBE_WORLD), MYR_KUBE_GANG_MAX);
}

static enum kube_phase phase_of(struct myr_str text)
{
    return myr_str_eq(text, MYR_STR("Running"))     ? KUBE_RUNNING
           : myr_str_eq(text, MYR_STR("Succeeded")) ? KUBE_SUCCEEDED
           : myr_str_eq(text, MYR_STR("Failed"))    ? KUBE_FAILED
                                                    : KUBE_PENDING;
}

static void read_spec(struct kube_resources *resources, struct kube_pod *pod,
                      const struct myr_doc *spec, const struct myr_kube_policy *policy)
{
    int64_t priority;
    struct myr_str node = kube_text(spec, "nodeName");
    pod->ours = myr_str_eq(kube_text(spec, "schedulerName"), myr_str_from(policy->scheduler));
    pod->node = kube_keep(&pod->arena, node.len <= NAME_MAX_BYTES ? node : (struct myr_str){0});
    pod->host_network = myr_str_eq(kube_text(spec, "hostNetwork"), MYR_STR("true"));
    pod->hostname = kube_keep(&pod->arena, kube_text(spec, "hostname"));
    pod->subdomain = kube_keep(&pod->arena, kube_text(spec, "subdomain"));
    if (myr_str_to_i64(kube_text(spec, "priority"), &priority) && priority >= INT32_MIN &&
        priority <= INT32_MAX) {
        pod->priority = (int32_t)priority;
    }
    kube_needs_read(resources, &pod->arena, spec, &pod->needs);
}

struct kube_pod *kube_pod_read(struct kube_resources *resources, const struct myr_doc *object,
                               const struct myr_kube_policy *policy, struct myr_err *err)
{
    const struct myr_doc *meta, *status = myr_doc_get(object, "status");
    if (check_object(object, true, &meta, err) < 0) {
        return NULL;
    }
    struct kube_pod *pod = myr_xcalloc(1, sizeof(*pod));
    myr_arena_init(&pod->arena);
    pod->arena.next_block_bytes = OBJECT_BYTES;
    pod->space = kube_keep(&pod->arena, kube_text(meta, "namespace"));
    pod->name = kube_keep(&pod->arena, kube_text(meta, "name"));
    pod->uid = kube_keep(&pod->arena, kube_text(meta, "uid"));
    struct myr_str version = kube_text(meta, "resourceVersion");
    pod->version = kube_keep(&pod->arena, version.len < 64 ? version : (struct myr_str){0});
    pod->deleting = kube_text(meta, "deletionTimestamp").len > 0;
    pod->phase = phase_of(kube_text(status, "phase"));
    pod->assumed = pod->on = MYR_NONE;
    if (!kube_time(kube_text(meta, "creationTimestamp"), &pod->created_ms)) {
        pod->created_ms = 0;
    }
    read_owner(pod, meta);
    read_annotations(pod, meta);
    read_spec(resources, pod, myr_doc_get(object, "spec"), policy);
    return pod;
}

void kube_node_free(struct kube_node *node)
{
    if (node) {
        myr_arena_done(&node->arena);
        free(node);
    }
}

void kube_pod_free(struct kube_pod *pod)
{
    if (pod) {
        myr_arena_done(&pod->arena);
        free(pod);
    }
}
