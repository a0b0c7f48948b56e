#include "flat/flat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rounds.h"

/*
 * A type made up here, with a field of every kind and items that have items. Random values of it
 * are copied, stored, compared and hashed; a naive model goes through the fields by their names.
 */

struct share {
    uint32_t node, gpus;
};

struct leaf {
    uint64_t number;
    MYR_VEC(uint32_t) words;
};

struct gang {
    uint32_t count;
    struct share *shares;
};

struct tree {
    uint32_t rows, colour;
    MYR_VEC(struct leaf) leaves;
    uint16_t *table; /* rows of them */
    struct gang gang;
    struct leaf *only;
    struct leaf pair[2];
    uint64_t end;
    char *scratch;
    char *owned;
};

static uint64_t rows_of(const void *self)
{
    return ((const struct tree *)self)->rows;
}

static uint32_t released;

static void release_owned(void *field)
{
    char **owned = field;
    free(*owned);
    released++;
}

static const struct flat_field leaf_fields[] = {
    FLAT_RUN(leaf, number, words),
    FLAT_VEC_OF(leaf, words, NULL),
};
static const struct flat_type leaf_type = FLAT_TYPE(leaf, leaf_fields);

static const struct flat_field tree_fields[] = {
    FLAT_RUN(tree, rows, leaves),
    FLAT_VEC_OF(tree, leaves, &leaf_type),
    FLAT_ARRAY_OF(tree, table, rows_of),
    FLAT_MEMBER(FLAT_GANG, tree, gang, sizeof(struct share), NULL, NULL),
    FLAT_MEMBER(FLAT_POINTER, tree, only, sizeof(struct leaf), &leaf_type, NULL),
    FLAT_MEMBER(FLAT_INLINE, tree, pair, sizeof(struct leaf), &leaf_type, NULL),
    FLAT_RUN(tree, end, scratch),
    FLAT_MEMBER(FLAT_SCRATCH, tree, scratch, 1, NULL, NULL),
    {"owned", FLAT_OWNED, offsetof(struct tree, owned), sizeof(char *), 1, NULL, NULL,
     release_owned},
};
enum { FIELDS = MYR_ARRAY_COUNT(tree_fields) };
static const struct flat_type tree_type = FLAT_TYPE(tree, tree_fields);

static void fill_leaf(struct myr_rng *rng, struct leaf *leaf)
{
    leaf->number = myr_rng_u64(rng);
    for (uint32_t i = myr_rng_below(rng, 4); i > 0; i--) {
        myr_vec_push(&leaf->words, myr_rng_u32(rng));
    }
}

static char *new_text(const char *text)
{
    size_t len = strlen(text) + 1;
    char *copy = myr_xcalloc(len, 1);
    memcpy(copy, text, len);
    return copy;
}

/* Room that is not in use is part of no value: some vectors and gangs have more than they hold. */
static struct tree make(uint64_t seed)
{
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 4);
    struct tree tree = {.rows = myr_rng_below(&rng, 4),
                        .colour = myr_rng_u32(&rng),
                        .gang.count = myr_rng_below(&rng, 4),
                        .end = myr_rng_u64(&rng)};
    for (uint32_t i = myr_rng_below(&rng, 4); i > 0; i--) {
        struct leaf leaf = {};
        fill_leaf(&rng, &leaf);
        myr_vec_push(&tree.leaves, leaf);
    }
    tree.table = tree.rows ? myr_xcalloc(tree.rows, sizeof(*tree.table)) : NULL;
    for (uint32_t i = 0; i < tree.rows; i++) {
        tree.table[i] = (uint16_t)myr_rng_u32(&rng);
    }
    bool room = tree.gang.count > 0 || myr_rng_below(&rng, 2);
    tree.gang.shares = room ? myr_xcalloc(5, sizeof(struct share)) : NULL;
    for (uint32_t i = 0; i < tree.gang.count; i++) {
        tree.gang.shares[i] = (struct share){myr_rng_u32(&rng), myr_rng_u32(&rng)};
    }
    if (myr_rng_below(&rng, 2)) {
        tree.only = myr_xcalloc(1, sizeof(*tree.only));
        fill_leaf(&rng, tree.only);
    }
    fill_leaf(&rng, &tree.pair[0]);
    fill_leaf(&rng, &tree.pair[1]);
    tree.scratch = new_text("here");
    tree.owned = new_text("kept");
    return tree;
}

/* Scratch is nobody's but the maker's. */
static void give_back(struct tree *tree)
{
    free(tree->scratch);
    tree->scratch = NULL;
    uint32_t before = released;
    flat_release(&tree_type, tree);
    assert_int_equal(released, before + 1);
}

/* The naive model: everything that counts, as text. */
static void put_leaf(struct myr_buf *out, const struct leaf *leaf, size_t *bytes)
{
    myr_buf_printf(out, " %llu[", (unsigned long long)leaf->number);
    for (size_t i = 0; i < leaf->words.count; i++) {
        myr_buf_printf(out, " %u", leaf->words.items[i]);
    }
    myr_buf_putc(out, ']');
    *bytes += sizeof(*leaf) + 4 * leaf->words.count;
}

