/*
 * Linked into every unit test: what a test took and did not give back fails it, in the plain build
 * too: memory, open files, blocked signals. The sanitizers find the first and say where, but
 * `make test-quick` runs without them.
 *
 * All allocations of the process are counted, the libraries' as well: what one of them keeps for
 * good (setenv, dlopen) a test declares in 'myr_leaks_allowed'. Every way to take memory is here:
 * one that is not would be counted when given back alone, and hide as many leaks.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "leaks.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_ALLOCATOR /* clang's word for it */
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATOR
#endif

#ifndef OWN_ALLOCATOR

/* glibc's own names for what is defined here in place of them. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

__attribute__((weak)) long myr_leaks_allowed = 0; /* not const: gcc would put in the 0 */

static atomic_long live;
static long live_before;
static int files_before, blocked_before;
static pid_t main_process;
/* The first printf would take a buffer, and keep it. */
static char stdout_buffer[BUFSIZ];

/* Seen by the libraries too: they free what we took, and we what they did. */
#define FOR_ALL __attribute__((visibility("default")))

FOR_ALL void *malloc(size_t bytes)
{
    void *memory = __libc_malloc(bytes);
    live += memory != NULL;
    return memory;
}

FOR_ALL void *calloc(size_t count, size_t bytes)
{
    void *memory = __libc_calloc(count, bytes);
    live += memory != NULL;
    return memory;
}

FOR_ALL void *realloc(void *memory, size_t bytes)
{
    void *grown = __libc_realloc(memory, bytes);
    live += !memory && grown;
    live -= memory && !grown && bytes == 0;
    return grown;
}

FOR_ALL void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *memory = __libc_memalign(alignment, bytes);
    live += memory != NULL;
    return memory;
}

FOR_ALL int posix_memalign(void **ret, size_t alignment, size_t bytes)
{
    void *memory = aligned_alloc(alignment, bytes);
    *ret = memory ? memory : *ret;
    return memory ? 0 : ENOMEM;
}

FOR_ALL void free(void *memory)
{
    live -= memory != NULL;
    __libc_free(memory);
}

long myr_leaks_now(void)
{
    return live;
}

/* Descriptors in use; the one that reads the list counts itself, each time alike. */
static int open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder && readdir(folder)) {
        count++;
    }
    if (folder) {
        closedir(folder);
    }
    return count;
}

static int blocked_signals(void)
{
    sigset_t blocked;
    int count = 0;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number < SIGRTMIN; number++) {
        count += sigismember(&blocked, number) == 1;
    }
    return count;
}

__attribute__((constructor)) static void begin(void)
{
    setvbuf(stdout, stdout_buffer, _IOFBF, sizeof(stdout_buffer));
    main_process = getpid();
    files_before = open_files();
    blocked_before = blocked_signals();
    live_before = live;
}

__attribute__((destructor)) static void end(void)
{
    long left = live - live_before;
    int files = open_files() - files_before, signals = blocked_signals() - blocked_before;
    bool even = left >= 0 && left <= myr_leaks_allowed; /* below 0: taken in a way unknown here */
    if (getpid() != main_process || (even && files <= 0 && signals == 0)) {
        return;
    }
    fflush(stdout);
    fprintf(stderr,
            "not given back: %ld pieces of memory (%ld are allowed), %d open files, %d blocked "
            "signals\n",
            left, myr_leaks_allowed, files, signals);
    _exit(1);
}

#else

long myr_leaks_now(void)
{
    return 0;
}

#endif
