/*
 * lease: who of several schedulers acts. The holder renews it; when nobody has for its length, by
 * the clock of whoever looks, another one takes it. A holder that cannot renew stops acting before
 * that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service.h"

enum { PARTS = 3 }; /* renewals in the length of a lease */

static void ask(struct lease *l);

static int64_t length_ms(const struct lease *l)
{
    return (int64_t)l->service->schedule->lease_s * 1000;
}

/* A part of the length before another one may take it: requests under way have that long to end. */
bool kube_lease_held(const struct lease *l)
{
    if (!l->service->schedule->lease_name) {
        return true;
    }
    MYR_ASSERT(!l->leads || l->held_ms >= 0);
    return l->leads && kube_now_ms() - l->held_ms < length_ms(l) * (PARTS - 1) / PARTS;
}

/* Every part of its length: a holder that has missed two renewals is none any more. */
static void on_timer(uv_timer_t *timer)
{
    struct lease *l = timer->data;
    struct service *s = l->service;
    MYR_ASSERT(s->schedule->lease_name && s->begun); /* else nobody starts it */
    /*
     * Flights end where they are before anybody else may begin: none of them binds beside
     * another's.
     */
    if (l->leads && !kube_lease_held(l)) {
        l->leads = false;
        kube_flight_abandon(s);
        kube_say(s, "warning", "the lease could not be renewed: nothing is bound from here on");
    }
    if (!l->asking) {
        ask(l);
    }
}

static char *lease_path(const struct service *s, bool named)
{
    const struct myr_kube_schedule *c = s->schedule;
    MYR_ASSERT(c->lease_name && c->lease_space);
    return named ? kube_path("/apis/coordination.k8s.io/v1/namespaces/%s/leases/%s", c->lease_space,
                             c->lease_name)
                 : kube_path("/apis/coordination.k8s.io/v1/namespaces/%s/leases", c->lease_space);
}

/* With the version that was seen: of two that want to take it the API server refuses the second. */
static void put_lease(const struct lease *l, const char *holder, struct myr_buf *body)
{
    const struct myr_kube_schedule *c = l->service->schedule;
    MYR_ASSERT(c->identity && c->identity[0] && c->lease_s > 0);
    struct myr_json json;
    char now[40];
    bool new_holder = strcmp(l->holder, c->identity) != 0;
    kube_put_time(now, true);
    myr_json_init(&json, body, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "apiVersion", "coordination.k8s.io/v1");
    myr_json_text(&json, "kind", "Lease");
    myr_json_object(&json, "metadata");
    myr_json_text(&json, "name", c->lease_name);
    myr_json_text(&json, "namespace", c->lease_space);
    if (l->version[0]) {
        myr_json_text(&json, "resourceVersion", l->version);
    }
    myr_json_end(&json);
    myr_json_object(&json, "spec");
    myr_json_text(&json, "holderIdentity", holder);
    myr_json_u64(&json, "leaseDurationSeconds", c->lease_s);
    myr_json_text(&json, "acquireTime", now);
    myr_json_text(&json, "renewTime", now);
    myr_json_u64(&json, "leaseTransitions", l->changes + (new_holder && l->version[0]));
    myr_json_end(&json);
    myr_json_end(&json);
}

/* What is there; false: nothing that is a lease. */
static bool read_lease(struct lease *l, struct myr_str body)
{
    const struct myr_doc *top;
    struct myr_arena scratch = {};
    uint64_t changes = 0;
    bool ok = myr_doc_read_json(&scratch, "lease", body, &top, NULL) == MYR_OK;
    struct myr_str version = kube_text(ok ? myr_doc_get(top, "metadata") : NULL, "resourceVersion");
    ok = ok && version.len > 0 && version.len < sizeof(l->version);
    if (ok) {
        const struct myr_doc *spec = myr_doc_get(top, "spec");
        struct myr_str holder = kube_text(spec, "holderIdentity");
        /*
         * A version that is new was written by somebody who lives: its time begins again. Times in
         * the lease are not looked at, clocks of two machines need not agree.
         */
        if (!myr_str_eq(version, myr_str_from(l->version))) {
            l->seen_ms = kube_now_ms();
            MYR_ASSERT(l->seen_ms > 0);
        }
        snprintf(l->version, sizeof(l->version), "%.*s", (int)version.len, version.data);
        snprintf(l->holder, sizeof(l->holder), "%.*s", (int)(holder.len < 250 ? holder.len : 250),
                 holder.data);
        if (myr_str_to_u64(kube_text(spec, "leaseTransitions"), &changes)) {
            l->changes = changes;
        }
    }
    myr_arena_done(&scratch);
    return ok;
}

/* Told, and asked again with the next beat of the timer. */
static void refused(struct lease *l, const struct client_answer *answer, const char *method)
{
    struct myr_err err = {};
    /* As it was asked: one that is made is asked of the list. */
    MYR_CLEANUP(myr_free_at) char *path = lease_path(l->service, strcmp(method, "POST") != 0);
    if (answer->rc < 0) {
        kube_trouble(l->service, SOURCE_LEASE, answer->err);
        return;
    }
    (void)kube_refused(&l->service->access,
                       &(struct client_request){.method = method, .path = path}, answer->status,
                       answer->body, &err);
    kube_trouble(l->service, SOURCE_LEASE, &err);
}

