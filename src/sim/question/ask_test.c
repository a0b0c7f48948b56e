#include "myriad/sim/question.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "myriad/sim.h"

/* One question on a fat tree; further settings are put into it by the test. */
static struct myr_sim_question ask_for(const char *const *workloads, uint32_t count)
{
    return (struct myr_sim_question){.topology = "fat-tree:k=4,gbps=100,delay=1us",
                                     .workloads = {workloads, count},
                                     .queue_pairs = 1,
                                     .efficiency_permille = 1000};
}

static void a_single_flow_takes_what_the_wire_says(void **state)
{
    (void)state;
    static const char *const workloads[] = {"incast:1:1,1MB,ranks=2"};
    struct myr_sim_question question = ask_for(workloads, 1);
    struct myr_sim_answer answer;
    assert_int_equal(myr_sim_ask(&answer, &question, NULL), MYR_OK);
    /* Two links of 1 us and 8 Mb at 100 Gb/s. */
    assert_int_equal(answer.result.end, 82 * MYR_PS_PER_US);
    assert_int_equal(answer.times.flows, 1);
    assert_int_equal(myr_times_percentile(&answer.times, 50), 82 * MYR_PS_PER_US);
    assert_int_equal(answer.rates.count, 1);
    assert_true(answer.rates.mean == 1 && answer.rates.full_share == 1 && answer.rates.p1 == 1);
    assert_true(answer.rates.least == 1 && answer.rates.mean_slowdown == 1);
    assert_true(answer.load_max > 0.97 && answer.load_max < 0.98);
    assert_true(answer.load_mean == answer.load_max);
    assert_int_equal(answer.jobs[0].end, 82 * MYR_PS_PER_US);
    assert_int_equal(answer.jobs[0].alone, 0);
    assert_true(answer.jobs[0].slowdown == 1);
    assert_true(answer.jobs[0].bus_gbytes_per_s == 0);
    myr_sim_answer_done(&answer);
}

static void rates_of_an_incast_are_shared(void **state)
{
    (void)state;
    static const char *const workloads[] = {"incast:4:1,1MB"};
    struct myr_sim_question question = ask_for(workloads, 1);
    struct myr_sim_answer answer;
    assert_int_equal(myr_sim_ask(&answer, &question, NULL), MYR_OK);
    assert_int_equal(answer.rates.count, 4);
    assert_true(answer.rates.mean > 0.2499 && answer.rates.mean < 0.2501);
    assert_true(answer.rates.mean_slowdown > 3.999 && answer.rates.mean_slowdown < 4.001);
    assert_true(answer.rates.full_share == 0);
    myr_sim_answer_done(&answer);
}

static void percentiles_of_an_all_reduce_are_those_of_its_flows(void **state)
{
    (void)state;
    static const char *const workloads[] = {"allgather:halving,1MB"};
    struct myr_sim_question question = ask_for(workloads, 1);
    struct myr_sim_answer answer;
    assert_int_equal(myr_sim_ask(&answer, &question, NULL), MYR_OK);
    assert_int_equal(answer.times.flows, 16 * 4);
    assert_int_equal(answer.times.flows, answer.result.flows);
    myr_ps p50 = myr_times_percentile(&answer.times, 50);
    myr_ps p99 = myr_times_percentile(&answer.times, 99);
    myr_ps max = myr_times_percentile(&answer.times, 100);
    assert_true(p50 < p99 && p99 == max); /* the last round is a quarter of all flows */
    assert_true(myr_times_mean_us(&answer.times) < (double)max / (double)MYR_PS_PER_US);
    assert_int_equal(answer.rates.count, 0);
    const struct myr_sim_job *job = &answer.jobs[0];
    double seconds = (double)job->end / (double)MYR_PS_PER_S;
    assert_true(job->algorithm_gbytes_per_s == 1e6 / 1e9 / seconds);
    assert_true(job->bus_gbytes_per_s ==
                job->algorithm_gbytes_per_s * myr_collective_bus_factor(MYR_ALL_GATHER, 16));
    myr_sim_answer_done(&answer);
}

