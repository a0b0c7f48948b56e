/* What is told of jobs and nodes, word by word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "control_fixture.h"
#include "myriad/control/explain.h"

/* All facts of one thing, "what: is" line by line. */
static void expect(const struct fixture *f, const char *name, const char *text)
{
    struct myr_explanation e;
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    if (myr_control_explain(f->control, name, NULL, &e, &err) < 0) {
        fail_msg("%s: %s", name, err.message);
    }
    for (uint32_t i = 0; i < e.count; i++) {
        myr_buf_printf(&buf, "%s: %s\n", e.facts[i].what, e.facts[i].is);
    }
    myr_buf_putc(&buf, '\0');
    assert_string_equal(buf.data, text);
}

/* The fact of that name; the first one. */
static void expect_fact(const struct fixture *f, const char *name, const char *what, const char *is)
{
    struct myr_explanation e;
    assert_int_equal(myr_control_explain(f->control, name, NULL, &e, NULL), MYR_OK);
    for (uint32_t i = 0; i < e.count; i++) {
        if (strcmp(e.facts[i].what, what) == 0) {
            assert_string_equal(e.facts[i].is, is);
            return;
        }
    }
    fail_msg("%s has no '%s'", name, what);
}

static void a_job_is_explained_from_its_start_to_its_end(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t job = submit(&f, 16, MYR_RESTART_EPOCH);
    wait_ms(&f, 1080000);
    say(&f, MYR_EVENT_STARTED, 0, job, 1, 0);
    expect(&f, "job/0",
           "state: starting\n"
           "asks for: 16 GPUs, priority 0, restart epoch\n"
           "submitted: 18 min ago\n"
           "incarnation: 1, begun 18 min ago; 0 failures of at most 10\n"
           "progress: step 0, saved 0\n"
           "nodes: 2; 1 running, 1 asked to start\n");
    say(&f, MYR_EVENT_STARTED, 1, job, 1, 0);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_STEP,
                                .node = 0,
                                .boot = 1,
                                .job = job,
                                .epoch = 1,
                                .value = 7,
                                .saved = 5});
    say(&f, MYR_EVENT_EXIT, 1, job, 1, 3);
    expect(&f, "job/0",
           "state: recovering\n"
           "asks for: 16 GPUs, priority 0, restart epoch\n"
           "submitted: 18 min ago\n"
           "incarnation: 1, begun 18 min ago; 1 failure of at most 10\n"
           "progress: step 7, saved 5\n"
           "nodes: 2; 1 asked to stop, 1 ended\n"
           "awaits: tests of 1 node\n"
           "awaits: 1 rank to end\n");
    say(&f, MYR_EVENT_STOPPED, 0, job, 1, 0);
    say(&f, MYR_EVENT_TESTED, 1, MYR_NONE, 2, 0);
    say(&f, MYR_EVENT_STARTED, 0, job, 2, 0);
    say(&f, MYR_EVENT_STARTED, 1, job, 2, 0);
    say(&f, MYR_EVENT_EXIT, 0, job, 2, 0);
    say(&f, MYR_EVENT_EXIT, 1, job, 2, 0);
    expect(&f, "job/0",
           "state: done\n"
           "asks for: 16 GPUs, priority 0, restart epoch\n"
           "submitted: 18 min ago\n"
           "incarnation: 2, begun 0 s ago; 1 failure of at most 10\n"
           "progress: all of its work; it last told of step 7\n");
    myr_control_free(f.control);
}

static void a_job_that_waits_is_told_what_it_lacks(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    (void)submit(&f, 16, MYR_RESTART_STRICT);
    uint32_t waits = submit(&f, 8, MYR_RESTART_STRICT);
    uint64_t hash = myr_control_hash(f.control);
    struct myr_explanation e;
    assert_int_equal(myr_control_explain(f.control, "job/1", NULL, &e, NULL), MYR_OK);
    assert_string_equal(e.facts[0].is, "queued");
    assert_string_equal(e.facts[1].is, "8 GPUs, priority 0, restart strict");
    assert_string_equal(e.facts[3].what, "waits"); /* it has no incarnation yet */
    struct myr_control *copy = myr_control_fork(f.control);
    assert_string_equal(e.facts[3].is, myr_control_waits(copy, waits));
    assert_string_equal(e.facts[3].is, myr_why_words(MYR_WHY_FULL));
    assert_true(e.count > 4);
    assert_true(myr_control_hash(f.control) == hash);
    myr_control_free(copy);
    myr_control_free(f.control);
}

