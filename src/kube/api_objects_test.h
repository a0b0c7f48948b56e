/*
 * What the API server of the tests (api_test.h) has: nodes, pods and a lease; strict where real
 * ones are: versions, uids, a binding once.
 */
#pragma once

#include "api_base_test.h"

/* --- objects */

/* That stands at the beginning. */
static inline uint64_t api_number(const char *text)
{
    uint64_t value = 0;
    assert_true(myr_str_to_u64((struct myr_str){text, strspn(text, "0123456789")}, &value));
    return value;
}

static inline const char *api_text(const json_t *thing, const char *part, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(thing, part), key));
    return text ? text : "";
}

static inline uint32_t api_find(enum myr_kube_kind kind, const char *name)
{
    uint32_t i = 0;
    while (i < api.counts[kind] &&
           strcmp(api_text(api.objects[kind][i], "metadata", "name"), name)) {
        i++;
    }
    return i;
}

static inline void api_tell_of(enum myr_kube_kind kind, const char *how, json_t *thing)
{
    if (kind == MYR_KUBE_PODS && api.type) {
        return; /* it speaks otherwise, and the test for it */
    }
    json_t *line = json_pack("{s:s,s:O}", "type", how, "object", thing);
    char *text = json_dumps(line, JSON_COMPACT);
    struct myr_buf bytes = {};
    myr_buf_printf(&bytes, "%s\n", text);
    api_tell(kind, bytes.data, bytes.len);
    myr_buf_done(&bytes);
    free(text);
    json_decref(line);
}

/* The object is the server's from here on. */
static inline void api_keep(enum myr_kube_kind kind, json_t *thing)
{
    char version[16];
    uint32_t i = api_find(kind, api_text(thing, "metadata", "name"));
    bool fresh = i == api.counts[kind];
    assert_true(i < API_OBJECTS);
    snprintf(version, sizeof(version), "%u", ++api.version);
    json_object_set_new(json_object_get(thing, "metadata"), "resourceVersion",
                        json_string(version));
    if (fresh) {
        api.counts[kind]++;
    } else if (api.objects[kind][i] != thing) {
        json_decref(api.objects[kind][i]);
    }
    api.objects[kind][i] = thing;
    api_tell_of(kind, fresh ? "ADDED" : "MODIFIED", thing);
}

static inline void api_forget(enum myr_kube_kind kind, const char *name)
{
    uint32_t i = api_find(kind, name);
    assert_true(i < api.counts[kind]);
    json_t *thing = api.objects[kind][i];
    api.objects[kind][i] = api.objects[kind][--api.counts[kind]];
    api.version++;
    api_tell_of(kind, "DELETED", thing);
    json_decref(thing);
}

static inline void api_node(const char *name, const char *ready)
{
    char address[40];
    snprintf(address, sizeof(address), "10.0.0.%s", name + 1);
    json_t *node =
        json_pack("{s:{s:s,s:s},s:{},s:{s:{s:s,s:s},s:[{s:s,s:s}],s:[{s:s,s:s}]}}", "metadata",
                  "name", name, "uid", name, "spec", "status", "allocatable", "nvidia.com/gpu", "8",
                  "pods", "110", "addresses", "type", "InternalIP", "address", address,
                  "conditions", "type", "Ready", "status", ready);
    assert_non_null(node);
    api_keep(MYR_KUBE_NODES, node);
}

static inline void api_nodes(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%u", i);
        api_node(name, "True");
    }
}

static inline void api_pod(const char *gang, uint32_t size, uint32_t at)
{
    char name[120], uid[140], count[16], owner[120], now[40];
    int64_t s = api.clock_ns / 1000000000 - 1000; /* since nine o'clock */
    snprintf(now, sizeof(now), "2026-11-16T%02d:%02d:%02dZ", (int)(9 + s / 3600),
             (int)(s / 60 % 60), (int)(s % 60));
    snprintf(name, sizeof(name), "%s-%u", gang, at);
    snprintf(uid, sizeof(uid), "%s.%u", name, ++api.made);
    snprintf(count, sizeof(count), "%u", size);
    snprintf(owner, sizeof(owner), "job-%s", gang);
    json_t *pod = json_pack(
        "{s:{s:s,s:s,s:s,s:s,s:{s:s,s:s},s:[{s:s,s:s,s:s,s:s,s:b}]},"
        "s:{s:s,s:b,s:[{s:{s:{s:s}}}]},s:{s:s}}",
        "metadata", "name", name, "namespace", "default", "uid", uid, "creationTimestamp", now,
        "annotations", "myriad/gang", gang, "myriad/gang-size", count, "ownerReferences", "kind",
        "Job", "apiVersion", "batch/v1", "name", gang, "uid", owner, "controller", 1, "spec",
        "schedulerName", "myriad", "hostNetwork", 1, "containers", "resources", "requests",
        "nvidia.com/gpu", "8", "status", "phase", "Pending");
    assert_non_null(pod);
    api_keep(MYR_KUBE_PODS, pod);
}

static inline void api_gang(const char *gang, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        api_pod(gang, size, i);
    }
}

/* --- what is asked */

static inline void api_list(struct api_peer *peer, enum myr_kube_kind kind, const char *path)
{
    char version[16], more[32] = "";
    const char *from = strstr(path, "continue=at%20");
    uint32_t first = from ? (uint32_t)api_number(from + 14) : 0, end = first + api.page;
    json_t *items = json_array();
    for (uint32_t i = first; i < end && i < api.counts[kind]; i++) {
        json_array_append(items, api.objects[kind][i]);
    }
    snprintf(version, sizeof(version), "%u", api.version);
    if (end < api.counts[kind]) {
        snprintf(more, sizeof(more), "at %u & more", end);
    }
    json_t *page = json_pack("{s:{s:s,s:s},s:o}", "metadata", "resourceVersion", version,
                             "continue", more, "items", items);
    api_answer_json(peer, 200, page);
    json_decref(page);
}

