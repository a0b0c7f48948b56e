#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/base.h"

static void pushed_items_stay_in_order(void **state)
{
    (void)state;
    MYR_VEC(uint32_t) ids = {};
    for (uint32_t i = 0; i < 100000; i++) {
        myr_vec_push(&ids, i * 3);
        assert_true(ids.count <= ids.capacity);
    }
    assert_int_equal(ids.count, 100000);
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(ids.items[i], i * 3);
    }
    myr_vec_done(&ids);
    assert_null(ids.items);
    assert_int_equal(ids.count, 0);
    myr_vec_push(&ids, 1); /* ready again */
    assert_int_equal(ids.items[0], 1);
    myr_vec_done(&ids);
}

static void reserve_grows_at_once_and_never_shrinks(void **state)
{
    (void)state;
    MYR_VEC(char) text = {};
    myr_vec_reserve(&text, 1000);
    assert_true(text.capacity >= 1000);
    assert_int_equal(text.count, 0);
    size_t before = text.capacity;
    myr_vec_reserve(&text, 10);
    assert_int_equal(text.capacity, before);
    myr_vec_done(&text);
}

static void structs_with_commas_can_be_pushed(void **state)
{
    (void)state;
    struct pair {
        uint32_t a, b;
    };
    MYR_VEC(struct pair) pairs = {};
    myr_vec_push(&pairs, (struct pair){1, 2});
    /* The first item again, at the very push that moves the array. */
    while (pairs.count < pairs.capacity) {
        myr_vec_push(&pairs, (struct pair){3, 4});
    }
    myr_vec_push(&pairs, pairs.items[0]);
    assert_int_equal(pairs.items[pairs.count - 1].a, 1);
    assert_int_equal(pairs.items[pairs.count - 1].b, 2);
    myr_vec_done(&pairs);
}

static void a_vector_that_leaves_its_scope_is_freed(void **state)
{
    (void)state;
    /* tests/leaks counts what stays behind; an empty one is freed as well. */
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(uint64_t) none = {};
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(uint64_t) ids = {};
    myr_vec_push(&ids, 7);
    assert_int_equal(ids.count, 1);
    assert_int_equal(none.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_items_stay_in_order),
        cmocka_unit_test(reserve_grows_at_once_and_never_shrinks),
        cmocka_unit_test(structs_with_commas_can_be_pushed),
        cmocka_unit_test(a_vector_that_leaves_its_scope_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
