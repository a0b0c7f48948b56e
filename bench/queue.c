/*
 * bench_queue NODES TENANTS WAITING POLICY [shaped]: CPU time of one decision with so many waiting.
 *
 *     waiting     jobs that wait in the mean
 *     decisions   timed: a job ends, another comes, the queue decides
 *     p50_us, p99_us, max_us
 *
 * Nodes of 8 GPUs, 32 a leaf; tenants of weight 1 to 5; jobs of 1 to 1,024 GPUs. The queue is
 * filled until as many wait as were asked for; then a random running job ends and one comes, every
 * few seconds of its clock. Deterministic but for the times. 'shaped': every job of whole nodes
 * asks for more than a number: a layout, one leaf, a spread, nodes to leave out, in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "myriad/sched/queue.h"

enum { WARM_UP = 2000, ROUNDS = 20000, GAP_S = 7 };

struct bench {
    struct myr_queue *queue;
    struct myr_rng rng;
    MYR_VEC(uint32_t) running;
    uint32_t tenants, nodes;
    bool shaped;
    uint64_t *exclude; /* one node in sixteen */
    uint32_t *place;   /* by job: its place in 'running' */
    int64_t now_s;
};

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Tensor parallelism in the node, up to four stages, the rest data. */
static int layout_of(uint32_t nodes, struct myr_arena *arena, struct myr_job_traffic *ret)
{
    struct myr_layout layout = myr_layout_default();
    layout.tp = 8;
    layout.pp = nodes < 4 ? nodes : 4;
    layout.dp = nodes / layout.pp;
    return myr_job_traffic_of(&layout, NULL, 8, arena, ret, NULL);
}

/* What a job of so many nodes asks for beside them. */
static void shape_request(struct bench *b, struct myr_request *request, struct myr_arena *arena,
                          struct myr_job_traffic *traffic)
{
    enum { LAYOUT, LEAF, SPREAD, EXCLUDE, KINDS };
    uint32_t kind = myr_rng_below(&b->rng, KINDS);
    if (kind == LAYOUT) {
        int rc = layout_of(request->nodes, arena, traffic);
        MYR_ASSERT(rc == MYR_OK);
        request->traffic = traffic;
    }
    request->limited = kind == LEAF && request->nodes <= 32;
    request->within = MYR_LEVEL_LEAF;
    request->leaf_max = kind == SPREAD ? 4 : 0;
    request->exclude = kind == EXCLUDE ? b->exclude : NULL;
}

static void come(struct bench *b)
{
    static const uint32_t sizes[] = {1, 1, 1,  1,  2,  2,  4,   4,   8,
                                     8, 8, 16, 16, 32, 64, 128, 256, 1024};
    struct myr_queue_job job = {.tenant = myr_rng_below(&b->rng, b->tenants),
                                .gpus = sizes[myr_rng_below(&b->rng, MYR_ARRAY_COUNT(sizes))]};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_job_traffic traffic;
    struct myr_request request = {.nodes = job.gpus / 8};
    myr_arena_init(&arena);
    if (b->shaped && request.nodes > 0) {
        shape_request(b, &request, &arena, &traffic);
        job.request = &request;
    }
    uint32_t id;
    int rc = myr_queue_submit(b->queue, b->now_s, &job, &id, NULL);
    MYR_ASSERT(rc == MYR_OK);
}

static void leave(struct bench *b, uint32_t id)
{
    uint32_t last = b->running.items[--b->running.count];
    b->running.items[b->place[id]] = last;
    b->place[last] = b->place[id];
}

static void decide(struct bench *b)
{
    uint32_t count;
    const struct myr_decision *all = myr_queue_decide(b->queue, b->now_s, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].kind == MYR_DECIDE_START) {
            b->place[all[i].job] = (uint32_t)b->running.count;
            myr_vec_push(&b->running, all[i].job);
        } else if (all[i].kind == MYR_DECIDE_STOP) {
            leave(b, all[i].job);
        }
    }
}

