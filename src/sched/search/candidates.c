#include "search/search.h"

/*
 * With d digits there are d! orders and up to 2^d block sizes: far more than a decision has time to
 * price. Each is judged first by how far its groups reach: nodes chosen freest leaves first come
 * in runs of known mean length, and a group that spans s positions is cut by the end of a run of
 * length r in about s / r of the cases. Blocks that fit whole are not cut at all.
 */

enum { ORDERS_MAX = 24 };

/* Parts and runs are in parts of 2^16, weights a little coarser than costs: no product overflows.
 */
#define ONE          (INT64_C(1) << 16)
#define WEIGHT_SHIFT 10

/* How the free nodes lie, freest first, as far as the gang reaches. */
struct room {
    int64_t leaf_run, pod_run; /* nodes in the leaf, the pod, of a node drawn at random */
    uint32_t most;             /* free nodes of the freest leaf */
    const uint32_t *leaves;    /* by free nodes: how many leaves have so many */
};

/* Weighted by itself: the sum over nodes is the mean run of a node drawn at random. */
static void add_run(int64_t run, int64_t *left, int64_t *sum)
{
    MYR_SLOW_ASSERT(run > 0);
    MYR_SLOW_ASSERT(*left > 0);
    int64_t used = run < *left ? run : *left;
    *sum += used * run;
    *left -= used;
}

/* From the free nodes by leaf and pod alone, before any is chosen. */
static struct room look_at_room(const struct search *q)
{
    struct search_scratch *s = q->s;
    struct room room = {.leaves = s->start};
    int64_t left = q->nodes, sum = 0;
    MYR_ASSERT(q->nodes > 0);
    for (uint32_t leaf = 0; leaf < q->p->groups; leaf++) {
        room.most = s->leaf_free[leaf] > room.most ? s->leaf_free[leaf] : room.most;
    }
    memset(s->start, 0, ((size_t)room.most + 1) * sizeof(uint32_t));
    for (uint32_t leaf = 0; leaf < q->p->groups; leaf++) {
        s->start[s->leaf_free[leaf]]++;
    }
    /* Freest first, as the choice of nodes goes, until the gang is placed. */
    for (uint32_t k = room.most; k > 0 && left > 0; k--) {
        for (uint32_t i = 0; i < s->start[k] && left > 0; i++) {
            add_run(k, &left, &sum);
        }
    }
    room.leaf_run = sum * ONE / q->nodes;
    left = q->nodes;
    sum = 0;
    /* The freest pods, without sorting them: the mean over all that are as free as the mean. */
    for (uint32_t pod = 0; pod < q->p->pods; pod++) {
        room.pod_run += (int64_t)s->pod_free[pod] * s->pod_free[pod];
        sum += s->pod_free[pod];
        left = s->pod_free[pod] >= q->nodes ? 0 : left;
    }
    MYR_ASSERT(sum >= q->nodes); /* else there is nothing to search */
    /* One pod holds it all: nothing need cross the core. */
    room.pod_run = left > 0 ? room.pod_run * ONE / sum : INT64_MAX;
    return room;
}

/* The part of the gang that whole blocks inside leaves can hold. */
static int64_t part_in_leaves(const struct search *q, const struct room *room, uint32_t block)
{
    uint64_t nodes = 0;
    MYR_ASSERT(block > 0);
    /* What is left of a leaf beside its whole blocks holds none. */
    for (uint32_t k = block; k <= room->most; k++) {
        nodes += (uint64_t)room->leaves[k] * (k / block * block);
    }
    return nodes < q->nodes ? (int64_t)nodes * ONE / q->nodes : ONE;
}

