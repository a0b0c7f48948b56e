#include "queue/lengths.h"

#include <assert.h>

#include "queue/state.h"

/*
 * What has ended says how long jobs of a size run: the queue knows no job's length, and who is to
 * be stopped for whom depends on what is likely left of both. Counts in buckets, four to an octave,
 * so that the same ends give the same answer everywhere.
 */
enum {
    ENOUGH = 24, /* ends of a class that say more about it than those of all classes */
    FEW = 8,     /* ends say nothing about how long those run that outlive them */
    ONE_IN = 16, /* runs longer than the length that is told */
    AGAIN = 32,  /* it is found anew when a class has grown by one part in so many */
};

struct lengths *queue_lengths_create(void)
{
    return myr_xcalloc(1, sizeof(struct lengths));
}

/* An octave of sizes; at least one GPU. */
static uint32_t class_of(uint32_t gpus)
{
    MYR_SLOW_ASSERT(gpus > 0);
    return 31 - (uint32_t)__builtin_clz(gpus);
}

/* 4 is added so that the first buckets hold one second each and nothing is a special case. */
static uint32_t bucket_of(int64_t seconds)
{
    const int64_t most = INT64_C(1) << 58; /* so that the end of every bucket is a number */
    uint64_t x = (uint64_t)(seconds < 0 ? 0 : seconds < most ? seconds : most) + 4;
    uint32_t log = 63 - (uint32_t)__builtin_clzll(x);
    return (log - 2) * 4 + (uint32_t)(x >> (log - 2) & 3);
}

/* The upper end of a bucket. */
static int64_t bucket_end_s(uint32_t bucket)
{
    MYR_ASSERT(bucket / 4 < 60);
    return ((int64_t)(bucket % 4 + 5) << (bucket / 4)) - 4;
}

void queue_lengths_add(struct lengths *l, uint32_t gpus, int64_t seconds)
{
    uint32_t bucket = bucket_of(seconds), class = class_of(gpus);
    bucket = bucket < LENGTH_BUCKETS ? bucket : LENGTH_BUCKETS - 1;
    MYR_ASSERT(class < LENGTH_CLASSES - 1); /* the last one is of all */
    l->counts[class][bucket]++;
    l->totals[class]++;
    /* The last class counts the jobs of all sizes. */
    MYR_ASSERT(l->counts[class][bucket] <= l->totals[class]);
    l->counts[LENGTH_CLASSES - 1][bucket]++;
    l->totals[LENGTH_CLASSES - 1]++;
}

/* The class that tells most about jobs of a size, or LENGTH_CLASSES. */
static uint32_t telling_class(const struct lengths *l, uint32_t gpus)
{
    uint32_t class = class_of(gpus);
    class = l->totals[class] < ENOUGH ? LENGTH_CLASSES - 1 : class;
    return l->totals[class] < ENOUGH ? LENGTH_CLASSES : class;
}

/* Whether a class has grown by so much that what was found of it is out of date. */
static bool has_grown(uint32_t total, uint32_t found)
{
    MYR_ASSERT(found <= total); /* what has ended is never taken back */
    return found == 0 || total - found > total / AGAIN;
}

int64_t queue_lengths_end_s(const struct lengths *l, uint32_t gpus)
{
    uint32_t class = telling_class(l, gpus), bucket = LENGTH_BUCKETS;
    if (class == LENGTH_CLASSES) {
        return INT64_MAX;
    }
    uint64_t longer = 0, total = l->totals[class];
    while (bucket > 0 && (longer + l->counts[class][bucket - 1]) * ONE_IN <= total) {
        longer += l->counts[class][--bucket];
    }
    MYR_ASSERT(longer * ONE_IN <= total);
    return bucket ? bucket_end_s(bucket - 1) : 0;
}

static_assert(LENGTH_BUCKETS < UINT8_MAX, "a bucket in a byte");

/*
 * What one end costs from each age on: of those that ran so long, let all go on for some time more,
 * and divide what they run by how many end; the time that makes it least. This is the inverse of
 * Gittins' index: to run first who has the least of it ends the most jobs an hour. Where most jobs
 * are short and few very long it grows with age; where all are alike it falls.
 */
static void find_costs(struct lengths *l, uint32_t class)
{
    MYR_ASSERT(class < LENGTH_CLASSES);
    const int64_t most_s = INT64_C(1) << 30; /* so that no sum overflows */
    int64_t alive = 0;
    for (uint32_t b = LENGTH_BUCKETS; b-- > 0;) {
        int64_t age_s = b ? bucket_end_s(b - 1) : 0, ended = 0, spent_s = 0, best_s = INT64_MAX;
        /* From the longest down: those that ran for at least as long as this bucket begins. */
        alive += l->counts[class][b];
        for (uint32_t e = b; alive >= FEW && e < LENGTH_BUCKETS && ended < alive; e++) {
            int64_t here = l->counts[class][e], end_s = bucket_end_s(e);
            int64_t ran_s = end_s < most_s ? end_s - age_s : most_s;
            ended += here;
            spent_s += here * ran_s;
            /* Only an end can make the mean less: between ends it grows. */
            if (here > 0) {
                int64_t each_s = (spent_s + (alive - ended) * ran_s) / ended;
                best_s = each_s < best_s ? each_s : best_s;
            }
        }
        /* A bucket in a byte, one more: 0 stays for ages that too few have reached. */
        MYR_ASSERT(best_s >= 0 && ended <= alive);
        l->cost[class][b] = (uint8_t)(best_s < INT64_MAX ? bucket_of(best_s) + 1 : 0);
    }
    MYR_ASSERT((uint64_t)alive == l->totals[class]);
    l->told[class] = l->totals[class];
}

