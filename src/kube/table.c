/* table: every node and pod that is known, as lists and watches tell them. */
#include <stdio.h>
#include <stdlib.h>

#include "kube.h"
#include "word/word.h"

/* Places that nobody has before they are given back; bytes of a resourceVersion. */
enum { GONE_MAX = 1024, VERSION_MAX = 64 };

struct myr_kube_policy myr_kube_policy_default(void)
{
    return (struct myr_kube_policy){
        .scheduler = "myriad",
        .leaf_labels = {"myriad/leaf", "network.topology.nvidia.com/leaf"},
        .nodes_per_leaf = 8,
        .hold_ms = 600000, /* ten minutes */
        .lost_ms = 5000,
    };
}

/* The policy's texts are copied: the caller's need not live as long as the cluster. */
struct myr_kube_cluster *myr_kube_cluster_create(const struct myr_kube_policy *policy)
{
    struct myr_kube_cluster *c = myr_xcalloc(1, sizeof(*c));
    c->policy = *policy;
    snprintf(c->scheduler, sizeof(c->scheduler), "%s", policy->scheduler);
    c->policy.scheduler = c->scheduler;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(c->labels); i++) {
        if (policy->leaf_labels[i]) {
            snprintf(c->labels[i], sizeof(c->labels[i]), "%s", policy->leaf_labels[i]);
            c->policy.leaf_labels[i] = c->labels[i];
        }
    }
    c->policy.nodes_per_leaf = policy->nodes_per_leaf ? policy->nodes_per_leaf : 8;
    c->wake_ms = INT64_MAX;
    c->order_stale = c->use_stale = true;
    return c;
}

void myr_kube_cluster_free(struct myr_kube_cluster *c)
{
    if (!c) {
        return;
    }
    for (size_t i = 0; i < c->nodes.count; i++) {
        kube_node_free(c->nodes.items[i]);
        free(c->node_keys.items[i]);
    }
    for (size_t i = 0; i < c->pods.count; i++) {
        kube_pod_free(c->pods.items[i]);
        free(c->pod_keys.items[i]);
    }
    for (uint32_t i = 0; i < KUBE_KINDS; i++) {
        free(c->kinds[i].spots);
    }
    kube_gangs_free(c);
    myr_vec_done(&c->nodes);
    myr_vec_done(&c->node_keys);
    myr_vec_done(&c->pods);
    myr_vec_done(&c->pod_keys);
    myr_vec_done(&c->decisions);
    myr_strmap_done(&c->node_ids);
    myr_strmap_done(&c->pod_ids);
    myr_strmap_done(&c->resources.ids);
    myr_arena_done(&c->resources.arena);
    myr_arena_done(&c->arena);
    myr_arena_done(&c->scratch);
    myr_buf_done(&c->needs);
    myr_buf_done(&c->spelled);
    free(c->use);
    free(c->stamp_of);
    free(c->node_at);
    free(c);
}

/* By uid and not by name: a pod that was made again may have the name of the one before. */
uint32_t kube_pod_find(const struct myr_kube_cluster *c, struct myr_str uid)
{
    uint32_t id = myr_strmap_get(&c->pod_ids, uid);
    MYR_ASSERT(id == MYR_MAP_NONE || id < c->pods.count);
    return id;
}

static char *copy_text(struct myr_str text)
{
    char *copy = myr_xcalloc(1, text.len + 1);
    myr_str_put(text, copy);
    return copy;
}

/* A node that is deleted (NULL) is lost at once, one that is not ready after a while. */
bool kube_node_lost(const struct myr_kube_cluster *c, const struct kube_node *node, int64_t now_ms)
{
    MYR_ASSERT(!node || node->lost_ms < 0 || !node->ready); /* who is ready is not lost */
    return !node || (node->lost_ms >= 0 && now_ms - node->lost_ms >= c->policy.lost_ms);
}

/* --- nodes */

/*
 * A node that was there before keeps its number, whatever became of it meanwhile: pods point at it.
 * 'lost_ms' counts from when we first heard that it is not ready, by our clock. Most words of a
 * node are heartbeats, and change nothing that its digest knows.
 */
