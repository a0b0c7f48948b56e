#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sim/contention.h"

static struct myr_contention made_up(void)
{
    struct myr_contention table = {.policy = MYR_POLICY_ADAPTIVE,
                                   .seed = 7,
                                   .gpus = 64,
                                   .links = 200,
                                   .loads = {0, 0.25, 0.5, 1}};
    for (uint32_t p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
        for (uint32_t level = 0; level < MYR_CONTENTION_LEVELS; level++) {
            for (uint32_t i = 0; i < MYR_CONTENTION_LOADS; i++) {
                double mean = 1 + p + 0.25 * level + 0.5 * i;
                table.cells[p][level][i] = (struct myr_contention_cell){mean, mean * 2, i + 1};
            }
        }
    }
    return table;
}

static void lookup_is_straight_between_loads(void **state)
{
    (void)state;
    struct myr_contention table = made_up();
    enum myr_contention_pattern ring = MYR_CONTENTION_RING;
    assert_true(myr_contention_lookup(&table, ring, MYR_CONTENTION_LEAF, 0) == 1);
    assert_true(myr_contention_lookup(&table, ring, MYR_CONTENTION_LEAF, 0.125) == 1.25);
    assert_true(myr_contention_lookup(&table, ring, MYR_CONTENTION_LEAF, 0.25) == 1.5);
    assert_true(myr_contention_lookup(&table, ring, MYR_CONTENTION_FABRIC, 0.75) == 2.75);
    assert_true(myr_contention_lookup(&table, ring, MYR_CONTENTION_POD, 1) == 2.75);
}

static void a_table_reads_back_as_it_was_written(void **state)
{
    (void)state;
    struct myr_contention table = made_up(), back;
    char path[] = "/tmp/myriad-contention-XXXXXX.json";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(myr_contention_write(&table, path, NULL), MYR_OK);
    assert_int_equal(myr_contention_read(path, &back, NULL), MYR_OK);
    assert_int_equal(back.policy, table.policy);
    assert_int_equal(back.seed, table.seed);
    assert_int_equal(back.gpus, table.gpus);
    assert_int_equal(back.links, table.links);
    assert_memory_equal(back.loads, table.loads, sizeof(table.loads));
    for (uint32_t p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
        for (uint32_t level = 0; level < MYR_CONTENTION_LEVELS; level++) {
            for (uint32_t i = 0; i < MYR_CONTENTION_LOADS; i++) {
                assert_true(back.cells[p][level][i].mean == table.cells[p][level][i].mean);
                assert_true(back.cells[p][level][i].worst == table.cells[p][level][i].worst);
                assert_int_equal(back.cells[p][level][i].jobs, table.cells[p][level][i].jobs);
            }
        }
    }
    unlink(path);
}

/* As other programs read it: six digits behind the point, and every key. */
static void a_table_is_this_text(void **state)
{
    (void)state;
    struct myr_contention table = made_up();
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[] = "/tmp/myriad-contention-XXXXXX.json";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    close(fd);
    table.loads[1] = 0.1234567;
    table.net = MYR_NET_STORAGE;
    table.cells[0][0][1] = (struct myr_contention_cell){1.2345678, 2.3456789, 5};
    assert_int_equal(myr_contention_write(&table, path, NULL), MYR_OK);
    assert_int_equal(myr_file_read(path, 1 << 20, &text, NULL), MYR_OK);
    unlink(path);
    assert_kept("sim-contention.json", &text);
}

/* One row of a good table is changed: what the limits are, and where. */
static void rows_have_their_limits_and_their_order(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *words; /* NULL: it is as good */
    } cases[] = {
        {"\"version\": 1", "\"version\": 0", "'version' is"},
        {"\"version\": 1", "\"version\": 2", "'version' is"},
        {"\"seed\": 7", "\"seed\": 18446744073709551615", NULL},
        {"\"gpus\": 64", "\"gpus\": 1", NULL},
        {"\"gpus\": 64", "\"gpus\": 0", "'gpus' is"},
        {"\"gpus\": 64", "\"gpus\": 4294967295", NULL},
        {"\"gpus\": 64", "\"gpus\": 4294967296", "'gpus' is"},
        {"\"links\": 200", "\"links\": 1", NULL},
        {"\"links\": 200", "\"links\": 0", "'links' is"},
        {"\"links\": 200", "\"links\": 4294967296", "'links' is"},
        {"\"net\": \"compute\"", "\"net\": \"oob\"", NULL},
        {"\"net\": \"compute\"", "\"net\": \"none\"", "'net' is"},
        {"\"jobs\": 1,", "\"jobs\": 0,", NULL},
        {"\"jobs\": 1,", "\"jobs\": 4294967295,", NULL},
        {"\"jobs\": 1,", "\"jobs\": 4294967296,", "'jobs' is"},
        {"\"mean\": 1,", "\"mean\": 1000000000,", NULL},
        {"\"mean\": 1,", "\"mean\": 1000000000.1,", "'mean' is"},
        {"\"mean\": 1,", "\"mean\": 0.999999,", "'mean' is"},
        {"\"worst\": 2\n", "\"worst\": 1\n", NULL},
        {"\"worst\": 2\n", "\"worst\": 0.999999\n", "'worst' is"},
        {"\"worst\": 2\n", "\"worst\": 1000000000.1\n", "'worst' is"},
        {"\"load\": 0,", "\"load\": -0.1,", "'load' is"},
        {"\"load\": 0,", "\"load\": 0.1,", "this row is out of order"}, /* not the next one's */
        {"\"load\": 0.25,", "\"load\": 0,", "this row is out of order"},
        {"\"load\": 1,", "\"load\": 1.1,", "'load' is"},
        {"\"level\": \"leaf\"", "\"level\": \"pod\"", "this row is out of order"},
        {"\"pattern\": \"ring\"", "\"pattern\": \"none\"", "'pattern' is"},
        {"\"rows\"", "\"lines\"", "'rows'"},
        {"\"seed\"", "\"sede\"", "'seed'"},
        {"\"policy\"", "\"police\"", "'policy'"},
    };
    struct myr_contention table = made_up(), back;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[] = "/tmp/myriad-contention-XXXXXX.json";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(myr_contention_write(&table, path, NULL), MYR_OK);
    assert_int_equal(myr_file_read(path, 1 << 20, &text, NULL), MYR_OK);
    unlink(path);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf changed = {};
        struct myr_err err = {};
        const char *at = strstr(text.data, cases[i].from);
        assert_non_null(at);
        myr_buf_put(&changed, text.data, (size_t)(at - text.data));
        myr_buf_puts(&changed, cases[i].to);
        myr_buf_puts(&changed, at + strlen(cases[i].from));
        int rc = myr_contention_parse("t.json", (struct myr_str){changed.data, changed.len}, &back,
                                      &err);
        if (rc != (cases[i].words ? MYR_EINVAL : MYR_OK) ||
            (cases[i].words && !strstr(err.message, cases[i].words))) {
            fail_msg("%s: %d %s", cases[i].to, rc, err.message);
        }
    }
}

