#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay/joblog_impl.h"

static struct myr_joblog read_good(const char *text)
{
    struct myr_joblog trace;
    struct myr_err err = {};
    if (myr_joblog_parse(&trace, "t.csv", myr_str_from(text), &err) < 0) {
        fail_msg("%s", err.message);
    }
    return trace;
}

enum { NOTES = 700 };

struct noted {
    uint32_t line;
    int64_t waited_s;
    char id[16];
};

/* Gaps of one and of many lines, waits that need one byte and many, ids that come twice. */
static void draw_notes(struct myr_rng *rng, struct myr_joblog_notes *notes, struct noted *rows)
{
    uint32_t line = 0;
    for (uint32_t i = 0; i < NOTES; i++) {
        line += 1 + (myr_rng_below(rng, 4) ? 0 : myr_rng_below(rng, 1U << myr_rng_below(rng, 16)));
        rows[i].line = line;
        int64_t wait_s = myr_rng_below(rng, 1U << myr_rng_below(rng, 31));
        rows[i].waited_s = myr_rng_below(rng, 5) ? wait_s * (i % 2 ? 1 : 4) : -1;
        rows[i].id[0] = '\0';
        if (myr_rng_below(rng, 8)) {
            snprintf(rows[i].id, sizeof(rows[i].id), "job-%u", myr_rng_below(rng, NOTES / 2));
        }
        struct myr_joblog_note note = {myr_str_from(rows[i].id), rows[i].waited_s};
        joblog_add_note(notes, line, &note);
    }
}

static void check_line(const struct myr_joblog *trace, struct myr_joblog_cursor *cursor,
                       const struct noted *rows, uint32_t line)
{
    const struct noted *row = NULL;
    for (uint32_t i = 0; i < NOTES && !row; i++) {
        row = rows[i].line == line ? &rows[i] : NULL;
    }
    struct myr_joblog_note note = {.waited_s = 77};
    assert_int_equal(myr_joblog_note(trace, cursor, line, &note), row != NULL);
    assert_int_equal(note.waited_s, row ? row->waited_s : -1);
    assert_true(myr_str_eq(note.id, myr_str_from(row ? row->id : "")));
}

static void notes_are_what_was_noted_wherever_one_asks(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint32_t seed = 23;
    print_message("seed %u\n", seed);
    myr_rng_init(&rng, seed, 0);
    struct myr_joblog trace = {};
    static struct noted rows[NOTES];
    myr_arena_init(&trace.arena);
    draw_notes(&rng, &trace.notes, rows);
    struct myr_joblog_cursor cursor = {};
    for (uint32_t i = 0; i < NOTES; i++) { /* the line, and those beside it, in turn and anyhow */
        const struct noted *any = &rows[myr_rng_below(&rng, NOTES)];
        check_line(&trace, &cursor, rows, rows[i].line);
        check_line(&trace, &cursor, rows, rows[i].line + 1);
        check_line(&trace, NULL, rows, any->line - (i % 3 ? 0 : 1));
        check_line(&trace, i % 16 ? NULL : &cursor, rows, any->line);
    }
    check_line(&trace, &cursor, rows, 0);
    check_line(&trace, &cursor, rows, UINT32_MAX);
    myr_joblog_done(&trace);
}

static void ids_that_come_twice_are_counted_and_the_first_are_told(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint32_t seed = 29;
    print_message("seed %u\n", seed);
    myr_rng_init(&rng, seed, 0);
    struct myr_joblog trace = {};
    static struct noted rows[NOTES];
    myr_arena_init(&trace.arena);
    draw_notes(&rng, &trace.notes, rows);
    for (uint32_t n = 0; n < NOTES / 2; n++) {
        uint32_t lines[3] = {9, 9, 9}, expected[3] = {9, 9, 9}, most = n % 3;
        uint64_t count = 0;
        char id[16];
        snprintf(id, sizeof(id), "job-%u", n);
        for (uint32_t i = 0; i < NOTES; i++) {
            if (strcmp(rows[i].id, id) == 0 && count++ < most) {
                expected[count - 1] = rows[i].line;
            }
        }
        assert_int_equal(myr_joblog_find(&trace, myr_str_from(id), most, lines), count);
        assert_memory_equal(lines, expected, sizeof(lines));
    }
    myr_joblog_done(&trace);
}

