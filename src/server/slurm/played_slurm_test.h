/*
 * Slurm as a test plays it: its commands are one small script that prints what the test has put
 * down, and keeps what it was asked. Include it after cmocka.
 */
#pragma once

#include <ftw.h>
#include <sys/stat.h>
#include <time.h>

#include "engine/fence.h"
#include "server_test.h"
#include "slurm/state.h"

static int64_t clock_ns = 1000000000000; /* stands still, unless the test moves it */

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    int64_t base_s = which == CLOCK_REALTIME ? 1800000000 : 0;
    *ret = (struct timespec){base_s + clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

static struct bench bench;
static struct server *server;
static struct slurm *slurm;
static struct myr_buf story;
static uint64_t told;
static const char *const commands[] = {"squeue",  "sinfo",    "sbatch",
                                       "scancel", "scontrol", "sacctmgr"};

static inline void put_file(const char *name, const char *tail, const char *text)
{
    char path[160];
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    snprintf(path, sizeof(path), "%s/%s%s", bench.folder, name, tail);
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path, &buf, &err), MYR_OK);
}

/* What a command prints from now on; a code other than 0 puts it on stderr. */
static inline void prints(const char *command, int code, const char *text)
{
    char number[12];
    snprintf(number, sizeof(number), "%d", code);
    put_file(command, ".code", number);
    put_file(command, ".out", code ? "" : text);
    put_file(command, ".err", code ? text : "");
}

/* All of them are links to one script, which knows by its name what it is. */
static inline void make_commands(void)
{
    char path[160];
    /* Looks are asked side by side, and are not worth a line each. */
    put_file("fake", "",
             "#!/bin/sh\nd=$(dirname \"$0\"); n=$(basename \"$0\")\n"
             "case $n in squeue|sinfo) ;; *)\n"
             "  for w in \"$@\"; do case $w in --uid=*|--gid=*) ;; *) a=\"$a $w\" ;; esac; done\n"
             "  [ $n != sbatch ] || cat > $d/script\n"
             "  echo \"$n$a\" >> $d/asked ;;\n"
             "esac\ncat $d/$n.err >&2; cat $d/$n.out; exit $(cat $d/$n.code)\n");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(commands); i++) {
        snprintf(path, sizeof(path), "%s/%s", bench.folder, commands[i]);
        assert_int_equal(symlink("fake", path), 0);
        prints(commands[i], 0, "");
    }
    snprintf(path, sizeof(path), "%s/fake", bench.folder);
    assert_int_equal(chmod(path, 0755), 0);
}

/* --- what is looked at */

/* The folder has another name each time, and the tag another digest. */
static inline void put_covered(const char *line)
{
    for (const char *at = line; *at;) {
        if (strncmp(at, bench.folder, strlen(bench.folder)) == 0) {
            myr_buf_puts(&story, "FOLDER");
            at += strlen(bench.folder);
        } else if (slurm->tag[0] && strncmp(at, slurm->tag, strlen(slurm->tag)) == 0) {
            myr_buf_puts(&story, "TAG");
            at += strlen(slurm->tag);
        } else {
            myr_buf_putc(&story, *at++);
        }
    }
}

static inline int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted: several run at a time. */
static inline void put_asked(void)
{
    char path[160], *lines[64];
    size_t count = 0;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    snprintf(path, sizeof(path), "%s/asked", bench.folder);
    if (myr_file_read(path, 1 << 20, &text, NULL) < 0) {
        return;
    }
    for (char *rest = text.data, *line; (line = strsep(&rest, "\n")) && *line;) {
        assert_true(count < MYR_ARRAY_COUNT(lines));
        lines[count++] = line;
    }
    qsort(lines, count, sizeof(*lines), compare);
    for (size_t i = 0; i < count; i++) {
        myr_buf_puts(&story, "  asks ");
        put_covered(lines[i]);
        myr_buf_puts(&story, "\n");
    }
    assert_int_equal(unlink(path), 0);
}

