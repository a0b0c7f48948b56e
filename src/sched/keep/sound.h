/* sound: what the checks of a state that was read share. They change nothing. */
#pragma once

#include "queue/state.h"

/* Times that can be added to each other and to lengths without overflow. */
#define SOUND_TIME_MAX (INT64_C(1) << 60)

static inline bool sound_time(int64_t time_s)
{
    return time_s >= -SOUND_TIME_MAX && time_s <= SOUND_TIME_MAX;
}

/* A byte that is read as a bool must be one. */
static inline bool sound_bool(const bool *value)
{
    unsigned char byte;
    memcpy(&byte, value, 1);
    return byte <= 1;
}

/* Of a job that is not forgotten; NULL otherwise. Only after sound_table(). */
static inline const struct qjob *sound_job(const struct myr_queue *q, uint32_t id)
{
    const struct qjob *job = id < q->job_count ? queue_job(q, id) : &queue_over;
    return job->id == id ? job : NULL;
}

bool sound_table(const struct myr_queue *q); /* sound_jobs.c: ids, pages, slots */
bool sound_jobs(const struct myr_queue *q);  /* what each job says of itself */
bool sound_lines(const struct myr_queue *q); /* sound_lines.c: who waits where */
bool sound_gpus(const struct myr_queue *q);  /* sound_gpus.c: who has which GPU */
bool sound_cells(const struct myr_queue *q);
