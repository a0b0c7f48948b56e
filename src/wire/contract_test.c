/*
 * What is on the wire is a contract with agents of other versions: numbers and kinds of fields
 * never change once they are given out, and the bytes of a frame mean the same everywhere. Limits
 * hold to the last byte, on both ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/wire.h"

static const char *const kinds[] = {"u32", "u64", "i64", "text", "u32 list"};

static void fields_keep_their_numbers_and_kinds(void **state)
{
    (void)state;
    struct myr_buf text = {};
    for (uint32_t type = 0; type < MYR_WIRE_TYPE_COUNT; type++) {
        const struct myr_wire_table *table = myr_wire_table_of((uint8_t)type);
        myr_buf_printf(&text, "%u %s\n", type, myr_wire_type_name((uint8_t)type));
        for (uint16_t i = 0; table && i < table->count; i++) {
            const struct myr_wire_field *field = &table->fields[i];
            assert_true(field->kind < MYR_ARRAY_COUNT(kinds));
            myr_buf_printf(&text, "  %u %s %s\n", field->number, field->name, kinds[field->kind]);
        }
    }
    assert_kept("wire.txt", &text);
    myr_buf_done(&text);
}

/* A frame as its documentation has it, byte by byte; the checksum is zlib's CRC-32 of the first 24
 * bytes and the payload. */
static void a_frame_has_these_bytes(void **state)
{
    (void)state;
    static const uint8_t frame[] = {0x4D, 0x59, 0x01, 0x04, 3,    0,    0,    0,
                                    0x04, 0x03, 0x02, 0x01, 0x08, 0x07, 0x06, 0x05,
                                    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
                                    0x02, 0x28, 0x7B, 0x60, 'a',  'b',  'c'};
    struct myr_buf buf = {};
    struct myr_wire_head head = {.version = 1,
                                 .type = MYR_WIRE_BEAT,
                                 .node = 0x01020304,
                                 .epoch = 0x05060708,
                                 .sequence = 0x8877665544332211};
    myr_wire_frame_put(&buf, &head, MYR_STR("abc"));
    assert_int_equal(buf.len, sizeof(frame));
    assert_memory_equal(buf.data, frame, sizeof(frame));

    struct myr_wire_head read;
    struct myr_str payload;
    size_t size = 0;
    struct myr_err err = {};
    for (size_t len = 0; len < sizeof(frame); len++) { /* as long as bytes are missing: wait */
        assert_int_equal(
            myr_wire_frame_get((struct myr_str){buf.data, len}, &read, &payload, &size, &err), 0);
    }
    assert_int_equal(
        myr_wire_frame_get((struct myr_str){buf.data, buf.len}, &read, &payload, &size, &err), 1);
    assert_int_equal(size, sizeof(frame));
    assert_true(read.version == 1 && read.type == MYR_WIRE_BEAT && read.length == 3);
    assert_true(read.node == head.node && read.epoch == head.epoch);
    assert_true(read.sequence == head.sequence);
    assert_true(myr_str_eq(payload, MYR_STR("abc")));

    buf.data[1] = 'Z'; /* both bytes of the mark are shown */
    assert_int_equal(
        myr_wire_frame_get((struct myr_str){buf.data, 2}, &read, &payload, &size, &err),
        MYR_ECORRUPT);
    assert_string_equal(err.message, "no frame begins with 0x5a4d");
    myr_buf_done(&buf);
}

/* One frame of a type, fed whole; what the receiver says. */
static int receive(const struct myr_buf *bytes, struct myr_wire_receiver *receiver,
                   struct myr_wire_message *message, struct myr_err *err)
{
    myr_wire_receiver_init(receiver);
    myr_wire_feed(receiver, (struct myr_str){bytes->data, bytes->len});
    return myr_wire_next(receiver, message, err);
}

static void texts_are_cut_at_the_limit_and_taken_up_to_it(void **state)
{
    (void)state;
    char *letters = myr_xcalloc(MYR_WIRE_TEXT_MAX + 2, 1);
    memset(letters, 'x', MYR_WIRE_TEXT_MAX + 1);
    letters[MYR_WIRE_TEXT_MAX - 1] = 'y';
    for (size_t more = 0; more < 3; more++) {
        size_t len = MYR_WIRE_TEXT_MAX - 1 + more;
        struct myr_wire_sender sender;
        struct myr_wire_receiver receiver;
        struct myr_wire_message message;
        struct myr_err err = {};
        struct myr_buf bytes = {};
        struct myr_wire_refused sent = {.code = 7, .text = {letters, len}};
        myr_wire_sender_init(&sender);
        myr_wire_send(&sender, &bytes, MYR_WIRE_REFUSED, 1, 1, 1, &sent);
        assert_int_equal(receive(&bytes, &receiver, &message, &err), 1);
        const struct myr_wire_refused *got = (const void *)message.body;
        size_t expected = len < MYR_WIRE_TEXT_MAX ? len : MYR_WIRE_TEXT_MAX;
        assert_int_equal(got->code, 7);
        assert_int_equal(got->text.len, expected);
        assert_memory_equal(got->text.data, letters, expected);
        myr_wire_receiver_done(&receiver);
        myr_buf_done(&bytes);
    }
    free(letters);
}

