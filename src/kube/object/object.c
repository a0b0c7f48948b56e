/* object: nodes and pods out of what the API server sends; what is not used is not looked at. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "kube.h"

/* Most objects are small, and there are thousands. */
enum { OBJECT_BYTES = 1024, NAME_MAX_BYTES = 253, PRIORITY_MAX = 1000000 };

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
#define TEXT(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
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

const struct myr_str kube_notes[KUBE_NOTES] = {
    [KUBE_NOTE_INDEX] = TEXT(COMPLETION_INDEX),
    [KUBE_NOTE_GANG] = TEXT(MYR_KUBE_GANG),
    [KUBE_NOTE_GANG_SIZE] = TEXT(MYR_KUBE_GANG_SIZE),
    [KUBE_NOTE_PRIORITY] = TEXT(MYR_KUBE_PRIORITY),
    [KUBE_NOTE_NODE] = TEXT(MYR_KUBE_NODE),
    [KUBE_NOTE_PLACEMENT] = TEXT(MYR_KUBE_PLACEMENT),
    [KUBE_NOTE_RANK] = TEXT(MYR_KUBE_RANK),
    [KUBE_NOTE_WORLD] = TEXT(MYR_KUBE_WORLD),
    [KUBE_NOTE_MASTER] = TEXT(MYR_KUBE_MASTER),
    [KUBE_NOTE_PLAN] = TEXT(MYR_KUBE_PLAN),
    [KUBE_NOTE_RESTART] = TEXT(MYR_KUBE_RESTART),
};
static const struct myr_doc_part notes[KUBE_NOTES + 1] = {
    [KUBE_NOTE_INDEX] = ALL(COMPLETION_INDEX),
    [KUBE_NOTE_GANG] = ALL(MYR_KUBE_GANG),
    [KUBE_NOTE_GANG_SIZE] = ALL(MYR_KUBE_GANG_SIZE),
    [KUBE_NOTE_PRIORITY] = ALL(MYR_KUBE_PRIORITY),
    [KUBE_NOTE_NODE] = ALL(MYR_KUBE_NODE),
    [KUBE_NOTE_PLACEMENT] = ALL(MYR_KUBE_PLACEMENT),
    [KUBE_NOTE_RANK] = ALL(MYR_KUBE_RANK),
    [KUBE_NOTE_WORLD] = ALL(MYR_KUBE_WORLD),
    [KUBE_NOTE_MASTER] = ALL(MYR_KUBE_MASTER),
    [KUBE_NOTE_PLAN] = ALL(MYR_KUBE_PLAN),
    [KUBE_NOTE_RESTART] = ALL(MYR_KUBE_RESTART),
};
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
                                               {"resources", asked},
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

/* NULL where a line has no object at all. */
static int no_object(struct myr_err *err, const struct myr_doc *object, const char *what)
{
    return object ? myr_doc_error(err, object, MYR_EINVAL, "%s", what)
                  : myr_err_set(err, MYR_EINVAL, "%s", what);
}

/* What a uid looks like is the API server's business; here it is a key, and not too long a one. */
static bool is_uid(struct myr_str uid)
{
    return uid.len > 0 && uid.len <= NAME_MAX_BYTES;
}

/* What is left for pods; a node that does not tell it has its capacity for them. */
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
        /*
         * A kind beyond those that are told apart is left out: pods that ask for it are refused
         * anyway.
         */
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
    node->taints = MYR_ARENA_NEW(&node->arena, struct kube_taint, list->count);
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
    /* A node that says nothing of it is not ready. */
    for (uint32_t i = 0; conditions && i < conditions->count; i++) {
        if (myr_str_eq(kube_text(conditions->items[i], "type"), MYR_STR("Ready"))) {
            node->ready = myr_str_eq(kube_text(conditions->items[i], "status"), MYR_STR("True"));
        }
    }
    /* Where it has no address its name must do for the address of rank 0. */
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
        digest = kube_mix(kube_mix(digest, node->labels.items[i].key), node->labels.items[i].value);
    }
    digest = myr_hash_u64(digest) + node->labels.count; /* what follows is no label */
    for (uint32_t i = 0; i < node->taint_count; i++) {
        digest = kube_mix(kube_mix(digest, node->taints[i].key), node->taints[i].value) +
                 (uint64_t)node->taints[i].effect;
    }
    digest = myr_hash_u64(digest) + node->taint_count;
    for (uint32_t i = 0; i < node->has.count; i++) {
        digest =
            myr_hash_u64(digest + node->has.items[i].resource) + (uint64_t)node->has.items[i].milli;
    }
    return kube_mix(digest, node->address);
}

