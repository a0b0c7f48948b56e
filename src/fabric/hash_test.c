/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include "myriad/fabric/balance.h"

/* The fields of a tuple stand in network order: "123456789" and four bytes more. */
static void crc_is_that_of_ieee_802_3(void **state)
{
    (void)state;
    struct myr_tuple digits = {.from = 0x31323334, /* "1234" */
                               .to = 0x35363738,   /* "5678" */
                               .source = 0x3930,   /* "90" */
                               .destination = 0x6162,
                               .protocol = 0x63}; /* "abc" */
    struct myr_tuple zeros = {};
    struct myr_tuple ones = {UINT32_MAX, UINT32_MAX, UINT16_MAX, UINT16_MAX, UINT8_MAX};
    /* crc32("1234567890abc"), of 13 zeros, of 13 times 0xFF. */
    assert_int_equal(myr_hash_crc(&digits, 0), 0xC98FAE11);
    assert_int_equal(myr_hash_crc(&zeros, 0), 0x0F744682);
    assert_int_equal(myr_hash_crc(&ones, 0), 0xF2D6F3C1);
}

static void seeds_start_the_crc_elsewhere(void **state)
{
    (void)state;
    struct myr_tuple tuple = {.from = 1, .to = 2, .source = 49152, .destination = 4791};
    uint32_t plain = myr_hash_crc(&tuple, 0);
    for (uint32_t seed = 1; seed < 1000; seed++) {
        assert_int_not_equal(myr_hash_crc(&tuple, seed), plain);
    }
}

/* Linear: the seed flips the same bits of every hash. This is why switches in a row polarise. */
static void a_seed_flips_the_same_bits_of_every_crc(void **state)
{
    (void)state;
    uint32_t first = 0;
    for (uint32_t i = 0; i < 200; i++) {
        struct myr_tuple tuple = {.from = i * 977, .to = i * 31 + 5, .source = (uint16_t)(i * 7)};
        uint32_t difference = myr_hash_crc(&tuple, 0) ^ myr_hash_crc(&tuple, 12345);
        first = i == 0 ? difference : first;
        assert_int_equal(difference, first);
    }
}

static void exclusive_or_is_blind_to_fields_that_change_together(void **state)
{
    (void)state;
    struct myr_tuple there = {.from = 0x0A000001, .to = 0x0A000002, .source = 50000};
    struct myr_tuple back = {.from = 0x0A000002, .to = 0x0A000001, .source = 50000};
    struct myr_tuple next = {.from = 0x0A000003, .to = 0x0A000000, .source = 50000};
    assert_int_equal(myr_hash_xor(&there, 7), myr_hash_xor(&back, 7));
    assert_int_equal(myr_hash_xor(&there, 7), myr_hash_xor(&next, 7));
    assert_int_not_equal(myr_hash_crc(&there, 7), myr_hash_crc(&back, 7));
}

static void both_families_spread_source_ports(void **state)
{
    enum { BUCKETS = 32, FLOWS = 3200 };
    (void)state;
    uint32_t crc[BUCKETS] = {}, folded[BUCKETS] = {};
    for (uint32_t i = 0; i < FLOWS; i++) {
        struct myr_flow flow = {.from_port = 10, .to_port = 20, .source = (uint16_t)(49152 + i)};
        struct myr_tuple tuple = myr_flow_tuple(&flow);
        crc[myr_hash_crc(&tuple, 1) % BUCKETS]++;
        folded[myr_hash_xor(&tuple, 1) % BUCKETS]++;
    }
    for (uint32_t i = 0; i < BUCKETS; i++) {
        assert_in_range(crc[i], FLOWS / BUCKETS / 2, FLOWS / BUCKETS * 2);
        assert_in_range(folded[i], FLOWS / BUCKETS / 2, FLOWS / BUCKETS * 2);
    }
}

/* RoCE v2: UDP to port 4791; the addresses are those of the exports, 10.0.0.0/8 by port. */
static void a_flow_is_seen_as_roce(void **state)
{
    (void)state;
    struct myr_flow flow = {.from_port = 0x010203, .to_port = 0x040506, .source = 50000};
    struct myr_tuple tuple = myr_flow_tuple(&flow);
    assert_int_equal(tuple.from, 0x0A010203);
    assert_int_equal(tuple.to, 0x0A040506);
    assert_int_equal(tuple.source, 50000);
    assert_int_equal(tuple.destination, 4791);
    assert_int_equal(tuple.protocol, 17);
}

static void exclusive_or_folds_every_field(void **state)
{
    (void)state;
    struct myr_tuple tuple = {.from = 0x12345678,
                              .to = 0x9ABCDEF0,
                              .source = 0x1111,
                              .destination = 0x2222,
                              .protocol = 0x33};
    /* 0x12345678 ^ 0x9ABCDEF0 ^ 0x11110000 ^ 0x2222 ^ 0x33 ^ 0x44, then both halves, then bytes. */
    uint32_t fold = 0x9999AADDU;
    fold ^= fold >> 16;
    fold ^= fold >> 8;
    assert_int_equal(myr_hash_xor(&tuple, 0x44), fold & 0xFFFF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_is_that_of_ieee_802_3),
        cmocka_unit_test(seeds_start_the_crc_elsewhere),
        cmocka_unit_test(a_seed_flips_the_same_bits_of_every_crc),
        cmocka_unit_test(exclusive_or_is_blind_to_fields_that_change_together),
        cmocka_unit_test(both_families_spread_source_ports),
        cmocka_unit_test(a_flow_is_seen_as_roce),
        cmocka_unit_test(exclusive_or_folds_every_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
