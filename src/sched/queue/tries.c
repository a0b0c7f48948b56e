#include "queue/state.h"

/*
 * Which lines are due for a search for jobs to stop: the first job of a line says when it may ask
 * again. There may be ten thousand lines, and hardly any of them is due at a time, so they wait in
 * a heap. An entry may be out of date (its line is empty, or another job is first by now): that is
 * seen when its time has come. It is made when it is first needed.
 */

/* Only where the heap is in use and the line may ever stop anybody. */
static void add(struct myr_queue *q, uint32_t at)
{
    const struct line *line = &q->lines.items[at];
    MYR_ASSERT(line->first != MYR_NONE);
    /* Under other policies only those that reclaim ever stop anybody. */
    if (q->tries.known && (q->policy.preempt || line->reclaims)) {
        myr_heap_push(&q->tries.later, queue_job(q, line->first)->retry_s, at);
    }
}

void queue_first_changed(struct myr_queue *q, uint32_t at)
{
    struct line *line = &q->lines.items[at];
    line->since_s = queue_job(q, line->first)->since_s;
    add(q, at);
}

void queue_ask_again(struct myr_queue *q, uint32_t at, int64_t time_s)
{
    /* A time that has come would be due again at once, and the round would never end. */
    MYR_ASSERT(time_s > q->now_s);
    queue_job(q, q->lines.items[at].first)->retry_s = time_s;
    add(q, at);
}

/* The heap is no more than what the lines say, so it can be lost and made again. */
static void make_anew(struct myr_queue *q)
{
    q->tries.known = true;
    for (uint32_t i = q->busy_first; i != MYR_NONE; i = q->lines.items[i].next_busy) {
        add(q, i);
    }
}

/* Takes out of the heap what is due by now. */
static void take_due(struct myr_queue *q)
{
    struct myr_heap_item item;
    while (q->tries.later.count && q->tries.later.items[0].key <= q->now_s &&
           myr_heap_pop(&q->tries.later, &item)) {
        struct line *line = &q->lines.items[item.value];
        /* Two entries of one line may come up together: it is due once. */
        if (line->first != MYR_NONE && !line->due) {
            line->due = true;
            myr_vec_push(&q->tries.due, (uint32_t)item.value);
        }
    }
}

uint32_t queue_tries_next(struct myr_queue *q, bool (*hopeless)(struct myr_queue *q, uint32_t line))
{
    uint32_t best = MYR_NONE;
    if (!q->tries.known) {
        make_anew(q);
    }
    take_due(q);
    for (size_t i = 0; i < q->tries.due.count;) {
        uint32_t at = q->tries.due.items[i];
        struct line *line = &q->lines.items[at];
        /* One that is not due any more has another entry in the heap. */
        if (line->first == MYR_NONE || queue_job(q, line->first)->retry_s > q->now_s ||
            hopeless(q, at)) {
            line->due = false;
            q->tries.due.items[i] = q->tries.due.items[--q->tries.due.count];
            continue;
        }
        if (best == MYR_NONE || queue_line_before(q, line, &q->lines.items[best])) {
            best = at;
        }
        i++;
    }
    return best;
}

int64_t queue_tries_due_s(const struct myr_queue *q)
{
    return q->tries.later.count ? q->tries.later.items[0].key : INT64_MAX;
}
