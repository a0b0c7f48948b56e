#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/trial.h"

static void put_letter(const void *context, uint32_t node, struct myr_buf *ret)
{
    myr_buf_printf(ret, "%s%c", (const char *)context, (char)('a' + node));
}

static const struct myr_node_names letters = {put_letter, "host "};

/* Each: a change, and how it is told with numbers of nodes and with their names. */
static const struct {
    struct myr_trial trial;
    const char *text, *named;
} cases[] = {
    {{.kind = MYR_TRIAL_RELEASE}, "release it", NULL},
    {{.kind = MYR_TRIAL_ANY_LEAVES}, "accept more leaves than it needs", NULL},
    {{.kind = MYR_TRIAL_DROP_LIMIT}, "let its nodes lie farther apart", NULL},
    {{.kind = MYR_TRIAL_DROP_SPREAD}, "drop its spread limits", NULL},
    {{.kind = MYR_TRIAL_DROP_KIND}, "take any kind of GPU", NULL},
    {{.kind = MYR_TRIAL_DROP_EXCLUDE}, "take the nodes that it leaves out", NULL},
    {{.kind = MYR_TRIAL_FEWER_GPUS, .gpus = 1}, "ask for 1 GPU", NULL},
    {{.kind = MYR_TRIAL_FEWER_GPUS, .gpus = 24}, "ask for 24 GPUs", NULL},
    {{.kind = MYR_TRIAL_PRIORITY, .priority = -7}, "priority -7", NULL},
    {{.kind = MYR_TRIAL_WEIGHT, .weight = 3}, "weight 3 for its tenant", NULL},
    {{.kind = MYR_TRIAL_NODE_BACK, .node = 1, .last = 1, .nodes = 1},
     "node 1 in use",
     "host b in use"},
    {{.kind = MYR_TRIAL_NODES_BACK, .node = 1, .last = 4, .nodes = 2},
     "node 1 and node 4 in use",
     "host b and host e in use"},
    {{.kind = MYR_TRIAL_NODES_BACK, .node = 1, .last = 4, .nodes = 3},
     "3 more nodes in use, node 1 to node 4",
     "3 more nodes in use, host b to host e"},
    {{.kind = MYR_TRIAL_NO_SPARES}, "keep no spare nodes", NULL},
    {{.kind = MYR_TRIAL_MOVE, .move_count = 1, .moves = {{5, {0, 0x1}, {2, 0x4}}}},
     "move job 5: 1 GPU from node 0 to node 2",
     "move job 5: 1 GPU from host a to host c"},
    {{.kind = MYR_TRIAL_MOVE,
      .move_count = 2,
      .moves = {{5, {0, 0x7}, {2, 0x70}}, {6, {3, 0x3}, {1, 0x3}}}},
     "move job 5: 3 GPUs from node 0 to node 2; job 6: 2 GPUs from node 3 to node 1",
     "move job 5: 3 GPUs from host a to host c; job 6: 2 GPUs from host d to host b"},
    {{.kind = MYR_TRIAL_END_JOB, .gpus = 1, .job_count = 1, .jobs = {9}},
     "job 9 (1 GPU) over or stopped",
     NULL},
    {{.kind = MYR_TRIAL_END_JOBS, .gpus = 16, .job_count = 2, .jobs = {9, 4}},
     "jobs 9, 4 (16 GPUs) over or stopped",
     NULL},
    /* Of many the first are named. */
    {{.kind = MYR_TRIAL_END_JOBS, .gpus = 72, .job_count = 9, .jobs = {1, 2, 3, 4, 5, 6, 7, 8, 9}},
     "jobs 1, 2, 3, 4, 5, 6, 7, 8 and 1 more (72 GPUs) over or stopped",
     NULL},
    /* Who waits cannot end by itself. */
    {{.kind = MYR_TRIAL_END_JOB, .job_count = 1, .waiting = 1, .jobs = {4}},
     "job 4, which waits too, held or cancelled",
     NULL},
    {{.kind = MYR_TRIAL_END_JOBS, .gpus = 8, .job_count = 3, .waiting = 2, .jobs = {9, 4, 5}},
     "job 9 (8 GPUs) over or stopped, and jobs 4, 5, which wait too, held or cancelled",
     NULL},
    {{.kind = MYR_TRIAL_END_JOB,
      .gpus = 8,
      .job_count = 1,
      .jobs = {9},
      .raised = true,
      .priority = 3},
     "priority 3, and job 9 (8 GPUs) over or stopped",
     NULL},
};

static void every_change_is_told_in_words(void **state)
{
    (void)state;
    static const struct myr_node_names nobody = {};
    uint32_t kinds = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        const struct myr_node_names *const names[] = {NULL, &nobody, &letters};
        const char *named = cases[i].named ? cases[i].named : cases[i].text;
        kinds |= 1U << cases[i].trial.kind;
        for (size_t k = 0; k < MYR_ARRAY_COUNT(names); k++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            myr_buf_puts(&text, "> "); /* what is there stays */
            myr_trial_text(&cases[i].trial, names[k], &text);
            assert_memory_equal(text.data, "> ", 2);
            assert_string_equal(text.data + 2, names[k] == &letters ? named : cases[i].text);
        }
    }
    assert_int_equal(kinds, (1U << MYR_TRIAL_COUNT) - 1);
}

static void every_change_has_a_name_of_its_own(void **state)
{
    (void)state;
    assert_string_equal(myr_trial_name(MYR_TRIAL_RELEASE), "release");
    assert_string_equal(myr_trial_name(MYR_TRIAL_MOVE), "defragment");
    assert_string_equal(myr_trial_name(MYR_TRIAL_END_JOBS), "end-jobs");
    assert_string_equal(myr_trial_name(MYR_TRIAL_COUNT), "");
    for (uint32_t a = 0; a < MYR_TRIAL_COUNT; a++) {
        for (uint32_t b = 0; b < a; b++) {
            assert_string_not_equal(myr_trial_name((enum myr_trial_kind)a),
                                    myr_trial_name((enum myr_trial_kind)b));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change_is_told_in_words),
        cmocka_unit_test(every_change_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
