/*
 * map: hash maps to a 32-bit value that iterate in insertion order.
 *
 * Entries lie in one array in the order in which they came, so walking a map gives the same order
 * on every machine and in every run; the hash table holds only indices into it. Keys of the string
 * map are borrowed: they must outlive the map (usually they lie in an arena). Nothing is removed:
 * a map is built, used and thrown away whole.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base/str.h"

#define MYR_MAP_NONE UINT32_MAX

struct myr_strmap {
    struct myr_str *keys; /* keys[i], values[i]: entry i, in insertion order */
    uint32_t *values;
    uint32_t *table; /* entry index + 1; 0 is empty */
    uint32_t count;
    uint32_t table_size; /* a power of two, or 0 */
};

void myr_strmap_done(struct myr_strmap *map);
/* Returns false, and changes nothing, when the key is there already. */
bool myr_strmap_add(struct myr_strmap *map, struct myr_str key, uint32_t value);
/* MYR_MAP_NONE when there is no such key. */
uint32_t myr_strmap_get(const struct myr_strmap *map, struct myr_str key);

struct myr_u64map {
    uint64_t *keys;
    uint32_t *values;
    uint32_t *table;
    uint32_t count;
    uint32_t table_size;
};

void myr_u64map_done(struct myr_u64map *map);
bool myr_u64map_add(struct myr_u64map *map, uint64_t key, uint32_t value);
/* The value's place, or NULL; valid until the next add. */
uint32_t *myr_u64map_find(const struct myr_u64map *map, uint64_t key);

/* A good 64-bit mix; the same on every machine. */
uint64_t myr_hash_u64(uint64_t value);
uint64_t myr_hash_bytes(const void *data, size_t len);
