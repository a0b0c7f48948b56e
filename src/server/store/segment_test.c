/* Changes as bytes and back, held against a store of another kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/segment.h"

/* The naive one: a slot for each of 64 keys. */
enum { KEYS = 64 };

struct naive {
    bool there[KEYS];
    uint32_t value[KEYS];
};

static void key_of(uint32_t number, char ret[16])
{
    snprintf(ret, 16, "k/%03u", number);
}

struct walk {
    const struct naive *naive;
    uint32_t at, seen;
};

static int compare(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    struct walk *walk = context;
    char wanted[16], number[16];
    (void)err;
    while (walk->at < KEYS && !walk->naive->there[walk->at]) {
        walk->at++;
    }
    assert_true(walk->at < KEYS);
    key_of(walk->at, wanted);
    snprintf(number, sizeof(number), "%u", walk->naive->value[walk->at]);
    assert_string_equal(key, wanted);
    assert_true(myr_str_eq(value, myr_str_from(number)));
    walk->at++;
    walk->seen++;
    return MYR_OK;
}

static struct change draw(struct myr_rng *rng, struct naive *naive)
{
    char key[16], to[16], value[16];
    uint32_t kind = (uint32_t)myr_rng_below(rng, 8), at = (uint32_t)myr_rng_below(rng, KEYS);
    struct change change = {.kind = kind == 0   ? CHANGE_RANGE
                                    : kind <= 2 ? CHANGE_DELETE
                                                : CHANGE_PUT};
    uint32_t end = at + (uint32_t)myr_rng_below(rng, 8);
    key_of(at, key);
    change.key = strdup(key);
    if (change.kind == CHANGE_PUT) {
        naive->there[at] = true;
        naive->value[at] = (uint32_t)myr_rng_below(rng, 1000000);
        snprintf(value, sizeof(value), "%u", naive->value[at]);
        change.value = strdup(value);
        change.size = strlen(value);
    } else {
        uint32_t last = change.kind == CHANGE_DELETE ? at + 1 : end;
        for (uint32_t i = at; i < last && i < KEYS; i++) {
            naive->there[i] = false;
        }
    }
    if (change.kind == CHANGE_RANGE) {
        key_of(end, to);
        change.to = strdup(to);
    }
    return change;
}

static void check(const struct image *image, const struct naive *naive)
{
    struct walk walk = {.naive = naive};
    uint32_t wanted = 0;
    struct myr_err err = {};
    for (uint32_t i = 0; i < KEYS; i++) {
        wanted += naive->there[i];
    }
    assert_int_equal(image_scan(image, "k/", compare, &walk, &err), 0);
    assert_int_equal(walk.seen, wanted);
}

/* Applied, read back from its bytes, and read back from a whole image: the same three times. */
static void changes_come_back_as_they_were(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 18, 7);
    struct naive naive = {};
    struct image direct = {}, read = {};
    struct myr_err err = {};
    for (uint32_t round = 0; round < 300; round++) {
        struct change changes[20];
        size_t count = myr_rng_below(&rng, 20) + 1;
        struct myr_buf bytes = {};
        for (size_t i = 0; i < count; i++) {
            changes[i] = draw(&rng, &naive);
        }
        image_apply(&direct, changes, count);
        segment_put(changes, count, &bytes);
        assert_int_equal(segment_take(&read, (struct myr_str){bytes.data, bytes.len}, &err), 0);
        check(&direct, &naive);
        check(&read, &naive);
        /* Cut off anywhere it is damaged, or the same changes but fewer; never more. */
        struct image whole = {};
        myr_buf_clear(&bytes);
        segment_put_image(&read, &bytes);
        assert_int_equal(
            segment_take(&whole, (struct myr_str){bytes.data ? bytes.data : "", bytes.len}, &err),
            0);
        check(&whole, &naive);
        image_done(&whole);
        for (size_t i = 0; i < count; i++) {
            free(changes[i].key);
            free(changes[i].to);
            free(changes[i].value);
        }
        myr_buf_done(&bytes);
    }
    image_done(&direct);
    image_done(&read);
}

