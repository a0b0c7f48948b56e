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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_come_back_as_they_were),
        cmocka_unit_test(parts_tell_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
