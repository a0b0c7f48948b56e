#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "control_fixture.h"
#include "myriad/control/whatif.h"

static void a_question_changes_nothing(void **state)
{
    (void)state;
    struct fixture f = fixture_of(8);
    (void)submit(&f, 16, MYR_RESTART_STRICT);
    uint64_t hash = myr_control_hash(f.control);
    struct myr_control *copy = myr_control_fork(f.control);
    assert_true(myr_control_hash(copy) == hash);
    myr_control_free(copy);
    struct myr_whatif_answer answer;
    struct myr_whatif_question question = {
        .lose = "0-3", .lose_leaf = -1, .add_gpus = 32, .submit_gpus = 24};
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_true(myr_control_hash(f.control) == hash);
    myr_control_free(f.control);
}

static void a_lost_leaf_moves_its_jobs_or_lets_them_wait(void **state)
{
    (void)state;
    struct fixture f = fixture_of(8); /* two leaves of four */
    for (uint32_t i = 0; i < 6; i++) {
        (void)submit(&f, 8, MYR_RESTART_STRICT);
    }
    struct myr_whatif_answer answer;
    struct myr_whatif_question question = {.lose_leaf = 0};
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_int_equal(answer.nodes_lost, 4);
    assert_int_equal(answer.moves, 2);
    assert_int_equal(answer.waits, 2);
    question = (struct myr_whatif_question){.lose_leaf = 0, .add_gpus = 32};
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_int_equal(answer.nodes_added, 4);
    assert_int_equal(answer.waits, 0);
    myr_control_free(f.control);
}

static void a_submitted_job_starts_or_is_told_what_it_lacks(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    struct myr_whatif_answer answer;
    struct myr_whatif_question question = {.lose_leaf = -1, .submit_gpus = 32};
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_true(answer.placed);
    assert_int_equal(answer.submit_nodes, 4);
    (void)submit(&f, 8, MYR_RESTART_STRICT);
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_false(answer.placed);
    assert_true(answer.why.kind == MYR_WHY_FULL);
    /* More than there are is an answer, and so is more than are left. */
    question.submit_gpus = 33;
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_true(answer.submitted && !answer.placed);
    assert_true(answer.why.kind == MYR_WHY_NEVER);
    question.add_gpus = 8;
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_true(answer.why.kind == MYR_WHY_FULL);
    question = (struct myr_whatif_question){.lose = "3-9", .lose_leaf = -1};
    assert_true(myr_whatif(f.control, &question, &answer, NULL) < 0);
    question.lose = "some";
    assert_true(myr_whatif(f.control, &question, &answer, NULL) < 0);
    myr_control_free(f.control);
}

static void nodes_to_lose_are_a_list(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",    ",",      "1,",    "1,,2", "0-8",
                                        "2-1", "1,some", "node/", "-"};
    struct fixture f = fixture_of(8);
    struct myr_whatif_answer answer;
    struct myr_whatif_question question = {.lose = "1,node/00003,5-7,6", .lose_leaf = -1};
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_int_equal(answer.nodes_lost, 5);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wrong); i++) {
        struct myr_err err = {};
        question.lose = wrong[i];
        assert_int_equal(myr_whatif(f.control, &question, &answer, &err), MYR_EINVAL);
    }
    question = (struct myr_whatif_question){.lose_leaf = UINT32_MAX}; /* no leaf, and not none */
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_ERANGE);
    myr_control_free(f.control);
}

/* Would take hours if every node that joins, or is lost, were compared with all others. */
static void half_a_million_nodes_are_added_in_a_moment(void **state)
{
    (void)state;
    struct fixture f = fixture_of(8);
    struct myr_whatif_answer answer;
    struct myr_whatif_question question = {.lose_leaf = -1, .add_gpus = 4 << 20};
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_int_equal(answer.nodes_added, (4 << 20) / 8);
    assert_int_equal(answer.free_gpus_after - answer.free_gpus_before, 4 << 20);
    myr_control_free(f.control);
}

