/* write: a struct as members of a JSON object, in the order of its rows. */
#include "myriad/record.h"

#include "member.h"

/* Not known, or not yet: a reader can rely on the key all the same. */
static bool is_null(const struct myr_row *row, const void *at)
{
    switch ((enum myr_field_kind)row->kind) {
    case MYR_FIELD_U32:
    case MYR_FIELD_I32:
    case MYR_FIELD_I64:
    case MYR_FIELD_SPAN: {
        int64_t value = member_get(row->kind, row->size, at);
        return value < row->low || value > row->high;
    }
    case MYR_FIELD_REAL:
        return !(*(const double *)at >= row->from && *(const double *)at <= row->to);
    case MYR_FIELD_NAME:
        return *(const char *)at == '\0';
    default:
        return false;
    }
}

static bool is_rare(const struct myr_row *row, const void *at)
{
    return row->rare && member_get(row->kind, row->size, at) == row->or ;
}

static void write_value(const struct myr_row *row, const char *key, const void *at,
                        struct myr_json *json);

static void write_list(const struct myr_row *row, const struct myr_items *items,
                       struct myr_json *json)
{
    const struct myr_row item = member_of_list(row);
    for (uint32_t i = 0; i < items->count; i++) {
        write_value(&item, NULL, (const char *)items->at + (size_t)i * item.size, json);
    }
}

static void write_value(const struct myr_row *row, const char *key, const void *at,
                        struct myr_json *json)
{
    if (row->null && is_null(row, at)) {
        myr_json_null(json, key);
        return;
    }
    switch ((enum myr_field_kind)row->kind) {
    case MYR_FIELD_FLAG:
        myr_json_bool(json, key, *(const bool *)at);
        return;
    case MYR_FIELD_U32:
        myr_json_u64(json, key, *(const uint32_t *)at);
        return;
    case MYR_FIELD_U64:
        myr_json_u64(json, key, *(const uint64_t *)at);
        return;
    case MYR_FIELD_I32:
        myr_json_i64(json, key, *(const int32_t *)at);
        return;
    case MYR_FIELD_I64:
    case MYR_FIELD_SPAN:
        myr_json_i64(json, key, *(const int64_t *)at);
        return;
    case MYR_FIELD_REAL:
        myr_json_double(json, key, *(const double *)at, row->digits);
        return;
    case MYR_FIELD_NAME:
        myr_json_text(json, key, at);
        return;
    case MYR_FIELD_TEXT:
        myr_json_text(json, key, *(const char *const *)at);
        return;
    case MYR_FIELD_WORD: {
        int64_t word = member_get(row->kind, row->size, at);
        MYR_ASSERT(word >= 0 && word <= row->high);
        myr_json_text(json, key, row->words[word]);
        return;
    }
    case MYR_FIELD_RAW:
        myr_json_raw(json, key, *(const struct myr_str *)at);
        return;
    case MYR_FIELD_PART:
        myr_json_object(json, key);
        myr_record_write(row->of, at, json);
        myr_json_end(json);
        return;
    case MYR_FIELD_LIST:
        myr_json_list(json, key);
        write_list(row, at, json);
        myr_json_end(json);
        return;
    case MYR_FIELD_OWN:
    case MYR_FIELD_KINDS:
        break;
    }
    MYR_ASSERT(false); /* it only comes in */
}

void myr_record_write(const struct myr_record *record, const void *self, struct myr_json *json)
{
    for (uint32_t i = 0; i < record->count; i++) {
        const struct myr_row *row = &record->rows[i];
        const void *at = (const char *)self + row->at;
        if (!is_rare(row, at)) {
            write_value(row, row->key, at, json);
        }
    }
}
