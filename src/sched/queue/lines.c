#include "queue/state.h"

/*
 * Lines: jobs alike wait one behind the other, and the first stands for all. Every list and count
 * that says who waits is kept here.
 *
 * A line is due for a search for jobs to stop when its first job says so: when it may ask again.
 * There may be ten thousand lines, and hardly any of them is due at a time, so they wait in a heap.
 * An entry may be out of date (its line is empty, or another job is first by now): that is seen
 * when its time has come. It is made when it is first needed.
 */

/* The line for the job, made if there is none yet; adding one moves the others in memory. */
static uint32_t line_for(struct myr_queue *q, const struct qjob *job, uint32_t level)
{
    struct line line = {.tenant = job->spec.tenant,
                        .gpus = job->spec.gpus,
                        .priority = job->spec.priority,
                        .level = level,
                        .reclaims = job->spec.reclaims,
                        .request = job->request,
                        .first = MYR_NONE,
                        .last = MYR_NONE};
    MYR_ASSERT(line.tenant < q->tenant_count && line.gpus > 0);
    uint64_t key = queue_line_key(&line);
    const uint32_t *known = myr_u64map_find(&q->line_of, key);
    if (known) {
        struct line *old = &q->lines.items[*known];
        MYR_ASSERT(*known < q->lines.count);
        MYR_ASSERT(old->request == job->request);
        MYR_ASSERT(old->priority == line.priority);
        MYR_ASSERT(old->level == level);
        if (old->first == MYR_NONE) { /* of a request that is gone: its number was given again */
            old->tenant = line.tenant;
            old->gpus = line.gpus;
        }
        return *known;
    }
    myr_vec_push(&q->lines, line);
    myr_u64map_add(&q->line_of, key, (uint32_t)q->lines.count - 1);
    return (uint32_t)q->lines.count - 1;
}

/* The place of a size among those that wait; where it would be if none of it does. */
static size_t size_at(const struct myr_queue *q, uint32_t gpus)
{
    MYR_SLOW_ASSERT(gpus > 0);
    size_t low = 0, high = q->sizes.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (q->sizes.items[middle].gpus < gpus) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    MYR_SLOW_ASSERT(low == q->sizes.count || q->sizes.items[low].gpus >= gpus);
    return low;
}

/* The lists of sizes and of lines alike let a search go by size, smallest first. */
static void list_alike(struct myr_queue *q, uint32_t at)
{
    MYR_ASSERT(at < q->lines.count);
    struct line *line = &q->lines.items[at];
    size_t place = size_at(q, line->gpus);
    if (place == q->sizes.count || q->sizes.items[place].gpus != line->gpus) {
        myr_vec_push(&q->sizes, (struct size){});
        memmove(&q->sizes.items[place + 1], &q->sizes.items[place],
                (q->sizes.count - 1 - place) * sizeof(struct size));
        q->sizes.items[place] = (struct size){line->gpus, MYR_NONE};
    }
    /* Sizes stay sorted: searches rely on it. */
    MYR_ASSERT(place == 0 || q->sizes.items[place - 1].gpus < line->gpus);
    MYR_ASSERT(place + 1 == q->sizes.count || q->sizes.items[place + 1].gpus > line->gpus);
    struct size *size = &q->sizes.items[place];
    line->previous_alike = MYR_NONE;
    line->next_alike = size->first;
    if (size->first != MYR_NONE) {
        MYR_ASSERT(size->first != at);
        MYR_ASSERT(q->lines.items[size->first].gpus == line->gpus);
        q->lines.items[size->first].previous_alike = at;
    }
    size->first = at;
}

/* A size goes with its last line, so that searches meet only sizes that wait. */
static void unlist_alike(struct myr_queue *q, uint32_t at)
{
    const struct line *line = &q->lines.items[at];
    size_t place = size_at(q, line->gpus);
    MYR_ASSERT(place < q->sizes.count);
    MYR_ASSERT(q->sizes.items[place].gpus == line->gpus);
    uint32_t *link = line->previous_alike == MYR_NONE
                         ? &q->sizes.items[place].first
                         : &q->lines.items[line->previous_alike].next_alike;
    MYR_ASSERT(*link == at);
    MYR_SLOW_ASSERT(line->next_alike == MYR_NONE ||
                    q->lines.items[line->next_alike].previous_alike == at);
    *link = line->next_alike;
    if (line->next_alike != MYR_NONE) {
        q->lines.items[line->next_alike].previous_alike = line->previous_alike;
    }
    if (q->sizes.items[place].first == MYR_NONE) {
        q->sizes.count--;
        memmove(&q->sizes.items[place], &q->sizes.items[place + 1],
                (q->sizes.count - place) * sizeof(struct size));
    }
}

