#include "myriad/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 400 };

/* A message with every field drawn; texts and lists lie in the arena. */
static void draw(struct myr_rng *rng, struct myr_arena *arena, const struct myr_wire_table *table,
                 unsigned char *ret)
{
    for (uint16_t i = 0; i < table->count; i++) {
        void *at = ret + table->fields[i].offset;
        switch (table->fields[i].kind) {
        case MYR_WIRE_U32:
            *(uint32_t *)at = myr_rng_u32(rng);
            break;
        case MYR_WIRE_U64:
        case MYR_WIRE_I64:
            *(uint64_t *)at = myr_rng_u64(rng);
            break;
        case MYR_WIRE_TEXT: {
            size_t len = myr_rng_below(rng, 40);
            char *text = myr_arena_alloc(arena, len + 1, 1);
            for (size_t c = 0; c < len; c++) {
                text[c] = (char)myr_rng_below(rng, 256);
            }
            *(struct myr_str *)at = (struct myr_str){text, len};
            break;
        }
        case MYR_WIRE_U32_LIST: {
            uint32_t count = myr_rng_below(rng, 50);
            uint32_t *items = myr_arena_alloc(arena, count + 1, sizeof(*items));
            for (uint32_t c = 0; c < count; c++) {
                items[c] = myr_rng_u32(rng);
            }
            *(struct myr_wire_list *)at = (struct myr_wire_list){items, count};
            break;
        }
        case MYR_WIRE_KIND_COUNT:
            fail();
        }
    }
}

static void same_field(const struct myr_wire_field *field, const void *a, const void *b)
{
    switch (field->kind) {
    case MYR_WIRE_U32:
        assert_int_equal(*(const uint32_t *)a, *(const uint32_t *)b);
        return;
    case MYR_WIRE_U64:
    case MYR_WIRE_I64:
        assert_true(*(const uint64_t *)a == *(const uint64_t *)b);
        return;
    case MYR_WIRE_TEXT:
        assert_true(myr_str_eq(*(const struct myr_str *)a, *(const struct myr_str *)b));
        return;
    case MYR_WIRE_U32_LIST: {
        const struct myr_wire_list *x = a, *y = b;
        assert_int_equal(x->count, y->count);
        assert_true(x->count == 0 || memcmp(x->items, y->items, 4 * x->count) == 0);
        return;
    }
    case MYR_WIRE_KIND_COUNT:
        fail();
    }
}

static uint8_t random_type(struct myr_rng *rng)
{
    uint8_t type;
    do {
        type = (uint8_t)myr_rng_below(rng, MYR_WIRE_TYPE_COUNT);
    } while (!myr_wire_table_of(type));
    return type;
}

/* Streams of random messages, fed in random pieces, come out as they went in. */
static void what_is_sent_is_received(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 3, 1);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct myr_arena arena;
        struct myr_wire_sender sender;
        struct myr_wire_receiver receiver;
        struct myr_buf stream = {};
        struct myr_err err = {};
        enum { COUNT = 12 };
        uint8_t types[COUNT];
        _Alignas(16) unsigned char sent[COUNT][MYR_WIRE_MESSAGE_BYTES] = {};
        myr_arena_init(&arena);
        myr_wire_sender_init(&sender);
        myr_wire_receiver_init(&receiver);
        for (uint32_t i = 0; i < COUNT; i++) {
            types[i] = random_type(&rng);
            draw(&rng, &arena, myr_wire_table_of(types[i]), sent[i]);
            myr_wire_send(&sender, &stream, types[i], i, round, i + 1, sent[i]);
        }
        size_t fed = 0;
        for (uint32_t i = 0; i < COUNT;) {
            struct myr_wire_message message;
            int rc = myr_wire_next(&receiver, &message, &err);
            assert_true(rc >= 0);
            if (rc == 0) {
                assert_true(fed < stream.len);
                size_t len = 1 + myr_rng_below(&rng, 60);
                len = len < stream.len - fed ? len : stream.len - fed;
                myr_wire_feed(&receiver, (struct myr_str){stream.data + fed, len});
                fed += len;
                continue;
            }
            const struct myr_wire_table *table = myr_wire_table_of(types[i]);
            assert_true(message.known);
            assert_int_equal(message.head.type, types[i]);
            assert_int_equal(message.head.node, i);
            assert_int_equal(message.head.epoch, round);
            assert_int_equal(message.head.sequence, i + 1);
            for (uint16_t f = 0; f < table->count; f++) {
                same_field(&table->fields[f], sent[i] + table->fields[f].offset,
                           message.body + table->fields[f].offset);
            }
            i++;
        }
        myr_buf_done(&stream);
        myr_wire_receiver_done(&receiver);
        myr_arena_done(&arena);
    }
}