static size_t put_tree(struct myr_buf *out, const struct tree *tree)
{
    size_t bytes = sizeof(*tree) + 2 * tree->rows + 8 * tree->gang.count, inner = 0;
    myr_buf_printf(out, "%u %u", tree->rows, tree->colour);
    for (size_t i = 0; i < tree->leaves.count; i++) {
        put_leaf(out, &tree->leaves.items[i], &bytes);
    }
    for (uint32_t i = 0; i < tree->rows; i++) {
        myr_buf_printf(out, " %u", tree->table[i]);
    }
    for (uint32_t i = 0; i < tree->gang.count; i++) {
        myr_buf_printf(out, " %u:%u", tree->gang.shares[i].node, tree->gang.shares[i].gpus);
    }
    if (tree->only) {
        myr_buf_printf(out, " only");
        put_leaf(out, tree->only, &bytes);
    }
    put_leaf(out, &tree->pair[0], &bytes);
    put_leaf(out, &tree->pair[1], &inner);
    myr_buf_printf(out, " %llu", (unsigned long long)tree->end);
    return bytes + inner;
}

static void assert_same(const struct tree *a, const struct tree *b, bool same)
{
    struct myr_buf x = {}, y = {}, text_a = {}, text_b = {};
    size_t bytes = put_tree(&text_a, a);
    (void)put_tree(&text_b, b);
    flat_save(&tree_type, a, &x);
    flat_save(&tree_type, b, &y);
    assert_int_equal(strcmp(text_a.data, text_b.data) == 0, same);
    assert_int_equal(x.len == y.len && memcmp(x.data, y.data, x.len) == 0, same);
    assert_int_equal(flat_equal(&tree_type, a, b), same);
    assert_int_equal(flat_equal(&tree_type, b, a), same);
    assert_int_equal(flat_hash(&tree_type, a, 7) == flat_hash(&tree_type, b, 7), same);
    assert_true(flat_hash(&tree_type, a, 7) != flat_hash(&tree_type, a, 8));
    assert_int_equal(flat_bytes(&tree_type, a), bytes);
    myr_buf_done(&x);
    myr_buf_done(&y);
    myr_buf_done(&text_a);
    myr_buf_done(&text_b);
}

/* Into nothing, into another value, which has more or fewer of everything, and back by a file. */
static void copies_and_what_was_stored_are_equal_to_the_first(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TEST_ROUNDS(400); seed++) {
        struct tree a = make(seed), b = make(seed + 1), fresh = {}, loaded = {};
        struct myr_buf file = {};
        assert_same(&a, &a, true);
        assert_same(&a, &b, false);
        flat_copy(&tree_type, &fresh, &a);
        assert_same(&a, &fresh, true);
        assert_true(!fresh.owned && !fresh.scratch);
        flat_copy(&tree_type, &b, &a);
        assert_same(&a, &b, true);
        assert_string_equal(b.owned, "kept");
        flat_save(&tree_type, &a, &file);
        struct myr_str rest = {file.data, file.len};
        assert_true(flat_load(&tree_type, &loaded, &rest));
        assert_int_equal(rest.len, 0);
        assert_same(&a, &loaded, true);
        myr_buf_done(&file);
        give_back(&a);
        give_back(&b);
        give_back(&fresh);
        give_back(&loaded);
    }
}

/* Changes the last of a list; false where it is empty. */
static bool flip(void *items, size_t count, size_t size)
{
    if (count > 0) {
        ((char *)items)[(count - 1) * size] ^= 1;
    }
    return count > 0;
}

/* One change of a field; false where there is nothing to change, or nobody may see it. */
static bool change(struct tree *tree, uint32_t way)
{
    switch (way) {
    case 0:
        return flip(&tree->colour, 1, 4);
    case 1:
        return flip(&tree->end, 1, 8);
    case 2:
        return flip(tree->pair, 1, sizeof(struct leaf));
    case 3:
        return flip(tree->pair, 2, sizeof(struct leaf));
    case 4:
        myr_vec_push(&tree->pair[1].words, 0);
        return true;
    case 5:
        myr_vec_push(&tree->leaves, (struct leaf){});
        return true;
    case 6:
        return flip(tree->pair[1].words.items, tree->pair[1].words.count, 4);
    case 7:
        return flip(tree->table, tree->rows, 2);
    case 8:
        return flip(tree->gang.shares, tree->gang.count, sizeof(struct share));
    case 9:
        return flip(tree->only, tree->only != NULL, sizeof(struct leaf));
    case 10:
        return flip(tree->leaves.items, tree->leaves.count, sizeof(struct leaf));
    default:
        tree->scratch[0] = tree->owned[0] = '-';
        return false;
    }
}

static void every_field_that_is_state_counts(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TEST_ROUNDS(100); seed++) {
        for (uint32_t way = 0; way < 12; way++) {
            struct tree a = make(seed), b = make(seed);
            assert_same(&a, &b, !change(&b, way));
            give_back(&a);
            give_back(&b);
        }
    }
}

