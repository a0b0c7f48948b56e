/*
 * core: one event. It is checked, time goes on, the event is taken, deadlines that have come are
 * taken, and then the queue decides until it has nothing more to say. The same events at the same
 * times give the same effects, to the last byte.
 */
#include "state.h"

#include <stdlib.h>

#include "holds.h"
#include "myriad/sched/tenant_tree.h"

struct myr_control_policy myr_control_policy_default(void)
{
    return (struct myr_control_policy){
        .queue = myr_queue_policy_default(),
        .start_window_ms = 1800000,
        .first_step_ms = 3600000,
        .retry_ms = 30000,
        .suspect_ms = 30000,
        .reconnect_ms = 120000,
        .hang_ms = 600000,
        .test_ms = 7200000,
        .fence_retry_ms = 300000,
        .clock_slack_ms = 60000,
        .drain_permille = 100,
        .restarts_in_place = 3,
        .grace_s = 60,
    };
}

/* The queue decides until it has nothing more to say; between events nothing is under way. */
static void settle(struct myr_control *c)
{
    struct myr_decision decision;
    for (;;) {
        if (placing_next(c, &decision)) {
            job_carry_out(c, &decision);
        } else if (c->left.count > 0) {
            node_settle(c, c->left.items[--c->left.count]);
        } else {
            break;
        }
    }
    (void)timer_next_ms(c); /* deadlines that are no longer meant go: equal states, equal bytes */
    MYR_ASSERT(c->lost.count == 0 && c->decisions.count == 0 && c->left.count == 0);
    MYR_ASSERT(!c->dirty); /* the queue was asked after the last that it was told */
    /* Else it would be called again at once, and again. */
    MYR_SLOW_ASSERT(placing_wake_ms(c) > c->head.steady_ms);
}

int myr_control_create(const struct myr_place_shape *shape, const struct myr_control_policy *policy,
                       uint32_t tenants, struct myr_control **ret, struct myr_err *err)
{
    MYR_ASSERT(shape && policy && ret);
    /* Nothing is true before the nodes have said so: the queue waits for that. */
    struct myr_queue_policy queue_policy = policy->queue;
    queue_policy.confirm = true;
    struct myr_queue *queue;
    tenants = tenants ? tenants : 1;
    struct myr_tenant *list = myr_xcalloc(tenants, sizeof(*list));
    for (uint32_t i = 0; i < tenants; i++) {
        /* All alike, without parents; a weight of 0 counts as 1. */
        list[i].parent = MYR_NONE;
    }
    int rc = myr_queue_create(shape, &queue_policy, list, tenants, &queue, err);
    free(list);
    if (rc < 0) {
        return rc;
    }
    MYR_ASSERT(queue);
    MYR_ASSERT(shape->nodes > 0 && shape->gpus_per_node > 0); /* the queue refuses others */
    struct myr_control *c = myr_xcalloc(1, sizeof(*c));
    c->shape = *shape;
    c->policy = *policy;
    /* As the queue really has it. */
    c->policy.queue.confirm = true;
    c->tenants = tenants;
    c->queue = queue;
    c->head.rank_free = MYR_NONE;
    c->nodes = myr_xcalloc(shape->nodes, sizeof(*c->nodes));
    for (uint32_t id = 0; id < shape->nodes; id++) {
        c->nodes[id].first_rank = MYR_NONE;
        c->nodes[id].deadline_ms = -1;
        node_settle(c, id); /* the queue may not use what nobody has heard of */
    }
    myr_queue_keep_spares(queue, policy->spares);
    settle(c);
    MYR_ASSERT(c->timers.count == 0); /* nobody is awaited, as nobody was heard */
    MYR_ASSERT(c->head.silent_nodes == 0 && c->head.drained == 0 && c->bad_nodes == 0);
    /* Nobody listens yet: what a new state is can be asked. */
    c->effects.count = 0;
    *ret = c;
    return MYR_OK;
}