static void a_heartbeat_is_small(void **state)
{
    (void)state;
    struct myr_wire_sender sender;
    struct myr_buf stream = {};
    struct myr_wire_beat beat = {.time_ns = 1};
    myr_wire_sender_init(&sender);
    myr_wire_send(&sender, &stream, MYR_WIRE_BEAT, 1, 1, 1, &beat);
    size_t first = stream.len;
    myr_wire_send(&sender, &stream, MYR_WIRE_BEAT, 1, 1, 2, &beat);
    assert_int_equal(stream.len - first, MYR_WIRE_HEAD_BYTES + 8);
    assert_true(first > stream.len - first); /* the schema came with the first */
    myr_buf_done(&stream);
}

/* --- another version: step without 'duration_ns', with a text and a list that nobody here knows */

struct other_step {
    uint64_t job, step, saved_step;
    struct myr_str mood;
    struct myr_wire_list ranks;
};

#define OTHER(id, what, field)                                                        \
    {                                                                                 \
        .number = (id), .kind = (what), .offset = offsetof(struct other_step, field), \
        .name = #field                                                                \
    }

/* Who passes frames on looks at them whole, and takes nothing by looking. */
static void a_frame_is_looked_at_and_then_skipped(void **state)
{
    struct myr_wire_sender sender;
    struct myr_wire_receiver receiver;
    struct myr_buf bytes = {};
    struct myr_wire_head head;
    struct myr_str frame;
    struct myr_err err = {};
    size_t total = 0;
    (void)state;
    myr_wire_sender_init(&sender);
    myr_wire_receiver_init(&receiver);
    myr_wire_send(&sender, &bytes, MYR_WIRE_ACK, 70000, 3, 9, &(struct myr_wire_ack){5});
    assert_int_equal(myr_wire_peek(&receiver, &head, &frame, &err), 0);
    myr_wire_feed(&receiver, (struct myr_str){bytes.data, bytes.len - 1});
    assert_int_equal(myr_wire_peek(&receiver, &head, &frame, &err), 1);
    assert_int_equal(head.type, MYR_WIRE_SCHEMA);
    assert_int_equal(myr_wire_peek(&receiver, &head, &frame, &err), 1);
    total += frame.len;
    myr_wire_skip(&receiver, frame);
    assert_int_equal(myr_wire_peek(&receiver, &head, &frame, &err), 0);
    myr_wire_feed(&receiver, (struct myr_str){bytes.data + bytes.len - 1, 1});
    assert_int_equal(myr_wire_peek(&receiver, &head, &frame, &err), 1);
    assert_int_equal(head.type, MYR_WIRE_ACK);
    assert_int_equal(head.node, 70000);
    total += frame.len;
    myr_wire_skip(&receiver, frame);
    assert_int_equal(total, bytes.len);
    myr_wire_feed(&receiver, MYR_STR("nonsense"));
    assert_int_equal(myr_wire_peek(&receiver, &head, &frame, &err), MYR_ECORRUPT);
    myr_wire_receiver_done(&receiver);
    myr_buf_done(&bytes);
}

