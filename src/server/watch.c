/* watch: events as they come (server-sent events). A watcher that does not read is left behind: it
 * asks again by the number of the last event that it has seen. */
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* BEHIND_MAX: bytes made ready for one who reads slowly; the rest waits in the feed. */
enum { WATCHERS_MAX = 1000, BEHIND_MAX = 1 << 20, PIECE = 16 << 10, ALIVE_S = 5 };

/* Makes text of the events that are due, as far as there is room. */
static void fill(struct watcher *watcher)
{
    const struct feed *feed = &watcher->server->feed;
    MYR_ASSERT(watcher->at <= watcher->text.len && watcher->next <= feed->next);
    /* Only when all of it is sent: what waits is not moved. */
    if (watcher->at == watcher->text.len) {
        myr_buf_clear(&watcher->text);
        watcher->at = 0;
    }
    if (watcher->next < feed->first) {
        /* What it missed is gone: it has to look at everything again. */
        myr_buf_printf(&watcher->text, "event: lost\ndata: {\"seq\":%llu}\n\n",
                       (unsigned long long)feed->first);
        watcher->next = feed->first;
    }
    while (watcher->next < feed->next && watcher->text.len < BEHIND_MAX) {
        const struct feed_item *item = feed_get(feed, watcher->next++);
        myr_buf_printf(&watcher->text, "id: %llu\nevent: %s\ndata: %s\n\n",
                       (unsigned long long)item->sequence, item->kind, item->data);
    }
    MYR_ASSERT(watcher->next >= feed->first && watcher->next <= feed->next);
}

/* 0 says nothing for now, and suspends; the end comes with the server's. */
static ssize_t on_read(void *context, uint64_t position, char *ret, size_t max)
{
    struct watcher *watcher = context;
    (void)position;
    if (watcher->server->stopping) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    fill(watcher);
    size_t left = watcher->text.len - watcher->at;
    MYR_ASSERT(watcher->at <= watcher->text.len && !watcher->asleep);
    if (left == 0) {
        /* Suspended until watch_rang(): a connection that is waited for costs nothing. */
        watcher->asleep = true;
        mhd.suspend_connection(watcher->connection);
        return 0;
    }
    size_t size = left < max ? left : max;
    memcpy(ret, watcher->text.data + watcher->at, size);
    watcher->at += size;
    return (ssize_t)size;
}

/* The library calls it when the connection is over, however that came. */
static void on_free(void *context)
{
    struct watcher *watcher = context;
    struct http *http = watcher->server->http;
    MYR_ASSERT((watcher->before ? watcher->before->later : http->watchers) == watcher);
    *(watcher->before ? &watcher->before->later : &http->watchers) = watcher->later;
    if (watcher->later) {
        watcher->later->before = watcher->before;
    }
    MYR_ASSERT(http->watcher_count > 0 && watcher->at <= watcher->text.len);
    http->watcher_count--;
    myr_buf_done(&watcher->text);
    free(watcher);
}

/* The feed calls it with every event; those who are behind are awake already. */
void watch_rang(void *context)
{
    struct server *server = context;
    if (!server->http) {
        return;
    }
    for (struct watcher *watcher = server->http->watchers; watcher; watcher = watcher->later) {
        MYR_ASSERT(watcher->server == server && watcher->connection);
        if (watcher->asleep) {
            watcher->asleep = false;
            mhd.resume_connection(watcher->connection);
            http_kick(server);
        }
    }
}

/* Where nothing happens nobody is written to, and who has gone is not noticed: a word now and then.
 */
void watch_second(struct server *server)
{
    MYR_ASSERT(server->http);
    if (++server->http->seconds % ALIVE_S != 0) {
        return;
    }
    for (struct watcher *watcher = server->http->watchers; watcher; watcher = watcher->later) {
        if (watcher->asleep) {
            myr_buf_puts(&watcher->text, ": alive\n\n");
        }
    }
    watch_rang(server);
}

/* The answer has no end: it is a callback that the library asks for more. */
int watch_begin(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    (void)ret;
    struct server *server = request->server;
    struct http *http = server->http;
    const char *last =
        mhd.lookup_connection_value(request->connection, MHD_HEADER_KIND, "Last-Event-ID");
    const char *after = request_arg(request, "after");
    uint64_t number;
    if (http->watcher_count >= WATCHERS_MAX) {
        return myr_err_set(err, MYR_EOFTEN, "%d watch already", WATCHERS_MAX);
    }
    struct watcher *watcher = myr_xcalloc(1, sizeof(*watcher));
    watcher->server = server;
    watcher->connection = request->connection;
    /* Without a number: from now on. A browser that comes back names the last event by itself. */
    watcher->next = server->feed.next;
    const char *given = last ? last : after;
    if (given && myr_str_to_u64(myr_str_from(given), &number) && number < server->feed.next) {
        watcher->next = number + 1;
    }
    /* A browser comes again after two seconds; the first bytes tell it that it is heard. */
    myr_buf_puts(&watcher->text, "retry: 2000\n: hello\n\n");
    watcher->later = http->watchers;
    if (watcher->later) {
        MYR_ASSERT(!watcher->later->before);
        watcher->later->before = watcher;
    }
    http->watchers = watcher;
    http->watcher_count++;
    MYR_ASSERT(http->watcher_count <= WATCHERS_MAX && watcher->next <= server->feed.next);
    struct MHD_Response *response =
        mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, on_read, watcher, on_free);
    MYR_ASSERT(response);
    mhd.add_response_header(response, "Content-Type", "text/event-stream");
    mhd.add_response_header(response, "Cache-Control", "no-store");
    /* No timeout: it may be hours until something happens. */
    mhd.set_connection_option(request->connection, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
    mhd.queue_response(request->connection, MHD_HTTP_OK, response);
    mhd.destroy_response(response);
    request->answered = true;
    return HTTP_LATER;
}
