/*
 * schedule: all of it, from the first question to the last word. One loop: watches tell, a round
 * decides when something has changed, flights carry out what was decided, the lease says whether
 * any of it may happen. Before it waits for more the loop gathers, so that many words cost one
 * wake.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "service.h"

enum {
    ROUND_MS = 20,        /* between two rounds of decisions */
    GATHER_MIN_US = 2000, /* on_gather(): the least and the most that it waits */
    GATHER_MAX_US = 96000,
    REST_MIN_US = 32000, /* while nothing waits for it */
    REST_MAX_US = 128000,
    SILENCE_US = 200000, /* then it is over, and what comes next is the first of something else */
    PACE_US = 1000,      /* an answer, or a pod, at the beginning */
    PACE_MIN_US = 200,
    PACE_MAX_US = 20000,
    VERSION_RETRY_MS = 3000, /* before it is asked again for its version */
    RELEASE_MS = 1000,       /* for the lease to be given back */
    OLDEST_MINOR = 16,       /* of version 1; what is older is not spoken to */
    IDLE_AFTER_MS = 3000,    /* since the last round, before a second counts as idle */
};

/* --- decisions */

/* A round's work is shared by the gangs that it bound: each is one sample. The oldest make room. */
static void record_work(struct service *s, double ms, uint32_t gangs)
{
    MYR_ASSERT(gangs > 0 && s->work_ms);
    for (uint32_t i = 0; i < gangs; i++) {
        s->work_ms[s->work_count++ % WORK_SAMPLES] = ms / gangs;
    }
}

/* Processor time of this thread, not of the clock: other work of the machine is not ours. */
static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1000 + (double)now.tv_nsec / 1e6;
}

/* decide.c hands out only what is worth telling; here it is told to pods, owner and log alike. */
static void tell_waiting(struct service *s, const struct myr_kube_decision *d)
{
    MYR_ASSERT(d->act == MYR_KUBE_WAIT && d->reason && d->seat_count <= KUBE_GANG_PODS_TOLD);
    const struct tell tell = {"FailedScheduling", "Warning", d->reason};
    for (uint32_t i = 0; i < d->seat_count; i++) {
        kube_tell_pod(s, &d->seats[i], &tell);
    }
    if (d->seat_count && d->owner_uid) {
        const struct tell_owner owner = {d->seats[0].space, d->owner_kind, d->owner_name,
                                         d->owner_uid, d->owner_api};
        kube_tell_owner(s, &owner, &(struct tell){"GangWaits", "Warning", d->reason});
    }
    kube_say(s, "info", "waits %s: %s", d->gang, d->reason);
}

/*
 * One round: decisions, and each of them on its way. Those of the round live until the next one; a
 * flight keeps copies.
 */
static void decide_now(struct service *s)
{
    uint32_t count, bound = 0;
    double begun = cpu_ms();
    /* Half a list, or somebody else's turn: then nothing is decided. */
    MYR_ASSERT(s->begun && !s->stopping && s->watches[MYR_KUBE_PODS].listed);
    s->round_ms = kube_now_ms();
    s->round_due = false;
    if (s->rounds++ == 0) { /* from here on it is we who bind */
        kube_warm(&s->client);
    }
    const struct myr_kube_decision *decisions =
        myr_kube_decide(s->cluster, kube_wall_ms(), s->epoch, &count);
    double took = cpu_ms() - begun;
    MYR_ASSERT(count == 0 || decisions);
    for (uint32_t i = 0; i < count; i++) {
        bound += decisions[i].act == MYR_KUBE_BIND;
        if (decisions[i].act == MYR_KUBE_WAIT) {
            tell_waiting(s, &decisions[i]);
        } else {
            kube_flight_begin(s, &decisions[i]);
        }
    }
    if (bound) {
        record_work(s, took, bound);
    }
}

static void on_wake(uv_timer_t *timer)
{
    struct service *s = timer->data;
    MYR_ASSERT(s->begun && !s->stopping); /* stop() stops it */
    s->round_due = true;                  /* on_check() does it behind this turn */
}

