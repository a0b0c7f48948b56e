/*
 * api_nodes: nodes as lists, one by one, and as a picture of one byte a GPU; draining and resuming.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "link.h"

enum { NODE_JOBS = 64 }; /* as many as a node can have GPUs */

/* What one byte of the frame says of a GPU. */
enum shade {
    SHADE_UNKNOWN, /* never seen, or not fit yet */
    SHADE_FREE,
    SHADE_BUSY, /* its job runs */
    SHADE_STARTING,
    SHADE_CHANGING, /* saving, recovering */
    SHADE_SUSPECT,  /* something was reported of it */
    SHADE_DRAINING,
    SHADE_DRAINED,
    SHADE_REPAIR,
    SHADE_SILENT, /* not heard */
};

/* One node as lists have it. Lists lie in the arena. */
static struct said_node shown(const struct server *server, uint32_t id, struct myr_arena *arena)
{
    MYR_ASSERT(id < server->rows.node_count && server->config.nodes_per_leaf > 0);
    const struct node_row *row = &server->rows.nodes[id];
    struct myr_control_node node = myr_control_node(server->control, id);
    struct myr_control_rank ranks[NODE_JOBS];
    uint32_t count = myr_control_node_ranks(server->control, id, ranks, NODE_JOBS), jobs = 0;
    uint64_t busy = 0;
    /* It says how many there are, and fills in as many as fit. */
    count = count < NODE_JOBS ? count : NODE_JOBS;
    uint32_t *ids = MYR_ARENA_NEW(arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        busy |= ranks[i].gpus;
        /* Ranks of one job come one behind the other; it is named once. */
        if (i == 0 || ranks[i].job != ranks[i - 1].job) {
            ids[jobs++] = ranks[i].job;
        }
    }
    return (struct said_node){.id = id,
                              .name = row->name,
                              .state = myr_node_state_name(node.state),
                              .silent = node.silent,
                              .gpus = server->config.gpus_per_node,
                              .busy = (uint32_t)__builtin_popcountll(busy),
                              /* Nodes are numbered leaf by leaf. */
                              .leaf = id / server->config.nodes_per_leaf,
                              .boot = node.boot,
                              .kind = row->kind,
                              .jobs = {ids, jobs}};
}

/* NULL is no choice, and fits. A word that is no state would else look like an empty answer. */
static int check_state(const char *state, struct myr_err *err)
{
    /* All of them, for the nearest where none fits. */
    const char *names[MYR_NODE_STATES];
    char near[80];
    for (int i = 0; i < MYR_NODE_STATES; i++) {
        names[i] = myr_node_state_name((enum myr_node_state)i);
        if (!state || strcmp(state, names[i]) == 0) {
            return MYR_OK;
        }
    }
    myr_str_nearest(myr_str_from(state), names, MYR_NODE_STATES, near, sizeof(near));
    return myr_err_set(
        err, MYR_EINVAL,
        "'%.40s' is no state of a node; healthy, suspect, drained and others are%s%s", state,
        near[0] ? "; perhaps " : "", near);
}

static void put_nodes(const struct server *server, const char *state, struct myr_buf *ret)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    uint32_t count = 0, all = server->rows.node_count;
    struct said_node *nodes = MYR_ARENA_NEW(&arena, struct said_node, all + 1);
    MYR_ASSERT(all == myr_control_nodes(server->control)); /* the same ones */
    for (uint32_t id = 0; id < all; id++) {
        struct myr_control_node node = myr_control_node(server->control, id);
        if (!state || strcmp(state, myr_node_state_name(node.state)) == 0) {
            nodes[count++] = shown(server, id, &arena);
        }
    }
    api_give(&said_nodes_record, &(struct said_nodes){{nodes, count}}, ret);
}

int api_nodes(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    const struct server *server = request->server;
    struct http *http = server->http;
    const char *state = request_arg(request, "state");
    MYR_TRY(check_state(state, err));
    /* A choice is made each time; only the whole list is worth keeping. */
    if (state) {
        put_nodes(server, state, ret);
        return MYR_OK;
    }
    /*
     * Pages ask again and again: the list is made anew only when an event or a row has changed it.
     */
    if (http->nodes.len == 0 || http->nodes_events != server->events ||
        http->nodes_changes != server->node_changes) {
        myr_buf_clear(&http->nodes);
        put_nodes(server, NULL, &http->nodes);
        http->nodes_events = server->events;
        http->nodes_changes = server->node_changes;
    }
    myr_buf_put(ret, http->nodes.data, http->nodes.len);
    return MYR_OK;
}

