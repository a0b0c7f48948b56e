/*
 * gangs: incarnations of jobs. A gang makes progress only while every rank of it is up: work is
 * counted from the moment of its first step, checkpoints stall it, and what was not saved when it
 * broke is done again.
 */
#include "world.h"

/*
 * In a run, whose seat has a snapshot from the start, all is ours; a live world believes what its
 * caller's state says of ranks and sizes.
 */
static bool is_ours(const struct world *w)
{
    return w->seat.snapshot.len > 0;
}

uint32_t inc_of(struct world *w, uint32_t job, uint32_t epoch, uint32_t gpus)
{
    struct wjob *j = job_at(w, job);
    MYR_ASSERT(epoch > 0);
    for (size_t i = 0; i < j->incs.count; i++) {
        /* An epoch job may have several at a time. */
        if (w->incs.items[j->incs.items[i]].epoch == epoch) {
            return j->incs.items[i];
        }
    }
    uint32_t id;
    if (w->free_incs.count > 0) {
        id = w->free_incs.items[--w->free_incs.count];
    } else {
        id = (uint32_t)w->incs.count;
        myr_vec_push(&w->incs, (struct winc){});
    }
    /* The list of nodes keeps its memory from the slot's last use. */
    struct winc inc = {.used = true,
                       .job = job,
                       .epoch = epoch,
                       .world = gpus,
                       .serial = w->incs.items[id].serial + 1,
                       .stalled_ms = w->now_ms,
                       .nodes = w->incs.items[id].nodes};
    MYR_ASSERT(!w->incs.items[id].used); /* nobody's slot */
    inc.nodes.count = 0;
    w->incs.items[id] = inc;
    myr_vec_push(&j->incs, id);
    MYR_ASSERT(inc_at(w, id)->live == 0 && inc_at(w, id)->gpus_up == 0);
    return id;
}

void inc_forget(struct world *w, uint32_t id)
{
    struct winc *inc = inc_at(w, id);
    struct wjob *job = job_at(w, inc->job);
    MYR_ASSERT(inc->used && inc->live == 0 && !inc->running);
    for (size_t i = 0; i < job->incs.count; i++) {
        if (job->incs.items[i] == id) {
            job->incs.items[i] = job->incs.items[--job->incs.count];
            break;
        }
    }
    MYR_ASSERT(inc->gpus_up == 0);
    /* Happenings of this use are void from now on: the next one has a serial of its own. */
    inc->used = false;
    MYR_ASSERT(w->free_incs.count < w->incs.count);
    myr_vec_push(&w->free_incs, id);
}

/* An elastic gang that is smaller than it asked to be works as much slower. */
static int64_t time_of(const struct winc *inc, const struct wjob *job, int64_t work_ms)
{
    int64_t gpus = job->gpus, world = inc->world;
    MYR_ASSERT(world > 0 && work_ms >= 0 && work_ms < INT64_MAX / gpus);
    return (work_ms * gpus + world - 1) / world;
}

/* Work done so far: running time less stalls of the checkpoints taken. */
int64_t inc_work_ms(const struct world *w, const struct winc *inc)
{
    const struct wjob *job = job_at(w, inc->job);
    MYR_ASSERT(inc->base_ms >= 0 && inc->base_ms <= job->work_ms);
    if (!inc->running) {
        return inc->base_ms;
    }
    int64_t elapsed_ms = w->now_ms - inc->since_ms;
    MYR_ASSERT(inc->used && elapsed_ms >= 0);
    int64_t interval_ms = job->group->interval_ms;
    /* Work and stalls follow each other in cycles; the last may be in the middle of either. */
    if (interval_ms > 0) {
        int64_t cycle_ms = interval_ms + job->group->stall_ms;
        int64_t cycles = elapsed_ms / cycle_ms, rest_ms = elapsed_ms % cycle_ms;
        elapsed_ms = cycles * interval_ms + (rest_ms < interval_ms ? rest_ms : interval_ms);
    }
    int64_t work_ms = inc->base_ms + elapsed_ms * inc->world / job->gpus;
    return work_ms < job->work_ms ? work_ms : job->work_ms;
}

