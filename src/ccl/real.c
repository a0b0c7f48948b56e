/*
 * The real world: the monotonic clock, futexes, pidfds.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "myriad/ccl.h"

#include "world.h"

#define LOOKS_IN_A_ROW 32 /* before the core is offered to another */

struct known_process {
    uint64_t owner;
    int file; /* a pidfd, or -1 */
    bool gone;
};

struct ccl_real {
    uint32_t pid;
    struct known_process known[MYR_CCL_PLACES_MAX];
};

static int64_t now_ns(void *context)
{
    (void)context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void relax(void *context, uint32_t looks, bool crowded)
{
    (void)context;
    if (crowded || looks % LOOKS_IN_A_ROW == LOOKS_IN_A_ROW - 1) {
        sched_yield();
        return;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void sleep_on(void *context, _Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns)
{
    (void)context;
    struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, NULL, 0);
}

static void wake(void *context, _Atomic uint32_t *word)
{
    (void)context;
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* When a process began, in clock ticks since the machine did; 0 when that cannot be read. */
static uint64_t read_start(uint32_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    /* Field 22; the second one is a name in brackets, in which anything may be. */
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    uint64_t start = 0;
    for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++) {
        start = start * 10 + (uint64_t)(*at - '0');
    }
    return start;
}

static void forget(struct known_process *known)
{
    if (known->file >= 0) {
        close(known->file);
    }
    *known = (struct known_process){.file = -1};
}

/* Another process may have been given the number since: that one began later. */
static void meet(struct known_process *known, uint64_t owner, uint32_t pid, uint64_t start)
{
    forget(known);
    known->owner = owner;
    known->file = (int)syscall(SYS_pidfd_open, pid, 0);
    known->gone = known->file < 0 && errno == ESRCH;
    if (!known->gone && start != 0) {
        uint64_t now = read_start(pid);
        known->gone = now != 0 && now != start;
    }
}

static bool is_gone(void *context, uint32_t place, uint64_t owner, uint32_t pid, uint64_t start)
{
    struct ccl_real *real = context;
    struct known_process *known = &real->known[place];
    if (pid == real->pid) {
        return false; /* a thread of ours */
    }
    if (known->owner != owner) {
        meet(known, owner, pid, start);
    }
    if (!known->gone && known->file < 0) {
        meet(known, owner, pid, start); /* no file was to be had: asked anew each time */
    }
    if (!known->gone && known->file >= 0) {
        struct pollfd wait = {.fd = known->file, .events = POLLIN};
        known->gone = poll(&wait, 1, 0) > 0;
    }
    if (known->gone && known->file >= 0) {
        close(known->file);
        known->file = -1;
    }
    return known->gone;
}

static uint32_t count_cores(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) < 0) {
        return 1;
    }
    return (uint32_t)CPU_COUNT(&cores);
}

struct ccl_real *ccl_real_create(struct ccl_world *ret)
{
    struct ccl_real *real = calloc(1, sizeof(*real));
    if (!real) {
        return NULL;
    }
    real->pid = (uint32_t)getpid();
    for (int i = 0; i < MYR_CCL_PLACES_MAX; i++) {
        real->known[i].file = -1;
    }
    *ret = (struct ccl_world){
        .context = real,
        .now_ns = now_ns,
        .relax = relax,
        .sleep = sleep_on,
        .wake = wake,
        .gone = is_gone,
        .pid = real->pid,
        .start = read_start(real->pid),
        .cores = count_cores(),
    };
    return real;
}

void ccl_real_free(struct ccl_real *real)
{
    for (int i = 0; real && i < MYR_CCL_PLACES_MAX; i++) {
        forget(&real->known[i]);
    }
    free(real);
}