/* Busy lines are linked in the order in which they became so; unlinking keeps that order. */
static void set_busy(struct myr_queue *q, uint32_t at, bool busy)
{
    MYR_ASSERT(at < q->lines.count);
    struct line *line = &q->lines.items[at];
    /* Either way it has no jobs at this moment: the first is about to come, or the last went. */
    MYR_ASSERT(line->first == MYR_NONE);
    MYR_ASSERT(line->last == MYR_NONE);
    MYR_SLOW_ASSERT((q->busy_first == MYR_NONE) == (q->busy_last == MYR_NONE));
    if (busy) {
        line->previous_busy = q->busy_last;
        line->next_busy = MYR_NONE;
        *(q->busy_last == MYR_NONE ? &q->busy_first : &q->lines.items[q->busy_last].next_busy) = at;
        MYR_ASSERT(q->busy_last != at); /* it is in no list */
        q->busy_last = at;
        list_alike(q, at);
        return;
    }
    uint32_t *before = line->previous_busy == MYR_NONE
                           ? &q->busy_first
                           : &q->lines.items[line->previous_busy].next_busy;
    uint32_t *behind = line->next_busy == MYR_NONE ? &q->busy_last
                                                   : &q->lines.items[line->next_busy].previous_busy;
    MYR_ASSERT(*before == at);
    MYR_ASSERT(*behind == at);
    *before = line->next_busy;
    *behind = line->previous_busy;
    unlist_alike(q, at);
}

/*
 * The job of a line after which one that waits since then stands, or MYR_NONE. Looked for from both
 * ends: those that come stand last, those that were stopped first.
 */
static uint32_t place_in_line(const struct myr_queue *q, const struct line *line, int64_t since_s)
{
    MYR_ASSERT((line->first == MYR_NONE) == (line->last == MYR_NONE));
    uint32_t back = line->last, front = line->first;
    while (back != MYR_NONE && queue_job(q, back)->since_s > since_s) {
        if (queue_job(q, front)->since_s > since_s) {
            return queue_job(q, front)->previous;
        }
        MYR_SLOW_ASSERT(front != MYR_NONE); /* the two meet before */
        front = queue_job(q, front)->next;
        back = queue_job(q, back)->previous;
    }
    return back;
}

/* Of those that wait some are of a kind; never more than all. */
static void assert_waiting(const struct myr_queue *q)
{
    MYR_ASSERT(q->waiting <= q->jobs.count);
    MYR_ASSERT(q->reclaiming <= q->waiting);
    MYR_ASSERT(q->limited <= q->waiting);
    MYR_ASSERT(q->elastic <= q->waiting);
    MYR_ASSERT(q->shaped <= q->waiting);
}

/* Into its line, behind those that have waited longer. */
static void line_up(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    /* Who waits has nothing, and no older ranks that it would have to wait for. */
    MYR_ASSERT(job->id == id);
    MYR_ASSERT(job->gang.count == 0);
    MYR_ASSERT(job->pending == 0);
    MYR_SLOW_ASSERT(job->owner == MYR_NONE);
    MYR_SLOW_ASSERT(job->result == MYR_RESULT_NONE);
    MYR_ASSERT(job->leaving == 0 || job->spec.restart_epoch);
    MYR_ASSERT(job->since_s <= q->now_s);
    job->line = line_for(q, job, queue_level_of(q, job->saved_s));
    struct line *line = &q->lines.items[job->line];
    if (line->first == MYR_NONE) {
        set_busy(q, job->line, true);
    }
    uint32_t before = place_in_line(q, line, job->since_s);
    job->previous = before;
    job->next = before == MYR_NONE ? line->first : queue_job(q, before)->next;
    *(before == MYR_NONE ? &line->first : &queue_job(q, before)->next) = id;
    *(job->next == MYR_NONE ? &line->last : &queue_job(q, job->next)->previous) = id;
    MYR_ASSERT(before == MYR_NONE || queue_job(q, before)->since_s <= job->since_s);
    MYR_ASSERT(job->next == MYR_NONE || queue_job(q, job->next)->since_s > job->since_s);
    job->state = MYR_JOB_WAITS;
    /* It may ask at once: something may have ended while it ran. */
    job->retry_s = 0;
    if (line->first == id) {
        queue_first_changed(q, job->line);
    }
    /* The next scan for holds must not be later than this job's turn. */
    int64_t due_s = queue_after_s(job->since_s, queue_hold_s(q, job->spec.gpus, 0));
    if (due_s < q->hold_scan_s) {
        q->hold_scan_s = due_s;
    }
    q->waiting++;
    q->reclaiming += job->spec.reclaims;
    q->limited += job->spec.limit_s > 0;
    q->elastic += job->spec.gpus_min > 0;
    q->shaped += job->request != MYR_NONE;
    if (job->broken) { /* its place was given up */
        myr_vec_push(&q->claims, id);
    }
    assert_waiting(q);
}

