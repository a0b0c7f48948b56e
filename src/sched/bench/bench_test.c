#include "myriad/sched/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"

static uint64_t steps;

static void count_steps(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    assert_true(done == steps + 1 && done <= total);
    steps = done;
}

/* How often each layout is asked at sizes of 8 to 128 nodes: where its axes divide them. */
static void expect_layouts(const struct myr_bench_answer *a, enum myr_bench_kind kind)
{
    static const struct {
        const char *layout;
        uint32_t first, count; /* sizes: so many, each twice the one before */
    } wanted[] = {{"tp-node pp8", 8, 5},         {"tp-node pp4", 8, 5},
                  {"tp-node pp16", 16, 4},       {"tp-node pp8 ep8", 64, 2},
                  {"tp-node pp8 cp2", 16, 4},    {"tp-half pp8", 8, 5},
                  {"tp-node pp8 cp2 ep8", 64, 2}};
    uint32_t at = 0;
    while (at < a->row_count && a->rows[at].kind != kind) {
        at++;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wanted); i++) {
        for (uint32_t k = 0; k < wanted[i].count; k++, at++) {
            assert_int_equal(a->rows[at].kind, kind);
            assert_string_equal(a->rows[at].layout, wanted[i].layout);
            assert_int_equal(a->rows[at].gang_nodes, wanted[i].first << k);
            assert_int_equal(a->rows[at].decisions, 200);
        }
    }
    assert_true(at == a->row_count || a->rows[at].kind != kind);
}

/* What else is timed, once each, of 1,000 nodes: how often, and for how many nodes. */
static void expect_others(const struct myr_bench_answer *a)
{
    static const struct {
        enum myr_bench_kind kind;
        uint32_t nodes, decisions;
    } wanted[] = {
        {MYR_BENCH_CHANGE, 0, 40000}, {MYR_BENCH_LARGE, 990, 25}, {MYR_BENCH_DEFRAG, 83, 20}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wanted); i++) {
        const struct myr_bench_row *row = &a->rows[a->row_count - MYR_ARRAY_COUNT(wanted) + i];
        assert_int_equal(row->kind, wanted[i].kind);
        assert_int_equal(row->gang_nodes, wanted[i].nodes);
        assert_int_equal(row->decisions, wanted[i].decisions);
    }
    uint64_t decisions = 0, placed = 0;
    for (uint32_t i = 1; a->rows[i].kind == MYR_BENCH_GANG; i++) {
        decisions += a->rows[i].decisions;
        placed += a->rows[i].placed;
        assert_true(i == 1 || a->rows[i].gang_nodes > a->rows[i - 1].gang_nodes);
    }
    assert_int_equal(a->rows[0].decisions, decisions);
    assert_int_equal(a->rows[0].placed, placed);
}

/* Everything but times, as it was when somebody last looked (tests/kept/sched-bench.txt). */
static void expect_kept(const struct myr_bench_answer *a)
{
    struct myr_buf text = {};
    for (uint32_t i = 0; i < a->row_count; i++) {
        const struct myr_bench_row *row = &a->rows[i];
        myr_buf_printf(&text, "%d %s of %u nodes: %llu of %llu placed\n", (int)row->kind,
                       row->layout ? row->layout : "-", row->gang_nodes,
                       (unsigned long long)row->placed, (unsigned long long)row->decisions);
    }
    myr_buf_printf(&text, "%.9f %% full, %llu GPUs move where %llu are the least\n",
                   a->fill_percent, (unsigned long long)a->defrag_gpus_moved,
                   (unsigned long long)a->defrag_gpus_least);
    assert_kept("sched-bench.txt", &text);
    myr_buf_done(&text);
}

