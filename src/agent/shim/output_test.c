#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "folder_test.h"
#include "shim/shim.h"

static int64_t clock_ns = 5000000000; /* stands still, unless the test moves it */

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    (void)which;
    *ret = (struct timespec){clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

static char byte_at(uint64_t offset)
{
    return (char)('a' + (offset * 2654435761U >> 7) % 26);
}

/* Pieces of odd sizes, fetched at many offsets: what is kept lies where it was written. */
static void offsets_stay_true_over_many_pieces(void **state)
{
    (void)state;
    struct output output;
    static char bytes[100003];
    uint64_t end = 40 << 20;
    output_init(&output, folder, 3);
    while (output.written < end) {
        for (size_t i = 0; i < sizeof(bytes); i++) {
            bytes[i] = byte_at(output.written + i);
        }
        output_take(&output, (struct myr_str){bytes, sizeof(bytes)}, NULL, NULL);
    }
    uint64_t kept = 0;
    for (uint64_t at = 0; at < output.written;) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        uint64_t offset = at;
        uint64_t size;
        output_fetch(folder, 3, &offset, 48 << 10, &text, &size);
        assert_int_equal(size, output.written);
        assert_true(offset >= at && text.len > 0);
        assert_int_equal(text.data[0], byte_at(offset));
        assert_int_equal(text.data[text.len - 1], byte_at(offset + text.len - 1));
        /* The head and the end have no hole in them. */
        assert_true(offset == at || (at == 1 << 20 && offset <= output.written - (8 << 20)));
        kept += text.len;
        at = offset + text.len;
    }
    assert_true(kept >= 9 << 20 && kept <= 13 << 20);
    output_done(&output);
}

static void count_lines(void *context, const char *line)
{
    uint32_t *count = context;
    assert_true(strlen(line) < PROGRESS_LINE_MAX);
    (*count)++;
}

static void the_first_line_that_looks_like_an_error_is_kept(void **state)
{
    (void)state;
    struct output output;
    uint32_t count = 0;
    output_init(&output, folder, 4);
    output_take(&output, MYR_STR("all is well\nhalf a li"), count_lines, &count);
    output_take(&output, MYR_STR("ne: CUDA error: bad\nRuntimeError: second\n\nlast\r"),
                count_lines, &count);
    assert_int_equal(count, 4);
    assert_string_equal(output.error, "half a line: CUDA error: bad");
    assert_string_equal(output.last, "last");
    char mass[5000];
    memset(mass, 'x', sizeof(mass)); /* without an end of line */
    output_take(&output, (struct myr_str){mass, sizeof(mass)}, count_lines, &count);
    output_take(&output, MYR_STR("\n"), count_lines, &count);
    assert_int_equal(count, 5);
    output_done(&output);
}

static void keep_line(void *context, const char *line)
{
    struct myr_buf *buf = context;
    size_t len = strlen(line);
    myr_buf_printf(buf, "%zu:%.9s/", len, line);
}

/* Eight MiB a second are looked at; all of it is kept, or counted where it cannot be. */
static void what_comes_too_fast_is_not_read_by_line(void **state)
{
    (void)state;
    static char mass[8 << 20];
    MYR_CLEANUP(myr_buf_done) struct myr_buf seen = {};
    struct output output;
    memset(mass, 'x', sizeof(mass) - 1);
    mass[sizeof(mass) - 1] = '\n';
    output_init(&output, "/no/such/folder", 5);
    output_take(&output, (struct myr_str){mass, sizeof(mass)}, keep_line, &seen);
    output_take(&output, MYR_STR("one more\n"), keep_line, &seen);
    clock_ns += 999999999; /* of the same second */
    output_take(&output, MYR_STR("and another\n"), keep_line, &seen);
    clock_ns++;
    output_take(&output, MYR_STR("a\0b\nbegun, "), keep_line, &seen);
    output_take(&output, (struct myr_str){mass, sizeof(mass) - 13}, keep_line, &seen);
    output_take(&output, MYR_STR("cut\n"), keep_line, &seen);
    assert_int_equal(output.line_len, 0);
    clock_ns += 1000000000;
    output_take(&output, MYR_STR("rest\n"), keep_line, &seen);
    char wanted[80];
    snprintf(wanted, sizeof(wanted), "%d:xxxxxxxxx/3:a?b/4:rest/", PROGRESS_LINE_MAX - 1);
    assert_string_equal(seen.data, wanted);
    assert_string_equal(output.last, "rest");
    assert_int_equal(output.written, 2 * sizeof(mass) + 9 + 12 + 11 - 13 + 4 + 5);
    assert_int_equal(output.fd, -1);
    output_done(&output);
}

static void a_rank_that_wrote_nothing_has_nothing(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint64_t offset = 77;
    uint64_t size = 1;
    output_fetch(folder, 99, &offset, 100, &text, &size);
    assert_int_equal(size, 0);
    assert_int_equal(offset, 0);
    assert_int_equal(text.len, 0);
    offset = 77;
    size = 1;
    output_fetch("/no/such/folder", 3, &offset, 100, &text, &size);
    assert_true(size == 0 && offset == 0 && text.len == 0);
}

/* Whichever pieces are gone, the next one that is there is read from its beginning. */
static void what_is_gone_is_skipped(void **state)
{
    (void)state;
    const uint64_t from = OUTPUT_HEAD_BYTES, each = OUTPUT_PIECE_BYTES;
    for (uint32_t oldest = 1; oldest < 5; oldest++) {
        char name[32];
        for (uint32_t piece = oldest; piece < oldest + 2; piece++) {
            snprintf(name, sizeof(name), "log.%u.%u", 40 + oldest, piece);
            assert_int_equal(file_put(folder, name, MYR_STR("abc"), NULL), MYR_OK);
        }
        for (uint32_t piece = 1; piece < oldest + 2; piece++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            uint64_t offset = from + (piece - 1) * each + 1, size;
            uint64_t wanted = piece < oldest ? from + (oldest - 1) * each : offset;
            output_fetch(folder, 40 + oldest, &offset, 100, &text, &size);
            assert_int_equal(size, from + oldest * each + 3);
            assert_int_equal(offset, wanted);
            assert_int_equal(text.len, piece < oldest ? 3 : 2);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_stay_true_over_many_pieces),
        cmocka_unit_test(the_first_line_that_looks_like_an_error_is_kept),
        cmocka_unit_test(what_comes_too_fast_is_not_read_by_line),
        cmocka_unit_test(a_rank_that_wrote_nothing_has_nothing),
        cmocka_unit_test(what_is_gone_is_skipped),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
