/*
 * desk: the control core, its journal, and the order of things: take the events of this turn,
 * commit what was decided, and only then act.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum {
    SNAPSHOT_EVENTS = 20000, /* in the journal, before the state is written anew */
    PAST_MAX = 1024,         /* nodes of earlier incarnations that a job remembers */
    REFUSALS_SAID = 10,      /* a second */
    INBOX_MAX = 1 << 20,     /* beyond it reports are left to the agents, who say them again */
};

/* Decisions are wishes here: GPUs follow what agents confirm. */
static struct myr_control_policy policy_of(const struct config *config)
{
    struct myr_control_policy policy = myr_control_policy_default();
    policy.queue = myr_queue_policy_preset(config->policy);
    policy.queue.confirm = true;
    policy.spares = config->spares;
    if (config->world == WORLD_SLURM) { /* steps are not told there, but that it runs is */
        policy.first_step_ms = policy.hang_ms = UINT32_MAX;
    }
    return policy;
}

/* Of one length: the order of the keys is that of the numbers. */
static void journal_key(uint64_t number, char ret[32])
{
    snprintf(ret, 32, "journal/%016llx", (unsigned long long)number);
    MYR_ASSERT(strlen(ret) == 24); /* of one length */
}

/* Appends values in the order of their keys. */
static int join(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    MYR_ASSERT(context && key);
    (void)key;
    (void)err;
    myr_buf_put(context, value.data, value.len);
    return MYR_OK;
}

/*
 * Put, not committed: it becomes permanent with the rows of the same turn. The journal begins anew
 * at the state that the snapshot has.
 */
static void put_snapshot(struct server *server)
{
    MYR_ASSERT(server->control && server->store);
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    char key[32];
    /* All events that were taken are in it, committed or about to be. */
    myr_control_save(server->control, &bytes);
    MYR_ASSERT(bytes.len > 0); /* nothing is how a store begins that has no state */
    store_put(server->store, "snapshot", (struct myr_str){bytes.data, bytes.len});
    /* All of the old journal, in the same commit: '0' is the character behind '/'. */
    store_delete_range(server->store, "journal/", "journal0");
    myr_buf_clear(&bytes);
    myr_journal_begin(server->control, &bytes);
    server->journal_next = 0;
    journal_key(server->journal_next++, key);
    store_put(server->store, key, (struct myr_str){bytes.data, bytes.len});
    server->since_snapshot = 0;
    /* The next part of the journal stands behind its beginning. */
    MYR_ASSERT(server->journal_next == 1);
}

int desk_snapshot(struct server *server, struct myr_err *err)
{
    MYR_ASSERT(server->journal.len == 0 && server->outbox.count == 0); /* nothing is half taken */
    put_snapshot(server);
    return store_commit(server->store, err);
}

/* A core of the configuration's shape, kept at once. */
static int create(struct server *server, struct myr_err *err)
{
    const struct config *config = &server->config;
    struct myr_control_policy policy = policy_of(config);
    MYR_ASSERT(!server->control && config->node_count > 0);
    struct myr_place_shape shape = {config->node_count, config->gpus_per_node,
                                    config->nodes_per_leaf, config->node_count};
    MYR_TRY(myr_control_create(&shape, &policy, SERVER_TENANTS, &server->control, err));
    return desk_snapshot(server, err);
}

/* A cluster may have grown since; it never shrinks, and ids stay. */
static int fit_shape(struct server *server, struct myr_err *err)
{
    MYR_ASSERT(server->control && server->config.node_count > 0);
    const struct config *config = &server->config;
    struct myr_place_shape shape = myr_control_shape(server->control);
    /* GPUs are bits of masks in the state, nodes are numbers: neither can be taken away. */
    if (shape.gpus_per_node != config->gpus_per_node || shape.nodes > config->node_count) {
        return myr_err_set(err, MYR_EINVAL,
                           "the store holds %s of %s, the configuration %u of %u; a cluster only "
                           "grows, by names added behind the others",
                           MYR_COUNT(shape.nodes, "node"), MYR_COUNT(shape.gpus_per_node, "GPU"),
                           config->node_count, config->gpus_per_node);
    }
    if (shape.nodes < config->node_count) {
        MYR_TRY(myr_control_grow(server->control, config->node_count, err));
        MYR_ASSERT(myr_control_nodes(server->control) == config->node_count);
        return desk_snapshot(server, err);
    }
    return MYR_OK;
}

