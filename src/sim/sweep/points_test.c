#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sim/sweep.h"

/* What a sweep's file may say, from limit to limit, and what its points then ask. */

static const char head[] = "topology: fat-tree:k=4\nworkload: permutation:1MB\n";

static int parse(struct myr_sweep *sweep, struct myr_arena *arena, const char *text,
                 struct myr_err *err)
{
    *err = (struct myr_err){};
    myr_arena_init(arena);
    return myr_sweep_parse(sweep, arena, "s.yaml", myr_str_from(text), err);
}

static void put_words(struct myr_buf *text, const char *name, const struct myr_sim_words *words)
{
    for (uint32_t i = 0; i < words->count; i++) {
        myr_buf_printf(text, " %s%s", i ? "+ " : name, words->items[i]);
    }
}

static void put_point(struct myr_buf *text, const struct myr_sweep *sweep, uint32_t point,
                      struct myr_arena *arena)
{
    struct myr_sim_question it = myr_sweep_question(sweep, point, arena);
    myr_buf_printf(text, "  %u: %s %s, net %s, lb %s %llu%s, pairs %u, %u %u %u, %s,", point,
                   it.design ? "design" : "topology", it.design ? it.design : it.topology,
                   myr_net_names[it.net], myr_policy_names[it.balance.policy],
                   (unsigned long long)it.balance.seed, it.balance.polarised ? " polarised" : "",
                   it.queue_pairs, it.efficiency_permille, it.sharing_loss_permille,
                   it.pause_permille, it.message_overhead);
    put_words(text, "", &it.workloads);
    put_words(text, "fault ", &it.faults);
    put_words(text, "slow ", &it.slow);
    myr_buf_putc(text, '\n');
}

/* The file, and its first, second and last points or what is wrong with it. */
static void put_sweep(struct myr_buf *text, const char *more)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    struct myr_sweep sweep;
    struct myr_err err;
    myr_buf_printf(&file, "%s%s", strstr(more, "topology") ? "" : head, more);
    myr_buf_printf(text, "%s\n", more);
    if (parse(&sweep, &arena, file.data, &err) < 0) {
        myr_buf_printf(text, "  %s: %s %s\n", myr_err_name(err.code), err.message, err.hint);
        return;
    }
    myr_buf_printf(text, "  %u points of %u axes\n", sweep.points, sweep.axis_count);
    put_point(text, &sweep, 0, &arena);
    if (sweep.points > 2) {
        put_point(text, &sweep, 1, &arena);
    }
    if (sweep.points > 1) {
        put_point(text, &sweep, sweep.points - 1, &arena);
    }
}

static void files_are_read_as_they_were(void **state)
{
    (void)state;
    static const char *const more[] = {
        "", /* the usual of every setting */
        "seed: 18446744073709551615", "seed: -1", "seed: 18446744073709551616",
        "queue_pairs: [1, 256]", "queue_pairs: 0", "queue_pairs: 257", "queue_pairs: 1-256",
        "queue_pairs: 0-2", "queue_pairs: 2-257", "queue_pairs: 3-3", "queue_pairs: 3-2",
        "queue_pairs: -2", "queue_pairs: 2-", "queue_pairs: [1-2]", "queue_pairs: 1-2-3",
        "efficiency: [1, 1000]", "efficiency: 0", "efficiency: 1001", "sharing_loss: [0, 999]",
        "sharing_loss: 1000", "pause: [0, 1000]", "pause: 1001", "polarised: [true, false]",
        "polarised: perhaps", "net: [storage, compute]", "net: none", "lb: [spray, ecmp]",
        "lb: none", "message_overhead: 2us", "seed: []", "seed: {a: 1}", "seed: 0-99999",
        "seed: 0-100000", "seed: 5-100004\nqueue_pairs: 1-10", "seed: 5-100004\nqueue_pairs: 1-11",
        "unheard: 1", "knobs: 3", "knobs: {seed: 1}", "knobs: {point: 1}", "knobs: {job: 1}",
        "knobs: {a: 1}", "knobs: {a: [1, 2]}\nslow: ['{a}', '{b}']",
        "fault: '{lb}'\nlb: [ecmp, spray]", "fault: '{a'\nknobs: {a: 1}",
        "fault: '{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}'",
        /* Knobs in settings and in every list; a brace in a knob's value is one. */
        ("topology: 'fat-tree:k={k}'\nworkload: ['{w}', 'x{w}{w}y']\njobs: ['j{k}', '{w}{k}']\n"
         "fault: ['f{k}', g]\nslow: 's{w}'\nknobs: {k: [4, 6], w: ['{k}', b]}"),
        "topology: a\nworkload: b\nknobs: {n: ['', x]}\nmessage_overhead: '{n}us'",
        "workload: b\n#topology", "topology: a", "topology: a\ndesign: b\nworkload: c",
        "#topology\ndesign: [a, b]\nworkload: c", "jobs: [a, [b]]", "fault: {a: 1}", "slow: []"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(more); i++) {
        put_sweep(&text, more[i]);
    }
    assert_kept("sim-sweep-points.txt", &text);
}