/* Nothing is decided on half a list: nodes or pods that are not known yet would be missed. */
static bool all_known(const struct service *s)
{
    for (uint32_t i = 0; i < MYR_KUBE_KINDS; i++) {
        if (!s->watches[i].listed || s->watches[i].relist) {
            return false;
        }
    }
    return true;
}

/* Behind every turn of the loop: what came may change what is to be done. */
static void on_check(uv_check_t *check)
{
    struct service *s = check->data;
    if (s->stopping || !s->begun || !all_known(s) || !kube_lease_held(&s->lease)) {
        return;
    }
    if (!s->round_due && !myr_kube_changed(s->cluster)) {
        return;
    }
    int64_t since_ms = kube_now_ms() - s->round_ms;
    MYR_ASSERT(since_ms >= 0);
    /* Too soon after the last one: what comes meanwhile is decided on together with it. */
    if (since_ms < ROUND_MS) {
        if (!uv_is_active((uv_handle_t *)&s->wake) || uv_timer_get_due_in(&s->wake) > ROUND_MS) {
            uv_timer_start(&s->wake, on_wake, (uint64_t)(ROUND_MS - since_ms), 0);
        }
        return;
    }
    decide_now(s);
    int64_t wake_ms = myr_kube_wake_ms(s->cluster), now_ms = kube_wall_ms();
    uv_timer_stop(&s->wake);
    if (wake_ms != INT64_MAX) {
        /* By the clock of the wall, as decisions are; it may have passed already. */
        int64_t wait_ms = wake_ms > now_ms + ROUND_MS ? wake_ms - now_ms : ROUND_MS;
        uv_timer_start(&s->wake, on_wake, (uint64_t)wait_ms, 0);
    }
}

static int64_t between(int64_t least, int64_t value, int64_t most)
{
    MYR_ASSERT(least <= most);
    return value < least ? least : value > most ? most : value;
}

/* Answers to us, or pods of a gang that is being made; whichever is sooner all there. */
static int64_t left_to_come(const struct service *s)
{
    int64_t answers = kube_unanswered(&s->client), pods = myr_kube_missing(s->cluster);
    return answers && pods ? (answers < pods ? answers : pods) : answers + pods;
}

/* How long one of what is to come took lately: half of it the last time, half what was before. */
static void learn_pace(struct service *s, int64_t left, int64_t now_us)
{
    MYR_ASSERT(left >= 0 && s->left >= 0);
    if (left < s->left) {
        int64_t took_us = (now_us - s->left_us) / (s->left - left);
        s->pace_us = (s->pace_us + between(PACE_MIN_US, took_us, PACE_MAX_US)) / 2;
        MYR_ASSERT(s->pace_us >= PACE_MIN_US / 2 && s->pace_us <= PACE_MAX_US);
    }
    if (left != s->left) {
        s->left = left;
        s->left_us = now_us;
    }
    MYR_ASSERT(s->left == left && s->left_us <= now_us);
}

/*
 * How long to wait for more: where it is known how much is to come, for as long as all of it should
 * take. Else longer each time, longest where no gang waits for what is said (pods that end, or of
 * others). Where nothing is under way not less than until it may be decided on.
 */
static int64_t gather_us(const struct service *s)
{
    bool rests = s->begun && !s->flights && !myr_kube_waits(s->cluster);
    int64_t round_us = (ROUND_MS - (kube_now_ms() - s->round_ms)) * 1000;
    bool later = s->begun && !s->flights && myr_kube_changed(s->cluster);
    int64_t least = later && round_us > GATHER_MIN_US ? round_us : GATHER_MIN_US;
    return s->left ? between(least, s->left * s->pace_us, GATHER_MAX_US)
           : rests ? between(REST_MIN_US, s->gather_us * 2, REST_MAX_US)
                   : between(least, s->gather_us * 2, GATHER_MAX_US);
}

