#include "queue/cells.h"

#include <stdlib.h>

#include "queue/state.h"

/*
 * Cells of tenants. Each tenant that owns something has a private cluster, an estate, with a placer
 * of its own and nodes numbered from 0: pods first, then groups, then nodes. Places for all cells
 * lie at the start of the real cluster, one pool for each level in the same order. A cell is bound
 * to a place of its level while somebody runs in it, and to none otherwise.
 */

/* A tenant without cells has neither placer nor cells: all zero. */
static void create_estate(struct estate *e, const struct myr_place_shape *shape,
                          const struct myr_tenant *tenant)
{
    MYR_ASSERT(!e->placer && !e->cells && e->nodes == 0); /* all zero until now */
    uint32_t cells = 0;
    for (uint32_t level = 0; level < MYR_CELL_LEVELS; level++) {
        e->counts[level] = tenant->cells[level];
        e->nodes += tenant->cells[level] * myr_cell_nodes(shape, (enum myr_cell_level)level);
        cells += tenant->cells[level];
    }
    if (cells == 0) {
        return;
    }
    MYR_ASSERT(e->nodes >= cells);
    MYR_ASSERT(e->nodes <= shape->nodes);
    /* The same groups and pods as the real cluster, so what is close together there is so here. */
    struct myr_place_shape own = *shape;
    own.nodes = e->nodes;
    e->placer = myr_placer_create(&own);
    e->cells = myr_xcalloc(cells, sizeof(*e->cells));
    for (uint32_t c = 0; c < cells; c++) {
        e->cells[c].place = MYR_NONE;
    }
}

struct cells *queue_cells_create(const struct myr_place_shape *shape,
                                 const struct myr_tenant *tenants, uint32_t count)
{
    uint32_t places[MYR_CELL_LEVELS] = {}, all = 0, at = 0;
    for (uint32_t t = 0; t < count; t++) {
        for (uint32_t level = 0; level < MYR_CELL_LEVELS; level++) {
            places[level] += tenants[t].cells[level];
            all += tenants[t].cells[level];
        }
    }
    if (all == 0) {
        return NULL;
    }
    struct cells *cells = myr_xcalloc(1, sizeof(*cells));
    cells->count = count;
    /* The largest first: each begins at a multiple of its own size then. */
    for (uint32_t level = MYR_CELL_LEVELS; level-- > 0;) {
        uint32_t nodes = myr_cell_nodes(shape, (enum myr_cell_level)level);
        cells->pools[level] =
            (struct pool){.first_node = at, .places = places[level], .place_nodes = nodes};
        /* One byte more: a level without places has an array all the same. */
        cells->pools[level].bound = myr_xcalloc(places[level] + 1, 1);
        at += places[level] * nodes;
    }
    MYR_ASSERT(at <= shape->nodes);
    /* Nodes of all are told from places of cells by the end of the last pool. */
    MYR_ASSERT(cells->pools[MYR_CELL_NODE].place_nodes == 1);
    MYR_ASSERT(cells->pools[MYR_CELL_NODE].first_node + places[MYR_CELL_NODE] == at);
    cells->estates = myr_xcalloc(count, sizeof(*cells->estates));
    for (uint32_t t = 0; t < count; t++) {
        create_estate(&cells->estates[t], shape, &tenants[t]);
    }
    return cells;
}

bool queue_in_pool(const struct myr_queue *q, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    /* The pools lie side by side from node 0 on, and single nodes are the last of them. */
    const struct pool *last = q->cells ? &q->cells->pools[MYR_CELL_NODE] : NULL;
    return last && node < last->first_node + last->places;
}

/* Which cell a node of the private numbering lies in. */
struct spot {
    struct cell *cell;
    uint32_t level, offset; /* of the cell; of the node in it */
};

/* Private nodes are numbered like the pools: the largest cells first. */
static struct spot spot_of(const struct myr_queue *q, const struct estate *e, uint32_t node)
{
    uint32_t cell = 0;
    MYR_ASSERT(node < e->nodes);
    MYR_ASSERT(e->cells && e->placer);
    for (uint32_t level = MYR_CELL_LEVELS; level-- > 0;) {
        uint32_t per = myr_cell_nodes(&q->shape, (enum myr_cell_level)level),
                 here = e->counts[level] * per;
        if (node < here) {
            return (struct spot){&e->cells[cell + node / per], level, node % per};
        }
        node -= here;
        cell += e->counts[level];
    }
    MYR_ASSERT(false);
    return (struct spot){};
}

