/*
 * A user's catalogue on top of the built-in one: any bytes give one clear line, or parts that can
 * be planned with. The spec behind it is fixed, so that what changes is the parts: those of the
 * reference design, which the file may override, and a part "x" of every kind, which it may add.
 */
#include <stdlib.h>

#include "fuzz_plan.h"

static const char file[] = "fuzz.yaml";

static const char *const specs[] = {
    "servers: 2\n"
    "networks: {compute: , storage: , service: , oob: }\n"
    "storage: {capacity_tb: 4}\n"
    "prices: cn-2024-05\n",
    "servers: 2\nserver: x\nnetworks: {compute: }\n",
    "servers: 2\nserver: generic-1gpu\nnetworks: {compute: {switch: x, topology: clos}}\n",
    "servers: 2\nserver: generic-1gpu\nnetworks: {service: {access_switch: x, pin: {nic: x}}}\n",
    "servers: 2\nstorage: {server: x, capacity_tb: 1}\nnetworks: {storage: }\n",
};

static const struct myr_catalog *base_catalog(void)
{
    static struct myr_arena arena;
    static struct myr_catalog catalog;
    if (!catalog.arena) {
        struct myr_err err;
        myr_arena_init(&arena);
        MYR_ASSERT(myr_catalog_init(&catalog, &arena, &err) == MYR_OK);
    }
    return &catalog;
}

static void *copy_of(const void *memory, size_t count, size_t size)
{
    void *copy = myr_xrealloc(NULL, count, size);
    memcpy(copy, memory, count * size);
    return copy;
}

/* The arrays are copied, the texts stay with the base: reading all of it again would take a 1000th
 * of a second. */
static struct myr_catalog clone(const struct myr_catalog *base, struct myr_arena *arena)
{
    struct myr_catalog catalog = *base;
    catalog.arena = arena;
    catalog.parts.items = copy_of(base->parts.items, base->parts.count, sizeof(struct myr_part));
    catalog.parts.capacity = base->parts.count;
    catalog.books.items =
        copy_of(base->books.items, base->books.count, sizeof(struct myr_price_book));
    catalog.books.capacity = base->books.count;
    for (size_t i = 0; i < base->books.count; i++) {
        struct myr_price_book *book = &catalog.books.items[i];
        book->prices.items =
            copy_of(book->prices.items, book->prices.count, sizeof(struct myr_price));
        book->prices.capacity = book->prices.count;
    }
    uint32_t places = base->names.table_size; /* of the entry arrays as well */
    catalog.names.keys = copy_of(base->names.keys, places, sizeof(struct myr_str));
    catalog.names.values = copy_of(base->names.values, places, sizeof(uint32_t));
    catalog.names.table = copy_of(base->names.table, places, sizeof(uint32_t));
    return catalog;
}

/* All of them would take five times as long, and which one comes makes a difference only rarely. */
static void plan_one(const struct myr_catalog *catalog, struct myr_arena *arena, uint64_t choice)
{
    struct myr_spec spec;
    const struct myr_doc *doc;
    struct myr_err err;
    struct myr_str text = myr_str_from(specs[choice % MYR_ARRAY_COUNT(specs)]);
    int rc = myr_doc_read_yaml(arena, file, text, &doc, &err);
    MYR_ASSERT(rc == MYR_OK);
    if (myr_spec_read(arena, catalog, doc, &spec, &err) == MYR_OK) {
        fuzz_plan(catalog, &spec, file);
        myr_spec_done(&spec);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    const struct myr_doc *doc;
    struct myr_err err;
    myr_arena_init(&arena);
    int rc =
        myr_doc_read_yaml(&arena, file, (struct myr_str){(const char *)data, size}, &doc, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else {
        struct myr_catalog catalog = clone(base_catalog(), &arena);
        rc = myr_catalog_add(&catalog, doc, &err);
        if (rc < 0) {
            fuzz_check_error(&err, rc, file);
        } else {
            plan_one(&catalog, &arena, myr_hash_bytes(data, size));
        }
        myr_catalog_done(&catalog);
    }
    myr_arena_done(&arena);
    return 0;
}
