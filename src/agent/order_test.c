#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "order.h"

static const struct order example = {.job = 5,
                                     .gpus = 0xF0,
                                     .epoch = 2,
                                     .first_rank = 4,
                                     .world = 8,
                                     .node_rank = 1,
                                     .node_count = 2,
                                     .lease_s = 60,
                                     .master = {"head 29500", 10},
                                     .user = {"ada", 3},
                                     .boot = {"b", 1},
                                     .tag = {"t", 1},
                                     .socket = {"/s", 2},
                                     .state = {"/st", 3},
                                     .spec = {"command: x\njob 9\nspec 4\n", 24}};

static void what_is_written_reads_the_same(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct order order;
    struct myr_err err = {};
    order_write(&example, &text);
    assert_int_equal(order_read("f", (struct myr_str){text.data, text.len}, &order, &err), MYR_OK);
    assert_int_equal(order.job, 5); /* not the user's 9 */
    assert_int_equal(order.gpus, 0xF0);
    assert_int_equal(order_ranks(&order), 4);
    assert_true(myr_str_eq(order.spec, example.spec) && myr_str_eq(order.user, example.user));
    assert_true(myr_str_eq(order.master, example.master));
}

static void a_name_with_a_line_end_adds_no_line(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct order order = example;
    struct myr_err err = {};
    order.master = MYR_STR("x\nuser root");
    order_write(&order, &text);
    assert_int_equal(order_read("f", (struct myr_str){text.data, text.len}, &order, &err), MYR_OK);
    assert_true(myr_str_eq(order.user, MYR_STR("ada")));
}

static void any_piece_that_is_missing_is_noticed(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct order order;
    struct myr_err err = {};
    order_write(&example, &text);
    for (size_t len = 0; len < text.len; len++) {
        assert_int_equal(order_read("f", (struct myr_str){text.data, len}, &order, &err),
                         MYR_ECORRUPT);
    }
    struct order bad = example;
    bad.world = 7; /* ranks 4 to 7 of seven */
    myr_buf_clear(&text);
    order_write(&bad, &text);
    assert_int_equal(order_read("f", (struct myr_str){text.data, text.len}, &order, &err),
                     MYR_ECORRUPT);
}

static void an_ending_reads_the_same(void **state)
{
    (void)state;
    struct myr_err err = {};
    for (int kind = 0; kind < ENDING_KINDS; kind++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        struct ending ending = {.kind = (enum ending_kind)kind,
                                .rank = 3,
                                .code = 139,
                                .signal = 11,
                                .line = MYR_STR("Error: \033[1mbad\nkind start")};
        struct ending again;
        ending_write(&ending, &text);
        assert_int_equal(ending_read("f", (struct myr_str){text.data, text.len}, &again, &err),
                         MYR_OK);
        assert_int_equal(again.kind, kind);
        assert_int_equal(again.rank, 3);
        assert_int_equal(again.code, 139);
        assert_int_equal(again.signal, 11);
        assert_true(myr_str_eq(again.line, MYR_STR("Error: ?[1mbad?kind start")));
    }
}

/* A number of a process says nothing without the time at which it began. */
static void a_signal_goes_to_the_process_that_was_meant(void **state)
{
    (void)state;
    char how;
    pid_t parent;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    uint64_t began = process_began(pid, &parent, &how);
    assert_true(began > 0);
    assert_int_equal(parent, getpid());
    process_signal(pid, began + 1, SIGKILL); /* another one with its number */
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    process_signal(pid, began, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(process_began(pid, NULL, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_the_same),
        cmocka_unit_test(a_name_with_a_line_end_adds_no_line),
        cmocka_unit_test(any_piece_that_is_missing_is_noticed),
        cmocka_unit_test(an_ending_reads_the_same),
        cmocka_unit_test(a_signal_goes_to_the_process_that_was_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