/* The snapshot and the events since; written anew, so that the next start replays less. */
static int load(struct server *server, const struct myr_buf *snapshot, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf journal = {};
    struct myr_journal_report report;
    MYR_ASSERT(!server->control && snapshot->len > 0);
    MYR_TRY(
        myr_control_load((struct myr_str){snapshot->data, snapshot->len}, &server->control, err));
    MYR_TRY(store_scan(server->store, "journal/", join, &journal, err));
    MYR_TRY(myr_journal_replay(server->control, (struct myr_str){journal.data, journal.len},
                               &report, err));
    /* Every decision was compared with the one of then: another would have been an error. */
    log_say("info", "state: %s replayed", MYR_COUNT(report.records, "event"));
    MYR_TRY(desk_snapshot(server, err));
    return fit_shape(server, err);
}

/* What the core says its jobs are, for rows that were written before the last change. */
static void learn_states(struct server *server)
{
    uint32_t count = myr_control_jobs(server->control);
    for (uint32_t id = 0; id < count; id++) {
        struct job_row *row = rows_job(server, id);
        struct myr_control_job job = myr_control_job(server->control, id);
        if (row && !job.forgotten) {
            row->state = (uint8_t)job.state;
        }
        /* Ended before rows kept how: now they do. */
        if (row && !job.forgotten && job.state >= MYR_CONTROL_DONE && !row->last.spec.gpus) {
            row->last = job;
            rows_put_job(server, id);
        }
    }
    /* Of jobs that the core never took: a server died between the two. */
    for (size_t id = count; id < server->rows.jobs.count; id++) {
        rows_drop_job(server, (uint32_t)id);
    }
    for (uint32_t node = 0; node < myr_control_nodes(server->control); node++) {
        /* As many as a node can have GPUs. */
        struct myr_control_rank ranks[64];
        uint32_t found = myr_control_node_ranks(server->control, node, ranks, 64);
        for (uint32_t i = 0; i < found && i < 64; i++) {
            const struct job_row *row = rows_job(server, ranks[i].job);
            /* GPUs that ranks hold now are charged from this moment on. */
            if (row && row->tenant < server->rows.tenants.count) {
                server->rows.tenants.items[row->tenant].running_gpus +=
                    (uint32_t)__builtin_popcountll(ranks[i].gpus);
            }
        }
    }
}

void desk_turn(struct server *server)
{
    struct myr_err err = {};
    if (desk_run(server, &err) < 0) {
        MYR_ASSERT(server->stuck); /* which was said when it began */
    }
}

/* Behind the sockets of each turn: what came in together is one commit. */
static void on_check(uv_check_t *check)
{
    struct server *server = check->data;
    MYR_ASSERT(server->inbox.count <= INBOX_MAX);
    /* Nothing is left to take: the loop may sleep again. */
    if (server->inbox.count == 0) {
        uv_idle_stop(&server->idle);
        return;
    }
    desk_turn(server);
}

static void on_idle(uv_idle_t *idle)
{
    (void)idle; /* its being there keeps the loop from sleeping */
}

static void on_wake(uv_timer_t *timer)
{
    struct server *server = timer->data;
    MYR_ASSERT(server->control);
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TICK});
}

/* The core names the moment at which time alone changes something, such as a deadline. */
static void set_wake(struct server *server)
{
    int64_t at_ms = myr_control_wake_ms(server->control), now_ms = core_ms(server);
    /* Nothing will change by time alone. */
    if (at_ms == INT64_MAX) {
        uv_timer_stop(&server->wake);
        return;
    }
    MYR_ASSERT(server->config.speed > 0);
    double wait_ms = at_ms > now_ms ? (double)(at_ms - now_ms) / server->config.speed : 0;
    /* A millisecond more than rounded down: the core must not be woken before its time. */
    uv_timer_start(&server->wake, on_wake, (uint64_t)wait_ms + 1, 0);
}