/* A replay tells of waits and of ids only where the log has any. */
static void a_log_says_whether_it_has_ids_and_waits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ids, waits;
    } cases[] = {
        {"submit_s,duration_s,gpus\n1,2,3\n", false, false},
        {"submit_s,duration_s,gpus,id\n1,2,3,\n1,2,3,a\n1,2,3,\n", true, false},
        {"submit_s,duration_s,gpus,wait\n1,2,3,x\n1,2,3,0\n1,2,3,x\n", false, true},
        {"submit_s,duration_s,gpus,id,wait\n1,2,3,a,\n1,2,3,,4\n", true, true},
        {"submit_s,duration_s,gpus,id,wait\n1,2,3,,\n", false, false},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_joblog trace = read_good(cases[i].text);
        assert_int_equal(trace.notes.has_ids, cases[i].ids);
        assert_int_equal(trace.notes.has_waits, cases[i].waits);
        myr_joblog_done(&trace);
    }
}

static void a_log_without_notes_has_none_of_any_line(void **state)
{
    (void)state;
    struct myr_joblog trace = read_good("submit_s,duration_s,gpus\n1,2,3\n4,5,6\n");
    struct myr_joblog_cursor cursor = {};
    for (uint32_t line = 0; line < 5; line++) {
        struct myr_joblog_note note = {MYR_STR("x"), 5};
        assert_false(myr_joblog_note(&trace, line % 2 ? &cursor : NULL, line, &note));
        assert_int_equal(note.waited_s, -1);
        assert_int_equal(note.id.len, 0);
    }
    assert_int_equal(myr_joblog_find(&trace, MYR_STR(""), 0, NULL), 0);
    myr_joblog_done(&trace);
}

static void a_wait_is_what_was_recorded_or_start_less_submit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t waited_s;
    } cases[] = {
        {"id,submit_s,duration_s,gpus,wait\na,5,1,1,7\n", 7},
        {"id,submit_s,duration_s,gpus,wait\na,5,1,1,1:10\n", 70},
        {"id,submit_s,duration_s,gpus,wait\na,5,1,1,soon\n", -1},
        {"id,submit_s,duration_s,gpus,start\na,5,1,1,5\n", 0},
        {"id,submit_s,duration_s,gpus,start\na,5,1,1,6\n", 1},
        {"id,submit_s,duration_s,gpus,start\na,5,1,1,4\n", -1}, /* clocks differ */
        {"id,submit_s,duration_s,gpus,start\na,5,1,1,x\n", -1},
        /* A column of waits is believed also where it says nothing. */
        {"id,submit_s,duration_s,gpus,start,wait\na,5,1,1,9,\n", -1},
        {"id,submit_s,duration_s,gpus,start,wait\na,5,1,1,9,3\n", 3},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_joblog trace = read_good(cases[i].text);
        struct myr_joblog_note note;
        assert_true(myr_joblog_note(&trace, NULL, 2, &note));
        assert_int_equal(note.waited_s, cases[i].waited_s);
        assert_true(myr_str_eq(note.id, MYR_STR("a")));
        myr_joblog_done(&trace);
    }
}

static void long_ids_are_cut_at_256_bytes(void **state)
{
    (void)state;
    for (uint32_t len = 255; len <= 257; len++) {
        char text[512];
        snprintf(text, sizeof(text), "submit_s,duration_s,gpus,id\n1,2,3,%0*d\n", (int)len, 7);
        struct myr_joblog trace = read_good(text);
        struct myr_joblog_note note;
        assert_true(myr_joblog_note(&trace, NULL, 2, &note));
        assert_int_equal(note.id.len, len < 256 ? len : 256);
        assert_int_equal(note.id.data[note.id.len - 1], len <= 256 ? '7' : '0');
        myr_joblog_done(&trace);
    }
}

