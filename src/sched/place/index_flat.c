#include "place/index.h"

/* How a placer lies in memory, for copies of it (flat/flat.h). */

/*
 * The table names every field in the order of the struct: runs of plain fields between the arrays,
 * and for each array a function that says how long it is. Lengths are plain fields, which are read
 * before any array.
 */

static uint64_t nodes(const void *self)
{
    return ((const struct myr_placer *)self)->shape.nodes;
}

static uint64_t words(const void *self)
{
    return nodes(self) / 64 + 1;
}

static uint64_t groups(const void *self)
{
    return ((const struct myr_placer *)self)->groups;
}

static uint64_t group_units(const void *self)
{
    return ((const struct myr_placer *)self)->by_group.units;
}

static uint64_t group_counts(const void *self)
{
    return (uint64_t)((const struct myr_placer *)self)->by_group.most + 1;
}

static uint64_t group_words(const void *self)
{
    return ((const struct myr_placer *)self)->by_group.most / 64 + 1;
}

static uint64_t pod_units(const void *self)
{
    return ((const struct myr_placer *)self)->by_pod.units;
}

static uint64_t pod_counts(const void *self)
{
    return (uint64_t)((const struct myr_placer *)self)->by_pod.most + 1;
}

static uint64_t pod_words(const void *self)
{
    return ((const struct myr_placer *)self)->by_pod.most / 64 + 1;
}

/* A zone that nobody has set has no arrays. */
static uint64_t zone_nodes(const void *self, enum myr_zone zone)
{
    const struct myr_placer *p = self;
    return p->zones[zone].units ? p->shape.nodes : 0;
}

static uint64_t rack_nodes(const void *self)
{
    return zone_nodes(self, MYR_ZONE_RACK);
}

static uint64_t row_nodes(const void *self)
{
    return zone_nodes(self, MYR_ZONE_ROW);
}

static uint64_t racks(const void *self)
{
    return ((const struct myr_placer *)self)->zones[MYR_ZONE_RACK].units;
}

static uint64_t rows(const void *self)
{
    return ((const struct myr_placer *)self)->zones[MYR_ZONE_ROW].units;
}

static void release_scratch(void *field)
{
    scratch_free(*(struct search_scratch **)field);
}

#define BY_NODE(field) FLAT_ARRAY_OF(myr_placer, field, nodes)

static const struct flat_field fields[] = {
    FLAT_RUN(myr_placer, shape, free_mask),
    BY_NODE(free_mask),
    FLAT_ARRAY_OF(myr_placer, free_words, words),
    BY_NODE(closed),
    BY_NODE(kind),
    BY_NODE(group_of),
    BY_NODE(pod_of),
    BY_NODE(domain_of),
    BY_NODE(domain_free),
    FLAT_RUN(myr_placer, free_gpus, by_group.count),
    FLAT_ARRAY_OF(myr_placer, by_group.count, group_units),
    FLAT_ARRAY_OF(myr_placer, by_group.first, group_counts),
    FLAT_ARRAY_OF(myr_placer, by_group.next, group_units),
    FLAT_ARRAY_OF(myr_placer, by_group.previous, group_units),
    FLAT_ARRAY_OF(myr_placer, by_group.occupied, group_words),
    FLAT_RUN(myr_placer, by_pod.units, by_pod.count),
    FLAT_ARRAY_OF(myr_placer, by_pod.count, pod_units),
    FLAT_ARRAY_OF(myr_placer, by_pod.first, pod_counts),
    FLAT_ARRAY_OF(myr_placer, by_pod.next, pod_units),
    FLAT_ARRAY_OF(myr_placer, by_pod.previous, pod_units),
    FLAT_ARRAY_OF(myr_placer, by_pod.occupied, pod_words),
    FLAT_RUN(myr_placer, zones[MYR_ZONE_RACK], zones[MYR_ZONE_RACK].unit_of),
    FLAT_ARRAY_OF(myr_placer, zones[MYR_ZONE_RACK].unit_of, rack_nodes),
    FLAT_ARRAY_OF(myr_placer, zones[MYR_ZONE_RACK].free, racks),
    FLAT_RUN(myr_placer, zones[MYR_ZONE_ROW], zones[MYR_ZONE_ROW].unit_of),
    FLAT_ARRAY_OF(myr_placer, zones[MYR_ZONE_ROW].unit_of, row_nodes),
    FLAT_ARRAY_OF(myr_placer, zones[MYR_ZONE_ROW].free, rows),
    BY_NODE(node_penalty),
    FLAT_ARRAY_OF(myr_placer, group_penalty, groups),
    FLAT_RUN(myr_placer, penalised, partial_next),
    BY_NODE(partial_next),
    BY_NODE(partial_previous),
    FLAT_RUN(myr_placer, partial_occupied, scratch),
    /* Not part of the state: it is made again when a search needs it. */
    {"scratch", FLAT_OWNED, offsetof(struct myr_placer, scratch), sizeof(void *), 0, NULL, NULL,
     release_scratch},
};

const struct flat_type placer_flat = FLAT_TYPE(myr_placer, fields);

struct myr_placer *placer_copy(const struct myr_placer *p)
{
    struct myr_placer *copy = myr_xcalloc(1, sizeof(*copy));
    flat_copy(&placer_flat, copy, p);
    return copy;
}
