/*
 * posix_spawn shares our memory until exec: a server of hundreds of megabytes starts a command as
 * quickly as a small one.
 */
#include "engine/call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OUTPUT_MAX = 64 << 20, /* of one stream; one that prints more is ended */
    AT_ONCE = 8,           /* commands; the others wait for their turn */
    ENV_MAX = 4096,        /* variables */
};

/* A command from the order to its answer. It is freed when its four handles are closed. */
struct one {
    struct calls *calls;
    char **argv;                    /* its own copy, NULL at the end */
    struct myr_buf input, out, err; /* what it reads, and what it has written */
    call_done *done;
    void *context;
    pid_t pid; /* waited for by us alone */
    int pidfd; /* readable when it has ended */
    uv_poll_t exit_poll;
    uv_pipe_t out_pipe, err_pipe;
    uv_timer_t limit;
    uint32_t open_handles, open_pipes; /* not yet closed; not yet at their end */
    bool exited, late, over;           /* waited for; beyond its time; answered */
    int status;
    struct one *next; /* in the list that it is in: waiting, or at work */
};

struct calls {
    struct server *server;
    struct call_how how;
    struct one *first, **last; /* that wait */
    struct one *at_work;
    uint32_t working;
    uint64_t made; /* commands so far */
    bool closing;  /* nothing new is begun */
    char **env;    /* of all of them */
};

/* Settings of whoever started the server are not the jobs'; where Slurm is stays known. */
static bool is_kept(const char *text)
{
    static const char *const dropped[] = {"SBATCH_", "SLURM_", "SQUEUE_", "SINFO_", "SCANCEL_"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(dropped); i++) {
        if (strncmp(text, dropped[i], strlen(dropped[i])) == 0) {
            /* Where the cluster is, and a credential for it, are not settings of a job. */
            return strncmp(text, "SLURM_CONF=", 11) == 0 || strncmp(text, "SLURM_JWT=", 10) == 0;
        }
    }
    return strncmp(text, "LC_ALL=", 7) != 0;
}

/* Copied once: the environment of the server does not change while it runs. */
static char **make_env(const char *conf)
{
    MYR_ASSERT(conf);
    char **env = myr_xcalloc(ENV_MAX + 3, sizeof(*env));
    uint32_t count = 0;
    for (char **at = environ; *at && count < ENV_MAX; at++) {
        bool replaced = conf[0] && strncmp(*at, "SLURM_CONF=", 11) == 0;
        if (is_kept(*at) && !replaced) {
            env[count++] = strdup(*at);
        }
    }
    /* Their messages are read by words, which must be English. */
    env[count++] = strdup("LC_ALL=C");
    if (conf[0]) {
        struct myr_buf text = {};
        myr_buf_printf(&text, "SLURM_CONF=%s", conf);
        env[count++] = strdup(text.data);
        myr_buf_done(&text);
    }
    MYR_ASSERT(count <= ENV_MAX + 2 && !env[count]); /* the end of the list is where it was */
    return env;
}

static void strings_free(char **strings)
{
    for (char **at = strings; at && *at; at++) {
        free(*at);
    }
    free(strings);
}

struct calls *calls_new(struct server *server, const struct call_how *how)
{
    MYR_ASSERT(how->bin && how->slurm_conf && how->timeout_s > 0);
    struct calls *calls = myr_xcalloc(1, sizeof(*calls));
    calls->server = server;
    calls->how = *how;
    calls->last = &calls->first;
    calls->env = make_env(how->slurm_conf);
    return calls;
}

static void one_free(struct one *one)
{
    MYR_ASSERT(one->open_handles == 0);
    strings_free(one->argv);
    myr_buf_done(&one->input);
    myr_buf_done(&one->out);
    myr_buf_done(&one->err);
    free(one);
}

/* When the last command is over. */
static void calls_release(struct calls *calls)
{
    MYR_ASSERT(calls->closing && calls->working == 0 && !calls->at_work && !calls->first);
    strings_free(calls->env);
    free(calls);
}

uint64_t calls_made(const struct calls *calls)
{
    return calls->made;
}

static void run_next(struct calls *calls);

/* With the last of its handles the place is free for one that waits. */
static void on_closed(uv_handle_t *handle)
{
    struct one *one = handle->data;
    struct calls *calls = one->calls;
    MYR_ASSERT(one->over && one->open_handles > 0);
    if (--one->open_handles > 0) {
        return;
    }
    one_free(one);
    MYR_ASSERT(calls->working > 0);
    if (--calls->working == 0 && calls->closing) {
        calls_release(calls);
    } else if (!calls->closing) {
        run_next(calls);
    }
}

static void unlink_one(struct one *one)
{
    struct one **at = &one->calls->at_work;
    while (*at != one) {
        MYR_ASSERT(*at); /* whoever is at work is in the list */
        at = &(*at)->next;
    }
    *at = one->next;
}