/* Until nothing is under way: no command, no event, no order of this moment. */
static inline void settle(void)
{
    do {
        uv_run(&server->loop, UV_RUN_DEFAULT);
    } while (server->inbox.count > 0 || slurm->under_way);
    for (; told < server->feed.next; told++) {
        myr_buf_printf(&story, "  told %s\n",
                       strstr(feed_get(&server->feed, told)->data, "\"kind\""));
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    lines_put(&text);
    put_covered(text.len ? text.data : "");
    put_asked();
    if (uv_is_active((uv_handle_t *)&slurm->timer)) {
        uv_update_time(&server->loop);
        myr_buf_printf(&story, "  looks in %llu ms\n",
                       (unsigned long long)uv_timer_get_due_in(&slurm->timer));
    }
    assert_int_equal(server->refused_events, 0);
}

/*
 * Jobs that are not over or have a reason, and the gangs that the engine knows; times relative to
 * now.
 */
static inline void put_jobs(void)
{
    for (uint32_t id = 0; id < myr_control_jobs(server->control); id++) {
        struct myr_control_job job = myr_control_job(server->control, id);
        if (job.state < MYR_CONTROL_DONE || rows_job(server, id)->reason[0]) {
            myr_buf_printf(&story, "  job %u.%u %s '%s'\n", id, job.epoch,
                           myr_control_job_state_name(job.state), rows_job(server, id)->reason);
        }
    }
    for (size_t i = 0; i < slurm->gangs.count; i++) {
        const struct gang *gang = &slurm->gangs.items[i];
        int64_t now_ms = steady_ms();
        myr_buf_printf(&story, "  gang %u.%u as %llu, stage %d%s%s%s since %lld", gang->job,
                       gang->epoch, (unsigned long long)gang->id, (int)gang->stage,
                       gang->up_told ? " up" : "", gang->stopping ? " stopping" : "",
                       gang->killed ? " killed" : "", (long long)(gang->since_ms - now_ms));
        if (gang->runs_ms) {
            myr_buf_printf(&story, " runs %lld", (long long)(gang->runs_ms - now_ms));
        }
        if (gang->kill_ms) {
            myr_buf_printf(&story, " kill in %lld", (long long)(gang->kill_ms - now_ms));
        }
        myr_buf_puts(&story, "\n");
    }
}

/* A job is started again some seconds after a start that came to nothing: until then. */
static inline void wait_for_start(uint32_t id)
{
    struct myr_control_job job;
    while ((job = myr_control_job(server->control, id)).state == MYR_CONTROL_RECOVERING &&
           job.nodes_open == 0) {
        int64_t ahead_ms = myr_control_wake_ms(server->control) - core_ms(server);
        assert_in_range(ahead_ms, 1, 300000);
        clock_ns += ahead_ms * 1000000;
        desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TICK});
        myr_buf_printf(&story, "%lld s later\n", (long long)ahead_ms / 1000);
        settle();
        put_jobs();
    }
}

static inline void no_timer(uv_timer_t *timer)
{
    (void)timer; /* looks are the test's */
}

/* 'whole': nodes too. Whether they are due is a matter of time, which is set for it. */
static inline void look(const char *what, bool whole)
{
    myr_buf_printf(&story, "%s\n", what);
    uv_timer_stop(&slurm->timer);
    slurm->whole_ms = steady_ms() - (whole ? 1000000 : -1000000);
    slurm_look(slurm);
    settle();
    put_jobs();
    clock_ns += 700000000; /* the world turns on */
}

/* As sinfo prints them; then a whole look, and what is said of the nodes. */
static inline void nodes_are(const char *what, const char *lines)
{
    prints("sinfo", 0, lines);
    look(what, true);
    for (uint32_t id = 0; id < server->rows.node_count; id++) {
        if (server->rows.nodes[id].reason[0]) {
            myr_buf_printf(&story, "  %s: %s\n", server->rows.nodes[id].name,
                           server->rows.nodes[id].reason);
        }
    }
}

