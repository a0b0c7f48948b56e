#include "replay/joblog_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct myr_joblog read_good(const char *text)
{
    struct myr_joblog trace;
    struct myr_err err = {};
    if (myr_joblog_parse(&trace, "t.csv", myr_str_from(text), &err) < 0) {
        fail_msg("%s", err.message);
    }
    return trace;
}

static void columns_are_known_by_many_names(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "submit_s,duration_s,num_gpus,vc",          "Submit Time,Duration,GPUs,User",
        "vc_unused,submit-time,runtime,gpu_num,vc", "timestamp,elapsed,GPU Count,tenant",
        " submit_s , duration_s,num_gpus ,  vc  ", /* blanks around a name are none of it */
        "submit_s\tduration_s\tnum_gpus\tvc",       "submit_s;duration_s;num_gpus;vc",
        "submit_s|duration_s|num_gpus|vc",
    };
    static const char *const rows[] = {"100,60,4,a\n", "100,60,4,a\n",      "x,100,60,4,a\n",
                                       "100,60,4,a\n", " 100 ,60 , 4,a \n", "100\t60\t4\ta\n",
                                       "100;60;4;a\n", "100|60|4|a\n"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(headers); i++) {
        char text[256];
        snprintf(text, sizeof(text), "%s\n%s%s", headers[i], rows[i], rows[i]);
        struct myr_joblog trace = read_good(text);
        assert_int_equal(trace.jobs.count, 2);
        assert_int_equal(trace.tenants, 1);
        assert_int_equal(trace.jobs.items[0].submit_s, 0); /* from the first submission on */
        assert_int_equal(trace.jobs.items[0].duration_s, 60);
        assert_int_equal(trace.jobs.items[0].gpus, 4);
        myr_joblog_done(&trace);
    }
}

static void time_stamps_offsets_and_fractions_are_understood(void **state)
{
    (void)state;
    struct myr_joblog trace =
        read_good("submit,start,end,gpus,priority\n"
                  "2024-02-29T23:59:59,2024-03-01 00:00:00,2024-03-01 00:00:10.5,1,5\n"
                  "2024-03-01T01:00:00+01:00,2024-03-01T00:00:00Z,2024-03-02T00:00:00Z,8.0,\n"
                  "2024/03/01 00:01,1709251260.7,1709251270,2,-3\n");
    assert_int_equal(trace.jobs.count, 3);
    assert_int_equal(trace.jobs.items[0].duration_s, 10);
    assert_int_equal(trace.jobs.items[0].priority, 5);
    assert_int_equal(trace.jobs.items[1].submit_s, 1);
    assert_int_equal(trace.jobs.items[1].duration_s, 86400);
    assert_int_equal(trace.jobs.items[1].gpus, 8);
    assert_int_equal(trace.jobs.items[2].submit_s, 61);
    assert_int_equal(trace.jobs.items[2].duration_s, 10);
    assert_int_equal(trace.jobs.items[2].priority, -3);
    myr_joblog_done(&trace);
}

static void what_sacct_prints_is_read(void **state)
{
    (void)state;
    struct myr_joblog trace =
        read_good("JobID|Account|Submit|Elapsed|AllocTRES|State|Priority\n"
                  "7|ml|2026-01-01T10:00:00|1-02:03:04|billing=8,cpu=64,gres/gpu:h100=16,gres/"
                  "gpu=16|COMPLETED|4294901756\n"
                  "7.batch|ml|2026-01-01T10:00:00|1-02:03:04|cpu=64,gres/gpu=8|COMPLETED|\n"
                  "8|bio|2026-01-01T10:00:05|05:00|cpu=4,mem=1G|COMPLETED|1\n"
                  "9|bio|2026-01-01T10:00:09|10:30|gres/gpu:a100=2,gres/gpu:h100=1|FAILED|1\n");
    assert_int_equal(trace.jobs.count, 2);
    assert_int_equal(trace.left_out, 2);
    assert_int_equal(trace.tenants, 2);
    assert_int_equal(trace.jobs.items[0].gpus, 16);
    assert_int_equal(trace.jobs.items[0].duration_s, 86400 + 2 * 3600 + 3 * 60 + 4);
    assert_int_equal(trace.jobs.items[1].gpus, 3);
    assert_int_equal(trace.jobs.items[1].submit_s, 9);
    assert_int_equal(trace.jobs.items[1].line, 5);
    myr_joblog_done(&trace);
}