/* From here on it is in no list; on_closed() does the rest. */
static void close_all(struct one *one)
{
    MYR_ASSERT(!one->over && one->exited && one->open_handles == 4);
    one->over = true;
    unlink_one(one);
    uv_close((uv_handle_t *)&one->exit_poll, on_closed);
    close(one->pidfd); /* nobody polls it any more */
    uv_close((uv_handle_t *)&one->out_pipe, on_closed);
    uv_close((uv_handle_t *)&one->err_pipe, on_closed);
    uv_close((uv_handle_t *)&one->limit, on_closed);
}

/*
 * When it has exited and both streams are at their end: a child of it may still be writing. One
 * that is late is not waited for any longer.
 */
static void finish(struct one *one)
{
    if (one->over || !one->exited || (one->open_pipes > 0 && !one->late)) {
        return;
    }
    MYR_ASSERT(one->done && one->open_handles == 4); /* closed behind the answer */
    struct call_result result = {
        /* Ended by a signal, by us or by others, is no exit status. */
        .code = WIFEXITED(one->status) && !one->late ? WEXITSTATUS(one->status) : -1,
        .late = one->late,
        .out = {one->out.data ? one->out.data : "", one->out.len},
        .err = {one->err.data ? one->err.data : "", one->err.len}};
    one->done(one->calls->server, one->context, &result);
    close_all(one);
}

/* By its own descriptor: no handler of SIGCHLD, which would be everybody's. */
static void on_exit_seen(uv_poll_t *poll, int status, int events)
{
    struct one *one = poll->data;
    (void)status;
    (void)events;
    MYR_ASSERT(!one->exited && !one->over);
    if (waitpid(one->pid, &one->status, WNOHANG) == one->pid) {
        uv_poll_stop(poll);
        one->exited = true;
        finish(one);
    }
}

/* Read to where it will lie: nothing is copied. */
static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
    struct one *one = handle->data;
    struct myr_buf *to = handle == (uv_handle_t *)&one->out_pipe ? &one->out : &one->err;
    MYR_ASSERT(!one->over && to->len <= OUTPUT_MAX);
    wanted = wanted < 65536 ? wanted : 65536;
    myr_buf_reserve(to, wanted);
    *ret = uv_buf_init(to->data + to->len, (unsigned)wanted);
}

/* Once it was waited for its number may be another's. */
static void end_it(const struct one *one)
{
    MYR_ASSERT(one->pid > 0 && !one->over);
    if (!one->exited) {
        kill(one->pid, SIGKILL);
    }
}

/* Already in place, where on_room() has pointed libuv. */
static void on_bytes(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    struct one *one = stream->data;
    struct myr_buf *to = stream == (uv_stream_t *)&one->out_pipe ? &one->out : &one->err;
    (void)buf;
    if (count > 0 && to->len + (size_t)count <= OUTPUT_MAX) {
        to->len += (size_t)count;
    } else if (count != 0) { /* the end; or more than anybody reads, which would never end */
        if (count > 0) {
            end_it(one);
        }
        uv_read_stop(stream);
        MYR_ASSERT(one->open_pipes > 0 && !one->over);
        one->open_pipes--;
        finish(one);
    }
}

static void on_limit(uv_timer_t *timer)
{
    struct one *one = timer->data;
    MYR_ASSERT(!one->late && !one->over);
    one->late = true;
    end_it(one); /* it may be over, and a child of it still be writing */
    finish(one);
}

