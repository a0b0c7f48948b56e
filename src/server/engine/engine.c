/*
 * engine: the interpreter between the core, which speaks of nodes, and a scheduler, which speaks of
 * jobs (engine.h). Orders are gathered while effects are carried out and given when all of them are
 * known; of what an engine sees the core hears the changes alone.
 */
#include "engine/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/fence.h"

enum {
    PORT_FIRST = 20000, /* of the ranks' rendezvous */
    PORT_COUNT = 10000,
    REASON = 160,
};

/* What was last said of a node. */
struct seen {
    bool known;
    bool drain_asked; /* and not yet seen on their side */
    uint8_t is;       /* enum engine_node_is */
    uint8_t hold;     /* enum myr_hold, as the core was told */
};

/* All nodes of a gang are stopped at once: one order for each incarnation. */
struct stop {
    uint32_t job, epoch, grace_s;
};

struct engine {
    const struct engine_ops *ops;
    void *own; /* the engine's */
    struct seen *nodes;
    MYR_VEC(uint32_t) starts; /* jobs whose gangs are to start, of this turn */
    MYR_VEC(struct stop) stops;
    bool away; /* its controller cannot be asked, which was said */
};

void engine_set_own(struct server *server, void *own)
{
    MYR_ASSERT(own && !server->engine->own); /* once, by the engine's begin */
    server->engine->own = own;
}

void *engine_own(const struct server *server)
{
    MYR_ASSERT(server->engine);
    return server->engine->own;
}

static void post(struct server *server, struct myr_event event)
{
    MYR_ASSERT(event.kind < MYR_EVENT_KINDS);
    desk_post(server, &event);
}

/* --- effects out --- */

/* Nobody looks into a node here: what its scheduler says of it is the test. */
static void answer_test(struct server *server, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->node < server->rows.node_count);
    MYR_ASSERT(effect->kind == MYR_EFFECT_TEST && effect->epoch > 0);
    uint8_t is = server->engine->nodes[effect->node].is;
    if (is == ENGINE_NODE_UP || is == ENGINE_NODE_HELD) {
        post(server, (struct myr_event){.kind = MYR_EVENT_TESTED,
                                        .node = effect->node,
                                        .boot = effect->boot,
                                        .epoch = effect->epoch});
    } /* else it joins anew when it is there */
}

/* Remembered until it is seen: nothing is started there meanwhile. */
static void ask_drain(struct server *server, uint32_t node, bool drain, const char *reason)
{
    struct engine *engine = server->engine;
    MYR_ASSERT(node < server->rows.node_count);
    MYR_ASSERT(engine->ops->node);
    engine->nodes[node].drain_asked = drain;
    engine->ops->node(server, node, drain, reason);
}

/* Orders are only gathered; on_committed() gives them when the turn is whole. */
static void on_effect(struct server *server, const struct myr_effect *effect)
{
    struct engine *engine = server->engine;
    MYR_ASSERT(effect->kind < MYR_EFFECT_KINDS);
    MYR_ASSERT(effect->node == MYR_NONE || effect->node < server->rows.node_count);
    switch ((enum myr_effect_kind)effect->kind) {
    case MYR_EFFECT_START: /* those of a gang come one behind the other */
        if (engine->starts.count == 0 ||
            engine->starts.items[engine->starts.count - 1] != effect->job) {
            myr_vec_push(&engine->starts, effect->job);
        }
        return;
    case MYR_EFFECT_STOP: {
        struct stop *last =
            engine->stops.count ? &engine->stops.items[engine->stops.count - 1] : NULL;
        if (!last || last->job != effect->job || last->epoch != effect->epoch) {
            myr_vec_push(&engine->stops,
                         (struct stop){effect->job, effect->epoch, effect->grace_s});
        }
        return;
    }
    case MYR_EFFECT_TEST:
        answer_test(server, effect);
        return;
    case MYR_EFFECT_FENCE:
        fence_node(server, effect);
        return;
    case MYR_EFFECT_REPAIR:
        /* Where it is held or away already there is nothing to take from it. */
        if (engine->nodes[effect->node].is == ENGINE_NODE_UP) {
            ask_drain(server, effect->node, true, "jobs failed there again and again");
        }
        return;
    default:
        return;
    }
}

