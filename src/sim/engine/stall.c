#include "engine/internal.h"
#include "myriad/text/amount.h"

/* What is said of a run that cannot go on: who stands still, and where. */

/* "GPU 3 to GPU 8 at link/00000012": the first flow of a transfer that stands still, and where. */
static void name_blocked(const struct myr_sim *sim, const struct sim_task *task,
                         struct myr_buf *buf)
{
    MYR_ASSERT(task->state == SIM_MOVING);
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    if (pattern->message_count) {
        struct myr_message message = sim->messages.items[pattern->first_message];
        uint32_t ends[] = {message.from, message.to};
        for (uint32_t i = 0; i < 2; i++) {
            bool storage = ends[i] & MYR_MESSAGE_STORAGE;
            myr_buf_printf(buf, "%s%s %u", i ? " to " : "", storage ? "storage" : "GPU",
                           myr_message_number(ends[i]));
        }
    }
    if (pattern->message_count > 1) {
        myr_buf_printf(buf, " and %u more flows", pattern->message_count - 1);
    }
    uint32_t holder = task->slot == MYR_NONE ? MYR_NONE : sim->ways.items[task->slot].holder;
    if (holder < sim->link_channels) {
        uint32_t link = holder / 2;
        /* An engine without a design counts its links itself. */
        link = sim->graph ? myr_design_link_id(sim->graph->design, link) : link;
        myr_buf_printf(buf, " at link/%08u", link);
    }
}

/*
 * Names a few of those that stand still; where nobody moves at all the tasks wait for each other.
 */
int sim_stalled(const struct myr_sim *sim, struct myr_err *err)
{
    enum { SHOWN_MAX = 4 };
    uint32_t standing = 0;
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    double now_us = (double)sim->now / (double)MYR_PS_PER_US;
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        if (sim->tasks.items[t].state == SIM_MOVING && standing++ < SHOWN_MAX) {
            myr_buf_puts(&names, standing > 1 ? "; " : "");
            name_blocked(sim, &sim->tasks.items[t], &names);
        }
    }
    MYR_ASSERT(standing <= sim->result.blocked);
    uint64_t waiting = sim->result.blocked - standing;
    if (standing == 0) {
        return myr_err_set(err, MYR_ESTALLED, "nothing can progress at %.3f us: %s %s", now_us,
                           MYR_COUNT(sim->result.blocked, "task"),
                           sim->result.blocked == 1 ? "waits for itself" : "wait for each other");
    }
    return myr_err_set(
        err, MYR_ESTALLED, "nothing can progress at %.3f us: %s %s still and %s %s for %s: %s%s",
        now_us, MYR_COUNT(standing, "transfer"), standing == 1 ? "stands" : "stand",
        MYR_COUNT(waiting, "task"), waiting == 1 ? "waits" : "wait", standing == 1 ? "it" : "them",
        names.data, standing > SHOWN_MAX ? "; ..." : "");
}

/* Refused, not wrapped around: sums of two times must stay whole. */
int sim_too_late(const struct myr_sim *sim, struct myr_err *err)
{
    int rc = myr_err_set(err, MYR_ERANGE,
                         "the run goes on after %lld days of simulated time, the last that the "
                         "clock can show",
                         (long long)(SIM_TIME_MAX / MYR_PS_PER_S / 86400));
    myr_err_hint(err, "give fewer bytes or shorter times");
    MYR_ASSERT(sim->result.blocked > 0);
    return rc;
}
