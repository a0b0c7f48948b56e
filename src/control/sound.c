/*
 * sound: whether a state that was read can be, before anything uses it.
 *
 * What the core asserts of itself is looked for here first, so that no file ends the program: every
 * index, every list, every count and every flag that an assertion speaks of. What holds.h says of a
 * state between two events is the same, for one that the core has made.
 */
#include "state.h"

#include "myriad/sched/events.h"
#include "myriad/sched/snapshot.h"

enum { COUNT_MAX = INT32_MAX }; /* of what counts up: there is as much again before it would wrap */

/* Far enough from the end of the type for everything that is added. */
#define TIME_MAX (INT64_MAX / 4)

/* Of something that was: in the core's own time, which has come to 'now'. */
static bool has_been(const struct myr_control *c, int64_t at_ms)
{
    return at_ms >= 0 && at_ms <= c->head.steady_ms;
}

/* The same, or -1 where it has not been yet. */
static bool may_have_been(const struct myr_control *c, int64_t at_ms)
{
    return at_ms == -1 || has_been(c, at_ms);
}

/* Of something to come. */
static bool may_come(int64_t at_ms)
{
    return at_ms >= -1 && at_ms <= TIME_MAX;
}

/* No GPU belongs to two jobs; two incarnations of one may overlap. */
static bool gpus_are_sound(const struct myr_control *c, const struct node *node)
{
    uint32_t owners[64] = {}; /* the job and 1 */
    for (uint32_t at = node->first_rank; at != MYR_NONE; at = c->ranks.items[at].next_on_node) {
        const struct rank *rank = &c->ranks.items[at];
        uint64_t gpus = rank->released ? 0 : rank->gpus;
        for (; gpus; gpus &= gpus - 1) {
            uint32_t *owner = &owners[__builtin_ctzll(gpus)];
            if (*owner != 0 && *owner != rank->job + 1) {
                return false;
            }
            *owner = rank->job + 1;
        }
    }
    return true;
}

/* Slots that nobody uses are in one list, the others on one node each. */
static bool slots_are_sound(const struct myr_control *c, size_t on_nodes)
{
    size_t used = 0, unused = 0;
    for (size_t i = 0; i < c->ranks.count; i++) {
        const struct rank *rank = &c->ranks.items[i];
        used += rank->state != RANK_FREE;
        if (rank->state > RANK_CLOSED || rank->released > 1 ||
            (rank->state != RANK_FREE &&
             (!job_find(c, rank->job) || rank->node >= c->shape.nodes))) {
            return false;
        }
    }
    for (uint32_t at = c->head.rank_free; at != MYR_NONE; at = c->ranks.items[at].next_in_job) {
        if (at >= c->ranks.count || ++unused > c->ranks.count ||
            c->ranks.items[at].state != RANK_FREE) {
            return false;
        }
    }
    /* Each rank is on a node's list or unused, and none is both. */
    return on_nodes == used && used + unused == c->ranks.count;
}

/* Every index points into its array, every list ends, every count is what it counts. */
static bool ranks_are_sound(const struct myr_control *c)
{
    size_t on_nodes = 0;
    for (uint32_t n = 0; n < c->shape.nodes; n++) {
        const struct node *node = &c->nodes[n];
        uint32_t open = 0;
        /* A list that runs in a circle ends when it has more entries than there are ranks. */
        for (uint32_t at = node->first_rank; at != MYR_NONE; at = c->ranks.items[at].next_on_node) {
            if (at >= c->ranks.count || ++on_nodes > c->ranks.count ||
                c->ranks.items[at].node != n) {
                return false;
            }
            open += rank_is_open(&c->ranks.items[at]);
        }
        /* Who was never heard was never given anything; orders name the boot they are for. */
        bool unheard = node->first_rank != MYR_NONE && node->boot == 0;
        if (open != node->rank_count || unheard || !gpus_are_sound(c, node)) {
            return false;
        }
    }
    return slots_are_sound(c, on_nodes);
}

/* What is over has no ranks, and ends once; what starts again in place has some. */
static bool end_is_sound(const struct job *job)
{
    if (job_is_over(job)) {
        return job->ranks == 0 && (job->after == AFTER_NONE ||
                                   job->after - AFTER_DONE == job->state - MYR_CONTROL_DONE);
    }
    return job->after != AFTER_RESTART || job->taken || job->ranks > 0;
}

