#include <assert.h>
#include <stdlib.h>

#include "queue/state.h"

/*
 * Ids count up for ever and jobs come and go, so an id is looked up: page by page, and the pages of
 * ids that are all forgotten are used again. Jobs themselves lie in slots, dense, so that a copy of
 * the state is as small as what it holds.
 */

/* A job whose ranks have not all left is looked at again after this. */
enum { LEAVING_S = 60 };

const struct qjob queue_over = {.state = MYR_JOB_DONE,
                                .id = MYR_NONE,
                                .owner = MYR_NONE,
                                .array = MYR_NONE,
                                .request = MYR_NONE,
                                .service = MYR_NONE,
                                .guest_of = MYR_NONE};

/* An empty page, where no id has a slot; it may be one that was in use before. */
static uint32_t new_page(struct myr_queue *q)
{
    struct job_page fresh = {.next_free = MYR_NONE};
    for (uint32_t i = 0; i < QUEUE_PAGE_JOBS; i++) {
        fresh.slots[i] = MYR_NONE;
    }
    uint32_t page = q->page_free;
    if (page == MYR_NONE) {
        myr_vec_push(&q->pages, fresh);
        return (uint32_t)q->pages.count - 1;
    }
    MYR_ASSERT(page < q->pages.count);
    MYR_ASSERT(q->pages.items[page].known == 0);
    q->page_free = q->pages.items[page].next_free;
    q->pages.items[page] = fresh;
    return page;
}

/* A free slot, or one more; its bytes are zero, or overwritten by the caller. */
static uint32_t new_slot(struct myr_queue *q)
{
    uint32_t slot = q->job_free;
    if (slot == MYR_NONE) {
        struct qjob empty;
        /* Gaps are zero too: states are compared byte by byte. */
        memset(&empty, 0, sizeof(empty));
        myr_vec_push(&q->jobs, empty);
        return (uint32_t)q->jobs.count - 1;
    }
    MYR_ASSERT(slot < q->jobs.count);
    MYR_ASSERT(q->jobs.items[slot].id == MYR_NONE);
    q->job_free = q->jobs.items[slot].next;
    return slot;
}

uint32_t queue_add_job(struct myr_queue *q, const struct qjob *job)
{
    MYR_ASSERT(job->gang.count == 0 && job->own_gang.count == 0);
    uint32_t id = q->job_count, slot = new_slot(q);
    /* Ids are given in order, so the first of a page brings the page. */
    if (id % QUEUE_PAGE_JOBS == 0) {
        uint32_t fresh = new_page(q);
        myr_vec_push(&q->page_of, fresh);
    }
    struct job_page *page = &q->pages.items[q->page_of.items[id / QUEUE_PAGE_JOBS]];
    MYR_ASSERT(q->page_of.count == id / QUEUE_PAGE_JOBS + 1);
    MYR_ASSERT(page->slots[id % QUEUE_PAGE_JOBS] == MYR_NONE);
    MYR_ASSERT(page->known < QUEUE_PAGE_JOBS);
    page->slots[id % QUEUE_PAGE_JOBS] = slot;
    page->known++;
    q->jobs.items[slot] = *job;
    q->jobs.items[slot].id = id;
    q->job_count++;
    MYR_SLOW_ASSERT(queue_job(q, id) == &q->jobs.items[slot]);
    return id;
}

/* A page stays while new ids fall into it. */
static void drop_page(struct myr_queue *q, uint32_t at)
{
    MYR_ASSERT(at < q->page_of.count);
    uint32_t page = q->page_of.items[at];
    MYR_SLOW_ASSERT(page < q->pages.count); /* a job in it has just gone */
    if (q->pages.items[page].known == 0 && (at + 1) * (uint64_t)QUEUE_PAGE_JOBS <= q->job_count) {
        q->page_of.items[at] = MYR_NONE;
        q->pages.items[page].next_free = q->page_free;
        q->page_free = page;
    }
}

/*
 * Its place may be another's soon: nobody waits under this number any more. One whose members were
 * all cancelled before what it waited for was over still stands among those who wait.
 */
