/*
 * An API server of the test's own, in the thread of whoever asks it, and in a time of its own: what
 * is asked of it, when and over which connection, and what is said of it, becomes one text. Hours
 * pass at once, nothing goes over a network, and the same is told every time. For one source of a
 * test program; include it after cmocka.
 */
#pragma once

#include "api_objects_test.h"

/* --- faults */

/* The next so many requests of that kind. */
static inline void api_fault(const char *method, const char *path, int way, const char *text,
                             uint32_t times)
{
    uint32_t i = 0;
    while (i < API_FAULTS && api.faults[i].times) {
        i++;
    }
    assert_true(i < API_FAULTS);
    api.faults[i] = (struct api_fault){method, path, way, text, times};
}

static inline struct api_fault *api_fault_of(const char *method, const char *path)
{
    for (uint32_t i = 0; i < API_FAULTS; i++) {
        if (api.faults[i].times && strcmp(api.faults[i].method, method) == 0 &&
            strstr(path, api.faults[i].path)) {
            api.faults[i].times--;
            return &api.faults[i];
        }
    }
    return NULL;
}

static inline void api_err(struct api_peer *peer, const struct api_fault *fault, const char *method,
                           const char *path, const json_t *body)
{
    switch (fault->way) {
    case API_DOES_IT:
        api_do(peer, method, path, body);
        api_leave(peer);
        break;
    case API_CLOSES:
        api_leave(peer);
        break;
    case API_IS_GONE:
        for (uint32_t i = 0; i < API_PEERS; i++) {
            if (api.peers[i].fd) {
                api_leave(&api.peers[i]);
            }
        }
        break;
    case API_IS_SILENT:
        peer->deaf = true;
        break;
    case API_BABBLES:
        api_send(peer, "SSH-2.0-Server\r\n\r\n", 18, false);
        break;
    case API_BREAKS_OFF:
        api_send(peer, "HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{\"a", 42, true);
        break;
    case API_SAYS_TWICE:
        api_do(peer, method, path, body);
        api_answer(peer, 200, "{}");
        break;
    default:
        api_refuse(peer, fault->way, fault->text);
        break;
    }
}

/* --- the server's turn */

static inline void api_put_request(const struct api_peer *peer, const char *method,
                                   const char *path, const char *head, const char *body)
{
    char rest[400] = "";
    uint32_t seen = 0;
    if (api.only && !strstr(path, api.only)) {
        return;
    }
    for (const char *at = strstr(head, "\r\n"); at && at[2]; at = strstr(at + 2, "\r\n")) {
        size_t used = strlen(rest);
        if (strncmp(at + 2, "Content-Length", 14) != 0) {
            snprintf(rest + used, sizeof(rest) - used, " | %.*s", (int)strcspn(at + 2, "\r"),
                     at + 2);
        }
    }
    while (seen < MYR_ARRAY_COUNT(api.heads) && strcmp(rest, api.heads[seen]) != 0 &&
           api.heads[seen][0]) {
        seen++;
    }
    bool fresh = seen == MYR_ARRAY_COUNT(api.heads) || !api.heads[seen][0];
    if (seen < MYR_ARRAY_COUNT(api.heads)) {
        snprintf(api.heads[seen], sizeof(api.heads[seen]), "%s", rest);
    }
    api_note("#%u %s %s%s%s%s", peer->number, method, path, fresh ? rest : "",
             body[0] ? "\n           " : "", body);
}

/* True: there may be more. */
static inline bool api_take(struct api_peer *peer)
{
    char *end = peer->in.len ? memmem(peer->in.data, peer->in.len, "\r\n\r\n", 4) : NULL;
    if (!end || peer->deaf) {
        return false;
    }
    const char *stated =
        memmem(peer->in.data, (size_t)(end - peer->in.data), "Content-Length: ", 16);
    size_t length = stated ? (size_t)api_number(stated + 16) : 0;
    size_t whole = (size_t)(end - peer->in.data) + 4 + length;
    if (peer->in.len < whole) {
        return false;
    }
    char method[16], path[600];
    struct myr_buf text = {}, rest = {};
    end[2] = '\0';
    size_t word = strcspn(peer->in.data, " ");
    snprintf(method, sizeof(method), "%.*s", (int)word, peer->in.data);
    snprintf(path, sizeof(path), "%.*s", (int)strcspn(peer->in.data + word + 1, " "),
             peer->in.data + word + 1);
    myr_buf_put(&text, end + 4, length);
    api_put_request(peer, method, path, peer->in.data, text.len ? text.data : "");
    myr_buf_put(&rest, peer->in.data + whole, peer->in.len - whole);
    myr_buf_done(&peer->in);
    peer->in = rest;
    json_t *body = text.len ? json_loadb(text.data, text.len, 0, NULL) : NULL;
    assert_true(!text.len || body);
    const char *below = strncmp(path, "/k8s", 4) == 0 ? path + 4 : path;
    const struct api_fault *fault = api_fault_of(method, below);
    if (fault) {
        api_err(peer, fault, method, below, body);
    } else {
        api_do(peer, method, below, body);
    }
    json_decref(body);
    myr_buf_done(&text);
    return peer->fd != 0;
}

