/*
 * The watcher itself: told of what happens by hand, it finds each rule where it is broken, in the
 * words that people get, and nothing where none is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "progress/check.h"

/* What happened, one after the other; 'a' to 'c' are numbers in the order of the calls. */
enum what {
    END,
    JOB,
    EPOCH_JOB,
    GRANT,
    RELEASE,
    START,
    STOP,
    SAYS,
    NODE,
    BEGINS,
    UP,
    ENDS,
    COMMIT,
    WORK_DONE,
    DRAIN,
    UNDRAIN,
    FREE,
    TIME,
    STUCK
};

struct step {
    enum what what;
    uint32_t job, node, epoch;
    uint64_t gpus; /* or GPUs of the gang, a state, a time */
};

static void play(struct check *k, const struct step *s)
{
    struct myr_effect e = {.job = s->job,
                           .node = s->node,
                           .epoch = s->epoch,
                           .gpus = s->gpus,
                           .state = (uint8_t)s->gpus};
    static const uint8_t kinds[] = {
        [GRANT] = MYR_EFFECT_GRANT, [RELEASE] = MYR_EFFECT_RELEASE, [START] = MYR_EFFECT_START,
        [STOP] = MYR_EFFECT_STOP,   [SAYS] = MYR_EFFECT_JOB,        [NODE] = MYR_EFFECT_NODE};
    switch (s->what) {
    case JOB:
    case EPOCH_JOB:
        check_job(k, s->job, (uint32_t)s->gpus, s->what == JOB);
        break;
    case BEGINS:
        check_rank_begins(k, s->node, s->job, s->epoch, s->gpus);
        break;
    case UP:
        check_rank_up(k, s->job, s->epoch, s->gpus);
        break;
    case ENDS:
        check_rank_ends(k, s->node, s->job, s->epoch, s->gpus);
        break;
    case COMMIT:
        check_commit(k, s->job, s->epoch);
        break;
    case WORK_DONE:
        check_work_done(k, s->job);
        break;
    case DRAIN:
    case UNDRAIN:
        check_drain(k, s->node, s->what == DRAIN);
        break;
    case FREE:
        check_node_free(k, s->node, s->gpus);
        break;
    case TIME:
        check_time(k, (int64_t)s->gpus);
        break;
    case STUCK:
        check_stuck(k, (int64_t)s->gpus);
        break;
    case END:
        break;
    default:
        e.kind = kinds[s->what];
        check_effect(k, &e);
    }
}

enum {
    QUEUED = MYR_CONTROL_QUEUED,
    STARTING = MYR_CONTROL_STARTING,
    RUNNING = MYR_CONTROL_RUNNING,
    DONE = MYR_CONTROL_DONE,
    FAILED = MYR_CONTROL_FAILED,
    CANCELLED = MYR_CONTROL_CANCELLED
};

