/*
 * gangs: pods that belong together, in the order in which they are served. A gang is kept from the
 * first of its pods to the last; what it comes to is reckoned anew only after a change of it, so
 * that a word of the API server costs what it changes and not what there is.
 */
#include <stdlib.h>

#include "kube.h"

enum {
    GONE_MAX = 1024, /* places that nobody has, before they are given back */
    MOVED_MAX = 128, /* pods that move up when one goes; beyond it all are sorted anew */
};

/*
 * The owner is part of it: a Job that was deleted and made again under its name is another gang. A
 * pod without a gang is one by itself, and its own uid stands there.
 */
void kube_gang_key(const struct kube_pod *pod, struct myr_buf *ret)
{
    const struct myr_str parts[] = {pod->space, pod->gang.len ? pod->gang : pod->name,
                                    pod->gang.len ? pod->owner_uid : pod->uid};
    myr_buf_clear(ret);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        myr_buf_put(ret, "/", i > 0);
        myr_buf_put(ret, parts[i].data, parts[i].len);
    }
}

struct kube_gang *kube_gang_find(const struct myr_kube_cluster *c, struct myr_str key)
{
    uint32_t id = myr_strmap_get(&c->gang_ids, key);
    MYR_ASSERT(id == MYR_MAP_NONE || id < c->gangs.count);
    return id == MYR_MAP_NONE ? NULL : c->gangs.items[id];
}

/* --- which there are */

/* The last one takes its place: their order means nothing. */
static void forget(struct kube_gang *gang, size_t at)
{
    MYR_ASSERT(at < gang->broken.count);
    free(gang->broken.items[at].placement);
    free(gang->broken.items[at].why);
    gang->broken.items[at] = gang->broken.items[--gang->broken.count];
}

static void free_gang(struct kube_gang *gang)
{
    while (gang->broken.count) {
        forget(gang, gang->broken.count - 1);
    }
    myr_vec_done(&gang->broken);
    free(gang->pods);
    free(gang);
}

/* Places that nobody has are given back now and then. */
static void compact(struct myr_kube_cluster *c)
{
    MYR_ASSERT(c->gangs_gone <= c->gangs.count && c->gangs.count == c->gang_keys.count);
    if (c->gangs_gone < GONE_MAX || c->gangs_gone < c->gangs.count / 2) {
        return;
    }
    uint32_t kept = 0;
    myr_strmap_done(&c->gang_ids);
    c->gang_ids = (struct myr_strmap){};
    for (size_t i = 0; i < c->gangs.count; i++) {
        struct kube_gang *gang = c->gangs.items[i];
        if (!gang) {
            free(c->gang_keys.items[i]);
            continue;
        }
        gang->id = kept;
        c->gangs.items[kept] = gang;
        c->gang_keys.items[kept] = c->gang_keys.items[i];
        bool added = myr_strmap_add(&c->gang_ids, myr_str_from(gang->key), kept++);
        MYR_ASSERT(added);
    }
    MYR_ASSERT(kept + c->gangs_gone == c->gangs.count);
    c->gangs.count = c->gang_keys.count = kept;
    c->gangs_gone = 0;
}

/* One under way is kept without pods until its decision is over: that looks it up by its key. */
void kube_gang_rest(struct myr_kube_cluster *c, struct kube_gang *gang)
{
    if (gang->count == 0 && !gang->flying) {
        MYR_ASSERT(c->gangs.items[gang->id] == gang);
        c->gangs.items[gang->id] = NULL;
        c->gangs_gone++;
        MYR_ASSERT(c->gangs_gone <= c->gangs.count);
        free_gang(gang);
        compact(c);
    }
}

void kube_gangs_free(struct myr_kube_cluster *c)
{
    for (size_t i = 0; i < c->gangs.count; i++) {
        if (c->gangs.items[i]) {
            free_gang(c->gangs.items[i]);
        }
        free(c->gang_keys.items[i]);
    }
    myr_vec_done(&c->gangs);
    myr_vec_done(&c->gang_keys);
    myr_strmap_done(&c->gang_ids);
}

/*
 * The gang of this key, made where there is none. A key outlives its gang until the places are
 * given back, so that one that comes and goes does not make it anew each time.
 */