/* Wherever the bytes end, and whatever count they say: no more is taken than is there. */
static void files_that_end_early_or_say_other_lengths_are_refused(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TEST_ROUNDS(40); seed++) {
        struct tree a = make(seed);
        struct myr_buf file = {};
        flat_save(&tree_type, &a, &file);
        for (size_t len = 0; len < file.len; len++) {
            struct tree cut = {};
            struct myr_str rest = {file.data, len};
            assert_false(flat_load(&tree_type, &cut, &rest));
            give_back(&cut);
        }
        /* The plain parts are in front: rows, colour, end; then the count of leaves. */
        for (size_t at = 16; at < file.len; at++) {
            struct tree other = {};
            file.data[at] ^= (char)0x40;
            struct myr_str rest = {file.data, file.len};
            if (flat_load(&tree_type, &other, &rest) && rest.len == 0) {
                assert_same(&a, &other, false);
            }
            give_back(&other);
            file.data[at] ^= (char)0x40;
        }
        file.data[0]++; /* one row more than the table has */
        struct tree other = {};
        struct myr_str rest = {file.data, file.len};
        assert_false(flat_load(&tree_type, &other, &rest));
        give_back(&other);
        give_back(&a);
        myr_buf_done(&file);
    }
}

/* Counts of one item more than the kind, or the bytes behind it, allow. */
static void counts_are_believed_as_far_as_the_kind_and_the_bytes_allow(void **state)
{
    (void)state;
    static const struct {
        uint64_t rows, leaves, gang, only, pair;
        size_t more; /* bytes behind all of it */
        bool right;
    } rows[] = {
        {0, 0, 0, 0, 2, 32, true},           {0, 0, 0, 0, 1, 32, false},
        {0, 0, 0, 0, 3, 64, false},          {0, 0, 0, 1, 2, 0, false},
        {0, 0, 0, 2, 2, 64, false},          {1, 0, 0, 0, 2, 34, false},
        {0, 1, 0, 0, 2, 64, false},          {0, 0, UINT64_C(1) << 32, 0, 2, 64, false},
        {0, UINT64_MAX, 0, 0, 2, 64, false},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        uint64_t words[16] = {0, 0};
        struct tree tree = {};
        words[2] = rows[i].leaves;
        words[3] = rows[i].rows;
        words[4] = rows[i].gang;
        words[5] = rows[i].only;
        words[6] = rows[i].pair;
        struct myr_str rest = {(const char *)words, 7 * 8 + rows[i].more};
        if (flat_load(&tree_type, &tree, &rest) != rows[i].right) {
            fail_msg("row %zu", i);
        }
        give_back(&tree);
    }
}

/* Another table: one field of it changed. */
static struct flat_type changed_type(struct flat_field *fields, uint32_t at, uint32_t way)
{
    static const struct flat_field holed[] = {{"number", FLAT_PLAIN, 0, 4, 0, NULL, NULL, NULL}};
    static const struct flat_type inner = {"leaf", sizeof(struct leaf), 1, holed};
    struct flat_type type = tree_type;
    memcpy(fields, tree_fields, sizeof(tree_fields));
    struct flat_field *f = &fields[at];
    type.fields = fields;
    f->offset += way == 0 ? 8 : 0;
    f->size += way == 1 ? 8 : 0;
    f->size -= way == 2 ? 4 : 0;
    f->type = way == 3 ? &inner : f->type;
    f->kind = way == 4 ? (f->kind == FLAT_VEC ? FLAT_SCRATCH : FLAT_VEC) : f->kind;
    f->item += way == 5;
    f->name = way == 6 ? "other" : f->name;
    type.count -= way == 7;
    type.size += way == 8 ? 8 : 0;
    type.name = way == 9 ? "bush" : type.name;
    return type;
}

static void a_table_covers_its_struct_whole_and_signs_every_row(void **state)
{
    (void)state;
    assert_true(flat_covers(&leaf_type) && flat_covers(&tree_type));
    for (uint32_t at = 0; at < FIELDS; at++) {
        for (uint32_t way = 0; way < 10; way++) {
            struct flat_field fields[FIELDS];
            struct flat_type type = changed_type(fields, at, way);
            /* Kinds, items and names do not say where a field lies. */
            assert_int_equal(flat_covers(&type), (way >= 4 && way <= 6) || way == 9);
            assert_true(flat_signature(&type) != flat_signature(&tree_type));
        }
    }
    struct flat_field fields[FIELDS];
    memcpy(fields, tree_fields, sizeof(fields));
    struct flat_type same = tree_type;
    same.fields = fields;
    assert_true(flat_signature(&same) == flat_signature(&tree_type));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_and_what_was_stored_are_equal_to_the_first),
        cmocka_unit_test(every_field_that_is_state_counts),
        cmocka_unit_test(files_that_end_early_or_say_other_lengths_are_refused),
        cmocka_unit_test(counts_are_believed_as_far_as_the_kind_and_the_bytes_allow),
        cmocka_unit_test(a_table_covers_its_struct_whole_and_signs_every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
