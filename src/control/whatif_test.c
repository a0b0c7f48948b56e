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
        .lose = "0-3", .lose_leaf = MYR_NONE, .add_gpus = 32, .submit_gpus = 24};
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
    struct myr_whatif_question question = {.lose_leaf = MYR_NONE, .submit_gpus = 32};
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_true(answer.placed);
    assert_int_equal(answer.submit_nodes, 4);
    (void)submit(&f, 8, MYR_RESTART_STRICT);
    assert_int_equal(myr_whatif(f.control, &question, &answer, NULL), MYR_OK);
    assert_false(answer.placed);
    assert_true(answer.why.kind == MYR_WHY_FULL);
    question.submit_gpus = 64;
    assert_true(myr_whatif(f.control, &question, &answer, NULL) < 0);
    question = (struct myr_whatif_question){.lose = "3-9", .lose_leaf = MYR_NONE};
    assert_true(myr_whatif(f.control, &question, &answer, NULL) < 0);
    question.lose = "some";
    assert_true(myr_whatif(f.control, &question, &answer, NULL) < 0);
    myr_control_free(f.control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_changes_nothing),
        cmocka_unit_test(a_lost_leaf_moves_its_jobs_or_lets_them_wait),
        cmocka_unit_test(a_submitted_job_starts_or_is_told_what_it_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
