/* A server without sockets, with a store of its own: the desk, the rows and the feed are real.
 * Include it after cmocka. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

/* A folder that lasts for the test, and a server on it that can be closed and opened again. */
struct bench {
    struct server *server;
    char folder[64];
};

/* The store's file, or one that SQLite keeps beside it. */
static inline void bench_path(const struct bench *bench, const char *tail, char ret[128])
{
    snprintf(ret, 128, "%s/state.db%s", bench->folder, tail);
}

/* Lines for people go to a file meanwhile. */
static struct {
    char path[32];
    int fd, stderr_fd;
    off_t at; /* read so far */
} log_lines;

/* Standard error itself is turned aside: the log writes to the descriptor. */
static inline void lines_begin(void)
{
    snprintf(log_lines.path, sizeof(log_lines.path), "/tmp/myriad-lines-XXXXXX");
    log_lines.fd = mkstemp(log_lines.path);
    log_lines.stderr_fd = dup(STDERR_FILENO);
    assert_true(log_lines.fd >= 0 && log_lines.stderr_fd >= 0 &&
                dup2(log_lines.fd, STDERR_FILENO) >= 0);
    log_lines.at = 0;
    log_mute(false);
}

static inline void lines_end(void)
{
    log_mute(true);
    assert_true(dup2(log_lines.stderr_fd, STDERR_FILENO) >= 0);
    close(log_lines.stderr_fd);
    close(log_lines.fd);
    assert_int_equal(unlink(log_lines.path), 0);
}

/* Those since the last time, without their moments. */
static inline void lines_put(struct myr_buf *ret)
{
    char text[16384];
    ssize_t got = pread(log_lines.fd, text, sizeof(text) - 1, log_lines.at);
    assert_in_range(got, 0, sizeof(text) - 2);
    text[got] = '\0';
    log_lines.at += got;
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        /* The moment has 24 letters and a blank, and is another one each time. */
        assert_true(len > 25 && at[len] == '\n');
        myr_buf_printf(ret, "  log %.*s\n", (int)len - 25, at + 25);
        at += len + 1;
    }
}

/* Opens what the folder holds, or makes it. The desk has not begun: its world comes first. */
static inline void bench_open(struct bench *bench, uint32_t nodes)
{
    struct server *server = bench->server = myr_xcalloc(1, sizeof(*server));
    struct config *config = &server->config;
    struct myr_err err = {};
    char path[128], names[32];
    server->folder = bench->folder;
    server->version = "trial";
    *config = (struct config){.cluster = "trial",
                              .gpus_per_node = 8,
                              .nodes_per_leaf = 4,
                              .policy = MYR_QUEUE_FAIR,
                              .beat_ms = 1000,
                              .speed = 1,
                              .fence_timeout_s = 60};
    snprintf(names, sizeof(names), "n[0-%u]", nodes - 1);
    bench_path(bench, "", path);
    uv_loop_init(&server->loop);
    log_mute(true);
    if (names_expand(names, &config->names, &config->node_count, &err) < 0 ||
        store_open(path, &server->store, &err) < 0 || rows_load(server, &err) < 0) {
        fail_msg("%s", err.message);
    }
    feed_init(&server->feed);
    /* From 1 on and not from the clock: the numbers are the same in every run. */
    server->feed.first = server->feed.next = 1;
}

/* As serve.c ends a server; what was committed is found by the next bench_open(). */
static inline void bench_close(struct bench *bench)
{
    struct server *server = bench->server;
    if (server->check.data) { /* else the desk has not come to its handles */
        desk_end(server);
    }
    uv_run(&server->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&server->loop), 0);
    desk_free(server);
    free(server);
    bench->server = NULL;
}

static inline void bench_begin(struct bench *bench)
{
    *bench = (struct bench){.folder = "/tmp/myriad-bench-XXXXXX"};
    assert_non_null(mkdtemp(bench->folder));
}

/* Only files of the store may be left: anything else keeps the folder, and fails. */
static inline void bench_end(struct bench *bench)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
    char path[128];
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tails); i++) {
        bench_path(bench, tails[i], path);
        unlink(path);
    }
    assert_int_equal(rmdir(bench->folder), 0);
}

/* One that the core is told of in the same turn. */
static inline uint32_t bench_submit(struct server *server, uint32_t gpus, enum myr_restart restart)
{
    uint32_t id = myr_control_jobs(server->control);
    struct job_row *row = myr_xcalloc(1, sizeof(*row));
    *row = (struct job_row){
        .token = 100 + id, .submitted_ms = 1, .first_start_ms = -1, .ended_ms = -1};
    snprintf(row->name, sizeof(row->name), "job%u", id);
    /* Nobody runs it: the core has the size from the event. */
    row->file = strdup("gpus: 1\n");
    row->tenant = rows_tenant(server, "default");
    while (server->rows.jobs.count <= id) {
        myr_vec_push(&server->rows.jobs, NULL);
    }
    server->rows.jobs.items[id] = row;
    rows_put_job(server, id);
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_SUBMIT,
                                          .spec = {.token = row->token,
                                                   .tenant = row->tenant,
                                                   .gpus = gpus,
                                                   .restart = (uint8_t)restart,
                                                   .retries = 8,
                                                   .lease_s = 600}});
    return id;
}