static void forget_array(struct myr_queue *q, uint32_t at)
{
    MYR_ASSERT(at < q->arrays.count && q->arrays.items[at].known == 0);
    size_t kept = 0;
    for (size_t i = 0; i < q->dependants.count; i++) {
        if (q->dependants.items[i].array != at) {
            q->dependants.items[kept++] = q->dependants.items[i];
        }
    }
    q->dependants.count = kept;
    /* A late end still stands for its job, but not for the array whose number is given anew. */
    for (size_t i = 0; i < q->ended.count; i++) {
        if (q->ended.items[i].array == at) {
            q->ended.items[i].array = MYR_NONE;
        }
    }
}

/* A member of an array is forgotten; the last one takes the array along. */
static void leave_array(struct myr_queue *q, uint32_t at)
{
    struct array *array = &q->arrays.items[at];
    MYR_ASSERT(at < q->arrays.count);
    MYR_ASSERT(array->known > 0);
    MYR_ASSERT(array->known <= array->count);
    if (--array->known == 0) {
        MYR_ASSERT(array->active == 0);
        *array = (struct array){.next_free = q->array_free};
        q->array_free = at;
        forget_array(q, at);
    }
}

/* All that is left of a job: its id, which is never given again. */
static void forget(struct myr_queue *q, uint32_t id)
{
    MYR_SLOW_ASSERT(id < q->job_count);
    MYR_SLOW_ASSERT(q->page_of.items[id / QUEUE_PAGE_JOBS] != MYR_NONE);
    struct job_page *page = &q->pages.items[q->page_of.items[id / QUEUE_PAGE_JOBS]];
    uint32_t slot = page->slots[id % QUEUE_PAGE_JOBS];
    MYR_ASSERT(page->known > 0);
    MYR_ASSERT(slot < q->jobs.count); /* MYR_NONE: forgotten twice */
    struct qjob *job = &q->jobs.items[slot];
    MYR_ASSERT(job->id == id);
    MYR_ASSERT(job->state == MYR_JOB_DONE);
    MYR_ASSERT(job->leaving == 0);
    MYR_ASSERT(job->gang.count == 0);
    MYR_ASSERT(job->owner == MYR_NONE);
    MYR_ASSERT(job->pending == 0);
    if (job->array != MYR_NONE) {
        leave_array(q, job->array);
    }
    free(job->gang.shares);
    free(job->own_gang.shares);
    /* Whatever the job was, an unused slot has the same bytes: equal states stay equal. */
    memset(job, 0, sizeof(*job));
    job->state = MYR_JOB_DONE;
    job->id = MYR_NONE;
    MYR_ASSERT(q->job_free == MYR_NONE || q->jobs.items[q->job_free].id == MYR_NONE);
    job->next = q->job_free;
    q->job_free = slot;
    page->slots[id % QUEUE_PAGE_JOBS] = MYR_NONE;
    page->known--;
    drop_page(q, id / QUEUE_PAGE_JOBS);
    MYR_SLOW_ASSERT(queue_job(q, id) == &queue_over);
}

void queue_bury_job(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->id == id);
    MYR_ASSERT(job->state == MYR_JOB_DONE);
    MYR_SLOW_ASSERT(job->owner == MYR_NONE);
    MYR_SLOW_ASSERT(job->pending == 0);
    /* A job that is over holds no GPUs; where it was matters to nobody. */
    free(job->gang.shares);
    job->gang = (struct myr_gang){};
    if (q->policy.keep_s <= 0 && job->leaving == 0) {
        forget(q, id);
        return;
    }
    struct over over = {.job = id, .until_s = queue_after_s(q->now_s, q->policy.keep_s)};
    myr_vec_push(&q->over, over);
    MYR_ASSERT(q->over.count <= q->jobs.count);
}

void queue_forget_jobs(struct myr_queue *q)
{
    /* Nearly all are kept equally long, so whoever is due stands in front. */
    size_t due = 0, again = q->over.count;
    while (due < again && q->over.items[due].until_s <= q->now_s) {
        uint32_t id = q->over.items[due++].job;
        MYR_ASSERT(queue_job(q, id)->state == MYR_JOB_DONE);
        if (queue_job(q, id)->leaving == 0) {
            forget(q, id);
        } else {
            /*
             * Its stakes name it: it goes to the end of the list and is known until its ranks have
             * left.
             */
            struct over later = {.job = id,
                                 .until_s = queue_after_s(q->now_s, q->policy.keep_s + LEAVING_S)};
            myr_vec_push(&q->over, later);
        }
    }
    if (due) {
        q->over.count -= due;
        memmove(q->over.items, q->over.items + due, q->over.count * sizeof(struct over));
    }
}

