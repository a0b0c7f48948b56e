/* What agents and relays say at its bounds: long words, many at once, too late, of nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <time.h>

#include "agents_test.h"
#include "given_back_test.h"
#include "leaks.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

static int64_t clock_ns = 1000000000000; /* stands still, unless the test moves it */

/* In place of the C library's, for all of this program. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    int64_t base_s = which == CLOCK_REALTIME ? 1800000000 : 0;
    *ret = (struct timespec){base_s + clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

static int begin(void **state)
{
    (void)state;
    life_begin();
    for (uint32_t node = 0; node < 3; node++) {
        join(node, 100 + node);
        sound(node);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    life_end();
    return 0;
}

/* All of the story since the last time. */
static void told_is(const char *expected)
{
    assert_string_equal(story.len ? story.data : "", expected);
    myr_buf_clear(&story);
}

/* A job that runs on n0, or whichever node it got; returns the node. */
static uint32_t runs(void)
{
    uint32_t id = bench_submit(server, 8, MYR_RESTART_STRICT);
    taken();
    const struct job_row *row = rows_job(server, id);
    assert_int_equal(row->where_count, 1);
    result(row->where[0].node, MYR_WIRE_STARTED, id, 1, 0, "");
    myr_buf_clear(&story);
    return row->where[0].node;
}

static const char *letters(char letter, size_t count)
{
    static char text[2][400];
    static uint32_t turn;
    char *to = text[turn++ % 2];
    memset(to, letter, count);
    to[count] = '\0';
    return to;
}

static void words_of_a_result_are_cut(void **state)
{
    (void)state;
    uint32_t node = runs();
    const struct job_row *row = rows_job(server, 0);
    char wanted[300];
    static const size_t sizes[] = {119, 120, 121, 200};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        struct myr_wire_result bad = {.code = i ? 300 : 254,
                                      .text = myr_str_from(letters('x', sizes[i]))};
        say(&agents[node], MYR_WIRE_STOPPED, 7, &bad);
        snprintf(wanted, sizeof(wanted), "n%u: %.120s", node, letters('x', sizes[i]));
        assert_string_equal(row->reason, wanted);
        assert_int_equal(server->inbox.items[i].code, i ? 255 : 254); /* never cut to 0 */
        assert_int_equal(server->inbox.items[i].epoch, 7);
    }
    /* Of another's job, of a test, and without words or a code, nothing is noted. */
    say(&agents[(node + 1) % 3], MYR_WIRE_STOPPED, 7,
        &(struct myr_wire_result){.code = 1, .text = MYR_STR("a lie")});
    say(&agents[node], MYR_WIRE_TESTED, 7,
        &(struct myr_wire_result){.code = 1, .text = MYR_STR("a test")});
    say(&agents[node], MYR_WIRE_STOPPED, 7, &(struct myr_wire_result){.code = 1});
    say(&agents[node], MYR_WIRE_STOPPED, 7, &(struct myr_wire_result){.text = MYR_STR("well")});
    assert_string_equal(row->reason, wanted);
    assert_int_equal(server->inbox.count, 8);
    assert_int_equal(server->inbox.items[5].kind, MYR_EVENT_TESTED);
    assert_int_equal(server->inbox.items[5].epoch, 0); /* the number of the test */
    server->inbox.count = 0;
    put_told();
    myr_buf_clear(&story);
}

static void words_of_an_exit_are_cut(void **state)
{
    (void)state;
    uint32_t node = runs();
    const struct job_row *row = rows_job(server, 0);
    char wanted[300];
    static const size_t sizes[] = {0, 99, 100, 101};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        say(&agents[node], MYR_WIRE_EXIT, 7,
            &(struct myr_wire_exit){.rank = 3,
                                    .code = i % 2 ? 5 : 0,
                                    .signal = i % 2 ? 0 : 9,
                                    .line = myr_str_from(letters('y', sizes[i]))});
        snprintf(wanted, sizeof(wanted), "rank 3 on n%u: %s%s%.100s", node,
                 i % 2 ? "exit code 5" : "signal 9", i ? ": " : "", letters('y', sizes[i]));
        assert_string_equal(row->reason, wanted);
        assert_int_equal(server->inbox.items[i].code, 1);
    }
    say(&agents[node], MYR_WIRE_EXIT, 7, &(struct myr_wire_exit){.line = MYR_STR("well")});
    say(&agents[node], MYR_WIRE_EXIT, 7, &(struct myr_wire_exit){.job = 1, .code = 1});
    say(&agents[node], MYR_WIRE_EXIT, 7, &(struct myr_wire_exit){.job = UINT32_MAX, .code = 1});
    say(&agents[node], MYR_WIRE_EXIT, 7, &(struct myr_wire_exit){.job = UINT64_MAX, .code = 1});
    assert_string_equal(row->reason, wanted);
    assert_int_equal(server->inbox.items[4].code, 0);
    assert_int_equal(server->inbox.items[5].job, 1);
    assert_int_equal(server->inbox.items[6].job, MYR_NONE);
    assert_int_equal(server->inbox.items[7].job, MYR_NONE);
    server->inbox.count = 0;
}

