#include "shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/peers.h"

#define MS 1000000LL
#define S  (1000 * MS)

enum {
    FAIL_GRACE_S = 5,     /* for the others, when one rank has failed */
    EPILOG_LIMIT_S = 300, /* then it is killed */
    STUCK_S = 10,         /* after SIGKILL: it cannot die */
    READ_BYTES = 64 << 10,
};

enum phase {
    PHASE_PROLOG,
    PHASE_RANKS,
    PHASE_TERM, /* they were asked to end */
    PHASE_KILL, /* until none is left */
    PHASE_EPILOG,
    PHASE_DONE,
};

struct process {
    pid_t pid; /* 0: reaped or never started */
    int pipe;  /* what it writes, or -1 */
    struct output output;
};

struct shim {
    const char *folder;
    struct order order;
    struct jobfile job;
    struct person person;
    struct myr_arena arena;
    struct myr_buf order_text;
    struct cgroup cgroup;
    struct progress_pattern pattern;
    struct peers peers;
    enum phase phase;
    struct process ranks[AGENT_RANKS_MAX];
    struct process script; /* prolog or epilog */
    uint32_t count, alive;
    bool stop_seen, said_stuck, log_steps;
    struct told told; /* who was asked to end */
    int64_t deadline_ns, killed_ns, began_ns, sweep_ns;
    struct ending ending;
    char line[256];
    bool ended; /* the ending is known */
    struct progress progress;
    int64_t written_ns; /* the progress file */
    bool unwritten;
    int signals, socket, bell;
};

static void ring(struct shim *s)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int len = snprintf(to.sun_path, sizeof(to.sun_path), "%.*s/" SHIM_BELL, (int)s->order.state.len,
                       s->order.state.data);
    if (len > 0 && len < (int)sizeof(to.sun_path)) {
        /* Nobody there, or full: the agent looks by itself now and then. */
        (void)sendto(s->bell, "!", 1, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to));
    }
}

/* A disk that is full must not make an ending unknown for ever: it is tried again. */
static void put_file(struct shim *s, const char *name, const struct myr_buf *text)
{
    struct myr_err err = {0};
    while (file_put(s->folder, name, (struct myr_str){text->data, text->len}, &err) < 0) {
        say("%s", err.message);
        poll(NULL, 0, 1000);
    }
    ring(s);
}

static void set_ending(struct shim *s, enum ending_kind kind, const struct ending *how,
                       const char *line)
{
    if (s->ended) {
        return; /* the first reason counts */
    }
    s->ended = true;
    s->ending = how ? *how : (struct ending){.rank = s->order.first_rank};
    s->ending.kind = kind;
    snprintf(s->line, sizeof(s->line), "%s", line);
    s->ending.line = myr_str_from(s->line);
}

static void write_progress(struct shim *s, int64_t now)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {0};
    progress_write(&s->progress, &text);
    if (file_put_lightly(s->folder, "progress", (struct myr_str){text.data, text.len}, NULL) ==
        MYR_OK) {
        s->unwritten = false;
    }
    s->written_ns = now;
}

static void made_step(struct shim *s)
{
    s->progress.at_ns = boot_clock_ns();
    s->unwritten = true;
}

static void on_line(void *context, const char *line)
{
    struct shim *s = context;
    uint64_t step;
    if (progress_match(&s->pattern, line, &step)) {
        s->progress.step = step;
        s->progress.by_line = true;
        made_step(s);
    }
}

static void take_datagrams(struct shim *s)
{
    char text[PROGRESS_BYTES_MAX + 1];
    for (uint32_t i = 0; i < 256; i++) {
        ssize_t got = recv(s->socket, text, sizeof(text), MSG_DONTWAIT);
        if (got < 0) {
            return;
        }
        if (progress_parse((struct myr_str){text, (size_t)got}, &s->progress)) {
            made_step(s);
        }
    }
}

/* --- starting */

static int make_socket(struct shim *s, struct myr_err *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct myr_str path = s->order.socket;
    if (path.len >= sizeof(at.sun_path)) {
        return myr_err_set(err, MYR_EINVAL, "the progress socket's name is too long");
    }
    memcpy(at.sun_path, path.data, path.len);
    (void)unlink(at.sun_path);
    mode_t before = umask(0177);
    bool good = bind(s->socket, (struct sockaddr *)&at, sizeof(at)) == 0;
    umask(before);
    if (!good || (s->person.change && lchown(at.sun_path, s->person.uid, s->person.gid) < 0)) {
        return myr_err_errno(err, "cannot make the progress socket", at.sun_path);
    }
    return MYR_OK;
}

