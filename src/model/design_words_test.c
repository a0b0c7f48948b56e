#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <zlib.h>

#include "kept.h"
#include "myriad/model.h"
#include "myriad/model/design_file.h"

/*
 * Every word of a design file as another one, with checksums that are right again: what is said of
 * it is counted by section, and kept. A check that lets more or less through shows there, and one
 * that is missing stops the test: what was let through is walked.
 */

enum { WAYS = 4, SAID_MAX = 16, SECTIONS = 64, ALIGN = 64 };
/* The layout of design_file.c. */
enum { HEADER = 32, ENTRY = 40, COUNT_AT = 12, TABLE_CRC_AT = 24, HEADER_CRC_AT = 28 };
enum { OFFSET_AT = 16, BYTES_AT = 24, CRC_AT = 32 };

struct image {
    uint8_t *data;
    size_t bytes;
    uint32_t sections;
};

struct tally {
    char tag[9];
    uint32_t words, said_count;
    char said[SAID_MAX][120];
    uint32_t counts[SAID_MAX][WAYS];
};

static uint64_t get(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

static void put_crc(uint8_t *at, const uint8_t *data, size_t bytes)
{
    uint32_t crc = bytes ? (uint32_t)crc32_z(0, data, bytes) : 0;
    memcpy(at, &crc, sizeof(crc));
}

/* Of a section, or of the table alone. */
static void mend(const struct image *image, uint32_t section)
{
    if (section < image->sections) {
        uint8_t *entry = image->data + HEADER + section * ENTRY;
        uint64_t offset = get(entry + OFFSET_AT, 8), bytes = get(entry + BYTES_AT, 8);
        put_crc(entry + CRC_AT, image->data + offset, bytes);
    }
    put_crc(image->data + TABLE_CRC_AT, image->data + HEADER, (size_t)image->sections * ENTRY);
    put_crc(image->data + HEADER_CRC_AT, image->data, HEADER_CRC_AT);
}

static void add_said(struct tally *tally, const char *said, uint32_t way)
{
    uint32_t i = 0;
    while (i < tally->said_count && strcmp(tally->said[i], said) != 0) {
        i++;
    }
    assert_true(i < SAID_MAX && strlen(said) < sizeof(tally->said[0]));
    memcpy(tally->said[i], said, strlen(said) + 1);
    tally->said_count += i == tally->said_count;
    tally->counts[i][way]++;
}

/* All that later code follows without a look: a sum of it, so that nothing is left out. */
static uint64_t walk(const struct myr_design *design)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    uint64_t sum = 0;
    for (uint32_t d = 0; d < design->device_count; d++) {
        myr_buf_clear(&name);
        myr_design_name(design, d, &name);
        sum += name.len + (myr_design_find(design, (struct myr_str){name.data, name.len}) == d);
        sum += myr_design_device_id(design, d);
        for (uint32_t p = design->first_port[d]; p < design->first_port[d + 1]; p++) {
            uint32_t link = design->port_link[p];
            sum += link == MYR_NONE ? 0 : design->link_a[link] + design->link_b[link];
        }
    }
    for (uint32_t i = 0; i < design->bom_count; i++) {
        sum += strlen(myr_design_str(design, design->bom[i].rule));
    }
    return sum;
}

static void judge(const struct image *image, struct tally *tally, uint32_t way)
{
    struct myr_design design;
    struct myr_err err = {};
    if (myr_design_parse(&design, image->data, image->bytes, "f", &err) >= 0) {
        add_said(tally, walk(&design) ? "a design" : "nothing", way);
        return;
    }
    char *index = strstr(err.message, " (at ");
    if (index) {
        *index = '\0'; /* what, not where: that is the tally's */
    }
    add_said(tally, err.message, way);
}

static void judge_words(const struct image *image, uint32_t section, size_t from, size_t to,
                        struct tally *tally)
{
    for (size_t at = from; at + 4 <= to; at += 4) {
        uint32_t value = (uint32_t)get(image->data + at, 4);
        const uint32_t others[WAYS] = {value + 1, value - 1, 0, UINT32_MAX};
        for (uint32_t way = 0; way < WAYS; way++) {
            if (others[way] != value) {
                memcpy(image->data + at, &others[way], 4);
                mend(image, section);
                judge(image, tally, way);
            }
        }
        memcpy(image->data + at, &value, 4);
        tally->words++;
    }
    mend(image, section);
}

static void judge_image(const char *name, struct myr_buf *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf path = {}, file = {};
    MYR_CLEANUP(myr_free_at) struct tally *tallies = myr_xcalloc(SECTIONS + 1, sizeof(*tallies));
    myr_buf_printf(&path, "%s/tests/fuzz/corpus/design/%s", MYR_SOURCE_DIR, name);
    assert_int_equal(myr_file_read(path.data, 1 << 20, &file, NULL), MYR_OK);
    void *room = NULL;
    assert_int_equal(posix_memalign(&room, ALIGN, file.len), 0);
    struct image image = {room, file.len, 0};
    memcpy(image.data, file.data, file.len);
    image.sections = (uint32_t)get(image.data + COUNT_AT, 4);
    assert_true(image.sections < SECTIONS);
    memcpy(tallies[0].tag, "table", 6);
    /* Offsets and lengths; with another checksum of the section the others would not be met. */
    judge_words(&image, image.sections, HEADER, HEADER + (size_t)image.sections * ENTRY,
                &tallies[0]);
    for (uint32_t i = 0; i < image.sections; i++) {
        const uint8_t *entry = image.data + HEADER + i * ENTRY;
        uint64_t offset = get(entry + OFFSET_AT, 8), bytes = get(entry + BYTES_AT, 8);
        memcpy(tallies[i + 1].tag, entry, 8);
        if (strcmp(tallies[i + 1].tag, "STRINGS") != 0) { /* any byte is one of a text */
            judge_words(&image, i, offset, offset + bytes, &tallies[i + 1]);
        }
    }
    myr_buf_printf(text, "\n%s: one more, one less, zero, ones\n", name);
    for (uint32_t i = 0; i <= image.sections; i++) {
        const struct tally *tally = &tallies[i];
        myr_buf_printf(text, "  %s, %u words\n", tally->tag, tally->words);
        for (uint32_t k = 0; k < tally->said_count; k++) {
            for (uint32_t way = 0; way < WAYS; way++) {
                myr_buf_printf(text, "%6u", tally->counts[k][way]);
            }
            myr_buf_printf(text, "  %s\n", tally->said[k]);
        }
    }
    free(image.data);
}

static void every_word_of_a_design_is_looked_at(void **state)
{
    (void)state;
    static const char *const names[] = {"access", "cards", "dragonfly", "grown", "inside-net",
                                        "three",  "torus", "two",       "room",  "groups"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        judge_image(names[i], &text);
    }
    assert_kept("design-words.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_of_a_design_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
