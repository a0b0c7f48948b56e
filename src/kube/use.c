/*
 * use: what pods take of every node, kept as they come, move and go. Counted anew where that is not
 * possible: when a node is new (pods may have been heard of before it), or has more than numbers
 * and lists hold. Every change of a node or of its use gives it a new stamp, by which others know
 * that what they made of it is old.
 */
#include <stdlib.h>

#include "kube.h"

void kube_use_touch(struct myr_kube_cluster *c, uint32_t node)
{
    if (node < c->use_count) {
        MYR_ASSERT(c->stamp_of[node] <= c->stamps); /* stamps only grow */
        c->stamp_of[node] = ++c->stamps;
    }
}

/* Counted beyond what is listed: then all ports of that node are taken for taken. */
static void add_port(struct myr_kube_cluster *c, struct kube_use *use, uint32_t port)
{
    if (use->port_count < MYR_ARRAY_COUNT(use->ports)) {
        use->ports[use->port_count] = port;
    } else {
        c->use_stale = true;
    }
    use->port_count++;
}

/* The last one takes its place: their order means nothing. */
static void drop_port(struct myr_kube_cluster *c, struct kube_use *use, uint32_t port)
{
    MYR_ASSERT(use->port_count > 0);
    use->port_count--;
    if (use->port_count >= MYR_ARRAY_COUNT(use->ports)) {
        c->use_stale = true; /* which of them are listed is not known */
        return;
    }
    for (uint32_t i = 0; i < use->port_count; i++) {
        if (use->ports[i] == port) {
            use->ports[i] = use->ports[use->port_count];
            return;
        }
    }
}

void kube_use_add(struct myr_kube_cluster *c, uint32_t node, const struct kube_needs *needs,
                  int sign)
{
    MYR_ASSERT(node < c->use_count && (sign == 1 || sign == -1));
    struct kube_use *use = &c->use[node];
    for (uint32_t i = 0; i < needs->amounts.count; i++) {
        MYR_ASSERT(needs->amounts.items[i].resource < KUBE_RESOURCES);
        int64_t *used = &use->used[needs->amounts.items[i].resource];
        if (__builtin_add_overflow(*used, sign * needs->amounts.items[i].milli, used)) {
            *used = INT64_MAX; /* more than any node has */
            c->use_stale = true;
        }
        MYR_ASSERT(*used >= 0); /* who goes gives back what was taken for it, and no more */
    }
    for (uint32_t i = 0; i < needs->port_count; i++) {
        if (sign > 0) {
            add_port(c, use, needs->ports[i]);
        } else {
            drop_port(c, use, needs->ports[i]);
        }
    }
    kube_use_touch(c, node);
}

/*
 * A pod that is being deleted still runs, and counts; one that is over does not. MYR_NONE: nowhere,
 * or on a node that is not known.
 */
static uint32_t where(const struct myr_kube_cluster *c, const struct kube_pod *pod)
{
    MYR_ASSERT(pod->assumed == MYR_NONE || pod->assumed < c->nodes.count);
    if (pod->phase > KUBE_RUNNING) {
        return MYR_NONE;
    }
    return pod->node.len ? kube_node_find(c, pod->node) : pod->assumed;
}

/* While 'use_stale' nothing is added or taken: all of it is counted anew before it is asked for. */
void kube_use_drop(struct myr_kube_cluster *c, struct kube_pod *pod)
{
    MYR_ASSERT(pod->on == MYR_NONE || pod->on < c->nodes.count);
    if (!c->use_stale && pod->on != MYR_NONE) {
        kube_use_add(c, pod->on, pod->needs, -1);
    }
    pod->on = MYR_NONE;
}

void kube_use_put(struct myr_kube_cluster *c, struct kube_pod *pod)
{
    uint32_t node = where(c, pod);
    if (pod->on == node) {
        return;
    }
    kube_use_drop(c, pod);
    pod->on = node;
    MYR_ASSERT(node == MYR_NONE || node < c->nodes.count);
    if (!c->use_stale && node != MYR_NONE) {
        kube_use_add(c, node, pod->needs, 1);
    }
}

void kube_use_move(struct myr_kube_cluster *c, struct kube_pod *old, struct kube_pod *pod)
{
    MYR_ASSERT(old != pod && pod->on == MYR_NONE);
    /* Most words of a pod change nothing there; and it need not be looked for by its name. */
    const struct kube_node *node = old->on != MYR_NONE ? c->nodes.items[old->on] : NULL;
    bool same = pod->node.len ? node && myr_str_eq(pod->node, node->name) : old->on == pod->assumed;
    if (old->on != MYR_NONE && old->needs == pod->needs && pod->phase <= KUBE_RUNNING && same) {
        pod->on = old->on;
        old->on = MYR_NONE;
        return;
    }
    kube_use_drop(c, old);
    kube_use_put(c, pod);
    MYR_ASSERT(old->on == MYR_NONE); /* counted once */
}

/* All of it from the pods: what every one of them takes where it is, or is about to be. */
void kube_use_ready(struct myr_kube_cluster *c)
{
    if (!c->use_stale) {
        return;
    }
    free(c->use);
    free(c->stamp_of);
    /* Nodes that came since have no use yet: the tables grow only here. */
    c->use_count = (uint32_t)c->nodes.count;
    c->use = myr_xcalloc(c->nodes.count, sizeof(*c->use));
    c->stamp_of = myr_xcalloc(c->nodes.count, sizeof(*c->stamp_of));
    for (uint32_t i = 0; i < c->use_count; i++) {
        c->use[i].port_count = 0; /* so that its memory is there before a gang asks for it */
        kube_use_touch(c, i);
    }
    c->use_stale = false;
    MYR_ASSERT(c->use_count == c->nodes.count);
    for (size_t i = 0; i < c->pods.count; i++) {
        struct kube_pod *pod = c->pods.items[i];
        if (pod) {
            pod->on = where(c, pod);
            if (pod->on != MYR_NONE) {
                kube_use_add(c, pod->on, pod->needs, 1);
            }
        }
    }
}
