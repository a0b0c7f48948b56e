#include "flat/flat.h"

#include <stdlib.h>

/*
 * One loop over a table of fields for each thing that can be done with a value. Fields are read and
 * written through memcpy(), because what they really are is not known here.
 */

/* How vectors and gangs look whatever is in them. */
struct any_vec {
    void *items;
    size_t count, capacity;
};

struct any_gang {
    uint32_t count;
    void *items;
};

/* The items behind one field. */
struct items {
    void *at;
    uint64_t count;
};

/* Where they lie and how many; none for what is no state or is empty. */
static struct items items_of(const struct flat_field *f, const void *self)
{
    char *field = (char *)self + f->offset;
    struct any_vec vec;
    struct any_gang gang;
    void *pointer;
    switch (f->kind) {
    case FLAT_VEC:
        memcpy(&vec, field, sizeof(vec));
        return (struct items){vec.items, vec.count};
    case FLAT_GANG:
        memcpy(&gang, field, sizeof(gang));
        return (struct items){gang.items, gang.items ? gang.count : 0};
    case FLAT_ARRAY:
        memcpy(&pointer, field, sizeof(pointer));
        return (struct items){pointer, pointer ? f->count(self) : 0};
    case FLAT_POINTER:
        memcpy(&pointer, field, sizeof(pointer));
        return (struct items){pointer, pointer ? 1 : 0};
    case FLAT_INLINE:
        return (struct items){field, f->size / f->item};
    default:
        return (struct items){};
    }
}

/* Scratch, freed by itself or not, is neither stored nor compared. */
static bool is_state(const struct flat_field *f)
{
    return f->kind != FLAT_SCRATCH && f->kind != FLAT_OWNED;
}

void flat_release(const struct flat_type *type, void *self)
{
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        /* What it holds is known to its own function alone. */
        if (f->kind == FLAT_OWNED) {
            f->release((char *)self + f->offset);
            continue;
        }
        struct items items = items_of(f, self);
        for (uint64_t k = 0; f->type && k < items.count; k++) {
            flat_release(f->type, (char *)items.at + k * f->item);
        }
        /* Inline items lie in the struct itself. */
        if (f->kind != FLAT_INLINE) {
            free(items.at);
        }
    }
}

/* Room for 'count' items in the field; those that it had keep their place. */
static void *make_room(const struct flat_field *f, void *self, uint64_t count)
{
    char *field = (char *)self + f->offset;
    struct items had = items_of(f, self);
    if (f->kind == FLAT_INLINE) {
        return had.at;
    }
    /* Items that go own memory of their own. */
    for (uint64_t k = count; f->type && k < had.count; k++) {
        flat_release(f->type, (char *)had.at + k * f->item);
    }
    if (f->kind == FLAT_VEC) {
        struct any_vec vec;
        memcpy(&vec, field, sizeof(vec));
        /* A vector keeps what room it has: copies are made again and again. */
        if (vec.capacity < count) {
            vec.items = myr_xrealloc(vec.items, count, f->item);
            vec.capacity = count;
        }
        vec.count = count;
        memcpy(field, &vec, sizeof(vec));
        had.at = vec.items;
    } else {
        had.at = count ? myr_xrealloc(had.at, count, f->item) : (free(had.at), NULL);
        if (f->kind == FLAT_GANG) {
            struct any_gang gang;
            /* The gap behind the count is zero too. */
            memset(&gang, 0, sizeof(gang));
            gang.count = (uint32_t)count;
            gang.items = had.at;
            memcpy(field, &gang, sizeof(gang));
        } else {
            memcpy(field, &had.at, sizeof(had.at));
        }
    }
    /* New items begin as zero, which is a value that can be released and copied into. */
    for (uint64_t k = had.count; f->type && k < count; k++) {
        memset((char *)had.at + k * f->item, 0, f->item);
    }
    return had.at;
}

/*
 * The words of a type that lead to memory, or count what is there. Most items have none of it, and
 * are then no more than their own bytes.
 */
struct owning {
    uint32_t count, at[16];
    bool never; /* more than that, or what only flat_copy() knows how to copy */
};