static inline void api_follow(struct api_peer *peer, enum myr_kube_kind kind, const char *path)
{
    char head[200];
    uint32_t since = (uint32_t)api_number(strstr(path, "resourceVersion=") + 16);
    const char *type = kind == MYR_KUBE_PODS && api.type ? api.type : "application/json";
    snprintf(head, sizeof(head),
             "HTTP/1.1 200 OK\r\nContent-Type: %s;stream=watch\r\nTransfer-Encoding: "
             "chunked\r\n\r\n",
             type);
    api_send(peer, head, strlen(head), false);
    peer->follows = (int)kind;
    for (uint32_t i = 0; i < api.counts[kind]; i++) {
        if ((uint32_t)api_number(api_text(api.objects[kind][i], "metadata", "resourceVersion")) >
            since) {
            api_tell_of(kind, "MODIFIED", api.objects[kind][i]);
        }
    }
}

static inline void api_lease(struct api_peer *peer, const char *method, const json_t *body)
{
    char version[16];
    const char *given = api_text(body, "metadata", "resourceVersion");
    const char *have = api.lease ? api_text(api.lease, "metadata", "resourceVersion") : "";
    if (strcmp(method, "GET") == 0) {
        if (api.lease) {
            api_answer_json(peer, 200, api.lease);
        } else {
            api_refuse(peer, 404, "leases \\\"l\\\" not found");
        }
        return;
    }
    if (strcmp(given, have) != 0) {
        api_refuse(peer, 409, "the object has been modified");
        return;
    }
    int status = *have ? 200 : 201;
    snprintf(version, sizeof(version), "%u", ++api.version);
    json_decref(api.lease);
    api.lease = json_deep_copy(body);
    json_object_set_new(json_object_get(api.lease, "metadata"), "resourceVersion",
                        json_string(version));
    api_answer_json(peer, status, api.lease);
}

static inline void api_bind(struct api_peer *peer, const char *name, const json_t *body)
{
    uint32_t i = api_find(MYR_KUBE_PODS, name);
    json_t *pod = i < api.counts[MYR_KUBE_PODS] ? api.objects[MYR_KUBE_PODS][i] : NULL;
    if (!pod) {
        api_refuse(peer, 404, "no such pod");
    } else if (api_text(pod, "spec", "nodeName")[0] ||
               strcmp(api_text(pod, "metadata", "uid"), api_text(body, "metadata", "uid")) != 0) {
        api_refuse(peer, 409, "is assigned already");
    } else {
        json_t *meta = json_object_get(pod, "metadata");
        json_object_set_new(json_object_get(pod, "spec"), "nodeName",
                            json_string(api_text(body, "target", "name")));
        json_object_update(json_object_get(meta, "annotations"),
                           json_object_get(json_object_get(body, "metadata"), "annotations"));
        api_keep(MYR_KUBE_PODS, pod);
        api_answer(peer, 201, "{}");
    }
}

static inline void api_delete(struct api_peer *peer, const char *name, const json_t *body)
{
    uint32_t i = api_find(MYR_KUBE_PODS, name), at = 0, size;
    json_t *pod = i < api.counts[MYR_KUBE_PODS] ? api.objects[MYR_KUBE_PODS][i] : NULL;
    if (!pod) {
        api_refuse(peer, 404, "no such pod");
    } else if (strcmp(api_text(pod, "metadata", "uid"), api_text(body, "preconditions", "uid"))) {
        api_refuse(peer, 409, "another pod");
    } else {
        char gang[100];
        const json_t *notes = json_object_get(json_object_get(pod, "metadata"), "annotations");
        size = (uint32_t)api_number(json_string_value(json_object_get(notes, "myriad/gang-size")));
        snprintf(gang, sizeof(gang), "%s", name);
        at = (uint32_t)api_number(strrchr(gang, '-') + 1);
        *strrchr(gang, '-') = '\0';
        api_forget(MYR_KUBE_PODS, name);
        if (api.makes_again) {
            api_pod(gang, size, at);
        }
        api_answer(peer, 200, "{}");
    }
}

static inline void api_do(struct api_peer *peer, const char *method, const char *path,
                          const json_t *body)
{
    char name[100] = "";
    const char *pod = strstr(path, "/pods/");
    snprintf(name, sizeof(name), "%s", pod ? pod + 6 : "");
    name[strcspn(name, "/?")] = '\0';
    if (strcmp(path, "/version") == 0) {
        api_answer(peer, 200, api.release);
    } else if (strncmp(path, "/api/v1/nodes?", 14) == 0 ||
               strncmp(path, "/api/v1/pods?", 13) == 0) {
        enum myr_kube_kind kind = path[8] == 'n' ? MYR_KUBE_NODES : MYR_KUBE_PODS;
        (strstr(path, "?watch=1&") ? api_follow : api_list)(peer, kind, path);
    } else if (strstr(path, "/leases")) {
        api_lease(peer, method, body);
    } else if (strstr(path, "/events")) {
        api_answer(peer, 201, "{}");
    } else if (strcmp(method, "DELETE") == 0) {
        api_delete(peer, name, body);
    } else if (strcmp(method, "POST") == 0 && strstr(path, "/binding")) {
        api_bind(peer, name, body);
    } else if (strcmp(method, "GET") == 0 && name[0] &&
               api_find(MYR_KUBE_PODS, name) < api.counts[MYR_KUBE_PODS]) {
        api_answer_json(peer, 200, api.objects[MYR_KUBE_PODS][api_find(MYR_KUBE_PODS, name)]);
    } else {
        api_refuse(peer, 404, "nothing is there");
    }
}