/* Who has GPUs is started, stopped or watched; who waits or is over has none. */
static bool state_fits(const struct job *job)
{
    bool active = !job_is_over(job) && job->state != MYR_CONTROL_QUEUED;
    bool running = job->state == MYR_CONTROL_RUNNING;
    /* That it is placed is true only within an event. */
    return job->state < MYR_CONTROL_JOB_STATES && job->state != MYR_CONTROL_PLACING &&
           active == (job->ranks > 0) && (!active || (job->deadline_ms >= 0 && job->epoch > 0)) &&
           (!active || job->after == AFTER_NONE || job->up == 0) &&
           (!active || (uint64_t)job->open + job->exits <= job->ranks) &&
           (!running || (job->whole == 1 && job->confirmed == 1 && job->after == AFTER_NONE &&
                         job->up == job->ranks));
}

/* Flags, what was asked for, and times. */
static bool job_is_sound(const struct myr_control *c, const struct job *job)
{
    uint32_t id = job->id;
    return job->taken <= 1 && job->ending <= 1 && job->confirmed <= 1 && job->steps <= 1 &&
           job->whole <= 1 && job->after <= AFTER_CANCELLED && job->epoch <= COUNT_MAX &&
           job->failures <= COUNT_MAX && job->spec.restart < MYR_RESTARTS && job->spec.held <= 1 &&
           job->spec.after <= id && /* jobs wait only for jobs that came before them */
           has_been(c, job->submitted_ms) && may_have_been(c, job->started_ms) &&
           has_been(c, job->progress_ms) && may_have_been(c, job->stopped_ms) &&
           may_come(job->deadline_ms) && may_come(job->grace_ms) && state_fits(job) &&
           end_is_sound(job);
}

/* What a list of ranks holds. */
struct counted {
    uint32_t ranks, open, up, suspects, last;
};

/* One of the two lists of a job: each rank is its own, and has a state that lasts. */
static bool list_is_sound(const struct myr_control *c, const struct job *job, bool old,
                          size_t *listed, struct counted *ret)
{
    uint32_t first = 0;
    *ret = (struct counted){.last = MYR_NONE};
    for (uint32_t at = old ? job->first_old : job->first_rank; at != MYR_NONE;
         at = c->ranks.items[at].next_in_job) {
        /* Over all jobs together: no rank may be in two lists. */
        if (at >= c->ranks.count || ++*listed > c->ranks.count) {
            return false;
        }
        const struct rank *rank = &c->ranks.items[at];
        bool epoch = old ? rank->epoch > 0 && rank->epoch <= job->epoch : rank->epoch == job->epoch;
        /* Nobody waits for tests of what is left behind. */
        if (rank->state < RANK_STARTING || rank->job != job->id || rank->old != old || !epoch ||
            rank->suspect > !old || rank->gpus == 0 || (!old && rank->first != first)) {
            return false;
        }
        first += (uint32_t)__builtin_popcountll(rank->gpus);
        ret->ranks++;
        ret->open += rank_is_open(rank);
        ret->up += rank->state == RANK_UP;
        ret->suspects += rank->suspect;
        ret->last = at;
    }
    return true;
}

/* The same for jobs: each rank in the list of its own job, and counted there. */
static bool jobs_are_sound(const struct myr_control *c)
{
    size_t listed = 0, used = 0;
    for (size_t j = 0; j < c->jobs.count; j++) {
        const struct job *job = &c->jobs.items[j];
        struct counted now, old;
        if (!list_is_sound(c, job, false, &listed, &now) ||
            !list_is_sound(c, job, true, &listed, &old) || now.ranks != job->ranks ||
            now.open != job->open || now.up != job->up || now.suspects != job->suspects ||
            now.last != job->last_rank || old.open != job->old_open || old.open != old.ranks ||
            !job_is_sound(c, job)) {
            return false;
        }
    }
    for (size_t i = 0; i < c->ranks.count; i++) {
        used += c->ranks.items[i].state != RANK_FREE;
    }
    return listed == used;
}

/* Names something that there is. */
static bool timer_is_known(const struct myr_control *c, const struct timer *timer)
{
    /* One that is due before all time would be due for ever. */
    return timer->kind <= TIMER_JOB && timer->at_ms >= 0 &&
           timer->id < (timer->kind == TIMER_JOB ? c->head.job_count : c->shape.nodes);
}