struct launch {
    int go[2], trouble[2];
};

static void launch_close(struct launch *launch)
{
    for (int i = 0; i < 2; i++) {
        if (launch->go[i] >= 0) {
            close(launch->go[i]);
        }
        if (launch->trouble[i] >= 0) {
            close(launch->trouble[i]);
        }
    }
}

static int launch_one(struct shim *s, struct process *process, const struct launch *launch,
                      struct start *start, struct myr_err *err)
{
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC) < 0) {
        return myr_err_errno(err, "no pipe", "ranks");
    }
    (void)fcntl(pipes[1], F_SETPIPE_SZ, 1 << 20);
    start->go = launch->go[0];
    start->trouble = launch->trouble[1];
    start->output = pipes[1];
    start->person = &s->person;
    start->directory = s->job.directory;
    pid_t pid = start_process(start);
    close(pipes[1]);
    if (pid < 0) {
        close(pipes[0]);
        return myr_err_errno(err, "cannot start", start->argv[0]);
    }
    (void)fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    process->pid = pid;
    process->pipe = pipes[0];
    s->alive++;
    cgroup_add(&s->cgroup, pid);
    return MYR_OK;
}

/* All run, or the reason why one does not. Their pids are on the disk before they go. */
static int let_go(struct shim *s, struct launch *launch, uint32_t count, struct myr_err *err)
{
    char why[256];
    close(launch->trouble[1]);
    launch->trouble[1] = -1;
    for (uint32_t i = 0; i < count; i++) {
        if (write(launch->go[1], "g", 1) != 1) {
            return myr_err_errno(err, "cannot start", "ranks");
        }
    }
    ssize_t got;
    do {
        got = read(launch->trouble[0], why, sizeof(why) - 1);
    } while (got < 0 && errno == EINTR);
    (void)s;
    if (got > 0) {
        return myr_err_set(err, MYR_EIO, "%.*s", (int)got, why);
    }
    return MYR_OK;
}

static int launch_open(struct launch *launch, struct myr_err *err)
{
    *launch = (struct launch){{-1, -1}, {-1, -1}};
    if (pipe2(launch->go, O_CLOEXEC) < 0 || pipe2(launch->trouble, O_CLOEXEC) < 0) {
        return myr_err_errno(err, "no pipe", "ranks");
    }
    return MYR_OK;
}

static int start_script(struct shim *s, const char *text, struct myr_err *err)
{
    MYR_CLEANUP(launch_close) struct launch launch;
    const char *const argv[] = {"/bin/sh", "-c", text, NULL};
    struct start start = {.argv = argv,
                          .env = start_env(&s->arena, &s->order, &s->job, &s->person, 0)};
    MYR_TRY(launch_open(&launch, err));
    MYR_TRY(launch_one(s, &s->script, &launch, &start, err));
    return let_go(s, &launch, 1, err);
}

static void write_ranks(struct shim *s)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {0};
    for (uint32_t i = 0; i < s->count; i++) {
        myr_buf_printf(&text, "rank %u %d %llu\n", s->order.first_rank + i, (int)s->ranks[i].pid,
                       (unsigned long long)process_began(s->ranks[i].pid, NULL, NULL));
    }
    put_file(s, "ranks", &text);
}

static int start_ranks(struct shim *s, struct myr_err *err)
{
    MYR_CLEANUP(launch_close) struct launch launch;
    MYR_TRY(launch_open(&launch, err));
    s->phase = PHASE_RANKS;
    for (uint32_t i = 0; i < s->count; i++) {
        struct start start = {.env = start_env(&s->arena, &s->order, &s->job, &s->person, i)};
        MYR_TRY(start_argv(&s->arena, &s->job, start.env, &start.argv, err));
        MYR_TRY(launch_one(s, &s->ranks[i], &launch, &start, err));
    }
    write_ranks(s);
    MYR_TRY(let_go(s, &launch, s->count, err));
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {0};
    myr_buf_puts(&text, "started 1\n");
    put_file(s, "started", &text);
    return MYR_OK;
}

/* --- ending */

static void begin_term(struct shim *s, int64_t now, uint32_t grace_s)
{
    uint32_t stuck;
    if (s->phase == PHASE_TERM || s->phase == PHASE_KILL) {
        int64_t sooner = now + grace_s * S;
        s->deadline_ns = sooner < s->deadline_ns ? sooner : s->deadline_ns;
        return;
    }
    s->phase = PHASE_TERM;
    s->deadline_ns = now + grace_s * S;
    (void)kill_descendants(SIGTERM, &s->told, &stuck);
}

