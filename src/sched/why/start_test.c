/*
 * Ranges of starts, held against what happened: small clusters under every policy, with jobs that
 * come and end by lengths that the queue is not told, and moments at which all that wait are
 * asked about.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/snapshot.h"
#include "myriad/sched/start.h"

enum { JOBS_MAX = 6000, WARM_JOBS = 400, ASK_EVERY = 24, TENANTS = 4 };

/* A world whose jobs' lengths are known here alone. */
struct world {
    struct myr_rng rng;
    struct myr_queue *queue;
    struct myr_heap ends; /* value: run << 32 | job */
    int64_t now_s, next_s, gap_s;
    int64_t left_s[JOBS_MAX], begun_s[JOBS_MAX], started_s[JOBS_MAX];
    uint32_t run[JOBS_MAX], jobs;
    struct myr_start_time told[JOBS_MAX]; /* high 0: nothing was told */
    int64_t told_s[JOBS_MAX];
    uint32_t big; /* GPUs of the largest */
    bool limits;
};

static uint32_t below(struct world *w, uint32_t bound)
{
    return myr_rng_below(&w->rng, bound);
}

/* Heavy tails: octaves from a minute to two days, the middle ones most often. */
static int64_t draw_length(struct world *w)
{
    uint32_t octave = below(w, 5) + below(w, 5) + below(w, 4);
    return (60LL << octave) + below(w, 60U << octave);
}

static void come(struct world *w)
{
    static const uint32_t sizes[] = {1, 1, 1, 2, 2, 4, 8, 8, 16, 32};
    uint32_t gpus = below(w, 40) ? sizes[below(w, MYR_ARRAY_COUNT(sizes))] : w->big, id;
    int64_t length_s = draw_length(w);
    struct myr_queue_job job = {.tenant = below(w, TENANTS), .gpus = gpus};
    if (w->limits && below(w, 2)) {
        job.limit_s = length_s + below(w, (uint32_t)length_s);
    }
    assert_int_equal(myr_queue_submit(w->queue, w->now_s, &job, &id, NULL), MYR_OK);
    assert_int_equal(id, w->jobs);
    w->left_s[w->jobs++] = length_s;
    w->next_s = w->now_s + below(w, (uint32_t)(2 * w->gap_s) + 1);
}

static void decide(struct world *w)
{
    uint32_t count;
    const struct myr_decision *d = myr_queue_decide(w->queue, w->now_s, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = d[i].job;
        if (d[i].kind == MYR_DECIDE_START) {
            w->run[id]++;
            w->begun_s[id] = w->now_s;
            w->started_s[id] = w->started_s[id] ? w->started_s[id] : w->now_s;
            myr_heap_push(&w->ends, w->now_s + w->left_s[id], (uint64_t)w->run[id] << 32 | id);
        } else if (d[i].kind == MYR_DECIDE_STOP) {
            /* What a checkpoint holds is done. */
            int64_t saved_s = (w->now_s - w->begun_s[id]) / 1800 * 1800;
            w->left_s[id] -= saved_s < w->left_s[id] ? saved_s : w->left_s[id] - 1;
            w->run[id]++;
        }
    }
}

static void step(struct world *w)
{
    struct myr_heap_item item;
    int64_t at_s = w->jobs < JOBS_MAX ? w->next_s : INT64_MAX, wake_s = myr_queue_wake_s(w->queue);
    at_s = w->ends.count && w->ends.items[0].key < at_s ? w->ends.items[0].key : at_s;
    at_s = wake_s < at_s ? wake_s : at_s;
    w->now_s = at_s;
    while (w->ends.count && w->ends.items[0].key <= w->now_s && myr_heap_pop(&w->ends, &item)) {
        uint32_t id = (uint32_t)item.value;
        if (w->run[id] == item.value >> 32) {
            assert_int_equal(myr_queue_finish(w->queue, w->now_s, id), MYR_OK);
        }
    }
    if (w->jobs < JOBS_MAX && w->next_s <= w->now_s) {
        come(w);
    }
    decide(w);
}