/* False: not now. A node that others have gives its place in the gang up. */
static bool may_start(struct server *server, const struct myr_control_rank *ranks, uint32_t count)
{
    MYR_ASSERT(ranks && count > 0);
    bool may = true;
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(ranks[i].node < server->rows.node_count);
        struct seen *seen = &server->engine->nodes[ranks[i].node];
        if (seen->is == ENGINE_NODE_HELD || seen->drain_asked) {
            /* Not only nothing new: what was to start there is placed elsewhere. */
            seen->hold = MYR_HOLD_ALL;
            post(server, (struct myr_event){
                             .kind = MYR_EVENT_HOLD, .node = ranks[i].node, .code = MYR_HOLD_ALL});
        }
        may = may && seen->is == ENGINE_NODE_UP && !seen->drain_asked;
    }
    return may;
}

/* By the core's present state and not by the effect: much may have changed within the turn. */
static void start(struct server *server, uint32_t id)
{
    MYR_ASSERT(id < myr_control_jobs(server->control));
    struct myr_control_job job = myr_control_job(server->control, id);
    const struct job_row *row = rows_job(server, id);
    if (!row || job.state != MYR_CONTROL_STARTING) {
        return; /* taken back in the same turn */
    }
    MYR_CLEANUP(myr_free_at)
    struct myr_control_rank *ranks = myr_xcalloc(job.nodes, sizeof(*ranks));
    struct engine_gang gang = {.job = id,
                               .epoch = job.epoch,
                               .world = job.gpus,
                               .row = row,
                               .shares = ranks,
                               .count =
                                   myr_control_job_ranks(server->control, id, ranks, job.nodes)};
    /* In the state 'starting' the core has placed all of it. */
    MYR_ASSERT(gang.count == job.nodes && gang.count > 0);
    MYR_ASSERT(gang.epoch > 0);
    if (may_start(server, ranks, gang.count)) {
        /* Each start another one: what is left of the last may still have its own. */
        gang.port =
            (uint16_t)(PORT_FIRST + myr_hash_u64((uint64_t)id << 32 | job.epoch) % PORT_COUNT);
        server->engine->ops->start(server, &gang);
    }
}

/* Every turn, also one without orders. */
static void on_committed(struct server *server)
{
    struct engine *engine = server->engine;
    size_t stops = engine->stops.count, starts = engine->starts.count;
    MYR_ASSERT(!server->stuck); /* what is ordered was kept */
    /* Stops first: what is to start may wait for what they free. */
    for (size_t i = 0; i < stops; i++) {
        const struct stop stop = engine->stops.items[i];
        MYR_ASSERT(stop.epoch > 0); /* what never began is not stopped */
        engine->ops->stop(server, stop.job, stop.epoch, stop.grace_s);
    }
    for (size_t i = 0; i < starts; i++) {
        start(server, engine->starts.items[i]);
    }
    /* Orders are the core's, which decides nothing while they are given: none is lost here. */
    MYR_ASSERT(engine->stops.count == stops && engine->starts.count == starts);
    engine->stops.count = engine->starts.count = 0;
}

static int on_submit(struct server *server, const struct myr_job_spec *spec,
                     const struct job_row *row, struct myr_err *err)
{
    const struct engine_ops *ops = server->engine->ops;
    MYR_ASSERT(ops && ops->start); /* there is an engine */
    return ops->submit ? ops->submit(server, spec, row, err) : MYR_OK;
}

static bool on_fetch(struct server *server, const struct question *question, void *whom)
{
    MYR_ASSERT(server->engine->ops->fetch && question);
    return server->engine->ops->fetch(server, question, whom);
}

/* Nodes here are real, and somebody else's. */
static int on_inject(struct server *server, uint32_t node, const char *fault, struct myr_err *err)
{
    (void)server;
    (void)node;
    (void)fault;
    return myr_err_set(err, MYR_EDENIED,
                       "faults are put only into a simulated world (world: twin)");
}

static void on_drain(struct server *server, uint32_t node, bool drain, const char *reason)
{
    ask_drain(server, node, drain, reason);
}

/* The takeover comes before anything is seen: the core gives nodes time to be there. */
int engine_begin(struct server *server, const struct engine_ops *ops, struct myr_err *err)
{
    MYR_ASSERT(!server->engine && ops->begin && ops->start && ops->stop && ops->node && ops->end);
    struct engine *engine = myr_xcalloc(1, sizeof(*engine));
    engine->ops = ops;
    engine->nodes = myr_xcalloc(server->rows.node_count, sizeof(*engine->nodes));
    server->engine = engine;
    MYR_ASSERT(server->rows.node_count > 0);
    server->world =
        (struct world){on_committed, on_effect, on_submit, on_fetch, on_inject, on_drain, NULL};
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TAKEOVER});
    return ops->begin(server, err);
}