static void lists_are_taken_up_to_the_limit(void **state)
{
    (void)state;
    uint32_t *items = myr_xcalloc(MYR_WIRE_LIST_MAX, sizeof(*items));
    for (uint32_t i = 0; i < MYR_WIRE_LIST_MAX; i++) {
        items[i] = 0x01000000 * (i % 256) + i;
    }
    struct myr_wire_sender sender;
    struct myr_wire_receiver receiver;
    struct myr_wire_message message;
    struct myr_err err = {};
    struct myr_buf bytes = {};
    struct myr_wire_start sent = {.job = 3, .nodes = {items, MYR_WIRE_LIST_MAX}};
    myr_wire_sender_init(&sender);
    myr_wire_send(&sender, &bytes, MYR_WIRE_START, 1, 1, 1, &sent);
    assert_int_equal(receive(&bytes, &receiver, &message, &err), 1);
    const struct myr_wire_start *got = (const void *)message.body;
    assert_int_equal(got->nodes.count, MYR_WIRE_LIST_MAX);
    assert_memory_equal(got->nodes.items, items, MYR_WIRE_LIST_MAX * sizeof(*items));
    myr_wire_receiver_done(&receiver);
    myr_buf_done(&bytes);
    free(items);
}

/* Schemas and messages that were put together wrongly, behind good checksums. */
static void frames_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *schema;
        size_t schema_len;
        const char *body;
        size_t body_len;
        const char *words;
    } cases[] = {
        {"", 0, NULL, 0, "a schema that makes no sense"},
        {"\x04\x00", 2, NULL, 0, "a schema that makes no sense"},             /* half a count */
        {"\x04\x01\x00\x00\x00\x01", 6, NULL, 0, "a schema that makes no"},   /* field 0 */
        {"\x04\x01\x00\x01\x00\x05", 6, NULL, 0, "a schema that makes no"},   /* kind 5 */
        {"\x04\x01\x00\x01\x00\x01!", 7, NULL, 0, "a schema that makes no"},  /* too long */
        {"\x04\x21\x00", 3, NULL, 0, "a schema that makes no sense"},         /* 33 fields */
        {"\x04\x01\x00\x01\x00\x01", 6, "1234567", 7, "ends in its field 1"}, /* a u64 of 7 */
        {"\x04\x01\x00\x01\x00\x01", 6, "123456789", 9, "with 1 bytes too many"},
        {"\x04\x01\x00\x07\x00\x00", 6, "123", 3, "ends in its field 7"},           /* u32 */
        {"\x04\x01\x00\x07\x00\x03", 6, "\x02\0\0\0x", 5, "ends in its field 7"},   /* text */
        {"\x04\x01\x00\x07\x00\x03", 6, "\x01\0\x01\0x", 5, "ends in its field 7"}, /* 64 KiB + 1 */
        {"\x04\x01\x00\x07\x00\x04", 6, "\x01\0\0\0xyz", 7, "ends in its field 7"}, /* list */
        {"\x04\x01\x00\x07\x00\x04", 6, "\x01\0\x01\0xyzw", 8, "ends in its field 7"}, /* long */
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_wire_receiver receiver;
        struct myr_wire_message message;
        struct myr_err err = {};
        struct myr_buf bytes = {};
        struct myr_wire_head head = {.version = MYR_WIRE_VERSION, .type = MYR_WIRE_SCHEMA};
        myr_wire_frame_put(&bytes, &head, (struct myr_str){cases[i].schema, cases[i].schema_len});
        if (cases[i].body) {
            head.type = MYR_WIRE_BEAT;
            myr_wire_frame_put(&bytes, &head, (struct myr_str){cases[i].body, cases[i].body_len});
        }
        int rc = receive(&bytes, &receiver, &message, &err);
        if (rc != MYR_ECORRUPT || !strstr(err.message, cases[i].words)) {
            fail_msg("case %zu: %d, '%s'", i, rc, err.message);
        }
        myr_wire_receiver_done(&receiver);
        myr_buf_done(&bytes);
    }
}

