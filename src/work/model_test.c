#include "myriad/work/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/work/count.h"

static struct myr_model find(struct myr_arena *arena, const char *name)
{
    struct myr_model model;
    struct myr_err err = {0};
    if (myr_model_find(arena, name, &model, &err) != MYR_OK) {
        fail_msg("%s: %s", name, err.message);
    }
    return model;
}

static struct myr_params params_of(const char *name)
{
    struct myr_arena arena = {0};
    struct myr_model model = find(&arena, name);
    struct myr_params params = myr_model_params(&model);
    myr_arena_done(&arena);
    return params;
}

static void every_built_in_model_reads_and_is_named_as_its_file(void **state)
{
    (void)state;
    struct myr_arena arena = {0};
    assert_true(myr_model_builtin_count() > 40);
    for (uint32_t i = 0; i < myr_model_builtin_count(); i++) {
        struct myr_str name = myr_model_builtin_name(i);
        const char *text = myr_arena_strndup(&arena, name.data, name.len);
        struct myr_model model = find(&arena, text);
        assert_string_equal(model.name, text);
        assert_non_null(model.source);
        if (i > 0) {
            assert_true(myr_str_cmp(myr_model_builtin_name(i - 1), name) < 0);
        }
    }
    myr_arena_done(&arena);
}

static void parameter_counts_equal_the_published_ones_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t total;
    } published[] = {
        {"bloom-176b", 176247271424},   {"deepseek-v2", 235741434880},
        {"deepseek-v3", 671026419200},  {"gpt-neox-20b", 20554567680},
        {"gpt-oss-120b", 116829156672}, {"gpt-oss-20b", 20914757184},
        {"llama-65b", 65285660672},     {"llama2-13b", 13015864320},
        {"llama2-70b", 68976648192},    {"llama2-7b", 6738415616},
        {"llama3-405b", 405853388800},  {"llama3-70b", 70553706496},
        {"llama3-8b", 8030261248},      {"mixtral-8x22b", 140620634112},
        {"mixtral-8x7b", 46702792704},  {"qwen3-235b-a22b", 235093634560},
        {"qwen3-30b-a3b", 30532122624}, {"qwen3-32b", 32762123264},
        {"qwen3-8b", 8190735360},       {"gpt3-175b", 174604259328},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(published); i++) {
        struct myr_params params = params_of(published[i].name);
        if (params.total != published[i].total) {
            print_error("%s: %llu\n", published[i].name, (unsigned long long)params.total);
        }
        assert_int_equal(params.total, published[i].total);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_built_in_model_reads_and_is_named_as_its_file),
        cmocka_unit_test(parameter_counts_equal_the_published_ones_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
