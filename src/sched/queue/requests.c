#include <stdlib.h>

#include "myriad/text/amount.h"
#include "place/index.h"
#include "queue/state.h"

/*
 * Jobs that ask for more than a number of GPUs. They wait and rank like all others; whether they
 * fit, and where, is said by the search of search/, as for a placing question. They are placed on
 * the nodes of all, not in cells of their tenant, whose private numbering knows no kinds or racks.
 */

/* A word for each 64 nodes, and one more. */
static uint32_t words_of(const struct myr_queue *q)
{
    return q->shape.nodes / 64 + 1;
}

static bool excludes(const uint64_t *exclude, uint32_t node)
{
    return exclude && (exclude[node / 64] >> node % 64 & 1);
}

int queue_request_check(const struct myr_queue *q, const struct myr_queue_job *spec,
                        struct myr_err *err)
{
    const struct myr_request *r = spec->request;
    uint32_t suit = 0;
    if (!r) {
        return MYR_OK;
    }
    /* 0 stands for whole nodes. */
    uint32_t per = r->gpus_per_node ? r->gpus_per_node : q->shape.gpus_per_node;
    if (r->nodes == 0 || r->nodes > q->shape.nodes || per > q->shape.gpus_per_node ||
        (uint64_t)r->nodes * per != spec->gpus) {
        return myr_err_set(err, MYR_EINVAL, "%s on %s with %u each", MYR_COUNT(spec->gpus, "GPU"),
                           MYR_COUNT(r->nodes, "node"), per);
    }
    if ((uint32_t)r->within >= MYR_LEVEL_COUNT) {
        return myr_err_set(err, MYR_ERANGE, "there is no level %u", (uint32_t)r->within);
    }
    if (r->traffic && (r->traffic->cells != r->nodes || r->traffic->gpus_per_cell != per ||
                       r->traffic->family_count > MYR_TRAFFIC_FAMILIES_MAX ||
                       r->traffic->digit_count > MYR_TRAFFIC_DIGITS_MAX)) {
        return myr_err_set(err, MYR_EINVAL, "traffic of %s for a gang of %u",
                           MYR_COUNT(r->traffic->cells, "node"), r->nodes);
    }
    /* An elastic job changes its number of nodes, and traffic names each of them. */
    if (r->traffic && spec->gpus_min) {
        return myr_err_set(err, MYR_EINVAL, "a layout is of one size: it cannot shrink");
    }
    /* Those that could ever suit, free or not. */
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        suit += !excludes(r->exclude, node) && (!r->kind_given || q->placer->kind[node] == r->kind);
    }
    /* One that cannot shrink needs all of them: it would wait for ever. */
    if (suit * (uint64_t)per < (spec->gpus_min ? spec->gpus_min : spec->gpus)) {
        return myr_err_set(err, MYR_EINVAL, "it needs %s, and only %u would suit it",
                           MYR_COUNT(r->nodes, "node"), suit);
    }
    return MYR_OK;
}

static uint32_t *copied(const uint32_t *from, uint32_t count)
{
    uint32_t *to = count ? myr_xcalloc(count, sizeof(*to)) : NULL;
    if (count) {
        memcpy(to, from, count * sizeof(*to));
    }
    return to;
}

/* Field by field onto zeros: what lies between and behind the fields is compared too. */
static struct myr_job_traffic *copy_traffic(const struct myr_job_traffic *from)
{
    MYR_ASSERT(from->family_count <= MYR_TRAFFIC_FAMILIES_MAX);
    MYR_ASSERT(from->digit_count <= MYR_TRAFFIC_DIGITS_MAX);
    struct myr_job_traffic *to = myr_xcalloc(1, sizeof(*to));
    to->cells = from->cells;
    to->gpus_per_cell = from->gpus_per_cell;
    to->family_count = from->family_count;
    to->inside_bytes = from->inside_bytes;
    to->between_bytes = from->between_bytes;
    to->digit_count = from->digit_count;
    memcpy(to->digits, from->digits, sizeof(to->digits));
    for (uint32_t i = 0; i < from->family_count; i++) {
        const struct myr_traffic_family *f = &from->families[i];
        struct myr_traffic_family *copy = &to->families[i];
        copy->axis = f->axis;
        copy->members = f->members;
        copy->digit_bits = f->digit_bits;
        copy->bytes = f->bytes;
        copy->group_size = f->group_size;
        copy->group_count = f->group_count;
        copy->offsets = copied(f->offsets, f->group_size);
        copy->firsts = copied(f->firsts, f->group_count);
    }
    return to;
}

