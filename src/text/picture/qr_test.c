#include "myriad/text/qr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"

/* By version from 1: the bytes that fit at level M, from the standard's table. */
static const uint32_t capacities[MYR_QR_VERSION_MAX] = {14,  26,  42,  62,  84,  106, 122, 152,
                                                        180, 213, 251, 287, 331, 362, 412};

static struct myr_str text_of(char *room, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        room[i] = (char)('!' + (i * 7 + len) % 90);
    }
    return (struct myr_str){room, len};
}

/* The five bits behind their mask, as a scanner finds them beside the upper left corner. */
static uint32_t format_of(const struct myr_qr *qr)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 6; i++) {
        bits = bits << 1 | qr->dark[8 * qr->side + i];
    }
    return (bits ^ 0x5412 >> 9) >> 1 & 0x1F;
}

static void a_code_is_no_larger_than_its_text_needs(void **state)
{
    (void)state;
    struct myr_qr qr;
    char room[MYR_QR_BYTES_MAX + 1];
    for (uint32_t v = 0; v < MYR_QR_VERSION_MAX; v++) {
        assert_true(myr_qr_make(&qr, text_of(room, capacities[v])));
        assert_int_equal(qr.side, 21 + 4 * v);
        if (v + 1 < MYR_QR_VERSION_MAX) {
            assert_true(myr_qr_make(&qr, text_of(room, capacities[v] + 1)));
            assert_int_equal(qr.side, 25 + 4 * v);
        }
    }
    assert_int_equal(capacities[MYR_QR_VERSION_MAX - 1], MYR_QR_BYTES_MAX);
    assert_false(myr_qr_make(&qr, text_of(room, MYR_QR_BYTES_MAX + 1)));
    assert_true(myr_qr_make(&qr, MYR_STR("")));
    assert_int_equal(qr.side, 21);
}

/* As people see them, and of many more what a changed module or mask would change. */
static void codes_are_the_kept_ones(void **state)
{
    (void)state;
    static const uint32_t drawn[] = {0, 14, 40, 110, 200, 400};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char room[MYR_QR_BYTES_MAX];
    struct myr_qr qr;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(drawn); i++) {
        assert_true(myr_qr_make(&qr, text_of(room, drawn[i])));
        myr_buf_printf(&text, "%u bytes\n", drawn[i]);
        for (uint32_t at = 0; at < qr.side * qr.side; at++) {
            myr_buf_putc(&text, qr.dark[at] ? '#' : '.');
            myr_buf_puts(&text, (at + 1) % qr.side ? "" : "\n");
        }
    }
    for (uint32_t len = 0; len < MYR_QR_BYTES_MAX; len += 3) {
        uint32_t dark = 0;
        assert_true(myr_qr_make(&qr, text_of(room, len)));
        for (uint32_t at = 0; at < qr.side * qr.side; at++) {
            dark += qr.dark[at];
        }
        myr_buf_printf(&text, "%u bytes: side %u, mask %u, %u dark, %08x\n", len, qr.side,
                       format_of(&qr) & 7, dark,
                       (unsigned)myr_hash_bytes((const char *)qr.dark, sizeof(qr.dark)));
        assert_int_equal(format_of(&qr) >> 3, 0); /* level M */
    }
    assert_kept("qr.txt", &text);
}

static void a_drawing_has_a_quiet_zone_and_runs_of_dark(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    struct myr_qr qr = {.side = 3, .dark = {1, 1, 0, 0, 0, 0, 1, 0, 1}};
    myr_qr_svg(&buf, &qr, 12);
    assert_string_equal(buf.data,
                        "<svg class=\"qr\" width=\"12mm\" height=\"12mm\" viewBox=\"0 0 11 11\" "
                        "shape-rendering=\"crispEdges\"><rect width=\"11\" height=\"11\" "
                        "fill=\"#fff\"/><path d=\"M4 4h2v1h-2zM4 6h1v1h-1zM6 6h1v1h-1z\" "
                        "fill=\"#000\"/></svg>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_code_is_no_larger_than_its_text_needs),
        cmocka_unit_test(codes_are_the_kept_ones),
        cmocka_unit_test(a_drawing_has_a_quiet_zone_and_runs_of_dark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