void queue_unlist_claim(struct myr_queue *q, uint32_t id)
{
    size_t at = 0;
    while (at < q->claims.count && q->claims.items[at] != id) {
        at++;
    }
    MYR_ASSERT(at < q->claims.count);
    q->claims.count--;
    memmove(&q->claims.items[at], &q->claims.items[at + 1],
            (q->claims.count - at) * sizeof(uint32_t));
}

void queue_dequeue(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    struct line *line = &q->lines.items[job->line];
    MYR_ASSERT(job->state == MYR_JOB_WAITS);
    MYR_ASSERT(q->waiting > 0);
    MYR_ASSERT(job->line < q->lines.count);
    uint32_t *before =
        job->previous == MYR_NONE ? &line->first : &queue_job(q, job->previous)->next;
    uint32_t *behind = job->next == MYR_NONE ? &line->last : &queue_job(q, job->next)->previous;
    MYR_ASSERT(*before == id);
    MYR_ASSERT(*behind == id);
    *before = job->next;
    *behind = job->previous;
    /* Only a new first job changes when its line is due. */
    if (line->first == MYR_NONE) {
        set_busy(q, job->line, false);
    } else if (job->previous == MYR_NONE) {
        queue_first_changed(q, job->line);
    }
    q->waiting--;
    q->reclaiming -= job->spec.reclaims;
    q->limited -= job->spec.limit_s > 0;
    q->elastic -= job->spec.gpus_min > 0;
    q->shaped -= job->request != MYR_NONE;
    if (job->broken) {
        queue_unlist_claim(q, id);
    }
    MYR_ASSERT((line->first == MYR_NONE) == (line->last == MYR_NONE));
    assert_waiting(q);
}

void queue_wake_at(struct myr_queue *q, int64_t time_s)
{
    if (time_s > q->now_s) {
        myr_heap_push(&q->wakes, time_s, MYR_NONE);
    }
}

/* The moments at which a waiting job gets more rights. */
static void wake_for(struct myr_queue *q, uint32_t id)
{
    MYR_SLOW_ASSERT(queue_job(q, id)->state == MYR_JOB_WAITS);
    const struct qjob *job = queue_job(q, id);
    uint32_t gpus = job->spec.gpus;
    bool gang = queue_is_gang(q, gpus);
    const int64_t after[] = {q->policy.patience_s, gang ? q->policy.hold_s : 0,
                             gang ? queue_locality_s(q, gpus, q->policy.locality_s) : 0};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(after); i++) {
        int64_t time_s = queue_after_s(job->since_s, after[i]);
        if (after[i] > 0 && time_s < INT64_MAX && time_s > q->now_s) {
            /* With its id: the wake is dropped when the job no longer waits. */
            myr_heap_push(&q->wakes, time_s, id);
            MYR_SLOW_ASSERT(q->wakes.count > 0 && q->wakes.items[0].key <= time_s);
        }
    }
}

void queue_enqueue(struct myr_queue *q, uint32_t id)
{
    line_up(q, id);
    MYR_SLOW_ASSERT(queue_job(q, id)->state == MYR_JOB_WAITS);
    wake_for(q, id);
}