static void put_node(struct myr_kube_cluster *c, struct kube_node *node, int64_t now_ms)
{
    uint32_t id = kube_node_find(c, node->name);
    struct kube_node *old = id != MYR_NONE ? c->nodes.items[id] : NULL;
    if (id == MYR_NONE) {
        char *key = copy_text(node->name);
        id = (uint32_t)c->nodes.count;
        myr_vec_push(&c->nodes, NULL);
        myr_vec_push(&c->node_keys, key);
        bool added = myr_strmap_add(&c->node_ids, (struct myr_str){key, node->name.len}, id);
        MYR_ASSERT(added);
        c->use_stale = true; /* pods may have been told of before it */
    }
    if (!node->ready) {
        node->lost_ms = old && !old->ready ? old->lost_ms : now_ms;
    }
    MYR_ASSERT(id < c->nodes.count && c->nodes.count == c->node_keys.count);
    node->seen = c->listing[MYR_KUBE_NODES];
    if (!old || old->digest != node->digest) {
        c->changed = true;
        c->node_changes++;
        kube_use_touch(c, id);
    }
    /* Only a node that is new or has moved changes the order of the fabric. */
    if (!old || !myr_str_eq(old->leaf, node->leaf)) {
        c->order_stale = true;
    } else {
        node->place = old->place;
    }
    /* A number is never given twice: pods that point at it mean this node. */
    MYR_ASSERT(!old || myr_str_eq(old->name, node->name));
    kube_node_free(old);
    c->nodes.items[id] = node;
}

/* Its number and key stay: one that comes back under its name finds them. */
static void drop_node(struct myr_kube_cluster *c, uint32_t id)
{
    MYR_ASSERT(id == MYR_NONE || id < c->nodes.count);
    if (id != MYR_NONE && c->nodes.items[id]) {
        kube_node_free(c->nodes.items[id]);
        c->nodes.items[id] = NULL;
        c->changed = c->order_stale = true;
        c->node_changes++;
        kube_use_touch(c, id);
    }
}

/* --- pods */

/* Places that nobody has are given back now and then. */
static void compact_pods(struct myr_kube_cluster *c)
{
    MYR_ASSERT(c->pods_gone <= c->pods.count && c->pods.count == c->pod_keys.count);
    if (c->pods_gone < GONE_MAX || c->pods_gone < c->pods.count / 2) {
        return;
    }
    uint32_t kept = 0;
    myr_strmap_done(&c->pod_ids);
    c->pod_ids = (struct myr_strmap){};
    for (size_t i = 0; i < c->pods.count; i++) {
        if (!c->pods.items[i]) {
            free(c->pod_keys.items[i]);
            continue;
        }
        /* Others point at pods and not at their numbers: these may change. */
        c->pods.items[kept] = c->pods.items[i];
        c->pod_keys.items[kept] = c->pod_keys.items[i];
        bool added = myr_strmap_add(&c->pod_ids, myr_str_from(c->pod_keys.items[kept]), kept);
        MYR_ASSERT(added);
        kept++;
    }
    MYR_ASSERT(kept + c->pods_gone == c->pods.count);
    c->pods.count = c->pod_keys.count = kept;
    c->pods_gone = 0;
}

/* Whether a round could decide otherwise; the states of containers, for one, make no difference. */
static bool differs(const struct kube_pod *a, const struct kube_pod *b)
{
    return a->phase != b->phase || a->deleting != b->deleting || !myr_str_eq(a->node, b->node) ||
           !myr_str_eq(a->gang, b->gang) || a->gang_size != b->gang_size ||
           !myr_str_eq(a->placement, b->placement) || a->needs->digest != b->needs->digest;
}

/* A binding under way is taken over; one that is over is what the API server says. */
static void take_over(const struct kube_pod *old, struct kube_pod *pod, bool listed)
{
    MYR_ASSERT(pod->assumed == MYR_NONE && !old->gang_of); /* its seat is the new one's */
    bool done = pod->node.len > 0 || !kube_pod_live(pod) || old->assumed == MYR_NONE;
    if (!done && (!listed || (pod->gang_of && pod->gang_of->flying))) {
        pod->assumed = old->assumed;
    }
}