static inline void api_hear(struct api_peer *peer)
{
    char bytes[65536];
    ssize_t got = read(peer->fd, bytes, sizeof(bytes));
    if (got == 0) {
        if (!api.only) {
            api_note("#%u ends", peer->number);
        }
        api_leave(peer);
    } else if (got > 0) {
        myr_buf_put(&peer->in, bytes, (size_t)got);
        while (api_take(peer)) {
        }
    }
}

static inline void api_hear_all(void)
{
    for (uint32_t i = 0; i < API_PEERS; i++) {
        if (api.peers[i].fd) {
            api_hear(&api.peers[i]);
        }
    }
}

/* What is due goes out, in the order in which it was said. */
static inline void api_deliver(void)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < api.piece_count; i++) {
        struct api_piece piece = api.pieces[i];
        if (piece.at_ns > api.clock_ns) {
            api.pieces[kept++] = piece;
            continue;
        }
        if (piece.fd >= 0) {
            ssize_t sent = send(piece.fd, piece.bytes.data, piece.bytes.len, MSG_NOSIGNAL);
            assert_true(sent == (ssize_t)piece.bytes.len || (sent < 0 && errno == EPIPE));
        }
        for (uint32_t k = 0; piece.closes && k < API_PEERS; k++) {
            if (api.peers[k].fd && api.peers[k].fd == piece.fd) {
                api_leave(&api.peers[k]);
            }
        }
        myr_buf_done(&piece.bytes);
    }
    api.piece_count = kept;
}

FOR_ALL int nanosleep(const struct timespec *wish, struct timespec *left)
{
    (void)left;
    api_hear_all(); /* what was asked before is on its way */
    if (api.tells_sleep) {
        api_note("sleeps %lld us", (long long)(wish->tv_sec * 1000000 + wish->tv_nsec / 1000));
    }
    api.clock_ns += wish->tv_sec * 1000000000 + wish->tv_nsec;
    return 0;
}

static inline int api_poll(int fd, struct epoll_event *events, int most, int timeout_ms,
                           const sigset_t *mask)
{
    int64_t until_ns = timeout_ms < 0 ? INT64_MAX : api.clock_ns + timeout_ms * 1000000LL;
    for (;;) {
        while (api_event_ns() <= api.clock_ns) {
            void (*happens)(void) = api.events[api.happened++].happens;
            happens();
        }
        api_hear_all();
        api_deliver();
        int got = (int)syscall(SYS_epoll_pwait, fd, events, most, 0, mask, 8);
        if (got != 0 || timeout_ms == 0) {
            return got;
        }
        int64_t next_ns = api_event_ns();
        for (uint32_t i = 0; i < api.piece_count; i++) {
            next_ns = api.pieces[i].at_ns < next_ns ? api.pieces[i].at_ns : next_ns;
        }
        if (next_ns > until_ns || next_ns == INT64_MAX) {
            assert_true(until_ns != INT64_MAX); /* else nothing will ever happen */
            api.clock_ns = until_ns;
            return 0;
        }
        api.clock_ns = next_ns;
    }
}

FOR_ALL int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout_ms,
                        const sigset_t *mask)
{
    return api_poll(fd, events, most, timeout_ms, mask);
}

FOR_ALL int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    return api_poll(fd, events, most, timeout_ms, NULL);
}

/* --- from the beginning to the end */

