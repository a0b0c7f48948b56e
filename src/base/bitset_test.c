#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/base.h"

enum { SIZE_MAX_TESTED = 300 };

static bool same(const struct myr_bitset *set, const bool *model)
{
    uint32_t count = 0;
    uint32_t next = MYR_BITSET_NONE;
    for (uint32_t i = set->size; i-- > 0;) {
        if (myr_bitset_has(set, i) != model[i]) {
            return false;
        }
        next = model[i] ? i : next;
        if (myr_bitset_next(set, i) != next) {
            return false;
        }
        count += model[i];
    }
    uint32_t walked = 0;
    uint32_t last = 0;
    myr_bitset_foreach (member, set) {
        if (!model[member] || (walked > 0 && member <= last)) {
            return false;
        }
        last = member;
        walked++;
    }
    return walked == count;
}

static bool agrees(uint64_t seed)
{
    bool model[SIZE_MAX_TESTED] = {false};
    struct myr_arena arena;
    struct myr_rng rng;
    struct myr_bitset set;
    myr_arena_init(&arena);
    myr_rng_init(&rng, seed, 0);
    uint32_t size = 1 + myr_rng_below(&rng, SIZE_MAX_TESTED);
    myr_bitset_init(&set, &arena, size);
    bool good = same(&set, model);
    for (uint32_t round = 0; good && round < 200; round++) {
        uint32_t member = myr_rng_below(&rng, size);
        model[member] = myr_rng_below(&rng, 3) > 0;
        if (model[member]) {
            myr_bitset_add(&set, member);
        } else {
            myr_bitset_remove(&set, member);
        }
        good = same(&set, model);
    }
    myr_arena_done(&arena);
    return good;
}

static void sets_agree_with_an_array_of_flags(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        if (!agrees(seed)) {
            fail_msg("seed %llu", (unsigned long long)seed);
        }
    }
}

static void the_ends_of_words_are_members_like_others(void **state)
{
    (void)state;
    const uint32_t sizes[] = {1, 63, 64, 65, 127, 128, 129};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        struct myr_arena arena;
        struct myr_bitset set;
        myr_arena_init(&arena);
        myr_bitset_init(&set, &arena, sizes[i]);
        myr_bitset_add(&set, 0);
        myr_bitset_add(&set, sizes[i] - 1);
        assert_int_equal(myr_bitset_next(&set, 1), sizes[i] == 1 ? MYR_BITSET_NONE : sizes[i] - 1);
        assert_int_equal(myr_bitset_next(&set, sizes[i]), MYR_BITSET_NONE);
        assert_int_equal(myr_bitset_next(&set, UINT32_MAX), MYR_BITSET_NONE);
        myr_arena_done(&arena);
    }
}

static void an_empty_set_has_no_members(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_bitset set;
    myr_arena_init(&arena);
    myr_bitset_init(&set, &arena, 0);
    assert_int_equal(myr_bitset_next(&set, 0), MYR_BITSET_NONE);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_agree_with_an_array_of_flags),
        cmocka_unit_test(the_ends_of_words_are_members_like_others),
        cmocka_unit_test(an_empty_set_has_no_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
