/*
 * plan: where a gang goes, kept with the pod of rank 0. That one is bound before the others, so
 * that a scheduler that finds a gang bound in part knows where the rest was to go, and a gang costs
 * one request a pod. The text is a digest of the pods' uids in rank order, and the nodes in that
 * order: "9f3a...;node-1,node-2". A gang of which one pod was made again has another digest, and no
 * plan.
 */
#include <stdio.h>

#include "kube.h"

enum {
    DIGEST_BYTES = 17,       /* with the mark behind it */
    PLAN_BYTES_MAX = 160000, /* all annotations of an object may have 262,144 */
};

/* The order counts: the same pods with other ranks are another plan. */
static uint64_t add_uid(uint64_t digest, struct myr_str uid)
{
    return myr_hash_u64(digest + myr_hash_bytes(uid.data, uid.len));
}

/*
 * Without a plan a gang is bound all the same; found in part, it is made again instead of finished.
 */
const char *kube_plan_make(struct myr_arena *arena, const struct myr_kube_seat *seats,
                           uint32_t count)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint64_t digest = 0;
    MYR_ASSERT(count > 1); /* one alone needs none */
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(seats[i].rank == i); /* in the order of ranks, as it is read back */
        digest = add_uid(digest, myr_str_from(seats[i].uid));
    }
    myr_buf_printf(&text, "%016llx", (unsigned long long)digest);
    for (uint32_t i = 0; i < count && text.len < PLAN_BYTES_MAX; i++) {
        myr_buf_printf(&text, "%c%s", i ? ',' : ';', seats[i].node);
    }
    return text.len < PLAN_BYTES_MAX ? myr_arena_strndup(arena, text.data, text.len) : NULL;
}

/* Made again by nobody yet, bound by nobody yet. */
static bool is_fresh(const struct kube_pod *pod)
{
    return kube_pod_live(pod) && pod->node.len == 0 && pod->placement.len == 0;
}

/* Those of this placement, and those that could be of it; what is left from before is neither. */
static bool belongs(const struct kube_pod *pod, const struct kube_pod *lead)
{
    return is_fresh(pod) || myr_str_eq(pod->placement, lead->placement);
}

/* The nodes of its plan, if it is one for exactly these pods. */
static bool is_for(const struct kube_gang *gang, const struct kube_pod *lead, struct myr_str *ret)
{
    uint64_t digest = 0;
    uint32_t count = 0, named = 1;
    char text[DIGEST_BYTES + 1];
    for (uint32_t i = 0; i < gang->count; i++) {
        if (belongs(gang->pods[i], lead)) {
            digest = add_uid(digest, gang->pods[i]->uid);
            count++;
        }
    }
    snprintf(text, sizeof(text), "%016llx;", (unsigned long long)digest);
    if (lead->plan.len <= DIGEST_BYTES || memcmp(lead->plan.data, text, DIGEST_BYTES) != 0) {
        return false;
    }
    *ret = (struct myr_str){lead->plan.data + DIGEST_BYTES, lead->plan.len - DIGEST_BYTES};
    for (size_t i = 0; i < ret->len; i++) {
        named += ret->data[i] == ',';
    }
    return count == named && count == lead->planned_world;
}

/*
 * Pods stand in the order of their ranks (gangs.c), and so do the nodes of the plan: each pod that
 * is not bound gets what its binding would have told of it.
 */
void kube_plan_adopt(struct kube_gang *gang)
{
    const struct kube_pod *lead = NULL;
    struct myr_str rest;
    bool fresh = false;
    MYR_ASSERT(!gang->stale && !gang->unsorted);
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct kube_pod *pod = gang->pods[i];
        /* Whichever is bound and has a plan: that is rank 0 of a placement. */
        lead = pod->node.len && pod->plan.len && pod->placement.len ? pod : lead;
        fresh = fresh || is_fresh(pod);
    }
    if (!lead || !fresh || !is_for(gang, lead, &rest)) {
        return;
    }
    for (uint32_t i = 0, rank = 0; i < gang->count; i++) {
        struct kube_pod *pod = gang->pods[i];
        if (!belongs(pod, lead)) {
            continue;
        }
        MYR_ASSERT(rank < lead->planned_world); /* is_for() has counted both */
        const char *comma = memchr(rest.data, ',', rest.len);
        size_t length = comma ? (size_t)(comma - rest.data) : rest.len;
        if (is_fresh(pod)) {
            pod->planned_node = kube_keep(&pod->arena, (struct myr_str){rest.data, length});
            pod->placement = kube_keep(&pod->arena, lead->placement);
            pod->master = kube_keep(&pod->arena, lead->master);
            pod->planned_rank = rank;
            pod->planned_world = lead->planned_world;
            MYR_ASSERT(pod->gang_of == gang && length <= rest.len);
        }
        length += comma != NULL;
        rest = (struct myr_str){rest.data + length, rest.len - length};
        rank++;
    }
}
