#include <stdlib.h>

#include "keep/sound.h"

/* Marks a place; false when it is outside or marked already. */
static bool mark(uint8_t *marks, uint32_t at, size_t count)
{
    if (at >= count || marks[at]) {
        return false;
    }
    marks[at] = 1;
    return true;
}

/* Slots that the page names are its jobs', and no other page's. */
static bool page_sound(const struct myr_queue *q, uint32_t at, uint8_t *slots)
{
    const struct job_page *page = &q->pages.items[q->page_of.items[at]];
    uint32_t known = 0;
    for (uint32_t i = 0; i < QUEUE_PAGE_JOBS; i++) {
        uint64_t id = (uint64_t)at * QUEUE_PAGE_JOBS + i;
        uint32_t slot = page->slots[i];
        if (slot == MYR_NONE) {
            continue;
        }
        known++;
        if (id >= q->job_count || !mark(slots, slot, q->jobs.count) ||
            q->jobs.items[slot].id != id) {
            return false;
        }
    }
    return known == page->known;
}

/* As many entries as ids were given; those whose jobs are all forgotten have no page. */
static bool pages_sound(const struct myr_queue *q, uint8_t *pages, uint8_t *slots)
{
    /* The last page may have ids still to come. */
    uint64_t count = (q->job_count + UINT64_C(63)) / QUEUE_PAGE_JOBS;
    if (q->page_of.count != count) {
        return false;
    }
    for (uint32_t at = 0; at < count; at++) {
        uint32_t page = q->page_of.items[at];
        /* A page that fills up is there even if all of its jobs are forgotten. */
        bool filling = (at + UINT64_C(1)) * QUEUE_PAGE_JOBS > q->job_count;
        if (page == MYR_NONE && !filling) {
            continue;
        }
        if (!mark(pages, page, q->pages.count) || !page_sound(q, at, slots)) {
            return false;
        }
    }
    return true;
}

/* What is not in use is linked up. */
static bool rest_sound(const struct myr_queue *q, uint8_t *pages, uint8_t *slots)
{
    for (uint32_t page = q->page_free; page != MYR_NONE; page = q->pages.items[page].next_free) {
        if (!mark(pages, page, q->pages.count)) {
            return false;
        }
    }
    for (uint32_t slot = q->job_free; slot != MYR_NONE; slot = q->jobs.items[slot].next) {
        if (!mark(slots, slot, q->jobs.count) || q->jobs.items[slot].id != MYR_NONE ||
            q->jobs.items[slot].gang.shares || q->jobs.items[slot].own_gang.shares) {
            return false;
        }
    }
    /* Everything is either in use or in the list of what is not. */
    return !memchr(pages, 0, q->pages.count) && !memchr(slots, 0, q->jobs.count);
}

bool sound_table(const struct myr_queue *q)
{
    uint8_t *pages = myr_xcalloc(q->pages.count + 1, 1);
    uint8_t *slots = myr_xcalloc(q->jobs.count + 1, 1);
    bool sound = pages_sound(q, pages, slots) && rest_sound(q, pages, slots);
    free(pages);
    free(slots);
    return sound;
}

/* What submit checks, of a job that is there already. */
static bool spec_sound(const struct myr_queue *q, const struct myr_queue_job *spec)
{
    /* A pointer of the caller's, the request, is never kept. */
    uint64_t all = (uint64_t)q->shape.nodes * q->shape.gpus_per_node;
    return spec->tenant < q->tenant_count && spec->gpus > 0 && spec->gpus <= all &&
           spec->gpus_min <= all && spec->priority >= -MYR_PRIORITY_MAX &&
           spec->priority <= MYR_PRIORITY_MAX && (uint32_t)spec->after_kind <= MYR_AFTER_ANY &&
           spec->limit_s >= 0 && sound_time(spec->limit_s) && sound_bool(&spec->fixed) &&
           sound_bool(&spec->reclaims) && sound_bool(&spec->restart_epoch) &&
           sound_bool(&spec->held) && !spec->request;
}

