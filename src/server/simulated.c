/*
 * simulated: the other world: nodes, agents and ranks of the twin behind the same API. What the
 * core wants done goes to them, and what happens to them comes back, as from real ones.
 */
#include <stdlib.h>
#include <string.h>

#include "myriad/twin.h"
#include "server.h"

enum {
    TURN_MS = 20, /* of the wall: the world is not looked at more often, unless it goes fast */
    /*
     * Of the world: so far its clock goes in one turn of the desk beyond what happens next. A day
     * in a minute on a slow machine would else have minutes pass while a thousand nodes join, and
     * each of them were late with everything that it was asked for. The clock goes slower instead.
     */
    STEP_MS = 5000,
};

/* A world and what it was made of; the arena holds what the scenario points to. */
struct simulated {
    struct server *server;
    struct myr_live *live; /* the world */
    struct myr_arena arena;
    struct myr_scenario scenario;
    uv_timer_t timer; /* to the next thing that happens there */
};

static void set_timer(struct simulated *simulated);

/* When it happened there does not matter: the desk stamps events as they are taken. */
static void on_event(void *context, int64_t at_ms, const struct myr_event *event)
{
    MYR_ASSERT(context && event->kind < MYR_EVENT_KINDS);
    struct simulated *simulated = context;
    (void)at_ms;
    desk_post(simulated->server, event);
}

/* What has happened there up to the core's time is posted; the desk takes it in this turn. */
static void on_timer(uv_timer_t *timer)
{
    struct simulated *simulated = timer->data;
    MYR_ASSERT(simulated->live && simulated->server->simulated == simulated);
    myr_live_advance(simulated->live, core_ms(simulated->server), on_event, simulated);
    /* Not once a second: that is a quarter of an hour where time goes a thousand times as fast. */
    if (core_ms(simulated->server) >= simulated->server->overdue_ms) {
        simulated->server->end_overdue(simulated->server);
    }
    set_timer(simulated);
}

/* When the world, or who directs it, next has something to do; now, where something waits. */
static int64_t next_of_all(const struct simulated *simulated, int64_t now_ms)
{
    MYR_ASSERT(simulated->live);
    const struct server *server = simulated->server;
    int64_t world_ms = myr_live_next_ms(simulated->live);
    int64_t core_next_ms = myr_control_wake_ms(server->control);
    int64_t next_ms = world_ms < core_next_ms ? world_ms : core_next_ms;
    next_ms = server->overdue_ms < next_ms ? server->overdue_ms : next_ms;
    return server->inbox.count > 0 || next_ms < now_ms ? now_ms : next_ms;
}

/* To the next moment at which something happens, by the speed of the simulated time. */
static void set_timer(struct simulated *simulated)
{
    struct server *server = simulated->server;
    int64_t now_ms = core_ms(server), next_ms = next_of_all(simulated, now_ms);
    MYR_ASSERT(server->config.speed > 0);
    /* A day at the most: the world may never want to be looked at again. */
    int64_t far_ms = now_ms + (int64_t)(86400e3 * server->config.speed);
    next_ms = next_ms < far_ms ? next_ms : far_ms;
    MYR_ASSERT(next_ms >= now_ms); /* the clock is never set back */
    server->clock_most_ms = next_ms + STEP_MS;
    double wait_ms = (double)(next_ms - twin_wanted_ms(server)) / server->config.speed;
    /*
     * At high speed the world must be looked at more often than every TURN_MS, or it would fall
     * behind.
     */
    double least_ms = STEP_MS / server->config.speed;
    least_ms = least_ms < TURN_MS ? least_ms : TURN_MS;
    wait_ms = wait_ms > least_ms ? wait_ms : least_ms;
    /* Never at once: libuv takes timers until none is due, and would hear nobody any more. */
    uv_timer_start(&simulated->timer, on_timer, (uint64_t)(wait_ms > 1 ? wait_ms : 1), 0);
}

/* Decided now: an order that left when the world was last looked at would be carried out before. */
static void effect(struct server *server, const struct myr_effect *what)
{
    MYR_ASSERT(server->simulated->live);
    myr_live_pass(server->simulated->live, core_ms(server));
    myr_live_effect(server->simulated->live, what);
}

/* What the core has just decided may be due before what the timer was set for. */
static void committed(struct server *server)
{
    MYR_ASSERT(server->simulated && server->simulated->live);
    set_timer(server->simulated);
}

/* What 'twin' of the job file says; the rest is as for every simulated job. */
static struct myr_live_run run_of(const struct job_row *row)
{
    struct myr_live_run run = myr_live_run_default();
    run.work_ms = (int64_t)(row->twin_hours * 3600e3);
    run.step_ms = (int64_t)(row->twin_step_s * 1e3);
    return run;
}

static int submit(struct server *server, const struct myr_job_spec *spec, const struct job_row *row,
                  struct myr_err *err)
{
    MYR_ASSERT(server->simulated->live && row);
    struct myr_live_run run = run_of(row);
    return myr_live_submit(server->simulated->live, spec, &run, err);
}