/*
 * Where one word came, more are on their way: an API server tells of every pod on its own, and
 * answers as often. To be woken for each would cost more than to read it; so whoever was just woken
 * waits a moment before it looks again. The first word after a rest is read at once. What is to be
 * asked goes out before.
 */
static void on_gather(uv_prepare_t *prepare)
{
    struct service *s = prepare->data;
    kube_flush(&s->client);
    if (s->client.heard == s->heard_before || s->stopping) {
        return;
    }
    int64_t now_us = (int64_t)(uv_hrtime() / 1000);
    if (now_us - s->heard_us > SILENCE_US) {
        s->gather_us = 0;
    }
    s->heard_before = s->client.heard;
    s->heard_us = now_us;
    learn_pace(s, left_to_come(s), now_us);
    s->gather_us = gather_us(s);
    MYR_ASSERT(s->gather_us >= GATHER_MIN_US && s->gather_us <= REST_MAX_US);
    (void)nanosleep(&(struct timespec){.tv_nsec = s->gather_us * 1000L}, NULL);
}

/* Seconds in which nothing was decided and nothing is under way are idle ones. */
static void on_second(uv_timer_t *timer)
{
    struct service *s = timer->data;
    kube_flush(&s->client); /* what was asked in this turn is counted there too */
    uint64_t asked = s->client.asked - s->report.leases;
    bool idle = s->begun && !s->stopping && all_known(s) && !s->flights &&
                s->rounds == s->rounds_before && kube_now_ms() - s->round_ms > IDLE_AFTER_MS;
    MYR_ASSERT(s->rounds >= s->rounds_before && (s->rounds == 0 || s->begun));
    if (idle) {
        s->report.idle_seconds++;
        s->idle_requests += (double)((int64_t)asked - (int64_t)s->asked_before);
    }
    s->asked_before = asked;
    s->rounds_before = s->rounds;
}

/* --- the beginning: does it speak what we do? */

static void ask_version(struct service *s);

/* The timer is that of rounds, which has nothing else to do before the beginning. */
static void on_version_again(uv_timer_t *timer)
{
    struct service *s = timer->data;
    MYR_ASSERT(timer == &s->wake && !s->stopping);
    if (s->begun) {
        on_wake(timer);
    } else {
        ask_version(s);
    }
}

/* An address of something else that answers with 200 must not be taken for an API server. */
static int check_version(struct service *s, struct myr_str body, struct myr_err *err)
{
    const struct myr_doc *top;
    struct myr_arena scratch = {};
    uint64_t major = 0, minor = 0;
    char said[64] = "";
    bool untold = false;
    if (myr_doc_read_json(&scratch, "version", body, &top, NULL) == MYR_OK) {
        struct myr_str first = kube_text(top, "major"), second = kube_text(top, "minor");
        snprintf(said, sizeof(said), "%.*s.%.*s", (int)(first.len < 20 ? first.len : 20),
                 first.data, (int)(second.len < 20 ? second.len : 20), second.data);
        /* Some vendors write "20+". */
        second.len -= second.len > 0 && second.data[second.len - 1] == '+';
        if (!myr_str_to_u64(first, &major) || !myr_str_to_u64(second, &minor)) {
            major = 0;
        }
        /* Built from sources without a stamp: what it serves will show. */
        untold = first.len == 0 && second.len == 0 && kube_text(top, "gitVersion").len > 0;
    }
    myr_arena_done(&scratch);
    if (untold || (major == 1 && minor >= OLDEST_MINOR)) {
        kube_say(s, "info", "%s: Kubernetes %s", s->access.url,
                 untold ? "of a version that it does not tell" : said);
        return MYR_OK;
    }
    return myr_err_set(err, MYR_EVERSION,
                       "%s: speaks %s%s; Kubernetes 1.%d or later of major version 1 is expected",
                       s->access.url, said[0] && said[0] != '.' ? "Kubernetes " : "no version",
                       said[0] && said[0] != '.' ? said : "", OLDEST_MINOR);
}

