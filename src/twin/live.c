/*
 * live: a world under a controller that its caller runs. Jobs are known by token before they have
 * an id, and by id from then on; what the world has to say is told only while it is advanced.
 * Faults come from the seed or by name.
 */
#include "myriad/twin/live.h"

#include <stdlib.h>

#include "myriad/text/amount.h"
#include "world.h"

/* The world first: the line finds its way back by that. */
struct myr_live {
    struct world world;
    struct myr_scenario scenario;
    struct myr_twin_options options;
    struct myr_twin_result result;
    struct myr_arena arena;          /* groups of one job each */
    struct myr_u64map tokens;        /* to the world's jobs */
    uint32_t job_capacity, id_count; /* room for jobs; ids that 'job_of_id' has room for */
    uint64_t injected;               /* faults by name so far */
    void (*event)(void *context, int64_t at_ms, const struct myr_event *event);
    void *context; /* both while it is advanced */
};

/* The world is the first member. */
static bool take(struct world *w, const struct myr_event *event)
{
    const struct myr_live *live = (const struct myr_live *)w;
    MYR_ASSERT(live->event); /* nobody says anything while time stands still */
    MYR_ASSERT(event->kind < MYR_EVENT_KINDS);
    live->event(live->context, w->now_ms, event);
    return true;
}

int myr_live_create(const struct myr_scenario *scenario, uint64_t seed, int64_t now_ms,
                    struct myr_live **ret, struct myr_err *err)
{
    MYR_ASSERT(scenario && ret && now_ms >= 0);
    MYR_CLEANUP(myr_live_cleanup) struct myr_live *live = myr_xcalloc(1, sizeof(*live));
    const int64_t report_ms = 10000; /* people look at it: as often as the core likes to hear */
    /* A copy that the world may change; what it points to is still the caller's. */
    live->scenario = *scenario;
    struct myr_scenario *s = &live->scenario;
    /* The scenario's own lists belong to the caller. */
    memset(s->left_out, 0, sizeof(s->left_out));
    /*
     * Jobs come from the caller, and so do windows and drains; the
     * controller's deaths are its own.
     */
    s->group_count = s->job_count = s->window_count = 0;
    s->crashes.every_ms = s->clock.every_ms = s->drains.every_ms = 0;
    s->holds.every_ms = s->weights.every_ms = s->calms.every_ms = 0;
    s->report_ms = s->report_ms < report_ms ? s->report_ms : report_ms;
    live->options.seed = seed;
    struct world *w = &live->world;
    w->scenario = s;
    w->options = &live->options;
    w->seed = seed;
    w->now_ms = now_ms;
    w->result = &live->result;
    w->keeps_logs = true;
    myr_arena_init(&live->arena);
    MYR_TRY(world_begin(w, err));
    /* The caller's controller is always there, as far as the world knows. */
    w->line = (struct line){take, true, -1};
    nature_begin(w);
    MYR_ASSERT(w->now_ms == now_ms && w->job_count == 0);
    *ret = live;
    live = NULL;
    return MYR_OK;
}

void myr_live_free(struct myr_live *live)
{
    if (live) {
        world_done(&live->world);
        myr_twin_result_done(&live->result);
        myr_u64map_done(&live->tokens);
        myr_arena_done(&live->arena);
        free(live);
    }
}

void myr_live_cleanup(struct myr_live **live)
{
    MYR_ASSERT(live);
    myr_live_free(*live);
    *live = NULL;
}

/* ---- jobs ---- */

struct myr_live_run myr_live_run_default(void)
{
    return (struct myr_live_run){
        .work_ms = 1800000, .step_ms = 2000, .interval_ms = 300000, .stall_ms = 5000};
}