static void start_failed(struct shim *s, int64_t now, const char *why)
{
    struct ending how = {.rank = s->order.first_rank, .code = 1};
    set_ending(s, ENDING_START, &how, why);
    begin_term(s, now, 0);
}

static void say_stuck(struct shim *s, uint32_t count, uint32_t stuck)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {0};
    s->said_stuck = true;
    myr_buf_printf(&text, "count %u\nwaiting %u\n", count, stuck);
    put_file(s, "stuck", &text);
}

static void sweep(struct shim *s, int64_t now)
{
    uint32_t stuck;
    uint32_t count = kill_descendants(SIGKILL, NULL, &stuck);
    cgroup_kill(&s->cgroup);
    s->sweep_ns = now + 50 * MS;
    if (count > 0 && now - s->killed_ns > STUCK_S * S && !s->said_stuck) {
        say_stuck(s, count, stuck);
    }
}

static void begin_kill(struct shim *s, int64_t now)
{
    s->phase = PHASE_KILL;
    s->killed_ns = now;
    sweep(s, now);
}

static void finish(struct shim *s)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {0};
    cgroup_remove(&s->cgroup);
    if (s->unwritten) {
        write_progress(s, 0);
    }
    if (!s->ended) {
        set_ending(s, ENDING_EXIT, NULL, "");
    }
    ending_write(&s->ending, &text);
    s->phase = PHASE_DONE;
    put_file(s, "exit", &text);
}

/* Nothing is left of the ranks. */
static void all_gone(struct shim *s, int64_t now)
{
    struct myr_err err = {0};
    if (s->phase == PHASE_EPILOG || !s->job.epilog ||
        (s->ended && s->ending.kind == ENDING_START)) {
        finish(s);
        return;
    }
    s->phase = PHASE_EPILOG;
    s->deadline_ns = now + EPILOG_LIMIT_S * S;
    const char *text = s->job.epilog;
    s->job.epilog = NULL; /* once */
    if (start_script(s, text, &err) < 0) {
        say("epilog: %s", err.message);
    }
}

static void rank_ended(struct shim *s, struct process *rank, int status, int64_t now)
{
    struct ending how = {.rank = s->order.first_rank + (uint32_t)(rank - s->ranks)};
    if (WIFSIGNALED(status)) {
        how.signal = (uint32_t)WTERMSIG(status);
        how.code = 128 + how.signal;
    } else {
        how.code = (uint32_t)WEXITSTATUS(status);
    }
    if (s->phase == PHASE_RANKS && how.code != 0) {
        const char *line = rank->output.error[0] ? rank->output.error : rank->output.last;
        set_ending(s, ENDING_EXIT, &how, line);
        begin_term(s, now, FAIL_GRACE_S);
    }
}

static void script_ended(struct shim *s, int status, int64_t now)
{
    struct myr_err err = {0};
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (s->phase == PHASE_EPILOG) {
        if (!good) {
            say("the epilog of job %llu failed", (unsigned long long)s->order.job);
        }
        begin_kill(s, now);
    } else if (s->phase == PHASE_PROLOG) {
        const struct output *output = &s->script.output;
        if (!good) {
            char why[300];
            snprintf(why, sizeof(why), "prolog failed: %.200s",
                     output->error[0] ? output->error : output->last);
            start_failed(s, now, why);
        } else if (start_ranks(s, &err) < 0) {
            start_failed(s, now, err.message);
        }
    }
}

static void drain(struct shim *s, struct process *process)
{
    static char bytes[READ_BYTES];
    for (uint32_t i = 0; process->pipe >= 0 && i < 64; i++) {
        ssize_t got = read(process->pipe, bytes, sizeof(bytes));
        if (got > 0) {
            output_take(&process->output, (struct myr_str){bytes, (size_t)got}, on_line, s);
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            close(process->pipe);
            process->pipe = -1;
        } else {
            return;
        }
    }
}

static void reap(struct shim *s, int64_t now)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid <= 0) {
            /* Descendants are below us whatever they did: none left means none at all. */
            if (pid < 0 && errno == ECHILD && s->phase != PHASE_DONE && s->phase != PHASE_PROLOG) {
                all_gone(s, now);
            }
            return;
        }
        for (uint32_t i = 0; i < s->count; i++) {
            if (s->ranks[i].pid == pid) {
                s->ranks[i].pid = 0;
                s->alive--;
                drain(s, &s->ranks[i]);
                rank_ended(s, &s->ranks[i], status, now);
            }
        }
        if (s->script.pid == pid) {
            s->script.pid = 0;
            s->alive--;
            drain(s, &s->script);
            script_ended(s, status, now);
        }
        if (s->alive == 0 && s->phase == PHASE_RANKS) {
            begin_term(s, now, 1); /* all is done; who they left behind goes too */
        }
    }
}

