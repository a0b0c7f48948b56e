/* Layout files: refused with a place, or read; what is read is written and read as the same. */
#include "fuzz_fit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    struct myr_layout layout, twin;
    struct myr_err err = {};
    struct myr_buf text = {};
    struct myr_str input = {(const char *)data, size};
    myr_arena_init(&arena);
    if (myr_layout_file_parse(&arena, "layout.yaml", input, NULL, &layout, &err) == MYR_OK) {
        myr_layout_file_write(&layout, "as read", &text);
        int rc = myr_layout_file_parse(&arena, "again.yaml", (struct myr_str){text.data, text.len},
                                       NULL, &twin, &err);
        fuzz_note_text("written", &text);
        MYR_ASSERT(rc == MYR_OK);
        MYR_ASSERT(memcmp(layout.order, twin.order, sizeof(layout.order)) == 0);
        MYR_ASSERT(layout.tp == twin.tp && layout.dp == twin.dp && layout.shard == twin.shard);
    } else {
        fuzz_note_error(&err);
        MYR_ASSERT(strncmp(err.message, "layout.yaml:", 12) == 0);
    }
    myr_buf_done(&text);
    myr_arena_done(&arena);
    return 0;
}