/* Size, restarts and lease are the caller's word; returns the world's number of the job. */
static uint32_t add_job(struct myr_live *live, const struct myr_job_spec *spec,
                        const struct myr_live_run *run)
{
    struct world *w = &live->world;
    MYR_ASSERT(run->work_ms > 0 && run->step_ms > 0);
    /* Groups are pointed to by jobs, so each has memory that never moves. */
    struct myr_scenario_jobs *group = MYR_ARENA_ONE(&live->arena, struct myr_scenario_jobs);
    *group = (struct myr_scenario_jobs){.interval_ms = run->interval_ms,
                                        .stall_ms = run->stall_ms,
                                        .restart = spec->restart,
                                        .lease_s = spec->lease_s};
    /* Jobs move in memory here: nobody keeps pointers to them across calls. */
    if (w->job_count == live->job_capacity) {
        live->job_capacity = live->job_capacity ? 2 * live->job_capacity : 64;
        w->jobs = myr_xrealloc(w->jobs, live->job_capacity, sizeof(*w->jobs));
    }
    MYR_ASSERT(w->job_count < live->job_capacity);
    MYR_ASSERT(w->job_count < MYR_NONE - 1);
    w->jobs[w->job_count] = (struct wjob){.group = group,
                                          .gpus = spec->gpus,
                                          .id = MYR_NONE,
                                          .work_ms = run->work_ms,
                                          .step_ms = run->step_ms,
                                          .submit_ms = w->now_ms,
                                          .failed_ms = -1};
    return w->job_count++;
}

int myr_live_submit(struct myr_live *live, const struct myr_job_spec *spec,
                    const struct myr_live_run *run, struct myr_err *err)
{
    /* Ten years: sums of such times stay far from overflow. */
    const int64_t most_ms = INT64_C(10) * 366 * 86400000;
    const struct {
        const char *what;
        int64_t ms, least_ms;
    } times[] = {{"work", run->work_ms, 1},
                 {"a step", run->step_ms, 1},
                 {"the time between checkpoints", run->interval_ms, 0},
                 {"the stall of a checkpoint", run->stall_ms, 0}};
    MYR_ASSERT(!live->event);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(times); i++) {
        if (times[i].ms < times[i].least_ms || times[i].ms > most_ms) {
            return myr_err_set(err, MYR_ERANGE, "%s: %lld ms, %lld to %lld is expected",
                               times[i].what, (long long)times[i].ms, (long long)times[i].least_ms,
                               (long long)most_ms);
        }
    }
    /* The same token again is the same job. */
    if (!myr_u64map_find(&live->tokens, spec->token)) {
        uint32_t job = add_job(live, spec, run);
        bool added = myr_u64map_add(&live->tokens, spec->token, job);
        MYR_ASSERT(added && live->tokens.count <= live->world.job_count);
    }
    return MYR_OK;
}

/* From now on the job has this id. */
static void bind(struct myr_live *live, uint32_t id, uint32_t job)
{
    struct world *w = &live->world;
    if (id >= live->id_count) {
        /* Ids count up one by one, so doubling is enough. */
        uint32_t count = id < 32 ? 64 : 2 * id;
        w->job_of_id = myr_xrealloc(w->job_of_id, count, sizeof(*w->job_of_id));
        for (uint32_t i = live->id_count; i < count; i++) {
            w->job_of_id[i] = MYR_NONE;
        }
        live->id_count = count;
    }
    MYR_ASSERT(id < live->id_count && job < w->job_count && w->job_of_id[id] == MYR_NONE);
    MYR_ASSERT(id != MYR_NONE);
    /* Both ways: orders name ids, reports name the world's jobs. */
    w->job_of_id[id] = job;
    w->jobs[job].id = id;
    check_job(w->check, id, w->jobs[job].gpus, w->jobs[job].group->restart == MYR_RESTART_STRICT);
}

static bool is_bound(const struct myr_live *live, uint32_t id)
{
    MYR_ASSERT(live->world.job_of_id || live->id_count == 0);
    return id < live->id_count && live->world.job_of_id[id] != MYR_NONE;
}

/* To the job that was submitted under its token, or to one made up. */
static void bind_spec(struct myr_live *live, uint32_t id, const struct myr_job_spec *spec)
{
    /* A job that was never submitted here runs as jobs do by default. */
    const uint32_t *known = myr_u64map_find(&live->tokens, spec->token);
    struct myr_live_run run = myr_live_run_default();
    if (!is_bound(live, id)) {
        bind(live, id, known ? *known : add_job(live, spec, &run));
    }
    MYR_ASSERT(is_bound(live, id));
}