/*
 * No answer, a refusal and another version are all told and asked again: each may be mended without
 * a start of ours. Lists and the lease begin when it was answered well.
 */
static void on_version(void *context, const struct client_answer *answer)
{
    struct service *s = context;
    struct myr_err err = {};
    char path[] = "/version";
    int rc = answer->rc;
    if (s->stopping) {
        return; /* nothing begins that would have to be ended */
    }
    MYR_ASSERT(!s->begun); /* asked until it is answered well, and not again */
    if (rc < 0) {
        err = *answer->err;
    } else if (answer->status != 200) {
        rc = kube_refused(&s->access, &(struct client_request){.method = "GET", .path = path},
                          answer->status, answer->body, &err);
    } else {
        rc = check_version(s, answer->body, &err);
    }
    if (rc < 0) {
        kube_trouble(s, SOURCE_VERSION, &err);
        uv_timer_start(&s->wake, on_version_again, VERSION_RETRY_MS, 0);
        return;
    }
    kube_trouble(s, SOURCE_VERSION, NULL);
    /* From here on watches and lease have handles, which the end has to close. */
    s->begun = true;
    kube_watch_begin(s, MYR_KUBE_NODES);
    kube_watch_begin(s, MYR_KUBE_PODS);
    kube_lease_begin(s);
}

static void ask_version(struct service *s)
{
    MYR_ASSERT(!s->begun && !s->stopping);
    kube_ask(&s->client,
             &(struct client_request){
                 .method = "GET", .path = kube_path("/version"), .done = on_version, .context = s});
}

/* --- the end */

static void on_nothing(uv_handle_t *handle)
{
    (void)handle;
}

/* Every handle is closed, and so the loop ends. The client first: no answer comes after it. */
static void end_now(uv_timer_t *timer)
{
    struct service *s = timer->data;
    MYR_ASSERT(s->stopping);
    kube_end(&s->client);
    kube_flight_abandon(s);
    if (s->begun) {
        kube_watch_end(&s->watches[MYR_KUBE_NODES]);
        kube_watch_end(&s->watches[MYR_KUBE_PODS]);
        uv_close((uv_handle_t *)&s->lease.timer, on_nothing);
    }
    uv_close((uv_handle_t *)&s->wake, on_nothing);
    uv_close((uv_handle_t *)&s->second, on_nothing);
    uv_close((uv_handle_t *)&s->limit, on_nothing);
    uv_close((uv_handle_t *)&s->check, on_nothing);
    uv_close((uv_handle_t *)&s->gather, on_nothing);
    uv_close((uv_handle_t *)&s->term, on_nothing);
    uv_close((uv_handle_t *)&s->interrupt, on_nothing);
}

/*
 * Another scheduler need not wait for the length of the lease if it is given back; but who stops
 * does not wait for that for long.
 */
static void on_release_wait(uv_timer_t *timer)
{
    struct service *s = timer->data;
    MYR_ASSERT(s->stopping && timer == &s->limit);
    static const int64_t step_ms = 20;
    if (s->lease.asking && kube_now_ms() - s->begun_ms < RELEASE_MS) {
        uv_timer_start(timer, on_release_wait, (uint64_t)step_ms, 0);
    } else {
        end_now(timer);
    }
}

/* 'begun_ms' is that of the end from here on: the report has what it ran. */
static void stop(struct service *s)
{
    if (s->stopping) {
        return;
    }
    s->report.seconds = (double)(kube_now_ms() - s->begun_ms) / 1000;
    s->report.counts = myr_kube_counts(s->cluster);
    if (s->begun) {
        kube_lease_end(s);
    }
    s->stopping = true;
    uv_timer_stop(&s->wake); /* what was due in the same turn comes too late */
    MYR_ASSERT(s->report.seconds >= 0);
    s->begun_ms = kube_now_ms();
    uv_timer_start(&s->limit, on_release_wait, 0, 0);
}

