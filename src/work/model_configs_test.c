#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/work/count.h"

/*
 * Configs of many families, and the parameters that the public modelling code allocates for them:
 * tools/configs/count.py ran its constructors on shapes. Nothing is shared with the reader.
 */
enum { CONFIGS_MIN = 240, TYPES_MIN = 60, TYPES_MAX = 256 };

struct seen {
    struct myr_str types[TYPES_MAX];
    uint32_t type_count, config_count, wrong_count;
};

static void note_type(struct seen *seen, struct myr_str type)
{
    for (uint32_t i = 0; i < seen->type_count; i++) {
        if (myr_str_eq(seen->types[i], type)) {
            return;
        }
    }
    assert_true(seen->type_count < TYPES_MAX);
    seen->types[seen->type_count++] = type;
}

static void check_line(struct myr_arena *arena, struct myr_str line, struct seen *seen)
{
    const struct myr_doc *root = NULL;
    struct myr_err err = {};
    struct myr_model model;
    struct myr_str type;
    uint64_t expected = 0;
    assert_int_equal(myr_doc_read_json(arena, "model-configs.jsonl", line, &root, &err), MYR_OK);
    assert_int_equal(
        myr_doc_u64(myr_doc_get(root, "parameters"), "parameters", 1, UINT64_MAX, &expected, &err),
        MYR_OK);
    const struct myr_doc *config = myr_doc_get(root, "config");
    assert_int_equal(myr_doc_text(myr_doc_get(config, "model_type"), "model_type", &type, &err),
                     MYR_OK);
    note_type(seen, type);
    seen->config_count++;
    int rc = myr_model_parse(arena, config, &model, &err);
    uint64_t total = rc == MYR_OK ? myr_model_params(&model).total : 0;
    if (total != expected) { /* all of them are told, not the first alone */
        print_error("%llu and not %llu %s: %.*s\n", (unsigned long long)total,
                    (unsigned long long)expected, rc == MYR_OK ? "" : err.message, (int)line.len,
                    line.data);
        seen->wrong_count++;
    }
}

static void parameters_are_those_that_the_modelling_code_allocates(void **state)
{
    (void)state;
    struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    struct seen *seen = MYR_ARENA_ONE(&arena, struct seen);
    assert_int_equal(
        myr_file_read(MYR_SOURCE_DIR "/tests/data/model-configs.jsonl", 1 << 22, &file, NULL),
        MYR_OK);
    for (const char *at = file.data, *end = file.data + file.len; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        check_line(&arena, (struct myr_str){at, (size_t)(stop - at)}, seen);
        at = stop + 1;
    }
    assert_int_equal(seen->wrong_count, 0);
    assert_true(seen->config_count >= CONFIGS_MIN && seen->type_count >= TYPES_MIN);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_those_that_the_modelling_code_allocates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
