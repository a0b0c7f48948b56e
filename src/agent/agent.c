/*
 * agent: the resident process on one loop. The session brings orders, runs carry them out by
 * launchers, reports go back until they are committed; a timer and a bell look at the files by
 * which launchers speak. Its own end is that of no rank: the next agent finds everything in the
 * state folder.
 */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inventory.h"
#include "launch.h"
#include "notify.h"
#include "runs.h"
#include "shim/shim.h"
#include "symptoms.h"

enum {
    LOOK_MS = 1000,
    STEP_LOOKS = 10,        /* steps are told at most every so many looks */
    RENEW_LOOKS = 3600,     /* the certificate is looked at so often */
    FETCH_BYTES = 48 << 10, /* of output in one message */
    LOCK_TRIES = 40,        /* of 50 ms */
};

/* A test of the node that the controller has asked for, answered when the inventory is there. */
struct test {
    bool wanted;
    uint64_t id;
    uint32_t epoch;
};

struct agent {
    const struct settings *settings;
    uv_loop_t loop;
    struct session session;
    struct reports reports;
    struct stops stops;
    struct runs runs;
    uv_timer_t look;
    /* Launchers ring when a file of theirs has changed, so that it is not found a second late. */
    uv_poll_t bell;
    uv_signal_t term, interrupt, child;
    int bell_fd, lock_fd, heard_fd, status; /* 'status': of the process, when it ends */
    /* Of the timer, since the start; heard_ns is what lies in the file behind heard_fd. */
    uint32_t looks;
    int64_t heard_ns;
    /* What the collecting process prints, while it runs. */
    uv_poll_t *collector; /* of its own for each: one that is closing cannot begin again */
    int collector_fd;     /* -1: none runs */
    struct myr_buf collected, inventory;
    uint32_t gpus; /* of the first inventory */
    struct test test;
    struct pretended pretended;
    bool asked_renewal;
    uint32_t server_at; /* in the list of servers */
    struct symptoms symptoms;
};

/* --- inventory and tests */

/* Details that do not fit into a message are left out; the numbers go all the same. */
static void send_inventory(struct agent *agent)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_wire_inventory inventory = {};
    struct myr_err err = {};
    struct myr_str json = {agent->inventory.data, agent->inventory.len};
    myr_arena_init(&arena);
    if (agent->inventory.len == 0) {
        return; /* it comes when it is there */
    }
    if (inventory_read(&arena, json, &inventory, &err) < 0) {
        say("%s", err.message);
        return;
    }
    inventory.details = json.len <= INVENTORY_BYTES_MAX ? json : (struct myr_str){"", 0};
    if (agent->settings->pretend) {
        inventory.gpus = (uint32_t)agent->pretended.gpus;
        inventory.gpu_kind = myr_str_from(agent->pretended.gpu_kind);
        if (agent->pretended.serial[0]) {
            inventory.serial = myr_str_from(agent->pretended.serial);
        }
    }
    /* The first inventory is what later tests are held against. */
    if (agent->gpus == 0) {
        agent->gpus = agent->runs.gpus = inventory.gpus;
    }
    MYR_ASSERT(agent->runs.gpus == agent->gpus);
    (void)session_send(&agent->session, MYR_WIRE_INVENTORY, agent->session.boot_number, &inventory);
}