static struct kube_gang *gang_of(struct myr_kube_cluster *c, struct myr_str key)
{
    uint32_t id = myr_strmap_get(&c->gang_ids, key);
    if (id == MYR_MAP_NONE) {
        char *copy = myr_xcalloc(1, key.len + 1);
        myr_str_put(key, copy);
        id = (uint32_t)c->gangs.count;
        myr_vec_push(&c->gangs, NULL);
        myr_vec_push(&c->gang_keys, copy);
        bool added = myr_strmap_add(&c->gang_ids, (struct myr_str){copy, key.len}, id);
        MYR_ASSERT(added);
        c->gangs_gone++;
    }
    if (!c->gangs.items[id]) {
        MYR_ASSERT(c->gangs_gone > 0);
        struct kube_gang *gang = myr_xcalloc(1, sizeof(*gang));
        gang->key = c->gang_keys.items[id];
        gang->id = id;
        c->gangs.items[id] = gang;
        c->gangs_gone--;
    }
    MYR_ASSERT(c->gangs.items[id]->id == id && c->gangs.count == c->gang_keys.count);
    return c->gangs.items[id];
}

/* --- their pods */

/* At the end; where it belongs is found when the gang is looked at next. */
static void add_pod(struct kube_gang *gang, struct kube_pod *pod)
{
    MYR_ASSERT(pod->gang_of == gang && gang->count <= gang->room);
    if (gang->count == gang->room) {
        gang->room = gang->room ? gang->room * 2 : 4;
        gang->pods = myr_xrealloc(gang->pods, gang->room, sizeof(*gang->pods));
    }
    pod->seat = gang->count;
    gang->pods[gang->count++] = pod;
    gang->unsorted = true;
    MYR_ASSERT(gang->count <= gang->room && gang->pods[pod->seat] == pod);
}

void kube_gang_drop(struct myr_kube_cluster *c, struct kube_pod *pod)
{
    struct kube_gang *gang = pod->gang_of;
    if (!gang) {
        return;
    }
    MYR_ASSERT(pod->seat < gang->count && gang->pods[pod->seat] == pod);
    /*
     * Where few stand behind it they move up, and the order stays; else the last one fills the
     * hole, and the order is made anew when it is asked for.
     */
    gang->count--;
    if (gang->unsorted || gang->count - pod->seat > MOVED_MAX) {
        struct kube_pod *last = gang->pods[gang->count];
        gang->pods[pod->seat] = last;
        last->seat = pod->seat;
        gang->unsorted = true;
    }
    for (uint32_t i = pod->seat; i < gang->count && !gang->unsorted; i++) {
        gang->pods[i] = gang->pods[i + 1];
        gang->pods[i]->seat = i;
    }
    /* Who has taken its seat knows of it. */
    MYR_ASSERT(pod->seat >= gang->count || gang->pods[pod->seat]->seat == pod->seat);
    pod->gang_of = NULL;
    gang->stale = true;
    kube_gang_rest(c, gang);
}

/*
 * Most words tell of a pod that is known: it takes the seat of 'old', and the order stays unless
 * its index has changed.
 */
void kube_gang_put(struct myr_kube_cluster *c, struct kube_pod *pod, struct kube_pod *old)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
    MYR_ASSERT(!pod->gang_of);
    if (pod->ours && old && old->gang_of && myr_str_eq(pod->gang, old->gang) &&
        myr_str_eq(pod->owner_uid, old->owner_uid)) {
        pod->gang_of = old->gang_of; /* the same pod, told of again */
    } else if (pod->ours) {
        kube_gang_key(pod, &key);
        pod->gang_of = gang_of(c, (struct myr_str){key.data, key.len});
    }
    struct kube_gang *gang = pod->gang_of;
    if (gang && old && old->gang_of == gang) {
        MYR_ASSERT(gang->pods[old->seat] == old);
        pod->seat = old->seat;
        gang->pods[pod->seat] = pod;
        gang->unsorted = gang->unsorted || pod->indexed != old->indexed || pod->index != old->index;
        old->gang_of = NULL;
    } else if (gang) {
        add_pod(gang, pod);
    }
    if (gang) {
        gang->stale = true;
    }
    if (old) {
        kube_gang_drop(c, old);
        MYR_ASSERT(!old->gang_of);
    }
    MYR_ASSERT(!gang || (pod->seat < gang->count && gang->pods[pod->seat] == pod));
}

/*
 * The order of ranks: by completion index, then by name with numbers by value; uids make it one
 * order for pods that differ in nothing else.
 */
static int compare_pods(const void *left, const void *right)
{
    const struct kube_pod *a = *(struct kube_pod *const *)left;
    const struct kube_pod *b = *(struct kube_pod *const *)right;
    if (a->indexed != b->indexed) {
        return a->indexed ? -1 : 1;
    }
    if (a->indexed && a->index != b->index) {
        return a->index < b->index ? -1 : 1;
    }
    int order = kube_natural(a->name, b->name);
    return order ? order : myr_str_cmp(a->uid, b->uid);
}

/* --- what they come to */

