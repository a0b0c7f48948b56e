#include "myriad/sched/replay_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sched/replay_report.h"

/* Two nodes: b holds both, a's job waits; then a gang of two and a small job. */
static const char trace_text[] = "submit_s,duration_s,num_gpus,vc\n"
                                 "0,3600,8,b\n"
                                 "0,7200,8,b\n"
                                 "0,5,0,b\n"
                                 "60,1800,8,a\n"
                                 "120,600,16,c\n"
                                 "180,60,1,a\n";

static char trace_path[] = "/tmp/myr-ask-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(trace_path);
    ssize_t put = fd < 0 ? -1 : write(fd, trace_text, sizeof(trace_text) - 1);
    close(fd);
    return put == sizeof(trace_text) - 1 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(trace_path);
}

static struct myr_replay_question question(void)
{
    return (struct myr_replay_question){
        .trace = trace_path,
        .cluster = {.nodes = 2, .gpus_per_node = 8, .leaf_nodes = 1},
        .policy = MYR_REPLAY_FIRST_FIT,
        .seed = 1,
    };
}

static void an_answer_sums_up_by_tenant_and_by_size(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_replay_answer a;
    struct myr_err err = {};
    struct myr_replay_question asked = question();
    myr_arena_init(&arena);
    assert_int_equal(myr_replay_ask(&asked, &arena, &a, &err), MYR_OK);
    assert_int_equal(a.result.jobs, 5);
    assert_int_equal(a.trace.left_out, 1);
    assert_false(a.has_tenants || a.explained);
    /* b runs at once; a's node comes free after an hour; the gang needs both nodes. */
    assert_int_equal(a.tenant_count, 3);
    assert_string_equal(a.tenants[0].name, "b");
    assert_null(a.tenants[0].parent);
    assert_int_equal(a.tenants[0].jobs, 2);
    assert_true(a.tenants[0].gpu_hours == 24 && a.tenants[0].wait_max_h == 0);
    assert_string_equal(a.tenants[1].name, "a");
    assert_int_equal(a.tenants[1].jobs, 2);
    assert_true(a.tenants[1].wait_max_h > 0.98);
    assert_string_equal(a.tenants[2].name, "c");
    assert_true(a.tenants[2].wait_mean_h == a.tenants[2].wait_max_h);
    /* Sizes: 1, 8 and 16 GPUs. */
    assert_int_equal(a.size_count, 3);
    assert_int_equal(a.sizes[0].gpus, 1);
    assert_int_equal(a.sizes[1].gpus, 8);
    assert_int_equal(a.sizes[1].jobs, 3);
    assert_int_equal(a.sizes[2].gpus, 16);
    assert_true(a.sizes[2].span == 1 && a.sizes[1].span == 1); /* two leaves are the fewest */
    assert_true(a.sizes[1].wait_p99_h > a.sizes[1].wait_mean_h);
    /* The gang waited longest, then a's jobs. */
    assert_int_equal(a.longest_count, 5);
    assert_int_equal(a.longest[0].line, 6);
    assert_int_equal(a.longest[0].gpus, 16);
    assert_string_equal(a.longest[0].tenant, "c");
    for (uint32_t i = 1; i < a.longest_count; i++) {
        assert_true(a.longest[i].wait_h <= a.longest[i - 1].wait_h);
    }
    assert_true(a.longest[0].wait_h == a.result.wait_max_h);
    myr_replay_answer_done(&a);
    myr_arena_done(&arena);
}

static void tenants_stand_behind_their_parents(void **state)
{
    (void)state;
    static const char *const own[] = {"org/a=1n,3w", "org/c=0n,2w", "top/mid/b=0n,1w"};
    struct myr_arena arena;
    struct myr_replay_answer a;
    struct myr_err err = {};
    struct myr_replay_question asked = question();
    asked.own = own;
    asked.own_count = MYR_ARRAY_COUNT(own);
    myr_arena_init(&arena);
    assert_int_equal(myr_replay_ask(&asked, &arena, &a, &err), MYR_OK);
    static const struct {
        const char *name, *parent;
        uint32_t depth, weight, own_nodes;
    } rows[] = {{"org", NULL, 0, 1, 0}, {"a", "org", 1, 3, 1},   {"c", "org", 1, 2, 0},
                {"top", NULL, 0, 1, 0}, {"mid", "top", 1, 1, 0}, {"b", "mid", 2, 1, 0}};
    assert_true(a.has_tenants);
    assert_int_equal(a.tenant_count, MYR_ARRAY_COUNT(rows));
    for (uint32_t i = 0; i < a.tenant_count; i++) {
        assert_string_equal(a.tenants[i].name, rows[i].name);
        assert_true(!a.tenants[i].parent == !rows[i].parent);
        if (rows[i].parent) {
            assert_string_equal(a.tenants[i].parent, rows[i].parent);
        }
        assert_int_equal(a.tenants[i].depth, rows[i].depth);
        assert_int_equal(a.tenants[i].weight, rows[i].weight);
        assert_int_equal(a.tenants[i].own_nodes, rows[i].own_nodes);
    }
    assert_true(a.tenants[1].wait_max_h < 0.51); /* in its own cell at once */
    assert_true(a.result.preemptions > 0);
    myr_replay_answer_done(&a);
    myr_arena_done(&arena);
}