void engine_second(struct server *server)
{
    MYR_ASSERT(server->engine && !server->stopping);
    if (server->engine->ops->second) {
        server->engine->ops->second(server);
    }
}

void engine_end(struct server *server)
{
    MYR_ASSERT(server->engine && server->engine->ops->end);
    server->engine->ops->end(server);
}

void engine_free(struct engine *engine)
{
    if (engine) {
        MYR_ASSERT(engine->ops && engine->nodes);
        myr_vec_done(&engine->starts);
        myr_vec_done(&engine->stops);
        free(engine->nodes);
        free(engine);
    }
}

/* --- events in --- */

/* A boot of its own making: nodes without an agent have none to tell. */
static void join(struct server *server, uint32_t node)
{
    MYR_ASSERT(node < server->rows.node_count);
    server->rows.nodes[node].boot = myr_control_node(server->control, node).boot + 1;
    rows_put_node(server, node);
    post(server, (struct myr_event){
                     .kind = MYR_EVENT_JOIN, .node = node, .boot = server->rows.nodes[node].boot});
}

/* It is there: new, given back, or heard again. */
static void be_there(struct server *server, uint32_t node, const struct seen *was)
{
    struct myr_control_node core = myr_control_node(server->control, node);
    MYR_ASSERT(was->is <= ENGINE_NODE_DOWN);
    /* The core expects nothing of it any more: only a new boot brings it back. */
    bool given_up = core.state == MYR_NODE_REPAIR ||
                    (core.state == MYR_NODE_SUSPECT && !core.silent && core.ranks == 0);
    /* New to the core, given up by the scheduler, or given up by the core: it joins anew. */
    if (core.boot == 0 || (was->known && was->is == ENGINE_NODE_DOWN) ||
        (given_up && (!was->known || was->is != ENGINE_NODE_UP))) {
        join(server, node);
    } else if (core.silent || was->is == ENGINE_NODE_SILENT || was->is == ENGINE_NODE_ABSENT) {
        post(server, (struct myr_event){.kind = MYR_EVENT_BACK, .node = node, .boot = core.boot});
    }
}

/* A gang is to start there, and has not yet. */
static bool is_awaited(const struct server *server, uint32_t node)
{
    MYR_ASSERT(node < server->rows.node_count);
    struct myr_control_rank ranks[64];
    uint32_t count = myr_control_node_ranks(server->control, node, ranks, 64);
    for (uint32_t i = 0; i < count && i < 64; i++) {
        if (!ranks[i].old && !ranks[i].up &&
            myr_control_job(server->control, ranks[i].job).state == MYR_CONTROL_STARTING) {
            return true;
        }
    }
    return false;
}

/* The core is told edges; after a start it may know more than we do. */
static void be_held(struct server *server, uint32_t node, struct seen *seen, bool held)
{
    MYR_ASSERT(node < server->rows.node_count && seen->hold < MYR_HOLDS);
    enum myr_node_state state = myr_control_node(server->control, node).state;
    /* A hold from before our start may be over by now: it is said once, even as none. */
    bool unsure = !seen->known && (state == MYR_NODE_DRAINED || state == MYR_NODE_DRAINING);
    uint8_t hold = !held                      ? MYR_HOLD_NONE
                   : is_awaited(server, node) ? MYR_HOLD_ALL
                   : seen->hold               ? seen->hold
                                              : MYR_HOLD_NEW;
    if (hold != seen->hold || unsure) {
        post(server, (struct myr_event){.kind = MYR_EVENT_HOLD, .node = node, .code = hold});
        seen->hold = hold;
    }
    MYR_ASSERT(held == (seen->hold != MYR_HOLD_NONE));
}

/* Down is certain, and its ranks are over; silent is not, and strict jobs wait. */
static void be_away(struct server *server, uint32_t node, const struct seen *was, uint8_t is)
{
    MYR_ASSERT(is != ENGINE_NODE_UP && is != ENGINE_NODE_HELD);
    struct myr_control_node core = myr_control_node(server->control, node);
    if (core.boot == 0 || (was->known && was->is == is)) {
        return;
    }
    if (is == ENGINE_NODE_DOWN) {
        post(server, (struct myr_event){.kind = MYR_EVENT_SYMPTOM,
                                        .node = node,
                                        .boot = core.boot,
                                        .code = MYR_SYMPTOM_FAILED});
    } else {
        post(server, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = node});
    }
}

