#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/base.h"

enum { MODEL_MAX = 2000 };

/* A short key from a small pool, so that many come twice; some are empty. */
static struct myr_str random_key(struct myr_rng *rng, struct myr_arena *arena)
{
    uint32_t len = myr_rng_below(rng, 20);
    char *key = myr_arena_alloc(arena, len + 1, 1);
    for (uint32_t i = 0; i < len; i++) {
        key[i] = (char)('a' + (i + 1 < len ? 0 : myr_rng_below(rng, 26)));
    }
    return (struct myr_str){key, len};
}

/* The model of both maps: a list that is searched from the front. */
struct model {
    struct myr_str text[MODEL_MAX];
    uint64_t number[MODEL_MAX];
    uint32_t value[MODEL_MAX];
    uint32_t count;
};

static uint32_t model_find_text(const struct model *model, struct myr_str key)
{
    for (uint32_t i = 0; i < model->count; i++) {
        if (myr_str_eq(model->text[i], key)) {
            return i;
        }
    }
    return MYR_MAP_NONE;
}

static uint32_t model_find_number(const struct model *model, uint64_t key)
{
    for (uint32_t i = 0; i < model->count; i++) {
        if (model->number[i] == key) {
            return i;
        }
    }
    return MYR_MAP_NONE;
}

static bool strmap_agrees(uint64_t seed)
{
    static struct model model;
    struct myr_strmap map = {};
    struct myr_arena arena;
    struct myr_rng rng;
    myr_arena_init(&arena);
    myr_rng_init(&rng, seed, 0);
    model.count = 0;
    bool good = true;
    for (uint32_t round = 0; round < MODEL_MAX; round++) {
        struct myr_str key = random_key(&rng, &arena);
        uint32_t at = model_find_text(&model, key);
        uint32_t want = at == MYR_MAP_NONE ? MYR_MAP_NONE : model.value[at];
        good = good && myr_strmap_get(&map, key) == want;
        good = good && myr_strmap_add(&map, key, round) == (at == MYR_MAP_NONE);
        if (at == MYR_MAP_NONE) {
            model.text[model.count] = key;
            model.value[model.count++] = round;
        }
    }
    good = good && map.count == model.count;
    for (uint32_t i = 0; good && i < map.count; i++) { /* the order is that of insertion */
        good = myr_str_eq(map.keys[i], model.text[i]) && map.values[i] == model.value[i];
    }
    myr_strmap_done(&map);
    myr_arena_done(&arena);
    return good;
}

static bool u64map_agrees(uint64_t seed)
{
    static struct model model;
    struct myr_u64map map = {};
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 1);
    model.count = 0;
    bool good = true;
    for (uint32_t round = 0; round < MODEL_MAX; round++) {
        /* Small numbers, numbers that differ only in their high bits, and the ends. */
        uint64_t key = myr_rng_below(&rng, 1000);
        key = round % 3 == 0 ? key << 48 : round % 50 == 0 ? UINT64_MAX - key % 4 : key;
        uint32_t at = model_find_number(&model, key);
        uint32_t *found = myr_u64map_find(&map, key);
        good = good && (found == NULL) == (at == MYR_MAP_NONE);
        good = good && (!found || *found == model.value[at]);
        if (found) {
            *found = model.value[at] = round; /* values may be changed in place */
        }
        good = good && myr_u64map_add(&map, key, round) == (at == MYR_MAP_NONE);
        if (at == MYR_MAP_NONE) {
            model.number[model.count] = key;
            model.value[model.count++] = round;
        }
    }
    good = good && map.count == model.count;
    for (uint32_t i = 0; good && i < map.count; i++) {
        good = map.keys[i] == model.number[i] && map.values[i] == model.value[i];
    }
    myr_u64map_done(&map);
    return good;
}

static void string_maps_agree_with_a_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        if (!strmap_agrees(seed)) {
            fail_msg("seed %llu", (unsigned long long)seed);
        }
    }
}

static void number_maps_agree_with_a_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        if (!u64map_agrees(seed)) {
            fail_msg("seed %llu", (unsigned long long)seed);
        }
    }
}

