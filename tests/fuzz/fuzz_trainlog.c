/* Training logs: the same whatever the pieces they come in; figures are finite; one clear line. */
#include "fuzz.h"
#include "myriad/fit/trainlog.h"

static const char file[] = "fuzz.log";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_trainlog whole, pieces;
    struct myr_err err = {}, other = {};
    struct myr_fit_query query = myr_fit_query_default();
    struct myr_model model;
    myr_trainlog_init(&whole);
    myr_trainlog_init(&pieces);
    myr_trainlog_feed(&whole, (struct myr_str){(const char *)data, size});
    for (size_t at = 0; at < size;) {
        size_t piece = 1 + data[at] % 7;
        piece = piece < size - at ? piece : size - at;
        myr_trainlog_feed(&pieces, (struct myr_str){(const char *)data + at, piece});
        at += piece;
    }
    int rc = myr_trainlog_finish(&whole, file, &err);
    MYR_ASSERT(myr_trainlog_finish(&pieces, file, &other) == rc);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    }
    MYR_ASSERT(whole.lines == pieces.lines && whole.timer_count == pieces.timer_count);
    MYR_ASSERT(whole.elapsed_s.values.count == pieces.elapsed_s.values.count);
    for (uint32_t i = 0; i < whole.timer_count; i++) {
        double seconds = myr_trainlog_seconds(&whole, whole.timers[i].name);
        fuzz_note("%s %.6g", whole.timers[i].name, seconds);
        MYR_ASSERT(seconds >= 0 && seconds < 1e8);
        MYR_ASSERT(myr_samples_typical(&whole.timers[i].most) ==
                   myr_samples_typical(&pieces.timers[i].most));
    }
    myr_trainlog_query(&whole, &query);
    if (myr_trainlog_model(&whole, &model, &other) == MYR_OK) {
        MYR_ASSERT(myr_model_params(&model).total > 0);
    }
    myr_trainlog_done(&whole);
    myr_trainlog_done(&pieces);
    return 0;
}