void inc_rank_up(struct world *w, uint32_t rank)
{
    struct wrank *r = rank_at(w, rank);
    struct winc *inc = inc_at(w, r->inc);
    MYR_ASSERT(!r->up && !r->stopping);
    r->up = true;
    MYR_ASSERT(r->used && inc->used && inc->job == r->job && inc->epoch == r->epoch);
    inc->gpus_up += (uint32_t)__builtin_popcountll(r->gpus);
    MYR_ASSERT(inc->live > 0 && (!is_ours(w) || inc->gpus_up <= inc->world));
    check_rank_up(w->check, job_at(w, inc->job)->id, r->epoch, r->gpus);
    /* The last rank: now the gang as a whole takes its time to the first step. */
    if (inc->gpus_up == inc->world && !inc->broken) {
        static const enum time_part parts[] = {TIME_RENDEZVOUS, TIME_COMMS, TIME_STATE, TIME_LOADER,
                                               TIME_FIRST_STEP};
        struct myr_rng rng;
        int64_t after_ms = 0;
        draw_init(&rng, w->seed, DRAW_GANG, inc->job, inc->epoch);
        for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
            after_ms += times_draw_ms(&w->times, parts[i], inc->world, &rng);
        }
        happen(w, w->now_ms + after_ms, HAP_RUN, r->inc, inc->serial);
    }
}

/* Slots are used again: a happening of an earlier use is void. */
static bool is_meant(const struct world *w, uint32_t id, uint32_t serial)
{
    const struct winc *inc = inc_at(w, id);
    MYR_ASSERT(serial <= 0xffffff);
    return inc->used && (inc->serial & 0xffffff) == serial;
}

void inc_run(struct world *w, uint32_t id, uint32_t serial)
{
    const struct winc *inc = inc_at(w, id);
    MYR_ASSERT(!inc->running || inc->used);
    if (is_meant(w, id, serial) && !inc->broken && !inc->running) {
        inc_begin(w, id, w->jobs[inc->job].saved_ms);
    }
}

void inc_begin(struct world *w, uint32_t id, int64_t base_ms)
{
    struct winc *inc = inc_at(w, id);
    struct wjob *job = job_at(w, inc->job);
    MYR_ASSERT(!inc->running && !inc->broken && base_ms <= job->work_ms);
    MYR_ASSERT(!is_ours(w) || inc->gpus_up == inc->world); /* the whole gang, or nobody */
    inc->running = true;
    inc->since_ms = w->now_ms;
    inc->base_ms = base_ms;
    log_up(w, inc);
    w->busy_gpus += inc->world;
    MYR_ASSERT(!is_ours(w) ||
               w->busy_gpus <= w->scenario->shape.nodes * w->scenario->shape.gpus_per_node);
    job->first_run_ms = job->first_run_ms < 0 ? w->now_ms : job->first_run_ms;
    if (job->failed_ms >= 0) {
        myr_vec_push(&w->recoveries, w->now_ms - job->failed_ms);
        job->failed_ms = -1;
    }
    int64_t left_ms = time_of(inc, job, job->work_ms - inc->base_ms),
            interval_ms = job->group->interval_ms;
    /* No checkpoint is taken at the very end. */
    int64_t stalls = interval_ms > 0 && left_ms > 0 ? (left_ms - 1) / interval_ms : 0;
    happen(w, w->now_ms + left_ms + stalls * job->group->stall_ms, HAP_FINISH, id, inc->serial);
    happen(w, w->now_ms + w->scenario->report_ms, HAP_REPORT, id, inc->serial);
    if (interval_ms > 0 && interval_ms < left_ms) {
        happen(w, w->now_ms + interval_ms + job->group->stall_ms, HAP_COMMIT, id, inc->serial);
    }
}

