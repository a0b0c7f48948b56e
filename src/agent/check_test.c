/* The door for programs that feed an agent random bytes: what it takes, and why it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "disk/order.h"
#include "myriad/agent.h"

#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
    enum myr_agent_text kind;
    const char *text, *says; /* NULL: it is taken */
} texts[] = {
    {MYR_AGENT_JOB_FILE, "command: x\n", NULL},
    {MYR_AGENT_JOB_FILE, "command: [x, y]\nprogress: {pattern: 'a ([0-9]+)'}\n", NULL},
    {MYR_AGENT_JOB_FILE, "command: x\nprogress: {pattern: a}\n",
     "job file:2:21: 'progress.pattern': no group that is the step: '([0-9]+)'"},
    {MYR_AGENT_JOB_FILE, "command: ''\n", "job file:1:10: 'command' is empty"},
    {MYR_AGENT_ORDER, "x\n", "order: no order"},
    {MYR_AGENT_ENDING, "kind exit\nrank 1\ncode 2\nsignal 3\n", NULL},
    {MYR_AGENT_ENDING, "kind start\nrank 4294967295\ncode 2\nsignal 3\nline x\n", NULL},
    {MYR_AGENT_ENDING, "kind exit\n", "exit: does not say how it ended"},
    {MYR_AGENT_ENDING, "kind x\nrank 1\ncode 2\nsignal 3\n",
     "exit: ended in a way that is not known"},
    {MYR_AGENT_STOPS, "1 2 .\n1 1 .\nx\n7 7 .", NULL},
    {MYR_AGENT_STOPS, "", NULL},
    {MYR_AGENT_PROGRESS, "step 1\nsaved 1\nat_ns 1\nby_line 0\n", NULL},
    {MYR_AGENT_PROGRESS, "step 1\n", "progress: does not say how far it is"},
    {MYR_AGENT_DATAGRAM, "step 7 saved 6 phase warm-up", NULL},
    {MYR_AGENT_DATAGRAM, "step 0 saved 0", NULL},
    {MYR_AGENT_DATAGRAM, "step 7 saved x", "progress: 'step N [saved N] [phase WORD]' is expected"},
    {MYR_AGENT_DATAGRAM, "", "progress: 'step N [saved N] [phase WORD]' is expected"},
    {MYR_AGENT_PEER, "step-age 1 2 300\n", NULL},
    {MYR_AGENT_PEER, "step-age 1 3 300\n", "step-age: 'step-age JOB EPOCH MS' is expected"},
    {MYR_AGENT_PEER, "step-age 2 2 300\n", "step-age: 'step-age JOB EPOCH MS' is expected"},
    {MYR_AGENT_TOKEN, "word@" DIGITS "\n", NULL},
    {MYR_AGENT_TOKEN, "word", "no token: SECRET@FINGERPRINT with 64 hex digits is expected"},
    {MYR_AGENT_INVENTORY, "{\"cpus\":1,\"memory_bytes\":2,\"gpus\":[]}", NULL},
    {MYR_AGENT_INVENTORY, "{\"cpus\":1,\"memory_bytes\":2,\"gpus\":3}",
     "inventory:1:35: 'gpus' is '3', a list is expected"},
    {MYR_AGENT_TEXTS, "", "no such text"},
};

static void texts_are_taken_or_it_is_said_why_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct myr_err err = {};
        int rc = myr_agent_check(texts[i].kind, myr_str_from(texts[i].text), &err);
        const char *says = texts[i].says ? texts[i].says : "";
        if ((rc == MYR_OK) != !texts[i].says || strcmp(err.message, says) != 0) {
            fail_msg("text %zu: %d, '%s'", i, rc, err.message);
        }
        assert_true(fcntl(0, F_GETFD) >= 0); /* nobody's file was closed */
    }
}

static void orders_are_taken_whole(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    struct order order = {.job = 5,
                          .epoch = 2,
                          .gpus = UINT64_MAX, /* as many ranks as there can be */
                          .world = 64,
                          .node_count = 1,
                          .spec = MYR_STR("command: x\n")};
    order.master = order.user = order.boot = order.tag = MYR_STR("x");
    order.socket = order.state = MYR_STR("x");
    order_write(&order, &text);
    assert_int_equal(myr_agent_check(MYR_AGENT_ORDER, (struct myr_str){text.data, text.len}, &err),
                     MYR_OK);
    assert_int_equal(
        myr_agent_check(MYR_AGENT_ORDER, (struct myr_str){text.data, text.len - 1}, &err),
        MYR_ECORRUPT);
    assert_string_equal(err.message, "order: cut off");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_taken_or_it_is_said_why_not),
        cmocka_unit_test(orders_are_taken_whole),
    };
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC); /* where there is no input */
    if (null > 0) {
        close(null);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