int64_t queue_lengths_cost_s(struct lengths *l, uint32_t gpus, int64_t age_s)
{
    uint32_t class = telling_class(l, gpus), cost = 0;
    if (class != LENGTH_CLASSES) {
        if (has_grown(l->totals[class], l->told[class])) {
            find_costs(l, class);
        }
        uint32_t bucket = bucket_of(age_s);
        cost = l->cost[class][bucket < LENGTH_BUCKETS ? bucket : LENGTH_BUCKETS - 1];
    }
    MYR_ASSERT(cost <= LENGTH_BUCKETS);
    return cost ? bucket_end_s(cost - 1) : age_s;
}

/*
 * A length drawn from those of this size that ran for longer than 'age_s'; 'chance' says which. Of
 * what has outlived nearly all, half will run for as long again, as lengths have heavy tails. -1:
 * too few have ended to tell.
 */
int64_t queue_lengths_draw(const struct lengths *l, uint32_t gpus, int64_t age_s, uint64_t chance)
{
    const int64_t most_s = INT64_C(1) << 32;
    uint32_t class = telling_class(l, gpus), bucket = bucket_of(age_s), alive = 0;
    if (class == LENGTH_CLASSES) {
        return -1;
    }
    for (uint32_t b = bucket; b < LENGTH_BUCKETS; b++) {
        alive += l->counts[class][b];
    }
    uint32_t part = (uint32_t)(chance >> 32), rest = (uint32_t)chance;
    if (alive < FEW) {
        int64_t length_s = (age_s < most_s ? age_s + 60 : most_s) * 1024 / ((part >> 22) + 1);
        return length_s < most_s ? length_s : most_s;
    }
    uint64_t left = (uint64_t)part * alive >> 32;
    while (left >= l->counts[class][bucket]) {
        left -= l->counts[class][bucket++];
        MYR_ASSERT(bucket < LENGTH_BUCKETS);
    }
    int64_t low_s = bucket ? bucket_end_s(bucket - 1) : 0, high_s = bucket_end_s(bucket);
    low_s = low_s > age_s ? low_s : age_s;
    return high_s <= low_s ? low_s + 1
                           : low_s + 1 + (int64_t)((__int128)(high_s - low_s) * rest >> 32);
}

uint32_t queue_lengths_class(const struct lengths *l, uint64_t chance)
{
    uint64_t left = (uint64_t)(uint32_t)chance * l->totals[LENGTH_CLASSES - 1] >> 32;
    for (uint32_t class = 0; class < LENGTH_CLASSES - 1; class ++) {
        if (left < l->totals[class]) {
            return class;
        }
        left -= l->totals[class];
    }
    return MYR_NONE;
}

/*
 * Job lengths have heavy tails: what has run for long will run for about as long again, so the
 * oldest job on the node decides.
 */
int64_t queue_ready_s(const struct myr_queue *q, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    MYR_SLOW_ASSERT(q->node_job_count[node] == 0 || q->node_oldest_s[node] <= q->now_s);
    return q->node_job_count[node] ? q->now_s - q->node_oldest_s[node] + 60 : 0;
}

/*
 * How long so many nodes take to be free, if nothing new starts on them. Nobody knows how long jobs
 * run; but a schedule that is played backwards looks like one: what is over on a node for so long
 * and what is still to come there are drawn alike. So the time since its oldest job began is as
 * good a guess as any of the time until its last one ends, whatever the lengths are drawn from.
 */
void queue_count_ages(const struct myr_queue *q, struct node_ages *ret)
{
    *ret = (struct node_ages){};
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        if (!(q->closed[node] & CLOSED_BAD)) {
            uint32_t bucket = bucket_of(queue_ready_s(q, node));
            ret->upto[bucket < LENGTH_BUCKETS ? bucket : LENGTH_BUCKETS - 1]++;
        }
    }
    for (uint32_t b = 1; b < LENGTH_BUCKETS; b++) {
        ret->upto[b] += ret->upto[b - 1];
    }
    MYR_ASSERT(ret->upto[LENGTH_BUCKETS - 1] <= q->shape.nodes);
}

int64_t queue_drain_s(const struct node_ages *ages, uint32_t nodes)
{
    uint32_t b = 0;
    MYR_ASSERT(nodes > 0);
    while (b < LENGTH_BUCKETS && ages->upto[b] < nodes) {
        b++;
    }
    return b == LENGTH_BUCKETS ? INT64_MAX : b > 0 ? bucket_end_s(b - 1) : 0;
}
