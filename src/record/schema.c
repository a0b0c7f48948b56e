/*
 * schema: what a record says of itself, as JSON Schema 2020-12 (which OpenAPI 3.1 takes as it is),
 * and as lines of a table in a document.
 */
#include "myriad/record.h"

#include <stdio.h>
#include <string.h>

#include "member.h"

/* "integer", or of what may be unknown ["integer", "null"]. */
static void put_type(const struct myr_row *row, const char *type, struct myr_json *json)
{
    if (!row->null) {
        myr_json_text(json, "type", type);
        return;
    }
    myr_json_list(json, "type");
    myr_json_text(json, NULL, type);
    myr_json_text(json, NULL, "null");
    myr_json_end(json);
}

/* Whole numbers: their bounds, and what they are where a file says nothing. */
static void put_whole(const struct myr_row *row, bool written, struct myr_json *json)
{
    bool bounded = row->kind != MYR_FIELD_U64;
    put_type(row, "integer", json);
    if (row->low > INT32_MIN) {
        myr_json_i64(json, "minimum", row->low);
    }
    /* One that is all that the place holds is no bound worth telling of. */
    if (bounded && row->high < UINT32_MAX) {
        myr_json_i64(json, "maximum", row->high);
    }
    if (!written && !row->need && row->or >= row->low) {
        myr_json_i64(json, "default", row->or);
    }
}

static void put_real(const struct myr_row *row, bool written, struct myr_json *json)
{
    put_type(row, "number", json);
    if (!written) {
        myr_json_double(json, "minimum", row->from, 6);
        myr_json_double(json, "maximum", row->to, 6);
        myr_json_double(json, "default", row->or_real, 6);
    }
}

static void put_words(const struct myr_row *row, bool written, struct myr_json *json)
{
    put_type(row, "string", json);
    /* What we say may get more words in time; what we take are these. */
    if (written) {
        return;
    }
    myr_json_list(json, "enum");
    for (int64_t i = 0; i <= row->high; i++) {
        if (row->words[i]) {
            myr_json_text(json, NULL, row->words[i]);
        }
    }
    myr_json_end(json);
}

/* Where this object stands: within which schema, and of which use. */
struct use {
    const char *refs;
    bool written;
};

static void put_part(const struct myr_row *row, const struct use *use, struct myr_json *json)
{
    char ref[128];
    if (!use->refs) {
        myr_record_schema(row->of, NULL, use->written, json);
        return;
    }
    snprintf(ref, sizeof(ref), "%s%s", use->refs, row->of->name);
    myr_json_text(json, "$ref", ref);
}

static void put_value(const struct myr_row *row, const struct use *use, struct myr_json *json)
{
    switch ((enum myr_field_kind)row->kind) {
    case MYR_FIELD_FLAG:
        put_type(row, "boolean", json);
        return;
    case MYR_FIELD_U32:
    case MYR_FIELD_U64:
    case MYR_FIELD_I32:
    case MYR_FIELD_I64:
        put_whole(row, use->written, json);
        return;
    case MYR_FIELD_REAL:
        put_real(row, use->written, json);
        return;
    case MYR_FIELD_SPAN: /* "12h" comes in, seconds go out */
        if (use->written) {
            put_whole(row, true, json);
        } else {
            myr_json_raw(json, "type", MYR_STR("[\"string\",\"integer\"]"));
        }
        return;
    case MYR_FIELD_NAME:
        if (row->shape) { /* a number that may stand in quotes */
            myr_json_raw(json, "type", myr_str_from(row->shape));
            return;
        }
        put_type(row, "string", json);
        if (!use->written) {
            myr_json_u64(json, "maxLength", row->size - 1U);
        }
        return;
    case MYR_FIELD_TEXT:
        put_type(row, "string", json);
        return;
    case MYR_FIELD_WORD:
        put_words(row, use->written, json);
        return;
    case MYR_FIELD_PART:
        put_part(row, use, json);
        return;
    case MYR_FIELD_LIST: {
        const struct myr_row item = member_of_list(row);
        /* A single item may stand for a list of it. */
        if (row->one) {
            myr_json_raw(json, "type", MYR_STR("[\"array\",\"integer\"]"));
        } else {
            put_type(row, "array", json);
        }
        myr_json_object(json, "items");
        put_value(&item, &(struct use){use->refs, true}, json);
        myr_json_end(json);
        return;
    }
    case MYR_FIELD_RAW:
    case MYR_FIELD_OWN:
        myr_json_raw(json, "type", myr_str_from(row->shape ? row->shape : "\"object\""));
        if (!row->shape) {
            myr_json_bool(json, "additionalProperties", true); /* whatever was written */
        }
        return;
    case MYR_FIELD_KINDS:
        break;
    }
    MYR_ASSERT(false);
}

void myr_record_schema(const struct myr_record *record, const char *refs, bool written,
                       struct myr_json *json)
{
    const struct use use = {refs, written};
    myr_json_text(json, "type", "object");
    myr_json_object(json, "properties");
    for (uint32_t i = 0; i < record->count; i++) {
        const struct myr_row *row = &record->rows[i];
        char text[256];
        myr_json_object(json, row->key);
        snprintf(text, sizeof(text), "%s%s%s", row->doc, row->unit ? "; " : "",
                 row->unit ? row->unit : "");
        myr_json_text(json, "description", text);
        put_value(row, &use, json);
        if (row->since) {
            myr_json_text(json, "x-since", row->since);
        }
        myr_json_end(json);
    }
    myr_json_end(json);
    myr_json_list(json, "required");
    for (uint32_t i = 0; i < record->count; i++) {
        if (written ? !record->rows[i].rare : record->rows[i].need) {
            myr_json_text(json, NULL, record->rows[i].key);
        }
    }
    myr_json_end(json);
    /* A newer program may say more; what is read is checked for slips of the pen. */
    if (!written) {
        myr_json_bool(json, "additionalProperties", false);
    }
}

/* What it is where a file says nothing; empty where that is no value of it. */
static void put_default(const struct myr_row *row, struct myr_buf *ret)
{
    switch ((enum myr_field_kind)row->kind) {
    case MYR_FIELD_FLAG:
        myr_buf_puts(ret, row->or ? "true" : "false");
        return;
    case MYR_FIELD_U32:
    case MYR_FIELD_I32:
    case MYR_FIELD_I64:
        if (row->or >= row->low) {
            myr_buf_printf(ret, "%lld", (long long)row->or);
        }
        return;
    case MYR_FIELD_NAME:
        myr_buf_puts(ret, row->or_text ? row->or_text : "");
        return;
    case MYR_FIELD_WORD:
        myr_buf_puts(ret, row->or <= row->high ? row->words[row->or ] : "");
        return;
    default:
        return;
    }
}

void myr_record_table(const struct myr_record *record, struct myr_buf *ret)
{
    for (uint32_t i = 0; i < record->count; i++) {
        const struct myr_row *row = &record->rows[i];
        myr_buf_printf(ret, "| `%s` | ", row->key);
        size_t before = ret->len;
        put_default(row, ret);
        myr_buf_printf(ret, "%s| %s |\n", ret->len > before ? " " : "", row->doc);
    }
}