/* The real node; the cell is bound. */
static uint32_t physical(const struct myr_queue *q, const struct spot *spot)
{
    MYR_ASSERT(spot->level < MYR_CELL_LEVELS);
    const struct pool *pool = &q->cells->pools[spot->level];
    MYR_ASSERT(spot->cell->place < pool->places);
    MYR_ASSERT(spot->offset < pool->place_nodes);
    MYR_SLOW_ASSERT(pool->first_node + pool->places * pool->place_nodes <= q->shape.nodes);
    return pool->first_node + spot->cell->place * pool->place_nodes + spot->offset;
}

static bool is_bad(const struct myr_queue *q, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    return q->closed[node] & CLOSED_BAD;
}

/* Binds a cell to the free place with the fewest bad nodes, then the fewest GPUs in use. */
static void bind_cell(struct myr_queue *q, const struct spot *spot)
{
    MYR_ASSERT(spot->level < MYR_CELL_LEVELS);
    struct pool *pool = &q->cells->pools[spot->level];
    uint32_t best = MYR_NONE;
    uint64_t best_cost = UINT64_MAX;
    for (uint32_t place = 0; place < pool->places; place++) {
        uint64_t cost = 0;
        for (uint32_t i = 0; i < pool->place_nodes && !pool->bound[place]; i++) {
            uint32_t node = pool->first_node + place * pool->place_nodes + i;
            /* Who borrows a place has to leave it: the fewer GPUs that are, the better. */
            uint32_t busy =
                q->shape.gpus_per_node - gpu_count(myr_placer_free_mask(q->placer, node));
            /* One bad node outweighs all GPUs of a place that are in use. */
            cost += is_bad(q, node) ? UINT64_C(1) << 32 : busy;
        }
        if (!pool->bound[place] && cost < best_cost) {
            best_cost = cost;
            best = place;
        }
    }
    /* There are as many places as cells of this level, and this cell has none yet. */
    MYR_ASSERT(best != MYR_NONE);
    MYR_ASSERT(best < pool->places);
    MYR_ASSERT(spot->cell->place == MYR_NONE);
    MYR_ASSERT(spot->cell->in_use == 0);
    MYR_ASSERT(!pool->bound[best]);
    pool->bound[best] = 1;
    spot->cell->place = best;
}

/* 'node' is the private node at the spot's offset. Unbound, all nodes of the cell count as well. */
static void unbind_cell(struct myr_queue *q, struct estate *e, const struct spot *spot,
                        uint32_t node)
{
    struct pool *pool = &q->cells->pools[spot->level];
    MYR_ASSERT(spot->cell->in_use == 0);
    MYR_ASSERT(spot->cell->place != MYR_NONE);
    MYR_ASSERT(pool->bound[spot->cell->place]);
    MYR_ASSERT(spot->offset < pool->place_nodes);
    MYR_ASSERT(node >= spot->offset);
    MYR_ASSERT(node - spot->offset + pool->place_nodes <= e->nodes);
    pool->bound[spot->cell->place] = 0;
    spot->cell->place = MYR_NONE;
    for (uint32_t i = 0; i < pool->place_nodes; i++) {
        myr_placer_set_node(e->placer, node - spot->offset + i, true);
    }
}

/* The private nodes that stand on bad ones are out of use while their cell is bound there. */
static void mark_bad(struct myr_queue *q, struct estate *e, const struct spot *spot, uint32_t node)
{
    MYR_ASSERT(spot->cell->place != MYR_NONE);
    MYR_ASSERT(node >= spot->offset && node < e->nodes);
    struct spot other = *spot;
    for (other.offset = 0; other.offset < q->cells->pools[spot->level].place_nodes;
         other.offset++) {
        myr_placer_set_node(e->placer, node - spot->offset + other.offset,
                            !is_bad(q, physical(q, &other)));
    }
}