/* A node is sound when it still finds what it found first. */
static void answer_test(struct agent *agent, bool collected)
{
    struct report out = {
        .type = MYR_WIRE_TESTED, .job = agent->test.id, .epoch = agent->test.epoch};
    struct myr_err err = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_wire_inventory now = {};
    MYR_ASSERT(agent->test.wanted); /* asked once, answered once */
    myr_arena_init(&arena);
    agent->test.wanted = false;
    if (!collected ||
        inventory_read(&arena, (struct myr_str){agent->inventory.data, agent->inventory.len}, &now,
                       &err) < 0) {
        out.code = 1;
        snprintf(out.text, sizeof(out.text), "the node cannot say what it has");
    } else if (agent->settings->pretend) {
        struct pretended pretended;
        out.code = inventory_pretend(agent->settings->pretend, &pretended, &err) < 0 ||
                   pretended.broken || pretended.gpus < agent->gpus;
        snprintf(out.text, sizeof(out.text), "%s", out.code ? "pretended to be broken" : "");
    } else if (now.gpus < agent->gpus) {
        out.code = 1;
        snprintf(out.text, sizeof(out.text), "%u GPUs of %u are left", now.gpus, agent->gpus);
    }
    reports_add(&agent->reports, &out);
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

/* What was known before stays where the collector has failed. */
static void collected_all(struct agent *agent)
{
    /* A collector that printed nothing has failed, whatever its status was. */
    bool good = agent->collected.len > 0;
    MYR_ASSERT(agent->collector && agent->collector_fd >= 0);
    uv_poll_stop(agent->collector);
    uv_close((uv_handle_t *)agent->collector, free_handle);
    agent->collector = NULL;
    close(agent->collector_fd);
    agent->collector_fd = -1;
    MYR_ASSERT(!agent->collector); /* the next one may be started */
    if (good) {
        myr_buf_clear(&agent->inventory);
        myr_buf_put(&agent->inventory, agent->collected.data, agent->collected.len);
        send_inventory(agent);
    }
    myr_buf_done(&agent->collected);
    if (agent->test.wanted) {
        answer_test(agent, good);
    }
    MYR_ASSERT(!agent->test.wanted && agent->collected.len == 0);
}

/* Called again until the end of the pipe, which is the end of the collector. */
static void on_collected(uv_poll_t *poll, int status, int events)
{
    struct agent *agent = poll->data;
    char bytes[4096];
    MYR_ASSERT(poll == agent->collector && agent->collector_fd >= 0);
    (void)status;
    (void)events;
    ssize_t got = read(agent->collector_fd, bytes, sizeof(bytes));
    /* One that prints without end is cut off, and what came is read as it is. */
    if (got > 0 && agent->collected.len < (1U << 20)) {
        myr_buf_put(&agent->collected, bytes, (size_t)got);
    } else if (got >= 0 || (errno != EAGAIN && errno != EINTR)) {
        collected_all(agent);
    }
}

/* Starts the process that looks at the hardware; the loop goes on meanwhile. */
static void collect(struct agent *agent)
{
    const char *const argv[] = {"myriad-agent", "inventory", "-o", "json", NULL};
    struct myr_err err = {};
    /* A test that comes meanwhile is answered by the one that runs. */
    MYR_ASSERT((agent->collector_fd >= 0) == (agent->collector != NULL));
    if (agent->collector_fd >= 0) {
        return; /* one is at it */
    }
    if (launch_self(argv, &agent->collector_fd, &err) < 0) {
        say("%s", err.message);
        agent->collector_fd = -1;
        return;
    }
    (void)fcntl(agent->collector_fd, F_SETFL, O_NONBLOCK);
    agent->collector = myr_xcalloc(1, sizeof(*agent->collector));
    uv_poll_init(&agent->loop, agent->collector, agent->collector_fd);
    agent->collector->data = agent;
    uv_poll_start(agent->collector, UV_READABLE, on_collected);
    MYR_ASSERT(agent->collected.len == 0); /* of the one before nothing is left */
}

/* --- what the controller says */

static void on_acked(void *context, const struct report *report)
{
    runs_acked(&((struct agent *)context)->runs, report);
}

/* An answer comes in any case: empty and at its end where nothing is known of that job. */
static void take_fetch(struct agent *agent, uint32_t epoch, const struct myr_wire_fetch *fetch)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf data = {};
    const struct run *run = runs_find(&agent->runs, fetch->job, epoch);
    struct myr_wire_output out = {
        .job = fetch->job, .rank = fetch->rank, .offset = fetch->offset, .ended = 1};
    /* 0 asks for as much as fits into a message. */
    size_t most = fetch->bytes && fetch->bytes < FETCH_BYTES ? fetch->bytes : FETCH_BYTES;
    MYR_ASSERT(most > 0 && most <= FETCH_BYTES);
    MYR_ASSERT(!run || (run->job == fetch->job && (epoch == 0 || run->epoch == epoch)));
    epoch = run ? run->epoch : 0; /* 0 asked for the newest, and says that there is none */
    if (run) {
        output_fetch(run->folder, fetch->rank, &out.offset, most, &data, &out.size);
        out.ended = run->state >= RUN_ENDED;
        MYR_ASSERT(data.len <= most);
        out.data = (struct myr_str){data.data, data.len};
    }
    (void)session_send(&agent->session, MYR_WIRE_OUTPUT, epoch, &out);
}

/* The new pair is on the disk before it is shown: a crash in between costs nothing. */
static void take_cert(struct agent *agent, const struct myr_wire_cert *cert)
{
    struct myr_err err = {};
    struct myr_io_tls *tls = NULL;
    /* A certificate that nobody asked for belongs to no key of ours. */
    if (!agent->asked_renewal) {
        return;
    }
    MYR_ASSERT(!agent->settings->plain); /* nothing is asked for without certificates */
    agent->asked_renewal = false;
    if (enrol_take(agent->settings->state, cert, &err) < 0 ||
        enrol_tls(agent->settings->state, &tls, &err) < 0) {
        say("new certificate: %s", err.message);
        return;
    }
    session_renew(&agent->session, tls);
}