void myr_control_free(struct myr_control *c)
{
    if (c) {
        myr_queue_free(c->queue);
        myr_vec_done(&c->jobs);
        myr_vec_done(&c->ranks);
        myr_vec_done(&c->timers);
        myr_vec_done(&c->effects);
        myr_vec_done(&c->left);
        myr_vec_done(&c->lost);
        myr_vec_done(&c->decisions);
        myr_u64map_done(&c->tokens);
        free(c->nodes);
        free(c);
    }
}

/* For MYR_CLEANUP. */
void myr_control_cleanup(struct myr_control **control)
{
    MYR_ASSERT(control);
    myr_control_free(*control);
    *control = NULL;
}

void myr_control_plant(struct myr_control *c, enum myr_planted planted)
{
    MYR_ASSERT(planted < MYR_PLANTED_COUNT);
    c->head.planted = planted;
}

/* In the core's own time, which stands still while nobody knows how long it was. */
static int64_t wake_steady_ms(struct myr_control *c)
{
    int64_t timer_ms = timer_next_ms(c), queue_ms = placing_wake_ms(c);
    return timer_ms < queue_ms ? timer_ms : queue_ms;
}

int64_t myr_control_wake_ms(struct myr_control *c)
{
    int64_t wake_ms = wake_steady_ms(c);
    int64_t ahead_ms = wake_ms - c->head.steady_ms;
    MYR_ASSERT(c->head.wall_ms >= 0 && c->head.steady_ms >= 0); /* so that the difference fits */
    return wake_ms == INT64_MAX ? INT64_MAX : c->head.wall_ms + (ahead_ms > 0 ? ahead_ms : 0);
}

/*
 * The steady time goes on with the clock. What lies far behind the moment that was asked for is a
 * step of the clock, or a controller that stood still: nobody knows how long it was, and nothing is
 * counted.
 */
static void advance(struct myr_control *c, int64_t now_ms, bool takeover)
{
    MYR_ASSERT(now_ms >= 0 && c->head.steady_ms >= 0); /* so that differences fit */
    /* Asked before the clock moves: how far the core expected to sleep. */
    int64_t wake_ms = wake_steady_ms(c);
    int64_t passed_ms = now_ms - c->head.wall_ms;
    int64_t ahead_ms = wake_ms - c->head.steady_ms;
    bool stepped = passed_ms < 0 || (wake_ms != INT64_MAX && passed_ms - c->policy.clock_slack_ms >
                                                                 (ahead_ms > 0 ? ahead_ms : 0));
    int64_t before_ms = c->head.steady_ms;
    c->head.wall_ms = now_ms;
    c->head.steady_ms += stepped || takeover ? 0 : passed_ms;
    MYR_ASSERT(c->head.steady_ms >= before_ms); /* it never goes back, whatever the clock does */
    if (stepped || takeover) {
        placing_redate(c);
    }
}

/*
 * By the order of the kinds: from a node's first word to its fence, and
 * what people ask of a node.
 */
static bool is_about_node(enum myr_event_kind kind)
{
    return (kind >= MYR_EVENT_JOIN && kind <= MYR_EVENT_FENCED) || kind == MYR_EVENT_DRAIN ||
           kind == MYR_EVENT_UNDRAIN || kind == MYR_EVENT_MAINTAIN || kind == MYR_EVENT_HOLD;
}

static bool is_about_job(enum myr_event_kind kind)
{
    return (kind >= MYR_EVENT_STARTED && kind <= MYR_EVENT_STEP) || kind == MYR_EVENT_CANCEL ||
           kind == MYR_EVENT_HOLD_JOB || kind == MYR_EVENT_PRIORITY;
}

