/* said: the tables behind the structs of the interface; a record stands behind those in it. */
#include "said/said.h"

#define MYR_FORM "myriad/record/define.def"
#include "said/said.rec"

/* Keys that are not asked for are left alone: one body serves several calls of whoever asks. */
int api_take(struct myr_str body, const struct myr_record *record, struct myr_arena *arena,
             void *ret, struct myr_err *err)
{
    const struct myr_reading how = {.arena = arena, .lenient = true};
    const struct myr_doc *top;
    if (body.len == 0) {
        myr_record_clear(record, ret);
        for (uint32_t i = 0; i < record->count; i++) {
            if (record->rows[i].need) {
                return myr_err_set(err, MYR_EINVAL, "the request has no '%s'", record->rows[i].key);
            }
        }
        return MYR_OK;
    }
    MYR_TRY(myr_doc_read_json(arena, "request", body, &top, err));
    return myr_record_read(record, top, &how, ret, err);
}

void api_give(const struct myr_record *record, const void *self, struct myr_buf *ret)
{
    struct myr_json json;
    myr_json_init(&json, ret, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    myr_record_write(record, self, &json);
    myr_json_end(&json);
}