/* ---- the line ---- */

/* Jobs that nobody submitted here are bound when they start. */
static void accepted(struct myr_live *live, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->kind == MYR_EFFECT_ACCEPT);
    /* All that an answer says of a job is its token. */
    const uint32_t *known = myr_u64map_find(&live->tokens, effect->gpus);
    MYR_ASSERT(!known || *known < live->world.job_count);
    if (effect->state && known && !is_bound(live, effect->job)) {
        bind(live, effect->job, *known);
    }
}

void myr_live_effect(struct myr_live *live, const struct myr_effect *effect)
{
    struct world *w = &live->world;
    enum myr_effect_kind kind = effect->kind;
    /* An answer to a submission is about a token, whatever id it gives. */
    bool of_job = effect->job != MYR_NONE && kind != MYR_EFFECT_ACCEPT;
    MYR_ASSERT(effect->node == MYR_NONE || effect->node < live->scenario.shape.nodes);
    MYR_ASSERT(kind < MYR_EFFECT_KINDS);
    if (of_job && !is_bound(live, effect->job)) { /* nobody said what it does */
        struct myr_job_spec spec = {
            .token = UINT64_MAX, .gpus = effect->world ? effect->world : 1, .lease_s = 600};
        struct myr_live_run run = myr_live_run_default();
        bind(live, effect->job, add_job(live, &spec, &run));
    }
    if (of_job && kind == MYR_EFFECT_START) { /* the only word on its size, where it was not said */
        struct wjob *job = job_at(w, w->job_of_id[effect->job]);
        if (job->gpus < effect->world) { /* an elastic one may be smaller than was said */
            job->gpus = effect->world;
            check_job(w->check, effect->job, job->gpus, job->group->restart == MYR_RESTART_STRICT);
        }
    }
    if (kind == MYR_EFFECT_ACCEPT) {
        accepted(live, effect);
    }
    check_effect(w->check, effect);
    /* Nothing is compared with a queue: it is the caller's. */
    check_event_done(w->check);
    if (kind == MYR_EFFECT_START || kind == MYR_EFFECT_STOP || kind == MYR_EFFECT_TEST) {
        send_to_node(w, effect);
    } else if (kind == MYR_EFFECT_FENCE || kind == MYR_EFFECT_REPAIR) {
        send_order(w, effect);
    }
}

int64_t myr_live_next_ms(const struct myr_live *live)
{
    const struct myr_heap *heap = &live->world.heap;
    MYR_ASSERT(heap->count == 0 || heap->items[0].key >= live->world.now_ms);
    return heap->count > 0 ? heap->items[0].key : INT64_MAX;
}

void myr_live_pass(struct myr_live *live, int64_t now_ms)
{
    struct world *w = &live->world;
    int64_t next_ms = myr_live_next_ms(live);
    int64_t to_ms = now_ms < next_ms ? now_ms : next_ms;
    MYR_ASSERT(!live->event); /* while it is advanced the time is its own */
    w->now_ms = to_ms > w->now_ms ? to_ms : w->now_ms;
}

void myr_live_advance(struct myr_live *live, int64_t now_ms,
                      void (*event)(void *context, int64_t at_ms, const struct myr_event *event),
                      void *context)
{
    struct world *w = &live->world;
    struct myr_heap_item item;
    MYR_ASSERT(!live->event && event); /* not from within */
    live->event = event;
    live->context = context;
    /* What happens may bring about more for the same moment. */
    while (myr_live_next_ms(live) <= now_ms && myr_heap_pop(&w->heap, &item)) {
        /* Each happening at its own time, even if the caller comes late. */
        MYR_ASSERT(item.key >= w->now_ms && item.key <= now_ms);
        w->now_ms = item.key;
        turn(w, (enum happening)(item.value >> 56), (uint32_t)item.value,
             (uint32_t)(item.value >> 32) & 0xffffff);
    }
    live->event = NULL;
    w->now_ms = now_ms > w->now_ms ? now_ms : w->now_ms;
    MYR_ASSERT(w->now_ms >= now_ms && myr_live_next_ms(live) > now_ms);
}

