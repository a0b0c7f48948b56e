/* fields: the reader behind the tables: a function for each type, and one loop over all keys. */
#include "fields.h"

#include "myriad/model/catalog.h"
#include "myriad/text.h"

/* No name, title or note is longer; what a user writes is copied, compared and printed. */
enum { KEYS_MAX = 96, TEXT_BYTES_MAX = 1000 };

/* A list replaces the one before it whole: overriding adds nothing to it. */
static int read_speeds(const struct myr_doc *node, const char *key, struct myr_speeds *ret,
                       struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_LIST, key, err));
    if (node->count > MYR_SPEEDS_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' has %u entries, at most %d are expected",
                             key, node->count, MYR_SPEEDS_MAX);
    }
    ret->count = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        uint64_t value;
        MYR_TRY(myr_doc_u64(node->items[i], key, 1, 100000, &value, err));
        ret->items[ret->count++] = (uint32_t)value;
    }
    return MYR_OK;
}

/* A range of a row fits its type, so the cast loses nothing. */
static int read_number(const struct field *field, const struct myr_doc *node, void *place,
                       struct myr_err *err)
{
    uint64_t whole;
    MYR_TRY(myr_doc_u64(node, field->key, (uint64_t)field->min, (uint64_t)field->max, &whole, err));
    if (field->type == FIELD_U64) {
        *(uint64_t *)place = whole;
    } else {
        *(uint32_t *)place = (uint32_t)whole;
    }
    return MYR_OK;
}

/*
 * "400G", "1.6T", "3P": a number with one letter for thousands, decimal always. Small letters are
 * refused but for k: m and p would be thousandths of something.
 */
static int read_letter(const struct myr_doc *node, const char *key, struct myr_str *text,
                       double *ret_scale, struct myr_err *err)
{
    /* Each a thousand times the one before; 0 as a scale says that there is no letter. */
    static const char letters[] = "KMGTP";
    *ret_scale = 0;
    char last = text->len > 1 ? text->data[text->len - 1] : '0';
    if (last >= '0' && last <= '9') {
        return MYR_OK;
    }
    const char *at = last == 'k' ? letters : strchr(letters, last);
    char shown[MYR_EXCERPT_MAX];
    if (!at || !*at) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'%s' is '%s', a number is expected, with K, M, G, T or P behind it "
                             "(thousands, decimal) or nothing",
                             key, myr_text_excerpt(*text, shown));
    }
    *ret_scale = 1e3;
    for (const char *c = letters; c < at; c++) {
        *ret_scale *= 1e3;
    }
    text->len--;
    return MYR_OK;
}

/*
 * 'unit' is what the field counts in (1e12 for TB): a bare number is in that unit, one with a
 * letter is not. The range is that of the unit.
 */
static int read_scaled(const struct field *field, const struct myr_doc *node, double unit,
                       double *ret, struct myr_err *err)
{
    double scale = 0;
    if (node->kind != MYR_DOC_SCALAR || node->quoted) {
        return myr_doc_double(node, field->key, field->min, field->max, ret, err);
    }
    struct myr_doc plain = *node;
    MYR_TRY(read_letter(node, field->key, &plain.text, &scale, err));
    if (scale == 0) {
        return myr_doc_double(node, field->key, field->min, field->max, ret, err);
    }
    double value;
    char shown[MYR_EXCERPT_MAX];
    MYR_TRY(myr_doc_double(&plain, field->key, 0, 1e15, &value, err));
    value = value * scale / unit;
    if (value < field->min || value > field->max) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' is '%s', %.12g to %.12g is expected",
                             field->key, myr_text_excerpt(node->text, shown), field->min,
                             field->max);
    }
    *ret = value;
    return MYR_OK;
}

/* 1.6T is 1,600, but 0.5 Gb/s is no speed of a port. */
static int read_gbps(const struct field *field, const struct myr_doc *node, uint32_t *ret,
                     struct myr_err *err)
{
    double value = 0;
    MYR_TRY(read_scaled(field, node, 1e9, &value, err));
    if (value != (double)(uint32_t)value) {
        char shown[MYR_EXCERPT_MAX];
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' is '%s', whole Gb/s are expected",
                             field->key, myr_text_excerpt(node->text, shown));
    }
    *ret = (uint32_t)value;
    return MYR_OK;
}

int field_text(const struct myr_doc *node, const char *key, struct myr_str *ret,
               struct myr_err *err)
{
    struct myr_str text;
    MYR_TRY(myr_doc_text(node, key, &text, err));
    if (text.len > TEXT_BYTES_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' has %zu bytes, at most %d are expected",
                             key, text.len, TEXT_BYTES_MAX);
    }
    *ret = text;
    return MYR_OK;
}

