/*
 * topology: nodes in the order of the fabric. Leaves are named by a label; nodes without one stand
 * in the order of their names, so many to a leaf. The placer wants leaves of one size: smaller ones
 * are filled up with places that no node has.
 */
#include <stdlib.h>

#include "kube.h"

/* A node as it is sorted: by leaf, then by name, numbers by their value. */
struct spot {
    struct myr_str leaf, name;
    uint32_t node;
};

/* Nodes without a label come first: an empty name is before all others. */
static int compare(const void *left, const void *right)
{
    const struct spot *a = left, *b = right;
    int order = kube_natural(a->leaf, b->leaf);
    return order ? order : kube_natural(a->name, b->name);
}

/* Nodes with a label share a leaf with their like; a leaf is as large as the largest of them. */
static uint32_t leaf_size(const struct spot *spots, uint32_t count, uint32_t otherwise)
{
    uint32_t most = 0, run = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (spots[i].leaf.len == 0) {
            continue;
        }
        run = i > 0 && myr_str_eq(spots[i].leaf, spots[i - 1].leaf) ? run + 1 : 1;
        most = run > most ? run : most;
    }
    return most ? most : otherwise;
}

/* Made anew only when a node came, went or changed its leaf. */
void kube_order(struct myr_kube_cluster *c)
{
    if (!c->order_stale) {
        return;
    }
    uint32_t count = 0, place = 0, nodes = (uint32_t)c->nodes.count;
    MYR_CLEANUP(myr_free_at) struct spot *spots = myr_xcalloc(nodes, sizeof(*spots));
    for (uint32_t i = 0; i < nodes; i++) {
        if (c->nodes.items[i]) {
            spots[count++] = (struct spot){c->nodes.items[i]->leaf, c->nodes.items[i]->name, i};
        }
    }
    MYR_ASSERT(count <= nodes);
    qsort(spots, count, sizeof(*spots), compare);
    uint32_t size = leaf_size(spots, count, c->policy.nodes_per_leaf);
    MYR_ASSERT(size > 0);
    for (uint32_t i = 0; i < count; i++) {
        bool other = i > 0 && !myr_str_eq(spots[i].leaf, spots[i - 1].leaf);
        /*
         * A leaf begins at a multiple of the size: what is left of the one before it stays empty.
         */
        if (other && place % size) {
            place += size - place % size;
        }
        c->nodes.items[spots[i].node]->place = place++;
    }
    /* The last leaf is filled up like all others. */
    uint32_t places = (place + size - 1) / size * size;
    free(c->node_at);
    c->node_at = myr_xcalloc(places, sizeof(*c->node_at));
    for (uint32_t i = 0; i < places; i++) {
        c->node_at[i] = MYR_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = c->nodes.items[spots[i].node]->place;
        MYR_ASSERT(at < places && c->node_at[at] == MYR_NONE); /* a place of its own */
        c->node_at[at] = spots[i].node;
    }
    /* One pod of all: labels tell of leaves and of nothing above them. */
    c->shape = (struct myr_place_shape){
        .nodes = places, .gpus_per_node = 1, .group_nodes = size, .pod_nodes = places};
    c->order_stale = false;
}