/* ---- a state from before ---- */

/* The books get what the state says, as if it had just been decided. */
static void adopt_books(struct world *w, const struct myr_control *control)
{
    for (uint32_t i = 0; i < myr_control_ranks(control); i++) {
        struct myr_control_rank rank = myr_control_rank(control, i);
        MYR_ASSERT(!rank.used || rank.node < w->scenario->shape.nodes);
        if (rank.used && !rank.released) {
            uint64_t gpus = rank.gpus & ~check_owned(w->check, rank.node); /* epochs may share */
            check_effect(w->check, &(struct myr_effect){.kind = MYR_EFFECT_GRANT,
                                                        .node = rank.node,
                                                        .job = rank.job,
                                                        .epoch = rank.epoch,
                                                        .gpus = gpus});
        }
    }
    for (uint32_t n = 0; n < myr_control_nodes(control); n++) {
        check_effect(w->check,
                     &(struct myr_effect){.kind = MYR_EFFECT_NODE,
                                          .state = (uint8_t)myr_control_node(control, n).state,
                                          .node = n});
    }
}

/* Those that the controller hears are up; their boots go on counting from there. */
static void adopt_nodes(struct world *w, const struct myr_control *control)
{
    for (uint32_t n = 0; n < myr_control_nodes(control); n++) {
        struct myr_control_node view = myr_control_node(control, n);
        struct wnode *node = node_at(w, n);
        MYR_ASSERT(node->first_rank == MYR_NONE);
        node->boot = view.boot;
        /* The others boot as all do, and join anew. */
        node->up = view.boot > 0 && !view.silent && view.state != MYR_NODE_REPAIR;
        node->told_silent = view.silent;
    }
}

/* Ranks that were up run on; orders that were under way are given again by the core. */
static void adopt_rank(struct world *w, const struct myr_control *control,
                       const struct myr_control_rank *rank)
{
    struct myr_control_job view = myr_control_job(control, rank->job);
    uint32_t job = w->job_of_id[rank->job];
    MYR_ASSERT(job < w->job_count && rank->node < w->scenario->shape.nodes);
    MYR_ASSERT(rank->used && rank->up && !rank->old);
    if (!w->nodes[rank->node].up) {
        return;
    }
    if (view.state == MYR_CONTROL_FINISHING) { /* its work is done, and this was not yet heard */
        struct myr_event event = {.kind = MYR_EVENT_EXIT,
                                  .node = rank->node,
                                  .job = rank->job,
                                  .epoch = rank->epoch,
                                  .boot = w->nodes[rank->node].boot};
        send_to_control(w, &event, 0);
        return;
    }
    check_world(w->check, rank->job, rank->epoch, view.gpus);
    uint32_t id = rank_new(w, &(struct wrank){.job = job,
                                              .node = rank->node,
                                              .epoch = rank->epoch,
                                              .inc = inc_of(w, job, rank->epoch, view.gpus),
                                              .gpus = rank->gpus});
    inc_rank_up(w, id);
}

/* The core knows steps, the world time; a step may be any number, all of the work is the most. */
static int64_t ms_of_step(const struct wjob *job, int64_t step)
{
    MYR_ASSERT(job->step_ms > 0 && job->work_ms >= 0);
    int64_t steps = step > 0 ? step : 0, most = job->work_ms / job->step_ms;
    return steps > most ? job->work_ms : steps * job->step_ms;
}