/* Three jobs wait behind one that fills the cluster; each count is of jobs that there are. */
static void every_count_of_an_answer_is_what_it_says(void **state)
{
    (void)state;
    struct fixture f = fixture_of(6); /* leaves of four and two */
    (void)submit(&f, 16, MYR_RESTART_STRICT);
    (void)submit(&f, 16, MYR_RESTART_STRICT);
    for (uint32_t i = 0; i < 3; i++) {
        (void)submit(&f, 24, MYR_RESTART_STRICT);
    }
    struct myr_whatif_answer answer;
    struct myr_whatif_question question = {.lose_leaf = -1, .add_gpus = 25};
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_int_equal(answer.nodes, 6);
    assert_int_equal(answer.nodes_added, 4); /* whole ones */
    assert_int_equal(answer.nodes_lost, 0);
    assert_int_equal(answer.free_gpus_before, 16);
    assert_int_equal(answer.free_gpus_after, 0);
    assert_int_equal(answer.starts, 2);
    assert_int_equal(answer.moves, 0);
    assert_int_equal(answer.waits, 0);
    assert_int_equal(answer.job_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(answer.jobs[i].job, 2 + i);
        assert_int_equal(answer.jobs[i].gpus, 24);
        assert_int_equal(answer.jobs[i].fate, MYR_WHATIF_STARTS);
    }
    assert_false(answer.submitted);
    assert_int_equal(answer.took_ns, 0); /* nobody asked for the time */
    assert_int_equal(answer.fork_ns, 0);
    question = (struct myr_whatif_question){.lose_leaf = 1}; /* the short one at the end */
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_int_equal(answer.nodes_lost, 2);
    question.lose_leaf = 2;
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_ERANGE);
    question = (struct myr_whatif_question){.lose = "0", .lose_leaf = 0};
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_EINVAL);
    assert_string_equal(myr_whatif_fate_name(MYR_WHATIF_MOVES), "moves");
    assert_string_equal(myr_whatif_fate_name(MYR_WHATIF_WAITS), "waits");
    assert_string_equal(myr_whatif_fate_name(MYR_WHATIF_STARTS), "starts");
    myr_control_free(f.control);
}

/* A job of higher priority than all gets its GPUs when those who have them were told to stop. */
static void a_submitted_job_waits_until_agents_have_obeyed(void **state)
{
    (void)state;
    struct fixture f = {};
    struct myr_place_shape shape = {2, 8, 4, 2};
    struct myr_control_policy policy = myr_control_policy_default();
    policy.queue = myr_queue_policy_preset(MYR_QUEUE_PREEMPT);
    assert_int_equal(myr_control_create(&shape, &policy, 1, &f.control, NULL), MYR_OK);
    for (uint32_t n = 0; n < 2; n++) {
        tell(&f, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = n, .boot = 1});
        tell(&f, (struct myr_event){.kind = MYR_EVENT_TESTED, .node = n, .boot = 1, .epoch = 1});
    }
    uint32_t job = submit(&f, 16, MYR_RESTART_STRICT);
    say(&f, MYR_EVENT_STARTED, 0, job, 1, 0);
    say(&f, MYR_EVENT_STARTED, 1, job, 1, 0);
    wait_ms(&f, 590000);
    struct myr_whatif_answer answer;
    struct myr_whatif_question question = {.lose_leaf = -1, .submit_gpus = 12, .priority = 50};
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_true(answer.submitted && answer.placed);
    assert_int_equal(answer.submit_nodes, 2);
    assert_int_equal(answer.submit_groups, 1);
    assert_int_equal(answer.waits, 1);
    assert_int_equal(answer.free_gpus_after, 4);
    question.priority = -50; /* and one that nobody makes room for */
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_true(answer.submitted && !answer.placed);
    assert_int_equal(answer.waits, 0);
    assert_int_equal(answer.why.gpus, 12);
    assert_int_equal(answer.why.gpus_free, 0);
    question = (struct myr_whatif_question){.lose_leaf = -1, .submit_gpus = 8, .restart = 2};
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_EINVAL);
    myr_control_free(f.control);
}

static int64_t ticks;

static int64_t ticking(void)
{
    return ticks += 100;
}

static void the_fastest_of_several_rounds_counts(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    struct myr_whatif_answer answer;
    struct myr_whatif_question question = {.lose_leaf = -1, .clock_ns = ticking, .rounds = 3};
    ticks = 0;
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_int_equal(answer.fork_ns, 100);
    assert_int_equal(answer.took_ns, 200);
    assert_int_equal(ticks, 900);
    myr_control_free(f.control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_changes_nothing),
        cmocka_unit_test(a_lost_leaf_moves_its_jobs_or_lets_them_wait),
        cmocka_unit_test(a_submitted_job_starts_or_is_told_what_it_lacks),
        cmocka_unit_test(nodes_to_lose_are_a_list),
        cmocka_unit_test(every_count_of_an_answer_is_what_it_says),
        cmocka_unit_test(a_submitted_job_waits_until_agents_have_obeyed),
        cmocka_unit_test(the_fastest_of_several_rounds_counts),
        cmocka_unit_test(half_a_million_nodes_are_added_in_a_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
