/*
 * placed: where gangs lie, judged by counting: all of a gang and each rank once, as near together
 * as was asked, and not scattered where one set of leaves, or one node, had room before.
 */
#include <stdlib.h>

#include "myriad/text/amount.h"
#include "progress/progress_books.h"

/* ---- ranks ---- */

/* The first order of an epoch says how large it is; the books of the one before are gone. */
static void begin_epoch(struct progress *p, struct pjob *job, const struct myr_effect *e)
{
    job->placed_epoch = e->epoch;
    job->world = e->world;
    job->part_count = 0;
    job->parts = myr_xrealloc(job->parts, p->scenario->shape.nodes, sizeof(*job->parts));
    if (e->world > job->gpus || e->world < job->least) {
        check_violated(p->check, RULE_RANKS, "job %u starts with %s, %u to %u are asked for",
                       e->job, MYR_COUNT(e->world, "GPU"), job->least, job->gpus);
    }
}

void placed_order(struct progress *p, const struct myr_effect *e)
{
    struct pjob *job = pjob_at(p, e->job);
    uint32_t gpus = (uint32_t)__builtin_popcountll(e->gpus);
    if (e->epoch > job->placed_epoch) {
        begin_epoch(p, job, e);
    }
    if (e->epoch != job->placed_epoch) {
        return;
    }
    bool fits = e->world == job->world && e->first_rank + gpus <= job->world;
    for (uint32_t i = 0; i < job->part_count; i++) {
        const struct ppart *part = &job->parts[i];
        if (part->node == e->node) { /* said again */
            if (part->first != e->first_rank || part->gpus != gpus) {
                check_violated(p->check, RULE_RANKS, "node/%05u is told other ranks of job %u",
                               e->node, e->job);
            }
            return;
        }
        fits = fits &&
               (part->first + part->gpus <= e->first_rank || e->first_rank + gpus <= part->first);
    }
    if (!fits) {
        check_violated(p->check, RULE_RANKS,
                       "node/%05u is to run ranks %u to %u of %u of job %u, which are not its own",
                       e->node, e->first_rank, e->first_rank + gpus - 1, job->world, e->job);
        return;
    }
    job->parts[job->part_count++] =
        (struct ppart){.node = e->node, .first = e->first_rank, .gpus = gpus};
}

/* ---- as was asked ---- */

