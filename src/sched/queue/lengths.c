#include "queue/lengths.h"

#include "queue/state.h"

/*
 * What has ended says how long jobs of a size run. The queue knows no job's length, but most of a
 * size class may be over in minutes: those can use nodes that will be needed hours from now. Counts
 * in buckets, four to an octave, so that the same ends give the same answer everywhere.
 */
enum {
    ENOUGH = 24, /* ends of a class that say more about it than those of all classes */
    ONE_IN = 16, /* runs longer than the length that is told */
    AGAIN = 32,  /* it is found anew when a class has grown by one part in so many */
};

struct lengths *queue_lengths_create(void)
{
    return myr_xcalloc(1, sizeof(struct lengths));
}

static uint32_t class_of(uint32_t gpus)
{
    return 31 - (uint32_t)__builtin_clz(gpus);
}

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
    l->counts[class][bucket]++;
    l->totals[class]++;
    l->counts[LENGTH_CLASSES - 1][bucket]++;
    l->totals[LENGTH_CLASSES - 1]++;
}

int64_t queue_lengths_end_s(struct lengths *l, uint32_t gpus)
{
    uint32_t class = class_of(gpus);
    if (l->totals[class] < ENOUGH) {
        class = LENGTH_CLASSES - 1;
    }
    uint32_t total = l->totals[class];
    if (total < ENOUGH) {
        return INT64_MAX;
    }
    if (l->asked[class] == 0 || total - l->asked[class] > total / AGAIN) {
        uint64_t longer = 0;
        uint32_t bucket = LENGTH_BUCKETS;
        while (bucket > 0 && (longer + l->counts[class][bucket - 1]) * ONE_IN <= total) {
            longer += l->counts[class][--bucket];
        }
        l->end_s[class] = bucket ? bucket_end_s(bucket - 1) : 0;
        l->asked[class] = total;
    }
    return l->end_s[class];
}
