/* watch: objects of one kind, listed once and then followed. */
#include <stdio.h>

#include "service.h"

enum {
    PAGE = 500,
    WATCH_S = 290, /* a watch ends by itself after this */
    WATCH_SILENCE_S = 330,
    LINE_BYTES_MAX = 16 << 20,
    RETRY_MIN_MS = 500,
    RETRY_MAX_MS = 10000,
};

static void ask_list(struct watch *w);
static void ask_watch(struct watch *w);

static void on_retry(uv_timer_t *timer)
{
    struct watch *w = timer->data;
    if (w->listed && !w->relist) {
        ask_watch(w);
    } else {
        ask_list(w);
    }
}

static void again_later(struct watch *w)
{
    int64_t wait_ms = RETRY_MIN_MS;
    for (uint32_t i = 0; i < w->failures && wait_ms < RETRY_MAX_MS; i++) {
        wait_ms *= 2;
    }
    w->failures++;
    uv_timer_start(&w->retry, on_retry, (uint64_t)(wait_ms < RETRY_MAX_MS ? wait_ms : RETRY_MAX_MS),
                   0);
}

/* True when it was answered well; else it is told, and asked again later. */
static bool check_answer(struct watch *w, const struct client_answer *answer)
{
    struct myr_err err = {0};
    char path[64];
    if (answer->rc < 0) {
        kube_trouble(w->service, w->source, answer->err);
        return false;
    }
    if (answer->status != 200) {
        snprintf(path, sizeof(path), "%s", w->path);
        (void)kube_refused(&w->service->access,
                           &(struct client_request){.method = "GET", .path = path}, answer->status,
                           answer->body, &err);
        kube_trouble(w->service, w->source, &err);
        return false;
    }
    return true;
}

/* --- the list */

static void on_page(void *context, const struct client_answer *answer)
{
    struct watch *w = context;
    struct service *s = w->service;
    struct myr_kube_page page = {.more = w->more};
    struct myr_err err = {0};
    bool first = w->more.len == 0;
    if (answer->rc == MYR_OK && answer->status == 410) {
        myr_buf_clear(&w->more); /* the list has grown too old between two pages */
        s->report.expired++;
        again_later(w);
        return;
    }
    if (!check_answer(w, answer)) {
        myr_buf_clear(&w->more);
        again_later(w);
        return;
    }
    int rc = myr_kube_list(s->cluster, w->kind, first, answer->body, kube_wall_ms(), &page, &err);
    w->more = page.more;
    if (rc < 0) {
        (void)myr_err_wrap(&err, "%s%s: not understood", s->access.url, w->path);
        kube_trouble(s, w->source, &err);
        myr_buf_clear(&w->more);
        again_later(w);
        return;
    }
    if (w->more.len > 0) {
        ask_list(w);
        return;
    }
    snprintf(w->version, sizeof(w->version), "%s", page.version);
    w->listed = true;
    w->relist = false;
    kube_trouble(s, w->source, NULL);
    s->round_due = true;
    ask_watch(w);
}

static void ask_list(struct watch *w)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf word = {0};
    struct myr_buf path = {0};
    if (w->service->stopping) {
        return;
    }
    kube_put_word(&word, (struct myr_str){w->more.len ? w->more.data : "", w->more.len});
    myr_buf_printf(&path, "%s?limit=%d", w->path, PAGE);
    if (word.len) {
        myr_buf_printf(&path, "&continue=%s", word.data);
    }
    w->service->report.lists++;
    kube_ask(&w->service->client,
             &(struct client_request){
                 .method = "GET", .path = path.data, .done = on_page, .context = w});
}

/* --- the watch */