/* A heap, in which every deadline has its timer: one that has none would never come. */
static bool timers_are_sound(const struct myr_control *c)
{
    const struct timer *items = c->timers.items;
    uint32_t nodes = c->shape.nodes, jobs = (uint32_t)c->jobs.count;
    struct myr_arena arena;
    struct myr_bitset timed;
    /* A parent in the heap never comes after its children. */
    for (size_t i = 0; i < c->timers.count; i++) {
        if (!timer_is_known(c, &items[i]) ||
            (i > 0 && timer_before(&items[i], &items[(i - 1) / 2]))) {
            return false;
        }
    }
    myr_arena_init(&arena);
    myr_bitset_init(&timed, &arena, nodes + jobs);
    for (size_t i = 0; i < c->timers.count; i++) {
        bool is_job = items[i].kind == TIMER_JOB;
        uint32_t id = items[i].id;
        const struct job *job = is_job ? job_find(c, id) : NULL;
        int64_t deadline_ms = !is_job ? c->nodes[id].deadline_ms : job ? job->deadline_ms : -1;
        /* Others are out of date: they may lie in the heap, and are passed over. */
        if (deadline_ms == items[i].at_ms) {
            myr_bitset_add(&timed, is_job ? nodes + (uint32_t)(job - c->jobs.items) : id);
        }
    }
    bool sound = true;
    for (uint32_t n = 0; n < nodes + jobs; n++) {
        int64_t deadline_ms =
            n < nodes ? c->nodes[n].deadline_ms : c->jobs.items[n - nodes].deadline_ms;
        sound = sound && (deadline_ms < 0 || myr_bitset_has(&timed, n));
    }
    myr_arena_done(&arena);
    return sound;
}

/* Flags are flags. */
static bool flags_are_sound(const struct node *node)
{
    const uint8_t drains = DRAIN_PERSON | DRAIN_FAULT | DRAIN_HELD | DRAIN_AWAY;
    return node->silent <= 1 && node->lost <= 1 && node->checked <= 1 && node->testing <= 1 &&
           node->fencing <= 1 && node->bad <= 1 && node->repair <= 1 && node->doubted <= 1 &&
           node->gone <= 1 && node->shut <= 1 && (node->drain & ~drains) == 0 &&
           node->state < MYR_NODE_STATES && node->tests <= COUNT_MAX;
}

/* What is known of it can be true together, and what is awaited can come. */
static bool node_is_sound(const struct myr_control *c, const struct node *node)
{
    bool fault = node->drain & DRAIN_FAULT, healthy = node->state == MYR_NODE_HEALTHY;
    return flags_are_sound(node) && (!node->lost || node->silent) &&
           (!node->silent || (node->boot > 0 && !node->testing)) &&
           (!node->fencing || node->lost) && (!node->repair || fault) && (!node->bad || !fault) &&
           (!node->testing || node->deadline_ms >= 0) &&
           (!node->silent || node->lost || node->deadline_ms >= 0) &&
           (!node->fencing || node->rank_count == 0 || node->deadline_ms >= 0) &&
           has_been(c, node->since_ms) && may_come(node->deadline_ms) &&
           /* What the queue may use is healthy, and healthy is who is heard and not held back. */
           (node->gone || node->shut || healthy) &&
           (!healthy || (node->boot > 0 && node->checked && !node->testing && !node->gone &&
                         !node->silent && !node->drain && !node->bad));
}

/* Sums are sums, and times can be added to. */
static bool rest_is_sound(const struct myr_control *c)
{
    const struct control_head *head = &c->head;
    uint32_t silent = 0, drained = 0;
    for (uint32_t n = 0; n < c->shape.nodes; n++) {
        silent += c->nodes[n].silent;
        drained += c->nodes[n].drain & DRAIN_FAULT ? 1 : 0;
        if (!node_is_sound(c, &c->nodes[n])) {
            return false;
        }
    }
    return silent == head->silent_nodes && drained == head->drained &&
           head->approved <= c->shape.nodes && head->noticed <= 1 &&
           head->planted < MYR_PLANTED_COUNT && head->steady_ms >= 0 &&
           head->steady_ms < TIME_MAX && head->wall_ms >= 0 && head->wall_ms < TIME_MAX &&
           head->events <= INT64_MAX && /* numbers of events never come again */
           may_come(head->reconnect_ms) && myr_queue_jobs(c->queue) == head->job_count;
}

