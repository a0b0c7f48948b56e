/*
 * What is written from a few words, whole (tests/kept/plan-starts.txt), each also planned: a spec
 * to start from must be one. And what the physical check answers of a design.
 */
#include "myriad/plan/start.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"
#include "planned_test.h"

static const struct myr_plan_start starts[] = {
    {.gpus = 64},
    {.gpus = 65},
    {.gpus = 1},
    {.gpus = 2000, .server = "h200", .fabric = MYR_FABRIC_ROCE},
    {.gpus = 144, .server = "gb200-nvl72", .fabric = MYR_FABRIC_INFINIBAND},
    {.gpus = 16, .server = "A100-8GPU", .fabric = MYR_FABRIC_ETHERNET},
    {.gpus = 9, .server = "h100-sxm"},
    {.gpus = 12, .server = "ascend-910b-8npu"},
    {.gpus = 8000000},
    {.gpus = 8000001},
    {.gpus = 0},
    {.gpus = 64, .server = "h100-9gpu"},
    {.gpus = 64, .server = "mqm9790-ns2f"},
    {.gpus = 64, .server = "\033[1mno such thing at all"},
};

static void a_spec_is_begun_from_a_few_words(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(starts); i++) {
        struct planned p;
        struct myr_start_text text = {};
        planned_read(&p, "servers: 1\n");
        myr_buf_printf(&told, "== %llu %s %u\n", (unsigned long long)starts[i].gpus,
                       starts[i].server && starts[i].server[0] > ' ' ? starts[i].server : "-",
                       starts[i].fabric);
        if (myr_start_write(&p.arena, &p.catalog, &starts[i], &text, &p.err) < 0) {
            myr_buf_printf(&told, "refused (%d): %s (%s)\n", p.err.code, p.err.message, p.err.hint);
        } else {
            struct planned again;
            myr_buf_put(&told, text.spec.data, text.spec.len);
            for (size_t k = 0; k < text.assumed.count; k++) {
                myr_buf_printf(&told, "assumed: %s\n", text.assumed.items[k]);
            }
            if (starts[i].gpus < 10000) {
                planned_begin(&again, text.spec.data);
                myr_start_built(&again.design, &text);
                myr_buf_printf(&told, "%u gpus, %s\n", again.design.head->gpus,
                               text.assumed.items[text.network]);
                planned_end(&again);
            }
        }
        myr_start_done(&text);
        planned_end(&p);
    }
    assert_kept("plan-starts.txt", &told);
}

/* A module of another mode at one end, accepted or not; and nothing wrong at all. */
static void the_physical_check_answers_row_by_row(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f}}\n",
        "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f, pin: {switch_optic: mms4x00-ns, "
        "nic_optic: mma4z00-ns400, host_cable: mfp7e10-n050}}}\n",
        "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f, pin: {switch_optic: mms4x00-ns, "
        "nic_optic: mma4z00-ns400, host_cable: mfp7e10-n050}}}\naccept: [optic-mode]\n",
        "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f, length_m: 40, pin: {host_cable: "
        "mfp7e10-n030, quantities: {mqm9790-ns2f: 0}}}}\n",
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct planned p;
        struct myr_answer answer;
        const struct myr_value *rows;
        struct myr_answer_form form = {.format = MYR_FORMAT_WIDE, .width = 160};
        planned_begin(&p, specs[i]);
        myr_answer_init(&answer, &p.arena, "myriad.design", 1);
        uint32_t open = myr_plan_physical(&p.design, &p.catalog, &answer, &rows);
        myr_buf_printf(&told, "== %s%u rows, %u open, %u errors\n", specs[i], rows->count, open,
                       myr_plan_open_errors(&p.design));
        planned_tell(&answer.root, "", &told);
        assert_int_equal(myr_answer_write(&answer, &form, &told, &p.err), MYR_OK);
        planned_tell_findings(&p, &told);
        planned_end(&p);
    }
    assert_kept("plan-physical.txt", &told);
}

static void a_file_is_planned_as_its_text_is(void **state)
{
    (void)state;
    struct planned p;
    struct myr_design design = {};
    struct myr_buf text = {};
    char path[] = "/tmp/myriad-start-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    planned_begin(&p, "servers: 3\n");
    myr_buf_puts(&text, "servers: 3\n");
    assert_int_equal(myr_file_write(path, &text, &p.err), MYR_OK);
    assert_int_equal(myr_plan_file(&p.arena, &p.catalog, path, &design, &p.err), MYR_OK);
    assert_int_equal(design.link_count, p.design.link_count);
    assert_memory_equal(design.link_b, p.design.link_b, design.link_count * sizeof(uint32_t));
    myr_buf_puts(&text, "nothing: 3\n");
    assert_int_equal(myr_file_write(path, &text, &p.err), MYR_OK);
    assert_int_equal(myr_plan_file(&p.arena, &p.catalog, path, &design, &p.err), MYR_EINVAL);
    assert_non_null(strstr(p.err.message, "nothing"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(myr_plan_file(&p.arena, &p.catalog, path, &design, &p.err), MYR_ENOENT);
    myr_buf_done(&text);
    planned_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spec_is_begun_from_a_few_words),
        cmocka_unit_test(the_physical_check_answers_row_by_row),
        cmocka_unit_test(a_file_is_planned_as_its_text_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