static void look_for_stop(struct shim *s, int64_t now)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {0};
    uint64_t grace = 0;
    if (!file_is_there(s->folder, "stop")) {
        return;
    }
    if (file_get(s->folder, "stop", &text, NULL) == MYR_OK) {
        (void)field_u64((struct myr_str){text.data, text.len}, "grace_s", 86400, &grace);
    }
    set_ending(s, ENDING_STOPPED, NULL, "by order");
    if (s->phase < PHASE_EPILOG) {
        begin_term(s, now, (uint32_t)grace);
    }
    s->stop_seen = true;
}

/* Without a word from the controller, and without a step of the gang: nobody waits for these. */
static void look_at_lease(struct shim *s, int64_t now)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {0};
    char state[AGENT_PATH_MAX];
    uint64_t heard = 0;
    if (s->order.lease_s == 0 || s->phase > PHASE_RANKS) {
        return;
    }
    int64_t from = s->began_ns;
    from = s->progress.at_ns > from ? s->progress.at_ns : from;
    from = s->peers.step_ns > from ? s->peers.step_ns : from;
    if (now - from < s->order.lease_s * S) {
        return;
    }
    snprintf(state, sizeof(state), "%.*s", (int)s->order.state.len, s->order.state.data);
    if (file_get(state, "heard", &text, NULL) == MYR_OK &&
        field_u64((struct myr_str){text.data, text.len}, "at_ns", INT64_MAX, &heard) &&
        now - (int64_t)heard < s->order.lease_s * S) {
        return;
    }
    set_ending(s, ENDING_STOPPED, NULL, "the lease ran out");
    begin_term(s, now, FAIL_GRACE_S);
}

static void tick(struct shim *s, int64_t now)
{
    if (!s->stop_seen) {
        look_for_stop(s, now);
    }
    look_at_lease(s, now);
    if (s->unwritten && now - s->written_ns >= 1 * S) {
        write_progress(s, now);
    }
    peers_tick(&s->peers, now, s->progress.at_ns);
    if (s->phase == PHASE_TERM && now >= s->deadline_ns) {
        begin_kill(s, now);
    } else if (s->phase == PHASE_TERM && now >= s->sweep_ns) {
        uint32_t stuck; /* who was born while the others were told */
        s->sweep_ns = now + 100 * MS;
        (void)kill_descendants(SIGTERM, &s->told, &stuck);
    } else if (s->phase == PHASE_EPILOG && now >= s->deadline_ns) {
        begin_kill(s, now);
    } else if (s->phase == PHASE_KILL && now >= s->sweep_ns) {
        sweep(s, now);
    }
    reap(s, now);
}

static int wait_ms(const struct shim *s, int64_t now)
{
    int64_t until = now + 1 * S;
    if (s->phase == PHASE_TERM || s->phase == PHASE_EPILOG) {
        until = s->deadline_ns < until ? s->deadline_ns : until;
        until = s->phase == PHASE_TERM && until > now + 200 * MS ? now + 200 * MS : until;
    } else if (s->phase == PHASE_KILL) {
        until = s->sweep_ns < until ? s->sweep_ns : until;
    }
    return until > now ? (int)((until - now + MS - 1) / MS) : 0;
}

static void loop(struct shim *s)
{
    while (s->phase != PHASE_DONE) {
        struct pollfd fds[AGENT_RANKS_MAX + 4];
        struct process *owners[AGENT_RANKS_MAX + 4];
        uint32_t count = 0;
        fds[count++] = (struct pollfd){.fd = s->signals, .events = POLLIN};
        fds[count++] = (struct pollfd){.fd = s->socket, .events = POLLIN};
        fds[count++] = (struct pollfd){.fd = s->peers.fd, .events = POLLIN};
        owners[count] = &s->script;
        fds[count++] = (struct pollfd){.fd = s->script.pipe, .events = POLLIN};
        for (uint32_t i = 0; i < s->count; i++) {
            owners[count] = &s->ranks[i];
            fds[count++] = (struct pollfd){.fd = s->ranks[i].pipe, .events = POLLIN};
        }
        (void)poll(fds, count, wait_ms(s, boot_clock_ns()));
        struct signalfd_siginfo info;
        while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
            s->stop_seen = s->stop_seen && info.ssi_signo != SIGUSR1; /* a shorter grace */
        }
        take_datagrams(s);
        peers_take(&s->peers, s->progress.at_ns);
        for (uint32_t i = 3; i < count; i++) {
            if (fds[i].revents) {
                drain(s, owners[i]);
            }
        }
        tick(s, boot_clock_ns());
    }
}

