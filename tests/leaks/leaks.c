/*
 * Linked into every unit test: memory that a test took and did not give back fails it, in the plain
 * build too. The sanitizers find the same and say where, but `make test-quick` runs without them.
 *
 * All allocations of the process are counted, the libraries' as well: what one of them keeps for
 * good (setenv, dlopen) a test declares in 'myr_leaks_allowed'.
 */
#include <stdatomic.h>
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
void __libc_free(void *memory);

__attribute__((weak)) const long myr_leaks_allowed = 0;

static atomic_long live;
static long live_before;
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

FOR_ALL void free(void *memory)
{
    live -= memory != NULL;
    __libc_free(memory);
}

__attribute__((constructor)) static void begin(void)
{
    setvbuf(stdout, stdout_buffer, _IOFBF, sizeof(stdout_buffer));
    main_process = getpid();
    live_before = live;
}

__attribute__((destructor)) static void end(void)
{
    long left = live - live_before;
    if (getpid() == main_process && left > myr_leaks_allowed) {
        fflush(stdout);
        fprintf(stderr, "%ld pieces of memory were not given back, %ld are allowed\n", left,
                myr_leaks_allowed);
        _exit(1);
    }
}

#endif