static int by_node(const void *a, const void *b)
{
    const struct ppart *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Sets of leaves, or pods, that the job touches; 'ret_most': nodes of it in one of them. */
static uint32_t groups_of(struct pjob *job, uint32_t group_nodes, uint32_t *ret_most)
{
    uint32_t groups = 0, here = 0, last = MYR_NONE;
    qsort(job->parts, job->part_count, sizeof(*job->parts), by_node);
    *ret_most = 0;
    for (uint32_t i = 0; i < job->part_count; i++) {
        uint32_t group = job->parts[i].node / group_nodes;
        here = group == last ? here + 1 : 1;
        groups += group != last;
        last = group;
        *ret_most = here > *ret_most ? here : *ret_most;
    }
    return groups;
}

static void look_at_wish(struct progress *p, uint32_t id)
{
    struct pjob *job = pjob_at(p, id);
    const struct myr_place_shape *shape = &p->scenario->shape;
    uint32_t most, unused, sum = 0;
    uint32_t leaves = groups_of(job, shape->group_nodes, &most);
    uint32_t pods = groups_of(job, shape->pod_nodes, &unused);
    for (uint32_t i = 0; i < job->part_count; i++) {
        sum += job->parts[i].gpus;
    }
    if (sum != job->world || job->part_count != progress_nodes_of(p, job->world)) {
        check_violated(p->check, RULE_RANKS, "job %u of %s starts as %u on %s", id,
                       MYR_COUNT(job->world, "GPU"), sum, MYR_COUNT(job->part_count, "node"));
    }
    if ((job->within == 1 && leaves > 1) || (job->within == 2 && pods > 1) ||
        (job->leaf_max > 0 && most > job->leaf_max)) {
        check_violated(p->check, RULE_WISH,
                       "job %u lies under %u sets of leaves, with up to %s under one, in %s", id,
                       leaves, MYR_COUNT(most, "node"), MYR_COUNT(pods, "pod"));
    }
}

/* ---- not scattered ---- */

/* Whole nodes that were free before this event and still are, of one group. */
static bool has_room(const struct progress *p, uint32_t group_nodes, uint32_t nodes)
{
    uint32_t room = 0;
    for (uint32_t n = 0; n < p->scenario->shape.nodes; n++) {
        const struct pnode *node = &p->nodes[n];
        room = n % group_nodes == 0 ? 0 : room;
        room += node->counted && node->free == p->per && !node->touched;
        if (room >= nodes) {
            return true;
        }
    }
    return false;
}

/* A node that is in use already had room before this event, and still has. */
static bool has_remnant(const struct progress *p, uint32_t gpus)
{
    for (uint32_t n = 0; n < p->scenario->shape.nodes; n++) {
        const struct pnode *node = &p->nodes[n];
        if (node->counted && !node->touched && node->free >= gpus && node->free < p->per) {
            return true;
        }
    }
    return false;
}

/* Nodes may be held for it. */
static bool waits_any_gang(const struct progress *p)
{
    for (size_t i = 0; i < p->open.count; i++) {
        const struct pjob *job = pjob_at(p, p->open.items[i]);
        bool runs = job->state == MYR_CONTROL_STARTING || job->state == MYR_CONTROL_RUNNING ||
                    job->state == MYR_CONTROL_FINISHING;
        if (!runs && job->state < MYR_CONTROL_DONE && job->gpus > p->per) {
            return true;
        }
    }
    return false;
}

/* Given its turn and started at once: what makes room for it, or is kept, lies where it lies. */
static void look_at_spread(struct progress *p, uint32_t id)
{
    struct pjob *job = pjob_at(p, id);
    const struct myr_place_shape *shape = &p->scenario->shape;
    uint32_t most, kept = p->scenario->policy.spares + progress_dated_nodes(p);
    uint32_t leaves = groups_of(job, shape->group_nodes, &most);
    uint32_t pods = groups_of(job, shape->pod_nodes, &most);
    bool whole = job->world % p->per == 0;
    if (leaves > 1 && whole && job->leaf_max == 0 &&
        (has_room(p, shape->group_nodes, job->part_count + kept) ||
         (pods > 1 && has_room(p, shape->pod_nodes, job->part_count + kept)))) {
        check_violated(p->check, RULE_SCATTERED,
                       "job %u lies under %u sets of leaves in %s, and fewer had room", id, leaves,
                       MYR_COUNT(pods, "pod"));
    }
    bool opened = job->part_count == 1 && job->world < p->per &&
                  p->nodes[job->parts[0].node].free == p->per - job->world;
    if (opened && kept == 0 && !job->shaped && has_remnant(p, job->world)) {
        check_violated(p->check, RULE_SCATTERED,
                       "job %u of %s takes node/%05u, which was empty, beside one with room", id,
                       MYR_COUNT(job->world, "GPU"), job->parts[0].node);
    }
}

void placed_end(struct progress *p)
{
    for (size_t i = 0; i < p->started.count; i++) {
        uint32_t id = p->started.items[i];
        const struct pjob *job = pjob_at(p, id);
        if (job->placed_epoch == 0 || job->state != MYR_CONTROL_STARTING || job->part_count == 0) {
            continue; /* it waits for what ran there */
        }
        look_at_wish(p, id);
        if (job->at_once && !p->keeps && !waits_any_gang(p) &&
            job->placed_epoch == 1) { /* again it may lie where it lay */
            look_at_spread(p, id);
        }
    }
}
