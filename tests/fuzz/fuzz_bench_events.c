/* Events for the placement bench: jobs that start before they end, or one clear line. */
#include <stdlib.h>

#include "fuzz.h"
#include "myriad/sched.h"

static const char file[] = "events.csv";
enum { NODES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_bench_events events;
    struct myr_err err = {};
    struct myr_str text = {(const char *)data, size};
    int rc = myr_bench_events_parse(&events, file, text, NODES, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        MYR_ASSERT(events.items.count == 0);
        return 0;
    }
    uint8_t *placed = myr_xcalloc(MYR_BENCH_JOBS_MAX, 1);
    for (size_t i = 0; i < events.items.count; i++) {
        const struct myr_bench_event *event = &events.items.items[i];
        bool places = event->kind == MYR_EVENT_PLACE;
        fuzz_note("%d %u %u", (int)event->kind, event->job, event->nodes);
        if (event->kind == MYR_EVENT_MEASURE) {
            continue;
        }
        MYR_ASSERT(event->job < MYR_BENCH_JOBS_MAX && placed[event->job] != places);
        MYR_ASSERT(!places || (event->nodes >= 1 && event->nodes <= NODES));
        placed[event->job] = places;
    }
    free(placed);
    myr_bench_events_done(&events);
    return 0;
}
