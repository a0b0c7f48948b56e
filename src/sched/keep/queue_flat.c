#include <stdlib.h>

#include "place/index.h"
#include "queue/cells.h"
#include "queue/lengths.h"
#include "queue/state.h"

/*
 * How a queue lies in memory (flat/flat.h). A field that is added to a plain run is copied, stored
 * and compared from then on; one that owns memory needs a row, and the test of this table fails
 * until it has one.
 */

#define QUEUE(self) ((const struct myr_queue *)(self))

static uint64_t nodes(const void *self)
{
    return QUEUE(self)->shape.nodes;
}

static uint64_t gpus(const void *self)
{
    return (uint64_t)QUEUE(self)->shape.nodes * QUEUE(self)->shape.gpus_per_node;
}

static uint64_t tenants(const void *self)
{
    return QUEUE(self)->tenant_count;
}

/* One more than tenants: the first entry is of the roots. */
static uint64_t parents(const void *self)
{
    return (uint64_t)QUEUE(self)->tenant_count + 1;
}

static uint64_t wakes(const void *self)
{
    return QUEUE(self)->wakes.count;
}

static uint64_t tries(const void *self)
{
    return QUEUE(self)->tries.later.count;
}

/* One byte more than places, as they are made. */
static uint64_t places(const void *self, enum myr_cell_level level)
{
    return (uint64_t)((const struct cells *)self)->pools[level].places + 1;
}

static uint64_t node_places(const void *self)
{
    return places(self, MYR_CELL_NODE);
}

static uint64_t group_places(const void *self)
{
    return places(self, MYR_CELL_GROUP);
}

static uint64_t pod_places(const void *self)
{
    return places(self, MYR_CELL_POD);
}

static uint64_t estates(const void *self)
{
    return ((const struct cells *)self)->count;
}

/* Cells of one tenant over all levels. */
static uint64_t estate_cells(const void *self)
{
    const struct estate *e = self;
    uint64_t count = 0;
    for (uint32_t level = 0; level < MYR_CELL_LEVELS; level++) {
        count += e->counts[level];
    }
    return count;
}

static uint64_t exclude_words(const void *self)
{
    return ((const struct qrequest *)self)->exclude_words;
}

static uint64_t family_members(const void *self)
{
    return ((const struct myr_traffic_family *)self)->group_size;
}

static uint64_t family_groups(const void *self)
{
    return ((const struct myr_traffic_family *)self)->group_count;
}

static void release_map(void *field)
{
    myr_u64map_done(field);
}

static void release_memory(void *field)
{
    free(*(void **)field);
}

static const struct flat_field share_fields[] = {
    FLAT_MEMBER(FLAT_PLAIN, myr_share, node, 0, NULL, NULL),
    /* The bytes between the fields of a share are whatever they were: they must not be compared. */
    {"gap", FLAT_SCRATCH, sizeof(uint32_t), offsetof(struct myr_share, gpus) - sizeof(uint32_t), 0,
     NULL, NULL, NULL},
    FLAT_TAIL(myr_share, gpus),
};
static const struct flat_type share_flat = FLAT_TYPE(myr_share, share_fields);

static const struct flat_field job_fields[] = {
    FLAT_RUN(qjob, spec, gang),
    FLAT_MEMBER(FLAT_GANG, qjob, gang, sizeof(struct myr_share), &share_flat, NULL),
    FLAT_MEMBER(FLAT_GANG, qjob, own_gang, sizeof(struct myr_share), &share_flat, NULL),
    FLAT_TAIL(qjob, id),
};
static const struct flat_type job_flat = FLAT_TYPE(qjob, job_fields);

static const struct flat_field family_fields[] = {
    FLAT_RUN(myr_traffic_family, axis, offsets),
    FLAT_ARRAY_OF(myr_traffic_family, offsets, family_members),
    FLAT_ARRAY_OF(myr_traffic_family, firsts, family_groups),
};
static const struct flat_type family_flat = FLAT_TYPE(myr_traffic_family, family_fields);

static const struct flat_field traffic_fields[] = {
    FLAT_RUN(myr_job_traffic, cells, families),
    /* All families, in use or not: those that are not are zero and have no arrays. */
    FLAT_MEMBER(FLAT_INLINE, myr_job_traffic, families, sizeof(struct myr_traffic_family),
                &family_flat, NULL),
    FLAT_TAIL(myr_job_traffic, inside_bytes),
};
static const struct flat_type traffic_flat = FLAT_TYPE(myr_job_traffic, traffic_fields);

static const struct flat_field request_fields[] = {
    FLAT_RUN(qrequest, nodes, exclude),
    FLAT_ARRAY_OF(qrequest, exclude, exclude_words),
    FLAT_MEMBER(FLAT_POINTER, qrequest, traffic, sizeof(struct myr_job_traffic), &traffic_flat,
                NULL),
    {"failed", FLAT_SCRATCH, offsetof(struct qrequest, failed), sizeof(uint64_t), 0, NULL, NULL,
     NULL}, /* found anew */
};
static const struct flat_type request_flat = FLAT_TYPE(qrequest, request_fields);

static const struct flat_field hold_fields[] = {
    FLAT_RUN(hold, job, nodes),
    FLAT_VEC_OF(hold, nodes, NULL),
};
static const struct flat_type hold_flat = FLAT_TYPE(hold, hold_fields);

static const struct flat_field service_fields[] = {
    FLAT_RUN(service, spec, jobs),
    FLAT_VEC_OF(service, jobs, NULL),
};
static const struct flat_type service_flat = FLAT_TYPE(service, service_fields);