/* The queue would start it: what keeps it is the job that it waits for. */
static void a_job_that_waits_for_another_says_so(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    uint32_t before = submit(&f, 8, MYR_RESTART_STRICT);
    tell(&f,
         (struct myr_event){
             .kind = MYR_EVENT_SUBMIT,
             .spec = {.token = 500, .gpus = 8, .retries = 1, .lease_s = 9, .after = before + 1}});
    struct myr_control *copy = myr_control_fork(f.control);
    assert_string_equal(myr_control_waits(copy, 1), "another job is to be done before");
    myr_control_free(copy);
    expect(&f, "job/1",
           "state: queued\n"
           "asks for: 8 GPUs, priority 0, restart strict\n"
           "submitted: 0 s ago\n"
           "awaits: job/0 to be done\n");
    say(&f, MYR_EVENT_STARTED, 0, before, 1, 0);
    say(&f, MYR_EVENT_EXIT, 0, before, 1, 0);
    assert_int_equal(myr_control_job(f.control, 1).state, MYR_CONTROL_STARTING);
    myr_control_free(f.control);
}

static void call(const void *context, uint32_t node, struct myr_buf *ret)
{
    myr_buf_printf(ret, "%s-%04u", (const char *)context, node + 1);
}

/* The fact of that name, as somebody is told who knows the time. */
static void expect_told(const struct fixture *f, const char *name,
                        const struct myr_explain_asker *asker, const char *what, const char *is)
{
    static struct myr_explanation e;
    assert_int_equal(myr_control_explain(f->control, name, asker, &e, NULL), MYR_OK);
    for (uint32_t i = 0; i < e.count; i++) {
        if (strcmp(e.facts[i].what, what) == 0) {
            assert_string_equal(e.facts[i].is, is);
            return;
        }
    }
    fail_msg("%s has no '%s'", name, what);
}

/* The state stands still where nothing happens: the time does not. */
static void times_go_on_without_events(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    wait_ms(&f, 7200000);
    (void)submit(&f, 16, MYR_RESTART_STRICT);
    (void)submit(&f, 8, MYR_RESTART_STRICT);
    struct myr_explain_asker asker = {.now_ms = f.now_ms + 1478999, .submitted_ms = -1};
    expect_told(&f, "job/1", NULL, "submitted", "0 s ago");
    expect_told(&f, "job/1", &asker, "submitted", "24 min 38 s ago");
    expect_told(&f, "job/0", &asker, "submitted", "24 min 38 s ago");
    expect_told(&f, "job/0", &asker, "incarnation",
                "1, begun 24 min 38 s ago; 0 failures of at most 10");
    /* With the hour in which there was no controller. */
    asker.submitted_ms = asker.now_ms - 1478999 - 3600000;
    expect_told(&f, "job/1", &asker, "submitted", "1 h 24 min ago");
    expect_told(&f, "job/0", &asker, "incarnation",
                "1, begun 24 min 38 s ago; 0 failures of at most 10");
    /* A clock that went back. */
    asker.now_ms = f.now_ms - 1;
    asker.submitted_ms = -1;
    expect_told(&f, "job/1", &asker, "submitted", "0 s ago");
    asker.submitted_ms = f.now_ms;
    expect_told(&f, "job/1", &asker, "submitted", "0 s ago");
    myr_control_free(f.control);
}

/* When the queue will help it is told from now, too. */
static void what_is_to_come_comes_nearer(void **state)
{
    (void)state;
    struct fixture f = {};
    struct myr_place_shape shape = {4, 8, 2, 4};
    struct myr_control_policy policy = myr_control_policy_default();
    policy.queue.patience_s = 7200;
    assert_int_equal(myr_control_create(&shape, &policy, 1, &f.control, NULL), MYR_OK);
    (void)submit(&f, 8, MYR_RESTART_STRICT);
    struct myr_explain_asker asker = {.now_ms = f.now_ms, .submitted_ms = -1};
    expect_told(&f, "job/0", &asker, "in 2 h", "nodes are held for it");
    asker.now_ms += 600000;
    expect_told(&f, "job/0", &asker, "in 1 h 50 min", "nodes are held for it");
    myr_control_free(f.control);
}

