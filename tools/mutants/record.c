// Which blocks of the modules' code a test executes, for world.py.
//
// The modules are compiled with -fsanitize-coverage=trace-pc, which calls the function below in
// every block. It sets one byte in a file under $RECORD_FOLDER, one file a library, at the place of
// the block in that library. (Tests take variables that begin with MYRIAD_ from their programs.)
// The files are mapped and shared, so that all processes of a test add to the same ones, and that
// one which is killed leaves what it did: servers and agents end so.
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIBRARIES_MAX = 64 };

enum state { FRESH, OPENING, READY };

static struct library {
    uintptr_t start;
    size_t size;
    volatile unsigned char *seen;
} libraries[LIBRARIES_MAX];
static int library_count;
static atomic_int state = FRESH;

// Maps the file of one library; called for each object of the process.
static int open_library(struct dl_phdr_info *info, size_t size, void *folder)
{
    (void)size;
    const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (name == NULL || strncmp(name, "/libmyr_", 8) != 0 || library_count == LIBRARIES_MAX)
        return 0;
    size_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_vaddr + part->p_memsz > end)
            end = part->p_vaddr + part->p_memsz;
    }
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s%s", (const char *)folder, name) >= (int)sizeof(path))
        return 0;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return 0;
    (void)fchmod(file, 0666); // daemons of other users add to it
    void *seen = MAP_FAILED;
    if (ftruncate(file, (off_t)end) == 0)
        seen = mmap(NULL, end, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    (void)close(file);
    if (seen != MAP_FAILED)
        libraries[library_count++] = (struct library){info->dlpi_addr, end, seen};
    return 0;
}

static void open_all(void)
{
    int fresh = FRESH;
    if (!atomic_compare_exchange_strong(&state, &fresh, OPENING))
        return;
    char *folder = getenv("RECORD_FOLDER");
    if (folder)
        (void)dl_iterate_phdr(open_library, folder);
    atomic_store(&state, READY);
}

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    static volatile int last;
    uintptr_t at = (uintptr_t)__builtin_return_address(0);
    if (atomic_load_explicit(&state, memory_order_acquire) != READY)
        open_all();
    if (library_count == 0 || atomic_load_explicit(&state, memory_order_relaxed) != READY)
        return;
    int i = last; // the next block is mostly one of the same library
    if (at - libraries[i].start >= libraries[i].size) {
        for (i = 0; i < library_count && at - libraries[i].start >= libraries[i].size; i++)
            continue;
        if (i == library_count)
            return;
        last = i;
    }
    libraries[i].seen[at - libraries[i].start] = 1;
}