/* What it has saved, and whether its work is done. */
static void adopt_job(struct myr_live *live, const struct myr_control *control, uint32_t id)
{
    struct world *w = &live->world;
    struct myr_control_job view = myr_control_job(control, id);
    if (view.forgotten) { /* it does nothing any more */
        return;
    }
    bind_spec(live, id, &view.spec);
    struct wjob *job = job_at(w, w->job_of_id[id]);
    MYR_ASSERT(job->id == id);
    MYR_ASSERT(w->job_of_id[id] < w->job_count);
    job->saved_ms = ms_of_step(job, view.saved_step);
    if (view.state == MYR_CONTROL_DONE || view.state == MYR_CONTROL_FINISHING) {
        job->saved_ms = job->work_ms;
        check_work_done(w->check, id);
    }
}

/* A gang that was whole goes on where it last told of a step. */
static void adopt_progress(struct world *w, const struct myr_control *control, uint32_t id)
{
    struct myr_control_job view = myr_control_job(control, id);
    if (view.forgotten) {
        return;
    }
    const struct wjob *job = job_at(w, w->job_of_id[id]);
    /* Only of a job that is called running must all ranks be there. */
    bool whole = view.state != MYR_CONTROL_RUNNING;
    for (size_t i = 0; i < job->incs.count; i++) {
        const struct winc *inc = inc_at(w, job->incs.items[i]);
        MYR_ASSERT(inc->used && inc->job == w->job_of_id[id] && inc->gpus_up <= inc->world);
        /* What an epoch job has left behind makes no progress. */
        if (inc->epoch != view.epoch || inc->gpus_up != inc->world) {
            continue;
        }
        whole = true;
        if (view.step > 0) {
            int64_t done_ms = ms_of_step(job, view.step);
            /* Not below its checkpoint: it may have been saved after the last report. */
            inc_begin(w, job->incs.items[i], done_ms > job->saved_ms ? done_ms : job->saved_ms);
        }
    }
    if (!whole) { /* a node of it was silent: the core stops the rest */
        return;
    }
    check_effect(w->check, &(struct myr_effect){.kind = MYR_EFFECT_JOB,
                                                .state = (uint8_t)view.state,
                                                .node = MYR_NONE,
                                                .job = id,
                                                .epoch = view.epoch});
}

int myr_live_adopt(struct myr_live *live, const struct myr_control *control, struct myr_err *err)
{
    struct world *w = &live->world;
    struct myr_place_shape shape = myr_control_shape(control), own = live->scenario.shape;
    MYR_ASSERT(!live->event);
    if (shape.nodes != own.nodes || shape.gpus_per_node != own.gpus_per_node) {
        return myr_err_set(err, MYR_EINVAL, "the state is of %s with %s, the world of %u with %u",
                           MYR_COUNT(shape.nodes, "node"), MYR_COUNT(shape.gpus_per_node, "GPU"),
                           own.nodes, own.gpus_per_node);
    }
    for (uint32_t id = 0; id < myr_control_jobs(control); id++) {
        adopt_job(live, control, id);
    }
    /* Jobs, then books, nodes and ranks, and progress last: each needs those before it. */
    adopt_books(w, control);
    adopt_nodes(w, control);
    for (uint32_t i = 0; i < myr_control_ranks(control); i++) {
        struct myr_control_rank rank = myr_control_rank(control, i);
        /* What was only starting or stopping is ordered again. */
        if (rank.used && rank.up && !rank.old) {
            adopt_rank(w, control, &rank);
        }
    }
    for (uint32_t id = 0; id < myr_control_jobs(control); id++) {
        adopt_progress(w, control, id);
    }
    return MYR_OK;
}

/* ---- trouble on demand ---- */

enum { CUT_MS = 300000 };

static const struct {
    const char *name, *does;
    struct blow blow;
    bool cuts;
} faults[] = {
    {"node-dies",
     "its power is gone, and a part must be replaced",
     {MYR_FAULT_NODE_LOST, true, true},
     false},
    {"node-reboots",
     "it stops and comes back by itself",
     {MYR_FAULT_NODE_LOST, false, false},
     false},
    {"gpu-fault",
     "a rank dies, and a test finds the node broken",
     {MYR_FAULT_CRASH, true, false},
     false},
    {"nic-fault",
     "a rank hangs, and a test finds the node broken",
     {MYR_FAULT_HANG, true, false},
     false},
    {"rank-crash", "a rank dies on a sound node", {MYR_FAULT_CRASH, false, false}, false},
    {"rank-hang", "a rank hangs on a sound node", {MYR_FAULT_HANG, false, false}, false},
    {"cut-off",
     "it runs on, and is not reached for five minutes",
     {MYR_FAULT_HANG, false, false},
     true},
};