static void words_of_a_symptom_are_cut(void **state)
{
    (void)state;
    char wanted[400];
    myr_buf_clear(&story);
    say(&agents[0], MYR_WIRE_SYMPTOM, 0,
        &(struct myr_wire_symptom){.id = myr_str_from(letters('i', 61)),
                                   .text = myr_str_from(letters('t', 121))});
    server->inbox.count = 0;
    put_told();
    snprintf(wanted, sizeof(wanted),
             "  log warning symptom of n0: %s %s\n  told \"kind\":\"notice\",\"text\":\"n0: ",
             letters('i', 60), letters('t', 120));
    snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), "%s", letters('i', 60));
    assert_memory_equal(story.data, wanted, strlen(wanted));
    assert_string_equal(story.data + story.len - 4, "t\"}\n");
    myr_buf_clear(&story);
    /* A name that is another's is shown, as far as it can be one. */
    struct agent one;
    came(&one, "n5", "6");
    say(&one, MYR_WIRE_HELLO, 0,
        &(struct myr_wire_hello){.name = myr_str_from(letters('m', 65)), .version_min = 1});
    assert_true(one.session->over);
    gone(&one);
    put_told();
    snprintf(wanted, sizeof(wanted),
             "  log warning agent 10.0.0.6:7 'n5' refused: '%s' has the certificate of 'n5'\n",
             letters('m', 64));
    assert_memory_equal(story.data, wanted, strlen(wanted));
    myr_buf_clear(&story);
}

/* One acknowledgement for all that was taken in a turn; who is gone by then gets none. */
static void reports_are_acknowledged_once(void **state)
{
    (void)state;
    uint32_t node = runs();
    struct session *session = agents[node].session;
    const struct myr_wire_result done = {.job = 9};
    uint64_t acked = session->acked;
    assert_int_equal(session->ack, acked);
    say(&agents[node], MYR_WIRE_STOPPED, 1, &done);
    say(&agents[node], MYR_WIRE_STOPPED, 1, &done);
    agents[node].sequence -= 2; /* said again, with an older number */
    say(&agents[node], MYR_WIRE_STOPPED, 1, &done);
    assert_int_equal(server->to_ack.count, 1);
    assert_int_equal(session->ack, acked + 2);
    assert_int_equal(session->acked, acked);
    struct session *other = agents[(node + 1) % 3].session;
    say(&agents[(node + 1) % 3], MYR_WIRE_STOPPED, 1, &done);
    assert_int_equal(server->to_ack.count, 2);
    assert_ptr_equal(server->to_ack.items[1], other);
    gone(&agents[node]);
    assert_null(server->to_ack.items[0]);
    other->over = true; /* it is being closed */
    uint64_t before = other->acked;
    sessions_committed(server);
    assert_int_equal(server->to_ack.count, 0);
    assert_int_equal(other->acked, before);
    say(&agents[(node + 1) % 3], MYR_WIRE_STOPPED, 1, &done); /* nobody listens any more */
    assert_int_equal(server->to_ack.count, 0);
    server->inbox.count = 0;
}

