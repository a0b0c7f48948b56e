#include "built/hca_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "verify/verify_test.h"

static void begin(struct myr_built *built)
{
    *built = (struct myr_built){.truncated = 0};
    myr_arena_init(&built->arena);
    small_design(&built->design, &built->arena, (struct small_shape){2, 2, 1, 1});
}

static void finish(struct myr_built *built)
{
    myr_vec_done(&built->hcas);
    myr_arena_done(&built->arena);
}

static void expect_pair(const struct myr_built *built, uint32_t index, const char *name,
                        const char *port)
{
    assert_true(index < built->hcas.count);
    const struct myr_hca_name *row = &built->hcas.items[index];
    assert_true(myr_str_eq(row->name, myr_str_from(name)));
    assert_true(myr_str_eq(row->port, myr_str_from(port)));
}

static void rules_name_a_port_or_its_number(void **state)
{
    (void)state;
    struct myr_built built;
    struct myr_err err = {};
    begin(&built);
    assert_int_equal(hca_map_add(&built, "  mlx5_3 =  nic1 ", &err), MYR_OK);
    assert_int_equal(hca_map_add(&built, "mlx5_0=1", &err), MYR_OK); /* numbers count from 1 */
    assert_int_equal(built.hcas.count, 2);
    expect_pair(&built, 0, "mlx5_3", "nic1");
    expect_pair(&built, 1, "mlx5_0", "nic0");
    /* The same once more is no contradiction, in capitals or not. */
    assert_int_equal(hca_map_add(&built, "MLX5_3=2", &err), MYR_OK);
    finish(&built);
}

static void rules_that_contradict_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *message;
    } wrong[] = {
        {"mlx5_9=nic2", "--hca-map: 'nic2' is no port of a node of this design"},
        {"mlx5_9=0", "--hca-map: '0' is no port of a node of this design"},
        {"mlx5_9=3", "--hca-map: '3' is no port of a node of this design"},
        {"mlx5_9=", "--hca-map: '' is no port of a node of this design"},
        {"mlx5_0=nic1", "--hca-map: 'mlx5_0' has two meanings"},
        {"MLX5_0=2", "--hca-map: 'MLX5_0' has two meanings"},
        {"mlx5_1=nic0", "--hca-map: 'nic0' has two meanings"},
    };
    struct myr_built built;
    struct myr_err err = {};
    begin(&built);
    assert_int_equal(hca_map_add(&built, "mlx5_0=nic0", &err), MYR_OK);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(wrong); i++) {
        err = (struct myr_err){};
        assert_int_equal(hca_map_add(&built, wrong[i].rule, &err), MYR_EINVAL);
        assert_string_equal(err.message, wrong[i].message);
        assert_string_equal(
            err.hint, i < 4 ? "mlx5_3=nic1: what hosts call mlx5_3 is the design's nic1" : "");
        assert_int_equal(built.hcas.count, 1);
    }
    finish(&built);
}

static void a_thousand_names_are_the_most(void **state)
{
    (void)state;
    struct myr_built built;
    struct myr_err err = {};
    begin(&built);
    for (uint32_t i = 0; i < 1024; i++) {
        assert_int_equal(hca_map_add(&built, "mlx5_0=nic0", &err), MYR_OK);
    }
    assert_int_equal(hca_map_add(&built, "mlx5_0=nic0", &err), MYR_ERANGE);
    assert_string_equal(err.message, "--hca-map: more than 1024 names");
    finish(&built);
}

/* What a file is answered with; its own name in a message is left out. */
static void expect_file(struct myr_built *built, const char *text, const char *message)
{
    char path[] = "/tmp/myriad-hca-XXXXXX";
    struct myr_buf buf = {};
    struct myr_err err = {};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path, &buf, &err), MYR_OK);
    int rc = hca_map_add(built, path, &err);
    unlink(path);
    myr_buf_done(&buf);
    assert_int_equal(rc, message ? MYR_EINVAL : MYR_OK);
    if (message) {
        assert_memory_equal(err.message, path, strlen(path));
        assert_string_equal(err.message + strlen(path), message);
    }
}

static void files_have_two_columns_in_any_place(void **state)
{
    (void)state;
    struct myr_built built;
    begin(&built);
    expect_file(&built, "host, Port ,x,HCA-name\na,1,, mlx5_4\nb, nic1 ,,mlx5_5 \n", NULL);
    assert_int_equal(built.hcas.count, 2);
    expect_pair(&built, 0, "mlx5_4", "nic0");
    expect_pair(&built, 1, "mlx5_5", "nic1");
    expect_file(&built, "hca,port\nx,1\n", ":1:1: the columns 'port' and 'hca-name' are expected");
    expect_file(&built, "hca-name,ports\nx,1\n",
                ":1:1: the columns 'port' and 'hca-name' are expected");
    expect_file(&built, "x,hca-name,port\na,mlx5_4,1\nb,mlx5_6\n",
                ":3:3: the row is shorter than the header");
    expect_file(&built, "x,port,hca-name\na,1,mlx5_4\nb,1\n",
                ":3:3: the row is shorter than the header");
    expect_file(&built, "port,hca-name\n1,mlx5_4,5\n", ":2:10: the row has 3 fields, the header 2");
    expect_file(&built, "port,hca-name\n", ":1:1: no rows below the header, one is expected");
    expect_file(&built, "port,hca-name\n1,mlx5_4\n2,mlx5_4\n", ":3:1: 'mlx5_4' has two meanings");
    expect_file(&built, "port,hca-name\n1,mlx5_4\n\"2,mlx5_4\n",
                ":3:1: the quote opened here is never closed");
    finish(&built);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_name_a_port_or_its_number),
        cmocka_unit_test(rules_that_contradict_are_refused),
        cmocka_unit_test(a_thousand_names_are_the_most),
        cmocka_unit_test(files_have_two_columns_in_any_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