/* All ranks print the same there, and of the last incarnation alone. */
static bool fetch(struct server *server, const struct question *question, void *whom)
{
    MYR_ASSERT(server->simulated->live);
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint64_t next = myr_live_log(server->simulated->live, question->job, question->offset, &text);
    uint64_t from = next >= text.len ? next - text.len : question->offset;
    const struct job_row *row = rows_job(server, question->job);
    MYR_ASSERT(row); /* who asks has looked for it */
    /* It made steps, and so it printed: that went with the world before this one. */
    bool gone = next == 0 && row->state >= MYR_CONTROL_DONE &&
                rows_job_view(server, question->job).step > 0;
    http_output(whom, &(struct output){.offset = from,
                                       .size = next,
                                       .ended = row->state >= MYR_CONTROL_DONE,
                                       .data = {text.data ? text.data : "", text.len},
                                       .problem = gone ? OUTPUT_GONE_WITH_WORLD : NULL,
                                       .gone = gone});
    return true;
}

static int inject(struct server *server, uint32_t node, const char *fault, struct myr_err *err)
{
    MYR_ASSERT(server->simulated->live && fault);
    myr_live_pass(server->simulated->live, core_ms(server));
    MYR_TRY(myr_live_inject(server->simulated->live, node, fault, err));
    set_timer(server->simulated);
    return MYR_OK;
}

/* In the words of a scenario file, which needs jobs: the one that it names is never submitted. */
static int make_scenario(const struct simulated *simulated, struct myr_arena *arena,
                         struct myr_scenario *ret, struct myr_err *err)
{
    const struct config *config = &simulated->server->config;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_ASSERT(config->node_count > 0 && config->nodes_per_leaf > 0 && config->gpus_per_node > 0);
    /* A world that only shows that it starts would never end if a node of it broke meanwhile. */
    bool faults = strcmp(config->faults, "none") != 0 && !simulated->server->once;
    myr_buf_printf(&text,
                   "name: live\ncluster: {nodes: %u, gpus_per_node: %u, leaf_nodes: %u}\ndays: 1\n"
                   "practice: best\n",
                   config->node_count, config->gpus_per_node,
                   config->nodes_per_leaf < config->node_count ? config->nodes_per_leaf
                                                               : config->node_count);
    if (faults) {
        myr_buf_printf(&text, "faults: {rate: %s, times: drawn}\n", config->faults);
    }
    myr_buf_puts(&text, "jobs:\n  - {count: 1, gpus: 1, hours: 1}\n");
    return myr_scenario_parse(ret, arena, "myriad.yaml", (struct myr_str){text.data, text.len},
                              err);
}

/* Jobs that are not over are known there before the state is taken over. */
static int adopt(struct simulated *simulated, struct myr_err *err)
{
    MYR_ASSERT(simulated->live && simulated->server->control);
    struct server *server = simulated->server;
    for (uint32_t id = 0; id < myr_control_jobs(server->control); id++) {
        const struct job_row *row = rows_job(server, id);
        struct myr_control_job job = rows_job_view(server, id);
        if (row && job.state < MYR_CONTROL_DONE) {
            MYR_TRY(submit(server, &job.spec, row, err));
        }
    }
    return myr_live_adopt(simulated->live, server->control, err);
}

/* Each start of a world is drawn anew; what it draws is of no consequence for what is kept. */
static int make_world(struct simulated *simulated, struct myr_err *err)
{
    struct server *server = simulated->server;
    MYR_ASSERT(!simulated->live);
    myr_arena_init(&simulated->arena);
    MYR_TRY(make_scenario(simulated, &simulated->arena, &simulated->scenario, err));
    MYR_TRY(myr_live_create(&simulated->scenario, (uint64_t)wall_ms(), core_ms(server),
                            &simulated->live, err));
    return adopt(simulated, err);
}

/* One that was not made to its end is taken too. */
static void end_world(struct simulated *simulated)
{
    myr_live_free(simulated->live);
    myr_scenario_done(&simulated->scenario);
    myr_arena_done(&simulated->arena);
    simulated->live = NULL;
}

/* As at a restart of the server: a new world takes over what runs. */
int simulated_grow(struct server *server, struct myr_err *err)
{
    struct simulated *simulated = server->simulated;
    /* Kept until the new world stands: where it cannot be made, the old one goes on. */
    struct simulated before = *simulated;
    MYR_ASSERT(before.live);
    simulated->live = NULL;
    simulated->scenario = (struct myr_scenario){};
    int rc = make_world(simulated, err);
    if (rc < 0) {
        end_world(simulated);
        simulated->live = before.live;
        simulated->scenario = before.scenario;
        simulated->arena = before.arena;
        return rc;
    }
    MYR_ASSERT(simulated->live && simulated->live != before.live);
    end_world(&before);
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TAKEOVER});
    set_timer(simulated);
    return MYR_OK;
}

/* The world is made from the core's state: what runs there goes on in it. */
int simulated_begin(struct server *server, struct myr_err *err)
{
    MYR_ASSERT(!server->simulated && server->config.twin);
    struct simulated *simulated = myr_xcalloc(1, sizeof(*simulated));
    server->simulated = simulated;
    simulated->server = server;
    server->world = (struct world){committed, effect, submit, fetch, inject, NULL, NULL};
    MYR_TRY(make_world(simulated, err));
    uv_timer_init(&server->loop, &simulated->timer);
    simulated->timer.data = simulated;
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TAKEOVER});
    set_timer(simulated);
    return MYR_OK;
}

static void on_closed(uv_handle_t *handle)
{
    struct simulated *simulated = handle->data;
    MYR_ASSERT(simulated->server->simulated == simulated);
    end_world(simulated);
    simulated->server->simulated = NULL;
    free(simulated);
}

void simulated_end(struct server *server)
{
    MYR_ASSERT(server->simulated && server->simulated->server == server);
    uv_close((uv_handle_t *)&server->simulated->timer, on_closed);
}
