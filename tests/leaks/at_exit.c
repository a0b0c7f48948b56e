/*
 * Loaded in front of the whole program (LD_PRELOAD): what its own code took and had not given back
 * at exit is appended to the file that LEAKS_AT_EXIT names, a line for each place in the code. What
 * libraries keep for good is theirs, and not counted. So are files that are still open. Unit tests
 * count by themselves (leaks.c); this one sees the verbs, and what they open and close.
 */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* glibc's own names for what is defined here in place of them. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

/* The build hides what is not marked. */
#define FOR_ALL __attribute__((visibility("default")))

enum { SLOTS = 1 << 20, RANGES_MAX = 64, PLACES_MAX = 32, FILES_MAX = 256 };

struct block {
    uintptr_t at; /* 0: never used; 1: given back */
    uintptr_t caller;
};

struct range {
    uintptr_t begin, end, base;
};

static struct block blocks[SLOTS];
static struct range ranges[RANGES_MAX]; /* code of the program and of its own libraries */
static uint32_t range_count;
static uint32_t live; /* blocks noted: to look for none costs as many pages as the table has */
static uint32_t files_before;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int add_image(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (info->dlpi_name[0] && !strstr(info->dlpi_name, "/libmyr_")) {
        return 0;
    }
    for (uint32_t i = 0; i < info->dlpi_phnum && range_count < RANGES_MAX; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            uintptr_t begin = info->dlpi_addr + part->p_vaddr;
            ranges[range_count++] = (struct range){begin, begin + part->p_memsz, info->dlpi_addr};
        }
    }
    return 0;
}

static bool is_own(uintptr_t caller)
{
    for (uint32_t i = 0; i < range_count; i++) {
        if (caller >= ranges[i].begin && caller < ranges[i].end) {
            return true;
        }
    }
    return false;
}

static void note(void *memory, void *from)
{
    uintptr_t at = (uintptr_t)memory, caller = (uintptr_t)from;
    if (!memory) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (range_count == 0) {
        dl_iterate_phdr(add_image, NULL);
    }
    if (is_own(caller)) {
        uint32_t slot = (uint32_t)(at >> 4) % SLOTS;
        for (uint32_t tries = 0; blocks[slot].at > 1 && tries < SLOTS; tries++) {
            slot = (slot + 1) % SLOTS;
        }
        blocks[slot] = (struct block){at, caller};
        live++;
    }
    pthread_mutex_unlock(&lock);
}

static void forget(void *memory)
{
    uintptr_t at = (uintptr_t)memory;
    pthread_mutex_lock(&lock);
    uint32_t slot = (uint32_t)(at >> 4) % SLOTS;
    for (uint32_t tries = 0; blocks[slot].at && tries < SLOTS; tries++) {
        if (blocks[slot].at == at) {
            blocks[slot].at = 1;
            live--;
            break;
        }
        slot = (slot + 1) % SLOTS;
    }
    pthread_mutex_unlock(&lock);
}

FOR_ALL void *malloc(size_t bytes)
{
    void *memory = __libc_malloc(bytes);
    note(memory, __builtin_return_address(0));
    return memory;
}

FOR_ALL void *calloc(size_t count, size_t bytes)
{
    void *memory = __libc_calloc(count, bytes);
    note(memory, __builtin_return_address(0));
    return memory;
}

FOR_ALL void *realloc(void *memory, size_t bytes)
{
    if (memory) {
        forget(memory); /* before another thread can be given the same */
    }
    void *grown = __libc_realloc(memory, bytes);
    note(grown || bytes == 0 ? grown : memory, __builtin_return_address(0));
    return grown;
}

FOR_ALL void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *memory = __libc_memalign(alignment, bytes);
    note(memory, __builtin_return_address(0));
    return memory;
}

FOR_ALL void free(void *memory)
{
    if (memory) {
        forget(memory);
        __libc_free(memory);
    }
}

/* Address inside of its image, as addr2line wants it. */
static uintptr_t place_of(uintptr_t caller)
{
    for (uint32_t i = 0; i < range_count; i++) {
        if (caller >= ranges[i].begin && caller < ranges[i].end) {
            return caller - ranges[i].base;
        }
    }
    return caller;
}

/* Low numbers are given out first: all that a program of one machine opens lies below. */
static uint32_t open_files(void)
{
    uint32_t count = 0;
    for (int file = 0; file < FILES_MAX; file++) {
        count += fcntl(file, F_GETFD) >= 0;
    }
    return count;
}

__attribute__((constructor)) static void begin(void)
{
    files_before = open_files();
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("LEAKS_AT_EXIT");
    uint32_t files = open_files();
    uintptr_t places[PLACES_MAX];
    unsigned long counts[PLACES_MAX] = {};
    uint32_t place_count = 0;
    for (uint32_t i = 0; path && live && i < SLOTS; i++) {
        uint32_t k = 0;
        if (blocks[i].at <= 1) {
            continue;
        }
        while (k < place_count && places[k] != blocks[i].caller) {
            k++;
        }
        if (k == PLACES_MAX) {
            break;
        }
        places[k] = blocks[i].caller;
        place_count = k == place_count ? k + 1 : place_count;
        counts[k]++;
    }
    int file = place_count || files > files_before
                   ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
                   : -1;
    for (uint32_t k = 0; file >= 0 && k < place_count; k++) {
        dprintf(file, "%lu blocks taken at %#lx\n", counts[k], (unsigned long)place_of(places[k]));
    }
    if (file >= 0 && files > files_before) {
        dprintf(file, "%u files are open\n", files - files_before);
    }
}
