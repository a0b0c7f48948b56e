/*
 * shim: the launcher's loop: signals, what ranks write, datagrams, time. Its phases lead from the
 * prolog to the end that is written last; whatever happens, nothing of the user runs behind it.
 */
#include "shim/state.h"

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

enum {
    FAIL_GRACE_S = 5,     /* for the others, when one rank has failed */
    EPILOG_LIMIT_S = 300, /* then it is killed */
    STUCK_S = 10,         /* after SIGKILL: it cannot die */
    READ_BYTES = 64 << 10,
    CALM_LOOKS = 3, /* in a row without a process, 50 ms apart */
};

/* The clock counts even where the number is the same: the lease is about life, not about speed. */
static void made_step(struct shim *s)
{
    MYR_ASSERT(s->phase != PHASE_DONE);
    s->progress.at_ns = boot_clock_ns();
    MYR_ASSERT(s->progress.at_ns >= s->began_ns);
    s->unwritten = true;
}

/* Lines of whichever rank writes them. */
static void on_line(void *context, const char *line)
{
    struct shim *s = context;
    uint64_t step;
    MYR_ASSERT(s->phase != PHASE_DONE);
    if (myr_step_pattern_match(&s->pattern, line, &step)) {
        s->progress.step = step;
        s->progress.by_line = true;
        made_step(s);
    }
}

/* What is no progress is thrown away: anybody of the user's may write there. */
static void take_datagrams(struct shim *s)
{
    char text[PROGRESS_BYTES_MAX + 1];
    /* A rank that sends without end must not keep the launcher from its other duties. */
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

/* --- ending */

/* A second reason to end can only bring the end nearer, never put it off. */
static void begin_term(struct shim *s, int64_t now, uint32_t grace_s)
{
    uint32_t stuck;
    MYR_ASSERT(s->phase < PHASE_EPILOG); /* what tidies up is not asked to end */
    if (s->phase == PHASE_TERM || s->phase == PHASE_KILL) {
        int64_t sooner = now + grace_s * S;
        s->deadline_ns = sooner < s->deadline_ns ? sooner : s->deadline_ns;
        MYR_ASSERT(s->deadline_ns <= sooner);
        return;
    }
    s->phase = PHASE_TERM;
    s->deadline_ns = now + grace_s * S;
    MYR_ASSERT(s->deadline_ns >= now);
    (void)kill_descendants(SIGTERM, &s->told, &stuck);
}

/* Whose fault it was is said too: a wrong command costs no node (enum myr_start of the core). */
static void start_failed(struct shim *s, int64_t now, int code, const char *why)
{
    /* What this machine could not do, as opposed to what was asked of it. */
    bool node = code == MYR_EIO || code == MYR_ENOMEM;
    struct ending how = {.rank = s->order.first_rank, .code = node ? 1 : 2};
    shim_set_ending(s, ENDING_START, &how, why);
    MYR_ASSERT(s->ended); /* by this, or by a stop that came before */
    begin_term(s, now, 0);
}

/* Again and again until wait() finds nobody: new processes may be born during a look. */
static void sweep(struct shim *s, int64_t now)
{
    uint32_t stuck;
    MYR_ASSERT(s->phase == PHASE_KILL && now >= s->killed_ns);
    uint32_t count = kill_descendants(SIGKILL, NULL, &stuck);
    cgroup_kill(&s->cgroup);
    s->sweep_ns = now + 50 * MS;
    MYR_ASSERT(stuck <= count);
    if (count > 0 && now - s->killed_ns > STUCK_S * S && !s->said_stuck) {
        shim_say_stuck(s, count, stuck);
    }
}

static void begin_kill(struct shim *s, int64_t now)
{
    MYR_ASSERT(s->phase == PHASE_TERM || s->phase == PHASE_EPILOG);
    s->phase = PHASE_KILL;
    s->killed_ns = now;
    sweep(s, now);
}

/* The last thing that a launcher does. Whatever was lost on the way, how it ended is written. */
static void finish(struct shim *s)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_ASSERT(s->phase != PHASE_DONE && s->alive == 0); /* an end is written once, behind all */
    /* Empty by now: the kernel refuses to remove one that is not. */
    cgroup_remove(&s->cgroup);
    if (s->unwritten) {
        shim_write_progress(s, 0);
    }
    if (!s->ended) {
        shim_set_ending(s, ENDING_EXIT, NULL, "");
    }
    ending_write(&s->ending, &text);
    s->phase = PHASE_DONE;
    MYR_ASSERT(s->ended && text.len > 0);
    deadly_point();
    shim_put_file(s, "exit", &text);
}