static inline void api_config(const char *token)
{
    char path[100];
    struct myr_buf text = {};
    snprintf(path, sizeof(path), "%s/config", api.folder);
    myr_buf_printf(&text,
                   "current-context: c\nclusters: [{name: k, cluster: {server: "
                   "'http://127.0.0.1:6443/k8s'}}]\nusers: [{name: u, user: {token: %s}}]\n"
                   "contexts: [{name: c, context: {cluster: k, user: u}}]\n",
                   token);
    assert_int_equal(myr_file_write(path, &text, NULL), MYR_OK);
    myr_buf_done(&text);
}

static inline void api_begin(const char *title)
{
    struct myr_buf story = api.story;
    memset(&api, 0, sizeof(api));
    api.story = story;
    api.clock_ns = 1000000000000;
    api.version = 100;
    api.page = 100;
    api.release = "{\"major\":\"1\",\"minor\":\"29+\"}";
    snprintf(api.folder, sizeof(api.folder), "/tmp/myr-api-XXXXXX");
    assert_non_null(mkdtemp(api.folder));
    api_config("secret");
    myr_buf_printf(&api.story, "== %s\n", title);
}

static inline void api_end(void)
{
    char path[100];
    for (uint32_t i = 0; i < API_PEERS; i++) {
        if (api.peers[i].fd) {
            api_leave(&api.peers[i]);
        }
    }
    for (uint32_t i = 0; i < api.piece_count; i++) {
        myr_buf_done(&api.pieces[i].bytes);
    }
    for (uint32_t kind = 0; kind < MYR_KUBE_KINDS; kind++) {
        for (uint32_t i = 0; i < api.counts[kind]; i++) {
            json_decref(api.objects[kind][i]);
        }
    }
    json_decref(api.lease);
    for (uint32_t i = 0; i < API_FAULTS; i++) {
        assert_int_equal(api.faults[i].times, 0); /* each has happened */
    }
    snprintf(path, sizeof(path), "%s/config", api.folder);
    unlink(path);
    rmdir(api.folder);
}

static inline const char *api_env(const char *name)
{
    (void)name;
    return NULL;
}

static inline void api_put_report(const struct myr_kube_report *r)
{
    myr_buf_printf(&api.story,
                   "report: gangs bound %llu remade %llu finished %llu, pods bound %llu; requests "
                   "%llu, lists %llu, watches %llu, bindings %llu, deletions %llu, events %llu, "
                   "leases %llu; expired %llu, troubles %llu\n",
                   (unsigned long long)r->gangs_bound, (unsigned long long)r->gangs_remade,
                   (unsigned long long)r->gangs_finished, (unsigned long long)r->pods_bound,
                   (unsigned long long)r->requests, (unsigned long long)r->lists,
                   (unsigned long long)r->watches, (unsigned long long)r->bindings,
                   (unsigned long long)r->deletions, (unsigned long long)r->events,
                   (unsigned long long)r->leases, (unsigned long long)r->expired,
                   (unsigned long long)r->troubles);
    myr_buf_printf(&api.story,
                   "  in %.3f s: %.3f requests/s, %.3f in %.0f idle seconds; %llu decisions, p50 "
                   "%.3f p99 %.3f most %.3f ms; nodes %u usable %u, pods %u ours %u waiting %u "
                   "bound %u, gangs waiting %u\n",
                   r->seconds, r->requests_per_s, r->idle_requests_per_s, r->idle_seconds,
                   (unsigned long long)r->decisions, r->work_p50_ms, r->work_p99_ms, r->work_max_ms,
                   r->counts.nodes, r->counts.usable, r->counts.pods, r->counts.ours,
                   r->counts.waiting, r->counts.bound, r->counts.gangs_waiting);
}

/* A scheduler for so long, with a lease of so many seconds; 0: without one. */
static inline void api_schedule(uint32_t stop_after_s, uint32_t lease_s)
{
    char path[100];
    struct myr_kube_report report = {};
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/config", api.folder);
    struct myr_kube_schedule schedule = {.where = {.kubeconfig = path, .lookup_env = api_env},
                                         .policy = myr_kube_policy_default(),
                                         .lease_space = "spaces",
                                         .lease_name = lease_s ? "l" : NULL,
                                         .identity = "me",
                                         .lease_s = lease_s,
                                         .stop_after_s = stop_after_s,
                                         .say = api_say,
                                         .report = &report};
    if (myr_kube_schedule(&schedule, &err) < 0) {
        api_note("error: %s", err.message);
    } else {
        api_put_report(&report);
    }
}