static struct owning owning_of(const struct flat_type *type)
{
    struct owning o = {.never = type->size % sizeof(uint64_t) != 0};
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        if (f->kind == FLAT_PLAIN || f->kind == FLAT_SCRATCH) {
            continue;
        }
        uint32_t words = f->size / (uint32_t)sizeof(uint64_t);
        o.never |= f->kind == FLAT_INLINE || f->kind == FLAT_OWNED ||
                   o.count + words > MYR_ARRAY_COUNT(o.at) || f->size % sizeof(uint64_t) != 0;
        for (uint32_t w = 0; w < words && !o.never; w++) {
            o.at[o.count++] = f->offset + w * (uint32_t)sizeof(uint64_t);
        }
    }
    return o;
}

static bool is_bare(const struct owning *o, const char *item)
{
    uint64_t word, any = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        memcpy(&word, item + o->at[i], sizeof(word));
        any |= word;
    }
    return any == 0;
}

/*
 * Runs of bare items are copied as bytes: of ten thousand jobs that wait hardly one has anything
 * behind it, and field by field they took most of the time of a copy.
 */
static void copy_each(const struct flat_type *type, char *to, const char *from, uint64_t count)
{
    const size_t size = type->size;
    const struct owning owning = owning_of(type);
    for (uint64_t k = 0; k < count;) {
        uint64_t run = k;
        while (run < count && !owning.never && is_bare(&owning, from + run * size) &&
               is_bare(&owning, to + run * size)) {
            run++;
        }
        if (run > k) {
            memcpy(to + k * size, from + k * size, (run - k) * size);
            k = run;
        } else {
            flat_copy(type, to + k * size, from + k * size);
            k++;
        }
    }
}

/* Items of 'to' that exist are copied over; those that it has too many are released. */
static void copy_items(const struct flat_field *f, void *to, const void *from)
{
    struct items items = items_of(f, from);
    MYR_ASSERT(items.count == 0 || items.at);
    if (f->kind == FLAT_GANG && items.count == 0) {
        items.at = NULL; /* room that is not in use is no state */
    }
    char *copy = make_room(f, to, items.count);
    if (!f->type) {
        if (items.count) {
            memcpy(copy, items.at, items.count * f->item);
        }
        return;
    }
    if (items.count) {
        copy_each(f->type, copy, items.at, items.count);
    }
}

void flat_copy(const struct flat_type *type, void *to, const void *from)
{
    MYR_ASSERT(to != from);
    /* Items first: the plain part of 'to' still says how many of them it has. */
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        if (f->kind != FLAT_PLAIN && is_state(f)) {
            copy_items(f, to, from);
        }
    }
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        if (f->kind == FLAT_PLAIN) {
            memcpy((char *)to + f->offset, (const char *)from + f->offset, f->size);
        }
    }
}

/* The same number of items, and each the same. */
static bool equal_items(const struct flat_field *f, const void *a, const void *b)
{
    struct items x = items_of(f, a), y = items_of(f, b);
    if (x.count != y.count) {
        return false;
    }
    if (!f->type) {
        return x.count == 0 || memcmp(x.at, y.at, x.count * f->item) == 0;
    }
    for (uint64_t k = 0; k < x.count; k++) {
        if (!flat_equal(f->type, (const char *)x.at + k * f->item,
                        (const char *)y.at + k * f->item)) {
            return false;
        }
    }
    return true;
}

bool flat_equal(const struct flat_type *type, const void *a, const void *b)
{
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        bool same = f->kind == FLAT_PLAIN ? memcmp((const char *)a + f->offset,
                                                   (const char *)b + f->offset, f->size) == 0
                                          : !is_state(f) || equal_items(f, a, b);
        if (!same) {
            return false;
        }
    }
    return true;
}

uint64_t flat_hash(const struct flat_type *type, const void *self, uint64_t seed)
{
    /* Fields go in one after the other, so equal bytes in another field count as another value. */
    uint64_t hash = seed;
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        if (f->kind == FLAT_PLAIN) {
            hash = myr_hash_u64(hash ^ myr_hash_bytes((const char *)self + f->offset, f->size));
            continue;
        }
        struct items items = is_state(f) ? items_of(f, self) : (struct items){};
        /* The number goes in too, so that items cannot move from one list to the next unseen. */
        hash = myr_hash_u64(hash ^ items.count);
        if (!f->type && items.count) {
            hash = myr_hash_u64(hash ^ myr_hash_bytes(items.at, items.count * f->item));
        }
        for (uint64_t k = 0; f->type && k < items.count; k++) {
            hash = flat_hash(f->type, (const char *)items.at + k * f->item, hash);
        }
    }
    return hash;
}

