/* What a node says that it is: pretended, and read back from what was collected. */
#include "inventory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int pretend(const char *text, struct pretended *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    char path[] = "/tmp/myr-pretend-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path, &buf, err), MYR_OK);
    int rc = inventory_pretend(path, ret, err);
    assert_int_equal(unlink(path), 0);
    return rc;
}

static void what_is_pretended(void **state)
{
    (void)state;
    struct pretended found;
    struct myr_err err = {};
    assert_int_equal(pretend("gpus: 4\n", &found, &err), MYR_OK);
    assert_int_equal(found.gpus, 4);
    assert_string_equal(found.gpu_kind, "pretended");
    assert_string_equal(found.serial, "");
    assert_false(found.broken);
    assert_int_equal(pretend("gpus: 64\ngpu_kind: H100\nserial: SN1\nbroken: true\n", &found, &err),
                     MYR_OK);
    assert_int_equal(found.gpus, 64);
    assert_string_equal(found.gpu_kind, "H100");
    assert_string_equal(found.serial, "SN1");
    assert_true(found.broken);
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"[]\n", "the file"},
        {"{}\n", "gpus"},
        {"gpus: 0\n", "gpus"},
        {"gpus: 65\n", "gpus"},
        {"gpus: 1\nx: 1\n", "x"},
        {"gpus: 1\ngpu_kind: []\n", "gpu_kind"},
        {"gpus: 1\nserial: ''\n", "serial"},
        {"gpus: 1\nbroken: 2\n", "broken"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_true(pretend(bad[i].text, &found, &err) < 0);
        assert_non_null(strstr(err.message, bad[i].words));
    }
    assert_true(inventory_pretend("/nowhere/at all", &found, &err) < 0);
}

static void what_was_collected_reads_back(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_wire_inventory found;
    struct myr_err err = {};
    myr_arena_init(&arena);
    assert_int_equal(inventory_read(&arena,
                                    MYR_STR("{\"host\":\"h\",\"serial\":\"s\",\"cpus\":4294967295,"
                                            "\"memory_bytes\":18446744073709551615,"
                                            "\"gpus\":[{\"name\":\"H100\"},{\"name\":\"other\"}]}"),
                                    &found, &err),
                     MYR_OK);
    assert_true(myr_str_eq(found.host, MYR_STR("h")) && myr_str_eq(found.serial, MYR_STR("s")));
    assert_true(myr_str_eq(found.gpu_kind, MYR_STR("H100")));
    assert_int_equal(found.gpus, 2);
    assert_int_equal(found.cpus, UINT32_MAX);
    assert_true(found.memory_bytes == UINT64_MAX);
    assert_int_equal(inventory_read(&arena,
                                    MYR_STR("{\"host\":[],\"cpus\":0,\"memory_bytes\":0,"
                                            "\"gpus\":[]}"),
                                    &found, &err),
                     MYR_OK);
    assert_int_equal(found.gpus, 0);
    assert_int_equal(found.host.len + found.serial.len + found.gpu_kind.len, 0);
    static const char *const bad[] = {
        "",
        "[]",
        "{\"memory_bytes\":1,\"gpus\":[]}",
        "{\"cpus\":1,\"gpus\":[]}",
        "{\"cpus\":1,\"memory_bytes\":1}",
        "{\"cpus\":1,\"memory_bytes\":1,\"gpus\":1}",
        "{\"cpus\":4294967296,\"memory_bytes\":1,\"gpus\":[]}",
        "{\"cpus\":-1,\"memory_bytes\":1,\"gpus\":[]}",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_true(inventory_read(&arena, myr_str_from(bad[i]), &found, &err) < 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_pretended),
        cmocka_unit_test(what_was_collected_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
