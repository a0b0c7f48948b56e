/*
 * bench_why NODES WAITING POLICY: what answers cost of a controller with so many jobs waiting.
 *
 *     fork_ms            a copy of the whole state, median of 51
 *     lose_ms, add_ms,   a question to a copy without the reason, the worst of several: nodes lost,
 *     submit_ms          GPUs added, a job submitted that waits
 *     reason_ms          the last one with the reason, the worst of several
 *     why_p50_ms, why_p99_ms, why_max_ms
 *                        why a waiting job waits and what would start it, of jobs drawn from all
 *                        that wait; the copy is part of it
 *     starts_ms, starts_known
 *                        when each of them starts, worked out for all together; and of how many
 *                        it could be told with so much work
 *
 * Nodes of 8 GPUs, 32 a leaf; jobs of 1 to 1,024 GPUs of 20 tenants. The queue is filled until as
 * many wait as were asked for; then jobs end and come for a while, so that holds, shares and levels
 * are as they are in the middle of a day. Agents answer at once. Deterministic but for the times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "myriad/control.h"
#include "myriad/control/explain.h"
#include "myriad/control/whatif.h"

enum { TENANTS = 20, TURNS = 1500, GAP_MS = 7000, FORKS = 51, ASKED = 200, QUESTIONS = 24 };

struct bench {
    struct myr_control *control;
    struct myr_rng rng;
    int64_t now_ms;
    MYR_VEC(struct myr_effect) orders;
};

/* Of this process: others on the machine do not count. */
static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void tell(struct bench *b, struct myr_event event)
{
    uint32_t count;
    int rc = myr_control_step(b->control, b->now_ms, &event, NULL);
    MYR_ASSERT(rc == MYR_OK);
    const struct myr_effect *effects = myr_control_effects(b->control, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (effects[i].kind == MYR_EFFECT_START || effects[i].kind == MYR_EFFECT_STOP) {
            myr_vec_push(&b->orders, effects[i]);
        }
    }
}

/* Agents obey at once, until nobody is told anything more. */
static void obey(struct bench *b)
{
    for (size_t i = 0; i < b->orders.count; i++) {
        struct myr_effect order = b->orders.items[i];
        tell(b, (struct myr_event){.kind = order.kind == MYR_EFFECT_START ? MYR_EVENT_STARTED
                                                                          : MYR_EVENT_STOPPED,
                                   .node = order.node,
                                   .job = order.job,
                                   .epoch = order.epoch,
                                   .boot = order.boot});
    }
    b->orders.count = 0;
}

static void come(struct bench *b)
{
    static const uint32_t sizes[] = {1, 1, 1,  1,  2,  2,  4,   4,   8,
                                     8, 8, 16, 16, 32, 64, 128, 256, 1024};
    struct myr_job_spec spec = {.token = myr_control_jobs(b->control) + UINT64_C(1),
                                .tenant = myr_rng_below(&b->rng, TENANTS),
                                .gpus = sizes[myr_rng_below(&b->rng, MYR_ARRAY_COUNT(sizes))],
                                .priority = (int32_t)myr_rng_below(&b->rng, 3) - 1,
                                .retries = 10,
                                .lease_s = 600};
    tell(b, (struct myr_event){.kind = MYR_EVENT_SUBMIT, .spec = spec});
    obey(b);
}

/* A job drawn from those in this state, or MYR_NONE. */
static uint32_t draw(struct bench *b, enum myr_control_job_state state)
{
    uint32_t count = myr_control_jobs(b->control), start = myr_rng_below(&b->rng, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = (start + i) % count;
        if (myr_control_job(b->control, id).state == state) {
            return id;
        }
    }
    return MYR_NONE;
}

/* All its ranks end well. */
static void leave(struct bench *b)
{
    uint32_t id = draw(b, MYR_CONTROL_RUNNING);
    MYR_ASSERT(id != MYR_NONE);
    uint32_t nodes = myr_control_job(b->control, id).nodes;
    MYR_CLEANUP(myr_free_at) struct myr_control_rank *ranks = myr_xcalloc(nodes, sizeof(*ranks));
    (void)myr_control_job_ranks(b->control, id, ranks, nodes);
    for (uint32_t i = 0; i < nodes; i++) {
        tell(b, (struct myr_event){.kind = MYR_EVENT_EXIT,
                                   .node = ranks[i].node,
                                   .job = id,
                                   .epoch = ranks[i].epoch,
                                   .boot = 1});
    }
    obey(b);
}

