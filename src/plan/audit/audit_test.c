#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "audit/audit.h"

static void numbers_are_read_as_spreadsheets_write_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"24", 24},
        {"208,000", 208000},
        {"48, 681, 100", 48681100},
        {" 7.5 ", 7.5},
        {"\xC2\xA5"
         "1,024.50",
         1024.5},
        {"950000 CNY", 950000},
        {"1,000,000.5", 1000000.5},
        {"$3", 3},
    };
    static const char *const bad[] = {
        "",       "two",   "-2",  "1,5",   "1.234,56",
        "1,0000", ",100",  "1.",  "1.2.3", "1e5",
        "0x10",   "12 34", "NaN", "1,,0",  "99999999999999999999999999999999999999999"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(good); i++) {
        double value = -1;
        assert_true(audit_number(myr_str_from(good[i].text), &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        double value = -1;
        assert_false(audit_number(myr_str_from(bad[i]), &value));
    }
}

static void watts_have_a_unit_or_none(void **state)
{
    (void)state;
    double watts = 0;
    assert_true(audit_watts(MYR_STR("1720"), &watts) && watts == 1720);
    assert_true(audit_watts(MYR_STR("1720 W"), &watts) && watts == 1720);
    assert_true(audit_watts(MYR_STR("1,720kw"), &watts) && watts == 1720000);
    assert_true(audit_watts(MYR_STR("1.5 MW"), &watts) && watts == 1.5e6);
    assert_false(audit_watts(MYR_STR("kW"), &watts));
    assert_false(audit_watts(MYR_STR("3 hp"), &watts));
}

static void a_length_is_a_number_before_metres(void **state)
{
    (void)state;
    assert_true(audit_told_length(MYR_STR("MMF, MPO12 APC to 2xMPO12 APC, 50m")) == 50);
    assert_true(audit_told_length(MYR_STR("1.5 m copper")) == 1.5);
    assert_true(audit_told_length(MYR_STR("\xE5\x85\x89\xE7\xBA\xA4 30\xE7\xB1\xB3")) == 30);
    assert_true(audit_told_length(MYR_STR("850nm MMF, 12MPO, 5mm jacket")) == 0);
    assert_true(audit_told_length(MYR_STR("")) == 0);
}

static void words_name_systems_in_two_languages(void **state)
{
    (void)state;
    assert_int_equal(audit_words_system(MYR_STR("Compute network")), MYR_NET_COMPUTE);
    assert_int_equal(audit_words_system(MYR_STR("计算网络")), MYR_NET_COMPUTE);
    assert_int_equal(audit_words_system(MYR_STR("存储网络")), MYR_NET_STORAGE);
    assert_int_equal(audit_words_system(MYR_STR("storage system")), AUDIT_NO_NET);
    assert_int_equal(audit_words_system(MYR_STR("业务管理网络")), MYR_NET_SERVICE);
    assert_int_equal(audit_words_system(MYR_STR("带外管理")), MYR_NET_OOB);
    assert_int_equal(audit_words_system(MYR_STR("  ")), AUDIT_ANY_NET);
    assert_int_equal(audit_words_system(MYR_STR("restorage")), AUDIT_NO_NET);
}

/* ---- the flow ---- */

enum { SIDE_MAX = 6 };
static int grades[SIDE_MAX][SIDE_MAX];

static int drawn_grade(const struct audit *audit, const struct audit_line *line,
                       const struct audit_need *need)
{
    return grades[line - audit->lines.items][need - audit->needs];
}

/* What no flow can meet: the largest gap between some needs and all lines that could serve them. */
static uint64_t worst_gap(const struct audit *audit)
{
    uint64_t worst = 0;
    for (uint32_t set = 0; set < 1U << audit->need_count; set++) {
        uint64_t wanted = 0, there = 0;
        for (uint32_t k = 0; k < audit->need_count; k++) {
            wanted += set >> k & 1 ? audit->needs[k].quantity : 0;
        }
        for (size_t i = 0; i < audit->lines.count; i++) {
            bool serves = false;
            for (uint32_t k = 0; k < audit->need_count; k++) {
                serves = serves || (set >> k & 1 && grades[i][k] >= 0);
            }
            there += serves ? audit->lines.items[i].quantity : 0;
        }
        worst = wanted > there && wanted - there > worst ? wanted - there : worst;
    }
    return worst;
}

static void check_flow(const struct audit *audit)
{
    for (size_t i = 0; i < audit->lines.count; i++) {
        uint64_t used = 0;
        for (uint32_t k = 0; k < audit->need_count; k++) {
            used += *audit_flow(audit, i, k);
            assert_true(*audit_flow(audit, i, k) == 0 || grades[i][k] >= 0);
        }
        assert_true(used == audit->lines.items[i].used);
        assert_true(used <= audit->lines.items[i].quantity);
    }
    for (uint32_t k = 0; k < audit->need_count; k++) {
        uint64_t met = 0;
        for (size_t i = 0; i < audit->lines.count; i++) {
            met += *audit_flow(audit, i, k);
        }
        assert_true(met == audit->needs[k].met && met <= audit->needs[k].quantity);
    }
}

static void a_list_is_short_only_when_no_use_of_it_would_do(void **state)
{
    (void)state;
    enum { SEED = 16, ROUNDS = 3000 };
    struct myr_rng rng;
    myr_rng_init(&rng, SEED, 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct myr_arena arena;
        myr_arena_init(&arena);
        struct audit *audit = MYR_ARENA_ONE(&arena, struct audit);
        audit->need_count = 1 + (uint32_t)myr_rng_below(&rng, SIDE_MAX);
        size_t lines = 1 + myr_rng_below(&rng, SIDE_MAX);
        for (size_t i = 0; i < lines; i++) {
            myr_vec_push(&audit->lines, (struct audit_line){.quantity = myr_rng_below(&rng, 9)});
            for (uint32_t k = 0; k < audit->need_count; k++) {
                grades[i][k] = (int)myr_rng_below(&rng, 8) - 4;
                grades[i][k] = grades[i][k] < 0 ? -1 : grades[i][k];
            }
        }
        for (uint32_t k = 0; k < audit->need_count; k++) {
            audit->needs[k].quantity = 1 + myr_rng_below(&rng, 9);
        }
        audit->flow = MYR_ARENA_NEW(&arena, uint64_t, lines * audit->need_count);
        uint64_t open = audit_match(audit, drawn_grade);
        if (open != worst_gap(audit)) {
            print_message("seed %d, round %u\n", SEED, round);
        }
        assert_true(open == worst_gap(audit));
        check_flow(audit);
        myr_vec_done(&audit->lines);
        myr_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_spreadsheets_write_them),
        cmocka_unit_test(watts_have_a_unit_or_none),
        cmocka_unit_test(a_length_is_a_number_before_metres),
        cmocka_unit_test(words_name_systems_in_two_languages),
        cmocka_unit_test(a_list_is_short_only_when_no_use_of_it_would_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
