/* Which fields of a message are handed out, by what is asked for; and where each of them lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/base/rng.h"
#include "rounds.h"
#include "word/put_test.h"
#include "word/word.h"

enum { FIELDS_MAX = 10 };

/* At the edge of the bits, of the quick way, and of what there is. */
static const uint32_t numbers[] = {1,  2,  15,  16,  31,   32,   62,   63,
                                   64, 65, 127, 128, 1023, 2047, 2048, (1 << 29) - 1};

struct put {
    uint32_t number;
    enum kube_wire wire;
    uint64_t value;
    size_t from, end, bytes; /* 'bytes': where they begin */
};

static void put_field(struct myr_rng *rng, struct myr_buf *to, struct put *ret)
{
    static const enum kube_wire wires[] = {KUBE_WIRE_NUMBER, KUBE_WIRE_EIGHT, KUBE_WIRE_BYTES,
                                           KUBE_WIRE_FOUR};
    ret->from = to->len;
    ret->number = numbers[myr_rng_below(rng, MYR_ARRAY_COUNT(numbers))];
    ret->wire = wires[myr_rng_below(rng, MYR_ARRAY_COUNT(wires))];
    ret->value = 0;
    put_number(to, (uint64_t)ret->number << 3 | ret->wire);
    size_t bytes = ret->wire == KUBE_WIRE_EIGHT ? 8 : ret->wire == KUBE_WIRE_FOUR ? 4 : 0;
    if (ret->wire == KUBE_WIRE_NUMBER) {
        ret->value = myr_rng_u64(rng) >> myr_rng_below(rng, 64);
        put_number(to, ret->value);
    } else if (ret->wire == KUBE_WIRE_BYTES) {
        bytes = myr_rng_below(rng, 20) ? myr_rng_below(rng, 200) : 16370 + myr_rng_below(rng, 30);
        put_number(to, bytes);
    }
    ret->bytes = to->len;
    for (size_t i = 0; i < bytes; i++) {
        myr_buf_putc(to, (char)('a' + i % 26));
    }
    ret->end = to->len;
}

static bool is_wanted(uint32_t number, uint64_t wanted)
{
    return wanted == KUBE_ALL_FIELDS || (number < 64 && (wanted & KUBE_FIELD(number)) != 0);
}

/* All but one of the bits is not all of them: what lies beyond is left out then. */
static uint64_t draw_wanted(struct myr_rng *rng)
{
    uint64_t one = KUBE_FIELD(numbers[myr_rng_below(rng, 8)]);
    switch (myr_rng_below(rng, 5)) {
    case 0:
        return KUBE_ALL_FIELDS;
    case 1:
        return one;
    case 2:
        return ~one;
    case 3:
        return 0;
    default:
        return myr_rng_u64(rng);
    }
}

static void those_that_are_wanted_come_in_their_order(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf message = {};
    const uint64_t seed = 20261118;
    struct myr_rng rng;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    myr_rng_init(&rng, seed, 0);
    for (uint32_t round = 0; round < TEST_ROUNDS(4000); round++) {
        struct put puts[FIELDS_MAX];
        uint32_t count = myr_rng_below(&rng, FIELDS_MAX + 1);
        uint64_t wanted = draw_wanted(&rng);
        myr_buf_clear(&message);
        for (uint32_t i = 0; i < count; i++) {
            put_field(&rng, &message, &puts[i]);
        }
        struct kube_fields fields = kube_fields_of(text_of(&message));
        struct kube_field field;
        for (uint32_t i = 0; i < count; i++) {
            if (!is_wanted(puts[i].number, wanted)) {
                continue;
            }
            assert_true(kube_fields_next(&fields, wanted, &field));
            assert_int_equal(field.number, puts[i].number);
            assert_int_equal(field.wire, puts[i].wire);
            assert_int_equal(field.value, puts[i].value);
            struct myr_str whole = kube_field_whole(&fields, &field);
            assert_ptr_equal(whole.data, message.data + puts[i].from);
            assert_int_equal(whole.len, puts[i].end - puts[i].from);
            assert_int_equal(field.bytes.len, puts[i].end - puts[i].bytes);
            assert_true(field.bytes.len == 0 || field.bytes.data == message.data + puts[i].bytes);
        }
        assert_false(kube_fields_next(&fields, wanted, &field));
        assert_false(fields.bad);
    }
}

/* What is cut off is bad, unless it is cut between two fields; it is over then, however asked. */
static void a_message_that_is_cut_off_is_bad(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf message = {};
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, 4, 0);
    for (uint32_t round = 0; round < TEST_ROUNDS(160); round++) {
        struct put puts[3];
        bool ends[700] = {true};
        myr_buf_clear(&message);
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(puts); i++) {
            put_field(&rng, &message, &puts[i]);
            if (message.len < MYR_ARRAY_COUNT(ends)) {
                ends[message.len] = true;
            }
        }
        for (size_t len = 0; len < message.len && len < MYR_ARRAY_COUNT(ends); len++) {
            struct kube_fields fields = kube_fields_of((struct myr_str){message.data, len});
            struct kube_field field;
            while (kube_fields_next(&fields, KUBE_ALL_FIELDS, &field)) {
                assert_true(fields.at <= message.data + len);
            }
            assert_int_equal(fields.bad, !ends[len]);
            assert_false(kube_fields_next(&fields, KUBE_ALL_FIELDS, &field));
        }
    }
    struct kube_fields none = kube_fields_of((struct myr_str){});
    struct kube_field field;
    assert_false(kube_fields_next(&none, KUBE_ALL_FIELDS, &field));
    assert_false(none.bad);
}

/* Numbers of ten bytes hold 64 bits and no more; fields are numbered from 1 to 29 bits. */
static void numbers_have_ends(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        bool good;
        uint64_t value;
    } rows[] = {
        {"\x08\x7f", 2, true, 127},
        {"\x08\xff\x01", 3, true, 255},
        {"\x08\x80\x00", 3, true, 0},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, true, UINT64_MAX},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, false, 0},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 12, false, 0},
        {"\x00\x01\x01\x01", 4, false, 0},
        {"\x07\x01\x01\x01", 4, false, 0},
        {"\x80\x00\x01\x01", 4, false, 0},
        {"\xf8\xff\xff\xff\x0f\x05", 6, true, 5},
        {"\x80\x80\x80\x80\x10\x05", 6, false, 0},
        {"\x0b\x01\x01\x01", 4, false, 0},
        {"\x0c\x01\x01\x01", 4, false, 0},
        {"\x0e\x01\x01\x01", 4, false, 0},
        {"\x0f\x01\x01\x01", 4, false, 0},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct kube_fields fields = kube_fields_of((struct myr_str){rows[i].bytes, rows[i].len});
        struct kube_field field = {};
        bool good = kube_fields_next(&fields, KUBE_ALL_FIELDS, &field);
        if (good != rows[i].good || fields.bad == good || (good && field.value != rows[i].value)) {
            fail_msg("row %zu: %d, bad %d, %llu", i, good, fields.bad,
                     (unsigned long long)field.value);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_are_wanted_come_in_their_order),
        cmocka_unit_test(a_message_that_is_cut_off_is_bad),
        cmocka_unit_test(numbers_have_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