/* All that wait and were not asked about before. */
static void ask(struct world *w)
{
    uint32_t ids[64], count = 0;
    struct myr_start_time starts[64];
    for (uint32_t id = 0; id < w->jobs && count < 64; id++) {
        if (myr_queue_state(w->queue, id) == MYR_JOB_WAITS && w->run[id] == 0 &&
            w->told[id].high_s == 0 && below(w, 2)) {
            ids[count++] = id;
        }
    }
    uint64_t hash = myr_queue_hash(w->queue);
    if (count > 0 && myr_queue_starts(w->queue, w->now_s, ids, count, MYR_STARTS_STEPS, starts)) {
        for (uint32_t i = 0; i < count; i++) {
            w->told[ids[i]] = starts[i];
            w->told_s[ids[i]] = w->now_s;
            assert_true(starts[i].low_s >= w->now_s);
            assert_true(starts[i].low_s <= starts[i].likely_s);
            assert_true(starts[i].likely_s <= starts[i].high_s);
        }
    }
    assert_true(myr_queue_hash(w->queue) == hash);
}

struct score {
    uint32_t asked, within, early, late;
};

static void live(uint64_t seed, enum myr_queue_preset preset, uint32_t moments, struct score *ret)
{
    static const struct myr_tenant plain = {.parent = MYR_NONE};
    static struct world w;
    struct myr_tenant tenants[TENANTS] = {plain, plain, plain, plain};
    w = (struct world){};
    myr_rng_init(&w.rng, seed, 31);
    struct myr_place_shape shape = {8 + 8 * below(&w, 4), 8, 8, 64};
    struct myr_queue_policy policy = myr_queue_policy_preset(preset);
    w.big = shape.nodes * 4;
    w.limits = below(&w, 2);
    /* About as much comes as there is room for: queues grow and shrink. */
    w.gap_s = 14600 * 100 / (shape.nodes * (85 + below(&w, 20)));
    assert_int_equal(myr_queue_create(&shape, &policy, tenants, TENANTS, &w.queue, NULL), MYR_OK);
    uint32_t asked = 0, next = WARM_JOBS;
    while (w.jobs < JOBS_MAX) {
        step(&w);
        if (w.jobs >= next && asked < moments) {
            ask(&w);
            asked++;
            next += ASK_EVERY + below(&w, ASK_EVERY);
        }
        if (asked == moments && w.jobs >= next + 1500) {
            break;
        }
    }
    for (uint32_t id = 0; id < w.jobs; id++) {
        const struct myr_start_time *s = &w.told[id];
        if (s->high_s == 0) {
            continue;
        }
        int64_t was_s = w.started_s[id] ? w.started_s[id] : INT64_MAX;
        ret->asked++;
        ret->early += was_s < s->low_s;
        ret->late += was_s > s->high_s;
        ret->within += was_s >= s->low_s && was_s <= s->high_s;
    }
    myr_queue_free(w.queue);
    myr_heap_done(&w.ends);
}

static void ranges_hold_nine_starts_in_ten(void **state)
{
    (void)state;
    static const char *const names[] = {"fifo", "first-fit", "fair", "preempt"};
    const char *more = getenv("MYRIAD_STARTS");
    uint64_t seeds = 4;
    (void)(more && myr_str_to_u64(myr_str_from(more), &seeds));
    struct score all = {};
    for (uint32_t p = 0; p < 4; p++) {
        struct score s = {};
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            live(seed, (enum myr_queue_preset)p, 16, &s);
        }
        print_message("%s: %u of %u within, %u before, %u after\n", names[p], s.within, s.asked,
                      s.early, s.late);
        assert_in_range(s.within * 100 / s.asked, 82, 97);
        all.asked += s.asked;
        all.within += s.within;
    }
    print_message("all: %u of %u\n", all.within, all.asked);
    assert_true(all.asked >= 100);
    assert_in_range(all.within * 100 / all.asked, 85, 95);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_hold_nine_starts_in_ten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