/* Whose cell lies on a node is not kept: all estates are looked through. */
void queue_cells_node(struct myr_queue *q, uint32_t node)
{
    MYR_ASSERT(node < q->shape.nodes);
    for (uint32_t t = 0; q->cells && t < q->cells->count; t++) {
        struct estate *e = &q->cells->estates[t];
        for (uint32_t own = 0; e->placer && own < e->nodes; own++) {
            struct spot spot = spot_of(q, e, own);
            if (spot.cell->place != MYR_NONE && physical(q, &spot) == node) {
                myr_placer_set_node(e->placer, own, !is_bad(q, node));
            }
        }
    }
}

/* Gives back what a job has in the private cluster; cells that nobody uses are unbound. */
static void release_own(struct myr_queue *q, struct estate *e, const struct myr_gang *gang,
                        bool counted)
{
    MYR_ASSERT(gang->count > 0);
    MYR_ASSERT(e->placer);
    myr_release(e->placer, gang);
    for (uint32_t i = 0; i < gang->count; i++) {
        struct spot spot = spot_of(q, e, gang->shares[i].node);
        MYR_ASSERT(spot.cell->place != MYR_NONE || spot.cell->in_use == 0);
        MYR_ASSERT(!counted || spot.cell->in_use > 0);
        spot.cell->in_use -= counted;
        /* A gang has several nodes in one cell: the first of them to see it unused unbinds it. */
        if (spot.cell->in_use == 0 && spot.cell->place != MYR_NONE) {
            unbind_cell(q, e, &spot, gang->shares[i].node);
        }
    }
}

/* Finds room in the private cluster, on nodes that are well; cells become bound on the way. */
static bool place_own(struct myr_queue *q, struct estate *e, uint32_t gpus, struct myr_gang *ret)
{
    MYR_ASSERT(gpus > 0 && e->placer);
    /* Ends: each round in vain marks at least one more private node. */
    while (myr_place(e->placer, gpus, ret)) {
        MYR_ASSERT(ret->count > 0 && ret->count <= e->nodes);
        bool well = true;
        for (uint32_t i = 0; i < ret->count; i++) {
            struct spot spot = spot_of(q, e, ret->shares[i].node);
            if (spot.cell->place == MYR_NONE) {
                bind_cell(q, &spot);
                mark_bad(q, e, &spot, ret->shares[i].node);
            }
            /* A cell that was bound before may have lost a node since. */
            well = well && !is_bad(q, physical(q, &spot));
        }
        if (well) {
            return true;
        }
        /* The bad nodes are marked by now and will not be chosen again; the cells stay bound. */
        myr_release(e->placer, ret);
    }
    return false;
}

/* The first tenant from the job's own upwards whose cells may have room, from 't' on. */
static uint32_t with_room(const struct myr_queue *q, uint32_t t, uint32_t gpus)
{
    MYR_ASSERT(q->cells->count == q->tenant_count);
    MYR_ASSERT(t < q->tenant_count && gpus > 0);
    while (t != MYR_NONE && !(q->cells->estates[t].placer &&
                              gpus <= q->cells->estates[t].nodes * q->shape.gpus_per_node &&
                              myr_place_fits(q->cells->estates[t].placer, gpus))) {
        t = q->tenants[t].parent;
    }
    return t;
}

bool queue_fits_own(const struct myr_queue *q, uint32_t tenant, uint32_t gpus)
{
    MYR_SLOW_ASSERT(tenant < q->tenant_count);
    return q->cells && with_room(q, tenant, gpus) != MYR_NONE;
}

/* Cells that were bound in a search and that nobody came to use. */
static void free_unused(struct myr_queue *q, struct estate *e)
{
    MYR_ASSERT(e->placer && e->nodes > 0);
    for (uint32_t own = 0; own < e->nodes; own++) {
        struct spot spot = spot_of(q, e, own);
        if (spot.cell->place != MYR_NONE && spot.cell->in_use == 0) {
            unbind_cell(q, e, &spot, own);
        }
    }
}

