/* What watchers are told: numbers that only go up, and the last few thousand of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server.h"

static struct server *fresh(void)
{
    struct server *server = myr_xcalloc(1, sizeof(*server));
    feed_init(&server->feed);
    assert_true(server->feed.next > 1600000000000); /* milliseconds: above any from before */
    assert_true(server->feed.first == server->feed.next);
    server->feed.first = server->feed.next = 1000;
    return server;
}

static void freed(struct server *server)
{
    feed_done(&server->feed);
    myr_vec_done(&server->rows.jobs);
    free(server);
}

/* The item's text without its moment, which is the clock's. */
static void says(const struct server *server, uint64_t sequence, uint32_t about, const char *kind,
                 const char *behind)
{
    const struct feed_item *item = feed_get(&server->feed, sequence);
    assert_non_null(item);
    assert_int_equal(item->sequence, sequence);
    assert_int_equal(item->about, about);
    assert_string_equal(item->kind, kind);
    MYR_CLEANUP(myr_buf_done) struct myr_buf start = {};
    myr_buf_printf(&start, "{\"seq\":%llu,\"time_ms\":", (unsigned long long)sequence);
    assert_memory_equal(item->data, start.data, start.len);
    const char *rest = strchr(item->data + start.len, ',');
    assert_non_null(rest);
    assert_string_equal(rest, behind);
}

static void each_kind_has_its_members(void **state)
{
    (void)state;
    struct server *server = fresh();
    struct node_row nodes[] = {{.name = "gpu-1"}, {.name = "gpu-2"}};
    struct job_row job = {.name = "a \"b\""};
    server->rows.nodes = nodes;
    server->rows.node_count = 2;
    myr_vec_push(&server->rows.jobs, NULL);
    myr_vec_push(&server->rows.jobs, &job);
    feed_node(server, 1, "drained", "a\tfan");
    feed_job(server, 1, "running", 3);
    feed_job(server, 0, "queued", 0); /* one without a row */
    feed_notice(server, "full \\ again");
    feed_put(server, "doorbell", MYR_NONE, MYR_STR(""));
    says(server, 1000, 1, "node",
         ",\"kind\":\"node\",\"name\":\"gpu-2\",\"state\":\"drained\",\"reason\":\"a\\tfan\"}");
    says(server, 1001, 1, "job",
         ",\"kind\":\"job\",\"id\":1,\"name\":\"a \\\"b\\\"\",\"state\":\"running\",\"epoch\":3}");
    says(server, 1002, 0, "job",
         ",\"kind\":\"job\",\"id\":0,\"name\":\"\",\"state\":\"queued\",\"epoch\":0}");
    says(server, 1003, MYR_NONE, "notice", ",\"kind\":\"notice\",\"text\":\"full \\\\ again\"}");
    says(server, 1004, MYR_NONE, "doorbell", ",\"kind\":\"doorbell\"}");
    assert_null(feed_get(&server->feed, 999));
    assert_null(feed_get(&server->feed, 1005));
    freed(server);
}

static uint32_t rings;

static void on_ring(void *context)
{
    assert_string_equal(context, "whose");
    rings++;
}

static void the_oldest_are_forgotten(void **state)
{
    (void)state;
    struct server *server = fresh();
    char whose[] = "whose";
    rings = 0;
    server->feed.rang = on_ring;
    server->feed.context = whose;
    for (uint32_t i = 0; i < FEED_ITEMS; i++) {
        feed_put(server, "doorbell", i, MYR_STR(""));
    }
    assert_int_equal(rings, FEED_ITEMS);
    assert_int_equal(server->feed.first, 1000); /* all are there still */
    says(server, 1000, 0, "doorbell", ",\"kind\":\"doorbell\"}");
    feed_put(server, "doorbell", 7, MYR_STR(""));
    assert_int_equal(server->feed.first, 1001);
    assert_int_equal(server->feed.next, 1000 + FEED_ITEMS + 1);
    assert_null(feed_get(&server->feed, 1000));
    says(server, 1001, 1, "doorbell", ",\"kind\":\"doorbell\"}");
    says(server, 1000 + FEED_ITEMS, 7, "doorbell", ",\"kind\":\"doorbell\"}");
    freed(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_its_members),
        cmocka_unit_test(the_oldest_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
