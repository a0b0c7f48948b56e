#include "packet/internal.h"

/*
 * Events in buckets of time. A bucket is sorted when it is reached, and what is added to it then is
 * put in its place; what lies beyond the last bucket waits in a heap until the wheel comes near.
 */

/* Into the bucket at hand: from the end, because most belong there. */
void pk_post_due(struct pk *k, uint64_t key)
{
    struct pk_head *head = k->head;
    uint32_t place = head->due_count++;
    MYR_ASSERT(place < head->capacity[PK_DUE]);
    while (place > head->due_next && k->due[place - 1] > key) {
        k->due[place] = k->due[place - 1];
        place--;
    }
    k->due[place] = key;
}

/* By time, then by port: equal times have one order however they came here. */
static bool sooner(const struct pk_far *a, const struct pk_far *b)
{
    return a->at < b->at || (a->at == b->at && a->port < b->port);
}

void pk_post_far(struct pk *k, myr_ps at, uint32_t port)
{
    struct pk_far far = {at, port};
    uint32_t place = k->head->far_count++;
    MYR_ASSERT(place < k->head->capacity[PK_FARS]);
    while (place && sooner(&far, &k->fars[(place - 1) / 2])) {
        k->fars[place] = k->fars[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    k->fars[place] = far;
}

static struct pk_far pop_far(struct pk *k)
{
    struct pk_far top = k->fars[0], last = k->fars[--k->head->far_count];
    uint32_t place = 0, count = k->head->far_count;
    for (uint32_t child; (child = place * 2 + 1) < count; place = child) {
        child += child + 1 < count && sooner(&k->fars[child + 1], &k->fars[child]);
        if (!sooner(&k->fars[child], &last)) {
            break;
        }
        k->fars[place] = k->fars[child];
    }
    k->fars[place] = last;
    return top;
}

/* Runs of sixteen by insertion, then runs twice as long out of two. */
static void sort_due(struct pk *k)
{
    enum { RUN = 16 };
    uint64_t *from = k->due, *to = k->sorted;
    uint32_t count = k->head->due_count;
    for (uint32_t start = 0; start < count; start += RUN) {
        uint32_t end = start + RUN < count ? start + RUN : count;
        for (uint32_t i = start + 1; i < end; i++) {
            uint64_t key = from[i];
            uint32_t j = i;
            for (; j > start && from[j - 1] > key; j--) {
                from[j] = from[j - 1];
            }
            from[j] = key;
        }
    }
    for (uint32_t run = RUN; run < count; run *= 2) {
        for (uint32_t start = 0; start < count; start += run * 2) {
            uint32_t middle = start + run < count ? start + run : count;
            uint32_t end = middle + run < count ? middle + run : count;
            uint32_t left = start, right = middle;
            for (uint32_t i = start; i < end; i++) {
                bool take = right >= end || (left < middle && from[left] <= from[right]);
                to[i] = take ? from[left++] : from[right++];
            }
        }
        uint64_t *other = from;
        from = to;
        to = other;
    }
    if (from != k->due) {
        memcpy(k->due, from, count * sizeof(*from));
    }
}

/* How many buckets behind the one at hand the next lies that has anything; 0: none has. */
static uint32_t distance(const struct pk *k)
{
    const struct pk_head *head = k->head;
    uint32_t words = head->bucket_count / 64, mask = head->bucket_count - 1;
    uint32_t at = (uint32_t)((uint64_t)head->base >> head->width_bits) & mask;
    uint32_t start = (at + 1) & mask;
    uint64_t word = k->bits[start / 64] >> start % 64 << start % 64;
    for (uint32_t i = 0; i <= words; i++) {
        uint32_t place = (start / 64 + i) % words;
        word = i ? k->bits[place] : word;
        if (word) {
            uint32_t bucket = place * 64 + (uint32_t)__builtin_ctzll(word);
            return ((bucket - at - 1) & mask) + 1;
        }
    }
    return 0;
}

/* All of it becomes due; its blocks are free again. */
static void open_bucket(struct pk *k)
{
    struct pk_head *head = k->head;
    uint32_t bucket =
        (uint32_t)((uint64_t)head->base >> head->width_bits) & (head->bucket_count - 1);
    head->due_next = head->due_count = 0;
    for (uint32_t block = k->buckets[bucket]; block;) {
        struct pk_block *own = &k->blocks[block];
        uint32_t next = own->next;
        uint32_t end = head->due_count + own->count + head->burst;
        if (end > head->capacity[PK_DUE]) {
            pk_make_room(k);
            own = &k->blocks[block];
            head = k->head;
        }
        memcpy(&k->due[head->due_count], own->keys, own->count * sizeof(own->keys[0]));
        head->due_count += own->count;
        own->next = head->free_block;
        head->free_block = block;
        head->free_blocks++;
        block = next;
    }
    k->buckets[bucket] = 0;
    k->bits[bucket / 64] &= ~(UINT64_C(1) << bucket % 64);
    sort_due(k);
}

/*
 * The bucket at hand never begins after 'limit': what somebody adds at that moment must still have
 * a place.
 */
bool pk_next_bucket(struct pk *k, myr_ps limit)
{
    struct pk_head *head = k->head;
    MYR_ASSERT(head->due_next == head->due_count);
    uint32_t ahead = distance(k);
    myr_ps base = head->base + ((myr_ps)ahead << head->width_bits);
    if (ahead == 0) {
        if (head->far_count == 0) {
            return false;
        }
        base = k->fars[0].at >> head->width_bits << head->width_bits;
    }
    if (base > limit) {
        return false;
    }
    head->due_next = head->due_count = 0;
    head->base = base;
    myr_ps end = base + ((myr_ps)head->bucket_count << head->width_bits);
    open_bucket(k);
    while (k->head->far_count && k->fars[0].at < end) {
        struct pk_far far = pop_far(k);
        pk_reserve(k);
        pk_post(k, far.at, (uint32_t)far.port);
    }
    return true;
}

/* When the next event is, were it in reach; INT64_MAX: there is none. */
myr_ps pk_next_at(const struct pk *k)
{
    const struct pk_head *head = k->head;
    if (head->due_next < head->due_count) {
        return head->base + (myr_ps)(k->due[head->due_next] >> 32);
    }
    uint32_t ahead = distance(k);
    if (ahead) {
        return head->base + ((myr_ps)ahead << head->width_bits);
    }
    return head->far_count ? k->fars[0].at : INT64_MAX;
}