static const struct myr_wire_table *other_table_of(uint8_t type)
{
    static const struct myr_wire_field fields[] = {
        OTHER(9, MYR_WIRE_TEXT, mood),       OTHER(1, MYR_WIRE_U64, job),
        OTHER(10, MYR_WIRE_U32_LIST, ranks), OTHER(2, MYR_WIRE_U64, step),
        OTHER(4, MYR_WIRE_U64, saved_step),
    };
    static const struct myr_wire_table step = {"step", MYR_WIRE_STEP, sizeof(struct other_step),
                                               MYR_ARRAY_COUNT(fields), fields};
    /* a type that this version does not have */
    static const struct myr_wire_field new_fields[] = {OTHER(1, MYR_WIRE_U64, job)};
    static const struct myr_wire_table unknown = {"dream", MYR_WIRE_TYPE_COUNT - 1,
                                                  sizeof(struct other_step), 1, new_fields};
    return type == MYR_WIRE_STEP ? &step : type == MYR_WIRE_TYPE_COUNT - 1 ? &unknown : NULL;
}

static const struct myr_wire_table *no_table_of(uint8_t type)
{
    (void)type;
    return NULL;
}

static void versions_with_other_fields_understand_each_other(void **state)
{
    (void)state;
    struct myr_wire_sender sender;
    struct myr_wire_receiver receiver;
    struct myr_wire_message message;
    struct myr_buf stream = {};
    struct myr_err err = {};
    const uint32_t ranks[] = {1, 2, 3};
    struct other_step theirs = {7, 8, 9, MYR_STR("well"), {ranks, 3}};
    myr_wire_sender_init(&sender);
    sender.version = 2;
    sender.table_of = other_table_of;
    myr_wire_receiver_init(&receiver);
    myr_wire_send(&sender, &stream, MYR_WIRE_STEP, 1, 1, 1, &theirs);
    myr_wire_feed(&receiver, (struct myr_str){stream.data, stream.len});
    assert_int_equal(myr_wire_next(&receiver, &message, &err), 1);
    const struct myr_wire_step *step = (const void *)message.body;
    assert_int_equal(step->job, 7);
    assert_int_equal(step->step, 8);
    assert_int_equal(step->saved_step, 9);
    assert_int_equal(step->duration_ns, 0);
    myr_wire_receiver_done(&receiver);

    /* and back: ours read by them */
    struct myr_wire_step ours = {.job = 1, .step = 2, .duration_ns = 3, .saved_step = 4};
    myr_buf_clear(&stream);
    myr_wire_sender_init(&sender);
    myr_wire_receiver_init(&receiver);
    receiver.table_of = other_table_of;
    myr_wire_send(&sender, &stream, MYR_WIRE_STEP, 1, 1, 1, &ours);
    myr_wire_feed(&receiver, (struct myr_str){stream.data, stream.len});
    assert_int_equal(myr_wire_next(&receiver, &message, &err), 1);
    const struct other_step *read = (const void *)message.body;
    assert_int_equal(read->job, 1);
    assert_int_equal(read->saved_step, 4);
    assert_int_equal(read->mood.len, 0);
    assert_int_equal(read->ranks.count, 0);
    myr_wire_receiver_done(&receiver);
    myr_buf_done(&stream);
}

static void a_type_that_is_not_known_is_passed_over(void **state)
{
    (void)state;
    struct myr_wire_sender sender;
    struct myr_wire_receiver receiver;
    struct myr_wire_message message;
    struct myr_buf stream = {};
    struct myr_err err = {};
    struct myr_wire_step step = {.job = 1};
    myr_wire_sender_init(&sender);
    myr_wire_receiver_init(&receiver);
    receiver.table_of = no_table_of;
    myr_wire_send(&sender, &stream, MYR_WIRE_STEP, 5, 1, 1, &step);
    myr_wire_feed(&receiver, (struct myr_str){stream.data, stream.len});
    assert_int_equal(myr_wire_next(&receiver, &message, &err), 1);
    assert_false(message.known);
    assert_int_equal(message.head.node, 5);
    assert_int_equal(myr_wire_next(&receiver, &message, &err), 0);
    myr_wire_receiver_done(&receiver);
    myr_buf_done(&stream);
}