/* One row less, one more, and twice as many: never are others read in their place. */
static void a_table_has_a_row_for_each_of_its_cells(void **state)
{
    (void)state;
    struct myr_contention table = made_up(), back;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[] = "/tmp/myriad-contention-XXXXXX.json", words[80];
    const uint32_t want = MYR_CONTENTION_PATTERNS * MYR_CONTENTION_LEVELS * MYR_CONTENTION_LOADS;
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(myr_contention_write(&table, path, NULL), MYR_OK);
    assert_int_equal(myr_file_read(path, 1 << 20, &text, NULL), MYR_OK);
    unlink(path);
    const char *first = strstr(text.data, "\"rows\": [") + strlen("\"rows\": [");
    const char *second = strstr(first, "},") + 2, *end = strrchr(text.data, ']');
    const uint32_t counts[] = {0, 1, want - 1, want, want + 1, 2 * want};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf changed = {};
        struct myr_err err = {};
        myr_buf_put(&changed, text.data, (size_t)(first - text.data));
        for (uint32_t n = want; n < counts[i]; n++) {
            myr_buf_put(&changed, first, (size_t)(second - first));
        }
        /* Fewer: the first are left out, and the last ones stay. */
        const char *from = counts[i] ? first : end;
        for (uint32_t n = counts[i]; counts[i] && n < want; n++) {
            from = strstr(from, "},") + 2;
        }
        myr_buf_puts(&changed, from);
        int rc =
            myr_contention_parse("t", (struct myr_str){changed.data, changed.len}, &back, &err);
        snprintf(words, sizeof(words), "%u %s, %u are expected", counts[i],
                 counts[i] == 1 ? "row" : "rows", want);
        assert_int_equal(rc, counts[i] == want ? MYR_OK : MYR_EINVAL);
        assert_true(counts[i] == want || strstr(err.message, words));
    }
}

static void damaged_tables_are_refused_with_their_place(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "[]",
        "{}",
        "{\"version\": 2}",
        "{\"version\": 1, \"policy\": \"magic\"}",
        "{\"version\": 1, \"policy\": \"ecmp\", \"net\": \"compute\", \"seed\": 0, \"gpus\": 0}",
        "{\"version\": 1, \"policy\": \"ecmp\", \"net\": \"oob\", \"rows\": [1, 2]}",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct myr_contention back;
        struct myr_err err = {};
        char path[] = "/tmp/myriad-contention-XXXXXX.json";
        int fd = mkstemps(path, 5);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
        close(fd);
        assert_true(myr_contention_read(path, &back, &err) < 0);
        assert_true(err.message[0] != '\0');
        unlink(path);
    }
}

static void another_kind_of_file_is_named(void **state)
{
    (void)state;
    struct myr_contention back;
    struct myr_err err = {};
    assert_int_equal(
        myr_contention_parse("c.json", MYR_STR("pattern,level,load\nring,leaf,0\n"), &back, &err),
        MYR_EINVAL);
    assert_string_equal(err.message,
                        "c.json:1:1: looks like a CSV list with the header 'pattern,level,load'; "
                        "a table of 'myriad sim contention' is expected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookup_is_straight_between_loads),
        cmocka_unit_test(a_table_reads_back_as_it_was_written),
        cmocka_unit_test(a_table_is_this_text),
        cmocka_unit_test(rows_have_their_limits_and_their_order),
        cmocka_unit_test(a_table_has_a_row_for_each_of_its_cells),
        cmocka_unit_test(damaged_tables_are_refused_with_their_place),
        cmocka_unit_test(another_kind_of_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
