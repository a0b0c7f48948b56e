/*
 * serve: all of it, from the folder to the last commit. It begins with what others rely upon
 * (limits, papers, store, rows, desk), then the world, and opens the port for requests last; it
 * ends the other way round. Between the two everything happens in callbacks of one loop.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api.h"
#include "asked/asked.h"
#include "engine/engine.h"
#include "engine/fence.h"
#include "myriad/server.h"
#include "myriad/text/amount.h"
#include "slurm/slurm.h"

/* systemd is told by one datagram; without it nobody is. */
static void notify(const char *text)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (!path || strlen(path) >= sizeof(at.sun_path)) {
        return;
    }
    memcpy(at.sun_path, path, strlen(path));
    if (at.sun_path[0] == '@') {
        at.sun_path[0] = '\0';
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
        ssize_t sent = sendto(fd, text, strlen(text), 0, (const struct sockaddr *)&at, size);
        (void)sent;
        close(fd);
    }
}

/* Jobs that have had their time end; a person is told why. */
static void end_overdue(struct server *server)
{
    int64_t now_ms = core_ms(server);
    server->overdue_ms = INT64_MAX;
    for (uint32_t id = 0; id < server->rows.jobs.count; id++) {
        struct job_row *row = server->rows.jobs.items[id];
        MYR_ASSERT(!row || row->state < MYR_CONTROL_JOB_STATES);
        /* By the core's clock: a simulated job has simulated time. */
        if (!row || row->time_limit_s == 0 || row->state >= MYR_CONTROL_DONE ||
            row->first_start_ms < 0 || row->reason[0] == '(') {
            continue;
        }
        int64_t over_ms = row->first_start_ms + row->time_limit_s * 1000;
        if (now_ms < over_ms) {
            server->overdue_ms = over_ms < server->overdue_ms ? over_ms : server->overdue_ms;
            continue;
        }
        if (!desk_post(server, &(struct myr_event){.kind = MYR_EVENT_CANCEL, .job = id})) {
            return; /* said again in a second */
        }
        /* The bracket in front marks it: it is cancelled once. */
        snprintf(row->reason, sizeof(row->reason), "(its time of %lld s is over)",
                 (long long)row->time_limit_s);
    }
}

/*
 * Who has waited for 'starve_h' is told once, to the log and to those who watch: what waits that
 * long mostly waits for something that no scheduler gives. Time that a person held it counts not.
 */
static void tell_starving(struct server *server)
{
    enum { LOOKED_EACH_MS = 60000 };
    int64_t now_ms = core_ms(server), most_s = server->config.starve_h * INT64_C(3600);
    if (most_s == 0 || core_ms(server) - server->starved_ms < LOOKED_EACH_MS) {
        return;
    }
    server->starved_ms = core_ms(server);
    for (uint32_t id = 0; (id = myr_control_next_job(server->control, id)) != MYR_NONE; id++) {
        struct job_row *row = rows_job(server, id);
        struct myr_control_job job = myr_control_job(server->control, id);
        int64_t waited_s = job.state == MYR_CONTROL_QUEUED && !job.spec.held && row
                               ? myr_control_waited_s(server->control, now_ms, id)
                               : 0;
        if (waited_s >= most_s && !row->starves) {
            feed_starving(server, id, job.spec.gpus, waited_s);
            log_say("warning", "job %u, %s, of %s has waited for %s", id, row->name,
                    MYR_COUNT(job.spec.gpus, "GPU"), MYR_DURATION(waited_s));
        }
        if (row) {
            row->starves = waited_s >= most_s;
        }
    }
}

/* For a server that only shows that it starts, and for the report at the end. */
static uint32_t healthy_nodes(const struct server *server)
{
    uint32_t count = 0;
    MYR_ASSERT(server->rows.node_count == myr_control_nodes(server->control));
    for (uint32_t id = 0; id < server->rows.node_count; id++) {
        count += myr_control_node(server->control, id).state == MYR_NODE_HEALTHY;
    }
    return count;
}

static void on_nothing(uv_handle_t *handle)
{
    (void)handle;
}

/*
 * In this order: what was posted is kept, requests are answered, then the world and the desk end.
 * The loop runs out when the last handle is closed.
 */