static const struct flat_field estate_fields[] = {
    FLAT_MEMBER(FLAT_POINTER, estate, placer, sizeof(struct myr_placer), &placer_flat, NULL),
    FLAT_RUN(estate, counts, cells),
    FLAT_ARRAY_OF(estate, cells, estate_cells),
};
static const struct flat_type estate_flat = FLAT_TYPE(estate, estate_fields);

/* A byte more than places, as queue_cells_create() makes them. */
static const struct flat_field cells_fields[] = {
    FLAT_RUN(cells, pools[0], pools[0].bound),
    FLAT_ARRAY_OF(cells, pools[0].bound, node_places),
    FLAT_RUN(cells, pools[1], pools[1].bound),
    FLAT_ARRAY_OF(cells, pools[1].bound, group_places),
    FLAT_RUN(cells, pools[2], pools[2].bound),
    FLAT_ARRAY_OF(cells, pools[2].bound, pod_places),
    FLAT_MEMBER(FLAT_ARRAY, cells, estates, sizeof(struct estate), &estate_flat, estates),
    FLAT_TAIL(cells, count),
};
static const struct flat_type cells_flat = FLAT_TYPE(cells, cells_fields);

#define PLAIN_VEC(field) FLAT_VEC_OF(myr_queue, field, NULL)
#define BY_NODE(field)   FLAT_ARRAY_OF(myr_queue, field, nodes)
#define OWNED(field, how)                                              \
    {                                                                  \
#field, FLAT_OWNED, offsetof(struct myr_queue, field),         \
            sizeof(((struct myr_queue *)0)->field), 0, NULL, NULL, how \
    }

#define SCRATCH(field)                                                  \
    {                                                                   \
#field, FLAT_SCRATCH, offsetof(struct myr_queue, field),        \
            sizeof(((struct myr_queue *)0)->field), 0, NULL, NULL, NULL \
    }

static const struct flat_field queue_fields[] = {
    FLAT_RUN(myr_queue, shape, placer),
    FLAT_MEMBER(FLAT_POINTER, myr_queue, placer, sizeof(struct myr_placer), &placer_flat, NULL),
    FLAT_MEMBER(FLAT_POINTER, myr_queue, lengths, sizeof(struct lengths), NULL, NULL),
    FLAT_MEMBER(FLAT_POINTER, myr_queue, cells, sizeof(struct cells), &cells_flat, NULL),
    FLAT_RUN(myr_queue, tenant_count, tenants),
    FLAT_ARRAY_OF(myr_queue, tenants, tenants),
    FLAT_ARRAY_OF(myr_queue, tenant_gpus, tenants),
    FLAT_ARRAY_OF(myr_queue, tenant_jobs, tenants),
    OWNED(excess, release_memory), /* found anew */
    FLAT_RUN(myr_queue, shares, brothers),
    FLAT_ARRAY_OF(myr_queue, brothers, parents),
    PLAIN_VEC(page_of),
    PLAIN_VEC(pages),
    FLAT_VEC_OF(myr_queue, jobs, &job_flat),
    PLAIN_VEC(over),
    FLAT_RUN(myr_queue, page_free, stakes),
    PLAIN_VEC(stakes),
    FLAT_RUN(myr_queue, stake_free, stake_first),
    BY_NODE(stake_first),
    PLAIN_VEC(claims),
    PLAIN_VEC(arrays),
    PLAIN_VEC(dependants),
    PLAIN_VEC(ended),
    PLAIN_VEC(avoids),
    FLAT_VEC_OF(myr_queue, requests, &request_flat),
    FLAT_RUN(myr_queue, request_free, lines),
    PLAIN_VEC(lines),
    FLAT_RUN(myr_queue, busy_first, sizes),
    PLAIN_VEC(sizes),
    OWNED(line_of, release_map), /* found anew from the lines */
    FLAT_ARRAY_OF(myr_queue, node_jobs, gpus),
    FLAT_ARRAY_OF(myr_queue, node_job_gpus, gpus),
    BY_NODE(node_job_count),
    BY_NODE(node_oldest_s),
    BY_NODE(closed),
    FLAT_VEC_OF(myr_queue, holds, &hold_flat),
    PLAIN_VEC(windows),
    FLAT_VEC_OF(myr_queue, services, &service_flat),
    FLAT_RUN(myr_queue, spares_wanted, tries.later),
    FLAT_ARRAY_OF(myr_queue, tries.later.items, tries),
    FLAT_RUN(myr_queue, tries.later.count, tries.later.capacity),
    /* Room that is not in use differs between equal states. */
    SCRATCH(tries.later.capacity),
    FLAT_RUN(myr_queue, tries.later.next_order, tries.due),
    PLAIN_VEC(tries.due),
    FLAT_RUN(myr_queue, tries.wake_s, wakes),
    FLAT_ARRAY_OF(myr_queue, wakes.items, wakes),
    FLAT_RUN(myr_queue, wakes.count, wakes.capacity),
    SCRATCH(wakes.capacity),
    FLAT_RUN(myr_queue, wakes.next_order, decisions),
    PLAIN_VEC(decisions),
    FLAT_RUN(myr_queue, handed, victims),
    OWNED(victims, release_memory),
    OWNED(nodes, release_memory),
    SCRATCH(kinds),
    FLAT_TAIL(myr_queue, now_s),
};

const struct flat_type queue_flat = FLAT_TYPE(myr_queue, queue_fields);
