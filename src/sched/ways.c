#include "search.h"

/*
 * With d digits there are d! orders and up to 2^d block sizes: far more than a decision has time to
 * deal out. Each is judged first by how far its groups reach: nodes chosen freest leaves first come
 * in runs of known mean length, and a group that spans s positions is cut by the end of a run of
 * length r in about s / r of the cases. Blocks that fit whole are not cut at all.
 */

enum { ORDERS_MAX = 24 };

/* How the free nodes lie, freest first, as far as the gang reaches. */
struct room {
    double leaf_run, pod_run; /* nodes in the leaf, the pod, of a node drawn at random */
    uint32_t most;            /* free nodes of the freest leaf */
    const uint32_t *leaves;   /* by free nodes: how many leaves have so many */
};

static void add_run(double run, double *left, double *sum)
{
    double used = run < *left ? run : *left;
    *sum += used * run;
    *left -= used;
}

static struct room look_at_room(const struct search *q)
{
    struct search_scratch *s = q->s;
    struct room room = {.leaves = s->start};
    double left = q->nodes, sum = 0;
    for (uint32_t leaf = 0; leaf < q->p->groups; leaf++) {
        room.most = s->leaf_free[leaf] > room.most ? s->leaf_free[leaf] : room.most;
    }
    memset(s->start, 0, ((size_t)room.most + 1) * sizeof(uint32_t));
    for (uint32_t leaf = 0; leaf < q->p->groups; leaf++) {
        s->start[s->leaf_free[leaf]]++;
    }
    for (uint32_t k = room.most; k > 0 && left > 0; k--) {
        for (uint32_t i = 0; i < s->start[k] && left > 0; i++) {
            add_run(k, &left, &sum);
        }
    }
    room.leaf_run = sum / q->nodes;
    left = q->nodes;
    sum = 0;
    /* The freest pods, without sorting them: the mean over all that are as free as the mean. */
    for (uint32_t pod = 0; pod < q->p->pods; pod++) {
        room.pod_run += (double)s->pod_free[pod] * s->pod_free[pod];
        sum += s->pod_free[pod];
        left = s->pod_free[pod] >= q->nodes ? 0 : left;
    }
    /* One pod holds it all: nothing need cross the core. */
    room.pod_run = left > 0 ? room.pod_run / sum : 1e9;
    return room;
}

/* The part of the gang that whole blocks inside leaves can hold. */
static double part_in_leaves(const struct search *q, const struct room *room, uint32_t block)
{
    uint64_t nodes = 0;
    MYR_ASSERT(block > 0);
    for (uint32_t k = block; k <= room->most; k++) {
        nodes += (uint64_t)room->leaves[k] * (k / block * block);
    }
    return nodes < q->nodes ? (double)nodes / q->nodes : 1;
}

static double part_in_pods(const struct search *q, uint32_t block)
{
    uint64_t nodes = 0;
    for (uint32_t pod = 0; pod < q->p->pods; pod++) {
        nodes += q->s->pod_free[pod] / block * block;
    }
    return nodes < q->nodes ? (double)nodes / q->nodes : 1;
}

/* Positions between the first and the last member of a group. */
static uint32_t span_of(const struct myr_traffic_family *f, const uint32_t *stride,
                        const struct myr_job_traffic *t)
{
    uint32_t span = 0;
    for (uint32_t d = 0; d < t->digit_count; d++) {
        if (f->digit_bits >> d & 1) {
            span +=
                f->members == MYR_MEMBERS_NEIGHBOURS ? stride[d] : (t->digits[d] - 1) * stride[d];
        }
    }
    return span;
}

struct judged {
    uint32_t bits;            /* digits inside a block */
    double leaf_cut, pod_cut; /* parts of the gang in blocks that do not fit whole */
};