static void nodes_have_the_names_of_the_site(void **state)
{
    (void)state;
    struct fixture f = {};
    struct myr_place_shape shape = {40, 8, 4, 40};
    struct myr_control_policy policy = myr_control_policy_default();
    assert_int_equal(myr_control_create(&shape, &policy, 1, &f.control, NULL), MYR_OK);
    for (uint32_t i = 0; i < 3; i++) {
        (void)submit(&f, 8, MYR_RESTART_STRICT);
    }
    struct myr_explain_asker asker = {.submitted_ms = -1, .names = {call, "gpu"}};
    expect_told(&f, "job/0", &asker, "would start", "gpu-0001 in use");
    expect_told(&f, "job/1", &asker, "would start", "gpu-0001 and gpu-0002 in use");
    expect_told(&f, "job/2", &asker, "would start", "3 more nodes in use, gpu-0001 to gpu-0003");
    expect_told(&f, "job/1", NULL, "would start", "node/00000 and node/00001 in use");
    expect_told(&f, "job/1", NULL, "waits", myr_why_words(MYR_WHY_CLOSED));
    myr_control_free(f.control);
}

static void call_long(const void *context, uint32_t node, struct myr_buf *ret)
{
    (void)context;
    myr_buf_printf(ret, "%064u", node);
}

/* As many moves as are told, with the largest numbers: a fact has room for them. */
static void the_longest_fact_is_not_cut(void **state)
{
    (void)state;
    static const struct myr_node_names names = {call_long, NULL};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_trial t = {.kind = MYR_TRIAL_MOVE, .move_count = MYR_TRIAL_JOBS_MAX};
    for (uint32_t i = 0; i < t.move_count; i++) {
        struct myr_share share = {.node = UINT32_MAX, .gpus = UINT64_MAX};
        t.moves[i] = (struct myr_trial_move){UINT32_MAX, share, share};
    }
    myr_trial_text(&t, &names, &text);
    assert_true(text.len > 1000 && text.len < MYR_EXPLAIN_TEXT);
}

static void a_node_is_explained_in_every_state(void **state)
{
    (void)state;
    struct fixture f = fixture_of(12); /* one of which may be drained for a fault */
    uint32_t job = submit(&f, 8, MYR_RESTART_STRICT);
    say(&f, MYR_EVENT_STARTED, 0, job, 1, 0);
    expect(&f, "node/00000",
           "state: healthy\n"
           "heard: yes, boot 1\n"
           "used: yes\n"
           "blamed: 0 times for failures, though tests were good\n"
           "job: job/0, incarnation 1, 8 GPUs\n");
    tell(&f, (struct myr_event){
                 .kind = MYR_EVENT_STEP, .node = 0, .boot = 1, .job = job, .epoch = 1, .value = 1});
    say(&f, MYR_EVENT_EXIT, 0, job, 1, 1);
    expect(&f, "node/0",
           "state: suspect\n"
           "heard: yes, boot 1\n"
           "used: nothing new: it is under test\n"
           "blamed: 1 time for failures, though tests were good\n"
           "job: job/0, incarnation 1, 8 GPUs, not running\n");
    tell(&f, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 1});
    expect_fact(&f, "node/1", "used", "no: a person drains it");
    say(&f, MYR_EVENT_SYMPTOM, 2, 0, 0, MYR_SYMPTOM_FAILED);
    expect_fact(&f, "node/2", "used", "no: it failed and is drained");
    expect_fact(&f, "node/2", "state", "repair");
    say(&f, MYR_EVENT_SYMPTOM, 3, 0, 0, MYR_SYMPTOM_FAILED);
    expect_fact(&f, "node/3", "used",
                "no: it failed, and the limit of drains leaves it to a person");
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 4});
    expect_fact(&f, "node/4", "used", "nothing new: it is silent");
    expect_fact(&f, "node/4", "heard", "not now, boot 1");
    tell(&f, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = 5, .boot = 2});
    expect_fact(&f, "node/5", "used", "nothing new: it is under test");
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 5});
    tell(&f, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 2});
    expect_fact(&f, "node/2", "used", "no: a person drains it");
    myr_control_free(f.control);
    struct myr_place_shape shape = {2, 8, 4, 2};
    struct myr_control_policy policy = myr_control_policy_default();
    assert_int_equal(myr_control_create(&shape, &policy, 1, &f.control, NULL), MYR_OK);
    expect(&f, "node/1",
           "state: unknown\n"
           "heard: never\n"
           "used: no: it was never tested\n"
           "blamed: 0 times for failures, though tests were good\n");
    tell(&f, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 1});
    expect(&f, "node/1",
           "state: drained\n"
           "heard: never\n"
           "used: no: a person drains it\n"
           "blamed: 0 times for failures, though tests were good\n");
    myr_control_free(f.control);
}

