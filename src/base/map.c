#include "myriad/base/map.h"

#include <endian.h>
#include <stdlib.h>

#include "myriad/base/mem.h"

enum { FIRST_TABLE_SIZE = 16 }; /* a power of two, as every size after it */

/*
 * Shifts and multiplications by one odd constant, twice: each can be undone, so different values
 * never meet in all 64 bits, and the low bits, which choose the slot, depend on the high ones.
 */
uint64_t myr_hash_u64(uint64_t value)
{
    value ^= value >> 32;
    value *= UINT64_C(0xd6e8feb86659fd93);
    value ^= value >> 32;
    value *= UINT64_C(0xd6e8feb86659fd93);
    value ^= value >> 32;
    return value;
}

uint64_t myr_hash_bytes(const void *data, size_t len)
{
    /* FNV-1a for the tail of under eight bytes; whole words are mixed at once. */
    const unsigned char *bytes = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ len;
    size_t at = 0;
    for (; at + 8 <= len; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof(word));
        /* As a little-endian number everywhere: the same bytes hash alike on every machine. */
        hash = myr_hash_u64(hash ^ le64toh(word));
    }
    for (; at < len; at++) {
        hash = (hash ^ bytes[at]) * UINT64_C(0x100000001b3);
    }
    return myr_hash_u64(hash);
}

/* Both maps grow when three quarters full, and double their entry arrays with the table. */
static bool must_grow(uint32_t count, uint32_t table_size)
{
    return count + 1 > table_size / 4 * 3;
}

static uint32_t grown_size(uint32_t table_size)
{
    MYR_ASSERT(table_size <= UINT32_MAX / 2);
    MYR_ASSERT((table_size & (table_size - 1)) == 0); /* slots are found by masking */
    return table_size ? table_size * 2 : FIRST_TABLE_SIZE;
}

/* Linear probing; entries are numbered from 1 in the table, because 0 marks a free slot. */
static void place(uint32_t *table, uint32_t table_size, uint64_t hash, uint32_t entry)
{
    uint32_t slot = (uint32_t)hash & (table_size - 1);
    MYR_ASSERT(entry < table_size); /* else no slot is free, and this does not end */
    while (table[slot] != 0) {
        slot = (slot + 1) & (table_size - 1);
    }
    table[slot] = entry + 1;
}

/* All slots free. */
static uint32_t *table_new(uint32_t size)
{
    uint32_t *table = myr_xrealloc(NULL, size, sizeof(*table));
    memset(table, 0, size * sizeof(*table));
    return table;
}

void myr_strmap_done(struct myr_strmap *map)
{
    free(map->keys);
    free(map->values);
    free(map->table);
    *map = (struct myr_strmap){};
}

/* Entries stay where they are, in the order in which they came; only the table is built anew. */
static void strmap_grow(struct myr_strmap *map)
{
    map->table_size = grown_size(map->table_size);
    free(map->table);
    map->table = table_new(map->table_size);
    map->keys = myr_xrealloc(map->keys, map->table_size, sizeof(*map->keys));
    map->values = myr_xrealloc(map->values, map->table_size, sizeof(*map->values));
    for (uint32_t i = 0; i < map->count; i++) {
        uint64_t hash = myr_hash_bytes(map->keys[i].data, map->keys[i].len);
        place(map->table, map->table_size, hash, i);
    }
}

/* Ends at the first free slot: nothing is ever removed, and a quarter of the slots stays free. */
static uint32_t strmap_entry(const struct myr_strmap *map, struct myr_str key, uint64_t hash)
{
    if (map->table_size == 0) {
        return MYR_MAP_NONE;
    }
    uint32_t slot = (uint32_t)hash & (map->table_size - 1);
    for (; map->table[slot] != 0; slot = (slot + 1) & (map->table_size - 1)) {
        if (myr_str_eq(map->keys[map->table[slot] - 1], key)) {
            return map->table[slot] - 1;
        }
    }
    return MYR_MAP_NONE;
}

/* The key is looked for before the table grows: one that is there already changes nothing. */
bool myr_strmap_add(struct myr_strmap *map, struct myr_str key, uint32_t value)
{
    uint64_t hash = myr_hash_bytes(key.data, key.len);
    if (strmap_entry(map, key, hash) != MYR_MAP_NONE) {
        return false;
    }
    if (must_grow(map->count, map->table_size)) {
        strmap_grow(map);
    }
    MYR_ASSERT(map->count < map->table_size / 4 * 3); /* a slot is free, now and after it */
    map->keys[map->count] = key;
    map->values[map->count] = value;
    place(map->table, map->table_size, hash, map->count);
    map->count++;
    return true;
}

uint32_t myr_strmap_get(const struct myr_strmap *map, struct myr_str key)
{
    uint32_t entry = strmap_entry(map, key, myr_hash_bytes(key.data, key.len));
    return entry == MYR_MAP_NONE ? MYR_MAP_NONE : map->values[entry];
}

void myr_u64map_done(struct myr_u64map *map)
{
    free(map->keys);
    free(map->values);
    free(map->table);
    *map = (struct myr_u64map){};
}

static void u64map_grow(struct myr_u64map *map)
{
    map->table_size = grown_size(map->table_size);
    free(map->table);
    map->table = table_new(map->table_size);
    map->keys = myr_xrealloc(map->keys, map->table_size, sizeof(*map->keys));
    map->values = myr_xrealloc(map->values, map->table_size, sizeof(*map->values));
    for (uint32_t i = 0; i < map->count; i++) {
        place(map->table, map->table_size, myr_hash_u64(map->keys[i]), i);
    }
}

uint32_t *myr_u64map_find(const struct myr_u64map *map, uint64_t key)
{
    if (map->table_size == 0) {
        return NULL;
    }
    uint32_t slot = (uint32_t)myr_hash_u64(key) & (map->table_size - 1);
    for (; map->table[slot] != 0; slot = (slot + 1) & (map->table_size - 1)) {
        if (map->keys[map->table[slot] - 1] == key) {
            return &map->values[map->table[slot] - 1];
        }
    }
    return NULL;
}

bool myr_u64map_add(struct myr_u64map *map, uint64_t key, uint32_t value)
{
    if (myr_u64map_find(map, key)) {
        return false;
    }
    if (must_grow(map->count, map->table_size)) {
        u64map_grow(map);
    }
    MYR_ASSERT(map->count < map->table_size / 4 * 3);
    map->keys[map->count] = key;
    map->values[map->count] = value;
    place(map->table, map->table_size, myr_hash_u64(key), map->count);
    map->count++;
    return true;
}