static bool take_line(struct watch *w, struct myr_str line)
{
    struct service *s = w->service;
    struct myr_kube_said said;
    struct myr_err err = {0};
    if (line.len == 0) {
        return true;
    }
    if (myr_kube_line(s->cluster, w->kind, line, kube_wall_ms(), &said, &err) < 0) {
        (void)myr_err_wrap(&err, "%s%s: not understood", s->access.url, w->path);
        kube_trouble(s, w->source, &err);
        w->relist = true;
        return false;
    }
    if (said.change == MYR_KUBE_ERROR) {
        w->relist = true;
        s->report.expired += said.code == 410;
        if (said.code != 410) {
            (void)myr_err_set(&err, MYR_EAWAY, "%s%s: %s", s->access.url, w->path, said.text);
            kube_trouble(s, w->source, &err);
        }
        return false;
    }
    if (said.version[0]) {
        snprintf(w->version, sizeof(w->version), "%s", said.version);
    }
    w->failures = 0;
    kube_trouble(s, w->source, NULL);
    return true;
}

static bool on_piece(void *context, struct myr_str bytes)
{
    struct watch *w = context;
    size_t at = 0;
    while (at < bytes.len) {
        const char *end = memchr(bytes.data + at, '\n', bytes.len - at);
        size_t length = end ? (size_t)(end - bytes.data) - at : bytes.len - at;
        struct myr_str line = {bytes.data + at, length};
        at += length + (end != NULL);
        if (!end || w->line.len > 0) { /* else it is whole, and is read where it lies */
            myr_buf_put(&w->line, line.data, line.len);
            line = (struct myr_str){w->line.len ? w->line.data : "", w->line.len};
        }
        if (line.len > LINE_BYTES_MAX) {
            w->relist = true;
            return false;
        }
        if (end && !take_line(w, line)) {
            myr_buf_clear(&w->line);
            return false;
        }
        if (end) {
            myr_buf_clear(&w->line);
        }
    }
    return true;
}

static void on_watch_over(void *context, const struct client_answer *answer)
{
    struct watch *w = context;
    struct service *s = w->service;
    bool at_once = kube_now_ms() - w->begun_ms < 1000;
    if (answer->rc == MYR_OK && answer->status == 410) {
        w->relist = true;
        s->report.expired++;
    } else if (!w->relist && !check_answer(w, answer)) {
        myr_buf_clear(&w->line);
        again_later(w);
        return;
    }
    myr_buf_clear(&w->line);
    if (at_once || w->failures) {
        again_later(w);
    } else if (w->relist) {
        ask_list(w);
    } else {
        ask_watch(w);
    }
}

static void on_begun(void *context)
{
    struct watch *w = context;
    w->failures = 0;
    kube_trouble(w->service, w->source, NULL);
}

static void ask_watch(struct watch *w)
{
    if (w->service->stopping) {
        return;
    }
    myr_buf_clear(&w->line);
    w->begun_ms = kube_now_ms();
    w->service->report.watches++;
    kube_ask(&w->service->client,
             &(struct client_request){
                 .method = "GET",
                 .path = kube_path("%s?watch=1&allowWatchBookmarks=true&timeoutSeconds=%d"
                                   "&resourceVersion=%s",
                                   w->path, WATCH_S, w->version),
                 .piece = on_piece,
                 .begun = on_begun,
                 .done = on_watch_over,
                 .context = w,
                 .timeout_s = WATCH_SILENCE_S});
}

void kube_watch_begin(struct service *service, enum myr_kube_kind kind)
{
    static const char *const paths[MYR_KUBE_KINDS] = {"/api/v1/nodes", "/api/v1/pods"};
    struct watch *w = &service->watches[kind];
    *w = (struct watch){.service = service,
                        .kind = kind,
                        .source = kind == MYR_KUBE_NODES ? SOURCE_NODES : SOURCE_PODS,
                        .path = paths[kind]};
    int rc = uv_timer_init(&service->loop, &w->retry);
    MYR_ASSERT(rc == 0);
    w->retry.data = w;
    ask_list(w);
}

static void on_closed(uv_handle_t *handle)
{
    (void)handle;
}

void kube_watch_end(struct watch *watch)
{
    uv_close((uv_handle_t *)&watch->retry, on_closed);
    myr_buf_done(&watch->more);
    myr_buf_done(&watch->line);
}