static void policies_are_those_of_the_queue(void **state)
{
    (void)state;
    uint64_t hash[MYR_REPLAY_POLICIES];
    for (uint32_t policy = 0; policy < MYR_REPLAY_POLICIES; policy++) {
        struct myr_arena arena;
        struct myr_replay_answer a;
        struct myr_err err = {};
        struct myr_replay_question asked = question();
        asked.policy = (enum myr_replay_policy)policy;
        myr_arena_init(&arena);
        assert_int_equal(myr_replay_ask(&asked, &arena, &a, &err), MYR_OK);
        hash[policy] = a.result.hash;
        struct myr_replay_options options = myr_replay_default(&a.cluster.shape);
        options.policy = myr_queue_policy_preset((enum myr_queue_preset)policy);
        struct myr_replay_result plain;
        assert_int_equal(myr_replay(&a.trace, &options, &plain, &err), MYR_OK);
        assert_true(plain.hash == a.result.hash);
        myr_replay_result_done(&plain);
        myr_replay_answer_done(&a);
        myr_arena_done(&arena);
    }
    assert_true(hash[MYR_REPLAY_FIFO] != hash[MYR_REPLAY_FIRST_FIT]); /* the gang blocks */
}

static void a_wait_is_explained_by_lines_of_the_trace(void **state)
{
    (void)state;
    static const struct {
        const char *which;
        uint32_t line; /* 0: refused */
    } cases[] = {{"longest", 6}, {"5", 5}, {"2", 2}, {"4", 0}, {"99", 0},
                 {"0", 0},       {"x", 0}, {"", 0},  {"-2", 0}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_arena arena;
        struct myr_replay_answer a;
        struct myr_err err = {};
        struct myr_replay_question asked = question();
        asked.explain = cases[i].which;
        myr_arena_init(&arena);
        int rc = myr_replay_ask(&asked, &arena, &a, &err);
        assert_int_equal(rc == MYR_OK, cases[i].line > 0);
        if (rc == MYR_OK) {
            assert_true(a.explained);
            assert_int_equal(a.explained_job.line, cases[i].line);
            for (uint32_t k = 0; k < a.why.stop_count; k++) {
                assert_true(a.why.stops[k] >= 2 && a.why.stops[k] <= 7);
            }
            assert_int_equal(a.why.kind == MYR_WHY_NOTHING, cases[i].line == 2);
            myr_replay_answer_done(&a);
        } else {
            assert_non_null(strstr(err.message, "--explain"));
        }
        myr_arena_done(&arena);
    }
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    static const char *const bad_own[] = {"nobody=1n"};
    struct myr_replay_question cases[5];
    static const char *const messages[] = {"no cluster is given", "cannot open", "cannot open",
                                           "nobody", "--explain 'no such job'"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        cases[i] = question();
    }
    cases[0].cluster.nodes = 0;
    cases[1].trace = "/nowhere/jobs.csv";
    cases[2].tenants = "/nowhere/tenants.yaml";
    cases[3].own = bad_own;
    cases[3].own_count = 1;
    cases[4].explain = "no such job";
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_arena arena;
        struct myr_replay_answer a;
        struct myr_err err = {};
        myr_arena_init(&arena);
        assert_true(myr_replay_ask(&cases[i], &arena, &a, &err) < 0);
        assert_non_null(strstr(err.message, messages[i]));
        myr_arena_done(&arena);
    }
}

static uint64_t seen_total, seen_rows;