/* A name goes into paths and a uid is what it is known by: without both it is no node. */
struct kube_node *kube_node_read(struct kube_resources *resources, const struct myr_doc *object,
                                 const struct myr_kube_policy *policy, struct myr_err *err)
{
    const struct myr_doc *meta = myr_doc_get(object, "metadata");
    const struct myr_doc *spec = myr_doc_get(object, "spec");
    if (!kube_is_name(kube_text(meta, "name")) || !is_uid(kube_text(meta, "uid"))) {
        (void)no_object(err, object, "a node without a proper name and uid");
        return NULL;
    }
    struct kube_node *node = myr_xcalloc(1, sizeof(*node));
    node->arena.next_block_bytes = OBJECT_BYTES;
    node->name = kube_keep(&node->arena, kube_text(meta, "name"));
    node->uid = kube_keep(&node->arena, kube_text(meta, "uid"));
    node->labels = kube_pairs_read(&node->arena, myr_doc_get(meta, "labels"));
    bool there = false;
    /* The first of the labels that it has names its leaf. */
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

/* --- pods */

bool kube_pod_named(const struct kube_pod_texts *t)
{
    return kube_is_name(t->name) && kube_is_name(t->space) && is_uid(t->uid);
}

/* MYR_NONE: it is none, or too large. */
static uint32_t small_number(struct myr_str text, uint32_t most)
{
    uint64_t value;
    return myr_str_to_u64(text, &value) && value <= most ? (uint32_t)value : MYR_NONE;
}

/* 0 when it is none, or beyond them. */
static int32_t number_between(struct myr_str text, int32_t least, int32_t most)
{
    int64_t value;
    return myr_str_to_i64(text, &value) && value >= least && value <= most ? (int32_t)value : 0;
}

/*
 * A time of deletion is there from when somebody has asked for it. A time of creation that is none
 * makes the pod the oldest of all, and so its gang.
 */
void kube_pod_numbers(struct kube_pod_texts *t)
{
    t->deleting = t->json.deleted.len > 0;
    t->host_network = myr_str_eq(t->json.host_network, MYR_STR("true"));
    t->priority = number_between(t->json.priority, INT32_MIN, INT32_MAX);
    if (!kube_time(t->json.created, &t->created_ms)) {
        t->created_ms = 0;
    }
}

/*
 * A pod without a gang is a gang of one; with a gang and without a proper size it has none, and an
 * event says so. What a scheduler of ours has written is believed only in its range.
 */
static void read_notes(struct kube_pod *pod, const struct kube_pod_texts *t)
{
    struct myr_str size = t->notes[KUBE_NOTE_GANG_SIZE];
    pod->gang_size = size.len ? small_number(size, MYR_KUBE_GANG_MAX) : pod->gang.len ? 0 : 1;
    if (pod->gang_size == MYR_NONE || pod->gang.len > NAME_MAX_BYTES) {
        pod->gang_size = 0;
    }
    pod->own_priority = number_between(t->notes[KUBE_NOTE_PRIORITY], -PRIORITY_MAX, PRIORITY_MAX);
    pod->strict = myr_str_eq(t->notes[KUBE_NOTE_RESTART], MYR_STR("strict"));
    pod->indexed = myr_str_to_u64(t->notes[KUBE_NOTE_INDEX], &pod->index);
    pod->planned_rank = small_number(t->notes[KUBE_NOTE_RANK], MYR_KUBE_GANG_MAX - 1);
    pod->planned_world = small_number(t->notes[KUBE_NOTE_WORLD], MYR_KUBE_GANG_MAX);
}

/* What is unknown counts as not begun: such a pod is neither over nor forgotten. */
static enum kube_phase phase_of(struct myr_str text)
{
    return myr_str_eq(text, MYR_STR("Running"))     ? KUBE_RUNNING
           : myr_str_eq(text, MYR_STR("Succeeded")) ? KUBE_SUCCEEDED
           : myr_str_eq(text, MYR_STR("Failed"))    ? KUBE_FAILED
                                                    : KUBE_PENDING;
}

/* Copies them behind the pod, one after the other, each with an end: there are many pods. */
static struct kube_pod *keep_texts(const struct kube_pod_texts *t)
{
    const struct myr_str none = {"", 0};
    const struct myr_str texts[] = {t->space,
                                    t->name,
                                    t->uid,
                                    t->node.len <= NAME_MAX_BYTES ? t->node : none,
                                    t->notes[KUBE_NOTE_GANG],
                                    t->owner_kind,
                                    t->owner_name,
                                    t->owner_uid,
                                    t->owner_api,
                                    t->hostname,
                                    t->subdomain,
                                    t->notes[KUBE_NOTE_NODE],
                                    t->notes[KUBE_NOTE_PLACEMENT],
                                    t->notes[KUBE_NOTE_MASTER],
                                    t->notes[KUBE_NOTE_PLAN]};
    size_t bytes = 0;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        bytes += texts[i].len + 1;
    }
    struct kube_pod *pod = myr_xcalloc(1, sizeof(*pod) + bytes);
    struct myr_str *const kept[] = {
        &pod->space,      &pod->name,         &pod->uid,       &pod->node,      &pod->gang,
        &pod->owner_kind, &pod->owner_name,   &pod->owner_uid, &pod->owner_api, &pod->hostname,
        &pod->subdomain,  &pod->planned_node, &pod->placement, &pod->master,    &pod->plan};
    static_assert(MYR_ARRAY_COUNT(kept) == MYR_ARRAY_COUNT(texts), "a text for each");
    char *at = (char *)(pod + 1);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        *kept[i] = (struct myr_str){at, texts[i].len};
        myr_str_put(texts[i], at);
        at += texts[i].len + 1;
    }
    return pod;
}