/* Three nodes of four GPUs. 'says' NULL: nothing is broken. */
static const struct {
    enum rule rule;
    const char *says;
    struct step steps[16];
} cases[] = {
    {0, NULL, {{GRANT, 0, 1, 1, 3}, {GRANT, 1, 1, 1, 12}, {GRANT, 2, 2, 1, 3}}},
    {RULE_GIVEN_TWICE,
     "gpu/00001/1 is granted to job 4 while job 0 has it",
     {{GRANT, 0, 1, 1, 3}, {GRANT, 4, 1, 1, 6}}},
    {0, NULL, {{GRANT, 0, 1, 1, 3}, {RELEASE, 0, 1, 1, 2}, {GRANT, 4, 1, 1, 6}}},
    {RULE_GIVEN_TWICE,
     "while job 0 has it", /* another's word gives nothing back */
     {{GRANT, 0, 1, 1, 3}, {RELEASE, 4, 1, 1, 3}, {GRANT, 4, 1, 1, 1}}},
    {RULE_GIVEN_TWICE,
     "gpu/00002/3 is granted to job 1 while job 0 runs on it",
     {{GRANT, 0, 2, 1, 8}, {BEGINS, 0, 2, 1, 8}, {RELEASE, 0, 2, 1, 8}, {GRANT, 1, 2, 1, 8}}},
    {0,
     NULL,
     {{GRANT, 0, 2, 1, 8},
      {BEGINS, 0, 2, 1, 8},
      {RELEASE, 0, 2, 1, 8},
      {ENDS, 0, 2, 1, 8},
      {GRANT, 1, 2, 1, 8}}},
    {0,
     NULL,
     {{GRANT, 0, 2, 1, 8}, {BEGINS, 0, 2, 1, 8}, {RELEASE, 0, 2, 1, 8}, {GRANT, 0, 2, 2, 8}}},
    {RULE_GIVEN_TWICE,
     "gpu/00000/0 is granted to job 1 while job 0 runs on it", /* the first GPU as the last one */
     {{GRANT, 0, 0, 1, 1}, {BEGINS, 0, 0, 1, 1}, {RELEASE, 0, 0, 1, 1}, {GRANT, 1, 0, 1, 1}}},
    {0, NULL, {{GRANT, 3, 0, 1, 5}, {START, 3, 0, 1, 5}}},
    {RULE_UNGRANTED,
     "job 3 is started on gpu/00000/0, which it has not",
     {{GRANT, 3, 0, 1, 6}, {START, 3, 0, 1, 7}}},
    {RULE_LEAK,
     "gpu/00001/0 is free for the queue, but job 3 has it",
     {{GRANT, 3, 1, 1, 1}, {FREE, 0, 1, 0, 15}}},
    /* Ranks of an older epoch that come late do not count as the present life. */
    {0,
     NULL,
     {{EPOCH_JOB, 5, 0, 0, 4},
      {BEGINS, 5, 0, 2, 1},
      {BEGINS, 5, 1, 1, 1},
      {ENDS, 5, 1, 1, 1},
      {ENDS, 5, 0, 2, 1},
      {JOB, 5, 0, 0, 4},
      {BEGINS, 5, 0, 3, 1}}},
    {RULE_TWO_LIVES,
     "strict job 5 lives in epochs 2 and 3",
     {{EPOCH_JOB, 5, 0, 0, 4},
      {BEGINS, 5, 0, 2, 1},
      {BEGINS, 5, 1, 1, 1},
      {ENDS, 5, 1, 1, 1},
      {JOB, 5, 0, 0, 4},
      {BEGINS, 5, 0, 3, 1}}},
    {RULE_TWO_LIVES,
     "strict job 5 lives in epochs 2 and 3", /* the newest epoch is counted by itself */
     {{EPOCH_JOB, 5, 0, 0, 4},
      {BEGINS, 5, 0, 1, 1},
      {BEGINS, 5, 1, 2, 1},
      {ENDS, 5, 0, 1, 1},
      {JOB, 5, 0, 0, 4},
      {BEGINS, 5, 0, 3, 1}}},
    {0,
     NULL,
     {{EPOCH_JOB, 5, 0, 0, 4},
      {BEGINS, 5, 0, 1, 1},
      {BEGINS, 5, 1, 2, 1},
      {ENDS, 5, 1, 2, 1},
      {ENDS, 5, 0, 1, 1},
      {JOB, 5, 0, 0, 4},
      {BEGINS, 5, 0, 3, 1}}},
    {RULE_UNGRANTED,
     "job 3 is started on gpu/00000/1, which it has not",
     {{GRANT, 3, 0, 1, 5}, {START, 3, 0, 1, 7}}},
    {RULE_UNGRANTED, "job 3 is started on gpu/00001/0", {{GRANT, 3, 0, 1, 1}, {START, 3, 1, 1, 1}}},
    {RULE_UNGRANTED, "job 2 is started on gpu/00000/0", {{GRANT, 3, 0, 1, 1}, {START, 2, 0, 1, 1}}},
    {0, NULL, {{GRANT, 3, 2, 1, 6}, {FREE, 0, 2, 0, 9}, {FREE, 0, 1, 0, 15}}},
    {RULE_LEAK,
     "gpu/00002/1 is free for the queue, but job 3 has it",
     {{GRANT, 3, 2, 1, 6}, {FREE, 0, 2, 0, 11}}},
    {RULE_LEAK,
     "gpu/00002/3 is taken for the queue, but no job has it",
     {{GRANT, 3, 2, 1, 6}, {FREE, 0, 2, 0, 1}}},
    /* A gang is up when all of it is, in this epoch. */
    {0, NULL, {{JOB, 1, 0, 0, 6}, {UP, 1, 0, 1, 15}, {UP, 1, 1, 1, 3}, {SAYS, 1, 0, 1, RUNNING}}},
    {RULE_GANG,
     "job 1 is called running in epoch 1 with 4 GPUs up of 6",
     {{JOB, 1, 0, 0, 6}, {UP, 1, 0, 1, 15}, {SAYS, 1, 0, 1, RUNNING}}},
    {RULE_GANG,
     "job 1 is called running in epoch 2 with 0 GPUs up of 4",
     {{JOB, 1, 0, 0, 4}, {UP, 1, 0, 1, 15}, {SAYS, 1, 0, 2, RUNNING}}},
    {RULE_GANG,
     "with 2 GPUs up of 4", /* those of the epoch before do not count */
     {{JOB, 1, 0, 0, 4}, {UP, 1, 0, 1, 3}, {UP, 1, 0, 2, 3}, {SAYS, 1, 0, 2, RUNNING}}},
    {RULE_GANG,
     "with 2 GPUs up of 4", /* nor those that come late */
     {{JOB, 1, 0, 0, 4}, {UP, 1, 0, 2, 3}, {UP, 1, 0, 1, 3}, {SAYS, 1, 0, 2, RUNNING}}},
    {RULE_LATE_START,
     "job 1 is called running in epoch 2, which was taken back",
     {{JOB, 1, 0, 0, 4},
      {UP, 1, 0, 2, 15},
      {STOP, 1, 0, 2, 0},
      {STOP, 1, 0, 1, 0},
      {SAYS, 1, 0, 2, RUNNING}}},
    {0, NULL, {{JOB, 1, 0, 0, 4}, {UP, 1, 0, 3, 15}, {STOP, 1, 0, 2, 0}, {SAYS, 1, 0, 3, RUNNING}}},
    {RULE_DONE_EARLY, "job 1 is called done, its work is not", {{SAYS, 1, 0, 1, DONE}}},
    {0, NULL, {{WORK_DONE, 1, 0, 0, 0}, {SAYS, 1, 0, 1, DONE}}},
    {RULE_LEAK,
     "job 1 is failed and still has 2 GPUs",
     {{JOB, 1, 0, 0, 2}, {GRANT, 1, 0, 1, 3}, {SAYS, 1, 0, 1, FAILED}}},
    {RULE_LEAK,
     "job 1 is cancelled and still has 1 GPU",
     {{JOB, 1, 0, 0, 2}, {GRANT, 1, 0, 1, 3}, {RELEASE, 1, 0, 1, 1}, {SAYS, 1, 0, 1, CANCELLED}}},
    {RULE_LEAK,
     "job 1 is done and still has 2 GPUs",
     {{JOB, 1, 0, 0, 2}, {GRANT, 1, 0, 1, 3}, {WORK_DONE, 1, 0, 0, 0}, {SAYS, 1, 0, 1, DONE}}},
    {0, NULL, {{EPOCH_JOB, 1, 0, 0, 2}, {GRANT, 1, 0, 1, 3}, {SAYS, 1, 0, 1, FAILED}}},
    {0,
     NULL,
     {{JOB, 1, 0, 0, 2}, {GRANT, 1, 0, 1, 3}, {RELEASE, 1, 0, 1, 3}, {SAYS, 1, 0, 1, FAILED}}},
    /* Nodes that are to be empty: for people, for the controller, for both. */
    {RULE_DRAINED,
     "job 2 is placed on node/00001, which is to be empty",
     {{DRAIN, 0, 1, 0, 0}, {GRANT, 2, 1, 1, 1}}},
    {0,
     NULL,
     {{DRAIN, 0, 1, 0, 0}, {GRANT, 2, 0, 1, 1}, {UNDRAIN, 0, 1, 0, 0}, {GRANT, 2, 1, 1, 1}}},
    {RULE_DRAINED, "node/00001", {{NODE, 0, 1, 0, MYR_NODE_DRAINING}, {GRANT, 2, 1, 1, 1}}},
    {RULE_DRAINED, "node/00001", {{NODE, 0, 1, 0, MYR_NODE_DRAINED}, {GRANT, 2, 1, 1, 1}}},
    {RULE_DRAINED, "node/00001", {{NODE, 0, 1, 0, MYR_NODE_REPAIR}, {GRANT, 2, 1, 1, 1}}},
    {0,
     NULL,
     {{NODE, 0, 1, 0, MYR_NODE_DRAINED}, {NODE, 0, 1, 0, MYR_NODE_HEALTHY}, {GRANT, 2, 1, 1, 1}}},
    {RULE_DRAINED,
     "node/00001", /* what people want stays when the node is well */
     {{DRAIN, 0, 1, 0, 0}, {NODE, 0, 1, 0, MYR_NODE_HEALTHY}, {GRANT, 2, 1, 1, 1}}},
    {RULE_DRAINED,
     "node/00001",
     {{NODE, 0, 1, 0, MYR_NODE_DRAINED}, {UNDRAIN, 0, 1, 0, 0}, {GRANT, 2, 1, 1, 1}}},
    {0, NULL, {{NODE, 0, 1, 0, MYR_NODE_SUSPECT}, {GRANT, 2, 1, 1, 1}}},
    {RULE_DRAINED,
     "node/00002 is called drained with 2 ranks on it",
     {{BEGINS, 0, 2, 1, 1}, {BEGINS, 1, 2, 1, 2}, {NODE, 0, 2, 0, MYR_NODE_DRAINED}}},
    {RULE_DRAINED,
     "node/00002 is called repair with 1 rank on it",
     {{BEGINS, 0, 2, 1, 1},
      {BEGINS, 1, 2, 1, 2},
      {ENDS, 1, 2, 1, 2},
      {NODE, 0, 2, 0, MYR_NODE_REPAIR}}},
    {0, NULL, {{BEGINS, 0, 2, 1, 1}, {NODE, 0, 2, 0, MYR_NODE_DRAINING}}},
    {0, NULL, {{BEGINS, 0, 2, 1, 1}, {ENDS, 0, 2, 1, 1}, {NODE, 0, 2, 0, MYR_NODE_DRAINED}}},
    /* A strict job lives once. */
    {RULE_TWO_LIVES,
     "strict job 5 lives in epochs 1 and 2",
     {{JOB, 5, 0, 0, 4}, {BEGINS, 5, 0, 1, 1}, {BEGINS, 5, 1, 2, 1}}},
    {RULE_TWO_LIVES,
     "strict job 5 lives in epochs 2 and 1",
     {{JOB, 5, 0, 0, 4}, {BEGINS, 5, 0, 2, 1}, {BEGINS, 5, 1, 1, 1}}},
    {0, NULL, {{EPOCH_JOB, 5, 0, 0, 4}, {BEGINS, 5, 0, 1, 1}, {BEGINS, 5, 1, 2, 1}}},
    {0, NULL, {{JOB, 5, 0, 0, 4}, {BEGINS, 5, 0, 1, 1}, {BEGINS, 5, 1, 1, 1}}},
    {0,
     NULL,
     {{JOB, 5, 0, 0, 4},
      {BEGINS, 5, 0, 1, 1},
      {BEGINS, 5, 1, 1, 1},
      {ENDS, 5, 0, 1, 1},
      {ENDS, 5, 1, 1, 1},
      {BEGINS, 5, 1, 2, 1}}},
    {RULE_TWO_LIVES,
     "epochs 1 and 2", /* one of the two is still there */
     {{JOB, 5, 0, 0, 4},
      {BEGINS, 5, 0, 1, 1},
      {BEGINS, 5, 1, 1, 1},
      {ENDS, 5, 0, 1, 1},
      {BEGINS, 5, 1, 2, 2}}},
    {RULE_STALE_COMMIT,
     "job 0 commits in epoch 1 after epoch 2",
     {{COMMIT, 0, 0, 2, 0}, {COMMIT, 0, 0, 1, 0}}},
    {0, NULL, {{COMMIT, 0, 0, 1, 0}, {COMMIT, 0, 0, 1, 0}, {COMMIT, 0, 0, 2, 0}}},
    /* Between two states for longer than anything takes. */
    {RULE_STUCK,
     "job 0 has been starting for 6 s",
     {{TIME, 0, 0, 0, 1000},
      {SAYS, 0, 0, 1, STARTING},
      {TIME, 0, 0, 0, 7001},
      {STUCK, 0, 0, 0, 6000}}},
    {0,
     NULL,
     {{TIME, 0, 0, 0, 1000},
      {SAYS, 0, 0, 1, STARTING},
      {TIME, 0, 0, 0, 7000},
      {STUCK, 0, 0, 0, 6000}}},
    {0, NULL, {{SAYS, 0, 0, 1, QUEUED}, {TIME, 0, 0, 0, 7001}, {STUCK, 0, 0, 0, 6000}}},
    {0,
     NULL,
     {{UP, 0, 0, 1, 1}, {SAYS, 0, 0, 1, RUNNING}, {TIME, 0, 0, 0, 7001}, {STUCK, 0, 0, 0, 6000}}},
    {0, NULL, {{SAYS, 0, 0, 1, FAILED}, {TIME, 0, 0, 0, 7001}, {STUCK, 0, 0, 0, 6000}}},
};