/*
 * Takes the pod over, in place of what was known of it by its uid. The gang comes before the use:
 * take_over() asks whether a decision on it is under way.
 */
static void put_pod(struct myr_kube_cluster *c, struct kube_pod *pod, bool listed)
{
    uint32_t id = kube_pod_find(c, pod->uid);
    struct kube_pod *old = id != MYR_NONE ? c->pods.items[id] : NULL;
    MYR_ASSERT(pod != old && pod->needs && pod->on == MYR_NONE);
    if (id == MYR_NONE) {
        char *key = copy_text(pod->uid);
        id = (uint32_t)c->pods.count;
        myr_vec_push(&c->pods, NULL);
        myr_vec_push(&c->pod_keys, key);
        bool added = myr_strmap_add(&c->pod_ids, (struct myr_str){key, pod->uid.len}, id);
        MYR_ASSERT(added);
    } else if (!old) {
        MYR_ASSERT(c->pods_gone > 0);
        c->pods_gone--;
    }
    pod->seen = c->listing[MYR_KUBE_PODS];
    c->changed = c->changed || !old || differs(old, pod);
    kube_gang_put(c, pod, old);
    if (old) {
        take_over(old, pod, listed);
        kube_use_move(c, old, pod);
    } else {
        kube_use_put(c, pod);
    }
    /* Nothing points at the old one any more; ours is in a gang, and nobody else's is. */
    MYR_ASSERT(!old || (!old->gang_of && old->on == MYR_NONE));
    MYR_ASSERT((pod->gang_of != NULL) == pod->ours && id < c->pods.count);
    kube_pod_free(old);
    c->pods.items[id] = pod;
}

/* The others of its placement cannot go on without it. */
void kube_break(struct kube_gang *gang, const struct kube_pod *pod, int64_t now_ms)
{
    char why[400];
    MYR_ASSERT(gang && pod->placement.len > 0);
    for (size_t i = 0; i < gang->broken.count; i++) {
        if (myr_str_eq(myr_str_from(gang->broken.items[i].placement), pod->placement)) {
            return;
        }
    }
    snprintf(why, sizeof(why), "pod %.253s was deleted", pod->name.data);
    struct kube_broken broken = {copy_text(pod->placement), copy_text(myr_str_from(why)), now_ms};
    myr_vec_push(&gang->broken, broken);
}

/*
 * One that was bound and had not ended breaks its placement. Its gang must hear of that before it
 * is dropped from it: with its last pod the gang goes too.
 */
static void drop_pod(struct myr_kube_cluster *c, uint32_t id, int64_t now_ms)
{
    struct kube_pod *pod = id != MYR_NONE ? c->pods.items[id] : NULL;
    if (!pod) {
        return;
    }
    MYR_ASSERT(pod->ours == (pod->gang_of != NULL));
    if (pod->ours && pod->phase <= KUBE_RUNNING && pod->node.len && pod->placement.len) {
        kube_break(pod->gang_of, pod, now_ms);
    }
    kube_gang_drop(c, pod);
    kube_use_drop(c, pod);
    MYR_ASSERT(!pod->gang_of && pod->on == MYR_NONE && c->pods_gone < c->pods.count);
    kube_pod_free(pod);
    c->pods.items[id] = NULL;
    c->pods_gone++;
    c->changed = true;
    compact_pods(c);
}

/* --- objects, lines and pages */

/* What is read of a line and of a page; the rest of their JSON never becomes a tree. */
static const struct myr_doc_part page_meta[] = {
    {"resourceVersion", NULL}, {"continue", NULL}, {NULL, NULL}};
static const struct myr_doc_part line_parts[MYR_KUBE_KINDS][3] = {
    [MYR_KUBE_NODES] = {{"type", NULL}, {"object", kube_node_parts}},
    [MYR_KUBE_PODS] = {{"type", NULL}, {"object", kube_pod_parts}}};