static void parts_tell_what_they_are(void **state)
{
    (void)state;
    size_t size = 2 * SEGMENT_PART_BYTES + 17;
    char *bytes = myr_xcalloc(1, size);
    struct myr_err err = {};
    struct segment_head head;
    memset(bytes, 'x', size);
    assert_int_equal(segment_parts(0), 1);
    assert_int_equal(segment_parts(SEGMENT_PART_BYTES), 1);
    assert_int_equal(segment_parts(SEGMENT_PART_BYTES + 1), 2);
    assert_int_equal(segment_parts(size), 3);
    size_t got = 0;
    for (uint32_t i = 0; i < 3; i++) {
        struct myr_buf part = {};
        segment_part((struct myr_str){bytes, size}, 1ULL << 40, i, &part);
        assert_true(part.len <= 1 << 20);
        assert_int_equal(segment_read_part((struct myr_str){part.data, part.len}, &head, &err), 0);
        assert_true(head.number == 1ULL << 40 && head.part == i && head.parts == 3);
        got += head.bytes.len;
        for (size_t at = 0; at < 32 + 8; at++) { /* a bit flipped shows */
            part.data[at] ^= 4;
            bool number = at >= 8 && at < 16; /* which it is, is for the caller to check */
            bool place = at >= 16 && at < 24;
            assert_true(number || place ||
                        segment_read_part((struct myr_str){part.data, part.len}, &head, &err) < 0);
            part.data[at] ^= 4;
        }
        assert_true(segment_read_part((struct myr_str){part.data, part.len - 1}, &head, &err) < 0);
        myr_buf_done(&part);
    }
    assert_int_equal(got, size);
    free(bytes);
}

/* What the bytes of one record may be; a damaged one behind a good one takes that with it. */
static void a_damaged_record_changes_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        bool good;
    } rows[] = {
        {"\0\1\0\0\0\1\0\0\0kv", 11, true},
        {"\0\1\0\0\0\0\0\0\0k", 10, true},   /* an empty value */
        {"\0\1\0\0\0\1\0\0\0k\0", 11, true}, /* any byte in a value */
        {"\1\1\0\0\0\0\0\0\0k", 10, true},
        {"\2\1\0\0\0\1\0\0\0kz", 11, true},
        {"\3\1\0\0\0\1\0\0\0kv", 11, false}, /* no such kind */
        {"\xff\1\0\0\0\1\0\0\0kv", 11, false},
        {"\0\0\0\0\0\1\0\0\0v", 10, false}, /* no key */
        {"\0\1\0\0\0\1\0\0\0k", 10, false}, /* a value that is not there */
        {"\0\2\0\0\0\0\0\0\0k", 10, false}, /* half a key */
        {"\0\xff\xff\xff\xff\1\0\0\0kv", 11, false},
        {"\0\1\0\0\0\xff\xff\xff\xffkv", 11, false},
        {"\0\1\0\0\0\1\0\0\0\0v", 11, false}, /* no text as a key */
        {"\2\1\0\0\0\1\0\0\0k\0", 11, false}, /* nor as the end of a range */
        {"\0\1\0\0\0\0\0\0", 8, false},       /* half a head */
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char bytes[32] = "\0\1\0\0\0\1\0\0\0kw";
        struct image image = {};
        struct myr_err err = {};
        memcpy(bytes + 11, rows[i].bytes, rows[i].len);
        int rc = segment_take(&image, (struct myr_str){bytes, 11 + rows[i].len}, &err);
        assert_int_equal(rc, rows[i].good ? MYR_OK : MYR_ECORRUPT);
        if (!rows[i].good) {
            char words[64];
            snprintf(words, sizeof(words), "the change at byte 11 of %zu is damaged",
                     11 + rows[i].len);
            assert_string_equal(err.message, words);
        }
        /* Put twice it is one key; deleted, or in the range, it is none. */
        assert_int_equal(image.entries.count, rows[i].good && rows[i].bytes[0] == 0);
        image_done(&image);
    }
}

