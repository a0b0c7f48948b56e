/* Snapshots and journals of the control core: the first half of the input is one, the rest the
 * other. Then the bytes as events: nothing that comes from outside aborts. */
#include "fuzz.h"
#include "myriad/control.h"

static void replay(struct myr_control *control, struct myr_str bytes)
{
    struct myr_journal_report report;
    struct myr_err err = {};
    if (myr_journal_replay(control, bytes, &report, &err) < 0) {
        fuzz_note_error(&err);
    }
    fuzz_note("%016llx", (unsigned long long)myr_control_hash(control));
}

static void take(struct myr_control *control, const uint8_t *data, size_t size)
{
    int64_t now_ms = myr_control_now_ms(control);
    for (size_t i = 0; i + 8 <= size; i += 8) {
        struct myr_event event = {.kind = data[i],
                                  .code = data[i + 1] % 6,
                                  .node = data[i + 2] % 6,
                                  .job = data[i + 3] % 8,
                                  .epoch = data[i + 4] % 8,
                                  .boot = data[i + 5] % 4,
                                  .value = data[i + 6],
                                  .end_s = data[i + 7]};
        event.spec = (struct myr_job_spec){.token = data[i + 3],
                                           .gpus = data[i + 4] % 40U,
                                           .restart = data[i + 5] % 3,
                                           .retries = 2,
                                           .lease_s = 5};
        now_ms += (int64_t)data[i + 6] * 200;
        (void)!myr_control_step(control, now_ms, &event, NULL);
    }
}

static void drive(const uint8_t *data, size_t size)
{
    struct myr_place_shape shape = {4, 8, 2, 4};
    struct myr_control_policy policy = myr_control_policy_default();
    struct myr_control *control;
    if (myr_control_create(&shape, &policy, 1, &control, NULL) < 0) {
        return;
    }
    take(control, data, size);
    MYR_ASSERT(myr_control_refusals(control) == 0);
    struct myr_buf bytes = {};
    myr_control_save(control, &bytes);
    struct myr_control *again;
    int rc = myr_control_load((struct myr_str){bytes.data, bytes.len}, &again, NULL);
    MYR_ASSERT(rc == MYR_OK && myr_control_hash(again) == myr_control_hash(control));
    replay(again, (struct myr_str){(const char *)data, size});
    myr_control_free(again);
    myr_control_free(control);
    myr_buf_done(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_control *control;
    struct myr_str bytes = {(const char *)data, size};
    if (myr_control_load(bytes, &control, NULL) == MYR_OK) {
        replay(control, bytes);
        take(control, data, size < 4096 ? size : 4096); /* whoever made it up */
        myr_control_free(control);
    }
    drive(data, size);
    return 0;
}