/* One value into its place, whose type the row names. Only texts need the arena. */
static int read_field(struct myr_arena *arena, const struct field *field,
                      const struct myr_doc *node, void *place, struct myr_err *err)
{
    struct myr_str text = {};
    switch (field->type) {
    case FIELD_U32:
    case FIELD_U64:
        return read_number(field, node, place, err);
    case FIELD_DOUBLE:
        return myr_doc_double(node, field->key, field->min, field->max, place, err);
    case FIELD_TEXT:
        MYR_TRY(field_text(node, field->key, &text, err));
        *(const char **)place = myr_arena_strndup(arena, text.data, text.len);
        return MYR_OK;
    case FIELD_BOOL:
        return myr_doc_bool(node, field->key, place, err);
    case FIELD_CHOICE:
        return myr_doc_choice(node, field->key, field->choices, field->choice_count, place, err);
    case FIELD_SPEEDS:
        return read_speeds(node, field->key, place, err);
    case FIELD_GBPS:
        return read_gbps(field, node, place, err);
    case FIELD_TB:
        return read_scaled(field, node, 1e12, place, err);
    case FIELD_COUNT:
        return read_scaled(field, node, 1, place, err);
    case FIELD_PB:
        return read_scaled(field, node, 1e15, place, err);
    case FIELD_NODE:
        *(const struct myr_doc **)place = node;
        return MYR_OK;
    }
    MYR_ASSERT(field->type <= FIELD_NODE); /* each of which has its case above */
    return MYR_EINVAL;
}

int field_read_scaled(const struct field *field, const struct myr_doc *node, void *target,
                      struct myr_err *err)
{
    return read_field(NULL, field, node, (char *)target + field->offset, err);
}

int fields_read(struct myr_arena *arena, const struct myr_doc *map, const char *what,
                const struct field_table *tables, uint32_t table_count, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, what, err));
    const char *keys[KEYS_MAX];
    size_t key_count = 0;
    for (uint32_t t = 0; t < table_count; t++) {
        for (uint32_t i = 0; i < tables[t].count; i++) {
            MYR_ASSERT(key_count < KEYS_MAX);
            keys[key_count++] = tables[t].fields[i].key;
        }
    }
    /* All keys before any value: a misspelt key is told, whatever stands in front of it. */
    MYR_TRY(myr_doc_check_keys(map, what, keys, key_count, err));
    for (uint32_t t = 0; t < table_count; t++) {
        for (uint32_t i = 0; i < tables[t].count; i++) {
            const struct field *field = &tables[t].fields[i];
            const struct myr_doc *node = myr_doc_get(map, field->key);
            if (!node) {
                continue;
            }
            MYR_TRY(read_field(arena, field, node, (char *)tables[t].target + field->offset, err));
        }
    }
    return MYR_OK;
}

bool fields_cents(double amount, int64_t *ret)
{
    double cents = amount * 100, whole = (double)(int64_t)(cents + 0.5);
    double off = cents < whole ? whole - cents : cents - whole;
    *ret = (int64_t)whole;
    /* What a decimal number is off by as a binary one, and no more. */
    return off <= 1e-9 + whole * 1e-15;
}

int fields_price(const struct myr_doc *node, int64_t *ret, struct myr_err *err)
{
    double amount;
    char shown[MYR_EXCERPT_MAX];
    MYR_TRY(myr_doc_double(node, "price", 0, 1e12, &amount, err));
    return fields_cents(amount, ret)
               ? MYR_OK
               : myr_doc_error(err, node, MYR_EINVAL,
                               "'price' is '%s', a number with at most two decimals is expected",
                               myr_text_excerpt(node->text, shown));
}

bool fields_is_currency(struct myr_str text)
{
    bool letters = text.len == 3;
    for (size_t i = 0; letters && i < 3; i++) {
        letters = text.data[i] >= 'A' && text.data[i] <= 'Z';
    }
    return letters;
}

int fields_currency(const struct myr_doc *map, struct myr_err *err)
{
    char shown[MYR_EXCERPT_MAX];
    const struct myr_doc *node = map ? myr_doc_get(map, "currency") : NULL;
    return !node || node->kind != MYR_DOC_SCALAR || fields_is_currency(node->text)
               ? MYR_OK
               : myr_doc_error(err, node, MYR_EINVAL,
                               "'currency' is '%s', a code such as CNY is expected",
                               myr_text_excerpt(node->text, shown));
}
