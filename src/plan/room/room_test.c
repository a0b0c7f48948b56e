#include "room/room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The published buffer sizes of a Spectrum-4 box: speed, length of the table, bytes of a port. */
static void headroom_is_that_of_the_tables(void **state)
{
    (void)state;
    static const struct {
        uint32_t gbps;
        double length_m;
        uint64_t bytes;
    } rows[] = {
        {400, 5, 250880},   {400, 40, 303104}, {400, 300, 697344},
        {800, 5, 304128},   {800, 40, 410624}, {800, 300, 1198080},
        {400, 0.5, 250880}, {400, 6, 303104},  {800, 41, 1198080},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        assert_int_equal(room_headroom_bytes(rows[i].gbps, rows[i].length_m), rows[i].bytes);
    }
    /* Beyond the tables the formula goes on, byte by byte: what is on the wire both ways, a frame,
     * the other side's delay by speed, and 15 bytes for each Gb/s, three times for short packets.
     */
    static const struct {
        uint32_t gbps, quanta;
    } speeds[] = {{100, 394}, {199, 394}, {200, 453}, {399, 453}, {400, 905}, {800, 905}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(speeds); i++) {
        for (uint32_t cm = 30001; cm < 31500; cm++) {
            double wire = cm / 100.0 * 2 * speeds[i].gbps * 1e9 / 8 / 198e6;
            double frames = 9216 + 800 + 64.0 * speeds[i].quanta + 15.0 * speeds[i].gbps;
            uint64_t kib = (uint64_t)(1024 + 3 * (wire + frames)) / 1024 + 1;
            uint64_t wide = speeds[i].gbps == 800 ? 19456 + 9216 : 0;
            assert_int_equal(room_headroom_bytes(speeds[i].gbps, cm / 100.0),
                             kib * 1024 + 19456 + wide);
        }
    }
}

static void columns_are_named_like_those_of_a_sheet(void **state)
{
    (void)state;
    char name[MYR_ROOM_COLUMN_BYTES];
    static const struct {
        uint32_t column;
        const char *name;
    } rows[] = {{1, "A"}, {9, "I"}, {26, "Z"}, {27, "AA"}, {52, "AZ"}, {702, "ZZ"}, {703, "AAA"}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        assert_string_equal(myr_room_column_name(rows[i].column, name), rows[i].name);
    }
}

static void the_scarcest_limit_decides(void **state)
{
    (void)state;
    struct load rack = {15000, 42, 1500000};
    assert_int_equal(room_fits(&rack, &(struct load){10000, 8, 130000}), 1);
    assert_int_equal(room_fits(&rack, &(struct load){1000, 8, 130000}), 5);
    assert_int_equal(room_fits(&rack, &(struct load){1000, 1, 700000}), 2);
    assert_int_equal(room_fits(&rack, &(struct load){15001, 1, 1}), 0);
    assert_int_equal(room_fits(&rack, &(struct load){15000, 42, 1500000}), 1);
    /* What is not needed limits nothing; a rack that is overdrawn takes nothing. */
    assert_int_equal(room_fits(&rack, &(struct load){0, 1, 0}), 42);
    assert_int_equal(room_fits(&rack, &(struct load){0, 0, 0}), INT32_MAX);
    assert_int_equal(room_fits(&(struct load){-1, 42, 1500000}, &(struct load){0, 1, 0}), 0);
    assert_int_equal(room_fits(&(struct load){15000, -1, 1500000}, &(struct load){1, 0, 1}), 0);
    assert_int_equal(room_fits(&(struct load){15000, 42, -1}, &(struct load){1, 1, 0}), 0);
    assert_int_equal(room_fits(&(struct load){0, 42, 9}, &(struct load){0, 1, 1}), 9);
}

/* What is taken is gone, and what is given back is there again. */
static void racks_are_counted_down_and_up(void **state)
{
    (void)state;
    struct stand rack = {.left = {15000, 42, 1500000}};
    const struct load need = {4000, 8, 130000};
    room_take(&rack, &need, 3);
    assert_int_equal(rack.left.watts, 3000);
    assert_int_equal(rack.left.units, 18);
    assert_int_equal(rack.left.grams, 1110000);
    room_give(&rack, &need);
    assert_int_equal(rack.left.watts, 7000);
    assert_int_equal(rack.left.units, 26);
    assert_int_equal(rack.left.grams, 1240000);
}

/* The least length that is sold and reaches; what is longer than all gets the last. */
static void lengths_are_those_that_are_sold(void **state)
{
    (void)state;
    static const uint32_t sold_mm[ROOM_STEPS] = {
        500,    1000,   1500,   2000,    3000,    5000,    7000,    10000,  15000,
        20000,  30000,  40000,  50000,   70000,   90000,   100000,  150000, 200000,
        300000, 500000, 700000, 1000000, 1500000, 2000000, 10000000};
    for (uint32_t i = 0; i < ROOM_STEPS; i++) {
        assert_int_equal(room_step_mm(i), sold_mm[i]);
        assert_int_equal(room_step(sold_mm[i]), i);
        assert_int_equal(room_step(sold_mm[i] + 1), i + 1 < ROOM_STEPS ? i + 1 : i);
        assert_int_equal(room_step(i ? sold_mm[i - 1] + 1 : 0), i);
    }
    assert_int_equal(room_step(INT64_MAX), ROOM_STEPS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headroom_is_that_of_the_tables),
        cmocka_unit_test(columns_are_named_like_those_of_a_sheet),
        cmocka_unit_test(the_scarcest_limit_decides),
        cmocka_unit_test(racks_are_counted_down_and_up),
        cmocka_unit_test(lengths_are_those_that_are_sold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
