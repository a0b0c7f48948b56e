/*
 * api: every call, its role, and what it is for; /openapi.json follows from the table. The page and
 * its parts are built into the program and served here too.
 */
#include "api.h"

#include <stdio.h>
#include <string.h>
#include <web_files.h>

static int api_openapi(struct request *request, struct myr_buf *ret, struct myr_err *err);

/* The page's own files have no other kinds; browsers are told not to guess. */
static const char *type_of(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".html") == 0  ? "text/html; charset=utf-8"
           : length > 4 && strcmp(name + length - 4, ".css") == 0 ? "text/css; charset=utf-8"
           : length > 4 && strcmp(name + length - 4, ".svg") == 0 ? "image/svg+xml"
           : length > 3 && strcmp(name + length - 3, ".js") == 0  ? "text/javascript; charset=utf-8"
                                                                  : "application/octet-stream";
}

/*
 * Files are built into the program: names are compared with a list, and no path reaches the disk.
 */
static int page(struct request *request, const char *name, struct myr_err *err)
{
    for (size_t i = 0; i < web_files_count; i++) {
        if (strcmp(web_files[i].name, name) == 0) {
            /* Answered here and not by the dispatcher, which sends JSON. */
            request_answer(request, 200, type_of(name),
                           (struct myr_str){(const char *)web_files[i].data, web_files[i].size});
            return HTTP_LATER;
        }
    }
    return myr_err_set(err, MYR_ENOENT, "no such page");
}

static int api_index(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    (void)ret;
    return page(request, "web/dist/index.html", err);
}

/* A name that is cut is the name of no file. */
static int api_asset(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    (void)ret;
    char name[128];
    snprintf(name, sizeof(name), "web/dist/assets/%.64s", request->words[1]);
    /* A browser may keep them for ten minutes; the page itself is asked for each time. */
    request->cache = "max-age=600";
    return page(request, name, err);
}

/* The role is the least that may call it; ROLE_NONE asks for no token at all. */
const struct route api_routes[] = {
    {"GET", "/", ROLE_NONE, api_index, "the page"},
    {"GET", "/assets/:name", ROLE_NONE, api_asset, "what the page is made of"},
    {"GET", "/healthz", ROLE_NONE, api_health, "is it there, and can it write?"},
    {"GET", "/openapi.json", ROLE_NONE, api_openapi, "this list"},
    {"POST", "/v1/login", ROLE_NONE, login_call, "a cookie for a token, for the page"},
    {"POST", "/v1/logout", ROLE_NONE, logout_call, "the cookie is worth nothing any more"},
    {"GET", "/v1/cluster", ROLE_VIEWER, api_cluster, "all of it in a few numbers"},
    {"GET", "/v1/nodes", ROLE_VIEWER, api_nodes, "nodes; ?state= chooses"},
    {"GET", "/v1/nodes/:name", ROLE_VIEWER, api_node, "one node"},
    {"POST", "/v1/nodes/:name/drain", ROLE_OPERATOR, api_drain, "no more jobs on it"},
    {"POST", "/v1/nodes/:name/resume", ROLE_OPERATOR, api_resume, "it may be used again"},
    {"POST", "/v1/nodes/:name/revoke", ROLE_ADMIN, api_revoke, "its certificate is worth nothing"},
    {"GET", "/v1/jobs", ROLE_VIEWER, api_jobs, "jobs, newest first; ?state= or ?all=1"},
    {"GET", "/v1/jobs/:id", ROLE_VIEWER, api_job, "one job"},
    {"POST", "/v1/jobs", ROLE_USER, api_submit, "a job file, queued"},
    {"POST", "/v1/jobs/:id/cancel", ROLE_USER, api_cancel, "it ends"},
    {"POST", "/v1/jobs/:id/hold", ROLE_USER, api_hold, "it does not start"},
    {"POST", "/v1/jobs/:id/release", ROLE_USER, api_release, "it may start again"},
    {"POST", "/v1/jobs/:id/top", ROLE_OPERATOR, api_top, "it goes before all that wait"},
    {"GET", "/v1/jobs/:id/logs", ROLE_VIEWER, api_logs, "what ?rank= has written from ?offset= on"},
    {"GET", "/v1/jobs/:id/explain", ROLE_VIEWER, api_explain, "why it is as it is"},
    {"GET", "/v1/queue", ROLE_VIEWER, api_queue, "who waits, and for what"},
    {"GET", "/v1/state", ROLE_VIEWER, api_state, "the core's state, for 'myriad whatif'"},
    {"GET", "/v1/usage", ROLE_VIEWER, api_usage, "GPU-hours, energy and cost by tenant"},
    {"GET", "/v1/frame", ROLE_VIEWER, api_frame, "one byte a GPU"},
    {"GET", "/v1/events", ROLE_VIEWER, watch_begin, "what happens, as it happens"},
    {"POST", "/v1/inject", ROLE_OPERATOR, api_inject, "a fault, in a simulated world"},
    {"GET", "/metrics", ROLE_VIEWER, api_metrics, "for Prometheus"},
    {"POST", "/v1/design", ROLE_ADMIN, api_design, "a grown design: nodes are added"},
    {"POST", "/v1/enrol", ROLE_ADMIN, api_enrol, "a token by which one node enrols, once"},
    {"GET", "/v1/relays", ROLE_VIEWER, api_relays, "who carries agents, and how many"},
    {"POST", "/v1/relays/:name/revoke", ROLE_ADMIN, api_relay_revoke,
     "its certificate is worth nothing"},
    {"POST", "/v1/backup", ROLE_ADMIN, api_backup, "a copy of the store, as a file of SQLite's"},
    {"POST", "/v1/tokens", ROLE_ADMIN, api_token, "a token for somebody"},
    {"GET", "/v1/tokens", ROLE_ADMIN, api_tokens, "whose tokens there are"},
    {"POST", "/v1/tokens/:id/revoke", ROLE_ADMIN, api_token_revoke, "it is worth nothing"},
    {"POST", "/v1/tenants/:name", ROLE_ADMIN, api_tenant, "its weight in the fair share"},
};
const size_t api_route_count = MYR_ARRAY_COUNT(api_routes);