/* A request belongs to one tenant and size; plain jobs of both share a line. */
uint64_t queue_line_key(const struct line *line)
{
    /*
     * In 64 bits: the tenant above bit 40, the GPUs above 12, and 12 bits for priority, whether it
     * reclaims, and level. Bit 63 tells keys of requests from those of plain jobs.
     */
    static_assert(2 * MYR_PRIORITY_MAX < 1 << 8 && MYR_QUEUE_LEVELS <= 1 << 3, "12 bits");
    MYR_ASSERT(line->priority >= -MYR_PRIORITY_MAX);
    MYR_ASSERT(line->priority <= MYR_PRIORITY_MAX);
    MYR_ASSERT(line->reclaims <= 1);
    MYR_ASSERT(line->level < MYR_QUEUE_LEVELS);
    uint64_t priority = (uint64_t)((int64_t)line->priority + MYR_PRIORITY_MAX);
    uint64_t rest = priority << 4 | (uint64_t)line->reclaims << 3 | line->level;
    if (line->request != MYR_NONE) {
        return UINT64_C(1) << 63 | (uint64_t)line->request << 12 | rest;
    }
    return (uint64_t)line->tenant << 40 | (uint64_t)line->gpus << 12 | rest;
}

static uint32_t renumbered(const uint32_t *numbers, uint32_t line)
{
    return line == MYR_NONE ? MYR_NONE : numbers[line];
}

/* Every mention of a line, with its new number. */
static void renumber_lines(struct myr_queue *q, const uint32_t *numbers)
{
    q->busy_first = renumbered(numbers, q->busy_first);
    q->busy_last = renumbered(numbers, q->busy_last);
    for (size_t s = 0; s < q->sizes.count; s++) {
        q->sizes.items[s].first = renumbered(numbers, q->sizes.items[s].first);
    }
    /* Numbers change, so the map from keys to lines is built anew. */
    myr_u64map_done(&q->line_of);
    for (uint32_t i = 0; i < q->lines.count; i++) {
        struct line *line = &q->lines.items[i];
        line->next_busy = renumbered(numbers, line->next_busy);
        line->previous_busy = renumbered(numbers, line->previous_busy);
        line->next_alike = renumbered(numbers, line->next_alike);
        line->previous_alike = renumbered(numbers, line->previous_alike);
        line->due = false;
        for (uint32_t id = line->first; id != MYR_NONE; id = queue_job(q, id)->next) {
            queue_job(q, id)->line = i;
        }
        MYR_ASSERT(line->first != MYR_NONE); /* those without jobs went */
        myr_u64map_add(&q->line_of, queue_line_key(line), i);
    }
    /* Who asks for room again, and when, is found anew from the lines. */
    q->tries.due.count = 0;
    q->tries.later.count = 0;
    q->tries.known = false;
    MYR_ASSERT((q->busy_first == MYR_NONE) == (q->sizes.count == 0));
}

void queue_forget_lines(struct myr_queue *q)
{
    /* So few lines cost nothing worth looking for. */
    enum { LINES_FEW = 256 };
    if (q->lines.count <= q->lines_most || q->lines.count <= LINES_FEW) {
        return;
    }
    uint32_t *numbers = myr_xcalloc(q->lines.count, sizeof(*numbers)), kept = 0;
    for (uint32_t i = 0; i < q->lines.count; i++) {
        /*
         * Lines that go have a number too, the next one's, but no line or job that stays names
         * them.
         */
        numbers[i] = kept;
        if (q->lines.items[i].first != MYR_NONE) {
            q->lines.items[kept++] = q->lines.items[i];
        }
    }
    /* Lines with jobs are the busy ones, and none of them went. */
    MYR_ASSERT(kept <= q->lines.count);
    MYR_ASSERT((kept > 0) == (q->busy_first != MYR_NONE));
    q->lines.count = kept;
    renumber_lines(q, numbers);
    MYR_ASSERT(kept == 0 || (q->busy_first < kept && q->busy_last < kept));
    q->lines_most = 2 * kept; /* so that it costs little for each line that comes */
    free(numbers);
}