static void computing_is_no_flow(void **state)
{
    (void)state;
    static const char *const workloads[] = {
        "step:llama3-8b,tp=1,pp=8,micro_batch=1,global_batch=8"};
    struct myr_sim_question question = ask_for(workloads, 1);
    struct myr_sim_answer answer;
    assert_int_equal(myr_sim_ask(&answer, &question, NULL), MYR_OK);
    uint64_t flows = 0;
    for (size_t i = 0; i < answer.times.count; i++) {
        flows += answer.times.items[i].flows;
    }
    assert_int_equal(flows, answer.times.flows);
    assert_true(answer.times.count < myr_sim_task_count(answer.sim));
    myr_sim_answer_done(&answer);
}

static void jobs_are_compared_with_running_alone(void **state)
{
    (void)state;
    static const char *const workloads[] = {"incast:3:1,1MB,ranks=8",
                                            "incast:3:1,1MB,ranks=8,seed=2"};
    struct myr_sim_question question = ask_for(workloads, 2);
    struct myr_sim_answer answer;
    assert_int_equal(myr_sim_ask(&answer, &question, NULL), MYR_OK);
    assert_int_equal(answer.job_count, 2);
    assert_int_equal(answer.times.flows, 6);
    for (uint32_t i = 0; i < 2; i++) {
        const struct myr_sim_job *job = &answer.jobs[i];
        assert_true(job->alone > 0 && job->end > job->alone);
        assert_true(job->slowdown == (double)job->end / (double)job->alone);
        assert_true(job->slowdown > 1.9); /* both end at GPU 0 */
        assert_string_equal(job->load.words, workloads[i]);
    }
    assert_int_equal(answer.rates.count, 0);
    myr_sim_answer_done(&answer);
}

static void every_setting_reaches_the_engine(void **state)
{
    (void)state;
    static const char *const workloads[] = {"allreduce:ring,1MB"};
    static const char *const faults[] = {"link/1:degrade=0.5@0ns"};
    static const char *const slow[] = {"node/00003:0.5"};
    struct myr_sim_question question = ask_for(workloads, 1);
    question.balance = (struct myr_balance_options){MYR_POLICY_ADAPTIVE, 42, true};
    question.queue_pairs = 3;
    question.efficiency_permille = 900;
    question.sharing_loss_permille = 10;
    question.pause_permille = 20;
    question.message_overhead = "2us";
    question.faults = (struct myr_sim_words){faults, 1};
    question.slow = (struct myr_sim_words){slow, 1};
    struct myr_sim_answer answer;
    assert_int_equal(myr_sim_ask(&answer, &question, NULL), MYR_OK);
    assert_true(answer.engine.balance.policy == MYR_POLICY_ADAPTIVE &&
                answer.engine.balance.seed == 42 && answer.engine.balance.polarised);
    assert_int_equal(answer.engine.queue_pairs, 3);
    assert_int_equal(answer.engine.efficiency_permille, 900);
    assert_int_equal(answer.engine.sharing_loss_permille, 10);
    assert_int_equal(answer.engine.pause_permille, 20);
    assert_int_equal(answer.engine.message_ps, 2 * MYR_PS_PER_US);
    assert_int_equal(answer.engine.link_ps, MYR_PS_PER_US);
    assert_int_equal(answer.engine.switch_ps, 0);
    assert_int_equal(myr_sim_node_permille(answer.sim, 3), 500);
    myr_sim_answer_done(&answer);
}