const char *myr_live_fault(uint32_t number, const char **ret_does)
{
    if (number >= MYR_ARRAY_COUNT(faults)) {
        return NULL;
    }
    if (ret_does) {
        *ret_does = faults[number].does;
    }
    return faults[number].name;
}

int myr_live_inject(struct myr_live *live, uint32_t node, const char *fault, struct myr_err *err)
{
    struct world *w = &live->world;
    size_t at = 0;
    MYR_ASSERT(!live->event);
    while (at < MYR_ARRAY_COUNT(faults) && strcmp(faults[at].name, fault) != 0) {
        at++;
    }
    if (at == MYR_ARRAY_COUNT(faults)) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
        for (size_t i = 0; i < MYR_ARRAY_COUNT(faults); i++) {
            myr_buf_printf(&list, "%s%s", i ? ", " : "", faults[i].name);
        }
        return myr_err_set(err, MYR_EINVAL, "'%.40s' is no fault, one of %s is expected", fault,
                           list.data);
    }
    if (node >= live->scenario.shape.nodes) {
        return myr_err_set(err, MYR_ERANGE, "node %u, below %u is expected", node,
                           live->scenario.shape.nodes);
    }
    /* A node that is down cannot be struck again. */
    if (!w->nodes[node].up) {
        return myr_err_set(err, MYR_ESTALE, "node/%05u is down", node);
    }
    if (faults[at].cuts) {
        node_cut(w, node, true);
        happen_to(w, w->now_ms + CUT_MS, HAP_UNCUT, node);
    } else {
        struct myr_rng rng;
        /* By number, as faults from the seed, but of a row of their own. */
        draw_init(&rng, w->seed, DRAW_FAULT, live->injected++, 2);
        nature_strike(w, node, &faults[at].blow, &rng);
    }
    return MYR_OK;
}

/* ---- what is to be seen ---- */

struct myr_live_node myr_live_node(const struct myr_live *live, uint32_t id)
{
    const struct world *w = &live->world;
    MYR_ASSERT(id < live->scenario.shape.nodes);
    MYR_ASSERT(live->world.nodes);
    const struct wnode *node = node_at(w, id);
    struct myr_live_node view = {.up = node->up,
                                 .cut = node->cut > 0,
                                 .broken = node->broken,
                                 .repairing = node->repairing,
                                 .boot = node->boot};
    for (uint32_t at = node->first_rank; at != MYR_NONE; at = w->ranks.items[at].next_on_node) {
        view.ranks++;
    }
    return view;
}

uint64_t myr_live_log(const struct myr_live *live, uint32_t id, uint64_t from, struct myr_buf *ret)
{
    if (!is_bound(live, id)) {
        return from;
    }
    const struct wjob *job = job_at(&live->world, live->world.job_of_id[id]);
    MYR_ASSERT(job->id == id && live->world.keeps_logs);
    /* Offsets count from the first byte ever printed. */
    uint64_t end = job->log_dropped + job->log.len;
    /* What was dropped is gone: the reader goes on with what is left. */
    from = from < job->log_dropped ? job->log_dropped : from;
    if (from < end) {
        myr_buf_put(ret, job->log.data + (from - job->log_dropped), (size_t)(end - from));
    }
    return from < end ? end : from;
}

uint64_t myr_live_violations(const struct myr_live *live, const char **ret_first)
{
    const struct check_report *report = check_report(live->world.check);
    MYR_ASSERT((report->violations > 0) == (report->first_ms >= 0));
    if (ret_first) {
        *ret_first = report->violations ? report->first : NULL;
    }
    return report->violations;
}
