/*
 * flight: a decision carried out. A binding carries the annotations that its pod's ranks read: the
 * API server writes both in one step, so whoever finds a bound pod finds its place beside it. Rank
 * 0 is bound first, with the plan of all; only when that is written the others follow: so whoever
 * finds a gang in part can finish it. A request whose answer was lost is asked again until it is
 * known what became of it; a binding cannot happen twice, because the API server refuses the
 * second.
 */
#include <stdio.h>
#include <stdlib.h>

#include "service.h"

enum {
    RETRY_MS = 1000,    /* after an answer that decides nothing */
    REFUSED_MS = 10000, /* before a decision that was forbidden is made again */
    SETTLE_MS = 1000,   /* after a deletion, until the watch has told of it */
};

/*
 * LEAD: rank 0 alone is bound. CHECK: a binding was refused as done already, by whom is looked up.
 */
enum step { STEP_LEAD, STEP_BIND, STEP_CHECK, STEP_DELETE, STEP_OVER };

/* A pod of the decision. 'step' is its own; the flight goes on when those of all are over. */
struct place {
    struct flight *flight;
    struct myr_kube_seat seat; /* texts in the flight's arena */
    enum step step;
    bool asked; /* one request at a time */
};

struct flight {
    struct service *service;
    struct myr_arena arena;
    struct myr_kube_decision decision; /* texts in the arena */
    struct place *places;
    struct myr_buf common; /* of all bindings; empty: not written yet */
    uint32_t count, asked; /* places; of them those that wait for an answer */
    enum step step;
    bool broken; /* it did not come true for all: decide again */
    /*
     * 'abandoned': another one acts, nothing more is asked. 'told': the cluster knows that it is
     * over.
     */
    bool forbidden, abandoned, told;
    int64_t begun_ms;
    uv_timer_t timer;
    struct flight *next;
};

static void go(struct flight *f);

/* The flight lives until the loop has let go of its timer, and is in the list as long. */
static void on_timer_closed(uv_handle_t *handle)
{
    struct flight *f = handle->data;
    struct service *s = f->service;
    MYR_ASSERT(f->told); /* the cluster does not wait for it */
    for (struct flight **at = &s->flights; *at; at = &(*at)->next) {
        if (*at == f) {
            *at = f->next;
            break;
        }
    }
    myr_arena_done(&f->arena);
    myr_buf_done(&f->common);
    free(f);
}

/* Before the end of this turn of the loop, so that the next decisions do not wait for another. */
static void land(struct flight *f)
{
    /* No answer comes to one that is over. */
    MYR_ASSERT(f->asked == 0 || f->service->stopping);
    if (!f->told) {
        f->told = true;
        myr_kube_over(f->service->cluster, f->decision.gang, !f->broken);
        f->service->round_due = true;
        uv_close((uv_handle_t *)&f->timer, on_timer_closed);
    }
}

static void on_land(uv_timer_t *timer)
{
    land(timer->data);
}

/* The gang is not decided on before: until then its places are taken and its pods left alone. */
static void land_later(struct flight *f, int64_t ms)
{
    MYR_ASSERT(!f->told && f->asked == 0 && ms >= 0);
    uv_timer_start(&f->timer, on_land, (uint64_t)ms, 0);
}

static void on_again(uv_timer_t *timer)
{
    MYR_ASSERT(!((struct flight *)timer->data)->told);
    go(timer->data);
}

static const char *copy(struct flight *f, const char *text)
{
    return text ? myr_arena_strndup(&f->arena, text, strlen(text)) : NULL;
}

/* --- what is asked for a pod */

/* Written once for all pods of it; they are in every binding. */
static void put_common(struct flight *f)
{
    const struct myr_kube_decision *d = &f->decision;
    struct myr_buf *to = &f->common;
    MYR_ASSERT(d->act == MYR_KUBE_BIND && d->placement && d->master);
    myr_buf_put_lit(to, "\",\"" MYR_KUBE_WORLD "\":\"");
    myr_buf_put_u64(to, d->world);
    myr_buf_put_lit(to, "\",\"" MYR_KUBE_MASTER "\":");
    myr_json_quote(to, myr_str_from(d->master));
    myr_buf_put_lit(to, ",\"" MYR_KUBE_PLACEMENT "\":");
    myr_json_quote(to, myr_str_from(d->placement));
    myr_buf_put_lit(to, ",\"" MYR_KUBE_NODE "\":");
}

/*
 * Names, uids and nodes are plain texts (kube_is_name), but for a uid, which could be anything. A
 * large gang has many of these: the pieces are put together without a writer of JSON.
 */