/* 'heard_s' is -1 where nothing was heard since the server began. */
static struct said_node_whole whole(const struct server *server, uint32_t id,
                                    struct myr_arena *arena)
{
    const struct node_row *row = &server->rows.nodes[id];
    struct said_node node = shown(server, id, arena);
    struct said_node_whole said = {
        .address = row->address,
        .reason = row->reason,
        .revoked = row->revoked,
        .heard_s = row->heard_ms ? (double)(steady_ms() - row->heard_ms) / 1e3 : -1,
        .inventory = {.cpus = row->cpus,
                      .memory_bytes = row->memory_bytes,
                      .gpus = row->gpus,
                      .gpu_kind = row->kind,
                      .serial = row->board}};
    memcpy(&said, &node, offsetof(struct said_node_whole, address)); /* it begins with those */
    return said;
}
_Static_assert(offsetof(struct said_node_whole, address) == sizeof(struct said_node),
               "a whole node begins as one of a list");

static void put_one(const struct server *server, uint32_t id, struct myr_buf *ret)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct said_node_whole said = whole(server, id, &arena);
    api_give(&said_node_whole_record, &said, ret);
}

int api_node(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    uint32_t id;
    MYR_TRY(request_node(request, &id, err));
    put_one(request->server, id, ret);
    return MYR_OK;
}

/* The nodes of a list, gpu-[01-08,12]: all of them, or nothing is done. */
static int nodes_of(const struct request *request, uint32_t **ret, uint32_t *ret_count,
                    struct myr_err *err)
{
    char **names;
    uint32_t count;
    MYR_TRY(names_expand(request->words[2], &names, &count, err));
    uint32_t *ids = myr_xcalloc(count, sizeof(*ids));
    int rc = MYR_OK;
    for (uint32_t i = 0; i < count && rc == MYR_OK; i++) {
        ids[i] = rows_node(request->server, names[i]);
        /* The first one that is not there is named. */
        rc = ids[i] == MYR_NONE ? myr_err_set(err, MYR_ENOENT, "no node '%.70s'", names[i]) : rc;
    }
    names_free(names, count);
    if (rc < 0) {
        free(ids);
        return rc;
    }
    MYR_ASSERT(count > 0); /* an empty list is no list of names */
    *ret = ids;
    *ret_count = count;
    return MYR_OK;
}

/* One commit for the whole list; a scheduler below is told when that is kept. */
static int change(struct request *request, enum myr_event_kind kind, const char *reason, bool said,
                  struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    MYR_CLEANUP(myr_free_at) uint32_t *ids = NULL;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    uint32_t count = 0;
    MYR_ASSERT(kind == MYR_EVENT_DRAIN || kind == MYR_EVENT_UNDRAIN);
    /* The whole list is looked up before anything is changed. */
    MYR_TRY(nodes_of(request, &ids, &count, err));
    MYR_TRY(api_writable(server, err));
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(ids[i] < server->rows.node_count);
        struct node_row *node = &server->rows.nodes[ids[i]];
        enum myr_node_state state = myr_control_node(server->control, ids[i]).state;
        bool again = state == MYR_NODE_DRAINING || state == MYR_NODE_DRAINED;
        /* Drained once more without a word: why it was drained stands. */
        if (said || !again || !node->reason[0] || node->reason_theirs) {
            snprintf(node->reason, sizeof(node->reason), "%s", reason);
        }
        node->reason_theirs = false;
        rows_put_node(server, ids[i]);
        desk_post(server, &(struct myr_event){.kind = (uint8_t)kind, .node = ids[i]});
    }
    MYR_TRY(desk_run(server, err));
    for (uint32_t i = 0; server->world.drain && i < count; i++) {
        server->world.drain(server, ids[i], kind == MYR_EVENT_DRAIN,
                            server->rows.nodes[ids[i]].reason);
    }
    /* One node is answered as GET answers it. */
    if (count == 1) {
        put_one(server, ids[0], ret);
        return MYR_OK;
    }
    struct said_node_whole *nodes = MYR_ARENA_NEW(&arena, struct said_node_whole, count);
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = whole(server, ids[i], &arena);
    }
    api_give(&said_nodes_whole_record, &(struct said_nodes_whole){{nodes, count}}, ret);
    return MYR_OK;
}

/* Without a reason the word 'drained' stands for it. */
int api_drain(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    char text[160];
    struct ask_drain ask;
    MYR_TRY(api_take(request_body(request), &ask_drain_record, &arena, &ask, err));
    /* Who drained it stands in front of why. */
    snprintf(text, sizeof(text), "%.30s: %s", request->who.user,
             ask.reason[0] ? ask.reason : "drained");
    return change(request, MYR_EVENT_DRAIN, text, ask.reason[0] != '\0', ret, err);
}

/* The reason goes with the drain. */
int api_resume(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    return change(request, MYR_EVENT_UNDRAIN, "", true, ret, err);
}

/* Kept before the connection ends: it must not come again by the same certificate. */
int api_revoke(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    uint32_t id;
    MYR_TRY(request_node(request, &id, err));
    MYR_TRY(api_writable(server, err));
    server->rows.nodes[id].revoked = true;
    rows_put_node(server, id);
    MYR_TRY(desk_run(server, err));
    struct session *session = server->rows.nodes[id].session;
    MYR_ASSERT(!session || session->node == id); /* the two point to each other */
    if (session && !session->over) {
        /* Who has it may be speaking now. */
        session_refuse(session, MYR_WIRE_REFUSED_REVOKED, "the certificate of '%s' was revoked",
                       server->rows.nodes[id].name);
    }
    put_one(server, id, ret);
    return MYR_OK;
}