/* 'users': the members of an array share one request. */
uint32_t queue_request_add(struct myr_queue *q, const struct myr_request *from, uint32_t users)
{
    MYR_ASSERT(users > 0);
    MYR_ASSERT(from->nodes > 0);
    MYR_ASSERT(from->nodes <= q->shape.nodes);
    MYR_ASSERT(from->gpus_per_node <= q->shape.gpus_per_node);
    struct qrequest r;
    memset(&r, 0, sizeof(r));
    r.nodes = from->nodes;
    r.gpus_per_node = from->gpus_per_node ? from->gpus_per_node : q->shape.gpus_per_node;
    r.limited = from->limited;
    r.within = (uint32_t)from->within;
    r.leaf_max = from->leaf_max;
    memcpy(r.zone_max, from->zone_max, sizeof(r.zone_max));
    r.kind_given = from->kind_given;
    r.kind = from->kind;
    r.users = users;
    if (from->exclude) {
        r.exclude_words = words_of(q);
        r.exclude = myr_xcalloc(r.exclude_words, sizeof(uint64_t));
        /* Copied: the caller's request may be gone with the call. */
        memcpy(r.exclude, from->exclude, r.exclude_words * sizeof(uint64_t));
    }
    MYR_ASSERT(!from->traffic || from->traffic->cells == from->nodes);
    r.traffic = from->traffic ? copy_traffic(from->traffic) : NULL;
    uint32_t at = q->request_free;
    if (at == MYR_NONE) {
        myr_vec_push(&q->requests, r);
        return (uint32_t)q->requests.count - 1;
    }
    MYR_ASSERT(at < q->requests.count);
    MYR_ASSERT(q->requests.items[at].users == 0);
    q->request_free = q->requests.items[at].next_free;
    q->requests.items[at] = r;
    return at;
}

void queue_request_leave(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    if (job->request == MYR_NONE) {
        return;
    }
    uint32_t at = job->request;
    struct qrequest *r = &q->requests.items[at];
    job->request = MYR_NONE;
    MYR_ASSERT(at < q->requests.count);
    MYR_ASSERT(r->users > 0);
    /* Members of an array share it: it goes with the last of them. */
    if (--r->users > 0) {
        return;
    }
    /* Families that are not in use have no arrays: freeing them does no harm. */
    for (uint32_t i = 0; r->traffic && i < MYR_TRAFFIC_FAMILIES_MAX; i++) {
        free(r->traffic->families[i].offsets);
        free(r->traffic->families[i].firsts);
    }
    free(r->traffic);
    free(r->exclude);
    /* An unused entry has the same bytes, whatever it was. */
    memset(r, 0, sizeof(*r));
    MYR_ASSERT(q->request_free == MYR_NONE || q->requests.items[q->request_free].users == 0);
    r->next_free = q->request_free;
    q->request_free = at;
}

struct myr_request queue_request_of(const struct myr_queue *q, const struct qjob *job)
{
    MYR_ASSERT(job->request < q->requests.count);
    const struct qrequest *r = &q->requests.items[job->request];
    MYR_ASSERT(r->users > 0);
    MYR_ASSERT(r->nodes > 0);
    MYR_ASSERT(r->gpus_per_node > 0);
    /* Pointers lead into the queue: the answer is of use until the request changes. */
    struct myr_request request = {.nodes = r->nodes,
                                  .gpus_per_node = r->gpus_per_node,
                                  .traffic = r->traffic,
                                  .limited = r->limited,
                                  .within = (enum myr_level)r->within,
                                  .leaf_max = r->leaf_max,
                                  .exclude = r->exclude,
                                  .kind_given = r->kind_given,
                                  .kind = (uint8_t)r->kind};
    memcpy(request.zone_max, r->zone_max, sizeof(request.zone_max));
    return request;
}

uint32_t queue_nodes_of(const struct myr_queue *q, const struct qjob *job)
{
    MYR_SLOW_ASSERT(job->request == MYR_NONE || job->request < q->requests.count);
    return job->request == MYR_NONE ? myr_place_nodes(q->placer, job->spec.gpus)
                                    : q->requests.items[job->request].nodes;
}