static void stop(struct server *server)
{
    if (server->stopping) {
        return;
    }
    MYR_ASSERT(server->control && server->http && server->store); /* it has come to serving */
    server->stopping = true;
    notify("STOPPING=1");
    log_say("info", "stopping");
    desk_turn(server);
    backup_stop(server);
    asked_stop(server);
    http_end(server);
    if (server->config.twin) {
        simulated_end(server);
    } else if (server->engine) {
        engine_end(server);
    } else {
        sessions_end(server);
    }
    fence_end(server);
    desk_end(server);
    uv_close((uv_handle_t *)&server->second, on_nothing);
    if (server->config.etcd.count > 0) {
        uv_close((uv_handle_t *)&server->keep, on_nothing);
    }
}

/* What time alone brings about outside of the core. */
static void on_second(uv_timer_t *timer)
{
    struct server *server = timer->data;
    MYR_ASSERT(!server->stopping && server->http); /* stop() closes the timer */
    static uint64_t rang;
    if (server->stuck) {
        desk_turn(server); /* is there room again? */
    }
    if (server->engine) {
        engine_second(server);
    } else if (!server->config.twin) {
        sessions_second(server);
    }
    server->refusals_said = 0;
    end_overdue(server);
    tell_starving(server);
    http_second(server);
    watch_second(server);
    /* It has shown that all of it starts. */
    if (server->once && healthy_nodes(server) == server->rows.node_count) {
        stop(server);
        return;
    }
    /* At most one a second, behind all that happened in it. */
    if (server->feed.next != rang) {
        feed_put(server, "doorbell", MYR_NONE, MYR_STR(""));
        rang = server->feed.next;
    }
    notify("WATCHDOG=1");
}

/* Not referenced by the loop: they do not keep it from ending. */
struct signals {
    uv_signal_t term, interrupt, hangup;
    uv_timer_t limit; /* for a server that is to end by itself */
};

/* SIGHUP reads some of the configuration again; the others end the server in good order. */
static void on_signal(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;
    if (number == SIGHUP) {
        struct config fresh;
        struct myr_err err = {};
        char path[SERVER_PATH];
        snprintf(path, sizeof(path), "%s/myriad.yaml", server->folder);
        /* A file that is wrong must not end a cluster that runs. */
        if (config_read(path, &fresh, &err) < 0) {
            log_say("error", "%s; the old configuration stays", err.message);
            return;
        }
        /* Only what nothing else was built upon; the rest takes a restart. */
        server->config.kw_per_gpu = fresh.kw_per_gpu;
        server->config.price_kwh = fresh.price_kwh;
        server->config.pretend = fresh.pretend;
        server->config.beat_ms = fresh.beat_ms;
        memcpy(server->config.currency, fresh.currency, sizeof(fresh.currency));
        config_done(&fresh);
        log_close();
        log_open(server->folder, server->log_json);
        log_say("info", "configuration read again");
        return;
    }
    stop(server);
}

static void on_limit(uv_timer_t *timer)
{
    stop(timer->data);
}

/* 'limit_s' 0: until it is told to end. */
static void signals_begin(struct server *server, struct signals *signals, uint32_t limit_s)
{
    struct {
        uv_signal_t *handle;
        int number;
    } all[] = {
        {&signals->term, SIGTERM}, {&signals->interrupt, SIGINT}, {&signals->hangup, SIGHUP}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        uv_signal_init(&server->loop, all[i].handle);
        all[i].handle->data = server;
        uv_signal_start(all[i].handle, on_signal, all[i].number);
        uv_unref((uv_handle_t *)all[i].handle);
    }
    uv_timer_init(&server->loop, &signals->limit);
    signals->limit.data = server;
    if (limit_s) {
        uv_timer_start(&signals->limit, on_limit, limit_s * 1000ULL, 0);
    }
    uv_unref((uv_handle_t *)&signals->limit);
}

/* A socket a node, and some more. */
static void raise_limit(const struct server *server)
{
    struct rlimit limit;
    rlim_t wanted = 2ULL * server->config.node_count + 4096;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        /* Fewer than one a node: some agents will not get in. */
        if (limit.rlim_cur < server->config.node_count + 256ULL) {
            log_say("warning", "only %llu open files are allowed for %s",
                    (unsigned long long)limit.rlim_cur,
                    MYR_COUNT(server->config.node_count, "node"));
        }
    }
}