/* The answer has the lease as it was written: its version is what the next renewal goes on from. */
static void on_put(void *context, const struct client_answer *answer)
{
    struct lease *l = context;
    struct service *s = l->service;
    MYR_ASSERT(l->asking);
    l->asking = false;
    if (answer->rc == MYR_OK && answer->status == 409) {
        l->seen_ms = kube_now_ms(); /* somebody was quicker */
        return;
    }
    if (answer->rc < 0 || answer->status < 200 || answer->status > 299 ||
        !read_lease(l, answer->body)) {
        refused(l, answer, l->version[0] ? "PUT" : "POST");
        return;
    }
    kube_trouble(s, SOURCE_LEASE, NULL);
    l->held_ms = kube_now_ms();
    MYR_ASSERT(l->version[0] && l->held_ms >= 0); /* what the next renewal goes on from */
    if (!l->leads) {
        l->leads = true;
        s->round_due = true;
        kube_say(s, "info", "holds the lease %s/%s: binds from here on", s->schedule->lease_space,
                 s->schedule->lease_name);
    }
}

/* Also what renews it. Without a version it is not there yet, and is made. */
static void take(struct lease *l)
{
    struct service *s = l->service;
    bool there = l->version[0] != '\0';
    struct client_request request = {.method = there ? "PUT" : "POST",
                                     .type = "application/json",
                                     .path = lease_path(s, there),
                                     .done = on_put,
                                     .context = l};
    put_lease(l, s->schedule->identity, &request.body);
    MYR_ASSERT(!l->asking); /* one question at a time: answers are taken as they come */
    l->asking = true;
    s->report.leases++;
    kube_ask(&s->client, &request);
}

/* Ours by name (an answer that was lost), nobody's, or not renewed for its length: it is taken. */
static void on_get(void *context, const struct client_answer *answer)
{
    struct lease *l = context;
    struct service *s = l->service;
    MYR_ASSERT(l->asking && !l->leads); /* a holder does not look, it writes */
    l->asking = false;
    if (answer->rc == MYR_OK && answer->status == 404) {
        l->version[0] = l->holder[0] = '\0';
        take(l);
        return;
    }
    if (answer->rc < 0 || answer->status != 200 || !read_lease(l, answer->body)) {
        refused(l, answer, "GET");
        return;
    }
    bool ours = strcmp(l->holder, s->schedule->identity) == 0;
    if (ours || !l->holder[0] || kube_now_ms() - l->seen_ms >= length_ms(l)) {
        take(l); /* whether it is well shows there: who may read it need not be able to write it */
    } else {
        kube_trouble(s, SOURCE_LEASE, NULL);
    }
}

/* The holder writes at once; who does not hold it looks first. */
static void ask(struct lease *l)
{
    struct service *s = l->service;
    if (s->stopping) {
        return;
    }
    MYR_ASSERT(!l->asking);
    if (l->leads) {
        take(l);
        return;
    }
    l->asking = true;
    s->report.leases++;
    kube_ask(&s->client,
             &(struct client_request){
                 .method = "GET", .path = lease_path(s, true), .done = on_get, .context = l});
}

void kube_lease_begin(struct service *s)
{
    struct lease *l = &s->lease;
    MYR_ASSERT(s->begun && !s->stopping && !l->asking);
    *l = (struct lease){.service = s, .held_ms = -1};
    int rc = uv_timer_init(&s->loop, &l->timer);
    MYR_ASSERT(rc == 0);
    l->timer.data = l;
    if (s->schedule->lease_name) {
        uint64_t every_ms = (uint64_t)length_ms(l) / PARTS;
        uv_timer_start(&l->timer, on_timer, 0, every_ms);
    }
}

/* Whatever became of it: the service waits for no more than this. */
static void on_released(void *context, const struct client_answer *answer)
{
    struct service *s = context;
    (void)answer;
    MYR_ASSERT(s->lease.asking && s->stopping);
    s->lease.asking = false;
}

/*
 * A lease without a holder is anybody's at once. One that is asked for just now is left to run out:
 * two questions at a time are not told apart.
 */
void kube_lease_end(struct service *s)
{
    struct lease *l = &s->lease;
    MYR_ASSERT(s->begun && !s->stopping);
    uv_timer_stop(&l->timer);
    if (!s->schedule->lease_name || !kube_lease_held(l) || l->asking) {
        return;
    }
    struct client_request request = {.method = "PUT",
                                     .type = "application/json",
                                     .path = lease_path(s, true),
                                     .done = on_released,
                                     .context = s};
    put_lease(l, "", &request.body);
    MYR_ASSERT(l->leads && l->version[0]);
    l->asking = true;
    s->report.leases++;
    kube_ask(&s->client, &request);
}