static double estimate(const struct search *q, const struct room *room, const uint32_t *stride,
                       const struct judged *block)
{
    const struct myr_job_traffic *t = q->traffic;
    double sum = 0;
    for (uint32_t i = 0; i < t->family_count; i++) {
        const struct myr_traffic_family *f = &t->families[i];
        double span = span_of(f, stride, t);
        double leaf = span < room->leaf_run ? span / room->leaf_run : 1;
        double pod = span < room->pod_run ? span / room->pod_run : 1;
        if (f->digit_bits != 0 && (f->digit_bits & block->bits) == f->digit_bits) {
            leaf *= block->leaf_cut;
            pod *= block->pod_cut;
        }
        sum += f->bytes * f->group_count * (leaf + pod);
    }
    return sum;
}

/* Not too many with the same blocks: their estimates err together. */
static void keep_way(struct search *q, const struct way *way, uint32_t most)
{
    struct way *ways = q->s->ways;
    uint32_t same = 0, last = 0;
    uint32_t same_max = q->nodes <= SEARCH_TINY_CELLS ? most : way->block == 1 ? 3 : 2;
    for (uint32_t i = 0; i < q->way_count; i++) {
        same += ways[i].block == way->block;
        last = ways[i].block == way->block ? i : last;
    }
    if (same >= same_max) {
        if (ways[last].estimate <= way->estimate) {
            return;
        }
        memmove(&ways[last], &ways[last + 1], (q->way_count - last - 1) * sizeof(*ways));
        q->way_count--;
    }
    uint32_t at = q->way_count;
    while (at > 0 && ways[at - 1].estimate > way->estimate) {
        if (at < most) {
            ways[at] = ways[at - 1];
        }
        at--;
    }
    if (at < most) {
        ways[at] = *way;
        q->way_count += q->way_count < most;
    }
}

/* Permutation number 'number' of the digits. */
static void make_order(uint32_t number, uint32_t count, struct digit_order *ret)
{
    uint8_t left[MYR_TRAFFIC_DIGITS_MAX];
    for (uint32_t k = 0; k < count; k++) {
        left[k] = (uint8_t)k;
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t pick = number % (count - k);
        number /= count - k;
        ret->digits[k] = left[pick];
        memmove(left + pick, left + pick + 1, count - k - pick - 1);
    }
}

/* What is known of the blocks made of some of the digits; each judged once. */
static const struct judged *judge(const struct search *q, const struct room *room, uint32_t bits,
                                  uint32_t block, struct judged *known)
{
    struct judged *it = &known[bits];
    if (it->bits != bits) {
        it->bits = bits;
        it->leaf_cut = 1 - part_in_leaves(q, room, block);
        it->pod_cut = 1 - part_in_pods(q, block);
    }
    return it;
}

void ways_find(struct search *q)
{
    const struct myr_job_traffic *t = q->traffic;
    struct judged known[1U << MYR_TRAFFIC_DIGITS_MAX] = {0};
    struct room room = look_at_room(q);
    uint32_t orders = 1, most = q->nodes <= SEARCH_TINY_CELLS    ? SEARCH_WAYS_MAX
                                : q->nodes <= SEARCH_SMALL_CELLS ? SEARCH_WAYS_SMALL
                                                                 : SEARCH_WAYS_LARGE;
    for (uint32_t k = 2; k <= t->digit_count; k++) {
        orders *= k;
    }
    q->way_count = 0;
    for (uint32_t number = 0; number < orders && number < ORDERS_MAX; number++) {
        struct way way = {.block = 1};
        uint32_t stride[MYR_TRAFFIC_DIGITS_MAX] = {0}, bits = 0, product = 1;
        make_order(number, t->digit_count, &way.order);
        for (uint32_t k = 0; k < t->digit_count; k++) {
            stride[way.order.digits[k]] = product;
            product *= t->digits[way.order.digits[k]];
        }
        /* Depth 0 is one cell after the other; the whole gang is no block. */
        for (uint32_t depth = 0; depth < t->digit_count; depth++) {
            way.estimate = estimate(q, &room, stride, judge(q, &room, bits, way.block, known));
            keep_way(q, &way, most);
            bits |= 1U << way.order.digits[depth];
            way.block *= t->digits[way.order.digits[depth]];
        }
    }
}
