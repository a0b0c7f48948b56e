/*
 * openapi: the interface as OpenAPI 3.1, from the table of routes and the records that they take
 * and give, so that it cannot say anything else than what is served.
 */
#include <stdio.h>
#include <string.h>

#include "api.h"

static const char refs[] = "#/components/schemas/";

/* Those of the path, and the words that may stand behind a '?'. */
static void put_parameter(struct myr_json *json, struct myr_str name, bool in_path)
{
    myr_json_object(json, NULL);
    myr_json_str(json, "name", name);
    myr_json_text(json, "in", in_path ? "path" : "query");
    myr_json_bool(json, "required", in_path);
    myr_json_object(json, "schema");
    myr_json_text(json, "type", "string");
    myr_json_end(json);
    myr_json_end(json);
}

static void put_parameters(struct myr_json *json, const struct route *route)
{
    myr_json_list(json, "parameters");
    for (const char *p = strchr(route->path, ':'); p; p = strchr(p + 1, ':')) {
        put_parameter(json, (struct myr_str){p + 1, strcspn(p + 1, "/")}, true);
    }
    for (const char *p = route->args; p && *p; p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        put_parameter(json, (struct myr_str){p, length}, false);
        p += length;
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

static void put_ref(struct myr_json *json, const char *key, const struct myr_record *record)
{
    char ref[128];
    snprintf(ref, sizeof(ref), "%s%s", refs, record->name);
    myr_json_object(json, key);
    myr_json_text(json, "$ref", ref);
    myr_json_end(json);
}

/* One of two where a call has two answers. */
static void put_content(struct myr_json *json, const char *media, const struct myr_record *record,
                        const struct myr_record * or)
{
    myr_json_object(json, "content");
    myr_json_object(json, media);
    if (record && or) {
        myr_json_object(json, "schema");
        myr_json_list(json, "anyOf");
        put_ref(json, NULL, record);
        put_ref(json, NULL, or);
        myr_json_end(json);
        myr_json_end(json);
    } else if (record) {
        put_ref(json, "schema", record);
    }
    myr_json_end(json);
    myr_json_end(json);
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
    put_parameters(json, route);
    if (route->takes) {
        bool file = route->takes == &myr_job_record;
        myr_json_object(json, "requestBody");
        put_content(json, file ? "application/yaml" : "application/json", route->takes, NULL);
        myr_json_end(json);
    }
    myr_json_object(json, "responses");
    myr_json_object(json, "200");
    myr_json_text(json, "description", route->gives ? route->gives->doc : route->summary);
    put_content(json, route->media ? route->media : "application/json", route->gives,
                route->or_gives);
    myr_json_end(json);
    myr_json_object(json, "default");
    myr_json_text(json, "description", said_error_record.doc);
    put_content(json, "application/json", &said_error_record, NULL);
    myr_json_end(json);
    myr_json_end(json);
    myr_json_end(json);
}

/* Each record once, those within it before it. */
struct schemas {
    const struct myr_record *written[128];
    uint32_t count;
    struct myr_json *json;
};

static void put_schema(struct schemas *schemas, const struct myr_record *record, bool said)
{
    for (uint32_t i = 0; i < schemas->count; i++) {
        if (schemas->written[i] == record) {
            return;
        }
    }
    MYR_ASSERT(schemas->count < MYR_ARRAY_COUNT(schemas->written));
    schemas->written[schemas->count++] = record;
    for (uint32_t i = 0; i < record->count; i++) {
        if (record->rows[i].of) {
            put_schema(schemas, record->rows[i].of, said);
        }
    }
    myr_json_object(schemas->json, record->name);
    myr_json_text(schemas->json, "description", record->doc);
    myr_record_schema(record, refs, said, schemas->json);
    myr_json_end(schemas->json);
}

static void put_schemas(struct myr_json *json, const struct route *routes, size_t count)
{
    struct schemas schemas = {.json = json};
    myr_json_object(json, "components");
    myr_json_object(json, "schemas");
    put_schema(&schemas, &said_error_record, true);
    for (size_t i = 0; i < count; i++) {
        const struct route *route = &routes[i];
        if (route->takes) {
            put_schema(&schemas, route->takes, false);
        }
        if (route->gives) {
            put_schema(&schemas, route->gives, true);
        }
        if (route->or_gives) {
            put_schema(&schemas, route->or_gives, true);
        }
    }
    myr_json_end(json);
    myr_json_end(json);
}

void openapi_write(const struct route *routes, size_t count, const char *version,
                   enum myr_json_style style, struct myr_buf *ret)
{
    struct myr_json json;
    /* Calls that share a path are members of one object there. */
    bool done[128] = {false};
    MYR_ASSERT(count <= MYR_ARRAY_COUNT(done));
    myr_json_init(&json, ret, style);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "openapi", "3.1.0");
    myr_json_object(&json, "info");
    myr_json_text(&json, "title", "Myriad");
    myr_json_text(&json, "version", version);
    myr_json_end(&json);
    myr_json_object(&json, "paths");
    for (size_t i = 0; i < count; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf path = {};
        if (done[i]) {
            continue;
        }
        put_path(routes[i].path, &path);
        myr_json_object(&json, path.data);
        for (size_t k = i; k < count; k++) {
            if (strcmp(routes[k].path, routes[i].path) == 0) {
                put_call(&json, &routes[k]);
                done[k] = true;
            }
        }
        myr_json_end(&json);
    }
    myr_json_end(&json);
    put_schemas(&json, routes, count);
    myr_json_end(&json);
}

int api_openapi(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    (void)err;
    const struct http *http = request->server->http;
    openapi_write(http->routes, http->route_count, request->server->version, MYR_JSON_COMPACT, ret);
    return MYR_OK;
}