/* Nothing is left of the ranks. */
static void all_gone(struct shim *s, int64_t now)
{
    struct myr_err err = {};
    MYR_ASSERT(s->alive == 0 && s->script.pid == 0); /* all who were started were reaped */
    /* An epilog tidies up behind ranks that ran: where none did there is nothing to tidy. */
    if (s->phase == PHASE_EPILOG || !s->job.epilog ||
        (s->ended && s->ending.kind == ENDING_START)) {
        finish(s);
        return;
    }
    MYR_ASSERT(s->phase > PHASE_PROLOG && s->phase < PHASE_EPILOG);
    s->phase = PHASE_EPILOG;
    s->deadline_ns = now + EPILOG_LIMIT_S * S;
    const char *text = s->job.epilog;
    s->job.epilog = NULL; /* once */
    if (shim_start_script(s, text, &err) < 0) {
        say("epilog: %s", err.message);
    }
}

/* A rank that ends well waits for the others; one that fails ends them all. */
static void rank_ended(struct shim *s, struct process *rank, int status, int64_t now)
{
    struct ending how = {.rank = s->order.first_rank + (uint32_t)(rank - s->ranks)};
    MYR_ASSERT(rank->pid == 0 && rank < s->ranks + s->count);
    if (WIFSIGNALED(status)) {
        how.signal = (uint32_t)WTERMSIG(status);
        /* As a shell has it. */
        how.code = 128 + how.signal;
    } else {
        how.code = (uint32_t)WEXITSTATUS(status);
    }
    /* The first rank to fail is the reason; those that end behind it were told to. */
    if (s->phase == PHASE_RANKS && how.code != 0) {
        const char *line = rank->output.error[0] ? rank->output.error : rank->output.last;
        shim_set_ending(s, ENDING_EXIT, &how, line);
        begin_term(s, now, FAIL_GRACE_S);
    }
}

/* The prolog decides whether ranks start; the epilog decides nothing any more. */
static void script_ended(struct shim *s, int status, int64_t now)
{
    struct myr_err err = {};
    MYR_ASSERT(s->script.pid == 0 && s->phase != PHASE_DONE);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    MYR_ASSERT(s->alive == 0 || s->phase != PHASE_PROLOG); /* no rank runs beside a prolog */
    if (s->phase == PHASE_EPILOG) {
        if (!good) {
            say("the epilog of job %llu failed", (unsigned long long)s->order.job);
        }
        begin_kill(s, now);
    } else if (s->phase == PHASE_PROLOG) {
        const struct output *output = &s->script.output;
        if (!good) {
            char why[300];
            const char *line = output->error[0] ? output->error : output->last;
            snprintf(why, sizeof(why), "prolog failed: %s %d%s%.200s",
                     WIFSIGNALED(status) ? "signal" : "exit code",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                     line[0] ? ": " : ", and it wrote nothing", line);
            start_failed(s, now, MYR_EINVAL, why);
        } else if (shim_start_ranks(s, &err) < 0) {
            start_failed(s, now, err.code, err.message);
        }
    }
}