/* init made it: one that is gone or empty is a loss, and nothing to begin anew in silence. */
static int check_store(const char *path, struct myr_err *err)
{
    struct stat status;
    if (stat(path, &status) == 0 && status.st_size > 0) {
        return MYR_OK;
    }
    (void)myr_err_set(err, MYR_ECORRUPT,
                      "%s: the store is missing or empty; all jobs and tokens "
                      "were in it",
                      path);
    if (err) {
        snprintf(err->hint, sizeof(err->hint), "myriad restore BACKUP DIR, or myriad init anew");
    }
    return MYR_ECORRUPT;
}

/* Said once each, not four times a second. */
struct standby {
    char said[200];
};

/* Always waits on: a signal ends the process, which leads nothing yet. */
static bool on_standby(void *context, const char *leader, const char *why)
{
    struct standby *standby = context;
    char text[200];
    snprintf(text, sizeof(text), "standby: %.150s%s", leader ? leader : why,
             leader ? " leads" : "");
    if (strcmp(text, standby->said) != 0) {
        if (!standby->said[0]) {
            notify("READY=1"); /* it does what it is there for */
        }
        log_say(leader ? "info" : "error", "%s", text);
        memcpy(standby->said, text, sizeof(text));
    }
    return true;
}

/* In etcd this waits until the server leads: nothing is listened at before. */
static int open_store(struct server *server, struct myr_err *err)
{
    char path[SERVER_PATH], name[192], host[64] = "";
    struct standby standby = {};
    MYR_ASSERT(!server->store);
    if (server->config.etcd.count == 0) {
        snprintf(path, sizeof(path), "%s/state.db", server->folder);
        MYR_TRY(check_store(path, err));
        return store_open(path, &server->store, err);
    }
    /* By host and port people know which server leads. */
    (void)gethostname(host, sizeof(host) - 1);
    snprintf(name, sizeof(name), "%s:%u", host, server->config.http_port);
    MYR_TRY(store_stand_by(&server->config.etcd, name, on_standby, &standby, &server->store, err));
    log_say("info", "this server leads");
    return store_is_empty(server->store)
               ? myr_err_set(err, MYR_ENOENT,
                             "etcd holds no state under '%s'; myriad init --etcd makes one",
                             server->config.etcd.prefix)
               : MYR_OK;
}

/* Nobody else may lead while this server acts; when another does, it ends and stands by anew. */
static void on_keep(uv_timer_t *timer)
{
    struct server *server = timer->data;
    struct myr_err err = {};
    MYR_ASSERT(!server->stopping && server->config.etcd.count > 0);
    int rc = store_keep(server->store, &err);
    if (rc == MYR_ESTALE && !server->overtaken) {
        server->overtaken = true;
        log_say("error", "%s", err.message);
        stop(server);
    } else if (rc < 0 && rc != MYR_ESTALE && !server->unheard) {
        server->unheard = true;
        if (!server->stuck) { /* else it was said when a commit failed */
            log_say("error", "%s; what is to be kept waits for it", err.message);
        }
    } else if (rc == MYR_OK && server->unheard) {
        server->unheard = false;
        log_say("info", "etcd answers again");
    }
}

/* Power is taken from real nodes alone. */
static int world_begin(struct server *server, struct myr_err *err)
{
    MYR_ASSERT(server->config.twin == (server->config.world == WORLD_TWIN));
    if (!server->config.twin) { /* there the power is simulated too */
        fence_begin(server);
    }
    switch (server->config.world) {
    case WORLD_TWIN:
        return simulated_begin(server, err);
    case WORLD_SLURM:
        return engine_begin(server, &slurm_ops, err);
    case WORLD_AGENTS:
    case WORLD_COUNT:
        break;
    }
    return sessions_begin(server, err);
}

