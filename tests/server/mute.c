/*
 * mute: a server without sockets, for fuzzers: bytes of agents and bodies of requests go where they
 * would go, events are committed to a real store, and nothing that is answered is heard.
 */
#include "mute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "link.h"
#include "store/segment.h"

enum { NODES = 4, TURN = 16 }; /* so many connections speak in one turn of the loop */

struct myr_mute {
    struct server server;
    char folder[512];
    uint32_t connections; /* so far; every so many a turn */
};

/* As serve.c makes a server, without its doors. */
static int begin(struct myr_mute *mute, struct myr_err *err)
{
    struct server *server = &mute->server;
    struct config *config = &server->config;
    char path[600];
    server->folder = mute->folder;
    server->version = "trial";
    *config = (struct config){.cluster = "trial",
                              .gpus_per_node = 8,
                              .nodes_per_leaf = 4,
                              .policy = MYR_QUEUE_FAIR,
                              .beat_ms = 1000,
                              .pretend = true,
                              .speed = 1,
                              .kw_per_gpu = 1,
                              .price_kwh = 1,
                              .currency = "CNY"};
    MYR_TRY(names_expand("n[0-3]", &config->names, &config->node_count, err));
    MYR_ASSERT(config->node_count == NODES);
    snprintf(path, sizeof(path), "%s/state.db", mute->folder);
    MYR_TRY(store_open(path, &server->store, err));
    MYR_TRY(rows_load(server, err));
    feed_init(&server->feed);
    MYR_TRY(desk_begin(server, err));
    server->world = (struct world){sessions_committed, orders_effect, NULL,           orders_fetch,
                                   orders_inject,      NULL,          sessions_forget};
    server->http = myr_xcalloc(1, sizeof(*server->http));
    server->http->routes = api_routes;
    server->http->route_count = api_route_count;
    /* http_kick() starts it; nobody listens. */
    uv_timer_init(&server->loop, &server->http->timer);
    /* As every server begins: the core is told that it is the one that acts. */
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TAKEOVER});
    return desk_run(server, err);
}

/* With its folder, which is made where it is not there. */
static int begin_in(struct myr_mute *mute, struct myr_err *err)
{
    MYR_TRY(myr_make_dirs(mute->folder, err));
    return begin(mute, err);
}

/* The folder is its own, and goes with it. */
int myr_mute_create(const char *folder, struct myr_mute **ret, struct myr_err *err)
{
    struct myr_mute *mute = myr_xcalloc(1, sizeof(*mute));
    MYR_ASSERT(strlen(folder) < sizeof(mute->folder));
    snprintf(mute->folder, sizeof(mute->folder), "%s", folder);
    uv_loop_init(&mute->server.loop);
    log_mute(true);
    int rc = begin_in(mute, err);
    if (rc < 0) {
        /* As serve.c gives up one that did not come to serving. */
        (void)uv_loop_close(&mute->server.loop);
        desk_free(&mute->server);
        free(mute->server.http);
        free(mute);
        return rc;
    }
    for (uint32_t id = 0; id < NODES; id++) {
        struct node_row *node = &mute->server.rows.nodes[id];
        /* A certificate for each, so that greet() is let in. */
        snprintf(node->serial, sizeof(node->serial), "A%u", id);
    }
    *ret = mute;
    return MYR_OK;
}

/* As serve.c ends one: handles first, then what they worked on. */
void myr_mute_free(struct myr_mute *mute)
{
    struct server *server = &mute->server;
    char path[600];
    uv_close((uv_handle_t *)&server->http->timer, NULL);
    desk_end(server);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    uv_loop_close(&server->loop);
    desk_free(server);
    myr_vec_done(&server->http->visits);
    myr_buf_done(&server->http->nodes);
    free(server->http);
    snprintf(path, sizeof(path), "%s/state.db", mute->folder);
    (void)unlink(path);
    (void)rmdir(mute->folder);
    free(mute);
}

/* Somebody greeted as the first node, behind 'relay' when that is not NULL. */
static struct session *greet(struct server *server, struct session *relay)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_wire_sender sender;
    struct session *session = session_new(server);
    session->via = relay;
    snprintf(session->peer, sizeof(session->peer), "n0");
    snprintf(session->serial, sizeof(session->serial), "A0");
    snprintf(session->address, sizeof(session->address), "127.0.0.1:1");
    myr_wire_sender_init(&sender);
    myr_wire_send(&sender, &bytes, MYR_WIRE_HELLO, MYR_WIRE_NO_NODE, 0, 1,
                  &(struct myr_wire_hello){.name = MYR_STR("n0"), .version_min = 1, .boot = 7});
    session_take(session, (struct myr_str){bytes.data, bytes.len});
    MYR_ASSERT(session->node == 0);
    return session;
}