/* What is refused has changed nothing, not even the time: the journal never sees it. */
static int check(const struct myr_control *c, int64_t now_ms, const struct myr_event *event,
                 struct myr_err *err)
{
    MYR_ASSERT(c && event);
    enum myr_event_kind kind = event->kind;
    const int64_t year_ms = INT64_C(366) * 86400 * 1000; /* times stay far from overflow */
    if (kind >= MYR_EVENT_KINDS) {
        return myr_err_set(err, MYR_EINVAL, "event of kind %u, up to %d is expected", kind,
                           MYR_EVENT_KINDS - 1);
    }
    if (is_about_node(kind) && event->node >= c->shape.nodes) {
        return myr_err_set(err, MYR_ERANGE, "event %s: node %u, below %u is expected",
                           myr_event_kind_name(kind), event->node, c->shape.nodes);
    }
    if (is_about_job(kind) && event->job >= c->head.job_count) {
        return myr_err_set(err, MYR_ERANGE, "event %s: job %u, below %u is expected",
                           myr_event_kind_name(kind), event->job, c->head.job_count);
    }
    if (kind == MYR_EVENT_SYMPTOM && event->code >= MYR_SYMPTOMS) {
        return myr_err_set(err, MYR_ERANGE, "symptom %u, below %d is expected", event->code,
                           MYR_SYMPTOMS);
    }
    if (kind == MYR_EVENT_HOLD && event->code >= MYR_HOLDS) {
        return myr_err_set(err, MYR_ERANGE, "hold %u, below %d is expected", event->code,
                           MYR_HOLDS);
    }
    if (kind == MYR_EVENT_WEIGHT &&
        (event->count >= c->tenants || event->value < 1 || event->value > MYR_TENANT_WEIGHT_MAX)) {
        return myr_err_set(
            err, MYR_ERANGE, "tenant %u of weight %lld, below %u and 1 to %d are expected",
            event->count, (long long)event->value, c->tenants, MYR_TENANT_WEIGHT_MAX);
    }
    if (kind == MYR_EVENT_PRIORITY &&
        (event->value < -MYR_PRIORITY_MAX || event->value > MYR_PRIORITY_MAX)) {
        return myr_err_set(err, MYR_ERANGE, "priority %lld, -%d to %d is expected",
                           (long long)event->value, MYR_PRIORITY_MAX, MYR_PRIORITY_MAX);
    }
    if (now_ms < 0 || now_ms > 1000 * year_ms) {
        return myr_err_set(err, MYR_ERANGE, "time out of range");
    }
    return MYR_OK;
}

/* What a node said before it was last started tells nothing of what is now. */
static bool is_stale(const struct myr_control *c, const struct myr_event *event)
{
    enum myr_event_kind kind = event->kind;
    bool said = kind == MYR_EVENT_BACK || (kind >= MYR_EVENT_STARTED && kind <= MYR_EVENT_TESTED);
    MYR_ASSERT(!said || event->node < c->shape.nodes);
    MYR_ASSERT(kind < MYR_EVENT_KINDS);
    /* Of a job that is forgotten nothing is left anywhere. */
    bool late = is_about_job(kind) && !job_find(c, event->job);
    return late || (said && event->boot != c->nodes[event->node].boot);
}

/* The job first: whether its node is blamed depends on what the job makes of the end. */
static void take_exit(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind == MYR_EVENT_EXIT);
    MYR_ASSERT(event->node < c->shape.nodes && event->job < c->head.job_count);
    if (!job_exited(c, event)) {
        MYR_PROBE("a rank ended badly");
        node_blame(c, event->node, event->job, false);
    }
    job_settle(c, event->job);
    node_settle(c, event->node);
}

/* A node that could not start its ranks says so itself: it is certain. */
static void take_started(struct myr_control *c, const struct myr_event *event)
{
    if (!job_started(c, event)) {
        node_blame(c, event->node, event->job, true);
        job_settle(c, event->job);
    }
}

/*
 * One function for each kind. Those that may leave a job or a node
 * unsettled settle it themselves.
 */