uint32_t queue_request_per_node(const struct myr_queue *q, const struct qjob *job)
{
    MYR_SLOW_ASSERT(job->request == MYR_NONE || job->request < q->requests.count);
    return job->request == MYR_NONE ? q->shape.gpus_per_node
                                    : q->requests.items[job->request].gpus_per_node;
}

bool queue_suits(const struct myr_queue *q, const struct qjob *job, uint32_t node)
{
    if (job->request == MYR_NONE) {
        return true;
    }
    MYR_SLOW_ASSERT(job->request < q->requests.count && node < q->shape.nodes);
    const struct qrequest *r = &q->requests.items[job->request];
    return !excludes(r->exclude, node) && (!r->kind_given || q->placer->kind[node] == r->kind);
}

uint32_t queue_request_most(const struct myr_queue *q, uint32_t id)
{
    struct myr_request request = queue_request_of(q, queue_job(q, id));
    MYR_ASSERT(request.nodes > 0);
    return myr_request_size(q->placer, &request);
}

/* Whole free nodes of a kind, counted once for each state of the placer. */
static uint32_t free_of_kind(struct myr_queue *q, uint32_t kind)
{
    MYR_ASSERT(kind <= UINT8_MAX);
    const struct myr_placer *p = q->placer;
    if (q->kinds.version != p->version + 1) {
        /* The version is kept one later, so that 0 stands for never. */
        q->kinds = (struct kind_count){.version = p->version + 1};
        for (uint32_t w = 0; w <= p->shape.nodes / 64; w++) {
            for (uint64_t bits = p->free_words[w]; bits; bits &= bits - 1) {
                q->kinds.nodes[p->kind[w * 64 + (uint32_t)__builtin_ctzll(bits)]]++;
            }
        }
    }
    MYR_ASSERT(q->kinds.nodes[kind] <= p->free_nodes);
    return q->kinds.nodes[kind];
}

/* What needs no search: in a full cluster nearly all that wait end here. */
static bool cannot_fit(struct myr_queue *q, const struct qjob *job, const struct qrequest *r)
{
    MYR_SLOW_ASSERT(r->users > 0 && r->gpus_per_node <= q->shape.gpus_per_node);
    /*
     * Parts of nodes also fit on nodes that are in use: the counts of free
     * nodes say nothing then.
     */
    bool whole = r->gpus_per_node == q->shape.gpus_per_node;
    /* A limit to a leaf is a question to the index of groups. */
    bool leaf = r->limited && r->within <= MYR_LEVEL_LEAF && r->nodes <= q->shape.group_nodes;
    return job->spec.gpus > myr_placer_free_gpus(q->placer) ||
           (whole && r->nodes > myr_placer_free_nodes(q->placer)) ||
           (whole && leaf && !myr_place_fits_group(q->placer, job->spec.gpus)) ||
           (whole && r->kind_given && r->nodes > free_of_kind(q, r->kind));
}

bool queue_request_fits(struct myr_queue *q, uint32_t id)
{
    const struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->request < q->requests.count && job->state == MYR_JOB_WAITS);
    struct qrequest *r = &q->requests.items[job->request];
    /*
     * Members of an array ask the same: one search in vain does for all
     * until the placer changes.
     */
    if (job->blocked_pass == q->pass || r->failed == q->placer->version + 1 ||
        cannot_fit(q, job, r)) {
        return false;
    }
    bool fits = queue_request_most(q, id) >= r->nodes;
    r->failed = fits ? 0 : q->placer->version + 1;
    return fits;
}

bool queue_none_fits(const struct myr_queue *q, uint32_t gpus)
{
    if (q->cells) {
        return false; /* cells of their own are beside */
    }
    /* A request may take parts of nodes where a plain gang of its size needs whole ones. */
    return q->shaped ? gpus > myr_placer_free_gpus(q->placer) : !myr_place_fits(q->placer, gpus);
}

/* Nodes of the gang that stay, by unit: where a limit per unit is, and how far apart they may be.
 */
