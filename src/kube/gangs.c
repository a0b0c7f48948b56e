/* gangs: pods that belong together, in the order in which they are served. */
#include <stdlib.h>

#include "kube.h"

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

static int compare_gangs(const void *left, const void *right)
{
    const struct kube_gang *a = left, *b = right;
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

static void sum_up(struct kube_gang *gang)
{
    qsort(gang->pods, gang->count, sizeof(struct kube_pod *), compare_pods);
    gang->first = gang->pods[0];
    gang->priority = INT32_MIN;
    gang->own_priority = gang->first->own_priority;
    gang->created_ms = INT64_MAX;
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct kube_pod *pod = gang->pods[i];
        bool live = kube_pod_live(pod);
        gang->done += pod->phase == KUBE_SUCCEEDED;
        gang->bound += live && (pod->node.len > 0 || pod->assumed != MYR_NONE);
        gang->waits += live && pod->node.len == 0 && pod->assumed == MYR_NONE;
        if (live && pod->created_ms < gang->created_ms) {
            gang->created_ms = pod->created_ms;
        }
        if (live && pod->priority > gang->priority) {
            gang->priority = pod->priority;
        }
        /* Sizes that differ are no size; those of pods that are over do not count. */
        if (live) {
            gang->size = gang->size && gang->size != pod->gang_size ? UINT32_MAX
                         : pod->gang_size                           ? pod->gang_size
                                                                    : UINT32_MAX;
        }
    }
    gang->size = gang->size == UINT32_MAX ? 0 : gang->size;
}

void kube_gangs_find(struct myr_kube_cluster *c, struct kube_gangs *ret)
{
    struct myr_strmap ids = {0};
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {0};
    MYR_CLEANUP(myr_free_at) uint32_t *gang_of = myr_xcalloc(c->pods.count + 1, sizeof(uint32_t));
    uint32_t count = 0;
    for (size_t i = 0; i < c->pods.count; i++) {
        const struct kube_pod *pod = c->pods.items[i];
        gang_of[i] = MYR_NONE;
        if (!pod || !pod->ours) {
            continue;
        }
        kube_gang_key(pod, &key);
        uint32_t id = myr_strmap_get(&ids, (struct myr_str){key.data, key.len});
        if (id == MYR_MAP_NONE) {
            id = count++;
            char *kept = myr_arena_strndup(&c->arena, key.data, key.len);
            bool added = myr_strmap_add(&ids, (struct myr_str){kept, key.len}, id);
            MYR_ASSERT(added);
        }
        gang_of[i] = id;
    }
    struct kube_gang *gangs = MYR_ARENA_NEW(&c->arena, struct kube_gang, count + 1);
    for (size_t i = 0; i < c->pods.count; i++) {
        if (gang_of[i] != MYR_NONE) {
            gangs[gang_of[i]].count++;
        }
    }
    for (uint32_t g = 0; g < count; g++) {
        gangs[g].key = ids.keys[g].data;
        gangs[g].pods = MYR_ARENA_NEW(&c->arena, struct kube_pod *, gangs[g].count);
        gangs[g].count = 0;
    }
    for (size_t i = 0; i < c->pods.count; i++) {
        if (gang_of[i] != MYR_NONE) {
            struct kube_gang *gang = &gangs[gang_of[i]];
            gang->pods[gang->count++] = c->pods.items[i];
        }
    }
    for (uint32_t g = 0; g < count; g++) {
        sum_up(&gangs[g]);
    }
    qsort(gangs, count, sizeof(*gangs), compare_gangs);
    myr_strmap_done(&ids);
    *ret = (struct kube_gangs){gangs, count};
}