/* What a pipe holds, up to 4 MiB at a time: ranks that write much take turns. */
static void drain(struct shim *s, struct process *process)
{
    MYR_ASSERT(process == &s->script || (process >= s->ranks && process < s->ranks + s->count));
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

/* All who have ended; orphans of ranks among them, which are nobody's here. */
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
                MYR_ASSERT(s->alive > 0);
                s->ranks[i].pid = 0;
                s->alive--;
                /* Before its end is judged: the line that says why may still lie in the pipe. */
                drain(s, &s->ranks[i]);
                rank_ended(s, &s->ranks[i], status, now);
            }
        }
        if (s->script.pid == pid) {
            MYR_ASSERT(s->alive > 0);
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

/* The file is the order: it is there before the signal that wakes us, and after a crash. */
static void look_for_stop(struct shim *s, int64_t now)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint64_t grace = 0;
    MYR_ASSERT(!s->stop_seen && s->phase != PHASE_DONE); /* taken once */
    if (folder_is_gone(s->folder)) { /* no agent will ever find these ranks again */
        shim_set_ending(s, ENDING_STOPPED, NULL, "the folder is gone");
        s->stop_seen = true;
        if (s->phase < PHASE_EPILOG) {
            begin_term(s, now, FAIL_GRACE_S);
        }
        return;
    }
    if (!file_is_there(s->folder, "stop")) {
        return;
    }
    /* A file that cannot be read is a stop all the same, without a grace. */
    if (file_get(s->folder, "stop", &text, NULL) == MYR_OK) {
        (void)line_u64((struct myr_str){text.data, text.len}, "grace_s", 86400, &grace);
    }
    shim_set_ending(s, ENDING_STOPPED, NULL, "by order");
    MYR_ASSERT(s->ended && grace <= 86400);
    if (s->phase < PHASE_EPILOG) {
        begin_term(s, now, (uint32_t)grace);
    }
    s->stop_seen = true;
}

/* Without a word from the controller, and without a step of the gang: nobody waits for these. */
static void look_at_lease(struct shim *s, int64_t now)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char state[AGENT_PATH_MAX];
    uint64_t heard = 0;
    if (s->order.lease_s == 0 || s->phase > PHASE_RANKS) {
        return;
    }
    /* The newest sign of life: our start, a step here, a step that a peer has told of. */
    int64_t from = s->began_ns;
    MYR_ASSERT(from > 0 && from <= now);
    from = s->progress.at_ns > from ? s->progress.at_ns : from;
    from = s->peers.step_ns > from ? s->peers.step_ns : from;
    /* The gang works: the file is not even read. */
    if (now - from < s->order.lease_s * S) {
        return;
    }
    snprintf(state, sizeof(state), "%.*s", (int)s->order.state.len, s->order.state.data);
    if (file_get(state, "heard", &text, NULL) == MYR_OK &&
        line_u64((struct myr_str){text.data, text.len}, "at_ns", INT64_MAX, &heard) &&
        now - (int64_t)heard < s->order.lease_s * S) {
        return;
    }
    shim_set_ending(s, ENDING_STOPPED, NULL, "the lease ran out");
    begin_term(s, now, FAIL_GRACE_S);
}

/* What is due by now; called behind every wait, however it ended. */
static void tick(struct shim *s, int64_t now)
{
    MYR_ASSERT(now >= s->began_ns && s->alive <= s->count + 1);
    if (!s->stop_seen) {
        look_for_stop(s, now);
    }
    look_at_lease(s, now);
    if (s->unwritten && now - s->written_ns >= 1 * S) {
        shim_write_progress(s, now);
    }
    peers_tick(&s->peers, now, s->progress.at_ns);
    bool asked = s->phase == PHASE_TERM || s->phase == PHASE_EPILOG;
    if (asked && now >= s->deadline_ns) {
        begin_kill(s, now);
    } else if (s->phase == PHASE_TERM && now >= s->sweep_ns) {
        uint32_t stuck; /* who was born while the others were told */
        s->sweep_ns = now + 100 * MS;
        (void)kill_descendants(SIGTERM, &s->told, &stuck);
    } else if (s->phase == PHASE_KILL && now >= s->sweep_ns) {
        sweep(s, now);
    }
    reap(s, now);
}