static void everything_is_measured_and_all_but_times_follows_from_the_seed(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_bench_answer a[2];
    struct myr_err err = {};
    struct myr_bench_question question = {
        .cluster = {.nodes = 1000, .leaf_nodes = 8}, .seed = 3, .progress = count_steps};
    myr_arena_init(&arena);
    memset(a, 0xa5, sizeof(a)); /* whatever was in it before */
    for (uint32_t i = 0; i < 2; i++) {
        steps = 0;
        assert_int_equal(myr_bench_ask(&question, &arena, &a[i], &err), MYR_OK);
        assert_int_equal(steps, 18);
    }
    uint32_t seen = 0;
    assert_int_equal(a[0].row_count, a[1].row_count);
    for (uint32_t i = 0; i < a[0].row_count; i++) {
        const struct myr_bench_row *x = &a[0].rows[i], *y = &a[1].rows[i];
        seen |= 1U << x->kind;
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->gang_nodes, y->gang_nodes);
        assert_int_equal(x->decisions, y->decisions);
        assert_int_equal(x->placed, y->placed);
        assert_true(x->placed <= x->decisions && x->decisions > 0);
        assert_true(x->p50_us <= x->p99_us && x->p99_us <= x->max_us && x->max_us > 0);
        assert_int_equal(x->layout != NULL,
                         x->kind == MYR_BENCH_LAYOUT || x->kind == MYR_BENCH_SCATTERED);
        /* Room is made for every gang that is timed, but during churn, where it may lack. */
        if (x->kind != MYR_BENCH_GANG && x->kind != MYR_BENCH_ALL) {
            assert_int_equal(x->placed, x->decisions);
        }
    }
    assert_int_equal(seen, (1U << (MYR_BENCH_ALL + 1)) - 1);
    expect_layouts(&a[0], MYR_BENCH_LAYOUT);
    expect_layouts(&a[0], MYR_BENCH_SCATTERED);
    expect_others(&a[0]);
    assert_int_equal(a[0].rows[0].kind, MYR_BENCH_ALL);
    assert_int_equal(a[0].rows[0].decisions, 3200);                /* 400 rounds of eight jobs */
    assert_true(a[0].fill_percent > 93 && a[0].fill_percent < 97); /* as full as it began */
    assert_true(a[0].fill_percent == a[1].fill_percent);
    assert_true(a[0].decisions_per_s > 0);
    assert_true(a[0].has_defrag && a[0].defrag_gpus_moved >= a[0].defrag_gpus_least);
    assert_int_equal(a[0].defrag_gpus_moved, a[1].defrag_gpus_moved);
    expect_kept(&a[0]);
    myr_arena_done(&arena);
}