static int prepare(struct shim *s, struct myr_err *err)
{
    sigset_t mask;
    /* The lock came through exec, and must not go on to ranks: it says that we live. */
    (void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigaddset(&mask, SIGUSR1);
    sigaddset(&mask, SIGTERM); /* and SIGINT: an agent's terminal says nothing to ranks */
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGHUP);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    s->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    s->bell = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    s->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    s->peers.fd = s->script.pipe = -1;
    for (uint32_t i = 0; i < AGENT_RANKS_MAX; i++) {
        s->ranks[i].pipe = -1;
    }
    if (s->signals < 0 || s->bell < 0 || s->socket < 0) {
        return myr_err_errno(err, "no socket", s->folder);
    }
    MYR_TRY(file_get(s->folder, "order", &s->order_text, err));
    MYR_TRY(order_read(s->folder, (struct myr_str){s->order_text.data, s->order_text.len},
                       &s->order, err));
    s->count = order_ranks(&s->order);
    for (uint32_t i = 0; i < s->count; i++) {
        output_init(&s->ranks[i].output, s->folder, s->order.first_rank + i);
    }
    output_init(&s->script.output, s->folder, UINT32_MAX);
    return MYR_OK;
}

static void begin(struct shim *s)
{
    struct myr_err err = {0};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {0};
    char tag[80];
    s->began_ns = boot_clock_ns();
    snprintf(tag, sizeof(tag), "%.*s", (int)s->order.tag.len, s->order.tag.data);
    myr_buf_puts(&text, "launched 1\n");
    put_file(s, "launched", &text);
    cgroup_open(&s->cgroup, tag, true);
    int rc = jobfile_read(&s->arena, s->order.spec, &s->job, &err);
    rc = rc < 0 ? rc : person_find(s->order.user, &s->person, &err);
    rc = rc < 0 ? rc : progress_pattern_init(&s->pattern, s->job.pattern, &err);
    rc = rc < 0 ? rc : make_socket(s, &err);
    look_for_stop(s, s->began_ns); /* nothing begins that was stopped already */
    if (rc == MYR_OK && !s->stop_seen) {
        peers_open(&s->peers, &s->order);
        rc = s->job.prolog ? start_script(s, s->job.prolog, &err) : start_ranks(s, &err);
    }
    if (rc < 0) {
        start_failed(s, s->began_ns, err.message);
    }
}

/* A launcher was killed: its ranks die with it, and who does not is found by its environment. */
static void begin_again(struct shim *s)
{
    char tag[80];
    uint32_t stuck;
    struct ending how = {.rank = s->order.first_rank, .code = 128 + SIGKILL, .signal = SIGKILL};
    snprintf(tag, sizeof(tag), "%.*s", (int)s->order.tag.len, s->order.tag.data);
    cgroup_open(&s->cgroup, tag, false);
    s->killed_ns = boot_clock_ns();
    for (;;) {
        uint32_t count = kill_tagged(tag, SIGKILL, &stuck);
        cgroup_kill(&s->cgroup);
        if (count == 0) {
            break;
        }
        if (boot_clock_ns() - s->killed_ns > STUCK_S * S && !s->said_stuck) {
            say_stuck(s, count, stuck);
        }
        poll(NULL, 0, 50);
    }
    if (file_is_there(s->folder, "stop")) {
        set_ending(s, ENDING_STOPPED, NULL, "by order");
    }
    set_ending(s, ENDING_EXIT, &how, "the launcher of these ranks was killed");
    finish(s);
}

int shim_run(const char *folder)
{
    struct shim *s = myr_xcalloc(1, sizeof(*s));
    struct myr_err err = {0};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {0};
    s->folder = folder;
    myr_arena_init(&s->arena);
    if (prepare(s, &err) < 0) {
        say("%s", err.message);
        return 2;
    }
    myr_buf_printf(&text, "pid %d\nbegan %llu\n", (int)getpid(),
                   (unsigned long long)process_began(getpid(), NULL, NULL));
    put_file(s, "shim", &text);
    if (file_is_there(folder, "exit")) {
        return 0;
    }
    if (file_is_there(folder, "launched")) {
        begin_again(s);
        return 0;
    }
    begin(s);
    loop(s);
    char path[AGENT_PATH_MAX];
    snprintf(path, sizeof(path), "%.*s", (int)s->order.socket.len, s->order.socket.data);
    (void)unlink(path);
    return 0;
}
