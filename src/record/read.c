/*
 * read: a map of YAML or JSON into a struct, row by row. Words of complaints, and their places, are
 * those of text/doc.h, so that every file of ours complains alike.
 */
#include "myriad/record.h"

#include <stdio.h>
#include <string.h>

#include "member.h"

enum { NAME_BYTES = 128 }; /* of a key with the map that it stands in */

/* One value on its way: the row that it is for, and what messages call it. */
struct place {
    const struct myr_row *row;
    const struct myr_reading *how;
    const char *name;
};

void myr_record_clear(const struct myr_record *record, void *ret)
{
    memset(ret, 0, record->size);
    for (uint32_t i = 0; i < record->count; i++) {
        const struct myr_row *row = &record->rows[i];
        void *at = (char *)ret + row->at;
        if (row->kind == MYR_FIELD_PART) {
            myr_record_clear(row->of, at);
        } else if (row->kind == MYR_FIELD_REAL) {
            *(double *)at = row->or_real;
        } else if (row->kind == MYR_FIELD_NAME && row->or_text) {
            snprintf(at, row->size, "%s", row->or_text);
        } else if (row->or) {
            member_set(row->kind, row->size, at, row->or);
        }
    }
}

/* Seconds where there is no unit. The number is bounded, so that no unit makes it overflow. */
bool myr_duration_parse(struct myr_str text, int64_t *ret_s)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    int64_t factor = 1;
    uint64_t value;
    if (text.len == 0) {
        return false;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(units); i++) {
        if (text.data[text.len - 1] == units[i].unit) {
            factor = units[i].seconds;
            text.len--;
            break;
        }
    }
    if (!myr_str_to_u64(text, &value) || value > 100ULL * 365 * 86400) {
        return false;
    }
    *ret_s = (int64_t)value * factor;
    return true;
}

static int read_signed(const struct place *place, const struct myr_doc *node, void *ret,
                       struct myr_err *err)
{
    const struct myr_row *row = place->row;
    int64_t value = 0;
    MYR_TRY(myr_doc_expect(node, MYR_DOC_SCALAR, place->name, err));
    if (!myr_str_to_i64(node->text, &value) || value < row->low || value > row->high) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' is no whole number from %lld to %lld",
                             place->name, (long long)row->low, (long long)row->high);
    }
    member_set(row->kind, row->size, ret, value);
    return MYR_OK;
}

static int read_span(const struct place *place, const struct myr_doc *node, int64_t *ret,
                     struct myr_err *err)
{
    int64_t seconds;
    MYR_TRY(myr_doc_expect(node, MYR_DOC_SCALAR, place->name, err));
    if (!myr_duration_parse(node->text, &seconds) || seconds < place->row->low ||
        seconds > place->row->high) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'%s' is no time; such as 90s, 30m, 12h or 2d is expected",
                             place->name);
    }
    *ret = seconds;
    return MYR_OK;
}

/* Refused rather than cut: two names must not become one. What was stored is ours, and fits. */
static int read_text(const struct place *place, const struct myr_doc *node, void *ret,
                     struct myr_err *err)
{
    const struct myr_row *row = place->row;
    struct myr_str text = {};
    if (!place->how->stored) {
        MYR_TRY(myr_doc_text(node, place->name, &text, err));
    } else if (node->kind == MYR_DOC_SCALAR) {
        text = node->text;
    }
    if (row->kind == MYR_FIELD_TEXT) {
        *(const char **)ret = myr_arena_strndup(place->how->arena, text.data, text.len);
        return MYR_OK;
    }
    if (text.len >= row->size && !place->how->stored) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' has %zu bytes, at most %u are expected",
                             place->name, text.len, row->size - 1U);
    }
    snprintf(ret, row->size, "%.*s", (int)text.len, text.data ? text.data : "");
    return MYR_OK;
}

static int read_word(const struct place *place, const struct myr_doc *node, void *ret,
                     struct myr_err *err)
{
    const struct myr_row *row = place->row;
    uint32_t choice = 0;
    int rc = myr_doc_choice(node, place->name, row->words, (size_t)row->high + 1, &choice,
                            place->how->stored ? NULL : err);
    if (rc < 0) {
        return place->how->stored ? MYR_OK : rc;
    }
    member_set(row->kind, row->size, ret, choice);
    return MYR_OK;
}

static int read_list(const struct place *place, const struct myr_doc *node, struct myr_items *ret,
                     struct myr_err *err);