static void each_rule_is_found_where_it_is_broken(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct check *k = check_create(3, 4);
        const struct step *s = cases[i].steps;
        for (size_t n = 0; n < MYR_ARRAY_COUNT(cases[i].steps) && s[n].what != END; n++) {
            assert_int_equal(check_report(k)->violations, 0); /* the last step breaks it */
            play(k, &s[n]);
        }
        const struct check_report *r = check_report(k);
        if (r->violations != (cases[i].says != NULL)) {
            fail_msg("case %zu: %llu violations, %s", i, (unsigned long long)r->violations,
                     r->violations ? r->first : "");
        }
        if (cases[i].says) {
            assert_int_equal(r->first_rule, cases[i].rule);
            assert_int_equal(r->by_rule[cases[i].rule], 1);
            assert_true(r->first_ms >= 0);
            if (!strstr(r->first, cases[i].says)) {
                fail_msg("case %zu: '%s' is not in '%s'", i, cases[i].says, r->first);
            }
        } else {
            assert_int_equal(r->first_ms, -1);
        }
        check_free(k);
    }
}

/* The first is kept, all are counted; a job that is stuck is told once. */
static void violations_are_counted_and_the_first_is_kept(void **state)
{
    (void)state;
    struct check *k = check_create(3, 4);
    check_time(k, 77);
    play(k, &(struct step){COMMIT, 0, 0, 5, 0});
    play(k, &(struct step){COMMIT, 0, 0, 4, 0});
    check_time(k, 78);
    play(k, &(struct step){COMMIT, 0, 0, 3, 0});
    play(k, &(struct step){SAYS, 1, 0, 1, DONE});
    const struct check_report *r = check_report(k);
    assert_int_equal(r->violations, 3);
    assert_int_equal(r->by_rule[RULE_STALE_COMMIT], 2);
    assert_int_equal(r->by_rule[RULE_DONE_EARLY], 1);
    assert_int_equal(r->first_ms, 77);
    assert_int_equal(r->first_rule, RULE_STALE_COMMIT);
    assert_string_equal(r->first, "job 0 commits in epoch 4 after epoch 5");
    play(k, &(struct step){SAYS, 2, 0, 1, STARTING});
    for (int i = 1; i <= 3; i++) {
        check_time(k, 1000 * i);
        check_stuck(k, 100000);
    }
    assert_int_equal(r->by_rule[RULE_STUCK], 0);
    check_time(k, 200000);
    check_stuck(k, 100000);
    check_stuck(k, 100000);
    assert_int_equal(r->by_rule[RULE_STUCK], 1);
    check_free(k);
}

