/*
 * watch: objects of one kind, listed once and then followed. A list comes in pages; what happens
 * after it is a stream of lines, or of words in protobuf, each of which takes the cluster a step
 * on. When a stream is over it goes on from the last version that was heard; when that is too old,
 * or something was not understood, all is listed anew.
 */
#include <assert.h>
#include <stdio.h>

#include "service.h"

enum {
    PAGE = 500,                /* objects of a list in one answer */
    WATCH_S = 290,             /* a watch ends by itself after this */
    WATCH_SILENCE_S = 330,     /* longer than that: one that has nothing to tell is not given up */
    LINE_BYTES_MAX = 16 << 20, /* beyond it what comes is no object; it is listed anew */
    LENGTH_BYTES = 4,          /* before a word of protobuf, the highest first */
    RETRY_MIN_MS = 500,
    RETRY_MAX_MS = 10000,
};

#define PROTOBUF "application/vnd.kubernetes.protobuf"

static void ask_list(struct watch *w);
static void ask_watch(struct watch *w);

/* A watch goes on from where it was as long as what is known is whole; else a list comes first. */
static void on_retry(uv_timer_t *timer)
{
    struct watch *w = timer->data;
    MYR_ASSERT(w->failures > 0 || w->listed); /* something was asked before */
    if (w->listed && !w->relist) {
        ask_watch(w);
    } else {
        ask_list(w);
    }
}

/*
 * Twice as long with every failure, so that an API server that comes back is not overrun. Whatever
 * is heard well sets 'failures' back.
 */