static const struct myr_doc_part page_parts[MYR_KUBE_KINDS][3] = {
    [MYR_KUBE_NODES] = {{"metadata", page_meta}, {"items", kube_node_parts}},
    [MYR_KUBE_PODS] = {{"metadata", page_meta}, {"items", kube_pod_parts}}};

/* One object, of a page ('listed') or of a line. Nothing has changed where it is an error. */
static int take(struct myr_kube_cluster *c, enum myr_kube_kind kind, enum myr_kube_change change,
                const struct myr_doc *object, int64_t now_ms, bool listed, struct myr_err *err)
{
    if (kind == MYR_KUBE_NODES) {
        struct kube_node *node = kube_node_read(&c->resources, object, &c->policy, err);
        if (!node) {
            return MYR_EINVAL;
        }
        if (change == MYR_KUBE_DELETED) {
            drop_node(c, kube_node_find(c, node->name));
            kube_node_free(node);
        } else {
            put_node(c, node, now_ms);
        }
        return MYR_OK;
    }
    struct kube_pod *pod = kube_pod_read(&c->resources, object, &c->policy, err);
    if (!pod) {
        return MYR_EINVAL;
    }
    if (change == MYR_KUBE_DELETED) {
        drop_pod(c, kube_pod_find(c, pod->uid), now_ms);
        kube_pod_free(pod);
    } else {
        put_pod(c, pod, listed);
    }
    return MYR_OK;
}

/* Empty where it is none that may be asked for. */
static void put_version(struct myr_str text, char ret[VERSION_MAX])
{
    ret[0] = '\0';
    /* It goes into a path: only what is harmless there. */
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return;
        }
    }
    if (text.len < VERSION_MAX) {
        myr_str_put(text, ret);
    }
}

/* Of an object, or of a list, which has one of its own. */
static void read_version(const struct myr_doc *object, char ret[VERSION_MAX])
{
    put_version(kube_text(myr_doc_get(object, "metadata"), "resourceVersion"), ret);
}

static const char *const changes[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};

/* How many there are: it is none of them. */
static uint32_t change_of(struct myr_str type)
{
    uint32_t change = 0;
    while (change < MYR_ARRAY_COUNT(changes) && !myr_str_eq(type, myr_str_from(changes[change]))) {
        change++;
    }
    return change;
}

/* The usual word of a pod; false: it is not such a one, and nothing has changed. */
static bool take_quickly(struct myr_kube_cluster *c, struct myr_str line, int64_t now_ms,
                         struct myr_kube_said *ret)
{
    struct kube_pod_texts texts;
    struct myr_str type;
    if (!kube_quick(line, &type, &texts, &c->needs) || !kube_pod_named(&texts)) {
        return false;
    }
    uint32_t change = change_of(type);
    if (change == MYR_KUBE_DELETED) {
        drop_pod(c, kube_pod_find(c, texts.uid), now_ms);
    } else if (change < MYR_KUBE_DELETED) {
        struct kube_needs *needs =
            kube_needs_alike(&c->resources, (struct myr_str){c->needs.data, c->needs.len});
        if (!needs) {
            return false;
        }
        put_pod(c, kube_pod_make(&texts, needs, &c->policy), false);
    } else {
        return false;
    }
    *ret = (struct myr_kube_said){.change = (enum myr_kube_change)change};
    put_version(texts.version, ret->version);
    return true;
}