/* 'ret' is the member, or an item of a list. */
static int read_value(const struct place *place, const struct myr_doc *node, void *ret,
                      struct myr_err *err)
{
    const struct myr_row *row = place->row;
    uint64_t whole;
    struct myr_reading within = {place->how->arena, place->name, place->how->lenient,
                                 place->how->stored};
    switch ((enum myr_field_kind)row->kind) {
    case MYR_FIELD_FLAG:
        return myr_doc_bool(node, place->name, ret, err);
    case MYR_FIELD_U32:
        MYR_TRY(
            myr_doc_u64(node, place->name, (uint64_t)row->low, (uint64_t)row->high, &whole, err));
        *(uint32_t *)ret = (uint32_t)whole;
        return MYR_OK;
    case MYR_FIELD_U64:
        return myr_doc_u64(node, place->name, 0, UINT64_MAX, ret, err);
    case MYR_FIELD_I32:
    case MYR_FIELD_I64:
        return read_signed(place, node, ret, err);
    case MYR_FIELD_REAL:
        return myr_doc_double(node, place->name, row->from, row->to, ret, err);
    case MYR_FIELD_SPAN:
        return read_span(place, node, ret, err);
    case MYR_FIELD_NAME:
    case MYR_FIELD_TEXT:
        return read_text(place, node, ret, err);
    case MYR_FIELD_WORD:
        return read_word(place, node, ret, err);
    case MYR_FIELD_PART:
        return myr_record_read(row->of, node, &within, ret, err);
    case MYR_FIELD_LIST:
        return read_list(place, node, ret, err);
    case MYR_FIELD_OWN:
        return row->read(node, place->name, place->how->arena, ret, err);
    case MYR_FIELD_RAW:
    case MYR_FIELD_KINDS:
        break;
    }
    MYR_ASSERT(false); /* it only goes out */
    return MYR_EINVAL;
}

static int read_list(const struct place *place, const struct myr_doc *node, struct myr_items *ret,
                     struct myr_err *err)
{
    const struct myr_row *row = place->row;
    const struct myr_row item = member_of_list(row);
    const struct place one = {&item, place->how, place->name};
    bool single = row->one && node->kind != MYR_DOC_LIST;
    uint32_t count = single ? 1 : node->count;
    MYR_TRY(single ? MYR_OK : myr_doc_expect(node, MYR_DOC_LIST, place->name, err));
    if (count > row->high) {
        return myr_doc_error(err, node, MYR_ERANGE, "%u items in '%s', at most %lld are expected",
                             count, place->name, (long long)row->high);
    }
    char *items = myr_arena_alloc(place->how->arena, count ? count : 1, item.size);
    for (uint32_t i = 0; i < count; i++) {
        MYR_TRY(
            read_value(&one, single ? node : node->items[i], items + (size_t)i * item.size, err));
    }
    *ret = (struct myr_items){items, count};
    return MYR_OK;
}

static int check_keys(const struct myr_record *record, const struct myr_doc *map, const char *what,
                      struct myr_err *err)
{
    const char *keys[MYR_RECORD_ROWS_MAX];
    MYR_ASSERT(record->count <= MYR_RECORD_ROWS_MAX);
    for (uint32_t i = 0; i < record->count; i++) {
        keys[i] = record->rows[i].key;
    }
    return myr_doc_check_keys(map, what, keys, record->count, err);
}

/* What a store of ours holds was right when it was written: else it is damaged. */
static int damaged(const struct myr_reading *how, int rc, struct myr_err *err)
{
    if (how->stored && err) {
        err->code = MYR_ECORRUPT;
    }
    return how->stored ? MYR_ECORRUPT : rc;
}

/* Of a store: what is no value of this kind at all counts as missing, not as damage. */
static bool is_of_kind(const struct myr_row *row, const struct myr_doc *node)
{
    double number;
    switch ((enum myr_field_kind)row->kind) {
    case MYR_FIELD_FLAG:
        return myr_str_eq(node->text, MYR_STR("true")) || myr_str_eq(node->text, MYR_STR("false"));
    case MYR_FIELD_U32:
    case MYR_FIELD_U64:
    case MYR_FIELD_I32:
    case MYR_FIELD_I64:
    case MYR_FIELD_REAL:
        return node->kind == MYR_DOC_SCALAR && myr_str_to_double(node->text, &number);
    default:
        return node->kind != MYR_DOC_NULL;
    }
}

/* Unknown keys first: a slip in a name is told before anything that follows from it. */
int myr_record_read(const struct myr_record *record, const struct myr_doc *map,
                    const struct myr_reading *how, void *ret, struct myr_err *err)
{
    myr_record_clear(record, ret);
    int rc = myr_doc_expect(map, MYR_DOC_MAP, how->what ? how->what : record->doc, err);
    if (rc == MYR_OK && !how->lenient && !how->stored) {
        rc = check_keys(record, map, how->what, err);
    }
    for (uint32_t i = 0; i < record->count && rc == MYR_OK; i++) {
        const struct myr_row *row = &record->rows[i];
        const struct myr_doc *node = myr_doc_get(map, row->key);
        char name[NAME_BYTES];
        if (node && how->stored && !is_of_kind(row, node)) {
            node = NULL;
        }
        if (!node) {
            const char *what = how->what ? how->what : record->doc;
            rc = row->need ? myr_doc_need(map, what, row->key, &node, err) : MYR_OK;
            continue;
        }
        snprintf(name, sizeof(name), "%s%s%s", how->what ? how->what : "", how->what ? "." : "",
                 row->key);
        rc = read_value(&(struct place){row, how, name}, node, (char *)ret + row->at, err);
    }
    return rc < 0 ? damaged(how, rc, err) : MYR_OK;
}