/* At most a second, rounded up: a wait that ends before its time would turn in circles. */
static int wait_ms(const struct shim *s, int64_t now)
{
    int64_t until = now + 1 * S;
    if (s->phase == PHASE_TERM || s->phase == PHASE_EPILOG) {
        until = s->deadline_ns < until ? s->deadline_ns : until;
        until = s->phase == PHASE_TERM && until > now + 200 * MS ? now + 200 * MS : until;
    } else if (s->phase == PHASE_KILL) {
        until = s->sweep_ns < until ? s->sweep_ns : until;
    }
    MYR_ASSERT(until <= now + 1 * S);
    return until > now ? (int)((until - now + MS - 1) / MS) : 0;
}

/* One thread and one poll() for all of it. */
static void loop(struct shim *s)
{
    while (s->phase != PHASE_DONE) {
        struct pollfd fds[AGENT_RANKS_MAX + 4];
        struct process *owners[AGENT_RANKS_MAX + 4];
        uint32_t count = 0;
        fds[count++] = (struct pollfd){.fd = s->signals, .events = POLLIN};
        fds[count++] = (struct pollfd){.fd = s->socket, .events = POLLIN};
        fds[count++] = (struct pollfd){.fd = s->peers.fd, .events = POLLIN};
        /* From here on each descriptor is a pipe of somebody; -1 is passed over by poll(). */
        owners[count] = &s->script;
        fds[count++] = (struct pollfd){.fd = s->script.pipe, .events = POLLIN};
        for (uint32_t i = 0; i < s->count; i++) {
            owners[count] = &s->ranks[i];
            fds[count++] = (struct pollfd){.fd = s->ranks[i].pipe, .events = POLLIN};
        }
        MYR_ASSERT(count == s->count + 4 && count <= MYR_ARRAY_COUNT(fds));
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

/* What can fail before anything has begun; nothing of the user is read yet. */
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
    /* Orphans of ranks become our children: wait() finds all who descend from us. */
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
    MYR_ASSERT(s->count > 0 && s->count <= AGENT_RANKS_MAX); /* order_read() has looked */
    for (uint32_t i = 0; i < s->count; i++) {
        output_init(&s->ranks[i].output, s->folder, s->order.first_rank + i);
    }
    output_init(&s->script.output, s->folder, UINT32_MAX);
    return MYR_OK;
}

/* The other GPUs of this node are closed to the job. Where that cannot be, it runs on trust. */
static void close_devices(const struct shim *s)
{
    /* Another folder for tests: few machines have a driver. */
    const char *named = getenv("MYRIAD_AGENT_NVIDIA_PROC");
    const char *proc = named && *named ? named : "/proc/driver/nvidia/gpus";
    struct device others[DEVICES_MAX];
    uint32_t count;
    const char *by;
    if (!devices_of_others(proc, s->order.gpus, others, &count) || count == 0) {
        return;
    }
    MYR_ASSERT(count <= DEVICES_MAX && s->alive == 0); /* closed before anybody could open them */
    if (cgroup_deny(&s->cgroup, others, count, &by)) {
        say("%u GPUs of others are closed by %s", count, by);
    } else {
        say("%u GPUs of others are hidden by CUDA_VISIBLE_DEVICES alone: no cgroup can close them",
            count);
    }
}

/* What the user says, and who he is; nothing of his runs yet. */
static int read_job(struct shim *s, struct myr_err *err)
{
    MYR_ASSERT(s->phase == PHASE_PROLOG && s->alive == 0);
    MYR_TRY(
        myr_jobfile_read(&s->arena, MYR_JOBFILE_TAKEN("job file"), s->order.spec, &s->job, err));
    MYR_TRY(person_find(s->order.user, &s->person, err));
    MYR_TRY(progress_pattern_init(&s->pattern, s->job.progress.pattern, err));
    return shim_make_socket(s, err);
}

/* The first launcher of this incarnation: 'launched' is on the disk before anything can run. */
static void begin(struct shim *s)
{
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const char *tag = myr_arena_strndup(&s->arena, s->order.tag.data, s->order.tag.len);
    MYR_ASSERT(s->phase == PHASE_PROLOG && s->alive == 0 && !s->ended);
    s->began_ns = boot_clock_ns();
    myr_buf_puts(&text, "launched 1\n");
    shim_put_file(s, "launched", &text);
    cgroup_open(&s->cgroup, tag, true);
    close_devices(s);
    int rc = read_job(s, &err);
    look_for_stop(s, s->began_ns); /* nothing begins that was stopped already */
    if (rc == MYR_OK && !s->stop_seen) {
        peers_open(&s->peers, &s->order);
        rc = s->job.prolog ? shim_start_script(s, s->job.prolog, &err) : shim_start_ranks(s, &err);
    }
    if (rc < 0) {
        start_failed(s, s->began_ns, err.code, err.message);
    }
}

/* A launcher was killed: its ranks die with it, and who does not is found by its environment. */
static void begin_again(struct shim *s)
{
    const char *tag = myr_arena_strndup(&s->arena, s->order.tag.data, s->order.tag.len);
    uint32_t stuck;
    struct ending how = {.rank = s->order.first_rank, .code = 128 + SIGKILL, .signal = SIGKILL};
    MYR_ASSERT(s->alive == 0 && !s->ended); /* nobody is ours: they are found by their mark */
    cgroup_open(&s->cgroup, tag, false);
    s->killed_ns = boot_clock_ns();
    MYR_ASSERT(s->phase == PHASE_PROLOG && s->script.pid == 0); /* it starts nothing */
    /* Who is just becoming another program shows no environment: one look is not enough. */
    for (uint32_t calm = 0; calm < CALM_LOOKS;) {
        uint32_t count = kill_tagged(tag, SIGKILL, &stuck);
        cgroup_kill(&s->cgroup);
        calm = count == 0 && cgroup_is_empty(&s->cgroup) ? calm + 1 : 0;
        if (count > 0 && boot_clock_ns() - s->killed_ns > STUCK_S * S && !s->said_stuck) {
            shim_say_stuck(s, count, stuck);
        }
        poll(NULL, 0, 50);
    }
    if (file_is_there(s->folder, "stop")) {
        shim_set_ending(s, ENDING_STOPPED, NULL, "by order");
    }
    shim_set_ending(s, ENDING_EXIT, &how, "the launcher of these ranks was killed");
    finish(s);
}

/* What the folder says decides: begin, sweep behind a dead launcher, or nothing at all. */
int shim_run(const char *folder)
{
    struct shim *s = myr_xcalloc(1, sizeof(*s));
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    s->folder = folder;
    myr_arena_init(&s->arena);
    if (prepare(s, &err) < 0) {
        say("%s", err.message);
        return 2;
    }
    myr_buf_printf(&text, "pid %d\nbegan %llu\n", (int)getpid(),
                   (unsigned long long)process_began(getpid(), NULL, NULL));
    shim_put_file(s, "shim", &text);
    /* A launcher before us has finished: nothing is left to do. */
    if (file_is_there(folder, "exit")) {
        return 0;
    }
    if (file_is_there(folder, "launched")) {
        begin_again(s);
    } else {
        begin(s);
        loop(s);
    }
    char path[AGENT_PATH_MAX];
    snprintf(path, sizeof(path), "%.*s", (int)s->order.socket.len, s->order.socket.data);
    (void)unlink(path);
    return 0;
}