/* Under the jobs: what a GPU without one shows. */
static enum shade shade_of_node(const struct myr_control_node *node)
{
    switch (node->state) {
    case MYR_NODE_HEALTHY:
        return SHADE_FREE;
    case MYR_NODE_SUSPECT:
        /* A node that is not heard may come back by itself. */
        return node->silent ? SHADE_SILENT : SHADE_SUSPECT;
    case MYR_NODE_DRAINING:
        return SHADE_DRAINING;
    case MYR_NODE_DRAINED:
        return SHADE_DRAINED;
    case MYR_NODE_REPAIR:
        return SHADE_REPAIR;
    case MYR_NODE_JOINING:
    case MYR_NODE_CHECKING:
    case MYR_NODE_UNKNOWN:
    case MYR_NODE_STATES:
        break;
    }
    return SHADE_UNKNOWN;
}

/* A queued job that still has GPUs is giving them back. */
static enum shade shade_of_job(enum myr_control_job_state state)
{
    return state == MYR_CONTROL_PLACING || state == MYR_CONTROL_STARTING ? SHADE_STARTING
           : state == MYR_CONTROL_SAVING || state == MYR_CONTROL_RECOVERING ||
                   state == MYR_CONTROL_QUEUED
               ? SHADE_CHANGING
               : SHADE_BUSY;
}

/* Bytes and not JSON: a picture needs one for each GPU. */
int api_frame(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    const struct server *server = request->server;
    uint32_t each = server->config.gpus_per_node;
    (void)err;
    MYR_ASSERT(each > 0 && each <= 64 && ret->len == 0);
    /* At once: a hundred thousand GPUs are as many bytes. */
    myr_buf_reserve(ret, (size_t)server->rows.node_count * each + 1);
    for (uint32_t id = 0; id < server->rows.node_count; id++) {
        struct myr_control_node node = myr_control_node(server->control, id);
        struct myr_control_rank ranks[NODE_JOBS];
        uint32_t count = myr_control_node_ranks(server->control, id, ranks, NODE_JOBS);
        enum shade ground = shade_of_node(&node);
        /* As many as a node may have; 'each' of them are sent. */
        char shades[64];
        memset(shades, (char)ground, sizeof(shades));
        /* A node that is not well shows that, whatever lies on it. */
        for (uint32_t i = 0; ground == SHADE_FREE && i < count && i < NODE_JOBS; i++) {
            enum shade shade = shade_of_job(rows_job_view(server, ranks[i].job).state);
            for (uint32_t g = 0; g < each; g++) {
                shades[g] = ranks[i].gpus >> g & 1 ? (char)shade : shades[g];
            }
        }
        myr_buf_put(ret, shades, each);
    }
    MYR_ASSERT(ret->len == (size_t)server->rows.node_count * each); /* one byte a GPU */
    /* With the number of the next event, so that a page knows from where to go on. */
    request->sequence = server->feed.next;
    request_answer(request, 200, "application/octet-stream", (struct myr_str){ret->data, ret->len});
    return HTTP_LATER;
}

/* With the number of the next event: a page that watches from there misses nothing. */
int api_cluster(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    const struct server *server = request->server;
    uint32_t nodes[MYR_NODE_STATES] = {}, jobs[MYR_CONTROL_JOB_STATES] = {};
    uint64_t busy = 0;
    (void)err;
    for (uint32_t id = 0; id < server->rows.node_count; id++) {
        nodes[myr_control_node(server->control, id).state]++;
    }
    for (uint32_t id = 0; id < myr_control_jobs(server->control); id++) {
        jobs[rows_job_view(server, id).state]++;
    }
    /* By what tenants have, which needs no walk over all ranks. */
    for (size_t i = 0; i < server->rows.tenants.count; i++) {
        busy += server->rows.tenants.items[i].running_gpus;
    }
    struct said_cluster said = {.name = server->config.cluster,
                                .world = world_names[server->config.world],
                                .version = server->version,
                                .time_ms = core_ms(server),
                                .seq = server->feed.next,
                                .nodes = server->rows.node_count,
                                .gpus = (uint64_t)server->rows.node_count *
                                        server->config.gpus_per_node,
                                .gpus_per_node = server->config.gpus_per_node,
                                .nodes_per_leaf = server->config.nodes_per_leaf,
                                .gpus_busy = busy,
                                .gpus_free = myr_control_free_gpus(server->control),
                                .read_only = server->stuck};
    /* A number for each state, in their order. */
    _Static_assert(sizeof(said.node_states) == sizeof(nodes), "a state of nodes is not told");
    _Static_assert(sizeof(said.job_states) == sizeof(jobs), "a state of jobs is not told");
    memcpy(&said.node_states, nodes, sizeof(nodes));
    memcpy(&said.job_states, jobs, sizeof(jobs));
    api_give(&said_cluster_record, &said, ret);
    return MYR_OK;
}
