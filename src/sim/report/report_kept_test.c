#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sim.h"
#include "myriad/sim/question.h"

/*
 * The page of a run of several jobs and many flows, and the drawings of a fabric with more switches
 * than there are cells: from the first to the last byte.
 */

static void read_back(const char *path, struct myr_buf *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    assert_int_equal(myr_file_read(path, 1 << 24, &file, NULL), MYR_OK);
    myr_buf_put(text, file.data, file.len);
    unlink(path);
}

static void ask(struct myr_sim_answer *answer, const char *topology, const char *const *jobs,
                uint32_t count, const char *step)
{
    struct myr_sim_question question = {.topology = topology,
                                        .workloads = {jobs, count},
                                        .balance = {MYR_POLICY_ECMP_CRC, 3, false},
                                        .queue_pairs = 2,
                                        .efficiency_permille = 950,
                                        .sharing_loss_permille = 120,
                                        .pause_permille = 300,
                                        .message_overhead = "1.5us",
                                        .series_step = step,
                                        .keep_paths = true};
    struct myr_err err = {};
    if (myr_sim_ask(answer, &question, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static void a_page_of_several_jobs_is_the_kept_one(void **state)
{
    (void)state;
    static const char *const jobs[] = {"permutation:1MB,seed=4", "incast:20:1,50KB",
                                       "allreduce:ring,1MB,ranks=8"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_sim_answer answer;
    char page[] = "/tmp/myriad-page-XXXXXX";
    close(mkstemp(page));
    ask(&answer, "fat-tree:k=6,gbps=200,delay=700ns", jobs, MYR_ARRAY_COUNT(jobs), NULL);
    struct myr_sim_files files = {.report = page};
    assert_int_equal(myr_sim_files_write(&answer, &files, NULL), MYR_OK);
    read_back(page, &text);
    assert_kept("sim-page.html", &text);
    myr_sim_answer_done(&answer);
}

static void lists_of_a_run_are_the_kept_ones(void **state)
{
    (void)state;
    static const char *const jobs[] = {"incast:3:1,100KB", "allgather:ring,20KB,ranks=4",
                                       ("step:llama3-8b,tp=1,pp=2,micro_batch=1,global_batch=2,"
                                        "tflops=999999,ranks=2")};
    char names[5][32];
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_sim_answer answer;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        snprintf(names[i], sizeof(names[i]), "/tmp/myriad-list-XXXXXX");
        close(mkstemp(names[i]));
    }
    ask(&answer, "fat-tree:k=4", jobs, 2, "4us");
    struct myr_sim_files files = {.fct = names[0],
                                  .flows = names[1],
                                  .paths = names[2],
                                  .trace = names[3],
                                  .series = names[4]};
    assert_int_equal(myr_sim_files_write(&answer, &files, NULL), MYR_OK);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        read_back(names[i], &text);
    }
    myr_sim_answer_done(&answer);
    /* Computing is in the list of tasks and on the timeline. */
    ask(&answer, "fat-tree:k=4", &jobs[2], 1, NULL);
    files = (struct myr_sim_files){.flows = names[1], .trace = names[3]};
    assert_int_equal(myr_sim_files_write(&answer, &files, NULL), MYR_OK);
    read_back(names[1], &text);
    read_back(names[3], &text);
    myr_sim_answer_done(&answer);
    assert_kept("sim-lists.txt", &text);
}

static void a_cell_may_be_several_switches(void **state)
{
    (void)state;
    static const char *const job[] = {"permutation:100KB,seed=9"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_sim_answer answer;
    char map[] = "/tmp/myriad-map-XXXXXX";
    close(mkstemp(map));
    ask(&answer, "fat-tree:k=12", job, 1, NULL);
    struct myr_sim_files files = {.heatmap = map};
    assert_int_equal(myr_sim_files_write(&answer, &files, NULL), MYR_OK);
    read_back(map, &text);
    assert_kept("sim-map.svg", &text);
    myr_sim_answer_done(&answer);
}

/* Bars and axis of times that are drawn: few, one, far apart, and hours of them. */
static void any_times_have_an_axis(void **state)
{
    (void)state;
    static const char *const jobs[] = {"permutation:1B", "permutation:2MB,ranks=2",
                                       "incast:15:1,1B", "permutation:900TB,seed=2",
                                       "incast:7:1,123456B"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(jobs); i++) {
        struct myr_sim_answer answer;
        MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
        char path[] = "/tmp/myriad-times-XXXXXX";
        close(mkstemp(path));
        ask(&answer, "fat-tree:k=4", &jobs[i], 1, NULL);
        struct myr_sim_files files = {.report = path};
        assert_int_equal(myr_sim_files_write(&answer, &files, NULL), MYR_OK);
        read_back(path, &page);
        myr_buf_printf(&text, "%s\n", jobs[i]);
        for (const char *from = page.data, *to; (from = strstr(from, "<svg")); from = to) {
            to = strstr(from, "</svg>");
            assert_non_null(to);
            if (memmem(from, (size_t)(to - from), "curve", 5)) { /* the one of the times */
                myr_buf_put(&text, from, (size_t)(to - from));
                myr_buf_puts(&text, "</svg>\n");
            }
        }
        myr_sim_answer_done(&answer);
    }
    assert_kept("sim-times.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_of_several_jobs_is_the_kept_one),
        cmocka_unit_test(lists_of_a_run_are_the_kept_ones),
        cmocka_unit_test(a_cell_may_be_several_switches),
        cmocka_unit_test(any_times_have_an_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