/* The quick way first; whatever it does not understand goes the whole way, which tells errors. */
int myr_kube_line(struct myr_kube_cluster *c, enum myr_kube_kind kind, struct myr_str line,
                  int64_t now_ms, struct myr_kube_said *ret, struct myr_err *err)
{
    const struct myr_doc *top, *type, *object;
    struct myr_kube_said said = {};
    uint32_t change;
    MYR_ASSERT(kind < MYR_KUBE_KINDS);
    if (kind == MYR_KUBE_PODS && take_quickly(c, line, now_ms, ret)) {
        return MYR_OK;
    }
    int rc = myr_doc_read_json_parts(&c->scratch, "watch", line, line_parts[kind], &top, err);
    if (rc == MYR_OK) {
        rc = myr_doc_expect(top, MYR_DOC_MAP, "a line of a watch", err);
    }
    if (rc == MYR_OK) {
        rc = myr_doc_need(top, "a line of a watch", "type", &type, err);
    }
    if (rc == MYR_OK) {
        rc = myr_doc_choice(type, "type", changes, MYR_ARRAY_COUNT(changes), &change, err);
    }
    if (rc == MYR_OK) {
        rc = myr_doc_need(top, "a line of a watch", "object", &object, err);
    }
    if (rc == MYR_OK) {
        said.change = (enum myr_kube_change)change;
        read_version(object, said.version);
        if (said.change == MYR_KUBE_ERROR) {
            uint64_t code = 0;
            /* Of an error the object is a Status, which says why in words. */
            struct myr_str text = kube_text(object, "message");
            said.code = myr_str_to_u64(kube_text(object, "code"), &code) && code < 1000
                            ? (uint32_t)code
                            : 0;
            snprintf(said.text, sizeof(said.text), "%.*s", (int)(text.len < 250 ? text.len : 250),
                     text.data);
        } else if (said.change != MYR_KUBE_BOOKMARK) {
            rc = take(c, kind, said.change, object, now_ms, false, err);
        }
    }
    if (rc == MYR_OK) {
        *ret = said;
    }
    myr_arena_clear(&c->scratch);
    return rc;
}

/* What a pod asks of nodes, read once for those that ask the same; NULL: not understood. */
static struct kube_needs *needs_of(struct myr_kube_cluster *c, const struct kube_word *word)
{
    struct myr_str key = {c->needs.data ? c->needs.data : "", c->needs.len};
    struct kube_needs *known = kube_needs_known(&c->resources, key);
    MYR_ASSERT(!known || known->uses > 1); /* ours, and those that it was known by */
    if (known || !kube_spell_needs(word->spec, &c->spelled)) {
        return known;
    }
    return kube_needs_learn(&c->resources, key, (struct myr_str){c->spelled.data, c->spelled.len});
}

int myr_kube_word(struct myr_kube_cluster *c, struct myr_str frame, int64_t now_ms,
                  struct myr_kube_said *ret, struct myr_err *err)
{
    struct kube_word word;
    struct kube_needs *needs;
    /* Whatever is wrong is found before anything is changed: the same word comes again in JSON. */
    bool read = kube_word_read(frame, &word, &c->needs);
    uint32_t change = read ? change_of(word.type) : MYR_ARRAY_COUNT(changes);
    struct myr_kube_said said = {.change = (enum myr_kube_change)change};
    if (change == MYR_ARRAY_COUNT(changes) || word.is_pod != (change != MYR_KUBE_ERROR)) {
        return myr_err_set(err, MYR_EINVAL, "no word of a watch of pods");
    }
    if (change <= MYR_KUBE_DELETED && !kube_pod_named(&word.texts)) {
        return myr_err_set(err, MYR_EINVAL, "a pod without a proper name and uid");
    }
    if (change == MYR_KUBE_DELETED) {
        drop_pod(c, kube_pod_find(c, word.texts.uid), now_ms);
    } else if (change < MYR_KUBE_DELETED) {
        needs = needs_of(c, &word);
        if (!needs) {
            return myr_err_set(err, MYR_EINVAL, "a pod whose spec is not understood");
        }
        put_pod(c, kube_pod_make(&word.texts, needs, &c->policy), false);
    } else if (change == MYR_KUBE_ERROR) {
        said.code = word.code;
        snprintf(said.text, sizeof(said.text), "%.*s",
                 (int)(word.message.len < 250 ? word.message.len : 250),
                 word.message.data ? word.message.data : "");
    }
    put_version(word.texts.version, said.version);
    *ret = said;
    return MYR_OK;
}

