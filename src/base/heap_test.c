#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "myriad/base.h"

enum { ITEMS_MAX = 3000 };

/* The model: a list in order of arrival; the least key is taken, the earliest of equals first. */
struct model {
    int64_t key[ITEMS_MAX];
    uint64_t value[ITEMS_MAX];
    uint32_t count;
};

static uint32_t model_least(const struct model *model)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < model->count; i++) {
        best = model->key[i] < model->key[best] ? i : best;
    }
    return best;
}

static bool pop_agrees(struct myr_heap *heap, struct model *model)
{
    struct myr_heap_item item;
    if (model->count == 0) {
        return !myr_heap_pop(heap, &item);
    }
    uint32_t at = model_least(model);
    bool good =
        myr_heap_pop(heap, &item) && item.key == model->key[at] && item.value == model->value[at];
    for (uint32_t i = at + 1; i < model->count; i++) {
        model->key[i - 1] = model->key[i];
        model->value[i - 1] = model->value[i];
    }
    model->count--;
    return good;
}

/* Pushes and pops in random turn, with few distinct keys so that many are equal. */
static bool agrees(uint64_t seed)
{
    static struct model model;
    struct myr_heap heap = {};
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 0);
    model.count = 0;
    uint32_t kinds = 1 + myr_rng_below(&rng, 50);
    bool good = true;
    for (uint32_t round = 0; good && round < ITEMS_MAX; round++) {
        if (myr_rng_below(&rng, 5) < 3) {
            int64_t key = (int64_t)myr_rng_below(&rng, kinds) - kinds / 2;
            myr_heap_push(&heap, key, round);
            model.key[model.count] = key;
            model.value[model.count++] = round;
        } else {
            good = pop_agrees(&heap, &model);
        }
        good = good && heap.count == model.count;
    }
    while (good && heap.count > 0) {
        good = pop_agrees(&heap, &model);
    }
    good = good && pop_agrees(&heap, &model);
    myr_heap_done(&heap);
    return good;
}

static void heaps_agree_with_a_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        if (!agrees(seed)) {
            fail_msg("seed %llu", (unsigned long long)seed);
        }
    }
}

static int compare_keys(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

static void a_big_heap_sorts(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    int64_t *keys = myr_xrealloc(NULL, COUNT, sizeof(*keys));
    struct myr_heap heap = {};
    struct myr_rng rng;
    myr_rng_init(&rng, 7, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = (int64_t)myr_rng_u64(&rng);
        myr_heap_push(&heap, keys[i], i);
    }
    qsort(keys, COUNT, sizeof(*keys), compare_keys);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct myr_heap_item item;
        assert_true(myr_heap_pop(&heap, &item));
        assert_true(item.key == keys[i]);
    }
    myr_heap_done(&heap);
    free(keys);
}

static void equal_keys_leave_in_the_order_of_arrival(void **state)
{
    (void)state;
    struct myr_heap heap = {};
    struct myr_heap_item item;
    for (uint64_t i = 0; i < 1000; i++) {
        myr_heap_push(&heap, INT64_MIN, i);
    }
    myr_heap_push(&heap, INT64_MAX, 5000);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(myr_heap_pop(&heap, &item));
        assert_int_equal(item.value, i);
    }
    assert_true(myr_heap_pop(&heap, &item));
    assert_int_equal(item.value, 5000);
    assert_false(myr_heap_pop(&heap, &item));
    myr_heap_done(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heaps_agree_with_a_list),
        cmocka_unit_test(a_big_heap_sorts),
        cmocka_unit_test(equal_keys_leave_in_the_order_of_arrival),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