/* Those of the path; what may stand behind a '?' is said in the summary. */
static void put_parameters(struct myr_json *json, const char *path)
{
    myr_json_list(json, "parameters");
    for (const char *p = strchr(path, ':'); p; p = strchr(p + 1, ':')) {
        size_t length = strcspn(p + 1, "/");
        myr_json_object(json, NULL);
        myr_json_str(json, "name", (struct myr_str){p + 1, length});
        myr_json_text(json, "in", "path");
        myr_json_bool(json, "required", true);
        myr_json_object(json, "schema");
        myr_json_text(json, "type", "string");
        myr_json_end(json);
        myr_json_end(json);
    }
    myr_json_end(json);
}

/* "/v1/jobs/:id" as OpenAPI writes it: "/v1/jobs/{id}" */
static void put_path(const char *path, struct myr_buf *ret)
{
    for (const char *p = path; *p;) {
        size_t length = strcspn(p + 1, "/") + 1;
        /* A word of the pattern that stands for any. */
        if (p[1] == ':') {
            myr_buf_printf(ret, "/{%.*s}", (int)length - 2, p + 2);
        } else {
            myr_buf_put(ret, p, length);
        }
        p += length;
    }
}

static void put_call(struct myr_json *json, const struct route *route)
{
    char method[8] = "";
    for (size_t c = 0; route->method[c] && c < sizeof(method) - 1; c++) {
        /* In lower case, as OpenAPI wants it. */
        method[c] = (char)(route->method[c] | 0x20);
    }
    myr_json_object(json, method);
    myr_json_text(json, "summary", route->summary);
    myr_json_text(json, "x-role", role_names[route->role]);
    put_parameters(json, route->path);
    myr_json_object(json, "responses");
    myr_json_object(json, "200");
    myr_json_text(json, "description", "done");
    myr_json_end(json);
    myr_json_object(json, "default");
    myr_json_text(json, "description", "an object with 'error' and 'hint'");
    myr_json_end(json);
    myr_json_end(json);
    myr_json_end(json);
}

/* From the table itself, so that it cannot say anything else than what is served. */
static int api_openapi(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct myr_json json;
    /* Calls that share a path are members of one object there. */
    bool done[MYR_ARRAY_COUNT(api_routes)] = {false};
    (void)err;
    myr_json_init(&json, ret, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "openapi", "3.0.3");
    myr_json_object(&json, "info");
    myr_json_text(&json, "title", "Myriad");
    myr_json_text(&json, "version", request->server->version);
    myr_json_end(&json);
    myr_json_object(&json, "paths");
    for (size_t i = 0; i < api_route_count; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf path = {};
        if (done[i]) {
            continue;
        }
        put_path(api_routes[i].path, &path);
        myr_json_object(&json, path.data);
        for (size_t k = i; k < api_route_count; k++) {
            if (strcmp(api_routes[k].path, api_routes[i].path) == 0) {
                put_call(&json, &api_routes[k]);
                done[k] = true;
            }
        }
        myr_json_end(&json);
    }
    myr_json_end(&json);
    myr_json_end(&json);
    return MYR_OK;
}