uint32_t queue_cells_reserve(struct myr_queue *q, uint32_t id, struct myr_gang *ret)
{
    const struct qjob *job = queue_job(q, id);
    MYR_ASSERT(q->cells->count == q->tenant_count);
    MYR_ASSERT(job->state == MYR_JOB_WAITS);
    MYR_ASSERT(job->owner == MYR_NONE);
    MYR_ASSERT(job->request == MYR_NONE);
    /* Its own tenant first, then those above: what is nearer is used up first. */
    uint32_t gpus = job->spec.gpus, t = with_room(q, job->spec.tenant, gpus);
    while (t != MYR_NONE && !place_own(q, &q->cells->estates[t], gpus, ret)) {
        /* The search here was in vain: its bindings must not stay in the way of others. */
        free_unused(q, &q->cells->estates[t]);
        t = q->tenants[t].parent == MYR_NONE ? MYR_NONE : with_room(q, q->tenants[t].parent, gpus);
    }
    MYR_ASSERT(t == MYR_NONE || ret->count > 0);
    MYR_ASSERT(t == MYR_NONE || q->cells->estates[t].placer);
    return t;
}

void queue_cells_cancel(struct myr_queue *q, uint32_t owner, const struct myr_gang *own)
{
    struct estate *e = &q->cells->estates[owner];
    MYR_ASSERT(owner < q->cells->count);
    MYR_ASSERT(e->placer);
    MYR_ASSERT(own->count > 0);
    myr_release(e->placer, own);
    free_unused(q, e);
}

uint32_t queue_cells_physical(const struct myr_queue *q, uint32_t owner, uint32_t node)
{
    MYR_ASSERT(q->cells && owner < q->cells->count);
    struct spot spot = spot_of(q, &q->cells->estates[owner], node);
    MYR_ASSERT(spot.cell->place != MYR_NONE);
    return physical(q, &spot);
}

void queue_cells_enter(struct myr_queue *q, uint32_t id, uint32_t owner, struct myr_gang own)
{
    struct estate *e = &q->cells->estates[owner];
    MYR_ASSERT(queue_job(q, id)->owner == MYR_NONE);
    MYR_ASSERT(queue_job(q, id)->own_gang.count == 0);
    MYR_ASSERT(owner < q->cells->count);
    MYR_ASSERT(own.shares);
    MYR_ASSERT(e->placer);
    MYR_ASSERT(own.count > 0);
    for (uint32_t i = 0; i < own.count; i++) {
        MYR_ASSERT(spot_of(q, e, own.shares[i].node).cell->place != MYR_NONE);
        spot_of(q, e, own.shares[i].node).cell->in_use++;
    }
    /* From now on the borrowers there are in its way, and it is in nobody's. */
    queue_job(q, id)->owner = owner;
    queue_job(q, id)->own_gang = own;
    free_unused(q, e); /* bound while looking for nodes that are well */
}

void queue_leave_own(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT((job->owner != MYR_NONE) == (job->own_gang.count > 0));
    if (job->owner != MYR_NONE) {
        MYR_ASSERT(q->cells);
        MYR_ASSERT(job->owner < q->cells->count);
        release_own(q, &q->cells->estates[job->owner], &job->own_gang, true);
        free(job->own_gang.shares);
        job->own_gang = (struct myr_gang){};
        job->owner = MYR_NONE;
    }
}

void queue_cells_add_tenants(struct myr_queue *q, uint32_t count)
{
    MYR_ASSERT(count >= q->tenant_count); /* tenants stay */
    if (q->cells && count > q->cells->count) {
        uint32_t before = q->cells->count;
        q->cells->estates = myr_xrealloc(q->cells->estates, count, sizeof(*q->cells->estates));
        /* All zero is an estate without cells. */
        memset(q->cells->estates + before, 0, (count - before) * sizeof(*q->cells->estates));
        q->cells->count = count;
    }
}

uint32_t queue_own_nodes(const struct myr_queue *q, uint32_t tenant, uint32_t *ret_free)
{
    MYR_SLOW_ASSERT(tenant < q->tenant_count);
    uint32_t nodes = 0;
    *ret_free = 0;
    for (uint32_t t = tenant; q->cells && t != MYR_NONE; t = q->tenants[t].parent) {
        const struct estate *e = &q->cells->estates[t];
        nodes += e->nodes;
        *ret_free += e->placer ? myr_placer_free_nodes(e->placer) : 0;
    }
    MYR_ASSERT(*ret_free <= nodes && nodes <= q->shape.nodes);
    return nodes;
}