/*
 * Whether it waits for a job that is being cancelled. The queue was told so at once and may have
 * forgotten both; here they are over when the last rank is gone, which can take long.
 */
static bool waits_in_vain(const struct myr_control *c, const struct job *job)
{
    bool vain = false;
    /* Jobs wait only for jobs that came before them: it ends. */
    while (!vain && job->spec.after > 0) {
        job = job_find(c, job->spec.after - 1);
        if (!job) {
            return false; /* it was done */
        }
        vain = job->ending && job->after == AFTER_CANCELLED;
    }
    return vain;
}

/* Of a job that goes on: it has a run here just where the queue has it on nodes, and the same. */
static bool runs_agree(const struct job *job, const struct myr_job_view *view)
{
    bool on = view->state == MYR_JOB_RUNS || view->state == MYR_JOB_STARTING;
    bool run = job->ranks > 0 && !job->taken;
    return job_is_over(job) || job->ending ||
           (on == run && (!run || view->epoch == job->run) &&
            (!run || (view->state == MYR_JOB_RUNS) == job->confirmed));
}

/* Forgotten by the queue it must be over, or as good as that; else both tell the same. */
static bool job_agrees(const struct myr_control *c, uint32_t id)
{
    const struct job *job = job_find(c, id);
    struct myr_job_view view;
    if (myr_queue_view(c->queue, id, &view) < 0) {
        return !job || job_is_over(job) || waits_in_vain(c, job);
    }
    if (!job) {
        return false; /* what is forgotten here is forgotten there */
    }
    uint32_t least = job->spec.gpus_min ? job->spec.gpus_min : job->spec.gpus;
    return view.epoch <= COUNT_MAX && job->run <= view.epoch && job->unrun <= view.epoch &&
           view.gpus >= least && view.gpus <= job->spec.gpus && job->spec.tenant == view.tenant &&
           runs_agree(job, &view);
}

/* The core's jobs, nodes and time are those that the queue knows. */
static bool queue_agrees(const struct myr_control *c)
{
    /* A planted fault is that they are not: such a state lives on until it is found. */
    for (uint32_t j = 0; j < c->head.job_count && !c->head.planted; j++) {
        if (!job_agrees(c, j)) {
            return false;
        }
    }
    for (size_t i = 0; i < c->ranks.count; i++) {
        const struct rank *rank = &c->ranks.items[i];
        if (rank->state != RANK_FREE && rank->run > job_of(c, rank->job)->run) {
            return false;
        }
    }
    /* What may not be used is closed there too: else it is given out and refused without an end. */
    for (uint32_t n = 0; n < c->shape.nodes; n++) {
        if ((c->nodes[n].gone || c->nodes[n].shut) && !myr_queue_closed(c->queue, n)) {
            return false;
        }
    }
    /*
     * A copy of the queue is asked: it turns the last node about, unless it has fewer or its own
     * time is later; and it grows to as many nodes, unless it has more, or others.
     */
    struct myr_queue *copy = NULL;
    uint32_t last = c->shape.nodes - 1;
    int64_t now_s = c->head.steady_ms / 1000;
    myr_queue_copy(c->queue, &copy);
    bool agrees = myr_queue_drain(copy, now_s, last, !c->nodes[last].shut) == MYR_OK &&
                  myr_queue_grow(copy, now_s, &c->shape, NULL) == MYR_OK;
    myr_queue_free(copy);
    return agrees;
}

/* Before anything looks for a job: their ids count up, and are all given. */
static bool ids_are_sound(const struct myr_control *c)
{
    for (size_t j = 0; j < c->jobs.count; j++) {
        uint32_t id = c->jobs.items[j].id;
        if (id >= c->head.job_count || (j > 0 && id <= c->jobs.items[j - 1].id)) {
            return false;
        }
    }
    return c->head.job_count <= COUNT_MAX;
}

/* In an order in which each may rely on those before it. */
bool state_is_sound(const struct myr_control *c)
{
    MYR_ASSERT(c->nodes && c->queue && c->shape.nodes > 0); /* refused before, where they miss */
    MYR_ASSERT(c->decisions.count == 0 && c->left.count == 0 && c->lost.count == 0);
    return ids_are_sound(c) && rest_is_sound(c) && timers_are_sound(c) && ranks_are_sound(c) &&
           jobs_are_sound(c) && queue_agrees(c);
}