/* What no page of the list had is gone. */
static void end_list(struct myr_kube_cluster *c, enum myr_kube_kind kind, int64_t now_ms)
{
    uint32_t number = c->listing[kind];
    for (uint32_t i = 0; kind == MYR_KUBE_NODES && i < c->nodes.count; i++) {
        if (c->nodes.items[i] && c->nodes.items[i]->seen != number) {
            drop_node(c, i);
        }
    }
    /* From behind: giving places back moves only those that were looked at. */
    for (size_t i = c->pods.count; kind == MYR_KUBE_PODS && i-- > 0;) {
        if (i < c->pods.count && c->pods.items[i] && c->pods.items[i]->seen != number) {
            drop_pod(c, (uint32_t)i, now_ms);
        }
    }
}

/* A list without a version could not be followed by a watch: it is refused. */
static int take_page(struct myr_kube_cluster *c, enum myr_kube_kind kind, const struct myr_doc *top,
                     int64_t now_ms, struct myr_kube_page *ret, struct myr_err *err)
{
    const struct myr_doc *items;
    struct myr_str more = kube_text(myr_doc_get(top, "metadata"), "continue");
    MYR_TRY(myr_doc_expect(top, MYR_DOC_MAP, "a list", err));
    read_version(top, ret->version);
    if (!ret->version[0]) {
        return myr_doc_error(err, top, MYR_EINVAL, "a list without a resourceVersion");
    }
    items = myr_doc_get(top, "items");
    if (items && items->kind == MYR_DOC_LIST) { /* null: there are none */
        for (uint32_t i = 0; i < items->count; i++) {
            MYR_TRY(take(c, kind, MYR_KUBE_ADDED, items->items[i], now_ms, true, err));
        }
        ret->items = items->count;
    }
    myr_buf_clear(&ret->more);
    myr_buf_put(&ret->more, more.data, more.len);
    if (more.len == 0) {
        end_list(c, kind, now_ms);
    }
    return MYR_OK;
}

int myr_kube_list(struct myr_kube_cluster *c, enum myr_kube_kind kind, bool first,
                  struct myr_str body, int64_t now_ms, struct myr_kube_page *ret,
                  struct myr_err *err)
{
    const struct myr_doc *top;
    struct myr_arena scratch = {};
    MYR_ASSERT(kind < MYR_KUBE_KINDS);
    int rc = myr_doc_read_json_parts(&scratch, "list", body, page_parts[kind], &top, err);
    if (rc == MYR_OK) {
        /*
         * Objects carry the number of the list that had them last: what has an older one at its end
         * is gone.
         */
        c->listing[kind] += first;
        rc = take_page(c, kind, top, now_ms, ret, err);
    }
    myr_arena_done(&scratch);
    return rc;
}

bool myr_kube_changed(const struct myr_kube_cluster *c)
{
    return c->changed;
}

bool myr_kube_waits(const struct myr_kube_cluster *c)
{
    return c->missing > 0 || c->gangs_waiting > 0;
}

uint32_t myr_kube_missing(const struct myr_kube_cluster *c)
{
    return c->missing;
}

int64_t myr_kube_wake_ms(const struct myr_kube_cluster *c)
{
    return c->wake_ms;
}

/* Goes through everything: for reports, not for decisions. */
struct myr_kube_counts myr_kube_counts(const struct myr_kube_cluster *c)
{
    struct myr_kube_counts counts = {.gangs_waiting = c->gangs_waiting};
    for (size_t i = 0; i < c->nodes.count; i++) {
        const struct kube_node *node = c->nodes.items[i];
        counts.nodes += node != NULL;
        counts.usable += node && node->ready && !node->unschedulable;
    }
    for (size_t i = 0; i < c->pods.count; i++) {
        const struct kube_pod *pod = c->pods.items[i];
        counts.pods += pod != NULL;
        counts.ours += pod && pod->ours;
        counts.waiting += pod && pod->ours && kube_pod_live(pod) && pod->node.len == 0;
        counts.bound += pod && pod->ours && kube_pod_live(pod) && pod->node.len > 0;
    }
    MYR_ASSERT(counts.pods + c->pods_gone == c->pods.count);
    MYR_ASSERT(counts.waiting + counts.bound <= counts.ours && counts.usable <= counts.nodes);
    return counts;
}
