/*
 * The yardstick of `make bench`: work of a fixed size, whose time says how fast this machine is
 * at this moment, and the stopwatch for other programs.
 *
 *   bench_reference hash              200 million steps of an integer hash, each needing the last
 *   bench_reference copy              4 GiB of memory copied, 64 MiB at a time
 *   bench_reference write FILE BYTES  a file written in blocks of 1 MiB, then removed
 *   bench_reference run CMD [ARG...]  a program, its output thrown away
 *
 * Each prints "seconds <wall> cpu <seconds> rss <bytes> status <n>". The stopwatch is a small C
 * program because the peak memory of a child starts at that of the process that made it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "myriad/base.h"

enum { BLOCK_BYTES = 1 << 20, COPY_BYTES = 64 << 20, COPY_ROUNDS = 64, HASH_STEPS = 200000000 };

static int usage(void)
{
    fputs("usage: bench_reference hash | copy | write FILE BYTES | run CMD [ARG...]\n", stderr);
    return 2;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void report(int64_t start_ns, const struct rusage *usage, int status)
{
    printf("seconds %.6f cpu %.6f rss %lld status %d\n", (double)(myr_clock_ns() - start_ns) / 1e9,
           seconds(usage->ru_utime) + seconds(usage->ru_stime), (long long)usage->ru_maxrss * 1024,
           status);
}

static int run_program(char **argv)
{
    int64_t start_ns = myr_clock_ns();
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return 3;
    }
    if (child == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) < 0) {
        perror("wait4");
        return 3;
    }
    report(start_ns, &usage, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}

static void hash_steps(void)
{
    uint64_t value = 1;
    for (uint32_t i = 0; i < HASH_STEPS; i++) {
        value = (value ^ (value >> 32)) * UINT64_C(0xd6e8feb86659fd93) + i;
    }
    volatile uint64_t kept = value; /* so that the loop is not thrown away */
    (void)kept;
}

static void copy_memory(void)
{
    unsigned char *from = myr_xrealloc(NULL, COPY_BYTES, 1);
    unsigned char *to = myr_xrealloc(NULL, COPY_BYTES, 1);
    memset(from, 1, COPY_BYTES);
    memset(to, 2, COPY_BYTES);
    for (int i = 0; i < COPY_ROUNDS; i++) {
        from[i] = (unsigned char)i;
        memcpy(to, from, COPY_BYTES);
        volatile unsigned char kept = to[i];
        (void)kept;
    }
    free(from);
    free(to);
}

static int write_file(const char *path, uint64_t bytes)
{
    static char block[BLOCK_BYTES];
    memset(block, 'x', sizeof(block));
    struct myr_outfile file;
    struct myr_err err;
    int rc = myr_outfile_open(&file, path, &err);
    if (rc == MYR_OK) {
        for (uint64_t left = bytes; left > 0; left -= left < BLOCK_BYTES ? left : BLOCK_BYTES) {
            myr_outfile_write(&file, block, left < BLOCK_BYTES ? left : BLOCK_BYTES);
        }
        rc = myr_outfile_commit(&file, &err);
    }
    if (rc != MYR_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 3;
    }
    unlink(path);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "run") == 0) {
        return run_program(argv + 2);
    }
    int64_t start_ns = myr_clock_ns();
    uint64_t bytes;
    int status = 0;
    if (argc == 2 && strcmp(argv[1], "hash") == 0) {
        hash_steps();
    } else if (argc == 2 && strcmp(argv[1], "copy") == 0) {
        copy_memory();
    } else if (argc == 4 && strcmp(argv[1], "write") == 0 &&
               myr_str_to_u64(myr_str_from(argv[3]), &bytes)) {
        status = write_file(argv[2], bytes);
    } else {
        return usage();
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    report(start_ns, &usage, status);
    return status;
}