static void take(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind < MYR_EVENT_KINDS); /* it was looked at before it is taken */
    switch ((enum myr_event_kind)event->kind) {
    case MYR_EVENT_TICK:
    case MYR_EVENT_KINDS:
        break;
    case MYR_EVENT_TAKEOVER:
        node_takeover(c);
        job_takeover(c);
        break;
    case MYR_EVENT_JOIN:
        node_joined(c, event);
        break;
    case MYR_EVENT_SILENT:
        node_silent(c, event->node);
        break;
    case MYR_EVENT_BACK:
        node_back(c, event->node);
        break;
    case MYR_EVENT_STARTED:
        take_started(c, event);
        break;
    case MYR_EVENT_STOPPED:
        job_stopped(c, event);
        node_settle(c, event->node);
        break;
    case MYR_EVENT_EXIT:
        take_exit(c, event);
        break;
    case MYR_EVENT_STEP:
        job_step(c, event);
        break;
    case MYR_EVENT_SYMPTOM:
        node_symptom(c, event);
        break;
    case MYR_EVENT_TESTED:
        node_tested(c, event);
        break;
    case MYR_EVENT_FENCED:
        node_fenced(c, event);
        break;
    case MYR_EVENT_SUBMIT:
        job_submit(c, &event->spec);
        break;
    case MYR_EVENT_CANCEL:
    case MYR_EVENT_HOLD_JOB:
    case MYR_EVENT_PRIORITY:
        job_ask(c, event);
        break;
    case MYR_EVENT_DRAIN:
    case MYR_EVENT_UNDRAIN:
        node_drain(c, event->node, event->kind == MYR_EVENT_DRAIN);
        break;
    case MYR_EVENT_MAINTAIN:
        placing_maintain(c, event);
        break;
    case MYR_EVENT_APPROVE:
        node_approve(c, event->value);
        break;
    case MYR_EVENT_WEIGHT:
        placing_weight(c, event);
        break;
    case MYR_EVENT_HOLD:
        node_hold(c, event);
        break;
    }
}

/* What has to be done with its nodes is not the job's own matter. */
static void take_job_deadline(struct myr_control *c, uint32_t id)
{
    enum job_due due = job_deadline(c, id);
    if (due == DUE_HUNG) {
        node_blame_all(c, id);
        job_settle(c, id);
    } else if (due == DUE_LATE) {
        node_blame_late(c, id);
        job_settle(c, id);
    }
}

/* One deadline may set another that is due as well. */
static void take_deadlines(struct myr_control *c)
{
    struct timer timer;
    while (timer_due(c, &timer)) {
        MYR_ASSERT(timer.at_ms <= c->head.steady_ms);
        MYR_ASSERT(timer.kind <= TIMER_JOB);
        if (timer.kind == TIMER_NODE) {
            node_deadline(c, timer.id);
        } else {
            take_job_deadline(c, timer.id);
        }
    }
    MYR_ASSERT(c->timers.count == 0 || c->timers.items[0].at_ms > c->head.steady_ms);
}

int myr_control_step(struct myr_control *c, int64_t now_ms, const struct myr_event *event,
                     struct myr_err *err)
{
    MYR_TRY(check(c, now_ms, event, err));
    enum myr_event_kind kind = event->kind;
    MYR_ASSERT(kind < MYR_EVENT_KINDS); /* what is out of range was refused */
    MYR_ASSERT(!is_about_node(kind) || event->node < c->shape.nodes);
    MYR_ASSERT(!is_about_job(kind) || event->job < c->head.job_count);
    /* Between events nothing is under way. */
    MYR_ASSERT(c->decisions.count == 0 && c->left.count == 0);
    MYR_ASSERT(c->lost.count == 0 && !c->dirty);
    /* Effects of the event before are read by now, and so are the jobs that have ended with it. */
    c->effects.count = 0;
    jobs_forget(c);
    advance(c, now_ms, event->kind == MYR_EVENT_TAKEOVER);
    /* Every event that was not refused has a number, stale or not. */
    MYR_ASSERT(c->head.events < UINT64_MAX);
    c->head.events++;
    /* A stale one still moves the time: deadlines come due. */
    if (!is_stale(c, event)) {
        take(c, event);
    }
    take_deadlines(c);
    settle(c);
    MYR_ASSERT(c->head.wall_ms == now_ms && c->tokens.count == c->jobs.count);
    MYR_ASSERT(c->head.silent_nodes <= c->shape.nodes && c->head.drained <= c->shape.nodes);
    MYR_ASSERT(c->bad_nodes <= c->shape.nodes);
    MYR_SLOW_ASSERT(control_assert_of(c, event));
    return MYR_OK;
}

