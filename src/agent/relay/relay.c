/* relay: the beginning and the end of the process: papers, lock, limits, signals. */
#include "relay/relay.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/files.h"
#include "enrol.h"
#include "notify.h"
#include "options.h"

enum { TOKEN_MAX = 4096, SPARE_FILES = 64 }; /* descriptors for all that is no agent */

/* "host:port", with brackets around an address that has colons. */
static int split(const char *text, char ret_host[256], uint16_t *ret_port, struct myr_err *err)
{
    struct settings settings = {};
    size_t len = strlen(text);
    /* The shared reader refuses port 0: it is given a 1 in its place. */
    bool any = len > 2 && strcmp(text + len - 2, ":0") == 0;
    char known[300];
    /* A port of 0 is any that is free, which is only of use to listen at. */
    snprintf(known, sizeof(known), "%.*s%s", (int)(any ? len - 1 : len), text, any ? "1" : "");
    struct myr_err why = {};
    if (len >= sizeof(known) || options_server(known, &settings, &why) < 0) {
        return myr_err_set(err, MYR_EINVAL,
                           "--listen '%.100s': HOST:PORT is expected, or "
                           "[ADDRESS]:PORT",
                           text);
    }
    snprintf(ret_host, 256, "%s", settings.host);
    *ret_port = any ? 0 : settings.port;
    MYR_ASSERT(ret_host[0] && (any || *ret_port > 0));
    return MYR_OK;
}

/* Asks for a certificate with the token, of each server in turn. */
static int first_start(struct relay *relay, struct myr_err *err)
{
    const struct myr_relay *settings = relay->settings;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct enrol_token token;
    struct stat status;
    if (!settings->token_file) {
        int rc =
            myr_err_set(err, MYR_EINVAL, "%s: no certificate here, and no token to get one with",
                        settings->folder);
        myr_err_hint(err, "myriad enrol --relay %.60s gives one", settings->name);
        return rc;
    }
    /* Whoever has read it could become the relay. */
    if (stat(settings->token_file, &status) == 0 && (status.st_mode & 077) != 0) {
        return myr_err_set(err, MYR_EINVAL, "%s: others may read it; chmod 600 it first",
                           settings->token_file);
    }
    MYR_TRY(myr_file_read(settings->token_file, TOKEN_MAX, &text, err));
    MYR_TRY(enrol_token_read((struct myr_str){text.len ? text.data : "", text.len}, &token, err));
    /* Who does not lead does not answer; what is refused is refused by all. */
    int rc = MYR_EIO;
    for (uint32_t at = 0; at <= relay->servers.other_count && rc == MYR_EIO; at++) {
        above_choose(relay, at);
        MYR_ASSERT(relay->host && relay->port > 0);
        rc = enrol_run(relay->host, relay->port, settings->folder, settings->name, &token, err);
    }
    memset(&token, 0, sizeof(token));
    memset(text.data, 0, text.len);
    return rc;
}

/* Two with one certificate would take each other's place for ever. */
static int lock(const char *folder, struct myr_err *err)
{
    char path[AGENT_PATH_MAX];
    path_join(path, folder, "lock");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return myr_err_errno(err, "cannot open", path);
    }
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        return myr_err_set(err, MYR_EINVAL, "%s: another relay runs with this folder", folder);
    }
    return MYR_OK; /* held until the process ends */
}

/* All that can be wrong is found before a port is opened. */
static int prepare(struct relay *relay, struct myr_err *err)
{
    const struct myr_relay *settings = relay->settings;
    MYR_CLEANUP(myr_buf_done) struct myr_buf note = {};
    MYR_ASSERT(!relay->tls_up && !relay->tls_down && !relay->listener);
    MYR_TRY(options_servers(settings->server, &relay->servers, err));
    above_choose(relay, 0);
    MYR_TRY(folder_make(settings->folder, 0700, err));
    if (chmod(settings->folder, 0700) < 0) { /* it holds the relay's key */
        return myr_err_errno(err, "not ours", settings->folder);
    }
    MYR_TRY(lock(settings->folder, err));
    if (!enrol_is_done(settings->folder)) {
        MYR_TRY(first_start(relay, err));
    }
    /* For 'myriad doctor', which knows a relay's folder by this file. */
    myr_buf_printf(&note, "name %s\nserver %s\nlisten %s\n", settings->name, settings->server,
                   settings->listen);
    /* Written at each start: the addresses may be others than last time. */
    MYR_TRY(file_put(settings->folder, "relay", (struct myr_str){note.data, note.len}, err));
    MYR_TRY(enrol_tls(settings->folder, &relay->tls_up, err));
    return enrol_tls_server(settings->folder, &relay->tls_down, err);
}

