/*
 * Rows of the server's store: the first byte picks the record. What is taken writes back to what is
 * taken again, and to the same bytes.
 */
#include "fuzz.h"
#include "myriad/server/records.h"

static void put(const struct myr_record *record, const void *self, struct myr_buf *ret)
{
    struct myr_json json;
    myr_json_init(&json, ret, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    myr_record_write(record, self, &json);
    myr_json_end(&json);
}

static int take(const struct myr_record *record, struct myr_arena *arena, struct myr_str text,
                void *ret, struct myr_err *err)
{
    const struct myr_reading how = {.arena = arena, .stored = true};
    const struct myr_doc *top;
    MYR_TRY(myr_doc_read_json(arena, "row", text, &top, err));
    return myr_record_read(record, top, &how, ret, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf once = {}, twice = {};
    struct myr_err err = {};
    uint32_t kept = 0;
    while (myr_server_kept[kept]) {
        kept++;
    }
    const struct myr_record *record = myr_server_kept[size ? data[0] % kept : 0];
    struct myr_str text = {size ? (const char *)data + 1 : "", size ? size - 1 : 0};
    void *row = myr_arena_alloc(&arena, 1, record->size);
    int rc = take(record, &arena, text, row, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "row");
        return 0;
    }
    put(record, row, &once);
    fuzz_note("%s %s", record->name, once.data);
    /* What is empty in a store may be needed. */
    rc = take(record, &arena, (struct myr_str){once.data, once.len}, row, &err);
    MYR_ASSERT(rc == MYR_OK);
    put(record, row, &twice);
    MYR_ASSERT(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    return 0;
}