/* What each state has and has not; see queue/state.h. */
static bool state_sound(const struct qjob *job)
{
    bool on = queue_is_on(job), claims = job->state == MYR_JOB_CLAIMS;
    if ((uint32_t)job->state > MYR_JOB_BLOCKED || (uint32_t)job->result > MYR_RESULT_CANCELLED) {
        return false;
    }
    /* Who has cells has a place in their private numbering too. */
    bool owns = job->owner != MYR_NONE, strict = !job->spec.restart_epoch;
    bool stops = job->state == MYR_JOB_STOPPING, done = job->state == MYR_JOB_DONE;
    /* Who has GPUs or a claim has a gang, and nobody else has. */
    if ((on || claims) != (job->gang.count > 0) || (!claims && job->pending) ||
        owns != (job->own_gang.count > 0) || (owns && !on && !claims) || (on && job->epoch == 0)) {
        return false;
    }
    /* A strict job whose ranks are leaving is stopping, or has claimed nodes for its next start. */
    if ((strict && job->leaving && !stops && !claims) || (stops && job->leaving == 0) ||
        (stops && !strict)) {
        return false;
    }
    /* While it stops the result is set ahead of the end. */
    return stops || done == (job->result != MYR_RESULT_NONE);
}

/* Arrays, services and requests that it names are there. */
static bool links_sound(const struct myr_queue *q, const struct qjob *job)
{
    /* Below an array's first member the difference wraps and is larger than any count. */
    if (job->array != MYR_NONE) {
        if (job->array >= q->arrays.count ||
            job->id - q->arrays.items[job->array].first >= q->arrays.items[job->array].count) {
            return false;
        }
    }
    return (job->service == MYR_NONE || job->service < q->services.count) &&
           (job->request == MYR_NONE ||
            (job->request < q->requests.count && q->requests.items[job->request].users > 0)) &&
           (job->guest_of == MYR_NONE || job->guest_of < q->job_count) && job->user_held <= 1 &&
           job->present <= 1 && job->broken <= 1;
}

/* Those not in use hang together, each once. */
static bool array_list_sound(const struct myr_queue *q, uint32_t unused)
{
    for (uint32_t at = q->array_free; at != MYR_NONE; at = q->arrays.items[at].next_free) {
        /* 'unused' counts down, so a list that runs in a circle ends. */
        if (at >= q->arrays.count || q->arrays.items[at].known || unused-- == 0) {
            return false;
        }
    }
    return unused == 0;
}

/* Whoever is known of the ids that were given to an array is one of its members. */
static bool members_sound(const struct myr_queue *q)
{
    uint64_t members = 0;
    for (size_t i = 0; i < q->arrays.count; i++) {
        const struct array *a = &q->arrays.items[i];
        members += a->count;
        /* No id was given to two of them, so they are never more than there are ids. */
        if (members > q->job_count) {
            return false;
        }
        for (uint32_t k = 0; k < a->count; k++) {
            const struct qjob *job = sound_job(q, a->first + k);
            if (job && job->array != i) {
                return false;
            }
        }
    }
    return true;
}

/* Counts of every array follow from its members; unused ones are empty. */
static bool arrays_sound(const struct myr_queue *q)
{
    uint32_t *active = myr_xcalloc(2 * (q->arrays.count + 1), sizeof(uint32_t)), unused = 0;
    uint32_t *known = active + q->arrays.count + 1;
    bool sound = true;
    for (size_t i = 0; i < q->jobs.count; i++) {
        const struct qjob *job = &q->jobs.items[i];
        if (job->id != MYR_NONE && job->array != MYR_NONE) {
            known[job->array]++;
        }
        if (job->id != MYR_NONE && job->array != MYR_NONE && job->state != MYR_JOB_BLOCKED &&
            job->state != MYR_JOB_DONE) {
            active[job->array]++;
        }
    }
    for (size_t i = 0; i < q->arrays.count && sound; i++) {
        const struct array *a = &q->arrays.items[i];
        if (a->known == 0) {
            unused++;
            /* An unused entry is empty, and nobody names it. */
            sound = a->count == 0 && a->next == 0 && a->open == 0 && known[i] == 0;
            continue;
        }
        sound = a->known == known[i] && a->first < q->job_count &&
                a->count <= q->job_count - a->first && a->limit > 0 && a->next <= a->count &&
                a->open <= 1 && a->active == active[i];
    }
    free(active);
    return sound && array_list_sound(q, unused) && members_sound(q);
}