static bool may_stand(const struct myr_queue *q, const struct qrequest *r, uint32_t other,
                      uint32_t node)
{
    MYR_SLOW_ASSERT(other < q->shape.nodes && node < q->shape.nodes);
    const struct myr_placer *p = q->placer;
    /* Without a limit any two nodes may stand together. */
    enum myr_level within = r->limited ? (enum myr_level)r->within : MYR_LEVEL_CORE;
    return within == MYR_LEVEL_CORE ||
           (within == MYR_LEVEL_POD && p->pod_of[other] == p->pod_of[node]) ||
           (within == MYR_LEVEL_LEAF && p->group_of[other] == p->group_of[node]) ||
           (within == MYR_LEVEL_DOMAIN && p->domain_of[other] == p->domain_of[node]);
}

bool queue_may_stand_with(const struct myr_queue *q, const struct qjob *job, const uint32_t *nodes,
                          uint32_t count, uint32_t node)
{
    MYR_ASSERT(node < q->shape.nodes && count < q->shape.nodes);
    if (job->request == MYR_NONE) {
        return true;
    }
    const struct qrequest *r = &q->requests.items[job->request];
    const struct myr_placer *p = q->placer;
    uint32_t in_leaf = 0, in_zone[MYR_ZONE_COUNT] = {};
    if (!queue_suits(q, job, node)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!may_stand(q, r, nodes[i], node)) {
            return false;
        }
        in_leaf += p->group_of[nodes[i]] == p->group_of[node];
        for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
            in_zone[z] +=
                p->zones[z].units && p->zones[z].unit_of[nodes[i]] == p->zones[z].unit_of[node];
        }
    }
    /* A limit counts with the node itself, so a unit that is full already takes no more. */
    for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
        if (r->zone_max[z] && in_zone[z] >= r->zone_max[z]) {
            return false;
        }
    }
    return !r->leaf_max || in_leaf < r->leaf_max;
}

bool queue_may_join(const struct myr_queue *q, const struct qjob *job, const struct myr_gang *gang,
                    uint32_t node)
{
    if (job->request == MYR_NONE) {
        return true;
    }
    /* Bad nodes of the gang are about to be replaced: they limit nobody. */
    uint32_t *stay = myr_xcalloc(gang->count, sizeof(*stay)), count = 0;
    for (uint32_t i = 0; i < gang->count; i++) {
        if (!(q->closed[gang->shares[i].node] & CLOSED_BAD)) {
            stay[count++] = gang->shares[i].node;
        }
    }
    MYR_ASSERT(count <= gang->count);
    bool may = queue_may_stand_with(q, job, stay, count, node);
    free(stay);
    return may;
}

bool queue_may_resize(const struct myr_queue *q, uint32_t id, uint32_t gpus)
{
    const struct qjob *job = queue_job(q, id);
    if (job->request == MYR_NONE) {
        return true;
    }
    const struct qrequest *r = &q->requests.items[job->request];
    /* A layout is of one size, and shares of a gang are alike. */
    MYR_ASSERT(r->users > 0 && r->gpus_per_node > 0);
    return !r->traffic && gpus % r->gpus_per_node == 0 && gpus / r->gpus_per_node <= q->shape.nodes;
}

void queue_request_resized(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    if (job->request == MYR_NONE) {
        return;
    }
    struct myr_request request = queue_request_of(q, job);
    MYR_ASSERT(job->wish % request.gpus_per_node == 0);
    MYR_ASSERT(!request.traffic);
    request.nodes = job->wish / request.gpus_per_node;
    uint32_t own = queue_request_add(q, &request, 1); /* members of an array shared it */
    MYR_ASSERT(own != job->request);                  /* it still counts as a user of the old one */
    queue_request_leave(q, id);
    queue_job(q, id)->request = own;
    MYR_ASSERT(queue_nodes_of(q, job) == request.nodes);
}

/* New nodes are excluded by nobody: the words added are zero. */
void queue_requests_grow(struct myr_queue *q)
{
    for (size_t i = 0; i < q->requests.count; i++) {
        struct qrequest *r = &q->requests.items[i];
        MYR_ASSERT((r->exclude != NULL) == (r->exclude_words > 0));
        if (r->exclude && r->exclude_words < words_of(q)) {
            r->exclude = myr_xrealloc(r->exclude, words_of(q), sizeof(uint64_t));
            memset(r->exclude + r->exclude_words, 0,
                   (words_of(q) - r->exclude_words) * sizeof(uint64_t));
            r->exclude_words = words_of(q);
        }
    }
}
