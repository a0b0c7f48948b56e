/* Scenarios of the twin, and saved cases: read or refused, written and read again. */
#include "fuzz.h"
#include "myriad/twin.h"

static void read_case(struct myr_str text)
{
    struct myr_arena arena;
    myr_arena_init(&arena);
    struct myr_twin_case it;
    struct myr_err err = {};
    if (myr_twin_case_parse(&it, &arena, "case", text, &err) == MYR_OK) {
        myr_twin_case_done(&it);
    } else {
        fuzz_note_error(&err);
    }
    myr_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_str text = {(const char *)data, size};
    struct myr_arena arena;
    myr_arena_init(&arena);
    struct myr_scenario scenario, again;
    struct myr_err err = {};
    if (myr_scenario_parse(&scenario, &arena, "input", text, &err) == MYR_OK) {
        struct myr_buf written = {};
        myr_scenario_write(&scenario, &written);
        fuzz_note_text("written", &written);
        struct myr_str words = {written.data, written.len};
        int rc = myr_scenario_parse(&again, &arena, "again", words, NULL);
        MYR_ASSERT(rc == MYR_OK && again.job_count == scenario.job_count);
        myr_scenario_done(&again);
        myr_scenario_done(&scenario);
        myr_buf_done(&written);
    } else {
        fuzz_note_error(&err);
    }
    myr_arena_done(&arena);
    read_case(text);
    return 0;
}