static void an_empty_map_finds_nothing(void **state)
{
    (void)state;
    struct myr_strmap names = {};
    struct myr_u64map numbers = {};
    assert_int_equal(myr_strmap_get(&names, MYR_STR("x")), MYR_MAP_NONE);
    assert_null(myr_u64map_find(&numbers, 0));
    myr_strmap_done(&names);
    myr_u64map_add(&numbers, 7, 8);
    myr_u64map_done(&numbers);
    /* Given back twice does no harm, and it can be used again. */
    myr_u64map_done(&numbers);
    assert_true(myr_strmap_add(&names, MYR_STR("x"), 3));
    myr_strmap_done(&names);
    assert_memory_equal(&names, &(struct myr_strmap){}, sizeof(names));
    assert_memory_equal(&numbers, &(struct myr_u64map){}, sizeof(numbers));
    assert_int_equal(myr_strmap_get(&names, MYR_STR("x")), MYR_MAP_NONE);
    assert_true(myr_strmap_add(&names, MYR_STR("x"), 4));
    assert_false(myr_strmap_add(&names, MYR_STR("x"), 5));
    assert_int_equal(names.count, 1);
    assert_int_equal(myr_strmap_get(&names, MYR_STR("x")), 4);
    myr_strmap_done(&names);
    assert_null(myr_u64map_find(&numbers, 7));
    myr_u64map_add(&numbers, 7, 9);
    assert_int_equal(*myr_u64map_find(&numbers, 7), 9);
    myr_u64map_done(&numbers);
}

static void keys_are_compared_by_bytes_not_by_nul(void **state)
{
    (void)state;
    struct myr_strmap map = {};
    assert_true(myr_strmap_add(&map, (struct myr_str){"a\0b", 3}, 1));
    assert_true(myr_strmap_add(&map, (struct myr_str){"a\0c", 3}, 2));
    assert_true(myr_strmap_add(&map, (struct myr_str){NULL, 0}, 3));
    assert_int_equal(myr_strmap_get(&map, (struct myr_str){"a\0c", 3}), 2);
    assert_int_equal(myr_strmap_get(&map, MYR_STR("a")), MYR_MAP_NONE);
    assert_int_equal(myr_strmap_get(&map, MYR_STR("")), 3);
    myr_strmap_done(&map);
}

/* A quarter of the slots stays free, so that a search for what is not there ends soon. */
static void tables_double_when_three_quarters_are_taken(void **state)
{
    (void)state;
    struct myr_strmap names = {};
    struct myr_u64map numbers = {};
    static char text[400][4];
    uint32_t size = 16;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(text); i++) {
        memcpy(text[i], (char[4]){(char)('a' + i / 26), (char)('a' + i % 26)}, sizeof(text[i]));
        assert_true(myr_strmap_add(&names, (struct myr_str){text[i], 2}, i));
        assert_true(myr_u64map_add(&numbers, i, i));
        size = i + 1 > size / 4 * 3 ? 2 * size : size;
        assert_int_equal(names.table_size, size);
        assert_int_equal(numbers.table_size, size);
        /* What is there already makes nothing grow. */
        assert_false(myr_strmap_add(&names, (struct myr_str){text[i], 2}, i));
        assert_int_equal(names.table_size, size);
    }
    assert_int_equal(size, 1024);
    myr_strmap_done(&names);
    myr_u64map_done(&numbers);
}

/* Files hold these hashes in no place yet, but orders of work may come to rest on them. */
static void hashes_are_the_same_everywhere(void **state)
{
    (void)state;
    assert_true(myr_hash_u64(0) == 0);
    assert_true(myr_hash_u64(1) == UINT64_C(0x4179b061e0c0e0d0));
    assert_true(myr_hash_bytes("", 0) == UINT64_C(0x2180a92350d49cce));
    assert_true(myr_hash_bytes("leaf/p2-g1-r5", 13) == UINT64_C(0x990968aaecfdfd1d));
}

/* Names of a big cluster differ in one digit or two: they must still spread over the table. */
static void similar_names_do_not_crowd_the_table(void **state)
{
    (void)state;
    enum { NAMES = 100000, SLOTS = 1 << 17 };
    static uint8_t load[SLOTS];
    uint32_t worst = 0, used = 0;
    for (uint32_t i = 0; i < NAMES; i++) {
        char name[32];
        struct myr_buf buf = {name, 0, sizeof(name)};
        myr_buf_put_lit(&buf, "node/");
        myr_buf_put_u64_pad(&buf, i, 6);
        uint8_t *slot = &load[myr_hash_bytes(buf.data, buf.len) & (SLOTS - 1)];
        used += *slot == 0;
        (*slot)++;
        worst = *slot > worst ? *slot : worst;
    }
    /* Thrown at random, 100,000 names hit 69,950 slots on average and none more than ten times. */
    assert_in_range(used, 69000, 71000);
    assert_in_range(worst, 2, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(string_maps_agree_with_a_list),
        cmocka_unit_test(number_maps_agree_with_a_list),
        cmocka_unit_test(an_empty_map_finds_nothing),
        cmocka_unit_test(keys_are_compared_by_bytes_not_by_nul),
        cmocka_unit_test(tables_double_when_three_quarters_are_taken),
        cmocka_unit_test(hashes_are_the_same_everywhere),
        cmocka_unit_test(similar_names_do_not_crowd_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