size_t flat_bytes(const struct flat_type *type, const void *self)
{
    /* The struct itself, and what hangs on it; room that is not in use is not counted. */
    size_t bytes = type->size;
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        struct items items = is_state(f) ? items_of(f, self) : (struct items){};
        bytes += f->type ? 0 : items.count * f->item;
        for (uint64_t k = 0; f->type && k < items.count; k++) {
            bytes += flat_bytes(f->type, (const char *)items.at + k * f->item);
        }
    }
    return bytes;
}

/* Plain parts first: the lengths of arrays are in them. */
void flat_save(const struct flat_type *type, const void *self, struct myr_buf *ret)
{
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        if (f->kind == FLAT_PLAIN) {
            myr_buf_put(ret, (const char *)self + f->offset, f->size);
        }
    }
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        if (f->kind == FLAT_PLAIN || !is_state(f)) {
            continue;
        }
        struct items items = items_of(f, self);
        myr_buf_put(ret, (const char *)&items.count, sizeof(items.count));
        if (!f->type && items.count) {
            myr_buf_put(ret, items.at, items.count * f->item);
        }
        for (uint64_t k = 0; f->type && k < items.count; k++) {
            flat_save(f->type, (const char *)items.at + k * f->item, ret);
        }
    }
}

/* False, and nothing is taken, where there are not enough. */
static bool take_bytes(struct myr_str *bytes, void *to, uint64_t len)
{
    if (bytes->len < len) {
        return false;
    }
    memcpy(to, bytes->data, len);
    bytes->data += len;
    bytes->len -= len;
    return true;
}

/* No more items than there are bytes left for: memory is taken for what is there only. */
static bool may_have(const struct flat_field *f, const void *self, uint64_t count, size_t left)
{
    /* Its length is known from what was read before. */
    if (f->kind == FLAT_ARRAY && count != f->count(self)) {
        return false;
    }
    if ((f->kind == FLAT_POINTER && count > 1) || (f->kind == FLAT_GANG && count > UINT32_MAX)) {
        return false;
    }
    if (f->kind == FLAT_INLINE && count != f->size / f->item) {
        return false;
    }
    /* The least that one item takes in the file: its plain part, and a count for each list. */
    uint64_t least = f->item;
    for (uint32_t i = 0; f->type && i < f->type->count; i++) {
        const struct flat_field *inner = &f->type->fields[i];
        least = i == 0 ? 0 : least;
        least += inner->kind == FLAT_PLAIN ? inner->size : is_state(inner) ? sizeof(count) : 0;
    }
    return least > 0 && count <= left / least;
}

bool flat_load(const struct flat_type *type, void *self, struct myr_str *bytes)
{
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        if (f->kind == FLAT_PLAIN && !take_bytes(bytes, (char *)self + f->offset, f->size)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        uint64_t count;
        if (f->kind == FLAT_PLAIN || !is_state(f)) {
            continue;
        }
        /* A count is believed only as far as there are bytes for it. */
        if (!take_bytes(bytes, &count, sizeof(count)) || !may_have(f, self, count, bytes->len)) {
            return false;
        }
        char *items = make_room(f, self, count);
        if (!f->type && count && !take_bytes(bytes, items, count * f->item)) {
            return false;
        }
        for (uint64_t k = 0; f->type && k < count; k++) {
            if (!flat_load(f->type, items + k * f->item, bytes)) {
                return false;
            }
        }
    }
    return true;
}

bool flat_covers(const struct flat_type *type)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        /* No gap and no overlap: a field that a struct gains shows here. */
        if (f->offset != at || (f->type && !flat_covers(f->type))) {
            return false;
        }
        at += f->size;
    }
    return at == type->size;
}

/* Names, places and kinds of all fields: states of another build have another one. */
uint64_t flat_signature(const struct flat_type *type)
{
    uint64_t hash = myr_hash_bytes(type->name, strlen(type->name)) ^ type->size;
    for (uint32_t i = 0; i < type->count; i++) {
        const struct flat_field *f = &type->fields[i];
        hash = myr_hash_u64(hash ^ myr_hash_bytes(f->name, strlen(f->name)));
        hash = myr_hash_u64(hash ^ ((uint64_t)f->offset << 32 | f->size));
        hash = myr_hash_u64(hash ^ ((uint64_t)f->kind << 32 | f->item));
        hash ^= f->type ? flat_signature(f->type) : 0;
    }
    return hash;
}
