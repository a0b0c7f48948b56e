/* tell: Events, which kubectl describe shows under the object that they are about. */
#include <stdio.h>

#include "service.h"

/* The object that an event is about; all five are needed for describe to find it. */
struct about {
    const char *space, *kind, *name, *uid, *api;
};

/* A missing right is told, since it stays so; any other refusal is not worth a line. */
static void on_told(void *context, const struct client_answer *answer)
{
    struct service *s = context;
    struct myr_err err = {};
    char path[] = "/api/v1/events";
    if (answer->rc == MYR_OK && answer->status == 403) {
        (void)kube_refused(&s->access, &(struct client_request){.method = "POST", .path = path},
                           answer->status, answer->body, &err);
        kube_trouble(s, SOURCE_EVENTS, &err);
    } else if (answer->rc == MYR_OK) {
        kube_trouble(s, SOURCE_EVENTS, NULL);
    } /* else: lost; an event is no more than a word */
}

static void put_about(struct myr_json *json, const struct about *about)
{
    myr_json_object(json, "involvedObject");
    myr_json_text(json, "apiVersion", about->api);
    myr_json_text(json, "kind", about->kind);
    myr_json_text(json, "namespace", about->space);
    myr_json_text(json, "name", about->name);
    myr_json_text(json, "uid", about->uid);
    myr_json_end(json);
}

/* 'count' is 1 and both times are now: events of ours are not gathered into one. */
static void put_event(struct service *s, const struct about *about, const struct tell *tell,
                      struct myr_buf *body)
{
    struct myr_json json;
    MYR_ASSERT(about->name && about->kind && tell->type);
    char name[300], now[40];
    /* Names are 253 bytes at most, and must differ from those of another start. */
    snprintf(name, sizeof(name), "%.220s.%llx", about->name,
             (unsigned long long)s->epoch * 1000 + s->event_count++);
    myr_json_init(&json, body, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "apiVersion", "v1");
    myr_json_text(&json, "kind", "Event");
    myr_json_object(&json, "metadata");
    myr_json_text(&json, "name", name);
    myr_json_text(&json, "namespace", about->space);
    myr_json_end(&json);
    put_about(&json, about);
    myr_json_text(&json, "reason", tell->reason);
    myr_json_text(&json, "message", tell->text);
    myr_json_text(&json, "type", tell->type);
    myr_json_object(&json, "source");
    myr_json_text(&json, "component", s->schedule->policy.scheduler);
    myr_json_end(&json);
    myr_json_text(&json, "firstTimestamp", kube_put_time(now, false));
    myr_json_text(&json, "lastTimestamp", now);
    myr_json_u64(&json, "count", 1);
    myr_json_end(&json);
}

/* 'later': no binding waits behind an event. */
static void tell_about(struct service *s, const struct about *about, const struct tell *tell)
{
    struct client_request request = {
        .method = "POST", .type = "application/json", .done = on_told, .context = s, .later = true};
    MYR_ASSERT(about->space && about->uid && tell->reason && tell->text);
    put_event(s, about, tell, &request.body);
    request.path = kube_path("/api/v1/namespaces/%s/events", about->space);
    s->report.events++;
    kube_ask(&s->client, &request);
}

void kube_tell_pod(struct service *s, const struct myr_kube_seat *seat, const struct tell *tell)
{
    const struct about about = {seat->space, "Pod", seat->name, seat->uid, "v1"};
    tell_about(s, &about, tell);
}

void kube_tell_owner(struct service *s, const struct tell_owner *owner, const struct tell *tell)
{
    if (owner->uid) {
        MYR_ASSERT(owner->space && owner->kind && owner->name && owner->api);
        const struct about about = {owner->space, owner->kind, owner->name, owner->uid, owner->api};
        tell_about(s, &about, tell);
    }
}