/* Launchers read it: a lease runs anew whenever the controller is heard. */
static void heard(struct agent *agent)
{
    int64_t now = boot_clock_ns();
    char text[64];
    MYR_ASSERT(agent->heard_fd >= 0 && now >= agent->heard_ns);
    /* Once a second is enough: leases count in seconds. */
    if (now - agent->heard_ns >= 1000000000) {
        /* In place, and always of one length: it must not fail on a full disk. */
        int len = snprintf(text, sizeof(text), "at_ns %019lld\n", (long long)now);
        MYR_ASSERT(len == 26); /* the digits of the last one are written over, all of them */
        if (pwrite(agent->heard_fd, text, (size_t)len, 0) == len) {
            agent->heard_ns = now;
        }
    }
}

/* Everything that comes is a sign of life of the controller, whatever it says. */
static void on_message(void *context, const struct myr_wire_message *message)
{
    struct agent *agent = context;
    const void *body = message->body;
    uint32_t epoch = message->head.epoch;
    MYR_ASSERT(agent->session.welcomed && agent->runs.loop); /* before it nobody gives orders */
    heard(agent);
    switch (message->head.type) {
    case MYR_WIRE_START:
        runs_start(&agent->runs, epoch, body);
        return;
    case MYR_WIRE_STOP:
        runs_stop(&agent->runs, epoch, body);
        return;
    case MYR_WIRE_ACK:
        reports_ack(&agent->reports, ((const struct myr_wire_ack *)body)->sequence, on_acked,
                    agent);
        return;
    case MYR_WIRE_FETCH:
        take_fetch(agent, epoch, body);
        return;
    case MYR_WIRE_TEST:
        agent->test =
            (struct test){true, ((const struct myr_wire_test *)body)->id, message->head.epoch};
        collect(agent);
        return;
    case MYR_WIRE_CERT:
        take_cert(agent, body);
        return;
    default: /* LEASE says no more than that the controller lives */
        return;
    }
}

/* uv_run() returns behind the callback that this is called from. */
static void end(struct agent *agent, int status)
{
    agent->status = status;
    MYR_ASSERT(status >= 0 && status < 256); /* of a process */
    uv_stop(&agent->loop);
}

/* A new connection knows nothing: what the node has, what it owes and what runs is said again. */
static void on_welcome(void *context, const struct myr_wire_welcome *welcome)
{
    struct agent *agent = context;
    MYR_ASSERT(agent->session.welcomed && agent->reports.session == &agent->session);
    if (agent->settings->pretend && welcome->pretend == 0) {
        say("--pretend %s: the server does not allow made-up GPUs", agent->settings->pretend);
        end(agent, 2);
        return;
    }
    heard(agent);
    send_inventory(agent);
    reports_resend(&agent->reports);
    runs_say_again(&agent->runs);
    symptoms_tell(&agent->symptoms);
    agent->asked_renewal = false;
}

static void on_refused(void *context, uint32_t code, struct myr_str text)
{
    (void)context; /* whoever is not known today may be bound tomorrow: it tries on */
    (void)code;
    (void)text;
}

/* --- time and signals */

/* Asks over the connection that the old certificate has opened: no token is needed again. */
static void renew(struct agent *agent)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf csr = {};
    struct myr_err err = {};
    if (agent->settings->plain || agent->asked_renewal || !enrol_is_due(agent->settings->state)) {
        return;
    }
    if (enrol_ask(agent->settings->state, agent->settings->name, &csr, &err) < 0) {
        say("%s", err.message);
        return;
    }
    struct myr_wire_enrol enrol = {.token = MYR_STR(""), .csr = {csr.data, csr.len}};
    MYR_ASSERT(csr.len > 0 && !agent->asked_renewal);
    /* Only where it was sent: what is lost with a connection is asked for again. */
    agent->asked_renewal =
        session_send(&agent->session, MYR_WIRE_ENROL, agent->session.boot_number, &enrol) > 0;
}

/* Once a second; rarer things count the looks. */
static void on_look(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    agent->looks++;
    runs_look(&agent->runs);
    if (agent->looks % STEP_LOOKS == 0) {
        runs_tell_steps(&agent->runs);
        symptoms_look(&agent->symptoms);
    }
    /* Soon after the start, and then once an hour. */
    if (agent->looks % RENEW_LOOKS == 5) {
        renew(agent);
    }
}

