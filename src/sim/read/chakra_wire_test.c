#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "read/chakra_test.h"

/* Numbers, fields and messages as bytes: what is read, and at which byte a file is refused. */

/* A send whose size has this encoding, and its receive, which takes all. */
static int read_size(uint32_t kind, uint64_t raw, uint64_t *ret, struct myr_err *err)
{
    struct files files;
    struct myr_trace trace;
    struct myr_buf node = {};
    put_files(&files, "| id=0 type=6 comm_size=1125899906842624 comm_src=0");
    put_number(&node, 1, 0);
    put_number(&node, 3, 5);
    put_attribute(&node, "comm_size", kind, raw);
    put_attribute(&node, "comm_dst", INT64, 1);
    put_message(&files.text[0], &node);
    int rc = read_files(&files, &(struct myr_chakra_options){}, &trace, err);
    if (rc == MYR_OK) {
        *ret = trace.ops.items[0].bytes;
        myr_trace_done(&trace);
    }
    files_done(&files);
    myr_buf_done(&node);
    return rc;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static uint64_t encoded(uint32_t kind, uint64_t value)
{
    switch (kind) {
    case DOUBLE:
        return bits_of((double)value);
    case FLOAT:
        return bits_of_float((float)value);
    case SINT32:
    case SINT64:
        return value << 1;
    default:
        return value;
    }
}

static void a_number_is_the_same_in_each_of_the_formats_types(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 4711, 0);
    for (uint32_t kind = DOUBLE; kind <= BOOL; kind += 2) {
        /* What a writer can say in the type: 24 bits of a float, 31 of a signed word. */
        uint32_t bits = kind == FLOAT                ? 24
                        : kind == BOOL               ? 1
                        : wire_type(kind) == FIXED32 ? 31
                                                     : 50;
        for (uint32_t i = 0; i < 200; i++) {
            struct myr_err err = {};
            uint32_t width = myr_rng_below(&rng, bits + 1);
            uint64_t value = width ? myr_rng_u64(&rng) >> (64 - width) : 0, got = 1;
            if (read_size(kind, encoded(kind, value), &got, &err) < 0) {
                fail_msg("kind %u, %llu: %s", kind, (unsigned long long)value, err.message);
            }
            assert_int_equal(got, value);
        }
    }
}

static void numbers_that_are_none_or_negative_are_refused(void **state)
{
    (void)state;
    const struct {
        uint32_t kind;
        uint64_t raw;
    } refused[] = {
        {DOUBLE, bits_of(-1)},
        {DOUBLE, bits_of(0.5)},
        {DOUBLE, bits_of(-0.25)},
        {DOUBLE, bits_of(9e15)},
        {DOUBLE, bits_of(1e300)},
        {DOUBLE, 0x7FF8000000000000},
        {FLOAT, bits_of_float(-1)},
        {FLOAT, bits_of_float(1.5F)},
        {FLOAT, 0x7FC00000},
        {FLOAT, bits_of_float(1e20F)},
        {7, UINT64_MAX},
        {INT64, UINT64_MAX},
        {INT64, UINT64_C(1) << 63},
        {SINT32, 1},
        {SINT64, 1},
        {SINT64, 2001},
        {SFIXED32, 0x80000000},
        {SFIXED32, UINT32_MAX},
        {SFIXED64, UINT64_MAX},
        {SFIXED64, UINT64_C(1) << 63},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(refused); i++) {
        struct myr_err err = {};
        uint64_t got;
        assert_int_equal(read_size(refused[i].kind, refused[i].raw, &got, &err), MYR_EINVAL);
        if (!strstr(err.message, "'comm_size' must be a whole number from 0")) {
            fail_msg("row %zu: %s", i, err.message);
        }
    }
    /* Unsigned ones are large, not negative. */
    for (uint32_t kind = 11; kind <= 13; kind += 2) {
        struct myr_err err = {};
        uint64_t got;
        assert_int_equal(read_size(kind, UINT64_MAX, &got, &err), MYR_EINVAL);
        assert_string_equal(err.message, "r0:1:2: 'comm_size' is larger than 2^50");
    }
}

/* A field that nobody here knows, of one of the four types on the wire. */
static void put_unknown(struct myr_buf *out, uint32_t number, uint32_t type)
{
    put_key(out, number, type);
    if (type == VARINT) {
        put_varint(out, UINT64_MAX);
    } else if (type == BYTES) {
        put_varint(out, 3);
        myr_buf_put(out, "\xFF\xFF\xFF", 3);
    } else {
        put_fixed(out, type == FIXED64 ? 8 : 4, UINT64_MAX);
    }
}

static void fields_that_nobody_knows_are_passed_over(void **state)
{
    (void)state;
    static const uint32_t types[] = {VARINT, FIXED64, BYTES, FIXED32};
    static const uint32_t numbers[] = {2, 6, 8, 9, 11, 15, 16, 2047, 2048, 0x1FFFFFFF};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(types) * MYR_ARRAY_COUNT(numbers); i++) {
        struct files files;
        struct myr_trace trace;
        struct myr_err err = {};
        struct myr_buf node = {}, inner = {};
        put_files(&files, "| id=0 type=4 us=7");
        put_unknown(&node, numbers[i / 4], types[i % 4]);
        put_number(&node, 1, 0);
        put_unknown(&node, numbers[i / 4], types[i % 4]);
        put_number(&node, 3, 4);
        put_bytes(&inner, 1, "elsewhere", 9);
        put_unknown(&inner, numbers[i / 4], types[i % 4]);
        put_bytes(&node, 10, inner.data, inner.len);
        put_number(&node, 7, 12);
        put_unknown(&node, numbers[i / 4], types[i % 4]);
        put_message(&files.text[0], &node);
        if (read_files(&files, &(struct myr_chakra_options){}, &trace, &err) < 0) {
            fail_msg("number %u, type %u: %s", numbers[i / 4], types[i % 4], err.message);
        }
        assert_int_equal(trace.ops.count, 2);
        assert_int_equal(trace.ops.items[0].duration, 12 * MYR_PS_PER_US);
        myr_trace_done(&trace);
        myr_buf_done(&node);
        myr_buf_done(&inner);
        files_done(&files);
    }
}

