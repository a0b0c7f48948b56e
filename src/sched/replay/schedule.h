/* schedule: what a replay started and stopped, as rows of CSV. */
#pragma once

#include "myriad/sched/replay.h"

void replay_schedule_head(struct myr_buf *buf);
void replay_schedule_row(struct myr_buf *buf, const struct myr_joblog *trace,
                         const struct myr_job_row *row, const struct myr_replay_event *event);
