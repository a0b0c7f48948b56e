/*
 * segment: changes of one commit as bytes, and a map of keys that takes them in order.
 *
 * A replicated store keeps no table but a log: an image of all keys, and behind it the changes of
 * each commit. Both are the same bytes, cut into parts that a key of etcd's may hold. A part says
 * which it is, how many there are and what its bytes add up to.
 */
#pragma once

#include "store/store_ops.h"

#define SEGMENT_PART_BYTES (1000U << 10) /* below etcd's limit of 1.5 MiB a request, in base64 */
#define SEGMENT_PARTS_MAX  4096U

struct entry {
    char *key;
    char *value;
    size_t size;
};

/* In order of the keys. */
struct image {
    MYR_VEC(struct entry) entries;
};

void image_done(struct image *image);
void image_apply(struct image *image, const struct change *changes, size_t count);
MYR_MUST_USE int image_scan(const struct image *image, const char *prefix, store_each *each,
                            void *context, struct myr_err *err);

/* The bytes of a commit, or of a whole image. */
void segment_put(const struct change *changes, size_t count, struct myr_buf *ret);
void segment_put_image(const struct image *image, struct myr_buf *ret);
/* Takes such bytes into the image. What is damaged changes nothing. */
MYR_MUST_USE int segment_take(struct image *image, struct myr_str bytes, struct myr_err *err);

/* How many parts so many bytes have, and one of them with its head. */
uint32_t segment_parts(size_t bytes);
void segment_part(struct myr_str bytes, uint64_t number, uint32_t part, struct myr_buf *ret);

struct segment_head {
    uint64_t number;
    uint32_t part, parts;
    struct myr_str bytes;
};

MYR_MUST_USE int segment_read_part(struct myr_str text, struct segment_head *ret,
                                   struct myr_err *err);