/* The same for whole blocks inside pods. */
static int64_t part_in_pods(const struct search *q, uint32_t block)
{
    uint64_t nodes = 0;
    for (uint32_t pod = 0; pod < q->p->pods; pod++) {
        nodes += q->s->pod_free[pod] / block * block;
    }
    return nodes < q->nodes ? (int64_t)nodes * ONE / q->nodes : ONE;
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

/* What is known of blocks of one set of digits. */
struct judged {
    uint32_t bits;             /* digits inside a block */
    int64_t leaf_cut, pod_cut; /* parts of the gang in blocks that do not fit whole */
};

/* The part of the groups of a span that the ends of runs cut through. */
static int64_t cut_part(int64_t span, int64_t run)
{
    MYR_ASSERT(run > 0); /* the gang lies somewhere */
    return span * ONE < run ? span * ONE * ONE / run : ONE;
}

/* What the groups are likely to cost with this order and these blocks; only to compare. */
static int64_t estimate(const struct search *q, const struct room *room, const uint32_t *stride,
                        const struct judged *block)
{
    const struct myr_job_traffic *t = q->traffic;
    int64_t sum = 0;
    for (uint32_t i = 0; i < t->family_count; i++) {
        const struct myr_traffic_family *f = &t->families[i];
        uint32_t span = span_of(f, stride, t);
        int64_t leaf = cut_part(span, room->leaf_run), pod = cut_part(span, room->pod_run);
        /* A group that lies inside a block is cut only where the block itself is. */
        if (f->digit_bits != 0 && (f->digit_bits & block->bits) == f->digit_bits) {
            leaf = leaf * block->leaf_cut / ONE;
            pod = pod * block->pod_cut / ONE;
        }
        /* Each level that a group is cut at costs its weight once more. */
        sum += (q->weight[i] * f->group_count >> WEIGHT_SHIFT) * (leaf + pod);
    }
    return sum;
}

/* Not too many with the same blocks: their estimates err together. */
static void add_candidate(struct search *q, const struct candidate *candidate, uint32_t most)
{
    struct candidate *candidates = q->s->candidates;
    uint32_t same = 0, last = 0;
    /* Tiny gangs price all of them, so none has to make room. */
    uint32_t same_max = q->nodes <= SEARCH_TINY_CELLS ? most : candidate->block == 1 ? 3 : 2;
    for (uint32_t i = 0; i < q->candidate_count; i++) {
        same += candidates[i].block == candidate->block;
        last = candidates[i].block == candidate->block ? i : last;
    }
    if (same >= same_max) {
        if (candidates[last].estimate <= candidate->estimate) {
            return;
        }
        memmove(&candidates[last], &candidates[last + 1],
                (q->candidate_count - last - 1) * sizeof(*candidates));
        q->candidate_count--;
    }
    uint32_t at = q->candidate_count;
    while (at > 0 && candidates[at - 1].estimate > candidate->estimate) {
        if (at < most) {
            candidates[at] = candidates[at - 1];
        }
        at--;
    }
    if (at < most) {
        candidates[at] = *candidate;
        q->candidate_count += q->candidate_count < most;
    }
    MYR_ASSERT(q->candidate_count > 0);
    MYR_ASSERT(q->candidate_count <= most);
}

/* Permutation number 'number' of the digits. */
static void make_order(uint32_t number, uint32_t count, struct digit_order *ret)
{
    uint8_t left[MYR_TRAFFIC_DIGITS_MAX];
    for (uint32_t k = 0; k < count; k++) {
        left[k] = (uint8_t)k;
    }
    for (uint32_t k = 0; k < count; k++) {
        /* The digits of the number in factorial base say which of those left comes next. */
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
    /* Blocks depend on which digits are in them, not on their order. */
    struct judged *it = &known[bits];
    if (it->bits != bits) {
        it->bits = bits;
        it->leaf_cut = ONE - part_in_leaves(q, room, block);
        it->pod_cut = ONE - part_in_pods(q, block);
    }
    return it;
}

void candidates_find(struct search *q)
{
    const struct myr_job_traffic *t = q->traffic;
    struct judged known[1U << MYR_TRAFFIC_DIGITS_MAX] = {};
    struct room room = look_at_room(q);
    uint32_t orders = 1, most = q->nodes <= SEARCH_TINY_CELLS    ? SEARCH_CANDIDATES_MAX
                                : q->nodes <= SEARCH_SMALL_CELLS ? SEARCH_CANDIDATES_SMALL
                                                                 : SEARCH_CANDIDATES_LARGE;
    /* One factor for each digit: all their orders. */
    for (uint32_t k = 2; k <= t->digit_count; k++) {
        orders *= k;
    }
    q->candidate_count = 0;
    for (uint32_t number = 0; number < orders && number < ORDERS_MAX; number++) {
        struct candidate candidate = {.block = 1};
        uint32_t stride[MYR_TRAFFIC_DIGITS_MAX] = {}, bits = 0, product = 1;
        make_order(number, t->digit_count, &candidate.order);
        /* A digit's stride is the product of those that run faster. */
        for (uint32_t k = 0; k < t->digit_count; k++) {
            stride[candidate.order.digits[k]] = product;
            product *= t->digits[candidate.order.digits[k]];
        }
        MYR_ASSERT(product == q->nodes); /* the digits count all cells */
        /* Depth 0 is one cell after the other; the whole gang is no block. */
        for (uint32_t depth = 0; depth < t->digit_count; depth++) {
            candidate.estimate =
                estimate(q, &room, stride, judge(q, &room, bits, candidate.block, known));
            add_candidate(q, &candidate, most);
            bits |= 1U << candidate.order.digits[depth];
            candidate.block *= t->digits[candidate.order.digits[depth]];
        }
    }
}