/* Two thousand in a second; in the next one it begins anew. */
static void a_flood_is_counted_by_the_second(void **state)
{
    (void)state;
    struct session *session = agents[0].session;
    clock_ns += 1000000000;
    for (uint32_t i = 0; i < 2000; i++) {
        assert_false(session_floods(session, 2000));
    }
    clock_ns += 999000000;
    assert_true(session_floods(session, 2000));
    clock_ns += 1000000;
    assert_false(session_floods(session, 2000));
    assert_int_equal(session->in_second, 1);
    session->in_second = 1999;
    say(&agents[0], MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
    assert_false(session->over);
    uint64_t taken_before = server->messages;
    myr_buf_clear(&story);
    say(&agents[0], MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
    assert_true(session->over);
    assert_int_equal(server->messages, taken_before);
    put_told();
    told_is("  log warning agent 10.0.0.1:7 dropped: too many messages\n");
}

/* Who gave up is told nothing, and what comes for him is nobody else's. */
static void those_who_wait_for_output(void **state)
{
    (void)state;
    struct session *session = agents[0].session;
    int first, second;
    struct wait waits[] = {{&first, 4, 0}, {&second, 4, 1}, {&first, 5, 0}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(waits); i++) {
        myr_vec_push(&session->waits, waits[i]);
    }
    sessions_forget(server, &first);
    assert_null(session->waits.items[0].whom);
    assert_ptr_equal(session->waits.items[1].whom, &second);
    assert_null(session->waits.items[2].whom);
    sessions_forget(server, &second);
    say(&agents[0], MYR_WIRE_OUTPUT, 0, &(struct myr_wire_output){.job = 4, .rank = 2});
    say(&agents[0], MYR_WIRE_OUTPUT, 0, &(struct myr_wire_output){.job = 6, .rank = 0});
    assert_int_equal(session->waits.count, 3);
    say(&agents[0], MYR_WIRE_OUTPUT, 0, &(struct myr_wire_output){.job = 4, .rank = 0});
    assert_int_equal(session->waits.count, 2);
    assert_int_equal(session->waits.items[0].rank, 1); /* the others stay in their order */
    assert_int_equal(session->waits.items[1].job, 5);
    say(&agents[0], MYR_WIRE_OUTPUT, 0, &(struct myr_wire_output){.job = 5, .rank = 0});
    assert_int_equal(session->waits.count, 1);
    assert_int_equal(session->waits.items[0].rank, 1);
    /* Before anybody can watch there is nobody to wake. */
    struct http *http = server->http;
    server->http = NULL;
    watch_rang(server);
    server->http = http;
}

/* Two ask for the same rank's output at other offsets: the agent answers them in their order. */
static void those_who_wait_keep_their_order(void **state)
{
    (void)state;
    struct session *session = agents[0].session;
    int whom[3];
    struct wait waits[] = {
        {NULL, 6, 0}, {&whom[0], 7, 0}, {NULL, 7, 1}, {&whom[1], 7, 0}, {&whom[2], 7, 0}};
    session->waits.count = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(waits); i++) {
        myr_vec_push(&session->waits, waits[i]);
    }
    say(&agents[0], MYR_WIRE_OUTPUT, 0, &(struct myr_wire_output){.job = 6, .rank = 0});
    say(&agents[0], MYR_WIRE_OUTPUT, 0, &(struct myr_wire_output){.job = 7, .rank = 1});
    assert_int_equal(session->waits.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(session->waits.items[i].whom, &whom[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        sessions_forget(server, &whom[i]);
    }
}

/* --- a relay */

static struct myr_wire_sender sender;

static void relay_says(struct session *line, enum myr_wire_type type, const void *message)
{
    static uint64_t sequence;
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    myr_wire_send(&sender, &bytes, type, MYR_WIRE_NO_NODE, 0, ++sequence, message);
    relay_take(line, (struct myr_str){bytes.data, bytes.len});
}

static struct session *relay_comes(void)
{
    struct agent one;
    uint32_t row = rows_relay(server, "r1", true);
    snprintf(server->rows.relays.items[row].serial, 48, "50");
    came(&one, "r1", "50");
    sender = one.sender;
    relay_says(one.session, MYR_WIRE_HELLO,
               &(struct myr_wire_hello){.name = MYR_STR("r1"), .version_min = 1});
    assert_non_null(one.session->carrier);
    put_told();
    myr_buf_clear(&story);
    return one.session;
}

static void relay_goes(struct session *line)
{
    relay_gone(line);
    session_gone(line);
    put_told();
    myr_buf_clear(&story);
}

static void a_relay_that_breaks_off(void **state)
{
    (void)state;
    /* Bytes that are no frame. */
    struct session *line = relay_comes();
    relay_take(line, MYR_STR("GET / HTTP/1.1\r\nHost: x\r\n\r\nthere is more behind it........."));
    assert_true(line->over);
    put_told();
    assert_memory_equal(story.data, "  log warning agent 10.0.0.50:7 dropped: ", 41);
    relay_goes(line);
    /* More than two hundred thousand messages in a second. */
    line = relay_comes();
    line->in_second = 199998;
    line->second_ms = steady_ms();
    relay_says(line, MYR_WIRE_BEAT, &(struct myr_wire_beat){1});
    assert_false(line->over);
    assert_int_equal(line->in_second, 200000); /* the schema is a frame too */
    relay_says(line, MYR_WIRE_BEAT, &(struct myr_wire_beat){1});
    assert_true(line->over);
    put_told();
    told_is("  log warning agent 10.0.0.50:7 dropped: too many messages\n");
    relay_goes(line);
}

static void a_relay_renews_by_its_own_name(void **state)
{
    (void)state;
    struct session *line = relay_comes();
    int64_t heard_ms = line->carrier->heard_ms;
    clock_ns += 5000000000;
    relay_says(line, MYR_WIRE_ENROL, &(struct myr_wire_enrol){.csr = MYR_STR("no request")});
    assert_int_equal(line->carrier->heard_ms, heard_ms + 5000);
    assert_true(line->over); /* there are no papers to sign it by */
    put_told();
    assert_non_null(strstr(story.data, "ca.pem: "));
    relay_goes(line);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(words_of_a_result_are_cut),        TEST(words_of_an_exit_are_cut),
        TEST(words_of_a_symptom_are_cut),       TEST(reports_are_acknowledged_once),
        TEST(a_flood_is_counted_by_the_second), TEST(those_who_wait_for_output),
        TEST(those_who_wait_keep_their_order),  TEST(a_relay_that_breaks_off),
        TEST(a_relay_renews_by_its_own_name),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