/* One job ends and one comes; returns the time of the decision. */
static int64_t turn(struct bench *b)
{
    b->now_s += 1 + myr_rng_below(&b->rng, 2 * GAP_S);
    uint32_t id = b->running.items[myr_rng_below(&b->rng, (uint32_t)b->running.count)];
    int rc = myr_queue_finish(b->queue, b->now_s, id);
    MYR_ASSERT(rc == MYR_OK);
    leave(b, id);
    come(b);
    int64_t start_ns = cpu_ns();
    decide(b);
    return cpu_ns() - start_ns;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void measure(struct bench *b, uint32_t waiting)
{
    while (myr_queue_waiting(b->queue) < waiting) {
        come(b);
        if (b->now_s % 16 == 0) {
            decide(b);
        }
        b->now_s++;
    }
    for (uint32_t i = 0; i < WARM_UP; i++) {
        (void)turn(b);
    }
    int64_t *times = myr_xcalloc(ROUNDS, sizeof(*times));
    double waited = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        times[i] = turn(b);
        waited += (double)myr_queue_waiting(b->queue) / ROUNDS;
    }
    qsort(times, ROUNDS, sizeof(*times), by_value);
    printf("waiting %.0f decisions %d p50_us %.2f p99_us %.2f max_us %.2f\n", waited, ROUNDS,
           (double)times[ROUNDS / 2] / 1e3, (double)times[ROUNDS / 100 * 99] / 1e3,
           (double)times[ROUNDS - 1] / 1e3);
    free(times);
}

static void run(uint32_t nodes, uint32_t tenants, uint32_t waiting, bool preempt, bool shaped)
{
    struct myr_place_shape shape = {nodes, 8, 32, nodes};
    struct myr_queue_policy policy =
        myr_queue_policy_preset(preempt ? MYR_QUEUE_PREEMPT : MYR_QUEUE_FAIR);
    struct myr_tenant *all = myr_xcalloc(tenants, sizeof(*all));
    for (uint32_t t = 0; t < tenants; t++) {
        all[t] = (struct myr_tenant){.parent = MYR_NONE, .weight = 1 + t % 5};
    }
    struct bench b = {.tenants = tenants,
                      .nodes = nodes,
                      .shaped = shaped,
                      .exclude = myr_xcalloc(nodes / 64 + 1, sizeof(uint64_t)),
                      .place = myr_xcalloc(2 * (size_t)waiting + 8 * (size_t)nodes + 10 * ROUNDS,
                                           sizeof(uint32_t))};
    myr_rng_init(&b.rng, 1, 0);
    int rc = myr_queue_create(&shape, &policy, all, tenants, &b.queue, NULL);
    MYR_ASSERT(rc == MYR_OK);
    for (uint32_t n = 0; n < nodes; n += 16) {
        b.exclude[n / 64] |= UINT64_C(1) << n % 64;
    }
    measure(&b, waiting);
    free(b.exclude);
    myr_queue_free(b.queue);
    myr_vec_done(&b.running);
    free(b.place);
    free(all);
}

int main(int argc, char **argv)
{
    enum { MOST = 1000000 };
    uint64_t numbers[3] = {};
    bool shaped = argc == 6 && myr_str_eq(myr_str_from(argv[5]), MYR_STR("shaped"));
    bool good = argc == 5 || shaped;
    for (int i = 0; good && i < 3; i++) {
        good = myr_str_to_u64(myr_str_from(argv[i + 1]), &numbers[i]) && numbers[i] > 0 &&
               numbers[i] <= MOST;
    }
    if (!good || numbers[0] < 128) {
        fprintf(stderr, "usage: bench_queue NODES TENANTS WAITING fair|preempt [shaped]\n");
        return 2;
    }
    run((uint32_t)numbers[0], (uint32_t)numbers[1], (uint32_t)numbers[2],
        myr_str_eq(myr_str_from(argv[4]), MYR_STR("preempt")), shaped);
    return 0;
}