/* So many lists and texts as there may be, and one more. */
static void there_are_only_so_many(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        uint32_t most;
        const char *words;
    } rows[] = {
        {"jobs", 64, "'jobs' has 65 values, up to 64 are expected"},
        {"fault", 64, "'fault' has 65 values, up to 64 are expected"},
        {"slow", 64, "'slow' has 65 values, up to 64 are expected"},
        {"seed", 100000, "'seed' has 100001 values, 1 to 100000 are expected"},
        {"knobs", 21, "more than 32 settings and knobs"},
    };
    for (size_t i = 0; i < 2 * MYR_ARRAY_COUNT(rows); i++) {
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
        struct myr_sweep sweep;
        struct myr_err err;
        uint32_t count = rows[i / 2].most + i % 2;
        bool knobs = strcmp(rows[i / 2].list, "knobs") == 0;
        myr_buf_printf(&file, "%s%s: %s", head, rows[i / 2].list, knobs ? "{" : "[");
        for (uint32_t k = 0; k < count; k++) {
            myr_buf_printf(&file, knobs ? "%sk%u: 1" : "%s%u", k ? ", " : "", k);
        }
        myr_buf_puts(&file, knobs ? "}\njobs: '" : "]\n");
        for (uint32_t k = 0; knobs && k < count; k++) {
            myr_buf_printf(&file, "{k%u}", k);
        }
        myr_buf_puts(&file, knobs ? "'\n" : "");
        int rc = parse(&sweep, &arena, file.data, &err);
        if (i % 2) {
            assert_int_equal(rc, MYR_EINVAL);
            assert_non_null(strstr(err.message, rows[i / 2].words));
        } else {
            assert_int_equal(rc, MYR_OK);
        }
    }
}

/* A journal is told by it: any other name, value or order is another sweep. */
static void every_word_of_a_sweep_is_in_its_digest(void **state)
{
    (void)state;
    static const char *const more[] = {
        "",
        "seed: 1",
        "pause: 1",
        "seed: [0, 1]",
        "seed: [1, 0]",
        "jobs: [a, b]",
        "jobs: [b, a]",
        "jobs: [ab]",
        "jobs: a\nfault: b",
        "jobs: a\nslow: b",
        "fault: [a, b]",
        "slow: [a, b]",
        "fault: a\nslow: b",
        "fault: '{x}'\nknobs: {x: a}",
        "fault: '{y}'\nknobs: {y: a}",
        "fault: '{x}'\nknobs: {x: b}",
    };
    uint64_t digests[MYR_ARRAY_COUNT(more) + 1];
    for (size_t i = 0; i <= MYR_ARRAY_COUNT(more); i++) {
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
        struct myr_sweep sweep;
        struct myr_err err;
        bool again = i == MYR_ARRAY_COUNT(more); /* said with the usual: the same */
        myr_buf_printf(&file, "%s%s", head, again ? "net: compute" : more[i]);
        assert_int_equal(parse(&sweep, &arena, file.data, &err), MYR_OK);
        digests[i] = sweep.digest;
        for (size_t k = 0; k < i; k++) {
            assert_int_equal(digests[k] == digests[i], again && k == 0);
        }
    }
}

/* However much of it was written: what is whole is taken, and how far it goes. */
static void journals_are_taken_as_far_as_they_are_whole(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_sweep sweep;
    struct myr_err err;
    size_t ends[4] = {};
    myr_buf_printf(&text, "%sseed: 0-9", head);
    assert_int_equal(parse(&sweep, &arena, text.data, &err), MYR_OK);
    myr_buf_clear(&text);
    /* The first line, a point of one job, one of two jobs. */
    static const uint32_t rows[][3] = {{4, 0, 1}, {9, 0, 2}, {9, 1, 2}};
    myr_buf_printf(&text, "myriad sweep 1,%016llx,10,v\n", (unsigned long long)sweep.digest);
    ends[0] = text.len;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        myr_buf_printf(&text, "%u,%u,%u,ok", rows[i][0], rows[i][1], rows[i][2]);
        for (uint32_t c = 1; c < MYR_SWEEP_COLUMNS; c++) {
            myr_buf_putc(&text, ',');
        }
        myr_buf_putc(&text, '\n');
        ends[i + 1] = text.len;
    }
    for (size_t len = 0; len <= text.len; len++) {
        struct myr_sweep_row any = {}, *found = &any;
        uint32_t count = 99;
        size_t whole = 99;
        assert_int_equal(myr_sweep_journal(&sweep, "v", "j", (struct myr_str){text.data, len},
                                           &arena, &found, &count, &whole, &err),
                         MYR_OK);
        assert_int_equal(count, len < ends[1] ? 0 : len < ends[3] ? 1 : 3);
        assert_int_equal(whole, len < ends[0]   ? 0
                                : len < ends[1] ? ends[0]
                                : len < ends[3] ? ends[1]
                                                : ends[3]);
        assert_true(len >= ends[0] || found == NULL);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(found[i].point, rows[i][0]);
            assert_int_equal(found[i].job, rows[i][1]);
            assert_int_equal(found[i].jobs, rows[i][2]);
        }
    }
    struct myr_sweep_row *found;
    uint32_t count;
    size_t whole;
    assert_int_equal(myr_sweep_journal(&sweep, "w", "j", (struct myr_str){text.data, text.len},
                                       &arena, &found, &count, &whole, &err),
                     MYR_EINVAL);
    assert_string_equal(err.message,
                        "j:1:1: is the journal of another sweep, or of another version");
    assert_string_equal(err.hint, "remove it, or give another --out");
    assert_true(found == NULL && count == 0 && whole == 0);
}