/* An input that a command reads from the beginning to the end, without anybody who feeds it. */
static int input_of(const struct one *one)
{
    int fd = memfd_create("myriad", MFD_CLOEXEC);
    if (fd >= 0 && (write(fd, one->input.data, one->input.len) != (ssize_t)one->input.len ||
                    lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/*
 * With all signals as a shell would give them; the loop has blocked or caught some. Returns 0 or an
 * errno.
 */
static int spawn(struct one *one, int input, int out, int err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t normal, none;
    char path[1024];
    const char *bin = one->calls->how.bin;
    MYR_ASSERT(input >= 0 && out >= 0 && err >= 0);
    MYR_ASSERT(one->pid == 0 && one->argv[0]); /* it is run once */
    /* Without a folder the path is searched, as a shell does. */
    snprintf(path, sizeof(path), "%s%s%s", bin, bin[0] ? "/" : "", one->argv[0]);
    sigfillset(&normal);
    sigdelset(&normal, SIGKILL);
    sigdelset(&normal, SIGSTOP);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, err, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &normal);
    posix_spawnattr_setsigmask(&attributes, &none);
    int rc = posix_spawnp(&one->pid, path, &files, &attributes, one->argv, one->calls->env);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return rc;
}

/* Takes the two ends over; libuv closes them with the pipes. */
static void watch(struct one *one, int out, int err)
{
    uv_loop_t *loop = &one->calls->server->loop;
    uv_pipe_t *pipes[] = {&one->out_pipe, &one->err_pipe};
    const int ends[] = {out, err};
    MYR_ASSERT(one->open_handles == 0 && one->open_pipes == 0);
    for (size_t i = 0; i < 2; i++) {
        uv_pipe_init(loop, pipes[i], 0);
        pipes[i]->data = one;
        one->open_pipes += uv_pipe_open(pipes[i], ends[i]) == 0;
        uv_read_start((uv_stream_t *)pipes[i], on_room, on_bytes);
    }
    uv_poll_init(loop, &one->exit_poll, one->pidfd);
    uv_timer_init(loop, &one->limit);
    one->exit_poll.data = one->limit.data = one;
    uv_poll_start(&one->exit_poll, UV_READABLE, on_exit_seen);
    uv_timer_start(&one->limit, on_limit, (uint64_t)one->calls->how.timeout_s * 1000, 0);
    one->open_handles = 4;
    MYR_ASSERT(one->open_pipes <= 2 && one->pid > 0 && one->pidfd >= 0);
}

/* 0, or what went wrong. */
static int run(struct one *one)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    /* A file in memory: nobody has to feed a pipe that the command may not read. */
    int input = input_of(one), fault = 0;
    if (input < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0) {
        fault = errno;
    }
    fault = fault ? fault : spawn(one, input, out[1], err[1]);
    /* A child that has ended can still be opened, until it is waited for. */
    one->pidfd = fault ? -1 : (int)syscall(SYS_pidfd_open, one->pid, 0);
    if (!fault && one->pidfd < 0) {
        fault = errno;
        kill(one->pid, SIGKILL);
        (void)waitpid(one->pid, &one->status, 0);
    }
    const int ends[] = {input, out[1], err[1], fault ? out[0] : -1, fault ? err[0] : -1};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ends); i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
    if (!fault) {
        watch(one, out[0], err[0]);
    }
    return fault;
}

/* In the order in which they were asked for. What cannot be run is answered from here. */
static void run_next(struct calls *calls)
{
    MYR_ASSERT(!calls->closing);
    while (calls->first && calls->working < AT_ONCE) {
        struct one *one = calls->first;
        MYR_ASSERT(one->calls == calls && !one->exited && !one->over);
        calls->first = one->next;
        /* The list that has run empty begins at its head again. */
        calls->last = calls->first ? calls->last : &calls->first;
        calls->made++;
        int fault = run(one);
        if (fault) {
            char text[200];
            snprintf(text, sizeof(text), "%s cannot be run: %s", one->argv[0], strerror(fault));
            struct call_result result = {.code = -1, .out = MYR_STR(""), .err = myr_str_from(text)};
            one->done(calls->server, one->context, &result);
            one_free(one);
            continue;
        }
        calls->working++;
        one->next = calls->at_work;
        calls->at_work = one;
    }
    /* Nobody waits while there is a place, and who comes next is put at the end. */
    MYR_ASSERT(calls->working <= AT_ONCE && (!calls->first || calls->working == AT_ONCE));
    MYR_ASSERT(!*calls->last);
}

/* Everything is copied: the order may go as soon as this returns. */
void call(struct calls *calls, const struct call_order *order)
{
    MYR_ASSERT(!calls->closing && order->argv[0] && order->done);
    struct one *one = myr_xcalloc(1, sizeof(*one));
    uint32_t words = 0;
    while (order->argv[words]) {
        words++;
    }
    one->calls = calls;
    one->argv = myr_xcalloc(words + 1, sizeof(*one->argv));
    for (uint32_t i = 0; i < words; i++) {
        one->argv[i] = strdup(order->argv[i]);
    }
    myr_buf_put(&one->input, order->input.data ? order->input.data : "", order->input.len);
    one->done = order->done;
    one->context = order->context;
    MYR_ASSERT(!*calls->last && (calls->first || calls->last == &calls->first));
    *calls->last = one;
    calls->last = &one->next;
    run_next(calls);
}

static void nobody(struct server *server, void *context, const struct call_result *result)
{
    (void)server;
    (void)context;
    (void)result;
}

/* Nobody hears of those that wait, nor of those that are ended here. */
void calls_free(struct calls *calls)
{
    MYR_ASSERT(!calls->closing);
    calls->closing = true;
    while (calls->first) {
        struct one *one = calls->first;
        calls->first = one->next;
        one_free(one);
    }
    if (calls->working == 0) {
        calls_release(calls);
        return;
    }
    /* Waited for here: the loop will not see their end. */
    for (struct one *one = calls->at_work, *next; one; one = next) {
        next = one->next;
        one->done = nobody;
        if (!one->exited) {
            end_it(one);
            (void)waitpid(one->pid, &one->status, 0);
            one->exited = true;
        }
        close_all(one);
    }
    MYR_ASSERT(!calls->at_work && calls->working > 0); /* their handles are still to be closed */
}
