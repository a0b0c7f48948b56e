/* Bindings: refused in one line, or the same when written and read again. */
#include "fuzz_site.h"

static const char file[] = "binding.yaml";

static int read_binding(struct myr_binding *binding, struct myr_arena *arena, struct myr_str text,
                        struct myr_err *err)
{
    myr_arena_init(arena);
    myr_binding_init(binding, arena, fuzz_lab());
    return myr_binding_read_text(binding, file, text, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arenas[2];
    struct myr_binding bindings[2];
    struct myr_buf texts[2] = {{}, {}};
    struct myr_err err;
    int rc =
        read_binding(&bindings[0], &arenas[0], (struct myr_str){(const char *)data, size}, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else {
        myr_binding_write(&bindings[0], &texts[0]);
        fuzz_note_text("written", &texts[0]);
        struct myr_str text = {texts[0].data, texts[0].len};
        int again = read_binding(&bindings[1], &arenas[1], text, &err);
        MYR_ASSERT(again == MYR_OK);
        MYR_ASSERT(bindings[0].rows.count == bindings[1].rows.count);
        myr_binding_write(&bindings[1], &texts[1]);
        MYR_ASSERT(texts[0].len == texts[1].len);
        MYR_ASSERT(memcmp(texts[0].data, texts[1].data, texts[0].len) == 0);
        myr_binding_done(&bindings[1]);
        myr_arena_done(&arenas[1]);
    }
    myr_buf_done(&texts[0]);
    myr_buf_done(&texts[1]);
    myr_binding_done(&bindings[0]);
    myr_arena_done(&arenas[0]);
    return 0;
}