/* One line of squeue for the present incarnation of a job of ours. */
static inline void job_is(const char *id, const char *state, const char *reason, uint32_t job)
{
    char line[300], what[100];
    wait_for_start(job);
    uint32_t epoch = myr_control_job(server->control, job).epoch;
    snprintf(line, sizeof(line), "%s|%s|nobody|n[0-1]|%s|myriad:%s:%u.%u\n", id, state, reason,
             slurm->tag, job, epoch);
    prints("squeue", 0, line);
    snprintf(what, sizeof(what), "squeue: %s %s %s of %u.%u", id, state, reason, job, epoch);
    look(what, true);
}

/* More than a node is of a tenant with an account, the rest of the default one. */
static inline void submitted(uint32_t gpus)
{
    uint32_t id = bench_submit(server, gpus, MYR_RESTART_STRICT);
    snprintf(server->rows.jobs.items[id]->unix_user, SERVER_NAME, "nobody");
    free((char *)server->rows.jobs.items[id]->file);
    server->rows.jobs.items[id]->file = strdup("gpus: 1\ncommand: run\n");
    server->rows.jobs.items[id]->tenant = rows_tenant(server, gpus > 8 ? "research" : "default");
    myr_buf_printf(&story, "submit job %u of %u GPUs\n", id, gpus);
    settle();
    put_jobs();
}

/* As the batch script does when its ranks have ended by themselves. */
static inline void wrote_exit(uint32_t job, uint32_t epoch, const char *text)
{
    char path[PATH_BYTES + 16];
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    script_folder(slurm->spool, job, epoch, path, PATH_BYTES);
    snprintf(path + strlen(path), 16, "/exit");
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path, &buf, &err), MYR_OK);
    myr_buf_printf(&story, "the script of %u.%u writes %s", job, epoch, text);
}

#define UP      "n[0-2]|all*|64|1000|gpu:h100:8|idle|none\n"
#define LAST_UP "n3|all*|64|1000|gpu:h100:8|idle|none\n"

/* Again on the same folder: a server that was started anew. */
static inline void opened(void)
{
    struct myr_err err = {};
    bench_open(&bench, 4);
    server = bench.server;
    told = server->feed.next;
    server->config.world = WORLD_SLURM;
    server->config.slurm = (struct slurm_config){.poll_s = 5, .timeout_s = 60, .accounts = true};
    snprintf(server->config.slurm.bin, sizeof(server->config.slurm.bin), "%s", bench.folder);
    snprintf(server->config.slurm.spool, sizeof(server->config.slurm.spool), "%s/spool",
             bench.folder);
    lines_begin();
    assert_int_equal(desk_begin(server, &err), MYR_OK);
    fence_begin(server);
    assert_int_equal(engine_begin(server, &slurm_ops, &err), MYR_OK);
    slurm = slurm_of(server);
    slurm->on_timer = no_timer;
    uv_timer_stop(&slurm->timer);
    /* The loop ends when no command is under way, whatever timers there are. */
    uv_unref((uv_handle_t *)&slurm->timer);
    uv_unref((uv_handle_t *)&server->wake);
    uv_unref((uv_handle_t *)&server->check);
    myr_buf_puts(&story, "begin\n");
    settle();
}

static inline void closed(void)
{
    struct engine *engine = server->engine;
    engine_end(server);
    fence_end(server);
    bench_close(&bench);
    engine_free(engine);
    lines_end();
}

static inline int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline void life_begin(void)
{
    bench_begin(&bench);
    make_commands();
    put_file("ca", ".pem", "an authority\n");
    opened();
}

static inline void life_end(void)
{
    assert_int_equal(nftw(bench.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    myr_buf_done(&story);
}