/* Requests come last: when the port is open there is a state to answer from. */
static int begin(struct server *server, struct myr_err *err)
{
    char path[SERVER_PATH];
    MYR_ASSERT(!server->control && !server->http && !server->stopping);
    snprintf(path, sizeof(path), "%s/myriad.yaml", server->folder);
    MYR_TRY(config_read(path, &server->config, err));
    if (server->once) { /* nobody comes: any port will do */
        server->config.http_port = server->config.agents_port = 0;
    }
    raise_limit(server);
    papers_renew(server->folder);
    MYR_TRY(open_store(server, err));
    MYR_TRY(rows_load(server, err));
    feed_init(&server->feed);
    MYR_TRY(desk_begin(server, err));
    MYR_TRY(world_begin(server, err));
    /* What the takeover decides is on the disk before anybody is answered. */
    MYR_TRY(desk_run(server, err));
    MYR_TRY(http_begin(server, api_routes, api_route_count, err));
    MYR_ASSERT(server->world.effect && server->http);
    server->feed.rang = watch_rang;
    server->end_overdue = end_overdue;
    server->feed.context = server;
    uv_timer_init(&server->loop, &server->second);
    server->second.data = server;
    uv_timer_start(&server->second, on_second, 1000, 1000);
    if (server->config.etcd.count > 0) {
        /* Three times within the lease, so that one may be late. */
        uint64_t every_ms = 1000 * (uint64_t)server->config.etcd.ttl_s / 3;
        uv_timer_init(&server->loop, &server->keep);
        server->keep.data = server;
        uv_timer_start(&server->keep, on_keep, every_ms, every_ms);
    }
    return MYR_OK;
}

/* Who has the folder finds the server, whatever port it has got. */
static void write_url(const struct server *server, const char *url)
{
    char path[SERVER_PATH];
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/server.url", server->folder);
    if (!url) {
        unlink(path);
        return;
    }
    myr_buf_printf(&text, "%s\n", url);
    if (myr_file_write(path, &text, &err) < 0) {
        log_say("warning", "%s", err.message);
    }
}

/* Agents have no port of their own in worlds without them: 0. */
static void tell_ready(const struct server *server, const struct myr_serve *serve)
{
    const struct config *config = &server->config;
    bool six = strchr(config->http_address, ':') != NULL;
    bool plain =
        strncmp(config->http_address, "127.", 4) == 0 || strcmp(config->http_address, "::1") == 0;
    char url[128];
    snprintf(url, sizeof(url), "%s://%s%s%s:%u/", plain ? "http" : "https", six ? "[" : "",
             config->http_address, six ? "]" : "", http_port(server));
    uint16_t port = server->listener ? myr_io_port(server->listener) : 0;
    MYR_ASSERT(server->http && !server->stopping);
    write_url(server, url);
    log_say("info", "ready: %s, agents on port %u, %s", url, port,
            MYR_COUNT(config->node_count, "node"));
    notify("READY=1");
    if (serve->ready) {
        serve->ready(serve->context, url, port);
    }
}

/* Also of a server that did not come to serving: every part takes what is not there. */
static void release(struct server *server)
{
    fence_end(server); /* where it has not come to serving */
    engine_free(server->engine);
    desk_free(server);
    free(server->http);
    log_close();
    free(server);
}

/*
 * Returns when it is told to end, with everything kept, or says what is not. Who was overtaken
 * writes no snapshot: the state is another's by now.
 */
int myr_serve(const struct myr_serve *serve, struct myr_err *err)
{
    struct server *server = myr_xcalloc(1, sizeof(*server));
    struct signals signals;
    server->folder = serve->folder;
    server->version = serve->version;
    server->log_json = serve->log_json;
    server->once = serve->once;
    signal(SIGPIPE, SIG_IGN);
    log_open(serve->folder, serve->log_json);
    log_quiet(serve->once);
    uv_loop_init(&server->loop);
    int rc = begin(server, err);
    if (rc < 0) {
        (void)uv_loop_close(&server->loop); /* one that has handles goes with the process */
        release(server);
        return rc;
    }
    signals_begin(server, &signals, serve->stop_after_s);
    tell_ready(server, serve);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    MYR_ASSERT(server->stopping); /* the loop runs out when stop() has closed all of it */
    write_url(server, NULL);
    if (serve->report) {
        *serve->report = (struct myr_serve_report){server->rows.node_count, healthy_nodes(server),
                                                   server->config.gpus_per_node};
    }
    rc = server->overtaken ? myr_err_set(err, MYR_EAWAY, "another server leads now")
         : server->stuck   ? myr_err_set(err, MYR_EIO, "not all is kept: %s", server->stuck_why)
                           : desk_snapshot(server, err);
    uv_close((uv_handle_t *)&signals.term, on_nothing);
    uv_close((uv_handle_t *)&signals.interrupt, on_nothing);
    uv_close((uv_handle_t *)&signals.hangup, on_nothing);
    uv_close((uv_handle_t *)&signals.limit, on_nothing);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    uv_loop_close(&server->loop);
    release(server);
    return rc;
}
