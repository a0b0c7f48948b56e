/*
 * segment: the bytes of commits and images, little-endian and without padding, and the map in
 * memory that they make. What comes from etcd is checked before anything of it counts.
 */
#include "store/segment.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    HEAD_BYTES = 32, /* magic 4, version 4, number 8, part 4, parts 4, size 4, crc 4 */
    VERSION = 1,
};

/* In front of every part: whatever else lies under the prefix is told from it. */
static const char magic[4] = {'M', 'Y', 'R', 'S'};

/* Byte by byte: the same on every machine. */
static void put_u32(struct myr_buf *to, uint32_t value)
{
    const unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                                    (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    myr_buf_put(to, (const char *)bytes, 4);
}

static uint32_t get_u32(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* --- the image --- */

static void entry_done(struct entry *entry)
{
    MYR_ASSERT(entry->key); /* every one that is in the image has a name */
    free(entry->key);
    free(entry->value);
}

void image_done(struct image *image)
{
    for (size_t i = 0; i < image->entries.count; i++) {
        entry_done(&image->entries.items[i]);
    }
    myr_vec_done(&image->entries);
}

/* The first entry whose key is not below. */
static size_t place_of(const struct image *image, const char *key)
{
    MYR_ASSERT(key);
    /* By bisection: the keys are in order. */
    size_t low = 0, high = image->entries.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(image->entries.items[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    MYR_SLOW_ASSERT(low == 0 || strcmp(image->entries.items[low - 1].key, key) < 0);
    MYR_SLOW_ASSERT(low == image->entries.count || strcmp(image->entries.items[low].key, key) >= 0);
    return low;
}

/* An empty range, also one that ends before it begins, removes nothing. */
static void remove_from(struct image *image, size_t from, size_t to)
{
    struct entry *items = image->entries.items;
    MYR_ASSERT(from <= image->entries.count && to <= image->entries.count);
    for (size_t i = from; i < to; i++) {
        entry_done(&items[i]);
    }
    if (to > from) {
        memmove(items + from, items + to, (image->entries.count - to) * sizeof(*items));
        image->entries.count -= to - from;
    }
}

/* Kept in order: a search is a bisection, and a prefix is a stretch of neighbours. */
static void put_value(struct image *image, const char *key, struct myr_str value)
{
    size_t at = place_of(image, key);
    char *copy = myr_xcalloc(1, value.len + 1);
    myr_str_put(value, copy);
    if (at < image->entries.count && strcmp(image->entries.items[at].key, key) == 0) {
        free(image->entries.items[at].value);
    } else {
        /* Room at the end first; then those behind the place move up. */
        myr_vec_push(&image->entries, (struct entry){});
        struct entry *items = image->entries.items;
        memmove(items + at + 1, items + at, (image->entries.count - 1 - at) * sizeof(*items));
        items[at].key = strdup(key);
    }
    image->entries.items[at].value = copy;
    image->entries.items[at].size = value.len;
    /* Its neighbours are on either side of it. */
    MYR_ASSERT(at == 0 || strcmp(image->entries.items[at - 1].key, key) < 0);
    MYR_ASSERT(at + 1 == image->entries.count || strcmp(key, image->entries.items[at + 1].key) < 0);
}

/* A key that is to go and is not there is no error. */
static void apply_one(struct image *image, const struct change *change)
{
    MYR_ASSERT(change->key && change->kind <= CHANGE_RANGE);
    MYR_ASSERT((change->kind == CHANGE_RANGE) == (change->to != NULL));
    size_t at = place_of(image, change->key);
    switch (change->kind) {
    case CHANGE_PUT:
        put_value(image, change->key, (struct myr_str){change->value, change->size});
        return;
    case CHANGE_DELETE:
        if (at < image->entries.count && strcmp(image->entries.items[at].key, change->key) == 0) {
            remove_from(image, at, at + 1);
        }
        return;
    case CHANGE_RANGE:
        remove_from(image, at, place_of(image, change->to));
        return;
    }
}

void image_apply(struct image *image, const struct change *changes, size_t count)
{
    MYR_ASSERT(changes || count == 0);
    for (size_t i = 0; i < count; i++) {
        apply_one(image, &changes[i]);
    }
}

/* Neighbours from the first key with the prefix on; an empty prefix is all of them. */
int image_scan(const struct image *image, const char *prefix, store_each *each, void *context,
               struct myr_err *err)
{
    MYR_ASSERT(prefix && each);
    size_t len = strlen(prefix);
    for (size_t i = place_of(image, prefix); i < image->entries.count; i++) {
        const struct entry *entry = &image->entries.items[i];
        if (strncmp(entry->key, prefix, len) != 0) {
            break;
        }
        MYR_ASSERT(i == 0 || strcmp(entry[-1].key, entry->key) < 0); /* in order, each once */
        MYR_TRY(each(context, entry->key, (struct myr_str){entry->value, entry->size}, err));
    }
    return MYR_OK;
}

/* --- changes as bytes: kind 1, length of key and value 4 each, both --- */

/* Without the NUL of the key; its length is in front. */
static void put_record(struct myr_buf *to, enum change_kind kind, const char *key,
                       struct myr_str value)
{
    size_t len = strlen(key);
    MYR_ASSERT(kind == CHANGE_PUT || kind == CHANGE_DELETE || kind == CHANGE_RANGE);
    /* Lengths are 32 bits wide in the record. */
    MYR_ASSERT(len < UINT32_MAX && value.len < UINT32_MAX);
    myr_buf_putc(to, (char)kind);
    put_u32(to, (uint32_t)len);
    put_u32(to, (uint32_t)value.len);
    myr_buf_put(to, key, len);
    myr_buf_put(to, value.data, value.len);
}

void segment_put(const struct change *changes, size_t count, struct myr_buf *ret)
{
    MYR_ASSERT(changes || count == 0);
    for (size_t i = 0; i < count; i++) {
        const struct change *change = &changes[i];
        MYR_ASSERT((change->kind == CHANGE_RANGE) == (change->to != NULL));
        put_record(ret, change->kind, change->key,
                   change->kind == CHANGE_PUT     ? (struct myr_str){change->value, change->size}
                   : change->kind == CHANGE_RANGE ? myr_str_from(change->to)
                                                  : MYR_STR(""));
    }
}

/* An image is a commit that puts every key. */
void segment_put_image(const struct image *image, struct myr_buf *ret)
{
    for (size_t i = 0; i < image->entries.count; i++) {
        const struct entry *entry = &image->entries.items[i];
        MYR_ASSERT(i == 0 || strcmp(entry[-1].key, entry->key) < 0);
        put_record(ret, CHANGE_PUT, entry->key, (struct myr_str){entry->value, entry->size});
    }
}

/* With a NUL behind it, as keys and values from a file have. */
static char *copy_of(const char *bytes, size_t len)
{
    char *copy = myr_xcalloc(1, len + 1);
    memcpy(copy, bytes, len);
    return copy;
}

/* The record at 'at', or 0 bytes where there is none. */
static size_t read_record(struct myr_str bytes, size_t at, struct change *ret)
{
    MYR_ASSERT(at < bytes.len);
    if (bytes.len - at < 9) {
        return 0;
    }
    const char *head = bytes.data + at;
    uint64_t key = get_u32(head + 1), value = get_u32(head + 5);
    /* Lengths are added in 64 bits: no sum of two of them overflows. */
    if ((unsigned char)head[0] > CHANGE_RANGE || key == 0 || key + value > bytes.len - at - 9 ||
        memchr(head + 9, '\0', key) ||
        ((unsigned char)head[0] == CHANGE_RANGE && memchr(head + 9 + key, '\0', value))) {
        return 0;
    }
    *ret = (struct change){
        .kind = (enum change_kind)head[0], .key = copy_of(head + 9, key), .size = value};
    *(ret->kind == CHANGE_RANGE ? &ret->to : &ret->value) = copy_of(head + 9 + key, value);
    MYR_ASSERT(9 + key + value <= bytes.len - at);
    return 9 + key + value;
}

int segment_take(struct image *image, struct myr_str bytes, struct myr_err *err)
{
    MYR_ASSERT(bytes.data || bytes.len == 0);
    /* All are read before the first is applied: a damaged segment changes nothing. */
    MYR_VEC(struct change) changes = {};
    int rc = MYR_OK;
    for (size_t at = 0; at < bytes.len;) {
        struct change change;
        size_t len = read_record(bytes, at, &change);
        if (len == 0) {
            rc = myr_err_set(err, MYR_ECORRUPT, "the change at byte %zu of %zu is damaged", at,
                             bytes.len);
            break;
        }
        MYR_ASSERT(len <= bytes.len - at && change.key);
        myr_vec_push(&changes, change);
        at += len;
    }
    if (rc == MYR_OK) {
        image_apply(image, changes.items, changes.count);
    }
    for (size_t i = 0; i < changes.count; i++) {
        free(changes.items[i].key);
        free(changes.items[i].to);
        free(changes.items[i].value);
    }
    myr_vec_done(&changes);
    return rc;
}

/* --- parts --- */

uint32_t segment_parts(size_t bytes)
{
    /* An empty one has a part too: its head says that there is nothing. */
    return bytes == 0 ? 1 : (uint32_t)((bytes + SEGMENT_PART_BYTES - 1) / SEGMENT_PART_BYTES);
}

/* The head in the order that HEAD_BYTES names, then the bytes. */
void segment_part(struct myr_str bytes, uint64_t number, uint32_t part, struct myr_buf *ret)
{
    /* All parts but the last are of one size. */
    size_t from = (size_t)part * SEGMENT_PART_BYTES;
    size_t len = bytes.len - from < SEGMENT_PART_BYTES ? bytes.len - from : SEGMENT_PART_BYTES;
    MYR_ASSERT(from <= bytes.len && part < segment_parts(bytes.len));
    MYR_ASSERT(ret->len == 0);
    myr_buf_put(ret, magic, sizeof(magic));
    put_u32(ret, VERSION);
    put_u32(ret, (uint32_t)number);
    put_u32(ret, (uint32_t)(number >> 32));
    put_u32(ret, part);
    put_u32(ret, segment_parts(bytes.len));
    put_u32(ret, (uint32_t)len);
    put_u32(ret, (uint32_t)crc32(0, (const unsigned char *)bytes.data + from, (unsigned)len));
    MYR_ASSERT(ret->len ==
               HEAD_BYTES); /* in a buffer of its own, and as long as its reader skips */
    myr_buf_put(ret, bytes.data + from, len);
}

/* Points into 'text'. A version that is not known is told from damage: a newer server wrote it. */
int segment_read_part(struct myr_str text, struct segment_head *ret, struct myr_err *err)
{
    if (text.len < HEAD_BYTES || memcmp(text.data, magic, sizeof(magic)) != 0) {
        return myr_err_set(err, MYR_ECORRUPT, "no part of a state of Myriad's");
    }
    if (get_u32(text.data + 4) != VERSION) {
        return myr_err_set(err, MYR_EVERSION, "a part of version %u; this program reads version %d",
                           get_u32(text.data + 4), VERSION);
    }
    struct segment_head head = {.number = get_u32(text.data + 8) | (uint64_t)get_u32(text.data + 12)
                                                                       << 32,
                                .part = get_u32(text.data + 16),
                                .parts = get_u32(text.data + 20),
                                .bytes = {text.data + HEAD_BYTES, text.len - HEAD_BYTES}};
    uint32_t crc =
        (uint32_t)crc32(0, (const unsigned char *)head.bytes.data, (unsigned)head.bytes.len);
    if (head.parts == 0 || head.parts > SEGMENT_PARTS_MAX || head.part >= head.parts ||
        get_u32(text.data + 24) != head.bytes.len || get_u32(text.data + 28) != crc) {
        return myr_err_set(err, MYR_ECORRUPT, "a part of the state is damaged");
    }
    MYR_ASSERT(head.part < head.parts && head.bytes.len == text.len - HEAD_BYTES);
    *ret = head;
    return MYR_OK;
}