static void ranks_left_behind_are_told_on_both_sides(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t job = submit(&f, 16, MYR_RESTART_EPOCH);
    say(&f, MYR_EVENT_STARTED, 0, job, 1, 0);
    say(&f, MYR_EVENT_STARTED, 1, job, 1, 0);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 1});
    wait_ms(&f, 30000);
    say(&f, MYR_EVENT_STOPPED, 0, job, 1, 0);
    expect_fact(&f, "job/0", "left behind", "1 rank of older incarnations");
    expect_fact(&f, "node/1", "job", "job/0, incarnation 1, 8 GPUs, left behind");
    expect_fact(&f, "node/2", "job", "job/0, incarnation 2, 8 GPUs");
    myr_control_free(f.control);
}

/* Sixteen are shown of however many there are. */
static void so_many_jobs_of_a_node_are_shown(void **state)
{
    (void)state;
    struct myr_place_shape shape = {1, 64, 1, 1};
    struct myr_control_policy policy = myr_control_policy_default();
    struct fixture f = {};
    assert_int_equal(myr_control_create(&shape, &policy, 1, &f.control, NULL), MYR_OK);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = 0, .boot = 1});
    tell(&f, (struct myr_event){.kind = MYR_EVENT_TESTED, .node = 0, .boot = 1, .epoch = 1});
    struct myr_explanation e;
    for (uint32_t jobs = 0; jobs < 40; jobs++) {
        assert_int_equal(myr_control_explain(f.control, "node/0", NULL, &e, NULL), MYR_OK);
        assert_int_equal(e.count, 4 + (jobs < 16 ? jobs : 16));
        (void)submit(&f, 1, MYR_RESTART_STRICT);
    }
    myr_control_free(f.control);
}

static void a_name_that_is_none_is_named(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",      "job",    "job/",   "node/", "node/x", "nodes/1",
                                        "Job/0", "job/-1", "job/1x", "12",    " job/0"};
    struct fixture f = fixture_of(2);
    (void)submit(&f, 8, MYR_RESTART_STRICT);
    struct myr_explanation e;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wrong); i++) {
        struct myr_err err = {};
        assert_int_equal(myr_control_explain(f.control, wrong[i], NULL, &e, &err), MYR_EINVAL);
        assert_non_null(strstr(err.message, "is no name"));
    }
    struct myr_err err = {};
    assert_int_equal(myr_control_explain(f.control, "job/0", NULL, &e, NULL), MYR_OK);
    assert_int_equal(myr_control_explain(f.control, "job/1", NULL, &e, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "there is no job 1, the state has 1"));
    assert_int_equal(myr_control_explain(f.control, "node/1", NULL, &e, NULL), MYR_OK);
    assert_int_equal(myr_control_explain(f.control, "node/2", NULL, &e, &err), MYR_ENOENT);
    myr_control_free(f.control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_explained_from_its_start_to_its_end),
        cmocka_unit_test(a_job_that_waits_is_told_what_it_lacks),
        cmocka_unit_test(a_job_that_waits_for_another_says_so),
        cmocka_unit_test(times_go_on_without_events),
        cmocka_unit_test(what_is_to_come_comes_nearer),
        cmocka_unit_test(nodes_have_the_names_of_the_site),
        cmocka_unit_test(the_longest_fact_is_not_cut),
        cmocka_unit_test(a_node_is_explained_in_every_state),
        cmocka_unit_test(ranks_left_behind_are_told_on_both_sides),
        cmocka_unit_test(so_many_jobs_of_a_node_are_shown),
        cmocka_unit_test(a_name_that_is_none_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
