/*
 * ranks: starts all ranks of a node behind one gate. They are forked, their numbers are written to
 * the disk, and only then a byte for each opens the gate.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shim/state.h"

/* One for all ranks of the node, which belongs to their user. */
int shim_make_socket(struct shim *s, struct myr_err *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct myr_str path = s->order.socket;
    MYR_ASSERT(s->phase == PHASE_PROLOG && s->socket >= 0); /* it is there before anybody writes */
    if (path.len >= sizeof(at.sun_path)) {
        return myr_err_set(err, MYR_EINVAL, "the progress socket's name is too long");
    }
    memcpy(at.sun_path, path.data, path.len);
    (void)unlink(at.sun_path);
    /* The user's alone from the first moment on: nobody else tells of his progress. */
    mode_t before = umask(0177);
    bool good = bind(s->socket, (struct sockaddr *)&at, sizeof(at)) == 0;
    umask(before);
    if (!good || (s->person.change && lchown(at.sun_path, s->person.uid, s->person.gid) < 0)) {
        return myr_err_errno(err, "cannot make the progress socket", at.sun_path);
    }
    return MYR_OK;
}

/* 'go' is the gate, a byte a process; 'trouble' closes by itself when all have become programs. */
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

/* Forked and in its group, but behind the gate: nothing of the user has run. */
static int launch_one(struct shim *s, struct process *process, const struct launch *launch,
                      struct start *start, struct myr_err *err)
{
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC) < 0) {
        return myr_err_errno(err, "no pipe", "ranks");
    }
    /* A rank that writes in bursts does not wait for the launcher; where it is refused, it may. */
    (void)fcntl(pipes[1], F_SETPIPE_SZ, 1 << 20);
    start->go = launch->go[0];
    start->trouble = launch->trouble[1];
    start->output = pipes[1];
    start->person = &s->person;
    start->directory = s->job.directory;
    MYR_ASSERT(process->pid == 0); /* the one before was reaped */
    pid_t pid = start_process(start);
    /* Said before close(), which has errors of its own. */
    int rc = pid < 0 ? myr_err_errno(err, "cannot start", start->argv[0]) : MYR_OK;
    close(pipes[1]);
    if (rc < 0) {
        close(pipes[0]);
        return rc;
    }
    /* Our end alone: ranks expect a pipe that waits. */
    (void)fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    process->pid = pid;
    process->pipe = pipes[0];
    s->alive++;
    MYR_ASSERT(s->alive <= s->count + 1);
    /* While it waits at the gate. */
    cgroup_add(&s->cgroup, pid);
    return MYR_OK;
}

/* All run, or the reason why one does not. Their pids are on the disk before they go. */
static int let_go(struct launch *launch, uint32_t count, struct myr_err *err)
{
    char why[256];
    /* The children hold the other ends, which exec closes: then the read below returns. */
    MYR_ASSERT(count > 0 && launch->trouble[1] >= 0);
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
    if (got > 0) {
        why[got] = '\0'; /* every rank says it; one line is enough */
        return myr_err_set(err, MYR_EINVAL, "%.*s", (int)strcspn(why, "\n"), why);
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

/* With the environment of the first rank. */
int shim_start_script(struct shim *s, const char *text, struct myr_err *err)
{
    MYR_CLEANUP(launch_close) struct launch launch;
    const char *const argv[] = {"/bin/sh", "-c", text, NULL};
    MYR_ASSERT(s->alive == 0 && (s->phase == PHASE_PROLOG || s->phase == PHASE_EPILOG));
    struct start start = {.argv = argv,
                          .env = start_env(&s->arena, &s->order, &s->job, &s->person, 0)};
    MYR_TRY(launch_open(&launch, err));
    MYR_TRY(launch_one(s, &s->script, &launch, &start, err));
    return let_go(&launch, 1, err);
}

/* With the time of their beginning, by which a number that was given again is told apart. */
static void write_ranks(struct shim *s)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t i = 0; i < s->count; i++) {
        MYR_ASSERT(s->ranks[i].pid > 0); /* behind the gate, and not reaped */
        myr_buf_printf(&text, "rank %u %d %llu\n", s->order.first_rank + i, (int)s->ranks[i].pid,
                       (unsigned long long)process_began(s->ranks[i].pid, NULL, NULL));
    }
    shim_put_file(s, "ranks", &text);
}

/* On an error some may have been forked: the caller ends them, and none has run. */
int shim_start_ranks(struct shim *s, struct myr_err *err)
{
    MYR_CLEANUP(launch_close) struct launch launch;
    MYR_ASSERT(s->phase == PHASE_PROLOG && s->alive == 0 && s->script.pid == 0);
    MYR_TRY(launch_open(&launch, err));
    s->phase = PHASE_RANKS;
    for (uint32_t i = 0; i < s->count; i++) {
        struct start start = {.env = start_env(&s->arena, &s->order, &s->job, &s->person, i)};
        MYR_TRY(start_argv(&s->arena, &s->order, &s->job, start.env, start_has, &start.argv, err));
        MYR_TRY(launch_one(s, &s->ranks[i], &launch, &start, err));
    }
    MYR_ASSERT(s->alive == s->count); /* all are behind the gate */
    write_ranks(s);
    deadly_point();
    MYR_TRY(let_go(&launch, s->count, err));
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_puts(&text, "started 1\n");
    shim_put_file(s, "started", &text);
    return MYR_OK;
}