void inc_break(struct world *w, uint32_t id, bool save)
{
    struct winc *inc = inc_at(w, id);
    struct wjob *job = job_at(w, inc->job);
    MYR_ASSERT(inc->used && inc->live > 0);
    inc->broken = true;
    if (!inc->running) {
        return;
    }
    /* Before it is called broken, while the clock of its run still goes. */
    int64_t work_ms = inc_work_ms(w, inc);
    MYR_ASSERT(w->now_ms >= inc->since_ms && (!is_ours(w) || w->busy_gpus >= inc->world));
    /* Kept or not: what of it was of use is told apart in the end. */
    w->gpu_ms_running += (uint64_t)(w->now_ms - inc->since_ms) * inc->world;
    inc->running = false;
    inc->base_ms = work_ms;
    inc->stalled_ms = w->now_ms;
    w->busy_gpus -= inc->world;
    /* The store takes nothing of an older epoch than it has. */
    if (save && work_ms > job->saved_ms && inc->epoch >= job->epoch_saved) {
        job->saved_ms = work_ms;
        job->epoch_saved = inc->epoch;
        check_commit(w->check, job->id, inc->epoch);
        log_saved(w, inc);
    }
    MYR_ASSERT(job->saved_ms <= job->work_ms);
}

uint32_t rank_new(struct world *w, const struct wrank *rank)
{
    uint32_t id;
    if (w->free_ranks.count > 0) {
        id = w->free_ranks.items[--w->free_ranks.count];
    } else {
        id = (uint32_t)w->ranks.count;
        myr_vec_push(&w->ranks, (struct wrank){});
    }
    MYR_ASSERT(!w->ranks.items[id].used);
    MYR_ASSERT(!is_ours(w) || (rank->gpus != 0 && w->nodes[rank->node].up));
    /* Counts uses of the slot: what was meant for the last one is void. */
    uint32_t serial = w->ranks.items[id].serial + 1;
    struct wnode *node = node_at(w, rank->node);
    w->ranks.items[id] = *rank;
    w->ranks.items[id].used = true;
    w->ranks.items[id].serial = serial;
    w->ranks.items[id].next_on_node = node->first_rank;
    node->first_rank = id;
    w->incs.items[rank->inc].live++;
    myr_vec_push(&w->incs.items[rank->inc].nodes, rank->node);
    check_rank_begins(w->check, rank->node, w->jobs[rank->job].id, rank->epoch, rank->gpus);
    return id;
}

/* An agent never starts an incarnation twice, however it ended. */
void agent_remember(struct wnode *node, uint32_t job, uint32_t epoch)
{
    size_t at = 0;
    /* The job's own entry, else the one that was used longest ago. */
    for (size_t i = 0; i < MYR_ARRAY_COUNT(node->stopped); i++) {
        if (node->stopped[i].epoch > 0 && node->stopped[i].job == job) {
            at = i;
            epoch = epoch > node->stopped[i].epoch ? epoch : node->stopped[i].epoch;
            break;
        }
        at = node->stopped[i].used < node->stopped[at].used ? i : at;
    }
    node->stopped[at].job = job;
    node->stopped[at].epoch = epoch;
    node->stopped[at].used = ++node->stopped_uses;
    MYR_ASSERT(at < MYR_ARRAY_COUNT(node->stopped) && epoch > 0);
}

void rank_end(struct world *w, uint32_t id)
{
    struct wrank *rank = rank_at(w, id);
    MYR_ASSERT(rank->used);
    uint32_t *link = &w->nodes[rank->node].first_rank;
    while (*link != id) {
        MYR_ASSERT(*link != MYR_NONE);
        link = &w->ranks.items[*link].next_on_node;
    }
    *link = rank->next_on_node;
    struct winc *inc = inc_at(w, rank->inc);
    MYR_ASSERT(inc->live > 0);
    /* One rank less: nobody makes progress, and nothing is saved. */
    inc_break(w, rank->inc, false);
    inc->gpus_up -= rank->up ? (uint32_t)__builtin_popcountll(rank->gpus) : 0;
    inc->live--;
    MYR_ASSERT(inc->live > 0 || inc->gpus_up == 0);
    MYR_ASSERT(!is_ours(w) || inc->gpus_up <= inc->world);
    MYR_ASSERT(w->free_ranks.count < w->ranks.count);
    rank->used = false;
    agent_remember(node_at(w, rank->node), rank->job, rank->epoch);
    check_rank_ends(w->check, rank->node, w->jobs[rank->job].id, rank->epoch, rank->gpus);
    myr_vec_push(&w->free_ranks, id);
    if (inc->live == 0) {
        inc_forget(w, rank->inc);
    }
}

