#include "verify/verify.h"

/*
 * Planned and found cables that meet at a port are one chain (repair.h). A chain with an end that
 * was not read may be any other chain in truth: it is left as it is, in the plan too, so that no
 * step comes from it and no minimum counts it.
 */

/* Marks the chain of a vertex in one direction, until it ends or comes round. */
static void mark(const uint32_t *first, const uint32_t *second, uint32_t vertex, uint8_t *open)
{
    const uint32_t *by = first;
    for (uint32_t at = by[vertex]; at != MYR_NONE && at != vertex; at = by[at]) {
        open[at] = 1;
        by = by == first ? second : first;
    }
}

/* Whether the vertex is where such a chain is seen first: each is counted once. */
const uint32_t *verify_readable_plan(const struct myr_verify *verify, const uint32_t *plan,
                                     const uint32_t *found, uint8_t *open, uint32_t *ret_chains)
{
    uint32_t count = verify->vertex_count;
    uint32_t *ret = MYR_ARENA_NEW(verify->arena, uint32_t, count);
    uint8_t *counted = MYR_ARENA_NEW(verify->arena, uint8_t, count);
    memcpy(ret, plan, count * sizeof(uint32_t));
    *ret_chains = 0;
    for (uint32_t v = 0; v < count; v++) {
        if (open[v] && !counted[v]) {
            counted[v] = 1;
            mark(plan, found, v, open);
            mark(found, plan, v, open);
            mark(plan, found, v, counted);
            mark(found, plan, v, counted);
            ++*ret_chains;
        }
    }
    for (uint32_t v = 0; v < count && *ret_chains; v++) {
        ret[v] = open[v] ? found[v] : plan[v];
    }
    return ret;
}
