/*
 * times: completion times of flows. A transfer counts as often as it has flows, and is kept as one
 * entry with that weight: in a collective very many flows are one task.
 */
#include "myriad/sim/times.h"

#include <stdlib.h>

#include "engine/internal.h"
#include "myriad/text/amount.h"

static int by_time(const void *a, const void *b)
{
    const struct myr_times_entry *left = a, *right = b;
    return left->time < right->time ? -1 : left->time > right->time;
}

/* Sorted by time, in the arena. */
void myr_times_collect(struct myr_times *ret, struct myr_arena *arena, const struct myr_sim *sim,
                       uint32_t first_task, uint32_t task_count)
{
    MYR_ASSERT((uint64_t)first_task + task_count <= sim->tasks.count);
    struct myr_times_entry *entries = MYR_ARENA_NEW(arena, struct myr_times_entry, task_count);
    *ret = (struct myr_times){.items = entries};
    for (uint32_t i = 0; i < task_count; i++) {
        const struct sim_task *task = &sim->tasks.items[first_task + i];
        if (task->kind != SIM_TRANSFER) {
            continue;
        }
        uint32_t flows = sim->patterns.items[task->pattern].message_count;
        myr_ps time = task->end - task->start;
        MYR_ASSERT(time >= 0);
        entries[ret->count++] = (struct myr_times_entry){time, flows};
        ret->flows += flows;
        ret->sum_ps += (double)time * flows;
    }
    qsort(entries, ret->count, sizeof(*entries), by_time);
}

/* A walk over the entries: there are as many as tasks, not as flows. */
myr_ps myr_times_percentile(const struct myr_times *times, uint32_t percent)
{
    MYR_ASSERT(percent <= 100);
    /* Rounded up, and at least the first: "within this time at least so many have ended". */
    uint64_t rank = (uint64_t)(((unsigned __int128)times->flows * percent + 99) / 100);
    uint64_t below = 0;
    rank = rank ? rank : 1;
    for (size_t i = 0; i < times->count; i++) {
        below += times->items[i].flows;
        if (below >= rank) {
            return times->items[i].time;
        }
    }
    /* Only without flows is no rank reached. */
    MYR_ASSERT(times->flows == 0);
    return 0;
}

double myr_times_mean_us(const struct myr_times *times)
{
    double flows = (double)times->flows;
    return times->flows ? times->sum_ps / flows / (double)MYR_PS_PER_US : 0;
}

/* The largest unit of which there is at least one, written with three digits behind the point;
 * nanoseconds for all that is shorter. */
struct myr_time_unit myr_times_unit(myr_ps time)
{
    static const struct myr_time_unit units[] = {{"ns", MYR_PS_PER_NS},
                                                 {"us", MYR_PS_PER_US},
                                                 {"ms", 1000 * MYR_PS_PER_US},
                                                 {"s", MYR_PS_PER_S}};
    static const struct myr_unit written[] = {{(double)MYR_PS_PER_NS, 1000, 3, 0, ""},
                                              {(double)MYR_PS_PER_US, 1000, 3, 0, ""},
                                              {1000 * (double)MYR_PS_PER_US, 1000, 3, 0, ""},
                                              {(double)MYR_PS_PER_S, 0, 3, 0, ""}};
    return units[myr_text_unit((double)time, written, MYR_ARRAY_COUNT(written))];
}

const char *myr_times_text(struct myr_arena *arena, myr_ps time)
{
    struct myr_time_unit unit = myr_times_unit(time);
    return myr_arena_printf(arena, "%.3f %s", (double)time / (double)unit.ps, unit.name);
}
