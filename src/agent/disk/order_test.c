#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "disk/order.h"

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

#define HEAD                                                                                \
    "order 1\njob 5\nepoch 2\nfirst_rank 4\nworld 8\ngpus 240\nnode_rank 1\nnode_count 2\n" \
    "lease_s 60\narray_index 9\n"
#define PLACES "master head 29500\nuser ada\nboot b\ntag t\nsocket /s\nstate /st\n"

static void an_order_is_this_text(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct order order = example;
    struct order again;
    struct myr_err err = {};
    order.array_index = 9;
    order_write(&order, &text);
    assert_string_equal(text.data, HEAD PLACES "spec 24\ncommand: x\njob 9\nspec 4\n");
    assert_int_equal(order_read("f", (struct myr_str){text.data, text.len}, &again, &err), MYR_OK);
    assert_int_equal(again.epoch, 2);
    assert_int_equal(again.first_rank, 4);
    assert_int_equal(again.world, 8);
    assert_int_equal(again.node_rank, 1);
    assert_int_equal(again.node_count, 2);
    assert_int_equal(again.lease_s, 60);
    assert_int_equal(again.array_index, 9);
    assert_true(myr_str_eq(again.boot, order.boot) && myr_str_eq(again.tag, order.tag));
    assert_true(myr_str_eq(again.socket, order.socket) && myr_str_eq(again.state, order.state));
}

static void each_line_of_an_order_is_needed(void **state)
{
    static const char *const keys[] = {"job",       "epoch",      "first_rank", "world",  "gpus",
                                       "node_rank", "node_count", "lease_s",    "master", "user",
                                       "boot",      "tag",        "socket",     "state"};
    static const char whole[] = HEAD PLACES "spec 1\nx";
    static const struct {
        const char *text, *says;
    } all[] = {
        {"", "f: no order"},
        {"order 1", "f: no order"},
        {"job 1\n" HEAD PLACES "spec 1\nx", "f: no order"}, /* not at the front */
        {HEAD PLACES "spec\nx", "f: no order"},
        {HEAD PLACES "spec x\nx", "f: no order"},
        {HEAD PLACES "spec 2\nx", "f: cut off"},
        {HEAD PLACES "spec 0\nx", "f: cut off"},
        {HEAD PLACES "spec 18446744073709551615\nx", "f: cut off"},
        {"order 1\njob 5\ngpus 0\nepoch 2\nfirst_rank 4\nworld 8\nnode_rank 1\nnode_count 2\n"
         "lease_s 60\n" PLACES "spec 0\n",
         "f: something is missing in the order"},
        {"order 1\njob 5\ngpus 1\nepoch 4294967296\nfirst_rank 4\nworld 8\nnode_rank 1\n"
         "node_count 2\nlease_s 60\n" PLACES "spec 0\n",
         "f: something is missing in the order"},
        {"order 1\njob 5\ngpus 1\nepoch 4294967295\nfirst_rank 7\nworld 8\nnode_rank 1\n"
         "node_count 2\nlease_s 60\n" PLACES "spec 0\n",
         ""},
        {"order 1\njob 5\ngpus 3\nepoch 1\nfirst_rank 7\nworld 8\nnode_rank 1\n"
         "node_count 2\nlease_s 60\n" PLACES "spec 0\n",
         "f: something is missing in the order"},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        char text[400];
        struct order order = {.job = 77};
        struct myr_err err = {};
        snprintf(text, sizeof(text), "%s", whole);
        char line[32];
        snprintf(line, sizeof(line), "\n%s ", keys[i]);
        strstr(text, line)[1] = '#'; /* another key */
        assert_int_equal(order_read("f", myr_str_from(text), &order, &err), MYR_ECORRUPT);
        assert_string_equal(err.message, "f: something is missing in the order");
        assert_int_equal(order.job, 77); /* untouched */
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        struct order order = {};
        struct myr_err err = {};
        int rc = order_read("f", myr_str_from(all[i].text), &order, &err);
        assert_int_equal(rc, all[i].says[0] ? MYR_ECORRUPT : MYR_OK);
        assert_string_equal(err.message, all[i].says);
        assert_int_equal(order.array_index, 0);
    }
}

static void each_line_of_an_ending_but_the_last_is_needed(void **state)
{
    static const struct {
        const char *text, *says;
    } all[] = {
        {"", "f: does not say how it ended"},
        {"kind exit\ncode 1\nsignal 2\n", "f: does not say how it ended"},
        {"kind exit\nrank 1\nsignal 2\n", "f: does not say how it ended"},
        {"kind exit\nrank 1\ncode 2\n", "f: does not say how it ended"},
        {"rank 1\ncode 2\nsignal 3\n", "f: does not say how it ended"},
        {"kind exit\nrank 4294967296\ncode 2\nsignal 3\n", "f: does not say how it ended"},
        {"kind exit\nrank 1\ncode 4294967296\nsignal 3\n", "f: does not say how it ended"},
        {"kind exit\nrank 1\ncode 2\nsignal 4294967296\n", "f: does not say how it ended"},
        {"kind odd\nrank 1\ncode 2\nsignal 3\n", "f: ended in a way that is not known"},
        {"kind exi\nrank 1\ncode 2\nsignal 3\n", "f: ended in a way that is not known"},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        struct ending ending = {.rank = 77};
        struct myr_err err = {};
        assert_int_equal(ending_read("f", myr_str_from(all[i].text), &ending, &err), MYR_ECORRUPT);
        assert_string_equal(err.message, all[i].says);
        assert_int_equal(ending.rank, 77);
    }
    struct ending ending = {.line = MYR_STR("old")};
    struct myr_err err = {};
    struct myr_str text = MYR_STR("kind start\nrank 4294967295\ncode 2\nsignal 3\n");
    assert_int_equal(ending_read("f", text, &ending, &err), MYR_OK);
    assert_int_equal(ending.kind, ENDING_START);
    assert_int_equal(ending.rank, UINT32_MAX);
    assert_int_equal(ending.line.len, 0);
    MYR_CLEANUP(myr_buf_done) struct myr_buf written = {};
    ending_write(&ending, &written);
    assert_string_equal(written.data, "kind start\nrank 4294967295\ncode 2\nsignal 3\nline \n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_the_same),
        cmocka_unit_test(a_name_with_a_line_end_adds_no_line),
        cmocka_unit_test(any_piece_that_is_missing_is_noticed),
        cmocka_unit_test(an_ending_reads_the_same),
        cmocka_unit_test(an_order_is_this_text),
        cmocka_unit_test(each_line_of_an_order_is_needed),
        cmocka_unit_test(each_line_of_an_ending_but_the_last_is_needed),
        cmocka_unit_test(a_signal_goes_to_the_process_that_was_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
