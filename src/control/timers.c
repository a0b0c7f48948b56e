/*
 * timers: one deadline for each job and node, kept in it; the heap only says which comes first. An
 * entry whose time is not the deadline any more is void, and goes when it comes to the top.
 */
#include "state.h"

/* Equal times come up in the order of kind and id, so that the heap's history does not show. */
bool timer_before(const struct timer *a, const struct timer *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms
           : a->kind != b->kind ? a->kind < b->kind
                                : a->id < b->id;
}

static void swap(struct timer *a, struct timer *b)
{
    struct timer kept = *a;
    *a = *b;
    *b = kept;
}

/* Entries that are void are not looked for: they go when they come up. */
static void push(struct myr_control *c, struct timer timer)
{
    MYR_ASSERT(timer.kind <= TIMER_JOB && timer.at_ms >= 0);
    myr_vec_push(&c->timers, timer);
    struct timer *items = c->timers.items;
    for (size_t at = c->timers.count - 1; at > 0;) {
        size_t parent = (at - 1) / 2;
        if (!timer_before(&items[at], &items[parent])) {
            return;
        }
        swap(&items[at], &items[parent]);
        at = parent;
    }
}

/* Takes the first one out. */
static void pop(struct myr_control *c)
{
    struct timer *items = c->timers.items;
    MYR_ASSERT(c->timers.count > 0);
    size_t count = --c->timers.count;
    items[0] = items[count];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            least = timer_before(&items[child], &items[least]) ? child : least;
        }
        if (least == at) {
            return;
        }
        swap(&items[at], &items[least]);
        at = least;
    }
}

/* Where the deadline itself is kept. */
static int64_t *deadline_of(const struct myr_control *c, enum timer_kind kind, uint32_t id)
{
    MYR_ASSERT(id < (kind == TIMER_JOB ? c->head.job_count : c->shape.nodes));
    return kind == TIMER_JOB ? &job_of(c, id)->deadline_ms : &c->nodes[id].deadline_ms;
}

/* Not out of date: it is the deadline that the job or node has; who is forgotten has none. */
static bool is_meant(const struct myr_control *c, const struct timer *timer)
{
    bool gone = timer->kind == TIMER_JOB && !job_find(c, timer->id);
    return !gone && *deadline_of(c, (enum timer_kind)timer->kind, timer->id) == timer->at_ms;
}

/* Set to what it is already, it needs no second entry. */
void timer_set(struct myr_control *c, enum timer_kind kind, uint32_t id, int64_t at_ms)
{
    int64_t *deadline = deadline_of(c, kind, id);
    /* None is set in the past: it would be due before what it waits for could happen. */
    MYR_ASSERT(at_ms == -1 || at_ms >= c->head.steady_ms);
    if (*deadline == at_ms) {
        return;
    }
    *deadline = at_ms;
    if (at_ms >= 0) {
        push(c, (struct timer){at_ms, id, kind});
    }
    /* The first that is meant is no later than this one. */
    MYR_ASSERT(at_ms < 0 || c->timers.items[0].at_ms <= at_ms);
}

/* Those that are no longer meant go. */
static void tidy(struct myr_control *c)
{
    while (c->timers.count > 0) {
        const struct timer *top = &c->timers.items[0];
        /* Checked at the top alone: all of it would cost too much each time. */
        MYR_ASSERT(c->timers.count < 2 || !timer_before(top + 1, top));
        MYR_ASSERT(c->timers.count < 3 || !timer_before(top + 2, top));
        if (is_meant(c, top)) {
            return;
        }
        pop(c);
    }
}

bool timer_due(struct myr_control *c, struct timer *ret)
{
    tidy(c);
    if (c->timers.count == 0 || c->timers.items[0].at_ms > c->head.steady_ms) {
        return false;
    }
    *ret = c->timers.items[0];
    /* At -1 it would still be meant after it was taken, and come up for ever. */
    MYR_ASSERT(ret->at_ms >= 0 && ret->kind <= TIMER_JOB);
    *deadline_of(c, (enum timer_kind)ret->kind, ret->id) = -1; /* tidy() takes it out */
    return true;
}

int64_t timer_next_ms(struct myr_control *c)
{
    tidy(c);
    MYR_ASSERT(c->timers.count == 0 || c->timers.items[0].at_ms >= 0);
    return c->timers.count > 0 ? c->timers.items[0].at_ms : INT64_MAX;
}
