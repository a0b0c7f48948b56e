#include "myriad/text/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static const int64_t SECOND_NS = 1000000000;

static void the_line_has_rate_and_time_left(void **state)
{
    (void)state;
    static const struct {
        uint64_t total;
        uint64_t done;
        int64_t elapsed_ns;
        const char *line;
    } cases[] = {
        {301056, 123456, 300000000000, "cables   41 %  123,456/301,056  411 /s  7:12 left"},
        {301056, 123456, 300000000, "cables   41 %  123,456/301,056  411 k/s  0:01 left"},
        {301056, 0, 5000000000, "cables    0 %  0/301,056"},
        {301056, 301056, 1000000000, "cables  100 %  301,056/301,056  301 k/s"},
        {100, 103, 1000000000, "cables  100 %  100/100  100 /s"},
        {100, 1, 100000000000, "cables    1 %  1/100  36 /h  2:45:00 left"},
        {0, 1, 1000000000, "cables  1  1 /s"},
        {0, 1, 1000000001, "cables  1  59 /min"},
        {0, 1, 60000000000, "cables  1  1 /min"},
        {0, 1, 60000000001, "cables  1  59 /h"},
        {0, 1, 3600000000000, "cables  1  1 /h"},
        {0, 1, 3600000000001, "cables  1  23 /d"},
        {0, 1, 86400000000001, "cables  1  0 /d"},
        {0, 4100, 1000000000, "cables  4,100  4.1 k/s"},
        {0, 5, 0, "cables  5"},
        {0, 1500000000, 1000000000, "cables  1,500,000,000  1.5 G/s"},
        {UINT64_MAX, UINT64_MAX / 2, 1,
         "cables   49 %  9,223,372,036,854,775,807/18,446,744,073,709,551,615  18 E/s  0:01 left"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_progress progress;
        struct myr_buf line = {};
        myr_progress_init(&progress, "cables", cases[i].total, true, 77);
        myr_progress_line(&progress, cases[i].done, 77 + cases[i].elapsed_ns, &line);
        assert_string_equal(line.data, cases[i].line);
        myr_buf_done(&line);
    }
}

/* What an hour's or a second's work leaves on stderr, one update every 50 ms. */
static void capture(bool terminal, int64_t length_ns, struct myr_buf *ret)
{
    int pipe_fds[2];
    int saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(pipe_fds), 0);
    assert_true(saved >= 0);
    dup2(pipe_fds[1], STDERR_FILENO);
    struct myr_progress progress;
    myr_progress_init(&progress, "work", 1000, terminal, 0);
    for (int64_t now_ns = 0; now_ns < length_ns; now_ns += SECOND_NS / 20) {
        myr_progress_update(&progress, (uint64_t)(now_ns * 1000 / length_ns), now_ns);
    }
    myr_progress_done(&progress);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(pipe_fds[1]);
    char chunk[4096];
    ssize_t got;
    while ((got = read(pipe_fds[0], chunk, sizeof(chunk))) > 0) {
        myr_buf_put(ret, chunk, (size_t)got);
    }
    close(pipe_fds[0]);
}

static size_t count_of(const struct myr_buf *buf, char wanted)
{
    size_t count = 0;
    for (size_t i = 0; i < buf->len; i++) {
        count += buf->data[i] == wanted;
    }
    return count;
}

static void quick_work_shows_nothing(void **state)
{
    (void)state;
    struct myr_buf out = {};
    capture(true, SECOND_NS, &out);
    capture(false, 10 * SECOND_NS, &out);
    assert_int_equal(out.len, 0);
    myr_buf_done(&out);
}

static void a_terminal_is_redrawn_in_place_and_left_clean(void **state)
{
    (void)state;
    struct myr_buf out = {};
    capture(true, 3 * SECOND_NS, &out);
    /* From second 1 to 3 every 100 ms, and once to clear. */
    assert_int_equal(count_of(&out, '\r'), 20 + 1);
    assert_int_equal(count_of(&out, '\n'), 0);
    assert_true(out.len > 4);
    assert_memory_equal(out.data, "\rwork   33 %  333/1,000  333 /s  0:03 left\033[K", 43);
    assert_memory_equal(out.data + out.len - 4, "\r\033[K", 4);
    myr_buf_done(&out);
}

static void a_log_gets_a_line_every_ten_seconds(void **state)
{
    (void)state;
    struct myr_buf out = {};
    capture(false, 35 * SECOND_NS, &out);
    assert_int_equal(count_of(&out, '\n'), 3);
    assert_int_equal(count_of(&out, '\r'), 0);
    assert_int_equal(count_of(&out, '\033'), 0);
    myr_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_has_rate_and_time_left),
        cmocka_unit_test(quick_work_shows_nothing),
        cmocka_unit_test(a_terminal_is_redrawn_in_place_and_left_clean),
        cmocka_unit_test(a_log_gets_a_line_every_ten_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