/* The state as the last commit left it; the world takes it over afterwards. */
int desk_begin(struct server *server, struct myr_err *err)
{
    MYR_ASSERT(!server->control && server->store);
    MYR_CLEANUP(myr_buf_done) struct myr_buf snapshot = {};
    MYR_TRY(store_scan(server->store, "snapshot", join, &snapshot, err));
    MYR_TRY(snapshot.len > 0 ? load(server, &snapshot, err) : create(server, err));
    /* Nodes are numbers: the same ones in both. */
    MYR_ASSERT(myr_control_nodes(server->control) == server->rows.node_count);
    learn_states(server);
    MYR_ASSERT(server->rows.jobs.count <= myr_control_jobs(server->control) ||
               !server->rows.jobs.items[server->rows.jobs.count - 1]);
    uv_timer_init(&server->loop, &server->wake);
    uv_check_init(&server->loop, &server->check);
    uv_idle_init(&server->loop, &server->idle);
    server->wake.data = server->check.data = server->idle.data = server;
    uv_check_start(&server->check, on_check);
    /* The twin's clock goes on where the state's stood. */
    server->clock_since_ms = steady_ms();
    server->clock_base_ms = myr_control_now_ms(server->control) > wall_ms()
                                ? myr_control_now_ms(server->control)
                                : wall_ms();
    /* Until the world stands, the twin's clock does. */
    server->clock_most_ms = server->clock_base_ms;
    return MYR_OK;
}

/* While nothing can be committed events pile up; agents keep theirs. */
bool desk_is_full(const struct server *server)
{
    MYR_ASSERT(server->inbox.count <= INBOX_MAX);
    return server->inbox.count == INBOX_MAX;
}

/* Starts the idle handle, which keeps the loop from waiting for sockets. */
bool desk_post(struct server *server, const struct myr_event *event)
{
    if (desk_is_full(server)) {
        server->refused_events++;
        return false;
    }
    myr_vec_push(&server->inbox, *event);
    uv_idle_start(&server->idle, on_idle);
    return true;
}

/* Usage up to now by the old number of GPUs, from now on by the new one. */
static void count_gpus(struct server *server, const struct myr_effect *effect, bool more)
{
    MYR_ASSERT(effect->kind == MYR_EFFECT_GRANT || effect->kind == MYR_EFFECT_RELEASE);
    MYR_ASSERT(effect->gpus != 0);
    const struct job_row *row = rows_job(server, effect->job);
    if (!row || row->tenant >= server->rows.tenants.count) {
        return;
    }
    struct tenant_row *tenant = &server->rows.tenants.items[row->tenant];
    uint32_t gpus = (uint32_t)__builtin_popcountll(effect->gpus);
    tenant->gpu_ms = rows_gpu_ms(tenant, core_ms(server));
    tenant->since_ms = core_ms(server);
    tenant->running_gpus = more                           ? tenant->running_gpus + gpus
                           : tenant->running_gpus >= gpus ? tenant->running_gpus - gpus
                                                          : 0;
}

/* What its nodes still have of earlier incarnations is asked for by their number. */
static void remember(struct job_row *row)
{
    MYR_ASSERT(row->where || row->where_count == 0);
    MYR_ASSERT(row->past || row->past_count == 0);
    uint32_t from = 0, count = row->past_count + row->where_count;
    struct myr_control_rank *all = myr_xcalloc(count, sizeof(*all));
    /* The oldest first, the last incarnation behind them. */
    for (uint32_t i = 0; i < row->past_count; i++) {
        all[i] = row->past[i];
    }
    for (uint32_t i = 0; i < row->where_count; i++) {
        all[row->past_count + i] = row->where[i];
    }
    while (count - from > PAST_MAX) { /* whole incarnations */
        for (uint32_t epoch = all[from].epoch; from < count && all[from].epoch == epoch; from++) {
        }
    }
    memmove(all, all + from, (count - from) * sizeof(*all));
    free(row->past);
    row->past = all;
    row->past_count = count - from;
    MYR_ASSERT(row->past_count <= PAST_MAX);
}

/* Asked of the core while it knows: once the job is over it has forgotten its nodes. */
static void note_where(struct server *server, uint32_t id, struct job_row *row)
{
    uint32_t count = myr_control_job(server->control, id).nodes;
    remember(row);
    free(row->where);
    row->where = myr_xcalloc(count, sizeof(*row->where));
    row->where_count = myr_control_job_ranks(server->control, id, row->where, count);
    MYR_ASSERT(row->where_count <= count);
}

