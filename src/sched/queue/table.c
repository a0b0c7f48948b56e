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
    q->page_free = q->pages.items[page].next_free;
    q->pages.items[page] = fresh;
    return page;
}

static uint32_t new_slot(struct myr_queue *q)
{
    uint32_t slot = q->job_free;
    if (slot == MYR_NONE) {
        struct qjob empty;
        memset(&empty, 0, sizeof(empty));
        myr_vec_push(&q->jobs, empty);
        return (uint32_t)q->jobs.count - 1;
    }
    q->job_free = q->jobs.items[slot].next;
    return slot;
}

uint32_t queue_add_job(struct myr_queue *q, const struct qjob *job)
{
    uint32_t id = q->job_count, slot = new_slot(q);
    if (id % QUEUE_PAGE_JOBS == 0) {
        uint32_t fresh = new_page(q);
        myr_vec_push(&q->page_of, fresh);
    }
    struct job_page *page = &q->pages.items[q->page_of.items[id / QUEUE_PAGE_JOBS]];
    page->slots[id % QUEUE_PAGE_JOBS] = slot;
    page->known++;
    q->jobs.items[slot] = *job;
    q->jobs.items[slot].id = id;
    q->job_count++;
    return id;
}

/* A page stays while new ids fall into it. */
static void drop_page(struct myr_queue *q, uint32_t at)
{
    uint32_t page = q->page_of.items[at];
    if (q->pages.items[page].known == 0 && (at + 1) * (uint64_t)QUEUE_PAGE_JOBS <= q->job_count) {
        q->page_of.items[at] = MYR_NONE;
        q->pages.items[page].next_free = q->page_free;
        q->page_free = page;
    }
}

static void forget(struct myr_queue *q, uint32_t id)
{
    struct job_page *page = &q->pages.items[q->page_of.items[id / QUEUE_PAGE_JOBS]];
    uint32_t slot = page->slots[id % QUEUE_PAGE_JOBS];
    struct qjob *job = &q->jobs.items[slot];
    MYR_ASSERT(job->id == id && job->state == MYR_JOB_DONE && job->leaving == 0);
    MYR_ASSERT(page->known > 0);
    free(job->gang.shares);
    free(job->own_gang.shares);
    memset(job, 0, sizeof(*job));
    job->state = MYR_JOB_DONE;
    job->id = MYR_NONE;
    job->next = q->job_free;
    q->job_free = slot;
    page->slots[id % QUEUE_PAGE_JOBS] = MYR_NONE;
    page->known--;
    drop_page(q, id / QUEUE_PAGE_JOBS);
}

void queue_bury_job(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->state == MYR_JOB_DONE);
    free(job->gang.shares);
    job->gang = (struct myr_gang){0};
    if (q->policy.keep_s <= 0 && job->leaving == 0) {
        forget(q, id);
        return;
    }
    struct over over = {.job = id, .until_s = queue_after_s(q->now_s, q->policy.keep_s)};
    myr_vec_push(&q->over, over);
}

void queue_forget_jobs(struct myr_queue *q)
{
    size_t due = 0, again = q->over.count;
    while (due < again && q->over.items[due].until_s <= q->now_s) {
        uint32_t id = q->over.items[due++].job;
        if (queue_job(q, id)->leaving == 0) {
            forget(q, id);
        } else {
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