static void jobs_that_never_ran_are_left_out(void **state)
{
    (void)state;
    struct myr_joblog trace = read_good("submit_time\tstart_time\tend_time\tgpu_num\n"
                                        "5\tNone\tNone\t1\n"
                                        "9\t10\tUnknown\t1\n"
                                        "3\t4\t20\t1\n"
                                        "1\t4\t20\t0\n");
    assert_int_equal(trace.jobs.count, 1);
    assert_int_equal(trace.left_out, 3);
    assert_int_equal(trace.jobs.items[0].duration_s, 16);
    myr_joblog_done(&trace);
}

static void notes_are_found_by_line_and_by_id(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_printf(&text, "job_id,submit_s,wait_s,duration_s,gpus\n");
    enum { ROWS = 1000, GAP = 300 };
    for (uint32_t i = 0; i < ROWS; i++) {
        /* Submitted backwards, so that order by time and by line differ; some rows have no job. */
        myr_buf_printf(&text, "job-%u,%u,%s,5,%u\n", i, ROWS - i, i % 3 ? "70" : "", i % 7 != 0);
        for (uint32_t k = 0; i == ROWS / 2 && k < GAP; k++) {
            myr_buf_printf(&text, "none,1,1,1,0\n");
        }
    }
    struct myr_joblog trace = read_good(text.data);
    struct myr_joblog_cursor cursor = {};
    for (size_t n = 0; n < 2 * trace.jobs.count; n++) { /* once in order, once anyhow */
        size_t at = n < trace.jobs.count ? n : n * 7919 % trace.jobs.count;
        uint32_t line = trace.jobs.items[at].line, row = line - 2 - (line > ROWS / 2 + 2) * GAP;
        struct myr_joblog_note note;
        char id[32];
        snprintf(id, sizeof(id), "job-%u", row);
        assert_true(myr_joblog_note(&trace, n % 2 ? &cursor : NULL, line, &note));
        assert_true(myr_str_eq(note.id, myr_str_from(id)));
        assert_int_equal(note.waited_s, row % 3 ? 70 : -1);
        uint32_t found = 0;
        assert_int_equal(myr_joblog_find(&trace, myr_str_from(id), 1, &found), 1);
        assert_int_equal(found, line);
    }
    struct myr_joblog_note note;
    assert_false(myr_joblog_note(&trace, NULL, 2, &note)); /* no GPUs: no job */
    assert_false(myr_joblog_note(&trace, &cursor, 1, &note));
    assert_false(myr_joblog_note(&trace, &cursor, UINT32_MAX, &note));
    assert_int_equal(note.waited_s, -1);
    assert_int_equal(myr_joblog_find(&trace, MYR_STR("none"), 0, NULL), 0);
    myr_joblog_done(&trace);
}

static void jobs_that_wait_still_have_never_run(void **state)
{
    (void)state;
    struct myr_joblog trace = read_good("JobID|Submit|Start|ElapsedRaw|AllocTRES\n"
                                        "1|2026-01-01T00:00:00|Unknown|0|gres/gpu=8\n"
                                        "2|2026-01-01T00:00:00|2026-01-01T00:00:09|0|gres/gpu=8\n");
    assert_int_equal(trace.jobs.count, 1);
    assert_int_equal(trace.left_out, 1);
    myr_joblog_done(&trace);
}

static void a_share_of_a_gpu_counts_as_one(void **state)
{
    (void)state;
    struct myr_joblog trace =
        read_good("submit_s,duration_s,gpus\n1,1,0.5\n2,1,0.01\n3,1,0.00\n4,1,2.0\n5,1,1.\n");
    static const uint32_t gpus[] = {1, 1, 2, 1};
    assert_int_equal(trace.jobs.count, MYR_ARRAY_COUNT(gpus));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(gpus); i++) {
        assert_int_equal(trace.jobs.items[i].gpus, gpus[i]);
    }
    myr_joblog_done(&trace);
}

static void equal_times_keep_the_order_of_the_file(void **state)
{
    (void)state;
    struct myr_joblog trace =
        read_good("submit_s,duration_s,gpus\n9,1,1\n5,2,1\n9,3,1\n5,4,1\n1,5,1\n");
    static const int64_t order[] = {5, 2, 4, 1, 3};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(order); i++) {
        assert_int_equal(trace.jobs.items[i].duration_s, order[i]);
    }
    myr_joblog_done(&trace);
}