/* One that is greeted, says these bytes, and is gone. */
void myr_mute_connection(struct myr_mute *mute, bool relay, struct myr_str bytes)
{
    struct server *server = &mute->server;
    struct session *line = NULL;
    struct myr_err err = {};
    if (relay) {
        line = session_new(server);
        uint32_t row = rows_relay(server, "r0", true);
        MYR_ASSERT(row != MYR_NONE);
        /* As after the hello of a relay that is known, which is not what is tried here. */
        line->greeted = true;
        session_carry(line, row);
        myr_vec_push(&line->carrier->sessions, greet(server, line));
    } else {
        line = greet(server, NULL);
    }
    relay_take(line, bytes);
    if (++mute->connections % TURN == 0) {
        int rc = desk_run(server, &err);
        MYR_ASSERT(rc == MYR_OK); /* nothing that comes from outside stops the store */
    }
    if (line->carrier) {
        relay_gone(line);
    }
    session_gone(line);
    /* Whatever it said, a connection leaves nothing behind. */
    MYR_ASSERT(server->session_count == 0);
}

/* A backup needs a connection to send its file to. */
static bool takes_body(const struct route *route)
{
    return strcmp(route->method, "POST") == 0 && route->call != api_backup;
}

uint32_t myr_mute_calls(void)
{
    uint32_t count = 0;
    for (size_t i = 0; i < api_route_count; i++) {
        count += takes_body(&api_routes[i]);
    }
    return count;
}

/* The calls are counted in the order of the routes; NULL beyond the last. */
static const struct route *route_of(uint32_t call)
{
    for (size_t i = 0; i < api_route_count; i++) {
        if (takes_body(&api_routes[i]) && call-- == 0) {
            return &api_routes[i];
        }
    }
    return NULL;
}

const char *myr_mute_call_path(uint32_t call)
{
    const struct route *route = route_of(call);
    return route ? route->path : "";
}

/* The status that it would be answered with. Roles are judged as http.c does. */
unsigned myr_mute_post(struct myr_mute *mute, const struct myr_mute_request *asked,
                       struct myr_err *err)
{
    const struct route *route = route_of(asked->call);
    MYR_CLEANUP(myr_buf_done) struct myr_buf ret = {};
    MYR_ASSERT(route);
    struct request request = {.server = &mute->server,
                              .method = route->method,
                              .url = route->path,
                              .words = {"v1", "jobs", asked->name},
                              .who = {.user = "ada", .unix_user = "ada"},
                              .from = "127.0.0.1"};
    /* Any byte is some role. */
    request.who.role = (enum role)(asked->role % ROLE_COUNT);
    myr_buf_put(&request.body, asked->body.data, asked->body.len);
    int rc = route->role > request.who.role
                 ? myr_err_set(err, MYR_EDENIED, "this takes another role")
                 : route->call(&request, &ret, err);
    myr_buf_done(&request.body);
    free(request.path);
    return rc < 0 ? (unsigned)myr_err_http_status(rc) : 200;
}

uint32_t myr_mute_jobs(const struct myr_mute *mute)
{
    return myr_control_jobs(mute->server.control);
}

/* What is read of etcd, without one. */
int myr_mute_segment(struct myr_str bytes, struct myr_err *err)
{
    struct segment_head head;
    struct image image = {};
    /* The first byte chooses between a part of a snapshot and a whole segment. */
    bool part = bytes.len > 0 && bytes.data[0] == 'p';
    struct myr_str rest = {bytes.data + (bytes.len > 0), bytes.len - (bytes.len > 0)};
    if (part) {
        return segment_read_part(rest, &head, err);
    }
    int rc = segment_take(&image, rest, err);
    /* A segment is taken whole or not at all, and keys stay in order. */
    MYR_ASSERT(rc == MYR_OK || image.entries.count == 0);
    for (size_t i = 1; i < image.entries.count; i++) {
        MYR_ASSERT(strcmp(image.entries.items[i - 1].key, image.entries.items[i].key) < 0);
    }
    image_done(&image);
    return rc;
}