/* The silence of the controller, then that of agents. */
static void on_second(uv_timer_t *timer)
{
    struct relay *relay = timer->data;
    MYR_ASSERT(!relay->ending && relay->listener); /* the timer is closed with it */
    above_second(relay);
    below_second(relay);
    /* From the loop itself: a relay that hangs is started anew by its manager. */
    notify_manager("WATCHDOG=1");
}

static void on_nothing(uv_handle_t *handle)
{
    (void)handle;
}

/* Agents hear the end, and come again by themselves; ranks notice nothing. */
static void on_end(uv_signal_t *handle, int number)
{
    struct relay *relay = handle->data;
    (void)number;
    if (relay->ending) {
        return;
    }
    /* A second signal finds it ending already. */
    relay->ending = true;
    MYR_ASSERT(relay->listener);
    notify_manager("STOPPING=1");
    myr_io_listener_close(relay->listener);
    above_end(relay); /* whose end is that of all */
    for (struct line *line = relay->lines; line; line = line->next) {
        below_close(line);
    }
    uv_close((uv_handle_t *)&relay->second, on_nothing);
    uv_close((uv_handle_t *)&relay->term, on_nothing);
    uv_close((uv_handle_t *)&relay->interrupt, on_nothing);
}

static void begin(struct relay *relay)
{
    MYR_ASSERT(relay->listener && !relay->up && !relay->ending);
    uv_timer_init(&relay->loop, &relay->second);
    uv_signal_init(&relay->loop, &relay->term);
    uv_signal_init(&relay->loop, &relay->interrupt);
    relay->second.data = relay->term.data = relay->interrupt.data = relay;
    uv_timer_start(&relay->second, on_second, 1000, 1000);
    uv_signal_start(&relay->term, on_end, SIGTERM);
    uv_signal_start(&relay->interrupt, on_end, SIGINT);
    (void)signal(SIGPIPE, SIG_IGN);
    above_start(relay);
}

/* A descriptor an agent. Where the system allows fewer it is said, and the relay runs with them. */
static void raise_limit(uint32_t agents)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)agents + SPARE_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        MYR_ASSERT(limit.rlim_cur <= limit.rlim_max && limit.rlim_cur <= wanted);
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        if (limit.rlim_cur < wanted) {
            say("only %llu open files are allowed for %u agents",
                (unsigned long long)limit.rlim_cur, agents);
        }
    }
}

static void release(struct relay *relay)
{
    MYR_ASSERT(!relay->lines && relay->line_count == 0 && !relay->up);
    myr_io_tls_free(relay->tls_up);
    myr_io_tls_free(relay->tls_down);
    myr_vec_done(&relay->places);
    myr_vec_done(&relay->free_places);
    free(relay);
}

/* The port last: whoever comes is let in by what was prepared. */
static int open_port(struct relay *relay, struct myr_err *err)
{
    char address[256] = "";
    uint16_t port = 0;
    MYR_TRY(split(relay->settings->listen, address, &port, err));
    MYR_TRY(prepare(relay, err));
    MYR_ASSERT(relay->tls_up && relay->tls_down && relay->host);
    raise_limit(relay->settings->agents_max);
    return below_listen(relay, address, port, err);
}

/* Returns when it is told to end; on failure nothing was listened at. */
int myr_relay_run(const struct myr_relay *settings, struct myr_err *err)
{
    struct relay *relay = myr_xcalloc(1, sizeof(*relay));
    relay->settings = settings;
    uv_loop_init(&relay->loop);
    int rc = open_port(relay, err);
    if (rc < 0) {
        /* A listener that failed is closed by the loop. */
        uv_run(&relay->loop, UV_RUN_NOWAIT);
        (void)uv_loop_close(&relay->loop);
        release(relay);
        return rc;
    }
    begin(relay);
    if (settings->ready) {
        /* With the port that the system has given, where any would do. */
        settings->ready(settings->context, myr_io_port(relay->listener));
    }
    notify_manager("READY=1");
    uv_run(&relay->loop, UV_RUN_DEFAULT);
    if (settings->report) {
        *settings->report = relay->count;
    }
    (void)uv_loop_close(&relay->loop);
    release(relay);
    return MYR_OK;
}