static void expect_fault(const char *bytes, size_t len, int code, const char *words)
{
    struct myr_wire_receiver receiver;
    struct myr_wire_message message;
    struct myr_err err = {};
    myr_wire_receiver_init(&receiver);
    myr_wire_feed(&receiver, (struct myr_str){bytes, len});
    int rc;
    while ((rc = myr_wire_next(&receiver, &message, &err)) == 1) {
    }
    assert_int_equal(rc, code);
    if (!strstr(err.message, words)) {
        fail_msg("'%s' is not in '%s'", words, err.message);
    }
    assert_int_equal(myr_wire_next(&receiver, &message, &err), code); /* and stays so */
    myr_wire_receiver_done(&receiver);
}

static void what_is_no_frame_is_refused(void **state)
{
    (void)state;
    struct myr_buf frame = {};
    struct myr_wire_head head = {.version = MYR_WIRE_VERSION, .type = MYR_WIRE_BEAT};
    expect_fault("GET / HTTP/1.1\r\n", 16, MYR_ECORRUPT, "no frame begins with");
    myr_wire_frame_put(&frame, &head, MYR_STR("12345678"));
    expect_fault(frame.data, frame.len, MYR_ECORRUPT, "'beat' before its schema");
    frame.data[frame.len - 1] ^= 1;
    expect_fault(frame.data, frame.len, MYR_ECORRUPT, "wrong checksum");
    frame.data[7] = 0x7F; /* two gigabytes to come */
    expect_fault(frame.data, frame.len, MYR_ECORRUPT, "bytes, 1048576 are allowed");
    myr_buf_clear(&frame);
    head.version = 0;
    myr_wire_frame_put(&frame, &head, MYR_STR(""));
    expect_fault(frame.data, frame.len, MYR_EVERSION, "version 0, 1 is the oldest");
    myr_buf_clear(&frame);
    head = (struct myr_wire_head){.version = MYR_WIRE_VERSION, .type = MYR_WIRE_SCHEMA};
    myr_wire_frame_put(&frame, &head, MYR_STR("\x04\x01\x00\x01\x00\x63")); /* of kind 99 */
    expect_fault(frame.data, frame.len, MYR_ECORRUPT, "a schema that makes no sense");
    myr_buf_clear(&frame);
    myr_wire_frame_put(&frame, &head, MYR_STR("\x04\x01\x00\x01\x00\x01")); /* a beat is a u64 */
    head.type = MYR_WIRE_BEAT;
    myr_wire_frame_put(&frame, &head, MYR_STR("1234"));
    expect_fault(frame.data, frame.len, MYR_ECORRUPT, "ends in its field 1");
    myr_buf_done(&frame);
}

/* Any byte of a stream changed: an error or other values, never more than was sent. */
static void a_flipped_byte_does_no_harm(void **state)
{
    (void)state;
    struct myr_wire_sender sender;
    struct myr_buf stream = {};
    const uint32_t nodes[] = {3, 4};
    struct myr_wire_start start = {.job = 1, .nodes = {nodes, 2}, .spec = MYR_STR("name: x")};
    myr_wire_sender_init(&sender);
    myr_wire_send(&sender, &stream, MYR_WIRE_START, 1, 1, 1, &start);
    for (size_t i = 0; i < stream.len; i++) {
        struct myr_wire_receiver receiver;
        struct myr_wire_message message;
        struct myr_err err = {};
        myr_wire_receiver_init(&receiver);
        stream.data[i] ^= 0x55;
        myr_wire_feed(&receiver, (struct myr_str){stream.data, stream.len});
        int rc;
        uint32_t count = 0;
        while ((rc = myr_wire_next(&receiver, &message, &err)) == 1) {
            count++;
        }
        assert_int_equal(count, 0); /* the checksum sees every byte */
        stream.data[i] ^= 0x55;
        myr_wire_receiver_done(&receiver);
    }
    myr_buf_done(&stream);
}