static void again_later(struct watch *w)
{
    int64_t wait_ms = RETRY_MIN_MS;
    MYR_ASSERT(!uv_is_active((uv_handle_t *)&w->retry)); /* one try at a time */
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
    struct myr_err err = {};
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

/*
 * One page. Whatever goes wrong between two of them, the list begins anew with its first page: a
 * 'more' that is empty is what says so.
 */
static void on_page(void *context, const struct client_answer *answer)
{
    struct watch *w = context;
    struct service *s = w->service;
    struct myr_kube_page page = {.more = w->more};
    struct myr_err err = {};
    bool first = w->more.len == 0;
    MYR_ASSERT(!w->listed || w->relist); /* else the watch goes on from where it was */
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
    /*
     * Nothing is decided before the last page: pods that are not listed yet would look like room.
     */
    if (w->more.len > 0) {
        ask_list(w);
        return;
    }
    snprintf(w->version, sizeof(w->version), "%s", page.version);
    w->listed = true;
    w->relist = false;
    MYR_ASSERT(w->more.len == 0);
    kube_trouble(s, w->source, NULL);
    s->round_due = true;
    ask_watch(w);
}

/* The next page where 'more' has a token, else the first one. */
static void ask_list(struct watch *w)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf word = {};
    struct myr_buf path = {};
    if (w->service->stopping) {
        return;
    }
    MYR_ASSERT(!w->listed || w->relist); /* else a watch goes on from what is known */
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

/*
 * One line, or one word without its length. False: the watch is to end, and 'relist' says that all
 * is to be listed before the next one.
 */
static bool take_line(struct watch *w, struct myr_str line)
{
    struct service *s = w->service;
    struct myr_kube_said said;
    struct myr_err err = {};
    MYR_ASSERT(w->listed && (!w->words || w->kind == MYR_KUBE_PODS));
    if (line.len == 0) {
        return true;
    }
    int rc = w->words ? myr_kube_word(s->cluster, line, kube_wall_ms(), &said, &err)
                      : myr_kube_line(s->cluster, w->kind, line, kube_wall_ms(), &said, &err);
    if (rc < 0 && w->words) {
        w->no_more_words = w->relist = true; /* whether it is wrong its JSON will show */
        return false;
    }
    if (rc < 0) {
        (void)myr_err_wrap(&err, "%s%s: not understood", s->access.url, w->path);
        kube_trouble(s, w->source, &err);
        w->relist = true;
        return false;
    }
    /* 410 is in the order of things: the version to go on from is too old. All else is told. */
    if (said.change == MYR_KUBE_ERROR) {
        w->relist = true;
        s->report.expired += said.code == 410;
        if (said.code != 410) {
            (void)myr_err_set(&err, MYR_EAWAY, "%s%s: %s", s->access.url, w->path, said.text);
            kube_trouble(s, w->source, &err);
        }
        return false;
    }
    /* Only now, when the object was taken: a watch that breaks off goes on behind it. */
    if (said.version[0]) {
        static_assert(sizeof(w->version) == sizeof(said.version), "one fits the other");
        memcpy(w->version, said.version, sizeof(w->version));
    }
    w->failures = 0;
    MYR_ASSERT(!w->relist);
    kube_trouble(s, w->source, NULL);
    return true;
}

static bool take_word(struct watch *w, struct myr_str word)
{
    MYR_ASSERT(word.len >= LENGTH_BYTES);
    return take_line(w, (struct myr_str){word.data + LENGTH_BYTES, word.len - LENGTH_BYTES});
}

/* How many bytes the word has that begins there, its length included; 0: too few are there. */
static size_t word_size(struct myr_str bytes)
{
    size_t size = 0;
    for (uint32_t i = 0; i < LENGTH_BYTES && bytes.len >= LENGTH_BYTES; i++) {
        size = size << 8 | (unsigned char)bytes.data[i];
    }
    return bytes.len >= LENGTH_BYTES ? size + LENGTH_BYTES : 0;
}

/* A word that is whole is read where it lies; else it is kept until the rest of it comes. */
static bool on_words(struct watch *w, struct myr_str bytes)
{
    bool well = true;
    while (well && bytes.len > 0) {
        bool kept = w->line.len > 0;
        size_t size = word_size(kept ? (struct myr_str){w->line.data, w->line.len} : bytes);
        if (size > LINE_BYTES_MAX) {
            w->relist = true;
            return false;
        }
        MYR_ASSERT(size == 0 ? w->line.len < LENGTH_BYTES : w->line.len <= size);
        size_t lacks = (size ? size : LENGTH_BYTES) - w->line.len;
        struct myr_str part = {bytes.data, lacks < bytes.len ? lacks : bytes.len};
        bytes.data += part.len;
        bytes.len -= part.len;
        if (!kept && part.len == size) {
            well = take_word(w, part);
            continue;
        }
        myr_buf_put(&w->line, part.data, part.len);
        if (w->line.len == size) {
            well = take_word(w, (struct myr_str){w->line.data, w->line.len});
            myr_buf_clear(&w->line);
        }
    }
    return well;
}

/* The same for JSON: a piece may end in the middle of a line, and hold many of them. */
static bool on_lines(struct watch *w, struct myr_str bytes)
{
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

static bool on_piece(void *context, struct myr_str bytes)
{
    struct watch *w = context;
    MYR_ASSERT(w->listed); /* there is something to go on from */
    return w->words ? on_words(w, bytes) : on_lines(w, bytes);
}

/*
 * A watch ends by itself after WATCH_S, which is no trouble. One that ends as soon as it has begun,
 * or after a failure, is not asked for again at once: that would go round and round.
 */
static void on_watch_over(void *context, const struct client_answer *answer)
{
    struct watch *w = context;
    struct service *s = w->service;
    bool at_once = kube_now_ms() - w->begun_ms < 1000;
    MYR_ASSERT(w->listed && w->more.len == 0);
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

/* Where both forms were offered the answer says which of them comes. */
static void on_begun(void *context, const char *type)
{
    struct watch *w = context;
    MYR_ASSERT(w->listed && w->line.len == 0);
    w->words = strcmp(type, PROTOBUF) == 0;
    w->failures = 0;
    kube_trouble(w->service, w->source, NULL);
}

/*
 * Bookmarks are asked for, so that a watch of objects that seldom change still moves its version
 * on.
 */
static void ask_watch(struct watch *w)
{
    if (w->service->stopping) {
        return;
    }
    MYR_ASSERT(w->listed && !w->relist && w->version[0]); /* what it goes on from */
    /* Nodes seldom have a word; pods have five and more each. */
    bool words = w->kind == MYR_KUBE_PODS && !w->no_more_words;
    myr_buf_clear(&w->line);
    w->words = false;
    w->begun_ms = kube_now_ms();
    w->service->report.watches++;
    kube_ask(&w->service->client,
             &(struct client_request){
                 .method = "GET",
                 .accept = words ? PROTOBUF ", application/json" : NULL,
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
    MYR_ASSERT(kind < MYR_KUBE_KINDS && service->begun);
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

/* The requests of it are the client's, and are over by now. */
void kube_watch_end(struct watch *watch)
{
    MYR_ASSERT(watch->service && watch->service->begun);
    uv_close((uv_handle_t *)&watch->retry, on_closed);
    myr_buf_done(&watch->more);
    myr_buf_done(&watch->line);
}
