/*
 * logs: what the first rank of a job prints, as a training program does: its iterations, what it
 * saved, how it ended. Kept only where somebody reads it, and only the last of it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "world.h"

/* At most twice as much is kept, so that moving it is rare; and a report prints so many lines. */
enum { KEPT_BYTES = 64 << 10, LINES_AT_ONCE = 20 };

MYR_PRINTF(3, 4)
static void put(struct world *w, struct wjob *job, const char *fmt, ...)
{
    char line[160];
    va_list args;
    MYR_ASSERT(w->keeps_logs); /* nobody reads it otherwise, and it grows */
    MYR_ASSERT(job->submit_ms <= w->now_ms);
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    myr_buf_printf(&job->log, "[%7.1f s] %s\n", (double)(w->now_ms - job->submit_ms) / 1e3, line);
    if (job->log.len > 2 * (size_t)KEPT_BYTES) { /* whole lines go */
        const char *from = job->log.data + job->log.len - KEPT_BYTES;
        from = (const char *)memchr(from, '\n', KEPT_BYTES) + 1;
        size_t dropped = (size_t)(from - job->log.data);
        memmove(job->log.data, from, job->log.len - dropped);
        job->log.len -= dropped;
        job->log.data[job->log.len] = '\0';
        job->log_dropped += dropped;
        MYR_ASSERT(job->log.len > 0 && job->log.len < KEPT_BYTES);
    }
}

static int64_t steps_of(const struct wjob *job, int64_t work_ms)
{
    MYR_ASSERT(job->step_ms > 0);
    MYR_ASSERT(work_ms >= 0 && work_ms <= job->work_ms);
    return work_ms / job->step_ms;
}

/* Falls as losses do, with a little noise that belongs to the step. */
static double loss_at(const struct wjob *job, int64_t step)
{
    MYR_ASSERT(step >= 0);
    double noise = (double)(myr_hash_u64((uint64_t)step ^ (uint64_t)job->gpus << 40) & 1023) / 1e5;
    return 1.8 + 9.2 / (1 + (double)step / 60) + noise;
}

void log_up(struct world *w, const struct winc *inc)
{
    struct wjob *job = job_at(w, inc->job);
    MYR_ASSERT(inc->used && inc->epoch > 0);
    if (w->keeps_logs) {
        int64_t step = steps_of(job, inc->base_ms);
        /* Lines go on from where this incarnation begins, even if one before was further. */
        job->log_step = step;
        put(w, job, "incarnation %u: world size %u, %s step %lld", inc->epoch, inc->world,
            step > 0 ? "loaded checkpoint of" : "starts at", (long long)step);
    }
}

void log_steps(struct world *w, const struct winc *inc, int64_t work_ms)
{
    struct wjob *job = job_at(w, inc->job);
    if (!w->keeps_logs) {
        return;
    }
    int64_t now = steps_of(job, work_ms), all = steps_of(job, job->work_ms);
    /* With many steps since the last report some are passed over. */
    MYR_ASSERT(now <= all);
    int64_t stride = (now - job->log_step + LINES_AT_ONCE - 1) / LINES_AT_ONCE;
    for (int64_t step = job->log_step + stride; stride > 0 && step <= now; step += stride) {
        put(w, job, "iteration %lld/%lld | elapsed time per iteration %.1f ms | loss %.4f",
            (long long)step, (long long)all, (double)job->step_ms, loss_at(job, step));
        job->log_step = step;
    }
}

void log_saved(struct world *w, const struct winc *inc)
{
    struct wjob *job = job_at(w, inc->job);
    MYR_ASSERT(inc->epoch == job->epoch_saved); /* whose checkpoint it is */
    if (w->keeps_logs) {
        put(w, job, "saved checkpoint of step %lld", (long long)steps_of(job, job->saved_ms));
    }
}

void log_broke(struct world *w, const struct winc *inc, int64_t work_ms, const char *why)
{
    MYR_ASSERT(why);
    struct wjob *job = job_at(w, inc->job);
    if (w->keeps_logs && inc->running) {
        put(w, job, "incarnation %u ends at step %lld: %s", inc->epoch,
            (long long)steps_of(job, work_ms), why);
    }
}

void log_end(struct world *w, uint32_t id)
{
    struct wjob *job = job_at(w, id);
    if (w->keeps_logs) {
        put(w, job, "training is done after %lld iterations",
            (long long)steps_of(job, job->work_ms));
    }
}