const struct myr_effect *myr_control_effects(const struct myr_control *c, uint32_t *ret_count)
{
    *ret_count = (uint32_t)c->effects.count;
    MYR_ASSERT(c->effects.items || *ret_count == 0);
    return c->effects.items;
}

uint32_t myr_control_refusals(const struct myr_control *c)
{
    return c->refusals;
}

struct myr_place_shape myr_control_shape(const struct myr_control *c)
{
    return c->shape;
}

int64_t myr_control_now_ms(const struct myr_control *c)
{
    return c->head.wall_ms;
}

int64_t myr_control_silence_ms(const struct myr_control *c)
{
    /* After a takeover no node is lost before it had time to call. */
    int64_t takeover_ms = c->head.reconnect_ms - c->head.steady_ms;
    MYR_ASSERT(c->policy.suspect_ms >= 0);
    return takeover_ms > c->policy.suspect_ms ? takeover_ms : c->policy.suspect_ms;
}

uint32_t myr_control_nodes(const struct myr_control *c)
{
    return c->shape.nodes;
}

uint32_t myr_control_jobs(const struct myr_control *c)
{
    return c->head.job_count;
}

struct myr_control_node myr_control_node(const struct myr_control *c, uint32_t id)
{
    const struct node *node = node_of(c, id);
    MYR_ASSERT(node->state < MYR_NODE_STATES);
    MYR_ASSERT(!node->lost || node->silent);
    /*
     * Drained by somebody it is also before its first word, and that holds when it comes. Only
     * shown so: as a state of its own, journals in which it happened could not be decided anew.
     */
    bool asked = node->state == MYR_NODE_UNKNOWN && node->drain & ~DRAIN_FAULT;
    return (struct myr_control_node){.state = asked ? MYR_NODE_DRAINED
                                                    : (enum myr_node_state)node->state,
                                     .silent = node->silent,
                                     .usable = !node->gone && !node->shut,
                                     .boot = node->boot,
                                     .ranks = node->rank_count};
}

struct myr_control_job myr_control_job(const struct myr_control *c, uint32_t id)
{
    const struct job *job = job_find(c, id);
    if (!job) {
        MYR_ASSERT(id < c->head.job_count);
        return (struct myr_control_job){.state = MYR_CONTROL_DONE, .forgotten = true};
    }
    MYR_ASSERT(job->state < MYR_CONTROL_JOB_STATES && job->open <= job->ranks);
    MYR_ASSERT(job->submitted_ms <= c->head.steady_ms && job->started_ms <= c->head.steady_ms);
    struct myr_job_view view = {};
    int rc = myr_queue_view(c->queue, id, &view);
    MYR_ASSERT(rc == MYR_OK || rc == MYR_ENOENT);
    return (struct myr_control_job){.state = (enum myr_control_job_state)job->state,
                                    .spec = job->spec,
                                    .epoch = job->epoch,
                                    .nodes = job->ranks,
                                    .gpus = job_gpus(c, job),
                                    .failures = job->failures,
                                    .step = job->step,
                                    .saved_step = job->saved_step,
                                    .submitted_ms = job->submitted_ms,
                                    .started_ms = job->started_ms,
                                    .nodes_open = job->open + job->old_open,
                                    .guest = view.guest};
}