/* However often it rang, one look at the files is enough. */
static void on_bell(uv_poll_t *poll, int status, int events)
{
    struct agent *agent = poll->data;
    char bytes[16];
    MYR_ASSERT(poll == &agent->bell && agent->bell_fd >= 0);
    (void)status;
    (void)events;
    while (recv(agent->bell_fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
    }
    runs_look(&agent->runs);
}

/* Ranks belong to their launchers, which run on: only this process ends. */
static void on_end(uv_signal_t *handle, int number)
{
    (void)number;
    end(handle->data, 0);
}

/* Of all children, and those of dead launchers: how ranks ended is in files, not in here. */
static void on_child(uv_signal_t *handle, int number)
{
    (void)handle;
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

/* --- the beginning and the end */

/* A convenience: without it files are looked at once a second. */
static void open_bell(struct agent *agent)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int len = snprintf(at.sun_path, sizeof(at.sun_path), "%s/" SHIM_BELL, agent->settings->state);
    agent->bell_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (agent->bell_fd < 0 || len >= (int)sizeof(at.sun_path)) {
        return; /* looked at every second all the same */
    }
    /* The lock is ours, so that what an agent before has left there rings for nobody. */
    (void)unlink(at.sun_path);
    if (bind(agent->bell_fd, (struct sockaddr *)&at, sizeof(at)) == 0) {
        uv_poll_init(&agent->loop, &agent->bell, agent->bell_fd);
        agent->bell.data = agent;
        uv_poll_start(&agent->bell, UV_READABLE, on_bell);
    }
}

/* Two agents with one folder would both start what one order says. */
static int lock_state(struct agent *agent, struct myr_err *err)
{
    char path[AGENT_PATH_MAX];
    MYR_ASSERT(agent->lock_fd < 0);
    path_join(path, agent->settings->state, "lock");
    agent->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (agent->lock_fd < 0) {
        return myr_err_errno(err, "cannot open", path);
    }
    /* A child of an agent that was just killed may hold it too, until it becomes a program. */
    int tries = 0;
    while (flock(agent->lock_fd, LOCK_EX | LOCK_NB) < 0 && ++tries < LOCK_TRIES) {
        (void)poll(NULL, 0, 50);
    }
    if (tries == LOCK_TRIES) {
        return myr_err_set(err, MYR_EINVAL, "%s: another agent runs with this folder",
                           agent->settings->state);
    }
    return MYR_OK;
}

/* The host's boot and this folder: another value means that nothing of before runs on. */
static uint64_t boot_hash(const char *boot, const char *state)
{
    /* FNV-1a: the value is compared for equality alone. */
    uint64_t hash = 14695981039346656037ULL;
    const char *const texts[] = {boot, "\n", state};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        for (const char *c = texts[i]; *c; c++) {
            hash = (hash ^ (unsigned char)*c) * 1099511628211ULL;
        }
    }
    return hash;
}

/* A server that went away may be led by another: each of the list in turn. */
static void next_server(struct session *session)
{
    struct agent *agent = session->context;
    const struct settings *settings = agent->settings;
    agent->server_at = (agent->server_at + 1) % (settings->other_count + 1);
    bool first = agent->server_at == 0;
    MYR_ASSERT(settings->other_count > 0 && agent->server_at <= settings->other_count);
    /* Place 0 is the first of the list, which is kept apart from the others. */
    session->host = first ? settings->host : settings->others[agent->server_at - 1].host;
    session->port = first ? settings->port : settings->others[agent->server_at - 1].port;
}

/* In a process of its own, whose memory goes with it: keys are made once in a node's life. */
static int enrol_apart(const struct settings *settings, struct myr_err *err)
{
    MYR_ASSERT(settings->has_token && !settings->plain);
    pid_t pid = fork();
    if (pid < 0) {
        return myr_err_errno(err, "cannot start", "enrolment");
    }
    if (pid == 0) {
        int rc = enrol_run(settings->host, settings->port, settings->state, settings->name,
                           &settings->token, err);
        /* Who does not lead does not answer; what is refused is refused by all. */
        for (uint32_t i = 0; i < settings->other_count && rc == MYR_EIO; i++) {
            rc = enrol_run(settings->others[i].host, settings->others[i].port, settings->state,
                           settings->name, &settings->token, err);
        }
        if (rc < 0) {
            say("%s", err->message);
        }
        _exit(myr_err_exit_code(rc));
    }
    int status = 0;
    /* Not interrupted: no signal is handled yet. */
    if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return myr_err_set(err,
                           WIFEXITED(status) && WEXITSTATUS(status) == 2 ? MYR_EINVAL : MYR_EIO,
                           "%s: no certificate for node '%s'", settings->state, settings->name);
    }
    return MYR_OK;
}