/* One more than may be, all of it there, and a good checksum around it. */
static void one_more_than_the_limit_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *schema;
        uint32_t count, bytes;
    } cases[] = {
        {"\x04\x01\x00\x07\x00\x03", MYR_WIRE_TEXT_MAX + 1, MYR_WIRE_TEXT_MAX + 1},
        {"\x04\x01\x00\x07\x00\x04", MYR_WIRE_LIST_MAX + 1, 4 * (MYR_WIRE_LIST_MAX + 1)},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_wire_receiver receiver;
        struct myr_wire_message message;
        struct myr_err err = {};
        struct myr_buf bytes = {};
        struct myr_wire_head head = {.version = MYR_WIRE_VERSION, .type = MYR_WIRE_SCHEMA};
        char *body = myr_xcalloc(4 + cases[i].bytes, 1);
        memcpy(body, &cases[i].count, 4);
        myr_wire_frame_put(&bytes, &head, (struct myr_str){cases[i].schema, 6});
        head.type = MYR_WIRE_BEAT;
        myr_wire_frame_put(&bytes, &head, (struct myr_str){body, 4 + cases[i].bytes});
        assert_int_equal(receive(&bytes, &receiver, &message, &err), MYR_ECORRUPT);
        assert_non_null(strstr(err.message, "ends in its field 7"));
        myr_wire_receiver_done(&receiver);
        myr_buf_done(&bytes);
        free(body);
    }
}

/* 32 fields are a schema, and a second one of the same type takes the place of the first. */
static void the_last_schema_counts(void **state)
{
    (void)state;
    char schema[3 + 3 * MYR_WIRE_FIELDS_MAX] = {MYR_WIRE_BEAT, MYR_WIRE_FIELDS_MAX, 0};
    char body[4 * MYR_WIRE_FIELDS_MAX] = {};
    for (uint32_t i = 0; i < MYR_WIRE_FIELDS_MAX; i++) {
        schema[3 + 3 * i] = (char)(i + 100);
    }
    struct myr_wire_receiver receiver;
    struct myr_wire_message message;
    struct myr_err err = {};
    struct myr_buf bytes = {};
    struct myr_wire_head head = {.version = MYR_WIRE_VERSION, .type = MYR_WIRE_SCHEMA};
    myr_wire_frame_put(&bytes, &head, (struct myr_str){schema, sizeof(schema)});
    head.type = MYR_WIRE_BEAT;
    myr_wire_frame_put(&bytes, &head, (struct myr_str){body, sizeof(body)});
    head.type = MYR_WIRE_SCHEMA;
    myr_wire_frame_put(&bytes, &head, (struct myr_str){"\x04\x01\x00\x01\x00\x02", 6});
    head.type = MYR_WIRE_BEAT;
    head.sequence = 2;
    myr_wire_frame_put(&bytes, &head, (struct myr_str){"\x09\0\0\0\0\0\0\x80", 8});
    assert_int_equal(receive(&bytes, &receiver, &message, &err), 1);
    const struct myr_wire_beat *beat = (const void *)message.body;
    assert_true(beat->time_ns == 0); /* it has no field that is known here */
    assert_int_equal(myr_wire_next(&receiver, &message, &err), 1);
    assert_true((uint64_t)beat->time_ns == 0x8000000000000009 && message.head.sequence == 2);
    assert_int_equal(myr_wire_next(&receiver, &message, &err), 0);
    myr_wire_receiver_done(&receiver);
    myr_buf_done(&bytes);
}

/* A schema is told once for each type on a connection, whatever comes between. */
static void a_schema_is_told_once(void **state)
{
    (void)state;
    struct myr_wire_sender sender;
    struct myr_buf bytes = {};
    size_t before = 0, grew[4];
    myr_wire_sender_init(&sender);
    for (uint32_t i = 0; i < 4; i++) {
        if (i % 2) {
            myr_wire_send(&sender, &bytes, MYR_WIRE_ACK, 1, 1, 1, &(struct myr_wire_ack){5});
        } else {
            myr_wire_send(&sender, &bytes, MYR_WIRE_BEAT, 1, 1, 1, &(struct myr_wire_beat){1});
        }
        grew[i] = bytes.len - before;
        before = bytes.len;
    }
    assert_int_equal(grew[0], 2 * MYR_WIRE_HEAD_BYTES + 6 + 8);
    assert_int_equal(grew[1], 2 * MYR_WIRE_HEAD_BYTES + 6 + 8);
    assert_int_equal(grew[2], MYR_WIRE_HEAD_BYTES + 8);
    assert_int_equal(grew[3], MYR_WIRE_HEAD_BYTES + 8);
    myr_buf_done(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_keep_their_numbers_and_kinds),
        cmocka_unit_test(a_frame_has_these_bytes),
        cmocka_unit_test(texts_are_cut_at_the_limit_and_taken_up_to_it),
        cmocka_unit_test(lists_are_taken_up_to_the_limit),
        cmocka_unit_test(frames_that_lie_are_refused),
        cmocka_unit_test(one_more_than_the_limit_is_refused),
        cmocka_unit_test(the_last_schema_counts),
        cmocka_unit_test(a_schema_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