int64_t myr_control_waited_s(const struct myr_control *c, int64_t now_ms, uint32_t id)
{
    int64_t passed_ms = now_ms > c->head.wall_ms ? now_ms - c->head.wall_ms : 0;
    return myr_queue_waited_s(c->queue, (c->head.steady_ms + passed_ms) / 1000, id);
}

uint32_t myr_control_next_job(const struct myr_control *c, uint32_t id)
{
    size_t low = 0, high = c->jobs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->jobs.items[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < c->jobs.count ? c->jobs.items[low].id : MYR_NONE;
}

/* What others may see of a rank; a slot that nobody uses has zeros. */
static struct myr_control_rank view_of(const struct rank *rank)
{
    MYR_ASSERT(rank->state <= RANK_CLOSED);
    return (struct myr_control_rank){.job = rank->job,
                                     .node = rank->node,
                                     .epoch = rank->epoch,
                                     .first = rank->first,
                                     .gpus = rank->gpus,
                                     .used = rank->state != RANK_FREE,
                                     .up = rank->state == RANK_UP,
                                     .old = rank->old,
                                     .released = rank->released};
}

uint32_t myr_control_job_ranks(const struct myr_control *c, uint32_t id,
                               struct myr_control_rank *ret, uint32_t max)
{
    uint32_t count = 0;
    const struct job *job = job_find(c, id);
    MYR_ASSERT(ret || max == 0);
    /* All are counted; as many as there is room for are returned. */
    for (uint32_t at = job ? job->first_rank : MYR_NONE; at != MYR_NONE;
         at = slot_of(c, at)->next_in_job) {
        MYR_ASSERT(slot_of(c, at)->job == id && !slot_of(c, at)->old);
        if (count < max) {
            ret[count] = view_of(slot_of(c, at));
        }
        count++;
    }
    MYR_ASSERT(count == (job ? job->ranks : 0));
    return count;
}

uint32_t myr_control_node_ranks(const struct myr_control *c, uint32_t id,
                                struct myr_control_rank *ret, uint32_t max)
{
    uint32_t count = 0;
    MYR_ASSERT(ret || max == 0);
    for (uint32_t at = node_of(c, id)->first_rank; at != MYR_NONE;
         at = slot_of(c, at)->next_on_node) {
        const struct rank *rank = slot_of(c, at);
        MYR_ASSERT(rank->node == id && rank->state != RANK_FREE);
        /* The slot is still in the list, but its GPUs belong to others. */
        if (rank->released) {
            continue;
        }
        if (count < max) {
            ret[count] = view_of(rank);
        }
        count++;
    }
    MYR_ASSERT(count <= c->ranks.count);
    return count;
}

uint32_t myr_control_ranks(const struct myr_control *c)
{
    return (uint32_t)c->ranks.count;
}

struct myr_control_rank myr_control_rank(const struct myr_control *c, uint32_t slot)
{
    return view_of(slot_of(c, slot));
}

uint32_t myr_control_find(const struct myr_control *c, uint64_t token)
{
    const uint32_t *id = myr_u64map_find(&c->tokens, token);
    MYR_ASSERT(c->tokens.count == c->jobs.count);
    MYR_ASSERT(!id || job_of(c, *id)->spec.token == token);
    return id ? *id : MYR_NONE;
}

uint32_t myr_control_free_gpus(const struct myr_control *c)
{
    const struct myr_placer *placer = myr_queue_placer(c->queue);
    uint32_t free_gpus = 0;
    for (uint32_t node = 0; node < c->shape.nodes; node++) {
        /* What the queue may not use is not free, whatever its mask says. */
        bool usable = !c->nodes[node].gone && !c->nodes[node].shut;
        uint64_t mask = usable ? myr_placer_free_mask(placer, node) : 0;
        free_gpus += (uint32_t)__builtin_popcountll(mask);
    }
    return free_gpus;
}

const struct myr_queue *myr_control_queue(const struct myr_control *c)
{
    return c->queue;
}