static void unclear_questions_get_one_line(void **state)
{
    (void)state;
    static const char *const good[] = {"permutation:1MB"};
    static const char *const twice[] = {"permutation:1MB", "file:-,format=goal"};
    static const char *const bad[] = {"nonsense:1MB"};
    static const char *const ring[] = {"allreduce:rong,1MB"}, *const gpus[] = {"allgather:gpus=4"};
    const struct {
        struct myr_sim_question question;
        const char *message;
    } cases[] = {
        {{.topology = "fat-tree:k=4"}, "give --workload WORDS"},
        {{.workloads = {good, 1}}, "give --design FILE or --topology WORDS"},
        {{.workloads = {good, 1}, .topology = "fat-tree:k=4", .design = "x.myr"},
         "--topology does not go with --design: one fabric is asked"},
        {{.workloads = {good, 1}, .topology = "fat-tree:k=4", .message_overhead = "2"},
         "--message-overhead is '2', a time such as 2us is expected"},
        {{.workloads = {twice, 2}, .topology = "fat-tree:k=4"}, "--job: several workloads"},
        {{.workloads = {bad, 1}, .topology = "fat-tree:k=4"}, "unknown workload 'nonsense'"},
        {{.workloads = {ring, 1}, .topology = "fat-tree:k=4"},
         "--workload: 'rong' is neither an algorithm (ring, tree, halving, pairwise, hier, "
         "in-network, auto) nor a size such as 1MB"},
        {{.workloads = {gpus, 1}, .topology = "fat-tree:k=4"},
         "a size such as 1MB is expected, not 'gpus=4'"},
        {{.workloads = {good, 1}, .topology = "fat-tree:k=1000"},
         "'k=1000' is not understood; k=EVEN up to 128, gbps=N up to 100000"},
        {{.workloads = {good, 1}, .topology = "fat-tree:k=7"}, "'k=7' is not understood"},
        {{.workloads = {good, 1}, .topology = "fat-tree:k=4,gbps=9,k=6"}, "'k' is given twice"},
        {{.workloads = {good, 1}, .topology = "fat-tree:k=8,gbps=100001"}, "'gbps=100001' is not"},
        {{.workloads = {good, 1}, .topology = "fat-tree:k=4", .net = MYR_NET_STORAGE}, "storage"},
        {{.workloads = {good, 1}, .design = "/nonexistent.myr"}, "/nonexistent.myr"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_sim_answer answer;
        struct myr_err err = {};
        assert_true(myr_sim_ask(&answer, &cases[i].question, &err) < 0);
        if (!strstr(err.message, cases[i].message)) {
            fail_msg("case %zu: '%s'", i, err.message);
        }
        myr_sim_answer_done(&answer);
    }
}

static void count_calls(void *context, uint64_t done, uint64_t total)
{
    uint64_t *calls = context;
    assert_true(done <= total);
    ++*calls;
}

static void long_work_reports_its_progress(void **state)
{
    (void)state;
    static const char *const workloads[] = {"alltoall:1MB"};
    struct myr_sim_question question = ask_for(workloads, 1);
    struct myr_sim_answer answer;
    uint64_t calls = 0;
    question.topology = "fat-tree:k=8";
    question.workloads.items = (const char *const[]){"permutation:1MB,seed=3"};
    question.progress = count_calls;
    question.progress_context = &calls;
    assert_int_equal(myr_sim_ask(&answer, &question, NULL), MYR_OK);
    assert_true(calls > 0);
    myr_sim_answer_done(&answer);
}

static void files_are_written_and_say_what_they_show(void **state)
{
    (void)state;
    static const char *const workloads[] = {"allreduce:ring,1MB"};
    struct myr_sim_question question = ask_for(workloads, 1);
    struct myr_sim_answer answer;
    char page[] = "/tmp/myriad-page-XXXXXX", rows[] = "/tmp/myriad-rows-XXXXXX";
    char map[] = "/tmp/myriad-map-XXXXXX";
    close(mkstemp(page));
    close(mkstemp(rows));
    close(mkstemp(map));
    question.pause_permille = 123;
    assert_int_equal(myr_sim_ask(&answer, &question, NULL), MYR_OK);
    struct myr_sim_files files = {.report = page, .heatmap = map, .fct = rows};
    assert_int_equal(myr_sim_files_write(&answer, &files, NULL), MYR_OK);
    struct myr_buf text = {};
    assert_int_equal(myr_file_read(page, 1 << 20, &text, NULL), MYR_OK);
    assert_non_null(strstr(text.data, "victims lose 12.3 % of their lead"));
    assert_non_null(strstr(text.data, "Completion times"));
    assert_non_null(strstr(text.data, "fullest link"));
    assert_non_null(strstr(text.data, "completion time, us"));
    myr_buf_clear(&text);
    assert_int_equal(myr_file_read(rows, 1 << 20, &text, NULL), MYR_OK);
    uint32_t lines = 0;
    for (size_t i = 0; i < text.len; i++) {
        lines += text.data[i] == '\n';
    }
    assert_int_equal(lines, 1 + answer.times.flows);
    myr_buf_clear(&text);
    assert_int_equal(myr_file_read(map, 1 << 20, &text, NULL), MYR_OK);
    assert_non_null(strstr(text.data, "Load of the links"));
    /* One that cannot be written leaves the others as they were. */
    static const char stale[] = "as it was\n";
    myr_buf_clear(&text);
    myr_buf_put_lit(&text, stale);
    assert_int_equal(myr_file_write(page, &text, NULL), MYR_OK);
    struct myr_err err = {};
    files.fct = "/dev/null/rows.csv";
    assert_true(myr_sim_files_write(&answer, &files, &err) < 0);
    assert_non_null(strstr(err.message, "/dev/null/rows.csv"));
    myr_buf_clear(&text);
    assert_int_equal(myr_file_read(page, 1 << 20, &text, NULL), MYR_OK);
    assert_string_equal(text.data, stale);
    myr_buf_done(&text);
    myr_sim_answer_done(&answer);
    unlink(page);
    unlink(rows);
    unlink(map);
}

static void a_contention_table_needs_a_fabric_and_a_place(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_arena arena;
    struct myr_contention table;
    const char *path;
    myr_arena_init(&arena);
    struct myr_contention_question question = {.topology = "fat-tree:k=4",
                                               .out = "/tmp/never-written"};
    question.net = MYR_NET_STORAGE;
    assert_int_equal(myr_contention_ask(&table, &path, &arena, &question, &err), MYR_ENOENT);
    question.design = "/nonexistent.myr";
    assert_int_equal(myr_contention_ask(&table, &path, &arena, &question, &err), MYR_EINVAL);
    question.design = NULL;
    question.out = NULL;
    assert_int_equal(myr_contention_ask(&table, &path, &arena, &question, &err), MYR_EINVAL);
    assert_string_equal(err.message, "give --out FILE: a --topology has no folder");
    myr_arena_done(&arena);
}

static void a_contention_table_is_written_where_it_is_asked_for(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_contention table, back;
    char out[] = "/tmp/myriad-table-XXXXXX";
    const char *path;
    uint64_t calls = 0;
    close(mkstemp(out));
    myr_arena_init(&arena);
    assert_string_equal(myr_contention_path(&arena, "a/b/design.myr"), "a/b/contention.json");
    assert_string_equal(myr_contention_path(&arena, "design.myr"), "contention.json");
    struct myr_contention_question question = {.topology = "fat-tree:k=4",
                                               .out = out,
                                               .balance = {.policy = MYR_POLICY_ECMP_CRC},
                                               .progress = count_calls,
                                               .progress_context = &calls};
    assert_int_equal(myr_contention_ask(&table, &path, &arena, &question, NULL), MYR_OK);
    assert_string_equal(path, out);
    assert_int_equal(calls, MYR_CONTENTION_LEVELS * MYR_CONTENTION_PATTERNS);
    assert_int_equal(myr_contention_read(out, &back, NULL), MYR_OK);
    assert_int_equal(back.gpus, 16);
    assert_true(table.cells[MYR_CONTENTION_RING][MYR_CONTENTION_FABRIC][0].mean >= 1);
    myr_arena_done(&arena);
    unlink(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_flow_takes_what_the_wire_says),
        cmocka_unit_test(rates_of_an_incast_are_shared),
        cmocka_unit_test(percentiles_of_an_all_reduce_are_those_of_its_flows),
        cmocka_unit_test(computing_is_no_flow),
        cmocka_unit_test(jobs_are_compared_with_running_alone),
        cmocka_unit_test(every_setting_reaches_the_engine),
        cmocka_unit_test(unclear_questions_get_one_line),
        cmocka_unit_test(long_work_reports_its_progress),
        cmocka_unit_test(files_are_written_and_say_what_they_show),
        cmocka_unit_test(a_contention_table_needs_a_fabric_and_a_place),
        cmocka_unit_test(a_contention_table_is_written_where_it_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