/* A placement of which nothing is left need not be remembered. */
static void forget_broken(struct kube_gang *gang)
{
    for (size_t i = gang->broken.count; i-- > 0;) {
        struct myr_str placement = myr_str_from(gang->broken.items[i].placement);
        bool there = false;
        for (uint32_t k = 0; k < gang->count && !there; k++) {
            there = kube_pod_live(gang->pods[k]) && myr_str_eq(gang->pods[k]->placement, placement);
        }
        if (!there) {
            forget(gang, i);
        }
    }
}

/* A pod with a binding under way counts as bound: its place is taken already. */
static void add_up(struct kube_gang *gang, const struct kube_pod *pod)
{
    MYR_ASSERT(pod->gang_of == gang);
    bool live = kube_pod_live(pod), at_hand = pod->node.len > 0 || pod->assumed != MYR_NONE;
    gang->done += pod->phase == KUBE_SUCCEEDED;
    gang->assumed += pod->assumed != MYR_NONE;
    if (!live) {
        return;
    }
    gang->bound += at_hand;
    gang->waits += !at_hand;
    gang->created_ms = pod->created_ms < gang->created_ms ? pod->created_ms : gang->created_ms;
    gang->priority = pod->priority > gang->priority ? pod->priority : gang->priority;
    /* Sizes that differ are no size; those of pods that are over do not count. */
    gang->size = gang->size && gang->size != pod->gang_size ? UINT32_MAX
                 : pod->gang_size                           ? pod->gang_size
                                                            : UINT32_MAX;
}

/*
 * All that is reckoned from its pods. UINT32_MAX stands for sizes that contradict each other while
 * they are added up, 0 afterwards.
 */
static void refresh(struct kube_gang *gang)
{
    MYR_ASSERT(gang->count > 0); /* with its last pod a gang goes */
    if (gang->unsorted) {
        qsort(gang->pods, gang->count, sizeof(struct kube_pod *), compare_pods);
        for (uint32_t i = 0; i < gang->count; i++) {
            gang->pods[i]->seat = i;
        }
    }
    gang->first = gang->pods[0];
    gang->size = gang->waits = gang->bound = gang->done = gang->assumed = 0;
    gang->priority = INT32_MIN;
    gang->own_priority = gang->first->own_priority;
    gang->created_ms = INT64_MAX;
    for (uint32_t i = 0; i < gang->count; i++) {
        add_up(gang, gang->pods[i]);
    }
    gang->size = gang->size == UINT32_MAX ? 0 : gang->size;
    forget_broken(gang);
    gang->stale = gang->unsorted = gang->quiet = false;
    MYR_ASSERT(gang->size <= MYR_KUBE_GANG_MAX && gang->done <= gang->count);
    MYR_ASSERT(gang->bound + gang->waits <= gang->count && gang->assumed <= gang->count);
}

/* Who is served first. The key at the end makes rounds of the same objects decide the same. */
static int compare_gangs(const void *left, const void *right)
{
    const struct kube_gang *a = *(struct kube_gang *const *)left;
    const struct kube_gang *b = *(struct kube_gang *const *)right;
    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    if (a->own_priority != b->own_priority) {
        return a->own_priority > b->own_priority ? -1 : 1;
    }
    if (a->created_ms != b->created_ms) {
        return a->created_ms < b->created_ms ? -1 : 1;
    }
    return strcmp(a->key, b->key);
}

/* Nothing has happened since it was found well, neither to it nor to any node. */
static bool is_quiet(const struct myr_kube_cluster *c, const struct kube_gang *gang, int64_t now_ms)
{
    return gang->quiet && gang->quiet_nodes == c->node_changes && now_ms < gang->look_ms;
}

void kube_gangs_find(struct myr_kube_cluster *c, int64_t now_ms, struct kube_gangs *ret)
{
    struct kube_gang **found = MYR_ARENA_NEW(&c->arena, struct kube_gang *, c->gangs.count);
    uint32_t count = 0;
    for (size_t i = 0; i < c->gangs.count; i++) {
        struct kube_gang *gang = c->gangs.items[i];
        if (!gang || gang->count == 0) {
            continue;
        }
        if (gang->stale) {
            refresh(gang);
        }
        if (gang->flying || gang->assumed > 0) {
            continue; /* the watch has not told of it yet */
        }
        /* A gang that is well costs nothing but this until its time has come. */
        if (gang->bound > 0 && is_quiet(c, gang, now_ms)) {
            c->wake_ms = gang->look_ms < c->wake_ms ? gang->look_ms : c->wake_ms;
        } else if (gang->bound > 0 || gang->waits > 0) {
            found[count++] = gang;
        }
    }
    MYR_ASSERT(count + c->gangs_gone <= c->gangs.count);
    qsort(found, count, sizeof(struct kube_gang *), compare_gangs);
    *ret = (struct kube_gangs){found, count};
}