static struct myr_bench_events parse_good(const char *text)
{
    struct myr_bench_events events;
    struct myr_err err = {};
    if (myr_bench_events_parse(&events, "e.csv", myr_str_from(text), 32, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return events;
}

static void events_are_read_in_order(void **state)
{
    (void)state;
    struct myr_bench_events events =
        parse_good("place,7,32\nrelease,7\nmeasure\nplace,7,1\n\nplace,0,2\n");
    assert_int_equal(events.items.count, 5);
    assert_int_equal(events.items.items[0].kind, MYR_EVENT_PLACE);
    assert_int_equal(events.items.items[0].job, 7);
    assert_int_equal(events.items.items[0].nodes, 32);
    assert_int_equal(events.items.items[1].kind, MYR_EVENT_RELEASE);
    assert_int_equal(events.items.items[2].kind, MYR_EVENT_MEASURE);
    assert_int_equal(events.items.items[4].job, 0);
    myr_bench_events_done(&events);
}

static void bad_events_are_told_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place;
    } cases[] = {
        {"start,1,2\n", "e.csv:1:1: unknown event"},
        {"place,1\n", "e.csv:1:1: too few fields"},
        {"place\n", "e.csv:1:1: too few fields"},
        {"place,1,1,024\n", "e.csv:1:11: too many fields"},
        {"place,1,1\nrelease,1,1\n", "e.csv:2:11: too many fields"},
        {"place,1,33\n", "e.csv:1:9: '33' is no number of nodes, expected 1 to 32"},
        {"place,1,0\n", "e.csv:1:9: '0' is no number of nodes, expected 1 to 32"},
        {"place,x,1\n", "e.csv:1:7: 'x' is no job, expected 0 to 999999"},
        {"place,1000000,1\n", "e.csv:1:7: '1000000' is no job, expected 0 to 999999"},
        {"measure,1\n", "e.csv:1:9: nothing stands behind 'measure'"},
        {"release,1\n", "e.csv:1:9: job 1 is not placed"},
        {"place,1,1\nplace,1,1\n", "e.csv:2:7: job 1 is placed already"},
        {"place,1,1\nrelease,1\nrelease,1\n", "e.csv:3:9: job 1 is not placed"},
        {"place,\"1,1\n", "e.csv:1:7: the quote opened here is never closed"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_bench_events events;
        struct myr_err err = {};
        assert_true(
            myr_bench_events_parse(&events, "e.csv", myr_str_from(cases[i].text), 32, &err) < 0);
        if (strncmp(err.message, cases[i].place, strlen(cases[i].place)) != 0) {
            fail_msg("'%s' instead of '%s'", err.message, cases[i].place);
        }
        assert_null(events.items.items);
    }
}

static void events_are_played_and_timed_from_measure_on(void **state)
{
    (void)state;
    static const char text[] = "place,0,16\nplace,1,4\nmeasure\nplace,2,2\nrelease,1\nplace,3,30\n"
                               "release,3\nrelease,0\nplace,4,2\nplace,5,24\n";
    char path[] = "/tmp/myr-events-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    struct myr_arena arena;
    struct myr_bench_answer a;
    struct myr_err err = {};
    struct myr_bench_question question = {.cluster = {.nodes = 32, .leaf_nodes = 8},
                                          .events = path};
    myr_arena_init(&arena);
    assert_int_equal(myr_bench_ask(&question, &arena, &a, &err), MYR_OK);
    static const struct {
        uint32_t nodes, decisions, placed;
    } rows[] = {{0, 4, 3}, {2, 2, 2}, {24, 1, 1}, {30, 1, 0}};
    assert_int_equal(a.row_count, MYR_ARRAY_COUNT(rows));
    for (uint32_t i = 0; i < a.row_count; i++) {
        assert_int_equal(a.rows[i].gang_nodes, rows[i].nodes);
        assert_int_equal(a.rows[i].decisions, rows[i].decisions);
        assert_int_equal(a.rows[i].placed, rows[i].placed);
    }
    /* 22, 18, 4 and 28 of 32 nodes were in use behind the four decisions. */
    assert_true(a.fill_percent > 56.2 && a.fill_percent < 56.3);
    assert_false(a.has_defrag);
    myr_arena_done(&arena);
    unlink(path);
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_bench_answer a;
    struct myr_err err = {};
    myr_arena_init(&arena);
    struct myr_bench_question small = {.cluster = {.nodes = 11}};
    assert_true(myr_bench_ask(&small, &arena, &a, &err) < 0);
    assert_string_equal(err.message, "the bench needs at least 12 nodes, not 11");
    struct myr_bench_question none = {.cluster = {.nodes = 16}, .events = "/nowhere/e.csv"};
    assert_true(myr_bench_ask(&none, &arena, &a, &err) < 0);
    assert_non_null(strstr(err.message, "/nowhere/e.csv"));
    struct myr_bench_question pods = {.cluster = {.nodes = 16, .leaf_nodes = 8, .pod_nodes = 12}};
    assert_true(myr_bench_ask(&pods, &arena, &a, &err) < 0);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_measured_and_all_but_times_follows_from_the_seed),
        cmocka_unit_test(events_are_read_in_order),
        cmocka_unit_test(bad_events_are_told_where),
        cmocka_unit_test(events_are_played_and_timed_from_measure_on),
        cmocka_unit_test(bad_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