/* --- the picture */

struct drawn {
    uint32_t point;
    const char *collective, *algorithm, *bytes, *end;
};

static void put_plot(struct myr_buf *text, const struct myr_sweep *sweep, const struct drawn *drawn,
                     uint32_t count, const char *ending)
{
    struct myr_sweep_row rows[24] = {};
    struct myr_err err = {};
    char path[40];
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    for (uint32_t i = 0; i < count; i++) {
        rows[i].point = drawn[i].point;
        rows[i].cells[MYR_SWEEP_COLLECTIVE] = myr_str_from(drawn[i].collective);
        rows[i].cells[MYR_SWEEP_ALGORITHM] = myr_str_from(drawn[i].algorithm);
        rows[i].cells[MYR_SWEEP_BYTES] = myr_str_from(drawn[i].bytes);
        rows[i].cells[MYR_SWEEP_END_US] = myr_str_from(drawn[i].end);
    }
    struct myr_sweep_result result = {.rows = rows, .row_count = count};
    snprintf(path, sizeof(path), "plot%s", ending);
    int rc = myr_sweep_plot(sweep, &result, path, &page, &err);
    myr_buf_printf(text, "%u rows as %s: %s\n", count, ending, rc < 0 ? err.message : "drawn");
    if (rc == MYR_OK) {
        const char *table = strstr(page.data, "<table"); /* before it: what all pages have */
        assert_int_equal(table != NULL, strcmp(ending, ".svg") != 0);
        myr_buf_puts(text, table ? table : page.data);
    }
}

static void pictures_are_what_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_sweep sweep;
    struct myr_err err;
    /* Sizes and seeds make no curves: point = size * 20 + seed * 10 + lb * 5 + pause. */
    assert_int_equal(parse(&sweep, &arena,
                           "topology: fat-tree:k=4\nworkload: 'allreduce:ring,{size}'\n"
                           "knobs: {size: [1KB, 1MB]}\nseed: [3, 4]\nlb: [ecmp, spray]\n"
                           "pause: [0, 1, 2, 3, 4]\n",
                           &err),
                     MYR_OK);
    static const struct drawn drawn[] = {
        {20, "all-reduce", "ring", "1000000", "50.5"},
        {0, "all-reduce", "ring", "1000", "3"},
        {10, "all-reduce", "ring", "1000", "5"},
        {5, "all-reduce", "ring", "1000", "2"},
        {1, "all-reduce", "ring", "1000", "9"},
        {2, "all-reduce", "ring", "1000", "10"},
        {3, "all-reduce", "ring", "1000", "11"},
        {4, "all-reduce", "ring", "1000", "12"},
        {6, "all-reduce", "ring", "1000", "13"},
        {7, "all-reduce", "ring", "1000", "14"},
        {8, "all-reduce", "ring", "1000", "15"},
        {9, "all-reduce", "ring", "1000", "16"},
        {0, "all-gather", "spray", "1000", "7"},
        {5, "all-gather", "spray", "2000", "8"},
        {0, "", "", "1000", "1"},
        {0, "all-to-all", "", "0", "1"},
        {0, "all-to-all", "", "1", "0"},
        {0, "all-to-all", "", "", "1"},
    };
    put_plot(&text, &sweep, drawn, MYR_ARRAY_COUNT(drawn), ".html");
    put_plot(&text, &sweep, drawn, MYR_ARRAY_COUNT(drawn), ".svg");
    put_plot(&text, &sweep, drawn, 12, ".svg");
    put_plot(&text, &sweep, drawn + 12, 1, "");
    put_plot(&text, &sweep, drawn + 14, 4, ".html");
    put_plot(&text, &sweep, drawn, 0, ".html");
    assert_kept("sim-sweep-plot.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_as_they_were),
        cmocka_unit_test(there_are_only_so_many),
        cmocka_unit_test(every_word_of_a_sweep_is_in_its_digest),
        cmocka_unit_test(journals_are_taken_as_far_as_they_are_whole),
        cmocka_unit_test(pictures_are_what_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