static void on_limit(uv_timer_t *timer)
{
    stop(timer->data);
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    stop(handle->data);
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Behind the loop: nothing is counted any more. */
static void sum_up(struct service *s)
{
    struct myr_kube_report *r = &s->report;
    size_t count = s->work_count < WORK_SAMPLES ? (size_t)s->work_count : WORK_SAMPLES;
    MYR_ASSERT(!s->flights); /* the loop has closed the last of them */
    r->requests = s->client.asked;
    r->requests_per_s = r->seconds > 0 ? (double)r->requests / r->seconds : 0;
    r->idle_requests_per_s = r->idle_seconds > 0 ? s->idle_requests / r->idle_seconds : 0;
    r->decisions = s->work_count;
    if (count > 0) {
        qsort(s->work_ms, count, sizeof(double), compare_doubles);
        r->work_p50_ms = s->work_ms[count / 2];
        /* The smallest sample that 99 of 100 do not pass. */
        r->work_p99_ms = s->work_ms[(count * 99 + 99) / 100 - 1];
        r->work_max_ms = s->work_ms[count - 1];
        MYR_ASSERT(r->work_p50_ms <= r->work_p99_ms && r->work_p99_ms <= r->work_max_ms);
    }
}

/*
 * The check runs behind every turn and the prepare before every wait: rounds there, gathering here.
 */
static void init_handles(struct service *s)
{
    MYR_ASSERT(s->schedule && s->cluster && s->work_ms);
    uv_timer_init(&s->loop, &s->wake);
    uv_timer_init(&s->loop, &s->second);
    uv_timer_init(&s->loop, &s->limit);
    uv_check_init(&s->loop, &s->check);
    uv_prepare_init(&s->loop, &s->gather);
    uv_signal_init(&s->loop, &s->term);
    uv_signal_init(&s->loop, &s->interrupt);
    s->wake.data = s->second.data = s->limit.data = s->check.data = s->gather.data = s;
    s->term.data = s->interrupt.data = s;
    uv_check_start(&s->check, on_check);
    uv_prepare_start(&s->gather, on_gather);
    uv_signal_start(&s->term, on_signal, SIGTERM);
    uv_signal_start(&s->interrupt, on_signal, SIGINT);
    uv_timer_start(&s->second, on_second, 1000, 1000);
    if (s->schedule->stop_after_s) {
        uv_timer_start(&s->limit, on_limit, (uint64_t)s->schedule->stop_after_s * 1000, 0);
    }
}

int myr_kube_schedule(const struct myr_kube_schedule *schedule, struct myr_err *err)
{
    MYR_CLEANUP(myr_free_at) struct service *s = myr_xcalloc(1, sizeof(*s));
    s->schedule = schedule;
    MYR_TRY(myr_kube_access_find(&schedule->where, &s->access, err));
    int rc = uv_loop_init(&s->loop);
    MYR_ASSERT(rc == 0);
    rc = kube_begin(&s->client, &s->loop, &s->access, schedule->timeout_s, err);
    if (rc < 0) {
        uv_loop_close(&s->loop);
        myr_kube_access_done(&s->access);
        return rc;
    }
    /* A connection that the other side has closed is an error of a write, not the end of us. */
    signal(SIGPIPE, SIG_IGN);
    s->begun_ms = kube_now_ms();
    /* Grows from start to start, also on another machine as far as clocks agree. */
    s->epoch = (uint64_t)kube_wall_ms();
    s->work_ms = myr_xcalloc(WORK_SAMPLES, sizeof(double));
    s->cluster = myr_kube_cluster_create(&schedule->policy);
    s->lease.service = s;
    s->pace_us = PACE_US;
    init_handles(s);
    ask_version(s);
    uv_run(&s->loop, UV_RUN_DEFAULT);
    rc = uv_loop_close(&s->loop);
    MYR_ASSERT(rc == 0);
    sum_up(s);
    if (schedule->report) {
        *schedule->report = s->report;
    }
    myr_kube_cluster_free(s->cluster);
    myr_kube_access_done(&s->access);
    free(s->work_ms);
    return MYR_OK;
}
