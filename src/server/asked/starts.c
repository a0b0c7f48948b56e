/* starts: when jobs that wait start, worked out now and then and kept. */
#include <stdlib.h>
#include <string.h>

#include "asked/asked.h"

/*
 * Worked out again after so long, where anything has happened; so many jobs at most; so many
 * decisions of copies, of which a small state needs few and is done at once.
 */
enum { AGAIN_MS = 30000, JOBS_MAX = 20000, STEPS = 48000, STEPS_SMALL = 4800, SMALL = 256 };

static void think(struct asked *asked)
{
    asked->told = asked->count > 0 && myr_control_starts(asked->copy, asked->now_ms, asked->ids,
                                                         asked->count, asked->steps, asked->starts);
}

static void tell(struct asked *asked, struct myr_buf *ret)
{
    struct starts *starts = asked->server->starts;
    (void)ret;
    free(starts->ids);
    free(starts->times);
    starts->ids = asked->ids;
    starts->times = asked->starts;
    starts->count = asked->count;
    starts->at_ms = asked->now_ms;
    starts->told = asked->told;
    starts->busy = false;
    asked->ids = NULL;
    asked->starts = NULL;
}

void starts_refresh(struct server *server)
{
    struct starts *starts = server->starts;
    if (!starts) {
        starts = server->starts = myr_xcalloc(1, sizeof(*starts));
    }
    bool young = core_ms(server) - starts->at_ms < AGAIN_MS;
    bool small =
        server->rows.node_count + myr_queue_waiting(myr_control_queue(server->control)) <= SMALL;
    if (starts->busy || server->stopping ||
        (starts->done && (starts->events == server->events || (young && !small)))) {
        return;
    }
    struct asked *asked = asked_new(server, NULL);
    asked->think = think;
    asked->tell = tell;
    asked->steps = small ? STEPS_SMALL : STEPS;
    asked_waiting(asked, JOBS_MAX);
    starts->events = server->events;
    starts->done = starts->busy = true;
    struct myr_err err = {};
    if (asked_begin(asked, NULL, &err) < 0) {
        starts->busy = false; /* too much is under way: with the next question */
        starts->done = false;
    }
}

static int64_t since(int64_t told_s, int64_t passed_s)
{
    return told_s == INT64_MAX ? told_s : told_s > passed_s ? told_s - passed_s : 0;
}

bool starts_of(const struct server *server, uint32_t job, struct myr_start_time *ret)
{
    const struct starts *starts = server->starts;
    uint32_t low = 0, high = starts && starts->told ? starts->count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (starts->ids[middle] < job) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (!starts || !starts->told || low == starts->count || starts->ids[low] != job ||
        myr_control_job(server->control, job).state != MYR_CONTROL_QUEUED) {
        return false;
    }
    int64_t passed_s = (core_ms(server) - starts->at_ms) / 1000;
    const struct myr_start_time *t = &starts->times[low];
    *ret = (struct myr_start_time){since(t->low_s, passed_s), since(t->likely_s, passed_s),
                                   since(t->high_s, passed_s)};
    return true;
}

void starts_done(struct server *server)
{
    if (server->starts) {
        free(server->starts->ids);
        free(server->starts->times);
        free(server->starts);
        server->starts = NULL;
    }
}