static int first_alone(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    (void)value;
    ++*(int *)context;
    return myr_err_set(err, MYR_ECORRUPT, "%s is enough", key);
}

static int count(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    (void)key;
    (void)value;
    (void)err;
    ++*(int *)context;
    return MYR_OK;
}

static void a_prefix_is_a_stretch_of_neighbours(void **state)
{
    (void)state;
    static char keys[][4] = {"b", "a/2", "a/", "a/1", "a", "a0"};
    struct image image = {};
    struct myr_err err = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        struct change change = {.key = keys[i]};
        image_apply(&image, &change, 1);
    }
    static const struct {
        const char *prefix;
        int count;
    } rows[] = {{"", 6}, {"a", 5}, {"a/", 3}, {"a/1", 1}, {"a/3", 0}, {"b", 1}, {"c", 0}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        int seen = 0;
        assert_int_equal(image_scan(&image, rows[i].prefix, count, &seen, &err), MYR_OK);
        assert_int_equal(seen, rows[i].count);
    }
    int seen = 0;
    assert_int_equal(image_scan(&image, "a/", first_alone, &seen, &err), MYR_ECORRUPT);
    assert_int_equal(seen, 1);
    assert_string_equal(err.message, "a/ is enough");
    /* A range that ends before it begins is none. */
    struct change range = {.kind = CHANGE_RANGE, .key = "b", .to = "a"};
    image_apply(&image, &range, 1);
    assert_int_equal(image.entries.count, 6);
    image_done(&image);
}

/* The head of a part, number by number; the rest is what segment_part() makes. */
static void a_part_says_why_it_is_none(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        unsigned char byte;
        int code;
        const char *words;
    } rows[] = {
        {0, 'm', MYR_ECORRUPT, "no part of a state of Myriad's"},
        {3, 's', MYR_ECORRUPT, "no part of a state of Myriad's"},
        {4, 2, MYR_EVERSION, "a part of version 2; this program reads version 1"},
        {4, 0, MYR_EVERSION, "a part of version 0; this program reads version 1"},
        {16, 1, MYR_ECORRUPT, "a part of the state is damaged"}, /* behind the last */
        {20, 0, MYR_ECORRUPT, "a part of the state is damaged"}, /* of none */
        {20, 2, MYR_OK, ""},
        {21, 16, MYR_ECORRUPT, "a part of the state is damaged"}, /* 4,097 are too many */
        {24, 2, MYR_ECORRUPT, "a part of the state is damaged"},
        {28, 0, MYR_ECORRUPT, "a part of the state is damaged"},
        {32, 'x', MYR_ECORRUPT, "a part of the state is damaged"},
    };
    struct segment_head head;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf part = {};
        struct myr_err err = {};
        segment_part(MYR_STR("abc"), 7, 0, &part);
        part.data[rows[i].at] = (char)rows[i].byte;
        assert_int_equal(segment_read_part((struct myr_str){part.data, part.len}, &head, &err),
                         rows[i].code);
        assert_string_equal(err.message, rows[i].words);
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf part = {};
    struct myr_err err = {};
    segment_part(MYR_STR(""), 7, 0, &part);
    assert_int_equal(part.len, 32);
    assert_int_equal(segment_read_part((struct myr_str){part.data, 31}, &head, &err), MYR_ECORRUPT);
    part.data[20] = 0;
    part.data[21] = 16; /* 4,096 are not too many */
    assert_int_equal(segment_read_part((struct myr_str){part.data, 32}, &head, &err), MYR_OK);
    assert_true(head.number == 7 && head.part == 0 && head.parts == 4096 && head.bytes.len == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_come_back_as_they_were),
        cmocka_unit_test(parts_tell_what_they_are),
        cmocka_unit_test(a_damaged_record_changes_nothing),
        cmocka_unit_test(a_prefix_is_a_stretch_of_neighbours),
        cmocka_unit_test(a_part_says_why_it_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