static void put_binding(struct flight *f, const struct myr_kube_seat *seat, struct myr_buf *body)
{
    const struct myr_kube_decision *d = &f->decision;
    MYR_ASSERT(seat->rank < d->world && !seat->bound);
    if (f->common.len == 0) {
        put_common(f);
    }
    myr_buf_reserve(body, f->common.len + 1024);
    myr_buf_put_lit(body, "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"");
    myr_buf_puts(body, seat->name);
    myr_buf_put_lit(body, "\",\"namespace\":\"");
    myr_buf_puts(body, seat->space);
    myr_buf_put_lit(body, "\",\"uid\":"); /* this pod, and none that has its name since */
    myr_json_quote(body, myr_str_from(seat->uid));
    myr_buf_put_lit(body, ",\"annotations\":{\"" MYR_KUBE_RANK "\":\"");
    myr_buf_put_u64(body, seat->rank);
    myr_buf_put(body, f->common.data, f->common.len);
    myr_json_quote(body, myr_str_from(seat->node));
    if (seat->rank == 0 && d->plan) {
        myr_buf_put_lit(body, ",\"" MYR_KUBE_PLAN "\":");
        myr_json_quote(body, myr_str_from(d->plan));
    }
    myr_buf_put_lit(body, "}},\"target\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":");
    myr_json_quote(body, myr_str_from(seat->node));
    myr_buf_put_lit(body, "}}");
}

/* "/api/v1/namespaces/SPACE/pods/NAME", and what of it. */
static char *pod_path(const struct myr_kube_seat *seat, const char *more)
{
    struct myr_buf path = {};
    MYR_ASSERT(seat->space[0] && seat->name[0]); /* else it were the path of all of them */
    myr_buf_reserve(&path, 128);
    myr_buf_put_lit(&path, "/api/v1/namespaces/");
    myr_buf_puts(&path, seat->space);
    myr_buf_put_lit(&path, "/pods/");
    myr_buf_puts(&path, seat->name);
    myr_buf_puts(&path, more);
    return path.data;
}

/* With the uid: a pod that was made under this name since is not deleted in its place. */
static void put_deletion(const struct myr_kube_seat *seat, struct myr_buf *body)
{
    struct myr_json json;
    MYR_ASSERT(seat->uid[0]); /* an empty one would be no precondition */
    myr_json_init(&json, body, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "apiVersion", "v1");
    myr_json_text(&json, "kind", "DeleteOptions");
    myr_json_object(&json, "preconditions");
    myr_json_text(&json, "uid", seat->uid);
    myr_json_end(&json);
    myr_json_end(&json);
}

/* --- answers */

static void ask_place(struct place *p);

/* Was it our own binding whose answer was lost? */
static void check_bound(struct place *p, struct myr_str body)
{
    const struct myr_doc *top;
    struct myr_arena scratch = {};
    bool ours = false;
    MYR_ASSERT(p->step == STEP_CHECK);
    if (myr_doc_read_json(&scratch, "pod", body, &top, NULL) == MYR_OK) {
        const struct myr_doc *meta = myr_doc_get(top, "metadata");
        ours =
            myr_str_eq(kube_text(meta, "uid"), myr_str_from(p->seat.uid)) &&
            myr_str_eq(kube_text(myr_doc_get(meta, "annotations"), MYR_KUBE_PLACEMENT),
                       myr_str_from(p->flight->decision.placement)) &&
            myr_str_eq(kube_text(myr_doc_get(top, "spec"), "nodeName"), myr_str_from(p->seat.node));
    }
    myr_arena_done(&scratch);
    p->step = STEP_OVER;
    p->flight->broken = p->flight->broken || !ours;
}

static enum source source_of(enum step step)
{
    return step == STEP_DELETE ? SOURCE_DELETE : SOURCE_BIND;
}

/* True: it is decided. False: nobody knows, it is asked again. */
static bool judge(struct place *p, const struct client_answer *answer)
{
    struct flight *f = p->flight;
    struct service *s = f->service;
    struct myr_err err = {};
    char path[160];
    MYR_ASSERT(!f->told && !p->asked);
    MYR_ASSERT(p->step != STEP_LEAD && p->step != STEP_OVER); /* of these nothing was asked */
    if (answer->rc < 0) {
        kube_trouble(s, source_of(p->step), answer->err);
        return false;
    }
    if (answer->status >= 200 && answer->status <= 299) {
        kube_trouble(s, source_of(p->step), NULL);
        if (p->step == STEP_CHECK) {
            check_bound(p, answer->body);
        } else {
            p->step = STEP_OVER;
        }
        return true;
    }
    /* Bound already: by us, with an answer that was lost, or by somebody else. */
    if (answer->status == 409 && p->step == STEP_BIND) {
        p->step = STEP_CHECK;
        return false;
    }
    if (p->step == STEP_DELETE && (answer->status == 404 || answer->status == 409)) {
        p->step = STEP_OVER; /* it is gone already, or another pod has its name */
        return true;
    }
    if (answer->status == 404 || answer->status == 409 || answer->status == 422) {
        f->broken = true; /* it has changed meanwhile */
        p->step = STEP_OVER;
        return true;
    }
    snprintf(path, sizeof(path), "/api/v1/namespaces/%.60s/pods/%.60s", p->seat.space,
             p->seat.name);
    (void)kube_refused(&s->access,
                       &(struct client_request){
                           .method = p->step == STEP_DELETE ? "DELETE" : "POST", .path = path},
                       answer->status, answer->body, &err);
    kube_trouble(s, source_of(p->step), &err);
    /* These pass, or are mended from outside: the decision stays as it is. */
    if (answer->status >= 500 || answer->status == 429 || answer->status == 401) {
        return false;
    }
    f->broken = f->forbidden = true;
    p->step = STEP_OVER;
    return true;
}

/*
 * Nothing is done before all answers of a step are there: then those that are open are asked again,
 * or the next step begins. After a conflict at once: the question is another one.
 */
static void on_answer(void *context, const struct client_answer *answer)
{
    struct place *p = context;
    struct flight *f = p->flight;
    MYR_ASSERT(p->asked && f->asked > 0);
    p->asked = false;
    f->asked--;
    MYR_ASSERT(f->asked < f->count);
    judge(p, answer);
    if (f->asked > 0) {
        return;
    }
    bool open = false;
    for (uint32_t i = 0; i < f->count; i++) {
        open = open || f->places[i].step != STEP_OVER;
    }
    if (open && !f->abandoned) {
        uv_timer_start(&f->timer, on_again,
                       answer->rc == MYR_OK && answer->status == 409 ? 0 : RETRY_MS, 0);
    } else {
        go(f);
    }
}

/* One request for one pod, by the step that it is at; none where it is over. */
static void ask_place(struct place *p)
{
    struct flight *f = p->flight;
    struct service *s = f->service;
    struct client_request request = {.done = on_answer, .context = p};
    switch (p->step) {
    case STEP_BIND:
        request.method = "POST";
        request.type = "application/json";
        request.path = pod_path(&p->seat, "/binding");
        put_binding(f, &p->seat, &request.body);
        s->report.bindings++;
        break;
    case STEP_DELETE:
        request.method = "DELETE";
        request.type = "application/json";
        request.path = pod_path(&p->seat, "");
        put_deletion(&p->seat, &request.body);
        s->report.deletions++;
        break;
    case STEP_CHECK:
        request.method = "GET";
        request.path = pod_path(&p->seat, "");
        break;
    case STEP_LEAD: /* of a flight, not of a pod */
    case STEP_OVER:
        return;
    }
    MYR_ASSERT(!p->asked && f->asked < f->count);
    p->asked = true;
    f->asked++;
    kube_ask(&s->client, &request);
}

/* --- the steps */

static struct tell_owner owner_of(const struct flight *f)
{
    MYR_ASSERT(f->count > 0);
    const struct myr_kube_decision *d = &f->decision;
    return (struct tell_owner){f->places[0].seat.space, d->owner_kind, d->owner_name, d->owner_uid,
                               d->owner_api};
}

/* Pods that were bound before (a plan that is finished) have had their event. */
static void told_bound(struct flight *f)
{
    struct service *s = f->service;
    struct tell_owner owner = owner_of(f);
    char text[700];
    MYR_ASSERT(f->step == STEP_BIND && !f->broken && f->asked == 0);
    const char *first = f->places[0].seat.node, *last = f->places[f->count - 1].seat.node;
    /*
     * All of them have rank and node among their annotations, which describe shows too. An event is
     * a request, and an object in etcd: one a pod was a third of a large gang's work.
     */
    for (uint32_t i = 0; i < f->count && i < KUBE_BOUND_PODS_TOLD; i++) {
        if (!f->places[i].seat.bound) {
            snprintf(text, sizeof(text), "Successfully assigned %s/%s to %s as rank %u of %u",
                     f->places[i].seat.space, f->places[i].seat.name, f->places[i].seat.node,
                     f->places[i].seat.rank, f->count);
            kube_tell_pod(s, &f->places[i].seat, &(struct tell){"Scheduled", "Normal", text});
        }
    }
    snprintf(text, sizeof(text), "%u pods bound at once: rank 0 on %s, rank %u on %s", f->count,
             first, f->count - 1, last);
    kube_tell_owner(s, &owner, &(struct tell){"GangBound", "Normal", text});
    s->report.gangs_bound++;
    s->report.gangs_finished += f->decision.finishes;
    s->report.pods_bound += f->count;
    kube_say(s, "info", "bound %s: %s in %lld ms", f->decision.gang, text,
             (long long)(kube_now_ms() - f->begun_ms));
}

/* The pods' own events would go with them: the owner is told. */
static void told_deleted(struct flight *f)
{
    MYR_ASSERT(f->step == STEP_DELETE && f->decision.act == MYR_KUBE_REMAKE && !f->broken);
    struct tell_owner owner = owner_of(f);
    kube_tell_owner(f->service, &owner,
                    &(struct tell){"GangRemade", "Warning", f->decision.reason});
    f->service->report.gangs_remade++;
    kube_say(f->service, "warning", "remade %s: %s", f->decision.gang, f->decision.reason);
}

/* Everything of a step is over: the next one, or the end. */
static void advance(struct flight *f)
{
    MYR_ASSERT(f->asked == 0 && !f->told);
    if (f->broken) {
        kube_say(f->service, "info", "%s: %s, decided again", f->decision.gang,
                 f->forbidden ? "refused" : "has changed meanwhile");
        /* Nothing is bound yet, or the watch is to tell first what is. */
        land_later(f, f->forbidden ? REFUSED_MS : f->step == STEP_LEAD ? 0 : SETTLE_MS);
    } else if (f->step == STEP_LEAD) {
        MYR_ASSERT(f->count > 1 && f->places[0].step == STEP_OVER);
        f->step = STEP_BIND;
        for (uint32_t i = 1; i < f->count; i++) {
            f->places[i].step = STEP_BIND;
        }
        go(f);
    } else if (f->step == STEP_BIND) {
        told_bound(f);
        land(f);
    } else {
        told_deleted(f);
        land_later(f, SETTLE_MS);
    }
}

/* Asks for every place that is open. No answer is outstanding when it is called. */
static void go(struct flight *f)
{
    uint32_t open = 0;
    MYR_ASSERT(f->asked == 0 && !f->told);
    if (f->abandoned) {
        f->broken = true;
        land(f);
        return;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        open += f->places[i].step != STEP_OVER;
    }
    if (open == 0) {
        advance(f);
        return;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        ask_place(&f->places[i]);
    }
}

/* All texts are copied: a decision lives only until the next round. */
void kube_flight_begin(struct service *s, const struct myr_kube_decision *d)
{
    MYR_ASSERT(d->act != MYR_KUBE_WAIT && d->seat_count > 0);
    struct flight *f = myr_xcalloc(1, sizeof(*f));
    f->service = s;
    f->begun_ms = kube_now_ms();
    f->count = d->seat_count;
    MYR_ASSERT((d->act == MYR_KUBE_BIND) == (d->placement != NULL));
    f->decision = (struct myr_kube_decision){.act = d->act,
                                             .gang = copy(f, d->gang),
                                             .master = copy(f, d->master),
                                             .placement = copy(f, d->placement),
                                             .plan = copy(f, d->plan),
                                             .world = d->world,
                                             .finishes = d->finishes,
                                             .owner_kind = copy(f, d->owner_kind),
                                             .owner_name = copy(f, d->owner_name),
                                             .owner_uid = copy(f, d->owner_uid),
                                             .owner_api = copy(f, d->owner_api),
                                             .reason = copy(f, d->reason)};
    /*
     * A gang of one needs no plan; of one that is finished rank 0 is there already, with its plan.
     */
    f->step = d->act == MYR_KUBE_REMAKE      ? STEP_DELETE
              : d->finishes || f->count == 1 ? STEP_BIND
                                             : STEP_LEAD;
    /* Whoever is bound first carries the plan: that is rank 0. */
    MYR_ASSERT(f->step != STEP_LEAD || (d->seats[0].rank == 0 && !d->seats[0].bound));
    enum step first = f->step == STEP_DELETE ? STEP_DELETE : STEP_BIND;
    f->places = MYR_ARENA_NEW(&f->arena, struct place, f->count);
    for (uint32_t i = 0; i < f->count; i++) {
        const struct myr_kube_seat *seat = &d->seats[i];
        f->places[i] = (struct place){
            .flight = f,
            .step = seat->bound || (i > 0 && f->step == STEP_LEAD) ? STEP_OVER : first,
            .seat = {.space = copy(f, seat->space),
                     .name = copy(f, seat->name),
                     .uid = copy(f, seat->uid),
                     .node = copy(f, seat->node),
                     .rank = seat->rank,
                     .bound = seat->bound}};
    }
    int rc = uv_timer_init(&s->loop, &f->timer);
    MYR_ASSERT(rc == 0);
    f->timer.data = f;
    f->next = s->flights;
    s->flights = f;
    go(f);
}

/* One that waits for answers lands when they have come; at the end of the service none comes. */
void kube_flight_abandon(struct service *s)
{
    for (struct flight *f = s->flights; f; f = f->next) {
        MYR_ASSERT(f->service == s && f->asked <= f->count);
        f->abandoned = true;
        if (f->asked == 0 || s->stopping) {
            f->broken = true;
            land(f);
        }
    }
}
