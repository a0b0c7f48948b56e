#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

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
        cmocka_unit_test(damaged_tables_are_refused_with_their_place),
        cmocka_unit_test(another_kind_of_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