/* Each: the text, and the line and column that the message must name. */
static const struct {
    const char *text, *place;
} bad[] = {
    {"", "1:1:"},
    {"\n\n", "1:1:"},
    {"submit_s,duration_s,num_gpus\n", "1:1:"},
    {"a,b\n1,2\n", "1:1:"},
    {"submit_s,num_gpus\n1,2\n", "1:1:"},
    {"submit_s,duration_s\n1,2\n", "1:1:"},
    {"submit_s,start,num_gpus\n1,2,3\n", "1:1:"},
    {"duration_s,num_gpus\n1,2\n", "1:1:"},
    {"submit_s,duration_s,num_gpus\n1,x,3\n", "2:3:"},
    {"submit_s,duration_s,num_gpus\n-5,1,3\n", "2:1:"},
    {"submit_s,duration_s,num_gpus\n1,-1,3\n", "2:3:"},
    {"submit_s,duration_s,num_gpus\n1,2,99999999999\n", "2:5:"},
    {"submit_s,duration_s,num_gpus\n1,2,-3\n", "2:5:"},
    {"submit_s,duration_s,num_gpus\n1,2,2.5\n", "2:5:"},
    {"submit_s,duration_s,num_gpus\n1,2,four\n", "2:5:"},
    {"submit_s,duration_s,num_gpus\n1,2,\n", "2:5:"},
    {"submit_s,duration_s,num_gpus\n1,2\n", "2:1:"},
    {"submit_s,duration_s,num_gpus\n1,2,3\n,2,3\n", "3:1:"},
    {"submit_s,duration_s,num_gpus\n99999999999999,2,3\n", "2:1:"},
    {"submit_s,duration_s,num_gpus\n1,9999999999999,3\n", "2:3:"},
    {"submit_s,duration_s,num_gpus\n2026-13-01T00:00:00,2,3\n", "2:1:"},
    {"submit_s,duration_s,num_gpus\n2026-01-01T25:00:00,2,3\n", "2:1:"},
    {"submit_s,duration_s,num_gpus\n2026-01-01,2,3\n", "2:1:"},
    {"submit_s,duration_s,num_gpus\n1,1:2:3:4,3\n", "2:3:"},
    {"submit_s,duration_s,num_gpus\n1,2-,3\n", "2:3:"},
    {"submit_s,duration_s,num_gpus\n1.,2,3\n", "2:1:"},
    {"submit_s,duration_s,num_gpus\n\"1,2,3\n", "2:1:"},
    {"submit_s,duration_s,num_gpus\n1\"1,2,3\n", "2:2:"},
    {"submit_s,start,end,num_gpus\n1,20,10,3\n", "2:6:"},
    {"submit_s,start,end,num_gpus\n1,x,10,3\n", "2:3:"},
    {"submit_s,duration_s,num_gpus,priority\n1,2,3,urgent\n", "2:7:"},
    {"submit_s,duration_s,num_gpus,priority\n1,2,3,101\n", "2:7:"},
    {"JobID|Submit|Elapsed|AllocTRES\n1|2026-01-01T00:00:00|00:10|gres/gpu=x\n", "2:29:"},
    {"JobID|Submit|Elapsed|AllocTRES\n1|Unknown|00:10|gres/gpu=1\n", "2:3:"},
    {"submit_s,duration_s,num_gpus\n1,2,0\n", "1:1:"},
};

static void a_header_that_lacks_a_column_is_told_which(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"duration_s,num_gpus\n1,2\n", "no column says when jobs came (submit_s, submit"},
        {"submit_s,num_gpus\n1,2\n", "no column says how long jobs ran (duration_s, elapsed"},
        {"submit_s,start,num_gpus\n1,2,3\n", "no column says how long jobs ran"},
        {"submit_s,end,num_gpus\n1,2,3\n", "no column says how long jobs ran"},
        {"submit_s,duration_s\n1,2\n", "no column says how many GPUs jobs had (num_gpus, gpus"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_joblog trace;
        struct myr_err err = {};
        assert_true(myr_joblog_parse(&trace, "t.csv", myr_str_from(cases[i].text), &err) < 0);
        assert_non_null(strstr(err.message, cases[i].message));
        assert_non_null(strstr(err.hint, "the first line names the columns"));
    }
}

static void a_short_row_is_told_which_field_it_lacks(void **state)
{
    (void)state;
    struct myr_joblog trace;
    struct myr_err err = {};
    const char *text = "submit_s,duration_s,num_gpus\n1,2,3\n4,5\n";
    assert_true(myr_joblog_parse(&trace, "t.csv", myr_str_from(text), &err) < 0);
    assert_string_equal(err.message,
                        "t.csv:3:1: 2 fields, by the first line at least 3 are expected");
}