static void see(void *context, const char *what, uint64_t done, uint64_t total)
{
    if (strcmp(what, "rows read") == 0) {
        assert_int_equal(total, 0);
        seen_rows = done;
        return;
    }
    assert_string_equal(what, "jobs ended");
    assert_true(done <= total);
    *(uint64_t *)context += 1;
    seen_total = total;
}

static int64_t tick(void)
{
    static int64_t now_ns;
    return now_ns += 5;
}

static void progress_and_clock_are_the_callers(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_replay_answer a;
    struct myr_err err = {};
    struct myr_replay_question asked = question();
    struct myr_buf text = {};
    uint64_t calls = 0;
    char path[] = "/tmp/myr-ask-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    myr_buf_puts(&text, "submit_s,duration_s,num_gpus\n");
    for (uint32_t i = 0; i < 5000; i++) {
        myr_buf_printf(&text, "%u,1,1\n", i);
    }
    assert_int_equal(write(fd, text.data, text.len), (ssize_t)text.len);
    close(fd);
    asked.trace = path;
    asked.progress = see;
    asked.context = &calls;
    asked.clock_ns = tick;
    myr_arena_init(&arena);
    assert_int_equal(myr_replay_ask(&asked, &arena, &a, &err), MYR_OK);
    assert_int_equal(calls, 4); /* every 1,024 jobs */
    assert_int_equal(seen_total, 5000);
    assert_int_equal(seen_rows, 5000);
    assert_int_equal(a.took_ns, 5);
    myr_replay_answer_done(&a);
    myr_arena_done(&arena);
    myr_buf_done(&text);
    unlink(path);
}

static void the_report_shows_figures_drawings_and_what_was_assumed(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_replay_answer a;
    struct myr_err err = {};
    struct myr_replay_question asked = question();
    struct myr_buf page = {};
    asked.samples = 50;
    asked.cluster.gpus_per_node = 0;
    myr_arena_init(&arena);
    assert_int_equal(myr_replay_ask(&asked, &arena, &a, &err), MYR_OK);
    assert_int_equal(a.result.samples.count, 50);
    myr_replay_page(&asked, &a, &page);
    static const char *const parts[] = {
        "2 nodes of 8 GPUs (assumed), 1 node a leaf, policy first-fit",
        "Wait by size of the job",
        "16 GPUs, 1 job",
        "59 min",
        "GPUs in use, and asked for",
        "Leaves above the fewest possible",
        "by size of the job; 0 is as near as the size allows",
        "Whole free nodes",
        "The longest waits",
        "</html>"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        if (!strstr(page.data, parts[i])) {
            fail_msg("the page lacks '%s'", parts[i]);
        }
    }
    uint32_t drawings = 0;
    for (const char *at = page.data; (at = strstr(at, "<svg")); at++) {
        drawings++;
    }
    assert_int_equal(drawings, 2 * MYR_REPLAY_CHARTS); /* for a desk and for a phone */
    for (uint32_t i = 0; i < MYR_REPLAY_CHARTS; i++) {
        struct myr_buf chart = {};
        myr_replay_chart(&a, i, MYR_CHART_PAGE, &chart);
        assert_non_null(strstr(page.data, chart.data));
        myr_buf_clear(&chart);
        myr_replay_chart(&a, i, MYR_CHART_WIDE, &chart); /* a file is one drawing */
        assert_ptr_equal(strstr(chart.data, "<svg"), chart.data);
        assert_null(strstr(chart.data + 1, "<svg"));
        assert_non_null(strstr(myr_replay_chart_names[i], ".svg"));
        myr_buf_done(&chart);
    }
    /* All of it but the folder of the trace. */
    struct myr_buf whole = {};
    for (char *at = page.data, *next; at; at = next) {
        next = strstr(at, trace_path);
        myr_buf_put(&whole, at, next ? (size_t)(next - at) : strlen(at));
        next = next ? next + strlen(trace_path) : NULL;
    }
    assert_kept("sched-page.html", &whole);
    myr_buf_done(&whole);
    myr_buf_done(&page);
    myr_replay_answer_done(&a);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_sums_up_by_tenant_and_by_size),
        cmocka_unit_test(tenants_stand_behind_their_parents),
        cmocka_unit_test(policies_are_those_of_the_queue),
        cmocka_unit_test(a_wait_is_explained_by_lines_of_the_trace),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(progress_and_clock_are_the_callers),
        cmocka_unit_test(the_report_shows_figures_drawings_and_what_was_assumed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
