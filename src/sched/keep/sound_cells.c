#include <stdlib.h>

#include "keep/sound.h"
#include "place/index.h"
#include "queue/cells.h"

/* Cells of tenants, checked from their tenants and from the jobs that run in them. */

/* The pools lie one behind the other, as the cells of all tenants ask. */
static bool pools_sound(const struct myr_queue *q)
{
    uint64_t at = 0;
    for (uint32_t level = MYR_CELL_LEVELS; level-- > 0;) {
        const struct pool *pool = &q->cells->pools[level];
        uint64_t places = 0;
        for (uint32_t t = 0; t < q->tenant_count; t++) {
            places += q->tenants[t].cells[level];
        }
        if (pool->places != places || pool->first_node != at ||
            pool->place_nodes != myr_cell_nodes(&q->shape, (enum myr_cell_level)level)) {
            return false;
        }
        at += places * pool->place_nodes;
    }
    return at <= q->shape.nodes;
}

/* Which cell a private node lies in, as its number and level. */
static uint32_t cell_of(const struct myr_queue *q, const struct estate *e, uint32_t node)
{
    uint32_t cell = 0;
    for (uint32_t level = MYR_CELL_LEVELS; level-- > 0;) {
        uint32_t per = q->cells->pools[level].place_nodes;
        if (node < e->counts[level] * per) {
            return cell + node / per;
        }
        node -= e->counts[level] * per;
        cell += e->counts[level];
    }
    return MYR_NONE;
}

/* What its jobs have there is what is not free; a cell in use is bound, each to another place. */
static bool estate_sound(const struct myr_queue *q, uint32_t t, uint8_t *const *bound)
{
    const struct estate *e = &q->cells->estates[t];
    uint64_t nodes = 0, cells = 0;
    for (uint32_t level = 0; level < MYR_CELL_LEVELS; level++) {
        if (e->counts[level] != q->tenants[t].cells[level]) {
            return false;
        }
        nodes += (uint64_t)e->counts[level] * q->cells->pools[level].place_nodes;
        cells += e->counts[level];
    }
    if (e->nodes != nodes || (cells > 0) != (e->placer != NULL)) {
        return false;
    }
    if (!e->placer) {
        return true;
    }
    if (!placer_is_sound(e->placer) || e->placer->shape.nodes != nodes ||
        e->placer->shape.gpus_per_node != q->shape.gpus_per_node) {
        return false;
    }
    /* Cells are numbered from the largest level down, as in the pools. */
    for (uint32_t level = MYR_CELL_LEVELS, c = 0; level-- > 0;) {
        for (uint32_t k = 0; k < e->counts[level]; k++, c++) {
            uint32_t place = e->cells[c].place;
            if (place == MYR_NONE) {
                continue;
            }
            /* Two cells may not stand on one place. */
            if (place >= q->cells->pools[level].places || bound[level][place]) {
                return false;
            }
            bound[level][place] = 1;
        }
    }
    return true;
}

/* Adds what the job has in its owner's cells. */
static bool add_own(const struct myr_queue *q, const struct qjob *job, uint64_t *const *used,
                    uint32_t *const *in_use)
{
    if (job->owner == MYR_NONE) {
        return true;
    }
    if (job->owner >= q->cells->count || !q->cells->estates[job->owner].placer) {
        return false;
    }
    const struct estate *e = &q->cells->estates[job->owner];
    uint64_t whole = e->placer->whole;
    for (uint32_t i = 0; i < job->own_gang.count; i++) {
        const struct myr_share *share = &job->own_gang.shares[i];
        if (share->node >= e->nodes || share->gpus == 0 || (share->gpus & ~whole) ||
            (used[job->owner][share->node] & share->gpus)) {
            return false;
        }
        uint32_t cell = cell_of(q, e, share->node);
        /* A cell that somebody runs in is bound. */
        if (cell == MYR_NONE || e->cells[cell].place == MYR_NONE) {
            return false;
        }
        used[job->owner][share->node] |= share->gpus;
        in_use[job->owner][cell]++;
    }
    return true;
}

/* Masks and counts of every estate follow from the jobs in it. */
static bool uses_sound(const struct myr_queue *q, uint64_t *const *used, uint32_t *const *in_use)
{
    for (size_t i = 0; i < q->jobs.count; i++) {
        if (q->jobs.items[i].id != MYR_NONE && !add_own(q, &q->jobs.items[i], used, in_use)) {
            return false;
        }
    }
    for (uint32_t t = 0; t < q->cells->count; t++) {
        const struct estate *e = &q->cells->estates[t];
        for (uint32_t n = 0; n < e->nodes; n++) {
            uint32_t cell = cell_of(q, e, n);
            /* Closed or not: the mask says what is taken. */
            if (cell == MYR_NONE || e->placer->free_mask[n] != (e->placer->whole & ~used[t][n]) ||
                e->cells[cell].in_use != in_use[t][cell]) {
                return false;
            }
        }
    }
    return true;
}

/* Makes the books for uses_sound(), one list for each tenant. */
static bool use_sound(const struct myr_queue *q)
{
    uint32_t count = q->cells->count;
    /* One entry more, so that none of these is empty. */
    uint64_t **used = myr_xcalloc(count + UINT64_C(1), sizeof(*used));
    uint32_t **in_use = myr_xcalloc(count + UINT64_C(1), sizeof(*in_use));
    for (uint32_t t = 0; t < count; t++) {
        used[t] = myr_xcalloc(q->cells->estates[t].nodes + UINT64_C(1), sizeof(uint64_t));
        in_use[t] = myr_xcalloc(q->cells->estates[t].nodes + UINT64_C(1), sizeof(uint32_t));
    }
    bool sound = uses_sound(q, used, in_use);
    for (uint32_t t = 0; t < count; t++) {
        free(used[t]);
        free(in_use[t]);
    }
    free(used);
    free(in_use);
    return sound;
}

bool sound_cells(const struct myr_queue *q)
{
    uint64_t owned = 0;
    for (uint32_t t = 0; t < q->tenant_count; t++) {
        owned += myr_tenant_nodes(&q->tenants[t], &q->shape);
    }
    /* Cells are there if and only if somebody owns some. */
    if (!q->cells || owned == 0) {
        bool borrowed = false;
        for (size_t i = 0; i < q->jobs.count; i++) {
            /* Without cells nobody can run in some. */
            borrowed |= q->jobs.items[i].id != MYR_NONE && q->jobs.items[i].owner != MYR_NONE;
        }
        return !q->cells && owned == 0 && !borrowed;
    }
    if (q->cells->count != q->tenant_count || !pools_sound(q)) {
        return false;
    }
    uint8_t *bound[MYR_CELL_LEVELS];
    bool sound = true;
    for (uint32_t level = 0; level < MYR_CELL_LEVELS; level++) {
        bound[level] = myr_xcalloc(q->cells->pools[level].places + UINT64_C(1), 1);
    }
    for (uint32_t t = 0; t < q->tenant_count && sound; t++) {
        sound = estate_sound(q, t, bound);
    }
    for (uint32_t level = 0; level < MYR_CELL_LEVELS; level++) {
        const struct pool *pool = &q->cells->pools[level];
        sound = sound && memcmp(bound[level], pool->bound, pool->places) == 0;
        free(bound[level]);
    }
    return sound && use_sound(q);
}