/* The reason that is shown of a node: a person's goes before the scheduler's. */
static void note_words(struct server *server, uint32_t node, const struct engine_node *now)
{
    MYR_ASSERT(node < server->rows.node_count);
    struct node_row *row = &server->rows.nodes[node];
    const char *reason = now->reason ? now->reason : "";
    /* What a person said here stays until that person takes it back. */
    if (row->reason[0] == '\0' || row->reason_theirs) {
        row->reason_theirs = reason[0] != '\0';
        snprintf(row->reason, sizeof(row->reason), "%.*s", REASON - 1, reason);
    }
}

/* Called with every look, for every node: only what differs from before becomes an event. */
void engine_node(struct server *server, uint32_t node, const struct engine_node *now)
{
    MYR_ASSERT(node < server->rows.node_count && now->is <= ENGINE_NODE_DOWN);
    struct seen *seen = &server->engine->nodes[node], was = *seen;
    MYR_ASSERT(was.known || was.is == ENGINE_NODE_ABSENT); /* nothing was said of it */
    const struct node_row *row = &server->rows.nodes[node];
    bool there = now->is == ENGINE_NODE_UP || now->is == ENGINE_NODE_HELD;
    /* As before: nothing for the core to hear, but the words may have changed. */
    if (was.known && was.is == now->is && !was.drain_asked) {
        note_words(server, node, now);
        return;
    }
    if (!was.known && now->is == ENGINE_NODE_UP && row->reason[0] && !row->reason_theirs) {
        ask_drain(server, node, true, row->reason); /* a person did, and it was not carried out */
    }
    note_words(server, node, now);
    if (now->is == ENGINE_NODE_HELD) {
        /* It has come about; from here on it is a hold like any other. */
        seen->drain_asked = false;
    }
    if (there) {
        be_there(server, node, &was);
        be_held(server, node, seen, now->is == ENGINE_NODE_HELD || seen->drain_asked);
    } else {
        be_away(server, node, &was, (uint8_t)now->is);
    }
    seen->known = true;
    seen->is = (uint8_t)now->is;
}

/* Kept with the next change of the row: words alone are no reason to write. */
MYR_PRINTF(3, 4)
static void note_why(struct server *server, uint32_t job, const char *fmt, ...)
{
    struct job_row *row = rows_job(server, job);
    va_list args;
    va_start(args, fmt);
    if (row) {
        vsnprintf(row->reason, sizeof(row->reason), fmt, args);
    }
    va_end(args);
}

/* One event for each part of a gang: the present incarnation's, and with 'older' those before. */
struct told {
    enum myr_event_kind kind;
    uint32_t job, epoch, node;
    uint8_t code;
    bool older;
};

/* The scheduler speaks of a job, the core of its parts: the same is said of each. */
static void tell_parts(struct server *server, const struct told *told)
{
    MYR_ASSERT(told->kind >= MYR_EVENT_STARTED && told->kind <= MYR_EVENT_EXIT);
    MYR_ASSERT(told->node == MYR_NONE || told->node < server->rows.node_count);
    const struct engine *engine = server->engine;
    uint32_t slots = myr_control_ranks(server->control);
    for (uint32_t i = 0; i < slots; i++) {
        struct myr_control_rank rank = myr_control_rank(server->control, i);
        bool meant = rank.used && rank.job == told->job &&
                     (told->older ? rank.epoch <= told->epoch : rank.epoch == told->epoch) &&
                     (told->node == MYR_NONE || rank.node == told->node);
        /* A slot that is not used has no node: the first stands in for it, and 'meant' is false. */
        MYR_ASSERT(!rank.used || rank.node < server->rows.node_count);
        bool unheard = engine->nodes[rank.used ? rank.node : 0].is == ENGINE_NODE_SILENT;
        if (!meant || (told->older && unheard)) {
            continue; /* of a node that is not heard nobody knows what runs there */
        }
        post(server, (struct myr_event){.kind = (uint8_t)told->kind,
                                        .node = rank.node,
                                        .job = told->job,
                                        .epoch = rank.epoch,
                                        .code = told->code,
                                        .boot = myr_control_node(server->control, rank.node).boot});
    }
}