/* Against the plainest stable sort: a job goes in front of all that were submitted later. */
static void jobs_are_sorted_by_time_and_large_ones_can_be_taken_out(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint32_t seed = 31;
    print_message("seed %u\n", seed);
    myr_rng_init(&rng, seed, 0);
    for (uint32_t count = 0; count < 70; count++) {
        struct myr_joblog trace = {};
        struct myr_job_row model[70];
        uint32_t kept = 0, dropped = 0, line = 0, first = 0;
        myr_arena_init(&trace.arena);
        for (uint32_t i = 0; i < count; i++) {
            struct myr_job_row row = {.submit_s = (int64_t)myr_rng_below(&rng, 20),
                                      .gpus = 1 + (myr_rng_below(&rng, 9) & 0xff),
                                      .line = i + 2};
            uint32_t at = i;
            myr_vec_push(&trace.jobs, row);
            for (; at > 0 && model[at - 1].submit_s > row.submit_s; at--) {
                model[at] = model[at - 1];
            }
            model[at] = row;
        }
        myr_joblog_sort(&trace);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(trace.jobs.items[i].line, model[i].line);
            first = model[i].gpus > 5 && !dropped++ ? model[i].line : first;
        }
        assert_int_equal(myr_joblog_drop_larger(&trace, 5, &line), dropped);
        assert_int_equal(line, first);
        for (uint32_t i = 0; i < count; i++) {
            if (model[i].gpus <= 5) {
                assert_int_equal(trace.jobs.items[kept++].line, model[i].line);
            }
        }
        assert_int_equal(trace.jobs.count, kept);
        myr_joblog_done(&trace);
    }
}