/* What can be wrong with the settings is found here, before anything is watched or started. */
static int prepare(struct agent *agent, struct myr_err *err)
{
    struct settings *settings = (struct settings *)agent->settings;
    MYR_ASSERT(!agent->session.tls && agent->collector_fd < 0); /* nothing has begun */
    MYR_TRY(lock_state(agent, err));
    if (settings->pretend) {
        MYR_TRY(inventory_pretend(settings->pretend, &agent->pretended, err));
    }
    if (!settings->plain) {
        if (!enrol_is_done(settings->state)) {
            if (!settings->has_token) {
                return myr_err_set(err, MYR_EINVAL,
                                   "%s: no certificate here, and no token to get one with",
                                   settings->state);
            }
            MYR_TRY(enrol_apart(settings, err));
        }
        MYR_TRY(enrol_tls(settings->state, &agent->session.tls, err));
    }
    /* Not needed again: a secret does not stay in memory. */
    memset(&settings->token, 0, sizeof(settings->token));
    MYR_TRY(stops_open(&agent->stops, settings->state, err));
    return MYR_OK;
}

static void open_signals(struct agent *agent)
{
    uv_signal_init(&agent->loop, &agent->term);
    uv_signal_init(&agent->loop, &agent->interrupt);
    uv_signal_init(&agent->loop, &agent->child);
    agent->term.data = agent->interrupt.data = agent->child.data = agent;
    uv_signal_start(&agent->term, on_end, SIGTERM);
    uv_signal_start(&agent->interrupt, on_end, SIGINT);
    uv_signal_start(&agent->child, on_child, SIGCHLD);
    /* A peer that leaves is an error of the write; a terminal that is closed means nothing here. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a dead launcher leaves comes here, not to init */
}

/* In this order: nothing runs here that the session could be asked about and not know. */
static int start(struct agent *agent, struct myr_err *err)
{
    const struct settings *settings = agent->settings;
    MYR_TRY(prepare(agent, err));
    open_signals(agent);
    open_bell(agent);
    char path[AGENT_PATH_MAX];
    path_join(path, settings->state, "heard");
    agent->heard_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (agent->heard_fd < 0) {
        return myr_err_errno(err, "cannot open", path);
    }
    agent->reports.session = &agent->session;
    agent->runs = (struct runs){.loop = &agent->loop,
                                .state = settings->state,
                                .sockets = settings->sockets,
                                .stops = &agent->stops,
                                .reports = &agent->reports};
    /* Before the session: the welcome is answered with what runs. */
    MYR_TRY(runs_open(&agent->runs, err));
    MYR_ASSERT(!agent->session.stream);
    collect(agent);
    agent->session.loop = &agent->loop;
    MYR_ASSERT(agent->settings->plain == (agent->session.tls == NULL));
    agent->session.host = settings->host;
    agent->session.port = settings->port;
    agent->session.name = settings->name;
    agent->session.boot = boot_hash(agent->runs.boot, settings->state);
    agent->session.calls = (struct session_calls){on_welcome, on_message, on_refused};
    agent->session.context = agent;
    agent->session.next = settings->other_count > 0 ? next_server : NULL;
    session_start(&agent->session);
    if (!settings->pretend) {
        agent->symptoms = (struct symptoms){.loop = &agent->loop, .session = &agent->session};
        symptoms_start(&agent->symptoms);
    }
    uv_timer_init(&agent->loop, &agent->look);
    agent->look.data = agent;
    uv_timer_start(&agent->look, on_look, LOOK_MS, LOOK_MS);
    return MYR_OK;
}

/* What cannot be begun is told in one line, with the status that it stands for. */
int agent_run(struct settings *settings)
{
    static struct agent agent;
    struct myr_err err = {};
    agent = (struct agent){.settings = settings, .collector_fd = -1, .lock_fd = -1};
    uv_loop_init(&agent.loop);
    if (start(&agent, &err) < 0) {
        say("%s", err.message);
        return myr_err_exit_code(err.code);
    }
    notify_manager("READY=1\n");
    uv_run(&agent.loop, UV_RUN_DEFAULT);
    notify_manager("STOPPING=1\n");
    /* What is owed to the controller is told by the next agent: the process simply ends. */
    return agent.status;
}