struct kube_pod *kube_pod_make(const struct kube_pod_texts *t, struct kube_needs *needs,
                               const struct myr_kube_policy *policy)
{
    MYR_ASSERT(kube_pod_named(t) && needs);
    struct kube_pod *pod = keep_texts(t);
    /* For what kube_plan_adopt() adds; the texts of the object lie behind the pod. */
    pod->arena.next_block_bytes = OBJECT_BYTES;
    pod->needs = needs;
    pod->deleting = t->deleting;
    pod->phase = phase_of(t->phase);
    pod->assumed = pod->on = MYR_NONE;
    pod->created_ms = t->created_ms;
    pod->ours = myr_str_eq(t->scheduler, myr_str_from(policy->scheduler));
    pod->host_network = t->host_network;
    pod->priority = t->priority;
    read_notes(pod, t);
    return pod;
}

/* The controller among its owners: who makes the pod again. */
static void owner_texts(const struct myr_doc *meta, struct kube_pod_texts *t)
{
    const struct myr_doc *list = kube_list(meta, "ownerReferences");
    for (uint32_t i = 0; list && i < list->count; i++) {
        const struct myr_doc *owner = list->items[i];
        if (myr_str_eq(kube_text(owner, "controller"), MYR_STR("true")) &&
            kube_is_name(kube_text(owner, "name"))) {
            t->owner_kind = kube_text(owner, "kind");
            t->owner_name = kube_text(owner, "name");
            t->owner_uid = kube_text(owner, "uid");
            t->owner_api = kube_text(owner, "apiVersion");
            return;
        }
    }
}

/* The whole way, from a tree: pods of lists, and of lines that quick.c leaves alone. */
struct kube_pod *kube_pod_read(struct kube_resources *resources, const struct myr_doc *object,
                               const struct myr_kube_policy *policy, struct myr_err *err)
{
    const struct myr_doc *meta = myr_doc_get(object, "metadata");
    const struct myr_doc *spec = myr_doc_get(object, "spec");
    const struct myr_doc *map = myr_doc_get(meta, "annotations");
    struct kube_pod_texts t = {.name = kube_text(meta, "name"),
                               .space = kube_text(meta, "namespace"),
                               .uid = kube_text(meta, "uid"),
                               .version = kube_text(meta, "resourceVersion"),
                               .node = kube_text(spec, "nodeName"),
                               .scheduler = kube_text(spec, "schedulerName"),
                               .hostname = kube_text(spec, "hostname"),
                               .subdomain = kube_text(spec, "subdomain"),
                               .phase = kube_text(myr_doc_get(object, "status"), "phase"),
                               .json = {.created = kube_text(meta, "creationTimestamp"),
                                        .deleted = kube_text(meta, "deletionTimestamp"),
                                        .host_network = kube_text(spec, "hostNetwork"),
                                        .priority = kube_text(spec, "priority")}};
    if (!kube_pod_named(&t)) {
        (void)no_object(err, object, "a pod without a proper name and uid");
        return NULL;
    }
    for (uint32_t i = 0; i < KUBE_NOTES; i++) {
        t.notes[i] = kube_text(map, notes[i].key);
    }
    owner_texts(meta, &t);
    kube_pod_numbers(&t);
    return kube_pod_make(&t, kube_needs_of(resources, spec), policy);
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
        /* They may be others' too, and go with their last user. */
        kube_needs_free(pod->needs);
        free(pod);
    }
}