static void messages_say_what_is_wrong_with_a_row(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"submit_s,duration_s,gpus\n" /* forty letters are shown */
         "a234567890123456789012345678901234567890x,2,3\n",
         "t.csv:2:1: 'a234567890123456789012345678901234567890' is no time; seconds or "
         "2026-01-31T23:59:59 are expected"},
        {"submit_s,duration_s,gpus\n1,b23456789,3\n",
         "t.csv:2:3: 'b23456789' is no length of time; seconds or [days-]hours:minutes:seconds "
         "are expected"},
        {"submit_s,duration_s,gpus\n1,2,16777217\n",
         "t.csv:2:5: '16777217' is no number of GPUs; a whole number from 0 to 16777216 is "
         "expected"},
        {"submit_s,start,end,gpus\n1,2,1,3\n", "t.csv:2:5: the job ends before it starts"},
        {"submit_s,start,end,gpus\n1,2,8589934595,3\n",
         "t.csv:2:5: the job ends 8589934593 s after its start, at most 8589934592 are expected"},
        {"submit_s,duration_s,gpus,priority\n1,2,3,-101\n",
         "t.csv:2:7: a priority is a whole number from -100 to 100"},
        {"submit_s,gpus,duration_s,gpus\n1,2,3,4\n",
         "t.csv:1:26: a second column 'gpus', the first is field 2"},
        {"\n", "t.csv:1:1: the file is empty, a trace of jobs (CSV, or as sacct prints it) is "
               "expected"},
        {"submit_s,duration_s,gpus\n1,2,0\n",
         "t.csv:1:1: the trace has no job that had GPUs and ended"},
        {"submit_s|duration_s|gpus\n\n\r\n1|2|3\r\n1|2\r\n",
         "t.csv:5:1: 2 fields, by the first line at least 3 are expected"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_joblog trace;
        struct myr_err err = {};
        assert_int_equal(myr_joblog_parse(&trace, "t.csv", myr_str_from(cases[i].text), &err) < 0,
                         true);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void a_row_between_bars_has_at_most_256_fields(void **state)
{
    (void)state;
    for (uint32_t fields = 255; fields <= 257; fields++) {
        struct myr_joblog trace;
        struct myr_err err = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        myr_buf_puts(&text, "submit_s|duration_s|gpus\n1|2|3");
        for (uint32_t i = 3; i < fields; i++) {
            myr_buf_putc(&text, '|');
        }
        int rc = myr_joblog_parse(&trace, "t.csv", (struct myr_str){text.data, text.len}, &err);
        if (fields > 256) {
            assert_true(rc < 0);
            assert_string_equal(err.message, "t.csv:2:1: more than 256 fields");
        } else {
            assert_int_equal(rc, MYR_OK);
            assert_int_equal(trace.jobs.items[0].gpus, 3);
            myr_joblog_done(&trace);
        }
    }
}

static void the_first_name_of_a_column_wins_and_the_separator_is_seen(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "time,submit_s,elapsed,duration_s,gpu,num_gpus,user,vc\n8,1,8,2,8,3,b,a\n",
        "submit_s,start,end,duration_s,gpus,alloctres,vc\n1,1,99,2,3,gres/gpu=9,a\n",
        "submit_s;duration_s;gpus;vc;a|b\n1;2;3;a;|\n1;2;3;a;\n", /* the bar decides */
        "SUBMIT-S\tDuration S\tGPUs\tVC\tpriority\n1\t2\t3\ta\t9999\n",
        "submit_s|duration_s|gpus|vc|priority\n1|2|3|a|9999\n",
        "submit_s;duration_s;gpus;vc\n1;2;3;a\n",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct myr_joblog trace;
        struct myr_err err = {};
        int rc = myr_joblog_parse(&trace, "t.csv", myr_str_from(texts[i]), &err);
        if (i == 2) {
            assert_true(rc < 0);
            assert_non_null(strstr(err.message, "no column says when jobs came"));
            continue;
        }
        assert_int_equal(rc, MYR_OK);
        assert_int_equal(trace.jobs.count, 1);
        assert_int_equal(trace.jobs.items[0].duration_s, 2);
        assert_int_equal(trace.jobs.items[0].gpus, 3);
        assert_int_equal(trace.jobs.items[0].priority, 0); /* Slurm's is of another scale */
        assert_string_equal(trace.tenant_names[0], "a");
        myr_joblog_done(&trace);
    }
}

static void keep_last(void *context, uint64_t rows)
{
    *(uint64_t *)context = rows;
}

static void a_listener_hears_of_all_rows(void **state)
{
    (void)state;
    char path[] = "/tmp/myr-joblog-XXXXXX";
    static const char text[] = "submit_s,duration_s,gpus\n1,2,3\n1,2,0\n4,5,6\n";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
    close(fd);
    struct myr_joblog trace;
    struct myr_err err = {};
    uint64_t heard = 0;
    struct myr_joblog_listener listener = {keep_last, &heard};
    assert_int_equal(myr_joblog_read_telling(&trace, path, &listener, &err), MYR_OK);
    assert_int_equal(heard, 3);
    assert_int_equal(trace.jobs.count, 2);
    myr_joblog_done(&trace);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_are_what_was_noted_wherever_one_asks),
        cmocka_unit_test(ids_that_come_twice_are_counted_and_the_first_are_told),
        cmocka_unit_test(a_log_says_whether_it_has_ids_and_waits),
        cmocka_unit_test(a_log_without_notes_has_none_of_any_line),
        cmocka_unit_test(a_wait_is_what_was_recorded_or_start_less_submit),
        cmocka_unit_test(long_ids_are_cut_at_256_bytes),
        cmocka_unit_test(jobs_are_sorted_by_time_and_large_ones_can_be_taken_out),
        cmocka_unit_test(messages_say_what_is_wrong_with_a_row),
        cmocka_unit_test(a_row_between_bars_has_at_most_256_fields),
        cmocka_unit_test(the_first_name_of_a_column_wins_and_the_separator_is_seen),
        cmocka_unit_test(a_listener_hears_of_all_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