/* The tables are data: what every one must hold. */
static void every_table_is_sound(void **state)
{
    (void)state;
    for (uint32_t type = 0; type <= UINT8_MAX; type++) {
        const struct myr_wire_table *table = myr_wire_table_of((uint8_t)type);
        if (!table) {
            continue;
        }
        uint32_t lists = 0;
        assert_int_equal(table->type, type);
        assert_true(table->size <= MYR_WIRE_MESSAGE_BYTES);
        assert_true(table->count <= MYR_WIRE_FIELDS_MAX);
        for (uint16_t i = 0; i < table->count; i++) {
            lists += table->fields[i].kind == MYR_WIRE_U32_LIST;
            assert_true(table->fields[i].number > 0 && table->fields[i].offset < table->size);
            for (uint16_t j = 0; j < i; j++) {
                assert_int_not_equal(table->fields[i].number, table->fields[j].number);
                assert_int_not_equal(table->fields[i].offset, table->fields[j].offset);
            }
        }
        assert_true(lists <= 1);
    }
    assert_string_equal(myr_wire_type_name(MYR_WIRE_SCHEMA), "schema");
    assert_string_equal(myr_wire_type_name(200), "unknown");
}

/* However short it is: no bit of a frame may be another one. */
static void every_byte_of_a_frame_is_under_its_checksum(void **state)
{
    (void)state;
    for (size_t len = 0; len <= 3; len++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
        struct myr_wire_head head = {.version = MYR_WIRE_VERSION, .type = 3, .node = 4}, back;
        struct myr_str payload;
        struct myr_err err = {};
        size_t size;
        myr_wire_frame_put(&buf, &head, (struct myr_str){"abc", len});
        struct myr_str frame = {buf.data, buf.len};
        assert_int_equal(buf.len, MYR_WIRE_HEAD_BYTES + len);
        assert_int_equal(myr_wire_frame_get(frame, &back, &payload, &size, &err), 1);
        assert_true(size == buf.len && payload.len == len && back.node == 4 && back.type == 3);
        for (size_t bit = 0; bit < 8 * buf.len; bit++) {
            buf.data[bit / 8] = (char)(buf.data[bit / 8] ^ 1 << bit % 8);
            assert_true(myr_wire_frame_get(frame, &back, &payload, &size, &err) <= 0);
            buf.data[bit / 8] = (char)(buf.data[bit / 8] ^ 1 << bit % 8);
        }
    }
}

/* A connection of days: what was read is let go of. */
static void what_was_read_takes_no_room(void **state)
{
    (void)state;
    struct myr_wire_sender sender;
    struct myr_wire_receiver receiver;
    struct myr_wire_message message;
    struct myr_err err = {};
    size_t most = 0;
    myr_wire_sender_init(&sender);
    myr_wire_receiver_init(&receiver);
    for (uint64_t i = 0; i < 100; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
        for (uint64_t k = 0; k < 3; k++) {
            myr_wire_send(&sender, &bytes, MYR_WIRE_ACK, 1, 1, 3 * i + k,
                          &(struct myr_wire_ack){i});
        }
        most = bytes.len > most ? bytes.len : most;
        /* In two pieces, so that something is always left over. */
        size_t cut = bytes.len - 5;
        myr_wire_feed(&receiver, (struct myr_str){bytes.data, cut});
        for (uint64_t k = 0; k < 2; k++) {
            assert_int_equal(myr_wire_next(&receiver, &message, &err), 1);
            assert_int_equal(message.head.sequence, 3 * i + k);
        }
        assert_int_equal(myr_wire_next(&receiver, &message, &err), 0);
        myr_wire_feed(&receiver, (struct myr_str){bytes.data + cut, 5});
        assert_int_equal(myr_wire_next(&receiver, &message, &err), 1);
        assert_true(receiver.bytes.len <= 3 * most && receiver.at <= receiver.bytes.len);
    }
    myr_wire_receiver_done(&receiver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_is_received),
        cmocka_unit_test(a_heartbeat_is_small),
        cmocka_unit_test(versions_with_other_fields_understand_each_other),
        cmocka_unit_test(a_type_that_is_not_known_is_passed_over),
        cmocka_unit_test(what_is_no_frame_is_refused),
        cmocka_unit_test(a_flipped_byte_does_no_harm),
        cmocka_unit_test(every_table_is_sound),
        cmocka_unit_test(every_byte_of_a_frame_is_under_its_checksum),
        cmocka_unit_test(what_was_read_takes_no_room),
        cmocka_unit_test(a_frame_is_looked_at_and_then_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