/*
 * What the rows keep of it; before the commit, so that it is part of it, and before the next event,
 * with which the core may forget a job that is over.
 */
static void note(struct server *server, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->kind < MYR_EFFECT_KINDS);
    struct job_row *row = rows_job(server, effect->job);
    if (effect->kind == MYR_EFFECT_GRANT || effect->kind == MYR_EFFECT_RELEASE) {
        count_gpus(server, effect, effect->kind == MYR_EFFECT_GRANT);
    }
    if (effect->kind != MYR_EFFECT_JOB || !row) {
        return;
    }
    MYR_ASSERT(effect->state < MYR_CONTROL_JOB_STATES);
    row->state = effect->state;
    if (effect->state == MYR_CONTROL_STARTING) {
        /* Of the first incarnation: a restart does not give a time limit anew. */
        row->first_start_ms = row->first_start_ms < 0 ? core_ms(server) : row->first_start_ms;
        server->overdue_ms = row->time_limit_s > 0 ? 0 : server->overdue_ms; /* to be found anew */
        note_where(server, effect->job, row);
        rows_put_job(server, effect->job);
    } else if (effect->state >= MYR_CONTROL_DONE) {
        row->ended_ms = core_ms(server);
        row->last = myr_control_job(server->control, effect->job);
        rows_put_job(server, effect->job);
        /* A store that was mended by hand may name one that is not there. */
        if (row->tenant < server->rows.tenants.count) {
            rows_put_tenant(server, row->tenant);
        }
    }
}

/* One that the core refuses has changed nothing, and is not part of the journal. */
static void take(struct server *server, const struct myr_event *event)
{
    struct myr_err err = {};
    uint32_t count;
    int64_t now_ms = core_ms(server);
    MYR_ASSERT(!server->stuck); /* nothing is taken before the last is kept */
    if (myr_control_step(server->control, now_ms, event, &err) < 0) {
        server->refused_events++;
        /* An agent that talks nonsense fills no log. */
        if (server->refusals_said++ < REFUSALS_SAID) {
            log_say("warning", "the core refused %s: %s",
                    myr_event_kind_name((enum myr_event_kind)event->kind), err.message);
        }
        return;
    }
    server->events++;
    server->since_snapshot++;
    MYR_ASSERT(server->since_snapshot <= server->events);
    myr_journal_put(server->control, now_ms, event, &server->journal);
    const struct myr_effect *effects = myr_control_effects(server->control, &count);
    for (uint32_t i = 0; i < count; i++) {
        note(server, &effects[i]);
        myr_vec_push(&server->outbox, effects[i]);
    }
}

/* To the log and to those who watch; the order is that of what was decided. */
static void tell(struct server *server, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->kind < MYR_EFFECT_KINDS);
    char text[120];
    switch ((enum myr_effect_kind)effect->kind) {
    case MYR_EFFECT_JOB:
        feed_job(server, effect->job,
                 myr_control_job_state_name((enum myr_control_job_state)effect->state),
                 effect->epoch);
        return;
    case MYR_EFFECT_ACCEPT:
        if (effect->job != MYR_NONE) {
            feed_job(server, effect->job, "queued", 0);
        }
        return;
    case MYR_EFFECT_NODE:
        MYR_ASSERT(effect->node < server->rows.node_count);
        log_say(effect->state > MYR_NODE_HEALTHY ? "warning" : "info", "%s is %s",
                server->rows.nodes[effect->node].name,
                myr_node_state_name((enum myr_node_state)effect->state));
        feed_node(server, effect->node, myr_node_state_name((enum myr_node_state)effect->state),
                  "");
        return;
    case MYR_EFFECT_REPAIR:
        MYR_ASSERT(effect->node < server->rows.node_count);
        snprintf(text, sizeof(text), "%s is empty: to be repaired",
                 server->rows.nodes[effect->node].name);
        break;
    case MYR_EFFECT_NOTIFY:
        snprintf(text, sizeof(text), "%s",
                 effect->reason == MYR_NOTICE_DRAIN_LIMIT
                     ? "more nodes have failed than may be drained without a person: approve, or "
                       "look"
                     : "a maintenance window was refused");
        break;
    default:
        return;
    }
    feed_notice(server, text);
    log_say("warning", "%s", text);
}