/* Words only where it failed; the core decides whose fault it was by the code. */
void engine_started(struct server *server, uint32_t job, uint32_t epoch, uint32_t node,
                    enum myr_start code, const char *why)
{
    MYR_ASSERT(code != MYR_START_OK || !why); /* what went well needs no words */
    if (code != MYR_START_OK && why) {
        note_why(server, job, "%s", why);
        log_say("warning", "job %u did not start: %s", job, why);
    }
    tell_parts(server, &(struct told){MYR_EVENT_STARTED, job, epoch, node, (uint8_t)code, false});
}

void engine_exited(struct server *server, uint32_t job, uint32_t epoch, uint32_t node, bool bad,
                   const char *why)
{
    if (bad && why) {
        note_why(server, job, "%s", why);
    }
    tell_parts(server, &(struct told){MYR_EVENT_EXIT, job, epoch, node, bad, false});
}

void engine_gone(struct server *server, uint32_t job, uint32_t epoch, uint32_t node)
{
    tell_parts(server, &(struct told){MYR_EVENT_STOPPED, job, epoch, node, 0, true});
}

/* A step that is no step: the same numbers again, as a sign of life. */
void engine_runs(struct server *server, uint32_t job, uint32_t epoch)
{
    MYR_ASSERT(job < myr_control_jobs(server->control));
    struct myr_control_job is = myr_control_job(server->control, job);
    struct myr_control_rank rank = {.node = MYR_NONE};
    if (myr_control_job_ranks(server->control, job, &rank, 1) > 0 && rank.epoch == epoch) {
        post(server, (struct myr_event){.kind = MYR_EVENT_STEP,
                                        .node = rank.node,
                                        .boot = myr_control_node(server->control, rank.node).boot,
                                        .job = job,
                                        .epoch = epoch,
                                        .value = is.step,
                                        .saved = is.saved_step});
    }
}

/* One that is over here already needs no second end. */
void engine_cancelled(struct server *server, uint32_t job, const char *why)
{
    const struct job_row *row = rows_job(server, job);
    MYR_ASSERT(why);
    if (row && row->state < MYR_CONTROL_DONE) {
        note_why(server, job, "%s", why);
        log_say("info", "job %u: %s", job, why);
        post(server, (struct myr_event){.kind = MYR_EVENT_CANCEL, .job = job});
    }
}

void engine_waits(struct server *server, uint32_t job, const char *why)
{
    const struct job_row *row = rows_job(server, job);
    MYR_ASSERT(why);
    if (row && (row->state == MYR_CONTROL_STARTING || row->state == MYR_CONTROL_RUNNING)) {
        note_why(server, job, "%s", why);
    }
}

/* Nothing is concluded about nodes or jobs: they go on without their controller. */
void engine_away(struct server *server, const char *why)
{
    struct engine *engine = server->engine;
    MYR_ASSERT(engine && engine->ops->name);
    char text[280];
    /* Said when it changes, not with every look. */
    if ((why != NULL) == engine->away) {
        return;
    }
    engine->away = why != NULL;
    snprintf(text, sizeof(text), "%s: %.200s", engine->ops->name,
             why ? why : "its controller answers again");
    log_say(why ? "error" : "info", "%s", text);
    feed_notice(server, text);
}

/* False too for a number that the core never gave. */
bool engine_wants(const struct server *server, uint32_t job, uint32_t epoch)
{
    if (job >= myr_control_jobs(server->control)) {
        return false;
    }
    struct myr_control_job is = myr_control_job(server->control, job);
    return is.epoch == epoch && is.state >= MYR_CONTROL_STARTING && is.state < MYR_CONTROL_DONE;
}

/* Of the present incarnation; what is left of older ones does not count. */
bool engine_whole(const struct server *server, uint32_t job)
{
    uint32_t slots = myr_control_ranks(server->control);
    MYR_ASSERT(server->engine && server->engine->nodes);
    for (uint32_t i = 0; i < slots; i++) {
        struct myr_control_rank rank = myr_control_rank(server->control, i);
        MYR_ASSERT(!rank.used || rank.node < server->rows.node_count);
        bool ours = rank.used && rank.job == job && !rank.old;
        uint8_t is = server->engine->nodes[ours ? rank.node : 0].is;
        if (ours && is != ENGINE_NODE_UP && is != ENGINE_NODE_HELD) {
            return false;
        }
    }
    return true;
}

/* Looks at the core first, as every start does. */
void engine_again(struct server *server, uint32_t job)
{
    if (job < myr_control_jobs(server->control)) {
        start(server, job);
    }
}