/* Others leave separators behind at the end of a row; a number that a comma cuts is none. */
static void a_row_has_nothing_behind_the_first_lines_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message; /* NULL: it is read */
    } cases[] = {
        {"submit,duration,gpus\n0,3600,1,024\n", "t.csv:2:10: the row has 4 fields, the header 3"},
        {"submit|duration|gpus\n0|3600|1|024\n", "t.csv:2:10: the row has 4 fields, the header 3"},
        {"submit,duration,gpus\n0,3600,1\n0,3600,0,,x\n",
         "t.csv:3:11: the row has 5 fields, the header 3"},
        {"submit,duration,gpus\n0,3600,\"1\",, \n", NULL},
        {"submit|duration|gpus\n0|3600|1||\t\n", NULL},
        {"submit|duration|gpus|\n0|3600|1|\n", NULL},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_joblog trace;
        struct myr_err err = {};
        int rc = myr_joblog_parse(&trace, "t.csv", myr_str_from(cases[i].text), &err);
        assert_string_equal(err.message, cases[i].message ? cases[i].message : "");
        assert_int_equal(rc, cases[i].message ? MYR_EINVAL : MYR_OK);
        if (rc == MYR_OK) {
            assert_int_equal(trace.jobs.items[0].gpus, 1);
            myr_joblog_done(&trace);
        }
    }
}

static void bad_traces_are_told_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_joblog trace;
        struct myr_err err = {};
        char start[32];
        assert_true(myr_joblog_parse(&trace, "t.csv", myr_str_from(bad[i].text), &err) < 0);
        snprintf(start, sizeof(start), "t.csv:%s", bad[i].place);
        if (strncmp(err.message, start, strlen(start)) != 0 || strchr(err.message, '\n')) {
            fail_msg("case %zu: '%s' does not begin with '%s'", i, err.message, start);
        }
        assert_null(trace.jobs.items);
    }
}

/* A column may hold pages of text: messages show its beginning, and all of what is short. */
static void wrong_words_are_shown_up_to_forty_characters(void **state)
{
    (void)state;
    static const char *const heads[] = {"submit_s,duration_s,num_gpus\n%s,5,1\n",
                                        "submit_s,duration_s,num_gpus\n0,%s,1\n",
                                        "submit_s,duration_s,num_gpus\n0,5,%s\n",
                                        "Submit,Start,End,AllocTRES\n0,0,5,gres/gpu=%s\n"};
    static const int lens[] = {1, 39, 40, 41, 100};
    for (size_t h = 0; h < MYR_ARRAY_COUNT(heads); h++) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(lens); i++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            const char *word = strstr(heads[h], "%s");
            struct myr_joblog trace;
            struct myr_err err = {};
            char marks[101];
            int shown = 0, front = h == 3 ? (int)strlen("gres/gpu=") : 0;
            memset(marks, '~', sizeof(marks));
            myr_buf_printf(&text, "%.*s%.*s%s", (int)(word - heads[h]), heads[h], lens[i], marks,
                           word + 2);
            struct myr_str said = {text.data, text.len};
            assert_int_equal(myr_joblog_parse(&trace, "t.csv", said, &err), MYR_EINVAL);
            for (const char *at = err.message; *at; at++) {
                shown += *at == '~';
            }
            if (shown != (lens[i] + front < 40 ? lens[i] : 40 - front)) {
                fail_msg("%d of %d are shown: %s", shown, lens[i], err.message);
            }
        }
    }
}

