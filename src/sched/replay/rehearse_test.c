/* A rehearsal tells of each policy what a replay of it alone does, whatever the trace. */
#include "myriad/sched/rehearse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char trace_path[] = "/tmp/myr-rehearse-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(trace_path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(trace_path);
}

/* Jobs of 1 to 64 GPUs, some larger than the cluster, of three tenants. */
static void write_trace(uint64_t seed)
{
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 0);
    FILE *file = fopen(trace_path, "w");
    assert_non_null(file);
    fprintf(file, "submit_s,duration_s,num_gpus,vc\n");
    uint32_t jobs = 1 + myr_rng_below(&rng, 80), at_s = 0;
    for (uint32_t i = 0; i < jobs; i++) {
        uint32_t gpus = i == 0 ? 1 : 1U << myr_rng_below(&rng, 7);
        at_s += myr_rng_below(&rng, 1800);
        fprintf(file, "%u,%u,%u,t%u\n", at_s, 1 + myr_rng_below(&rng, 20000), gpus,
                myr_rng_below(&rng, 3));
    }
    fclose(file);
}

static struct myr_replay_question question(void)
{
    return (struct myr_replay_question){
        .trace = trace_path,
        .cluster = {.nodes = 6, .gpus_per_node = 8, .leaf_nodes = 2},
        .seed = 1,
    };
}

/* Everything that is told, by a replay of the one policy. */
static void assert_same(const struct myr_rehearsal *r, const struct myr_rehearsal_run *run)
{
    struct myr_arena arena;
    struct myr_err err = {};
    struct myr_replay_answer a;
    struct myr_replay_question asked = question();
    asked.policy = run->policy;
    myr_arena_init(&arena);
    assert_int_equal(myr_replay_ask(&asked, &arena, &a, &err), MYR_OK);
    assert_true(run->result.hash == a.result.hash);
    assert_true(run->result.jobs == a.result.jobs);
    assert_true(run->result.wait_mean_h == a.result.wait_mean_h);
    assert_true(run->result.gpu_utilisation == a.result.gpu_utilisation);
    assert_true(run->result.preemptions == a.result.preemptions);
    assert_int_equal(run->longest.line, a.longest[0].line);
    assert_true(run->longest.wait_h == run->result.wait_max_h);
    assert_int_equal(r->size_count, a.size_count);
    double longest_h = 0;
    uint64_t jobs = 0;
    for (uint32_t i = 0; i < r->size_count; i++) {
        const struct myr_rehearsal_size *size = &run->sizes[i];
        assert_int_equal(r->sizes[i], a.sizes[i].gpus);
        assert_true(size->jobs == a.sizes[i].jobs && size->mean_h == a.sizes[i].wait_mean_h);
        assert_true(size->mean_h <= size->max_h && size->p99_h <= size->max_h);
        longest_h = size->max_h > longest_h ? size->max_h : longest_h;
        jobs += size->jobs;
    }
    assert_true(longest_h == run->result.wait_max_h && jobs == run->result.jobs);
    myr_replay_answer_done(&a);
    myr_arena_done(&arena);
}

static void each_policy_fares_as_in_a_replay_of_it_alone(void **state)
{
    (void)state;
    uint32_t differ = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct myr_arena arena;
        struct myr_err err = {};
        struct myr_rehearsal r;
        struct myr_rehearsal_question asked = {.replay = question()};
        write_trace(seed);
        myr_arena_init(&arena);
        assert_int_equal(myr_rehearse(&asked, &arena, &r, &err), MYR_OK);
        assert_int_equal(r.run_count, MYR_REPLAY_POLICIES);
        for (uint32_t i = 0; i < r.run_count; i++) {
            assert_int_equal(r.runs[i].policy, i);
            assert_same(&r, &r.runs[i]);
        }
        differ += r.runs[0].result.hash != r.runs[2].result.hash;
        myr_rehearsal_done(&r);
        myr_arena_done(&arena);
    }
    assert_true(differ > 20); /* else nothing was compared */
}

static void policies_stand_in_the_order_that_was_asked(void **state)
{
    (void)state;
    static const char *const two[] = {"preempt", "first-fit"};
    struct myr_arena arena;
    struct myr_err err = {};
    struct myr_rehearsal r;
    struct myr_rehearsal_question asked = {
        .replay = question(), .policies = two, .count = MYR_ARRAY_COUNT(two)};
    write_trace(7);
    myr_arena_init(&arena);
    assert_int_equal(myr_rehearse(&asked, &arena, &r, &err), MYR_OK);
    assert_int_equal(r.run_count, 2);
    assert_int_equal(r.runs[0].policy, MYR_REPLAY_PREEMPT);
    assert_int_equal(r.runs[1].policy, MYR_REPLAY_FIRST_FIT);
    myr_rehearsal_done(&r);
    myr_arena_done(&arena);
}

static void wrong_policies_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *const words[3];
        uint32_t count;
        const char *says;
    } rows[] = {{{"fair"}, 1, "second one"},
                {{"fair", "fare"}, 2, "'fare'"},
                {{"fair", "fifo", "fair"}, 3, "'fair' is given twice"},
                {{"", "fifo"}, 2, "''"}};
    write_trace(1);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_arena arena;
        struct myr_err err = {};
        struct myr_rehearsal r;
        struct myr_rehearsal_question asked = {
            .replay = question(), .policies = rows[i].words, .count = rows[i].count};
        myr_arena_init(&arena);
        assert_int_equal(myr_rehearse(&asked, &arena, &r, &err), MYR_EINVAL);
        assert_non_null(strstr(err.message, rows[i].says));
        myr_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_policy_fares_as_in_a_replay_of_it_alone),
        cmocka_unit_test(policies_stand_in_the_order_that_was_asked),
        cmocka_unit_test(wrong_policies_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