/* Nodes that grants and releases touched are looked at once an event. */
static void nodes_that_were_touched_are_listed_once(void **state)
{
    (void)state;
    struct check *k = check_create(3, 4);
    const uint32_t *nodes;
    assert_int_equal(check_touched(k, &nodes), 0);
    play(k, &(struct step){GRANT, 0, 2, 1, 5});
    play(k, &(struct step){GRANT, 1, 2, 1, 2});
    play(k, &(struct step){GRANT, 1, 0, 1, 2});
    assert_int_equal(check_touched(k, &nodes), 2);
    assert_int_equal(nodes[0], 2);
    assert_int_equal(nodes[1], 0);
    assert_int_equal(check_owned(k, 2), 7);
    assert_int_equal(check_owned(k, 0), 2);
    assert_int_equal(check_owned(k, 1), 0);
    check_event_done(k);
    assert_int_equal(check_touched(k, &nodes), 0);
    play(k, &(struct step){RELEASE, 0, 2, 1, 5});
    assert_int_equal(check_touched(k, &nodes), 1);
    assert_int_equal(check_owned(k, 2), 2);
    check_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_is_found_where_it_is_broken),
        cmocka_unit_test(violations_are_counted_and_the_first_is_kept),
        cmocka_unit_test(nodes_that_were_touched_are_listed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