void inc_report(struct world *w, uint32_t id, uint32_t serial)
{
    const struct winc *inc = inc_at(w, id);
    if (!is_meant(w, id, serial) || !inc->running) {
        return;
    }
    const struct wjob *job = job_at(w, inc->job);
    MYR_ASSERT(inc->nodes.count > 0 && job->step_ms > 0);
    MYR_ASSERT(job->saved_ms >= 0 && job->saved_ms <= job->work_ms);
    uint32_t node = inc->nodes.items[0]; /* speaks for the gang */
    log_steps(w, inc, inc_work_ms(w, inc));
    happen(w, w->now_ms + w->scenario->report_ms, HAP_REPORT, id, inc->serial);
    if (node_hears(w, node)) { /* else it is told with the next one */
        struct myr_event event = {.kind = MYR_EVENT_STEP,
                                  .node = node,
                                  .job = job->id,
                                  .epoch = inc->epoch,
                                  .boot = w->nodes[node].boot,
                                  .value = inc_work_ms(w, inc) / job->step_ms,
                                  .saved = job->saved_ms / job->step_ms};
        (void)tell_control(w, &event);
    }
}

/* The store takes no checkpoint of an older epoch than it has. */
void inc_commit(struct world *w, uint32_t id, uint32_t serial)
{
    const struct winc *inc = inc_at(w, id);
    if (!is_meant(w, id, serial) || !inc->running) {
        return;
    }
    struct wjob *job = job_at(w, inc->job);
    int64_t interval_ms = job->group->interval_ms;
    MYR_ASSERT(interval_ms > 0); /* without one no checkpoint comes */
    MYR_ASSERT(inc->epoch > 0 && !inc->broken);
    if (inc->epoch >= job->epoch_saved && inc_work_ms(w, inc) < job->work_ms) {
        job->saved_ms = inc_work_ms(w, inc);
        MYR_ASSERT(job->saved_ms < job->work_ms); /* the end saves by itself */
        job->epoch_saved = inc->epoch;
        check_commit(w->check, job->id, inc->epoch);
        log_saved(w, inc);
    }
    /* With less left than an interval the end comes first. */
    if (time_of(inc, job, job->work_ms - job->saved_ms) > interval_ms) {
        happen(w, w->now_ms + interval_ms + job->group->stall_ms, HAP_COMMIT, id, inc->serial);
    }
}

/* All ranks end well, each agent says so. */
void inc_finish(struct world *w, uint32_t id, uint32_t serial)
{
    struct winc *inc = inc_at(w, id);
    if (!is_meant(w, id, serial) || !inc->running) {
        return;
    }
    uint32_t job_id = inc->job, epoch = inc->epoch;
    struct wjob *job = job_at(w, job_id);
    if (epoch < job->epoch_saved) { /* a newer one has saved since: this one's end is not taken */
        inc_break(w, id, false);
        return;
    }
    inc_break(w, id, true);
    MYR_ASSERT(job->saved_ms <= job->work_ms && !inc->running);
    job->saved_ms = job->work_ms;
    job->end_ms = w->now_ms;
    check_work_done(w->check, job->id);
    log_end(w, job_id);
    /* Read before: the incarnation is forgotten with its last rank. */
    uint32_t count = (uint32_t)inc->nodes.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = w->incs.items[id].nodes.items[i];
        for (uint32_t at = w->nodes[node].first_rank, next; at != MYR_NONE; at = next) {
            const struct wrank *rank = rank_at(w, at);
            next = rank->next_on_node;
            if (rank->job == job_id && rank->epoch == epoch) {
                struct myr_event event = {.kind = MYR_EVENT_EXIT,
                                          .node = node,
                                          .job = job->id,
                                          .epoch = epoch,
                                          .boot = w->nodes[node].boot};
                rank_end(w, at);
                send_to_control(w, &event, 0);
            }
        }
    }
}