/* Only where the heap is in use and the line may ever stop anybody. */
static void add(struct myr_queue *q, uint32_t at)
{
    MYR_ASSERT(at < q->lines.count);
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
    MYR_ASSERT(line->first != MYR_NONE);
    MYR_ASSERT(queue_job(q, line->first)->line == at);
    line->since_s = queue_job(q, line->first)->since_s;
    add(q, at);
}

void queue_ask_again(struct myr_queue *q, uint32_t at, int64_t time_s)
{
    /* A time that has come would be due again at once, and the round would never end. */
    MYR_ASSERT(time_s > q->now_s);
    MYR_ASSERT(at < q->lines.count);
    MYR_ASSERT(q->lines.items[at].first != MYR_NONE);
    queue_job(q, q->lines.items[at].first)->retry_s = time_s;
    add(q, at);
}

/* The heap is no more than what the lines say, so it can be lost and made again. */
static void make_anew(struct myr_queue *q)
{
    MYR_ASSERT(!q->tries.known);
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
        MYR_ASSERT(item.value < q->lines.count);
        /* Two entries of one line may come up together: it is due once. */
        if (line->first != MYR_NONE && !line->due) {
            line->due = true;
            myr_vec_push(&q->tries.due, (uint32_t)item.value);
        }
    }
    MYR_ASSERT(q->tries.due.count <= q->lines.count); /* each of them once */
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
        MYR_ASSERT(at < q->lines.count);
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
    MYR_ASSERT(best == MYR_NONE || q->lines.items[best].first != MYR_NONE);
    return best;
}

int64_t queue_tries_due_s(const struct myr_queue *q)
{
    return q->tries.later.count ? q->tries.later.items[0].key : INT64_MAX;
}

/* What an end of the line's first job costs. */
int64_t queue_first_cost_s(const struct myr_queue *q, const struct line *line)
{
    MYR_ASSERT(line->first != MYR_NONE);
    return queue_lengths_cost_s(q->lengths, line->gpus, queue_job(q, line->first)->saved_s);
}

/*
 * Whether somebody who asks for no more and may stop no fewer searched in vain a moment ago, and
 * could not pay what it would have cost even now.
 */
bool queue_was_in_vain(const struct myr_queue *q, const struct line *line)
{
    uint32_t excess = queue_excess(q, line->tenant);
    int64_t cost_s = queue_first_cost_s(q, line);
    for (uint32_t i = 0; i < VAIN_MAX; i++) {
        const struct vain *vain = &q->tries.vain[i];
        if (vain->gpus && q->now_s - vain->at_s < QUEUE_RETRY_S && vain->gpus <= line->gpus &&
            vain->length_s <= cost_s && vain->excess <= excess &&
            vain->priority >= line->priority && vain->cost > q->loss_left / 1000) {
            return true;
        }
    }
    return false;
}

/* The oldest note is overwritten. */
void queue_note_vain(struct myr_queue *q, const struct line *line, int64_t cost)
{
    int64_t length_s = queue_first_cost_s(q, line);
    struct vain vain = {.gpus = line->gpus,
                        .length_s = length_s < UINT32_MAX ? (uint32_t)length_s : UINT32_MAX,
                        .excess = queue_excess(q, line->tenant),
                        .priority = line->priority,
                        .at_s = q->now_s,
                        .cost = cost};
    MYR_ASSERT(line->gpus > 0);
    MYR_ASSERT(q->tries.vain_next < VAIN_MAX); /* without GPUs: no note */
    q->tries.vain[q->tries.vain_next] = vain;
    q->tries.vain_next = (q->tries.vain_next + 1) % VAIN_MAX;
}

/*
 * The least that can be lost for a claim, in GPU seconds: it lacks GPUs on its node, or whole
 * nodes, and whoever frees one has at least to restart.
 */
int64_t queue_least_cost(const struct myr_queue *q, uint32_t gpus)
{
    uint32_t per = q->shape.gpus_per_node, lacks = gpus;
    if (queue_is_gang(q, gpus)) {
        uint32_t whole = gpus / per, free_nodes = myr_placer_free_nodes(q->placer);
        lacks = whole > free_nodes ? whole - free_nodes : 0;
    } else {
        while (lacks > 0 && myr_place_fits(q->placer, gpus - lacks + 1)) {
            lacks--;
        }
    }
    MYR_ASSERT(lacks <= gpus);
    return lacks * q->policy.restart_s;
}
