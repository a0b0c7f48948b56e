/*
 * feed: the last few thousand things that happened, for pages and scripts that watch. A ring in
 * memory: whoever was away for longer than it reaches looks at everything again.
 */
#include <stdlib.h>
#include <string.h>

#include "server.h"

void feed_init(struct feed *feed)
{
    /* Numbers go on over restarts: a watcher that comes back never takes old for new. */
    feed->first = feed->next = (uint64_t)wall_ms();
}

void feed_done(struct feed *feed)
{
    for (size_t i = 0; i < FEED_ITEMS; i++) {
        free(feed->items[i].data);
        feed->items[i].data = NULL;
    }
}

/* The number stands in the text too: whoever watches asks again by it. */
void feed_put(struct server *server, const char *kind, uint32_t about, struct myr_str members)
{
    struct myr_buf line = {};
    struct feed *feed = &server->feed;
    MYR_ASSERT(feed->first <= feed->next && feed->next - feed->first <= FEED_ITEMS);
    MYR_ASSERT(kind && (members.data || members.len == 0));
    /* A ring: the oldest gives its place away. */
    struct feed_item *item = &feed->items[feed->next % FEED_ITEMS];
    myr_buf_printf(&line, "{\"seq\":%llu,\"time_ms\":%lld,\"kind\":\"%s\"%s%.*s}",
                   (unsigned long long)feed->next, (long long)core_ms(server), kind,
                   members.len ? "," : "", (int)members.len, members.data);
    /* What the ring held there has left it with this event. */
    free(item->data);
    *item = (struct feed_item){feed->next++, kind, about, line.data};
    if (feed->next - feed->first > FEED_ITEMS) {
        feed->first = feed->next - FEED_ITEMS;
    }
    MYR_ASSERT(feed_get(feed, feed->next - 1) == item && feed_get(feed, feed->first));
    if (feed->rang) {
        feed->rang(feed->context);
    }
}

/* NULL where it is forgotten, or has not happened yet. */
const struct feed_item *feed_get(const struct feed *feed, uint64_t sequence)
{
    MYR_ASSERT(feed->next - feed->first <= FEED_ITEMS);
    if (sequence < feed->first || sequence >= feed->next) {
        return NULL;
    }
    const struct feed_item *item = &feed->items[sequence % FEED_ITEMS];
    MYR_ASSERT(item->sequence == sequence && item->data);
    return item;
}

void feed_node(struct server *server, uint32_t node, const char *state, const char *reason)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_ASSERT(node < server->rows.node_count);
    MYR_ASSERT(state && reason);
    myr_buf_puts(&text, "\"name\":");
    myr_json_quote(&text, myr_str_from(server->rows.nodes[node].name));
    myr_buf_printf(&text, ",\"state\":\"%s\",\"reason\":", state);
    myr_json_quote(&text, myr_str_from(reason));
    feed_put(server, "node", node, (struct myr_str){text.data, text.len});
}

/* Without a row it has no name. */
void feed_job(struct server *server, uint32_t job, const char *state, uint32_t epoch)
{
    MYR_ASSERT(job != MYR_NONE && state);
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const struct job_row *row = rows_job(server, job);
    myr_buf_printf(&text, "\"id\":%u,\"name\":", job);
    myr_json_quote(&text, myr_str_from(row ? row->name : ""));
    myr_buf_printf(&text, ",\"state\":\"%s\",\"epoch\":%u", state, epoch);
    feed_put(server, "job", job, (struct myr_str){text.data, text.len});
}

void feed_starving(struct server *server, uint32_t job, uint32_t gpus, int64_t waited_s)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const struct job_row *row = rows_job(server, job);
    myr_buf_printf(&text, "\"id\":%u,\"name\":", job);
    myr_json_quote(&text, myr_str_from(row ? row->name : ""));
    myr_buf_printf(&text, ",\"gpus\":%u,\"waited_s\":%lld", gpus, (long long)waited_s);
    feed_put(server, "starving", job, (struct myr_str){text.data, text.len});
}

void feed_notice(struct server *server, const char *notice)
{
    MYR_ASSERT(notice);
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_puts(&text, "\"text\":");
    myr_json_quote(&text, myr_str_from(notice));
    feed_put(server, "notice", MYR_NONE, (struct myr_str){text.data, text.len});
}