/* The nodes are those of the text in a message each, the last one cut behind so many bytes. */
static void put_cut(struct myr_buf *out, const struct myr_buf *first, const struct myr_buf *last,
                    size_t len)
{
    struct files files;
    struct myr_buf cut = {};
    put_files(&files, "| id=0 type=6 comm_size=200 comm_src=0 involved_dim=t");
    myr_buf_put(&cut, last->data, len);
    put_message(&files.text[0], first);
    put_message(&files.text[0], &cut);
    myr_buf_printf(out, "%zu bytes:", len);
    put_read(out, &files, &(struct myr_chakra_options){});
    files_done(&files);
    myr_buf_done(&cut);
}

static void files_that_are_cut_or_changed_are_refused_at_the_byte(void **state)
{
    (void)state;
    struct myr_buf out = {}, first = {}, last = {};
    struct files files;
    const char *ids = "0,";
    put_number(&first, 1, 0);
    put_number(&first, 3, 4);
    put_number(&last, 1, 1);
    put_number(&last, 3, 5);
    put_ids(&last, 5, &ids);
    put_attribute(&last, "comm_size", FIXED_64, 200);
    put_attribute(&last, "comm_dst", INT64, 1);
    for (size_t i = 0; i <= last.len; i++) {
        put_cut(&out, &first, &last, i);
    }
    put_files(&files, "id=0 type=4 us=300; id=1 type=5 deps=0, comm_size=200 comm_dst=1 | id=0 "
                      "type=6 comm_size=200 comm_src=0 involved_dim=t");
    for (size_t i = 0; i < files.text[0].len; i++) {
        char was = files.text[0].data[i];
        files.text[0].data[i] = (char)0x87;
        myr_buf_printf(&out, "byte %zu changed:", i);
        put_read(&out, &files, &(struct myr_chakra_options){});
        files.text[0].data[i] = was;
    }
    files_done(&files);
    assert_kept("sim-chakra-cut.txt", &out);
    myr_buf_done(&out);
    myr_buf_done(&first);
    myr_buf_done(&last);
}

/* Keys and lengths at the borders of what the format allows. */
static void what_the_wire_format_forbids_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        const char *says; /* NULL: it is a file */
    } rows[] = {
        {"\x02\x18\x04", 3, NULL},
        {"\x03\x18\x04", 3, "r0:1:2: not a Chakra trace: a message is longer than the file"},
        {"\x01\x18", 2, "r0:1:3: not a Chakra trace: a number is cut off"},
        {"\x04\x18\x04\x00\x00", 5, "r0:1:5: not a Chakra trace: a field has no number"},
        {"\x04\x18\x04\x0B\x00", 5, "r0:1:5: not a Chakra trace: a field of an unknown type"},
        {"\x04\x18\x04\x0E\x00", 5, "r0:1:5: not a Chakra trace: a field of an unknown type"},
        {"\x04\x18\x04\x2A\x00", 5, NULL}, /* an empty list of ids */
        {"\x04\x18\x04\x2A\x01", 5,
         "r0:1:6: not a Chakra trace: a field is longer than what it stands in"},
        {"\x07\x18\x04\x2D\x00\x00\x00\x00", 8, "r0:1:9: not a Chakra trace: ids are expected"},
        {"\x06\x18\x04\x3D\x00\x00\x00", 7, "r0:1:5: not a Chakra trace: a number is cut off"},
        {"\x0D\x18\x04\x38\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 14,
         "r0:1:2: a duration of more than 1000000 s"},
        {"\x0D\x18\x04\x38\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00", 14, NULL},
        {"\x0E\x18\x04\x38\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 15,
         "r0:1:15: not a Chakra trace: a number of more than ten bytes"},
        {"\x09\x18\x04\x80\x80\x80\x80\x10\x00\x00", 10,
         "r0:1:9: not a Chakra trace: a field has no number"},
        {"\x06\x18\xFF\xFF\xFF\xFF\x0F", 7, "r0:1:2: a node of an unknown type"},
        {"\x07\x18\x84\x80\x80\x80\x80\x01", 8, "r0:1:2: a node of an unknown type"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct files files;
        struct myr_trace trace;
        struct myr_err err = {};
        put_files(&files, "| id=0 type=4");
        myr_buf_put(&files.text[0], rows[i].bytes, rows[i].len);
        int rc = read_files(&files, &(struct myr_chakra_options){}, &trace, &err);
        if (rc == MYR_OK) {
            myr_trace_done(&trace);
        }
        files_done(&files);
        if (rc == MYR_OK ? rows[i].says != NULL
                         : !rows[i].says || strcmp(err.message, rows[i].says) != 0) {
            fail_msg("row %zu: %s", i, rc == MYR_OK ? "read" : err.message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_the_same_in_each_of_the_formats_types),
        cmocka_unit_test(numbers_that_are_none_or_negative_are_refused),
        cmocka_unit_test(fields_that_nobody_knows_are_passed_over),
        cmocka_unit_test(files_that_are_cut_or_changed_are_refused_at_the_byte),
        cmocka_unit_test(what_the_wire_format_forbids_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