/* A file with this text, whose name the caller unlinks. */
static void write_file(char path[32], struct myr_str text)
{
    snprintf(path, 32, "/tmp/myr-joblog-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.data, text.len), (ssize_t)text.len);
    close(fd);
}

static void assert_same_trace(const struct myr_joblog *a, const struct myr_joblog *b)
{
    assert_int_equal(a->jobs.count, b->jobs.count);
    assert_memory_equal(a->jobs.items, b->jobs.items, a->jobs.count * sizeof(*a->jobs.items));
    assert_int_equal(a->left_out, b->left_out);
    assert_int_equal(a->tenants, b->tenants);
    for (uint32_t t = 0; t < a->tenants; t++) {
        assert_string_equal(a->tenant_names[t], b->tenant_names[t]);
    }
}

static void pieces_of_any_size_give_the_same_rows(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\xef\xbb\xbfsubmit_s,duration_s,num_gpus,vc\r\n5,60,1,\"a\"\"\nb\"\r\n\r\n7,1,2,c,\"\n\"\n"
        "3,9,0,d\n9,2,4,\"a\"\"\nb\"",
        "JobID|Submit|Elapsed|AllocTRES|Account\n1|2026-01-01T00:00:00|00:01:00|gres/gpu=4|a\"b\n"
        "1.batch|2026-01-01T00:00:00|00:01:00|gres/gpu=4|\"\n2|2026-01-01T00:00:05|10|gres/gpu=1|c",
        "submit_s,duration_s,num_gpus\n1,2,3\n4,5",          /* a field is missing */
        "submit_s,duration_s,num_gpus,vc\n1,2,3,\"a\n4,5,6", /* a quote is left open */
        "",
        "submit_s,duration_s\n1,2\n",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct myr_str text = myr_str_from(texts[i]);
        char path[32];
        write_file(path, text);
        for (size_t piece = 1; piece < text.len + 2; piece++) {
            struct myr_joblog whole, pieces;
            struct myr_err whole_err = {}, err = {};
            int rc = myr_joblog_parse(&whole, path, text, &whole_err);
            assert_int_equal(joblog_read_pieces(&pieces, path, piece, NULL, &err), rc);
            if (rc == MYR_OK) {
                assert_same_trace(&whole, &pieces);
                myr_joblog_done(&whole);
                myr_joblog_done(&pieces);
            } else {
                assert_string_equal(err.message, whole_err.message);
            }
        }
        unlink(path);
    }
}

static void a_row_without_an_end_is_refused_before_it_eats_the_memory(void **state)
{
    (void)state;
    enum { BYTES = 3 << 20 };
    static const struct {
        const char *start, *message;
    } cases[] = {{"submit_s,duration_s,num_gpus,vc\n1,2,3,\"", ":2:7: the quote opened here"},
                 {"submit_s,duration_s,num_gpus,vc\n1,2,3,", ":2:1: a row of more than"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_joblog trace;
        struct myr_err err = {};
        struct myr_buf text = {};
        char path[32];
        myr_buf_put(&text, cases[i].start, strlen(cases[i].start));
        while (text.len < BYTES) {
            myr_buf_putc(&text, 'x');
        }
        write_file(path, (struct myr_str){text.data, text.len});
        assert_true(myr_joblog_read(&trace, path, &err) < 0);
        assert_non_null(strstr(err.message, cases[i].message));
        unlink(path);
        myr_buf_done(&text);
    }
}

static void a_row_takes_24_bytes(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct myr_job_row), 24);
    struct myr_joblog trace = read_good("submit_s,duration_s,num_gpus,priority\n"
                                        "1099511627776,8589934592,16777216,-100\n"
                                        "1099511627775,1,1,100\n");
    assert_int_equal(trace.jobs.items[1].submit_s, 1);
    assert_int_equal(trace.jobs.items[1].duration_s, INT64_C(8589934592));
    assert_int_equal(trace.jobs.items[1].gpus, MYR_JOB_GPUS_MAX);
    assert_int_equal(trace.jobs.items[1].priority, -100);
    assert_int_equal(trace.jobs.items[0].priority, 100);
    myr_joblog_done(&trace);
}

static void a_file_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct myr_joblog trace;
    struct myr_err err = {};
    assert_true(myr_joblog_read(&trace, "/nowhere/jobs.csv", &err) < 0);
    assert_non_null(strstr(err.message, "/nowhere/jobs.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_known_by_many_names),
        cmocka_unit_test(time_stamps_offsets_and_fractions_are_understood),
        cmocka_unit_test(what_sacct_prints_is_read),
        cmocka_unit_test(jobs_that_never_ran_are_left_out),
        cmocka_unit_test(notes_are_found_by_line_and_by_id),
        cmocka_unit_test(jobs_that_wait_still_have_never_run),
        cmocka_unit_test(a_share_of_a_gpu_counts_as_one),
        cmocka_unit_test(equal_times_keep_the_order_of_the_file),
        cmocka_unit_test(a_header_that_lacks_a_column_is_told_which),
        cmocka_unit_test(a_short_row_is_told_which_field_it_lacks),
        cmocka_unit_test(a_row_has_nothing_behind_the_first_lines_columns),
        cmocka_unit_test(bad_traces_are_told_where),
        cmocka_unit_test(wrong_words_are_shown_up_to_forty_characters),
        cmocka_unit_test(pieces_of_any_size_give_the_same_rows),
        cmocka_unit_test(a_row_without_an_end_is_refused_before_it_eats_the_memory),
        cmocka_unit_test(a_row_takes_24_bytes),
        cmocka_unit_test(a_file_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