/* Only what is committed comes here. After a crash between the two the core orders it again. */
static void carry_out(struct server *server)
{
    size_t count = server->outbox.count;
    MYR_ASSERT(!server->stuck);
    for (size_t i = 0; i < count; i++) {
        /* A copy: the world may post, and the list may move. */
        const struct myr_effect effect = server->outbox.items[i];
        /* The node is told before people are. */
        server->world.effect(server, &effect);
        tell(server, &effect);
    }
    MYR_ASSERT(server->outbox.count == count); /* nothing is decided while it is carried out */
    server->outbox.count = 0;
}

/* Disk full, or gone: nothing was acted upon, and nothing will be until it is back. */
static int commit(struct server *server, struct myr_err *err)
{
    struct myr_err why = {};
    MYR_ASSERT(server->journal.len == 0); /* it is in the store, and waits there */
    int rc = store_commit(server->store, &why);
    if (rc == MYR_OK) {
        if (server->stuck) {
            MYR_PROBE("the store takes writes again");
            log_say("info", "the store takes writes again");
            feed_notice(server, "the store takes writes again");
        }
        server->stuck = false;
        server->commits++;
        return MYR_OK;
    }
    if (!server->stuck && !server->unheard) {
        log_say("error", "%s; read-only until it can be written", why.message);
    }
    MYR_PROBE("a commit fails, and is tried again");
    /* Rows and journal still wait in the store; desk_run() tries the same commit again. */
    server->stuck = true;
    snprintf(server->stuck_why, sizeof(server->stuck_why), "%.199s", why.message);
    return myr_err_set(err, MYR_EAWAY, "the store cannot be written: %s", why.message);
}

/*
 * The one place where events become decisions: taken, noted in rows and journal, committed, done.
 * An error means that nothing was acted upon and that the same commit is tried again.
 */
int desk_run(struct server *server, struct myr_err *err)
{
    char key[32];
    if (server->stuck) {
        /* What the core has taken waits to be written; nothing more is taken before. */
        uv_idle_stop(&server->idle);
        MYR_TRY(commit(server, err));
        carry_out(server);
    }
    /* Carrying out may post more (a world that answers at once): that is the next turn's. */
    size_t count = server->inbox.count;
    MYR_ASSERT(server->journal.len == 0 && server->outbox.count == 0);
    for (size_t i = 0; i < count; i++) {
        take(server, &server->inbox.items[i]);
    }
    if (count > 0) { /* else there may be no array at all */
        memmove(server->inbox.items, server->inbox.items + count,
                (server->inbox.count - count) * sizeof(*server->inbox.items));
        server->inbox.count -= count;
    }
    if (server->journal.len > 0) {
        journal_key(server->journal_next++, key);
        store_put(server->store, key, (struct myr_str){server->journal.data, server->journal.len});
        myr_buf_clear(&server->journal);
    }
    if (server->since_snapshot >= SNAPSHOT_EVENTS) {
        put_snapshot(server);
    }
    MYR_ASSERT(server->since_snapshot < SNAPSHOT_EVENTS);
    MYR_TRY(commit(server, err));
    carry_out(server);
    /* All that was taken is on the disk, and has been acted upon. */
    MYR_ASSERT(server->journal.len == 0 && server->outbox.count == 0);
    if (server->world.committed) {
        server->world.committed(server);
    }
    set_wake(server);
    return MYR_OK;
}

static void on_handle_closed(uv_handle_t *handle)
{
    (void)handle;
}

void desk_end(struct server *server)
{
    MYR_ASSERT(!uv_is_closing((uv_handle_t *)&server->check));
    MYR_ASSERT(server->outbox.count == 0 || server->stuck); /* what is kept was carried out */
    uv_close((uv_handle_t *)&server->wake, on_handle_closed);
    uv_close((uv_handle_t *)&server->check, on_handle_closed);
    uv_close((uv_handle_t *)&server->idle, on_handle_closed);
}

/* The store first: it gives up the lead, where there is one. */
void desk_free(struct server *server)
{
    store_close(server->store);
    starts_done(server);
    myr_control_free(server->control);
    rows_done(&server->rows);
    feed_done(&server->feed);
    config_done(&server->config);
    myr_vec_done(&server->inbox);
    myr_vec_done(&server->outbox);
    myr_vec_done(&server->to_ack);
    myr_buf_done(&server->journal);
}