static bool array_given(const struct myr_queue *q, uint32_t array)
{
    return array == MYR_NONE || array < q->arrays.count;
}

/* A job that waits for another by itself, or an array in use, which does so once. */
static bool dependant_sound(const struct myr_queue *q, const struct dependant *d, uint8_t *seen)
{
    if (d->job >= q->job_count || (uint32_t)d->kind > MYR_AFTER_ANY) {
        return false;
    }
    if (d->array == MYR_NONE) {
        return queue_job(q, d->job)->array == MYR_NONE;
    }
    return mark(seen, d->array, q->arrays.count) && q->arrays.items[d->array].known > 0 &&
           q->arrays.items[d->array].first == d->job;
}

/* Who waits for whom: jobs and arrays are there, the job waited for may be forgotten. */
static bool waiting_for_others_sound(const struct myr_queue *q)
{
    MYR_CLEANUP(myr_free_at) uint8_t *seen = myr_xcalloc(q->arrays.count + 1, 1);
    for (size_t i = 0; i < q->dependants.count; i++) {
        if (!dependant_sound(q, &q->dependants.items[i], seen)) {
            return false;
        }
    }
    for (size_t i = 0; i < q->ended.count; i++) {
        if (!array_given(q, q->ended.items[i].array)) {
            return false;
        }
    }
    return true;
}

/* Jobs that are over and known stand in the list of those to forget, each once. */
static bool over_sound(const struct myr_queue *q)
{
    size_t done = 0;
    uint8_t *seen = myr_xcalloc(q->jobs.count + 1, 1);
    bool sound = true;
    for (size_t i = 0; i < q->jobs.count; i++) {
        done += q->jobs.items[i].id != MYR_NONE && q->jobs.items[i].state == MYR_JOB_DONE;
    }
    for (size_t i = 0; i < q->over.count && sound; i++) {
        const struct qjob *job = sound_job(q, q->over.items[i].job);
        sound = job && job->state == MYR_JOB_DONE &&
                mark(seen, (uint32_t)(job - q->jobs.items), q->jobs.count);
    }
    free(seen);
    return sound && q->over.count == done;
}

/*
 * Nothing began after the present, so no wait is negative: 'since_s' is how long a job has waited
 * while it runs, and since when otherwise.
 */
static bool times_sound(const struct myr_queue *q, const struct qjob *job)
{
    bool on = queue_is_on(job), held = job->state == MYR_JOB_HELD;
    if (!sound_time(job->since_s) || !sound_time(job->start_s) || !sound_time(job->saved_s) ||
        !sound_time(job->held_s) || job->saved_s < 0) {
        return false;
    }
    if (job->state != MYR_JOB_DONE && (on ? job->since_s < 0 : job->since_s > q->now_s)) {
        return false;
    }
    bool claims = job->state == MYR_JOB_CLAIMS;
    return (!on || job->start_s <= q->now_s) &&
           (!held || (job->since_s <= job->held_s && job->held_s <= q->now_s)) &&
           (!claims || !job->broken || job->held_s <= q->now_s) && (!on || !job->broken);
}

/* Where nothing is confirmed all starts and stops are done at once. */
static bool unconfirmed_sound(const struct qjob *job)
{
    return job->state != MYR_JOB_STARTING && job->state != MYR_JOB_STOPPING &&
           job->state != MYR_JOB_CLAIMS && job->leaving == 0;
}

bool sound_jobs(const struct myr_queue *q)
{
    for (size_t i = 0; i < q->jobs.count; i++) {
        const struct qjob *job = &q->jobs.items[i];
        if (job->id == MYR_NONE) {
            continue;
        }
        if (!spec_sound(q, &job->spec) || !state_sound(job) || !links_sound(q, job) ||
            job->wish < job->spec.gpus ||
            job->wish > (uint64_t)q->shape.nodes * q->shape.gpus_per_node || !times_sound(q, job) ||
            (!q->policy.confirm && !unconfirmed_sound(job)) || job->stops > 1U << 30) {
            return false;
        }
    }
    return arrays_sound(q) && waiting_for_others_sound(q) && over_sound(q);
}