static void fill(struct bench *b, uint32_t nodes, uint32_t waiting)
{
    for (uint32_t n = 0; n < nodes; n++) {
        tell(b, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = n, .boot = 1});
        tell(b, (struct myr_event){.kind = MYR_EVENT_TESTED, .node = n, .boot = 1, .epoch = 1});
    }
    while (myr_queue_waiting(myr_control_queue(b->control)) < waiting) {
        come(b);
        b->now_ms += 50;
    }
    for (uint32_t i = 0; i < TURNS; i++) {
        b->now_ms += 1 + myr_rng_below(&b->rng, 2 * GAP_MS);
        leave(b);
        come(b);
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

static void measure_fork(const struct bench *b)
{
    int64_t times_ns[FORKS];
    for (uint32_t i = 0; i < FORKS; i++) {
        int64_t start_ns = cpu_ns();
        struct myr_control *copy = myr_control_fork(b->control);
        times_ns[i] = cpu_ns() - start_ns;
        myr_control_free(copy);
    }
    qsort(times_ns, FORKS, sizeof(*times_ns), compare);
    printf("fork_ms %.3f\n", ms(times_ns[FORKS / 2]));
}

/* The worst of questions of one form, each the fastest of three. */
static double worst_ms(struct bench *b, struct myr_whatif_question question, bool lose)
{
    int64_t worst_ns = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        struct myr_whatif_answer answer;
        char nodes[64];
        uint32_t first = myr_rng_below(&b->rng, myr_control_nodes(b->control) - 64);
        snprintf(nodes, sizeof(nodes), "%u-%u,%u", first, first + myr_rng_below(&b->rng, 32),
                 first + 40);
        question.lose = lose ? nodes : NULL;
        question.lose_leaf = -1;
        question.clock_ns = cpu_ns;
        question.rounds = 3;
        int rc = myr_whatif(b->control, &question, &answer, NULL);
        MYR_ASSERT(rc == MYR_OK);
        worst_ns = answer.took_ns > worst_ns ? answer.took_ns : worst_ns;
    }
    return ms(worst_ns);
}

static void measure_whatif(struct bench *b)
{
    struct myr_whatif_question add = {.add_gpus = 512};
    struct myr_whatif_question submit = {.submit_gpus = 512, .priority = -1, .no_reason = true};
    printf("lose_ms %.3f\n", worst_ms(b, (struct myr_whatif_question){}, true));
    printf("add_ms %.3f\n", worst_ms(b, add, false));
    printf("submit_ms %.3f\n", worst_ms(b, submit, false));
    submit.no_reason = false;
    printf("reason_ms %.3f\n", worst_ms(b, submit, false));
}

static void measure_why(struct bench *b)
{
    int64_t times_ns[ASKED];
    uint32_t without = 0;
    static struct myr_explanation facts;
    struct myr_explain_asker asker = {.now_ms = b->now_ms, .submitted_ms = -1};
    for (uint32_t i = 0; i < ASKED; i++) {
        char name[32];
        snprintf(name, sizeof(name), "job/%u", draw(b, MYR_CONTROL_QUEUED));
        int64_t start_ns = cpu_ns();
        int rc = myr_control_explain(b->control, name, &asker, &facts, NULL);
        MYR_ASSERT(rc == MYR_OK);
        times_ns[i] = cpu_ns() - start_ns;
        for (uint32_t k = 0; k < facts.count; k++) {
            without += strcmp(facts.facts[k].is, "no single change that was tried") == 0;
        }
    }
    qsort(times_ns, ASKED, sizeof(*times_ns), compare);
    printf("why_p50_ms %.2f\nwhy_p99_ms %.2f\nwhy_max_ms %.2f\nwhy_untold %u\n",
           ms(times_ns[ASKED / 2]), ms(times_ns[ASKED * 99 / 100]), ms(times_ns[ASKED - 1]),
           without);
}

static void measure_starts(struct bench *b)
{
    enum { STEPS = MYR_STARTS_STEPS };
    uint32_t count = 0, known = 0, jobs = myr_control_jobs(b->control);
    uint32_t *ids = myr_xcalloc(jobs, sizeof(*ids));
    for (uint32_t id = 0; id < jobs; id++) {
        if (myr_control_job(b->control, id).state == MYR_CONTROL_QUEUED) {
            ids[count++] = id;
        }
    }
    struct myr_start_time *starts = myr_xcalloc(count + UINT64_C(1), sizeof(*starts));
    int64_t start_ns = cpu_ns();
    bool told = myr_control_starts(b->control, b->now_ms, ids, count, STEPS, starts);
    int64_t took_ns = cpu_ns() - start_ns;
    for (uint32_t i = 0; i < count && told; i++) {
        known += starts[i].high_s < INT64_MAX;
    }
    printf("starts_ms %.0f\nstarts_known %u\n", ms(took_ns), known);
    free(ids);
    free(starts);
}

int main(int argc, char **argv)
{
    uint64_t nodes, waiting;
    struct myr_control_policy policy = myr_control_policy_default();
    if (argc != 4 || !myr_str_to_u64(myr_str_from(argv[1]), &nodes) ||
        !myr_str_to_u64(myr_str_from(argv[2]), &waiting) || nodes < 128 || nodes > 1000000 ||
        waiting > 1000000) {
        fprintf(stderr, "usage: bench_why NODES WAITING fair|preempt\n");
        return 2;
    }
    bool preempt = myr_str_eq(myr_str_from(argv[3]), MYR_STR("preempt"));
    struct myr_place_shape shape = {(uint32_t)nodes, 8, 32, (uint32_t)nodes};
    struct bench b = {};
    policy.queue = myr_queue_policy_preset(preempt ? MYR_QUEUE_PREEMPT : MYR_QUEUE_FAIR);
    policy.hang_ms = policy.first_step_ms = INT64_C(30) * 86400 * 1000;
    int rc = myr_control_create(&shape, &policy, TENANTS, &b.control, NULL);
    MYR_ASSERT(rc == MYR_OK);
    myr_rng_init(&b.rng, 1, 0);
    fill(&b, (uint32_t)nodes, (uint32_t)waiting);
    printf("waiting %u\n", myr_queue_waiting(myr_control_queue(b.control)));
    measure_fork(&b);
    measure_whatif(&b);
    measure_why(&b);
    measure_starts(&b);
    myr_control_free(b.control);
    myr_vec_done(&b.orders);
    return 0;
}
